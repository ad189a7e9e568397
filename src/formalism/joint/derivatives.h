/* What derivatives in joint coordinates are made of (derivatives.c): how links move with
 * coordinates, and what that does to forces on them. */
#ifndef BG_JOINT_DERIVATIVES_H
#define BG_JOINT_DERIVATIVES_H

#include "formalism/couplings.h"
#include "formalism/joint/joint_form.h"

/* What a number that changes with the pose, twist and acceleration of a body does under the three
 * kinds of changes of its link. With the centre's arm, velocity v and acceleration a, and w, alpha:
 *     S moves pose, twist and acceleration like a rigid body: dr = S.v + S.w x arm, dtheta = S.w,
 *         dv = S.w x v, dw = S.w x w, dv' = S.w x a, dw' = S.w x alpha,
 *     P adds to V, and P x V to A:  dv = P.v + P.w x arm, dw = P.w, dv' = 2 P.w x v, dw' = P.w x w,
 *     Q adds to A:  dv' = Q.v + Q.w x arm, dw' = Q.w. */
typedef struct bg_pull {
    bg_spatial S, P, Q;
} bg_pull;
/* acceleration NULL: the number does not change with it. */
bg_pull bg_joint_pull_gradient(const bg_joint_form *f, int body, const double *pose,
                               const double *twist, const double *acceleration);

/* P and, unless massless, Q and X of all coordinates, from V and A. */
void bg_joint_update_shifts(bg_joint_form *f, const double *v, const double *a, bool massless);
/* E and, unless the wrench does not change with the twist, C of a pair. */
void bg_joint_map_coupling(const bg_joint_form *f, int of, int by, double pose[6][6],
                           double twist[6][6], bool by_twist, bg_mat6 *E, bg_mat6 *C);
/* I, B, F, W and, but for the laws of force elements, -E of each link by itself, from V, A and the
 * wrenches of mb. */
void bg_joint_start_sums(bg_joint_form *f);

#endif

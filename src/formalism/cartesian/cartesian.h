/* The Cartesian formalism: seven coordinates a body, the centre of mass r and Euler parameters p,
 * with the norm of p as a constraint; every joint is a set of rows. M is only semi-definite. */
#ifndef BG_CARTESIAN_H
#define BG_CARTESIAN_H

#include "formalism/fast_part.h"
#include "formalism/multibody.h"

typedef struct bg_cartesian {
    bg_multibody mb; /* first: functions of the definition find it through self */
    int nb;          /* moving bodies: model bodies 1 .. nb */
    int nv, ng;
    double *q0, *v0;         /* [nv] */
    double *v_size, *g_size; /* [nv], [ng] */
    int *M_start, *M_column, *G_start, *G_column;
    int *r_start, *r_column, *h_start, *h_column, *z_start, *z_column;
    bg_pattern pattern_M, pattern_G, pattern_r, pattern_h, pattern_z; /* z: of r by z */
    int *row_bodies; /* [6 ng] moving bodies of each row, ascending; 0 behind the last */
    int *neighbour_start, *neighbour; /* bodies that r of a body depends on, ascending */
    const char **q_names, **g_names;
    const char **q_units, **v_units, **g_units; /* of multipliers */
    char (*names)[64];
    bg_fast_part fast_part; /* of models with a fast part */
    bg_arena constants;
} bg_cartesian;

/* E and H of cartesian.c; s A x for such a matrix. */
void bg_euler_calc_E(const double *p, double E[3][4]);
void bg_euler_calc_H(const double *p, double H[3][4]);
static inline bg_vec3 bg_euler_apply(double A[3][4], double s, const double *x)
{
    double y[3];
    for (int i = 0; i < 3; i++)
        y[i] = s * (A[i][0] * x[0] + A[i][1] * x[1] + A[i][2] * x[2] + A[i][3] * x[3]);
    return bg_vec3_load(y);
}
static inline double bg_dot4(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* Where the seven columns of a body begin among the values of a row of G. */
int bg_cartesian_find_body(const bg_cartesian *c, int row, int body);

/* derivatives.c: the wanted blocks of r, h, w and gamma by q, v and z, after an update with a =
 * NULL and with the wrenches of forces and reactions in mb; the patterns of r and h, lambda being
 * any [ng]. */
void bg_cartesian_calc_derivatives(bg_cartesian *c, const bg_point *p, const double *a,
                                   const double *lambda, bg_derivatives *out);
bool bg_cartesian_make_pattern(bg_cartesian *c, const double *lambda);

/* The start is taken from the poses and twists in `start` [nbodies]. */
bg_status bg_cartesian_create(const bg_model *model, const bg_body_state *start,
                              bg_cartesian **form, bg_error *err);
void bg_cartesian_destroy(void *form);
/* q and v of bodies with these poses and twists, [nbodies]. */
void bg_cartesian_take_poses(const bg_cartesian *c, const bg_body_state *pose, double *q,
                             double *v);
void bg_cartesian_define(bg_cartesian *c, bg_system_def *def);

#endif

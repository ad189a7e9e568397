/* The joint-coordinate formalism: recursive kinematics and dynamics of the tree, loops as
 * constraints.
 *
 * All spatial vectors are about one point and in world axes (math/spatial.h). With S_k the motion
 * of velocity coordinate k, and a link's twist V and acceleration A, V_k = V_parent + sum S v, A_k
 * = A_parent + sum S v' + S' v, where S' = V x S with the twist of what the axis is fixed in. */
#ifndef BG_JOINT_FORM_H
#define BG_JOINT_FORM_H

#include "formalism/fast_part.h"
#include "formalism/multibody.h"
#include "math/spatial.h"
#include "model/mechanism.h"

/* A row of tree coordinates only: sum factor q - offset - u = 0. */
typedef struct bg_direct_row {
    int n, link[BG_RELATION_MAX];
    double factor[BG_RELATION_MAX], offset;
    int signal;  /* that the coordinate follows; -1: none */
    int coupler; /* whose relation it is; -1: none */
} bg_direct_row;

/* A 6 x 6 matrix by its rows: moments, then forces. */
typedef struct bg_mat6 {
    bg_spatial row[6];
} bg_mat6;

/* How links behind a coordinate start to move differently (derivatives.c). */
typedef struct bg_shift {
    bg_spatial P, Q, X;
} bg_shift;

/* Sums over a subtree for derivatives (derivatives.c). */
typedef struct bg_link_sums {
    bg_mat6 B, E;
    bg_spatial F, W; /* inertia forces; wrenches */
} bg_link_sums;

/* Patterns of M, G (also of the derivatives of w and gamma), of the derivatives of r by q and v, of
 * h by q and v, where it is not the unit matrix, of V, and of r by z; without row_start: dense. */
typedef struct bg_joint_patterns {
    bg_pattern M, G, r, V, h, z;
    int *G_places, *r_places,
        *h_places; /* [rows columns] where entries lie; NULL: dense, or too many */
} bg_joint_patterns;

/* Links that move alike, in the expansion of r (expansion.c). */
typedef struct bg_joint_node {
    int parent; /* node, -1: ground */
    int x, ny;  /* first of its unknowns D [6], y [ny], w [6], dPhi [6]; ny: 3 or 6 */
    int v, nv;  /* its coordinates */
} bg_joint_node;

typedef struct bg_joint_expansion {
    bg_expansion def;
    bg_joint_node *node; /* [nnodes] */
    int nnodes;
    int *node_of;    /* [nlinks] -1: does not move by itself */
    int *owner;      /* [nv] node */
    bool *is_driven; /* [nv] an element acts along it */
} bg_joint_expansion;

/* Constant once it is made, but for the scratch memory, of which every fork has its own. */
typedef struct bg_joint_form {
    bg_multibody mb; /* first: functions of the definition find it through self */
    bg_mechanism *mech;
    int nv, nq, ng;
    int nfollowing; /* links that follow a signal: their motions come behind those of v */
    bg_inertia
        *own;       /* [nlinks] constant, link axes: mass, centre (in h), moment about the centre */
    bool *is_shift; /* [nlinks] `before` does not turn */
    bool *is_massless;   /* [nlinks] no inertia of its own: I stays zero */
    bool *is_carried;    /* [nbodies] has the axes of its link */
    bg_direct_row *rows; /* rows nb .. behind the body-level ones */
    int nrows;
    bg_joint_patterns patterns;
    bg_joint_expansion expansion; /* of a fork that was asked for it */
    int *following;               /* [nfollowing] signals of the links that follow one */
    int *driven;                  /* [nforces] of mb, or NULL until patterns are known */
    int *diagonal;                /* [nv] places of M's diagonal among its values */
    double *q0, *v0;              /* [nq], [nv] start */
    bool found;                   /* on another tree: nothing is left to be looked for */
    unsigned char *q_fixed;       /* [nv] */
    unsigned char *marks;         /* [nv] BG_MARK_* */
    bg_fast_part fast_part;       /* of models with a fast part, and then: */
    bool *is_fast, *support;      /* [nlinks] of the fast part; of bodies that it sees */
    bool *by_recursion;           /* [nlinks] fast, and not of a body that floats */
    int *floating, nfloating;     /* last links of fast bodies that float (floating.c) */
    double *v_size, *g_size;      /* [nv], [ng] */
    const char **q_names, **v_names, **g_names;
    const char **q_units, **v_units, **g_units; /* of multipliers */
    char (*names)[64];
    bg_arena constants, named; /* of the arrays so far */
    /* Scratch memory: */
    bg_vec3 c;             /* common point */
    bg_frame *L;           /* [nlinks] moving frames */
    bg_spatial *S;         /* [nv + nfollowing] motions */
    bg_spatial *V, *bias;  /* [nlinks] twist; S' v of the link's own motions, and S u_tt */
    bg_spatial *A;         /* [nlinks] acceleration */
    bg_spatial *F;         /* [nlinks] force transmitted by the link's joint */
    bg_inertia *I;         /* [nlinks] inertia of the bodies on the link */
    bg_inertia *composite; /* [nlinks] of its subtree */
    bg_sym6 *articulated;  /* [nlinks] */
    bg_spatial *p;         /* [nlinks] articulated bias force */
    bg_spatial *U;         /* [nv] */
    double *D, *rest;      /* [nv] 1 / S^T U; tau - S^T p */
    double *u, *u_t;       /* [nfollowing], [2 nfollowing]: u, and u_t with u_tt behind, of links */
    double *q_now, *v_now; /* [nq + nfollowing], [nv + 2 nfollowing] q and u, v and u_t: what L, S
                              and body, and V, bias and body belong to */
    double *G_now;         /* [places] of G; of forks alone, since places are found last */
    size_t places;
    bool placed, moving; /* whether q_now and v_now are up to date */
    bool weighed, held;  /* whether, at q_now, I and G_now are */
    bg_shift *shift;     /* [nv + nfollowing] */
    bg_link_sums *sums;  /* [nlinks] */
    double *tau, *jump;  /* [nv] */
    double *part;        /* [max(nv, nz)] where there are parts */
    bool *inside;        /* [nbodies] */
} bg_joint_form;

/* kinematics.c: the world, and the links that follow signals, at the inputs of a point. */
void bg_joint_set_point(bg_joint_form *f, const bg_point *p);
/* Frames, twists and bias of all links and bodies at q, v; inertias of links at q;
 * accelerations for v' = a. What is there already, because the last call was for the same q or v,
 * is not computed again. */
void bg_joint_update_position(bg_joint_form *f, const double *q);
void bg_joint_update_velocity(bg_joint_form *f, const double *v);
void bg_joint_update_inertia(bg_joint_form *f);
void bg_joint_update_acceleration(bg_joint_form *f, const double *a); /* NULL: a = 0 */
void bg_joint_calc_V(const bg_joint_form *f, const double *q, double *V);
/* Of the fast part alone, and of what its forces and rows see, at a point; without inertias. */
void bg_joint_update_fast(bg_joint_form *f, const bg_point *p);
void bg_joint_update_fast_acceleration(bg_joint_form *f); /* a = 0 */
void bg_joint_weigh(bg_joint_form *f, const bool *only);  /* inertias of these links, then */

/* system.c: inputs, positions and velocities; and `jump` of the system. */
void bg_joint_update(bg_joint_form *f, const bg_point *p);
int bg_joint_jump(void *form, const bg_point *p, const double *u_t, double *v);

/* mass.c: M by composite bodies, in its pattern. This, inverse, forward and derivatives need
 * update_inertia. The fast part alone needs update_fast and weigh; the rest of M is left alone. */
void bg_joint_calc_mass(bg_joint_form *f, double *M);
void bg_joint_calc_fast_mass(bg_joint_form *f, double *M);
/* residual.c: tau = M a + (gyroscopic) - (wrenches of mb), O(N); leaves F. After update_velocity.
 */
void bg_joint_calc_inverse(bg_joint_form *f, const double *a, double *tau);
/* The same for the fast part with a = 0, after update_fast and weigh. */
void bg_joint_calc_fast_inverse(bg_joint_form *f, double *tau);
/* drives.c: the power that links which follow signals need, without the part of constraint forces,
 * as *power + by_a . v', by_a [nv]. After update_velocity and update_inertia. */
void bg_joint_calc_drive_power(bg_joint_form *f, double *power, double *by_a);
/* block [ng nsignals], unless NULL, += g by u of rows in which signals stand as such: direct ones
 * and those that follow signals. It is also w by u_t and gamma by u_tt. */
void bg_joint_add_row_signals(const bg_joint_form *f, double *block);
/* Blocks of r and h by u and u_t += what force laws see of signals; changes the wrenches of mb. */
void bg_joint_add_force_signals(bg_joint_form *f, bg_derivatives *out);
/* explicit.c: a = M^{-1}(tau + wrenches - gyroscopic) by articulated bodies, O(N). */
void bg_joint_calc_forward(bg_joint_form *f, const double *tau, double *a);
/* The same for the fast part; after update_fast. Other entries of a are left alone. tau NULL: it
 * is zero. */
void bg_joint_calc_forward_fast(bg_joint_form *f, const double *tau, double *a);
/* floating.c: the fast bodies that float, after the first sort_parts; their accelerations. */
void bg_joint_find_floating(bg_joint_form *f);
void bg_joint_accelerate_floating(const bg_joint_form *f, double *a);
/* v [nv] changes as the rates of links that follow signals jump from u_t [nsignals] to those of the
 * point; after update_inertia. */
void bg_joint_calc_jump(bg_joint_form *f, const double *u_t, double *v);
/* determined.c: fails where nothing determines a motion at q that G, but for rows left_out, allows,
 * and warns where next to nothing does. */
bg_status bg_joint_check_determined(bg_joint_form *f, const double *q, const double *G,
                                    const unsigned char *left_out, bg_warnings *warnings,
                                    bg_error *err);

/* reactions.c: functions of bg_multibody. */
void bg_joint_calc_tree_reaction(bg_multibody *mb, int joint, const double *lambda,
                                 bg_wrench *on_b);
void bg_joint_transmit(bg_multibody *mb, bg_wrench *on_b);
int bg_joint_find_coupler(bg_multibody *mb, int coupler);

/* One body's part of a row as a spatial force about c. */
static inline bg_spatial bg_joint_make_force(const bg_joint_form *f, int body, const double *J)
{
    bg_vec3 force = bg_vec3_load(J), moment = bg_vec3_load(J + 3);
    bg_vec3 arm = bg_sub(f->mb.body[body].r, f->c);
    return (bg_spatial){bg_add(moment, bg_cross(arm, force)), force};
}

/* loops.c: constraint rows, after update_position. */
void bg_joint_calc_g(bg_joint_form *f, double *g);
void bg_joint_calc_gt(bg_joint_form *f, double *gt);
/* J . (v, w) of a body as far as it comes from links that follow signals. */
double bg_joint_calc_following(const bg_joint_form *f, int body, const double *J);
void bg_joint_calc_G(bg_joint_form *f, double *G);
void bg_joint_calc_gamma(bg_joint_form *f, double *gamma);
/* Fast rows alone, after update_fast; others are of no meaning. */
void bg_joint_calc_fast_G(bg_joint_form *f, double *G);
void bg_joint_calc_fast_gamma(bg_joint_form *f, double *gamma);
/* block [nv ng] <- G^T - df/dlambda. */
void bg_joint_calc_by_lambda(bg_joint_form *f, double *block);
/* Generalised forces -G^T lambda of the direct rows; those of the others go through wrenches. */
void bg_joint_add_direct_forces(const bg_joint_form *f, const double *lambda, double *tau);

/* derivatives.c: the wanted blocks of r, h, w and gamma by q, v and z. After update_velocity, with
 * the wrenches of forces and of reactions in mb. */
void bg_joint_calc_derivatives(bg_joint_form *f, const bg_point *p, const double *a,
                               const double *lambda, bg_derivatives *out);

/* mass_factor.c: M factored along the tree; its size, 0: entries of M serve as well. After
 * update_inertia; its first number is NAN where M is nearly singular. */
int bg_joint_get_mass_size(const bg_joint_form *f);
void bg_joint_factor_mass(bg_joint_form *f, double *factor);
void bg_joint_solve_mass(const void *form, double *factor, double *x);

/* expansion_layout.c: the structure, made on the first call (NULL: out of memory). */
const bg_expansion *bg_joint_lay_out(void *form);
void bg_joint_clear_expansion(bg_joint_form *f);
/* expansion.c: the values, under the conditions of derivatives. */
void bg_joint_calc_expansion(bg_joint_form *f, const bg_point *p, const double *a,
                             const double *lambda, bg_expansion_values *out);

/* patterns.c: after the first update; false: out of memory. lambda: any [ng]. */
bool bg_joint_make_patterns(bg_joint_form *f, const double *lambda);
void bg_joint_clear_patterns(bg_joint_form *f);
/* Where entry (i, j), which the pattern has, lies among the values; by a table where there is one.
 */
static inline size_t bg_joint_find_place(const bg_pattern *p, const int *table, int i, int j)
{
    size_t entry = (size_t)(i * p->columns + j);
    if (!p->row_start)
        return entry;
    if (table)
        return (size_t)table[entry];
    int low = p->row_start[i], high = p->row_start[i + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return (size_t)low;
}
static inline size_t bg_joint_count_places(const bg_pattern *p)
{
    return p->row_start ? (size_t)p->row_start[p->rows] : (size_t)p->rows * (size_t)p->columns;
}

/* starts.c: velocities that meet what is given joint by joint from the ground outwards, at the pose
 * at hand; how a run starts. */
bg_status bg_joint_guess_velocity(bg_joint_form *f, double *v, bg_error *err);
const struct bg_starts *bg_joint_get_starts(bool found); /* found: q0 and v0 are the start */
/* poses.c: coordinates and rates that give all bodies these poses and twists, [nbodies], from
 * coordinates nearby; BG_NOT_CONVERGED: there are none. */
bg_status bg_joint_take_poses(bg_joint_form *f, const bg_body_state *pose, double *q, double *v,
                              bg_error *err);

/* links.c, in the order of creation. */
void bg_joint_collect_inertia(bg_joint_form *f);
void bg_joint_find_shortcuts(bg_joint_form *f);
void bg_joint_collect_rows(bg_joint_form *f);
void bg_joint_find_driven(bg_joint_form *f);
/* [nbodies] whether inputs alone move it, or nothing. */
void bg_joint_find_following(const bg_joint_form *f, bool *follows);
/* Parts of links, coordinates and direct rows. */
void bg_joint_sort_parts(bg_joint_form *f);
/* coordinates.c; calc_sizes: false: out of memory. */
void bg_joint_find_blocks(bg_joint_form *f);
void bg_joint_calc_sizes(bg_joint_form *f);
void bg_joint_name_all(bg_joint_form *f);

/* system.c; constrain: prescribed coordinates of the tree by rows, none eliminated. */
bg_status bg_joint_form_create(const bg_model *model, bool constrain, bg_joint_form **form,
                               bg_error *err);
void bg_joint_form_destroy(void *form);
void bg_joint_form_define(bg_joint_form *f, bg_system_def *def);

#endif

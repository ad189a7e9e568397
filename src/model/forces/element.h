/* What force elements share: reading references, and derivatives by unit variations. */
#ifndef BG_ELEMENT_H
#define BG_ELEMENT_H

#include "model/primitive.h"
#include "model/read.h"

/* Where the origin of a marker is in the design position, world axes. */
bg_vec3 bg_element_find_place(const bg_model *model, const bg_marker *m);
/* "bodies": [A, B] as indices. */
void bg_element_read_bodies(const bg_value *object, int body[2]);
/* {"joint", "coordinate"} as a measured coordinate; "coordinate" may be left out where the joint
 * has only one. */
bg_coordinate bg_element_read_coordinate(const bg_value *object);
/* The same for the coordinate that f drives. */
bg_coordinate bg_element_read_drive(const bg_value *object, bg_force *f);

/* The end of an element that has no more than its own memory. */
void bg_element_free(bg_force *f);

/* A small change of a body's pose and twist. */
typedef struct bg_variation {
    bg_vec3 dr, dtheta, dv, dw;
} bg_variation;

/* The c-th of its twelve components, 1: dr, dtheta, dv, dw. */
static inline bg_variation bg_variation_of_unit(int c)
{
    static const double x[23] = {[11] = 1};
    const double *u = x + 11 - c;
    return (bg_variation){bg_vec3_load(u), bg_vec3_load(u + 3), bg_vec3_load(u + 6),
                          bg_vec3_load(u + 9)};
}

/* The change of the position of a point with arm s from the centre of mass, and of its velocity:
 *   ds = dtheta x s,   dp = dr + ds,   dp' = dv + dw x s + w x ds. */
static inline bg_vec3 bg_variation_of_arm(const bg_variation *d, bg_vec3 s)
{
    return bg_cross(d->dtheta, s);
}

static inline bg_vec3 bg_variation_of_point(const bg_variation *d, bg_vec3 s)
{
    return bg_add(d->dr, bg_cross(d->dtheta, s));
}

static inline bg_vec3 bg_variation_of_velocity(const bg_variation *d, bg_vec3 s, bg_vec3 w)
{
    return bg_add(bg_add(d->dv, bg_cross(d->dw, s)), bg_cross(w, bg_cross(d->dtheta, s)));
}

/* The change of the wrench of a force f with arm s: (df, ds x f + s x df). */
static inline bg_wrench bg_wrench_vary(bg_vec3 s, bg_vec3 ds, bg_vec3 f, bg_vec3 df)
{
    return (bg_wrench){df, bg_add(bg_cross(ds, f), bg_cross(s, df))};
}

/* How an element responds to a variation of its bodies: changes of the wrenches on its bodies and
 * of the rates of its states, linear in d. dwrench and dh come in as zeros. */
typedef void bg_tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh);

/* Fills the columns of out from responses to unit variations of the nbodies bodies, one by one.
 * What concerns z is left as zeros. */
void bg_element_calc_derivatives(bg_tangent *tangent, const void *context, const int *body,
                                 int nbodies, int nz, bg_force_derivatives *out);
/* The same for an element without states that sees nothing but how one of its two bodies lies and
 * moves relative to the other, and of how it moves only if by_twist; `on` are the wrenches on
 * them. */
void bg_element_calc_pair_derivatives(bg_tangent *tangent, const void *context, const int body[2],
                                      const bg_world *w, const bg_wrench on[2], bool by_twist,
                                      bg_force_derivatives *out);
/* Its parts: the bodies, and zeros everywhere; the columns from .. to - 1 (of dr,
 * dtheta, v, w) of body k. */
void bg_element_clear(const int *body, int nbodies, bg_force_derivatives *out);
/* A wrench into the six rows of one column of wrench_pose or wrench_twist. */
void bg_element_store_column(const bg_wrench *x, double *column);
void bg_element_calc_columns(bg_tangent *tangent, const void *context, int k, int from, int to,
                             int nz, bg_force_derivatives *out);

#endif

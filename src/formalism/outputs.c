/* The outputs of a model: sensors, coordinates, accelerations, forces, reactions, energies and
 * expressions of them. */
#include "formalism/multibody.h"

#include "model/sensor.h"

static double reaction_component(bg_multibody *mb, const bg_output *o, const double *lambda)
{
    const bg_joint *j = &mb->model->joints[o->index];
    bg_wrench x = bg_multibody_calc_reaction(mb, o->index, lambda);
    if (o->component < 3)
        return bg_output_pick(o, &mb->world, x.f);
    bg_vec3 arm = bg_marker_get_arm(&mb->world, &j->b);
    return bg_output_pick(o, &mb->world, bg_sub(x.n, bg_cross(arm, x.f)));
}

static double coordinate_component(bg_multibody *mb, const bg_output *o, const bg_point *p,
                                   const double *a)
{
    double out[3];
    if (mb->find_coordinate && mb->find_coordinate(mb, o->index, o->coordinate, p, a, out))
        return out[o->component];
    bg_primitive x = {.kind = BG_PRIMITIVE_RELATION, .n = 1, .factor = {1}, .signal = -1};
    bg_coordinate *c = &x.coordinate[0];
    *c = bg_multibody_get_coordinate(mb->model, o->index, o->coordinate);
    for (int k = 0; k < mb->nturns; k++)
        if (mb->turns[k].joint == o->index && mb->turns[k].index == o->coordinate)
            c->turns = mb->turns[k].z;
    if (o->component == 0)
        return bg_coordinate_calc(&mb->world, c);
    if (o->component == 1)
        return bg_coordinate_calc_rate(&mb->world, c);
    double J[12], value;
    const bg_body_acceleration *A = &mb->acceleration[c->a.body], *B = &mb->acceleration[c->b.body];
    bg_primitive_calc_jacobian(&mb->world, &x, J);
    bg_primitive_calc_gamma(&mb->world, &x, &value);
    return value + bg_dot(bg_vec3_load(J), A->v) + bg_dot(bg_vec3_load(J + 3), A->w) +
           bg_dot(bg_vec3_load(J + 6), B->v) + bg_dot(bg_vec3_load(J + 9), B->w);
}

static double calc_output(bg_multibody *mb, const bg_output *o, const bg_point *p, const double *a,
                          const double *lambda)
{
    const bg_world *w = &mb->world;
    const bg_body_state *b = &mb->body[o->a.body];
    const bg_body_acceleration *acc = &mb->acceleration[o->a.body];
    bg_energy e;
    switch (o->kind) {
    case BG_OUTPUT_COORDINATE:
        return coordinate_component(mb, o, p, a);
    case BG_OUTPUT_ACCELERATION: {
        bg_vec3 s = bg_marker_get_arm(w, &o->a);
        bg_vec3 turning = bg_add(bg_cross(acc->w, s), bg_cross(b->w, bg_cross(b->w, s)));
        return bg_output_pick(o, w, bg_add(acc->v, turning));
    }
    case BG_OUTPUT_ANGULAR_ACCELERATION:
        return bg_output_pick(o, w, acc->w);
    case BG_OUTPUT_FORCE:
        return mb->model->forces[o->index].class_->sensor(&mb->model->forces[o->index], w,
                                                          o->component);
    case BG_OUTPUT_REACTION:
        return reaction_component(mb, o, lambda);
    case BG_OUTPUT_KINETIC:
    case BG_OUTPUT_POTENTIAL:
    case BG_OUTPUT_ENERGY:
        bg_multibody_calc_energy(mb, &e);
        return (o->kind != BG_OUTPUT_POTENTIAL ? e.kinetic : 0) +
               (o->kind != BG_OUTPUT_KINETIC ? e.potential : 0);
    case BG_OUTPUT_FILTER: /* runs make it of this, row by row */
        return mb->values[o->index];
    case BG_OUTPUT_EXPRESSION:
        return bg_expression_calc(o->expression, mb->values);
    default:
        return bg_sensor_calc(o, w);
    }
}

void bg_multibody_calc_outputs(bg_multibody *mb, const bg_point *p, const double *a,
                               const double *lambda, double *y)
{
    bg_multibody_set_lambda(mb, lambda);
    mb->values[mb->ny] = p->t;
    for (int k = 0; k < mb->ny; k++) {
        const bg_output *o = &mb->model->outputs[k];
        mb->values[k] = calc_output(mb, o, p, a, lambda); /* SI units */
        y[k] = o->scale * mb->values[k];
    }
}

/* What force elements see of signals, by differences at a world that stays, and what rows do.
 * Signals of tracks have no name in laws: only frames follow them, and turns count from them.
 *
 * f' = (4 D(h) - D(2h)) / 3 with central differences D: the error h^4 f'''''/30 allows a wide
 * shift, so that rounding stays near 1e-12 of the wrenches. */
#include "formalism/multibody.h"

#include <math.h>
#include <string.h>

static const double shift = 0x1p-13; /* h, of a value of order 1 */

/* Wrenches and rates at the signals that the world has now. */
static void calc_side(bg_multibody *mb, const bg_signal_visit *v, bg_wrench *wrench, double *h)
{
    const bg_model *m = mb->model;
    memset(wrench, 0, (size_t)mb->nbodies * sizeof *wrench);
    for (int k = 0; k < m->nforces && v->force; k++)
        if (m->forces[k].stiff || !v->only_stiff)
            m->forces[k].class_->apply(&m->forces[k], &mb->world, wrench);
    if (v->h)
        bg_multibody_calc_rates(mb, h);
}

/* The difference of both sides first: of what a law does not see it is zero. */
static void add_difference(bg_multibody *mb, const bg_signal_visit *v, int signal, double factor)
{
    const int nu = mb->model->nsignals;
    for (int b = 0; b < mb->nbodies; b++) {
        mb->wrench[b].f = bg_scale(factor, bg_sub(mb->shifted.wrench[b].f, mb->wrench[b].f));
        mb->wrench[b].n = bg_scale(factor, bg_sub(mb->shifted.wrench[b].n, mb->wrench[b].n));
    }
    if (v->force)
        v->force(v->self, mb->wrench, signal);
    for (int i = 0; i < mb->nz && v->h; i++)
        v->h[i * nu + signal] += factor * (mb->shifted.h[mb->nz + i] - mb->shifted.h[i]);
}

/* A turn that counts from a wheel rolling along the track: h is the rate of the difference. */
static void add_reference(const bg_multibody *mb, const bg_signal_visit *v, int signal)
{
    for (int k = 0; k < mb->nturns && v->h && v->by == BG_BY_u_t; k++) {
        const bg_coordinate *c = &mb->turns[k].coordinate;
        if (c->kind == BG_COORDINATE_PITCH && c->reference == signal)
            v->h[mb->turns[k].z * mb->model->nsignals + signal] -= 1;
    }
}

void bg_multibody_visit_signals(bg_multibody *mb, const bg_signal_visit *v)
{
    const double **at = v->by == BG_BY_u ? &mb->world.u : &mb->world.u_t, *given = *at;
    double *u = mb->shifted.u;
    if (!v->force && !v->h)
        return;
    memcpy(u, given, (size_t)mb->model->nsignals * sizeof(double));
    *at = u;
    for (int k = 0; k < mb->model->nsignals; k++) {
        if (mb->model->signals[k].kind == BG_SIGNAL_TRACK) {
            add_reference(mb, v, k);
            continue;
        }
        static const double weight[] = {4.0 / 3, -1.0 / 3};
        for (int wide = 0; wide < 2; wide++) {
            double step = (1 + wide) * shift * fmax(1, fabs(given[k]));
            u[k] = given[k] - step;
            calc_side(mb, v, mb->wrench, mb->shifted.h);
            u[k] = given[k] + step;
            calc_side(mb, v, mb->shifted.wrench, mb->shifted.h + mb->nz);
            add_difference(mb, v, k, weight[wide] / (2 * step));
        }
        u[k] = given[k];
    }
    *at = given;
}

void bg_multibody_add_row_signals(const bg_multibody *mb, double *block)
{
    for (int k = 0; block && k < mb->ngroups; k++) {
        const bg_primitive *p = &mb->groups[k].primitive;
        if (p->kind == BG_PRIMITIVE_RELATION && p->signal >= 0)
            block[mb->groups[k].row * mb->model->nsignals + p->signal] -= 1;
    }
}

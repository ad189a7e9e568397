/* The state of a trajectory: allocation and copying. */
#include "base/memory.h"
#include "system/system.h"

#include <stdlib.h>
#include <string.h>

bg_status bg_state_create(const bg_system *sys, bg_state **state, bg_error *err)
{
    const bg_system_def *d = &sys->def;
    *state = NULL;
    bg_state *x = BG_NEW(bg_state);
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a state of '%s'", d->name);
    x->t = d->t_start;
    x->q = BG_NEW_ARRAY(double, d->nq + d->nv + d->nz + 1);
    x->a = BG_NEW_ARRAY(double, d->nv);
    x->lambda = BG_NEW_ARRAY(double, d->ng);
    x->mode = BG_NEW_ARRAY(int, d->nmode);
    if (!(x->q && x->a && x->lambda && x->mode)) {
        bg_state_destroy(x);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a state of '%s'", d->name);
    }
    x->v = x->q + d->nq;
    x->z = x->v + d->nv;
    x->work = x->z + d->nz;
    if (d->q0)
        memcpy(x->q, d->q0, (size_t)d->nq * sizeof(double));
    if (d->v0)
        memcpy(x->v, d->v0, (size_t)d->nv * sizeof(double));
    if (d->z0)
        memcpy(x->z, d->z0, (size_t)d->nz * sizeof(double));
    if (d->mode0)
        memcpy(x->mode, d->mode0, (size_t)d->nmode * sizeof(int));
    *state = x;
    return BG_OK;
}

void bg_state_destroy(bg_state *x)
{
    if (!x)
        return;
    free(x->q);
    free(x->a);
    free(x->lambda);
    free(x->mode);
    free(x);
}

void bg_state_copy(const bg_system *sys, const bg_state *from, bg_state *to)
{
    const bg_system_def *d = &sys->def;
    to->t = from->t;
    memcpy(to->q, from->q, (size_t)(d->nq + d->nv + d->nz + 1) * sizeof(double));
    memcpy(to->a, from->a, (size_t)d->nv * sizeof(double));
    memcpy(to->lambda, from->lambda, (size_t)d->ng * sizeof(double));
    memcpy(to->mode, from->mode, (size_t)d->nmode * sizeof(int));
}

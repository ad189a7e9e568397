/* What the laws of both ring tyres share while they are computed in jets; private to
 * them. Everything is inlined into the function that makes values alone and into the one that
 * makes derivatives, too, so that the former has none of the latter's work. */
#ifndef BG_RING_LAW_H
#define BG_RING_LAW_H

#include "math/jet.h"
#include "model/tyres/ring.h"

#define BG_RING_INLINE static inline __attribute__((always_inline))

/* Members as in bg_ring_state and bg_ring_values. */
typedef struct bg_ring_work {
    const bg_ring_tyre *s;
    const bg_force *force;
    double t;
    const int *mode;
    bg_jet3 r_H, e_H, v_H, w_c, r, e, v, w;
    bg_jet z[BG_RING_STATES], Q;
    bg_jet3 w_H, w_rel; /* of the rim; of the ring against it */
    bg_jet3 f, n, F, T, T_H;
    bg_jet h[BG_RING_STATES], U, loss, delta, delta_t, N, F_x, F_y, align, u, V_x;
    bool touches, is_curved;
    double place, height;
} bg_ring_work;

BG_RING_INLINE bg_jet3 bg_ring_join(bg_vec3 x, bg_vec3 d)
{
    return (bg_jet3){x, d};
}

/* Takes the state, and finds how the rim turns. */
BG_RING_INLINE void bg_ring_begin(const bg_ring_state *x, const bg_ring_state *d, bg_ring_work *o)
{
    o->r_H = bg_ring_join(x->r_H, d->r_H);
    o->e_H = bg_ring_join(x->e_H, d->e_H);
    o->v_H = bg_ring_join(x->v_H, d->v_H);
    o->w_c = bg_ring_join(x->w_c, d->w_c);
    o->r = bg_ring_join(x->r, d->r);
    o->e = bg_ring_join(x->e, d->e);
    o->v = bg_ring_join(x->v, d->v);
    o->w = bg_ring_join(x->w, d->w);
    for (int i = 0; i < BG_RING_STATES; i++)
        o->z[i] = (bg_jet){x->z[i], d->z[i]};
    o->Q = (bg_jet){x->Q, d->Q};
    o->w_H = o->w_c;
    if (o->s->has_rotor) {
        const bg_jet own = bg_jet_sub(o->z[BG_RING_SPIN], bg_jet3_dot(o->w_c, o->e_H));
        o->w_H = bg_jet3_add_scaled(o->w_c, own, o->e_H);
    }
    o->w_rel = bg_jet3_sub(o->w, o->w_H);
}

/* T_H, that on a rim which turns, becomes that on the body that carries a rotor. */
BG_RING_INLINE void bg_ring_split(bg_ring_work *o)
{
    const double inertia = o->s->inertia;
    if (!o->s->has_rotor)
        return;
    const bg_jet along = bg_jet3_dot(o->T_H, o->e_H);
    const bg_jet spin = bg_jet_scale(inertia, o->z[BG_RING_SPIN]);
    const bg_jet3 turned = bg_jet3_cross(o->w_c, o->e_H);
    o->h[BG_RING_SPIN] = bg_jet_scale(1 / inertia, bg_jet_add(along, o->Q));
    o->T_H = bg_jet3_add_scaled(o->T_H, bg_jet_scale(-1, bg_jet_add(along, o->Q)), o->e_H);
    o->T_H = bg_jet3_add_scaled(o->T_H, bg_jet_scale(-1, spin), turned);
}

/* The road below a place: its height and slopes. */
typedef struct bg_ring_road {
    bg_jet height, slope, across;
} bg_ring_road;

BG_RING_INLINE bg_ring_road bg_ring_find_road(bg_ring_work *o, bg_jet3 C)
{
    const bg_contact_state c = bg_contact_find_road(o->force, C.x, o->v.x, o->t, o->mode);
    const double *x = c.road, *y = c.across;
    o->place = c.place;
    o->height = x[0];
    o->is_curved = x[2] != 0 || y[1] != 0 || y[2] != 0;
    return (bg_ring_road){.height = {x[0], x[1] * C.d.x + y[0] * C.d.y},
                          .slope = {x[1], x[2] * C.d.x + y[1] * C.d.y},
                          .across = {y[0], y[1] * C.d.x + y[2] * C.d.y}};
}

/* Whether the tyre touches the road, and the load; from delta and delta_t. */
BG_RING_INLINE void bg_ring_close(bg_ring_work *o)
{
    const bg_contact *k = &o->s->contact;
    bg_contact_state c = {.delta = o->delta.x, .delta_t = o->delta_t.x};
    bg_contact_close(k, o->mode, &c);
    o->touches = c.touches;
    o->N = bg_jet_of(0);
    if (c.touches)
        o->N = bg_jet_add(bg_jet_scale(k->k, o->delta), bg_jet_scale(k->c, o->delta_t));
}

BG_RING_INLINE bg_jet bg_ring_calc_b(const bg_ring_work *o, int i, bg_jet N)
{
    const bg_ring_tyre *s = o->s;
    return bg_jet_div(bg_jet_of(2 * s->c_p[i] * s->a * s->a / (3 * s->mu[i])), N);
}

BG_RING_INLINE void bg_ring_store(const bg_ring_work *o, bg_ring_values *y)
{
    *y = (bg_ring_values){.f = o->f.x,
                          .n = o->n.x,
                          .F = o->F.x,
                          .T = o->T.x,
                          .T_H = o->T_H.x,
                          .U = o->U.x,
                          .loss = o->loss.x,
                          .delta = o->delta.x,
                          .delta_t = o->delta_t.x,
                          .N = o->N.x,
                          .F_x = o->F_x.x,
                          .F_y = o->F_y.x,
                          .align = o->align.x,
                          .u = o->u.x,
                          .V_x = o->V_x.x,
                          .touches = o->touches,
                          .is_curved = o->is_curved,
                          .place = o->place,
                          .height = o->height};
    for (int i = 0; i < BG_RING_STATES; i++)
        y->h[i] = o->h[i].x;
}

/* What derivatives are needed of. */
BG_RING_INLINE void bg_ring_store_derivative(const bg_ring_work *o, bg_ring_values *dy)
{
    *dy = (bg_ring_values){.f = o->f.d,
                           .n = o->n.d,
                           .F = o->F.d,
                           .T = o->T.d,
                           .T_H = o->T_H.d,
                           .U = o->U.d,
                           .delta = o->delta.d,
                           .delta_t = o->delta_t.d};
    for (int i = 0; i < BG_RING_STATES; i++)
        dy->h[i] = o->h[i].d;
}

#endif

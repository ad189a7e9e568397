/* Angles of yaw, roll and pitch.
 *
 * With z the third axis of marker a and y the second of marker b, s = y . z = sin(roll), c^2 = 1 -
 * s^2, the axes about which the angles grow are z, (y x z)/c and y. The reciprocal vectors, which
 * pick the rates out of w = w_b - w_a, are
 *
 *   yaw   (z - s y)/c^2,      roll   (y x z)/c,      pitch   (y - s z)/c^2,
 *
 * and the rates r change with y and z, where ds = z . dy + y . dz, by
 *
 *   roll   dr = (z x w) . dy/c + (w x y) . dz/c + (s r/c^2) ds,
 *   pitch  dr = (w - (z . w) z) . dy/c^2 - (s w + (z . w) y) . dz/c^2 + (2 s r/c^2) ds,
 *
 * yaw being pitch with y and z exchanged. */
#include "model/cardan.h"

static bg_vec3 combine(double a, bg_vec3 x, double b, bg_vec3 y)
{
    return bg_add_scaled(bg_scale(a, x), b, y);
}

/* The rate (p - s q) . w / c^2, and its changes with p and q. */
static void set_reciprocal(bg_vec3 p, bg_vec3 q, bg_vec3 w, double s, bg_cardan *x, bg_vec3 *by_p,
                           bg_vec3 *by_q)
{
    const double square = 1 - s * s, along = bg_dot(q, w);
    x->n = bg_scale(1 / square, combine(1, p, -s, q));
    x->rate = bg_dot(x->n, w);
    const double more = 2 * s * x->rate;
    *by_p = bg_scale(1 / square, combine(1, w, more - along, q));
    *by_q = bg_scale(1 / square, combine(-s, w, more - along, p));
}

static void set_roll(bg_vec3 w, double s, bg_cardan *x)
{
    const double square = 1 - s * s, c = sqrt(square);
    x->n = bg_scale(1 / c, bg_cross(x->y, x->z));
    x->rate = bg_dot(x->n, w);
    const double more = s * x->rate / square;
    x->by_y = combine(1 / c, bg_cross(x->z, w), more, x->z);
    x->by_z = combine(1 / c, bg_cross(w, x->y), more, x->y);
}

bg_cardan bg_cardan_calc(const bg_world *world, const bg_coordinate *c)
{
    const bg_mat3 A = bg_marker_get_axes(world, &c->a), B = bg_marker_get_axes(world, &c->b);
    const bg_vec3 w = bg_sub(world->body[c->b.body].w, world->body[c->a.body].w);
    bg_cardan x = {.z = bg_axis(&A, 2), .y = bg_axis(&B, 1)};
    const double s = bg_dot(x.y, x.z);
    if (c->kind == BG_COORDINATE_YAW) {
        x.angle = atan2(-bg_dot(x.y, bg_axis(&A, 0)), bg_dot(x.y, bg_axis(&A, 1)));
        set_reciprocal(x.z, x.y, w, s, &x, &x.by_z, &x.by_y);
    } else if (c->kind == BG_COORDINATE_PITCH) {
        x.angle = atan2(-bg_dot(x.z, bg_axis(&B, 0)), bg_dot(x.z, bg_axis(&B, 2)));
        set_reciprocal(x.y, x.z, w, s, &x, &x.by_y, &x.by_z);
    } else {
        x.angle = asin(fmax(-1, fmin(1, s)));
        set_roll(w, s, &x);
    }
    return x;
}

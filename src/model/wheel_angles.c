/* How a wheel stands against a body: camber, toe, steer angle, travel, caster, kingpin inclination.
 *
 * With the axes x forward, y left, z up of the body, as they were in the design position, and the
 * wheel's axis a in them, to the left, side 1 for a left wheel and -1 for a right one,
 *
 *   camber      -side asin(a_z)          its top leans outwards
 *   steer       atan2(-a_x, a_y)         to the left
 *   toe         -side steer              its front points inwards
 *   travel      of its centre, upwards, from the design position
 *
 * and with k from the lower to the upper point of the steering axis,
 *
 *   caster      atan2(-k_x, k_z)         the top leans backwards
 *   inclination atan2(-side k_y, k_z)    the top leans inwards
 *
 * Outputs of a mirrored part are those of the part; but steer is to the left of the model. */
#include "model/sensor.h"

/* A vector of the world in the axes of the body. */
static bg_vec3 look(const bg_output *o, const bg_world *w, bg_vec3 x)
{
    const bg_mat3 B = bg_marker_get_axes(w, &o->b);
    return bg_rotate_back(&o->axes, bg_rotate_back(&B, x));
}

static bg_vec3 calc_steering_axis(const bg_output *o, const bg_world *w)
{
    return look(o, w,
                bg_sub(bg_marker_get_position(w, &o->kingpin[1]),
                       bg_marker_get_position(w, &o->kingpin[0])));
}

double bg_wheel_calc(const bg_output *o, const bg_world *w)
{
    const bg_mat3 A = bg_marker_get_axes(w, &o->a), *E = &o->axes;
    const bg_vec3 a = look(o, w, bg_rotate(&A, o->direction));
    const double steer = atan2(-a.x, a.y);
    bg_vec3 k;
    switch ((bg_wheel_component)o->component) {
    case BG_WHEEL_CAMBER:
        return -o->side * atan2(a.z, hypot(a.x, a.y));
    case BG_WHEEL_TOE:
        return -o->side * steer;
    case BG_WHEEL_STEER:
        return steer * bg_dot(bg_axis(E, 2), bg_cross(bg_axis(E, 0), bg_axis(E, 1)));
    case BG_WHEEL_TRAVEL:
        return look(o, w, bg_sub(bg_marker_get_position(w, &o->a), w->body[o->b.body].r)).z +
               o->offset;
    case BG_WHEEL_CASTER:
        k = calc_steering_axis(o, w);
        return atan2(-k.x, k.z);
    case BG_WHEEL_INCLINATION:
        k = calc_steering_axis(o, w);
        return atan2(-o->side * k.y, k.z);
    }
    return NAN;
}

/* Jets: a value x and its derivative d in one direction, carried along by the rules of
 * differentiation. A law that is written in them once has both its value and its exact
 * derivatives; where d is not looked at, the compiler leaves it out. (math/dual.h has all
 * derivatives of a scalar at once.)
 *
 * |x|, and the greater and the lesser of two, have the derivative of the side that x is on; |x| at
 * 0 has none. */
#ifndef BG_JET_H
#define BG_JET_H

#include "math/vec3.h"

typedef struct bg_jet {
    double x, d;
} bg_jet;

typedef struct bg_jet3 {
    bg_vec3 x, d;
} bg_jet3;

static inline bg_jet bg_jet_of(double x)
{
    return (bg_jet){x, 0};
}

static inline bg_jet bg_jet_add(bg_jet a, bg_jet b)
{
    return (bg_jet){a.x + b.x, a.d + b.d};
}

static inline bg_jet bg_jet_sub(bg_jet a, bg_jet b)
{
    return (bg_jet){a.x - b.x, a.d - b.d};
}

static inline bg_jet bg_jet_scale(double s, bg_jet a)
{
    return (bg_jet){s * a.x, s * a.d};
}

static inline bg_jet bg_jet_mul(bg_jet a, bg_jet b)
{
    return (bg_jet){a.x * b.x, a.d * b.x + a.x * b.d};
}

static inline bg_jet bg_jet_div(bg_jet a, bg_jet b)
{
    const double q = a.x / b.x;
    return (bg_jet){q, (a.d - q * b.d) / b.x};
}

static inline bg_jet bg_jet_sqrt(bg_jet a)
{
    const double r = sqrt(a.x);
    return (bg_jet){r, r > 0 ? 0.5 * a.d / r : 0};
}

static inline bg_jet bg_jet_abs(bg_jet a)
{
    return a.x < 0 ? bg_jet_scale(-1, a) : a.x > 0 ? a : bg_jet_of(0);
}

static inline bg_jet bg_jet_max(bg_jet a, bg_jet b)
{
    return a.x > b.x ? a : b;
}

static inline bg_jet bg_jet_min(bg_jet a, bg_jet b)
{
    return a.x < b.x ? a : b;
}

static inline bg_jet bg_jet_hypot(bg_jet a, bg_jet b)
{
    return bg_jet_sqrt(bg_jet_add(bg_jet_mul(a, a), bg_jet_mul(b, b)));
}

static inline bg_jet bg_jet_tanh(bg_jet a)
{
    const double y = tanh(a.x);
    return (bg_jet){y, (1 - y * y) * a.d};
}

static inline bg_jet3 bg_jet3_of(bg_vec3 x)
{
    return (bg_jet3){x, {0, 0, 0}};
}

static inline bg_jet3 bg_jet3_add(bg_jet3 a, bg_jet3 b)
{
    return (bg_jet3){bg_add(a.x, b.x), bg_add(a.d, b.d)};
}

static inline bg_jet3 bg_jet3_sub(bg_jet3 a, bg_jet3 b)
{
    return (bg_jet3){bg_sub(a.x, b.x), bg_sub(a.d, b.d)};
}

static inline bg_jet3 bg_jet3_scale(double s, bg_jet3 a)
{
    return (bg_jet3){bg_scale(s, a.x), bg_scale(s, a.d)};
}

static inline bg_jet3 bg_jet3_mul(bg_jet s, bg_jet3 a)
{
    return (bg_jet3){bg_scale(s.x, a.x), bg_add_scaled(bg_scale(s.d, a.x), s.x, a.d)};
}

/* a + s b */
static inline bg_jet3 bg_jet3_add_scaled(bg_jet3 a, bg_jet s, bg_jet3 b)
{
    return bg_jet3_add(a, bg_jet3_mul(s, b));
}

static inline bg_jet bg_jet3_dot(bg_jet3 a, bg_jet3 b)
{
    return (bg_jet){bg_dot(a.x, b.x), bg_dot(a.d, b.x) + bg_dot(a.x, b.d)};
}

static inline bg_jet3 bg_jet3_cross(bg_jet3 a, bg_jet3 b)
{
    return (bg_jet3){bg_cross(a.x, b.x), bg_add(bg_cross(a.d, b.x), bg_cross(a.x, b.d))};
}

static inline bg_jet bg_jet3_x(bg_jet3 a)
{
    return (bg_jet){a.x.x, a.d.x};
}

static inline bg_jet bg_jet3_y(bg_jet3 a)
{
    return (bg_jet){a.x.y, a.d.y};
}

static inline bg_jet bg_jet3_z(bg_jet3 a)
{
    return (bg_jet){a.x.z, a.d.z};
}

#endif

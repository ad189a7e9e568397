#include "model/forces/stop.h"

bg_stop bg_stop_read(const bg_value *v)
{
    const bg_value exponent = bg_value_member(v, "exponent");
    const bg_stop stop = {bg_value_positive(v, "stiffness"),
                          bg_value_not_negative_or(v, "damping", 0),
                          bg_value_number_or(v, "exponent", 1)};
    if (v->reader->status == BG_OK && !(stop.n >= 1 && stop.n <= 10))
        bg_value_fail(&exponent, "must be between 1 (a linear spring) and 10, not %g", stop.n);
    return stop;
}

/* delta |delta|^(n-1) and its slope. */
static double calc_power(double n, double delta, double *slope)
{
    if (n == 1) {
        *slope = 1;
        return delta;
    }
    const double p = pow(fabs(delta), n - 1);
    *slope = n * p;
    return p * delta;
}

double bg_stop_calc_switch(const bg_stop *stop, double delta, double delta_t)
{
    const double held = stop->c * fmax(0, -delta_t) / stop->k; /* delta^n at which F = 0 */
    return delta - (stop->n == 1 ? held : pow(held, 1 / stop->n));
}

bg_stop_state bg_stop_calc(const bg_stop *stop, int mode, double delta, double delta_t)
{
    bg_stop_state y = {.delta = delta, .delta_t = delta_t};
    y.touches = mode == BG_STOP_OPEN ? bg_stop_calc_switch(stop, delta, delta_t) > 0
                                     : mode == BG_STOP_CONTACT;
    if (!y.touches)
        return y;
    y.F = stop->k * calc_power(stop->n, delta, &y.F_delta) + stop->c * delta_t;
    y.F_delta *= stop->k;
    y.F_rate = stop->c;
    return y;
}

void bg_stop_add_energy(const bg_stop *stop, const bg_stop_state *y, bg_energy *out)
{
    if (!y->touches)
        return;
    out->potential += stop->k * pow(fabs(y->delta), stop->n + 1) / (stop->n + 1);
    out->power -= stop->c * y->delta_t * y->delta_t;
}

void bg_stop_settle(const bg_stop *stop, double delta, double delta_t, int *mode)
{
    const double s = bg_stop_calc_switch(stop, delta, delta_t);
    if (*mode == BG_STOP_OPEN && s != 0)
        *mode = s > 0 ? BG_STOP_CONTACT : BG_STOP_APART;
}

int bg_stop_pass(int direction, int *mode)
{
    const int now = direction > 0 ? BG_STOP_CONTACT : BG_STOP_APART;
    if (direction == 0 || *mode == now)
        return BG_EVENT_NOTE;
    *mode = now;
    return BG_EVENT_CHANGED;
}

int bg_stop_get_side(int mode)
{
    return mode == BG_STOP_CONTACT ? 1 : mode == BG_STOP_APART ? -1 : BG_SIDE_OPEN;
}

int bg_stop_event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f;
    (void)k;
    return bg_stop_pass(direction, mode);
}

void bg_stop_sides(const bg_force *f, const int *mode, int *side)
{
    (void)f;
    side[0] = bg_stop_get_side(mode[0]);
}

/* Corners of inputs that bodies follow.
 *
 * Where u or u_t jumps, velocities jump with it, by impulses. Signals that know their corners have
 * events there; an expression does not, and a step across would lose the impulse: in joint form,
 * where nothing is integrated of what follows, without any error to be seen. So every step looks
 * for such a place. On an interval of length h let
 *
 *   d_x = u1 - u0 - h (u_t0 + u_t1)/2 + h^2 (u_tt1 - u_tt0)/12,   d_v = u_t1 - u_t0 - h (u_tt0 +
 * u_tt1)/2.
 *
 * Of a smooth u they fall with the fifth and third power of h, of one that jumps d_x, and of one
 * with a corner d_v, stay as they are in that half of an interval where it lies. The intervals are
 * halved towards the larger one until both are below the tolerance, or nothing is left to halve. */
#include "run/runner.h"

#include <math.h>
#include <string.h>

enum { PARTS = 4, HALVINGS = 60, SAMPLES = 8 };

/* An input at a time. */
typedef struct input_sample {
    double t, u, u_t, u_tt;
} input_sample;

static bool look_at(bg_runner *r, const int *mode, int i, double t, input_sample *out)
{
    const int nu = r->sys->def.nu;
    double *u = r->u;
    if (bg_system_calc_inputs(r->sys, t, mode, u, u + nu, u + 2 * nu, NULL) != BG_OK)
        return false;
    *out = (input_sample){t, u[i], u[nu + i], u[2 * nu + i]};
    return isfinite(out->u) && isfinite(out->u_t) && isfinite(out->u_tt);
}

/* d_x and d_v beside the tolerances, the larger one. */
static double calc_defect(const bg_runner *r, const input_sample *a, const input_sample *b)
{
    const double h = b->t - a->t, rtol = r->options->method.rtol, atol = r->options->method.atol;
    const double x = b->u - a->u - h * (a->u_t + b->u_t) / 2 + h * h * (b->u_tt - a->u_tt) / 12;
    const double v = b->u_t - a->u_t - h * (a->u_tt + b->u_tt) / 2;
    const double of_u = fmax(fabs(a->u), fabs(b->u)), of_v = fmax(fabs(a->u_t), fabs(b->u_t));
    const double rounding = 1e-9; /* what is left of a difference of neighbours */
    return fmax(fabs(x) / (fmax(rtol, rounding) * of_u + atol + 1e-300),
                fabs(v) / (fmax(rtol, rounding) * of_v + atol + 1e-300));
}

/* Narrows [a, b] down to a corner; false: there is none. */
static bool narrow(bg_runner *r, const int *mode, int i, input_sample *a, input_sample *b)
{
    for (int k = 0; k < HALVINGS && calc_defect(r, a, b) > 1; k++) {
        input_sample m;
        const double t = a->t + 0.5 * (b->t - a->t);
        if (!(t > a->t && t < b->t))
            return true;
        if (!look_at(r, mode, i, t, &m))
            return false;
        if (calc_defect(r, a, &m) > calc_defect(r, &m, b))
            *b = m;
        else
            *a = m;
    }
    return false;
}

/* Whether u or u_t really is another one on both sides of what is left, and not only rounded
 * otherwise: several places on either side differ less among themselves. */
static bool is_real(bg_runner *r, const int *mode, int i, const input_sample *a,
                    const input_sample *b)
{
    const double far = 256 * (b->t - a->t);
    double low[2][2] = {{a->u, a->u_t}, {b->u, b->u_t}}, high[2][2];
    memcpy(high, low, sizeof high);
    for (int side = 0; side < 2; side++)
        for (int k = 1; k <= SAMPLES; k++) {
            input_sample x;
            if (!look_at(r, mode, i, side ? b->t + k * far : a->t - k * far, &x))
                return true;
            const double value[2] = {x.u, x.u_t};
            for (int n = 0; n < 2; n++) {
                low[side][n] = fmin(low[side][n], value[n]);
                high[side][n] = fmax(high[side][n], value[n]);
            }
        }
    for (int n = 0; n < 2; n++) {
        const double apart = fmax(low[1][n] - high[0][n], low[0][n] - high[1][n]);
        if (apart > 4 * (high[0][n] - low[0][n] + high[1][n] - low[1][n]))
            return true;
    }
    return false;
}

static bg_status tell(const bg_runner *r, int i, const input_sample *a, const input_sample *b,
                      bg_error *err)
{
    char name[64];
    const bool jumps = fabs(b->u - a->u) > 1e-6 * fabs(b->u_t - a->u_t);
    return bg_error_set(err, BG_BAD_INPUT,
                        "input '%s', which bodies follow, %s at t = %.9g s from %.6g to %.6g, %s",
                        bg_system_get_name(r->sys->system, 'u', i, name, sizeof name),
                        jumps ? "jumps" : "has a corner, its rate jumps", b->t,
                        jumps ? a->u : a->u_t, jumps ? b->u : b->u_t,
                        jumps ? "but a body cannot: use a 'step' or a 'ramp'"
                              : "which an expression does not tell beforehand: write it as a "
                                "'ramp' or a linear 'table', whose corners are events");
}

bg_status bg_runner_check_inputs(bg_runner *r, double from, double to, bg_error *err)
{
    const bg_system_def *def = &r->sys->def;
    const int *mode = bg_integrator_get_state(r->ig)->mode;
    for (int i = 0; i < def->nu && def->u_followed; i++) {
        input_sample a, b;
        if (!def->u_followed[i] || r->sys->outside[i].live || !look_at(r, mode, i, from, &a))
            continue;
        for (int k = 1; k <= PARTS; k++) {
            input_sample left = a, right;
            if (!look_at(r, mode, i, k < PARTS ? from + k * (to - from) / PARTS : to, &b))
                break;
            right = b;
            if (narrow(r, mode, i, &left, &right) && is_real(r, mode, i, &left, &right))
                return tell(r, i, &left, &right, err);
            a = b;
        }
    }
    return BG_OK;
}

/* tyre-fiala: Fiala's tyre with combined slip. Few numbers, all of which can be read off measured
 * curves: two stiffnesses, and friction that falls with slip.
 *
 * With practical slip s = (v_x - r_e Omega, v_y) / |v_x|,
 *
 *   mu     = friction - (friction - sliding) min(1, |s|)
 *   lambda = |(C_x s_x, C_y s_y)| / (3 mu N)
 *   F_i    = -C_i s_i (1 - lambda + lambda^2/3),  |F| = mu N (1 - (1 - lambda)^3), below lambda =
 * 1,
 *
 * and |F| = mu N from there on, where all of the tread slides: F never leaves the circle of radius
 * mu N. In pure side slip this is Fiala's cubic of tan(alpha), and the trail is that of the same
 * parabola of pressure over the half-length a, a/3 for small slip.
 *
 * E. Fiala: Seitenkräfte am rollenden Luftreifen, VDI-Zeitschrift 96 (1954) 973-979. Combined slip
 * by the length of the slip vector as in R. Y. Hindiyeh, J. C. Gerdes: A Controller Framework for
 * Autonomous Drifting, J. Dyn. Sys., Meas., Control 136 (2014) 051015. Friction over slip, and the
 * meaning of the parameters UMAX, UMIN, CSLIP, CALPHA: the Fiala tyre of multibody programs. */
#include "model/tyres/slip.h"

typedef struct fiala {
    bg_tyre tyre;
    double C[2];              /* N per unit of slip, N/rad */
    double friction, sliding; /* at |s| = 0 and from |s| = 1 on */
    double half_length;       /* m */
} fiala;

static void calc_curve(const bg_tyre *tyre, const double s[2], double N, bg_slip_force *out)
{
    const fiala *x = (const fiala *)tyre;
    const double C[2] = {x->C[0], x->C[1]}, S = hypot(s[0], s[1]);
    const double force = hypot(C[0] * s[0], C[1] * s[1]), fall = x->friction - x->sliding;
    const double mu = x->friction - fall * fmin(1, S);
    bg_parabola p = {.C = {C[0], C[1]}, .a = x->half_length, .lambda = force / (3 * mu * N)};
    p.lambda_N = -p.lambda / N;
    for (int i = 0; i < 2 && S > 0; i++) {
        const double mu_s = S < 1 ? -fall * s[i] / S : 0;
        p.lambda_s[i] = C[i] * (C[i] * s[i] / force) / (3 * mu * N) - p.lambda * mu_s / mu;
    }
    bg_parabola_calc(&p, s, out);
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {
        BG_TYRE_KEYS, "longitudinal_stiffness", "cornering_stiffness",
        "friction",   "sliding_friction",       "half_length",
        NULL};
    const bg_value sliding = bg_value_member(v, "sliding_friction");
    fiala *x = f->self = bg_reader_allocate(v->reader, 1, sizeof *x);
    if (!x)
        return;
    bg_value_expect(v, keys);
    bg_tyre_read(v, f, &x->tyre);
    x->tyre.curve = calc_curve;
    x->C[0] = bg_value_positive(v, "longitudinal_stiffness");
    x->C[1] = bg_value_positive(v, "cornering_stiffness");
    x->friction = x->sliding = bg_value_positive(v, "friction");
    if (bg_value_exists(&sliding))
        x->sliding = bg_value_positive(v, "sliding_friction");
    x->half_length = bg_value_not_negative_or(v, "half_length", 0);
    if (v->reader->status == BG_OK && x->sliding > x->friction)
        bg_value_fail(&sliding, "must not be above 'friction' (%g), but is %g", x->friction,
                      x->sliding);
}

extern const bg_force_class bg_force_tyre_fiala;
const bg_force_class bg_force_tyre_fiala = BG_TYRE_CLASS(
    "tyre-fiala", "slip with constant stiffnesses and friction that falls with slip", read);

/* tyre-brush: bristles of stiffness c_p per length on a contact patch of half-length a under a
 * parabola of pressure.
 *
 * With theoretical slip s = (v_x - r_e Omega, v_y) / |r_e Omega|, a patch that grows with the load,
 * a = a_0 sqrt(N / N_0), and hence stiffnesses C_i = 2 c_p,i a^2 in proportion to N,
 *
 *   lambda = |(C_x s_x / mu_x, C_y s_y / mu_y)| / (3 N)
 *   F_i    = -C_i s_i (1 - lambda + lambda^2/3)           below lambda = 1
 *   F_i    = -mu_i N (C_i s_i / mu_i) / |...|             from there on: full sliding
 *
 * so that (F_x / mu_x)^2 + (F_y / mu_y)^2 = N^2 (1 - (1 - lambda)^3)^2 stays within the ellipse.
 * The trail is a/3 for small slip and vanishes with full sliding. A locked wheel has infinite slip:
 * it slides fully.
 *
 * H. B. Pacejka: Tire and Vehicle Dynamics, chapter 3, with different frictions for the two
 * directions. */
#include "model/tyres/slip.h"

typedef struct brush_tyre {
    bg_tyre tyre;
    double c[2]; /* C_i / N = 2 c_p a_0^2 / N_0 */
    double mu[2];
    double half_length, load; /* a_0, m, at N_0, N */
} brush_tyre;

static void calc_curve(const bg_tyre *tyre, const double s[2], double N, bg_slip_force *out)
{
    const brush_tyre *x = (const brush_tyre *)tyre;
    const double b[2] = {x->c[0] / x->mu[0], x->c[1] / x->mu[1]};
    const double norm = hypot(b[0] * s[0], b[1] * s[1]);
    bg_parabola p = {.a = x->half_length * sqrt(N / x->load), .lambda = norm / 3};
    p.a_N = p.a / (2 * N);
    for (int i = 0; i < 2; i++) {
        p.C[i] = x->c[i] * N;
        p.C_N[i] = x->c[i];
        p.lambda_s[i] = norm > 0 ? b[i] * b[i] * s[i] / (3 * norm) : 0;
    }
    bg_parabola_calc(&p, s, out);
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {
        BG_TYRE_KEYS, "tread_stiffness", "friction", "half_length", "load", NULL};
    brush_tyre *x = f->self = bg_reader_allocate(v->reader, 1, sizeof *x);
    if (!x)
        return;
    bg_value_expect(v, keys);
    bg_tyre_read(v, f, &x->tyre);
    x->tyre.curve = calc_curve;
    x->tyre.theoretical = true;
    bg_tyre_read_pair(v, "tread_stiffness", x->c);
    bg_tyre_read_pair(v, "friction", x->mu);
    x->half_length = bg_value_positive(v, "half_length");
    x->load = bg_value_positive(v, "load");
    for (int i = 0; i < 2 && v->reader->status == BG_OK; i++)
        x->c[i] *= 2 * x->half_length * x->half_length / x->load;
}

extern const bg_force_class bg_force_tyre_brush;
const bg_force_class bg_force_tyre_brush = BG_TYRE_CLASS(
    "tyre-brush", "slip by bristles whose patch grows with the load", read);

/* The spectral cap of bdf: its table of unstable lengths against roots of the method's own
 * polynomial; the eigenvalues it finds against those a system was made of; runs of random linear
 * systems, in which fast modes that are not excited are neither pumped up nor, where orders 3 to 5
 * are stable, paid for. */
#include "integrators/bdf.h"
#include "run_support.h"
#include "sample_systems.h"

#include <complex.h>
#include <limits.h>

enum { MODES_MAX = 60 };

/* The largest modulus of the roots of sum_j (1 - 1/x)^j / j = mu, j = 1 ... k, by simultaneous
 * iteration (Durand and Kerner). */
static double calc_growth(int k, double complex mu)
{
    double complex a[6] = {0}, power[6] = {1}, x[5];
    for (int j = 1; j <= k; j++) { /* polynomials in y = 1/x */
        for (int i = j; i > 0; i--)
            power[i] -= power[i - 1];
        for (int i = 0; i <= j; i++)
            a[i] += power[i] / j;
    }
    a[0] -= mu; /* sum_i a_i x^(k - i) = 0 */
    for (int i = 0; i < k; i++)
        x[i] = cpow(0.4 + 0.9 * I, i);
    for (int pass = 0; pass < 400; pass++)
        for (int i = 0; i < k; i++) {
            double complex p = 0, q = 1;
            for (int j = 0; j <= k; j++)
                p = p * x[i] + a[j] / a[0];
            for (int j = 0; j < k; j++)
                q *= j == i ? 1 : x[i] - x[j];
            x[i] -= p / q;
        }
    double largest = 0;
    for (int i = 0; i < k; i++)
        largest = fmax(largest, cabs(x[i]));
    return largest;
}

static void test_table(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int raised = 0, stable = 0, wide = 0;
    for (int n = 0; n < 20000; n++) {
        int k = 1 + n % 5;
        double damping = fabs(sample_draw(&seed)), size = pow(10, 0.4 + 1.1 * sample_draw(&seed));
        double low, high, margin;
        if (n % 2)
            damping *= 0.1;
        double growth = calc_growth(k, size * (-damping + I * sqrt(1 - damping * damping)));
        bool inside = bg_bdf_cap_find_raised(k, damping, &low, &high, &margin) && size > low &&
                      size < high;
        if (growth > 1 + 1e-6 && !inside)
            fail_msg("order %d raises modes of damping %g at %g by %g a step", k, damping, size,
                     growth);
        raised += growth > 1;
        stable += growth < 1 && !inside;
        wide += growth < 1 && inside;
    }
    assert_true(raised > 1000 && stable > 1000);
    assert_true(wide < raised / 5); /* the table is not much wider than the truth */
}

/* Modes, mixed by reflections: with Q orthogonal, q'' = Q (-omega^2 x - 2 zeta omega x' + force
 * sin(slow t)), x = Q^T q. */
typedef struct mixture {
    int n;
    double omega[MODES_MAX], zeta[MODES_MAX], force[MODES_MAX], slow;
    double mirror[3][MODES_MAX];
    double q0[MODES_MAX], v0[MODES_MAX];
} mixture;

static void mix(const mixture *s, double *x, bool back)
{
    for (int r = 0; r < 3; r++) {
        const double *m = s->mirror[back ? 2 - r : r];
        double along = 0;
        for (int i = 0; i < s->n; i++)
            along += m[i] * x[i];
        for (int i = 0; i < s->n; i++)
            x[i] -= 2 * along * m[i];
    }
}

static int mixture_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const mixture *s = self;
    double x[MODES_MAX], w[MODES_MAX];
    if (want & BG_TERM_M)
        for (int i = 0; i < s->n * s->n; i++)
            out->M[i] = i % (s->n + 1) == 0;
    if (!(want & BG_TERM_f))
        return 0;
    memcpy(x, p->q, (size_t)s->n * sizeof(double));
    memcpy(w, p->v, (size_t)s->n * sizeof(double));
    mix(s, x, true);
    mix(s, w, true);
    for (int i = 0; i < s->n; i++)
        out->f[i] = -s->omega[i] * (s->omega[i] * x[i] + 2 * s->zeta[i] * w[i]) +
                    s->force[i] * sin(s->slow * p->t);
    mix(s, out->f, false);
    return 0;
}

/* x = Im(c exp(i slow t)) in every mode, the motion without free oscillation. */
static void follow_force(const mixture *s, double t, double *q, double *v)
{
    for (int i = 0; i < s->n; i++) {
        double o = s->omega[i];
        double complex c = s->force[i] /
                           (o * o - s->slow * s->slow + 2 * I * s->zeta[i] * o * s->slow) *
                           cexp(I * s->slow * t);
        q[i] = cimag(c);
        v[i] = s->slow * creal(c);
    }
    mix(s, q, false);
    mix(s, v, false);
}

/* n modes with frequencies spread over (least, most) and damping ratios over (light, strong). */
static mixture draw(int n, double least, double most, double light, double strong, uint64_t *seed)
{
    mixture s = {.n = n, .slow = 0.7 + 0.2 * sample_draw(seed)};
    for (int i = 0; i < n; i++) {
        s.omega[i] = least * pow(most / least, 0.5 + 0.5 * sample_draw(seed));
        s.zeta[i] = light + (strong - light) * (0.5 + 0.5 * sample_draw(seed));
        s.force[i] = (0.5 + fabs(sample_draw(seed))) * s.omega[i] * s.omega[i];
    }
    for (int r = 0; r < 3; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            s.mirror[r][i] = sample_draw(seed);
        for (int i = 0; i < n; i++)
            sum += s.mirror[r][i] * s.mirror[r][i];
        for (int i = 0; i < n; i++)
            s.mirror[r][i] /= sqrt(sum);
    }
    return s;
}

static bg_system *create_mixture(mixture *s)
{
    bg_system_def d = bg_default_system_def();
    d.name = "mixture";
    follow_force(s, 0, s->q0, s->v0);
    d.nq = d.nv = s->n;
    d.self = s;
    d.q0 = s->q0;
    d.v0 = s->v0;
    d.supplied = BG_TERM_M | BG_TERM_f;
    d.terms = mixture_terms;
    return sample_create(&d);
}

static void begin(trajectory *x, bg_system *sys, double tolerance, double t_end,
                  const bg_setting *settings, int n)
{
    bg_error err = {BG_OK, ""};
    *x = (trajectory){.sys = sys, .options = bg_default_integrator_options()};
    x->options.rtol = x->options.atol = tolerance;
    x->options.settings = settings;
    x->options.nsettings = n;
    assert_ok(bg_state_create(sys, &x->start, &err));
    assert_ok(bg_state_assemble(sys, x->start, &x->assembly, &err));
    assert_ok(bg_integrator_create("bdf", sys, &x->options, &x->ig, &err));
    assert_ok(bg_integrator_start(x->ig, x->start, &x->assembly.redundancy, t_end, &err));
}

/* All eigenvalues of small systems; of larger ones those of the size of alpha that are lightly
 * damped, among others that decay a thousand times as fast. */
static void test_eigenvalues(void **state)
{
    (void)state;
    const bg_setting setting = {"max_order", "auto"};
    uint64_t seed = 3;
    int seen = 0;
    for (int trial = 0; trial < 12; trial++) {
        const bool small = trial % 2 == 0;
        mixture s = draw(small ? 4 + trial : 60, small ? 0.1 : 30, small ? 1e3 : 3000, 0, 1, &seed);
        for (int i = 0; i < s.n && !small;
             i++) /* a few lightly damped among strongly damped ones */
            s.zeta[i] = i % 6 == 0 ? 0.1 * s.zeta[i] : 1 + 10 * s.zeta[i];
        bg_system *sys = create_mixture(&s);
        trajectory x;
        begin(&x, sys, 1e-4, 10, &setting, 1);
        bg_error err = {BG_OK, ""};
        while (bg_integrator_get_state(x.ig)->t < 10)
            assert_ok(bg_integrator_step(x.ig, &err));
        const bg_bdf *m = x.ig->method;
        const bg_bdf_spectrum *found = &m->parts.spectrum;
        assert_true(found->count > 0);
        for (int i = 0; i < s.n; i++) {
            const double o = s.omega[i], z = s.zeta[i];
            double complex lambda = o * (-z + csqrt(z * z - 1));
            double near = INFINITY;
            if (!small && (z > 0.1 || o < 0.5 * found->alpha || o > 5 * found->alpha))
                continue;
            for (int j = 0; j < found->count; j++)
                near = fmin(near, cabs(found->re[j] + I * found->im[j] - lambda));
            if (!(near < (small ? 1e-6 : 2e-2) * o))
                fail_msg("trial %d: eigenvalue %g %+gi is missed by %g, with alpha = %g", trial,
                         creal(lambda), cimag(lambda), near, found->alpha);
            seen++;
        }
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
    print_message("%d eigenvalues found\n", seen);
    assert_true(seen > 60);
}

typedef struct capped_outcome {
    long steps;
    double error; /* largest on the way */
} capped_outcome;

static capped_outcome run(mixture *s, const char *order)
{
    const double t_end = 40;
    bg_error err = {BG_OK, ""};
    /* modes apart, so that errors do not depend on how many there are */
    const bg_setting settings[] = {{"max_order", order}, {"norm", "largest"}};
    bg_system *sys = create_mixture(s);
    trajectory x;
    capped_outcome o = {0, 0};
    double q[MODES_MAX], v[MODES_MAX];
    begin(&x, sys, 1e-4, t_end, settings, 2);
    while (bg_integrator_get_state(x.ig)->t < t_end) {
        assert_ok(bg_integrator_step(x.ig, &err));
        const bg_state *at = bg_integrator_get_state(x.ig);
        follow_force(s, at->t, q, v);
        for (int i = 0; i < s->n; i++)
            o.error = fmax(o.error, fabs(at->q[i] - q[i]));
    }
    o.steps = bg_integrator_get_counters(x.ig).accepted;
    trajectory_end(&x);
    bg_system_destroy(sys);
    return o;
}

static const int sizes[] = {3, 12, 50};

/* No fast undamped mode is pumped up: as few steps as order 2 takes, or less. */
static void test_undamped(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 6; k++) {
        mixture s = draw(sizes[k % 3], 5, 500, 0, 0, &seed);
        capped_outcome own = run(&s, "auto"), two = run(&s, "2"), five = run(&s, "5");
        print_message("%d undamped modes: %ld steps, error %.1e; order 2 %ld, %.1e; order 5 %ld, "
                      "%.1e\n",
                      s.n, own.steps, own.error, two.steps, two.error, five.steps, five.error);
        assert_true((double)own.steps < 1.1 * (double)two.steps && own.error < 1e-3);
        if (s.n > 3)
            assert_true(five.steps > 5 * own.steps);
    }
}

/* Where all fast modes are damped so well that order 5 is stable, the cap does not act; with less,
 * but enough for order 3, it costs little beside the best order; with lighter damping nothing
 * beside order 2. */
static void test_damped(void **state)
{
    (void)state;
    static const char *const orders[] = {"2", "3", "4", "5"};
    static const double least[] = {0.64, 0.09, 0.03};
    uint64_t seed = 17;
    for (int k = 0; k < 18; k++) {
        const int kind = k % 3;
        mixture s = draw(sizes[k / 3 % 3], 5, 500, least[kind], k % 2 ? 3 : 0.7, &seed);
        capped_outcome own = run(&s, "auto"), other[4], best = {LONG_MAX, 0};
        for (int i = 0; i < 4; i++) {
            other[i] = run(&s, orders[i]);
            best = other[i].steps < best.steps ? other[i] : best;
        }
        print_message("%d modes damped by %g or more: %ld steps, error %.1e; the best order %ld, "
                      "%.1e\n",
                      s.n, least[kind], own.steps, own.error, best.steps, best.error);
        if (kind == 0)
            assert_true(own.steps == other[3].steps && own.error == other[3].error);
        if (kind == 1)
            assert_true((double)own.steps < 1.5 * (double)best.steps);
        assert_true((double)own.steps < 1.1 * (double)other[0].steps && own.error < 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_undamped),
        cmocka_unit_test(test_damped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

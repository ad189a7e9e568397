/* The projecting descriptor form (5) of 003: Theorem 3.1, the meaning (8), (9) of its multipliers,
 * and mdop5 on it. */
#include "evaluator_support.h"
#include "integrators/projecting.h"
#include "run_support.h"

enum { MAX = 64 };

/* A system at a consistent start, and the form of its equations. */
typedef struct projecting_bench {
    bg_model *model;
    bg_system *sys;
    bg_state *start;
    bg_assembly_report assembly;
    bg_dynamics *d;
    bg_projecting *form;
    bg_evaluator *ev;
} projecting_bench;

static void begin(projecting_bench *b, const char *reference)
{
    bg_error err = {BG_OK, ""};
    memset(b, 0, sizeof *b);
    if (strstr(reference, ".json")) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", BOGIE_SOURCE_DIR, reference);
        assert_ok(bg_model_read(path, NULL, 0, &b->model, &err));
        assert_ok(bg_model_create_system(b->model, "cartesian", &b->sys, &err));
    } else {
        b->sys = create_system(reference, NULL, NULL);
    }
    b->ev = new_evaluator(b->sys);
    assert_ok(bg_state_create(b->sys, &b->start, &err));
    assert_ok(bg_state_assemble(b->sys, b->start, &b->assembly, &err));
    assert_ok(bg_dynamics_create(b->ev, &b->d, &err));
    bg_dynamics_set_eliminated(b->d, &b->assembly.redundancy);
    assert_ok(bg_projecting_create(b->d, &b->form, &err));
    assert_true(b->d->nv <= MAX && b->d->ng <= MAX);
}

static void end(projecting_bench *b)
{
    bg_projecting_destroy(b->form);
    bg_dynamics_destroy(b->d);
    bg_assembly_report_clear(&b->assembly);
    bg_state_destroy(b->start);
    bg_evaluator_destroy(b->ev);
    bg_system_destroy(b->sys);
    bg_model_destroy(b->model);
}

/* Between -1 and 1, always the same. */
static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)*seed / 2147483648.0 - 1;
}

static double distance(int n, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

static void rates(projecting_bench *b, double t, const double *y, bool curvature, double *y_t)
{
    bg_error err = {BG_OK, ""};
    int n = b->d->nv;
    assert_ok(bg_projecting_calc(b->form, t, y, y + n, b->start->z, b->start->mode, false,
                                 curvature, y_t, y_t + n, &err));
}

/* The classical method of order 4 on (q, u). */
static void advance(projecting_bench *b, double t, double h, bool curvature, double *y)
{
    int n = 2 * b->d->nv;
    double k[4][2 * MAX], x[2 * MAX];
    const double c[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < n; i++)
            x[i] = y[i] + (s > 0 ? h * c[s] * k[s - 1][i] : 0);
        rates(b, t + c[s] * h, x, curvature, k[s]);
    }
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < n; i++)
            y[i] += h * weight[s] * k[s][i];
}

/* What happened to the multipliers and the solution on the way from an inconsistent start. */
typedef struct multiplier_fate {
    double eta, tau;       /* change, relative to the size at the start */
    double p[MAX], v[MAX]; /* at the end */
} multiplier_fate;

/* The variables q, u next to the start, off the constraints by `off`, relative. */
static void disturb(const projecting_bench *b, double off, double *y)
{
    unsigned seed = 7;
    int n = b->d->nv;
    double speed = 1;
    for (int i = 0; i < n; i++)
        speed = fmax(speed, fabs(b->start->v[i]));
    for (int i = 0; i < n; i++) {
        y[i] = b->start->q[i] + off * draw(&seed);
        y[n + i] = b->start->v[i] + off * speed * draw(&seed);
    }
}

static multiplier_fate follow(projecting_bench *b, double off, double t_end, int steps,
                              bool curvature)
{
    double y[2 * MAX], y_t[2 * MAX], eta[MAX], tau[MAX], size_eta = 0, size_tau = 0;
    const double zero[MAX] = {0};
    int n = b->d->nv, m = b->d->ng;
    multiplier_fate f = {0};
    disturb(b, off, y);
    rates(b, b->start->t, y, curvature, y_t);
    memcpy(eta, b->form->eta, (size_t)m * sizeof(double));
    memcpy(tau, b->form->tau, (size_t)m * sizeof(double));
    size_eta = distance(m, eta, zero);
    size_tau = distance(m, tau, zero);
    assert_true(size_eta > 0 && size_tau > 0);
    for (int k = 0; k < steps; k++) {
        double h = t_end / steps;
        advance(b, b->start->t + k * h, h, curvature, y);
        rates(b, b->start->t + (k + 1) * h, y, curvature, y_t);
        f.eta = fmax(f.eta, distance(m, b->form->eta, eta) / size_eta);
        f.tau = fmax(f.tau, distance(m, b->form->tau, tau) / size_tau);
    }
    memcpy(f.p, b->form->p, (size_t)n * sizeof(double));
    memcpy(f.v, b->form->v, (size_t)n * sizeof(double));
    return f;
}

/* The solution of (1) from the projected start, by mdop5 at a tight tolerance. */
static void solve_from(projecting_bench *b, double off, double t_end, double *p, double *v)
{
    bg_error err = {BG_OK, ""};
    double y[2 * MAX], y_t[2 * MAX];
    int n = b->d->nv;
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig;
    bg_state *x;
    o.rtol = o.atol = 1e-12;
    disturb(b, off, y);
    rates(b, b->start->t, y, true, y_t);
    assert_ok(bg_state_create(b->sys, &x, &err));
    bg_state_copy(b->sys, b->start, x);
    memcpy(x->q, b->form->p, (size_t)n * sizeof(double));
    memcpy(x->v, b->form->v, (size_t)n * sizeof(double));
    assert_ok(bg_integrator_create("mdop5", b->sys, &o, &ig, &err));
    assert_ok(bg_integrator_start(ig, x, &b->assembly.redundancy, b->start->t + t_end, &err));
    while (bg_integrator_get_state(ig)->t < b->start->t + t_end)
        assert_ok(bg_integrator_step(ig, &err));
    memcpy(p, bg_integrator_get_state(ig)->q, (size_t)n * sizeof(double));
    memcpy(v, bg_integrator_get_state(ig)->v, (size_t)n * sizeof(double));
    bg_state_destroy(x);
    bg_integrator_destroy(ig);
}

/* Systems without z; the last one has a singular M. */
static const struct {
    const char *name;
    double off, t_end;
    int steps;
} systems[] = {{"equations:andrews", 1e-3, 2e-3, 40},
               {"equations:car-axle", 1e-3, 0.05, 40},
               {"equations:slider-crank", 1e-3, 0.1, 40},
               {"models/five-link-suspension.json", 1e-4, 0.02, 40}};
enum { SYSTEMS = sizeof systems / sizeof *systems };

/* Theorem 3.1: eta' = tau' = 0, and p, v fulfil (1); without the curvature expressions they do not
 * stay. Errors fall with the fourth power of the step, as those of the method that follows them. */
static void test_theorem(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        projecting_bench b;
        double p[MAX], v[MAX], off = systems[k].off, t = systems[k].t_end;
        begin(&b, systems[k].name);
        solve_from(&b, off, t, p, v);
        multiplier_fate coarse = follow(&b, off, t, systems[k].steps, true);
        multiplier_fate fine = follow(&b, off, t, 4 * systems[k].steps, true);
        multiplier_fate plain = follow(&b, off, t, 4 * systems[k].steps, false);
        int n = b.d->nv;
        double size = 1;
        for (int i = 0; i < n; i++)
            size = fmax(size, fabs(v[i]));
        print_message("%-32s eta %.1e, %.1e (without curvature %.1e), tau %.1e, %.1e (%.1e); p "
                      "%.1e, %.1e, v %.1e, %.1e\n",
                      systems[k].name, coarse.eta, fine.eta, plain.eta, coarse.tau, fine.tau,
                      plain.tau, distance(n, coarse.p, p), distance(n, fine.p, p),
                      distance(n, coarse.v, v) / size, distance(n, fine.v, v) / size);
        assert_true(fine.eta < 1e-6 && fine.tau < 1e-6);
        assert_true(plain.eta > 1e3 * fine.eta && plain.tau > 1e3 * fine.tau);
        assert_true(plain.eta > 1e-4 && plain.tau > 1e-4);
        assert_true(distance(n, fine.p, p) < 1e-8 && distance(n, fine.v, v) < 1e-7 * size);
        end(&b);
    }
}

/* x <- (G M^-1 G^T) x, M from the terms at hand. */
static void apply_gram(projecting_bench *b, const double *x, double *y)
{
    bg_error err = {BG_OK, ""};
    bg_dynamics *d = b->d;
    bg_kkt *mass;
    double force[MAX] = {0};
    assert_ok(bg_kkt_create(d->nv, 0, b->sys->def.pattern_M, NULL, &mass, &err));
    assert_int_equal(bg_kkt_factor(mass, d->terms.M, NULL, NULL), BG_OK);
    bg_matrix_add_transposed(d->ng, d->nv, b->sys->def.pattern_G, d->terms.G, 1.0, x, force);
    bg_kkt_solve(mass, force, y);
    bg_matrix_multiply(d->ng, d->nv, b->sys->def.pattern_G, d->terms.G, force, y);
    bg_kkt_destroy(mass);
}

/* (8): G M^-1 G^T eta = G u + g_t; (9): G M^-1 G^T tau = g(q) up to the square of the deviation. */
static void test_multipliers(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 3; k++) {
        double rest[2];
        projecting_bench b;
        begin(&b, systems[k].name);
        bg_dynamics *d = b.d;
        for (int j = 0; j < 2; j++) {
            double y[2 * MAX], y_t[2 * MAX], image[MAX], w[MAX], g[MAX], size = 0;
            disturb(&b, j == 0 ? 1e-3 : 1e-4, y);
            rates(&b, 0, y, true, y_t);
            assert_true(b.form->c == 0);
            assert_ok(bg_dynamics_evaluate(d, 0, y, y + d->nv, b.start->z, b.start->mode, BG_TERM_g,
                                           &err));
            memcpy(g, d->terms.g, (size_t)d->ng * sizeof(double));
            assert_ok(bg_dynamics_evaluate(d, 0, b.form->p, y + d->nv, b.start->z, b.start->mode,
                                           BG_TERM_M | BG_TERM_G | BG_TERM_g | BG_TERM_gt, &err));
            bg_dynamics_calc_w(d, y + d->nv, w);
            apply_gram(&b, b.form->eta, image);
            for (int i = 0; i < d->ng; i++)
                size = fmax(size, fabs(w[i]));
            assert_true(size > 0 && distance(d->ng, image, w) < 1e-9 * size);
            apply_gram(&b, b.form->tau, image);
            rest[j] = distance(d->ng, image, g);
            for (int i = 0; i < d->ng; i++)
                assert_true(fabs(d->terms.g[i]) < 1e-13);
        }
        print_message("%s: (9) holds within %.1e, %.1e\n", systems[k].name, rest[0], rest[1]);
        assert_true(rest[0] > 30 * rest[1] && rest[0] < 300 * rest[1]); /* ten times nearer: 100 */
        end(&b);
    }
}

enum { POINTS = 125 };

/* Positions of the car axle every 8 ms in fixed steps of 8 ms / per_point, by mdop5. */
static void sample_axle(const bg_setting *settings, int nsettings, int per_point,
                        double q[POINTS][4])
{
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    bg_integrator_options o = bg_default_integrator_options();
    trajectory x;
    bg_integrator *ig;
    trajectory_begin(&x, sys, "mdop5", NULL, 1e-6, 1e-3, 1.0); /* for its start */
    o.step = 8e-3 / per_point;
    o.settings = settings;
    o.nsettings = nsettings;
    assert_ok(bg_integrator_create("mdop5", sys, &o, &ig, &err));
    assert_ok(bg_integrator_start(ig, x.start, &x.assembly.redundancy, 1.0, &err));
    for (int k = 0; k < POINTS * per_point; k++) {
        assert_ok(bg_integrator_step(ig, &err));
        bg_residuals r = bg_integrator_get_residuals(ig);
        assert_true(fmax(r.g, fmax(r.gv, r.ga)) < 1e-10);
        if ((k + 1) % per_point == 0)
            memcpy(q[k / per_point], bg_integrator_get_state(ig)->q, 4 * sizeof(double));
    }
    bg_integrator_destroy(ig);
    trajectory_end(&x);
    bg_system_destroy(sys);
}

/* mdop5 with form=projecting keeps its order, and p, v, w fulfil the constraints whatever is reset.
 */
static void test_order(void **state)
{
    (void)state;
    static const char *const modes[] = {"none", "velocity", "control", "every-step"};
    const double h[] = {8e-3, 4e-3, 2e-3, 1e-3};
    static double exact[POINTS][4], q[POINTS][4];
    sample_axle(NULL, 0, 64, exact);
    for (int m = 0; m < 4; m++) {
        const bg_setting s[] = {{"form", "projecting"}, {"projection", modes[m]}};
        double error[4];
        for (int k = 0; k < 4; k++) {
            sample_axle(s, 2, 1 << k, q);
            error[k] = distance(4 * POINTS, q[0], exact[0]);
        }
        double order = fit_order(4, h, error);
        print_message("%-10s order %.2f, errors %.1e .. %.1e\n", modes[m], order, error[0],
                      error[3]);
        assert_true(fabs(order - 5) < 0.2);
    }
}

/* A run with events, which undo steps, beside the run of the index-1 form. */
static void test_run(void **state)
{
    (void)state;
    static const char *const modes[] = {"none", "control"};
    bg_error err = {BG_OK, ""};
    for (int m = 0; m < 2; m++) {
        bg_system *sys = create_system("equations:pendulum", NULL, NULL);
        const bg_setting s[] = {{"projection", modes[m]}, {"form", "projecting"}};
        bg_run_options o = bg_default_run_options();
        o.integrator = "mdop5";
        bg_run_report index1, whole;
        o.t_end = 5;
        o.method.rtol = o.method.atol = 1e-9;
        o.method.settings = s;
        o.method.nsettings = 1;
        assert_ok(bg_run(sys, &o, &index1, &err));
        o.method.nsettings = 2;
        assert_ok(bg_run(sys, &o, &whole, &err));
        assert_true(whole.nevents > 0 && whole.nevents == index1.nevents);
        for (long i = 0; i < whole.nevents; i++)
            assert_true(fabs(whole.events[i].t - index1.events[i].t) < 1e-6);
        assert_true(distance(2, whole.final->q, index1.final->q) < 1e-6);
        assert_true(whole.certificate.max_g < 1e-13 && whole.certificate.max_gv < 1e-12);
        assert_non_null(strstr(whole.certificate.note, "eta"));
        bg_run_report_clear(&index1);
        bg_run_report_clear(&whole);
        bg_system_destroy(sys);
    }
}

/* Quaternions of a ball joint have other rates than its velocities: refused, with the way out. */
static void test_refused(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_integrator *ig;
    const bg_setting s = {"form", "projecting"};
    bg_integrator_options o = bg_default_integrator_options();
    o.settings = &s;
    o.nsettings = 1;
    assert_ok(
        bg_model_read(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, "joint", &sys, &err));
    assert_int_equal(bg_integrator_create("mdop5", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "cartesian"));
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_theorem), cmocka_unit_test(test_multipliers),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_run),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

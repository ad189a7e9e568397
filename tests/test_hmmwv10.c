/* models/hmmwv10.json: what it consists of, its loads at rest, eigenvalues of its slow and fast
 * parts, both formulations over the bump, the steps that are stable, errors and work of steps of
 * two rates. */
#include "linalg/spectrum.h"
#include "model/model.h"
#include "modes_support.h"
#include "run_support.h"

#include <stdbool.h>

static const char file[] = BOGIE_SOURCE_DIR "/models/hmmwv10.json";
static const bg_setting level = {"road", "{\"type\": \"flat\"}"};

static void begin(linear_model *m, const bg_setting *settings, int n, const char *form)
{
    bg_error err = {BG_OK, ""};
    *m = (linear_model){0};
    assert_ok(bg_model_read(file, settings, n, &m->model, &err));
    assert_ok(bg_model_create_system(m->model, form, &m->system, &err));
    linear_begin_system(m);
}

/* Ten bodies and four rims and rings; 12 constraints of rods. */
static void test_counts(void **state)
{
    (void)state;
    linear_model m;
    begin(&m, &level, 1, "joint");
    const bg_system_def *d = &m.system->def;
    assert_int_equal(m.model->nbodies, 1 + 10 + 4 + 4);
    assert_int_equal(d->nq, 51);
    assert_int_equal(d->nv, 46);
    assert_int_equal(d->ng, 12);
    assert_int_equal(d->nz, 16);
    assert_int_equal(m.report.redundancy.count, 0);
    int fast = 0;
    for (int i = 0; i < d->nv; i++)
        fast += d->v_part[i] == BG_PART_FAST;
    assert_int_equal(fast, 24);
    for (int i = 0; i < d->nz; i++)
        assert_int_equal(d->z_part[i], BG_PART_FAST);
    linear_end(&m);
}

typedef struct hmmwv10_run {
    bg_problem *problem;
    bg_run_report report;
    int n;
} hmmwv10_run;

static void run_begin(hmmwv10_run *r, const bg_setting *settings, int n, const char *form,
                      const char *method, double step, double tolerance, double t)
{
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    def.reference = file;
    def.settings = settings;
    def.nsettings = n;
    def.formulation = form;
    def.integrator = method;
    def.rtol = def.atol = tolerance;
    def.step = step;
    def.t_end = t;
    assert_ok(bg_problem_create(&def, &r->problem, &err));
    const bg_system *sys = bg_problem_get_system(r->problem);
    bg_run_options o = bg_problem_get_run_options(r->problem);
    if (!(step > 0))
        o.method.step = 0;
    o.output_interval = 0;
    assert_ok(bg_run(sys, &o, &r->report, &err));
    r->n = bg_system_get_def(sys)->ny;
}

static double get(const hmmwv10_run *r, const char *name)
{
    char buffer[64];
    const bg_system *sys = bg_problem_get_system(r->problem);
    for (int i = 0; i < r->n; i++)
        if (strcmp(bg_system_get_name(sys, 'y', i, buffer, sizeof buffer), name) == 0)
            return r->report.y[i];
    fail_msg("there is no output %s", name);
    return NAN;
}

static void run_end(hmmwv10_run *r)
{
    bg_run_report_clear(&r->report);
    bg_problem_destroy(r->problem);
}

/* At rest the tyres carry the weight of all bodies, in front as the file's comment has it. */
static void test_rest(void **state)
{
    (void)state;
    const bg_setting settings[] = {level,
                                   {"parameters.speed", "0"},
                                   {"parameters.torque", "0"},
                                   {"initial", "{\"equilibrium\": true}"}};
    const double mass = 2086.52 + 9.072 + 4 * (23.965 + 5.813 + 19.45 + 41.81 + 29.3);
    hmmwv10_run r;
    run_begin(&r, settings, 4, "joint", "prk38", 0.005, 1e-6, 0.01);
    const double front = get(&r, "front.left.load"), rear = get(&r, "rear.left.load");
    assert_near(get(&r, "front.right.load"), front, 1e-6);
    assert_near(2 * (front + rear), 9.81 * mass, 1e-3);
    assert_near(front, 6521.5, 0.1);
    run_end(&r);
}

/* Rolling resistance without a drive, about balanced by one, and a drive that is much more: what
 * slows it down or speeds it up does so evenly from the start on, and all else stays. */
static void test_coasting(void **state)
{
    (void)state;
    static const char *const drives[] = {"0", "35.02", "300"};
    static const double rate[] = {-0.1094, 0, 0.819};
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < (SANITIZED ? 1 : 2); form++) {
            const bg_setting settings[] = {
                level, {"inputs.drive", drives[k]}, {"initial", "{\"equilibrium\": true}"}};
            double v[3], spin[3], load[3], pitch[3], slip[3];
            for (int i = 0; i < 3; i++) {
                hmmwv10_run r;
                run_begin(&r, settings, 3, forms[form], "prk38", 0.005, 1e-6, 0.01 + 0.25 * i);
                v[i] = get(&r, "velocity.x");
                spin[i] = get(&r, "rear.left.spin");
                load[i] = get(&r, "rear.left.load");
                pitch[i] = get(&r, "pitch");
                slip[i] = get(&r, "front.right.slip");
                assert_near(v[i], 15 + rate[k] * (0.01 + 0.25 * i), 0.003);
                run_end(&r);
            }
            assert_near(v[2] - v[1], v[1] - v[0], 2e-4 * (0.01 + fabs(v[1] - v[0])));
            for (int i = 1; i < 3; i++) {
                assert_near(spin[i] / spin[0], v[i] / v[0], 2e-4 * fabs(v[i] / v[0] - 1) + 1e-7);
                assert_near(load[i], load[0], 1e-4 * load[0]);
                assert_near(pitch[i], pitch[0], 1e-4 * fabs(pitch[0]) + 1e-6);
                assert_near(slip[i], slip[0], 2e-3 * fabs(slip[0]));
            }
        }
}

/* Both formulations, over the bump under the left wheels: the same motion. */
static void test_formulations(void **state)
{
    (void)state;
    static const char *const names[] = {"position.x", "position.y",      "position.z",     "pitch",
                                        "roll",       "front.left.load", "rear.right.spin"};
    static const double size[] = {1, 1, 1, 1, 1, 1e4, 1};
    hmmwv10_run a, b;
    const double t = SANITIZED ? 0.02 : 0.7;
    run_begin(&a, NULL, 0, "joint", "mdop5", 0, 1e-9, t);
    run_begin(&b, NULL, 0, "cartesian", "mdop5", 0, 1e-9, t);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_near(get(&a, names[i]), get(&b, names[i]), 2e-6 * size[i]);
    assert_true(SANITIZED || a.report.nevents >= 4);
    run_end(&a);
    run_end(&b);
}

/* Eigenvalues of one part: rows and columns of a linearisation that belong to it. */
enum { MOST = 128 };
static int calc_part(linear_model *m, unsigned part, double *re, double *im)
{
    static double A[MOST * MOST], own[MOST * MOST];
    const bg_linearisation *l = m->linearisation;
    const bg_system_def *d = &m->system->def;
    bg_error err = {BG_OK, ""};
    int n = 0, entry[MOST];
    assert_ok(bg_linearisation_update(m->linearisation, m->state, &m->report.redundancy, &err));
    assert_true(l->nx <= MOST);
    assert_ok(bg_linearisation_calc(m->linearisation, A, NULL, NULL, NULL, &err));
    for (int k = 0; k < l->nx; k++) {
        const bool z = k >= 2 * l->n;
        const int i = z ? k - 2 * l->n : l->tangent->independent[k % l->n];
        if ((z ? d->z_part : d->v_part)[i] == part)
            entry[n++] = k;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            own[i * n + j] = A[entry[i] * l->nx + entry[j]];
    assert_ok(bg_spectrum_calc(n, own, re, im, NULL, NULL, &err));
    return n;
}

static double find_largest(const double *re, const double *im, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, hypot(re[i], im[i]));
    return most;
}

/* Figs. 6 and 7 of the paper: the fast part, of 64 states, lies far out along the imaginary axis,
 * the slow one, of 20, within less than half of that. Values of the in-plane half model: 432 rad/s
 * at 5 m/s. Rings have no slow companions but four modes that are zero: their spins. */
static void test_parts(void **state)
{
    (void)state;
    const bg_setting settings[] = {level, {"parameters.speed", "5"}};
    linear_model m;
    double re[MOST], im[MOST];
    begin(&m, settings, 2, "joint");
    assert_int_equal(calc_part(&m, BG_PART_FAST, re, im), 64);
    const double fast = find_largest(re, im, 64);
    for (int i = 0; i < 64; i++)
        assert_true(re[i] < 1e-6 && (fabs(im[i]) > 50 || fabs(re[i]) < 200));
    assert_int_equal(calc_part(&m, BG_PART_SLOW, re, im), 20);
    const double slow = find_largest(re, im, 20);
    print_message("fast %.1f, slow %.1f rad/s\n", fast, slow);
    assert_near(fast, 432, 0.02 * 432);
    assert_true(slow < 0.5 * fast);
    linear_end(&m);
}

/* The largest |lambda| of the linear map that one step makes of small changes of the state, of
 * those lambda that are not near 1: there are motions that go on for ever, which differences spoil.
 */
static double calc_radius(const linear_model *m, const bg_state *at, const char *method, double h)
{
    static double A[MOST * MOST];
    const bg_system_def *d = &m->system->def;
    const int n = d->nq + d->nv + d->nz;
    const double e = 1e-7, near = 0.02;
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig;
    bg_state *x;
    o.step = h;
    assert_true(n <= MOST);
    assert_ok(bg_state_create(m->system, &x, &err));
    assert_ok(bg_integrator_create(method, m->system, &o, &ig, &err));
    for (int j = 0; j < n; j++)
        for (int side = 1; side >= -1; side -= 2) {
            double *const entry[] = {x->q + j, x->v + j - d->nq, x->z + j - d->nq - d->nv};
            bg_state_copy(m->system, at, x);
            *entry[j < d->nq ? 0 : j < d->nq + d->nv ? 1 : 2] += side * e;
            assert_ok(bg_integrator_start(ig, x, NULL, at->t + h, &err));
            assert_ok(bg_integrator_step(ig, &err));
            const bg_state *y = bg_integrator_get_state(ig);
            for (int i = 0; i < n; i++) {
                const double value = i < d->nq           ? y->q[i]
                                     : i < d->nq + d->nv ? y->v[i - d->nq]
                                                         : y->z[i - d->nq - d->nv];
                A[i * n + j] = (side > 0 ? 0 : A[i * n + j]) + side * value / (2 * e);
            }
        }
    double re[MOST], im[MOST], radius = 0;
    assert_ok(bg_spectrum_calc(n, A, re, im, NULL, NULL, &err));
    for (int i = 0; i < n; i++)
        if (hypot(re[i] - 1, im[i]) > near)
            radius = fmax(radius, hypot(re[i], im[i]));
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    return radius;
}

/* Table 9: all steps of prk38 up to five times that of rk2 are stable, rolling at 5 and at 15 m/s.
 * The steps: of rk2 a few per cent beyond its limit, of prk38 a few below. */
static void test_stable_steps(void **state)
{
    (void)state;
    static const struct {
        const char *speed;
        double rk2, prk38; /* ms */
    } cases[] = {{"5", 1.9, 10.5}, {"15", 2.2, 11}};
    for (int k = 0; k < 2; k++) {
        const bg_setting settings[] = {
            level, {"parameters.torque", "0"}, {"parameters.speed", cases[k].speed}};
        linear_model m;
        hmmwv10_run r;
        begin(&m, settings, 3, "joint");
        run_begin(&r, settings, 3, "joint", "prk38", 0.002, 1e-6, 1); /* until it has settled */
        const bg_state *at = r.report.final;
        assert_true(calc_radius(&m, at, "rk2", 1e-3 * cases[k].rk2) > 1 + 1e-4);
        assert_true(calc_radius(&m, at, "rk2", 0.9e-3 * cases[k].rk2) < 1);
        const double from = SANITIZED ? cases[k].prk38 : 0.5;
        for (double h = from; h <= cases[k].prk38 + 0.01; h += 0.5)
            if (!(calc_radius(&m, at, "prk38", 1e-3 * h) < 1))
                fail_msg("prk38 is not stable with %g ms at %s m/s", h, cases[k].speed);
        assert_true(cases[k].prk38 > 3.5 * cases[k].rk2);
        run_end(&r);
        linear_end(&m);
    }
}

/* Errors over the step with torque, level road, and the evaluations that the tableaus say. */
static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double step, least, most; /* s; error, m/s */
        int slow, fast;           /* a step */
    } cases[] = {{"rk2", 0.001, 0, 1e-7, 2, 2},
                 {"prk38", 0.005, 0, 2e-7, 3, 8},
                 {"prk38", 0.01, 0, 2e-6, 3, 8},
                 {"prk25-paper", 0.005, 5e-4, 1e-2, 2, 5}}; /* it loses momentum */
    const bg_setting settings[] = {level};
    hmmwv10_run exact;
    run_begin(&exact, settings, 1, "joint", "mdop8", 0, 1e-10, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        hmmwv10_run r;
        run_begin(&r, settings, 1, "joint", cases[k].method, cases[k].step, 1e-6, 1);
        const double error = fabs(get(&r, "velocity.x") - get(&exact, "velocity.x"));
        const long steps = (long)(1 / cases[k].step + 0.5);
        print_message("%s, %g s: error %.2g m/s\n", cases[k].method, cases[k].step, error);
        assert_true(error >= cases[k].least && error < cases[k].most);
        assert_in_range(r.report.counters.steps.slow, cases[k].slow * steps,
                        cases[k].slow * steps + 4);
        assert_in_range(r.report.counters.steps.fast, cases[k].fast * steps,
                        cases[k].fast * steps + 4);
        run_end(&r);
    }
    run_end(&exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_rest),
        cmocka_unit_test(test_coasting), cmocka_unit_test(test_formulations),
        cmocka_unit_test(test_parts),    cmocka_unit_test(test_stable_steps),
        cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

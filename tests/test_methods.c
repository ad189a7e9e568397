/* What holds for every method of the table: its order and that of its dense output, in both forms;
 * resumed and repeated steps bit by bit; restarts; events; both forms alike. A new method is tested
 * by its line in src/integrators/table.c; test_allocation and test_no_allocation run over it, too.
 */
#include "integrators/integrator.h"
#include "model_support.h"

static const char four_bar[] = BOGIE_SOURCE_DIR "/models/four-bar.json";
static const char gyroscope[] = BOGIE_SOURCE_DIR "/models/gyroscope.json";

/* A system, how long it is followed, and the length of steps of its reference. */
typedef struct method_subject {
    const char *reference, *form; /* form NULL: equations */
    double t_end, h_fine;
    const char *only; /* the one method it is for; NULL: all */
} method_subject;

static const method_subject subjects[] = {
    {"equations:pendulum", NULL, 1.0, 1.0 / 256, NULL},
    {"equations:car-axle", NULL, 0.5, 1.0 / 1024, NULL},
    {four_bar, "joint", 0.5, 1.0 / 512, NULL},
    {four_bar, "cartesian", 0.5, 1.0 / 512, NULL},
    {gyroscope, "joint", 0.05, 1.0 / 4096, NULL}, /* a quaternion and no constraints */
    {gyroscope, "cartesian", 0.05, 1.0 / 4096, NULL},
    {"equations:fast-pendulum", NULL, 0.5, 1.0 / 1024, "prk"}, /* of two rates */
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static bool suits(const method_subject *s, const bg_integrator_info *info)
{
    return !s->only || strcmp(s->only, info->name) == 0;
}

static bg_system *open_subject(const method_subject *s, bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    *model = NULL;
    if (!s->form)
        return create_system(s->reference, NULL, NULL);
    assert_ok(bg_model_read(s->reference, NULL, 0, model, &err));
    assert_ok(bg_model_create_system(*model, s->form, &sys, &err));
    return sys;
}

typedef struct errors {
    double end, dense; /* largest at ends of steps, and between them, beside the state */
} errors;

enum { COORDINATES = 64 };

static void compare(bg_integrator *a, bg_integrator *b, double t, double *error)
{
    double x[2][3][COORDINATES];
    const bg_dynamics *d = a->dyn;
    assert_true(d->nq <= COORDINATES);
    bg_integrator_interpolate(a, t, x[0][0], x[0][1], x[0][2]);
    bg_integrator_interpolate(b, t, x[1][0], x[1][1], x[1][2]);
    double largest = 0, size = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < (k ? d->nv : d->nq); i++) {
            largest = fmax(largest, fabs(x[0][k][i] - x[1][k][i]));
            size = fmax(size, fabs(x[1][k][i]));
        }
    *error = fmax(*error, largest / size);
}

/* `steps` steps of a method beside short ones of mdop8, whose dense output is of order 7. */
static errors measure(const method_subject *s, const char *method, int steps)
{
    bg_error err = {BG_OK, ""};
    bg_model *models[2];
    bg_system *sys = open_subject(s, &models[0]), *twin = open_subject(s, &models[1]);
    trajectory coarse, fine;
    errors e = {0, 0};
    double h = s->t_end / steps;
    trajectory_begin(&coarse, sys, method, NULL, 1e-6, h, s->t_end);
    trajectory_begin(&fine, twin, "mdop8", NULL, 1e-6, s->h_fine, s->t_end);
    while (bg_integrator_get_state(coarse.ig)->t < s->t_end) {
        if (bg_integrator_step(coarse.ig, &err) != BG_OK) { /* it is too long */
            e = (errors){INFINITY, INFINITY};
            break;
        }
        double t0 = bg_integrator_get_step_start(coarse.ig);
        double t1 = bg_integrator_get_state(coarse.ig)->t;
        for (int k = 1; k <= 6; k++) {
            double t = k == 6 ? t1 : t0 + (t1 - t0) * k / 6;
            while (bg_integrator_get_state(fine.ig)->t < t)
                assert_ok(bg_integrator_step(fine.ig, &err));
            compare(coarse.ig, fine.ig, t, k == 6 ? &e.end : &e.dense);
        }
    }
    trajectory_end(&coarse);
    trajectory_end(&fine);
    bg_system_destroy(sys);
    bg_system_destroy(twin);
    bg_model_destroy(models[0]);
    bg_model_destroy(models[1]);
    return e;
}

/* Slopes over the four shortest of steps that become shorter by sqrt(2), as long as errors are
 * those of the method and not of rounding; those of low orders are that to the end. */
static void check_order(const method_subject *s, const bg_integrator_info *info)
{
    enum { POINTS = 20, USED = 4 };
    const double floor = 2e-12;
    double h[POINTS], end[POINTS], dense[POINTS];
    int n = 0, most = info->order == 1 ? 4096 : 512;
    int known = info->fixed_order > 0 ? info->fixed_order : info->order;
    for (double steps = known <= 2 ? most / 8.0 : 4; steps <= most && n < POINTS;
         steps *= sqrt(2.0)) {
        errors e = measure(s, info->name, (int)(steps + 0.5));
        if (e.end < floor || e.dense < floor)
            break;
        if (e.end > 1)
            continue;
        h[n] = s->t_end / (int)(steps + 0.5);
        end[n] = e.end;
        dense[n++] = e.dense;
    }
    assert_true(n >= USED);
    int first = n - USED;
    double order = fit_order(USED, h + first, end + first);
    double dense_order = fit_order(USED, h + first, dense + first);
    print_message("%-45s %-9s %-12s order %.2f, dense %.2f, errors %.1e .. %.1e\n",
                  strrchr(s->reference, s->form ? '/' : ':') + 1, s->form ? s->form : "",
                  info->name, order, dense_order, end[first], end[n - 1]);
    assert_true(order > known - 0.3 && order < 1.2 * known + 0.4);
    assert_true(dense_order > fmin(known, info->dense_order + 1) - 0.3);
}

static void test_order(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i += SANITIZED && i == 1 ? SUBJECTS - 2 : 1)
        for (int k = 0; get_method(k); k++)
            if (suits(&subjects[i], get_method(k)))
                check_order(&subjects[i], get_method(k));
}

/* A trajectory of a method with error control, or of its fixed steps; positions are projected as
 * the drift asks for it, where the method can do that. */
static void begin(trajectory *x, const method_subject *s, const bg_integrator_info *info,
                  bg_model **model)
{
    bg_system *sys = open_subject(s, model);
    bool controls = false;
    for (int k = 0; k < info->noptions; k++)
        controls = controls || (strcmp(info->options[k].name, "projection") == 0 &&
                                strstr(info->options[k].choices, "control"));
    trajectory_begin(x, sys, info->name, controls ? "control" : NULL,
                     info->order == 2 ? 1e-4 : 1e-6, /* of which the first takes as many steps */
                     info->fixed_steps ? s->t_end / 200 : 0, s->t_end);
}

static void end(trajectory *x, bg_model *model)
{
    bg_system *sys = x->sys;
    trajectory_end(x);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* Times, states, accelerations and multipliers are the same bit by bit. */
static void assert_same(const trajectory *x, const trajectory *y, const char *name)
{
    const bg_state *a = bg_integrator_get_state(x->ig), *b = bg_integrator_get_state(y->ig);
    const bg_dynamics *d = x->ig->dyn;
    bool same = a->t == b->t && memcmp(a->q, b->q, (size_t)x->ig->n * sizeof(double)) == 0 &&
                memcmp(a->a, b->a, (size_t)d->nv * sizeof(double)) == 0 &&
                memcmp(a->lambda, b->lambda, (size_t)d->ng * sizeof(double)) == 0;
    if (!same)
        fail_msg("%s %s: not the same at t = %g and %g", d->sys->def.name, name, a->t, b->t);
}

static void check_resume(const method_subject *s, const bg_integrator_info *info, int before)
{
    bg_error err = {BG_OK, ""};
    bg_model *models[2];
    trajectory x, y;
    bg_archive saved = {0};
    begin(&x, s, info, &models[0]);
    begin(&y, s, info, &models[1]);
    for (int k = 0; k < before; k++)
        assert_ok(bg_integrator_step(x.ig, &err));
    bg_integrator_archive(x.ig, &saved);
    assert_false(saved.failed);
    bg_archive loaded = {.loading = true, .data = saved.data, .size = saved.size};
    bg_integrator_archive(y.ig, &loaded);
    assert_false(loaded.failed);
    assert_int_equal(loaded.position, saved.size);
    assert_same(&x, &y, info->name);
    trajectory_run(&x, s->t_end);
    trajectory_run(&y, s->t_end);
    assert_same(&x, &y, info->name);
    bg_counters a = bg_integrator_get_counters(x.ig), b = bg_integrator_get_counters(y.ig);
    assert_memory_equal(&a, &b, sizeof a);
    bg_archive_clear(&saved);
    end(&x, models[0]);
    end(&y, models[1]);
}

static void test_resume(void **state)
{
    (void)state;
    for (int i = 0; i < SUBJECTS; i++)
        for (int k = 0; get_method(k); k++)
            for (int before = 0; before < 9 && suits(&subjects[i], get_method(k)); before += 4)
                check_resume(&subjects[i], get_method(k), before);
}

/* A step that is undone and made again is the same one, and nothing later differs: neither step
 * control nor what a method learns from its steps remembers it. */
static void test_undo(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int i = 0; i < SUBJECTS; i++)
        for (int k = 0; get_method(k); k++) {
            const bg_integrator_info *info = get_method(k);
            bg_model *models[2];
            trajectory x, y;
            if (!suits(&subjects[i], info))
                continue;
            begin(&x, &subjects[i], info, &models[0]);
            begin(&y, &subjects[i], info, &models[1]);
            trajectory_run(&x, subjects[i].t_end);
            for (int n = 0; bg_integrator_get_state(y.ig)->t < subjects[i].t_end; n++) {
                bg_state *before = y.start;
                bg_state_copy(y.sys, bg_integrator_get_state(y.ig), before);
                assert_ok(bg_integrator_step(y.ig, &err));
                if (n % 3 != 1)
                    continue;
                bg_integrator_undo(y.ig, subjects[i].t_end);
                assert_true(bg_integrator_get_state(y.ig)->t == before->t);
                assert_memory_equal(bg_integrator_get_state(y.ig)->q, before->q,
                                    (size_t)y.ig->n * sizeof(double));
                assert_ok(bg_integrator_step(y.ig, &err));
            }
            assert_same(&x, &y, info->name);
            assert_int_equal(bg_integrator_get_counters(x.ig).accepted,
                             bg_integrator_get_counters(y.ig).accepted);
            end(&x, models[0]);
            end(&y, models[1]);
        }
}

/* Behind a restart, whatever its reason, the motion is that of an integrator that starts there. */
static void test_restart(void **state)
{
    (void)state;
    static const bg_restart reasons[] = {BG_RESTART_START, BG_RESTART_MODE, BG_RESTART_STATE,
                                         BG_RESTART_ROWS};
    bg_error err = {BG_OK, ""};
    for (int i = 0; i < SUBJECTS; i++)
        for (int k = 0; get_method(k); k++)
            for (int r = 0; r < 4 && suits(&subjects[i], get_method(k)); r++) {
                const method_subject *s = &subjects[i];
                bg_model *models[2];
                trajectory x, y;
                begin(&x, s, get_method(k), &models[0]);
                begin(&y, s, get_method(k), &models[1]);
                for (int n = 0; n < 5; n++)
                    assert_ok(bg_integrator_step(x.ig, &err));
                bg_state_copy(x.sys, bg_integrator_get_state(x.ig), x.start);
                assert_ok(bg_integrator_restart(x.ig, x.start, &x.assembly.redundancy, s->t_end,
                                                reasons[r], &err));
                assert_ok(
                    bg_integrator_start(y.ig, x.start, &y.assembly.redundancy, s->t_end, &err));
                double error = 0;
                assert_ok(bg_integrator_step(x.ig, &err));
                assert_ok(bg_integrator_step(y.ig, &err));
                while (bg_integrator_get_state(y.ig)->t < bg_integrator_get_state(x.ig)->t)
                    assert_ok(bg_integrator_step(y.ig, &err));
                compare(x.ig, y.ig, bg_integrator_get_state(x.ig)->t, &error);
                assert_true(error < 1e-5);
                end(&x, models[0]);
                end(&y, models[1]);
            }
}

/* The accelerations of dense output are the derivative of its velocities, in long steps, where
 * every term of it counts. */
static void test_dense_slope(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int k = 0; get_method(k); k++) {
        bg_system *sys = create_system("equations:pendulum", NULL, NULL);
        bg_state *out;
        trajectory x;
        double q[2], v[2][2], z[1], bent = 0;
        trajectory_begin(&x, sys, get_method(k)->name, NULL, 1e-6, 0.1, 1.0);
        assert_ok(bg_state_create(sys, &out, &err));
        for (int n = 0; n < 3; n++)
            assert_ok(bg_integrator_step(x.ig, &err));
        double t0 = bg_integrator_get_step_start(x.ig), e = 1e-5;
        for (int n = 1; n < 10; n++) {
            double t = t0 + 0.01 * n;
            bg_integrator_interpolate_plain(x.ig, t, out);
            bg_integrator_interpolate(x.ig, t - e, q, v[0], z);
            bg_integrator_interpolate(x.ig, t + e, q, v[1], z);
            for (int i = 0; i < 2; i++) {
                double slope = (v[1][i] - v[0][i]) / (2 * e);
                assert_near(out->a[i], slope, 1e-7 * (1 + fabs(slope)));
                bent = fmax(bent, fabs(slope));
            }
        }
        assert_true(bent > 0.1);
        bg_state_destroy(out);
        trajectory_end(&x);
        bg_system_destroy(sys);
    }
}

/* Impacts of a ball at known times. */
static void test_events(void **state)
{
    (void)state;
    for (int k = 0; get_method(k); k++) {
        const bg_integrator_info *info = get_method(k);
        bg_error err = {BG_OK, ""};
        bg_system *sys = create_system("equations:bouncing-ball", NULL, NULL);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.integrator = info->name;
        o.method.rtol = o.method.atol = 1e-9;
        o.method.step = info->fixed_steps ? 2e-5 : 0;
        o.skip_comparison = 1; /* not what is looked at here */
        o.t_end = 3;
        assert_ok(bg_run(sys, &o, &r, &err));
        double speed = sqrt(2 * 9.81), t = speed / 9.81;
        int impacts = 0;
        for (long i = 0; i < r.nevents; i++)
            if (r.events[i].direction < 0) {
                assert_near(r.events[i].t, t, info->fixed_steps ? 1e-3 : 1e-8);
                speed *= 0.8;
                t += 2 * speed / 9.81;
                impacts++;
            }
        assert_int_equal(impacts, 6);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
}

/* The same model in joint and in Cartesian coordinates moves alike. */
static void test_forms(void **state)
{
    (void)state;
    static const char *const models[] = {four_bar, gyroscope,
                                         BOGIE_SOURCE_DIR "/models/slider-crank-3d.json"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; get_method(k); k++) {
            const bg_integrator_info *info = get_method(k);
            double y[2][COORDINATES], size = 0, difference = 0;
            int ny = 0;
            for (int f = 0; f < 2; f++) {
                bg_error err = {BG_OK, ""};
                bg_model *model;
                bg_system *sys = open_subject(&(method_subject){models[i], forms[f], 0, 0, NULL},
                                              &model);
                bg_run_options o = bg_default_run_options();
                bg_run_report r;
                o.integrator = info->name;
                o.method.rtol = o.method.atol = 1e-9;
                o.method.step = !info->fixed_steps ? 0 : info->order == 1 ? 1e-5 : 1e-4;
                o.skip_comparison = 1;
                o.t_end = 0.1;
                assert_ok(bg_run(sys, &o, &r, &err));
                ny = bg_system_get_def(sys)->ny;
                assert_true(ny <= COORDINATES);
                memcpy(y[f], r.y, (size_t)ny * sizeof(double));
                bg_run_report_clear(&r);
                bg_system_destroy(sys);
                bg_model_destroy(model);
            }
            for (int j = 0; j < ny; j++) {
                size = fmax(size, fabs(y[0][j]));
                difference = fmax(difference, fabs(y[0][j] - y[1][j]));
            }
            if (!(difference < (info->fixed_steps ? 1e-2 : 1e-6) * size && size > 0.1))
                fail_msg("%s %s: the forms differ by %g of %g", models[i], info->name, difference,
                         size);
        }
}

/* A first step that is asked for and too short to move the time is the shortest that does, at any
 * time: the run is as good as with the one that the method chooses. */
static void test_shortest_start(void **state)
{
    (void)state;
    static const double from[] = {0, 1, 3e4, -7e6}, tiny[] = {1e-300, 1e-30, 1e-19};
    for (int m = 0; get_method(m); m++)
        for (int k = 0; k < 4 * 3 && !get_method(m)->fixed_steps; k++) {
            bg_error err = {BG_OK, ""};
            bg_run_report r[2];
            bg_system *sys = create_system("equations:pendulum", NULL, NULL);
            bg_run_options o = bg_default_run_options();
            o.integrator = get_method(m)->name;
            o.method.rtol = o.method.atol = 1e-6;
            o.t_start = from[k / 3];
            o.t_end = o.t_start + 0.5;
            for (int short_ = 0; short_ < 2; short_++) {
                o.method.h_initial = short_ ? tiny[k % 3] : 0;
                if (bg_run(sys, &o, &r[short_], &err) != BG_OK)
                    fail_msg("%s from %g: %s", o.integrator, o.t_start, err.text);
                assert_int_equal(r[short_].verdict, BG_GOOD);
            }
            for (int i = 0; i < bg_system_get_def(sys)->nq; i++)
                assert_near(r[0].final->q[i], r[1].final->q[i], 1e-4);
            bg_run_report_clear(&r[0]);
            bg_run_report_clear(&r[1]);
            bg_system_destroy(sys);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),       cmocka_unit_test(test_resume),
        cmocka_unit_test(test_undo),        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_dense_slope), cmocka_unit_test(test_events),
        cmocka_unit_test(test_forms),       cmocka_unit_test(test_shortest_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

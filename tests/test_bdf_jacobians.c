/* How bdf comes by its derivatives: the strategies of 001 on the train carriage; a pattern that
 * must grow; groups and values by two orders of the columns; what is counted. */
#include "bdf_support.h"

static bg_system *create_carriage(bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/train-carriage.json", NULL, 0, model, &err));
    assert_ok(bg_model_create_system(*model, "joint", &sys, &err));
    return sys;
}

/* The largest error of a place or an angle, spins left out, which nothing depends on. */
static double calc_error(const bg_system_def *def, const bdf_outcome *x, const bdf_outcome *fine)
{
    double error = 0;
    for (int i = 0; i < def->nq; i++)
        if (!strstr(def->q_names[i], "spin"))
            error = fmax(error, fabs(x->q[i] - fine->q[i]));
    return error;
}

/* Table 1 of 001 with DASSL's rules: what each strategy costs beside dense differences at every
 * change of alpha, and that all end at the same place. Counts of one run scatter by a tenth: those
 * of several tolerances are added up. */
static void test_strategies(void **state)
{
    (void)state;
    static const struct {
        const char *jacobian, *update;
        double most; /* of the residuals of the first */
    } runs[] = {{"dense", "full", 1},          {"sparse", "full", 0.45},
                {"dense", "partitioned", 0.5}, {"sparse", "partitioned", 0.26},
                {"analytic", "full", 0.11},    {"analytic", "partitioned", 0.135}};
    static const double tolerances[] = {1e-4, 0.95e-4, 1.05e-4};
    const int ntolerances = SANITIZED ? 1 : 3;
    const double t_end = SANITIZED ? 2 : 15;
    long first = 0;
    bg_model *model;
    bg_system *sys = create_carriage(&model);
    const bg_system_def *def = bg_system_get_def(sys);
    bdf_outcome fine = follow(sys, "bdf", 1e-7, 0, t_end, NULL, 0);
    assert_int_equal(fine.status, BG_OK);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        const bg_setting o[] = {{"jacobian", runs[k].jacobian},
                                {"update", runs[k].update},
                                {"step_rule", "dassl"},
                                {"newton", "0.33"},
                                {"norm", "rms"},
                                {"max_order", "5"}};
        long all = 0;
        for (int n = 0; n < ntolerances; n++) {
            bdf_outcome x = follow(sys, "bdf", tolerances[n], 0, t_end, o, 6);
            const double error = calc_error(def, &x, &fine);
            print_message("%s, %s: fc %ld, fcw %ld, Je %ld + %ld, groups %d, growths %ld, error "
                          "%.1e\n",
                          o[0].value, o[1].value, x.work.fc, x.work.fcw, x.work.evaluations,
                          x.work.updates, (int)x.work.groups, x.work.growths, error);
            assert_int_equal(x.status, BG_OK);
            assert_true(error < 50 * tolerances[n]);
            all += x.work.fc;
            if (strcmp(runs[k].jacobian, "sparse") == 0) {
                assert_true(x.work.groups > 0 && x.work.groups <= 46);
                assert_true(SANITIZED || x.work.growths > 0); /* no curves at the start */
            }
        }
        first = k == 0 ? all : first;
        if (!SANITIZED)
            assert_true((double)all <= runs[k].most * (double)first);
    }
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* What contacts and kinematics keep from column to column changes nothing but the work. */
static void test_columns(void **state)
{
    (void)state;
    bg_model *model;
    bg_system *sys = create_carriage(&model);
    const char *const kinds[] = {"dense", "sparse"};
    for (int k = 0; k < 2; k++) {
        const bg_setting o[] = {{"jacobian", kinds[k]}, {"columns", "kept"}, {"columns", "whole"}};
        const bg_setting whole[] = {o[0], o[2]};
        const double t_end = SANITIZED ? 0.5 : 2.5; /* the first curve begins at 1.5 */
        bdf_outcome a = follow(sys, "bdf", 1e-5, 0, t_end, o, 2),
                    b = follow(sys, "bdf", 1e-5, 0, t_end, whole, 2);
        assert_int_equal(a.status, BG_OK);
        assert_int_equal(b.status, BG_OK);
        assert_true(a.work.evaluations > (SANITIZED ? 0 : 1));
        assert_int_equal(a.work.fc, b.work.fc);
        assert_memory_equal(a.q, b.q, (size_t)bg_system_get_def(sys)->nq * sizeof *a.q);
    }
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* Points on a line with random springs between them, numbered from either end. */
enum { POINTS = 24, SPRINGS = 40 };

typedef struct springs {
    bool reversed;
    int end[SPRINGS][2];
    double stiffness[SPRINGS], q0[POINTS];
} springs;

static int springs_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const springs *s = self;
    for (int i = 0; i < POINTS && (want & BG_TERM_M); i++)
        out->M[i * POINTS + i] = 1;
    if (!(want & BG_TERM_f))
        return 0;
    for (int i = 0; i < POINTS; i++)
        out->f[i] = -p->q[i] - 0.3 * p->v[i] * fabs(p->v[i]);
    for (int k = 0; k < SPRINGS; k++) {
        const int i = s->reversed ? POINTS - 1 - s->end[k][0] : s->end[k][0],
                  j = s->reversed ? POINTS - 1 - s->end[k][1] : s->end[k][1];
        const double d = p->q[i] - p->q[j], N = s->stiffness[k] * (d + d * d * d);
        out->f[i] -= N;
        out->f[j] += N;
    }
    return 0;
}

/* Some number between -1 and 1. */
static double draw_number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608 - 1;
}

/* Columns in reversed order: about as many groups, and the same derivatives but for rounding, so
 * that the run makes the same steps with the same work for Jacobians and ends at the same place. */
static void test_reversed(void **state)
{
    (void)state;
    unsigned seed = 7;
    const bg_setting o[] = {{"jacobian", "sparse"}};
    for (int trial = 0; trial < 10; trial++) {
        springs s = {.reversed = false};
        bdf_outcome x[2];
        for (int k = 0; k < SPRINGS; k++) {
            s.end[k][0] = k % (POINTS - 1);
            s.end[k][1] = k < POINTS - 1 ? k + 1 : (int)(POINTS / 2 * (1 + draw_number(&seed)));
            s.end[k][1] -= s.end[k][1] == POINTS || s.end[k][1] == s.end[k][0];
            s.stiffness[k] = pow(10, 1 + 2 * draw_number(&seed));
        }
        for (int i = 0; i < POINTS; i++)
            s.q0[i] = draw_number(&seed);
        for (int r = 0; r < 2; r++) {
            bg_system_def d = bg_default_system_def();
            double q0[POINTS];
            s.reversed = r == 1;
            for (int i = 0; i < POINTS; i++)
                q0[i] = s.q0[s.reversed ? POINTS - 1 - i : i];
            d.name = "springs";
            d.nq = d.nv = POINTS;
            d.self = &s;
            d.q0 = q0;
            d.supplied = BG_TERM_M | BG_TERM_f;
            d.terms = springs_terms;
            bg_system *sys;
            bg_error err = {BG_OK, ""};
            assert_ok(bg_system_create(&d, &sys, &err));
            x[r] = follow(sys, "bdf", 1e-5, 0, 1, o, 1);
            assert_int_equal(x[r].status, BG_OK);
            bg_system_destroy(sys);
        }
        assert_in_range(x[0].work.groups, 2, POINTS - 1);
        assert_true(labs((long)x[0].work.groups - (long)x[1].work.groups) <= 1);
        assert_int_equal(x[0].accepted, x[1].accepted);
        assert_int_equal(x[0].work.evaluations, x[1].work.evaluations);
        double apart = 0;
        for (int i = 0; i < POINTS; i++)
            apart = fmax(apart, fabs(x[0].q[i] - x[1].q[POINTS - 1 - i]));
        print_message("%d and %d groups, %.1e apart\n", (int)x[0].work.groups,
                      (int)x[1].work.groups, apart);
        assert_true(apart < 1e-7); /* Newton's increments by differences of 1e-8 */
    }
}

/* Blocks one behind another, the first pushed: they touch through stiff stops later on, and stay
 * together. Nothing couples them at the start. */
enum { BLOCKS = 12 };

static int blocks_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    for (int i = 0; i < BLOCKS && (want & BG_TERM_M); i++)
        out->M[i * BLOCKS + i] = 1;
    if (!(want & BG_TERM_f))
        return 0;
    for (int i = 0; i < BLOCKS; i++)
        out->f[i] = -2 * p->v[i];
    out->f[0] += 20;
    out->f[BLOCKS - 1] -= 100 * p->q[BLOCKS - 1];
    for (int i = 0; i + 1 < BLOCKS; i++) {
        const double d = p->q[i] - p->q[i + 1] - 0.1, rate = p->v[i] - p->v[i + 1];
        const double N = d > 0 ? d * d * (1e9 * d + 1e6 * rate) : 0; /* C2 */
        out->f[i] -= N;
        out->f[i + 1] += N;
    }
    return 0;
}

static bg_system *create_blocks(void)
{
    bg_error err = {BG_OK, ""};
    bg_system_def d = bg_default_system_def();
    bg_system *sys;
    d.name = "blocks";
    d.nq = d.nv = BLOCKS;
    d.supplied = BG_TERM_M | BG_TERM_f;
    d.terms = blocks_terms;
    assert_ok(bg_system_create(&d, &sys, &err));
    return sys;
}

/* The pattern grows as stops begin to act, and the run takes hardly more steps than one that knows
 * all of the pattern. */
static void test_growth(void **state)
{
    (void)state;
    static const bg_setting known[] = {{"jacobian", "sparse"}, {"pattern", "known"}};
    static const bg_setting estimated[] = {{"jacobian", "sparse"}, {"pattern", "estimated"}};
    bg_system *sys = create_blocks();
    bdf_outcome fine = follow(sys, "bdf", 1e-9, 0, 20, NULL, 0);
    bdf_outcome x = follow(sys, "bdf", 1e-5, 0, 20, known, 2);
    bdf_outcome y = follow(sys, "bdf", 1e-5, 0, 20, estimated, 2);
    print_message("known: %ld steps, %ld residuals; estimated: %ld, %ld, %ld growths, %d groups\n",
                  x.accepted, x.work.fc, y.accepted, y.work.fc, y.work.growths, (int)y.work.groups);
    assert_true(x.status == BG_OK && y.status == BG_OK);
    assert_true(calc_distance(&x, &fine) < 1e-3 && calc_distance(&y, &fine) < 1e-3);
    assert_int_equal(x.work.groups, 2 * BLOCKS); /* nothing is known */
    assert_true(y.work.growths > 0 && y.work.groups > 1 && y.work.groups <= 8);
    assert_true((double)y.accepted < 1.5 * (double)x.accepted);
    assert_true(y.work.convergence_failures <= x.work.convergence_failures + 12);
    bg_system_destroy(sys);
}

/* All columns of F, and D of (26), are counted: with as many inputs as the chain has. */
static void test_counts(void **state)
{
    (void)state;
    static const bg_setting plain[] = {{"jacobian", "dense"}, {"update", "partitioned"}};
    static const bg_setting extended[] = {{"jacobian", "dense"}, {"update", "extended"}};
    bg_system *sys = create_system("equations:chain", NULL, NULL);
    const bg_system_def *def = bg_system_get_def(sys);
    const int columns = 2 * def->nv + 1;
    bdf_outcome x = follow(sys, "bdf", 1e-5, 0, 1, plain, 2);
    bdf_outcome y = follow(sys, "bdf", 1e-5, 0, 1, extended, 2);
    assert_true(def->nu > 0);
    assert_int_equal(x.work.fc, x.work.fcw + x.work.evaluations * columns);
    assert_int_equal(y.work.fc, y.work.fcw + y.work.evaluations * columns);
    assert_true(y.work.evaluations >= x.work.evaluations + 3 * def->nu);
    bg_system_destroy(sys);
}

static bool is_alike(const bdf_outcome *x, const bdf_outcome *y)
{
    return x->status == BG_OK && y->status == BG_OK && x->accepted == y->accepted &&
           x->work.fc == y->work.fc && x->work.evaluations == y->work.evaluations &&
           x->work.updates == y->work.updates && calc_distance(x, y) == 0;
}

/* New derivatives where they pay: less work than without them, or hardly more. */
static void check_payment(const char *name, const bdf_outcome *x, const bdf_outcome *old,
                          double cost)
{
    const double work = (double)x->work.fc + cost * (double)x->work.evaluations,
                 before = (double)old->work.fc + cost * (double)old->work.evaluations;
    print_message("%s: %ld residuals and %ld Jacobians instead of %ld and %ld\n", name, x->work.fc,
                  x->work.evaluations, old->work.fc, old->work.evaluations);
    assert_true(x->status == BG_OK && old->status == BG_OK);
    assert_true(work <= 1.1 * before);
    assert_true(x->work.fc < old->work.fc);
}

/* update=auto takes what it should, with every kind of derivatives, and is the default. */
static void check_auto(const char *name, bg_system *sys, double t_end, bool cheap)
{
    static const char *const jacobians[] = {"analytic", "dense", "sparse"};
    double cost = bg_system_get_def(sys)->derivative_cost;
    assert_true((cost > 0 && cost <= 2) == cheap);
    for (int j = 0; j < 3; j++) {
        bg_setting o[] = {{"jacobian", jacobians[j]}, {"update", "auto"}};
        bdf_outcome chosen = follow(sys, "bdf", 1e-6, 0, t_end, o, 2);
        bdf_outcome as_comes = follow(sys, "bdf", 1e-6, 0, t_end, o, 1);
        o[1].value = "full";
        bdf_outcome full = follow(sys, "bdf", 1e-6, 0, t_end, o, 2);
        o[1].value = "partitioned";
        bdf_outcome partitioned = follow(sys, "bdf", 1e-6, 0, t_end, o, 2);
        assert_true(is_alike(&chosen, &as_comes));
        if (j == 0 && cost > 2)
            check_payment(name, &chosen, &partitioned, cost);
        else
            assert_true(is_alike(&chosen, cheap && j == 0 ? &full : &partitioned));
        assert_false(is_alike(&full, &partitioned));
    }
}

/* Full where a system says that its derivatives are cheap, and partitioned otherwise: unknown ones,
 * differences; where it says that they are dear, as in models of both forms, new ones when they
 * pay.
 */
static void test_auto(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double t_end;
        bool cheap;
    } systems[] = {{"equations:slider-crank", 3, true}, {"equations:car-axle", 0.3, true},
                   {"equations:andrews", 0.01, true},   {"equations:pendulum", 2, true},
                   {"equations:chain", 1, false},       {"equations:wheelset", 0.1, false}};
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        bg_system *sys = create_system(systems[s].name, NULL, NULL);
        check_auto(systems[s].name, sys, systems[s].t_end, systems[s].cheap);
        bg_system_destroy(sys);
    }
    static const struct {
        const char *file;
        double t_end;
    } models[] = {{"four-bar", 0.6}, {"double-wishbone", 0.5}, {"iftomm-a03-andrews", 0.02}};
    for (int k = 0; k < 6; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        char path[512];
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", models[k / 2].file);
        assert_ok(bg_model_read(path, NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        check_auto(models[k / 2].file, sys, models[k / 2].t_end, false);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

/* New derivatives do not have to show what they are worth each time: for most of them no step takes
 * a second increment. */
static void test_expectations(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-6, 1e-7, 1e-8, 1e-9};
    long second = 0, made = 0;
    for (int k = 0; k < 4; k++) {
        bg_system *sys = create_system("equations:car-axle", NULL, NULL);
        bdf_outcome x = follow(sys, "bdf", tolerances[k], 0, 3, NULL, 0);
        print_message("car axle at %g: %ld steps, %ld residuals, %ld Jacobians\n", tolerances[k],
                      x.accepted, x.work.fc, x.work.evaluations);
        assert_int_equal(x.status, BG_OK);
        second += x.work.fc - x.accepted - x.rejected;
        made += x.work.evaluations;
        bg_system_destroy(sys);
    }
    assert_true((double)second < 0.6 * (double)made);
}

/* Where the estimated pattern lacks so much that the matrix is singular (quaternions that turn away
 * from where they were), or the step cannot be cut (it is fixed), it grows as well, and the motion
 * is that of exact derivatives. */
static void test_short_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *model, *form;
        double step, t_end; /* s */
    } cases[] = {{"train-carriage", "cartesian", 0, 0.05},
                 {"rear-axle-stamp", "joint", 1e-3, 0.02},
                 {"rear-axle-stamp", "cartesian", 1e-3, 0.02}};
    for (int k = 0; k < (SANITIZED ? 1 : 3); k++) {
        const char *order = cases[k].step > 0 ? "2" : "auto";
        const bg_setting set[2][2] = {{{"jacobian", "analytic"}, {"max_order", order}},
                                      {{"jacobian", "sparse"}, {"max_order", order}}};
        bg_error err = {BG_OK, ""};
        bg_run_report r[2];
        bg_model *model;
        bg_system *sys;
        char path[256];
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", cases[k].model);
        assert_ok(bg_model_read(path, NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, cases[k].form, &sys, &err));
        for (int i = 0; i < 2; i++) {
            bg_run_options o = bg_default_run_options();
            o.integrator = "bdf";
            o.method.settings = set[i];
            o.method.nsettings = 2;
            o.method.rtol = 1e-5;
            o.method.atol = cases[k].step > 0 ? 1e-7 : 1e-5;
            o.method.step = cases[k].step;
            o.t_end = cases[k].t_end;
            assert_ok(bg_run(sys, &o, &r[i], &err));
        }
        assert_true(r[1].counters.corrector.growths > 0);
        const bg_system_def *def = bg_system_get_def(sys);
        for (int i = 0; i < def->nq; i++)
            assert_near(r[1].final->q[i], r[0].final->q[i], cases[k].step > 0 ? 1e-9 : 1e-5);
        for (int i = 0; i < 2; i++)
            bg_run_report_clear(&r[i]);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),         cmocka_unit_test(test_strategies),
        cmocka_unit_test(test_columns),      cmocka_unit_test(test_reversed),
        cmocka_unit_test(test_growth),       cmocka_unit_test(test_counts),
        cmocka_unit_test(test_expectations), cmocka_unit_test(test_short_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Two rates of linearised systems: largest stable steps of the planar vehicle on rigid-ring tyres
 * against tables of independent programs, ratios of masses, groups that move by themselves, and
 * what partition=auto makes of random chains of masses. */
#include "evaluator_support.h"
#include "run_support.h"

#include "design/split.h"
#include "run/choose_fast.h"
#include "run/start.h"
#include "system/separability.h"

typedef struct linearised {
    bg_system *sys;
    bg_evaluator *ev;
    bg_state *x;
    bg_assembly_report report;
    bg_linearisation *l;
    bg_rates *rates;
} linearised;

static linearised open_system(bg_system *sys)
{
    linearised a = {.sys = sys};
    bg_error err = {BG_OK, ""};
    assert_ok(bg_evaluator_create(sys, &a.ev, &err));
    assert_ok(bg_state_create(sys, &a.x, &err));
    assert_ok(bg_start_find(a.ev, 0, a.x, &a.report, &err));
    assert_ok(bg_linearisation_create(a.ev, &a.l, &err));
    assert_ok(bg_linearisation_update(a.l, a.x, &a.report.redundancy, &err));
    assert_ok(bg_rates_create(a.l, &a.rates, &err));
    bg_rates_sort(a.rates, a.l, a.ev->def.v_part, a.ev->def.z_part);
    return a;
}

static void close_system(linearised *a)
{
    bg_rates_destroy(a->rates);
    bg_linearisation_destroy(a->l);
    bg_assembly_report_clear(&a->report);
    bg_state_destroy(a->x);
    bg_evaluator_destroy(a->ev);
    bg_system_destroy(a->sys);
}

static bg_system *create_equations(const char *reference, const bg_setting *settings, int n)
{
    bg_error err = {BG_OK, ""};
    const bg_equations *family;
    void *handle;
    bg_system *sys;
    assert_ok(bg_equations_open(reference, &family, &handle, &err));
    assert_ok(bg_equations_create(family, settings, n, &sys, &err));
    return sys;
}

enum { METHODS = 11 };
static const char *const methods[METHODS] = {"rk2",    "prk25-paper", "prk25", "prk26",
                                             "prk27",  "prk28",       "prk35", "prk36",
                                             "prk36b", "prk38",       "prk48"};

static bg_prk_pair find_pair(const char *name)
{
    bg_prk_pair pair;
    if (!bg_prk_pair_find_single(name, &pair))
        assert_true(bg_prk_pair_find(name, &pair));
    return pair;
}

/* ms, at 10 and 30 m/s, light axles and heavy ones, positions by part and fast, spins of light
 * hubs fast, too: to 2 %. The step of rk2 does not depend on parts. */
static void test_planar_vehicle(void **state)
{
    (void)state;
    static const struct {
        const char *driven, *V, *spins;
        bool by_part;
        double largest[METHODS];
    } table[] = {
        {"0", "10", "0", true, {1.34, 1.18, 3.09, 2.77, 2.87, 2.73, 4.73, 4.95, 4.96, 5.48, 7.30}},
        {"0", "30", "0", true, {1.75, 1.18, 3.04, 2.79, 2.87, 2.76, 4.40, 5.39, 5.37, 5.47, 7.08}},
        {"1", "10", "0", true, {1.36, 3.26, 5.16, 6.26, 5.49, 8.18, 5.28, 6.26, 6.28, 7.30, 8.23}},
        {"1", "30", "0", true, {1.98, 3.21, 4.65, 5.65, 5.49, 7.43, 5.03, 5.61, 5.60, 7.30, 7.35}},
        {"0", "10", "0", false, {1.34, 4.83, 4.33, 4.37, 4.50, 4.40, 4.90, 5.37, 6.31, 7.63, 6.69}},
        {"0", "30", "0", false, {1.75, 4.42, 4.29, 4.47, 4.56, 4.35, 4.62, 5.39, 5.44, 7.42, 7.18}},
        {"1", "10", "0", false, {1.36, 5.29, 5.29, 6.27, 7.07, 8.20, 5.28, 6.28, 6.29, 8.15, 8.25}},
        {"1", "30", "0", false, {1.98, 4.70, 4.66, 5.64, 6.76, 7.42, 5.03, 5.62, 5.63, 7.46, 7.35}},
        {"0", "10", "1", false, {1.34, 5.20, 4.33, 4.75, 4.56, 4.73, 5.20, 6.18, 6.18, 7.97, 8.07}},
        {"0", "30", "1", false, {1.75, 4.65, 4.33, 4.75, 4.56, 4.73, 4.99, 5.57, 5.57, 7.47, 7.41}},
    };
    double worst = 0;
    for (size_t k = 0; k < sizeof table / sizeof *table; k += SANITIZED ? 5 : 1) {
        const bg_setting settings[] = {{"driven", table[k].driven},
                                       {"V", table[k].V},
                                       {"spins", table[k].spins},
                                       {"torque", "0"}};
        linearised a = open_system(create_equations("equations:planar-vehicle", settings, 4));
        for (int i = 0; i < METHODS; i += SANITIZED ? 9 : 1) {
            bg_error err = {BG_OK, ""};
            const bg_prk_pair pair = find_pair(methods[i]);
            double step;
            assert_ok(bg_rates_find_step(a.rates, &pair, table[k].by_part, true, &step, &err));
            const double off = fabs(1e3 * step / table[k].largest[i] - 1);
            worst = fmax(worst, off);
            if (!(off < 0.02))
                fail_msg("line %d, %s: %.3f ms, not %.3f", (int)k, methods[i], 1e3 * step,
                         table[k].largest[i]);
        }
        close_system(&a);
    }
    print_message("largest difference %.2g %%\n", 100 * worst);
}

/* Of an integrator on the vehicle itself, 5 s without torque: by how much velocities of the rings
 * change in a step of the last second. */
static double run_vehicle(const char *driven, const char *method, double h)
{
    const bg_setting settings[] = {{"driven", driven}, {"torque", "0"}};
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_equations("equations:planar-vehicle", settings, 2);
    double worst = 0, before[13] = {0};
    trajectory x;
    trajectory_begin(&x, sys, method, NULL, 1e-6, h, 5);
    while (bg_integrator_get_state(x.ig)->t < 5 && worst < HUGE_VAL) {
        if (bg_integrator_step(x.ig, &err) != BG_OK)
            worst = HUGE_VAL;
        const bg_state *end = bg_integrator_get_state(x.ig);
        for (int i = 7; i < 13 && end->t > 4 + h; i++)
            worst = fmax(worst, fabs(end->v[i] - before[i]));
        memcpy(before, end->v, sizeof before);
    }
    trajectory_end(&x);
    bg_system_destroy(sys);
    return worst;
}

/* Runs of the nonlinear vehicle tell the same: 3 % below its largest step nothing grows, 5 % above
 * it does; prk38 takes at least five times the step of rk2, prk25 three times. */
static void test_runs(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double largest[2];
    } cases[] = {{"rk2", {1.34, 1.36}},
                 {"prk38", {7.63, 8.15}},
                 {"prk25", {4.33, 5.29}},
                 {"prk25-paper", {4.83, 5.29}}};
    for (int set = 0; set < (SANITIZED ? 1 : 2); set++) {
        const char *driven = set ? "1" : "0";
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const double h = 1e-3 * cases[k].largest[set];
            const double below = run_vehicle(driven, cases[k].method, 0.97 * h);
            const double above = run_vehicle(driven, cases[k].method, 1.05 * h);
            print_message("%s, set %d: %.2g below, %.2g above\n", cases[k].method, set, below,
                          above);
            assert_true(below < 1e-2 && !(above < 0.1));
        }
        assert_true(cases[1].largest[set] > 5 * cases[0].largest[set]);
        assert_true(cases[2].largest[set] > 3 * cases[0].largest[set]);
    }
}

/* A fast mass on a spring at a slow one: the ratio of masses, whatever else holds the slow one. */
static void test_ratio(void **state)
{
    (void)state;
    static const char *const masses[] = {"0.5", "5", "40", "200"};
    for (int k = 0; k < 4; k++) {
        const bg_setting settings[] = {{"m1", "50"}, {"m2", masses[k]}, {"k0", "300"}, {"d", "7"}};
        bg_error err = {BG_OK, ""};
        linearised a = open_system(create_equations("equations:two-masses", settings, 4));
        double ratio;
        assert_ok(bg_rates_calc_ratio(a.rates, &ratio, &err));
        assert_true(fabs(ratio / (atof(masses[k]) / 50) - 1) < 1e-9);
        close_system(&a);
    }
}

/* Velocities that masses or constraints couple, of systems written by hand. */
static void test_groups(void **state)
{
    (void)state;
    static const struct {
        const char *reference;
        int groups;
    } cases[] = {{"equations:planar-vehicle", 12}, /* X and phi are coupled by the hubs */
                 {"equations:two-masses", 2},
                 {"equations:fast-pendulum", -1},
                 {"equations:slider-crank", 1},
                 {"equations:andrews", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        linearised a = open_system(create_equations(cases[k].reference, NULL, 0));
        int group[64], rows[64], count;
        assert_ok(bg_system_find_components(a.l->dyn, group, rows, &count, &err));
        if (cases[k].groups > 0)
            assert_int_equal(count, cases[k].groups);
        else
            assert_true(count > 1);
        for (int i = 0; i < a.ev->def.ng; i++)
            assert_true(rows[i] >= 0 && rows[i] < count);
        close_system(&a);
    }
}

enum { MASSES = 5 };

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* Masses on guides along an axis, each with a spring to the one before it, some of them light on
 * stiff springs. */
static char *make_chain(unsigned seed)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    double axis[3] = {draw(&seed) - 0.5, draw(&seed) - 0.5, 0.3 + draw(&seed)}, length = 0;
    for (int i = 0; i < 3; i++)
        length = hypot(length, axis[i]);
    fprintf(out, "{\"gravity\": 0, \"bodies\": {");
    for (int k = 1; k <= MASSES; k++)
        fprintf(
            out,
            "%s\"m%d\": {\"mass\": %.6g, \"center\": [%.17g, %.17g, %.17g], \"inertia\": [1, 1, "
            "1]}",
            k > 1 ? ", " : "", k, k % 2 ? 20 + 80 * draw(&seed) : 0.3 + 3 * draw(&seed),
            k * axis[0] / length, k * axis[1] / length, k * axis[2] / length);
    fprintf(out, "}, \"joints\": {");
    for (int k = 1; k <= MASSES; k++)
        fprintf(out,
                "%s\"g%d\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"m%d\"], \"at\": "
                "[%.17g, %.17g, %.17g], \"axis\": [%.17g, %.17g, %.17g], \"initial\": %g}",
                k > 1 ? ", " : "", k, k, k * axis[0] / length, k * axis[1] / length,
                k * axis[2] / length, axis[0], axis[1], axis[2], 1e-3 * (k % 3));
    fprintf(out, "}, \"forces\": {");
    for (int k = 1; k <= MASSES; k++) {
        const double stiff = k % 2 ? 2e3 * (1 + draw(&seed)) : 2e5 * (1 + draw(&seed));
        char from[16];
        snprintf(from, sizeof from, k > 1 ? "\"m%d\"" : "[0, 0, 0]", k - 1);
        fprintf(out,
                "%s\"s%d\": {\"type\": \"spring-damper\", \"from\": %s, \"to\": \"m%d\", "
                "\"stiffness\": %.6g, \"damping\": %.6g}",
                k > 1 ? ", " : "", k, from, k, stiff, 0.02 * sqrt(stiff * (k % 2 ? 50 : 1)));
    }
    fprintf(out, "}, \"run\": {\"t_end\": 1}}");
    fclose(out);
    return text;
}

static bg_problem *open_chain(const char *text, const char *form, const char *partition,
                              double step)
{
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    bg_source *source;
    bg_problem *problem;
    const bg_setting setting = {"integrator.partition", partition};
    assert_ok(bg_source_parse(text, "chain", &source, &err));
    def.source = source;
    def.formulation = form;
    def.integrator = "prk38";
    def.step = step;
    def.settings = &setting;
    def.nsettings = 1;
    assert_ok(bg_problem_create(&def, &problem, &err));
    problem->own = source; /* to be closed with it */
    return problem;
}

/* The least work of a step of h over all subsets of the masses that are stable with it. */
static double find_least_work(const bg_problem *problem, const bg_prk_pair *pair, double h)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys = NULL;
    unsigned char v[MASSES];
    double least = HUGE_VAL, step;
    assert_ok(bg_model_create_system(problem->model, "joint", &sys, &err));
    linearised a = open_system(sys);
    assert_int_equal(a.ev->def.nv, MASSES);
    for (int subset = 1; subset < (1 << MASSES); subset++) {
        int fast = 0;
        for (int i = 0; i < MASSES; i++) {
            v[i] = subset >> i & 1 ? BG_PART_FAST : BG_PART_SLOW;
            fast += subset >> i & 1;
        }
        bg_rates_sort(a.rates, a.l, v, NULL);
        assert_ok(bg_rates_find_step(a.rates, pair, false, false, &step, &err));
        if (step >= 1.02 * h)
            least = fmin(least, pair->nslow * (MASSES - fast) + pair->stages * fast);
    }
    close_system(&a);
    return least;
}

/* Chains at random, in random directions: what is chosen is the same bodies in both forms, needs no
 * more work than the best of all subsets but for one mass, and its motion is that of mdop8. */
static void test_choice(void **state)
{
    (void)state;
    const bg_prk_pair pair = find_pair("prk38");
    int chosen = 0;
    for (unsigned seed = 1; seed <= (SANITIZED ? 2 : 12); seed++) {
        char *text = make_chain(seed);
        const double h = 0.004 + 0.001 * (seed % 4);
        bg_problem *p[2] = {open_chain(text, "joint", "auto", h),
                            open_chain(text, "cartesian", "auto", h)};
        int fast = 0;
        for (int b = 1; b <= MASSES; b++) {
            assert_int_equal(p[0]->model->bodies[b].fast, p[1]->model->bodies[b].fast);
            fast += p[0]->model->bodies[b].fast;
        }
        chosen += fast > 0;
        const double work = fast == 0 ? pair.stages * MASSES
                                      : pair.nslow * (MASSES - fast) + pair.stages * fast;
        const double least = find_least_work(p[0], &pair, h);
        print_message("chain %u: %d fast, work %g, least %g\n", seed, fast, work, least);
        assert_true(least == HUGE_VAL || work <= least + pair.stages - pair.nslow);
        double end[3][MASSES];
        for (int k = 0; k < 3 && least < HUGE_VAL; k++) {
            bg_error err = {BG_OK, ""};
            bg_problem *of = p[k == 2 ? 0 : k];
            bg_run_options o = bg_problem_get_run_options(of);
            bg_run_report r;
            o.skip_comparison = 1;
            o.t_end = 0.2;
            if (k == 2) {
                o.integrator = "mdop8";
                o.method.step = 0;
                o.method.rtol = o.method.atol = 1e-10;
                o.method.nsettings = 0;
            } else {
                o.method.step = 0.2 / ceil(0.2 / (h / 32));
            }
            assert_ok(bg_run(of->system, &o, &r, &err));
            for (int i = 0; i < MASSES; i++) /* how far along the axis, from the places */
                end[k][i] = k == 1 ? r.final->q[7 * i + 2] : r.final->q[i];
            bg_run_report_clear(&r);
        }
        for (int i = 0; i < MASSES && least < HUGE_VAL; i++)
            assert_true(fabs(end[0][i] - end[2][i]) < 1e-5);
        for (int k = 0; k < 2; k++)
            bg_problem_destroy(p[k]);
        free(text);
    }
    assert_true(chosen > (SANITIZED ? 0 : 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planar_vehicle), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_ratio),          cmocka_unit_test(test_groups),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

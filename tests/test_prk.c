/* prk: orders of slow and fast variables on coupled problems, with constraints in either part;
 * evaluations; what is kept of uniform motion and momentum; parts that cannot be told apart. */
#include "integrators/integrator.h"
#include "integrators/prk_pair.h"
#include "model_support.h"

/* x'' = -sin x + (y - x)/2 + y'/20,  y'' = -9 (y - x) - 0.3 (y' - x') - y^3, x slow and y fast. */
static int calc_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double x = p->q[0], y = p->q[1], x_t = p->v[0], y_t = p->v[1];
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f) {
        out->f[0] = -sin(x) + 0.5 * (y - x) + 0.05 * y_t;
        out->f[1] = -9 * (y - x) - 0.3 * (y_t - x_t) - y * y * y;
    }
    return 0;
}

static const unsigned char slow_and_fast[] = {BG_PART_SLOW, BG_PART_FAST};

static bg_system_def define_coupled(void)
{
    static const double q0[] = {0.7, 0.6}, v0[] = {0, 0.1};
    bg_system_def def = bg_default_system_def();
    def.name = "coupled";
    def.nq = def.nv = 2;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = calc_terms;
    def.v_part = slow_and_fast;
    def.q0 = q0;
    def.v0 = v0;
    def.t_end = 2;
    return def;
}

static bg_system *create_def(const bg_system_def *def)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_system_create(def, &sys, &err));
    return sys;
}

/* The end of `steps` steps over t. */
static void follow(bg_system *sys, const char *method, const char *positions, double t, int steps,
                   double *q, double *v)
{
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    bg_setting setting = {"positions", positions};
    bg_state *x;
    bg_integrator *ig;
    bg_assembly_report report;
    const bg_system_def *def = bg_system_get_def(sys);
    o.step = t / steps;
    o.settings = &setting;
    o.nsettings = positions != NULL;
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_state_assemble(sys, x, &report, &err));
    assert_ok(bg_integrator_create(method, sys, &o, &ig, &err));
    assert_ok(bg_integrator_start(ig, x, &report.redundancy, t, &err));
    while (bg_integrator_get_state(ig)->t < t)
        assert_ok(bg_integrator_step(ig, &err));
    memcpy(q, bg_integrator_get_state(ig)->q, (size_t)def->nq * sizeof *q);
    memcpy(v, bg_integrator_get_state(ig)->v, (size_t)def->nv * sizeof *v);
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    bg_assembly_report_clear(&report);
}

/* Errors and orders that an independent computation found (two digits). */
static void test_orders(void **state)
{
    (void)state;
    static const double end[2][2] = {{-0.243690841, -0.3439684393}, {-0.6654114619, -0.6934980272}};
    static const struct {
        const char *name;
        int order, steps;
        double error[2][2]; /* of positions=by-part and =fast, slow and fast; 0: not known */
    } cases[] = {
        {"prk25", 2, 320, {{6.1e-6, 1.6e-5}, {4.1e-6, 1.3e-5}}},
        {"prk25-paper", 2, 320, {{9.5e-6, 1.5e-5}, {2.7e-6, 8.8e-6}}},
        {"prk26", 2, 320, {{0, 0}, {0, 0}}},
        {"prk27", 2, 320, {{0, 0}, {0, 0}}},
        {"prk28", 2, 320, {{6.5e-6, 1.1e-5}, {3.3e-6, 3.5e-6}}},
        {"prk35", 3, 320, {{1.3e-8, 3.0e-8}, {1.2e-8, 5.7e-8}}},
        {"prk36", 3, 320, {{6.3e-9, 5.9e-8}, {5.4e-9, 3.5e-9}}},
        {"prk36b", 3, 320, {{8.8e-9, 2.0e-8}, {3.8e-9, 4.2e-9}}},
        {"prk38", 3, 320, {{9.4e-9, 2.2e-8}, {3.4e-9, 3.8e-9}}},
        {"prk48", 4, 160, {{0, 0}, {0, 0}}},
    };
    const bg_system_def def = define_coupled();
    bg_system *sys = create_def(&def);
    double q[2], v[2], exact[2][2];
    follow(sys, "mdop8", NULL, 2, 2000, exact[0], exact[1]);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            assert_true(fabs(exact[i][k] - end[i][k]) < 1e-9);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int fast = 0; fast < 2; fast++) {
            double error[2][2], order[2];
            for (int half = 0; half < 2; half++) {
                follow(sys, cases[k].name, fast ? "fast" : "by-part", 2, cases[k].steps << half, q,
                       v);
                for (int i = 0; i < 2; i++)
                    error[half][i] = fmax(fabs(q[i] - exact[0][i]), fabs(v[i] - exact[1][i]));
            }
            for (int i = 0; i < 2; i++)
                order[i] = log2(error[0][i] / error[1][i]);
            print_message("%-12s %-8s %.2e %.2e, orders %.3f %.3f\n", cases[k].name,
                          fast ? "fast" : "by-part", error[0][0], error[0][1], order[0], order[1]);
            for (int i = 0; i < 2; i++) {
                double known = cases[k].error[fast][i];
                assert_true(known == 0 || fabs(error[0][i] / known - 1) < 0.04);
                assert_true(fabs(order[i] - cases[k].order) < 0.05 * cases[k].order);
            }
        }
    bg_system_destroy(sys);
}

typedef struct constrained {
    const char *rod;  /* of the fast mass, too */
    double end[2][2]; /* of bob and mass; 0: not known */
} constrained;

/* Constraints in the slow part, and in both. */
static void test_constrained_orders(void **state)
{
    (void)state;
    static const constrained cases[] = {
        {"0", {{0.7943056748, -0.6075183083}, {0.7823001816, -0.6093047932}}}, {"1", {{0}}}};
    static const struct {
        const char *name;
        int order, steps;
    } methods[] = {{"prk25", 2, 1600},
                   {"prk28", 2, 1600},
                   {"prk36", 3, 1600},
                   {"prk38", 3, 1600},
                   {"prk48", 4, 800}};
    for (int c = 0; c < 2; c++) {
        bg_system *sys = create_system("equations:fast-pendulum", "rod", cases[c].rod);
        double exact[4], speed[4], q[4], v[4];
        follow(sys, "mdop8", NULL, 2, 2000, exact, speed);
        for (int i = 0; i < 4; i++)
            assert_true(cases[c].end[i / 2][i % 2] == 0 ||
                        fabs(exact[i] - cases[c].end[i / 2][i % 2]) < 2e-10);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            for (int fast = 0; fast < 2; fast++) {
                double error[2][2] = {{0}};
                for (int half = 0; half < 2; half++) {
                    follow(sys, methods[k].name, fast ? "fast" : "by-part", 2,
                           methods[k].steps << half, q, v);
                    for (int i = 0; i < 4; i++)
                        error[half][i / 2] = fmax(
                            error[half][i / 2], fmax(fabs(q[i] - exact[i]), fabs(v[i] - speed[i])));
                }
                double slow = log2(error[0][0] / error[1][0]),
                       two = log2(error[0][1] / error[1][1]);
                print_message("rod %s %-12s %-8s %.1e %.1e, orders %.3f %.3f\n", cases[c].rod,
                              methods[k].name, fast ? "fast" : "by-part", error[0][0], error[0][1],
                              slow, two);
                double allowed = 0.05 * methods[k].order;
                assert_true(fabs(slow - methods[k].order) < allowed);
                assert_true(fabs(two - methods[k].order) < allowed);
            }
        bg_system_destroy(sys);
    }
}

/* Evaluations are those of the tableau, and as announced. */
static void test_evaluations(void **state)
{
    (void)state;
    static const char *const systems[][2] = {{"equations:two-masses", NULL},
                                             {"equations:fast-pendulum", "0"},
                                             {"equations:fast-pendulum", "1"}};
    enum { STEPS = 50 };
    bg_error err = {BG_OK, ""};
    for (int s = 0; s < 3; s++)
        for (int k = 0; bg_prk_pair_get_name(k); k++) {
            bg_system *sys = create_system(systems[s][0], systems[s][1] ? "rod" : NULL,
                                           systems[s][1]);
            bg_integrator_options o = bg_default_integrator_options();
            bg_setting settings[] = {{"pair", bg_prk_pair_get_name(k)}, {"projection", "once"}};
            bg_prk_pair p;
            bg_state *x;
            bg_integrator *ig;
            bg_step_plan plan;
            bg_prk_pair_find(settings[0].value, &p);
            o.step = 1e-4;
            o.settings = settings;
            o.nsettings = 2;
            assert_ok(bg_state_create(sys, &x, &err));
            assert_ok(bg_state_assemble(sys, x, NULL, &err));
            assert_ok(bg_integrator_create("prk", sys, &o, &ig, &err));
            assert_ok(bg_integrator_start(ig, x, NULL, 1, &err));
            assert_true(bg_integrator_get_plan(ig, &plan));
            bg_counters before = bg_integrator_get_counters(ig);
            for (int n = 0; n < STEPS; n++)
                assert_ok(bg_integrator_step(ig, &err));
            bg_counters after = bg_integrator_get_counters(ig);
            bg_work a = bg_counters_sum_steps(&before), b = bg_counters_sum_steps(&after);
            assert_int_equal(b.slow - a.slow, STEPS * p.nslow);
            assert_int_equal(b.fast - a.fast, STEPS * p.stages);
            assert_int_equal(after.rows.slow - before.rows.slow, p.slow[0] ? 0 : STEPS);
            assert_int_equal(plan.slow, p.nslow);
            assert_int_equal(plan.fast, p.stages);
            assert_int_equal(b.terms + b.constraints - a.terms - a.constraints, STEPS * plan.terms);
            assert_int_equal(b.explicit_ - a.explicit_, STEPS * plan.explicit_);
            assert_int_equal(b.factorisations - a.factorisations, STEPS * plan.factorisations);
            assert_int_equal(b.projections - a.projections, STEPS * plan.projections);
            if (s == 0) { /* whole evaluations are those of slow stages, and of the end */
                assert_int_equal(plan.explicit_, p.stages);
            }
            bg_integrator_destroy(ig);
            bg_state_destroy(x);
            bg_system_destroy(sys);
        }
}

/* Work of n steps of a method beside its plan. */
static void compare_with_plan(bg_system *sys, const char *method, const char *projection,
                              const char *what)
{
    enum { STEPS = 40 };
    bg_error err = {BG_OK, ""};
    trajectory x;
    bg_step_plan plan;
    trajectory_begin(&x, sys, method, projection, 1e-6, 1e-4, 1);
    assert_true(bg_integrator_get_plan(x.ig, &plan));
    bg_counters before = bg_integrator_get_counters(x.ig);
    for (int n = 0; n < STEPS; n++)
        assert_ok(bg_integrator_step(x.ig, &err));
    bg_counters after = bg_integrator_get_counters(x.ig);
    bg_work a = bg_counters_sum_steps(&before), b = bg_counters_sum_steps(&after);
    const long done[] = {b.terms + b.constraints - a.terms - a.constraints,
                         b.explicit_ - a.explicit_,
                         b.factorisations - a.factorisations,
                         b.projections - a.projections,
                         b.slow - a.slow,
                         b.fast - a.fast};
    const int planned[] = {plan.terms,       plan.explicit_, plan.factorisations,
                           plan.projections, plan.slow,      plan.fast};
    for (int k = 0; k < 6; k++)
        if (done[k] != STEPS * (long)planned[k])
            fail_msg("%s %s %s: %ld instead of %d of kind %d in a step", what, method, projection,
                     done[k] / STEPS, planned[k], k);
    trajectory_end(&x);
}

/* rk2 and prk on systems of one rate: the work is as announced, in all forms. */
static void test_plans(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:pendulum", "equations:car-axle",
                                          "equations:chain", "equations:slider-crank"};
    static const char *const models[] = {"four-bar", "gyroscope", "double-wishbone"};
    static const char *const projections[] = {"none", "velocity", "once"};
    for (int p = 0; p < 3; p++)
        for (int m = 0; m < 2; m++) {
            const char *method = m ? "prk36" : "rk2";
            for (int k = 0; k < 4; k++) {
                bg_system *sys = create_system(systems[k], NULL, NULL);
                compare_with_plan(sys, method, projections[p], systems[k]);
                bg_system_destroy(sys);
            }
            for (int k = 0; k < 6; k++) {
                bg_error err = {BG_OK, ""};
                bg_model *model;
                bg_system *sys;
                char path[256];
                snprintf(path, sizeof path, "%s/models/%s.json", BOGIE_SOURCE_DIR, models[k / 2]);
                assert_ok(bg_model_read(path, NULL, 0, &model, &err));
                assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
                compare_with_plan(sys, method, projections[p], path);
                bg_system_destroy(sys);
                bg_model_destroy(model);
            }
        }
}

/* How far the slow mass is from where it should be, and what becomes of the momentum. */
static void run_masses(const char *method, const char *positions, const char *stretch, double *away,
                       double *momentum)
{
    bg_system *sys = create_system("equations:two-masses", "stretch", stretch);
    double q[2], v[2];
    follow(sys, method, positions, 5, 500, q, v);
    *away = fabs(q[0] - 50);
    *momentum = fabs((50 * v[0] + 5 * v[1]) / 550 - 1);
    bg_system_destroy(sys);
}

/* Two free masses with a stiff spring, h = 0.01 s (h omega_f = 1.48), 5 s at 10 m/s. */
static void test_invariants(void **state)
{
    (void)state;
    for (int k = 0; bg_prk_pair_get_name(k); k++)
        for (int fast = 0; fast < 2; fast++) {
            const char *name = bg_prk_pair_get_name(k), *positions = fast ? "fast" : "by-part";
            bg_prk_pair p;
            double away, momentum, unused;
            bg_prk_pair_find(name, &p);
            if (strncmp(name, "prk", 3) != 0)
                continue; /* unstable with this step */
            run_masses(name, positions, "0", &away, &unused);
            run_masses(name, positions, "0.001", &unused, &momentum);
            print_message("%-12s %-8s away by %.2g m, momentum by %.2g\n", name, positions, away,
                          momentum);
            if (p.equal_abscissae || fast)
                assert_true(away < 50 * 1e-12);
            if (p.equal_weights)
                assert_true(momentum < 1e-12);
            if (strcmp(name, "prk25-paper") == 0 && !fast)
                assert_true(fabs(away - 31.7) < 0.05 && fabs(momentum - 1.26) < 0.005);
            if (strcmp(name, "prk25-paper") == 0 && fast)
                assert_true(fabs(momentum / 2.2e-4 - 1) < 0.03);
        }
}

/* A force on both in proportion to their masses: uniformly accelerated, and nothing is loaded. */
static int calc_falling(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double m[] = {50, 5}, F = 1e5 * (p->q[1] - p->q[0]) + 100 * (p->v[1] - p->v[0]);
    (void)self;
    for (int i = 0; i < 2; i++) {
        if (want & BG_TERM_M)
            out->M[3 * i] = m[i];
        if (want & BG_TERM_f)
            out->f[i] = (i == 0 ? F : -F) - m[i] * 9.81;
    }
    return 0;
}

static void test_acceleration(void **state)
{
    (void)state;
    bg_system_def def = define_coupled();
    static const double zeros[2] = {0, 0}, v0[2] = {10, 10};
    def.terms = calc_falling;
    def.q0 = zeros;
    def.v0 = v0;
    bg_system *sys = create_def(&def);
    double q[2], v[2];
    for (int k = 0; bg_prk_pair_get_name(k); k++) {
        bg_prk_pair p;
        const char *name = bg_prk_pair_get_name(k);
        bg_prk_pair_find(name, &p);
        if (strncmp(name, "prk", 3) != 0)
            continue;
        follow(sys, name, "fast", 2, 200, q, v);
        double error = fmax(fabs(q[0] - (20 - 2 * 9.81)), fabs(q[1] - q[0]));
        print_message("%-12s falls right to %.1e m\n", name, error);
        assert_true(p.equal_abscissae ? error < 1e-12 : error > 1e-6);
    }
    bg_system_destroy(sys);
}

static const unsigned char all_fast[] = {BG_PART_FAST, BG_PART_FAST};
static const unsigned char all_slow[] = {BG_PART_SLOW, BG_PART_SLOW};

static int calc_coupled_masses(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    calc_terms(self, p, want, out);
    if (want & BG_TERM_M)
        out->M[1] = out->M[2] = 0.1 * sin(p->q[0]); /* zero at the origin */
    if (want & BG_TERM_g)
        out->g[0] = p->q[0] - p->q[1] - 0.1;
    return 0;
}

static void check_refused(const bg_system_def *def, const char *said)
{
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig = NULL;
    bg_system *sys = create_def(def);
    o.step = 0.01;
    assert_int_equal(bg_integrator_create("prk38", sys, &o, &ig, &err), BG_BAD_INPUT);
    assert_null(ig);
    if (!strstr(err.text, said))
        fail_msg("'%s' does not say '%s'", err.text, said);
    bg_system_destroy(sys);
}

/* Parts that are none, and what couples them. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const v_names[] = {"x_dot", "y_dot"}, *const g_names[] = {"link"};
    static const int start[] = {0, 2}, column[] = {0, 1};
    static const bg_pattern row = {1, 2, start, column};
    static const double zeros[2] = {0, 0};
    bg_system_def def = define_coupled();
    def.v_names = v_names;
    def.g_names = g_names;
    def.v_part = all_fast;
    check_refused(&def, "everything that moves in system 'coupled' is marked as fast");
    def.v_part = all_slow;
    check_refused(&def, "the fast part of system 'coupled' is empty");
    def.v_part = slow_and_fast;
    def.q0 = zeros;
    def.terms = calc_coupled_masses;
    check_refused(&def, "a mass couples 'x_dot' of the slow part with 'y_dot'");
    def.terms = calc_coupled_masses;
    def.ng = 1;
    def.supplied |= BG_TERM_g;
    check_refused(&def, "constraint 'link' of the slow part also acts on 'y_dot', which is fast");
    def.pattern_G = &row;
    check_refused(&def, "constraint 'link' of the slow part also acts on 'y_dot', which is fast");
    def.f_of_lambda = 1;
    check_refused(&def, "depend on its reactions");
}

/* A system that tells no parts apart runs with the fast tableau, and says so. */
static void test_one_rate(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system_def def = define_coupled();
    def.v_part = NULL;
    bg_system *sys = create_def(&def);
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig;
    char text[256];
    o.step = 0.01;
    assert_ok(bg_integrator_create("prk38", sys, &o, &ig, &err));
    bg_integrator_describe(ig, text, sizeof text);
    assert_non_null(strstr(text, "nothing is marked as fast"));
    bg_integrator_destroy(ig);
    bg_system_destroy(sys);
}

/* One problem in several dresses: x slow, y fast, a slow state and a fast one, an input, all
 * coupled; positions in units of their own, q = scale x. */
typedef struct dress {
    double scale[2];
    bool kinematic, accelerates, by_part, patterns;
    long whole, fast; /* evaluations of everything, and of the fast part alone */
} dress;

static void calc_motion(const dress *s, const bg_point *p, double a[2], double z_t[2])
{
    const double x = p->q[0] / s->scale[0], y = p->q[1] / s->scale[1], *v = p->v, *z = p->z;
    a[0] = -sin(x) + 0.5 * (y - x) + 0.05 * v[1] + 0.3 * z[1] + p->u[0];
    a[1] = -9 * (y - x) - 0.3 * (v[1] - v[0]) - y * y * y + 0.2 * z[0] - 0.1 * z[1];
    z_t[0] = -z[0] + x * v[1];
    z_t[1] = -4 * z[1] + y + 0.1 * z[0] + p->u[0];
}

/* Entries of other parts than asked for are spoilt. */
static int dressed_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    dress *s = self;
    double a[2], z_t[2];
    const bool slow = p->part == 0 || (p->part & BG_PART_SLOW);
    calc_motion(s, p, a, z_t);
    if (want & BG_TERM_f) {
        s->whole += slow;
        s->fast += !slow;
    }
    if (want & BG_TERM_M) {
        out->M[0] = slow ? 2 : NAN;
        out->M[s->patterns ? 1 : 3] = 0.5;
    }
    if (want & BG_TERM_f) {
        out->f[0] = slow ? 2 * a[0] : NAN;
        out->f[1] = 0.5 * a[1];
    }
    if (want & BG_TERM_h) {
        out->h[0] = slow ? z_t[0] : NAN;
        out->h[1] = z_t[1];
    }
    if (want & BG_TERM_V)
        for (int i = 0; i < 2; i++)
            out->V[s->patterns ? i : 3 * i] = s->scale[i];
    return 0;
}

static int dressed_part(void *self, const bg_point *p, unsigned part, const double *lambda,
                        double *a, double *z_t)
{
    dress *s = self;
    double all[2], rates[2];
    (void)lambda;
    s->fast += part == BG_PART_FAST;
    s->whole += part != BG_PART_FAST;
    calc_motion(self, p, all, rates);
    for (int i = 0; i < 2; i++)
        if (part & slow_and_fast[i]) {
            a[i] = all[i];
            z_t[i] = rates[i];
        }
    return 0;
}

static int dressed_acceleration(void *self, const bg_point *p, const double *lambda, double *a)
{
    double z_t[2];
    (void)lambda;
    ((dress *)self)->whole++;
    calc_motion(self, p, a, z_t);
    return 0;
}

static int calc_inputs(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt)
{
    (void)self;
    (void)mode;
    u[0] = 0.3 * sin(3 * t);
    u_t[0] = 0.9 * cos(3 * t);
    u_tt[0] = -2.7 * sin(3 * t);
    return 0;
}

static void follow_dressed(dress *s, const unsigned char *v_part, const char *method,
                           const char *positions, int steps, double *q, double *v)
{
    static const int start[] = {0, 1, 2}, column[] = {0, 1};
    static const bg_pattern diagonal = {2, 2, start, column};
    const double q0[] = {0.7 * s->scale[0], 0.6 * s->scale[1]}, v0[] = {0, 0.1}, z0[] = {0.2, -0.3};
    bg_system_def def = bg_default_system_def();
    def.name = "dressed";
    def.nq = def.nv = def.nz = 2;
    def.nu = 1;
    def.self = s;
    def.inputs = calc_inputs;
    def.supplied = BG_TERM_h | (s->kinematic ? BG_TERM_V : 0u) | BG_TERM_M | BG_TERM_f;
    def.terms = dressed_terms;
    def.accelerate = s->accelerates ? dressed_acceleration : NULL;
    def.accelerate_part = s->by_part ? dressed_part : NULL;
    def.v_part = v_part;
    def.z_part = slow_and_fast;
    def.q0 = q0;
    def.v0 = v0;
    def.z0 = z0;
    if (s->patterns)
        def.pattern_M = &diagonal;
    if (s->patterns && s->kinematic)
        def.pattern_V = &diagonal;
    bg_system *sys = create_def(&def);
    follow(sys, method, positions, 2, steps, q, v);
    bg_system_destroy(sys);
    for (int i = 0; i < 2; i++)
        q[i] /= s->scale[i];
}

/* What the functions of a system are called for, by their own count. */
static void test_calls(void **state)
{
    (void)state;
    double q[2], v[2];
    for (int k = 0; bg_prk_pair_get_name(k); k++)
        for (int dressed = 0; dressed < 2; dressed++) { /* by terms, by accelerations of parts */
            dress s[2];
            bg_prk_pair p;
            const char *name = bg_prk_pair_get_name(k);
            if (strncmp(name, "prk", 3) != 0)
                continue;
            bg_prk_pair_find(name, &p);
            for (int n = 0; n < 2; n++) {
                s[n] = (dress){.scale = {1, 1}, .accelerates = dressed, .by_part = dressed};
                follow_dressed(&s[n], slow_and_fast, name, NULL, n ? 200 : 100, q, v);
            }
            /* a pair whose first stage is not slow: one more evaluation, for rows */
            assert_int_equal(s[1].whole - s[0].whole, 100 * (p.nslow + !p.slow[0]));
            assert_int_equal(s[1].fast - s[0].fast, 100 * (p.stages - p.nslow - !p.slow[0]));
        }
}

/* However a system offers its fast part, the motion is the same, and of the order of the pair with
 * states and inputs; terms of the slow part are not looked at where they are not asked for. */
static void test_dresses(void **state)
{
    (void)state;
    double exact[2][2], q[2], v[2], first[2][2];
    dress plain = {.scale = {1, 1}};
    follow_dressed(&plain, slow_and_fast, "mdop8", NULL, 2000, exact[0], exact[1]);
    for (int k = 0; k < 32; k++) {
        dress s = {{1, 1}, k & 1, k & 2, k & 4, k & 8, 0, 0};
        if (s.kinematic)
            s.scale[0] = 3, s.scale[1] = 0.25;
        follow_dressed(&s, slow_and_fast, "prk38", k & 16 ? "by-part" : "fast", 200, q, v);
        if (k % 16 == 0) {
            memcpy(first[0], q, sizeof q);
            memcpy(first[1], v, sizeof v);
        }
        /* of a V without a pattern all coordinates count as fast */
        bool other = (k & 16) && s.kinematic && !s.patterns;
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(q[i] - first[0][i]) < (other ? 1e-5 : 1e-13));
            assert_true(fabs(v[i] - first[1][i]) < (other ? 1e-5 : 1e-13));
        }
    }
    for (int k = 0; k < 4; k++) { /* states alone may be fast, too; and every order */
        static const struct {
            const char *name;
            int order;
        } cases[] = {{"prk28", 2}, {"prk38", 3}, {"prk48", 4}, {"prk25-paper", 2}};
        for (int only = 0; only < 2; only++) {
            double error[2] = {0, 0};
            for (int half = 0; half < 2; half++) {
                follow_dressed(&plain, only ? NULL : slow_and_fast, cases[k].name, NULL,
                               100 << half, q, v);
                for (int i = 0; i < 2; i++)
                    error[half] = fmax(error[half],
                                       fmax(fabs(q[i] - exact[0][i]), fabs(v[i] - exact[1][i])));
            }
            double order = log2(error[0] / error[1]);
            print_message("%-12s %s %.1e, order %.3f\n", cases[k].name,
                          only ? "fast states alone" : "", error[0], order);
            assert_true(fabs(order - cases[k].order) < 0.06 * cases[k].order);
        }
    }
}

/* The balance of work and energy has the order of the pair; with weights that differ it shows what
 * is lost. */
static void test_balance(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least;
    } cases[] = {{"prk38", 2.8}, {"prk48", 3.8}, {"prk28", 1.8}};
    for (int k = 0; k < 3; k++) {
        double error[2];
        for (int half = 0; half < 2; half++) {
            bg_error err = {BG_OK, ""};
            bg_system *sys = create_system("equations:fast-pendulum", NULL, NULL);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.integrator = cases[k].name;
            o.method.step = half ? 0.0025 : 0.005;
            o.skip_comparison = 1;
            assert_ok(bg_run(sys, &o, &r, &err));
            error[half] = r.certificate.energy_error;
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
        print_message("%-8s energy %.1e, order %.2f\n", cases[k].name, error[0],
                      log2(error[0] / error[1]));
        assert_true(log2(error[0] / error[1]) > cases[k].least);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),       cmocka_unit_test(test_constrained_orders),
        cmocka_unit_test(test_evaluations),  cmocka_unit_test(test_invariants),
        cmocka_unit_test(test_acceleration), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_one_rate),     cmocka_unit_test(test_balance),
        cmocka_unit_test(test_dresses),      cmocka_unit_test(test_calls),
        cmocka_unit_test(test_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

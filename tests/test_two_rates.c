/* Slow and fast parts of a system: every way to offer them gives the same motion, with the calls
 * and the work that were announced; redundant rows of the fast part; what couples parts is refused.
 */
#include "integrators/integrator.h"
#include "integrators/prk_pair.h"
#include "prk_support.h"

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

/* A slow mass with a spring to a fast pendulum, whose rod stands in one row or in two, by patterns
 * or full. */
typedef struct rods {
    int rows;
    bool patterns;
} rods;

static int calc_rods(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const rods *s = self;
    const double *q = p->q, *v = p->v, F = 20 * (q[1] - q[0]);
    const double mass[] = {1, 0.05, 0.05};
    for (int i = 0; i < 3 && (want & BG_TERM_M); i++)
        out->M[s->patterns ? i : 4 * i] = mass[i];
    if (want & BG_TERM_f) {
        out->f[0] = F - 3 * q[0];
        out->f[1] = -F;
        out->f[2] = -0.05 * 9.81;
    }
    for (int k = 0; k < s->rows; k++) {
        double *G = out->G + (s->patterns ? 2 * k : 3 * k + 1);
        if (want & BG_TERM_g)
            out->g[k] = 0.5 * (1 + k) * (q[1] * q[1] + q[2] * q[2] - 1);
        if (want & BG_TERM_G) {
            G[0] = (1 + k) * q[1];
            G[1] = (1 + k) * q[2];
        }
        if (want & BG_TERM_gamma)
            out->gamma[k] = (1 + k) * (v[1] * v[1] + v[2] * v[2]);
    }
    return 0;
}

/* A row of the fast part that depends on another is left out of its matrix as of the whole one. */
static void test_redundant(void **state)
{
    (void)state;
    static const int diagonal[] = {0, 1, 2, 3}, G_start[] = {0, 2, 4}, G_column[] = {1, 2, 1, 2};
    static const unsigned char v_part[] = {BG_PART_SLOW, BG_PART_FAST, BG_PART_FAST};
    static const unsigned char g_part[] = {BG_PART_FAST, BG_PART_FAST};
    static const double q0[] = {0.1, 0.6, -0.8}, v0[] = {0, 0.4, 0.3};
    double q[4][3], v[4][3];
    for (int k = 0; k < 4; k++) {
        rods s = {1 + k % 2, k / 2};
        const bg_pattern M = {3, 3, diagonal, diagonal}, G = {s.rows, 3, G_start, G_column};
        bg_system_def def = bg_default_system_def();
        def.name = "rods";
        def.nq = def.nv = 3;
        def.ng = s.rows;
        def.scleronomic = 1;
        def.self = &s;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
        def.terms = calc_rods;
        def.v_part = v_part;
        def.g_part = g_part;
        def.q0 = q0;
        def.v0 = v0;
        def.pattern_M = s.patterns ? &M : NULL;
        def.pattern_G = s.patterns ? &G : NULL;
        bg_system *sys = create_def(&def);
        follow(sys, "prk38", NULL, 1, 200, q[k], v[k]);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(q[k][i] - q[0][i]) < 1e-12);
            assert_true(fabs(v[k][i] - v[0][i]) < 1e-12);
        }
        if (k == 0) {
            double exact[3], speed[3], fine[3], error[2] = {0, 0};
            follow(sys, "mdop8", NULL, 1, 1000, exact, speed);
            follow(sys, "prk38", NULL, 1, 400, fine, speed);
            for (int i = 0; i < 3; i++) {
                error[0] = fmax(error[0], fabs(q[0][i] - exact[i]));
                error[1] = fmax(error[1], fabs(fine[i] - exact[i]));
            }
            assert_true(error[0] > 1e-6 && fabs(log2(error[0] / error[1]) - 3) < 0.15);
        }
        bg_system_destroy(sys);
    }
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
    static const unsigned char wrong[] = {BG_PART_SLOW, BG_PART_SLOW | BG_PART_FAST};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    def.v_part = wrong;
    assert_int_equal(bg_system_create(&def, &sys, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "v_part[1] is 3; give BG_PART_SLOW or BG_PART_FAST"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans), cmocka_unit_test(test_dresses), cmocka_unit_test(test_calls),
        cmocka_unit_test(test_redundant), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

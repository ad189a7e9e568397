/* bg_system: what creation refuses and how it says so, names, terms by differences against analytic
 * ones in every combination that a definition may leave out, and the search for numbers that are
 * not finite. */
#include "sample_systems.h"
#include "system/dynamics.h"

/* A definition with one of everything. self counts the calls of destroy. */
static int complete_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    (void)p;
    (void)want;
    (void)out;
    return 0;
}

static int complete_inputs(void *self, double t, const int *mode, double *u, double *u_t,
                           double *u_tt)
{
    (void)mode;
    (void)self;
    u[0] = t;
    u_t[0] = 1;
    u_tt[0] = 0;
    return 0;
}

static int complete_outputs(void *self, const bg_point *p, const double *a, const double *lambda,
                            double *y)
{
    (void)self;
    (void)p;
    (void)a;
    (void)lambda;
    y[0] = 0;
    return 0;
}

static int complete_derivatives(void *self, const bg_point *p, const double *a,
                                const double *lambda, bg_derivatives *out)
{
    (void)self;
    (void)p;
    (void)a;
    (void)lambda;
    (void)out;
    return 0;
}

static int complete_accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    (void)self;
    (void)p;
    (void)lambda;
    a[0] = a[1] = 0;
    return 0;
}

static void count_destroy(void *self)
{
    ++*(int *)self;
}

static bg_system_def complete_define(int *destroyed)
{
    bg_system_def def = bg_default_system_def();
    def.name = "complete";
    def.nq = def.nv = 2;
    def.nz = def.ng = def.nu = def.ns = def.ny = def.nmode = 1;
    def.self = destroyed;
    def.destroy = count_destroy;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_h | BG_TERM_s;
    def.terms = complete_terms;
    def.inputs = complete_inputs;
    def.outputs = complete_outputs;
    return def;
}

/* Creation fails with the status, says each of the parts, names the system, and destroys self once.
 */
static void check_refused(const bg_system_def *def, bg_status status, const char *part,
                          const char *other)
{
    int *destroyed = def->self;
    bg_system *sys = (bg_system *)destroyed;
    bg_error err = {BG_OK, ""};
    *destroyed = 0;
    assert_int_equal(bg_system_create(def, &sys, &err), status);
    assert_int_equal(err.status, status);
    assert_null(sys);
    assert_int_equal(*destroyed, 1);
    if (!strstr(err.text, part) || !strstr(err.text, other) || !strstr(err.text, "'complete'"))
        fail_msg("\"%s\" does not name '%s' and '%s'", err.text, part, other);
    assert_int_equal(bg_system_create(def, &sys, NULL), status); /* err may be NULL */
    assert_int_equal(*destroyed, 2);
}

static void test_complete_is_accepted(void **state)
{
    (void)state;
    int destroyed = 0;
    bg_system_def def = complete_define(&destroyed);
    bg_system *sys = sample_create(&def);
    assert_int_equal(bg_system_get_def(sys)->nz, 1);
    assert_int_equal(destroyed, 0);
    bg_system_destroy(sys);
    assert_int_equal(destroyed, 1);
    bg_system_destroy(NULL);

    def.destroy = NULL; /* optional, as is the name */
    def.name = NULL;
    sys = sample_create(&def);
    assert_string_equal(bg_system_get_def(sys)->name, "system");
    bg_system_destroy(sys);
    assert_int_equal(destroyed, 1);
}

static void test_bad_dimensions(void **state)
{
    (void)state;
    int destroyed;
    static const char *const names[] = {"nq", "nv", "nz", "ng", "nu", "ns", "ny", "nmode"};
    for (int i = 0; i < 8; i++) {
        bg_system_def def = complete_define(&destroyed);
        int *const dimensions[] = {&def.nq, &def.nv, &def.nz, &def.ng,
                                   &def.nu, &def.ns, &def.ny, &def.nmode};
        *dimensions[i] = -1;
        check_refused(&def, BG_BAD_INPUT, names[i], "= -1");
        *dimensions[i] = 1000001;
        check_refused(&def, BG_BAD_INPUT, names[i], "= 1000001");
    }
    bg_system_def def = complete_define(&destroyed);
    def.nq = 1;
    check_refused(&def, BG_BAD_INPUT, "nq = 1", "nv = 2");
    def.nq = def.nv = 100000; /* 8e10 bytes of M */
    check_refused(&def, BG_BAD_INPUT, "nv = 100000", "pattern_M");
}

static void test_missing_terms(void **state)
{
    (void)state;
    int destroyed;
    static const struct {
        unsigned term;
        const char *part, *other;
    } cases[] = {{BG_TERM_M, "mass matrix M", "BG_TERM_M"},
                 {BG_TERM_f, "forces f", "BG_TERM_f"},
                 {BG_TERM_g, "constraints g", "BG_TERM_g"},
                 {BG_TERM_h, "rates h", "BG_TERM_h"},
                 {BG_TERM_s, "switching functions s", "BG_TERM_s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_system_def def = complete_define(&destroyed);
        def.supplied &= ~cases[i].term;
        check_refused(&def, BG_MISSING, cases[i].part, cases[i].other);
    }
    bg_system_def def = complete_define(&destroyed);
    def.nq = 3;
    check_refused(&def, BG_MISSING, "kinematic matrix V", "BG_TERM_V");
    def = complete_define(&destroyed);
    def.terms = NULL; /* then nothing is supplied, whatever `supplied` says */
    check_refused(&def, BG_MISSING, "mass matrix M", "`terms`");
}

static void test_missing_functions(void **state)
{
    (void)state;
    int destroyed;
    bg_system_def def = complete_define(&destroyed);
    def.inputs = NULL;
    check_refused(&def, BG_MISSING, "`inputs`", "nu");
    def = complete_define(&destroyed);
    def.outputs = NULL;
    check_refused(&def, BG_MISSING, "`outputs`", "ny");
    def = complete_define(&destroyed);
    def.derivative_supplied[BG_OF_h][BG_BY_z] = 1;
    check_refused(&def, BG_MISSING, "`derivatives`", "supplied");
    def.derivatives = complete_derivatives;
    bg_system_destroy(sample_create(&def));

    /* an explicit formalism stands in for M and f, but not where there are constraints */
    def = complete_define(&destroyed);
    def.supplied &= ~(unsigned)(BG_TERM_M | BG_TERM_f);
    def.accelerate = complete_accelerate;
    check_refused(&def, BG_MISSING, "mass matrix M", "BG_TERM_M");
    def.ng = 0;
    bg_system_destroy(sample_create(&def));
}

static void test_bad_patterns(void **state)
{
    (void)state;
    int destroyed;
    static const int good[] = {0, 1, 2}, late[] = {1, 1, 2}, falling[] = {0, 2, 1},
                     two[] = {0, 2, 2};
    static const int diagonal[] = {0, 1}, outside[] = {0, 2}, negative[] = {-1, 1},
                     twice[] = {1, 1}, descending[] = {1, 0};
    static const bg_pattern bad[] = {{1, 2, good, diagonal},    {2, 3, good, diagonal},
                                     {2, 2, NULL, diagonal},    {2, 2, late, diagonal},
                                     {2, 2, good, outside},     {2, 2, good, negative},
                                     {2, 2, falling, diagonal}, {2, 2, two, twice},
                                     {2, 2, two, descending},   {2, 2, good, NULL}};
    static const bg_pattern right = {2, 2, good, diagonal};
    bg_system_def def = complete_define(&destroyed);
    def.pattern_M = &right;
    bg_system_destroy(sample_create(&def));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        def = complete_define(&destroyed);
        def.pattern_M = &bad[i];
        check_refused(&def, BG_BAD_INPUT, "pattern of M ", "2 x 2");
        def = complete_define(&destroyed);
        def.pattern[BG_OF_r][BG_BY_v] = &bad[i];
        check_refused(&def, BG_BAD_INPUT, "pattern of dr/dv ", "2 x 2");
    }
    def = complete_define(&destroyed);
    def.pattern_G = &right;
    check_refused(&def, BG_BAD_INPUT, "pattern of G ", "1 x 2");
    static const bg_pattern wide = {2, 3, good, diagonal};
    def = complete_define(&destroyed);
    def.pattern_V = &wide;
    check_refused(&def, BG_BAD_INPUT, "pattern of V ", "2 x 2");
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++) {
            static const int empty[8] = {0};
            static const bg_pattern large = {7, 7, empty, NULL};
            def = complete_define(&destroyed);
            def.pattern[of][by] = &large;
            check_refused(&def, BG_BAD_INPUT, bg_block_get_name((bg_of)of, (bg_by)by), "pattern");
        }
}

static void test_bad_start_values(void **state)
{
    (void)state;
    int destroyed;
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        const double q0[2] = {0, bad[i]}, v0[2] = {bad[i], 0}, z0[1] = {bad[i]};
        bg_system_def def = complete_define(&destroyed);
        def.q0 = q0;
        check_refused(&def, BG_BAD_INPUT, "q[1]", "finite");
        def = complete_define(&destroyed);
        def.v0 = v0;
        check_refused(&def, BG_BAD_INPUT, "v[0]", "finite");
        def = complete_define(&destroyed);
        def.z0 = z0;
        check_refused(&def, BG_BAD_INPUT, "z[0]", "finite");
        def = complete_define(&destroyed);
        def.t_start = bad[i];
        check_refused(&def, BG_BAD_INPUT, "t_start", "finite");
        def = complete_define(&destroyed);
        def.t_end = bad[i];
        check_refused(&def, BG_BAD_INPUT, "t_end", "finite");
    }
}

static void test_names(void **state)
{
    (void)state;
    int destroyed;
    static const char *const q_names[] = {"left", NULL}, *const one[] = {"only"};
    bg_system_def def = complete_define(&destroyed);
    def.q_names = q_names;
    def.g_names = def.s_names = one;
    bg_system *sys = sample_create(&def);
    char buffer[32];
    assert_string_equal(bg_system_get_name(sys, 'q', 0, buffer, sizeof buffer), "left");
    assert_string_equal(bg_system_get_name(sys, 'q', 1, buffer, sizeof buffer), "q[1]");
    assert_string_equal(bg_system_get_name(sys, 'v', 1, buffer, sizeof buffer), "v[1]");
    assert_string_equal(bg_system_get_name(sys, 'g', 0, buffer, sizeof buffer), "only");
    assert_string_equal(bg_system_get_name(sys, 'z', 0, buffer, sizeof buffer), "z[0]");
    assert_string_equal(bg_system_get_name(sys, 'u', 0, buffer, sizeof buffer), "u[0]");
    assert_string_equal(bg_system_get_name(sys, 'y', 0, buffer, sizeof buffer), "y[0]");
    assert_string_equal(bg_system_get_event_name(sys, 0), "only");
    bg_system_destroy(sys);
    def.s_names = NULL;
    sys = sample_create(&def);
    assert_string_equal(bg_system_get_event_name(sys, 0), "s[0]");
    bg_system_destroy(sys);
    /* names go to terminals */
    static const char *const obeyed[] = {"bell\a", "second\033[2J"};
    for (int k = 0; k < 7; k++) {
        def = complete_define(&destroyed);
        const char *const **lists[] = {&def.q_names, &def.v_names, &def.z_names, &def.g_names,
                                       &def.u_names, &def.s_names, &def.y_names};
        *lists[k] = obeyed;
        check_refused(&def, BG_BAD_INPUT, "bell\\x07", "control character");
    }
}

/* A state is filled with the start values, and copies are complete. */
static void test_state(void **state)
{
    (void)state;
    bg_system_def def = top_define();
    bg_system *sys = sample_create(&def);
    bg_state *x, *y;
    bg_error err;
    assert_int_equal(bg_state_create(sys, &x, &err), BG_OK);
    assert_int_equal(bg_state_create(sys, &y, &err), BG_OK);
    assert_memory_equal(x->q, def.q0, 7 * sizeof(double));
    assert_memory_equal(x->v, def.v0, 6 * sizeof(double));
    assert_ptr_equal(x->v, x->q + 7);
    assert_ptr_equal(x->z, x->v + 6);
    assert_ptr_equal(x->work, x->z);
    x->t = 3;
    x->q[2] = x->v[5] = x->a[1] = x->lambda[2] = x->work[0] = 7;
    bg_state_copy(sys, x, y);
    assert_true(y->t == 3 && y->q[2] == 7 && y->v[5] == 7 && y->a[1] == 7 && y->lambda[2] == 7 &&
                y->work[0] == 7);
    bg_state_destroy(x);
    bg_state_destroy(y);
    bg_state_destroy(NULL);
    bg_system_destroy(sys);
}

/* A state near the start, at a random time. */
static bg_state *draw_state(bg_system *sys, uint64_t *seed)
{
    const bg_system_def *d = &sys->def;
    bg_state *x;
    bg_error err;
    assert_int_equal(bg_state_create(sys, &x, &err), BG_OK);
    x->t = 2 + 2 * sample_draw(seed);
    for (int i = 0; i < d->nq; i++)
        x->q[i] += 0.2 * sample_draw(seed);
    if (d->normalise)
        d->normalise(d->self, x->q);
    for (int i = 0; i < d->nv; i++)
        x->v[i] += sample_draw(seed);
    return x;
}

/* Terms of `whole` (all supplied) against those of `part` (some by differences) at random states.
 * Central differences over d = 6e-6 have the error 2 eps |g| / 2d ~ 4e-11 |g|, plus d^2 / 6 = 6e-12
 * times third derivatives; gamma by the second difference over d = 1e-3 (1e-3 / speed) has 5 eps
 * |g| / d^2 ~ 1e-9 speed^2 |g|, and over 2^-13 s, where g depends on time, 8e-8. */
static void check_terms(bg_system_def whole, bg_system_def part, double limit_G, double limit_gamma)
{
    bg_system *exact = sample_create(&whole), *sys = sample_create(&part);
    int size_G = bg_system_get_size_G(sys), ng = whole.ng;
    uint64_t seed = 7;
    for (int k = 0; k < 20; k++) {
        bg_state *x = draw_state(exact, &seed);
        bg_terms expected = sample_evaluate(exact, x), found = sample_evaluate(sys, x);
        double speed = fmax(1, sample_size(x->v, whole.nv));
        assert_true(sample_size(expected.G, size_G) > 0.1);
        assert_true(sample_distance(found.g, expected.g, ng) == 0);
        double error_G = sample_distance(found.G, expected.G, size_G);
        double error_gt = sample_distance(found.gt, expected.gt, ng);
        double error = sample_distance(found.gamma, expected.gamma, ng) / (speed * speed);
        if (!(error_G <= limit_G && error_gt <= 2e-10 && error <= limit_gamma))
            fail_msg("%s: errors of G %g, g_t %g, gamma %g", part.name, error_G, error_gt, error);
        sample_terms_destroy(&expected);
        sample_terms_destroy(&found);
        bg_state_destroy(x);
    }
    bg_system_destroy(exact);
    bg_system_destroy(sys);
}

static void test_differences_of_pendulum(void **state)
{
    (void)state;
    const unsigned G = BG_TERM_G, gt = BG_TERM_gt, gamma = BG_TERM_gamma;
    for (pivot p = PIVOT_FIXED; p <= PIVOT_AS_INPUT; p++) {
        double second = p == PIVOT_FIXED ? 2e-9 : 1e-7;
        check_terms(swing_define(p, 0), swing_define(p, 0), 0, 0);
        check_terms(swing_define(p, 0), swing_define(p, gamma), 0, 2e-10);
        check_terms(swing_define(p, 0), swing_define(p, gt), 0, 0);
        check_terms(swing_define(p, 0), swing_define(p, G), 2e-10, 0);
        check_terms(swing_define(p, 0), swing_define(p, G | gt), 2e-10, 0);
        check_terms(swing_define(p, 0), swing_define(p, G | gamma), 2e-10, second);
        check_terms(swing_define(p, 0), swing_define(p, gt | gamma), 0,
                    p == PIVOT_FIXED ? 2e-10 : second); /* a fixed pivot has g_t = 0 without help */
        check_terms(swing_define(p, 0), swing_define(p, G | gt | gamma), 2e-10, second);
    }
}

static bg_system_def without(bg_system_def def, unsigned terms)
{
    def.supplied &= ~terms;
    return def;
}

/* Along V, and on unit quaternions. */
static void test_differences_of_top(void **state)
{
    (void)state;
    check_terms(top_define(), without(top_define(), BG_TERM_gamma), 0, 2e-10);
    check_terms(top_define(), without(top_define(), BG_TERM_G), 2e-10, 0);
    check_terms(top_define(), without(top_define(), BG_TERM_G | BG_TERM_gamma), 2e-10, 2e-9);
}

/* Along V, which bends the path. */
static void test_differences_of_skater(void **state)
{
    (void)state;
    check_terms(skater_define(), without(skater_define(), BG_TERM_gamma), 0, 2e-10);
    check_terms(skater_define(), without(skater_define(), BG_TERM_G), 2e-10, 0);
    check_terms(skater_define(), without(skater_define(), BG_TERM_G | BG_TERM_gamma), 2e-10, 2e-9);
}

/* In a pattern, where columns are differenced in groups, and dense. Coordinates up to 12 m. */
static void test_differences_of_rope(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        check_terms(chain_define(12, sparse), without(chain_define(12, sparse), BG_TERM_gamma), 0,
                    2e-9);
        check_terms(chain_define(12, sparse), without(chain_define(12, sparse), BG_TERM_G), 2e-10,
                    0);
        check_terms(chain_define(12, sparse),
                    without(chain_define(12, sparse), BG_TERM_G | BG_TERM_gamma), 2e-10, 1e-8);
    }
}

/* Late times: the shift of t stays what it is meant to be although t is rounded. */
static void test_differences_at_late_times(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        pivot p = k ? PIVOT_AS_INPUT : PIVOT_IN_TIME;
        bg_system_def whole = swing_define(p, 0);
        bg_system_def part = swing_define(p, BG_TERM_gt | BG_TERM_gamma);
        bg_system *exact = sample_create(&whole), *sys = sample_create(&part);
        uint64_t seed = 3;
        bg_state *x = draw_state(sys, &seed);
        x->t = 12345.678;
        bg_terms expected = sample_evaluate(exact, x), found = sample_evaluate(sys, x);
        /* sin(3 t) itself is only known to 3 ulp(t) = 5e-12, but alike for both */
        assert_true(fabs(expected.gt[0]) > 1e-3);
        assert_near(found.gt[0], expected.gt[0], 2e-10);
        assert_near(found.gamma[0], expected.gamma[0], 1e-6);
        sample_terms_destroy(&expected);
        sample_terms_destroy(&found);
        bg_state_destroy(x);
        bg_system_destroy(exact);
        bg_system_destroy(sys);
    }
}

static int fail_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)p;
    (void)want;
    (void)out;
    return *(int *)self;
}

static void keep(void *self)
{
    (void)self;
}

/* > 0 asks for a smaller step, < 0 ends the run; both name the function. */
static void test_failing_terms(void **state)
{
    (void)state;
    int code;
    bg_system_def def = complete_define(&code);
    def.terms = fail_terms;
    def.destroy = keep;
    bg_system *sys = sample_create(&def);
    bg_evaluator *ev = new_evaluator(sys);
    bg_terms out = sample_terms_create(sys);
    bg_error err = {BG_OK, ""};
    double q[2] = {0}, z[1] = {0};
    int mode = 0;
    bg_point p;
    assert_int_equal(bg_system_set_point(ev, 0.5, q, q, z, &mode, &p, &err), BG_OK);
    assert_true(p.u[0] == 0.5 && p.u_t[0] == 1);
    code = 3;
    assert_int_equal(bg_system_calc_terms(ev, &p, BG_TERM_M, &out, &err), BG_RETRY);
    assert_non_null(strstr(err.text, "`terms` failed with code 3"));
    code = -2;
    assert_int_equal(bg_system_calc_terms(ev, &p, BG_TERM_G, &out, &err), BG_SYSTEM_FAILED);
    assert_non_null(strstr(err.text, "code -2 at t = 0.5"));
    assert_int_equal(ev->work[BG_FOR_STEPS].terms, 1);
    assert_int_equal(ev->work[BG_FOR_STEPS].constraints, 1);
    sample_terms_destroy(&out);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

static void check_found(bg_system *sys, bg_terms *x, unsigned term, double *values, int k,
                        const char *expected)
{
    char text[96] = "";
    const unsigned all = 0x1ff;
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        values[k] = bad[i];
        assert_true(bg_system_find_not_finite(sys, x, term, text, sizeof text));
        assert_string_equal(text, expected);
        assert_true(bg_system_find_not_finite(sys, x, all, text, sizeof text));
        assert_string_equal(text, expected);
        assert_false(bg_system_find_not_finite(sys, x, all & ~term, text, sizeof text));
        values[k] = 0;
    }
    assert_false(bg_system_find_not_finite(sys, x, all, text, sizeof text));
}

static void test_find_not_finite(void **state)
{
    (void)state;
    int destroyed;
    static const char *const g_names[] = {"rod"}, *const v_names[] = {"x", NULL};
    bg_system_def def = complete_define(&destroyed);
    def.g_names = g_names;
    def.v_names = v_names;
    bg_system *sys = sample_create(&def);
    bg_terms x = sample_terms_create(sys);
    check_found(sys, &x, BG_TERM_f, x.f, 0, "f[0] (x)");
    check_found(sys, &x, BG_TERM_f, x.f, 1, "f[1] (v[1])");
    check_found(sys, &x, BG_TERM_g, x.g, 0, "g[0] (rod)");
    check_found(sys, &x, BG_TERM_gt, x.gt, 0, "g_t[0] (rod)");
    check_found(sys, &x, BG_TERM_gamma, x.gamma, 0, "gamma[0] (rod)");
    check_found(sys, &x, BG_TERM_h, x.h, 0, "h[0] (z[0])");
    check_found(sys, &x, BG_TERM_s, x.s, 0, "s[0] (s[0])");
    check_found(sys, &x, BG_TERM_M, x.M, 2, "M[1][0] (v[1], x)");
    check_found(sys, &x, BG_TERM_G, x.G, 1, "G[0][1] (rod, v[1])");
    check_found(sys, &x, BG_TERM_V, x.V, 3, "V[1][1]");
    sample_terms_destroy(&x);
    bg_system_destroy(sys);

    def = chain_define(3, true); /* rows of G: x0 y0; x0 y0 x1 y1; x1 y1 x2 y2 */
    sys = sample_create(&def);
    x = sample_terms_create(sys);
    check_found(sys, &x, BG_TERM_M, x.M, 4, "M[4][4] (v[4], v[4])");
    check_found(sys, &x, BG_TERM_G, x.G, 0, "G[0][0] (g[0], v[0])");
    check_found(sys, &x, BG_TERM_G, x.G, 5, "G[1][3] (g[1], v[3])");
    check_found(sys, &x, BG_TERM_G, x.G, 6, "G[2][2] (g[2], v[2])");
    sample_terms_destroy(&x);
    bg_system_destroy(sys);
}

/* Where V has no zeros in its rows: ones for the position, three columns for a quaternion. */
static const int V_start[] = {0, 1, 2, 3, 6, 9, 12, 15},
                 V_column[] = {0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5};
static const bg_pattern V_pattern = {7, 6, V_start, V_column};

static int top_terms_in_pattern(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    double V[42] = {0};
    bg_terms dense = *out;
    dense.V = V;
    int code = top_terms(self, p, want, &dense);
    for (int i = 0; want & BG_TERM_V && i < 7; i++)
        for (int k = V_start[i]; k < V_start[i + 1]; k++)
            out->V[k] = V[6 * i + V_column[k]];
    return code;
}

/* A pattern of V changes no bit: motions along V, differences along V, and the rates q'. */
static void test_pattern_of_V(void **state)
{
    (void)state;
    double moved[2][7], r_q[2][36] = {{0}}, rate[2][7];
    const double a[6] = {1, -2, 0.5, 3, 1, -1}, lambda[3] = {2, 1, -1};
    for (int k = 0; k < 2; k++) {
        bg_system_def def = top_define();
        def.derivatives = NULL;
        memset(def.derivative_supplied, 0, sizeof def.derivative_supplied);
        def.terms = k ? top_terms_in_pattern : def.terms;
        def.pattern_V = k ? &V_pattern : NULL;
        bg_system *sys = sample_create(&def);
        bg_evaluator *ev = new_evaluator(sys);
        bg_terms x = sample_terms_create(sys);
        bg_dynamics *d;
        bg_derivatives out = {.block[BG_OF_r][BG_BY_q] = r_q[k]};
        bg_error err;
        assert_int_equal(bg_system_get_size_V(sys), k ? 15 : 42);
        assert_int_equal(bg_dynamics_create(ev, &d, &err), BG_OK);
        assert_int_equal(bg_dynamics_evaluate(d, 0, def.q0, def.v0, NULL, NULL, BG_TERM_V, &err),
                         BG_OK);
        bg_dynamics_calc_rates(d, def.v0, rate[k]);
        bg_system_move(ev, def.q0, d->terms.V, 0.1, a, moved[k]);
        assert_int_equal(bg_system_calc_derivatives(ev, &d->point, a, lambda, &out, &err), BG_OK);
        check_found(sys, &x, BG_TERM_V, x.V, k ? 8 : 29, "V[4][5]");
        bg_dynamics_destroy(d);
        bg_evaluator_destroy(ev);
        sample_terms_destroy(&x);
        bg_system_destroy(sys);
    }
    assert_true(rate[0][3] != 0 && r_q[0][21] != 0 && moved[0][3] != rate[0][3]);
    assert_memory_equal(moved[0], moved[1], sizeof moved[0]);
    assert_memory_equal(rate[0], rate[1], sizeof rate[0]);
    assert_memory_equal(r_q[0], r_q[1], sizeof r_q[0]);
}

/* q + step V delta: for the top the result is a unit quaternion, turned by |delta| to third order.
 */
static void test_move(void **state)
{
    (void)state;
    bg_system_def def = top_define();
    bg_system *sys = sample_create(&def);
    bg_state *x;
    bg_error err;
    assert_int_equal(bg_state_create(sys, &x, &err), BG_OK);
    bg_evaluator *ev = new_evaluator(sys);
    bg_terms at = sample_evaluate(sys, x);
    double delta[6] = {1, 2, 3, 0, 0.02, 0}, q[7];
    bg_system_move(ev, x->q, at.V, 0.5, delta, q);
    assert_near(q[1], x->q[1] + 1.0, 1e-15);
    double norm = 0, cosine = 0;
    for (int i = 3; i < 7; i++) {
        norm += q[i] * q[i];
        cosine += q[i] * x->q[i];
    }
    assert_near(norm, 1, 1e-15);
    assert_near(2 * acos(cosine), 0.01, 1e-7);      /* 0.01^3 / 12, and acos near 1 */
    bg_system_move(ev, x->q, at.V, 1, delta, x->q); /* in place */
    assert_near(x->q[0] - def.q0[0], 1, 1e-15);
    sample_terms_destroy(&at);
    bg_evaluator_destroy(ev);
    bg_state_destroy(x);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_is_accepted),
        cmocka_unit_test(test_bad_dimensions),
        cmocka_unit_test(test_missing_terms),
        cmocka_unit_test(test_missing_functions),
        cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_pattern_of_V),
        cmocka_unit_test(test_bad_start_values),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_differences_of_pendulum),
        cmocka_unit_test(test_differences_of_top),
        cmocka_unit_test(test_differences_of_skater),
        cmocka_unit_test(test_differences_of_rope),
        cmocka_unit_test(test_differences_at_late_times),
        cmocka_unit_test(test_failing_terms),
        cmocka_unit_test(test_find_not_finite),
        cmocka_unit_test(test_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

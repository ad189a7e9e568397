/* Derivative blocks and the derivative checker: supplied blocks pass through, missing ones come
 * from differences (grouped by their pattern), and a planted error is found and named. */
#include "sample_systems.h"

enum { STATES = 5 };

typedef struct derivative_place {
    bg_evaluator *ev; /* whose inputs p has */
    bg_state *x;
    bg_point p;
} derivative_place;

/* A random point near the start, at a random time, with random a and lambda. */
static derivative_place draw_place(bg_system *sys, uint64_t *seed)
{
    const bg_system_def *d = &sys->def;
    derivative_place at = {.ev = new_evaluator(sys)};
    bg_error err;
    assert_int_equal(bg_state_create(sys, &at.x, &err), BG_OK);
    bg_state *x = at.x;
    x->t = d->t_start + 0.5 * (1 + sample_draw(seed)) * (d->t_end - d->t_start);
    for (int i = 0; i < d->nq; i++)
        x->q[i] += 0.2 * sample_draw(seed);
    if (d->normalise)
        d->normalise(d->self, x->q);
    for (int i = 0; i < d->nv; i++) {
        x->v[i] += sample_draw(seed);
        x->a[i] = sample_draw(seed);
    }
    for (int i = 0; i < d->nz; i++)
        x->z[i] += sample_draw(seed);
    for (int i = 0; i < d->ng; i++)
        x->lambda[i] = 2 * sample_draw(seed);
    assert_int_equal(bg_system_set_point(at.ev, x->t, x->q, x->v, x->z, x->mode, &at.p, &err),
                     BG_OK);
    return at;
}

static void place_clear(derivative_place *at)
{
    bg_state_destroy(at->x);
    bg_evaluator_destroy(at->ev);
}

/* A block of size rows x columns, dense whatever its pattern, and what was done for it (or NULL).
 */
static double *calc_counted(const bg_system *sys, const derivative_place *at, bg_of of, bg_by by,
                            bg_work *work)
{
    bg_evaluator *ev = new_evaluator(sys);
    int rows = bg_system_get_rows(ev->system, of);
    int columns = bg_system_get_columns(ev->system, by);
    const bg_pattern *pattern = bg_system_get_pattern(ev->system, of, by);
    double *values = sample_array(rows * columns), *block = sample_array(rows * columns);
    bg_derivatives out = {.only_stiff = 0};
    bg_error err = {BG_OK, ""};
    out.block[of][by] = pattern ? values : block;
    if (bg_system_calc_derivatives(ev, &at->p, at->x->a, at->x->lambda, &out, &err) != BG_OK)
        fail_msg("%s", err.text);
    for (int i = 0; pattern && i < rows; i++)
        for (int k = pattern->row_start[i]; k < pattern->row_start[i + 1]; k++)
            block[i * columns + pattern->column[k]] = values[k];
    free(values);
    if (work)
        *work = ev->work[BG_FOR_STEPS];
    bg_evaluator_destroy(ev);
    return block;
}

static double *calc_block(const bg_system *sys, const derivative_place *at, bg_of of, bg_by by)
{
    return calc_counted(sys, at, of, by, NULL);
}

/* Every block that `whole` supplies, against differences in `part`. Central differences over d =
 * 6e-6 x: error eps |F| / d ~ 4e-11 |F| plus d^2 |F'''| / 6. unit is the size of F, which entries
 * are as well unless they are small. */
static void check_blocks(bg_system_def whole, bg_system_def part, double unit, double limit,
                         int expected)
{
    memset(part.derivative_supplied, 0, sizeof part.derivative_supplied);
    bg_system *exact = sample_create(&whole), *sys = sample_create(&part);
    uint64_t seed = 11;
    int blocks = 0;
    for (int k = 0; k < STATES; k++) {
        derivative_place at = draw_place(exact, &seed);
        for (int of = 0; of < BG_OF_COUNT; of++)
            for (int by = 0; by < BG_BY_COUNT; by++) {
                if (!whole.derivative_supplied[of][by])
                    continue;
                double *a = calc_block(exact, &at, (bg_of)of, (bg_by)by);
                double *b = calc_block(sys, &at, (bg_of)of, (bg_by)by);
                int n = bg_system_get_rows(sys, (bg_of)of) * bg_system_get_columns(sys, (bg_by)by);
                double error = sample_distance(a, b, n) / fmax(unit, sample_size(a, n));
                if (!(error <= limit))
                    fail_msg("%s: %s has the error %g", whole.name,
                             bg_block_get_name((bg_of)of, (bg_by)by), error);
                blocks++;
                free(a);
                free(b);
            }
        place_clear(&at);
    }
    assert_int_equal(blocks, STATES * expected);
    bg_system_destroy(exact);
    bg_system_destroy(sys);
}

static void test_blocks_by_differences(void **state)
{
    (void)state;
    check_blocks(top_define(), top_define(), 1, 2e-9, 5);
    check_blocks(builtin_define("car-axle", NAN), builtin_define("car-axle", NAN), 1, 2e-9, 7);
    check_blocks(builtin_define("chain", 6), builtin_define("chain", 6), 1, 2e-9, 3);
    check_blocks(builtin_define("slider-crank", NAN), builtin_define("slider-crank", NAN), 1, 2e-9,
                 9);
    check_blocks(builtin_define("circular-track", NAN), builtin_define("circular-track", NAN), 1,
                 2e-9, 9);
    check_blocks(builtin_define("andrews", NAN), builtin_define("andrews", NAN), 1e-2, 2e-9, 5);
}

/* Without the residual formalism r comes from the terms: the same blocks. */
static void test_residual_and_terms_agree(void **state)
{
    (void)state;
    bg_system_def part = builtin_define("chain", 6);
    assert_non_null(part.residual);
    part.residual = NULL;
    check_blocks(builtin_define("chain", 6), part, 1, 2e-9, 3);
}

/* Differences of differences: wider shifts, 3e-4, leave 1e-7 of truncation and 1e-7 of rounding. */
static void test_blocks_of_differenced_terms(void **state)
{
    (void)state;
    bg_system_def part = top_define();
    part.supplied &= ~(unsigned)BG_TERM_gamma;
    check_blocks(top_define(), part, 1, 1e-6, 5);
    part = top_define();
    part.supplied &= ~(unsigned)BG_TERM_G;
    check_blocks(top_define(), part, 1, 1e-6, 5);
    part = builtin_define("car-axle", NAN);
    part.supplied &= ~(unsigned)(BG_TERM_G | BG_TERM_gt);
    check_blocks(builtin_define("car-axle", NAN), part, 1, 1e-6, 7);
}

/* The blocks nobody supplies, against formulas: the pendulum on a pivot that is an input. With x, y
 * from the pivot, r = m a - f + (x, y) lambda, w = x (vx - u') + y vy:
 *   dr/du = (-lambda, 0),  dg/dq = (x, y),  dg/du = -x,  dw/dv = (x, y),  dw/du = -(vx - u'),
 *   dgamma/du = u''. Also when g_t and gamma come from differences in time themselves. */
static void check_input_blocks(unsigned without, double limit)
{
    bg_system_def def = swing_define(PIVOT_AS_INPUT, without);
    bg_system *sys = sample_create(&def);
    uint64_t seed = 5;
    for (int k = 0; k < STATES; k++) {
        derivative_place at = draw_place(sys, &seed);
        const bg_point *p = &at.p;
        double x = p->q[0] - p->u[0], y = p->q[1];
        const struct {
            bg_of of;
            bg_by by;
            double expected[2];
            int n;
        } cases[] = {{BG_OF_r, BG_BY_u, {-at.x->lambda[0], 0}, 2},
                     {BG_OF_g, BG_BY_q, {x, y}, 2},
                     {BG_OF_g, BG_BY_v, {0, 0}, 2},
                     {BG_OF_g, BG_BY_u, {-x, 0}, 1},
                     {BG_OF_w, BG_BY_v, {x, y}, 2},
                     {BG_OF_w, BG_BY_u, {-(p->v[0] - p->u_t[0]), 0}, 1},
                     {BG_OF_gamma, BG_BY_u, {p->u_tt[0], 0}, 1}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            double *block = calc_block(sys, &at, cases[i].of, cases[i].by);
            double error = sample_distance(block, cases[i].expected, cases[i].n);
            if (!(error <= limit))
                fail_msg("%s is off by %g", bg_block_get_name(cases[i].of, cases[i].by), error);
            free(block);
        }
        place_clear(&at);
    }
    bg_system_destroy(sys);
}

static void test_blocks_by_inputs(void **state)
{
    (void)state;
    check_input_blocks(0, 1e-9);
    check_input_blocks(BG_TERM_gt, 1e-6);
    check_input_blocks(BG_TERM_gamma, 1e-6);
    check_input_blocks(BG_TERM_gt | BG_TERM_gamma, 1e-4); /* a third difference of g */
}

static void test_supplied_blocks_pass_through(void **state)
{
    (void)state;
    spoiled what = {top_define(), 0, BG_OF_w, BG_BY_q, 3, 0, 1e6}; /* 1e6 cannot be a difference */
    bg_system_def def = spoiled_define(&what), clean = top_define();
    bg_system *sys = sample_create(&def), *exact = sample_create(&clean);
    uint64_t seed = 2;
    derivative_place at = draw_place(sys, &seed);
    bg_work work;
    double *found = calc_counted(sys, &at, BG_OF_w, BG_BY_q, &work);
    double *expected = calc_block(exact, &at, BG_OF_w, BG_BY_q);
    assert_true(found[3] - expected[3] > 999999);
    found[3] = expected[3];
    assert_memory_equal(found, expected, 18 * sizeof(double));
    assert_int_equal(work.terms, 0); /* and no terms were evaluated */
    assert_int_equal(work.jacobian, 1);
    free(found);
    free(expected);
    place_clear(&at);
    bg_system_destroy(sys);
    bg_system_destroy(exact);
}

/* The blocks of the rope in their patterns, in groups of columns, are those of the dense rope. */
static void test_grouped_is_ungrouped(void **state)
{
    (void)state;
    enum { N = 9 };
    static const struct {
        bg_of of;
        bg_by by;
    } blocks[] = {{BG_OF_r, BG_BY_q}, {BG_OF_r, BG_BY_v}, {BG_OF_g, BG_BY_q},
                  {BG_OF_w, BG_BY_q}, {BG_OF_w, BG_BY_v}, {BG_OF_gamma, BG_BY_v}};
    bg_system_def grouped = chain_define(N, true), dense = chain_define(N, false);
    bg_system *a = sample_create(&grouped), *b = sample_create(&dense);
    uint64_t seed = 4;
    derivative_place at = draw_place(a, &seed);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        bg_of of = blocks[i].of;
        bg_by by = blocks[i].by;
        double *x = calc_block(a, &at, of, by), *y = calc_block(b, &at, of, by);
        int n = bg_system_get_rows(a, of) * bg_system_get_columns(a, by);
        assert_true(sample_size(y, n) > 0.1);
        /* shifting other columns along changes the rounding of a row, not its value */
        assert_near(sample_distance(x, y, n), 0, 2e-9);
        free(x);
        free(y);
    }
    double *r_q = calc_block(a, &at, BG_OF_r, BG_BY_q); /* G^T lambda and the springs */
    const double *lambda = at.x->lambda;
    for (int i = 0; i < 2 * N; i++)
        for (int j = 0; j < 2 * N; j++) {
            int from = i / 2, to = j / 2;
            double expected = 0;
            if (i == j)
                expected = lambda[from] + (from + 1 < N ? lambda[from + 1] : 0) +
                           0.6 * at.x->q[i] * at.x->q[i];
            else if (i % 2 == j % 2 && abs(from - to) == 1)
                expected = -lambda[from > to ? from : to];
            assert_near(r_q[i * 2 * N + j], expected, 1e-8); /* spring forces of up to 100 N */
        }
    free(r_q);
    place_clear(&at);
    bg_system_destroy(a);
    bg_system_destroy(b);
}

static long count_evaluations(int n, bool sparse, bg_of of, bg_by by)
{
    bg_system_def def = chain_define(n, sparse);
    bg_system *sys = sample_create(&def);
    uint64_t seed = 4;
    derivative_place at = draw_place(sys, &seed);
    bg_work work;
    free(calc_counted(sys, &at, of, by, &work));
    long count = work.terms + work.constraints;
    place_clear(&at);
    bg_system_destroy(sys);
    return count;
}

/* dr/dq of the rope is tridiagonal in the x and in the y coordinates: three groups, two evaluations
 * each, however long it is. A row of dw/dq holds four neighbouring columns: four groups. */
static void test_evaluations_do_not_grow(void **state)
{
    (void)state;
    static const int lengths[] = {4, 20, 100};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count_evaluations(lengths[i], true, BG_OF_r, BG_BY_q), 6);
        assert_int_equal(count_evaluations(lengths[i], true, BG_OF_r, BG_BY_v), 2);
        assert_int_equal(count_evaluations(lengths[i], true, BG_OF_w, BG_BY_q), 8);
        assert_int_equal(count_evaluations(lengths[i], true, BG_OF_g, BG_BY_q), 8);
        assert_int_equal(count_evaluations(lengths[i], false, BG_OF_r, BG_BY_q), 4 * lengths[i]);
    }
}

static int only_accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    (void)self;
    (void)lambda;
    a[0] = -p->q[0];
    return 0;
}

static int failing_residual(void *self, const bg_point *p, const double *a, const double *lambda,
                            double *r)
{
    (void)self;
    (void)a;
    (void)lambda;
    r[0] = 0;
    return p->q[0] > 0.5 ? -7 : 4;
}

static void test_blocks_that_cannot_be(void **state)
{
    (void)state;
    bg_system_def def = bg_default_system_def();
    double q[1] = {0}, v[1] = {0}, a[1] = {0}, block[1];
    bg_derivatives out = {.only_stiff = 0};
    bg_error err = {BG_OK, ""};
    bg_point p;
    out.block[BG_OF_r][BG_BY_q] = block;
    def.nq = def.nv = 1;
    def.accelerate = only_accelerate;
    bg_system *sys = sample_create(&def); /* neither M and f nor a residual: there is no r */
    bg_evaluator *ev = new_evaluator(sys);
    assert_int_equal(bg_system_set_point(ev, 0, q, v, NULL, NULL, &p, &err), BG_OK);
    assert_int_equal(bg_system_calc_derivatives(ev, &p, a, NULL, &out, &err), BG_MISSING);
    assert_non_null(strstr(err.text, "`residual`"));
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);

    def.residual = failing_residual;
    sys = sample_create(&def);
    ev = new_evaluator(sys);
    assert_int_equal(bg_system_calc_derivatives(ev, &p, a, NULL, &out, &err), BG_RETRY);
    assert_non_null(strstr(err.text, "`residual` failed with code 4"));
    q[0] = 1;
    assert_int_equal(bg_system_calc_derivatives(ev, &p, a, NULL, &out, &err), BG_SYSTEM_FAILED);
    assert_non_null(strstr(err.text, "code -7"));
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

static void check_clean(bg_system_def def, int expected)
{
    bg_system *sys = sample_create(&def);
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    bg_error err;
    int count = 0;
    for (unsigned seed = 0; seed < 5; seed++) {
        assert_int_equal(bg_system_check_derivatives(sys, 10, seed, checks, &count, &err), BG_OK);
        assert_int_equal(count, expected);
        for (int i = 0; i < count; i++)
            if (!(checks[i].error < 1e-7))
                fail_msg("%s: %s, %s, is clean but shows the error %g (%.17g, %.17g)",
                         sys->def.name, checks[i].quantity, checks[i].entry, checks[i].error,
                         checks[i].supplied, checks[i].differenced);
    }
    bg_system_destroy(sys);
}

static void test_clean_systems(void **state)
{
    (void)state;
    check_clean(top_define(), 2 + 5);
    check_clean(skater_define(), 2);
    check_clean(chain_define(6, false), 2);
    check_clean(chain_define(6, true), 2);
    for (pivot p = PIVOT_FIXED; p <= PIVOT_AS_INPUT; p++)
        check_clean(swing_define(p, 0), 3);
    check_clean(swing_define(PIVOT_IN_TIME, BG_TERM_G), 2); /* gamma against second differences */
    check_clean(swing_define(PIVOT_FIXED, BG_TERM_G | BG_TERM_gt | BG_TERM_gamma), 0);
    check_clean(builtin_define("pendulum", NAN), 2 + 5);
    check_clean(builtin_define("car-axle", NAN), 3 + 7);
    check_clean(builtin_define("andrews", NAN), 2 + 5);
    check_clean(builtin_define("slider-crank", NAN), 2 + 9);
    check_clean(builtin_define("circular-track", NAN), 2 + 9);
    check_clean(builtin_define("chain", 8), 3);
    check_clean(builtin_define("bouncing-ball", NAN), 2);
}

/* Plants an error of 1e-4 of its row's scale at one entry and expects the checker to find that
 * entry of that quantity, and to leave all other quantities alone. */
static void check_planted(bg_system_def inner, unsigned term, bg_of of, bg_by by, int entry,
                          double amount, const char *quantity, const char *name)
{
    spoiled what = {inner, term, of, by, entry, 0, amount};
    bg_system_def def = spoiled_define(&what);
    bg_system *sys = sample_create(&def);
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    bg_error err;
    int count = 0, found = 0;
    assert_int_equal(bg_system_check_derivatives(sys, 10, 1, checks, &count, &err), BG_OK);
    for (int i = 0; i < count; i++) {
        if (strcmp(checks[i].quantity, quantity) != 0) {
            /* differences of w use G: an error in G must show in dw/dq or gamma as well */
            assert_true(checks[i].error < 1e-7 || term != 0);
            continue;
        }
        found++;
        if (strcmp(checks[i].entry, name) != 0 || !(checks[i].error > 1e-5))
            fail_msg("%s of %s: the error in %s was not found, but %g in %s", quantity,
                     sys->def.name, name, checks[i].error, checks[i].entry);
        assert_near(checks[i].supplied - checks[i].differenced, amount, 1e-3 * fabs(amount));
    }
    assert_int_equal(found, 1);
    bg_system_destroy(sys);
}

static void test_planted_errors(void **state)
{
    (void)state;
    const bg_of none = BG_OF_r;
    check_planted(top_define(), BG_TERM_G, none, 0, 6 + 4, 1e-4, "G", "pin_y by omega_2");
    check_planted(top_define(), BG_TERM_gamma, none, 0, 2, 5e-3, "gamma", "pin_z");
    check_planted(top_define(), 0, BG_OF_r, BG_BY_q, 6 * 5 + 3, 5e-4, "dr/dq",
                  "omega_3 by omega_1");
    check_planted(top_define(), 0, BG_OF_r, BG_BY_v, 6 * 4 + 5, 5e-4, "dr/dv",
                  "omega_2 by omega_3");
    check_planted(top_define(), 0, BG_OF_w, BG_BY_q, 3, 1e-3, "dw/dq", "pin_x by omega_1");
    check_planted(top_define(), 0, BG_OF_gamma, BG_BY_q, 0, 1e-2, "dgamma/dq", "pin_x by vx");
    check_planted(top_define(), 0, BG_OF_gamma, BG_BY_v, 17, 5e-3, "dgamma/dv", "pin_z by omega_3");
    check_planted(swing_define(PIVOT_IN_TIME, 0), BG_TERM_gt, none, 0, 0, 3e-5, "g_t", "rod");
    check_planted(swing_define(PIVOT_IN_TIME, BG_TERM_G), BG_TERM_gamma, none, 0, 0, 1e-3, "gamma",
                  "rod"); /* against second differences */
    check_planted(chain_define(5, true), BG_TERM_G, none, 0, 8, 1e-4, "G", "g[2] by v[4]");
    check_planted(builtin_define("car-axle", NAN), 0, BG_OF_r, BG_BY_u, 2, 1e-4, "dr/du",
                  "xr_dot by yb");
    check_planted(builtin_define("car-axle", NAN), 0, BG_OF_g, BG_BY_u, 0, 5e-5, "dg/du",
                  "suspension by yb");
    check_planted(builtin_define("slider-crank", NAN), 0, BG_OF_h, BG_BY_v, 1, 1e-4, "dh/dv",
                  "kinetic_integral by x_dot");
    check_planted(builtin_define("circular-track", NAN), 0, BG_OF_r, BG_BY_z, 0, 1e-4, "dr/dz",
                  "x1_dot by integral");
    check_planted(builtin_define("circular-track", NAN), 0, BG_OF_h, BG_BY_z, 0, 1e-4, "dh/dz",
                  "integral by integral");
    check_planted(builtin_define("circular-track", NAN), 0, BG_OF_h, BG_BY_q, 1, 1e-4, "dh/dq",
                  "integral by x2_dot");
}

/* The masses of the squeezing mechanism are so small that dr/dv, 1e-6 and less, lies far below r
 * itself, a torque of 0.03 Nm. An error of 1e-4 of a row is still found there. */
static void test_planted_errors_in_small_numbers(void **state)
{
    (void)state;
    bg_system_def def = builtin_define("andrews", NAN);
    bg_system *sys = sample_create(&def);
    uint64_t seed = 1;
    derivative_place at = draw_place(sys, &seed);
    double *block = calc_block(sys, &at, BG_OF_r, BG_BY_v), largest = 0;
    int row = 0;
    for (int k = 0; k < 49; k++)
        if (fabs(block[k]) > largest) {
            largest = fabs(block[k]);
            row = k / 7;
        }
    assert_true(largest > 1e-6 && largest < 1e-5); /* at speeds of 1; the checker draws up to 0.1 */
    free(block);
    place_clear(&at);
    char name[64], a[32], b[32];
    snprintf(name, sizeof name, "%s by %s", bg_system_get_name(sys, 'v', row, a, sizeof a),
             bg_system_get_name(sys, 'v', 2, b, sizeof b));
    bg_system_destroy(sys);
    check_planted(builtin_define("andrews", NAN), 0, BG_OF_r, BG_BY_v, row * 7 + 2, 1e-5 * largest,
                  "dr/dv", name);
}

/* NaN counts as the worst error there is. */
static void test_nan_is_an_error(void **state)
{
    (void)state;
    spoiled what = {top_define(), 0, BG_OF_w, BG_BY_q, 9, 0, NAN};
    bg_system_def def = spoiled_define(&what);
    bg_system *sys = sample_create(&def);
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    bg_error err;
    int count = 0, bad = 0;
    assert_int_equal(bg_system_check_derivatives(sys, 2, 1, checks, &count, &err), BG_OK);
    for (int i = 0; i < count; i++)
        if (!(checks[i].error < 1e-7)) {
            bad++;
            assert_string_equal(checks[i].quantity, "dw/dq");
            assert_string_equal(checks[i].entry, "pin_y by omega_1");
            assert_true(isinf(checks[i].error) && isnan(checks[i].supplied));
        }
    assert_int_equal(bad, 1);
    bg_system_destroy(sys);
}

/* The same seed gives the same states, another seed others. */
static void test_checks_are_repeatable(void **state)
{
    (void)state;
    bg_system_def def = builtin_define("slider-crank", NAN);
    bg_system *sys = sample_create(&def);
    bg_derivative_check one[BG_DERIVATIVE_CHECKS], same[BG_DERIVATIVE_CHECKS],
        other[BG_DERIVATIVE_CHECKS];
    bg_error err;
    int count;
    assert_int_equal(bg_system_check_derivatives(sys, 4, 9, one, &count, &err), BG_OK);
    assert_int_equal(bg_system_check_derivatives(sys, 4, 9, same, &count, &err), BG_OK);
    assert_int_equal(bg_system_check_derivatives(sys, 4, 10, other, &count, &err), BG_OK);
    for (int i = 0; i < count; i++) {
        assert_true(one[i].error == same[i].error && one[i].t == same[i].t);
        assert_string_equal(one[i].entry, same[i].entry);
        assert_true(one[i].t != other[i].t);
    }
    assert_int_equal(bg_system_check_derivatives(sys, 0, 9, one, &count, &err), BG_OK);
    assert_int_equal(count, 0);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_by_differences),
        cmocka_unit_test(test_residual_and_terms_agree),
        cmocka_unit_test(test_blocks_of_differenced_terms),
        cmocka_unit_test(test_blocks_by_inputs),
        cmocka_unit_test(test_supplied_blocks_pass_through),
        cmocka_unit_test(test_grouped_is_ungrouped),
        cmocka_unit_test(test_evaluations_do_not_grow),
        cmocka_unit_test(test_blocks_that_cannot_be),
        cmocka_unit_test(test_clean_systems),
        cmocka_unit_test(test_planted_errors),
        cmocka_unit_test(test_planted_errors_in_small_numbers),
        cmocka_unit_test(test_nan_is_an_error),
        cmocka_unit_test(test_checks_are_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

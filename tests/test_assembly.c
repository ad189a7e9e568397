/* Consistent starts: the nearest consistent point, the ways to it from near and far, fixed
 * coordinates, redundant, contradictory and unreachable constraints, and what is said about them.
 */
#include "consistent/projection.h"
#include "sample_systems.h"

/* A system with its state and what assembly said about it. */
typedef struct assembly_bench {
    bg_system *sys;
    bg_state *start, *x;
    bg_assembly_report report;
    bg_error err;
    bg_status status;
} assembly_bench;

static assembly_bench bench_create(const bg_system_def *def)
{
    assembly_bench b = {.sys = sample_create(def)};
    assert_int_equal(bg_state_create(b.sys, &b.start, &b.err), BG_OK);
    assert_int_equal(bg_state_create(b.sys, &b.x, &b.err), BG_OK);
    return b;
}

static void bench_destroy(assembly_bench *b)
{
    bg_assembly_report_clear(&b->report);
    bg_state_destroy(b->start);
    bg_state_destroy(b->x);
    bg_system_destroy(b->sys);
}

/* Assembles from b->start. */
static void assemble(assembly_bench *b)
{
    b->err = (bg_error){BG_OK, ""};
    bg_assembly_report_clear(&b->report);
    bg_state_copy(b->sys, b->start, b->x);
    b->status = bg_state_assemble(b->sys, b->x, &b->report, &b->err);
}

static void shake(assembly_bench *b, double amount, uint64_t seed)
{
    for (int i = 0; i < b->sys->def.nq; i++)
        b->start->q[i] += amount * sample_draw(&seed);
    for (int i = 0; i < b->sys->def.nv; i++)
        b->start->v[i] += amount * sample_draw(&seed);
}

/* x <- its part along the constraints, M-orthogonal to them, and y <- residual of G x. A correction
 * is the shortest one in the mass metric when nothing of it lies along the constraints. */
static void split(assembly_bench *b, const bg_terms *at, double *x)
{
    const bg_system_def *d = &b->sys->def;
    bg_kkt *kkt;
    double *y = sample_array(d->ng), *force = sample_array(d->nv);
    unsigned char *left_out = calloc((size_t)d->ng + 1, 1);
    assert_non_null(left_out);
    for (int i = 0; i < b->report.redundancy.count; i++)
        left_out[b->report.redundancy.eliminated[i]] = 1;
    assert_int_equal(bg_kkt_create(d->nv, d->ng, d->pattern_M, d->pattern_G, &kkt, &b->err), BG_OK);
    bg_kkt_set_eliminated(kkt, left_out);
    assert_int_equal(bg_kkt_factor(kkt, at->M, at->G, at->G), BG_OK);
    bg_matrix_multiply(d->nv, d->nv, d->pattern_M, at->M, x, force);
    bg_kkt_solve(kkt, force, y);
    memcpy(x, force, (size_t)d->nv * sizeof *x);
    bg_kkt_destroy(kkt);
    free(y);
    free(force);
    free(left_out);
}

/* All constraints met on all levels; a and lambda solve the equations of motion. */
static void check_consistent(assembly_bench *b, double limit)
{
    const bg_system_def *d = &b->sys->def;
    if (b->status != BG_OK)
        fail_msg("%s", b->err.text);
    bg_terms at = sample_evaluate(b->sys, b->x);
    double *w = sample_array(d->ng), *Ga = sample_array(d->ng), *r = sample_array(d->nv);
    double speed = fmax(1, sample_size(b->x->v, d->nv)), pull = fmax(1, sample_size(at.f, d->nv));
    double size_a = fmax(1, sample_size(b->x->a, d->nv));
    bg_matrix_multiply(d->ng, d->nv, d->pattern_G, at.G, b->x->v, w);
    bg_matrix_multiply(d->ng, d->nv, d->pattern_G, at.G, b->x->a, Ga);
    bg_matrix_multiply(d->nv, d->nv, d->pattern_M, at.M, b->x->a, r);
    bg_matrix_add_transposed(d->ng, d->nv, d->pattern_G, at.G, 1, b->x->lambda, r);
    double max_g = sample_size(at.g, d->ng), max_w = 0, max_a = 0;
    for (int i = 0; i < d->ng; i++) {
        max_w = fmax(max_w, fabs(w[i] + at.gt[i]));
        max_a = fmax(max_a, fabs(Ga[i] + at.gamma[i]));
    }
    assert_near(max_g, 0, limit);
    assert_near(max_w, 0, limit * speed);
    assert_near(max_a, 0, 10 * limit * size_a);
    assert_near(sample_distance(r, at.f, d->nv), 0, 10 * limit * pull);
    assert_near(b->report.max_g, max_g, 1e-15); /* the report says what we see */
    assert_near(b->report.max_gv, max_w, 1e-14 * speed);
    assert_near(b->report.max_ga, max_a, 1e-13 * size_a);
    for (int i = 0; i < d->nv; i++)
        assert_true(b->report.moved_v[i] == b->x->v[i] - b->start->v[i]);
    for (int i = 0; i < d->nq; i++)
        assert_true(b->report.moved_q[i] == b->x->q[i] - b->start->q[i]);
    free(w);
    free(Ga);
    free(r);
    sample_terms_destroy(&at);
}

/* (12a) and (12b): M (p - q) and M (v - v0) are combinations of rows of G. V is I. */
static void check_nearest(assembly_bench *b, double limit)
{
    const bg_system_def *d = &b->sys->def;
    bg_terms at = sample_evaluate(b->sys, b->x);
    double *x = sample_array(d->nv);
    memcpy(x, b->report.moved_q, (size_t)d->nv * sizeof *x);
    assert_true(sample_size(x, d->nv) > 1e-3);
    split(b, &at, x);
    assert_near(sample_size(x, d->nv), 0, limit);
    memcpy(x, b->report.moved_v, (size_t)d->nv * sizeof *x);
    split(b, &at, x);
    assert_near(sample_size(x, d->nv), 0, limit);
    free(x);
    sample_terms_destroy(&at);
}

static void check_failed(assembly_bench *b, bg_status status, const char *part, const char *other)
{
    assert_int_equal(b->status, status);
    assert_int_equal(b->err.status, status);
    if (!strstr(b->err.text, part) || !strstr(b->err.text, other))
        fail_msg("\"%s\" does not name %s and %s", b->err.text, part, other);
    const bg_system_def *d = &b->sys->def; /* the state is what it was, bit by bit */
    assert_memory_equal(b->x->q, b->start->q, (size_t)(d->nq + d->nv + d->nz + 1) * sizeof(double));
    assert_memory_equal(b->x->a, b->start->a, (size_t)d->nv * sizeof(double));
    assert_memory_equal(b->x->lambda, b->start->lambda, (size_t)d->ng * sizeof(double));
    assert_null(b->report.moved_q);
}

static void test_exact_start_stays(void **state)
{
    (void)state;
    bg_system_def def = builtin_define("pendulum", NAN);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_consistent(&b, 0);
    assert_memory_equal(b.x->q, b.start->q, 4 * sizeof(double)); /* q and v */
    assert_true(b.report.iterations <= 1);
    assert_int_equal(b.report.redundancy.count, 0);
    assert_near(b.x->lambda[0], 0, 0); /* horizontal, at rest: no tension */
    assert_near(b.x->a[1], -9.81, 0);
    bench_destroy(&b);

    static const char *const names[] = {"car-axle", "andrews", "slider-crank", "circular-track"};
    for (int i = 0; i < 4; i++) {
        def = builtin_define(names[i], NAN);
        b = bench_create(&def);
        assemble(&b);
        check_consistent(&b, 1e-13);
        assert_near(sample_size(b.report.moved_q, def.nq), 0, 1e-14);
        assert_near(sample_size(b.report.moved_v, def.nv), 0, 1e-14);
        assert_true(b.report.iterations <= 2);
        assert_string_equal(b.report.method, "chord");
        bench_destroy(&b);
    }
}

static void test_unconstrained(void **state)
{
    (void)state;
    bg_system_def def = builtin_define("chain", 4); /* by its explicit formalism */
    assembly_bench b = bench_create(&def);
    b.start->q[0] = 0.5;
    assemble(&b);
    check_consistent(&b, 1e-13);
    assert_string_equal(b.report.method, "none");
    assert_int_equal(b.report.iterations, 0);
    assert_true(b.x->a[0] < -1);
    bench_destroy(&b);
}

static bg_system_def define_kind(int kind)
{
    switch (kind) {
    case 0:
        return builtin_define("car-axle", NAN);
    case 1:
        return builtin_define("slider-crank", NAN);
    case 2:
        return builtin_define("circular-track", NAN);
    case 3:
        return chain_define(7, false);
    case 4:
        return chain_define(25, true);
    default:
        return swing_define(kind == 5 ? PIVOT_AS_INPUT : PIVOT_IN_TIME, 0);
    }
}

/* Perturbed starts go to the nearest consistent point. The chord iteration ends at increments of
 * 1e-13, so its upper equation holds to about that. */
static void test_perturbed_starts(void **state)
{
    (void)state;
    for (int kind = 0; kind < 7; kind++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            bg_system_def def = define_kind(kind);
            assembly_bench b = bench_create(&def);
            b.start->t = 0.7;
            shake(&b, 0.04, seed);
            assemble(&b);
            check_consistent(&b, 1e-13);
            assert_true(strcmp(b.report.method, "damped") != 0);
            check_nearest(&b, 1e-11);
            bench_destroy(&b);
        }
}

/* Loops of a few centimetres: a shake of 0.04 rad is large for them. */
static void test_perturbed_mechanism(void **state)
{
    (void)state;
    bg_system_def def = builtin_define("andrews", NAN);
    assembly_bench b = bench_create(&def);
    shake(&b, 0.02, 5);
    assemble(&b);
    check_consistent(&b, 1e-13);
    check_nearest(&b, 1e-10);
    bench_destroy(&b);
}

/* Velocity projection alone, from any distance: it is linear. */
static void test_velocity_projection(void **state)
{
    (void)state;
    bg_system_def def = chain_define(6, false);
    assembly_bench b = bench_create(&def);
    uint64_t seed = 9;
    for (int i = 0; i < 12; i++)
        b.start->v[i] = 100 * sample_draw(&seed);
    assemble(&b);
    check_consistent(&b, 1e-13);
    bg_terms at = sample_evaluate(b.sys, b.x);
    double x[12];
    memcpy(x, b.report.moved_v, sizeof x);
    assert_true(sample_size(x, 12) > 10);
    split(&b, &at, x);
    assert_near(sample_size(x, 12), 0, 1e-12);
    sample_terms_destroy(&at);
    bench_destroy(&b);

    def = swing_define(PIVOT_IN_TIME, 0); /* at rest under a moving pivot: it is dragged along */
    b = bench_create(&def);
    b.start->v[0] = 0;
    assemble(&b);
    check_consistent(&b, 1e-14);
    assert_near(b.x->v[0], 0.3 * 0.36, 1e-15); /* n (n . (0.3, 0)), n = (0.6, -0.8) */
    assert_near(b.x->v[1], -0.3 * 0.48, 1e-15);
    bench_destroy(&b);
}

/* The nearest point of the circle lies on the ray through the guess, whichever way leads there:
 * matrix kept from near, renewed from farther away, damped where the first step would be enormous
 * or where the distance, of many radii, amplifies rounding along the circle. */
static void test_ways(void **state)
{
    (void)state;
    static const struct {
        double radius;
        const char *method;
    } cases[] = {{1.0, "chord"}, {1.05, "chord"},  {0.9, "chord"},   {3, "newton"},
                 {20, "damped"}, {0.05, "newton"}, {1e-4, "damped"}, {1e-8, "damped"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_system_def def = swing_define(PIVOT_FIXED, 0);
        assembly_bench b = bench_create(&def);
        b.start->q[0] = -0.8 * cases[i].radius;
        b.start->q[1] = 0.6 * cases[i].radius;
        assemble(&b);
        check_consistent(&b, 1e-13);
        assert_string_equal(b.report.method, cases[i].method);
        assert_near(b.x->q[0], -0.8, 1e-13);
        assert_near(b.x->q[1], 0.6, 1e-13);
        assert_true(b.report.iterations <= 100);
        bench_destroy(&b);
    }
}

/* Two bars of length 1 from (0, 0) and (distance, 0) meet in a point. */
static bg_system_def two_bars(double distance, double x, double y)
{
    const bar bars[] = {{0, -1, 1, 0, 0}, {0, -1, 1, distance, 0}};
    const double q0[] = {x, y};
    static const char *const g_names[] = {"left", "right"};
    bg_system_def def = linkage_define(1, 2, bars, q0, false);
    def.g_names = g_names;
    return def;
}

/* From nearly in line, the plain steps are hundreds of metres long. */
static void test_far_start(void **state)
{
    (void)state;
    static const double heights[] = {1e-4, -1e-4, 1e-2, -5, 40};
    for (int i = 0; i < 5; i++) {
        bg_system_def def = two_bars(1.5, 0.75, heights[i]);
        assembly_bench b = bench_create(&def);
        assemble(&b);
        check_consistent(&b, 1e-13);
        assert_near(b.x->q[0], 0.75, 1e-13);
        assert_near(fabs(b.x->q[1]), sqrt(1 - 0.5625), 1e-13);
        if (i < 2)
            assert_string_equal(b.report.method, "damped");
        assert_int_equal(b.report.redundancy.count, 0);
        bench_destroy(&b);
    }
}

/* The bars lie exactly in line at the guess: G has rank 1 there but 2 at the solution. */
static void test_singular_guess(void **state)
{
    (void)state;
    static const double along[] = {0.75, 0.5, 1.2, 2.5, -1};
    for (int i = 0; i < 5; i++) {
        bg_system_def def = two_bars(1.5, along[i], 0);
        assembly_bench b = bench_create(&def);
        assemble(&b);
        check_consistent(&b, 1e-13);
        assert_near(b.x->q[0], 0.75, 1e-13);
        assert_int_equal(b.report.redundancy.count, 0);
        bench_destroy(&b);
    }

    /* a four-bar linkage, all joints in line: crank 1, coupler 2.5, rocker 2, frame 3 */
    const bar bars[] = {{0, -1, 1, 0, 0}, {1, 0, 2.5, 0, 0}, {1, -1, 2, 3, 0}};
    const double q0[] = {1, 0, 2, 0};
    bg_system_def def = linkage_define(2, 3, bars, q0, false);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_consistent(&b, 1e-13);
    assert_int_equal(b.report.redundancy.count, 0);
    assert_true(fabs(b.x->q[3]) > 0.1);
    bench_destroy(&b);
}

/* Fixed coordinates do not move by a single bit; the others do the work. */
static void test_fixed_coordinates(void **state)
{
    (void)state;
    static const unsigned char q_fixed[10] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    static const unsigned char v_fixed[10] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    for (int sparse = 0; sparse < 2; sparse++) {
        bg_system_def def = chain_define(5, sparse);
        def.q_fixed = q_fixed;
        def.v_fixed = v_fixed;
        assembly_bench b = bench_create(&def);
        shake(&b, 0.05, 3);
        assemble(&b);
        check_consistent(&b, 1e-13);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(memcmp(&b.x->q[i], &b.start->q[i], sizeof(double)) == 0, q_fixed[i]);
            assert_int_equal(memcmp(&b.x->v[i], &b.start->v[i], sizeof(double)) == 0, v_fixed[i]);
        }
        bench_destroy(&b);
    }
    /* x stays 0.28, so y goes to -0.96, although that is not the nearest point */
    static const unsigned char x_fixed[2] = {1, 0};
    bg_system_def def = swing_define(PIVOT_FIXED, 0);
    def.q_fixed = x_fixed;
    assembly_bench b = bench_create(&def);
    b.start->q[0] = 0.28;
    assemble(&b);
    check_consistent(&b, 1e-13);
    assert_true(b.x->q[0] == 0.28);
    assert_near(b.x->q[1], -0.96, 1e-13);
    bench_destroy(&b);
}

static void test_everything_fixed(void **state)
{
    (void)state;
    static const unsigned char all[2] = {1, 1};
    bg_system_def def = swing_define(PIVOT_FIXED, 0);
    def.q_fixed = all;
    assembly_bench b = bench_create(&def);
    assemble(&b); /* fine as long as it is consistent */
    check_consistent(&b, 1e-15);
    b.start->q[0] = 0.7;
    assemble(&b);
    check_failed(&b, BG_NOT_ASSEMBLED, "'rod'", "no coordinate that may move");
    assert_non_null(strstr(b.err.text, "position"));
    bench_destroy(&b);

    def = swing_define(PIVOT_FIXED, 0);
    def.v_fixed = all;
    b = bench_create(&def);
    b.start->v[0] = 2;
    assemble(&b);
    check_failed(&b, BG_NOT_ASSEMBLED, "'rod'", "velocity");
    bench_destroy(&b);

    static const unsigned char x_only[2] = {1, 0}; /* |x| > 1: no y can help */
    def = swing_define(PIVOT_FIXED, 0);
    def.q_fixed = x_only;
    b = bench_create(&def);
    b.start->q[0] = 1.25;
    assemble(&b);
    check_failed(&b, BG_NOT_ASSEMBLED, "'rod'", "fix fewer");
    bench_destroy(&b);
}

static void test_unreachable(void **state)
{
    (void)state;
    static const double guesses[][2] = {{1.4, 0.3}, {1.5, 0}, {0, 2}, {3, -1}, {1, 0}};
    for (int i = 0; i < 5; i++) {
        bg_system_def def = two_bars(3, guesses[i][0], guesses[i][1]); /* 1 + 1 < 3 */
        assembly_bench b = bench_create(&def);
        b.start->v[0] = 0.25;
        assemble(&b);
        check_failed(&b, BG_NOT_ASSEMBLED, "'left'", "'right'");
        bench_destroy(&b);
    }
    /* beside them a bar that can be met is not blamed */
    const bar bars[] = {{0, -1, 1, 0, 0}, {1, -1, 1, 5, 5}, {0, -1, 1, 3, 0}};
    const double q0[] = {1.4, 0.3, 5.7, 5.5};
    static const char *const g_names[] = {"left", "innocent", "right"};
    bg_system_def def = linkage_define(2, 3, bars, q0, false);
    def.g_names = g_names;
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_NOT_ASSEMBLED, "'left'", "'right'");
    assert_null(strstr(b.err.text, "innocent"));
    bench_destroy(&b);
}

/* A rope of 12 whose end is to be held 20 away: all rows suffer, six are listed, the one that was
 * missed most at the start first. */
static void test_long_lists(void **state)
{
    (void)state;
    enum { N = 12 };
    bar bars[N + 1];
    double q0[2 * N];
    for (int k = 0; k < N; k++) {
        bars[k] = (bar){k, k - 1, 1, 0, 0};
        q0[2 * k] = 1.5 * (k + 1);
        q0[2 * k + 1] = 0.2 * (k % 2);
    }
    bars[N] = (bar){N - 1, -1, 0.5, 20, 0};
    bg_system_def def = linkage_define(N, N + 1, bars, q0, false);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_NOT_ASSEMBLED, "'g[12]', 'g[0]', 'g[1]', 'g[2]', 'g[3]', 'g[4]'", "more");
    bench_destroy(&b);
}

/* Constraints of the rope of two mixed by C: which rows leave, which multipliers are not unique,
 * and the same motion and the same total force as with the two rows alone. */
static void check_redundant(int rows, const double *C, const int *eliminated, int count,
                            const unsigned char *not_unique)
{
    bg_system_def inner = chain_define(2, false), plain_def = chain_define(2, false);
    bg_system_def def = mixed_define(&inner, rows, C, NULL, NULL);
    assembly_bench b = bench_create(&def), plain = bench_create(&plain_def);
    shake(&b, 0.03, 8);
    bg_state_copy(plain.sys, plain.start, plain.x);
    memcpy(plain.start->q, b.start->q, 8 * sizeof(double)); /* q and v */
    assemble(&b);
    assemble(&plain);
    check_consistent(&b, 1e-12);
    check_consistent(&plain, 1e-13);
    assert_int_equal(b.report.redundancy.count, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(b.report.redundancy.eliminated[i], eliminated[i]);
        assert_true(b.x->lambda[eliminated[i]] == 0);
    }
    assert_memory_equal(b.report.redundancy.not_unique, not_unique, (size_t)rows);
    double force[4] = {0}, plain_force[4] = {0};
    bg_terms at = sample_evaluate(b.sys, b.x), plain_at = sample_evaluate(plain.sys, plain.x);
    bg_matrix_add_transposed(rows, 4, NULL, at.G, 1, b.x->lambda, force);
    bg_matrix_add_transposed(2, 4, NULL, plain_at.G, 1, plain.x->lambda, plain_force);
    assert_true(sample_size(plain_force, 4) > 5);
    assert_near(sample_distance(force, plain_force, 4), 0, 1e-10);
    assert_near(sample_distance(b.x->q, plain.x->q, 4), 0, 1e-12);
    assert_near(sample_distance(b.x->v, plain.x->v, 4), 0, 1e-12);
    assert_near(sample_distance(b.x->a, plain.x->a, 4), 0, 1e-11);
    sample_terms_destroy(&at);
    sample_terms_destroy(&plain_at);
    bench_destroy(&b);
    bench_destroy(&plain);
}

static void test_redundant(void **state)
{
    (void)state;
    const double duplicate[] = {1, 0, 0, 1, 1, 0};
    check_redundant(3, duplicate, (const int[]){2}, 1, (const unsigned char[]){1, 0, 1});
    const double scaled[] = {1, 0, 0, 1, 0, 1000};
    check_redundant(3, scaled, (const int[]){2}, 1, (const unsigned char[]){0, 1, 1});
    const double tiny_first[] = {1e-3, 0, 0, 1, 1, 0};
    check_redundant(3, tiny_first, (const int[]){2}, 1, (const unsigned char[]){1, 0, 1});
    const double sum[] = {1, 0, 0, 1, 1, -2};
    check_redundant(3, sum, (const int[]){2}, 1, (const unsigned char[]){1, 1, 1});
    const double early[] = {1, 0, 1, 0, 0, 1};
    check_redundant(3, early, (const int[]){1}, 1, (const unsigned char[]){1, 1, 0});
    const double several[] = {1, 0, -1, 0, 0, 1, 2, 3, 0, -5};
    check_redundant(5, several, (const int[]){1, 3, 4}, 3, (const unsigned char[]){1, 1, 1, 1, 1});
    const double none[] = {1, 0, 0, 1};
    check_redundant(2, none, NULL, 0, (const unsigned char[]){0, 0});
    const double zero_row[] = {1, 0, 0, 0, 0, 1}; /* 0 = 0 */
    check_redundant(3, zero_row, (const int[]){1}, 1, (const unsigned char[]){0, 1, 0});
}

/* A point in the plane on straight lines a x + b y = c + d t + e t^2. */
typedef struct moving_line {
    double a, b, c, d, e;
} moving_line;

static int line_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const moving_line *lines = self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 2;
    if (want & BG_TERM_f)
        out->f[1] = -20;
    for (int i = 0; i < 2; i++) {
        const moving_line *l = &lines[i];
        if (want & BG_TERM_g)
            out->g[i] = l->a * p->q[0] + l->b * p->q[1] - l->c - l->d * p->t - l->e * p->t * p->t;
        if (want & BG_TERM_G) {
            out->G[2 * i] = l->a;
            out->G[2 * i + 1] = l->b;
        }
        if (want & BG_TERM_gt)
            out->gt[i] = -l->d - 2 * l->e * p->t;
        if (want & BG_TERM_gamma)
            out->gamma[i] = -2 * l->e;
    }
    return 0;
}

static bg_system_def lines_define(moving_line lines[2])
{
    static const char *const g_names[] = {"this_line", "that_line"};
    bg_system_def def = bg_default_system_def();
    def.name = "lines";
    def.nq = def.nv = def.ng = 2;
    def.self = lines;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma;
    def.terms = line_terms;
    def.g_names = g_names;
    return def;
}

static void check_contradiction(moving_line first, moving_line second, const char *level)
{
    moving_line lines[2] = {first, second};
    bg_system_def def = lines_define(lines);
    assembly_bench b = bench_create(&def);
    b.start->q[0] = 0.2;
    assemble(&b);
    check_failed(&b, BG_CONTRADICTORY, "'this_line'", "'that_line'");
    assert_non_null(strstr(b.err.text, level));
    bench_destroy(&b);
}

static void test_contradictory(void **state)
{
    (void)state;
    check_contradiction((moving_line){1, 0, 0, 0, 0}, (moving_line){1, 0, 1, 0, 0},
                        "position"); /* x = 0, 1 */
    check_contradiction((moving_line){1, 0, 0, 0, 0}, (moving_line){-3, 0, 1, 0, 0}, "position");
    check_contradiction((moving_line){1, 1, 0, 0, 0}, (moving_line){2, 2, 1e-6, 0, 0}, "position");
    check_contradiction((moving_line){1, 0, 0, 0, 0}, (moving_line){1, 0, 0, 1, 0},
                        "velocity"); /* x = 0, t */
    check_contradiction((moving_line){1, 0, 0, 0, 0}, (moving_line){1, 0, 0, 0, 1},
                        "acceleration"); /* x = t^2 */
    moving_line agree[2] = {{1, 2, 0.5, 1, 1}, {-2, -4, -1, -2, -2}};
    bg_system_def def = lines_define(agree);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_consistent(&b, 1e-14);
    assert_int_equal(b.report.redundancy.count, 1);
    assert_int_equal(b.report.redundancy.eliminated[0], 1);
    bench_destroy(&b);
}

/* Curved constraints that disagree: the rod is 1 long and 1.3 long. */
static void test_contradictory_rods(void **state)
{
    (void)state;
    static const double C[] = {1, 0, 0, 1, 1, 0}, offset[] = {0, 0, -0.345}, rate[] = {0, 0, 0.1};
    bg_system_def inner = chain_define(2, false);
    bg_system_def def = mixed_define(&inner, 3, C, offset, NULL);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_CONTRADICTORY, "'third' contradicts 'first'", "position");
    assert_null(strstr(b.err.text, "second"));
    bench_destroy(&b);

    inner = chain_define(2, false);
    def = mixed_define(&inner, 3, C, NULL, rate);
    b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_CONTRADICTORY, "'third' contradicts 'first'", "velocity");
    b.start->t = 1; /* then they disagree about the position already */
    assemble(&b);
    check_failed(&b, BG_CONTRADICTORY, "'third' contradicts 'first'", "position");
    bench_destroy(&b);
}

static void check_nan(bg_system_def inner, unsigned term, int entry, const char *name)
{
    spoiled what = {inner, term, BG_OF_r, BG_BY_q, entry, 0, NAN};
    bg_system_def def = spoiled_define(&what);
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_NOT_FINITE, name, inner.name);
    bench_destroy(&b);
}

static void test_not_finite(void **state)
{
    (void)state;
    check_nan(top_define(), BG_TERM_M, 7, "M[1][1] (vy, vy)");
    check_nan(top_define(), BG_TERM_f, 5, "f[5] (omega_3)");
    check_nan(top_define(), BG_TERM_g, 1, "g[1] (pin_y)");
    check_nan(top_define(), BG_TERM_G, 17, "G[2][5] (pin_z, omega_3)");
    check_nan(top_define(), BG_TERM_gamma, 0, "gamma[0] (pin_x)");
    check_nan(top_define(), BG_TERM_V, 41, "V[6][5]");
    check_nan(swing_define(PIVOT_IN_TIME, 0), BG_TERM_gt, 0, "g_t[0] (rod)");
    check_nan(builtin_define("slider-crank", NAN), BG_TERM_h, 0, "h[0] (kinetic_integral)");
    check_nan(builtin_define("bouncing-ball", NAN), BG_TERM_f, 0, "f[0] (y_dot)");
    check_nan(builtin_define("bouncing-ball", NAN), BG_TERM_M, 0, "M[0][0]");
    check_nan(chain_define(30, true), BG_TERM_G, 3, "G[1][1] (g[1], v[1])");
}

/* g = sqrt(x) - 0.1: full steps from x = 4 lead to negative x, where the system cannot be
 * evaluated, which it says with a code or with NaN. */
static int root_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    double x = p->q[0];
    if (x < 0 && *(int *)self != 0)
        return *(int *)self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 0;
    if (want & BG_TERM_g)
        out->g[0] = sqrt(x) - 0.1;
    if (want & BG_TERM_G)
        out->G[0] = 0.5 / sqrt(x);
    if (want & BG_TERM_gamma)
        out->gamma[0] = -0.25 * p->v[0] * p->v[0] / (x * sqrt(x));
    return 0;
}

static void test_limited_domain(void **state)
{
    (void)state;
    int code;
    bg_system_def def = bg_default_system_def();
    def.name = "root";
    def.nq = def.nv = def.ng = 1;
    def.self = &code;
    def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def.terms = root_terms;
    assembly_bench b = bench_create(&def);
    b.start->q[0] = 4;
    for (code = 0; code < 2; code++) { /* NaN, then "a smaller step may help" */
        assemble(&b);
        check_consistent(&b, 1e-13);
        assert_string_equal(b.report.method, "damped");
        assert_near(b.x->q[0], 0.01, 1e-14);
    }
    code = -1; /* a function that wants the run to end is obeyed */
    assemble(&b);
    check_failed(&b, BG_SYSTEM_FAILED, "'root'", "code -1");
    b.start->q[0] = -1;
    code = 1; /* at the start itself there is no smaller step */
    assemble(&b);
    check_failed(&b, BG_SYSTEM_FAILED, "'root'", "code 1");
    code = 0;
    assemble(&b);
    check_failed(&b, BG_NOT_FINITE, "'root'", "g[0]");
    bench_destroy(&b);
}

/* Neither mass nor constraint on a coordinate: singular, and said so. */
/* g jumps over zero by less than what counts as met: the search does not end, and its only
 * constraint is named all the same. */
static int jump_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = 0;
    if (want & BG_TERM_g)
        out->g[0] = p->q[0] + copysign(*(double *)self, p->q[0]);
    if (want & BG_TERM_G)
        out->G[0] = 1;
    if (want & BG_TERM_gamma)
        out->gamma[0] = 0;
    return 0;
}

static void test_nearly_met(void **state)
{
    (void)state;
    static const char *const names[] = {"jump"};
    for (double size = 1e-6; size > 2e-11; size *= 0.2) {
        bg_system_def def = bg_default_system_def();
        def.name = "jumping";
        def.nq = def.nv = def.ng = 1;
        def.self = &size;
        def.scleronomic = 1;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
        def.terms = jump_terms;
        def.g_names = names;
        assembly_bench b = bench_create(&def);
        b.start->q[0] = 0.3 * size;
        assemble(&b);
        check_failed(&b, BG_NOT_ASSEMBLED, "'jump'", "cannot be met");
        bench_destroy(&b);
    }
}

static void test_massless_coordinate(void **state)
{
    (void)state;
    spoiled what = {two_bars(0, 0.6, 0.8), BG_TERM_M, BG_OF_r, BG_BY_q, 0, -1, 0};
    what.inner.ng = 0;
    bg_system_def def = spoiled_define(&what);
    ((linkage *)what.inner.self)->bars = 0;
    assembly_bench b = bench_create(&def);
    assemble(&b);
    check_failed(&b, BG_SINGULAR, "singular", "'linkage'");
    bench_destroy(&b);
}

/* Shaken and not of unit length. */
static void test_quaternions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        bg_system_def def = top_define();
        assembly_bench b = bench_create(&def);
        shake(&b, 0.05, seed);
        for (int i = 3; i < 7; i++)
            b.start->q[i] *= 1.7;
        assemble(&b);
        check_consistent(&b, 1e-13);
        double square = 0, x[6];
        for (int i = 3; i < 7; i++)
            square += b.x->q[i] * b.x->q[i];
        assert_near(square, 1, 1e-15);
        assert_string_equal(b.report.method, "chord");
        assert_int_equal(b.report.redundancy.count, 0);
        bg_terms at = sample_evaluate(b.sys, b.x);
        memcpy(x, b.report.moved_v, sizeof x);
        split(&b, &at, x);
        assert_near(sample_size(x, 6), 0, 1e-13);
        sample_terms_destroy(&at);
        bench_destroy(&b);
    }
}

/* The heavy top's accelerations against its equation about the fixed point, in body axes:
 *   I omega' = -omega x I omega + c x m R^T (0, 0, -gravity),   I = J + m (c.c 1 - c c^T). */
static void test_top_acceleration(void **state)
{
    (void)state;
    bg_system_def def = top_define();
    assembly_bench b = bench_create(&def);
    assemble(&b);
    const top *s = def.self;
    const double *c = s->c, *omega = b.x->v + 3, *alpha = b.x->a + 3;
    double R[3][3], L[3], L_t[3], turn[3], torque[3], down[3], square = 0;
    top_rotation(b.x->q + 3, R);
    for (int i = 0; i < 3; i++) {
        square += c[i] * c[i];
        down[i] = -s->m * s->gravity * R[2][i];
    }
    for (int i = 0; i < 3; i++) {
        L[i] = (s->J[i] + s->m * square) * omega[i];
        L_t[i] = (s->J[i] + s->m * square) * alpha[i];
        for (int j = 0; j < 3; j++) {
            L[i] -= s->m * c[i] * c[j] * omega[j];
            L_t[i] -= s->m * c[i] * c[j] * alpha[j];
        }
    }
    top_cross(L, omega, turn);
    top_cross(c, down, torque);
    for (int i = 0; i < 3; i++)
        assert_near(L_t[i], turn[i] + torque[i], 1e-12);
    assert_true(sample_size(L_t, 3) > 1);
    bench_destroy(&b);
}

/* 60 points: 180 unknowns by the sparse LU and by LAPACK. */
static void test_sparse_is_dense(void **state)
{
    (void)state;
    enum { N = 60 };
    bg_system_def dense_def = chain_define(N, false), sparse_def = chain_define(N, true);
    assembly_bench dense = bench_create(&dense_def), sparse = bench_create(&sparse_def);
    shake(&dense, 0.02, 6);
    shake(&sparse, 0.02, 6);
    assemble(&dense);
    assemble(&sparse);
    check_consistent(&dense, 1e-12);
    check_consistent(&sparse, 1e-12);
    check_nearest(&sparse, 1e-11);
    assert_near(sample_distance(dense.x->q, sparse.x->q, 2 * N), 0, 1e-11);
    assert_near(sample_distance(dense.x->v, sparse.x->v, 2 * N), 0, 1e-11);
    double pull = sample_size(dense.x->lambda, N), size_a = sample_size(dense.x->a, 2 * N);
    assert_true(pull > 100);
    assert_near(sample_distance(dense.x->a, sparse.x->a, 2 * N) / size_a, 0, 1e-10);
    assert_near(sample_distance(dense.x->lambda, sparse.x->lambda, N) / pull, 0, 1e-10);
    assert_int_equal(dense.report.iterations, sparse.report.iterations);
    bench_destroy(&dense);
    bench_destroy(&sparse);
}

/* Constraints whose G, g_t and gamma come from differences assemble all the same. */
static void test_by_differences(void **state)
{
    (void)state;
    bg_system_def whole = swing_define(PIVOT_AS_INPUT, 0);
    bg_system_def part = swing_define(PIVOT_AS_INPUT, BG_TERM_G | BG_TERM_gt | BG_TERM_gamma);
    assembly_bench exact = bench_create(&whole), b = bench_create(&part);
    exact.start->t = b.start->t = 0.4;
    shake(&exact, 0.05, 2);
    shake(&b, 0.05, 2);
    assemble(&exact);
    assemble(&b);
    check_consistent(&exact, 1e-13);
    assert_int_equal(b.status, BG_OK);
    assert_true(b.report.max_g < 1e-13); /* g itself is exact */
    assert_near(sample_distance(b.x->q, exact.x->q, 2), 0, 1e-10);
    assert_near(sample_distance(b.x->v, exact.x->v, 2), 0, 1e-9);
    assert_near(b.x->lambda[0], exact.x->lambda[0], 1e-6);
    bench_destroy(&exact);
    bench_destroy(&b);
}

/* The report is optional, and assembling an assembled state changes nothing but rounding. */
static void test_repeated(void **state)
{
    (void)state;
    bg_system_def def = chain_define(7, false);
    assembly_bench b = bench_create(&def);
    shake(&b, 0.05, 4);
    assemble(&b);
    check_consistent(&b, 1e-13);
    bg_state_copy(b.sys, b.x, b.start);
    assert_int_equal(bg_state_assemble(b.sys, b.x, NULL, NULL), BG_OK);
    assert_near(sample_distance(b.x->q, b.start->q, 28), 0, 1e-14); /* q and v */
    bench_destroy(&b);
}

/* The integrators' projection: with one factorisation from nearby, refused from too far. */
static void test_project_state(void **state)
{
    (void)state;
    bg_system_def def = chain_define(7, false);
    assembly_bench b = bench_create(&def);
    bg_evaluator *ev = new_evaluator(b.sys);
    bg_dynamics *dyn;
    assert_int_equal(bg_dynamics_create(ev, &dyn, &b.err), BG_OK);
    shake(&b, 1e-3, 4);
    assemble(&b);
    bg_state *x;
    assert_int_equal(bg_state_create(b.sys, &x, &b.err), BG_OK);
    bg_state_copy(b.sys, b.start, x);
    assert_int_equal(bg_project_state(dyn, x, &b.err), BG_OK);
    assert_int_equal(ev->work[BG_FOR_PROJECTION].projections, 1);
    assert_int_equal(ev->work[BG_FOR_STEPS].factorisations, 2);
    bg_residuals r = bg_dynamics_calc_residuals(dyn, x->v, x->a);
    /* 1e-13 of the configuration's size of 8, as predicted from two ratios that differ by 3; g at
     * the projected point was evaluated along */
    assert_near(r.g, 0, 5e-12);
    assert_near(r.gv, 0, 1e-13);
    /* the matrix of the shaken point makes it the nearest point only to second order */
    assert_near(sample_distance(x->q, b.x->q, 14), 0, 1e-4);
    assert_true(sample_distance(x->q, b.start->q, 14) > 5e-4);
    bg_state_copy(b.sys, b.start, x);
    for (int i = 0; i < 14; i++)
        x->q[i] *= 1e-3;
    assert_int_equal(bg_project_state(dyn, x, &b.err), BG_RETRY);
    bg_state_destroy(x);
    bg_dynamics_destroy(dyn);
    bg_evaluator_destroy(ev);
    bench_destroy(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_start_stays),   cmocka_unit_test(test_unconstrained),
        cmocka_unit_test(test_perturbed_starts),    cmocka_unit_test(test_perturbed_mechanism),
        cmocka_unit_test(test_velocity_projection), cmocka_unit_test(test_ways),
        cmocka_unit_test(test_far_start),           cmocka_unit_test(test_singular_guess),
        cmocka_unit_test(test_fixed_coordinates),   cmocka_unit_test(test_everything_fixed),
        cmocka_unit_test(test_unreachable),         cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_redundant),           cmocka_unit_test(test_contradictory),
        cmocka_unit_test(test_contradictory_rods),  cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_limited_domain),      cmocka_unit_test(test_nearly_met),
        cmocka_unit_test(test_massless_coordinate), cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_top_acceleration),    cmocka_unit_test(test_sparse_is_dense),
        cmocka_unit_test(test_by_differences),      cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_project_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

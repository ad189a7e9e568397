/* Least squares in levels on random sparse problems, with groups and with the sparse elimination,
 * beside what makes their solution: the first level is met, the second is as near as the first
 * lets it be, and what neither decides is zero. And starts of long mechanisms, whose search must
 * cost no more than their length. */
#include "assembled_support.h"
#include "linalg/levels.h"
#include "linalg/thin.h"
#include "model_support.h"
#include "random_mechanism.h"

#include <jansson.h>

enum { MOST = 160, CASES = 60 };
static const double negligible = 1e-8;

typedef struct level_problem {
    int n, m[2];
    double unit[MOST], b[2][2 * MOST];
    double A[2][2 * MOST * MOST]; /* in units of the unknowns */
    double Q[2 * MOST * MOST];    /* orthonormal rows that span those of A[0], then of A[1] */
    int rank[2];
} level_problem;

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* x without its part in the first `count` rows of Q. */
static void project(const level_problem *p, int count, double *x)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const double *q = p->Q + (size_t)k * (size_t)p->n;
            double h = dot(q, x, p->n);
            for (int i = 0; i < p->n; i++)
                x[i] -= h * q[i];
        }
}

static void orthogonalise(level_problem *p)
{
    int count = 0;
    for (int l = 0; l < 2; l++) {
        double longest = 0;
        for (int i = 0; i < p->m[l]; i++) {
            const double *a = p->A[l] + (size_t)i * (size_t)p->n;
            longest = fmax(longest, sqrt(dot(a, a, p->n)));
        }
        for (int i = 0; i < p->m[l]; i++) {
            double *q = p->Q + (size_t)count * (size_t)p->n;
            memcpy(q, p->A[l] + (size_t)i * (size_t)p->n, (size_t)p->n * sizeof *q);
            project(p, count, q);
            double length = sqrt(dot(q, q, p->n));
            if (length <= negligible * longest)
                continue;
            for (int j = 0; j < p->n; j++)
                q[j] /= length;
            count++;
        }
        p->rank[l] = count;
    }
}

/* A chain in which every row speaks of two neighbours, so that free directions reach far, cut into
 * parts; some rows of the first
 * level are sums of two others, which in some problems contradict them; rows of the second are few
 * or many, and contradict each other. */
static void draw(level_problem *p, uint64_t *seed, bool redundant, bool contradictory)
{
    p->n = 20 + (int)random_between(seed, 0, MOST - 21);
    int part = random_between(seed, 0, 1) < 0.5 ? p->n : 3 + (int)random_between(seed, 0, 40);
    memset(p->A, 0, sizeof p->A);
    p->m[0] = 0;
    for (int i = 0; i < p->n - 2; i++) {
        double *row = p->A[0] + (size_t)p->m[0] * (size_t)p->n;
        if (i % part + 2 >= part || random_between(seed, 0, 1) < 0.05)
            continue;
        int reach = random_between(seed, 0, 1) < 0.8 ? 1 : 2;
        row[i] = random_between(seed, 0.5, 1);
        row[i + reach] = row[i] * random_between(seed, -1.05, -0.95);
        p->b[0][p->m[0]++] = random_between(seed, -1, 1);
        if (redundant && p->m[0] > 4 && random_between(seed, 0, 1) < 0.05) {
            for (int j = 0; j < p->n; j++)
                row[p->n + j] = row[j] + row[j - p->n];
            p->b[0][p->m[0]] = p->b[0][p->m[0] - 1] + p->b[0][p->m[0] - 2] + contradictory;
            p->m[0]++;
        }
    }
    p->m[1] = (int)random_between(seed, 1, 1.2 * p->n);
    for (int i = 0; i < p->m[1]; i++) {
        int at = (int)random_between(seed, 0, p->n - 2);
        p->A[1][i * p->n + at] = random_between(seed, 0.5, 1);
        p->A[1][i * p->n + at + 1] = random_between(seed, -1, 1);
        p->b[1][i] = random_between(seed, -1, 1);
    }
    for (int i = 0; i < p->n; i++)
        p->unit[i] = pow(10, random_between(seed, -2, 2));
    orthogonalise(p);
}

static void add(const level_problem *p, int l, bg_levels *levels)
{
    bg_error err = {BG_OK, ""};
    bg_sparse_rows rows = {0};
    for (int i = 0; i < p->m[l]; i++) {
        bg_sparse_rows_begin(&rows);
        for (int j = 0; j < p->n; j++)
            if (p->A[l][i * p->n + j] != 0)
                bg_sparse_rows_add(&rows, j, p->A[l][i * p->n + j] / p->unit[j]);
    }
    assert_ok(bg_levels_add_rows(levels, &rows, p->b[l], negligible, 0, &err));
    bg_sparse_rows_clear(&rows);
}

/* What is left of the gradient of a level's squares in the directions it may choose. */
static double calc_slope(const level_problem *p, int l, const double *y)
{
    double slope[MOST] = {0};
    for (int i = 0; i < p->m[l]; i++) {
        const double *a = p->A[l] + (size_t)i * (size_t)p->n;
        double r = dot(a, y, p->n) - p->b[l][i];
        for (int j = 0; j < p->n; j++)
            slope[j] += r * a[j];
    }
    project(p, l == 0 ? 0 : p->rank[0], slope);
    return sqrt(dot(slope, slope, p->n));
}

/* Directions that are left are orthonormal, and no row of the levels so far changes along them. */
static void check_directions(const level_problem *p, int level, bg_levels *levels)
{
    int f = bg_levels_get_freedom(levels), n = p->n;
    double *Z = calloc((size_t)f * (size_t)n + 1, sizeof *Z);
    assert_int_equal(bg_levels_calc_directions(levels, Z), BG_OK);
    for (int i = 0; i < f; i++) {
        const double *z = Z + (size_t)i * (size_t)n;
        for (int j = 0; j <= i; j++)
            assert_near(dot(z, Z + (size_t)j * (size_t)n, n), i == j, 1e-12);
        for (int l = 0; l <= level; l++)
            for (int k = 0; k < p->m[l]; k++)
                assert_near(dot(p->A[l] + (size_t)k * (size_t)n, z, n), 0, 10 * negligible);
    }
    free(Z);
}

/* Both levels are as they should be; with directions asked for in between, or not. */
static void check(const level_problem *p, bool directions)
{
    bg_error err = {BG_OK, ""};
    bg_levels *levels;
    double y[MOST];
    assert_ok(bg_levels_create(p->n, p->unit, &levels, &err));
    for (int again = 0; again < 2; again++) { /* what is left of before has no say */
        bg_levels_reset(levels);
        add(p, 0, levels);
        assert_int_equal(bg_levels_get_freedom(levels), p->n - p->rank[0]);
        if (directions && again == 0)
            check_directions(p, 0, levels);
        add(p, 1, levels);
    }
    assert_int_equal(bg_levels_get_freedom(levels), p->n - p->rank[1]);
    for (int i = 0; i < p->n; i++)
        y[i] = bg_levels_get_x(levels)[i] / p->unit[i];
    double size = 1 + sqrt(dot(y, y, p->n));
    assert_near(calc_slope(p, 0, y) / size, 0, 1e-11);
    assert_near(calc_slope(p, 1, y) / size, 0, 10 * negligible); /* left undecided */
    project(p, p->rank[1], y);
    for (int i = 0; i < p->n; i++)
        y[i] = bg_levels_get_x(levels)[i] / p->unit[i] - y[i];
    project(p, p->rank[1], y); /* nothing: y was in the span of the rows */
    assert_near(sqrt(dot(y, y, p->n)) / size, 0, 1e-11);
    if (directions)
        check_directions(p, 1, levels);
    bg_levels_destroy(levels);
}

static void test_optimal(void **state)
{
    (void)state;
    uint64_t seed = 11;
    level_problem *p = calloc(1, sizeof *p);
    int groups = 0;
    for (int k = 0; k < CASES; k++) {
        draw(p, &seed, k % 3 > 0, k % 3 == 2);
        check(p, k % 2 == 0);
        groups += p->rank[0] < p->n - 2;
    }
    assert_true(groups > CASES / 4);
    free(p);
}

/* Few rows that tie all unknowns together, the last of which is the sum of others in some problems;
 * then rows that ask for single unknowns, for all or all but some, twice for some, and in some
 * problems one that asks for two. */
static void draw_few(level_problem *p, uint64_t *seed, int variant)
{
    memset(p->A, 0, sizeof p->A);
    p->n = 40 + (int)random_between(seed, 0, MOST - 41);
    p->m[0] = 1 + (int)random_between(seed, 0, 5);
    for (int i = 0; i < p->m[0]; i++)
        for (int j = 0; j < p->n; j++)
            p->A[0][i * p->n + j] = random_between(seed, -1, 1);
    for (int i = 0; i < p->m[0]; i++)
        p->b[0][i] = random_between(seed, -1, 1);
    bool depends = variant % 2 == 1 && p->m[0] > 2;
    for (int j = 0; j < p->n && depends; j++)
        p->A[0][(p->m[0] - 1) * p->n + j] = p->A[0][j] - p->A[0][p->n + j];
    int left_out = (int)random_between(seed, 0, 2 * p->m[0]) + (variant % 3 == 0 ? p->n / 2 : 0);
    p->m[1] = 0;
    for (int j = 0; j < p->n; j++)
        for (int twice = 0; twice < 1 + (random_between(seed, 0, 1) < 0.1) && j >= left_out;
             twice++) {
            p->A[1][p->m[1] * p->n + j] = random_between(seed, 0.5, 2);
            p->b[1][p->m[1]++] = random_between(seed, -1, 1);
        }
    if (variant % 5 == 4)
        p->A[1][0] = 1;
    for (int i = 0; i < p->n; i++)
        p->unit[i] = pow(10, random_between(seed, -2, 2));
    orthogonalise(p);
}

static void test_few(void **state)
{
    (void)state;
    uint64_t seed = 5;
    level_problem *p = calloc(1, sizeof *p);
    for (int k = 0; k < CASES; k++) {
        draw_few(p, &seed, k);
        check(p, k % 4 == 0);
    }
    free(p);
}

/* What would take much of an unknown that is not asked for, per unit of those that are, is decided
 * or not as the tolerance says: whether rows are few or not makes no difference. */
static void test_leverage(void **state)
{
    (void)state;
    static const double tolerance[] = {1e-2, 1e-8};
    for (int k = 0; k < 2; k++) {
        bg_error err = {BG_OK, ""};
        double unit[MOST], b[MOST] = {0};
        bg_sparse_rows first = {0}, second = {0};
        bg_levels *levels;
        bg_sparse_rows_begin(&first);
        for (int j = 0; j < MOST; j++) {
            unit[j] = 1;
            b[j] = j % 3;
            bg_sparse_rows_add(&first, j, j == 0 ? 1e-3 : 1);
            if (j > 0) {
                bg_sparse_rows_begin(&second);
                bg_sparse_rows_add(&second, j, 1);
            }
        }
        assert_ok(bg_levels_create(MOST, unit, &levels, &err));
        assert_ok(bg_levels_add_rows(levels, &first, b, 1e-8, 0, &err));
        assert_int_equal(bg_levels_get_freedom(levels), MOST - 1);
        assert_ok(bg_levels_add_rows(levels, &second, b, tolerance[k], 0, &err));
        assert_int_equal(bg_levels_get_freedom(levels), k == 0);
        assert_true(k == 0 ? fabs(bg_levels_get_x(levels)[0]) < 1
                           : fabs(bg_levels_get_x(levels)[0]) > 1e4);
        bg_sparse_rows_clear(&first);
        bg_sparse_rows_clear(&second);
        bg_levels_destroy(levels);
    }
}

/* Dense work beyond a limit is refused, sparse work is not. */
static void test_limit(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double unit[MOST], b[2 * MOST] = {0};
    bg_levels *levels;
    bg_sparse_rows rows = {0};
    for (int i = 0; i < MOST; i++)
        unit[i] = 1;
    assert_ok(bg_levels_create(MOST, unit, &levels, &err));
    bg_levels_set_limit(levels, MOST / 2);
    for (int i = 0; i + 1 < MOST; i++) {
        bg_sparse_rows_begin(&rows);
        bg_sparse_rows_add(&rows, i, 1);
        bg_sparse_rows_add(&rows, i + 1, -1);
    }
    assert_ok(bg_levels_add_rows(levels, &rows, b, 1e-8, 0, &err));
    assert_int_equal(bg_levels_get_freedom(levels), 1);
    bg_levels_reset(levels);
    bg_sparse_rows_begin(&rows); /* against the first */
    bg_sparse_rows_add(&rows, 0, 1);
    bg_sparse_rows_add(&rows, 1, -1);
    b[MOST - 1] = 1;
    assert_int_equal(bg_levels_add_rows(levels, &rows, b, 1e-8, 0, &err), BG_RETRY);
    bg_sparse_rows_clear(&rows);
    bg_levels_destroy(levels);
}

/* A02 with nothing given but position and velocity of its first crank: all cranks turn alike. */
static char *make_four_bars(int n)
{
    json_t *root = json_load_file(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", 0, NULL);
    json_t *joints = json_object_get(root, "joints"), *joint;
    const char *name;
    assert_non_null(joints);
    json_object_foreach(joints, name, joint) if (strcmp(name, "pivot0") != 0)
        json_object_del(joint, "initial");
    json_object_set_new(json_object_get(joints, "pivot0"), "initial",
                        json_pack("{s:f, s:f, s:b, s:b}", "position", 0.3, "velocity", -1.0,
                                  "fixed", 1, "fixed_velocity", 1));
    json_object_set_new(root, "parameters", json_pack("{s:i}", "N", n));
    char *text = json_dumps(root, JSON_REAL_PRECISION(17));
    json_decref(root);
    return text;
}

/* By cubes of the number of loops, 2560 of them would take an hour. */
static void test_long_mechanisms(void **state)
{
    (void)state;
    static const int loops[] = {2560, 320};
    for (int k = 0; k < 2; k++) {
        bg_error err = {BG_OK, ""};
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        char *text = make_four_bars(loops[k]);
        assembled a = assembled_parse(text, forms[k]);
        assert_int_equal(a.status, BG_OK);
        assert_int_equal(a.report.nunmet, 0);
        const bg_system_def *def = bg_system_get_def(a.sys);
        for (int i = 0; k == 0 && i < def->nv; i++) {
            bool crank = strncmp(def->q_names[i], "pivot", 5) == 0;
            assert_near(a.x->q[i], crank ? 0.3 : -0.3, 1e-9);
            assert_near(a.x->v[i], crank ? -1 : 1, 1e-9);
        }
        o.t_end = 1e-3;
        assert_ok(bg_run(a.sys, &o, &r, &err));
        assert_near(r.y[3], 0.3 - 1e-3, 1e-4);
        bg_run_report_clear(&r);
        assembled_clear(&a);
        free(text);
    }
}

/* Vectors that are nearly dependent are made orthogonal to rounding, not to what is left of them.
 */
static void test_thin_is_orthogonal(void **state)
{
    (void)state;
    enum { N = 40, M = 4 };
    double Q[M * N], R[M * M], left;
    int order[M];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            Q[j * N + i] = sin(1 + i) + (j > 0 ? 1e-6 * cos((2 + j) * i) : 0);
    assert_int_equal(bg_thin_orthogonalise(N, M, 1e-12, Q, R, order, &left), M);
    for (int j = 0; j < M; j++)
        for (int k = 0; k <= j; k++) {
            double product = 0;
            for (int i = 0; i < N; i++)
                product += Q[j * N + i] * Q[k * N + i];
            assert_true(fabs(product - (j == k)) < 1e-14);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thin_is_orthogonal),
        cmocka_unit_test(test_optimal),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_leverage),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_long_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

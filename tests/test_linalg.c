/* Linear systems: residuals, dense against sparse, singular and badly scaled matrices, ranks,
 * groups of columns, and the archive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/archive.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 80, COUNT_MAX = N_MAX * N_MAX };

typedef struct random_source {
    uint64_t state;
} random_source;

/* Uniform in [-1, 1). */
static double draw(random_source *source)
{
    source->state = source->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(source->state >> 11) * 0x1p-52 - 1;
}

typedef struct saddle_pattern {
    bg_pattern pattern;
    int row_start[N_MAX + 1], column[COUNT_MAX];
} saddle_pattern;

/* Each entry with the given probability; the diagonal always when asked for. */
static void make_pattern(saddle_pattern *p, int rows, int columns, double density, bool diagonal,
                         random_source *source)
{
    int count = 0;
    for (int i = 0; i < rows; i++) {
        p->row_start[i] = count;
        for (int j = 0; j < columns; j++)
            if ((diagonal && i == j) || draw(source) < 2 * density - 1)
                p->column[count++] = j;
    }
    p->row_start[rows] = count;
    p->pattern = (bg_pattern){rows, columns, p->row_start, p->column};
}

static void make_dense(const bg_pattern *p, const double *values, double *A)
{
    for (int k = 0; k < p->rows * p->columns; k++)
        A[k] = 0;
    for (int i = 0; i < p->rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            A[i * p->columns + p->column[k]] = values[k];
}

/* max_i |b - A x|_i / (|b| + |A| |x|)_i */
static double calc_omega(int n, const double *A, const double *x, const double *b)
{
    double omega = 0;
    for (int i = 0; i < n; i++) {
        double r = b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            r -= A[i * n + j] * x[j];
            size += fabs(A[i * n + j] * x[j]);
        }
        omega = fmax(omega, fabs(r) / size);
    }
    return omega;
}

static double calc_difference(int n, const double *x, const double *y)
{
    double difference = 0, size = 0;
    for (int i = 0; i < n; i++) {
        difference = fmax(difference, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return difference / size;
}

/* Rounding in an LU of size n without growth leaves a few n eps. */
static void test_dense_solve(void **state)
{
    (void)state;
    random_source source = {1};
    static double b[N_MAX], x[N_MAX];
    for (int n = 1; n <= 60; n++) {
        bg_linear *linear;
        assert_int_equal(bg_linear_create(n, NULL, &linear, NULL), BG_OK);
        double *A = bg_linear_get_values(linear), first = 0;
        for (int k = 0; k < n * n; k++)
            assert_true(A[k] == 0);
        for (int k = 0; k < n * n; k++)
            A[k] = draw(&source);
        for (int i = 0; i < n; i++)
            x[i] = b[i] = draw(&source);
        first = A[0];
        assert_int_equal(bg_linear_factor(linear), BG_OK);
        assert_true(A[0] == first);
        bg_linear_solve(linear, x);
        assert_true(calc_omega(n, A, x, b) < 10 * n * DBL_EPSILON);
        bg_linear_destroy(linear);
    }
}

/* Refinement brings the componentwise backward error down to a few eps, whatever n. */
static void test_sparse_solve(void **state)
{
    (void)state;
    random_source source = {2};
    static saddle_pattern p;
    static double A[COUNT_MAX], b[N_MAX], x[N_MAX];
    for (int n = 1; n <= N_MAX; n += 13) {
        make_pattern(&p, n, n, 0.08, true, &source);
        bg_linear *linear;
        assert_int_equal(bg_linear_create(n, &p.pattern, &linear, NULL), BG_OK);
        for (int repeat = 0; repeat < 5; repeat++) {
            double *values = bg_linear_get_values(linear);
            for (int k = 0; k < p.row_start[n]; k++)
                values[k] = draw(&source);
            for (int i = 0; i < n; i++)
                x[i] = b[i] = draw(&source);
            assert_int_equal(bg_linear_factor(linear), BG_OK);
            bg_linear_solve(linear, x);
            make_dense(&p.pattern, values, A);
            assert_true(calc_omega(n, A, x, b) < 8 * DBL_EPSILON);
        }
        bg_linear_destroy(linear);
    }
}

/* A saddle-point problem in patterns, its dense form, and its full matrix. */
typedef struct saddle_problem {
    int nv, ng, n;
    saddle_pattern pattern_M, pattern_G;
    double M[COUNT_MAX], upper[COUNT_MAX], lower[COUNT_MAX];
    double M_dense[COUNT_MAX], upper_dense[COUNT_MAX], lower_dense[COUNT_MAX];
    double K[COUNT_MAX];
    unsigned char eliminated[N_MAX], fixed[N_MAX];
} saddle_problem;

static void make_problem(saddle_problem *p, int nv, int ng, double density, random_source *source)
{
    p->nv = nv;
    p->ng = ng;
    p->n = nv + ng;
    memset(p->eliminated, 0, sizeof p->eliminated);
    memset(p->fixed, 0, sizeof p->fixed);
    make_pattern(&p->pattern_M, nv, nv, density, true, source);
    make_pattern(&p->pattern_G, ng, nv, density, true, source);
    for (int i = 0; i < nv; i++)
        for (int k = p->pattern_M.row_start[i]; k < p->pattern_M.row_start[i + 1]; k++)
            p->M[k] = draw(source) + (p->pattern_M.column[k] == i ? 3 : 0);
    for (int k = 0; k < p->pattern_G.row_start[ng]; k++) {
        p->upper[k] = draw(source);
        p->lower[k] = p->upper[k] + 0.3 * draw(source);
    }
}

/* The dense blocks, and K written straight from the definition. */
static void update_dense(saddle_problem *p)
{
    int nv = p->nv, n = p->n;
    make_dense(&p->pattern_M.pattern, p->M, p->M_dense);
    make_dense(&p->pattern_G.pattern, p->upper, p->upper_dense);
    make_dense(&p->pattern_G.pattern, p->lower, p->lower_dense);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool held_i = i < nv ? p->fixed[i] : p->eliminated[i - nv];
            bool held_j = j < nv ? p->fixed[j] : p->eliminated[j - nv];
            double k = 0;
            if (i < nv && j < nv)
                k = p->M_dense[i * nv + j];
            else if (i < nv)
                k = p->upper_dense[(j - nv) * nv + i];
            else if (j < nv)
                k = p->lower_dense[(i - nv) * nv + j];
            p->K[i * n + j] = held_i || held_j ? i == j : k;
        }
}

static bool is_held(const saddle_problem *p, int i)
{
    return i < p->nv ? p->fixed[i] : p->eliminated[i - p->nv];
}

/* Solves p with kkt, checks it against K, and leaves the solution (n entries) in x. */
static void check_kkt(const saddle_problem *p, bg_kkt *kkt, bool dense, double *x)
{
    int nv = p->nv, n = p->n;
    double b[N_MAX];
    random_source source = {77};
    for (int i = 0; i < n; i++) {
        x[i] = draw(&source);
        b[i] = is_held(p, i) ? 0 : x[i];
    }
    if (dense)
        assert_int_equal(bg_kkt_factor(kkt, p->M_dense, p->upper_dense, p->lower_dense), BG_OK);
    else
        assert_int_equal(bg_kkt_factor(kkt, p->M, p->upper, p->lower), BG_OK);
    bg_kkt_solve(kkt, x, x + nv);
    for (int i = 0; i < n; i++) {
        double r = b[i];
        for (int j = 0; j < n; j++)
            r -= p->K[i * n + j] * x[j];
        assert_true(fabs(r) < 1e-12);
        assert_true((x[i] == 0) == is_held(p, i));
    }
}

/* Through every way of assembly, with held unknowns set and released again. */
static void check_kkt_variants(saddle_problem *p)
{
    static double x[4][N_MAX], y[N_MAX]; /* dense solutions, sparse solution */
    const bg_pattern *M = &p->pattern_M.pattern, *G = &p->pattern_G.pattern;
    bg_kkt *dense, *sparse;
    assert_int_equal(bg_kkt_create(p->nv, p->ng, NULL, NULL, &dense, NULL), BG_OK);
    assert_int_equal(bg_kkt_create(p->nv, p->ng, M, G, &sparse, NULL), BG_OK);
    for (int round = 0; round < 4; round++) {
        p->eliminated[1] = p->eliminated[p->ng - 1] = round == 1 || round == 2;
        p->fixed[p->nv - 1] = p->fixed[p->nv - 2] = round == 2;
        bool any = round == 1 || round == 2;
        bg_kkt_set_eliminated(dense, any ? p->eliminated : NULL);
        bg_kkt_set_eliminated(sparse, any ? p->eliminated : NULL);
        bg_kkt_set_fixed(dense, p->fixed);
        bg_kkt_set_fixed(sparse, p->fixed);
        update_dense(p);
        check_kkt(p, dense, true, x[round]);
        check_kkt(p, sparse, false, y);
        assert_true(calc_difference(p->n, y, x[round]) < 1e-12);
        double a = bg_kkt_calc_rcond(dense), b = bg_kkt_calc_rcond(sparse);
        assert_true(a > 0 && fabs(a / b - 1) < 1e-6);
    }
    assert_memory_equal(x[3], x[0], (size_t)p->n * sizeof(double)); /* released without a trace */
    assert_true(calc_difference(p->n, x[1], x[0]) > 1e-3);
    bg_kkt_destroy(dense);
    bg_kkt_destroy(sparse);
}

static void test_kkt_dense_against_sparse(void **state)
{
    (void)state;
    static saddle_problem p;
    random_source source = {3};
    const int sizes[][2] = {{3, 2}, {7, 6}, {14, 10}, {22, 14}, {27, 14}, {45, 30}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        make_problem(&p, sizes[s][0], sizes[s][1], 0.15, &source);
        check_kkt_variants(&p);
    }
}

/* One pattern alone: the other block is full. */
static void test_kkt_one_pattern(void **state)
{
    (void)state;
    static saddle_problem p;
    static double x[N_MAX], y[N_MAX];
    random_source source = {4};
    for (int nv = 6; nv <= 40; nv += 34) {
        make_problem(&p, nv, 4, 0.3, &source);
        update_dense(&p);
        bg_kkt *dense, *mixed[2];
        assert_int_equal(bg_kkt_create(nv, 4, NULL, NULL, &dense, NULL), BG_OK);
        assert_int_equal(bg_kkt_create(nv, 4, &p.pattern_M.pattern, NULL, &mixed[0], NULL), BG_OK);
        assert_int_equal(bg_kkt_create(nv, 4, NULL, &p.pattern_G.pattern, &mixed[1], NULL), BG_OK);
        check_kkt(&p, dense, true, x);
        for (int k = 0; k < 2; k++) {
            const double *upper = k == 0 ? p.upper_dense : p.upper;
            const double *lower = k == 0 ? p.lower_dense : p.lower;
            assert_int_equal(bg_kkt_factor(mixed[k], k == 0 ? p.M : p.M_dense, upper, lower),
                             BG_OK);
            random_source again = {77};
            for (int i = 0; i < p.n; i++)
                y[i] = draw(&again);
            bg_kkt_solve(mixed[k], y, y + nv);
            assert_true(calc_difference(p.n, y, x) < 1e-12);
            bg_kkt_destroy(mixed[k]);
        }
        bg_kkt_destroy(dense);
    }
}

/* A chain of blocks [s 1; 1 s] with weak coupling. The pivots chosen at s = 1000 (the diagonal) are
 * useless when s has become 1e-18 or 0, and those chosen there when s is large again. */
static void test_pivots_follow_values(void **state)
{
    (void)state;
    enum { N = 50 };
    static saddle_pattern p;
    static double A[COUNT_MAX], b[N], x[N];
    random_source source = {5};
    int count = 0;
    for (int i = 0; i < N; i++) {
        p.row_start[i] = count;
        for (int j = i - 2 < 0 ? 0 : i - 2; j <= i + 2 && j < N; j++)
            p.column[count++] = j;
    }
    p.row_start[N] = count;
    p.pattern = (bg_pattern){N, N, p.row_start, p.column};
    bg_linear *linear;
    assert_int_equal(bg_linear_create(N, &p.pattern, &linear, NULL), BG_OK);
    const double drift[] = {1e3, 1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18, 0, 1e-10, 1, 1e8, 1e17};
    for (size_t d = 0; d < sizeof drift / sizeof drift[0]; d++) {
        double *values = bg_linear_get_values(linear);
        for (int i = 0; i < N; i++)
            for (int k = p.row_start[i]; k < p.row_start[i + 1]; k++)
                values[k] = p.column[k] == i         ? drift[d]
                            : p.column[k] == (i ^ 1) ? 1
                                                     : 0.1 * draw(&source);
        for (int i = 0; i < N; i++)
            x[i] = b[i] = draw(&source);
        assert_int_equal(bg_linear_factor(linear), BG_OK);
        bg_linear_solve(linear, x);
        make_dense(&p.pattern, values, A);
        assert_true(calc_omega(N, A, x, b) < 8 * DBL_EPSILON);
    }
    bg_linear_destroy(linear);
}

/* 1 / (|A| |A^{-1}|) in the 1-norm, column by column of the inverse. */
static double calc_exact_rcond(bg_linear *linear, int n, const double *A)
{
    double norm = 0, inverse_norm = 0, e[N_MAX];
    for (int j = 0; j < n; j++) {
        double sum = 0, inverse_sum = 0;
        for (int i = 0; i < n; i++)
            e[i] = i == j;
        bg_linear_solve(linear, e);
        for (int i = 0; i < n; i++) {
            sum += fabs(A[i * n + j]);
            inverse_sum += fabs(e[i]);
        }
        norm = fmax(norm, sum);
        inverse_norm = fmax(inverse_norm, inverse_sum);
    }
    return 1 / (norm * inverse_norm);
}

/* The estimate of |A^{-1}| is a lower bound, in practice at most a factor 3 too small. An
 * unsymmetric matrix with one heavy column tells the 1-norm from the other norms. */
static void test_rcond(void **state)
{
    (void)state;
    static saddle_pattern p;
    random_source source = {6};
    for (int n = 1; n <= 40; n += n < 8 ? 1 : 16) {
        make_pattern(&p, n, n, 1, true, &source);
        bg_linear *linear[2];
        assert_int_equal(bg_linear_create(n, NULL, &linear[0], NULL), BG_OK);
        assert_int_equal(bg_linear_create(n, &p.pattern, &linear[1], NULL), BG_OK);
        assert_true(bg_linear_calc_rcond(linear[0]) == 0);
        double *A = bg_linear_get_values(linear[0]), *B = bg_linear_get_values(linear[1]);
        for (int k = 0; k < n * n; k++)
            B[k] = A[k] = draw(&source) * (k % n == n - 1 ? 1e6 : 1);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(bg_linear_factor(linear[k]), BG_OK);
            double exact = calc_exact_rcond(linear[k], n, A);
            double estimate = bg_linear_calc_rcond(linear[k]);
            assert_true(estimate > exact * (1 - 1e-9) && estimate < 3 * exact);
        }
        bg_linear_destroy(linear[0]);
        bg_linear_destroy(linear[1]);
    }
}

/* Row r of G <- a combination of the rows before it; pattern and values stay in step because the
 * patterns of these problems are full. */
static void make_dependent(saddle_problem *p, int r, random_source *source)
{
    int nv = p->nv;
    for (int j = 0; j < nv; j++)
        p->lower[r * nv + j] = 0;
    for (int k = 0; k < r; k++) {
        double c = draw(source);
        for (int j = 0; j < nv; j++)
            p->lower[r * nv + j] += c * p->lower[k * nv + j];
    }
    memcpy(p->upper, p->lower, (size_t)(p->ng * nv) * sizeof(double));
}

/* Duplicate and dependent constraints make the matrix singular, at any scale of masses, by both
 * backends; without the dependent row it is regular again. */
static void test_singular_constraints(void **state)
{
    (void)state;
    static saddle_problem p;
    random_source source = {7};
    const int sizes[][2] = {{3, 2}, {7, 5}, {14, 9}, {20, 10}, {30, 12}};
    for (int trial = 0; trial < 60; trial++) {
        const int *size = sizes[trial % 5];
        make_problem(&p, size[0], size[1], 1, &source);
        for (int k = 0; k < p.nv * p.nv; k++)
            p.M[k] *= trial % 2 ? 1e-7 : 1;
        make_dependent(&p, p.ng - 1, &source);
        bg_kkt *kkt[2];
        assert_int_equal(bg_kkt_create(p.nv, p.ng, NULL, NULL, &kkt[0], NULL), BG_OK);
        assert_int_equal(
            bg_kkt_create(p.nv, p.ng, &p.pattern_M.pattern, &p.pattern_G.pattern, &kkt[1], NULL),
            BG_OK);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(bg_kkt_factor(kkt[k], p.M, p.upper, p.lower), BG_SINGULAR);
            assert_true(bg_kkt_calc_rcond(kkt[k]) == 0);
            memset(p.eliminated, 0, sizeof p.eliminated);
            p.eliminated[p.ng - 1] = 1;
            bg_kkt_set_eliminated(kkt[k], p.eliminated);
            assert_int_equal(bg_kkt_factor(kkt[k], p.M, p.upper, p.lower), BG_OK);
            bg_kkt_destroy(kkt[k]);
        }
    }
}

/* A zero row, equal rows, an infinite entry and one that is no number; then a regular matrix. */
static void test_singular_matrices(void **state)
{
    (void)state;
    static saddle_pattern p;
    random_source source = {8};
    for (int n = 2; n <= 50; n += 12)
        for (int backend = 0; backend < 2; backend++) {
            make_pattern(&p, n, n, 1, true, &source);
            bg_linear *linear;
            assert_int_equal(bg_linear_create(n, backend ? &p.pattern : NULL, &linear, NULL),
                             BG_OK);
            double *A = bg_linear_get_values(linear);
            for (int kind = 0; kind < 5; kind++) {
                for (int k = 0; k < n * n; k++)
                    A[k] = draw(&source);
                for (int j = 0; kind < 2 && j < n; j++)
                    A[(n - 1) * n + j] = kind == 0 ? 0 : A[j];
                if (kind == 2 || kind == 3)
                    A[n * n / 2] = kind == 2 ? INFINITY : NAN;
                assert_int_equal(bg_linear_factor(linear), kind == 4 ? BG_OK : BG_SINGULAR);
            }
            bg_linear_destroy(linear);
        }
}

/* A pattern without a full transversal: creating works, factoring says singular. */
static void test_structurally_singular(void **state)
{
    (void)state;
    int row_start[] = {0, 1, 2, 3}, column[] = {0, 0, 2};
    bg_pattern pattern = {3, 3, row_start, column};
    bg_linear *linear;
    assert_int_equal(bg_linear_create(3, &pattern, &linear, NULL), BG_OK);
    for (int k = 0; k < 3; k++)
        bg_linear_get_values(linear)[k] = 1 + k;
    assert_int_equal(bg_linear_factor(linear), BG_SINGULAR);
    assert_int_equal(bg_linear_factor(linear), BG_SINGULAR);
    bg_linear_destroy(linear);
}

/* With K x = b, D K D y = D b has the solution y = D^{-1} x, here for D from 10^-decades to
 * 10^decades. Masses are also scaled alone: light bodies give M of 1e-7 beside G of 1e-2. */
static void check_scaled(int nv, int ng, double decades, double mass, random_source *source)
{
    static saddle_problem p;
    static double D[N_MAX], x[N_MAX], y[N_MAX];
    make_problem(&p, nv, ng, 1, source);
    for (int i = 0; i < p.n; i++)
        D[i] = pow(10, decades * draw(source));
    for (int k = 0; k < nv * nv; k++)
        p.M[k] *= mass;
    for (int backend = 0; backend < 2; backend++) {
        saddle_problem s = p;
        bg_kkt *kkt;
        const bg_pattern *M = backend ? &p.pattern_M.pattern : NULL;
        const bg_pattern *G = backend ? &p.pattern_G.pattern : NULL;
        assert_int_equal(bg_kkt_create(nv, ng, M, G, &kkt, NULL), BG_OK);
        for (int i = 0; i < p.n; i++)
            y[i] = D[i] * (x[i] = draw(source));
        assert_int_equal(bg_kkt_factor(kkt, p.M, p.upper, p.lower), BG_OK);
        bg_kkt_solve(kkt, x, x + nv);
        for (int i = 0; i < nv; i++)
            for (int j = 0; j < nv; j++)
                s.M[i * nv + j] *= D[i] * D[j];
        for (int i = 0; i < ng; i++)
            for (int j = 0; j < nv; j++) {
                s.upper[i * nv + j] *= D[nv + i] * D[j];
                s.lower[i * nv + j] *= D[nv + i] * D[j];
            }
        assert_int_equal(bg_kkt_factor(kkt, s.M, s.upper, s.lower), BG_OK);
        bg_kkt_solve(kkt, y, y + nv);
        for (int i = 0; i < p.n; i++)
            y[i] *= D[i];
        assert_true(calc_difference(p.n, y, x) < 1e-8);
        bg_kkt_destroy(kkt);
    }
}

static void test_badly_scaled(void **state)
{
    (void)state;
    random_source source = {9};
    const int sizes[][2] = {{3, 2}, {7, 6}, {20, 8}, {30, 14}};
    for (int s = 0; s < 4; s++) {
        check_scaled(sizes[s][0], sizes[s][1], 0, 1e-5, &source);
        check_scaled(sizes[s][0], sizes[s][1], 4, 1, &source);
        check_scaled(sizes[s][0], sizes[s][1], 0, 1e-12, &source);
    }
}

/* Planted: row 3 = 2 row 0 - 0.5 row 2 at another scale, row 5 = row 3 + row 4 (so it involves 0, 2
 * and 4), row 6 zero, row 7 independent, row 1 in no dependency. */
static void check_rank(bool sparse)
{
    enum { M = 8, N = 9 };
    static saddle_pattern p;
    double A[M * N];
    unsigned char dependent[M], involved[M];
    random_source source = {10};
    const double scale[M] = {1, 1e4, 1e-3, 1, 50, 1, 0, 1e-6};
    for (int k = 0; k < M * N; k++)
        A[k] = draw(&source) * scale[k / N];
    for (int j = 0; j < N; j++) {
        A[3 * N + j] = 2 * A[0 * N + j] - 0.5e3 * A[2 * N + j];
        A[5 * N + j] = A[3 * N + j] + A[4 * N + j];
    }
    make_pattern(&p, M, N, 1, false, &source);
    bg_rank *work;
    assert_int_equal(bg_rank_create(M, N, sparse ? &p.pattern : NULL, &work, NULL), BG_OK);
    for (int twice = 0; twice < 2; twice++) /* memory that was used serves as well */
        assert_int_equal(
            bg_rank_calc(work, &(bg_rank_question){.A = A, .fixed = NULL, .tolerance = 1e-10},
                         &(bg_rank_answer){.dependent = dependent, .involved = involved}),
            5);
    assert_memory_equal(dependent, ((unsigned char[]){0, 0, 0, 1, 0, 1, 1, 0}), M);
    assert_memory_equal(involved, ((unsigned char[]){1, 0, 1, 1, 1, 1, 1, 0}), M);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++) {
            double c = i != 3 && i != 5 ? 0 : k == 0 ? 2 : k == 2 ? -0.5e3 : i == 5 && k == 4;
            double unit = scale[k] / fmax(scale[i], 1e-6); /* coefficient of unit rows */
            assert_true(fabs(bg_rank_get_coefficient(work, i, k) - c) * unit < 1e-13);
        }
    bg_rank_destroy(work);
}

static void test_rank_planted(void **state)
{
    (void)state;
    check_rank(false);
    check_rank(true);
}

/* A large matrix like that of many loops: every row has entries in a window of columns that moves
 * on, some also in a column that all of these share; `planted` rows are combinations of two near
 * them, up to a remainder. */
enum { LOOPS = 60, LOOP_ROWS = 3, BIG_M = LOOPS * LOOP_ROWS, BIG_N = 5 * LOOPS + 4, WIDTH = 9 };

typedef struct big_matrix {
    int row_start[BIG_M + 1], column[BIG_M * (WIDTH + 1)];
    double sparse[BIG_M * (WIDTH + 1)], dense[BIG_M * BIG_N];
    bool planted[BIG_M];
    bg_pattern pattern;
} big_matrix;

static void make_big(big_matrix *b, double remainder, random_source *source)
{
    int count = 0;
    memset(b->dense, 0, sizeof b->dense);
    for (int i = 0; i < BIG_M; i++) {
        int first = 5 * (i / LOOP_ROWS);
        b->planted[i] = i % LOOP_ROWS == 2 && draw(source) > 0;
        double *row = b->dense + i * BIG_N, alpha = draw(source);
        for (int k = 0; k < WIDTH; k++)
            row[first + k] = b->planted[i]
                                 ? remainder * draw(source) + alpha * row[first + k - BIG_N] +
                                       row[first + k - 2 * BIG_N]
                                 : draw(source);
    }
    for (int i = 0; i < BIG_M; i++) {
        b->row_start[i] = count;
        for (int k = 0; k < WIDTH; k++) {
            b->column[count] = 5 * (i / LOOP_ROWS) + k;
            b->sparse[count] = b->dense[i * BIG_N + b->column[count]];
            count++;
        }
    }
    b->row_start[BIG_M] = count;
    b->pattern = (bg_pattern){BIG_M, BIG_N, b->row_start, b->column};
}

/* |row i - sum of its coefficients times kept rows|, largest of all dependent rows. */
static double calc_unexplained(const big_matrix *b, const bg_rank *rank,
                               const unsigned char *dependent)
{
    double worst = 0;
    for (int i = 0; i < BIG_M; i++)
        for (int j = 0; dependent[i] && j < BIG_N; j++) {
            double rest = b->dense[i * BIG_N + j];
            for (int k = 0; k < BIG_M; k++)
                rest -= b->dense[k * BIG_N + j] * bg_rank_get_coefficient(rank, i, k);
            worst = fmax(worst, fabs(rest));
        }
    return worst;
}

/* The sparse way finds what the dense one finds, and as many rows where their number is known. */
static void test_rank_of_large(void **state)
{
    (void)state;
    static big_matrix b;
    random_source source = {77};
    const double remainders[] = {0, 1e-13, 1e-7, 1e-5, 1e-2};
    for (size_t k = 0; k < sizeof remainders / sizeof *remainders; k++) {
        unsigned char dependent[2][BIG_M], involved[BIG_M];
        double remainder[2][BIG_M], size[BIG_M], unexplained = 0;
        signed char order[BIG_M] = {0};
        bg_rank *rank[2];
        int planted = 0, found[2];
        make_big(&b, remainders[k], &source);
        for (int i = 0; i < BIG_M; i++) {
            planted += b.planted[i];
            size[i] = 1;
            order[i] = (signed char)(i % 7 == 0 && !b.planted[i]);
        }
        for (int sparse = 0; sparse < 2; sparse++) {
            const double *A = sparse ? b.sparse : b.dense;
            bg_rank_question question = {.A = A, .row_size = size, .tolerance = 1e-4};
            bg_rank_answer answer = {.dependent = dependent[sparse],
                                     .involved = involved,
                                     .remainder = remainder[sparse]};
            assert_int_equal(
                bg_rank_create(BIG_M, BIG_N, sparse ? &b.pattern : NULL, &rank[sparse], NULL),
                BG_OK);
            found[sparse] = bg_rank_calc(rank[sparse], &question, &answer);
            if (found[sparse] < BIG_M)
                unexplained = calc_unexplained(&b, rank[sparse], dependent[sparse]);
            assert_true(unexplained < 1e-12 + 10 * remainders[k]);
            for (int i = 0; i < BIG_M; i++)
                assert_true(remainder[sparse][i] > 1e-4 || dependent[sparse][i]);
            question = (bg_rank_question){.A = A,
                                          .row_size = size,
                                          .order = order,
                                          .most = BIG_M - planted,
                                          .tolerance = 1e-9,
                                          .least = 1e-9};
            assert_int_equal(bg_rank_calc(rank[sparse], &question, &answer), BIG_M - planted);
            for (int i = 0; i < BIG_M; i++)
                assert_true(!dependent[sparse][i] || order[i] == 0);
            assert_false(bg_rank_has_failed(rank[sparse]));
            bg_rank_destroy(rank[sparse]);
        }
        assert_int_equal(found[0], found[1]);
        assert_int_equal(found[1], remainders[k] < 1e-4 ? BIG_M - planted : BIG_M);
    }
}

/* A ring of differences: whichever row is left out beforehand, it depends on all the others, those
 * behind it in any order of elimination included. */
static void test_rank_left_out(void **state)
{
    (void)state;
    enum { RING = 60 };
    int row_start[RING + 1], column[2 * RING];
    double A[2 * RING];
    for (int i = 0; i <= RING; i++)
        row_start[i] = 2 * i;
    for (int i = 0; i < RING; i++) {
        bool last = i == RING - 1;
        column[2 * i] = last ? 0 : i;
        column[2 * i + 1] = last ? i : i + 1;
        A[2 * i] = last ? -1 : 1;
        A[2 * i + 1] = last ? 1 : -1;
    }
    const bg_pattern pattern = {RING, RING, row_start, column};
    for (int out = 0; out < RING; out++) {
        unsigned char dependent[RING], involved[RING];
        signed char order[RING];
        double remainder[RING];
        bg_rank *work;
        memset(order, 1, sizeof order);
        order[out] = -1;
        bg_rank_question question = {
            .A = A, .order = order, .most = RING - 1, .tolerance = 1e-10, .least = 1e-10};
        bg_rank_answer answer = {
            .dependent = dependent, .involved = involved, .remainder = remainder};
        assert_int_equal(bg_rank_create(RING, RING, &pattern, &work, NULL), BG_OK);
        assert_int_equal(bg_rank_calc(work, &question, &answer), RING - 1);
        assert_true(remainder[out] < 1e-12);
        for (int i = 0; i < RING; i++) {
            assert_int_equal(dependent[i], i == out);
            assert_true(involved[i]);
            assert_true(i == out || fabs(bg_rank_get_coefficient(work, out, i) + 1) < 1e-11);
        }
        bg_rank_destroy(work);
    }
}

/* Rows that depend on earlier ones are the ones reported, also where a later one is longer. */
static void test_rank_prefers_earlier_rows(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 3, 0, 0, 1e3, 1, -1, 0};
    unsigned char dependent[6], involved[6];
    bg_rank *work;
    assert_int_equal(bg_rank_create(6, 3, NULL, &work, NULL), BG_OK);
    assert_int_equal(bg_rank_calc(work,
                                  &(bg_rank_question){.A = A, .fixed = NULL, .tolerance = 1e-10},
                                  &(bg_rank_answer){.dependent = dependent, .involved = involved}),
                     3);
    bg_rank_destroy(work);
    assert_memory_equal(dependent, ((unsigned char[]){0, 0, 1, 0, 1, 1}), 6);
    assert_memory_equal(involved, ((unsigned char[]){1, 1, 1, 1, 1, 1}), 6);
}

/* Quick answers are the careful ones: the same rows, the same remainders of those kept, whether
 * rows are far from dependent, nearly dependent (where they are made carefully) or exactly so. What
 * all others leave of a row is no more than those before it left, and as much of the last one. */
static void test_rank_quickly(void **state)
{
    (void)state;
    enum { M = 14, N = 17, CASES = 400 };
    random_source source = {77};
    bg_rank *work;
    int near = 0;
    assert_int_equal(bg_rank_create(M, N, NULL, &work, NULL), BG_OK);
    for (int c = 0; c < CASES; c++) {
        double A[M * N], remainder[2][M], others[2][M], size[M];
        unsigned char dependent[2][M];
        signed char order[M];
        int planted = c % 4, rank[2], last = 0;
        double distance = c % 3 ? pow(10, -6 * (draw(&source) + 1)) : 0; /* 1e-12 to 1 */
        for (int k = 0; k < M * N; k++)
            A[k] = draw(&source) > 0.3 ? draw(&source) : 0;
        for (int i = 0; i < planted; i++) /* row 3 + i is a sum of two others, and a bit more */
            for (int j = 0; j < N; j++)
                A[(3 + i) * N + j] = A[j] - A[(9 + i) * N + j] + distance * draw(&source);
        for (int i = 0; i < M; i++)
            order[i] = (signed char)(c % 5 == 0 ? 0 : draw(&source) > -0.7 ? 1 : -1);
        for (int i = 0; i < M; i++)
            size[i] = 0.5 * (3 + draw(&source));
        bg_rank_question question = {.A = A,
                                     .row_size = size,
                                     .order = order,
                                     .most = M - planted,
                                     .tolerance = 1e-9,
                                     .least = 1e-9};
        for (int quick = 0; quick < 2; quick++) {
            question.quick = quick;
            bg_rank_answer answer = {.dependent = dependent[quick],
                                     .remainder = remainder[quick],
                                     .others = others[quick]};
            rank[quick] = bg_rank_calc(work, &question, &answer);
        }
        assert_int_equal(rank[0], rank[1]);
        assert_memory_equal(dependent[0], dependent[1], M);
        for (int i = 0; i < M; i++) {
            near += !dependent[0][i] && remainder[0][i] < 1e-3;
            assert_true(dependent[0][i] || fabs(remainder[0][i] - remainder[1][i]) <= 1e-8);
            assert_true(dependent[0][i] || fabs(others[0][i] - others[1][i]) <= 1e-8);
            assert_true(dependent[0][i] || others[0][i] <= remainder[0][i] + 1e-12);
            last += !dependent[0][i] && fabs(others[0][i] - remainder[0][i]) <= 1e-12;
        }
        assert_true(last > 0);
    }
    assert_true(near > 10);
    bg_rank_destroy(work);
}

/* Fixed columns leave rows equal or zero that were independent; m > n cannot exceed n. */
static void test_rank_fixed_columns(void **state)
{
    (void)state;
    const double A[] = {1, 2, 3, 1, 2, 4, 0, 0, 5, 1, -1, 0};
    unsigned char dependent[4], involved[4], fixed[] = {0, 0, 1};
    bg_rank *work;
    assert_int_equal(bg_rank_create(4, 3, NULL, &work, NULL), BG_OK);
    assert_int_equal(bg_rank_calc(work,
                                  &(bg_rank_question){.A = A, .fixed = NULL, .tolerance = 1e-10},
                                  &(bg_rank_answer){.dependent = dependent, .involved = involved}),
                     3);
    assert_int_equal(bg_rank_calc(work,
                                  &(bg_rank_question){.A = A, .fixed = fixed, .tolerance = 1e-10},
                                  &(bg_rank_answer){.dependent = dependent, .involved = involved}),
                     2);
    assert_memory_equal(dependent, ((unsigned char[]){0, 1, 1, 0}), 4);
    assert_memory_equal(involved, ((unsigned char[]){1, 1, 1, 0}), 4);
    assert_true(fabs(bg_rank_get_coefficient(work, 1, 0) - 1) < 1e-15);
    bg_rank_destroy(work);
}

static int check_groups(const bg_pattern *p, int *group)
{
    int *made, count;
    assert_int_equal(bg_colouring_create(p->rows, p->columns, p, &made, &count, NULL), BG_OK);
    bool used[N_MAX] = {false};
    int widest = 0, ngroups = 0;
    for (int i = 0; i < p->rows; i++) {
        bool taken[N_MAX] = {false};
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
            int c = made[p->column[k]];
            assert_in_range(c, 0, count - 1);
            assert_false(taken[c]);
            taken[c] = true;
        }
        int width = p->row_start[i + 1] - p->row_start[i];
        widest = width > widest ? width : widest;
    }
    for (int j = 0; j < p->columns; j++) {
        ngroups += !used[made[j]];
        used[made[j]] = true;
    }
    assert_int_equal(ngroups, count);
    assert_true(count >= widest);
    memcpy(group, made, (size_t)p->columns * sizeof(int));
    free(made);
    return count;
}

static void test_colouring(void **state)
{
    (void)state;
    static saddle_pattern p;
    int group[N_MAX], again[N_MAX], *dense, count;
    random_source source = {11};
    for (int trial = 0; trial < 40; trial++) {
        make_pattern(&p, 20 + trial, 10 + trial, 0.02 + 0.002 * trial, trial % 2, &source);
        count = check_groups(&p.pattern, group);
        assert_true(count <= p.pattern.columns);
        assert_int_equal(check_groups(&p.pattern, again), count);
        assert_memory_equal(again, group, (size_t)p.pattern.columns * sizeof(int));
    }
    int entries = 0; /* tridiagonal */
    for (int i = 0; i < 30; i++) {
        p.row_start[i] = entries;
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < 30; j++)
            p.column[entries++] = j;
    }
    p.row_start[30] = entries;
    p.pattern = (bg_pattern){30, 30, p.row_start, p.column};
    assert_int_equal(check_groups(&p.pattern, group), 3);
    assert_int_equal(bg_colouring_create(4, 6, NULL, &dense, &count, NULL), BG_OK);
    assert_int_equal(count, 6);
    for (int j = 0; j < 6; j++)
        assert_int_equal(dense[j], j);
    free(dense);
}

/* An arrow: its first column meets all others, which are free of each other but for the full row.
 */
static void test_colouring_by_degree(void **state)
{
    (void)state;
    /* columns 0-1, 1-3, 3-2: a path that colouring by index paints with three colours */
    int row_start[] = {0, 2, 4, 6}, column[] = {0, 3, 1, 2, 2, 3}, group[4];
    bg_pattern path = {3, 4, row_start, column};
    assert_int_equal(check_groups(&path, group), 2);
}

static void test_products(void **state)
{
    (void)state;
    static saddle_pattern p;
    static double values[COUNT_MAX], A[COUNT_MAX], x[N_MAX], y[2][N_MAX];
    random_source source = {12};
    make_pattern(&p, 12, 17, 0.3, false, &source);
    for (int k = 0; k < p.row_start[12]; k++)
        values[k] = draw(&source);
    for (int j = 0; j < 17; j++)
        x[j] = draw(&source);
    make_dense(&p.pattern, values, A);
    bg_matrix_multiply(12, 17, &p.pattern, values, x, y[0]);
    bg_matrix_multiply(12, 17, NULL, A, x, y[1]);
    for (int i = 0; i < 12; i++) {
        double sum = 0;
        for (int j = 0; j < 17; j++)
            sum += A[i * 17 + j] * x[j];
        assert_true(fabs(y[0][i] - sum) < 1e-15 && fabs(y[1][i] - sum) < 1e-15);
    }
    for (int j = 0; j < 17; j++)
        y[0][j] = y[1][j] = j;
    bg_matrix_add_transposed(12, 17, &p.pattern, values, -2, x, y[0]);
    bg_matrix_add_transposed(12, 17, NULL, A, -2, x, y[1]);
    for (int j = 0; j < 17; j++) {
        double sum = j;
        for (int i = 0; i < 12; i++)
            sum -= 2 * A[i * 17 + j] * x[i];
        assert_true(fabs(y[0][j] - sum) < 1e-13 && fabs(y[1][j] - sum) < 1e-13);
    }
}

/* Factors a drifting problem at step k and solves; x has n entries. */
static void solve_drifting(const saddle_problem *p, bg_kkt *kkt, int k, double *x)
{
    static saddle_problem drifting;
    drifting = *p;
    for (int e = 0; e < p->pattern_M.row_start[p->nv]; e++)
        drifting.M[e] *= 1 + 0.2 * sin(k + e);
    for (int i = 0; i < p->n; i++)
        x[i] = 1 + i % 3;
    assert_int_equal(bg_kkt_factor(kkt, drifting.M, drifting.upper, drifting.lower), BG_OK);
    bg_kkt_solve(kkt, x, x + p->nv);
}

/* A solver restored in the middle of a sequence goes on bitwise; one that starts afresh there
 * chooses other pivots and differs in the last places, so the archive is what makes them equal. */
static void test_archive(void **state)
{
    (void)state;
    static saddle_problem p;
    static double x[2][N_MAX], y[N_MAX];
    random_source source = {13};
    bool fresh_differs = false;
    make_problem(&p, 40, 25, 0.15, &source);
    bg_kkt *kkt[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(bg_kkt_create_semidefinite(p.nv, p.ng, &p.pattern_M.pattern,
                                                    &p.pattern_G.pattern, &kkt[k], NULL),
                         BG_OK);
    for (int k = 0; k < 10; k++)
        solve_drifting(&p, kkt[0], k, x[0]);
    bg_archive saved = {0};
    bg_kkt_archive(kkt[0], &saved);
    assert_false(saved.failed);
    bg_archive restored = {.loading = true, .data = saved.data, .size = saved.size};
    bg_kkt_archive(kkt[1], &restored);
    assert_false(restored.failed);
    assert_int_equal(restored.position, saved.size);
    for (int k = 10; k < 40; k++) {
        solve_drifting(&p, kkt[0], k, x[0]);
        solve_drifting(&p, kkt[1], k, x[1]);
        solve_drifting(&p, kkt[2], k, y);
        assert_memory_equal(x[1], x[0], (size_t)p.n * sizeof(double));
        fresh_differs = fresh_differs || memcmp(y, x[0], (size_t)p.n * sizeof(double)) != 0;
    }
    assert_true(fresh_differs);
    restored = (bg_archive){.loading = true, .data = saved.data, .size = saved.size - 1};
    bg_kkt_archive(kkt[2], &restored);
    assert_true(restored.failed);
    bg_archive_clear(&saved);
    for (int k = 0; k < 3; k++)
        bg_kkt_destroy(kkt[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_solve),
        cmocka_unit_test(test_sparse_solve),
        cmocka_unit_test(test_kkt_dense_against_sparse),
        cmocka_unit_test(test_kkt_one_pattern),
        cmocka_unit_test(test_pivots_follow_values),
        cmocka_unit_test(test_rcond),
        cmocka_unit_test(test_singular_constraints),
        cmocka_unit_test(test_singular_matrices),
        cmocka_unit_test(test_structurally_singular),
        cmocka_unit_test(test_badly_scaled),
        cmocka_unit_test(test_rank_planted),
        cmocka_unit_test(test_rank_of_large),
        cmocka_unit_test(test_rank_left_out),
        cmocka_unit_test(test_rank_prefers_earlier_rows),
        cmocka_unit_test(test_rank_quickly),
        cmocka_unit_test(test_rank_fixed_columns),
        cmocka_unit_test(test_colouring),
        cmocka_unit_test(test_colouring_by_degree),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

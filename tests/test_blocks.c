/* Matrices of blocks: sums against a plain dense matrix; factorisations without exchanges on trees,
 * what they cost, when they are given up, and that this survives a checkpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/archive.h"
#include "linalg/blocks.h"
#include "linalg/tree_lu.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { N_MAX = 120, COUNT_MAX = N_MAX * N_MAX };

static double draw(uint64_t *state) /* uniform in [-1, 1) */
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static int pick(uint64_t *state, int n)
{
    int k = (int)(0.5 * (draw(state) + 1) * n);
    return k < n ? k : n - 1;
}

typedef struct block_pattern {
    bg_pattern pattern;
    int start[N_MAX + 1], column[COUNT_MAX];
} block_pattern;

static void make_pattern(block_pattern *p, int rows, int columns, double density, uint64_t *seed)
{
    int count = 0;
    for (int i = 0; i < rows; i++) {
        p->start[i] = count;
        for (int j = 0; j < columns; j++)
            if (draw(seed) < 2 * density - 1)
                p->column[count++] = j;
    }
    p->start[rows] = count;
    p->pattern = (bg_pattern){rows, columns, p->start, p->column};
}

/* max_i |b - A x|_i / (|b| + |A| |x|)_i over all unknowns together. */
static double calc_error(int n, const double *A, const double *x, const double *b)
{
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) {
        double r = b[i], sum = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            r -= A[i * n + j] * x[j];
            sum += fabs(A[i * n + j] * x[j]);
        }
        most = fmax(most, fabs(r));
        size = fmax(size, sum);
    }
    return most / size;
}

/* Adds what a block contributes to the dense matrix A of n unknowns. */
static void add_plainly(double *A, int n, const int *offset, const bg_block *b,
                        const bg_block_value *v)
{
    int rows = b->kind == BG_BLOCK_TRANSPOSED ? offset[b->column + 1] - offset[b->column]
                                              : offset[b->row + 1] - offset[b->row];
    int columns = b->kind == BG_BLOCK_TRANSPOSED ? offset[b->row + 1] - offset[b->row]
                                                 : offset[b->column + 1] - offset[b->column];
    for (int i = 0, k = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            bool there = b->kind == BG_BLOCK_UNIT ? i == j : true;
            if (b->pattern)
                there = k < b->pattern->row_start[i + 1] && b->pattern->column[k] == j;
            if (!there)
                continue;
            bool turned = b->kind == BG_BLOCK_TRANSPOSED;
            int row = offset[b->row] + (turned ? j : i);
            int column = offset[b->column] + (turned ? i : j);
            A[row * n + column] += v->factor * (b->kind == BG_BLOCK_UNIT ? 1 : v->values[k]);
            k++;
        }
}

/* Random groups and blocks, several at one place, left out, transposed, with held unknowns. */
static void sums_are_those_of_dense_matrices(void **state)
{
    (void)state;
    static block_pattern patterns[10];
    static double values[10][COUNT_MAX], A[COUNT_MAX];
    uint64_t seed = 5;
    for (int turn = 0; turn < 60; turn++) {
        int sizes = turn % 3 == 2 ? 25 : 6, offset[4] = {0};
        bg_group groups[3];
        for (int g = 0; g < 3; g++) {
            groups[g] = (bg_group){1 + pick(&seed, sizes), turn % 4 == 3 ? 0 : g < 2 ? 1 : -1};
            offset[g + 1] = offset[g] + groups[g].size;
        }
        int n = offset[3], nblocks = 4 + pick(&seed, 6);
        bg_block blocks[10];
        bg_block_value value[10];
        for (int k = 0; k < nblocks; k++) { /* the first three are diagonal */
            int row = k < 3 ? k : pick(&seed, 3), column = k < 3 ? k : pick(&seed, 3);
            int kind = pick(&seed, row == column ? 3 : 2);
            bool turned = kind == BG_BLOCK_TRANSPOSED;
            int rows = groups[turned ? column : row].size;
            int columns = groups[turned ? row : column].size;
            make_pattern(&patterns[k], rows, columns, 0.3, &seed);
            bool dense = kind == BG_BLOCK_UNIT || turn % 2 || pick(&seed, 2);
            blocks[k] = (bg_block){row, column, (bg_block_kind)kind,
                                   dense ? NULL : &patterns[k].pattern};
            value[k].values = kind == BG_BLOCK_UNIT ? NULL : values[k];
        }
        const bg_blocks_def def = {groups, blocks, 3, nblocks};
        bg_blocks *b;
        assert_int_equal(bg_blocks_create(&def, &b, NULL), BG_OK);
        for (int round = 0; round < 4; round++) {
            unsigned char held[32] = {0};
            double x[N_MAX], y[N_MAX], *const parts[] = {x, x + offset[1], x + offset[2]};
            for (int i = 0; i < groups[1].size; i++)
                held[i] = round % 2 && pick(&seed, 4) == 0;
            bg_blocks_hold(b, 1, held);
            memset(A, 0, sizeof A);
            for (int k = 0; k < nblocks; k++) {
                for (int e = 0; e < N_MAX * 8; e++)
                    values[k][e] = draw(&seed);
                value[k].factor = round == 2 && k >= 3 && k % 2 ? 0 : 2 * draw(&seed);
                add_plainly(A, n, offset, &blocks[k], &value[k]);
            }
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    bool i_held = i >= offset[1] && i < offset[2] && held[i - offset[1]];
                    bool j_held = j >= offset[1] && j < offset[2] && held[j - offset[1]];
                    A[i * n + j] = i_held || j_held ? i == j : A[i * n + j];
                }
            for (int i = 0; i < n; i++)
                x[i] = y[i] = draw(&seed);
            for (int i = 0; i < groups[1].size; i++)
                y[offset[1] + i] = held[i] ? 0 : y[offset[1] + i];
            if (bg_blocks_factor(b, value, false) != BG_OK)
                continue;
            bg_blocks_solve(b, parts);
            assert_true(calc_error(n, A, x, y) < 1e-10);
            for (int i = 0; i < groups[1].size; i++)
                assert_true(!held[i] || x[offset[1] + i] == 0);
        }
        bg_blocks_destroy(b);
    }
}

/* M and G of random masses on a random tree: M = sum over bodies of m J^T J with J along the way of
 * a body, which gives it the pattern of the tree; rows of G along two ways. */
typedef struct body_tree {
    int nv, ng, parent[N_MAX];
    block_pattern M, G;
    double M_values[COUNT_MAX], G_values[COUNT_MAX], M_dense[COUNT_MAX], G_dense[COUNT_MAX];
} body_tree;

static void fill_pattern(block_pattern *p, int rows, int columns, const double *dense, double *out)
{
    int count = 0;
    for (int i = 0; i < rows; i++) {
        p->start[i] = count;
        for (int j = 0; j < columns; j++)
            if (dense[i * columns + j] != 0) {
                p->column[count] = j;
                out[count++] = dense[i * columns + j];
            }
    }
    p->start[rows] = count;
    p->pattern = (bg_pattern){rows, columns, p->start, p->column};
}

static void make_tree(body_tree *t, int nv, int ng, int branching, uint64_t *seed)
{
    t->nv = nv;
    t->ng = ng;
    memset(t->M_dense, 0, sizeof t->M_dense);
    memset(t->G_dense, 0, sizeof t->G_dense);
    for (int i = 0; i < nv; i++)
        t->parent[i] = i == 0 ? -1
                              : i - 1 -
                                    (branching > 0 ? pick(seed, i < branching ? i : branching) : 0);
    for (int i = 0; i < nv; i++)
        for (int direction = 0; direction < 3; direction++) {
            double J[N_MAX] = {0}, mass = pow(10, 2 * draw(seed));
            for (int k = i; k >= 0; k = t->parent[k])
                J[k] = draw(seed);
            for (int a = i; a >= 0; a = t->parent[a])
                for (int b = i; b >= 0; b = t->parent[b])
                    t->M_dense[a * nv + b] += mass * J[a] * J[b];
        }
    for (int i = 0; i < ng; i++)
        for (int end = 0; end < 2; end++)
            for (int k = pick(seed, nv); k >= 0; k = t->parent[k])
                t->G_dense[i * nv + k] = draw(seed);
    fill_pattern(&t->M, nv, nv, t->M_dense, t->M_values);
    fill_pattern(&t->G, ng, nv, t->G_dense, t->G_values);
}

enum { MASS, UPPER, LOWER };

static bg_blocks *make_saddle(const body_tree *t, int sign)
{
    const bg_group groups[] = {{t->nv, sign}, {t->ng, -sign}};
    const bg_block blocks[] = {{0, 0, BG_BLOCK_PLAIN, &t->M.pattern},
                               {0, 1, BG_BLOCK_TRANSPOSED, &t->G.pattern},
                               {1, 0, BG_BLOCK_PLAIN, &t->G.pattern}};
    const bg_blocks_def def = {groups, blocks, 2, 3};
    bg_blocks *b;
    assert_int_equal(bg_blocks_create(&def, &b, NULL), BG_OK);
    return b;
}

static bg_status factor_saddle(bg_blocks *b, const body_tree *t, bool symmetric)
{
    const bg_block_value value[] = {{1, t->M_values}, {1, t->G_values}, {1, t->G_values}};
    return bg_blocks_factor(b, value, symmetric);
}

static void solve_saddle(bg_blocks *b, const body_tree *t, double *x)
{
    double *const parts[] = {x, x + t->nv};
    bg_blocks_solve(b, parts);
}

/* Without exchanges, with half of the matrix and with the whole, as with exchanges. */
static void trees_need_no_exchanges(void **state)
{
    (void)state;
    static body_tree t;
    uint64_t seed = 21;
    int direct = 0;
    for (int turn = 0; turn < 120; turn++) {
        int nv = 2 + pick(&seed, turn % 4 == 0 ? 70 : 20), ng = pick(&seed, 1 + nv / 3);
        make_tree(&t, nv, ng, turn % 5, &seed);
        bg_blocks *exchanging = make_saddle(&t, 0), *b = make_saddle(&t, 1);
        double x[3][N_MAX], size = 0;
        if (factor_saddle(exchanging, &t, false) != BG_OK) { /* dependent rows */
            assert_int_equal(factor_saddle(b, &t, true), BG_SINGULAR);
            bg_blocks_destroy(exchanging);
            bg_blocks_destroy(b);
            continue;
        }
        for (int i = 0; i < nv + ng; i++)
            x[0][i] = x[1][i] = x[2][i] = draw(&seed);
        assert_false(bg_blocks_is_direct(exchanging));
        solve_saddle(exchanging, &t, x[0]);
        double rcond = bg_blocks_calc_rcond(exchanging);
        for (int i = 0; i < nv + ng; i++)
            size = fmax(size, fabs(x[0][i]));
        for (int k = 1; k < 3; k++) {
            assert_int_equal(factor_saddle(b, &t, k == 1), BG_OK);
            assert_int_equal(bg_blocks_get_sign(b), bg_blocks_get_sign(exchanging));
            double estimate = bg_blocks_calc_rcond(b);
            assert_true(estimate > 0.3 * rcond && estimate < 3 * rcond);
            solve_saddle(b, &t, x[k]);
            for (int i = 0; i < nv + ng; i++)
                assert_true(fabs(x[k][i] - x[0][i]) <= 1e-15 / rcond * size);
            direct += bg_blocks_is_direct(b);
        }
        bg_blocks_destroy(exchanging);
        bg_blocks_destroy(b);
    }
    assert_true(direct > 150);
}

/* Rows of the factors of M alone are its own: a tree has no fill-in, whatever its shape, and a
 * chain with constraints between neighbours costs what its length says. */
static void trees_have_no_fill_in(void **state)
{
    (void)state;
    static body_tree t;
    uint64_t seed = 3;
    signed char sign[N_MAX];
    memset(sign, 1, sizeof sign);
    for (int turn = 0; turn < 40; turn++) {
        bg_tree_lu lu;
        make_tree(&t, 1 + pick(&seed, 80), 0, turn % 6, &seed);
        assert_true(bg_tree_lu_create(&lu, t.nv, t.M.start, t.M.column, sign, HUGE_VAL));
        assert_int_equal(2 * lu.count - t.nv, t.M.start[t.nv]);
        bg_tree_lu_clear(&lu);
    }
    double work[2];
    for (int k = 0; k < 2; k++) { /* point masses in a row, one rod between neighbours */
        int n = 40 << k, nv = n / 2 + 1, start[N_MAX + 1] = {0}, column[8 * N_MAX], count = 0;
        n = 2 * nv - 1;
        for (int i = 0; i < n; i++) {
            sign[i] = i < nv ? 1 : -1;
            for (int j = 0; j < n; j++)
                if (i == j || (i >= nv && (j == i - nv || j == i - nv + 1)) ||
                    (j >= nv && (i == j - nv || i == j - nv + 1)))
                    column[count++] = j;
            start[i + 1] = count;
        }
        bg_tree_lu lu;
        assert_true(bg_tree_lu_create(&lu, n, start, column, sign, HUGE_VAL));
        work[k] = lu.operations;
        bg_tree_lu_clear(&lu);
    }
    assert_true(work[1] < 2.3 * work[0]);
}

/* A hub that all others are coupled to, wherever it stands, is eliminated last. */
static void hubs_come_last(void **state)
{
    (void)state;
    enum { N = 30 };
    signed char sign[N];
    memset(sign, 1, sizeof sign);
    for (int hub = 0; hub < N; hub += 7) {
        int start[N + 1] = {0}, column[3 * N], count = 0;
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++)
                if (i == j || i == hub || j == hub)
                    column[count++] = j;
            start[i + 1] = count;
        }
        bg_tree_lu lu;
        assert_true(bg_tree_lu_create(&lu, N, start, column, sign, HUGE_VAL));
        assert_int_equal(lu.count, 2 * N - 1);
        bg_tree_lu_clear(&lu);
        assert_true(bg_tree_lu_create(&lu, N, start, column, sign, 2 * N - 3));
        assert_int_equal(lu.count, 0); /* not for so few operations */
        bg_tree_lu_clear(&lu);
    }
}

/* Matrices [a 1; -1 1] that are not symmetric, beside others: their second pivot 1 + 1/a is as good
 * as a is large beside the growth it causes; of constraints, the second row is nearly the first. */
static void growth_and_loss_are_noticed(void **state)
{
    (void)state;
    static const struct {
        double a, angle;
        bool safe;
    } cases[] = {{2, 0.5, true},  {0.08, 0.5, true}, {0.04, 0.5, false}, {1e-9, 0.5, false},
                 {2, 0.05, true}, {2, 0.01, false},  {2, 1e-6, false},   {-2, 0.5, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        /* eliminated backwards: the last velocity first */
        const double M[] = {1, -1, 1, cases[k].a}, angle = cases[k].angle;
        const double identity[] = {1, 0, 0, 1}, G[] = {1, 0, cos(angle), sin(angle)};
        const bg_group groups[] = {{2, 1}, {2, 1}, {2, -1}};
        const bg_block blocks[] = {{0, 0, BG_BLOCK_PLAIN, NULL},
                                   {1, 1, BG_BLOCK_PLAIN, NULL},
                                   {1, 2, BG_BLOCK_TRANSPOSED, NULL},
                                   {2, 1, BG_BLOCK_PLAIN, NULL}};
        const bg_blocks_def def = {groups, blocks, 3, 4};
        const bg_block_value value[] = {{1, M}, {1, identity}, {1, G}, {1, G}};
        double x[6] = {1, 2, 3, 4, 5, 6}, *const parts[] = {x, x + 2, x + 4};
        bg_blocks *b;
        assert_int_equal(bg_blocks_create(&def, &b, NULL), BG_OK);
        assert_int_equal(bg_blocks_factor(b, value, false), BG_OK);
        assert_int_equal(bg_blocks_is_direct(b), cases[k].safe);
        bg_blocks_solve(b, parts);
        assert_true(fabs(x[0] - x[1] - 1) < 1e-12 && fabs(x[2] - 5) < 1e-12);
        assert_true(fabs(x[0] + cases[k].a * x[1] - 2) < 1e-12);
        bg_blocks_destroy(b);
    }
}

/* Semidefinite and indefinite M, dependent and nearly dependent rows, values that are no numbers:
 * what is not safe goes to a factorisation with exchanges. */
static void what_is_not_safe_is_given_up(void **state)
{
    (void)state;
    static body_tree t, u;
    uint64_t seed = 8;
    for (int turn = 0; turn < 60; turn++) {
        int nv = 6 + pick(&seed, 12), ng = 3, last = nv * nv - 1;
        make_tree(&t, nv, ng, 0, &seed); /* a chain: dense */
        for (int k = 0; k < ng * nv; k++)
            t.G_dense[k] = draw(&seed);
        fill_pattern(&t.G, ng, nv, t.G_dense, t.G_values);
        bg_blocks *b = make_saddle(&t, 1);
        double x[N_MAX], y[N_MAX], A[COUNT_MAX] = {0};
        int n = nv + ng, kind = turn % 5;
        u = t;
        if (kind == 0) /* the tip has no mass of its own; a constraint carries it */
            for (int j = 0; j < nv; j++)
                u.M_values[last - j] = u.M_values[(nv - 1 - j) * nv + nv - 1] = 0;
        if (kind == 1) /* negative mass */
            u.M_values[last] = -u.M_values[last];
        for (int j = 0; j < nv && (kind == 2 || kind == 3); j++) /* the last row nearly the first */
            u.G_values[2 * nv + j] = u.G_values[j] + (kind == 3 ? 1e-5 * draw(&seed) : 0);
        if (kind == 4)
            u.M_values[last] = turn % 2 ? INFINITY : NAN;
        bg_status st = factor_saddle(b, &u, true);
        assert_false(bg_blocks_is_direct(b));
        assert_int_equal(st, kind == 2 || kind == 4 ? BG_SINGULAR : BG_OK);
        for (int i = 0; i < nv && st == BG_OK; i++) {
            for (int j = 0; j < nv; j++)
                A[i * n + j] = u.M_values[i * nv + j];
            for (int j = 0; j < ng; j++)
                A[i * n + nv + j] = A[(nv + j) * n + i] = u.G_values[j * nv + i];
        }
        for (int i = 0; i < n; i++)
            x[i] = y[i] = draw(&seed);
        if (st == BG_OK) {
            solve_saddle(b, &u, x);
            assert_true(calc_error(n, A, x, y) < 1e-11);
        }
        assert_int_equal(factor_saddle(b, &t, true), BG_OK); /* the next one is not tried, ... */
        assert_false(bg_blocks_is_direct(b));
        assert_int_equal(factor_saddle(b, &t, true), BG_OK); /* ... the one after is */
        bg_blocks_reset(b);
        assert_int_equal(factor_saddle(b, &t, true), BG_OK);
        bg_blocks_destroy(b);
    }
}

/* [M A^T; B -epsilon I]: with the sign as it is written, in all ways of factoring, and gone again
 * with epsilon = 0; dependent rows are no trouble meanwhile. */
static void regularisation_is_subtracted(void **state)
{
    (void)state;
    const double M[] = {2, 1, 0, 1, 3, 1, 0, 1, 4}, G[] = {1, 2, 3, 2, 4, 6},
                 H[] = {1, 2, 2, 0, 1, 1};
    for (int way = 0; way < 4; way++) {
        bg_kkt *kkt;
        assert_int_equal(way % 2 ? bg_kkt_create(3, 2, NULL, NULL, &kkt, NULL)
                                 : bg_kkt_create_semidefinite(3, 2, NULL, NULL, &kkt, NULL),
                         BG_OK);
        if (way > 1)
            bg_kkt_set_unsymmetric(kkt);
        for (int round = 0; round < 3; round++) {
            double epsilon = round == 1 ? 0.5 : 0, x[3] = {1, 2, 3}, y[2] = {4, 5};
            const double *B = round == 1 ? G : H;
            bg_kkt_set_regularisation(kkt, epsilon);
            assert_int_equal(bg_kkt_factor(kkt, M, B, B), BG_OK);
            bg_kkt_solve(kkt, x, y);
            for (int i = 0; i < 2; i++)
                assert_true(fabs(B[3 * i] * x[0] + B[3 * i + 1] * x[1] + B[3 * i + 2] * x[2] -
                                 epsilon * y[i] - (4 + i)) < 1e-12);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2] +
                                 B[i] * y[0] + B[3 + i] * y[1] - (1 + i)) < 1e-12);
        }
        bg_kkt_destroy(kkt);
    }
}

/* Bodies with seven coordinates, of which four have a mass of rank three and a norm among the
 * constraints, in a chain: with the squares of the norms factored without exchanges, and the
 * solution is that of M as it is, multipliers too, with other rows above than below, rows left out,
 * coordinates held, and regularised. */
static void squares_complete_the_mass(void **state)
{
    (void)state;
    enum {
        BODIES = 6,
        NV = 7 * BODIES,
        LINKS = 3 * (BODIES - 1),
        NG = LINKS + BODIES,
        N = NV + NG
    };
    static double dense_M[NV * NV], dense_G[2][NG * NV];
    static int M_start[NV + 1], M_column[19 * BODIES], G_start[NG + 1], G_column[14 * NG];
    double M[19 * BODIES], G[2][14 * NG], p[2][4];
    uint64_t seed = 40;
    int n = 0, entry = 0, row = 0;
    for (int i = 0; i < NV; i++) {
        M_start[i] = n;
        for (int j = i % 7 < 3 ? i : i / 7 * 7 + 3; j < (i % 7 < 3 ? i + 1 : i / 7 * 7 + 7); j++)
            M_column[n++] = j;
    }
    M_start[NV] = n;
    for (n = 0; row < NG; row++) {
        const int first = row < LINKS ? 7 * (row / 3) : 7 * (row - LINKS) + 3;
        G_start[row] = n;
        for (int j = first; j < first + (row < LINKS ? 14 : 4); j++)
            G_column[n++] = j;
    }
    G_start[NG] = n;
    for (int k = 0; k < n; k++) {
        G[0][k] = draw(&seed);
        G[1][k] = G[0][k] + 0.1 * draw(&seed);
    }
    for (int b = 0; b < BODIES; b++) {
        memcpy(p[0], G[0] + G_start[LINKS + b], sizeof p[0]);
        const double square = p[0][0] * p[0][0] + p[0][1] * p[0][1] + p[0][2] * p[0][2] +
                              p[0][3] * p[0][3];
        for (int i = 0; i < 3; i++)
            M[entry++] = 2 + draw(&seed);
        for (int i = 0; i < 4; i++) /* 3 (1 - p p^T / p.p) */
            for (int j = 0; j < 4; j++)
                M[entry++] = 3 * ((i == j) - p[0][i] * p[0][j] / square);
    }
    for (int i = 0; i < NV; i++)
        for (int k = M_start[i]; k < M_start[i + 1]; k++)
            dense_M[i * NV + M_column[k]] = M[k];
    for (int i = 0; i < 2 * NG; i++)
        for (int k = G_start[i % NG]; k < G_start[i % NG + 1]; k++)
            dense_G[i / NG][i % NG * NV + G_column[k]] = G[i / NG][k];
    const bg_pattern of_M = {NV, NV, M_start, M_column}, of_G = {NG, NV, G_start, G_column};
    bg_kkt *kkt[2];
    assert_int_equal(bg_kkt_create_completed(NV, NG, &of_M, &of_G, &kkt[0], NULL), BG_OK);
    assert_int_equal(bg_kkt_create_semidefinite(NV, NG, NULL, NULL, &kkt[1], NULL), BG_OK);
    for (int way = 0; way < 10; way++) {
        unsigned char out[NG] = {0}, held[NV] = {0};
        double x[2][N], scale = 0;
        const int below = way % 2;
        out[LINKS + 2] = way / 2 == 1;
        held[7 * 3 + 4] = way / 2 == 2;
        for (int i = 0; i < N; i++)
            x[0][i] = x[1][i] = draw(&seed);
        for (int k = 0; k < 2; k++) {
            bg_kkt_set_eliminated(kkt[k], way / 2 == 1 ? out : NULL);
            bg_kkt_set_fixed(kkt[k], held);
            bg_kkt_set_regularisation(kkt[k], way / 2 == 3 ? 0.01 : 0);
            assert_int_equal(bg_kkt_factor(kkt[k], k ? dense_M : M, k ? dense_G[0] : G[0],
                                           k ? dense_G[below] : G[below]),
                             BG_OK);
            bg_kkt_solve(kkt[k], x[k], x[k] + NV);
        }
        for (int i = 0; i < N; i++)
            scale = fmax(scale, fabs(x[1][i]));
        for (int i = 0; i < N; i++)
            if (!(fabs(x[0][i] - x[1][i]) < 1e-10 * scale))
                fail_msg("way %d: unknown %d is %g, not %g", way, i, x[0][i], x[1][i]);
    }
    const bg_matrix_work work = bg_kkt_get_work(kkt[0]); /* less than with pivots */
    assert_true(work.usual < 0.5 * work.factorisation);
    bg_kkt_destroy(kkt[0]);
    bg_kkt_destroy(kkt[1]);
}

/* A sequence in which some matrices are not safe goes on bitwise behind a checkpoint, and other
 * than one that starts afresh there. */
static void pauses_survive_a_checkpoint(void **state)
{
    (void)state;
    static body_tree t, u;
    uint64_t seed = 30;
    make_tree(&t, 12, 3, 0, &seed);
    u = t;
    u.M_values[12 * 12 - 1] *= -1;
    bg_blocks *b[3];
    double x[3][N_MAX];
    bool differs = false;
    for (int k = 0; k < 3; k++)
        b[k] = make_saddle(&t, 1);
    for (int k = 0; k < 9; k++)
        factor_saddle(b[0], &u, true);
    bg_archive saved = {0};
    bg_blocks_archive(b[0], &saved);
    bg_archive restored = {.loading = true, .data = saved.data, .size = saved.size};
    bg_blocks_archive(b[1], &restored);
    assert_false(saved.failed || restored.failed);
    for (int step = 0; step < 20; step++) {
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 15; i++)
                x[k][i] = 1 + i + step;
            assert_int_equal(factor_saddle(b[k], &t, true), BG_OK);
            solve_saddle(b[k], &t, x[k]);
        }
        assert_memory_equal(x[0], x[1], 15 * sizeof(double));
        differs = differs || memcmp(x[0], x[2], 15 * sizeof(double)) != 0;
    }
    assert_true(differs);
    for (int k = 0; k < 3; k++)
        bg_blocks_destroy(b[k]);
    bg_archive_clear(&saved);
}

/* A sparse matrix in a random order: solved in that order where the diagonal is strong, the sign of
 * its determinant and its condition being those found with exchanges; handed over to the LU with
 * exchanges where a pivot is zero or next to it, or where nothing is left of it. */
static void an_order_is_kept_while_it_is_safe(void **state)
{
    (void)state;
    static block_pattern p;
    static double A[COUNT_MAX], values[COUNT_MAX], x[N_MAX], b[N_MAX];
    uint64_t seed = 77;
    for (int round = 0; round < 40; round++) {
        const int n = 60 + pick(&seed, 50);
        int order[N_MAX];
        make_pattern(&p, n, n, 0.04, &seed);
        const bg_group group = {n, 0};
        const bg_block blocks[] = {{0, 0, BG_BLOCK_PLAIN, &p.pattern}, {0, 0, BG_BLOCK_UNIT, NULL}};
        const bg_blocks_def def = {&group, blocks, 1, 2};
        const bool weak = round % 2 == 1;
        memset(A, 0, sizeof A);
        for (int i = 0; i < n; i++) { /* a random permutation */
            int at = pick(&seed, i + 1);
            order[i] = order[at];
            order[at] = i;
            for (int k = p.start[i]; k < p.start[i + 1]; k++)
                A[i * n + p.column[k]] = values[k] = draw(&seed);
        }
        double diagonal[N_MAX];
        for (int i = 0; i < n; i++) {
            diagonal[i] = draw(&seed) < 0 ? -4 : 4;
            if (weak && i % 3 == 0) /* the sum is what is left */
                diagonal[i] = (round % 4 == 1 ? 0 : 1e-14) - A[i * (n + 1)];
            A[i * (n + 1)] += diagonal[i];
            x[i] = b[i] = draw(&seed);
        }
        const bg_block_value value[] = {{1, values}, {1, diagonal}};
        bg_blocks *ordered, *general;
        bg_error err;
        assert_int_equal(bg_blocks_create_ordered(&def, &(bg_blocks_order){order, NULL, HUGE_VAL},
                                                  &ordered, &err),
                         BG_OK);
        assert_int_equal(bg_blocks_create(&def, &general, &err), BG_OK);
        bg_status st = bg_blocks_factor(general, value, false);
        assert_int_equal(bg_blocks_factor(ordered, value, false), st);
        if (st == BG_OK) {
            double *const groups[] = {x};
            bg_blocks_solve(ordered, groups);
            assert_true(calc_error(n, A, x, b) <= 1e-13);
            assert_int_equal(bg_blocks_get_sign(ordered), bg_blocks_get_sign(general));
            double ratio = bg_blocks_calc_rcond(ordered) / bg_blocks_calc_rcond(general);
            assert_true(ratio > 0.3 && ratio < 3.5);
        }
        assert_int_equal(bg_blocks_is_direct(ordered), !weak && st == BG_OK);
        assert_false(bg_blocks_is_direct(general));
        bg_blocks_destroy(ordered);
        bg_blocks_destroy(general);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_dense_matrices),
        cmocka_unit_test(trees_need_no_exchanges),
        cmocka_unit_test(trees_have_no_fill_in),
        cmocka_unit_test(hubs_come_last),
        cmocka_unit_test(growth_and_loss_are_noticed),
        cmocka_unit_test(what_is_not_safe_is_given_up),
        cmocka_unit_test(regularisation_is_subtracted),
        cmocka_unit_test(squares_complete_the_mass),
        cmocka_unit_test(an_order_is_kept_while_it_is_safe),
        cmocka_unit_test(pauses_survive_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

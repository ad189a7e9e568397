/* The saddle-point matrix [M A^T; B 0] of nv + ng unknowns, its factorisation and solution.
 *
 * Every value of M and G has a fixed place among the values of the linear system, found once: by
 * arithmetic for dense blocks, by a map for blocks in a pattern. Places outside the blocks are zero
 * from the start and stay so, because factoring keeps values intact; assembly writes the blocks
 * alone.
 *
 * Held unknowns (eliminated constraints, fixed coordinates) keep their place: their row and column
 * become those of the unit matrix, which the pattern allows for with a full diagonal. */
#include "base/memory.h"
#include "linalg/linalg.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 40 };

struct bg_kkt {
    int nv, ng, n;
    bg_linear *linear;
    double *values;       /* of linear */
    int count_M, count_G; /* values of M and of G */
    int *row_start;       /* n+1 and ... */
    double epsilon;       /* the lower right block is -epsilon I */
    int *column;          /* ... row_start[n]: pattern of the matrix; both NULL when it is dense */
    int *map_M;           /* place of each value of M; NULL: by arithmetic */
    int *map_upper;       /* place of each value of G in A^T; NULL: by arithmetic */
    int *map_lower;       /* place of each value of G in B; NULL likewise */
    bool *held;           /* n */
    int *held_index;      /* nheld, the unknowns that are held */
    int *zero;            /* nzero, places to be cleared after assembly */
    int *one;             /* nheld, places of the held diagonal */
    int nheld, nzero;
    double *x; /* n, right-hand side and solution */
};

/* A pattern of our own: a copy, or full. start has rows + 1 entries. */
typedef struct block {
    int rows, columns;
    int *start, *column;
} block;

static bool copy_block(block *b, int rows, int columns, const bg_pattern *pattern)
{
    b->rows = rows;
    b->columns = columns;
    int count = pattern ? pattern->row_start[rows] : rows * columns;
    b->start = BG_NEW_ARRAY(int, rows + 1);
    b->column = BG_NEW_ARRAY(int, count);
    if (!b->start || !b->column)
        return false;
    for (int i = 0; i <= rows; i++)
        b->start[i] = pattern ? pattern->row_start[i] : i * columns;
    for (int k = 0; k < count; k++)
        b->column[k] = pattern ? pattern->column[k] : k % columns;
    return true;
}

static void clear_block(block *b)
{
    free(b->start);
    free(b->column);
}

/* Lengths of the rows of [M G^T; G 0] with a full diagonal, as row_start. */
static void count_rows(bg_kkt *kkt, const block *M, const block *G)
{
    int nv = kkt->nv, *start = kkt->row_start;
    for (int i = 0; i < nv; i++) {
        bool diagonal = false;
        for (int k = M->start[i]; k < M->start[i + 1]; k++)
            diagonal = diagonal || M->column[k] == i;
        start[i + 1] = M->start[i + 1] - M->start[i] + !diagonal;
    }
    for (int i = 0; i < kkt->ng; i++) {
        start[nv + i + 1] = G->start[i + 1] - G->start[i] + 1;
        for (int k = G->start[i]; k < G->start[i + 1]; k++)
            start[G->column[k] + 1]++;
    }
    for (int i = 0; i < kkt->n; i++)
        start[i + 1] += start[i];
}

/* Fills the columns, ascending in each row, and notes where each value of M and G went. */
static void fill_rows(bg_kkt *kkt, const block *M, const block *G, int *next)
{
    int nv = kkt->nv;
    memcpy(next, kkt->row_start, (size_t)kkt->n * sizeof(int));
    for (int i = 0; i < nv; i++) {
        bool diagonal = false;
        for (int k = M->start[i]; k < M->start[i + 1]; k++) {
            if (!diagonal && M->column[k] > i)
                kkt->column[next[i]++] = i;
            diagonal = diagonal || M->column[k] >= i;
            kkt->map_M[k] = next[i];
            kkt->column[next[i]++] = M->column[k];
        }
        if (!diagonal)
            kkt->column[next[i]++] = i;
    }
    for (int i = 0; i < kkt->ng; i++) {
        for (int k = G->start[i]; k < G->start[i + 1]; k++) {
            int j = G->column[k];
            kkt->map_upper[k] = next[j];
            kkt->column[next[j]++] = nv + i;
            kkt->map_lower[k] = next[nv + i];
            kkt->column[next[nv + i]++] = j;
        }
        kkt->column[next[nv + i]++] = nv + i;
    }
}

static bool build_pattern(bg_kkt *kkt, const block *M, const block *G)
{
    kkt->row_start = BG_NEW_ARRAY(int, kkt->n + 1);
    int *next = BG_NEW_ARRAY(int, kkt->n);
    if (kkt->row_start && next) {
        count_rows(kkt, M, G);
        kkt->column = BG_NEW_ARRAY(int, kkt->row_start[kkt->n]);
        if (kkt->column)
            fill_rows(kkt, M, G, next);
    }
    free(next);
    return kkt->column != NULL;
}

/* Places in a dense matrix of values that come in a pattern. */
static void map_dense(bg_kkt *kkt, const block *M, const block *G)
{
    int nv = kkt->nv, n = kkt->n;
    for (int i = 0; i < nv; i++)
        for (int k = M->start[i]; k < M->start[i + 1]; k++)
            kkt->map_M[k] = i * n + M->column[k];
    for (int i = 0; i < kkt->ng; i++)
        for (int k = G->start[i]; k < G->start[i + 1]; k++) {
            kkt->map_upper[k] = G->column[k] * n + nv + i;
            kkt->map_lower[k] = (nv + i) * n + G->column[k];
        }
}

/* Pattern and maps; dense blocks of a dense matrix need neither. */
static bool build_maps(bg_kkt *kkt, const bg_pattern *pattern_M, const bg_pattern *pattern_G)
{
    kkt->count_M = kkt->nv * kkt->nv;
    kkt->count_G = kkt->ng * kkt->nv;
    if (!pattern_M && !pattern_G)
        return true;
    block M = {0}, G = {0};
    bool done = copy_block(&M, kkt->nv, kkt->nv, pattern_M) &&
                copy_block(&G, kkt->ng, kkt->nv, pattern_G);
    if (done) {
        kkt->count_M = M.start[M.rows];
        kkt->count_G = G.start[G.rows];
        kkt->map_M = BG_NEW_ARRAY(int, kkt->count_M);
        kkt->map_upper = BG_NEW_ARRAY(int, kkt->count_G);
        kkt->map_lower = BG_NEW_ARRAY(int, kkt->count_G);
        done = kkt->map_M && kkt->map_upper && kkt->map_lower;
    }
    if (done && kkt->n > DENSE_MAX)
        done = build_pattern(kkt, &M, &G);
    else if (done)
        map_dense(kkt, &M, &G);
    clear_block(&M);
    clear_block(&G);
    return done;
}

static bg_status fill(bg_kkt *kkt, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                      bg_error *err)
{
    int n = kkt->n;
    bool mapped = build_maps(kkt, pattern_M, pattern_G);
    size_t count = kkt->column ? (size_t)kkt->row_start[n] : (size_t)n * (size_t)n;
    kkt->held = BG_NEW_ARRAY(bool, n);
    kkt->held_index = BG_NEW_ARRAY(int, n);
    kkt->zero = BG_NEW_ARRAY(int, count);
    kkt->one = BG_NEW_ARRAY(int, n);
    kkt->x = BG_NEW_ARRAY(double, n);
    if (!mapped || !kkt->held || !kkt->held_index || !kkt->zero || !kkt->one || !kkt->x)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for %d velocities and %d constraints",
                            kkt->nv, kkt->ng);
    bg_pattern pattern = {n, n, kkt->row_start, kkt->column};
    bg_status status = bg_linear_create(n, kkt->column ? &pattern : NULL, &kkt->linear, err);
    if (status == BG_OK)
        kkt->values = bg_linear_get_values(kkt->linear);
    return status;
}

bg_status bg_kkt_create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        bg_kkt **kkt, bg_error *err)
{
    assert(nv >= 0 && ng >= 0 && kkt);
    *kkt = NULL;
    bg_kkt *made = BG_NEW(bg_kkt);
    if (!made)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    made->nv = nv;
    made->ng = ng;
    made->n = nv + ng;
    bg_status status = fill(made, pattern_M, pattern_G, err);
    if (status != BG_OK) {
        bg_kkt_destroy(made);
        return status;
    }
    *kkt = made;
    return BG_OK;
}

void bg_kkt_destroy(bg_kkt *kkt)
{
    if (!kkt)
        return;
    bg_linear_destroy(kkt->linear);
    free(kkt->row_start);
    free(kkt->column);
    free(kkt->map_M);
    free(kkt->map_upper);
    free(kkt->map_lower);
    free(kkt->held);
    free(kkt->held_index);
    free(kkt->zero);
    free(kkt->one);
    free(kkt->x);
    free(kkt);
}

/* Finds the places that held unknowns clear or set, and clears all values: assembly does not reach
 * those that an earlier choice of held unknowns has set. */
static void update_held(bg_kkt *kkt)
{
    int n = kkt->n, none = 0;
    kkt->nheld = kkt->nzero = 0;
    for (int i = 0; i < n; i++)
        if (kkt->held[i])
            kkt->held_index[kkt->nheld++] = i;
    for (int i = 0; i < n; i++) {
        int from = kkt->column ? kkt->row_start[i] : i * n;
        int to = kkt->column ? kkt->row_start[i + 1] : from + n;
        for (int k = from; k < to; k++) {
            int j = kkt->column ? kkt->column[k] : k - from;
            kkt->values[k] = 0;
            if (i == j && kkt->held[i])
                kkt->one[none++] = k;
            else if (kkt->held[i] || kkt->held[j])
                kkt->zero[kkt->nzero++] = k;
        }
    }
}

void bg_kkt_set_eliminated(bg_kkt *kkt, const unsigned char *eliminated)
{
    for (int i = 0; i < kkt->ng; i++)
        kkt->held[kkt->nv + i] = eliminated && eliminated[i];
    update_held(kkt);
}

void bg_kkt_set_fixed(bg_kkt *kkt, const unsigned char *fixed)
{
    for (int j = 0; j < kkt->nv; j++)
        kkt->held[j] = fixed && fixed[j];
    update_held(kkt);
}

void bg_kkt_set_regularisation(bg_kkt *kkt, double epsilon)
{
    kkt->epsilon = epsilon;
}

/* The place of the i-th diagonal entry. */
static int find_diagonal(const bg_kkt *kkt, int i)
{
    if (!kkt->column)
        return i * kkt->n + i;
    int k = kkt->row_start[i];
    while (kkt->column[k] != i)
        k++;
    return k;
}

static void assemble_dense(bg_kkt *kkt, const double *restrict M, const double *restrict G_upper,
                           const double *restrict G_lower)
{
    int nv = kkt->nv, ng = kkt->ng, n = kkt->n;
    double *restrict upper = kkt->values, *restrict lower = kkt->values + nv * n;
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            upper[i * n + j] = M[i * nv + j];
    for (int i = 0; i < ng; i++)
        for (int j = 0; j < nv; j++) {
            upper[j * n + nv + i] = G_upper[i * nv + j];
            lower[i * n + j] = G_lower[i * nv + j];
        }
}

static void assemble_mapped(bg_kkt *kkt, const double *M, const double *G_upper,
                            const double *G_lower)
{
    for (int k = 0; k < kkt->count_M; k++)
        kkt->values[kkt->map_M[k]] = M[k];
    for (int k = 0; k < kkt->count_G; k++) {
        kkt->values[kkt->map_upper[k]] = G_upper[k];
        kkt->values[kkt->map_lower[k]] = G_lower[k];
    }
}

bg_status bg_kkt_factor(bg_kkt *kkt, const double *M, const double *G_upper, const double *G_lower)
{
    if (kkt->map_M)
        assemble_mapped(kkt, M, G_upper, G_lower);
    else
        assemble_dense(kkt, M, G_upper, G_lower);
    for (int i = kkt->nv; i < kkt->n && kkt->epsilon > 0; i++)
        kkt->values[find_diagonal(kkt, i)] = -kkt->epsilon;
    for (int k = 0; k < kkt->nzero; k++)
        kkt->values[kkt->zero[k]] = 0;
    for (int k = 0; k < kkt->nheld; k++)
        kkt->values[kkt->one[k]] = 1;
    return bg_linear_factor(kkt->linear);
}

void bg_kkt_solve(bg_kkt *kkt, double *x, double *y)
{
    int nv = kkt->nv;
    for (int i = 0; i < nv; i++)
        kkt->x[i] = x[i];
    for (int i = 0; i < kkt->ng; i++)
        kkt->x[nv + i] = y[i];
    for (int k = 0; k < kkt->nheld; k++)
        kkt->x[kkt->held_index[k]] = 0;
    bg_linear_solve(kkt->linear, kkt->x);
    for (int i = 0; i < nv; i++)
        x[i] = kkt->x[i];
    for (int i = 0; i < kkt->ng; i++)
        y[i] = kkt->x[nv + i];
}

double bg_kkt_calc_rcond(bg_kkt *kkt)
{
    return bg_linear_calc_rcond(kkt->linear);
}

bool bg_kkt_is_inverted(const bg_kkt *kkt)
{
    int sign = kkt->ng % 2 ? -1 : 1; /* held constraints have a 1 on the diagonal */
    for (int k = 0; k < kkt->nheld; k++)
        sign = kkt->held_index[k] >= kkt->nv ? -sign : sign;
    return bg_linear_get_sign(kkt->linear) != sign;
}

bg_matrix_work bg_kkt_get_work(const bg_kkt *kkt)
{
    return bg_linear_get_work(kkt->linear);
}

void bg_kkt_reset(bg_kkt *kkt)
{
    bg_linear_reset(kkt->linear);
}

void bg_kkt_archive(bg_kkt *kkt, bg_archive *archive)
{
    bg_linear_archive(kkt->linear, archive);
}

/* One level of least squares, by orthogonal transformations.
 *
 * With D = diag(unit), x = D y, and Z an orthonormal basis of the directions that the levels before
 * leave free, a level minimises |A D Z s - r|, r = b - A x. Householder reflections with pivoting
 * bring (A D Z)^T = Q [R; 0] with R of full row rank; the first columns of Z Q are the directions
 * that the level decides, the others are the next Z. In the former the problem is
 * |R^T s - r| -> min with R^T of full column rank, solved by reflections once more.
 *
 * Unknowns that no row has tied together yet are in different groups, each with its own columns of
 * Z: Z is block-diagonal, and a level costs the cubes of the groups it acts on. At first every
 * unknown is a group. Of a level that ties many directions together with nearly as many rows, such
 * as the constraints of a long mechanism, it is tried first whether its rows can all be met, with a
 * sparse elimination (nullspace.c); what that gives for Z is the same but for a rotation, on which
 * nothing depends.
 *
 * Of few rows that tie many unknowns together, such as those of one loop of a long chain, what they
 * decide is kept instead of Z. A later level that asks for single unknowns is solved with that
 * (thin.c), in time in proportion to the number of unknowns; for any other Z is made after all. */
#include "linalg/level.h"

#include "base/memory.h"
#include "linalg/nullspace.h"
#include "linalg/thin.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 32 }; /* directions: Z is kept, and found without sparse elimination */
enum { FEW = 4 };    /* directions for each row, at least, for what is decided to be kept */

/* Groups tied together in one level, and its rows on their directions; matrices by columns. */
typedef struct level {
    int first;   /* group, from which they are chained */
    int n, m, k; /* unknowns, rows, directions */
    int rank;
    bg_sparse_rows rows; /* A D Z */
    double *r;           /* [m] */
    /* what a group keeps */
    int *column; /* [n] */
    double *Z;   /* [n * k] */
    double *Q;   /* [k * m] first the rows, then what they decide */
    /* scratch */
    double *B;  /* [k * m] (A D Z)^T, then R; with Q: R[m * m] */
    double *C;  /* [m * k] R^T */
    double *s;  /* [k] */
    double *h;  /* [max(m, k)] a reflection */
    double *hZ; /* [n] without Q */
    int *order; /* [m] with Q */
    bg_arena scratch;
} level;

static void list_few(void *object, bg_arena *arena)
{
    level *w = object;
    size_t m = (size_t)w->m;
    BG_TAKE(arena, w->B, m * m);
    BG_TAKE(arena, w->C, m * m);
    BG_TAKE(arena, w->s, m);
    BG_TAKE(arena, w->h, m);
    BG_TAKE(arena, w->order, m);
}

static void list_dense(void *object, bg_arena *arena)
{
    level *w = object;
    size_t entries = (size_t)w->m * (size_t)w->k;
    BG_TAKE(arena, w->B, entries);
    BG_TAKE(arena, w->C, entries);
    BG_TAKE(arena, w->s, w->k);
    BG_TAKE(arena, w->h, w->m > w->k ? w->m : w->k);
    BG_TAKE(arena, w->hZ, w->n);
}

static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

/* An entry of Z of the group of an unknown. */
static double get_Z(const bg_levels *l, int unknown, int c)
{
    const bg_levels_group *g = &l->groups[l->first[unknown]];
    return g->Z ? g->Z[(size_t)c * (size_t)g->n + (size_t)l->local[unknown]] : 1;
}

/* Row i of A D Z, on the directions of the groups tied together. */
static void add_row(const bg_levels *l, level *w, const bg_sparse_rows *A, int i)
{
    bg_sparse_rows_begin(&w->rows);
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
        int j = A->column[k], first = bg_levels_find_free(l, j);
        double scaled = A->value[k] * l->unit[j];
        for (int c = 0; first >= 0 && scaled != 0 && c < l->groups[first].k; c++)
            bg_sparse_rows_add(&w->rows, l->offset[first] + c, scaled * get_Z(l, j, c));
    }
}

/* The reflection I - h h^T that takes c[from .. n-1] to a multiple of its first entry. */
static void make_reflection(const double *c, int from, int n, double *h)
{
    double length = sqrt(bg_dot_product(c + from, c + from, n - from));
    memset(h, 0, (size_t)n * sizeof(double));
    if (length == 0)
        return;
    memcpy(h + from, c + from, (size_t)(n - from) * sizeof(double));
    h[from] += c[from] >= 0 ? length : -length;
    double factor = sqrt(2 / bg_dot_product(h + from, h + from, n - from));
    for (int i = from; i < n; i++)
        h[i] *= factor;
}

static void reflect(const double *h, int from, int n, double *c)
{
    double s = bg_dot_product(h + from, c + from, n - from);
    for (int i = from; i < n && s != 0; i++)
        c[i] -= s * h[i];
}

/* Z <- Z (I - h h^T) for the columns at hand. */
static void reflect_basis(level *w, int from)
{
    memset(w->hZ, 0, (size_t)w->n * sizeof(double));
    for (int j = from; j < w->k; j++)
        for (int i = 0; i < w->n && w->h[j] != 0; i++)
            w->hZ[i] += w->h[j] * column(w->Z, w->n, j)[i];
    for (int j = from; j < w->k; j++)
        for (int i = 0; i < w->n && w->h[j] != 0; i++)
            column(w->Z, w->n, j)[i] -= w->h[j] * w->hZ[i];
}

/* Reflects B to R, and Z along with it; the rank is where nothing longer than `least` is left. */
static void decide(level *w, double least)
{
    for (w->rank = 0; w->rank < w->k && w->rank < w->m; w->rank++) {
        int from = w->rank, best = -1;
        double longest = least;
        for (int i = 0; i < w->m; i++) {
            const double *c = column(w->B, w->k, i) + from;
            double length = sqrt(bg_dot_product(c, c, w->k - from));
            if (length > longest)
                longest = length, best = i;
        }
        if (best < 0)
            return;
        make_reflection(column(w->B, w->k, best), from, w->k, w->h);
        for (int i = 0; i < w->m; i++)
            reflect(w->h, from, w->k, column(w->B, w->k, i));
        reflect_basis(w, from);
    }
}

/* s <- argmin |R^T s - r|, R with columns of so many entries. */
static void solve(level *w, int entries)
{
    int m = w->m, rank = w->rank;
    for (int j = 0; j < rank; j++)
        for (int i = 0; i < m; i++)
            column(w->C, m, j)[i] = column(w->B, entries, i)[j];
    for (int j = 0; j < rank; j++) {
        make_reflection(column(w->C, m, j), j, m, w->h);
        for (int i = j; i < rank; i++)
            reflect(w->h, j, m, column(w->C, m, i));
        reflect(w->h, j, m, w->r);
    }
    for (int j = rank - 1; j >= 0; j--) {
        double sum = w->r[j];
        for (int i = j + 1; i < rank; i++)
            sum -= column(w->C, m, i)[j] * w->s[i];
        w->s[j] = sum / column(w->C, m, j)[j];
    }
}

/* column <- the unknowns of all groups tied together; Z <- their basis times N[k * count], or, with
 * NULL, their basis. */
static void join_bases(const bg_levels *l, level *w, const double *N, int count)
{
    for (int f = w->first, at = 0; f >= 0; f = l->next[f]) {
        const bg_levels_group *g = &l->groups[f];
        for (int i = 0; i < g->n; i++, at++) {
            int j = w->column[at] = g->column ? g->column[i] : f;
            for (int c = 0; c < g->k; c++) {
                int row = l->offset[f] + c;
                double z = get_Z(l, j, c);
                if (!N)
                    column(w->Z, w->n, row)[at] = z;
                for (int d = 0; N && d < count; d++)
                    column(w->Z, w->n, d)[at] += z * N[(size_t)d * (size_t)w->k + (size_t)row];
            }
        }
    }
}

/* What was tied together becomes one group, with k directions and the list of its unknowns. */
static bg_levels_group *merge(bg_levels *l, level *w, int k)
{
    for (int f = w->first, next; f >= 0; f = next) {
        next = l->next[f];
        bg_levels_clear_group(&l->groups[f]);
    }
    l->groups[w->first] = (bg_levels_group){.n = w->n, .k = k, .column = w->column};
    for (int i = 0; i < w->n; i++) {
        l->first[w->column[i]] = w->first;
        l->local[w->column[i]] = i;
    }
    l->freedom -= w->k - k;
    w->column = NULL;
    return &l->groups[w->first];
}

/* x <- x + D Z s for the first columns of Z; one group of what was tied together, with
 * the columns behind those as its basis, and Z and the list of unknowns are its own. */
static void take(bg_levels *l, level *w, int columns)
{
    for (int j = 0; j < w->rank; j++)
        for (int i = 0; i < w->n; i++)
            l->x[w->column[i]] += l->unit[w->column[i]] * column(w->Z, w->n, j)[i] * w->s[j];
    int k = columns - w->rank;
    memmove(w->Z, column(w->Z, w->n, w->rank), (size_t)k * (size_t)w->n * sizeof(double));
    merge(l, w, k)->Z = w->Z;
    w->Z = NULL;
}

/* Few rows on unknowns that nothing has tied together before; else BG_RETRY. */
static bg_status add_few(bg_levels *l, level *w, double least)
{
    double left;
    for (int f = w->first; f >= 0; f = l->next[f])
        if (l->groups[f].column)
            return BG_RETRY;
    if (w->k <= SMALL || FEW * w->m > w->k)
        return BG_RETRY;
    w->Q = BG_NEW_ARRAY(double, (size_t)w->k *(size_t)w->m);
    if (!w->Q || !bg_arena_create(&w->scratch, list_few, w))
        return BG_NO_MEMORY;
    for (int i = 0; i < w->m; i++)
        for (int k = w->rows.start[i]; k < w->rows.start[i + 1]; k++)
            column(w->Q, w->k, i)[w->rows.column[k]] += w->rows.value[k];
    w->rank = bg_thin_orthogonalise(w->k, w->m, least, w->Q, w->B, w->order, &left);
    solve(w, w->m);
    for (int f = w->first; f >= 0; f = l->next[f]) {
        w->column[l->offset[f]] = f;
        for (int j = 0; j < w->rank; j++)
            l->x[f] += l->unit[f] * column(w->Q, w->k, j)[l->offset[f]] * w->s[j];
    }
    merge(l, w, w->k - w->rank)->Q = w->Q;
    w->Q = NULL;
    return BG_OK;
}

/* All rows can be met, with few directions left: BG_OK; else BG_RETRY. */
static bg_status add_sparse(bg_levels *l, level *w, double least)
{
    bg_nullspace s;
    if (w->k <= SMALL || 2 * w->m < w->k)
        return BG_RETRY;
    bg_status st = bg_nullspace_calc(&w->rows, w->r, w->k, least, &s);
    if (st != BG_OK)
        return st;
    w->Z = BG_NEW_ARRAY(double, (size_t)w->n *(size_t)(s.freedom + 1));
    st = w->Z ? BG_OK : BG_NO_MEMORY;
    if (st == BG_OK) { /* D Z s is the first column, of which 1 is taken */
        double one = 1, *N = BG_NEW_ARRAY(double, (size_t)w->k *(size_t)(s.freedom + 1));
        st = N ? BG_OK : BG_NO_MEMORY;
        if (N) {
            memcpy(N, s.x, (size_t)w->k * sizeof(double));
            memcpy(N + w->k, s.N, (size_t)w->k * (size_t)s.freedom * sizeof(double));
            join_bases(l, w, N, s.freedom + 1);
            w->rank = 1;
            w->s = &one;
            take(l, w, s.freedom + 1);
            w->s = NULL;
        }
        free(N);
    }
    bg_nullspace_clear(&s);
    return st;
}

static bg_status add_dense(bg_levels *l, level *w, double least)
{
    if (l->limit > 0 && w->k > l->limit)
        return BG_RETRY;
    w->Z = BG_NEW_ARRAY(double, (size_t)w->n *(size_t)w->k);
    if (!w->Z || !bg_arena_create(&w->scratch, list_dense, w))
        return BG_NO_MEMORY;
    join_bases(l, w, NULL, 0);
    for (int i = 0; i < w->m; i++)
        for (int k = w->rows.start[i]; k < w->rows.start[i + 1]; k++)
            column(w->B, w->k, i)[w->rows.column[k]] += w->rows.value[k];
    decide(w, least);
    solve(w, w->k);
    take(l, w, w->k);
    return BG_OK;
}

static void clear_level(level *w)
{
    bg_sparse_rows_clear(&w->rows);
    bg_arena_clear(&w->scratch);
    free(w->r);
    free(w->column);
    free(w->Z);
    free(w->Q);
}

/* a[n], r[n] <- what rows ask of single unknowns of the group; two rows on one become one. False:
 * some row asks for more than one. */
static bool sum_up(const bg_levels *l, int first, const bg_sparse_rows *A, const double *b,
                   const int *list, int m, double *a, double *r)
{
    for (int i = 0; i < m; i++) {
        int one = -1;
        double value = 0;
        for (int k = A->start[list[i]]; k < A->start[list[i] + 1]; k++) {
            int j = A->column[k];
            if (A->value[k] == 0 || bg_levels_find_free(l, j) != first)
                continue;
            if (one >= 0 && j != one)
                return false;
            one = j;
            value += A->value[k] * l->unit[j];
        }
        if (one < 0 || value == 0)
            return false;
        int at = l->local[one];
        double missing = b[list[i]] - bg_sparse_rows_multiply(A, list[i], l->x);
        double both = hypot(a[at], value);
        r[at] = (a[at] * r[at] + value * missing) / both;
        a[at] = both;
    }
    return true;
}

/* The answer is taken: what was asked for is decided, the rest is a group. */
static void take_answer(bg_levels *l, int first, const double *a, bg_thin_answer *answer, int *rest)
{
    bg_levels_group old = l->groups[first];
    l->groups[first] = (bg_levels_group){0};
    for (int i = 0, u = 0; i < old.n; i++) {
        int j = old.column[i];
        l->x[j] += l->unit[j] * answer->y[i];
        bool free_ = a[i] == 0 && answer->Q;
        if (free_)
            rest[u++] = j;
        l->first[j] = free_ ? rest[0] : j;
        l->local[j] = free_ ? u - 1 : 0;
        l->groups[j] = (bg_levels_group){.n = free_ ? 0 : 1};
    }
    if (answer->Q)
        l->groups[rest[0]] = (bg_levels_group){
            .n = answer->n, .k = answer->n - answer->m, .column = rest, .Q = answer->Q};
    else
        free(rest);
    l->freedom -= old.k - (answer->n - answer->m);
    bg_levels_clear_group(&old);
}

/* Rows that ask for single unknowns of one group of which is known what is decided; else
 * BG_RETRY.
 */
static bg_status add_single(bg_levels *l, int first, const bg_sparse_rows *A, const double *b,
                            const int *list, int m, double least)
{
    const bg_levels_group *g = &l->groups[first];
    if (!g->Q || l->next[first] >= 0)
        return BG_RETRY;
    double *a = BG_NEW_ARRAY(double, 3 * (size_t)g->n), *r = a + g->n;
    int *rest = BG_NEW_ARRAY(int, g->n);
    bg_status st = a && rest ? BG_OK : BG_NO_MEMORY;
    if (st == BG_OK && !sum_up(l, first, A, b, list, m, a, r))
        st = BG_RETRY;
    if (st == BG_OK) {
        bg_thin_question question = {g->n, g->n - g->k, g->Q, a, r};
        bg_thin_answer answer = {.y = r + g->n};
        st = bg_thin_solve(&question, &answer);
        if (st == BG_OK && answer.strength > least)
            take_answer(l, first, a, &answer, rest);
        else {
            free(answer.Q);
            st = st == BG_OK ? BG_RETRY : st;
        }
    }
    if (st != BG_OK)
        free(rest);
    free(a);
    return st;
}

/* Z of groups of which is known what is decided. */
bg_status bg_level_complete(bg_levels *l, int first)
{
    for (int f = first; f >= 0; f = l->next[f]) {
        bg_levels_group *g = &l->groups[f];
        if (!g->Q)
            continue;
        if (l->limit > 0 && g->k > l->limit)
            return BG_RETRY;
        g->Z = BG_NEW_ARRAY(double, (size_t)g->n *(size_t)g->k);
        if (!g->Z)
            return BG_NO_MEMORY;
        bg_thin_complete(g->n, g->n - g->k, g->Q, g->Z);
        free(g->Q);
        g->Q = NULL;
    }
    return BG_OK;
}

/* The rows of one set of groups; they are list[0 .. m-1]. */
bg_status bg_level_add(bg_levels *l, int first, const bg_sparse_rows *A, const double *b,
                       const int *list, int m, double least)
{
    level w = {.first = first, .m = m};
    bg_status st = add_single(l, first, A, b, list, m, least);
    if (st != BG_RETRY)
        return st;
    st = bg_level_complete(l, first);
    if (st != BG_OK)
        return st;
    for (int f = first; f >= 0; f = l->next[f]) {
        l->offset[f] = w.k;
        w.k += l->groups[f].k;
        w.n += l->groups[f].n;
    }
    w.r = BG_NEW_ARRAY(double, m);
    w.column = BG_NEW_ARRAY(int, w.n);
    if (st == BG_OK && !(w.r && w.column))
        st = BG_NO_MEMORY;
    for (int i = 0; i < m && st == BG_OK; i++) {
        add_row(l, &w, A, list[i]);
        w.r[i] = b[list[i]] - bg_sparse_rows_multiply(A, list[i], l->x);
    }
    if (w.rows.failed)
        st = BG_NO_MEMORY;
    if (st == BG_OK)
        st = add_sparse(l, &w, least);
    if (st == BG_RETRY)
        st = add_few(l, &w, least);
    if (st == BG_RETRY)
        st = add_dense(l, &w, least);
    clear_level(&w);
    return st;
}

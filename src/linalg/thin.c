/* With J the unknowns that are asked for and U the others, Q^T y = 0 is  P^T y_U = -Q_J^T y_J,
 * P = Q_U. P = S R by Gram-Schmidt; the combinations c of its columns with P c = 0 leave conditions
 * (Q_J c)^T y_J = 0 on J alone. With t_i = a_i y_i these are orthogonal to Q_J c / a: t is r
 * without its part along them. What y_U then has to be follows from R^T w = -Q_J^T y_J,
 * y_U = S w, the shortest there is; free is what is orthogonal to S.
 *
 * Along a direction of length 1 with Q^T y = 0 that is decided, y_U is in S, so that
 * |y_J| >= |P^T y_U| >= sigma |y_U|, sigma the least singular value of R. */
#include "linalg/thin.h"

#include "base/arena.h"
#include "base/memory.h"
#include "math/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double none = 1e-13; /* what may be left of columns of P that depend on others */
static const double clear = 1e-6; /* what is left of those that do not */

static double *column(double *A, int rows, int j)
{
    return A + (size_t)rows * (size_t)j;
}

static void subtract(double *x, double h, const double *z, int n)
{
    for (int i = 0; i < n; i++)
        x[i] -= h * z[i];
}

/* The longest vector from k on goes to k. */
static double exchange(int n, int m, int k, double *Q, int *order)
{
    int best = k;
    double longest = 0;
    for (int j = k; j < m; j++) {
        double length = sqrt(bg_dot_product(column(Q, n, j), column(Q, n, j), n));
        if (length > longest)
            longest = length, best = j;
    }
    int index = order[k];
    order[k] = order[best];
    order[best] = index;
    for (int i = 0; i < n && best != k; i++) {
        double value = column(Q, n, k)[i];
        column(Q, n, k)[i] = column(Q, n, best)[i];
        column(Q, n, best)[i] = value;
    }
    return longest;
}

int bg_thin_orthogonalise(int n, int m, double least, double *Q, double *R, int *order,
                          double *left)
{
    memset(R, 0, (size_t)m * (size_t)m * sizeof(double));
    for (int j = 0; j < m; j++)
        order[j] = j;
    *left = 0;
    for (int k = 0; k < m; k++) {
        double *q = column(Q, n, k), longest = exchange(n, m, k, Q, order);
        if (!(longest > least)) {
            *left = longest;
            return k;
        }
        for (int c = 0; c < k; c++) { /* once more: what rounding left of them */
            double h = bg_dot_product(column(Q, n, c), q, n);
            subtract(q, h, column(Q, n, c), n);
            R[c + m * order[k]] += h;
        }
        double length = sqrt(bg_dot_product(q, q, n));
        R[k + m * order[k]] = length;
        for (int i = 0; i < n; i++)
            q[i] /= length;
        for (int j = k + 1; j < m; j++) {
            double h = R[k + m * order[j]] = bg_dot_product(q, column(Q, n, j), n);
            subtract(column(Q, n, j), h, q, n);
        }
    }
    return m;
}

typedef struct work {
    const bg_thin_question *q;
    int asked, rest, rank; /* of P */
    int *J, *U;            /* [asked], [rest] */
    double *S;             /* [rest * m] P, then its basis */
    double *R, *R2;        /* [m * m] */
    int *order, *order2;   /* [m] */
    double *c, *g;         /* [m] */
    double *F;             /* [asked * m] */
    double *t;             /* [asked] */
    bg_arena arena;
} work;

static void list(void *object, bg_arena *arena)
{
    work *w = object;
    int m = w->q->m;
    BG_TAKE(arena, w->J, w->asked);
    BG_TAKE(arena, w->U, w->rest);
    BG_TAKE(arena, w->S, (size_t)w->rest * (size_t)m);
    BG_TAKE(arena, w->R, (size_t)m * (size_t)m);
    BG_TAKE(arena, w->R2, (size_t)m * (size_t)m);
    BG_TAKE(arena, w->order, m);
    BG_TAKE(arena, w->order2, m);
    BG_TAKE(arena, w->c, m);
    BG_TAKE(arena, w->g, m);
    BG_TAKE(arena, w->F, (size_t)w->asked * (size_t)m);
    BG_TAKE(arena, w->t, w->asked);
}

static double get_Q(const work *w, int i, int k)
{
    return w->q->Q[(size_t)k * (size_t)w->q->n + (size_t)i];
}

/* c <- the combination of columns of P that is zero, with 1 for the one at place e of the order. */
static void combine(work *w, int e)
{
    int m = w->q->m;
    memset(w->c, 0, (size_t)m * sizeof(double));
    w->c[w->order[e]] = 1;
    for (int k = w->rank - 1; k >= 0; k--) {
        double sum = w->R[k + m * w->order[e]];
        for (int l = k + 1; l < w->rank; l++)
            sum += w->R[k + m * w->order[l]] * w->c[w->order[l]];
        w->c[w->order[k]] = -sum / w->R[k + m * w->order[k]];
    }
}

/* t <- r without its part along the conditions on J. False: these are not independent. */
static bool meet(work *w)
{
    const bg_thin_question *q = w->q;
    int count = q->m - w->rank;
    double longest = 0, left;
    for (int e = 0; e < count; e++) {
        double *f = column(w->F, w->asked, e);
        combine(w, w->rank + e);
        for (int i = 0; i < w->asked; i++) {
            for (int k = 0; k < q->m; k++)
                f[i] += get_Q(w, w->J[i], k) * w->c[k];
            f[i] /= q->a[w->J[i]];
        }
        longest = fmax(longest, sqrt(bg_dot_product(f, f, w->asked)));
    }
    if (bg_thin_orthogonalise(w->asked, count, clear * longest, w->F, w->R2, w->order2, &left) <
        count)
        return false;
    for (int i = 0; i < w->asked; i++)
        w->t[i] = q->r[w->J[i]];
    for (int e = 0; e < 2 * count; e++) { /* twice */
        const double *f = column(w->F, w->asked, e % count);
        subtract(w->t, bg_dot_product(f, w->t, w->asked), f, w->asked);
    }
    return true;
}

/* y of J from t, and of U from y of J. */
static void follow(work *w, double *y)
{
    const bg_thin_question *q = w->q;
    int m = q->m;
    memset(y, 0, (size_t)q->n * sizeof(double));
    for (int i = 0; i < w->asked; i++)
        y[w->J[i]] = w->t[i] / q->a[w->J[i]];
    for (int k = 0; k < m; k++) {
        w->g[k] = 0;
        for (int i = 0; i < w->asked; i++)
            w->g[k] -= get_Q(w, w->J[i], k) * y[w->J[i]];
    }
    for (int k = 0; k < w->rank; k++) { /* R^T c = g */
        double sum = w->g[w->order[k]];
        for (int l = 0; l < k; l++)
            sum -= w->R[l + m * w->order[k]] * w->c[l];
        w->c[k] = sum / w->R[k + m * w->order[k]];
        for (int i = 0; i < w->rest; i++)
            y[w->U[i]] += w->c[k] * column(w->S, w->rest, k)[i];
    }
}

/* A bound from below for the singular values of a triangle made with exchanges is its last entry on
 * the diagonal beside the number of columns, but for triangles that do not occur. */
static double calc_strength(const work *w)
{
    const bg_thin_question *q = w->q;
    double least = HUGE_VAL;
    for (int i = 0; i < w->asked; i++)
        least = fmin(least, fabs(q->a[w->J[i]]));
    double strength = least / sqrt(w->asked);
    if (w->rank == 0)
        return strength;
    double sigma = w->R[w->rank - 1 + q->m * w->order[w->rank - 1]] / w->rank;
    return strength * sigma / sqrt(1 + sigma * sigma);
}

static bg_status fill(work *w, bg_thin_answer *answer)
{
    size_t size = (size_t)w->rest * (size_t)w->rank;
    answer->strength = calc_strength(w);
    answer->n = w->rest;
    answer->m = w->rank;
    if (w->rest == w->rank)
        return BG_OK;
    answer->Q = BG_NEW_ARRAY(double, size);
    if (!answer->Q)
        return BG_NO_MEMORY;
    memcpy(answer->Q, w->S, size * sizeof(double));
    return BG_OK;
}

bg_status bg_thin_solve(const bg_thin_question *q, bg_thin_answer *answer)
{
    work w = {.q = q};
    double left;
    for (int i = 0; i < q->n; i++)
        w.asked += q->a[i] != 0;
    w.rest = q->n - w.asked;
    answer->Q = NULL;
    if (!bg_arena_create(&w.arena, list, &w))
        return BG_NO_MEMORY;
    for (int i = 0, j = 0, u = 0; i < q->n; i++) {
        for (int k = 0; k < q->m && q->a[i] == 0; k++)
            column(w.S, w.rest, k)[u] = get_Q(&w, i, k);
        if (q->a[i] != 0)
            w.J[j++] = i;
        else
            w.U[u++] = i;
    }
    w.rank = bg_thin_orthogonalise(w.rest, q->m, clear, w.S, w.R, w.order, &left);
    bg_status st = left <= none && meet(&w) ? BG_OK : BG_RETRY;
    if (st == BG_OK) {
        follow(&w, answer->y);
        st = fill(&w, answer);
    }
    bg_arena_clear(&w.arena);
    return st;
}

/* x <- (I - 2 h h^T / h.h) x, on entries from `from` on. */
static void reflect(const double *h, int from, int n, double *x)
{
    double s = 2 * bg_dot_product(h + from, x + from, n - from) /
               bg_dot_product(h + from, h + from, n - from);
    subtract(x + from, s, h + from, n - from);
}

void bg_thin_complete(int n, int m, double *Q, double *Z)
{
    for (int j = 0; j < m; j++) { /* column j becomes the reflection that takes it to +-e_j */
        double *h = column(Q, n, j), length = sqrt(bg_dot_product(h + j, h + j, n - j));
        h[j] += h[j] >= 0 ? length : -length;
        for (int k = j + 1; k < m; k++)
            reflect(h, j, n, column(Q, n, k));
    }
    memset(Z, 0, (size_t)n * (size_t)(n - m) * sizeof(double));
    for (int c = 0; c < n - m; c++) {
        double *z = column(Z, n, c);
        z[m + c] = 1;
        for (int j = m - 1; j >= 0; j--)
            reflect(column(Q, n, j), j, n, z);
    }
}

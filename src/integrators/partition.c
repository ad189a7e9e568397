/* Which entries of the Jacobian a partitioned linear-implicit step uses.
 *
 * stiff: those of parts marked stiff (left to the system), or between coordinates marked stiff. The
 * rest is treated as by explicit Euler.
 *
 * auto: the step's matrix H = M - h f_u - h^2 f_q loses its small entries; h f_q u on the right
 * side loses nothing, so that what is left out is treated as by J3. With K = -f_q and D = -f_u
 * symmetric and semidefinite, an eigenvector x of a step with eigenvalue z satisfies
 *
 *     m (z - 1)^2 + (d + k) (z - 1) + k = 0,   m = x* H x,   d = h x* D x,   k = h^2 x* K x
 *
 * (semi too; exact has d + 2 k), and |z| <= 1 as long as k + 2 d <= 4 m (3 k + 2 d for exact). This
 * holds where what is left out, E, is symmetric and |x* E x| is a small part of x* M x. Coordinates
 * come in blocks, so that the choice does not depend on axes: three of a place, four of a
 * quaternion, else one. With S the roots of the masses of blocks, A the upper left part of
 * [M G^T; G 0]^{-1} and | | the Frobenius norm of a block, what is left out beside a block of the
 * scaled
 *
 *     S^{-1} (h |r_v| + h^2 |r_q|) S^{-1}
 *
 * adds up to at most 0.05/c, c the largest row sum of |S A S|: then |x* E x| <= 0.05/c |S x|^2 <=
 * 0.05 x* M x for all x the constraints allow. J1, whose H = M - h f_u has no h^2
 * |r_q| to lose, needs k + 2 d <= 4 m, too, but m = 1 + d - x* E x there (x* M x = 1): of its limit
 * k <= 4 + 2 d there remains k <= 3.8 + 2 d. (Undamped, explicit Euler is
 * unstable at any step: leaving f_q u out, too, would not do.) The choice is made where the run
 * starts, and again where an event changes something. */
#include "integrators/euler.h"
#include "system/masses.h"

#include <math.h>
#include <string.h>

static const double left_out = 0.05;

typedef struct scaled {
    bg_euler *m;
    const bg_system *sys;
    const bg_pattern *pattern;
    double *root;  /* [nv] square roots of the masses of blocks */
    double *reach; /* of each entry: the scaled norm of its block, or of its mirror image */
    double *bound; /* [nv] up to which a block does without */
    int nv;
} scaled;

static int row_begin(const scaled *s, int i)
{
    return s->pattern ? s->pattern->row_start[i] : i * s->nv;
}

static int get_column(const scaled *s, int i, int k)
{
    return s->pattern ? s->pattern->column[k] : k - i * s->nv;
}

/* The block of the column of entry k of row i. */
static int get_block(const scaled *s, int i, int k)
{
    return bg_system_get_block(s->sys, get_column(s, i, k));
}

/* One past the last coordinate of a block. */
static int find_end(const scaled *s, int block)
{
    int end = block;
    while (end < s->nv && bg_system_get_block(s->sys, end) == block)
        end++;
    return end;
}

/* An entry between two blocks; -1: there is none. */
static int find_entry(const scaled *s, int rows, int columns)
{
    for (int i = rows, end = find_end(s, rows); i < end; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
            if (get_block(s, i, k) == columns)
                return k;
    return -1;
}

/* reach of the entries in the rows of a block <- scaled norms of what they belong to. */
static void calc_norms(scaled *s, double h, int block)
{
    double *by_v = s->m->sums, *by_q = by_v + s->nv;
    int end = find_end(s, block);
    memset(by_v, 0, 2 * (size_t)s->nv * sizeof(double));
    for (int i = block; i < end; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            by_v[get_block(s, i, k)] += s->m->r_v[k] * s->m->r_v[k];
            by_q[get_block(s, i, k)] += s->m->r_q[k] * s->m->r_q[k];
        }
    double square = s->m->jacobian == BG_JACOBIAN_1 ? 0 : h * h;
    for (int i = block; i < end; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            int other = get_block(s, i, k);
            s->reach[k] = (h * sqrt(by_v[other]) + square * sqrt(by_q[other])) /
                          (s->root[block] * s->root[other]);
        }
}

/* Of entries without mirror images, or zero where the run starts, nothing is known: they reach
 * infinitely far and are kept. */
static void calc_reach(scaled *s, double h)
{
    for (int block = 0; block < s->nv; block = find_end(s, block))
        calc_norms(s, h, block);
    for (int i = 0; i < s->nv; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            int own = bg_system_get_block(s->sys, i), other = get_block(s, i, k);
            int mirror = find_entry(s, other, own);
            if (other < own && mirror >= 0) /* has been looked at */
                s->reach[k] = s->reach[mirror];
            else if (mirror >= 0)
                s->reach[k] = fmax(s->reach[k], s->reach[mirror]);
            if (mirror < 0 || s->reach[k] == 0)
                s->reach[k] = HUGE_VAL;
        }
}

/* list <- reach of everything beside a block, once each; returns how many. */
static int list_reach(const scaled *s, int block, double *list)
{
    int n = 0;
    for (int i = block, end = find_end(s, block); i < end; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            int other = get_block(s, i, k);
            if (s->m->stamps[other] == block + 1)
                continue;
            s->m->stamps[other] = block + 1;
            list[n++] = s->reach[k];
        }
    return n;
}

/* The largest bound below which what is beside a block adds up to at most `total`. */
static double find_bound(const scaled *s, int block, double total)
{
    double *list = s->m->sums, low = 0, high = total;
    int n = list_reach(s, block, list);
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), sum = 0;
        for (int k = 0; k < n; k++)
            sum += list[k] <= middle ? list[k] : 0;
        if (sum <= total)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The largest row sum of norms of the blocks of S A S, at least 1; infinite where the matrix is
 * singular. */
static double calc_mobility(bg_integrator *ig, const scaled *s)
{
    bg_dynamics *d = ig->dyn;
    double largest = 1, *squares = s->m->sums;
    bg_system_get_work(ig->sys)->factorisations++;
    if (bg_kkt_factor(s->m->plain, s->m->terms.M, s->m->terms.G, s->m->terms.G) != BG_OK)
        return HUGE_VAL;
    for (int block = 0, end; block < s->nv; block = end) {
        double sum = 0;
        end = find_end(s, block);
        memset(squares, 0, (size_t)s->nv * sizeof(double));
        for (int i = block; i < end; i++) {
            memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
            memset(d->work_g, 0, (size_t)d->ng * sizeof(double));
            d->work_v[i] = s->root[i];
            bg_kkt_solve(s->m->plain, d->work_v, d->work_g);
            for (int j = 0; j < s->nv; j++) {
                double x = s->root[j] * d->work_v[j];
                squares[bg_system_get_block(s->sys, j)] += x * x;
            }
        }
        for (int j = 0; j < s->nv; j++)
            sum += sqrt(squares[j]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* What either of its two blocks wants to keep is kept. */
static void choose_by_size(bg_integrator *ig, scaled *s)
{
    double total = left_out / calc_mobility(ig, s);
    calc_reach(s, ig->options.step);
    memset(s->m->stamps, 0, (size_t)s->nv * sizeof(int));
    for (int block = 0; block < s->nv; block = find_end(s, block))
        s->bound[block] = find_bound(s, block, total);
    for (int i = 0; i < s->nv; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            double own = s->bound[bg_system_get_block(s->sys, i)];
            double other = s->bound[get_block(s, i, k)];
            s->m->kept[k] = s->reach[k] <= fmin(own, other) ? BG_LEFT_OUT : BG_KEPT;
        }
}

static void choose_by_marks(scaled *s, const unsigned char *marks)
{
    for (int i = 0; i < s->nv; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
            s->m->kept[k] = (marks[i] & BG_MARK_STIFF) &&
                            (marks[get_column(s, i, k)] & BG_MARK_STIFF);
}

/* Roots of the masses of blocks, and 1 where they have none, into out. */
static void calc_roots(const bg_integrator *ig, const bg_euler *m, double *out)
{
    bg_masses_calc_means(ig->sys->system, m->terms.M, out);
    for (int i = 0; i < ig->dyn->nv; i++)
        out[i] = out[i] > 0 ? sqrt(out[i]) : 1.0;
}

static void choose(bg_integrator *ig, bg_euler *m)
{
    const bg_system_def *def = &ig->sys->def;
    scaled s = {.m = m,
                .sys = ig->sys->system,
                .pattern = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q),
                .root = m->masses,
                .reach = m->hat_M,
                .bound = m->sums + 2 * def->nv,
                .nv = def->nv};
    int n = row_begin(&s, def->nv);
    for (int k = 0; k < n; k++)
        m->kept[k] = BG_KEPT;
    if (m->partition == BG_PARTITION_AUTO) {
        calc_roots(ig, m, s.root);
        choose_by_size(ig, &s);
    } else if (m->partition == BG_PARTITION_STIFF && def->stiff_parts == 0) {
        choose_by_marks(&s, def->marks);
    }
    m->nkept = m->nentries = 0;
    for (int k = 0; k < n; k++) {
        bool squares = m->jacobian != BG_JACOBIAN_1 || m->partition == BG_PARTITION_STIFF;
        bool filled = (squares && m->r_q[k] != 0) || m->r_v[k] != 0;
        if (m->kept[k] && !filled)
            m->kept[k] = BG_KEPT_EMPTY;
        m->nkept += m->kept[k] == BG_KEPT;
        m->nentries += m->partition == BG_PARTITION_STIFF || filled;
    }
    m->partitioned = true;
}

static void clear_others(const bg_integrator *ig, const bg_euler *m, double *values)
{
    const bg_pattern *pattern = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    int nv = ig->dyn->nv, n = pattern ? pattern->row_start[nv] : nv * nv;
    for (int k = 0; k < n; k++)
        if (!m->kept[k])
            values[k] = 0;
}

void bg_partition_apply(bg_integrator *ig, bg_euler *m)
{
    if (m->partition == BG_PARTITION_ALL)
        return;
    if (!m->partitioned)
        choose(ig, m);
    if (m->partition == BG_PARTITION_STIFF) {
        clear_others(ig, m, m->r_q);
        clear_others(ig, m, m->r_v);
    }
}

void bg_partition_apply_to_matrix(const bg_integrator *ig, const bg_euler *m)
{
    if (m->partition == BG_PARTITION_AUTO)
        clear_others(ig, m, m->hat_M);
}

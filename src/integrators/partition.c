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
 * holds where the entries left out, E, are symmetric and |x* E x| is a small part of x* M x. With
 * S = diag(M)^{1/2} and A the upper left block of [M G^T; G 0]^{-1}, the scaled entries
 *
 *     S^{-1} (h |r_v| + h^2 |r_q|) S^{-1}
 *
 * left out of a row add up to at most 0.05/c, c the largest row sum of |S A S|: then |x* E x| <=
 * 0.05/c |S x|^2 <= 0.05 x* M x for all x the constraints allow. J1, whose H = M - h f_u has no h^2
 * |r_q| to lose, needs k + 2 d <= 4 m, too, but m = 1 + d - x* E x there (x* M x = 1): of its limit
 * k <= 4 + 2 d there remains k <= 3.8 + 2 d. (Undamped, explicit Euler is
 * unstable at any step: leaving f_q u out, too, would not do.) The choice is made where the run
 * starts, and again where an event changes something. */
#include "integrators/euler.h"

#include <math.h>
#include <string.h>

static const double left_out = 0.05;

typedef struct scaled {
    bg_euler *m;
    const bg_pattern *pattern;
    double *root;  /* [nv] square roots of the diagonal of M */
    double *reach; /* scaled entries, or their mirror images where these are larger */
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

/* Where entry (i, j) is stored; -1: nowhere. */
static int find_entry(const scaled *s, int i, int j)
{
    if (!s->pattern)
        return i * s->nv + j;
    for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
        if (s->pattern->column[k] == j)
            return k;
    return -1;
}

static double calc_size(const scaled *s, double h, int k)
{
    double square = s->m->jacobian == BG_JACOBIAN_1 ? 0 : h * h;
    return h * fabs(s->m->r_v[k]) + square * fabs(s->m->r_q[k]);
}

/* Of an entry without a mirror image, or one that is zero where the run starts, nothing is known:
 * it reaches infinitely far and is kept. */
static void calc_reach(scaled *s, double h)
{
    for (int i = 0; i < s->nv; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            int j = get_column(s, i, k), mirror = find_entry(s, j, i);
            double size = mirror < 0 ? 0 : fmax(calc_size(s, h, k), calc_size(s, h, mirror));
            s->reach[k] = size > 0 ? size / (s->root[i] * s->root[j]) : HUGE_VAL;
        }
}

/* The largest bound below which the entries of row i add up to at most `total`. */
static double find_bound(const scaled *s, int i, double total)
{
    double low = 0, high = total;
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), sum = 0;
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
            sum += s->reach[k] <= middle ? s->reach[k] : 0;
        if (sum <= total)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The largest row sum of |S A S|, at least 1; infinite where the matrix is singular. */
static double calc_mobility(bg_integrator *ig, const scaled *s)
{
    bg_dynamics *d = ig->dyn;
    double largest = 1;
    bg_system_get_work(ig->sys)->factorisations++;
    if (bg_kkt_factor(s->m->plain, s->m->terms.M, s->m->terms.G, s->m->terms.G) != BG_OK)
        return HUGE_VAL;
    for (int i = 0; i < s->nv; i++) {
        double sum = 0;
        memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
        memset(d->work_g, 0, (size_t)d->ng * sizeof(double));
        d->work_v[i] = s->root[i];
        bg_kkt_solve(s->m->plain, d->work_v, d->work_g);
        for (int j = 0; j < s->nv; j++)
            sum += s->root[j] * fabs(d->work_v[j]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* What either of its two rows wants to keep is kept. */
static void choose_by_size(bg_integrator *ig, scaled *s)
{
    double total = left_out / calc_mobility(ig, s);
    calc_reach(s, ig->options.step);
    for (int k = 0; k < row_begin(s, s->nv); k++)
        s->m->kept[k] = BG_LEFT_OUT;
    for (int i = 0; i < s->nv; i++) {
        double bound = find_bound(s, i, total);
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            int mirror = find_entry(s, get_column(s, i, k), i);
            if (s->reach[k] <= bound)
                continue;
            s->m->kept[k] = BG_KEPT;
            if (mirror >= 0)
                s->m->kept[mirror] = BG_KEPT;
        }
    }
}

static void choose_by_marks(scaled *s, const unsigned char *marks)
{
    for (int i = 0; i < s->nv; i++)
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
            s->m->kept[k] = (marks[i] & BG_MARK_STIFF) &&
                            (marks[get_column(s, i, k)] & BG_MARK_STIFF);
}

/* Roots of the diagonal of M, and 1 where it has no mass, into out. */
static void calc_roots(const bg_integrator *ig, const bg_euler *m, double *out)
{
    const bg_pattern *p = ig->sys->def.pattern_M;
    int nv = ig->dyn->nv;
    for (int i = 0; i < nv; i++) {
        double mass = 0;
        for (int k = p ? p->row_start[i] : i * nv; k < (p ? p->row_start[i + 1] : (i + 1) * nv);
             k++)
            if ((p ? p->column[k] : k - i * nv) == i)
                mass = m->terms.M[k];
        out[i] = mass > 0 ? sqrt(mass) : 1.0;
    }
}

static void choose(bg_integrator *ig, bg_euler *m)
{
    const bg_system_def *def = &ig->sys->def;
    scaled s = {m, bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q), m->along, m->hat_M,
                def->nv};
    int n = row_begin(&s, def->nv);
    for (int k = 0; k < n; k++)
        m->kept[k] = BG_KEPT;
    if (m->partition == BG_PARTITION_AUTO) {
        calc_roots(ig, m, m->along);
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

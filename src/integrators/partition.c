/* Which entries of the Jacobian a partitioned linear-implicit step uses.
 *
 * stiff: those of parts marked stiff (left to the system), or between coordinates marked stiff.
 * auto: with D = diag(M), the scaled matrix D^{-1/2} (h |r_v| + h^2 |r_q|) D^{-1/2} says how far an
 * entry reaches in one step. In each row the smallest entries are left out, up to a sum of 0.05: so
 * by Gershgorin's theorem what is treated explicitly has eigenvalues within 0.05 of zero, a
 * fortieth of the explicit method's limit. The choice is made once, where the run starts. */
#include "integrators/euler.h"

#include <math.h>

static const double left_out = 0.05;

typedef struct scaled {
    bg_euler *m;
    const bg_pattern *pattern;
    const double *root; /* [nv] square roots of the diagonal of M */
    double h;
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

static double calc_reach(const scaled *s, int i, int k)
{
    double x = s->h * fabs(s->m->r_v[k]) + s->h * s->h * fabs(s->m->r_q[k]);
    return x / (s->root[i] * s->root[get_column(s, i, k)]);
}

/* The largest bound below which the entries of row i add up to at most `left_out`. */
static double find_bound(const scaled *s, int i)
{
    double low = 0, high = left_out;
    for (int step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high), sum = 0;
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++) {
            double x = calc_reach(s, i, k);
            sum += x <= middle ? x : 0;
        }
        if (sum <= left_out)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void choose_by_size(scaled *s)
{
    for (int i = 0; i < s->nv; i++) {
        double bound = find_bound(s, i);
        for (int k = row_begin(s, i); k < row_begin(s, i + 1); k++)
            s->m->kept[k] = !(calc_reach(s, i, k) <= bound);
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
    scaled s = {m, bg_system_get_pattern(ig->sys, BG_OF_r, BG_BY_q), m->along, ig->h, def->nv};
    m->nentries = row_begin(&s, def->nv);
    for (int k = 0; k < m->nentries; k++)
        m->kept[k] = 1;
    if (m->partition == BG_PARTITION_AUTO) {
        calc_roots(ig, m, m->along);
        choose_by_size(&s);
    } else if (m->partition == BG_PARTITION_STIFF && def->stiff_parts == 0) {
        choose_by_marks(&s, def->marks);
    }
    m->nkept = 0;
    for (int k = 0; k < m->nentries; k++)
        m->nkept += m->kept[k] && (m->r_q[k] != 0 || m->r_v[k] != 0);
    m->partitioned = true;
}

void bg_partition_apply(bg_integrator *ig, bg_euler *m)
{
    if (m->partition == BG_PARTITION_ALL)
        return;
    if (!m->partitioned)
        choose(ig, m);
    for (int k = 0; k < m->nentries; k++)
        if (!m->kept[k])
            m->r_q[k] = m->r_v[k] = 0;
}

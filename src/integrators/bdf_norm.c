/* How errors and Newton's increments of bdf are measured.
 *
 * Entries of q count along V: a difference dq of coordinates is V^+ dq in nv tangent entries, V^+ =
 * D^-1 V^T with D = V^T V, which is diagonal (I, or 1/4 I for a unit quaternion). The weight is
 * rtol |x| + atol; |x| is 1 for a rotation, at most 2 pi for the angle of a joint that can turn for
 * ever, and the length of the vector where a turn of the axes mixes coordinates. In the form
 * of index 3 velocities follow from positions with an error 1/h times as large, and are weighted
 * with h. lambda and eta do not count: their errors are those of v and q divided by h, and F is
 * linear in them.
 *
 * The norm is the root mean square of q, of v, or of z, whichever is largest: entries of one kind
 * are of one size, and positions, whose errors are mostly smaller, do not dilute those of
 * velocities. */
#include "integrators/bdf.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.283185307179586;

static double calc_length(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* The size of coordinate i of a tangent vector at q (two states, the larger counts). */
static double calc_size(const bg_integrator *ig, int i, const double *q0, const double *q1)
{
    const bg_bdf *m = ig->method;
    const bg_system *sys = ig->sys->system;
    if (m->q_of[i] < 0)
        return 1;
    const int k = m->q_of[i];
    double size = fmax(fabs(q0[k]), fabs(q1[k]));
    return sys->endless && sys->endless[i] ? fmin(size, two_pi) : size;
}

/* weight[first .. last) of a block become those of its length. */
static void merge_block(double *size, int first, int last)
{
    if (last - first < 2)
        return;
    double length = calc_length(size + first, last - first);
    for (int i = first; i < last; i++)
        size[i] = length;
}

static void merge_blocks(const bg_integrator *ig, double *size)
{
    int nv = ig->dyn->nv, first = 0;
    if (!ig->sys->system->block)
        return;
    for (int i = 1; i <= nv; i++)
        if (i == nv || bg_system_get_block(ig->sys->system, i) != first) {
            merge_block(size, first, i);
            first = i;
        }
}

/* Fixed steps: increments beside the size of things, of which rounding is left. */
static void update_fixed_weights(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const double *size = ig->sys->def.v_size, *v = m->y_P + m->nq;
    double speed = 0, *w = m->weight;
    for (int i = 0; i < m->nv; i++)
        speed = fmax(speed, fabs(v[i]) / (size ? size[i] : 1));
    for (int i = 0; i < m->nv; i++) {
        double own = size ? size[i] : 1, far = m->q_of[i] < 0 ? 0 : fabs(m->y_P[m->q_of[i]]);
        w[i] = own + 0.01 * far;
        w[m->nv + i] = w[i] * fmax(1, speed);
        if (m->form == BG_FORM_INDEX_3)
            w[m->nv + i] = fmax(w[m->nv + i], w[i] / m->formula.h);
    }
    for (int i = 0; i < m->nz; i++)
        w[2 * m->nv + i] = fmax(1, fabs(v[m->nv + i]));
}

void bg_bdf_update_weights(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const double *y0 = ig->x0->q, *y1 = m->y_P;
    double *w = m->weight, rtol = ig->options.rtol, atol = ig->options.atol;
    if (ig->options.step > 0) {
        update_fixed_weights(ig);
        return;
    }
    for (int i = 0; i < m->nv; i++) {
        w[i] = calc_size(ig, i, y0, y1);
        w[m->nv + i] = fmax(fabs(y0[m->nq + i]), fabs(y1[m->nq + i]));
    }
    merge_blocks(ig, w);
    merge_blocks(ig, w + m->nv);
    for (int i = 0; i < m->nz; i++)
        w[2 * m->nv + i] = fmax(fabs(y0[m->nq + m->nv + i]), fabs(y1[m->nq + m->nv + i]));
    for (int i = 0; i < 2 * m->nv + m->nz; i++)
        w[i] = rtol * w[i] + atol;
    if (m->form == BG_FORM_INDEX_3)
        for (int i = 0; i < m->nv; i++)
            w[m->nv + i] /= fmin(1, m->formula.h);
}

/* The largest entry; of blocks the length. Not a number where an entry is none. */
static double calc_largest(const bg_integrator *ig, const double *x)
{
    const bg_bdf *m = ig->method;
    const int *block = ig->sys->system->block;
    double largest = 0;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < m->nv;) {
            int first = i;
            double sum = 0;
            do {
                double e = x[part * m->nv + i] / m->weight[part * m->nv + i];
                sum += e * e;
                i++;
            } while (block && i < m->nv && block[i] == first);
            if (!(sum <= largest))
                largest = sum;
        }
    for (int i = 2 * m->nv; i < 2 * m->nv + m->nz; i++) {
        double e = x[i] / m->weight[i];
        if (!(e * e <= largest))
            largest = e * e;
    }
    return sqrt(largest);
}

/* The mean of squares of the entries [begin, end). */
static double calc_mean(const bg_bdf *m, const double *x, int begin, int end)
{
    double sum = 0;
    for (int i = begin; i < end; i++) {
        double e = x[i] / m->weight[i];
        sum += e * e;
    }
    return end > begin ? sum / (end - begin) : 0;
}

static double calc_entries(const bg_integrator *ig, const double *x)
{
    const bg_bdf *m = ig->method;
    const int n = 2 * m->nv + m->nz;
    if (m->norm == BG_NORM_LARGEST)
        return calc_largest(ig, x);
    if (m->norm == BG_NORM_RMS)
        return sqrt(calc_mean(m, x, 0, n));
    const int at[] = {0, m->nv, 2 * m->nv, n};
    double largest = 0; /* not a number where an entry is none */
    for (int k = 0; k < 3; k++) {
        double mean = calc_mean(m, x, at[k], at[k + 1]);
        if (!(mean <= largest))
            largest = mean;
    }
    return sqrt(largest);
}

double bg_bdf_calc_norm(const bg_integrator *ig, const double *q, const double *v, const double *z)
{
    const bg_bdf *m = ig->method;
    memcpy(m->entries, q, (size_t)m->nv * sizeof(double));
    memcpy(m->entries + m->nv, v, (size_t)m->nv * sizeof(double));
    memcpy(m->entries + 2 * m->nv, z, (size_t)m->nz * sizeof(double));
    return calc_entries(ig, m->entries);
}

double bg_bdf_calc_norm_of(bg_integrator *ig, const double *x, const double *more,
                           const double *most)
{
    bg_bdf *m = ig->method;
    double *out = m->entries;
    int rest = m->nv + m->nz;
    for (int i = 0; i < m->nq + rest; i++)
        ig->work_n[i] = x[i] + (more ? more[i] : 0) + (most ? most[i] : 0);
    if (ig->dyn->kinematic) {
        memset(out, 0, (size_t)m->nv * sizeof(double));
        bg_matrix_add_transposed(m->nq, m->nv, ig->sys->def.pattern_V, m->V, 1, ig->work_n, out);
        for (int i = 0; i < m->nv; i++)
            out[i] /= m->VV[i];
    } else {
        memcpy(out, ig->work_n, (size_t)m->nv * sizeof(double));
    }
    memcpy(out + m->nv, ig->work_n + m->nq, (size_t)rest * sizeof(double));
    if (m->along) {
        memcpy(m->forgiven, out, (size_t)(2 * m->nv + m->nz) * sizeof(double));
        bg_bdf_forgive(ig, m->forgiven);
        return calc_entries(ig, m->forgiven);
    }
    return calc_entries(ig, out);
}

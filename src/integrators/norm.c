/* Weighted norms and linear combinations of rates.
 *
 * The mean square of 003 eq. (15) lets the error of one coordinate grow with the number of others
 * that do not move, of which Cartesian coordinates have many; the largest entry does not. Entries
 * that a turn of the axes mixes (bg_system.block) count by their length, so that a model that is
 * turned takes the same steps. */
#include "integrators/integrator.h"

#include <assert.h>
#include <math.h>

void bg_norm_map_coordinates(const bg_integrator *ig, int *q_of)
{
    const bg_pattern *p = ig->sys->def.pattern_V;
    for (int j = 0; j < ig->dyn->nv; j++)
        q_of[j] = ig->dyn->kinematic ? -1 : j;
    for (int i = 0; p && i < ig->dyn->nq; i++)
        if (p->row_start[i + 1] - p->row_start[i] == 1)
            q_of[p->column[p->row_start[i]]] = i;
}

/* One past the last entry of y that a turn of the axes mixes with entry i, the first of them. */
static int find_end(const bg_integrator *ig, int i)
{
    const int *block = ig->sys->system->block, nq = ig->dyn->nq, nv = ig->dyn->nv;
    const int part = i < nq ? 0 : nq;
    int end = i - part + 1;
    if (!block || i >= nq + nv || (i < nq && ig->dyn->kinematic))
        return i + 1;
    while (end < nv && block[end] == i - part)
        end++;
    return part + end;
}

double bg_norm_find_size(const bg_integrator *ig, int i, const double *y0, const double *y1)
{
    const int *block = ig->sys->system->block, nq = ig->dyn->nq, nv = ig->dyn->nv;
    const int part = i < nq ? 0 : nq;
    const bool mixes = block && i < nq + nv && !(i < nq && ig->dyn->kinematic);
    const int first = mixes ? part + block[i - part] : i, end = find_end(ig, first);
    double before = 0, behind = 0;
    if (end - first == 1)
        return fmax(fabs(y0[i]), fabs(y1[i]));
    for (int k = first; k < end; k++) {
        before += y0[k] * y0[k];
        behind += y1[k] * y1[k];
    }
    return sqrt(fmax(before, behind));
}

/* The square of the length of n entries of x, in units of the tolerance of their length. */
static double calc_square(const bg_integrator *ig, int n, const double *x, const double *x0,
                          const double *x1, const unsigned char *mask)
{
    double error = 0, before = 0, behind = 0;
    for (int i = 0; i < n; i++) {
        error += mask && !mask[i] ? 0 : x[i] * x[i];
        before += x0[i] * x0[i];
        behind += x1[i] * x1[i];
    }
    double size = n > 1 ? sqrt(fmax(before, behind)) : fmax(fabs(x0[0]), fabs(x1[0]));
    double weight = ig->options.rtol * size + ig->options.atol;
    return error / (weight * weight);
}

double bg_norm_calc(const bg_integrator *ig, int first, int n, const double *x, const double *x0,
                    const double *x1, const unsigned char *mask)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < n; i++)
        count += !mask || mask[i];
    for (int i = 0, end; i < n; i = end) {
        end = find_end(ig, first + i) - first;
        sum += calc_square(ig, end - i, x + i, x0 + i, x1 + i, mask ? mask + i : NULL);
    }
    return count > 0 ? sqrt(sum / count) : 0.0;
}

/* The longest weighted block, NAN if an entry is not a number. */
static double calc_largest(const bg_integrator *ig, int n, const double *x, const double *x0,
                           const double *x1, const unsigned char *mask)
{
    double largest = 0;
    for (int i = 0, end; i < n; i = end) {
        end = find_end(ig, i);
        double e = calc_square(ig, end - i, x + i, x0 + i, x1 + i, mask ? mask + i : NULL);
        if (isnan(e))
            return e;
        largest = fmax(largest, e);
    }
    return sqrt(largest);
}

static double calc_part(const bg_integrator *ig, const double *e, const unsigned char *mask,
                        int first, int n)
{
    const double *x0 = ig->x0->q + first, *x1 = ig->x1->q + first; /* q, v and z lie together */
    return bg_norm_calc(ig, first, n, e + first, x0, x1, mask ? mask + first : NULL);
}

double bg_norm_calc_state(const bg_integrator *ig, const double *e, const unsigned char *mask)
{
    int nq = ig->dyn->nq, nv = ig->dyn->nv, nz = ig->dyn->nz;
    if (ig->by_largest)
        return calc_largest(ig, nq + nv + nz, e, ig->x0->q, ig->x1->q, mask);
    double q = calc_part(ig, e, mask, 0, nq);
    double v = calc_part(ig, e, mask, nq, nv);
    double z = calc_part(ig, e, mask, nq + nv, nz);
    double m = q > v ? q : v;
    return isnan(q) || isnan(v) || isnan(z) ? NAN : m > z ? m : z;
}

/* Two entries at a time stay in registers while the stages pass by. */
void bg_combine(int n, const double *y0, double h, int stages, const double *b, double *const *rate,
                double *y)
{
    double c[BG_STAGES_MAX];
    const double *r[BG_STAGES_MAX];
    assert(stages <= BG_STAGES_MAX);
    int used = 0, i = 0;
    for (int j = 0; j < stages; j++)
        if (b[j] != 0) {
            c[used] = h * b[j];
            r[used++] = rate[j];
        }
    for (; i + 1 < n; i += 2) {
        double s0 = y0 ? y0[i] : 0, s1 = y0 ? y0[i + 1] : 0;
        for (int j = 0; j < used; j++) {
            s0 += c[j] * r[j][i];
            s1 += c[j] * r[j][i + 1];
        }
        y[i] = s0;
        y[i + 1] = s1;
    }
    for (; i < n; i++) {
        double s = y0 ? y0[i] : 0;
        for (int j = 0; j < used; j++)
            s += c[j] * r[j][i];
        y[i] = s;
    }
}

/* The critical point of the rows w of a passage, and their offsets (change_points.c).
 *
 * The search goes along the velocity, and with it in time, so that drives move on, and along the
 * directions r_w = P M^-1 G_w^T in which the rows hold at x0, where P projects onto G_s r = 0 of
 * the other kept rows s; every iterate is moved back onto g_s = 0. Newton's method makes the slopes
 * of all g_w along all these directions least, with second derivatives from differences of slopes,
 * in least squares: as drawn all are zero in one position, and with data of few digits within their
 * misfit. Each row is then moved by what it is at the critical point of its own, which differs from
 * the common one by no more than the misfit; what the row has left there is of second order in
 * that.
 */
#include "integrators/change_points_parts.h"

#include "consistent/projection.h"

#include <math.h>
#include <string.h>

enum { LIFTS = 10, ITERATIONS = 12 };
static const double little_left = 1e-2; /* the most that others leave of a row at a change point */
static const double open = 1e-8;        /* of second derivatives squared: below it they are 0 */
static const double difference = 1e-4;  /* for second derivatives, in units of the search */
static const double found = 1e-9;       /* increment, in the same units */

/* Moves q at s onto the rows that are not held out; terms and matrix there are at hand then. */
static bool lift(bg_integrator *ig, double s, double *q)
{
    static const double converged = 1e-16, roundoff = 1e-9; /* near the origin */
    bg_dynamics *d = ig->dyn;
    double before = HUGE_VAL, coarseness = bg_project_calc_coarseness(d);
    for (int k = 0; k < LIFTS; k++) {
        if (!bg_foresight_evaluate(ig, s, q, BG_TERM_MASS | BG_TERM_G | BG_TERM_g | BG_TERM_gt) ||
            bg_dynamics_factor(d, NULL, NULL) != BG_OK)
            return false;
        memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, d->work_v, d->work_g);
        double size = bg_project_calc_size(d, d->work_v, q);
        if (size <= converged || (size <= roundoff * coarseness && size > 0.1 * before))
            return true;
        if (!(size < 2))
            return false;
        bg_system_move(ig->sys, q, d->terms.V, -1.0, d->work_v, q);
        before = size;
    }
    return false;
}

/* x <- its part along G_s x = 0, with terms and matrix at hand. */
static void keep_tangent(bg_dynamics *d, double *x)
{
    bg_matrix_multiply(d->ng, d->nv, d->sys->def.pattern_G, d->terms.G, x, d->work_g);
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    for (int i = 0; i < d->nv; i++)
        x[i] -= d->work_v[i];
}

static double multiply_row(const bg_dynamics *d, int row, const double *x)
{
    const bg_pattern *p = d->sys->def.pattern_G;
    int begin = p ? p->row_start[row] : row * d->nv,
        end = p ? p->row_start[row + 1] : begin + d->nv;
    double sum = 0;
    for (int k = begin; k < end; k++)
        sum += d->terms.G[k] * x[p ? p->column[k] : k - begin];
    return sum;
}

/* across[k] <- P M^-1 G_w^T at x0, of size 1; false: the row does not hold there. */
static bool find_across(bg_integrator *ig, bg_passage *p, int k)
{
    const bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    const bg_pattern *pattern = ig->sys->def.pattern_G;
    double *r = p->across[k];
    memset(d->work_g, 0, (size_t)d->ng * sizeof(double));
    d->work_g[p->row[k]] = 1;
    memset(r, 0, (size_t)d->nv * sizeof(double));
    bg_matrix_add_transposed(d->ng, d->nv, pattern, d->terms.G, 1.0, d->work_g, r);
    memset(d->work_g, 0, (size_t)d->ng * sizeof(double));
    bg_kkt_solve(d->kkt, r, d->work_g);
    double largest = bg_foresight_find_largest(ig, r);
    if (!(largest > 0) || !isfinite(largest))
        return false;
    for (int i = 0; i < d->nv; i++)
        r[i] /= largest;
    p->slope[k] = bg_reach * multiply_row(d, p->row[k], r) / c->size[p->row[k]];
    return p->slope[k] > 0;
}

/* tangent <- the directions of the search at the iterate. */
bool bg_critical_calc_slopes(bg_integrator *ig, const bg_passage *p, double horizon, double s,
                             double *q, double slope[BG_WEAK][1 + BG_WEAK])
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    if (!lift(ig, s, q))
        return false;
    memcpy(c->tangent[0], ig->x0->v, (size_t)d->nv * sizeof(double));
    bg_project_velocity(d, c->tangent[0]);
    for (int k = 0; k < p->n; k++) {
        memcpy(c->tangent[1 + k], p->across[k], (size_t)d->nv * sizeof(double));
        keep_tangent(d, c->tangent[1 + k]);
    }
    for (int k = 0; k < p->n; k++)
        for (int j = 0; j <= p->n; j++) {
            double along = multiply_row(d, p->row[k], c->tangent[j]);
            slope[k][j] = j == 0 ? horizon * (along + d->terms.gt[p->row[k]]) : bg_reach * along;
            slope[k][j] /= c->size[p->row[k]];
        }
    return true;
}

/* out <- q moved by x along the tangents, in units of the search; V is that of q. */
static void move(bg_integrator *ig, const bg_passage *p, double horizon, const double *x,
                 const double *q, double *out)
{
    bg_change_points *c = ig->change_points;
    for (int j = 0; j <= p->n; j++) {
        bg_system_move(ig->sys, q, ig->dyn->terms.V, x[j] * (j == 0 ? horizon : bg_reach),
                       c->tangent[j], out);
        q = out;
    }
}

/* x <- a solution of N x = b, N not negative, of n unknowns; what N leaves open becomes 0. */
static void solve_small(double N[1 + BG_WEAK][1 + BG_WEAK], double *b, int n, double *x)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, N[i][i]);
    for (int k = 0; k < n; k++) {
        if (!(N[k][k] > open * largest))
            N[k][k] = 0;
        for (int i = k + 1; i < n && N[k][k] > 0; i++) {
            double factor = N[i][k] / N[k][k];
            for (int j = k; j < n; j++)
                N[i][j] -= factor * N[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        double sum = b[k];
        for (int j = k + 1; j < n; j++)
            sum -= N[k][j] * x[j];
        x[k] = N[k][k] > 0 ? sum / N[k][k] : 0;
    }
}

/* x <- the increment that makes the slopes of rows first .. last - 1 of the passage least, from
 * their differences. */
static bool calc_increment(bg_integrator *ig, const bg_passage *p, int first, int last,
                           double horizon, double s, double *x)
{
    bg_change_points *c = ig->change_points;
    double f[BG_WEAK][1 + BG_WEAK], g[1 + BG_WEAK][BG_WEAK][1 + BG_WEAK],
        N[1 + BG_WEAK][1 + BG_WEAK] = {{0}};
    double b[1 + BG_WEAK] = {0};
    int n = 1 + p->n;
    for (int j = 0; j < n; j++) {
        double little[1 + BG_WEAK] = {0};
        little[j] = difference;
        if (!bg_critical_calc_slopes(ig, p, horizon, s, c->q, f))
            return false;
        move(ig, p, horizon, little, c->q, c->other_q);
        if (!bg_critical_calc_slopes(ig, p, horizon, s + little[0] * horizon, c->other_q, g[j]))
            return false;
    }
    for (int k = first; k < last; k++)
        for (int l = 0; l < n; l++)
            for (int j = 0; j < n; j++) {
                double second = (g[j][k][l] - f[k][l]) / difference;
                b[j] -= second * f[k][l];
                for (int i = 0; i < n; i++)
                    N[i][j] += second * (g[i][k][l] - f[k][l]) / difference;
            }
    solve_small(N, b, n, x);
    return true;
}

/* The critical point of these rows of the passage near q at *s, which become it; false: none. */
static bool find_critical(bg_integrator *ig, const bg_passage *p, int first, int last,
                          double horizon, double *s)
{
    bg_change_points *c = ig->change_points;
    double before = HUGE_VAL, stalled = 1e3 * found * bg_project_calc_coarseness(ig->dyn);
    for (int n = 0; n < ITERATIONS; n++) {
        double x[1 + BG_WEAK] = {0}, slope[BG_WEAK][1 + BG_WEAK], size = 0;
        if (!calc_increment(ig, p, first, last, horizon, *s, x) ||
            !bg_critical_calc_slopes(ig, p, horizon, *s, c->q, slope))
            return false;
        for (int j = 0; j <= p->n; j++)
            if (!(fabs(x[j]) <= size))
                size = fabs(x[j]);
        if (!(size <= 1))
            return false;
        move(ig, p, horizon, x, c->q, c->q);
        *s += x[0] * horizon;
        if (size <= found || (size < stalled && size > 0.3 * before))
            return lift(ig, *s, c->q);
        before = size;
    }
    return false;
}

/* Whether no choice of rows is independent at the position at hand, to the precision of the data.
 */
static bool is_singular(bg_integrator *ig)
{
    const bg_change_points *c = ig->change_points;
    return bg_foresight_calc_rank(ig, ig->dyn->eliminated, true) <
           fmin(fmax(BG_RANK_DATA, bg_misfit_grows * c->misfit), little_left);
}

/* Rows of which the others leave little at the position at hand join the passage; false: none did,
 * or too many. */
static bool join_rows(bg_integrator *ig, bg_passage *p)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    bool joined = false;
    bg_foresight_calc_rank(ig, d->eliminated, false);
    for (int i = 0; i < d->ng; i++)
        if (!c->held[i] && c->remainder[i] < little_left && p->n < BG_WEAK) {
            p->row[p->n++] = i;
            c->held[i] = 1;
            joined = true;
        }
    return joined;
}

/* Takes the rows of the passage out of the matrix, and finds their directions at x0 and the
 * position in which they become dependent, into foreseen, *s after x0. */
static bool find_position(bg_integrator *ig, bg_passage *p, double horizon, double *s)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    for (bool again = true; again;) {
        bg_kkt_set_eliminated(d->kkt, c->held);
        memcpy(c->q, ig->x0->q, (size_t)d->nq * sizeof(double));
        if (!lift(ig, 0, c->q))
            return false;
        for (int k = 0; k < p->n; k++)
            if (!find_across(ig, p, k))
                return false;
        memcpy(c->q, c->foreseen, (size_t)d->nq * sizeof(double));
        if (!find_critical(ig, p, 0, p->n, horizon, s))
            return false;
        memcpy(c->foreseen, c->q, (size_t)d->nq * sizeof(double));
        again = join_rows(ig, p);
    }
    return true;
}

double bg_critical_measure(bg_integrator *ig, bg_passage *p, double horizon)
{
    const bg_change_points *c = ig->change_points;
    const bg_dynamics *d = ig->dyn;
    double s = 0, largest = find_position(ig, p, horizon, &s) ? 0 : NAN;
    for (int k = 0; k < p->n && largest >= 0; k++)
        largest = fmax(largest,
                       fabs(d->offset[p->row[k]] + d->terms.g[p->row[k]]) / c->size[p->row[k]]);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
    return largest;
}

bool bg_critical_find_offsets(bg_integrator *ig, bg_passage *p, double s, double horizon)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    if (!find_position(ig, p, horizon, &s) || !(s > 0 && s < 2 * horizon) || !is_singular(ig))
        return false;
    p->offset = 0;
    for (int k = 0; k < p->n; k++) {
        int row = p->row[k];
        double own = s;
        memcpy(c->q, c->foreseen, (size_t)d->nq * sizeof(double));
        if (p->n == 1 || !find_critical(ig, p, k, k + 1, horizon, &own)) {
            memcpy(c->q, c->foreseen, (size_t)d->nq * sizeof(double));
            if (!lift(ig, s, c->q))
                return false;
        }
        d->offset[row] += d->terms.g[row];
        p->offset = fmax(p->offset, fabs(d->offset[row]) / c->size[row]);
    }
    double most = ig->sys->def.g_size ? BG_RANK_DATA : BG_RANK_ROUNDING;
    if (!(p->offset <= most))
        return false;
    p->t_end = ig->x0->t + s + 2 * horizon;
    return true;
}

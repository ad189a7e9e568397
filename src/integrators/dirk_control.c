/* How long steps of the implicit Runge-Kutta methods are (002 (59) to (61)).
 *
 * The error of a step is the root of the mean square over the independent motions, in positions and
 * velocities, and over z, each in units of its tolerance. The estimate is that of the embedded
 * method, which is 11/(h |lambda|) times the error of sdirk4 for motions with h |lambda| < 1: a
 * mean over few motions, of which one may exceed it sqrt(2 n) times, stays within the tolerance.
 * (61) asks nothing of earlier steps. */
#include "integrators/dirk.h"

#include <math.h>

/* A motion takes at least so many steps, unless h_max says; one that is all prescribed, and has no
 * error, more, since work is summed up on the way. */
static const double most_steps = 100, most_prescribed = 1000;
static const double safety = 0.9, shrink_limit = 0.2, growth_limit = 5; /* (61) */
static const double least_order = 0.5; /* of errors that fall with the length of attempts */
/* A step that grows by less keeps its length, and with it the matrix. */
static const double little = 1.05;

static double square(double x)
{
    return x * x;
}

static double get_tolerance(const bg_integrator *ig, double size)
{
    return ig->options.atol + ig->options.rtol * size;
}

static double calc_longest(const bg_dirk *m)
{
    return m->t_span / (m->frame.n + m->nz > 0 ? most_steps : most_prescribed);
}

static double find_tolerance(const bg_integrator *ig, int i)
{
    return get_tolerance(ig, bg_norm_find_size(ig, i, ig->x0->q, ig->x1->q));
}

/* Of positions that move with v[i]; rotations are of size 1. */
static double get_position_tolerance(const bg_integrator *ig, int i)
{
    const bg_dirk *m = ig->method;
    const int k = m->q_of[i];
    return k < 0 ? get_tolerance(ig, 1) : find_tolerance(ig, k);
}

/* In coordinates the independent ones are summed over. In directions, which are perpendicular to
 * each other, the squares of all entries have the same sum as those of the directions. */
double bg_dirk_calc_norm(const bg_integrator *ig, const double *e_q, const double *e_v,
                         const double *e_z)
{
    const bg_dirk *m = ig->method;
    const bool all = !m->frame.coordinates;
    const int entries = all ? m->nv : m->frame.n, count = 2 * m->frame.n + m->nz;
    double sum = 0;
    for (int k = 0; k < entries; k++) {
        const int i = all ? k : m->frame.independent[k];
        sum += square(e_q[i] / get_position_tolerance(ig, i)) +
               square(e_v[i] / find_tolerance(ig, m->nq + i));
    }
    for (int i = 0; i < m->nz; i++)
        sum += square(e_z[i] / find_tolerance(ig, m->nq + m->nv + i));
    return count > 0 ? sqrt(sum / count) : 0;
}

/* The step that accelerations alone move by one tolerance. */
static double calc_reach(bg_integrator *ig)
{
    const bg_dirk *m = ig->method;
    const bg_state *x = ig->x0;
    double sum = 0;
    for (int i = 0; i < m->nv; i++) {
        const int k = m->q_of[i];
        double q = k < 0 ? 1 : bg_norm_find_size(ig, k, x->q, x->q);
        sum += square(x->a[i] / get_tolerance(ig, q));
    }
    return sqrt(2 / sqrt(sum / (m->frame.n > 0 ? m->frame.n : 1)));
}

/* Behind an event a method that damps stiff motions need not begin with the step that resolves
 * them: it begins with one that accelerations bear, as the motion before it did. */
bg_status bg_dirk_first_step(bg_integrator *ig, double *h, bg_error *err)
{
    const bg_dirk *m = ig->method;
    const bool damps = m->tableau->a[0][0] > 0;
    const double cruise = ig->control.h_cruise;
    bg_status st = bg_initial_step_calc(ig, h, err);
    if (st == BG_OK && damps && m->within)
        *h = fmax(*h, fmin(calc_reach(ig), cruise));
    if (ig->options.h_max == 0)
        *h = fmin(*h, calc_longest(m));
    return st;
}

/* How many times longer a step with this error may be. Where two attempts have shown how the error
 * of a step falls with its length, which is slowly as long as transients are stiff, that decides.
 */
static double calc_factor(bg_integrator *ig, bg_outcome outcome, double error)
{
    bg_dirk *m = ig->method;
    const bool rejected = outcome == BG_TOO_LARGE;
    double order = ig->order;
    if (rejected && m->h_rejected > ig->h)
        order = fmin(order, log(m->e_rejected / error) / log(m->h_rejected / ig->h));
    m->h_rejected = rejected ? ig->h : 0;
    m->e_rejected = error;
    if (!(order > least_order))
        return shrink_limit;
    double factor = safety * pow(fmax(error, 1e-10), -1 / order);
    factor = fmin(growth_limit, fmax(shrink_limit, factor));
    return rejected || ig->control.last_rejected ? fmin(factor, 1) : factor;
}

double bg_dirk_control(bg_integrator *ig, bg_outcome outcome, double error)
{
    const bg_dirk *m = ig->method;
    double h = outcome == BG_FAILED ? bg_control_calc(ig, outcome, error)
                                    : ig->h * calc_factor(ig, outcome, error);
    if (ig->leaping && ig->class_->leap_reach > 0)
        h /= ig->class_->leap_reach;
    if (ig->options.h_max == 0)
        h = fmin(h, calc_longest(m));
    return outcome == BG_ACCEPTED && h > ig->h && h < little * ig->h ? ig->h : h;
}

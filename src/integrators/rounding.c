#include "integrators/rounding.h"

#include "consistent/projection.h"
#include "integrators/integrator.h"
#include "integrators/noise.h"

#include <float.h>
#include <math.h>

/* an error that falls by less than `stays` in a step of `clearly_shorter`, now or in the steps
 * before, may be rounding, if it is at most `small_error` of the state and no singular position is
 * the reason; it is, if a step of `probe` from the same place leaves `remains` of it (errors of
 * accelerations by rounding fall with h, those of a method with h^4 at least); what rounding came
 * to is forgotten slowly */
static const double clearly_shorter = 0.6, stays = 0.3, small_error = 1e-8, forget = 0.9;
static const double probe = 0.25, remains = 0.125;
static const double noise_share =
    0.1;                             /* of an error, that changes with rounding of the beginning */
static const double last_places = 8; /* of the largest entry: what rounding leaves in any case */
static const double places_behind = 16; /* of points behind, whose differences errors are */
static const double accepted = 0.2;     /* error that stands in the place of rounding: steps grow */
static const double worth_a_word = 0.1;
static const double much_worse = 0.1; /* conditioned than at the start: a singular position */
enum { RECENT = 40 };

void bg_rounding_reset(bg_rounding *r)
{
    r->h_rejected = r->h_back = r->noise = 0;
}

double bg_rounding_get_scale(const bg_rounding *r)
{
    return fmax(1, r->noise);
}

/* Largest |e| of the entries from `first` on, beside the largest of the state, or of what it
 * changes by in a step. */
static double calc_part(const bg_integrator *ig, int first, int n)
{
    const double *e = ig->work_n, *y0 = ig->x0->q, *y1 = ig->x1->q, *rate = ig->rate0;
    double error = 0, size = 0, change = 0;
    for (int i = first; i < first + n; i++) {
        error = fabs(e[i]) > error ? fabs(e[i]) : error;
        size = fabs(y0[i]) > size ? fabs(y0[i]) : size;
        size = fabs(y1[i]) > size ? fabs(y1[i]) : size;
        change = fabs(rate[i]) > change ? fabs(rate[i]) : change;
    }
    size = fmax(size, ig->control.h_cruise * change);
    return error > 0 ? error / size : 0;
}

/* The same of positions, velocities and states, whichever is worst. */
static double calc_relative(const bg_integrator *ig)
{
    const bg_dynamics *d = ig->dyn;
    double q = calc_part(ig, 0, d->nq), v = calc_part(ig, d->nq, d->nv);
    return fmax(fmax(q, v), calc_part(ig, d->nq + d->nv, d->nz));
}

/* Whether the error may be rounding, which grows with the distance from the origin. */
static bool is_small(const bg_integrator *ig)
{
    return calc_relative(ig) < small_error * bg_project_calc_coarseness(ig->dyn);
}

bool bg_rounding_is_magnified(bg_integrator *ig)
{
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    if (d->ng == 0 || ig->sys->system->tree)
        return false;
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE);
    bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, BG_TERM_M | BG_TERM_G,
                                        NULL);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, NULL);
    double rcond = st == BG_OK ? bg_dynamics_calc_rcond(d) : 0;
    ig->rcond = fmax(ig->rcond, rcond);
    bg_system_turn_to(ig->sys, before);
    return rcond < much_worse * ig->rcond;
}

/* Whether the error of a rejected attempt, whose entries are in work_n, may be that of rounding. */
static bool suspect_rounding(bg_integrator *ig, double error)
{
    bg_rounding *r = &ig->control.rounding;
    if (ig->leaping || ig->options.step > 0)
        return false;
    bool shorter = r->h_rejected > 0 && ig->h <= clearly_shorter * r->h_rejected;
    bool same = shorter && error > stays * r->error_rejected;
    r->h_back = same ? fmax(r->h_back, r->h_rejected) : r->h_back;
    if (shorter || ig->h > r->h_rejected) {
        r->h_rejected = ig->h;
        r->error_rejected = error;
        r->since_rejected = 0;
    }
    return same && is_small(ig) &&
           (ig->control.leaps.pause > 0 ||
            !bg_rounding_is_magnified(ig)); /* else leaps may lead over the place */
}

void bg_rounding_sift(bg_integrator *ig, double *error)
{
    bg_rounding *r = &ig->control.rounding;
    if (ig->options.step > 0 || !(*error > accepted) ||
        !(calc_relative(ig) < last_places * DBL_EPSILON))
        return;
    r->noise_most = fmax(r->noise_most, *error * bg_rounding_get_scale(r));
    *error = accepted;
}

bool bg_rounding_check_leap(bg_integrator *ig, bool in_vain, double *error)
{
    bg_rounding *r = &ig->control.rounding;
    if (!is_small(ig) ||
        !(in_vain || bg_noise_measure(ig) / bg_rounding_get_scale(r) > noise_share * *error))
        return false;
    r->noise_most = fmax(r->noise_most, *error * bg_rounding_get_scale(r));
    *error = accepted;
    return true;
}

/* Whether the error of an attempt changes with rounding of its beginning. That of a jump of an
 * acceleration inside the attempt falls with h, too, but stays as it is. A method that looks back
 * cannot begin elsewhere, and its errors fall slowly with h, since the points behind stay where
 * they are: they are rounding where they are no more than differences make of that of the points.
 */
static bool is_noise(bg_integrator *ig, double error)
{
    if (!ig->has_past)
        return bg_noise_measure(ig) > noise_share * error;
    double differences = ldexp(places_behind * DBL_EPSILON, ig->order + 1);
    return calc_relative(ig) < differences * bg_project_calc_coarseness(ig->dyn);
}

bool bg_rounding_check(bg_integrator *ig, double *error)
{
    bg_rounding *r = &ig->control.rounding;
    double h = ig->h, t1, shorter = 0, tangent = ig->error_tangent;
    bg_error ignored;
    if (!suspect_rounding(ig, *error))
        return false;
    ig->h = bg_control_fit(ig, probe * h, &t1);
    bool possible = ig->h < clearly_shorter * h && t1 > ig->x0->t;
    ig->x1->t = t1;
    if (possible && ig->class_->attempt(ig, &shorter, &ignored) == BG_OK && isfinite(shorter) &&
        shorter / bg_rounding_get_scale(r) > remains * *error && is_noise(ig, shorter)) {
        r->noise = 2 * *error * bg_rounding_get_scale(r);
        *error = accepted;
        return true;
    }
    ig->count.rejected += possible;
    ig->h = h;
    ig->error_tangent = tangent;
    return false;
}

/* What rounding the end of the step may add, in units of the tolerance. */
static double calc_addition(const bg_integrator *ig)
{
    static const double far = 10; /* sizes */
    const bg_system *system = ig->sys->system;
    const double *y = ig->x1->q, rtol = ig->options.rtol, atol = ig->options.atol;
    double most = 0,
           largest = 0; /* the share of the tolerance grows with what is measured from 0 */
    for (int i = 0; i < ig->n - 1; i++)
        most = fabs(y[i]) > most ? fabs(y[i]) : most;
    if (most > 0)
        largest = most / (rtol * most + atol);
    if (system->farthest > far * system->size) /* places were rounded where they were given */
        largest = fmax(largest, system->farthest / (rtol * system->size + atol));
    return 0.5 * DBL_EPSILON * largest;
}

void bg_rounding_accept(bg_integrator *ig)
{
    bg_rounding *r = &ig->control.rounding;
    if (ig->options.step > 0)
        return;
    if (r->h_back > 0 && r->noise > 1)
        ig->control.h_next = fmax(ig->control.h_next, r->h_back);
    r->h_back = 0;
    r->sum += calc_addition(ig);
    r->noise_most = fmax(r->noise_most, r->noise > 1 ? r->noise : 0);
    r->noise *= forget;
    if (r->since_rejected > RECENT)
        r->h_rejected = 0;
    else
        r->since_rejected++;
}

double bg_rounding_get_reached(const bg_rounding *r)
{
    double sum = r->sum > worth_a_word ? r->sum : 0;
    return fmax(r->noise_most, sum);
}

void bg_rounding_archive(bg_rounding *r, bg_archive *archive)
{
    bg_archive_finite(archive, &r->noise, 1);
    bg_archive_finite(archive, &r->noise_most, 1);
    bg_archive_finite(archive, &r->sum, 1);
    bg_archive_finite(archive, &r->h_back, 1);
    bg_archive_finite(archive, &r->h_rejected, 1);
    bg_archive_finite(archive, &r->error_rejected, 1);
    bg_archive_whole(archive, &r->since_rejected, 1, 0, RECENT + 1);
}

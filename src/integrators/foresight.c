/* Where the motion leads within a third of a radian, and which rows become dependent there.
 *
 *     p = q0 + V0 (v0 s + a0 s^2 / 2).
 *
 * A position in which an odd number of rows become dependent lies between where det(G(p) M0^-1
 * G0^T) is negative, because M0^-1 G0^T are the directions in which the rows hold at q0; bisection
 * finds it. An even number turns round without the determinant. These are found by what the others
 * leave of a row: it falls like the distance, so that two steps tell when it will be nothing, and
 * its minimum along p is searched then. */
#include "integrators/change_points_parts.h"

#include <math.h>
#include <string.h>

enum { PIECES = 4, SAMPLES = 6, HALVINGS = 7 };
static const double falling = 0.7; /* what others leave of a row that may become dependent */
/* What they leave of one near a change point that was missed; where they left least. */
static const double near = 5e-3, nearest = 3e-2;

static double get_size(const bg_integrator *ig, int i)
{
    return ig->sys->def.v_size ? ig->sys->def.v_size[i] : 1;
}

double bg_foresight_find_largest(const bg_integrator *ig, const double *x)
{
    double largest = 0;
    for (int i = 0; i < ig->dyn->nv; i++)
        largest = fmax(largest, fabs(x[i]) / get_size(ig, i));
    return largest;
}

bool bg_foresight_evaluate(bg_integrator *ig, double s, const double *q, unsigned want)
{
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    want |= d->kinematic ? BG_TERM_V : 0u;
    if (ig->change_points->spent++ >= BG_LOOK_MAX)
        return false;
    return bg_dynamics_evaluate(d, x->t + s, q, x->v, x->z, x->mode, want, NULL) == BG_OK;
}

/* foreseen <- where the motion is after s; V is that of x0. */
static void foresee(bg_integrator *ig, double s)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    for (int i = 0; i < d->nv; i++)
        c->velocity[i] = x->v[i] + 0.5 * s * x->a[i];
    bg_system_move(ig->sys, x->q, d->terms.V, s, c->velocity, c->foreseen);
}

/* Whether the rows that hold at x0 have turned round after s. A matrix that is singular there is
 * neither. */
static bool is_turned(bg_integrator *ig, double s)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    if (d->kinematic && !bg_foresight_evaluate(ig, 0, ig->x0->q, 0))
        return false;
    foresee(ig, s);
    if (!bg_foresight_evaluate(ig, s, c->foreseen, BG_TERM_G))
        return false;
    bg_system_get_work(ig->sys)->factorisations++;
    return bg_kkt_factor(d->kkt, c->M, c->G, d->terms.G) == BG_OK && bg_kkt_is_inverted(d->kkt);
}

bool bg_foresight_stay(bg_integrator *ig, const unsigned char *left_out, double s)
{
    enum { LOOKS = 3 };
    bg_dynamics *d = ig->dyn;
    bool turned = false;
    bg_kkt_set_eliminated(d->kkt, left_out);
    for (int k = LOOKS; k > 0 && !turned; k--)
        turned = is_turned(ig, k * s / LOOKS);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
    return !turned;
}

double bg_foresight_calc_horizon(const bg_integrator *ig)
{
    double speed = bg_foresight_find_largest(ig, ig->x0->v),
           rise = bg_foresight_find_largest(ig, ig->x0->a);
    double horizon = fmin(bg_reach / speed, sqrt(bg_reach / rise));
    return isfinite(horizon) ? fmax(horizon, 1.5 * ig->control.h_next) : 0;
}

/* Time from x0 to where rows turn round; 0: they do not. */
static double find_turn(bg_integrator *ig, double horizon)
{
    bg_change_points *c = ig->change_points;
    double piece = bg_reach / bg_foresight_find_largest(ig, ig->x0->v), low = 0, high = 0;
    if (!bg_foresight_evaluate(ig, 0, ig->x0->q, BG_TERM_M | BG_TERM_G))
        return 0;
    memcpy(c->M, ig->dyn->terms.M, (size_t)bg_system_get_size_M(ig->sys->system) * sizeof(double));
    memcpy(c->G, ig->dyn->terms.G, (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    bool turned = false;
    for (int k = 1; k <= PIECES && !turned && high < horizon; k++) {
        low = high;
        high = k < PIECES ? fmin(k * piece, horizon) : horizon;
        turned = is_turned(ig, high);
    }
    if (!turned)
        return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = 0.5 * (low + high);
        if (is_turned(ig, middle))
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

/* others: what all others that are kept leave of each; NULL: not wanted. */
static double calc_rank(bg_integrator *ig, const unsigned char *left_out, bool choose,
                        double *others)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    double least = HUGE_VAL;
    int kept = 0;
    for (int i = 0; i < d->ng; i++) {
        kept += !left_out[i];
        c->order[i] = (signed char)(!left_out[i] ? 1 : choose ? 0 : -1);
    }
    bg_system_calc_row_sizes(ig->sys->system, d->terms.G, c->size);
    bg_rank_question question = {.A = d->terms.G,
                                 .row_size = c->size,
                                 .column_size = ig->sys->def.v_size,
                                 .order = c->order,
                                 .most = kept,
                                 .tolerance = BG_RANK_ROUNDING,
                                 .least = BG_RANK_ROUNDING,
                                 .quick = true};
    bg_rank_answer answer = {
        .dependent = c->dependent, .remainder = c->remainder, .others = others};
    const int rank = bg_rank_calc(c->rank, &question, &answer);
    if (rank < 0)
        bg_change_points_notice_undecided(ig);
    if (rank < kept)
        return 0;
    for (int i = 0; i < d->ng; i++)
        least = c->dependent[i] ? least : fmin(least, c->remainder[i]);
    return least;
}

double bg_foresight_calc_rank(bg_integrator *ig, const unsigned char *left_out, bool choose)
{
    return calc_rank(ig, left_out, choose, NULL);
}

bool bg_foresight_look(bg_integrator *ig, double s)
{
    bg_change_points *c = ig->change_points;
    if (ig->dyn->kinematic && !bg_foresight_evaluate(ig, 0, ig->x0->q, 0))
        return false;
    foresee(ig, s);
    return bg_foresight_evaluate(ig, s, c->foreseen, BG_TERM_G);
}

/* Whether x0, with this least remainder of kept rows, is near a position in which they become
 * dependent, or has come nearest to it and leaves it now. */
static bool is_near(bg_change_points *c, double least)
{
    bool leaving = c->falls && least > c->least && c->least < nearest;
    c->falls = least < c->least;
    c->least = least;
    return least < near || leaving;
}

/* The largest offset that the digits of the data may be behind: by much less a mechanism that is
 * drawn so passes by the position, whatever its last digits are. */
static double calc_chance(const bg_integrator *ig)
{
    static const double grows = 1e4; /* misfits, on the way from where they were found */
    const bg_system *system = ig->sys->system;
    double misfit = fmax(ig->change_points->misfit, system->resolution / system->size);
    return fmin(bg_offset_chance, grows * misfit);
}

/* Remembers that x0, with G at hand and this least remainder of kept rows, is so near to a position
 * in which no choice of rows is independent that digits may decide which way the motion goes. */
static void notice_near(bg_integrator *ig, double least, double horizon)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    bool leaving = ig->x0->t <= c->ahead.t_end; /* a passage that is just behind */
    if (!is_near(c, least) || leaving || !isnan(c->t_near) ||
        !(bg_foresight_calc_rank(ig, d->eliminated, true) < 2 * nearest))
        return;
    bool rows = bg_foresight_find_rows(ig, 0, &c->ahead);
    double offset = rows ? bg_critical_measure(ig, &c->ahead, horizon) : NAN;
    for (int k = 0; k < c->ahead.n && c->doubtful == 0; k++)
        c->named[c->ahead.row[k]] = 1;
    c->ahead.n = 0;
    if (isnan(offset) ? least < near && c->misfit > bg_offset_rounding
                      : offset > bg_offset_rounding && offset < calc_chance(ig))
        c->t_near = ig->x0->t;
}

/* Half of the time until nothing is left, if it falls at this rate and the rate grows. */
static double calc_half(double left, double rate, double growth)
{
    return left / (rate + sqrt(rate * rate + 2 * growth * left));
}

/* How long there need not be a look behind one that found nothing, `since` after the last: half of
 * the time in which what others leave of some row could become nothing, if it fell as fast as it
 * changed and that grew as it did. Not much more than twice the time since then, lest slow
 * beginnings deceive. Where rows are redundant and may be exchanged, none may be about to become
 * dependent, the row of which least is left could fall as the fastest changes, or as far as the
 * coordinates move, beside their sizes: rows turn no faster than what they hold. Most mechanisms
 * never come near a change point, and need not pay for it in every step. */
static double calc_clear(const bg_integrator *ig, double since)
{
    const bg_change_points *c = ig->change_points;
    double clear = 2.5 * since, least = HUGE_VAL, fastest = 0, most = 0;
    if (ig->options.step > 0 || !(since > 0) || c->since == 0) /* fixed steps do the same work */
        return -INFINITY;
    for (int i = 0; i < ig->dyn->ng; i++) {
        if (ig->dyn->eliminated[i])
            continue;
        double rate = (c->others[i] - c->before[i]) / since;
        double growth = 2 * fabs(rate - c->rate[i]) / (since + c->since);
        rate = fabs(rate) + 0.5 * since * growth;
        clear = fmin(clear, calc_half(c->others[i], rate, growth));
        least = fmin(least, c->others[i]);
        fastest = fmax(fastest, rate);
        most = fmax(most, growth);
    }
    if (!c->redundant)
        return clear;
    if (least < falling)
        return -INFINITY;
    double moving = calc_half(least, bg_foresight_find_largest(ig, ig->x0->v),
                              bg_foresight_find_largest(ig, ig->x0->a));
    return fmin(calc_half(least, fastest, most), fmin(2.5 * since, moving));
}

/* Time from x0 to where what the others leave of a row, which was more at the last look, will be
 * nothing: rows that become dependent two at a time turn round without the determinant. 0: none
 * will. clear <- how long there need not be another look if none does. */
static double find_trend(bg_integrator *ig, double horizon, double *clear)
{
    bg_change_points *c = ig->change_points;
    double since = ig->x0->t - c->t_before, s = horizon;
    *clear = -INFINITY;
    if (!bg_foresight_evaluate(ig, 0, ig->x0->q, BG_TERM_G))
        return 0;
    double least = calc_rank(ig, ig->dyn->eliminated, false, c->others);
    *clear = calc_clear(ig, since);
    for (int i = 0; i < ig->dyn->ng; i++) {
        double change = since > 0 ? c->before[i] - c->others[i] : 0;
        if (!ig->dyn->eliminated[i] && change > 0 && c->others[i] < falling)
            s = fmin(s, since * c->others[i] / change);
        c->rate[i] = since > 0 ? -change / since : 0;
        c->before[i] = c->others[i];
    }
    c->since = since > 0 ? since : 0;
    c->t_before = ig->x0->t;
    notice_near(ig, least, horizon);
    return s < horizon ? s : 0;
}

void bg_change_points_plan(const bg_integrator *ig, int *terms, int *factorisations)
{
    bool redundant = ig->change_points->redundant;
    *terms = redundant ? 2 + PIECES * (ig->dyn->kinematic ? 2 : 1) : 1;
    *factorisations = redundant ? PIECES : 0;
}

/* The least remainder of kept rows where the motion is after s. */
static double calc_least(bg_integrator *ig, double s)
{
    return bg_foresight_look(ig, s) ? bg_foresight_calc_rank(ig, ig->dyn->eliminated, false)
                                    : HUGE_VAL;
}

/* Time from x0 to where the least remainder has its minimum: samples, then golden section; 0: none
 * that is weak. */
static double find_least(bg_integrator *ig, double horizon)
{
    const double golden = 0.3819660112501051, piece = 1.2 * horizon / SAMPLES;
    double best = 0, lowest = HUGE_VAL;
    for (int k = 1; k <= SAMPLES; k++) {
        double least = calc_least(ig, k * piece);
        best = least < lowest ? k * piece : best;
        lowest = fmin(lowest, least);
    }
    double low = best - piece, high = best + piece;
    double a = low + golden * (high - low), b = high - golden * (high - low);
    double at_a = calc_least(ig, a), at_b = calc_least(ig, b);
    for (int k = 0; k < HALVINGS; k++)
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            at_a = calc_least(ig, a = low + golden * (high - low));
        } else {
            low = a;
            a = b;
            at_a = at_b;
            at_b = calc_least(ig, b = high - golden * (high - low));
        }
    return fmin(at_a, at_b) < bg_weak ? (at_a < at_b ? a : b) : 0;
}

double bg_foresight_find(bg_integrator *ig, double horizon)
{
    bg_change_points *c = ig->change_points;
    double clear, trend = find_trend(ig, horizon, &clear);
    bool may_turn = trend > 0 || (c->redundant && !(2 * clear >= horizon));
    double turn = may_turn ? find_turn(ig, horizon) : 0;
    bool nothing = turn == 0 && trend == 0;
    c->t_clear = nothing ? ig->x0->t + clear : -INFINITY;
    return turn > 0 || nothing ? turn : find_least(ig, horizon);
}

bool bg_foresight_find_rows(bg_integrator *ig, double s, bg_passage *p)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    p->n = 0;
    if (!bg_foresight_look(ig, s))
        return false;
    bg_foresight_calc_rank(ig, d->eliminated, false);
    memcpy(c->held, d->eliminated, (size_t)d->ng);
    for (int i = 0; i < d->ng; i++)
        if (!d->eliminated[i] && c->remainder[i] < bg_weak) {
            if (p->n == BG_WEAK)
                return false;
            p->row[p->n++] = i;
            c->held[i] = 1;
        }
    return p->n > 0;
}

/* Which constraints are redundant, to the precision of the data.
 *
 * A row of G that depends on others in one position may be redundant, or the position may be
 * singular. A row that nearly depends on others may be redundant but for the digits of the data (a
 * door on two hinges, given with six digits, is locked by the letter), or be near a singular
 * position. What tells them apart is motion: a redundant constraint stays as it is, and dependent,
 * wherever the others let the mechanism go; any other is violated there, or becomes independent.
 *
 * So the rows of which the others leave less than BG_RANK_DATA are taken out, and the mechanism is
 * moved by finite amounts along random directions d of its freedoms,
 *     d = r - M^{-1} G^T mu,   G d = 0,     q <- q + V d,   then back to g = 0 of the kept rows.
 * Drives move along, because they will: every input u that g depends on is shifted by a random
 * amount. The misfit of a row is the most by which g changes, and the most that the kept rows leave
 * of it, in units of its size. Where it is small, the row is redundant to the precision of the
 * data, which is what the misfit measures. Otherwise it is a constraint of its own, if the others
 * leave anything of it at the start; the worst of those comes back, and the rest is looked at
 * again. */
#include "consistent/assembly.h"

#include "consistent/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS = 3, SHORTER = 4, NEWTON = 15 };
static const double amplitude = 0.25; /* of a trial motion, in sizes of coordinates */
static const double redundant = BG_REDUNDANT;
static const double grows = 300;      /* misfits farther away beside those on trial motions */
static const double rounding = 1e-11; /* misfits that are no matter of digits */

/* Pseudo-random in -1 .. 1, the same in every run. */
static double draw(int trial, int i)
{
    return 2 * fmod(0.6180339887498949 * (i + 1) + 0.4142135623730950 * (trial + 1) * (i + 3),
                    1.0) -
           1;
}

/* increment <- a direction of the freedoms that the kept rows leave, of size 1. False: none, 0. */
static bool find_direction(bg_assembly *a, int trial)
{
    bg_dynamics *d = a->dyn;
    const double *size = a->sys->def.v_size;
    double largest = 0;
    for (int i = 0; i < d->nv; i++)
        a->delta[i] = draw(trial, i) * (size ? size[i] : 1);
    bg_matrix_multiply(d->nv, d->nv, a->sys->def.pattern_M, d->terms.M, a->delta, a->increment);
    memset(d->work_g, 0, (size_t)d->ng * sizeof(double));
    bg_kkt_solve(d->kkt, a->increment, d->work_g);
    for (int i = 0; i < d->nv; i++)
        largest = fmax(largest, fabs(a->increment[i]) / (size ? size[i] : 1));
    bool moves = largest > 1e-6 && isfinite(largest);
    for (int i = 0; i < d->nv; i++)
        a->increment[i] = moves ? a->increment[i] / largest : 0;
    return moves;
}

/* Terms at q with the inputs shifted. */
static bool evaluate_shifted(bg_assembly *a, const double *q, unsigned want)
{
    const bg_state *x = a->x;
    bg_dynamics *d = a->dyn;
    bg_error ignored;
    if (bg_system_set_point(a->sys, x->t, q, x->v, x->z, x->mode, &d->point, &ignored) != BG_OK)
        return false;
    for (int k = 0; k < a->sys->def.nu; k++)
        a->sys->u[k] += a->shift[k];
    return bg_dynamics_evaluate_more(d, x->v, x->z, want | (d->kinematic ? BG_TERM_V : 0u),
                                     &ignored) == BG_OK;
}

/* lever <- the shift of each input that changes a row of g by its size; 0: none does. Returns
 * whether one does. */
static bool find_levers(bg_assembly *a)
{
    static const double little = 1e-3;
    bool any = false;
    int nu = a->sys->def.scleronomic ? 0 : a->sys->def.nu;
    memset(a->shift, 0, (size_t)a->sys->def.nu * sizeof(double));
    memset(a->lever, 0, (size_t)a->sys->def.nu * sizeof(double));
    for (int k = 0; k < nu; k++) {
        double change = 0;
        a->shift[k] = little;
        if (evaluate_shifted(a, a->x->q, BG_TERM_g))
            for (int i = 0; i < a->dyn->ng; i++)
                change = fmax(change, fabs(a->dyn->terms.g[i] - a->tau[i]) / a->scale[i]);
        a->shift[k] = 0;
        a->lever[k] = change > 1e-9 * little && isfinite(change) ? little / change : 0;
        any = any || a->lever[k] > 0;
    }
    return any;
}

/* Back to g = 0 of the kept rows, from trial; false: not reached. */
static bool close_trial(bg_assembly *a)
{
    bg_dynamics *d = a->dyn;
    bg_error ignored;
    for (int k = 0; k < NEWTON; k++) {
        if (!evaluate_shifted(a, a->trial, BG_TERM_M | BG_TERM_G | BG_TERM_g) ||
            bg_dynamics_factor(d, NULL, &ignored) != BG_OK)
            return false;
        memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
        memcpy(d->work_g, d->terms.g, (size_t)d->ng * sizeof(double));
        bg_kkt_solve(d->kkt, d->work_v, d->work_g);
        double size = bg_assembly_calc_size(a, d->work_v, a->trial);
        if (!(size < 2))
            return false;
        bg_system_move(a->sys, a->trial, d->terms.V, -1.0, d->work_v, a->trial);
        if (size < 1e-10)
            return evaluate_shifted(a, a->trial, BG_TERM_G | BG_TERM_g);
    }
    return false;
}

/* Misfits of the rows left out, from the terms at hand. */
static void add_misfits(bg_assembly *a)
{
    int ng = a->dyn->ng;
    bg_rank_question question = {.A = a->dyn->terms.G,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .order = a->order,
                                 .tolerance = BG_RANK_ROUNDING,
                                 .least = BG_RANK_ROUNDING};
    bg_rank_answer answer = {.dependent = a->other_dependent,
                             .involved = a->other_involved,
                             .remainder = a->other_remainder};
    bg_rank_calc(a->ranking, &question, &answer);
    for (int i = 0; i < ng; i++)
        if (a->dependent[i])
            a->misfit[i] = fmax(
                a->misfit[i],
                fmax(fabs(a->dyn->terms.g[i] - a->tau[i]) / a->scale[i], a->other_remainder[i]));
}

/* One trial motion; false: nothing moved. A motion that leads to no position is tried shorter. */
static bool move(bg_assembly *a, int trial, bool driven)
{
    bg_error ignored;
    double length = amplitude;
    for (int k = 0; k < SHORTER; k++, length /= 4) {
        if (bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G, &ignored) != BG_OK ||
            bg_dynamics_factor(a->dyn, NULL, &ignored) != BG_OK)
            return false;
        if (!find_direction(a, trial) && !driven)
            return false;
        bg_system_move(a->sys, a->x->q, a->dyn->terms.V, length, a->increment, a->trial);
        for (int i = 0; i < a->sys->def.nu; i++)
            a->shift[i] = length * a->lever[i] * draw(trial, a->dyn->nv + i);
        if (close_trial(a)) {
            add_misfits(a);
            return true;
        }
    }
    return false;
}

/* The row left out that motions show to be no redundant one, the worst first; -1: none. */
static int find_needed(const bg_assembly *a)
{
    int worst = -1;
    double most = redundant;
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->dependent[i] && a->remainder[i] > BG_RANK_ROUNDING && a->misfit[i] > most) {
            most = a->misfit[i];
            worst = i;
        }
    return worst;
}

/* What rows left out may miss by farther away: trial motions are short, and where data are rounded
 * the rows may be wrong by their last digits, however little of that they have shown. */
static void update_allowed(bg_assembly *a)
{
    const bg_system *system = a->sys->system;
    double misfit = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->dependent[i] && a->misfit[i] <= redundant)
            misfit = fmax(misfit, a->misfit[i]);
    if (misfit > rounding && system->size > 0)
        misfit = fmax(misfit, fmin(system->resolution / system->size, redundant));
    a->allowed = grows * misfit;
}

/* Misfits of the rows left out, g at the state in tau: data may be wrong by that much, where the
 * system says what its sizes are; the lengths of rods of which one is redundant are. */
static bg_status try_motions(bg_assembly *a, bg_error *err)
{
    int ng = a->dyn->ng;
    bool data = a->sys->def.g_size != NULL;
    memcpy(a->tau, a->dyn->terms.g, (size_t)ng * sizeof(double));
    for (int i = 0; i < ng; i++) {
        a->order[i] = a->dependent[i] ? -1 : 1;
        a->misfit[i] = a->dependent[i] ? a->remainder[i] : 0;
        if (a->dependent[i] && data && fabs(a->tau[i]) <= BG_RANK_DATA * a->scale[i])
            a->misfit[i] = fmax(a->misfit[i], fabs(a->tau[i]) / a->scale[i]);
    }
    bool driven = find_levers(a);
    for (int k = 0; k < TRIALS; k++)
        move(a, k, driven);
    update_allowed(a);
    return bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
}

bg_status bg_assembly_decide(bg_assembly *a, bool *changed, bg_error *err)
{
    int ng = a->dyn->ng;
    *changed = false;
    for (int round = 0; round <= ng; round++) {
        bg_status st = bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, err);
        if (st != BG_OK)
            return st;
        bg_assembly_update_rank(a, NULL);
        if (a->rank == ng)
            break;
        memcpy(a->chosen, a->order, (size_t)ng);
        st = try_motions(a, err);
        int needed = find_needed(a);
        if (st != BG_OK || needed < 0)
            return st;
        memcpy(a->order, a->chosen, (size_t)ng);
        a->order[needed] = 1;
        *changed = true;
    }
    memset(a->order, 1, (size_t)ng);
    return BG_OK;
}

/* involved <- the kept rows of which the others leave the least, up to three times that. */
static void find_weakest(bg_assembly *a, double margin)
{
    for (int i = 0; i < a->dyn->ng; i++)
        a->involved[i] = !a->dependent[i] && a->remainder[i] <= 3 * margin;
}

static bool is_locked(const bg_assembly *a)
{
    return a->dyn->nv == a->rank && a->sys->def.scleronomic;
}

bg_status bg_assembly_explain(bg_assembly *a, bg_status st, bg_error *err)
{
    bg_error own;
    char names[BG_ERROR_LENGTH / 4], loop[BG_ERROR_LENGTH / 4];
    double margin = HUGE_VAL;
    if (st != BG_BAD_INPUT || !err || !is_locked(a))
        return st;
    for (int i = 0; i < a->dyn->ng; i++)
        if (!a->dependent[i])
            margin = fmin(margin, a->remainder[i]);
    find_weakest(a, margin);
    bg_assembly_list(a, a->involved, NULL, names, sizeof names);
    bg_assembly_list_loop(a, a->involved, margin, loop, sizeof loop);
    own = *err;
    return bg_error_set(err, st,
                        "%s; nothing can move, because no degree of freedom is left: what decides "
                        "it is %s%s, of which the other constraints leave %.1e",
                        own.text, names, loop, margin);
}

/* shift <- by how much inputs will have changed at t. */
static bool look_ahead(bg_assembly *a, double t)
{
    const bg_state *x = a->x;
    const int nu = a->sys->def.nu;
    bg_error ignored;
    if (bg_system_set_point(a->sys, t, x->q, x->v, x->z, x->mode, &a->dyn->point, &ignored) !=
        BG_OK)
        return false;
    memcpy(a->shift, a->sys->u, (size_t)nu * sizeof(double));
    if (bg_system_set_point(a->sys, x->t, x->q, x->v, x->z, x->mode, &a->dyn->point, &ignored) !=
        BG_OK)
        return false;
    for (int k = 0; k < nu; k++)
        a->shift[k] -= a->sys->u[k];
    return true;
}

/* Rows left out that will be violated by drives as they go on, and depend on the others there, too:
 * where motions along the constraints have a constant rank, none leads back. involved <- those;
 * returns the time at which they are found, NAN: there are none. */
static double find_contradicted(bg_assembly *a)
{
    enum { LOOKS = 16 };
    const double whole = a->sys->def.t_end - a->x->t, apart = fmax(a->allowed, 1e-6);
    for (int k = LOOKS; k >= 0 && whole > 0 && isfinite(whole); k--) {
        const double t = a->x->t + ldexp(whole, -k);
        bool found = false;
        if (!look_ahead(a, t))
            return NAN;
        memcpy(a->trial, a->x->q, (size_t)a->dyn->nq * sizeof(double));
        if (!close_trial(a))
            return NAN;
        memset(a->misfit, 0, (size_t)a->dyn->ng * sizeof(double));
        add_misfits(a);
        for (int i = 0; i < a->dyn->ng; i++) {
            a->involved[i] = a->dependent[i] && a->misfit[i] > apart &&
                             a->other_remainder[i] <= BG_RANK_ROUNDING;
            found = found || a->involved[i];
        }
        if (found)
            return t;
    }
    return NAN;
}

/* Whether rows left out are no redundant ones, but contradict drives. */
static bool warn_of_drives(bg_assembly *a, bg_assembly_report *report)
{
    char names[BG_WARNING_LENGTH / 4], drives[BG_WARNING_LENGTH / 4] = "", buffer[64];
    double misfit = 0;
    const size_t size = (size_t)a->dyn->ng * sizeof(double);
    size_t used = 0;
    bg_error ignored;
    if (bg_assembly_evaluate(a, a->x->q, BG_TERM_M | BG_TERM_G | BG_TERM_g, &ignored) != BG_OK)
        return false;
    memcpy(a->tau, a->dyn->terms.g, size);
    memcpy(a->first, a->misfit, size);
    const double t = find_levers(a) ? find_contradicted(a) : NAN;
    if (isnan(t)) {
        memcpy(a->misfit, a->first, size);
        return false;
    }
    for (int i = 0; i < a->dyn->ng; i++)
        misfit = a->involved[i] ? fmax(misfit, a->misfit[i]) : misfit;
    for (int k = 0; k < a->sys->def.nu && used < sizeof drives; k++)
        if (a->lever[k] > 0 && a->shift[k] != 0)
            used += (size_t)snprintf(
                drives + used, sizeof drives - used, "%s'%s'", used > 0 ? ", " : "",
                bg_system_get_name(a->sys->system, 'u', k, buffer, sizeof buffer));
    bg_assembly_list(a, a->involved, NULL, names, sizeof names);
    bg_warnings_add(&report->warnings, BG_DOUBTFUL, "drives",
                    "system '%s': %s is not redundant: it agrees with the others at the start, but "
                    "not with what follows %s, and misses by %.1e of its size at t = %.6g s, where "
                    "nothing that moves can help; make them agree, or take one away",
                    a->sys->def.name, names, drives, misfit, t);
    return true;
}

void bg_assembly_warn(bg_assembly *a, bg_assembly_report *report)
{
    static const double close = 1e-3;
    const bg_redundancy *r = &report->redundancy;
    const char *name = a->sys->def.name;
    char names[BG_WARNING_LENGTH / 4], loop[BG_WARNING_LENGTH / 4];
    if (a->sys->system->freedom >= 0) /* another form has said it */
        return;
    if (a->dyn->nv == 0)
        bg_warnings_add(&report->warnings, BG_DOUBTFUL, "freedom",
                        "system '%s': nothing can move, because every body is fixed; let one of "
                        "the joints move",
                        name);
    if (a->dyn->ng == 0 || a->dyn->nv == 0)
        return;
    if (r->count > 0 && r->misfit > BG_RANK_ROUNDING && r->misfit <= redundant) {
        bool much = r->misfit > BG_RANK_DATA;
        char kept[40] = ""; /* in joint form all loop constraints may be redundant */
        if (isfinite(r->margin))
            snprintf(kept, sizeof kept, ", and at least %.1e of those kept", r->margin);
        bg_warnings_add(
            &report->warnings, much ? BG_DOUBTFUL : BG_GOOD, "redundant",
            "%d constraint%s redundant to the precision of the data: left out, what is "
            "redundant misses by about %.1e of their size where the mechanism moves (others leave "
            "less than %.0e of them%s)%s",
            r->count, r->count == 1 ? " is" : "s are", r->misfit, BG_RANK_DATA, kept,
            much ? "; that is much for digits of data, check the dimensions" : "");
    }
    const bool contradicted = r->misfit > r->allowed && warn_of_drives(a, report);
    if (r->misfit > r->allowed && !contradicted) {
        for (int i = 0; i < a->dyn->ng; i++)
            a->involved[i] = a->dependent[i] && a->misfit[i] > r->allowed;
        bg_assembly_list(a, a->involved, NULL, names, sizeof names);
        bg_warnings_add(&report->warnings, BG_DOUBTFUL, "singular",
                        "system '%s': at the start %s can be left out, but where the mechanism "
                        "moves that would miss by %.1e of its size: the start is a singular "
                        "position, or drives have to agree; begin in another position, or take a "
                        "constraint away",
                        name, names, r->misfit);
    }
    bool locked = is_locked(a);
    if (!locked && !(r->margin < close))
        return;
    find_weakest(a, r->margin);
    bg_assembly_list(a, a->involved, NULL, names, sizeof names);
    bg_assembly_list_loop(a, a->involved, r->margin, loop, sizeof loop);
    if (locked)
        bg_warnings_add(
            &report->warnings, BG_DOUBTFUL, "freedom",
            "system '%s': nothing can move, because no degree of freedom is left; what "
            "decides it is %s%s, of which the other constraints leave %.1e (below %.0e it "
            "would count as redundant); take a joint away, choose one that moves more "
            "freely, or give points and axes more precisely",
            name, names, loop, r->margin, BG_RANK_DATA);
    else
        bg_warnings_add(
            &report->warnings, BG_DOUBTFUL, "freedom",
            "system '%s': %s nearly depends on other constraints, which leave %.1e of "
            "it: the start is near a singular position, or what should be parallel or "
            "in line is not quite, and is held fast; give points and axes more precisely",
            name, names, r->margin);
}

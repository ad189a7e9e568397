/* Change points: positions in which kept rows of G become dependent and branches of the motion
 * cross, as when all bars of a linkage of parallel cranks lie on one line.
 *
 * Let w be a row that becomes dependent there, s the other kept rows. On the manifold g_s = 0, with
 * coordinates x along the motion and y along the direction r in which w holds, g_w is to second
 * order a saddle about its critical point,
 *     g_w = c + a x y + b y^2 / 2,         g_w = 0.
 * As drawn c = 0, and y = 0 is a branch that goes straight on. Digits make c what the data's misfit
 * is, and then no branch goes on: g_w = 0 is a hyperbola, which turns off within sqrt(c/a) onto the
 * other branch, always, whatever the sign of c. By the letter such a mechanism has no change point.
 * The nearest one that has it is g_w - c = 0, with a row moved by no more than the misfit; its
 * branches are smooth, and steps and leaps (leaps.h) pass as they do with exact data, led by their
 * velocity.
 *
 * Before a step it is foreseen where the motion leads, and which rows become dependent there
 * (foresight.c); the critical point of these rows is found (critical.c). If no other choice of rows
 * is independent there (the third crank may hold what two in line do not), and c is within the
 * precision of the data, then g_w becomes g_w - c, and the state is moved onto that, by about c /
 * (a x). From then on the rows stay until they hold the other way round, which means that the
 * position has been passed.
 *
 * Where c is no more than a few roundings there is nothing to do: everything stays as it was found.
 * Where it is rounding of data that are far from the origin, it is followed all the same, because
 * motions turn off within sqrt(c/a) however small c is, and tight tolerances see that.
 *
 * A passage whose c is more than that is said: that the motion goes straight on is what the drawing
 * means, but not what the digits say.
 *
 * What a method drifts off the constraints is such a c, too, even where the data are exact: before
 * a change point and until it is passed, x0 is moved back in every step. Where steps come so near
 * to it all the same that they follow what is left, that is said.
 *
 * Redundant rows show by themselves that data are rounded. Without any, c may be no more than what
 * the digits leave open in which places are written: 1.0000036 beside 1 is meant so, if other
 * places have 17 digits. Their rows are watched now and then (foresight.c), at little cost. */
#include "integrators/change_points.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/change_points_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 6 };
static const double as_good = 0.3; /* remainder of rows taken in, beside those given up */

static void list(void *object, bg_arena *arena)
{
    bg_change_points *c = object;
    const bg_system *sys = c->system;
    const bg_system_def *def = &sys->def;
    BG_TAKE(arena, c->M, bg_system_get_size_M(sys));
    BG_TAKE(arena, c->G, bg_system_get_size_G(sys));
    BG_TAKE(arena, c->q, def->nq);
    BG_TAKE(arena, c->other_q, def->nq);
    BG_TAKE(arena, c->foreseen, def->nq);
    BG_TAKE(arena, c->velocity, def->nv);
    for (int k = 0; k <= BG_WEAK; k++)
        BG_TAKE(arena, c->tangent[k], def->nv);
    for (int k = 0; k < BG_WEAK; k++)
        BG_TAKE(arena, c->ahead.across[k], def->nv);
    BG_TAKE(arena, c->size, def->ng);
    BG_TAKE(arena, c->remainder, def->ng);
    BG_TAKE(arena, c->others, def->ng);
    BG_TAKE(arena, c->offset_before, def->ng);
    BG_TAKE(arena, c->before, def->ng);
    BG_TAKE(arena, c->rate, def->ng);
    BG_TAKE(arena, c->dependent, def->ng);
    BG_TAKE(arena, c->held, def->ng);
    BG_TAKE(arena, c->kept_before, def->ng);
    BG_TAKE(arena, c->offset_first, def->ng);
    BG_TAKE(arena, c->kept_first, def->ng);
    BG_TAKE(arena, c->named, def->ng);
    BG_TAKE(arena, c->order, def->ng);
}

bg_status bg_change_points_create(bg_integrator *ig, bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    bg_change_points *c = ig->change_points = BG_NEW(bg_change_points);
    bg_status st = c ? bg_rank_create(def->ng, def->nv, def->pattern_G, &c->rank, err)
                     : BG_NO_MEMORY;
    if (st == BG_OK)
        st = bg_rank_settle(c->rank, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys->system, &c->moved, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys->system, &c->first, err);
    if (st == BG_OK) {
        c->system = ig->sys->system;
        if (bg_arena_create(&c->arena, list, c))
            return BG_OK;
    }
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the change points of '%s'",
                        def->name);
}

void bg_change_points_destroy(bg_change_points *c)
{
    if (!c)
        return;
    bg_rank_destroy(c->rank);
    bg_state_destroy(c->moved);
    bg_state_destroy(c->first);
    bg_arena_clear(&c->arena);
    free(c);
}

/* Whether rows that hold may become dependent but for the digits of the data. */
static bool may_be_rounded(const bg_system *system)
{
    return system->def.g_size && !system->tree &&
           bg_misfit_grows * system->resolution > bg_offset_rounding * system->size;
}

/* Whether what a method adds to constraints may turn the motion off. */
static bool may_drift(const bg_integrator *ig)
{
    return ig->drifts && !ig->sys->system->tree && ig->options.step == 0;
}

void bg_change_points_restart(bg_integrator *ig, const bg_redundancy *redundancy, bg_restart reason)
{
    bg_change_points *c = ig->change_points;
    c->redundant = redundancy && redundancy->count > 0;
    c->needed = c->redundant || may_be_rounded(ig->sys->system) || may_drift(ig);
    c->misfit = c->redundant ? redundancy->misfit : 0;
    c->t_before = INFINITY;
    c->since = 0;
    c->t_clear = -INFINITY;
    if (reason == BG_RESTART_START) {
        c->ahead.n = 0;
        c->ahead.t_end = -HUGE_VAL;
        c->doubtful = 0;
        c->largest = c->used = 0;
        c->t_near = c->t_drifted = c->t_undecided = NAN;
        c->least = 0;
        c->falls = false;
    }
    for (int k = 0; k < c->ahead.n; k++)
        if (ig->dyn->eliminated[c->ahead.row[k]])
            c->ahead.n = 0;
}

void bg_change_points_forget(bg_integrator *ig)
{
    if (!ig->change_points)
        return;
    ig->change_points->since = 0;
    ig->change_points->t_clear = -INFINITY;
}

bool bg_change_points_is_needed(const bg_integrator *ig)
{
    return ig->change_points && ig->change_points->needed;
}

bool bg_change_points_is_passing(const bg_integrator *ig)
{
    const bg_change_points *c = ig->change_points;
    return c && c->ahead.n > 0;
}

static void set_eliminated(bg_dynamics *d, const unsigned char *rows)
{
    for (int i = 0; i < d->ng; i++)
        if (rows[i])
            d->offset[i] = 0;
    memcpy(d->eliminated, rows, (size_t)d->ng);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
}

/* Whether the choice of rows (selection.h), G at hand, would leave out these and no others. */
static bool is_kept(bg_integrator *ig, const unsigned char *left_out)
{
    bg_foresight_calc_rank(ig, left_out, true);
    return memcmp(ig->change_points->dependent, left_out, (size_t)ig->dyn->ng) == 0;
}

/* Exchanges kept rows for those that are best after s, where those now are no better, or where even
 * the best become dependent; true: x0 was moved onto others. Not where those become dependent even
 * before: rows would be exchanged for each other in every step, and each exchange moves x0 by the
 * misfit of the data. */
static bool exchange(bg_integrator *ig, double s)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    if (!bg_foresight_look(ig, s))
        return false;
    double least = bg_foresight_calc_rank(ig, d->eliminated, true);
    if (!(least > 0) || memcmp(c->dependent, d->eliminated, (size_t)d->ng) == 0)
        return false;
    memcpy(c->held, c->dependent, (size_t)d->ng);
    if (!bg_foresight_evaluate(ig, 0, ig->x0->q, BG_TERM_G))
        return false;
    double now = bg_foresight_calc_rank(ig, d->eliminated, false);
    if (bg_foresight_calc_rank(ig, c->held, false) < (least < bg_weak ? as_good : 1) * now ||
        !is_kept(ig, c->held) || !bg_foresight_stay(ig, c->held, s))
        return false;
    memcpy(c->kept_before, d->eliminated, (size_t)d->ng);
    memcpy(c->offset_before, d->offset, (size_t)d->ng * sizeof(double));
    set_eliminated(d, c->held);
    bg_state_copy(ig->sys->system, ig->x0, c->moved);
    if (bg_project_state(d, c->moved, NULL) != BG_OK) {
        set_eliminated(d, c->kept_before);
        memcpy(d->offset, c->offset_before, (size_t)d->ng * sizeof(double));
        return false;
    }
    bg_state_copy(ig->sys->system, c->moved, ig->x0);
    c->t_before = INFINITY;
    return true;
}

/* Rows, offsets and x0 as they are before anything is tried, and back to them. */
static void remember(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    memcpy(c->kept_first, ig->dyn->eliminated, (size_t)ig->dyn->ng);
    memcpy(c->offset_first, ig->dyn->offset, (size_t)ig->dyn->ng * sizeof(double));
    bg_state_copy(ig->sys->system, ig->x0, c->first);
}

static void go_back(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    set_eliminated(ig->dyn, c->kept_first);
    memcpy(ig->dyn->offset, c->offset_first, (size_t)ig->dyn->ng * sizeof(double));
    bg_state_copy(ig->sys->system, c->first, ig->x0);
}

/* Places are rounded where they are evaluated, and where they were given. */
static double calc_coarseness(const bg_integrator *ig)
{
    static const double rounded = 0.01; /* of 1e-12 */
    const bg_system *system = ig->sys->system;
    return fmax(bg_project_calc_coarseness(ig->dyn), 1 + rounded * system->farthest / system->size);
}

/* Whether a passage is ahead whose offsets are more than nothing, and c->moved fulfils the
 * constraints moved by them. */
static bool find_passage(bg_integrator *ig, double s, double horizon, bool *exact)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    bg_passage *p = &c->ahead;
    *exact = false;
    if (!bg_foresight_find_rows(ig, s, p))
        return false;
    memcpy(c->offset_before, d->offset, (size_t)d->ng * sizeof(double));
    bool good = bg_critical_find_offsets(ig, p, s, horizon);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
    p->by_digits = p->offset > bg_offset_rounding * calc_coarseness(ig);
    *exact = good && !(p->offset > bg_offset_least);
    bg_state_copy(ig->sys->system, ig->x0, c->moved);
    if (good && !*exact && bg_project_state(d, c->moved, NULL) == BG_OK)
        return true;
    memcpy(d->offset, c->offset_before, (size_t)d->ng * sizeof(double));
    return false;
}

/* How far x0 is off the constraints, in sizes of rows; notices where it is so near that the rest of
 * that may turn the motion off. */
static double calc_drift(bg_integrator *ig)
{
    static const double too_near = 3e-5; /* what others leave of a row */
    bg_change_points *c = ig->change_points;
    const bg_dynamics *d = ig->dyn;
    double most = 0;
    if (!bg_foresight_evaluate(ig, 0, ig->x0->q, BG_TERM_G | BG_TERM_g))
        return 0;
    if (bg_foresight_calc_rank(ig, d->eliminated, false) < too_near && isnan(c->t_drifted))
        c->t_drifted = ig->x0->t;
    for (int i = 0; i < d->ng; i++)
        if (!d->eliminated[i])
            most = fmax(most, fabs(d->terms.g[i]) / c->size[i]);
    return most;
}

/* Where a method drifts it follows g_w = c of its own, and turns off: x0 is moved back. */
static bool come_back(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    if (!ig->drifts || !(calc_drift(ig) > bg_offset_least))
        return false;
    bg_state_copy(ig->sys->system, ig->x0, c->moved);
    if (bg_project_state(ig->dyn, c->moved, NULL) != BG_OK)
        return false;
    bg_state_copy(ig->sys->system, c->moved, ig->x0);
    c->t_before = INFINITY;
    return true;
}

/* Looks for a passage ahead, and moves x0 onto the rows moved, or onto rows that are better there;
 * false: it stays. Where no change point is found after all, fixed steps choose rows where they are
 * (selection.h), so that what drifts does not depend on where the motion is foreseen to lead. */
static bool look_ahead(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    double horizon = bg_foresight_calc_horizon(ig);
    double s = horizon > 0 ? bg_foresight_find(ig, horizon) : 0;
    bool exact;
    if (!(s > 0))
        return false;
    remember(ig);
    bool exchanged = exchange(ig, s);
    if (find_passage(ig, s, horizon, &exact)) {
        bg_state_copy(ig->sys->system, c->moved, ig->x0);
        c->t_before = INFINITY;
        c->used = fmax(c->used, c->ahead.offset);
        return true;
    }
    if (exact && ig->drifts)
        return come_back(ig) || exchanged;
    c->ahead.n = 0;
    if (exchanged && !exact && ig->options.step > 0) {
        go_back(ig);
        exchanged = false;
    }
    return exchanged;
}

/* Slopes fall like the distance to the critical point: two of them tell when it is reached. */
static void foresee_cross(bg_passage *p, double t, double rest)
{
    if (rest < p->rest && t > p->t_rest)
        p->t_cross = t + rest * (t - p->t_rest) / (p->rest - rest);
    p->rest = rest;
    p->t_rest = t;
}

double bg_change_points_straddle(const bg_integrator *ig, double h)
{
    const bg_change_points *c = ig->change_points;
    double left = c && c->ahead.n > 0 ? c->ahead.t_cross - ig->x0->t : NAN;
    if (!(left > 0) || left > 1.5 * h)
        return h;
    return left < 0.8 * h ? fmax(h, 1.6 * left) : left - 0.5 * h;
}

/* Whether the rows of the passage hold the other way round at x0 than where it began; ended: it is
 * behind, or the motion turned back. */
static bool is_passed(bg_integrator *ig, bool *ended)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    bg_passage *p = &c->ahead;
    int passed = 0, before = 0;
    double least = HUGE_VAL;
    double slope[BG_WEAK][1 + BG_WEAK];
    memcpy(c->held, d->eliminated, (size_t)d->ng);
    for (int k = 0; k < p->n; k++)
        c->held[p->row[k]] = 1;
    bg_kkt_set_eliminated(d->kkt, c->held);
    memcpy(c->q, ig->x0->q, (size_t)d->nq * sizeof(double));
    bool known = bg_critical_calc_slopes(ig, p, 1, 0, c->q, slope);
    for (int k = 0; k < p->n && known; k++) {
        passed += slope[k][1 + k] < 0;
        before += slope[k][1 + k] > 0.5 * p->slope[k];
        least = fmin(least, slope[k][1 + k] / p->slope[k]);
    }
    /* directions that were found far away may have turned round with the rows: both ways slopes
     * rise again behind, or where the motion turned back */
    bool rises = known && least > p->rest && p->rest < 0.3;
    if (known)
        foresee_cross(p, ig->x0->t, least);
    bg_kkt_set_eliminated(d->kkt, d->eliminated);
    *ended = passed > 0 || rises || ig->x0->t > p->t_end;
    return *ended && before < p->n;
}

/* The passage is behind: where digits would have decided, not rounding, it is remembered. */
static void finish_passage(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    bg_dynamics *d = ig->dyn;
    if (!c->ahead.by_digits)
        return;
    if (c->doubtful++ == 0) {
        c->t_first = ig->x0->t;
        for (int i = 0; i < d->ng; i++)
            c->named[i] = c->held[i] && !d->eliminated[i];
    }
    c->largest = fmax(c->largest, c->ahead.offset);
}

bool bg_change_points_update(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    bool moved = false, ended = false;
    if (!c || !c->needed)
        return false;
    if (c->ahead.n == 0 && ig->x0->t + ig->control.h_next <= c->t_clear)
        return false;
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_FOR_FORESIGHT);
    c->spent = 0;
    if (c->ahead.n == 0)
        moved = look_ahead(ig);
    else if (is_passed(ig, &ended))
        finish_passage(ig);
    if (ended)
        c->ahead.n = 0;
    else if (c->ahead.n > 0 && ig->drifts && !moved)
        moved = come_back(ig);
    bg_system_turn_to(ig->sys, before);
    return moved;
}

void bg_change_points_notice_undecided(bg_integrator *ig)
{
    bg_change_points *c = ig->change_points;
    if (isnan(c->t_undecided))
        c->t_undecided = ig->x0->t;
}

double bg_change_points_get_offset(const bg_integrator *ig)
{
    return bg_change_points_is_passing(ig) ? ig->change_points->ahead.offset : 0;
}

double bg_change_points_get_allowed(const bg_integrator *ig)
{
    const bg_change_points *c = ig->change_points;
    return c ? bg_misfit_grows * c->used : 0;
}

/* The names of the constraints that were meant. */
static void list_names(const bg_integrator *ig, char *text, size_t size)
{
    const bg_change_points *c = ig->change_points;
    char buffer[64];
    size_t used = 0;
    int n = 0;
    *text = '\0';
    for (int i = 0; i < ig->dyn->ng && used < size; i++) {
        if (!c->named[i])
            continue;
        const char *name = bg_system_get_name(ig->sys->system, 'g', i, buffer, sizeof buffer);
        used += (size_t)snprintf(text + used, size - used, n == LISTED ? ", ..." : "%s'%s'",
                                 n > 0 ? ", " : "", name);
        if (n++ == LISTED)
            return;
    }
}

void bg_change_points_explain(const bg_integrator *ig, bg_warnings *warnings)
{
    const bg_change_points *c = ig->change_points;
    char names[256];
    if (c && !isnan(c->t_drifted))
        bg_warnings_add(
            warnings, BG_DOUBTFUL, "change point",
            "at t = %.6g s the mechanism was next to a position in which constraints become "
            "dependent and branches of its motion meet: with settings that let it drift off the "
            "constraints it may have gone on along another branch; take those by default",
            c->t_drifted);
    if (c && !isnan(c->t_undecided))
        bg_warnings_add(
            warnings, BG_DOUBTFUL, "change point",
            "at t = %.6g s more constraints depended on each other than there was memory to decide "
            "upon in a step: rows were kept as they were, and change points were not looked for; "
            "divide the mechanism into parts that do not hang together, or compare with a run of "
            "fewer loops",
            c->t_undecided);
    if (!c || (c->doubtful == 0 && isnan(c->t_near)))
        return;
    list_names(ig, names, sizeof names);
    if (c->doubtful > 0)
        bg_warnings_add(
            warnings, BG_DOUBTFUL, "change point",
            "at t = %.6g s the mechanism passed a position in which %s depend%s on other "
            "constraints and branches of its motion meet%s: by the digits of the data it would "
            "turn off there; it was led straight on, with constraints moved by %.1e of their "
            "size; give points, axes and lengths with more digits",
            c->t_first, names, strchr(names, ',') ? "" : "s",
            c->doubtful > 1 ? ", for the first time" : "", c->largest);
    else
        bg_warnings_add(
            warnings, BG_DOUBTFUL, "change point",
            "at t = %.6g s the mechanism came near a position in which %s depend%s on other "
            "constraints and branches of its motion may meet: the last digits of the data decide "
            "which way it goes on; give points, axes and lengths with more digits",
            c->t_near, names, strchr(names, ',') ? "" : "s");
}

void bg_change_points_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_change_points *c = ig->change_points;
    int ng = ig->dyn->ng, nv = ig->dyn->nv;
    bg_passage *p = c ? &c->ahead : NULL;
    if (!c)
        return;
    bg_archive_finite(archive, ig->dyn->offset, ng);
    bg_archive_doubles(archive, c->before, ng);
    bg_archive_doubles(archive, &c->t_before, 1);
    bg_archive_finite(archive, &c->misfit, 1);
    bg_archive_doubles(archive, &c->least, 1);
    bg_archive_flags(archive, &c->falls, sizeof c->falls);
    bg_archive_flags(archive, &c->redundant, sizeof c->redundant);
    bg_archive_flags(archive, &c->needed, sizeof c->needed);
    bg_archive_finite(archive, c->rate, ng);
    bg_archive_finite(archive, &c->since, 1);
    bg_archive_doubles(archive, &c->t_clear, 1);
    bg_archive_flags(archive, c->named, (size_t)ng);
    bg_archive_counts(archive, &c->doubtful, 1);
    bg_archive_finite(archive, &c->t_first, 1);
    bg_archive_finite(archive, &c->largest, 1);
    bg_archive_finite(archive, &c->used, 1);
    bg_archive_doubles(archive, &c->t_near, 1);
    bg_archive_doubles(archive, &c->t_drifted, 1);
    bg_archive_doubles(archive, &c->t_undecided, 1);
    bg_archive_whole(archive, &p->n, 1, 0, BG_WEAK);
    bg_archive_whole(archive, p->row, BG_WEAK, 0, ng - 1);
    bg_archive_finite(archive, p->slope, BG_WEAK);
    bg_archive_finite(archive, &p->offset, 1);
    bg_archive_flags(archive, &p->by_digits, sizeof p->by_digits);
    bg_archive_doubles(archive, &p->t_end, 1);
    bg_archive_finite(archive, &p->rest, 1);
    bg_archive_finite(archive, &p->t_rest, 1);
    bg_archive_doubles(archive, &p->t_cross, 1);
    for (int k = 0; k < BG_WEAK; k++)
        bg_archive_finite(archive, p->across[k], nv);
}

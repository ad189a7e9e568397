/* What all methods share: creation, the step loop, undo. How long steps are is in control.c,
 * rounding.c and leaps.c. */
#include "integrators/integrator.h"

#include "base/memory.h"
#include "base/text.h"
#include "consistent/projection.h"
#include "integrators/automatic.h"
#include "integrators/change_points.h"
#include "integrators/noise.h"
#include "integrators/options.h"
#include "integrators/selection.h"
#include "integrators/trouble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bg_status find_class(const char *name, const bg_integrator_class **found, bg_error *err)
{
    const bg_integrator_class *const *classes = bg_integrator_get_classes();
    const char *names[64];
    int n = 0;
    for (; classes[n]; n++) {
        names[n] = classes[n]->info.name;
        if (strcmp(names[n], name) == 0) {
            *found = classes[n];
            return BG_OK;
        }
    }
    int nearest = bg_text_find_nearest(name, names, n);
    if (nearest >= 0)
        return bg_error_set(err, BG_BAD_INPUT, "there is no integrator '%s'; did you mean '%s'?",
                            name, names[nearest]);
    return bg_error_set(err, BG_BAD_INPUT,
                        "there is no integrator '%s'; `bogie list` shows those there are", name);
}

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    BG_TAKE(arena, ig->rate0, ig->n);
    BG_TAKE(arena, ig->rate1, ig->n);
    BG_TAKE(arena, ig->bubble, ig->n * ig->class_->bubbles);
    BG_TAKE(arena, ig->work_n, ig->n);
    BG_TAKE(arena, ig->first, ig->n);
    BG_TAKE(arena, ig->share, ig->n);
}

static bg_status allocate(bg_integrator *ig, bg_error *err)
{
    bg_status st = bg_dynamics_create(ig->sys, &ig->dyn, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys->system, &ig->x0, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys->system, &ig->x1, err);
    if (st == BG_OK && ig->dyn->ng > 0)
        st = bg_selection_create(ig->sys, &ig->selection, err);
    if (st == BG_OK && ig->dyn->ng > 0)
        st = bg_change_points_create(ig, err);
    if (st != BG_OK)
        return st;
    ig->n = ig->dyn->nq + ig->dyn->nv + ig->dyn->nz + 1;
    if (!bg_arena_create(&ig->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    bg_norm_find_blocks(ig);
    st = bg_noise_create(ig, err);
    if (st == BG_OK)
        st = bg_trouble_create(ig, err);
    return st == BG_OK ? ig->class_->create(ig, err) : st;
}

bg_status bg_integrator_create_with(const char *name, bg_evaluator *sys,
                                    const bg_integrator_options *options,
                                    bg_integrator **integrator, bg_error *err)
{
    *integrator = NULL;
    const bg_integrator_class *class_;
    bg_status st = find_class(name, &class_, err);
    if (st == BG_OK)
        st = bg_options_check(class_, options, err);
    if (st != BG_OK)
        return st;
    bg_integrator *ig = BG_NEW(bg_integrator);
    if (!ig)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s", name);
    ig->class_ = class_;
    ig->sys = sys;
    ig->options = *options;
    ig->energy = options->energy && sys->def.energy;
    bg_counters_begin(ig);
    ig->order = class_->info.order;
    st = allocate(ig, err);
    if (st != BG_OK) {
        bg_integrator_destroy(ig);
        return st;
    }
    *integrator = ig;
    return BG_OK;
}

bg_status bg_integrator_create(const char *name, const bg_system *system,
                               const bg_integrator_options *options, bg_integrator **integrator,
                               bg_error *err)
{
    bg_evaluator *own;
    *integrator = NULL;
    bg_status st = bg_evaluator_create(system, &own, err);
    if (st == BG_OK)
        st = bg_integrator_create_with(name, own, options, integrator, err);
    if (st == BG_OK)
        (*integrator)->own = own;
    else
        bg_evaluator_destroy(own);
    return st;
}

void bg_integrator_destroy(bg_integrator *ig)
{
    if (!ig)
        return;
    if (ig->automatic)
        bg_automatic_destroy(ig);
    else if (ig->method)
        ig->class_->destroy(ig);
    bg_selection_destroy(ig->selection);
    bg_change_points_destroy(ig->change_points);
    bg_noise_destroy(ig->noise);
    bg_dynamics_destroy(ig->dyn);
    bg_state_destroy(ig->x0);
    bg_state_destroy(ig->x1);
    bg_arena_clear(&ig->arena);
    bg_trouble_destroy(ig->trouble);
    bg_evaluator_destroy(ig->own);
    free(ig);
}

bg_status bg_integrator_calc_rate(bg_integrator *ig, double t, const double *y, unsigned extra,
                                  double *rate, double *lambda, bg_error *err)
{
    bg_dynamics *d = ig->dyn;
    const double *v = y + d->nq, *z = v + d->nv;
    if (ig->energy && d->ng > 0 && !ig->sys->def.scleronomic)
        extra |= BG_TERM_gt;
    bg_status st = bg_dynamics_accelerate(d, t, y, v, z, ig->x0->mode, extra, rate + d->nq, lambda,
                                          err);
    if (st != BG_OK)
        return st;
    bg_dynamics_calc_rates(d, v, rate);
    memcpy(rate + d->nq + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return ig->energy ? bg_dynamics_calc_power(d, rate + d->nq, lambda, &rate[ig->n - 1], err)
                      : BG_OK;
}

/* Rates, multipliers and residuals at x0, from where the method goes on for this reason. */
static bg_status begin(bg_integrator *ig, bg_restart reason, bg_error *err)
{
    if (ig->class_->restart)
        ig->class_->restart(ig, reason);
    unsigned extra = ig->dyn->ng > 0 ? BG_TERM_g | BG_TERM_gt : 0u;
    bg_state *x = ig->x0;
    ig->trouble->t_side = NAN;
    bg_dynamics_set_guess(ig->dyn, x->lambda);
    bg_status st = bg_integrator_calc_rate(ig, x->t, x->q, extra, ig->rate0, x->lambda, err);
    if (st != BG_OK)
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    memcpy(x->a, ig->rate0 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals0 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    ig->unmeasured0 = false;
    return BG_OK;
}

bg_status bg_integrator_restart(bg_integrator *ig, const bg_state *state,
                                const bg_redundancy *redundancy, double t_end, bg_restart reason,
                                bg_error *err)
{
    bg_dynamics_set_eliminated(ig->dyn, redundancy);
    if (ig->automatic && reason == BG_RESTART_START)
        bg_automatic_reset(ig);
    if (ig->change_points)
        bg_change_points_restart(ig, redundancy, reason);
    bg_state_copy(ig->sys->system, state, ig->x0);
    bg_state_copy(ig->sys->system, state, ig->x1); /* modes travel with both */
    ig->stepped = false;
    ig->dense_ready = false;
    ig->t_end = ig->t_limit = t_end;
    ig->t_grid = ig->x0->t;
    ig->grid = ig->parts = 0;
    bg_status st = begin(ig, reason, err);
    ig->unready = false;
    if (st != BG_OK)
        return st;
    if (ig->dyn->kkt && ig->dyn->ng > 0 && ig->options.step == 0 && ig->rcond == 0)
        ig->rcond = bg_dynamics_calc_rcond(ig->dyn);
    double h = ig->options.step;
    if (!(h > 0) && ig->options.h_initial > 0) /* what is less does not move t */
        h = fmax(ig->options.h_initial, bg_control_get_least(ig));
    if (!(h > 0))
        st = (ig->class_->first_step ? ig->class_->first_step : bg_initial_step_calc)(ig, &h, err);
    bg_control_reset(ig, h);
    if (st == BG_OK && bg_change_points_update(ig))
        st = begin(ig, BG_RESTART_ROWS, err);
    return st;
}

bg_status bg_integrator_start(bg_integrator *ig, const bg_state *state,
                              const bg_redundancy *redundancy, double t_end, bg_error *err)
{
    return bg_integrator_restart(ig, state, redundancy, t_end, BG_RESTART_START, err);
}

void bg_integrator_update_redundancy(const bg_integrator *ig, bg_redundancy *r)
{
    int n = 0;
    for (int i = 0; i < ig->dyn->ng && r->eliminated; i++)
        if (ig->dyn->eliminated[i])
            r->eliminated[n++] = i;
    r->count = n;
    if (r->offset)
        memcpy(r->offset, ig->dyn->offset, (size_t)ig->dyn->ng * sizeof(double));
}

void bg_integrator_advance(bg_integrator *ig)
{
    ig->dense_ready = false;
    if (!ig->stepped)
        return;
    if (ig->class_->commit)
        ig->class_->commit(ig);
    bg_state *x = ig->x0;
    double *rate = ig->rate0;
    ig->x0 = ig->x1;
    ig->x1 = x;
    ig->rate0 = ig->rate1;
    ig->rate1 = rate;
    ig->residuals0 = ig->residuals1;
    ig->unmeasured0 = ig->unmeasured1;
    ig->unmeasured1 = false;
    ig->stepped = false;
    if (ig->whole) {
        ig->grid++;
    } else if (!ig->part) {
        ig->grid = 0;
        ig->t_grid = ig->x0->t;
    }
    bg_error ignored; /* the step that follows tries again, and tells */
    bool passing = bg_change_points_is_passing(ig);
    bool exchanged = ig->selection && !passing && bg_selection_update(ig->selection, ig);
    if (exchanged)
        bg_change_points_forget(ig);
    if (bg_change_points_update(ig) || exchanged)
        ig->unready = begin(ig, BG_RESTART_ROWS, &ignored) != BG_OK;
    ig->unready_for = BG_RESTART_ROWS;
    bg_jumps_watch_crossing(ig);
    if (ig->automatic && !ig->unready)
        bg_automatic_update(ig);
}

void bg_integrator_take_inputs(bg_integrator *ig)
{
    bg_integrator_advance(ig);
    ig->unready = true;
    ig->unready_for = BG_RESTART_INPUTS;
}

/* The velocity that changes fastest, beside its tolerance; NULL: none does. */
static const char *find_fastest(const bg_integrator *ig, char *buffer, size_t size)
{
    double most = 0;
    int fastest = -1;
    for (int i = 0; i < ig->dyn->nv; i++) {
        const double weight = ig->options.rtol * fabs(ig->x0->v[i]) + ig->options.atol;
        const double change = fabs(ig->x0->a[i]) / fmax(weight, 1e-300);
        if (change > most) {
            most = change;
            fastest = i;
        }
    }
    return fastest < 0 ? NULL : bg_system_get_name(ig->sys->system, 'v', fastest, buffer, size);
}

/* Why steps became too small, where nothing else was found out. */
static void guess_cause(bg_integrator *ig, bool in_vain, char *text, size_t size)
{
    char buffer[64];
    if (in_vain && bg_rounding_is_magnified(ig)) {
        snprintf(text, size,
                 "the mechanism is near a singular position, which magnifies rounding%s",
                 bg_project_calc_coarseness(ig->dyn) > 2
                     ? ", and that is large because it is far from the origin: move it there, or "
                       "loosen the tolerances"
                     : ": change its start or its dimensions a little, or loosen the tolerances");
        return;
    }
    const char *name = find_fastest(ig, buffer, sizeof buffer);
    snprintf(text, size,
             "the solution may be singular there%s%s%s, or the tolerances may be too tight",
             name ? " (the rate of '" : "", name ? name : "",
             name ? "' changes fastest: look at what acts on it)" : "");
}

/* A start that misses constraints cannot be left by any step: the first would have to jump. */
static bool explain_start(const bg_integrator *ig, char *text, size_t size)
{
    const bg_residuals *r = &ig->residuals0;
    const double limit = 10 * (ig->options.rtol + ig->options.atol);
    char name[64];
    if (ig->count.accepted > 0 || !(r->g > limit || r->gv > limit))
        return false;
    snprintf(text, size,
             "the start misses constraint '%s'%s by %.3g: make it consistent (bg_state_assemble)",
             bg_system_get_name(ig->sys->system, 'g', r->worst_g, name, sizeof name),
             r->g > limit ? "" : " or another one in its velocities", r->g > limit ? r->g : r->gv);
    return true;
}

static bg_status give_up(bg_integrator *ig, bg_status why, double h_min, bool in_vain,
                         bg_error *err)
{
    char reason[BG_ERROR_LENGTH / 2] = "";
    if (err && why != BG_OK)
        snprintf(reason, sizeof reason, "%.480s; ", err->text);
    char cause[BG_ERROR_LENGTH / 2] = "";
    if (why == BG_NOT_FINITE || why == BG_SINGULAR) {
        if (why == BG_NOT_FINITE && ig->options.step > 0)
            snprintf(cause, sizeof cause, "; the fixed step may be unstable, try a smaller one");
        else if (why == BG_NOT_FINITE)
            bg_jumps_explain_end(ig, h_min, cause, sizeof cause);
        return bg_error_set(err, why, "%sthe last point reached is t = %.17g%s", reason, ig->x0->t,
                            cause);
    }
    if (ig->options.step > 0)
        return bg_error_set(
            err, BG_NOT_CONVERGED,
            "%sthe fixed step %g s from t = %.17g is too large%s; try a smaller one", reason,
            ig->options.step, ig->x0->t, ig->class_->cuts ? ", in short parts, too" : "");
    bg_trouble_search(ig);
    bool found = explain_start(ig, cause, sizeof cause) ||
                 bg_integrator_explain(ig, NULL, cause, sizeof cause);
    if (!found)
        guess_cause(ig, in_vain, cause, sizeof cause);
    return bg_error_set(err, BG_STEP_TOO_SMALL,
                        "%sat t = %.17g the step had to become smaller than %g s: %s", reason,
                        ig->x0->t, h_min, cause);
}

/* Makes one attempt over ig->h, from x0 to t1. */
static bg_status attempt(bg_integrator *ig, double t1, double *error, bg_error *err)
{
    if (!(t1 > ig->x0->t))
        return bg_error_set(err, BG_STEP_TOO_SMALL,
                            "a step of %g s does not advance the time t = %.17g; allow larger ones",
                            ig->h, ig->x0->t);
    ig->x1->t = t1;
    bg_dynamics_set_guess(ig->dyn, ig->x0->lambda);
    return (ig->leaping ? ig->class_->leap : ig->class_->attempt)(ig, error, err);
}

static void accept(bg_integrator *ig, double error, bool across)
{
    ig->stepped = true;
    ig->count.accepted++;
    ig->t_limit = ig->t_end;
    if (ig->class_->accept)
        ig->class_->accept(ig);
    bg_leaps_accept(ig);
    if (ig->options.step > 0)
        bg_control_accept_fixed(ig);
    else
        bg_control_accept(ig, error, across || ig->leaping);
    bg_rounding_accept(ig);
}

/* Steps that may not be as long as the shortest would hardly ever end. */
static bg_status check_longest(const bg_integrator *ig, double h_min, bg_error *err)
{
    double longest = ig->options.h_max;
    if (!(longest > 0 && longest < h_min) || ig->options.step > 0 || !isfinite(h_min) ||
        ig->t_end - ig->x0->t <= h_min)
        return BG_OK;
    return bg_error_set(err, BG_BAD_INPUT,
                        "steps of at most h_max = %g s are shorter than what rounding leaves of a "
                        "step at t = %.17g, %g s; allow longer ones",
                        longest, ig->x0->t, h_min);
}

/* Attempts from x0 until one is accepted. */
static bg_status make_step(bg_integrator *ig, bg_error *err)
{
    double h_min = bg_control_get_least(ig), h = ig->control.h_next;
    if (ig->class_->follows_lambda && ig->options.step == 0)
        h = bg_change_points_straddle(ig, h);
    bg_attempts a = {.shrunk = h};
    bg_status possible = check_longest(ig, h_min, err);
    if (possible != BG_OK)
        return possible;
    ig->leaping = ig->control.leaps.left > 0;
    for (;;) {
        double error = 0, t1;
        ig->h = bg_control_fit(ig, h, &t1);
        if (!(t1 > ig->x0->t) && ig->options.step == 0) /* shorter than time can tell */
            return give_up(ig, BG_OK, h_min, a.in_vain, err);
        bg_status st = attempt(ig, t1, &error, err);
        if (st < 0)
            return st;
        bool computed = st == BG_OK && isfinite(error);
        error *= bg_leaps_get_safety(ig, &a) / bg_rounding_get_scale(&ig->control.rounding);
        if (computed)
            bg_rounding_sift(ig, &error);
        bool good = computed &&
                    (error <= 1 || (a.doubted && bg_rounding_check_leap(ig, a.in_vain, &error)) ||
                     bg_rounding_check(ig, &error));
        if (good && ig->class_->complete) {
            st = ig->class_->complete(ig, err);
            if (st < 0)
                return st;
            good = computed = st == BG_OK;
        }
        if (good || (computed && ig->options.step > 0)) {
            accept(ig, error, a.across);
            return BG_OK;
        }
        const bool unconverged = st == BG_RETRY || st == BG_NOT_CONVERGED;
        ig->count.rejected++;
        ig->count.unconverged += unconverged;
        ig->control.last_rejected = true;
        if (computed || unconverged)
            bg_trouble_watch_rejection(ig, computed);
        const bool fixed = ig->options.step > 0;
        const bool cut = fixed && bg_control_cut(ig);
        h = fixed ? ig->control.h_next : bg_leaps_choose(ig, &a, computed, error);
        if (a.shrunk < h_min || (fixed && !cut))
            return give_up(ig, st, h_min, a.in_vain, err);
    }
}

bg_status bg_integrator_step(bg_integrator *ig, bg_error *err)
{
    bg_integrator_advance(ig);
    bg_status st = ig->unready ? begin(ig, ig->unready_for, err) : BG_OK;
    if (st != BG_OK)
        return st;
    ig->unready = false;
    if (!(ig->x0->t < ig->t_end))
        return bg_error_set(err, BG_BAD_INPUT, "the end at t = %.17g has been reached", ig->t_end);
    ig->control_before = ig->control;
    ig->work_error = NAN;
    st = make_step(ig, err);
    if (st != BG_OK && ig->options.step > 0) /* whoever tries again wants a whole step */
        ig->control = ig->control_before;
    return st;
}

void bg_integrator_prepare(bg_integrator *ig)
{
    bg_integrator_advance(ig);
    ig->h = bg_control_fit(ig, ig->control.h_next, &ig->x1->t);
    if (!ig->unready && ig->class_->prepare)
        ig->class_->prepare(ig);
}

void bg_integrator_undo(bg_integrator *ig, double t_limit)
{
    ig->stepped = false;
    ig->dense_ready = false;
    ig->count.accepted--;
    ig->count.rejected++;
    ig->control = ig->control_before;
    ig->t_limit = fmin(t_limit, ig->t_end);
}

int bg_integrator_get_plan(const bg_integrator *ig, bg_step_plan *plan)
{
    if (!ig->class_->plan || !ig->class_->plan(ig, plan))
        return 0;
    bool redundant = ig->selection && bg_selection_is_needed(ig);
    plan->terms += redundant; /* G, for the choice of rows */
    plan->exchange_terms = redundant ? BG_EXCHANGE_TERMS : 0;
    plan->exchange_factorisations = redundant ? BG_EXCHANGE_FACTORISATIONS : 0;
    plan->foresight_terms = plan->foresight_factorisations = 0;
    bool looks = bg_change_points_is_needed(ig);
    if (looks)
        bg_change_points_plan(ig, &plan->foresight_terms, &plan->foresight_factorisations);
    plan->search_terms = looks ? BG_LOOK_TERMS : 0;
    plan->search_factorisations = looks ? BG_LOOK_FACTORISATIONS : 0;
    return 1;
}

int bg_integrator_get_drift(const bg_integrator *ig, bg_drift *drift)
{
    return ig->class_->get_drift && ig->class_->get_drift(ig, drift);
}

void bg_integrator_describe(const bg_integrator *ig, char *text, size_t size)
{
    *text = '\0';
    if (ig->automatic)
        bg_automatic_describe(ig, text, size);
    else if (ig->class_->describe)
        ig->class_->describe(ig, text, size);
}

const bg_state *bg_integrator_get_state(const bg_integrator *ig)
{
    return ig->stepped ? ig->x1 : ig->x0;
}

double bg_integrator_get_step_start(const bg_integrator *ig)
{
    return ig->x0->t;
}

bg_residuals bg_integrator_get_residuals(const bg_integrator *integrator)
{
    bg_integrator *ig = (bg_integrator *)integrator; /* for what is found when it is asked for */
    bg_residuals *now = ig->stepped ? &ig->residuals1 : &ig->residuals0;
    bool *unmeasured = ig->stepped ? &ig->unmeasured1 : &ig->unmeasured0;
    if (*unmeasured && ig->class_->measure(ig, bg_integrator_get_state(ig), now) != BG_OK)
        *now = (bg_residuals){NAN, NAN, NAN, .worst_g = -1, .worst_redundant = -1};
    *unmeasured = false;
    return *now;
}

int bg_integrator_get_order(const bg_integrator *ig)
{
    return ig->order;
}

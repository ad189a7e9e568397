/* What all methods share: creation, the step loop with error control, undo, counters, checkpoints.
 *
 * PI control of the step (Hairer, Norsett and Wanner 1993, II.4): with the error e in units of the
 * tolerance and e_old that of the step before,
 *     h_new = h min(10, max(0.2, 0.9 e^(-alpha) e_old^(0.04))),  alpha = 1/order - 0.03
 * after a rejection without memory and without growth. An error that does not fall with the step is
 * rounding: as long as it is small beside the state it is accepted, what it came to is remembered,
 * and the run says that smaller tolerances are of no use. Rejections at different places make no
 * more than a suspicion; a quarter of the step from the same place decides. When steps become
 * short, the trouble may be a point that can be passed but not come near to, such as a singular
 * position of a mechanism: then leaps of the length steps had before are tried, under the same
 * error control, whose stages may straddle it. A leap keeps its stages on the constraints
 * (chart.c); it costs about three steps, so that a plain one is tried again after some leaps, and
 * leaps that were of no use are not tried again for some steps. */
#include "integrators/integrator.h"

#include "base/memory.h"
#include "base/text.h"
#include "consistent/projection.h"
#include "integrators/selection.h"
#include "integrators/trouble.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi_beta = 0.04;
enum { LEAP_AFTER = 5, LEAPS = 6, LEAPS_IN_A_ROW = 4, PAUSE_MAX = 64, RECENT = 40 };
static const double half_step = 0.5, short_step = 0.2, tiny_step = 0.1;
static const double across_limit = 0.1, cruise_memory = 0.9;
/* errors of leaps are estimated sharply, those of steps are mostly far smaller than their
 * estimates: at first leaps must be as good as those, then within the tolerance */
static const double leap_safety = 10;
static const double leaps[LEAPS] = {1.0, 1.31, 0.77, 1.73, 0.53, 2.3};
/* an error that falls by less than `stays` in a step of `clearly_shorter`, now or in the steps
 * before, may be rounding, if it is at most `small_error` of the state and no singular position is
 * the reason; it is, if a step of `probe` from the same place leaves `remains` of it (errors of
 * accelerations by rounding fall with h, those of a method with h^4 at least); what rounding came
 * to is forgotten slowly */
static const double clearly_shorter = 0.6, stays = 0.3, small_error = 1e-8, forget = 0.9;
static const double probe = 0.25, remains = 0.125;
static const double much_worse = 0.1; /* conditioned than at the start: a singular position */
static const double safety = 0.9, shrink_limit = 0.2, growth_limit = 10.0;

bg_integrator_options bg_default_integrator_options(void)
{
    return (bg_integrator_options){.rtol = 1e-6, .atol = 1e-6, .energy = 1};
}

/* No two lengths of steps may contradict each other; 0: not given. */
static bg_status check_pairs(const bg_integrator_options *o, bg_error *err)
{
    const struct {
        const char *small, *large;
        double least, most;
    } pairs[] = {{"h_min", "h_max", o->h_min, o->h_max},
                 {"h_min", "h_initial", o->h_min, o->h_initial},
                 {"h_initial", "h_max", o->h_initial, o->h_max},
                 {"h_min", "the fixed step", o->h_min, o->step},
                 {"the fixed step", "h_max", o->step, o->h_max}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].most > 0 && pairs[i].least > pairs[i].most)
            return bg_error_set(err, BG_BAD_INPUT,
                                "%s = %g s is larger than %s = %g s; change or leave out one of "
                                "them",
                                pairs[i].small, pairs[i].least, pairs[i].large, pairs[i].most);
    if (o->step > 0 && o->h_initial > 0 && o->h_initial != o->step)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the first step h_initial = %g s is not the fixed step = %g s; leave "
                            "out one of them",
                            o->h_initial, o->step);
    return BG_OK;
}

static bg_status check_options(const bg_integrator_options *o, bg_error *err)
{
    const struct {
        const char *name;
        double value;
        bool positive;
    } numbers[] = {{"rtol", o->rtol, true},    {"atol", o->atol, true},
                   {"step", o->step, false},   {"h_initial", o->h_initial, false},
                   {"h_min", o->h_min, false}, {"h_max", o->h_max, false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double x = numbers[i].value;
        if (!isfinite(x) || x < 0 || (numbers[i].positive && x == 0))
            return bg_error_set(err, BG_BAD_INPUT, "%s = %g is not usable; give a number %s 0",
                                numbers[i].name, x,
                                numbers[i].positive ? "greater than" : "of at least");
    }
    return check_pairs(o, err);
}

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

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *c = choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (strncmp(c, value, length) == 0 && (c[length] == '|' || c[length] == '\0'))
            return true;
    return false;
}

static bg_status check_settings(const bg_integrator_class *class_, const bg_integrator_options *o,
                                bg_error *err)
{
    const char *names[64];
    int n = class_->info.noptions;
    for (int i = 0; i < n; i++)
        names[i] = class_->info.options[i].name;
    for (int k = 0; k < o->nsettings; k++) {
        const bg_setting *s = &o->settings[k];
        int i = 0;
        while (i < n && strcmp(names[i], s->name) != 0)
            i++;
        if (i == n) {
            int nearest = bg_text_find_nearest(s->name, names, n);
            return bg_error_set(err, BG_BAD_INPUT, "integrator %s has no option '%s'; %s%s%s",
                                class_->info.name, s->name, nearest >= 0 ? "did you mean '" : "",
                                nearest >= 0 ? names[nearest] : "`bogie list` shows those it has",
                                nearest >= 0 ? "'?" : "");
        }
        const char *choices = class_->info.options[i].choices;
        double number;
        bool automatic = strcmp(class_->info.options[i].value, "auto") == 0 &&
                         strcmp(s->value, "auto") == 0;
        if (choices ? !is_choice(choices, s->value)
                    : !automatic && !bg_text_to_double(s->value, &number))
            return bg_error_set(err, BG_BAD_INPUT,
                                "option '%s' of integrator %s cannot be '%s'; it takes %s", s->name,
                                class_->info.name, s->value, choices ? choices : "a number");
    }
    return BG_OK;
}

const char *bg_integrator_get_option(const bg_integrator *ig, const char *name)
{
    for (int k = ig->options.nsettings - 1; k >= 0; k--)
        if (strcmp(ig->options.settings[k].name, name) == 0)
            return ig->options.settings[k].value;
    const bg_integrator_info *info = &ig->class_->info;
    for (int i = 0; i < info->noptions; i++)
        if (strcmp(info->options[i].name, name) == 0)
            return info->options[i].value;
    return "";
}

static bg_status allocate(bg_integrator *ig, bg_error *err)
{
    bg_status st = bg_dynamics_create(ig->sys, &ig->dyn, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys, &ig->x0, err);
    if (st == BG_OK)
        st = bg_state_create(ig->sys, &ig->x1, err);
    if (st == BG_OK && ig->dyn->ng > 0)
        st = bg_selection_create(ig->sys, &ig->selection, err);
    if (st != BG_OK)
        return st;
    ig->n = ig->dyn->nq + ig->dyn->nv + ig->dyn->nz + 1;
    ig->rate0 = BG_NEW_ARRAY(double, ig->n);
    ig->rate1 = BG_NEW_ARRAY(double, ig->n);
    ig->bubble = BG_NEW_ARRAY(double, ig->n);
    ig->work_n = BG_NEW_ARRAY(double, ig->n);
    if (!(ig->rate0 && ig->rate1 && ig->bubble && ig->work_n))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    st = bg_trouble_create(ig, err);
    return st == BG_OK ? ig->class_->create(ig, err) : st;
}

bg_status bg_integrator_create(const char *name, bg_system *sys,
                               const bg_integrator_options *options, bg_integrator **integrator,
                               bg_error *err)
{
    *integrator = NULL;
    const bg_integrator_class *class_;
    bg_status st = find_class(name, &class_, err);
    if (st == BG_OK)
        st = check_options(options, err);
    if (st == BG_OK)
        st = check_settings(class_, options, err);
    if (st == BG_OK && class_->info.fixed_steps && options->step == 0)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "integrator %s has fixed steps and no error control; give the step, for "
                          "example --step 1e-3",
                          name);
    if (st != BG_OK)
        return st;
    bg_integrator *ig = BG_NEW(bg_integrator);
    if (!ig)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s", name);
    ig->class_ = class_;
    ig->sys = sys;
    ig->options = *options;
    ig->energy = options->energy && sys->def.energy;
    ig->base = sys->count;
    st = allocate(ig, err);
    if (st != BG_OK) {
        bg_integrator_destroy(ig);
        return st;
    }
    *integrator = ig;
    return BG_OK;
}

void bg_integrator_destroy(bg_integrator *ig)
{
    if (!ig)
        return;
    ig->class_->destroy(ig);
    bg_selection_destroy(ig->selection);
    bg_dynamics_destroy(ig->dyn);
    bg_state_destroy(ig->x0);
    bg_state_destroy(ig->x1);
    free(ig->rate0);
    free(ig->rate1);
    free(ig->bubble);
    free(ig->work_n);
    bg_trouble_destroy(ig->trouble);
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
    return ig->energy ? bg_dynamics_calc_power(d, lambda, &rate[ig->n - 1], err) : BG_OK;
}

/* Rates, multipliers and residuals at x0; what the method remembers is forgotten. */
static bg_status begin(bg_integrator *ig, bg_error *err)
{
    ig->class_->reset(ig);
    unsigned extra = ig->dyn->ng > 0 ? BG_TERM_g | BG_TERM_gt : 0u;
    bg_state *x = ig->x0;
    bg_status st = bg_integrator_calc_rate(ig, x->t, x->q, extra, ig->rate0, x->lambda, err);
    if (st != BG_OK)
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    memcpy(x->a, ig->rate0 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals0 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

bg_status bg_integrator_start(bg_integrator *ig, const bg_state *state,
                              const bg_redundancy *redundancy, double t_end, bg_error *err)
{
    bg_dynamics_set_eliminated(ig->dyn, redundancy);
    bg_state_copy(ig->sys, state, ig->x0);
    bg_state_copy(ig->sys, state, ig->x1); /* modes travel with both */
    ig->stepped = false;
    ig->last_rejected = false;
    ig->dense_ready = false;
    ig->error_old = 1e-4;
    ig->t_end = ig->t_limit = t_end;
    ig->t_grid = ig->x0->t;
    ig->grid = 0;
    bg_status st = begin(ig, err);
    ig->unready = false;
    if (st != BG_OK)
        return st;
    ig->h_next = ig->options.step > 0 ? ig->options.step : ig->options.h_initial;
    ig->leap_wait = 1;
    ig->h_rejected = ig->noise = 0;
    if (ig->dyn->kkt && ig->dyn->ng > 0 && ig->options.step == 0 && ig->rcond == 0)
        ig->rcond = bg_kkt_calc_rcond(ig->dyn->kkt);
    ig->leap_pause = ig->leap_left = 0;
    ig->leapt = false;
    if (!(ig->h_next > 0))
        st = bg_initial_step_calc(ig, &ig->h_next, err);
    ig->h_cruise = ig->h_next;
    return st;
}

void bg_integrator_update_redundancy(const bg_integrator *ig, bg_redundancy *r)
{
    int n = 0;
    for (int i = 0; i < ig->dyn->ng && r->eliminated; i++)
        if (ig->dyn->eliminated[i])
            r->eliminated[n++] = i;
    r->count = n;
}

/* The end of the last step becomes the beginning of the next. */
static void advance(bg_integrator *ig)
{
    ig->dense_ready = false;
    if (!ig->stepped)
        return;
    bg_state *x = ig->x0;
    double *rate = ig->rate0;
    ig->x0 = ig->x1;
    ig->x1 = x;
    ig->rate0 = ig->rate1;
    ig->rate1 = rate;
    ig->residuals0 = ig->residuals1;
    ig->stepped = false;
    ig->grid = ig->whole ? ig->grid + 1 : 0;
    if (!ig->whole)
        ig->t_grid = ig->x0->t;
    bg_error ignored; /* the step that follows tries again, and tells */
    if (ig->selection && bg_selection_update(ig->selection, ig))
        ig->unready = begin(ig, &ignored) != BG_OK;
}

static double smallest_step(const bg_integrator *ig)
{
    double t = fmax(fabs(ig->x0->t), fabs(ig->t_end));
    return fmax(ig->options.h_min, 16 * DBL_EPSILON * t);
}

/* Length of the next attempt; avoids a tiny last step and ends exactly at the limit. */
static double fit_step(bg_integrator *ig, double h, double *t1)
{
    double t0 = ig->x0->t, limit = fmin(ig->t_end, ig->t_limit), remaining = limit - t0;
    if (ig->options.h_max > 0)
        h = fmin(h, ig->options.h_max);
    double slack = ig->options.step > 0 ? 1e-9 : 0.01;
    ig->whole = ig->options.step > 0 && h == ig->options.step && h * (1 + slack) < remaining;
    if (h * (1 + slack) >= remaining) {
        *t1 = limit;
        return remaining;
    }
    if (ig->options.step == 0 && 2 * h > remaining)
        h = 0.5 * remaining;
    *t1 = ig->whole ? ig->t_grid + (double)(ig->grid + 1) * h : t0 + h;
    return h;
}

/* alpha, for an estimate of size h^order: 0.17 at order 5. */
static double pi_alpha(const bg_integrator *ig)
{
    return 1.0 / ig->order - 0.75 * pi_beta;
}

static void control_step(bg_integrator *ig, double error)
{
    double factor = safety * pow(fmax(error, 1e-10), -pi_alpha(ig)) * pow(ig->error_old, pi_beta);
    factor = fmin(growth_limit, fmax(shrink_limit, factor));
    if (ig->last_rejected)
        factor = fmin(factor, 1.0);
    double proposed = ig->h * factor;
    /* a step that only an outer limit made short says nothing about the next one */
    bool cut = ig->h < 0.99 * ig->h_next;
    ig->h_next = cut && !ig->last_rejected ? fmax(proposed, fmin(ig->h_next, growth_limit * ig->h))
                                           : proposed;
    ig->error_old = fmax(error, 1e-4);
    ig->last_rejected = false;
}

static bg_status give_up(bg_integrator *ig, bg_status why, double h_min, bg_error *err)
{
    char reason[BG_ERROR_LENGTH / 2] = "";
    if (err && why != BG_OK)
        snprintf(reason, sizeof reason, "%.480s; ", err->text);
    if (why == BG_NOT_FINITE || why == BG_SINGULAR)
        return bg_error_set(err, why, "%sthe last point reached is t = %.17g%s", reason, ig->x0->t,
                            why == BG_NOT_FINITE && ig->options.step > 0
                                ? "; the fixed step may be unstable, try a smaller one"
                                : "");
    if (ig->options.step > 0)
        return bg_error_set(err, BG_NOT_CONVERGED,
                            "%sthe fixed step %g s from t = %.17g is too large; try a smaller one",
                            reason, ig->h, ig->x0->t);
    char cause[BG_ERROR_LENGTH / 2];
    bg_trouble_search(ig);
    bool found = bg_integrator_explain(ig, NULL, cause, sizeof cause);
    return bg_error_set(err, BG_STEP_TOO_SMALL,
                        "%sat t = %.17g the step had to become smaller than %g s: %s", reason,
                        ig->x0->t, h_min,
                        found ? cause
                              : "the solution may be singular there, or the tolerances may be too "
                                "tight");
}

/* Attempts of one step. */
typedef struct attempts {
    double shrunk;  /* s, what error control asks for */
    int rejections; /* in a row, without leaps */
    int leap;       /* lengths of leaps tried so far */
} attempts;

/* Largest |e| of the entries from `first` on, beside the largest of the state, or of what it
 * changes by in a step. */
static double calc_relative(const bg_integrator *ig, const double *e, int first, int n)
{
    double error = 0, size = 0;
    for (int i = first; i < first + n; i++) {
        error = fmax(error, fabs(e[i]));
        size = fmax(size, fmax(fabs(ig->x0->q[i]), fabs(ig->x1->q[i])));
        size = fmax(size, ig->h_cruise * fabs(ig->rate0[i]));
    }
    return error > 0 ? error / size : 0;
}

/* Whether x0 is near a singular position: the matrix is much worse conditioned than at the start.
 */
static bool is_singular(bg_integrator *ig)
{
    bg_dynamics *d = ig->dyn;
    const bg_state *x = ig->x0;
    if (d->ng == 0)
        return false;
    const bg_counters count = ig->sys->count; /* this is no work of the method */
    const long factorisations = d->factorisations;
    bg_status st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, BG_TERM_M | BG_TERM_G,
                                        NULL);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, NULL);
    double rcond = st == BG_OK ? bg_kkt_calc_rcond(d->kkt) : 0;
    ig->rcond = fmax(ig->rcond, rcond);
    ig->sys->count = count;
    d->factorisations = factorisations;
    return rcond < much_worse * ig->rcond;
}

/* Whether the error of a rejected attempt, whose entries are in work_n, may be that of rounding. */
static bool suspect_rounding(bg_integrator *ig, double error)
{
    if (ig->leaping || ig->options.step > 0)
        return false;
    bool shorter = ig->h_rejected > 0 && ig->h <= clearly_shorter * ig->h_rejected;
    bool same = shorter && error > stays * ig->error_rejected;
    if (shorter || ig->h > ig->h_rejected) {
        ig->h_rejected = ig->h;
        ig->error_rejected = error;
        ig->since_rejected = 0;
    }
    const bg_dynamics *d = ig->dyn;
    const double *e = ig->work_n;
    return same && calc_relative(ig, e, 0, d->nq) < small_error &&
           calc_relative(ig, e, d->nq, d->nv) < small_error &&
           calc_relative(ig, e, d->nq + d->nv, d->nz) < small_error &&
           (ig->leap_pause > 0 || !is_singular(ig)); /* else leaps may lead over the place */
}

/* Whether `error` of an attempt is rounding: then a shorter one, which this has made, may be
 * accepted. Otherwise all but x1 is as before. */
static bool is_rounding(bg_integrator *ig, double error)
{
    double h = ig->h, t1, shorter = 0, tangent = ig->error_tangent;
    bg_error ignored;
    if (!suspect_rounding(ig, error))
        return false;
    ig->h = fit_step(ig, probe * h, &t1);
    bool possible = ig->h < clearly_shorter * h && t1 > ig->x0->t;
    ig->x1->t = t1;
    if (possible && ig->class_->attempt(ig, &shorter, &ignored) == BG_OK &&
        shorter / fmax(1, ig->noise) > remains * error && isfinite(shorter))
        return true;
    ig->count.rejected += possible;
    ig->h = h;
    ig->error_tangent = tangent;
    return false;
}

/* Length and kind of the attempt after a rejection. Leaps begin when steps have become short
 * because of errors across the constraints, at once behind another leap, and whenever nothing else
 * helps. */
static double choose_next(bg_integrator *ig, attempts *a, bool computed, double error)
{
    double factor = computed ? fmax(shrink_limit, safety * pow(error, -pi_alpha(ig))) : 0.25;
    if (a->leap == 0)
        a->shrunk = ig->h * fmin(factor, 0.9);
    a->rejections++;
    bool across = computed && ig->error_tangent < across_limit * error;
    bool early = ig->leap_pause == 0 && !ig->leaping &&
                 a->shrunk <
                     (across ? ig->leapt ? half_step : short_step : tiny_step) * ig->h_cruise;
    bool trouble = early || a->leap > 0 || a->rejections >= LEAP_AFTER;
    ig->h_next = a->shrunk;
    if (!trouble || ig->options.step > 0 || ig->dyn->ng == 0)
        return a->shrunk;
    if (a->leap < 2 * LEAPS) {
        ig->last_rejected = ig->leaping;
        ig->leaping = true;
        return ig->h_next = ig->h_cruise * leaps[a->leap++ % LEAPS];
    }
    a->leap = a->rejections = 0; /* none of them led over: go on shrinking */
    ig->leap_wait = 2 * ig->leap_wait < PAUSE_MAX ? 2 * ig->leap_wait : PAUSE_MAX;
    ig->leap_pause = ig->leap_wait;
    ig->leap_left = 0;
    ig->leaping = false;
    return a->shrunk;
}

static void accept(bg_integrator *ig, double error)
{
    ig->stepped = true;
    ig->count.accepted++;
    ig->noise_most = fmax(ig->noise_most, ig->noise > 1 ? ig->noise : 0);
    ig->noise *= forget;
    if (ig->since_rejected > RECENT)
        ig->h_rejected = 0;
    else
        ig->since_rejected++;
    ig->t_limit = ig->t_end;
    ig->class_->accept(ig);
    ig->h_cruise = fmax(ig->h, cruise_memory * ig->h_cruise);
    ig->leap_pause -= ig->leap_pause > 0;
    if (ig->leaping) {
        ig->leap_left = ig->leap_left > 0 ? ig->leap_left - 1 : LEAPS_IN_A_ROW;
        ig->leap_wait = 1;
    }
    ig->leapt = ig->leaping;
    if (ig->options.step == 0)
        control_step(ig, error);
}

bg_status bg_integrator_step(bg_integrator *ig, bg_error *err)
{
    advance(ig);
    bg_status ready = ig->unready ? begin(ig, err) : BG_OK;
    if (ready != BG_OK)
        return ready;
    ig->unready = false;
    double h_min = smallest_step(ig), h = ig->h_next;
    attempts a = {.shrunk = h};
    ig->leaping = ig->leap_left > 0;
    if (!(ig->x0->t < ig->t_end))
        return bg_error_set(err, BG_BAD_INPUT, "the end at t = %.17g has been reached", ig->t_end);
    for (;;) {
        double error = 0, t1;
        ig->h = fit_step(ig, h, &t1);
        if (!(t1 > ig->x0->t))
            return bg_error_set(
                err, BG_STEP_TOO_SMALL,
                "a step of %g s does not advance the time t = %.17g; allow larger ones", ig->h,
                ig->x0->t);
        ig->x1->t = t1;
        bg_status st = ig->class_->attempt(ig, &error, err);
        if (st < 0 && st != BG_NOT_FINITE && st != BG_SINGULAR)
            return st;
        bool computed = st == BG_OK && isfinite(error);
        error *= (ig->leaping && a.leap <= LEAPS ? leap_safety : 1) / fmax(1, ig->noise);
        if (computed && error > 1 && is_rounding(ig, error)) {
            ig->noise = 2 * error * fmax(1, ig->noise);
            error = 0.5;
        }
        if (computed && (error <= 1 || ig->options.step > 0)) {
            accept(ig, error);
            return BG_OK;
        }
        ig->count.rejected++;
        ig->count.unconverged += st == BG_RETRY;
        ig->last_rejected = true;
        if (computed)
            bg_trouble_watch_rejection(ig);
        h = choose_next(ig, &a, computed, error);
        if (a.shrunk < h_min || ig->options.step > 0)
            return give_up(ig, st, h_min, err);
    }
}

void bg_integrator_prepare(bg_integrator *ig)
{
    advance(ig);
    ig->h = fit_step(ig, ig->h_next, &ig->x1->t);
    if (!ig->unready && ig->class_->prepare)
        ig->class_->prepare(ig);
}

void bg_integrator_undo(bg_integrator *ig, double t_limit)
{
    ig->stepped = false;
    ig->dense_ready = false;
    ig->count.accepted--;
    ig->count.rejected++;
    ig->t_limit = fmin(t_limit, ig->t_end);
}

int bg_integrator_get_plan(const bg_integrator *ig, bg_step_plan *plan)
{
    if (!ig->class_->plan)
        return 0;
    ig->class_->plan(ig, plan);
    bool redundant = ig->selection && bg_selection_is_needed(ig);
    plan->terms += redundant; /* G, for the choice of rows */
    plan->exchange_terms = redundant ? BG_EXCHANGE_TERMS : 0;
    plan->exchange_factorisations = redundant ? BG_EXCHANGE_FACTORISATIONS : 0;
    return 1;
}

int bg_integrator_get_drift(const bg_integrator *ig, bg_drift *drift)
{
    return ig->class_->get_drift && ig->class_->get_drift(ig, drift);
}

void bg_integrator_describe(const bg_integrator *ig, char *text, size_t size)
{
    *text = '\0';
    if (ig->class_->describe)
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

bg_residuals bg_integrator_get_residuals(const bg_integrator *ig)
{
    return ig->stepped ? ig->residuals1 : ig->residuals0;
}

int bg_integrator_get_order(const bg_integrator *ig)
{
    return ig->order;
}

bg_counters bg_integrator_get_counters(const bg_integrator *ig)
{
    bg_counters c = ig->count;
    const bg_counters *s = &ig->sys->count;
    c.terms += s->terms - ig->base.terms;
    c.explicit_ += s->explicit_ - ig->base.explicit_;
    c.residual += s->residual - ig->base.residual;
    c.jacobian += s->jacobian - ig->base.jacobian;
    c.jacobian_updates += s->jacobian_updates - ig->base.jacobian_updates;
    c.factorisations += ig->dyn->factorisations;
    c.projections += ig->dyn->projections[BG_FOR_STEPS];
    c.event_projections += ig->dyn->projections[BG_FOR_EVENTS];
    c.output_projections += ig->dyn->projections[BG_FOR_ROWS];
    return c;
}

static void archive_counters(bg_integrator *ig, bg_archive *archive)
{
    bg_counters now = bg_integrator_get_counters(ig);
    long *const all[] = {&now.accepted,          &now.rejected,           &now.terms,
                         &now.explicit_,         &now.residual,           &now.jacobian,
                         &now.jacobian_updates,  &now.factorisations,     &now.projections,
                         &now.event_projections, &now.output_projections, &now.unconverged};
    static_assert(sizeof all / sizeof *all == sizeof now / sizeof(long), "every counter");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bg_archive_counts(archive, all[i], 1);
    if (!archive->loading || archive->failed)
        return;
    ig->count = now;
    ig->base = ig->sys->count;
    ig->dyn->factorisations = 0;
    memset(ig->dyn->projections, 0, sizeof ig->dyn->projections);
}

static void archive_residuals(bg_residuals *r, int ng, bg_archive *archive)
{
    bg_archive_doubles(archive, &r->g, 1);
    bg_archive_doubles(archive, &r->gv, 1);
    bg_archive_doubles(archive, &r->ga, 1);
    bg_archive_whole(archive, &r->worst_g, 1, -1, ng - 1);
    bg_archive_doubles(archive, &r->redundant, 1);
    bg_archive_whole(archive, &r->worst_redundant, 1, -1, ng - 1);
}

void bg_integrator_archive(bg_integrator *ig, bg_archive *archive)
{
    if (!archive->loading)
        advance(ig);
    bg_state *x = ig->x0;
    const bg_system_def *def = &ig->sys->def;
    bg_archive_mark(archive, ig->class_->info.name);
    archive_counters(ig, archive);
    bg_archive_finite(archive, &x->t, 1);
    bg_archive_finite(archive, x->q, ig->n);
    bg_archive_doubles(archive, x->a, def->nv);
    bg_archive_doubles(archive, x->lambda, def->ng);
    bg_archive_ints(archive, x->mode, def->nmode);
    bg_archive_finite(archive, ig->rate0, ig->n);
    double numbers[] = {ig->h_cruise,   ig->h_next,     ig->error_old,      ig->t_end,
                        ig->t_limit,    ig->t_grid,     (double)ig->grid,   ig->noise,
                        ig->noise_most, ig->h_rejected, ig->error_rejected, ig->rcond};
    bg_archive_finite(archive, numbers, 12);
    bg_archive_whole(archive, &ig->since_rejected, 1, 0, RECENT + 1);
    if (!(numbers[0] >= 0 && numbers[1] >= 0 && fabs(numbers[6]) < 1e18))
        archive->failed = true;
    archive_residuals(&ig->residuals0, def->ng, archive);
    bg_archive_flags(archive, &ig->last_rejected, sizeof ig->last_rejected);
    bg_archive_flags(archive, &ig->leapt, sizeof ig->leapt);
    bg_archive_whole(archive, &ig->leap_left, 1, 0, LEAPS_IN_A_ROW);
    bg_archive_whole(archive, &ig->leap_pause, 1, 0, PAUSE_MAX);
    bg_archive_whole(archive, &ig->leap_wait, 1, 0, PAUSE_MAX);
    bg_archive_flags(archive, ig->dyn->eliminated, (size_t)def->ng);
    if (ig->dyn->kkt)
        bg_kkt_archive(ig->dyn->kkt, archive);
    ig->class_->archive(ig, archive);
    bg_trouble_archive(ig, archive);
    bg_archive_mark(archive, "end");
    if (!archive->loading || archive->failed)
        return;
    ig->h_cruise = numbers[0];
    ig->h_next = numbers[1];
    ig->error_old = numbers[2];
    ig->t_end = numbers[3];
    ig->t_limit = numbers[4];
    ig->t_grid = numbers[5];
    ig->grid = (long)numbers[6];
    ig->noise = numbers[7];
    ig->noise_most = numbers[8];
    ig->h_rejected = numbers[9];
    ig->error_rejected = numbers[10];
    ig->rcond = numbers[11];
    ig->stepped = ig->dense_ready = false;
    bg_state_copy(ig->sys, ig->x0, ig->x1);
    if (ig->dyn->kkt)
        bg_kkt_set_eliminated(ig->dyn->kkt, ig->dyn->eliminated);
}

/* The loop of a session: the run's, but that it stops in the middle of a step, behind the events up
 * to the present time, and goes on there.
 *
 * A step is `open` until it has been searched to its end. What the detector was before its last
 * search is kept: a search that found an instant behind the present time, or none, is made again
 * after the session was restored, or over what is left of a step that was given up. */
#include "run/session.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "integrators/trouble.h"
#include "linear/linearisation.h"
#include "run/driven.h"
#include "run/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An input from the present time on. */
typedef struct next_input {
    bool given;
    double value, rate;
} next_input;

struct bg_session {
    const bg_system *system;
    bg_run_options options;
    bg_run_report report;
    bg_runner r;
    bool boundless; /* the end moves on */
    bool started, ended;
    double t;            /* s, the present time */
    bool open;           /* the last step is not searched to its end */
    bool found;          /* the instant that the detector found is still ahead */
    bool searched;       /* something was searched in the last step: `before` is its detector */
    bool careful;        /* steps end at times asked for: inputs have changed at the last one */
    double t_limit;      /* s, of the last step */
    bg_counters count;   /* before it, ... */
    bg_trouble trouble;  /* ... and what was known of trouble */
    bg_archive before;   /* of the detector */
    next_input *next;    /* [nu] */
    double *u, *u_t;     /* [nu] inputs before others came */
    double *shift;       /* [nv] of coordinates, with a jump of inputs */
    double *y;           /* [ny] outputs at the present time */
    bg_state *at;        /* state there */
    bg_evaluator *aside; /* of the linearisation, made when it is first asked for */
    bg_linearisation *linearisation;
    bg_arena arena;
};

static void list(void *object, bg_arena *arena)
{
    bg_session *s = object;
    const bg_system_def *def = &s->system->def;
    BG_TAKE(arena, s->next, def->nu);
    BG_TAKE(arena, s->u, def->nu);
    BG_TAKE(arena, s->u_t, def->nu);
    BG_TAKE(arena, s->shift, def->jump ? def->nv : 0);
    BG_TAKE(arena, s->y, def->ny);
}

bg_status bg_session_create(const bg_system *system, const bg_run_options *options, bool open,
                            bg_session **session, bg_error *err)
{
    bg_session *s = *session = BG_NEW(bg_session);
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a run");
    s->system = system;
    s->options = *options;
    s->options.output_interval = s->options.output_steps = 0;
    s->options.checkpoint = s->options.resume = NULL;
    s->options.sink = (bg_sink){0};
    s->options.skip_comparison = 1;
    s->boundless = open;
    s->r = bg_runner_make(&s->options, &s->report);
    bg_status st = bg_arena_create(&s->arena, list, s)
                       ? bg_state_create(system, &s->at, err)
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for a run");
    if (st == BG_OK)
        st = bg_runner_create(&s->r, system, err);
    if (st == BG_OK) {
        s->t = s->r.t_start;
        return BG_OK;
    }
    bg_session_destroy(s);
    *session = NULL;
    return st;
}

void bg_session_destroy(bg_session *s)
{
    if (!s)
        return;
    bg_linearisation_destroy(s->linearisation);
    bg_evaluator_destroy(s->aside);
    bg_runner_clear(&s->r);
    bg_run_report_clear(&s->report);
    bg_archive_clear(&s->before);
    bg_state_destroy(s->at);
    bg_arena_clear(&s->arena);
    free(s);
}

static const bg_state *get_front(const bg_session *s)
{
    return bg_integrator_get_state(s->r.ig);
}

/* Times nearer than this are one: of fixed steps they are sums of them. */
static double get_grain(const bg_session *s)
{
    return 1e-9 * s->options.method.step;
}

/* State and outputs of the present time, which the last step has reached; where it has ended there,
 * they are those of its end. */
static bg_status measure(bg_session *s, bg_error *err)
{
    bg_integrator *ig = s->r.ig;
    const bg_state *x = get_front(s);
    const bg_purpose before = bg_system_turn_to(s->r.sys, BG_FOR_ROWS);
    bg_status st = BG_OK;
    if (fabs(x->t - s->t) <= get_grain(s) || x->t < s->t) {
        bg_state_copy(s->system, x, s->at);
    } else {
        st = bg_integrator_interpolate_state(ig, s->t, s->at, err);
        if (st == BG_RETRY || st == BG_SINGULAR) { /* a singular position */
            bg_integrator_interpolate_plain(ig, s->t, s->at);
            st = BG_OK;
        }
    }
    if (st == BG_OK)
        st = bg_runner_calc_outputs(&s->r, s->at, true, err);
    if (st == BG_OK)
        memcpy(s->y, s->r.y, (size_t)s->system->def.ny * sizeof *s->y);
    bg_system_turn_to(s->r.sys, before);
    return st == BG_RETRY ? BG_NOT_CONVERGED : st;
}

/* Steps do not run against the end of a session that has none. */
static void move_end(bg_session *s, double t)
{
    bg_runner *r = &s->r;
    const double ahead = fmax(t, get_front(s)->t);
    if (!s->boundless || ahead - r->t_start < 0.75 * (r->t_end - r->t_start))
        return;
    while (!(ahead - r->t_start < 0.75 * (r->t_end - r->t_start)))
        r->t_end = r->t_start + 2 * fmax(r->t_end - r->t_start, ahead - r->t_start);
    r->at.t_end = r->ig->t_end = r->ig->t_limit = r->t_end;
}

/* One step; `limit` is where it ends at the latest. */
static bg_status make_step(bg_session *s, double limit, bg_error *err)
{
    bg_integrator *ig = s->r.ig;
    bg_integrator_advance(ig);
    ig->t_limit = fmin(ig->t_limit, limit);
    s->t_limit = ig->t_limit;
    s->count = ig->count;
    s->trouble = *ig->trouble;
    s->searched = s->found = false;
    s->open = true;
    bg_status st = bg_runner_step(&s->r, err);
    if (st != BG_OK)
        s->open = false;
    return st;
}

/* The detector is what it was before its last search. */
static void forget_search(bg_session *s)
{
    if (s->searched) {
        bg_archive back = {.loading = true, .data = s->before.data, .size = s->before.size};
        bg_detector_archive(s->r.at.detector, &back);
    }
    s->searched = s->found = false;
}

/* The next instant of the open step; s->found: there is one. *again: the step was given up, and is
 * to be made shorter. */
static bg_status search(bg_session *s, bool *again, bg_error *err)
{
    bg_runner *r = &s->r;
    double t_retry;
    s->before.size = 0;
    bg_detector_archive(r->at.detector, &s->before);
    if (s->before.failed)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for events");
    s->searched = true;
    bg_status st = bg_detector_find(r->at.detector, &s->found, &t_retry, err);
    if (st == BG_RETRY) {
        bg_integrator_undo(r->ig, t_retry);
        s->open = s->searched = s->found = false;
        *again = true;
        return BG_OK;
    }
    return st;
}

/* Instants of the open step up to t. Afterwards it is open where it goes on behind t. */
static bg_status pass_instants(bg_session *s, double t, bg_error *err)
{
    bg_runner *r = &s->r;
    bool again = false, changed;
    while (r->at.detector) {
        bg_status st = s->found ? BG_OK : search(s, &again, err);
        if (st != BG_OK || again)
            return st;
        if (!s->found)
            break;
        if (r->at.detector->state->t > t)
            return BG_OK; /* still ahead */
        s->found = s->searched = false;
        st = bg_runner_write_to_event(r, err);
        if (st == BG_OK)
            st = bg_instant_pass(&r->at, &changed, &s->ended, err);
        if (st != BG_OK)
            return st;
        if (changed || s->ended) {
            s->open = false;
            bg_runner_update_certificate(r);
            return BG_OK;
        }
    }
    s->open = false;
    bg_runner_update_certificate(r);
    return bg_runner_check_redundant(r, err);
}

/* On to t with steps that end there at the latest where the limit says so. What an event that
 * failed leaves behind it is no part of the motion. */
static bg_status go_to(bg_session *s, double t, double limit, bg_error *err)
{
    bg_runner *r = &s->r;
    while (!s->ended) {
        bg_status st = BG_OK;
        if (s->open) {
            bg_system_turn_to(r->sys, BG_FOR_EVENTS);
            st = pass_instants(s, t, err);
            bg_system_turn_to(r->sys, BG_FOR_STEPS);
            if (st != BG_OK && r->ig->stepped)
                bg_integrator_undo(r->ig, r->t_end);
            if (s->open && st == BG_OK)
                return BG_OK;
        } else if (get_front(s)->t >= t - get_grain(s)) {
            return BG_OK;
        } else {
            st = make_step(s, limit, err);
        }
        if (st != BG_OK) {
            s->open = s->found = s->searched = false;
            return st;
        }
    }
    return BG_OK;
}

/* The last step ends at the present time, where it went on behind it. */
static bg_status give_up_rest(bg_session *s, bg_error *err)
{
    bg_integrator *ig = s->r.ig;
    if (get_front(s)->t <= s->t + get_grain(s))
        return BG_OK;
    bg_integrator_undo(ig, s->t);
    forget_search(s);
    s->open = false;
    return s->t - ig->x0->t <= get_grain(s) ? BG_OK : go_to(s, s->t, s->t, err);
}

/* Whether inputs from the present time on are others than they would be. */
static bool are_new(const bg_session *s)
{
    for (int i = 0; i < s->system->def.nu; i++) {
        const bg_live_input *now = &s->r.sys->outside[i];
        const next_input *next = &s->next[i];
        if (next->given && (!now->live || next->rate != now->rate ||
                            next->value != now->value + now->rate * (s->t - now->since)))
            return true;
    }
    return false;
}

static void set_live(bg_session *s)
{
    for (int i = 0; i < s->system->def.nu; i++)
        if (s->next[i].given) {
            bg_system_set_live(s->r.sys, i, s->t, s->next[i].value, s->next[i].rate);
            s->next[i].given = false;
        }
}

/* What bodies follow jumps with its inputs: a state that fits them. */
static bg_status follow(bg_session *s, bg_error *err)
{
    bg_runner *r = &s->r;
    const bg_system_def *def = &s->system->def;
    bg_dynamics *d = r->ig->dyn;
    const bg_state *x = get_front(s);
    const size_t size = (size_t)def->nu * sizeof(double);
    bg_point p;
    bg_status st = bg_system_set_state(r->sys, x, &p, err);
    if (st != BG_OK)
        return st;
    memcpy(s->u, r->sys->u, size);
    memcpy(s->u_t, r->sys->u_t, size);
    set_live(s);
    bg_state_copy(s->system, x, r->at.state);
    st = bg_system_set_state(r->sys, x, &p, err);
    if (st == BG_OK && def->jump)
        st = bg_driven_jump(r->sys, d, &p, s->u, s->u_t, s->shift, r->at.state, err);
    if (st == BG_OK && def->ng > 0)
        st = bg_project_state(d, r->at.state, err);
    bg_integrator_update_redundancy(r->ig, &s->report.assembly.redundancy);
    return st == BG_OK ? bg_instant_restart(&r->at, BG_RESTART_STATE, err) : st;
}

static bg_status take_inputs(bg_session *s, bg_error *err)
{
    const bg_system_def *def = &s->system->def;
    s->careful = are_new(s);
    if (!s->careful)
        return BG_OK;
    bg_status st = give_up_rest(s, err);
    if (st != BG_OK || s->ended)
        return st;
    if (def->jump || (def->ng > 0 && !def->scleronomic)) {
        st = follow(s, err);
        return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
    }
    set_live(s);
    bg_integrator_take_inputs(s->r.ig);
    return BG_OK;
}

void bg_session_set_input(bg_session *s, int i, double value, double rate)
{
    s->next[i] = (next_input){true, value, rate};
}

bg_status bg_session_start(bg_session *s, bg_error *err)
{
    set_live(s);
    bg_status st = bg_runner_begin(&s->r, err);
    if (st == BG_OK)
        st = bg_start_pass_events(&s->r.at, &s->ended, err);
    if (st == BG_OK)
        st = measure(s, err);
    s->started = st == BG_OK;
    return st;
}

bg_status bg_session_advance(bg_session *s, double t, bool *ended, bg_error *err)
{
    bg_error own;
    s->report.nevents = 0; /* those before have been told */
    bg_status st = take_inputs(s, err);
    if (st == BG_OK && !s->ended) {
        move_end(s, t);
        st = go_to(s, t, s->careful ? t : HUGE_VAL, err);
    }
    const double front = get_front(s)->t;
    s->t = st == BG_OK && !s->ended ? t : fmax(s->t, front);
    bg_status measured = measure(s, st == BG_OK ? err : &own);
    *ended = s->ended;
    return st == BG_OK ? measured : st;
}

double bg_session_get_time(const bg_session *s)
{
    return s->t;
}

const double *bg_session_get_outputs(const bg_session *s)
{
    return s->y;
}

const bg_state *bg_session_get_state(const bg_session *s)
{
    return s->at;
}

double bg_session_get_input(bg_session *s, int i)
{
    bg_point p;
    bg_error ignored;
    return bg_system_set_state(s->r.sys, s->at, &p, &ignored) == BG_OK ? p.u[i] : NAN;
}

const bg_run_report *bg_session_get_report(const bg_session *s)
{
    return &s->report;
}

bg_counters bg_session_get_counters(const bg_session *s)
{
    return bg_integrator_get_counters(s->r.ig);
}

long bg_session_get_events(const bg_session *s, const bg_event **events)
{
    *events = s->report.events;
    return s->report.nevents;
}

bool bg_session_is_exact(const bg_system *system)
{
    return bg_linearisation_is_exact(&system->def, BG_BY_COUNT);
}

bg_status bg_session_calc_sensitivity(bg_session *s, const double *du, double *dy, bool *moves,
                                      bg_error *err)
{
    const bg_system_def *def = &s->system->def;
    bg_status st = BG_OK;
    if (!s->aside)
        st = bg_evaluator_create(s->system, &s->aside, err);
    if (st == BG_OK && !s->linearisation)
        st = bg_linearisation_create(s->aside, &s->linearisation, err);
    for (int i = 0; i < def->nu && st == BG_OK; i++) {
        const bg_live_input *u = &s->r.sys->outside[i];
        if (u->live)
            bg_system_set_live(s->aside, i, u->since, u->value, u->rate);
    }
    bg_redundancy *redundancy = &s->report.assembly.redundancy;
    bg_integrator_update_redundancy(s->r.ig, redundancy);
    if (st == BG_OK)
        st = bg_linearisation_update(s->linearisation, s->at, redundancy, err);
    if (st == BG_OK)
        st = bg_linearisation_calc_jump(s->linearisation, du, dy, moves, err);
    for (int k = 0; k < def->nfilters && st == BG_OK; k++)
        dy[def->filters[k].y] = 0; /* which follow what they filter later */
    return st;
}

/* The session's own part. */
static void archive_place(bg_session *s, bg_archive *a)
{
    const bg_system_def *def = &s->system->def;
    bg_runner *r = &s->r;
    bg_state *x = s->at;
    bg_archive_mark(a, "session");
    bg_archive_finite(a, &s->t, 1);
    bg_archive_finite(a, &s->t_limit, 1);
    bg_archive_flags(a, &s->ended, sizeof s->ended);
    bg_archive_flags(a, &s->careful, sizeof s->careful);
    bg_archive_doubles(a, s->y, def->ny);
    bg_archive_finite(a, &x->t, 1);
    bg_archive_doubles(a, x->q, def->nq + def->nv + def->nz + 1);
    bg_archive_doubles(a, x->a, def->nv);
    bg_archive_doubles(a, x->lambda, def->ng);
    bg_archive_ints(a, x->mode, def->nmode);
    bg_archive_finite(a, &r->t_end, 1);
    for (int i = 0; i < def->nu; i++) {
        bg_live_input u = r->sys->outside[i];
        bg_archive_flags(a, &u.live, sizeof u.live);
        bg_archive_doubles(a, &u.since, 1);
        bg_archive_doubles(a, &u.value, 1);
        bg_archive_doubles(a, &u.rate, 1);
        if (a->loading && !a->failed && u.live)
            bg_system_set_live(r->sys, i, u.since, u.value, u.rate);
        bg_archive_flags(a, &s->next[i].given, sizeof s->next[i].given);
        bg_archive_doubles(a, &s->next[i].value, 1);
        bg_archive_doubles(a, &s->next[i].rate, 1);
    }
}

bg_status bg_session_archive(bg_session *s, bg_archive *a, bg_error *err)
{
    bg_runner *r = &s->r;
    bg_integrator *ig = r->ig;
    /* inside of a step: its beginning is saved, from which it is made again */
    bool inside = !a->loading && ig->stepped && (s->open || ig->x1->t > s->t + get_grain(s));
    if (inside) {
        forget_search(s);
        bg_integrator_undo(ig, s->t_limit);
        ig->count = s->count;
        *ig->trouble = s->trouble;
    }
    bg_archive_flags(a, &inside, sizeof inside);
    archive_place(s, a);
    if (a->loading && !a->failed)
        r->at.t_end = r->t_end;
    bg_status st = bg_checkpoint_archive(r, a, err);
    if (st == BG_OK && a->failed)
        st = a->out_of_memory || !a->loading
                 ? bg_error_set(err, BG_NO_MEMORY, "out of memory for a state")
                 : bg_error_set(err, BG_BAD_INPUT, "the state is damaged, or of another version");
    if (a->loading)
        s->started = st == BG_OK;
    if (!inside || (st != BG_OK && a->loading))
        return st;
    bg_error ignored;
    const bg_status again = make_step(s, s->t_limit, a->loading ? err : &ignored);
    return st == BG_OK ? again : st;
}

/* Equilibrium by Newton's method on the constraints, else by dynamic relaxation.
 *
 * Each correction is a step of rest.c, at most a fifth of the sizes of the coordinates, after which
 * the position is projected onto the constraints and the rates that are kept are completed. A step
 * is halved while the force along it turns round by more than half and the accelerations do not get
 * smaller. Contacts need nothing else: their laws are what they are at the position.
 *
 * Where that does not converge, x' = F leads from the start to where a heavily damped system comes
 * to rest, by the linearly implicit Euler method, whose step grows as the force falls (pseudo-
 * transient continuation); Newton's method ends it. So a body sinks onto the ground below it. Where
 * rates are kept or looked for, the motion itself leads on likewise, damped by the method, with
 * longer and longer steps: so a train finds its place in a curve.
 *
 * An equilibrium at rest whose linearisation grows is left along the mode that grows, twice at
 * most; it is reported where there is no other way. */
#include "linear/equilibrium.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "linear/rest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEWTON_STEPS = 60,
    CAREFUL_STEPS = 30,
    RELAXATION_STEPS = 200,
    MARCH_STEPS = 400,
    HALVINGS = 6,
    ESCAPES = 2,
    STALL = 5
};

static const double converged = 1e-12; /* steps in sizes */
static const double roundoff = 1e-8;   /* of steps that get no smaller */
static const double noise = 1e-6;      /* of those that have not for so many: */
static const double longest = 0.2;     /* step in sizes */
static const double nothing = 1e-6;    /* 1/s^2, of accelerations beside sizes */
static const double steady = 0.1;      /* 1/s, of rates that count as constant all the same */
static const double push = 0.05;       /* away from an unstable equilibrium, in sizes */
static const double far = 100;         /* sizes; nothing is found beyond */

typedef struct equilibrium_search {
    bg_evaluator *sys;
    bg_linearisation *lin;
    bg_rest *rest;
    bg_tangent *tangent; /* at trial positions */
    bg_state *x, *trial; /* present, and tried */
    bg_state *begin;     /* where relaxation begins */
    double *way;         /* [nv] from the start to x, all steps together */
    bool stands, stood;  /* all contacts push; did so once */
    bool spins;          /* rates of cyclic directions are kept and looked for */
    int pushed;          /* a coordinate that nothing holds, at an equilibrium of the others, */
    double push_size;    /* and its acceleration; 0: there was none */
    bool downhill;       /* away from what is unstable */
    bg_terms terms;      /* G and g_t there */
    double *rhs, *dv;    /* [ng], [nv] */
    const bg_redundancy *redundancy;
    bg_equilibrium_report *report;
    bg_arena arena;
} equilibrium_search;

static void list(void *object, bg_arena *arena)
{
    equilibrium_search *s = object;
    bg_terms_take(s->sys->system, false, &s->terms, arena);
    BG_TAKE(arena, s->rhs, s->sys->def.ng);
    BG_TAKE(arena, s->dv, s->sys->def.nv);
    BG_TAKE(arena, s->way, s->sys->def.nv);
}

static void clear(equilibrium_search *s)
{
    bg_tangent_destroy(s->tangent);
    bg_rest_destroy(s->rest);
    bg_linearisation_destroy(s->lin);
    bg_state_destroy(s->x);
    bg_state_destroy(s->trial);
    bg_state_destroy(s->begin);
    bg_arena_clear(&s->arena);
}

static bg_status create(equilibrium_search *s, bg_error *err)
{
    const bg_system *system = s->sys->system;
    if (!bg_arena_create(&s->arena, list, s))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the equilibrium of '%s'",
                            system->def.name);
    bg_status st = bg_state_create(system, &s->x, err);
    if (st == BG_OK)
        st = bg_state_create(system, &s->trial, err);
    if (st == BG_OK)
        st = bg_state_create(system, &s->begin, err);
    if (st == BG_OK)
        st = bg_linearisation_create(s->sys, &s->lin, err);
    if (st == BG_OK)
        s->lin->of_forces = true; /* steps do not depend on which coordinates are independent */
    if (st == BG_OK)
        st = bg_rest_create(s->lin, s->redundancy, &s->rest, err);
    return st == BG_OK ? bg_tangent_create(system, &s->tangent, err) : st;
}

/* v of x completed: independent ones as they are, the others by G v = -g_t, as a correction of what
 * they are, so that rounding is that of the correction. */
static bg_status complete_velocity(equilibrium_search *s, bg_state *x, bg_error *err)
{
    const bg_system_def *def = &s->sys->def;
    bg_point p;
    if (def->ng == 0)
        return BG_OK;
    bg_status st = bg_system_set_state(s->sys, x, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(s->sys, &p, BG_TERM_G | BG_TERM_gt, &s->terms, err);
    bool moves = false;
    for (int i = 0; i < def->nv; i++)
        moves = moves || x->v[i] != 0;
    for (int i = 0; i < def->ng && st == BG_OK; i++)
        moves = moves || s->terms.gt[i] != 0;
    if (st != BG_OK || !moves)
        return st;
    bg_matrix_multiply(def->ng, def->nv, def->pattern_G, s->terms.G, x->v, s->rhs);
    for (int i = 0; i < def->ng; i++)
        s->rhs[i] = -s->rhs[i] - s->terms.gt[i];
    st = bg_tangent_update(s->tangent, s->terms.G, s->lin->dyn->eliminated, err);
    if (st != BG_OK)
        return st;
    bg_tangent_expand(s->tangent, NULL, s->rhs, s->dv);
    for (int i = 0; i < def->nv; i++)
        x->v[i] += s->dv[i];
    return BG_OK;
}

/* motion [3 nu] <- (u', u'', u''') of all inputs as they move at x->t; the last by differences.
 * *moves: one of them is not zero. */
static bg_status calc_motion(equilibrium_search *s, double *motion, bool *moves, bg_error *err)
{
    static const double step = 0x1p-10; /* s; the error falls with its fourth power */
    static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12};
    bg_evaluator *e = s->sys;
    int nu = s->lin->nu;
    double *last = motion + 2 * nu;
    bg_status st = BG_OK;
    memset(last, 0, (size_t)nu * sizeof *last);
    for (int k = 0; k < 4 && st == BG_OK; k++) {
        double t = s->x->t + (k < 2 ? k - 2 : k - 1) * step;
        st = bg_system_calc_inputs(e, t, s->x->mode, e->u, e->u_t, e->u_tt, err);
        for (int i = 0; i < nu && st == BG_OK; i++)
            last[i] += weight[k] / step * e->u_tt[i];
    }
    if (st == BG_OK)
        st = bg_system_calc_inputs(e, s->x->t, s->x->mode, e->u, motion, motion + nu, err);
    *moves = false;
    for (int i = 0; i < 2 * nu && st == BG_OK; i++)
        *moves = *moves || motion[i] != 0;
    return st;
}

/* Inputs whose motion is not steady hold: their values, or, where only their rates matter, their
 * rates. *driven: such a rate is not zero. */
static bg_status hold_inputs(equilibrium_search *s, const double *motion, bool *driven,
                             bg_error *err)
{
    const bg_linearisation *l = s->lin;
    int nu = l->nu, nx = l->nx;
    double *B = BG_NEW_ARRAY(double, (size_t)nx * 3 * (size_t)nu);
    bg_status st = B ? bg_linearisation_calc(s->lin, NULL, B, NULL, NULL, err)
                     : bg_error_set(err, BG_NO_MEMORY, "out of memory for an equilibrium");
    if (st == BG_OK)
        st = bg_system_calc_inputs(s->sys, s->x->t, s->x->mode, s->sys->u, s->sys->u_t,
                                   s->sys->u_tt, err);
    for (int i = 0; i < nu && st == BG_OK; i++) {
        double size = 0, by_u = 0, rate = motion[i];
        for (int k = 0; k < nx; k++) {
            by_u = fmax(by_u, fabs(B[k * 3 * nu + i]));
            for (int d = 1; d < 3; d++)
                size = fmax(size, fabs(B[k * 3 * nu + d * nu + i]));
        }
        bool cyclic = size > 0 && by_u <= 1e-9 * size * fmax(1, fabs(rate));
        bg_system_set_live(s->sys, i, s->x->t, s->sys->u[i], cyclic ? rate : 0);
        *driven = *driven || (cyclic && rate != 0);
        if (!cyclic && rate != 0 && fmax(by_u, size) > 0 && s->report->held < 0)
            s->report->held = i;
    }
    free(B);
    return st;
}

/* What goes on: inputs, where nothing changes with them, and rates along cyclic directions. */
static bg_status find_motion(equilibrium_search *s, bg_error *err)
{
    bool moves = false, same = false;
    int nu = s->lin->nu;
    double *motion = BG_NEW_ARRAY(double, 3 * nu);
    bg_status st = motion ? calc_motion(s, motion, &moves, err)
                          : bg_error_set(err, BG_NO_MEMORY, "out of memory for an equilibrium");
    if (st == BG_OK)
        st = bg_rest_find_cyclic(s->rest, moves ? motion : NULL, &same, err);
    bool driven = moves && same;
    if (st == BG_OK && nu > 0 && !driven) {
        st = hold_inputs(s, motion, &driven, err);
        if (st == BG_OK && moves) { /* with other rates of the inputs */
            st = complete_velocity(s, s->x, err);
            if (st == BG_OK)
                st = bg_linearisation_update(s->lin, s->x, s->redundancy, err);
            if (st == BG_OK)
                st = bg_rest_find_cyclic(s->rest, NULL, &same, err);
        }
    }
    if (st == BG_OK)
        bg_rest_keep_rates(s->rest, driven, s->x, &s->report->dropped);
    free(motion);
    return st == BG_OK ? complete_velocity(s, s->x, err) : st;
}

/* The trial state: x moved by `part` of the step, back on the constraints, with its accelerations.
 */
static bg_status try_step(equilibrium_search *s, double part, bg_error *err)
{
    const bg_rest *r = s->rest;
    bg_dynamics *d = s->lin->dyn;
    bg_state *to = s->trial;
    bg_state_copy(s->sys->system, s->x, to);
    bg_system_move(s->sys, s->x->q, s->lin->terms.V, part, r->delta, to->q);
    for (int i = 0; i < r->nv; i++)
        to->v[i] += part * r->dv[i];
    for (int i = 0; i < r->nz; i++)
        to->z[i] += part * r->dz[i];
    bg_status st = BG_OK;
    if (d->ng > 0) { /* factored anew: the matrix may be that of another trial */
        st = bg_dynamics_evaluate(d, to->t, to->q, to->v, to->z, to->mode, BG_TERM_MASS | BG_TERM_G,
                                  err);
        if (st == BG_OK)
            st = bg_dynamics_factor(d, NULL, err);
        if (st == BG_OK)
            st = bg_project_position(d, to->t, to->q, to->v, to->z, to->mode, NULL, err);
        if (st == BG_OK)
            st = complete_velocity(s, to, err);
    }
    bg_dynamics_set_guess(d, s->lin->at->lambda);
    if (st == BG_OK)
        st = bg_dynamics_accelerate(d, to->t, to->q, to->v, to->z, to->mode, 0, to->a, to->lambda,
                                    err);
    return st;
}

/* Whether a switching function is that of a contact, which opens as it falls: a tyre, or a contact
 * of force elements, by what the definition says of it. */
static bool is_contact(const bg_system_def *def, int i)
{
    const char *text = def->s_falls ? def->s_falls[i] : NULL;
    return text && (strstr(text, " lifts off") || strstr(text, " opens"));
}

/* Remembers which contacts lift off first when all have pushed at once. */
static bg_status note_contacts(equilibrium_search *s, bg_error *err)
{
    const bg_system_def *def = &s->sys->def;
    char *text = s->report->lifted;
    const size_t size = sizeof s->report->lifted;
    int open = 0;
    bg_point p;
    if (def->nmode == 0)
        return BG_OK;
    bg_status st = bg_system_set_state(s->sys, s->x, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(s->sys, &p, BG_TERM_s, &s->terms, err);
    for (int i = 0; i < def->ns && st == BG_OK; i++)
        open += is_contact(def, i) && s->terms.s[i] <= 0;
    s->stands = open == 0;
    s->stood = s->stood || s->stands;
    const bool list = s->stood && !text[0];
    size_t used = 0;
    for (int i = 0; i < def->ns && st == BG_OK && list && used < size; i++)
        if (is_contact(def, i) && s->terms.s[i] <= 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     def->s_falls[i]);
    return st;
}

/* Goes along the step as far as is good. BG_RETRY: nowhere. */
static bg_status go(equilibrium_search *s, bool search_line, bg_error *err)
{
    bg_rest *r = s->rest;
    double part = r->size > longest ? longest / r->size : 1;
    double first = bg_rest_calc_push(r, s->lin->at->a),
           force = bg_linearisation_calc_size(s->lin, s->lin->at->a);
    bg_status st = BG_RETRY;
    for (int k = 0; k <= HALVINGS; k++, part /= 2) {
        st = try_step(s, part, err);
        if (st < 0)
            return st;
        bool good = st == BG_OK && (!search_line || k == HALVINGS || r->size < 1e-6 ||
                                    bg_linearisation_calc_size(s->lin, s->trial->a) < force ||
                                    bg_rest_calc_push(r, s->trial->a) >= -0.5 * fabs(first));
        if (good)
            break;
    }
    if (st != BG_OK)
        return BG_RETRY;
    bg_state_copy(s->sys->system, s->trial, s->x);
    for (int i = 0; i < r->nv; i++)
        s->way[i] += part * r->delta[i];
    s->report->steps++;
    st = note_contacts(s, err);
    return st == BG_OK ? bg_rest_update(r, s->x, err) : st;
}

/* Remembers what pushes along a direction that nothing resists, or changes a rate that is kept
 * faster than it could count as constant, where this is most of what is left. The last word counts:
 * what falls at first may stand on a slope when it has landed. */
static void note_push(equilibrium_search *s)
{
    const bg_rest *r = s->rest;
    bool hurries = r->decay > steady && r->drift > r->unresolved;
    double left = hurries ? r->drift : r->unresolved;
    if (left <= nothing || left < 0.3 * r->force)
        return;
    s->pushed = hurries ? r->worst : r->pushed;
    s->push_size = left * s->lin->tangent->unit[s->pushed];
}

/* Newton's method from x. *done: it has converged, to where nothing is left but what is free.
 * *ended: it has converged, and nothing better is there to be found. */
static bg_status iterate(equilibrium_search *s, int most, bool *done, bool *ended, bg_error *err)
{
    bg_rest *r = s->rest;
    double before[STALL] = {HUGE_VAL}; /* sizes of the last steps, the last one first */
    bg_status st = BG_OK;
    *done = *ended = false;
    for (int k = 0; k < most && !*ended && st == BG_OK; k++) {
        st = bg_rest_calc_step(r, s->downhill && k < NEWTON_STEPS, err);
        if (st != BG_OK)
            return st;
        *ended = r->size <= converged || (r->size <= roundoff && r->size >= 0.3 * before[0]) ||
                 (r->size <= noise && k >= STALL && r->size >= 0.5 * before[STALL - 1]);
        memmove(before + 1, before, sizeof before - sizeof *before);
        before[0] = r->size;
        if (!*ended)
            st = go(s, true, err);
    }
    if (*ended) {
        s->report->drift = r->drift;
        s->report->worst = r->worst;
        s->report->change = s->lin->at->a[r->worst];
        *done = r->unresolved <= nothing && (r->decay <= steady || r->drift <= nothing);
    }
    if (!*done)
        note_push(s);
    return st == BG_RETRY ? BG_OK : st;
}

/* x' = F from `begin`, until Newton's method can take over. */
static bg_status relax(equilibrium_search *s, bool *done, bg_error *err)
{
    bg_rest *r = s->rest;
    double h = 1e-2, way = 0;
    bool ended;
    bg_state_copy(s->sys->system, s->begin, s->x);
    bg_status st = bg_rest_update(r, s->x, err);
    *done = false;
    for (int k = 0; k < RELAXATION_STEPS && st == BG_OK && way < far; k++) {
        double force = r->force;
        st = bg_rest_calc_flow(r, h, err);
        if (st == BG_OK)
            st = go(s, false, err);
        if (st == BG_RETRY) {
            h /= 8;
            st = h > 1e-12 ? BG_OK : BG_NOT_CONVERGED;
            continue;
        }
        way += fmin(r->size, longest);
        s->report->relaxations++;
        h *= r->force > 0 ? fmin(2, fmax(0.3, force / r->force)) : 2;
        if (st == BG_OK && (k % 50 == 49 || h > 100 || r->force <= nothing)) {
            st = iterate(s, NEWTON_STEPS / 2, done, &ended, err);
            if (*done)
                return st;
            h = 1e-2;
        }
    }
    if (st == BG_OK) { /* where it goes on sinking: by the derivatives as they are */
        bool downhill = s->downhill;
        s->downhill = false;
        st = iterate(s, CAREFUL_STEPS, done, &ended, err);
        s->downhill = downhill;
    }
    return st > 0 ? BG_OK : st;
}

/* The motion itself from `begin`, by long steps that damp it, until Newton's method can take over:
 * the step is what moves coordinates by a few hundredths of their sizes, and grows without end
 * where the motion becomes steady. */
static bg_status march(equilibrium_search *s, bool *done, bg_error *err)
{
    bg_rest *r = s->rest;
    double h = 1e-3;
    bool ended;
    bg_state_copy(s->sys->system, s->begin, s->x);
    bg_status st = bg_rest_update(r, s->x, err);
    *done = false;
    for (int k = 0; k < MARCH_STEPS && st == BG_OK && h > 1e-9; k++) {
        st = bg_rest_calc_march(r, h, err);
        bool far_ = st == BG_OK && r->size > longest / 4;
        double size = r->size;
        if (st == BG_OK && !far_)
            st = go(s, false, err);
        if (st == BG_RETRY || far_) {
            h /= 4;
            st = BG_OK;
            continue;
        }
        s->report->relaxations++;
        h *= size > 0 ? fmin(2, fmax(0.5, 0.02 / size)) : 2;
        if (st == BG_OK && h > 1e3)
            return iterate(s, NEWTON_STEPS, done, &ended, err);
    }
    return st > 0 ? BG_OK : st;
}

/* The mode that grows fastest without swinging; NULL: there is none. What grows no faster than the
 * rates drift is this drift. */
static const bg_mode *find_way_out(const bg_modes *m, double decay)
{
    const bg_mode *worst = NULL;
    for (int k = 0; k < m->count; k++)
        if (m->mode[k].im == 0 && m->mode[k].re > (worst ? worst->re : fmax(1e-6, decay)))
            worst = &m->mode[k];
    return worst;
}

static int count_growing(const bg_modes *m, double decay)
{
    int count = m->unstable;
    for (int k = 0; k < m->count; k++)
        count -= m->mode[k].im == 0 && m->mode[k].re > 0 && m->mode[k].re <= decay;
    return count > 0 ? count : 0;
}

/* A little along a mode, less where constraints cannot follow, and downhill from there. *left: x
 * has been. */
static bg_status escape(equilibrium_search *s, const bg_mode *mode, bool *left, bg_error *err)
{
    bg_rest *r = s->rest;
    bg_status st = BG_RETRY;
    for (int i = 0; i < r->nv; i++) {
        r->delta[i] = push * mode->shape[2 * i];
        r->dv[i] = 0;
    }
    memset(r->dz, 0, (size_t)r->nz * sizeof *r->dz);
    for (int k = 0; k <= HALVINGS && st > 0; k++)
        st = try_step(s, ldexp(1, -k), err);
    *left = st == BG_OK;
    if (st != BG_OK)
        return st > 0 ? BG_OK : st;
    bg_state_copy(s->sys->system, s->trial, s->x);
    s->report->left++;
    s->downhill = true;
    return BG_OK;
}

static bg_status tell_none(const equilibrium_search *s, bg_error *err)
{
    const bg_rest *r = s->rest;
    const bg_tangent *t = s->lin->tangent;
    char buffer[64];
    int worst = 0;
    const double *a = s->lin->at->a;
    if (s->report->lifted[0] && !(s->push_size > 0 && s->stands))
        return bg_error_set(err, BG_NOT_CONVERGED,
                            "system '%s' has no equilibrium that can be found from its start: %s, "
                            "and what is left does not hold it up: it tips over or breaks down; "
                            "bring its load between its supports, or support it there",
                            s->sys->def.name, s->report->lifted);
    if (s->push_size > 0)
        return bg_error_set(
            err, BG_NOT_CONVERGED,
            "system '%s' has no equilibrium that can be found from its start: "
            "nothing resists a motion along '%s', which accelerates by %.3g there: "
            "it falls, slides or rolls away; hold it, or take away what pushes it",
            s->sys->def.name,
            bg_system_get_name(s->sys->system, 'v', s->pushed, buffer, sizeof buffer),
            s->push_size);
    for (int i = 0; i < r->nv; i++)
        if (fabs(a[i]) / t->unit[i] > fabs(a[worst]) / t->unit[worst])
            worst = i;
    return bg_error_set(
        err, BG_NOT_CONVERGED,
        "system '%s' has no equilibrium that can be found from its start: after %d corrections "
        "'%s' "
        "still accelerates by %.3g, the most of all coordinates; support what falls or tips over, "
        "take forces away that nothing balances, or start nearer to where it rests%s",
        s->sys->def.name, s->report->steps,
        bg_system_get_name(s->sys->system, 'v', worst, buffer, sizeof buffer), a[worst],
        s->report->dropped ? "; rates that are not constant in these coordinates were not kept: "
                             "joint coordinates keep most (--formulation joint)"
                           : "");
}

/* Newton's method from x, else relaxation. */
static bg_status settle(equilibrium_search *s, bg_error *err)
{
    bool done = false, ended = false;
    s->push_size = 0;
    bg_state_copy(s->sys->system, s->x, s->begin);
    bg_status st = bg_rest_update(s->rest, s->x, err);
    if (st == BG_OK)
        st = iterate(s, s->spins ? CAREFUL_STEPS : NEWTON_STEPS + CAREFUL_STEPS, &done, &ended,
                     err);
    if (st == BG_OK && !done && (!s->spins || ended)) /* of what is in the air, too */
        st = relax(s, &done, err);
    if (st == BG_OK && !done && s->spins && !ended)
        st = march(s, &done, err);
    return st == BG_OK && !done ? tell_none(s, err) : st;
}

/* An equilibrium, and away from it where it is unstable. */
static bg_status find(equilibrium_search *s, bg_modes *modes, bg_error *err)
{
    bg_status st = settle(s, err);
    if (st == BG_OK && s->spins && s->report->relaxations > 0) { /* others than in the air */
        st = find_motion(s, err);
        if (st == BG_OK)
            st = settle(s, err);
    }
    s->report->moves = s->report->moves || s->rest->moves;
    for (int k = 0; st == BG_OK; k++) {
        bool left = false;
        st = bg_modes_create(s->lin, modes, err);
        const double decay = s->rest->moves ? s->rest->decay : 0;
        s->report->unstable = count_growing(modes, decay);
        const bg_mode *out = find_way_out(modes, decay);
        if (st == BG_OK && out && k < ESCAPES)
            st = escape(s, out, &left, err);
        if (st != BG_OK || !left)
            return st;
        bg_modes_clear(modes);
        st = settle(s, err);
    }
    return st;
}

/* The state that changes most, but for what follows a drift of the motion, beside what its rate
 * changes with everything. */
static bg_status find_changing(equilibrium_search *s, bg_error *err)
{
    const bg_linearisation *l = s->lin;
    double most = 1e-6;
    s->report->changing = -1;
    bg_status st = l->nz > 0 ? bg_rest_update(s->rest, s->x, err) : BG_OK;
    for (int i = 0; i < l->nz && st == BG_OK; i++) {
        const bg_rest *r = s->rest;
        double size = 1e-9, rate = l->h[i];
        for (int k = 0; k < l->nx; k++)
            size = fmax(size, fabs(r->A[(2 * l->n + i) * l->nx + k]));
        for (int k = 0; k < r->ncyclic && r->moves; k++)
            rate += r->Hc[i * r->ncyclic + k] * r->gamma[k];
        if (fabs(rate) / size > most) {
            s->report->changing = i;
            most = fabs(rate) / size;
        }
    }
    return st;
}

/* The coordinate that is farthest from its start, in sizes; of those that move none is. */
static void find_farthest(equilibrium_search *s)
{
    for (int i = 0; i < s->sys->def.nv; i++) {
        double size = fabs(s->way[i]) / s->tangent->unit[i];
        bool moves = fabs(s->x->v[i]) > nothing * s->tangent->unit[i];
        if (!moves && size > s->report->distance) {
            s->report->distance = size;
            s->report->farthest = i;
        }
    }
}

bg_status bg_equilibrium_find(bg_evaluator *sys, bg_state *x, const bg_redundancy *redundancy,
                              bg_equilibrium_report *report, bg_modes *modes, bg_error *err)
{
    const bg_system *system = sys->system;
    equilibrium_search s = {.sys = sys, .redundancy = redundancy, .report = report};
    bg_modes own = {0};
    *report = (bg_equilibrium_report){.held = -1};
    bg_status st = create(&s, err);
    if (st == BG_OK) {
        bg_state_copy(system, x, s.x);
        for (int i = 0; i < system->def.nmode; i++) /* contacts are as the position has them */
            s.x->mode[i] = system->def.mode0 ? system->def.mode0[i] : 0;
        st = bg_linearisation_update(s.lin, s.x, redundancy, err);
    }
    if (st == BG_OK)
        st = find_motion(&s, err);
    s.spins = st == BG_OK && s.rest->moves && s.rest->ncyclic > 0;
    s.downhill = st == BG_OK && !s.spins; /* a top that spins is held up by its spin */
    if (st == BG_OK)
        st = find(&s, &own, err);
    if (st == BG_OK)
        st = find_changing(&s, err);
    if (st == BG_OK) {
        find_farthest(&s);
        bg_state_copy(system, s.lin->at, x);
    }
    clear(&s);
    if (st == BG_OK && modes)
        *modes = own;
    else
        bg_modes_clear(&own);
    return st;
}

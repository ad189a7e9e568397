#include "run/start.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "linear/equilibrium.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "a, b and c": the coordinates, or states, that free directions move most. */
static void name_free(const bg_system *system, const bg_modes *m, char *text, size_t size)
{
    char buffer[64];
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < m->nfree && used < size; k++) {
        const bg_free_direction *f = &m->free[k];
        int best = -1, state = -1;
        for (int i = 0; i < m->nv; i++)
            if (fabs(f->shape[i]) > (best < 0 ? 0 : (1 + 1e-6) * fabs(f->shape[best])))
                best = i;
        for (int i = 0; i < m->nz; i++)
            if (fabs(f->shape_z[i]) > (state < 0 ? 0 : fabs(f->shape_z[state])))
                state = i;
        if (best < 0 && state < 0)
            continue;
        const char *name = bg_system_get_name(system, best >= 0 ? 'v' : 'z',
                                              best >= 0 ? best : state, buffer, sizeof buffer);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

static void tell_equilibrium(const bg_system *system, const bg_equilibrium_report *r,
                             const bg_modes *m, bg_warnings *list)
{
    char names[400], buffer[64];
    name_free(system, m, names, sizeof names);
    bg_warnings_add(list, BG_GOOD, "equilibrium", "%s, found in %d correction%s%s%s%s",
                    r->moves ? "starts in steady motion" : "starts in equilibrium", r->steps,
                    r->steps == 1 ? "" : "s", r->relaxations > 0 ? " with relaxation" : "",
                    names[0] ? "; free, and left where they are: " : "", names);
    if (r->dropped)
        bg_warnings_add(list, BG_GOOD, "equilibrium",
                        "rates that were given and cannot stay constant are zero there");
    if (r->held >= 0)
        bg_warnings_add(list, BG_GOOD, "equilibrium",
                        "the input '%s' moves there; it was held, since the motion is not steady "
                        "while it does",
                        bg_system_get_name(system, 'u', r->held, buffer, sizeof buffer));
    const bool stands = system->def.nmode > 0; /* on contacts, which let things tip over */
    if (r->distance > 1 && r->lifted[0])
        bg_warnings_add(list, BG_DOUBTFUL, "equilibrium",
                        "there is no equilibrium near the start that was given: %s, and what is "
                        "left does not hold it up; the one that was found is where '%s' has moved "
                        "by %.3g of its size",
                        r->lifted,
                        bg_system_get_name(system, 'v', r->farthest, buffer, sizeof buffer),
                        r->distance);
    else if (r->distance > 1)
        bg_warnings_add(list, stands ? BG_DOUBTFUL : BG_GOOD, "equilibrium",
                        "%s: '%s' has moved by %.3g of its size, so see whether something has "
                        "tipped over",
                        stands ? "there is no equilibrium near the start that was given"
                               : "it is far from the start that was given",
                        bg_system_get_name(system, 'v', r->farthest, buffer, sizeof buffer),
                        r->distance);
    if (r->left > 0)
        bg_warnings_add(list, BG_GOOD, "equilibrium", "an unstable equilibrium was met and left");
    if (r->drift > 1e-6)
        bg_warnings_add(list, BG_GOOD, "equilibrium",
                        "the motion is not quite steady: nothing balances what slows down or "
                        "drives '%s', whose rate changes by %.3g %s; states of force elements "
                        "follow it",
                        bg_system_get_name(system, 'v', r->worst, buffer, sizeof buffer), r->change,
                        bg_system_get_unit(system, 'a', r->worst));
    if (r->changing >= 0)
        bg_warnings_add(list, BG_DOUBTFUL, "equilibrium",
                        "the state '%s' still changes there: nothing makes it settle",
                        bg_system_get_name(system, 'z', r->changing, buffer, sizeof buffer));
    if (r->unstable > 0)
        bg_warnings_add(list, BG_DOUBTFUL, "equilibrium",
                        "the equilibrium is unstable, %d mode%s grow%s (`bogie modes` shows them), "
                        "and no stable one was found near it",
                        r->unstable, r->unstable == 1 ? "" : "s", r->unstable == 1 ? "s" : "");
}

/* x <- the state of the twin, and inputs as it holds them. */
static bg_status take_over(bg_evaluator *sys, bg_evaluator *twin, const bg_state *y, bg_state *x,
                           bg_error *err)
{
    bg_point p;
    bg_status st = bg_system_set_state(twin, y, &p, err);
    if (st == BG_OK)
        st = sys->system->take_twin(sys->def.self, twin->def.self, &p, x, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < sys->def.nmode; i++) /* contacts are as the position has them */
        x->mode[i] = sys->def.mode0 ? sys->def.mode0[i] : 0;
    for (int i = 0; i < sys->def.nu; i++) {
        const bg_live_input *u = &twin->outside[i];
        if (u->live)
            bg_system_set_live(sys, i, u->since, u->value, u->rate);
    }
    return BG_OK;
}

/* The same in coordinates in which more motions are steady, and from which every form of a model
 * starts alike, however many equilibria there are. *found: there is one, and x is its state. Where
 * there is none, nobody is told. */
static bg_status find_in_twin(bg_evaluator *sys, bg_state *x, bg_warnings *list, bool *found,
                              bg_error *err)
{
    bg_system *system = NULL;
    bg_evaluator *twin = NULL;
    bg_state *y = NULL;
    bg_assembly_report report = {0};
    bg_equilibrium_report how = {0};
    bg_modes modes = {0};
    bg_error quiet = {0};
    bg_status st = sys->system->create_twin(sys->def.self, &system, &quiet);
    if (st == BG_OK)
        st = bg_evaluator_create(system, &twin, &quiet);
    if (st == BG_OK)
        st = bg_state_create(system, &y, &quiet);
    if (st == BG_OK) {
        y->t = x->t;
        st = bg_state_assemble_with(twin, y, &report, &quiet);
    }
    if (st == BG_OK)
        st = bg_equilibrium_find(twin, y, &report.redundancy, &how, &modes, &quiet);
    *found = st == BG_OK;
    if (*found) {
        tell_equilibrium(system, &how, &modes, list);
        st = take_over(sys, twin, y, x, err);
    } else {
        st = st == BG_NO_MEMORY ? bg_error_set(err, st, "%s", quiet.text) : BG_OK;
    }
    bg_modes_clear(&modes);
    bg_assembly_report_clear(&report);
    bg_state_destroy(y);
    bg_evaluator_destroy(twin);
    bg_system_destroy(system);
    return st;
}

bg_status bg_start_find_rest(bg_evaluator *sys, double t, bg_state *x, bg_assembly_report *report,
                             bg_error *err)
{
    bg_equilibrium_report how;
    bg_modes modes = {0};
    bool found = false;
    x->t = t;
    bg_status st = bg_state_assemble_with(sys, x, report, err);
    if (st == BG_OK && sys->system->create_twin)
        st = find_in_twin(sys, x, &report->warnings, &found, err);
    if (st != BG_OK || found)
        return st;
    st = bg_equilibrium_find(sys, x, &report->redundancy, &how, &modes, err);
    if (st == BG_OK)
        tell_equilibrium(sys->system, &how, &modes, &report->warnings);
    bg_modes_clear(&modes);
    return st;
}

/* The same with an evaluator of its own, and then with the inputs as they are. */
static bg_status find_equilibrium(bg_evaluator *sys, double t, bg_state *x,
                                  bg_assembly_report *report, bg_error *err)
{
    bg_evaluator *own = NULL;
    bg_dynamics *d = NULL;
    bg_status st = bg_evaluator_create(sys->system, &own, err);
    for (int i = 0; i < sys->def.nu && st == BG_OK; i++)
        if (sys->outside[i].live)
            bg_system_set_live(own, i, sys->outside[i].since, sys->outside[i].value,
                               sys->outside[i].rate);
    if (st == BG_OK)
        st = bg_start_find_rest(own, t, x, report, err);
    bg_evaluator_destroy(own);
    if (st == BG_OK)
        st = bg_dynamics_create(sys, &d, err);
    if (st == BG_OK) {
        bg_dynamics_set_eliminated(d, &report->redundancy);
        bg_dynamics_set_guess(d, x->lambda);
        st = bg_project_state(d, x, err);
    }
    bg_dynamics_destroy(d);
    return st;
}

/* Modes and states z that follow from x; states of an equilibrium stay. */
static bg_status settle(bg_evaluator *sys, bg_state *x, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    const bg_event_state start = {x->q, x->v, x->z, x->mode};
    size_t size = (size_t)def->nz * sizeof(double);
    double *z = sys->system->equilibrium ? BG_NEW_ARRAY(double, def->nz) : NULL;
    if (sys->system->equilibrium && !z)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of '%s'", def->name);
    if (z)
        memcpy(z, x->z, size);
    int code = def->start ? def->start(def->self, x->t, &start) : 0;
    if (z)
        memcpy(x->z, z, size);
    free(z);
    if (code != 0)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `start` failed with code %d at t = %.17g", def->name,
                            code, x->t);
    return BG_OK;
}

bg_status bg_start_find(bg_evaluator *sys, double t, bg_state *x, bg_assembly_report *report,
                        bg_error *err)
{
    x->t = t;
    if (!isfinite(t))
        return bg_error_set(err, BG_BAD_INPUT, "the start time %g must be finite", t);
    bg_status st = sys->system->equilibrium ? find_equilibrium(sys, t, x, report, err)
                                            : bg_state_assemble_with(sys, x, report, err);
    return st == BG_OK ? settle(sys, x, err) : st;
}

bg_status bg_start_pass_events(bg_instant *x, bool *stop, bg_error *err)
{
    bool changed;
    bg_state_copy(x->sys->system, bg_integrator_get_state(x->ig), x->state);
    if (!x->detector)
        return BG_OK;
    bg_status st = bg_detector_start(x->detector, x->state, x->t_end, err);
    return st == BG_OK && x->detector->nfires > 0 ? bg_instant_pass(x, &changed, stop, err) : st;
}

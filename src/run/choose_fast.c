/* Parts of a model are marks on its bodies, from which its system is made once more: then the fast
 * part has an evaluation of its own. Equations keep theirs and get other parts
 * (bg_system_set_parts). Which bodies go with a group of velocities is seen by moving it. */
#include "run/choose_fast.h"

#include "base/memory.h"
#include "integrators/prk_pair.h"
#include "run/start.h"
#include "system/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option of the method; NULL: not given. */
static const char *find_option(const bg_problem *p, const char *name)
{
    const bg_integrator_options *o = &p->run.method;
    for (int k = o->nsettings - 1; k >= 0; k--)
        if (strcmp(o->settings[k].name, name) == 0)
            return o->settings[k].value;
    return NULL;
}

static bool has_two_rates(const char *integrator)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        if (strcmp(info->name, integrator) == 0)
            return strcmp(integrator, "prk") == 0 ||
                   (info->setting_of && strcmp(info->setting_of, "prk") == 0);
    return false;
}

bool bg_problem_chooses_fast(const bg_problem *p)
{
    const char *partition = find_option(p, "partition");
    return partition && strcmp(partition, "auto") == 0 && has_two_rates(p->run.integrator);
}

void bg_problem_clear_fast(bg_problem *p)
{
    for (int b = 0; b < p->model->nbodies; b++)
        p->model->bodies[b].fast = false;
    for (int k = 0; k < p->model->nforces; k++)
        p->model->forces[k].fast = false;
}

/* motion [6 nbodies] of all bodies with the velocities of the parts wanted, and without any. */
static bg_status move(bg_evaluator *ev, const bg_state *x, double *v, double *motion, bg_error *err)
{
    bg_point p;
    bg_status st = bg_system_set_point(ev, x->t, x->q, v, x->z, x->mode, &p, err);
    if (st == BG_OK)
        ev->system->parts.place(ev->def.self, &p, motion);
    return st;
}

bg_status bg_problem_find_bodies(const bg_problem *problem, bg_evaluator *ev, const bg_state *x,
                                 const unsigned char *v_part, unsigned char *bodies, bg_error *err)
{
    const int n = problem->model->nbodies, nv = ev->def.nv;
    double *v = BG_NEW_ARRAY(double, nv + 12 * n), *rest = v + nv, *moved = rest + 6 * n;
    bg_status st = v ? BG_OK
                     : bg_error_set(err, BG_NO_MEMORY, "out of memory for the motion of bodies");
    memset(bodies, 0, (size_t)n);
    if (st == BG_OK)
        st = move(ev, x, v, rest, err);
    for (int i = 0; i < nv && st == BG_OK; i++) {
        if (v_part[i] != BG_PART_FAST)
            continue;
        v[i] = 1;
        st = move(ev, x, v, moved, err);
        v[i] = 0;
        for (int k = 0; k < 6 * n && st == BG_OK; k++)
            bodies[k / 6] |= fabs(moved[k] - rest[k]) > 1e-12;
    }
    free(v);
    return st;
}

void bg_problem_name_fast(const bg_problem *p, const unsigned char *v_part,
                          const unsigned char *bodies, char *text, size_t size)
{
    const int n = p->model ? p->model->nbodies : p->system->def.nv;
    size_t used = 0;
    char buffer[64];
    text[0] = '\0';
    for (int k = 0; k < n; k++) {
        if (p->model ? !bodies[k] : v_part[k] != BG_PART_FAST)
            continue;
        const char *name = p->model ? p->model->bodies[k].name
                                    : bg_system_get_name(p->system, 'v', k, buffer, sizeof buffer);
        if (used + strlen(name) + 8 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}

static bg_status open_pair(const bg_problem *p, bg_prk_pair *pair, bg_error *err)
{
    const char *name = p->run.integrator, *given = find_option(p, "pair");
    if (strcmp(name, "prk") == 0)
        name = given ? given : "prk38";
    return bg_prk_pair_open(name, pair, err);
}

static void tell(bg_problem *p, const bg_prk_pair *pair, const bg_split *s, const char *names)
{
    bg_warnings *list = &p->system->warnings;
    const bg_cut *c = s->chosen < 0 ? &s->whole : &s->cuts[s->chosen];
    const bg_verdict verdict = p->run.method.step > c->step ? BG_DOUBTFUL : BG_GOOD;
    if (s->chosen < 0) {
        bg_warnings_add(list, verdict, "partition",
                        "partition=auto chose no fast part: %s (eigenvalues up to %.4g 1/s; all by "
                        "the fast tableau of %s is stable up to %.3g s)",
                        s->reason, c->fast, pair->name, c->step);
        return;
    }
    bg_warnings_add(list, verdict, "partition",
                    "partition=auto chose as fast: %s (%d of %d velocities), %s; at the start "
                    "eigenvalues reach %.4g 1/s in the fast and %.4g 1/s in the slow part, %.2g of "
                    "the slow masses go with the fast part, and %s is stable up to %.3g s "
                    "(`bogie rates` shows all choices)",
                    names, c->velocities, s->nv, s->reason, c->fast, c->slow, c->ratio, pair->name,
                    c->step);
}

/* Marks bodies and makes the model's system again. */
static bg_status apply_to_model(bg_problem *p, const unsigned char *bodies, bg_error *err)
{
    for (int b = 1; b < p->model->nbodies; b++)
        p->model->bodies[b].fast = bodies[b];
    bg_system *old = p->system;
    p->system = NULL;
    bg_status st = bg_model_create_system(p->model, p->formulation, &p->system, err);
    if (st == BG_OK) {
        p->system->equilibrium = old->equilibrium;
        p->system->content = old->content;
    }
    bg_system_destroy(old);
    return st;
}

static bg_status apply(bg_problem *p, bg_evaluator *ev, const bg_state *x, const bg_split *s,
                       unsigned char *bodies, bg_error *err)
{
    if (p->model)
        return bg_problem_find_bodies(p, ev, x, s->v, bodies, err);
    return s->chosen < 0 ? bg_system_set_parts(p->system, NULL, NULL, NULL, err)
                         : bg_system_set_parts(p->system, s->v, s->z, s->g, err);
}

bg_status bg_problem_choose_fast(bg_problem *p, bg_error *err)
{
    const char *positions = find_option(p, "positions");
    const double t = isnan(p->run.t_start) ? p->system->def.t_start : p->run.t_start;
    const double step = p->run.method.step > 0 ? p->run.method.step : NAN;
    bg_prk_pair pair;
    bg_evaluator *ev = NULL;
    bg_state *x = NULL;
    bg_assembly_report report = {0};
    bg_linearisation *l = NULL;
    bg_split *split = NULL;
    unsigned char *bodies = BG_NEW_ARRAY(unsigned char, p->model ? p->model->nbodies : 1);
    char names[320];
    bg_error unknown = {0};
    bg_status st = bodies ? open_pair(p, &pair, err)
                          : bg_error_set(err, BG_NO_MEMORY, "out of memory for the bodies");
    if (st == BG_OK)
        st = bg_evaluator_create(p->system, &ev, err);
    if (st == BG_OK)
        st = bg_state_create(p->system, &x, err);
    const bool found = st == BG_OK && bg_start_find(ev, t, x, &report, &unknown) == BG_OK;
    if (found)
        st = bg_linearisation_create(ev, &l, err);
    if (found && st == BG_OK)
        st = bg_linearisation_update(l, x, &report.redundancy, err);
    if (found && st == BG_OK)
        st = bg_split_find(l, &pair, positions && strcmp(positions, "by-part") == 0, step, &split,
                           err);
    if (found && st == BG_OK)
        st = apply(p, ev, x, split, bodies, err);
    bg_linearisation_destroy(l);
    bg_assembly_report_clear(&report);
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    if (found && st == BG_OK && p->model && split->chosen >= 0)
        st = apply_to_model(p, bodies, err);
    if (found && st == BG_OK) {
        bg_problem_name_fast(p, split->v, bodies, names, sizeof names);
        tell(p, &pair, split, names);
    }
    bg_split_destroy(split);
    free(bodies);
    return st;
}

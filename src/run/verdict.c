/* The verdict on a run: good, doubtful or bad, with the reasons.
 *
 * A run that failed is bad. One that reached its end is bad where it contradicts itself: an energy
 * error of the size of the energies, or constraints that come apart by a tenth of the mechanism's
 * size. It is doubtful where something was noticed that the user may not be aware of.
 *
 * The energy error is judged by the range of the energies, because a potential energy has no zero;
 * below a millionth of the energies themselves, weights counted from the middle of the drawing, it
 * is taken for rounding, and so it is below 1e-12 of what lifts the mechanism by its size, or to
 * where it is drawn: one at rest has no energy to compare with. Without weight, or on stiff
 * springs, what tolerances let it move by may be more. So the energy of all bodies at 1000 times
 * the absolute tolerance is no error, either, as stiff springs magnify it, or, where that is less,
 * at a thousandth of the mechanism's size in the time of the run. */
#include "run/verdict.h"

#include "system/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double energy_doubtful = 1e-2, energy_bad = 0.5, energy_rounding = 1e-6;
static const double rest_rounding = 1e-12;
/* speeds of what is at rest: tolerances; sizes in the time of the run */
static const double rest_tolerances = 1000, rest_most = 1e-3, rest_least = 1e-10;
static const double open_doubtful = 1e-3, open_bad = 0.1; /* of the size of the mechanism */

static void judge_end(bg_run_report *r)
{
    if (r->status == BG_STOPPED)
        bg_warnings_add(&r->warnings, BG_DOUBTFUL, "end",
                        "the run was stopped on request before its end");
    else if (r->status != BG_OK)
        bg_warnings_add(&r->warnings, BG_BAD, "end", "the run ended early: %s",
                        r->message[0] ? r->message : bg_status_text(r->status));
}

/* The energy of all bodies, were they as fast as what is at rest may be in numbers. */
static double calc_rest(const bg_system *system, const bg_run_options *o, const bg_run_report *r)
{
    const double t_start = isnan(o->t_start) ? system->def.t_start : o->t_start;
    const double crossing = system->size / (r->final->t - t_start);
    const double allowed = o->method.step > 0 ? 0 : rest_tolerances * o->method.atol;
    const double speed = fmax(rest_least * crossing, fmin(allowed, rest_most * crossing));
    return isfinite(crossing) ? 0.5 * system->mass * speed * speed : 0;
}

static void judge_energy(const bg_system *system, const bg_run_options *o, bg_run_report *r)
{
    const bg_certificate *c = &r->certificate;
    double error = c->energy_error, part = error / c->energy_range;
    char remedy[96] = "tighten the tolerances";
    double rounding = fmax(energy_rounding * c->energy_scale,
                           rest_rounding * fmax(system->lift, fabs(system->raised)));
    rounding = fmax(rounding, calc_rest(system, o, r));
    bool asked = system->def.energy && o->method.energy && r->final;
    if (asked && !(isfinite(error) && isfinite(c->energy_scale))) {
        bg_warnings_add(&r->warnings, BG_BAD, "energy",
                        "the energies grew beyond all numbers: the motion has exploded; %s",
                        o->method.step > 0 ? "the fixed step is unstable, take a smaller one"
                                           : "tighten the tolerances");
        return;
    }
    if (isnan(error) || !(error > rounding) || !(part > energy_doubtful))
        return;
    if (o->method.step > 0)
        snprintf(remedy, sizeof remedy, "the fixed step %g s is %s; take a smaller one",
                 o->method.step, part > energy_bad ? "unstable or far too large" : "too large");
    if (part > energy_bad)
        bg_warnings_add(&r->warnings, BG_BAD, "energy",
                        "the energy error, %.3g J, is of the size of the energies, %.3g J: %s",
                        error, c->energy_range, remedy);
    else
        bg_warnings_add(&r->warnings, BG_DOUBTFUL, "energy",
                        "%.2g %% of the energy are unaccounted for (%.3g J of %.3g J): %s",
                        100 * part, error, c->energy_range, remedy);
}

static void judge_constraints(const bg_system *system, bg_run_report *r)
{
    double open = r->certificate.max_g / system->size;
    if (open > open_doubtful)
        bg_warnings_add(&r->warnings, open > open_bad ? BG_BAD : BG_DOUBTFUL, "constraints",
                        "the constraints come apart by up to %.3g, the mechanism is of size %.3g: "
                        "take a smaller step, or a method that projects",
                        r->certificate.max_g, system->size);
}

/* The largest of what there is: the mechanism and the numbers of its last state. */
static double calc_scale(const bg_system *system, const bg_state *x)
{
    double scale = system->size;
    for (int i = 0; x && i < system->def.nq; i++)
        scale = fmax(scale, fabs(x->q[i]));
    for (int i = 0; x && i < system->def.nv; i++)
        scale = fmax(scale, fabs(x->v[i]));
    for (int i = 0; x && i < system->def.nz; i++)
        scale = fmax(scale, fabs(x->z[i]));
    return scale;
}

/* Tolerances that bound nothing. */
static void judge_options(const bg_system *system, const bg_run_options *o, bg_run_report *r)
{
    double scale = calc_scale(system, r->final);
    if (o->method.step > 0)
        return;
    if (o->method.rtol >= 1)
        bg_warnings_add(&r->warnings, BG_DOUBTFUL, "tolerance",
                        "with the relative tolerance %g the result may be wrong by its own size; "
                        "give --rtol a number well below 1",
                        o->method.rtol);
    if (o->method.atol >= scale)
        bg_warnings_add(&r->warnings, BG_DOUBTFUL, "tolerance",
                        "the absolute tolerance %g is not below any number of the result, of which "
                        "the largest is about %.3g; give --atol a number well below that",
                        o->method.atol, scale);
}

/* What is said of the system, without corners of its laws where the method sees them itself. */
static void append_warnings(const bg_system *system, const bg_run_options *o, bg_warnings *list)
{
    const bg_warnings *all = bg_system_get_warnings(system);
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)) && strcmp(info->name, o->integrator) != 0;)
        k++;
    const bool misses = info && info->misses_corners && o->method.step == 0;
    for (int i = 0; i < all->count; i++)
        if (misses || strcmp(all->items[i].topic, "corners") != 0)
            bg_warnings_add(list, all->items[i].verdict, all->items[i].topic, "%s",
                            all->items[i].text);
    list->lost += all->lost;
}

void bg_verdict_update(const bg_system *system, const bg_run_options *options,
                       bg_run_report *report)
{
    judge_end(report);
    if (report->final) {
        judge_energy(system, options, report);
        judge_constraints(system, report);
    }
    judge_options(system, options, report);
    append_warnings(system, options, &report->warnings);
    bg_warnings_append(&report->warnings, &report->assembly.warnings);
    report->verdict = bg_warnings_judge(&report->warnings, NULL);
}

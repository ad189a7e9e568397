/* The certificate of a run, step by step: residuals of the constraints, and the balance of energy
 * and work. */
#include "integrators/change_points.h"
#include "run/runner.h"

#include <math.h>

double bg_runner_calc_energy(bg_runner *r, const bg_state *x)
{
    const bg_system_def *def = &r->sys->def;
    bg_certificate *c = &r->report->certificate;
    bg_energy e = {0, 0, 0};
    bg_point p;
    if (!def->energy || !r->options->method.energy ||
        bg_system_set_state(r->sys, x, &p, NULL) != BG_OK ||
        bg_system_calc_energy(r->sys, &p, &e) != 0)
        return NAN;
    bg_drive_work_account(&r->drives, x, c->energy_range, r->t_end - r->t_start);
    const double work = *x->work + r->drives.missed;
    double others = fmax(fabs(work), fabs(e.kinetic));
    double potential = e.potential - r->sys->system->raised; /* wherever the model is drawn */
    if (isnan(r->potential_start))
        r->potential_start = e.potential;
    c->energy_scale = fmax(c->energy_scale, fmax(others, fabs(potential)));
    c->energy_range = fmax(c->energy_range, fmax(others, fabs(e.potential - r->potential_start)));
    return e.kinetic + e.potential - work;
}

/* The larger one; what is not known once is not known for the run. */
static double keep_largest(double so_far, double now)
{
    return isnan(so_far) || isnan(now) ? NAN : fmax(so_far, now);
}

void bg_runner_update_certificate(bg_runner *r)
{
    bg_certificate *c = &r->report->certificate;
    bg_residuals now = bg_integrator_get_residuals(r->ig);
    const bg_state *x = bg_integrator_get_state(r->ig);
    c->max_g = keep_largest(c->max_g, now.g);
    c->max_gv = keep_largest(c->max_gv, now.gv);
    c->max_ga = keep_largest(c->max_ga, now.ga);
    c->max_redundant = keep_largest(c->max_redundant, now.redundant);
    c->energy_error = keep_largest(c->energy_error,
                                   fabs(bg_runner_calc_energy(r, x) - r->energy_start));
}

/* A row that was redundant at the start must stay fulfilled on the way. */
bg_status bg_runner_check_redundant(const bg_runner *r, bg_error *err)
{
    char buffer[32];
    bg_residuals now = bg_integrator_get_residuals(r->ig);
    double shown = bg_change_points_get_allowed(r->ig);
    if (now.redundant < fmax(fmax(1e-6, shown), r->report->assembly.redundancy.allowed))
        return BG_OK;
    return bg_error_set(
        err, BG_CONTRADICTORY,
        "constraint '%s' was redundant at the start but is violated by %.3g of its "
        "size at t = %.17g: the mechanism has left the position in which it could "
        "be left out",
        bg_system_get_name(r->sys->system, 'g', now.worst_redundant, buffer, sizeof buffer),
        now.redundant, bg_integrator_get_state(r->ig)->t);
}

/* An impact may dissipate: the balance goes on from what it leaves. */
void bg_runner_account_energy(void *self, const bg_state *x, bool changed)
{
    bg_runner *r = self;
    double energy = bg_runner_calc_energy(r, x), jump = energy - r->energy_before;
    if (!changed)
        r->energy_before = energy;
    else if (isfinite(jump))
        r->energy_start += jump;
}

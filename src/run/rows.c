/* Rows of results: at the ends of steps, at events, and on the grid from projected dense output, so
 * that they fulfil all constraints. */
#include "run/runner.h"

#include <math.h>

bg_status bg_runner_calc_outputs(bg_runner *r, const bg_state *x, bool written, bg_error *err)
{
    const bg_system_def *def = &r->sys->def;
    if (def->ny == 0)
        return BG_OK;
    bg_point p;
    bg_status st = bg_system_set_state(r->sys, x, &p, err);
    if (st != BG_OK)
        return st;
    int code = def->outputs(def->self, &p, x->a, x->lambda, r->y);
    if (code != 0)
        return bg_error_set(err, BG_SYSTEM_FAILED,
                            "system '%s': `outputs` failed with code %d at t = %.17g", def->name,
                            code, x->t);
    bg_filters_apply(&r->filters, x->t, r->y, written);
    char buffer[32];
    for (int i = 0; i < def->ny; i++)
        if (!isfinite(r->y[i]))
            return bg_error_set(
                err, BG_NOT_FINITE, "system '%s': output '%s' is not finite at t = %.17g",
                def->name, bg_system_get_name(r->sys->system, 'y', i, buffer, sizeof buffer), x->t);
    return BG_OK;
}

bg_status bg_runner_write_row(bg_runner *r, const bg_state *x, bg_error *err)
{
    const bg_sink *sink = &r->options->sink;
    if (!sink->row)
        return BG_OK;
    bg_status st = bg_runner_calc_outputs(r, x, true, err);
    double begin = bg_integrator_get_step_start(r->ig), end = bg_integrator_get_state(r->ig)->t;
    bg_row row = {x, r->y, end - begin};
    if (st == BG_OK)
        st = sink->row(sink->self, &row, err);
    r->t_last_row = x->t;
    r->report->rows += st == BG_OK;
    return st;
}

/* Rows on the grid up to and including t. */
static bg_status write_grid_rows(bg_runner *r, double t, bg_error *err)
{
    double interval = r->options->output_interval;
    if (interval <= 0 || !r->options->sink.row)
        return BG_OK;
    for (;; r->next_output++) {
        double at = r->t_start + (double)r->next_output * interval;
        if (at > t || at > r->t_end)
            return BG_OK;
        bg_status st = bg_integrator_interpolate_state(r->ig, at, r->at.state, err);
        if (st == BG_RETRY ||
            st == BG_SINGULAR) { /* the row happens to be in a singular position */
            bg_integrator_interpolate_plain(r->ig, at, r->at.state);
            st = BG_OK;
        }
        if (st == BG_OK)
            st = bg_runner_write_row(r, r->at.state, err);
        if (st != BG_OK)
            return st == BG_RETRY ? BG_NOT_CONVERGED : st;
    }
}

bg_status bg_runner_write_grid(bg_runner *r, double t, bg_error *err)
{
    bg_purpose before = bg_system_turn_to(r->sys, BG_ASIDE);
    bg_comparison_sample(&r->comparison, r->ig, r->t_start, t);
    bg_system_turn_to(r->sys, BG_FOR_ROWS);
    bg_status st = write_grid_rows(r, t, err);
    bg_system_turn_to(r->sys, before);
    return st;
}

/* The step that ends at the present state and began at `begin`. */
bg_status bg_runner_write_step(bg_runner *r, double begin, bg_error *err)
{
    const bg_sink *sink = &r->options->sink;
    if (!sink->step)
        return BG_OK;
    const double t = bg_integrator_get_state(r->ig)->t;
    const bg_residuals now = bg_integrator_get_residuals(r->ig);
    const bg_counters counters = bg_integrator_get_counters(r->ig);
    const long rejected = counters.rejected;
    const bg_step step = {.t = t,
                          .h = t - begin,
                          .order = bg_integrator_get_order(r->ig),
                          .rejected = rejected - r->rejected_told,
                          .g = now.g,
                          .gv = now.gv,
                          .ga = now.ga,
                          .counters = &counters};
    r->rejected_told = rejected;
    return sink->step(sink->self, &step, err);
}

/* Rows before the instant that was found, and, with a row for every step, at it. */
bg_status bg_runner_write_to_event(bg_runner *r, bg_error *err)
{
    const double t = r->at.detector->state->t;
    bg_status st = bg_runner_write_grid(r, nextafter(t, -HUGE_VAL), err);
    if (st != BG_OK)
        return st;
    const bg_state *end = bg_integrator_get_state(r->ig);
    bg_state_copy(r->sys->system, end->t == t ? end : r->at.detector->state, r->at.state);
    bool wanted = r->options->output_steps && t > r->t_last_row;
    return wanted ? bg_runner_write_row(r, r->at.state, err) : BG_OK;
}

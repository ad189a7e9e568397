/* "run": what a run of the model uses unless told otherwise. */
#include "model/read.h"

#include "bogie/integrator.h"

#include <stdio.h>

enum { MAX_METHODS = 64 };

static double read_positive(const bg_value *v, const char *key)
{
    bg_value member = bg_value_member(v, key);
    return bg_value_exists(&member) ? bg_value_positive(v, key) : NAN;
}

static void read_integrator(const bg_value *v)
{
    bg_model *m = v->reader->model;
    bg_value member = bg_value_member(v, "integrator");
    const char *names[MAX_METHODS + 1];
    int n = 0;
    for (; n < MAX_METHODS && bg_integrator_get_info(n); n++)
        names[n] = bg_integrator_get_info(n)->name;
    names[n] = NULL;
    if (!bg_value_exists(&member))
        return;
    int k = bg_value_choice(v, "integrator", names, -1);
    if (v->reader->status == BG_OK)
        snprintf(m->integrator, sizeof m->integrator, "%s", names[k]);
}

static void read_formulation(const bg_value *v)
{
    static const char *const names[] = {"joint", "cartesian", NULL};
    bg_model *m = v->reader->model;
    bg_value member = bg_value_member(v, "formulation");
    if (bg_value_exists(&member))
        snprintf(m->formulation, sizeof m->formulation, "%s",
                 names[bg_value_choice(v, "formulation", names, -1)]);
}

void bg_read_run(const bg_value *top)
{
    static const char *const keys[] = {"t_start", "t_end", "integrator",      "formulation", "rtol",
                                       "atol",    "step",  "output_interval", NULL};
    bg_model *m = top->reader->model;
    bg_value v = bg_value_member(top, "run");
    m->t_start = m->t_end = m->rtol = m->atol = m->step = m->output_interval = NAN;
    if (!bg_value_exists(&v))
        return;
    bg_value_expect(&v, keys);
    m->t_start = bg_value_number_or(&v, "t_start", NAN);
    m->t_end = bg_value_number_or(&v, "t_end", NAN);
    m->rtol = read_positive(&v, "rtol");
    m->atol = read_positive(&v, "atol");
    m->step = read_positive(&v, "step");
    m->output_interval = read_positive(&v, "output_interval");
    read_integrator(&v);
    read_formulation(&v);
    double t_start = isnan(m->t_start) ? 0.0 : m->t_start;
    bg_value t_end = bg_value_member(&v, "t_end");
    if (top->reader->status == BG_OK && m->t_end <= t_start)
        bg_value_fail(&t_end, "must lie after the start at %g s, but is %g s", t_start, m->t_end);
}

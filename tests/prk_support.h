/* What tests of methods of two rates share: a coupled problem, and the end of a motion. */
#ifndef PRK_SUPPORT_H
#define PRK_SUPPORT_H

#include "model_support.h"

/* x'' = -sin x + (y - x)/2 + y'/20,  y'' = -9 (y - x) - 0.3 (y' - x') - y^3, x slow and y fast. */
static inline int calc_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double x = p->q[0], y = p->q[1], x_t = p->v[0], y_t = p->v[1];
    (void)self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f) {
        out->f[0] = -sin(x) + 0.5 * (y - x) + 0.05 * y_t;
        out->f[1] = -9 * (y - x) - 0.3 * (y_t - x_t) - y * y * y;
    }
    return 0;
}

static const unsigned char slow_and_fast[] = {BG_PART_SLOW, BG_PART_FAST};

static inline bg_system_def define_coupled(void)
{
    static const double q0[] = {0.7, 0.6}, v0[] = {0, 0.1};
    bg_system_def def = bg_default_system_def();
    def.name = "coupled";
    def.nq = def.nv = 2;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = calc_terms;
    def.v_part = slow_and_fast;
    def.q0 = q0;
    def.v0 = v0;
    def.t_end = 2;
    return def;
}

static inline bg_system *create_def(const bg_system_def *def)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    assert_ok(bg_system_create(def, &sys, &err));
    return sys;
}

/* The end of `steps` steps over t. */
static inline void follow(bg_system *sys, const char *method, const char *positions, double t,
                          int steps, double *q, double *v)
{
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    bg_setting setting = {"positions", positions};
    bg_state *x;
    bg_integrator *ig;
    bg_assembly_report report;
    const bg_system_def *def = bg_system_get_def(sys);
    o.step = t / steps;
    o.settings = &setting;
    o.nsettings = positions != NULL;
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_state_assemble(sys, x, &report, &err));
    assert_ok(bg_integrator_create(method, sys, &o, &ig, &err));
    assert_ok(bg_integrator_start(ig, x, &report.redundancy, t, &err));
    while (bg_integrator_get_state(ig)->t < t)
        assert_ok(bg_integrator_step(ig, &err));
    memcpy(q, bg_integrator_get_state(ig)->q, (size_t)def->nq * sizeof *q);
    memcpy(v, bg_integrator_get_state(ig)->v, (size_t)def->nv * sizeof *v);
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    bg_assembly_report_clear(&report);
}

#endif

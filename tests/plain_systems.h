/* Systems without constraints, of terms alone. */
#ifndef PLAIN_SYSTEMS_H
#define PLAIN_SYSTEMS_H

#include "run_support.h"

#include <math.h>

/* A mass on a damper whose support moves, v' = -rate (v - cos t) - sin t: v = cos t, and what
 * deviates from it decays. self: the rate. */
static inline int decay_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double *rate = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = -*rate * (p->v[0] - cos(p->t)) - sin(p->t);
    return 0;
}

static inline bg_system *create_plain(const char *name, int n, void *self,
                                      int (*terms)(void *, const bg_point *, unsigned, bg_terms *),
                                      const double *q0, const double *v0)
{
    bg_system_def def = bg_default_system_def();
    def.name = name;
    def.nq = def.nv = n;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = terms;
    def.self = self;
    def.q0 = q0;
    def.v0 = v0;
    bg_system *sys;
    bg_error err = {BG_OK, ""};
    assert_ok(bg_system_create(&def, &sys, &err));
    return sys;
}

#endif

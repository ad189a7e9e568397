/* What tests of failures share: one body on a line, and the sentences of what fails. */
#ifndef FAILING_LINES_H
#define FAILING_LINES_H

#include "model_support.h"

/* The sentence of a failure names each of these. */
static inline void check_sentence(bg_status status, const char *message, const char *const *words)
{
    assert_true(status != BG_OK);
    for (; *words; words++)
        if (!strstr(message, *words))
            fail_msg("'%s' is not in: %s", *words, message);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* One body along x, force by a function of the test. */
typedef struct failing_line {
    double (*force)(double t, double x, double v);
} failing_line;

static inline int line_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const failing_line *l = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = l->force(p->t, p->q[0], p->v[0]);
    return 0;
}

static inline bg_system_def define_line(failing_line *l, const double *q0, const double *v0)
{
    static const char *const names[] = {"block"};
    bg_system_def d = bg_default_system_def();
    d.name = "line";
    d.nq = d.nv = 1;
    d.q_names = d.v_names = names;
    d.q0 = q0;
    d.v0 = v0;
    d.self = l;
    d.supplied = BG_TERM_M | BG_TERM_f;
    d.terms = line_terms;
    return d;
}

static inline double root(double t, double x, double v)
{
    (void)t, (void)v;
    return -x + 1e-3 * sqrt(1 - x); /* not a number beyond 1 */
}

#endif

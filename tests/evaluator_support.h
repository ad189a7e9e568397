/* Evaluators for tests: one that is there, or one for a single question. */
#ifndef EVALUATOR_SUPPORT_H
#define EVALUATOR_SUPPORT_H

#include "system/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline bg_evaluator *new_evaluator(const bg_system *sys)
{
    bg_error err = {BG_OK, ""};
    bg_evaluator *ev = NULL;
    if (bg_evaluator_create(sys, &ev, &err) != BG_OK)
        fail_msg("%s", err.text);
    return ev;
}

/* Outputs at a state into y [ny]. */
static inline void calc_outputs(const bg_system *sys, const bg_state *x, double *y)
{
    bg_error err = {BG_OK, ""};
    bg_evaluator *ev = new_evaluator(sys);
    bg_point p;
    assert_int_equal(bg_system_set_point(ev, x->t, x->q, x->v, x->z, x->mode, &p, &err), BG_OK);
    assert_int_equal(ev->def.outputs(ev->def.self, &p, x->a, x->lambda, y), 0);
    bg_evaluator_destroy(ev);
}

#endif

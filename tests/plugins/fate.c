/* A body that falls freely, and whose model ends its process in the way its parameter says. */
#include "bogie/system.h"

#include <signal.h>
#include <stdlib.h>

typedef enum plugin_fate { FINE, CRASH, EXIT, ENDLESS } plugin_fate;

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const double *what = self;
    if (p->t > 0.5 && *what == CRASH) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (p->t > 0.5 && *what == EXIT)
        exit(3);
    for (volatile int i = 0; p->t > 0.5 && *what == ENDLESS;)
        i = 1 - i;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = -9.81;
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    double *what = malloc(sizeof *what);
    if (!what)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory");
    *what = values[0];
    def->nq = def->nv = 1;
    def->self = what;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f;
    def->terms = terms;
    def->t_end = 1;
    return BG_OK;
}

bg_plugin_entry bogie_equations;
const bg_equations *bogie_equations(void)
{
    static const bg_parameter parameters[] = {
        {"fate", 0, "", "0 none, 1 crash, 2 exit, 3 endless"}};
    static const bg_equations family = {BG_ABI, "fate", "ends its process", parameters, 1, define};
    return &family;
}

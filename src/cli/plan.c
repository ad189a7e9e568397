#include "cli/cli.h"

#include <stdio.h>

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

void bg_plan_print(const bg_step_plan *p)
{
    printf("  work per step    %d evaluation%s of terms", p->terms, plural(p->terms));
    if (p->explicit_ > 0)
        printf(", %d of the explicit formalism", p->explicit_);
    printf(", %d factorisation%s", p->factorisations, plural(p->factorisations));
    if (p->projections > 0)
        printf(", %d projection%s of positions", p->projections, plural(p->projections));
    printf(";\n                   ");
    if (p->jacobian == 0 && p->jacobian_every == 0)
        printf("no derivatives");
    else if (p->jacobian_every == 0)
        printf("%d evaluation%s of derivatives", p->jacobian, plural(p->jacobian));
    else if (p->jacobian_every == 1)
        printf("%d evaluation%s of derivatives", p->jacobian + 1, plural(p->jacobian + 1));
    else
        printf("%d evaluation%s of derivatives, and one more in every %d steps", p->jacobian,
               plural(p->jacobian), p->jacobian_every);
    printf("; no iterations\n");
}

void bg_plan_print_most(const bg_step_plan *p, double times)
{
    const bg_matrix_work *m = &p->matrix;
    if (m->unknowns > 0)
        printf("  factorisation    %d unknowns, at most %.0f multiplications%s\n", m->unknowns,
               m->factorisation, m->repeats ? ", whatever its pivots" : "");
    printf("  most in a step   in real time, with an event or after one: %d evaluation%s, %d "
           "factorisation%s%s;\n                   at most %.3g times the work of a step without\n",
           p->terms + p->explicit_, plural(p->terms + p->explicit_), p->factorisations,
           plural(p->factorisations), p->matrix.repeats ? " with new pivots" : "", times);
}

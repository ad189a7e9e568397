#include "cli/cli.h"

#include <stdio.h>

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

/* How many, and of what: states z have derivatives of their own, also where forces need none. */
static void print_derivatives(const bg_step_plan *p)
{
    int n = p->jacobian + (p->jacobian_every == 1);
    if (p->jacobian == 0 && p->jacobian_every == 0) {
        printf("no derivatives");
        return;
    }
    if (n > 0)
        printf("%d evaluation%s of derivatives", n, plural(n));
    if (p->jacobian_every > 1)
        printf("%s in every %d steps", n > 0 ? ", and one more" : "1 evaluation of derivatives",
               p->jacobian_every);
    printf(", of %s%s%s", p->jacobian_r ? "the forces" : "",
           p->jacobian_r && p->jacobian_h ? " and " : "",
           p->jacobian_h ? "the rates of the states" : "");
}

void bg_plan_print(const bg_step_plan *p)
{
    printf("  work per step    %d evaluation%s of terms", p->terms, plural(p->terms));
    if (p->explicit_ > 0)
        printf(", %d of the explicit formalism", p->explicit_);
    printf(", %d factorisation%s", p->factorisations, plural(p->factorisations));
    if (p->projections > 0)
        printf(", %d projection%s of positions", p->projections, plural(p->projections));
    if (p->fast > 0)
        printf(";\n                   %d of the slow part, %d of the fast part in these", p->slow,
               p->fast);
    printf(";\n                   ");
    print_derivatives(p);
    printf("; no iterations\n");
    if (p->foresight_terms > 0)
        printf("                   and at most %d evaluation%s, %d factorisation%s, 1 rank of G to "
               "look "
               "ahead for change points\n",
               p->foresight_terms, plural(p->foresight_terms), p->foresight_factorisations,
               plural(p->foresight_factorisations));
    if (p->states > 0)
        printf("                   %d equation%s more, I - h dh/dz, for the states\n", p->states,
               plural(p->states));
    if (p->solutions > 0)
        printf("                   %d solution%s for the drift certificate; certificate=off saves "
               "them\n",
               p->solutions, plural(p->solutions));
}

void bg_plan_print_most(const bg_step_bound *bound)
{
    const bg_step_plan *p = &bound->most;
    const bg_matrix_work *m = &p->matrix;
    if (m->unknowns > 0 && m->usual < m->factorisation && !m->repeats)
        printf(
            "  factorisation    %d unknowns, %.0f multiplications, at most %.0f where rows have to "
            "be exchanged\n",
            m->unknowns, m->usual, m->factorisation);
    else if (m->unknowns > 0)
        printf("  factorisation    %d unknowns, at most %.0f multiplications%s\n", m->unknowns,
               m->factorisation, m->repeats ? ", whatever its pivots" : "");
    printf("  most in a step   in real time, with an event or after one: %d evaluation%s, %d "
           "factorisation%s;\n                   at most %.3g times the work of a step without%s",
           p->terms + p->explicit_, plural(p->terms + p->explicit_), p->factorisations,
           plural(p->factorisations), bound->event, bound->pivots > bound->event ? "," : "\n");
    if (bound->pivots > bound->event)
        printf("\n                   and %.3g times if all matrices had to %s\n", bound->pivots,
               m->repeats ? "choose new pivots" : "exchange rows");
    if (bound->search > 0)
        printf("                   where a change point is searched: %d evaluations, %d "
               "factorisations;\n                   at most %.3g times, whatever the pivots\n",
               bound->searching.terms + bound->searching.explicit_, bound->searching.factorisations,
               bound->search);
}

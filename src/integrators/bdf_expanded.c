/* The iteration matrix of bdf through unknowns that the system has of its own (expanded.h), where
 * that is less work than to make and to factor r by q and v, and M.
 *
 * Work is counted in multiplications of a general sparse factorisation; an entry of r by q, r by v
 * and M together costs about ten of them, one of the expansion about one (the recursions of
 * formalism/joint/ and of equations/chain.c, by instructions), and LAPACK makes about eight at the
 * price of one. The matrix itself is kept only where it is chosen. */
#include "integrators/bdf.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int count(const bg_pattern *p)
{
    return p->row_start[p->rows];
}

int bg_bdf_count_expansion(const bg_integrator *ig)
{
    const bg_expansion *e = ig->sys->expansion;
    return count(&e->x) + count(&e->q) + count(&e->v) + count(&e->a);
}

bool bg_bdf_create_expansion(const bg_integrator *ig, bg_expansion_values *out)
{
    const bg_expansion *e = ig->sys->expansion;
    out->x = BG_NEW_ARRAY(double, bg_bdf_count_expansion(ig)); /* and the others */
    if (!out->x)
        return false;
    out->q = out->x + count(&e->x);
    out->v = out->q + count(&e->q);
    out->a = out->v + count(&e->v);
    return true;
}

/* What the blocks cost: those of r, and their matrix, which is full where they are. */
static bg_status calc_cost(bg_integrator *ig, double *cost, bg_error *err)
{
    bg_bdf *m = ig->method;
    const bg_pattern *r = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    const double n = m->nv, all = m->nv + m->nz + (m->second_row ? 2 : 1) * m->ng;
    *cost = 10 * n * n + all * all * all / 24;
    if (!r || !ig->sys->def.pattern_M)
        return BG_OK;
    bg_status st = bg_bdf_matrix_create(ig, err);
    if (st == BG_OK)
        *cost = 10.0 * count(r) + bg_blocks_get_work(m->matrix.blocks, false).usual;
    bg_bdf_matrix_clear(&m->matrix);
    memset(&m->matrix, 0, sizeof m->matrix);
    return st;
}

/* Why the expansion cannot be used; NULL: it can. */
static const char *find_obstacle(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    return !ig->sys->def.expand                    ? "the system has none"
           : m->jacobian != BG_DIFFERENCE_ANALYTIC ? "it needs jacobian=analytic"
           : m->formalism != BG_FORMALISM_RESIDUAL ? "it needs formalism=residual"
           : m->update == BG_UPDATE_EXTENDED       ? "it has no update=extended"
                                                   : NULL;
}

bg_status bg_bdf_matrix_choose(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    const char *obstacle = find_obstacle(ig);
    const bool asked = m->through == BG_MATRIX_EXPANSION;
    double *row = m->matrix.row, cost = INFINITY;
    if (asked && obstacle)
        return bg_error_set(err, BG_BAD_INPUT,
                            "system '%s': integrator bdf cannot take matrix=expansion: %s; take "
                            "matrix=auto",
                            ig->sys->def.name, obstacle);
    if (obstacle || m->through == BG_MATRIX_BLOCKS)
        return BG_OK;
    bg_expanded *expanded = NULL;
    const bg_expansion *e;
    bg_status st = asked ? BG_OK : calc_cost(ig, &cost, err);
    m->matrix.row = row;
    if (st == BG_OK)
        st = bg_evaluator_prepare_expansion(ig->sys, &e, err);
    if (st == BG_OK && bg_bdf_count_expansion(ig) < cost)
        st = bg_expanded_create(ig->sys, m->second_row ? m->metric : NULL, cost, &expanded, err);
    if (!expanded)
        return st;
    if (bg_bdf_count_expansion(ig) + bg_expanded_get_work(expanded).usual < cost)
        m->matrix.expanded = expanded;
    else
        bg_expanded_destroy(expanded);
    return BG_OK;
}

static const double *find_block(const bg_bdf *m, bg_of of, bg_by by)
{
    return m->parts.B.block[(int)of * (int)BG_BY_COUNT + (int)by].values;
}

bg_expanded_values bg_bdf_matrix_get_values(const bg_bdf *m)
{
    return (bg_expanded_values){.r = m->parts.E,
                                .r_z = find_block(m, BG_OF_r, BG_BY_z),
                                .r_lambda = find_block(m, BG_OF_r, BG_BY_lambda),
                                .h_q = find_block(m, BG_OF_h, BG_BY_q),
                                .h_v = find_block(m, BG_OF_h, BG_BY_v),
                                .h_z = find_block(m, BG_OF_h, BG_BY_z),
                                .h_lambda = find_block(m, BG_OF_h, BG_BY_lambda),
                                .G = m->parts.G,
                                .w_q = find_block(m, BG_OF_w, BG_BY_q)};
}

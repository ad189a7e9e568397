/* Linearisation on independent coordinates.
 *
 * About a point (q, v, z, u) of a motion, with its a and lambda, changes fulfil
 *
 *   0 = G delta + g_u u                                          delta along V            (1)
 *   0 = G dv + w_q delta + w_u u + w_u_t u'                      w = G v + g_t            (2)
 *   0 = M da + r_q delta + r_v dv + r_z dz + r_lambda dlambda + r_u u + r_u_t u' + r_u_tt u''
 *   0 = G da + ((G a)_q + gamma_q) delta + gamma_v dv
 *            + ((G a)_u + gamma_u) u + gamma_u_t u' + gamma_u_tt u''                      (3)
 *   dz' = h_q delta + h_v dv + h_z dz + h_lambda dlambda + h_u u + h_u_t u'               (4)
 *
 * where r = M a - f + G^T lambda at fixed a and lambda, so that r_q holds the change of G^T lambda;
 * (3) holds what bends the constraints. r_lambda = G^T but where forces depend on multipliers.
 * (G a)_q is w_q with a in place of v less w_q with zeros, since w is affine in v.
 *
 * With I the independent coordinates (tangent.c) and delta_I, dv_I given, (1) and (2) give the
 * others, (3) is one linear system for da and dlambda. The states x = (delta_I, dv_I, z) have the
 * rates (delta'_I, da_I, dz'). Where V = I, delta' = dv. Else, by d/dt (V delta) = D(V v) V delta +
 * V dv,
 *
 *   delta' = dv + V^+ ( (D_{V delta} V) v - (D_{V v} V) delta )                           (5)
 *
 * for increments along a V that moves with the motion (omega x delta for quaternions), so that a
 * top that spins steadily has constant coefficients. D is a central difference, exact for a V that
 * is linear in q.
 *
 * Where a is not zero, da depends on which coordinates were chosen: other ones change by second
 * derivatives of the one by the other, times a. Of forces alone, with a = 0 in (3), B^T M da is the
 * change of B^T f, which is that of the mechanism; where nothing accelerates it is the same.
  Matrices are in matrices.c. */
#include "linear/linearisation.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double along = 0x1p-10; /* shift of q for (5) */

/* Blocks of (1) to (4), h by lambda and all by z and u only where there are any. */
static bool is_wanted(const bg_system_def *d, bg_of of, bg_by by)
{
    static const unsigned char table[BG_OF_COUNT][BG_BY_COUNT] = {
        /* q  v  z  u u_t u_tt lambda */
        {1, 1, 1, 1, 1, 1, 1}, /* r */
        {1, 1, 1, 1, 1, 0, 1}, /* h */
        {0, 0, 0, 1, 0, 0, 0}, /* g */
        {1, 0, 0, 1, 1, 0, 0}, /* w */
        {1, 1, 0, 1, 1, 1, 0}, /* gamma */
    };
    int rows = of == BG_OF_r ? d->nv : of == BG_OF_h ? d->nz : d->ng;
    int columns = by == BG_BY_z        ? d->nz
                  : by == BG_BY_lambda ? d->ng
                  : by >= BG_BY_u      ? d->nu
                                       : d->nv;
    if (of == BG_OF_h && by == BG_BY_lambda && !d->f_of_lambda)
        return false;
    return table[of][by] && rows > 0 && columns > 0;
}

static void list(void *object, bg_arena *arena)
{
    bg_linearisation *l = object;
    const bg_system *sys = l->sys->system;
    int nV = bg_system_get_size_V(sys);
    bg_terms_take(sys, true, &l->terms, arena);
    for (bg_of of = 0; of < BG_OF_COUNT; of++)
        for (bg_by by = 0; by < BG_BY_COUNT; by++)
            if (is_wanted(&sys->def, of, by))
                BG_TAKE(arena, l->block[of][by], bg_system_count_values(sys, of, by));
    BG_TAKE(arena, l->Ga_q, l->ng > 0 ? bg_system_count_values(sys, BG_OF_w, BG_BY_q) : 0);
    BG_TAKE(arena, l->Ga_u,
            l->ng > 0 && l->nu > 0 ? bg_system_count_values(sys, BG_OF_w, BG_BY_u) : 0);
    for (int i = 0; i < 2; i++) {
        BG_TAKE(arena, l->side[i], nV);
        BG_TAKE(arena, l->path[i], nV);
        BG_TAKE(arena, l->y[i], l->ny);
    }
    BG_TAKE(arena, l->zero, l->nv);
    BG_TAKE(arena, l->h, l->nz);
    BG_TAKE(arena, l->q, l->nq);
    BG_TAKE(arena, l->qt, l->nq);
    BG_TAKE(arena, l->rhs, l->nv + l->ng);
    BG_TAKE(arena, l->work_g, l->ng);
    BG_TAKE(arena, l->work_v, l->nv);
    bg_perturbation *c = &l->change;
    BG_TAKE(arena, c->delta, l->nv);
    BG_TAKE(arena, c->v, l->nv);
    BG_TAKE(arena, c->z, l->nz);
    BG_TAKE(arena, c->u, 3 * l->nu);
    BG_TAKE(arena, c->a, l->nv);
    BG_TAKE(arena, c->lambda, l->ng);
    BG_TAKE(arena, c->delta_t, l->nv);
    BG_TAKE(arena, c->z_t, l->nz);
}

bool bg_linearisation_is_exact(const bg_system_def *d, bg_by by_end)
{
    unsigned terms = d->ng > 0 ? BG_TERM_G | BG_TERM_gamma : 0u;
    bool exact = (d->supplied & terms) == terms;
    for (bg_of of = 0; of < BG_OF_COUNT; of++)
        for (bg_by by = 0; by < by_end; by++)
            exact = exact && (!is_wanted(d, of, by) || d->derivative_supplied[of][by] ||
                              (of == BG_OF_r && by == BG_BY_lambda && !d->f_of_lambda));
    return exact;
}

static bg_status create_parts(bg_linearisation *l, bg_error *err)
{
    const bg_system_def *d = &l->sys->def;
    if (!(d->supplied & BG_TERM_M))
        return bg_error_set(err, BG_MISSING,
                            "system '%s' does not supply M, which its linearisation needs",
                            d->name);
    if (!bg_arena_create(&l->arena, list, l))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the linearisation of '%s'",
                            d->name);
    bg_status st = bg_state_create(l->sys->system, &l->at, err);
    if (st == BG_OK)
        st = bg_dynamics_create(l->sys, &l->dyn, err);
    if (st == BG_OK)
        st = bg_tangent_create(l->sys->system, &l->tangent, err);
    if (st == BG_OK)
        st = bg_linear_create(l->nv + l->ng, NULL, &l->matrix, err);
    if (st == BG_OK && l->kinematic)
        st = bg_linear_create(l->nv, NULL, &l->metric, err);
    return st;
}

bg_status bg_linearisation_create(bg_evaluator *sys, bg_linearisation **linearisation,
                                  bg_error *err)
{
    const bg_system_def *d = &sys->def;
    bg_linearisation *l = *linearisation = BG_NEW(bg_linearisation);
    if (!l)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the linearisation of '%s'",
                            d->name);
    l->sys = sys;
    l->nq = d->nq;
    l->nv = d->nv;
    l->nz = d->nz;
    l->ng = d->ng;
    l->nu = d->nu;
    l->ny = d->ny;
    l->kinematic = (d->supplied & BG_TERM_V) != 0;
    l->exact = bg_linearisation_is_exact(d, BG_BY_u);
    bg_status st = create_parts(l, err);
    if (st != BG_OK) {
        bg_linearisation_destroy(l);
        *linearisation = NULL;
    }
    return st;
}

void bg_linearisation_destroy(bg_linearisation *l)
{
    if (!l)
        return;
    bg_linear_destroy(l->metric);
    bg_linear_destroy(l->matrix);
    bg_tangent_destroy(l->tangent);
    bg_dynamics_destroy(l->dyn);
    bg_state_destroy(l->at);
    bg_arena_clear(&l->arena);
    free(l);
}

/* y <- y + block x */
static void add(const bg_linearisation *l, bg_of of, bg_by by, const double *block, const double *x,
                double *y)
{
    const bg_pattern *p = bg_system_get_pattern(l->sys->system, of, by);
    int rows = bg_system_get_rows(l->sys->system, of);
    int columns = bg_system_get_columns(l->sys->system, by);
    for (int i = 0; block && i < rows; i++) {
        double sum = 0;
        for (int k = p ? p->row_start[i] : 0; k < (p ? p->row_start[i + 1] : columns); k++)
            sum += p ? block[k] * x[p->column[k]] : block[i * columns + k] * x[k];
        y[i] += sum;
    }
}

static void add_block(const bg_linearisation *l, bg_of of, bg_by by, const double *x, double *y)
{
    add(l, of, by, l->block[of][by], x, y);
}

/* (G a)_q and (G a)_u from w with a and with zeros in place of v. */
static bg_status update_bending(bg_linearisation *l, const bg_point *at, bg_error *err)
{
    bg_point p = *at;
    bg_derivatives d = {0};
    int nq = bg_system_count_values(l->sys->system, BG_OF_w, BG_BY_q);
    int nu = l->nu > 0 ? bg_system_count_values(l->sys->system, BG_OF_w, BG_BY_u) : 0;
    double *keep_q = l->block[BG_OF_w][BG_BY_q], *keep_u = l->block[BG_OF_w][BG_BY_u];
    p.v = l->of_forces ? l->zero : l->at->a;
    d.block[BG_OF_w][BG_BY_q] = l->Ga_q;
    d.block[BG_OF_w][BG_BY_u] = nu > 0 ? l->Ga_u : NULL;
    bg_status st = bg_system_calc_derivatives(l->sys, &p, l->at->a, l->at->lambda, &d, err);
    p.v = l->zero;
    d.block[BG_OF_w][BG_BY_q] = keep_q;
    d.block[BG_OF_w][BG_BY_u] = keep_u;
    if (st == BG_OK)
        st = bg_system_calc_derivatives(l->sys, &p, l->at->a, l->at->lambda, &d, err);
    for (int k = 0; k < nq; k++)
        l->Ga_q[k] -= keep_q[k];
    for (int k = 0; k < nu; k++)
        l->Ga_u[k] -= keep_u[k];
    return st;
}

static bg_status update_blocks(bg_linearisation *l, const bg_point *p, bg_error *err)
{
    const double *a = l->of_forces ? l->zero : l->at->a;
    bg_derivatives d = {0};
    memcpy(d.block, l->block, sizeof d.block);
    bg_status st = l->ng > 0 ? update_bending(l, p, err) : BG_OK;
    return st == BG_OK ? bg_system_calc_derivatives(l->sys, p, a, l->at->lambda, &d, err) : st;
}

/* Row i of dr/dlambda, or of G^T. */
static void fill_row(const bg_linearisation *l, int i, bool of_forces, double *row)
{
    const bg_pattern *G = l->sys->def.pattern_G;
    const bg_pattern *R = bg_system_get_pattern(l->sys->system, BG_OF_r, BG_BY_lambda);
    const double *r = l->block[BG_OF_r][BG_BY_lambda];
    if (of_forces)
        for (int k = R ? R->row_start[i] : 0; k < (R ? R->row_start[i + 1] : l->ng); k++)
            row[R ? R->column[k] : k] = r[R ? k : i * l->ng + k];
    for (int j = 0; j < l->ng && !of_forces; j++)
        for (int k = G ? G->row_start[j] : 0; k < (G ? G->row_start[j + 1] : l->nv); k++)
            if ((G ? G->column[k] : k) == i)
                row[j] = l->terms.G[G ? k : j * l->nv + k];
}

/* The matrix of (3), where rows that are left out are those of an identity; without forces that
 * depend on multipliers, that of least changes. */
static bg_status factor(bg_linearisation *l, bool of_forces, bg_error *err)
{
    const bg_system_def *d = &l->sys->def;
    const bg_pattern *M = d->pattern_M, *G = d->pattern_G;
    const unsigned char *out = l->tangent->left_out;
    size_t n = (size_t)(l->nv + l->ng), nv = (size_t)l->nv;
    double *K = bg_linear_get_values(l->matrix);
    memset(K, 0, n * n * sizeof *K);
    for (int i = 0; i < l->nv; i++) {
        double *row = K + (size_t)i * n;
        for (int k = M ? M->row_start[i] : 0; k < (M ? M->row_start[i + 1] : l->nv); k++)
            row[M ? M->column[k] : k] = l->terms.M[M ? k : i * l->nv + k];
        if (l->ng > 0)
            fill_row(l, i, of_forces, row + nv);
        for (int j = 0; j < l->ng; j++)
            row[nv + (size_t)j] *= !out[j];
    }
    for (int i = 0; i < l->ng; i++) {
        double *row = K + (nv + (size_t)i) * n;
        row[nv + (size_t)i] = out[i];
        for (int k = G ? G->row_start[i] : 0; !out[i] && k < (G ? G->row_start[i + 1] : l->nv); k++)
            row[G ? G->column[k] : k] = l->terms.G[G ? k : i * l->nv + k];
    }
    if (bg_linear_factor(l->matrix) == BG_OK)
        return BG_OK;
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': the matrix [M G'; G 0] is singular at t = %.17g: there is no "
                        "linearisation where constraints depend on others or mass is missing",
                        d->name, l->at->t);
}

/* V at q + step qt, not normalised. */
static bg_status calc_V(bg_linearisation *l, double step, const double *qt, double *V,
                        bg_error *err)
{
    bg_point p;
    bg_terms out = {.V = V};
    for (int i = 0; i < l->nq; i++)
        l->q[i] = l->at->q[i] + step * qt[i];
    bg_status st = bg_system_set_point(l->sys, l->at->t, l->q, l->at->v, l->at->z, l->at->mode, &p,
                                       err);
    return st == BG_OK ? bg_system_calc_terms(l->sys, &p, BG_TERM_V, &out, err) : st;
}

/* V^T V, and V beside the point along the motion. */
static bg_status update_kinematics(bg_linearisation *l, bg_error *err)
{
    const bg_pattern *p = l->sys->def.pattern_V;
    int nv = l->nv;
    if (!l->kinematic || !l->moves)
        return BG_OK;
    double *K = bg_linear_get_values(l->metric);
    memset(K, 0, (size_t)nv * (size_t)nv * sizeof *K);
    for (int i = 0; i < l->nq; i++) {
        int begin = p ? p->row_start[i] : i * nv, end = p ? p->row_start[i + 1] : begin + nv;
        for (int k = begin; k < end; k++)
            for (int m = begin; m < end; m++)
                K[(p ? p->column[k] : k - begin) * nv + (p ? p->column[m] : m - begin)] +=
                    l->terms.V[k] * l->terms.V[m];
    }
    if (bg_linear_factor(l->metric) != BG_OK)
        return bg_error_set(err, BG_SINGULAR, "system '%s': V is singular at t = %.17g",
                            l->sys->def.name, l->at->t);
    bg_matrix_multiply(l->nq, nv, p, l->terms.V, l->at->v, l->qt);
    bg_status st = calc_V(l, along, l->qt, l->path[0], err);
    return st == BG_OK ? calc_V(l, -along, l->qt, l->path[1], err) : st;
}

bg_status bg_linearisation_update(bg_linearisation *l, const bg_state *x,
                                  const bg_redundancy *redundancy, bg_error *err)
{
    bg_state *at = l->at;
    bg_point p;
    bg_state_copy(l->sys->system, x, at);
    bg_dynamics_set_eliminated(l->dyn, redundancy);
    bg_dynamics_set_guess(l->dyn, x->lambda);
    bg_status st = bg_dynamics_accelerate(l->dyn, at->t, at->q, at->v, at->z, at->mode, 0, at->a,
                                          at->lambda, err);
    if (st != BG_OK)
        return st;
    memcpy(l->h, l->dyn->terms.h, (size_t)l->nz * sizeof *l->h);
    l->moves = false;
    for (int i = 0; i < l->nv; i++)
        l->moves = l->moves || at->v[i] != 0;
    unsigned want = BG_TERM_M | (l->ng > 0 ? BG_TERM_G | BG_TERM_gt : 0u) |
                    (l->kinematic ? BG_TERM_V : 0u);
    st = bg_system_set_state(l->sys, at, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(l->sys, &p, want, &l->terms, err);
    if (st == BG_OK)
        st = update_blocks(l, &p, err);
    if (st == BG_OK)
        st = bg_tangent_update(l->tangent, l->terms.G, l->dyn->eliminated, err);
    if (st == BG_OK)
        st = factor(l, true, err);
    if (st == BG_OK)
        st = update_kinematics(l, err);
    l->n = l->tangent->n;
    l->nx = 2 * l->n + l->nz;
    return st;
}

/* delta' of (5). */
static bg_status calc_rates(bg_linearisation *l, bg_perturbation *c, bg_error *err)
{
    const bg_pattern *p = l->sys->def.pattern_V;
    int nv = l->nv, nq = l->nq;
    memcpy(c->delta_t, c->v, (size_t)nv * sizeof *c->v);
    if (!l->kinematic || !l->moves)
        return BG_OK;
    bg_matrix_multiply(nq, nv, p, l->terms.V, c->delta, l->qt);
    bg_status st = calc_V(l, along, l->qt, l->side[0], err);
    if (st == BG_OK)
        st = calc_V(l, -along, l->qt, l->side[1], err);
    if (st != BG_OK)
        return st;
    memset(l->qt, 0, (size_t)nq * sizeof *l->qt);
    for (int s = 0; s < 2; s++) {
        double weight = (s == 0 ? 1 : -1) / (2 * along);
        bg_matrix_multiply(nq, nv, p, l->side[s], l->at->v, l->q);
        for (int i = 0; i < nq; i++)
            l->qt[i] += weight * l->q[i];
        bg_matrix_multiply(nq, nv, p, l->path[s], c->delta, l->q);
        for (int i = 0; i < nq; i++)
            l->qt[i] -= weight * l->q[i];
    }
    memset(l->work_v, 0, (size_t)nv * sizeof *l->work_v);
    bg_matrix_add_transposed(nq, nv, p, l->terms.V, 1.0, l->qt, l->work_v);
    bg_linear_solve(l->metric, l->work_v);
    for (int i = 0; i < nv; i++)
        c->delta_t[i] += l->work_v[i];
    return BG_OK;
}

/* (3), (4) and (5) for a change that fulfils (1) and (2). */
static bg_status respond(bg_linearisation *l, bg_perturbation *c, bg_error *err)
{
    double *top = l->rhs, *low = l->rhs + l->nv;
    const double *u[3] = {c->u, c->u + l->nu, c->u + 2 * l->nu};
    memset(l->rhs, 0, (size_t)(l->nv + l->ng) * sizeof *l->rhs);
    for (bg_of of = BG_OF_r; of <= BG_OF_gamma; of += BG_OF_gamma - BG_OF_r) {
        double *out = of == BG_OF_r ? top : low;
        add_block(l, of, BG_BY_q, c->delta, out);
        add_block(l, of, BG_BY_v, c->v, out);
        add_block(l, of, BG_BY_z, c->z, out);
        for (int k = 0; k < 3; k++)
            add_block(l, of, (bg_by)(BG_BY_u + k), u[k], out);
    }
    if (l->ng > 0)
        add(l, BG_OF_w, BG_BY_q, l->Ga_q, c->delta, low);
    if (l->ng > 0 && l->nu > 0)
        add(l, BG_OF_w, BG_BY_u, l->Ga_u, c->u, low);
    for (int i = 0; i < l->nv + l->ng; i++)
        l->rhs[i] = i >= l->nv && l->tangent->left_out[i - l->nv] ? 0 : -l->rhs[i];
    bg_linear_solve(l->matrix, l->rhs);
    memcpy(c->a, top, (size_t)l->nv * sizeof *top);
    memcpy(c->lambda, low, (size_t)l->ng * sizeof *low);
    memset(c->z_t, 0, (size_t)l->nz * sizeof *c->z_t);
    add_block(l, BG_OF_h, BG_BY_q, c->delta, c->z_t);
    add_block(l, BG_OF_h, BG_BY_v, c->v, c->z_t);
    add_block(l, BG_OF_h, BG_BY_z, c->z, c->z_t);
    add_block(l, BG_OF_h, BG_BY_lambda, c->lambda, c->z_t);
    add_block(l, BG_OF_h, BG_BY_u, u[0], c->z_t);
    add_block(l, BG_OF_h, BG_BY_u_t, u[1], c->z_t);
    return calc_rates(l, c, err);
}

/* The dependent velocities of (2). */
static void complete_velocity(bg_linearisation *l, bg_perturbation *c, const double *y)
{
    memset(l->work_g, 0, (size_t)l->ng * sizeof *l->work_g);
    add_block(l, BG_OF_w, BG_BY_q, c->delta, l->work_g);
    add_block(l, BG_OF_w, BG_BY_u, c->u, l->work_g);
    add_block(l, BG_OF_w, BG_BY_u_t, c->u + l->nu, l->work_g);
    for (int i = 0; i < l->ng; i++)
        l->work_g[i] = -l->work_g[i];
    bg_tangent_expand(l->tangent, y, l->work_g, c->v);
}

/* What follows from a change of freedoms by y [n] and of their rates by w [n], NULL: zeros, and of
 * z and u, which the change has. */
static bg_status follow(bg_linearisation *l, const double *y, const double *w, bg_error *err)
{
    bg_perturbation *c = &l->change;
    bool shifted = l->block[BG_OF_g][BG_BY_u] != NULL;
    memset(l->work_g, 0, (size_t)l->ng * sizeof *l->work_g);
    add_block(l, BG_OF_g, BG_BY_u, c->u, l->work_g); /* (1) */
    for (int i = 0; i < l->ng; i++)
        l->work_g[i] = -l->work_g[i];
    bg_tangent_expand(l->tangent, y, shifted ? l->work_g : NULL, c->delta);
    complete_velocity(l, c, w);
    return respond(l, c, err);
}

bg_status bg_linearisation_vary(bg_linearisation *l, int k, const bg_perturbation **change,
                                bg_error *err)
{
    bg_perturbation *c = &l->change;
    double *unit = l->rhs; /* [n] */
    memset(c->z, 0, (size_t)l->nz * sizeof *c->z);
    memset(c->u, 0, 3 * (size_t)l->nu * sizeof *c->u);
    memset(unit, 0, (size_t)l->n * sizeof *unit);
    if (k >= l->nx)
        c->u[k - l->nx] = 1;
    else if (k >= 2 * l->n)
        c->z[k - 2 * l->n] = 1;
    else
        unit[k % l->n] = 1;
    *change = c;
    return follow(l, k < l->n ? unit : NULL, k >= l->n && k < 2 * l->n ? unit : NULL, err);
}

/* The least change x [nv] in the mass metric that meets G x = -low [ng]. */
static void add_least(bg_linearisation *l, const double *low, double *x)
{
    memset(l->rhs, 0, (size_t)l->nv * sizeof *l->rhs);
    for (int i = 0; i < l->ng; i++)
        l->rhs[l->nv + i] = l->tangent->left_out[i] ? 0 : -low[i];
    bg_linear_solve(l->matrix, l->rhs);
    for (int i = 0; i < l->nv; i++)
        x[i] += l->rhs[i];
}

/* (1) and (2) by least changes. */
static bg_status meet_constraints(bg_linearisation *l, bg_perturbation *c, bg_error *err)
{
    const bg_system_def *d = &l->sys->def;
    bg_status st = d->f_of_lambda ? factor(l, false, err) : BG_OK;
    if (st != BG_OK)
        return st;
    bg_matrix_multiply(l->ng, l->nv, d->pattern_G, l->terms.G, c->delta, l->work_g);
    add_block(l, BG_OF_g, BG_BY_u, c->u, l->work_g);
    add_least(l, l->work_g, c->delta);
    memset(l->work_g, 0, (size_t)l->ng * sizeof *l->work_g);
    add_block(l, BG_OF_w, BG_BY_q, c->delta, l->work_g);
    add_block(l, BG_OF_w, BG_BY_u, c->u, l->work_g);
    add_least(l, l->work_g, c->v);
    return d->f_of_lambda ? factor(l, true, err) : BG_OK;
}

bg_status bg_linearisation_jump(bg_linearisation *l, const double *du,
                                const bg_perturbation **change, bg_error *err)
{
    const bg_system_def *d = &l->sys->def;
    bg_perturbation *c = &l->change;
    bg_point p;
    bg_status st = bg_system_set_state(l->sys, l->at, &p, err);
    memset(c->delta, 0, (size_t)l->nv * sizeof *c->delta);
    memset(c->v, 0, (size_t)l->nv * sizeof *c->v);
    memset(c->z, 0, (size_t)l->nz * sizeof *c->z);
    memset(c->u, 0, 3 * (size_t)l->nu * sizeof *c->u);
    memcpy(c->u, du, (size_t)l->nu * sizeof *c->u);
    *change = c;
    p.u_t = c->u; /* by which coordinates jump as velocities do by rates (run/driven.h) */
    if (st == BG_OK && d->jump && d->jump(d->self, &p, c->u + l->nu, c->delta) != 0)
        st = bg_error_set(err, BG_SYSTEM_FAILED, "system '%s': `jump` failed at t = %.17g", d->name,
                          p.t);
    if (st == BG_OK && l->ng > 0)
        st = meet_constraints(l, c, err);
    return st == BG_OK ? respond(l, c, err) : st;
}

double bg_linearisation_calc_size(const bg_linearisation *l, const double *delta)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < l->nv; i++) {
        double part = delta[i] / l->tangent->unit[i];
        sum = bg_system_get_block(l->sys->system, i) == i ? part * part : sum + part * part;
        largest = fmax(largest, sum);
    }
    return sqrt(largest);
}

/* Derivatives of the residuals of a stage along the motions that are integrated.
 *
 * Columns of B span the motions: P e_j of the coordinates that the frame has chosen, or, for the
 * full matrix, all of P. Along each of them r, the constraints of accelerations and h change by
 *
 *     S2 = (r_q + r_v J) B,                       S1 = r_v B,          J x = -(the correction with
 *     T2 = ((G a)_q + gamma_q + gamma_v J) B,     T1 = gamma_v B,       G J x = w_q x)        (45)
 *     Z2 = (h_q + h_v J) B,                       Z1 = h_v B,
 *
 * and, reduced to the motions with the corrections D1 and D2 that T1 and T2 ask for,
 *
 *     M = B^T M B,   C = B^T (S1 - M D1),   K = B^T (S2 - M D2). */
#include "integrators/dirk.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double least_basis = 0.01;       /* pivot of P on the chosen coordinates */
static const double worse = 1.25, good = 0.1; /* of the condition of a partition */

const double *bg_dirk_get_block(const bg_dirk *m, bg_of of, bg_by by)
{
    return m->B.block[(int)of * (int)BG_BY_COUNT + (int)by].values;
}

const bg_pattern *bg_dirk_get_pattern(const bg_integrator *ig, bg_of of, bg_by by)
{
    return bg_system_get_pattern(ig->sys->system, of, by);
}

void bg_dirk_multiply(const bg_integrator *ig, bg_of of, bg_by by, const double *x, double *y)
{
    const bg_dirk *m = ig->method;
    bg_matrix_multiply(bg_system_get_rows(ig->sys->system, of),
                       bg_system_get_columns(ig->sys->system, by), bg_dirk_get_pattern(ig, of, by),
                       bg_dirk_get_block(m, of, by), x, y);
}

static void multiply_add(const bg_integrator *ig, bg_of of, bg_by by, const double *x, double *y)
{
    bg_dirk *m = ig->method;
    double *sum = m->work_n;
    int rows = bg_system_get_rows(ig->sys->system, of);
    bg_dirk_multiply(ig, of, by, x, sum);
    for (int i = 0; i < rows; i++)
        y[i] += sum[i];
}

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_dirk *m = ig->method;
    bg_dirk_columns *c = &m->columns;
    size_t n = (size_t)c->room, nv = (size_t)m->nv, ng = (size_t)m->ng, nz = (size_t)m->nz;
    double **const of_v[] = {&c->B, &c->S1, &c->S2, &c->D1, &c->D2};
    for (size_t i = 0; i < sizeof of_v / sizeof *of_v; i++)
        BG_TAKE(arena, *of_v[i], nv * n);
    BG_TAKE(arena, c->T1, ng * n);
    BG_TAKE(arena, c->T2, ng * n);
    BG_TAKE(arena, c->Z1, nz * n);
    BG_TAKE(arena, c->Z2, nz * n);
    BG_TAKE(arena, c->WZ, nz * n);
    BG_TAKE(arena, c->x, n);
    double **const of_n[] = {&c->M, &c->C, &c->K};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        BG_TAKE(arena, *of_n[i], m->full ? 0 : n * n);
}

bg_status bg_dirk_matrix_resize(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    bg_dirk_columns *c = &m->columns;
    bg_error err;
    if (m->ng == 0)
        return BG_OK;
    int n = m->full ? m->nv : m->frame.n;
    if (c->arena.memory && c->room == n)
        return BG_OK;
    bg_arena_clear(&c->arena);
    bg_linear_destroy(m->reduced);
    m->reduced = NULL;
    c->n = c->room = n;
    if (!bg_arena_create(&c->arena, list, ig))
        return BG_NO_MEMORY;
    return m->full || n == 0 ? BG_OK : bg_linear_create(n, NULL, &m->reduced, &err);
}

void bg_dirk_matrix_apply(bg_integrator *ig, const double *x, double *r, double *g, double *h)
{
    bg_dirk *m = ig->method;
    double *j = m->work_v;
    bg_dirk_multiply(ig, BG_OF_r, BG_BY_q, x, r);
    if (m->nz > 0)
        bg_dirk_multiply(ig, BG_OF_h, BG_BY_q, x, h);
    if (m->ng == 0)
        return;
    bg_dirk_multiply(ig, BG_OF_w, BG_BY_q, x, m->work_g);
    bg_frame_correct(&m->frame, m->work_g, j);
    for (int i = 0; i < m->nv; i++)
        j[i] = -j[i];
    multiply_add(ig, BG_OF_r, BG_BY_v, j, r);
    bg_matrix_multiply(m->ng, m->nv, bg_dirk_get_pattern(ig, BG_OF_w, BG_BY_q), m->Ga, x, g);
    multiply_add(ig, BG_OF_gamma, BG_BY_q, x, g);
    multiply_add(ig, BG_OF_gamma, BG_BY_v, j, g);
    if (m->nz > 0)
        multiply_add(ig, BG_OF_h, BG_BY_v, j, h);
}

/* (G a)_q: w by q at v = a, less what of it does not depend on v. */
static bg_status calc_Ga(bg_integrator *ig, bg_point p, const bg_dirk_place *at, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bg_pattern *pattern = bg_dirk_get_pattern(ig, BG_OF_w, BG_BY_q);
    bg_derivatives out = {.only_stiff = 0};
    const int size = pattern ? pattern->row_start[m->ng] : m->ng * m->nv;
    p.v = at->a;
    out.block[BG_OF_w][BG_BY_q] = m->Ga;
    bg_status st = bg_system_calc_derivatives(ig->sys, &p, at->a, at->lambda, &out, err);
    if (st != BG_OK || ig->sys->def.scleronomic)
        return st;
    memset(m->motion, 0, (size_t)m->nv * sizeof(double));
    p.v = m->motion;
    out.block[BG_OF_w][BG_BY_q] = m->Ga_zero;
    st = bg_system_calc_derivatives(ig->sys, &p, at->a, at->lambda, &out, err);
    for (int i = 0; i < size; i++)
        m->Ga[i] -= m->Ga_zero[i];
    return st;
}

/* Whether P e_j of the chosen coordinates are still a good basis: pivots of P on them, in sizes. */
static bool check_basis(const bg_dirk *m)
{
    const bg_motion_frame *f = &m->frame;
    const bg_dirk_columns *c = &m->columns;
    double *P = c->K;
    const int n = c->n;
    for (int k = 0; k < n; k++)
        for (int i = k; i < n; i++) {
            int row = f->independent[i], column = f->independent[k];
            P[i * n + k] = c->B[(size_t)k * (size_t)m->nv + (size_t)row] * f->unit[column] /
                           f->unit[row];
        }
    for (int k = 0; k < n; k++) {
        if (!(P[k * n + k] > least_basis))
            return false;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j <= i; j++)
                P[i * n + j] -= P[i * n + k] * P[j * n + k] / P[k * n + k];
    }
    return true;
}

static void fill_B(bg_dirk *m)
{
    bg_dirk_columns *c = &m->columns;
    for (int k = 0; k < c->n; k++) {
        double *x = c->B + (size_t)k * (size_t)m->nv;
        memset(x, 0, (size_t)m->nv * sizeof(double));
        x[m->full ? k : m->frame.independent[k]] = 1;
        bg_frame_project(&m->frame, x);
    }
}

/* The frame at G, with other coordinates where those at hand have become bad. */
static bg_status update_frame(bg_dirk *m)
{
    bg_motion_frame *f = &m->frame;
    bg_status st = f->choices > 0 ? bg_frame_factor(f, m->G) : bg_frame_choose(f, m->G);
    if (f->coordinates && st == BG_OK) {
        double rcond = bg_frame_calc_rcond(f);
        const bool stays = m->by_stage && !m->own_frames;
        if (!stays && rcond * worse < f->rcond && rcond < good)
            st = bg_frame_choose(f, m->G);
    } else if (st == BG_SINGULAR) {
        st = bg_frame_choose(f, m->G);
    }
    if (st != BG_OK)
        return st;
    fill_B(m);
    if (f->coordinates || m->full || check_basis(m))
        return BG_OK;
    st = bg_frame_choose(f, m->G);
    if (st == BG_OK)
        fill_B(m);
    return st;
}

/* sum[n n] <- B^T (x - M d), column by column; d may be NULL. */
static void reduce(const bg_integrator *ig, const double *x, const double *d, double *sum)
{
    bg_dirk *m = ig->method;
    const bg_dirk_columns *c = &m->columns;
    const size_t nv = (size_t)m->nv;
    for (int k = 0; k < c->n; k++) {
        double *y = m->psi1;
        memset(y, 0, nv * sizeof(double));
        if (d)
            bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, m->B.block[BG_KEPT_M].values,
                               d + (size_t)k * nv, y);
        for (int i = 0; i < m->nv; i++)
            y[i] = (x ? x[(size_t)k * nv + (size_t)i] : 0) - y[i];
        for (int i = 0; i < c->n; i++) {
            const double *b = c->B + (size_t)i * nv;
            double s = 0;
            for (size_t j = 0; j < nv; j++)
                s += b[j] * y[j];
            sum[i * c->n + k] = s;
        }
    }
}

static void fill_columns(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    bg_dirk_columns *c = &m->columns;
    const size_t nv = (size_t)m->nv, ng = (size_t)m->ng, nz = (size_t)m->nz;
    for (size_t k = 0; k < (size_t)c->n; k++) {
        const double *b = c->B + k * nv;
        bg_dirk_matrix_apply(ig, b, c->S2 + k * nv, c->T2 + k * ng, c->Z2 + k * nz);
        bg_dirk_multiply(ig, BG_OF_r, BG_BY_v, b, c->S1 + k * nv);
        bg_dirk_multiply(ig, BG_OF_gamma, BG_BY_v, b, c->T1 + k * ng);
        if (m->nz > 0)
            bg_dirk_multiply(ig, BG_OF_h, BG_BY_v, b, c->Z1 + k * nz);
        if (m->full)
            continue;
        memcpy(m->work_g, c->T1 + k * ng, ng * sizeof(double));
        bg_frame_correct(&m->frame, m->work_g, c->D1 + k * nv);
        memcpy(m->work_g, c->T2 + k * ng, ng * sizeof(double));
        bg_frame_correct(&m->frame, m->work_g, c->D2 + k * nv);
    }
    if (m->full)
        return;
    reduce(ig, NULL, c->B, c->M);
    for (int i = 0; i < c->n * c->n; i++)
        c->M[i] = -c->M[i];
    reduce(ig, c->S1, c->D1, c->C);
    reduce(ig, c->S2, c->D2, c->K);
}

void bg_dirk_columns_fill(bg_integrator *ig)
{
    fill_B(ig->method);
    fill_columns(ig);
}

bg_status bg_dirk_matrix_refuse(const bg_integrator *ig, bg_error *err)
{
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': constraints became dependent at t = %.17g (a singular "
                        "position), and independent motions cannot be told apart there",
                        ig->sys->def.name, ig->x0->t);
}

bg_status bg_dirk_matrix_update(bg_integrator *ig, const bg_dirk_place *at, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_terms out = {.G = m->G};
    bg_point p;
    m->made_at = NAN;
    m->factored = 0;
    ig->count.corrector.evaluations++;
    bg_status st = bg_system_set_point(ig->sys, at->t, at->q, at->v, at->z, ig->x0->mode, &p, err);
    if (ig->sys->def.f_of_lambda)
        p.lambda = at->lambda;
    if (st == BG_OK)
        st = bg_jacobian_update(&m->B, m->blocks, false, &p, at->a, at->lambda, ig->h, err);
    if (st == BG_OK && m->ng > 0)
        st = bg_system_calc_terms(ig->sys, &p, BG_TERM_G, &out, err);
    if (st == BG_OK && m->ng > 0)
        st = calc_Ga(ig, p, at, err);
    if (st != BG_OK)
        return st;
    if (m->ng > 0) {
        if (update_frame(m) != BG_OK)
            return bg_dirk_matrix_refuse(ig, err);
        fill_columns(ig);
    }
    m->made_at = at->t;
    return BG_OK;
}

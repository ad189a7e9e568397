/* The integration matrix of 002 and its reduced form.
 *
 * A change of a stage by da, dlambda and dz' = dzeta moves, with s = h gamma and P the projection
 * onto the motions that the constraints allow (frame.h),
 *
 *     positions by s^2 P da,   velocities by s P da + s^2 J P da,   z by s dzeta,
 *
 * J x = -(the correction with G J x = w_q x) (45). What that changes in the residuals
 * M a + G^T lambda - f, G a + gamma and zeta - h is
 *
 *     [ M + S      r_lambda    s r_z     ]   S = s^2 (r_q + r_v J) P + s r_v P
 *     [ G + T      0           0         ]   T = s^2 ((G a)_q + gamma_q + gamma_v J) P
 *                                                + s gamma_v P
 *     [ -Z         -h_lambda   I - s h_z ]   Z = s^2 (h_q + h_v J) P + s h_v P           (51)
 *
 * r_lambda is G^T unless forces depend on multipliers. Without constraints P = I, and the blocks
 * stay in the patterns of the system. With them, and r_lambda = G^T, a basis B of the motions
 * leaves
 *
 *     B^T (M B~ + S) dy,      B~ = B - (the correction with G B~ = -T)                   (reduced)
 *
 * with as many rows as there are freedoms: the other rows give da, dlambda and dzeta one by one. s
 * enters in powers only, so that another step takes no new derivatives. */
#include "integrators/dirk.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { V, L, Z, GROUPS };
enum { MASS, S2, S1, LOWER, T2, T1, UPPER, R_Z, Z2, Z1, UNIT, H_Z, H_LAMBDA, BLOCKS };
enum { FACTS = 5 }; /* numbers kept beside arrays */

static uint64_t choose_blocks(const bg_integrator *ig, const bg_dirk *m)
{
    uint64_t blocks = BG_KEPT_MASS | BG_KEPT(BG_OF_r, BG_BY_q) | BG_KEPT(BG_OF_r, BG_BY_v);
    bool lambda = ig->sys->def.f_of_lambda != 0;
    if (m->nz > 0)
        blocks |= BG_KEPT(BG_OF_r, BG_BY_z) | BG_KEPT(BG_OF_h, BG_BY_q) |
                  BG_KEPT(BG_OF_h, BG_BY_v) | BG_KEPT(BG_OF_h, BG_BY_z);
    if (m->ng > 0)
        blocks |= BG_KEPT(BG_OF_w, BG_BY_q) | BG_KEPT(BG_OF_gamma, BG_BY_q) |
                  BG_KEPT(BG_OF_gamma, BG_BY_v);
    if (lambda)
        blocks |= BG_KEPT(BG_OF_r, BG_BY_lambda);
    if (lambda && m->nz > 0)
        blocks |= BG_KEPT(BG_OF_h, BG_BY_lambda);
    return blocks;
}

/* Columns of P, stored one after another, are the transpose of a dense block. */
static bg_block make_column_block(const bg_integrator *ig, int row, bg_of of, bg_by by)
{
    const bg_dirk *m = ig->method;
    if (m->ng > 0)
        return (bg_block){row, V, BG_BLOCK_TRANSPOSED, NULL};
    return (bg_block){row, V, BG_BLOCK_PLAIN, bg_dirk_get_pattern(ig, of, by)};
}

static bg_status create_whole(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bg_system_def *def = &ig->sys->def;
    const bg_group groups[GROUPS] = {{m->nv, 0}, {m->ng, 0}, {m->nz, 0}};
    const bg_block upper = def->f_of_lambda
                               ? (bg_block){V, L, BG_BLOCK_PLAIN,
                                            bg_dirk_get_pattern(ig, BG_OF_r, BG_BY_lambda)}
                               : (bg_block){V, L, BG_BLOCK_TRANSPOSED, def->pattern_G};
    const bg_block blocks[BLOCKS] = {
        [MASS] = {V, V, BG_BLOCK_PLAIN, def->pattern_M},
        [S2] = make_column_block(ig, V, BG_OF_r, BG_BY_q),
        [S1] = make_column_block(ig, V, BG_OF_r, BG_BY_v),
        [LOWER] = {L, V, BG_BLOCK_PLAIN, def->pattern_G},
        [T2] = {L, V, BG_BLOCK_TRANSPOSED, NULL},
        [T1] = {L, V, BG_BLOCK_TRANSPOSED, NULL},
        [UPPER] = upper,
        [R_Z] = {V, Z, BG_BLOCK_PLAIN, bg_dirk_get_pattern(ig, BG_OF_r, BG_BY_z)},
        [Z2] = make_column_block(ig, Z, BG_OF_h, BG_BY_q),
        [Z1] = make_column_block(ig, Z, BG_OF_h, BG_BY_v),
        [UNIT] = {Z, Z, BG_BLOCK_UNIT, NULL},
        [H_Z] = {Z, Z, BG_BLOCK_PLAIN, bg_dirk_get_pattern(ig, BG_OF_h, BG_BY_z)},
        [H_LAMBDA] = {Z, L, BG_BLOCK_PLAIN, bg_dirk_get_pattern(ig, BG_OF_h, BG_BY_lambda)},
    };
    const bg_blocks_def whole = {groups, blocks, GROUPS, BLOCKS};
    return bg_blocks_create(&whole, &m->whole, err);
}

static bg_status create_states(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bg_group group = {m->nz, 0};
    const bg_block blocks[] = {{0, 0, BG_BLOCK_UNIT, NULL},
                               {0, 0, BG_BLOCK_PLAIN, bg_dirk_get_pattern(ig, BG_OF_h, BG_BY_z)}};
    const bg_blocks_def states = {&group, blocks, 1, 2};
    return bg_blocks_create(&states, &m->states, err);
}

bg_status bg_dirk_matrix_create(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    m->blocks = choose_blocks(ig, m);
    m->made_at = NAN;
    const bg_pattern *w = bg_dirk_get_pattern(ig, BG_OF_w, BG_BY_q);
    bg_status st = bg_jacobian_create(&m->B, ig->sys, m->blocks, err);
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        m->kept_size += m->B.block[k].size;
    m->kept_size += bg_system_get_size_G(ig->sys->system) + 2 * m->nv + FACTS;
    m->kept_size += w ? w->row_start[m->ng] : m->ng * m->nv;
    if (st == BG_OK && m->full)
        return create_whole(ig, err);
    return st == BG_OK && m->nz > 0 ? create_states(ig, err) : st;
}

void bg_dirk_matrix_clear(bg_dirk *m)
{
    bg_jacobian_clear(&m->B);
    bg_arena_clear(&m->columns.arena);
    bg_linear_destroy(m->reduced);
    bg_blocks_destroy(m->whole);
    bg_blocks_destroy(m->states);
}

static bg_status factor_whole(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    const bg_dirk_columns *c = &m->columns;
    const bool loops = m->ng > 0, states = m->nz > 0;
    const double *const none = NULL;
    const bg_block_value value[BLOCKS] = {
        [MASS] = {1, m->B.block[BG_KEPT_M].values},
        [S2] = {s * s, loops ? c->S2 : bg_dirk_get_block(m, BG_OF_r, BG_BY_q)},
        [S1] = {s, loops ? c->S1 : bg_dirk_get_block(m, BG_OF_r, BG_BY_v)},
        [LOWER] = {loops, m->G},
        [T2] = {loops ? s * s : 0, loops ? c->T2 : none},
        [T1] = {loops ? s : 0, loops ? c->T1 : none},
        [UPPER] = {loops,
                   ig->sys->def.f_of_lambda ? bg_dirk_get_block(m, BG_OF_r, BG_BY_lambda) : m->G},
        [R_Z] = {states ? s : 0, bg_dirk_get_block(m, BG_OF_r, BG_BY_z)},
        [Z2] = {states ? -s * s : 0, loops ? c->Z2 : bg_dirk_get_block(m, BG_OF_h, BG_BY_q)},
        [Z1] = {states ? -s : 0, loops ? c->Z1 : bg_dirk_get_block(m, BG_OF_h, BG_BY_v)},
        [UNIT] = {states, NULL},
        [H_Z] = {states ? -s : 0, bg_dirk_get_block(m, BG_OF_h, BG_BY_z)},
        [H_LAMBDA] = {loops && states && ig->sys->def.f_of_lambda ? -1 : 0,
                      bg_dirk_get_block(m, BG_OF_h, BG_BY_lambda)},
    };
    return bg_blocks_factor(m->whole, value, false);
}

static bg_status factor_reduced(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    bg_dirk_columns *c = &m->columns;
    const int n = c->n;
    const size_t nz = (size_t)m->nz;
    if (m->states) {
        const bg_block_value value[] = {{1, NULL}, {-s, bg_dirk_get_block(m, BG_OF_h, BG_BY_z)}};
        bg_status st = bg_blocks_factor(m->states, value, false);
        if (st != BG_OK)
            return st;
    }
    double *A = n > 0 ? bg_linear_get_values(m->reduced) : NULL;
    for (int i = 0; i < n * n; i++)
        A[i] = c->M[i] + s * (c->C[i] + s * c->K[i]);
    for (int k = 0; k < n && m->states; k++) {
        double *x = c->WZ + (size_t)k * nz, *const group[] = {x};
        for (size_t i = 0; i < nz; i++)
            x[i] = s * (c->Z1[(size_t)k * nz + i] + s * c->Z2[(size_t)k * nz + i]);
        bg_blocks_solve(m->states, group);
        bg_dirk_multiply(ig, BG_OF_r, BG_BY_z, x, m->psi1);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < m->nv; j++)
                sum += c->B[(size_t)i * (size_t)m->nv + (size_t)j] * m->psi1[j];
            A[i * n + k] += s * sum;
        }
    }
    return n > 0 ? bg_linear_factor(m->reduced) : BG_OK;
}

bg_status bg_dirk_matrix_factor(bg_integrator *ig, double s, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_system_get_work(ig->sys)->factorisations++;
    bg_status st = m->full ? factor_whole(ig, s) : factor_reduced(ig, s);
    m->factored = st == BG_OK ? s : 0;
    if (st != BG_SINGULAR)
        return st;
    char friction[192];
    bg_settling_describe(ig->sys->system, ig->x0->lambda, friction, sizeof friction);
    return bg_error_set(err, BG_RETRY,
                        "system '%s': the integration matrix of the step from t = %.17g is "
                        "singular%s",
                        ig->sys->def.name, ig->x0->t, friction);
}

static void solve_whole(bg_integrator *ig, double *x1, double *x2, double *x3, double *motion)
{
    bg_dirk *m = ig->method;
    double *const groups[] = {x1, x2, x3};
    bg_blocks_solve(m->whole, groups);
    memcpy(motion, x1, (size_t)m->nv * sizeof(double));
    bg_frame_project(&m->frame, motion);
}

/* y <- y + factor (columns) x. */
static void add_columns(int rows, int n, const double *columns, double factor, const double *x,
                        double *y)
{
    for (int k = 0; k < n; k++) {
        const double *a = columns + (size_t)k * (size_t)rows;
        double f = factor * x[k];
        for (int i = 0; i < rows; i++)
            y[i] += f * a[i];
    }
}

static void solve_reduced(bg_integrator *ig, double *x1, double *x2, double *x3, double *motion)
{
    bg_dirk *m = ig->method;
    bg_dirk_columns *c = &m->columns;
    const double s = m->factored, *M = m->B.block[BG_KEPT_M].values;
    const bg_pattern *pattern = ig->sys->def.pattern_M;
    const int n = c->n, nv = m->nv;
    double *d = m->work_v, *y = m->work_n, *dy = c->x;
    bg_frame_correct(&m->frame, x2, d);
    if (m->states) {
        double *const group[] = {x3};
        bg_blocks_solve(m->states, group);
        bg_dirk_multiply(ig, BG_OF_r, BG_BY_z, x3, y);
        for (int i = 0; i < nv; i++)
            x1[i] -= s * y[i];
    }
    bg_matrix_multiply(nv, nv, pattern, M, d, y);
    for (int i = 0; i < nv; i++)
        y[i] = x1[i] - y[i];
    for (int k = 0; k < n; k++) {
        const double *b = c->B + (size_t)k * (size_t)nv;
        double sum = 0;
        for (int i = 0; i < nv; i++)
            sum += b[i] * y[i];
        dy[k] = sum;
    }
    if (n > 0)
        bg_linear_solve(m->reduced, dy);
    memset(motion, 0, (size_t)nv * sizeof(double));
    add_columns(nv, n, c->B, 1, dy, motion);
    add_columns(nv, n, c->D1, -s, dy, d);
    add_columns(nv, n, c->D2, -s * s, dy, d);
    for (int i = 0; i < nv; i++)
        d[i] += motion[i]; /* da */
    add_columns(nv, n, c->S1, -s, dy, x1);
    add_columns(nv, n, c->S2, -s * s, dy, x1);
    bg_matrix_multiply(nv, nv, pattern, M, d, y);
    for (int i = 0; i < nv; i++)
        x1[i] -= y[i];
    if (m->states) {
        memset(m->work_z, 0, (size_t)m->nz * sizeof(double));
        add_columns(m->nz, n, c->WZ, 1, dy, m->work_z);
        bg_dirk_multiply(ig, BG_OF_r, BG_BY_z, m->work_z, y);
        for (int i = 0; i < nv; i++)
            x1[i] -= s * y[i];
        for (int i = 0; i < m->nz; i++)
            x3[i] += m->work_z[i];
    }
    bg_frame_balance(&m->frame, x1, x2);
    memcpy(x1, d, (size_t)nv * sizeof(double));
}

void bg_dirk_matrix_solve(bg_integrator *ig, double *x1, double *x2, double *x3, double *motion)
{
    const bg_dirk *m = ig->method;
    (m->full ? solve_whole : solve_reduced)(ig, x1, x2, x3, motion);
}

void bg_dirk_matrix_filter(bg_integrator *ig, double *e_q, const double *e_v, double *e_z,
                           double *motion)
{
    bg_dirk *m = ig->method;
    const double s = m->factored;
    bg_dirk_matrix_apply(ig, e_q, m->psi1, m->psi2, m->work_z);
    bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, m->B.block[BG_KEPT_M].values, e_v,
                       m->motion);
    for (int i = 0; i < m->nv; i++)
        m->psi1[i] = m->motion[i] - s * m->psi1[i];
    for (int i = 0; i < m->ng; i++)
        m->psi2[i] = ig->dyn->eliminated[i] ? 0 : -s * m->psi2[i];
    for (int i = 0; i < m->nz; i++)
        e_z[i] += s * m->work_z[i];
    bg_dirk_matrix_solve(ig, m->psi1, m->psi2, e_z, motion);
    for (int i = 0; i < m->nv; i++)
        e_q[i] += s * motion[i];
}

/* Copies n numbers to or from the place at hand. */
static void pass(double **at, double *x, int n, bool back)
{
    if (back)
        memcpy(x, *at, (size_t)n * sizeof(double));
    else
        memcpy(*at, x, (size_t)n * sizeof(double));
    *at += n;
}

static void exchange(bg_integrator *ig, bool back)
{
    bg_dirk *m = ig->method;
    bg_motion_frame *f = &m->frame;
    const bg_pattern *w = bg_dirk_get_pattern(ig, BG_OF_w, BG_BY_q);
    double *at = m->kept,
           facts[FACTS] = {m->made_at, m->factored, f->rcond, (double)f->choices, f->n};
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (m->B.block[k].values)
            pass(&at, m->B.block[k].values, m->B.block[k].size, back);
    pass(&at, m->G, bg_system_get_size_G(ig->sys->system), back);
    pass(&at, m->Ga, w ? w->row_start[m->ng] : m->ng * m->nv, back);
    pass(&at, f->metric, m->nv, back);
    for (int i = 0; i < m->nv; i++)
        m->work_n[i] = f->independent[i];
    pass(&at, m->work_n, m->nv, back);
    pass(&at, facts, FACTS, back);
    for (int i = 0; i < m->nv && back; i++)
        f->independent[i] = (int)m->work_n[i];
    m->made_at = facts[0];
    m->factored = facts[1];
    f->rcond = facts[2];
    f->choices = (long)facts[3];
    f->n = (int)facts[4];
}

void bg_dirk_matrix_keep(bg_integrator *ig)
{
    exchange(ig, false);
}

void bg_dirk_matrix_take_back(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    exchange(ig, true);
    m->changed = false;
    m->restored = !isnan(m->made_at);
}

void bg_dirk_matrix_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_dirk *m = ig->method;
    const bg_pattern *w = bg_dirk_get_pattern(ig, BG_OF_w, BG_BY_q);
    bool made = !isnan(m->made_at);
    bg_frame_archive(&m->frame, archive);
    bg_archive_flags(archive, &made, sizeof made);
    bg_archive_finite(archive, &m->factored, 1);
    if (m->whole)
        bg_blocks_archive(m->whole, archive);
    if (m->states)
        bg_blocks_archive(m->states, archive);
    if (archive->loading)
        m->made_at = NAN;
    if (!made || archive->failed)
        return;
    double t = m->made_at;
    bg_archive_finite(archive, &t, 1);
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (m->B.block[k].values)
            bg_archive_finite(archive, m->B.block[k].values, m->B.block[k].size);
    bg_archive_finite(archive, m->G, bg_system_get_size_G(ig->sys->system));
    bg_archive_finite(archive, m->Ga, w ? w->row_start[m->ng] : m->ng * m->nv);
    if (!archive->loading || archive->failed)
        return;
    m->made_at = t;
    m->restored = true;
}

bg_status bg_dirk_matrix_restore(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    const double s = m->factored;
    m->restored = false;
    bg_frame_set_left_out(&m->frame, ig->dyn->eliminated);
    m->ready = bg_dirk_matrix_resize(ig);
    if (m->ready != BG_OK)
        return bg_dirk_refuse_memory(ig, err);
    if (m->ng > 0) {
        if (bg_frame_factor(&m->frame, m->G) != BG_OK)
            return bg_dirk_matrix_refuse(ig, err);
        bg_dirk_columns_fill(ig);
    }
    if (s == 0)
        return BG_OK;
    bg_system_get_work(ig->sys)->factorisations--; /* it was counted */
    return bg_dirk_matrix_factor(ig, s, err);
}

/* The iteration matrix of bdf, with q eliminated.
 *
 * dq = (dv - S G^T deta - F1)/alpha by F1. What remains, the rows of r and h divided by alpha, that
 * of g multiplied by alpha, with unknowns dv, dz, dmu = dlambda/alpha and deta, is
 *
 *   [ M + r_v/alpha + r_q/alpha^2      r_z/alpha      r_lambda    -r_q S G^T/alpha^2 ]
 *   [ -h_v/alpha - h_q/alpha^2         I - h_z/alpha  -h_lambda    h_q S G^T/alpha^2 ]
 *   [ G + w_q/alpha                    0              0           -w_q S G^T/alpha   ]
 *   [ G                                0              0           -G S G^T           ]
 *
 * with right sides (-F2 + r_q F1/alpha)/alpha, (-Fz - h_q F1/alpha)/alpha, -F3 + w_q F1/alpha,
 * -alpha F4 + G F1: all entries stay of order 1 as the step goes to 0. d(G^T eta)/dq is left out,
 * as eta is of the size of the tolerance. The form of index 3 has the last row in place of the
 * third, those of index 2 and 1 have not the last, all three not the last column; in that of index
 * 1 the row of accelerations has gamma_v = 2 w_q for w_q.
 *
 * With the explicit formalism F2 is M^-1 r: the row is multiplied by M, which leaves the same
 * matrix, M F2 in the place of r. */
#include "integrators/bdf.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { V, Z, L, E, GROUPS };
enum {
    MASS,
    R_V,
    R_Q,
    R_Z,
    R_LAMBDA,
    R_ETA,
    H_V,
    H_Q,
    UNIT,
    H_Z,
    H_LAMBDA,
    H_ETA,
    W_G,
    W_Q,
    W_ETA,
    G_G,
    G_ETA,
    BLOCKS
};

static const bg_pattern *get_pattern(const bg_integrator *ig, bg_of of, bg_by by)
{
    return bg_system_get_pattern(ig->sys->system, of, by);
}

static bool meet(const bg_pattern *a, int i, const bg_pattern *b, int j)
{
    int x = a->row_start[i], y = b->row_start[j];
    while (x < a->row_start[i + 1] && y < b->row_start[j + 1]) {
        if (a->column[x] == b->column[y])
            return true;
        if (a->column[x] < b->column[y])
            x++;
        else
            y++;
    }
    return false;
}

/* The pattern of A G^T, A with `rows` rows in `of`. */
static bool create_product(bg_bdf_product *p, int rows, const bg_pattern *of, const bg_pattern *G,
                           int ng)
{
    p->rows = rows;
    p->of = of;
    if (!of || !G) {
        p->values = BG_NEW_ARRAY(double, (size_t)rows *(size_t)ng);
        return p->values != NULL;
    }
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (int i = 0; i < rows; i++) {
            if (pass)
                p->row_start[i] = count;
            for (int j = 0; j < ng; j++)
                if (meet(of, i, G, j)) {
                    if (pass)
                        p->column[count] = j;
                    count++;
                }
        }
        if (pass)
            p->row_start[rows] = count;
        else
            p->row_start = BG_NEW_ARRAY(int, rows + 1), p->column = BG_NEW_ARRAY(int, count);
        if (!p->row_start || !p->column)
            return false;
    }
    p->pattern = (bg_pattern){rows, ng, p->row_start, p->column};
    p->values = BG_NEW_ARRAY(double, count);
    return p->values != NULL;
}

static void clear_product(bg_bdf_product *p)
{
    free(p->row_start);
    free(p->column);
    free(p->values);
}

static const bg_pattern *get_product_pattern(const bg_bdf_product *p)
{
    return p->row_start ? &p->pattern : NULL;
}

/* Row i of a matrix in a pattern (NULL: dense), spread over `row` [n]. */
static void spread(const bg_pattern *p, const double *A, int i, int n, double *row)
{
    if (!p) {
        memcpy(row, A + (size_t)i * (size_t)n, (size_t)n * sizeof(double));
        return;
    }
    memset(row, 0, (size_t)n * sizeof(double));
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        row[p->column[k]] = A[k];
}

static double multiply_row(const bg_pattern *p, const double *G, int j, int n, const double *row)
{
    double sum = 0;
    if (!p)
        for (int k = 0; k < n; k++)
            sum += G[(size_t)j * (size_t)n + (size_t)k] * row[k];
    else
        for (int k = p->row_start[j]; k < p->row_start[j + 1]; k++)
            sum += G[k] * row[p->column[k]];
    return sum;
}

static void update_product(const bg_integrator *ig, bg_bdf_product *p, const double *A)
{
    const bg_bdf *m = ig->method;
    const bg_pattern *G = ig->sys->def.pattern_G;
    for (int i = 0; i < p->rows; i++) {
        spread(p->of, A, i, m->nv, m->matrix.row);
        for (int k = 0; k < m->nv; k++)
            m->matrix.row[k] *= m->metric[k];
        int begin = p->row_start ? p->row_start[i] : i * m->ng;
        int end = p->row_start ? p->row_start[i + 1] : begin + m->ng;
        for (int k = begin; k < end; k++) {
            int j = p->row_start ? p->column[k] : k - begin;
            p->values[k] = multiply_row(G, m->parts.G, j, m->nv, m->matrix.row);
        }
    }
}

static bool create_products(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_matrix *x = &m->matrix;
    const bg_pattern *G = ig->sys->def.pattern_G;
    if (!m->second_row)
        return true;
    return create_product(&x->r, m->nv, get_pattern(ig, BG_OF_r, BG_BY_q), G, m->ng) &&
           create_product(&x->h, m->nz, get_pattern(ig, BG_OF_h, BG_BY_q), G, m->ng) &&
           create_product(&x->w, m->ng, get_pattern(ig, BG_OF_w, BG_BY_q), G, m->ng) &&
           create_product(&x->g, m->ng, G, G, m->ng);
}

static void list_blocks(bg_integrator *ig, bg_block *b)
{
    const bg_bdf *m = ig->method;
    const bg_bdf_matrix *x = &m->matrix;
    const bg_system_def *def = &ig->sys->def;
    const bg_block none = {V, V, BG_BLOCK_UNIT, NULL};
    bool lambda = def->f_of_lambda != 0, eta = m->second_row;
    for (int k = 0; k < BLOCKS; k++)
        b[k] = none; /* left out by a factor of 0 */
    b[MASS] = (bg_block){V, V, BG_BLOCK_PLAIN, def->pattern_M};
    b[R_V] = (bg_block){V, V, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_r, BG_BY_v)};
    b[R_Q] = (bg_block){V, V, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_r, BG_BY_q)};
    if (m->nz > 0) {
        b[R_Z] = (bg_block){V, Z, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_r, BG_BY_z)};
        b[H_V] = (bg_block){Z, V, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_h, BG_BY_v)};
        b[H_Q] = (bg_block){Z, V, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_h, BG_BY_q)};
        b[H_Z] = (bg_block){Z, Z, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_h, BG_BY_z)};
        b[UNIT] = (bg_block){Z, Z, BG_BLOCK_UNIT, NULL};
    }
    if (m->ng == 0)
        return;
    b[R_LAMBDA] = lambda ? (bg_block){V, L, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_r, BG_BY_lambda)}
                         : (bg_block){V, L, BG_BLOCK_TRANSPOSED, def->pattern_G};
    if (lambda && m->nz > 0)
        b[H_LAMBDA] = (bg_block){Z, L, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_h, BG_BY_lambda)};
    b[W_G] = (bg_block){L, V, BG_BLOCK_PLAIN, def->pattern_G};
    if (m->form != BG_FORM_INDEX_3)
        b[W_Q] = (bg_block){L, V, BG_BLOCK_PLAIN, get_pattern(ig, BG_OF_w, BG_BY_q)};
    if (!eta)
        return;
    b[R_ETA] = (bg_block){V, E, BG_BLOCK_PLAIN, get_product_pattern(&x->r)};
    if (m->nz > 0)
        b[H_ETA] = (bg_block){Z, E, BG_BLOCK_PLAIN, get_product_pattern(&x->h)};
    b[W_ETA] = (bg_block){L, E, BG_BLOCK_PLAIN, get_product_pattern(&x->w)};
    b[G_G] = (bg_block){E, V, BG_BLOCK_PLAIN, def->pattern_G};
    b[G_ETA] = (bg_block){E, E, BG_BLOCK_PLAIN, get_product_pattern(&x->g)};
}

bg_status bg_bdf_matrix_create(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_matrix *x = &m->matrix;
    int sign = ig->sys->def.semidefinite ? 0 : 1;
    const bg_group groups[GROUPS] = {[V] = {m->nv, sign},
                                     [Z] = {m->nz, sign},
                                     [L] = {m->ng, -sign},
                                     [E] = {m->second_row ? m->ng : 0, -sign}};
    bg_block blocks[BLOCKS];
    if (x->expanded)
        return BG_OK;
    if (!create_products(ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the matrix of integrator bdf");
    list_blocks(ig, blocks);
    const bg_blocks_def def = {groups, blocks, GROUPS, BLOCKS};
    return bg_blocks_create(&def, &x->blocks, err);
}

void bg_bdf_matrix_clear(bg_bdf_matrix *x)
{
    clear_product(&x->r);
    clear_product(&x->h);
    clear_product(&x->w);
    clear_product(&x->g);
    bg_blocks_destroy(x->blocks);
    bg_expanded_destroy(x->expanded);
}

void bg_bdf_matrix_hold(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    if (m->matrix.expanded)
        bg_expanded_hold(m->matrix.expanded, ig->dyn->eliminated);
    if (m->matrix.expanded || m->ng == 0)
        return;
    bg_blocks_hold(m->matrix.blocks, L, ig->dyn->eliminated);
    if (m->second_row)
        bg_blocks_hold(m->matrix.blocks, E, ig->dyn->eliminated);
}

static double *get_block(bg_bdf *m, bg_of of, bg_by by)
{
    return bg_jacobian_get(&m->parts.B, of, by)->values;
}

/* The factor of w_q in the row of velocities, or of accelerations. */
static double get_along(const bg_bdf *m, double alpha)
{
    return m->form == BG_FORM_INDEX_3 ? 0 : (m->form == BG_FORM_INDEX_1 ? 2 : 1) / alpha;
}

/* The matrix of blocks and its factors. */
static bg_status factor_blocks(bg_integrator *ig, double alpha)
{
    bg_bdf *m = ig->method;
    bg_bdf_matrix *x = &m->matrix;
    const bool lambda = ig->sys->def.f_of_lambda != 0;
    const double one = 1 / alpha, two = one * one;
    bg_block_value b[BLOCKS] = {{0, NULL}};
    b[MASS] = (bg_block_value){1, m->parts.B.block[BG_KEPT_M].values};
    b[R_V] = (bg_block_value){one, get_block(m, BG_OF_r, BG_BY_v)};
    b[R_Q] = (bg_block_value){two, get_block(m, BG_OF_r, BG_BY_q)};
    if (m->nz > 0) {
        b[R_Z] = (bg_block_value){one, get_block(m, BG_OF_r, BG_BY_z)};
        b[H_V] = (bg_block_value){-one, get_block(m, BG_OF_h, BG_BY_v)};
        b[H_Q] = (bg_block_value){-two, get_block(m, BG_OF_h, BG_BY_q)};
        b[H_Z] = (bg_block_value){-one, get_block(m, BG_OF_h, BG_BY_z)};
        b[UNIT] = (bg_block_value){1, NULL};
    }
    if (m->ng > 0) {
        b[R_LAMBDA] = (bg_block_value){1,
                                       lambda ? get_block(m, BG_OF_r, BG_BY_lambda) : m->parts.G};
        if (lambda && m->nz > 0)
            b[H_LAMBDA] = (bg_block_value){-1, get_block(m, BG_OF_h, BG_BY_lambda)};
        b[W_G] = (bg_block_value){1, m->parts.G};
        if (m->form != BG_FORM_INDEX_3)
            b[W_Q] = (bg_block_value){get_along(m, alpha), get_block(m, BG_OF_w, BG_BY_q)};
    }
    if (m->second_row) {
        update_product(ig, &x->r, get_block(m, BG_OF_r, BG_BY_q));
        if (m->nz > 0)
            update_product(ig, &x->h, get_block(m, BG_OF_h, BG_BY_q));
        update_product(ig, &x->w, get_block(m, BG_OF_w, BG_BY_q));
        update_product(ig, &x->g, m->parts.G);
        b[R_ETA] = (bg_block_value){-two, x->r.values};
        if (m->nz > 0)
            b[H_ETA] = (bg_block_value){two, x->h.values};
        b[W_ETA] = (bg_block_value){-one, x->w.values};
        b[G_G] = (bg_block_value){1, m->parts.G};
        b[G_ETA] = (bg_block_value){-1, x->g.values};
    }
    return bg_blocks_factor(x->blocks, b, false);
}

bg_status bg_bdf_matrix_factor(bg_integrator *ig, double alpha, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_expanded_values values = bg_bdf_matrix_get_values(m);
    bg_system_get_work(ig->sys)->factorisations++;
    m->ready = (m->matrix.expanded
                    ? bg_expanded_factor(m->matrix.expanded, &values, alpha, get_along(m, alpha))
                    : factor_blocks(ig, alpha)) == BG_OK;
    if (m->ready)
        return BG_OK;
    char friction[240];
    bg_settling_describe(ig->sys->system, m->step_lambda, friction, sizeof friction);
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': the iteration matrix of the step from t = %.17g is singular: "
                        "constraints became dependent (a singular position), or a coordinate has "
                        "neither mass nor constraint%s",
                        ig->sys->def.name, ig->x0->t, friction);
}

/* y <- y + factor A x for a block in its pattern. */
static void add_block(const bg_integrator *ig, bg_of of, const double *x, double factor, int rows,
                      double *y)
{
    bg_bdf *m = ig->method;
    const bg_pattern *p = get_pattern(ig, of, BG_BY_q);
    const double *A = of == BG_OF_g ? m->parts.G : get_block(m, of, BG_BY_q);
    for (int i = 0; i < rows; i++)
        y[i] += factor * multiply_row(p, A, i, m->nv, x);
}

/* Right sides from F into the increments. */
static void set_right_sides(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const bg_bdf_residual *F = &m->F;
    const double alpha = m->parts.alpha, one = 1 / alpha;
    if (m->formalism == BG_FORMALISM_EXPLICIT)
        bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, m->parts.B.block[BG_KEPT_M].values,
                           F->F2, m->step_v);
    else
        memcpy(m->step_v, F->F2, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < m->nv; i++)
        m->step_v[i] *= -one;
    if (!m->matrix.expanded)
        add_block(ig, BG_OF_r, F->F1, one * one, m->nv, m->step_v);
    for (int i = 0; i < m->nz; i++)
        m->step_z[i] = -one * F->Fz[i];
    if (m->nz > 0)
        add_block(ig, BG_OF_h, F->F1, -one * one, m->nz, m->step_z);
    double *position = m->second_row ? m->step_eta : m->step_lambda;
    if (m->form != BG_FORM_INDEX_3) {
        double row = m->form == BG_FORM_INDEX_1 ? one : 1;
        for (int i = 0; i < m->ng; i++)
            m->step_lambda[i] = -row * F->F3[i];
        if (m->ng > 0 && m->form != BG_FORM_INDEX_1)
            add_block(ig, BG_OF_w, F->F1, one, m->ng, m->step_lambda);
    }
    if (m->second_row || m->form == BG_FORM_INDEX_3) {
        for (int i = 0; i < m->ng; i++)
            position[i] = -alpha * F->F4[i];
        if (m->ng > 0)
            add_block(ig, BG_OF_g, F->F1, 1, m->ng, position);
    }
}

/* The increments from F; w: [nv] F2 is -M w more, where r is expanded; NULL: as it is. */
static void solve(bg_integrator *ig, const double *w)
{
    bg_bdf *m = ig->method;
    const double alpha = m->parts.alpha;
    set_right_sides(ig);
    double *const x[GROUPS] = {
        [V] = m->step_v, [Z] = m->step_z, [L] = m->step_lambda, [E] = m->step_eta};
    const bg_expanded_vector into = {m->step_v, m->step_z, m->step_lambda, m->step_eta};
    const bg_expanded_shift shift = {
        .q = m->F.F1, .by_q = 1 / (alpha * alpha), .a = w, .by_a = 1 / alpha};
    if (m->matrix.expanded)
        bg_expanded_solve(m->matrix.expanded, &shift, &into);
    else
        bg_blocks_solve(m->matrix.blocks, x);
    for (int i = 0; i < m->ng; i++)
        m->step_lambda[i] *= alpha;
    memset(m->rhs, 0, (size_t)m->nv * sizeof(double));
    if (m->second_row)
        bg_matrix_add_transposed(m->ng, m->nv, ig->sys->def.pattern_G, m->parts.G, 1, m->step_eta,
                                 m->rhs);
    for (int i = 0; i < m->nv; i++)
        m->step_q[i] = (m->step_v[i] - m->F.F1[i] - m->metric[i] * m->rhs[i]) / alpha;
}

void bg_bdf_matrix_solve(bg_integrator *ig)
{
    solve(ig, NULL);
}

void bg_bdf_matrix_respond(bg_integrator *ig, const double *delta, const double *w,
                           const double *zeta)
{
    bg_bdf *m = ig->method;
    bg_bdf_residual *F = &m->F;
    for (int i = 0; i < m->nv; i++)
        F->F1[i] = -delta[i];
    for (int i = 0; i < m->nz; i++)
        F->Fz[i] = -zeta[i];
    memset(F->F3, 0, (size_t)m->ng * sizeof(double));
    memset(F->F4, 0, (size_t)m->ng * sizeof(double));
    if (m->matrix.expanded)
        memset(F->F2, 0, (size_t)m->nv * sizeof(double));
    else if (m->formalism == BG_FORMALISM_EXPLICIT)
        memcpy(F->F2, w, (size_t)m->nv * sizeof(double));
    else
        bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, m->parts.B.block[BG_KEPT_M].values,
                           w, F->F2);
    for (int i = 0; i < m->nv; i++)
        F->F2[i] = -F->F2[i];
    solve(ig, m->matrix.expanded ? w : NULL);
}

/* Derivatives in Cartesian coordinates. For body b, with s = p.p (see cartesian.c) and E(a) b =
 * -E(b) a, dtheta = 2/s E dp, by p:  dw = -2/s (E(p') dp + w (p.dp)),      by p':  dw = 2/s E dp',
 * and at v' = 0, w' = -2 (p.p')/s w changes accordingly. A wrench on a body acts along p with
 * 2/s E^T n; what the rotation of the body itself adds to r is
 *     4 H^T J H a + 4 H(p')^T J w_body - 2/s E^T n + lambda p. */
#include "base/memory.h"
#include "formalism/cartesian/cartesian.h"
#include "formalism/couplings.h"

#include <stdlib.h>
#include <string.h>

typedef struct cartesian_target {
    bg_cartesian *c;
    const bg_point *p;
    double *by_q, *by_v; /* NULL: not wanted */
} cartesian_target;

/* y <- y + s A^T x for a 3 x 4 matrix. */
static void add_transposed(double A[3][4], double s, bg_vec3 x, double y[4])
{
    for (int i = 0; i < 4; i++)
        y[i] += s * (A[0][i] * x.x + A[1][i] * x.y + A[2][i] * x.z);
}

static void add_scaled(double s, const double *x, double *y)
{
    for (int i = 0; i < 4; i++)
        y[i] += s * x[i];
}

/* The turning of one body, for gradients by its coordinates. */
typedef struct body_turning {
    const double *p, *p_t;
    double E[3][4], E_t[3][4]; /* E(p), E(p') */
    double s, rate;            /* p.p, p.p' */
    bg_vec3 w;
} body_turning;

static body_turning make_turning(const cartesian_target *t, int b)
{
    const double *p = t->p->q + 7 * (b - 1) + 3, *p_t = t->p->v + 7 * (b - 1) + 3;
    body_turning x = {
        .p = p, .p_t = p_t, .s = bg_dot4(p, p), .rate = bg_dot4(p, p_t), .w = t->c->mb.body[b].w};
    bg_euler_calc_E(p, x.E);
    bg_euler_calc_E(p_t, x.E_t);
    return x;
}

/* A gradient by pose and twist of a body, and by w' where alpha is given, as one by its q and v. */
static void pull(body_turning *x, const double *pose, const double *twist, const double *alpha,
                 double by_q[7], double by_v[7])
{
    bg_vec3 w = bg_vec3_load(twist + 3);
    double f = 2 / x->s;
    for (int i = 0; i < 3; i++) {
        by_q[i] = pose[i];
        by_v[i] = twist[i];
    }
    memset(by_q + 3, 0, 4 * sizeof *by_q);
    memset(by_v + 3, 0, 4 * sizeof *by_v);
    if (alpha) {
        bg_vec3 a = bg_vec3_load(alpha);
        double along = bg_dot(x->w, a);
        w = bg_add_scaled(w, -f * x->rate, a); /* through w in w' */
        add_scaled(-f * along, x->p_t, by_q + 3);
        add_scaled(f * f * x->rate * along, x->p, by_q + 3);
        add_scaled(-f * along, x->p, by_v + 3);
    }
    add_transposed(x->E, f, bg_vec3_load(pose + 3), by_q + 3);
    add_transposed(x->E_t, -f, w, by_q + 3);
    add_scaled(-f * bg_dot(x->w, w), x->p, by_q + 3);
    add_transposed(x->E, f, w, by_v + 3);
}

/* The seven numbers that a change (f, n) of the wrench on a body adds to f of the system. */
static void push(body_turning *x, const double w[6], double out[7])
{
    memcpy(out, w, 3 * sizeof *out);
    memset(out + 3, 0, 4 * sizeof *out);
    add_transposed(x->E, 2 / x->s, bg_vec3_load(w + 3), out + 3);
}

/* Where the columns of body `by` begin in a row of body `of` of a derivative of r. */
static size_t find_block(const cartesian_target *t, int of, int by, int row)
{
    const bg_cartesian *c = t->c;
    const int *first = c->neighbour + c->neighbour_start[of - 1], *k = first;
    while (*k != by)
        k++;
    return (size_t)c->r_start[7 * (of - 1) + row] + 7 * (size_t)(k - first);
}

/* values -= the seven rows that 6 rows of derivatives of a wrench stand for. */
static void subtract_block(const cartesian_target *t, int of, int by, double rows[6][7],
                           double *values)
{
    body_turning x = make_turning(t, of);
    for (int j = 0; j < 7 && values; j++) {
        double w[6], column[7];
        for (int i = 0; i < 6; i++)
            w[i] = rows[i][j];
        push(&x, w, column);
        for (int i = 0; i < 7; i++)
            values[find_block(t, of, by, i) + (size_t)j] -= column[i];
    }
}

static void add_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const cartesian_target *t = self;
    double q[6][7], v[6][7];
    body_turning x = make_turning(t, by);
    for (int i = 0; i < 6; i++)
        pull(&x, pose[i], twist[i], NULL, q[i], v[i]);
    subtract_block(t, of, by, q, t->by_q);
    subtract_block(t, of, by, v, t->by_v);
}

/* What the rotation of body b itself adds to its rows of p, by component c of its p or p'. */
static void calc_own(const cartesian_target *t, int b, int c, bool by_v, const double *a,
                     const double *lambda, double out[4])
{
    const bg_multibody *mb = &t->c->mb;
    const bg_body_state *x = &mb->body[b];
    const bg_mat3 *J = &mb->model->bodies[b].inertia;
    body_turning y = make_turning(t, b);
    double H[3][4], dH[3][4], H_t[3][4], E[3][4], unit[4] = {c == 0, c == 1, c == 2, c == 3};
    bg_vec3 dtheta = bg_euler_apply(y.E, by_v ? 0 : 2 / y.s, unit), n = mb->wrench[b].n;
    bg_vec3 dw = by_v ? bg_euler_apply(y.E, 2 / y.s, unit)
                      : bg_add_scaled(bg_euler_apply(y.E_t, -2 / y.s, unit), -2 / y.s * y.p[c],
                                      x->w);
    bg_vec3 dw_body = bg_rotate_back(&x->R, bg_sub(dw, bg_cross(dtheta, x->w)));
    memset(out, 0, 4 * sizeof *out);
    bg_euler_calc_H(y.p, H);
    bg_euler_calc_H(unit, dH);
    bg_euler_calc_H(y.p_t, H_t);
    add_transposed(H_t, 4, bg_rotate(J, dw_body), out);
    if (by_v) {
        add_transposed(dH, 4, bg_rotate(J, bg_rotate_back(&x->R, x->w)), out);
        return;
    }
    a += 7 * (b - 1) + 3;
    add_transposed(dH, 4, bg_rotate(J, bg_euler_apply(H, 1, a)), out);
    add_transposed(H, 4, bg_rotate(J, bg_euler_apply(dH, 1, a)), out);
    bg_euler_calc_E(unit, E);
    add_transposed(E, -2 / y.s, n, out);
    add_transposed(y.E, 4 * y.p[c] / (y.s * y.s), n, out);
    out[c] += lambda[t->c->mb.nrows + b - 1];
}

static void add_own(const cartesian_target *t, int b, bool by_v, const double *a,
                    const double *lambda)
{
    double own[4], *values = by_v ? t->by_v : t->by_q;
    for (int j = 0; j < 4 && values; j++) {
        calc_own(t, b, j, by_v, a, lambda, own);
        for (int i = 0; i < 4; i++)
            values[find_block(t, b, b, 3 + i) + 3 + (size_t)j] += own[i];
    }
}

static void clear(const cartesian_target *t, size_t n)
{
    if (t->by_q)
        memset(t->by_q, 0, n * sizeof(double));
    if (t->by_v)
        memset(t->by_v, 0, n * sizeof(double));
}

/* Adds a row's gradient by body `by` at place k. */
static void add_gradient(const cartesian_target *t, int by, const bg_gradient *g, size_t k)
{
    double q[7], v[7];
    body_turning x = make_turning(t, by);
    pull(&x, g->pose, g->twist, g->acceleration + 3, q, v);
    for (int j = 0; j < 7; j++) {
        if (t->by_q)
            t->by_q[k + (size_t)j] += q[j];
        if (t->by_v)
            t->by_v[k + (size_t)j] += v[j];
    }
}

/* Row of w or gamma, in the pattern of G. */
static void add_row(void *self, int row, int by, const bg_gradient *g)
{
    const cartesian_target *t = self;
    add_gradient(t, by, g, (size_t)bg_cartesian_find_body(t->c, row, by));
}

/* Row of h, in its pattern. */
static void add_rate(void *self, int row, int by, const bg_gradient *g)
{
    const cartesian_target *t = self;
    const bg_rates_structure *x = &t->c->mb.rates;
    int k = x->start[row];
    while (x->body[k] != by)
        k++;
    add_gradient(t, by, g, 7 * (size_t)k);
}

static void add_state(void *self, int of, int z, const double wrench[6])
{
    const cartesian_target *t = self;
    double column[7];
    body_turning x = make_turning(t, of);
    push(&x, wrench, column);
    for (int i = 0; i < 7; i++) {
        int k = t->c->z_start[7 * (of - 1) + i];
        while (t->c->z_column[k] != z)
            k++;
        t->by_q[k] -= column[i];
    }
}

/* w or gamma by q and v. The norm's rows are p.p' and p'.p'. */
static void calc_rows(cartesian_target *t, bool gamma)
{
    bg_cartesian *c = t->c;
    if (!t->by_q && !t->by_v)
        return;
    clear(t, (size_t)c->G_start[c->ng]);
    if (gamma)
        bg_couplings_visit_gamma(&c->mb, add_row, t);
    else
        bg_couplings_visit_w(&c->mb, add_row, t);
    for (int b = 0; b < c->nb; b++)
        for (int i = 0; i < 4; i++) {
            int k = c->G_start[c->mb.nrows + b] + i;
            double p = t->p->q[7 * b + 3 + i], p_t = t->p->v[7 * b + 3 + i];
            if (t->by_q)
                t->by_q[k] = gamma ? 0 : p_t;
            if (t->by_v)
                t->by_v[k] = gamma ? 2 * p_t : p;
        }
}

static void add_force_column(void *self, const bg_wrench *wrench, int signal)
{
    const cartesian_target *t = self;
    for (int b = 1; b <= t->c->nb; b++) {
        double w[6], column[7];
        body_turning x = make_turning(t, b);
        bg_vec3_store(wrench[b].f, w);
        bg_vec3_store(wrench[b].n, w + 3);
        push(&x, w, column);
        for (int i = 0; i < 7; i++)
            t->by_q[(7 * (b - 1) + i) * t->c->mb.model->nsignals + signal] -= column[i];
    }
}

/* Everything by u, u_t and u_tt: signals stand in forces and in rows that follow them. */
static void calc_by_signals(bg_cartesian *c, const bg_point *p, bg_derivatives *out)
{
    const int rows[BG_OF_COUNT] = {c->nv, c->mb.nz, c->ng, c->ng, c->ng};
    size_t nu = (size_t)c->mb.model->nsignals;
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = BG_BY_u; by <= BG_BY_u_tt; by++)
            if (out->block[of][by])
                memset(out->block[of][by], 0, (size_t)rows[of] * nu * sizeof(double));
    bg_multibody_add_row_signals(&c->mb, out->block[BG_OF_g][BG_BY_u]);
    bg_multibody_add_row_signals(&c->mb, out->block[BG_OF_w][BG_BY_u_t]);
    bg_multibody_add_row_signals(&c->mb, out->block[BG_OF_gamma][BG_BY_u_tt]);
    for (int by = BG_BY_u; by <= BG_BY_u_t; by++) {
        cartesian_target r = {c, p, out->block[BG_OF_r][by], NULL};
        bg_signal_visit visit = {.by = (bg_by)by,
                                 .force = r.by_q ? add_force_column : NULL,
                                 .self = &r,
                                 .h = out->block[BG_OF_h][by],
                                 .only_stiff = out->only_stiff != 0};
        bg_multibody_visit_signals(&c->mb, &visit);
    }
}

/* Adds factor times a row of J, or a wrench, on a body to column `row` of r by lambda. */
static void add_column(const cartesian_target *t, int of, int row, const double *J, double factor)
{
    double column[7];
    if (of == 0)
        return;
    body_turning x = make_turning(t, of);
    push(&x, J, column);
    for (int i = 0; i < 7; i++)
        t->by_q[(7 * (of - 1) + i) * t->c->ng + row] += factor * column[i];
}

static void take_off(void *self, int of, int row, const double wrench[6])
{
    add_column(self, of, row, wrench, -1);
}

/* G^T - df/dlambda, dense. */
static void calc_by_lambda(bg_cartesian *c, const bg_point *p, double *block)
{
    cartesian_target t = {c, p, block, NULL};
    double J[36];
    memset(block, 0, (size_t)c->nv * (size_t)c->ng * sizeof(double));
    for (int k = 0; k < c->mb.ngroups; k++) {
        const bg_row_group *g = &c->mb.groups[k];
        bool relation = g->primitive.kind == BG_PRIMITIVE_RELATION;
        int blocks = relation ? g->primitive.n : bg_primitive_get_rows(&g->primitive);
        bg_primitive_calc_jacobian(&c->mb.world, &g->primitive, J);
        for (int i = 0; i < blocks; i++) {
            int a, b, row = g->row + (relation ? 0 : i);
            bg_row_group_get_pair(g, i, &a, &b);
            add_column(&t, a, row, J + 12 * i, 1);
            add_column(&t, b, row, J + 12 * i + 6, 1);
        }
    }
    for (int b = 0; b < c->nb; b++)
        for (int i = 3; i < 7; i++)
            block[(7 * b + i) * c->ng + c->mb.nrows + b] = p->q[7 * b + i];
    bg_couplings_visit_lambda(&c->mb, take_off, &t);
}

static cartesian_target make_target(bg_cartesian *c, const bg_point *p, bg_derivatives *out,
                                    bg_of of)
{
    return (cartesian_target){c, p, out->block[of][BG_BY_q], out->block[of][BG_BY_v]};
}

void bg_cartesian_calc_derivatives(bg_cartesian *c, const bg_point *p, const double *a,
                                   const double *lambda, bg_derivatives *out)
{
    cartesian_target r = make_target(c, p, out, BG_OF_r), w = make_target(c, p, out, BG_OF_w);
    cartesian_target gamma = make_target(c, p, out, BG_OF_gamma),
                     h = make_target(c, p, out, BG_OF_h);
    cartesian_target z = {c, p, out->block[BG_OF_r][BG_BY_z], NULL};
    bool residual = r.by_q || r.by_v;
    bg_force_visit forces = {.coupling = residual ? add_coupling : NULL,
                             .coupling_self = &r,
                             .rate = h.by_q || h.by_v ? add_rate : NULL,
                             .rate_self = &h,
                             .state = z.by_q ? add_state : NULL,
                             .state_self = &z,
                             .h_z = out->block[BG_OF_h][BG_BY_z],
                             .only_stiff = out->only_stiff != 0};
    clear(&r, (size_t)c->r_start[c->nv]);
    clear(&h, (size_t)c->h_start[c->mb.nz]);
    clear(&z, (size_t)c->z_start[c->nv]);
    bg_couplings_visit_forces(&c->mb, &forces);
    if (residual && !forces.only_stiff)
        bg_couplings_visit_reactions(&c->mb, lambda, add_coupling, &r);
    for (int b = 1; b <= c->nb && residual && !forces.only_stiff; b++) {
        add_own(&r, b, false, a, lambda);
        add_own(&r, b, true, a, lambda);
    }
    calc_rows(&w, false);
    calc_rows(&gamma, true);
    calc_by_signals(c, p, out);
    if (out->block[BG_OF_r][BG_BY_lambda])
        calc_by_lambda(c, p, out->block[BG_OF_r][BG_BY_lambda]);
}

/* Neighbours of each body: itself, and those its pairs name. */
static bool list_neighbours(bg_cartesian *c, const bg_body_pairs *p)
{
    int k = 0, n = 0;
    c->neighbour = BG_NEW_ARRAY(int, p->n + c->nb);
    c->neighbour_start = BG_NEW_ARRAY(int, c->nb + 1);
    if (!c->neighbour || !c->neighbour_start)
        return false;
    for (int b = 1; b <= c->nb; b++) {
        bool own = false;
        for (; k < p->n && p->pair[k][0] == b; k++) {
            if (!own && p->pair[k][1] > b)
                c->neighbour[n++] = b;
            own = own || p->pair[k][1] >= b;
            c->neighbour[n++] = p->pair[k][1];
        }
        if (!own)
            c->neighbour[n++] = b;
        c->neighbour_start[b] = n;
    }
    return true;
}

/* Seven columns for each body of a row of h. */
static bool make_pattern_h(bg_cartesian *c)
{
    if (!bg_couplings_make_rates(&c->mb))
        return false;
    const bg_rates_structure *x = &c->mb.rates;
    c->h_start = BG_NEW_ARRAY(int, c->mb.nz + 1);
    c->h_column = BG_NEW_ARRAY(int, 7 * (size_t)x->start[c->mb.nz]);
    if (!c->h_start || !c->h_column)
        return false;
    for (int z = 0; z <= c->mb.nz; z++)
        c->h_start[z] = 7 * x->start[z];
    for (int k = 0; k < x->start[c->mb.nz]; k++)
        for (int j = 0; j < 7; j++)
            c->h_column[7 * k + j] = 7 * (x->body[k] - 1) + j;
    c->pattern_h = (bg_pattern){c->mb.nz, c->nv, c->h_start, c->h_column};
    return true;
}

/* r by z: seven rows of each body that a state acts on. */
static bool make_pattern_z(bg_cartesian *c)
{
    bg_body_pairs p = {NULL, 0};
    bool good = bg_couplings_list_actions(&c->mb, &p);
    c->z_start = BG_NEW_ARRAY(int, c->nv + 1);
    c->z_column = BG_NEW_ARRAY(int, 7 * (size_t)p.n);
    int *next = BG_NEW_ARRAY(int, c->nv);
    good = good && c->z_start && c->z_column && next;
    for (int k = 0; k < p.n && good; k++)
        for (int i = 0; i < 7; i++)
            c->z_start[7 * (p.pair[k][1] - 1) + i + 1]++;
    for (int row = 0; row < c->nv && good; row++) {
        c->z_start[row + 1] += c->z_start[row];
        next[row] = c->z_start[row];
    }
    for (int k = 0; k < p.n && good; k++) /* states ascending */
        for (int i = 0; i < 7; i++)
            c->z_column[next[7 * (p.pair[k][1] - 1) + i]++] = p.pair[k][0];
    c->pattern_z = (bg_pattern){c->nv, c->mb.nz, c->z_start, c->z_column};
    free(next);
    free(p.pair);
    return good;
}

bool bg_cartesian_make_pattern(bg_cartesian *c, const double *lambda)
{
    bg_body_pairs p = {NULL, 0};
    bool good = make_pattern_h(c) && make_pattern_z(c) &&
                bg_couplings_list_pairs(&c->mb, lambda, &p) && list_neighbours(c, &p);
    free(p.pair);
    if (!good)
        return false;
    int n = 0;
    c->r_start = BG_NEW_ARRAY(int, c->nv + 1);
    c->r_column = BG_NEW_ARRAY(int, 49 * (size_t)c->neighbour_start[c->nb]);
    if (!c->r_start || !c->r_column)
        return false;
    for (int row = 0; row < c->nv; row++) {
        for (int k = c->neighbour_start[row / 7]; k < c->neighbour_start[row / 7 + 1]; k++)
            for (int j = 0; j < 7; j++)
                c->r_column[n++] = 7 * (c->neighbour[k] - 1) + j;
        c->r_start[row + 1] = n;
    }
    c->pattern_r = (bg_pattern){c->nv, c->nv, c->r_start, c->r_column};
    return true;
}

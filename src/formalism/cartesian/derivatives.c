/* Derivatives in Cartesian coordinates. For body b, with s = p.p (see cartesian.c),
 *     dtheta = 2/s E dp,
 *     by p:  dw = 2/s E(dp) p' - 2/s (p.dp) w,      by p':  dw = 2/s E dp',
 * and at v' = 0, w' = -2 (p.p')/s w changes accordingly. A wrench on a body acts along p with
 * 2/s E^T n; what the rotation of the body itself adds to r is
 *     4 H^T J H a + 4 H(p')^T J w_body - 2/s E^T n + lambda p. */
#include "base/memory.h"
#include "formalism/cartesian/cartesian.h"
#include "formalism/couplings.h"

#include <stdlib.h>
#include <string.h>

/* How body b moves where coordinate c (0..6) of its q, or of its v, changes. */
static bg_gradient vary(const bg_cartesian *x, const bg_point *at, int b, int c, bool by_v)
{
    bg_gradient d = {{0}, {0}, {0}};
    const double *p = at->q + 7 * (b - 1) + 3, *p_t = at->v + 7 * (b - 1) + 3;
    const bg_body_state *state = &x->mb.body[b];
    if (c < 3) {
        (by_v ? d.twist : d.pose)[c] = 1;
        return d;
    }
    double E[3][4], unit[4] = {c == 3, c == 4, c == 5, c == 6}, s = bg_dot4(p, p);
    double along = bg_dot4(p, unit), rate = bg_dot4(p, p_t);
    bg_vec3 dw, da;
    bg_euler_calc_E(by_v ? p : unit, E);
    if (by_v) {
        dw = bg_euler_apply(E, 2 / s, unit);
        da = bg_scale(-2 * along / s, state->w);
    } else {
        dw = bg_add_scaled(bg_euler_apply(E, 2 / s, p_t), -2 * along / s, state->w);
        da = bg_scale(-2 * bg_dot4(unit, p_t) / s + 4 * rate * along / (s * s), state->w);
        bg_euler_calc_E(p, E);
        bg_vec3_store(bg_euler_apply(E, 2 / s, unit), d.pose + 3);
    }
    bg_vec3_store(dw, d.twist + 3);
    bg_vec3_store(bg_add_scaled(da, -2 * rate / s, dw), d.acceleration + 3);
    return d;
}

typedef struct target {
    bg_cartesian *c;
    const bg_point *p;
    double *values;
    bool by_v;
} target;

/* The 7 numbers that a change (f, n) of the wrench on body b adds to f of the system. */
static void push(const target *t, int b, const double w[6], double out[7])
{
    const double *p = t->p->q + 7 * (b - 1) + 3;
    double E[3][4], factor = 2 / bg_dot4(p, p);
    bg_euler_calc_E(p, E);
    memcpy(out, w, 3 * sizeof *out);
    for (int i = 0; i < 4; i++)
        out[3 + i] = factor * (E[0][i] * w[3] + E[1][i] * w[4] + E[2][i] * w[5]);
}

/* Where the columns of body `by` begin in the rows of body `of` of a derivative of r. */
static double *find_block(const target *t, int of, int by, int row)
{
    const bg_cartesian *c = t->c;
    const int *first = c->neighbour + c->neighbour_start[of - 1], *k = first;
    while (*k != by)
        k++;
    return t->values + c->r_start[7 * (of - 1) + row] + 7 * (k - first);
}

static void add_coupling(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    const target *t = self;
    for (int j = 0; j < 7; j++) {
        bg_gradient d = vary(t->c, t->p, by, j, t->by_v);
        double w[6] = {0}, column[7];
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++)
                w[i] += pose[i][k] * d.pose[k] + twist[i][k] * d.twist[k];
        push(t, of, w, column);
        for (int i = 0; i < 7; i++)
            find_block(t, of, by, i)[j] -= column[i];
    }
}

/* y <- y + s A^T x for a 3 x 4 matrix. */
static void add_transposed(double A[3][4], double s, bg_vec3 x, double y[4])
{
    for (int i = 0; i < 4; i++)
        y[i] += s * (A[0][i] * x.x + A[1][i] * x.y + A[2][i] * x.z);
}

/* What the rotation of body b itself adds to its rows of p, by component c of its p or p'. */
static void calc_own(const target *t, int b, int c, const double *a, const double *lambda,
                     double out[4])
{
    const bg_multibody *mb = &t->c->mb;
    const double *p = t->p->q + 7 * (b - 1) + 3, *p_t = t->p->v + 7 * (b - 1) + 3;
    const bg_body_state *x = &mb->body[b];
    const bg_mat3 *J = &mb->model->bodies[b].inertia;
    double H[3][4], dH[3][4], H_t[3][4], E[3][4], unit[4] = {c == 0, c == 1, c == 2, c == 3};
    double s = bg_dot4(p, p);
    bg_gradient d = vary(t->c, t->p, b, 3 + c, t->by_v);
    bg_vec3 dtheta = bg_vec3_load(d.pose + 3), dw = bg_vec3_load(d.twist + 3), n = mb->wrench[b].n;
    bg_vec3 dw_body = bg_rotate_back(&x->R, bg_sub(dw, bg_cross(dtheta, x->w)));
    memset(out, 0, 4 * sizeof *out);
    bg_euler_calc_H(p, H);
    bg_euler_calc_H(unit, dH);
    bg_euler_calc_H(p_t, H_t);
    add_transposed(H_t, 4, bg_rotate(J, dw_body), out);
    if (t->by_v) {
        add_transposed(dH, 4, bg_rotate(J, bg_rotate_back(&x->R, x->w)), out);
        return;
    }
    a += 7 * (b - 1) + 3;
    add_transposed(dH, 4, bg_rotate(J, bg_euler_apply(H, 1, a)), out);
    add_transposed(H, 4, bg_rotate(J, bg_euler_apply(dH, 1, a)), out);
    bg_euler_calc_E(unit, E);
    add_transposed(E, -2 / s, n, out);
    bg_euler_calc_E(p, E);
    add_transposed(E, 4 * bg_dot4(p, unit) / (s * s), n, out);
    out[c] += lambda[t->c->mb.nrows + b - 1];
}

/* r by q or v, or what forces marked stiff contribute to it. */
static void calc_residual(target *t, const double *a, const double *lambda, bool only_stiff)
{
    bg_cartesian *c = t->c;
    double own[4];
    memset(t->values, 0, (size_t)c->r_start[c->nv] * sizeof(double));
    bg_couplings_visit_wrenches(&c->mb, lambda, only_stiff, add_coupling, t);
    for (int b = 1; b <= c->nb && !only_stiff; b++)
        for (int j = 0; j < 4; j++) {
            calc_own(t, b, j, a, lambda, own);
            for (int i = 0; i < 4; i++)
                find_block(t, b, b, 3 + i)[3 + j] += own[i];
        }
}

static double multiply(const bg_gradient *a, const bg_gradient *b)
{
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += a->pose[i] * b->pose[i] + a->twist[i] * b->twist[i] +
               a->acceleration[i] * b->acceleration[i];
    return sum;
}

/* Row of w or gamma, in the pattern of G. */
static void add_row(void *self, int row, int by, const bg_gradient *x)
{
    const target *t = self;
    double *out = t->values + bg_cartesian_find_body(t->c, row, by);
    for (int j = 0; j < 7; j++) {
        bg_gradient d = vary(t->c, t->p, by, j, t->by_v);
        out[j] += multiply(x, &d);
    }
}

/* Row of h, dense. */
static void add_rate(void *self, int row, int by, const bg_gradient *x)
{
    const target *t = self;
    double *out = t->values + (size_t)row * (size_t)t->c->nv + 7 * (by - 1);
    for (int j = 0; j < 7; j++) {
        bg_gradient d = vary(t->c, t->p, by, j, t->by_v);
        out[j] += multiply(x, &d);
    }
}

static void add_state(void *self, int of, int z, const double wrench[6])
{
    const target *t = self;
    double column[7];
    push(t, of, wrench, column);
    for (int i = 0; i < 7; i++)
        t->values[(7 * (of - 1) + i) * t->c->mb.nz + z] -= column[i];
}

/* w or gamma by q or v. The norm's rows are p.p' and p'.p'. */
static void calc_rows(target *t, bool gamma)
{
    bg_cartesian *c = t->c;
    memset(t->values, 0, (size_t)c->G_start[c->ng] * sizeof(double));
    if (gamma)
        bg_couplings_visit_gamma(&c->mb, add_row, t);
    else
        bg_couplings_visit_w(&c->mb, add_row, t);
    for (int b = 0; b < c->nb; b++)
        for (int i = 0; i < 4; i++) {
            double *out = t->values + c->G_start[c->mb.nrows + b] + i;
            double p = t->p->q[7 * b + 3 + i], p_t = t->p->v[7 * b + 3 + i];
            if (gamma)
                *out = t->by_v ? 2 * p_t : 0;
            else
                *out = t->by_v ? p : p_t;
        }
}

void bg_cartesian_calc_derivatives(bg_cartesian *c, const bg_point *p, const double *a,
                                   const double *lambda, bg_derivatives *out)
{
    size_t nz = (size_t)c->mb.nz, nv = (size_t)c->nv;
    target t = {c, p, NULL, false};
    for (int by = BG_BY_q; by <= BG_BY_v; by++) {
        t.by_v = by == BG_BY_v;
        if ((t.values = out->block[BG_OF_r][by]))
            calc_residual(&t, a, lambda, out->only_stiff != 0);
        if ((t.values = out->block[BG_OF_w][by]))
            calc_rows(&t, false);
        if ((t.values = out->block[BG_OF_gamma][by]))
            calc_rows(&t, true);
        if ((t.values = out->block[BG_OF_h][by])) {
            memset(t.values, 0, nz * nv * sizeof(double));
            bg_couplings_visit_rates(&c->mb, add_rate, &t);
        }
    }
    if ((t.values = out->block[BG_OF_r][BG_BY_z])) {
        memset(t.values, 0, nz * nv * sizeof(double));
        bg_couplings_visit_wrenches_by_z(&c->mb, add_state, &t);
    }
    if (out->block[BG_OF_h][BG_BY_z])
        bg_couplings_calc_rates_by_z(&c->mb, out->block[BG_OF_h][BG_BY_z]);
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

bool bg_cartesian_make_pattern(bg_cartesian *c, const double *lambda)
{
    bg_body_pairs p;
    bool good = bg_couplings_list_pairs(&c->mb, lambda, &p) && list_neighbours(c, &p);
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

/* Cartesian coordinates with Euler parameters p = (w, x, y, z), |p| = 1 as a constraint. Between
 * projections |p| differs from 1 a little; the rotation is that of p / |p|, so that derivatives are
 * exact there, too.
 *
 *   w_world = 2 E(p) p' / p.p,   w_body = 2 H(p) p' / p.p,   E = [-e | w I + e~],   H = [-e | w I -
 * e~],
 *
 * with e = (x, y, z). Since H(p') p' = E(p') p' = 0, the angular acceleration at p'' = 0 is
 * -2 (p . p') / p.p w, which vanishes on the constraints. Lagrange's equations of the rotation,
 * with T = 1/2 w_body . J w_body and H(p) p' = -H(p') p at |p| = 1, are
 *
 *   4 H^T J H p'' = 2 E^T n / p.p - 4 H(p')^T J w_body - (constraint forces). */
#include "formalism/cartesian/cartesian.h"

#include "base/memory.h"
#include "formalism/sizes.h"
#include "formalism/wishes.h"
#include "model/review.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bg_euler_calc_E(const double *p, double E[3][4])
{
    const double rows[3][4] = {
        {-p[1], p[0], -p[3], p[2]}, {-p[2], p[3], p[0], -p[1]}, {-p[3], -p[2], p[1], p[0]}};
    memcpy(E, rows, sizeof rows);
}

void bg_euler_calc_H(const double *p, double H[3][4])
{
    const double rows[3][4] = {
        {-p[1], p[0], p[3], -p[2]}, {-p[2], -p[3], p[0], p[1]}, {-p[3], p[2], -p[1], p[0]}};
    memcpy(H, rows, sizeof rows);
}

/* only: of these bodies, NULL: of all. With a = NULL, accelerations are those at v' = 0. */
static void update_bodies(bg_multibody *mb, const bool *only, const bg_point *p, const double *a)
{
    bg_multibody_set_point(mb, p);
    for (int b = 1; b < mb->nbodies; b++) {
        if (only && !only[b])
            continue;
        const double *q = p->q + 7 * (b - 1), *v = p->v + 7 * (b - 1);
        bg_body_state *s = &mb->body[b];
        bg_body_acceleration *x = &mb->acceleration[b];
        double E[3][4], square = bg_dot4(q + 3, q + 3);
        bg_euler_calc_E(q + 3, E);
        s->r = bg_vec3_load(q);
        s->R = bg_rotation_from_quat(bg_quat_normalise((bg_quat){q[3], q[4], q[5], q[6]}));
        s->v = bg_vec3_load(v);
        s->w = bg_euler_apply(E, 2 / square, v + 3);
        x->v = bg_vec3_make(0, 0, 0);
        x->w = bg_scale(-2 * bg_dot4(q + 3, v + 3) / square, s->w);
        if (a) {
            x->v = bg_vec3_load(a + 7 * (b - 1));
            x->w = bg_add(x->w, bg_euler_apply(E, 2 / square, a + 7 * (b - 1) + 3));
        }
    }
}

static void mb_update(bg_multibody *mb, const bg_point *p, const double *a)
{
    update_bodies(mb, NULL, p, a);
}

/* Values in the pattern: per body three masses, then the 4 x 4 block 4 H^T J H. Here and below
 * `fast` leaves out what is not of the fast part. */
static void calc_mass(const bg_cartesian *c, bool fast, const double *q, double *M)
{
    for (int b = 1; b <= c->nb; b++, M += 19) {
        if (fast && c->fast_part.body[b] != BG_PART_FAST)
            continue;
        const bg_body *body = &c->mb.model->bodies[b];
        double H[3][4], JH[3][4];
        bg_euler_calc_H(q + 7 * (b - 1) + 3, H);
        for (int i = 0; i < 3; i++)
            M[i] = body->mass;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                JH[i][j] = body->inertia.m[i][0] * H[0][j] + body->inertia.m[i][1] * H[1][j] +
                           body->inertia.m[i][2] * H[2][j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                M[3 + 4 * i + j] = 4 *
                                   (H[0][i] * JH[0][j] + H[1][i] * JH[1][j] + H[2][i] * JH[2][j]);
    }
}

static void calc_force(bg_cartesian *c, bool fast, const bg_point *p, double *f)
{
    if (fast)
        bg_fast_part_apply_forces(&c->mb, &c->fast_part);
    else
        bg_multibody_apply_forces(&c->mb);
    for (int b = 1; b <= c->nb; b++, f += 7) {
        if (fast && c->fast_part.body[b] != BG_PART_FAST)
            continue;
        const bg_body_state *s = &c->mb.body[b];
        const bg_wrench *w = &c->mb.wrench[b];
        const double *q = p->q + 7 * (b - 1) + 3;
        double E[3][4], H_t[3][4], n[3], L[3], factor = 2 / bg_dot4(q, q);
        bg_euler_calc_E(q, E);
        bg_euler_calc_H(p->v + 7 * (b - 1) + 3, H_t);
        bg_vec3_store(w->n, n);
        bg_vec3_store(bg_rotate(&c->mb.model->bodies[b].inertia, bg_rotate_back(&s->R, s->w)), L);
        bg_vec3_store(w->f, f);
        for (int i = 0; i < 4; i++) {
            f[3 + i] = 0;
            for (int k = 0; k < 3; k++)
                f[3 + i] += factor * E[k][i] * n[k] - 4 * H_t[k][i] * L[k];
        }
    }
}

static void calc_g(bg_cartesian *c, const double *q, double *g)
{
    bg_multibody_calc_g(&c->mb, g);
    for (int b = 0; b < c->nb; b++)
        g[c->mb.nrows + b] = 0.5 * (bg_dot4(q + 7 * b + 3, q + 7 * b + 3) - 1);
}

int bg_cartesian_find_body(const bg_cartesian *c, int row, int body)
{
    const int *bodies = c->row_bodies + 6 * row;
    int k = 0;
    while (bodies[k] != body)
        k++;
    return c->G_start[row] + 7 * k;
}

/* Adds one body's part of a row at its place in the pattern. */
static void add_body(const bg_cartesian *c, int row, int body, const double *J, const double *q,
                     double *G)
{
    if (body == 0)
        return;
    double *out = G + bg_cartesian_find_body(c, row, body), E[3][4];
    const double *p = q + 7 * (body - 1) + 3;
    double factor = 2 / bg_dot4(p, p);
    bg_euler_calc_E(p, E);
    for (int i = 0; i < 3; i++)
        out[i] += J[i];
    for (int j = 0; j < 4; j++)
        out[3 + j] += factor * (J[3] * E[0][j] + J[4] * E[1][j] + J[5] * E[2][j]);
}

static void calc_G(bg_cartesian *c, bool fast, const double *q, double *G)
{
    double J[36];
    memset(G, 0, (size_t)c->G_start[c->ng] * sizeof(double));
    for (int k = 0; k < c->mb.ngroups; k++) {
        const bg_row_group *g = &c->mb.groups[k];
        const bg_primitive *p = &g->primitive;
        bool relation = p->kind == BG_PRIMITIVE_RELATION;
        int blocks = relation ? p->n : bg_primitive_get_rows(p);
        if (fast && c->fast_part.g[g->row] != BG_PART_FAST)
            continue;
        bg_primitive_calc_jacobian(&c->mb.world, p, J);
        for (int i = 0; i < blocks; i++) {
            int row = g->row + (relation ? 0 : i);
            add_body(c, row, relation ? p->coordinate[i].a.body : p->a.body, J + 12 * i, q, G);
            add_body(c, row, relation ? p->coordinate[i].b.body : p->b.body, J + 12 * i + 6, q, G);
        }
    }
    for (int b = 0; b < c->nb; b++)
        memcpy(G + c->G_start[c->mb.nrows + b], q + 7 * b + 3, 4 * sizeof(double));
}

static void calc_gamma(bg_cartesian *c, bool fast, const double *v, double *gamma)
{
    if (fast)
        bg_fast_part_calc_gamma(&c->mb, &c->fast_part, gamma);
    else
        bg_multibody_calc_gamma(&c->mb, gamma);
    for (int b = 0; b < c->nb; b++)
        gamma[c->mb.nrows + b] = bg_dot4(v + 7 * b + 3, v + 7 * b + 3);
}

static void calc_gt(bg_cartesian *c, double *gt)
{
    memset(gt, 0, (size_t)c->ng * sizeof(double));
    bg_multibody_calc_gt(&c->mb, gt);
}

/* What the fast part may be asked for alone. */
enum { FAST_TERMS = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_G | BG_TERM_gamma };

static int def_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    bg_cartesian *c = self;
    const bool fast = p->part == BG_PART_FAST && c->fast_part.exist &&
                      (want & ~(unsigned)FAST_TERMS) == 0;
    update_bodies(&c->mb, fast ? c->fast_part.seen : NULL, p, NULL);
    if (want & BG_TERM_M)
        calc_mass(c, fast, p->q, out->M);
    if (want & BG_TERM_f)
        calc_force(c, fast, p, out->f);
    if (want & BG_TERM_g)
        calc_g(c, p->q, out->g);
    if (want & BG_TERM_gt)
        calc_gt(c, out->gt);
    if (want & BG_TERM_G)
        calc_G(c, fast, p->q, out->G);
    if (want & BG_TERM_gamma)
        calc_gamma(c, fast, p->v, out->gamma);
    if ((want & BG_TERM_h) && fast)
        bg_fast_part_calc_rates(&c->mb, &c->fast_part, out->h);
    else if (want & BG_TERM_h)
        bg_multibody_calc_rates(&c->mb, out->h);
    if (want & BG_TERM_s)
        bg_multibody_calc_switching(&c->mb, out->s);
    return 0;
}

static int def_derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                           bg_derivatives *out)
{
    bg_cartesian *c = self;
    mb_update(&c->mb, p, NULL);
    bg_multibody_apply_forces(&c->mb);
    bg_multibody_apply_reactions(&c->mb, lambda);
    bg_cartesian_calc_derivatives(c, p, a, lambda, out);
    return 0;
}

/* Moving bodies of a row in ascending order, without repetition. */
static void insert_body(int *bodies, int body)
{
    int k = 0;
    if (body == 0)
        return;
    while (bodies[k] != 0 && bodies[k] < body)
        k++;
    if (bodies[k] == body)
        return;
    for (int i = 5; i > k; i--)
        bodies[i] = bodies[i - 1];
    bodies[k] = body;
}

static void collect_bodies(bg_cartesian *c)
{
    for (int k = 0; k < c->mb.ngroups; k++) {
        const bg_row_group *g = &c->mb.groups[k];
        const bg_primitive *p = &g->primitive;
        for (int i = 0; i < bg_primitive_get_rows(p); i++) {
            int *bodies = c->row_bodies + 6 * (g->row + i);
            for (int t = 0; t < p->n; t++) {
                insert_body(bodies, p->coordinate[t].a.body);
                insert_body(bodies, p->coordinate[t].b.body);
            }
            if (p->kind != BG_PRIMITIVE_RELATION) {
                insert_body(bodies, p->a.body);
                insert_body(bodies, p->b.body);
            }
        }
    }
}

static void make_patterns(bg_cartesian *c)
{
    int n = 0, row = 0;
    for (int b = 0; b < c->nb; b++)
        for (int i = 0; i < 7; i++, row++) {
            c->M_start[row] = n;
            for (int j = i < 3 ? i : 3; j < (i < 3 ? i + 1 : 7); j++)
                c->M_column[n++] = 7 * b + j;
        }
    c->M_start[row] = n;
    n = 0;
    for (int r = 0; r < c->mb.nrows; r++) {
        c->G_start[r] = n;
        for (int k = 0; k < 6 && c->row_bodies[6 * r + k] != 0; k++)
            for (int j = 0; j < 7; j++)
                c->G_column[n++] = 7 * (c->row_bodies[6 * r + k] - 1) + j;
    }
    for (int b = 0; b < c->nb; b++) {
        c->G_start[c->mb.nrows + b] = n;
        for (int j = 3; j < 7; j++)
            c->G_column[n++] = 7 * b + j;
    }
    c->G_start[c->ng] = n;
    c->pattern_M = (bg_pattern){c->nv, c->nv, c->M_start, c->M_column};
    c->pattern_G = (bg_pattern){c->ng, c->nv, c->G_start, c->G_column};
}

void bg_cartesian_take_poses(const bg_cartesian *c, const bg_body_state *pose, double *all_q,
                             double *all_v)
{
    for (int b = 1; b <= c->nb; b++) {
        double *q = all_q + 7 * (b - 1), *v = all_v + 7 * (b - 1), E[3][4], w[3];
        bg_quat p = bg_quat_from_rotation(&pose[b].R);
        const double values[4] = {p.w, p.x, p.y, p.z};
        bg_vec3_store(pose[b].r, q);
        bg_vec3_store(pose[b].v, v);
        memcpy(q + 3, values, sizeof values);
        bg_euler_calc_E(values, E);
        bg_vec3_store(pose[b].w, w);
        for (int i = 0; i < 4; i++) /* p' = 1/2 E^T w */
            v[3 + i] = 0.5 * (E[0][i] * w[0] + E[1][i] * w[1] + E[2][i] * w[2]);
    }
}

static void name_everything(bg_cartesian *c)
{
    static const char *const parts[] = {"x", "y", "z", "p0", "p1", "p2", "p3"};
    int n = 0;
    for (int b = 1; b <= c->nb; b++)
        for (int i = 0; i < 7; i++, n++) {
            snprintf(c->names[n], sizeof *c->names, "%.50s.%s", c->mb.model->bodies[b].name,
                     parts[i]);
            c->q_names[n] = c->names[n];
            c->q_units[n] = i < 3 ? "m" : "";
            c->v_units[n] = i < 3 ? "m/s" : "1/s";
        }
    for (int k = 0; k < c->mb.ngroups; k++)
        for (int i = 0; i < bg_primitive_get_rows(&c->mb.groups[k].primitive); i++, n++) {
            bg_multibody_name_row(&c->mb, k, i, c->names[n], sizeof *c->names);
            c->g_names[c->mb.groups[k].row + i] = c->names[n];
            c->g_units[c->mb.groups[k].row + i] = bg_multibody_get_row_unit(&c->mb, k);
        }
    for (int b = 1; b <= c->nb; b++, n++) {
        snprintf(c->names[n], sizeof *c->names, "%.50s.norm", c->mb.model->bodies[b].name);
        c->g_names[c->mb.nrows + b - 1] = c->names[n];
    }
}

static void calc_sizes(bg_cartesian *c)
{
    const double *body = c->mb.reach;
    bg_sizes_calc_rows(&c->mb, body, c->g_size);
    for (int b = 0; b < c->nb; b++) {
        c->g_size[c->mb.nrows + b] = 1;
        for (int i = 0; i < 7; i++) {
            c->v_size[7 * b + i] = i < 3 ? body[b + 1] : 1;
            c->mb.block[7 * b + i] = 7 * b + (i < 3 ? 0 : 3);
        }
    }
}

static void list_constants(void *object, bg_arena *arena)
{
    bg_cartesian *c = object;
    BG_TAKE(arena, c->q0, c->nv);
    BG_TAKE(arena, c->v0, c->nv);
    BG_TAKE(arena, c->v_size, c->nv);
    BG_TAKE(arena, c->mb.block, c->nv);
    BG_TAKE(arena, c->g_size, c->ng);
    BG_TAKE(arena, c->M_start, c->nv + 1);
    BG_TAKE(arena, c->M_column, 19 * c->nb);
    BG_TAKE(arena, c->G_start, c->ng + 1);
    BG_TAKE(arena, c->G_column, 42 * c->ng);
    BG_TAKE(arena, c->row_bodies, 6 * c->ng);
    BG_TAKE(arena, c->q_names, c->nv);
    BG_TAKE(arena, c->g_names, c->ng);
    BG_TAKE(arena, c->q_units, c->nv);
    BG_TAKE(arena, c->v_units, c->nv);
    BG_TAKE(arena, c->g_units, c->ng);
    BG_TAKE(arena, c->names, c->nv + c->ng);
}

static void list_scratch(void *object, bg_arena *arena)
{
    bg_cartesian *c = object;
    bg_multibody_take_scratch(&c->mb, arena);
}

static const bg_form itself = {.size = sizeof(bg_cartesian), .list_scratch = list_scratch};

static bg_status fill(bg_cartesian *c, const bg_body_state *start, bg_error *err)
{
    c->mb.form = &itself;
    bg_status st = bg_multibody_create(c->mb.model, NULL, &c->mb, err);
    if (st != BG_OK)
        return st;
    c->nb = c->mb.nbodies - 1;
    c->nv = 7 * c->nb;
    c->ng = c->mb.nrows + c->nb;
    if (!bg_arena_create(&c->constants, list_constants, c) || !bg_multibody_create_scratch(&c->mb))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", c->mb.model->name);
    calc_sizes(c);
    collect_bodies(c);
    make_patterns(c);
    bg_cartesian_take_poses(c, start, c->q0, c->v0);
    name_everything(c);
    c->mb.update = mb_update;
    bg_multibody_start(&c->mb, isnan(c->mb.model->t_start) ? 0.0 : c->mb.model->t_start, c->q0,
                       c->v0);
    double *lambda = BG_NEW_ARRAY(double, c->ng);
    bool good = lambda && bg_cartesian_make_pattern(c, lambda) &&
                bg_fast_part_create(&c->mb, c->nv, c->ng, NULL, &c->fast_part);
    free(lambda);
    for (int b = 0; good && c->fast_part.exist && b < c->nb; b++) {
        memset(c->fast_part.v + 7 * b, c->fast_part.body[b + 1], 7);
        c->fast_part.g[c->mb.nrows + b] = c->fast_part.body[b + 1];
    }
    return good
               ? BG_OK
               : bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", c->mb.model->name);
}

bg_status bg_cartesian_create(const bg_model *model, const bg_body_state *start,
                              bg_cartesian **form, bg_error *err)
{
    *form = NULL;
    bg_cartesian *c = BG_NEW(bg_cartesian);
    if (!c)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", model->name);
    c->mb.model = model;
    bg_status st = fill(c, start, err);
    if (st != BG_OK) {
        bg_cartesian_destroy(c);
        return st;
    }
    *form = c;
    return BG_OK;
}

void bg_cartesian_destroy(void *form)
{
    bg_cartesian *c = form;
    if (!c)
        return;
    bg_multibody_clear(&c->mb);
    bg_fast_part_clear(&c->fast_part);
    free(c->r_start);
    free(c->r_column);
    free(c->h_start);
    free(c->h_column);
    free(c->z_start);
    free(c->z_column);
    free(c->neighbour);
    free(c->neighbour_start);
    bg_arena_clear(&c->constants);
    bg_arena_clear(&c->mb.scratch);
    free(c);
}

static int get_given(void *self, const bg_point *p, int k, bg_given *out)
{
    bg_cartesian *c = self;
    if (p)
        mb_update(&c->mb, p, NULL);
    return bg_wishes_get_given(&c->mb, p != NULL, k, out);
}

static const char *find_reversed(void *self, const bg_point *p)
{
    bg_cartesian *c = self;
    mb_update(&c->mb, p, NULL);
    return bg_wishes_find_reversed(&c->mb);
}

/* Joints that a row belongs to; there is no tree. */
static const char *get_joint(void *self, int row, int k)
{
    const bg_multibody *mb = &((bg_cartesian *)self)->mb;
    for (int i = 0; i < mb->ngroups; i++) {
        const bg_row_group *g = &mb->groups[i];
        int pairs = row >= g->row && row < g->row + bg_primitive_get_rows(&g->primitive)
                        ? bg_row_group_count_pairs(g)
                        : 0;
        for (int j = 0; j < pairs; j++)
            if (g->joint[j] >= 0 && k-- == 0)
                return mb->model->joints[g->joint[j]].name;
    }
    return NULL;
}

/* The joint form has found the start. */
static const bg_starts starts = {
    .get_given = get_given, .get_joint = get_joint, .find_reversed = find_reversed};

/* The joint form, which this one starts from, has been judged. */
static bg_status def_check_start(void *self, const double *q, const double *G,
                                 const unsigned char *left_out, bg_warnings *warnings,
                                 bg_error *err)
{
    (void)self;
    (void)q;
    (void)G;
    (void)left_out;
    (void)warnings;
    (void)err;
    return BG_OK;
}

void bg_cartesian_define(bg_cartesian *c, bg_system_def *def)
{
    bool rheonomic = false;
    for (int k = 0; k < c->mb.ngroups; k++)
        rheonomic = rheonomic || (c->mb.groups[k].primitive.kind == BG_PRIMITIVE_RELATION &&
                                  c->mb.groups[k].primitive.signal >= 0);
    bg_multibody_define(&c->mb, def);
    def->destroy = bg_cartesian_destroy;
    def->nq = def->nv = c->nv;
    def->ng = c->ng;
    def->scleronomic = !rheonomic;
    def->semidefinite = 1;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_s | BG_TERM_g | BG_TERM_gt |
                    BG_TERM_G | BG_TERM_gamma;
    def->terms = def_terms;
    def->check_start = def_check_start;
    def->pattern_M = &c->pattern_M;
    def->pattern_G = &c->pattern_G;
    for (int by = BG_BY_q; by <= BG_BY_v; by++) {
        for (int of = 0; of < BG_OF_COUNT; of++)
            def->derivative_supplied[of][by] = of != BG_OF_g;
        def->pattern[BG_OF_r][by] = &c->pattern_r;
        def->pattern[BG_OF_h][by] = &c->pattern_h;
        def->pattern[BG_OF_w][by] = def->pattern[BG_OF_gamma][by] = &c->pattern_G;
    }
    for (int by = BG_BY_u; by <= BG_BY_u_tt; by++)
        for (int of = 0; of < BG_OF_COUNT; of++)
            def->derivative_supplied[of][by] = c->mb.model->nsignals > 0;
    def->derivative_supplied[BG_OF_r][BG_BY_z] = def->derivative_supplied[BG_OF_h][BG_BY_z] = 1;
    def->pattern[BG_OF_h][BG_BY_z] = &c->mb.rates.by_z;
    def->pattern[BG_OF_r][BG_BY_z] = &c->pattern_z;
    def->derivatives = def_derivatives;
    def->q_names = def->v_names = c->q_names;
    def->g_names = c->g_names;
    def->q_units = c->q_units;
    def->v_units = c->v_units;
    def->lambda_units = c->g_units;
    def->v_size = c->v_size;
    def->g_size = c->g_size;
    def->q0 = c->q0;
    def->v0 = c->v0;
    def->v_part = c->fast_part.v;
    def->z_part = c->fast_part.z;
    def->g_part = c->fast_part.g;
    def->starts = &starts;
}

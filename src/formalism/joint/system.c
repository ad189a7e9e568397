/* The joint formalism as a bg_system: creation, names, start values, terms, outputs. */
#include "formalism/joint/joint_form.h"

#include "base/memory.h"
#include "formalism/sizes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void update(bg_joint_form *f, const bg_point *p)
{
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    bg_joint_update_velocity(f, p->v);
}

static int def_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    bg_joint_form *f = self;
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    if (want & (BG_TERM_f | BG_TERM_gamma | BG_TERM_h | BG_TERM_s))
        bg_joint_update_velocity(f, p->v);
    if (want & (BG_TERM_M | BG_TERM_f))
        bg_joint_update_inertia(f);
    if (want & BG_TERM_V)
        bg_joint_calc_V(f, p->q, out->V);
    if (want & BG_TERM_M)
        bg_joint_calc_mass(f, out->M);
    if (want & BG_TERM_f) {
        bg_multibody_apply_forces(&f->mb);
        bg_joint_calc_inverse(f, NULL, out->f);
        for (int i = 0; i < f->nv; i++)
            out->f[i] = -out->f[i];
    }
    if (want & BG_TERM_g)
        bg_joint_calc_g(f, out->g);
    if (want & BG_TERM_gt)
        bg_joint_calc_gt(f, out->gt);
    if (want & BG_TERM_G)
        bg_joint_calc_G(f, out->G);
    if (want & BG_TERM_gamma)
        bg_joint_calc_gamma(f, out->gamma);
    if (want & BG_TERM_h)
        bg_multibody_calc_rates(&f->mb, out->h);
    if (want & BG_TERM_s)
        bg_multibody_calc_switching(&f->mb, out->s);
    return 0;
}

/* Wrenches of forces and, with lambda, of reactions; generalised forces of direct rows into tau. */
static void apply_all(bg_joint_form *f, const bg_point *p, const double *lambda)
{
    update(f, p);
    bg_joint_update_inertia(f);
    bg_multibody_apply_forces(&f->mb);
    memset(f->tau, 0, (size_t)f->nv * sizeof(double));
    if (!lambda)
        return;
    bg_multibody_apply_reactions(&f->mb, lambda);
    bg_joint_add_direct_forces(f, lambda, f->tau);
}

static int def_accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    bg_joint_form *f = self;
    apply_all(f, p, lambda);
    bg_joint_calc_forward(f, f->tau, a);
    return 0;
}

static int def_residual(void *self, const bg_point *p, const double *a, const double *lambda,
                        double *r)
{
    bg_joint_form *f = self;
    apply_all(f, p, lambda);
    bg_joint_calc_inverse(f, a, r);
    for (int i = 0; i < f->nv; i++)
        r[i] -= f->tau[i];
    return 0;
}

static int def_drive_power(void *self, const bg_point *p, double *power, double *by_a)
{
    bg_joint_form *f = self;
    update(f, p);
    bg_joint_update_inertia(f);
    bg_joint_calc_drive_power(f, power, by_a);
    return 0;
}

static int def_jump(void *self, const bg_point *p, const double *u_t, double *v)
{
    bg_joint_form *f = self;
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    bg_joint_update_inertia(f);
    bg_joint_calc_jump(f, u_t, v);
    return 0;
}

static int def_derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                           bg_derivatives *out)
{
    bg_joint_form *f = self;
    update(f, p);
    if (!out->only_stiff) {
        bg_joint_update_inertia(f);
        bg_multibody_apply_wrenches(&f->mb);
        if (f->ng > 0)
            bg_multibody_apply_reactions(&f->mb, lambda);
    }
    bg_joint_calc_derivatives(f, p, a, lambda, out);
    return 0;
}

static int def_normalise(void *self, double *q)
{
    const bg_joint_form *f = self;
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        if (l->kind != BG_LINK_BALL)
            continue;
        double *x = q + l->q;
        bg_quat p = bg_quat_normalise((bg_quat){x[0], x[1], x[2], x[3]});
        x[0] = p.w, x[1] = p.x, x[2] = p.y, x[3] = p.z;
    }
    return 0;
}

static void mb_update(bg_multibody *mb, const bg_point *p, const double *a)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    update(f, p);
    if (a)
        bg_joint_update_acceleration(f, a);
}

static bool mb_find_coordinate(bg_multibody *mb, int joint, int coordinate, const bg_point *p,
                               const double *a, double out[3])
{
    const bg_joint_form *f = (const bg_joint_form *)mb;
    if (f->mech->joint_tree[joint] < 0)
        return false;
    const bg_link *l = &f->mech->links[bg_mechanism_find_link(f->mech, joint, coordinate)];
    if (l->signal >= 0) {
        out[0] = f->u[l->place - f->nv];
        out[1] = f->u_t[l->place - f->nv];
        out[2] = f->u_t[l->place - f->nv + f->nfollowing];
        return true;
    }
    out[0] = p->q[l->q];
    out[1] = p->v[l->v];
    out[2] = a ? a[l->v] : 0;
    return true;
}

/* Mass, centre and moment of inertia of the bodies on each link, in its axes. */
static void collect_inertia(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int pass = 0; pass < 2; pass++) { /* first masses and centres, then moments about them */
        for (int b = 1; b < m->nbodies; b++) {
            int k = f->mech->body_link[b];
            if (k < 0)
                continue;
            const bg_frame *at = &f->mech->body_offset[b];
            bg_inertia *o = &f->own[k];
            if (pass == 0) {
                o->h = bg_add_scaled(o->h, m->bodies[b].mass, at->r);
                o->m += m->bodies[b].mass;
                continue;
            }
            bg_mat3 Rt = bg_mat3_transpose(&at->R),
                    RJ = bg_mat3_multiply(&at->R, &m->bodies[b].inertia);
            bg_mat3 J = bg_mat3_multiply(&RJ, &Rt);
            bg_inertia x = bg_inertia_about(m->bodies[b].mass, &J, bg_sub(at->r, o->h));
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    o->I.m[i][j] += x.I.m[i][j];
        }
        for (int k = 0; pass == 0 && k < f->mech->nlinks; k++)
            if (f->own[k].m > 0)
                f->own[k].h = bg_scale(1 / f->own[k].m, f->own[k].h);
    }
}

/* What update_position may leave out. */
static void find_shortcuts(bg_joint_form *f)
{
    const bg_mat3 identity = bg_mat3_identity();
    const bg_inertia none = {0};
    for (int k = 0; k < f->mech->nlinks; k++) {
        f->is_shift[k] = memcmp(&f->mech->links[k].before.R, &identity, sizeof identity) == 0;
        f->is_massless[k] = memcmp(&f->own[k], &none, sizeof none) == 0;
    }
    for (int b = 1; b < f->mb.nbodies; b++)
        f->is_carried[b] = memcmp(&f->mech->body_offset[b].R, &identity, sizeof identity) == 0;
}

/* Elements that act along a coordinate of the tree. */
static void find_driven(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int k = 0; k < m->nforces; k++) {
        const bg_force *x = &m->forces[k];
        f->driven[k] = -1;
        if (!x->class_->drive || f->mech->joint_tree[x->joint] < 0)
            continue;
        const bg_link *l = &f->mech
                                ->links[bg_mechanism_find_link(f->mech, x->joint, x->coordinate)];
        f->driven[k] = l->signal < 0 ? l->v : -1;
    }
}

/* Prescribed coordinates that are not eliminated, and couplers whose joints are all in the tree. */
static void collect_rows(bg_joint_form *f)
{
    const bg_model *m = f->mb.model;
    for (int j = 0; j < m->njoints; j++)
        for (int c = 0; c < m->joints[j].class_->ncoordinates && f->mech->joint_tree[j] >= 0; c++)
            if (m->joints[j].start[c].signal >= 0 &&
                f->mech->links[bg_mechanism_find_link(f->mech, j, c)].signal < 0)
                f->rows[f->nrows++] = (bg_direct_row){
                    .n = 1,
                    .link = {bg_mechanism_find_link(f->mech, j, c)},
                    .factor = {1},
                    .coupler = -1,
                    .signal = m->joints[j].start[c].signal};
    for (int k = 0; k < m->ncouplers; k++) {
        const bg_coupler *x = &m->couplers[k];
        bg_direct_row r = {.n = x->n, .offset = x->offset, .signal = -1, .coupler = k};
        bool all = true;
        for (int i = 0; i < x->n; i++)
            all = all && f->mech->joint_tree[x->joint[i]] >= 0;
        for (int i = 0; all && i < x->n; i++) {
            r.link[i] = bg_mechanism_find_link(f->mech, x->joint[i], x->coordinate[i]);
            r.factor[i] = x->factor[i];
        }
        if (all)
            f->rows[f->nrows++] = r;
    }
}

/* Start values and names of the coordinates of link k, which belongs to tree joint t. */
static void start_link(bg_joint_form *f, const bg_tree_joint *t, int k, int *name)
{
    const bg_link *l = &f->mech->links[k];
    const bg_model *m = f->mb.model;
    const bg_joint *j = l->joint >= 0 ? &m->joints[l->joint] : NULL;
    const char *owner = j ? j->name : m->bodies[t->child].name; /* loose bodies have no joint */
    if (l->kind == BG_LINK_BALL) {
        static const char *const q_parts[] = {"p0", "p1", "p2", "p3"}, *const v_parts[] = {
                                                                           "wx", "wy", "wz"};
        f->q0[l->q] = 1;
        for (int i = 0; i < 4; i++) {
            snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, q_parts[i]);
            f->q_names[l->q + i] = f->names[(*name)++];
        }
        for (int i = 0; i < 3; i++) {
            snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, v_parts[i]);
            f->v_names[l->v + i] = f->names[(*name)++];
        }
        return;
    }
    if (l->signal >= 0)
        return;
    const char *part = l->axis == 0 ? "x" : l->axis == 1 ? "y" : "z";
    for (int c = 0; j && c < j->class_->ncoordinates; c++)
        if (bg_mechanism_find_link(f->mech, l->joint, c) == k) {
            part = j->class_->coordinate[c].name;
            f->q0[l->q] = j->start[c].q;
            f->q_fixed[l->v] = j->start[c].q_fixed;
        }
    snprintf(f->names[*name], sizeof *f->names, "%.50s.%s", owner, part);
    f->q_names[l->q] = f->v_names[l->v] = f->names[(*name)++];
}

static void name_rows(bg_joint_form *f, int *name)
{
    for (int k = 0; k < f->mb.ngroups; k++)
        for (int i = 0; i < bg_primitive_get_rows(&f->mb.groups[k].primitive); i++) {
            bg_multibody_name_row(&f->mb, k, i, f->names[*name], sizeof *f->names);
            f->g_names[f->mb.groups[k].row + i] = f->names[(*name)++];
        }
    for (int k = 0; k < f->nrows; k++) {
        const bg_direct_row *r = &f->rows[k];
        if (r->coupler >= 0)
            snprintf(f->names[*name], sizeof *f->names, "%.50s",
                     f->mb.model->couplers[r->coupler].name);
        else
            snprintf(f->names[*name], sizeof *f->names, "%.57s.drive",
                     f->q_names[f->mech->links[r->link[0]].q]);
        f->g_names[f->mb.nrows + k] = f->names[(*name)++];
    }
}

/* What stays as it is, but for what depends on the number of rows. */
static void list_constants(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    int links = f->mech->nlinks;
    BG_TAKE(arena, f->own, links);
    BG_TAKE(arena, f->is_shift, links);
    BG_TAKE(arena, f->is_massless, links);
    BG_TAKE(arena, f->is_carried, f->mb.nbodies);
    BG_TAKE(arena, f->rows, f->nv + f->mb.model->ncouplers);
    BG_TAKE(arena, f->following, f->nfollowing);
    BG_TAKE(arena, f->driven, f->mb.model->nforces);
    BG_TAKE(arena, f->diagonal, f->nv);
    BG_TAKE(arena, f->q0, f->nq);
    BG_TAKE(arena, f->v0, f->nv);
    BG_TAKE(arena, f->mb.block, f->nv);
    BG_TAKE(arena, f->mb.endless, f->nv);
    BG_TAKE(arena, f->q_fixed, f->nv);
    BG_TAKE(arena, f->marks, f->nv);
}

static void list_names(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    BG_TAKE(arena, f->q_names, f->nq);
    BG_TAKE(arena, f->v_names, f->nv);
    BG_TAKE(arena, f->g_names, f->ng);
    BG_TAKE(arena, f->v_size, f->nv);
    BG_TAKE(arena, f->g_size, f->ng);
    BG_TAKE(arena, f->names, f->nq + f->nv + f->ng);
}

static void list_scratch(void *object, bg_arena *arena)
{
    bg_joint_form *f = object;
    int links = f->mech->nlinks, nv = f->nv, following = f->nfollowing;
    bg_multibody_take_scratch(&f->mb, arena);
    BG_TAKE(arena, f->L, links);
    BG_TAKE(arena, f->S, nv + following);
    BG_TAKE(arena, f->V, links);
    BG_TAKE(arena, f->bias, links);
    BG_TAKE(arena, f->A, links);
    BG_TAKE(arena, f->F, links);
    BG_TAKE(arena, f->I, links);
    BG_TAKE(arena, f->composite, links);
    BG_TAKE(arena, f->articulated, links);
    BG_TAKE(arena, f->p, links);
    BG_TAKE(arena, f->U, nv);
    BG_TAKE(arena, f->D, nv);
    BG_TAKE(arena, f->rest, nv);
    BG_TAKE(arena, f->u, following);
    BG_TAKE(arena, f->u_t, 2 * following);
    BG_TAKE(arena, f->q_now, f->nq + following);
    BG_TAKE(arena, f->v_now, nv + 2 * following);
    BG_TAKE(arena, f->shift, nv + following);
    BG_TAKE(arena, f->sums, links);
    BG_TAKE(arena, f->tau, nv);
    BG_TAKE(arena, f->jump, following > 0 ? nv : 0);
    BG_TAKE(arena, f->inside, f->mb.nbodies);
}

static bool create_scratch(bg_joint_form *f)
{
    if (!bg_arena_create(&f->scratch, list_scratch, f))
        return false;
    bg_multibody_start_scratch(&f->mb);
    f->placed = f->moving = f->weighed = false;
    return true;
}

static void *def_fork(const void *self)
{
    bg_joint_form *f = BG_NEW(bg_joint_form);
    if (!f)
        return NULL;
    *f = *(const bg_joint_form *)self;
    if (create_scratch(f))
        return f;
    free(f);
    return NULL;
}

static void def_join(void *fork)
{
    bg_joint_form *f = fork;
    bg_arena_clear(&f->scratch);
    free(f);
}

/* Balls, and the three directions in which a free joint slides; angles that may turn for ever. */
static void find_blocks(bg_joint_form *f)
{
    const bg_mechanism *x = f->mech;
    for (int t = 0; t < x->ntree; t++)
        for (int k = x->tree[t].first; k < x->tree[t].first + x->tree[t].count; k++) {
            const bg_link *l = &x->links[k];
            bool slides = x->tree[t].count == 4 && l->kind == BG_LINK_TRANSLATE;
            bool goes_on = slides && k > x->tree[t].first &&
                           x->links[k - 1].kind == BG_LINK_TRANSLATE;
            for (int i = l->v; i < l->v + l->nv; i++)
                f->mb.block[i] = goes_on ? f->mb.block[l->v - 1] : l->v;
            if (l->nv == 1)
                f->mb.endless[l->v] = l->kind == BG_LINK_ROTATE;
        }
}

/* The displacement of a link that is large; body: sizes. */
static double calc_link_size(const bg_mechanism *x, const bg_tree_joint *t, int link,
                             const double *body)
{
    return x->links[link].kind == BG_LINK_TRANSLATE ? body[t->child] : 1;
}

static bool calc_sizes(bg_joint_form *f)
{
    const bg_mechanism *x = f->mech;
    double *body = BG_NEW_ARRAY(double, f->mb.nbodies);
    if (!body)
        return false;
    bg_sizes_calc_bodies(f->mb.model, body);
    bg_sizes_calc_rows(&f->mb, body, f->g_size);
    for (int t = 0; t < x->ntree; t++)
        for (int k = x->tree[t].first; k < x->tree[t].first + x->tree[t].count; k++)
            for (int i = 0; i < x->links[k].nv; i++)
                f->v_size[x->links[k].v + i] = calc_link_size(x, &x->tree[t], k, body);
    for (int k = 0; k < f->nrows; k++) {
        double size = 0;
        for (int i = 0; i < f->rows[k].n; i++) {
            int link = f->rows[k].link[i];
            const bg_tree_joint *t = &x->tree[x->joint_tree[x->links[link].joint]];
            size = fmax(size, fabs(f->rows[k].factor[i]) * calc_link_size(x, t, link, body));
        }
        f->g_size[f->mb.nrows + k] = size > 0 ? size : 1;
    }
    free(body);
    return true;
}

static bg_status fill(bg_joint_form *f, bg_error *err)
{
    const bg_model *m = f->mb.model;
    bool *in_tree = BG_NEW_ARRAY(bool, m->njoints);
    if (!in_tree)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < m->njoints; k++)
        in_tree[k] = f->mech->joint_tree[k] >= 0;
    bg_status st = bg_multibody_create(m, in_tree, &f->mb, err);
    free(in_tree);
    if (st != BG_OK)
        return st;
    f->nq = f->mech->nq;
    f->nv = f->mech->nv;
    f->nfollowing = f->mech->nfollowing;
    if (!bg_arena_create(&f->constants, list_constants, f) || !create_scratch(f))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < f->mech->nlinks; k++)
        if (f->mech->links[k].signal >= 0)
            f->following[f->mech->links[k].place - f->nv] = f->mech->links[k].signal;
    collect_inertia(f);
    find_blocks(f);
    find_shortcuts(f);
    collect_rows(f);
    f->ng = f->mb.nrows + f->nrows;
    if (!bg_arena_create(&f->named, list_names, f) || !calc_sizes(f))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    int name = 0;
    for (int t = 0; t < f->mech->ntree; t++)
        for (int k = 0; k < f->mech->tree[t].count; k++)
            start_link(f, &f->mech->tree[t], f->mech->tree[t].first + k, &name);
    name_rows(f, &name);
    f->mb.update = mb_update;
    f->mb.find_coordinate = mb_find_coordinate;
    f->mb.calc_tree_reaction = bg_joint_calc_tree_reaction;
    f->mb.transmit = bg_joint_transmit;
    f->mb.find_coupler = bg_joint_find_coupler;
    f->mb.jump = f->nfollowing > 0 ? def_jump : NULL;
    double t = isnan(m->t_start) ? 0.0 : m->t_start;
    bg_multibody_start(&f->mb, t, f->q0, f->v0); /* signals, which rates may follow */
    bg_joint_update_position(f, f->q0);
    bg_joint_guess_velocity(f, f->v0);
    bg_multibody_start(&f->mb, t, f->q0, f->v0);
    double *lambda = BG_NEW_ARRAY(double, f->ng);
    find_driven(f);
    bool good = lambda && bg_joint_make_patterns(f, lambda);
    free(lambda);
    f->mb
        .driven = f->driven; /* patterns are from all pairs of bodies: they have all that is left */
    return good ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
}

bg_status bg_joint_form_create(const bg_model *model, bool constrain, bg_joint_form **form,
                               bg_error *err)
{
    *form = NULL;
    bg_joint_form *f = BG_NEW(bg_joint_form);
    if (!f)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", model->name);
    f->mb.model = model;
    bg_status st = bg_mechanism_create_as(model, constrain, &f->mech, err);
    if (st == BG_OK)
        st = fill(f, err);
    if (st != BG_OK) {
        bg_joint_form_destroy(f);
        return st;
    }
    *form = f;
    return BG_OK;
}

void bg_joint_form_destroy(void *form)
{
    bg_joint_form *f = form;
    if (!f)
        return;
    bg_multibody_clear(&f->mb);
    bg_joint_clear_patterns(f);
    bg_mechanism_destroy(f->mech);
    bg_arena_clear(&f->constants);
    bg_arena_clear(&f->named);
    bg_arena_clear(&f->scratch);
    free(f);
}

static bool any(const unsigned char *flags, int n)
{
    for (int i = 0; i < n; i++)
        if (flags[i])
            return true;
    return false;
}

static void define_derivatives(const bg_joint_form *f, bg_system_def *def)
{
    const bg_pattern *r = f->patterns.r.row_start ? &f->patterns.r : NULL;
    for (int by = BG_BY_q; by <= BG_BY_v; by++) {
        for (int of = 0; of < BG_OF_COUNT; of++)
            def->derivative_supplied[of][by] = of != BG_OF_g;
        def->pattern[BG_OF_r][by] = r;
        def->pattern[BG_OF_h][by] = f->patterns.h.row_start ? &f->patterns.h : NULL;
        def->pattern[BG_OF_w][by] = def->pattern[BG_OF_gamma][by] = def->pattern_G;
    }
    for (int by = BG_BY_u; by <= BG_BY_u_tt; by++)
        for (int of = 0; of < BG_OF_COUNT; of++)
            def->derivative_supplied[of][by] = f->mb.model->nsignals > 0;
    def->derivative_supplied[BG_OF_r][BG_BY_z] = def->derivative_supplied[BG_OF_h][BG_BY_z] = 1;
    def->pattern[BG_OF_h][BG_BY_z] = &f->mb.rates.by_z;
    def->pattern[BG_OF_r][BG_BY_z] = f->patterns.z.row_start ? &f->patterns.z : NULL;
    def->derivatives = def_derivatives;
}

static bg_status def_check_start(void *self, const double *q, const double *G,
                                 const unsigned char *left_out, bg_warnings *warnings,
                                 bg_error *err)
{
    return bg_joint_check_determined(self, q, G, left_out, warnings, err);
}

void bg_joint_form_define(bg_joint_form *f, bg_system_def *def)
{
    bool balls = f->nq != f->nv, rheonomic = f->nfollowing > 0 && f->ng > 0;
    for (int k = 0; k < f->mb.ngroups; k++)
        rheonomic = rheonomic || (f->mb.groups[k].primitive.kind == BG_PRIMITIVE_RELATION &&
                                  f->mb.groups[k].primitive.signal >= 0);
    for (int k = 0; k < f->nrows; k++)
        rheonomic = rheonomic || f->rows[k].signal >= 0;
    bg_multibody_define(&f->mb, def);
    def->destroy = bg_joint_form_destroy;
    def->fork = def_fork;
    def->join = def_join;
    def->nq = f->nq;
    def->nv = f->nv;
    def->ng = f->ng;
    def->scleronomic = !rheonomic;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_s | BG_TERM_g | BG_TERM_gt |
                    BG_TERM_G | BG_TERM_gamma | (balls ? BG_TERM_V : 0u);
    def->terms = def_terms;
    def->pattern_M = f->patterns.M.row_start ? &f->patterns.M : NULL;
    def->pattern_G = f->patterns.G.row_start ? &f->patterns.G : NULL;
    def->pattern_V = balls ? &f->patterns.V : NULL;
    define_derivatives(f, def);
    def->accelerate = def_accelerate;
    def->residual = def_residual;
    def->check_start = def_check_start;
    def->drive_power = f->nfollowing > 0 ? def_drive_power : NULL;
    def->jump = f->nfollowing > 0 ? def_jump : NULL;
    def->normalise = balls ? def_normalise : NULL;
    def->q_names = f->q_names;
    def->v_names = f->v_names;
    def->g_names = f->g_names;
    def->v_size = f->v_size;
    def->g_size = f->g_size;
    def->q0 = f->q0;
    def->v0 = f->v0;
    def->q_fixed = any(f->q_fixed, f->nv) ? f->q_fixed : NULL;
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        for (int i = l->v; i < l->v + l->nv && l->joint >= 0; i++)
            f->marks[i] = f->mb.model->joints[l->joint].stiff ? BG_MARK_STIFF : 0;
    }
    def->marks = any(f->marks, f->nv) ? f->marks : NULL;
    def->starts = bg_joint_get_starts(f->found);
}

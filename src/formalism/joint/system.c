/* The joint formalism as a bg_system: its functions, its creation, its definition. */
#include "formalism/joint/joint_form.h"

#include "base/memory.h"

#include <math.h>
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

static int def_factor_mass(void *self, const bg_point *p, double *factor)
{
    bg_joint_form *f = self;
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    bg_joint_update_inertia(f);
    bg_joint_factor_mass(f, factor);
    return 0;
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

static int def_expand(void *self, const bg_point *p, const double *a, const double *lambda,
                      bg_expansion_values *out)
{
    bg_joint_form *f = self;
    update(f, p);
    bg_joint_update_inertia(f);
    bg_multibody_apply_wrenches(&f->mb);
    if (f->ng > 0)
        bg_multibody_apply_reactions(&f->mb, lambda);
    bg_joint_calc_expansion(f, p, a, lambda, out);
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

static void forget(bg_multibody *mb)
{
    bg_joint_form *f = (bg_joint_form *)mb;
    f->placed = f->moving = f->weighed = false;
    memset(&f->expansion, 0, sizeof f->expansion);
}

static void clear_fork(bg_multibody *mb)
{
    bg_joint_clear_expansion((bg_joint_form *)mb);
}

static const bg_form itself = {sizeof(bg_joint_form), list_scratch, forget, clear_fork};

static bg_status fill(bg_joint_form *f, bg_error *err)
{
    const bg_model *m = f->mb.model;
    bool *in_tree = BG_NEW_ARRAY(bool, m->njoints);
    if (!in_tree)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < m->njoints; k++)
        in_tree[k] = f->mech->joint_tree[k] >= 0;
    f->mb.form = &itself;
    bg_status st = bg_multibody_create(m, in_tree, &f->mb, err);
    free(in_tree);
    if (st != BG_OK)
        return st;
    f->nq = f->mech->nq;
    f->nv = f->mech->nv;
    f->nfollowing = f->mech->nfollowing;
    if (!bg_arena_create(&f->constants, list_constants, f) || !bg_multibody_create_scratch(&f->mb))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    for (int k = 0; k < f->mech->nlinks; k++)
        if (f->mech->links[k].signal >= 0)
            f->following[f->mech->links[k].place - f->nv] = f->mech->links[k].signal;
    bg_joint_collect_inertia(f);
    bg_joint_find_blocks(f);
    bg_joint_find_shortcuts(f);
    bg_joint_collect_rows(f);
    f->ng = f->mb.nrows + f->nrows;
    if (!bg_arena_create(&f->named, list_names, f))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    bg_joint_calc_sizes(f);
    bg_joint_name_all(f);
    f->mb.update = mb_update;
    f->mb.find_coordinate = mb_find_coordinate;
    f->mb.calc_tree_reaction = bg_joint_calc_tree_reaction;
    f->mb.transmit = bg_joint_transmit;
    f->mb.find_coupler = bg_joint_find_coupler;
    f->mb.jump = f->nfollowing > 0 ? def_jump : NULL;
    double t = isnan(m->t_start) ? 0.0 : m->t_start;
    bg_multibody_start(&f->mb, t, f->q0, f->v0); /* signals, which rates may follow */
    bg_joint_update_position(f, f->q0);
    st = bg_joint_guess_velocity(f, f->v0, err);
    if (st != BG_OK)
        return st;
    bg_multibody_start(&f->mb, t, f->q0, f->v0);
    double *lambda = BG_NEW_ARRAY(double, f->ng);
    bg_joint_find_driven(f);
    bool good = lambda && bg_joint_make_patterns(f, lambda);
    f->mb
        .driven = f->driven; /* patterns are from all pairs of bodies: they have all that is left */
    free(lambda);
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
    bg_joint_clear_expansion(f);
    bg_mechanism_destroy(f->mech);
    bg_arena_clear(&f->constants);
    bg_arena_clear(&f->named);
    bg_arena_clear(&f->mb.scratch);
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
    def->lay_out = bg_joint_lay_out;
    def->expand = def_expand;
    def->accelerate = def_accelerate;
    def->mass_size = bg_joint_get_mass_size(f);
    def->factor_mass = def_factor_mass;
    def->solve_mass = bg_joint_solve_mass;
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

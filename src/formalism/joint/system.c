/* The joint formalism as a bg_system: its functions and its definition. */
#include "formalism/joint/joint_form.h"

#include <string.h>

void bg_joint_update(bg_joint_form *f, const bg_point *p)
{
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    bg_joint_update_velocity(f, p->v);
}

/* M, f, h, and G and gamma, of the fast part alone; and V. */
enum { FAST_TERMS = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_G | BG_TERM_gamma | BG_TERM_V };
static void calc_fast_terms(bg_joint_form *f, const bg_point *p, unsigned want, bg_terms *out)
{
    const bg_fast_part *x = &f->fast_part;
    bg_joint_update_fast(f, p);
    if (want & (BG_TERM_M | BG_TERM_f))
        bg_joint_weigh(f, f->is_fast);
    if (want & BG_TERM_V)
        bg_joint_calc_V(f, p->q, out->V);
    if (want & BG_TERM_M)
        bg_joint_calc_fast_mass(f, out->M);
    if (want & BG_TERM_f) {
        bg_fast_part_apply_forces(&f->mb, x);
        bg_joint_calc_fast_inverse(f, out->f);
        for (int i = 0; i < f->nv; i++)
            out->f[i] = x->v[i] == BG_PART_FAST ? -out->f[i] : out->f[i];
    }
    if (want & BG_TERM_G)
        bg_joint_calc_fast_G(f, out->G);
    if (want & BG_TERM_gamma)
        bg_joint_calc_fast_gamma(f, out->gamma);
    if (want & BG_TERM_h)
        bg_fast_part_calc_rates(&f->mb, x, out->h);
}

static int def_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    bg_joint_form *f = self;
    if (want == BG_TERM_V) { /* which is all of q */
        bg_joint_calc_V(f, p->q, out->V);
        return 0;
    }
    if (p->part == BG_PART_FAST && f->fast_part.exist && (want & ~(unsigned)FAST_TERMS) == 0) {
        calc_fast_terms(f, p, want, out);
        return 0;
    }
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
    bg_joint_update(f, p);
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
    bg_joint_update(f, p);
    bg_joint_update_inertia(f);
    bg_joint_calc_drive_power(f, power, by_a);
    return 0;
}

/* The fast part alone, or everything, of which the wanted part is taken. */
static int def_accelerate_part(void *self, const bg_point *p, unsigned part, const double *lambda,
                               double *a, double *z_t)
{
    bg_joint_form *f = self;
    const bg_fast_part *x = &f->fast_part;
    if (part == BG_PART_FAST) {
        bg_joint_update_fast(f, p);
        bg_fast_part_apply_forces(&f->mb, x);
        if (lambda) {
            memset(f->tau, 0, (size_t)f->nv * sizeof(double));
            bg_fast_part_apply_reactions(&f->mb, x, lambda);
            bg_joint_add_direct_forces(f, lambda, f->tau);
        }
        bg_joint_calc_forward_fast(f, lambda ? f->tau : NULL, a);
        bg_fast_part_calc_rates(&f->mb, x, z_t);
        return 0;
    }
    apply_all(f, p, lambda);
    bg_joint_calc_forward(f, f->tau, f->part);
    for (int i = 0; i < f->nv; i++)
        a[i] = x->v[i] & part ? f->part[i] : a[i];
    bg_multibody_calc_rates(&f->mb, f->part);
    for (int i = 0; i < f->mb.nz; i++)
        z_t[i] = x->z[i] & part ? f->part[i] : z_t[i];
    return 0;
}

int bg_joint_jump(void *self, const bg_point *p, const double *u_t, double *v)
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
    bg_joint_update(f, p);
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
    bg_joint_update(f, p);
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
    def->jump = f->nfollowing > 0 ? bg_joint_jump : NULL;
    def->normalise = balls ? def_normalise : NULL;
    def->q_names = f->q_names;
    def->v_names = f->v_names;
    def->g_names = f->g_names;
    def->q_units = f->q_units;
    def->v_units = f->v_units;
    def->lambda_units = f->g_units;
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
    def->v_part = f->fast_part.v;
    def->z_part = f->fast_part.z;
    def->g_part = f->fast_part.g;
    def->accelerate_part = f->fast_part.exist ? def_accelerate_part : NULL;
    def->starts = bg_joint_get_starts(f->found);
}

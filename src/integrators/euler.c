/* euler and linear-euler: fixed steps of first order with the same work in each, for real time.
 *
 * B. Burgermeister, M. Arnold and B. Esterl, DAE time integration for real-time applications in
 * multi-body dynamics. With f_q, f_u standing for -dr/dq, -dr/dv (all of M a, f and G^T lambda, at
 * the accelerations and multipliers of the step before) and u for v, a step solves
 *     (M - h f_u - h^2 f_q)  du = f + h f_q u        exact, J2
 *     (M - h f_u)            du = f + h f_q u        J1
 *      M                     du = f + h f_q u        J3: only the derivative along u
 *     (M - h f_u - h^2 f_q)  du = f                  semi
 *      M                     du = f                  none
 * together with a row for the constraints, and u1 = u + h du; q1 = q + h V u, or q + h V u1 for
 * exact and semi. The constraints enter as
 *     index 1   G du = -gamma - 2 alpha w - beta g    (alpha, beta: Baumgarte, else 0)
 *     index 2   G(q1) u1 + g_t = -alpha g(q1), with q1 = q + h V u      (6)
 *     ggl       as index 2, q1 moved onto g = 0 before, by `newton_steps` simplified Newton steps
 * and `regularise` (index 1) replaces the row by its regularisation with the multipliers of the
 * step before, G du - epsilon D (lambda - lambda_old) = ..., which needs no independent
 * constraints. D is diagonal and as large as G M^{-1} G^T, so that epsilon is a number: with B the
 * blocks of coordinates that a turn of the axes mixes, m_B the mean of their masses in M, D_i =
 * sum_B |G_iB|^2 / m_B. Afterwards, `velocity` projects u1 and `project` q1 and then u1 in the mass
 * metric; q1 with the matrix at q and a fixed number of Newton steps (11). The states z follow with
 * their own block, (I - h h_z) dz = h + h h_q u + h h_v du,    or explicitly for none.
 *
 * Where h f_q u is there, h f_t has to be, too, or the step follows its inputs late: f, h and gamma
 * are those with the inputs of the step's end, f(t1, q, u) = f + h f_t + ..., and constraints that
 * move with time add their part -(G(t1, q) - G(t0, q))^T lambda, at the multipliers of the step
 * before.
 *
 * Where f depends on lambda, it is taken at the multipliers of the step before, and once more at
 * those which the solution with them gives: two solutions with one matrix in every step. They
 * differ from the multipliers that settle by O(h) times the square of their contraction, so the
 * order stays 1. */
#include "integrators/euler.h"

#include "base/memory.h"
#include "integrators/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The blocks a step needs. */
static uint64_t choose_blocks(const bg_integrator *ig, const bg_euler *m)
{
    uint64_t of_r = BG_KEPT(BG_OF_r, BG_BY_q) | BG_KEPT(BG_OF_r, BG_BY_v);
    uint64_t of_h = BG_KEPT(BG_OF_h, BG_BY_q) | BG_KEPT(BG_OF_h, BG_BY_v) |
                    BG_KEPT(BG_OF_h, BG_BY_z);
    bool states = m->jacobian != BG_JACOBIAN_NONE && ig->dyn->nz > 0;
    return (bg_euler_uses_matrix(m) ? of_r : 0) | (states ? of_h : 0);
}

static bg_status keep_jacobian(bg_integrator *ig, bg_euler *m, bg_error *err)
{
    m->blocks = choose_blocks(ig, m);
    bg_status st = bg_jacobian_create(&m->kept_jacobian, ig->sys, m->blocks, err);
    m->r_q = bg_jacobian_get(&m->kept_jacobian, BG_OF_r, BG_BY_q)->values;
    m->r_v = bg_jacobian_get(&m->kept_jacobian, BG_OF_r, BG_BY_v)->values;
    m->h_q = bg_jacobian_get(&m->kept_jacobian, BG_OF_h, BG_BY_q)->values;
    m->h_v = bg_jacobian_get(&m->kept_jacobian, BG_OF_h, BG_BY_v)->values;
    m->h_z = bg_jacobian_get(&m->kept_jacobian, BG_OF_h, BG_BY_z)->values;
    return st;
}

static void list(void *object, bg_arena *arena)
{
    const bg_integrator *ig = object;
    const bg_dynamics *d = ig->dyn;
    const bg_system *sys = ig->sys->system;
    bg_euler *m = ig->method;
    const bg_pattern *pattern = bg_system_get_pattern(sys, BG_OF_r, BG_BY_q);
    size_t nv = (size_t)d->nv, block = pattern ? (size_t)pattern->row_start[d->nv] : nv * nv;
    block = bg_euler_uses_matrix(m) ? block : 0;
    BG_TAKE(arena, m->M, bg_system_get_size_M(sys));
    BG_TAKE(arena, m->place_of_M, bg_system_get_size_M(sys));
    BG_TAKE(arena, m->hat_M, block);
    BG_TAKE(arena, m->kept, block);
    BG_TAKE(arena, m->moved, d->nz);
    BG_TAKE(arena, m->G0, bg_system_get_size_G(sys));
    BG_TAKE(arena, m->G1, bg_system_get_size_G(sys));
    BG_TAKE(arena, m->rhs, d->nv);
    BG_TAKE(arena, m->along, d->nv);
    BG_TAKE(arena, m->shifted, d->nq);
    BG_TAKE(arena, m->gt, d->ng);
    BG_TAKE(arena, m->dz, d->nz);
    BG_TAKE(arena, m->masses, d->nv);
    BG_TAKE(arena, m->row_sizes, d->ng);
    BG_TAKE(arena, m->sums, 3 * nv);
    BG_TAKE(arena, m->stamps, d->nv);
    if (d->settling)
        BG_TAKE(arena, m->again, d->nv + d->ng);
}

/* Where each value of M lies among those of the derivatives of r. */
static void map_mass(const bg_integrator *ig, bg_euler *m)
{
    const bg_pattern *from = ig->sys->def.pattern_M;
    const bg_pattern *to = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    int nv = ig->dyn->nv;
    for (int i = 0, k = 0; i < nv; i++) {
        int t = to ? to->row_start[i] : 0;
        for (int c = from ? from->row_start[i] : 0, end = from ? from->row_start[i + 1] : nv;
             c < end; c++, k++) {
            int column = from ? from->column[c] : c;
            while (to && t < to->row_start[i + 1] && to->column[t] < column)
                t++;
            bool found = !to || (t < to->row_start[i + 1] && to->column[t] == column);
            m->place_of_M[k] = !found ? -1 : to ? t : i * nv + column;
        }
    }
}

bool bg_euler_is_late(const bg_euler *m)
{
    return m->jacobian == BG_JACOBIAN_EXACT || m->jacobian == BG_JACOBIAN_SEMI;
}

bool bg_euler_uses_matrix(const bg_euler *m)
{
    return m->jacobian != BG_JACOBIAN_NONE && m->jacobian != BG_JACOBIAN_3;
}

bool bg_euler_projects(const bg_euler *m)
{
    return m->ng > 0 && (m->stabilisation == BG_STABILISE_PROJECT || m->index == BG_INDEX_GGL);
}

/* q1 is known before u1, so that (6) needs nothing afterwards. */
bool bg_euler_position_first(const bg_euler *m)
{
    return m->index != BG_INDEX_1 && !bg_euler_is_late(m);
}

/* Velocities are projected at the end. */
bool bg_euler_settles_velocity(const bg_euler *m)
{
    bool wanted = m->stabilisation == BG_STABILISE_VELOCITY || bg_euler_projects(m);
    return m->ng > 0 && wanted && !bg_euler_position_first(m);
}

/* Where f_q u is in the right side, h f_t is, too: in a frame that moves with the inputs both
 * belong together. */
bool bg_euler_follows_inputs(const bg_euler *m)
{
    return m->jacobian != BG_JACOBIAN_NONE && m->jacobian != BG_JACOBIAN_SEMI;
}

bool bg_euler_has_moving_constraints(const bg_integrator *ig, const bg_euler *m)
{
    return m->ng > 0 && !ig->sys->def.scleronomic && bg_euler_follows_inputs(m);
}

/* Evaluations and factorisations of every step but the first after a start or an event. */
static bool plan(const bg_integrator *ig, bg_step_plan *out)
{
    const bg_euler *m = ig->method;
    *out = (bg_step_plan){.terms = 1};
    if (ig->dyn->by_formalism && m->jacobian == BG_JACOBIAN_NONE) {
        out->terms = ig->dyn->nz > 0 || ig->dyn->kinematic;
        out->explicit_ = 1;
        return true;
    }
    bool shared = m->index == BG_INDEX_1 && bg_euler_settles_velocity(m) &&
                  !bg_euler_uses_matrix(m);
    bool late = m->ng > 0 && m->index != BG_INDEX_1 && !bg_euler_position_first(m);
    out->jacobian_r = bg_euler_uses_matrix(m);
    out->jacobian_h = m->states != NULL;
    out->jacobian_every = out->jacobian_r || out->jacobian_h ? m->refresh : 0;
    out->states = m->states ? ig->dyn->nz : 0;
    out->solutions = m->drift.on ? m->ng : 0;
    out->factorisations = !shared;
    out->terms += m->jacobian == BG_JACOBIAN_3;
    out->terms += m->again != NULL; /* f at the multipliers of the first solution */
    out->terms += bg_euler_has_moving_constraints(ig, m);
    out->terms += m->ng > 0; /* G, g and g_t at the end */
    out->terms += late && m->ng > 0 ? 1 + (ig->dyn->kinematic ? 1 : 0) : 0;
    if (bg_euler_projects(m)) {
        out->projections = 1;
        out->terms += m->newton_steps;
        out->factorisations += bg_euler_position_first(m); /* the matrix at the beginning */
    }
    out->factorisations += bg_euler_settles_velocity(m);
    out->first_solutions = m->partition == BG_PARTITION_AUTO ? ig->dyn->nv : 0;
    out->first_factorisations = shared + (out->first_solutions > 0) +
                                (bg_euler_projects(m) && bg_euler_settles_velocity(m));
    out->matrix = bg_kkt_get_work(m->hat);
    return true;
}

/* I - h h_z: positive as long as the states are stable, or the step is short. */
static bg_status create_states(bg_integrator *ig, bg_euler *m, bg_error *err)
{
    const bg_group group = {ig->dyn->nz, 1};
    const bg_block blocks[] = {
        {0, 0, BG_BLOCK_UNIT, NULL},
        {0, 0, BG_BLOCK_PLAIN, bg_system_get_pattern(ig->sys->system, BG_OF_h, BG_BY_z)}};
    const bg_blocks_def def = {&group, blocks, 1, 2};
    return bg_blocks_create(&def, &m->states, err);
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    bg_euler *m = BG_NEW(bg_euler);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    m->ng = def->ng;
    bg_status st = bg_euler_read_options(ig, m, err);
    if (st == BG_OK)
        st = bg_euler_check_system(ig, m, err);
    if (st != BG_OK)
        return st;
    m->drift.on = m->drift.on && bg_euler_projects(m);
    ig->drifts = m->ng > 0 && !bg_euler_projects(m);
    const bg_pattern *r = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    bool plain = ig->dyn->by_formalism && m->jacobian == BG_JACOBIAN_NONE;
    st = keep_jacobian(ig, m, err);
    if (st != BG_OK)
        return st;
    if (!bg_arena_create(&m->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    m->terms = ig->dyn->terms;
    m->terms.M = m->M;
    if (!plain)
        map_mass(ig, m);
    if (!plain)
        st = bg_dynamics_create_kkt(ig->sys->system, bg_euler_uses_matrix(m) ? r : def->pattern_M,
                                    def->ng, &m->hat, err);
    if (st == BG_OK && bg_euler_uses_matrix(m))
        bg_kkt_set_unsymmetric(m->hat);
    if (st == BG_OK && !plain)
        st = bg_dynamics_create_kkt(ig->sys->system, def->pattern_M, def->ng, &m->plain, err);
    if (st == BG_OK && m->jacobian != BG_JACOBIAN_NONE && def->nz > 0)
        st = create_states(ig, m, err);
    if (st == BG_OK && m->hat && m->stabilisation == BG_STABILISE_REGULARISE) {
        bg_kkt_set_regularisation(m->hat, m->epsilon);
        bg_kkt_set_regularisation_sizes(m->hat, m->row_sizes);
    }
    if (st == BG_OK && m->drift.on)
        st = bg_drift_create(&m->drift, ig->sys, ig->dyn->eliminated, err);
    return st;
}

static void destroy(bg_integrator *ig)
{
    bg_euler *m = ig->method;
    if (!m)
        return;
    bg_arena_clear(&m->arena);
    bg_jacobian_clear(&m->kept_jacobian);
    bg_kkt_destroy(m->hat);
    bg_kkt_destroy(m->plain);
    bg_blocks_destroy(m->states);
    bg_drift_clear(&m->drift);
    free(m);
}

static void eliminate(bg_integrator *ig)
{
    bg_euler *m = ig->method;
    if (m->hat) {
        bg_kkt_set_eliminated(m->hat, ig->dyn->eliminated);
        bg_kkt_set_eliminated(m->plain, ig->dyn->eliminated);
    }
}

static void restart(bg_integrator *ig, bg_restart reason)
{
    bg_euler *m = ig->method;
    (void)reason;
    bg_jacobian_forget(&m->kept_jacobian, m->blocks);
    m->partitioned = false;
    m->plain_ready = false;
    bg_drift_reset(&m->drift);
    eliminate(ig);
}

static void commit(bg_integrator *ig)
{
    bg_euler *m = ig->method;
    bg_jacobian_commit(&m->kept_jacobian);
}

/* The straight line. */
static void interpolate(const bg_integrator *ig, double t, int begin, int end, double *y,
                        double *slope)
{
    double h = ig->x1->t - ig->x0->t, theta = (t - ig->x0->t) / h;
    for (int i = begin; i < end; i++) {
        double D = ig->x1->q[i] - ig->x0->q[i];
        if (y)
            y[i - begin] = ig->x0->q[i] + theta * D;
        if (slope)
            slope[i - begin] = D / h;
    }
}

static void archive(bg_integrator *ig, bg_archive *archive)
{
    bg_euler *m = ig->method;
    const bg_pattern *pattern = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    size_t nv = (size_t)ig->dyn->nv;
    size_t n = !bg_euler_uses_matrix(m) ? 0 : pattern ? (size_t)pattern->row_start[nv] : nv * nv;
    bg_jacobian_archive(&m->kept_jacobian, archive);
    bg_archive_bytes(archive, m->kept, n);
    for (size_t k = 0; k < n && archive->loading && !archive->failed; k++)
        archive->failed = m->kept[k] > BG_KEPT_EMPTY;
    bg_archive_flags(archive, &m->partitioned, sizeof m->partitioned);
    bg_archive_whole(archive, &m->nkept, 1, 0, (int)n);
    bg_archive_whole(archive, &m->nentries, 1, 0, (int)n);
    if (m->states)
        bg_blocks_archive(m->states, archive);
    bg_archive_flags(archive, &m->drift.begun, sizeof m->drift.begun);
    bg_archive_bytes(archive, &m->drift.largest, sizeof m->drift.largest);
    if (m->hat) {
        bg_kkt_archive(m->hat, archive);
        bg_kkt_archive(m->plain, archive);
    }
    m->uncounted = m->plain_ready; /* it is made again after loading */
    bg_archive_flags(archive, &m->uncounted, sizeof m->uncounted);
    if (archive->loading) {
        m->plain_ready = false;
        eliminate(ig);
    } else {
        m->uncounted = false;
    }
}

static bool get_drift(const bg_integrator *ig, bg_drift *out)
{
    const bg_euler *m = ig->method;
    if (m->drift.on)
        bg_drift_report(&m->drift, ig->options.step, out);
    return m->drift.on;
}

#define BG_EULER_OPTIONS                                                                       \
    {"index", "1|2|ggl", "1", "constraints by accelerations, velocities, or both of g and w"}, \
        {"stabilisation", "none|baumgarte|velocity|project|regularise", "project",             \
         "what keeps the constraints from drifting off"},                                      \
        {"alpha", NULL, "auto", "1/s, of Baumgarte; auto: 0.5/h"},                             \
        {"beta", NULL, "auto", "1/s^2, of Baumgarte, index 1; auto: alpha^2"},                 \
        {"epsilon", NULL, "auto", "of regularise, of G M^-1 G^T; auto: h^2"},                  \
        {"newton_steps", NULL, "1", "simplified Newton steps of a position projection"},       \
    {                                                                                          \
        "certificate", "auto|on|off", "auto",                                                  \
            "bound the drift of project and ggl; auto: where nv + ng is at most 40"            \
    }

static const bg_option_info euler_options[] = {BG_EULER_OPTIONS};

static const bg_option_info linear_options[] = {
    {"jacobian", "none|exact|J1|J2|J3|semi", "J2", "which derivatives stabilise the step"},
    {"partition", "all|stiff|auto", "all", "entries of the Jacobian that are used"},
    {"refresh", NULL, "1", "steps a Jacobian is used for"},
    BG_EULER_OPTIONS,
};

const bg_integrator_class bg_euler_class;
const bg_integrator_class bg_euler_class = {
    .info = {"euler", "explicit Euler with constraints, fixed work per step", euler_options,
             sizeof euler_options / sizeof *euler_options, true, 1, 1},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = bg_euler_attempt,
    .commit = commit,
    .prepare = bg_euler_prepare,
    .interpolate = interpolate,
    .archive = archive,
    .plan = plan,
    .get_drift = get_drift,
    .describe = bg_euler_describe,
};

const bg_integrator_class bg_linear_euler_class;
const bg_integrator_class bg_linear_euler_class = {
    .info = {"linear-euler", "partitioned linear-implicit Euler, fixed work per step (real time)",
             linear_options, sizeof linear_options / sizeof *linear_options, true, 1, 1},
    .create = create,
    .destroy = destroy,
    .restart = restart,
    .attempt = bg_euler_attempt,
    .commit = commit,
    .prepare = bg_euler_prepare,
    .interpolate = interpolate,
    .archive = archive,
    .plan = plan,
    .get_drift = get_drift,
    .describe = bg_euler_describe,
};

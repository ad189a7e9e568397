/* Diagonally implicit Runge-Kutta methods in descriptor form.
 *
 * E. J. Haug, D. Negrut and C. Engstler, Implicit Runge-Kutta integration of the equations of
 * multibody dynamics in descriptor form (002). The state-space equations of the independent motions
 * are integrated, but never formed: unknowns of a stage are all accelerations and multipliers
 * (dirk_stage.c), with one matrix for all stages of a step (dirk_matrix.c). What is independent is
 * in frame.h. The tableaus are stiffly accurate: the last stage is the end of the step, and its
 * accelerations and multipliers are those of the end, as a new solution of the equations of motion
 * there would magnify what Newton's iteration has left by the stiffest eigenvalue.
 *
 * The embedded method is not stable for stiff components: its estimate e = h sum (b - b^)_i y'_i
 * sees 10/3 of their deviation where the method damps it. (I - h gamma J)^-1 e, which is one more
 * solution with the matrix at hand, follows the true error (estimate=filtered); J is the Jacobian
 * of the state-space equations, whose parts the matrix is made of. */
#include "integrators/dirk.h"

#include "base/memory.h"
#include "integrators/change_points.h"
#include "integrators/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double fast = 0.1; /* rate of convergence that needs no new derivatives */
enum { SOLVING = 32 };          /* steps after one whose iteration had to solve for accelerations */

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_dirk *m = ig->method;
    const int nq = m->nq, nv = m->nv, nz = m->nz, ng = m->ng;
    const int widest = nq > nv ? nq : nv;
    for (int i = 0; i < BG_DIRK_STAGES; i++) { /* those of leaps, too */
        BG_TAKE(arena, m->stage.v[i], nv);
        BG_TAKE(arena, m->stage.a[i], nv);
        BG_TAKE(arena, m->stage.lambda[i], ng);
        BG_TAKE(arena, m->stage.zeta[i], nz);
        BG_TAKE(arena, m->stage.slope[i], nq);
    }
    double **const of_v[] = {&m->v_base, &m->v_free, &m->shift,  &m->psi1,  &m->motion,
                             &m->work_v, &m->p,      &m->rest_p, &m->rest_a};
    double **const of_q[] = {&m->q_base, &m->closed, &m->work_q};
    for (size_t i = 0; i < sizeof of_v / sizeof *of_v; i++)
        BG_TAKE(arena, *of_v[i], nv);
    for (size_t i = 0; i < sizeof of_q / sizeof *of_q; i++)
        BG_TAKE(arena, *of_q[i], nq);
    BG_TAKE(arena, m->z_base, nz);
    BG_TAKE(arena, m->psi3, nz);
    BG_TAKE(arena, m->work_z, nz);
    BG_TAKE(arena, m->psi2, ng);
    BG_TAKE(arena, m->work_g, ng);
    BG_TAKE(arena, m->q, nq + nv + nz);
    m->v = m->q + nq;
    m->z = m->v + nv;
    BG_TAKE(arena, m->work_n, widest + ng + nz);
    BG_TAKE(arena, m->weight, 2 * nv + nz);
    BG_TAKE(arena, m->q_of, nv);
    const bg_pattern *w = bg_system_get_pattern(ig->sys->system, BG_OF_w, BG_BY_q);
    BG_TAKE(arena, m->kept, m->kept_size);
    BG_TAKE(arena, m->G, bg_system_get_size_G(ig->sys->system));
    BG_TAKE(arena, m->G_begin, bg_system_get_size_G(ig->sys->system));
    BG_TAKE(arena, m->Ga, w ? w->row_start[ng] : ng * nv);
    BG_TAKE(arena, m->Ga_zero, w ? w->row_start[ng] : ng * nv);
}

static bg_status read_options(bg_integrator *ig, bg_dirk *m, bg_error *err)
{
    enum { AUTO, REDUCED, FULL };
    int matrix = bg_option_get_choice(ig, "matrix");
    bool needed = m->ng == 0 || ig->sys->def.f_of_lambda;
    m->full = needed || matrix == FULL;
    m->filtered = bg_option_get_choice(ig, "estimate") == 0;
    m->kappa = bg_option_get_number(ig, "newton", 0.01);
    return bg_option_check_least(ig, "newton", m->kappa, 1e-8, err);
}

bg_status bg_dirk_create(bg_integrator *ig, const bg_dirk_tableau *tableau, bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    const char *name = ig->class_->info.name;
    bg_dirk *m = BG_NEW(bg_dirk);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s", name);
    m->tableau = tableau;
    m->nq = ig->dyn->nq;
    m->nv = ig->dyn->nv;
    m->nz = ig->dyn->nz;
    m->ng = ig->dyn->ng;
    m->rate = 1;
    if (!(def->supplied & BG_TERM_M))
        return bg_error_set(err, BG_MISSING,
                            "system '%s' does not supply M, which integrator %s needs for its "
                            "matrix; supply it, or take an explicit method such as mdop5",
                            def->name, name);
    bg_status st = read_options(ig, m, err);
    if (st == BG_OK)
        st = bg_dirk_matrix_create(ig, err);
    if (st == BG_OK && !bg_arena_create(&m->arena, list, ig))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s", name);
    if (st != BG_OK)
        return st;
    bg_norm_map_coordinates(ig, m->q_of);
    ig->by_largest = true;
    return bg_frame_create(&m->frame, ig->sys->system, bg_option_get_choice(ig, "independent") == 1,
                           err);
}

void bg_dirk_destroy(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    bg_dirk_matrix_clear(m);
    bg_frame_clear(&m->frame);
    bg_arena_clear(&m->arena);
    free(m);
}

void bg_dirk_restart(bg_integrator *ig, bg_restart reason)
{
    bg_dirk *m = ig->method;
    if (reason == BG_RESTART_START) {
        m->t_start = ig->x0->t;
        m->t_span = ig->t_end - ig->x0->t;
        m->frame.choices = 0;
    }
    bg_frame_set_left_out(&m->frame, ig->dyn->eliminated);
    if (m->whole)
        bg_blocks_hold(m->whole, 1, ig->dyn->eliminated);
    m->ready = bg_dirk_matrix_resize(ig);
    m->made_at = NAN;
    m->restored = m->slow = m->changed = false;
    m->solving = 0;
    m->starting = true;
    m->within = reason != BG_RESTART_START;
    m->tries = 0;
    m->h_rejected = 0;
    m->rate = 1;
}

/* Weights of positions by velocities, of velocities and of z, at the beginning. Fixed steps, which
 * are solved for to rounding, know no tolerance: theirs are sizes, so that units do not matter. */
static void update_weights(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    const bg_state *x = ig->x0;
    const bool fixed = ig->options.step > 0;
    const double rtol = fixed ? 1 : ig->options.rtol, atol = ig->options.atol,
                 *unit = m->frame.unit;
    double speed = 0;
    for (int i = 0; i < m->nv; i++)
        speed = fmax(speed, (fabs(x->v[i]) + ig->h * fabs(x->a[i])) / unit[i]);
    for (int i = 0; i < m->nv; i++) {
        const int k = m->q_of[i];
        double q = k < 0 ? 1 : bg_norm_find_size(ig, k, x->q, x->q);
        double v = bg_norm_find_size(ig, m->nq + i, x->q, x->q);
        m->weight[i] = (fixed ? unit[i] : atol) + rtol * q;
        m->weight[m->nv + i] = (fixed && speed > 0 ? unit[i] * speed : atol) + rtol * v;
    }
    for (int i = 0; i < m->nz; i++) {
        double change = fixed ? ig->h * fabs(ig->rate0[m->nq + m->nv + i]) : 0;
        m->weight[2 * m->nv + i] = atol + rtol * (fabs(x->z[i]) + change);
    }
}

/* The i-th of y from the beginning and those before it. */
static void guess(const bg_dirk *m, int i, int n, double *beginning, double *const *y)
{
    double *from[BG_DIRK_STAGES] = {beginning};
    for (int j = 0; j < i; j++)
        from[j + 1] = y[j];
    bg_combine(n, NULL, 1, i + 1, m->tableau->start[i], from, y[i]);
}

/* What the stages before give, and a guess of the stage's accelerations from those of the beginning
 * and of the stages before. */
static void begin_stage(bg_integrator *ig, int i)
{
    bg_dirk *m = ig->method;
    const bg_state *x = ig->x0;
    const bg_dirk_stages *y = &m->stage;
    const double *a = m->tableau->a[i];
    bg_combine(m->nv, x->v, ig->h, i, a, y->a, m->v_base);
    bg_combine(m->nq, x->q, ig->h, i, a, y->slope, m->q_base);
    bg_combine(m->nz, x->z, ig->h, i, a, y->zeta, m->z_base);
    guess(m, i, m->nv, x->a, y->a);
    guess(m, i, m->ng, x->lambda, y->lambda);
    guess(m, i, m->nz, ig->rate0 + m->nq + m->nv, y->zeta);
    if (m->own_frames) /* those of stages before are no longer in use */
        memset(m->shift, 0, (size_t)m->nv * sizeof(double));
}

/* The beginning of the step as a stage. */
static void copy_beginning(bg_integrator *ig, int i)
{
    bg_dirk *m = ig->method;
    bg_dirk_stages *y = &m->stage;
    const bg_state *x = ig->x0;
    memcpy(y->v[i], x->v, (size_t)m->nv * sizeof(double));
    memcpy(y->a[i], x->a, (size_t)m->nv * sizeof(double));
    memcpy(y->lambda[i], x->lambda, (size_t)m->ng * sizeof(double));
    memcpy(y->slope[i], ig->rate0, (size_t)m->nq * sizeof(double));
    memcpy(y->zeta[i], ig->rate0 + m->nq + m->nv, (size_t)m->nz * sizeof(double));
    y->power[i] = ig->rate0[ig->n - 1];
}

static bg_status solve_stages(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = BG_OK;
    memset(m->shift, 0, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < m->tableau->stages && st == BG_OK; i++) {
        if (m->tableau->a[i][i] == 0) {
            copy_beginning(ig, i);
            continue;
        }
        begin_stage(ig, i);
        st = bg_dirk_solve_stage(ig, i, err);
    }
    return st;
}

/* The frame is that of the beginning in every step, whether or not derivatives are: which motions
 * are integrated must not depend on how well an iteration converges. */
static bg_status update_frame(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bg_state *x = ig->x0;
    bg_point p;
    bg_terms out = {.G = ig->dyn->terms.G};
    bg_status st = bg_system_set_point(ig->sys, x->t, x->q, x->v, x->z, x->mode, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(ig->sys, &p, BG_TERM_G, &out, err);
    if (st == BG_OK && bg_frame_factor(&m->frame, ig->dyn->terms.G) != BG_OK)
        return bg_dirk_matrix_refuse(ig, err);
    return st;
}

/* Derivatives at the beginning, where those at hand no longer serve, and the matrix of h. */
static bg_status prepare(bg_integrator *ig, bool renew, bg_error *err)
{
    bg_dirk *m = ig->method;
    const double s = ig->h * m->tableau->gamma;
    bool old = isnan(m->made_at) || (m->made_at != ig->x0->t && (m->slow || m->frame.coordinates));
    bg_status st = m->restored ? bg_dirk_matrix_restore(ig, err) : BG_OK;
    if (st == BG_OK && (renew || old)) {
        if (!m->changed)
            bg_dirk_matrix_keep(ig);
        m->changed = true;
        const bg_state *x = ig->x0;
        st = bg_dirk_matrix_update(ig, &(bg_dirk_place){x->t, x->q, x->v, x->z, x->a, x->lambda},
                                   err);
        m->eta = fmax(m->eta, 1);
        m->next_slow = false;
    } else if (st == BG_OK && m->ng > 0) {
        st = update_frame(ig, err);
    }
    if (st == BG_OK && m->factored != s)
        st = bg_dirk_matrix_factor(ig, s, err);
    return st;
}

/* The estimate of the error into v_base, v_free and z_base, and of each entry of y into ig->work_n.
 */
static void calc_error(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    const double *b = m->tableau->error;
    const int nv = m->nv, stages = m->tableau->stages;
    double *e_q = m->v_base, *e_v = m->v_free, *e_z = m->z_base; /* free after the stages */
    bg_combine(nv, NULL, ig->h, stages, b, m->stage.v, e_q);
    bg_combine(nv, NULL, ig->h, stages, b, m->stage.a, e_v);
    bg_combine(m->nz, NULL, ig->h, stages, b, m->stage.zeta, e_z);
    bg_frame_project(&m->frame, e_q);
    bg_frame_project(&m->frame, e_v);
    if (m->filtered)
        bg_dirk_matrix_filter(ig, e_q, e_v, e_z, e_v);
    bg_dynamics_calc_rates(ig->dyn, e_q, ig->work_n);
    memcpy(ig->work_n + m->nq, e_v, (size_t)nv * sizeof(double));
    memcpy(ig->work_n + m->nq + nv, e_z, (size_t)m->nz * sizeof(double));
}

/* The last stage is the end. */
static bg_status finish(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    const int stages = m->tableau->stages;
    const double *b = m->tableau->a[stages - 1];
    unsigned want = m->ng > 0 ? BG_TERM_G | BG_TERM_g | BG_TERM_gt | BG_TERM_gamma : 0u;
    bg_status st = bg_dirk_evaluate(ig, x->t, want | (d->kinematic ? BG_TERM_V : 0u), err);
    if (st != BG_OK)
        return st;
    memcpy(x->q, m->q, (size_t)(m->nq + m->nv + m->nz) * sizeof(double));
    memcpy(x->a, m->a, (size_t)m->nv * sizeof(double));
    memcpy(x->lambda, m->lambda, (size_t)m->ng * sizeof(double));
    double work = *ig->x0->work;
    for (int j = 0; j < stages && ig->energy; j++)
        work += ig->h * b[j] * m->stage.power[j];
    *x->work = work;
    bg_dynamics_calc_rates(d, x->v, ig->rate1);
    memcpy(ig->rate1 + m->nq, m->a, (size_t)m->nv * sizeof(double));
    memcpy(ig->rate1 + m->nq + m->nv, m->zeta, (size_t)m->nz * sizeof(double));
    ig->rate1[ig->n - 1] = ig->energy ? m->stage.power[stages - 1] : 0;
    ig->residuals1 = bg_dynamics_calc_residuals(d, x->v, x->a);
    return BG_OK;
}

/* The error of a step whose stages are known. */
static bg_status end_attempt(bg_integrator *ig, double *error, bg_error *err)
{
    const bg_dirk *m = ig->method;
    bg_status st = finish(ig, err);
    if (st != BG_OK)
        return st;
    if (ig->options.step == 0) {
        calc_error(ig);
        *error = bg_dirk_calc_norm(ig, m->v_base, m->v_free, m->z_base);
        ig->count.corrector.error_failures += *error > 1;
    }
    ig->error_tangent = *error;
    return BG_OK;
}

bg_status bg_dirk_refuse_memory(const bg_integrator *ig, bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                        ig->class_->info.name);
}

static bg_status begin_attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_dirk *m = ig->method;
    *error = 0;
    if (m->ready != BG_OK)
        return bg_dirk_refuse_memory(ig, err);
    memcpy(ig->x1->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    update_weights(ig);
    if (m->tries++ == 0 && m->changed) /* by a step that was undone */
        bg_dirk_matrix_take_back(ig);
    m->worst = 0;
    m->eta = m->rate;
    m->next_slow = m->slow;
    m->next_solving = m->solving > 0 ? m->solving - 1 : 0;
    return BG_OK;
}

/* Stages with a matrix of each one's own, where one for all does not converge. What is integrated
 * stays the same unless each has a frame of its own, too, as behind a singular position. */
static bg_status solve_each(bg_integrator *ig, bool own_frames, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = BG_OK;
    if (!m->changed)
        bg_dirk_matrix_keep(ig);
    if (!own_frames && m->ng > 0)
        st = update_frame(ig, err);
    if (st == BG_OK && !own_frames && m->ng > 0)
        memcpy(m->G_begin, ig->dyn->terms.G,
               (size_t)bg_system_get_size_G(ig->sys->system) * sizeof(double));
    m->changed = m->by_stage = true;
    m->own_frames = own_frames;
    m->restored = false;
    m->worst = 0;
    m->eta = 1;
    if (st == BG_OK)
        st = solve_stages(ig, err);
    m->by_stage = m->own_frames = false;
    m->made_at = NAN;
    return st;
}

static bool sees_singularity(bg_integrator *ig, bg_status st)
{
    return bg_change_points_is_passing(ig) || st == BG_SINGULAR || bg_rounding_is_magnified(ig);
}

/* All stages with one matrix, of the beginning if one at hand does not serve. What that matrix
 * knows least of is how masses and geometry change within the step, in joint form above all. Where
 * that is too much, iterations that solve for accelerations at each iterate, with M and G of the
 * place, converge all the same, to the same stages. */
static bg_status solve_alike(bg_integrator *ig, bg_error *err)
{
    bg_dirk *m = ig->method;
    const bool may = !m->first_order && !ig->sys->def.f_of_lambda;
    m->solves = may && m->solving > 0;
    bg_status st = prepare(ig, false, err);
    if (st == BG_OK)
        st = solve_stages(ig, err);
    if (st > 0 && !isnan(m->made_at) && m->made_at != ig->x0->t) {
        m->worst = 0;
        st = prepare(ig, true, err);
        if (st == BG_OK)
            st = solve_stages(ig, err);
    }
    if (st > 0 && may && !m->solves && !isnan(m->made_at) && m->factored > 0) {
        m->solves = true;
        m->worst = 0;
        m->eta = 1;
        st = solve_stages(ig, err);
        m->next_solving = st == BG_OK ? SOLVING : m->next_solving;
    }
    m->solves = false;
    return st;
}

bg_status bg_dirk_attempt(bg_integrator *ig, double *error, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = begin_attempt(ig, error, err);
    if (st == BG_OK)
        st = solve_alike(ig, err);
    const bool fixed = ig->options.step > 0; /* before it is cut */
    if (st > 0 && fixed)
        st = solve_each(ig, false, err);
    if (st > 0 && fixed && sees_singularity(ig, st))
        st = solve_each(ig, true, err);
    if (st == BG_OK)
        st = end_attempt(ig, error, err);
    /* leaps, which cost several Jacobians, lead over singular positions, not over what follows a
     * start or an event, unless that is one */
    ig->stays = (st == BG_OK && *error <= 1) || (m->starting && !sees_singularity(ig, st));
    return st;
}

/* Over a singular position: what constraints allow behind it is not what they allow before, and
 * accelerations close to it are known badly. Every method leaps by the stages of sdirk4, none of
 * which is the beginning. */
bg_status bg_dirk_leap(bg_integrator *ig, double *error, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_status st = begin_attempt(ig, error, err);
    if (st != BG_OK)
        return st;
    const bg_dirk_tableau *own = m->tableau;
    m->tableau = &bg_sdirk4_tableau;
    st = solve_each(ig, true, err);
    if (st == BG_OK)
        st = end_attempt(ig, error, err);
    m->tableau = own;
    return st;
}

void bg_dirk_accept(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    m->tries = 0;
    m->h_rejected = 0;
}

void bg_dirk_commit(bg_integrator *ig)
{
    bg_dirk *m = ig->method;
    m->changed = m->starting = false;
    m->slow = m->next_slow || m->worst > fast;
    m->solving = m->next_solving;
    m->rate = m->eta;
}

void bg_dirk_describe(const bg_integrator *ig, char *text, size_t size)
{
    const bg_dirk *m = ig->method;
    const bg_motion_frame *f = &m->frame;
    if (m->ng > 0 && f->coordinates)
        snprintf(text, size, "%d of %d velocities are independent, chosen %ld time%s", f->n, f->nv,
                 f->choices, f->choices == 1 ? "" : "s");
}

void bg_dirk_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_dirk *m = ig->method;
    bg_archive_finite(archive, &m->t_start, 1);
    bg_archive_finite(archive, &m->t_span, 1);
    bg_archive_finite(archive, &m->rate, 1);
    bg_archive_flags(archive, &m->slow, sizeof m->slow);
    bg_archive_flags(archive, &m->starting, sizeof m->starting);
    bg_archive_whole(archive, &m->solving, 1, 0, SOLVING);
    bg_dirk_matrix_archive(ig, archive);
}

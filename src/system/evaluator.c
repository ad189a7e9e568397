/* Evaluation of a system: inputs, terms, energies, the explicit and the residual formalism.
 *
 * What a definition leaves out is found by differences (differences.c), so that everything to the
 * right of this file sees a complete system. */
#include "base/memory.h"
#include "linalg/linalg.h"
#include "system/dynamics.h"
#include "system/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void list(void *object, bg_arena *arena)
{
    bg_evaluator *ev = object;
    const bg_system_def *d = &ev->def;
    BG_TAKE(arena, ev->u, d->nu);
    BG_TAKE(arena, ev->u_t, d->nu);
    BG_TAKE(arena, ev->u_tt, d->nu);
    BG_TAKE(arena, ev->outside, d->nu);
    BG_TAKE(arena, ev->no_lambda, d->f_of_lambda || d->s_of_lambda ? d->ng : 0);
    BG_TAKE(arena, ev->energy.point,
            1 + d->nq + d->nv + d->nz + 3 * d->nu + (d->f_of_lambda ? d->ng : 0));
    BG_TAKE(arena, ev->energy.mode, d->nmode);
    bg_difference_scratch_take(ev->system, &ev->for_terms, arena);
    bg_difference_scratch_take(ev->system, &ev->for_gamma, arena);
    bg_difference_scratch_take(ev->system, &ev->for_blocks, arena);
}

bg_status bg_evaluator_create(const bg_system *system, bg_evaluator **evaluator, bg_error *err)
{
    const bg_system_def *d = &system->def;
    bg_evaluator *ev = *evaluator = BG_NEW(bg_evaluator);
    bool good = ev != NULL;
    if (good) {
        ev->system = system;
        ev->def = *d;
        ev->widening = 1;
        if (d->fork)
            ev->def.self = d->fork(d->self);
        good = (!d->fork || ev->def.self) && bg_arena_create(&ev->arena, list, ev);
    }
    if (good)
        return BG_OK;
    bg_evaluator_destroy(ev);
    *evaluator = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the evaluation of system '%s'",
                        d->name);
}

void bg_evaluator_destroy(bg_evaluator *ev)
{
    if (!ev)
        return;
    if (ev->def.fork && ev->def.self && ev->def.join)
        ev->def.join(ev->def.self);
    bg_kkt_destroy(ev->mass);
    bg_arena_clear(&ev->arena);
    free(ev);
}

/* The status of a function of the definition that returned a code, which is not 0. */
static bg_status tell(const bg_evaluator *ev, int code, const char *function, double t,
                      bg_error *err)
{
    return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                        "system '%s': `%s` failed with code %d at t = %.17g", ev->def.name,
                        function, code, t);
}

void bg_system_set_live(bg_evaluator *ev, int i, double since, double value, double rate)
{
    ev->outside[i] = (bg_live_input){!isnan(value), since, value, rate};
    if (ev->def.set_live)
        ev->def.set_live(ev->def.self, i, since, value, rate);
}

bg_status bg_system_calc_inputs(bg_evaluator *ev, double t, const int *mode, double *u, double *u_t,
                                double *u_tt, bg_error *err)
{
    if (ev->def.nu == 0)
        return BG_OK;
    int code = ev->def.inputs(ev->def.self, t, mode, u, u_t, u_tt);
    if (code != 0)
        return tell(ev, code, "inputs", t, err);
    for (int i = 0; i < ev->def.nu; i++) {
        const bg_live_input *x = &ev->outside[i];
        if (!x->live)
            continue;
        u[i] = x->value + x->rate * (t - x->since);
        u_t[i] = x->rate;
        u_tt[i] = 0;
    }
    return BG_OK;
}

bg_status bg_system_set_point(bg_evaluator *ev, double t, const double *q, const double *v,
                              const double *z, const int *mode, bg_point *p, bg_error *err)
{
    const bool seen = ev->def.f_of_lambda || ev->def.s_of_lambda;
    *p = (bg_point){t, q, v, z, ev->u, ev->u_t, ev->u_tt, mode, seen ? ev->no_lambda : NULL, 0};
    if (ev->def.nu == 0)
        return BG_OK;
    return bg_system_calc_inputs(ev, t, mode, ev->u, ev->u_t, ev->u_tt, err);
}

void bg_system_forget(bg_evaluator *ev)
{
    if (ev->def.forget)
        ev->def.forget(ev->def.self);
}

bg_status bg_system_set_state(bg_evaluator *ev, const bg_state *x, bg_point *p, bg_error *err)
{
    bg_status st = bg_system_set_point(ev, x->t, x->q, x->v, x->z, x->mode, p, err);
    if (ev->def.f_of_lambda || ev->def.s_of_lambda)
        p->lambda = x->lambda;
    return st;
}

/* Makes n doubles at *to those at x; whether they were so already. *to moves behind them. */
static bool is_same(double **to, const double *x, int n)
{
    size_t size = (size_t)n * sizeof(double);
    if (n == 0)
        return true;
    bool same = memcmp(*to, x, size) == 0;
    memcpy(*to, x, size);
    *to += n;
    return same;
}

int bg_system_calc_energy(bg_evaluator *ev, const bg_point *p, bg_energy *out)
{
    const bg_system_def *d = &ev->def;
    bg_known_energy *e = &ev->energy;
    size_t modes = (size_t)d->nmode * sizeof(int);
    double *at = e->point;
    bool same = is_same(&at, &p->t, 1);
    same = is_same(&at, p->q, d->nq) && same;
    same = is_same(&at, p->v, d->nv) && same;
    same = is_same(&at, p->z, d->nz) && same;
    same = is_same(&at, p->u, d->nu) && same;
    same = is_same(&at, p->u_t, d->nu) && same;
    same = is_same(&at, p->u_tt, d->nu) && same;
    same = is_same(&at, p->lambda, d->f_of_lambda ? d->ng : 0) && same;
    same = memcmp(e->mode, p->mode, modes) == 0 && same;
    memcpy(e->mode, p->mode, modes);
    if (!same || !e->known) {
        e->value = (bg_energy){0, 0, 0};
        int code = d->energy(d->self, p, &e->value);
        e->known = code == 0;
        if (code != 0)
            return code;
    }
    *out = e->value;
    return 0;
}

int bg_system_calc_power(bg_evaluator *ev, const bg_point *p, double *power)
{
    if (ev->def.power)
        return ev->def.power(ev->def.self, p, power);
    bg_energy energy = {0, 0, 0};
    int code = bg_system_calc_energy(ev, p, &energy);
    *power = energy.power;
    return code;
}

static void count_evaluation(bg_evaluator *ev, unsigned terms)
{
    const unsigned of_motion = BG_TERM_M | BG_TERM_f | BG_TERM_h;
    bg_work *work = bg_system_get_work(ev);
    work->terms += (terms & of_motion) != 0;
    work->switching += terms == BG_TERM_s;
    work->constraints += terms != BG_TERM_s && (terms & of_motion) == 0;
}

bg_status bg_system_calc_terms(bg_evaluator *ev, const bg_point *p, unsigned want, bg_terms *out,
                               bg_error *err)
{
    unsigned direct = want & ev->def.supplied;
    if (direct) {
        count_evaluation(ev, direct);
        int code = ev->def.terms(ev->def.self, p, direct, out);
        if (code != 0)
            return tell(ev, code, "terms", p->t, err);
    }
    unsigned rest = want & ~ev->def.supplied & (BG_TERM_G | BG_TERM_gt | BG_TERM_gamma);
    if (rest == 0 || ev->def.ng == 0)
        return BG_OK;
    const unsigned order[] = {BG_TERM_G, BG_TERM_gt, BG_TERM_gamma};
    for (int i = 0; i < 3; i++) {
        if (!(rest & order[i]))
            continue;
        if (order[i] == BG_TERM_gt && ev->def.scleronomic) {
            memset(out->gt, 0, (size_t)ev->def.ng * sizeof(double));
            continue;
        }
        bg_status st = bg_system_difference_term(ev, p, order[i], out, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

static bool has_motion(const bg_evaluator *ev)
{
    const unsigned both = BG_TERM_M | BG_TERM_f;
    return (ev->def.supplied & both) == both;
}

bg_status bg_evaluator_prepare_acceleration(bg_evaluator *ev, bg_error *err)
{
    const bg_system_def *d = &ev->def;
    if (d->accelerate || ev->mass)
        return BG_OK;
    if (!has_motion(ev) || d->semidefinite)
        return bg_error_set(err, BG_MISSING,
                            "system '%s' does not supply `accelerate`, and %s; take the residual "
                            "formalism",
                            d->name,
                            d->semidefinite
                                ? "its mass matrix alone is singular, so that v' does not follow "
                                  "from the forces"
                                : "M and f, which could replace it, are not supplied either");
    return bg_dynamics_create_kkt(ev->system, d->pattern_M, 0, &ev->mass, err);
}

/* p with these multipliers (NULL: none), where the forces depend on them. */
static bg_point with_lambda(const bg_evaluator *ev, const bg_point *p, const double *lambda)
{
    bg_point at = *p;
    if (ev->def.f_of_lambda)
        at.lambda = lambda ? lambda : ev->no_lambda;
    return at;
}

/* a <- M^{-1} (f - G^T lambda) from the terms. */
static bg_status solve_mass(bg_evaluator *ev, const bg_point *p, const double *lambda, double *a,
                            bg_error *err)
{
    const bg_system_def *d = &ev->def;
    bg_terms *x = &ev->for_blocks.terms;
    unsigned want = BG_TERM_M | BG_TERM_f | (d->ng > 0 && lambda ? BG_TERM_G : 0u);
    bg_status st = bg_system_calc_terms(ev, p, want, x, err);
    if (st != BG_OK)
        return st;
    bg_system_get_work(ev)->factorisations++;
    if (bg_kkt_factor(ev->mass, x->M, NULL, NULL) != BG_OK)
        return bg_error_set(err, BG_SINGULAR, "system '%s': M is singular at t = %.17g", d->name,
                            p->t);
    memcpy(a, x->f, (size_t)d->nv * sizeof(double));
    if (want & BG_TERM_G)
        bg_matrix_add_transposed(d->ng, d->nv, d->pattern_G, x->G, -1.0, lambda, a);
    bg_kkt_solve(ev->mass, a, NULL);
    return BG_OK;
}

bg_status bg_system_calc_acceleration(bg_evaluator *ev, const bg_point *p, const double *lambda,
                                      double *a, bg_error *err)
{
    const bg_point at = with_lambda(ev, p, lambda);
    bg_system_get_work(ev)->explicit_++;
    if (!ev->def.accelerate)
        return solve_mass(ev, &at, lambda, a, err);
    int code = ev->def.accelerate(ev->def.self, &at, lambda, a);
    return code == 0 ? BG_OK : tell(ev, code, "accelerate", p->t, err);
}

bg_status bg_system_calc_residual(bg_evaluator *ev, const bg_point *p, const double *a,
                                  const double *lambda, double *r, bg_error *err)
{
    const bg_system_def *d = &ev->def;
    const bg_point at = with_lambda(ev, p, lambda);
    bg_terms *x = &ev->for_blocks.terms;
    if (d->residual) {
        bg_system_get_work(ev)->residual++;
        int code = d->residual(d->self, &at, a, lambda, r);
        return code == 0 ? BG_OK : tell(ev, code, "residual", p->t, err);
    }
    if (!has_motion(ev))
        return bg_error_set(err, BG_MISSING,
                            "system '%s' supplies neither `residual` nor M and f, so that r = M a "
                            "- f + G' lambda cannot be found; supply one of them",
                            d->name);
    bg_status st = bg_system_calc_terms(
        ev, &at, BG_TERM_M | BG_TERM_f | (d->ng > 0 ? BG_TERM_G : 0u), x, err);
    if (st != BG_OK)
        return st;
    bg_matrix_multiply(d->nv, d->nv, d->pattern_M, x->M, a, r);
    for (int i = 0; i < d->nv; i++)
        r[i] -= x->f[i];
    bg_matrix_add_transposed(d->ng, d->nv, d->pattern_G, x->G, 1.0, lambda, r);
    return BG_OK;
}

bg_status bg_evaluator_prepare_expansion(bg_evaluator *ev, const bg_expansion **expansion,
                                         bg_error *err)
{
    const bg_system_def *d = &ev->def;
    bg_status st = BG_OK;
    *expansion = NULL;
    if (!d->expand)
        return bg_error_set(err, BG_MISSING, "system '%s' does not supply an expansion of r",
                            d->name);
    const bg_expansion *e = ev->expansion ? ev->expansion : d->lay_out(d->self);
    if (!e)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the expansion of system '%s'",
                            d->name);
    if (!ev->expansion)
        st = bg_system_check_expansion(d, e, err);
    if (st == BG_OK)
        *expansion = ev->expansion = e;
    return st;
}

bg_status bg_system_calc_expansion(bg_evaluator *ev, const bg_point *p, const double *a,
                                   const double *lambda, bg_expansion_values *out, bg_error *err)
{
    const bg_system_def *d = &ev->def;
    const bg_point at = with_lambda(ev, p, lambda);
    if (!ev->expansion)
        return bg_error_set(err, BG_MISSING,
                            "system '%s': no expansion of r has been prepared; call "
                            "bg_evaluator_prepare_expansion first",
                            d->name);
    bg_system_get_work(ev)->jacobian++;
    int code = d->expand(d->self, &at, a, lambda, out);
    return code == 0 ? BG_OK : tell(ev, code, "expand", p->t, err);
}

static void pick(const unsigned char *part_of, unsigned part, int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++)
        if ((part_of ? part_of[i] : BG_PART_SLOW) & part)
            to[i] = from[i];
}

bg_status bg_system_calc_part(bg_evaluator *ev, const bg_point *p, unsigned part,
                              const double *lambda, double *a, double *z_t, bg_error *err)
{
    const bg_system_def *d = &ev->def;
    const bg_point at = with_lambda(ev, p, lambda);
    if (d->accelerate_part) {
        bg_system_get_work(ev)->explicit_++;
        int code = d->accelerate_part(d->self, &at, part, lambda, a, z_t);
        return code == 0 ? BG_OK : tell(ev, code, "accelerate_part", p->t, err);
    }
    double *whole = ev->for_blocks.x;
    bg_status st = bg_system_calc_acceleration(ev, p, lambda, whole, err);
    if (st != BG_OK)
        return st;
    pick(d->v_part, part, d->nv, whole, a);
    bg_terms out = {.h = whole};
    if (d->nz > 0 && (st = bg_system_calc_terms(ev, &at, BG_TERM_h, &out, err)) == BG_OK)
        pick(d->z_part, part, d->nz, whole, z_t);
    return st;
}

void bg_system_move(const bg_evaluator *ev, const double *q, const double *V, double step,
                    const double *delta, double *q_out)
{
    const bg_system_def *d = &ev->def;
    const bg_pattern *p = d->pattern_V;
    if (d->supplied & BG_TERM_V) {
        for (int i = 0; i < d->nq; i++) {
            double sum = 0;
            if (p)
                for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
                    sum += V[k] * delta[p->column[k]];
            else
                for (int j = 0; j < d->nv; j++)
                    sum += V[i * d->nv + j] * delta[j];
            q_out[i] = q[i] + step * sum;
        }
    } else {
        for (int i = 0; i < d->nq; i++)
            q_out[i] = q[i] + step * delta[i];
    }
    if (d->normalise)
        d->normalise(d->self, q_out);
}

/* Forces that depend on constraint forces: f(lambda) in  [M G^T; G 0] (a, lambda) = (f, -gamma).
 *
 * With the matrix factored, Phi(x) are the multipliers under the forces f(x), and lambda =
 * Phi(lambda) is wanted. As long as Phi is a contraction, repeating it finds the only solution
 * there is. It is accelerated after Anderson: with the differences dR, dPhi of the last residuals R
 * = Phi(x) - x and of Phi, the next x is Phi - dPhi c,   c the least squares solution of  dR c = R,
 * a secant method in ng dimensions. Columns of dR are made orthonormal from the newest to the
 * oldest, and the same combinations are made of dPhi, so that c never appears.
 *
 * Where |Phi(x) - Phi(y)| comes near |x - y| there may be no solution, or several (Painleve).
 * Newton's method then solves R(x) = 0 with N = I - dPhi/dx, whose columns are the multipliers that
 * the columns of dr/dlambda = G^T - df/dlambda give as forces: those of G^T alone would give I.
 * Without friction det N = 1, and a solution that comes from there, continuously, has det N > 0:
 * one with det N < 0 is not accepted (an even number of changes of sign is not seen).
 *
 * Multipliers and forces are measured in units of energy, lambda g_size and f v_size, or as lengths
 * of G^T lambda and f where a system gives no sizes. */
#include "system/settling.h"

#include "base/memory.h"
#include "linalg/newton.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATED = 25, MOST_NEWTON = 25, PARTS = 16 };

typedef enum settling_outcome { SETTLED, UNSETTLED, UNDETERMINED } settling_outcome;

static const double converged = 8 * DBL_EPSILON; /* beside the forces */
static const double roundoff = 1e-11;            /* what may be left where it gets no better */
static const double roughly = 1e-6;              /* where forces are not whole yet */
static const double nearby = 0.1;                /* of a guess, beside the forces */
static const double contraction = 0.9;           /* |dPhi| / |dx| that is not trusted any more */
static const double telling = 1e-7;              /* |dx| beside the forces that says something */
static const double independent = 1e-6;          /* of a difference that is not in others */

static void list(void *object, bg_arena *arena)
{
    bg_settling *s = object;
    const bg_pattern *p = bg_system_get_pattern(s->sys->system, BG_OF_r, BG_BY_lambda);
    BG_TAKE(arena, s->guess, s->ng);
    BG_TAKE(arena, s->lambda, s->ng);
    BG_TAKE(arena, s->residual, s->ng);
    BG_TAKE(arena, s->weight, s->ng);
    for (int i = 0; i < 3; i++)
        BG_TAKE(arena, s->before[i], s->ng);
    for (int i = 0; i < BG_SETTLING_DEPTH; i++) {
        BG_TAKE(arena, s->past_residual[i], s->ng);
        BG_TAKE(arena, s->past_phi[i], s->ng);
        BG_TAKE(arena, s->unit_residual[i], s->ng);
        BG_TAKE(arena, s->unit_phi[i], s->ng);
    }
    BG_TAKE(arena, s->by_lambda, p ? p->row_start[s->nv] : s->nv * s->ng);
    BG_TAKE(arena, s->column, s->nv);
}

bg_status bg_settling_create(bg_evaluator *sys, bg_settling **settling, bg_error *err)
{
    bg_settling *s = *settling = BG_NEW(bg_settling);
    if (s) {
        s->sys = sys;
        s->nv = sys->def.nv;
        s->ng = sys->def.ng;
    }
    if (!s || !bg_arena_create(&s->arena, list, s))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while preparing system '%s'",
                            sys->def.name);
    return bg_linear_create(s->ng, NULL, &s->newton, err);
}

void bg_settling_destroy(bg_settling *s)
{
    if (!s)
        return;
    bg_linear_destroy(s->newton);
    bg_arena_clear(&s->arena);
    free(s);
}

static double calc_size(const bg_settling *s, const double *x)
{
    double size = 0;
    for (int i = 0; i < s->ng; i++) {
        double here = s->weight[i] * fabs(x[i]);
        if (!(here <= size))
            size = here;
    }
    return size;
}

/* The size of multipliers and forces, beside which lambda has its rounding. */
static double calc_scale(const bg_settling *s, const double *phi, const double *f)
{
    const double *v_size = s->sys->def.v_size;
    double scale = calc_size(s, phi);
    for (int i = 0; i < s->nv; i++)
        scale = fmax(scale, fabs(f[i]) * (v_size ? v_size[i] : 1.0));
    return scale;
}

double bg_settling_calc_distance(bg_settling *s, const double *G, const double *x, const double *y,
                                 const double *f)
{
    bg_system_calc_row_sizes(s->sys->system, G, s->weight);
    for (int i = 0; i < s->ng; i++)
        s->residual[i] = y[i] - x[i];
    double scale = calc_scale(s, y, f), size = calc_size(s, s->residual);
    return size > 0 ? size / scale : 0;
}

/* f at the multipliers x, which become those of the point. */
static bg_status evaluate(bg_settling *s, const bg_settling_question *q, unsigned want,
                          bg_terms *terms, const double *x, bg_error *err)
{
    bg_point at = *q->p;
    memcpy(s->lambda, x, (size_t)s->ng * sizeof(double));
    at.lambda = s->lambda;
    return bg_system_calc_terms(s->sys, &at, want, terms, err);
}

/* a and Phi(lambda) under the forces f, and the residual. */
static void apply(bg_settling *s, const bg_settling_question *q, const double *f, double *a,
                  double *phi)
{
    memcpy(a, f, (size_t)s->nv * sizeof(double));
    for (int i = 0; i < s->ng; i++)
        phi[i] = q->factor * q->right[i];
    bg_kkt_solve(q->kkt, a, phi);
    for (int i = 0; i < s->ng; i++)
        s->residual[i] = phi[i] - s->lambda[i];
}

/* Keeps the differences from the iteration before in place k; the contraction they show, 0 where
 * they say nothing. */
static double keep_differences(bg_settling *s, int k, const double *phi, double scale)
{
    double moved = 0, change = 0;
    for (int i = 0; i < s->ng; i++) {
        s->past_phi[k][i] = phi[i] - s->before[1][i];
        s->past_residual[k][i] = s->residual[i] - s->before[2][i];
        moved = fmax(moved, s->weight[i] * fabs(s->lambda[i] - s->before[0][i]));
        change = fmax(change, s->weight[i] * fabs(s->past_phi[k][i]));
    }
    return moved > telling * scale ? change / moved : 0;
}

static double calc_product(const bg_settling *s, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < s->ng; i++)
        sum += s->weight[i] * s->weight[i] * x[i] * y[i];
    return sum;
}

static void subtract(const bg_settling *s, double factor, const double *x, double *y)
{
    for (int i = 0; i < s->ng; i++)
        y[i] -= factor * x[i];
}

/* x <- Phi - dPhi c with the last n differences, the newest of which is in place `newest`. The
 * residual is left with what no difference explains. */
static void extrapolate(bg_settling *s, int newest, int n, double *x)
{
    int kept = 0;
    for (int j = 0; j < n; j++) {
        int from = (newest + BG_SETTLING_DEPTH - j) % BG_SETTLING_DEPTH;
        double *r = s->unit_residual[kept], *p = s->unit_phi[kept];
        memcpy(r, s->past_residual[from], (size_t)s->ng * sizeof(double));
        memcpy(p, s->past_phi[from], (size_t)s->ng * sizeof(double));
        double whole = sqrt(calc_product(s, r, r));
        for (int k = 0; k < kept; k++) {
            double c = calc_product(s, s->unit_residual[k], r);
            subtract(s, c, s->unit_residual[k], r);
            subtract(s, c, s->unit_phi[k], p);
        }
        double rest = sqrt(calc_product(s, r, r));
        if (!(rest > independent * whole))
            continue;
        for (int i = 0; i < s->ng; i++) {
            r[i] /= rest;
            p[i] /= rest;
        }
        double c = calc_product(s, r, s->residual);
        subtract(s, c, r, s->residual);
        subtract(s, c, p, x);
        kept++;
    }
}

static int find_worst(const bg_settling *s)
{
    int worst = 0;
    for (int i = 1; i < s->ng; i++)
        if (s->weight[i] * fabs(s->residual[i]) > s->weight[worst] * fabs(s->residual[worst]))
            worst = i;
    return worst;
}

static bg_status tell_unsettled(const bg_settling *s, const bg_settling_question *q, bg_error *err)
{
    char buffer[32];
    int i = find_worst(s);
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "system '%s': forces that depend on constraint forces do not settle at t = "
                        "%.17g: the multiplier of '%s' still changes by %.3g from %.3g; there may "
                        "be too much friction for the equations to have a solution",
                        s->sys->def.name, q->p->t,
                        bg_system_get_name(s->sys->system, 'g', i, buffer, sizeof buffer),
                        s->residual[i], s->lambda[i]);
}

/* The multiplier that feeds back on itself most is named. */
static bg_status tell_undetermined(const bg_settling *s, const bg_settling_question *q,
                                   bg_error *err)
{
    const double *N = bg_linear_get_values(s->newton);
    char buffer[32];
    int worst = 0;
    for (int i = 1; i < s->ng; i++)
        if (N[i * s->ng + i] < N[worst * s->ng + worst])
            worst = i;
    return bg_error_set(err, BG_NOT_CONVERGED,
                        "system '%s': forces that depend on constraint forces are too strong at t "
                        "= %.17g: a larger multiplier of '%s' demands a still larger one, so that "
                        "the motion is not determined; less friction is needed there",
                        s->sys->def.name, q->p->t,
                        bg_system_get_name(s->sys->system, 'g', worst, buffer, sizeof buffer));
}

/* N = I - dPhi/dlambda at lambda, factored; BG_SINGULAR without text. */
static bg_status update_newton(bg_settling *s, const bg_settling_question *q, const double *a,
                               bg_error *err)
{
    const bg_pattern *p = bg_system_get_pattern(s->sys->system, BG_OF_r, BG_BY_lambda);
    double *N = bg_linear_get_values(s->newton), *column_g = s->before[0];
    bg_derivatives out = {.only_stiff = 0};
    out.block[BG_OF_r][BG_BY_lambda] = s->by_lambda;
    bg_status st = bg_system_calc_derivatives(s->sys, q->p, a, s->lambda, &out, err);
    for (int j = 0; j < s->ng && st == BG_OK; j++) {
        for (int i = 0; i < s->nv; i++) {
            s->column[i] = p ? 0 : s->by_lambda[i * s->ng + j];
            for (int k = p ? p->row_start[i] : 0; p && k < p->row_start[i + 1]; k++)
                if (p->column[k] == j)
                    s->column[i] = s->by_lambda[k];
        }
        memset(column_g, 0, (size_t)s->ng * sizeof(double));
        bg_kkt_solve(q->kkt, s->column, column_g);
        for (int i = 0; i < s->ng; i++)
            N[i * s->ng + j] = column_g[i];
    }
    return st;
}

/* N <- (1 - tau) I + tau N, where rows that are left out have lambda = 0 whatever the forces are.
 */
static void weaken_newton(bg_settling *s, double tau)
{
    double *N = bg_linear_get_values(s->newton);
    for (int i = 0; i < s->ng; i++) {
        double row = 0;
        for (int j = 0; j < s->ng; j++) {
            row = fmax(row, fabs(N[i * s->ng + j]));
            N[i * s->ng + j] *= tau;
        }
        N[i * s->ng + i] += row == 0 ? 1 : 1 - tau;
    }
}

static bg_newton begin(int most, double tolerance)
{
    bg_newton newton = {.most = most, .converged = tolerance, .roundoff = roundoff, .stalls = 0.5};
    bg_newton_begin(&newton);
    return newton;
}

/* Newton's method for lambda = (1 - tau) start + tau Phi(lambda), from the lambda at hand. */
static bg_status follow(bg_settling *s, const bg_settling_question *q, const double *start,
                        double tau, bg_terms *terms, double *a, double *phi,
                        settling_outcome *found, bg_error *err)
{
    bg_newton newton = begin(MOST_NEWTON, tau == 1 ? converged : roughly);
    for (;;) {
        apply(s, q, terms->f, a, phi);
        for (int i = 0; i < s->ng; i++)
            s->residual[i] = tau * s->residual[i] + (1 - tau) * (start[i] - s->lambda[i]);
        double scale = calc_scale(s, phi, terms->f), size = calc_size(s, s->residual);
        *found = UNSETTLED;
        if (!isfinite(size))
            return BG_OK;
        bg_status st = update_newton(s, q, a, err);
        if (st != BG_OK)
            return st;
        weaken_newton(s, tau);
        bg_newton_state state = bg_newton_look(&newton, scale > 0 ? size / scale : 0);
        bool regular = bg_linear_factor(s->newton) == BG_OK;
        if (!regular || (state == BG_NEWTON_DONE && bg_linear_get_sign(s->newton) < 0))
            *found = UNDETERMINED;
        else if (state == BG_NEWTON_DONE)
            *found = SETTLED;
        if (!regular || state != BG_NEWTON_GOES_ON)
            return BG_OK;
        memcpy(s->before[1], s->residual, (size_t)s->ng * sizeof(double));
        bg_linear_solve(s->newton, s->before[1]);
        for (int i = 0; i < s->ng; i++)
            s->before[1][i] += s->lambda[i];
        st = evaluate(s, q, BG_TERM_f, terms, s->before[1], err);
        if (st != BG_OK)
            return st;
    }
}

/* From the guess again, by Newton's method: at once where that is near, else in steps, in which
 * the forces begin to depend on lambda little by little. */
static bg_status solve_carefully(bg_settling *s, const bg_settling_question *q, bg_terms *terms,
                                 double *a, double *phi, bg_error *err)
{
    double *start = s->past_phi[0];
    settling_outcome found = UNSETTLED;
    bg_status st = evaluate(s, q, BG_TERM_f, terms, s->guess, err);
    if (st != BG_OK)
        return st;
    apply(s, q, terms->f, a, start);
    double size = calc_size(s, s->residual);
    if (!isfinite(size))
        return BG_NOT_FINITE;
    bool close = size <= nearby * calc_scale(s, start, terms->f);
    for (int steps = close ? 1 : PARTS; found != SETTLED && steps <= PARTS; steps += PARTS - 1) {
        st = evaluate(s, q, BG_TERM_f, terms, s->guess, err);
        for (int k = 1; k <= steps && st == BG_OK && (k == 1 || found == SETTLED); k++)
            st = follow(s, q, start, (double)k / steps, terms, a, phi, &found, err);
        if (st != BG_OK)
            return st;
    }
    return found == SETTLED        ? BG_OK
           : found == UNDETERMINED ? tell_undetermined(s, q, err)
                                   : tell_unsettled(s, q, err);
}

/* Phi repeated from lambda, accelerated; *settled: it was a contraction, and has converged. */
static bg_status repeat(bg_settling *s, const bg_settling_question *q, bg_terms *terms, double *a,
                        double *phi, bool *settled, bg_error *err)
{
    bg_newton newton = begin(MOST_REPEATED, converged);
    *settled = false;
    for (int k = 0;; k++) {
        int newest = (k + BG_SETTLING_DEPTH - 1) % BG_SETTLING_DEPTH;
        apply(s, q, terms->f, a, phi);
        double scale = calc_scale(s, phi, terms->f), size = calc_size(s, s->residual);
        if (!isfinite(size))
            return k > 0 ? BG_OK : BG_NOT_FINITE;
        if (k > 0 && keep_differences(s, newest, phi, scale) > contraction)
            return BG_OK;
        bg_newton_state state = bg_newton_look(&newton, scale > 0 ? size / scale : 0);
        *settled = state == BG_NEWTON_DONE;
        if (state != BG_NEWTON_GOES_ON)
            return BG_OK;
        memcpy(s->before[0], s->lambda, (size_t)s->ng * sizeof(double));
        memcpy(s->before[1], phi, (size_t)s->ng * sizeof(double));
        memcpy(s->before[2], s->residual, (size_t)s->ng * sizeof(double));
        extrapolate(s, newest, k < BG_SETTLING_DEPTH ? k : BG_SETTLING_DEPTH, phi);
        bg_status st = evaluate(s, q, BG_TERM_f, terms, phi, err);
        if (st != BG_OK)
            return st;
    }
}

bg_status bg_settling_solve(bg_settling *s, const bg_settling_question *q, bg_terms *terms,
                            double *a, double *lambda, bg_error *err)
{
    bool settled;
    bg_system_calc_row_sizes(s->sys->system, q->G, s->weight);
    if (q->p->lambda != s->lambda)
        memcpy(s->lambda, q->p->lambda, (size_t)s->ng * sizeof(double));
    bg_status st = repeat(s, q, terms, a, lambda, &settled, err);
    if (st == BG_OK && !settled)
        st = solve_carefully(s, q, terms, a, lambda, err);
    if (st != BG_OK)
        return st;
    if (s->sys->def.nz > 0)
        st = evaluate(s, q, BG_TERM_h, terms, lambda, err);
    memcpy(s->lambda, lambda, (size_t)s->ng * sizeof(double));
    for (int i = 0; i < s->nv && st == BG_OK; i++)
        st = isfinite(a[i]) ? BG_OK : BG_NOT_FINITE;
    for (int i = 0; i < s->sys->def.nz && st == BG_OK; i++)
        st = isfinite(terms->h[i]) ? BG_OK : BG_NOT_FINITE;
    return st;
}

void bg_settling_describe(const bg_system *system, const double *increment, char *text, size_t size)
{
    char name[64];
    int worst = 0;
    *text = '\0';
    for (int i = 0; i < system->def.ng; i++)
        worst = fabs(increment[i]) > fabs(increment[worst]) ? i : worst;
    if (system->def.f_of_lambda)
        snprintf(text, size,
                 "; forces that depend on constraint forces, such as that of '%s', may not be "
                 "determined there (too much friction)",
                 bg_system_get_name(system, 'g', worst, name, sizeof name));
}

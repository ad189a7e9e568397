/* SUNDIALS IDA on the chain of equations/chain.c, in the form that suits it best: the recursion
 * itself, with the acceleration A_i of every mass and the force S_i in every rod as algebraic
 * unknowns,
 *
 *   0 = alpha_i' - v_i,                   0 = n_i . S_i,              y_i = (alpha, v, A, S)_i
 *   0 = A_i - A_(i-1) - l (v_i' n_i - v_i^2 e_i),   A_0 = u'' + (0, gravity)
 *   0 = S_i - S_(i+1) - m A_i,                      S_(N+1) = 0
 *
 * of index 1 and with a band of 6 on each side, so that a Jacobian costs 13 residuals and a
 * factorisation is of order N; the matrices of the minimal form
 *
 *   0 = alpha' - v,   0 = v' - accelerate(alpha, v)                                       (minimal)
 *
 * are full, which is as well for short chains. */
#ifndef BENCH_SOLVE_IDA_CHAIN_H
#define BENCH_SOLVE_IDA_CHAIN_H

#include "solve_ida.h"

#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>

enum { CHAIN_WIDTH = 6 }; /* unknowns of a link, and the band on each side */

typedef struct ida_chain {
    const bench_problem *problem;
    SUNContext context;
    double gravity, mass, length; /* of the equations' defaults */
    double u[2], u_t[2], u_tt[2], t;
} ida_chain;

static int chain_residual(double t, N_Vector state, N_Vector rates, N_Vector residual, void *self)
{
    ida_chain *s = self;
    const bg_system_def *def = s->problem->def;
    const double m = s->mass, l = s->length;
    if (t != s->t) {
        def->inputs(def->self, t, s->problem->start->mode, s->u, s->u_t, s->u_tt);
        s->t = t;
    }
    double A[2] = {s->u_tt[0], s->u_tt[1] + s->gravity};
    const double *y = N_VGetArrayPointer(state), *y_t = N_VGetArrayPointer(rates);
    double *r = N_VGetArrayPointer(residual);
    for (int i = 0; i < def->nv; i++, y += CHAIN_WIDTH, y_t += CHAIN_WIDTH, r += CHAIN_WIDTH) {
        const double sine = sin(y[0]), cosine = cos(y[0]), v = y[1];
        const double *S = y + 4, *below = i + 1 < def->nv ? S + CHAIN_WIDTH : NULL;
        r[0] = y_t[0] - v;
        r[1] = cosine * S[0] + sine * S[1];
        r[2] = y[2] - A[0] - l * (y_t[1] * cosine - v * v * sine);
        r[3] = y[3] - A[1] - l * (y_t[1] * sine + v * v * cosine);
        r[4] = S[0] - (below ? below[0] : 0) - m * y[2];
        r[5] = S[1] - (below ? below[1] : 0) - m * y[3];
        A[0] = y[2];
        A[1] = y[3];
    }
    return 0;
}

static bool ida_chain_create(ida_chain *s, const bench_problem *p)
{
    *s = (ida_chain){.problem = p, .gravity = 9.81, .mass = 1, .length = 1, .t = NAN};
    return SUNContext_Create(NULL, &s->context) == 0 || problem_fail(p, "out of memory");
}

static void ida_chain_clear(ida_chain *s)
{
    if (s->context)
        SUNContext_Free(&s->context);
}

/* The consistent start in all unknowns. */
static void chain_fill(ida_chain *s, double *y, double *y_t)
{
    const bg_system_def *def = s->problem->def;
    const bg_state *x = s->problem->start;
    def->inputs(def->self, x->t, x->mode, s->u, s->u_t, s->u_tt);
    double A[2] = {s->u_tt[0], s->u_tt[1] + s->gravity};
    for (int i = 0; i < def->nv; i++) {
        double *own = y + CHAIN_WIDTH * i;
        const double sine = sin(x->q[i]), cosine = cos(x->q[i]), v = x->v[i], a = x->a[i];
        own[0] = x->q[i];
        own[1] = v;
        own[2] = A[0] += s->length * (a * cosine - v * v * sine);
        own[3] = A[1] += s->length * (a * sine + v * v * cosine);
        y_t[CHAIN_WIDTH * i] = v;
        y_t[CHAIN_WIDTH * i + 1] = a;
    }
    for (int i = def->nv - 1; i >= 0; i--)
        for (int k = 4; k < 6; k++) {
            double *own = y + CHAIN_WIDTH * i;
            own[k] = s->mass * own[k - 2] + (i + 1 < def->nv ? own[CHAIN_WIDTH + k] : 0);
        }
}

static int chain_minimal(double t, N_Vector state, N_Vector rates, N_Vector residual, void *self)
{
    ida_chain *s = self;
    const bg_system_def *def = s->problem->def;
    const int n = def->nv;
    const double *y = N_VGetArrayPointer(state), *y_t = N_VGetArrayPointer(rates);
    double *r = N_VGetArrayPointer(residual);
    if (t != s->t) {
        def->inputs(def->self, t, s->problem->start->mode, s->u, s->u_t, s->u_tt);
        s->t = t;
    }
    const bg_point point = {t,    y, y + n, NULL, s->u, s->u_t, s->u_tt, s->problem->start->mode,
                            NULL, 0};
    const int code = def->accelerate(def->self, &point, NULL, r + n);
    for (int i = 0; i < n; i++) {
        r[i] = y_t[i] - y[n + i];
        r[n + i] = y_t[n + i] - r[n + i];
    }
    return code;
}

/* Start, weights and matrix of the band form, or of the minimal one. */
static bool chain_prepare(ida_chain *s, ida_run *r, bool minimal, ida_multipliers algebraic,
                          double tolerance)
{
    const bg_state *x = s->problem->start;
    const int nv = s->problem->def->nv, n = (minimal ? 2 : CHAIN_WIDTH) * nv;
    *r = (ida_run){.y = N_VNew_Serial(n, s->context),
                   .y_t = N_VNew_Serial(n, s->context),
                   .id = N_VNew_Serial(n, s->context),
                   .atol = N_VNew_Serial(n, s->context),
                   .matrix = minimal ? SUNDenseMatrix(n, n, s->context)
                                     : SUNBandMatrix(n, CHAIN_WIDTH, CHAIN_WIDTH, s->context),
                   .ida = IDACreate(s->context)};
    if (!r->y || !r->y_t || !r->id || !r->atol || !r->matrix || !r->ida)
        return false;
    double *y = N_VGetArrayPointer(r->y), *y_t = N_VGetArrayPointer(r->y_t);
    N_VConst(0.0, r->y_t);
    for (int i = 0; minimal && i < nv; i++) {
        y[i] = x->q[i];
        y[nv + i] = y_t[i] = x->v[i];
        y_t[nv + i] = x->a[i];
    }
    if (!minimal)
        chain_fill(s, y, y_t);
    for (int i = 0; i < n; i++) {
        const bool differential = minimal || i % CHAIN_WIDTH < 2;
        const bool counts = differential || algebraic != IDA_MULTIPLIERS_FREE;
        N_VGetArrayPointer(r->id)[i] = differential;
        N_VGetArrayPointer(r->atol)[i] = counts ? s->problem->atol * tolerance : 1e4;
    }
    r->linear = minimal ? SUNLinSol_Dense(r->y, r->matrix, s->context)
                        : SUNLinSol_Band(r->y, r->matrix, s->context);
    return r->linear != NULL;
}

/* As ida_solve; max_order 0: IDA's own choice, 1 to 5. */
static bench_outcome ida_chain_solve(ida_chain *s, bool minimal, ida_multipliers algebraic,
                                     int max_order, double tolerance)
{
    enum { STEPS_MAX = 400000 };
    const int stride = minimal ? 1 : CHAIN_WIDTH;
    bench_outcome o = {0};
    ida_run r;
    s->t = NAN;
    if (chain_prepare(s, &r, minimal, algebraic, tolerance) &&
        ida_set_up(&r, s->problem, minimal ? chain_minimal : chain_residual, s, algebraic,
                   tolerance) &&
        IDASetMaxNumSteps(r.ida, STEPS_MAX) == IDA_SUCCESS &&
        (max_order == 0 || IDASetMaxOrd(r.ida, max_order) == IDA_SUCCESS))
        o = ida_go(&r, s->problem);
    for (int i = 0; o.good && i < s->problem->def->nv; i++)
        o.error = fmax(o.error,
                       fabs(N_VGetArrayPointer(r.y)[stride * i] - s->problem->reference[i]));
    ida_clear(&r);
    return o;
}

#endif

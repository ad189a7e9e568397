/* SUNDIALS IDA on the stabilised index-2 form of Gear, Gupta and Leimkuhler,
 *
 *   0 = q' - v + G^T mu              y = (q, v, z, lambda, mu)
 *   0 = M v' - f + G^T lambda
 *   0 = z' - h
 *   0 = g,   0 = G v + g_t
 *
 * with the dense solver and the difference Jacobian IDA brings along. The residual calls the same
 * compiled `terms`, and `residual` where a system has one, as Bogie does, without anything in
 * between; excitations are evaluated only when the time has changed, so that the columns of a
 * Jacobian share them. */
#ifndef BENCH_SOLVE_IDA_H
#define BENCH_SOLVE_IDA_H

#include "problem.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

/* The residual's scratch memory, made once for a problem and not part of any time. */
typedef struct ggl {
    const bench_problem *problem;
    void *self; /* of the system, of its own where it can be */
    SUNContext context;
    int n;         /* 2 nv + nz + 2 ng */
    double free;   /* absolute tolerance of multipliers that are not to count */
    unsigned want; /* terms of the residual */
    bg_terms terms;
    double *memory;            /* of terms, u, h0 */
    double *u, *u_t, *u_tt, t; /* nu each, and the time they belong to */
    double *h0;                /* nz, z' at the start */
} ggl;

static int ggl_calc_terms(ggl *s, double t, const double *q, const double *v, const double *z,
                          const double *lambda, bg_point *point)
{
    const bg_system_def *def = s->problem->def;
    const int *mode = s->problem->start->mode;
    if (def->nu > 0 && t != s->t) {
        int code = def->inputs(s->self, t, mode, s->u, s->u_t, s->u_tt);
        if (code != 0)
            return code;
        s->t = t;
    }
    *point = (bg_point){t, q, v, z, s->u, s->u_t, s->u_tt, mode, def->f_of_lambda ? lambda : NULL,
                        0};
    return def->terms(s->self, point, s->want, &s->terms);
}

/* M a - f + G^T lambda: by the system's own recursion, or from terms. */
static int ggl_calc_forces(ggl *s, const bg_point *p, const double *a, const double *lambda,
                           double *r)
{
    const bg_system_def *def = s->problem->def;
    const bg_terms *x = &s->terms;
    const int nv = def->nv;
    if (def->residual)
        return def->residual(s->self, p, a, lambda, r);
    for (int i = 0; i < nv; i++) {
        double sum = -x->f[i];
        for (int j = 0; j < nv; j++)
            sum += x->M[i * nv + j] * a[j];
        r[i] = sum;
    }
    for (int k = 0; k < def->ng; k++)
        for (int j = 0; j < nv; j++)
            r[j] += x->G[k * nv + j] * lambda[k];
    return 0;
}

static int ggl_residual(double t, N_Vector y, N_Vector y_t, N_Vector residual, void *self)
{
    ggl *s = self;
    const bg_system_def *def = s->problem->def;
    const bg_terms *x = &s->terms;
    const int nv = def->nv, nz = def->nz, ng = def->ng;
    const double *q = N_VGetArrayPointer(y), *v = q + nv, *z = v + nv, *lambda = z + nz,
                 *mu = lambda + ng;
    const double *q_t = N_VGetArrayPointer(y_t), *v_t = q_t + nv, *z_t = v_t + nv;
    double *restrict rq = N_VGetArrayPointer(residual), *restrict rv = rq + nv,
                     *restrict rz = rv + nv, *restrict rg = rz + nz, *restrict rw = rg + ng;
    const bg_pattern *pattern = def->pattern_G;
    bg_point point;
    int code = ggl_calc_terms(s, t, q, v, z, lambda, &point);
    if (code == 0)
        code = ggl_calc_forces(s, &point, v_t, lambda, rv);
    if (code != 0)
        return code;
    for (int i = 0; i < nv; i++)
        rq[i] = q_t[i] - v[i];
    for (int k = 0; k < ng; k++) {
        const double mu_k = mu[k];
        const int first = pattern ? pattern->row_start[k] : k * nv;
        const int end = pattern ? pattern->row_start[k + 1] : first + nv;
        double w = def->scleronomic ? 0 : x->gt[k];
        for (int i = first; i < end; i++) {
            const int j = pattern ? pattern->column[i] : i - first;
            rq[j] += x->G[i] * mu_k;
            w += x->G[i] * v[j];
        }
        rg[k] = x->g[k];
        rw[k] = w;
    }
    for (int i = 0; i < nz; i++)
        rz[i] = z_t[i] - x->h[i];
    return 0;
}

static void ggl_clear(ggl *s)
{
    if (s->self && s->problem->def->fork)
        s->problem->def->join(s->self);
    free(s->memory);
    if (s->context)
        SUNContext_Free(&s->context);
}

/* False, with a message, when there is no memory or the system is not one for this form. */
static bool ggl_create(ggl *s, const bench_problem *p)
{
    const bg_system_def *def = p->def;
    const int nv = def->nv, ng = def->ng, nz = def->nz, nu = def->nu;
    *s = (ggl){.problem = p, .n = 2 * nv + nz + 2 * ng, .t = NAN, .free = 1e4};
    s->self = def->fork ? def->fork(def->self) : def->self;
    const unsigned forces = def->residual ? 0 : BG_TERM_M | BG_TERM_f;
    const unsigned needed = forces | BG_TERM_g | BG_TERM_G;
    s->want = def->supplied & (needed | BG_TERM_gt | (nz > 0 ? BG_TERM_h : 0u));
    if ((s->want & needed) != needed || !(def->scleronomic || s->want & BG_TERM_gt) ||
        def->supplied & BG_TERM_V || (forces && (def->pattern_M || def->pattern_G)) ||
        p->assembly.redundancy.count > 0)
        return problem_fail(p, "IDA's residual needs dense M and G or a residual, and V = I");
    s->memory = calloc((size_t)(nv * nv + ng * nv + nv + 2 * ng + 2 * nz + 3 * nu), sizeof(double));
    if (!s->memory || SUNContext_Create(NULL, &s->context) != 0)
        return problem_fail(p, "out of memory");
    double *next = s->memory;
    s->terms.M = next;
    s->terms.G = next += nv * nv;
    s->terms.f = next += ng * nv;
    s->terms.g = next += nv;
    s->terms.gt = next += ng;
    s->terms.h = next += ng;
    s->h0 = next += nz;
    s->u = next += nz;
    s->u_t = next += nu;
    s->u_tt = next + nu;
    const bg_state *x = p->start;
    bg_point point;
    for (int i = 0; i < ng; i++)
        s->free = fmax(s->free, 1e4 * fabs(x->lambda[i]));
    if (ggl_calc_terms(s, x->t, x->q, x->v, x->z, x->lambda, &point) != 0)
        return problem_fail(p, "its terms cannot be evaluated at the start");
    memcpy(s->h0, s->terms.h, (size_t)nz * sizeof(double));
    return true;
}

/* How lambda and mu are treated. IDA takes them into the test of the local error unless told
 * otherwise; its Newton iteration waits for them in any case, and since their increments are those
 * of q and v divided by the step, it fails where steps are small. With an absolute tolerance far
 * above their size they no longer count. */
typedef enum ida_multipliers {
    IDA_MULTIPLIERS_TESTED,     /* as all other variables */
    IDA_MULTIPLIERS_SUPPRESSED, /* out of the error test */
    IDA_MULTIPLIERS_FREE        /* out of the error test and of Newton's test */
} ida_multipliers;

/* More steps than the best of IDA's settings needs at any tolerance of the sweep. */
enum { IDA_STEPS_MAX = 20000 };

/* Everything IDA holds for one integration. */
typedef struct ida_run {
    void *ida;
    N_Vector y, y_t, id, atol;
    SUNMatrix matrix;
    SUNLinearSolver linear;
} ida_run;

static bool ida_fill(ida_run *r, const ggl *s, ida_multipliers multipliers, double tolerance)
{
    const bench_problem *p = s->problem;
    const bg_state *x = p->start;
    const size_t nv = (size_t)p->def->nv, nz = (size_t)p->def->nz, ng = (size_t)p->def->ng,
                 size = sizeof(double);
    r->y = N_VNew_Serial(s->n, s->context);
    r->y_t = N_VNew_Serial(s->n, s->context);
    r->id = N_VNew_Serial(s->n, s->context);
    r->atol = N_VNew_Serial(s->n, s->context);
    r->matrix = SUNDenseMatrix(s->n, s->n, s->context);
    r->ida = IDACreate(s->context);
    if (!r->y || !r->y_t || !r->id || !r->atol || !r->matrix || !r->ida)
        return false;
    r->linear = SUNLinSol_Dense(r->y, r->matrix, s->context);
    double *y = N_VGetArrayPointer(r->y), *y_t = N_VGetArrayPointer(r->y_t),
           *id = N_VGetArrayPointer(r->id), *atol = N_VGetArrayPointer(r->atol);
    N_VConst(0.0, r->y_t); /* lambda' and mu' are not known */
    memcpy(y, x->q, nv * size);
    memcpy(y + nv, x->v, nv * size);
    memcpy(y + 2 * nv, x->z, nz * size);
    memcpy(y + 2 * nv + nz, x->lambda, ng * size);
    memset(y + 2 * nv + nz + ng, 0, ng * size);
    memcpy(y_t, x->v, nv * size);
    memcpy(y_t + nv, x->a, nv * size);
    memcpy(y_t + 2 * nv, s->h0, nz * size);
    for (size_t i = 0; i < (size_t)s->n; i++) {
        const bool differential = i < 2 * nv + nz;
        id[i] = differential ? 1.0 : 0.0;
        atol[i] = differential || multipliers != IDA_MULTIPLIERS_FREE ? p->atol * tolerance
                                                                      : s->free;
    }
    return r->linear != NULL;
}

static void ida_clear(ida_run *r)
{
    if (r->ida)
        IDAFree(&r->ida);
    if (r->linear)
        SUNLinSolFree(r->linear);
    if (r->matrix)
        SUNMatDestroy(r->matrix);
    N_Vector const vectors[] = {r->y, r->y_t, r->id, r->atol};
    for (int i = 0; i < 4; i++)
        if (vectors[i])
            N_VDestroy(vectors[i]);
}

/* What every form has in common. */
static bool ida_set_up(ida_run *r, const bench_problem *p, IDAResFn residual, void *self,
                       ida_multipliers multipliers, double tolerance)
{
    const booleantype suppress = multipliers != IDA_MULTIPLIERS_TESTED;
    return IDAInit(r->ida, residual, p->start->t, r->y, r->y_t) == IDA_SUCCESS &&
           IDASetErrFile(r->ida, NULL) == IDA_SUCCESS &&
           IDASetUserData(r->ida, self) == IDA_SUCCESS &&
           IDASVtolerances(r->ida, tolerance, r->atol) == IDA_SUCCESS &&
           IDASetId(r->ida, r->id) == IDA_SUCCESS &&
           IDASetSuppressAlg(r->ida, suppress) == IDA_SUCCESS &&
           IDASetLinearSolver(r->ida, r->linear, r->matrix) == IDA_SUCCESS &&
           IDASetMaxNumSteps(r->ida, IDA_STEPS_MAX) == IDA_SUCCESS &&
           IDASetStopTime(r->ida, p->def->t_end) == IDA_SUCCESS;
}

/* To the end in one call, without output on the way. */
static bench_outcome ida_go(ida_run *r, const bench_problem *p)
{
    const double t_end = p->def->t_end;
    bench_outcome o = {0};
    double t = NAN;
    long differenced = 0;
    o.good = IDASolve(r->ida, t_end, &t, r->y, r->y_t, IDA_NORMAL) >= 0 && t == t_end;
    if (o.good) {
        IDAGetNumSteps(r->ida, &o.steps);
        IDAGetNumResEvals(r->ida, &o.evaluations);
        IDAGetNumLinResEvals(r->ida, &differenced);
        IDAGetNumJacEvals(r->ida, &o.jacobians);
        o.evaluations += differenced;
    }
    return o;
}

/* One integration from creating the solver to releasing it, with rtol = atol = tolerance and IDA's
 * defaults. */
static bench_outcome ida_solve(ggl *s, ida_multipliers multipliers, double tolerance)
{
    bench_outcome o = {0};
    ida_run r = {0};
    s->t = NAN;
    if (ida_fill(&r, s, multipliers, tolerance) &&
        ida_set_up(&r, s->problem, ggl_residual, s, multipliers, tolerance))
        o = ida_go(&r, s->problem);
    if (o.good)
        o.error = problem_calc_error(s->problem, N_VGetArrayPointer(r.y));
    ida_clear(&r);
    return o;
}

#endif

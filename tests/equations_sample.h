/* What the tests of the hand-written systems share: a point with its own storage, evaluation
 * through the definition's functions alone, and a small dense solver for accelerations. */
#ifndef EQUATIONS_SAMPLE_H
#define EQUATIONS_SAMPLE_H

#include "bogie/system.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 16 };

/* A point with its own storage. */
typedef struct equations_sample {
    double t, q[MAX], v[MAX], z[MAX], u[MAX], u_t[MAX], u_tt[MAX];
    double a[MAX], lambda[MAX];
    int mode[MAX];
} equations_sample;

typedef struct equations_values {
    double M[MAX * MAX], f[MAX], g[MAX], gt[MAX], G[MAX * MAX], gamma[MAX], h[MAX], s[MAX];
} equations_values;

static inline const bg_equations *find_family(const char *name)
{
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++)
        if (strcmp((*all)->name, name) == 0)
            return *all;
    fail_msg("no family %s", name);
    return NULL;
}

/* Defines a system with its first parameter replaced, unless that is NAN. */
static inline bg_system_def define(const char *name, double first)
{
    const bg_equations *family = find_family(name);
    bg_system_def def = {.name = name};
    bg_error err;
    double parameters[16];
    for (int i = 0; i < family->nparameters; i++)
        parameters[i] = family->parameters[i].value;
    if (!isnan(first))
        parameters[0] = first;
    assert_int_equal(family->define(parameters, &def, &err), BG_OK);
    return def;
}

static inline bg_system_def define_default(const char *name)
{
    return define(name, strcmp(name, "chain") == 0 ? 5.0 : NAN);
}

static inline void clear(bg_system_def *def)
{
    if (def->destroy)
        def->destroy(def->self);
}

static inline bg_point point(const equations_sample *s)
{
    return (bg_point){s->t, s->q, s->v, s->z, s->u, s->u_t, s->u_tt, s->mode, s->lambda, 0};
}

static inline void update_inputs(const bg_system_def *def, equations_sample *s)
{
    if (def->nu > 0)
        assert_int_equal(def->inputs(def->self, s->t, s->mode, s->u, s->u_t, s->u_tt), 0);
}

static inline void evaluate(const bg_system_def *def, const equations_sample *s, unsigned want,
                            equations_values *x)
{
    const bg_point p = point(s);
    bg_terms out = {x->M, x->f, x->g, x->gt, x->G, x->gamma, NULL, x->h, x->s};
    assert_int_equal(def->terms(def->self, &p, want, &out), 0);
}

static inline equations_sample start(const bg_system_def *def)
{
    equations_sample s = {.t = def->t_start};
    for (int i = 0; i < def->nq; i++)
        s.q[i] = def->q0 ? def->q0[i] : 0.0;
    for (int i = 0; i < def->nv; i++)
        s.v[i] = def->v0 ? def->v0[i] : 0.0;
    for (int i = 0; i < def->nz; i++)
        s.z[i] = def->z0 ? def->z0[i] : 0.0;
    update_inputs(def, &s);
    return s;
}

/* Solves A x = b of size n <= 2 MAX in place, by elimination with row pivoting. */
static inline void solve(int n, double A[2 * MAX][2 * MAX], double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            pivot = fabs(A[i][k]) > fabs(A[pivot][k]) ? i : pivot;
        for (int j = 0; j < n; j++) {
            const double swap = A[k][j];
            A[k][j] = A[pivot][j];
            A[pivot][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        assert_true(A[k][k] != 0.0);
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

/* a and lambda from [M G^T; G 0] (a, lambda) = (f, -gamma), written into the sample; rates of z. */
static inline void solve_motion_once(const bg_system_def *def, equations_sample *s, double *z_t)
{
    double A[2 * MAX][2 * MAX] = {{0}}, b[2 * MAX];
    equations_values x = {0};
    const int nv = def->nv, ng = def->ng;
    evaluate(def, s, def->supplied, &x);
    for (int i = 0; i < nv; i++) {
        b[i] = x.f[i];
        for (int j = 0; j < nv; j++)
            A[i][j] = x.M[i * nv + j];
        for (int k = 0; k < ng; k++)
            A[i][nv + k] = A[nv + k][i] = x.G[k * nv + i];
    }
    for (int k = 0; k < ng; k++)
        b[nv + k] = -x.gamma[k];
    solve(nv + ng, A, b);
    memcpy(s->a, b, (size_t)nv * sizeof *b);
    memcpy(s->lambda, b + nv, (size_t)ng * sizeof *b);
    if (z_t)
        memcpy(z_t, x.h, (size_t)def->nz * sizeof *z_t);
}

/* The same; where f depends on lambda, repeated until that settles. */
static inline void solve_motion(const bg_system_def *def, equations_sample *s, double *z_t)
{
    for (int n = 0; n < (def->f_of_lambda ? 60 : 1); n++)
        solve_motion_once(def, s, z_t);
}

#endif

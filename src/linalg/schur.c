/* By block elimination, with W = M^{-1} A^T and S = B W + E:
 *
 *     y = S^{-1} (B M^{-1} x - y),    x = M^{-1} x - W y.
 *
 * One solution with M for each constraint, and a small matrix: few constraints on many coordinates
 * take time in proportion to these. S is scaled to a unit diagonal. It is safe where its condition
 * then is far from rounding, since what is left of it beside B W is not rounding either; a
 * factorisation with exchanges of the whole matrix takes over elsewhere. */
#include "linalg/schur.h"

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/backend.h"

#include <stdlib.h>
#include <string.h>

static const double least_rcond = 1e-6;

struct bg_schur {
    int nv, ng, n; /* n: nv + ng */
    const bg_pattern *pattern;
    bg_mass_solver mass;
    double *factor; /* [mass.size] */
    double *W;      /* [ng nv] rows M^{-1} a_i */
    double *B;      /* [entries of G] */
    double *scale;  /* [ng] S is multiplied with, by rows and columns; 0: held */
    double *x, *y;  /* [n] of the condition estimate; [ng] */
    int *sign;      /* [n] */
    bg_linear *S;   /* [ng ng] */
    bg_arena arena;
};

static int count_entries(const bg_schur *s)
{
    return s->pattern ? s->pattern->row_start[s->ng] : s->ng * s->nv;
}

static void list(void *object, bg_arena *arena)
{
    bg_schur *s = object;
    BG_TAKE(arena, s->factor, s->mass.size);
    BG_TAKE(arena, s->W, (size_t)s->ng * (size_t)s->nv);
    BG_TAKE(arena, s->B, count_entries(s));
    BG_TAKE(arena, s->scale, s->ng);
    BG_TAKE(arena, s->x, s->n);
    BG_TAKE(arena, s->y, s->ng);
    BG_TAKE(arena, s->sign, s->n);
}

bg_status bg_schur_create(int nv, int ng, const bg_pattern *pattern_G, const bg_mass_solver *mass,
                          bg_schur **schur, bg_error *err)
{
    bg_schur *s = *schur = BG_NEW(bg_schur);
    if (s)
        *s = (bg_schur){.nv = nv, .ng = ng, .n = nv + ng, .pattern = pattern_G, .mass = *mass};
    bg_status st = s && bg_arena_create(&s->arena, list, s)
                       ? bg_linear_create(ng, NULL, &s->S, err)
                       : bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    if (st != BG_OK) {
        bg_schur_destroy(s);
        *schur = NULL;
    }
    return st;
}

void bg_schur_destroy(bg_schur *s)
{
    if (!s)
        return;
    bg_linear_destroy(s->S);
    bg_arena_clear(&s->arena);
    free(s);
}

/* Row i of a matrix in the pattern of G, spread over x [nv]. */
static void spread(const bg_schur *s, const double *G, int i, double *x)
{
    if (!s->pattern) {
        memcpy(x, G + (size_t)i * (size_t)s->nv, (size_t)s->nv * sizeof(double));
        return;
    }
    memset(x, 0, (size_t)s->nv * sizeof(double));
    for (int k = s->pattern->row_start[i]; k < s->pattern->row_start[i + 1]; k++)
        x[s->pattern->column[k]] = G[k];
}

/* S with a unit diagonal; false: it has none. */
static bool scale(bg_schur *s, double *S)
{
    int n = s->ng;
    for (int i = 0; i < n; i++) {
        double d = S[i * n + i];
        s->scale[i] = s->scale[i] > 0 ? 1 / sqrt(d) : 0;
        if (!isfinite(s->scale[i]))
            return false;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            S[i * n + j] = s->scale[i] > 0 && s->scale[j] > 0
                               ? S[i * n + j] * s->scale[i] * s->scale[j]
                               : i == j;
    return true;
}

bool bg_schur_factor(bg_schur *s, const double *mass, const double *A, const double *B,
                     double epsilon, const double *sizes, const unsigned char *held)
{
    int n = s->ng;
    double *S = bg_linear_get_values(s->S);
    if (!isfinite(mass[0]))
        return false;
    memcpy(s->factor, mass, (size_t)s->mass.size * sizeof(double));
    memcpy(s->B, B, (size_t)count_entries(s) * sizeof(double));
    for (int i = 0; i < n; i++) {
        double *w = s->W + (size_t)i * (size_t)s->nv;
        s->scale[i] = held && held[i] ? 0 : 1;
        if (s->scale[i] == 0) {
            memset(w, 0, (size_t)s->nv * sizeof(double));
            continue;
        }
        spread(s, A, i, w);
        s->mass.solve(s->mass.self, s->factor, w);
        bg_matrix_multiply(n, s->nv, s->pattern, B, w, s->y);
        for (int k = 0; k < n; k++)
            S[k * n + i] = s->y[k];
        S[i * n + i] += epsilon * (sizes ? sizes[i] : 1);
    }
    return scale(s, S) && bg_linear_factor(s->S) == BG_OK &&
           bg_linear_calc_rcond(s->S) >= least_rcond;
}

void bg_schur_solve(bg_schur *s, double *x, double *y)
{
    s->mass.solve(s->mass.self, s->factor, x);
    bg_matrix_multiply(s->ng, s->nv, s->pattern, s->B, x, s->y);
    for (int i = 0; i < s->ng; i++)
        y[i] = s->scale[i] * (s->y[i] - y[i]); /* 0 of a row that is held */
    bg_linear_solve(s->S, y);
    for (int i = 0; i < s->ng; i++) {
        const double *w = s->W + (size_t)i * (size_t)s->nv;
        double value = y[i] *= s->scale[i];
        for (int k = 0; k < s->nv && value != 0; k++)
            x[k] -= value * w[k];
    }
}

static void solve_all(void *schur, double *x)
{
    bg_schur *s = schur;
    bg_schur_solve(s, x, x + s->nv);
}

double bg_schur_calc_rcond(bg_schur *s, double norm)
{
    static const bg_linear_class all = {.solve = solve_all, .solve_transposed = solve_all};
    double rcond = 1 / norm / bg_condition_estimate(&all, s, s->n, s->x, s->sign);
    return rcond >= 0 ? fmin(rcond, 1) : 0; /* not a number: 0 */
}

double *bg_schur_get_scratch(bg_schur *s)
{
    return s->x;
}

bg_matrix_work bg_schur_get_work(const bg_schur *s)
{
    bg_matrix_work work = bg_linear_get_work(s->S);
    double nv = s->nv, ng = s->ng, solution = 2.0 * s->mass.size, entries = count_entries(s);
    work.factorisation += 6 * work.solution; /* of the condition estimate */
    work.factorisation += ng * (solution + entries);
    work.solution += solution + entries + ng * nv;
    work.usual = work.factorisation;
    return work;
}

/* Matrices of a linearisation, column by column: A and B from what follows of a change, C and D by
 * differences of the outputs along (delta, dv, dz, u, da, dlambda), with four values each; and the
 * masses of the freedoms. */
#include "linear/linearisation.h"

#include <math.h>

static const double shift_outputs = 0x1p-13; /* the error falls with its fourth power */

/* y at the point moved by `step` times the change. */
static bg_status calc_outputs(bg_linearisation *l, const bg_perturbation *c, double step, double *y,
                              bg_error *err)
{
    const bg_system_def *d = &l->sys->def;
    bg_state *at = l->at;
    bg_point p;
    double *v = l->rhs, *a = l->work_v, *lambda = l->work_g;
    bg_status st = bg_system_set_state(l->sys, at, &p, err);
    if (st != BG_OK)
        return st;
    bg_system_move(l->sys, at->q, l->terms.V, step, c->delta, l->q);
    for (int i = 0; i < l->nv; i++) {
        v[i] = at->v[i] + step * c->v[i];
        a[i] = at->a[i] + step * c->a[i];
    }
    for (int i = 0; i < l->ng; i++)
        lambda[i] = at->lambda[i] + step * c->lambda[i];
    for (int i = 0; i < l->nz; i++)
        c->z_t[i] = at->z[i] + step * c->z[i]; /* the rates were taken already */
    for (int i = 0; i < l->nu; i++) {
        l->sys->u[i] += step * c->u[i];
        l->sys->u_t[i] += step * c->u[l->nu + i];
        l->sys->u_tt[i] += step * c->u[2 * l->nu + i];
    }
    p.q = l->q;
    p.v = v;
    p.z = c->z_t;
    if (d->f_of_lambda)
        p.lambda = lambda;
    int code = d->outputs(d->self, &p, a, lambda, y);
    return code == 0 ? BG_OK
                     : bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                                    "system '%s': `outputs` failed with code %d at t = %.17g",
                                    d->name, code, at->t);
}

/* The step along a change: a small part of the size of what it changes. */
static double choose_step(const bg_linearisation *l, const bg_perturbation *c)
{
    double size = fmax(bg_linearisation_calc_size(l, c->delta),
                       bg_linearisation_calc_size(l, c->v));
    for (int i = 0; i < l->nz; i++)
        size = fmax(size, fabs(c->z[i]) / fmax(1e-3, fabs(l->at->z[i])));
    for (int i = 0; i < 3 * l->nu; i++)
        size = fmax(size, fabs(c->u[i]));
    return shift_outputs / fmax(size, 1e-12);
}

/* Column `column` of C or D, of `width` columns. */
static bg_status difference_outputs(bg_linearisation *l, const bg_perturbation *c, int column,
                                    int width, double *out, bg_error *err)
{
    static const double weight[2] = {4.0 / 3, -1.0 / 3};
    double step = choose_step(l, c);
    for (int k = 0; k < l->ny; k++)
        out[k * width + column] = 0;
    for (int wide = 0; wide < 2; wide++) {
        double h = (1 + wide) * step;
        bg_status st = calc_outputs(l, c, h, l->y[0], err);
        if (st == BG_OK)
            st = calc_outputs(l, c, -h, l->y[1], err);
        if (st != BG_OK)
            return st;
        for (int k = 0; k < l->ny; k++)
            out[k * width + column] += weight[wide] * (l->y[0][k] - l->y[1][k]) / (2 * h);
    }
    return BG_OK;
}

bg_status bg_linearisation_calc_jump(bg_linearisation *l, const double *du, double *dy, bool *moves,
                                     bg_error *err)
{
    const bg_perturbation *c;
    bg_status st = bg_linearisation_jump(l, du, &c, err);
    *moves = false;
    for (int i = 0; i < l->nv && st == BG_OK; i++)
        *moves = *moves || c->delta[i] != 0 || c->v[i] != 0;
    return st == BG_OK ? difference_outputs(l, c, 0, 1, dy, err) : st;
}

/* Column `column` of A or B, of `width` columns. */
static void store(const bg_linearisation *l, const bg_perturbation *c, int column, int width,
                  double *out)
{
    const int *I = l->tangent->independent;
    for (int k = 0; k < l->n; k++) {
        out[k * width + column] = c->delta_t[I[k]];
        out[(l->n + k) * width + column] = c->a[I[k]];
    }
    for (int k = 0; k < l->nz; k++)
        out[(2 * l->n + k) * width + column] = c->z_t[k];
}

bg_status bg_linearisation_calc(bg_linearisation *l, double *A, double *B, double *C, double *D,
                                bg_error *err)
{
    const bg_perturbation *c;
    int nx = l->nx, width = 3 * l->nu;
    for (int k = 0; k < nx + width; k++) {
        bool input = k >= nx;
        int column = input ? k - nx : k, columns = input ? width : nx;
        double *rates = input ? B : A, *outputs = input ? D : C;
        if (!rates && !outputs)
            continue;
        bg_status st = bg_linearisation_vary(l, k, &c, err);
        if (st == BG_OK && rates)
            store(l, c, column, columns, rates);
        if (st == BG_OK && outputs && l->ny > 0)
            st = difference_outputs(l, c, column, columns, outputs, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

/* R^T R = S, row by row; false: S is not positive. */
static bool factor_masses(double *S, int n)
{
    for (int k = 0; k < n; k++) {
        double d = S[k * n + k];
        for (int m = 0; m < k; m++)
            d -= S[m * n + k] * S[m * n + k];
        if (!(d > 0))
            return false;
        S[k * n + k] = sqrt(d);
        for (int j = k + 1; j < n; j++) {
            double sum = S[k * n + j];
            for (int m = 0; m < k; m++)
                sum -= S[m * n + k] * S[m * n + j];
            S[k * n + j] = sum / S[k * n + k];
        }
        for (int j = 0; j < k; j++)
            S[k * n + j] = 0;
    }
    return true;
}

bg_status bg_linearisation_calc_masses(const bg_linearisation *l, double *R, bg_error *err)
{
    const bg_tangent *t = l->tangent;
    int n = l->n, nv = l->nv;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < nv; i++)
            l->rhs[i] = t->B[i * n + k];
        bg_matrix_multiply(nv, nv, l->sys->def.pattern_M, l->terms.M, l->rhs, l->work_v);
        for (int m = 0; m < n; m++) {
            double sum = 0;
            for (int i = 0; i < nv; i++)
                sum += t->B[i * n + m] * l->work_v[i];
            R[m * n + k] = sum;
        }
    }
    if (factor_masses(R, n))
        return BG_OK;
    return bg_error_set(err, BG_SINGULAR,
                        "system '%s': a freedom has no mass at t = %.17g, so that nothing says how "
                        "fast it moves",
                        l->sys->def.name, l->at->t);
}

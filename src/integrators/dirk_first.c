/* Newton's iteration of a stage in first-order form (002 section 4, ForSDIRK).
 *
 * The equations of the independent motions are q' = p, v' = a, z' = zeta with p, a and zeta as the
 * unknown slopes of a stage. What depends on them is solved for at each iterate, accelerations and
 * multipliers by the equations of motion there, and
 *
 *     p = v,    a = v'(q, v, z),    zeta = h(q, v, z)
 *
 * are left to Newton's iteration with I - h gamma J, J the Jacobian of these equations. Its first
 * rows give dp = (v - p) + h gamma da; what is left is the matrix (51) of dirk_matrix.c. */
#include "integrators/dirk.h"

#include "math/arrays.h"

#include <math.h>
#include <string.h>

void bg_dirk_begin_first(bg_integrator *ig, double s)
{
    bg_dirk *m = ig->method;
    for (int i = 0; i < m->nv; i++)
        m->p[i] = m->v_base[i] + s * m->a[i] + m->shift[i];
}

/* Splits x into a motion, which stays, and a correction, which is added to y. */
static void split(const bg_dirk *m, double *x, double *y)
{
    for (int i = 0; i < m->nv; i++)
        y[i] += x[i];
    bg_frame_project(&m->frame, x);
    for (int i = 0; i < m->nv; i++)
        y[i] -= x[i];
}

static double calc_size(const bg_dirk *m, double s)
{
    double size = 0;
    for (int i = 0; i < m->nv; i++) {
        double q = s * fabs(m->rest_p[i]) / m->weight[i];
        double v = s * fabs(m->motion[i]) / m->weight[m->nv + i];
        if (isnan(q) || isnan(v))
            return NAN;
        size = fmax(size, fmax(q, v));
    }
    for (int i = 0; i < m->nz; i++) {
        double z = s * fabs(m->psi3[i]) / m->weight[2 * m->nv + i];
        if (isnan(z))
            return z;
        size = fmax(size, z);
    }
    return size;
}

bg_status bg_dirk_iterate_first(bg_integrator *ig, double t, double s, double *size, bg_error *err)
{
    bg_dirk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    ig->count.corrector.fc++;
    ig->count.corrector.fcw++;
    bg_status st = bg_dynamics_accelerate(d, t, m->q, m->v, m->z, ig->x0->mode, 0, m->rest_a,
                                          m->lambda, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < m->nv; i++) {
        m->rest_p[i] = m->v[i] - m->p[i];
        m->rest_a[i] -= m->a[i];
    }
    for (int i = 0; i < m->nz; i++)
        m->psi3[i] = d->terms.h[i] - m->zeta[i];
    split(m, m->rest_p, m->p);
    split(m, m->rest_a, m->a);
    bg_dirk_matrix_filter(ig, m->rest_p, m->rest_a, m->psi3, m->motion);
    for (int i = 0; i < m->nv; i++) {
        m->p[i] += m->rest_p[i];
        m->a[i] += m->psi1[i];
    }
    for (int i = 0; i < m->ng; i++)
        m->lambda[i] += m->psi2[i];
    for (int i = 0; i < m->nz; i++)
        m->zeta[i] += m->psi3[i];
    *size = calc_size(m, s);
    return BG_OK;
}

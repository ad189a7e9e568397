/* What rounding does to the steps of bdf near singular positions.
 *
 * Let sigma be the least singular value of G, in sizes of rows and coordinates: the distance from
 * the singular position, more or less. Places that are rounded by d move q, in the direction r that
 * the constraints hardly hold, by d/sigma, and v by d/sigma^2, since F3 = G(q) v + g_t changes with
 * q. Newton's increments then stall at that, however exact the matrix, and steps that are shorter
 * make it no better: near the position they are the same for all lengths. But rounding goes no
 * further. The rows F3 and F4 say nothing of the motion itself, along the null space of G; F1, F2
 * and Fz do, and what they ask for,
 *     d = d_m + d_c,   d_m = -J^-1 (F1, F2, Fz, 0, 0),   d_c = -J^-1 (0, 0, 0, F3, F4),
 * converges as ever. lambda and eta take up what r lacks in F2 and F1, so that the momentum along
 * the motion does not see it; and as soon as the position is behind, the constraints hold r again.
 *
 * So an iteration that stalls has converged, if its matrix has G of the step itself, if d_m has by
 * the usual measure, and if d_c is no more than
 *     N = |J^-1 (0, 0, 0, dF3, dF4)|
 * for residuals dF of a few units in the last place of places and of G v, with signs drawn at
 * random (the mean of squares is that of all of J^-1, so that the largest of three draws is hardly
 * ever much too small); and if N is so small beside the state that its square, by which it would
 * enter energies, is below the tolerance. What it came to is remembered as rounding (rounding.h).
 *
 * What such steps leave in r is in the differences, which magnify it by up to 2^(k+1), and before
 * the position is known, old matrices leave more. Neither is an error of the steps that follow:
 * they are on the constraints to N, and errors across these that no step can mend must not make
 * steps short. Near such a position, and until the differences have forgotten it, errors are
 * measured along the motion, without J^-1 (0, 0, 0, G x_v + w_q x_q, G x_q) of a difference x, and
 * G is taken anew at every step. */
#include "consistent/projection.h"
#include "integrators/bdf.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 3 };
static const double places = 2;     /* last ones, of residuals */
static const double draws_miss = 4; /* of the largest of the draws: what is rounding */
static const double most_second =
    0.33; /* of the tolerance, that rounding squared may leave in the motion */
static const double noticeable = 0.01;  /* of the tolerance */
static const double before_cross = 0.4; /* of a step over the position, which is twice that long */

static void exchange(bg_bdf *m)
{
    bg_bdf_residual F = m->F;
    m->F = m->other;
    m->other = F;
}

static void clear_motion(bg_bdf *m)
{
    memset(m->F.F1, 0, (size_t)m->nv * sizeof(double));
    memset(m->F.F2, 0, (size_t)m->nv * sizeof(double));
    memset(m->F.Fz, 0, (size_t)m->nz * sizeof(double));
}

/* sum_j |G_ij v_j| of the matrix's G. */
static double calc_speed(const bg_integrator *ig, int i)
{
    const bg_bdf *m = ig->method;
    const bg_pattern *p = ig->sys->def.pattern_G;
    int begin = p ? p->row_start[i] : i * m->nv, end = p ? p->row_start[i + 1] : begin + m->nv;
    double sum = 0;
    for (int k = begin; k < end; k++)
        sum += fabs(m->parts.G[k] * ig->x1->v[p ? p->column[k] : k - begin]);
    return sum;
}

/* N of the matrix at hand, with the increments of its last draw. */
static double calc_noise(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const double *size = ig->sys->def.g_size;
    const double place = places * bg_project_calc_last_place(ig->dyn);
    unsigned draw = 1;
    double largest = 0;
    exchange(m);
    clear_motion(m);
    for (int k = 0; k < DRAWS; k++) {
        for (int i = 0; i < m->ng; i++) {
            double sign[2];
            for (int j = 0; j < 2; j++) {
                draw = draw * 1664525u + 1013904223u;
                sign[j] = ig->dyn->eliminated[i] ? 0 : draw >> 31 ? 1 : -1;
            }
            m->F.F3[i] = sign[0] * place * calc_speed(ig, i);
            m->F.F4[i] = sign[1] * place * (size ? size[i] : 1);
        }
        bg_bdf_matrix_solve(ig);
        double x = bg_bdf_calc_norm(ig, m->step_q, m->step_v, m->step_z);
        if (!(x <= largest))
            largest = x;
    }
    exchange(m);
    return largest;
}

/* The size of what the equations of motion still ask for. */
static double calc_motion(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    exchange(m);
    memcpy(m->F.F1, m->other.F1, (size_t)m->nv * sizeof(double));
    memcpy(m->F.F2, m->other.F2, (size_t)m->nv * sizeof(double));
    memcpy(m->F.Fz, m->other.Fz, (size_t)m->nz * sizeof(double));
    memset(m->F.F3, 0, (size_t)m->ng * sizeof(double));
    memset(m->F.F4, 0, (size_t)m->ng * sizeof(double));
    bg_bdf_matrix_solve(ig);
    exchange(m);
    return bg_bdf_calc_norm(ig, m->step_q, m->step_v, m->step_z);
}

/* The largest entry of an increment, of q beside sizes and of v beside the largest speed. */
static double calc_relative(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    const double *size = ig->sys->def.v_size;
    double place = 0, change = 0, speed = 0;
    for (int i = 0; i < m->nv; i++) {
        double own = size ? size[i] : 1;
        place = fmax(place, fabs(m->step_q[i]) / own);
        change = fmax(change, fabs(m->step_v[i]) / own);
        speed = fmax(speed, fabs(ig->x1->v[i]) / own);
    }
    return fmax(place, change > 0 ? change / speed : 0);
}

static bool has_rounding(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    return m->ng > 0 && m->current && m->form != BG_FORM_INDEX_1 && ig->options.step == 0 &&
           !ig->sys->system->tree;
}

bool bg_bdf_is_rounding(bg_integrator *ig, double size, double kappa)
{
    bg_bdf *m = ig->method;
    if (!has_rounding(ig))
        return false;
    const double tolerance = fmax(ig->options.rtol, ig->options.atol);
    const double relative = calc_relative(ig), noise = calc_noise(ig);
    /* of the iterate, of which the last increment shows no more than a part */
    const double second = fmin(most_second, noise * noise * relative / size);
    bool rounding = relative <= sqrt(tolerance) && size <= draws_miss * noise &&
                    calc_motion(ig) <= fmax(kappa, second);
    bg_bdf_matrix_solve(ig); /* the increment itself again */
    if (rounding)
        m->noise = size;
    return rounding;
}

/* N where it comes near to the tolerance, else 0. */
static double calc_weakness(bg_integrator *ig)
{
    double noise = has_rounding(ig) ? calc_noise(ig) : 0;
    return noise > noticeable ? noise : 0;
}

/* N goes with the distance to the power of -2: two of them tell when the position is reached. */
static void foresee_cross(bg_bdf_history *x, double t, double noise)
{
    double rest = 1 / sqrt(noise), before = x->rest, span = t - x->t_rest;
    x->t_cross = rest < before && span > 0 ? t + rest * span / (before - rest) : NAN;
    x->rest = rest;
    x->t_rest = t;
}

bool bg_bdf_look_along(bg_integrator *ig, double error)
{
    bg_bdf *m = ig->method;
    bg_bdf_history *x = &m->next;
    const bool before = x->weak > 0;
    double noise = before || error > 1 || m->noise > 0 ? calc_weakness(ig) : 0;
    if (noise > 0) {
        x->rest = before ? x->rest : 0;
        foresee_cross(x, ig->x1->t, noise);
    } else {
        x->t_cross = NAN;
    }
    if (before && noise < x->noise && x->weak > 1) {
        x->weak--;
    } else {
        x->noise = noise;
        x->weak = noise > 0 ? m->formula.k + 2 : 0;
    }
    m->allowance = x->weak > 0 ? draws_miss * ldexp(x->noise, m->formula.k + 1) : 0;
    return x->weak > 0;
}

double bg_bdf_straddle(bg_integrator *ig, double h)
{
    bg_bdf_history *x = &((bg_bdf *)ig->method)->next;
    double left = x->weak > 0 ? x->t_cross - ig->x1->t : NAN, over = x->h_over;
    x->h_over = 0;
    if (over > 0 && left > 0) /* what follows a short one */
        return fmin(over, fmax(2 * left, 0.5 * over));
    if (left > 0 && left < 2 * h)
        h = fmin(h, ig->h); /* the step over the position should not fail */
    if (left > 0.25 * h && left <= 0.5 * h)
        return 2 * left;
    if (!(left > 0.75 * h && left < 1.4 * h))
        return h;
    x->h_over = h;
    return left - before_cross * h;
}

/* Takes the part across the constraints out of a vector [nv nv] of q (tangent) and v. */
static void take_motion(bg_integrator *ig, double *x)
{
    bg_bdf *m = ig->method;
    const bg_pattern *w = bg_system_get_pattern(ig->sys->system, BG_OF_w, BG_BY_q),
                     *G = ig->sys->def.pattern_G;
    exchange(m);
    clear_motion(m);
    bg_matrix_multiply(m->ng, m->nv, G, m->parts.G, x, m->F.F4);
    bg_matrix_multiply(m->ng, m->nv, G, m->parts.G, x + m->nv, m->F.F3);
    memset(m->step_lambda, 0, (size_t)m->ng * sizeof(double));
    if (m->form != BG_FORM_INDEX_3)
        bg_matrix_multiply(m->ng, m->nv, w, bg_jacobian_get(&m->parts.B, BG_OF_w, BG_BY_q)->values,
                           x, m->step_lambda);
    for (int i = 0; i < m->ng; i++) {
        m->F.F3[i] = ig->dyn->eliminated[i] ? 0 : m->F.F3[i] + m->step_lambda[i];
        m->F.F4[i] = ig->dyn->eliminated[i] ? 0 : m->F.F4[i];
    }
    bg_bdf_matrix_solve(ig);
    exchange(m);
    for (int i = 0; i < m->nv; i++) {
        x[i] += m->step_q[i];
        x[m->nv + i] += m->step_v[i];
    }
}

void bg_bdf_forgive(bg_integrator *ig, double *x)
{
    bg_bdf *m = ig->method;
    take_motion(ig, x); /* step_q and step_v are what was added */
    memset(m->step_z, 0, (size_t)m->nz * sizeof(double));
    double across = bg_bdf_calc_norm(ig, m->step_q, m->step_v, m->step_z);
    double stays = across > m->allowance ? 1 - m->allowance / across : 0;
    for (int i = 0; i < m->nv; i++) {
        x[i] -= stays * m->step_q[i];
        x[m->nv + i] -= stays * m->step_v[i];
    }
}

/* Steps limited by stability.
 *
 * The last two stages of a pair are at the same time; with Dormand-Prince 5(4)
 *     rho = |Y7' - Y6'| / |Y7 - Y6|
 * estimates the largest eigenvalue of the Jacobian in stiff steps, where Y7 - Y6 points along its
 * eigenvector (Hairer and Wanner 1996, IV.2); of the index-1 form the parts of v and z along the
 * constraints are compared, since only stage 7 is projected. As there, h rho > 3.25, which is the
 * end of the stability region on the negative axis, in 15 steps that are not interrupted by 6
 * others makes a suspicion. The form of second order is not normal, and rho may be far too large; a
 * suspicion is therefore proved by a power iteration on the Jacobian of the index-1 form, with
 * difference quotients, in tangent vectors (delta, w, zeta) of (q, v, z): delta <- w,   w <-
 * dv'(delta, w, zeta),   zeta <- dz'(delta, w, zeta), delta and w projected onto G w = 0, because
 * off the constraints the form has eigenvalues of its own near singular positions. The mean growth
 * of the last half of the iteration is |lambda|, and steps with h |lambda| above 2.5 are limited by
 * stability: accuracy would allow no oscillation such steps. Where another method may take over
 * (automatic.c) the proof is tried without a suspicion, too, after 64, 128, 256, ... steps: rho may
 * be too small as well. Steps may also be shorter than stability asks for although the motion is
 * smooth: stages that leave the constraints are pulled back by the stiff force. Where h |lambda| is
 * above a half and the rates change a hundred times less in a step than the fastest motion would
 * make them, that motion is not what is followed, and the other method takes over, too. Of the
 * parts of the system (force elements) the fastest is the one whose force changes along the
 * iteration's last vector do most work on the accelerations they cause. */
#include "integrators/trouble.h"
#include "math/arrays.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { EVERY = 8, SUSPECT = 15, CALM = 6, ITERATIONS = 24, FIRST_LOOK = 64 };
static const double shift = 1e-6;
static const double fast = 0.5, smooth = 0.01; /* h |lambda|; change of rates beside that */

/* What one is in positions, velocities and states, so that tangent vectors have a size. */
typedef struct units {
    double q, v, z;
} units;

static units calc_units(const bg_integrator *ig, const bg_state *x, double h)
{
    const bg_dynamics *d = ig->dyn;
    double a = bg_find_largest(x->a, d->nv);
    return (units){fmax(bg_find_largest(x->q, d->nq), 1e-6),
                   fmax(bg_find_largest(x->v, d->nv), fmax(h * a, 1e-6)),
                   fmax(bg_find_largest(x->z, d->nz), 1e-6)};
}

static double calc_size(const bg_integrator *ig, const double *x, units u)
{
    int nv = ig->dyn->nv, nz = ig->dyn->nz;
    return fmax(bg_find_largest(x, nv) / u.q,
                fmax(bg_find_largest(x + nv, nv) / u.v, bg_find_largest(x + 2 * nv, nz) / u.z));
}

/* Takes the part across the constraints out of a velocity, with the matrix at hand. */
static void keep_tangent(bg_dynamics *d, double *w)
{
    if (d->ng == 0)
        return;
    bg_matrix_multiply(d->ng, d->nv, d->sys->def.pattern_G, d->terms.G, w, d->work_g);
    memset(d->work_v, 0, (size_t)d->nv * sizeof(double));
    bg_kkt_solve(d->kkt, d->work_v, d->work_g);
    for (int i = 0; i < d->nv; i++)
        w[i] -= d->work_v[i];
}

/* out <- the state moved by factor along tangent x; V is that of the state. */
static void move(bg_integrator *ig, const bg_state *from, const double *V, double factor,
                 const double *x, double *out)
{
    int nq = ig->dyn->nq, nv = ig->dyn->nv, nz = ig->dyn->nz;
    bg_system_move(ig->sys, from->q, V, factor, x, out);
    for (int i = 0; i < nv; i++)
        out[nq + i] = from->v[i] + factor * x[nv + i];
    for (int i = 0; i < nz; i++)
        out[nq + nv + i] = from->z[i] + factor * x[2 * nv + i];
}

/* One application of the Jacobian at the state, whose rates are a0: y <- J x. */
static bool apply_jacobian(bg_integrator *ig, const bg_state *from, double size)
{
    bg_trouble *m = ig->trouble;
    bg_dynamics *d = ig->dyn;
    double factor = shift / size;
    bg_terms terms = d->terms; /* V of the state itself */
    if (d->kinematic && bg_dynamics_evaluate(d, from->t, from->q, from->v, from->z, ig->x0->mode,
                                             BG_TERM_V, NULL) != BG_OK)
        return false;
    move(ig, from, terms.V, factor, m->x, m->state[0]);
    if (!bg_trouble_calc_rates(ig, from->t, m->state[0], m->a1))
        return false;
    memcpy(m->y, m->x + d->nv, (size_t)d->nv * sizeof(double));
    for (int i = 0; i < d->nv + d->nz; i++)
        m->y[d->nv + i] = (m->a1[i] - m->a0[i]) / factor;
    keep_tangent(d, m->y);
    keep_tangent(d, m->y + d->nv);
    return true;
}

/* share[k] += factor * force of part k on the motion, where the parts were placed last. */
static void add_shares(bg_integrator *ig, double factor)
{
    bg_trouble *m = ig->trouble;
    const bg_parts *parts = &ig->sys->system->parts;
    for (int k = 0; k < parts->count; k++) {
        double power = 0;
        parts->calc_force(ig->sys->def.self, k, m->force);
        for (int i = 0; i < parts->width; i++)
            power += m->force[i] * m->motion[i];
        m->share[k] += factor * power;
    }
}

/* The part whose force changes most along x, measured by its work on w = J x; else the coordinate
 * that moves most. x and y = J x are at hand, state[0] is the state moved along x. */
static bg_culprit find_fastest(bg_integrator *ig, const bg_state *from, units u)
{
    bg_trouble *m = ig->trouble;
    const bg_parts *parts = &ig->sys->system->parts;
    int nq = ig->dyn->nq, nv = ig->dyn->nv, nz = ig->dyn->nz;
    bg_culprit coordinate = {'v', 0};
    for (int i = 0; i < nv; i++)
        if (fabs(m->y[nv + i]) > fabs(m->y[nv + coordinate.index]))
            coordinate.index = i;
    double most = fabs(m->y[nv + coordinate.index]) / u.v;
    for (int i = 0; i < nz; i++)
        if (fabs(m->y[2 * nv + i]) / u.z > most) {
            most = fabs(m->y[2 * nv + i]) / u.z;
            coordinate = (bg_culprit){'z', i};
        }
    if (parts->count == 0 || coordinate.kind == 'z')
        return coordinate;
    /* the motion that belongs to w: that of v + w less that of v */
    memcpy(m->state[1], from->q, (size_t)(nq + nv + nz) * sizeof(double));
    if (!bg_trouble_place(ig, from->t, m->state[1], m->force))
        return coordinate;
    double unit = u.v / fmax(bg_find_largest(m->y + nv, nv), 1e-300);
    for (int i = 0; i < nv; i++)
        m->state[1][nq + i] += unit * m->y[nv + i];
    bg_trouble_place(ig, from->t, m->state[1], m->motion);
    for (int i = 0; i < parts->width; i++)
        m->motion[i] -= m->force[i];
    memset(m->share, 0, (size_t)parts->count * sizeof(double));
    bg_trouble_place(ig, from->t, from->q, NULL);
    add_shares(ig, -1);
    bg_trouble_place(ig, from->t, m->state[0], NULL);
    add_shares(ig, 1);
    int best = 0;
    double sum = 0;
    for (int k = 0; k < parts->count; k++) {
        sum += fabs(m->share[k]);
        best = m->share[k] > m->share[best] ? k : best;
    }
    return m->share[best] > 0.2 * sum ? (bg_culprit){'p', best} : coordinate;
}

/* |lambda| of the fastest motion at the state x, 1/s, and what is behind it; 0: not found. */
static double calc_fastest(bg_integrator *ig, const bg_state *from, double h, bg_culprit *culprit)
{
    bg_trouble *m = ig->trouble;
    int nv = ig->dyn->nv, nz = ig->dyn->nz;
    units u = calc_units(ig, from, h);
    double sum = 0;
    if (!bg_trouble_calc_rates(ig, from->t, from->q, m->a0))
        return 0;
    for (int i = 0; i < 2 * nv + nz; i++)
        m->x[i] = i < nv ? 0 : (i % 2 ? -1 : 1) * (1 + 0.1 * (i % 7)) * (i < 2 * nv ? u.v : u.z);
    keep_tangent(ig->dyn, m->x + nv);
    for (int k = 0; k < ITERATIONS; k++) {
        double size = calc_size(ig, m->x, u);
        if (!(size > 0) || !isfinite(size) || !apply_jacobian(ig, from, size))
            return 0;
        double growth = calc_size(ig, m->y, u) / size;
        if (!(growth > 0))
            return 0;
        sum += k >= ITERATIONS / 2 ? log(growth) : 0;
        if (k + 1 == ITERATIONS)
            *culprit = find_fastest(ig, from, u);
        for (int i = 0; i < 2 * nv + nz; i++)
            m->x[i] = m->y[i] / (size * growth);
    }
    double rate = exp(2 * sum / ITERATIONS);
    return isfinite(rate) ? rate : 0;
}

/* |a - b| of velocities and states, or of their rates, along the constraints; b NULL: |a|. */
static double calc_tangent_size(bg_integrator *ig, const double *a, const double *b)
{
    bg_dynamics *d = ig->dyn;
    int n = d->nv + d->nz; /* v and z lie together */
    double *x = ig->work_n;
    for (int i = 0; i < n; i++)
        x[i] = a[d->nq + i] - (b ? b[d->nq + i] : 0);
    keep_tangent(d, x);
    return bg_norm_calc(ig, n, x, ig->x0->v, ig->x1->v);
}

/* Whether the step from x0 to x1 followed a motion far slower than the fastest one. */
static bool is_smooth(bg_integrator *ig, double h_rate)
{
    double change = calc_tangent_size(ig, ig->rate1, ig->rate0);
    return change < smooth * h_rate * calc_tangent_size(ig, ig->rate1, NULL);
}

void bg_stiffness_search(bg_integrator *ig, const bg_state *x, double h)
{
    bg_trouble *m = ig->trouble;
    bg_culprit culprit = {0};
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE); /* no work of the method */
    double rate = calc_fastest(ig, x, h, &culprit);
    bg_trouble_wait_longer(ig, &m->stiff_patience);
    bool proved = h * rate > m->proved ||
                  (ig->automatic && x == ig->x1 && h * rate > fast && is_smooth(ig, h * rate));
    bg_system_turn_to(ig->sys, before);
    if (!proved)
        return;
    if (!m->stiff)
        m->t_stiff = x->t;
    if (rate > m->rate) {
        m->rate = rate;
        m->fastest = culprit;
    }
    m->limited += m->stiff ? 0 : SUSPECT;
    m->stiff = true;
}

void bg_trouble_watch_step(bg_integrator *ig, const double *y, const double *rate)
{
    bg_trouble *m = ig->trouble;
    if (ig->automatic && !m->stiff && ig->count.accepted >= m->next_look) {
        m->next_look = 2 * ig->count.accepted > FIRST_LOOK ? 2 * ig->count.accepted : FIRST_LOOK;
        if (ig->count.accepted >= FIRST_LOOK)
            bg_stiffness_search(ig, ig->x1, ig->h);
    }
    if (m->suspect == 0 && ig->count.accepted % EVERY != 0)
        return;
    double distance = calc_tangent_size(ig, ig->x1->q, y);
    double change = calc_tangent_size(ig, ig->rate1, rate);
    if (ig->h * change > m->looks * distance) {
        m->suspect += m->suspect < INT_MAX / 2;
        m->calm = 0;
        m->limited += m->stiff;
    } else if (m->suspect > 0 && ++m->calm == CALM) {
        m->suspect = m->calm = 0;
    }
    if (m->suspect >= SUSPECT && ig->count.accepted >= m->stiff_patience.next) {
        m->suspect = 1;
        bg_stiffness_search(ig, ig->x1, ig->h);
    }
}

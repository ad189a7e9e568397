/* Why steps are short: steps limited by stability, and laws that jump.
 *
 * Stiffness. The last two stages of a pair are at the same time; with Dormand-Prince 5(4)
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
 * stability: accuracy would allow no oscillation such steps. Of the parts of the system (force
 * elements) the fastest is the one whose force changes along the iteration's last vector do most
 * work on the accelerations they cause.
 *
 * Jumps. Where steps are rejected again and again, the segment from the beginning of the attempt to
 * its end, and the tangent, is halved twenty times, always towards the half with the larger change
 * of v' and z'. A change that is still there after that, a millionth of the segment apart, and was
 * the same in the last five halvings, and is one of forces or laws of constraints, is a jump; on
 * segments of attempts that went astray, across poles or many turns, it is another one each time.
 *
 * Tests that find nothing are repeated after ever more steps, so that they cost nothing in runs
 * without trouble. They leave the counters of work as they are. */
#include "integrators/trouble.h"

#include "base/memory.h"
#include "integrators/change_points.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY = 8, SUSPECT = 15, CALM = 6, ITERATIONS = 24, WINDOW = 32, MANY = 100 };
enum { HALVINGS = 20, SAME = 5 };
static const long longest_wait = 1L << 40; /* accepted steps */
static const double still_there = 0.3, same = 1.1, shift = 1e-6;

bg_status bg_trouble_create(bg_integrator *ig, bg_error *err)
{
    const bg_dynamics *d = ig->dyn;
    const bg_parts *parts = &ig->sys->system->parts;
    size_t tangent = (size_t)(2 * d->nv + d->nz), rates = (size_t)(d->nv + d->nz);
    size_t n = (size_t)ig->n, width = (size_t)parts->width;
    size_t total = 2 * tangent + 3 * rates + 3 * n + (size_t)d->ng + 2 * width +
                   (size_t)parts->count;
    bg_trouble *x = BG_NEW(bg_trouble);
    ig->trouble = x;
    double *next = x ? x->memory = BG_NEW_ARRAY(double, total) : NULL;
    if (!next)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the search for stiffness");
    x->x = next;
    x->y = next += tangent;
    x->a0 = next += tangent;
    x->a1 = next += rates;
    x->a2 = next += rates;
    x->state[0] = next += rates;
    x->state[1] = next += n;
    x->state[2] = next += n;
    x->lambda = next += n;
    x->motion = next += d->ng;
    x->force = next += width;
    x->share = next + width;
    x->stiff_patience = x->jump_patience = (bg_patience){0, WINDOW};
    return BG_OK;
}

void bg_trouble_set_limits(bg_integrator *ig, double looks, double proved)
{
    ig->trouble->looks = looks;
    ig->trouble->proved = proved;
}

void bg_trouble_destroy(bg_trouble *x)
{
    if (x)
        free(x->memory);
    free(x);
}

static int count_culprits(const bg_integrator *ig, char kind)
{
    return kind == 'p' ? ig->sys->system->parts.count : kind == 'v' ? ig->dyn->nv : ig->dyn->nz;
}

static void archive_culprit(const bg_integrator *ig, bg_culprit *c, bg_archive *archive)
{
    bg_archive_bytes(archive, &c->kind, 1);
    if (c->kind != 0 && c->kind != 'p' && c->kind != 'v' && c->kind != 'z')
        archive->failed = true;
    bg_archive_whole(archive, &c->index, 1, 0, c->kind ? count_culprits(ig, c->kind) - 1 : 0);
    if (archive->failed)
        *c = (bg_culprit){0};
}

void bg_trouble_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_trouble *x = ig->trouble;
    bg_archive_whole(archive, &x->suspect, 1, 0, INT_MAX / 2);
    bg_archive_whole(archive, &x->calm, 1, 0, INT_MAX / 2);
    long *const counts[] = {&x->limited,
                            &x->jumps,
                            &x->stiff_patience.next,
                            &x->stiff_patience.wait,
                            &x->jump_patience.next,
                            &x->jump_patience.wait,
                            &x->accepted,
                            &x->rejected};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        bg_archive_counts(archive, counts[i], 1);
    double numbers[] = {x->rate, x->t_stiff, x->t_jump};
    int found = x->stiff + 2 * x->jump;
    bg_archive_doubles(archive, numbers, 3);
    bg_archive_ints(archive, &found, 1);
    archive_culprit(ig, &x->fastest, archive);
    archive_culprit(ig, &x->jumping, archive);
    if (!archive->loading || archive->failed)
        return;
    x->rate = numbers[0];
    x->t_stiff = numbers[1];
    x->t_jump = numbers[2];
    x->stiff = (found & 1) != 0 && x->fastest.kind;
    x->jump = (found & 2) != 0 && x->jumping.kind;
}

/* v' and z' at a point given as y. */
static bool calc_rates(bg_integrator *ig, double t, const double *y, double *out)
{
    bg_dynamics *d = ig->dyn;
    const double *v = y + d->nq, *z = v + d->nv;
    if (bg_dynamics_accelerate(d, t, y, v, z, ig->x0->mode, 0, out, ig->trouble->lambda, NULL) !=
        BG_OK)
        return false;
    memcpy(out + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return true;
}

static double find_largest(const double *x, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* What one is in positions, velocities and states, so that tangent vectors have a size. */
typedef struct units {
    double q, v, z;
} units;

static units calc_units(const bg_integrator *ig, const bg_state *x, double h)
{
    const bg_dynamics *d = ig->dyn;
    double a = find_largest(x->a, d->nv);
    return (units){fmax(find_largest(x->q, d->nq), 1e-6),
                   fmax(find_largest(x->v, d->nv), fmax(h * a, 1e-6)),
                   fmax(find_largest(x->z, d->nz), 1e-6)};
}

static double calc_size(const bg_integrator *ig, const double *x, units u)
{
    int nv = ig->dyn->nv, nz = ig->dyn->nz;
    return fmax(find_largest(x, nv) / u.q,
                fmax(find_largest(x + nv, nv) / u.v, find_largest(x + 2 * nv, nz) / u.z));
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
    if (!calc_rates(ig, from->t, m->state[0], m->a1))
        return false;
    memcpy(m->y, m->x + d->nv, (size_t)d->nv * sizeof(double));
    for (int i = 0; i < d->nv + d->nz; i++)
        m->y[d->nv + i] = (m->a1[i] - m->a0[i]) / factor;
    keep_tangent(d, m->y);
    keep_tangent(d, m->y + d->nv);
    return true;
}

/* Places the system's parts at y; false: its inputs cannot be evaluated. */
static bool place(bg_integrator *ig, double t, const double *y, double *motion)
{
    bg_point p;
    const double *v = y + ig->dyn->nq, *z = v + ig->dyn->nv;
    if (bg_system_set_point(ig->sys, t, y, v, z, ig->x0->mode, &p, NULL) != BG_OK)
        return false;
    ig->sys->system->parts.place(ig->sys->def.self, &p, motion);
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
    if (!place(ig, from->t, m->state[1], m->force))
        return coordinate;
    double unit = u.v / fmax(find_largest(m->y + nv, nv), 1e-300);
    for (int i = 0; i < nv; i++)
        m->state[1][nq + i] += unit * m->y[nv + i];
    place(ig, from->t, m->state[1], m->motion);
    for (int i = 0; i < parts->width; i++)
        m->motion[i] -= m->force[i];
    memset(m->share, 0, (size_t)parts->count * sizeof(double));
    place(ig, from->t, from->q, NULL);
    add_shares(ig, -1);
    place(ig, from->t, m->state[0], NULL);
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
    if (!calc_rates(ig, from->t, from->q, m->a0))
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

static void wait_longer(const bg_integrator *ig, bg_patience *p)
{
    p->next = ig->count.accepted + p->wait;
    if (p->wait < longest_wait)
        p->wait *= 2;
}

static void search_stiffness(bg_integrator *ig, const bg_state *x, double h)
{
    bg_trouble *m = ig->trouble;
    bg_culprit culprit = {0};
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE); /* no work of the method */
    double rate = calc_fastest(ig, x, h, &culprit);
    bg_system_turn_to(ig->sys, before);
    wait_longer(ig, &m->stiff_patience);
    if (!(h * rate > m->proved))
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

/* |a - b| of velocities and states, or of their rates, along the constraints. */
static double calc_tangent_distance(bg_integrator *ig, const double *a, const double *b)
{
    bg_dynamics *d = ig->dyn;
    int n = d->nv + d->nz; /* v and z lie together */
    double *x = ig->work_n;
    for (int i = 0; i < n; i++)
        x[i] = a[d->nq + i] - b[d->nq + i];
    keep_tangent(d, x);
    return bg_norm_calc(ig, n, x, ig->x0->v, ig->x1->v);
}

void bg_trouble_watch_step(bg_integrator *ig, const double *y, const double *rate)
{
    bg_trouble *m = ig->trouble;
    if (m->suspect == 0 && ig->count.accepted % EVERY != 0)
        return;
    double distance = calc_tangent_distance(ig, ig->x1->q, y);
    double change = calc_tangent_distance(ig, ig->rate1, rate);
    if (ig->h * change > m->looks * distance) {
        m->suspect += m->suspect < INT_MAX / 2;
        m->calm = 0;
        m->limited += m->stiff;
    } else if (m->suspect > 0 && ++m->calm == CALM) {
        m->suspect = m->calm = 0;
    }
    if (m->suspect >= SUSPECT && ig->count.accepted >= m->stiff_patience.next) {
        m->suspect = 1;
        search_stiffness(ig, ig->x1, ig->h);
    }
}

/* The largest change of v' and z' between two points, in units of the tolerance of a step. */
static double calc_change(const bg_integrator *ig, const double *a, const double *b, int *which)
{
    int nv = ig->dyn->nv, nz = ig->dyn->nz;
    const double *x0 = ig->x0->v, *x1 = ig->x1->v; /* v and z lie together */
    double most = 0;
    for (int i = 0; i < nv + nz; i++) {
        double weight = ig->options.rtol * fmax(fabs(x0[i]), fabs(x1[i])) + ig->options.atol;
        double change = fabs(b[i] - a[i]) / weight;
        if (change > most) {
            most = change;
            *which = i;
        }
    }
    return most;
}

/* Halves the segment state[0] .. state[1] of times t[] towards the larger change. */
static bool halve(bg_integrator *ig, double t[2], double *change, int *which)
{
    bg_trouble *m = ig->trouble;
    double middle = 0.5 * (t[0] + t[1]);
    int other = 0;
    for (int i = 0; i < ig->n; i++)
        m->state[2][i] = 0.5 * (m->state[0][i] + m->state[1][i]);
    if (!calc_rates(ig, middle, m->state[2], m->a2))
        return false;
    double first = calc_change(ig, m->a0, m->a2, which);
    double second = calc_change(ig, m->a2, m->a1, &other);
    int end = first >= second; /* the end that moves */
    double *state = m->state[end], **a = end ? &m->a1 : &m->a0, *swap = *a;
    m->state[end] = m->state[2];
    m->state[2] = state;
    *a = m->a2;
    m->a2 = swap;
    t[end] = middle;
    *change = fmax(first, second);
    *which = end ? *which : other;
    return true;
}

/* The part whose force changes most from state[0] to state[1], else the coordinate. */
static bg_culprit find_jumping(bg_integrator *ig, const double t[2], int which)
{
    bg_trouble *m = ig->trouble;
    const bg_parts *parts = &ig->sys->system->parts;
    bg_culprit best = which < ig->dyn->nv ? (bg_culprit){'v', which}
                                          : (bg_culprit){'z', which - ig->dyn->nv};
    double most = 0;
    for (int k = 0; k < parts->count; k++) {
        double change = 0;
        if (!place(ig, t[0], m->state[0], NULL))
            return best;
        parts->calc_force(ig->sys->def.self, k, m->motion);
        place(ig, t[1], m->state[1], NULL);
        parts->calc_force(ig->sys->def.self, k, m->force);
        for (int i = 0; i < parts->width; i++)
            change += fabs(m->force[i] - m->motion[i]);
        if (change > most) {
            most = change;
            best = (bg_culprit){'p', k};
        }
    }
    return best;
}

/* Whether the ends of what is left of the segment are so near each other that a smooth v' would be
 * the same at both: not so where an attempt went astray by many turns. */
static bool is_short(const bg_integrator *ig)
{
    static const double near = 1e-3; /* of what is a large displacement */
    const bg_trouble *m = ig->trouble;
    const bg_system_def *def = &ig->sys->def;
    for (int i = 0; i < def->nq; i++) {
        double size = def->v_size && def->nq == def->nv ? def->v_size[i] : 1;
        if (!(fabs(m->state[1][i] - m->state[0][i]) <= near * size))
            return false;
    }
    return true;
}

/* Whether forces or gamma jump with the accelerations between the ends of what is left of the
 * segment, a0 and a1 there: M da + G^T dl = df and G da = -dgamma, so that da M da = da df, unless
 * gamma is another one. Near a singular position accelerations change by next to nothing in either.
 */
static bool is_by_law(bg_integrator *ig, const double t[2])
{
    bg_trouble *m = ig->trouble;
    bg_dynamics *d = ig->dyn;
    double *da = m->x, *f = m->y, gamma[2] = {0, 0}, by_force = 0, whole = 0;
    for (int end = 0; end < 2 && d->ng > 0; end++) {
        if (!calc_rates(ig, t[end], m->state[end], end ? m->a1 : m->a0))
            return false;
        for (int i = 0; i < d->ng; i++)
            gamma[end] += fabs(d->terms.gamma[i]);
        for (int i = 0; i < d->nv; i++)
            f[i] = d->terms.f[i] - (end ? f[i] : 0);
    }
    for (int i = 0; i < d->nv; i++)
        da[i] = m->a1[i] - m->a0[i];
    if (bg_dynamics_complete_M(d, NULL) != BG_OK)
        return false;
    if (d->ng > 0)
        bg_matrix_multiply(d->nv, d->nv, ig->sys->def.pattern_M, d->terms.M, da, d->work_v);
    for (int i = 0; i < d->nv && d->ng > 0; i++) {
        by_force += da[i] * f[i];
        whole += da[i] * d->work_v[i];
    }
    return by_force >= 0.5 * whole || fabs(gamma[1] - gamma[0]) > 1e-3 * fmax(gamma[0], gamma[1]);
}

/* Whether v' or z' jumps on the way from x0 to `end`. */
static bool search_segment(bg_integrator *ig, const double *end)
{
    bg_trouble *m = ig->trouble;
    double t[2] = {ig->x0->t, ig->x1->t};
    int which = 0;
    memcpy(m->state[0], ig->x0->q, (size_t)ig->n * sizeof(double));
    memcpy(m->state[1], end, (size_t)ig->n * sizeof(double));
    bool good = calc_rates(ig, t[0], m->state[0], m->a0) &&
                calc_rates(ig, t[1], m->state[1], m->a1);
    double first = good ? calc_change(ig, m->a0, m->a1, &which) : 0, change = first;
    double least = INFINITY, most = 0;
    for (int k = 0; k < HALVINGS && good; k++) {
        good = halve(ig, t, &change, &which);
        least = k >= HALVINGS - SAME ? fmin(least, change) : least;
        most = k >= HALVINGS - SAME ? fmax(most, change) : most;
    }
    if (!good || !(change > still_there * first) || !(most < same * least) ||
        !(ig->h * change > 1) || !is_short(ig) || (which < ig->dyn->nv && !is_by_law(ig, t)))
        return false;
    m->jump = true;
    m->jumps++;
    m->t_jump = t[1];
    m->jumping = find_jumping(ig, t, which);
    return true;
}

/* Looks on the way to the end of the attempt, and along the tangent, where its second stage was:
 * what crosses a jump there is often thrown back. */
static void search_jump(bg_integrator *ig)
{
    bg_trouble *m = ig->trouble;
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE); /* no work of the method */
    if (!search_segment(ig, ig->x1->q)) {
        for (int i = 0; i < ig->n; i++)
            ig->work_n[i] = ig->x0->q[i] + ig->h * ig->rate0[i];
        search_segment(ig, ig->work_n);
    }
    wait_longer(ig, &m->jump_patience);
    bg_system_turn_to(ig->sys, before);
}

void bg_trouble_watch_rejection(bg_integrator *ig)
{
    bg_trouble *m = ig->trouble;
    if (ig->count.accepted >= m->accepted + WINDOW) {
        m->accepted = ig->count.accepted;
        m->rejected = ig->count.rejected;
    }
    if (ig->count.rejected - m->rejected >= WINDOW / 2 &&
        ig->count.accepted >= m->jump_patience.next)
        search_jump(ig);
}

void bg_trouble_search(bg_integrator *ig)
{
    const bg_state *x = bg_integrator_get_state(ig);
    if (ig->trouble->proved > 0 && !ig->trouble->stiff && !ig->trouble->jump)
        search_stiffness(ig, x, ig->h);
}

static void name_culprit(const bg_integrator *ig, bg_culprit c, char *text, size_t size)
{
    char buffer[64];
    if (c.kind == 'p')
        ig->sys->system->parts.get_name(ig->sys->def.self, c.index, text, size);
    else
        snprintf(text, size, "%s '%s'", c.kind == 'z' ? "the state" : "the motion of",
                 bg_system_get_name(ig->sys->system, c.kind, c.index, buffer, sizeof buffer));
}

/* Whether many steps were limited by stability, so that it is worth a remark on a finished run. */
static bool is_limited(const bg_integrator *ig)
{
    long n = ig->trouble->limited;
    return n >= MANY && n >= ig->count.accepted / 4;
}

bool bg_integrator_explain(const bg_integrator *ig, bg_warnings *warnings, char *text, size_t size)
{
    const bg_trouble *m = ig->trouble;
    char name[128];
    *text = '\0';
    bg_change_points_explain(ig, warnings);
    double rounding = bg_rounding_get_reached(&ig->control.rounding);
    if (rounding > 0)
        bg_warnings_add(warnings, BG_GOOD, "rounding",
                        "rounding is reached: tolerances below %.1g do not improve the result",
                        rounding * fmax(ig->options.rtol, ig->options.atol));
    if (m->jump) {
        name_culprit(ig, m->jumping, name, sizeof name);
        snprintf(text, size,
                 "the law of %s jumps, last at t = %.6g s, where steps cannot follow it: replace "
                 "the jump by a steep smooth law, such as tanh(x/w) for sign(x)",
                 name, m->t_jump);
        bg_warnings_add(warnings, BG_DOUBTFUL, "jump", "%s", text);
    } else if (m->stiff && (!warnings || is_limited(ig))) {
        name_culprit(ig, m->fastest, name, sizeof name);
        snprintf(
            text, size,
            "from t = %.6g s on steps are limited by stability, not by accuracy (stiff): %s "
            "reacts within %.2g s; use --integrator bdf, or, for real time, mark it \"stiff\" and "
            "use linear-euler with a fixed step, or make it softer or less damped",
            m->t_stiff, name, 1 / m->rate);
        bg_warnings_add(warnings, BG_GOOD, "stiff", "%s", text);
    }
    return *text != '\0';
}

/* Laws that jump.
 *
 * Where steps are rejected again and again, by their error or because an iteration does not
 * converge (that of bdf goes to and fro across a jump), the segment from the beginning of the
 * attempt to its end, and the tangent, is halved twenty times, always towards the half with the
 * larger change of v' and z'. A change that is still there after that, a millionth of the segment
 * apart, and was the same in the last five halvings, and is one of forces or laws of constraints,
 * is a jump; on segments of attempts that went astray, across poles or many turns, it is another
 * one each time.
 *
 * Where an error estimate does not see a jump, steps are not rejected: of laws that can jump it is
 * known on which side of their jumps they are, and where a step that was accepted has changed sides
 * the place is found by halving. What changes there by more than thirty tolerances within the step
 * was not under control.
 *
 * Laws that end, as sqrt(x) does at zero: where steps cannot go on because of what is no number,
 * the first part along the tangent whose force is none.
 */
#include "integrators/trouble.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HALVINGS = 20, SAME = 5 };
static const double still_there = 0.3, same = 1.1, crossed = 30;
static const double gone = 0.1; /* in neither half: no jump of 0.3 is hidden by a smooth change that
                                   one of them would show */

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
    if (!bg_trouble_calc_rates(ig, middle, m->state[2], m->a2))
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

/* An input that bodies follow and whose second derivative jumps between the two times; -1: none. */
static int find_input(bg_integrator *ig, const double t[2])
{
    const bg_evaluator *ev = ig->sys;
    for (int i = 0; i < ev->def.nu && ev->def.u_followed; i++) {
        double u_tt[2] = {0, 0};
        for (int end = 0; end < 2 && ev->def.u_followed[i]; end++)
            if (bg_trouble_place(ig, t[end], ig->trouble->state[end], NULL))
                u_tt[end] = ev->u_tt[i];
        if (fabs(u_tt[1] - u_tt[0]) > 1e-2 * fmax(fabs(u_tt[0]), fabs(u_tt[1])))
            return i;
    }
    return -1;
}

/* The input, or the part whose force changes most from state[0] to state[1], else the coordinate.
 */
static bg_culprit find_jumping(bg_integrator *ig, const double t[2], int which)
{
    bg_trouble *m = ig->trouble;
    const bg_parts *parts = &ig->sys->system->parts;
    bg_culprit best = which < ig->dyn->nv ? (bg_culprit){'v', which}
                                          : (bg_culprit){'z', which - ig->dyn->nv};
    double most = 0;
    const int input = find_input(ig, t);
    if (input >= 0)
        return (bg_culprit){'u', input};
    for (int k = 0; k < parts->count; k++) {
        double change = 0;
        if (!bg_trouble_place(ig, t[0], m->state[0], NULL))
            return best;
        parts->calc_force(ig->sys->def.self, k, m->motion);
        bg_trouble_place(ig, t[1], m->state[1], NULL);
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
        if (!bg_trouble_calc_rates(ig, t[end], m->state[end], end ? m->a1 : m->a0))
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

/* Whether v' or z' jumps on the way from x0 to `end`, by more than the tolerance in a step of
 * h, or, where Newton's iteration went to and fro (`stuck`), at all. */
static bool search_segment(bg_integrator *ig, const double *end, bool stuck)
{
    bg_trouble *m = ig->trouble;
    double t[2] = {ig->x0->t, ig->x1->t};
    int which = 0;
    memcpy(m->state[0], ig->x0->q, (size_t)ig->n * sizeof(double));
    memcpy(m->state[1], end, (size_t)ig->n * sizeof(double));
    bool good = bg_trouble_calc_rates(ig, t[0], m->state[0], m->a0) &&
                bg_trouble_calc_rates(ig, t[1], m->state[1], m->a1);
    double first = good ? calc_change(ig, m->a0, m->a1, &which) : 0, change = first;
    double least = INFINITY, most = 0;
    for (int k = 0; k < HALVINGS && good; k++) {
        good = halve(ig, t, &change, &which) && change > gone * first;
        least = k >= HALVINGS - SAME ? fmin(least, change) : least;
        most = k >= HALVINGS - SAME ? fmax(most, change) : most;
    }
    if (!good || !(change > still_there * first) || !(most < same * least) ||
        !(stuck || ig->h * change > 1) || !is_short(ig) ||
        (which < ig->dyn->nv && !is_by_law(ig, t)))
        return false;
    m->jump = true;
    m->jumps++;
    m->t_jump = t[1];
    m->jumping = find_jumping(ig, t, which);
    return true;
}

/* On which side of their jumps laws are at y. */
static bool find_side(bg_integrator *ig, double t, const double *y, uint64_t *side)
{
    if (!bg_trouble_place(ig, t, y, NULL))
        return false;
    *side = ig->sys->system->parts.calc_side(ig->sys->def.self);
    return true;
}

/* Halves the segment state[0] .. state[1], where laws are on the sides `first`, until what leaves
 * them is between neighbours. */
static bool find_crossing(bg_integrator *ig, double t[2], uint64_t first)
{
    bg_trouble *m = ig->trouble;
    uint64_t middle;
    for (int k = 0; k < 2 * HALVINGS; k++) {
        const double half = 0.5 * (t[0] + t[1]);
        for (int i = 0; i < ig->n; i++)
            m->state[2][i] = 0.5 * (m->state[0][i] + m->state[1][i]);
        if (!find_side(ig, half, m->state[2], &middle))
            return false;
        const int end = middle != first; /* the end that moves */
        double *state = m->state[end];
        m->state[end] = m->state[2];
        m->state[2] = state;
        t[end] = half;
    }
    return true;
}

/* Whether laws have changed sides in the step from x1 to x0; first <- those at x1. */
static bool has_crossed(bg_integrator *ig, uint64_t *first)
{
    bg_trouble *m = ig->trouble;
    const bool known = m->t_side == ig->x1->t;
    *first = m->side;
    m->t_side = NAN;
    if (!find_side(ig, ig->x0->t, ig->x0->q, &m->side))
        return false;
    m->t_side = ig->x0->t;
    return (known || find_side(ig, ig->x1->t, ig->x1->q, first)) && *first != m->side;
}

void bg_jumps_watch_crossing(bg_integrator *ig)
{
    bg_trouble *m = ig->trouble;
    double t[2] = {ig->x1->t, ig->x0->t}, h = t[1] - t[0];
    int which = 0;
    uint64_t first;
    if (!ig->sys->system->parts.calc_side || m->jump || ig->options.step > 0)
        return;
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE);
    memcpy(m->state[0], ig->x1->q, (size_t)ig->n * sizeof(double));
    memcpy(m->state[1], ig->x0->q, (size_t)ig->n * sizeof(double));
    if (has_crossed(ig, &first) && find_crossing(ig, t, first) &&
        bg_trouble_calc_rates(ig, t[0], m->state[0], m->a0) &&
        bg_trouble_calc_rates(ig, t[1], m->state[1], m->a1) &&
        h * calc_change(ig, m->a0, m->a1, &which) > crossed &&
        (which >= ig->dyn->nv || is_by_law(ig, t))) {
        m->jump = true;
        m->jumps++;
        m->t_jump = t[1];
        m->jumping = find_jumping(ig, t, which);
    }
    bg_system_turn_to(ig->sys, before);
}

/* A part whose force is no number at y. */
static int find_undefined(bg_integrator *ig, double t, const double *y)
{
    const bg_parts *parts = &ig->sys->system->parts;
    double *force = ig->trouble->force;
    if (parts->count == 0 || !bg_trouble_place(ig, t, y, NULL))
        return -1;
    for (int k = 0; k < parts->count; k++) {
        parts->calc_force(ig->sys->def.self, k, force);
        for (int i = 0; i < parts->width; i++)
            if (!isfinite(force[i]))
                return k;
    }
    return -1;
}

bool bg_jumps_explain_end(bg_integrator *ig, double h_min, char *text, size_t size)
{
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE);
    int part = -1;
    for (double h = h_min; h < ig->t_end - ig->x0->t && part < 0; h *= 4) {
        for (int i = 0; i < ig->n; i++)
            ig->work_n[i] = ig->x0->q[i] + h * ig->rate0[i];
        part = find_undefined(ig, ig->x0->t + h, ig->work_n);
    }
    bg_system_turn_to(ig->sys, before);
    if (part < 0)
        return false;
    char name[128];
    ig->sys->system->parts.get_name(ig->sys->def.self, part, name, sizeof name);
    snprintf(
        text, size,
        "; the law of %s is no number beyond it: keep its arguments where it is defined, as in "
        "sqrt(max(0, x))",
        name);
    return true;
}

void bg_jumps_search(bg_integrator *ig, bool computed)
{
    bg_trouble *m = ig->trouble;
    const bg_purpose before = bg_system_turn_to(ig->sys, BG_ASIDE); /* no work of the method */
    if (!computed || !search_segment(ig, ig->x1->q, false)) {
        for (int i = 0; i < ig->n; i++)
            ig->work_n[i] = ig->x0->q[i] + ig->h * ig->rate0[i];
        search_segment(ig, ig->work_n, !computed);
    }
    bg_trouble_wait_longer(ig, &m->jump_patience);
    bg_system_turn_to(ig->sys, before);
}

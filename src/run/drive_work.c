/* The work of drives that have no coordinate, where steps do not see them.
 *
 * A method sums up the power P of all drives and forces like a coordinate, by the values that its
 * stages have, but no error of it shortens a step. Where drives are rows, the coordinates they move
 * do that; drives that are eliminated move nothing that is integrated. So every step looks whether
 * a rule of about the method's order sums up, for every input u, what has an integral:
 *
 *   u_t: u,     u_t u_tt: u_t^2/2,     and where u is an angle   u_t cos u: sin u,   u_t sin u:
 * -cos u,
 *
 * as work against weight and inertia. A multistep method hands errors of its sum on to later steps;
 * where inputs move, what its estimate says of the work counts beside. Where either is off, by the
 * tolerances of u and u_t, or by more than comes to a thousandth of the energies over the run, P
 * along dense output is summed up instead, by Gauss' rules: over the whole step where a rule sums
 * up there what u does, if it agrees with the step or with the next rule, and else by the rule of
 * five points, exact up to degree 9, in intervals that are halved until it and its two halves
 * agree, or it is rounding that keeps them apart. What that gives beside the work of the state is
 * kept apart: the motion and its steps stay as they are. Its tolerance is the relative one, of the
 * energies or of the work that goes to and fro in the step, and a thousandth over the whole run.
 *
 * The points of Gauss' rules are irrational parts of a step, so that no step hides a period. */
#include "run/drive_work.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = 5, PARTS = 4, DEPTH = 40, INTERVALS = 4096 };

/* Gauss' rules on [-1, 1]. */
static const struct rule {
    int n;
    double place[POINTS], weight[POINTS];
} by_two = {2, {-0.57735026918962576451, 0.57735026918962576451}, {1, 1}},
  by_three = {3,
              {-0.77459666924148337704, 0, 0.77459666924148337704},
              {0.55555555555555555556, 0.88888888888888888889, 0.55555555555555555556}},
  by_five = {POINTS,
             {-0.90617984593866399280, -0.53846931010568309104, 0, 0.53846931010568309104,
              0.90617984593866399280},
             {0.23692688505618908751, 0.47862867049936646804, 0.56888888888888888889,
              0.47862867049936646804, 0.23692688505618908751}};

/* What estimates of the work may come to over the whole run, of the energies. */
static const double estimated = 1e-3;

/* An interval with what the rule gives for the integrals of P and |P|; by how much the interval of
 * which it is a half was off its halves. */
typedef struct quadrature_panel {
    double begin, end, sum, amount, off;
} quadrature_panel;

static void list(void *object, bg_arena *arena)
{
    bg_drive_work *w = object;
    BG_TAKE(arena, w->y, w->ig->n);
    BG_TAKE(arena, w->rate, w->ig->n);
    BG_TAKE(arena, w->lambda, w->ig->dyn->ng);
    BG_TAKE(arena, w->u, (POINTS + 2) * 3 * w->ig->sys->def.nu);
}

bool bg_drive_work_create(bg_drive_work *w, bg_integrator *ig)
{
    *w = (bg_drive_work){.t_inputs = NAN};
    if (!ig->energy || !ig->sys->def.drive_power)
        return true;
    w->ig = ig;
    return bg_arena_create(&w->arena, list, w);
}

void bg_drive_work_clear(bg_drive_work *w)
{
    bg_arena_clear(&w->arena);
}

void bg_drive_work_begin(bg_drive_work *w, const bg_state *x)
{
    w->t = x->t;
    w->work = *x->work;
}

/* An input at a time, and what the rule has summed up. */
typedef struct drive_sums {
    double value[4], exact[4], largest[4];
} drive_sums;

static void add(drive_sums *s, int m, double integrand, double integral, double size)
{
    s->value[m] += integrand;
    s->exact[m] += integral;
    s->largest[m] = size > s->largest[m] ? size : s->largest[m];
}

/* Adds what the integrands are at u, times `weight`; side: that of the exact integral in which u
 * stands, or 0. */
static void add_place(drive_sums *s, bool turns, double u, double u_t, double u_tt, double weight,
                      double side)
{
    add(s, 0, weight * u_t, side * u, fabs(u));
    add(s, 1, weight * u_t * u_tt, side * u_t * u_t / 2, u_t * u_t);
    if (!turns)
        return;
    const double sine = sin(u), cosine = cos(u);
    add(s, 2, weight * u_t * cosine, side * sine, 1);
    add(s, 3, weight * u_t * sine, -side * cosine, 1);
}

/* Whether input i is an angle, and turns by so much that its sine is another function than itself.
 */
static bool is_turning(const bg_drive_work *w, int i, int places)
{
    static const double nearly_straight = 0.05; /* rad */
    const bg_system_def *def = &w->ig->sys->def;
    double most = 0;
    for (int k = 1; k < places; k++)
        most = fmax(most, fabs(w->u[3 * k * def->nu + i] - w->u[i]));
    return most > nearly_straight && def->u_units && def->u_units[i] &&
           strcmp(def->u_units[i], "rad") == 0;
}

/* Whether the rule sums up within the tolerance what input i does from w->u[0] to w->u[1]; at its
 * points there are w->u[2 ...], and by_ends: the two ends alone are another rule. */
static bool is_resolved(const bg_drive_work *w, const struct rule *rule, int i, double h,
                        bool by_ends)
{
    const bg_system_def *def = &w->ig->sys->def;
    const double rtol = w->ig->options.rtol, atol = w->ig->options.atol;
    const bool turns = is_turning(w, i, rule->n + 2);
    for (int by = 0; by <= by_ends; by++) {
        drive_sums s = {{0}, {0}, {0}};
        for (int k = 0; k < rule->n + 2; k++) {
            const double *u = w->u + 3 * k * def->nu + i, side = k == 0 ? -1 : k == 1;
            const double weight = by ? fabs(side) : k > 1 ? rule->weight[k - 2] : 0;
            add_place(&s, turns, u[0], u[def->nu], u[2 * def->nu], weight * h / 2, side);
        }
        const double of_u_t = atol * (sqrt(s.largest[1]) + atol);
        for (int m = 0; m < 4; m++)
            if (!(fabs(s.value[m] - s.exact[m]) <= rtol * s.largest[m] + (m == 1 ? of_u_t : atol)))
                return false;
    }
    return true;
}

static bool calc_inputs(const bg_drive_work *w, double t, int k)
{
    const int nu = w->ig->sys->def.nu, *mode = bg_integrator_get_state(w->ig)->mode;
    double *u = w->u + 3 * k * nu;
    return bg_system_calc_inputs(w->ig->sys, t, mode, u, u + nu, u + 2 * nu, NULL) == BG_OK;
}

/* Whether that is so for all inputs. */
static bool are_resolved(bg_drive_work *w, const struct rule *rule, double from, double to,
                         bool by_ends)
{
    const double middle = from + 0.5 * (to - from), half = 0.5 * (to - from);
    const int size = 3 * w->ig->sys->def.nu;
    bool known = true, resolved = true;
    if (from == w->t_inputs) /* the end of a step is where the next one begins */
        memcpy(w->u, w->u + size, (size_t)size * sizeof(double));
    else
        known = calc_inputs(w, from, 0);
    known = known && calc_inputs(w, to, 1);
    w->t_inputs = known ? to : NAN;
    for (int k = 0; k < rule->n && known; k++)
        known = calc_inputs(w, middle + half * rule->place[k], 2 + k);
    for (int i = 0; i < w->ig->sys->def.nu && known && resolved; i++)
        resolved = w->ig->sys->outside[i].live || is_resolved(w, rule, i, to - from, by_ends);
    return resolved;
}

/* Whether an input moves at any of the places: what stands does no work. */
static bool are_moving(const bg_drive_work *w, int places)
{
    const int nu = w->ig->sys->def.nu;
    for (int k = 0; k < places; k++)
        for (int i = 0; i < nu; i++)
            if (w->u[(3 * k + 1) * nu + i] != 0 || w->ig->sys->outside[i].live)
                return true;
    return false;
}

void bg_drive_work_look(bg_drive_work *w, double from, double to)
{
    if (!w->ig)
        return;
    const int order = bg_integrator_get_order(w->ig);
    const struct rule *rule = order < 6 ? &by_two : order < 8 ? &by_three : &by_five;
    const bool by_ends = order < 3 && w->ig->options.step == 0 && isnan(w->ig->work_error);
    w->unresolved = !are_resolved(w, rule, from, to, by_ends);
    w->moving = are_moving(w, rule->n + 2);
}

/* P at t, of the last step. */
static bool calc_power(bg_drive_work *w, double t, double *power)
{
    bg_integrator *ig = w->ig;
    bg_error ignored;
    double *v = w->y + ig->dyn->nq, *z = v + ig->dyn->nv;
    bg_integrator_interpolate(ig, t, w->y, v, z);
    if (bg_integrator_calc_rate(ig, t, w->y, 0, w->rate, w->lambda, &ignored) != BG_OK)
        return false;
    *power = w->rate[ig->n - 1];
    return isfinite(*power);
}

static bool calc_panel(bg_drive_work *w, const struct rule *rule, double begin, double end,
                       quadrature_panel *p)
{
    const double half = 0.5 * (end - begin), middle = begin + half;
    *p = (quadrature_panel){begin, end, 0, 0, INFINITY};
    for (int k = 0; k < rule->n; k++) {
        double power;
        if (!calc_power(w, middle + half * rule->place[k], &power))
            return false;
        p->sum += half * rule->weight[k] * power;
        p->amount += half * rule->weight[k] * fabs(power);
    }
    return true;
}

/* Whether it is P that is rough, not the inputs: halves of smooth functions are off by 2^-11 of
 * what the whole was, those of noise by half. */
static bool is_rough(bg_drive_work *w, const quadrature_panel *whole, double off)
{
    return off > whole->off / 4 && are_resolved(w, &by_five, whole->begin, whole->end, false);
}

/* Adds the integral over a panel; false: P is not known everywhere. Halves that agree no better
 * than rounding lets them are as good as they can be, and so are those where P is rough: near
 * singular positions rounding is magnified, by any factor. */
static bool refine(bg_drive_work *w, const quadrature_panel *p, double allowed, double *sum)
{
    quadrature_panel waiting[DEPTH];
    int n = 1;
    waiting[0] = *p;
    while (n > 0) {
        const quadrature_panel whole = waiting[--n];
        const double middle = whole.begin + 0.5 * (whole.end - whole.begin);
        const double share = (whole.end - whole.begin) / (p->end - p->begin);
        quadrature_panel a, b;
        if (!calc_panel(w, &by_five, whole.begin, middle, &a) ||
            !calc_panel(w, &by_five, middle, whole.end, &b))
            return false;
        const double off = fabs(a.sum + b.sum - whole.sum);
        const double rounding = 1e3 * DBL_EPSILON * (a.amount + b.amount);
        a.off = b.off = off;
        if (off <= fmax(allowed * share, rounding) || is_rough(w, &whole, off) || n + 2 > DEPTH ||
            w->intervals++ > INTERVALS)
            *sum += a.sum + b.sum;
        else {
            waiting[n++] = b;
            waiting[n++] = a;
        }
    }
    return true;
}

/* Of the energies or the work from w->t to t. */
static double get_tolerance(const bg_drive_work *w, double t, double t_run)
{
    const bg_integrator_options *o = &w->ig->options;
    return fmin(o->step > 0 ? 1 : o->rtol, 1e-3 * (t - w->t) / t_run);
}

/* The integral of P from w->t to t, which the step takes for `own`. */
static bool integrate(bg_drive_work *w, double t, double own, double range, double t_run,
                      double *sum)
{
    static const struct rule *const whole_step[] = {&by_two, &by_three, &by_five, NULL};
    const double h = (t - w->t) / PARTS;
    const double relative = get_tolerance(w, t, t_run);
    quadrature_panel part[PARTS];
    double amount = 0, before = own;
    for (const struct rule *const *r = whole_step; *r; r++)
        if (are_resolved(w, *r, w->t, t, false)) {
            if (!calc_panel(w, *r, w->t, t, part))
                return false;
            *sum = part->sum;
            const double allowed = relative * fmax(range, part->amount);
            if (fabs(*sum - own) <= allowed || fabs(*sum - before) <= allowed)
                return true;
            before = *sum;
        }
    for (int k = 0; k < PARTS; k++) {
        if (!calc_panel(w, &by_five, w->t + k * h, k < PARTS - 1 ? w->t + (k + 1) * h : t,
                        &part[k]))
            return false;
        amount += part[k].amount;
    }
    *sum = 0;
    w->intervals = 0;
    for (int k = 0; k < PARTS; k++)
        if (!refine(w, &part[k], relative * fmax(range, amount) / PARTS, sum))
            return false;
    return true;
}

void bg_drive_work_account(bg_drive_work *w, const bg_state *x, double range, double t_run)
{
    double sum;
    if (!w->ig)
        return;
    const bool wrong = w->moving && w->ig->work_error > estimated * (x->t - w->t) / t_run * range;
    if ((w->unresolved || wrong) && x->t > w->t) {
        const bg_purpose before = bg_system_turn_to(w->ig->sys, BG_ASIDE);
        const double own = *x->work - w->work;
        if (integrate(w, x->t, own, range, t_run, &sum))
            w->missed += sum - own;
        bg_system_turn_to(w->ig->sys, before);
    }
    bg_drive_work_begin(w, x);
}

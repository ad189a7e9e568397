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
 * as work against weight and inertia; the second beside the fastest input of the same unit, with
 * which it moves masses alike. Where it does not within the tolerance, P along dense output
 * is summed up instead, by Gauss' rule of five points, exact up to degree 9, in intervals that are
 * halved until the rule and its two halves agree. What that gives beside the work of the state is
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

/* An interval with what the rule gives for the integrals of P and |P|. */
typedef struct panel {
    double begin, end, sum, amount;
} panel;

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
    *w = (bg_drive_work){.ig = NULL};
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
typedef struct sums {
    double value[4], exact[4], largest[4];
} sums;

/* Adds what the integrands are at u, times `weight`; side: that of the exact integral in which u
 * stands, or 0. */
static void add_place(sums *s, bool angle, double u, double u_t, double u_tt, double weight,
                      double side)
{
    const double integrand[4] = {u_t, u_t * u_tt, angle ? u_t * cos(u) : 0,
                                 angle ? u_t * sin(u) : 0};
    const double integral[4] = {u, u_t * u_t / 2, angle ? sin(u) : 0, angle ? -cos(u) : 0};
    const double size[4] = {fabs(u), u_t * u_t, 1, 1};
    for (int m = 0; m < 4; m++) {
        s->value[m] += weight * integrand[m];
        s->exact[m] += side * integral[m];
        s->largest[m] = fmax(s->largest[m], size[m]);
    }
}

/* The largest rate at the places, of all inputs with the unit of input i. */
static double find_fastest(const bg_drive_work *w, const struct rule *rule, int i)
{
    const bg_system_def *def = &w->ig->sys->def;
    const char *const *units = def->u_units;
    double fastest = 0;
    for (int j = 0; j < def->nu; j++) {
        const bool alike = j == i || (units && units[i] && units[j] && !strcmp(units[i], units[j]));
        for (int k = 0; k < rule->n + 2 && alike; k++)
            fastest = fmax(fastest, fabs(w->u[(3 * k + 1) * def->nu + j]));
    }
    return fastest;
}

/* Whether the rule sums up within the tolerance what input i does from w->u[0] to w->u[1]; at its
 * points there are w->u[2 ...], and by_ends: the two ends alone are another rule. */
static bool is_resolved(const bg_drive_work *w, const struct rule *rule, int i, double h,
                        bool by_ends)
{
    const bg_system_def *def = &w->ig->sys->def;
    const double rtol = w->ig->options.rtol, atol = w->ig->options.atol;
    const bool angle = def->u_units && def->u_units[i] && strcmp(def->u_units[i], "rad") == 0;
    const double fastest = find_fastest(w, rule, i); /* energies are those of the fastest */
    for (int by = 0; by <= by_ends; by++) {
        sums s = {{0}, {0}, {0}};
        for (int k = 0; k < rule->n + 2; k++) {
            const double *u = w->u + 3 * k * def->nu + i, side = k == 0 ? -1 : k == 1;
            const double weight = by ? fabs(side) : k > 1 ? rule->weight[k - 2] : 0;
            add_place(&s, angle, u[0], u[def->nu], u[2 * def->nu], weight * h / 2, side);
        }
        s.largest[1] = fastest * fastest;
        for (int m = 0; m < 4; m++)
            if (!(fabs(s.value[m] - s.exact[m]) <=
                  rtol * s.largest[m] + (m == 1 ? atol * atol : atol)))
                return false;
    }
    return true;
}

void bg_drive_work_look(bg_drive_work *w, double from, double to)
{
    w->unresolved = false;
    if (!w->ig)
        return;
    const int nu = w->ig->sys->def.nu, order = bg_integrator_get_order(w->ig);
    const int *mode = bg_integrator_get_state(w->ig)->mode;
    const struct rule *rule = order < 6 ? &by_two : order < 8 ? &by_three : &by_five;
    const double middle = from + 0.5 * (to - from), half = 0.5 * (to - from);
    for (int k = 0; k < rule->n + 2; k++) {
        const double t = k == 0 ? from : k == 1 ? to : middle + half * rule->place[k - 2];
        double *u = w->u + 3 * k * nu;
        if (bg_system_calc_inputs(w->ig->sys, t, mode, u, u + nu, u + 2 * nu, NULL) != BG_OK)
            return;
    }
    const bool by_ends = order < 4 && w->ig->options.step == 0;
    for (int i = 0; i < nu; i++)
        w->unresolved |= !w->ig->sys->outside[i].live &&
                         !is_resolved(w, rule, i, to - from, by_ends);
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

static bool calc_panel(bg_drive_work *w, double begin, double end, panel *p)
{
    const double half = 0.5 * (end - begin), middle = begin + half;
    *p = (panel){begin, end, 0, 0};
    for (int k = 0; k < POINTS; k++) {
        double power;
        if (!calc_power(w, middle + half * by_five.place[k], &power))
            return false;
        p->sum += half * by_five.weight[k] * power;
        p->amount += half * by_five.weight[k] * fabs(power);
    }
    return true;
}

/* Adds the integral over a panel; false: P is not known everywhere. Halves that agree no better
 * than rounding lets them are as good as they can be. */
static bool refine(bg_drive_work *w, const panel *p, double allowed, double *sum)
{
    panel waiting[DEPTH];
    int n = 1;
    waiting[0] = *p;
    while (n > 0) {
        const panel whole = waiting[--n];
        const double middle = whole.begin + 0.5 * (whole.end - whole.begin);
        const double share = (whole.end - whole.begin) / (p->end - p->begin);
        panel a, b;
        if (!calc_panel(w, whole.begin, middle, &a) || !calc_panel(w, middle, whole.end, &b))
            return false;
        const double off = fabs(a.sum + b.sum - whole.sum);
        const double rounding = 1e3 * DBL_EPSILON * (a.amount + b.amount);
        if (off <= fmax(allowed * share, rounding) || n + 2 > DEPTH || w->intervals++ > INTERVALS)
            *sum += a.sum + b.sum;
        else {
            waiting[n++] = b;
            waiting[n++] = a;
        }
    }
    return true;
}

/* The integral of P from w->t to t. */
static bool integrate(bg_drive_work *w, double t, double range, double t_run, double *sum)
{
    const bg_integrator_options *o = &w->ig->options;
    const double h = (t - w->t) / PARTS;
    panel part[PARTS];
    double amount = 0;
    for (int k = 0; k < PARTS; k++) {
        if (!calc_panel(w, w->t + k * h, k < PARTS - 1 ? w->t + (k + 1) * h : t, &part[k]))
            return false;
        amount += part[k].amount;
    }
    const double relative = fmin(o->step > 0 ? 1 : o->rtol, 1e-3 * (t - w->t) / t_run);
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
    if (w->unresolved && x->t > w->t) {
        const bg_purpose before = bg_system_turn_to(w->ig->sys, BG_ASIDE);
        if (integrate(w, x->t, range, t_run, &sum))
            w->missed += sum - (*x->work - w->work);
        bg_system_turn_to(w->ig->sys, before);
    }
    bg_drive_work_begin(w, x);
}

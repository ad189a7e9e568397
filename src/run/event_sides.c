/* On which side of zero every switching function is: at the start, and behind the changes that
 * events make.
 *
 * A reported function is on its new side from then on, whatever rounding and projection make of its
 * value: if it does not get there with the motion, that is another event. Behind a change that the
 * system made, a function that is zero goes where the motion carries it, and one that the system
 * moved across zero is on its new side without an event, unless the system says which side the
 * modes stand for (`sides`): then it is there, which is an event where it is another side than
 * before, and the next step finds what is left to do. */
#include "run/events.h"

#include <math.h>
#include <string.h>

/* Where the motion carries s a short time e after the state: (q, v, z) moved by their rates, q also
 * by its second derivative when `curved`. */
static bg_status look_ahead(bg_detector *w, const bg_state *x, double e, bool curved, double *s,
                            bg_error *err)
{
    const bg_system_def *d = &w->sys->def;
    bg_state *y = w->state;
    bg_state_copy(w->sys->system, x, y);
    bg_point p;
    bg_terms out = {.V = w->V, .h = w->z};
    unsigned want = (d->supplied & BG_TERM_V) | (d->nz > 0 ? BG_TERM_h : 0u);
    bg_status st = bg_system_set_state(w->sys, x, &p, err);
    if (st == BG_OK && want)
        st = bg_system_calc_terms(w->sys, &p, want, &out, err);
    if (st != BG_OK)
        return st;
    for (int i = 0; i < d->nv; i++) {
        w->v[i] = x->v[i] + (curved ? 0.5 * e * x->a[i] : 0.0);
        y->v[i] = x->v[i] + e * x->a[i];
    }
    bg_system_move(w->sys, x->q, w->V, e, w->v, y->q);
    for (int i = 0; i < d->nz; i++)
        y->z[i] = x->z[i] + e * w->z[i];
    return bg_detector_calc(w, x->t + e, y->q, y->v, y->z, y->mode, s, err);
}

/* How a function changes from s, by its values after e and 2e. A change is believed when it grows
 * with e like e or e^2: rounding does not. */
static void take_heading(bg_detector *w, double e, const double *s1, const double *s2)
{
    for (int i = 0; i < w->ns; i++) {
        double c1 = s1[i] - w->s[i], c2 = s2[i] - w->s[i];
        if (w->heading[i] != 0 || c1 == 0 || !(c2 / c1 > 1.5 && c2 / c1 < 5))
            continue;
        w->heading[i] = bg_sign(c1);
        w->slope[i] = fabs(c1) / e;
    }
}

/* A function that is nowhere near zero need not be followed; at the start, one that hardly changes
 * in the shortest time that is looked ahead. */
static bool is_open(const bg_detector *w, bool start)
{
    for (int i = 0; i < w->ns; i++)
        if (w->heading[i] == 0 &&
            (start ? w->followed[i] : w->fired[i] || fabs(w->s_changed[i]) <= 1e-6 * w->scale[i]))
            return true;
    return false;
}

/* Behind a look ahead, of 16 instants or more. */
static void leave_far(bg_detector *w)
{
    static const double hardly = 1e-3;
    for (int i = 0; i < w->ns; i++) {
        const double change = fmax(fabs(w->left[i] - w->s[i]), fabs(w->right[i] - w->s[i]));
        w->followed[i] = w->followed[i] && !(change < hardly * fabs(w->s[i]));
    }
}

static double get_instant(double t)
{
    return 1e-12 * fmax(1.0, fabs(t));
}

/* Where the motion carries the functions from the state, as far as that can be seen. */
static bg_status look_around(bg_detector *w, const bg_state *x, bool start, double t_end,
                             bg_error *err)
{
    bg_status st = bg_detector_calc(w, x->t, x->q, x->v, x->z, x->mode, w->s, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        w->scale[i] = fmax(w->scale[i], fabs(w->s[i]));
        w->touched[i] = NAN;
        w->heading[i] = 0;
        w->slope[i] = 0;
        w->followed[i] = 1;
    }
    w->t_done = w->t_last = w->t_before = x->t;
    w->repeats = 0;
    memcpy(w->last, w->s, (size_t)w->ns * sizeof(double));
    /* first along straight lines, so that the slope decides however soon the path bends back; where
     * the functions cannot be evaluated ahead, what is known has to do */
    for (int curved = 0; curved < 2 && st == BG_OK; curved++)
        for (double e = 16 * get_instant(x->t);
             e < 1.0 && x->t + 2 * e <= t_end && is_open(w, start); e *= 8) {
            bg_error ignored;
            if (look_ahead(w, x, e, curved, w->left, &ignored) != BG_OK ||
                look_ahead(w, x, 2 * e, curved, w->right, &ignored) != BG_OK)
                break;
            take_heading(w, e, w->left, w->right);
            leave_far(w);
        }
    return st == BG_RETRY ? BG_SYSTEM_FAILED : st;
}

/* Whether function i is zero behind the system's change. */
static bool is_zero(const bg_detector *w, int i, double t)
{
    double s = w->s_changed[i];
    if (w->fired[i] && s == w->s_round[i])
        return true; /* as it was located */
    double level = w->fired[i] ? 1e-12 * w->scale[i] : 0.0;
    return fabs(s) <= fmax(level, w->slope[i] * get_instant(t));
}

/* Sides that follow from the modes. */
static bg_status update_said(bg_detector *w, const int *mode, bg_error *err)
{
    const bg_system_def *d = &w->sys->def;
    memset(w->said, 0, (size_t)w->ns * sizeof(int));
    int code = d->sides ? d->sides(d->self, mode, w->said) : 0;
    return code == 0 ? BG_OK
                     : bg_error_set(err, BG_SYSTEM_FAILED,
                                    "system '%s': `sides` failed with code %d", d->name, code);
}

bg_status bg_detector_start(bg_detector *w, const bg_state *x, double t_end, bg_error *err)
{
    memset(w->fired, 0, (size_t)w->ns);
    w->nfires = 0;
    bg_status st = bg_detector_change(w, x, err);
    if (st == BG_OK)
        st = look_around(w, x, true, t_end, err);
    if (st == BG_OK)
        st = update_said(w, x->mode, err);
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        double s = w->s[i];
        bool zero = is_zero(w, i, x->t), said = w->said[i] == 1 || w->said[i] == -1;
        int side = zero && w->heading[i] != 0 ? w->heading[i] : s < 0 ? -1 : 1;
        w->sign[i] = said && !zero ? w->said[i] : side;
        w->fires[i] = w->resting[i] = zero;
        w->direction[i] = w->sign[i];
        w->nfires += zero;
    }
    memcpy(w->s_round, w->s, (size_t)w->ns * sizeof(double));
    return st;
}

bg_status bg_detector_change(bg_detector *w, const bg_state *x, bg_error *err)
{
    for (int i = 0; i < w->ns; i++)
        w->fired[i] = w->fired[i] || (w->nfires > 0 && w->fires[i]);
    return bg_detector_calc(w, x->t, x->q, x->v, x->z, x->mode, w->s_changed, err);
}

/* The side of function i behind a change. True: it has to fire again in this instant, for the side
 * it heads for: a function that fired turns round when only modes changed; when the state itself
 * changed it was thrown back, as by an impact. One that has not fired and that the system left
 * alone is where it was. */
static bool take_side(bg_detector *w, int i, bool moved, double t)
{
    const double s = w->s_changed[i];
    const bool zero = is_zero(w, i, t);
    w->resting[i] = zero;
    if (w->said[i] == 1 || w->said[i] == -1) {
        const bool by_modes = w->sign[i] != w->said[i] && !w->fired[i]; /* the system knows */
        w->sign[i] = w->said[i];
        return by_modes;
    }
    if (w->said[i] != BG_SIDE_OPEN || (!w->fired[i] && s == w->s_round[i]))
        return false;
    if (!zero) {
        w->sign[i] = bg_sign(s);
        return false;
    }
    const bool again = w->fired[i] && !moved && w->heading[i] == -w->sign[i];
    if (w->heading[i] != 0)
        w->sign[i] = w->heading[i];
    return again;
}

bg_status bg_detector_reset(bg_detector *w, const bg_state *x, bool moved, double t_end,
                            bg_error *err)
{
    bg_status st = look_around(w, x, false, t_end, err);
    if (st == BG_OK)
        st = update_said(w, x->mode, err);
    w->nfires = 0;
    for (int i = 0; i < w->ns && st == BG_OK; i++) {
        w->fires[i] = take_side(w, i, moved, x->t);
        w->direction[i] = w->sign[i];
        w->nfires += w->fires[i];
    }
    memcpy(w->s_round, w->s_changed, (size_t)w->ns * sizeof(double));
    return st;
}

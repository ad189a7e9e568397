/* What the author of a model should look at again, beside what the reader noticed.
 *
 * What does not look plausible is a hint, no doubt: a model that is scaled by 1000 or turned upside
 * down as a whole moves as it did. */
#include "model/review.h"

#include "model/reader.h"

#include <math.h>
#include <stdio.h>

typedef struct box {
    bg_vec3 low, high;
} box;

static void widen(box *x, bg_vec3 r)
{
    x->low = (bg_vec3){fmin(x->low.x, r.x), fmin(x->low.y, r.y), fmin(x->low.z, r.z)};
    x->high = (bg_vec3){fmax(x->high.x, r.x), fmax(x->high.y, r.y), fmax(x->high.z, r.z)};
}

/* Where a marker is in the design position. */
static bg_vec3 find_place(const bg_model *m, const bg_marker *marker)
{
    const bg_frame *pose = &m->bodies[marker->body].pose;
    return bg_add(pose->r, bg_rotate(&pose->R, marker->frame.r));
}

double bg_model_calc_size(const bg_model *m)
{
    box x = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int k = 1; k < m->nbodies; k++)
        widen(&x, m->bodies[k].pose.r);
    for (int k = 0; k < m->njoints; k++) {
        widen(&x, find_place(m, &m->joints[k].a));
        widen(&x, find_place(m, &m->joints[k].b));
    }
    double size = fmax(x.high.x - x.low.x, fmax(x.high.y - x.low.y, x.high.z - x.low.z));
    return size > 0 ? size : 1;
}

/* Of the box around the bodies; the origin where there are none. */
static bg_vec3 calc_middle(const bg_model *m)
{
    box x = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int k = 1; k < m->nbodies; k++)
        widen(&x, m->bodies[k].pose.r);
    return m->nbodies > 1 ? bg_scale(0.5, bg_add(x.low, x.high)) : (bg_vec3){0, 0, 0};
}

bg_vec3 bg_model_find_middle(const bg_model *m)
{
    static const double far = 10; /* sizes of the mechanism */
    const bg_vec3 none = {0, 0, 0}, middle = calc_middle(m);
    return bg_length(middle) > far * bg_model_calc_size(m) ? middle : none;
}

double bg_model_calc_mass(const bg_model *m)
{
    double mass = 0;
    for (int k = 1; k < m->nbodies; k++)
        mass += m->bodies[k].mass;
    return mass;
}

double bg_model_calc_lift(const bg_model *m)
{
    return bg_model_calc_mass(m) * bg_length(m->gravity) * bg_model_calc_size(m);
}

double bg_model_calc_raised(const bg_model *m)
{
    return -bg_model_calc_mass(m) * bg_dot(m->gravity, calc_middle(m));
}

/* Larger than thirty metres and lighter than air in the box around it: a mechanism of metres whose
 * lengths are in millimetres is so by far. */
static void review_lengths(const bg_model *m, bg_warnings *warnings)
{
    const double large = 30, light = 1e-4; /* m, kg/m^3 */
    double size = bg_model_calc_size(m), mass = bg_model_calc_mass(m);
    if (size > large && mass > 0 && mass < light * size * size * size)
        bg_warnings_add(warnings, BG_GOOD, "lengths",
                        "the mechanism is %.3g m large and weighs %.3g kg; lengths are in m, so if "
                        "these are millimetres, write \"%.3g*mm\"",
                        size, mass, size);
}

/* A sign that was forgotten, on level ground or a slope; other directions are meant, as in a model
 * that was turned as a whole. Near the vertical it may be either. And a unit that was. */
static void review_gravity(const bg_model *m, bg_warnings *warnings)
{
    const double slope = 0.3;
    bg_vec3 g = m->gravity;
    double side = hypot(g.x, g.y), down = bg_length(g);
    if (g.z > 0 && side == 0)
        bg_warnings_add(warnings, BG_GOOD, "gravity",
                        "gravity points upwards, along +z; \"gravity\": %.4g points downwards, and "
                        "so does [0, 0, %.4g]",
                        g.z, -g.z);
    else if (g.z > 0 && side <= slope * g.z)
        bg_warnings_add(warnings, BG_GOOD, "gravity",
                        "gravity points upwards, %.2g degrees off +z, which is right for a model "
                        "that was turned; downwards is \"gravity\": %.4g, or a negative z",
                        atan2(side, g.z) * 57.29577951308232, down);
    const double strong = 1000; /* m/s^2, of no centrifuge with a mechanism in it */
    if (bg_length(g) > strong)
        bg_warnings_add(warnings, BG_GOOD, "gravity",
                        "gravity is %.4g m/s^2; if it is in mm/s^2, lengths may be in mm, too: "
                        "write all of them in m, or with \"*mm\"",
                        bg_length(g));
}

/* Start angles beyond a full turn: a mechanism has no use for them. */
static void review_angles(const bg_model *m, bg_warnings *warnings)
{
    for (int k = 0; k < m->njoints; k++)
        for (int i = 0; i < m->joints[k].class_->ncoordinates; i++) {
            const bg_joint *j = &m->joints[k];
            bool angle = j->class_->coordinate[i].kind != BG_COORDINATE_SLIDE;
            if (angle && fabs(j->start[i].q) > BG_FULL_TURN)
                bg_warnings_add(warnings, BG_GOOD, "angles",
                                "joint '%s' starts at %.4g rad, more than a full turn; angles are "
                                "in rad, so if these are degrees, write \"%.4g*deg\"",
                                j->name, j->start[i].q, j->start[i].q);
        }
}

/* Whether an angle follows the signal as no shaft does that spins: over more than a full turn, but
 * to and fro, or to rest within as many rad as a turn has degrees. *reach: the largest value. */
static bool looks_like_degrees(const bg_model *m, const bg_signal *s, double *reach)
{
    enum { LOOKS = 500 };
    const double t0 = isnan(m->t_start) ? 0 : m->t_start, rest = 1e-9;
    const double h = ((isnan(m->t_end) ? 10 : m->t_end) - t0) / LOOKS;
    double u[3], way = 0, first = 0, before = 0, most = 0;
    if (!(h > 0) || !isfinite(h))
        return false;
    for (int k = 0; k <= LOOKS; k++) {
        bg_signal_calc(s, t0 + k * h, u);
        first = k == 0 ? u[0] : first;
        way += k == 0 ? 0 : fabs(u[0] - before);
        most = fabs(u[0]) > fabs(most) ? u[0] : most;
        before = u[0];
    }
    const double moved = fabs(before - first);
    const bool back = way > moved * (1 + 1e-6), rests = fabs(u[1]) * LOOKS * h < rest * moved;
    *reach = most;
    return isfinite(way) && fabs(most) > BG_FULL_TURN && way > BG_FULL_TURN &&
           (back || (rests && moved <= 360));
}

/* Angles that follow inputs. */
static void review_drives(const bg_model *m, bg_warnings *warnings)
{
    double reach;
    for (int k = 0; k < m->njoints; k++)
        for (int i = 0; i < m->joints[k].class_->ncoordinates; i++) {
            const bg_joint *j = &m->joints[k];
            const int s = j->start[i].signal;
            if (s >= 0 && j->class_->coordinate[i].kind != BG_COORDINATE_SLIDE &&
                looks_like_degrees(m, &m->signals[s], &reach))
                bg_warnings_add(warnings, BG_GOOD, "angles",
                                "joint '%s' follows input '%s' to %.4g rad, more than a full turn, "
                                "and does not go on turning; angles are in rad, so if these are "
                                "degrees, multiply them by deg",
                                j->name, m->signals[s].name, reach);
        }
}

/* Places with few digits far from the origin, so that the last digit is more than redundant
 * constraints of a mechanism may miss by: closed loops do not close as meant. */
static void review_digits(const bg_model *m, bg_warnings *warnings)
{
    const double far = 100, coarse = 1e-4; /* beside the size of the mechanism */
    const int rounded = 5;                 /* digits; fewer are meant */
    double size = bg_model_calc_size(m), last = 0.5 * pow(10, 1 - m->digits) * m->farthest;
    bool loops = m->njoints >= m->nbodies;
    if (loops && m->digits >= rounded && m->farthest > far * size && last > coarse * size)
        bg_warnings_add(warnings, BG_GOOD, "digits",
                        "places are written with %d digits, which is to %.2g m so far from the "
                        "origin (%.3g m), in a mechanism of %.3g m; if they were rounded, write "
                        "more digits, or move the model to the origin",
                        m->digits, last, m->farthest, size);
}

/* Steps end at events; a corner without one is inside a step. Runs pass this on where the method
 * they take does not see it. */
static void review_corners(const bg_model *m, bg_warnings *warnings)
{
    char more[48] = "";
    if (m->ncorners > 1)
        snprintf(more, sizeof more, " and %d more", m->ncorners - 1);
    if (m->ncorners > 0)
        bg_warnings_add(
            warnings, BG_GOOD, "corners",
            "%s%s %s corners that raise no event, across which the error estimate of "
            "implicit Runge-Kutta methods does not hold the tolerance; mark them by an "
            "event, round them off (smooth, tanh, cubic tables), or take another method",
            m->corner, more, m->ncorners > 1 ? "have" : "has");
}

/* Where an oblique axis leaves open which way x and y of a joint are, and they are used. */
static void review_axes(const bg_model *m, bg_warnings *warnings)
{
    for (int k = 0; k < m->njoints; k++) {
        const bg_joint *j = &m->joints[k];
        const bg_mat3 R = bg_mat3_multiply(&m->bodies[j->a.body].pose.R, &j->a.frame.R);
        if (j->x_open && j->x_used)
            bg_warnings_add(warnings, BG_GOOD, "axes",
                            "joint '%s': its axis is oblique and 'second' is not given, so x was "
                            "chosen along (%.3g, %.3g, %.3g) and y along (%.3g, %.3g, %.3g); give "
                            "'second' to say which way x is",
                            j->name, R.m[0][0], R.m[1][0], R.m[2][0], R.m[0][1], R.m[1][1],
                            R.m[2][1]);
    }
}

void bg_model_review(const bg_model *model, const bg_mechanism *mechanism, bg_warnings *warnings)
{
    (void)mechanism;
    bg_warnings_append(warnings, &model->warnings);
    review_lengths(model, warnings);
    review_gravity(model, warnings);
    review_angles(model, warnings);
    review_drives(model, warnings);
    review_digits(model, warnings);
    review_corners(model, warnings);
    review_axes(model, warnings);
}

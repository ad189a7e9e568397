/* A wheelset S1002 on rails UIC 60 1:40, on the same knots as the carriage has. */
#ifndef RAIL_SUPPORT_H
#define RAIL_SUPPORT_H

#include "steady_support.h"

enum { RAIL_TEXT = 16384 };

/* Adds n numbers from `first` on, `step` apart. */
static inline void add_knots(char *text, double first, double step, int n)
{
    for (int i = 0; i < n; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, RAIL_TEXT - used, "%s%.10g", text[used - 1] == '[' ? "" : ", ",
                 first + i * step);
    }
}

static inline void add_text(char *text, const char *more)
{
    const size_t used = strlen(text);
    assert_true(used + strlen(more) < RAIL_TEXT);
    snprintf(text + used, RAIL_TEXT - used, "%s", more);
}

static inline void add_profiles(char *text)
{
    add_text(text, "'profiles': {'S1002': {'type': 'table', 'file': '" BOGIE_SOURCE_DIR
                   "/models/profiles/s1002.csv', 'range': [-0.05, 0.0555], 'knots': [");
    add_knots(text, -0.0495, 0.0009, 8);
    add_knots(text, -0.0425, 0.00045, 16);
    add_knots(text, -0.0355, 0.001, 10);
    add_knots(text, -0.026, 0.0025, 32);
    add_text(text, "]}, 'UIC60': {'type': 'table', 'file': '" BOGIE_SOURCE_DIR
                   "/models/profiles/uic60-40.csv', 'range': [-0.043, 0.0275], 'knots': [");
    add_knots(text, -0.0428, 0.0003, 6);
    add_knots(text, -0.041, 0.0006, 12);
    add_knots(text, -0.034, 0.0025, 22);
    add_knots(text, 0.02, 0.001, 8);
    add_text(text, "]}, 'cone': {'type': 'cone', 'slope': 0.05, 'range': [-0.04, 0.04]}, 'round': "
                   "{'type': 'circle', 'radius': 0.3}}, ");
}

/* A wheel S1002, or a cone on a round rail, which touch at one point. */
#define RAIL_CONTACT                                                                            \
    "'type': 'wheel-rail', 'bodies': ['f', 'b'], 'radius': 0.46, 'base': 0.75, 'load': 54546, " \
    "'semi_axes': ['5.97*mm', '4.4*mm'], 'kalker': [4.473, 4.129, 1.876], "
#define S1002 RAIL_CONTACT "'wheel': 'S1002', 'rail': 'UIC60', 'rail_origin': '10.5315*mm'"
#define CONE RAIL_CONTACT "'wheel': 'cone', 'rail': 'round', 'rail_origin': '0.3*sin(atan(0.05))'"

/* Both wheels carry 54.5 kN; outputs y, yaw, z, roll, then of the left and of the right wheel
 * vertical, lateral, normal, slope, normal_velocity. */
enum { WHEELSET_OUTPUTS = 14 };

static inline void write_wheelset(char *text, const char *contact, const char *track,
                                  const char *initial, const char *forces, const char *run)
{
    static const char *const values[] = {"vertical", "lateral", "normal", "slope",
                                         "normal_velocity"};
    char part[4096];
    text[0] = 0;
    snprintf(part, sizeof part, "{'gravity': 0, 'tracks': {'line': {%s}}, ", track);
    add_text(text, part);
    add_profiles(text);
    snprintf(part, sizeof part,
             "'bodies': {'f': {'track': 'line', 'center': [0, 0, 0]}, 'b': {'mass': 1813, 'center':"
             " [0, 0, 0.46], 'inertia': [1120, 112, 1120]}}, 'joints': {'j': {'type': 'rolling', "
             "'bodies': ['f', 'b'], 'radius': 0.46, 'initial': {%s}}}, 'forces': {'weight': {"
             "'type': 'force', 'at': 'b', 'force': [0, 0, -109000]}, 'l': {'side': 'left', %s}, "
             "'r': {'side': 'right', %s}%s}, 'outputs': {",
             initial, contact, contact, forces);
    add_text(text, part);
    static const char *const own[] = {"y", "yaw", "z", "roll"};
    for (int i = 0; i < 4; i++) {
        snprintf(part, sizeof part, "'%s': {'joint': 'j', 'coordinate': '%s'}, ", own[i], own[i]);
        add_text(text, part);
    }
    for (int i = 0; i < 10; i++) {
        snprintf(part, sizeof part, "'%s%s': {'force': '%s', 'value': '%s'}%s", values[i % 5],
                 i < 5 ? "_l" : "_r", i < 5 ? "l" : "r", values[i % 5], i < 9 ? ", " : "}, ");
        add_text(text, part);
    }
    snprintf(part, sizeof part, "'run': {%s}}", run);
    add_text(text, part);
}

static inline bg_system *build_model(const char *text, const char *form, bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, model, &err));
    assert_ok(bg_model_create_system(*model, form, &sys, &err));
    free(copy);
    return sys;
}

/* The wavelength of the least damped oscillation of a free wheelset, joint form, at this speed. */
static inline double find_wave(const char *text, double speed)
{
    enum { SPIN = 5, HEIGHT = 2 };
    bg_error err = {BG_OK, ""};
    bg_model *m;
    bg_evaluator *ev;
    bg_system *sys = build_model(text, "joint", &m);
    const bg_system_def *d = bg_system_get_def(sys);
    double q[6], v[6] = {0}, lambda[2] = {54500, 54500}, re[12], im[12], best = INFINITY;
    double wave = 0;
    blocks x = blocks_create(d);
    assert_ok(bg_evaluator_create(sys, &ev, &err));
    memcpy(q, d->q0, sizeof q);
    /* x and spin are free: at rest against the frame where the creep is zero */
    for (int n = 0; n < 40; n++) {
        blocks_calc(ev, d, 0, q, v, lambda, &x);
        v[SPIN] -= x.r[SPIN] / x.r_v[SPIN * 6 + SPIN];
        q[HEIGHT] -= x.g[0] / x.G[HEIGHT];
        lambda[0] -= 0.5 * x.r[HEIGHT] / x.r_l[HEIGHT * 2];
        lambda[1] = lambda[0];
    }
    assert_true(fabs(x.r[SPIN]) < 1e-6 && fabs(x.r[HEIGHT]) < 1e-6 && fabs(x.g[0]) < 1e-14);
    find_modes(&x, re, im);
    for (int i = 0; i < 12; i++)
        if (im[i] > 0.01 && fabs(re[i]) < best)
            best = fabs(re[i]), wave = 2 * M_PI * speed / im[i];
    blocks_clear(&x);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
    bg_model_destroy(m);
    return wave;
}

#endif

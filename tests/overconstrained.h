/* Mechanisms that move although counting says that they do not: as JSON texts, turned, moved,
 * scaled and rounded. */
#ifndef OVERCONSTRAINED_H
#define OVERCONSTRAINED_H

#include "math/vec3.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a mechanism is put: x -> scale R x + shift, written with so many digits. */
typedef struct placement {
    bg_quat turn;
    bg_vec3 shift;
    double scale;
    int digits;
} placement;

static const placement as_drawn = {{1, 0, 0, 0}, {0, 0, 0}, 1, 17};

/* auto takes the steps of mdop5 where nothing is stiff, bit by bit (test_automatic),
 * sdirk4-first-order those of sdirk4 (test_dirk), and trapezoidal is sdirk4 with other coefficients
 * and many more steps: of what they repeat, a part is enough. */
static inline bool repeats_another(const char *integrator)
{
    return strcmp(integrator, "auto") == 0 || strcmp(integrator, "sdirk4-first-order") == 0 ||
           strcmp(integrator, "trapezoidal") == 0;
}

/* A rotation from four numbers, as random as they are. */
static inline bg_quat draw_turn(unsigned *seed)
{
    double x[4];
    for (int i = 0; i < 4; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        x[i] = (*seed >> 8) / (double)(1 << 24) - 0.5;
    }
    return bg_quat_normalise((bg_quat){x[0], x[1], x[2], x[3]});
}

typedef struct text {
    char buffer[16384];
    size_t used;
    placement at;
} text;

__attribute__((format(printf, 2, 3))) static inline void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->buffer + t->used, sizeof t->buffer - t->used, format,
                                 arguments);
    va_end(arguments);
}

static inline void put_vector(text *t, bg_vec3 x)
{
    int n = t->at.digits;
    put(t, "[%.*g, %.*g, %.*g]", n, x.x, n, x.y, n, x.z);
}

static inline bg_vec3 turned(const text *t, double x, double y, double z)
{
    bg_mat3 R = bg_rotation_from_quat(t->at.turn);
    return bg_rotate(&R, bg_vec3_make(x, y, z));
}

static inline void put_place(text *t, double x, double y, double z)
{
    put_vector(t, bg_add_scaled(t->at.shift, t->at.scale, turned(t, x, y, z)));
}

static inline void put_body(text *t, const char *name, double mass, const double c[3],
                            const double I[3])
{
    double k = t->at.scale * t->at.scale;
    const bg_quat q = t->at.turn;
    put(t, "%s\"%s\": {\"mass\": %.17g, \"center\": ", strstr(t->buffer, "\"mass\"") ? ", " : "",
        name, mass);
    put_place(t, c[0], c[1], c[2]);
    put(t, ", \"inertia\": [%.17g, %.17g, %.17g], \"orientation\": [%.17g, %.17g, %.17g, %.17g]}",
        k * I[0], k * I[1], k * I[2], q.w, q.x, q.y, q.z);
}

/* axis: NULL for joints that have none */
static inline void put_joint(text *t, const char *name, const char *type, const char *a,
                             const char *b, const double at[3], const double axis[3],
                             const char *more)
{
    put(t, "%s\"%s\": {\"type\": \"%s\", \"bodies\": [\"%s\", \"%s\"], \"at\": ",
        strstr(t->buffer, "\"type\"") ? ", " : "", name, type, a, b);
    put_place(t, at[0], at[1], at[2]);
    if (axis) {
        put(t, ", \"axis\": ");
        put_vector(t, turned(t, axis[0], axis[1], axis[2]));
    }
    put(t, "%s}", more);
}

#define AT(...) ((const double[3]){__VA_ARGS__})

static inline void begin_model(text *t, placement at, double gx, double gy, double gz)
{
    *t = (text){.at = at};
    put(t, "{\"gravity\": ");
    put_vector(t, bg_scale(at.scale, turned(t, gx, gy, gz)));
    put(t, ", \"bodies\": {");
}

static inline void end_model(text *t, const char *joint, double t_end)
{
    put(t,
        "}, \"outputs\": {\"y\": {\"joint\": \"%s\"}, \"e\": {\"energy\": \"total\"}}, \"run\": "
        "{\"t_end\": %g}}",
        joint, t_end);
}

static const char start_fast[] =
    ", \"initial\": {\"velocity\": 4, \"fixed\": true, \"fixed_velocity\": true}";

/* A door on n hinges in line, the last one oblique. */
static inline void write_door(text *t, placement at, int n, double oblique)
{
    begin_model(t, at, 2, 0.6, -9.81);
    put_body(t, "door", 20, AT(0.4, 0.3, 1), AT(7, 8, 1.2));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < n; i++) {
        char name[16];
        double angle = i == n - 1 ? oblique : 0;
        snprintf(name, sizeof name, "h%d", i);
        put_joint(t, name, "revolute", "ground", "door", AT(0, 0, 0.2 + 1.6 * i / (n - 1)),
                  AT(sin(angle), 0, cos(angle)), "");
    }
    end_model(t, "h0", 2);
}

static inline void write_doors(text *t, placement at)
{
    write_door(t, at, 3, 0);
}

/* Four hinges in a plane. */
static inline void write_four_bar(text *t, placement at)
{
    const double *y = AT(0, 1, 0);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "crank", 2, AT(0, 0, 0.5), AT(0.2, 0.2, 0.01));
    put_body(t, "coupler", 5, AT(1.25, 0, 1.5), AT(0.1, 3, 3));
    put_body(t, "rocker", 4, AT(2.75, 0, 1), AT(1.4, 1.4, 0.1));
    put(t, "}, \"joints\": {");
    put_joint(t, "A", "revolute", "ground", "crank", AT(0, 0, 0), y, start_fast);
    put_joint(t, "B", "revolute", "crank", "coupler", AT(0, 0, 1), y, "");
    put_joint(t, "D", "revolute", "ground", "rocker", AT(3, 0, 0), y, "");
    put_joint(t, "C", "revolute", "rocker", "coupler", AT(2.5, 0, 2), y, "");
    end_model(t, "A", 2);
}

/* Three hinges and a guide in a plane. */
static inline void write_slider_crank(text *t, placement at)
{
    const double *y = AT(0, 1, 0);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "crank", 2, AT(0.15, 0, 0.1), AT(0.2, 0.2, 0.2));
    put_body(t, "rod", 1, AT(0.8, 0, 0.1), AT(0.01, 0.1, 0.1));
    put_body(t, "slider", 3, AT(1.3, 0, 0), AT(0.1, 0.1, 0.1));
    put(t, "}, \"joints\": {");
    put_joint(t, "A", "revolute", "ground", "crank", AT(0, 0, 0), y, start_fast);
    put_joint(t, "B", "revolute", "crank", "rod", AT(0.3, 0, 0.2), y, "");
    put_joint(t, "C", "revolute", "rod", "slider", AT(1.3, 0, 0), y, "");
    put_joint(t, "S", "prismatic", "ground", "slider", AT(1.3, 0, 0), AT(1, 0, 0), "");
    end_model(t, "A", 2);
}

/* Three parallel cranks, of which each two are in line at another time: the third holds them then.
 * The start is away from the drawing. */
static inline void write_cranks_with(text *t, placement at, bool kicked)
{
    static const char *const crank[] = {"c0", "c1", "c2"}, *const foot[] = {"a0", "a1", "a2"},
                             *const head[] = {"b0", "b1", "b2"};
    static const double x[] = {0, 0.7, 1.4}, z[] = {0, 0, -0.4};
    const double *y = AT(0, 1, 0);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "bar", 5, AT(0.7, 0, 1), AT(0.1, 1, 1));
    for (int i = 0; i < 3; i++)
        put_body(t, crank[i], 1, AT(x[i], 0, z[i] + 0.5), AT(0.1, 0.1, 0.01));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 3; i++) {
        put_joint(t, foot[i], "revolute", "ground", crank[i], AT(x[i], 0, z[i]), y,
                  i > 0 ? ""
                        : ", \"initial\": {\"position\": 0.3, \"velocity\": 4, \"fixed\": true, "
                          "\"fixed_velocity\": true}");
        put_joint(t, head[i], "revolute", crank[i], "bar", AT(x[i], 0, z[i] + 1), y, "");
    }
    if (kicked) /* a torque with corners: events on the way */
        put(t,
            "}, \"inputs\": {\"torque\": {\"type\": \"table\", \"interpolation\": \"linear\", "
            "\"times\": [0, 0.21, 0.24, 0.35, 0.4, 0.6, 0.65], \"values\": [0, %.17g, 0, %.17g, 0, "
            "%.17g, 0]}}, \"forces\": {\"motor\": {\"type\": \"torsion\", \"joint\": \"a1\", "
            "\"torque\": \"torque\"}",
            300 * t->at.scale * t->at.scale, -200 * t->at.scale * t->at.scale,
            100 * t->at.scale * t->at.scale);
    end_model(t, "a0", 2);
}

static inline void write_cranks(text *t, placement at)
{
    write_cranks_with(t, at, false);
}

static inline void write_kicked_cranks(text *t, placement at)
{
    write_cranks_with(t, at, true);
}

/* Bennett's loop of four skew hinges: lengths a, b, a, b and twists alpha, beta, alpha, beta with
 * sin(alpha) / a = sin(beta) / b close it, tan(t1/2) tan(t2/2) = sin((beta + alpha)/2) /
 * sin((beta - alpha)/2). */
static inline void write_bennett(text *t, placement at)
{
    static const char *const body[] = {"ground", "l1", "l2", "l3", "ground"}, *const joint[] = {
                                                                                  "j0", "j1", "j2",
                                                                                  "j3"};
    const double a = 1, b = 0.7, alpha = 0.9, beta = asin(b * sin(alpha) / a), t1 = 1.1;
    const double t2 = 2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(t1 / 2));
    const double theta[] = {t1, t2, -t1, -t2}, length[] = {a, b, a, b},
                 twist[] = {alpha, beta, alpha, beta};
    double place[5][3], axis[5][3];
    bg_frame f = {{0, 0, 0}, bg_mat3_identity()};
    for (int i = 0; i < 5; i++) {
        bg_vec3_store(f.r, place[i]);
        bg_vec3_store(bg_axis(&f.R, 2), axis[i]);
        if (i == 4)
            break;
        bg_quat turn = {cos(theta[i] / 2), 0, 0, sin(theta[i] / 2)};
        bg_quat tilt = {cos(twist[i] / 2), sin(twist[i] / 2), 0, 0};
        bg_mat3 Rz = bg_rotation_from_quat(turn), Rx = bg_rotation_from_quat(tilt);
        f.R = bg_mat3_multiply(&f.R, &Rz);
        f.r = bg_add_scaled(f.r, length[i], bg_axis(&f.R, 0));
        f.R = bg_mat3_multiply(&f.R, &Rx);
    }
    begin_model(t, at, 0, 0, -9.81);
    for (int i = 0; i < 3; i++)
        put_body(t, body[i + 1], 3,
                 AT((place[i][0] + place[i + 1][0]) / 2, (place[i][1] + place[i + 1][1]) / 2,
                    (place[i][2] + place[i + 1][2]) / 2),
                 AT(0.3, 0.35, 0.4));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 4; i++)
        put_joint(t, joint[i], "revolute", body[i], body[i + 1], place[i], axis[i],
                  i == 0 ? start_fast : "");
    end_model(t, "j0", 2);
}

/* Sarrus' linkage: two pairs of legs hold a plate parallel to the ground. */
static inline void write_sarrus(text *t, placement at)
{
    static const char *const lower[] = {"a1", "a2"}, *const upper[] = {"b1", "b2"};
    static const char *const joint[2][3] = {{"p1", "q1", "r1"}, {"p2", "q2", "r2"}};
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "top", 4, AT(0, 0, 1), AT(0.5, 0.5, 0.8));
    for (int k = 0; k < 2; k++) {
        put_body(t, lower[k], 1, AT(k ? 0 : 0.75, k ? 0.75 : 0, 0.25), AT(0.1, 0.1, 0.05));
        put_body(t, upper[k], 1, AT(k ? 0 : 0.75, k ? 0.75 : 0, 0.75), AT(0.1, 0.1, 0.05));
    }
    put(t, "}, \"joints\": {");
    for (int k = 0; k < 2; k++) {
        const double axis[3] = {k, !k, 0};
        put_joint(t, joint[k][0], "revolute", "ground", lower[k], AT(0.5 * !k, 0.5 * k, 0), axis,
                  k == 0 ? ", \"initial\": {\"velocity\": -1}" : "");
        put_joint(t, joint[k][1], "revolute", lower[k], upper[k], AT(!k, k, 0.5), axis, "");
        put_joint(t, joint[k][2], "revolute", upper[k], "top", AT(0.5 * !k, 0.5 * k, 1), axis, "");
    }
    end_model(t, "p1", 0.3);
}

/* A carriage on three parallel guides. */
static inline void write_guides(text *t, placement at)
{
    static const char *const joint[] = {"s0", "s1", "s2"};
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "carriage", 2, AT(0, 0, 0.1), AT(0.2, 0.2, 0.2));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 3; i++)
        put_joint(t, joint[i], "prismatic", "ground", "carriage", AT(0, 0.3 * i, 0), AT(1, 0, -0.2),
                  "");
    end_model(t, "s0", 1);
}

static inline double draw_within(unsigned *seed, double a, double b)
{
    *seed = *seed * 1664525u + 1013904223u;
    return a + (b - a) * ((*seed >> 8) / (double)(1 << 24));
}

static inline int draw_below(unsigned *seed, int n)
{
    return (int)draw_within(seed, 0, n);
}

/* A joint of a random mechanism: at a place on a line, along it, with a name of its own. */
typedef struct line_joint {
    const char *a, *b;
    double at[3], axis[3];
    int count;
} line_joint;

static inline void put_random_joint(text *t, line_joint *j, const char *type, double along,
                                    double beside, bool axis)
{
    char name[32];
    double side[3] = {-j->axis[1], j->axis[0], 0}, at[3];
    for (int i = 0; i < 3; i++)
        at[i] = j->at[i] + along * j->axis[i] + beside * side[i];
    snprintf(name, sizeof name, "%s-%d", j->b, j->count++);
    put(t, "%s\"%s\": {\"type\": \"%s\", \"bodies\": [\"%s\", \"%s\"], \"at\": ",
        strstr(t->buffer, "\"type\"") ? ", " : "", name, type, j->a, j->b);
    put_place(t, at[0], at[1], at[2]);
    if (axis) {
        put(t, ", \"axis\": ");
        put_vector(t, turned(t, j->axis[0], j->axis[1], j->axis[2]));
    }
    put(t, "}");
}

/* A hinge, a guide or a ball, made of more constraints than it needs. */
static inline void put_redundant(text *t, line_joint *j, unsigned *seed)
{
    double l = draw_within(seed, 0.3, 0.8), d = draw_within(seed, 0.2, 0.6);
    switch (draw_below(seed, 10)) {
    case 0: /* two balls on a line: a hinge */
        put_random_joint(t, j, "spherical", 0, 0, false);
        put_random_joint(t, j, "spherical", l, 0, false);
        break;
    case 1:
        put_random_joint(t, j, "spherical", l, 0, false);
        put_random_joint(t, j, "revolute", 0, 0, true);
        break;
    case 2:
        put_random_joint(t, j, "cylindrical", 0, 0, true);
        put_random_joint(t, j, "spherical", l, 0, false);
        put_random_joint(t, j, "point-on-line", -l, 0, true);
        break;
    case 3:
        put_random_joint(t, j, "planar", 0, 0, true);
        put_random_joint(t, j, "spherical", l, 0, false);
        break;
    case 4:
        put_random_joint(t, j, "revolute", 0, 0, true);
        put_random_joint(t, j, "point-on-plane", l, d, true);
        put_random_joint(t, j, "cylindrical", l, 0, true);
        break;
    case 5: /* guides */
        put_random_joint(t, j, "cylindrical", 0, 0, true);
        put_random_joint(t, j, "cylindrical", l, d, true);
        break;
    case 6:
        put_random_joint(t, j, "prismatic", 0, 0, true);
        put_random_joint(t, j, "point-on-line", l, d, true);
        put_random_joint(t, j, "point-on-line", l, 0, true);
        break;
    case 7:
        put_random_joint(t, j, "cylindrical", l, d, true);
        put_random_joint(t, j, "prismatic", 0, 0, true);
        break;
    case 8: /* balls */
        put_random_joint(t, j, "spherical", 0, 0, false);
        put_random_joint(t, j, "spherical", 0, 0, false);
        break;
    default: /* no freedom */
        put_random_joint(t, j, "fixed", 0, 0, false);
        put_random_joint(t, j, "spherical", l, d, false);
        break;
    }
}

/* Two to four bodies in a tree whose joints are made of more constraints than they need; y is a
 * distance. */
static inline void write_random(text *t, placement at, unsigned seed)
{
    static const char *const name[] = {"ground", "b1", "b2", "b3", "b4"};
    int n = 2 + draw_below(&seed, 3);
    double c[5][3] = {{0, 0, 0}};
    begin_model(t, at, 1, 2, -9.81);
    for (int i = 1; i <= n; i++) {
        for (int k = 0; k < 3; k++)
            c[i][k] = draw_within(&seed, -1, 1);
        double a = draw_within(&seed, 0.1, 0.4), b = draw_within(&seed, 0.1, 0.4);
        put_body(t, name[i], draw_within(&seed, 1, 3), c[i],
                 AT(a, b, fmax(a, b) * draw_within(&seed, 0.6, 0.95)));
        t->used--; /* its closing brace */
        put(t, ", \"angular_velocity\": ");
        put_vector(t, turned(t, draw_within(&seed, -2, 2), draw_within(&seed, -2, 2),
                             draw_within(&seed, -2, 2)));
        put(t, "}");
    }
    put(t, "}, \"joints\": {");
    for (int i = 1; i <= n; i++) {
        line_joint j = {.a = name[draw_below(&seed, i)], .b = name[i]};
        double length = 0;
        for (int k = 0; k < 3; k++) {
            j.at[k] = c[i][k] + draw_within(&seed, -0.5, 0.5);
            j.axis[k] = draw_within(&seed, -1, 1);
            length += j.axis[k] * j.axis[k];
        }
        for (int k = 0; k < 3; k++)
            j.axis[k] /= sqrt(length);
        put_redundant(t, &j, &seed);
    }
    put(t, "}, \"outputs\": {\"y\": {\"distance\": [\"%s\", ", name[n]);
    put_place(t, 1.3, -0.4, 2.2);
    put(t, "]}, \"e\": {\"energy\": \"total\"}}, \"run\": {\"t_end\": 0.5}}");
}

/* A rod between two places of bodies, its length given, too. */
static inline void put_rod(text *t, const char *name, const char *const body[2], const double a[3],
                           const double b[3])
{
    put(t, ", \"%s\": {\"type\": \"distance\", \"points\": [{\"body\": \"%s\", \"at\": ", name,
        body[0]);
    put_place(t, a[0], a[1], a[2]);
    put(t, "}, {\"body\": \"%s\", \"at\": ", body[1]);
    put_place(t, b[0], b[1], b[2]);
    put(t, "}], \"length\": %.*g}", t->at.digits,
        t->at.scale * sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
}

/* A plate on a crank and three rods that are parallel to it. */
static inline void write_rods(text *t, placement at)
{
    static const char *const name[] = {"r0", "r1", "r2"}, *const ends[] = {"ground", "plate"};
    static const double x[] = {0.4, 0.9, 1.3}, z[] = {0, 0.1, -0.3};
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "crank", 1, AT(0.1, 0, -0.5), AT(0.1, 0.1, 0.01));
    put_body(t, "plate", 4, AT(0.8, 0, -1), AT(0.1, 0.3, 0.2));
    put(t, "}, \"joints\": {");
    put_joint(t, "h", "revolute", "ground", "crank", AT(0, 0, 0), AT(0, 1, 0), start_fast);
    put_joint(t, "e", "revolute", "crank", "plate", AT(0.2, 0, -1), AT(0, 1, 0), "");
    for (int i = 0; i < 3; i++)
        put_rod(t, name[i], ends, AT(x[i], 0, z[i]), AT(x[i] + 0.2, 0, z[i] - 1));
    end_model(t, "h", 0.5);
}

/* Three wheels coupled by rods on both sides, a quarter of a turn apart: one side is in its dead
 * centre, where it constrains nothing, at the start and after every half turn. */
static inline void write_wheels(text *t, placement at)
{
    static const char *const wheel[] = {"w0", "w1", "w2"}, *const hinge[] = {"h0", "h1", "h2"},
                             *const left[] = {"l0", "l1"}, *const right[] = {"r0", "r1"};
    begin_model(t, at, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        put_body(t, wheel[i], 50, AT(1.5 * i, 0, 0), AT(2, 4, 2));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 3; i++)
        put_joint(t, hinge[i], "revolute", "ground", wheel[i], AT(1.5 * i, 0, 0), AT(0, 1, 0),
                  i == 0 ? start_fast : "");
    for (int i = 0; i < 2; i++) {
        put_rod(t, left[i], &wheel[i], AT(1.5 * i + 0.3, 0.8, 0), AT(1.5 * i + 1.8, 0.8, 0));
        put_rod(t, right[i], &wheel[i], AT(1.5 * i, -0.8, 0.3), AT(1.5 * i + 1.5, -0.8, 0.3));
    }
    end_model(t, "h0", 1.5);
}

typedef struct mechanism {
    const char *name;
    void (*write)(text *t, placement at);
    bool slides; /* the output is a length */
} mechanism;

static const mechanism mechanisms[] = {{"door", write_doors, false},
                                       {"four-bar", write_four_bar, false},
                                       {"slider-crank", write_slider_crank, false},
                                       {"cranks", write_cranks, false},
                                       {"kicked cranks", write_kicked_cranks, false},
                                       {"Bennett", write_bennett, false},
                                       {"Sarrus", write_sarrus, false},
                                       {"guides", write_guides, true},
                                       {"rods", write_rods, false},
                                       {"wheels", write_wheels, false}};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

/* A plate on three arms by pairs of parallel rods (a delta robot), of which six constraints are
 * redundant; it comes near a position in which others become dependent, and passes by. */
static inline void write_delta(text *t, placement at)
{
    bg_vec3 e[3], y[3];
    begin_model(t, at, 0.2, 0.1, -9.81);
    put_body(t, "plate", 2, AT(0, 0, -0.9), AT(0.02, 0.02, 0.03));
    for (int i = 0; i < 3; i++) {
        char name[3][8];
        const double a = 2 * M_PI * i / 3 + 0.1;
        e[i] = bg_vec3_make(cos(a), sin(a), 0);
        y[i] = bg_vec3_make(-sin(a), cos(a), 0);
        snprintf(name[0], sizeof name[0], "arm%d", i);
        put_body(t, name[0], 1, AT(0.475 * e[i].x, 0.475 * e[i].y, 0), AT(0.02, 0.021, 0.022));
        for (int j = 0; j < 2; j++) {
            bg_vec3 o = bg_scale(j ? 0.08 : -0.08, y[i]), m = bg_add_scaled(o, 0.375, e[i]);
            snprintf(name[1], sizeof name[1], "r%d%d", i, j);
            put_body(t, name[1], 0.3, AT(m.x, m.y, -0.45), AT(0.01, 0.011, 0.012));
        }
    }
    put(t, "}, \"joints\": {");
    for (int i = 0; i < 3; i++) {
        const double *axis = AT(y[i].x, y[i].y, 0);
        char arm[8], rod[8], name[2][8], more[160];
        snprintf(arm, sizeof arm, "arm%d", i);
        snprintf(name[0], sizeof name[0], "s%d", i);
        put_joint(t, name[0], "revolute", "ground", arm, AT(0.3 * e[i].x, 0.3 * e[i].y, 0), axis,
                  i ? "" : ", \"initial\": {\"velocity\": 0.7}");
        bg_vec3 across = bg_cross(y[i], bg_add_scaled(bg_vec3_make(0, 0, -0.9), -0.55, e[i]));
        bg_vec3 w = turned(t, across.x, across.y, across.z), v = turned(t, y[i].x, y[i].y, 0);
        for (int j = 0; j < 2; j++) {
            bg_vec3 o = bg_scale(j ? 0.08 : -0.08, y[i]), elbow = bg_add_scaled(o, 0.65, e[i]),
                    wrist = bg_add_scaled(o, 0.1, e[i]);
            snprintf(rod, sizeof rod, "r%d%d", i, j);
            snprintf(name[0], sizeof name[0], "e%d%d", i, j);
            snprintf(name[1], sizeof name[1], "w%d%d", i, j);
            snprintf(more, sizeof more, ", \"second\": [%.17g, %.17g, %.17g]", w.x, w.y, w.z);
            put_joint(t, name[0], "universal", arm, rod, AT(elbow.x, elbow.y, 0), axis, more);
            snprintf(more, sizeof more, ", \"second\": [%.17g, %.17g, %.17g]", v.x, v.y, v.z);
            put_joint(t, name[1], "universal", rod, "plate", AT(wrist.x, wrist.y, -0.9),
                      AT(across.x, across.y, across.z), more);
        }
    }
    end_model(t, "s0", 0.8);
}

#endif

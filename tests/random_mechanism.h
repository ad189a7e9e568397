/* Random mechanisms as model texts, for tests that must hold for any mechanism.
 *
 * A tree of bodies, joined to the ground or to each other in either direction, and up to five
 * joints more that close loops, perhaps a gear or a rack, and forces, controllers and tyres, some
 * with laws that look at sensors. Every joint is placed where both bodies are in the design
 * position, so the design position is assembled by construction. A seed gives the same text
 * everywhere. */
#ifndef RANDOM_MECHANISM_H
#define RANDOM_MECHANISM_H

#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANDOM_BODIES = 30, RANDOM_JOINTS = RANDOM_BODIES + 5 };

typedef struct mechanism_joint {
    int type, a, b; /* of random_types; bodies, 0: ground */
    bool closing;   /* added behind the tree */
    bool cut;
} mechanism_joint;

typedef struct random_mechanism {
    uint64_t seed;
    int bodies, joints, loops;         /* without the ground; all joints; closing ones */
    int cuts;                          /* tree joints that the text says to cut */
    bool moved;                        /* starts away from the design position */
    int driven;                        /* joint whose last coordinate follows the input; -1: none */
    bool drives[RANDOM_JOINTS];        /* joints of which coordinates follow one of two inputs */
    int ndrives;                       /* coordinates that do */
    bg_vec3 centre[RANDOM_BODIES + 1]; /* [bodies + 1] */
    mechanism_joint joint[RANDOM_JOINTS]; /* [joints] */
    char *text;                           /* to be released with free() */
} random_mechanism;

typedef struct random_type {
    const char *name;
    int axes, ncoordinates;
    const char *coordinate[3];
} random_type;

enum { RANDOM_TREE_TYPES = 9, RANDOM_TYPES = 12 };

/* Those that can be part of the tree first. */
static inline const random_type *random_get_type(int k)
{
    static const random_type types[RANDOM_TYPES] = {
        {"revolute", 1, 1, {"angle"}},
        {"prismatic", 1, 1, {"slide"}},
        {"cylindrical", 1, 2, {"angle", "slide"}},
        {"universal", 2, 2, {"angle", "second"}},
        {"spherical", 0, 0, {NULL}},
        {"planar", 1, 3, {"x", "y", "angle"}},
        {"screw", 1, 1, {"angle"}},
        {"free", 0, 0, {NULL}},
        {"fixed", 0, 0, {NULL}},
        {"distance", 0, 0, {NULL}},
        {"point-on-line", 1, 0, {NULL}},
        {"point-on-plane", 1, 0, {NULL}},
    };
    return &types[k];
}

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *seed)
{
    uint64_t x = (*seed += 0x9e3779b97f4a7c15u); /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static inline double random_between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_unit(seed);
}

/* 0 .. n - 1 */
static inline int random_below(uint64_t *seed, int n)
{
    return (int)(n * random_unit(seed));
}

static inline bool random_chance(uint64_t *seed, double p)
{
    return random_unit(seed) < p;
}

static inline bg_vec3 random_vec3(uint64_t *seed, double size)
{
    double x = random_between(seed, -size, size), y = random_between(seed, -size, size);
    return bg_vec3_make(x, y, random_between(seed, -size, size));
}

static inline bg_vec3 random_direction(uint64_t *seed)
{
    bg_vec3 a;
    do
        a = random_vec3(seed, 1);
    while (bg_length(a) < 0.1);
    return bg_scale(1 / bg_length(a), a);
}

static inline void random_write_vec3(FILE *out, const char *key, bg_vec3 a)
{
    fprintf(out, ", \"%s\": [%.17g, %.17g, %.17g]", key, a.x, a.y, a.z);
}

static inline const char *random_body_name(int body, char name[16])
{
    snprintf(name, 16, body > 0 ? "b%d" : "ground", body);
    return name;
}

/* Principal moments (y + z, x + z, x + y) with positive x, y, z are those of a real body. */
static inline void random_write_body(random_mechanism *m, FILE *out, int body)
{
    uint64_t *s = &m->seed;
    double x = random_between(s, 0.01, 0.2), y = random_between(s, 0.01, 0.2);
    double z = random_between(s, 0.01, 0.2);
    bg_vec3 axis = random_direction(s);
    fprintf(out, "\"b%d\": {\"mass\": %.17g", body, random_between(s, 0.5, 3));
    random_write_vec3(out, "center", m->centre[body]);
    fprintf(out,
            ", \"inertia\": {\"principal\": [%.17g, %.17g, %.17g], \"orientation\": {\"axis\": "
            "[1, 2, 3], \"angle\": %.17g}}",
            y + z, x + z, x + y, random_between(s, -3, 3));
    fprintf(out, ", \"orientation\": {\"axis\": [%.17g, %.17g, %.17g], \"angle\": %.17g}", axis.x,
            axis.y, axis.z, random_between(s, -3, 3));
    random_write_vec3(out, "velocity", random_vec3(s, 1));
    random_write_vec3(out, "angular_velocity", random_vec3(s, 1));
    fprintf(out, "}");
}

/* Bodies in an order that has nothing to do with the tree. */
static inline void random_write_bodies(random_mechanism *m, FILE *out)
{
    int order[RANDOM_BODIES];
    for (int k = 0; k < m->bodies; k++) {
        int at = random_below(&m->seed, k + 1);
        order[k] = order[at];
        order[at] = k + 1;
    }
    fprintf(out, "\"bodies\": {");
    for (int k = 0; k < m->bodies; k++) {
        fprintf(out, k > 0 ? ",\n" : "\n");
        random_write_body(m, out, order[k]);
    }
    fprintf(out, "},\n");
}

static inline void random_write_start(random_mechanism *m, FILE *out, const random_type *t)
{
    fprintf(out, ", \"initial\": {");
    for (int k = 0; k < t->ncoordinates; k++)
        fprintf(out, "%s\"%s\": {\"position\": %.17g, \"velocity\": %.17g}", k > 0 ? ", " : "",
                t->coordinate[k], m->moved ? random_between(&m->seed, -0.5, 0.5) : 0.0,
                random_between(&m->seed, -2, 2));
    fprintf(out, "}");
}

static inline void random_write_point(random_mechanism *m, FILE *out, int body)
{
    char name[16];
    bg_vec3 r = bg_add(m->centre[body], random_vec3(&m->seed, 0.3));
    fprintf(out, "{\"body\": \"%s\", \"at\": [%.17g, %.17g, %.17g]}", random_body_name(body, name),
            r.x, r.y, r.z);
}

/* The last coordinate or all of them, of either input. */
static inline void random_write_drives(random_mechanism *m, FILE *out, const random_type *t)
{
    int first = random_chance(&m->seed, 0.3) ? 0 : t->ncoordinates - 1;
    fprintf(out, ", \"prescribed\": {");
    for (int c = first; c < t->ncoordinates; c++, m->ndrives++)
        fprintf(out, "%s\"%s\": \"%s\"", c > first ? ", " : "", t->coordinate[c],
                random_chance(&m->seed, 0.5) ? "drive" : "lift");
    fprintf(out, "}");
}

static inline void random_write_joint(random_mechanism *m, FILE *out, int k)
{
    uint64_t *s = &m->seed;
    const mechanism_joint *j = &m->joint[k];
    const random_type *t = random_get_type(j->type);
    char a[16], b[16];
    fprintf(out, "\"j%d\": {\"type\": \"%s\"", k, t->name);
    if (strcmp(t->name, "distance") == 0) {
        fprintf(out, ", \"points\": [");
        random_write_point(m, out, j->a);
        fprintf(out, ", ");
        random_write_point(m, out, j->b);
        fprintf(out, "]}");
        return;
    }
    fprintf(out, ", \"bodies\": [\"%s\", \"%s\"]", random_body_name(j->a, a),
            random_body_name(j->b, b));
    bg_vec3 middle = bg_scale(0.5, bg_add(m->centre[j->a], m->centre[j->b]));
    random_write_vec3(out, "at", bg_add(middle, random_vec3(s, 0.3)));
    if (t->axes > 0) {
        bg_vec3 axis = random_direction(s), other;
        do
            other = bg_cross(axis, random_direction(s));
        while (bg_length(other) < 0.1);
        random_write_vec3(out, "axis", axis);
        if (t->axes > 1)
            random_write_vec3(out, "second", other);
    }
    if (strcmp(t->name, "screw") == 0)
        fprintf(out, ", \"pitch\": %.17g", random_between(s, 0.05, 0.5));
    if (j->cut)
        fprintf(out, ", \"cut\": true");
    if (t->ncoordinates > 0)
        random_write_start(m, out, t);
    if (m->drives[k])
        random_write_drives(m, out, t);
    if (k == m->driven)
        fprintf(out, ", \"prescribed\": {\"%s\": \"drive\"}", t->coordinate[t->ncoordinates - 1]);
    fprintf(out, "}");
}

/* A joint with scalar coordinates other than `but`; -1: there is none. */
static inline int random_find_measured(random_mechanism *m, int but)
{
    int first = random_below(&m->seed, m->joints);
    for (int i = 0; i < m->joints; i++) {
        int k = (first + i) % m->joints;
        if (k != but && random_get_type(m->joint[k].type)->ncoordinates > 0)
            return k;
    }
    return -1;
}

/* A gear or a rack, between joints that both have coordinates. */
static inline void random_write_coupler(random_mechanism *m, FILE *out)
{
    int first = random_chance(&m->seed, 0.3) ? random_find_measured(m, -1) : -1;
    int second = first >= 0 ? random_find_measured(m, first) : -1;
    if (second < 0)
        return;
    const char *x = random_get_type(m->joint[first].type)->coordinate[0];
    const char *y = random_get_type(m->joint[second].type)->coordinate[0];
    double factor = random_between(&m->seed, 0.2, 2);
    if (random_chance(&m->seed, 0.5))
        fprintf(out,
                ",\n\"gear\": {\"type\": \"gear\", \"joints\": [[\"j%d\", \"%s\"], [\"j%d\", "
                "\"%s\"]], \"ratio\": %.17g}",
                first, x, second, y, -factor);
    else
        fprintf(out,
                ",\n\"rack\": {\"type\": \"rack-pinion\", \"pinion\": [\"j%d\", \"%s\"], "
                "\"rack\": [\"j%d\", \"%s\"], \"radius\": %.17g}",
                first, x, second, y, factor);
}

static inline void random_write_joints(random_mechanism *m, FILE *out)
{
    bool closing_first = random_chance(&m->seed, 0.5);
    fprintf(out, "\"joints\": {");
    for (int pass = 0, n = 0; pass < 2; pass++)
        for (int k = 0; k < m->joints; k++)
            if (m->joint[k].closing == (closing_first == (pass == 0))) {
                fprintf(out, n++ > 0 ? ",\n" : "\n");
                random_write_joint(m, out, k);
            }
    random_write_coupler(m, out);
    fprintf(out, "},\n");
}

static inline void random_write_six(random_mechanism *m, FILE *out, const char *key, double size)
{
    fprintf(out, ", \"%s\": [", key);
    for (int k = 0; k < 6; k++)
        fprintf(out, "%s%.17g", k > 0 ? ", " : "", random_between(&m->seed, 0, size));
    fprintf(out, "]");
}

/* A formula of one to three sensors, each of which looks at up to two bodies. */
static inline void random_write_law(random_mechanism *m, FILE *out)
{
    uint64_t *s = &m->seed;
    fprintf(out, "\"3*cos(2*t)");
    for (int k = 0, n = 1 + random_below(s, 3); k < n; k++) {
        int body = 1 + random_below(s, m->bodies), joint = random_find_measured(m, -1);
        char axis = (char)('x' + random_below(s, 3));
        switch (random_below(s, joint < 0 ? 5 : 7)) {
        case 0:
            fprintf(out, " + 2*x%d.%c", body, axis);
            break;
        case 1:
            fprintf(out, " - v%d.%c", body, axis);
            break;
        case 2:
            fprintf(out, " - 0.5*w%d.%c*v%d.z", body, axis, body);
            break;
        case 3:
            fprintf(out, " + o%d.%c^2", body, axis);
            break;
        case 4:
            fprintf(out, " + 3/(1 + d%d^2)", body);
            break;
        case 5:
            fprintf(out, " - 2*c%d", joint);
            break;
        default:
            fprintf(out, " - drive*n%d", joint);
        }
    }
    fprintf(out, "\"");
}

static inline void random_write_spring(random_mechanism *m, FILE *out, int body, int other)
{
    uint64_t *s = &m->seed;
    fprintf(out, "{\"type\": \"spring-damper\", \"from\": ");
    random_write_point(m, out, other);
    fprintf(out, ", \"to\": ");
    random_write_point(m, out, body);
    if (random_chance(s, 0.3))
        fprintf(out, ", \"stiffness_table\": [[-1, -30], [0, 0], [0.5, 20], [2, 90]], "
                     "\"damping_table\": [[-2, -5], [0, 0], [3, 4]]");
    else
        fprintf(out, ", \"stiffness\": %.17g, \"damping\": %.17g", random_between(s, 0, 100),
                random_between(s, 0, 5));
    fprintf(out, ", \"free_length\": %.17g", random_between(s, 0.2, 2));
    if (random_chance(s, 0.3)) {
        fprintf(out, ", \"actuator\": ");
        random_write_law(m, out);
    }
    fprintf(out, "}");
}

static inline const char *random_choose_coordinate(random_mechanism *m, int joint)
{
    const random_type *t = random_get_type(m->joint[joint].type);
    return t->coordinate[random_below(&m->seed, t->ncoordinates)];
}

static inline void random_write_torsion(random_mechanism *m, FILE *out, int joint)
{
    uint64_t *s = &m->seed;
    const char *coordinate = random_choose_coordinate(m, joint);
    bool angle = strcmp(coordinate, "angle") == 0 || strcmp(coordinate, "second") == 0;
    fprintf(out,
            "{\"type\": \"torsion\", \"joint\": \"j%d\", \"coordinate\": \"%s\", \"stiffness\": "
            "%.17g, \"damping\": %.17g, \"turns\": %s, \"torque\": ",
            joint, coordinate, random_between(s, 0, 50), random_between(s, 0, 2),
            angle && random_chance(s, 0.5) ? "true" : "false");
    if (random_chance(s, 0.5))
        random_write_law(m, out);
    else
        fprintf(out, "\"2*cos(3*t)-rate^2\"");
    fprintf(out, "}");
}

static inline void random_write_bushing(random_mechanism *m, FILE *out, int body, int other)
{
    char a[16], b[16];
    fprintf(out, "{\"type\": \"bushing\", \"bodies\": [\"%s\", \"%s\"]", random_body_name(body, a),
            random_body_name(other, b));
    random_write_vec3(out, "at", bg_add(m->centre[body], random_vec3(&m->seed, 0.3)));
    random_write_six(m, out, "stiffness", 50);
    random_write_six(m, out, "damping", 3);
    fprintf(out, "}");
}

/* Of a force or a torque; the second component is a law. */
static inline void random_write_applied(random_mechanism *m, FILE *out, int body, bool force)
{
    uint64_t *s = &m->seed;
    fprintf(out, "{\"type\": \"%s\", \"%s\": ", force ? "force" : "torque", force ? "at" : "body");
    if (force)
        random_write_point(m, out, body);
    else
        fprintf(out, "\"b%d\"", body);
    fprintf(out, ", \"%s\": [%.17g, ", force ? "force" : "torque", random_between(s, -5, 5));
    random_write_law(m, out);
    fprintf(out, ", %.17g], \"axes\": \"%s\"}", random_between(s, -5, 5),
            random_chance(s, 0.5) ? "world" : "body");
}

static inline void random_write_controller(random_mechanism *m, FILE *out, int joint)
{
    uint64_t *s = &m->seed;
    fprintf(out, "{\"type\": \"controller\", \"input\": ");
    random_write_law(m, out);
    fprintf(out,
            ", \"reference\": \"drive\", \"kp\": %.17g, \"ki\": %.17g, \"kd\": %.17g, \"filter\": "
            "0.1, \"output\": {\"joint\": \"j%d\", \"coordinate\": \"%s\"}}",
            random_between(s, 0, 5), random_between(s, 0, 5), random_between(s, 0, 0.5), joint,
            random_choose_coordinate(m, joint));
}

static inline void random_write_force(random_mechanism *m, FILE *out, int k)
{
    uint64_t *s = &m->seed;
    int body = 1 + random_below(s, m->bodies), other = random_below(s, body);
    int joint = random_find_measured(m, -1), kind = random_below(s, joint < 0 ? 5 : 7);
    fprintf(out, "%s\n\"f%d\": ", k > 0 ? "," : "", k);
    if (kind == 0) {
        random_write_spring(m, out, body, other);
    } else if (kind == 1) {
        random_write_bushing(m, out, body, other);
    } else if (kind < 4) {
        random_write_applied(m, out, body, kind == 2);
    } else if (kind == 4) {
        fprintf(out,
                "{\"type\": \"point-mass\", \"mass\": %.17g, \"at\": ", random_between(s, 0.1, 1));
        random_write_point(m, out, body);
        fprintf(out, "}");
    } else if (kind == 5) {
        random_write_torsion(m, out, joint);
    } else {
        random_write_controller(m, out, joint);
    }
}

/* Up to three wheels on a moving road, large enough to stand on it. */
static inline void random_write_tyres(random_mechanism *m, FILE *out)
{
    uint64_t *s = &m->seed;
    fprintf(out, "\"road\": {\"type\": \"sine\", \"amplitude\": 0.1, \"wavelength\": 2, \"speed\": "
                 "3, \"base\": -4},\n\"tyres\": {");
    for (int k = 0, n = random_below(s, 4); k < n; k++) {
        int body = 1 + random_below(s, m->bodies), kind = random_below(s, 4);
        fprintf(out,
                "%s\n\"t%d\": {\"type\": \"%s\", \"wheel\": \"b%d\", \"radius\": %.17g, "
                "\"stiffness\": 100, \"damping\": 2",
                k > 0 ? "," : "", k,
                kind < 2    ? "point-follower"
                : kind == 2 ? "fiala"
                            : "brush",
                body, m->centre[body].z + 4 + random_between(s, 0.3, 1));
        if (kind >= 2)
            fprintf(out, ", \"relaxation\": [0.3, 0.5]");
        if (kind == 2)
            fprintf(out, ", \"longitudinal_stiffness\": 200, \"cornering_stiffness\": 150, "
                         "\"friction\": 1, \"sliding_friction\": 0.8, \"half_length\": 0.1");
        if (kind == 3)
            fprintf(out, ", \"tread_stiffness\": [9000, 6000], \"friction\": [1, 0.9], "
                         "\"half_length\": 0.1, \"load\": 50");
        fprintf(out, "}");
    }
    fprintf(out, "},\n");
}

/* Accelerations of two points of every body, the wrench of every joint, and what laws look at. */
static inline void random_write_outputs(random_mechanism *m, FILE *out)
{
    fprintf(out, "\"outputs\": {\"kinetic\": {\"energy\": \"kinetic\"}");
    for (int k = 1; k <= m->bodies; k++) {
        fprintf(out, ",\n\"a%d\": {\"acceleration\": \"b%d\"}, \"p%d\": {\"acceleration\": ", k, k,
                k);
        random_write_point(m, out, k);
        fprintf(out,
                "}, \"v%d\": {\"velocity\": \"b%d\"}, \"w%d\": {\"angular_velocity\": "
                "\"b%d\"}, \"o%d\": {\"orientation\": \"b%d\"}, \"x%d\": {\"position\": ",
                k, k, k, k, k, k, k);
        random_write_point(m, out, k);
        fprintf(out, "}, \"d%d\": {\"distance\": [\"b%d\", ", k, k);
        random_write_point(m, out, random_below(&m->seed, k));
        fprintf(out, "]}");
    }
    for (int k = 0; k < m->joints; k++) {
        const random_type *t = random_get_type(m->joint[k].type);
        fprintf(out, ",\n\"r%d\": {\"reaction\": \"j%d\"}", k, k);
        if (t->ncoordinates > 0)
            fprintf(out,
                    ", \"c%d\": {\"joint\": \"j%d\", \"coordinate\": \"%s\"}, \"n%d\": "
                    "{\"joint\": \"j%d\", \"coordinate\": \"%s\", \"derivative\": 1}",
                    k, k, t->coordinate[0], k, k, t->coordinate[0]);
    }
    fprintf(out, "}");
}

static inline void random_add_joint(random_mechanism *m, int type, int a, int b, bool closing)
{
    bool swap = random_chance(&m->seed, 0.5);
    m->joint[m->joints++] = (mechanism_joint){type, swap ? b : a, swap ? a : b, closing, false};
}

/* Bodies, tree and loops. Chains and bushes alike: the parent is the last body or any. */
static inline void random_draw_graph(random_mechanism *m)
{
    uint64_t *s = &m->seed;
    double x = random_unit(s);
    m->bodies = 1 + (int)((RANDOM_BODIES - 1) * x * x + 0.5);
    int loops = random_chance(s, 0.5) && m->bodies > 1 ? random_below(s, 6) : 0;
    for (int k = 1; k <= m->bodies; k++) {
        int parent = random_chance(s, 0.5) ? k - 1 : random_below(s, k);
        m->centre[k] = bg_add(m->centre[parent], random_vec3(s, 0.7));
        random_add_joint(m, random_below(s, RANDOM_TREE_TYPES), parent, k, false);
    }
    for (; m->loops < loops; m->loops++) {
        static const int types[] = {0, 2, 3, 4, 4, 6, 9, 9, 10, 11};
        int b = 1 + random_below(s, m->bodies), a = random_below(s, b);
        random_add_joint(m, types[random_below(s, 10)], a, b, true);
    }
    for (int k = 0; k < m->bodies && loops == 0; k++) {
        m->joint[k].cut = random_chance(s, 0.1);
        m->cuts += m->joint[k].cut;
    }
}

static inline void random_write_all(random_mechanism *m, const char *more_inputs)
{
    size_t size;
    FILE *out = open_memstream(&m->text, &size);
    if (!out)
        abort();
    fprintf(out, "{\n");
    random_write_bodies(m, out);
    random_write_joints(m, out);
    fprintf(out, "\"forces\": {");
    for (int k = 0, n = random_below(&m->seed, 7); k < n; k++)
        random_write_force(m, out, k);
    fprintf(out, "},\n");
    random_write_tyres(m, out);
    fprintf(out,
            "\"inputs\": {\"drive\": {\"type\": \"sine\", \"amplitude\": %.17g, "
            "\"frequency\": %.17g}%s},\n",
            random_between(&m->seed, 0.1, 0.5), random_between(&m->seed, 0.1, 0.5), more_inputs);
    random_write_outputs(m, out);
    fprintf(out, "}\n");
    fclose(out);
}

/* One of which any joints of the tree are driven, also where there are loops, gears and cuts, and
 * in odd ones with a rate that jumps at 0.02 s. It may be that nothing can move. */
static inline random_mechanism random_mechanism_make_driven(unsigned seed)
{
    random_mechanism m = {.seed = 1000003u * (uint64_t)seed + 17, .driven = -1};
    random_draw_graph(&m);
    for (int k = 0; k < m.joints; k++)
        m.drives[k] = !m.joint[k].closing && random_get_type(m.joint[k].type)->ncoordinates > 0 &&
                      random_chance(&m.seed, m.loops > 0 ? 0.2 : 0.4);
    random_write_all(&m, seed % 2 == 0
                             ? ", \"lift\": \"0.2*sin(3*t) + 0.1*t^2\""
                             : ", \"lift\": {\"type\": \"table\", \"times\": [0, 0.02, 1], "
                               "\"values\": [0, 0.01, -1], \"interpolation\": "
                               "\"linear\"}");
    return m;
}

/* Without loops there may be a driven coordinate, which could contradict them; without cuts, too,
 * the mechanism may start anywhere. */
static inline random_mechanism random_mechanism_make(unsigned seed)
{
    random_mechanism m = {.seed = 1000003u * (uint64_t)seed, .driven = -1};
    random_draw_graph(&m);
    m.moved = m.loops + m.cuts == 0;
    if (m.loops == 0 && random_chance(&m.seed, 0.4))
        m.driven = random_find_measured(&m, -1);
    random_write_all(&m, "");
    return m;
}

#endif

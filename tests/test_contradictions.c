/* Starts that cannot be: whatever contradicts each other is named, all of it and nothing else, on
 * the lowest level on which it does, in both forms, for every tree and every direction in space. */
#include "assembled_support.h"
#include "evaluator_support.h"
#include "model_support.h"
#include "overconstrained.h"
#include "system/system.h"

enum { BODIES = 4, JOINTS = 6, STRIDE = SANITIZED ? 7 : 1 }; /* of cases */

typedef struct drawn_body {
    const char *name;
    double mass, centre[3], inertia[3];
} drawn_body;

typedef struct drawn_joint {
    const char *name, *type, *a, *b;
    double at[3], axis[3];
} drawn_joint;

/* One loop with one degree of freedom, and a pendulum P that has nothing to do with it. The first
 * joint moves the loop, the second one follows. */
typedef struct drawing {
    const char *name;
    int nbodies, nloop, njoints;
    drawn_body body[BODIES];
    drawn_joint joint[JOINTS];
    int first, second;
    int spoiled;     /* a joint whose axis locks the loop when it is skew */
    double range[2]; /* in which the first may start */
} drawing;

static const drawing drawings[] = {
    {"four-bar",
     4,
     4,
     5,
     {{"crank", 2, {0, 0, 0.5}, {0.2, 0.2, 0.01}},
      {"coupler", 5, {1.25, 0, 1.5}, {0.1, 3, 3}},
      {"rocker", 4, {2.75, 0, 1}, {1.4, 1.4, 0.1}},
      {"bob", 1, {1.25, 0, 1}, {0.1, 0.1, 0.1}}},
     {{"A", "revolute", "ground", "crank", {0, 0, 0}, {0, 1, 0}},
      {"B", "revolute", "crank", "coupler", {0, 0, 1}, {0, 1, 0}},
      {"D", "revolute", "ground", "rocker", {3, 0, 0}, {0, 1, 0}},
      {"C", "revolute", "rocker", "coupler", {2.5, 0, 2}, {0, 1, 0}},
      {"P", "revolute", "coupler", "bob", {1.25, 0, 1.5}, {1, 1, 0}}},
     0,
     3,
     2,
     {-0.4, 0.3}},
    {"slider-crank",
     4,
     4,
     5,
     {{"crank", 2, {0.15, 0, 0.1}, {0.2, 0.2, 0.2}},
      {"rod", 1, {0.8, 0, 0.1}, {0.01, 0.1, 0.1}},
      {"slider", 3, {1.3, 0, 0}, {0.1, 0.1, 0.1}},
      {"bob", 1, {1.3, 0, -0.5}, {0.1, 0.1, 0.1}}},
     {{"A", "revolute", "ground", "crank", {0, 0, 0}, {0, 1, 0}},
      {"B", "revolute", "crank", "rod", {0.3, 0, 0.2}, {0, 1, 0}},
      {"C", "revolute", "rod", "slider", {1.3, 0, 0}, {0, 1, 0}},
      {"S", "prismatic", "ground", "slider", {1.3, 0, 0}, {1, 0, 0}},
      {"P", "revolute", "slider", "bob", {1.3, 0, 0}, {0, 1, 0}}},
     0,
     3,
     2,
     {-0.4, 0.4}},
    {"spatial",
     4,
     4,
     5,
     {{"crank", 2, {0, 0.1, 0.25}, {0.2, 0.2, 0.1}},
      {"coupler", 3, {0.6, 0.5, 0.6}, {0.3, 0.4, 0.5}},
      {"rocker", 4, {1.2, 1, 0.4}, {0.4, 0.4, 0.3}},
      {"bob", 1, {1.2, 1, -0.4}, {0.1, 0.1, 0.1}}},
     {{"A", "revolute", "ground", "crank", {0, 0, 0}, {0, 1, 0}},
      {"B", "universal", "crank", "coupler", {0, 0.2, 0.5}, {0, 1, 0}},
      {"C", "spherical", "coupler", "rocker", {1.2, 0.8, 0.7}, {0, 0, 1}},
      {"D", "revolute", "ground", "rocker", {1.2, 1.2, 0}, {1, 0.2, 0}},
      {"P", "revolute", "rocker", "bob", {1.2, 1, 0}, {0, 1, 0}}},
     0,
     3,
     -1,
     {-0.05, 0.05}},
};
enum { DRAWINGS = sizeof drawings / sizeof *drawings };

/* What is added to the joints, "" or ", ...". */
typedef struct additions {
    char joint[JOINTS][256], body[BODIES][256];
    const char *rest; /* sections */
    double skew;
} additions;

static void draw(text *t, const drawing *x, placement at, const additions *more)
{
    begin_model(t, at, 0.5, 0.2, -9.81);
    for (int i = 0; i < x->nbodies; i++) {
        put_body(t, x->body[i].name, x->body[i].mass, x->body[i].centre, x->body[i].inertia);
        t->used--; /* the bracket */
        put(t, "%s}", more->body[i]);
    }
    put(t, "}, \"joints\": {");
    for (int i = 0; i < x->njoints; i++) {
        const drawn_joint *j = &x->joint[i];
        double axis[3] = {j->axis[0], j->axis[1], j->axis[2] + (i == x->spoiled ? more->skew : 0)};
        char own[512] = "";
        if (strcmp(j->type, "universal") == 0) {
            bg_vec3 second = turned(t, 1, 0, 0.5);
            snprintf(own, sizeof own, ", \"second\": [%.17g, %.17g, %.17g]", second.x, second.y,
                     second.z);
        }
        snprintf(own + strlen(own), sizeof own - strlen(own), "%s", more->joint[i]);
        put_joint(t, j->name, j->type, j->a, j->b, j->at,
                  strcmp(j->type, "spherical") == 0 ? NULL : axis, own);
    }
    put(t, "}%s, \"outputs\": {\"x\": {\"joint\": \"%s\"}, \"y\": {\"joint\": \"%s\"}, ",
        more->rest ? more->rest : "", x->joint[x->first].name, x->joint[x->second].name);
    put(t,
        "\"vx\": {\"joint\": \"%s\", \"derivative\": 1}, \"vy\": {\"joint\": \"%s\", "
        "\"derivative\": 1}, \"w\": {\"angular_velocity\": \"%s\"}}}",
        x->joint[x->first].name, x->joint[x->second].name, x->body[0].name);
}

/* The start, as outputs, or the sentence of its failure; warnings in words as well. */
static bg_status start(const char *json, const char *form, double y[7], char *words, size_t size)
{
    assembled a = assembled_parse(json, form);
    bg_status st = a.status;
    bg_warnings *list = &a.report.warnings;
    snprintf(words, size, "%s", a.err.text);
    if (st == BG_OK) {
        calc_outputs(a.sys, a.x, y);
        bg_warnings_append(list, bg_system_get_warnings(a.sys)); /* as programs do */
    }
    for (int i = 0; i < list->count; i++)
        snprintf(words + strlen(words), size - strlen(words), "%s\n", list->items[i].text);
    assembled_clear(&a);
    return st;
}

static placement place(int k, unsigned *seed)
{
    placement at = as_drawn;
    if (k > 0)
        at.turn = draw_turn(seed);
    if (k % 3 == 2)
        at.scale = k % 2 ? 1000 : 0.001;
    return at;
}

static double draw_between(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (*seed >> 8) / (double)(1 << 24);
}

/* One joint of the loop is cut, and not the pendulum's. */
static void cut_one(const drawing *x, int k, additions *more)
{
    if (k % (x->nloop + 1) < x->nloop)
        snprintf(more->joint[k % (x->nloop + 1)], sizeof *more->joint, ", \"cut\": true");
}

static void add(additions *more, int joint, const char *what, double value)
{
    char *end = more->joint[joint] + strlen(more->joint[joint]);
    snprintf(end, sizeof *more->joint - strlen(more->joint[joint]),
             ", \"initial\": {\"%s\": %.17g, \"%s\": true}", what, value,
             strcmp(what, "position") == 0 ? "fixed" : "fixed_velocity");
}

/* Sizes of positions of the second joint are scaled with the model. */
static double unit(const drawing *x, placement at)
{
    return strcmp(x->joint[x->second].type, "prismatic") == 0 ? at.scale : 1;
}

static void expect(bool good, const drawing *x, const char *form, const char *words)
{
    if (!good)
        fail_msg("%s, %s: %s", x->name, form, words);
}

/* A loop without freedom: every joint of it is named, in both forms, wherever it is cut. */
static void test_locked_loop(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < 40; k += STRIDE) {
        const drawing *x = &drawings[k % 2];
        drawing alone = *x;
        additions more = {.skew = pow(10, draw_between(&seed, -2.5, -0.3))};
        text t;
        char words[2][4096];
        alone.njoints = x->nloop; /* the pendulum could move */
        alone.nbodies = 3;
        cut_one(x, k / 2, &more);
        draw(&t, &alone, place(k / 2, &seed), &more);
        for (int f = 0; f < 2; f++) {
            double y[7];
            if (start(t.buffer, forms[f], y, words[f], sizeof *words) != BG_OK)
                fail_msg("%s", words[f]);
            const char *said = strstr(words[f], "nothing can move");
            expect(said != NULL, x, forms[f], words[f]);
            for (int j = 0; j < x->nloop; j++) {
                char name[16];
                snprintf(name, sizeof name, "'%s'", x->joint[j].name);
                expect(strstr(said, name) != NULL, x, forms[f], words[f]);
            }
            size_t length = strcspn(said, "\n");
            memmove(words[f], said, length);
            words[f][length] = '\0';
        }
        assert_string_equal(words[0], words[1]);
    }
}

/* Where every body is fixed nothing can move either. */
static void test_all_fixed(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int closed = 0; closed < 2; closed++) {
            text t;
            char words[4096];
            double y[7];
            begin_model(&t, as_drawn, 0, 0, -9.81);
            put_body(&t, "b", 1, AT(0, 0, 1), AT(1, 1, 1));
            put(&t, "}, \"joints\": {");
            put_joint(&t, "weld", "fixed", "ground", "b", AT(0, 0, 0), NULL, "");
            if (closed)
                put_joint(&t, "again", "spherical", "ground", "b", AT(0, 0, 1), NULL, "");
            put(&t, "}}");
            assert_int_equal(start(t.buffer, forms[f], y, words, sizeof words), BG_OK);
            if (!strstr(words, "nothing can move, because every body is fixed"))
                fail_msg("%s", words);
        }
}

/* Two joints of a loop, fixed in positions that go together, are met. Moved apart, both are named
 * with their ways in the file and what is possible, and the pendulum, which is fixed as well, is
 * not. */
static void test_fixed_positions(void **state)
{
    (void)state;
    unsigned seed = 11;
    int refused = 0;
    for (int k = 0; k < 45; k += STRIDE) {
        const drawing *x = &drawings[k % DRAWINGS];
        placement at = place(k / DRAWINGS, &seed);
        double q = draw_between(&seed, x->range[0], x->range[1]), y[7], z[7];
        for (int f = 0; f < 2; f++) {
            additions more = {.rest = NULL};
            text t;
            char words[4096], other[64];
            cut_one(x, k / DRAWINGS, &more);
            additions apart = more;
            add(&more, x->first, "position", q);
            draw(&t, x, at, &more);
            expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, x, forms[f], words);
            assert_near(y[0], q, 1e-9);
            add(&more, x->second, "position", y[1]);
            add(&more, x->njoints - 1, "position", 0.3);
            draw(&t, x, at, &more);
            expect(start(t.buffer, forms[f], z, words, sizeof words) == BG_OK, x, forms[f], words);
            assert_near(z[1], y[1], 1e-9 * unit(x, at));
            double aside = unit(x, at) * pow(10, draw_between(&seed, -5, -1.3));
            add(&apart, x->first, "position", q);
            add(&apart, x->second, "position", y[1] > 0 ? y[1] - aside : y[1] + aside);
            add(&apart, x->njoints - 1, "position", 0.3);
            draw(&t, x, at, &apart);
            bg_status st = start(t.buffer, forms[f], z, words, sizeof words);
            expect(st == BG_BAD_INPUT, x, forms[f], words);
            for (int j = 0; j < 2; j++) {
                snprintf(other, sizeof other, "joints.%s.initial.position",
                         x->joint[j ? x->second : x->first].name);
                expect(strstr(words, other) != NULL, x, forms[f], words);
            }
            expect(!strstr(words, "joints.P"), x, forms[f], words);
            refused++;
        }
    }
    print_message("%d pairs of fixed positions refused\n", refused);
}

/* The same for velocities: of two joints, or of a body and a joint. */
static void test_fixed_velocities(void **state)
{
    (void)state;
    unsigned seed = 17;
    for (int k = 0; k < 45; k += STRIDE) {
        const drawing *x = &drawings[k % DRAWINGS];
        placement at = place(k / DRAWINGS, &seed);
        double rate = pow(10, draw_between(&seed, -6, 2)), y[7], z[7];
        bool body = k % 2;
        for (int f = 0; f < 2; f++) {
            additions more = {.rest = NULL};
            text t;
            char words[4096], other[64];
            cut_one(x, k / DRAWINGS, &more);
            additions together = more;
            add(&more, x->first, "velocity", rate);
            draw(&t, x, at, &more);
            expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, x, forms[f], words);
            assert_near(y[2], rate, 1e-9 * rate);
            for (int apart = 0; apart < 2; apart++) {
                more = together;
                if (body)
                    snprintf(more.body[0], sizeof *more.body,
                             ", \"angular_velocity\": [%.17g, %.17g, %.17g], "
                             "\"fixed_angular_velocity\": true",
                             y[4], y[5], y[6]);
                else
                    add(&more, x->first, "velocity", rate);
                add(&more, x->njoints - 1, "velocity", rate);
                add(&more, x->second, "velocity", y[3] * (1 + 1e-3 * apart));
                draw(&t, x, at, &more);
                bg_status st = start(t.buffer, forms[f], z, words, sizeof words);
                expect(st == (apart ? BG_BAD_INPUT : BG_OK), x, forms[f], words);
            }
            snprintf(other, sizeof other,
                     body ? "bodies.%s.angular_velocity" : "joints.%s.initial.velocity",
                     body ? x->body[0].name : x->joint[x->first].name);
            expect(strstr(words, other) != NULL, x, forms[f], words);
            snprintf(other, sizeof other, "joints.%s.initial.velocity", x->joint[x->second].name);
            expect(strstr(words, other) != NULL, x, forms[f], words);
            expect(!strstr(words, "joints.P"), x, forms[f], words);
        }
    }
}

/* Velocities that are zero but for rounding, as of "2*cos(90*deg)", can be insisted on where
 * nothing moves, and where nothing can. */
static void test_fixed_at_rest(void **state)
{
    (void)state;
    unsigned seed = 19;
    for (int k = 0; k < 40; k += STRIDE) {
        drawing x = drawings[k % 2];
        additions more = {.skew = k % 4 < 2 ? 0 : 0.05};
        text t;
        char words[4096];
        double y[7];
        x.njoints = x.nloop;
        x.nbodies = 3;
        cut_one(&x, k / 2, &more);
        for (int i = 0; i < x.njoints; i++)
            add(&more, i, "velocity", (i + k) % 3 ? draw_between(&seed, -3e-16, 3e-16) : 0);
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        draw(&t, &x, at, &more);
        for (int f = 0; f < 2; f++)
            expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, &x, forms[f], words);
    }
}

/* One that is out of its range: it is named alone, with the end of the range. */
static void test_out_of_range(void **state)
{
    (void)state;
    unsigned seed = 23;
    for (int k = 0; k < 16; k += SANITIZED ? 5 : 1) {
        const drawing *x = &drawings[0];
        additions more = {.rest = NULL};
        text t;
        char words[4096];
        double y[7], far = draw_between(&seed, 0.5, 1.2);
        cut_one(x, k / 2, &more);
        add(&more, 2, "position", far); /* the rocker: crank and coupler in line */
        add(&more, 4, "position", 0.3);
        draw(&t, x, place(k / 2, &seed), &more);
        bg_status st = start(t.buffer, forms[k % 2], y, words, sizeof words);
        expect(st == BG_BAD_INPUT, x, forms[k % 2], words);
        expect(strstr(words, "joints.D.initial.position: is fixed at") != NULL, x, forms[k % 2],
               words);
        expect(!strstr(words, "joints.P"), x, forms[k % 2], words);
        const char *most = strstr(words, "no more than about ");
        expect(most != NULL, x, forms[k % 2], words);
        double reach = 1 + sqrt(7.25), rocker = sqrt(4.25);
        double end = acos((9 + 4.25 - reach * reach) / (6 * rocker)) - acos(0.5 / rocker);
        assert_near(strtod(most + 19, NULL), end, 1e-3);
    }
}

/* Two arms on the ground and a rod between them, or a crank and a slider, or a wheel carrier on two
 * arms with a tie rod; the rod has this length. */
static void draw_with_rod(text *t, int kind, placement at, double length, const char *start,
                          const char *second)
{
    static const double arm[] = {0.2, 0.2, 0.1};
    const double *y = AT(0, 1, 0), *x = AT(1, 0, 0);
    begin_model(t, at, 0.5, 0.2, -9.81);
    put_body(t, "crank", 2, kind == 2 ? AT(0, 0.2, 0) : AT(0, 0, 0.5), arm);
    put_body(t, "second", 4,
             kind == 0   ? AT(2.75, 0, 1)
             : kind == 1 ? AT(2, 0, 0)
                         : AT(0, 0.2, 0.3),
             arm);
    if (kind == 2)
        put_body(t, "carrier", 10, AT(0, 0.45, 0.15), arm);
    put(t, "}, \"joints\": {");
    put_joint(t, "A", "revolute", "ground", "crank", AT(0, 0, 0), kind == 2 ? x : y, start);
    put_joint(t, "D", kind == 1 ? "prismatic" : "revolute", "ground", "second",
              kind == 0 ? AT(3, 0, 0) : AT(0, 0, kind == 1 ? 0 : 0.3), kind == 0 ? y : x, second);
    if (kind == 2) {
        put_joint(t, "low", "spherical", "crank", "carrier", AT(0, 0.4, 0), NULL, "");
        put_joint(t, "high", "spherical", "second", "carrier", AT(0, 0.4, 0.3), NULL, "");
    }
    put(t, ", \"rod\": {\"type\": \"distance\", \"points\": [{\"body\": \"%s\", \"at\": ",
        kind == 2 ? "ground" : "crank");
    put_place(t, kind == 2 ? 0.15 : 0, 0, kind == 2 ? 0.1 : 1);
    put(t, "}, {\"body\": \"%s\", \"at\": ", kind == 2 ? "carrier" : "second");
    put_place(t,
              kind == 0   ? 2.5
              : kind == 1 ? 2
                          : 0.15,
              kind == 2 ? 0.4 : 0,
              kind == 0   ? 2
              : kind == 1 ? 0
                          : 0.1);
    put(t, "}], \"length\": %.17g}}}", length * at.scale);
}

/* A rod of the wrong length is named first, whether something else is fixed where it cannot be
 * then or not; but what could not be with the right length, either, is what is wrong. */
static void test_wrong_rod(void **state)
{
    (void)state;
    unsigned seed = 31;
    /* with the crank as drawn and turned by 0.2: too short, too long for it */
    static const double too_short[] = {0.85, 0.8, 0.01}, too_long[] = {6.2, 40, 3};
    for (int k = 0; k < 60; k += STRIDE) {
        int kind = k % 3, how = k / 3 % 3;
        bool longer = k / 9 % 2;
        double length = longer ? too_long[kind] * draw_between(&seed, 1, 2)
                               : too_short[kind] * draw_between(&seed, 0.05, 1);
        placement at = place(k / 3, &seed);
        char fixed[128] = "";
        text t;
        if (kind == 1 && longer)
            continue; /* the slider goes anywhere */
        if (how > 0)
            snprintf(fixed, sizeof fixed, ", \"initial\": {\"position\": %.17g, \"fixed\": true}",
                     how == 1 ? 0 : draw_between(&seed, 0, 0.2));
        else if (!longer)
            continue; /* short ones may be met elsewhere */
        draw_with_rod(&t, kind, at, length, fixed, "");
        for (int f = 0; f < 2; f++) {
            char said[4096];
            double y[7];
            bg_status st = start(t.buffer, forms[f], y, said, sizeof said);
            const char *quote = strchr(said + strcspn(said, ":"), '\'');
            if (st != BG_NOT_ASSEMBLED || !quote || strncmp(quote, "'rod'", 5) != 0)
                fail_msg("rod %d, %g, fixed %d, %s: %s", kind, length, how, forms[f], said);
        }
    }
}

/* A rod that is a little longer or shorter than drawn is not to blame for a rocker that is fixed
 * where no such rod would reach. */
static void test_far_rocker(void **state)
{
    (void)state;
    unsigned seed = 37;
    for (int k = 0; k < 12; k += STRIDE) {
        char fixed[128], said[4096];
        double y[7], far = draw_between(&seed, 0.5, 1.2);
        text t;
        snprintf(fixed, sizeof fixed, ", \"initial\": {\"position\": %.17g, \"fixed\": true}", far);
        draw_with_rod(&t, 0, place(k / 2, &seed), hypot(2.5, 1) * draw_between(&seed, 0.97, 1.03),
                      "", fixed);
        bg_status st = start(t.buffer, forms[k % 2], y, said, sizeof said);
        if (st != BG_BAD_INPUT || strncmp(said, "joints.D.initial.position: is fixed at", 38) != 0)
            fail_msg("rocker at %g, %s: %s", far, forms[k % 2], said);
    }
}

/* Drives that agree at the start but ask for unequal speeds, however slow or fast, in data of 17
 * or 6 digits: said on velocity level, with the drives named first. */
static void test_unequal_drives(void **state)
{
    (void)state;
    unsigned seed = 29;
    for (int k = 0; k < 60; k += STRIDE) {
        const drawing *x = &drawings[k % DRAWINGS];
        placement at = place(k / DRAWINGS, &seed);
        double speed = pow(10, draw_between(&seed, -9, 3)), y[7];
        at.digits = k % 2 ? 6 : 17;
        for (int f = 0; f < 2; f++) {
            additions more = {.rest = NULL};
            text t;
            char words[4096], inputs[512], drive[2][64];
            cut_one(x, k / DRAWINGS, &more);
            additions driven = more;
            add(&more, x->first, "velocity", 1);
            draw(&t, x, at, &more);
            expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, x, forms[f], words);
            double unequal = 1 + pow(10, draw_between(&seed, -2.5, 0));
            snprintf(inputs, sizeof inputs,
                     ", \"inputs\": {\"u\": {\"type\": \"expression\", \"expression\": "
                     "\"%.17g*t\"}, \"v\": {\"type\": \"expression\", \"expression\": "
                     "\"(%.17g)*t\"}}",
                     speed, y[3] * speed * unequal);
            driven.rest = inputs;
            for (int j = 0; j < 2; j++) {
                int joint = j ? x->second : x->first;
                char *end = driven.joint[joint] + strlen(driven.joint[joint]);
                snprintf(end, sizeof *driven.joint - strlen(driven.joint[joint]),
                         ", \"prescribed\": \"%s\"", j ? "v" : "u");
                bool slides = strcmp(x->joint[joint].type, "prismatic") == 0;
                snprintf(drive[j], sizeof *drive, "'%s.%s.drive'", x->joint[joint].name,
                         slides ? "slide" : "angle");
            }
            draw(&t, x, at, &driven);
            bg_status st = start(t.buffer, forms[f], y, words, sizeof words);
            expect(st == BG_CONTRADICTORY, x, forms[f], words);
            expect(strstr(words, "on velocity level: they restrict the same motion but ask for "
                                 "velocities that differ") != NULL,
                   x, forms[f], words);
            const char *begin = strstr(words, "the constraint '");
            const char *first = strstr(words, drive[0]), *second = strstr(words, drive[1]);
            expect(begin && first && second, x, forms[f], words);
            const char *front = first < second ? first : second;
            const char *back = first < second ? second : first;
            expect(front == begin + 15 && back == strstr(begin, "contradicts '") + 12, x, forms[f],
                   words);
        }
    }
}

/* Two drives of one freedom that agree up to their second derivatives: the start is one, and it is
 * said that one of them is not redundant, with the inputs; nothing of the kind where the first
 * drives alone what is redundantly constrained. */
static void test_drives_that_part(void **state)
{
    (void)state;
    unsigned seed = 37;
    for (int k = 0; k < 60; k += STRIDE) {
        const drawing *x = &drawings[k % DRAWINGS];
        const placement at = place(k / DRAWINGS, &seed);
        const double power = 3 + k % 3, part = draw_between(&seed, 0.3, 3);
        for (int f = 0; f < 2; f++) {
            additions more = {.rest = NULL};
            text t;
            double y[7];
            char words[4096], inputs[512];
            cut_one(x, k / DRAWINGS, &more);
            additions driven = more;
            add(&more, x->first, "velocity", 1);
            draw(&t, x, at, &more);
            expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, x, forms[f], words);
            snprintf(inputs, sizeof inputs,
                     ", \"inputs\": {\"u\": \"0.1*t^%g\", \"v\": \"(%.17g)*t^%g\"}, \"run\": "
                     "{\"t_end\": 1}",
                     power, 0.1 * part * y[3], power);
            driven.rest = inputs;
            for (int j = 0; j < 2; j++) {
                const int joint = j ? x->second : x->first;
                char *end = driven.joint[joint] + strlen(driven.joint[joint]);
                snprintf(end, sizeof *driven.joint - strlen(driven.joint[joint]),
                         ", \"prescribed\": \"%s\"", j ? "v" : "u");
                draw(&t, x, at, &driven);
                expect(start(t.buffer, forms[f], y, words, sizeof words) == BG_OK, x, forms[f],
                       words);
                const char *said = strstr(words, "is not redundant: ");
                expect(j ? said && strstr(said, "'u'") && strstr(said, "'v'") : !said, x, forms[f],
                       words);
            }
        }
    }
}

/* A drive that starts after some turns is followed from there, in both forms. */
static void test_drives_after_turns(void **state)
{
    (void)state;
    unsigned seed = 31;
    for (int k = 0; k < 40; k += STRIDE) {
        const drawing *x = &drawings[k % 2];
        double angle = draw_between(&seed, -20, 20), y[2][7];
        additions more = {.rest = NULL};
        char words[4096], inputs[256];
        text t;
        snprintf(inputs, sizeof inputs,
                 ", \"inputs\": {\"u\": {\"type\": \"expression\", \"expression\": "
                 "\"(%.17g) + t\"}}",
                 angle);
        more.rest = inputs;
        snprintf(more.joint[x->first], sizeof *more.joint, ", \"prescribed\": \"u\"");
        draw(&t, x, place(k / 2, &seed), &more);
        for (int f = 0; f < 2; f++) {
            bg_status st = start(t.buffer, forms[f], y[f], words, sizeof words);
            expect(st == BG_OK, x, forms[f], words);
            assert_near(remainder(y[f][0] - angle, 8 * atan(1)), 0, 1e-9);
            assert_near(y[f][2], 1, 1e-9);
        }
        assert_near(y[1][3], y[0][3], 1e-9 * fmax(fabs(y[0][3]), 1e-3));
    }
}

/* A gear whose second wheel starts after some turns, in the tree or cut. */
static void test_gears_after_turns(void **state)
{
    (void)state;
    unsigned seed = 37;
    for (int k = 0; k < 16; k++) {
        double angle = draw_between(&seed, 0.2, 3), y[7], ratio = 3;
        text t;
        char words[4096], own[128];
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        begin_model(&t, at, 0, 0, -9.81);
        put_body(&t, "a", 1, AT(0.1, 0, 0), AT(1, 1, 1));
        put_body(&t, "b", 1, AT(0.1, 2, 0), AT(1, 1, 1));
        put(&t, "}, \"joints\": {");
        snprintf(own, sizeof own, ", \"initial\": {\"position\": %.17g, \"fixed\": true}", angle);
        put_joint(&t, "h", "revolute", "ground", "a", AT(0, 0, 0), AT(0, 1, 0), own);
        put_joint(&t, "k", "revolute", "ground", "b", AT(0, 2, 0), AT(0, 1, 0),
                  k % 2 ? ", \"cut\": true" : "");
        put(&t,
            ", \"gear\": {\"type\": \"gear\", \"joints\": [\"h\", \"k\"], \"ratio\": %g}}, "
            "\"outputs\": {\"h\": {\"joint\": \"h\"}, \"k\": {\"joint\": \"k\"}}}",
            ratio);
        for (int f = 0; f < 2; f++) {
            if (start(t.buffer, forms[f], y, words, sizeof words) != BG_OK)
                fail_msg("%s, cut %d, %g: %s", forms[f], k % 2, angle, words);
            assert_near(remainder(y[0] - angle, 8 * atan(1)), 0, 1e-9);
            assert_near(remainder(y[1] - ratio * angle, 8 * atan(1)), 0, 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locked_loop),       cmocka_unit_test(test_all_fixed),
        cmocka_unit_test(test_fixed_positions),   cmocka_unit_test(test_fixed_velocities),
        cmocka_unit_test(test_fixed_at_rest),     cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_wrong_rod),         cmocka_unit_test(test_far_rocker),
        cmocka_unit_test(test_unequal_drives),    cmocka_unit_test(test_drives_after_turns),
        cmocka_unit_test(test_gears_after_turns), cmocka_unit_test(test_drives_that_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

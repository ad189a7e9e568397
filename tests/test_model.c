/* Reading models: what the files in models/ describe, every way of saying a thing, settings,
 * warnings. */
#include "bogie/model.h"
#include "model/model.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", x, expected, tolerance);
}

static void assert_vec3(bg_vec3 a, double x, double y, double z, double tolerance)
{
    assert_near(a.x, x, tolerance);
    assert_near(a.y, y, tolerance);
    assert_near(a.z, z, tolerance);
}

static bg_model *parse(const char *text, const bg_setting *settings, int n)
{
    bg_model *m;
    bg_error err = {BG_OK, ""};
    if (bg_model_parse(text, "text", settings, n, &m, &err) != BG_OK)
        fail_msg("%s", err.text);
    return m;
}

static bg_model *read_model(const char *name, const bg_setting *settings, int n)
{
    char path[1024];
    bg_model *m;
    bg_error err = {BG_OK, ""};
    snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", name);
    if (bg_model_read(path, settings, n, &m, &err) != BG_OK)
        fail_msg("%s", err.text);
    assert_string_equal(m->name, name);
    return m;
}

static const bg_body *get_body(const bg_model *m, const char *name)
{
    for (int k = 0; k < m->nbodies; k++)
        if (strcmp(m->bodies[k].name, name) == 0)
            return &m->bodies[k];
    fail_msg("no body '%s'", name);
    return NULL;
}

static const bg_joint *get_joint(const bg_model *m, const char *name)
{
    for (int k = 0; k < m->njoints; k++)
        if (strcmp(m->joints[k].name, name) == 0)
            return &m->joints[k];
    fail_msg("no joint '%s'", name);
    return NULL;
}

static const bg_output *get_output(const bg_model *m, const char *name)
{
    for (int k = 0; k < m->noutputs; k++)
        if (strcmp(m->outputs[k].name, name) == 0)
            return &m->outputs[k];
    fail_msg("no output '%s'", name);
    return NULL;
}

/* Where a marker is in the design position. */
static bg_frame place(const bg_model *m, const bg_marker *x)
{
    return bg_frame_multiply(&m->bodies[x->body].pose, &x->frame);
}

static double distance(const bg_model *m, const char *a, const char *b)
{
    bg_frame x = place(m, &get_joint(m, a)->a), y = place(m, &get_joint(m, b)->a);
    return bg_length(bg_sub(y.r, x.r));
}

static double total_mass(const bg_model *m)
{
    double mass = 0;
    for (int k = 0; k < m->nbodies; k++)
        mass += m->bodies[k].mass;
    return mass;
}

/* In every file: markers of a joint coincide (but for rods), frames are rotations, axes
 * right-handed. */
static void check_geometry(const bg_model *m)
{
    for (int k = 0; k < m->njoints; k++) {
        const bg_joint *j = &m->joints[k];
        bg_frame a = place(m, &j->a), b = place(m, &j->b);
        if (j->length == 0)
            assert_near(bg_length(bg_sub(a.r, b.r)), 0, 1e-15);
        for (int i = 0; i < 3; i++) {
            bg_vec3 x = bg_axis(&a.R, i), y = bg_axis(&a.R, (i + 1) % 3);
            assert_near(bg_length(bg_sub(x, bg_axis(&b.R, i))), 0, 1e-14);
            assert_near(bg_length(bg_sub(bg_cross(x, y), bg_axis(&a.R, (i + 2) % 3))), 0, 1e-14);
        }
    }
}

static void test_every_model(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int bodies, joints, forces, signals, outputs;
        double mass;
    } expected[] = {
        {"iftomm-a01-pendulum", 1, 1, 0, 0, 11, 1},
        {"iftomm-a02-four-bars", 5, 7, 0, 0, 5, 5},
        {"iftomm-a03-andrews", 7, 10, 2, 0, 8, 0.21023},
        {"iftomm-a04-bricard", 5, 6, 0, 0, 4, 5},
        {"iftomm-a05-governor", 6, 6, 2, 0, 6, 13.9},
        {"four-bar", 3, 4, 0, 0, 13, 2 * (1 + 2.6925824035672519 + 2.0615528128088303)},
        {"slider-crank-3d", 3, 4, 0, 1, 14, 2.62},
        {"gyroscope", 1, 1, 0, 0, 17, 15},
        {"n-pendulum", 3, 3, 0, 0, 4, 3},
        {"double-wishbone", 5, 7, 2, 0, 15, 455},
        {"front-axle", 10, 14, 6, 2, 18, 913},
        {"passenger-car", 14, 28, 10, 1, 50, 965.7108098804363 + 3 + 2 * (13.9 + 13.9 + 36)},
        {"rear-axle-stamp", 15, 15, 30, 2, 18, 2 * (50 + 31.9 + 12.8) + 25},
        {"five-link-suspension", 7, 11, 3, 0, 15, 52.772},
        {"tilting-table", 4, 4, 6, 1, 8, 12.9},
    };
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        bg_model *m = read_model(expected[k].name, NULL, 0);
        assert_int_equal(m->nbodies, expected[k].bodies + 1);
        assert_int_equal(m->njoints, expected[k].joints);
        assert_int_equal(m->nforces, expected[k].forces);
        assert_int_equal(m->nsignals, expected[k].signals);
        assert_int_equal(m->noutputs, expected[k].outputs);
        assert_near(total_mass(m), expected[k].mass, 1e-12);
        assert_true(m->t_end > 0);
        for (int i = 0; i < m->warnings.count; i++)
            fail_msg("%s: %s", m->name, m->warnings.items[i].text);
        check_geometry(m);
        bg_model_destroy(m);
    }
}

/* Lengths that the sources give and the files only imply. */
static void test_lengths(void **state)
{
    (void)state;
    bg_model *m = read_model("iftomm-a03-andrews", NULL, 0);
    assert_near(distance(m, "O", "F"), 0.007, 1e-16);
    assert_near(distance(m, "F", "E-BDE"), 0.028, 1e-16);
    assert_near(distance(m, "B", "E-BDE"), 0.035, 1e-15); /* closed: the angles fit together */
    assert_near(distance(m, "G", "E-EG"), 0.02, 1e-15);
    assert_near(distance(m, "H", "E-HE"), 0.02, 1e-15);
    assert_near(distance(m, "A-G", "G"), 0.04, 1e-16);
    assert_near(distance(m, "A-H", "H"), 0.04, 1e-16);
    bg_model_destroy(m);

    m = read_model("slider-crank-3d", NULL, 0);
    assert_near(distance(m, "ball", "cross"), 0.3, 1e-16);
    /* about the rod's own direction (2, -1, -2)/3 its moment of inertia is 4e-4, across it 4e-3 */
    const bg_mat3 *I = &get_body(m, "rod")->inertia;
    bg_vec3 d = {2.0 / 3, -1.0 / 3, -2.0 / 3}, n = {1 / sqrt(2), 0, 1 / sqrt(2)};
    assert_near(bg_dot(d, bg_rotate(I, d)), 4e-4, 1e-18);
    assert_near(bg_dot(n, bg_rotate(I, n)), 4e-3, 1e-17);
    assert_near(bg_dot(d, bg_rotate(I, n)), 0, 1e-18);
    bg_model_destroy(m);

    m = read_model("five-link-suspension", NULL, 0);
    static const struct {
        const char *inner, *outer;
        double length;
    } rods[] = {{"upper-front-inner", "upper-front-outer", 0.3248168714829942},
                {"upper-rear-inner", "upper-rear-outer", 0.4146154845154725},
                {"lateral-inner", "lateral-outer", 0.5056332663106731},
                {"trailing-inner", "trailing-outer", 0.7746031241868315},
                {"tie-rod-inner", "tie-rod-outer", 0.5568958610009594}};
    for (int k = 0; k < 5; k++) {
        assert_near(distance(m, rods[k].inner, rods[k].outer), rods[k].length, 1e-15);
        const bg_joint *j = get_joint(m, rods[k].outer);
        const bg_body *b = &m->bodies[j->a.body];
        bg_vec3 along = bg_scale(1 / bg_length(j->a.frame.r), j->a.frame.r); /* body axes */
        if (k != 3) /* the trailing link is no straight rod */
            assert_vec3(along, 1, 0, 0, 1e-5);
        assert_int_equal(b->npoints, k == 3 ? 4 : 2);
    }
    bg_model_destroy(m);
}

static void test_details(void **state)
{
    (void)state;
    bg_model *m = read_model("iftomm-a02-four-bars", NULL, 0);
    assert_vec3(m->gravity, 0, -9.81, 0, 0);
    const bg_joint *j = get_joint(m, "pivot0");
    assert_near(j->start[0].v, -1, 0);
    assert_true(j->start[0].q_fixed && j->start[0].v_fixed && j->start[0].signal == -1);
    assert_false(get_joint(m, "pivot1")->start[0].v_fixed);
    assert_true(get_joint(m, "loop1")->class_->constraint_only);
    assert_near(get_body(m, "coupler1")->inertia.m[2][2], 1.0 / 12, 1e-17);
    assert_true(isnan(m->step) && isnan(m->t_start) && m->integrator[0] == '\0');
    bg_model_destroy(m);

    m = read_model("gyroscope", NULL, 0);
    assert_vec3(m->gravity, 0, 0, -9.81, 0);
    const bg_body *top = get_body(m, "top");
    assert_vec3(top->w, 0, 150, -4.61538, 0);
    assert_vec3(bg_sub(top->v, bg_cross(top->w, top->pose.r)), 0, 0, 0, 1e-15);
    assert_int_equal(top->nshapes, 2);
    assert_near(top->shapes[0].size[1], 0.06, 1e-15);
    assert_int_equal(get_output(m, "orientation.z")->component, 3);
    assert_int_equal(get_output(m, "support.tx")->component, 3);
    bg_model_destroy(m);

    m = read_model("iftomm-a04-bricard", NULL, 0);
    assert_int_equal(get_joint(m, "hinge5")->cut, BG_CUT_FORCE);
    assert_int_equal(get_joint(m, "hinge4")->cut, BG_CUT_AUTO);
    assert_vec3(bg_axis(&get_joint(m, "hinge3")->a.frame.R, 2), 0, 1, 0, 0);
    bg_model_destroy(m);
}

/* The same orientation and inertia said in every way. */
static void test_ways_of_saying(void **state)
{
    (void)state;
    bg_model *m = parse(
        "{\"bodies\": {"
        " \"quaternion\": {\"mass\": 1, \"center\": [0,0,0], \"inertia\": [1,2,2.5],"
        "   \"orientation\": [\"2*cos(15*deg)\", 0, 0, \"2*sin(15*deg)\"]},"
        " \"axis\": {\"mass\": 1, \"center\": [0,0,0], \"inertia\": [1,2,2.5,0,0,0],"
        "   \"orientation\": {\"axis\": [0,0,7], \"angle\": \"30*deg\"}},"
        " \"rpy\": {\"mass\": 1, \"center\": [0,0,0], \"inertia\": [[1,0,0],[0,2,0],[0,0,2.5]],"
        "   \"orientation\": {\"rpy\": [0,0,\"30*deg\"]}},"
        " \"principal\": {\"mass\": 1, \"center\": [0,0,0], \"inertia\": {\"principal\": [1,2,2.5],"
        "   \"orientation\": {\"axis\": [0,0,1], \"angle\": \"30*deg\"}}},"
        " \"tilted\": {\"mass\": 1, \"center\": [1,2,3],"
        "   \"orientation\": {\"rpy\": [\"10*deg\",\"20*deg\",\"30*deg\"]},"
        "   \"points\": {\"p\": [2,2,3]}}}}",
        NULL, 0);
    bg_mat3 R = get_body(m, "axis")->pose.R;
    assert_vec3(bg_axis(&R, 0), sqrt(3) / 2, 0.5, 0, 1e-15);
    const char *const same[] = {"quaternion", "rpy"};
    for (int k = 0; k < 2; k++) {
        const bg_body *b = get_body(m, same[k]);
        for (int i = 0; i < 9; i++) {
            assert_near(b->pose.R.m[i / 3][i % 3], R.m[i / 3][i % 3], 1e-15);
            assert_near(b->inertia.m[i / 3][i % 3], get_body(m, "axis")->inertia.m[i / 3][i % 3],
                        0);
        }
    }
    /* in world axes the turned body with inertia in its axes is the unturned one with its own */
    const bg_body *p = get_body(m, "principal");
    bg_mat3 turned = bg_mat3_multiply(&R, &get_body(m, "axis")->inertia),
            back = bg_mat3_transpose(&R);
    turned = bg_mat3_multiply(&turned, &back);
    for (int i = 0; i < 9; i++)
        assert_near(p->inertia.m[i / 3][i % 3], turned.m[i / 3][i % 3], 1e-15);
    /* Rz(yaw) Ry(pitch) Rx(roll), by its first column and the last row */
    const bg_body *t = get_body(m, "tilted");
    double d = acos(-1) / 180;
    assert_vec3(bg_axis(&t->pose.R, 0), cos(30 * d) * cos(20 * d), sin(30 * d) * cos(20 * d),
                -sin(20 * d), 1e-15);
    assert_near(t->pose.R.m[2][1], cos(20 * d) * sin(10 * d), 1e-15);
    assert_vec3(bg_rotate(&t->pose.R, t->points[0].r), 1, 0, 0, 1e-15);
    bg_model_destroy(m);
}

static const char linkage[] =
    "{\"parameters\": {\"a\": \"2*b\", \"b\": 0.5, \"spare\": \"a\"},"
    " \"gravity\": [0, 0, \"-g0\"],"
    " \"bodies\": {\"ground\": {\"points\": {\"wall\": [0, 0, 2]}},"
    "   \"arm\": {\"mass\": 1, \"center\": [\"a\", 0, 0], \"inertia\": [0, 0, 5],"
    "     \"points\": {\"end\": [2, 0, 0]}},"
    "   \"rack\": {\"mass\": 1, \"center\": [2, 0, 0]},"
    "   \"loose\": {\"mass\": 0, \"center\": [9, 9, 9], \"velocity\": [1, 0, 0]}},"
    " \"inputs\": {\"up\": {\"type\": \"ramp\", \"slope\": 2, \"t0\": 1}, \"two\": \"a + 1\","
    "   \"wave\": {\"type\": \"sine\", \"amplitude\": 3, \"frequency\": \"2*Hz\", \"phase\": 0.5}},"
    " \"joints\": {\"hinge\": {\"type\": \"revolute\", \"bodies\": [\"ground\", \"arm\"],"
    "     \"at\": [0, 0, 0], \"axis\": [0, 3, 0], \"prescribed\": \"up\"},"
    "   \"sleeve\": {\"type\": \"cylindrical\", \"bodies\": [\"ground\", \"rack\"], \"at\": "
    "\"arm.end\","
    "     \"axis\": [1, 0, 0], \"second\": [0, 0, 1], \"prescribed\": {\"slide\": \"wave\"},"
    "     \"initial\": {\"angle\": {\"position\": 0.1, \"velocity\": 0.2}}},"
    "   \"mesh\": {\"type\": \"gear\", \"joints\": [\"hinge\", [\"sleeve\", \"angle\"]], "
    "\"ratio\": 3},"
    "   \"bar\": {\"type\": \"distance\", \"points\": [\"ground.wall\", {\"body\": \"arm\", "
    "\"at\": [1,0,2]}]},"
    "   \"rod\": {\"type\": \"rack-pinion\", \"pinion\": \"hinge\", \"rack\": [\"sleeve\", "
    "\"slide\"],"
    "     \"radius\": 0.25, \"offset\": 1},"
    "   \"bolt\": {\"type\": \"fixed\", \"bodies\": [\"arm\", \"rack\"], \"cut\": true}},"
    " \"initial\": {\"hinge\": {\"position\": -1}, \"sleeve\": {\"angle\": {\"velocity\": 7, "
    "\"fixed\": true}}},"
    " \"outputs\": {\"turn\": {\"joint\": \"hinge\", \"derivative\": 2},"
    "   \"end\": {\"velocity\": \"arm.end\"}, \"speed\": \"hypot(end.x, end.z)*t\","
    "   \"slide\": {\"joint\": \"sleeve\", \"coordinate\": \"slide\"},"
    "   \"gap\": {\"distance\": [\"rack\", [0, 0, 1]]}, \"u\": {\"signal\": \"wave\"},"
    "   \"T\": {\"energy\": \"kinetic\"}},"
    " \"run\": {\"t_start\": 1, \"t_end\": \"1 + a\", \"integrator\": \"hem5\", \"rtol\": 1e-5}}";

static void test_linkage(void **state)
{
    (void)state;
    bg_model *m = parse(linkage, NULL, 0);
    assert_vec3(m->gravity, 0, 0, -9.80665, 0);
    assert_vec3(get_body(m, "arm")->pose.r, 1, 0, 0, 0);
    assert_vec3(get_body(m, "ground")->points[0].r, 0, 0, 2, 0);
    const bg_joint *hinge = get_joint(m, "hinge"), *sleeve = get_joint(m, "sleeve");
    assert_int_equal(hinge->start[0].signal, 0);
    assert_near(hinge->start[0].q, -1, 0);
    assert_vec3(place(m, &sleeve->b).r, 2, 0, 0, 0);
    bg_mat3 R = place(m, &sleeve->a).R;
    assert_vec3(bg_axis(&R, 2), 1, 0, 0, 0);
    assert_vec3(bg_axis(&R, 0), 0, 0, 1, 0);
    assert_int_equal(sleeve->start[0].signal, -1);
    assert_int_equal(sleeve->start[1].signal, 2);
    assert_near(sleeve->start[0].q, 0.1, 0); /* kept: the section states only the velocity */
    assert_near(sleeve->start[0].v, 7, 0);
    assert_true(sleeve->start[0].q_fixed);
    assert_near(get_joint(m, "bar")->length, 1, 0);
    assert_int_equal(get_joint(m, "bar")->a.body, 0);
    assert_vec3(place(m, &get_joint(m, "bolt")->a).r, 2, 0, 0, 0); /* the second body's centre */

    assert_int_equal(m->ncouplers, 2);
    const bg_coupler *gear = &m->couplers[0], *rack = &m->couplers[1];
    assert_int_equal(gear->n, 2);
    assert_ptr_equal(&m->joints[gear->joint[0]], hinge);
    assert_ptr_equal(&m->joints[gear->joint[1]], sleeve);
    assert_near(gear->factor[0], 3, 0);
    assert_near(gear->factor[1], -1, 0);
    assert_int_equal(rack->coordinate[1], 1);
    assert_near(rack->factor[0], 0.25, 0);
    assert_near(rack->offset, 1, 0);

    double u[3];
    bg_signal_calc(&m->signals[0], 3, u);
    assert_near(u[0], 4, 0);
    assert_int_equal(m->signals[1].kind, BG_SIGNAL_CONSTANT); /* no t in it */
    assert_near(m->signals[1].a, 2, 0);
    bg_signal_calc(&m->signals[2], 0.1, u);
    assert_near(u[0], 3 * sin(0.4 * acos(-1) + 0.5), 1e-15);
    bg_model_destroy(m);
}

static void test_outputs(void **state)
{
    (void)state;
    bg_model *m = parse(linkage, NULL, 0);
    assert_int_equal(m->noutputs, 9);
    assert_string_equal(m->outputs[1].name, "end.x");
    assert_int_equal(m->outputs[0].component, 2);
    assert_int_equal(get_output(m, "end.z")->component, 2);
    assert_int_equal(get_output(m, "slide")->coordinate, 1);
    assert_int_equal(get_output(m, "T")->kind, BG_OUTPUT_KINETIC);
    const bg_output *gap = get_output(m, "gap");
    assert_int_equal(gap->b.body, 0);
    assert_vec3(gap->b.frame.r, 0, 0, 1, 0);
    double values[10] = {0, 3, 0, 4, 0, 0, 0, 0, 0, 2}; /* end.x, end.z, and t behind all outputs */
    assert_near(bg_expression_calc(get_output(m, "speed")->expression, values), 10, 1e-15);
    assert_near(m->t_start, 1, 0);
    assert_near(m->t_end, 2, 0);
    assert_near(m->rtol, 1e-5, 0);
    assert_true(isnan(m->atol));
    assert_string_equal(m->integrator, "hem5");
    bg_model_destroy(m);
}

static int count_warnings(const bg_model *m, const char *fragment)
{
    int n = 0;
    for (int k = 0; k < m->warnings.count; k++)
        n += strstr(m->warnings.items[k].text, fragment) != NULL;
    return n;
}

static void test_warnings(void **state)
{
    (void)state;
    bg_model *m = parse(linkage, NULL, 0);
    assert_int_equal(m->warnings.count, 4);
    assert_int_equal(count_warnings(m, "parameter 'spare' is not used"), 1);
    assert_int_equal(count_warnings(m, "body 'loose' has no mass"), 1);
    assert_int_equal(count_warnings(m, "body 'loose' moves freely"), 1);
    assert_int_equal(count_warnings(m, "body 'arm': its largest principal moment"), 1);
    bg_model_destroy(m);

    /* slightly off by rounding is no matter, a per cent is */
    bg_setting near = {"bodies.arm.inertia", "[2, 3.0000001, 5]"};
    m = parse(linkage, &near, 1);
    assert_int_equal(count_warnings(m, "principal moment"), 0);
    bg_model_destroy(m);
    bg_setting off = {"bodies.arm.inertia", "[2, 3, 5.05]"};
    m = parse(linkage, &off, 1);
    assert_int_equal(count_warnings(m, "5.05, is more than the sum of the other two, 3 and 2"), 1);
    bg_model_destroy(m);
}

/* Bodies without shapes get lines to their joints; an empty list stays empty. */
/* Perpendicular axes in any direction, written with 6 to 17 digits, are perpendicular; axes that
 * are not, by more than digits explain, are refused. */
static void test_digits_of_axes(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < 400; k++) {
        double x[6];
        char text[1024];
        bg_error err = {BG_OK, ""};
        bg_model *m;
        int digits = 6 + k % 12;
        for (int i = 0; i < 6; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = (seed >> 8) / (double)(1 << 23) - 1;
        }
        bg_vec3 a = {x[0], x[1], x[2]}, b = bg_cross(a, bg_vec3_make(x[3], x[4], x[5]));
        if (bg_length(b) < 0.1)
            continue;
        b = bg_scale(1 / bg_length(b), b);
        for (int off = 0; off < 2; off++) {
            b = bg_add(b, bg_scale(off * 3e-4 / bg_length(a), a));
            snprintf(text, sizeof text,
                     "{\"bodies\": {\"b\": {\"mass\": 1, \"center\": [0, 0, 0]}}, \"joints\": "
                     "{\"j\": {\"type\": \"universal\", \"bodies\": [\"ground\", \"b\"], \"at\": "
                     "[0, 0, 0], \"axis\": [%.*g, %.*g, %.*g], \"second\": [%.*g, %.*g, %.*g]}}}",
                     digits, a.x, digits, a.y, digits, a.z, digits, b.x, digits, b.y, digits, b.z);
            bg_status st = bg_model_parse(text, "text", NULL, 0, &m, &err);
            assert_int_equal(st, off ? BG_BAD_INPUT : BG_OK);
            if (st == BG_OK)
                bg_model_destroy(m);
            else
                assert_null(strstr(err.text, "is 90 degrees"));
        }
    }
}

static void test_default_shapes(void **state)
{
    (void)state;
    bg_setting none = {"bodies.rack.shapes", "[]"};
    bg_model *m = parse(linkage, &none, 1);
    const bg_body *arm = get_body(m, "arm"), *loose = get_body(m, "loose");
    assert_int_equal(get_body(m, "rack")->nshapes, 0);
    assert_int_equal(arm->nshapes, 3); /* hinge, bar, bolt */
    assert_int_equal(arm->shapes[0].kind, BG_SHAPE_LINE);
    assert_vec3(arm->shapes[0].to, -1, 0, 0, 0);
    assert_int_equal(loose->nshapes, 1);
    assert_int_equal(loose->shapes[0].kind, BG_SHAPE_SPHERE);
    assert_true(loose->shapes[0].size[0] > 0);
    bg_model_destroy(m);
}

static void test_settings(void **state)
{
    (void)state;
    const bg_setting settings[] = {
        {"parameters.b", "3"},
        {"bodies.arm.mass", "2*kg + b"},
        {"bodies.rack.center[1]", "0.125"},
        {"bodies.rack.center.2", "\"a\""},
        {"joints.hinge.axis", "[0,0,-1]"},
        {"joints.sleeve.initial.angle.position", "9"},
        {"joints.bolt.cut", "false"},
        {"initial.hinge", "{\"velocity\": 5}"},
        {"run.step", "1e-3"},
        {"run.formulation", "cartesian"},
        {"name", "changed"},
    };
    bg_model *m = parse(linkage, settings, sizeof settings / sizeof *settings);
    assert_string_equal(m->name, "changed");
    assert_vec3(get_body(m, "arm")->pose.r, 6, 0, 0, 0);
    assert_near(get_body(m, "arm")->mass, 5, 0);
    assert_vec3(get_body(m, "rack")->pose.r, 2, 0.125, 6, 0);
    bg_mat3 R = place(m, &get_joint(m, "hinge")->a).R;
    assert_vec3(bg_axis(&R, 2), 0, 0, -1, 0);
    assert_near(get_joint(m, "sleeve")->start[0].q, 9, 0);
    assert_int_equal(get_joint(m, "bolt")->cut, BG_CUT_FORBID);
    assert_near(get_joint(m, "hinge")->start[0].q, 0, 0); /* the whole object was replaced */
    assert_near(get_joint(m, "hinge")->start[0].v, 5, 0);
    assert_near(m->step, 1e-3, 0);
    assert_string_equal(m->formulation, "cartesian");
    bg_model_destroy(m);

    /* sections that the file does not have are made */
    bg_setting made[] = {{"run.t_end", "4"}, {"initial.j.velocity", "2"}, {"gravity", "0"}};
    m = parse("{\"bodies\": {\"x\": {\"mass\": 1, \"center\": [0,0,0]}}, \"joints\": {\"j\": "
              "{\"type\": \"prismatic\", \"bodies\": [\"ground\", \"x\"], \"at\": [0,0,0], "
              "\"axis\": [0,0,1]}}}",
              made, 3);
    assert_near(m->t_end, 4, 0);
    assert_near(m->joints[0].start[0].v, 2, 0);
    assert_near(m->gravity.z, 0, 0);
    bg_model_destroy(m);
}

static void test_bad_settings(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value, *message;
    } cases[] = {
        {"parameters.bb", "3",
         "setting 'parameters.bb': the model has no parameters.bb; did you mean 'b'?"},
        {"b", "3", "setting 'b': the model has no b; did you mean 'parameters.b'?"},
        {"arm.mass", "3", "the model has no arm; did you mean 'bodies.arm.mass'?"},
        {"t_end", "3", "the model has no t_end; did you mean 'run.t_end'?"},
        {"output_interval", "3", "did you mean 'run.output_interval'?"},
        {"nonsense", "3", "nonsense: is not a known key; there are"},
        {"bodies.amr.mass", "3", "the model has no bodies.amr; did you mean 'arm'?"},
        {"bodies.arm.points.eend", "[0,0,0]", "no bodies.arm.points.eend; did you mean 'end'?"},
        {"joints.hinge.axes", "[0,0,1]",
         "joints.hinge.axes: is not a known key; did you mean 'axis'?"},
        {"run.tend", "3", "run.tend: is not a known key; did you mean 't_end'?"},
        {"runs.t_end", "3", "runs: is not a known key; did you mean 'run'?"},
        {"bodies.arm.mass.kg", "3", "setting 'bodies.arm.mass.kg': bodies.arm.mass has no members"},
        {"bodies.arm.center[3]", "3", "'3' is not the number of an entry; the list has 3"},
        {"bodies.arm.center.x", "3", "'x' is not the number of an entry"},
        {"bodies.arm.center[-1]", "3", "'-1' is not the number of an entry"},
        {"bodies.arm.mass", "-1", "bodies.arm.mass: must not be negative"},
        {"bodies.arm.mass", "", "bodies.arm.mass: expression ''"},
        {"bodies.arm.mass", "2*q", "bodies.arm.mass: expression '2*q', column 3: unknown name 'q'"},
        {"bodies.arm.center", "[0,1", "setting 'bodies.arm.center': the value is not valid JSON"},
        {"bodies.arm.center", "{\"a\":1,\"a\":2}", "duplicate object key"},
        {"bodies.arm.mass", "1e999", "bodies.arm.mass"},
        {"", "1", "a path has names with dots between them"},
        {"bodies.", "1", "a path has names with dots between them"},
        {".bodies", "1", "a path has names with dots between them"},
        {"bodies..arm", "1", "a path has names with dots between them"},
        {"bodies.arm.mass", "\xFF", "is not text in UTF-8"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_setting setting = {cases[k].path, cases[k].value};
        bg_model *m;
        bg_error err = {BG_OK, ""};
        assert_int_equal(bg_model_parse(linkage, "text", &setting, 1, &m, &err), BG_BAD_INPUT);
        assert_null(m);
        if (!strstr(err.text, cases[k].message))
            fail_msg("%s=%s: '%s'", cases[k].path, cases[k].value, err.text);
    }
}

/* A table is found beside the model file, wherever the program runs. */
static void test_table_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/bogie-model-XXXXXX", path[128], table[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.json", folder);
    snprintf(table, sizeof table, "%s/road.csv", folder);
    FILE *file = fopen(table, "w");
    assert_non_null(file);
    fputs("t,value\n0,1\n2,5\n", file);
    fclose(file);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"bodies\": {\"x\": {\"mass\": 1, \"center\": [0,0,0]}}, \"inputs\": {\"road\": "
          "{\"type\": \"table\", \"file\": \"road.csv\", \"interpolation\": \"linear\"}}}",
          file);
    fclose(file);
    bg_model *m;
    bg_error err = {BG_OK, ""};
    bg_status st = bg_model_read(path, NULL, 0, &m, &err);
    remove(path);
    remove(table);
    remove(folder);
    assert_int_equal(st, BG_OK);
    double u[3];
    bg_signal_calc(&m->signals[0], 0.5, u);
    assert_near(u[0], 2, 1e-15);
    assert_string_equal(m->name, "model");
    bg_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_details),     cmocka_unit_test(test_ways_of_saying),
        cmocka_unit_test(test_linkage),     cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_warnings),    cmocka_unit_test(test_default_shapes),
        cmocka_unit_test(test_settings),    cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_table_file),  cmocka_unit_test(test_digits_of_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

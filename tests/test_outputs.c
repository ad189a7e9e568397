/* Outputs as engineers name them, against numbers worked out here: vectors in the axes of bodies,
 * roll, pitch and yaw, how wheels stand, also in mirrored parts; units; outputs made of rows. */
#include "force_rig.h"
#include "model/sensor.h"
#include "model/unit.h"
#include "run/filters.h"

static const bg_output *find(const force_rig *r, const char *name)
{
    for (int k = 0; k < r->model->noutputs; k++)
        if (strcmp(r->model->outputs[k].name, name) == 0)
            return &r->model->outputs[k];
    fail_msg("no output %s", name);
    return NULL;
}

static double measure(const force_rig *r, const char *name)
{
    const bg_world w = rig_world(r);
    return bg_sensor_calc(find(r, name), &w);
}

static bg_mat3 rotate(double roll, double pitch, double yaw)
{
    const bg_mat3 x = bg_rotation_about(bg_vec3_make(1, 0, 0), roll),
                  y = bg_rotation_about(bg_vec3_make(0, 1, 0), pitch),
                  z = bg_rotation_about(bg_vec3_make(0, 0, 1), yaw);
    const bg_mat3 yx = bg_mat3_multiply(&y, &x);
    return bg_mat3_multiply(&z, &yx);
}

static const char *const two =
    "{'bodies': {'a': {'mass': 1, 'center': [0.1, 0.2, 0.3], 'inertia': [1, 1, 1], 'orientation':"
    " {'rpy': [0.3, -0.2, 0.5]}, 'points': {'p': [0.5, 0.1, 0.2]}}, 'b': {'mass': 1, 'center':"
    " [1.1, -0.2, 0.6], 'inertia': [1, 1, 1], 'orientation': {'rpy': [-0.4, 0.1, 0.9]}}},"
    " 'joints': {'f': {'type': 'free', 'bodies': ['ground', 'a']}, 'g': {'type': 'free', 'bodies':"
    " ['a', 'b']}}, 'outputs': {'own': {'angles': 'a'}, 'rel': {'angles': 'b', 'against': 'a'},"
    " 'p': {'position': 'b', 'axes': 'a'}, 'v': {'velocity': 'a.p', 'axes': 'b'}, 'w':"
    " {'angular_velocity': 'a', 'axes': 'a'}}}";

/* Turned against the design position by angles about x, then y, then z: these are the angles. */
static void angles_are_those_of_the_rotation(void **state)
{
    (void)state;
    force_rig r;
    rig_read(&r, two);
    for (int trial = 0; trial < 50; trial++) {
        const double own[3] = {3 * rig_random(&r), 1.5 * rig_random(&r), 3 * rig_random(&r)};
        const double rel[3] = {3 * rig_random(&r), 1.5 * rig_random(&r), 3 * rig_random(&r)};
        static const char *const names[2][3] = {{"own.roll", "own.pitch", "own.yaw"},
                                                {"rel.roll", "rel.pitch", "rel.yaw"}};
        rig_shake(&r, 1);
        const bg_mat3 A = rotate(own[0], own[1], own[2]), B = rotate(rel[0], rel[1], rel[2]);
        const bg_mat3 AB = bg_mat3_multiply(&A, &B);
        r.body[1].R = bg_mat3_multiply(&A, &r.model->bodies[1].pose.R);
        r.body[2].R = bg_mat3_multiply(&AB, &r.model->bodies[2].pose.R);
        for (int k = 0; k < 3; k++) {
            assert_near(measure(&r, names[0][k]), own[k], 1e-13);
            assert_near(measure(&r, names[1][k]), rel[k], 1e-13);
        }
    }
    bg_model_destroy(r.model);
}

/* In axes of a body: as if that body were where it was drawn; velocities are absolute ones. */
static void vectors_stand_in_axes_of_bodies(void **state)
{
    (void)state;
    force_rig r;
    rig_read(&r, two);
    for (int trial = 0; trial < 20; trial++) {
        rig_shake(&r, 1);
        /* both carried along by one motion: the position stays that of the design */
        const bg_mat3 turn = rig_exp(rig_random_vec3(&r, 2));
        const bg_vec3 shift = rig_random_vec3(&r, 3);
        for (int k = 1; k < 3; k++) {
            r.body[k].r = bg_add(shift, bg_rotate(&turn, r.model->bodies[k].pose.r));
            r.body[k].R = bg_mat3_multiply(&turn, &r.model->bodies[k].pose.R);
        }
        assert_near(measure(&r, "p.x"), 1.1, 1e-13);
        assert_near(measure(&r, "p.y"), -0.2, 1e-13);
        assert_near(measure(&r, "p.z"), 0.6, 1e-13);
        const bg_vec3 arm = bg_rotate(&turn, bg_vec3_make(0.4, -0.1, -0.1));
        const bg_vec3 v = bg_rotate_back(&turn, bg_add(r.body[1].v, bg_cross(r.body[1].w, arm)));
        const bg_vec3 w = bg_rotate_back(&turn, r.body[1].w);
        assert_near(measure(&r, "v.x"), v.x, 1e-13);
        assert_near(measure(&r, "v.y"), v.y, 1e-13);
        assert_near(measure(&r, "v.z"), v.z, 1e-13);
        assert_near(measure(&r, "w.y"), w.y, 1e-13);
    }
    bg_model_destroy(r.model);
}

static const char *const axle =
    "{'parts': {'corner': {'bodies': {'wheel': {'mass': 1, 'center': [0.2, 0.7, 0.3], 'inertia': "
    "[1,"
    " 1, 1], 'points': {'low': [0.2, 0.65, 0.2], 'top': [0.2, 0.65, 0.5]}}}, 'outputs': {'is':"
    " {'wheel': 'wheel', 'against': 'car', 'kingpin': ['wheel.low', 'wheel.top']}}}}, 'bodies':"
    " {'car': {'mass': 9, 'center': [0, 0, 0.5], 'inertia': [1, 1, 1]}}, 'use': {'l': {'part':"
    " 'corner', 'connect': {'car': 'car'}}, 'r': {'part': 'corner', 'mirror': 'y', 'connect':"
    " {'car': 'car'}}}, 'outputs': {'right': {'wheel': 'r.wheel', 'against': 'car'}}}";

/* Left and right wheels, turned in a car that is somewhere: steer to the left about z, then lean
 * about x, then lean back about y. */
static void wheels_stand_as_turned(void **state)
{
    (void)state;
    force_rig r;
    rig_read(&r, axle);
    const int left = 2, right = 3;
    assert_string_equal(r.model->bodies[left].name, "l.wheel");
    for (int trial = 0; trial < 30; trial++) {
        rig_shake(&r, 1);
        const bg_mat3 car = rig_exp(rig_random_vec3(&r, 3));
        const double steer = 0.5 * rig_random(&r), lean = 0.3 * rig_random(&r),
                     back = 0.2 * rig_random(&r), up = 0.1 * rig_random(&r);
        const bg_mat3 turn = rotate(lean, 0, steer), spin = rotate(0, back, 0);
        r.body[1].R = car;
        for (int k = left; k <= right; k++) {
            const bg_vec3 place = bg_add(r.model->bodies[k].pose.r, bg_vec3_make(0.05, 0.02, up));
            r.body[k].R = bg_mat3_multiply(&car, &turn);
            r.body[k].r = bg_add(r.body[1].r,
                                 bg_rotate(&car, bg_sub(place, bg_vec3_make(0, 0, 0.5))));
        }
        /* Rx(lean) raises the left end of the axis: the left wheel leans in, the right one out */
        assert_near(measure(&r, "l.is.camber"), -lean, 1e-13);
        assert_near(measure(&r, "r.is.camber"), lean, 1e-13);
        assert_near(measure(&r, "right.camber"), lean, 1e-13);
        assert_near(measure(&r, "l.is.toe"), -steer, 1e-13);
        assert_near(measure(&r, "r.is.toe"), steer, 1e-13);
        assert_near(measure(&r, "right.toe"), steer, 1e-13);
        assert_near(measure(&r, "l.is.steer"), steer, 1e-13);
        assert_near(measure(&r, "r.is.steer"), steer, 1e-13);
        assert_near(measure(&r, "right.steer"), steer, 1e-13);
        assert_near(measure(&r, "l.is.travel"), up, 1e-13);
        assert_near(measure(&r, "r.is.travel"), up, 1e-13);
        /* a lean of the steering axis alone */
        r.body[left].R = bg_mat3_multiply(&car, &spin);
        r.body[right].R = bg_mat3_multiply(&car, &spin);
        assert_near(measure(&r, "l.is.caster"), -back, 1e-13);
        assert_near(measure(&r, "r.is.caster"), -back, 1e-13);
        const bg_mat3 tilted = rotate(lean, 0, 0);
        r.body[left].R = r.body[right].R = bg_mat3_multiply(&car, &tilted);
        assert_near(measure(&r, "l.is.inclination"), lean, 1e-13);
        assert_near(measure(&r, "r.is.inclination"), -lean, 1e-13);
    }
    bg_model_destroy(r.model);
}

static void units_have_factors_and_dimensions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double factor;
        int m, kg, s, rad;
    } cases[] = {
        {"mm", 1e-3, 1, 0, 0, 0},        {"N/mm", 1e3, 0, 1, -2, 0},
        {"m/s²", 1, 1, 0, -2, 0},        {"m/s^2", 1, 1, 0, -2, 0},
        {"km/h", 1 / 3.6, 1, 0, -1, 0},  {"deg/s", M_PI / 180, 0, 0, -1, 1},
        {"N m/rad", 1, 2, 1, -2, -1},    {"kN*m", 1e3, 2, 1, -2, 0},
        {"1/s", 1, 0, 0, -1, 0},         {"%", 0.01, 0, 0, 0, 0},
        {"rpm", M_PI / 30, 0, 0, -1, 1}, {"m/s s", 1, 1, 0, -2, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_unit u;
        assert_true(bg_unit_parse(cases[k].text, &u));
        assert_near(u.factor, cases[k].factor, 1e-15 * cases[k].factor);
        assert_true(u.power[0] == cases[k].m && u.power[1] == cases[k].kg &&
                    u.power[2] == cases[k].s && u.power[3] == cases[k].rad);
    }
    static const char *const none[] = {"", "furlong", "m/", "/s", "m^", "m^x", "m  s", "2 m", "m)"};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        bg_unit u;
        if (bg_unit_parse(none[k], &u))
            fail_msg("'%s' passes for a unit", none[k]);
    }
}

/* Of every type of element; units go with channels into all files. */
static void values_and_states_have_units(void **state)
{
    (void)state;
    static const char *const numbers[] = {"contact", "sticks",  "slip",   "use",
                                          "slope",   "creep_x", "creep_y"};
    force_rig r;
    rig_read(&r,
             "{'bodies': {'a': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'joints':"
             " {'h': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis':"
             " [0, 0, 1]}}, 'forces': {'f': {'type': 'friction', 'joint': 'h', 'coulomb': 1,"
             " 'deflection': 0.1}}}");
    bg_force f = r.model->forces[0];
    assert_string_equal(bg_force_get_state_unit(r.model, &f, 0), "rad");
    bg_model m = *r.model;
    m.forces = &f;
    for (const bg_force_class *const *c = bg_force_get_classes(); *c; c++)
        for (int k = 0; k < (*c)->nsensors && !(*c)->get_unit; k++) {
            const bg_output o = {.kind = BG_OUTPUT_FORCE, .component = k};
            const char *name = (*c)->sensor_names[k];
            bool is_number = false;
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                is_number = is_number || strcmp(name, numbers[i]) == 0;
            f.class_ = *c;
            if ((*bg_output_get_si_unit(&m, &o) == '\0') != is_number && strcmp(name, "slip") != 0)
                fail_msg("%s of %s: '%s'", name, (*c)->name, bg_output_get_si_unit(&m, &o));
        }
    bg_model_destroy(r.model);
}

/* A controller has the units of what it measures. */
static void controllers_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *input, *error, *lag, *integral;
    } cases[] = {{"{'joint': 'h'}", "rad", "rad", "rad s"},
                 {"{'joint': 'h', 'rate': true}", "rad/s", "rad/s", "rad"},
                 {"{'position': 'a', 'component': 'x'}", "m", "m", "m s"},
                 {"{'velocity': 'a', 'component': 'x'}", "m/s", "m/s", "m"},
                 {"'2*t'", "", "", ""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[1024];
        force_rig r;
        snprintf(text, sizeof text,
                 "{'bodies': {'a': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}},"
                 " 'joints': {'h': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0],"
                 " 'axis': [0, 0, 1]}}, 'forces': {'f': {'type': 'controller', 'input': %s,"
                 " 'reference': 0, 'kp': 1, 'ki': 1, 'filter': 0.1, 'output': {'joint': 'h'}}}}",
                 cases[k].input);
        rig_read(&r, text);
        const bg_force *f = &r.model->forces[0];
        for (int i = 0; i < f->class_->nsensors; i++) {
            const bg_output o = {.kind = BG_OUTPUT_FORCE, .component = i};
            assert_string_equal(bg_output_get_si_unit(r.model, &o),
                                i == 0 ? "N m" : cases[k].error);
        }
        assert_string_equal(bg_force_get_state_unit(r.model, f, 0), cases[k].lag);
        assert_string_equal(bg_force_get_state_unit(r.model, f, 1), cases[k].integral);
        bg_model_destroy(r.model);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const frame =
        "{'bodies': {'a': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}, 'joints': {'h':"
        " {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [0, 1, 0]}},"
        " 'outputs': {'x': {'joint': 'h', 'unit': 'deg'}, 'y': %s}, 'forces': {'f': {'type':"
        " 'torsion', 'joint': 'h', 'torque': '%s'}}}";
    static const char *const cases[][3] = {
        {"{'joint': 'h', 'unit': 'mm'}", "0",
         "outputs.y.unit: 'mm' does not fit: this output is in rad"},
        {"{'joint': 'h', 'unit': 'ell'}", "0", "'ell' is no unit"},
        {"{'position': 'a', 'axes': 'b'}", "0", "axes"},
        {"{'wheel': 'a', 'component': 'caster'}", "0", "needs 'kingpin'"},
        {"{'wheel': 'a', 'axis': [1, 0, 0]}", "0", "must point to the side"},
        {"{'filter': 'z', 'time': 1}", "0", "no output 'z'"},
        {"{'filter': 'y', 'time': 1}", "0", "comes earlier"},
        {"{'rms': 'x', 'time': 0}", "0", "time"},
        {"{'rms': 'x', 'time': 1}", "y", "made of the rows"},
        {"{'wheel': 'a', 'component': 'toe'}", "y", "geometry of a wheel"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2048];
        bg_error err = {BG_OK, ""};
        bg_model *model = NULL;
        snprintf(text, sizeof text, frame, cases[k][0], cases[k][1]);
        char *copy = rig_quote(text);
        assert_int_equal(bg_model_parse(copy, "test", NULL, 0, &model, &err), BG_BAD_INPUT);
        if (!strstr(err.text, cases[k][2]))
            fail_msg("'%s' does not say '%s'", err.text, cases[k][2]);
        free(copy);
    }
}

/* A ramp through a lag of time T is behind by T (1 - exp(-t/T)), however the rows lie; the mean
 * square of a constant is its square, and looking does not change what follows. */
static void rows_are_filtered_exactly(void **state)
{
    (void)state;
    static const bg_output_filter filters[] = {{1, 0, BG_FILTER_LAG, 0.3, 2},
                                               {3, 2, BG_FILTER_RMS, 0.5, 1},
                                               {4, 1, BG_FILTER_LAG, 0.2, 1}};
    bg_system_def def = bg_default_system_def();
    def.filters = filters;
    def.nfilters = 3;
    bg_filters f;
    assert_true(bg_filters_create(&def, &f));
    const double t[] = {0, 0.1, 0.1, 0.15, 0.7, 1.9, 2};
    for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
        double y[5] = {3 * t[k], 0, -4, 0, 0}, look[5] = {7, 0, 9, 0, 0};
        bg_filters_apply(&f, t[k] + 0.01, look, false);
        bg_filters_apply(&f, t[k], y, true);
        assert_near(y[1], 2 * 3 * (t[k] - 0.3 * (1 - exp(-t[k] / 0.3))), 1e-14);
        assert_near(y[3], 4, 1e-14);
        assert_true(y[4] <= y[1]);
    }
    bg_filters_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_those_of_the_rotation),
        cmocka_unit_test(vectors_stand_in_axes_of_bodies),
        cmocka_unit_test(wheels_stand_as_turned),
        cmocka_unit_test(units_have_factors_and_dimensions),
        cmocka_unit_test(values_and_states_have_units),
        cmocka_unit_test(controllers_have_units),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(rows_are_filtered_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

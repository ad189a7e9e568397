/* models/vehicle-trailer.json and its twin with a spring at the hitch: statics, steady cornering
 * against the linear single-track model with a trailer, both coordinate forms, the two hitches
 * against each other, and the whole course. */
#include "drive_support.h"

#include <jansson.h>
#include <stdbool.h>

static const char *const with_joint = BOGIE_SOURCE_DIR "/models/vehicle-trailer.json",
                         *const with_spring = BOGIE_SOURCE_DIR
                         "/models/vehicle-trailer-spring.json";

static double get(const drive *d, const char *name)
{
    return d->last[find_output(d, name)];
}

/* From the data sheet: masses, lengths, and what follows from them. */
static const double sprung = 965.7108098804363, unsprung = 63.7921826056784;
static const double m = 965.7108098804363 + 2 * 63.7921826056784, a = 1.1561957064,
                    b = 1.4227170936, g = 9.81;
static const double m_trailer = 1000, ahead = 0.1, draw_bar = 3.6, overhang = 0.95;

/* Parked, the combination stands still, and its wheel loads are those of two levers. */
static void parked_loads_are_those_of_the_levers(void **state)
{
    (void)state;
    static const bg_setting parked[] = {{"parameters.speed", "0"}, {"inputs.steer", "0"}};
    const double nose = m_trailer * g * ahead / draw_bar;
    const double front = (m * g * b - nose * overhang) / (a + b) / 2;
    const double rear = (m * g * a + nose * (a + b + overhang)) / (a + b) / 2;
    const double trailer = (m_trailer * g - nose) / 2;
    drive d;
    run_drive(with_joint, "joint", parked, 2, 5, 1e-9, &d);
    assert_near(nose, 272.5, 1e-9); /* as the data sheet of the trailer has it */
    assert_near(get(&d, "load_fl"), front, 1e-4);
    assert_near(get(&d, "load_fr"), front, 1e-4);
    assert_near(get(&d, "load_rl"), rear, 1e-4);
    assert_near(get(&d, "load_rr"), rear, 1e-4);
    assert_near(get(&d, "load_tl"), trailer, 1e-4);
    assert_near(get(&d, "load_tr"), trailer, 1e-4);
    assert_near(get(&d, "hitch_force_z"), nose, 1e-4);
    assert_near(get(&d, "position.x"), unsprung * (b - a) / sprung, 1e-6);
    assert_near(get(&d, "forward_speed"), 0, 1e-7);
    assert_int_equal(d.events, 0);
}

/* Steady cornering of the single-track model with a trailer, small angles. The trailer's axle
 * carries its side force behind the centre, so the hitch passes on Y = m_t a_y (ahead + t)/(draw
 * bar + t); side forces act their trail t behind the axles, and the front wheels turn back by their
 * aligning torques in the elastic steering. Returns yaw rate / steer at speed v. */
static double calc_yaw_gain(double v)
{
    const double nose = m_trailer * g * ahead / draw_bar, L = a + b, half = 0.0684353 / 3;
    const double N_f = (m * g * b - nose * overhang) / L, N_r = m * g + nose - N_f;
    const double t_f = half * sqrt(N_f / 2 / 4000), t_r = half * sqrt(N_r / 2 / 4000);
    const double Y = m_trailer * (ahead + half) / (draw_bar + half); /* per a_y */
    /* F_f + F_r = m + Y,  (a - t_f) F_f - (b + t_r) F_r + (b + overhang) Y = 0 */
    const double F_f = ((m + Y) * (b + t_r) - (b + overhang) * Y) / (a - t_f + b + t_r);
    const double F_r = m + Y - F_f;
    const double elastic = F_f / 2 * t_f / 20000;
    const double K = F_f / (21.92 * N_f) - F_r / (21.92 * N_r) + elastic;
    return v / (L + K * v * v);
}

static void steady_cornering_meets_the_single_track_model(void **state)
{
    (void)state;
    static const char *const speeds[] = {"10", "20", "25"};
    for (int k = 0; k < (SANITIZED ? 1 : 3); k++) {
        const bg_setting settings[] = {{"parameters.speed", speeds[k]},
                                       {"inputs.steer", "\"0.15*deg*step(t, 0, 2)\""}};
        drive d;
        run_drive(with_joint, "joint", settings, 2, 30, 1e-7, &d);
        const double v = get(&d, "forward_speed"), r = get(&d, "yaw_rate");
        const double expected = calc_yaw_gain(v) * 0.15 * 0.017453292519943295;
        print_message("%2.0f m/s: yaw rate %.6f, single-track %.6f rad/s (%+.2f %%), %.2f m/s2\n",
                      v, r, expected, 100 * (r / expected - 1), get(&d, "lateral_acceleration"));
        assert_near(r / expected, 1, 0.02);
        assert_near(get(&d, "trailer_yaw_rate"), r, 1e-3 * r); /* it is steady */
        assert_near(get(&d, "lateral_acceleration"), v * r, 0.01 * v * r);
    }
}

/* Swerving from the start, in joint coordinates and in Cartesian ones. */
static void both_forms_agree(void **state)
{
    (void)state;
    static const bg_setting swerve[] = {{"inputs.steer", "\"1.5*deg*sin(3*t)\""}};
    static drive joint, cartesian;
    const double tolerance = SANITIZED ? 1e-6 : 1e-10;
    run_drive(with_joint, "joint", swerve, 1, 2, tolerance, &joint);
    run_drive(with_joint, "cartesian", swerve, 1, 2, tolerance, &cartesian);
    assert_int_equal(joint.ny, cartesian.ny);
    assert_true(fabs(get(&joint, "lateral_acceleration")) > 1);
    for (int i = 0; i < joint.ny; i++) {
        const double x = joint.last[i], y = cartesian.last[i];
        if (!(fabs(x - y) <= 1e3 * tolerance * fmax(1, fabs(x))))
            fail_msg("%s: %.12g and %.12g", joint.names[i], x, y);
    }
}

/* The lane change with both hitches: the spring gives way by force / stiffness, the joint does not;
 * the vehicles hardly notice. */
static void spring_and_joint_pull_alike(void **state)
{
    (void)state;
    static drive joint, spring;
    run_drive(with_joint, "joint", NULL, 0, 6, 1e-7, &joint);
    run_drive(with_spring, "joint", NULL, 0, 6, 1e-7, &spring);
    const int j = find_output(&joint, "hitch_defect"), s = find_output(&spring, "hitch_defect");
    assert_true(joint.high[j] < 1e-11);
    assert_true(spring.high[s] > 3e-4 && spring.high[s] < 2e-3);
    const double force = hypot(hypot(get(&spring, "hitch_force_x"), get(&spring, "hitch_force_y")),
                               get(&spring, "hitch_force_z"));
    assert_near(get(&spring, "hitch_defect"), force / 500e3, 0.05 * force / 500e3);
    static const char *const same[] = {"yaw_rate", "trailer_yaw_rate", "articulation",
                                       "lateral_acceleration"};
    for (int k = 0; k < 4; k++) {
        const int p = find_output(&joint, same[k]), q = find_output(&spring, same[k]);
        assert_near(spring.high[q], joint.high[p], 0.01 * joint.high[p]);
        assert_near(spring.low[q], joint.low[p], -0.01 * joint.low[p]);
    }
    static const char *const forces[] = {"hitch_force_x", "hitch_force_y", "hitch_force_z"};
    for (int k = 0; k < 3; k++)
        assert_near(get(&spring, forces[k]), get(&joint, forces[k]), 5);
}

/* A hitch of 5 kN/m gives way by a decimetre and its force swings (000 Fig. 10, 11): above that of
 * the ball joint, sideways by half and more. */
static void a_soft_hitch_swings(void **state)
{
    (void)state;
    static const bg_setting soft[] = {{"parameters.hitch_stiffness", "5000"},
                                      {"parameters.hitch_damping", "1000"}};
    static drive joint, spring;
    if (SANITIZED) /* a comparison of numbers, over the code of the runs above */
        skip();
    run_drive(with_joint, "joint", NULL, 0, 12, 1e-5, &joint);
    run_drive(with_spring, "joint", soft, 2, 12, 1e-5, &spring);
    const int fx = find_output(&joint, "hitch_force_x"), fy = find_output(&joint, "hitch_force_y");
    const int gx = find_output(&spring, "hitch_force_x"),
              gy = find_output(&spring, "hitch_force_y");
    const int s = find_output(&spring, "hitch_defect");
    const double range = joint.high[fy] - joint.low[fy], swing = spring.high[gy] - spring.low[gy];
    print_message("defect up to %.3f m, Fx up to %.0f N instead of %.0f N, Fy over %.0f N instead "
                  "of %.0f N\n",
                  spring.high[s], spring.high[gx], joint.high[fx], swing, range);
    assert_true(spring.high[s] > 0.05 && spring.high[s] < 0.3);
    assert_true(spring.high[gx] > 1.2 * joint.high[fx]);
    assert_true(swing > 1.5 * range);
}

/* The course of 60 s: demanding, but every wheel stays down, and it ends as it began, on a
 * straight, so that it can be driven again. */
static void the_course_can_be_driven(void **state)
{
    (void)state;
    static drive d;
    if (SANITIZED) /* a longer run of what is run above */
        skip();
    run_drive(with_joint, "joint", NULL, 0, 60, 1e-6, &d);
    const int ay = find_output(&d, "lateral_acceleration"), v = find_output(&d, "forward_speed");
    print_message("%ld steps, lateral acceleration %.2f to %.2f m/s2, |g| %.1e\n", d.steps,
                  d.low[ay], d.high[ay], d.certificate.max_g);
    assert_int_equal(d.events, 0);
    assert_true(d.steps < 5000);
    assert_true(d.high[ay] > 4.5 && d.high[ay] < 6 && d.low[ay] < -4 && d.low[ay] > -6);
    assert_true(d.low[v] > 19.5 && d.high[v] < 20.5);
    static const char *const loads[] = {"load_fl", "load_fr", "load_rl",
                                        "load_rr", "load_tl", "load_tr"};
    for (int k = 0; k < 6; k++)
        assert_true(d.low[find_output(&d, loads[k])] > 500);
    assert_near(get(&d, "articulation"), 0, 1e-2);
    assert_near(get(&d, "yaw_rate"), 0, 1e-2);
    assert_near(get(&d, "forward_speed"), 20, 0.05);
    assert_true(d.certificate.max_g < 1e-11);
    assert_true(d.certificate.energy_error < 1e-6 * d.certificate.energy_scale);
}

/* In steps of 16 ms the tyres are too stiff for explicit Euler; the linear-implicit one holds them
 * with all of its Jacobian, with the parts named stiff, and with what it chooses itself. */
static void partitions_hold_the_tyres(void **state)
{
    (void)state;
    static const char *const partitions[] = {"all", "stiff", "auto", NULL};
    for (int twin = 0; twin < 2; twin++)
        for (int k = 0; k < 4; k++) {
            bg_error err = {BG_OK, ""};
            bg_setting setting = {"partition", partitions[k]};
            bg_model *model;
            bg_system *sys;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            o.integrator = partitions[k] ? "linear-euler" : "euler";
            o.method.settings = &setting;
            o.method.nsettings = partitions[k] != NULL;
            o.method.step = 16e-3;
            o.skip_comparison = 1; /* not what is looked at here */
            o.t_end = 5;
            assert_ok(bg_model_read(twin ? with_spring : with_joint, NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, "joint", &sys, &err));
            bg_status st = bg_run(sys, &o, &r, &err);
            const bg_certificate *c = &r.certificate;
            if (partitions[k] && (st != BG_OK || !(c->energy_error < 2e-3 * c->energy_scale)))
                fail_msg("%s: energy error %g J of %g J; %s", partitions[k], c->energy_error,
                         c->energy_scale, err.text);
            if (!partitions[k])
                assert_true(st != BG_OK || c->energy_error > 0.5 * c->energy_scale);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    assert_non_null(json);
    return json;
}

/* The twin differs in the hitch and in nothing else. */
static void twins_differ_in_the_hitch_alone(void **state)
{
    (void)state;
    json_t *joint = load(with_joint), *spring = load(with_spring);
    json_t *const both[] = {joint, spring};
    assert_int_equal(json_object_del(json_object_get(joint, "joints"), "hitch"), 0);
    assert_int_equal(json_object_del(json_object_get(joint, "outputs"), "hitch"), 0);
    assert_int_equal(json_object_del(json_object_get(spring, "forces"), "hitch"), 0);
    json_object_del(json_object_get(spring, "parameters"), "hitch_stiffness");
    json_object_del(json_object_get(spring, "parameters"), "hitch_damping");
    json_t *stiff = json_object_get(json_object_get(spring, "run"), "stiff");
    size_t last = json_array_size(stiff) - 1;
    assert_string_equal(json_string_value(json_array_get(stiff, last)), "hitch");
    json_array_remove(stiff, last);
    for (int k = 0; k < 2; k++) {
        json_t *outputs = json_object_get(both[k], "outputs");
        json_object_del(both[k], "name");
        json_object_del(both[k], "comment");
        assert_int_equal(json_object_del(outputs, "hitch_force_x"), 0);
        assert_int_equal(json_object_del(outputs, "hitch_force_y"), 0);
        assert_int_equal(json_object_del(outputs, "hitch_force_z"), 0);
    }
    assert_true(json_equal(joint, spring));
    assert_true(json_object_size(json_object_get(joint, "outputs")) > 20);
    json_decref(joint);
    json_decref(spring);
}

/* Members of a section of a part that are not those of the whole; counts them all. */
static int count_members(const char *part, const char *section, json_t *whole)
{
    json_t *json = load(part), *members = json_object_get(json, section), *member;
    const char *name;
    int count = 0;
    json_object_foreach(members, name, member)
    {
        bool hook = strcmp(section, "forces") == 0 && strcmp(name, "hook") == 0;
        if (!hook && !json_equal(member, json_object_get(json_object_get(whole, section), name)))
            fail_msg("%s: %s.%s is not that of the whole", part, section, name);
        count += !hook;
    }
    json_decref(json);
    return count;
}

/* The two halves in examples/hook are the vehicle with trailer without its hitch. */
static void parts_are_those_of_the_whole(void **state)
{
    (void)state;
    static const char *const sections[] = {"bodies", "joints", "forces", "tyres", "parameters"};
    json_t *whole = load(with_joint);
    json_object_del(json_object_get(whole, "joints"), "hitch");
    for (int k = 0; k < 5; k++) {
        int car = count_members(BOGIE_SOURCE_DIR "/examples/hook/car.json", sections[k], whole);
        int trailer = count_members(BOGIE_SOURCE_DIR "/examples/hook/trailer.json", sections[k],
                                    whole);
        assert_true(car > 0 && trailer > 0);
        if (k < 4) /* parameters may serve both */
            assert_int_equal(car + trailer,
                             (int)json_object_size(json_object_get(whole, sections[k])));
    }
    json_decref(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parked_loads_are_those_of_the_levers),
        cmocka_unit_test(steady_cornering_meets_the_single_track_model),
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(spring_and_joint_pull_alike),
        cmocka_unit_test(a_soft_hitch_swings),
        cmocka_unit_test(the_course_can_be_driven),
        cmocka_unit_test(partitions_hold_the_tyres),
        cmocka_unit_test(twins_differ_in_the_hitch_alone),
        cmocka_unit_test(parts_are_those_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

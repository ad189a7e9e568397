/* models/passenger-car.json and models/rear-axle-stamp.json: vehicles put together from parts that
 * are used several times, with a rack and stamps whose motion is prescribed.
 *
 * The car is compared with a description of the same car that was made by another program and has
 * no parts (tests/reference/passenger-car.json), with check values of an independent computation,
 * and with its own mirror image; the axle with itself in both ways to treat prescribed joints. */
#include "drive_support.h"

#define CAR BOGIE_SOURCE_DIR "/models/passenger-car.json"
#define FLAT BOGIE_SOURCE_DIR "/tests/reference/passenger-car.json"
#define AXLE BOGIE_SOURCE_DIR "/models/rear-axle-stamp.json"

/* The largest difference of two outputs at start and end and of their extremes, of which those of
 * the second are taken times sign. */
static double compare(const drive *a, const char *first, const drive *b, const char *second,
                      double sign)
{
    int i = find_output(a, first), k = find_output(b, second);
    double low = sign > 0 ? b->low[k] : -b->high[k], high = sign > 0 ? b->high[k] : -b->low[k];
    double start = fabs(a->first[i] - sign * b->first[k]);
    double end = fabs(a->last[i] - sign * b->last[k]);
    return fmax(fmax(start, end), fmax(fabs(a->low[i] - low), fabs(a->high[i] - high)));
}

static const char *const wheels[] = {"fl", "fr", "rl", "rr"};

/* Values of an independent computation at 1e-6; those of the motion are good to 0.5 %. */
static void check_values(const drive *d)
{
    static const struct {
        const char *name;
        double low, high;
    } expected[] = {{"acceleration.y", -2.329, 2.365},
                    {"lateral_acceleration", -2.329, 2.365},
                    {"yaw_rate", -0.1218, 0.1099},
                    {"rack", -0.002, 0.002}};
    for (int k = 0; k < 4; k++) {
        char name[32];
        snprintf(name, sizeof name, "%s.wheel.load", wheels[k]);
        assert_near(d->first[find_output(d, name)], k < 2 ? 2926.1 : 2436.5, 0.05);
        int i = find_output(d, expected[k].name);
        assert_near(d->low[i], expected[k].low, 0.005 * fabs(expected[k].low));
        assert_near(d->high[i], expected[k].high, 0.005 * expected[k].high);
    }
}

static void test_car_is_the_one_written_out(void **state)
{
    (void)state;
    static const char *const same[] = {"position.x",     "position.y", "position.z", "velocity.x",
                                       "velocity.y",     "omega.x",    "omega.y",    "omega.z",
                                       "acceleration.x", "rack"};
    static drive flat, d;
    double worst = 0, loads = 0;
    const double t_end = SANITIZED ? 0.5 : 5;
    run_drive(FLAT, "joint", NULL, 0, t_end, 1e-8, &flat);
    for (int form = 0; form < 2; form++) {
        run_drive(CAR, forms[form], NULL, 0, t_end, 1e-8, &d);
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            worst = fmax(worst, compare(&flat, same[k], &d, same[k], 1));
        for (int k = 0; k < 4; k++) {
            char there[32], here[32];
            snprintf(there, sizeof there, "load_%s", wheels[k]);
            snprintf(here, sizeof here, "%s.wheel.load", wheels[k]);
            loads = fmax(loads, compare(&flat, there, &d, here, 1));
        }
        if (form == 0) {
            assert_int_equal(d.nv, 32);
            assert_int_equal(d.ng, 18);
        }
    }
    print_message("motion differs by %.1e, loads by %.1e N\n", worst, loads);
    assert_true(worst < 1e-6 && loads < 1e-3);
    static const bg_setting steering[] = {
        {"inputs.rack", "rack_amplitude*step(t,0,0.5)*sin(2*pi*steer_frequency*t)"}};
    for (int form = 0; form < 2 && !SANITIZED; form++) { /* steered as in that computation */
        run_drive(CAR, forms[form], steering, 1, t_end, 1e-7, &d);
        check_values(&d);
    }
}

/* Steering the other way gives the mirrored motion; what corners measure is that of the corner on
 * the other side, with the signs of the part. */
static void test_mirrored_steering(void **state)
{
    (void)state;
    static const char *const odd[] = {"position.y", "omega.x", "omega.z",    "lateral_acceleration",
                                      "heading",    "roll",    "rack_force", "sideslip"};
    static const char *const even[] = {"position.x", "position.z", "omega.y", "forward_speed"};
    static const char *const values[] = {"wheel.load", "wheel.side", "wheel.slip",
                                         "wheel.slip_angle", "length"};
    static const bg_setting other = {"parameters.rack_amplitude", "-0.002"};
    static drive a, b;
    double worst = 0;
    run_drive(CAR, "joint", NULL, 0, SANITIZED ? 2 : 3, 1e-8, &a);
    run_drive(CAR, "joint", &other, 1, SANITIZED ? 2 : 3, 1e-8, &b);
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        worst = fmax(worst, compare(&a, odd[k], &b, odd[k], -1) /
                                fmax(1, a.high[find_output(&a, odd[k])]));
    for (size_t k = 0; k < sizeof even / sizeof *even; k++)
        worst = fmax(worst, compare(&a, even[k], &b, even[k], 1));
    worst = fmax(worst, compare(&a, "steer_left", &b, "steer_right", -1));
    for (size_t k = 0; k < 2 * sizeof values / sizeof *values; k++) {
        char left[32], right[32];
        snprintf(left, sizeof left, "%cl.%s", "fr"[k % 2], values[k / 2]);
        snprintf(right, sizeof right, "%cr.%s", "fr"[k % 2], values[k / 2]);
        worst = fmax(worst,
                     compare(&a, left, &b, right, 1) / fmax(1, a.high[find_output(&a, left)]));
    }
    print_message("mirrored steering differs by %.1e\n", worst);
    assert_true(a.high[find_output(&a, "heading")] > 1e-3);
    assert_true(worst < 1e-6);
}

/* Racks and stamps that are eliminated move as those that constraints lead. At the end of the runs:
 * at 0.5 s the second derivative of the rack's motion jumps, and forces with it. */
static void test_prescribed_both_ways(void **state)
{
    (void)state;
    static const bg_setting constrain = {"run.rheonomic", "constrain"};
    static const char *const paths[] = {CAR, AXLE};
    static drive a, b;
    for (int m = 0; m < 2; m++) {
        double worst = 0, t_end = SANITIZED ? 0.1 : m ? 0.6 : 1.2;
        run_drive(paths[m], "joint", NULL, 0, t_end, 1e-8, &a);
        run_drive(paths[m], "joint", &constrain, 1, t_end, 1e-8, &b);
        assert_int_equal(b.nv - a.nv, 1 + m);
        assert_int_equal(b.ng - a.ng, 1 + m);
        for (int i = 0; i < a.ny; i++)
            worst = fmax(worst, fabs(a.last[i] - b.last[i]) / fmax(1, fmax(-a.low[i], a.high[i])));
        print_message("prescribed both ways differ by %.1e\n", worst);
        assert_true(worst < 1e-5);
    }
}

/* Without a stroke the axle rests where it was designed, the load of its tyres is what settles
 * them; with it the stamp moves up and down by 80 mm and the wheel never lifts off. */
static void test_axle_on_stamp(void **state)
{
    (void)state;
    static const bg_setting still = {"use.left.parameters.stroke", "0"};
    static drive d;
    run_drive(AXLE, "joint", &still, 1, SANITIZED ? 0.1 : 0.6, 1e-5, &d);
    int load = find_output(&d, "left.load"), wheel = find_output(&d, "left.wheel.z"),
        stamp = find_output(&d, "left.stamp");
    assert_near(d.first[load], 2410, 1e-9);
    assert_true(d.high[wheel] < 1e-3 && d.low[wheel] > -1e-3);
    assert_near(compare(&d, "left.load", &d, "right.load", 1), 0, 1e-4);
    if (SANITIZED)
        return;
    run_drive(AXLE, "joint", NULL, 0, 1.3, 1e-5, &d); /* down at 0.75 s, up at 1.25 s */
    assert_near(d.high[stamp] - d.first[stamp], 0.08, 5e-4);
    assert_near(d.low[stamp] - d.first[stamp], -0.08, 5e-4);
    assert_true(d.low[load] > 300 && d.high[load] < 5000);
    assert_true(d.high[wheel] > 0.05 && d.low[wheel] < -0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_car_is_the_one_written_out), cmocka_unit_test(test_mirrored_steering),
        cmocka_unit_test(test_prescribed_both_ways), cmocka_unit_test(test_axle_on_stamp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

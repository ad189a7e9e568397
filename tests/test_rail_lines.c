/* Wheelsets and the carriage on lines: flange climbing and lift-off as events, random lines in a
 * mirror, with cant, in both forms; derivatives of the rows of their contacts. */
#include "rail_support.h"

#include "model/model.h"

/* Springs of an axle box on each side, held by the frame: they leave the spin free. */
#define BOXES                                                                                     \
    ", 'h1': {'type': 'bushing', 'bodies': ['f', 'b'], 'at': [0, 1, 0.46], 'stiffness': [%s], "   \
    "'damping': [1e4, %s, 1e5, 0, 0, 0]}, 'h2': {'type': 'bushing', 'bodies': ['f', 'b'], 'at': " \
    "[0, -1, 0.46], 'stiffness': [%s], 'damping': [1e4, %s, 1e5, 0, 0, 0]}"

static void write_boxes(char *text, size_t size, const char *stiffness, const char *damping)
{
    snprintf(text, size, BOXES, stiffness, damping, stiffness, damping);
}

/* Runs with bdf; the outputs at the end, and the sentence of the last event. */
static double run_line(const bg_system *sys, double tolerance, double t_end, double *y, char *event,
                       size_t size)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.method.rtol = o.method.atol = tolerance;
    o.integrator = "bdf";
    o.t_end = t_end;
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(y, r.y, (size_t)bg_system_get_def(sys)->ny * sizeof *y);
    snprintf(event, size, "%s", r.nevents > 0 ? r.events[r.nevents - 1].name : "");
    const double t = r.final->t;
    bg_run_report_clear(&r);
    return t;
}

/* A wheelset that is pushed aside ever harder climbs: the event comes where the contact is on the
 * steepest point of the flange, under the forces of Nadal's formula. */
static void flanges_climb_with_a_sentence(void **state)
{
    (void)state;
    const char *const pushes[] = {"'50000*t'", "'-50000*t'"};
    for (int n = 0; n < 4; n++) {
        const int left = n % 2 == 0, form = n / 2;
        char text[RAIL_TEXT], forces[1024], boxes[768], event[128];
        double y[WHEELSET_OUTPUTS];
        bg_model *m;
        write_boxes(boxes, sizeof boxes, "3e7, 0, 0, 0, 0, 0", "1e6");
        snprintf(forces, sizeof forces,
                 ", 'push': {'type': 'force', 'at': 'b', 'force': [0, %s, 0]}%s", pushes[!left],
                 boxes);
        write_wheelset(text, S1002, "'speed': 20, 'segments': [{'length': 1}]", "'y': 0", forces,
                       "'t_end': 4");
        bg_system *sys = build_model(text, forms[form], &m);
        const double t = run_line(sys, 1e-6, 4, y, event, sizeof event);
        char expected[128];
        snprintf(expected, sizeof expected, "wheel %s climbs its rail", left ? "l" : "r");
        if (strncmp(event, expected, strlen(expected)) != 0)
            fail_msg("'%s' at %g s, not '%s'", event, t, expected);
        double steepest = 0;
        for (double s = -0.045; s < -0.03; s += 1e-5) {
            double at[4];
            bg_profile_calc(&m->profiles[0], s, at);
            steepest = fmax(steepest, -at[1]);
        }
        const double *of = y + (left ? 4 : 9), k = (left ? 1 : -1) * of[3];
        const double T = (left ? 1 : -1) * of[1] / of[2]; /* beside the normal force */
        assert_near(k, steepest, 0.01 * steepest);  /* a mean over some tenths of a millimetre */
        assert_near(T, 0.3, 0.006);                 /* nearly saturated */
        const double nadal = (k - T) / (1 + k * T); /* lateral beside vertical force of the wheel */
        const double vertical = of[0] * (1 + k * T);
        assert_near(nadal * vertical, 50000 * t, 0.01 * 50000 * t);
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
}

/* A curve of 80 m is too narrow for 20 m/s: 5 m/s^2 at 1.5 m over rails 1.5 m apart. The inner
 * wheel of the leading wheelset lifts off first, whichever way the curve goes. */
static void inner_wheels_lift_off_in_narrow_curves(void **state)
{
    (void)state;
    double t[2];
    for (int side = 0; side < 2; side++) {
        bg_error err = {BG_OK, ""};
        bg_model *m;
        bg_system *sys;
        double y[64];
        char event[128];
        const bg_setting set[] = {{"parameters.curvature", side ? "\"-1/80\"" : "\"1/80\""},
                                  {"tracks.line.start", "28"}};
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/train-carriage.json", set, 2, &m, &err));
        assert_ok(bg_model_create_system(m, "joint", &sys, &err));
        t[side] = run_line(sys, 1e-7, 4, y, event, sizeof event);
        assert_string_equal(event,
                            side ? "wheel front.w1.right lifts off its rail: its contact would "
                                   "have to pull"
                                 : "wheel front.w1.left lifts off its rail: its contact would "
                                   "have to pull");
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
    assert_true(t[0] > 0.5 && t[0] < 3);
    assert_near(t[1], t[0], 2e-3); /* it is unstable already, and grows from rounding */
}

static double draw(uint64_t *seed, double from, double to)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(*seed >> 11) * 0x1p-53;
}

/* A line of random segments, curvatures and cants; sign -1: in a mirror. */
static void write_line(uint64_t seed, double sign, char *text, size_t size)
{
    static const char *const blends[] = {"cubic", "quintic", "linear"};
    double kappa = draw(&seed, -1e-3, 1e-3), cant = draw(&seed, -0.05, 0.05);
    snprintf(text, size, "'speed': %.17g, 'blend': '%s', 'segments': [", draw(&seed, 4, 25),
             blends[(int)draw(&seed, 0, 3)]);
    for (int i = 0; i < 4; i++) {
        const size_t used = strlen(text);
        const double to_kappa = draw(&seed, -1, 1) / 300, to_cant = draw(&seed, -0.1, 0.1);
        snprintf(text + used, size - used,
                 "%s{'length': %.17g, 'curvature': [%.17g, %.17g], 'cant': [%.17g, %.17g]}",
                 i > 0 ? ", " : "", draw(&seed, 2, 8), sign * kappa, sign * to_kappa, sign * cant,
                 sign * to_cant);
        kappa = to_kappa, cant = to_cant;
    }
    snprintf(text + strlen(text), size - strlen(text), "]");
}

/* The mirrored line gives the mirrored motion, with forces of left and right exchanged; the other
 * form gives the same; material at contacts does not move along the normal. */
static void lines_in_a_mirror_give_mirrored_motions(void **state)
{
    (void)state;
    double moved = 0;
    for (int n = 0; n < (SANITIZED ? 2 : 8); n++) {
        double y[3][WHEELSET_OUTPUTS], speed = 0;
        char boxes[768], line[1024], text[RAIL_TEXT], event[128];
        write_boxes(boxes, sizeof boxes, "1e7, 1e5, 0, 0, 0, 0", "1e4");
        for (int k = 0; k < 3; k++) {
            bg_model *m;
            write_line((uint64_t)n + 1, k == 1 ? -1 : 1, line, sizeof line);
            assert_int_equal(sscanf(line, "'speed': %lf", &speed), 1);
            write_wheelset(text, n % 2 ? CONE : S1002, line, "'y': 0", boxes, "'t_end': 1");
            bg_system *sys = build_model(text, forms[k == 2], &m);
            run_line(sys, 1e-7, 0.4, y[k], event, sizeof event);
            bg_system_destroy(sys);
            bg_model_destroy(m);
            for (int side = 0; side < 2; side++)
                assert_near(y[k][8 + 5 * side], 0, (n % 2 ? 1e-8 : 1e-6) * speed);
        }
        for (int i = 0; i < 4; i++) { /* y, yaw, z, roll */
            assert_near(y[1][i], (i == 2 ? 1 : -1) * y[0][i], 1e-8);
            assert_near(y[2][i], y[0][i], 1e-7);
            moved = i < 2 ? fmax(moved, fabs(y[0][i])) : moved;
        }
        for (int i = 0; i < 5; i++) { /* vertical, lateral, normal, slope, normal_velocity */
            const double odd = i == 1 || i == 3 ? -1 : 1, size = i < 3 ? 1e5 : 1;
            assert_near(odd * y[1][9 + i], y[0][4 + i], 1e-5 * size);
            assert_near(odd * y[1][4 + i], y[0][9 + i], 1e-5 * size);
            assert_near(y[2][4 + i], y[0][4 + i], 1e-4 * size);
        }
    }
    assert_true(moved > 1e-3);
}

/* gamma at a point. */
static void calc_gamma(bg_evaluator *ev, const bg_system_def *d, const double *q, const double *v,
                       const double *z, double *gamma)
{
    bg_error err = {BG_OK, ""};
    bg_point p;
    bg_terms terms = {.gamma = gamma};
    assert_ok(bg_system_set_point(ev, 0, q, v, z, d->mode0, &p, &err));
    assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_gamma, &terms, &err));
}

/* The row of a wheel S1002 in gamma by q and v, which needs third derivatives of its gap, at random
 * states beside random starts, in curves with cant. They jump where a point passes a knot, so the
 * difference to one side is enough; it is wrong by as much as the fourth derivatives make in 10 nm
 * beside the 10 um in which the contact changes. */
static void rows_of_tables_have_exact_gammas(void **state)
{
    (void)state;
    uint64_t seed = 23;
    double most = 0;
    for (int n = 0; n < 24; n++) {
        bg_error err = {BG_OK, ""};
        bg_model *m;
        bg_evaluator *ev;
        char text[RAIL_TEXT], initial[128];
        snprintf(initial, sizeof initial, "'y': %.6g, 'yaw': %.6g", draw(&seed, -6e-3, 6e-3),
                 draw(&seed, -5e-3, 5e-3));
        write_wheelset(text, S1002,
                       "'speed': 10, 'segments': [{'length': 9, 'curvature': [0.002, 0.005], "
                       "'cant': [0.02, 0.1]}]",
                       initial, "", "'t_end': 1");
        bg_system *sys = build_model(text, forms[n % 2], &m);
        const bg_system_def *d = bg_system_get_def(sys);
        double q[16], v[16], z[8] = {0}, at[32], side[2][32];
        assert_true(d->nv <= 16 && d->ng <= 32 && d->nz <= 8);
        assert_ok(bg_evaluator_create(sys, &ev, &err));
        for (int i = 0; i < d->nv; i++) {
            q[i] = d->q0[i] + draw(&seed, -1e-4, 1e-4);
            v[i] = d->v0[i] + draw(&seed, -0.3, 0.3);
        }
        blocks b = blocks_create(d);
        bg_point p;
        bg_derivatives out = {.only_stiff = 0};
        out.block[BG_OF_gamma][BG_BY_q] = b.gamma_q;
        out.block[BG_OF_gamma][BG_BY_v] = b.gamma_v;
        assert_ok(bg_system_set_point(ev, 0, q, v, z, d->mode0, &p, &err));
        assert_ok(bg_system_calc_derivatives(ev, &p, b.a, at, &out, &err));
        spread(d->pattern[BG_OF_gamma][BG_BY_q], d->ng, d->nv, b.gamma_q);
        spread(d->pattern[BG_OF_gamma][BG_BY_v], d->ng, d->nv, b.gamma_v);
        calc_gamma(ev, d, q, v, z, at);
        for (int i = 0; i < d->ng; i++) { /* the wheels' rows are those that are so steep */
            double size[2] = {0, 0};
            for (int j = 0; j < d->nv; j++) {
                size[0] = fmax(size[0], fabs(b.gamma_q[i * d->nv + j]));
                size[1] = fmax(size[1], fabs(b.gamma_v[i * d->nv + j]));
            }
            most = fmax(most, size[0]);
            for (int j = 0; j < 2 * d->nv; j++) {
                double *x = j < d->nv ? &q[j] : &v[j - d->nv], kept = *x;
                const double h = j < d->nv ? 1e-8 : 1e-4;
                for (int k = 0; k < 2; k++) {
                    *x = kept + (k ? h : -h);
                    calc_gamma(ev, d, q, v, z, side[k]);
                    *x = kept;
                }
                const double given = j < d->nv ? b.gamma_q[i * d->nv + j]
                                               : b.gamma_v[i * d->nv + j - d->nv];
                const double left = (at[i] - side[0][i]) / h, right = (side[1][i] - at[i]) / h;
                const double miss = j < d->nv ? fmin(fabs(given - left), fabs(given - right))
                                              : fabs(given - 0.5 * (left + right));
                assert_near(miss, 0, (j < d->nv ? 2e-3 : 1e-8) * (1 + size[j >= d->nv]));
            }
        }
        blocks_clear(&b);
        bg_evaluator_destroy(ev);
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
    assert_true(most > 1e4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flanges_climb_with_a_sentence),
        cmocka_unit_test(inner_wheels_lift_off_in_narrow_curves),
        cmocka_unit_test(lines_in_a_mirror_give_mirrored_motions),
        cmocka_unit_test(rows_of_tables_have_exact_gammas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

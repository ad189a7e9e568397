/* Tracks and what follows them: geometry against closed forms and differences, the frames' twist
 * and acceleration against the formulas of moving frames, joints with yaw, roll, pitch and spin in
 * both forms and eliminated or not, derivatives against differences, sentences of bad tracks. */
#include "model_support.h"

#include "model/model.h"
#include "model/track.h"

/* A line with everything: transitions both ways, arcs, cant. */
#define SEGMENTS                                                                     \
    "'segments': [{'length': 30}, {'length': 40, 'curvature': [0, 0.01], 'cant': "   \
    "[0, 0.1]}, {'length': 40, 'curvature': 0.01, 'cant': 0.1}, {'length': 60, "     \
    "'curvature': [0.01, -0.004], 'cant': [0.1, -0.12]}, {'length': 30, 'curvature'" \
    ": -0.004, 'cant': -0.12}]"

#define BODIES                                                                                    \
    "'bodies': {'f1': {'track': 'line', 'center': [10, 0, 0]}, 'f2': {'track': 'line', 'center':" \
    " [0, 0, 0]}, 'f3': {'track': 'line', 'center': [-8, 0, 0]},"                                 \
    " 'car': {'mass': 1000, 'center': [0, 0, 1.8], 'inertia': [500, 2000, 2000]},"                \
    " 'bogie': {'mass': 300, 'center': [10, 0, 0.6], 'inertia': [50, 80, 100]},"                  \
    " 'axle': {'mass': 200, 'center': [-8, 0, 0.46], 'inertia': [90, 12, 90]}},"

#define JOINTS                                                                                   \
    "'joints': {'car': {'type': 'cardan-held', 'bodies': ['f2', 'car'], 'initial': {'y': 0.01,"  \
    " 'roll': 0.02, 'pitch': -0.01, 'yaw': {'position': 0.03, 'velocity': 0.1}}},"               \
    " 'bogie': {'type': 'cardan', 'bodies': ['f1', 'bogie'], 'initial': {'x': 0.1, 'roll': 0.2," \
    " 'yaw': {'velocity': 0.2}}},"                                                               \
    " 'axle': {'type': 'rolling', 'bodies': ['f3', 'axle'], 'radius': 0.46, 'initial': {'yaw': " \
    "0.1, 'roll': -0.05, 'spin': {'position': 0.3, 'velocity': -0.5}}}},"

#define FORCES                                                                                 \
    "'forces': {'a': {'type': 'bushing', 'bodies': ['f2', 'car'], 'at': [0, 0, 1],"            \
    " 'stiffness': [0, 9000, 90000, 20000, 90000, 90000], 'damping': [0, 400, 900, 2000, 200," \
    " 200], 'preload': [0, 0, 9810, 0, 0, 0]}, 'b': {'type': 'bushing', 'bodies': ['f1',"      \
    " 'bogie'], 'at': [10, 0, 0.5], 'stiffness': [9000, 9000, 90000, 9000, 9000, 9000],"       \
    " 'damping': [200, 300, 300, 200, 200, 200], 'preload': [0, 0, 2943, 0, 0, 0]},"           \
    " 'c': {'type': 'bushing', 'bodies': ['f3', 'axle'], 'at': [-8, 0, 0.46], 'stiffness': "   \
    "[9000, 9000, 90000, 0, 0, 0], 'damping': [90, 300, 300, 0, 0, 0], 'preload': [0, 0, "     \
    "1962, 0, 0, 0]}},"

#define OUTPUTS                                                                                  \
    "'outputs': {'y': {'joint': 'car', 'coordinate': 'y'}, 'roll': {'joint': 'car', "            \
    "'coordinate': 'roll'}, 'yaw': {'joint': 'car', 'coordinate': 'yaw'}, 'yaw_t': {'joint': "   \
    "'car', 'coordinate': 'yaw', 'derivative': 1}, 'yaw_tt': {'joint': 'car', 'coordinate': "    \
    "'yaw', 'derivative': 2}, 'roll_t': {'joint': 'axle', 'coordinate': 'roll', 'derivative': "  \
    "1}, 'roll_tt': {'joint': 'axle', 'coordinate': 'roll', 'derivative': 2}, 'spin': {'joint':" \
    " 'axle', 'coordinate': 'spin'}, 'spin_t': {'joint': 'axle', 'coordinate': 'spin', "         \
    "'derivative': 1}, 'spin_tt': {'joint': 'axle', 'coordinate': 'spin', 'derivative': 2}, "    \
    "'x': {'joint': 'bogie', 'coordinate': 'x'}, 'pitch': {'joint': 'bogie', 'coordinate': "     \
    "'pitch'}, 'frame': {'position': 'f1', 'component': 'y'}},"

enum { NOUTPUTS = 13 };

#define MODEL(progress, run)                                         \
    "{'name': 'frames', 'tracks': {'line': {" progress ", " SEGMENTS \
    "}}, " BODIES JOINTS FORCES OUTPUTS                              \
    "'inputs': {'way': '20*t + 1.5*sin(t)', 'back': '25*sin(t)'}, 'run': {'t_end': 6.0" run "}}"

/* Parts by arc length are derivatives of each other, at random places of random tracks. */
static void geometry_is_differentiated_exactly(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int blend = 0; blend < 3; blend++) {
        bg_track_segment g[4] = {{.length = 30, .kappa = {-0.001, 0.01}, .cant = {0, 0.1}},
                                 {.length = 25, .kappa = {0.01, 0.01}, .cant = {0.1, 0.05}},
                                 {.length = 70, .kappa = {0.01, -0.02}, .cant = {0.05, -0.15}},
                                 {.length = 20, .kappa = {-0.02, 0}, .cant = {-0.15, 0}}};
        bg_track k = {.segments = g, .n = 4, .blend = (bg_track_blend)blend, .base = 1.5};
        assert_ok(bg_track_prepare(&k, &err));
        for (double s = -20.37; s < 170; s += 3.1) {
            const double h = 1e-3;
            bg_track_place at, a, b;
            bg_track_calc(&k, s, &at);
            bg_track_calc(&k, s - h, &a);
            bg_track_calc(&k, s + h, &b);
            for (int i = 0; i < BG_TRACK_PARTS; i++)
                for (int n = 0; n < 2; n++) {
                    const double slope = (b.part[i][n] - a.part[i][n]) / (2 * h);
                    assert_near(at.part[i][n + 1], slope, 2e-8);
                }
        }
        free(k.nodes);
    }
}

/* A circle closes; a transition and its mirror image bring back the heading; halves of a segment
 * meet the whole. */
static void geometry_meets_closed_forms(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_track_segment arc[] = {{.length = 10, .kappa = {0.02, 0.02}}};
    bg_track circle = {.segments = arc, .n = 1, .base = 1.5};
    assert_ok(bg_track_prepare(&circle, &err));
    bg_track_place x;
    bg_track_calc(&circle, 2 * M_PI / 0.02 / 4, &x);
    assert_near(x.part[BG_TRACK_X][0], 50, 1e-12);
    assert_near(x.part[BG_TRACK_Y][0], 50, 1e-12);
    assert_near(x.part[BG_TRACK_HEADING][0], M_PI / 2, 1e-14);
    free(circle.nodes);
    /* a clothoid: x = integral of cos(s^2 / 2 A^2), by its series */
    bg_track_segment ramp[] = {{.length = 60, .kappa = {0, 0.01}}};
    bg_track clothoid = {.segments = ramp, .n = 1, .blend = BG_TRACK_LINEAR, .base = 1.5};
    assert_ok(bg_track_prepare(&clothoid, &err));
    bg_track_calc(&clothoid, 60, &x);
    double c = 0, s = 0, q = 0.3, term = 1; /* heading at the end: kappa L / 2 */
    for (int n = 0; n < 20; n++) {
        if (n % 2 == 0)
            c += (n % 4 ? -1 : 1) * term / (2 * n + 1);
        else
            s += (n % 4 == 3 ? -1 : 1) * term / (2 * n + 1);
        term *= q / (n + 1);
    }
    assert_near(x.part[BG_TRACK_X][0], 60 * c, 1e-12);
    assert_near(x.part[BG_TRACK_Y][0], 60 * s, 1e-12);
    free(clothoid.nodes);
}

/* The twist of a frame and its rate, in axes of the frame: V (beta', kappa sin beta, kappa cos
 * beta) and so on, from the poses of a body that rests on it. */
static void frames_move_as_curvature_and_cant_say(void **state)
{
    (void)state;
    bg_model *m = parse_quoted(MODEL("'speed': 20", ""));
    const bg_signal *u = NULL;
    for (int k = 0; k < m->nsignals; k++)
        if (strcmp(m->signals[k].name, "f1.heading") == 0)
            u = &m->signals[k];
    assert_non_null(u);
    for (double t = 0.1; t < 9; t += 0.37) {
        double out[3];
        bg_track_place x;
        bg_track_calc(u->track, 10 + 20 * t, &x);
        bg_signal_calc(u, t, out);
        assert_near(out[0], x.part[BG_TRACK_HEADING][0], 0);
        assert_near(out[1], 20 * x.part[BG_TRACK_HEADING][1], 1e-16);
        assert_near(out[2], 400 * x.part[BG_TRACK_HEADING][2], 1e-16);
    }
    bg_model_destroy(m);
}

static void all_forms_agree(void **state)
{
    (void)state;
    static const char *const models[][2] = {
        {MODEL("'speed': 20", ""), "joint"},
        {MODEL("'speed': 20", ""), "cartesian"},
        {MODEL("'speed': 20", ", 'rheonomic': 'constrain'"), "joint"},
        {MODEL("'distance': 'way', 'blend': 'quintic', 'start': 3", ""), "joint"},
        {MODEL("'distance': 'way', 'blend': 'quintic', 'start': 3", ""), "cartesian"},
    };
    double y[5][NOUTPUTS];
    bg_certificate c;
    for (int k = 0; k < 5; k++) {
        run_model(models[k][0], models[k][1], 1e-9, y[k], &c);
        assert_true(c.energy_error < 1e-6 * c.energy_scale);
    }
    for (int i = 0; i < NOUTPUTS; i++) {
        const double size = 1 + fabs(y[0][i]);
        assert_near(y[1][i], y[0][i], 3e-6 * size);
        assert_near(y[2][i], y[0][i], 3e-6 * size);
        assert_near(y[4][i], y[3][i], 3e-6 * size);
    }
    assert_true(fabs(y[3][0] - y[0][0]) > 1e-4);
}

/* Where segments meet, the cant's second derivative jumps, with clothoids its first and the second
 * of the heading: steps end there, whichever way a frame passes them, and rates that jump are
 * passed on by impulses. Every form finds the same motion, the better the tighter. */
static void corners_of_tracks_are_events(void **state)
{
    (void)state;
    static const char *const progress[][3] = {
        {MODEL("'speed': 20", ""), MODEL("'speed': 20", ", 'rheonomic': 'constrain'")},
        {MODEL("'speed': 20, 'blend': 'linear'", ""),
         MODEL("'speed': 20, 'blend': 'linear'", ", 'rheonomic': 'constrain'")},
        {MODEL("'distance': 'back', 'start': 50", ""),
         MODEL("'distance': 'back', 'start': 50", ", 'rheonomic': 'constrain'")},
        {MODEL("'speed': -20, 'start': 110", ""),
         MODEL("'speed': -20, 'start': 110", ", 'rheonomic': 'constrain'")},
    };
    static const int events[] = {9, 18, 8, 8};
    for (int k = 0; k < 4; k++) {
        double y[5][NOUTPUTS];
        for (int i = 0; i < 5; i++) {
            const long n = run_model_events(progress[k][i == 1 || i == 4],
                                            i == 2 || i == 4 ? "cartesian" : "joint",
                                            i == 3 ? 1e-7 : 1e-9, y[i], NULL);
            assert_int_equal(n, events[k]);
        }
        for (int i = 0; i < NOUTPUTS; i++) {
            const double size = 1 + fabs(y[0][i]);
            for (int j = 1; j < 5; j++)
                assert_near(y[j][i], y[0][i], (j == 3 ? 3e-5 : 3e-6) * size);
        }
    }
}

static void derivatives_meet_differences(void **state)
{
    (void)state;
    const char *const text[] = {MODEL("'speed': 20", ""), MODEL("'speed': 20", ""),
                                MODEL("'speed': 20", ", 'rheonomic': 'constrain'")};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        bg_system *sys;
        bg_model *m = parse_quoted(text[k]);
        bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
        int n = 0;
        assert_ok(bg_model_create_system(m, k == 1 ? "cartesian" : "joint", &sys, &err));
        assert_ok(bg_system_check_derivatives(sys, 6, 3, checks, &n, &err));
        assert_true(n >= 5);
        for (int i = 0; i < n; i++)
            if (!(checks[i].error < 1e-6) && /* rounding beside forces of 10 kN */
                fabs(checks[i].supplied - checks[i].differenced) > 1e-6)
                fail_msg("form %d: %s, %s is %.12g, not %.12g", k, checks[i].quantity,
                         checks[i].entry, checks[i].supplied, checks[i].differenced);
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
}

/* The design position is where the line starts, and without forces a body on a frame of a straight
 * line goes on with its speed; wheels roll. */
static void bodies_start_with_their_frames(void **state)
{
    (void)state;
    static const char text[] =
        "{'gravity': 0, 'tracks': {'line': {'speed': 30, 'segments': [{'length': 1}]}},"
        " 'bodies': {'f': {'track': 'line', 'center': [2, 0, 0]}, 'b': {'mass': 1, 'center': "
        "[2, 0, 0.5], 'inertia': [1, 1, 1]}}, 'joints': {'r': {'type': 'rolling', 'bodies': "
        "['f', 'b'], 'radius': 0.5}}, 'outputs': {'v': {'velocity': 'b'}, 'w': "
        "{'angular_velocity': 'b'}}, 'run': {'t_end': 0.5}}";
    for (int k = 0; k < 2; k++) {
        double y[6];
        run_model(text, forms[k], 1e-9, y, NULL);
        assert_near(y[0], 30, 1e-6);
        assert_near(y[4], 60, 1e-6);
        assert_near(y[1] * y[1] + y[2] * y[2] + y[3] * y[3] + y[5] * y[5], 0, 1e-12);
    }
}

/* A bogie without symmetry: its frame, a car that it holds, a wheelset, a body beside the track. */
#define BOGIE(use, line)                                                                          \
    "{'tracks': {'line': {'speed': 20, 'segments': [{'length': 9}, {'length': 30, 'curvature': "  \
    "[0, '" line "*0.01'], 'cant': [0, '" line "*0.1']}, {'length': 60, 'curvature': ['" line     \
    "*0.01', '-" line "*0.004'], 'cant': ['" line "*0.1', '-" line "*0.05']}]}},"                 \
    " 'parts': {'bogie': {'bodies': {'f': {'track': 'line', 'center': [1, 0, 0]}, 'car': {'mass'" \
    ": 1000, 'center': [1, 0.2, 1.8], 'inertia': [500, 2000, 1900, 10, 20, 30]}, 'axle': {'mass'" \
    ": 200, 'center': [1, 0, 0.46], 'inertia': [90, 12, 90]}, 'load': {'mass': 300, 'center': "   \
    "[0.5, 0.3, 0.9], 'inertia': [50, 80, 100]}},"                                                \
    " 'joints': {'car': {'type': 'cardan-held', 'bodies': ['f', 'car'], 'initial': {'y': 0.01, "  \
    "'roll': 0.02, 'pitch': -0.01, 'yaw': {'position': 0.03, 'velocity': 0.1}}}, 'load': {"       \
    "'type': 'cardan', 'bodies': ['car', 'load'], 'initial': {'x': 0.1, 'y': {'velocity': 0.1}, " \
    "'roll': 0.2, 'yaw': {'velocity': 0.2}}}, 'axle': {'type': 'rolling', 'bodies': ['f', "       \
    "'axle'], 'radius': 0.46, 'initial': {'yaw': 0.1, 'y': 0.02, 'roll': -0.05, 'spin': {"        \
    "'position': 0.3, 'velocity': -0.5}}}},"                                                      \
    " 'forces': {'a': {'type': 'bushing', 'bodies': ['f', 'car'], 'at': [1.1, 0.1, 1], "          \
    "'stiffness': [0, 9000, 90000, 20000, 90000, 90000], 'damping': [0, 400, 900, 2000, 200, "    \
    "200], 'preload': [0, 300, 9810, 0, 0, 0]}, 'b': {'type': 'bushing', 'bodies': ['car', "      \
    "'load'], 'at': [0.6, 0.3, 0.8], 'stiffness': [9000, 8000, 90000, 9000, 9000, 7000], "        \
    "'damping': [200, 300, 300, 200, 200, 200], 'preload': [0, 0, 2943, 0, 0, 0]}, 'c': {"        \
    "'type': 'bushing', 'bodies': ['f', 'axle'], 'at': [1, 0.05, 0.46], 'stiffness': [9000, "     \
    "9000, 90000, 0, 0, 0], 'damping': [90, 300, 300, 0, 0, 0], 'preload': [0, 0, 1962, 0, 0, "   \
    "0]}},"                                                                                       \
    " 'outputs': {'y': {'joint': 'car', 'coordinate': 'y'}, 'yaw': {'joint': 'car', "             \
    "'coordinate': 'yaw'}, 'roll': {'joint': 'car', 'coordinate': 'roll'}, 'pitch': {'joint': "   \
    "'car', 'coordinate': 'pitch'}, 'x': {'joint': 'load', 'coordinate': 'x'}, 'load_y': {"       \
    "'joint': 'load', 'coordinate': 'y'}, 'load_yaw': {'joint': 'load', 'coordinate': 'yaw'}, "   \
    "'axle_y': {'joint': 'axle', 'coordinate': 'y'}, 'axle_yaw': {'joint': 'axle', "              \
    "'coordinate': 'yaw'}, 'spin': {'joint': 'axle', 'coordinate': 'spin'}, 'spin_t': {'joint':"  \
    " 'axle', 'coordinate': 'spin', 'derivative': 1}}}}, 'outputs': {'w': {'angular_velocity': "  \
    "'b.axle', 'component': 'y'}}, 'use': {'b': {'part': 'bogie'" use "}}, 'run': {'t_end': 2.0}}"

enum { BOGIE_OUTPUTS = 12 };

/* A bogie in a mirror, on the line in the same mirror, has the same coordinates; twice mirrored it
 * is the bogie again; and where front and back are exchanged, wheels still roll forwards. */
static void mirrored_bogies_are_mirror_images(void **state)
{
    (void)state;
    static const char *const text[] = {BOGIE("", "1"), BOGIE(", 'mirror': 'y'", "(-1)"),
                                       BOGIE(", 'mirror': 'x'", "1")};
    double y[6][BOGIE_OUTPUTS];
    for (int k = 0; k < 6; k++)
        run_model(text[k / 2], forms[k % 2], 1e-9, y[k], NULL);
    for (int i = 0; i < BOGIE_OUTPUTS; i++) {
        const double size = 1 + fabs(y[0][i]);
        assert_near(y[2][i], y[0][i], 1e-9 * size); /* joint form */
        assert_near(y[3][i], y[1][i], 1e-6 * size); /* Cartesian */
        assert_near(y[1][i], y[0][i], 3e-6 * size);
        assert_near(y[5][i], y[4][i], 3e-6 * size);
    }
    assert_true(fabs(y[0][0]) > 1e-4 && fabs(y[0][6]) > 1e-3);
    assert_true(y[4][11] > 35); /* rad/s about y: 20 m/s over 0.46 m, less what heading takes */
}

/* A body on a cardan joint in a part that is moved, turned and mirrored, gravity turned alike. */
static void cardan_joints_turn_with_their_parts(void **state)
{
    (void)state;
    static const char form[] =
        "{'gravity': [%.17g, %.17g, %.17g], 'parts': {'p': {'bodies': {'b': {'mass': 3, 'center': "
        "[1, 0.2, 0.5], 'inertia': [1, 2, 2.5, 0.1, 0.2, 0.3]}}, 'joints': {'j': {'type': '%s', "
        "'bodies': ['ground', 'b'], 'initial': {'y': {'position': 0.1, 'velocity': 0.4}, 'z': "
        "0.05, 'yaw': {'position': 0.3, 'velocity': 0.7}, 'roll': -0.2, 'pitch': {'velocity': "
        "1.5}}}}, 'forces': {'s': {'type': 'bushing', 'bodies': ['ground', 'b'], 'at': [1, 0, 1], "
        "'stiffness': [90, 70, 50, 0, 0, 0]}}, 'outputs': {'y': {'joint': 'j', 'coordinate': 'y'},"
        " 'z': {'joint': 'j', 'coordinate': 'z'}, 'yaw': {'joint': 'j', 'coordinate': 'yaw'}, "
        "'roll': {'joint': 'j', 'coordinate': 'roll'}, 'pitch': {'joint': 'j', 'coordinate': "
        "'pitch'}, 'fast': {'joint': 'j', 'coordinate': 'yaw', 'derivative': 1}}}}, 'use': {'u': {"
        "'part': 'p'%s}}, 'run': {'t_end': 0.8}}";
    static const struct {
        const char *use;
        double gravity[3];
    } cases[] = {{"", {1, 2, -9}},
                 {", 'mirror': 'x'", {-1, 2, -9}},
                 {", 'mirror': 'y', 'at': [1, 2, 3]", {1, -2, -9}},
                 {", 'mirror': 'z'", {1, 2, 9}},
                 {", 'orientation': {'rpy': [0, 0, '90*deg']}", {-2, 1, -9}},
                 {", 'orientation': {'rpy': [0, 0, '90*deg']}, 'mirror': 'y'", {2, 1, -9}}};
    for (int held = 0; held < 2; held++) {
        double first[6];
        for (int k = 0; k < 12; k++) {
            char text[2048];
            double y[6];
            const double *g = cases[k / 2].gravity;
            snprintf(text, sizeof text, form, g[0], g[1], g[2], held ? "cardan-held" : "cardan",
                     cases[k / 2].use);
            run_model(text, forms[k % 2], 1e-10, y, NULL);
            for (int i = 0; i < 6 && k > 0; i++)
                assert_near(y[i], first[i], 1e-7 * (1 + fabs(first[i])));
            if (k == 0)
                memcpy(first, y, sizeof y);
        }
    }
}

static void refused(const char *tracks, const char *body, const char *joint, const char *words)
{
    char text[2048];
    bg_error err = {BG_OK, ""};
    bg_model *model = NULL;
    snprintf(text, sizeof text,
             "{'tracks': {'line': {%s}}, 'inputs': {'jerk': {'type': 'ramp', 'slope': 2, 't0': 1}},"
             " 'bodies': {'f': {%s}, 'b': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}},"
             " 'joints': {'j': {%s}}}",
             tracks, body, joint);
    char *copy = quote(text);
    assert_int_equal(bg_model_parse(copy, "test", NULL, 0, &model, &err), BG_BAD_INPUT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    free(copy);
}

static void bad_tracks_are_told(void **state)
{
    (void)state;
    static const char line[] = "'speed': 1, 'segments': [{'length': 1}]";
    static const char frame[] = "'track': 'line', 'center': [0, 0, 0]";
    static const char joint[] = "'type': 'cardan', 'bodies': ['f', 'b']";
    refused("'speed': 1, 'segments': []", frame, joint, "tracks.line.segments: a track needs");
    refused("'speed': 1, 'segments': [{'length': 1}, {'length': 2, 'curvature': 0.1}]", frame,
            joint, "tracks.line.segments[1]: begins with curvature 0.1");
    refused("'speed': 1, 'segments': [{'length': 1, 'cant': 2}]", frame, joint, "less than");
    refused("'segments': [{'length': 1}]", frame, joint, "either 'speed' or 'distance'");
    refused("'distance': 'jerk', 'segments': [{'length': 1}]", frame, joint, "jumps at 1 s");
    refused(line, "'track': 'lime', 'center': [0, 0, 0]", joint, "did you mean 'line'");
    refused(line, "'track': 'line', 'center': [0, 1, 0]", joint, "bodies.f.center: is at y = 1");
    refused(line, "'track': 'line', 'center': [0, 0, 0], 'mass': 1", joint, "mass");
    refused(line, frame, "'type': 'rolling', 'bodies': ['b', 'f'], 'radius': 1", "follow a track");
    refused(line, frame, "'type': 'cardan', 'bodies': ['f', 'b'], 'prescribed': {'yaw': 'jerk'}",
            "'yaw' of joint 'j' cannot be prescribed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_is_differentiated_exactly),
        cmocka_unit_test(geometry_meets_closed_forms),
        cmocka_unit_test(frames_move_as_curvature_and_cant_say),
        cmocka_unit_test(all_forms_agree),
        cmocka_unit_test(corners_of_tracks_are_events),
        cmocka_unit_test(derivatives_meet_differences),
        cmocka_unit_test(bodies_start_with_their_frames),
        cmocka_unit_test(mirrored_bogies_are_mirror_images),
        cmocka_unit_test(cardan_joints_turn_with_their_parts),
        cmocka_unit_test(bad_tracks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

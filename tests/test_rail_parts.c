/* Wheelsets in parts that stand either way round on their track, and contacts beyond what a wheel
 * and its rail can do: each ends the run with a sentence, at the start as well. */
#include "rail_support.h"

#include "model/model.h"

enum { VALUES = 13, OUTPUTS = 6 + 2 * VALUES, DISTINCT = OUTPUTS - 2 };

static double draw(uint64_t *seed, double from, double to)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(*seed >> 11) * 0x1p-53;
}

/* A wheelset whose sides differ, as a part that is used in this way; random springs, friction and
 * start. */
static void write_part(uint64_t seed, const char *contact, const char *use, double speed,
                       char *text)
{
    static const char *const own[] = {"x", "y", "z", "yaw", "roll", "spin"};
    static const char *const values[VALUES] = {
        "normal", "vertical", "longitudinal", "lateral",  "creep_x", "creep_y",        "spin",
        "use",    "slope",    "gap",          "position", "radius",  "normal_velocity"};
    char piece[4096];
    text[0] = 0;
    snprintf(piece, sizeof piece,
             "{'gravity': 0, 'tracks': {'line': {'speed': %.17g, 'segments': [{'length': 9}]}}, ",
             speed);
    add_text(text, piece);
    add_profiles(text);
    const double y = draw(&seed, -0.003, 0.003), yaw = draw(&seed, -0.002, 0.002);
    snprintf(piece, sizeof piece,
             "'parts': {'p': {'bodies': {'f': {'track': 'line', 'center': [1, 0, 0]}, 'b': {"
             "'mass': 1813, 'center': [1, 0.02, 0.46], 'inertia': [1120, 112, 1110, 3, 0, 2]}}, "
             "'joints': {'j': {'type': 'rolling', 'bodies': ['f', 'b'], 'radius': 0.46, 'initial':"
             " {'y': %.17g, 'yaw': %.17g, 'spin': {'velocity': %.17g}}}}, 'forces': {'weight': {"
             "'type': 'force', 'at': 'b', 'force': [500, 900, -109000]}, 'l': {'side': 'left', "
             "'friction': %.17g, 'at': [1, 0, 0.46], 'saturation': 'polach', %s}, 'r': {'side': "
             "'right', 'friction': %.17g, 'at': [1, 0, 0.46], %s}, 'h': {'type': 'bushing', "
             "'bodies': ['f', 'b'], 'at': [1, %.17g, 0.46], 'stiffness': [1e7, 1e5, 0, 0, 0, 0], "
             "'damping': [1e4, 1e4, 1e4, 0, 0, 0], 'preload': [300, 500, -2000, 0, 0, 0]}}, "
             "'outputs': {",
             y, yaw, draw(&seed, -0.1, 0.1), draw(&seed, 0.2, 0.5), contact, draw(&seed, 0.2, 0.5),
             contact, draw(&seed, 0.5, 1));
    add_text(text, piece);
    for (int i = 0; i < OUTPUTS; i++) {
        const int k = i - 6;
        if (i < 6)
            snprintf(piece, sizeof piece, "'%s': {'joint': 'j', 'coordinate': '%s'}, ", own[i],
                     own[i]);
        else
            snprintf(piece, sizeof piece, "'o%d': {'force': '%s', 'value': '%s'}%s", k,
                     k % 2 ? "r" : "l", values[k / 2], i + 1 < OUTPUTS ? ", " : "}}}, ");
        add_text(text, piece);
    }
    snprintf(piece, sizeof piece, "'use': {'u': {'part': 'p'%s}}, 'run': {'t_end': 0.3}}", use);
    add_text(text, piece);
}

/* Runs with bdf to t_end; outputs at the end, and the sentence of the first event. */
static double run_part(const char *text, const char *form, double t_end, double *y, char *event,
                       size_t size)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_model *m;
    bg_system *sys = build_model(text, form, &m);
    o.method.rtol = o.method.atol = 1e-8;
    o.integrator = "bdf";
    o.t_end = t_end;
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(y, r.y, (size_t)bg_system_get_def(sys)->ny * sizeof *y);
    snprintf(event, size, "%s", r.nevents > 0 ? r.events[0].name : "");
    const double t = r.final->t;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(m);
    return t;
}

/* Whichever way a part is mirrored and turned, if it runs on in the same direction of its own, it
 * measures the same. */
static void parts_run_either_way_round(void **state)
{
    (void)state;
    static const char half[] = ", 'orientation': {'axis': [0, 0, 1], 'angle': 'pi'}";
    static const char half_y[] =
        ", 'mirror': 'y', 'orientation': {'axis': [0, 0, 1], 'angle': 'pi'}, 'at': [5, 0, 0]";
    static const char half_x[] =
        ", 'mirror': 'x', 'orientation': {'rpy': [0, 0, '-180*deg']}, 'at': [5, 0, 0]";
    static const struct {
        const char *use;
        double forwards;
    } ways[] = {{"", 1},    {", 'mirror': 'y'", 1}, {", 'mirror': 'x'", -1},
                {half, -1}, {half_y, -1},           {half_x, 1}};
    char *text = malloc(RAIL_TEXT);
    double moved = 0, odd = 0;
    for (int n = 0; n < (SANITIZED ? 1 : 3); n++)
        for (int form = 0; form < 2; form++) {
            double first[OUTPUTS], y[OUTPUTS];
            char event[128];
            for (int k = 0; k < 6; k++) {
                write_part((uint64_t)n + 1, n % 2 ? CONE : S1002, ways[k].use,
                           ways[k].forwards * (n == 2 ? -12 : 15), text);
                const double t = run_part(text, forms[form], 0.3, k ? y : first, event, 128);
                assert_near(t, 0.3, 1e-12);
                for (int i = 0; i < DISTINCT && k > 0; i++) {
                    const double size = i < 6 ? 1e-2 : (i - 6) / 2 < 4 ? 1e5 : 1;
                    if (!(fabs(y[i] - first[i]) <= 1e-6 * size))
                        fail_msg("case %d, way %d, output %d: %g, not %g", n, k, i, y[i], first[i]);
                }
            }
            moved = fmax(moved, fabs(first[1]));
            odd = fmax(odd, fabs(first[6 + 2 * 3])); /* lateral force */
        }
    assert_true(moved > 1e-4 && odd > 500);
    free(text);
}

static void other_turns_are_refused(void **state)
{
    (void)state;
    static const char *const uses[] = {
        ", 'mirror': 'z'", ", 'orientation': {'axis': [0, 0, 1], 'angle': 0.5}, 'at': [-1, 0, 0]",
        ", 'orientation': {'axis': [1, 0, 0], 'angle': 'pi'}"};
    char *text = malloc(RAIL_TEXT);
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *m = NULL;
        write_part(1, CONE, uses[k], 15, text);
        char *copy = quote(text);
        assert_int_equal(bg_model_parse(copy, "test", NULL, 0, &m, &err), BG_BAD_INPUT);
        if (!strstr(err.text, "bodies.f.track (used as 'u'): needs a part that stands along"))
            fail_msg("'%s'", err.text);
        free(copy);
    }
    free(text);
}

/* The sentence says what does not go together, with numbers that are right: one point less is
 * taken.
 */
static void too_many_points_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value, *words; /* NULL: it is taken */
    } cases[] = {
        {"forces.l.step", "0", "forces.l.step: must be positive"},
        {"forces.l.step", "\"0.08/599.9\"", NULL},
        {"forces.l.step", "\"0.08/600.1\"",
         "600 points of the 0.08 m of profile 'cone', of at most 600"},
        {"profiles.cone.range", "[-40, 40]",
         "a longer step or a shorter 'range' of the profile, in m"},
        {"profiles.round",
         "{\"type\": \"table\", \"points\": [[0.03, 0], [0.01, 0], [-0.01, 0], [-0.03, 0]]}",
         "profiles.round: point 2, at 0.01 m, does not lie beyond the one before, at 0.03 m"}};
    char *text = malloc(RAIL_TEXT);
    write_wheelset(text, CONE, "'speed': 1, 'segments': [{'length': 1}]", "", "", "'t_end': 1");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *m = NULL;
        const bg_setting set = {cases[k].path, cases[k].value};
        char *copy = quote(text);
        const bg_status st = bg_model_parse(copy, "test", &set, 1, &m, &err);
        if ((st == BG_OK) != !cases[k].words ||
            (cases[k].words && !strstr(err.text, cases[k].words)))
            fail_msg("%s=%s: '%s'", cases[k].path, cases[k].value, err.text);
        bg_model_destroy(m);
        free(copy);
    }
    free(text);
}

#define OF(wheel, rail) \
    RAIL_CONTACT "'rail_origin': '0.3*sin(atan(0.05))', 'wheel': '" wheel "', 'rail': '" rail "'"

/* Profiles besides those of rail_support.h. */
static void add_odd_profiles(char *text)
{
    char *at = strstr(text, "'profiles': {") + strlen("'profiles': {");
    static const char odd[] =
        "'short': {'type': 'cone', 'slope': 0.05, 'range': [-1e-4, 1e-4]}, 'narrow': {'type': "
        "'table', 'points': [[-3e-3, -1.5e-5], [-1e-3, -1.7e-6], [1e-3, -1.7e-6], [3e-3, "
        "-1.5e-5]]}, 'mm': {'type': 'table', 'points': [[-40, -2.7], [-20, -0.7], [0, 0], [20, "
        "-0.7], [40, -2.7]]}, 'hollow': {'type': 'table', 'points': [[-0.03, 1e-3], [-0.02, "
        "0.8e-3], [-0.01, 0.3e-3], [0, 0], [0.01, -0.3e-3], [0.02, -0.8e-3], [0.03, -1e-3]]}, ";
    const size_t more = strlen(odd);
    assert_true(strlen(text) + more < RAIL_TEXT);
    memmove(at + more, at, strlen(at) + 1);
    memcpy(at, odd, more);
}

/* What goes wrong, when, and what is said: from the first moment on, or later. */
static void contacts_beyond_their_reach_end_runs(void **state)
{
    (void)state;
    static const char lift[] = "lifts off its rail: its contact would have to pull";
    static const char end[] = "runs off its profile, or that of the rail: the contact is at the "
                              "end of its range";
    static const struct {
        const char *contact, *initial, *forces, *says; /* NULL: nothing happens */
        double from, to;                               /* s */
    } cases[] = {{CONE, "'y': 0", "", NULL, 1, 1},
                 {CONE, "'y': 0", ", 'up': {'type': 'force', 'at': 'b', 'force': [0, 0, 150000]}",
                  lift, 0, 0},
                 {CONE, "'y': 0.2", "", end, 0, 0},
                 {CONE, "'y': -0.2", "", end, 0, 0},
                 {OF("short", "round"), "'y': 0", "", end, 0, 0},
                 {OF("cone", "mm"), "'y': 0", "", end, 0, 0},
                 {OF("cone", "narrow"), "'y': 0.02", "", end, 0, 0},
                 {OF("hollow", "round"), "'y': 5e-3", "", NULL, 1, 1},
                 {CONE, "'y': 0", ", 'push': {'type': 'force', 'at': 'b', 'force': [0, 40000, 0]}",
                  end, 1e-3, 1},
                 {CONE, "'y': 0", ", 'push': {'type': 'force', 'at': 'b', 'force': [0, -40000, 0]}",
                  end, 1e-3, 1}};
    char *text = malloc(RAIL_TEXT);
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        double y[WHEELSET_OUTPUTS];
        char event[160];
        const size_t n = k / 2;
        write_wheelset(text, cases[n].contact, "'speed': 10, 'segments': [{'length': 9}]",
                       cases[n].initial, cases[n].forces, "'t_end': 1");
        add_odd_profiles(text);
        const double t = run_part(text, forms[k % 2], 1, y, event, sizeof event);
        if (cases[n].says ? !strstr(event, cases[n].says) : event[0] != 0)
            fail_msg("case %zu: '%s' at %g s", n, event, t);
        assert_true(t >= cases[n].from && t <= cases[n].to);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_run_either_way_round),
        cmocka_unit_test(other_turns_are_refused),
        cmocka_unit_test(too_many_points_are_refused),
        cmocka_unit_test(contacts_beyond_their_reach_end_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

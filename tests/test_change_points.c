/* Change points: random linkages of parallel cranks, Sarrus' linkages and others, with redundant
 * constraints and without, printed with 6 to 17 digits, that pass positions in which branches of
 * their motion meet; and such that pass none. */
#include "model_support.h"

#include "overconstrained.h"

enum { CASES = SANITIZED ? 2 : 6, KINDS = 5 };

typedef struct change_point_outcome {
    bg_status status;
    char message[BG_ERROR_LENGTH];
    double y, offset;
    bg_verdict verdict;
    bool said;   /* a change point */
    bool hinted; /* at few digits far away */
    long steps;
    char warning[BG_WARNING_LENGTH];
} change_point_outcome;

/* setting: an option of the method, as "form=index2"; NULL: none. */
static change_point_outcome run_with(const char *json, const char *form, const char *integrator,
                                     const char *setting, double tolerance)
{
    char name[32] = "";
    const char *value = setting ? strchr(setting, '=') + 1 : "";
    change_point_outcome x = {.status = BG_OK};
    bg_error err = {BG_OK, ""};
    bg_model *model = NULL;
    bg_system *sys = NULL;
    bg_run_options o = bg_default_run_options();
    o.skip_comparison = 1;                  /* not what is looked at here */
    o.max_steps = setting ? 10000 : 100000; /* far more than any of these needs */
    bg_run_report r = {0};
    assert_ok(bg_model_parse(json, "test", NULL, 0, &model, &err));
    o.integrator = integrator;
    o.method.rtol = o.method.atol = tolerance;
    snprintf(name, sizeof name, "%.*s", setting ? (int)(value - setting) - 1 : 0, setting);
    o.method.settings = &(bg_setting){name, value};
    o.method.nsettings = setting != NULL;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        if (strcmp(info->name, integrator) == 0) {
            o.method.step = info->fixed_steps ? 1e-3 : 0;
            if (info->order <= 2) /* which would take ten times as many steps */
                o.method.rtol = o.method.atol = fmax(tolerance, 1e-6);
        }
    x.status = bg_model_create_system(model, form, &sys, &err);
    if (x.status == BG_OK)
        x.status = bg_run(sys, &o, &r, &err);
    snprintf(x.message, sizeof x.message, "%s", err.text);
    x.steps = r.counters.accepted;
    for (int i = 0; i < r.warnings.count; i++)
        x.hinted = x.hinted || strcmp(r.warnings.items[i].topic, "digits") == 0;
    if (x.status == BG_OK) {
        x.y = r.y[0];
        x.verdict = r.verdict;
        for (int i = 0; i < r.warnings.count; i++)
            if (strcmp(r.warnings.items[i].topic, "change point") == 0) {
                x.said = true;
                snprintf(x.warning, sizeof x.warning, "%s", r.warnings.items[i].text);
            }
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return x;
}

static change_point_outcome run_text(const char *json, const char *form, const char *integrator,
                                     double tolerance)
{
    return run_with(json, form, integrator, NULL, tolerance);
}

/* The first draws of neighbouring seeds are much the same; those of what this makes of them are
 * not.
 */
static unsigned scatter(unsigned seed)
{
    for (int i = 0; i < 4; i++)
        seed = (seed ^ seed >> 15) * 2654435761u + 0x9e3779b9u;
    return seed;
}

/* Two to five cranks of one length whose feet are in line, or but for the last: all bars come to
 * lie on one line twice in every turn, or never do. */
static void write_parallel(text *t, placement at, unsigned seed, bool in_line)
{
    static const char *const crank[] = {"c0", "c1", "c2", "c3", "c4"},
                             *const foot[] = {"a0", "a1", "a2", "a3", "a4"},
                             *const head[] = {"b0", "b1", "b2", "b3", "b4"};
    const double *y = AT(0, 1, 0);
    int n = (in_line ? 2 : 3) + draw_below(&seed, in_line ? 4 : 3);
    double x[5] = {0}, sum = 0, length = draw_within(&seed, 0.4, 1);
    double angle = draw_within(&seed, 0.3, 1.2), hx = length * sin(angle), hz = length * cos(angle);
    for (int i = 1; i < n; i++)
        sum += x[i] = x[i - 1] + draw_within(&seed, 0.4, 0.9);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "bar", 5, AT(sum / n + hx, 0, hz), AT(0.1, 1, 1));
    for (int i = 0; i < n; i++)
        put_body(t, crank[i], 1, AT(x[i] + hx / 2, 0, hz / 2), AT(0.1, 0.1, 0.1));
    put(t, "}, \"joints\": {");
    for (int i = 0; i < n; i++) {
        double z = in_line || i < n - 1 ? 0 : 0.3;
        put_joint(t, foot[i], "revolute", "ground", crank[i], AT(x[i], 0, z), y,
                  i == 0 ? ", \"initial\": {\"velocity\": 6, \"fixed\": true, \"fixed_velocity\": "
                           "true}"
                         : "");
        put_joint(t, head[i], "revolute", crank[i], "bar", AT(x[i] + hx, 0, z + hz), y, "");
    }
    end_model(t, "a0", 0.7);
}

/* Two or three pairs of legs between the ground and a plate, which stretch, where two branches meet
 * in each pair but one, and fold, where the legs of each pair may swing. */
static void write_legs(text *t, placement at, unsigned seed)
{
    static const char *const lower[] = {"l0", "l1", "l2"}, *const upper[] = {"u0", "u1", "u2"},
                             *const p[] = {"p0", "p1", "p2"}, *const q[] = {"q0", "q1", "q2"},
                             *const r[] = {"r0", "r1", "r2"};
    int n = 2 + draw_below(&seed, 2);
    double length = draw_within(&seed, 0.4, 0.8), d = draw_within(&seed, 0.3, 0.7);
    double lean = draw_within(&seed, 0.5, 0.9), between = draw_within(&seed, 1.2, 1.9);
    double out = d + length * sin(lean), h = length * cos(lean);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "top", 4, AT(0, 0, 2 * h), AT(0.5, 0.5, 0.8));
    for (int k = 0; k < n; k++) {
        double c = cos(k * between) * (d + out) / 2, s = sin(k * between) * (d + out) / 2;
        put_body(t, lower[k], 1, AT(c, s, h / 2), AT(0.1, 0.1, 0.05));
        put_body(t, upper[k], 1, AT(c, s, 1.5 * h), AT(0.1, 0.1, 0.05));
    }
    put(t, "}, \"joints\": {");
    for (int k = 0; k < n; k++) {
        double c = cos(k * between), s = sin(k * between);
        const double axis[3] = {-s, c, 0};
        put_joint(t, p[k], "revolute", "ground", lower[k], AT(d * c, d * s, 0), axis,
                  k == 0 ? ", \"initial\": {\"velocity\": -5, \"fixed\": true, \"fixed_velocity\": "
                           "true}"
                         : "");
        put_joint(t, q[k], "revolute", lower[k], upper[k], AT(out * c, out * s, h), axis, "");
        put_joint(t, r[k], "revolute", upper[k], "top", AT(d * c, d * s, 2 * h), axis, "");
    }
    end_model(t, "p0", 0.5);
}

/* One to three parallelograms beside each other on one bar, each closed by a point on a line alone,
 * so that no constraint is redundant. */
static void write_closed(text *t, placement at, unsigned seed)
{
    static const char *const left[] = {"l0", "l1", "l2"}, *const right[] = {"r0", "r1", "r2"},
                             *const bar[] = {"c0", "c1", "c2"}, *const a[] = {"a0", "a1", "a2"},
                             *const b[] = {"b0", "b1", "b2"}, *const c[] = {"p0", "p1", "p2"},
                             *const d[] = {"d0", "d1", "d2"};
    const double *y = AT(0, 1, 0);
    int n = 1 + draw_below(&seed, 3);
    double length = draw_within(&seed, 0.4, 1), angle = draw_within(&seed, 0.3, 1.2), x = 0;
    double hx = length * sin(angle), hz = length * cos(angle), width[3];
    begin_model(t, at, 0, 0, -9.81);
    for (int i = 0; i < n; i++) {
        width[i] = draw_within(&seed, 0.5, 1.2);
        if (i == 0)
            put_body(t, left[0], 1, AT(hx / 2, 0, hz / 2), AT(0.1, 0.1, 0.1));
        put_body(t, right[i], 1, AT(x + width[i] + hx / 2, 0, hz / 2), AT(0.1, 0.1, 0.1));
        put_body(t, bar[i], 2, AT(x + width[i] / 2 + hx, 0, hz), AT(0.1, 0.4, 0.4));
        x += width[i];
    }
    put(t, "}, \"joints\": {");
    x = 0;
    for (int i = 0; i < n; i++) {
        const char *first = i == 0 ? left[0] : right[i - 1];
        if (i == 0)
            put_joint(
                t, a[0], "revolute", "ground", left[0], AT(0, 0, 0), y,
                ", \"initial\": {\"velocity\": 6, \"fixed\": true, \"fixed_velocity\": true}");
        put_joint(t, b[i], "revolute", first, bar[i], AT(x + hx, 0, hz), y, "");
        x += width[i];
        put_joint(t, d[i], "revolute", "ground", right[i], AT(x, 0, 0), y, "");
        put_joint(t, c[i], "point-on-line", right[i], bar[i], AT(x + hx, 0, hz), y, "");
    }
    end_model(t, "a0", 0.7);
}

/* A crank and a rod of one length whose end stays on a plane: where they fold, either may go on. */
static void write_folding(text *t, placement at, unsigned seed)
{
    const double *y = AT(0, 1, 0);
    double length = draw_within(&seed, 0.4, 1), angle = draw_within(&seed, 0.3, 1.2);
    double hx = length * sin(angle), hz = length * cos(angle);
    begin_model(t, at, 0, 0, -9.81);
    put_body(t, "crank", 3, AT(hx / 2, 0, hz / 2), AT(0.1, 0.3, 0.3));
    put_body(t, "rod", 1, AT(1.5 * hx, 0, hz / 2), AT(0.1, 0.1, 0.1));
    put(t, "}, \"joints\": {");
    put_joint(t, "a", "revolute", "ground", "crank", AT(0, 0, 0), y,
              ", \"initial\": {\"velocity\": -6, \"fixed\": true, \"fixed_velocity\": true}");
    put_joint(t, "b", "revolute", "crank", "rod", AT(hx, 0, hz), y, "");
    put_joint(t, "p", "point-on-plane", "ground", "rod", AT(2 * hx, 0, 0), AT(0, 0, 1), "");
    end_model(t, "a", 0.7);
}

static void write_case(text *t, placement at, int kind, unsigned seed)
{
    seed = scatter(seed);
    switch (kind) {
    case 3:
        write_closed(t, at, seed);
        break;
    case 4:
        write_folding(t, at, seed);
        break;
    case 0:
        write_parallel(t, at, seed, true);
        break;
    case 1:
        write_legs(t, at, seed);
        break;
    default:
        write_parallel(t, at, seed, false);
        break;
    }
    assert_true(t->used < sizeof t->buffer);
}

static change_point_outcome run_case(placement at, int digits, int kind, unsigned seed,
                                     const char *form, const char *integrator)
{
    text t;
    at.digits = digits;
    write_case(&t, at, kind, seed);
    change_point_outcome x = run_text(t.buffer, form, integrator, 1e-8);
    if (x.status != BG_OK)
        fail_msg("kind %d, case %u, %d digits, %s, %s: %s", kind, seed, digits, form, integrator,
                 x.message);
    return x;
}

/* Few digits move as many do, and are called doubtful where they say otherwise; nothing is said of
 * change points where there are none. */
static void check_case(int kind, unsigned seed, const char *form, const bg_integrator_info *info)
{
    const char *integrator = info->name;
    const bool fixed_steps = info->fixed_steps;
    placement at = as_drawn;
    unsigned turn = seed + 100;
    at.turn = draw_turn(&turn);
    at.shift = bg_vec3_make(1.2, -0.7, 2);
    change_point_outcome exact = run_case(at, 17, kind, seed, form, integrator);
    if (exact.said)
        fail_msg("kind %d, case %u, 17 digits, %s, %s: %s", kind, seed, form, integrator,
                 exact.warning);
    for (int digits = 6; digits <= 10; digits += SANITIZED ? 5 : 2) {
        change_point_outcome x = run_case(at, digits, kind, seed, form, integrator);
        if (fixed_steps && (x.verdict == BG_BAD || exact.verdict == BG_BAD))
            continue; /* steps that are too long, as is said, agree with nothing */
        double tolerance = 2e-6 + 1000 * pow(10, 1 - digits);
        if (fixed_steps) /* what drifts depends on the rows that are left out; branches are apart */
            tolerance += 1e-4;
        if (info->order == 2) /* by errors of loose tolerances */
            tolerance += 1e-3;
        if (!(fabs(x.y - exact.y) <= tolerance))
            fail_msg("kind %d, case %u, %d digits, %s, %s: ends at %.10g, not at %.10g within %g; "
                     "%s",
                     kind, seed, digits, form, integrator, x.y, exact.y, tolerance, x.warning);
        if (kind == 2)
            assert_false(x.said);
        if (x.said) {
            assert_int_equal(x.verdict, BG_DOUBTFUL);
            assert_non_null(strstr(x.warning, "at t = "));
            assert_non_null(strstr(x.warning, kind == 0 ? "'b" : kind > 2 ? "'p" : "'"));
        }
    }
}

static void test_branches(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < CASES; seed++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int form = 0; form < 2; form++)
                check_case(kind, seed, forms[form], get_method(seed % 2)); /* mdop5, 8 */
}

/* Every method, those without leaps and with steps of fixed length included. */
static void test_methods(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++) {
        const bool one = SANITIZED || repeats_another(info->name);
        for (int kind = one ? n % KINDS : 0; kind < KINDS; kind += one ? KINDS : 1)
            for (int form = 0; form < 2; form++)
                check_case(kind, 50 + (unsigned)n, forms[form], info);
    }
}

/* With six digits the passage is said, unless the digits happen to agree; with exact numbers it is
 * none, though bars may lie in line. */
static void test_said(void **state)
{
    (void)state;
    int said = 0;
    placement at = as_drawn;
    unsigned turn = 7;
    at.turn = draw_turn(&turn);
    for (unsigned seed = 0; seed < CASES; seed++)
        for (int kind = 0; kind < KINDS; kind++)
            said += kind != 2 && run_case(at, 6, kind, seed, "joint", "mdop5").said;
    assert_true(said >= (KINDS - 1) * CASES - 3);
}

/* Rounding that singular positions magnify ends no run: 10 km away, with a tolerance that rounding
 * comes near to and one that it exceeds, and with data whose last digits are about as small. */
static void test_rounding(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "bdf", "hem4", "hem5", "mdop8"};
    for (unsigned seed = 0; seed < (SANITIZED ? 1 : CASES); seed++) {
        change_point_outcome known[2][2]; /* by kind and form */
        for (int k = 0; k < 16; k++) {
            placement at = as_drawn;
            unsigned turn = seed + 100;
            const char *form = forms[k % 2], *method = methods[(k / 2 + (int)seed) % 5];
            int kind = (k / 4) % 2;
            bool far = k / 8;
            double tolerance = far && seed % 3 == 0 ? 1e-11 : 1e-9;
            text t;
            at.turn = draw_turn(&turn);
            write_case(&t, at, kind, seed);
            change_point_outcome *exact = &known[kind][k % 2];
            if (k / 2 % 2 == 0 && !far)
                *exact = run_text(t.buffer, form, "mdop8", 1e-10);
            at.shift = far ? bg_vec3_make(6000, -8000, 100) : at.shift;
            at.digits = far ? 17 : 12;
            write_case(&t, at, kind, seed);
            change_point_outcome x = run_text(t.buffer, form, method, tolerance);
            if (x.status != BG_OK || !(fabs(x.y - exact->y) < 2e-7))
                fail_msg("kind %d, case %u, %s, %s at %g, %s: %g from %.10g; %s", kind, seed, form,
                         method, tolerance, far ? "far" : "12 digits", x.y - exact->y, exact->y,
                         x.message);
            if (far)
                assert_int_equal(x.verdict, BG_GOOD);
        }
    }
}

/* Every kind goes on there as it does near the origin, with and without redundant constraints,
 * with implicit methods down to tolerances that the rounding of places is beside. */
static void test_far(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "sdirk4", "mdop8"};
    static const double tolerance[] = {1e-11, 1e-9, 1e-10};
    for (int k = 0; k < (SANITIZED ? 6 : 36); k++) {
        const int kind = k % 6, m = (k + k / 6) % 3;
        const char *form = forms[(k / 3) % 2];
        double y[2];
        for (int far = 0; far < 2; far++) {
            placement at = as_drawn;
            unsigned turn = (unsigned)k;
            text t;
            at.turn = draw_turn(&turn);
            at.digits = 17;
            at.shift = far ? bg_vec3_make(6000, -8000, 100) : at.shift;
            write_case(&t, at, kind, scatter((unsigned)k));
            change_point_outcome x = run_text(t.buffer, form, methods[m], tolerance[m]);
            if (x.status != BG_OK)
                fail_msg("kind %d, case %d, %s, %s, %s: %s", kind, k, form, methods[m],
                         far ? "far" : "near", x.message);
            y[far] = x.y;
        }
        if (!(fabs(y[1] - y[0]) < 1e-7))
            fail_msg("kind %d, case %d, %s, %s: %.12g, not %.12g", kind, k, form, methods[m], y[1],
                     y[0]);
    }
}

/* Few digits 10 km from the origin are to centimetres and decimetres: what cannot move is refused
 * at the start, what can moves to its end, and it is hinted at them. */
static void test_coarse(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem4", "hem5", "mdop8"};
    int late = 0;
    for (unsigned seed = 0; seed < 2 * CASES; seed++)
        for (int k = 0; k < 8; k++) {
            placement at = as_drawn;
            unsigned turn = seed + 100;
            const char *form = forms[(seed + (unsigned)k / 4) % 2], *method = methods[seed % 4];
            int kind = k % 4;
            text t;
            at.turn = draw_turn(&turn);
            at.shift = bg_vec3_make(6000, -8000, 100);
            at.digits = 6 + (k + (int)seed) % 4;
            write_case(&t, at, kind, seed);
            change_point_outcome x = run_text(t.buffer, form, method, 1e-6);
            if (x.status != BG_OK && x.steps > 0 && !x.hinted)
                fail_msg("kind %d, case %u, %d digits, %s, %s: ends after %ld steps: %s", kind,
                         seed, at.digits, form, method, x.steps, x.message);
            late += x.status != BG_OK && x.steps > 0;
            if (x.status == BG_OK && at.digits < 8)
                assert_true(x.hinted);
        }
    assert_true(late <= 1); /* a passage that no digits lead through */
}

/* Long steps of loose tolerances, which foresee a change point from far away, and pass several. */
static void test_loose(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    for (unsigned seed = 0; seed < 2 * CASES; seed++) {
        change_point_outcome known[2]; /* by kind */
        bool made[2] = {false, false};
        for (int n = 0; (info = get_method(n)); n++) {
            placement at = as_drawn;
            unsigned turn = seed + 100;
            const int odd = (int)(seed + (unsigned)n) % 2, kind = odd ? 1 : 3;
            const char *form = forms[seed % 2];
            text t;
            if (info->fixed_steps)
                continue;
            at.turn = draw_turn(&turn);
            at.shift = bg_vec3_make(1.2, -0.7, 2);
            write_case(&t, at, kind, seed);
            if (!made[odd])
                known[odd] = run_text(t.buffer, form, "mdop8", 1e-9);
            made[odd] = true;
            const change_point_outcome *exact = &known[odd];
            at.digits = 6;
            write_case(&t, at, kind, seed);
            change_point_outcome x = run_text(t.buffer, form, info->name, 1e-5);
            if (x.status != BG_OK || !(fabs(x.y - exact->y) < 2e-2))
                fail_msg("kind %d, case %u, %s, %s: %g from %.10g; %s%s", kind, seed, form,
                         info->name, x.y - exact->y, exact->y, x.message, x.warning);
        }
    }
}

/* 10^7 m from the origin, where places are rounded to 2e-9 m: starts are found, and change points
 * passed, by the methods with error control that make each step by itself. */
static void test_very_far(void **state)
{
    (void)state;
    static const int kinds[] = {0, 1, 3, 4};
    static const char *const methods[] = {"mdop5", "hem4", "hem5", "mdop8"};
    for (unsigned seed = 0; seed < CASES; seed++)
        for (int k = 0; k < 8; k++) {
            placement at = as_drawn;
            unsigned turn = seed + 100;
            const char *form = forms[k % 2], *method = methods[(k / 2 + (int)seed) % 4];
            int kind = kinds[(k / 2) % 4];
            text t;
            at.turn = draw_turn(&turn);
            write_case(&t, at, kind, seed);
            change_point_outcome exact = run_text(t.buffer, form, "mdop8", 1e-9);
            at.shift = bg_vec3_make(6e6, -8e6, 1e5);
            write_case(&t, at, kind, seed);
            change_point_outcome x = run_text(t.buffer, form, method, 1e-7);
            if (x.status != BG_OK || !(fabs(x.y - exact.y) < 2e-3))
                fail_msg("kind %d, case %u, %s, %s: %g from %.10g; %s", kind, seed, form, method,
                         x.y - exact.y, exact.y, x.message);
        }
}

/* There every method moves what passes no such position as near the origin, in both forms. */
static void test_plain_very_far(void **state)
{
    (void)state;
    static void (*const write[])(text *, placement) = {write_four_bar, write_slider_crank,
                                                       write_sarrus};
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = SANITIZED ? n % 6 : 0; k < 6; k += SANITIZED ? 6 : 1) {
            placement at = as_drawn;
            unsigned turn = 31 + (unsigned)n;
            text t;
            at.turn = draw_turn(&turn);
            write[k / 2](&t, at);
            change_point_outcome near = run_text(t.buffer, forms[k % 2], info->name, 1e-6);
            at.shift = bg_vec3_make(-7e6, 2e6, 7e6);
            write[k / 2](&t, at);
            change_point_outcome far = run_text(t.buffer, forms[k % 2], info->name, 1e-6);
            double most = info->order == 2 ? 1e-3 : 2e-4; /* of the tolerance */
            if (near.status != BG_OK || far.status != BG_OK || !(fabs(near.y - far.y) < most))
                fail_msg("%d, %s, %s: %.10g far away, not %.10g; %s", k / 2, forms[k % 2],
                         info->name, far.y, near.y, far.message);
        }
}

/* Where all digits are there, coming near such a position is no reason for doubt. */
static void test_passed_by(void **state)
{
    (void)state;
    unsigned seed = 2;
    for (int k = 0; k < (SANITIZED ? 1 : 2); k++) {
        placement at = as_drawn;
        static text t;
        at.turn = draw_turn(&seed);
        write_delta(&t, at);
        change_point_outcome x = run_text(t.buffer, "cartesian", "hem5", 1e-6);
        assert_int_equal(x.status, BG_OK);
        if (x.verdict != BG_GOOD)
            fail_msg("turn %d: %s", k, x.warning);
    }
}

/* At tolerances that ordinary steps cannot keep near a change point, adams leaps over it, and does
 * not creep towards it. */
static void test_no_creeping(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int k = 0; k < (SANITIZED ? 5 : 30); k++) {
        placement at = as_drawn;
        if (k % 2)
            at.turn = draw_turn(&seed);
        text t;
        write_case(&t, at, k % 5, (unsigned)k);
        for (int f = 0; f < 2; f++) {
            change_point_outcome loose = run_text(t.buffer, forms[f], "adams", 1e-10);
            change_point_outcome tight = run_text(t.buffer, forms[f], "adams", 1e-12);
            if (loose.status != BG_OK || tight.status != BG_OK)
                fail_msg("case %d, %s: %s%s", k, forms[f], loose.message, tight.message);
            if (tight.steps > 4 * loose.steps || fabs(tight.y - loose.y) > 1e-7)
                fail_msg("case %d, %s: %ld steps after %ld, %g apart", k, forms[f], tight.steps,
                         loose.steps, tight.y - loose.y);
        }
    }
}

/* What methods that drift off the constraints add to them would turn the motion off, always: they
 * come back before, or say that they may not have. */
static void test_drifting(void **state)
{
    (void)state;
    static const struct {
        const char *integrator, *setting;
        double tolerance, error;
    } all[] = {{"bdf", "form=index2", 1e-6, 1e-3},         {"bdf", "form=index1", 1e-7, 1e-3},
               {"bdf", "form=index2", 1e-9, 1e-5},         {"mdop5", "projection=none", 1e-6, 1e-3},
               {"mdop5", "projection=none", 1e-9, 1e-5},   {"hem5", "projection=none", 1e-7, 1e-3},
               {"mdop8", "projection=control", 1e-8, 1e-4}};
    const unsigned n = sizeof all / sizeof *all, cases = SANITIZED ? KINDS : 2 * KINDS;
    int right = 0;
    for (unsigned k = 0; k < cases; k++)
        for (unsigned f = 0; f < 2; f++) {
            unsigned seed = scatter(2 * k + f);
            placement at = as_drawn;
            text t;
            at.turn = draw_turn(&seed);
            write_case(&t, at, (int)(k % KINDS), k);
            const change_point_outcome exact = run_text(t.buffer, forms[f], "mdop8", 1e-10);
            for (unsigned i = 0; i < n; i++) {
                const change_point_outcome x = run_with(t.buffer, forms[f], all[i].integrator,
                                                        all[i].setting, all[i].tolerance);
                const bool good = x.status == BG_OK && x.verdict == BG_GOOD;
                if (good && !(fabs(x.y - exact.y) <= all[i].error))
                    fail_msg("case %u, %s, %s with %s at %g: ends at %.10g, not at %.10g", k,
                             forms[f], all[i].integrator, all[i].setting, all[i].tolerance, x.y,
                             exact.y);
                right += good;
            }
        }
    assert_true(right >= (int)(2 * n * cases * 95 / 100));
}

/* Steps with error control do not pay a look each where no change point can be near: neither
 * without redundant constraints nor with them, where a look is three evaluations. */
static void test_rarely(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        double tolerance, most; /* evaluations in a step */
    } cases[] = {{BOGIE_SOURCE_DIR "/models/slider-crank-3d.json", 1e-6, 0.8},
                 {BOGIE_SOURCE_DIR "/models/iftomm-a04-bricard.json", 1e-9, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        bg_run_options o = bg_default_run_options();
        bg_run_report r = {0};
        assert_ok(bg_model_read(cases[k].model, NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, "joint", &sys, &err));
        o.integrator = "mdop5";
        o.method.rtol = o.method.atol = cases[k].tolerance;
        assert_ok(bg_run(sys, &o, &r, &err));
        const bg_work *looks = &r.counters.foresight;
        assert_true(looks->terms + looks->constraints > 20);
        if ((double)(looks->terms + looks->constraints) >
            cases[k].most * (double)r.counters.accepted)
            fail_msg("%s: %ld evaluations that look ahead in %ld steps", cases[k].model,
                     looks->terms + looks->constraints, r.counters.accepted);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),       cmocka_unit_test(test_far),
        cmocka_unit_test(test_branches),       cmocka_unit_test(test_methods),
        cmocka_unit_test(test_said),           cmocka_unit_test(test_loose),
        cmocka_unit_test(test_coarse),         cmocka_unit_test(test_very_far),
        cmocka_unit_test(test_plain_very_far), cmocka_unit_test(test_passed_by),
        cmocka_unit_test(test_no_creeping),    cmocka_unit_test(test_drifting),
        cmocka_unit_test(test_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

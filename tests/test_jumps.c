/* Signals that jump or bend at a time: a step that tries times beyond a corner sees the piece
 * before it, the event leads over to the next one, and what comes out is exact. */
#include "model_support.h"

#include <unistd.h>

/* A mass of 2 kg on a rail under the force law and inputs given; x = 0, v = 0 at t = 0. */
#define RAIL                                                                                     \
    "{'gravity': 0, 'bodies': {'cart': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}}," \
    " 'joints': {'rail': {'type': 'prismatic', 'bodies': ['ground', 'cart'], 'at': [0, 0, 0],"   \
    "  'axis': [1, 0, 0]}}, 'inputs': {%s},"                                                     \
    " 'forces': {'push': {'type': 'torsion', 'joint': 'rail', 'torque': '%s'}},"                 \
    " 'outputs': {'x': {'joint': 'rail'}, 'v': {'joint': 'rail', 'derivative': 1},"              \
    "  'a': {'joint': 'rail', 'derivative': 2}, 'u': {'signal': 'u'}}, 'run': {'t_end': 1}}"

typedef struct rail {
    bg_model *model;
    bg_system *sys;
    bg_run_report report;
} rail;

static void create(rail *x, const char *formulation, const char *inputs, const char *law)
{
    char text[2048];
    bg_error err = {BG_OK, ""};
    snprintf(text, sizeof text, RAIL, inputs, law);
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &x->model, &err));
    assert_ok(bg_model_create_system(x->model, formulation, &x->sys, &err));
    free(copy);
}

static void run(rail *x, const char *method, double tolerance, const bg_sink *sink)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    o.integrator = method;
    o.method.rtol = o.method.atol = tolerance;
    if (sink)
        o.sink = *sink;
    o.output_steps = sink != NULL;
    assert_ok(bg_run(x->sys, &o, &x->report, &err));
}

static void clear(rail *x)
{
    bg_run_report_clear(&x->report);
    bg_system_destroy(x->sys);
    bg_model_destroy(x->model);
}

/* x = 3/2 (t - 1/2)^2 behind the jump: of degree 2, so only the corner could do harm. */
static void a_sharp_step_is_exact(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem4", "hem5"};
    for (int k = 0; k < 6; k++) {
        rail x;
        create(&x, forms[k % 2], "'u': {'type': 'jump', 'to': 6, 't0': 0.5}", "u");
        run(&x, methods[k / 2], 1e-10, NULL);
        assert_near(x.report.y[0], 0.375, 1e-12);
        assert_near(x.report.y[1], 1.5, 1e-12);
        assert_near(x.report.y[2], 3, 1e-12);
        assert_int_equal(x.report.nevents, 1);
        assert_near(x.report.events[0].t, 0.5, 1e-15);
        assert_true(x.report.counters.rejected <= 1);
        assert_true(x.report.certificate.energy_error < 1e-12);
        clear(&x);
    }
}

/* With a spring behind it, x = F/k (1 - cos(omega (t - t0))): no step is rejected for the jump. */
static void steps_are_not_rejected_for_a_jump(void **state)
{
    (void)state;
    const double w = sqrt(50.0 / 2), F = 6, t0 = 0.3;
    rail x, smooth;
    create(&x, "joint", "'u': {'type': 'jump', 'to': 6, 't0': 0.3}", "u - 50*angle");
    run(&x, "mdop5", 1e-11, NULL);
    create(&smooth, "joint", "'u': 6", "u - 50*angle");
    run(&smooth, "mdop5", 1e-11, NULL);
    assert_near(x.report.y[0], F / 50 * (1 - cos(w * (1 - t0))), 1e-11);
    assert_near(x.report.y[1], F / 50 * w * sin(w * (1 - t0)), 1e-10);
    assert_true(x.report.counters.rejected <= smooth.report.counters.rejected + 1);
    clear(&x);
    clear(&smooth);
}

/* Two inputs jump at one time, which decimals write differently, and a third bends there. */
static void simultaneous_jumps(void **state)
{
    (void)state;
    static const char inputs[] = "'u': {'type': 'jump', 'to': 6, 't0': 0.3},"
                                 "'w': {'type': 'jump', 'from': 1, 'to': -4, 't0': '0.1 + 0.2'},"
                                 "'r': {'type': 'ramp', 'slope': 12, 't0': 0.3, 't1': 0.8}";
    for (int k = 0; k < 2; k++) {
        rail x;
        double x0 = 0.25 * 0.09, v0 = 0.5 * 0.3; /* a = 1/2 up to 0.3, then 1 + 6 (t - 0.3) */
        double x1 = x0 + v0 * 0.5 + 0.5 * 0.25 + 0.125, v1 = v0 + 0.5 + 3 * 0.25;
        create(&x, forms[k], inputs, "u + w + r");
        run(&x, "mdop5", 1e-10, NULL);
        assert_near(x.report.y[2], 4, 1e-11); /* (6 - 4 + 6) / 2 */
        assert_near(x.report.y[1], v1 + 4 * 0.2, 1e-12);
        assert_near(x.report.y[0], x1 + v1 * 0.2 + 2 * 0.04, 1e-12);
        assert_int_equal(x.report.nevents, 4);
        for (int i = 0; i < 3; i++)
            assert_near(x.report.events[i].t, 0.3, 1e-15);
        assert_near(x.report.events[3].t, 0.8, 1e-15);
        clear(&x);
    }
}

static void jumps_at_the_ends(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rail x;
        create(&x, forms[k], "'u': {'type': 'jump', 'from': 50, 'to': 6, 't0': 0}", "u");
        run(&x, "mdop5", 1e-10, NULL);
        assert_near(x.report.y[0], 1.5, 1e-12);
        assert_int_equal(x.report.nevents, 1);
        assert_true(x.report.events[0].t == 0);
        clear(&x);
        create(&x, forms[k], "'u': {'type': 'jump', 'from': 6, 'to': 50, 't0': 1}", "u");
        run(&x, "mdop5", 1e-10, NULL);
        assert_near(x.report.y[0], 1.5, 1e-12);
        assert_near(x.report.y[1], 3, 1e-12);
        assert_near(x.report.y[2], 25, 1e-10); /* the end lies behind the jump */
        assert_near(x.report.y[3], 50, 0);
        assert_int_equal(x.report.nevents, 1);
        assert_true(x.report.events[0].t == 1);
        clear(&x);
        create(&x, forms[k], "'u': {'type': 'jump', 'from': 6, 'to': 50, 't0': 1.5}", "u");
        run(&x, "mdop5", 1e-10, NULL);
        assert_int_equal(x.report.nevents, 0);
        assert_near(x.report.y[0], 1.5, 1e-12);
        clear(&x);
    }
}

typedef struct jump_rows {
    int n, before, behind; /* all; at the jump, by the value of the input */
    double t_last;
} jump_rows;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    jump_rows *r = self;
    const double t = row->state->t, u = row->y[3], a = row->y[2];
    (void)err;
    r->n++;
    assert_true(t >= r->t_last);
    assert_near(a, u / 2, 1e-12);
    if (t == 0.5 && u == 1)
        r->before++;
    if (t == 0.5 && u == 6)
        r->behind++;
    assert_true(t == 0.5 || u == (t < 0.5 ? 1 : 6));
    r->t_last = t;
    return BG_OK;
}

/* One row at each side of the event, and no time with the value of the other side. */
static void rows_lie_on_both_sides(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        rail x;
        jump_rows r = {0};
        bg_sink sink = {.self = &r, .row = take_row};
        create(&x, forms[k], "'u': {'type': 'jump', 'from': 1, 'to': 6, 't0': 0.5}", "u");
        run(&x, "mdop5", 1e-10, &sink);
        assert_int_equal(r.before, 1);
        assert_int_equal(r.behind, 1);
        assert_true(r.n >= 4);
        clear(&x);
    }
}

/* A row of the grid that falls on the jump lies behind it. */
static void grid_rows_lie_behind(void **state)
{
    (void)state;
    rail x;
    jump_rows r = {0};
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    create(&x, "joint", "'u': {'type': 'jump', 'from': 1, 'to': 6, 't0': 0.5}", "u");
    o.sink = (bg_sink){.self = &r, .row = take_row};
    o.output_interval = 0.25;
    assert_ok(bg_run(x.sys, &o, &x.report, &err));
    assert_int_equal(r.n, 5);
    assert_int_equal(r.before, 0);
    assert_int_equal(r.behind, 1);
    clear(&x);
}

/* What the equations see is the piece of the mode, whatever the time. */
static void modes_hold_the_piece(void **state)
{
    (void)state;
    rail x;
    create(&x, "joint",
           "'u': {'type': 'jump', 'to': 6, 't0': 0.5}, 'wave': 'sin(t)',"
           "'r': {'type': 'ramp', 'slope': 2, 't0': 0.2, 't1': 0.4}",
           "u + r*wave");
    const bg_system_def *def = bg_system_get_def(x.sys);
    double u[3], u_t[3], u_tt[3];
    assert_int_equal(def->nmode, 2);
    for (int piece = 0; piece < 3; piece++) {
        const int mode[2] = {1 + piece % 2, 1 + piece};
        assert_int_equal(def->inputs(def->self, 0.9, mode, u, u_t, u_tt), 0);
        assert_near(u[0], piece == 1 ? 6 : 0, 0);
        assert_near(u[1], sin(0.9), 1e-16);
        assert_near(u[2], piece == 0 ? 0 : piece == 1 ? 1.4 : 0.4, 1e-15);
        assert_near(u_t[2], piece == 1 ? 2 : 0, 0);
    }
    const int open[2] = {0, 0};
    assert_int_equal(def->inputs(def->self, 0.3, open, u, u_t, u_tt), 0);
    assert_near(u[0], 0, 0);
    assert_near(u[2], 0.2, 1e-15);
    memset(&x.report, 0, sizeof x.report);
    clear(&x);
}

/* Stopped anywhere, before a corner or between two, a run goes on bit by bit. */
static void checkpoints_keep_the_piece(void **state)
{
    (void)state;
    static const char file[] = "jumps.checkpoint";
    static const char inputs[] =
        "'u': {'type': 'jump', 'to': 6, 't0': 0.4},"
        "'w': {'type': 'table', 'times': [0, 0.2, 0.3, 0.7], 'values': [0, 3, -3, 5],"
        "      'interpolation': 'linear'}";
    rail whole;
    create(&whole, "joint", inputs, "u + w - 40*angle");
    run(&whole, "mdop5", 1e-8, NULL);
    const double t_end = whole.report.final->t;
    int parts = 0;
    for (long steps = 1; steps < whole.report.counters.accepted; steps++, parts++) {
        rail x;
        bg_error err = {BG_OK, ""};
        bg_run_options o = bg_default_run_options();
        create(&x, "joint", inputs, "u + w - 40*angle");
        o.method.rtol = o.method.atol = 1e-8;
        o.max_steps = steps;
        o.checkpoint = file;
        assert_int_equal(bg_run(x.sys, &o, &x.report, &err), BG_TOO_MANY_STEPS);
        bg_run_report_clear(&x.report);
        o.max_steps = 0;
        o.checkpoint = NULL;
        o.resume = file;
        assert_ok(bg_run(x.sys, &o, &x.report, &err));
        assert_true(x.report.final->t == t_end);
        assert_memory_equal(x.report.final->q, whole.report.final->q, sizeof(double));
        assert_memory_equal(x.report.final->v, whole.report.final->v, sizeof(double));
        clear(&x);
    }
    unlink(file);
    assert_true(parts > 8);
    clear(&whole);
}

/* A joint that follows a ramp, and a mass behind it on a spring: with tau = t - 0.2 and w^2 = k /
 * m, x = 3 (tau - sin(w tau) / w) until the ramp ends. */
static void driven_joints_follow_corners(void **state)
{
    (void)state;
    static const char text[] =
        "{'gravity': 0, 'bodies': {'drive': {'mass': 1, 'center': [0, 0, 0], 'inertia': [1, 1, 1]},"
        " 'mass': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}},"
        " 'inputs': {'u': {'type': 'ramp', 'slope': 3, 't0': 0.2, 't1': 0.9}},"
        " 'joints': {'pull': {'type': 'prismatic', 'bodies': ['ground', 'drive'],"
        "  'at': [0, 0, 0], 'axis': [1, 0, 0], 'prescribed': 'u'},"
        "  'rail': {'type': 'prismatic', 'bodies': ['drive', 'mass'], 'at': [0, 0, 0],"
        "  'axis': [1, 0, 0]}}, 'forces': {'k': {'type': 'torsion', 'joint': 'rail',"
        "  'stiffness': 50}}, 'outputs': {'x': {'position': 'mass', 'component': 'x'},"
        "  'v': {'velocity': 'mass', 'component': 'x'}, 'u': {'velocity': 'drive'}},"
        " 'run': {'t_end': 0.8}}";
    for (int k = 0; k < 2; k++) {
        double y[8], w = 5, tau = 0.6;
        run_model(text, forms[k], 1e-11, y, NULL);
        assert_near(y[0], 3 * (tau - sin(w * tau) / w), 1e-9);
        assert_near(y[1], 3 * (1 - cos(w * tau)), 1e-9);
        assert_near(y[2], 3, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sharp_step_is_exact),
        cmocka_unit_test(steps_are_not_rejected_for_a_jump),
        cmocka_unit_test(simultaneous_jumps),
        cmocka_unit_test(jumps_at_the_ends),
        cmocka_unit_test(rows_lie_on_both_sides),
        cmocka_unit_test(grid_rows_lie_behind),
        cmocka_unit_test(modes_hold_the_piece),
        cmocka_unit_test(checkpoints_keep_the_piece),
        cmocka_unit_test(driven_joints_follow_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

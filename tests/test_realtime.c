/* bg_realtime: the same trajectory as a run, bounded and foretold work, live inputs, events at the
 * ends of steps. */
#include "model_support.h"
#include "work_support.h"

#include <glob.h>
#include <stdbool.h>

typedef struct plant {
    bg_model *model;
    bg_system *sys;
} plant;

static plant open_text(const char *text, const char *formulation)
{
    plant p;
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &p.model, &err));
    assert_ok(bg_model_create_system(p.model, formulation, &p.sys, &err));
    free(copy);
    return p;
}

static plant open_file(const char *name, const char *formulation)
{
    plant p;
    char path[512];
    bg_error err = {BG_OK, ""};
    snprintf(path, sizeof path, "%s/models/%s.json", BOGIE_SOURCE_DIR, name);
    assert_ok(bg_model_read(path, NULL, 0, &p.model, &err));
    assert_ok(bg_model_create_system(p.model, formulation, &p.sys, &err));
    return p;
}

static plant open_reference(const char *reference, const char *formulation)
{
    if (formulation)
        return open_file(reference, formulation);
    return (plant){NULL, create_system(reference, NULL, NULL)};
}

static void close_plant(plant *p)
{
    bg_system_destroy(p->sys);
    if (p->model)
        bg_model_destroy(p->model);
}

static bg_realtime *create(bg_system *sys, const bg_realtime_options *o)
{
    bg_error err = {BG_OK, ""};
    bg_realtime *rt = NULL;
    assert_ok(bg_realtime_create(sys, o, &rt, &err));
    return rt;
}

/* Follows a run step by step: the same bits of the state at every row. */
typedef struct follower {
    bg_realtime *rt;
    const char *what;
    int n, steps;
    bool prepares; /* every other step, so that both ways meet */
} follower;

static bg_status compare_row(void *self, const bg_row *row, bg_error *unused)
{
    (void)unused;
    bg_error err = {BG_OK, ""};
    follower *f = self;
    if (f->steps > 0)
        assert_ok(bg_realtime_step(f->rt, NULL, NULL, &err));
    if (f->prepares && f->steps % 2 == 0)
        bg_realtime_prepare(f->rt);
    f->steps++;
    const bg_state *x = bg_realtime_get_state(f->rt);
    size_t size = (size_t)f->n * sizeof(double);
    if (x->t != row->state->t || memcmp(x->q, row->state->q, size) != 0)
        fail_msg("%s: step %d differs", f->what, f->steps - 1);
    return BG_OK;
}

static void same_as_run(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *formulation, *integrator, *stabilisation;
        double h;
    } cases[] = {
        {"equations:car-axle", NULL, "linear-euler", "project", 1e-3},
        {"equations:car-axle", NULL, "linear-euler", "baumgarte", 1e-3},
        {"equations:andrews", NULL, "euler", "project", 1e-6},
        {"equations:chain", NULL, "linear-euler", "velocity", 1e-3},
        {"five-link-suspension", "joint", "linear-euler", "project", 1e-4},
        {"five-link-suspension", "cartesian", "linear-euler", "project", 1e-4},
        {"slider-crank-3d", "cartesian", "linear-euler", "baumgarte", 1e-3},
        {"iftomm-a01-pendulum", "cartesian", "euler", "project", 1e-3},
        {"vehicle-trailer", "joint", "linear-euler", "project", 1e-3},
    };
    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        const size_t i = k / 2;
        const bool prepares = k % 2 == 1;
        bg_error err = {BG_OK, ""};
        /* two systems: a run and a bg_realtime do not share one */
        plant a = open_reference(cases[i].reference, cases[i].formulation);
        plant b = open_reference(cases[i].reference, cases[i].formulation);
        const bg_system_def *def = bg_system_get_def(a.sys);
        const bg_setting settings[] = {{"stabilisation", cases[i].stabilisation},
                                       {"refresh", prepares ? "3" : "1"}};
        const int nsettings = strcmp(cases[i].integrator, "euler") == 0 ? 1 : 2;
        bg_realtime_options o = bg_default_realtime_options();
        o.integrator = cases[i].integrator;
        o.period = cases[i].h;
        o.settings = settings;
        o.nsettings = nsettings;
        follower f = {create(b.sys, &o), cases[i].reference, def->nq + def->nv + def->nz, 0,
                      prepares};
        bg_run_options run = bg_default_run_options();
        bg_run_report report;
        run.integrator = cases[i].integrator;
        run.method.step = cases[i].h;
        run.method.settings = settings;
        run.method.nsettings = nsettings;
        run.t_end = def->t_start + 1e6 * cases[i].h; /* far away, so that no step is fitted to it */
        run.max_steps = 300;
        run.output_steps = 1;
        run.sink = (bg_sink){.self = &f, .row = compare_row};
        assert_int_equal(bg_run(a.sys, &run, &report, &err), BG_TOO_MANY_STEPS);
        assert_int_equal(f.steps, 301);
        assert_int_equal(report.nevents, 0);
        bg_run_report_clear(&report);
        bg_realtime_destroy(f.rt);
        close_plant(&a);
        close_plant(&b);
    }
}

/* Lags and mean squares of a run's rows, and of steps in real time: the same bits. */
typedef struct filtered {
    bg_realtime *rt;
    int steps;
    double most; /* that the lag is behind */
} filtered;

static bg_status compare_filters(void *self, const bg_row *row, bg_error *unused)
{
    (void)unused;
    bg_error err = {BG_OK, ""};
    filtered *f = self;
    double y[3];
    if (f->steps++ > 0)
        assert_ok(bg_realtime_step(f->rt, NULL, y, &err));
    else
        assert_ok(bg_realtime_calc_outputs(f->rt, y, &err));
    assert_memory_equal(y, row->y, sizeof y);
    f->most = fmax(f->most, fabs(y[1] - y[0]));
    return BG_OK;
}

static void filters_follow_steps(void **state)
{
    (void)state;
    static const char text[] =
        "{'bodies': {'b': {'mass': 1, 'center': [0, 0, -1]}},"
        " 'joints': {'j': {'type': 'revolute', 'bodies': ['ground', 'b'], 'at': [0, 0, 0],"
        "   'axis': [0, 1, 0], 'initial': 1}},"
        " 'outputs': {'a': {'joint': 'j'}, 'lag': {'filter': 'a', 'time': 0.3},"
        "   'rms': {'rms': 'a', 'time': 0.5}}}";
    bg_error err = {BG_OK, ""};
    plant a = open_text(text, "joint"), b = open_text(text, "joint");
    bg_realtime_options o = bg_default_realtime_options();
    o.integrator = "linear-euler";
    o.period = 1e-3;
    filtered f = {.rt = create(b.sys, &o)};
    bg_run_options run = bg_default_run_options();
    bg_run_report report;
    run.integrator = o.integrator;
    run.method.step = o.period;
    run.t_end = 1e3;
    run.max_steps = 1000;
    run.output_steps = 1;
    run.sink = (bg_sink){.self = &f, .row = compare_filters};
    assert_int_equal(bg_run(a.sys, &run, &report, &err), BG_TOO_MANY_STEPS);
    assert_int_equal(f.steps, 1001);
    assert_true(f.most > 0.3);
    bg_run_report_clear(&report);
    bg_realtime_destroy(f.rt);
    close_plant(&a);
    close_plant(&b);
}

static long count_looks(const bg_counters *c)
{
    return c->foresight.terms + c->foresight.constraints;
}

/* What one setting of the method does in a number of steps, against its plan. */
static int compare_with_plan(bg_system *sys, const char *what, const bg_setting *settings,
                             int nsettings, double h)
{
    enum { STEPS = 12 }; /* a multiple of every refresh */
    bg_error err = {BG_OK, ""};
    bg_realtime_options o = bg_default_realtime_options();
    bg_realtime *rt;
    o.period = h;
    o.settings = settings;
    o.nsettings = nsettings;
    if (bg_realtime_create(sys, &o, &rt, &err) != BG_OK) {
        assert_int_equal(err.status, BG_BAD_INPUT); /* of options that exclude each other */
        return 0;
    }
    for (int k = 0; k < STEPS; k++)
        assert_ok(bg_realtime_step(rt, NULL, NULL, &err));
    bg_step_plan plan = bg_realtime_get_plan(rt);
    bg_counters counters = bg_realtime_get_counters(rt);
    const bg_work a = sum_work(&counters);
    const long accepted = counters.accepted, looked = count_looks(&counters);
    for (int k = 0; k < STEPS; k++)
        assert_ok(bg_realtime_step(rt, NULL, NULL, &err));
    counters = bg_realtime_get_counters(rt);
    const bg_work b = sum_work(&counters);
    const long looks = count_looks(&counters) - looked; /* not before every step */
    assert_true(looks <= (long)STEPS * plan.foresight_terms);
    const struct {
        const char *name;
        long done, planned;
    } work[] = {
        {"terms", b.terms - a.terms - looks, STEPS * plan.terms},
        {"explicit", b.explicit_ - a.explicit_, STEPS * plan.explicit_},
        {"Jacobian", b.jacobian - a.jacobian,
         STEPS * plan.jacobian + (plan.jacobian_every > 0 ? STEPS / plan.jacobian_every : 0)},
        {"factorisations", b.factorisations - a.factorisations, STEPS * plan.factorisations},
        {"projections", b.projections - a.projections, STEPS * plan.projections},
    };
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        if (work[i].done != work[i].planned) {
            char text[256] = "";
            for (int k = 0; k < nsettings; k++)
                snprintf(text + strlen(text), sizeof text - strlen(text), " %s=%s",
                         settings[k].name, settings[k].value);
            fail_msg("%s,%s: %ld %s in %d steps, not %ld", what, text, work[i].done, work[i].name,
                     STEPS, work[i].planned);
        }
    assert_int_equal(counters.accepted - accepted, STEPS);
    bg_realtime_destroy(rt);
    return 1;
}

static void work_is_foretold(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"none", "exact", "J1", "J2", "J3", "semi"};
    static const char *const indices[] = {"1", "2", "ggl"};
    static const char *const stabilisations[] = {"none", "baumgarte", "velocity", "project",
                                                 "regularise"};
    static const char *const refreshes[] = {"1", "4"}, *const newtons[] = {"1", "3"};
    static const char *const certificates[] = {"off", "on"};
    static const struct {
        const char *reference, *formulation;
        double h;
    } systems[] = {
        {"equations:car-axle", NULL, 1e-4},      {"equations:circular-track", NULL, 1e-4},
        {"equations:bouncing-ball", NULL, 1e-4}, {"five-link-suspension", "joint", 1e-5},
        {"four-bar", "cartesian", 1e-5},         {"gyroscope", "joint", 1e-5}};
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        plant p = open_reference(systems[s].reference, systems[s].formulation);
        int compared = 0;
        for (int i = 0; i < 6 * 3 * 5 * 4; i++) {
            int rest = i / 90;
            const bg_setting settings[] = {{"jacobian", jacobians[i % 6]},
                                           {"index", indices[i / 6 % 3]},
                                           {"stabilisation", stabilisations[i / 18 % 5]},
                                           {"refresh", refreshes[rest & 1]},
                                           {"newton_steps", newtons[rest >> 1]},
                                           {"certificate", certificates[rest >> 1]}};
            compared += compare_with_plan(p.sys, systems[s].reference, settings, 6, systems[s].h);
        }
        assert_int_equal(compared, 6 * 4 * (15 - 3)); /* refused: ggl with 1 and 2+ggl with 4 */
        close_plant(&p);
    }
}

/* A cart of 2 kg pushed by the input u; w goes its own way. */
static const char cart[] =
    "{'gravity': 0, 'bodies': {'cart': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}},"
    " 'joints': {'rail': {'type': 'prismatic', 'bodies': ['ground', 'cart'], 'at': [0, 0, 0],"
    "  'axis': [1, 0, 0]}}, 'inputs': {'w': 0, 'u': 4, 'kick': {'type': 'jump', 'to': 2, 't0': "
    "0.05}},"
    " 'forces': {'push': {'type': 'torsion', 'joint': 'rail', 'torque': 'u + w + kick'}},"
    " 'outputs': {'x': {'joint': 'rail'}, 'v': {'joint': 'rail', 'derivative': 1},"
    "  'u': {'signal': 'u'}}, 'run': {'t_end': 1}}";

static void live_inputs(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    plant p = open_text(cart, "joint");
    static const char *const inputs[] = {"u"};
    bg_realtime_options o = bg_default_realtime_options();
    o.period = 0.5e-3;
    o.inputs = inputs;
    o.ninputs = 1;
    bg_realtime *rt = create(p.sys, &o);
    assert_int_equal(bg_realtime_get_noutputs(rt), 3);
    assert_string_equal(bg_realtime_get_output_name(rt, 1), "v");
    double y[3], v = 0;
    for (int k = 0; k < 10; k++) /* the model's own signal: 4 N */
        assert_ok(bg_realtime_step(rt, NULL, y, &err));
    v += 10 * 0.5e-3 * 4 / 2;
    assert_near(y[1], v, 1e-15);
    assert_near(y[2], 4, 0);
    for (int k = 0; k < 10; k++) {
        double u = 10 - 3 * k;
        assert_ok(bg_realtime_step(rt, &u, y, &err));
        v += 0.5e-3 * u / 2;
        assert_near(y[1], v, 1e-15);
        assert_near(y[2], u, 0);
    }
    for (int k = 0; k < 10; k++) /* nothing new: the last value */
        assert_ok(bg_realtime_step(rt, NULL, y, &err));
    v += 10 * 0.5e-3 * -17 / 2;
    assert_near(y[1], v, 1e-14);
    /* what is no number costs nothing but the call */
    double bad = NAN, before = bg_realtime_get_state(rt)->t;
    assert_int_equal(bg_realtime_step(rt, &bad, y, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "'u'"));
    assert_near(bg_realtime_get_state(rt)->t, before, 0);
    const unsigned char is_given = 1;
    double one = 6;
    assert_int_equal(bg_realtime_set_inputs(rt, &bad, &is_given, &err), BG_BAD_INPUT);
    assert_ok(bg_realtime_set_inputs(rt, &one, &is_given, &err));
    assert_ok(bg_realtime_step(rt, NULL, y, &err));
    v += 0.5e-3 * 6 / 2;
    assert_near(y[1], v, 1e-14);
    bg_realtime_destroy(rt);
    /* one that is not given: the model's own */
    const unsigned char is_left_out = 0;
    rt = create(p.sys, &o);
    assert_ok(bg_realtime_set_inputs(rt, &bad, &is_left_out, &err));
    assert_ok(bg_realtime_step(rt, NULL, y, &err));
    assert_near(y[2], 4, 0);
    bg_realtime_destroy(rt);
    /* given back to the model */
    o.ninputs = 0;
    rt = create(p.sys, &o);
    assert_ok(bg_realtime_step(rt, NULL, y, &err));
    assert_near(y[2], 4, 0);
    assert_near(y[1], 0.5e-3 * 2, 1e-18);
    bg_realtime_destroy(rt);
    close_plant(&p);
}

/* A joint that follows a live input: with BG_HOLD_SLOPE it has the input's velocity. */
static void input_slope(void **state)
{
    (void)state;
    static const char text[] =
        "{'gravity': 0, 'bodies': {'arm': {'mass': 2, 'center': [1, 0, 0], 'inertia': [1, 1, 1]}},"
        " 'joints': {'pivot': {'type': 'revolute', 'bodies': ['ground', 'arm'], 'at': [0, 0, 0],"
        "  'axis': [0, 0, 1], 'prescribed': 'turn'}}, 'inputs': {'turn': '0*t'},"
        " 'outputs': {'angle': {'joint': 'pivot'}, 'rate': {'joint': 'pivot', 'derivative': 1}},"
        " 'run': {'t_end': 1}}";
    static const char *const inputs[] = {"turn"}, *const outputs[] = {"rate", "angle"};
    const double h = 1e-3, speed = 0.7;
    for (int f = 0; f < 2; f++)
        for (int slope = 0; slope < 2; slope++) {
            bg_error err = {BG_OK, ""};
            plant p = open_text(text, forms[f]);
            bg_realtime_options o = bg_default_realtime_options();
            double y[2] = {0, 0};
            o.period = h;
            o.inputs = inputs;
            o.outputs = outputs;
            o.ninputs = 1;
            o.noutputs = 2;
            o.hold = slope ? BG_HOLD_SLOPE : BG_HOLD_VALUE;
            bg_realtime *rt = create(p.sys, &o);
            for (int k = 0; k < 200; k++) {
                double u = speed * h * k;
                assert_ok(bg_realtime_step(rt, &u, y, &err));
            }
            assert_near(y[0], slope ? speed : 0, 1e-9);
            assert_near(y[1], speed * h * (slope ? 200 : 199), 1e-9);
            for (int k = 0; k < 20; k++) /* nothing new: it stays where the line had led */
                assert_ok(bg_realtime_step(rt, NULL, y, &err));
            assert_near(y[0], 0, 1e-9);
            assert_near(y[1], speed * h * (slope ? 200 : 199), 1e-9);
            bg_realtime_destroy(rt);
            close_plant(&p);
        }
}

static void bad_options(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_realtime *rt;
    plant p = open_text(cart, "joint");
    static const char *const names[] = {"uu", "kick", "kick"};
    bg_realtime_options o = bg_default_realtime_options();
    o.inputs = names;
    o.ninputs = 1;
    assert_int_equal(bg_realtime_create(p.sys, &o, &rt, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "'uu'"));
    assert_null(rt);
    o.inputs = names + 1;
    o.ninputs = 2;
    assert_int_equal(bg_realtime_create(p.sys, &o, &rt, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "twice"));
    o.ninputs = 0;
    o.outputs = names;
    o.noutputs = 1;
    assert_int_equal(bg_realtime_create(p.sys, &o, &rt, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "output 'uu'"));
    o.outputs = NULL;
    o.integrator = "mdop5";
    assert_int_equal(bg_realtime_create(p.sys, &o, &rt, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "linear-euler"));
    o.integrator = "euler";
    for (int k = 0; k < 3; k++) {
        o.period = k == 0 ? 0 : k == 1 ? -1e-3 : NAN;
        assert_int_equal(bg_realtime_create(p.sys, &o, &rt, &err), BG_BAD_INPUT);
        assert_non_null(strstr(err.text, "period"));
    }
    close_plant(&p);
}

/* The jump of an input holds from the step after the one in which its event is. */
static void event_at_end_of_step(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    static const char *const inputs[] = {"u"};
    plant p = open_text(cart, "joint");
    bg_realtime_options o = bg_default_realtime_options();
    o.period = 3e-3; /* 0.05 lies in the 17th step */
    o.inputs = inputs;
    o.ninputs = 1;
    bg_realtime *rt = create(p.sys, &o);
    double y[3], u = 0;
    for (int k = 1; k <= 30; k++) {
        assert_ok(bg_realtime_step(rt, &u, y, &err));
        assert_near(y[1], k <= 17 ? 0 : (k - 17) * 3e-3 * 2 / 2, 1e-15);
        assert_int_equal(bg_realtime_get_nevents(rt), k < 17 ? 0 : 1);
    }
    bg_realtime_destroy(rt);
    close_plant(&p);
}

/* Impacts one by one, then rest; the ball never falls through the ground. */
static void impacts(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:bouncing-ball", NULL, NULL);
    bg_realtime_options o = bg_default_realtime_options();
    o.period = 1e-5;
    bg_realtime *rt = create(sys, &o);
    double y[2];
    assert_int_equal(bg_realtime_get_noutputs(rt), 2);
    assert_string_equal(bg_realtime_get_output_name(rt, 0), "q:y");
    long before = 0;
    double t_first = NAN;
    for (int k = 0; k < 500000; k++) {
        assert_ok(bg_realtime_step(rt, NULL, y, &err));
        assert_true(y[0] >= 0);
        if (bg_realtime_get_nevents(rt) > before && isnan(t_first))
            t_first = bg_realtime_get_state(rt)->t;
        before = bg_realtime_get_nevents(rt);
    }
    assert_near(t_first, sqrt(2 / 9.81), 2e-5); /* first order: within two steps */
    assert_near(y[0], 0, 0);
    assert_near(y[1], 0, 0);
    assert_int_equal(bg_realtime_get_state(rt)->mode[0], 1);
    assert_in_range(before, 27, 29); /* V e^(n+1) < 0.01 from n = 27 on */
    bg_realtime_destroy(rt);
    bg_system_destroy(sys);
}

/* A bead on a circle that an event puts on a larger one, and another that ends the motion. */
static int bead_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    double r = p->mode[0] ? 1.0005 : 1;
    if (want & BG_TERM_M) {
        out->M[0] = out->M[3] = 1;
        out->M[1] = out->M[2] = 0;
    }
    if (want & BG_TERM_f)
        out->f[0] = out->f[1] = 0;
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (p->q[0] * p->q[0] + p->q[1] * p->q[1] - r * r);
    if (want & BG_TERM_G)
        memcpy(out->G, p->q, 2 * sizeof(double));
    if (want & BG_TERM_gamma)
        out->gamma[0] = p->v[0] * p->v[0] + p->v[1] * p->v[1];
    if (want & BG_TERM_s) {
        out->s[0] = p->q[0];
        out->s[1] = p->q[1];
    }
    return 0;
}

static int bead_event(void *self, const bg_event *event, const bg_event_state *x)
{
    (void)self;
    if (event->index == 1)
        return BG_EVENT_STOP;
    x->mode[0] = 1;
    x->v[0] *= 0.5; /* off the constraint: its velocity is projected */
    x->v[1] += 0.25;
    return BG_EVENT_CHANGED;
}

static void change_and_stop(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    static const double q0[2] = {1, 0}, v0[2] = {0, 1};
    static const char *const names[] = {"over", "end"};
    bg_system_def def = bg_default_system_def();
    def.nq = def.nv = def.ns = 2;
    def.ng = def.nmode = def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_s;
    def.terms = bead_terms;
    def.event = bead_event;
    def.s_names = names;
    def.q0 = q0;
    def.v0 = v0;
    bg_system *sys;
    assert_ok(bg_system_create(&def, &sys, &err));
    bg_realtime_options o = bg_default_realtime_options();
    bg_realtime *rt = create(sys, &o);
    const bg_state *x = bg_realtime_get_state(rt);
    bg_status st = BG_OK;
    double y[4], speed = 1;
    /* the start is on s[1] = 0, whose event does not end what has not begun */
    assert_int_equal(bg_realtime_get_nevents(rt), 1);
    int steps = 0, late = 0;
    for (; st == BG_OK && steps < 10000; steps++) {
        st = bg_realtime_step(rt, NULL, y, &err);
        x = bg_realtime_get_state(rt);
        assert_near(x->q[0] * x->v[0] + x->q[1] * x->v[1], 0, 1e-12);
        if (x->mode[0] && ++late == 1)
            speed = hypot(x->v[0], x->v[1]);
        if (late > 5) /* on the larger circle after a few steps of projection */
            assert_near(hypot(x->q[0], x->q[1]), 1.0005, 1e-6);
    }
    assert_int_equal(st, BG_STOPPED);
    assert_near(speed, 0.5, 2e-3);
    assert_near(x->q[0], -1.0005, 1e-5);
    assert_near(x->t, 0.5 * M_PI * (1 + 1.0005 / 0.5), 0.02);
    assert_int_equal(bg_realtime_get_nevents(rt), 3);
    bg_realtime_destroy(rt);
    bg_system_destroy(sys);
}

/* Events that set each other off at the start: one function falls through zero there, which throws
 * another over it, which changes the mode and with it the constraint. */
static int start_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_M) {
        memset(out->M, 0, 9 * sizeof(double));
        out->M[0] = out->M[4] = out->M[8] = 1;
    }
    if (want & BG_TERM_f)
        out->f[0] = out->f[1] = out->f[2] = 0;
    if (want & BG_TERM_g)
        out->g[0] = p->q[2] - (p->mode[0] == 2 ? 0.5 : 0);
    if (want & BG_TERM_G)
        out->G[0] = out->G[1] = 0, out->G[2] = 1;
    if (want & BG_TERM_gamma)
        out->gamma[0] = 0;
    if (want & BG_TERM_s) {
        out->s[0] = p->q[0];
        out->s[1] = p->q[1] - 1;
    }
    return 0;
}

static int start_event(void *self, const bg_event *event, const bg_event_state *x)
{
    (void)self;
    if (event->index == 0 && x->mode[0] == 0) {
        x->mode[0] = 1;
        x->q[1] = 2; /* beyond the zero of the second one */
        return BG_EVENT_CHANGED;
    }
    if (event->index == 1 && x->mode[0] == 1) {
        x->mode[0] = 2;
        return BG_EVENT_CHANGED;
    }
    return BG_EVENT_NOTE;
}

static int start_sides(void *self, const int *mode, int *side)
{
    (void)self;
    side[1] = mode[0] ? 1 : -1;
    return 0;
}

static bg_system *create_chain_of_events(void)
{
    static const double q0[3] = {0, 0, 0}, v0[3] = {-1, 1, 0};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def def = bg_default_system_def();
    def.nq = def.nv = 3;
    def.ns = 2;
    def.ng = def.nmode = def.scleronomic = 1;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_s;
    def.terms = start_terms;
    def.event = start_event;
    def.sides = start_sides;
    def.q0 = q0;
    def.v0 = v0;
    assert_ok(bg_system_create(&def, &sys, &err));
    return sys;
}

static void compare_start(bg_system *sys, const char *what)
{
    bg_error err = {BG_OK, ""};
    const bg_system_def *def = bg_system_get_def(sys);
    bg_realtime_options o = bg_default_realtime_options();
    bg_run_options run = bg_default_run_options();
    bg_run_report report;
    run.t_end = def->t_start;
    run.integrator = o.integrator;
    run.method.step = o.period;
    assert_ok(bg_run(sys, &run, &report, &err));
    bg_realtime *rt = create(sys, &o);
    const bg_state *x = bg_realtime_get_state(rt), *y = report.final;
    size_t size = (size_t)(def->nq + def->nv + def->nz) * sizeof(double);
    if (memcmp(x->q, y->q, size) != 0 ||
        memcmp(x->mode, y->mode, (size_t)def->nmode * sizeof(int)) != 0 ||
        bg_realtime_get_nevents(rt) != report.nevents)
        fail_msg("%s starts otherwise in real time, with %ld events instead of %ld", what,
                 bg_realtime_get_nevents(rt), report.nevents);
    bg_realtime_destroy(rt);
    bg_run_report_clear(&report);
}

/* The start is that of a run, events in several rounds included: all models in both forms, all
 * built-in systems. */
static void start_is_that_of_a_run(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < 2 * files.gl_pathc; k++) {
        char name[128];
        snprintf(name, sizeof name, "%s", strrchr(files.gl_pathv[k / 2], '/') + 1);
        *strrchr(name, '.') = '\0';
        plant p = open_file(name, forms[k % 2]);
        compare_start(p.sys, name);
        close_plant(&p);
    }
    globfree(&files);
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++) {
        char reference[128];
        snprintf(reference, sizeof reference, "equations:%s", (*all)->name);
        bg_system *sys = create_system(reference, NULL, NULL);
        compare_start(sys, reference);
        bg_system_destroy(sys);
    }
    bg_system *sys = create_chain_of_events();
    compare_start(sys, "a chain of events");
    bg_realtime_options o = bg_default_realtime_options();
    bg_realtime *rt = create(sys, &o);
    assert_int_equal(bg_realtime_get_state(rt)->mode[0], 2);
    assert_true(bg_realtime_get_state(rt)->q[2] == 0.5); /* on the constraint of that mode */
    assert_true(bg_realtime_get_nevents(rt) >= 2);
    bg_realtime_destroy(rt);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_run),     cmocka_unit_test(work_is_foretold),
        cmocka_unit_test(live_inputs),     cmocka_unit_test(input_slope),
        cmocka_unit_test(bad_options),     cmocka_unit_test(event_at_end_of_step),
        cmocka_unit_test(impacts),         cmocka_unit_test(filters_follow_steps),
        cmocka_unit_test(change_and_stop), cmocka_unit_test(start_is_that_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

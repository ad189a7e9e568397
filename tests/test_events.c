/* Events: order, touching, start, bursts, double crossings, precision, projected dense output. */
#include "run_support.h"

/* A particle x'' = 0 (or -9.81) with switching functions of time and place that a test chooses. */
typedef struct event_probe {
    double (*s[4])(double t, double x);
    int events[4]; /* how often each fired */
    double start[1], speed[1];
    double acceleration;
    int action; /* what `event` returns */
} event_probe;

static int probe_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    event_probe *x = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = x->acceleration;
    for (int i = 0; (want & BG_TERM_s) && i < 4; i++)
        out->s[i] = x->s[i] ? x->s[i](p->t, p->q[0]) : 1.0;
    return 0;
}

static int probe_event(void *self, const bg_event *event, const bg_event_state *state)
{
    event_probe *x = self;
    (void)state;
    x->events[event->index]++;
    return x->action;
}

static bg_system *create_probe(event_probe *x)
{
    bg_error err = {BG_OK, ""};
    bg_system_def def = bg_default_system_def();
    bg_system *sys;
    def.name = "probe";
    def.nq = def.nv = 1;
    def.ns = 4;
    def.self = x;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_s;
    def.terms = probe_terms;
    def.event = probe_event;
    def.q0 = x->start;
    def.v0 = x->speed;
    def.t_end = 1;
    assert_ok(bg_system_create(&def, &sys, &err));
    return sys;
}

static void run_probe(event_probe *x, bg_run_report *report)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_probe(x);
    bg_run_options o = bg_default_run_options();
    o.skip_comparison = 1; /* the probe counts its events in one run */
    assert_ok(bg_run(sys, &o, report, &err));
    bg_system_destroy(sys);
    for (long i = 1; i < report->nevents; i++)
        assert_true(report->events[i].t >= report->events[i - 1].t);
}

static double at_03(double t, double x)
{
    (void)x;
    return t - 0.3;
}
static double before_03(double t, double x)
{
    (void)x;
    return 0.3 - 1e-9 - t;
}
static double at_07(double t, double x)
{
    (void)x;
    return (t - 0.7) * (t + 1);
}
static double touching(double t, double x)
{
    (void)x;
    return (t - 0.45) * (t - 0.45);
}
static double at_start(double t, double x)
{
    (void)x;
    return t;
}
static double two_close(double t, double x)
{
    (void)x;
    return (t - 0.6) * (t - 0.6) - 1e-8; /* zeros at 0.5999 and 0.6001 */
}
static double almost(double t, double x)
{
    (void)x;
    return (t - 0.6) * (t - 0.6) + 1e-6; /* comes near, does not touch */
}
static double fast(double t, double x)
{
    (void)x;
    return cos(40 * t);
}

/* Several functions in one step (the probe's solution is a line: steps are as long as the run). */
static void test_order(void **state)
{
    (void)state;
    event_probe x = {.s = {at_03, before_03, at_07, NULL}, .speed = {1}};
    bg_run_report r;
    run_probe(&x, &r);
    assert_int_equal(r.nevents, 3);
    assert_int_equal(r.events[0].index, 1);
    assert_int_equal(r.events[1].index, 0);
    assert_int_equal(r.events[2].index, 2);
    assert_int_equal(r.events[0].direction, -1);
    assert_int_equal(r.events[1].direction, 1);
    assert_true(fabs(r.events[0].t - (0.3 - 1e-9)) <= 0.3e-12);
    assert_true(fabs(r.events[1].t - 0.3) <= 0.3e-12);
    assert_true(fabs(r.events[2].t - 0.7) <= 0.7e-12);
    bg_run_report_clear(&r);
}

/* A touch is one event of direction 0, near misses are none, close zeros are two. */
static void test_touch(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        event_probe x = {.s = {touching, two_close, almost, NULL}, .speed = {1}};
        x.action = restart ? BG_EVENT_CHANGED : BG_EVENT_NOTE;
        bg_run_report r;
        run_probe(&x, &r);
        assert_int_equal(x.events[0], 1);
        assert_int_equal(x.events[1], 2);
        assert_int_equal(x.events[2], 0);
        assert_int_equal(r.events[0].direction, 0);
        assert_true(fabs(r.events[0].t - 0.45) < 1e-6); /* a minimum is known to sqrt(eps) only */
        assert_true(fabs(r.events[1].t - 0.5999) <= 1e-12);
        assert_true(fabs(r.events[2].t - 0.6001) <= 1e-12);
        assert_int_equal(r.events[1].direction, -1);
        assert_int_equal(r.events[2].direction, 1);
        bg_run_report_clear(&r);
    }
}

static void test_at_start(void **state)
{
    (void)state;
    for (int restart = 0; restart < 2; restart++) {
        event_probe x = {.s = {at_start, at_07, NULL, NULL}, .speed = {1}};
        x.action = restart ? BG_EVENT_CHANGED : BG_EVENT_NOTE;
        bg_run_report r;
        run_probe(&x, &r);
        assert_int_equal(r.nevents, 2);
        assert_true(r.events[0].t == 0);
        assert_int_equal(r.events[0].index, 0);
        assert_int_equal(r.events[0].direction, 1);
        assert_int_equal(x.events[0], 1);
        assert_int_equal(x.events[1], 1);
        bg_run_report_clear(&r);
    }
}

static void test_stop(void **state)
{
    (void)state;
    event_probe x = {.s = {NULL, at_03, at_07, NULL}, .speed = {1}, .action = BG_EVENT_STOP};
    bg_run_report r;
    run_probe(&x, &r);
    assert_int_equal(r.nevents, 1);
    assert_true(fabs(r.final->t - 0.3) <= 1e-12 && fabs(r.final->q[0] - 0.3) <= 1e-12);
    bg_run_report_clear(&r);
}

/* Many zeros per run: 12 of cos(40 t) in [0, 1], with steps limited to what resolves them. */
static void test_many(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    event_probe x = {.s = {fast, NULL, NULL, NULL}, .speed = {1}};
    bg_system *sys = create_probe(&x);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.method.h_max = 0.2; /* two to three zeros in a step */
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(r.nevents, 13);
    for (int k = 0; k < 13; k++) {
        assert_true(fabs(r.events[k].t - (k + 0.5) * M_PI / 40) <= 1e-12);
        assert_int_equal(r.events[k].direction, k % 2 ? 1 : -1);
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

static double fast_sine(double t, double x)
{
    (void)x;
    return sin(40 * M_PI * t + 0.1);
}
static double three_close(double t, double x)
{
    (void)x;
    return (t - 0.3) * (t - 0.31) * (t - 0.32);
}
static double dead_zone(double t, double x)
{
    (void)x;
    return fmax(0.25 - t, 0) - fmax(0, t - 0.75);
}
static double reaches_and_returns(double t, double x)
{
    (void)x;
    return fmax(0.25 - t, 0) + fmax(0, t - 0.75);
}

/* Functions that vary faster than the step (which is as long as the run): none of their zeros is
 * missed. A function that rests at zero is reported when it gets there, and when it comes back. */
static void test_fast_and_flat(void **state)
{
    (void)state;
    event_probe x = {.s = {fast_sine, three_close, dead_zone, reaches_and_returns}, .speed = {1}};
    bg_run_report r;
    run_probe(&x, &r);
    assert_int_equal(x.events[0], 40);
    assert_int_equal(x.events[1], 3);
    assert_int_equal(x.events[2], 1);
    assert_int_equal(x.events[3], 2);
    int k = 0;
    for (long i = 0; i < r.nevents; i++) {
        const bg_event *e = &r.events[i];
        if (e->index == 0)
            assert_true(fabs(e->t - (++k - 0.1 / M_PI) / 40) <= 1e-12);
        if (e->index >= 2)
            assert_true(fabs(e->t - (e->direction < 0 ? 0.25 : 0.75)) <= 1e-12);
    }
    bg_run_report_clear(&r);
}

/* One first-order state with a mode: what the relays below have in common. */
static bg_system_def define_relay(void)
{
    bg_system_def def = bg_default_system_def();
    def.nz = def.ns = def.nmode = 1;
    def.supplied = BG_TERM_h | BG_TERM_s;
    return def;
}

/* A relay with hysteresis: z' = 1 or -1, switched at 0.6 and at 0.4. The threshold jumps with the
 * mode, so after its event the function is far from zero. */
static int relay_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_h)
        out->h[0] = p->mode[0] ? -1 : 1;
    if (want & BG_TERM_s)
        out->s[0] = p->z[0] - (p->mode[0] ? 0.4 : 0.6);
    return 0;
}

static int relay_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    (void)event;
    state->mode[0] = !state->mode[0];
    return BG_EVENT_CHANGED;
}

static void test_hysteresis(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    const double z0[1] = {0.5};
    bg_system *sys;
    bg_system_def def = define_relay();
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    def.terms = relay_terms;
    def.event = relay_event;
    def.z0 = z0;
    def.t_end = 2;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(r.nevents, 10);
    for (int i = 0; i < 10; i++)
        assert_true(fabs(r.events[i].t - (0.1 + 0.2 * i)) <= 1e-12);
    assert_true(fabs(r.final->z[0] - 0.5) < 1e-12);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* Three balls that hit the ground at the same time, or 1e-13 s apart: each impact is handled. */
static int balls_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    for (int i = 0; i < 3; i++) {
        if (want & BG_TERM_M)
            out->M[4 * i] = 1;
        if (want & BG_TERM_f)
            out->f[i] = -9.81;
        if (want & BG_TERM_s)
            out->s[i] = p->q[i];
    }
    return 0;
}

static int balls_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    if (event->direction >= 0)
        return BG_EVENT_NOTE;
    state->v[event->index] *= -0.8;
    return BG_EVENT_CHANGED;
}

static void test_simultaneous(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 3; k++) {
        double q0[3] = {1, 1 + (k ? 4.43e-13 : 0), 1 - (k == 2 ? 4.43e-13 : 0)};
        bg_system *sys;
        bg_system_def def = bg_default_system_def();
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        def.nq = def.nv = def.ns = 3;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_s;
        def.terms = balls_terms;
        def.event = balls_event;
        def.q0 = q0;
        assert_ok(bg_system_create(&def, &sys, &err));
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_int_equal(r.nevents, 3);
        double t = 1 - sqrt(2 / 9.81), expected = 0.8 * sqrt(2 * 9.81) * t - 0.5 * 9.81 * t * t;
        for (int i = 0; i < 3; i++)
            assert_true(fabs(r.final->q[i] - expected) < 1e-9);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
}

/* An ideal relay: v' = -1 above zero, +1 below. It has no motion at v = 0 that its modes describe;
 * that is said, not glossed over. */
static int ideal_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_h)
        out->h[0] = p->mode[0] ? 1 : -1;
    if (want & BG_TERM_s)
        out->s[0] = p->z[0];
    return 0;
}

static int ideal_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    state->mode[0] = event->direction < 0;
    return BG_EVENT_CHANGED;
}

static void test_ideal_relay(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    const double z0[1] = {1};
    bg_system *sys;
    bg_system_def def = define_relay();
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    def.terms = ideal_terms;
    def.event = ideal_event;
    def.z0 = z0;
    def.t_end = 3;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_EVENT_STUCK);
    assert_true(fabs(r.events[0].t - 1) <= 1e-12);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* A latch: z' = 1 until z = 1, where it is held; released at t = 2 with z' = -1. While it is held
 * the function s[0] is off (a constant); switching it on again at zero is no event. */
static int latch_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    if (want & BG_TERM_h)
        out->h[0] = p->mode[0] == 0 ? 1 : p->mode[0] == 1 ? 0 : -1;
    if (want & BG_TERM_s) {
        out->s[0] = p->mode[0] == 1 ? 1 : p->z[0] - 1;
        out->s[1] = p->t - 2;
    }
    return 0;
}

static int latch_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    state->mode[0] = event->index == 0 ? 1 : 2;
    return BG_EVENT_CHANGED;
}

static void test_latch(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def def = define_relay();
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    def.ns = 2;
    def.terms = latch_terms;
    def.event = latch_event;
    def.t_end = 3;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(r.nevents, 2);
    assert_true(fabs(r.events[0].t - 1) <= 1e-12 && fabs(r.events[1].t - 2) <= 1e-12);
    assert_true(fabs(r.final->z[0]) < 1e-9);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* An answer that means nothing is refused. */
static void test_garbage(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    event_probe x = {.s = {at_03, NULL, NULL, NULL}, .speed = {1}, .action = 7};
    bg_system *sys = create_probe(&x);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_SYSTEM_FAILED);
    assert_non_null(strstr(err.text, "bg_event_action"));
    assert_true(r.final->t <= 0.3); /* nothing behind the event is part of the result */
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

static int edge_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    (void)event;
    state->q[0] = 0; /* put back to the edge, still moving out */
    return BG_EVENT_CHANGED;
}

static double place(double t, double x)
{
    (void)t;
    return x;
}

/* A state put back onto the zero by its own event does not fire again. */
static void test_not_repeated(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    event_probe x = {.s = {place, NULL, NULL, NULL}, .start = {0.5}, .speed = {-1}};
    bg_system *sys = create_probe(&x);
    bg_system_def def = *bg_system_get_def(sys);
    bg_system_destroy(sys);
    def.event = edge_event;
    assert_ok(bg_system_create(&def, &sys, &err));
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_status st = bg_run(sys, &o, &r, &err);
    /* back at zero and still moving out: the function is on its new side and stays there */
    assert_int_equal(st, BG_OK);
    assert_int_equal(r.nevents, 1);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* The built-in ball: closed form of all impact times, the rest at the end, and the energy balance.
 */
static void test_ball(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem5"};
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 2; k++) {
        bg_system *sys = create_system("equations:bouncing-ball", NULL, NULL);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.integrator = methods[k];
        o.method.rtol = o.method.atol = 1e-8;
        assert_ok(bg_run(sys, &o, &r, &err));
        double t = sqrt(2 * 1.0 / 9.81), v = 9.81 * t, e = 0.8;
        assert_true(r.nevents > 20);
        for (long i = 0; i < r.nevents; i++) {
            assert_true(fabs(r.events[i].t - t) <= 1e-12 * t * (double)(i + 1));
            v *= e;
            t += 2 * v / 9.81;
        }
        assert_true(r.final->t == 5 && r.final->q[0] == 0 && r.final->v[0] == 0);
        assert_int_equal(r.final->mode[0], 1);
        assert_true(r.certificate.energy_error < 1e-11);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
}

/* Without a rest threshold the flights shrink for ever: a clear end, not a hang. */
static void test_zeno(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:bouncing-ball", "rest_speed", "1e-300");
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    bg_status st = bg_run(sys, &o, &r, &err);
    assert_int_equal(st, BG_EVENT_STUCK);
    assert_non_null(strstr(err.text, "ground"));
    assert_true(r.nevents > 100 && r.nevents < 1000);
    assert_true(fabs(r.final->t - 9 * sqrt(2 / 9.81)) <
                1e-6); /* (1+e)/(1-e) times the first fall */
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* Zero crossings of the constrained pendulum against the exact quarter periods, through projected
 * dense output, for both methods and with little and much projection. */
static void test_pendulum(void **state)
{
    (void)state;
    static const char *const methods[] = {"mdop5", "hem5"};
    static const char *const modes[] = {"none", "control", "every-step"};
    bg_error err = {BG_OK, ""};
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < 3; m++) {
            bg_system *sys = create_system("equations:pendulum", NULL, NULL);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            bg_setting s = {"projection", modes[m]};
            o.integrator = methods[k];
            o.method.rtol = o.method.atol = 1e-11;
            o.method.settings = &s;
            o.method.nsettings = 1;
            assert_ok(bg_run(sys, &o, &r, &err));
            /* from rest at 90 degrees: a quarter period is K(1/sqrt 2)/sqrt(g) */
            double quarter = 1.8540746773013719 / sqrt(9.81);
            assert_int_equal(r.nevents, 8);
            for (int i = 0; i < 8; i++) {
                assert_true(fabs(r.events[i].t - (2 * i + 1) * quarter) < 2e-9);
                assert_int_equal(r.events[i].direction, i % 2 ? -1 : 1);
            }
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
}

/* A pendulum given in full here, with a switching function that a test chooses. */
typedef struct drifting {
    double level, q0[2];
    int lowest; /* non-zero: s = y + 1, which the lowest point touches */
} drifting;

static int drifting_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const drifting *d = self;
    const double *q = p->q, *v = p->v;
    if (want & BG_TERM_M)
        out->M[0] = out->M[3] = 1;
    if (want & BG_TERM_f)
        out->f[1] = -9.81;
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1);
    if (want & BG_TERM_G) {
        out->G[0] = q[0];
        out->G[1] = q[1];
    }
    if (want & BG_TERM_gamma)
        out->gamma[0] = v[0] * v[0] + v[1] * v[1];
    if (want & BG_TERM_s) /* on the constraint: constant = level */
        out->s[0] = d->lowest ? q[1] + 1 : q[0] * q[0] + q[1] * q[1] - 1 + d->level;
    return 0;
}

static bg_system *create_drifting(drifting *d, double t_end)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def def = bg_default_system_def();
    def.nq = def.nv = 2;
    def.ng = def.ns = 1;
    def.self = d;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma | BG_TERM_s;
    def.scleronomic = 1;
    def.terms = drifting_terms;
    def.q0 = d->q0;
    def.t_end = t_end;
    assert_ok(bg_system_create(&def, &sys, &err));
    return sys;
}

/* Loose tolerance: plain dense output leaves the constraint by more than the level, so that s
 * changes sign there although on the constraint it never does. The enclosure is lost in phase 2,
 * the step is repeated shorter, and no event is reported. */
static void test_lost_enclosure(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    int repeated = 0;
    for (int sign = -1; sign <= 1; sign += 2) {
        drifting d = {sign * 1e-7, {-1, 0}, 0};
        bg_system *sys = create_drifting(&d, 2);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.method.rtol = o.method.atol = 1e-3;
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_int_equal(r.nevents, 0);
        repeated += (int)r.counters.rejected;
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
    assert_true(repeated > 5);
}

/* The lowest point of a pendulum touches y = -1: every pass is one event of direction 0, although
 * plain dense output lies now above, now below. */
static void test_touch_on_constraint(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    drifting d = {0, {-1, 0}, 1};
    bg_system *sys = create_drifting(&d, 10);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    for (int k = 0; k < 3; k++) {
        o.method.rtol = o.method.atol = k == 0 ? 1e-5 : k == 1 ? 1e-7 : 1e-9;
        assert_ok(bg_run(sys, &o, &r, &err));
        double quarter = 1.8540746773013719 / sqrt(9.81);
        assert_int_equal(r.nevents, 8);
        for (int i = 0; i < 8; i++) {
            assert_int_equal(r.events[i].direction, 0);
            assert_true(fabs(r.events[i].t - (2 * i + 1) * quarter) < 1e3 * o.method.rtol + 1e-6);
        }
        bg_run_report_clear(&r);
    }
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_touch),
        cmocka_unit_test(test_at_start),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_not_repeated),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_zeno),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_lost_enclosure),
        cmocka_unit_test(test_fast_and_flat),
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_ideal_relay),
        cmocka_unit_test(test_latch),
        cmocka_unit_test(test_touch_on_constraint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The certificate of drift of euler and linear-euler: on random curved constraints, standing and
 * moving, and on mechanisms in both forms, no |g| is ever beyond a bound that is printed, and where
 * none is, a sentence says why. |g| is measured here, from the state of every step. */
#include "evaluator_support.h"
#include "model_support.h"

#include "system/system.h"

/* A point on a curve of the plane, or of space with a second one. */
enum { SINE, CIRCLE, RISING, MOVING, PAIR, CURVES };
enum { RUNS = SANITIZED ? 300 : 1500 };

typedef struct curve {
    int kind;
    double A, k, w; /* m, 1/m, rad/s */
    double q0[3], v0[3];
} curve;

/* y = F(x, t) and its derivatives F_x, F_xx, F_t, F_xt, F_tt. */
static void calc_height(const curve *c, double x, double t, double F[6])
{
    double s = sin(c->k * x - c->w * t), o = cos(c->k * x - c->w * t);
    if (c->kind == RISING) {
        const double values[] = {
            c->A * c->k * x * x * x, 3 * c->A * c->k * x * x, 6 * c->A * c->k * x, 0, 0, 0};
        memcpy(F, values, sizeof values);
        return;
    }
    const double values[] = {c->A * s,         c->A * c->k * o,        -c->A * c->k * c->k * s,
                             -c->A * c->w * o, c->A * c->k * c->w * s, -c->A * c->w * c->w * s};
    memcpy(F, values, sizeof values);
}

static int curve_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const curve *c = self;
    const double *q = p->q, *v = p->v;
    int n = c->kind == PAIR ? 3 : 2;
    double F[6];
    calc_height(c, q[0], p->t, F);
    for (int i = 0; i < n && (want & BG_TERM_M); i++)
        out->M[i * n + i] = 1 + 0.7 * i;
    for (int i = 0; i < n && (want & BG_TERM_f); i++)
        out->f[i] = i == 1 ? -9.81 : 0.3 * sin(3 * p->t);
    if (c->kind == CIRCLE) {
        if (want & BG_TERM_g)
            out->g[0] = q[0] * q[0] + q[1] * q[1] - c->A * c->A;
        if (want & BG_TERM_G)
            out->G[0] = 2 * q[0], out->G[1] = 2 * q[1];
        if (want & BG_TERM_gamma)
            out->gamma[0] = 2 * (v[0] * v[0] + v[1] * v[1]);
        if (want & BG_TERM_gt)
            out->gt[0] = 0;
        return 0;
    }
    if (want & BG_TERM_g)
        out->g[0] = q[1] - F[0];
    if (want & BG_TERM_gt)
        out->gt[0] = -F[3];
    if (want & BG_TERM_G)
        out->G[0] = -F[1], out->G[1] = 1;
    if (want & BG_TERM_gamma)
        out->gamma[0] = -F[2] * v[0] * v[0] - 2 * F[4] * v[0] - F[5];
    if (c->kind != PAIR)
        return 0;
    double s = sin(0.7 * c->k * q[0]), o = cos(0.7 * c->k * q[0]), B = 0.6 * c->A, l = 0.7 * c->k;
    if (want & BG_TERM_g)
        out->g[1] = q[2] - B * o;
    if (want & BG_TERM_gt)
        out->gt[1] = 0;
    if (want & BG_TERM_G)
        out->G[3] = B * l * s, out->G[5] = 1;
    if (want & BG_TERM_gamma)
        out->gamma[1] = B * l * l * o * v[0] * v[0];
    return 0;
}

static bg_system *create_curve(curve *c)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def def = bg_default_system_def();
    def.name = "curve";
    def.nq = def.nv = c->kind == PAIR ? 3 : 2;
    def.ng = c->kind == PAIR ? 2 : 1;
    def.self = c;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma;
    def.scleronomic = c->w == 0;
    def.terms = curve_terms;
    def.q0 = c->q0;
    def.v0 = c->v0;
    def.t_end = 1e9;
    assert_ok(bg_system_create(&def, &sys, &err));
    return sys;
}

static double uniform(double from, double to)
{
    return from + (to - from) * rand() / RAND_MAX;
}

static void draw_curve(curve *c, int kind)
{
    double speed = uniform(0.2, 8);
    *c = (curve){.kind = kind, .A = pow(10, uniform(-3, 0)), .k = pow(10, uniform(-0.5, 1.2))};
    c->w = kind == MOVING ? uniform(1, 20) : 0;
    c->q0[0] = kind == CIRCLE ? c->A : uniform(-1, 1);
    c->v0[kind == CIRCLE] = kind == CIRCLE ? speed * c->A : speed;
}

typedef struct drift_tally {
    int holds, withdrawn, tight; /* tight: at most 50 times what was seen */
} drift_tally;

/* Steps of sys; the bound against |g| as it is. Steps that fail end the run. */
static void follow(bg_system *sys, const bg_integrator_options *o, const char *method, int steps,
                   const char *what, drift_tally *n)
{
    bg_error err = {BG_OK, ""};
    const bg_system_def *def = bg_system_get_def(sys);
    bg_integrator *ig;
    bg_state *x;
    bg_assembly_report assembly;
    bg_drift drift;
    double *g = calloc((size_t)def->ng, sizeof *g), largest = 0;
    bg_terms out = {.g = g};
    bg_evaluator *ev = new_evaluator(sys);
    assert_ok(bg_integrator_create(method, sys, o, &ig, &err));
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_state_assemble(sys, x, &assembly, &err));
    assert_ok(bg_integrator_start(ig, x, &assembly.redundancy, 1e9, &err));
    for (int k = 0; k < steps && bg_integrator_step(ig, &err) == BG_OK; k++) {
        const bg_state *s = bg_integrator_get_state(ig);
        bg_point p;
        assert_ok(bg_system_set_point(ev, s->t, s->q, s->v, s->z, s->mode, &p, &err));
        assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_g, &out, &err));
        for (int i = 0; i < def->ng; i++)
            largest = fmax(largest, fabs(g[i]));
    }
    assert_true(bg_integrator_get_drift(ig, &drift));
    assert_true(drift.holds ? drift.why == NULL : drift.why && strlen(drift.why) > 20);
    assert_true(drift.holds != isnan(drift.limit));
    if (drift.holds && !(largest <= drift.limit))
        fail_msg("%s: |g| reached %g, which was to stay below %g", what, largest, drift.limit);
    assert_true(!drift.holds || drift.observed == largest);
    n->holds += drift.holds;
    n->withdrawn += !drift.holds;
    n->tight += drift.holds && drift.limit < 50 * largest;
    bg_assembly_report_clear(&assembly);
    bg_integrator_destroy(ig);
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    free(g);
}

static void test_curves(void **state)
{
    (void)state;
    static const char *const jacobians[] = {"none", "exact", "J1", "J2", "J3", "semi"};
    static const char *const indices[] = {"1", "2", "ggl"};
    drift_tally n = {0};
    srand(11);
    for (int run = 0; run < RUNS; run++) {
        char what[160];
        curve c;
        draw_curve(&c, run % CURVES);
        bg_setting settings[] = {{"jacobian", jacobians[rand() % 6]},
                                 {"index", indices[rand() % 3]},
                                 {"newton_steps", rand() % 4 ? "1" : "2"},
                                 {"certificate", "on"}};
        bg_integrator_options o = bg_default_integrator_options();
        o.step = pow(10, uniform(-4, -1.5));
        o.settings = settings;
        o.nsettings = 4;
        snprintf(what, sizeof what, "run %d, curve %d, A %g, k %g, h %g, %s, index %s", run, c.kind,
                 c.A, c.k, o.step, settings[0].value, settings[1].value);
        bg_system *sys = create_curve(&c);
        follow(sys, &o, "linear-euler", 400, what, &n);
        bg_system_destroy(sys);
    }
    print_message("%d bounds hold, %d of them within 50 times what was seen; %d withdrawn\n",
                  n.holds, n.tight, n.withdrawn);
    assert_true(n.holds > RUNS / 2 && n.tight > n.holds / 2 && n.withdrawn > RUNS / 75);
}

/* All models in both forms, as far as they have constraints: quaternions, closed loops, a redundant
 * constraint, events; small steps and large. */
static void test_mechanisms(void **state)
{
    (void)state;
    static const char *const models[] = {"double-wishbone",
                                         "five-link-suspension",
                                         "four-bar",
                                         "front-axle",
                                         "gyroscope",
                                         "iftomm-a01-pendulum",
                                         "iftomm-a02-four-bars",
                                         "iftomm-a03-andrews",
                                         "iftomm-a04-bricard",
                                         "iftomm-a05-governor",
                                         "n-pendulum",
                                         "passenger-car",
                                         "rear-axle-stamp",
                                         "slider-crank-3d",
                                         "vehicle-trailer-spring",
                                         "vehicle-trailer"};
    enum { MODELS = sizeof models / sizeof *models };
    drift_tally n = {0};
    for (int run = 0; run < MODELS * 2 * 2; run++) {
        const char *name = models[run % MODELS], *form = forms[run / MODELS % 2];
        char path[256], what[160];
        bg_error err = {BG_OK, ""};
        bg_setting settings[] = {{"jacobian", run % 3 == 0 ? "exact" : "J2"},
                                 {"certificate", "on"}};
        bg_integrator_options o = bg_default_integrator_options();
        bg_model *model;
        bg_system *sys;
        o.step = run < 2 * MODELS ? 2e-4 : 1e-2;
        o.settings = settings;
        o.nsettings = 2;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", name);
        snprintf(what, sizeof what, "%s, %s form, h %g", name, form, o.step);
        assert_ok(bg_model_read(path, NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, form, &sys, &err));
        if (bg_system_get_def(sys)->ng > 0)
            follow(sys, &o, "linear-euler", 60, what, &n);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    print_message("%d bounds hold, %d withdrawn\n", n.holds, n.withdrawn);
    assert_true(n.holds >= 25 && n.withdrawn > 0);
}

/* auto looks at small systems and leaves large ones alone. */
static void test_choice(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        bg_error err = {BG_OK, ""};
        bg_integrator_options o = bg_default_integrator_options();
        bg_model *model;
        bg_system *sys;
        bg_integrator *ig;
        bg_drift drift;
        o.step = 1e-3;
        assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL, 0,
                                &model, &err));
        assert_ok(bg_model_create_system(model, forms[f], &sys, &err));
        assert_ok(bg_integrator_create("linear-euler", sys, &o, &ig, &err));
        assert_int_equal(bg_integrator_get_drift(ig, &drift), f == 0);
        bg_integrator_destroy(ig);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_mechanisms),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* FMUs of both versions, driven by the importer in fmu_support.h. */
#include "fmu_support.h"

#include "run/problem.h"
#include "run/session.h"

#include <pthread.h>
#include <sys/stat.h>

enum { ROWS = 4096, INTERVALS_A_SECOND = 64 };
static const double interval = 1.0 / INTERVALS_A_SECOND;

/* A model, how it is run, and for how many intervals. */
typedef struct example {
    const char *model, *integrator;
    double step; /* s, 0: error control */
    int intervals;
    const char *setting[2]; /* name, value */
} example;

static const example examples[] = {
    {"five-link-suspension", "mdop5", 0, 64, {"parameters.speed", "20"}},
    {"slider-crank-3d", "bdf", 0, 64, {NULL, NULL}},
    {"tilting-table", "auto", 0, 96, {NULL, NULL}},
    {"n-pendulum", "sdirk4", 0, 16, {NULL, NULL}},
    {"vehicle-trailer", "adams", 0, 24, {NULL, NULL}},
    {"four-bar", "hem4", 0, 64, {NULL, NULL}},
    {"double-wishbone", "linear-euler", 1.0 / 1024, 32, {NULL, NULL}},
    {"quarter-car-c", "prk38", 1.0 / 2048, 32, {NULL, NULL}},
};
enum { EXAMPLES = SANITIZED ? 3 : sizeof examples / sizeof *examples };

static bg_problem *open_problem(const example *e)
{
    bg_error err = {0};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    char path[256];
    const bg_setting setting = {e->setting[0], e->setting[1]};
    snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", e->model);
    def.reference = path;
    def.integrator = e->integrator;
    def.step = e->step > 0 ? e->step : NAN;
    def.output_interval = interval;
    def.t_end = e->intervals * interval;
    def.settings = &setting;
    def.nsettings = setting.name != NULL;
    assert_ok(bg_problem_create(&def, &problem, &err));
    return problem;
}

/* Outputs of a run at every interval. */
typedef struct fmu_rows {
    int ny, count;
    double *y; /* [ROWS ny] */
} fmu_rows;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    fmu_rows *r = self;
    (void)err;
    assert_true(r->count < ROWS);
    memcpy(r->y + (size_t)r->count++ * (size_t)r->ny, row->y, (size_t)r->ny * sizeof(double));
    return BG_OK;
}

static fmu_rows run(const bg_problem *problem)
{
    bg_error err = {0};
    bg_run_options options = bg_problem_get_run_options(problem);
    bg_run_report report;
    fmu_rows r = {.ny = bg_system_get_def(bg_problem_get_system(problem))->ny};
    r.y = calloc((size_t)ROWS * (size_t)r.ny, sizeof(double));
    options.sink = (bg_sink){.self = &r, .row = take_row};
    options.skip_comparison = 1;
    assert_ok(bg_run(bg_problem_get_system(problem), &options, &report, &err));
    bg_run_report_clear(&report);
    return r;
}

/* References of the outputs of a problem, in their order. */
static unsigned *list_outputs(const fmu *f, int n)
{
    unsigned *references = calloc((size_t)n, sizeof *references);
    const char *at = f->xml;
    for (int k = 0; k < n; k++) {
        at = strstr(at, "causality=\"output\"");
        assert_non_null(at);
        const char *before = at;
        while (strncmp(before, "valueReference=\"", 16) != 0)
            before--;
        references[k] = (unsigned)strtoul(before + 16, NULL, 10);
        at++;
    }
    assert_null(strstr(at, "causality=\"output\""));
    return references;
}

static void assert_row(const example *e, int version, int k, const double *y, const fmu_rows *r)
{
    for (int i = 0; i < r->ny; i++) {
        const double other = r->y[(size_t)k * (size_t)r->ny + (size_t)i];
        if (memcmp(&y[i], &other, sizeof other) != 0)
            fail_msg("%s, FMI %d, interval %d, output %d: %.17g, run %.17g", e->model, version, k,
                     i, y[i], other);
    }
}

/* All intervals of an example, beside the run. */
static void drive(const example *e, const fmu *f, const fmu_rows *r)
{
    instance x;
    double *y = calloc((size_t)r->ny, sizeof *y);
    unsigned *references = list_outputs(f, r->ny);
    open_instance(&x, f);
    assert_int_equal(enter(&x, 0, e->intervals * interval), 0);
    assert_int_equal(leave(&x), 0);
    for (int k = 0; k <= e->intervals; k++) {
        assert_int_equal(get(&x, references, (size_t)r->ny, y), 0);
        assert_row(e, f->version, k, y, r);
        if (k < e->intervals && step(&x, k * interval, interval) != 0)
            fail_msg("%s: %s", e->model, x.log);
        assert_true(k == e->intervals || x.last == (k + 1) * interval);
    }
    assert_int_equal(x.errors, 0);
    assert_int_equal(f->version == 2 ? (int)f->v2.Terminate(x.c) : (int)f->v3.Terminate(x.c), 0);
    close_instance(&x);
    free(references);
    free(y);
}

/* Without inputs from outside steps are those of a run: outputs are the same, bit by bit. */
static void test_models(void **state)
{
    (void)state;
    for (int k = 0; k < EXAMPLES; k++) {
        bg_problem *problem = open_problem(&examples[k]);
        fmu_rows r = run(problem);
        assert_int_equal(r.count, examples[k].intervals + 1);
        for (int version = 2; version <= 3; version++) {
            fmu f;
            make_fmu(problem, version, NULL, examples[k].model, &f);
            drive(&examples[k], &f, &r);
            unload_fmu(&f);
        }
        free(r.y);
        bg_problem_destroy(problem);
    }
}

static void assert_same(const example *e, const char *what, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s, %s: output %d is %.17g and %.17g", e->model, what, i, a[i], b[i]);
}

/* A state saved in the middle of a run, inside of a step of the method as a rule, leads on bit by
 * bit: in the same instance, in another one from bytes, and in the one it was taken from. */
static void check_states(const example *e, const fmu *f)
{
    enum { BEFORE = 7, BEHIND = 9 };
    const bg_problem *problem = open_problem(e);
    const int ny = bg_system_get_def(bg_problem_get_system(problem))->ny;
    bg_problem_destroy((bg_problem *)problem);
    unsigned *references = list_outputs(f, ny);
    double *plain = calloc((size_t)ny * 2, sizeof *plain), *other = plain + ny;
    void *saved = NULL, *copy = NULL;
    instance x, y, z;
    size_t size;
    open_instance(&x, f);
    open_instance(&y, f);
    open_instance(&z, f);
    assert_int_equal(enter(&x, 0, NAN) + enter(&y, 0, NAN), 0);
    assert_int_equal(leave(&x) + leave(&y), 0);
    const double h = e->step > 0 ? 8 * e->step : interval / 3;
    for (int k = 0; k < BEFORE + BEHIND; k++) {
        assert_int_equal(step(&x, k * h, h), 0);
        assert_int_equal(step(&y, k * h, h), 0);
        if (k == BEFORE - 1)
            assert_int_equal(save(&y, &saved), 0);
    }
    get(&x, references, (size_t)ny, plain);
    get(&y, references, (size_t)ny, other);
    assert_same(e, "saved", plain, other, ny);
    char *bytes = serialise(&y, saved, &size);
    assert_int_equal(deserialise(&z, bytes, size, &copy), 0);
    assert_int_equal(restore(&y, saved) + restore(&z, copy), 0);
    for (int k = BEFORE; k < BEFORE + BEHIND; k++) {
        if (step(&y, k * h, h) != 0 || step(&z, k * h, h) != 0)
            fail_msg("%s: %s%s", e->model, y.log, z.log);
    }
    get(&y, references, (size_t)ny, other);
    assert_same(e, "restored", plain, other, ny);
    get(&z, references, (size_t)ny, other);
    assert_same(e, "from bytes", plain, other, ny);
    bytes[size / 2] ^= 1;
    void *damaged = NULL;
    assert_int_equal(deserialise(&z, bytes, size, &damaged), 3);
    assert_null(damaged);
    forget(&y, &saved);
    forget(&z, &copy);
    free(bytes);
    close_instance(&x);
    close_instance(&y);
    close_instance(&z);
    free(references);
    free(plain);
}

static void test_states(void **state)
{
    (void)state;
    for (int k = 0; k < EXAMPLES; k++) {
        bg_problem *problem = open_problem(&examples[k]);
        fmu f;
        make_fmu(problem, 2 + k % 2, NULL, "states", &f);
        check_states(&examples[k], &f);
        unload_fmu(&f);
        bg_problem_destroy(problem);
    }
}

/* A mass on a spring, pushed by an input, and a slide that follows another one. */
static const char plant[] =
    "{\"parameters\": {\"heavy\": 2, \"stiff\": \"9*heavy\", \"high\": 1e4},"
    " \"gravity\": [0, 0, 0],"
    " \"bodies\": {\"block\": {\"mass\": \"heavy\", \"center\": [0, 0, 0], \"inertia\": [1, 1, 1]},"
    "              \"led\": {\"mass\": 1, \"center\": [0, 1, 0], \"inertia\": [1, 1, 1]}},"
    " \"joints\": {\"slide\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"block\"],"
    "                          \"at\": [0, 0, 0], \"axis\": [1, 0, 0]},"
    "              \"rail\": {\"type\": \"prismatic\", \"bodies\": [\"ground\", \"led\"],"
    "                         \"at\": [0, 1, 0], \"axis\": [1, 0, 0], \"prescribed\": \"way\"}},"
    " \"inputs\": {\"push\": 0, \"way\": 0, \"sound\": \"sin(t)\"},"
    " \"forces\": {\"pull\": {\"type\": \"force\", \"at\": \"block\","
    "                         \"force\": [\"push - stiff*x + 1e-15*sqrt(high - t)\", 0, 0]}},"
    " \"outputs\": {\"x\": {\"joint\": \"slide\"}, \"rate\": {\"joint\": \"slide\", "
    "\"derivative\": 1},"
    "               \"a\": {\"joint\": \"slide\", \"derivative\": 2},"
    "               \"led.x\": {\"position\": \"led\", \"component\": \"x\"},"
    "               \"led.rate\": {\"velocity\": \"led\", \"component\": \"x\"},"
    "               \"big x\": {\"joint\": \"slide\", \"unit\": \"mm\"},"
    "               \"outputs.push\": {\"joint\": \"slide\"},"
    "               \"\xc3\xb6\": {\"joint\": \"slide\"},"
    "               \"push\": {\"signal\": \"push\"}},"
    " \"events\": {\"far\": {\"expression\": \"x - 100\", \"stop\": \"rising\"}},"
    " \"run\": {\"t_end\": 2, \"rtol\": 1e-9, \"atol\": 1e-9}}";

static bg_problem *open_plant(const char *integrator, const char *formulation, double fixed)
{
    bg_error err = {0};
    bg_source *source;
    bg_problem *problem;
    bg_problem_def def = bg_default_problem_def();
    assert_ok(bg_source_parse(plant, "plant.json", &source, &err));
    def.source = source;
    def.integrator = integrator;
    def.formulation = formulation;
    def.step = fixed > 0 ? fixed : NAN;
    assert_ok(bg_problem_create(&def, &problem, &err));
    problem->own = source; /* released with it */
    return problem;
}

static void make_plant(const char *integrator, const char *formulation, double fixed, int version,
                       fmu *f)
{
    bg_problem *problem = open_plant(integrator, formulation, fixed);
    make_fmu(problem, version, NULL, "plant", f);
    bg_problem_destroy(problem);
}

static double get_one(instance *x, const char *name)
{
    const unsigned reference = find_reference(x->f, name);
    double value = NAN;
    if (get(x, &reference, 1, &value) != 0)
        fail_msg("%s: %s", name, x->log);
    return value;
}

static int set_one(instance *x, const char *name, double value)
{
    return set(x, find_reference(x->f, name), value);
}

static void begin(instance *x, const fmu *f, double t_stop)
{
    open_instance(x, f);
    if (enter(x, 0, t_stop) != 0 || leave(x) != 0)
        fail_msg("%s", x->log);
}

static int set_rate(instance *x, const char *name, int order, double rate)
{
    const unsigned reference = find_reference(x->f, name);
    return x->status = (int)x->f->v2.SetRealInputDerivatives(x->c, &reference, 1, &order, &rate);
}

/* Oscillator w^2 = 9 pushed by a staircase (or, with slopes, by a polygon): closed form from one
 * communication point to the next. */
static void follow_oscillator(double f0, double f1, double h, double m, double *x, double *v)
{
    const double w = 3, c = cos(w * h), s = sin(w * h), k = w * w * m;
    const double x0 = *x - f0 / k, v0 = *v - f1 / k;
    *x = x0 * c + v0 / w * s + (f0 + f1 * h) / k;
    *v = -x0 * w * s + v0 * c + f1 / k;
}

/* Inputs that change at many points, and rest in between: the motion is that of the closed form,
 * for every kind of method, and what comes later has no part in what was before. */
static void check_inputs(const char *integrator, const char *formulation, int version)
{
    fmu f;
    instance x, y;
    const double h = 1.0 / 64;
    double q = 0, v = 0, slope = 0, push = 0;
    make_plant(integrator, formulation, strcmp(integrator, "rk4") == 0 ? h / 4 : 0, version, &f);
    begin(&x, &f, NAN);
    begin(&y, &f, NAN);
    for (int k = 0; k < 96; k++) {
        push += slope * h;
        if (k < 24 || k % 16 == 0) {
            push = sin(0.7 * k) + 0.1 * k;
            slope = version == 2 ? cos(0.3 * k) : 0;
            assert_int_equal(set_one(&x, "push", push), 0);
            assert_int_equal(k < 50 ? set_one(&y, "push", push) : set_one(&y, "push", -9), 0);
            if (version == 2)
                assert_int_equal(set_rate(&x, "push", 1, slope) + set_rate(&y, "push", 1, slope),
                                 0);
        }
        if (step(&x, k * h, h) != 0 || step(&y, k * h, h) != 0)
            fail_msg("%s: %s", integrator, x.log);
        follow_oscillator(push, slope, h, 2, &q, &v);
        if (fabs(get_one(&x, "x") - q) > 2e-7 || fabs(get_one(&x, "rate") - v) > 6e-7)
            fail_msg("%s, FMI %d, interval %d: x off by %g, v by %g", integrator, version, k,
                     get_one(&x, "x") - q, get_one(&x, "rate") - v);
        const double other = get_one(&y, "x");
        assert_true(k > 63 || other == get_one(&x, "x"));
        assert_true(k < 64 || other != get_one(&x, "x"));
    }
    assert_int_equal(x.errors, 0);
    close_instance(&x);
    close_instance(&y);
    unload_fmu(&f);
}

static void test_inputs(void **state)
{
    static const char *const methods[] = {"mdop5",  "mdop8", "bdf", "adams",
                                          "sdirk4", "hem5",  "rk4"};
    (void)state;
    for (size_t k = 0; k < (SANITIZED ? 3 : sizeof methods / sizeof *methods); k++)
        for (int version = 2; version <= 3; version++)
            check_inputs(methods[k], k % 2 ? "joint" : "cartesian", version);
}

/* What a joint follows jumps with its input, in both forms, and moves at its rate. */
static void test_followed(void **state)
{
    (void)state;
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        fmu f;
        instance x;
        make_plant("mdop5", cartesian ? "cartesian" : "joint", 0, 2, &f);
        begin(&x, &f, NAN);
        for (int k = 0; k < 8; k++) {
            if (k % 2) /* in any order */
                set_rate(&x, "way", 1, 0.3 * k);
            set_one(&x, "way", 0.1 * k * k);
            if (k % 2 == 0)
                set_rate(&x, "way", 1, 0.3 * k);
            if (step(&x, 0.25 * k, 0.25) != 0)
                fail_msg("%s", x.log);
            assert_true(fabs(get_one(&x, "led.x") - (0.1 * k * k + 0.3 * k * 0.25)) < 1e-9);
            assert_true(fabs(get_one(&x, "led.rate") - 0.3 * k) < 1e-8);
        }
        assert_int_equal(set_rate(&x, "way", 2, 1), fmi2Warning);
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* Steps are not made shorter by communication points that bring nothing new. */
static void test_long_steps(void **state)
{
    (void)state;
    bg_error err = {0};
    bg_problem *problem = open_plant("mdop8", NULL, 0);
    bg_run_options options = bg_problem_get_run_options(problem);
    bg_session *s;
    long accepted[3];
    for (int k = 0; k < 3; k++) {
        const int points = k == 0 ? 1 : 2000;
        bool ended;
        assert_ok(bg_session_create(bg_problem_get_system(problem), &options, false, &s, &err));
        bg_session_set_input(s, 0, 1, 0);
        assert_ok(bg_session_start(s, &err));
        for (int i = 1; i <= points; i++) {
            if (k == 2)
                bg_session_set_input(s, 0, 1, 0); /* the same again */
            assert_ok(bg_session_advance(s, 2.0 * i / points, &ended, &err));
        }
        accepted[k] = bg_session_get_counters(s).accepted;
        bg_session_destroy(s);
    }
    assert_true(accepted[0] < 60);
    assert_int_equal(accepted[1], accepted[0]);
    assert_int_equal(accepted[2], accepted[0]);
    bg_problem_destroy(problem);
}

/* Parameters until initialisation ends, and what follows from them. */
static void test_parameters(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("mdop8", NULL, 0, version, &f);
        assert_true(find_start(&f, "parameters.heavy") == 2);
        open_instance(&x, &f);
        assert_int_equal(set_one(&x, "parameters.heavy", 4), 0);
        assert_int_equal(set_one(&x, "push", 8), 0);
        assert_int_equal(enter(&x, 0, NAN), 0);
        assert_true(get_one(&x, "parameters.stiff") == 36);
        assert_true(fabs(get_one(&x, "a") - 2) < 1e-12);
        assert_int_equal(set_one(&x, "parameters.heavy", 8), 0);
        assert_true(get_one(&x, "parameters.stiff") == 72);
        assert_true(fabs(get_one(&x, "a") - 1) < 1e-12);
        assert_int_equal(leave(&x), 0);
        double q = 0, v = 0;
        assert_int_equal(step(&x, 0, 0.5), 0);
        follow_oscillator(8, 0, 0.5, 8, &q, &v);
        assert_true(fabs(get_one(&x, "x") - q) < 1e-8);
        assert_true(fabs(get_one(&x, "'big x'") - 1000 * q) < 1e-5);
        assert_true(get_one(&x, "time") == 0.5 && get_one(&x, "push") == 8);
        close_instance(&x);
        open_instance(&x, &f);
        assert_int_equal(set_one(&x, "parameters.heavy", -1), 0);
        assert_int_equal(enter(&x, 0, NAN), 0);
        assert_int_equal(leave(&x), fmi2Error);
        assert_non_null(strstr(x.log, "mass")); /* the model's own sentence */
        assert_int_equal(f.version == 2 ? (int)f.v2.Reset(x.c) : (int)f.v3.Reset(x.c), 0);
        assert_int_equal(enter(&x, 0, NAN) + leave(&x), 0);
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* What `expected` stands in was said, and the call failed. */
static void assert_refused(instance *x, const char *expected)
{
    if (x->status != fmi2Error || !strstr(x->log, expected))
        fail_msg("FMI %d: status %d, wanted '%s', got: %s", x->f->version, x->status, expected,
                 x->log);
    x->log[0] = '\0';
}

/* Calls out of order and bad values are refused with a sentence and lose nothing: a state saved
 * before leads on. */
static void check_refusals(const fmu *f)
{
    instance x;
    void *saved = NULL;
    const unsigned push = find_reference(f, "push"), far = 4000;
    double value = 0;
    assert_null(instantiate(&x, f, "{another}", true));
    assert_non_null(strstr(x.log, "token"));
    open_instance(&x, f);
    step(&x, 0, 0.1);
    assert_refused(&x, "before initialisation");
    close_instance(&x);
    begin(&x, f, 1);
    assert_int_equal(set_one(&x, "push", 3), 0);
    assert_int_equal(step(&x, 0, 0.25), 0);
    assert_int_equal(save(&x, &saved), 0);
    const double q = get_one(&x, "x");
    const struct {
        double t, h;
        const char *why;
    } steps[] = {{0, 0.25, "to go back"},   {0.5, 0.1, "without gaps"}, {0.25, -0.1, "forwards"},
                 {0.25, 0, "forwards"},     {0.25, 1, "stop time"},     {NAN, 0.1, "finite"},
                 {0.25, INFINITY, "finite"}};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        step(&x, steps[k].t, steps[k].h);
        assert_refused(&x, steps[k].why);
        assert_int_equal(restore(&x, saved), 0);
    }
    set(&x, push, NAN);
    assert_refused(&x, "not a finite number");
    assert_true(step(&x, 0.25, 0.1) == fmi2Error); /* after an error */
    assert_refused(&x, "after an error");
    assert_int_equal(restore(&x, saved), 0);
    set(&x, far, 1);
    assert_refused(&x, "value reference");
    assert_int_equal(restore(&x, saved), 0);
    get(&x, &far, 1, &value);
    assert_refused(&x, "value reference");
    assert_int_equal(restore(&x, saved), 0);
    set_one(&x, "x", 1);
    assert_refused(&x, "an output");
    assert_int_equal(restore(&x, saved), 0);
    set_one(&x, "parameters.heavy", 1);
    assert_refused(&x, "until initialisation ends");
    assert_int_equal(restore(&x, saved), 0);
    enter(&x, 0, 1);
    assert_refused(&x, "between steps");
    assert_int_equal(restore(&x, saved), 0);
    x.status = f->version == 2 ? (int)f->v2.SetTime(x.c, 1) : (int)f->v3.EnterEventMode(x.c);
    assert_refused(&x, f->version == 2 ? "model exchange" : "inside of steps");
    assert_int_equal(restore(&x, saved), 0);
    assert_true(get_one(&x, "x") == q);
    assert_int_equal(step(&x, 0.25, 0.75), 0);
    forget(&x, &saved);
    close_instance(&x);
}

/* What an experiment says must be numbers, where it says that it is defined. */
static void check_experiments(const fmu *f)
{
    const struct {
        double t, stop, tolerance;
    } bad[] = {{NAN, 1, 1e-6}, {INFINITY, 1, 1e-6}, {0, NAN, 1e-6}, {0, -1, 1e-6},
               {0, 1, NAN},    {0, 1, 0},           {0, 1, -1},     {0, INFINITY, 1e-6}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        instance x;
        open_instance(&x, f);
        x.status = f->version == 2 ? (int)f->v2.SetupExperiment(x.c, 1, bad[k].tolerance, bad[k].t,
                                                                1, bad[k].stop)
                                   : (int)f->v3.EnterInitializationMode(
                                         x.c, true, bad[k].tolerance, bad[k].t, true, bad[k].stop);
        assert_refused(&x, "usable");
        close_instance(&x);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make_plant("mdop5", NULL, 0, version, &f);
        check_refusals(&f);
        check_experiments(&f);
        unload_fmu(&f);
    }
}

static int switch_logging(instance *x, bool on, const char *category)
{
    const size_t n = category ? 1 : 0;
    return x->f->version == 2 ? (int)x->f->v2.SetDebugLogging(x->c, on, n, &category)
                              : (int)x->f->v3.SetDebugLogging(x->c, on, n, &category);
}

/* Whether a step that is refused is told. */
static bool tells_discard(instance *x)
{
    x->log[0] = '\0';
    assert_int_equal(step(x, 0, 0.0015), fmi2Discard);
    return x->log[0] != '\0';
}

/* Who is told what: errors always; version 3 tells nothing else where logging is off, and switches
 * categories one by one. */
static void test_logging(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("linear-euler", NULL, 0.001, version, &f);
        assert_non_null(instantiate(&x, &f, f.token, false));
        assert_int_equal(enter(&x, 0, NAN) + leave(&x), 0);
        assert_true(tells_discard(&x) == (version == 2));
        switch_logging(&x, true, "logEvents");
        assert_false(tells_discard(&x));
        switch_logging(&x, true, "logStatusDiscard");
        assert_true(tells_discard(&x));
        switch_logging(&x, true, "logEvents"); /* version 2: that alone */
        assert_true(tells_discard(&x) == (version == 3));
        switch_logging(&x, false, "logStatusDiscard");
        assert_true(tells_discard(&x) == (version == 2));
        switch_logging(&x, true, NULL);
        assert_true(tells_discard(&x));
        switch_logging(&x, false, NULL);
        switch_logging(&x, true, "logEvents");
        set_one(&x, "'#c3#b6'", 1);
        assert_refused(&x, "##c3##b6'' is an output");
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* An importer without a logger. */
static void test_without_logger(void **state)
{
    (void)state;
    fmu f;
    char uri[400];
    make_plant("mdop5", NULL, 0, 2, &f);
    const fmi2CallbackFunctions functions = {NULL, calloc, free, NULL, NULL};
    snprintf(uri, sizeof uri, "file://%s", f.resources);
    assert_null(f.v2.Instantiate("it", fmi2ModelExchange, f.token, uri, &functions, 0, 0));
    assert_null(f.v2.Instantiate("it", fmi2CoSimulation, "no", uri, &functions, 0, 0));
    assert_null(f.v2.Instantiate("it", fmi2CoSimulation, f.token, "/tmp", &functions, 0, 0));
    void *c = f.v2.Instantiate("it", fmi2CoSimulation, f.token, uri, &functions, 0, 1);
    assert_non_null(c);
    assert_int_equal(f.v2.DoStep(c, 0, 1, 1), fmi2Error);
    f.v2.FreeInstance(c);
    unload_fmu(&f);
}

/* Before initialisation version 3 gives values at the start; version 2 none. */
static void test_values_before(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("mdop5", NULL, 0, version, &f);
        open_instance(&x, &f);
        set_one(&x, "parameters.heavy", 5);
        set_one(&x, "push", 20);
        const unsigned push = find_reference(&f, "push");
        double value;
        if (version == 2) {
            get(&x, &push, 1, &value);
            assert_refused(&x, "before initialisation");
        } else {
            assert_true(get_one(&x, "push") == 20 && get_one(&x, "parameters.stiff") == 45);
            assert_true(fabs(get_one(&x, "a") - 4) < 1e-12 && get_one(&x, "time") == 0);
            set_one(&x, "push", 10);
            assert_int_equal(enter(&x, 0.5, NAN) + leave(&x), 0);
            assert_true(fabs(get_one(&x, "a") - 2) < 1e-12 && get_one(&x, "time") == 0.5);
        }
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* Fixed steps are published, and others refused without harm. */
static void test_fixed_steps(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("linear-euler", NULL, 0.001, version, &f);
        find_after(&f, version == 3 ? "fixedInternalStepSize=\"0.001\"" : "stepSize=\"0.001\"");
        find_after(&f, version == 2 ? "canHandleVariableCommunicationStepSize=\"false\""
                                    : "canHandleVariableCommunicationStepSize=\"true\"");
        begin(&x, &f, NAN);
        assert_int_equal(step(&x, 0, 0.0015), fmi2Discard);
        assert_non_null(strstr(x.log, "linear-euler has fixed steps of 0.001 s"));
        assert_true(get_one(&x, "time") == 0);
        for (int k = 0; k < 300; k++)
            assert_int_equal(step(&x, k * 0.003, 0.003), 0);
        assert_true(fabs(get_one(&x, "time") - 0.9) < 1e-15);
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* An event that ends the motion, and a force that ends the computation. */
static void test_ends(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("mdop5", NULL, 0, version, &f);
        begin(&x, &f, NAN);
        set_one(&x, "push", 1500); /* x = 83.3 (1 - cos 3t) reaches 100 */
        assert_int_equal(step(&x, 0, 0.5), 0);
        assert_int_equal(step(&x, 0.5, 0.5), version == 2 ? fmi2Discard : fmi3OK);
        const double t = acos(1 - 100 * 18 / 1500.0) / 3;
        assert_true(x.ended && fabs(x.last - t) < 1e-7 && fabs(get_one(&x, "x") - 100) < 1e-6);
        assert_non_null(strstr(x.log, "ended the motion"));
        assert_int_equal(step(&x, 1, 0.5), fmi2Error);
        close_instance(&x);
        open_instance(&x, &f);
        set_one(&x, "parameters.high", 0.75); /* sqrt(0.75 - t) */
        assert_int_equal(enter(&x, 0, NAN) + leave(&x), 0);
        assert_int_equal(step(&x, 0, 0.5), 0);
        assert_int_equal(step(&x, 0.5, 0.25), version == 2 ? fmi2Discard : fmi3Error);
        assert_false(x.ended);
        assert_true(x.last >= 0.5 && x.last <= 0.75);
        assert_non_null(strstr(x.log, "t = 0.7"));
        close_instance(&x);
        unload_fmu(&f);
    }
}

/* Derivatives of outputs by inputs, in closed form. */
static void test_derivatives(void **state)
{
    (void)state;
    for (int version = 2; version <= 3; version++) {
        fmu f;
        instance x;
        make_plant("mdop5", NULL, 0, version, &f);
        find_after(&f, version == 2 ? "providesDirectionalDerivative=\"true\""
                                    : "providesDirectionalDerivatives=\"true\"");
        begin(&x, &f, NAN);
        set_one(&x, "push", 3);
        assert_int_equal(step(&x, 0, 0.3), 0);
        const unsigned known = find_reference(&f, "push");
        const unsigned unknown[3] = {find_reference(&f, "a"), find_reference(&f, "x"),
                                     find_reference(&f, "time")};
        const double seed = 4;
        double d[2] = {NAN, NAN};
        assert_int_equal(
            version == 2
                ? (int)f.v2.GetDirectionalDerivative(x.c, unknown, 2, &known, 1, &seed, d)
                : (int)f.v3.GetDirectionalDerivative(x.c, unknown, 2, &known, 1, &seed, 1, d, 2),
            0);
        assert_true(fabs(d[0] - 2) < 1e-10 && fabs(d[1]) < 1e-12);
        x.status = version == 2 ? (int)f.v2.GetDirectionalDerivative(x.c, unknown + 2, 1, &known, 1,
                                                                     &seed, d)
                                : (int)f.v3.GetDirectionalDerivative(x.c, unknown + 2, 1, &known, 1,
                                                                     &seed, 1, d, 1);
        assert_refused(&x, "derivatives of outputs");
        close_instance(&x);
        unload_fmu(&f);
    }
}

static int calc_derivatives(instance *x, const unsigned *outputs, size_t n, unsigned input,
                            double *d)
{
    const double one = 1;
    const fmu *f = x->f;
    return f->version == 2
               ? (int)f->v2.GetDirectionalDerivative(x->c, outputs, n, &input, 1, &one, d)
               : (int)f->v3.GetDirectionalDerivative(x->c, outputs, n, &input, 1, &one, 1, d, n);
}

/* Outputs with another input: of a start, or behind a jump at t. There they are those of a step
 * shorter than anything moves in, without what moves in it nevertheless. */
static void look(instance *x, void *saved, double t, unsigned input, double value,
                 const unsigned *outputs, size_t n, double *y)
{
    const double h = 1e-7;
    double *later = calloc(n, sizeof *later);
    for (int k = 1; k <= (saved ? 2 : 1); k++) {
        if (saved)
            assert_int_equal(restore(x, saved), 0);
        assert_int_equal(set(x, input, value), 0);
        assert_int_equal(saved ? step(x, t, k * h) : 0, 0);
        assert_int_equal(get(x, outputs, n, k == 1 ? y : later), 0);
    }
    for (size_t i = 0; i < n && saved; i++)
        y[i] = 2 * y[i] - later[i];
    free(later);
}

static void compare_derivatives(instance *x, void *saved, double t, unsigned input,
                                const unsigned *outputs, size_t n)
{
    const double e = 1e-5;
    double u, *y = calloc(4 * n, sizeof *y), largest = 0;
    if (saved)
        assert_int_equal(restore(x, saved), 0);
    assert_int_equal(get(x, &input, 1, &u), 0);
    assert_int_equal(get(x, outputs, n, y + 3 * n), 0);
    assert_int_equal(calc_derivatives(x, outputs, n, input, y), 0);
    look(x, saved, t, input, u + e, outputs, n, y + n);
    look(x, saved, t, input, u - e, outputs, n, y + 2 * n);
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(y[i]));
    assert_true(largest > 0);
    for (size_t i = 0; i < n; i++) {
        const double d = (y[n + i] - y[2 * n + i]) / (2 * e);
        if (!(fabs(d - y[i]) <= 1e-3 * fabs(d) + 1e-6 * largest + 1e-4 * (1 + fabs(y[3 * n + i]))))
            fail_msg("FMI %d, t = %g, output %zu: derivative %.9g, by differences %.9g",
                     x->f->version, t, i, y[i], d);
    }
    free(y);
}

/* They are those of the FMU itself, of its start and behind a jump of the input: forces, joints of
 * the tree and of loops that follow inputs, both forms. */
static void test_own_derivatives(void **state)
{
    (void)state;
    static const struct {
        example e;
        const char *input;
    } cars[] = {{{"vehicle-trailer", "mdop5", 0, 16, {NULL, NULL}}, "steer"},
                {{"tilting-table", "mdop5", 0, 16, {NULL, NULL}}, "drive"},
                {{"rear-axle-stamp", "bdf", 0, 16, {NULL, NULL}}, "left.motion"},
                {{"front-axle", "mdop5", 0, 16, {NULL, NULL}}, "rack"},
                {{"front-axle", "mdop5", 0, 16, {"run.formulation", "cartesian"}}, "held"}};
    for (size_t k = 0; k < sizeof cars / sizeof *cars; k++) {
        bg_problem *problem = open_problem(&cars[k].e);
        const int n = bg_system_get_def(bg_problem_get_system(problem))->ny;
        fmu f;
        instance x;
        void *saved = NULL;
        double u;
        make_fmu(problem, 2 + (int)k % 2, cars[k].input, "derived", &f);
        find_after(&f, f.version == 2 ? "providesDirectionalDerivative=\"true\""
                                      : "providesDirectionalDerivatives=\"true\"");
        unsigned *outputs = list_outputs(&f, n);
        const unsigned input = find_reference(&f, cars[k].input);
        open_instance(&x, &f);
        assert_int_equal(enter(&x, 0, NAN), 0);
        compare_derivatives(&x, NULL, 0, input, outputs, (size_t)n);
        assert_int_equal(leave(&x), 0);
        assert_int_equal(get(&x, &input, 1, &u) + set(&x, input, u), 0);
        assert_int_equal(step(&x, 0, 0.125), 0);
        assert_int_equal(save(&x, &saved), 0);
        compare_derivatives(&x, saved, 0.125, input, outputs, (size_t)n);
        forget(&x, &saved);
        close_instance(&x);
        free(outputs);
        unload_fmu(&f);
        bg_problem_destroy(problem);
    }
}

enum { THREADS = 4 };

static void *run_alone(void *self)
{
    const fmu *f = self;
    instance x, y;
    double *q = malloc(2 * sizeof *q);
    begin(&x, f, NAN);
    begin(&y, f, NAN);
    for (int k = 0; k < 50; k++) {
        set_one(&x, "push", k % 5);
        set_one(&y, "push", k % 5);
        step(&x, 0.02 * k, 0.02);
        step(&y, 0.02 * k, 0.02);
    }
    q[0] = get_one(&x, "x");
    q[1] = get_one(&y, "x");
    close_instance(&x);
    close_instance(&y);
    return q;
}

/* Two instances in each of four threads, and one after the other. */
static void test_threads(void **state)
{
    (void)state;
    fmu f;
    pthread_t threads[THREADS];
    make_plant("bdf", NULL, 0, 3, &f);
    double *alone = run_alone(&f);
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, run_alone, &f), 0);
    for (int k = 0; k < THREADS; k++) {
        void *q;
        pthread_join(threads[k], &q);
        assert_memory_equal(q, alone, 2 * sizeof(double));
        assert_true(alone[0] == alone[1] && alone[0] != 0);
        free(q);
    }
    free(alone);
    unload_fmu(&f);
}

/* Attributes that the standards require, and what names and units look like. */
static void test_description(void **state)
{
    (void)state;
    static const char *const both[] = {
        "<fmiModelDescription fmiVersion=\"",
        "modelName=\"",
        "variableNamingConvention=\"structured\"",
        "<CoSimulation modelIdentifier=\"plant\"",
        "<UnitDefinitions>",
        "<LogCategories>",
        "<DefaultExperiment startTime=\"0\" stopTime=\"2\"",
        "<Unit name=\"mm\"><BaseUnit m=\"1\" factor=\"0.001\"/></Unit>",
        "name=\"'big x'\"",
        "name=\"led.x\"",
        "name=\"outputs.push\"",
        "name=\"outputs.outputs.push\"",
        "name=\"'#c3#b6'\"",
        "causality=\"calculatedParameter\"",
        "<ModelStructure>"};
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make_plant("mdop5", NULL, 0, version, &f);
        for (size_t k = 0; k < sizeof both / sizeof *both; k++)
            find_after(&f, both[k]);
        find_after(&f, version == 2 ? "canGetAndSetFMUstate=\"true\""
                                    : "canGetAndSetFMUState=\"true\"");
        find_after(&f, version == 2 ? "canSerializeFMUstate=\"true\""
                                    : "canSerializeFMUState=\"true\"");
        assert_null(strstr(f.xml, "sound")); /* something else determines it */
        assert_true(find_start(&f, "push") == 0);
        assert_string_equal(version == 2 ? f.v2.GetVersion() : f.v3.GetVersion(),
                            version == 2 ? "2.0" : "3.0");
        unload_fmu(&f);
    }
}

static int remove_folders(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf /tmp/bogie-test-fmu.%d", (int)getpid());
    return system(command);
}

/* Drives an FMU that lies unpacked in a folder: test_fmu FOLDER VERSION. */
static int drive_folder(const char *folder, int version)
{
    fmu f;
    instance x;
    load_fmu(folder, version, &f);
    begin(&x, &f, NAN);
    set_one(&x, "more", 0.5);
    for (int k = 0; k < 100; k++)
        if (step(&x, 0.02 * k, 0.02) != 0)
            return 1;
    const double angle = get_one(&x, "a.angle");
    close_instance(&x);
    unload_fmu(&f);
    return isfinite(angle) && angle != 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return drive_folder(argv[1], atoi(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_followed),
        cmocka_unit_test(test_long_steps),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_fixed_steps),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_own_derivatives),
        cmocka_unit_test(test_logging),
        cmocka_unit_test(test_without_logger),
        cmocka_unit_test(test_values_before),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folders);
}

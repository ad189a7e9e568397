/* models/hmmwv14.json: what it consists of, its equilibrium, all its eigenvalues, and its way over
 * the bump, in both formulations. Expected values: computed twice, by independent programs, from
 * the same data (docs/models.md), to the digits given here. */
#include "linear/equilibrium.h"
#include "modes_support.h"

#include <stdbool.h>

static const char file[] = BOGIE_SOURCE_DIR "/models/hmmwv14.json";
static const bg_setting free_rack = {"joints.rack.prescribed", "{}"};
static const bg_setting constrain = {"run.rheonomic", "constrain"};
static const bg_setting loaded = {"parameters.loads", "1"};

static void begin(linear_model *m, const bg_setting *setting, const char *formulation)
{
    bg_error err = {BG_OK, ""};
    *m = (linear_model){0};
    assert_ok(bg_model_read(file, setting, setting != NULL, &m->model, &err));
    assert_ok(bg_model_create_system(m->model, formulation, &m->system, &err));
    linear_begin_system(m);
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const bg_setting *setting;
        const char *formulation;
        int nq, nv, ng, freedoms;
    } cases[] = {{NULL, "joint", 43, 34, 16, 18},
                 {&constrain, "joint", 44, 35, 17, 18},
                 {&free_rack, "joint", 44, 35, 16, 19},
                 {NULL, "cartesian", 98, 98, 80, 18},
                 {&free_rack, "cartesian", 98, 98, 79, 19}};
    for (int k = 0; k < (int)(sizeof cases / sizeof *cases); k++) {
        linear_model m;
        begin(&m, cases[k].setting, cases[k].formulation);
        linear_find_modes(&m);
        assert_int_equal(m.system->def.nq, cases[k].nq);
        assert_int_equal(m.system->def.nv, cases[k].nv);
        assert_int_equal(m.system->def.ng, cases[k].ng);
        assert_int_equal(m.system->def.nz, 0);
        assert_int_equal(m.report.redundancy.count, 0);
        assert_int_equal(m.modes.n, cases[k].freedoms);
        linear_end(&m);
    }
}

/* Rows of a run. */
enum { MAX_OUTPUTS = 256 };
typedef struct hmmwv_record {
    int ny, rows;
    char names[MAX_OUTPUTS][64];
    double first[MAX_OUTPUTS], least[MAX_OUTPUTS], most[MAX_OUTPUTS];
    double skew; /* the most by which left and right differed */
    const char *where;
    void (*look)(struct hmmwv_record *r, const double *y);
    bg_problem *problem; /* whose names the report's events have */
} hmmwv_record;

static bg_status keep(void *self, const bg_row *row, bg_error *err)
{
    hmmwv_record *r = self;
    (void)err;
    for (int i = 0; i < r->ny; i++) {
        if (r->rows == 0)
            r->first[i] = r->least[i] = r->most[i] = row->y[i];
        r->least[i] = fmin(r->least[i], row->y[i]);
        r->most[i] = fmax(r->most[i], row->y[i]);
    }
    if (r->look)
        r->look(r, row->y);
    r->rows++;
    return BG_OK;
}

static int find(const hmmwv_record *r, const char *name)
{
    for (int i = 0; i < r->ny; i++)
        if (strcmp(r->names[i], name) == 0)
            return i;
    fail_msg("there is no output %s", name);
    return -1;
}

/* A run with the options of the file, but for these; to be ended by `end`. */
static void run(const bg_setting *settings, int nsettings, const char *formulation,
                const char *integrator, double tolerance, double t_end, hmmwv_record *r,
                bg_run_report *report)
{
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    def.reference = file;
    def.settings = settings;
    def.nsettings = nsettings;
    def.formulation = formulation;
    def.integrator = integrator;
    def.rtol = def.atol = tolerance;
    def.t_end = t_end;
    assert_ok(bg_problem_create(&def, &r->problem, &err));
    const bg_system *sys = bg_problem_get_system(r->problem);
    bg_run_options o = bg_problem_get_run_options(r->problem);
    r->ny = bg_system_get_def(sys)->ny;
    assert_true(r->ny <= MAX_OUTPUTS);
    for (int i = 0; i < r->ny; i++) {
        char buffer[64];
        snprintf(r->names[i], sizeof *r->names, "%s",
                 bg_system_get_name(sys, 'y', i, buffer, sizeof buffer));
    }
    o.output_steps = 1;
    o.sink = (bg_sink){.self = r, .row = keep};
    assert_ok(bg_run(sys, &o, report, &err));
}

static void end(hmmwv_record *r, bg_run_report *report)
{
    bg_run_report_clear(report);
    bg_problem_destroy(r->problem);
}

static void test_equilibrium(void **state)
{
    (void)state;
    static const char *const names[] = {"front.left.load", "front.right.load", "rear.left.load",
                                        "rear.right.load", "position.z",       "pitch"};
    static const double expected[2][6] = {{6522.79, 6522.79, 6117.02, 6117.02, 0.687576, 0.000286},
                                          {7295.97, 6921.94, 6873.01, 6150.71, 0.673366, NAN}};
    for (int k = 0; k < 4; k++) {
        static hmmwv_record r;
        bg_run_report report;
        r = (hmmwv_record){0};
        run(&loaded, k / 2, forms[k % 2], "bdf", 1e-6, 1e-3, &r, &report);
        for (int i = 0; i < 6; i++) {
            double y = r.first[find(&r, names[i])], x = expected[k / 2][i];
            double half = i < 4 ? 0.005 : 0.5e-6; /* of the last digit */
            if (!(isnan(x) || fabs(y - x) <= 1.01 * half))
                fail_msg("%s, %s: %s is %.9g, not %.9g", k < 2 ? "empty" : "loaded", forms[k % 2],
                         names[i], y, x);
        }
        double weight = 0, mass = 2576.924 + (k < 2 ? 0 : 200);
        for (int i = 0; i < 4; i++)
            weight += r.first[find(&r, names[i])];
        assert_near(weight, 9.81 * mass, 1e-4);
        end(&r, &report);
    }
}

typedef struct eigenvalue {
    double re, im, half; /* half a unit of the last digit that is known */
} eigenvalue;

static const eigenvalue locked[] = {
    {-260238, 0, 0.5},      {-259906, 0, 0.5},      {-125498, 0, 0.5},      {-125145, 0, 0.5},
    {-2327.9, 0, 0.05},     {-2316.1, 0, 0.05},     {-768.3, 0, 0.05},      {-752.4, 0, 0.05},
    {-81.31, 0, 0.005},     {-61.83, 0, 0.005},     {-47.74, 0, 0.005},     {-29.69, 0, 0.005},
    {-36.46, 41.50, 0.005}, {-36.15, 39.28, 0.005}, {-9.194, 12.767, 5e-4}, {-7.090, 10.712, 5e-4},
    {-3.622, 7.275, 5e-4},  {-10.201, 0, 5e-4},     {-10.196, 0, 5e-4},     {-10.022, 0, 5e-4},
    {-10.021, 0, 5e-4},     {-10.0015, 0, 5e-5},    {-10.0015, 0, 5e-5},    {-9.851, 0, 5e-4},
    {-9.844, 0, 5e-4}};
enum { LOCKED = sizeof locked / sizeof *locked };

static void find_equilibrium(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    bg_equilibrium_report r;
    assert_ok(
        bg_equilibrium_find(m->evaluator, m->state, &m->report.redundancy, &r, &m->modes, &err));
    assert_int_equal(r.unstable, 0);
    assert_true(r.moves && !r.dropped);
    assert_int_equal(m->modes.zeros, 6);
    assert_int_equal(m->modes.nfree, 3);
}

/* Each expected eigenvalue has a mode of its own among `modes`, which may have `more`. */
static void match(const bg_modes *modes, const eigenvalue *e, int n, int more)
{
    bool taken[64] = {false};
    assert_int_equal(modes->count, n + more);
    for (int k = 0; k < n; k++) {
        int best = -1;
        double nearest = HUGE_VAL;
        for (int i = 0; i < modes->count; i++) {
            double d = fmax(fabs(modes->mode[i].re - e[k].re), fabs(modes->mode[i].im - e[k].im));
            if (!taken[i] && d < nearest)
                best = i, nearest = d;
        }
        if (!(nearest <= 1.01 * e[k].half))
            fail_msg("%g %+g i is missed by %g", e[k].re, e[k].im, nearest);
        taken[best] = true;
    }
}

/* 36 eigenvalues with the rack held, six of them zero. */
static void test_eigenvalues(void **state)
{
    (void)state;
    linear_model m[2];
    for (int k = 0; k < 2; k++) {
        begin(&m[k], NULL, forms[k]);
        find_equilibrium(&m[k]);
        match(&m[k].modes, locked, LOCKED, 0);
    }
    for (int i = 0; i < LOCKED; i++) { /* sorted by size, and none are equal to so many digits */
        const bg_mode *a = &m[0].modes.mode[i], *b = &m[1].modes.mode[i];
        double size = hypot(a->re, a->im);
        if (!(hypot(a->re - b->re, a->im - b->im) <= 1e-6 * size))
            fail_msg("%.12g %+.12g i in joint, %.12g %+.12g i in Cartesian form", a->re, a->im,
                     b->re, b->im);
    }
    linear_end(&m[0]);
    linear_end(&m[1]);
}

/* A rack that is free adds a slow pair, and stiffens one mode. */
static void test_free_rack(void **state)
{
    (void)state;
    static const eigenvalue more[] = {{-0.0448, 5.255, 5e-4},
                                      {-2644.1, 0, 0.05},
                                      {-260238, 0, 0.5},
                                      {-2327.9, 0, 0.05},
                                      {-3.622, 7.275, 5e-4}};
    for (int k = 0; k < 2; k++) {
        linear_model m;
        begin(&m, &free_rack, forms[k]);
        find_equilibrium(&m);
        match(&m.modes, more, 5, LOCKED + 1 - 5);
        linear_end(&m);
    }
}

/* Outputs of both sides, two by two, of which the second is to be the mirror image of the first. */
static void write_sides(char *text, size_t size)
{
    static const char *const kinds[] = {"position", "velocity", "orientation", "angular_velocity"};
    static const char *const bodies[] = {"lower", "upper", "wheel"};
    size_t used = (size_t)snprintf(text, size, "{");
    for (int k = 0; k < 4 * 3 * 2 * 2; k++) {
        const char *body = bodies[k / 4 % 3], *axle = k / 2 % 2 ? "rear" : "front";
        const char *side = k % 2 ? "right" : "left", *kind = kinds[k / 12];
        used += (size_t)snprintf(text + used, size - used, "%s\"%d\": {\"%s\": \"%s.%s.%s\"}",
                                 k ? ", " : "", k, kind, axle, side, body);
    }
    used += (size_t)snprintf(text + used, size - used,
                             ", \"centre\": {\"position\": \"chassis.centre\"}}");
    assert_true(used < size);
}

/* Signs of the mirror image by component, x y z or w x y z. */
static void compare_sides(hmmwv_record *r, const double *y)
{
    static const int sign[4][4] = {{1, -1, 1}, {1, -1, 1}, {1, -1, 1, -1}, {-1, 1, -1}};
    int at = find(r, "0.x");
    for (int k = 0; k < 4 * 3 * 2; k++) {
        int kind = k / 6, n = kind == 2 ? 4 : 3;
        for (int i = 0; i < n; i++) {
            double d = fabs(y[at + i] - sign[kind][i] * y[at + n + i]);
            if (!(d <= r->skew))
                r->skew = d, r->where = r->names[at + i];
        }
        at += 2 * n;
    }
}

/* Over the bump: what happens when, how high the chassis goes, left and right as mirror images. */
static void test_bump(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double t, tolerance;
    } expected[] = {
        {"road: half-cylinder begins under front.%s.tyre", 0.500, 5e-4},
        {"front.%s.tyre lifts off", 0.5755, 5e-4},
        {"road: half-cylinder ends under front.%s.tyre", 0.5992, 5e-5},
        {"front.%s.tyre lands", 0.610, 5e-4},
        {"road: half-cylinder begins under rear.%s.tyre", 1.239, 5e-4},
        {"rear.%s.tyre lifts off", 1.312, 1e-3},
        {"road: half-cylinder ends under rear.%s.tyre", 1.339, 1e-3},
        {"rear.%s.tyre lands", 1.376, 1e-3},
    };
    static char text[16384];
    double last[2][3];
    write_sides(text, sizeof text);
    const bg_setting sides[] = {{"outputs", text}, {"plots", "[]"}};
    static const char *const methods[] = {"bdf", "sdirk4", "trapezoidal", "sdirk4-first-order"};
    for (int k = 0; k < 8; k++) {
        static hmmwv_record r;
        const int f = k % 2;
        const char *method = methods[k / 2];
        bg_run_report report;
        r = (hmmwv_record){.look = compare_sides};
        double tolerance = k < 4 ? 1e-6 : 1e-5;
        run(sides, 2, forms[f], method, tolerance, SANITIZED ? 0.65 : 2, &r, &report);
        int events = SANITIZED ? 4 : 8;
        assert_int_equal(report.nevents, 2 * events);
        for (int i = 0; i < 2 * events; i++) {
            char name[2][96];
            const bg_event *e = &report.events[i];
            snprintf(name[0], sizeof *name, expected[i / 2].name, "left");
            snprintf(name[1], sizeof *name, expected[i / 2].name, "right");
            if (strcmp(e->name, name[0]) != 0 && strcmp(e->name, name[1]) != 0)
                fail_msg("%s, %s: event %d is '%s', not '%s'", method, forms[f], i, e->name,
                         name[0]);
            assert_near(e->t, expected[i / 2].t, expected[i / 2].tolerance);
            assert_near(e->t, report.events[i ^ 1].t, 1e-9);
        }
        if (!(r.skew <= 1e-9))
            fail_msg("%s, %s: left and right differ by %.2e in output %s", method, forms[f], r.skew,
                     r.where);
        int z = find(&r, "centre.z");
        if (!SANITIZED) {
            assert_near(r.least[z], 0.684, 5e-4);
            assert_near(r.most[z], 0.7055, 5e-4);
        }
        assert_true(r.most[find(&r, "centre.y")] < 1e-9 && r.least[find(&r, "centre.y")] > -1e-9);
        memcpy(last[f], report.y + z - 2, sizeof *last);
        end(&r, &report);
        for (int i = 0; i < 3 && f == 1; i++)
            assert_near(last[0][i], last[1][i], 2e-5);
    }
}

/* Chassis and its rates on a grid of times. */
enum { GRID = 200, LOOKED_AT = 6 };
typedef struct ride {
    double y[GRID + 1][LOOKED_AT];
    int index[LOOKED_AT], rows;
    bg_counters count;
} ride;

static bg_status keep_ride(void *self, const bg_row *row, bg_error *err)
{
    ride *r = self;
    (void)err;
    assert_true(r->rows <= GRID);
    for (int i = 0; i < LOOKED_AT; i++)
        r->y[r->rows][i] = row->y[r->index[i]];
    r->rows++;
    return BG_OK;
}

static void follow_ride(const char *formulation, const char *integrator, double tolerance, ride *r)
{
    static const char *const names[LOOKED_AT] = {"position.x", "velocity.x", "position.z",
                                                 "velocity.z", "pitch",      "pitch_rate"};
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    bg_run_report report;
    def.reference = file;
    def.formulation = formulation;
    def.integrator = integrator;
    def.rtol = def.atol = tolerance;
    def.t_end = 2;
    assert_ok(bg_problem_create(&def, &problem, &err));
    const bg_system *sys = bg_problem_get_system(problem);
    bg_run_options o = bg_problem_get_run_options(problem);
    const int ny = bg_system_get_def(sys)->ny;
    r->rows = 0;
    for (int i = 0; i < LOOKED_AT; i++) {
        char buffer[64];
        r->index[i] = -1;
        for (int k = 0; k < ny; k++)
            if (strcmp(bg_system_get_name(sys, 'y', k, buffer, sizeof buffer), names[i]) == 0)
                r->index[i] = k;
        assert_true(r->index[i] >= 0);
    }
    o.method.h_max = 0.2;
    o.output_interval = def.t_end / GRID;
    o.output_steps = 0;
    o.sink = (bg_sink){.self = r, .row = keep_ride};
    assert_ok(bg_run(sys, &o, &report, &err));
    assert_int_equal(r->rows, GRID + 1);
    r->count = report.counters;
    bg_run_report_clear(&report);
    bg_problem_destroy(problem);
}

/* The largest error of an entry, in units of the mixed tolerance. */
static double calc_ride_error(const ride *a, const ride *fine, int i, double tolerance)
{
    double error = 0, most = 0;
    for (int k = 0; k <= GRID; k++) {
        error = fmax(error, fabs(a->y[k][i] - fine->y[k][i]));
        most = fmax(most, fabs(fine->y[k][i]));
    }
    return error / (tolerance * (1 + most));
}

/* Errors of implicit Runge-Kutta methods over the bump are within the mixed tolerance for x and
 * v_x, and use it elsewhere; the method of order 4 needs fewer steps, and less work at tight
 * tolerances.
 */
static void test_errors(void **state)
{
    (void)state;
    static const char *const methods[] = {"sdirk4", "trapezoidal"};
    static ride fine, r[2];
    for (int f = 0; f < (SANITIZED ? 0 : 2); f++) {
        follow_ride(forms[f], "sdirk4", 1e-8, &fine);
        for (int k = 2; k <= (f ? 3 : 5); k++) {
            const double tolerance = pow(10, -k);
            for (int j = 0; j < 2; j++) {
                double worst = 0;
                follow_ride(forms[f], methods[j], tolerance, &r[j]);
                for (int i = 0; i < LOOKED_AT; i++) {
                    double error = calc_ride_error(&r[j], &fine, i, tolerance);
                    assert_true(i > 1 || error < 1);
                    worst = fmax(worst, error);
                }
                print_message("%s, %s, 1e-%d: %ld steps, worst error %.3f tolerances\n", methods[j],
                              forms[f], k, r[j].count.accepted, worst);
                assert_true(worst > 1.0 / 30 && worst < 3);
            }
            assert_true(2 * r[0].count.accepted < r[1].count.accepted);
            assert_true(k < 4 || r[0].count.corrector.fc < r[1].count.corrector.fc);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_equilibrium),
        cmocka_unit_test(test_eigenvalues), cmocka_unit_test(test_free_rack),
        cmocka_unit_test(test_bump),        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

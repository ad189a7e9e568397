/* The models of models/: joint and Cartesian coordinates agree, and the benchmark problems meet
 * their reference values (128-bit, see tests/reference/README.md for where such values come from).
 */
#include "evaluator_support.h"
#include "run_support.h"
#include "system/dynamics.h"

#include <glob.h>
#include <jansson.h>
#include <stdbool.h>

enum { MAX_OUTPUTS = 512 };

/* Outputs of a run: at its end, and the largest size on the way. */
typedef struct model_outcome {
    int ny, redundant;
    char names[MAX_OUTPUTS][64];
    double y[MAX_OUTPUTS], largest[MAX_OUTPUTS];
    bg_certificate certificate;
} model_outcome;

static bg_status keep_largest(void *self, const bg_row *row, bg_error *err)
{
    (void)err;
    model_outcome *x = self;
    for (int i = 0; i < x->ny; i++)
        x->largest[i] = fmax(x->largest[i], fabs(row->y[i]));
    return BG_OK;
}

/* Runs a model file, changed by settings; fails the test when the run fails. */
static void run_changed(const char *path, const bg_setting *settings, int nsettings,
                        const char *integrator, const char *formulation, double t_end,
                        double tolerance, model_outcome *x)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_read(path, settings, nsettings, &model, &err));
    assert_ok(bg_model_create_system(model, formulation, &sys, &err));
    memset(x, 0, sizeof *x);
    x->ny = bg_system_get_def(sys)->ny;
    assert_true(x->ny > 0 && x->ny <= MAX_OUTPUTS);
    o.integrator = integrator;
    o.t_end = t_end;
    o.method.rtol = o.method.atol = tolerance;
    o.output_steps = 1;
    o.sink = (bg_sink){.self = x, .row = keep_largest};
    assert_ok(bg_run(sys, &o, &r, &err));
    for (int i = 0; i < x->ny; i++) {
        char buffer[32];
        x->y[i] = r.y[i];
        snprintf(x->names[i], sizeof *x->names, "%s",
                 bg_system_get_name(sys, 'y', i, buffer, sizeof buffer));
    }
    x->certificate = r.certificate;
    x->redundant = r.assembly.redundancy.count;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* A value at the end by name. */
static double find_output(const model_outcome *x, const char *name)
{
    for (int i = 0; i < x->ny; i++)
        if (strcmp(x->names[i], name) == 0)
            return x->y[i];
    fail_msg("there is no output %s", name);
    return NAN;
}

/* A model with all its bodies and joints, for outputs of everything; joints NULL: the reactions are
 * not unique. */
typedef struct inventory {
    const char *file, *bodies, *joints;
    double t_end;
} inventory;

/* "outputs" of a model with place, velocity and angular velocity of all its bodies and reactions of
 * all its joints besides its own. */
static char *make_outputs(const inventory *m, const char *path)
{
    const char *const kinds[] = {"position", "velocity", "angular_velocity", "reaction"};
    json_t *model = json_load_file(path, 0, NULL);
    json_t *outputs = json_object_get(model, "outputs");
    assert_true(json_object_size(outputs) > 0);
    for (int kind = 0; kind < 4; kind++)
        for (const char *c = kind < 3 ? m->bodies : m->joints; c && *c; c += *c == ' ') {
            char element[64], name[80];
            snprintf(element, sizeof element, "%.*s", (int)strcspn(c, " "), c);
            snprintf(name, sizeof name, "%d.%s", kind, element);
            json_object_set_new(outputs, name, json_pack("{s:s}", kinds[kind], element));
            c += strlen(element);
        }
    char *text = json_dumps(outputs, JSON_REAL_PRECISION(17));
    json_decref(model);
    return text;
}

/* Runs a model in both forms and compares all outputs at the end, its own and others. The
 * difference is taken relative to the largest size of the output during the run, or to 1 if that is
 * larger. */
static bool agree(const inventory *m)
{
    static model_outcome x[2];
    char path[512];
    double largest = 0, tolerance = SANITIZED ? 1e-6 : 1e-11, span = SANITIZED ? 0.05 : 1;
    int worst = 0;
    snprintf(path, sizeof path, "%s/models/%s.json", BOGIE_SOURCE_DIR, m->file);
    char *outputs = make_outputs(m, path);
    const bg_setting everything = {"outputs", outputs};
    run_changed(path, &everything, 1, "mdop5", "joint", span * m->t_end, tolerance, &x[0]);
    run_changed(path, &everything, 1, "mdop5", "cartesian", span * m->t_end, tolerance, &x[1]);
    free(outputs);
    assert_int_equal(x[0].ny, x[1].ny);
    for (int i = 0; i < x[0].ny; i++) {
        double error = fabs(x[0].y[i] - x[1].y[i]) / fmax(1.0, x[0].largest[i]);
        if (!(error <= largest)) {
            largest = error;
            worst = i;
        }
    }
    double g0 = x[0].certificate.max_g, g1 = x[1].certificate.max_g;
    print_message("%-22s %3d outputs differ by at most %.1e (%s), |g| %.0e and %.0e\n", m->file,
                  x[0].ny, largest, x[0].names[worst], g0, g1);
    return largest < 100 * tolerance && g0 < 1e-11 && g1 < 1e-11;
}

/* Both forms give the same outputs after a second, the fast mechanisms after a tenth: those of the
 * model, and places, velocities and reactions of everything. */
static void test_two_forms(void **state)
{
    (void)state;
    static const inventory list[] = {
        {"double-wishbone", "body lower upper carrier wheel",
         "heave lower-hinge upper-hinge lower-ball upper-ball tie-rod hub", 1},
        {"five-link-suspension", "upper-front upper-rear lateral trailing tie-rod carrier wheel",
         "trailing-inner upper-front-inner upper-rear-inner lateral-inner tie-rod-inner "
         "trailing-outer upper-front-outer upper-rear-outer lateral-outer tie-rod-outer hub",
         1},
        {"four-bar", "crank coupler rocker", "A B C D", 1},
        {"front-axle", /* without joints whose torques are small differences of two sides */
         "body rack left.lower left.upper left.carrier left.wheel right.lower right.upper "
         "right.carrier right.wheel",
         "left.lower-hinge left.upper-hinge left.lower-ball left.upper-ball "
         "left.tie-rod left.hub right.lower-hinge right.upper-hinge right.lower-ball "
         "right.upper-ball right.tie-rod right.hub",
         1},
        {"gyroscope", "top", "tip", 1},
        {"iftomm-a01-pendulum", "bob", "pivot", 1},
        {"iftomm-a02-four-bars", "crank0 crank1 crank2 coupler0 coupler1",
         "pivot0 pivot1 pivot2 pin0 pin1 loop0 loop1", 1},
        {"iftomm-a03-andrews", "OF FE BDE EG AG HE AH", "O F B A-G G A-H H E-BDE E-EG E-HE", 0.1},
        {"iftomm-a04-bricard", "rod1 rod2 rod3 rod4 rod5", NULL, 1},
        {"iftomm-a05-governor", "shaft rod1 rod2 ball1 ball2 slider",
         "bearing hinge1 hinge2 end1 end2 guide", 0.1},
        {"n-pendulum", "rod1 rod2 rod3", "hinge1 hinge2 hinge3", 1},
        {"passenger-car",
         "car rack fl.lower fl.upper fl.carrier fl.wheel.rim fr.carrier fr.wheel.rim rl.carrier "
         "rl.wheel.rim rr.carrier rr.wheel.rim",
         "rack fl.lower-hinge fl.upper-hinge fl.lower-ball fl.upper-ball fl.tie-rod fl.wheel.hub "
         "fr.upper-ball fr.tie-rod rl.upper-front rl.upper-rear rl.lateral rl.trailing rl.tie-rod "
         "rl.wheel.hub rr.trailing",
         0.2},
        {"quarter-car-a", "chassis", "guide", 1},
        {"quarter-car-b", "chassis wheel", "guide wheel-guide", 1},
        {"quarter-car-c", "chassis axle ring", "guide axle-guide ring-guide", 1},
        {"rear-axle-stamp",
         "subframe left.stamp left.carrier left.trailing.bar left.tie-rod.bar right.carrier "
         "right.upper-front.bar right.upper-rear.bar right.lateral.bar",
         "left.stamp right.stamp", 0.1},
        {"slider-crank-3d", "crank rod slider", "bearing guide cross ball", 1},
        {"tilting-table", "table block ball arm", "hinge guide post", 0.7},
    };
    enum { MODELS = sizeof list / sizeof *list };
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    /* test_vehicle, test_carriage and test_hmmwv compare those, at tolerances of their own */
    size_t vehicles = 0;
    for (size_t k = 0; k < files.gl_pathc; k++)
        vehicles += strstr(files.gl_pathv[k], "/vehicle") || strstr(files.gl_pathv[k], "/train") ||
                    strstr(files.gl_pathv[k], "/hmmwv");
    assert_int_equal(files.gl_pathc - vehicles, MODELS);
    globfree(&files);
    int bad = 0;
    for (int k = 0; k < MODELS; k++)
        bad += !agree(&list[k]);
    assert_int_equal(bad, 0);
}

/* Terms and derivatives that models supply are those of differences. */
static void test_derivatives(void **state)
{
    (void)state;
    static const char *const forms[] = {"joint", "cartesian"};
    bg_error err = {BG_OK, ""};
    double worst = 0;
    int bad = 0, compared = 0;
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < 2 * files.gl_pathc; k++) {
        bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
        bg_model *model;
        bg_system *sys;
        int count;
        if (strstr(files.gl_pathv[k / 2], "/train")) /* contacts that change within 10 um: see */
            continue;                                /* test_carriage, with steps that are finer */
        assert_ok(bg_model_read(files.gl_pathv[k / 2], NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        assert_ok(bg_system_check_derivatives(sys, 3, 1, checks, &count, &err));
        for (int i = 0; i < count; i++, compared++) {
            worst = fmax(worst, checks[i].error);
            if (checks[i].error < 1e-6)
                continue;
            print_error("%s, %s: %s of %s is %.12g, by differences %.12g\n", files.gl_pathv[k / 2],
                        forms[k % 2], checks[i].quantity, checks[i].entry, checks[i].supplied,
                        checks[i].differenced);
            bad++;
        }
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    print_message("%d quantities differ from differences by at most %.1e\n", compared, worst);
    assert_true(compared > 10 * (int)files.gl_pathc);
    assert_int_equal(bad, 0);
    globfree(&files);
}

typedef struct reference {
    const char *file, *output;
    double t_end, tolerance, value, error;
    int redundant;
} reference;

/* IFToMM problems A01 to A05 in joint coordinates. A05 is stiff, mdop5 takes many steps for it. */
static void test_benchmarks(void **state)
{
    (void)state;
    static const reference list[] = {
        {"iftomm-a01-pendulum", "P.x", 10, 1e-10, -0.27508746257611686005, 1e-8, 0},
        {"iftomm-a01-pendulum", "P.y", 10, 1e-10, -0.96141920509912506427, 1e-8, 0},
        {"iftomm-a02-four-bars", "B0.x", 10, 1e-10, 0.32845811154081537865, 1e-6, 0},
        {"iftomm-a02-four-bars", "B0.y", 10, 1e-10, 0.94451853817860096216, 1e-6, 0},
        {"iftomm-a03-andrews", "beta", 0.05, 1e-10, 33.815340721360173777, 1e-8, 0},
        {"iftomm-a03-andrews", "F.x", 0.05, 1e-10, -0.0051589852501886701793, 1e-8, 0},
        {"iftomm-a04-bricard", "P3.x", 10, 1e-9, 0.99973098730383535, 1e-7, 1},
        {"iftomm-a04-bricard", "P3.z", 10, 1e-9, -2.6897651224930460e-4, 1e-7, 1},
        {"iftomm-a05-governor", "s", 10, 1e-8, 0.61962291706136566, 1e-6, 0},
        {"iftomm-a05-governor", "alpha", 10, 1e-8, 0.39007370184464508, 1e-6, 0},
        {"iftomm-a05-governor", "speed", 10, 1e-8, 5.5482036226549266, 1e-6, 0},
    };
    static model_outcome y;
    int bad = 0;
    if (SANITIZED)
        skip(); /* long runs of what is run above */
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const reference *x = &list[k];
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s.json", BOGIE_SOURCE_DIR, x->file);
        if (k == 0 || strcmp(x->file, list[k - 1].file) != 0) /* else it is the same run */
            run_changed(path, NULL, 0, "mdop5", "joint", x->t_end, x->tolerance, &y);
        double error = fabs(find_output(&y, x->output) - x->value);
        print_message("%-22s %-5s error %.1e\n", x->file, x->output, error);
        bad += !(error < x->error) || y.redundant != x->redundant;
    }
    assert_int_equal(bad, 0);
}

/* A02 with two loops through its ten singular positions in ten seconds: in both forms, at every
 * tolerance the error is that of the tolerance. Loops closed by hinges are redundant besides; loops
 * and pins that are balls bring quaternions into the joint form. */
static void test_singular_positions(void **state)
{
    (void)state;
    static const char *const forms[] = {"joint", "cartesian"};
    static const bg_setting hinges[] = {{"joints.loop0.type", "\"revolute\""},
                                        {"joints.loop1.type", "\"revolute\""}};
#define BALL(a, b, at) "{\"type\":\"spherical\",\"bodies\":[\"" a "\",\"" b "\"],\"at\":" at "}"
    static const bg_setting balls[] = {{"joints.pin0", BALL("crank0", "coupler0", "[0,1,0]")},
                                       {"joints.pin1", BALL("crank1", "coupler1", "[1,1,0]")},
                                       {"joints.loop0", BALL("crank1", "coupler0", "[1,1,0]")},
                                       {"joints.loop1", BALL("crank2", "coupler1", "[2,1,0]")},
                                       {"bodies.coupler0.inertia", "[0.01, \"1/12\", \"1/12\"]"},
                                       {"bodies.coupler1.inertia", "[0.01, \"1/12\", \"1/12\"]"}};
    static const struct {
        const char *name, *integrator;
        const bg_setting *settings;
        int nsettings, redundant;
        double most; /* tolerances */
    } list[] = {
        {"points on lines", "mdop5", NULL, 0, 0, 1e3}, {"points on lines", "hem5", NULL, 0, 0, 1e3},
        {"points on lines", "hem4", NULL, 0, 0, 1e3},  {"points on lines", "bdf", NULL, 0, 0, 4e4},
        {"hinges", "mdop5", hinges, 2, 6, 1e3},        {"balls", "mdop5", balls, 6, 0, 1e3}};
    static model_outcome y;
    int bad = 0;
    for (size_t k = 0; k < 2 * sizeof list / sizeof *list; k++) {
        print_message("%-15s %-5s %-9s errors / tolerance:", list[k / 2].name,
                      list[k / 2].integrator, forms[k % 2]);
        for (int exponent = 6; exponent <= (SANITIZED ? 6 : 12); exponent += k < 2 ? 1 : 3) {
            double tolerance = pow(10, -exponent);
            run_changed(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", list[k / 2].settings,
                        list[k / 2].nsettings, list[k / 2].integrator, forms[k % 2], 10, tolerance,
                        &y);
            double dx = find_output(&y, "B0.x") - 0.32845811154081537865;
            double dy = find_output(&y, "B0.y") - 0.94451853817860096216;
            double error = hypot(dx, dy);
            print_message(" %.0f", error / tolerance);
            double most = list[k / 2].most * tolerance;
            bad += !(error < most && y.certificate.energy_error < most);
            double off = list[k / 2].most > 1e3 ? tolerance : 0; /* bdf does not project */
            bad += y.certificate.max_g > 1e-11 + off || y.redundant != list[k / 2].redundant;
        }
        print_message("\n");
    }
    assert_int_equal(bad, 0);
}

/* Keeps how far the first tip is off its circle and the energy off its start, and the largest
 * acceleration. */
static bg_status check_row(void *self, const bg_row *row, bg_error *err)
{
    (void)err;
    double *worst = self;
    worst[0] = fmax(worst[0], fabs(hypot(row->y[0], row->y[1]) - 1));
    worst[1] = fmax(worst[1], fabs(row->y[4] - 35.835));
    for (int i = 0; i < 5; i++)
        worst[2] = fmax(worst[2], fabs(row->state->a[i]));
    return BG_OK;
}

/* The first row after the start at 0.714355529... s, where all links lie on one line, or next to
 * it; or many rows of which some come close. */
static void write_rows(double tolerance, double interval, double t_end, long rows, double worst[3])
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    assert_ok(
        bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, "joint", &sys, &err));
    o.t_end = t_end;
    o.output_interval = interval;
    o.method.rtol = o.method.atol = tolerance;
    o.sink = (bg_sink){.self = worst, .row = check_row};
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(r.rows, rows);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* Rows on a grid that meets a singular position so closely that nothing can be projected there, or
 * solved for a, do not end the run, and they are as good as others: many rows of which some come
 * close, and a second one where all links lie on one line for the first time, or beside it. */
static void test_rows_in_singular_positions(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-9, 1e-10, 1e-12};
    static const double flat = 0.71435552929274881, beside[] = {0, 1e-12, 1e-10, 1e-9, 1e-7, 1e-5};
    for (int k = 0; k < (SANITIZED ? 1 : 3); k++) {
        double worst[3] = {0};
        write_rows(tolerances[k], 1e-4, 7, 70001, worst);
        for (int i = 0; i < 6; i++)
            write_rows(tolerances[k], flat + beside[i], 1, 3, worst);
        print_message("rows at %.0e: circle %.1e, energy %.1e, acceleration %.3f\n", tolerances[k],
                      worst[0], worst[1], worst[2]);
        assert_true(worst[0] < 1e-12 && worst[1] < 1e3 * tolerances[k]);
        assert_true(worst[2] > 11.44 && worst[2] < 1.1 * 11.45); /* rad/s^2, all links alike */
    }
}

/* Stopped and resumed every third step on the way over two singular positions, a run ends bit by
 * bit like one in a piece: what is known of leaps is part of a checkpoint. */
static void test_resumed_leaps(void **state)
{
    (void)state;
    char file[] = "/tmp/bogie-leaps-XXXXXX";
    close(mkstemp(file));
    double whole[35], pieces[35];
    bg_counters counters[2];
    bg_run_options o = bg_default_run_options();
    o.t_end = 1.3;
    o.method.rtol = o.method.atol = 1e-11;
    bg_status st;
    for (int k = 0; k < 2; k++)
        do {
            bg_error err = {BG_OK, ""};
            bg_model *model;
            bg_system *sys;
            bg_run_report r;
            assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", NULL, 0,
                                    &model, &err));
            assert_ok(bg_model_create_system(model, "cartesian", &sys, &err));
            o.checkpoint = k ? file : NULL;
            o.max_steps = k ? o.max_steps + 3 : 0;
            st = bg_run(sys, &o, &r, &err);
            assert_true(st == BG_OK || st == BG_TOO_MANY_STEPS);
            memcpy(k ? pieces : whole, r.final->q, sizeof whole);
            counters[k] = r.counters;
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
            bg_model_destroy(model);
            o.resume = k ? file : NULL;
        } while (st == BG_TOO_MANY_STEPS);
    assert_memory_equal(whole, pieces, sizeof whole);
    assert_int_equal(counters[0].steps.factorisations, counters[1].steps.factorisations);
    assert_true(counters[0].steps.factorisations > /* there were leaps */
                6 * (counters[0].accepted + counters[0].rejected) + 20);
    unlink(file);
}

/* A02 with 40 loops, through the positions in which all links lie on one line and the rank drops.
 */
static void test_forty_four_bars(void **state)
{
    (void)state;
    static model_outcome y;
    const bg_setting forty = {"parameters.N", "40"};
    static const char *const forms[] = {"joint", "cartesian"};
    for (int k = 0; k < 2; k++) {
        run_changed(BOGIE_SOURCE_DIR "/models/iftomm-a02-four-bars.json", &forty, 1, "mdop5",
                    forms[k], SANITIZED ? 1 : 10, 1e-8, &y); /* the first is before 1 s */
        if (SANITIZED)
            continue;
        double dx = fabs(find_output(&y, "B0.x") - 0.18051222668672839010);
        double dy = fabs(find_output(&y, "B0.y") - 0.98357274058231157488);
        print_message("forty four-bars, %s form: error %.1e, %.1e\n", forms[k], dx, dy);
        assert_true(dx < 1e-4 && dy < 1e-4);
    }
}

/* What 003 Table 1 has of a run: (12a) solved, and residuals and positions at its end. */
typedef struct table_row {
    long steps, attempts, projections, event_projections;
    double g, gv;    /* 2-norms at the end */
    double wheel[3]; /* m, centre of the wheel at the end */
} table_row;

static double calc_length(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void measure_end(bg_system *sys, const bg_run_report *r, table_row *row)
{
    static const char *const names[] = {"wheel.x", "wheel.y", "wheel.z"};
    const bg_system_def *def = bg_system_get_def(sys);
    const bg_state *x = r->final;
    bg_error err = {BG_OK, ""};
    bg_dynamics *d;
    bg_evaluator *ev = new_evaluator(sys);
    assert_ok(bg_dynamics_create(ev, &d, &err));
    assert_ok(bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode,
                                   BG_TERM_g | BG_TERM_G | BG_TERM_gt, &err));
    bg_dynamics_calc_w(d, x->v, d->work_g);
    *row = (table_row){.steps = r->counters.accepted,
                       .attempts = r->counters.accepted + r->counters.rejected,
                       .projections = bg_counters_sum_steps(&r->counters).projections,
                       .event_projections = r->counters.events.projections,
                       .g = calc_length(d->ng, d->terms.g),
                       .gv = calc_length(d->ng, d->work_g)};
    for (int i = 0; i < def->ny; i++)
        for (int k = 0; k < 3; k++)
            if (strcmp(def->y_names[i], names[k]) == 0)
                row->wheel[k] = r->y[i];
    bg_dynamics_destroy(d);
    bg_evaluator_destroy(ev);
}

/* A run of the five-link suspension as in 003: with its norm (15). */
static table_row run_five_link(const char *form, const char *projection, double tolerance)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    table_row row;
    bg_setting s[] = {{"projection", projection}, {"norm", "rms"}};
    bg_run_options o = bg_default_run_options();
    assert_ok(
        bg_model_read(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    const bg_system_def *def = bg_system_get_def(sys);
    assert_int_equal(def->nv - def->ng, 2);
    if (strcmp(form, "joint") == 0) { /* as the paper's 14 angles; one joint is a ball, of 4 q */
        assert_int_equal(def->nv, 14);
        assert_int_equal(def->nq, 15);
    }
    o.t_end = 0.6;
    o.method.rtol = o.method.atol = tolerance;
    o.method.settings = s;
    o.method.nsettings = 2;
    assert_ok(bg_run(sys, &o, &r, &err));
    measure_end(sys, &r, &row);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return row;
}

/* On a flat road the suspension stays where it starts: it starts in static equilibrium. */
static void test_five_link_rests(void **state)
{
    (void)state;
    static const bg_setting flat = {"road",
                                    "{\"type\":\"flat\",\"speed\":\"speed\",\"base\":\"base\"}"};
    static model_outcome x;
    run_changed(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", &flat, 1, "mdop5", "joint", 1,
                1e-8, &x);
    double height = 0, damper = 0;
    for (int i = 0; i < x.ny; i++)
        if (strcmp(x.names[i], "wheel.z") == 0)
            height = x.largest[i];
        else if (strcmp(x.names[i], "damper") == 0)
            damper = x.largest[i];
    print_message("the wheel moves by %.1e m, damper %.1e N under %.0f N\n", height, damper,
                  find_output(&x, "spring"));
    assert_true(height < 1e-8 && damper > 0 && damper < 0.01);
    assert_true(find_output(&x, "spring") < -9000);
}

/* 003 Table 1: the suspension over a smooth bump with four kinds of projection, in both forms. */
static void check_table(const char *form)
{
    static const char *const modes[] = {"none", "velocity", "control", "every-step"};
    table_row x[4], exact = run_five_link(form, "every-step", 1e-10);
    for (int k = 0; k < 4; k++) {
        x[k] = run_five_link(form, modes[k], 1e-4);
        double e[3];
        for (int i = 0; i < 3; i++)
            e[i] = x[k].wheel[i] - exact.wheel[i];
        print_message("%-9s %-10s %3ld steps, (12a) solved %3ld times and %ld for events, |g| "
                      "%.1e, |Gv| %.1e, "
                      "wheel %.1e m\n",
                      form, modes[k], x[k].steps, x[k].projections, x[k].event_projections, x[k].g,
                      x[k].gv, calc_length(3, e));
        assert_true(calc_length(3, e) < 1e-5);
        assert_int_equal(x[k].steps, x[0].steps); /* 83 in each case there */
        assert_true(x[k].event_projections >= 2 && x[k].event_projections <= 6);
    }
    assert_true(x[0].projections == 0 && x[1].projections == 0);
    assert_true(x[2].projections > 0 && x[2].projections < x[3].projections / 4);
    assert_int_equal(x[3].projections, x[3].attempts);
    assert_true(x[0].g > 1e-8 && x[1].g > 1e4 * x[2].g && x[0].gv > 1e4 * x[1].gv);
    assert_true(x[2].g < 1e-12 && x[3].g < 1e-12); /* 1.5e-13 and 1.6e-13 there */
    for (int k = 1; k < 4; k++)
        assert_true(x[k].gv < 1e-11); /* up to 1.0e-11 there */
}

static void test_five_link_bump(void **state)
{
    (void)state;
    check_table("cartesian");
    check_table("joint");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_forms),
                                       cmocka_unit_test(test_derivatives),
                                       cmocka_unit_test(test_benchmarks),
                                       cmocka_unit_test(test_singular_positions),
                                       cmocka_unit_test(test_rows_in_singular_positions),
                                       cmocka_unit_test(test_resumed_leaps),
                                       cmocka_unit_test(test_forty_four_bars),
                                       cmocka_unit_test(test_five_link_rests),
                                       cmocka_unit_test(test_five_link_bump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

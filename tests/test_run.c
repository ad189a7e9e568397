/* The run driver: rows, stops, limits, checkpoints that resume bit by bit, certificates, bad input.
 */
#include "run_support.h"

#include <stdbool.h>

#include <unistd.h>

enum { MAX_ROWS = 20000 };

/* Keeps the rows of a run. */
typedef struct row_recorder {
    long rows, events, begins;
    double t[MAX_ROWS], q0[MAX_ROWS], h[MAX_ROWS];
    long stop_after; /* rows; 0: never */
    volatile sig_atomic_t stop;
} row_recorder;

static bg_status recorder_begin(void *self, bg_error *err)
{
    (void)err;
    ((row_recorder *)self)->begins++;
    return BG_OK;
}

static bg_status recorder_row(void *self, const bg_row *row, bg_error *err)
{
    row_recorder *r = self;
    (void)err;
    assert_true(r->rows < MAX_ROWS);
    r->t[r->rows] = row->state->t;
    r->q0[r->rows] = row->state->q[0];
    r->h[r->rows] = row->h;
    r->rows++;
    if (r->stop_after > 0 && r->rows >= r->stop_after)
        r->stop = 1;
    return BG_OK;
}

static bg_status recorder_event(void *self, const bg_event *event, bg_error *err)
{
    (void)event;
    (void)err;
    ((row_recorder *)self)->events++;
    return BG_OK;
}

static row_recorder *create_recorder(bg_run_options *o)
{
    row_recorder *r = calloc(1, sizeof *r);
    o->sink = (bg_sink){
        .self = r, .begin = recorder_begin, .row = recorder_row, .event = recorder_event};
    o->stop = &r->stop;
    return r;
}

static void test_grid(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:pendulum", NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.t_end = 1.05;
    o.output_interval = 0.1;
    o.method.rtol = o.method.atol = 1e-10;
    row_recorder *x = create_recorder(&o);
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(x->rows, 12); /* 0, 0.1, ..., 1.0 and the end */
    assert_int_equal(r.rows, 12);
    assert_int_equal(x->begins, 1);
    for (int i = 0; i < 11; i++)
        assert_true(x->t[i] == 0.0 + i * 0.1);
    assert_true(x->t[11] == 1.05);
    assert_true(fabs(x->q0[5] - -0.39104879155054638769) < 1e-8); /* exact values at 0.5 and 1 */
    assert_true(fabs(x->q0[10] - 0.98629175113187531936) < 1e-8);
    free(x);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

static void test_every_step(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:pendulum", NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.output_steps = 1;
    row_recorder *x = create_recorder(&o);
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(x->events, 8);
    assert_int_equal(x->rows, r.counters.accepted + 1 + 8); /* start, steps, events */
    for (long i = 1; i < x->rows; i++)
        assert_true(x->t[i] > x->t[i - 1]);
    assert_true(x->t[x->rows - 1] == 10.0);
    free(x);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

/* Rows between the ends of steps are work of their own: they change nothing that steps and events
 * took. */
static void test_rows_are_no_work_of_steps(void **state)
{
    (void)state;
    static const char *const references[] = {"equations:pendulum", "equations:car-axle"};
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        bg_counters n[2];
        for (int rows = 0; rows < 2; rows++) {
            bg_error err = {BG_OK, ""};
            bg_system *sys = create_system(references[k], NULL, NULL);
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            o.t_end = 1;
            o.output_interval = rows ? 1e-3 : 0;
            row_recorder *x = create_recorder(&o);
            assert_ok(bg_run(sys, &o, &r, &err));
            n[rows] = r.counters;
            free(x);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
        assert_memory_equal(&n[0].steps, &n[1].steps, sizeof(bg_work));
        assert_memory_equal(&n[0].projection, &n[1].projection, sizeof(bg_work));
        assert_memory_equal(&n[0].events, &n[1].events, sizeof(bg_work));
        assert_true(n[1].rows.projections > 500 + n[0].rows.projections);
    }
}

/* A run of zero length is a start and nothing else. */
static void test_no_time(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.t_end = 0;
    o.output_steps = 1;
    row_recorder *x = create_recorder(&o);
    assert_ok(bg_run(sys, &o, &r, &err));
    assert_int_equal(x->rows, 1);
    assert_int_equal(r.counters.accepted, 0);
    assert_true(r.final->t == 0);
    free(x);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

typedef struct ending {
    double q[8], v[8], z[2], lambda[8], work;
    bg_certificate certificate;
    long accepted, rejected, terms, nevents;
} ending;

static void keep_ending(const bg_system *sys, const bg_run_report *r, ending *e)
{
    const bg_system_def *d = bg_system_get_def(sys);
    memset(e, 0, sizeof *e);
    memcpy(e->q, r->final->q, (size_t)d->nq * sizeof(double));
    memcpy(e->v, r->final->v, (size_t)d->nv * sizeof(double));
    memcpy(e->z, r->final->z, (size_t)d->nz * sizeof(double));
    memcpy(e->lambda, r->final->lambda, (size_t)d->ng * sizeof(double));
    e->work = *r->final->work;
    e->certificate = r->certificate;
    e->certificate.real_time_factor = 0;
    e->accepted = r->counters.accepted;
    e->rejected = r->counters.rejected;
    e->terms = r->counters.steps.terms;
    e->nevents = r->nevents;
}

/* Stops after every `every` steps, saves, and goes on in a new run with a new system, to the end.
 * Method "projecting": mdop5 on the projecting descriptor form. */
static void check_resume(const char *system, const char *method, const char *projection,
                         double t_end, long every)
{
    bg_error err = {BG_OK, ""};
    char file[] = "/tmp/bogie-checkpoint-XXXXXX";
    close(mkstemp(file));
    bg_setting s[] = {{"projection", projection}, {"form", "projecting"}};
    bool projecting = strcmp(method, "projecting") == 0;
    bg_run_options o = bg_default_run_options();
    o.integrator = projecting ? "mdop5" : method;
    o.t_end = t_end;
    o.output_interval = t_end / 37;
    o.method.settings = s;
    o.method.nsettings = projecting ? 2 : 1;
    bg_run_report r;
    ending whole, pieces;
    row_recorder *rows = create_recorder(&o), *part = NULL;
    bg_system *sys = create_system(system, NULL, NULL);
    assert_ok(bg_run(sys, &o, &r, &err));
    keep_ending(sys, &r, &whole);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    part = create_recorder(&o);
    o.checkpoint = file;
    int restarts = 0;
    bg_status st;
    do {
        o.max_steps += every;
        sys = create_system(system, NULL, NULL);
        st = bg_run(sys, &o, &r, &err);
        assert_true(st == BG_OK || st == BG_TOO_MANY_STEPS);
        keep_ending(sys, &r, &pieces);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        o.resume = file;
        restarts++;
    } while (st == BG_TOO_MANY_STEPS);
    assert_true(restarts > 3);
    assert_memory_equal(&whole, &pieces, sizeof whole);
    assert_int_equal(rows->rows, part->rows); /* the rows, too, are those of one run */
    assert_memory_equal(rows->t, part->t, sizeof rows->t);
    assert_memory_equal(rows->q0, part->q0, sizeof rows->q0);
    free(rows);
    free(part);
    unlink(file);
}

static void test_resume(void **state)
{
    (void)state;
    check_resume("equations:andrews", "mdop5", "control", 0.03, 7);
    check_resume("equations:andrews", "mdop5", "every-step", 0.03, 1);
    check_resume("equations:car-axle", "hem5", "control", 1.0, 11);
    check_resume("equations:car-axle", "hem5", "every-step", 1.0, 30);
    check_resume("equations:pendulum", "mdop5", "every-step", 5.0, 13);
    check_resume("equations:slider-crank", "mdop5", "none", 10.0, 3);
    check_resume("equations:bouncing-ball", "mdop5", "every-step", 5.0, 5);
    check_resume("equations:bouncing-ball", "hem5", "every-step", 5.0, 9);
    check_resume("equations:circular-track", "hem5", "velocity", 5.0, 6);
    check_resume("equations:andrews", "hem4", "control", 0.03, 9);
    check_resume("equations:andrews", "projecting", "none", 0.03, 9);
    check_resume("equations:car-axle", "projecting", "control", 1.0, 31);
    check_resume("equations:pendulum", "projecting", "velocity", 5.0, 5);
    check_resume("equations:bouncing-ball", "hem4", "every-step", 5.0, 7);
    check_resume("equations:wheelset", "mdop5", "control", 0.2, 7);
    check_resume("equations:wheelset", "hem4", "every-step", 0.2, 9);
    check_resume("equations:wheelset", "projecting", "every-step", 0.2, 9);
}

/* Writing checkpoints on the way does not change the result. */
static void test_checkpoints_do_not_disturb(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    char file[] = "/tmp/bogie-checkpoint-XXXXXX";
    close(mkstemp(file));
    ending e[2];
    for (int k = 0; k < 2; k++) {
        bg_system *sys = create_system("equations:car-axle", NULL, NULL);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.checkpoint = k ? file : NULL;
        o.checkpoint_steps = 3;
        assert_ok(bg_run(sys, &o, &r, &err));
        keep_ending(sys, &r, &e[k]);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
    assert_memory_equal(&e[0], &e[1], sizeof e[0]);
    unlink(file);
}

static void test_stop(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.output_steps = 1;
    row_recorder *x = create_recorder(&o);
    x->stop_after = 25;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_STOPPED);
    assert_int_equal(x->rows, 25);
    assert_true(r.final->t > 0 && r.final->t == x->t[24]);
    free(x);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
}

static bg_status refuse(const char *system, const bg_run_options *o, bg_error *err)
{
    bg_run_report r;
    bg_system *sys = create_system(system, NULL, NULL);
    bg_status st = bg_run(sys, o, &r, err);
    assert_string_equal(r.message, err->text);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    return st;
}

static void test_bad_options(void **state)
{
    (void)state;
    bg_error err;
    bg_run_options o = bg_default_run_options();
    o.t_end = -1;
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "before start time"));
    o = bg_default_run_options();
    o.output_interval = -1;
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    o = bg_default_run_options();
    o.integrator = "mdopp5";
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    o = bg_default_run_options();
    o.max_steps = 3;
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_TOO_MANY_STEPS);
    o = bg_default_run_options();
    o.checkpoint = "/no/such/folder/file";
    o.t_end = 0.1;
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_IO);
    assert_non_null(strstr(err.text, "/no/such/folder/file"));
}

static void overwrite(const char *file, long at, unsigned char byte)
{
    FILE *f = fopen(file, "r+b");
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(byte, f);
    fclose(f);
}

/* A checkpoint of something else, or damaged, is refused with the reason. */
static void test_bad_checkpoints(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    char file[] = "/tmp/bogie-checkpoint-XXXXXX";
    close(mkstemp(file));
    bg_run_options o = bg_default_run_options();
    o.resume = file; /* empty */
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "checkpoint"));
    o.resume = NULL;
    o.checkpoint = file;
    o.max_steps = 20;
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_TOO_MANY_STEPS);
    o.resume = file;
    o.checkpoint = NULL;
    o.max_steps = 0;
    bg_run_options changed = o;
    changed.method.rtol = 1e-5;
    assert_int_equal(refuse("equations:pendulum", &changed, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "rtol"));
    changed = o;
    changed.integrator = "hem5";
    assert_int_equal(refuse("equations:pendulum", &changed, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "integrator"));
    assert_int_equal(refuse("equations:car-axle", &o, &err), BG_BAD_INPUT);
    bg_system *sys = create_system("equations:pendulum", "gravity", "1.62");
    bg_run_report r;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_BAD_INPUT); /* the same shape, other physics */
    assert_non_null(strstr(err.text, "parameters"));
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    changed = o;
    changed.t_end = 1e-9;
    assert_int_equal(refuse("equations:pendulum", &changed, &err), BG_BAD_INPUT);
    changed.t_end = 20; /* a later end is welcome */
    assert_int_equal(refuse("equations:pendulum", &changed, &err), BG_OK);
    overwrite(file, -100, 0xff);
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    assert_int_equal(truncate(file, 200), 0);
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_BAD_INPUT);
    unlink(file);
    assert_int_equal(refuse("equations:pendulum", &o, &err), BG_IO);
}

/* The energy balance converges with the tolerance, also where a rheonomic constraint does work. */
static void test_energy(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:car-axle", "equations:slider-crank",
                                          "equations:circular-track", "equations:andrews",
                                          "equations:pendulum"};
    static const char *const methods[] = {"mdop5", "hem4", "hem5"};
    bg_error err = {BG_OK, ""};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 5; i++) {
            double error[2];
            for (int k = 0; k < 2; k++) {
                bg_system *sys = create_system(systems[i], NULL, NULL);
                bg_run_options o = bg_default_run_options();
                bg_run_report r;
                o.integrator = methods[m];
                o.method.rtol = o.method.atol = k ? 1e-9 : 1e-5;
                assert_ok(bg_run(sys, &o, &r, &err));
                error[k] = r.certificate.energy_error / r.certificate.energy_scale;
                bg_run_report_clear(&r);
                bg_system_destroy(sys);
            }
            print_message("%s %s: energy error %.1e, %.1e of the scale\n", systems[i], methods[m],
                          error[0], error[1]);
            assert_true(error[1] > 0 && error[1] < 1e-6 && error[1] < 1e-2 * error[0]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_every_step),
        cmocka_unit_test(test_rows_are_no_work_of_steps),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_checkpoints_do_not_disturb),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_bad_checkpoints),
        cmocka_unit_test(test_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

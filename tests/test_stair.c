/* The five-link suspension down a stair at 30 m/s (003 section 5): every loss of contact and every
 * landing is found, where it is, at any tolerance.
 *
 * With the damper of the vehicle the wheel lands once. With a worn one, and a tyre without damping,
 * it bounces twice more, as in the paper. An independent look at the trajectory, on a grid of 10
 * microseconds, counts how often the tyre's switching function changes its sign. */
#include "run_support.h"

#include <stdbool.h>

enum { MAX_EVENTS = 16 };
static const double interval = 1e-5, stiffness = 280835.2941;

typedef struct variant {
    const char *name;
    int nevents;
    double damping; /* N s/m, of the tyre */
    bg_setting settings[4];
    int nsettings;
} variant;

#define STAIR                                                                                      \
    {                                                                                              \
        "road",                                                                                    \
            "{\"type\":\"stair\",\"at\":6,\"height\":-0.05,\"speed\":\"speed\",\"base\":\"base\"}" \
    }
#define OUTPUTS                                                                \
    {                                                                          \
        "outputs", "{\"gap\":{\"force\":\"tyre\",\"value\":\"gap\"},"          \
                   "\"gap_rate\":{\"force\":\"tyre\",\"value\":\"gap_rate\"}," \
                   "\"contact\":{\"force\":\"tyre\",\"value\":\"contact\"}}"   \
    }

static const variant variants[] = {
    {"vehicle's damper", 2, 2000, {STAIR, OUTPUTS}, 2},
    {"worn damper",
     6,
     0,
     {STAIR, OUTPUTS, {"forces.damper.damping", "1000"}, {"tyres.tyre.damping", "0"}},
     4},
};

/* What is seen of a run. */
typedef struct observer {
    const variant *x;
    double t[3], s[3]; /* the last rows, newest first */
    long rows;
    int changes, contradictions; /* of the sign of s; between it and the contact reported */
    double off;                  /* s, largest distance between an event and the zero of s */
    int nevents;
    double event[MAX_EVENTS]; /* s */
    double energy_error;      /* J */
} observer;

/* s = k delta + c min(0, delta'), positive in contact. */
static bg_status look(void *self, const bg_row *row, bg_error *err)
{
    (void)err;
    observer *o = self;
    double s = -stiffness * row->y[0] + o->x->damping * fmin(0, -row->y[1]);
    o->changes += o->rows > 0 && (s > 0) != (o->s[0] > 0);
    o->contradictions += (s > 0) != (row->y[2] > 0);
    memmove(o->t + 1, o->t, 2 * sizeof(double));
    memmove(o->s + 1, o->s, 2 * sizeof(double));
    o->t[0] = row->state->t;
    o->s[0] = s;
    o->rows++;
    return BG_OK;
}

/* The zero of the parabola through the last three rows, one Newton step from the event, is where
 * the event should be; the first one is at the edge of the stair, where s jumps. */
static bg_status look_at_event(void *self, const bg_event *event, bg_error *err)
{
    (void)err;
    observer *o = self;
    if (event->index != 0)
        return BG_OK; /* the edge of the stair, where the tyre lifts off in the same instant */
    if (o->nevents > 0 && o->rows > 3) {
        double d1 = (o->s[0] - o->s[1]) / (o->t[0] - o->t[1]);
        double d2 = ((o->s[1] - o->s[2]) / (o->t[1] - o->t[2]) - d1) / (o->t[2] - o->t[0]);
        double e0 = event->t - o->t[0], e1 = event->t - o->t[1];
        double s = o->s[0] + e0 * d1 + e0 * e1 * d2, slope = d1 + (e0 + e1) * d2;
        o->off = fmax(o->off, fabs(s / slope));
    }
    assert_true(o->nevents < MAX_EVENTS);
    o->event[o->nevents++] = event->t;
    return BG_OK;
}

static void run(const variant *x, const char *form, double tolerance, bool grid, observer *o)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options options = bg_default_run_options();
    *o = (observer){.x = x};
    assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", x->settings,
                            x->nsettings, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    options.t_end = 0.4;
    options.method.rtol = options.method.atol = tolerance;
    options.output_interval = grid ? interval : 0;
    options.sink = (bg_sink){.self = o, .row = look, .event = look_at_event};
    assert_ok(bg_run(sys, &options, &r, &err));
    o->energy_error = r.certificate.energy_error;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

enum { LAST = SANITIZED ? 5 : 10 }; /* 1e-LAST is the last tolerance */

/* No change of sign without an event, no event without one, each where the sign changes. */
static void test_all_found(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
        for (int exponent = 5; exponent <= LAST; exponent += exponent < 9 ? 2 : 1) {
            observer o;
            run(&variants[k], "joint", pow(10, -exponent), true, &o);
            print_message("%-16s at 1e-%02d: %d changes of sign, %d events, off by %.1e s\n",
                          variants[k].name, exponent, o.changes, o.nevents, o.off);
            assert_int_equal(o.rows, 40001);
            assert_int_equal(o.nevents, variants[k].nevents);
            assert_int_equal(o.changes, o.nevents);
            assert_int_equal(o.contradictions, 0);
            assert_true(o.off > 0 && o.off < 1e-9);
        }
}

/* The times are those of the motion: they hold under a tenfold change of the tolerance, to the
 * accuracy this promises, and to 1e-9 s from 1e-9 on. */
static void test_stable(void **state)
{
    (void)state;
    static const char *const forms[] = {"joint", "cartesian"};
    for (size_t k = 0; k < 2 * sizeof variants / sizeof *variants; k++) {
        const variant *x = &variants[k / 2];
        observer o[2];
        run(x, forms[k % 2], 1e-4, false, &o[0]);
        print_message("%s, %s form: events move by", x->name, forms[k % 2]);
        for (int exponent = 5; exponent <= LAST; exponent++) {
            double moved = 0, tolerance = pow(10, -exponent);
            run(x, forms[k % 2], tolerance, false, &o[1]);
            assert_int_equal(o[1].nevents, x->nevents);
            for (int i = 0; i < x->nevents; i++)
                moved = fmax(moved, fabs(o[1].event[i] - o[0].event[i]));
            print_message(" %.0e", moved);
            double edge = fabs(o[1].event[0] - 0.2); /* 6 m at 30 m/s */
            assert_true(edge < (exponent < 8 ? 1e-10 : 1e-12));
            if (exponent >= 8 && k == 0)
                assert_true(o[1].energy_error < 1e-6);
            assert_true(moved < 5 * tolerance);
            o[0] = o[1];
        }
        print_message(" s; last at %.9f s\n", o[1].event[x->nevents - 1]);
        if (SANITIZED)
            continue;
        run(x, forms[k % 2], 1e-9, false, &o[0]);
        for (int i = 0; i < x->nevents; i++)
            assert_true(fabs(o[0].event[i] - o[1].event[i]) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_found),
                                       cmocka_unit_test(test_stable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

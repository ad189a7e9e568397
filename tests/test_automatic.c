/* auto: bit by bit mdop5 where nothing is stiff; elsewhere bdf takes over within a few steps, and
 * nothing is lost there: state, work, rows, events, checkpoints. */
#include "model_support.h"

#include <unistd.h>

static bg_system *open_model(const char *name, const char *form, bg_model **model)
{
    bg_error err = {BG_OK, ""};
    char path[256];
    bg_system *sys;
    snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", name);
    assert_ok(bg_model_read(path, NULL, 0, model, &err));
    assert_ok(bg_model_create_system(*model, form, &sys, &err));
    return sys;
}

static bool has_warning(const bg_run_report *r, const char *topic)
{
    for (int i = 0; i < r->warnings.count; i++)
        if (strcmp(r->warnings.items[i].topic, topic) == 0)
            return true;
    return false;
}

static size_t count_numbers(const bg_system *sys)
{
    const bg_system_def *d = bg_system_get_def(sys);
    return (size_t)(d->nq + d->nv + d->nz + 1);
}

/* Models that are not stiff, at their ends; fixed steps of all models. */
static void test_not_stiff(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double t_end, step;
    } cases[] = {{"four-bar", 2, 0},        {"iftomm-a01-pendulum", 5, 0},
                 {"slider-crank-3d", 2, 0}, {"iftomm-a04-bricard", 5, 0},
                 {"gyroscope", 1, 0},       {"double-wishbone", 2, 0},
                 {"passenger-car", 3, 0},   {"iftomm-a05-governor", 0.02, 1e-4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            bg_model *model;
            bg_system *sys = open_model(cases[k].name, forms[form], &model);
            bg_run_report r[2];
            for (int i = 0; i < 2; i++) {
                bg_run_options o = bg_default_run_options();
                assert_string_equal(o.integrator, "auto");
                o.integrator = i ? "mdop5" : o.integrator;
                o.t_end = SANITIZED ? 0.1 * cases[k].t_end : cases[k].t_end;
                o.method.step = cases[k].step;
                o.skip_comparison = 1;
                assert_ok(bg_run(sys, &o, &r[i], &err));
            }
            assert_non_null(strstr(r[0].certificate.note, "all steps by mdop5"));
            assert_memory_equal(r[0].final->q, r[1].final->q, count_numbers(sys) * sizeof(double));
            assert_int_equal(r[0].counters.accepted, r[1].counters.accepted);
            assert_int_equal(r[0].counters.rejected, r[1].counters.rejected);
            assert_memory_equal(&r[0].counters.steps, &r[1].counters.steps,
                                sizeof r[0].counters.steps);
            bg_run_report_clear(&r[0]);
            bg_run_report_clear(&r[1]);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

typedef struct seen {
    double t, interval; /* s, of the last row; of the grid */
    long rows, grid;
} seen;

/* Rows at steps and on a grid, none earlier than the one before, none of the grid left out. */
static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    seen *s = self;
    (void)err;
    assert_true(s->rows == 0 || row->state->t >= s->t);
    s->t = row->state->t;
    s->rows++;
    s->grid += fabs(s->t - (double)s->grid * s->interval) <= 1e-12;
    return BG_OK;
}

static const struct {
    const char *name;
    double t_end, tolerance;
    long steps;    /* at most, before bdf takes over */
    int cartesian; /* in that form, too: with many unknowns, some hundred steps do not pay for bdf
                    */
} stiff[] = {{"hmmwv14", 0.8, 1e-6, 70, 1},
             {"iftomm-a05-governor", 1, 1e-8, 140, 1},
             {"front-axle", 4, 1e-6, 70, 0}};

/* The end is that of bdf within the tolerance, and the work hardly more. */
static void test_stiff(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof stiff / sizeof *stiff; k++)
        for (int form = 0; form <= (SANITIZED ? 0 : stiff[k].cartesian); form++) {
            bg_error err = {BG_OK, ""};
            bg_model *model;
            bg_system *sys = open_model(stiff[k].name, forms[form], &model);
            const int n = (int)count_numbers(sys);
            bg_run_report r[3];
            seen s = {.interval = stiff[k].t_end / 64};
            for (int i = 0; i < 3; i++) {
                bg_run_options o = bg_default_run_options();
                o.integrator = i ? "bdf" : "auto";
                o.t_end = stiff[k].t_end;
                o.method.rtol = o.method.atol = stiff[k].tolerance * (i == 2 ? 1e-2 : 1);
                if (i == 0) {
                    o.output_steps = 1;
                    o.output_interval = s.interval;
                    o.sink = (bg_sink){.self = &s, .row = take_row};
                }
                assert_ok(bg_run(sys, &o, &r[i], &err));
            }
            long before = strtol(r[0].certificate.note, NULL, 10);
            print_message("%s, %s: %s; bdf %ld\n", stiff[k].name, forms[form],
                          r[0].certificate.note, r[1].counters.accepted);
            assert_true(before >= 15 && before <= stiff[k].steps);
            assert_non_null(strstr(r[0].certificate.note, "by bdf"));
            assert_true(has_warning(&r[0], "stiff"));
            assert_true(r[0].verdict == BG_GOOD);
            assert_int_equal(s.grid, 65);
            assert_true(r[0].counters.accepted <
                        before + r[1].counters.accepted + r[1].counters.accepted / 4 + 30);
            double error[2] = {0, 0};
            for (int i = 0; i < n; i++) {
                double exact = r[2].final->q[i], size = 1 + fabs(exact);
                for (int j = 0; j < 2; j++)
                    error[j] = fmax(error[j], fabs(r[j].final->q[i] - exact) / size);
            }
            print_message("  errors %.1e, of bdf alone %.1e\n", error[0], error[1]);
            assert_true(error[0] < fmax(5 * error[1], 1e-5));
            assert_int_equal(r[0].nevents, r[2].nevents);
            for (int i = 0; i < 3; i++)
                bg_run_report_clear(&r[i]);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

/* Stopped before, at and behind the exchange, and resumed: the same bits and counts. */
static void test_resume(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (int form = 0; form <= (SANITIZED ? 0 : stiff[k].cartesian); form++) {
            bg_error err = {BG_OK, ""};
            bg_model *model;
            bg_system *sys = open_model(stiff[k].name, forms[form], &model);
            bg_run_options o = bg_default_run_options();
            bg_run_report whole;
            o.t_end = 0.2 * stiff[k].t_end;
            o.method.rtol = o.method.atol = stiff[k].tolerance;
            assert_ok(bg_run(sys, &o, &whole, &err));
            const long at = strtol(whole.certificate.note, NULL, 10);
            const long stops[] = {at - 3, at - 1, at, at + 1, at + 12};
            assert_non_null(strstr(whole.certificate.note, "by bdf"));
            for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
                char file[] = "/tmp/bogie-automatic-XXXXXX";
                bg_run_options p = o;
                bg_run_report r;
                int descriptor = mkstemp(file);
                assert_true(descriptor >= 0);
                close(descriptor);
                p.checkpoint = file;
                p.max_steps = stops[i];
                assert_true(bg_run(sys, &p, &r, &err) != BG_OK);
                bg_run_report_clear(&r);
                p.max_steps = 0;
                p.resume = file;
                assert_ok(bg_run(sys, &p, &r, &err));
                assert_memory_equal(r.final->q, whole.final->q,
                                    count_numbers(sys) * sizeof(double));
                assert_int_equal(r.counters.accepted, whole.counters.accepted);
                assert_int_equal(r.counters.rejected, whole.counters.rejected);
                assert_string_equal(r.certificate.note, whole.certificate.note);
                bg_run_report_clear(&r);
                remove(file);
            }
            bg_run_report_clear(&whole);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_stiff),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

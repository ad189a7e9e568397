/* Any bytes as a model file: read, compiled to both formulations, evaluated, run for a few steps
 * and linearised with its modes, or refused with one sentence. libFuzzer (clang -fsanitize=fuzzer)
 * supplies main and looks for crashes, reads outside of memory, undefined behaviour, leaks and
 * inputs that take long.
 *
 * What is legitimate work stays small: few bodies, few steps, few rows. */
#include "bogie/integrator.h"
#include "bogie/model.h"
#include "bogie/run.h"
#include "fuzz_json.h"
#include "linear/modes.h"
#include "model/model.h"
#include "run/start.h"

enum { LARGEST_TEXT = 1 << 14, MOST_BODIES = 12, MOST_STEPS = 3, MOST_ROWS = 20 };

static bg_status count_row(void *self, const bg_row *row, bg_error *err)
{
    (void)row;
    int *rows = self;
    return ++*rows < MOST_ROWS ? BG_OK : bg_error_set(err, BG_STOPPED, "enough rows were written");
}

/* As `bogie run MODEL -o FILE`, for a few steps; false: it did not start, and no other will. */
static bool run(bg_system *system, const bg_model *model, const char *integrator)
{
    bg_run_options options = bg_default_run_options();
    bg_run_report report = {0};
    bg_error err = {BG_OK, ""};
    int rows = 0;
    options.integrator = model->integrator[0] ? model->integrator : integrator;
    if (model->rtol > 0)
        options.method.rtol = model->rtol;
    if (model->atol > 0)
        options.method.atol = model->atol;
    if (model->step > 0)
        options.method.step = model->step;
    if (model->output_interval > 0)
        options.output_interval = model->output_interval;
    options.output_steps = 1;
    options.max_steps = MOST_STEPS;
    options.method.h_min = 1e-10; /* s: a step that shrinks on and on is legitimate, but long */
    options.sink = (bg_sink){.self = &rows, .row = count_row};
    bg_status status = bg_run(system, &options, &report, &err);
    if (status < 0)
        expect_sentence(status, &err);
    bool started = report.counters.accepted > 0;
    bg_run_report_clear(&report);
    return started;
}

/* As `bogie modes MODEL`, in equilibrium where the model asks for it. */
static void find_modes(const bg_system *system)
{
    bg_evaluator *evaluator = NULL;
    bg_state *state = NULL;
    bg_linearisation *linearisation = NULL;
    bg_assembly_report report = {0};
    bg_modes modes = {0};
    bg_error err = {BG_OK, ""};
    double t = system->def.t_start;
    bg_status status = bg_evaluator_create(system, &evaluator, &err);
    if (status == BG_OK)
        status = bg_state_create(system, &state, &err);
    if (status == BG_OK)
        status = system->equilibrium ? bg_start_find_rest(evaluator, t, state, &report, &err)
                                     : bg_start_find(evaluator, t, state, &report, &err);
    if (status == BG_OK)
        status = bg_linearisation_create(evaluator, &linearisation, &err);
    if (status == BG_OK)
        status = bg_linearisation_update(linearisation, state, &report.redundancy, &err);
    if (status == BG_OK)
        status = bg_modes_create(linearisation, &modes, &err);
    if (status != BG_OK)
        expect_sentence(status, &err);
    bg_modes_clear(&modes);
    bg_linearisation_destroy(linearisation);
    bg_assembly_report_clear(&report);
    bg_state_destroy(state);
    bg_evaluator_destroy(evaluator);
}

static void check_formulation(const bg_model *model, const char *formulation)
{
    bg_system *system;
    bg_error err = {BG_OK, ""};
    bg_status status = bg_model_create_system(model, formulation, &system, &err);
    if (status != BG_OK) {
        expect_sentence(status, &err);
        return;
    }
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int count;
    status = bg_system_check_derivatives(system, 1, 1, checks, &count, &err);
    if (status < 0)
        expect_sentence(status, &err);
    if (run(system, model, "mdop5")) {
        run(system, model, "hem5");
        run(system, model, "bdf");
        find_modes(system);
    }
    bg_system_destroy(system);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const extreme[] = {
        "0",    "-1",           "1e308",     "-1e308",        "1e-308",    "1e9",     "2147483648",
        "null", "true",         "\"1/0\"",   "\"0^-1\"",      "\"9^9^9\"", "\"t\"",   "\"ground\"",
        "[]",   "{}",           "\"\"",      "[0,0,0]",       "[0,0,1]",   "[1,0,0]", "0.5",
        "1e15", "\"revolute\"", "\"fixed\"", "\"spherical\"", "\"screw\"", "1e-15",   "\"free\"",
        "1e-7", "\"planar\""};
    return change_json(data, size, room, seed, extreme, sizeof extreme / sizeof *extreme);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bg_model *model;
    bg_error err = {BG_OK, ""};
    if (size > LARGEST_TEXT)
        return 0;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    bg_status status = bg_model_parse(text, "fuzz.json", NULL, 0, &model, &err);
    free(text);
    if (status != BG_OK) {
        expect_sentence(status, &err);
    } else if (model->nbodies <= MOST_BODIES) {
        check_formulation(model, "joint");
        check_formulation(model, "cartesian");
    }
    bg_model_destroy(model);
    return 0;
}

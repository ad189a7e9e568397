/* bogie realtime: runs a system against the wall clock, with inputs and outputs over UDP. */
#include "realtime/realtime.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/allocations.h"
#include "cli/cli.h"
#include "cli/realtime_report.h"
#include "realtime/host.h"
#include "run/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct realtime_arguments {
    const char *integrator, *listen, *send, *inputs, *outputs, *overload, *spin, *delay, *summary;
    double rate, duration; /* Hz, NAN: as the model says; s, NAN: until a signal */
    long priority;
    int formulation, hold, quiet, unprepared;
    bg_cli_settings settings;
} realtime_arguments;

/* s without a datagram after which a sender may count anew; nothing is overtaken for that long */
#define SILENCE 0.1

#define FIELD(name) offsetof(realtime_arguments, name)

static const bg_cli_option options[] = {
    {"--rate", NULL, "HZ", BG_CLI_POSITIVE, FIELD(rate),
     "steps a second (default: by the model's step, or 1000)"},
    {"--duration", NULL, "S", BG_CLI_POSITIVE, FIELD(duration),
     "simulated seconds to run (default: until Ctrl-C)"},
    {"--integrator", NULL, "NAME", BG_CLI_INTEGRATOR, FIELD(integrator),
     "method with the same work in every step (default: the model's, or linear-euler)"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE, FIELD(formulation),
     "coordinates of a model (default: the model's, or joint)"},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, FIELD(settings),
     "parameter of the system, path into a model, or integrator.OPTION=VALUE"},
    {"--listen", NULL, "HOST:PORT", BG_CLI_TEXT, FIELD(listen),
     "receive inputs there by UDP; PORT alone is on this computer, 0 any free one"},
    {"--inputs", NULL, "NAME,...", BG_CLI_TEXT, FIELD(inputs),
     "inputs of the model that are received (default: all)"},
    {"--hold", NULL, "value|slope", BG_CLI_CHOICE, FIELD(hold),
     "between datagrams an input keeps its last value (default), or goes on along the line through "
     "the last two, as joints that follow an input need it"},
    {"--send", NULL, "HOST:PORT", BG_CLI_TEXT, FIELD(send),
     "send outputs there by UDP, one datagram a step"},
    {"--outputs", NULL, "NAME,...", BG_CLI_TEXT, FIELD(outputs),
     "outputs, coordinates, velocities or states that are sent, if need be with their kind, as in "
     "q:angle (default: all outputs, or coordinates and velocities)"},
    {"--no-preparation", NULL, NULL, BG_CLI_FLAG, FIELD(unprepared),
     "make the Jacobian in the step, with its inputs, not in the pause before it"},
    {"--overload", NULL, "POLICY", BG_CLI_TEXT, FIELD(overload),
     "after a missed deadline: periods that went by have no step (skip, the default), the next "
     "step follows at once and later ones are moved (slow), steps follow without a pause until "
     "simulated time is back at the clock or more than a second behind it (catch-up), or as skip "
     "until N were missed (stop:N)"},
    {"--spin", NULL, "TIME", BG_CLI_TEXT, FIELD(spin),
     "before a step read the clock instead of sleeping; 0 only sleeps (default: 200us or a fifth "
     "of the period; at most 90 % of it, since the system stops a thread under SCHED_FIFO that "
     "hardly sleeps)"},
    {"--priority", NULL, "N", BG_CLI_COUNT, FIELD(priority),
     "of SCHED_FIFO, with memory locked (default 80; 0: neither); a note says where they are "
     "refused"},
    {"--inject-delay", NULL, "TIME:N", BG_CLI_TEXT, FIELD(delay),
     "for tests: delay every N-th step, as in 5ms:100"},
    {"--summary", NULL, "FILE|-", BG_CLI_FILE, FIELD(summary), "report as JSON; - is stdout"},
    {"--quiet", NULL, NULL, BG_CLI_FLAG, FIELD(quiet), "no report and no live view"},
};

/* A list of names separated by commas, in one copy. */
typedef struct name_list {
    char *text;
    const char **item;
    int count;
} name_list;

static bg_status split_names(const char *text, name_list *list, bg_error *err)
{
    list->count = 1;
    for (const char *c = text; *c; c++)
        list->count += *c == ',';
    list->text = strdup(text);
    list->item = calloc((size_t)list->count, sizeof *list->item);
    if (!list->text || !list->item)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for names");
    char *rest = list->text;
    for (int k = 0; k < list->count; k++)
        list->item[k] = strsep(&rest, ",");
    return BG_OK;
}

static void names_clear(name_list *list)
{
    free(list->text);
    free(list->item);
}

/* Everything of a run that has to be released. */
typedef struct session {
    bg_problem *problem;
    name_list inputs, outputs;
    bg_realtime *rt;
    bg_udp *udp;
    double *u, *y; /* [ninputs], [noutputs] */
    long step;
    bool constrained, sends;
    bg_pacer pacer;
    bg_realtime_view view;
    bg_realtime_report report;
    bool checked; /* nothing stands in the way of the summary */
} session;

static void session_clear(session *s)
{
    bg_udp_destroy(s->udp);
    bg_warnings_clear(&s->report.warnings);
    bg_realtime_destroy(s->rt);
    bg_problem_destroy(s->problem);
    names_clear(&s->inputs);
    names_clear(&s->outputs);
    free(s->u);
    free(s->y);
    free(s);
}

static bg_status read_overload(const char *text, bg_pacer *pacer, bg_error *err)
{
    if (strcmp(text, "skip") == 0) {
        pacer->overload = BG_OVERLOAD_SKIP;
    } else if (strcmp(text, "slow") == 0) {
        pacer->overload = BG_OVERLOAD_SLOW;
    } else if (strcmp(text, "catch-up") == 0) {
        pacer->overload = BG_OVERLOAD_CATCH_UP;
        pacer->abandon_after = pacer->period > 100000000 ? 10 * pacer->period : 1000000000;
    } else {
        pacer->overload = BG_OVERLOAD_STOP;
        if (strncmp(text, "stop:", 5) != 0 || !bg_text_to_count(text + 5, &pacer->stop_after) ||
            pacer->stop_after < 1)
            return bg_error_set(
                err, BG_BAD_INPUT,
                "--overload is skip, slow, catch-up or stop:N with N from 1 on, not '%s'", text);
    }
    return BG_OK;
}

/* Reads a time with its unit, such as 5ms, and returns what follows it; NULL: it is none. */
static const char *read_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *unit;
    double time;
    if (!bg_text_scan_double(text, &time, &unit))
        return NULL;
    for (size_t k = 0; k < sizeof units / sizeof *units && time >= 0 && time < 1e9; k++) {
        size_t n = strlen(units[k].name);
        if (strncmp(unit, units[k].name, n) == 0) {
            *ns = (int64_t)(time * units[k].ns);
            return unit + n;
        }
    }
    return NULL;
}

/* "5ms:100": a time with its unit, and how often. */
static bg_status read_delay(const char *text, bg_pacer *pacer, bg_error *err)
{
    const char *count = read_time(text, &pacer->delay);
    if (count && pacer->delay > 0 && *count == ':' &&
        bg_text_to_count(count + 1, &pacer->delay_every) && pacer->delay_every > 0)
        return BG_OK;
    return bg_error_set(err, BG_BAD_INPUT,
                        "--inject-delay needs a time in us, ms or s and a count, such as 5ms:100, "
                        "not '%s'",
                        text);
}

/* "200us", or "0". NULL: as long as wake-ups are often late by, but not most of a short period. */
static bg_status read_spin(const char *text, bg_pacer *pacer, bg_error *err)
{
    if (!text) {
        pacer->spin = pacer->period / 5 < 200000 ? pacer->period / 5 : 200000;
        return BG_OK;
    }
    if (strcmp(text, "0") == 0)
        return BG_OK;
    const char *rest = read_time(text, &pacer->spin);
    if (!rest || *rest != '\0')
        return bg_error_set(err, BG_BAD_INPUT,
                            "--spin needs a time in us, ms or s, such as 200us, or 0 to sleep "
                            "only, not '%s'",
                            text);
    if (pacer->spin > pacer->period / 10 * 9)
        return bg_error_set(err, BG_BAD_INPUT,
                            "--spin %s is more than 90 %% of the period of %g ms, and a thread "
                            "that hardly sleeps is stopped by the system; give less",
                            text, 1e-6 * (double)pacer->period);
    return BG_OK;
}

static bg_status check_arguments(const realtime_arguments *args, session *s, bg_error *err)
{
    if (args->rate > 1e5 || args->rate < 1e-3)
        return bg_error_set(err, BG_BAD_INPUT, "--rate %g is out of range; give 0.001 to 100000 Hz",
                            args->rate);
    if (args->duration * args->rate > 1e15)
        return bg_error_set(err, BG_BAD_INPUT, "--duration %g is too long", args->duration);
    if (args->priority > 99)
        return bg_error_set(err, BG_BAD_INPUT, "--priority is a number from 0 to 99, not %ld",
                            args->priority);
    if (args->inputs && !args->listen)
        return bg_error_set(err, BG_BAD_INPUT, "--inputs needs --listen HOST:PORT to come from");
    if (args->hold && !args->listen)
        return bg_error_set(err, BG_BAD_INPUT,
                            "--hold slope is for inputs that are received; give --listen "
                            "HOST:PORT, too");
    if (args->outputs && !args->send)
        return bg_error_set(err, BG_BAD_INPUT, "--outputs needs --send HOST:PORT to go to");
    s->pacer.clock = bg_clock_get_monotonic();
    s->pacer.period = (int64_t)round(1e9 / args->rate);
    s->pacer.steps = isnan(args->duration) ? 0 : (long)fmax(1, round(args->duration * args->rate));
    bg_status status = read_overload(args->overload, &s->pacer, err);
    if (!status)
        status = read_spin(args->spin, &s->pacer, err);
    if (!status && args->delay)
        status = read_delay(args->delay, &s->pacer, err);
    s->report.rate = args->rate;
    s->report.spin = s->pacer.spin;
    s->report.statistics.period = s->pacer.period;
    return status;
}

/* The inputs that are received: those named, or all. */
static bg_status find_inputs(const realtime_arguments *args, session *s, bg_error *err)
{
    const bg_system *system = bg_problem_get_system(s->problem);
    int nu = bg_system_get_def(system)->nu;
    if (!args->listen)
        return BG_OK;
    if (args->inputs)
        return split_names(args->inputs, &s->inputs, err);
    if (nu == 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' has no inputs that could be received; leave --listen out",
                            bg_problem_get_reference(s->problem));
    s->inputs.text = calloc((size_t)nu, 32);
    s->inputs.item = calloc((size_t)nu, sizeof *s->inputs.item);
    if (!s->inputs.text || !s->inputs.item)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for names");
    for (int i = 0; i < nu; i++)
        s->inputs.item[i] = bg_system_get_name(system, 'u', i, s->inputs.text + 32 * i, 32);
    s->inputs.count = nu;
    return BG_OK;
}

static bg_status create_realtime(const realtime_arguments *args, session *s, bg_error *err)
{
    bg_realtime_options o = bg_problem_get_realtime_options(s->problem);
    o.inputs = s->inputs.item;
    o.ninputs = s->inputs.count;
    o.hold = args->hold ? BG_HOLD_SLOPE : BG_HOLD_VALUE;
    o.outputs = args->outputs ? s->outputs.item : NULL;
    o.noutputs = s->outputs.count;
    bg_status status = bg_realtime_create(bg_problem_get_system(s->problem), &o, &s->rt, err);
    if (status)
        bg_problem_locate(s->problem, status, err);
    return status;
}

/* Reads the model, which may say the rate, and creates its system. */
static bg_status open_problem(const char *reference, realtime_arguments *args, session *s,
                              bg_error *err)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    def.integrator = args->integrator;
    def.step = 1 / args->rate;
    bg_status status = BG_OK;
    if (args->summary && strcmp(args->summary, "-") != 0)
        status = bg_place_check(args->summary, BG_PLACE_SUMMARY, err);
    s->checked = !status;
    if (!status)
        status = bg_problem_read(&def, &s->problem, err);
    if (status)
        return status;
    bg_realtime_options o = bg_problem_get_realtime_options(s->problem);
    s->report.integrator = o.integrator;
    s->report.formulation = bg_problem_get_formulation(s->problem);
    if (isnan(args->rate))
        args->rate = 1 / o.period;
    status = check_arguments(args, s, err);
    return status ? status : bg_problem_create_system(s->problem, err);
}

static bg_status prepare(const char *reference, realtime_arguments *args, session *s, bg_error *err)
{
    bg_status status = open_problem(reference, args, s, err);
    if (!status)
        status = find_inputs(args, s, err);
    if (!status && args->outputs)
        status = split_names(args->outputs, &s->outputs, err);
    if (!status)
        status = create_realtime(args, s, err);
    if (status)
        return status;
    int nin = bg_realtime_get_ninputs(s->rt), nout = bg_realtime_get_noutputs(s->rt);
    s->u = calloc((size_t)nin + 1, sizeof *s->u);
    s->y = calloc((size_t)nout + 1, sizeof *s->y);
    if (!s->u || !s->y)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for inputs and outputs");
    long silence = (long)ceil(SILENCE * args->rate);
    return bg_udp_create(args->listen, nin, silence, args->send, nout, &s->udp, err);
}

/* One period: what has come, the step, what goes out. */
static bg_status work(void *self, bg_error *err)
{
    session *s = self;
    bool fresh = bg_udp_receive(s->udp, s->u);
    long before = bg_allocations_get();
    bg_status status = bg_realtime_step(s->rt, fresh ? s->u : NULL, s->sends ? s->y : NULL, err);
    s->report.allocations += bg_allocations_get() - before;
    if (status != BG_OK && status != BG_STOPPED)
        return status;
    bg_udp_send(s->udp, (uint64_t)++s->step, bg_realtime_get_state(s->rt)->t, s->y);
    bg_residuals now = bg_integrator_get_residuals(bg_realtime_get_integrator(s->rt));
    if (s->constrained) {
        s->report.max_g = fmax(s->report.max_g, now.g);
        s->report.max_gv = fmax(s->report.max_gv, now.gv);
    }
    return status;
}

static void prepare_step(void *self)
{
    const session *s = self;
    bg_realtime_prepare(s->rt);
}

static void print_note(const session *s, const realtime_arguments *args)
{
    const char *note = s->report.privilege.note;
    if (args->quiet)
        return;
    if (note[0])
        fprintf(stderr, "bogie: note: %s\n", note);
    if (args->listen)
        fprintf(stderr, "bogie: note: listening on port %d for %d inputs\n",
                bg_udp_get_port(s->udp), bg_realtime_get_ninputs(s->rt));
}

static bg_status simulate(const realtime_arguments *args, session *s, bg_error *err)
{
    bg_realtime_report *r = &s->report;
    bool viewed = !args->quiet && isatty(STDERR_FILENO);
    r->t_start = bg_realtime_get_state(s->rt)->t;
    bg_warnings_append(&r->warnings, bg_system_get_warnings(bg_problem_get_system(s->problem)));
    bg_warnings_append(&r->warnings, &s->rt->assembly.warnings);
    s->constrained = bg_system_get_def(bg_problem_get_system(s->problem))->ng > 0;
    s->sends = args->send != NULL;
    r->counted = bg_allocations_get() >= 0;
    r->max_g = r->max_gv = s->constrained ? 0 : NAN;
    s->pacer.stop = bg_stop_get();
    if (!args->unprepared) {
        s->pacer.prepare = prepare_step;
        prepare_step(s); /* the first step, too */
    }
    bg_stop_listen();
    if (viewed) {
        s->pacer.view = &s->view.live;
        bg_realtime_view_begin(&s->view, args->rate, r->t_start);
    }
    bg_privilege_take((int)args->priority, &r->privilege);
    print_note(s, args);
    double stolen = bg_host_find_stolen();
    int64_t begin = s->pacer.clock.now(NULL);
    bg_status status = bg_pacer_run(&s->pacer, work, s, &r->statistics, err);
    r->wall_seconds = 1e-9 * (double)(s->pacer.clock.now(NULL) - begin);
    r->stolen_seconds = bg_host_find_stolen() - stolen;
    bg_privilege_return(&r->privilege);
    if (viewed)
        bg_realtime_view_end(&s->view);
    r->status = status;
    r->message = status ? err->text : "";
    r->t_end = bg_realtime_get_state(s->rt)->t;
    r->datagrams = bg_udp_get_counts(s->udp);
    r->plan = bg_realtime_get_plan(s->rt);
    r->counters = bg_realtime_get_counters(s->rt);
    r->events = bg_realtime_get_nevents(s->rt);
    r->nswitches = bg_system_get_def(bg_problem_get_system(s->problem))->ns;
    r->rt = s->rt;
    r->has_drift = bg_integrator_get_drift(bg_realtime_get_integrator(s->rt), &r->drift);
    return status;
}

/* A run whose input is refused keeps an earlier summary. */
static bg_status write_summary(const realtime_arguments *args, const session *s, bg_error *err)
{
    bg_status st = s->report.status;
    bool refused = isnan(s->report.t_start) && (st == BG_BAD_INPUT || st == BG_IO);
    if (refused && strcmp(args->summary, "-") != 0 && access(args->summary, F_OK) == 0)
        return BG_OK;
    char *text = bg_realtime_summary_create(&s->report);
    if (!text)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while writing the summary");
    bg_status status = BG_OK;
    if (strcmp(args->summary, "-") == 0)
        puts(text);
    else
        status = bg_output_write_text(args->summary, BG_PLACE_SUMMARY, text, err);
    free(text);
    return status;
}

/* The outcome of a run that never started; returns the exit code. */
static int conclude_unstarted(const realtime_arguments *args, session *s, bg_status status,
                              bg_error *err)
{
    bg_error summary_err = {0};
    err->status = status;
    s->report.status = status;
    s->report.message = err->text;
    bg_status summarised = args->summary && s->checked ? write_summary(args, s, &summary_err)
                                                       : BG_OK;
    fflush(stdout);
    int code = bg_error_print(err);
    if (summarised)
        bg_error_print(&summary_err);
    return code;
}

/* Prints the outcome and returns the exit code. */
static int conclude(const realtime_arguments *args, const session *s, bg_status status,
                    bg_error *err)
{
    bool json_on_stdout = args->summary && strcmp(args->summary, "-") == 0;
    bg_error summary_err = {0};
    if (!args->quiet && !json_on_stdout)
        bg_realtime_report_print(&s->report);
    bg_status summarised = args->summary ? write_summary(args, s, &summary_err) : BG_OK;
    fflush(stdout);
    int code = BG_EXIT_DONE;
    bool failed = status != BG_OK && status != BG_STOPPED;
    if (failed || s->report.statistics.overloaded) {
        bg_error_print(err);
        code = BG_EXIT_FAILED; /* the input was good enough to start with */
    } else if (status == BG_STOPPED && *bg_stop_get()) {
        fprintf(stderr, "bogie: stopped by a signal at t = %.9g s\n", s->report.t_end);
        code = BG_EXIT_STOPPED;
    }
    if (summarised) {
        int summary_code = bg_error_print(&summary_err);
        code = code == BG_EXIT_DONE ? summary_code : code;
    }
    return code;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    realtime_arguments args = {.formulation = BG_FORMULATION_DEFAULT,
                               .rate = NAN,
                               .duration = NAN,
                               .priority = 80,
                               .overload = "skip"};
    const char *reference;
    bg_error err = {0};
    int code;
    bg_status status = bg_cli_parse(verb, argc, argv, &args, &reference, &err);
    session *s = status ? NULL : calloc(1, sizeof *s);
    if (!status && !s)
        status = bg_error_set(&err, BG_NO_MEMORY, "out of memory");
    if (status) {
        code = bg_error_print(&err);
    } else {
        s->report = (bg_realtime_report){.model = reference,
                                         .overload = args.overload,
                                         .rate = args.rate,
                                         .t_start = NAN,
                                         .t_end = NAN,
                                         .max_g = NAN,
                                         .max_gv = NAN};
        status = prepare(reference, &args, s, &err);
        if (!status)
            status = simulate(&args, s, &err);
        code = isnan(s->report.t_start) ? conclude_unstarted(&args, s, status, &err)
                                        : conclude(&args, s, status, &err);
        session_clear(s);
    }
    bg_cli_settings_clear(&args.settings);
    return code;
}

const bg_verb bg_verb_realtime = {
    .name = "realtime",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "run a system against the wall clock, with inputs and outputs over UDP",
    .description = "Makes one step a period with the same work in each, takes inputs and sends "
                   "outputs over UDP, and reports how well deadlines were kept and why others were "
                   "missed (docs/realtime.md).",
    .examples = "bogie realtime models/five-link-suspension.json --rate 1000 --duration 1",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

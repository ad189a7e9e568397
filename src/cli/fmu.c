/* bogie fmu: a model as an FMU for co-simulation. */
#include "cli/cli.h"
#include "fmi/package.h"
#include "run/problem.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fmu_arguments {
    const char *output, *integrator, *inputs;
    double step, rtol, atol, t_start, t_end;
    int version, formulation, equilibrium, quiet;
    bg_cli_settings settings;
} fmu_arguments;

#define FIELD(name) offsetof(fmu_arguments, name)

static const bg_cli_option options[] = {
    {"--output", "-o", "NAME.fmu", BG_CLI_FILE, FIELD(output),
     "where it goes (default: the model's name)"},
    {"--fmi", NULL, "2|3", BG_CLI_CHOICE, FIELD(version), "version of the standard (default 3)"},
    {"--inputs", NULL, "NAME,...", BG_CLI_TEXT, FIELD(inputs),
     "inputs of the model that come from outside (default: those that are constant; all: all)"},
    {"--integrator", NULL, "NAME", BG_CLI_INTEGRATOR, FIELD(integrator),
     "method (default: the model's, or auto)"},
    {"--step", NULL, "H", BG_CLI_POSITIVE, FIELD(step),
     "fixed steps of H s, without error control (methods of fixed steps: default the model's, or "
     "0.001)"},
    {"--rtol", NULL, "R", BG_CLI_POSITIVE, FIELD(rtol),
     "relative tolerance (default: the model's, or 1e-6)"},
    {"--atol", NULL, "A", BG_CLI_POSITIVE, FIELD(atol),
     "absolute tolerance (default: the model's, or 1e-6)"},
    {"--t-start", NULL, "T", BG_CLI_NUMBER, FIELD(t_start),
     "start time in s of the default experiment (default: the system's)"},
    {"--t-end", NULL, "T", BG_CLI_NUMBER, FIELD(t_end), "its end time in s"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE, FIELD(formulation),
     "coordinates of a model (default: the model's, or joint)"},
    {"--equilibrium", NULL, NULL, BG_CLI_FLAG, FIELD(equilibrium),
     "start in the equilibrium, or steady motion, that is found from the start given"},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, FIELD(settings),
     "parameter of the system, path into a model, or integrator.OPTION=VALUE"},
    {"--quiet", NULL, NULL, BG_CLI_FLAG, FIELD(quiet), "say nothing"},
};

/* A file that belongs to the program: in its own folder, or where modules are installed. */
static bool find_part(const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"", BOGIE_MODULES};
    for (int k = 0; k < 2; k++) {
        const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 128);
        path[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(path, '/');
        snprintf(slash ? slash + 1 : path, 128, "%.60s%.60s", folders[k], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* Whether a method has no error control. */
static bool takes_fixed_steps(const char *name)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        if (strcmp(info->name, name) == 0)
            return info->fixed_steps;
    return false;
}

static bg_status open_problem(const char *reference, const fmu_arguments *args,
                              bg_problem **problem, bg_error *err)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    def.integrator = args->integrator;
    def.step = args->step;
    def.rtol = args->rtol;
    def.atol = args->atol;
    def.t_start = args->t_start;
    def.t_end = args->t_end;
    def.equilibrium = args->equilibrium;
    bg_status st = bg_problem_create(&def, problem, err);
    if (st != BG_OK)
        return st;
    const bg_run_options run = bg_problem_get_run_options(*problem);
    if (run.method.step > 0 || !takes_fixed_steps(run.integrator))
        return BG_OK;
    bg_problem_destroy(*problem);
    def.step = 1e-3;
    return bg_problem_create(&def, problem, err);
}

/* A motion that does not start is better found out now than by whoever gets the FMU. */
static bg_status try_start(const bg_problem *problem, bg_error *err)
{
    bg_run_options o = bg_problem_get_run_options(problem);
    bg_run_report report;
    const bg_system_def *def = bg_system_get_def(bg_problem_get_system(problem));
    o.output_interval = o.output_steps = 0;
    o.skip_comparison = 1;
    o.t_end = isnan(o.t_start) ? def->t_start : o.t_start;
    bg_status st = bg_run(bg_problem_get_system(problem), &o, &report, err);
    bg_run_report_clear(&report);
    if (st != BG_OK)
        bg_problem_locate(problem, st, err);
    return st;
}

/* NAME,NAME cut into names; NULL: out of memory. */
static char **split(char *text, int *count)
{
    *count = 1;
    for (const char *c = text; *c; c++)
        *count += *c == ',';
    char **names = calloc((size_t)*count, sizeof *names);
    for (int k = 0; k < *count && names; k++)
        names[k] = strsep(&text, ",");
    return names;
}

/* The names of all inputs in one text; NULL: out of memory. */
static char *name_all(const bg_system *system)
{
    char *text = NULL, buffer[64];
    size_t size;
    const int nu = bg_system_get_def(system)->nu;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; out && i < nu; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "",
                bg_system_get_name(system, 'u', i, buffer, sizeof buffer));
    if (!out || fclose(out) != 0)
        return NULL;
    return text;
}

static bg_status write_fmu(const bg_problem *problem, const fmu_arguments *args, const char *path,
                           bg_error *err)
{
    char object[PATH_MAX], licences[PATH_MAX];
    bg_fmi_package package = {.version = args->version == 0 ? 2 : 3, .object = object};
    bg_fmi_summary made;
    const char *module = package.version == 2 ? "bogie-fmi2.so" : "bogie-fmi3.so";
    if (!find_part(module, object))
        return bg_error_set(err, BG_IO,
                            "%s is not beside the program, nor where modules are installed; "
                            "install Bogie as a whole",
                            module);
    package.licences = find_part("bogie-fmu-licences.txt", licences) ? licences : NULL;
    const bg_system *system = bg_problem_get_system(problem);
    char *names = NULL;
    char **inputs = NULL;
    if (args->inputs && strcmp(args->inputs, "all") == 0 && bg_system_get_def(system)->nu > 0)
        names = name_all(system);
    else if (args->inputs && strcmp(args->inputs, "all") != 0)
        names = strdup(args->inputs);
    if (names) {
        inputs = split(names, &package.ninputs);
        package.inputs = inputs;
    }
    bg_status st = bg_fmi_package_write(path, problem, &package, &made, err);
    free(inputs);
    free(names);
    if (st != BG_OK || args->quiet)
        return st;
    printf("%s: FMI %d.0 co-simulation, %s", path, package.version, made.integrator);
    if (made.step > 0)
        printf(" with steps of %g s", made.step);
    printf("; %d parameter%s, %d input%s, %d output%s\n", made.parameters,
           made.parameters == 1 ? "" : "s", made.ninputs, made.ninputs == 1 ? "" : "s",
           made.noutputs, made.noutputs == 1 ? "" : "s");
    return BG_OK;
}

/* The model's name with .fmu, in the folder where we are. */
static void name_output(const char *reference, char path[PATH_MAX])
{
    const char *slash = strrchr(reference, '/'), *base = slash ? slash + 1 : reference;
    if (strncmp(base, "equations:", 10) == 0)
        base += 10;
    const size_t n = strlen(base), cut = n > 5 && strcmp(base + n - 5, ".json") == 0 ? n - 5 : n;
    snprintf(path, PATH_MAX, "%.*s.fmu", (int)(cut < 4000 ? cut : 4000), base);
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    fmu_arguments args = {.version = 1,
                          .formulation = BG_FORMULATION_DEFAULT,
                          .step = NAN,
                          .rtol = NAN,
                          .atol = NAN,
                          .t_start = NAN,
                          .t_end = NAN};
    const char *reference;
    char path[PATH_MAX];
    bg_error err = {0};
    bg_problem *problem = NULL;
    bg_status st = bg_cli_parse(verb, argc, argv, &args, &reference, &err);
    if (st == BG_OK)
        st = open_problem(reference, &args, &problem, &err);
    if (st == BG_OK)
        st = try_start(problem, &err);
    if (st == BG_OK) {
        name_output(reference, path);
        st = write_fmu(problem, &args, args.output ? args.output : path, &err);
    }
    bg_problem_destroy(problem);
    bg_cli_settings_clear(&args.settings);
    err.status = st;
    return st == BG_OK ? BG_EXIT_DONE : bg_error_print(&err);
}

const bg_verb bg_verb_fmu = {
    .name = "fmu",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .explain = "MODEL is a model file MODEL.json, or equations:NAME for a built-in system.",
    .summary = "make an FMU for co-simulation of a model, FMI 2 or 3",
    .description = "Other simulation programs run the FMU, which holds model and integrator "
                   "(docs/fmi.md).",
    .examples = "bogie fmu models/vehicle-trailer.json --inputs steer -o car.fmu\n"
                "bogie fmu models/five-link-suspension.json --fmi 2 --integrator linear-euler "
                "--step 1e-3 -o rig.fmu",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

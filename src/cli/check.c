/* bogie check: what a system is made of, whether it can be assembled, and whether its derivatives
 * are right. */
#include "results/check.h"
#include "base/output.h"
#include "base/place.h"
#include "cli/allocations.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "consistent/assemble.h"
#include "consistent/freedoms.h"
#include "formalism/motion.h"
#include "run/problem.h"
#include "run/start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_verb_arguments {
    int derivatives, formulation;
    const char *integrator, *pattern, *json;
    double step;  /* s; NAN: as the model says, or a millisecond */
    double until; /* s, up to which the pattern is followed; NAN: a step */
    bg_cli_settings settings;
} check_verb_arguments;

static const bg_cli_option options[] = {
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, offsetof(check_verb_arguments, settings),
     "parameter of the system; of a model anything by its path, such as joints.a.axis; or "
     "integrator.OPTION=VALUE"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE,
     offsetof(check_verb_arguments, formulation),
     "coordinates of a model (default: the model's, or joint)"},
    {"--integrator", NULL, "NAME", BG_CLI_INTEGRATOR, offsetof(check_verb_arguments, integrator),
     "show what a step of this method costs, where that is known before a run"},
    {"--step", NULL, "H", BG_CLI_POSITIVE, offsetof(check_verb_arguments, step),
     "its step in s (default: the model's, or 1e-3)"},
    {"--derivatives", NULL, NULL, BG_CLI_FLAG, offsetof(check_verb_arguments, derivatives),
     "compare what the system supplies with differences at ten states; a relative error above 1e-6 "
     "ends with exit code 1 and names the worst entry"},
    {"--json", NULL, "FILE|-", BG_CLI_FILE, offsetof(check_verb_arguments, json),
     "the same as JSON; - is stdout, with nothing else"},
    {"--pattern", NULL, "FILE.svg", BG_CLI_FILE, offsetof(check_verb_arguments, pattern),
     "draw the Jacobian of bdf: entries, and columns that are differenced together"},
    {"--until", NULL, "T", BG_CLI_NUMBER, offsetof(check_verb_arguments, until),
     "... as bdf knows it at this time in s (default: after the first step)"},
};

enum { COUNTED_STEPS = 200 };

static void print_title(const bg_problem *p)
{
    const bg_equations *family = p->source->family;
    if (p->model)
        printf("%s: %s, %s formulation\n", p->source->reference, p->model->name, p->formulation);
    else
        printf("%s: %s\n", p->source->reference,
               family->summary ? family->summary : bg_system_get_def(p->system)->name);
}

/* 1 -> "", else "s". */
static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

static const char *velocities(int n)
{
    return n == 1 ? "velocity" : "velocities";
}

static void print_dimensions(const bg_system_def *def)
{
    printf("  dimensions       %d coordinate%s q, %d %s v, %d state%s z, %d constraint%s g\n",
           def->nq, plural(def->nq), def->nv, velocities(def->nv), def->nz, plural(def->nz),
           def->ng, plural(def->ng));
    printf("                   %d input%s u, %d switching function%s s, %d output%s y, %d mode%s\n",
           def->nu, plural(def->nu), def->ns, plural(def->ns), def->ny, plural(def->ny), def->nmode,
           plural(def->nmode));
}

static void print_terms(const bg_system_def *def)
{
    printf("  terms\n");
    for (unsigned i = 0; i < sizeof bg_check_terms / sizeof bg_check_terms[0]; i++) {
        const char *origin = bg_check_find_origin(def, 1u << i);
        if (origin)
            printf("    %-14s %s%s\n", bg_check_terms[i], origin,
                   def->f_of_lambda && (1u << i & (BG_TERM_f | BG_TERM_h))
                       ? ", may depend on the multipliers"
                       : "");
    }
    printf("    %-14s %s\n", "M^-1 (f - G'l)", def->accelerate ? "supplied" : "by factoring");
    printf("    %-14s %s\n", "residual", def->residual ? "supplied" : "from the terms");
}

static void print_blocks(const bg_system_def *def)
{
    for (int supplied = 1; supplied >= 0; supplied--) {
        const char *separator = "";
        printf("  %-16s ", supplied ? "derivatives" : "by differences");
        for (bg_of of = 0; of < BG_OF_COUNT; of++) {
            for (bg_by by = 0; by < BG_BY_COUNT; by++) {
                if (!bg_check_has_block(def, of, by) ||
                    (def->derivative_supplied[of][by] != 0) != supplied)
                    continue;
                printf("%sd%s/d%s", separator, bg_check_of[of], bg_check_by[by]);
                separator = ", ";
            }
        }
        printf("%s\n", *separator ? "" : "none");
    }
}

static void print_warnings(const bg_warnings *list)
{
    for (int i = 0; i < list->count; i++)
        bg_warning_print(&list->items[i]);
}

enum { MAX_FREEDOMS = 40, MAX_LISTED = 6 };

/* The coordinates that move with the one that stands for freedom k. */
static void print_followers(const bg_system *system, const bg_freedoms *f, int k)
{
    int nv = bg_system_get_def(system)->nv, moved = 0;
    char buffer[64];
    for (int i = 0; i < nv; i++) {
        if (i == f->column[k] || !(fabs(f->basis[k * nv + i]) > 1e-9))
            continue;
        if (moved < MAX_LISTED)
            printf("%s %s", moved > 0 ? "," : ", and with it",
                   bg_system_get_name(system, 'v', i, buffer, sizeof buffer));
        moved++;
    }
    if (moved > MAX_LISTED)
        printf(" and %d more", moved - MAX_LISTED);
}

/* Each degree of freedom by the coordinate that stands for it, what moves with it, and, of a model,
 * how the body moves that it moves most. */
static void print_freedoms(bg_evaluator *evaluator, const bg_state *x,
                           const bg_redundancy *redundancy, bool is_model)
{
    const bg_system *system = evaluator->system;
    bg_freedoms f;
    char buffer[64], motion[192] = "";
    if (bg_freedoms_create(evaluator, x, redundancy, &f) != BG_OK)
        printf("    what moves with them could not be found out\n");
    else
        for (int k = 0; k < f.count; k++) {
            printf("    %s moves",
                   bg_system_get_name(system, 'v', f.column[k], buffer, sizeof buffer));
            print_followers(system, &f, k);
            if (is_model)
                bg_motion_describe(evaluator, x, f.basis + k * bg_system_get_def(system)->nv,
                                   motion, sizeof motion);
            printf(*motion ? ": %s\n" : "\n", motion);
        }
    bg_freedoms_clear(&f);
}

static bg_status print_assembly(const bg_system *system, bool is_model, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(system);
    bg_assembly_report report = {0};
    bg_state *state = NULL;
    bg_evaluator *evaluator = NULL;
    bg_status status = bg_state_create(system, &state, err);
    if (!status)
        status = bg_evaluator_create(system, &evaluator, err);
    if (!status)
        status = bg_state_assemble_with(evaluator, state, &report, err);
    if (!status) {
        int redundant = report.redundancy.count, freedom = def->nv - def->ng + redundant;
        printf("  freedom          %d degree%s (%d %s - %d constraint%s", freedom, plural(freedom),
               def->nv, velocities(def->nv), def->ng, plural(def->ng));
        printf(redundant > 0 ? " + %d redundant)\n" : ")\n", redundant);
        if (freedom > 0 && freedom <= MAX_FREEDOMS)
            print_freedoms(evaluator, state, &report.redundancy, is_model);
        printf("  start            consistent: |g| %.3g, |G v + g_t| %.3g, |G a + gamma| %.3g\n",
               report.max_g, report.max_gv, report.max_ga);
        printf("                   after %d correction%s of q", report.iterations,
               report.iterations == 1 ? "" : "s");
        printf(report.iterations > 0 && report.method ? " (%s)\n" : "\n", report.method);
        if (report.rcond > 0)
            printf("  condition        about %.1e of [M G'; G 0]\n", 1 / report.rcond);
        bg_assembly_print(system, &report);
        if (redundant > 0 && report.redundancy.misfit <= report.redundancy.allowed)
            printf(
                "  what to do       nothing for the motion, which is right without them; for "
                "unique reactions, choose a joint\n                   that moves more freely for "
                "one of these, or take a gear or a drive away\n");
    }
    bg_warnings_append(&report.warnings, bg_system_get_warnings(system));
    print_warnings(&report.warnings);
    bg_assembly_report_clear(&report);
    bg_evaluator_destroy(evaluator);
    bg_state_destroy(state);
    return status;
}

/* Prints the comparison and fails when one of the errors is too large. */
static bg_status check_derivatives(const bg_system *system, bg_error *err)
{
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int count = 0, worst = -1;
    bg_status status = bg_system_check_derivatives(system, BG_CHECK_SAMPLES, BG_CHECK_SEED, checks,
                                                   &count, err);
    if (status)
        return status;
    printf("  compared with differences at %d states\n", BG_CHECK_SAMPLES);
    printf("    %-10s %-10s %-24s %-16s %-16s %s\n", "quantity", "error", "worst entry", "supplied",
           "differenced", "t");
    for (int i = 0; i < count; i++) {
        const bg_derivative_check *c = &checks[i];
        printf("    %-10s %-10.2e %-24s %-16.9g %-16.9g %g\n", c->quantity, c->error, c->entry,
               c->supplied, c->differenced, c->t);
        /* negated, so that an error that is not a number counts as too large */
        if (!(c->error <= BG_CHECK_LARGEST_ERROR) &&
            (worst < 0 || !(c->error <= checks[worst].error)))
            worst = i;
    }
    if (count == 0)
        printf("    nothing: the system supplies no derivatives\n");
    if (worst < 0)
        return BG_OK;
    return bg_error_set(err, BG_SYSTEM_FAILED,
                        "%s, entry %s, is supplied as %.9g but differences give %.9g at t = %g s "
                        "(error %.2g, allowed %g); correct the function that supplies it",
                        checks[worst].quantity, checks[worst].entry, checks[worst].supplied,
                        checks[worst].differenced, checks[worst].t, checks[worst].error,
                        BG_CHECK_LARGEST_ERROR);
}

/* Whether the method has a projection that does not iterate. */
static bool projects_once(const char *name)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        for (int i = 0; strcmp(info->name, name) == 0 && i < info->noptions; i++)
            if (strcmp(info->options[i].name, "projection") == 0)
                return strstr(info->options[i].choices, "once") != NULL;
    return false;
}

/* Whether something a step needs is found by differences, of several evaluations each. */
static bool needs_differences(const bg_system_def *def, const bg_step_plan *plan)
{
    unsigned wanted = def->ng == 0 ? 0u : BG_TERM_G | BG_TERM_gamma;
    if (def->ng > 0 && !def->scleronomic)
        wanted |= BG_TERM_gt;
    const unsigned char(*has)[BG_BY_COUNT] = def->derivative_supplied;
    return (wanted & ~def->supplied) != 0 ||
           (plan->jacobian_r && !(has[BG_OF_r][BG_BY_q] && has[BG_OF_r][BG_BY_v])) ||
           (plan->jacobian_h &&
            !(has[BG_OF_h][BG_BY_q] && has[BG_OF_h][BG_BY_v] && has[BG_OF_h][BG_BY_z]));
}

/* Steps in real time, events included, and the allocations that were counted in them. */
static void print_allocations(const bg_problem *problem)
{
    bg_realtime_options wanted = bg_problem_get_realtime_options(problem);
    bg_realtime *rt;
    bg_error err = {0};
    if (bg_realtime_create(problem->system, &wanted, &rt, &err) != BG_OK) {
        printf("  allocations      not counted: %s\n", err.text);
        return;
    }
    long before = bg_allocations_get();
    int steps = 0;
    while (steps < COUNTED_STEPS && bg_realtime_step(rt, NULL, NULL, &err) == BG_OK)
        steps++;
    if (before < 0)
        printf("  allocations      not counted in this build\n");
    else
        printf("  allocations      %ld in %d steps in real time, counted\n",
               bg_allocations_get() - before, steps);
    bg_realtime_destroy(rt);
}

/* Which constraints are redundant is known at a start, and the work of a step depends on it. */
static bg_status start_integrator(const bg_system *system, bg_integrator *integrator, double t_end,
                                  bg_error *err)
{
    bg_assembly_report report = {0};
    bg_state *x = NULL;
    bg_evaluator *evaluator = NULL;
    bg_status status = bg_state_create(system, &x, err);
    if (!status)
        status = bg_evaluator_create(system, &evaluator, err);
    if (!status)
        status = bg_start_find(evaluator, system->def.t_start, x, &report, err);
    if (!status)
        status = bg_integrator_start(integrator, x, &report.redundancy, t_end, err);
    bg_assembly_report_clear(&report);
    bg_evaluator_destroy(evaluator);
    bg_state_destroy(x);
    return status;
}

/* What a step of the method is made of. */
static bg_status print_plan(const bg_problem *problem, const char *name, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(problem->system);
    bg_integrator_options o = bg_problem_get_run_options(problem).method;
    bg_integrator *integrator;
    bg_step_plan plan;
    o.step = bg_problem_get_realtime_options(problem).period;
    bg_status status = bg_integrator_create(name, problem->system, &o, &integrator, err);
    if (status)
        return status;
    status = start_integrator(problem->system, integrator, HUGE_VAL, err);
    if (status) {
        bg_integrator_destroy(integrator);
        return status;
    }
    if (bg_integrator_get_plan(integrator, &plan)) {
        char note[256];
        printf("  integrator       %s, steps of %g s\n", name, o.step);
        bg_integrator_describe(integrator, note, sizeof note);
        if (*note)
            printf("                   %s\n", note);
        bg_plan_print(&plan);
        bg_step_bound bound;
        bg_realtime_calc_most(integrator, &bound);
        if (needs_differences(def, &plan))
            printf("                   differences stand in for what the system leaves out, of "
                   "several evaluations each\n");
        if (def->ns > 0)
            printf("                   in real time one evaluation more, of the switching "
                   "functions\n");
        bg_plan_print_most(&bound);
        print_allocations(problem);
    } else {
        printf("  integrator       %s: the work of a step is not known beforehand%s\n", name,
               projects_once(name) ? "; with projection=once it is" : "");
    }
    bg_integrator_destroy(integrator);
    return BG_OK;
}

/* The Jacobian of bdf, by differences in groups. */
static bg_status draw_pattern(const bg_problem *problem, const check_verb_arguments *args,
                              bg_error *err)
{
    const bg_setting sparse = {"jacobian", "sparse"};
    bg_integrator_options o = bg_problem_get_run_options(problem).method;
    bg_integrator *integrator;
    o.settings = &sparse;
    o.nsettings = 1;
    o.step = 0;
    bg_status status = bg_integrator_create("bdf", problem->system, &o, &integrator, err);
    if (status)
        return status;
    double t_end = fmax(bg_problem_get_run_options(problem).t_end, args->until);
    if (isnan(t_end))
        t_end = bg_system_get_def(problem->system)->t_end;
    status = start_integrator(problem->system, integrator, t_end, err);
    if (!status)
        status = bg_pattern_draw(problem->system, integrator, args->until, args->pattern, err);
    bg_integrator_destroy(integrator);
    return status;
}

static bg_status check_system(const bg_problem *problem, const check_verb_arguments *args,
                              bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(problem->system);
    if (!problem->model)
        print_title(problem);
    print_dimensions(def);
    print_terms(def);
    print_blocks(def);
    bg_status status = print_assembly(problem->system, problem->model != NULL, err);
    if (status)
        bg_problem_locate(problem, status, err);
    if (!status && args->integrator)
        status = print_plan(problem, args->integrator, err);
    if (!status && args->pattern)
        status = draw_pattern(problem, args, err);
    if (!status && args->derivatives)
        status = check_derivatives(problem->system, err);
    return status;
}

static bg_status write_json(const bg_problem *problem, const check_verb_arguments *args,
                            bg_error *err)
{
    char *text = bg_check_create_text(problem, args->derivatives, err);
    bg_status status = text ? BG_OK : err->status;
    if (text && strcmp(args->json, "-") == 0)
        puts(text);
    else if (text)
        status = bg_output_write_text(args->json, BG_PLACE_CHECK, text, err);
    free(text);
    return status;
}

/* What can be refused before the model is read. */
static bg_status check_arguments(const check_verb_arguments *args, bg_error *err)
{
    const bg_cli_file files[] = {{"--json", args->json, BG_PLACE_CHECK}};
    bg_status status = bg_cli_check_places(files, 1, err);
    if (status)
        return status;
    if (args->json && strcmp(args->json, "-") == 0 && (args->integrator || args->pattern))
        return bg_error_set(err, BG_BAD_INPUT,
                            "--json - prints nothing else; give %s with --json FILE",
                            args->integrator ? "--integrator" : "--pattern");
    if (!args->pattern)
        return isnan(args->until) ? BG_OK
                                  : bg_error_set(err, BG_BAD_INPUT,
                                                 "--until is for --pattern FILE.svg; give it too");
    const char *dot = strrchr(args->pattern, '.');
    if (!dot || strcmp(dot, ".svg") != 0)
        return bg_error_set(err, BG_BAD_INPUT, "the picture '%s' must be named FILE.svg",
                            args->pattern);
    return bg_place_check(args->pattern, BG_PLACE_SVG, err);
}

/* What the file describes comes first: it helps where no system can be made of it. */
static bg_status check_model(const char *reference, const check_verb_arguments *args, bg_error *err)
{
    bg_problem_def def = bg_cli_make_def(reference, args->formulation, &args->settings);
    bg_problem *problem;
    def.integrator = args->integrator;
    def.step = args->step;
    bg_status status = check_arguments(args, err);
    if (!status)
        status = bg_problem_read(&def, &problem, err);
    if (status)
        return status;
    if (!args->integrator && (problem->nmethod > 0 || !isnan(args->step)))
        status = bg_error_set(err, BG_BAD_INPUT,
                              "--step and integrator.OPTION=VALUE are for --integrator NAME; give "
                              "it too");
    bool talks = !args->json || strcmp(args->json, "-") != 0;
    if (!status && problem->model && talks) {
        print_title(problem);
        status = bg_topology_print(problem->model, err);
    }
    if (!status) {
        status = bg_problem_create_system(problem, err);
        if (!status && args->json)
            status = write_json(problem, args, err);
        if (!status && talks)
            status = check_system(problem, args, err);
        else if (status && talks && problem->model)
            print_warnings(&problem->model->warnings);
    }
    bg_problem_destroy(problem);
    return status;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    check_verb_arguments args = {.formulation = BG_FORMULATION_DEFAULT, .step = NAN, .until = NAN};
    const char *reference;
    bg_error err = {0};
    bg_status status = bg_cli_parse(verb, argc, argv, &args, &reference, &err);
    if (!status)
        status = check_model(reference, &args, &err);
    bg_cli_settings_clear(&args.settings);
    if (!status)
        return BG_EXIT_DONE;
    fflush(stdout);
    err.status = status;
    return bg_error_print(&err);
}

const bg_verb bg_verb_check = {
    .name = "check",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "show structure, freedoms, redundant constraints and derivatives of a system",
    .description = "Prints dimensions, degrees of freedom, which terms and derivatives the system "
                   "supplies and which are found by differences, how the start was made "
                   "consistent, and redundant constraints by name. Of a model file also the bodies "
                   "with their mass and centre of mass, the tree of joints that carries the "
                   "coordinates, the joints that close loops, and warnings.",
    .examples =
        "bogie check models/five-link-suspension.json\n"
        "bogie check equations:slider-crank --derivatives\n"
        "bogie check models/five-link-suspension.json --integrator linear-euler --step 1e-3",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

/* bogie modes: eigenvalues and mode shapes about a state, as a table, as JSON, and one of them as a
 * motion that pages show. */
#include "base/output.h"
#include "cli/files.h"
#include "cli/linear.h"
#include "cli/mode_motion.h"
#include "cli/page.h"
#include "run/problem.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 3, LINES = 60 };

typedef struct modes_arguments {
    bg_linear_arguments linear;
    const char *json, *output, *html;
    long mode;        /* 0: not given */
    double amplitude; /* NAN: not given */
} modes_arguments;

#define FIELD(name) offsetof(modes_arguments, name)

static const bg_cli_option options[] = {
    BG_LINEAR_OPTIONS,
    {"--json", NULL, "FILE|-", BG_CLI_FILE, FIELD(json), "all modes as JSON; - is stdout"},
    {"--mode", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(mode),
     "the mode that --output and --html show (default 1)"},
    {"--html", NULL, "PAGE", BG_CLI_FILE, FIELD(html), "a page that plays the mode on the model"},
    {"--output", "-o", "FILE.h5", BG_CLI_FILE, FIELD(output),
     "the mode as a result, for `bogie report`"},
    {"--amplitude", NULL, "A", BG_CLI_POSITIVE, FIELD(amplitude),
     "largest displacement shown, of the size of its body, or in rad (default 0.1)"},
};

/* "car.z 55 %, trailer.wy 30 %": those that take part most. */
static void print_participation(const bg_linear_job *job, const bg_modes *m, const bg_mode *mode)
{
    double below = HUGE_VAL;
    int last = -1;
    char buffer[64];
    for (int shown = 0; shown < MOST_SHOWN; shown++) {
        int best = -1;
        for (int k = 0; k < m->n + m->nz; k++) {
            double p = mode->participation[k];
            bool next = p < below || (p == below && k > last);
            if (next && (best < 0 || p > mode->participation[best]))
                best = k;
        }
        if (best < 0 || mode->participation[best] < 0.05)
            return;
        below = mode->participation[best];
        last = best;
        printf("%s%s %.0f %%", shown > 0 ? ", " : "",
               bg_analysis_get_part_name(job->analysis, m, best, buffer, sizeof buffer),
               100 * below);
    }
}

static void print_mode(const bg_linear_job *job, const bg_modes *m, int k)
{
    const bg_mode *mode = &m->mode[k];
    char imaginary[32] = "", motion[192];
    if (mode->im > 0)
        snprintf(imaginary, sizeof imaginary, "+- %.6gi", mode->im);
    double re = fabs(mode->re) < 1e-12 * hypot(mode->re, mode->im) ? 0 : mode->re;
    printf("%5d  %12.6g %-14s", k + 1, re, imaginary);
    if (mode->im > 0)
        printf("%11.5g %9.4f", mode->frequency, re == 0 ? 0 : mode->damping);
    else
        printf("%11s %9s", "-", mode->re > 0 ? "grows" : "decays");
    printf("  ");
    print_participation(job, m, mode);
    bg_analysis_describe(job->analysis, mode->shape, 2, motion, sizeof motion);
    if (*motion)
        printf(": %s", motion);
    printf("\n");
}

static void print_free(const bg_linear_job *job, const bg_modes *m)
{
    for (int k = 0; k < m->nfree; k++) {
        const bg_free_direction *f = &m->free[k];
        char motion[192], buffer[64];
        int best = 0, state = 0;
        for (int i = 0; i < m->nv; i++)
            best = fabs(f->shape[i]) > (1 + 1e-6) * fabs(f->shape[best]) ? i : best;
        for (int i = 0; i < m->nz; i++)
            state = fabs(f->shape_z[i]) > fabs(f->shape_z[state]) ? i : state;
        bool moves = m->nv > 0 && f->shape[best] != 0;
        bg_analysis_describe(job->analysis, f->shape, 1, motion, sizeof motion);
        printf("   free  %s%s%s\n",
               bg_system_get_name(job->problem->system, moves ? 'v' : 'z', moves ? best : state,
                                  buffer, sizeof buffer),
               *motion ? ": " : " holds any value", motion);
    }
}

static void print_table(const bg_linear_job *job, const bg_modes *m)
{
    const bg_warnings *list = bg_analysis_get_warnings(job->analysis);
    const char *formulation = job->problem->formulation;
    printf("%s%s%s%s: modes %s\n", bg_problem_get_reference(job->problem), formulation ? ", " : "",
           formulation ? formulation : "", formulation ? " formulation" : "", job->analysis->where);
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].topic, "equilibrium") == 0)
            bg_warning_print(&list->items[i]);
    bg_linear_job_print_doubt(job);
    printf("%5s  %27s%11s %9s  %s\n", "mode", "eigenvalue [1/s]     ", "freq. [Hz]", "damping",
           "takes part");
    for (int k = 0; k < m->count && k < LINES; k++)
        print_mode(job, m, k);
    if (m->count > LINES)
        printf("   ...   %d more: --json has them all\n", m->count - LINES);
    print_free(job, m);
    if (m->zeros > 0)
        printf("%d eigenvalue%s zero\n", m->zeros, m->zeros == 1 ? " is" : "s are");
    if (m->unstable > 0)
        printf("%d mode%s: the motion leaves this state\n", m->unstable,
               m->unstable == 1 ? " grows" : "s grow");
}

static bg_status write_json(const bg_linear_job *job, const char *path, bg_error *err)
{
    char *text = bg_analysis_create_text(job->analysis, "modes", err);
    bg_status st = text ? BG_OK : BG_NO_MEMORY;
    if (text && strcmp(path, "-") == 0)
        puts(text);
    else if (text)
        st = bg_output_write_text(path, BG_PLACE_MODES, text, err);
    free(text);
    return st;
}

static bg_status check(const void *given, bg_error *err)
{
    const modes_arguments *args = given;
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    if (args->output && (!dot || strcmp(dot, ".h5") != 0))
        return bg_error_set(err, BG_BAD_INPUT, "the mode '%s' must be named FILE.h5", args->output);
    if (!args->output && !args->html && (args->mode > 0 || !isnan(args->amplitude)))
        return bg_error_set(err, BG_BAD_INPUT, "%s is for --html PAGE or -o FILE.h5; give one, too",
                            args->mode > 0 ? "--mode" : "--amplitude");
    const bg_cli_file files[] = {{"--json", args->json, BG_PLACE_MODES},
                                 {"--html", args->html, BG_PLACE_PAGE},
                                 {"-o", args->output, BG_PLACE_RESULT}};
    bg_status st = bg_page_check(args->html, err);
    if (st == BG_OK)
        st = bg_cli_check_distinct(files, 3, err);
    return st == BG_OK ? bg_cli_check_places(files, 3, err) : st;
}

static bg_status show(const bg_linear_job *job, const bg_modes *m, const modes_arguments *args,
                      bg_error *err)
{
    bool json_on_stdout = args->json && strcmp(args->json, "-") == 0;
    bool shown = args->output || args->html;
    int mode = args->mode > 0 ? (int)fmin((double)args->mode, INT_MAX) : 1;
    bg_status st = BG_OK;
    if (shown && mode > m->count)
        return bg_error_set(err, BG_BAD_INPUT, "there is no mode %d to show: there %s %d", mode,
                            m->count == 1 ? "is" : "are", m->count);
    if (!json_on_stdout)
        print_table(job, m);
    if (args->json)
        st = write_json(job, args->json, err);
    if (st != BG_OK || !shown)
        return st;
    return bg_mode_show(job, m, mode - 1, isnan(args->amplitude) ? 0.1 : args->amplitude,
                        args->output, args->html, err);
}

static bg_status work(bg_linear_job *job, const void *args, bg_error *err)
{
    const bg_modes *modes;
    bg_status st = bg_analysis_calc_modes(job->analysis, &modes, err);
    return st == BG_OK ? show(job, modes, args, err) : st;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    modes_arguments args = {.linear = {.at = NAN, .formulation = BG_FORMULATION_DEFAULT},
                            .amplitude = NAN};
    return bg_linear_run(verb, &(bg_linear_verb){check, work}, argc, argv, &args);
}

const bg_verb bg_verb_modes = {
    .name = "modes",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "eigenvalues and mode shapes about a state or the equilibrium",
    .description = "Prints frequencies, damping and the coordinates that take part in each mode of "
                   "the equations, linearised at the start, in motion or in equilibrium "
                   "(docs/modes.md).",
    .examples = "bogie modes models/double-wishbone.json --equilibrium\n"
                "bogie modes models/four-bar.json --at 0.5",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

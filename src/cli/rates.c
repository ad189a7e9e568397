/* bogie rates: the slow and the fast part of a model. Eigenvalues of both (004 eq. (33)), how
 * strongly their masses are coupled, largest stable steps of methods of one and two rates (Tables 8
 * and 9), every way to choose the fast part, and pictures of eigenvalues along a motion (Figs. 4 to
 * 7). */
#include "cli/rates.h"
#include "base/memory.h"
#include "base/place.h"
#include "cli/linear.h"
#include "integrators/prk_pair.h"
#include "run/choose_fast.h"
#include "system/two_rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8, PAIRS = 10, DEFAULT_COUNT = 100 };

typedef struct rates_arguments {
    bg_linear_arguments linear;
    const char *pair, *output;
    int choose, by_part;
    long count;
    double until;
} rates_arguments;

#define FIELD(name) offsetof(rates_arguments, name)

static const bg_cli_option options[] = {
    BG_LINEAR_OPTIONS,
    {"--pair", NULL, "NAME|FILE.json", BG_CLI_PAIR, FIELD(pair),
     "only this pair (default: all that have names)"},
    {"--by-part", NULL, NULL, BG_CLI_FLAG, FIELD(by_part),
     "positions have the tableau of their part"},
    {"--choose", NULL, NULL, BG_CLI_FLAG, FIELD(choose),
     "shows every choice of a fast part, and takes the one with the least work for a second"},
    {"--output", "-o", "FILE.svg", BG_CLI_FILE, FIELD(output),
     "eigenvalues of both parts, here or along the motion"},
    {"--until", NULL, "T", BG_CLI_NUMBER, FIELD(until),
     "the picture has the eigenvalues of the motion up to T s"},
    {"--count", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(count), "at so many times (default: 100)"},
};

static void print_spectrum(const char *name, const bg_rates_spectrum *s, int states)
{
    printf("%-5s part       %d states, eigenvalues", name, states);
    for (int k = 0; k < s->count && k < SHOWN; k++) {
        printf("%s %.4g", k ? "," : "", s->re[k]);
        if (s->im[k] > 0)
            printf("+-%.5gi", s->im[k]);
    }
    printf("%s 1/s\n", s->count > SHOWN ? ", ..." : s->count == 0 ? " none;" : "");
}

static bg_status print_parts(const bg_rates *r, bg_error *err)
{
    static const unsigned parts[] = {BG_PART_SLOW, BG_PART_FAST};
    static const char *const names[] = {"slow", "fast"};
    bg_status st = BG_OK;
    double ratio;
    for (int k = 0; k < 2 && st == BG_OK; k++) {
        bg_rates_spectrum s;
        st = bg_rates_calc_spectrum(r, parts[k], &s, err);
        if (st == BG_OK)
            print_spectrum(names[k], &s, bg_rates_count(r, parts[k]));
        bg_rates_spectrum_clear(&s);
    }
    if (st == BG_OK)
        st = bg_rates_calc_ratio(r, &ratio, err);
    if (st == BG_OK)
        printf("coupling         fast masses that go with slow ones are %.3g of these\n", ratio);
    if (st == BG_OK && r->growth > 0)
        printf("growth           a motion grows with %.4g 1/s by itself; steps may as well\n",
               r->growth);
    return st;
}

static bg_status print_method(const bg_rates *r, const bg_prk_pair *p, bool by_part, double single,
                              double *step, bg_error *err)
{
    bg_status st = bg_rates_find_step(r, p, by_part, true, step, err);
    if (st != BG_OK)
        return st;
    if (!isfinite(*step)) {
        printf("%-14s %12s\n", p->name, "any");
        return BG_OK;
    }
    printf("%-14s %12.3f %16.0f %16.0f", p->name, 1e3 * *step, p->nslow / *step, p->stages / *step);
    if (single > 0)
        printf(" %10.2f", *step / single);
    printf("\n");
    return BG_OK;
}

static bg_status print_steps(const bg_rates *r, const rates_arguments *args, bg_error *err)
{
    bg_prk_pair pair;
    double single = 0, step;
    const bool slow = bg_rates_count(r, BG_PART_SLOW) > 0,
               fast = bg_rates_count(r, BG_PART_FAST) > 0;
    printf("largest stable step, positions %s\n%-14s %12s %16s %16s %10s\n",
           args->by_part ? "by part" : "fast", "method", "ms", "slow per second", "fast per second",
           "beside rk2");
    bg_prk_pair_find_single("rk2", &pair);
    bg_status st = print_method(r, &pair, false, 0, &single, err);
    bg_prk_pair_find_single("rk4", &pair);
    if (st == BG_OK)
        st = print_method(r, &pair, false, single, &step, err);
    if (st == BG_OK && args->pair) {
        st = bg_prk_pair_open(args->pair, &pair, err);
        return st == BG_OK ? print_method(r, &pair, args->by_part, single, &step, err) : st;
    }
    for (int k = 0; st == BG_OK && slow && fast && k < PAIRS; k++) {
        bg_prk_pair_find(bg_prk_pair_get_name(k), &pair);
        st = print_method(r, &pair, args->by_part, single, &step, err);
    }
    if (st == BG_OK && !(slow && fast))
        printf("nothing is marked as fast; --choose looks for what could be\n");
    return st;
}

static void print_cut(const bg_cut *c, const char *names)
{
    printf("%6d %10.4g %10.4g %10.3g %12.3f %12.0f  %s\n", c->velocities, c->fast, c->slow,
           c->ratio, 1e3 * c->step, c->work / c->step, names);
}

/* The names of what a cut makes fast. */
static bg_status name_cut(bg_linear_job *job, bg_split *s, const bg_rates *r, int groups,
                          unsigned char *bodies, char *text, size_t size, bg_error *err)
{
    bg_status st = BG_OK;
    bg_split_mark(s, r, job->analysis->linearisation, groups);
    if (job->problem->model)
        st = bg_problem_find_bodies(job->problem, job->analysis->evaluator, job->analysis->state,
                                    s->v, bodies, err);
    if (st == BG_OK)
        bg_problem_name_fast(job->problem, s->v, bodies, text, size);
    return st;
}

static bg_status print_cuts(bg_linear_job *job, bg_split *s, const bg_rates *r, bg_error *err)
{
    const int n = job->problem->model ? job->problem->model->nbodies : 1;
    unsigned char *bodies = BG_NEW_ARRAY(unsigned char, n);
    char names[72];
    bg_status st = bodies ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for the bodies");
    printf("%6s %10s %10s %10s %12s %12s  %s\n", "fast v", "fast 1/s", "slow 1/s", "masses",
           "step, ms", "work/s", "fast");
    if (st == BG_OK)
        print_cut(&s->whole, "everything, at one rate");
    for (int k = 0; k < s->ncuts && st == BG_OK; k++) {
        st = name_cut(job, s, r, s->cuts[k].groups, bodies, names, sizeof names, err);
        if (st == BG_OK)
            print_cut(&s->cuts[k], names);
    }
    const int chosen = s->chosen < 0 ? 0 : s->cuts[s->chosen].groups;
    if (st == BG_OK)
        st = name_cut(job, s, r, chosen, bodies, names, sizeof names, err);
    if (st == BG_OK)
        printf("chosen           %s: %s\n", s->chosen < 0 ? "nothing" : names, s->reason);
    free(bodies);
    return st;
}

static bg_status choose(bg_linear_job *job, const rates_arguments *args, bg_rates *r, bg_error *err)
{
    bg_prk_pair pair;
    bg_split *split = NULL;
    bg_status st = bg_prk_pair_open(args->pair ? args->pair : "prk38", &pair, err);
    if (st == BG_OK)
        st = bg_split_find(job->analysis->linearisation, &pair, args->by_part, NAN, &split, err);
    if (st == BG_OK)
        st = print_cuts(job, split, r, err);
    if (st == BG_OK)
        bg_rates_sort(r, job->analysis->linearisation, split->v, split->z);
    bg_split_destroy(split);
    return st;
}

static bg_status work(bg_linear_job *job, const void *given, bg_error *err)
{
    const rates_arguments *args = given;
    const bg_system_def *def = &job->analysis->evaluator->def;
    bg_rates *r = NULL;
    bg_status st = bg_rates_create(job->analysis->linearisation, &r, err);
    if (st != BG_OK)
        return st;
    bg_rates_sort(r, job->analysis->linearisation, def->v_part, def->z_part);
    printf("%s %s, %d freedoms, %d states\n", bg_problem_get_reference(job->problem),
           job->analysis->where, r->n, r->nx - 2 * r->n);
    bg_linear_job_print_doubt(job);
    if (args->choose)
        st = choose(job, args, r, err);
    if (st == BG_OK)
        st = print_parts(r, err);
    if (st == BG_OK)
        st = print_steps(r, args, err);
    if (st == BG_OK && args->output)
        st = bg_rates_draw(job, r, args->until, (int)args->count, args->output, err);
    bg_rates_destroy(r);
    return st;
}

static bg_status check(const void *given, bg_error *err)
{
    const rates_arguments *args = given;
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    if (args->output && (!dot || strcmp(dot, ".svg") != 0))
        return bg_error_set(err, BG_BAD_INPUT, "the picture '%s' must be named FILE.svg",
                            args->output);
    if (!args->output && !isnan(args->until))
        return bg_error_set(err, BG_BAD_INPUT,
                            "--until is for the picture; name it with -o FILE.svg");
    if (!isnan(args->until) && (!isnan(args->linear.at) || args->linear.equilibrium))
        return bg_error_set(err, BG_BAD_INPUT,
                            "--until follows the motion from its start; leave out --at and "
                            "--equilibrium");
    return args->output ? bg_place_check(args->output, BG_PLACE_SVG, err) : BG_OK;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    static const bg_linear_verb own = {check, work};
    rates_arguments args = {.linear = {.at = NAN, .formulation = BG_FORMULATION_DEFAULT},
                            .until = NAN,
                            .count = DEFAULT_COUNT};
    return bg_linear_run(verb, &own, argc, argv, &args);
}

const bg_verb bg_verb_rates = {
    .name = "rates",
    .operand = "MODEL",
    .operand_kind = BG_CLI_MODEL,
    .summary = "slow and fast parts: eigenvalues, coupling, largest stable steps",
    .description = "Shows eigenvalues of the slow and of the fast part of the model, how strongly "
                   "their masses are coupled, and the largest stable steps of methods of one and "
                   "of two rates, linearised at the start, in motion or in equilibrium.",
    .examples = "bogie rates models/quarter-car-c.json\n"
                "bogie rates models/quarter-car-c.json --choose",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

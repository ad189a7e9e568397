/* bdf beside SUNDIALS IDA: residual evaluations and CPU time at equal error, from lines fitted to
 * sweeps of tolerances. See README.md for what is measured and how.
 *
 * usage: bench-bdf [--sweep] [--only PROBLEM] [FOLDER]     FOLDER: the source folder */
#include "bogie/version.h"
#include "line.h"
#include "solve_bogie.h"
#include "solve_ida_chain.h"

#include <time.h>

enum { TOLERANCES = 11, OPTIONS = 3, IDA_MAX = 3, SOLVERS_MAX = 9 };

/* A solver: IDA in one of its settings, or a method of Bogie with its options. */
typedef struct bdf_solver {
    const char *name, *method; /* method NULL: IDA */
    bg_setting options[OPTIONS];
    int noptions;
    ida_multipliers multipliers;
    bool minimal;    /* IDA: the minimal form of the chain, with full matrices */
    int max_order;   /* IDA: 0 as it comes */
    bool by_hand;    /* IDA: a setting that nobody would know without the solution */
    double residual; /* Bogie: the goal for residual evaluations beside IDA's best; 0: none */
    bool timed;      /* Bogie: the goal for CPU time is meant for it */
} bdf_solver;

static const bdf_solver constrained[] = {
    {.name = "IDA", .multipliers = IDA_MULTIPLIERS_TESTED},
    {.name = "IDA suppress", .multipliers = IDA_MULTIPLIERS_SUPPRESSED},
    {.name = "IDA free", .multipliers = IDA_MULTIPLIERS_FREE},
    {.name = "bdf", .method = "bdf", .residual = 0.5, .timed = true},
    {.name = "bdf full",
     .method = "bdf",
     .options = {{"update", "full"}},
     .noptions = 1,
     .residual = 0.5},
    {.name = "bdf partition.",
     .method = "bdf",
     .options = {{"update", "partitioned"}},
     .noptions = 1},
    {.name = "bdf sparse",
     .method = "bdf",
     .options = {{"jacobian", "sparse"}},
     .noptions = 1,
     .residual = 1.0},
    {.name = "bdf dense", .method = "bdf", .options = {{"jacobian", "dense"}}, .noptions = 1},
    {.name = "mdop5", .method = "mdop5"},
};
static const bdf_solver unconstrained[] = {
    {.name = "IDA band", .multipliers = IDA_MULTIPLIERS_SUPPRESSED},
    {.name = "IDA band free", .multipliers = IDA_MULTIPLIERS_FREE},
    {.name = "IDA minimal", .minimal = true},
    {.name = "IDA order 2", .multipliers = IDA_MULTIPLIERS_FREE, .max_order = 2, .by_hand = true},
    {.name = "bdf", .method = "bdf", .timed = true},
    {.name = "mdop5", .method = "mdop5"},
};

/* A problem, and what is asked of bdf's CPU time as a part of IDA's. */
typedef struct bdf_task {
    const char *name, *equations;
    bg_setting parameters[2];
    int nparameters;
    double cpu;
    const char *model_end; /* models/NAME.json up to this time, s; NULL: equations */
} bdf_task;

/* 0.05 rad/s is 0.05/2pi Hz: both readings of the paper's "0.05 Hz". */
#define RADIANS "0.0079577471545947674"
static const bdf_task tasks[] = {
    {"slider-crank", NULL, {{0}}, 0, 1, NULL},
    {"car-axle", NULL, {{0}}, 0, 1, NULL},
    {"andrews", NULL, {{0}}, 0, 1, NULL},
    {"train-carriage", NULL, {{0}}, 0, 1.0 / 3, "4"}, /* straight, transition, curve */
    {"chain 16, 0.05 Hz", "chain", {{"N", "16"}, {"frequency", "0.05"}}, 2, 1, NULL},
    {"chain 16, 0.05 rad/s", "chain", {{"N", "16"}, {"frequency", RADIANS}}, 2, 1, NULL},
    {"chain 256, 0.05 Hz", "chain", {{"N", "256"}, {"frequency", "0.05"}}, 2, 1.0 / 3, NULL},
    {"chain 256, 0.05 rad/s", "chain", {{"N", "256"}, {"frequency", RADIANS}}, 2, 1.0 / 20, NULL},
};

/* Work of RADAU5 (E. Hairer, G. Wanner) on the index-3 form with a numerical Jacobian, measured
 * with the code in Assimulo, rtol = atol = 1e-3 to 1e-10: largest error of a position at the end,
 * calls of the right side without those for Jacobians, and Jacobians, of n columns each. A count,
 * whatever the machine. */
typedef struct published {
    const char *problem;
    int n;
    double rows[8][3];
} published;
static const published radau5[] = {
    {"car-axle",
     10,
     {{9.57e-3, 556, 61},
      {1.76e-3, 849, 93},
      {2.91e-4, 1240, 136},
      {5.38e-5, 1762, 196},
      {8.84e-6, 2570, 283},
      {1.46e-6, 3782, 411},
      {2.29e-7, 5531, 589},
      {3.58e-8, 8134, 855}}},
    {"andrews",
     27,
     {{1.51, 693, 51},
      {2.12e-2, 800, 56},
      {4.96e-3, 868, 58},
      {1.19e-3, 1095, 70},
      {1.54e-4, 1343, 92},
      {6.11e-5, 1773, 126},
      {1.66e-5, 2307, 173},
      {3.84e-5, 3102, 242}}},
};

typedef struct bdf_run {
    bench_outcome outcome;
    double cpu; /* s */
} bdf_run;

typedef struct bdf_comparison {
    const bdf_task *task;
    const bdf_solver *solvers;
    int nsolvers;
    bench_problem problem;
    ggl ggl;
    ida_chain chain;
    bdf_run runs[SOLVERS_MAX][TOLERANCES];
    fitted_line residuals[SOLVERS_MAX], cpu[SOLVERS_MAX];
} bdf_comparison;

static double get_tolerance(int k)
{
    return pow(10, -4 - 0.5 * k);
}

static bench_outcome solve(bdf_comparison *c, const bdf_solver *s, double tolerance)
{
    if (s->method)
        return bogie_solve(&c->problem, s->method, s->options, s->noptions, tolerance, NULL);
    return c->task->equations
               ? ida_chain_solve(&c->chain, s->minimal, s->multipliers, s->max_order, tolerance)
               : ida_solve(&c->ggl, s->multipliers, tolerance);
}

static double get_cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The tolerances of a model, whose runs are long, are a decade apart. */
static int get_stride(const bdf_comparison *c)
{
    return c->task->model_end ? 2 : 1;
}

/* Whether a run is worth its time: not full matrices of long chains, and nothing tighter than what
 * took long. What is left out counts as failed, and as long. */
static bool is_worth(bdf_comparison *c, int i, int k)
{
    const double long_run = 15; /* s */
    const int stride = get_stride(c);
    const bool worth = !(c->solvers[i].minimal && c->problem.def->nv > 64) &&
                       !(k >= stride && c->runs[i][k - stride].cpu > long_run);
    if (!worth)
        c->runs[i][k].cpu = INFINITY;
    return worth;
}

/* All runs once, then in rounds of one run each as long as they are short; the best counts. A
 * disturbance of the machine falls into one round and on all solvers alike. */
static void measure(bdf_comparison *c)
{
    enum { ROUNDS = 7 };
    double spent[SOLVERS_MAX][TOLERANCES] = {{0}};
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < TOLERANCES; k += get_stride(c))
            for (int i = 0; i < c->nsolvers; i++) {
                bdf_run *r = &c->runs[i][k];
                if (!is_worth(c, i, k) || (round > 0 && (!r->outcome.good || spent[i][k] > 0.3)))
                    continue;
                const double begin = get_cpu_time();
                r->outcome = solve(c, &c->solvers[i], get_tolerance(k));
                const double used = get_cpu_time() - begin;
                r->cpu = round > 0 ? fmin(r->cpu, used) : used;
                spent[i][k] += used;
            }
    for (int i = 0; i < c->nsolvers; i++) {
        double error[TOLERANCES], residuals[TOLERANCES], cpu[TOLERANCES];
        for (int k = 0; k < TOLERANCES; k++) {
            const bdf_run *r = &c->runs[i][k];
            error[k] = r->outcome.good ? r->outcome.error : NAN;
            residuals[k] = (double)r->outcome.evaluations;
            cpu[k] = r->cpu;
        }
        c->residuals[i] = line_fit(error, residuals, TOLERANCES);
        c->cpu[i] = line_fit(error, cpu, TOLERANCES);
    }
}

static void print_runs(const bdf_comparison *c)
{
    printf("%-10s %-14s %10s %8s %10s %10s %12s\n", "tolerance", "method", "error", "steps",
           "residuals", "Jacobians", "CPU us");
    for (int k = 0; k < TOLERANCES; k += get_stride(c))
        for (int i = 0; i < c->nsolvers; i++) {
            const bdf_run *r = &c->runs[i][k];
            printf("%-10.1e %-14s ", get_tolerance(k), c->solvers[i].name);
            if (r->outcome.good)
                printf("%10.2e %8ld %10ld %10ld %12.1f\n", r->outcome.error, r->outcome.steps,
                       r->outcome.evaluations, r->outcome.jacobians, 1e6 * r->cpu);
            else
                printf("%10s\n", "failed");
        }
}

/* The least work of IDA at an error, of its settings that need no foresight or of all. */
static double find_ida(const bdf_comparison *c, const fitted_line *lines, double error,
                       bool by_hand)
{
    double best = NAN;
    for (int i = 0; i < c->nsolvers; i++)
        if (!c->solvers[i].method && (by_hand || !c->solvers[i].by_hand))
            best = fmin(best, line_at(&lines[i], error));
    return best;
}

static void print_lines(const bdf_comparison *c, const fitted_line *lines, const char *what,
                        double unit)
{
    printf("\n%s at an error, from the lines\n%-8s", what, "error");
    for (int i = 0; i < c->nsolvers; i++)
        printf(" %14s", c->solvers[i].name);
    printf("\n");
    for (int decade = 0; decade >= -13; decade--) {
        const double error = pow(10, decade);
        if (isnan(find_ida(c, lines, error, true)))
            continue;
        printf("%-8.0e", error);
        for (int i = 0; i < c->nsolvers; i++) {
            const double work = unit * line_at(&lines[i], error);
            if (isnan(work))
                printf(" %14s", "-");
            else
                printf(" %14.*f", unit > 1 ? 1 : 0, work);
        }
        printf("\n");
    }
}

/* Ratios to IDA's best over the decades that both lines cover. */
typedef struct ratios {
    double least, most;
    int decades, met;
} ratios;

static ratios calc_ratios(const bdf_comparison *c, const fitted_line *lines, int i, bool by_hand,
                          double goal)
{
    ratios r = {.least = NAN, .most = NAN};
    for (int decade = 0; decade >= -13; decade--) {
        const double error = pow(10, decade);
        const double x = line_at(&lines[i], error) / find_ida(c, lines, error, by_hand);
        r.least = fmin(r.least, x);
        r.most = fmax(r.most, x);
        r.decades += !isnan(x);
        r.met += x <= goal;
    }
    return r;
}

static void print_goal(const bdf_comparison *c, int i, const char *what, const fitted_line *lines,
                       bool by_hand, double goal)
{
    const ratios r = calc_ratios(c, lines, i, by_hand, goal);
    printf("verdict    %s: %s, %s%s: ", c->problem.name, c->solvers[i].name, what,
           by_hand ? " beside IDA limited to order 2 as well" : "");
    if (r.decades == 0)
        printf("no error that both reach\n");
    else
        printf("%.3f to %.3f of IDA's; the goal, %.2f, is met at %d of %d decades\n", r.least,
               r.most, goal, r.met, r.decades);
}

static void print_verdict(const bdf_comparison *c)
{
    printf("\n");
    for (int i = 0; i < c->nsolvers; i++) {
        const bdf_solver *s = &c->solvers[i];
        if (s->residual > 0)
            print_goal(c, i, "residuals", c->residuals, false, s->residual);
        if (s->timed)
            print_goal(c, i, "CPU time", c->cpu, false, c->task->cpu);
        if (s->timed && c->task->equations)
            print_goal(c, i, "CPU time", c->cpu, true, c->task->cpu);
    }
}

/* Beside RADAU5's published counts: with the columns of its Jacobians, for methods by differences,
 * and without them. */
static void print_radau5(const bdf_comparison *c)
{
    for (size_t k = 0; k < sizeof radau5 / sizeof *radau5; k++) {
        const published *p = &radau5[k];
        double error[8], calls[8], all[8];
        if (strcmp(p->problem, c->problem.name) != 0)
            continue;
        for (int i = 0; i < 8; i++) {
            error[i] = p->rows[i][0];
            calls[i] = p->rows[i][1];
            all[i] = calls[i] + p->n * p->rows[i][2];
        }
        const fitted_line without = line_fit(error, calls, 8), with = line_fit(error, all, 8);
        for (int i = 0; i < c->nsolvers; i++) {
            const bool differences = c->solvers[i].noptions > 0 &&
                                     strcmp(c->solvers[i].options[0].name, "jacobian") == 0;
            for (int decade = 0; decade >= -8; decade -= 1) {
                const double e = pow(10, decade);
                const double own = line_at(&c->residuals[i], e),
                             other = line_at(differences ? &with : &without, e);
                if (c->solvers[i].method && !isnan(own / other))
                    printf("RADAU5     %s at %.0e: %s %.0f residuals, RADAU5 %.0f%s\n",
                           c->problem.name, e, c->solvers[i].name, own, other,
                           differences ? " with those of its Jacobians" : "");
            }
        }
    }
}

/* The chain has no reference in the tests: an explicit method at a tight tolerance gives it. */
static bool open_chain(bdf_comparison *c)
{
    bench_problem *p = &c->problem;
    const bdf_task *t = c->task;
    if (!problem_assemble(p, t->name, t->equations, t->parameters, t->nparameters) ||
        !ida_chain_create(&c->chain, p))
        return false;
    p->atol = 1e-2; /* as in the paper; angles are below 1e-3 */
    return bogie_solve(p, "mdop8", NULL, 0, 1e-11, p->reference).good ||
           problem_fail(p, "no reference");
}

/* Opens models/NAME.json in joint coordinates, up to t_end; as problem_assemble. */
static bool problem_read(bench_problem *p, const char *name, const char *t_end, const char *root)
{
    const bg_setting until = {"run.t_end", t_end};
    char file[1024];
    bg_error err = {0};
    *p = (bench_problem){.name = name, .atol = 1};
    snprintf(file, sizeof file, "%s/models/%s.json", root, name);
    if (bg_model_read(file, &until, 1, &p->model, &err) < 0 ||
        bg_model_create_system(p->model, "joint", &p->system, &err) < 0)
        return problem_fail(p, err.text);
    return problem_prepare(p);
}

/* A model has none either: bdf itself, at a tolerance below all others. */
static bool open_model(bdf_comparison *c, const char *root)
{
    bench_problem *p = &c->problem;
    static const bg_setting full = {"update", "full"};
    if (!problem_read(p, c->task->name, c->task->model_end, root) || !ggl_create(&c->ggl, p))
        return false;
    return bogie_solve(p, "bdf", &full, 1, 1e-10, p->reference).good ||
           problem_fail(p, "no reference");
}

static bool open_reference(bdf_comparison *c, const char *root)
{
    return problem_open(&c->problem, c->task->name, root) && ggl_create(&c->ggl, &c->problem);
}

static void compare(const bdf_task *t, const char *root, bool all)
{
    bdf_comparison *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->task = t;
    c->solvers = t->equations ? unconstrained : constrained;
    c->nsolvers = t->equations ? (int)(sizeof unconstrained / sizeof *unconstrained)
                               : (int)(sizeof constrained / sizeof *constrained);
    if (t->equations   ? open_chain(c)
        : t->model_end ? open_model(c, root)
                       : open_reference(c, root)) {
        measure(c);
        printf("\n%s   t_end = %g s, nv = %d, ng = %d\n", t->name, c->problem.def->t_end,
               c->problem.def->nv, c->problem.def->ng);
        if (all)
            print_runs(c);
        print_lines(c, c->residuals, "Residual evaluations", 1);
        print_lines(c, c->cpu, "CPU us", 1e6);
        print_verdict(c);
        print_radau5(c);
        fflush(stdout);
    }
    ggl_clear(&c->ggl);
    ida_chain_clear(&c->chain);
    problem_close(&c->problem);
    free(c);
}

int main(int argc, char **argv)
{
    bg_blas_settle();
    const char *root = ".", *only = NULL;
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--sweep") == 0)
            all = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            root = argv[i];
    }
    printf("bdf beside SUNDIALS IDA %s: work at equal error, fitted over tolerances 1e-4 to 1e-9\n",
           SUNDIALS_VERSION);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!only || strcmp(only, tasks[i].name) == 0)
            compare(&tasks[i], root, all);
    return 0;
}

/* Bogie beside SUNDIALS IDA: error and CPU time over a sweep of tolerances, and the ratio of CPU
 * times at equal error. See README.md for what is measured and how.
 *
 * usage: bench-ida [--sweep] [FOLDER]     FOLDER: the source folder, "." unless given */
#include "cli/blas.h"
#include "curve.h"
#include "solve_bogie.h"
#include "solve_ida.h"

#include <cblas.h>
#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "flags not recorded"
#endif

enum { BATCHES = 5, TOLERANCES = 17, GOALS = 3 };
static const double batch_seconds = 0.02;
static const double goal_tolerance[GOALS] = {1e-4, 1e-6, 1e-8}, goal_ratio = 0.5;

/* method NULL: IDA. */
typedef struct solver {
    const char *name, *method, *projection;
    bool suppress;
} solver;

enum { IDA_SOLVERS = 2 }; /* they come first */
static const solver solvers[] = {
    {"IDA", NULL, NULL, false},
    {"IDA suppress", NULL, NULL, true},
    {"mdop5", "mdop5", "every-step", false},
    {"mdop5 control", "mdop5", "control", false},
    {"hem5", "hem5", "every-step", false},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

typedef struct comparison {
    problem problem;
    ggl ggl;
    run runs[SOLVERS][TOLERANCES];
} comparison;

static outcome solve(comparison *c, const solver *s, double tolerance)
{
    return s->method ? bogie_solve(&c->problem, s->method, s->projection, tolerance)
                     : ida_solve(&c->ggl, s->suppress, tolerance);
}

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one integration, the mean of a batch. */
static double time_batch(comparison *c, const solver *s, double tolerance)
{
    const double start = cpu_time();
    double seconds = 0;
    for (long n = 1;; n++) {
        solve(c, s, tolerance);
        seconds = cpu_time() - start;
        if (seconds >= batch_seconds)
            return seconds / (double)n;
    }
}

/* All solvers at one tolerance: a first run for the result, then batches in turn, the best counts. */
static void measure(comparison *c, int k, double tolerance)
{
    for (int i = 0; i < SOLVERS; i++)
        c->runs[i][k] = (run){tolerance, solve(c, &solvers[i], tolerance), INFINITY};
    for (int batch = 0; batch < BATCHES; batch++)
        for (int i = 0; i < SOLVERS; i++)
            if (c->runs[i][k].outcome.good)
                c->runs[i][k].cpu =
                    fmin(c->runs[i][k].cpu, time_batch(c, &solvers[i], tolerance));
}

static void print_runs(const comparison *c, bool all)
{
    printf("%-10s %-14s %10s %8s %12s %12s\n", "tolerance", "method", "error", "steps",
           "evaluations", "CPU us");
    for (int k = 0; k < TOLERANCES; k++) {
        const double tolerance = c->runs[0][k].tolerance;
        bool goal = false;
        for (int i = 0; i < GOALS; i++)
            goal = goal || fabs(tolerance / goal_tolerance[i] - 1) < 1e-9;
        for (int i = 0; i < SOLVERS && (goal || all); i++) {
            const run *r = &c->runs[i][k];
            printf("%-10.1e %-14s ", tolerance, solvers[i].name);
            if (r->outcome.good)
                printf("%10.2e %8ld %12ld %12.1f\n", r->outcome.error, r->outcome.steps,
                       r->outcome.evaluations, 1e6 * r->cpu);
            else
                printf("%10s\n", "failed");
        }
    }
}

/* The least time in which one of the solvers from..to-1 reaches error e; NAN: none does. */
static double find_best(const comparison *c, int from, int to, double e, int *which)
{
    double best = NAN;
    for (int i = from; i < to; i++) {
        const double cpu = curve_find_cpu(c->runs[i], TOLERANCES, e);
        if (!(cpu >= best) && !isnan(cpu)) {
            best = cpu;
            *which = i;
        }
    }
    return best;
}

static double find_ratio(const comparison *c, double e, int *ida, int *bogie)
{
    return find_best(c, IDA_SOLVERS, SOLVERS, e, bogie) / find_best(c, 0, IDA_SOLVERS, e, ida);
}

static void print_curves(const comparison *c)
{
    printf("\nCPU us to reach an error\n%-10s", "error");
    for (int i = 0; i < SOLVERS; i++)
        printf(" %13s", solvers[i].name);
    printf(" %10s\n", "Bogie/IDA");
    for (int decade = -1; decade >= -11; decade--) {
        const double e = pow(10, decade);
        int ida = 0, bogie = 0;
        const double ratio = find_ratio(c, e, &ida, &bogie);
        if (isnan(ratio))
            continue;
        printf("%-10.0e", e);
        for (int i = 0; i < SOLVERS; i++) {
            const double cpu = curve_find_cpu(c->runs[i], TOLERANCES, e);
            if (isnan(cpu))
                printf(" %13s", "-");
            else
                printf(" %13.1f", 1e6 * cpu);
        }
        printf(" %10.3f\n", ratio);
    }
}

/* The goal: at the errors IDA has at the tolerances of interest, in either form of its error test. */
static void print_verdict(const comparison *c)
{
    double worst = 0;
    printf("\nat IDA's error for its tolerance\n");
    for (int k = 0; k < TOLERANCES * IDA_SOLVERS; k++) {
        const run *r = &c->runs[k % IDA_SOLVERS][k / IDA_SOLVERS];
        bool goal = false;
        for (int i = 0; i < GOALS; i++)
            goal = goal || fabs(r->tolerance / goal_tolerance[i] - 1) < 1e-9;
        if (!goal || !r->outcome.good)
            continue;
        int ida = 0, bogie = 0;
        const double ratio = find_ratio(c, r->outcome.error, &ida, &bogie);
        printf("%-10.0e %-14s %10.2e   ", r->tolerance, solvers[k % IDA_SOLVERS].name,
               r->outcome.error);
        if (isnan(ratio)) {
            printf("not reached by both\n");
            continue;
        }
        printf("%s / %s = %.3f\n", solvers[bogie].name, solvers[ida].name, ratio);
        worst = fmax(worst, ratio);
    }
    printf("verdict    %s: largest ratio %.3f, at most %.1f is the goal: %s\n", c->problem.name,
           worst, goal_ratio, worst <= goal_ratio ? "met" : "NOT met");
}

static void compare(const char *name, const char *root, bool all)
{
    comparison *c = calloc(1, sizeof *c);
    if (!c)
        return;
    if (problem_open(&c->problem, name, root) && ggl_create(&c->ggl, &c->problem)) {
        for (int k = 0; k < TOLERANCES; k++)
            measure(c, k, pow(10, -3 - 0.5 * k));
        printf("\n%s   t_end = %g s, nv = %d, ng = %d; IDA: %d unknowns\n", name,
               c->problem.def->t_end, c->problem.def->nv, c->problem.def->ng, c->ggl.n);
        print_runs(c, all);
        print_curves(c);
        print_verdict(c);
        fflush(stdout);
    }
    ggl_clear(&c->ggl);
    problem_close(&c->problem);
    free(c);
}

int main(int argc, char **argv)
{
    bg_blas_settle(argv);
    const char *root = ".";
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--sweep") == 0)
            all = true;
        else
            root = argv[i];
    }
    printf("Bogie beside SUNDIALS IDA %s   compiler: gcc %s, %s   OpenBLAS: %s, %d thread\n",
           SUNDIALS_VERSION, __VERSION__, BENCH_FLAGS, openblas_get_corename(), openblas_get_num_threads());
    const char *const names[] = {"car-axle", "andrews", "slider-crank"};
    for (int i = 0; i < 3; i++)
        compare(names[i], root, all);
    return 0;
}

/* Bogie beside SUNDIALS IDA: error and CPU time over a sweep of tolerances, and the ratio of CPU
 * times at equal error. See README.md for what is measured and how.
 *
 * usage: bench-ida [--sweep] [FOLDER]     FOLDER: the source folder, "." unless given */
#include "base/library.h"
#include "bogie/version.h"
#include "curve.h"
#include "solve_bogie.h"
#include "solve_ida.h"

#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "flags not recorded"
#endif

enum { ROUNDS = 5, TOLERANCES = 17, GOALS = 3 };
static const double batch_seconds = 0.02;
static const double goal_tolerance[GOALS] = {1e-4, 1e-6, 1e-8}, goal_ratio = 0.5;

/* method NULL: IDA. */
typedef struct ida_solver {
    const char *name, *method, *projection;
    ida_multipliers multipliers;
} ida_solver;

enum { IDA_SOLVERS = 3 }; /* they come first */
static const ida_solver solvers[] = {
    {"IDA", NULL, NULL, IDA_MULTIPLIERS_TESTED},
    {"IDA suppress", NULL, NULL, IDA_MULTIPLIERS_SUPPRESSED},
    {"IDA free", NULL, NULL, IDA_MULTIPLIERS_FREE},
    {"mdop5", "mdop5", "every-step", 0},
    {"mdop5 control", "mdop5", "control", 0},
    {"mdop8", "mdop8", "every-step", 0},
    {"hem5", "hem5", "every-step", 0},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

typedef struct ida_comparison {
    bench_problem problem;
    ggl ggl;
    curve_run runs[SOLVERS][TOLERANCES];
} ida_comparison;

static bench_outcome solve(ida_comparison *c, const ida_solver *s, double tolerance)
{
    const bg_setting projection = {"projection", s->projection};
    return s->method ? bogie_solve(&c->problem, s->method, &projection, 1, tolerance, NULL)
                     : ida_solve(&c->ggl, s->multipliers, tolerance);
}

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds of one integration, the mean of a batch. */
static double time_batch(ida_comparison *c, const ida_solver *s, double tolerance)
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

/* The whole sweep: once for the results, then in rounds of one batch each, of which the best
 * counts. A disturbance of the machine falls into one round and on all solvers alike. */
static void measure(ida_comparison *c)
{
    for (int k = 0; k < TOLERANCES; k++)
        for (int i = 0; i < SOLVERS; i++) {
            const double tolerance = pow(10, -3 - 0.5 * k);
            c->runs[i][k] = (curve_run){tolerance, solve(c, &solvers[i], tolerance), INFINITY};
        }
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < TOLERANCES; k++)
            for (int i = 0; i < SOLVERS; i++) {
                curve_run *r = &c->runs[i][k];
                if (r->outcome.good)
                    r->cpu = fmin(r->cpu, time_batch(c, &solvers[i], r->tolerance));
            }
}

static bool is_goal(double tolerance)
{
    for (int i = 0; i < GOALS; i++)
        if (fabs(tolerance / goal_tolerance[i] - 1) < 1e-9)
            return true;
    return false;
}

static void print_runs(const ida_comparison *c, bool all)
{
    printf("%-10s %-14s %10s %8s %12s %12s\n", "tolerance", "method", "error", "steps",
           "evaluations", "CPU us");
    for (int k = 0; k < TOLERANCES; k++) {
        const double tolerance = c->runs[0][k].tolerance;
        for (int i = 0; i < SOLVERS && (all || is_goal(tolerance)); i++) {
            const curve_run *r = &c->runs[i][k];
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
static double find_best(const ida_comparison *c, int from, int to, double e, int *which)
{
    double best = NAN;
    for (int i = from; i < to; i++) {
        const double cpu = curve_find_cpu(c->runs[i], TOLERANCES, e);
        if (!isnan(cpu) && !(cpu >= best)) {
            best = cpu;
            *which = i;
        }
    }
    return best;
}

static void print_curves(const ida_comparison *c)
{
    printf("\nCPU us to reach an error\n%-10s", "error");
    for (int i = 0; i < SOLVERS; i++)
        printf(" %13s", solvers[i].name);
    printf(" %10s\n", "Bogie/IDA");
    for (int decade = -1; decade >= -11; decade--) {
        const double e = pow(10, decade);
        int which;
        const double ratio = find_best(c, IDA_SOLVERS, SOLVERS, e, &which) /
                             find_best(c, 0, IDA_SOLVERS, e, &which);
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

/* The goal at the error of one run of IDA: that run's time, or a better one of IDA's, against the
 * time in which Bogie keeps to the error. Returns the ratio, NAN when Bogie does not reach it. */
static double print_goal(const ida_comparison *c, int solver_index, const curve_run *r)
{
    int ida = solver_index, bogie = 0;
    const double e = r->outcome.error;
    double ida_cpu = find_best(c, 0, IDA_SOLVERS, e, &ida);
    if (!(ida_cpu < r->cpu)) {
        ida_cpu = r->cpu;
        ida = solver_index;
    }
    const double cpu = find_best(c, IDA_SOLVERS, SOLVERS, e, &bogie), ratio = cpu / ida_cpu;
    printf("%-10.0e %-14s %10.2e   ", r->tolerance, solvers[solver_index].name, e);
    if (isnan(ratio))
        printf("not reached by Bogie\n");
    else
        printf("%s %.1f us / %s %.1f us = %.3f\n", solvers[bogie].name, 1e6 * cpu,
               solvers[ida].name, 1e6 * ida_cpu, ratio);
    return ratio;
}

/* At the errors IDA has at the tolerances of interest, whatever its treatment of multipliers. */
static void print_verdict(const ida_comparison *c)
{
    double worst = -1;
    printf("\nat IDA's error for its tolerance\n");
    for (int k = 0; k < TOLERANCES; k++)
        for (int i = 0; i < IDA_SOLVERS; i++) {
            const curve_run *r = &c->runs[i][k];
            if (!is_goal(r->tolerance) || !r->outcome.good)
                continue;
            const double ratio = print_goal(c, i, r);
            worst = isnan(ratio) ? INFINITY : fmax(worst, ratio);
        }
    if (worst < 0)
        printf("verdict    %s: no run of IDA to compare with\n", c->problem.name);
    else
        printf("verdict    %s: largest ratio Bogie/IDA %.3f; the goal, at most %.1f, is %s\n",
               c->problem.name, worst, goal_ratio, worst <= goal_ratio ? "met" : "NOT met");
}

static void compare(const char *name, const char *root, bool all)
{
    ida_comparison *c = calloc(1, sizeof *c);
    if (!c)
        return;
    if (problem_open(&c->problem, name, root) && ggl_create(&c->ggl, &c->problem)) {
        measure(c);
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

/* Which kernels OpenBLAS has chosen, and how many threads. */
static void print_kernels(void)
{
    static const char *const symbols[] = {"openblas_get_corename", "openblas_get_num_threads"};
    struct {
        char *(*core)(void);
        int (*threads)(void);
    } found;
    bg_library library = {.purpose = "matrices",
                          .name = BOGIE_LAPACK_NAME,
                          .path = BOGIE_LAPACK_PATH,
                          .symbols = symbols,
                          .count = 2,
                          .table = &found,
                          .mutex = PTHREAD_MUTEX_INITIALIZER};
    if (bg_library_load(&library, NULL) == BG_OK)
        printf("   OpenBLAS: %s, %d thread", found.core(), found.threads());
    printf("\n");
}

int main(int argc, char **argv)
{
    bg_blas_settle();
    const char *root = ".";
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--sweep") == 0)
            all = true;
        else
            root = argv[i];
    }
    printf("Bogie beside SUNDIALS IDA %s   compiler: gcc %s, %s", SUNDIALS_VERSION, __VERSION__,
           BENCH_FLAGS);
    print_kernels();
    const char *const names[] = {"car-axle", "andrews", "slider-crank"};
    for (int i = 0; i < 3; i++)
        compare(names[i], root, all);
    return 0;
}

/* Work to equal error: for every problem, method and level of error the loosest tolerance that
 * keeps to it, with the CPU time and the instructions of that integration. Instructions are counted
 * by valgrind's callgrind, which runs this program again for one integration alone, and do not
 * depend on what else the machine does. */
#include "solve_bogie.h"

#include <time.h>

static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5"};

typedef struct work_task {
    const char *name; /* of the equations */
    bg_setting parameters[1];
    int nparameters;
    double t_end; /* 0: that of the equations, with the reference that tests have */
    double levels[2];
} work_task;

static const work_task tasks[] = {
    {"car-axle", {{0}}, 0, 0, {2e-7, 1e-9}},
    {"andrews", {{0}}, 0, 0, {2e-7, 1e-9}},
    {"slider-crank", {{0}}, 0, 0, {2e-7, 1e-9}},
    {"chain", {{"N", "256"}}, 1, 2, {3.4e-10, 3.4e-12}}, /* 6 and 8 digits of angles */
};
enum { TASKS = sizeof tasks / sizeof *tasks };

/* What callgrind counts; a function of its own, so that it finds it. */
__attribute__((noinline)) bench_outcome integrate(const bench_problem *p, const char *method,
                                                  double tolerance);
bench_outcome integrate(const bench_problem *p, const char *method, double tolerance)
{
    const bg_setting projection = {"projection", "every-step"};
    return bogie_solve(p, method, &projection, 1, tolerance, NULL);
}

/* The loosest of tolerances in quarters of a decade that keeps to the error, the tighter ones
 * with it; 0: none does. */
static double find_tolerance(const bench_problem *p, const char *method, double level)
{
    double found = 0;
    for (double tolerance = 1e-12; tolerance < 2e-3; tolerance *= pow(10, 0.25)) {
        bench_outcome o = integrate(p, method, tolerance);
        if (!o.good || !(o.error <= level))
            break;
        found = tolerance;
    }
    return found;
}

/* The chain has no reference in the tests: an explicit method at a tight tolerance gives it. */
static bool open_task(bench_problem *p, const work_task *t, const char *root)
{
    const bg_setting projection = {"projection", "every-step"};
    if (t->t_end == 0)
        return problem_open(p, t->name, root);
    if (!problem_assemble(p, t->name, t->name, t->parameters, t->nparameters))
        return false;
    p->t_end = t->t_end;
    p->atol = 1e-2; /* angles are below 1e-3 */
    return bogie_solve(p, "mdop8", &projection, 1, 1e-13, p->reference).good ||
           problem_fail(p, "no reference");
}

static double measure_cpu(const bench_problem *p, const char *method, double tolerance)
{
    double best = HUGE_VAL;
    for (int k = 0; k < 20; k++) {
        clock_t begin = clock();
        integrate(p, method, tolerance);
        best = fmin(best, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
}

/* Millions of instructions; NAN without valgrind. */
static double count_instructions(const char *program, const char *root, const char *name,
                                 const char *method, double tolerance)
{
    char command[2048], line[512];
    double count = NAN, x;
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null "
             "--toggle-collect=integrate '%s' '%s' %s %s %.17g 2>&1",
             program, root, name, method, tolerance);
    FILE *in = popen(command, "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *found = strstr(line, "Collected :");
        if (found && sscanf(found, "Collected : %lf", &x) == 1)
            count = x;
    }
    if (in)
        pclose(in);
    return count / 1e6;
}

static bool print_task(const char *program, const char *root, const work_task *t)
{
    bench_problem p;
    bool good = open_task(&p, t, root);
    for (size_t k = 0; good && k < sizeof t->levels / sizeof *t->levels; k++)
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            double tolerance = find_tolerance(&p, methods[i], t->levels[k]);
            if (!(tolerance > 0))
                continue;
            bench_outcome o = integrate(&p, methods[i], tolerance);
            printf("%-13s %7.1e  %-6s %9.2e %9.2e %7ld %9ld %9.3f %10.2f\n", t->name, t->levels[k],
                   methods[i], tolerance, o.error, o.steps, o.evaluations,
                   1e3 * measure_cpu(&p, methods[i], tolerance),
                   count_instructions(program, root, t->name, methods[i], tolerance));
            fflush(stdout);
        }
    problem_close(&p);
    return good;
}

/* What callgrind runs. */
static bool integrate_once(const work_task *t, const char *root, const char *method,
                           double tolerance)
{
    bench_problem p;
    bool good = open_task(&p, t, root) && integrate(&p, method, tolerance).good;
    problem_close(&p);
    return good;
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : ".";
    for (int k = 0; argc == 5 && k < TASKS; k++)
        if (strcmp(tasks[k].name, argv[2]) == 0)
            return !integrate_once(&tasks[k], root, argv[3], strtod(argv[4], NULL));
    printf("Work to equal error\nproblem         level  method tolerance     error   steps     "
           "terms    CPU ms  M instr.\n");
    for (int k = 0; k < TASKS; k++)
        if (!print_task(argv[0], root, &tasks[k]))
            return 1;
    return 0;
}

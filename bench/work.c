/* Work to equal error: for every problem, method and level of error the loosest tolerance that
 * keeps to it, with the CPU time and the instructions of that integration. Instructions are counted
 * by valgrind's callgrind, which runs this program again for one integration alone, and do not
 * depend on what else the machine does. */
#include "solve_bogie.h"

#include <time.h>

static const char *const problems[] = {"car-axle", "andrews", "slider-crank"};
static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5"};
static const double levels[] = {2e-7, 1e-9};

/* What callgrind counts; a function of its own, so that it finds it. */
__attribute__((noinline)) outcome integrate(const problem *p, const char *method, double tolerance);
outcome integrate(const problem *p, const char *method, double tolerance)
{
    const bg_setting projection = {"projection", "every-step"};
    return bogie_solve(p, method, &projection, 1, tolerance, NULL);
}

/* The loosest of tolerances in quarters of a decade that keeps to the error, the tighter ones
 * with it; 0: none does. */
static double find_tolerance(const problem *p, const char *method, double level)
{
    double found = 0;
    for (double tolerance = 1e-12; tolerance < 2e-3; tolerance *= pow(10, 0.25)) {
        outcome o = integrate(p, method, tolerance);
        if (!o.good || !(o.error <= level))
            break;
        found = tolerance;
    }
    return found;
}

static double measure_cpu(const problem *p, const char *method, double tolerance)
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

static bool print_problem(const char *program, const char *root, const char *name)
{
    problem p;
    bool good = problem_open(&p, name, root);
    for (size_t k = 0; good && k < sizeof levels / sizeof *levels; k++)
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            double tolerance = find_tolerance(&p, methods[i], levels[k]);
            if (!(tolerance > 0))
                continue;
            outcome o = integrate(&p, methods[i], tolerance);
            printf("%-13s %7.0e  %-6s %9.2e %9.2e %7ld %9ld %9.3f %10.2f\n", name, levels[k],
                   methods[i], tolerance, o.error, o.steps, o.evaluations,
                   1e3 * measure_cpu(&p, methods[i], tolerance),
                   count_instructions(program, root, name, methods[i], tolerance));
            fflush(stdout);
        }
    problem_close(&p);
    return good;
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : ".";
    if (argc == 5) { /* one integration, under callgrind */
        problem p;
        bool good = problem_open(&p, argv[2], root) &&
                    integrate(&p, argv[3], strtod(argv[4], NULL)).good;
        problem_close(&p);
        return !good;
    }
    printf("Work to equal error\nproblem         level  method tolerance     error   steps     "
           "terms    CPU ms  M instr.\n");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        if (!print_problem(argv[0], root, problems[k]))
            return 1;
    return 0;
}

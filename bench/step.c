/* How long a step in real time takes: models and options of linear-euler, as shares of a period of
 * 1 ms and beside the explicit method. The rows of a model take turns in blocks of steps, so that
 * all of them see the same machine. */
#include "bogie/bogie.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 500, ROUNDS = 40, STEPS = BLOCK * ROUNDS, SETTINGS = 3, ROWS = 8 };

static const double period = 1e-3; /* s */

typedef struct step_row {
    const char *name;
    int n;
    bg_setting settings[SETTINGS];
    bool prepares; /* the Jacobian is made before the step, and its time does not count */
} step_row;

static const step_row rows[ROWS] = {
    {"explicit", 1, {{"jacobian", "none"}}, false},
    {"J2", 0, {{0}}, false},
    {"J2, prepared", 0, {{0}}, true},
    {"J3", 1, {{"jacobian", "J3"}}, false},
    {"J2, stiff parts", 1, {{"partition", "stiff"}}, false},
    {"J2, stiff parts, prepared", 1, {{"partition", "stiff"}}, true},
    {"J2, stiff parts, every 10th step", 2, {{"partition", "stiff"}, {"refresh", "10"}}, false},
    {"J2, stiff parts, Baumgarte",
     2,
     {{"partition", "stiff"}, {"stabilisation", "baumgarte"}},
     false},
};

/* One row while it runs. */
typedef struct runner {
    bg_system *system;
    bg_realtime *realtime;
    double *wall, *cpu; /* [STEPS] s */
    bool good, prepares;
} runner;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool runner_begin(runner *r, const bg_model *model, const step_row *x, bg_error *err)
{
    bg_realtime_options o = bg_default_realtime_options();
    o.period = period;
    o.settings = x->settings;
    o.nsettings = x->n;
    r->prepares = x->prepares;
    r->wall = calloc(STEPS, sizeof *r->wall);
    r->cpu = calloc(STEPS, sizeof *r->cpu);
    return r->wall && r->cpu && bg_model_create_system(model, "joint", &r->system, err) == BG_OK &&
           bg_realtime_create(r->system, &o, &r->realtime, err) == BG_OK;
}

static void runner_end(runner *r)
{
    bg_realtime_destroy(r->realtime);
    bg_system_destroy(r->system);
    free(r->wall);
    free(r->cpu);
}

static bool runner_step(runner *r, int first, int count, bg_error *err)
{
    for (int k = first; k < first + count; k++) {
        if (r->prepares)
            bg_realtime_prepare(r->realtime);
        double wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
        if (bg_realtime_step(r->realtime, NULL, NULL, err) != BG_OK)
            return false;
        r->cpu[k] = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
        r->wall[k] = read_clock(CLOCK_MONOTONIC) - wall;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double find(const double *sorted, double p)
{
    return sorted[(int)(p * (STEPS - 1))];
}

static void print_rows(runner *r)
{
    double explicit_ = NAN;
    for (int k = 0; k < ROWS; k++) {
        if (!r[k].good)
            continue;
        qsort(r[k].wall, STEPS, sizeof(double), compare);
        qsort(r[k].cpu, STEPS, sizeof(double), compare);
        double p50 = find(r[k].wall, 0.5);
        if (k == 0)
            explicit_ = p50;
        printf("  %-34s %7.2f %7.2f %7.2f %9.2f\n", rows[k].name, 100 * p50 / period,
               100 * find(r[k].wall, 0.99) / period, 100 * find(r[k].cpu, 0.99) / period,
               p50 / explicit_);
    }
}

static bool measure(const char *path)
{
    bg_error err = {0};
    bg_model *model = NULL;
    runner r[ROWS] = {0};
    if (bg_model_read(path, NULL, 0, &model, &err) != BG_OK) {
        fprintf(stderr, "bench-step: %s\n", err.text);
        return false;
    }
    printf("%s\n", path);
    for (int k = 0; k < ROWS; k++) {
        r[k].good = runner_begin(&r[k], model, &rows[k], &err);
        if (!r[k].good)
            printf("  %-34s %s\n", rows[k].name, err.text);
    }
    for (int block = 0; block < ROUNDS; block++)
        for (int k = 0; k < ROWS; k++) {
            bool was = r[k].good;
            r[k].good = was && runner_step(&r[k], block * BLOCK, BLOCK, &err);
            if (was && !r[k].good)
                printf("  %-34s %s\n", rows[k].name, err.text);
        }
    print_rows(r);
    for (int k = 0; k < ROWS; k++)
        runner_end(&r[k]);
    bg_model_destroy(model);
    return true;
}

int main(void)
{
    static const char *const models[] = {"models/vehicle-trailer.json",
                                         "models/vehicle-trailer-spring.json"};
    bool good = true;
    printf("Steps of linear-euler, %d each, in %% of a period of 1 ms\n", STEPS);
    printf("  %-34s %7s %7s %7s %9s\n", "", "p50", "p99", "p99 cpu", "explicit");
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        good = measure(models[k]) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What every solver of a comparison is given: a system, its consistent start, where it must arrive.
 *
 * Bench programs are one source file each; what they share is in headers like this one. */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "bogie/bogie.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_problem {
    const char *name;
    bg_model *model; /* NULL: of equations */
    bg_system *system;
    const bg_system_def *def;
    bg_state *start; /* consistent, with a and lambda */
    bg_assembly_report assembly;
    double t_end;      /* s; that of the system, where nobody says otherwise */
    double *reference; /* [nq] positions at t_end */
    double atol;       /* as a part of rtol */
} bench_problem;

/* One integration over the whole time span. */
typedef struct bench_outcome {
    bool good;    /* t_end was reached */
    double error; /* largest |q - reference| at t_end */
    long steps, evaluations, jacobians;
} bench_outcome;

static double problem_calc_error(const bench_problem *p, const double *q)
{
    double error = 0;
    for (int i = 0; i < p->def->nq; i++)
        error = fmax(error, fabs(q[i] - p->reference[i]));
    return error;
}

static bool problem_fail(const bench_problem *p, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", p->name, why);
    return false;
}

/* The column `computed` of the rows at t_end, one per coordinate; see tests/reference/README.md. */
static bool problem_read_reference(bench_problem *p, const char *root)
{
    char file[1024], text[256];
    int found = 0;
    snprintf(file, sizeof file, "%s/tests/reference/%s.csv", root, p->name);
    FILE *in = fopen(file, "r");
    while (in && fgets(text, sizeof text, in)) {
        char *rest = text;
        const char *t = strsep(&rest, ","), *name = strsep(&rest, ",");
        if (!rest || strtod(t, NULL) != p->t_end)
            continue;
        for (int i = 0; i < p->def->nq; i++)
            if (strcmp(name, p->def->q_names[i]) == 0) {
                p->reference[i] = strtod(rest, NULL);
                found++;
            }
    }
    if (in)
        fclose(in);
    if (found == p->def->nq)
        return true;
    fprintf(stderr,
            "bench: %s does not give the positions at t = %g; run in the source folder, or name it "
            "as the argument\n",
            file, p->t_end);
    return false;
}

static void problem_close(bench_problem *p)
{
    bg_assembly_report_clear(&p->assembly);
    bg_state_destroy(p->start);
    bg_system_destroy(p->system);
    bg_model_destroy(p->model);
    free(p->reference);
}

/* The consistent start, and room for the reference. */
static bool problem_prepare(bench_problem *p)
{
    bg_error err = {0};
    if (bg_state_create(p->system, &p->start, &err) < 0 ||
        bg_state_assemble(p->system, p->start, &p->assembly, &err) < 0)
        return problem_fail(p, err.text);
    p->def = bg_system_get_def(p->system);
    p->t_end = p->def->t_end;
    p->reference = calloc((size_t)p->def->nq, sizeof(double));
    return p->reference || problem_fail(p, "out of memory");
}

/* Opens equations:FAMILY with its parameters and assembles it; the reference is still zero. False,
 * with a message on stderr, when that fails; close in either case. */
static bool problem_assemble(bench_problem *p, const char *name, const char *family_name,
                             const bg_setting *parameters, int nparameters)
{
    char reference[64];
    const bg_equations *family;
    void *handle;
    bg_error err = {0};
    *p = (bench_problem){.name = name, .atol = 1};
    snprintf(reference, sizeof reference, "equations:%s", family_name);
    if (bg_equations_open(reference, &family, &handle, &err) < 0 ||
        bg_equations_create(family, parameters, nparameters, &p->system, &err) < 0)
        return problem_fail(p, err.text);
    return problem_prepare(p);
}

/* Opens equations:NAME, with the reference that tests have. root: the folder that contains
 * tests/reference. */
static bool problem_open(bench_problem *p, const char *name, const char *root)
{
    return problem_assemble(p, name, name, NULL, 0) && problem_read_reference(p, root);
}

#endif

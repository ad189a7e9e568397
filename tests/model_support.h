/* What tests that run whole models share. */
#ifndef MODEL_SUPPORT_H
#define MODEL_SUPPORT_H

#include "run_support.h"

#define assert_near(actual, expected, tolerance)                                                \
    do {                                                                                        \
        double a_ = (actual), e_ = (expected);                                                  \
        if (!(fabs(a_ - e_) <= (tolerance)))                                                    \
            fail_msg("%s is %.17g, not %.17g within %g", #actual, a_, e_, (double)(tolerance)); \
    } while (0)

static const char *const forms[] = {"joint", "cartesian"};

/* A copy of JSON that is written with single quotes, to be released with free(). */
static inline char *quote(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

/* From JSON with single quotes. */
static inline bg_model *parse_quoted(const char *text)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
    free(copy);
    return model;
}

/* The outputs at the end of a run, and its events. */
static inline long run_model_events(const char *text, const char *formulation, double tolerance,
                                    double *y, bg_certificate *certificate)
{
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    bg_model *model;
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, formulation, &sys, &err));
    o.integrator = "mdop5"; /* whose errors are far below what is asked for here */
    o.method.rtol = o.method.atol = tolerance;
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(y, r.y, (size_t)bg_system_get_def(sys)->ny * sizeof *y);
    if (certificate)
        *certificate = r.certificate;
    const long events = r.nevents;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    free(copy);
    return events;
}

/* The outputs at the end of a run. */
static inline void run_model(const char *text, const char *formulation, double tolerance, double *y,
                             bg_certificate *certificate)
{
    run_model_events(text, formulation, tolerance, y, certificate);
}

#endif

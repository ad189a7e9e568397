/* What the tests of integrators, events and runs share. */
#ifndef RUN_SUPPORT_H
#define RUN_SUPPORT_H

#include "bogie/bogie.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The sanitizers multiply the time and look for mistakes of another kind: there, comparisons take
 * looser tolerances or fewer cases. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#define assert_ok(call)                            \
    do {                                           \
        bg_error *err_ = &err;                     \
        if ((call) != BG_OK)                       \
            fail_msg("%s: %s", #call, err_->text); \
    } while (0)

/* A built-in system, with one parameter changed unless it is NULL. */
static inline bg_system *create_system(const char *reference, const char *name, const char *value)
{
    bg_error err = {BG_OK, ""};
    const bg_equations *family;
    void *handle;
    bg_system *sys;
    bg_setting setting = {name, value};
    assert_ok(bg_equations_open(reference, &family, &handle, &err));
    assert_ok(bg_equations_create(family, &setting, name ? 1 : 0, &sys, &err));
    return sys;
}

/* The i-th method, without names for settings of others, which stand behind them all; NULL past the
 * end. */
static inline const bg_integrator_info *get_method(int i)
{
    const bg_integrator_info *info = bg_integrator_get_info(i);
    return info && info->setting_of ? NULL : info;
}

typedef struct trajectory {
    bg_system *sys;
    bg_state *start;
    bg_integrator *ig;
    bg_assembly_report assembly;
    bg_integrator_options options;
    bg_setting settings[2];
} trajectory;

static inline bool has_option(const char *method, const char *option)
{
    const bg_integrator_info *info;
    for (int i = 0; (info = bg_integrator_get_info(i)); i++)
        for (int k = 0; k < info->noptions && strcmp(info->name, method) == 0; k++)
            if (strcmp(info->options[k].name, option) == 0)
                return true;
    return false;
}

/* An integrator at the consistent start of sys, ready to step towards t_end. A projection other
 * than NULL asks for the method of 003 with its norm (15), where the method has that. */
static inline void trajectory_begin(trajectory *x, bg_system *sys, const char *method,
                                    const char *projection, double tolerance, double step,
                                    double t_end)
{
    bg_error err = {BG_OK, ""};
    memset(x, 0, sizeof *x);
    x->sys = sys;
    x->options = bg_default_integrator_options();
    x->options.rtol = x->options.atol = tolerance;
    x->options.step = step;
    x->settings[0] = (bg_setting){"projection", projection};
    x->settings[1] = (bg_setting){"norm", "rms"};
    x->options.settings = x->settings;
    x->options.nsettings = !projection ? 0 : has_option(method, "norm") ? 2 : 1;
    assert_ok(bg_state_create(sys, &x->start, &err));
    assert_ok(bg_state_assemble(sys, x->start, &x->assembly, &err));
    assert_ok(bg_integrator_create(method, sys, &x->options, &x->ig, &err));
    assert_ok(bg_integrator_start(x->ig, x->start, &x->assembly.redundancy, t_end, &err));
}

static inline void trajectory_end(trajectory *x)
{
    bg_integrator_destroy(x->ig);
    bg_state_destroy(x->start);
    bg_assembly_report_clear(&x->assembly);
}

static inline const bg_state *trajectory_run(trajectory *x, double t_end)
{
    bg_error err = {BG_OK, ""};
    while (bg_integrator_get_state(x->ig)->t < t_end)
        assert_ok(bg_integrator_step(x->ig, &err));
    return bg_integrator_get_state(x->ig);
}

/* Slope of log(error) over log(h) by least squares. */
static inline double fit_order(int n, const double *h, const double *error)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        double x = log(h[i]), y = log(error[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

#endif

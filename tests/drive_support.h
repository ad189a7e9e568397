/* A model driven from start to end, with what its outputs were on the way. */
#ifndef DRIVE_SUPPORT_H
#define DRIVE_SUPPORT_H

#include "model_support.h"

enum { MAX_OUTPUTS = 64 };

/* Outputs at the start, at the end, and their extremes in rows 0.02 s apart. */
typedef struct drive {
    int ny, nv, ng, rows;
    char names[MAX_OUTPUTS][64];
    double first[MAX_OUTPUTS], last[MAX_OUTPUTS], low[MAX_OUTPUTS], high[MAX_OUTPUTS];
    bg_certificate certificate;
    long steps, events;
} drive;

static inline bg_status watch_drive(void *self, const bg_row *row, bg_error *err)
{
    drive *d = self;
    (void)err;
    for (int i = 0; i < d->ny; i++) {
        if (d->rows == 0)
            d->first[i] = d->low[i] = d->high[i] = row->y[i];
        d->low[i] = fmin(d->low[i], row->y[i]);
        d->high[i] = fmax(d->high[i], row->y[i]);
    }
    d->rows++;
    return BG_OK;
}

static inline void run_drive(const char *path, const char *form, const bg_setting *settings,
                             int nsettings, double t_end, double tolerance, drive *d)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_read(path, settings, nsettings, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    const bg_system_def *def = bg_system_get_def(sys);
    *d = (drive){.ny = def->ny, .nv = def->nv, .ng = def->ng};
    assert_true(d->ny <= MAX_OUTPUTS);
    for (int i = 0; i < d->ny; i++) {
        char buffer[32];
        snprintf(d->names[i], sizeof *d->names, "%s",
                 bg_system_get_name(sys, 'y', i, buffer, sizeof buffer));
    }
    o.integrator = "mdop5"; /* whose constraints are met to rounding */
    o.t_end = t_end;
    o.method.rtol = o.method.atol = tolerance;
    o.output_interval = 0.02;
    o.sink = (bg_sink){.self = d, .row = watch_drive};
    assert_ok(bg_run(sys, &o, &r, &err));
    memcpy(d->last, r.y, (size_t)d->ny * sizeof(double));
    d->certificate = r.certificate;
    d->steps = r.counters.accepted;
    d->events = r.nevents;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

static inline int find_output(const drive *d, const char *name)
{
    for (int i = 0; i < d->ny; i++)
        if (strcmp(d->names[i], name) == 0)
            return i;
    fail_msg("there is no output %s", name);
    return 0;
}

#endif

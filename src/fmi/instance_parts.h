/* Inside of an instance. */
#ifndef BG_FMI_INSTANCE_PARTS_H
#define BG_FMI_INSTANCE_PARTS_H

#include "fmi/instance.h"
#include "fmi/setup.h"
#include "run/session.h"

/* An input from the host. */
typedef struct bg_fmi_input {
    bool given;         /* it comes from the host; else it is as the model says */
    bool fresh;         /* given anew since the last step */
    double value, rate; /* at the time it was given */
    double t;           /* s, that time */
} bg_fmi_input;

/* What a parameter has been set to. */
typedef struct bg_fmi_parameter {
    bool given;
    double value;
} bg_fmi_parameter;

struct bg_fmi_instance {
    bg_fmi_host host;
    char *name;
    bool quiet[BG_FMI_ERROR]; /* messages of a status that are not told */
    bg_fmi_setup setup;
    bg_fmi_phase phase;
    double tolerance, t_start, t_stop; /* NAN: not defined */
    bg_problem *problem;               /* as it is compiled now, ... */
    bg_fmi_parameter *compiled;        /* ... [nparameters] with these */
    double compiled_tolerance, compiled_start;
    bg_fmi_variables variables;
    bg_fmi_parameter *parameters; /* [nparameters] */
    bg_fmi_input *inputs;         /* [ninputs] */
    double *p;                    /* [nparameters] scratch */
    double *du, *dy;              /* [nu], [ny] scratch */
    bg_session *session; /* NULL: values were set since it started, or none was asked for */
    double t;            /* s */
    bool ended;
};

/* The motion at the start as parameters and inputs are now; compiles what has changed. */
bg_status bg_fmi_instance_prepare(bg_fmi_instance *x, bg_error *err);
/* Compiles the model where its parameters are not those it was compiled with. */
bg_status bg_fmi_instance_compile(bg_fmi_instance *x, bg_error *err);
/* A session that has not started. */
bg_status bg_fmi_instance_open(bg_fmi_instance *x, bg_error *err);
bg_fmi_status bg_fmi_instance_tell_error(bg_fmi_instance *x, const bg_error *err);

#endif

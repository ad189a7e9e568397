/* The variables of an FMU: time, parameters, inputs and outputs of a problem, in this order. A
 * value reference is an index into this list, which program and FMU make in the same way. */
#ifndef BG_FMI_VARIABLES_H
#define BG_FMI_VARIABLES_H

#include "bogie/problem.h"

#include <stdbool.h>

typedef enum bg_fmi_causality {
    BG_FMI_TIME,
    BG_FMI_PARAMETER,  /* a number of its own */
    BG_FMI_CALCULATED, /* a parameter that follows from others */
    BG_FMI_INPUT,
    BG_FMI_OUTPUT
} bg_fmi_causality;

typedef struct bg_fmi_variable {
    char *name;    /* structured: a.b[1].'left side' */
    char *unit;    /* as Bogie writes it; "": none is known */
    char *setting; /* of a parameter, as --set names it; NULL: not one */
    char *description;
    struct bg_expression *expression; /* of a parameter; NULL: a number */
    bg_fmi_causality causality;
    int index;    /* of the input or output in the system */
    double start; /* value of a parameter, or of an input at the start time */
} bg_fmi_variable;

typedef struct bg_fmi_variables {
    bg_fmi_variable *items; /* [count] */
    int count;
    int first[BG_FMI_OUTPUT + 2]; /* where each causality begins; calculated parameters lie among
                                     parameters */
    int nparameters, ninputs, noutputs;
    bool states; /* outputs are q and v: the system has none of its own */
} bg_fmi_variables;

/* inputs [ninputs] are the names of those that come from outside. Clear also after a failure. */
bg_status bg_fmi_variables_create(const bg_problem *problem, const char *const *inputs, int ninputs,
                                  bg_fmi_variables *variables, bg_error *err);
void bg_fmi_variables_clear(bg_fmi_variables *variables);

/* Parameters p [nparameters] that follow from others are found from those; what is not finite, or
 * cannot be found, is NAN. */
void bg_fmi_variables_calc(const bg_fmi_variables *variables, double *p);

/* Whether nothing but a value determines input i of a problem: it waits for somebody. */
bool bg_fmi_is_free_input(const bg_problem *problem, int i);

#endif

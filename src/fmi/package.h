/* An FMU as a file: description, object and resources in one archive. */
#ifndef BG_FMI_PACKAGE_H
#define BG_FMI_PACKAGE_H

#include "bogie/problem.h"

typedef struct bg_fmi_package {
    int version;         /* of the standard, 2 or 3 */
    char *const *inputs; /* [ninputs] names of those that come from outside; NULL: those that
                            wait for somebody */
    int ninputs;
    const char *object;   /* the object's file */
    const char *licences; /* a file with those of what is in it; NULL: there is none */
} bg_fmi_package;

/* What was made, for people. */
typedef struct bg_fmi_summary {
    int parameters, ninputs, noutputs;
    double step; /* s, fixed; 0: error control */
    char integrator[32];
} bg_fmi_summary;

/* Writes path, whose ending is .fmu, from the problem. */
bg_status bg_fmi_package_write(const char *path, const bg_problem *problem,
                               const bg_fmi_package *package, bg_fmi_summary *summary,
                               bg_error *err);

#endif

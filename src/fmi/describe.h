/* modelDescription.xml, for both versions of the standard. */
#ifndef BG_FMI_DESCRIBE_H
#define BG_FMI_DESCRIBE_H

#include "fmi/setup.h"

#include <stdio.h>

typedef struct bg_fmi_description {
    int version; /* 2 or 3 */
    const char *identifier, *model_name;
    const char *comment;    /* of the model file; NULL: none */
    double output_interval; /* s; NAN: not known */
    bool sensitivities;     /* derivatives of outputs by inputs are exact */
    const bg_fmi_setup *setup;
    const bg_fmi_variables *variables;
} bg_fmi_description;

void bg_fmi_describe(const bg_fmi_description *description, FILE *out);

#endif

/* What an FMU holds besides its object: a model as a text, and how it is run, as JSON in its
 * resources. `bogie fmu` writes it, an instance reads it. */
#ifndef BG_FMI_SETUP_H
#define BG_FMI_SETUP_H

#include "bogie/problem.h"
#include "fmi/variables.h"

#define BG_FMI_SETUP_FILE "setup.json"
#define BG_FMI_MODEL_FILE "model.json"
#define BG_FMI_TABLEAU_FILE "tableau.json"

typedef struct bg_fmi_setup {
    char *token;       /* of this FMU, "{...}" */
    char *name;        /* of the model: it names it in messages */
    char *reference;   /* equations:NAME; NULL: there is a text of a model */
    char *text;        /* of the model; NULL: equations */
    char *formulation; /* NULL: equations */
    char *integrator;
    double rtol, atol, step; /* step 0: error control */
    bool equilibrium;
    double t_start, t_end; /* s, of the default experiment */
    bg_setting *settings;  /* [nsettings] integrator.OPTION, and parameters of equations */
    int nsettings;
    char **inputs; /* [ninputs] that come from outside */
    int ninputs;
} bg_fmi_setup;

/* Everything but the token. Inputs are those named, NULL: those that wait for somebody. Clear also
 * after a failure. */
bg_status bg_fmi_setup_describe(const bg_problem *problem, char *const *inputs, int ninputs,
                                bg_fmi_setup *setup, bg_error *err);
/* From the folder of resources. Clear also after a failure. */
bg_status bg_fmi_setup_read(const char *folder, bg_fmi_setup *setup, bg_error *err);
void bg_fmi_setup_clear(bg_fmi_setup *setup);

/* The JSON text, to be released with free(); NULL: out of memory. */
char *bg_fmi_setup_create_text(const bg_fmi_setup *setup);

/* The problem, with more settings behind its own. tolerance > 0 takes the place of rtol, and atol
 * keeps its ratio to it; t_start NAN: the setup's. */
bg_status bg_fmi_setup_create_problem(const bg_fmi_setup *setup, const bg_setting *more, int nmore,
                                      double tolerance, double t_start, bg_problem **problem,
                                      bg_error *err);

#endif

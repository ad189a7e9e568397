/* Inside of sources and problems, and a problem in two steps for those who show the model before
 * its equations. */
#ifndef BG_PROBLEM_INTERNAL_H
#define BG_PROBLEM_INTERNAL_H

#include "bogie/problem.h"
#include "model/model.h"

struct bg_source {
    char *reference;
    struct json_t *root;        /* content of a model file; NULL: not one */
    const bg_equations *family; /* NULL with a model */
    void *handle;               /* of a plug-in */
};

struct bg_problem {
    bg_source *own; /* opened for this problem; NULL: the source is the caller's */
    const bg_source *source;
    bg_model *model;         /* NULL: of equations */
    const char *formulation; /* "joint", "cartesian"; NULL: of equations */
    const bg_system *given;  /* by the caller; NULL: the problem makes its own */
    bg_system *system;       /* its own */
    char *integrator;        /* asked for; NULL: nothing was */
    char **texts;            /* [ntexts] of settings */
    int ntexts;
    bg_setting *settings; /* nset of the system, nfile of the file's method, then nmethod given */
    int nset, nfile, nmethod;
    bg_run_options run;
    double period;    /* s, asked for by def or file; NAN: nothing was */
    bool equilibrium; /* asked for by def */
};

/* A source that only has a name; NULL: out of memory. */
bg_source *bg_source_name(const char *reference);
/* Whether a reference names a model file. */
bool bg_source_is_model(const char *reference);
/* The model that a source of a file is with these settings. */
bg_status bg_source_create_model(const bg_source *source, const bg_setting *settings, int nsettings,
                                 bg_model **model, bg_error *err);

/* Everything but the system. */
bg_status bg_problem_read(const bg_problem_def *def, bg_problem **problem, bg_error *err);
/* Then the system; after a failure the problem is what it was. */
bg_status bg_problem_create_system(bg_problem *problem, bg_error *err);

#endif

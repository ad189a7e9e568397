/* Problems: the one way from what a user names to something that runs.
 *
 *   reference    FILE.json a model file, equations:NAME a built-in system, FILE.so a plug-in
 *   settings     {"parameters.speed", "20"} something in the model by its path, {"N", "16"} a
 *                parameter of equations, {"integrator.projection", "control"} an option of the
 * method
 *
 * What is not said here is as a model file says under "run", else as everywhere. Options of a
 * method that a file gives hold where that method is taken; those in settings come after them.
 *
 *   bg_problem_def def = bg_default_problem_def();
 *   def.reference = "models/four-bar.json";
 *   def.t_end = 2;
 *   bg_problem_create(&def, &problem, &err);
 *   bg_run_options options = bg_problem_get_run_options(problem);
 *   bg_run(bg_problem_get_system(problem), &options, &report, &err);
 *   bg_problem_destroy(problem);
 */
#ifndef BOGIE_PROBLEM_H
#define BOGIE_PROBLEM_H

#include "bogie/model.h"
#include "bogie/realtime.h"
#include "bogie/run.h"

BG_API_BEGIN

/* What a reference names, read once for any number of problems. */
typedef struct bg_source bg_source;

/* A model file is read, a plug-in is loaded; nothing is made of it yet. Close the source after the
 * last problem that was made of it. */
bg_status bg_source_open(const char *reference, bg_source **source, bg_error *err);
/* A model from a text; origin names it in messages. */
bg_status bg_source_parse(const char *text, const char *origin, bg_source **source, bg_error *err);
void bg_source_close(bg_source *source);

typedef struct bg_problem_def {
    const char *reference;   /* ignored where there is a source */
    const bg_source *source; /* NULL: the reference is opened for this problem alone */
    /* A system made by the caller, which outlives the problem; source is ignored, and the reference
     * only names it (NULL: as its definition does). NULL: it is made from the reference. */
    const bg_system *system;
    const bg_setting *settings; /* the last of a name counts */
    int nsettings;
    const char *formulation; /* "joint" or "cartesian"; NULL: the file's, or joint */
    const char *integrator;  /* NULL: the file's, or the default */
    /* NAN: the file's, or the default of a run. output_interval 0: a row at every step. */
    double t_start, t_end, rtol, atol, step, output_interval; /* s, s, 1, 1, s, s */
    int equilibrium; /* non-zero: motions start in equilibrium, whatever the file says */
} bg_problem_def;

bg_problem_def bg_default_problem_def(void);

typedef struct bg_problem bg_problem;

/* Copies what it needs of def, except for the source. */
bg_status bg_problem_create(const bg_problem_def *def, bg_problem **problem, bg_error *err);
void bg_problem_destroy(bg_problem *problem);

/* All of these belong to the problem. */
const bg_system *bg_problem_get_system(const bg_problem *problem);
const bg_model *bg_problem_get_model(const bg_problem *problem);   /* NULL: not of a model */
const char *bg_problem_get_formulation(const bg_problem *problem); /* NULL likewise */
const char *bg_problem_get_reference(const bg_problem *problem);

/* How it is run; to be completed by a sink, checkpoints and so on. */
bg_run_options bg_problem_get_run_options(const bg_problem *problem);
/* The same in real time: the method is the one asked for, else the file's where it takes fixed
 * steps, else the default; the period is the step. */
bg_realtime_options bg_problem_get_realtime_options(const bg_problem *problem);

/* Puts the file and the way to the joint in front of a message about a start that was not found,
 * which names rows of constraints only. Others stay as they are. */
void bg_problem_locate(const bg_problem *problem, bg_status status, bg_error *err);

BG_API_END
#endif

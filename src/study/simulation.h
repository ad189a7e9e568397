/* One run of a case: the model opened with its settings, the options of the run, and what is
 * measured on the way. Used inside worker processes, and by the reader to check names. */
#ifndef BG_SIMULATION_H
#define BG_SIMULATION_H

#include "bogie/problem.h"
#include "study/study.h"

typedef struct bg_simulation {
    bg_problem *problem;
    const bg_system *system; /* of the problem */
    bg_run_options run;
} bg_simulation;

bg_sources *bg_sources_create(void); /* NULL: out of memory */
void bg_sources_destroy(bg_sources *sources);
/* What a path names; it belongs to the list. */
bg_status bg_sources_find(bg_sources *sources, const char *path, const bg_source **source,
                          bg_error *err);

bg_status bg_simulation_open(const bg_study *study, const json_t *settings, bg_simulation *job,
                             bg_error *err);
void bg_simulation_close(bg_simulation *job);
/* Whether the model is readable and has what "set." names, whatever the values. */
bg_status bg_simulation_check_settings(const bg_study *study, const json_t *settings,
                                       bg_error *err);

/* Places in a row of results. */
typedef struct bg_channel {
    char field; /* 'y', 'q', 'v', 'a', 'z', 'l' */
    int index;
} bg_channel;
typedef struct bg_channels {
    bg_channel *items;
    int count;
} bg_channels;

bg_status bg_channels_resolve(const bg_system *system, bg_names names, bg_channels *channels,
                              bg_error *err);
void bg_channels_read(const bg_channels *channels, const bg_row *row, double *x);
void bg_channels_clear(bg_channels *channels);
bg_status bg_channels_check(const bg_system *system, bg_names names, bg_error *err);
bg_status bg_event_check(const bg_system *system, const char *name, bg_error *err);

/* Follows one number over the rows of a run. */
typedef struct bg_gauge {
    double max, min, start, end, t_start, t, integral, square;
    long rows;
} bg_gauge;
void bg_gauge_add(bg_gauge *gauge, double t, double x);
double bg_gauge_get(const bg_gauge *gauge, bg_take take);

/* Runs case k and fills in its record. references: one per reference of the study, NULL where the
 * case needs none. */
void bg_case_run(const bg_study *study, long k, const bg_trajectory *const *references,
                 bg_record *record);
/* The run that reference r of case k stands for: its settings, and its samples. */
json_t *bg_reference_make_settings(const bg_study *study, long k, int r);
bg_status bg_reference_run(const bg_study *study, long k, int r, bg_trajectory *samples,
                           bg_error *err);

#endif

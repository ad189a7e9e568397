/* Jobs: a run of a problem in one handle that keeps its results in memory.
 *
 * For programs that make many runs, in threads, and for other languages, which need not know the
 * structures of run.h:
 *
 *   bg_job_create(problem, &job, &err);
 *   bg_job_run(job, &err);
 *   const double *y = bg_job_get(job, "outputs", &rows, &width);        rows x width
 *   bg_job_save(job, "motion.h5", &err);
 *   bg_job_destroy(job);
 */
#ifndef BOGIE_JOB_H
#define BOGIE_JOB_H

#include "bogie/problem.h"

BG_API_BEGIN

typedef struct bg_job bg_job;

/* The problem must outlive the job; jobs of one problem may run in several threads at once. */
bg_status bg_job_create(const bg_problem *problem, bg_job **job, bg_error *err);
void bg_job_destroy(bg_job *job);

/* From now on `watch` is called while the job runs, at most 20 times a second, with the time that
 * has been reached and how many steps that took; where it returns other than 0, the run ends after
 * this step. */
void bg_job_watch(bg_job *job, int (*watch)(void *self, double t, long steps), void *self);
/* Ends the run after its present step; may be called from other threads and signal handlers. */
void bg_job_stop(bg_job *job);

/* Runs once. Whatever the status, what was computed can be asked for and saved. */
bg_status bg_job_run(bg_job *job, bg_error *err);

/* What the run came to (docs/results.md) as a JSON text, to be released with free(). NULL: out of
 * memory. */
char *bg_job_create_summary(const bg_job *job);

/* A dataset by its name in docs/results.md ("t", "q", "outputs", "steps/h", "events/t"), by rows,
 * which belongs to the job; NULL with no rows where there is none of this name. bg_job_get_whole
 * has those of whole numbers ("mode", "steps/order", "events/direction"). */
const double *bg_job_get(const bg_job *job, const char *dataset, long *rows, int *width);
const int *bg_job_get_whole(const bg_job *job, const char *dataset, long *rows, int *width);
/* The name of a column of one of the quantities of a row; written into buffer where the system
 * keeps none. NULL: there is no such column. */
const char *bg_job_get_name(const bg_job *job, const char *dataset, int column, char *buffer,
                            size_t size);
/* Its unit; "": none is said. */
const char *bg_job_get_unit(const bg_job *job, const char *dataset, int column);

/* Writes the results as bg_run with a sink of bg_result would have: FILE.h5 or FILE.csv. */
bg_status bg_job_save(const bg_job *job, const char *path, bg_error *err);

BG_API_END
#endif

/* Studies: variants of models times metrics, made into one table (docs/study.md).
 *
 *   bg_study_parse(text, "sweep", 1, &study, &err);
 *   bg_study_options options = {.journal = ""};
 *   bg_study_run(study, &options, &table, &err);
 *   char *csv = bg_table_create_csv(table);
 *   bg_table_destroy(table);
 *   bg_study_destroy(study);
 */
#ifndef BOGIE_STUDY_H
#define BOGIE_STUDY_H

#include "bogie/status.h"

#include <signal.h>

BG_API_BEGIN

typedef struct bg_study bg_study;
typedef struct bg_table bg_table;

/* Reads a study file, or a text; origin names it in messages, and paths are relative to its folder
 * ("sweep": the present one). timing 0 leaves out what depends on the machine. */
bg_status bg_study_read(const char *path, int timing, bg_study **study, bg_error *err);
bg_status bg_study_parse(const char *text, const char *origin, int timing, bg_study **study,
                         bg_error *err);
void bg_study_destroy(bg_study *study);

/* Zeros are the defaults. */
typedef struct bg_study_options {
    int workers;         /* processes; 0: one per processor */
    int shard, shards;   /* 1..shards; 0, 0: everything */
    const char *journal; /* where finished cases are kept; NULL: bg_study_name_journal; "": nowhere
                          */
    double time_limit;   /* s; 0: as the study says */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *self, long done, long total);
    void (*note)(void *self, const char *sentence);
    void *self;
} bg_study_options;

/* Where the journal is unless told otherwise: "NAME.journal", "NAME.2-of-3.journal". */
void bg_study_name_journal(const bg_study *study, int shard, int shards, char *buffer, size_t size);
/* Runs the cases of the shard that the journal does not hold yet, in processes forked from this
 * one. BG_STOPPED on request. Under mpirun only rank 0 gets a table; the others return with *table
 * NULL when all is done. The study must outlive the table. */
bg_status bg_study_run(const bg_study *study, const bg_study_options *options, bg_table **table,
                       bg_error *err);
/* Removes the journal of a study that is complete and whose table is safe. */
void bg_study_forget(const bg_study *study, const bg_study_options *options);
/* The table from the journals of shards in the present folder. */
bg_status bg_study_merge(const bg_study *study, bg_table **table, bg_error *err);

void bg_table_destroy(bg_table *table);
/* Texts to be released with free(); NULL: out of memory. JSON as bg_report_add_study takes it, all
 * digits as CSV, and five digits for people. */
char *bg_table_create_json(const bg_table *table);
char *bg_table_create_csv(const bg_table *table);
char *bg_table_create_text(const bg_table *table);
/* JSON or CSV as FILE.json or FILE.csv. */
bg_status bg_table_save(const bg_table *table, const char *path, bg_error *err);

BG_API_END
#endif

/* Reading a study file, part by part. Failures stay in the reader of the values. */
#ifndef BG_STUDY_READ_H
#define BG_STUDY_READ_H

#include "model/read.h"
#include "study/study.h"

/* Checks one object of settings; expressions become numbers. variant: "name" and "reference" are
 * allowed, too. */
void bg_study_read_settings(const bg_value *v, bool variant);
void bg_study_read_variants(const bg_value *top, bg_study *study);
void bg_study_read_references(const bg_value *top, bg_study *study);
void bg_study_read_metrics(const bg_value *top, bg_study *study);
void bg_study_read_plots(const bg_value *top, bg_study *study);
void bg_study_read_paper(const bg_value *top, bg_study *study);
/* Opens each model with the settings of its first case: files, paths of settings, names of
 * outputs and events. */
void bg_study_check_models(const bg_value *top, bg_study *study);

/* files.c: adds the content of every file that the study depends on to its hash. False: out of
 * memory. */
bool bg_study_hash_files(bg_study *study);

/* A list of texts as names. */
bg_names bg_value_names(const bg_value *v);
/* The index of a metric by key; fails with the nearest. */
int bg_value_metric(const bg_value *object, const char *key, const bg_study *study);
/* Fails unless path is a field of the summary (fields.c). */
void bg_study_check_field(const bg_value *v, const char *path);
/* Whether key can be a setting. */
bool bg_setting_is_known(const char *key);

#endif

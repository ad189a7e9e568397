/* All cases of a study that are still to run, by a crew (schedule.c). */
#ifndef BG_STUDY_SCHEDULE_H
#define BG_STUDY_SCHEDULE_H

#include "study/crew.h"
#include "study/journal.h"

/* Rows go into the table and the journal as they come. The crew stays. */
bg_status bg_schedule_run(const bg_study *study, const bg_study_options *options, bg_crew *crew,
                          bg_table *table, bg_journal *journal, bg_error *err);

#endif

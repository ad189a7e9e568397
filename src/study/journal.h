/* The journal of a study: one line per finished case, so that a killed study goes on where it was,
 * and the shards of a study can be put together. The first line names the study by its hash; a line
 * counts when it is complete and its checksum is right. */
#ifndef BG_JOURNAL_H
#define BG_JOURNAL_H

#include "study/study.h"

typedef struct bg_journal {
    int fd;         /* -1: none */
    char *path;     /* as the user calls it */
    char *real;     /* links resolved */
    bool restarted; /* it belonged to another version of the study */
    long found;     /* cases that were in it */
} bg_journal;

/* Opens or makes the journal and puts the records it holds into the table. A journal of another
 * version is kept as PATH.old. */
bg_status bg_journal_open(const bg_study *study, const char *path, bg_table *table,
                          bg_journal *journal, bg_error *err);
bg_status bg_journal_add(bg_journal *journal, const char *text, size_t length, bg_error *err);
void bg_journal_close(bg_journal *journal);
/* Puts the records of a journal of this study into the table without changing the file. */
bg_status bg_journal_load(const bg_study *study, const char *path, bg_table *table, bg_error *err);

#endif

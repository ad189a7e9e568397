/* A study from its journal to its table: what the journal knows already, a crew for the rest, and
 * the columns that need several cases. */
#include "base/place.h"
#include "study/schedule.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say(const bg_study_options *options, const char *sentence)
{
    if (options->note)
        options->note(options->self, sentence);
}

static bool keeps_journal(const bg_study_options *options)
{
    return !options->journal || *options->journal;
}

/* A study without a journal still runs; only a journal the user asked for must work. */
static bg_status open_journal(const bg_study *s, const bg_study_options *options, bg_table *table,
                              bg_journal *journal, bg_error *err)
{
    char path[PATH_MAX], sentence[PATH_MAX + 200];
    if (!keeps_journal(options))
        return BG_OK;
    bg_study_name_journal(s, options->shard, options->shards, path, sizeof path);
    bg_status st = bg_journal_open(s, options->journal ? options->journal : path, table, journal,
                                   err);
    if (st == BG_IO && !options->journal && options->shards == 0) {
        snprintf(sentence, sizeof sentence, "%.500s; the study cannot be resumed", err->text);
        say(options, sentence);
        bg_journal_close(journal);
        return BG_OK;
    }
    if (st == BG_OK && journal->restarted) {
        snprintf(sentence, sizeof sentence,
                 "the journal '%s' belongs to another version of the study, of its models or of "
                 "Bogie: all cases run again, and it is kept as '%s.old'",
                 journal->path, journal->path);
        say(options, sentence);
    } else if (st == BG_OK && journal->found > 0) {
        snprintf(sentence, sizeof sentence, "%ld of %ld cases are in the journal '%s' already",
                 journal->found, s->ncases, journal->path);
        say(options, sentence);
    }
    return st;
}

void bg_study_forget(const bg_study *s, const bg_study_options *options)
{
    char path[PATH_MAX];
    if (!keeps_journal(options))
        return;
    bg_study_name_journal(s, options->shard, options->shards, path, sizeof path);
    char *real = bg_place_resolve(options->journal ? options->journal : path);
    if (real)
        unlink(real);
    free(real);
}

static bg_status create_crew(const bg_study *s, const bg_study_options *options, bg_crew **crew,
                             bg_error *err)
{
    if (bg_mpi_is_asked())
        return bg_mpi_create(s, crew, err);
    long size = options->workers > 0 ? options->workers : sysconf(_SC_NPROCESSORS_ONLN);
    if (size < 1)
        size = 1;
    return bg_pool_create(s, (int)(size < s->ncases ? size : s->ncases), crew, err);
}

bg_status bg_study_run(const bg_study *s, const bg_study_options *options, bg_table **table,
                       bg_error *err)
{
    bg_crew *crew = NULL;
    bg_journal journal = {.fd = -1};
    *table = NULL;
    bg_status st = create_crew(s, options, &crew, err);
    if (st != BG_OK || !crew)
        return st;
    st = bg_table_create(s, table, err);
    if (st == BG_OK)
        st = open_journal(s, options, *table, &journal, err);
    if (st == BG_OK)
        st = bg_schedule_run(s, options, crew, *table, &journal, err);
    crew->class_->destroy(crew);
    if (st == BG_OK && options->shards == 0)
        st = bg_table_derive(*table, err);
    bg_journal_close(&journal);
    if (st != BG_OK) {
        bg_table_destroy(*table);
        *table = NULL;
    }
    return st;
}

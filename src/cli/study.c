/* bogie study: runs many variants of a model and makes one table of them. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/page.h"

#include "base/clock.h"
#include "base/output.h"
#include "base/text.h"
#include "study/crew.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct study_arguments {
    const char *csv, *json, *html, *shard, *journal;
    long jobs;
    double time_limit;
    int merge, no_timing, quiet;
} study_arguments;

#define FIELD(name) offsetof(study_arguments, name)

static const bg_cli_option options[] = {
    {"--jobs", "-j", "N", BG_CLI_COUNT_FROM_1, FIELD(jobs),
     "worker processes (default: one per processor; studies with CPU times run one case at a "
     "time)"},
    {"--csv", NULL, "FILE|-", BG_CLI_FILE, FIELD(csv), "the table as CSV; - is stdout"},
    {"--json", NULL, "FILE|-", BG_CLI_FILE, FIELD(json),
     "table and plots as JSON, for `bogie report`; - is stdout"},
    {"--html", NULL, "PAGE.html", BG_CLI_FILE, FIELD(html), "write the page of `bogie report`"},
    {"--no-timing", NULL, NULL, BG_CLI_FLAG, FIELD(no_timing),
     "leave out what depends on the machine; cases then run side by side"},
    {"--time-limit", NULL, "S", BG_CLI_POSITIVE, FIELD(time_limit),
     "a case that takes longer than S seconds is given up"},
    {"--shard", NULL, "I/N", BG_CLI_TEXT, FIELD(shard),
     "run the I-th of N parts and keep its journal for --merge"},
    {"--merge", NULL, NULL, BG_CLI_FLAG, FIELD(merge),
     "make the table from the journals of all shards in this folder"},
    {"--journal", NULL, "FILE", BG_CLI_FILE, FIELD(journal),
     "where finished cases are kept until the end (default: NAME.journal)"},
    {"--quiet", NULL, NULL, BG_CLI_FLAG, FIELD(quiet), "no table on the terminal, no progress"},
};

/* What is said on stderr on the way. */
typedef struct talk {
    bool quiet;
    double next; /* s on the monotonic clock: when progress is due */
} talk;

static void print_note(void *self, const char *sentence)
{
    const talk *t = self;
    if (!t->quiet)
        fprintf(stderr, "bogie: %s\n", sentence);
}

static void print_progress(void *self, long done, long total)
{
    talk *t = self;
    double seconds = bg_clock_get_wall();
    if (done < total && seconds < t->next)
        return;
    t->next = seconds + 0.1;
    fprintf(stderr, "\r%ld of %ld cases%s", done, total, done == total ? "\r\033[K" : "");
}

/* "2/3" */
static bg_status read_shard(const char *text, bg_study_options *run, bg_error *err)
{
    char first[24];
    long i, n;
    const char *slash = text ? strchr(text, '/') : NULL;
    if (!text)
        return BG_OK;
    snprintf(first, sizeof first, "%.*s", slash ? (int)(slash - text) : 0, text);
    if (slash && slash - text < (long)sizeof first && bg_text_to_count(first, &i) &&
        bg_text_to_count(slash + 1, &n) && i >= 1 && i <= n && n <= INT_MAX) {
        run->shard = (int)i;
        run->shards = (int)n;
        return BG_OK;
    }
    return bg_error_set(err, BG_BAD_INPUT,
                        "--shard needs I/N with I from 1 to N, such as 2/3, not '%s'", text);
}

static bg_status check_arguments(const study_arguments *args, bg_error *err)
{
    const bg_cli_file files[] = {{"--csv", args->csv, BG_PLACE_TABLE},
                                 {"--json", args->json, BG_PLACE_STUDY},
                                 {"--html", args->html, BG_PLACE_PAGE},
                                 {"--journal", args->journal, BG_PLACE_JOURNAL}};
    if (args->merge && (args->shard || args->journal))
        return bg_error_set(err, BG_BAD_INPUT,
                            "--merge reads the journals of all shards in this folder; leave out "
                            "%s",
                            args->shard ? "--shard" : "--journal");
    if (args->shard && (args->csv || args->json || args->html))
        return bg_error_set(err, BG_BAD_INPUT,
                            "a shard has no table of its own; give %s with --merge, when all "
                            "shards are done",
                            args->csv    ? "--csv"
                            : args->json ? "--json"
                                         : "--html");
    bg_status status = bg_page_check(args->html, err);
    if (!status)
        status = bg_cli_check_distinct(files, 4, err);
    return status || !bg_mpi_is_first() ? status : bg_cli_check_places(files, 4, err);
}

static bg_status write_text(const char *path, bg_place_kind kind, char *text, bg_error *err)
{
    bg_status status = BG_OK;
    size_t length = text ? strlen(text) : 0;
    if (!text)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the table");
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0'; /* both ways to write add one */
    if (strcmp(path, "-") == 0)
        puts(text);
    else
        status = bg_output_write_text(path, kind, text, err);
    free(text);
    return status;
}

static bg_status write_page(const char *path, const bg_table *table, bg_error *err)
{
    char *text = bg_table_create_json(table);
    bg_report *report = NULL;
    if (!text)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the page");
    bg_status status = bg_report_create(&report, err);
    if (!status)
        status = bg_report_add_study(report, table->study->name, text, err);
    if (!status)
        status = bg_report_write(report, bg_template_get(), NULL, path, err);
    bg_report_destroy(report);
    free(text);
    return status;
}

/* The table for people; what workers and journals say goes to a terminal, too. */
static char *make_plain_text(const bg_table *table)
{
    char *text = bg_table_create_text(table);
    if (text)
        bg_text_clean(text);
    return text;
}

static bg_status write_outputs(const bg_table *table, const study_arguments *args, bg_error *err)
{
    bool busy = (args->csv && strcmp(args->csv, "-") == 0) ||
                (args->json && strcmp(args->json, "-") == 0);
    bg_status status = BG_OK;
    if (!args->quiet && !busy)
        status = write_text("-", BG_PLACE_TABLE, make_plain_text(table), err);
    if (!status && args->csv)
        status = write_text(args->csv, BG_PLACE_TABLE, bg_table_create_csv(table), err);
    if (!status && args->json)
        status = write_text(args->json, BG_PLACE_STUDY, bg_table_create_json(table), err);
    if (!status && args->html)
        status = write_page(args->html, table, err);
    if (!status && (fflush(stdout) != 0 || ferror(stdout)))
        status = bg_error_set(err, BG_IO, "the standard output could not be written: %s",
                              strerror(errno));
    return status;
}

/* A study of which nothing came is a failure; single failures are rows. */
static bg_status check_rows(const bg_table *table, bg_error *err)
{
    for (long k = 0; k < table->study->ncases; k++)
        if (table->rows[k].ok)
            return BG_OK;
    return bg_error_set(err, BG_NOT_CONVERGED, "every case failed; the first one: %s",
                        table->rows[0].reason);
}

/* All ranks of mpirun find the same: one says it. */
static int print_once(const bg_error *err)
{
    return bg_mpi_is_first() ? bg_error_print(err) : bg_exit_code_find(err->status);
}

static int conclude(const bg_study *study, const study_arguments *args, const bg_study_options *run,
                    bg_status status, const bg_table *table, bg_error *err)
{
    char name[512];
    bg_study_name_journal(study, run->shard, run->shards, name, sizeof name);
    const char *journal = args->journal ? args->journal : name;
    bool kept = false;
    if (!status && table && run->shards > 0 && !args->quiet)
        printf("shard %d/%d of '%s' is done; its journal is '%s'\n", run->shard, run->shards,
               study->name, journal);
    else if (!status && table && run->shards == 0) {
        status = write_outputs(table, args, err);
        kept = status && !args->merge;
        if (!status && !args->merge)
            bg_study_forget(study, run);
        if (!status)
            status = check_rows(table, err);
    }
    if (status == BG_STOPPED) {
        fprintf(stderr, "bogie: %s; the same command goes on from the journal\n", err->text);
        return BG_EXIT_STOPPED;
    }
    err->status = status;
    int code = status ? print_once(err) : BG_EXIT_DONE;
    if (kept && bg_mpi_is_first() && access(journal, F_OK) == 0)
        fprintf(stderr,
                "bogie: all cases are kept in the journal '%s': the same command makes the "
                "table of them\n",
                journal);
    return code;
}

static int run_study(const study_arguments *args, const char *path, bg_error *err)
{
    bg_study *study = NULL;
    bg_table *table = NULL;
    talk talk_ = {.quiet = args->quiet};
    bg_study_options run = {.journal = args->journal,
                            .workers = args->jobs < 4096 ? (int)args->jobs : 4096,
                            .time_limit = args->time_limit,
                            .stop = bg_stop_get(),
                            .note = print_note,
                            .self = &talk_};
    if (!args->quiet && isatty(STDERR_FILENO))
        run.progress = print_progress;
    bg_status status = check_arguments(args, err);
    if (!status)
        status = read_shard(args->shard, &run, err);
    if (!status)
        status = bg_study_read(path, !args->no_timing, &study, err);
    if (status)
        return print_once(err);
    bg_stop_listen();
    status = args->merge ? bg_study_merge(study, &table, err)
                         : bg_study_run(study, &run, &table, err);
    int code = conclude(study, args, &run, status, table, err);
    bg_table_destroy(table);
    bg_study_destroy(study);
    return code;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    study_arguments args = {0};
    const char *path;
    bg_error err = {0};
    bg_status status = bg_cli_parse(verb, argc, argv, &args, &path, &err);
    return status ? bg_error_print(&err) : run_study(&args, path, &err);
}

const bg_verb bg_verb_study = {
    .name = "study",
    .operand = "STUDY",
    .operand_kind = BG_CLI_STUDY,
    .explain = "STUDY is a study file STUDY.json (docs/study.md).",
    .summary = "run many variants of a model and compare them in one table",
    .description = "Runs the variants in worker processes and prints one table of what is "
                   "measured. Finished cases are kept in a journal: a study that was stopped or "
                   "killed goes on with the same command. A case that fails or crashes is a row "
                   "with its reason. Under `mpirun` the cases are shared among all ranks.",
    .examples = "bogie study studies/simeon-stair-events.json\n"
                "bogie study studies/iftomm.json --csv iftomm.csv --html iftomm.html",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

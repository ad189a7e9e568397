#include "study/journal.h"

#include "base/place.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 64 };

static void write_header(const bg_study *s, char header[HEADER])
{
    snprintf(header, HEADER, "bogie-study-journal 1 %016llx %ld\n", (unsigned long long)s->hash,
             s->ncases);
}

/* Takes a complete line with the right checksum into the table. */
static bool take_line(const bg_study *s, const char *line, size_t length, bg_table *table)
{
    unsigned crc;
    bg_record record;
    if (length < 10 || line[length - 1] != '\n' || sscanf(line, "%8x ", &crc) != 1)
        return false;
    const char *text = line + 9;
    size_t n = length - 10;
    if (bg_crc32(text, n) != crc || !bg_record_decode(s, text, n, &record))
        return false;
    bg_record *row = &table->rows[record.number];
    bg_record_clear(s, row);
    *row = record;
    return true;
}

/* Reads all good lines behind the header. *end: where they end. False: not this study's journal. */
static bool read_lines(const bg_study *s, FILE *file, bg_table *table, long *end)
{
    char header[HEADER], *line = NULL;
    size_t size = 0;
    write_header(s, header);
    ssize_t n = getline(&line, &size, file);
    bool ours = n > 0 && strcmp(line, header) == 0;
    *end = n;
    while (ours && (n = getline(&line, &size, file)) > 0 && take_line(s, line, (size_t)n, table))
        *end += n;
    free(line);
    return ours;
}

static long count_rows(const bg_table *table)
{
    long n = 0;
    for (long k = 0; k < table->study->ncases; k++)
        n += table->rows[k].done;
    return n;
}

static bg_status begin(const bg_study *s, const char *path, bg_journal *j, bg_error *err)
{
    char header[HEADER];
    write_header(s, header);
    if (ftruncate(j->fd, 0) == 0 && lseek(j->fd, 0, SEEK_SET) == 0 &&
        write(j->fd, header, strlen(header)) == (ssize_t)strlen(header))
        return BG_OK;
    return bg_error_set(err, BG_IO, "the journal '%s' cannot be written: %s", path,
                        strerror(errno));
}

static bg_status fail(const char *path, bg_error *err)
{
    return bg_error_set(err, BG_IO, "the journal '%s' cannot be written: %s", path,
                        strerror(errno));
}

/* Opens or makes a journal with its lock. */
static bg_status open_locked(const char *path, int *fd, bg_error *err)
{
    struct stat info;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*fd < 0 || fstat(*fd, &info) != 0)
        return fail(path, err);
    if (!S_ISREG(info.st_mode) || !bg_place_is_ours(*fd, BG_PLACE_JOURNAL))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is no journal of a study, so it is not replaced; give another "
                            "--journal FILE, or remove it",
                            path);
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the journal '%s' is in use: this study is running already; wait for "
                            "it, or give another --journal FILE",
                            path);
    return BG_OK;
}

/* Another version's journal is moved aside; the lock goes with the new file. */
static bg_status restart(bg_journal *j, bg_error *err)
{
    char old[PATH_MAX];
    snprintf(old, sizeof old, "%s.old", j->real);
    bg_status st = bg_place_check(old, BG_PLACE_JOURNAL, err);
    if (st != BG_OK)
        return st;
    if (rename(j->real, old) != 0)
        return fail(j->real, err);
    close(j->fd);
    j->restarted = true;
    return open_locked(j->real, &j->fd, err);
}

bg_status bg_journal_open(const bg_study *s, const char *path, bg_table *table, bg_journal *j,
                          bg_error *err)
{
    *j = (bg_journal){.fd = -1, .path = strdup(path), .real = bg_place_resolve(path)};
    if (!j->path || !j->real)
        return fail(path, err);
    bool there = access(j->real, F_OK) == 0;
    bg_status st = open_locked(j->real, &j->fd, err);
    if (st != BG_OK)
        return st;
    long end = 0, size = (long)lseek(j->fd, 0, SEEK_END);
    FILE *file = size > 0 ? fopen(j->real, "r") : NULL;
    bool ours = file && read_lines(s, file, table, &end);
    if (file)
        fclose(file);
    if (size > 0 && !ours)
        st = restart(j, err);
    if (st == BG_OK && !ours) {
        st = begin(s, path, j, err);
        if (st != BG_OK && !there)
            unlink(j->real);
        return st;
    }
    j->found = count_rows(table);
    if (st == BG_OK && (ftruncate(j->fd, end) != 0 || lseek(j->fd, end, SEEK_SET) != end))
        st = fail(path, err);
    return st;
}

bg_status bg_journal_add(bg_journal *j, const char *text, size_t length, bg_error *err)
{
    if (j->fd < 0)
        return BG_OK;
    char *line = malloc(length + 11);
    if (!line)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the journal");
    snprintf(line, 10, "%08x ", (unsigned)bg_crc32(text, length));
    memcpy(line + 9, text, length);
    line[length + 9] = '\n';
    size_t done = 0;
    while (done < length + 10) {
        ssize_t n = write(j->fd, line + done, length + 10 - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    free(line);
    if (done == length + 10)
        return BG_OK;
    return bg_error_set(err, BG_IO,
                        "the journal '%s' cannot be written: %s; make room or give another "
                        "--journal FILE, and repeat the command",
                        j->path, strerror(errno));
}

void bg_journal_close(bg_journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    free(j->real);
    *j = (bg_journal){.fd = -1};
}

bg_status bg_journal_load(const bg_study *s, const char *path, bg_table *table, bg_error *err)
{
    long end;
    FILE *file = fopen(path, "r");
    if (!file)
        return bg_error_set(err, BG_IO, "the journal '%s' cannot be read: %s", path,
                            strerror(errno));
    bool ours = read_lines(s, file, table, &end);
    fclose(file);
    if (ours)
        return BG_OK;
    return bg_error_set(err, BG_BAD_INPUT,
                        "the journal '%s' belongs to another version of the study, of its models "
                        "or of Bogie; remove it and run that shard again",
                        path);
}

void bg_study_name_journal(const bg_study *s, int shard, int shards, char *buffer, size_t size)
{
    if (shards > 0)
        snprintf(buffer, size, "%s.%d-of-%d.journal", s->name, shard, shards);
    else
        snprintf(buffer, size, "%s.journal", s->name);
}

/* Which shard would have had the first missing case, by the name of some journal. */
static bg_status fail_missing(const bg_study *s, const bg_table *table, const char *path,
                              bg_error *err)
{
    long missing = s->ncases - count_rows(table), first = 0;
    int shards = 0;
    const char *of = strstr(path, "-of-");
    while (table->rows[first].done)
        first++;
    if (of)
        shards = (int)bg_double_to_long(strtod(of + 4, NULL), 0, INT_MAX);
    return bg_error_set(err, BG_BAD_INPUT,
                        "%ld of %ld cases are in no journal, case %ld first; run `bogie study %s "
                        "--shard %ld/%d` to its end",
                        missing, s->ncases, first, s->path, shards > 0 ? first % shards + 1 : 1,
                        shards);
}

bg_status bg_study_merge(const bg_study *s, bg_table **table, bg_error *err)
{
    char pattern[PATH_MAX];
    glob_t files;
    bg_status st = bg_table_create(s, table, err);
    if (st != BG_OK)
        return st;
    snprintf(pattern, sizeof pattern, "%s.*-of-*.journal", s->name);
    if (glob(pattern, 0, NULL, &files) != 0) {
        st = bg_error_set(
            err, BG_BAD_INPUT,
            "there is no journal %s in this folder; run the shards first: bogie study "
            "%s --shard 1/N, ...",
            pattern, s->path);
    } else {
        for (size_t i = 0; i < files.gl_pathc && st == BG_OK; i++)
            st = bg_journal_load(s, files.gl_pathv[i], *table, err);
        if (st == BG_OK && count_rows(*table) < s->ncases)
            st = fail_missing(s, *table, files.gl_pathv[0], err);
    }
    globfree(&files);
    if (st == BG_OK)
        st = bg_table_derive(*table, err);
    if (st != BG_OK) {
        bg_table_destroy(*table);
        *table = NULL;
    }
    return st;
}

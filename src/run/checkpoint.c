/* Checkpoints: everything a run needs to go on bit by bit as if it had never stopped.
 *
 * A file is the mark "BOGIECKP", the format version, the length and a checksum of the rest, and an
 * archive: what was run (model, system, method, settings), the runner's own state, the
 * integrator's. Settings that influence the result must be the same when resuming, and so must the
 * content of a model; a fingerprint of the system's functions at the saved state catches changed
 * equations. Only the end time may be
 * moved. */
#include "run/fingerprint.h"
#include "run/runner.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT_VERSION = 18, TEXT_SIZE = 256 };

typedef struct checkpoint_header {
    char mark[8];
    uint64_t version, size, checksum;
} checkpoint_header;

/* Saves text; when loading, compares with it and explains a difference. */
static bg_status archive_text(bg_archive *archive, const char *what, const char *text,
                              bg_error *err)
{
    char mine[TEXT_SIZE] = {0}, saved[TEXT_SIZE];
    strncpy(mine, text, sizeof mine - 1);
    memcpy(saved, mine, sizeof saved);
    bg_archive_bytes(archive, saved, sizeof saved);
    saved[sizeof saved - 1] = '\0';
    if (!archive->failed && strcmp(mine, saved) != 0)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "the checkpoint was written with %s '%s', this run has '%s'; resume with "
            "the same",
            what, saved, mine);
    return BG_OK;
}

static bg_status archive_number(bg_archive *archive, const char *what, double number, bg_error *err)
{
    double saved = number;
    bg_archive_doubles(archive, &saved, 1);
    if (!archive->failed && memcmp(&saved, &number, sizeof saved) != 0)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "the checkpoint was written with %s = %.17g, this run has %.17g; resume "
            "with the same",
            what, saved, number);
    return BG_OK;
}

/* "a=1 b=2 ". */
static void join(const bg_setting *settings, int n, char text[TEXT_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < n && used < TEXT_SIZE; i++)
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s=%s ", settings[i].name,
                                 settings[i].value);
}

static bg_status archive_content(const bg_runner *r, bg_archive *archive, bg_error *err)
{
    uint64_t mine = r->sys->system->content, saved = mine;
    bg_archive_bytes(archive, &saved, sizeof saved);
    if (!archive->failed && saved != mine)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the model, a part of it, or a table is not what it was when the "
                            "checkpoint was written; resume with the same, or start anew");
    return BG_OK;
}

static bg_status archive_settings(bg_runner *r, bg_archive *archive, bg_error *err)
{
    const bg_run_options *o = r->options;
    const bg_integrator_options *m = &o->method;
    const bg_system_def *def = &r->sys->def;
    char settings[TEXT_SIZE], parameters[TEXT_SIZE];
    join(m->settings, m->nsettings, settings);
    join(o->parameters, o->nparameters, parameters);
    bg_status st = archive_text(archive, "the model", o->model ? o->model : "", err);
    if (st == BG_OK)
        st = archive_text(archive, "the system", def->name, err);
    if (st == BG_OK)
        st = archive_text(archive, "the formulation", o->formulation ? o->formulation : "equations",
                          err);
    if (st == BG_OK)
        st = archive_text(
            archive, "the start",
            r->sys->system->equilibrium ? "in equilibrium (--equilibrium)" : "as given", err);
    if (st == BG_OK)
        st = archive_text(archive, "the integrator", o->integrator, err);
    if (st == BG_OK)
        st = archive_text(archive, "the integrator options", settings, err);
    if (st == BG_OK)
        st = archive_text(archive, "the parameters", parameters, err);
    if (st == BG_OK)
        st = archive_content(r, archive, err);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"nq", def->nq},       {"nv", def->nv},
                   {"nz", def->nz},       {"ng", def->ng},
                   {"ns", def->ns},       {"nmode", def->nmode},
                   {"rtol", m->rtol},     {"atol", m->atol},
                   {"step", m->step},     {"h_initial", m->h_initial},
                   {"h_min", m->h_min},   {"h_max", m->h_max},
                   {"energy", m->energy}, {"the start time", r->t_start}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && st == BG_OK; i++)
        st = archive_number(archive, numbers[i].name, numbers[i].value, err);
    return st;
}

static void archive_events(bg_runner *r, bg_archive *archive)
{
    bg_run_report *p = r->report;
    bg_archive_long(archive, &p->nevents);
    if (archive->loading && !archive->failed) {
        enum { EVENT_BYTES = 16 };
        if (p->nevents < 0 ||
            (size_t)p->nevents > (archive->size - archive->position) / EVENT_BYTES) {
            archive->failed = true;
            p->nevents = 0;
            return;
        }
        if (p->nevents > r->event_capacity) {
            bg_event *more = realloc(p->events, (size_t)p->nevents * sizeof *more);
            if (!more) {
                archive->failed = archive->out_of_memory = true;
                p->nevents = 0;
                return;
            }
            p->events = more;
            r->event_capacity = p->nevents;
        }
    }
    int ns = r->sys->def.ns;
    for (long i = 0; i < p->nevents && !archive->failed; i++) {
        bg_event *e = &p->events[i];
        bg_archive_finite(archive, &e->t, 1);
        bg_archive_whole(archive, &e->index, 1, 0, ns - 1);
        bg_archive_whole(archive, &e->direction, 1, -1, 1);
        if (archive->loading && !archive->failed)
            *e = bg_system_make_event(r->sys->system, e->t, e->index, e->direction);
    }
    if (archive->loading && archive->failed)
        p->nevents = 0;
    r->at.nevents = p->nevents;
}

static void archive_redundancy(bg_runner *r, bg_archive *archive)
{
    bg_redundancy *x = &r->report->assembly.redundancy;
    int ng = r->sys->def.ng;
    if (archive->loading) {
        x->eliminated = BG_NEW_ARRAY(int, ng);
        x->not_unique = BG_NEW_ARRAY(unsigned char, ng);
        x->offset = BG_NEW_ARRAY(double, ng); /* the integrator knows them */
        archive->out_of_memory = !x->eliminated || !x->not_unique || !x->offset;
        archive->failed = archive->failed || archive->out_of_memory;
    }
    int count = x->count;
    bg_archive_ints(archive, &count, 1);
    if (archive->failed || count < 0 || count > ng || ng == 0) {
        archive->failed = archive->failed || count != 0;
        return;
    }
    x->count = count;
    double decision[] = {x->misfit, x->allowed, x->margin};
    bg_archive_doubles(archive, decision, 3);
    bg_archive_ints(archive, &x->weakest, 1);
    x->misfit = decision[0];
    x->allowed = decision[1];
    x->margin = decision[2];
    if (x->eliminated)
        bg_archive_whole(archive, x->eliminated, count, 0, ng - 1);
    if (x->not_unique)
        bg_archive_flags(archive, x->not_unique, (size_t)ng);
    if (archive->failed)
        x->count = 0;
}

/* Which reactions are not unique, by flags in the order of their names. */
static void archive_reactions(bg_runner *r, bg_archive *archive)
{
    bg_assembly_report *x = &r->report->assembly;
    const bg_system *system = r->sys->system;
    int n = system->nreactions, saved = 0;
    if (archive->loading && n > 0) {
        x->not_unique = BG_NEW_ARRAY(const char *, n);
        archive->out_of_memory = archive->out_of_memory || !x->not_unique;
        archive->failed = archive->failed || archive->out_of_memory;
    }
    for (int k = 0; k < n && !archive->failed; k++) {
        const char *name = system->get_reaction_name(r->sys->def.self, k);
        unsigned char flag = !archive->loading && saved < x->nnot_unique &&
                             x->not_unique[saved] == name;
        bg_archive_flags(archive, &flag, 1);
        if (flag && archive->loading && !archive->failed)
            x->not_unique[x->nnot_unique++] = name;
        saved += flag;
    }
}

static void archive_progress(bg_runner *r, bg_archive *archive)
{
    bg_certificate *c = &r->report->certificate;
    double cpu = r->cpu_before + bg_clock_get_cpu() - r->cpu_start;
    double wall = r->wall_before + bg_clock_get_wall() - r->wall_start;
    bg_archive_bytes(archive, c, sizeof *c);
    c->note[sizeof c->note - 1] = '\0';
    double interval = r->options->output_interval;
    bg_archive_long(archive, &r->next_output);
    bg_archive_doubles(archive, &interval, 1);
    bg_archive_doubles(archive, &r->t_last_row, 1);
    bg_archive_doubles(archive, &r->energy_start, 1);
    bg_archive_finite(archive, &r->drives.missed, 1);
    bg_archive_doubles(archive, &r->potential_start, 1);
    bg_archive_doubles(archive, &r->at.t_last, 1);
    bg_archive_whole(archive, &r->at.rounds, 1, 0, INT_MAX / 2);
    bg_archive_flags(archive, &r->ended, sizeof r->ended);
    bg_archive_doubles(archive, &r->at.t_mark, 1);
    bg_archive_doubles(archive, &cpu, 1);
    bg_archive_doubles(archive, &wall, 1);
    if (archive->loading) {
        r->cpu_before = cpu;
        r->wall_before = wall;
        if (interval !=
            r->options->output_interval) /* another grid: its first time after this one */
            r->next_output = -1;
    }
}

bg_status bg_checkpoint_archive(bg_runner *r, bg_archive *archive, bg_error *err)
{
    bg_status st = archive_settings(r, archive, err);
    if (st != BG_OK || archive->failed)
        return st;
    archive_progress(r, archive);
    bg_filters_archive(&r->filters, archive);
    archive_redundancy(r, archive);
    archive_reactions(r, archive);
    bg_warnings_archive(&r->report->assembly.warnings, archive);
    archive_events(r, archive);
    bg_comparison_archive(&r->comparison, archive);
    if (r->at.detector)
        bg_detector_archive(r->at.detector, archive);
    bg_integrator_archive(r->ig, archive);
    if (archive->failed)
        return BG_OK;
    uint64_t mine = bg_fingerprint_calc(r), saved = mine;
    bg_archive_bytes(archive, &saved, sizeof saved);
    if (!archive->failed && saved != mine)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the system's functions give other values than when the checkpoint was "
                            "written; resume with the same parameters and the same program");
    return BG_OK;
}

static int write_all(int fd, const checkpoint_header *head, const bg_archive *archive)
{
    int cause = bg_place_write(fd, head, sizeof *head);
    if (!cause)
        cause = bg_place_write(fd, archive->data, archive->size);
    if (!cause && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
        cause = errno;
    return cause;
}

/* Returns 0 or an errno. */
static int write_file(bg_place *place, const checkpoint_header *head, const bg_archive *archive)
{
    int cause = 0;
    if (!bg_place_has_working(place)) {
        bg_place_discard(place);
        cause = bg_place_open(place);
    }
    if (!cause && (ftruncate(place->fd, 0) != 0 || lseek(place->fd, 0, SEEK_SET) != 0))
        cause = errno;
    if (!cause)
        cause = write_all(place->fd, head, archive);
    return cause ? cause : bg_place_publish(place);
}

bg_status bg_checkpoint_open(bg_runner *r, bg_error *err)
{
    const char *path = r->options->checkpoint;
    if (!path)
        return BG_OK;
    if (bg_place_is_direct(path))
        return bg_error_set(err, BG_IO,
                            "the checkpoint '%s' is not a regular file, so no run could go on from "
                            "it; choose another name",
                            path);
    return bg_place_create(path, BG_PLACE_CHECKPOINT, &r->place, err);
}

void bg_checkpoint_close(bg_runner *r)
{
    bg_place_clear(&r->place);
}

bg_status bg_checkpoint_write(bg_runner *r, bg_error *err)
{
    bg_archive *archive = &r->archive;
    const bg_sink *sink = &r->options->sink;
    bg_status st = sink->flush ? sink->flush(sink->self, err) : BG_OK;
    if (st != BG_OK)
        return st;
    archive->size = 0;
    archive->failed = false;
    bg_checkpoint_archive(r, archive, err);
    if (archive->failed)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a checkpoint");
    checkpoint_header head = {
        "", FORMAT_VERSION, archive->size,
        bg_fingerprint_add(BG_FINGERPRINT_START, archive->data, archive->size)};
    memcpy(head.mark, "BOGIECKP", sizeof head.mark);
    int cause = write_file(&r->place, &head, archive);
    if (cause)
        return bg_error_set(err, BG_IO, "the checkpoint '%s' cannot be written: %s; %s",
                            r->options->checkpoint, strerror(cause), bg_place_find_remedy(cause));
    r->report->t_checkpoint = bg_integrator_get_state(r->ig)->t;
    return BG_OK;
}

static bg_status damaged(bg_error *err)
{
    return bg_error_set(err, BG_BAD_INPUT,
                        "it is not a complete checkpoint of this version; run from the start");
}

static bg_status read_file(const char *path, bg_archive *archive, bg_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* never waits for a pipe */
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!file) {
        bg_error_set(err, BG_IO, "%s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return BG_IO;
    }
    checkpoint_header head;
    bg_status st = BG_OK;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.mark, "BOGIECKP", 8) != 0 ||
        head.version != FORMAT_VERSION || head.size > (uint64_t)1 << 40)
        st = damaged(err);
    if (st == BG_OK && fseek(file, 0, SEEK_END) == 0 &&
        (uint64_t)ftell(file) != head.size + sizeof head)
        st = damaged(err);
    if (st == BG_OK) {
        archive->data = bg_calloc((size_t)head.size, 1);
        archive->size = (size_t)head.size;
        if (!archive->data)
            st = bg_error_set(err, BG_NO_MEMORY, "out of memory");
        else if (fseek(file, (long)sizeof head, SEEK_SET) != 0 ||
                 fread(archive->data, 1, archive->size, file) != archive->size ||
                 bg_fingerprint_add(BG_FINGERPRINT_START, archive->data, archive->size) !=
                     head.checksum)
            st = damaged(err);
    }
    fclose(file);
    return st;
}

/* Whether next_output is the first row of the grid after t. */
static bool is_next(const bg_runner *r, double t)
{
    double interval = r->options->output_interval;
    return r->next_output > 0 && r->t_start + (double)r->next_output * interval > t &&
           r->t_start + (double)(r->next_output - 1) * interval <= t;
}

bg_status bg_checkpoint_read(bg_runner *r, bg_error *err)
{
    const char *path = r->options->resume;
    bg_archive archive = {.loading = true};
    bg_status st = read_file(path, &archive, err);
    if (st == BG_OK)
        st = bg_checkpoint_archive(r, &archive, err);
    if (st == BG_OK && archive.out_of_memory)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory");
    if (st == BG_OK && (archive.failed || archive.position != archive.size))
        st = damaged(err);
    free(archive.data);
    if (st != BG_OK) {
        char reason[BG_ERROR_LENGTH / 2];
        snprintf(reason, sizeof reason, "%.500s", err->text);
        return bg_error_set(err, st, "cannot resume from '%.200s': %s", path, reason);
    }
    const bg_state *x = bg_integrator_get_state(r->ig);
    if (x->t < r->t_start)
        return bg_error_set(err, BG_BAD_INPUT,
                            "cannot resume from '%s': its time %.17g lies before the start at %g; "
                            "run from the start",
                            path, x->t, r->t_start);
    if (r->t_end < x->t)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the checkpoint '%s' is at t = %.17g, beyond the end time %g", path,
                            x->t, r->t_end);
    double interval = r->options->output_interval;
    if (interval > 0 && !is_next(r, x->t))
        r->next_output = (long)fmin(floor((x->t - r->t_start) / interval), 1e18) + 1;
    if (r->ig->t_limit >= r->ig->t_end)
        r->ig->t_limit = r->t_end;
    r->ig->t_end = r->t_end;
    return BG_OK;
}

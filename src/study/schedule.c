/* Who runs what: cases in their order to whoever is free, each after the references it needs.
 *
 * Short cases wait in a queue at their worker, so that it never idles between them; when it dies,
 * the first one is the culprit and the others are given to somebody else. Cases of a study with
 * timing run one at a time with nothing beside them. Samples of a reference are kept while cases
 * need them. */
#include "study/schedule.h"
#include "base/clock.h"
#include "base/memory.h"
#include "study/simulation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };
static const double queued_time = 0.01; /* s of work that may wait at a worker */

typedef struct study_task {
    bool reference; /* run number `run`, else case k */
    long k;
    int run;
} study_task;

typedef struct hand { /* a worker as the master sees it */
    study_task queue[DEPTH];
    int n;
    double since;       /* when the first task began */
    bool killed;        /* its first task took too long and is being ended */
    bool stray;         /* that task answered before: its end will hit another one */
    bool filling;       /* its queue is being filled up */
    int held[BG_SLOTS]; /* reference runs it has samples of; -1: none */
    int next_slot;
} hand;

typedef struct reference_run {
    long k; /* first case that needs it, and the reference's number */
    int r;
    enum { WAITING, RUNNING, DONE, FAILED } state;
    bg_trajectory samples;
    char *failure;
    long users; /* cases still to come */
} reference_run;

typedef struct master {
    const bg_study *study;
    const bg_study_options *options;
    bg_table *table;
    bg_journal *journal;
    bg_crew *crew;
    hand *hands;
    reference_run *runs;
    int nruns;
    int *run_of;            /* [ncases x nreferences], -1: none; NULL: no reference runs */
    long next, done, total; /* next: case to look at; total: of this shard */
    long *aside;            /* cases to run first: given back, or their references are on the way */
    long naside;
    int busy, busy_cases; /* tasks at workers, and cases among them */
    double mean;          /* s, of finished cases */
    double limit;         /* s per case; 0: none */
} master;

static bool is_mine(const master *m, long k)
{
    return m->options->shards == 0 || k % m->options->shards == m->options->shard - 1;
}

static bool is_pending(const master *m, long k)
{
    return is_mine(m, k) && !m->table->rows[k].done;
}

static bool uses_run(const bg_study *s, long k, int r)
{
    if (s->references[r].kind != BG_REFERENCE_VARIANT)
        return false;
    for (int i = 0; i < s->nmetrics; i++)
        if (s->metrics[i].kind == BG_METRIC_ERROR &&
            bg_study_find_reference(s, &s->metrics[i], k) == r)
            return true;
    return false;
}

/* The run behind reference r of case k: cases whose references have equal settings share one. */
static int find_run(master *m, json_t *known, long k, int r)
{
    json_t *settings = bg_reference_make_settings(m->study, k, r);
    char *text = settings ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    char key[32];
    json_decref(settings);
    if (!text)
        return -2;
    uint64_t hash = bg_hash_bytes(bg_hash_bytes(0, &r, sizeof r), text, strlen(text));
    free(text);
    snprintf(key, sizeof key, "%016llx", (unsigned long long)hash);
    json_t *found = json_object_get(known, key);
    if (found)
        return (int)json_integer_value(found);
    reference_run *more = realloc(m->runs, (size_t)(m->nruns + 1) * sizeof *more);
    if (!more || json_object_set_new(known, key, json_integer(m->nruns)))
        return -2;
    m->runs = more;
    m->runs[m->nruns] = (reference_run){.k = k, .r = r};
    return m->nruns++;
}

static bg_status plan_references(master *m, bg_error *err)
{
    const bg_study *s = m->study;
    bool any = false;
    for (int r = 0; r < s->nreferences; r++)
        any = any || s->references[r].kind == BG_REFERENCE_VARIANT;
    if (!any)
        return BG_OK;
    json_t *known = json_object();
    m->run_of = BG_NEW_ARRAY(int, s->ncases * s->nreferences);
    bool ok = m->run_of && known;
    for (long k = 0; k < s->ncases && ok; k++)
        for (int r = 0; r < s->nreferences && ok; r++) {
            int *run = &m->run_of[k * s->nreferences + r];
            *run = -1;
            if (!is_pending(m, k) || !uses_run(s, k, r))
                continue;
            *run = find_run(m, known, k, r);
            ok = *run >= 0;
            if (ok)
                m->runs[*run].users++;
        }
    json_decref(known);
    return ok ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for references");
}

static int get_run(const master *m, long k, int r)
{
    return m->run_of ? m->run_of[k * m->study->nreferences + r] : -1;
}

/* The record of a case is complete; text: the same as a line of JSON. */
static bg_status finish_case(master *m, bg_record *record, const char *text, bg_error *err)
{
    long k = record->number;
    for (int r = 0; r < m->study->nreferences; r++) {
        int run = get_run(m, k, r);
        if (run >= 0 && --m->runs[run].users == 0)
            bg_trajectory_clear(&m->runs[run].samples);
    }
    bg_record_clear(m->study, &m->table->rows[k]);
    m->table->rows[k] = *record;
    m->done++;
    if (m->options->progress)
        m->options->progress(m->options->self, m->done, m->total);
    return bg_journal_add(m->journal, text, strlen(text), err);
}

static bg_status fail_case(master *m, long k, const char *reason, bg_error *err)
{
    bg_record record;
    if (bg_record_create(m->study, k, &record) != BG_OK)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a result");
    bg_record_fail(&record, reason);
    char *text = bg_record_encode(m->study, &record);
    bg_status st = text ? finish_case(m, &record, text, err)
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for a result");
    free(text);
    return st;
}

/* What case k still needs: a reference run to start (*run), nothing, or patience. */
typedef enum readiness { READY, NEEDS_RUN, NOT_YET, HOPELESS } readiness;

static readiness look_at(const master *m, long k, int *run)
{
    readiness result = READY;
    *run = -1;
    for (int r = 0; r < m->study->nreferences; r++) {
        *run = get_run(m, k, r);
        if (*run < 0)
            continue;
        if (m->runs[*run].state == FAILED)
            return HOPELESS;
        if (m->runs[*run].state == WAITING)
            return NEEDS_RUN;
        if (m->runs[*run].state == RUNNING)
            result = NOT_YET;
    }
    return result;
}

static bg_status give_up(master *m, long k, int run, bg_error *err)
{
    char reason[BG_ERROR_LENGTH + 128];
    snprintf(reason, sizeof reason, "its reference '%s' failed: %s",
             m->study->references[m->runs[run].r].name, m->runs[run].failure);
    return fail_case(m, k, reason, err);
}

/* The next task that can begin. */
static bg_status pick(master *m, bool *found, study_task *t, bg_error *err)
{
    bg_status st = BG_OK;
    long most = 4L * m->crew->size;
    *found = true;
    for (long i = 0; i < m->naside && st == BG_OK; i++) {
        readiness now = look_at(m, m->aside[i], &t->run);
        if (now == NOT_YET)
            continue;
        long k = m->aside[i];
        if (now != NEEDS_RUN) {
            memmove(&m->aside[i], &m->aside[i + 1], (size_t)(--m->naside - i) * sizeof(long));
            i--;
        }
        *t = (study_task){now == NEEDS_RUN, k, t->run};
        if (now != HOPELESS)
            return BG_OK;
        st = give_up(m, k, t->run, err);
    }
    for (; m->next < m->study->ncases && st == BG_OK; m->next++) {
        long k = m->next;
        if (!is_pending(m, k))
            continue;
        readiness now = look_at(m, k, &t->run);
        *t = (study_task){now == NEEDS_RUN, k, t->run};
        if (now == NEEDS_RUN)
            return BG_OK;
        if (now == NOT_YET && m->naside >= most)
            break;
        if (now == NOT_YET)
            m->aside[m->naside++] = k;
        if (now == HOPELESS)
            st = give_up(m, k, t->run, err);
        if (now == READY) {
            m->next++;
            return BG_OK;
        }
    }
    *found = false;
    return st;
}

/* Makes sure that worker w has the samples of a run; returns their slot. used: slots, a bit each,
 * that the same task needs for other runs. */
static bg_status provide(master *m, int w, int run, unsigned *used, int *slot, bg_error *err)
{
    hand *h = &m->hands[w];
    for (int i = 0; i < BG_SLOTS; i++)
        if (h->held[i] == run) {
            *slot = i;
            *used |= 1u << i;
            return BG_OK;
        }
    while (*used & 1u << h->next_slot)
        h->next_slot = (h->next_slot + 1) % BG_SLOTS;
    *slot = h->next_slot;
    *used |= 1u << *slot;
    h->next_slot = (h->next_slot + 1) % BG_SLOTS;
    h->held[*slot] = run;
    size_t size;
    char *data = bg_message_encode(m->study, &(bg_message){.type = 'R', .r = *slot},
                                   &m->runs[run].samples, &size);
    bg_status st = data ? m->crew->class_->send(m->crew, w, data, size, err)
                        : bg_error_set(err, BG_NO_MEMORY, "out of memory for a reference");
    free(data);
    return st;
}

static bg_status assign(master *m, int w, const study_task *t, bg_error *err)
{
    hand *h = &m->hands[w];
    int slots[BG_MAX_REFERENCES];
    unsigned used = 0;
    bg_status st = BG_OK;
    for (int r = 0; r < m->study->nreferences && st == BG_OK; r++) {
        int run = t->reference ? -1 : get_run(m, t->k, r);
        slots[r] = -1;
        if (run >= 0)
            st = provide(m, w, run, &used, &slots[r], err);
    }
    bg_message message = {.type = t->reference ? 'F' : 'C', .k = t->k, .slot = slots};
    if (t->reference) {
        message.k = m->runs[t->run].k;
        message.r = m->runs[t->run].r;
        m->runs[t->run].state = RUNNING;
    }
    size_t size;
    char *data = bg_message_encode(m->study, &message, NULL, &size);
    if (st == BG_OK)
        st = data ? m->crew->class_->send(m->crew, w, data, size, err)
                  : bg_error_set(err, BG_NO_MEMORY, "out of memory for a task");
    free(data);
    if (h->n == 0)
        h->since = bg_clock_get_wall();
    h->queue[h->n++] = *t;
    m->busy++;
    m->busy_cases += !t->reference;
    return st;
}

/* The least loaded worker that can take one more. A queue is filled when half of it is done, so
 * that several tasks travel together. */
static int find_worker(master *m, int depth)
{
    int best = -1;
    for (int w = 0; w < m->crew->size; w++) {
        hand *h = &m->hands[w];
        h->filling = h->n < depth && (h->filling || h->n <= depth / 2);
        if (h->filling && (best < 0 || h->n < m->hands[best].n))
            best = w;
    }
    return best;
}

static bg_status distribute(master *m, bg_error *err)
{
    bool alone = m->study->timing;
    double depth = m->done > 0 && !alone ? queued_time / (m->mean + 1e-9) : 1;
    for (;;) {
        if (alone && m->busy_cases > 0)
            return BG_OK;
        int w = find_worker(m, depth >= DEPTH ? DEPTH : 1 + (int)depth);
        if (w < 0)
            return BG_OK;
        bool found;
        study_task t;
        bg_status st = pick(m, &found, &t, err);
        if (st != BG_OK || !found)
            return st;
        if (alone && !t.reference && m->busy > 0) { /* wait until it is quiet */
            m->aside[m->naside++] = t.k;
            return BG_OK;
        }
        st = assign(m, w, &t, err);
        if (st != BG_OK)
            return st;
    }
}

static study_task complete_first(master *m, int w)
{
    hand *h = &m->hands[w];
    study_task t = h->queue[0];
    memmove(&h->queue[0], &h->queue[1], (DEPTH - 1) * sizeof t);
    h->n--;
    m->busy--;
    m->busy_cases -= !t.reference;
    double now = bg_clock_get_wall(), took = now - h->since;
    if (!t.reference)
        m->mean = m->done > 0 ? 0.8 * m->mean + 0.2 * took : took;
    h->since = now;
    return t;
}

static bg_status fail_run(master *m, int run, const char *reason, bg_error *err)
{
    m->runs[run].state = FAILED;
    m->runs[run].failure = strdup(reason);
    return m->runs[run].failure ? BG_OK
                                : bg_error_set(err, BG_NO_MEMORY, "out of memory for a reference");
}

static bg_status take_answer(master *m, const bg_crew_event *e, bg_error *err)
{
    hand *h = &m->hands[e->worker];
    if (h->n == 0)
        return BG_OK;
    study_task t = complete_first(m, e->worker);
    h->stray = h->stray || h->killed;
    h->killed = false;
    const char *body = e->data + 1;
    size_t size = e->size - 1;
    bg_record record;
    if (t.reference && e->data[0] == 'B') {
        m->runs[t.run].state = DONE;
        if (bg_samples_decode(body, size, &m->runs[t.run].samples))
            return BG_OK;
        return fail_run(m, t.run, "its samples are not readable", err);
    }
    if (t.reference)
        return fail_run(m, t.run, body, err);
    if (e->data[0] == 'J' && bg_record_decode(m->study, body, size, &record))
        return finish_case(m, &record, body, err);
    return fail_case(m, t.k, "its worker answered something unreadable", err);
}

static bg_status take_loss(master *m, const bg_crew_event *e, bg_error *err)
{
    hand *h = &m->hands[e->worker];
    char reason[256];
    snprintf(reason, sizeof reason, "%s", e->data ? e->data : "the case crashed");
    if (h->killed)
        snprintf(reason, sizeof reason, "the case took longer than its time limit of %g s",
                 m->limit);
    for (int i = 0; i < BG_SLOTS; i++)
        h->held[i] = -1;
    bool innocent = h->stray && !h->killed;
    h->stray = h->killed = false;
    if (h->n == 0)
        return BG_OK;
    study_task t = innocent ? h->queue[0] : complete_first(m, e->worker);
    while (h->n > 0) { /* those behind the culprit */
        study_task other = complete_first(m, e->worker);
        if (other.reference)
            m->runs[other.run].state = WAITING;
        else
            m->aside[m->naside++] = other.k;
    }
    if (innocent)
        return BG_OK;
    return t.reference ? fail_run(m, t.run, reason, err) : fail_case(m, t.k, reason, err);
}

static void kill_late(master *m)
{
    double now = bg_clock_get_wall();
    for (int w = 0; w < m->crew->size && m->limit > 0; w++)
        if (m->hands[w].n > 0 && !m->hands[w].killed && now - m->hands[w].since > m->limit) {
            m->hands[w].killed = true;
            m->crew->class_->kill(m->crew, w);
        }
}

static bg_status work(master *m, bg_error *err)
{
    bg_status st = BG_OK;
    double pause = m->limit > 0 && m->limit < 1 ? 0.1 * m->limit : 0.1;
    while (st == BG_OK && m->done < m->total) {
        if (m->options->stop && *m->options->stop)
            return bg_error_set(err, BG_STOPPED, "stopped with %ld of %ld cases done", m->done,
                                m->total);
        st = distribute(m, err);
        if (st != BG_OK || m->done == m->total)
            break;
        bg_crew_event e;
        st = m->crew->class_->wait(m->crew, pause > 0.001 ? pause : 0.001, &e, err);
        if (st == BG_OK && e.kind == BG_CREW_MESSAGE)
            st = take_answer(m, &e, err);
        else if (st == BG_OK && e.kind == BG_CREW_LOST)
            st = take_loss(m, &e, err);
        free(e.data);
        kill_late(m);
    }
    return st;
}

static void clear_master(master *m)
{
    for (int i = 0; i < m->nruns; i++) {
        bg_trajectory_clear(&m->runs[i].samples);
        free(m->runs[i].failure);
    }
    free(m->runs);
    free(m->run_of);
    free(m->hands);
    free(m->aside);
}

static bg_status run_cases(master *m, bg_error *err)
{
    m->hands = BG_NEW_ARRAY(hand, m->crew->size);
    m->aside = BG_NEW_ARRAY(long, (DEPTH + 8) * m->crew->size + 8);
    if (!m->hands || !m->aside)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for workers");
    for (int w = 0; w < m->crew->size; w++)
        for (int i = 0; i < BG_SLOTS; i++)
            m->hands[w].held[i] = -1;
    for (long k = 0; k < m->study->ncases; k++) {
        m->total += is_mine(m, k);
        m->done += is_mine(m, k) && m->table->rows[k].done;
    }
    bg_status st = plan_references(m, err);
    return st == BG_OK ? work(m, err) : st;
}

bg_status bg_schedule_run(const bg_study *s, const bg_study_options *options, bg_crew *crew,
                          bg_table *table, bg_journal *journal, bg_error *err)
{
    master m = {.study = s,
                .options = options,
                .crew = crew,
                .table = table,
                .journal = journal,
                .limit = options->time_limit > 0 ? options->time_limit : s->time_limit};
    bg_status st = run_cases(&m, err);
    clear_master(&m);
    return st;
}

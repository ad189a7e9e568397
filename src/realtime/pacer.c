#include "realtime/pacer.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static const int64_t second = 1000000000;

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * second + t.tv_nsec;
}

static int64_t monotonic_now(void *self)
{
    (void)self;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t thread_work(void *self)
{
    (void)self;
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void monotonic_sleep_until(void *self, int64_t t)
{
    const struct timespec until = {t / second, t % second};
    (void)self;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

bg_clock bg_clock_get_monotonic(void)
{
    return (bg_clock){monotonic_now, thread_work, monotonic_sleep_until, NULL};
}

static bool should_stop(const bg_pacer *p)
{
    return p->stop && *p->stop;
}

/* When the next step is released, after one that ended at `end`. */
static int64_t find_release(const bg_pacer *p, int64_t release, int64_t end, bg_statistics *s)
{
    int64_t next = release + p->period, late = end > next ? end - next : 0;
    if (p->overload == BG_OVERLOAD_SLOW) {
        s->lag += late;
        return next + late;
    }
    bool catching_up = p->overload == BG_OVERLOAD_CATCH_UP;
    bool too_far = catching_up && p->abandon_after > 0 && late > p->abandon_after;
    int64_t skipped = catching_up && !too_far ? 0 : (late + p->period - 1) / p->period;
    next += skipped * p->period;
    s->abandoned += too_far;
    s->skipped += (long)skipped;
    s->lag = s->skipped * p->period + (end > next ? end - next : 0);
    return next;
}

/* Sleeps and reads the clock until the release, or until a stop is asked for. Returns the time. */
static int64_t wait_for(const bg_pacer *p, int64_t release, bg_statistics *s)
{
    const bg_clock *clock = &p->clock;
    int64_t now = clock->now(clock->self), until = release - p->spin;
    int64_t rested = now + p->period / 10;
    if (until < rested) /* a step that leaves less is followed by sleep alone */
        until = rested < release ? rested : release;
    bool sleeps = now < until;
    while (now < until && !should_stop(p)) {
        clock->sleep_until(clock->self, until);
        now = clock->now(clock->self);
    }
    s->spin.overslept += sleeps && p->spin > 0 && now > release;
    while (now < release && !should_stop(p)) {
        int64_t before = now;
        now = clock->now(clock->self);
        bg_spin_add(&s->spin, before, now, release);
    }
    return now;
}

static bg_status make_step(const bg_pacer *p, bg_status (*work)(void *self, bg_error *err),
                           void *self, bool delayed, bg_step_times *t, bg_error *err)
{
    const bg_clock *clock = &p->clock;
    if (delayed)
        clock->sleep_until(clock->self, t->begin + p->delay);
    int64_t before = clock->work ? clock->work(clock->self) : 0;
    bg_status st = work(self, err);
    int64_t after = clock->work ? clock->work(clock->self) : INT64_MAX;
    t->end = clock->now(clock->self);
    t->work = after - before < t->end - t->begin ? after - before : t->end - t->begin;
    t->delayed = delayed;
    return st;
}

/* What the next step has of it before its release. Until then no step can begin. */
static void prepare(const bg_pacer *p, void *self, bg_step_times *t, bg_statistics *s)
{
    if (!p->prepare)
        return;
    const bg_clock *clock = &p->clock;
    int64_t begin = clock->now(clock->self), before = clock->work ? clock->work(clock->self) : 0;
    p->prepare(self);
    int64_t after = clock->work ? clock->work(clock->self) : INT64_MAX;
    t->end = clock->now(clock->self);
    t->prepared = after - before < t->end - begin ? after - before : t->end - begin;
    t->lost = t->end - begin - t->prepared;
    bg_histogram_add(&s->preparation, t->end - begin);
}

static void show(bg_live_view *view, const bg_statistics *s, int64_t turnaround)
{
    atomic_store_explicit(&view->steps, s->steps, memory_order_relaxed);
    atomic_store_explicit(&view->misses, s->misses, memory_order_relaxed);
    atomic_store_explicit(&view->injected, s->causes[BG_CAUSE_DELAYED], memory_order_relaxed);
    atomic_store_explicit(&view->lag, s->lag, memory_order_relaxed);
    if (turnaround > atomic_load_explicit(&view->longest, memory_order_relaxed))
        atomic_store_explicit(&view->longest, turnaround, memory_order_relaxed);
}

bg_status bg_pacer_run(const bg_pacer *p, bg_status (*work)(void *self, bg_error *err), void *self,
                       bg_statistics *s, bg_error *err)
{
    memset(s, 0, sizeof *s);
    s->period = p->period;
    bg_step_times t = {.end = p->clock.now(p->clock.self)};
    t.release = t.end + p->period;
    while (p->steps == 0 || s->steps < p->steps) {
        t.due = t.release > t.end ? t.release : t.end;
        t.begin = wait_for(p, t.due, s);
        if (should_stop(p))
            return bg_error_set(err, BG_STOPPED, "stopped on request after %ld steps", s->steps);
        bool delayed = p->delay_every > 0 && (s->steps + 1) % p->delay_every == 0;
        bg_status st = make_step(p, work, self, delayed, &t, err);
        if (st != BG_OK && st != BG_STOPPED)
            return st;
        bg_statistics_add(s, &t);
        t.release = find_release(p, t.release, t.end, s);
        t.waited = t.end > t.release ? t.end - t.release : 0;
        if (p->view)
            show(p->view, s, t.end - t.begin);
        if (st != BG_OK)
            return st;
        s->overloaded = p->overload == BG_OVERLOAD_STOP && s->misses >= p->stop_after;
        if (s->overloaded)
            return bg_error_set(err, BG_STOPPED,
                                "%ld deadlines were missed, as many as --overload allows",
                                s->misses);
        prepare(p, self, &t, s);
    }
    return BG_OK;
}

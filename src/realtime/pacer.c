#include "realtime/pacer.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static const int64_t second = 1000000000;

static int64_t monotonic_now(void *self)
{
    struct timespec t;
    (void)self;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * second + t.tv_nsec;
}

static void monotonic_sleep_until(void *self, int64_t t)
{
    const struct timespec until = {t / second, t % second};
    (void)self;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

bg_clock bg_clock_get_monotonic(void)
{
    return (bg_clock){monotonic_now, monotonic_sleep_until, NULL};
}

static bool should_stop(const bg_pacer *p)
{
    return p->stop && *p->stop;
}

/* When the next step begins, after one that ended at `end`. */
static int64_t find_release(const bg_pacer *p, int64_t release, int64_t end, bool missed,
                            bg_statistics *s)
{
    int64_t next = release + p->period;
    if (!missed)
        return next;
    int64_t late = end - next;
    if (p->overload == BG_OVERLOAD_SLOW) {
        s->lag += late;
        return end;
    }
    int64_t skipped = (late + p->period - 1) / p->period; /* releases that went by */
    s->skipped += (long)skipped;
    s->lag += skipped * p->period;
    return next + skipped * p->period;
}

static void show(bg_live_view *view, const bg_statistics *s, int64_t turnaround)
{
    atomic_store_explicit(&view->steps, s->steps, memory_order_relaxed);
    atomic_store_explicit(&view->misses, s->misses, memory_order_relaxed);
    if (turnaround > atomic_load_explicit(&view->longest, memory_order_relaxed))
        atomic_store_explicit(&view->longest, turnaround, memory_order_relaxed);
}

bg_status bg_pacer_run(const bg_pacer *p, bg_status (*work)(void *self, bg_error *err), void *self,
                       bg_statistics *s, bg_error *err)
{
    const bg_clock *clock = &p->clock;
    memset(s, 0, sizeof *s);
    s->period = p->period;
    int64_t release = clock->now(clock->self) + p->period;
    while (p->steps == 0 || s->steps < p->steps) {
        if (!should_stop(p))
            clock->sleep_until(clock->self, release);
        if (should_stop(p))
            return bg_error_set(err, BG_STOPPED, "stopped on request after %ld steps", s->steps);
        int64_t begin = clock->now(clock->self);
        bool delayed = p->delay_every > 0 && (s->steps + 1) % p->delay_every == 0;
        if (delayed)
            clock->sleep_until(clock->self, begin + p->delay);
        bg_status st = work(self, err);
        if (st < 0)
            return st;
        int64_t end = clock->now(clock->self);
        bool missed = bg_statistics_add(s, release, begin, end, delayed);
        if (p->view)
            show(p->view, s, end - begin);
        if (st != BG_OK)
            return st;
        release = find_release(p, release, end, missed, s);
        s->overloaded = p->overload == BG_OVERLOAD_STOP && s->misses >= p->stop_after;
        if (s->overloaded)
            return bg_error_set(err, BG_STOPPED,
                                "%ld deadlines were missed, as many as --overload allows",
                                s->misses);
    }
    return BG_OK;
}

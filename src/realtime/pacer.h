/* Pacing: work done once a period against absolute deadlines.
 *
 * Step k is released at r_k and has to be done by r_k + period. As long as it is, r_{k+1} = r_k +
 * period, however long steps take: no error of the clock adds up. After a missed deadline the
 * overload policy decides:
 *
 *   skip      the next release is the next multiple of the period that lies ahead; periods that
 *             went by have no step
 *   slow      the next step follows at once, and all later releases are moved
 *   stop      as skip, until so many deadlines were missed
 *   catch up  releases stay where they were; steps follow each other without a pause until one is
 *             in time again. Too far behind, the releases that went by are skipped
 *
 * Simulated time advances by one period with each step, so that it falls behind the clock by what
 * is skipped or moved, or is still to be caught up (the lag).
 *
 * A thread that sleeps wakes up late by some time that differs from sleep to sleep. So it sleeps
 * only until `spin` before a release and reads the clock from there on, which also shows when
 * something else had the processor: then two readings lie far apart. In every period it sleeps for
 * a tenth at least, if the step leaves that: a thread under SCHED_FIFO that never sleeps is stopped
 * by the system for 50 ms in each second. */
#ifndef BG_PACER_H
#define BG_PACER_H

#include "bogie/status.h"
#include "realtime/statistics.h"

#include <signal.h>
#include <stdatomic.h>

/* A clock in ns. sleep_until may return early (a signal). work: the processor time of the calling
 * thread, or NULL. */
typedef struct bg_clock {
    int64_t (*now)(void *self);
    int64_t (*work)(void *self);
    void (*sleep_until)(void *self, int64_t t);
    void *self;
} bg_clock;

/* CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID and clock_nanosleep. */
bg_clock bg_clock_get_monotonic(void);

typedef enum bg_overload {
    BG_OVERLOAD_SKIP,
    BG_OVERLOAD_SLOW,
    BG_OVERLOAD_STOP,
    BG_OVERLOAD_CATCH_UP
} bg_overload;

/* What another thread may look at while steps go on. */
typedef struct bg_live_view {
    atomic_long steps, misses, injected; /* injected: misses of steps delayed on purpose */
    atomic_llong lag;                    /* ns */
    atomic_llong longest;                /* ns, turnaround since the viewer last set it to 0 */
} bg_live_view;

typedef struct bg_pacer {
    bg_clock clock;
    int64_t period; /* ns */
    long steps;     /* 0: until stopped */
    int64_t spin;   /* ns before a release in which the clock is read; 0: sleeps only */
    bg_overload overload;
    long stop_after;                   /* misses, for BG_OVERLOAD_STOP */
    int64_t abandon_after;             /* ns behind, for BG_OVERLOAD_CATCH_UP; 0: never */
    int64_t delay;                     /* ns, put into every delay_every-th step, for tests of */
    long delay_every;                  /* rigs and of this; 0: none */
    const volatile sig_atomic_t *stop; /* becomes non-zero: end before the next step; or NULL */
    bg_live_view *view;                /* or NULL */
    void (*prepare)(void *self);       /* called after every step, in the pause; or NULL */
} bg_pacer;

/* Calls work once a period until `steps` are done, it fails, a stop is asked for (BG_STOPPED), or
 * the overload policy ends it (BG_STOPPED with statistics->overloaded). statistics is filled as it
 * goes. */
bg_status bg_pacer_run(const bg_pacer *pacer, bg_status (*work)(void *self, bg_error *err),
                       void *self, bg_statistics *statistics, bg_error *err);

#endif

/* What a real-time run keeps of its timing: histograms, deadline misses. All memory is fixed. */
#ifndef BG_STATISTICS_H
#define BG_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

/* Times in ns in bins that grow with them: 64 to every power of two, so that a percentile is known
 * to 1.6 %; below 64 ns exactly. */
enum { BG_BINS_PER_OCTAVE = 64, BG_OCTAVES = 40, BG_BINS = BG_BINS_PER_OCTAVE * BG_OCTAVES };

typedef struct bg_histogram {
    long count[BG_BINS];
    long n;
    int64_t max; /* ns */
    double sum;  /* ns */
} bg_histogram;

void bg_histogram_add(bg_histogram *histogram, int64_t ns);
/* The smallest time that at least the share p of all does not exceed (the upper end of its bin, at
 * most max); 0 when there is none. */
int64_t bg_histogram_find(const bg_histogram *histogram, double p);
/* How many were above `above` and not above `to`, to the width of a bin. */
long bg_histogram_count(const bg_histogram *histogram, int64_t above, int64_t to);

/* Why a deadline was missed. */
typedef enum bg_cause {
    BG_CAUSE_DELAYED,      /* the step was delayed on purpose */
    BG_CAUSE_LATE_RELEASE, /* it began too late: the machine did not give the processor in time */
    BG_CAUSE_INTERRUPTED,  /* the processor was taken away while it ran */
    BG_CAUSE_LONG_STEP,    /* its own work took longer than the period */
    BG_CAUSE_CATCHING_UP,  /* it had to wait for late steps before it */
    BG_CAUSES
} bg_cause;

/* The name of a cause in reports, and in JSON. */
const char *bg_cause_get_name(bg_cause cause);
const char *bg_cause_get_key(bg_cause cause);

/* One step in times of one clock, ns. */
typedef struct bg_step_times {
    int64_t release;    /* when it should begin */
    int64_t due;        /* when it could: the release, or later the end of the step before it, or of
                           its own preparation */
    int64_t waited;     /* how long after the release the step before it ended; 0: before it */
    int64_t begin, end; /* when it did, and when its outputs were out */
    int64_t work;       /* processor time it took, at most end - begin; that, where not known */
    int64_t prepared;   /* processor time that its preparation took */
    int64_t lost;       /* time in the preparation that was no processor time */
    bool delayed;       /* on purpose */
} bg_step_times;

enum { BG_MISSES_KEPT = 1000 };

typedef struct bg_miss {
    long step;    /* counted from 1 */
    int64_t late; /* ns after the deadline */
    bg_cause cause;
} bg_miss;

/* What the clock showed while it was read until a release. */
typedef struct bg_spin {
    int64_t watched;        /* ns, how long it was read */
    long gaps;              /* times the thread did not run: BG_GAP or more between two readings */
    int64_t total, longest; /* ns, of the gaps */
    long late;              /* releases that fell into a gap */
    long overslept;         /* sleeps before it that ended after the release already */
} bg_spin;

enum { BG_GAP = 20000 }; /* ns */

typedef struct bg_statistics {
    int64_t period;           /* ns */
    long steps;               /* done */
    bg_histogram turnaround;  /* from the step's beginning to its outputs */
    bg_histogram work;        /* processor time of that */
    bg_histogram latency;     /* from the time a step could begin to when it did */
    bg_histogram preparation; /* time spent after steps on the next ones */
    bg_spin spin;
    long misses;                  /* deadlines missed */
    long causes[BG_CAUSES];       /* of these, by cause */
    long delayed;                 /* steps delayed on purpose */
    long skipped;                 /* periods without a step */
    int64_t lag;                  /* ns, how far simulated time has fallen behind the clock */
    int64_t farthest;             /* ns, how far at most a step began behind its release because of
                                     those before it */
    long abandoned;               /* how often catching up was given up */
    bool overloaded;              /* ended by the overload policy */
    bg_miss miss[BG_MISSES_KEPT]; /* the first ones */
} bg_statistics;

/* Takes in one step. True: it missed its deadline, release + period.
 *
 * The cause of a miss is the delay, if there was one; else the step's own work with that of its
 * preparation, if that is longer than the period; else what took the most time of waiting for
 * earlier steps (due - release), of waiting for the processor (begin - due) and of interruptions
 * (end - begin - work). */
bool bg_statistics_add(bg_statistics *statistics, const bg_step_times *times);
/* Takes in two readings of the clock, one after the other, while waiting for a release. */
void bg_spin_add(bg_spin *spin, int64_t before, int64_t now, int64_t release);

#endif

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

enum { BG_MISSES_KEPT = 1000 };

typedef struct bg_miss {
    long step;     /* counted from 1 */
    int64_t late;  /* ns after the deadline */
    bool injected; /* the step was delayed on purpose */
} bg_miss;

typedef struct bg_statistics {
    int64_t period;               /* ns */
    long steps;                   /* done */
    bg_histogram turnaround;      /* from the step's beginning to its outputs */
    bg_histogram latency;         /* from the time a step should begin to when it did */
    long misses, injected;        /* deadlines missed; of these, in delayed steps */
    long delayed;                 /* steps delayed on purpose */
    long skipped;                 /* periods without a step */
    int64_t lag;                  /* ns, how far simulated time has fallen behind the clock */
    bool overloaded;              /* ended by the overload policy */
    bg_miss miss[BG_MISSES_KEPT]; /* the first ones */
} bg_statistics;

/* Takes in one step that should have begun at `release` (all in ns of one clock). True: it missed
 * its deadline, release + period. */
bool bg_statistics_add(bg_statistics *statistics, int64_t release, int64_t begin, int64_t end,
                       bool injected);

#endif

#include "realtime/statistics.h"

/* Times below 64 are their own bin; above, the 7 leading bits of the time are kept: octave o has
 * the bins 64 o .. 64 o + 63 for times from 64 2^(o-1) on, in steps of 2^(o-1). */
static int find_bin(int64_t ns)
{
    if (ns < BG_BINS_PER_OCTAVE)
        return ns > 0 ? (int)ns : 0;
    int octave = 58 - __builtin_clzll((unsigned long long)ns); /* 1 for 64 .. 127 */
    if (octave >= BG_OCTAVES)
        return BG_BINS - 1;
    return BG_BINS_PER_OCTAVE * octave + (int)(ns >> (octave - 1)) - BG_BINS_PER_OCTAVE;
}

/* The largest time of a bin. */
static int64_t find_end(int bin)
{
    int octave = bin / BG_BINS_PER_OCTAVE, rest = bin % BG_BINS_PER_OCTAVE;
    if (octave == 0)
        return bin;
    return ((int64_t)(BG_BINS_PER_OCTAVE + rest + 1) << (octave - 1)) - 1;
}

void bg_histogram_add(bg_histogram *h, int64_t ns)
{
    h->count[find_bin(ns)]++;
    h->n++;
    h->sum += (double)ns;
    if (ns > h->max)
        h->max = ns;
}

int64_t bg_histogram_find(const bg_histogram *h, double p)
{
    double wanted = p * (double)h->n;
    long so_far = 0;
    for (int bin = 0; bin < BG_BINS; bin++) {
        so_far += h->count[bin];
        if (so_far > 0 && (double)so_far >= wanted)
            return find_end(bin) < h->max ? find_end(bin) : h->max;
    }
    return h->max;
}

long bg_histogram_count(const bg_histogram *h, int64_t above, int64_t to)
{
    long n = 0;
    for (int bin = 0; bin < BG_BINS; bin++) {
        int64_t end = find_end(bin) < h->max ? find_end(bin) : h->max;
        n += end > above && end <= to ? h->count[bin] : 0;
    }
    return n;
}

bool bg_statistics_add(bg_statistics *s, int64_t release, int64_t begin, int64_t end, bool injected)
{
    int64_t late = end - (release + s->period);
    bool missed = late > 0;
    s->steps++;
    s->delayed += injected;
    bg_histogram_add(&s->turnaround, end - begin);
    bg_histogram_add(&s->latency, begin - release);
    if (!missed)
        return false;
    if (s->misses < BG_MISSES_KEPT)
        s->miss[s->misses] = (bg_miss){s->steps, late, injected};
    s->misses++;
    s->injected += injected;
    return true;
}

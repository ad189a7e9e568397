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

static const struct {
    const char *name, *key;
} causes[BG_CAUSES] = {
    [BG_CAUSE_DELAYED] = {"delayed", "delayed"},
    [BG_CAUSE_LATE_RELEASE] = {"late release", "late_release"},
    [BG_CAUSE_INTERRUPTED] = {"interrupted", "interrupted"},
    [BG_CAUSE_LONG_STEP] = {"long step", "long_step"},
    [BG_CAUSE_CATCHING_UP] = {"catching up", "catching_up"},
};

const char *bg_cause_get_name(bg_cause cause)
{
    return causes[cause].name;
}

const char *bg_cause_get_key(bg_cause cause)
{
    return causes[cause].key;
}

static bg_cause find_cause(const bg_statistics *s, const bg_step_times *t)
{
    int64_t behind = t->due - t->release, late = t->begin - t->due;
    int64_t lost = t->lost < behind ? t->lost : behind;
    int64_t taken = t->end - t->begin - t->work + lost;
    int64_t idle = behind - t->waited - t->prepared - t->lost; /* before its preparation */
    late += idle > 0 ? idle : 0;
    if (t->delayed)
        return BG_CAUSE_DELAYED;
    if (t->work + t->prepared > s->period)
        return BG_CAUSE_LONG_STEP;
    if (t->waited > late && t->waited > taken)
        return BG_CAUSE_CATCHING_UP;
    return late >= taken ? BG_CAUSE_LATE_RELEASE : BG_CAUSE_INTERRUPTED;
}

bool bg_statistics_add(bg_statistics *s, const bg_step_times *t)
{
    int64_t late = t->end - (t->release + s->period), behind = t->due - t->release;
    s->steps++;
    s->delayed += t->delayed;
    s->farthest = behind > s->farthest ? behind : s->farthest;
    bg_histogram_add(&s->turnaround, t->end - t->begin);
    bg_histogram_add(&s->work, t->work);
    bg_histogram_add(&s->latency, t->begin - t->due);
    if (late <= 0)
        return false;
    bg_cause cause = find_cause(s, t);
    if (s->misses < BG_MISSES_KEPT)
        s->miss[s->misses] = (bg_miss){s->steps, late, cause};
    s->misses++;
    s->causes[cause]++;
    return true;
}

void bg_spin_add(bg_spin *spin, int64_t before, int64_t now, int64_t release)
{
    int64_t gap = now - before;
    spin->watched += gap;
    if (gap < BG_GAP)
        return;
    spin->gaps++;
    spin->total += gap;
    spin->longest = gap > spin->longest ? gap : spin->longest;
    spin->late += now > release;
}

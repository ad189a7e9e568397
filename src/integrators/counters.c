/* Work done by an integrator: its own counts, and what the system counted since it was created. */
#include "integrators/integrator.h"

enum {
    NUMBERS = sizeof(bg_work) / sizeof(long),
    OF_CORRECTOR = sizeof(bg_corrector_work) / sizeof(long)
};

/* a <- a + sign b. A bg_work is so many numbers, one after another. */
static void add(bg_work *a, const bg_work *b, long sign)
{
    long *to = &a->terms;
    const long *from = &b->terms;
    for (int i = 0; i < NUMBERS; i++)
        to[i] += sign * from[i];
}

bg_work bg_counters_sum_steps(const bg_counters *counters)
{
    bg_work sum = counters->steps;
    add(&sum, &counters->projection, 1);
    return sum;
}

bg_counters bg_integrator_get_counters(const bg_integrator *ig)
{
    bg_counters c = ig->count;
    bg_work *const work[] = {&c.steps, &c.projection, &c.events, &c.rows, &c.foresight};
    for (int i = BG_FOR_STEPS; i <= BG_FOR_FORESIGHT; i++) {
        add(work[i], &ig->sys->work[i], 1);
        add(work[i], &ig->base[i], -1);
    }
    return c;
}

void bg_counters_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_counters now = bg_integrator_get_counters(ig);
    bg_archive_counts(archive, &now.accepted, 1);
    bg_archive_counts(archive, &now.rejected, 1);
    bg_archive_counts(archive, &now.unconverged, 1);
    bg_work *const work[] = {&now.steps, &now.projection, &now.events, &now.rows, &now.foresight};
    for (int i = BG_FOR_STEPS; i <= BG_FOR_FORESIGHT; i++)
        bg_archive_counts(archive, &work[i]->terms, NUMBERS);
    bg_archive_counts(archive, &now.corrector.fc, OF_CORRECTOR);
    if (!archive->loading || archive->failed)
        return;
    ig->count = now;
    bg_counters_begin(ig);
}

void bg_counters_begin(bg_integrator *ig)
{
    for (int i = 0; i < BG_PURPOSES; i++)
        ig->base[i] = ig->sys->work[i];
}

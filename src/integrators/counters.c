/* Work done by an integrator: its own counts, and what the system and the linear algebra counted
 * since it was created. */
#include "integrators/integrator.h"

#include <assert.h>
#include <string.h>

bg_counters bg_integrator_get_counters(const bg_integrator *ig)
{
    bg_counters c = ig->count;
    const bg_counters *s = &ig->sys->count;
    c.terms += s->terms - ig->base.terms;
    c.explicit_ += s->explicit_ - ig->base.explicit_;
    c.residual += s->residual - ig->base.residual;
    c.jacobian += s->jacobian - ig->base.jacobian;
    c.jacobian_updates += s->jacobian_updates - ig->base.jacobian_updates;
    c.factorisations += ig->dyn->factorisations;
    c.projections += ig->dyn->projections[BG_FOR_STEPS];
    c.event_projections += ig->dyn->projections[BG_FOR_EVENTS];
    c.output_projections += ig->dyn->projections[BG_FOR_ROWS];
    return c;
}

void bg_counters_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_counters now = bg_integrator_get_counters(ig);
    long *const all[] = {&now.accepted,          &now.rejected,           &now.terms,
                         &now.explicit_,         &now.residual,           &now.jacobian,
                         &now.jacobian_updates,  &now.factorisations,     &now.projections,
                         &now.event_projections, &now.output_projections, &now.unconverged};
    static_assert(sizeof all / sizeof *all == sizeof now / sizeof(long), "every counter");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bg_archive_counts(archive, all[i], 1);
    if (!archive->loading || archive->failed)
        return;
    ig->count = now;
    ig->base = ig->sys->count;
    ig->dyn->factorisations = 0;
    memset(ig->dyn->projections, 0, sizeof ig->dyn->projections);
}

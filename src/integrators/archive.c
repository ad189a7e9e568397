/* An integrator between two steps, saved and restored: a resumed run goes on bit by bit. */
#include "integrators/automatic.h"
#include "integrators/change_points.h"
#include "integrators/integrator.h"
#include "integrators/trouble.h"

#include <limits.h>
#include <math.h>

static void archive_residuals(bg_residuals *r, int ng, bg_archive *archive)
{
    bg_archive_doubles(archive, &r->g, 1);
    bg_archive_doubles(archive, &r->gv, 1);
    bg_archive_doubles(archive, &r->ga, 1);
    bg_archive_whole(archive, &r->worst_g, 1, -1, ng - 1);
    bg_archive_doubles(archive, &r->redundant, 1);
    bg_archive_whole(archive, &r->worst_redundant, 1, -1, ng - 1);
}

void bg_integrator_archive(bg_integrator *ig, bg_archive *archive)
{
    if (!archive->loading) {
        bg_integrator_advance(ig);
        bg_integrator_get_residuals(ig);
    }
    bg_state *x = ig->x0;
    const bg_system_def *def = &ig->sys->def;
    bg_archive_mark(archive, ig->automatic ? "auto" : ig->class_->info.name);
    if (ig->automatic)
        bg_automatic_archive(ig, archive);
    bg_counters_archive(ig, archive);
    bg_archive_finite(archive, &x->t, 1);
    bg_archive_finite(archive, x->q, ig->n);
    bg_archive_doubles(archive, x->a, def->nv);
    bg_archive_doubles(archive, x->lambda, def->ng);
    bg_archive_ints(archive, x->mode, def->nmode);
    bg_archive_finite(archive, ig->rate0, ig->n);
    double numbers[] = {ig->t_end, ig->t_limit, ig->t_grid, (double)ig->grid, ig->rcond};
    bg_archive_finite(archive, numbers, 5);
    bg_archive_whole(archive, &ig->parts, 1, 0, INT_MAX);
    if (!(fabs(numbers[3]) < 1e18))
        archive->failed = true;
    bg_control_archive(ig, archive);
    archive_residuals(&ig->residuals0, def->ng, archive);
    bg_archive_flags(archive, ig->dyn->eliminated, (size_t)def->ng);
    if (ig->dyn->kkt)
        bg_kkt_archive(ig->dyn->kkt, archive);
    if (ig->class_->archive)
        ig->class_->archive(ig, archive);
    bg_trouble_archive(ig, archive);
    bg_change_points_archive(ig, archive);
    bg_archive_mark(archive, "end");
    if (!archive->loading || archive->failed)
        return;
    ig->t_end = numbers[0];
    ig->t_limit = numbers[1];
    ig->t_grid = numbers[2];
    ig->grid = (long)numbers[3];
    ig->rcond = numbers[4];
    ig->stepped = ig->dense_ready = ig->unmeasured0 = false;
    bg_state_copy(ig->sys->system, ig->x0, ig->x1);
    if (ig->dyn->kkt)
        bg_kkt_set_eliminated(ig->dyn->kkt, ig->dyn->eliminated);
}

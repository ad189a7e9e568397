/* auto: mdop5 as long as accuracy limits its steps, bdf from where stability does.
 *
 * Both methods have all their memory from the beginning. The explicit one makes steps until
 * stiffness.c has proved that stability limits them; the step that showed it is final, and from its
 * end, whose state, rates and multipliers are at hand, the implicit method makes all others: an
 * exchange of the class between two steps, as after an event, with no change of the state. A run
 * that is never found stiff is that of mdop5, bit by bit. The other way there is no exchange: bdf
 * is seldom much slower where a motion has ceased to be stiff. Fixed steps, which the user has
 * chosen, systems that bdf cannot integrate, or that are so large that its matrix would be, and the
 * last few steps of a run are left to mdop5. */
#include "integrators/automatic.h"

#include "base/memory.h"
#include "integrators/change_points.h"
#include "integrators/dopri5.h"
#include "integrators/trouble.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPLICIT, IMPLICIT, PARTS };
/* Steps of the explicit method to the end that an exchange is for: so many for each unknown, whose
 * matrices the implicit one begins with, and no fewer than that. */
enum { FEWEST_LEFT = 64, LEFT_PER_UNKNOWN = 8 };
enum { MOST_UNKNOWNS = 1000 }; /* of systems for which memory of the implicit one is made */

extern const bg_integrator_class bg_mdop5, bg_bdf_class;

/* The method makes the steps from now on. */
static void take(bg_integrator *ig, int k)
{
    bg_automatic *a = ig->automatic;
    const bg_automatic_part *part = &a->part[k];
    a->now = k;
    ig->class_ = part->class_;
    ig->method = part->method;
    ig->by_largest = part->by_largest;
    ig->has_past = part->has_past;
    ig->drifts = part->drifts;
    ig->order = part->class_->info.order;
}

static void destroy_part(bg_integrator *ig, bg_automatic_part *part)
{
    ig->method = part->method;
    if (part->method)
        part->class_->destroy(ig);
    ig->method = part->method = NULL;
}

static bg_status create_part(bg_integrator *ig, bg_automatic_part *part, bg_error *err)
{
    ig->class_ = part->class_;
    ig->method = NULL;
    ig->by_largest = ig->has_past = ig->drifts = false;
    bg_status st = part->class_->create(ig, err);
    part->method = ig->method;
    part->by_largest = ig->by_largest;
    part->has_past = ig->has_past;
    part->drifts = ig->drifts;
    return st;
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    bg_automatic *a = ig->automatic = BG_NEW(bg_automatic);
    bg_error ignored = {BG_OK, ""};
    if (!a)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator auto");
    a->part[EXPLICIT].class_ = &bg_mdop5;
    a->part[IMPLICIT].class_ = &bg_bdf_class;
    bg_status st = create_part(ig, &a->part[EXPLICIT], err);
    const int unknowns = ig->dyn->nv + ig->dyn->ng + ig->dyn->nz;
    if (st == BG_OK && ig->options.step == 0 && unknowns <= MOST_UNKNOWNS) {
        const int settings = ig->options.nsettings;
        ig->options.nsettings = 0; /* they are those of the explicit one */
        st = create_part(ig, &a->part[IMPLICIT], &ignored);
        ig->options.nsettings = settings;
        if (st == BG_NO_MEMORY)
            return bg_error_set(err, st, "%s", ignored.text);
        if (st != BG_OK)
            destroy_part(ig, &a->part[IMPLICIT]);
        st = BG_OK;
    }
    take(ig, EXPLICIT);
    return st;
}

void bg_automatic_destroy(bg_integrator *ig)
{
    for (int k = 0; k < PARTS; k++)
        destroy_part(ig, &ig->automatic->part[k]);
    free(ig->automatic);
}

void bg_automatic_reset(bg_integrator *ig)
{
    if (bg_automatic_is_implicit(ig))
        bg_trouble_forget_stiffness(ig);
    take(ig, EXPLICIT);
}

bool bg_automatic_is_implicit(const bg_integrator *ig)
{
    return ig->automatic && ig->automatic->now == IMPLICIT;
}

/* Whether the rest of the run is long enough for a method that begins with order 1. */
static bool is_worthwhile(const bg_integrator *ig, double h)
{
    const int unknowns = ig->dyn->nv + ig->dyn->ng + ig->dyn->nz;
    return ig->x0->t + fmax(FEWEST_LEFT, LEFT_PER_UNKNOWN * unknowns) * h < ig->t_end;
}

void bg_automatic_update(bg_integrator *ig)
{
    bg_automatic *a = ig->automatic;
    bg_error ignored;
    double h = ig->control.h_next;
    if (a->now == IMPLICIT || !ig->trouble->stiff || !a->part[IMPLICIT].method ||
        !is_worthwhile(ig, h) || ig->control.leaps.left > 0 || bg_change_points_is_passing(ig))
        return;
    take(ig, IMPLICIT);
    ig->class_->restart(ig, BG_RESTART_START);
    if (ig->class_->first_step(ig, &h, &ignored) != BG_OK) {
        take(ig, EXPLICIT);
        bg_trouble_forget_stiffness(ig);
        return;
    }
    a->t_exchange = ig->x0->t;
    a->steps = ig->count.accepted;
    ig->control.h_next = ig->control.h_cruise = h;
    ig->control.error_old = 1e-4;
    ig->control.last_rejected = false;
}

void bg_automatic_describe(const bg_integrator *ig, char *text, size_t size)
{
    const bg_automatic *a = ig->automatic;
    const char *const explicit_ = a->part[EXPLICIT].class_->info.name;
    if (a->now == EXPLICIT)
        snprintf(text, size, "all steps by %s", explicit_);
    else
        snprintf(text, size, "%ld steps by %s up to t = %.6g s, %ld by %s from there on", a->steps,
                 explicit_, a->t_exchange, ig->count.accepted - a->steps,
                 a->part[IMPLICIT].class_->info.name);
}

void bg_automatic_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_automatic *a = ig->automatic;
    int now = a->now;
    bg_archive_whole(archive, &now, 1, EXPLICIT, a->part[IMPLICIT].method ? IMPLICIT : EXPLICIT);
    bg_archive_finite(archive, &a->t_exchange, 1);
    bg_archive_counts(archive, &a->steps, 1);
    if (archive->loading && !archive->failed)
        take(ig, now);
}

static const bg_option_info options[] = {BG_MDOP5_OPTIONS};

const bg_integrator_class bg_automatic_class;
const bg_integrator_class bg_automatic_class = {
    .info = {"auto", "mdop5 while accuracy limits its steps, bdf from where stability does",
             options, sizeof options / sizeof *options, false, 5, 4},
    .create = create,
    .bubbles = 1, /* memory for both */
};

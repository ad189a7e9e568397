/* Why steps are short: steps limited by stability (stiffness.c), and laws that jump (jumps.c).
 *
 * Tests that find nothing are repeated after ever more steps, so that they cost nothing in runs
 * without trouble. They leave the counters of work as they are. */
#include "integrators/trouble.h"

#include "base/memory.h"
#include "integrators/automatic.h"
#include "integrators/change_points.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 32, MANY = 100 };
static const long longest_wait = 1L << 40; /* accepted steps */

static void list(void *object, bg_arena *arena)
{
    bg_integrator *ig = object;
    bg_trouble *x = ig->trouble;
    const bg_dynamics *d = ig->dyn;
    const bg_parts *parts = &ig->sys->system->parts;
    int tangent = 2 * d->nv + d->nz, rates = d->nv + d->nz;
    BG_TAKE(arena, x->x, tangent);
    BG_TAKE(arena, x->y, tangent);
    BG_TAKE(arena, x->a0, rates);
    BG_TAKE(arena, x->a1, rates);
    BG_TAKE(arena, x->a2, rates);
    for (int k = 0; k < 3; k++)
        BG_TAKE(arena, x->state[k], ig->n);
    BG_TAKE(arena, x->lambda, d->ng);
    BG_TAKE(arena, x->motion, parts->width);
    BG_TAKE(arena, x->force, parts->width);
    BG_TAKE(arena, x->share, parts->count);
}

bg_status bg_trouble_create(bg_integrator *ig, bg_error *err)
{
    bg_trouble *x = ig->trouble = BG_NEW(bg_trouble);
    if (!x || !bg_arena_create(&x->arena, list, ig))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the search for stiffness");
    x->stiff_patience = x->jump_patience = (bg_patience){0, WINDOW};
    return BG_OK;
}

void bg_trouble_set_limits(bg_integrator *ig, double looks, double proved)
{
    ig->trouble->looks = looks;
    ig->trouble->proved = proved;
}

void bg_trouble_forget_stiffness(bg_integrator *ig)
{
    bg_trouble *x = ig->trouble;
    x->stiff = false;
    x->suspect = x->calm = 0;
    x->limited = 0;
    x->rate = 0;
    x->next_look = 2 * ig->count.accepted;
}

void bg_trouble_destroy(bg_trouble *x)
{
    if (x)
        bg_arena_clear(&x->arena);
    free(x);
}

static int count_culprits(const bg_integrator *ig, char kind)
{
    return kind == 'p'   ? ig->sys->system->parts.count
           : kind == 'u' ? ig->sys->def.nu
           : kind == 'v' ? ig->dyn->nv
                         : ig->dyn->nz;
}

static void archive_culprit(const bg_integrator *ig, bg_culprit *c, bg_archive *archive)
{
    bg_archive_bytes(archive, &c->kind, 1);
    if (c->kind != 0 && c->kind != 'p' && c->kind != 'u' && c->kind != 'v' && c->kind != 'z')
        archive->failed = true;
    bg_archive_whole(archive, &c->index, 1, 0, c->kind ? count_culprits(ig, c->kind) - 1 : 0);
    if (archive->failed)
        *c = (bg_culprit){0};
}

void bg_trouble_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_trouble *x = ig->trouble;
    bg_archive_whole(archive, &x->suspect, 1, 0, INT_MAX / 2);
    bg_archive_whole(archive, &x->calm, 1, 0, INT_MAX / 2);
    long *const counts[] = {&x->limited,
                            &x->jumps,
                            &x->stiff_patience.next,
                            &x->stiff_patience.wait,
                            &x->jump_patience.next,
                            &x->jump_patience.wait,
                            &x->next_look,
                            &x->accepted,
                            &x->rejected};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        bg_archive_counts(archive, counts[i], 1);
    double numbers[] = {x->rate, x->t_stiff, x->t_jump};
    int found = x->stiff + 2 * x->jump;
    bg_archive_doubles(archive, numbers, 3);
    bg_archive_ints(archive, &found, 1);
    archive_culprit(ig, &x->fastest, archive);
    archive_culprit(ig, &x->jumping, archive);
    if (!archive->loading || archive->failed)
        return;
    x->rate = numbers[0];
    x->t_stiff = numbers[1];
    x->t_jump = numbers[2];
    x->stiff = (found & 1) != 0 && x->fastest.kind;
    x->jump = (found & 2) != 0 && x->jumping.kind;
}

/* v' and z' at a point given as y. */
bool bg_trouble_calc_rates(bg_integrator *ig, double t, const double *y, double *out)
{
    bg_dynamics *d = ig->dyn;
    const double *v = y + d->nq, *z = v + d->nv;
    if (bg_dynamics_accelerate(d, t, y, v, z, ig->x0->mode, 0, out, ig->trouble->lambda, NULL) !=
        BG_OK)
        return false;
    memcpy(out + d->nv, d->terms.h, (size_t)d->nz * sizeof(double));
    return true;
}

/* Places the system's parts at y; false: its inputs cannot be evaluated. */
bool bg_trouble_place(bg_integrator *ig, double t, const double *y, double *motion)
{
    bg_point p;
    const double *v = y + ig->dyn->nq, *z = v + ig->dyn->nv;
    if (bg_system_set_point(ig->sys, t, y, v, z, ig->x0->mode, &p, NULL) != BG_OK)
        return false;
    ig->sys->system->parts.place(ig->sys->def.self, &p, motion);
    return true;
}

void bg_trouble_wait_longer(const bg_integrator *ig, bg_patience *p)
{
    p->next = ig->count.accepted + p->wait;
    if (p->wait < longest_wait)
        p->wait *= 2;
}

void bg_trouble_watch_rejection(bg_integrator *ig, bool computed)
{
    bg_trouble *m = ig->trouble;
    if (ig->count.accepted >= m->accepted + WINDOW) {
        m->accepted = ig->count.accepted;
        m->rejected = ig->count.rejected;
    }
    if (ig->count.rejected - m->rejected >= WINDOW / 6 &&
        ig->count.accepted >= m->jump_patience.next)
        bg_jumps_search(ig, computed);
}

void bg_trouble_search(bg_integrator *ig)
{
    const bg_state *x = bg_integrator_get_state(ig);
    if (ig->automatic && ig->options.step == 0) /* whose next steps depend on what is found when */
        return;
    if (ig->trouble->proved > 0 && !ig->trouble->stiff && !ig->trouble->jump)
        bg_stiffness_search(ig, x, ig->h);
}

static void name_culprit(const bg_integrator *ig, bg_culprit c, char *text, size_t size)
{
    char buffer[64];
    if (c.kind == 'p')
        ig->sys->system->parts.get_name(ig->sys->def.self, c.index, text, size);
    else
        snprintf(text, size, "%s '%s'",
                 c.kind == 'z'   ? "the state"
                 : c.kind == 'u' ? "input"
                                 : "the motion of",
                 bg_system_get_name(ig->sys->system, c.kind, c.index, buffer, sizeof buffer));
}

/* Whether many steps were limited by stability, so that it is worth a remark on a finished run. */
static bool is_limited(const bg_integrator *ig)
{
    long n = ig->trouble->limited;
    return n >= MANY && n >= ig->count.accepted / 4;
}

bool bg_integrator_explain(const bg_integrator *ig, bg_warnings *warnings, char *text, size_t size)
{
    const bg_trouble *m = ig->trouble;
    char name[128];
    *text = '\0';
    bg_change_points_explain(ig, warnings);
    double rounding = bg_rounding_get_reached(&ig->control.rounding);
    if (rounding > 0)
        bg_warnings_add(warnings, BG_GOOD, "rounding",
                        "rounding is reached: tolerances below %.1g do not improve the result",
                        rounding * fmax(ig->options.rtol, ig->options.atol));
    if (m->jump) {
        name_culprit(ig, m->jumping, name, sizeof name);
        if (m->jumping.kind == 'u')
            snprintf(text, size,
                     "the second derivative of %s jumps, last at t = %.6g s, and with it the "
                     "accelerations of what follows it, where steps cannot: use an input of type "
                     "'step', or a 'table', in place of its corner",
                     name, m->t_jump);
        else
            snprintf(text, size,
                     "the law of %s jumps, last at t = %.6g s, where steps cannot follow it: "
                     "replace the jump by a steep smooth law, such as tanh(x/w) for sign(x)",
                     name, m->t_jump);
        bg_warnings_add(warnings, BG_DOUBTFUL, "jump", "%s", text);
    } else if (m->stiff && bg_automatic_is_implicit(ig)) {
        name_culprit(ig, m->fastest, name, sizeof name);
        bg_warnings_add(warnings, BG_GOOD, "stiff",
                        "from t = %.6g s on %s makes the steps, as stability would limit those of "
                        "an explicit method (stiff): %s reacts within %.2g s",
                        ig->automatic->t_exchange, ig->class_->info.name, name, 1 / m->rate);
    } else if (m->stiff && (!warnings || is_limited(ig))) {
        name_culprit(ig, m->fastest, name, sizeof name);
        snprintf(
            text, size,
            "from t = %.6g s on steps are limited by stability, not by accuracy (stiff): %s "
            "reacts within %.2g s; use --integrator bdf, or, for real time, mark it \"stiff\" and "
            "use linear-euler with a fixed step, or make it softer or less damped",
            m->t_stiff, name, 1 / m->rate);
        bg_warnings_add(warnings, BG_GOOD, "stiff", "%s", text);
    }
    return *text != '\0';
}

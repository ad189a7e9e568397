#include "formalism/motion.h"

#include "formalism/multibody.h"
#include "system/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double negligible = 1e-6; /* of the largest motion */

/* "x", or "(0.60, 0.80, 0.00)"; the sense does not matter, the first part that counts is positive.
 */
static void print_direction(bg_vec3 d, char *text, size_t size)
{
    double part[3], length = bg_length(d), sign = 0;
    bg_vec3_store(bg_scale(1 / length, d), part);
    for (int i = 0; i < 3; i++) {
        if (fabs(part[i]) > 1 - 1e-6) {
            snprintf(text, size, "%c", "xyz"[i]);
            return;
        }
        if (sign == 0 && fabs(part[i]) > 1e-3)
            sign = part[i] > 0 ? 1 : -1;
    }
    for (int i = 0; i < 3; i++)
        part[i] = fabs(part[i]) < 0.005 ? 0 : sign * part[i];
    snprintf(text, size, "(%.2f, %.2f, %.2f)", part[0], part[1], part[2]);
}

static double calc_speed(const bg_body_state *b, double length)
{
    return bg_length(b->v) + length * bg_length(b->w);
}

void bg_motion_describe(bg_evaluator *sys, const bg_state *x, const double *v, char *text,
                        size_t size)
{
    bg_multibody *mb = sys->def.self;
    double length = sys->system->size, most = 0;
    int best = 0, others = 0;
    size_t used = 0;
    bg_point p;
    text[0] = '\0';
    if (bg_system_set_point(sys, x->t, x->q, v, x->z, x->mode, &p, NULL) != BG_OK)
        return;
    memset(sys->u_t, 0, (size_t)sys->def.nu * sizeof(double)); /* nothing but v moves */
    mb->update(mb, &p, NULL);
    for (int b = 1; b < mb->nbodies; b++)
        if (calc_speed(&mb->body[b], length) > (1 + negligible) * most) {
            most = calc_speed(&mb->body[b], length);
            best = b;
        }
    for (int b = 1; b < mb->nbodies; b++)
        others += b != best && calc_speed(&mb->body[b], length) > negligible * most;
    if (best == 0)
        return;
    const bg_body_state *s = &mb->body[best];
    bool slides = bg_length(s->v) > negligible * most;
    bool turns = length * bg_length(s->w) > negligible * most;
    char direction[48];
    used += (size_t)snprintf(text, size, "%.40s", mb->model->bodies[best].name);
    if (slides && used < size) {
        print_direction(s->v, direction, sizeof direction);
        used += (size_t)snprintf(text + used, size - used, " moves along %s", direction);
    }
    if (turns && used < size) {
        print_direction(s->w, direction, sizeof direction);
        used += (size_t)snprintf(text + used, size - used, "%s turns about %s",
                                 slides ? " and" : "", direction);
    }
    if (others > 0 && used < size)
        snprintf(text + used, size - used, "; %d more %s", others,
                 others == 1 ? "body moves" : "bodies move");
}

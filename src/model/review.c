/* What the author of a model should look at again, beside what the reader noticed. */
#include "model/review.h"

#include <math.h>

typedef struct box {
    bg_vec3 low, high;
} box;

static void widen(box *x, bg_vec3 r)
{
    x->low = (bg_vec3){fmin(x->low.x, r.x), fmin(x->low.y, r.y), fmin(x->low.z, r.z)};
    x->high = (bg_vec3){fmax(x->high.x, r.x), fmax(x->high.y, r.y), fmax(x->high.z, r.z)};
}

/* Where a marker is in the design position. */
static bg_vec3 find_place(const bg_model *m, const bg_marker *marker)
{
    const bg_frame *pose = &m->bodies[marker->body].pose;
    return bg_add(pose->r, bg_rotate(&pose->R, marker->frame.r));
}

double bg_model_calc_size(const bg_model *m)
{
    box x = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int k = 1; k < m->nbodies; k++)
        widen(&x, m->bodies[k].pose.r);
    for (int k = 0; k < m->njoints; k++) {
        widen(&x, find_place(m, &m->joints[k].a));
        widen(&x, find_place(m, &m->joints[k].b));
    }
    double size = fmax(x.high.x - x.low.x, fmax(x.high.y - x.low.y, x.high.z - x.low.z));
    return size > 0 ? size : 1;
}

void bg_model_review(const bg_model *model, const bg_mechanism *mechanism, bg_warnings *warnings)
{
    (void)mechanism;
    bg_warnings_append(warnings, &model->warnings);
}

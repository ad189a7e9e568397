/* The force elements of a model as parts of its system: a force is the wrenches of an element on
 * all bodies, a motion is the twists of all bodies. */
#include "formalism/multibody.h"
#include "system/system.h"

#include <stdio.h>
#include <string.h>

static void get_name(const void *self, int part, char *text, size_t size)
{
    const bg_force *f = &((const bg_multibody *)self)->model->forces[part];
    snprintf(text, size, "%s '%s'", f->class_->name, f->name);
}

static void place(void *self, const bg_point *p, double *motion)
{
    bg_multibody *mb = self;
    mb->update(mb, p, NULL);
    for (int b = 0; b < mb->nbodies && motion; b++) {
        const bg_body_state *x = &mb->body[b];
        const double twist[6] = {x->v.x, x->v.y, x->v.z, x->w.x, x->w.y, x->w.z};
        memcpy(motion + 6 * b, twist, sizeof twist);
    }
}

static void calc_force(void *self, int part, double *force)
{
    bg_multibody *mb = self;
    const bg_force *f = &mb->model->forces[part];
    memset(mb->wrench, 0, (size_t)mb->nbodies * sizeof *mb->wrench);
    f->class_->apply(f, &mb->world, mb->wrench);
    for (int b = 0; b < mb->nbodies; b++) {
        const bg_wrench *x = &mb->wrench[b];
        const double wrench[6] = {x->f.x, x->f.y, x->f.z, x->n.x, x->n.y, x->n.z};
        memcpy(force + 6 * b, wrench, sizeof wrench);
    }
}

static uint64_t calc_side(void *self)
{
    bg_multibody *mb = self;
    uint64_t side = 0;
    bg_world world = mb->world;
    world.side = &side;
    world.memo = NULL; /* what was found last was found without the laws */
    memset(mb->wrench, 0, (size_t)mb->nbodies * sizeof *mb->wrench);
    for (int k = 0; k < mb->model->nforces; k++)
        if (mb->model->forces[k].cornered)
            mb->model->forces[k].class_->apply(&mb->model->forces[k], &world, mb->wrench);
    for (int k = 0; k < mb->model->nsignals; k++)
        if (mb->model->signals[k].expression)
            bg_expression_mix_side(mb->model->signals[k].expression, &world.t, &side);
    return side;
}

bg_parts bg_multibody_get_parts(const bg_model *model)
{
    return (bg_parts){.count = model->nforces,
                      .width = 6 * model->nbodies,
                      .get_name = get_name,
                      .place = place,
                      .calc_force = calc_force,
                      .calc_side = model->ncorners > 0 ? calc_side : NULL};
}

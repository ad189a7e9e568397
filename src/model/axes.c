/* Axes that belong to the mechanism.
 *
 * Which rows of a joint are left out as redundant, and how the drift of a method spreads over them,
 * depends on the axes they are written in. If those came from the world, turning a model would
 * change its results by more than rounding. So an axis that the file leaves open is the first one
 * in a list of directions that is clear enough: differences of two places, and axes of joints, in
 * the order of the file. They turn with the model; its place and its size do not matter. Places
 * that nearly coincide, and directions that are nearly parallel, are passed over, far above what
 * data of six digits resolve, and at bounds that are no round numbers, so that rounding does not
 * decide. Where all places lie on one line and all axes along it, no direction across is better
 * than another.
 *
 * The normal of a plane mechanism is one of the axes: where a joint has none, axes of others come
 * first, and where none has, the first two directions lie in the plane. */
#include "model/axes.h"

#include "base/memory.h"

#include <stdlib.h>

static const double apart = 1.37e-3;            /* places, of the extent */
static const double sines[] = {0.137, 1.37e-3}; /* of angles, tried one after the other */
static const bg_vec3 none = {0, 0, 0};

static bool is_none(bg_vec3 x)
{
    return x.x == 0 && x.y == 0 && x.z == 0;
}

static bg_vec3 get_place(const bg_model *m, int joint)
{
    const bg_marker *x = &m->joints[joint].a;
    return bg_frame_apply(&m->bodies[x->body].pose, x->frame.r);
}

static bg_vec3 get_axis(const bg_model *m, int joint)
{
    const bg_marker *x = &m->joints[joint].a;
    return bg_rotate(&m->bodies[x->body].pose.R, bg_axis(&x->frame.R, 2));
}

static void note_axis(bg_axes *axes, int body, int joint)
{
    if (axes->joint[body] < 0)
        axes->joint[body] = joint;
}

bg_status bg_axes_create(const bg_model *m, bg_axes *axes, bg_error *err)
{
    *axes = (bg_axes){.model = m, .joint = BG_NEW_ARRAY(int, m->nbodies)};
    if (!axes->joint)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the axes of '%s'", m->name);
    for (int b = 0; b < m->nbodies; b++)
        axes->joint[b] = -1;
    for (int k = 0; k < m->njoints; k++) {
        axes->extent = fmax(axes->extent, bg_length(bg_sub(get_place(m, k), get_place(m, 0))));
        if (m->joints[k].class_->naxes > 0) {
            note_axis(axes, 0, k);
            note_axis(axes, m->joints[k].a.body, k);
            note_axis(axes, m->joints[k].b.body, k);
        }
    }
    for (int b = 1; b < m->nbodies && m->njoints > 0; b++)
        axes->extent = fmax(axes->extent, bg_length(bg_sub(m->bodies[b].pose.r, get_place(m, 0))));
    return BG_OK;
}

void bg_axes_clear(bg_axes *axes)
{
    free(axes->joint);
    *axes = (bg_axes){0};
}

/* The unit vector along x across z (a unit vector or none), if x is clear enough; else none. */
static bg_vec3 take_across(bg_vec3 x, bg_vec3 z, double shortest, double sine)
{
    bg_vec3 p = bg_add_scaled(x, -bg_dot(x, z), z);
    double length = bg_length(x), across = bg_length(p);
    bool clear = length > shortest && across > sine * length;
    return clear ? bg_scale(1 / across, p) : none;
}

/* From the joint's place to the centres of its bodies, other joints, other centres. */
static bg_vec3 find_arm(const bg_axes *axes, int joint, bg_vec3 z, double sine)
{
    const bg_model *m = axes->model;
    const bg_joint *j = &m->joints[joint];
    const bg_vec3 place = get_place(m, joint);
    const int own[2] = {j->b.body, j->a.body};
    double shortest = apart * axes->extent;
    bg_vec3 x = none;
    for (int k = 0; k < 2 && is_none(x); k++)
        if (own[k] > 0)
            x = take_across(bg_sub(m->bodies[own[k]].pose.r, place), z, shortest, sine);
    for (int k = 0; k < m->njoints && is_none(x); k++)
        x = take_across(bg_sub(get_place(m, k), place), z, shortest, sine);
    for (int b = 1; b < m->nbodies && is_none(x); b++)
        x = take_across(bg_sub(m->bodies[b].pose.r, place), z, shortest, sine);
    return x;
}

static bg_vec3 find_axis(const bg_axes *axes, bg_vec3 z, double sine)
{
    const bg_model *m = axes->model;
    bg_vec3 x = none;
    for (int k = 0; k < m->njoints && is_none(x); k++)
        if (m->joints[k].class_->naxes > 0)
            x = take_across(get_axis(m, k), z, 0, sine);
    return x;
}

/* A direction across z, or none. */
static bg_vec3 find_across(const bg_axes *axes, int joint, bg_vec3 z)
{
    bg_vec3 x = none;
    for (size_t k = 0; k < sizeof sines / sizeof *sines && is_none(x); k++) {
        x = find_arm(axes, joint, z, sines[k]);
        if (is_none(x))
            x = find_axis(axes, z, sines[k]);
        if (is_none(x))
            x = take_across(axes->model->gravity, z, 0, sines[k]);
    }
    return x;
}

/* The axis of the joint, of one on the same bodies, of any; or a direction. */
static bg_vec3 find_z(const bg_axes *axes, int joint)
{
    const bg_joint *j = &axes->model->joints[joint];
    int k = j->class_->naxes > 0 ? joint : j->b.body > 0 ? axes->joint[j->b.body] : -1;
    if (k < 0 && j->a.body > 0)
        k = axes->joint[j->a.body];
    if (k < 0)
        k = axes->joint[0];
    return k >= 0 ? get_axis(axes->model, k) : find_across(axes, joint, none);
}

bg_mat3 bg_axes_choose(const bg_axes *axes, int joint)
{
    const bg_joint *j = &axes->model->joints[joint];
    if (j->x_given)
        return bg_mat3_multiply(&axes->model->bodies[j->a.body].pose.R, &j->a.frame.R);
    bg_vec3 z = find_z(axes, joint);
    return is_none(z) ? bg_mat3_identity() : bg_frame_from_z(z, find_across(axes, joint, z));
}

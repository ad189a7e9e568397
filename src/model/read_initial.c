/* Where joints start: "initial" of a joint, or of the whole file by joint name (which goes last),
 * and whether that is only where an equilibrium is looked for. */
#include "base/text.h"
#include "model/cardan.h"
#include "model/read.h"

#include <stdio.h>
#include <string.h>

int bg_read_coordinate(const bg_value *v, int joint, const char *name)
{
    if (v->reader->status != BG_OK)
        return 0;
    bg_joint *j = &v->reader->model->joints[joint];
    const bg_joint_class *c = j->class_;
    const char *names[BG_JOINT_COORDINATES];
    for (int k = 0; k < c->ncoordinates; k++) {
        names[k] = c->coordinate[k].name;
        if (name && strcmp(name, names[k]) == 0) {
            j->x_used = j->x_used ||
                        (c->coordinate[k].kind == BG_COORDINATE_SLIDE && c->coordinate[k].axis < 2);
            return k;
        }
    }
    if (c->ncoordinates == 0) {
        bg_value_fail(v, "joint '%s' of type '%s' has no scalar coordinate", j->name, c->name);
    } else if (name) {
        char noun[128];
        snprintf(noun, sizeof noun, "coordinate of joint '%s' called", j->name);
        bg_value_fail_unknown(v, noun, name, names, c->ncoordinates);
    } else if (c->ncoordinates > 1) {
        bg_value_fail(v, "joint '%s' of type '%s' has %d coordinates; say which: '%s', '%s'%s",
                      j->name, c->name, c->ncoordinates, names[0], names[1],
                      c->ncoordinates > 2 ? ", ..." : "");
    }
    return 0;
}

void bg_read_refuse_cardan(const bg_value *v, const bg_joint *j, int k, const char *what)
{
    const bg_coordinate c = bg_joint_get_coordinate(j, k);
    if (v->reader->status == BG_OK && bg_coordinate_is_cardan(&c))
        bg_value_fail(
            v,
            "'%s' of joint '%s' cannot be %s: angles of a joint of type '%s' can be given "
            "at the start and measured; use joints with one axis for more",
            j->class_->coordinate[k].name, j->name, what, j->class_->name);
}

static void read_coordinate_start(const bg_value *v, bg_joint_start *start)
{
    static const char *const keys[] = {"position", "velocity", "fixed", "fixed_velocity", NULL};
    if (!json_is_object(v->json)) {
        start->q = bg_value_get_number(v);
        start->q_given = true;
        return;
    }
    bg_value_expect(v, keys);
    start->q = bg_value_number_or(v, "position", start->q);
    start->v = bg_value_number_or(v, "velocity", start->v);
    start->q_fixed = bg_value_bool_or(v, "fixed", start->q_fixed);
    start->v_fixed = bg_value_bool_or(v, "fixed_velocity", start->v_fixed);
    start->q_given = start->q_given || start->q_fixed || json_object_get(v->json, "position");
    start->v_given = start->v_given || start->v_fixed || json_object_get(v->json, "velocity");
}

static bool has_coordinate_keys(const bg_value *v, const bg_joint_class *c)
{
    for (int k = 0; k < c->ncoordinates; k++)
        if (json_object_get(v->json, c->coordinate[k].name))
            return true;
    return false;
}

void bg_read_start(const bg_value *v, int joint)
{
    if (v->reader->status != BG_OK)
        return;
    bg_joint *j = &v->reader->model->joints[joint];
    if (j->class_->ncoordinates <= 1 && !has_coordinate_keys(v, j->class_)) {
        int k = bg_read_coordinate(v, joint, NULL);
        if (v->reader->status == BG_OK)
            read_coordinate_start(v, &j->start[k]);
        return;
    }
    if (!json_is_object(v->json))
        bg_read_coordinate(v, joint, NULL); /* fails: there are several */
    bg_value member;
    for (void *i = NULL; bg_value_next(v, &i, &member);) {
        int k = bg_read_coordinate(&member, joint, member.key);
        if (v->reader->status == BG_OK)
            read_coordinate_start(&member, &j->start[k]);
    }
}

static void read_one(const bg_value *v)
{
    if (strcmp(v->key, "equilibrium") == 0 && json_is_boolean(v->json)) { /* no start of a joint */
        v->reader->model->equilibrium = json_is_true(v->json);
        return;
    }
    if (json_is_boolean(v->json) && bg_text_calc_distance(v->key, "equilibrium") < 4) {
        bg_value_fail(v, "is not a known key; did you mean 'equilibrium'?");
        return;
    }
    int joint = bg_value_find(v, BG_NAME_JOINT, v->key);
    if (joint >= 0) {
        bg_read_start(v, joint);
        for (int c = 0; c < BG_JOINT_COORDINATES && v->reader->status == BG_OK; c++)
            v->reader->model->joints[joint].start[c].in_section = true;
    } else {
        bg_value_fail(v, "is a relation between joints and has no coordinates of its own");
    }
}

void bg_read_initial(const bg_value *top)
{
    bg_value section, v; /* what the model says goes last, as it knows better than a part */
    for (int k = 0; bg_reader_next_section(top->reader, "initial", true, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            read_one(&v);
}

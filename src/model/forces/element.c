#include "model/forces/element.h"

#include <string.h>

bg_vec3 bg_element_find_place(const bg_model *model, const bg_marker *m)
{
    return bg_frame_apply(&model->bodies[m->body].pose, m->frame.r);
}

void bg_element_read_bodies(const bg_value *object, int body[2])
{
    const bg_value list = bg_value_member(object, "bodies");
    const bool good = bg_value_expect_list(&list, 2);
    for (int k = 0; k < 2; k++) {
        const bg_value v = bg_value_element(&list, k);
        body[k] = 0;
        if (!good || !bg_value_expect_text(&v))
            continue;
        body[k] = bg_value_find(&v, BG_NAME_BODY, json_string_value(v.json));
        if (v.reader->status == BG_OK)
            v.reader->body_attached[body[k]] = true;
    }
    if (object->reader->status == BG_OK && body[0] == body[1])
        bg_value_fail(&list, "must name two different bodies");
}

static bg_coordinate read_coordinate(const bg_value *object, int *joint_of, int *index)
{
    const bg_reader *reader = object->reader;
    const int joint = bg_value_joint(object, "joint");
    const char *name = bg_value_text_or(object, "coordinate", NULL);
    const bg_value v = bg_value_member(object, name ? "coordinate" : "joint");
    const int k = reader->status == BG_OK ? bg_read_coordinate(&v, joint, name) : 0;
    if (reader->status != BG_OK)
        return (bg_coordinate){.turns = -1};
    const bg_joint *j = &reader->model->joints[joint];
    *joint_of = joint;
    *index = k;
    return (bg_coordinate){.kind = j->class_->coordinate[k].kind,
                           .axis = j->class_->coordinate[k].axis,
                           .a = j->a,
                           .b = j->b,
                           .turns = -1};
}

bg_coordinate bg_element_read_coordinate(const bg_value *object)
{
    int joint, index;
    return read_coordinate(object, &joint, &index);
}

bg_coordinate bg_element_read_drive(const bg_value *object, bg_force *f)
{
    return read_coordinate(object, &f->joint, &f->coordinate);
}

/* A wrench into a column of one of the blocks. */
static void store_column(const bg_wrench *x, double *column)
{
    column[0 * BG_FORCE_COLUMNS] = x->f.x;
    column[1 * BG_FORCE_COLUMNS] = x->f.y;
    column[2 * BG_FORCE_COLUMNS] = x->f.z;
    column[3 * BG_FORCE_COLUMNS] = x->n.x;
    column[4 * BG_FORCE_COLUMNS] = x->n.y;
    column[5 * BG_FORCE_COLUMNS] = x->n.z;
}

void bg_element_calc_derivatives(bg_tangent *tangent, const void *context, const int *body,
                                 int nbodies, int nz, bg_force_derivatives *out)
{
    bg_variation d[BG_FORCE_BODIES];
    memset(d, 0, sizeof d);
    memset(out->wrench_z, 0, sizeof out->wrench_z);
    memset(out->h_pose, 0, sizeof out->h_pose);
    memset(out->h_twist, 0, sizeof out->h_twist);
    memset(out->h_z, 0, sizeof out->h_z);
    out->nbodies = nbodies;
    for (int k = 0; k < nbodies; k++)
        out->body[k] = body[k];
    for (int k = 0; k < nbodies; k++) {
        for (int c = 0; c < 12; c++) {
            bg_wrench dwrench[BG_FORCE_BODIES];
            double dh[BG_FORCE_STATES] = {0};
            const int column = 6 * k + c % 6;
            double(*W)[BG_FORCE_COLUMNS] = c < 6 ? out->wrench_pose : out->wrench_twist;
            double(*H)[BG_FORCE_COLUMNS] = c < 6 ? out->h_pose : out->h_twist;
            memset(dwrench, 0, (size_t)nbodies * sizeof *dwrench);
            d[k] = bg_variation_of_unit(c);
            if (body[k] != 0) /* the ground does not move */
                tangent(context, d, dwrench, dh);
            for (int i = 0; i < nbodies; i++)
                store_column(&dwrench[i], &W[6 * i][column]);
            for (int i = 0; i < nz; i++)
                H[i][column] = dh[i];
        }
        d[k] = (bg_variation){0};
    }
}

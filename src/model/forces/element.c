#include "model/forces/element.h"

#include <stdlib.h>
#include <string.h>

void bg_element_free(bg_force *f)
{
    free(f->self);
    f->self = NULL;
}

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
    bg_read_refuse_cardan(&v, &reader->model->joints[joint], k, "driven or controlled");
    *joint_of = joint;
    *index = k;
    return bg_joint_get_coordinate(&reader->model->joints[joint], k);
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

void bg_element_store_column(const bg_wrench *x, double *column)
{
    column[0 * BG_FORCE_COLUMNS] = x->f.x;
    column[1 * BG_FORCE_COLUMNS] = x->f.y;
    column[2 * BG_FORCE_COLUMNS] = x->f.z;
    column[3 * BG_FORCE_COLUMNS] = x->n.x;
    column[4 * BG_FORCE_COLUMNS] = x->n.y;
    column[5 * BG_FORCE_COLUMNS] = x->n.z;
}

void bg_element_clear(const int *body, int nbodies, bg_force_derivatives *out)
{
    memset(out->wrench_z, 0, sizeof out->wrench_z);
    memset(out->h_pose, 0, sizeof out->h_pose);
    memset(out->h_twist, 0, sizeof out->h_twist);
    memset(out->h_z, 0, sizeof out->h_z);
    for (int i = 0; i < 6 * nbodies; i++)
        for (int j = 0; j < 6 * nbodies; j++)
            out->wrench_pose[i][j] = out->wrench_twist[i][j] = 0;
    out->nbodies = nbodies;
    for (int k = 0; k < nbodies; k++)
        out->body[k] = body[k];
}

void bg_element_calc_columns(bg_tangent *tangent, const void *context, int k, int from, int to,
                             int nz, bg_force_derivatives *out)
{
    bg_variation d[BG_FORCE_BODIES];
    memset(d, 0, (size_t)out->nbodies * sizeof *d);
    for (int c = from; c < to; c++) {
        bg_wrench dwrench[BG_FORCE_BODIES];
        double dh[BG_FORCE_STATES] = {0};
        const int column = 6 * k + c % 6;
        double(*W)[BG_FORCE_COLUMNS] = c < 6 ? out->wrench_pose : out->wrench_twist;
        double(*H)[BG_FORCE_COLUMNS] = c < 6 ? out->h_pose : out->h_twist;
        memset(dwrench, 0, (size_t)out->nbodies * sizeof *dwrench);
        d[k] = bg_variation_of_unit(c);
        if (out->body[k] != 0) /* the ground does not move */
            tangent(context, d, dwrench, dh);
        for (int i = 0; i < out->nbodies; i++)
            bg_element_store_column(&dwrench[i], &W[6 * i][column]);
        for (int i = 0; i < nz; i++)
            H[i][column] = dh[i];
    }
}

void bg_element_calc_derivatives(bg_tangent *tangent, const void *context, const int *body,
                                 int nbodies, int nz, bg_force_derivatives *out)
{
    bg_element_clear(body, nbodies, out);
    for (int k = 0; k < nbodies; k++)
        bg_element_calc_columns(tangent, context, k, 0, 12, nz, out);
}

/* Nothing changes when both bodies move alike, and everything turns with them when they are turned
 * alike. So, with d = r_b - r_a, u = v_b - v_a, a row (P, T, V, O) by dr, dtheta, v and w of b has
 *     P_a = -P,   V_a = -V,   O_a = -(O + d x V),
 *     T_a = -(T + d x P + u x V + w_b x O + w_a x O_a) + X x e_i
 * by those of a, where the row is that of component i of a force or torque X. */
void bg_element_calc_pair_derivatives(bg_tangent *tangent, const void *context, const int body[2],
                                      const bg_world *w, const bg_wrench on[2], bool by_twist,
                                      bg_force_derivatives *out)
{
    if (body[0] == 0 || body[1] == 0) {
        bg_element_calc_derivatives(tangent, context, body, 2, 0, out);
        return;
    }
    const bg_body_state *A = &w->body[body[0]], *B = &w->body[body[1]];
    const bg_vec3 d = bg_sub(B->r, A->r), u = bg_sub(B->v, A->v);
    const bg_vec3 X[4] = {on[0].f, on[0].n, on[1].f, on[1].n};
    bg_element_clear(body, 2, out);
    bg_element_calc_columns(tangent, context, 1, 0, by_twist ? 12 : 6, 0, out);
    for (int row = 0; row < 12; row++) {
        double *pose = out->wrench_pose[row], *twist = out->wrench_twist[row];
        const bg_vec3 P = bg_vec3_load(pose + 6), T = bg_vec3_load(pose + 9);
        const bg_vec3 V = bg_vec3_load(twist + 6), O = bg_vec3_load(twist + 9);
        const bg_vec3 e = {row % 3 == 0, row % 3 == 1, row % 3 == 2};
        const bg_vec3 O_a = bg_scale(-1, bg_add(O, bg_cross(d, V)));
        bg_vec3 turned = bg_add(bg_add(T, bg_cross(d, P)), bg_cross(u, V));
        turned = bg_add(turned, bg_add(bg_cross(B->w, O), bg_cross(A->w, O_a)));
        bg_vec3_store(bg_scale(-1, P), pose);
        bg_vec3_store(bg_sub(bg_cross(X[row / 3], e), turned), pose + 3);
        bg_vec3_store(bg_scale(-1, V), twist);
        bg_vec3_store(O_a, twist + 3);
    }
}

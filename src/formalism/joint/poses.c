/* Coordinates and rates of the tree from poses and twists of all bodies.
 *
 * From the ground outwards: where the parent is right, the child's pose misses its own by a
 * displacement d and a rotation vector phi, and the coordinates of the joint between them change by
 * the least-squares solution of sum S delta = (phi, d) about the common point; repeated (Newton),
 * with at most half a radian at once. The rates are the solution for what is left of the child's
 * twist. Links that follow signals are where these are. */
#include "formalism/joint/joint_form.h"
#include "formalism/wishes.h"
#include "linalg/levels.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 50 };

static int count(const bg_joint_form *f, const bg_tree_joint *t)
{
    int n = 0;
    for (int k = t->first; k < t->first + t->count; k++)
        n += f->mech->links[k].nv;
    return n;
}

/* The rotation vector of A B^T. */
static bg_vec3 calc_turn(const bg_mat3 *A, const bg_mat3 *B)
{
    bg_mat3 T = bg_mat3_transpose(B), R = bg_mat3_multiply(A, &T);
    bg_quat p = bg_quat_from_rotation(&R);
    bg_vec3 axis = bg_vec3_make(p.x, p.y, p.z);
    double s = bg_length(axis), angle = 2 * atan2(s, p.w);
    if (p.w < 0)
        angle = -2 * atan2(s, -p.w);
    return s > 0 ? bg_scale(angle / s, axis) : axis;
}

/* x[of a tree joint's coordinates] <- argmin |sum S x - V|, lengths in the model's. */
static bg_status solve(const bg_joint_form *f, const bg_tree_joint *t, bg_spatial V, double *x,
                       bg_error *err)
{
    static const double units[6] = {1, 1, 1, 1, 1, 1};
    double A[36], b[6], length = f->mb.wishes->length;
    int n = count(f, t), first = f->mech->links[t->first].v;
    bg_levels *levels;
    bg_status st = bg_levels_create(n, units, &levels, err);
    if (st != BG_OK)
        return st;
    for (int column = 0; column < n; column++) {
        double entry[6];
        bg_vec3_store(bg_scale(length, f->S[first + column].w), entry);
        bg_vec3_store(f->S[first + column].v, entry + 3);
        for (int i = 0; i < 6; i++)
            A[i * n + column] = entry[i];
    }
    bg_vec3_store(bg_scale(length, V.w), b);
    bg_vec3_store(V.v, b + 3);
    st = bg_levels_add(levels, 6, A, b, 1e-8, 0, err);
    memcpy(x, bg_levels_get_x(levels), (size_t)n * sizeof *x);
    bg_levels_destroy(levels);
    return st;
}

static void move(const bg_joint_form *f, const bg_tree_joint *t, const double *x, double *q)
{
    int first = f->mech->links[t->first].v;
    for (int k = t->first; k < t->first + t->count; k++) {
        const bg_link *l = &f->mech->links[k];
        const double *d = x + (l->v - first);
        double *p = q + l->q;
        if (l->signal >= 0)
            continue;
        if (l->kind != BG_LINK_BALL) {
            p[0] += d[0];
            continue;
        }
        bg_quat now = {p[0], p[1], p[2], p[3]};
        bg_quat more = {1, 0.5 * d[0], 0.5 * d[1], 0.5 * d[2]}; /* p' = 1/2 p (0, w) */
        bg_quat next = bg_quat_normalise(bg_quat_multiply(now, more));
        p[0] = next.w, p[1] = next.x, p[2] = next.y, p[3] = next.z;
    }
}

/* From the common point, the twist that takes the child where it belongs; its size. */
static bg_spatial calc_missing(const bg_joint_form *f, int body, const bg_body_state *pose,
                               double *size)
{
    const bg_body_state *now = &f->mb.body[body];
    bg_vec3 d = bg_sub(pose->r, now->r), turn = calc_turn(&pose->R, &now->R);
    *size = fmax(bg_length(turn), bg_length(d) / f->mb.wishes->length);
    return (bg_spatial){turn, bg_sub(d, bg_cross(turn, bg_sub(now->r, f->c)))};
}

static bg_status place(bg_joint_form *f, const bg_tree_joint *t, const bg_body_state *pose,
                       double *q, bg_error *err)
{
    double x[6] = {0}, size = HUGE_VAL, before;
    for (int k = 0; k < ITERATIONS; k++) {
        bg_joint_update_position(f, q);
        before = size;
        bg_spatial missing = calc_missing(f, t->child, pose, &size);
        if (count(f, t) == 0 || (size <= 1e-9 && (size <= 1e-15 || size > 0.5 * before)))
            break;
        bg_status st = solve(f, t, missing, x, err);
        if (st != BG_OK)
            return st;
        for (int i = 0; i < 6 && size > 0.5; i++)
            x[i] *= 0.5 / size;
        move(f, t, x, q);
    }
    return size <= 1e-9 ? BG_OK
                        : bg_error_set(err, BG_NOT_CONVERGED, "no coordinates for a pose of '%s'",
                                       f->mb.model->bodies[t->child].name);
}

static bg_status set_rates(bg_joint_form *f, const bg_tree_joint *t, const bg_body_state *pose,
                           double *v, bg_error *err)
{
    const bg_body_state *now = &f->mb.body[t->child];
    if (count(f, t) == 0)
        return BG_OK;
    bg_joint_update_velocity(f, v);
    bg_vec3 w = bg_sub(pose->w, now->w), u = bg_sub(pose->v, now->v);
    bg_spatial missing = {w, bg_sub(u, bg_cross(w, bg_sub(now->r, f->c)))};
    return solve(f, t, missing, v + f->mech->links[t->first].v, err);
}

/* The rotation of marker b against a, which the quaternion of a ball is. */
static void measure_ball(const bg_world *w, const bg_joint *j, double *p)
{
    bg_mat3 A = bg_marker_get_axes(w, &j->a), B = bg_marker_get_axes(w, &j->b);
    bg_mat3 At = bg_mat3_transpose(&A), R = bg_mat3_multiply(&At, &B);
    bg_quat turn = bg_quat_from_rotation(&R);
    p[0] = turn.w, p[1] = turn.x, p[2] = turn.y, p[3] = turn.z;
}

/* q of a joint of the model as it is measured at the poses, angles in the turn at hand: where
 * Newton begins. */
static void measure(const bg_joint_form *f, const bg_tree_joint *t, const bg_body_state *pose,
                    double *q)
{
    const bg_joint *j = &f->mb.model->joints[t->joint];
    const bg_world w = {.body = pose};
    for (int c = 0; c < j->class_->ncoordinates; c++) {
        bg_coordinate x = bg_multibody_get_coordinate(f->mb.model, t->joint, c);
        const bg_link *l = &f->mech->links[bg_mechanism_find_link(f->mech, t->joint, c)];
        if (l->signal >= 0)
            continue;
        bool screw = l->kind == BG_LINK_SCREW && j->pitch != 0; /* tells its turns by its slide */
        if (screw)
            x = (bg_coordinate){
                .kind = BG_COORDINATE_SLIDE, .axis = 2, .a = j->a, .b = j->b, .turns = -1};
        double value = bg_coordinate_calc(&w, &x);
        if (x.kind == BG_COORDINATE_SLIDE)
            q[l->q] = screw ? value / j->pitch : value;
        else
            q[l->q] += remainder(value - q[l->q], 8 * atan(1.0));
    }
    for (int k = t->first; k < t->first + t->count; k++)
        if (f->mech->links[k].kind == BG_LINK_BALL)
            measure_ball(&w, j, q + f->mech->links[k].q);
}

bg_status bg_joint_take_poses(bg_joint_form *f, const bg_body_state *pose, double *q, double *v,
                              bg_error *err)
{
    bg_status st = BG_OK;
    for (int k = 0; k < f->mech->ntree; k++)
        if (f->mech->tree[k].joint >= 0)
            measure(f, &f->mech->tree[k], pose, q);
    for (int k = 0; k < f->mech->ntree && st == BG_OK; k++)
        st = place(f, &f->mech->tree[k], &pose[f->mech->tree[k].child], q, err);
    if (st != BG_OK)
        return st;
    bg_joint_update_position(f, q);
    memset(v, 0, (size_t)f->nv * sizeof *v);
    for (int k = 0; k < f->mech->ntree && st == BG_OK; k++)
        st = set_rates(f, &f->mech->tree[k], &pose[f->mech->tree[k].child], v, err);
    return st;
}

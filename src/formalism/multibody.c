/* Bodies, forces, constraint rows and outputs on body level. */
#include "formalism/multibody.h"

#include "formalism/sizes.h"

#include "formalism/wishes.h"
#include "model/axes.h"
#include "model/forces/law.h"
#include "model/review.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_coordinate bg_multibody_get_coordinate(const bg_model *m, int joint, int k)
{
    return bg_joint_get_coordinate(&m->joints[joint], k);
}

static bool is_free(const bool *in_tree, int joint)
{
    return !in_tree || !in_tree[joint];
}

static bool is_screw(const bg_joint *j)
{
    return j->class_->nlinks == 1 && j->class_->link[0].kind == BG_LINK_SCREW;
}

/* Angles that force laws follow have states of the model. */
static void add_angles(bg_multibody *mb)
{
    for (int k = 0; k < mb->model->nangles; k++) {
        const bg_followed_angle *x = &mb->model->angles[k];
        bg_coordinate c = bg_multibody_get_coordinate(mb->model, x->joint, x->coordinate);
        c.turns = x->z;
        mb->z0[x->z] = mb->model->joints[x->joint].start[x->coordinate].q;
        mb->turns[mb->nturns++] = (bg_turn){c, x->z, x->joint, x->coordinate};
    }
}

/* Gives an angle a state that follows it through full turns. */
static void follow(bg_multibody *mb, bg_coordinate *c, int joint, int index)
{
    if (c->kind == BG_COORDINATE_SLIDE)
        return;
    for (int k = 0; k < mb->nturns; k++)
        if (mb->turns[k].joint == joint && mb->turns[k].index == index) {
            c->turns = mb->turns[k].z;
            return;
        }
    c->turns = mb->nz;
    mb->z0[mb->nz] = mb->model->joints[joint].start[index].q;
    mb->turns[mb->nturns++] = (bg_turn){*c, mb->nz++, joint, index};
}

static bg_row_group *add_group(bg_multibody *mb, bg_primitive_kind kind)
{
    bg_row_group *g = &mb->groups[mb->ngroups++];
    *g = (bg_row_group){.primitive = {.kind = kind, .signal = -1},
                        .row = mb->nrows,
                        .driven = -1,
                        .coupler = -1,
                        .contact = -1};
    for (int k = 0; k < BG_RELATION_MAX; k++)
        g->joint[k] = -1;
    mb->nrows += bg_primitive_get_rows(&g->primitive);
    return g;
}

static void add_term(bg_multibody *mb, bg_row_group *g, int joint, int coordinate, double factor)
{
    bg_primitive *p = &g->primitive;
    p->coordinate[p->n] = bg_multibody_get_coordinate(mb->model, joint, coordinate);
    p->factor[p->n] = factor;
    g->joint[p->n] = joint;
    follow(mb, &p->coordinate[p->n], joint, coordinate);
    p->n++;
}

static bg_marker turn_marker(const bg_model *m, bg_marker x, const bg_mat3 *axes)
{
    bg_mat3 back = bg_mat3_transpose(&m->bodies[x.body].pose.R);
    x.frame.R = bg_mat3_multiply(&back, axes);
    return x;
}

static void add_joint_rows(bg_multibody *mb, const bg_axes *choice, int joint)
{
    const bg_joint *j = &mb->model->joints[joint];
    bg_mat3 axes = bg_axes_choose(choice, joint);
    for (int k = 0; k < j->class_->nprimitives; k++) {
        bg_row_group *g = add_group(mb, j->class_->primitive[k].kind);
        g->primitive.a = turn_marker(mb->model, j->a, &axes);
        g->primitive.b = turn_marker(mb->model, j->b, &axes);
        g->primitive.axes = axes;
        g->primitive.i = j->class_->primitive[k].i;
        g->primitive.j = j->class_->primitive[k].j;
        g->primitive.length = j->length;
        g->joint[0] = joint;
    }
    if (is_screw(j)) { /* slide = pitch angle */
        bg_row_group *g = add_group(mb, BG_PRIMITIVE_RELATION);
        add_term(mb, g, joint, 0, -j->pitch);
        g->primitive.coordinate[1] = (bg_coordinate){
            .kind = BG_COORDINATE_SLIDE, .axis = 2, .a = j->a, .b = j->b, .turns = -1};
        g->primitive.factor[1] = 1;
        g->joint[1] = joint;
        g->primitive.n = 2;
    }
}

static void add_rows(bg_multibody *mb, const bg_axes *axes, const bool *in_tree)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->njoints; k++)
        if (is_free(in_tree, k))
            add_joint_rows(mb, axes, k);
    for (int k = 0; k < m->njoints; k++)
        for (int c = 0; c < m->joints[k].class_->ncoordinates && is_free(in_tree, k); c++)
            if (m->joints[k].start[c].signal >= 0) {
                bg_row_group *g = add_group(mb, BG_PRIMITIVE_RELATION);
                g->primitive.signal = m->joints[k].start[c].signal;
                g->driven = c;
                add_term(mb, g, k, c, 1.0);
            }
    for (int k = 0; k < m->ncouplers; k++) {
        const bg_coupler *x = &m->couplers[k];
        bool any = false;
        for (int i = 0; i < x->n; i++)
            any = any || is_free(in_tree, x->joint[i]);
        if (!any)
            continue;
        bg_row_group *g = add_group(mb, BG_PRIMITIVE_RELATION);
        g->primitive.offset = x->offset;
        g->coupler = k;
        for (int i = 0; i < x->n; i++)
            add_term(mb, g, x->joint[i], x->coordinate[i], x->factor[i]);
    }
    mb->first_contact = mb->nrows;
    for (int k = 0; k < m->ncontacts; k++) {
        bg_row_group *g = add_group(mb, BG_PRIMITIVE_CONTACT);
        g->primitive.a = m->contacts[k].a;
        g->primitive.b = m->contacts[k].b;
        g->primitive.contact = g->contact = k;
    }
}

/* Which rows carry forces of a joint, and along which axes. */
static void find_joint_rows(bg_multibody *mb)
{
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_row_group *g = &mb->groups[k];
        const bg_primitive *p = &g->primitive;
        const bool point = p->kind == BG_PRIMITIVE_POINT;
        if (!point && p->kind != BG_PRIMITIVE_DOT2)
            continue;
        bg_joint_rows *x = &mb->joint_rows[g->joint[0]];
        x->body = point ? 0 : p->a.body;
        for (int i = 0; i < (point ? 3 : 1) && x->n < 3; i++) {
            x->axis[x->n] = point ? bg_axis(&p->axes, i) : bg_axis(&p->a.frame.R, p->i);
            x->row[x->n++] = g->row + i;
        }
    }
}

int bg_multibody_count_corners(const bg_model *m)
{
    int n = 0;
    for (int k = 0; k < m->nsignals; k++)
        n += bg_signal_count_corners(&m->signals[k]);
    return n;
}

/* What stays as it is. */
static void list_constants(void *object, bg_arena *arena)
{
    bg_multibody *mb = object;
    const bg_model *m = mb->model;
    int relations = m->ncouplers + m->ncontacts,
        angles = 3 * m->ncouplers + m->noutputs + m->nangles;
    for (int k = 0; k < m->njoints; k++) {
        relations += m->joints[k].class_->nprimitives + BG_JOINT_COORDINATES + 1;
        angles += BG_JOINT_COORDINATES + 1;
    }
    int corners = bg_multibody_count_corners(m), states = m->nz + angles;
    int names = m->ns + corners + m->nwatches + states;
    BG_TAKE(arena, mb->reach, m->nbodies);
    BG_TAKE(arena, mb->groups, relations);
    BG_TAKE(arena, mb->joint_rows, m->njoints);
    BG_TAKE(arena, mb->turns, angles);
    BG_TAKE(arena, mb->corners, corners);
    BG_TAKE(arena, mb->z0, m->nz + angles);
    BG_TAKE(arena, mb->mode0, m->nmode + m->nsignals);
    BG_TAKE(arena, mb->signal_mode, m->nsignals);
    BG_TAKE(arena, mb->z_names, states);
    BG_TAKE(arena, mb->s_names, names);
    BG_TAKE(arena, mb->y_names, m->noutputs);
    BG_TAKE(arena, mb->y_units, m->noutputs);
    BG_TAKE(arena, mb->z_units, states);
    BG_TAKE(arena, mb->u_units, m->nsignals);
    BG_TAKE(arena, mb->filters, m->noutputs);
    BG_TAKE(arena, mb->u_names, m->nsignals);
    BG_TAKE(arena, mb->u_followed, m->nsignals);
    BG_TAKE(arena, mb->names, names);
    BG_TAKE(arena, mb->s_rises, names);
    BG_TAKE(arena, mb->s_falls, names);
    BG_TAKE(arena, mb->s_touches, names);
    BG_TAKE(arena, mb->sentences, 3 * (m->ns + m->nwatches) + corners);
}

void bg_multibody_take_scratch(bg_multibody *mb, bg_arena *arena)
{
    const bg_model *m = mb->model;
    BG_TAKE(arena, mb->body, mb->nbodies);
    BG_TAKE(arena, mb->acceleration, mb->nbodies);
    BG_TAKE(arena, mb->wrench, mb->nbodies);
    BG_TAKE(arena, mb->through, m->njoints);
    BG_TAKE(arena, mb->values, m->noutputs + 1);
    BG_TAKE(arena, mb->u, 3 * m->nsignals);
    BG_TAKE(arena, mb->shifted.u, m->nsignals);
    BG_TAKE(arena, mb->shifted.h, m->nsignals > 0 ? 2 * mb->nz : 0);
    BG_TAKE(arena, mb->shifted.wrench, m->nsignals > 0 ? mb->nbodies : 0);
    BG_TAKE(arena, mb->live, m->nsignals);
    BG_TAKE(arena, mb->signals, 3 * m->nsignals);
    BG_TAKE(arena, mb->signals_piece, m->nsignals);
    BG_TAKE(arena, mb->contact_state, m->ncontacts);
    BG_TAKE(arena, mb->measured, 3 * (m->noutputs + 1));
    BG_TAKE(arena, mb->memo, m->nforces);
    for (int k = 0; k < m->nforces; k++) {
        size_t size = m->forces[k].class_->memo_size;
        void *room = size > 0 ? bg_arena_take(arena, 1, size) : NULL;
        if (mb->memo)
            mb->memo[k] = room;
    }
}

bg_status bg_multibody_create(const bg_model *m, const bool *in_tree, bg_multibody *mb,
                              bg_error *err)
{
    mb->model = m;
    mb->nbodies = m->nbodies;
    mb->origin = bg_model_find_middle(m);
    mb->nz = m->nz;
    mb->nmode = m->nmode;
    mb->ny = m->noutputs;
    if (!bg_arena_create(&mb->arena, list_constants, mb))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", m->name);
    bg_axes axes;
    bg_status st = bg_axes_create(m, &axes, err);
    if (st != BG_OK)
        return st;
    bg_sizes_calc_bodies(m, mb->reach);
    add_angles(mb);
    add_rows(mb, &axes, in_tree);
    bg_axes_clear(&axes);
    find_joint_rows(mb);
    for (int k = 0; k < m->noutputs; k++)
        if (m->outputs[k].kind == BG_OUTPUT_COORDINATE && is_free(in_tree, m->outputs[k].index)) {
            bg_coordinate c = bg_multibody_get_coordinate(m, m->outputs[k].index,
                                                          m->outputs[k].coordinate);
            follow(mb, &c, m->outputs[k].index, m->outputs[k].coordinate);
        }
    bg_multibody_name(mb);
    mb->ns = m->ns + mb->ncorners + m->nwatches;
    return bg_wishes_create(m, &mb->wishes, err);
}

void bg_multibody_clear(bg_multibody *mb)
{
    bg_wishes_destroy(mb->wishes);
    free(mb->rates.start);
    free(mb->rates.body);
    free(mb->rates.z_start);
    free(mb->rates.z_column);
    bg_arena_clear(&mb->arena);
}

void bg_multibody_set_lambda(bg_multibody *mb, const double *lambda)
{
    const bool any = lambda && mb->model->ncontacts > 0;
    mb->world.contact_force = any ? lambda + mb->first_contact : NULL;
    mb->world.lambda = mb->model->of_reactions ? lambda : NULL;
}

void bg_multibody_set_point(bg_multibody *mb, const bg_point *p)
{
    mb->world.t = p->t;
    mb->world.u = p->u;
    mb->world.u_t = p->u_t;
    mb->world.u_tt = p->u_tt;
    mb->world.z = p->z;
    mb->world.mode = p->mode;
    bg_multibody_set_lambda(mb, p->lambda);
}

static void apply(bg_multibody *mb, const int *left_out)
{
    const bg_model *m = mb->model;
    for (int b = 0; b < mb->nbodies; b++)
        mb->wrench[b] = (bg_wrench){bg_scale(b > 0 ? m->bodies[b].mass : 0.0, m->gravity),
                                    {0, 0, 0}};
    for (int k = 0; k < m->nforces; k++)
        if (!left_out || left_out[k] < 0)
            m->forces[k].class_->apply(&m->forces[k], &mb->world, mb->wrench);
}

void bg_multibody_apply_forces(bg_multibody *mb)
{
    apply(mb, NULL);
}

void bg_multibody_apply_wrenches(bg_multibody *mb)
{
    apply(mb, mb->driven);
}

static void add_row(bg_wrench *x, const double *J, double factor)
{
    x->f = bg_add_scaled(x->f, factor, bg_vec3_load(J));
    x->n = bg_add_scaled(x->n, factor, bg_vec3_load(J + 3));
}

int bg_row_group_count_pairs(const bg_row_group *g)
{
    return g->primitive.kind == BG_PRIMITIVE_RELATION ? g->primitive.n : 1;
}

void bg_row_group_get_pair(const bg_row_group *g, int k, int *a, int *b)
{
    const bg_primitive *p = &g->primitive;
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    *a = relation ? p->coordinate[k].a.body : p->a.body;
    *b = relation ? p->coordinate[k].b.body : p->b.body;
}

void bg_multibody_apply_reaction(bg_multibody *mb, int group, const double *lambda)
{
    const bg_row_group *g = &mb->groups[group];
    const bg_primitive *p = &g->primitive;
    double J[36];
    bg_primitive_calc_jacobian(&mb->world, p, J);
    int blocks = p->kind == BG_PRIMITIVE_RELATION ? p->n : bg_primitive_get_rows(p);
    for (int i = 0; i < blocks; i++) {
        int a, b;
        double l = lambda[g->row + (p->kind == BG_PRIMITIVE_RELATION ? 0 : i)];
        bg_row_group_get_pair(g, i, &a, &b);
        add_row(&mb->wrench[a], J + 12 * i, -l);
        add_row(&mb->wrench[b], J + 12 * i + 6, -l);
    }
}

void bg_multibody_apply_reactions(bg_multibody *mb, const double *lambda)
{
    for (int k = 0; k < mb->ngroups; k++)
        bg_multibody_apply_reaction(mb, k, lambda);
}

void bg_multibody_calc_g(bg_multibody *mb, double *g)
{
    for (int k = 0; k < mb->ngroups; k++)
        bg_primitive_calc(&mb->world, &mb->groups[k].primitive, g + mb->groups[k].row);
}

void bg_multibody_calc_gt(bg_multibody *mb, double *gt)
{
    memset(gt, 0, (size_t)mb->nrows * sizeof(double));
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_primitive *p = &mb->groups[k].primitive;
        if (p->kind == BG_PRIMITIVE_RELATION && p->signal >= 0)
            gt[mb->groups[k].row] = -mb->world.u_t[p->signal];
    }
}

static double calc_part(const bg_body_acceleration *x, const double *J)
{
    return bg_dot(bg_vec3_load(J), x->v) + bg_dot(bg_vec3_load(J + 3), x->w);
}

void bg_multibody_calc_group_gamma(bg_multibody *mb, int group, double *gamma)
{
    double J[36];
    const bg_row_group *g = &mb->groups[group];
    const bg_primitive *p = &g->primitive;
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    int blocks = relation ? p->n : bg_primitive_get_rows(p);
    bg_primitive_calc_gamma(&mb->world, p, gamma + g->row);
    bg_primitive_calc_jacobian(&mb->world, p, J);
    for (int i = 0; i < blocks; i++) {
        int a, b;
        bg_row_group_get_pair(g, i, &a, &b);
        gamma[g->row + (relation ? 0 : i)] += calc_part(&mb->acceleration[a], J + 12 * i) +
                                              calc_part(&mb->acceleration[b], J + 12 * i + 6);
    }
}

void bg_multibody_calc_gamma(bg_multibody *mb, double *gamma)
{
    for (int k = 0; k < mb->ngroups; k++)
        bg_multibody_calc_group_gamma(mb, k, gamma);
}

void bg_multibody_name_row(const bg_multibody *mb, int group, int row, char *text, size_t size)
{
    const bg_row_group *g = &mb->groups[group];
    const bg_model *m = mb->model;
    if (g->contact >= 0) {
        snprintf(text, size, "%.50s", m->contacts[g->contact].name);
        return;
    }
    const bg_joint *j = &m->joints[g->joint[0]];
    int first = group;
    while (first > 0 && mb->groups[first - 1].joint[0] == g->joint[0])
        first--;
    if (g->coupler >= 0)
        snprintf(text, size, "%.50s", m->couplers[g->coupler].name);
    else if (g->driven >= 0)
        snprintf(text, size, "%.40s.%s.drive", j->name, j->class_->coordinate[g->driven].name);
    else if (bg_joint_class_count_rows(j->class_) == 1)
        snprintf(text, size, "%.50s", j->name);
    else
        snprintf(text, size, "%.50s.%d", j->name, g->row + row - mb->groups[first].row + 1);
}

void bg_multibody_calc_rates(bg_multibody *mb, double *z_t)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].nz > 0)
            m->forces[k].class_->rates(&m->forces[k], &mb->world, z_t + m->forces[k].z0);
    for (int k = 0; k < mb->nturns; k++)
        z_t[mb->turns[k].z] = bg_coordinate_calc_rate(&mb->world, &mb->turns[k].coordinate);
}

void bg_multibody_calc_switching(bg_multibody *mb, double *s)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].ns > 0)
            m->forces[k].class_->switching(&m->forces[k], &mb->world, s + m->forces[k].s0);
    for (int k = 0; k < mb->ncorners; k++) {
        const bg_corner *c = &mb->corners[k];
        s[m->ns + k] = isnan(c->t)
                           ? bg_signal_calc_side(&m->signals[c->signal], c->index, mb->world.t)
                           : mb->world.t - c->t;
    }
    for (int k = 0; k < m->nwatches; k++)
        s[m->ns + mb->ncorners + k] = bg_law_calc(m->watches[k].law, &mb->world, NULL);
}

static void add_energies(bg_multibody *mb, bg_energy *out)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].class_->energy)
            m->forces[k].class_->energy(&m->forces[k], &mb->world, out);
}

void bg_multibody_calc_energy(bg_multibody *mb, bg_energy *out)
{
    const bg_model *m = mb->model;
    *out = (bg_energy){0, 0, 0};
    for (int b = 1; b < mb->nbodies; b++) {
        const bg_body_state *x = &mb->body[b];
        bg_vec3 w = bg_rotate_back(&x->R, x->w);
        out->kinetic += 0.5 * m->bodies[b].mass * bg_dot(x->v, x->v) +
                        0.5 * bg_dot(w, bg_rotate(&m->bodies[b].inertia, w));
        out->potential -= m->bodies[b].mass *
                          bg_dot(m->gravity, bg_world_get_place(&mb->world, x->r));
    }
    add_energies(mb, out);
}

double bg_multibody_calc_power(bg_multibody *mb)
{
    bg_energy of_forces = {0, 0, 0};
    add_energies(mb, &of_forces);
    return of_forces.power;
}

bg_wrench bg_multibody_calc_reaction(bg_multibody *mb, int joint, const double *lambda)
{
    bg_wrench x = {{0, 0, 0}, {0, 0, 0}};
    double J[36];
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_row_group *g = &mb->groups[k];
        const bg_primitive *p = &g->primitive;
        bool relation = p->kind == BG_PRIMITIVE_RELATION;
        int blocks = relation ? p->n : bg_primitive_get_rows(p);
        bool ready = false;
        for (int i = 0; i < blocks; i++) {
            if (g->joint[relation ? i : 0] != joint)
                continue;
            if (!ready)
                bg_primitive_calc_jacobian(&mb->world, p, J);
            ready = true;
            add_row(&x, J + 12 * i + 6, -lambda[g->row + (relation ? 0 : i)]);
        }
    }
    if (mb->calc_tree_reaction)
        mb->calc_tree_reaction(mb, joint, lambda, &x);
    return x;
}

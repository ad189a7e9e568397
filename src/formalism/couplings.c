/* Derivatives on body level: of the force elements, and of the constraint rows. With K the change
 * of J^T lambda (model/primitive.h), lambda a unit vector gives that of one row of J:
 *   d(J nu) = nu^T K dpose + J dnu,
 *   d(gamma + J nu') = (d gamma/d pose + nu'^T K) dpose + (d gamma/d nu) dnu + J dnu'. */
#include "formalism/couplings.h"

#include "base/memory.h"
#include "model/cardan.h"

#include <stdlib.h>
#include <string.h>

/* The 6 x 6 blocks of a matrix with rows of `width` entries. */
static void copy_block(const double *from, int width, double factor, double to[6][6])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            to[i][j] = factor * from[i * width + j];
}

static void visit_couplings(const bg_force_derivatives *d, const bg_force_visit *v)
{
    double pose[6][6], twist[6][6];
    for (int i = 0; i < d->nbodies; i++)
        for (int j = 0; j < d->nbodies; j++) {
            if (d->body[i] == 0 || d->body[j] == 0)
                continue;
            copy_block(&d->wrench_pose[6 * i][6 * j], BG_FORCE_COLUMNS, 1, pose);
            copy_block(&d->wrench_twist[6 * i][6 * j], BG_FORCE_COLUMNS, 1, twist);
            v->coupling(v->coupling_self, d->body[i], d->body[j], pose, twist);
        }
}

static void visit_states(const bg_force *f, const bg_force_derivatives *d, const bg_force_visit *v)
{
    for (int i = 0; i < d->nbodies; i++)
        for (int z = 0; z < f->nz && d->body[i] != 0; z++) {
            double wrench[6];
            for (int c = 0; c < 6; c++)
                wrench[c] = d->wrench_z[6 * i + c][z];
            v->state(v->state_self, d->body[i], f->z0 + z, wrench);
        }
}

static void visit_rates(const bg_force *f, const bg_force_derivatives *d, const bg_force_visit *v)
{
    for (int z = 0; z < f->nz; z++)
        for (int j = 0; j < d->nbodies; j++) {
            bg_gradient x = {{0}, {0}, {0}};
            if (d->body[j] == 0)
                continue;
            memcpy(x.pose, &d->h_pose[z][6 * j], sizeof x.pose);
            memcpy(x.twist, &d->h_twist[z][6 * j], sizeof x.twist);
            v->rate(v->rate_self, f->z0 + z, d->body[j], &x);
        }
}

/* Rate of an angle of yaw, roll or pitch. */
static void visit_cardan(const bg_multibody *mb, const bg_turn *t, const bg_force_visit *v)
{
    const bg_coordinate *c = &t->coordinate;
    const bg_cardan x = bg_cardan_calc(&mb->world, c);
    const int body[2] = {c->a.body, c->b.body};
    const bg_vec3 axis[2] = {x.z, x.y}, by[2] = {x.by_z, x.by_y};
    for (int s = 0; s < 2; s++) {
        bg_gradient g = {{0}, {0}, {0}};
        if (body[s] == 0)
            continue;
        bg_vec3_store(bg_scale(s ? 1 : -1, x.n), g.twist + 3);
        bg_vec3_store(bg_cross(axis[s], by[s]), g.pose + 3);
        v->rate(v->rate_self, t->z, body[s], &g);
    }
}

/* Rate n . (w_b - w_a) of an angle whose axis n is fixed in one of the bodies. */
static void visit_turn(const bg_multibody *mb, const bg_turn *t, const bg_force_visit *v)
{
    const bg_coordinate *c = &t->coordinate;
    bool about_z = c->kind == BG_COORDINATE_ANGLE_Z;
    const bg_marker *carrier = about_z ? &c->a : &c->b;
    bg_mat3 axes = bg_marker_get_axes(&mb->world, carrier);
    bg_vec3 n = bg_axis(&axes, about_z ? 2 : 0);
    bg_vec3 w = bg_sub(mb->body[c->b.body].w, mb->body[c->a.body].w);
    const int body[2] = {c->a.body, c->b.body};
    for (int s = 0; s < 2; s++) {
        bg_gradient x = {{0}, {0}, {0}};
        if (body[s] == 0)
            continue;
        bg_vec3_store(bg_scale(s ? 1 : -1, n), x.twist + 3);
        if (body[s] == carrier->body)
            bg_vec3_store(bg_cross(n, w), x.pose + 3);
        v->rate(v->rate_self, t->z, body[s], &x);
    }
}

void bg_couplings_visit_forces(const bg_multibody *mb, const bg_force_visit *v)
{
    bg_force_derivatives d;
    for (int k = 0; k < mb->model->nforces; k++) {
        const bg_force *f = &mb->model->forces[k];
        bool coupling = v->coupling && (f->stiff || !v->only_stiff);
        if (mb->driven && mb->driven[k] >= 0)
            continue;
        if (!coupling && (f->nz == 0 || !(v->rate || v->state || v->h_z)))
            continue;
        f->class_->derivatives(f, &mb->world, &d);
        if (coupling)
            visit_couplings(&d, v);
        if (v->state)
            visit_states(f, &d, v);
        if (v->rate)
            visit_rates(f, &d, v);
        for (int i = 0; i < f->nz && v->h_z; i++)
            for (int j = 0; j < f->nz; j++)
                v->h_z[mb->rates.z_start[f->z0 + i] + j] = d.h_z[i][j];
    }
    for (int k = 0; k < mb->nturns && v->rate; k++) {
        if (bg_coordinate_is_cardan(&mb->turns[k].coordinate))
            visit_cardan(mb, &mb->turns[k], v);
        else
            visit_turn(mb, &mb->turns[k], v);
    }
}

void bg_couplings_visit_reactions(const bg_multibody *mb, const double *lambda,
                                  bg_visit_coupling *visit, void *self)
{
    double K[BG_RELATION_MAX][12][12], pose[6][6], none[6][6] = {{0}};
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_row_group *g = &mb->groups[k];
        int pairs = bg_row_group_count_pairs(g), body[2];
        bg_primitive_calc_stiffness(&mb->world, &g->primitive, lambda + g->row, K);
        for (int n = 0; n < pairs; n++) {
            bg_row_group_get_pair(g, n, &body[0], &body[1]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    if (body[i] == 0 || body[j] == 0)
                        continue;
                    copy_block(&K[n][6 * i][6 * j], 12, -1, pose);
                    visit(self, body[i], body[j], pose, none);
                }
        }
    }
}

void bg_couplings_visit_lambda(const bg_multibody *mb, bg_visit_lambda *visit, void *self)
{
    for (int k = 0; k < mb->model->nforces; k++) {
        const bg_force *f = &mb->model->forces[k];
        int contact;
        double wrench[6];
        bg_load_slope slope[BG_LOAD_SLOPES];
        const int n = f->class_->load_slopes ? f->class_->load_slopes(f, &mb->world, slope) : 0;
        for (int i = 0; i < n; i++)
            if (slope[i].body != 0)
                visit(self, slope[i].body, slope[i].row, slope[i].wrench);
        if (!f->class_->force_slope)
            continue;
        const int of = f->class_->force_slope(f, &mb->world, &contact, wrench);
        visit(self, of, mb->first_contact + contact, wrench);
    }
}

typedef struct pair_list {
    bg_body_pairs pairs;
    int capacity;
    bool failed;
} pair_list;

static void note_pair(pair_list *l, int of, int by)
{
    if (l->pairs.n == l->capacity) {
        int more = 2 * l->capacity + 16;
        void *grown = realloc(l->pairs.pair, (size_t)more * sizeof *l->pairs.pair);
        l->failed = l->failed || !grown;
        if (!grown)
            return;
        l->pairs.pair = grown;
        l->capacity = more;
    }
    int *pair = l->pairs.pair[l->pairs.n++];
    pair[0] = of;
    pair[1] = by;
}

static void add_pair(void *self, int of, int by, double pose[6][6], double twist[6][6])
{
    (void)pose, (void)twist;
    note_pair(self, of, by);
}

static void add_rate(void *self, int row, int by, const bg_gradient *gradient)
{
    (void)gradient;
    note_pair(self, row, by);
}

static void add_action(void *self, int of, int z, const double wrench[6])
{
    (void)wrench;
    note_pair(self, z, of);
}

static int compare_pairs(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* Ascending, without repetition. */
static void sort_pairs(bg_body_pairs *out)
{
    int n = 0;
    if (out->n > 0)
        qsort(out->pair, (size_t)out->n, sizeof *out->pair, compare_pairs);
    for (int k = 0; k < out->n; k++)
        if (n == 0 || compare_pairs(out->pair[k], out->pair[n - 1]) != 0)
            memmove(out->pair[n++], out->pair[k], sizeof *out->pair);
    out->n = n;
}

bool bg_couplings_list_pairs(const bg_multibody *mb, const double *lambda, bg_body_pairs *out)
{
    pair_list l = {0};
    bg_couplings_visit_forces(mb, &(bg_force_visit){.coupling = add_pair, .coupling_self = &l});
    bg_couplings_visit_reactions(mb, lambda, add_pair, &l);
    *out = l.pairs;
    sort_pairs(out);
    return !l.failed;
}

bool bg_couplings_list_actions(const bg_multibody *mb, bg_body_pairs *out)
{
    pair_list l = {0};
    bg_couplings_visit_forces(mb, &(bg_force_visit){.state = add_action, .state_self = &l});
    *out = l.pairs;
    sort_pairs(out);
    return !l.failed;
}

/* h by z: the states of an element depend on each other. */
static void list_states(bg_multibody *mb)
{
    bg_rates_structure *x = &mb->rates;
    for (int k = 0; k < mb->model->nforces; k++)
        for (int i = 0; i < mb->model->forces[k].nz; i++)
            x->z_start[mb->model->forces[k].z0 + i + 1] = mb->model->forces[k].nz;
    for (int z = 0; z < mb->nz; z++)
        x->z_start[z + 1] += x->z_start[z];
    for (int k = 0; k < mb->model->nforces; k++) {
        const bg_force *f = &mb->model->forces[k];
        for (int i = 0; i < f->nz; i++)
            for (int j = 0; j < f->nz; j++)
                x->z_column[x->z_start[f->z0 + i] + j] = f->z0 + j;
    }
    x->by_z = (bg_pattern){mb->nz, mb->nz, x->z_start, x->z_column};
}

bool bg_couplings_make_rates(bg_multibody *mb)
{
    bg_rates_structure *x = &mb->rates;
    pair_list l = {0};
    size_t entries = 0;
    bg_couplings_visit_forces(mb, &(bg_force_visit){.rate = add_rate, .rate_self = &l});
    sort_pairs(&l.pairs);
    for (int k = 0; k < mb->model->nforces; k++)
        entries += (size_t)mb->model->forces[k].nz * (size_t)mb->model->forces[k].nz;
    x->start = BG_NEW_ARRAY(int, mb->nz + 1);
    x->body = BG_NEW_ARRAY(int, l.pairs.n);
    x->z_start = BG_NEW_ARRAY(int, mb->nz + 1);
    x->z_column = BG_NEW_ARRAY(int, entries);
    bool good = !l.failed && x->start && x->body && x->z_start && x->z_column;
    for (int k = 0; k < l.pairs.n && good; k++) {
        x->start[l.pairs.pair[k][0] + 1]++;
        x->body[k] = l.pairs.pair[k][1];
    }
    for (int z = 0; z < mb->nz && good; z++)
        x->start[z + 1] += x->start[z];
    if (good)
        list_states(mb);
    free(l.pairs.pair);
    return good;
}

static void load(const bg_body_state *x, const bg_body_acceleration *a, double out[12])
{
    bg_vec3_store(x->v, out);
    bg_vec3_store(x->w, out + 3);
    bg_vec3_store(a->v, out + 6);
    bg_vec3_store(a->w, out + 9);
}

/* out_j = sum over the pair's bodies of nu_i K_ij, for the columns of one body. `part`: 0 twist, 6
 * its derivative. */
static void multiply(const bg_multibody *mb, const int body[2], double K[12][12], int part,
                     int column, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (int s = 0; s < 2; s++) {
        double nu[12];
        load(&mb->body[body[s]], &mb->acceleration[body[s]], nu);
        for (int i = 0; i < 6 && body[s] != 0; i++)
            for (int j = 0; j < 6; j++)
                out[j] += nu[part + i] * K[6 * s + i][column + j];
    }
}

/* Rows of one group; with_gamma: of gamma instead of w. */
static void visit_group(const bg_multibody *mb, const bg_row_group *g, bool with_gamma,
                        bg_visit_row *visit, void *self)
{
    const bg_primitive *p = &g->primitive;
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    int rows = bg_primitive_get_rows(p), pairs = bg_row_group_count_pairs(g);
    double K[BG_RELATION_MAX][12][12], J[36], by_pose[3][12], by_twist[3][12];
    bg_primitive_calc_jacobian(&mb->world, p, J);
    if (with_gamma)
        bg_primitive_calc_gamma_derivatives(&mb->world, p, by_pose, by_twist);
    for (int r = 0; r < rows; r++) {
        double unit[3] = {r == 0, r == 1, r == 2};
        bg_primitive_calc_stiffness(&mb->world, p, unit, K);
        for (int n = 0; n < pairs; n++) {
            int body[2], k = relation ? n : r;
            bg_row_group_get_pair(g, n, &body[0], &body[1]);
            for (int s = 0; s < 2; s++) {
                bg_gradient x = {{0}, {0}, {0}};
                if (body[s] == 0)
                    continue;
                multiply(mb, body, K[n], with_gamma ? 6 : 0, 6 * s, x.pose);
                for (int i = 0; i < 6; i++) {
                    if (with_gamma)
                        x.pose[i] += by_pose[k][6 * s + i];
                    x.twist[i] = with_gamma ? by_twist[k][6 * s + i] : J[12 * k + 6 * s + i];
                    x.acceleration[i] = with_gamma ? J[12 * k + 6 * s + i] : 0;
                }
                visit(self, g->row + r, body[s], &x);
            }
        }
    }
}

void bg_couplings_visit_w(const bg_multibody *mb, bg_visit_row *visit, void *self)
{
    for (int k = 0; k < mb->ngroups; k++)
        visit_group(mb, &mb->groups[k], false, visit, self);
}

void bg_couplings_visit_gamma(const bg_multibody *mb, bg_visit_row *visit, void *self)
{
    for (int k = 0; k < mb->ngroups; k++)
        visit_group(mb, &mb->groups[k], true, visit, self);
}

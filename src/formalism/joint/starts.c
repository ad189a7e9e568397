/* How the joint form starts: wishes of bodies and joints (formalism/wishes.h) as rows on v, and a
 * guess that meets them at once where they do not contradict each other.
 *
 * The guess goes from the ground outwards. With the twist V of the parent known, a joint's
 * coordinates that are given or prescribed have their rates; the others are chosen such that the
 * child has the velocities given for it, in least squares, or else are zero. */
#include "formalism/joint/joint_form.h"
#include "formalism/wishes.h"
#include "linalg/levels.h"

#include <string.h>

/* One tree joint of the guess. */
typedef struct guess {
    bg_spatial V; /* what is known of the child's twist, about c */
    int n;        /* coordinates to be found */
    int column[6];
    int rows;
    double A[36], b[6];
} guess;

static bool is_free(const bg_joint_form *f, const bg_tree_joint *t)
{
    const bg_joint_class *c = t->joint < 0 ? NULL : f->mb.model->joints[t->joint].class_;
    return !c || (c->nprimitives == 0 && c->ncoordinates == 0);
}

/* The rate of link k, where it is given or prescribed. */
static bool find_rate(const bg_joint_form *f, int k, double *rate)
{
    const bg_link *l = &f->mech->links[k];
    const bg_joint *j = l->joint >= 0 ? &f->mb.model->joints[l->joint] : NULL;
    if (l->signal >= 0) {
        *rate = f->mb.world.u_t[l->signal];
        return true;
    }
    for (int c = 0; j && c < j->class_->ncoordinates; c++) {
        const bg_joint_start *s = &j->start[c];
        if (bg_mechanism_find_link(f->mech, l->joint, c) != k)
            continue;
        *rate = s->signal >= 0 ? f->mb.world.u_t[s->signal] : s->v;
        return s->signal >= 0 || s->v_given;
    }
    return false;
}

/* Three rows for the angular velocity of the child, or the velocity of a point at arm from c. */
static void add_target(const bg_joint_form *f, guess *x, bg_vec3 target, const bg_vec3 *arm,
                       double weight)
{
    double missing[3], entry[3];
    bg_vec3 known = arm ? bg_add(x->V.v, bg_cross(x->V.w, *arm)) : x->V.w;
    bg_vec3_store(bg_sub(target, known), missing);
    for (int k = 0; k < x->n; k++) {
        const bg_spatial *S = &f->S[x->column[k]];
        bg_vec3_store(arm ? bg_add(S->v, bg_cross(S->w, *arm)) : S->w, entry);
        for (int i = 0; i < 3; i++)
            x->A[(x->rows + i) * x->n + k] = weight * entry[i];
    }
    for (int i = 0; i < 3; i++)
        x->b[x->rows + i] = weight * missing[i];
    x->rows += 3;
}

/* Known rates of tree joint t into v and V; columns of the others. */
static guess begin(bg_joint_form *f, const bg_tree_joint *t, double *v)
{
    int parent = f->mech->body_link[t->parent];
    guess x = {.V = parent >= 0 ? f->V[parent] : (bg_spatial){{0, 0, 0}, {0, 0, 0}}};
    for (int k = t->first; k < t->first + t->count; k++) {
        const bg_link *l = &f->mech->links[k];
        double rate = 0;
        bool known = find_rate(f, k, &rate);
        if (l->signal >= 0)
            x.V = bg_spatial_add_scaled(x.V, rate, f->S[l->place]);
        for (int i = l->v; i < l->v + l->nv; i++) {
            v[i] = known ? rate : 0;
            x.V = bg_spatial_add_scaled(x.V, v[i], f->S[i]);
            if (!known)
                x.column[x.n++] = i;
        }
    }
    return x;
}

static bg_status find_rest(bg_joint_form *f, const bg_tree_joint *t, guess *x, double *v,
                           bg_error *err)
{
    static const double units[6] = {1, 1, 1, 1, 1, 1};
    const bg_body *b = &f->mb.model->bodies[t->child];
    const bg_body_state *s = &f->mb.body[t->child];
    bg_vec3 place = bg_add(s->r, bg_rotate(&s->R, b->v_place)), arm = bg_sub(place, f->c);
    bool any = is_free(f, t);
    bg_levels *levels;
    if (b->w_given || any)
        add_target(f, x, b->w, NULL, f->mb.wishes->length);
    if (b->v_given || any)
        add_target(f, x, b->v, &arm, 1);
    if (x->rows == 0 || x->n == 0)
        return BG_OK;
    bg_status st = bg_levels_create(x->n, units, &levels, err);
    if (st == BG_OK)
        st = bg_levels_add(levels, x->rows, x->A, x->b, BG_START_LEVERAGE, 0, err);
    for (int k = 0; k < x->n && st == BG_OK; k++) {
        v[x->column[k]] = bg_levels_get_x(levels)[k];
        x->V = bg_spatial_add_scaled(x->V, v[x->column[k]], f->S[x->column[k]]);
    }
    bg_levels_destroy(levels);
    return st;
}

bg_status bg_joint_guess_velocity(bg_joint_form *f, double *v, bg_error *err)
{
    bg_status st = BG_OK;
    for (int k = 0; k < f->mech->ntree && st == BG_OK; k++) {
        const bg_tree_joint *t = &f->mech->tree[k];
        guess x = begin(f, t, v);
        st = find_rest(f, t, &x, v, err);
        if (t->count > 0) /* links between have no bodies */
            f->V[t->first + t->count - 1] = x.V;
    }
    f->moving = false; /* V is not that of v_now any more */
    return st;
}

static void set_point(bg_joint_form *f, const bg_point *p)
{
    bg_joint_set_point(f, p);
    bg_joint_update_position(f, p->q);
    bg_joint_update_velocity(f, p->v);
}

static int get_given(void *self, const bg_point *p, int k, bg_given *out)
{
    if (p)
        set_point(self, p);
    return bg_wishes_get_given(self, p != NULL, k, out);
}

static const char *find_reversed(void *self, const bg_point *p)
{
    set_point(self, p);
    return bg_wishes_find_reversed(self);
}

static int is_settled(void *self, const bg_point *p, bg_start_of of)
{
    set_point(self, p);
    return bg_wishes_are_settled(self, of);
}

static bg_status guess_velocity(void *self, const bg_point *p, double *v, bg_error *err)
{
    set_point(self, p);
    return bg_joint_guess_velocity(self, v, err);
}

static void follow(void *self, const bg_point *p, double *z)
{
    bg_multibody *mb = self;
    set_point(self, p);
    for (int k = 0; k < mb->nturns; k++)
        z[mb->turns[k].z] = bg_coordinate_calc(&mb->world, &mb->turns[k].coordinate);
}

static void get_design(void *self, double *q)
{
    const bg_joint_form *f = self;
    memset(q, 0, (size_t)f->nq * sizeof(double));
    for (int k = 0; k < f->mech->nlinks; k++)
        if (f->mech->links[k].kind == BG_LINK_BALL) /* never follows a signal */
            q[f->mech->links[k].q] = 1;
}

/* A row: the power of both forces on the motions along the ways to the ground, up to where they
 * meet. Behind that both bodies move as one, which no wish between two bodies sees. */
static void add_row(const bg_joint_form *f, const bg_wish_row *row, bg_sparse_rows *A)
{
    bg_spatial F[2] = {bg_joint_make_force(f, row->a, row->J),
                       bg_joint_make_force(f, row->b, row->J + 6)};
    int end[2] = {f->mech->body_link[row->a], f->mech->body_link[row->b]};
    bg_sparse_rows_begin(A);
    while (end[0] != end[1]) {
        int side = end[0] > end[1] ? 0 : 1; /* parents stand before children */
        const bg_link *l = &f->mech->links[end[side]];
        for (int i = l->v; i < l->v + l->nv; i++)
            bg_sparse_rows_add(A, i, bg_spatial_dot(f->S[i], F[side]));
        end[side] = l->parent;
    }
}

static int calc_rows(void *self, const bg_point *p, bg_start_of of, bg_start_level level,
                     bg_sparse_rows *A, double *b, int *owner)
{
    bg_joint_form *f = self;
    const struct bg_wishes *wishes = f->mb.wishes;
    int n = 0;
    if (A)
        set_point(f, p);
    for (int k = 0; k < wishes->n; k++) {
        const bg_wish *w = &wishes->wish[k];
        bg_wish_row rows[3];
        if (w->of != of || w->level != level)
            continue;
        if (A)
            bg_wish_calc_rows(&f->mb, w, rows);
        for (int i = 0; i < bg_wish_count_rows(w); i++, n++) {
            if (!A)
                continue;
            add_row(f, &rows[i], A);
            b[n] = rows[i].value;
            if (of == BG_START_VELOCITIES && f->nfollowing > 0)
                b[n] -= bg_joint_calc_following(f, rows[i].a, rows[i].J) +
                        bg_joint_calc_following(f, rows[i].b, rows[i].J + 6);
            owner[n] = k < wishes->ngiven ? k : -1;
        }
    }
    return n;
}

/* inside <- the bodies behind the joints that the ways of a and b to the ground do not share. */
static void mark_way(bg_joint_form *f, int a, int b)
{
    const int end[] = {a, b};
    memset(f->inside, 0, (size_t)f->mb.nbodies * sizeof *f->inside);
    for (int i = 0; i < 2; i++) {
        int body = end[i];
        for (int t = f->mech->ntree - 1; t >= 0; t--) /* parents stand before children */
            if (f->mech->tree[t].child == body) {
                f->inside[body] = !f->inside[body];
                body = f->mech->tree[t].parent;
            }
    }
}

/* The k-th joint on the way from a to b; or takes those there are off *k. */
static int find_on_way(bg_joint_form *f, int a, int b, int *k)
{
    mark_way(f, a, b);
    for (int t = 0; t < f->mech->ntree; t++) {
        const bg_tree_joint *j = &f->mech->tree[t];
        if (f->inside[j->child] && j->joint >= 0 && (*k)-- == 0)
            return j->joint;
    }
    return -1;
}

static int find_joint(bg_joint_form *f, const bg_row_group *g, int k)
{
    int pairs = bg_row_group_count_pairs(g), a, b, joint = -1;
    for (int i = 0; i < pairs; i++)
        if (g->joint[i] >= 0 && k-- == 0)
            return g->joint[i];
    for (int i = 0; i < pairs && joint < 0; i++) {
        bg_row_group_get_pair(g, i, &a, &b);
        joint = find_on_way(f, a, b, &k);
    }
    return joint;
}

static const char *get_joint(void *self, int row, int k)
{
    bg_joint_form *f = self;
    int joint = -1;
    if (row >= f->mb.nrows) {
        const bg_direct_row *r = &f->rows[row - f->mb.nrows];
        joint = k < r->n ? f->mech->links[r->link[k]].joint : -1;
    }
    for (int i = 0; i < f->mb.ngroups; i++) {
        const bg_row_group *g = &f->mb.groups[i];
        if (row >= g->row && row < g->row + bg_primitive_get_rows(&g->primitive))
            joint = find_joint(f, g, k);
    }
    return joint >= 0 ? f->mb.model->joints[joint].name : NULL;
}

const struct bg_starts *bg_joint_get_starts(bool found)
{
    static const bg_starts known = {
        .get_given = get_given, .get_joint = get_joint, .find_reversed = find_reversed};
    static const bg_starts starts = {.get_given = get_given,
                                     .is_settled = is_settled,
                                     .guess = guess_velocity,
                                     .get_design = get_design,
                                     .follow = follow,
                                     .get_joint = get_joint,
                                     .find_reversed = find_reversed,
                                     .calc_rows = calc_rows};
    return found ? &known : &starts;
}

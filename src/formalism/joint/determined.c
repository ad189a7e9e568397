/* Motions that nothing determines: without mass to resist them, and without a constraint behind
 * them.
 *
 * The projected mass matrix is singular where some motion v != 0 that the constraints allow, G v =
 * 0, has no kinetic energy. Energy is a sum of squares, over the bodies, of the velocity of a
 * centre with mass and of angular velocities about those principal axes that have inertia. So v has
 * none exactly where N v = 0 with these velocities as rows of N, and the question is one of
 * geometry: the rank of [G; N], whatever the masses are. An axis counts as one without inertia
 * where its moment is below `negligible` of the largest of the body; a smaller moment makes its row
 * shorter.
 *
 * Columns are scaled by the size of the motion of all bodies (velocities over the size L of the
 * mechanism), rows of G to length 1. Column-pivoted orthogonalisation then leaves of a column what
 * no other motion accounts for: nothing but rounding (`lost`) where it is not determined, little
 * (`little`) where its mass is nearly singular.
 *
 * Most mechanisms do not need that: where the articulated inertias of the tree (explicit.c) are all
 * far from zero, M itself is regular. That is O(N) and comes first. */
#include "formalism/joint/joint_form.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 600 };                 /* velocities for which the rank is looked at, in O(nv^3) */
static const double suspect = 1e-10;    /* D against the terms it consists of */
static const double negligible = 1e-12; /* moments of a body against its largest */
static const double lost = 1e-9, little = 1e-5;

typedef struct motion_search {
    bg_joint_form *f;
    const double *G;
    int nv, rows, capacity;
    double L;     /* m, size of the mechanism */
    double *A;    /* [nv capacity] columns of [G; N], orthogonalised as far as they are kept */
    double *size; /* [nv] of the motions */
    double *R;    /* [nv nv] column k: coefficients of column order[k] */
    int *order;   /* [nv] kept columns first */
    double *x;    /* [nv] a motion, in units of size */
} motion_search;

static bool is_behind(const bg_joint_form *f, int body, int v)
{
    const bg_mechanism *x = f->mech;
    for (int k = x->body_link[body]; k >= 0; k = x->links[k].parent) {
        const bg_link *l = &x->links[k];
        if (v >= l->v && v < l->v + l->nv)
            return true;
    }
    return false;
}

/* Velocity of a body's centre under a unit rate of coordinate i. */
static bg_vec3 calc_velocity(const bg_joint_form *f, int body, int i)
{
    return bg_add(f->S[i].v, bg_cross(f->S[i].w, bg_sub(f->mb.body[body].r, f->c)));
}

/* Principal moments and axes of a symmetric matrix, by rotations (Jacobi). */
static void calc_principal(const bg_mat3 *J, double moment[3], bg_mat3 *axes)
{
    bg_mat3 a = *J;
    *axes = bg_mat3_identity();
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a.m[p][q] == 0)
                    continue;
                double theta = 0.5 * atan2(2 * a.m[p][q], a.m[q][q] - a.m[p][p]);
                double c = cos(theta), s = sin(theta);
                bg_mat3 turn = bg_mat3_identity();
                turn.m[p][p] = turn.m[q][q] = c;
                turn.m[p][q] = s;
                turn.m[q][p] = -s;
                bg_mat3 back = bg_mat3_transpose(&turn), half = bg_mat3_multiply(&back, &a);
                a = bg_mat3_multiply(&half, &turn);
                *axes = bg_mat3_multiply(axes, &turn);
                a.m[p][q] = a.m[q][p] = 0;
            }
    for (int i = 0; i < 3; i++)
        moment[i] = a.m[i][i];
}

/* What rounding of S^T X S is relative to: the largest entries of X, also of those that S would
 * leave out, because axes and inertias are turned with rounding. */
static double calc_terms(const bg_sym6 *X, bg_spatial S)
{
    double ww = 0, wv = 0, vv = 0, w = bg_length(S.w), v = bg_length(S.v);
    for (int k = 0; k < 6; k++) {
        bg_spatial unit = {{k == 0, k == 1, k == 2}, {k == 3, k == 4, k == 5}};
        bg_spatial column = bg_sym6_apply(X, unit);
        double turning = bg_length(column.w), moving = bg_length(column.v);
        ww = fmax(ww, k < 3 ? turning : 0);
        wv = fmax(wv, k < 3 ? moving : turning);
        vv = fmax(vv, k < 3 ? 0 : moving);
    }
    return ww * w * w + 2 * wv * w * v + vv * v * v;
}

/* Whether the articulated inertia of every motion is far from zero; before: scratch [nlinks]. */
static bool is_regular(bg_joint_form *f, bg_sym6 *before)
{
    const bg_mechanism *x = f->mech;
    for (int k = 0; k < x->nlinks; k++)
        before[k] = f->articulated[k] = bg_sym6_from_inertia(&f->I[k]);
    for (int k = x->nlinks - 1; k >= 0; k--) {
        const bg_link *l = &x->links[k];
        bg_sym6 *X = &f->articulated[k], whole = *X;
        for (int i = l->v + l->nv - 1; i >= l->v; i--) {
            bg_spatial U = bg_sym6_apply(X, f->S[i]);
            double D = bg_spatial_dot(f->S[i], U);
            if (!(D > suspect * calc_terms(&before[k], f->S[i])))
                return false;
            bg_sym6_subtract_square(X, 1 / D, U);
        }
        if (l->parent >= 0) {
            bg_sym6_add(&before[l->parent], &whole);
            bg_sym6_add(&f->articulated[l->parent], X);
        }
    }
    return true;
}

/* One row of A: entries by `of`, times weight. */
static void add_velocity_rows(motion_search *s, int body)
{
    for (int i = 0; i < s->nv; i++) {
        double *a = s->A + (size_t)i * (size_t)s->capacity + s->rows;
        bg_vec3 v = is_behind(s->f, body, i) ? calc_velocity(s->f, body, i) : (bg_vec3){0, 0, 0};
        bg_vec3_store(bg_scale(1 / (s->L * s->size[i]), v), a);
    }
    s->rows += 3;
}

static void add_turning_rows(motion_search *s, int body)
{
    double moment[3], largest = 0;
    bg_mat3 axes;
    calc_principal(&s->f->mb.model->bodies[body].inertia, moment, &axes);
    for (int k = 0; k < 3; k++)
        largest = fmax(largest, moment[k]);
    for (int k = 0; k < 3; k++) {
        if (!(moment[k] > negligible * largest))
            continue;
        bg_vec3 e = bg_rotate(&s->f->mb.body[body].R, bg_axis(&axes, k));
        for (int i = 0; i < s->nv; i++)
            if (is_behind(s->f, body, i))
                s->A[(size_t)i * (size_t)s->capacity + (size_t)s->rows] = sqrt(moment[k] /
                                                                               largest) *
                                                                          bg_dot(e, s->f->S[i].w) /
                                                                          s->size[i];
        s->rows++;
    }
}

/* The constraint rows that count, each of length 1. */
static void add_constraint_rows(motion_search *s, const unsigned char *left_out)
{
    const bg_pattern *p = &s->f->patterns.G;
    for (int r = 0; r < s->f->ng; r++) {
        double sum = 0;
        int begin = p->row_start ? p->row_start[r] : r * s->nv;
        int end = p->row_start ? p->row_start[r + 1] : begin + s->nv;
        for (int k = begin; k < end; k++) {
            double x = s->G[k] / s->size[p->row_start ? p->column[k] : k - begin];
            sum += x * x;
        }
        if ((left_out && left_out[r]) || !(sum > 0))
            continue;
        for (int k = begin; k < end; k++) {
            int i = p->row_start ? p->column[k] : k - begin;
            s->A[(size_t)i * (size_t)s->capacity + (size_t)s->rows] = s->G[k] / s->size[i] /
                                                                      sqrt(sum);
        }
        s->rows++;
    }
}

static void calc_sizes(motion_search *s)
{
    const bg_joint_form *f = s->f;
    for (int b = 1; b < f->mb.nbodies; b++)
        s->L = fmax(s->L, bg_length(bg_sub(f->mb.body[b].r, f->c)));
    if (!(s->L > 0))
        s->L = 1;
    for (int i = 0; i < s->nv; i++) {
        double sum = 0;
        for (int b = 1; b < f->mb.nbodies; b++)
            if (is_behind(f, b, i)) {
                double w = bg_length(f->S[i].w), v = bg_length(calc_velocity(f, b, i)) / s->L;
                sum += w * w + v * v;
            }
        s->size[i] = sum > 0 ? sqrt(sum) : 1;
    }
}

static double calc_length(const motion_search *s, int i)
{
    const double *a = s->A + (size_t)i * (size_t)s->capacity;
    double sum = 0;
    for (int r = 0; r < s->rows; r++)
        sum += a[r] * a[r];
    return sqrt(sum);
}

/* Takes column j, of unit length, out of column i and returns how much of it there was. */
static double take_out(motion_search *s, int j, int i)
{
    const double *q = s->A + (size_t)j * (size_t)s->capacity;
    double *a = s->A + (size_t)i * (size_t)s->capacity, h = 0;
    for (int r = 0; r < s->rows; r++)
        h += q[r] * a[r];
    for (int r = 0; r < s->rows; r++)
        a[r] -= h * q[r];
    return h;
}

/* Orthogonalises, largest first; returns how many columns are longer than `lost`. *least: the
 * shortest of those. */
static int orthogonalise(motion_search *s, double *least)
{
    size_t nv = (size_t)s->nv;
    *least = INFINITY;
    for (int k = 0; k < s->nv; k++)
        s->order[k] = k;
    for (int k = 0; k < s->nv; k++) {
        int best = k;
        double length = -1;
        for (int j = k; j < s->nv; j++) {
            double now = calc_length(s, s->order[j]);
            if (now > length) {
                length = now;
                best = j;
            }
        }
        int column = s->order[best];
        s->order[best] = s->order[k];
        s->order[k] = column;
        if (!(length > lost))
            return k;
        *least = fmin(*least, length);
        s->R[(size_t)column * nv + (size_t)k] = length;
        double *q = s->A + (size_t)column * (size_t)s->capacity;
        for (int r = 0; r < s->rows; r++)
            q[r] /= length;
        for (int j = k + 1; j < s->nv; j++)
            s->R[(size_t)s->order[j] * nv + (size_t)k] = take_out(s, column, s->order[j]);
    }
    return s->nv;
}

/* x <- the motion in which column order[last] is what the first `rank` others account for. */
static void calc_motion(motion_search *s, int rank, int last)
{
    size_t nv = (size_t)s->nv;
    int column = s->order[last];
    memset(s->x, 0, nv * sizeof(double));
    s->x[column] = 1;
    for (int k = rank - 1; k >= 0; k--) {
        double sum = -s->R[(size_t)column * nv + (size_t)k];
        for (int j = k + 1; j < rank; j++)
            sum -= s->R[(size_t)s->order[j] * nv + (size_t)k] * s->x[s->order[j]];
        s->x[s->order[k]] = sum / s->R[(size_t)s->order[k] * nv + (size_t)k];
    }
}

/* The motion in words: the coordinate that moves most, and the body that does, with how. */
typedef struct finding {
    const char *motion;
    const bg_body *body;
    bg_vec3 w, v; /* of the body, of length 1 where it does so most */
} finding;

static finding describe(const motion_search *s)
{
    const bg_joint_form *f = s->f;
    finding found = {.motion = f->v_names[0]};
    double most = 0;
    int coordinate = 0;
    for (int i = 0; i < s->nv; i++)
        if (fabs(s->x[i]) > 1.0001 * fabs(s->x[coordinate]))
            coordinate = i;
    found.motion = f->v_names[coordinate];
    for (int b = 1; b < f->mb.nbodies; b++) {
        bg_vec3 w = {0, 0, 0}, v = {0, 0, 0};
        for (int i = 0; i < s->nv; i++)
            if (s->x[i] != 0 && is_behind(f, b, i)) {
                w = bg_add_scaled(w, s->x[i] / s->size[i], f->S[i].w);
                v = bg_add_scaled(v, s->x[i] / s->size[i], calc_velocity(f, b, i));
            }
        double turning = bg_length(w), moving = bg_length(v) / s->L, all = fmax(turning, moving);
        if (!(all > 1.0001 * most))
            continue;
        most = all;
        found.body = &f->mb.model->bodies[b];
        found.w = turning > 1e-6 * all ? bg_scale(1 / turning, w) : (bg_vec3){0, 0, 0};
        found.v = moving > 1e-6 * all ? bg_scale(1 / (moving * s->L), v) : (bg_vec3){0, 0, 0};
    }
    return found;
}

/* "turns about (0, 0, 1)" or "moves along (1, 0, 0)". */
static void write_how(const finding *x, char *text, size_t size)
{
    bool turns = bg_length(x->w) > 0;
    bg_vec3 a = turns ? x->w : x->v;
    double first = a.x != 0 ? a.x : a.y != 0 ? a.y : a.z;
    for (int k = 0; k < 3; k++) { /* rounding is not worth printing, nor is the sense */
        double *c = k == 0 ? &a.x : k == 1 ? &a.y : &a.z;
        *c = fabs(*c) < 1e-9 ? 0 : first < 0 ? -*c : *c;
    }
    snprintf(text, size, "%s (%.4g, %.4g, %.4g)", turns ? "turns about" : "moves along", a.x, a.y,
             a.z);
}

static bg_status report(const motion_search *s, double least, int rank, bg_warnings *warnings,
                        bg_error *err)
{
    char how[96];
    finding x = describe(s);
    if (!x.body)
        return bg_error_set(err, BG_BAD_INPUT,
                            "what resists the motion '%s' is no finite number, because lengths, "
                            "masses or inertias are too large or too small to be multiplied; look "
                            "for a wrong one among them",
                            x.motion);
    const char *name = x.body->name;
    write_how(&x, how, sizeof how);
    const char *wanted = x.body->mass > 0 ? "inertia" : "mass and inertia";
    if (rank < s->nv)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "bodies.%s: nothing resists the motion '%s', in which body '%s' %s, because what moves "
            "with it has no mass, or no inertia about that axis; give body '%s' %s, or a joint "
            "without this motion",
            name, x.motion, name, how, name, wanted);
    bg_warnings_add(warnings, BG_DOUBTFUL, "mass",
                    "bodies.%s: next to nothing resists the motion '%s', in which body '%s' %s "
                    "(about %.1e of what resists others), so that rounding moves it; give body "
                    "'%s' %s, or a joint without this motion",
                    name, x.motion, name, how, least * least, name, wanted);
    return BG_OK;
}

static bg_status look(motion_search *s, const unsigned char *left_out, bg_warnings *warnings,
                      bg_error *err)
{
    const bg_joint_form *f = s->f;
    double least;
    calc_sizes(s);
    add_constraint_rows(s, left_out);
    for (int b = 1; b < f->mb.nbodies; b++) {
        if (f->mech->body_link[b] < 0)
            continue;
        if (f->mb.model->bodies[b].mass > 0)
            add_velocity_rows(s, b);
        add_turning_rows(s, b);
    }
    int rank = orthogonalise(s, &least);
    if (rank == s->nv && least > little)
        return BG_OK;
    calc_motion(s, rank < s->nv ? rank : s->nv - 1, rank < s->nv ? rank : s->nv - 1);
    return report(s, least, rank, warnings, err);
}

bg_status bg_joint_check_determined(bg_joint_form *f, const double *q, const double *G,
                                    const unsigned char *left_out, bg_warnings *warnings,
                                    bg_error *err)
{
    size_t nv = (size_t)f->nv;
    motion_search s = {.f = f, .G = G, .nv = f->nv, .capacity = f->ng + 6 * f->mb.nbodies};
    bg_sym6 *before = BG_NEW_ARRAY(bg_sym6, f->mech->nlinks);
    bg_status st = BG_OK;
    bg_joint_update_position(f, q);
    bg_joint_update_inertia(f);
    bool look_closer = before && !is_regular(f, before) && f->nv <= LARGEST;
    free(before);
    if (before && !look_closer)
        return BG_OK;
    s.A = BG_NEW_ARRAY(double, nv *(size_t)s.capacity);
    s.R = BG_NEW_ARRAY(double, nv *nv);
    s.size = BG_NEW_ARRAY(double, nv);
    s.order = BG_NEW_ARRAY(int, nv);
    s.x = BG_NEW_ARRAY(double, nv);
    if (before && s.A && s.R && s.size && s.order && s.x)
        st = look(&s, left_out, warnings, err);
    else
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", f->mb.model->name);
    free(s.A);
    free(s.R);
    free(s.size);
    free(s.order);
    free(s.x);
    return st;
}

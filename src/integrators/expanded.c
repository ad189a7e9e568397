/* The matrix of expanded.h as a sum of blocks (linalg/blocks.h). Its first group has x and then dv,
 * so blocks by velocities lie nx columns to the right, and those of r nx rows down: their patterns
 * are copied with these shifts. */
#include "integrators/expanded.h"

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { R, P, Z, L, E, GROUPS };
enum {
    X,
    Q,
    W,
    A,
    R_Z,
    R_LAMBDA,
    P_UNIT,
    P_V,
    P_ETA,
    Z_UNIT,
    H_Z,
    H_V,
    H_Q,
    H_LAMBDA,
    W_V,
    W_Q,
    G_Q,
    BLOCKS
};

struct bg_expanded {
    int nx, nv, nz, ng;
    bool eta, of_lambda;
    bg_blocks *blocks;
    bg_pattern pattern[BLOCKS]; /* shifted copies; NULL: none */
    double *r, *p;              /* [nx + nv], [nv] right-hand sides and solutions */
    double *inverse;            /* [nv] of S */
    const bg_expansion *expansion;
    bg_expansion_values values; /* of the last factorisation */
    bg_arena arena;             /* all arrays but those of patterns */
};

static void list(void *object, bg_arena *arena)
{
    bg_expanded *o = object;
    BG_TAKE(arena, o->r, o->nx + o->nv);
    BG_TAKE(arena, o->p, o->nv);
    BG_TAKE(arena, o->inverse, o->nv);
}

/* A pattern (NULL: dense) of rows x columns with `left` columns more in front and `top` rows above.
 * False: out of memory. */
static bool shift(const bg_pattern *p, int rows, int columns, int top, int left, bg_pattern *out)
{
    size_t count = p ? (size_t)p->row_start[rows] : (size_t)rows * (size_t)columns;
    int *start = BG_NEW_ARRAY(int, top + rows + 1), *column = BG_NEW_ARRAY(int, count);
    *out = (bg_pattern){top + rows, left + columns, start, column};
    if (!start || !column)
        return false;
    for (int i = 0; i < rows; i++) {
        start[top + i] = p ? p->row_start[i] : i * columns;
        start[top + i + 1] = p ? p->row_start[i + 1] : (i + 1) * columns;
    }
    for (size_t k = 0; k < count; k++)
        column[k] = left + (p ? p->column[k] : (int)(k % (size_t)columns));
    return true;
}

/* The unit matrix at dv: one entry in each row, nx columns to the right. */
static bool shift_unit(int n, int left, bg_pattern *out)
{
    int *start = BG_NEW_ARRAY(int, n + 1), *column = BG_NEW_ARRAY(int, n);
    *out = (bg_pattern){n, left + n, start, column};
    for (int i = 0; start && column && i < n; i++) {
        start[i + 1] = i + 1;
        column[i] = left + i;
    }
    return start && column;
}

/* Patterns of all that lies at dv or in the rows of r. Without eta, p is dv. */
static bool make_patterns(bg_expanded *o, const bg_system *sys)
{
    const bg_system_def *d = &sys->def;
    const bg_expansion *e = o->expansion;
    bg_pattern *to = o->pattern;
    const bg_pattern *G = d->pattern_G;
    int nx = o->nx, nv = o->nv, nz = o->nz, ng = o->ng, left = o->eta ? 0 : nx;
    bool good = shift(&e->x, nx + nv, nx, 0, 0, &to[X]) &&
                shift(&e->q, nx + nv, nv, 0, left, &to[Q]) &&
                shift(&e->v, nx + nv, nv, 0, nx, &to[W]) &&
                shift(&e->a, nx + nv, nv, 0, nx, &to[A]);
    to[X].columns = nx + nv;
    if (nz > 0)
        good = good &&
               shift(bg_system_get_pattern(sys, BG_OF_r, BG_BY_z), nv, nz, nx, 0, &to[R_Z]) &&
               shift(bg_system_get_pattern(sys, BG_OF_h, BG_BY_v), nz, nv, 0, nx, &to[H_V]) &&
               shift(bg_system_get_pattern(sys, BG_OF_h, BG_BY_q), nz, nv, 0, left, &to[H_Q]);
    if (ng == 0)
        return good;
    good = good && shift(G, ng, nv, 0, nx, &to[W_V]) &&
           shift(bg_system_get_pattern(sys, BG_OF_w, BG_BY_q), ng, nv, 0, left, &to[W_Q]);
    if (o->of_lambda)
        good = good && shift(bg_system_get_pattern(sys, BG_OF_r, BG_BY_lambda), nv, ng, nx, 0,
                             &to[R_LAMBDA]);
    return good && (!o->eta || shift_unit(nv, nx, &to[P_V]));
}

static void list_blocks(const bg_expanded *o, const bg_system *sys, bg_block *b)
{
    const bg_pattern *own = o->pattern;
    int p = o->eta ? P : R;
    for (int k = 0; k < BLOCKS; k++)
        b[k] = (bg_block){L, L, BG_BLOCK_UNIT, NULL}; /* left out by a factor of 0 */
    b[X] = (bg_block){R, R, BG_BLOCK_PLAIN, &own[X]};
    b[Q] = (bg_block){R, p, BG_BLOCK_PLAIN, &own[Q]};
    b[W] = (bg_block){R, R, BG_BLOCK_PLAIN, &own[W]};
    b[A] = (bg_block){R, R, BG_BLOCK_PLAIN, &own[A]};
    if (o->nz > 0) {
        b[R_Z] = (bg_block){R, Z, BG_BLOCK_PLAIN, &own[R_Z]};
        b[Z_UNIT] = (bg_block){Z, Z, BG_BLOCK_UNIT, NULL};
        b[H_Z] = (bg_block){Z, Z, BG_BLOCK_PLAIN, bg_system_get_pattern(sys, BG_OF_h, BG_BY_z)};
        b[H_V] = (bg_block){Z, R, BG_BLOCK_PLAIN, &own[H_V]};
        b[H_Q] = (bg_block){Z, p, BG_BLOCK_PLAIN, &own[H_Q]};
    }
    if (o->ng == 0)
        return;
    b[W_V] = (bg_block){L, R, BG_BLOCK_PLAIN, &own[W_V]};
    b[W_Q] = (bg_block){L, p, BG_BLOCK_PLAIN, &own[W_Q]};
    b[R_LAMBDA] = o->of_lambda ? (bg_block){R, L, BG_BLOCK_PLAIN, &own[R_LAMBDA]}
                               : (bg_block){R, L, BG_BLOCK_TRANSPOSED, &own[W_V]};
    if (o->of_lambda && o->nz > 0)
        b[H_LAMBDA] = (bg_block){Z, L, BG_BLOCK_PLAIN,
                                 bg_system_get_pattern(sys, BG_OF_h, BG_BY_lambda)};
    if (!o->eta)
        return;
    b[P_UNIT] = (bg_block){P, P, BG_BLOCK_UNIT, NULL};
    b[P_V] = (bg_block){P, R, BG_BLOCK_PLAIN, &own[P_V]};
    b[P_ETA] = (bg_block){P, E, BG_BLOCK_TRANSPOSED, sys->def.pattern_G};
    b[G_Q] = (bg_block){E, P, BG_BLOCK_PLAIN, sys->def.pattern_G};
}

/* first[j] <- the lowest unknown of x that is in a row of r, or determined by coordinate j. */
static void find_first(const bg_expanded *o, const bg_expansion *e, int *first)
{
    const bg_pattern *const by[] = {&e->q, &e->v, &e->a};
    for (int j = 0; j < o->nv; j++)
        first[j] = o->nx;
    for (int j = 0; j < o->nv; j++)
        for (int k = e->x.row_start[o->nx + j]; k < e->x.row_start[o->nx + j + 1]; k++)
            first[j] = e->x.column[k] < first[j] ? e->x.column[k] : first[j];
    for (int b = 0; b < 3; b++)
        for (int i = o->nx - 1; i >= 0; i--)
            for (int k = by[b]->row_start[i]; k < by[b]->row_start[i + 1]; k++) {
                int *to = &first[by[b]->column[k]];
                *to = i < *to ? i : *to;
            }
}

/* The order of elimination: x from the last to the first, which is from the tips of a tree to its
 * root; a coordinate, and p before it, as soon as nothing of x is left that it met at the
 * beginning, because then its pivot is what moves with it; states and multipliers at the end. */
static bool make_order(const bg_expanded *o, const bg_expansion *e, int *order)
{
    int *first = BG_NEW_ARRAY(int, o->nv), *next = BG_NEW_ARRAY(int, o->nv), n = 0;
    int *head = BG_NEW_ARRAY(int, o->nx + 1), p = o->nx + o->nv, rest = p + (o->eta ? o->nv : 0);
    bool good = first && next && head;
    for (int i = 0; good && i <= o->nx; i++)
        head[i] = -1;
    if (good)
        find_first(o, e, first);
    for (int j = 0; good && j < o->nv; j++) {
        next[j] = head[first[j]];
        head[first[j]] = j;
    }
    for (int i = o->nx; good && i >= 0; i--) {
        if (i < o->nx)
            order[n++] = i;
        for (int j = head[i]; j >= 0; j = next[j]) {
            if (o->eta)
                order[n++] = p + j;
            order[n++] = o->nx + j;
        }
    }
    for (int i = rest; good && i < rest + o->nz + (o->eta ? 2 : 1) * o->ng; i++)
        order[n++] = i;
    free(first);
    free(next);
    free(head);
    return good;
}

static bg_status fill(bg_expanded *o, const bg_system *sys, double most, bg_error *err)
{
    const bg_group groups[GROUPS] = {[R] = {o->nx + o->nv, 0},
                                     [P] = {o->eta ? o->nv : 0, 0},
                                     [Z] = {o->nz, 0},
                                     [L] = {o->ng, 0},
                                     [E] = {o->eta ? o->ng : 0, 0}};
    bg_block blocks[BLOCKS];
    size_t n = (size_t)o->nx + 2 * (size_t)o->nv + (size_t)o->nz + 2 * (size_t)o->ng;
    int *order = BG_NEW_ARRAY(int, n);
    unsigned char *wanted = BG_NEW_ARRAY(unsigned char, n);
    bg_status st = BG_NO_MEMORY;
    if (order && wanted && bg_arena_create(&o->arena, list, o) && make_patterns(o, sys) &&
        make_order(o, o->expansion, order)) {
        list_blocks(o, sys, blocks);
        memset(wanted + o->nx, 1, n - (size_t)o->nx); /* neither x nor p */
        memset(wanted + o->nx + o->nv, 0, o->eta ? (size_t)o->nv : 0);
        st = bg_blocks_create_ordered(&(bg_blocks_def){groups, blocks, GROUPS, BLOCKS},
                                      &(bg_blocks_order){order, wanted, most}, &o->blocks, err);
    }
    free(order);
    free(wanted);
    if (st == BG_NO_MEMORY)
        bg_error_set(err, st, "out of memory for the matrix of system '%s'", sys->def.name);
    return st;
}

bg_status bg_expanded_create(const bg_evaluator *ev, const double *S, double most,
                             bg_expanded **expanded, bg_error *err)
{
    const bg_system_def *d = &ev->def;
    bg_expanded *o = *expanded = BG_NEW(bg_expanded);
    if (!o)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the matrix of system '%s'",
                            d->name);
    o->nx = ev->expansion->nx;
    o->nv = d->nv;
    o->nz = d->nz;
    o->ng = d->ng;
    o->eta = S && d->ng > 0;
    o->of_lambda = d->f_of_lambda && d->ng > 0;
    o->expansion = ev->expansion;
    bg_status st = fill(o, ev->system, most, err);
    for (int i = 0; i < o->nv && o->eta && st == BG_OK; i++)
        o->inverse[i] = 1 / S[i];
    if (st != BG_OK) {
        bg_expanded_destroy(o);
        *expanded = NULL;
    }
    return st;
}

void bg_expanded_destroy(bg_expanded *o)
{
    if (!o)
        return;
    bg_blocks_destroy(o->blocks);
    for (int k = 0; k < BLOCKS; k++) {
        free((void *)o->pattern[k].row_start);
        free((void *)o->pattern[k].column);
    }
    bg_arena_clear(&o->arena);
    free(o);
}

void bg_expanded_hold(bg_expanded *o, const unsigned char *held)
{
    if (o->ng > 0)
        bg_blocks_hold(o->blocks, L, held);
    if (o->eta)
        bg_blocks_hold(o->blocks, E, held);
}

bg_status bg_expanded_factor(bg_expanded *o, const bg_expanded_values *x, double alpha,
                             double along)
{
    const double one = 1 / alpha, two = one * one;
    const bool z = o->nz > 0, g = o->ng > 0;
    o->values = x->r;
    const bg_block_value b[BLOCKS] = {
        [X] = {1, x->r.x},
        [Q] = {two, x->r.q},
        [W] = {one, x->r.v},
        [A] = {1, x->r.a},
        [R_Z] = {z ? one : 0, x->r_z},
        [R_LAMBDA] = {g ? 1 : 0, o->of_lambda ? x->r_lambda : x->G},
        [P_UNIT] = {o->eta ? 1 : 0, o->inverse}, /* the row divided by S */
        [P_V] = {o->eta ? -1 : 0, o->inverse},
        [P_ETA] = {o->eta ? 1 : 0, x->G},
        [Z_UNIT] = {z ? 1 : 0, NULL},
        [H_Z] = {z ? -one : 0, x->h_z},
        [H_V] = {z ? -one : 0, x->h_v},
        [H_Q] = {z ? -two : 0, x->h_q},
        [H_LAMBDA] = {z && o->of_lambda ? -1 : 0, x->h_lambda},
        [W_V] = {g ? 1 : 0, x->G},
        [W_Q] = {g ? along : 0, x->w_q},
        [G_Q] = {o->eta ? 1 : 0, x->G},
    };
    return bg_blocks_factor(o->blocks, b, false);
}

/* r <- r + factor B x for a block of the expansion. */
static void add_shift(bg_expanded *o, const bg_pattern *p, const double *values, double factor,
                      const double *x)
{
    for (int i = 0; i < o->nx + o->nv; i++) {
        double sum = 0;
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            sum += values[k] * x[p->column[k]];
        o->r[i] += factor * sum;
    }
}

void bg_expanded_solve(bg_expanded *o, const bg_expanded_shift *shift, const bg_expanded_vector *x)
{
    memset(o->r, 0, (size_t)o->nx * sizeof(double));
    memcpy(o->r + o->nx, x->v, (size_t)o->nv * sizeof(double));
    memset(o->p, 0, (size_t)o->nv * sizeof(double));
    if (shift->q)
        add_shift(o, &o->expansion->q, o->values.q, shift->by_q, shift->q);
    if (shift->a)
        add_shift(o, &o->expansion->a, o->values.a, shift->by_a, shift->a);
    double *const groups[GROUPS] = {o->r, o->p, x->z, x->g, x->e};
    bg_blocks_solve(o->blocks, groups);
    memcpy(x->v, o->r + o->nx, (size_t)o->nv * sizeof(double));
}

bool bg_expanded_is_direct(const bg_expanded *o)
{
    return bg_blocks_is_direct(o->blocks);
}

bg_matrix_work bg_expanded_get_work(const bg_expanded *o)
{
    return bg_blocks_get_work(o->blocks, false);
}

void bg_expanded_reset(bg_expanded *o)
{
    bg_blocks_reset(o->blocks);
}

void bg_expanded_archive(bg_expanded *o, bg_archive *archive)
{
    bg_blocks_archive(o->blocks, archive);
}

/* Which entries can differ from zero, from the topology alone.
 *
 * M couples coordinates of which one lies on the other's way to the ground; a row of G has entries
 * on the ways of its bodies; the derivatives of r add, for each pair of bodies that a force or a
 * constraint couples, the ways of the one times those of the other; a row of the derivatives of h
 * has entries on the ways of its bodies, and a column of r by z on the ways of those it acts on, or
 * at the coordinate that its element drives. A block that is mostly full (M and G: half, r and h,
 * of which matrices of implicit steps consist: three quarters) is left dense: its pattern has no
 * row_start. */
#include "base/memory.h"
#include "formalism/couplings.h"
#include "formalism/joint/joint_form.h"
#include "math/arrays.h"

#include <stdlib.h>
#include <string.h>

typedef enum pattern_kind { OF_M, OF_G, OF_r, OF_h } pattern_kind;

/* Below this share of entries a pattern is worth its indices. */
static bool is_sparse(const bg_joint_form *f, pattern_kind of, size_t entries, int rows)
{
    size_t all = (size_t)rows * (size_t)f->nv;
    return entries <= (of == OF_r || of == OF_h ? 3 * all / 4 : all / 2);
}

/* Columns of one row while they are collected. */
typedef struct column_collector {
    int *mark; /* [nv] the row that took the column last, -1: none */
    int *list; /* [nv] the row's columns */
    int row, n;
} column_collector;

static void take(column_collector *c, int column)
{
    if (c->mark[column] != c->row)
        c->list[c->n++] = column;
    c->mark[column] = c->row;
}

static void take_link(const bg_joint_form *f, column_collector *c, int link)
{
    const bg_link *l = &f->mech->links[link];
    for (int j = l->v; j < l->v + l->nv; j++)
        take(c, j);
}

/* The way of a link to the ground; it ends where another whole way in this row has been. */
static void take_way(const bg_joint_form *f, column_collector *c, int link)
{
    for (int k = link; k >= 0; k = f->mech->links[k].parent) {
        const bg_link *l = &f->mech->links[k];
        if (l->nv > 0 && c->mark[l->v] == c->row)
            return;
        take_link(f, c, k);
    }
}

static void take_group(const bg_joint_form *f, column_collector *c, const bg_row_group *g)
{
    for (int k = 0; k < bg_row_group_count_pairs(g); k++) {
        int a, b;
        bg_row_group_get_pair(g, k, &a, &b);
        take_way(f, c, f->mech->body_link[a]);
        take_way(f, c, f->mech->body_link[b]);
    }
}

static void take_constraint(const bg_joint_form *f, column_collector *c, int row, int *group)
{
    if (row >= f->mb.nrows) {
        const bg_direct_row *r = &f->rows[row - f->mb.nrows];
        for (int i = 0; i < r->n; i++)
            take_link(f, c, r->link[i]);
        return;
    }
    while (row >= f->mb.groups[*group].row + bg_primitive_get_rows(&f->mb.groups[*group].primitive))
        (*group)++;
    take_group(f, c, &f->mb.groups[*group]);
}

static void take_rate(const bg_joint_form *f, column_collector *c, int row)
{
    const bg_rates_structure *x = &f->mb.rates;
    for (int k = x->start[row]; k < x->start[row + 1]; k++)
        take_way(f, c, f->mech->body_link[x->body[k]]);
}

/* The link a velocity coordinate belongs to, per coordinate. */
static int *list_links(const bg_joint_form *f)
{
    int *link = BG_NEW_ARRAY(int, f->nv);
    for (int k = 0; link && k < f->mech->nlinks; k++)
        for (int j = f->mech->links[k].v; j < f->mech->links[k].v + f->mech->links[k].nv; j++)
            link[j] = k;
    return link;
}

static int compare_pairs(const void *a, const void *b)
{
    return ((const int *)a)[0] - ((const int *)b)[0];
}

/* Bodies become the links they sit on; pairs within one link are in M's pattern already. */
static void map_to_links(const bg_mechanism *x, bg_body_pairs *p)
{
    int n = 0;
    for (int k = 0; k < p->n; k++) {
        int of = x->body_link[p->pair[k][0]], by = x->body_link[p->pair[k][1]];
        if (of < 0 || by < 0 || of == by)
            continue;
        p->pair[n][0] = of;
        p->pair[n++][1] = by;
    }
    p->n = n;
    if (n > 0)
        qsort(p->pair, (size_t)n, sizeof *p->pair, compare_pairs);
}

/* The first pair that acts on `link` or on one behind it. */
static int find_first(const bg_body_pairs *p, int link)
{
    int low = 0, high = p->n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->pair[middle][0] < link)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A row of M, or with pairs a row of a derivative of r. */
static void take_coordinate(const bg_joint_form *f, column_collector *c, int link,
                            const bg_body_pairs *p)
{
    const bg_mechanism *x = f->mech;
    int end = x->links[link].last;
    take_way(f, c, link);
    for (int k = link + 1; k < end; k++) /* the subtree */
        take_link(f, c, k);
    for (int k = p ? find_first(p, link) : 0; p && k < p->n && p->pair[k][0] < end; k++)
        take_way(f, c, p->pair[k][1]);
}

/* What one pattern is made from. */
typedef struct source {
    const bg_joint_form *f;
    pattern_kind of;
    const int *link;
    const bg_body_pairs *pairs;
    int *scratch; /* [2 nv] */
} source;

/* One pass over the rows: counts the entries, and writes them where start is given. */
static size_t collect(const source *s, int rows, int *start, int *column)
{
    const bg_joint_form *f = s->f;
    column_collector c = {s->scratch, s->scratch + f->nv, 0, 0};
    size_t total = 0;
    int group = 0;
    for (int j = 0; j < f->nv; j++)
        c.mark[j] = -1;
    for (c.row = 0; c.row < rows; c.row++) {
        c.n = 0;
        if (s->of == OF_G)
            take_constraint(f, &c, c.row, &group);
        else if (s->of == OF_h)
            take_rate(f, &c, c.row);
        else
            take_coordinate(f, &c, s->link[c.row], s->of == OF_r ? s->pairs : NULL);
        if (start) {
            qsort(c.list, (size_t)c.n, sizeof(int), bg_compare_ints);
            memcpy(column + total, c.list, (size_t)c.n * sizeof(int));
            start[c.row] = (int)total;
            start[c.row + 1] = (int)total + c.n;
        }
        total += (size_t)c.n;
        if (!is_sparse(f, s->of, total, rows))
            break;
    }
    return total;
}

/* Entries of M, without listing them: of a coordinate those on the way of its link to the ground,
 * and those behind it, whose numbers follow. `way` is scratch [nv]: coordinates up to one. */
static size_t count_mass(const bg_joint_form *f, int *way)
{
    const bg_mechanism *x = f->mech;
    size_t total = 0;
    for (int k = 0; k < x->nlinks; k++) {
        const bg_link *l = &x->links[k];
        const bg_link *before = l; /* the nearest towards the ground that has coordinates */
        do
            before = before->parent >= 0 ? &x->links[before->parent] : NULL;
        while (before && before->nv == 0);
        const bg_link *end = &x->links[l->last - 1];
        int up = l->nv + (before ? way[before->v] : 0);
        if (l->nv > 0)
            way[l->v] = up;
        total += (size_t)l->nv * (size_t)(up + end->v + end->nv - l->v - l->nv);
    }
    return total;
}

static bool make(const source *s, bg_pattern *out)
{
    int rows = s->of == OF_G ? s->f->ng : s->of == OF_h ? s->f->mb.nz : s->f->nv;
    size_t n = s->of == OF_M ? count_mass(s->f, s->scratch) : collect(s, rows, NULL, NULL);
    *out = (bg_pattern){rows, s->f->nv, NULL, NULL};
    if (!is_sparse(s->f, s->of, n, rows))
        return true;
    int *start = BG_NEW_ARRAY(int, rows + 1), *column = BG_NEW_ARRAY(int, n);
    out->row_start = start;
    out->column = column;
    if (!start || !column)
        return false;
    collect(s, rows, start, column);
    return true;
}

static int count_q(const bg_link *l)
{
    return l->kind == BG_LINK_BALL ? 4 : l->nv;
}

/* V: a one for each coordinate of a link, four rows of three for a ball. */
static bool make_V(const bg_joint_form *f, bg_pattern *out)
{
    int *start = BG_NEW_ARRAY(int, f->nq + 1), *column = BG_NEW_ARRAY(int, 3 * f->nq);
    *out = (bg_pattern){f->nq, f->nv, start, column};
    if (!start || !column)
        return false;
    for (int k = 0; k < f->mech->nlinks; k++)
        for (int i = 0; i < count_q(&f->mech->links[k]); i++)
            start[f->mech->links[k].q + i + 1] = f->mech->links[k].nv;
    for (int i = 0; i < f->nq; i++)
        start[i + 1] += start[i];
    for (int k = 0; k < f->mech->nlinks; k++) {
        const bg_link *l = &f->mech->links[k];
        for (int i = 0; i < count_q(l); i++)
            for (int j = 0; j < l->nv; j++)
                column[start[l->q + i] + j] = l->v + j;
    }
    return true;
}

/* The velocity coordinate that the element of each state drives, -1: none. */
static int *list_driven(const bg_joint_form *f)
{
    int *driven = BG_NEW_ARRAY(int, f->mb.nz);
    for (int z = 0; driven && z < f->mb.nz; z++)
        driven[z] = -1;
    for (int k = 0; driven && k < f->mb.model->nforces; k++)
        for (int i = 0; i < f->mb.model->forces[k].nz; i++)
            driven[f->mb.model->forces[k].z0 + i] = f->driven[k];
    return driven;
}

/* One pass over the columns of r by z: counts the entries of each row, or writes them from next on.
 */
static size_t collect_z(const source *s, const int *driven, int *next, int *column)
{
    const bg_joint_form *f = s->f;
    column_collector c = {s->scratch, s->scratch + f->nv, 0, 0};
    size_t total = 0;
    int k = 0;
    for (int j = 0; j < f->nv; j++)
        c.mark[j] = -1;
    for (c.row = 0; c.row < f->mb.nz; c.row++) {
        c.n = 0;
        for (; k < s->pairs->n && s->pairs->pair[k][0] == c.row; k++)
            take_way(f, &c, f->mech->body_link[s->pairs->pair[k][1]]);
        if (driven[c.row] >= 0)
            take(&c, driven[c.row]);
        for (int i = 0; i < c.n; i++) {
            if (column)
                column[next[c.list[i]]] = c.row;
            next[c.list[i]]++;
        }
        total += (size_t)c.n;
    }
    return total;
}

/* r by z; `pairs` are those of states and bodies. */
static bool make_z(const source *s, bg_pattern *out)
{
    int nv = s->f->nv, nz = s->f->mb.nz;
    int *driven = list_driven(s->f), *next = BG_NEW_ARRAY(int, nv);
    *out = (bg_pattern){nv, nz, NULL, NULL};
    bool good = driven && next;
    size_t n = good ? collect_z(s, driven, next, NULL) : 0;
    if (good && n <= 3 * (size_t)nv * (size_t)nz / 4) {
        int *start = BG_NEW_ARRAY(int, nv + 1), *column = BG_NEW_ARRAY(int, n);
        out->row_start = start;
        out->column = column;
        good = start && column;
        for (int j = 0; j < nv && good; j++) {
            start[j + 1] = start[j] + next[j];
            next[j] = start[j];
        }
        if (good)
            collect_z(s, driven, next, column);
    }
    free(driven);
    free(next);
    return good;
}

/* A table of the places of a pattern that is not too large for one; false: out of memory. */
static bool make_table(const bg_pattern *p, int **table)
{
    enum { LARGEST = 16384 };
    size_t all = (size_t)p->rows * (size_t)p->columns;
    if (!p->row_start || all > LARGEST)
        return true;
    *table = BG_NEW_ARRAY(int, all);
    for (int i = 0; *table && i < p->rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            (*table)[i * p->columns + p->column[k]] = k;
    return *table != NULL;
}

bool bg_joint_make_patterns(bg_joint_form *f, const double *lambda)
{
    bg_body_pairs p = {NULL, 0};
    bg_joint_patterns *x = &f->patterns;
    int *link = list_links(f), *scratch = BG_NEW_ARRAY(int, 2 * f->nv);
    source s = {f, OF_M, link, &p, scratch};
    bool good = link && scratch && make(&s, &x->M);
    s.of = OF_G;
    for (int j = 0; j < f->nv && good; j++)
        f->diagonal[j] = (int)bg_joint_find_place(&x->M, NULL, j, j);
    good = good && make(&s, &x->G);
    x->r = (bg_pattern){f->nv, f->nv, NULL, NULL};
    if (good && x->M.row_start) {
        good = bg_couplings_list_pairs(&f->mb, lambda, &p);
        map_to_links(f->mech, &p);
        s.of = OF_r;
        good = good && make(&s, &x->r);
    }
    s.of = OF_h;
    good = good && bg_couplings_make_rates(&f->mb) && make(&s, &x->h);
    free(p.pair);
    p = (bg_body_pairs){NULL, 0};
    good = good && bg_couplings_list_actions(&f->mb, &p) && make_z(&s, &x->z);
    good = good && (f->nq == f->nv || make_V(f, &x->V));
    good = good && make_table(&x->G, &x->G_places) && make_table(&x->r, &x->r_places) &&
           make_table(&x->h, &x->h_places);
    free(p.pair);
    free(link);
    free(scratch);
    return good;
}

void bg_joint_clear_patterns(bg_joint_form *f)
{
    const bg_pattern *const all[] = {&f->patterns.M, &f->patterns.G, &f->patterns.r,
                                     &f->patterns.V, &f->patterns.h, &f->patterns.z};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free((void *)all[k]->row_start);
        free((void *)all[k]->column);
    }
    free(f->patterns.G_places);
    free(f->patterns.r_places);
    free(f->patterns.h_places);
}

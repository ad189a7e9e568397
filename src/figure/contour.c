/* The boundary of a region by marching squares.
 *
 * The grid of n x n points of the window is surrounded by a ring of points that lie outside, so
 * that every boundary is a closed curve. A grid edge between an inner and an outer point is crossed
 * once, at a point found by bisection; in a cell, crossed edges are joined in pairs. */
#include "figure/figure.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BISECTIONS = 24 };

typedef struct contour_crossing {
    bool used, done;
    bg_place2 at;
    int next[2], ends; /* neighbours along the boundary */
} contour_crossing;

typedef struct tracer {
    const bg_window *window;
    bg_inside inside;
    void *self;
    int n, side;             /* points of the window, and with the ring, along an edge */
    bool *in;                /* [side side] */
    contour_crossing *edges; /* [2 side side] to the right of and above a point */
    bg_error *err;
} tracer;

static bg_place2 find_place(const tracer *t, int i, int j)
{
    const bg_window *w = t->window;
    return (bg_place2){w->x0 + (w->x1 - w->x0) * (i - 1) / (t->n - 1),
                       w->y0 + (w->y1 - w->y0) * (j - 1) / (t->n - 1)};
}

static bool is_ring(const tracer *t, int i, int j)
{
    return i == 0 || j == 0 || i == t->side - 1 || j == t->side - 1;
}

static bg_status sample(tracer *t)
{
    for (int j = 1; j < t->side - 1; j++)
        for (int i = 1; i < t->side - 1; i++) {
            bg_place2 p = find_place(t, i, j);
            bg_status st = t->inside(t->self, p.x, p.y, &t->in[j * t->side + i], t->err);
            if (st != BG_OK)
                return st;
        }
    return BG_OK;
}

/* Where the boundary crosses the way from (i, j) to (k, l). */
static bg_status cross(tracer *t, int i, int j, int k, int l, contour_crossing *c)
{
    if (t->in[j * t->side + i] == t->in[l * t->side + k])
        return BG_OK;
    bool first = t->in[j * t->side + i];
    bg_place2 in = first ? find_place(t, i, j) : find_place(t, k, l);
    bg_place2 out = first ? find_place(t, k, l) : find_place(t, i, j);
    bool ring = is_ring(t, i, j) || is_ring(t, k, l);
    for (int step = 0; step < BISECTIONS && !ring; step++) {
        bg_place2 middle = {0.5 * (in.x + out.x), 0.5 * (in.y + out.y)};
        bool inside = false;
        bg_status st = t->inside(t->self, middle.x, middle.y, &inside, t->err);
        if (st != BG_OK)
            return st;
        if (inside)
            in = middle;
        else
            out = middle;
    }
    *c = (contour_crossing){.used = true, .at = in};
    return BG_OK;
}

static bg_status find_crossings(tracer *t)
{
    bg_status st = BG_OK;
    for (int j = 0; j < t->side - 1 && st == BG_OK; j++)
        for (int i = 0; i < t->side - 1 && st == BG_OK; i++) {
            contour_crossing *c = t->edges + 2 * (j * t->side + i);
            st = cross(t, i, j, i + 1, j, c);
            if (st == BG_OK)
                st = cross(t, i, j, i, j + 1, c + 1);
        }
    return st;
}

static void join(tracer *t, int a, int b)
{
    t->edges[a].next[t->edges[a].ends++] = b;
    t->edges[b].next[t->edges[b].ends++] = a;
}

/* Joins the crossed edges of every cell. Where all four are crossed, each pair encloses one of the
 * two inner corners. */
static void join_cells(tracer *t)
{
    for (int j = 0; j < t->side - 1; j++)
        for (int i = 0; i < t->side - 1; i++) {
            int here = j * t->side + i, crossed[4], n = 0;
            /* below, right, above, left: neighbours in this order share a corner */
            int edges[4] = {2 * here, 2 * (here + 1) + 1, 2 * (here + t->side), 2 * here + 1};
            for (int k = 0; k < 4; k++)
                if (t->edges[edges[k]].used)
                    crossed[n++] = edges[k];
            if (n == 2) {
                join(t, crossed[0], crossed[1]);
            } else if (n == 4) {
                bool corner = t->in[here]; /* inner corners: below left and above right, or not */
                join(t, edges[0], edges[corner ? 3 : 1]);
                join(t, edges[2], edges[corner ? 1 : 3]);
            }
        }
}

static void walk(tracer *t, int first, bg_region *r)
{
    int at = first, from = -1;
    r->start[r->ncurves++] = r->count;
    do {
        contour_crossing *c = &t->edges[at];
        c->done = true;
        r->points[r->count++] = c->at;
        int next = c->next[0] == from && from >= 0 ? c->next[1] : c->next[0];
        from = at;
        at = next;
    } while (at != first && !t->edges[at].done);
    r->start[r->ncurves] = r->count;
}

static bg_status trace(tracer *t, bg_region *r)
{
    int n = 2 * t->side * t->side, used = 0;
    bg_status st = sample(t);
    if (st == BG_OK)
        st = find_crossings(t);
    if (st != BG_OK)
        return st;
    join_cells(t);
    for (int k = 0; k < n; k++)
        used += t->edges[k].used;
    r->points = BG_NEW_ARRAY(bg_place2, used);
    r->start = BG_NEW_ARRAY(int, used + 1);
    if (!r->points || !r->start)
        return bg_error_set(t->err, BG_NO_MEMORY, "out of memory for a region");
    for (int k = 0; k < n; k++)
        if (t->edges[k].used && !t->edges[k].done)
            walk(t, k, r);
    return BG_OK;
}

bg_status bg_region_trace(const bg_window *window, int n, bg_inside inside, void *self,
                          bg_region *region, bg_error *err)
{
    tracer t = {
        .window = window, .inside = inside, .self = self, .n = n, .side = n + 2, .err = err};
    *region = (bg_region){0};
    t.in = BG_NEW_ARRAY(bool, t.side *t.side);
    t.edges = BG_NEW_ARRAY(contour_crossing, 2 * t.side * t.side);
    bg_status st = t.in && t.edges ? trace(&t, region)
                                   : bg_error_set(err, BG_NO_MEMORY, "out of memory for a region");
    free(t.in);
    free(t.edges);
    return st;
}

void bg_region_clear(bg_region *region)
{
    free(region->points);
    free(region->start);
    *region = (bg_region){0};
}

/* The Jacobian of bdf as a picture: which unknowns stand in which equations, and which columns are
 * differenced together.
 *
 * Left, J = dF/dy of the stabilised index-2 form, rows F1 to F4, columns q, v, z, lambda, eta (001
 * Fig. 3): dark what differences have shown so far, light what the topology allows besides. Right,
 * the columns that are differenced, one group behind another (001 Figs. 4 and 5): no row has two
 * entries in a group. */
#include "base/memory.h"
#include "base/output.h"
#include "base/place.h"
#include "cli/cli.h"
#include "figure/figure.h"
#include "integrators/bdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 560, MARGIN = 60, TOP = 64, PARTS = 5, COLOURS = 6 };
enum { ALLOWED = 0xc9d6e6, SHOWN = 0x1f4e8c, INK = 0x222222, RULE = 0x999999 };
static const unsigned colours[COLOURS] = {0x1f4e8c, 0xc0504d, 0x5b8f3a,
                                          0x8064a2, 0xd98a29, 0x2f9aa8};

/* The whole matrix, row by row: 0 nothing, 1 allowed, 2 shown. */
typedef struct matrix {
    int n, first[PARTS + 1]; /* unknowns of q, v, z, lambda, eta; rows F1, F2, Fz, F3, F4 alike */
    unsigned char *entry;
} matrix;

static void set(matrix *x, int row, int column, int value)
{
    unsigned char *e = &x->entry[(size_t)row * (size_t)x->n + (size_t)column];
    *e = value > *e ? (unsigned char)value : *e;
}

/* A block in a pattern (NULL: full), its transpose with `turned`. */
static void add_block(matrix *x, const bg_pattern *p, int rows, int columns, int top, int left,
                      bool turned)
{
    for (int i = 0; i < rows; i++)
        for (int e = p ? p->row_start[i] : 0, end = p ? p->row_start[i + 1] : columns; e < end;
             e++) {
            int j = p ? p->column[e] : e;
            set(x, top + (turned ? j : i), left + (turned ? i : j), 2);
        }
}

static void add_unit(matrix *x, int n, int top, int left)
{
    for (int i = 0; i < n; i++)
        set(x, top + i, left + i, 2);
}

/* Rows of differences: r, h and w, which are F2, Fz and F3. */
static int find_row(const matrix *x, const bg_system_def *def, int i)
{
    const int of[] = {def->nv, def->nz, def->ng}, to[] = {1, 2, 3};
    int k = 0;
    for (; i >= of[k]; k++)
        i -= of[k];
    return x->first[to[k]] + i;
}

static bool fill(matrix *x, const bg_system_def *def, const bg_bdf_pattern *p)
{
    const int nv = def->nv, nz = def->nz, ng = def->ng;
    const int sizes[PARTS] = {nv, nv, nz, ng, ng};
    for (int k = 0; k < PARTS; k++)
        x->first[k + 1] = x->first[k] + sizes[k];
    x->n = x->first[PARTS];
    x->entry = BG_NEW_ARRAY(unsigned char, (size_t)x->n *(size_t)x->n);
    if (!x->entry)
        return false;
    const int *f = x->first;
    add_unit(x, nv, f[0], f[0]);
    add_unit(x, nv, f[0], f[1]);
    add_block(x, def->pattern_G, ng, nv, f[0], f[4], true);
    add_block(x, def->pattern_M, nv, nv, f[1], f[1], false);
    add_block(x, def->pattern_G, ng, nv, f[3], f[1], false); /* known, not by differences */
    add_unit(x, nz, f[2], f[2]);
    add_block(x, def->pattern_G, ng, nv, f[4], f[0], false);
    for (int j = 0; j < p->columns; j++)
        for (int i = 0; i < p->rows; i++) {
            size_t at = (size_t)j * (size_t)p->rows + (size_t)i;
            set(x, find_row(x, def, i), j, p->omega[at] ? 2 : p->topology[at] ? 1 : 0);
        }
    return true;
}

/* Squares of one colour, and room for as many as the picture has. */
typedef struct squares {
    bg_region region;
    double side;
    int room;
} squares;

static bool create_squares(squares *s, int room, double side)
{
    s->room = room;
    s->side = side;
    s->region.points = BG_NEW_ARRAY(bg_place2, (size_t)room * 4);
    s->region.start = BG_NEW_ARRAY(int, room + 1);
    return s->region.points && s->region.start;
}

static void add_square(squares *s, double x, double y)
{
    bg_region *r = &s->region;
    bg_place2 *p = r->points + r->count;
    const double a = s->side;
    p[0] = (bg_place2){x, y};
    p[1] = (bg_place2){x + a, y};
    p[2] = (bg_place2){x + a, y + a};
    p[3] = (bg_place2){x, y + a};
    r->count += 4;
    r->start[++r->ncurves] = r->count;
}

static void draw_squares(bg_canvas *c, squares *s, unsigned colour)
{
    bg_canvas_fill(c, &s->region, colour);
    s->region.count = s->region.ncurves = 0;
}

static void draw_matrix(bg_canvas *c, const matrix *x, squares *s)
{
    static const char *const names[] = {"q", "v", "z", "λ", "η"};
    static const char *const rows[] = {"F1", "F2", "Fz", "F3", "F4"};
    const double cell = s->side, end = x->n * cell;
    for (int value = 1; value <= 2; value++) {
        for (int i = 0; i < x->n; i++)
            for (int j = 0; j < x->n; j++)
                if (x->entry[(size_t)i * (size_t)x->n + (size_t)j] == value)
                    add_square(s, MARGIN + j * cell, TOP + i * cell);
        draw_squares(c, s, value == 2 ? SHOWN : ALLOWED);
    }
    for (int k = 0; k <= PARTS; k++) {
        const double at = x->first[k] * cell;
        if (k > 0 && k < PARTS && x->first[k] == x->first[k - 1])
            continue;
        bg_canvas_line(c, (bg_place2){MARGIN + at, TOP}, (bg_place2){MARGIN + at, TOP + end}, 0.5,
                       RULE);
        bg_canvas_line(c, (bg_place2){MARGIN, TOP + at}, (bg_place2){MARGIN + end, TOP + at}, 0.5,
                       RULE);
    }
    for (int k = 0; k < PARTS; k++) {
        const double middle = 0.5 * (x->first[k] + x->first[k + 1]) * cell;
        if (x->first[k + 1] == x->first[k])
            continue;
        bg_canvas_text(c, (bg_place2){MARGIN + middle, TOP - 6}, 13, BG_ANCHOR_MIDDLE, INK,
                       names[k]);
        bg_canvas_text(c, (bg_place2){MARGIN - 8, TOP + middle + 4}, 13, BG_ANCHOR_END, INK,
                       rows[k]);
    }
}

/* Columns of differences, group by group, with the rows F2, Fz and F3. */
static void draw_groups(bg_canvas *c, const bg_bdf_pattern *p, squares *s)
{
    const double cell = s->side, left = SIDE + 2.5 * MARGIN;
    for (int colour = 0; colour < COLOURS; colour++) {
        int at = 0;
        for (int g = 0; g < p->ngroups; g++)
            for (int j = 0; j < p->columns; j++) {
                if (p->group[j] != g)
                    continue;
                for (int i = 0; i < p->rows && g % COLOURS == colour; i++)
                    if (p->omega[(size_t)j * (size_t)p->rows + (size_t)i])
                        add_square(s, left + at * cell, TOP + i * cell);
                at++;
            }
        draw_squares(c, s, colours[colour]);
    }
    for (int g = 0, at = 0; g <= p->ngroups; g++) {
        bg_canvas_line(c, (bg_place2){left + at * cell, TOP},
                       (bg_place2){left + at * cell, TOP + p->rows * cell}, 0.4, RULE);
        for (int j = 0; j < p->columns; j++)
            at += p->group[j] == g;
    }
}

static int count(const matrix *x, int least)
{
    int n = 0;
    for (size_t i = 0; i < (size_t)x->n * (size_t)x->n; i++)
        n += x->entry[i] >= least;
    return n;
}

static bg_status draw(const matrix *x, const bg_bdf_pattern *p, double t, const char *path,
                      bg_error *err)
{
    bg_canvas *c = NULL;
    const char *data;
    size_t size;
    char text[160];
    squares s = {0};
    bg_status st = bg_canvas_create(2 * SIDE + 4 * MARGIN, SIDE + TOP + MARGIN, &c, err);
    if (st == BG_OK && !create_squares(&s, x->n * x->n, (double)SIDE / x->n))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
    if (st == BG_OK) {
        snprintf(text, sizeof text, "J at t = %g s: %d unknowns, %d entries, %d by topology", t,
                 x->n, count(x, 2), count(x, 1));
        bg_canvas_text(c, (bg_place2){MARGIN, 26}, 15, BG_ANCHOR_START, INK, text);
        snprintf(text, sizeof text, "%d columns by differences in %d group%s", p->columns,
                 p->ngroups, p->ngroups == 1 ? "" : "s");
        bg_canvas_text(c, (bg_place2){SIDE + 2.5 * MARGIN, 26}, 15, BG_ANCHOR_START, INK, text);
        draw_matrix(c, x, &s);
        draw_groups(c, p, &s);
        st = bg_canvas_finish(c, &data, &size, err);
    }
    if (st == BG_OK)
        st = bg_output_write(path, BG_PLACE_SVG, data, size, err);
    if (st == BG_OK)
        printf("  pattern          %d unknowns, %d entries at t = %g s, %d by topology;\n"
               "                   %d columns by differences in %d group%s\n",
               x->n, count(x, 2), t, count(x, 1), p->columns, p->ngroups,
               p->ngroups == 1 ? "" : "s");
    bg_canvas_destroy(c);
    free(s.region.points);
    free(s.region.start);
    return st;
}

bg_status bg_pattern_draw(const bg_system *system, bg_integrator *bdf, double until,
                          const char *path, bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(system);
    bg_bdf_pattern p;
    matrix x = {0};
    bg_status st = bg_integrator_step(bdf, err);
    while (st == BG_OK && bg_integrator_get_state(bdf)->t < until)
        st = bg_integrator_step(bdf, err);
    if (st != BG_OK)
        return st;
    if (!bg_bdf_get_pattern(bdf, &p))
        return bg_error_set(err, BG_BAD_INPUT,
                            "there are no differences of which to draw a pattern");
    st = fill(&x, def, &p) ? draw(&x, &p, bg_integrator_get_state(bdf)->t, path, err)
                           : bg_error_set(err, BG_NO_MEMORY, "out of memory for a picture");
    free(x.entry);
    return st;
}

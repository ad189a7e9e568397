/* Functions H(x, y).
 *
 * An expression has its derivatives along curves through the point: with x' = 1 they are H_x and
 * H_xx, with y' = 1 H_y and H_yy, and along both diagonals
 *
 *   H'' = H_xx + 2 H_xy + H_yy  and  H_xx - 2 H_xy + H_yy,   a quarter of whose difference is H_xy.
 *
 * A grid is a bicubic spline: cubic splines with slope zero at both ends along x and along y,
 *
 *   m_- / h_- + 2 (1/h_- + 1/h_+) m + m_+ / h_+ = 3 (d_- / h_- + d_+ / h_+)      slopes m, chords d
 *
 * give H_x and H_y at the nodes from H, and H_xy from H_y; within a cell H is the product of
 * Hermite's cubics of these. H and its derivatives up to the second are continuous in the grid, the
 * first ones at its edges, too, beyond which the height is that of the edge. */
#include "model/surface.h"

#include "model/csv.h"
#include "model/read.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 22, MAX_NODES = 1 << 24 };

/* Time is there to be refused: as in all that stands still, t would be a tonne. */
static const char *const variables[] = {"x", "y", "t"};
enum { TIME = 2, VARIABLES };

static bool uses_time(const bg_expression *e)
{
    const int *index;
    for (int n = bg_expression_get_variables(e, &index), k = 0; k < n; k++)
        if (index[k] == TIME)
            return true;
    return false;
}

void bg_surface_read_expression(const bg_value *v, bg_surface *s)
{
    const bg_value text = bg_value_member(v, "expression");
    if (!bg_value_exists(&text)) {
        bg_value_fail(&text, "is missing; give the height as an expression of x and y");
        return;
    }
    s->expression = bg_value_get_expression(&text, variables, VARIABLES);
    if (s->expression && uses_time(s->expression))
        bg_value_fail(&text, "uses the time t, but a road does not change; it moves with 'speed'");
    if (s->expression && !bg_expression_is_constant(s->expression))
        bg_value_note_corner(&text, bg_expression_find_corner(s->expression));
}

void bg_surface_clear(bg_surface *s)
{
    bg_expression_destroy(s->expression);
    free(s->x);
    free(s->y);
    free(s->node);
    *s = (bg_surface){0};
}

/* Slopes m[k stride] of the spline through f[k stride] at x[n]; scratch[n]. */
static void calc_slopes(int n, const double *x, const double *f, double *m, int stride,
                        double *scratch)
{
    double *upper = scratch;
    upper[0] = 0;
    m[0] = 0;
    for (int k = 1; k < n - 1; k++) {
        const double a = 1 / (x[k] - x[k - 1]), b = 1 / (x[k + 1] - x[k]);
        const double before = (f[k * stride] - f[(k - 1) * stride]) * a;
        const double behind = (f[(k + 1) * stride] - f[k * stride]) * b;
        const double pivot = 2 * (a + b) - a * upper[k - 1];
        upper[k] = b / pivot;
        m[k * stride] = (3 * (a * before + b * behind) - a * m[(k - 1) * stride]) / pivot;
    }
    m[(n - 1) * stride] = 0;
    for (int k = n - 2; k > 0; k--)
        m[k * stride] -= upper[k] * m[(k + 1) * stride];
}

/* H_x, H_y and H_xy from H at all nodes. */
static void calc_nodes(bg_reader *reader, bg_surface *s)
{
    const int nx = s->nx, ny = s->ny, longer = nx > ny ? nx : ny;
    double *scratch = bg_reader_allocate(reader, (size_t)longer, sizeof *scratch);
    if (!scratch)
        return;
    for (int j = 0; j < ny; j++) {
        double *row = s->node[(long)j * nx];
        calc_slopes(nx, s->x, row, row + 1, 4, scratch);
    }
    for (int i = 0; i < nx; i++) {
        double *column = s->node[i];
        calc_slopes(ny, s->y, column, column + 2, 4 * nx, scratch);
    }
    for (int j = 0; j < ny; j++) {
        double *row = s->node[(long)j * nx];
        calc_slopes(nx, s->x, row + 2, row + 3, 4, scratch);
    }
    free(scratch);
}

static double *read_axis(const bg_value *v, const char *key, int *n)
{
    const bg_value list = bg_value_member(v, key);
    double *x = bg_value_numbers(v, key, -1, n);
    if (v->reader->status == BG_OK && *n < 2)
        bg_value_fail(&list, "must have at least two places");
    for (int k = 1; k < *n && v->reader->status == BG_OK; k++) {
        const bg_value place = bg_value_element(&list, k);
        if (!(x[k] > x[k - 1]))
            bg_value_fail(&place, "must be greater than %g, the place before, but is %g", x[k - 1],
                          x[k]);
    }
    return x;
}

static void read_heights(const bg_value *v, bg_surface *s)
{
    const bg_value rows = bg_value_member(v, "heights");
    if (!bg_value_exists(&rows)) {
        bg_value_fail(&rows, "is missing; give a list of heights for every y, or a 'file'");
        return;
    }
    if (!bg_value_expect_list(&rows, s->ny))
        return;
    if ((double)s->nx * s->ny > MAX_NODES) {
        bg_value_fail(&rows, "has %g heights; at most %d are possible", (double)s->nx * s->ny,
                      MAX_NODES);
        return;
    }
    s->node = bg_reader_allocate(v->reader, (size_t)s->nx * (size_t)s->ny, sizeof *s->node);
    for (int j = 0; s->node && j < s->ny && v->reader->status == BG_OK; j++) {
        const bg_value row = bg_value_element(&rows, j);
        if (!bg_value_expect_list(&row, s->nx))
            return;
        for (int i = 0; i < s->nx && v->reader->status == BG_OK; i++) {
            const bg_value height = bg_value_element(&row, i);
            s->node[(long)j * s->nx + i][0] = bg_value_get_number(&height);
        }
    }
}

/* Takes the numbers of a line into a list; the first field into *first instead, unless NULL. */
static bg_status take_row(const bg_csv *csv, char *line, char **first, json_t *list)
{
    char *field = bg_csv_take_field(&line);
    bg_status st = BG_OK;
    if (first) {
        *first = field;
        field = bg_csv_take_field(&line);
    }
    for (; field && st == BG_OK; field = bg_csv_take_field(&line)) {
        double x = 0;
        st = bg_csv_read_number(csv, field, &x);
        if (st == BG_OK && json_array_append_new(list, json_real(x)) != 0)
            st = bg_error_set(csv->err, BG_NO_MEMORY, "out of memory for the table '%s'",
                              csv->path);
    }
    return st;
}

/* The lines behind the first: y and the heights at it. */
static bg_status take_heights(bg_csv *csv, json_t *x, json_t *y, json_t *heights)
{
    char *line, *first;
    bg_status st = bg_csv_take_line(csv, &line);
    for (; st == BG_OK && line; st = st == BG_OK ? bg_csv_take_line(csv, &line) : st) {
        json_t *row = json_array();
        double place = 0;
        if (!row || json_array_append_new(heights, row) != 0)
            return bg_error_set(csv->err, BG_NO_MEMORY, "out of memory for the table '%s'",
                                csv->path);
        st = take_row(csv, line, &first, row);
        if (st == BG_OK)
            st = bg_csv_read_number(csv, first, &place);
        if (st == BG_OK && json_array_append_new(y, json_real(place)) != 0)
            st = bg_error_set(csv->err, BG_NO_MEMORY, "out of memory for the table '%s'",
                              csv->path);
        /* in front of blanks the corner of the first line cannot be seen */
        if (st == BG_OK && json_array_size(y) == 1 &&
            json_array_size(row) + 1 == json_array_size(x))
            json_array_remove(x, 0);
        if (st == BG_OK && json_array_size(row) != json_array_size(x))
            st = bg_error_set(csv->err, BG_BAD_INPUT,
                              "table '%s', line %d: has %zu heights, but the first line has %zu "
                              "places x",
                              csv->path, csv->line, json_array_size(row), json_array_size(x));
    }
    return st;
}

static bg_status take_file(const char *path, json_t *x, json_t *y, json_t *heights, bg_error *err)
{
    bg_csv csv;
    char *line, *first;
    bg_status st = bg_csv_open(&csv, path, "numbers", MAX_LINE, err);
    if (st == BG_OK)
        st = bg_csv_take_line(&csv, &line);
    if (st == BG_OK && !line)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "table '%s': is empty; expected the places x on the first line, then y "
                          "and the heights at it on each",
                          path);
    if (st == BG_OK) {
        const char *field = line + strcspn(line, ",; \t");
        char *copy = strndup(line, (size_t)(field - line));
        const bool number = copy && bg_csv_is_number(copy);
        free(copy);
        st = take_row(&csv, line, number ? NULL : &first, x);
    }
    if (st == BG_OK)
        st = take_heights(&csv, x, y, heights);
    bg_csv_close(&csv);
    return st;
}

/* Puts the content of a file in its place, so that the model needs no other file. */
static void read_file(const bg_value *v, const bg_value *file)
{
    static const char *const others[] = {"x", "y", "heights"};
    bg_reader *reader = v->reader;
    json_t *list[3] = {json_array(), json_array(), json_array()};
    for (int k = 0; k < 3; k++) {
        const bg_value other = bg_value_member(v, others[k]);
        if (bg_value_exists(&other))
            bg_value_fail(&other, "is given beside a 'file'; give one of them");
    }
    const char *name = bg_value_text(v, "file");
    char *path = reader->status == BG_OK ? bg_value_find_file(v, name) : NULL;
    bg_error err = {0};
    bool good = list[0] && list[1] && list[2];
    bg_status st = path && good ? take_file(path, list[0], list[1], list[2], &err) : BG_OK;
    if (!good || st == BG_NO_MEMORY)
        bg_reader_fail_memory(reader);
    else if (st != BG_OK)
        bg_value_fail(file, "%s", err.text);
    for (int k = 0; k < 3; k++) {
        if (reader->status == BG_OK && json_object_set(v->json, others[k], list[k]) != 0)
            bg_reader_fail_memory(reader);
        json_decref(list[k]);
    }
    if (reader->status == BG_OK)
        json_object_del(v->json, "file");
    free(path);
}

void bg_surface_read_grid(const bg_value *v, bg_surface *s)
{
    const bg_value file = bg_value_member(v, "file");
    if (bg_value_exists(&file))
        read_file(v, &file);
    s->x = read_axis(v, "x", &s->nx);
    s->y = read_axis(v, "y", &s->ny);
    if (v->reader->status == BG_OK)
        read_heights(v, s);
    if (v->reader->status == BG_OK)
        calc_nodes(v->reader, s);
}

/* k with x_k <= at < x_{k+1}, or the first or the last of these. */
static int find_cell(int n, const double *x, double at)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Hermite's cubics on [a, a + h] at a + s h, and their derivatives: w[d][0], w[d][1] of the values
 * at both ends, w[d][2], w[d][3] of the slopes there. */
static void calc_weights(double h, double s, double w[3][4])
{
    const double r = 1 - s;
    w[0][0] = r * r * (1 + 2 * s);
    w[0][1] = s * s * (3 - 2 * s);
    w[0][2] = h * s * r * r;
    w[0][3] = -h * s * s * r;
    w[1][0] = -6 * s * r / h;
    w[1][1] = 6 * s * r / h;
    w[1][2] = r * (1 - 3 * s);
    w[1][3] = s * (3 * s - 2);
    w[2][0] = (12 * s - 6) / (h * h);
    w[2][1] = (6 - 12 * s) / (h * h);
    w[2][2] = (6 * s - 4) / h;
    w[2][3] = (6 * s - 2) / h;
}

/* The weights at a place on the axis (side 0, also a little beyond its ends), before it (-1) or
 * behind it (1), where nothing changes. */
static int find_weights(int n, const double *x, double at, int side, double w[3][4])
{
    const double place = side < 0 ? x[0] : side > 0 ? x[n - 1] : at;
    const int k = find_cell(n, x, place);
    const double h = x[k + 1] - x[k];
    calc_weights(h, (place - x[k]) / h, w);
    if (side != 0)
        memset(w[1], 0, 2 * sizeof w[1]);
    return k;
}

static void calc_grid(const bg_surface *s, int side, double x, double y, double along[3],
                      double across[3])
{
    const int beside = y < s->y[0] ? -1 : y > s->y[s->ny - 1] ? 1 : 0;
    double wx[3][4], wy[3][4], by_x[3][4]; /* d/dx^k of H (0, 1) and H_y (2, 3) at both y */
    const int i = find_weights(s->nx, s->x, x, side, wx);
    const int j = find_weights(s->ny, s->y, y, beside, wy);
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 4; c++) {
            const double *a = s->node[(long)(j + c % 2) * s->nx + i], *b = a + 4;
            const int k = c < 2 ? 0 : 2; /* H and H_x, or H_y and H_xy */
            by_x[d][c] = wx[d][0] * a[k] + wx[d][1] * b[k] + wx[d][2] * a[k + 1] +
                         wx[d][3] * b[k + 1];
        }
    double H[3][3] = {{0}}; /* by x, by y */
    for (int d = 0; d < 3; d++)
        for (int e = 0; d + e < 3; e++)
            for (int c = 0; c < 4; c++)
                H[d][e] += wy[e][c] * by_x[d][c];
    for (int d = 0; d < 3; d++)
        along[d] = H[d][0];
    across[0] = H[0][1];
    across[1] = H[1][1];
    across[2] = H[0][2];
}

/* H and its derivatives along a straight line. */
static void calc_jet(const bg_expression *e, double x, double y, double dx, double dy,
                     double out[3])
{
    const double values[VARIABLES] = {x, y}, rates[VARIABLES] = {dx, dy}, none[VARIABLES] = {0};
    bg_expression_calc_jet(e, values, rates, none, out);
}

void bg_surface_calc(const bg_surface *s, int side, double x, double y, double along[3],
                     double across[3])
{
    if (!s->expression) {
        calc_grid(s, side, x, y, along, across);
        return;
    }
    double by_y[3], up[3], down[3];
    calc_jet(s->expression, x, y, 1, 0, along);
    calc_jet(s->expression, x, y, 0, 1, by_y);
    calc_jet(s->expression, x, y, 1, 1, up);
    calc_jet(s->expression, x, y, 1, -1, down);
    across[0] = by_y[1];
    across[1] = 0.25 * (up[2] - down[2]);
    across[2] = by_y[2];
}

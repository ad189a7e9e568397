/* Plots of a page: rows, steps, residuals and events of a result.
 *
 * All channels share their times. A result with more rows than a page should carry is cut into
 * stretches of as many rows each, of which every channel shows its smallest and its largest value
 * in the order in which they come; a value that is not finite is never left out. The first and the
 * last row are always there. */
#include "base/memory.h"
#include "base/text.h"
#include "report/page.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double channel_bytes = 4e6;    /* of all channels in the page */
static const double value_bytes = 16.0 / 3; /* a float as base64 */
enum { MIN_POINTS = 500, MAX_POINTS = 20000, MAX_STEPS = 5000 };

/* Which rows a plot shows. */
typedef struct plan {
    long rows, points;
    long stretches; /* between the first and the last row; 0: every row is a point */
} plan;

static plan make_plan(long rows, long limit)
{
    plan p = {.rows = rows, .points = rows};
    if (rows > limit) {
        p.stretches = (limit - 2) / 2;
        p.points = 2 + 2 * p.stretches;
    }
    return p;
}

/* The rows of a stretch: from begin to before the next one's. */
static long find_begin(const plan *p, long stretch)
{
    return 1 + (long)((double)(p->rows - 2) * (double)stretch / (double)p->stretches);
}

static void select_times(const plan *p, const double *t, double *out)
{
    if (p->stretches == 0) {
        for (long k = 0; k < p->rows; k++)
            out[k] = t[k];
        return;
    }
    out[0] = t[0];
    for (long k = 0; k < p->stretches; k++) {
        out[1 + 2 * k] = t[find_begin(p, k)];
        out[2 + 2 * k] = t[find_begin(p, k + 1) - 1];
    }
    out[p->points - 1] = t[p->rows - 1];
}

/* The two values of rows begin .. end - 1 of a column. */
static void select_two(const double *x, size_t stride, long begin, long end, float out[2])
{
    long low = begin, high = begin;
    for (long k = begin; k < end; k++) {
        double value = x[(size_t)k * stride];
        if (!isfinite(value)) {
            out[0] = out[1] = (float)value;
            return;
        }
        low = value < x[(size_t)low * stride] ? k : low;
        high = value > x[(size_t)high * stride] ? k : high;
    }
    out[0] = (float)x[(size_t)(low < high ? low : high) * stride];
    out[1] = (float)x[(size_t)(low < high ? high : low) * stride];
}

static void select_values(const plan *p, const double *x, size_t stride, float *out)
{
    if (p->stretches == 0) {
        for (long k = 0; k < p->rows; k++)
            out[k] = (float)x[(size_t)k * stride];
        return;
    }
    out[0] = (float)x[0];
    for (long k = 0; k < p->stretches; k++)
        select_two(x, stride, find_begin(p, k), find_begin(p, k + 1), out + 1 + 2 * k);
    out[p->points - 1] = (float)x[(size_t)(p->rows - 1) * stride];
}

/* What writing channels needs. */
typedef struct writer {
    bg_json *j;
    bg_page_result *r;
    plan p;
    const double *t;
    float *values; /* [points] */
    double *size;  /* [outputs] largest value; NAN: not finite */
} writer;

static void count_not_finite(const writer *w, const double *x, size_t stride)
{
    for (long k = 0; k < w->p.rows; k++)
        if (!isfinite(x[(size_t)k * stride])) {
            if (w->r->not_finite == 0 || w->t[k] < w->r->not_finite_t)
                w->r->not_finite_t = w->t[k];
            w->r->not_finite++;
        }
}

static void write_channel(const writer *w, const char *name, const char *unit, const char *group,
                          const double *x, size_t stride)
{
    bg_json_open(w->j, NULL, '{');
    bg_json_text(w->j, "name", name);
    bg_json_text(w->j, "unit", unit);
    bg_json_text(w->j, "group", group);
    count_not_finite(w, x, stride);
    select_values(&w->p, x, stride, w->values);
    bg_json_floats(w->j, "data", w->values, (bg_json_shape){{(size_t)w->p.points}});
    bg_json_close(w->j, '}');
}

static double find_size(const writer *w, const double *x, size_t stride)
{
    double size = 0;
    for (long k = 0; k < w->p.rows; k++) {
        const double value = fabs(x[(size_t)k * stride]);
        size = value > size || isnan(value) ? value : size;
    }
    return isfinite(size) ? size : NAN;
}

static bg_status write_dataset(const writer *w, const char *dataset, bg_error *err)
{
    bg_page_result *r = w->r;
    int width = bg_result_get_width(r->file, dataset);
    double *x;
    bg_status st = bg_rows_load(r->file, dataset, &x, err);
    for (int k = 0; k < width && st == BG_OK; k++) {
        char buffer[64];
        const char *unit = bg_result_get_unit(r->file, dataset, k); /* older files have none */
        if (strcmp(dataset, "outputs") == 0)
            w->size[k] = find_size(w, x + k, (size_t)width);
        write_channel(w, bg_result_get_name(r->file, dataset, k, buffer, sizeof buffer),
                      *unit ? unit : bg_page_find_unit(r->scene, dataset, k), dataset, x + k,
                      (size_t)width);
    }
    free(x);
    return st;
}

/* Inputs of the model, which follow from the times. */
static bg_status write_signals(const writer *w, bg_error *err)
{
    const bg_model *m = w->r->scene ? w->r->scene->model : NULL;
    if (!m || m->nsignals == 0)
        return BG_OK;
    double *x = BG_NEW_ARRAY(double, w->p.rows);
    if (!x)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the inputs of a plot");
    for (int k = 0; k < m->nsignals; k++) {
        for (long i = 0; i < w->p.rows; i++) {
            double u[3];
            bg_signal_calc(&m->signals[k], w->t[i], u);
            x[i] = u[0];
        }
        write_channel(w, m->signals[k].name, bg_page_find_unit(w->r->scene, "inputs", k), "signals",
                      x, 1);
    }
    free(x);
    return BG_OK;
}

static long calc_limit(const bg_page_result *r)
{
    static const char *const datasets[] = {"outputs", "q", "v", "z", "lambda"};
    int channels = r->scene ? r->scene->model->nsignals : 0;
    for (int k = 0; k < 5; k++)
        channels += bg_result_get_width(r->file, datasets[k]);
    double limit = channel_bytes / (value_bytes * fmax(1, channels));
    return (long)fmin(MAX_POINTS, fmax(MIN_POINTS, limit));
}

bg_status bg_page_write_channels(bg_json *j, bg_page_result *r, bg_error *err)
{
    static const char *const datasets[] = {"outputs", "q", "v", "z", "lambda"};
    bg_rows rows;
    bg_status st = bg_rows_read_times(r->file, &rows, err);
    writer w = {.j = j, .r = r, .p = make_plan(rows.n, calc_limit(r)), .t = rows.t};
    double *times = BG_NEW_ARRAY(double, w.p.points);
    w.values = BG_NEW_ARRAY(float, w.p.points);
    const int outputs = bg_result_get_width(r->file, "outputs");
    w.size = BG_NEW_ARRAY(double, outputs);
    if (st == BG_OK && (!times || !w.values || !w.size))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the plots of a result");
    if (st == BG_OK) {
        r->rows = rows.n;
        r->drawn = w.p.points;
        select_times(&w.p, rows.t, times);
        bg_json_doubles(j, "t", times, (bg_json_shape){{(size_t)w.p.points}});
        bg_json_open(j, "channels", '[');
        for (int k = 0; k < 5 && st == BG_OK; k++)
            st = write_dataset(&w, datasets[k], err);
        if (st == BG_OK)
            st = write_signals(&w, err);
        bg_json_close(j, ']');
        const bool known = r->scene && r->scene->model->noutputs == outputs;
        bg_page_write_plots(j, r, known ? w.size : NULL);
    }
    free(times);
    free(w.values);
    free(w.size);
    bg_rows_clear(&rows);
    return st;
}

/* The columns of the step history; its first row is the start. */
enum { STEP_T, STEP_H, STEP_ORDER, STEP_REJECTED, STEP_G, STEP_GV, STEP_GA, STEP_COLUMNS };

typedef struct history {
    double *x[STEP_COLUMNS];
    long n;
} history;

static bg_status read_history(bg_page_result *r, history *s, bg_error *err)
{
    static const char *const names[STEP_COLUMNS] = {
        "steps/t", "steps/h", "steps/order", "steps/rejected", "steps/g", "steps/gv", "steps/ga"};
    bg_status st = BG_OK;
    *s = (history){.n = bg_result_get_info(r->file)->steps};
    for (int k = 0; k < STEP_COLUMNS && st == BG_OK; k++) {
        st = bg_rows_load(r->file, names[k], &s->x[k], err);
        if (!s->x[k])
            s->n = 0; /* a file without them */
    }
    return st;
}

static void write_column(bg_json *j, const char *key, const plan *p, const double *x, float *values)
{
    select_values(p, x, 1, values);
    bg_json_floats(j, key, values, (bg_json_shape){{(size_t)p->points}});
}

static int find_order(const history *s)
{
    for (long k = 1; k < s->n; k++)
        if (s->x[STEP_ORDER][k] != s->x[STEP_ORDER][0])
            return 0;
    return s->n > 0 ? (int)bg_double_to_long(s->x[STEP_ORDER][0], 0, INT_MAX) : 0;
}

static void write_steps(bg_json *j, const bg_page_result *r, const history *s, double *t,
                        float *values)
{
    const plan p = make_plan(s->n - 1, MAX_STEPS); /* behind the start */
    bg_json_open(j, "steps", '{');
    select_times(&p, s->x[STEP_T] + 1, t);
    bg_json_doubles(j, "t", t, (bg_json_shape){{(size_t)p.points}});
    write_column(j, "h", &p, s->x[STEP_H] + 1, values);
    if (r->order == 0)
        write_column(j, "order", &p, s->x[STEP_ORDER] + 1, values);
    else
        bg_json_null(j, "order");
    bg_json_null(j, "accepted"); /* all of them */
    write_column(j, "rejected", &p, s->x[STEP_REJECTED] + 1, values);
    bg_json_close(j, '}');
}

static bool is_known(const double *x, long n)
{
    for (long k = 0; k < n; k++)
        if (!isnan(x[k]))
            return true;
    return false;
}

static void write_residuals(bg_json *j, const history *s, double *t, float *values)
{
    const plan p = make_plan(s->n, MAX_STEPS);
    bg_json_open(j, "residuals", '{');
    select_times(&p, s->x[STEP_T], t);
    bg_json_doubles(j, "t", t, (bg_json_shape){{(size_t)p.points}});
    write_column(j, "g", &p, s->x[STEP_G], values);
    write_column(j, "gv", &p, s->x[STEP_GV], values);
    if (is_known(s->x[STEP_GA], s->n))
        write_column(j, "ga", &p, s->x[STEP_GA], values);
    else
        bg_json_null(j, "ga");
    bg_json_close(j, '}');
}

bg_status bg_page_write_steps(bg_json *j, bg_page_result *r, bg_error *err)
{
    history s;
    bg_status st = read_history(r, &s, err);
    double *t = BG_NEW_ARRAY(double, s.n);
    float *values = BG_NEW_ARRAY(float, s.n);
    if (st == BG_OK && (!t || !values))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the steps of a result");
    if (st == BG_OK) {
        r->steps = s.n > 0 ? s.n - 1 : 0;
        r->drawn_steps = make_plan(r->steps, MAX_STEPS).points;
        r->order = find_order(&s);
        if (r->steps > 0)
            write_steps(j, r, &s, t, values);
        else
            bg_json_null(j, "steps");
        if (s.n > 0 && bg_result_get_width(r->file, "lambda") > 0)
            write_residuals(j, &s, t, values);
        else
            bg_json_null(j, "residuals");
    }
    for (int k = 0; k < STEP_COLUMNS; k++)
        free(s.x[k]);
    free(t);
    free(values);
    return st;
}

bg_status bg_page_write_events(bg_json *j, bg_page_result *r, bg_error *err)
{
    static const char *const names[] = {"events/t", "events/index", "events/direction"};
    const long n = bg_result_get_info(r->file)->events;
    double *x[3] = {NULL, NULL, NULL};
    bg_status st = BG_OK;
    for (int k = 0; k < 3 && st == BG_OK; k++)
        st = bg_rows_load(r->file, names[k], &x[k], err);
    bg_json_open(j, "events", '[');
    for (long k = 0; k < n && st == BG_OK && x[0] && x[1] && x[2]; k++) {
        char buffer[160];
        if (!isfinite(x[0][k]))
            continue;
        const int direction = (int)bg_double_to_long(x[2][k], -1, 1);
        const int index = (int)bg_double_to_long(x[1][k], -1, INT_MAX);
        bg_json_open(j, NULL, '{');
        bg_json_number(j, "t", x[0][k]);
        bg_json_text(j, "name",
                     bg_result_get_event_text(r->file, index, direction, buffer, sizeof buffer));
        bg_json_int(j, "direction", direction);
        bg_json_close(j, '}');
    }
    bg_json_close(j, ']');
    for (int k = 0; k < 3; k++)
        free(x[k]);
    return st;
}

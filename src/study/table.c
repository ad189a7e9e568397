/* The table: all records, and the columns that follow from several of them. */
#include "base/memory.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_table_create(const bg_study *s, bg_table **table, bg_error *err)
{
    bg_table *t = BG_NEW(bg_table);
    *table = t;
    if (t) {
        t->study = s;
        t->rows = BG_NEW_ARRAY(bg_record, s->ncases);
    }
    if (t && t->rows)
        return BG_OK;
    free(t);
    *table = NULL;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for a table of %ld cases", s->ncases);
}

void bg_table_destroy(bg_table *t)
{
    if (!t)
        return;
    for (long k = 0; k < t->study->ncases; k++)
        bg_record_clear(t->study, &t->rows[k]);
    free(t->rows);
    free(t);
}

double bg_slope_calc(const double *x, const double *y, int n)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        mx += log(x[i]) / n;
        my += log(y[i]) / n;
    }
    for (int i = 0; i < n; i++) {
        xx += (log(x[i]) - mx) * (log(x[i]) - mx);
        xy += (log(x[i]) - mx) * (log(y[i]) - my);
    }
    return n >= 2 && xx > 0 ? xy / xx : NAN;
}

/* What the ladder is climbed by: a setting or a metric of the row. */
static double find_rung(const bg_table *t, const bg_metric *m, long k, const json_t *settings)
{
    const json_t *value = json_object_get(settings, m->over);
    if (json_is_number(value))
        return json_number_value(value);
    for (int i = 0; i < t->study->nmetrics; i++)
        if (strcmp(t->study->metrics[i].key, m->over) == 0)
            return bg_cell_get_number(&t->rows[k].cells[i]);
    return NAN;
}

typedef struct ladders {
    int *of;         /* [ncases] which ladder */
    double *x, *y;   /* [ncases] NAN: does not count */
    double *px, *py; /* [ncases] points of one ladder */
    int count;
} ladders;

/* Rows of one ladder have all settings in common but the rungs. */
static bool find_ladders(const bg_table *t, const bg_metric *m, ladders *l)
{
    const bg_study *s = t->study;
    const char *rungs[] = {m->over, "tol", "tol_factor", "rtol", "atol", "step", "h_max"};
    bool metric = false;
    for (int i = 0; i < s->nmetrics; i++)
        metric = metric || strcmp(s->metrics[i].key, m->over) == 0;
    for (long k = 0; k < s->ncases; k++) {
        json_t *settings = bg_study_make_settings(s, k);
        double y = t->rows[k].cells ? fabs(bg_cell_get_number(&t->rows[k].cells[m->of])) : NAN;
        l->x[k] = t->rows[k].cells ? find_rung(t, m, k, settings) : NAN;
        l->y[k] = t->rows[k].ok && y > m->floor && y < m->ceiling && l->x[k] > 0 ? y : NAN;
        json_decref(settings);
    }
    const int n = metric ? (int)(sizeof rungs / sizeof *rungs) : 1;
    l->count = bg_study_find_groups(s, (bg_names){rungs, n}, l->of);
    return l->count >= 0;
}

/* Keeps the points with the n smallest x, in ascending order; returns their number. */
static int keep_lowest(double *x, double *y, int points, int n)
{
    for (int i = 1; i < points; i++)
        for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
            double swap_x = x[k], swap_y = y[k];
            x[k] = x[k - 1];
            y[k] = y[k - 1];
            x[k - 1] = swap_x;
            y[k - 1] = swap_y;
        }
    return points < n ? points : n;
}

static void fill_order(bg_table *t, int column, ladders *l)
{
    const bg_metric *m = &t->study->metrics[column];
    long n = t->study->ncases;
    for (int ladder = 0; ladder < l->count; ladder++) {
        int points = 0;
        for (long k = 0; k < n; k++)
            if (l->of[k] == ladder && isfinite(l->y[k])) {
                l->px[points] = l->x[k];
                l->py[points++] = l->y[k];
                if (m->local && points > 1)
                    t->rows[k].cells[column] = bg_cell_from_number(
                        bg_slope_calc(&l->px[points - 2], &l->py[points - 2], 2));
            }
        if (m->last > 0)
            points = keep_lowest(l->px, l->py, points, m->last);
        double slope = bg_slope_calc(l->px, l->py, points);
        for (long k = 0; k < n && !m->local; k++)
            if (l->of[k] == ladder && t->rows[k].ok)
                t->rows[k].cells[column] = bg_cell_from_number(slope);
    }
}

static bool derive_order(bg_table *t, int column)
{
    long n = t->study->ncases;
    ladders l = {BG_NEW_ARRAY(int, n),    BG_NEW_ARRAY(double, n), BG_NEW_ARRAY(double, n),
                 BG_NEW_ARRAY(double, n), BG_NEW_ARRAY(double, n), 0};
    bool ok = l.of && l.x && l.y && l.px && l.py && find_ladders(t, &t->study->metrics[column], &l);
    if (ok)
        fill_order(t, column, &l);
    free(l.of);
    free(l.x);
    free(l.y);
    free(l.px);
    free(l.py);
    return ok;
}

/* Rows by their settings. */
static json_t *index_rows(const bg_study *s)
{
    json_t *known = json_object();
    for (long k = 0; k < s->ncases; k++) {
        json_t *settings = bg_study_make_settings(s, k);
        char *key = settings ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        if (key)
            json_object_set_new(known, key, json_integer(k));
        free(key);
        json_decref(settings);
    }
    return known;
}

/* The row that row k is compared with; -1: there is none. */
static long find_base(const bg_study *s, const bg_metric *m, const json_t *known, long k)
{
    bg_case at = bg_study_find_case(s, k);
    if (json_is_string(m->base)) {
        for (long i = 0; i < s->nlist; i++) {
            json_t *name = json_object_get(json_array_get(s->list, (size_t)i), "name");
            if (json_equal(name, m->base))
                return (i * s->ngrid + at.grid) * s->nrandom + at.draw;
        }
        return -1;
    }
    json_t *settings = bg_study_make_settings(s, k);
    bool ok = settings && bg_settings_merge(settings, m->base);
    char *key = ok ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_t *found = json_object_get(known, key ? key : "");
    free(key);
    json_decref(settings);
    return found ? (long)json_integer_value(found) : -1;
}

static bool derive_ratio(bg_table *t, int column)
{
    const bg_study *s = t->study;
    const bg_metric *m = &s->metrics[column];
    json_t *known = json_is_object(m->base) ? index_rows(s) : json_object();
    for (long k = 0; k < s->ncases; k++) {
        long base = m->by >= 0 ? k : find_base(s, m, known, k);
        if (base < 0 || !t->rows[k].ok || !t->rows[base].ok)
            continue;
        double x = bg_cell_get_number(&t->rows[k].cells[m->of]);
        t->rows[k].cells[column] = bg_cell_from_number(
            x / bg_cell_get_number(&t->rows[base].cells[m->by >= 0 ? m->by : m->of]));
    }
    json_decref(known);
    return true;
}

bg_status bg_table_derive(bg_table *t, bg_error *err)
{
    for (int i = 0; i < t->study->nmetrics; i++) {
        const bg_metric *m = &t->study->metrics[i];
        if (m->timing && !t->study->timing)
            continue;
        bool ok = m->kind == BG_METRIC_ORDER   ? derive_order(t, i)
                  : m->kind == BG_METRIC_RATIO ? derive_ratio(t, i)
                  : m->kind == BG_METRIC_GROUP ? bg_table_derive_group(t, i)
                                               : true;
        if (!ok)
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for the column '%s'", m->key);
    }
    return BG_OK;
}

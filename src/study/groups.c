/* Groups of cases that differ in nothing but some settings, and the columns that take the median,
 * the mean or the extremes of a metric over such a group: what a single run leaves to chance (step
 * sequences, counts) is told by many neighbouring ones. */
#include "base/memory.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void remove_settings(const bg_study *s, bg_names without, json_t *settings)
{
    for (int i = 0; i < without.count; i++) {
        json_object_del(settings, without.items[i]);
        for (int k = 0; k < s->ndraws && strcmp(without.items[i], "draws") == 0; k++)
            json_object_del(settings, s->draws[k].key);
    }
}

int bg_study_find_groups(const bg_study *s, bg_names without, int *of)
{
    json_t *known = json_object();
    int count = 0;
    bool ok = known != NULL;
    for (long k = 0; ok && k < s->ncases; k++) {
        json_t *settings = bg_study_make_settings(s, k);
        if (settings)
            remove_settings(s, without, settings);
        char *key = settings ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        json_t *found = json_object_get(known, key ? key : "");
        of[k] = found ? (int)json_integer_value(found) : count;
        ok = key && (found || json_object_set_new(known, key, json_integer(count++)) == 0);
        free(key);
        json_decref(settings);
    }
    json_decref(known);
    return ok ? count : -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n values, which are sorted; NAN: there are none. */
static double take(double *x, int n, bg_take way)
{
    double sum = 0;
    if (n == 0)
        return NAN;
    qsort(x, (size_t)n, sizeof *x, compare);
    for (int i = 0; i < n; i++)
        sum += x[i];
    switch (way) {
    case BG_TAKE_MIN:
        return x[0];
    case BG_TAKE_MAX:
        return x[n - 1];
    case BG_TAKE_RANGE:
        return x[n - 1] - x[0];
    case BG_TAKE_MEAN:
        return sum / n;
    default:
        return (x[(n - 1) / 2] + x[n / 2]) / 2;
    }
}

bool bg_table_derive_group(bg_table *t, int column)
{
    const bg_study *s = t->study;
    const bg_metric *m = &s->metrics[column];
    int *of = BG_NEW_ARRAY(int, s->ncases);
    double *x = BG_NEW_ARRAY(double, s->ncases);
    int count = of && x ? bg_study_find_groups(s, m->differing, of) : -1;
    for (int group = 0; group < count; group++) {
        int n = 0;
        for (long k = 0; k < s->ncases; k++) {
            double value = of[k] == group && t->rows[k].ok
                               ? bg_cell_get_number(&t->rows[k].cells[m->of])
                               : NAN;
            if (isfinite(value))
                x[n++] = value;
        }
        double taken = take(x, n, m->take);
        for (long k = 0; k < s->ncases; k++)
            if (of[k] == group && t->rows[k].ok)
                t->rows[k].cells[column] = bg_cell_from_number(taken);
    }
    free(of);
    free(x);
    return count >= 0;
}

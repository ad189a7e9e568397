/* From the number of a case to its settings and its name. */
#include "base/memory.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_case bg_study_find_case(const bg_study *s, long k)
{
    return (bg_case){k / (s->ngrid * s->nrandom), k / s->nrandom % s->ngrid, k % s->nrandom};
}

bool bg_settings_merge(json_t *into, const json_t *from)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)from, key, value)
    {
        if (json_is_null(value))
            json_object_del(into, key);
        else if (json_object_set(into, key, value))
            return false;
    }
    return true;
}

/* The value of a grid key in grid point `index`; the last key changes fastest. */
static json_t *find_grid_value(const bg_study *s, const char *wanted, long index)
{
    long stride = s->ngrid;
    const char *key;
    json_t *values;
    json_object_foreach(s->grid, key, values)
    {
        stride /= (long)json_array_size(values);
        long i = index / stride % (long)json_array_size(values);
        if (strcmp(key, wanted) == 0)
            return json_array_get(values, (size_t)i);
    }
    return NULL;
}

static bool put_grid(const bg_study *s, long index, json_t *settings)
{
    const char *key;
    json_t *values;
    json_object_foreach(s->grid, key, values)
    {
        if (json_object_set(settings, key, find_grid_value(s, key, index)))
            return false;
    }
    return true;
}

json_t *bg_study_make_settings(const bg_study *s, long k)
{
    bg_case at = bg_study_find_case(s, k);
    json_t *settings = json_object();
    bool ok = settings && bg_settings_merge(settings, s->base);
    if (ok && s->list)
        ok = bg_settings_merge(settings, json_array_get(s->list, (size_t)at.list));
    json_object_del(settings, "name");
    json_object_del(settings, "reference");
    json_object_del(settings, "comment");
    ok = ok && put_grid(s, at.grid, settings);
    for (int i = 0; i < s->ndraws && ok; i++) {
        double x = bg_draw_calc(&s->draws[i], s->seed, (uint64_t)at.draw);
        ok = json_object_set_new(settings, s->draws[i].key, json_real(x)) == 0;
    }
    if (ok)
        return settings;
    json_decref(settings);
    return NULL;
}

/* Short text of a value: numbers with six digits, what is long as its place in the grid. */
static void write_value(const json_t *value, long index, char *buffer, size_t size)
{
    if (json_is_number(value))
        snprintf(buffer, size, "%g", json_number_value(value));
    else if (json_is_string(value))
        snprintf(buffer, size, "%.60s", json_string_value(value));
    else
        snprintf(buffer, size, "(%ld)", index + 1);
}

/* The last part of a key, or all of it where two keys of the grid end alike. */
static const char *shorten(const bg_study *s, const char *key)
{
    const char *dot = strrchr(key, '.'), *other;
    const char *full = strncmp(key, "set.", 4) == 0 ? key + 4 : key;
    json_t *unused;
    json_object_foreach(s->grid, other, unused)
    {
        const char *end = strrchr(other, '.');
        if (dot && strcmp(other, key) != 0 && strcmp(end ? end + 1 : other, dot + 1) == 0)
            return full;
    }
    return dot ? dot + 1 : key;
}

char *bg_study_make_name(const bg_study *s, long k)
{
    bg_case at = bg_study_find_case(s, k);
    size_t size = 0;
    char *name = NULL, value[64];
    FILE *out = open_memstream(&name, &size);
    if (!out)
        return NULL;
    const char *separator = "";
    if (s->list) {
        const json_t *entry = json_array_get(s->list, (size_t)at.list);
        fputs(json_string_value(json_object_get(entry, "name")), out);
        separator = ", ";
    }
    const char *key;
    json_t *values;
    json_object_foreach(s->grid, key, values)
    {
        write_value(find_grid_value(s, key, at.grid), at.grid, value, sizeof value);
        fprintf(out, "%s%s=%s", separator, shorten(s, key), value);
        separator = ", ";
    }
    if (s->ndraws > 0)
        fprintf(out, "%s#%ld", separator, at.draw);
    else if (!s->list && !s->grid)
        fputs(s->name, out);
    if (fclose(out) == 0)
        return name;
    free(name);
    return NULL;
}

int bg_study_find_reference(const bg_study *s, const bg_metric *metric, long k)
{
    if (metric->reference >= 0)
        return metric->reference;
    bg_case at = bg_study_find_case(s, k);
    const json_t *entry = json_array_get(s->list, (size_t)at.list);
    const char *name = json_string_value(json_object_get(entry, "reference"));
    for (int i = 0; name && i < s->nreferences; i++)
        if (strcmp(s->references[i].name, name) == 0)
            return i;
    return 0; /* the only one */
}

bool bg_metric_is_own(const bg_metric *metric)
{
    return metric->kind != BG_METRIC_ORDER && metric->kind != BG_METRIC_RATIO &&
           metric->kind != BG_METRIC_GROUP;
}

bool bg_study_shows(const bg_study *s, int metric)
{
    return s->timing || !s->metrics[metric].timing;
}

bool bg_study_lists(const bg_study *s, long k)
{
    const char *key;
    json_t *value, *settings = s->show ? bg_study_make_settings(s, k) : NULL;
    bool listed = true;
    json_object_foreach((json_t *)(settings ? s->show : NULL), key, value)
    {
        const json_t *own = json_object_get(settings, key);
        listed = listed && (json_is_number(value) && json_is_number(own)
                                ? json_number_value(value) == json_number_value(own)
                                : json_equal(value, own));
    }
    json_decref(settings);
    return listed;
}

char *bg_study_make_path(const bg_study *s, const char *name)
{
    char *path = NULL;
    bool plain = name[0] == '/' || strncmp(name, "equations:", 10) == 0;
    return asprintf(&path, "%s%s", plain ? "" : s->folder, name) < 0 ? NULL : path;
}

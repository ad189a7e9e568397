/* Fields of the summary by their path, as a metric names them: those of the summary itself, so that
 * a counter that is new there needs no other place, and below "final" and "events" whatever the
 * model brings. */
#include "results/summary.h"
#include "study/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 256, MAX_PATH = 96 };

typedef struct study_fields {
    char path[MAX_FIELDS][MAX_PATH];
    const char *names[MAX_FIELDS];
    int count;
} study_fields;

static void add(study_fields *f, const char *path)
{
    if (f->count == MAX_FIELDS)
        return;
    snprintf(f->path[f->count], MAX_PATH, "%s", path);
    f->names[f->count] = f->path[f->count];
    f->count++;
}

/* All values below `object`, whose path ends with a dot. */
static void collect(study_fields *f, const json_t *object, const char *prefix)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "%s%s%s", prefix, key, json_is_object(value) ? "." : "");
        if (json_is_object(value))
            collect(f, value, path);
        else if (!json_is_array(value))
            add(f, path);
    }
}

/* Paths that go on with a name or a number. */
static bool is_open(const char *path)
{
    static const char *const open[] = {"final.q[",      "final.v[",       "final.z[",
                                       "final.lambda[", "final.outputs.", "events["};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strncmp(path, open[i], strlen(open[i])) == 0 && path[strlen(open[i])])
            return true;
    return strcmp(path, "final.t") == 0;
}

void bg_study_check_field(const bg_value *v, const char *path)
{
    if (is_open(path))
        return;
    json_t *layout = bg_summary_make_layout();
    study_fields *f = calloc(1, sizeof *f);
    if (layout && f) {
        bool found = false;
        collect(f, layout, "");
        for (int i = 0; i < f->count; i++)
            found = found || strcmp(f->path[i], path) == 0;
        if (!found)
            bg_value_fail_unknown(v, "metric or field of the summary", path, f->names, f->count);
    } else {
        bg_reader_fail_memory(v->reader);
    }
    free(f);
    json_decref(layout);
}

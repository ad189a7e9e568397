/* "profiles": of wheels and rails, as a cone, a circle, or a spline through a table of points. */
#include "model/read.h"

#include <stdlib.h>
#include <string.h>

static void read_range(const bg_value *v, double range[2])
{
    const bg_value at = bg_value_member(v, "range");
    double *x = bg_value_numbers(v, "range", 2, NULL);
    if (!x)
        return;
    range[0] = x[0], range[1] = x[1];
    if (!(x[1] > x[0]))
        bg_value_fail(&at, "must end beyond its beginning");
    free(x);
}

static json_t *read_file(const bg_value *file, const char *path)
{
    bg_signal table = {.kind = BG_SIGNAL_LINEAR};
    bg_error err = {0};
    bg_status st = bg_signal_read_csv(&table, path, &err);
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(file->reader);
    else if (st != BG_OK)
        bg_value_fail(file, "%s", err.text);
    json_t *list = st == BG_OK ? json_array() : NULL;
    for (int k = 0; list && k < table.n; k++)
        json_array_append_new(list, json_pack("[f,f]", table.x[k], table.y[k]));
    bg_signal_clear(&table);
    return list;
}

bool bg_value_take_points(const bg_value *v)
{
    const bg_value file = bg_value_member(v, "file"), points = bg_value_member(v, "points");
    if (bg_value_exists(&file) == bg_value_exists(&points)) {
        bg_value_fail(v, "needs either 'points' or a 'file' with them");
        return false;
    }
    if (bg_value_exists(&points))
        return v->reader->status == BG_OK;
    char *path = bg_value_find_file(v, bg_value_text(v, "file"));
    json_t *list = path ? read_file(&file, path) : NULL;
    free(path);
    if (v->reader->status != BG_OK)
        return false;
    if (!list || json_object_set_new(v->json, "points", list) || json_object_del(v->json, "file"))
        bg_reader_fail_memory(v->reader);
    return v->reader->status == BG_OK;
}

/* Pairs, which may come from a file. */
static void read_points(const bg_value *v, bg_signal *table)
{
    bg_reader *reader = v->reader;
    if (!bg_value_take_points(v))
        return;
    const bg_value points = bg_value_member(v, "points");
    if (!bg_value_expect_list(&points, -1))
        return;
    const int n = bg_value_get_size(&points);
    table->x = bg_reader_allocate(reader, (size_t)n, sizeof *table->x);
    table->y = bg_reader_allocate(reader, (size_t)n, sizeof *table->y);
    for (int k = 0; k < n && reader->status == BG_OK; k++) {
        const bg_value pair = bg_value_element(&points, k);
        if (!bg_value_expect_list(&pair, 2))
            return;
        const bg_value x = bg_value_element(&pair, 0), y = bg_value_element(&pair, 1);
        table->x[k] = bg_value_get_number(&x);
        table->y[k] = bg_value_get_number(&y);
        table->n = k + 1;
    }
}

static void read_table(const bg_value *v, bg_profile *f)
{
    static const char *const keys[] = {"type", "points", "file", "knots", "range", NULL};
    const bg_value knots_at = bg_value_member(v, "knots"), range_at = bg_value_member(v, "range");
    bg_signal table = {.kind = BG_SIGNAL_SPLINE};
    double *knots = NULL, range[2] = {0, 1};
    int nknots = 0;
    bg_value_expect(v, keys);
    read_points(v, &table);
    if (bg_value_exists(&knots_at))
        knots = bg_value_numbers(v, "knots", -1, &nknots);
    if (bg_value_exists(&range_at))
        read_range(v, range);
    bg_error err = {0};
    bg_status st = v->reader->status == BG_OK
                       ? bg_profile_fit(f, table.x, table.y, table.n, knots, nknots,
                                        bg_value_exists(&range_at) ? range : NULL, &err)
                       : BG_OK;
    if (st == BG_NO_MEMORY)
        bg_reader_fail_memory(v->reader);
    else if (st != BG_OK)
        bg_value_fail(v, "%s", err.text);
    bg_signal_clear(&table);
    free(knots);
}

static void read_profile(const bg_value *v, bg_profile *f)
{
    static const char *const types[] = {"cone", "circle", "table", NULL};
    static const char *const cone_keys[] = {"type", "slope", "range", NULL};
    static const char *const circle_keys[] = {"type", "radius", NULL};
    if (!bg_value_expect_object(v))
        return;
    const int type = bg_value_choice(v, "type", types, -1);
    if (v->reader->status != BG_OK)
        return;
    f->kind = (bg_profile_kind)type;
    if (type == BG_PROFILE_CONE) {
        bg_value_expect(v, cone_keys);
        f->slope = bg_value_number(v, "slope");
        read_range(v, f->range);
    } else if (type == BG_PROFILE_CIRCLE) {
        bg_value_expect(v, circle_keys);
        f->radius = bg_value_positive(v, "radius");
    } else {
        read_table(v, f);
    }
}

void bg_read_profiles(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    const bg_value section = bg_value_member(top, "profiles");
    bg_value v;
    if (!bg_value_exists(&section) || !bg_value_expect_object(&section))
        return;
    m->profiles = bg_reader_allocate(reader, json_object_size(section.json), sizeof *m->profiles);
    for (void *i = NULL; bg_value_next(&section, &i, &v);) {
        bg_profile *f = &m->profiles[m->nprofiles];
        bg_reader_register(&v, BG_NAME_PROFILE, v.key, m->nprofiles++);
        f->name = bg_reader_copy(reader, v.key);
        if (reader->status == BG_OK)
            read_profile(&v, f);
    }
}

/* What a case gave, in memory and as a line of JSON. Numbers keep every bit: 17 digits. */
#include "base/memory.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bg_status bg_record_create(const bg_study *s, long k, bg_record *record)
{
    *record = (bg_record){.number = k};
    record->cells = BG_NEW_ARRAY(bg_cell, s->nmetrics);
    return record->cells ? BG_OK : BG_NO_MEMORY;
}

void bg_record_clear(const bg_study *s, bg_record *record)
{
    for (int i = 0; record->cells && i < s->nmetrics; i++)
        free(record->cells[i].text);
    for (int i = 0; record->curves && i < s->ncurves; i++)
        bg_trajectory_clear(&record->curves[i]);
    free(record->cells);
    free(record->curves);
    free(record->reason);
    *record = (bg_record){0};
}

void bg_record_fail(bg_record *record, const char *reason)
{
    free(record->reason);
    record->ok = false;
    record->done = true;
    record->reason = strdup(reason);
}

bg_cell bg_cell_from_number(double x)
{
    return isfinite(x) ? (bg_cell){.kind = BG_CELL_REAL, .x = x} : (bg_cell){0};
}

bg_cell bg_cell_from_json(const json_t *json)
{
    if (json_is_integer(json))
        return (bg_cell){.kind = BG_CELL_INTEGER, .i = json_integer_value(json)};
    if (json_is_real(json))
        return bg_cell_from_number(json_real_value(json));
    if (json_is_string(json)) {
        char *text = strdup(json_string_value(json));
        return (bg_cell){.kind = text ? BG_CELL_TEXT : BG_CELL_NONE, .text = text};
    }
    return (bg_cell){0};
}

json_t *bg_cell_to_json(const bg_cell *cell)
{
    switch (cell->kind) {
    case BG_CELL_INTEGER:
        return json_integer(cell->i);
    case BG_CELL_REAL:
        return json_real(cell->x);
    case BG_CELL_TEXT:
        return json_string(cell->text);
    default:
        return json_null();
    }
}

double bg_cell_get_number(const bg_cell *cell)
{
    return cell->kind == BG_CELL_INTEGER ? (double)cell->i
           : cell->kind == BG_CELL_REAL  ? cell->x
                                         : NAN;
}

static json_t *encode_numbers(const double *x, long n)
{
    json_t *list = json_array();
    for (long i = 0; i < n; i++)
        json_array_append_new(list, isfinite(x[i]) ? json_real(x[i]) : json_null());
    return list;
}

char *bg_record_encode(const bg_study *s, const bg_record *r)
{
    json_t *cells = json_array(), *curves = json_array();
    for (int i = 0; i < s->nmetrics; i++)
        json_array_append_new(cells, bg_cell_to_json(&r->cells[i]));
    for (int i = 0; r->curves && i < s->ncurves; i++) {
        json_array_append_new(curves, encode_numbers(r->curves[i].t, r->curves[i].rows));
        json_array_append_new(curves, encode_numbers(r->curves[i].y, r->curves[i].rows));
    }
    json_t *reason = json_string(r->reason ? r->reason : "");
    json_t *object = json_pack("{s:I, s:b, s:o, s:o, s:o}", "case", (json_int_t)r->number, "ok",
                               (int)r->ok, "reason", reason ? reason : json_string("not UTF-8"),
                               "values", cells, "curves", curves);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    return text;
}

static bool decode_curve(const json_t *times, const json_t *values, bg_trajectory *curve)
{
    curve->width = 1;
    bool ok = json_is_array(times) && json_array_size(times) == json_array_size(values);
    for (size_t i = 0; ok && i < json_array_size(times); i++) {
        const json_t *x = json_array_get(values, i);
        double y = json_is_number(x) ? json_number_value(x) : NAN;
        ok = bg_trajectory_add(curve, json_number_value(json_array_get(times, i)), &y);
    }
    return ok;
}

bool bg_record_decode(const bg_study *s, const char *text, size_t length, bg_record *r)
{
    json_t *object = json_loadb(text, length, 0, NULL);
    json_t *values = json_object_get(object, "values"), *curves = json_object_get(object, "curves");
    json_t *number = json_object_get(object, "case");
    *r = (bg_record){0};
    bool ok = json_is_integer(number) && json_integer_value(number) >= 0 &&
              json_integer_value(number) < s->ncases &&
              (int)json_array_size(values) == s->nmetrics &&
              bg_record_create(s, (long)json_integer_value(number), r) == BG_OK;
    for (int i = 0; ok && i < s->nmetrics; i++)
        r->cells[i] = bg_cell_from_json(json_array_get(values, (size_t)i));
    if (ok && json_array_size(curves) == 2 * (size_t)s->ncurves && s->ncurves > 0) {
        r->curves = BG_NEW_ARRAY(bg_trajectory, s->ncurves);
        ok = r->curves != NULL;
        for (int i = 0; ok && i < s->ncurves; i++)
            ok = decode_curve(json_array_get(curves, 2 * (size_t)i),
                              json_array_get(curves, 2 * (size_t)i + 1), &r->curves[i]);
    }
    if (ok) {
        const char *reason = json_string_value(json_object_get(object, "reason"));
        r->ok = json_is_true(json_object_get(object, "ok"));
        r->done = true;
        r->reason = reason && *reason ? strdup(reason) : NULL;
    } else {
        bg_record_clear(s, r);
    }
    json_decref(object);
    return ok;
}

#include "results/batch.h"

#include "base/memory.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES = 4 << 20, MIN_ROWS = 4, MAX_ROWS = 65536, FIRST_EVENTS = 1024, STEPS = 8192 };

const char *const bg_step_names[BG_STEP_COUNT] = {"t", "h", "g", "gv", "ga"};

static size_t element_size(const bg_field *field)
{
    return field->integer ? sizeof(int) : sizeof(double);
}

static void define_fields(const bg_system_def *def, bg_field field[BG_FIELD_COUNT])
{
    const bg_field fields[BG_FIELD_COUNT] = {
        {.name = "t", .prefix = "", .width = 1, .scalar = true},
        {.name = "h", .prefix = "", .width = 1, .scalar = true},
        {.name = "q", .prefix = "q:", .kind = 'q', .unit = 'q', .width = def->nq},
        {.name = "v", .prefix = "v:", .kind = 'v', .unit = 'v', .width = def->nv},
        {.name = "a", .prefix = "a:", .kind = 'v', .unit = 'a', .width = def->nv},
        {.name = "z", .prefix = "z:", .kind = 'z', .unit = 'z', .width = def->nz},
        {.name = "lambda", .prefix = "lambda:", .kind = 'g', .unit = 'l', .width = def->ng},
        {.name = "outputs", .prefix = "y:", .kind = 'y', .unit = 'y', .width = def->ny},
        {.name = "mode", .prefix = "", .width = def->nmode, .integer = true},
    };
    memcpy(field, fields, sizeof fields);
}

static int calc_capacity(const bg_field field[BG_FIELD_COUNT])
{
    size_t row = 0;
    for (int k = 0; k < BG_FIELD_COUNT; k++)
        row += (size_t)field[k].width * element_size(&field[k]);
    size_t rows = BATCH_BYTES / row; /* t and h are always there: row > 0 */
    return rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : (int)rows;
}

bg_status bg_batch_create(const bg_system *system, bg_batch *batch, bg_error *err)
{
    *batch = (bg_batch){.system = system, .event_capacity = FIRST_EVENTS, .step_capacity = STEPS};
    define_fields(bg_system_get_def(system), batch->field);
    batch->capacity = calc_capacity(batch->field);
    bool ok = true;
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        bg_field *field = &batch->field[k];
        field->data = bg_calloc((size_t)batch->capacity * (size_t)field->width,
                                element_size(field));
        ok = ok && field->data;
    }
    for (int k = 0; k < BG_STEP_COUNT; k++)
        ok = (batch->step[k] = BG_NEW_ARRAY(double, STEPS)) && ok;
    ok = (batch->step_order = BG_NEW_ARRAY(int, STEPS)) && ok;
    ok = (batch->step_rejected = BG_NEW_ARRAY(int, STEPS)) && ok;
    batch->event_t = BG_NEW_ARRAY(double, FIRST_EVENTS);
    batch->event_index = BG_NEW_ARRAY(int, FIRST_EVENTS);
    batch->event_direction = BG_NEW_ARRAY(int, FIRST_EVENTS);
    if (!ok || !batch->event_t || !batch->event_index || !batch->event_direction)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the buffer of result rows");
    return BG_OK;
}

void bg_batch_clear(bg_batch *batch)
{
    for (int k = 0; k < BG_FIELD_COUNT; k++)
        free(batch->field[k].data);
    for (int k = 0; k < BG_STEP_COUNT; k++)
        free(batch->step[k]);
    free(batch->step_order);
    free(batch->step_rejected);
    free(batch->event_t);
    free(batch->event_index);
    free(batch->event_direction);
    *batch = (bg_batch){0};
}

/* The array with room for n entries of `size` bytes, or as it was, and then *ok becomes false. */
static void *lengthen(void *array, size_t n, size_t size, bool *ok)
{
    void *longer = *ok && (size == 0 || n < SIZE_MAX / size) ? realloc(array, n * size + 1) : NULL;
    *ok = longer != NULL;
    return longer ? longer : array;
}

static bool grow_rows(bg_batch *batch)
{
    bool ok = batch->capacity <= INT_MAX / 2;
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        bg_field *f = &batch->field[k];
        f->data = lengthen(f->data, 2 * (size_t)batch->capacity, (size_t)f->width * element_size(f),
                           &ok);
    }
    batch->capacity *= ok ? 2 : 1;
    return ok;
}

static bool grow_steps(bg_batch *batch)
{
    bool ok = batch->step_capacity <= INT_MAX / 2;
    size_t n = 2 * (size_t)batch->step_capacity;
    for (int k = 0; k < BG_STEP_COUNT; k++)
        batch->step[k] = lengthen(batch->step[k], n, sizeof(double), &ok);
    batch->step_order = lengthen(batch->step_order, n, sizeof(int), &ok);
    batch->step_rejected = lengthen(batch->step_rejected, n, sizeof(int), &ok);
    batch->step_capacity *= ok ? 2 : 1;
    return ok;
}

bool bg_batch_make_room(bg_batch *batch)
{
    return (batch->rows < batch->capacity || grow_rows(batch)) &&
           (batch->steps < batch->step_capacity || grow_steps(batch));
}

void bg_batch_add_row(bg_batch *batch, const bg_row *row)
{
    assert(batch->rows < batch->capacity);
    const bg_state *s = row->state;
    const void *source[BG_FIELD_COUNT] = {&s->t, &row->h,   s->q,   s->v,   s->a,
                                          s->z,  s->lambda, row->y, s->mode};
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        const bg_field *field = &batch->field[k];
        size_t size = (size_t)field->width * element_size(field);
        if (size > 0)
            memcpy((char *)field->data + (size_t)batch->rows * size, source[k], size);
    }
    batch->rows++;
}

void bg_batch_add_step(bg_batch *batch, const bg_step *step)
{
    assert(batch->steps < batch->step_capacity);
    const double values[BG_STEP_COUNT] = {step->t, step->h, step->g, step->gv, step->ga};
    for (int k = 0; k < BG_STEP_COUNT; k++)
        batch->step[k][batch->steps] = values[k];
    batch->step_order[batch->steps] = step->order;
    batch->step_rejected[batch->steps] = (int)step->rejected;
    batch->steps++;
}

static bool grow_events(bg_batch *batch)
{
    size_t capacity = 2 * (size_t)batch->event_capacity;
    double *t = realloc(batch->event_t, capacity * sizeof *t);
    batch->event_t = t ? t : batch->event_t;
    int *index = realloc(batch->event_index, capacity * sizeof *index);
    batch->event_index = index ? index : batch->event_index;
    int *direction = realloc(batch->event_direction, capacity * sizeof *direction);
    batch->event_direction = direction ? direction : batch->event_direction;
    if (!t || !index || !direction)
        return false;
    batch->event_capacity = (int)capacity;
    return true;
}

bg_status bg_batch_add_event(bg_batch *batch, const bg_event *event, bg_error *err)
{
    if (batch->events == batch->event_capacity && !grow_events(batch))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the events of the result");
    batch->event_t[batch->events] = event->t;
    batch->event_index[batch->events] = event->index;
    batch->event_direction[batch->events] = event->direction;
    batch->events++;
    return BG_OK;
}

void bg_batch_reset(bg_batch *batch)
{
    if (batch->rows > 0) {
        batch->safe_rows += batch->rows;
        batch->safe_t = ((const double *)batch->field[0].data)[batch->rows - 1];
    }
    batch->rows = 0;
    batch->events = 0;
    batch->steps = 0;
}

bg_status bg_batch_fail(const bg_batch *batch, const bg_place *place, int cause, const char *text,
                        bg_error *err)
{
    char safe[96] = "no rows of this run are saved";
    bool there = place->direct || bg_place_is_current(place);
    if (!there && batch->safe_rows > 0)
        snprintf(safe, sizeof safe, "the file %s",
                 access(place->path, F_OK) == 0 ? "is another one now" : "is gone");
    else if (batch->safe_rows > 0)
        snprintf(safe, sizeof safe, "its first %ld rows, up to t = %.9g s, are safe",
                 batch->safe_rows, batch->safe_t);
    return bg_error_set(err, BG_IO, "cannot write results to '%s': %s; %s; %s", place->path,
                        cause ? strerror(cause) : text, safe, bg_place_find_remedy(cause));
}

const char *bg_batch_get_name(const bg_batch *batch, const bg_field *field, int i, char *buffer,
                              size_t size)
{
    if (field->kind)
        return bg_system_get_name(batch->system, field->kind, i, buffer, size);
    if (field->scalar)
        return field->name;
    snprintf(buffer, size, "%s[%d]", field->name, i);
    return buffer;
}

const char *bg_batch_get_unit(const bg_batch *batch, const bg_field *field, int i)
{
    if (field->unit)
        return bg_system_get_unit(batch->system, field->unit, i);
    return field->integer ? "" : "s";
}

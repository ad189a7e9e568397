/* Rows and events that wait to be written, kept by columns of the result file.
 *
 * Every quantity of a row (t, h, q, v, ...) is one field with its own contiguous array of
 * capacity x width numbers, which is how both formats consume them. Memory for rows is allocated
 * once; adding a row only copies.
 */
#ifndef BG_BATCH_H
#define BG_BATCH_H

#include "base/place.h"
#include "bogie/run.h"

#include <stdbool.h>

enum { BG_FIELD_COUNT = 9, BG_STEP_COUNT = 5 };

typedef struct bg_field {
    const char *name;   /* of the dataset: "t", "h", "q", "v", "a", "z", "lambda", ... */
    const char *prefix; /* of its columns in a CSV header */
    char kind;          /* of its names, for bg_system_get_name; 0: named after the field */
    char unit;          /* of its units, for bg_system_get_unit; 0: s, or none for integers */
    bool scalar;        /* one number per row: the dataset has one dimension */
    bool integer;       /* data are int, else double */
    int width;          /* numbers per row; 0: the system has none of these */
    void *data;         /* [capacity x width] */
} bg_field;

typedef struct bg_batch {
    const bg_system *system;
    bg_field field[BG_FIELD_COUNT];
    int rows, capacity;
    double *event_t; /* s */
    int *event_index, *event_direction;
    int events, event_capacity;
    double *step[BG_STEP_COUNT]; /* [step_capacity] of t, h, g, gv, ga, see bg_step_names */
    int *step_order, *step_rejected;
    int steps, step_capacity;
    long safe_rows; /* rows that are in the file already ... */
    double safe_t;  /* ... up to this time, s */
} bg_batch;

extern const char *const bg_step_names[BG_STEP_COUNT];

/* On failure the batch must still be cleared. */
bg_status bg_batch_create(const bg_system *system, bg_batch *batch, bg_error *err);
void bg_batch_clear(bg_batch *batch);

/* Room for a row and a step more, by allocation. False: out of memory, the batch is as it was. */
bool bg_batch_make_room(bg_batch *batch);
/* The batch must have room: rows < capacity. */
void bg_batch_add_row(bg_batch *batch, const bg_row *row);
bg_status bg_batch_add_event(bg_batch *batch, const bg_event *event, bg_error *err);
/* The batch must have room: steps < step_capacity. */
void bg_batch_add_step(bg_batch *batch, const bg_step *step);
/* Everything in the batch is in the file now: counts it as safe and makes the batch empty. */
void bg_batch_reset(bg_batch *batch);

/* The sentence for a failed write: cause is an errno, or 0 with a text. The batch says what is
 * safe.
 */
bg_status bg_batch_fail(const bg_batch *batch, const bg_place *place, int cause, const char *text,
                        bg_error *err);

/* The name of the i-th number of a field; written into buffer where the system keeps none. */
const char *bg_batch_get_name(const bg_batch *batch, const bg_field *field, int i, char *buffer,
                              size_t size);
/* Its unit; "": none is said. */
const char *bg_batch_get_unit(const bg_batch *batch, const bg_field *field, int i);

#endif

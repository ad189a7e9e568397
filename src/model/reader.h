/* Reading JSON with a path in every message.
 *
 * A bg_value is a place in the file: a JSON value (or its absence) and the way to it. Readers of
 * elements ask for what they need; the first failure is kept in the reader and later calls do
 * nothing, so a reader function asks for everything and checks once at the end. Numbers may be
 * expressions in the model's parameters and units. */
#ifndef BG_READER_H
#define BG_READER_H

#include "model/model.h"

#include <jansson.h>

/* Kinds of names; each name is unique within its kind. Couplers share the names of joints. */
typedef enum bg_name_kind {
    BG_NAME_PARAMETER,
    BG_NAME_SIGNAL,
    BG_NAME_BODY,
    BG_NAME_JOINT,
    BG_NAME_FORCE,
    BG_NAME_OUTPUT,
    BG_NAME_TRACK,
    BG_NAME_PROFILE,
    BG_NAME_KINDS
} bg_name_kind;

typedef struct bg_scope bg_scope; /* model/scope.h */

/* A part that was described in a file of its own. */
typedef struct bg_part_file {
    const json_t *part;
    char *path;
} bg_part_file;

typedef struct bg_reader {
    bg_model *model;
    const char *origin; /* file name, for messages */
    bg_error *err;
    bg_status status;       /* the first failure */
    char **parameter_names; /* [nparameters] evaluated in order of dependence */
    double *parameter_values;
    bool *parameter_used;
    int nparameters, parameter_room;
    json_t *names[BG_NAME_KINDS]; /* objects: name -> index in the model */
    const json_t *known;          /* the object of which all keys were last found to be known */
    bool *body_attached;          /* [nbodies] a joint or force refers to it */
    int own_bodies;               /* of the file, before those that tyres add */
    const bg_value *top;          /* of the model */
    bool replaced;                /* settings took the place of more than parameters */
    bg_scope **scopes;            /* [nscopes] uses of parts, outer ones before inner ones */
    bg_scope **finished;          /* [nscopes] the same, inner ones before outer ones */
    int nscopes, nfinished, scope_room;
    bg_part_file *files;
    int nfiles;
    long members, values; /* that repetitions and uses of parts have made */
} bg_reader;

struct bg_value {
    bg_reader *reader;
    json_t *json;           /* NULL: absent */
    const bg_value *parent; /* NULL at the top */
    const char *key;        /* member name, or NULL for an array element */
    int index;              /* array element */
    const bg_scope *scope;  /* what names and places mean here; NULL: in the model */
};

/* Fails at a place: "FILE: bodies.rod.mass: " + sentence. Returns BG_BAD_INPUT. Only the first
 * counts. */
bg_status bg_value_fail(const bg_value *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A law at v has corners that raise no event: what has them; NULL: it has none. */
void bg_value_note_corner(const bg_value *v, const char *what);

/* The folder that file names at v count from is that of this file. */
const char *bg_value_get_origin(const bg_value *v);

bool bg_value_exists(const bg_value *v);
bg_value bg_value_member(const bg_value *object, const char *key);
bg_value bg_value_element(const bg_value *array, int index);
int bg_value_get_size(const bg_value *v); /* members or elements; 0 if absent */
/* The value must be an object with no other members than these ("comment" is always allowed); fails
 * with the nearest valid spelling otherwise. keys is NULL-terminated. */
void bg_value_expect(const bg_value *object, const char *const *keys);

/* Scalars. The plain forms require the member; the _or forms take a default when it is absent. */
double bg_value_number(const bg_value *object, const char *key);
double bg_value_number_or(const bg_value *object, const char *key, double fallback);
double bg_value_positive(const bg_value *object, const char *key); /* > 0 */
double bg_value_not_negative_or(const bg_value *object, const char *key, double fallback);
bool bg_value_bool_or(const bg_value *object, const char *key, bool fallback);
const char *bg_value_text(const bg_value *object, const char *key); /* "" after a failure */
const char *bg_value_text_or(const bg_value *object, const char *key, const char *fallback);
/* One of names (NULL-terminated): its index; fails with the nearest. fallback < 0: required. */
int bg_value_choice(const bg_value *object, const char *key, const char *const *names,
                    int fallback);

bg_vec3 bg_value_vec3(const bg_value *object, const char *key);
bg_vec3 bg_value_vec3_or(const bg_value *object, const char *key, bg_vec3 fallback);
bg_vec3 bg_value_unit(const bg_value *object,
                      const char *key); /* normalised; a zero vector is an error */
/* n numbers, or any number of them (n < 0) into a new array, to be released with free(). */
double *bg_value_numbers(const bg_value *object, const char *key, int n, int *count);

/* References by name: an index into the model, after which the thing exists; fail with the nearest.
 */
int bg_value_body(const bg_value *object, const char *key); /* "ground" is 0 */
int bg_value_joint(const bg_value *object, const char *key);
int bg_value_signal(const bg_value *object, const char *key); /* -1 if absent */
/* A point of a body: "BODY.POINT", "BODY" (its centre of mass), "ground", {"body": NAME, "at":
 * [x,y,z]} with `at` in world coordinates of the design position, or [x,y,z] for a point of the
 * ground. The marker's axes are those of the world in the design position. */
bg_marker bg_value_marker(const bg_value *object, const char *key);

/* An expression with variables: names[k] has index k; parameters and units are constants. NULL if
 * absent. */
bg_expression *bg_value_expression(const bg_value *object, const char *key,
                                   const char *const *names, int nnames);

/* A number or an expression string at the value itself. */
double bg_value_get_number(const bg_value *v);
/* The same of an angle in rad, which is remarked on where it looks like degrees. */
double bg_value_get_angle(const bg_value *v);
double bg_value_angle_or(const bg_value *object, const char *key, double fallback);
/* Beyond it nobody places things by angles, rad. */
#define BG_FULL_TURN 6.3

/* Fails at the first text or key inside of v with a control character other than line breaks and
 * tabs: names and titles are printed on terminals, which obey such characters. */
void bg_value_check_texts(const bg_value *v);

/* Copies a text into the model; fails the reader when out of memory. */
char *bg_reader_copy(bg_reader *reader, const char *text);
void *bg_reader_allocate(bg_reader *reader, size_t count, size_t size);

#endif

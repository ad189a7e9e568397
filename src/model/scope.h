/* What a name and a place mean inside of a part of a mechanism that a model uses (model/parts.c).
 *
 * A scope is one use of a part: a prefix for names, a placement for coordinates, and a scope around
 * it. NULL is the model itself, where nothing is prefixed and nothing is moved.
 *
 * A part is written in coordinates of its own, which the placement maps to those of the model,
 *
 *   r_model = r + M r_part,   M orthogonal,   det M = 1, or -1 for a mirror image.
 *
 * Mechanics knows no left and right, so that a mirror image moves as the mirror image does where
 *   places, velocities and forces are mapped by M (true vectors), and
 *   axes of rotation, angular velocities and torques by det(M) M (axial vectors).
 * Axes of a body, of a bushing or of a shape must stay right-handed: the columns of M A are flipped
 * by the diagonal matrix D of the mirrors in effect, M A D, so that axes along those of the part
 * come to lie along those of the model unless the part is turned. Components in these axes are then
 * D times, or for axial vectors det(M) D times, those in the part. */
#ifndef BG_SCOPE_H
#define BG_SCOPE_H

#include "model/reader.h"

typedef struct bg_placement {
    bg_vec3 r;
    bg_mat3 M;
    double det;     /* of M: 1 or -1 */
    double flip[3]; /* the diagonal of D */
} bg_placement;

struct bg_scope {
    const bg_scope *outer;  /* NULL: the model */
    char *prefix;           /* of names, "front.left." */
    char *path;             /* where the part is described in its file: "parts.corner", or "" */
    const char *origin;     /* that file */
    const json_t *part;     /* its description, before anything was put into it */
    json_t *connect;        /* names of the part -> names around it; NULL: none */
    json_t *asked;          /* names that the part did not have itself, as keys */
    bg_value section, use;  /* the place of the instance: "use" and its member */
    bg_value top;           /* the part as it is used here */
    bg_placement placement; /* in the model */
};

bg_placement bg_placement_make(void); /* nothing moved */
/* What `inner` does, then `outer`. */
bg_placement bg_placement_multiply(const bg_placement *outer, const bg_placement *inner);

/* From the coordinates of a part to those of the model. */
bg_vec3 bg_scope_move(const bg_scope *s, bg_vec3 place);
bg_vec3 bg_scope_turn(const bg_scope *s, bg_vec3 x);       /* a true vector */
bg_vec3 bg_scope_turn_axial(const bg_scope *s, bg_vec3 x); /* an axial one */
bg_mat3 bg_scope_turn_axes(const bg_scope *s, const bg_mat3 *A);
double bg_scope_get_handedness(const bg_scope *s); /* -1 in a mirror image, else 1 */
/* Whether the part's axes lie along those of the model and its z is up, as a track needs it: it may
 * be mirrored in x and y, and turned about z by half a turn. sign [3]: the diagonal of M then. */
bool bg_scope_is_along(const bg_scope *s, double sign[3]);
/* The factor of component k in the axes of a body, of a true vector. */
double bg_scope_get_flip(const bg_scope *s, int k);
/* The matrix of a joint's frame F in the part, in the model; D flips some of its columns. */
bg_mat3 bg_scope_turn_frame(const bg_scope *s, const bg_mat3 *F, const double flip[3]);

/* Places and directions read at v, in the coordinates of the model. */
bg_vec3 bg_value_get_place(const bg_value *v);
bg_vec3 bg_value_place(const bg_value *object, const char *key);

/* The index of a name as it is meant in a scope; INT_MIN: none. A part sees its own things, what
 * its instance connects, the ground, and the parameters, inputs and outputs around it. */
int bg_scope_find(const bg_reader *reader, const bg_scope *s, bg_name_kind kind, const char *name);
/* The same for kinds that expressions use, in one scope alone: what is there, or what the name is
 * in the scope around (*name, *s change); false: nothing is left to look at. */
bool bg_scope_step_out(const bg_scope **s, const char **name);
/* Writes the name that `name` has in the whole model; NULL: too long for one. */
const char *bg_scope_write_name(const bg_scope *s, const char *name, char *buffer, size_t size);
/* The same as a new text; NULL after a failure, which the reader knows of. */
char *bg_value_copy_name(const bg_value *v);
/* That of what it brings along, NAME.part. */
char *bg_value_copy_part_name(const bg_value *v, const char *part);
/* A name of the whole model without the prefix of the scope, if it has that. */
const char *bg_scope_strip(const bg_scope *s, const char *name);

/* Walks through the sections of a key, those of the model first and then part by part; for
 * inner_first, parts first. Start with *k = 0. Fails where a section is no object. */
bool bg_reader_next_section(bg_reader *reader, const char *key, bool inner_first, int *k,
                            bg_value *section);
/* The number of members that all these sections have. */
size_t bg_reader_count(const bg_reader *reader, const char *key);

/* After everything was read: fails where the use of a part connects a name that it does not use. */
void bg_scopes_check(bg_reader *reader);
/* Releases what reader->scopes holds. */
void bg_scopes_clear(bg_reader *reader);

#endif

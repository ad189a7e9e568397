/* Reading a model file, section by section: one file each (read_*.c).
 *
 * Every function takes the top of the file (or the object it reads) and writes into reader->model.
 * Failures stay in the reader; a section that is absent is empty. Sections are read in the order of
 * this list, so that what a section refers to exists. */
#ifndef BG_READ_H
#define BG_READ_H

#include "model/reader.h"
#include "model/scope.h"

/* What of the file is known before anything is described: parameters, what they repeat, the
 * settings, and the parts that are used; fills reader->scopes. */
void bg_read_parts(const bg_value *top, const bg_setting *settings, int nsettings);
void bg_read_parameters(const bg_value *top); /* of the model, or of a part where it is used */
/* Replaces members like "rod[i=2..N]" by rod2, rod3, ..., and braces by numbers, in all sections.
 */
void bg_read_repetitions(const bg_value *top);
void bg_read_signals(const bg_value *top); /* "inputs" */
void bg_read_tracks(const bg_value *top);
void bg_read_profiles(const bg_value *top);
void bg_read_bodies(const bg_value *top);
void bg_read_joints(const bg_value *top);   /* and what they prescribe and where they start */
void bg_read_couplers(const bg_value *top); /* gears and racks among "joints" */
void bg_read_outputs(const bg_value *top);  /* all but values of forces, whose laws may use them */
void bg_read_forces(const bg_value *top);   /* "forces" and "tyres" */
void bg_read_force_outputs(const bg_value *top);
void bg_read_events(const bg_value *top);
void bg_read_initial(const bg_value *top);
void bg_read_run(const bg_value *top);
void bg_read_view(const bg_value *top); /* "plots" and "view" */
/* "look" of a body. */
void bg_read_look(const bg_value *body, bg_body_look *look);

/* The path of a file that is named at v: relative to the folder of the file that names it. A new
 * text, or NULL. */
char *bg_value_find_file(const bg_value *v, const char *name);
/* Puts the pairs that the member "file" names into "points", so that the model needs no other file.
 * False: it failed at v, as it does where there are both or neither. */
bool bg_value_take_points(const bg_value *v);

/* Parts of bodies. */
bg_mat3 bg_read_orientation(const bg_value *object, const char *key); /* identity if absent */
bg_mat3 bg_read_axes(const bg_value *object, const char *key);        /* the same in the model */
bg_mat3 bg_read_inertia(const bg_value *body);                        /* zero if absent */
void bg_read_shapes(const bg_value *body, bg_body *b);
void bg_read_point_masses(const bg_value *top); /* among "forces" */
/* Lines to the joints, or a sphere, for every body that came without shapes. */
void bg_read_default_shapes(bg_reader *reader);

/* Parts of tracks. How many frames and rolling wheelsets the model has, each of which has signals
 * (read_tracks.c); adds one, its number; adds the joints of all frames. */
size_t bg_read_count_frames(bg_reader *reader);
size_t bg_read_count_rolling(bg_reader *reader);
int bg_read_add_track_signal(bg_reader *reader, const char *owner, const char *part,
                             const bg_signal *signal);
void bg_read_add_frames(bg_reader *reader);
void bg_read_rails(bg_reader *reader); /* lines on the ground, for pictures */

/* Parts of joints. */
bool bg_read_is_coupler(const char *type); /* "gear", "rack-pinion" */
/* A scalar coordinate of a joint by name; name NULL: its only one. Fails at v; then 0. */
int bg_read_coordinate(const bg_value *v, int joint, const char *name);
/* {"position", "velocity", "fixed", "fixed_velocity"}, a number, or an object of these by
 * coordinate. */
void bg_read_start(const bg_value *v, int joint);
/* Fails at v where the coordinate is an angle of yaw, roll, pitch or spin, which only outputs and
 * starts can speak of. */
void bg_read_refuse_cardan(const bg_value *v, const bg_joint *joint, int coordinate,
                           const char *what);

/* Members that a model and its "run" may have, ended by NULL. */
extern const char *const bg_model_keys[], *const bg_run_keys[];

/* Changes the content of the model, or of a part where it is used, by path before it is read: the
 * settings of parameters and parts first, then all others. Failures name the setting. */
bg_status bg_settings_apply(const bg_value *top, const bg_setting *settings, int nsettings,
                            bool first, bg_error *err);

/* A sentence for `bogie check` and for every run of the model. */
void bg_reader_warn(bg_reader *reader, bg_verdict verdict, const char *topic, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
void bg_reader_fail_memory(bg_reader *reader);
/* Gives a name to the index-th thing of a kind; fails at v on bad or repeated names. */
void bg_reader_register(const bg_value *v, bg_name_kind kind, const char *name, int index);
/* The same for what a thing brings along, NAME.part, whose name is not the user's. */
void bg_reader_register_part(const bg_value *v, bg_name_kind kind, const char *name, int index);
/* The parameter that a name in an expression means, which is then used: NAME or parameters.NAME; a
 * negative number: none. */
int bg_reader_find_parameter(bg_reader *reader, const bg_scope *scope, const char *name);
/* Whether a name in an expression is both a parameter and a unit. That can only be N, as in N bars:
 * to guess at it would make 20*N forty newtons for N = 2. */
bool bg_reader_is_ambiguous(const bg_reader *reader, const bg_scope *scope, const char *name);
/* Fails at v with the way out of it. */
void bg_value_fail_ambiguous(const bg_value *v);
/* The index registered for a name; INT_MIN: none. */
int bg_reader_find(const bg_reader *reader, bg_name_kind kind, const char *name);
/* As above, but fails at v, with the nearest, when there is none; then 0. */
int bg_value_find(const bg_value *v, bg_name_kind kind, const char *name);
/* Fails at v: "there is no NOUN 'name'; did you mean ...?" with the nearest of n names, if any is
 * near. */
void bg_value_fail_unknown(const bg_value *v, const char *noun, const char *name,
                           const char *const *names, int n);

/* Fails at v with what is wrong with its expression. A name the expression did not know (last) is
 * compared with parameters and names[n] for a better hint. */
void bg_value_fail_expression(const bg_value *v, const char *last, const char *const *names, int n,
                              const bg_error *err);

/* Walks the members of an object in the order of the file, without "comment": start with *iterator
 * NULL. False at the end and after a failure. */
bool bg_value_next(const bg_value *object, void **iterator, bg_value *member);

/* Whether all is well so far and v is an object (a list of n; any length for n < 0). Fails
 * otherwise. */
bool bg_value_expect_object(const bg_value *v);
bool bg_value_expect_list(const bg_value *v, int n);
bool bg_value_expect_text(const bg_value *v);
bg_vec3 bg_value_get_vec3(const bg_value *v);
bg_marker bg_value_get_marker(const bg_value *v);
/* The compiled expression (or number) at the value itself. NULL after a failure. */
bg_expression *bg_value_get_expression(const bg_value *v, const char *const *names, int nnames);
/* Variables of an expression: the first nown are meant as they stand; the others are names of the
 * whole model, which a part may call without its prefix. */
typedef struct bg_variables {
    const char *const *names;
    int n, nown;
} bg_variables;
/* The same with such variables, counted as in the list, or, with used != NULL, as in used[nused],
 * which has those of the list that the expression uses. */
bg_expression *bg_value_compile(const bg_value *v, const bg_variables *variables, const int *used,
                                int nused);

/* What a key that is not known here may mean elsewhere, a clause; NULL: nothing that is known of.
 */
const char *bg_topic_find(const char *key);

/* The marker on a body at a place, with axes, given in the world of the design position. */
bg_marker bg_body_make_marker(const bg_model *model, int body, bg_vec3 r, const bg_mat3 *axes);

#endif

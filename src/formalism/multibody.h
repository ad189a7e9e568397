/* What both formalisms share: the world of bodies, the forces in it, constraint rows on body level,
 * signals, switching functions, energies and outputs. A formalism fills `body` (and `acceleration`)
 * and takes wrenches and rows from here. */
#ifndef BG_MULTIBODY_H
#define BG_MULTIBODY_H

#include "base/arena.h"
#include "bogie/system.h"
#include "model/model.h"
#include "system/system.h"

/* Derivatives of a body's twist: of the velocity of the centre, and angular. */
typedef struct bg_body_acceleration {
    bg_vec3 v, w;
} bg_body_acceleration;

/* Rows of one primitive constraint, and whose reaction their multipliers are. */
typedef struct bg_row_group {
    bg_primitive primitive;
    int row;                    /* first row */
    int joint[BG_RELATION_MAX]; /* joint of the reaction; of each term in a relation; -1: none */
    int driven;                 /* coordinate of joint[0] that follows a signal; -1: none */
    int coupler;                /* whose relation it is; -1: none */
    int contact;                /* whose it is; -1: none */
} bg_row_group;

/* The pairs of bodies (a, b) its Jacobian has blocks for: one, or one per term of a relation. */
int bg_row_group_count_pairs(const bg_row_group *group);
void bg_row_group_get_pair(const bg_row_group *group, int k, int *a, int *b);

/* An angle of a loop joint or of the Cartesian form, followed through full turns by a state. */
typedef struct bg_turn {
    bg_coordinate coordinate;
    int z, joint, index; /* state; coordinate `index` of this joint */
} bg_turn;

/* Where a signal jumps, or its slope does: behind it the signal follows another piece.
 * mode = 1 + piece while a run goes on, 0: by the time. */
typedef struct bg_corner {
    int signal, index; /* the corner of this signal, before which it follows the piece `index` */
    int mode;          /* of the signal */
    double t;          /* s; NAN: a place on a track */
} bg_corner;

/* A signal that comes from outside: value + rate (t - since). */
typedef struct bg_live_signal {
    bool is_live;
    double since, value, rate;
} bg_live_signal;

/* For differences by signals. */
typedef struct bg_shifted_signals {
    double *u, *h;     /* [nsignals], [2 nz] */
    bg_wrench *wrench; /* [nbodies] */
} bg_shifted_signals;

/* What h, the rates of z, depends on, by structure: rows of elements on their bodies and on their
 * own states, rows of followed angles on two bodies. */
typedef struct bg_rates_structure {
    int *start, *body;       /* [nz+1]; moving bodies of each row, ascending */
    int *z_start, *z_column; /* of the pattern: */
    bg_pattern by_z;         /* of h by z */
} bg_rates_structure;

struct bg_multibody;
/* What forks need to know of a formalism, whose first member is a bg_multibody. */
typedef struct bg_form {
    size_t size;                                       /* of its structure */
    void (*list_scratch)(void *form, bg_arena *arena); /* with take_scratch */
    void (*forget)(struct bg_multibody *form);         /* what scratch memory holds; or NULL */
    void (*detach)(struct bg_multibody *fork); /* from what a fork does not share; or NULL */
    void (*clear)(struct bg_multibody *form);  /* what a fork has made beside it; or NULL */
} bg_form;

/* Constant once it is made, but for the scratch memory, of which every fork has its own. */
typedef struct bg_multibody {
    const bg_model *model;
    const bg_form *form;
    int nbodies;
    const int *driven; /* [nforces] velocity coordinate that the element drives in this formalism,
                          -1: none; NULL: no element does */
    bg_row_group *groups; /* body-level rows */
    int ngroups, nrows;
    bg_joint_rows *joint_rows; /* [njoints] of world */
    int first_contact;         /* row; those of all contacts follow each other */
    bg_turn *turns;
    int nturns;
    bg_corner *corners;
    int ncorners;
    double *reach;    /* [nbodies] m, sizes of bodies (sizes.h) */
    int *signal_mode; /* [nsignals] mode of each, -1: has no corners */
    int nz, ns, nmode, ny;
    bg_rates_structure rates;                   /* (couplings.h) */
    double *z0;                                 /* [nz] start */
    int *mode0;                                 /* [nmode] start */
    const char **y_units, **z_units, **u_units; /* [ny], [nz], [nsignals] */
    bg_output_filter *filters;                  /* [nfilters] */
    int nfilters;
    const char **s_names, **y_names, **u_names;   /* [ns], [ny], [nsignals] */
    unsigned char *u_followed;                    /* [nsignals] */
    const char **z_names;                         /* [nz] */
    char (*names)[64];                            /* storage for those made here */
    const char **s_rises, **s_falls, **s_touches; /* [ns] what happens at an event; or NULL */
    char (*sentences)[144];                       /* storage for these */
    int nsentences;
    struct bg_wishes *wishes; /* for the start (wishes.h) */
    int *block;               /* [nv] as in bg_system; made by the formalism */
    unsigned char *endless;   /* the same; NULL in Cartesian form */
    bg_vec3 origin;           /* m, the place in the world that bodies count from */
    bg_arena arena;           /* of the arrays so far; empty in a fork */
    bg_arena scratch;         /* and the scratch memory, of the formalism as well: */
    bg_world world;
    bg_body_state *body;                /* [nbodies] */
    bg_body_acceleration *acceleration; /* [nbodies] */
    bg_wrench *wrench;                  /* [nbodies] */
    bg_wrench *through;                 /* [njoints] of reactions.c */
    double *values;                     /* [ny + 1] outputs while expressions are evaluated */
    double *u;                          /* [3 nsignals] signals at an event */
    bg_shifted_signals shifted;
    bg_live_signal *live; /* [nsignals] those that come from outside, ... */
    int nlive;            /* ... of which the last is the one before this */
    /* Signals as they were computed last: one step asks for the same time again and again. */
    double t_signals;   /* s; NAN: not yet */
    double *signals;    /* [3 nsignals] values, then first, then second derivatives */
    int *signals_piece; /* [nsignals] mode of each at that time */
    bg_rail_contact_state *contact_state; /* [ncontacts] of world */
    double *measured;                     /* [3 (noutputs + 1)] of world */
    void **memo;                          /* [nforces] of world */
    double speed; /* m/s, the largest of all bodies, in the world wishes were asked of last */
    /* what only the formalism knows; all take the formalism itself, whose first member this is */
    void (*update)(struct bg_multibody *mb, const bg_point *p, const double *a);
    /* Value, rate and second rate of a coordinate it has as such; false: measure it. NULL: never.
     */
    bool (*find_coordinate)(struct bg_multibody *mb, int joint, int coordinate, const bg_point *p,
                            const double *a, double out[3]);
    /* `jump` of the definition; NULL: nothing follows signals without a constraint. */
    int (*jump)(void *mb, const bg_point *p, const double *u_t, double *v);
    /* Wrench on body b (through its centre) in a joint without rows; after update with a. NULL:
     * none. */
    void (*calc_tree_reaction)(struct bg_multibody *mb, int joint, const double *lambda,
                               bg_wrench *on_b);
    /* Adds to on_b[njoints] what joints without rows need to hold the wrenches at hand, which are
     * lost, on bodies that do not move. NULL: there are none. */
    void (*transmit)(struct bg_multibody *mb, bg_wrench *on_b);
    /* The row of a coupler that is not among the groups; -1: it is there. NULL: all are. */
    int (*find_coupler)(struct bg_multibody *mb, int coupler);
} bg_multibody;

/* in_tree[j]: joint j needs no rows (NULL: all do). Relations among tree coordinates are left to
 * the formalism: those for which every term is in the tree get no group here. */
bg_status bg_multibody_create(const bg_model *model, const bool *in_tree, bg_multibody *mb,
                              bg_error *err);
void bg_multibody_clear(bg_multibody *mb);
/* Lists the arrays of mb among those of the formalism's scratch memory. */
void bg_multibody_take_scratch(bg_multibody *mb, bg_arena *arena);
/* fork.c: scratch memory, once mb->form is known (false: out of memory); and functions of the
 * definition. */
bool bg_multibody_create_scratch(bg_multibody *mb);
void *bg_multibody_fork(const void *form);
void bg_multibody_join(void *fork);
/* Makes the next evaluation a whole one. */
void bg_multibody_forget(void *form);

/* Names of everything, and modes of signals, in names.c; at creation. */
void bg_multibody_name(bg_multibody *mb);
int bg_multibody_count_corners(const bg_model *model);
/* The multipliers that forces see; NULL: none are known. */
void bg_multibody_set_lambda(bg_multibody *mb, const double *lambda);
/* Points the world at the arguments of a call. */
void bg_multibody_set_point(bg_multibody *mb, const bg_point *p);
/* The world at a state outside a call of Bogie's: signals are evaluated here. */
bg_point bg_multibody_look_at(bg_multibody *mb, double t, const double *q, const double *v,
                              const double *z, const int *mode);
/* Start values of the elements' states, from the world at p (whose z and modes are not looked at).
 */
void bg_multibody_start(bg_multibody *mb, double t, const double *q, const double *v);
/* Gravity and all force elements into `wrench`. */
void bg_multibody_apply_forces(bg_multibody *mb);
/* The same without elements that drive a coordinate of the formalism. */
void bg_multibody_apply_wrenches(bg_multibody *mb);
/* g, its explicit time derivative and gamma of the body-level rows; for gamma, `acceleration` holds
 * the derivatives of the twists that remain where v' = 0. */
void bg_multibody_calc_g(bg_multibody *mb, double *g);
void bg_multibody_calc_gt(bg_multibody *mb, double *gt);
void bg_multibody_calc_gamma(bg_multibody *mb, double *gamma);
void bg_multibody_calc_group_gamma(bg_multibody *mb, int group, double *gamma);
/* The unit of the multipliers of a group of rows. */
const char *bg_multibody_get_row_unit(const bg_multibody *mb, int group);
/* "JOINT.x" for the rows of a point, "JOINT.3" for others, counted within the joint. */
void bg_multibody_name_row(const bg_multibody *mb, int group, int row, char *text, size_t size);
/* Adds the constraint forces -J^T lambda of the body-level rows, or of one group of them, to
 * `wrench`. */
void bg_multibody_apply_reactions(bg_multibody *mb, const double *lambda);
void bg_multibody_apply_reaction(bg_multibody *mb, int group, const double *lambda);
/* Wrench of a joint on its body b, through the centre of b; after update with accelerations. */
bg_wrench bg_multibody_calc_reaction(bg_multibody *mb, int joint, const double *lambda);

/* reactions.c: what has reactions, joints and then couplers, by name; change[] <- how much each
 * changes with lambda at p, as forces, torques divided by `size` (m). */
int bg_multibody_count_reactions(const bg_multibody *mb);
const char *bg_multibody_get_reaction_name(const bg_multibody *mb, int k);
void bg_multibody_calc_changes(bg_multibody *mb, const bg_point *p, const double *lambda,
                               double size, double *change);
/* z', s, energies and outputs from the world. */
void bg_multibody_calc_rates(bg_multibody *mb, double *z_t);
void bg_multibody_calc_switching(bg_multibody *mb, double *s);
void bg_multibody_calc_energy(bg_multibody *mb, bg_energy *out);
double bg_multibody_calc_power(bg_multibody *mb); /* of it, W */
void bg_multibody_calc_outputs(bg_multibody *mb, const bg_point *p, const double *a,
                               const double *lambda, double *y);

/* How wrenches and rates of states change with signals at a world that stays: with u or u_t, which
 * force laws read. By differences, as laws know their slopes by bodies alone. */
typedef struct bg_signal_visit {
    bg_by by; /* BG_BY_u or BG_BY_u_t */
    /* A part of the derivatives of the wrenches [nbodies] by `signal`; NULL: not wanted. */
    void (*force)(void *self, const bg_wrench *wrench, int signal);
    void *self;
    double *h;       /* [nz nsignals] += h by u; NULL: not wanted */
    bool only_stiff; /* forces only of elements marked stiff */
} bg_signal_visit;
void bg_multibody_visit_signals(bg_multibody *mb, const bg_signal_visit *visit);
/* block[. nsignals], unless NULL, += g by u of the body-level rows that follow signals; it is also
 * w by u_t and gamma by u_tt. */
void bg_multibody_add_row_signals(const bg_multibody *mb, double *block);

/* A joint coordinate of the model as something measured. */
bg_coordinate bg_multibody_get_coordinate(const bg_model *model, int joint, int coordinate);

/* Fills the parts of a definition that do not depend on the formalism: dimensions and names of z,
 * u, s, y and modes, and the functions inputs, outputs, energy and event, which find mb in
 * def->self. */
void bg_multibody_define(bg_multibody *mb, bg_system_def *def);

/* parts.c: the force elements, for the system of either formalism. */
bg_parts bg_multibody_get_parts(const bg_model *model);

#endif

/* Force elements: what acts on bodies besides constraints. One file per type, one line in forces.c.
 *
 * An element reads the world and adds wrenches to bodies. It may own first-order states z,
 * switching functions s and modes; the model gives each element its first index into the common
 * arrays. */
#ifndef BG_FORCE_H
#define BG_FORCE_H

#include "bogie/system.h"
#include "model/world.h"

#include <stdbool.h>

typedef struct bg_force bg_force;
typedef struct bg_value bg_value;

/* How the wrenches of an element, and the rates h of its states, change with the poses and twists
 * of the bodies they depend on. Body k = body[k] owns rows and columns 6k .. 6k+5: rows (f, n) of
 * its wrench, columns (dr, dtheta) of its pose or (v, w) of its twist, world axes, dR = dtheta x R.
 * A body may appear more than once: its blocks add. The ground may be left out. Bodies that only
 * the sensors of a law look at have columns but no wrench. States count from the element's first.
 * What lies beyond nbodies is undefined. */
enum {
    BG_FORCE_BODIES = 8,
    BG_FORCE_STATES = 4,
    BG_FORCE_MODES = 4,
    BG_FORCE_COLUMNS = 6 * BG_FORCE_BODIES
};

typedef struct bg_force_derivatives {
    int nbodies, body[BG_FORCE_BODIES];
    double wrench_pose[BG_FORCE_COLUMNS][BG_FORCE_COLUMNS];
    double wrench_twist[BG_FORCE_COLUMNS][BG_FORCE_COLUMNS];
    double wrench_z[BG_FORCE_COLUMNS][BG_FORCE_STATES];
    double h_pose[BG_FORCE_STATES][BG_FORCE_COLUMNS];
    double h_twist[BG_FORCE_STATES][BG_FORCE_COLUMNS];
    double h_z[BG_FORCE_STATES][BG_FORCE_STATES];
} bg_force_derivatives;

/* Of an element that acts along one joint coordinate x and nowhere else: how its force Q, and the
 * rates h of its states, change with x and x', with its states, and with (dr, dtheta, v, w) of the
 * bodies it looks at besides. */
typedef struct bg_drive_row {
    double x, rate, z[BG_FORCE_STATES], body[BG_FORCE_BODIES][12];
} bg_drive_row;

typedef struct bg_drive {
    int nbodies;
    const int *body; /* [nbodies]; the ground may be among them */
    bg_drive_row Q, h[BG_FORCE_STATES];
} bg_drive;

/* How the wrench on a body changes with the multiplier of a row. */
typedef struct bg_load_slope {
    int row, body;
    double wrench[6];
} bg_load_slope;

enum { BG_LOAD_SLOPES = 6 };

/* What an element looks like in a picture. */
typedef struct bg_force_look {
    const char *kind; /* "spring", "damper"; NULL: the name of the type */
    int nends;        /* 0: nothing to see; 1: it acts at a point; 2: between two points */
    bg_marker end[2];
    double radius;              /* m, of a wheel whose centre is the first end; 0: no wheel */
    int flange;                 /* of a wheel on a rail: side of its flange along y in the design
                                   position, 1 or -1; 0: it has a tyre */
    const struct bg_road *road; /* under the tyre; NULL: none */
} bg_force_look;

typedef struct bg_force_class {
    const char *name, *summary;
    /* Bytes it is given in w->memo[f->index], zeros at first. For elements that are asked several
     * things at one point: they keep what they were asked with, and what they found. */
    size_t memo_size;
    /* Of tyres that add a ring, a body, to the mechanism (read_rings.c): the class of the joint
     * between the ground and the ring. NULL: it adds none. */
    const struct bg_joint_class *ring;
    /* Reads the element from its JSON object (model/reader.h): fills self, nz, ns, nmode. Failures
     * stay in the reader. */
    void (*read)(const bg_value *v, bg_force *f);
    /* Adds the element's wrenches (see bg_wrench_add); wrench[nbodies]. NULL: what bears this name
     * is no element, and the model has none of it. */
    void (*apply)(const bg_force *f, const bg_world *w, bg_wrench *wrench);
    /* Its potential energy and the power of its non-conservative part; added to out. NULL: neither.
     */
    void (*energy)(const bg_force *f, const bg_world *w, bg_energy *out);
    /* Rates of its states into z_t[f->nz]. NULL: none. */
    void (*rates)(const bg_force *f, const bg_world *w, double *z_t);
    /* Its switching functions into s[f->ns]; what happens when the k-th crosses zero (may change
     * mode[k] of the element's own f->nmode modes; returns a bg_event_action). NULL: none. */
    void (*switching)(const bg_force *f, const bg_world *w, double *s);
    bool s_follows_motion; /* they vary no faster than the motion and its multipliers */
    int (*event)(const bg_force *f, int k, int direction, int *mode);
    /* Behind an event of the k-th function that changed its modes from before[f->nmode]: sets those
     * of its states z[f->nz] that begin anew. NULL: none does. */
    void (*enter)(const bg_force *f, int k, const int *before, const int *mode, double *z);
    /* The side that each switching function is on in these modes of its own, +1, -1 or BG_SIDE_*,
     * into side[f->ns], which is zero before. NULL: modes do not say. */
    void (*sides)(const bg_force *f, const int *mode, int *side);
    /* What happens when the k-th function passes zero in a direction (0: touches it), for people,
     * in some 100 characters. several: other elements of the model have events, too. NULL: it is
     * said of its name. */
    void (*describe)(const bg_force *f, int k, int direction, bool several, char *text,
                     size_t size);
    /* Start values of its states into z[f->nz]. NULL: zeros. */
    void (*start)(const bg_force *f, const bg_world *w, double *z);
    /* Modes start as 0, which means open: the law follows the state. Closes those of mode[f->nmode]
     * that are open (w->mode is not looked at); to be called at the start and after events that
     * changed something, so that steps in between see smooth laws. NULL: none. */
    void (*settle)(const bg_force *f, const bg_world *w, int *mode);
    /* Analytic derivatives at w, into out, which need not be cleared before. */
    void (*derivatives)(const bg_force *f, const bg_world *w, bg_force_derivatives *out);
    /* Of an element whose wrench on one body depends on the multiplier of a contact of the model:
     * the derivative by it, the contact and the body (the result). NULL: it does not. */
    int (*force_slope)(const bg_force *f, const bg_world *w, int *contact, double wrench[6]);
    /* Of an element that depends on what its joint transmits: its derivatives by the multipliers of
     * that, into out; returns their number. NULL: it does not. */
    int (*load_slopes)(const bg_force *f, const bg_world *w, bg_load_slope out[BG_LOAD_SLOPES]);
    /* Of an element with a joint: the derivatives, for a formalism that has the joint's coordinate
     * as such, into out, which is zero before. NULL: it acts otherwise. */
    void (*drive)(const bg_force *f, const bg_world *w, bg_drive *out);
    /* A scalar the user may ask for ("force", "length", "rate", ...): which < count names. */
    const char *const *sensor_names;
    int nsensors;
    double (*sensor)(const bg_force *f, const bg_world *w, int which);
    /* The unit of what it measures, by its own data: of its scalars ('y') and states ('z'). "": not
     * known. NULL, and for what it returns NULL: by name and type (unit.c). */
    const char *(*get_unit)(const bg_force *f, char kind, int which);
    /* How to draw it, into out, which is zero before. NULL: it is not drawn. */
    void (*look)(const bg_force *f, bg_force_look *out);
    /* Of what is drawn as acting on one body: the force on it, N, world axes, with what a constraint
     * of its own adds. NULL: that of its wrench. */
    bg_vec3 (*find_whole)(const bg_force *f, const bg_world *w);
    void (*clear)(bg_force *f); /* releases self */
} bg_force_class;

struct bg_force {
    char *name;
    const bg_force_class *class_;
    void *self;            /* the class's own data */
    int index;             /* among the forces of the model */
    bool stiff;            /* marked so for partitioned methods */
    bool fast;             /* its states are of the fast part although its bodies are not */
    bool cornered;         /* its laws, or outputs that they look at, have corners */
    int nz, ns, nmode;     /* how many of each it owns */
    int z0, s0, mode0;     /* where they begin in the system's arrays */
    int ring;              /* body that it has added to the mechanism; 0: none */
    int joint, coordinate; /* it acts along this coordinate; only where the class has `drive` */
};

/* All types, NULL-terminated. */
const bg_force_class *const *bg_force_get_classes(void);

#endif

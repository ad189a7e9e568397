/* What a user described, read and checked, before any choice of coordinates. Names are unique per
 * kind; references are indices. Body 0 is "ground". */
#ifndef BG_MODEL_INTERNAL_H
#define BG_MODEL_INTERNAL_H

#include "bogie/model.h"
#include "model/force.h"
#include "model/joint.h"
#include "model/rail/contact.h"
#include "model/signal.h"
#include "model/track.h"

typedef struct bg_shape {
    enum { BG_SHAPE_BOX, BG_SHAPE_CYLINDER, BG_SHAPE_SPHERE, BG_SHAPE_LINE } kind;
    bg_frame frame;   /* relative to the centre of mass, body axes */
    double size[3];   /* m: box edges; cylinder radius and length; sphere radius */
    bg_vec3 from, to; /* line, relative to the centre of mass */
} bg_shape;

typedef struct bg_point_of_body {
    char *name;
    bg_vec3 r; /* relative to the centre of mass, body axes */
} bg_point_of_body;

/* How a body is drawn. */
typedef struct bg_body_look {
    char colour[8]; /* "#rrggbb"; "": chosen by the page */
    double opacity; /* 0 to 1 */
    bool hidden;
} bg_body_look;

typedef struct bg_body {
    char *name;
    double mass;     /* kg, may be 0 */
    bg_mat3 inertia; /* kg m^2, about the centre of mass, body axes */
    bg_frame pose;   /* design position: centre of mass in the world, body axes in world axes */
    bg_vec3 v, w;    /* at the start, world axes: velocity of v_place, angular velocity */
    bg_vec3 v_place; /* relative to the centre of mass, body axes: "center" of the file, which point
                        masses leave behind */
    bool v_given, w_given; /* whether the file says so */
    bool v_fixed, w_fixed; /* and insists */
    bg_point_of_body *points;
    int npoints;
    bg_shape *shapes;
    int nshapes;
    bg_body_look look;
    const bg_track *track; /* that it follows as a frame; NULL: none */
    bool fast;             /* of the fast part, for methods of two rates */
} bg_body;

/* How a joint coordinate starts and whether it is driven. */
typedef struct bg_joint_start {
    double q, v;           /* guess: displacement from the design position, rate */
    bool q_given, v_given; /* whether the file says so */
    bool q_fixed, v_fixed; /* and insists */
    bool in_section;       /* in "initial" of the file, not of the joint */
    int signal;            /* prescribed by this signal; -1: free */
} bg_joint_start;

typedef struct bg_joint {
    char *name;
    const bg_joint_class *class_;
    bg_marker a, b; /* frames coincide in the design position */
    bool x_given;   /* their x axes by the file */
    bool x_open;    /* or chosen for an oblique axis; and coordinates along it are used */
    bool x_used;
    bool slides_back; /* slides count against axes, as in the mirror image of a cylinder */
    double pitch;     /* m/rad, screw */
    double length;    /* m, distance */
    enum { BG_CUT_AUTO, BG_CUT_FORCE, BG_CUT_FORBID } cut;
    bool stiff;  /* its coordinates are marked BG_MARK_STIFF */
    int rolling; /* signal that the link `rolling` of the class follows; -1: none */
    bg_joint_start start[BG_JOINT_COORDINATES]; /* per scalar coordinate of the class */
} bg_joint;

/* The k-th scalar coordinate of a joint, measured without counting turns. */
bg_coordinate bg_joint_get_coordinate(const bg_joint *j, int k);

/* A linear relation between joint coordinates: gear, rack and pinion. */
typedef struct bg_coupler {
    char *name;
    int n;
    int joint[BG_RELATION_MAX], coordinate[BG_RELATION_MAX];
    double factor[BG_RELATION_MAX], offset;
} bg_coupler;

typedef enum bg_output_kind {
    BG_OUTPUT_COORDINATE, /* joint coordinate or its rate (component 1) or second rate (2) */
    BG_OUTPUT_POSITION,   /* component 0..2 of a marker's origin */
    BG_OUTPUT_VELOCITY,
    BG_OUTPUT_ACCELERATION,
    BG_OUTPUT_ORIENTATION, /* component 0..3 of the body's quaternion relative to the design
                              position */
    BG_OUTPUT_ANGULAR_VELOCITY,
    BG_OUTPUT_ANGULAR_ACCELERATION,
    BG_OUTPUT_DISTANCE, /* between two markers */
    BG_OUTPUT_FORCE,    /* sensor `component` of a force element */
    BG_OUTPUT_REACTION, /* component 0..2 force, 3..5 torque about the joint's place, on body b,
                           world axes */
    BG_OUTPUT_KINETIC,
    BG_OUTPUT_POTENTIAL,
    BG_OUTPUT_ENERGY,
    BG_OUTPUT_SIGNAL,
    BG_OUTPUT_ANGLES,    /* component 0..2: roll, pitch, yaw of a body against another */
    BG_OUTPUT_WHEEL,     /* component bg_wheel_component of a wheel against a body */
    BG_OUTPUT_FILTER,    /* of the rows of output `index`; component bg_filter_kind (system.h) */
    BG_OUTPUT_EXPRESSION /* of other outputs and t */
} bg_output_kind;

/* How a wheel stands; the last two need the points of its steering axis. */
typedef enum bg_wheel_component {
    BG_WHEEL_CAMBER,
    BG_WHEEL_TOE,
    BG_WHEEL_STEER,
    BG_WHEEL_TRAVEL,
    BG_WHEEL_CASTER,
    BG_WHEEL_INCLINATION
} bg_wheel_component;

typedef struct bg_output {
    char *name;
    bg_output_kind kind;
    int index, component; /* joint, force or signal, as the kind needs */
    int coordinate;       /* of the joint, for COORDINATE */
    bg_marker a, b;
    bool turned;       /* a component is that along `direction`, not along an axis of the world */
    bool carried;      /* and the direction turns with marker b, from which positions count */
    bg_vec3 direction; /* unit, world axes (of the design position); of a wheel its axis */
    double offset;     /* m, which is added to that of a position, or to travel */
    bg_mat3 axes;      /* of angles and wheels: x, y, z in the design position; mirrored: det -1 */
    bg_marker kingpin[2];      /* lower and upper point of a steering axis */
    double side;               /* of a wheel: 1 left, -1 right */
    double time;               /* s, of a filter */
    char *unit;                /* in which it is recorded; NULL: SI */
    double scale;              /* recorded value / SI value */
    bg_coordinate measured;    /* COORDINATE as force laws see it (model/sensor.h) */
    bg_expression *expression; /* variables: earlier outputs by index; t is index noutputs */
} bg_output;

enum { BG_PLOT_CHANNELS = 12 };

/* A plot that a page opens with. A channel is an output, or -1 - the index of an input. */
typedef struct bg_plot {
    char *title; /* NULL: none is given */
    int n, channel[BG_PLOT_CHANNELS];
    bool over_given;
    int over;      /* channel on the other axis; else it is time */
    bool spectrum; /* amplitudes over frequency */
} bg_plot;

/* Where a page looks from. */
typedef struct bg_view {
    bool from_given;
    bg_vec3 from; /* unit, world axes: from the mechanism to the camera */
    int follow;   /* body that the camera moves with; 0: none, -1: not said */
    bool turns;   /* and turns with */
    char *camera; /* "driver", or the wheel beside which it stands: a force; NULL: neither */
} bg_view;

/* Which zeros end the run; others are only recorded. */
typedef enum bg_watch_stop {
    BG_WATCH_STOP_NEVER = 0,
    BG_WATCH_STOP_RISING = 1,
    BG_WATCH_STOP_FALLING = 2
} bg_watch_stop;

/* An expression whose zeros are events. */
typedef struct bg_watch {
    char *name;
    struct bg_law *law;  /* of t, signals and outputs (model/forces/law.h) */
    unsigned stop;       /* of bg_watch_stop */
    char *text;          /* the expression */
    char *rises, *falls; /* what happens, in the user's words; NULL: not said */
} bg_watch;

void bg_watch_clear(bg_watch *watch);

/* An angle that is unwrapped for a force law: a state follows it through full turns. */
typedef struct bg_followed_angle {
    int joint, coordinate, z;
} bg_followed_angle;

enum { BG_DIGITS_MAX = 17 }; /* of a number that is exact, or as exact as can be */

struct bg_model {
    char *name;
    struct json_t
        *source;     /* what was read, with settings applied and tables of files written out */
    bg_vec3 gravity; /* m/s^2 */
    bg_body *bodies; /* [nbodies], 0 is the ground */
    bg_joint *joints;
    bg_coupler *couplers;
    bg_force *forces; /* without gravity */
    bg_signal *signals;
    bg_track *tracks;
    bg_profile *profiles;
    bg_rail_contact *contacts; /* of wheels with rails, each of a force */
    bg_output *outputs;
    bg_watch *watches; /* "events" */
    bg_plot *plots;
    int nplots;
    bg_view view;
    int nbodies, njoints, ncouplers, nforces, nsignals, ntracks, nprofiles, ncontacts, noutputs,
        nwatches;
    bg_followed_angle *angles; /* of outputs in laws of forces and watches */
    int nangles;
    bool of_reactions; /* forces depend on what joints transmit */
    int digits;        /* most that a coordinate of a place is written with; 0: no place is given */
    double farthest;   /* m, place from the origin */
    int nz, ns, nmode; /* owned by forces and angles; formalisms add theirs behind */
    /* run defaults; NAN or empty where the file says nothing */
    double t_start, t_end, rtol, atol, step, output_interval;
    bool equilibrium; /* motions start in equilibrium */
    char integrator[32], formulation[16];
    bool constrain;      /* prescribed coordinates of the tree by constraints, not eliminated */
    bg_setting *options; /* of that integrator */
    int noptions;
    bg_warnings warnings; /* of the reader */
    int ncorners;         /* laws and inputs with corners that raise no event; the first of them, */
    char corner[96];      /* where it is and what it has */
};

/* The content of a model file, or of a text; origin names it in messages. */
bg_status bg_model_load(const char *path, struct json_t **root, bg_error *err);
bg_status bg_model_load_text(const char *text, size_t length, const char *origin,
                             struct json_t **root, bg_error *err);
/* The model that such a content describes; it is changed on the way and must not be used again. */
bg_status bg_model_create(struct json_t *root, const char *origin, const bg_setting *settings,
                          int nsettings, bg_model **model, bg_error *err);

#endif

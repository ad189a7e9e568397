/* The moving picture of a result: the model built again, and where its bodies are frame by frame.
 *
 * Frames are evenly spaced: 60 in a second of simulated time, but at least 600 and at most 4000.
 * Between two rows q follows the cubic with their values and rates q' = V v, everything else a
 * straight line; rows are at the ends of steps, so the cubic stays within the error of a step.
 * Poses come from the formalism, as they did in the run. */
#ifndef BG_REPORT_SCENE_H
#define BG_REPORT_SCENE_H

#include "bogie/problem.h"
#include "bogie/result.h"
#include "formalism/multibody.h"
#include "model/mechanism.h"
#include "report/rows.h"

enum { BG_SCENE_NOTE = 512, BG_POSE = 7 };
/* Widths, of the radius: wheels are described without. */
#define BG_TYRE_WIDTH 0.6
#define BG_RAIL_WHEEL_WIDTH 0.29

/* The force of a spring on a body, or of tyre or rail on a wheel, as an arrow. */
typedef struct bg_scene_force {
    int force; /* of the model */
    bool wheel;
    bg_marker at; /* on which body and where: the middle of a wheel */
    float *f;     /* [frames x 3] N, world axes */
} bg_scene_force;

typedef struct bg_scene {
    bg_source *source;
    bg_problem *problem;
    const bg_model *model;   /* of the problem */
    bg_mechanism *mechanism; /* tree and cuts */
    bg_evaluator *evaluator; /* of its system */
    const char *formulation; /* "joint" or "cartesian" */
    bg_multibody *mb;        /* inside of the evaluator */
    int nbodies, njoints;
    long frames;
    double *t;    /* [frames] s */
    float *poses; /* [frames x nbodies x 7] x, y, z, w, qx, qy, qz; quaternions turn continuously */
    float **reactions;      /* [njoints][frames x 3] force on the second body, N, world axes */
    bool has_reactions;     /* false: too many to compute */
    bg_scene_force *forces; /* [ndrawn] */
    int ndrawn, left_out;   /* and those that would make the page too large */
    bg_wrench *wrench;      /* [nbodies] scratch of forces.c */
    double size;            /* m, of everything drawn, for thicknesses */
} bg_scene;

/* The scene of a result. Without one (*scene NULL and BG_OK) note says why in a sentence; it may
 * also say what a scene leaves out. */
bg_status bg_scene_create(bg_result_file *file, bg_scene **scene, char note[BG_SCENE_NOTE],
                          bg_error *err);
void bg_scene_destroy(bg_scene *scene);

/* Of forces.c: room for the forces, those of one frame after the bodies are there, and the end. */
bg_status bg_scene_create_forces(bg_scene *scene, bg_error *err);
void bg_scene_store_forces(bg_scene *scene, long frame);
void bg_scene_destroy_forces(bg_scene *scene);

/* World position of a place in body axes at a frame. */
bg_vec3 bg_scene_calc_place(const bg_scene *scene, long frame, int body, bg_vec3 r);

/* How wide a wheel is drawn, m. */
static inline double bg_scene_find_width(const bg_force_look *look)
{
    return (look->flange ? BG_RAIL_WHEEL_WIDTH : BG_TYRE_WIDTH) * look->radius;
}

/* The road under the tyres as a polyline of (x, z), x along the road; where its height changes
 * across it, z in the middle and heights at y - width/2 .. y + width/2. */
typedef struct bg_scene_road {
    int n;
    double (*points)[2]; /* [n] m */
    int lanes;           /* 0: the same height across */
    double *heights;     /* [n][lanes] m, from the right to the left */
    double width, y;     /* m */
    double speed, start; /* m/s, m: a point is at x - speed t - start in the world */
} bg_scene_road;

/* The only one, or that of the left (1) or right side (-1); n = 0: there is none. */
bg_status bg_scene_create_road(const bg_scene *scene, int side, bg_scene_road *road, bg_error *err);
void bg_scene_clear_road(bg_scene_road *road);

#endif

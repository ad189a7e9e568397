/* How a system starts whose user says what is wanted of bodies and joints instead of giving v0.
 *
 * A wish is a row A v = b on velocities, or on the increments V^{-1} dq of positions. Wishes have
 * levels: each counts as far as the constraints and the levels before leave it open
 * (consistent/starts.c). */
#ifndef BG_STARTS_H
#define BG_STARTS_H

#include "bogie/integrator.h"
#include "linalg/sparse_rows.h"

typedef enum bg_start_level {
    BG_START_FIXED, /* what the user insists on: an error where it cannot be */
    BG_START_GIVEN, /* what the user gave */
    BG_START_REST,  /* joints of which nobody speaks do not move, or stay as designed */
    BG_START_TURN,  /* what floats does not turn */
    BG_START_DRIFT, /* and does not drift */
    BG_START_LEVELS
} bg_start_level;

typedef enum bg_start_of { BG_START_POSITIONS, BG_START_VELOCITIES } bg_start_of;

/* What a velocity that is given may ask of others per unit of its own: 1e5 at most. More is asked
 * near a dead centre alone, where data and iterations decide the distance, and not the user. */
#define BG_START_LEVERAGE 1e-5

/* A point p has t, q, v, z, u and mode; functions take the `self` of the definition. */
typedef struct bg_starts {
    /* The k-th thing given, with what became of it at p (NULL: at that of the last call); non-zero:
     * there is none. */
    int (*get_given)(void *self, const bg_point *p, int k, bg_given *out);
    /* Whether the levels FIXED, GIVEN and REST are met at p, and the others as well as they can be;
     * constraints are not looked at. */
    int (*is_settled)(void *self, const bg_point *p, bg_start_of of);
    /* A first guess of v at the pose of p. */
    bg_status (*guess)(void *self, const bg_point *p, double *v, bg_error *err);
    /* q of the design position. */
    void (*get_design)(void *self, double *q);
    /* z of angles that are followed through turns <- where they are at p, near z. */
    void (*follow)(void *self, const bg_point *p, double *z);
    /* The k-th joint that takes part in row `row` of g: its own, then those of the tree on the way
     * from one of its bodies to the other. A joint may come twice; NULL: there are no more. */
    const char *(*get_joint)(void *self, int row, int k);
    /* A joint that is closed the wrong way round at p, with an axis against its own as designed,
     * which its rows cannot tell; NULL: there is none. */
    const char *(*find_reversed)(void *self, const bg_point *p);
    /* Rows of a level at p: A, empty before, b[n] (of positions: what is missing), owner[n] (the k
     * of get_given; -1: none). Returns n; with A = NULL, no more than that. */
    int (*calc_rows)(void *self, const bg_point *p, bg_start_of of, bg_start_level level,
                     bg_sparse_rows *A, double *b, int *owner);
} bg_starts;

#endif

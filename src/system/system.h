/* Inside of bg_system, the user's definition behind checks, and of what evaluates it: counters,
 * inputs and differences. */
#ifndef BG_SYSTEM_INTERNAL_H
#define BG_SYSTEM_INTERNAL_H

#include "base/arena.h"
#include "bogie/integrator.h"
#include "bogie/system.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bg_difference_scratch {
    double *q[2];     /* [nq] shifted configurations */
    double *x, *step; /* [widest] a shifted argument; the shift of each column */
    double *u[6];     /* [nu] inputs and their derivatives at a shifted time and at the time */
    double *value[2]; /* [widest] function values at the points shifted to last */
    bg_terms terms;   /* terms at shifted points */
    double *V;        /* [nq nv] kinematic matrix at the unshifted point */
} bg_difference_scratch;

/* An input that comes from outside, when live: value + rate (t - since). */
typedef struct bg_live_input {
    bool live;
    double since, value, rate;
} bg_live_input;

/* The energies at the point they were computed at last: a run asks for those at the end of a step,
 * and the method for their power at the beginning of the next. */
typedef struct bg_known_energy {
    bool known;
    double *point; /* [1 + nq + nv + nz + 3 nu] t, q, v, z, u, u_t, u_tt, and [ng] the multipliers
                      that forces depend on */
    int *mode;     /* [nmode] */
    bg_energy value;
} bg_known_energy;

/* Parts of a system whose forces can be told apart, such as force elements. A force on the system,
 * and a motion of it, are `width` numbers each, whose products sum up to a power. */
typedef struct bg_parts {
    int count, width; /* 0: the system has none */
    /* "spring-damper 'strut'" */
    void (*get_name)(const void *self, int part, char *text, size_t size);
    /* Where the next forces are asked for, and the motion there (NULL: not wanted). */
    void (*place)(void *self, const bg_point *p, double *motion);
    void (*calc_force)(void *self, int part, double *force);
    /* A number that changes where a law of one of them may jump; NULL: none does. */
    uint64_t (*calc_side)(void *self);
} bg_parts;

/* Whose work an evaluation is; what is done aside is no work of a method and not told. */
typedef enum bg_purpose {
    BG_FOR_STEPS,
    BG_FOR_PROJECTION,
    BG_FOR_EVENTS,
    BG_FOR_ROWS,
    BG_FOR_FORESIGHT,
    BG_ASIDE,
    BG_PURPOSES
} bg_purpose;

/* Constant once it is made, so that any number of evaluators, in any number of threads, share it.
 */
struct bg_system {
    bg_system_def def;
    bg_parts parts;           /* filled in by who makes the system */
    char (*event_names)[16];  /* [ns] "s[0]", ... for functions the definition does not name */
    const char **event_texts; /* [3 ns] sentences: falling, touching, rising */
    char *event_words;        /* storage of those the definition does not give */
    double size;              /* m, of the mechanism in space; 1 where that is not known */
    /* Distances from the origin beside sizes, at the point evaluated last: what rounding of places
     * is multiplied with in the coordinates. NULL: not known. Filled in by who makes the system. */
    double (*calc_distance)(const void *self);
    double resolution; /* m, to which places are given; 0 where that is not known */
    double farthest;   /* m, from the origin, of the places that are given; the same */
    double lift;       /* J, its weight times its size; 0 where that is not known */
    double mass;       /* kg, of all bodies; the same */
    double raised;     /* J, potential energy of its weight in the middle as drawn; the same */
    /* What has reactions, such as joints: how many, their names, and change[nreactions] <- how much
     * they change with lambda at p, as forces. Filled in by who makes the system; 0: not known. */
    int nreactions;
    const char *(*get_reaction_name)(const void *self, int k);
    void (*calc_changes)(void *self, const bg_point *p, const double *lambda, double size,
                         double *change);
    /* [nv] the first of the coordinates, next to each other, that a turn of the axes mixes with
     * this one: a place in space, a quaternion. NULL: all stand for themselves. Owned by `self`. */
    const int *block;
    /* [nv] non-zero: an angle that may grow with every turn. NULL: none is. Owned by `self`. */
    const unsigned char *endless;
    int freedom; /* degrees of freedom where another form has decided them already; -1: not known */
    bool tree;   /* its constraints are those of a tree, and never become dependent */
    /* Parts that the definition did not have (bg_system_set_parts): its functions know nothing of
     * them. NULL: there are none. */
    unsigned char *own_parts;
    bool equilibrium; /* motions start in equilibrium; filled in by who makes the system */
    uint64_t content; /* changes with the model it is made from, likewise; 0: from none */
    /* The same system in coordinates in which more motions are steady, and x <- its state p as one
     * of this system. `self` and `twin` are those of evaluators. NULL: there is none. Filled in by
     * who makes the system. */
    bg_status (*create_twin)(const void *self, bg_system **twin, bg_error *err);
    bg_status (*take_twin)(void *self, void *twin, const bg_point *p, bg_state *x, bg_error *err);
    bg_warnings warnings; /* added to by who makes the system, before it is used */
    /* column groups of patterned blocks; g by q: of G; blocks of one pattern share them */
    const int *group[BG_OF_COUNT][BG_BY_COUNT];
    int *own_group[BG_OF_COUNT * BG_BY_COUNT]; /* by the first block of each pattern */
    int ngroups[BG_OF_COUNT][BG_BY_COUNT];
};

/* Whoever evaluates a system: inputs, counts of work, what was found last, scratch memory. */
struct bg_evaluator {
    const bg_system *system;
    bg_system_def def;         /* the system's; self is this evaluator's own */
    bg_work work[BG_PURPOSES]; /* since create */
    bg_purpose purpose;        /* of the present work; steps unless told otherwise */
    double *u, *u_t, *u_tt;    /* [nu] at the point last set by bg_system_set_point */
    bg_live_input *outside;    /* [nu] */
    double *no_lambda;         /* [ng] zeros, where forces depend on multipliers */
    bg_known_energy energy;
    /* scratch of the difference formulas, so that they do not allocate; a block may need gamma by
     * differences, and gamma may need G and g_t by differences, hence three sets */
    bg_difference_scratch for_terms, for_gamma, for_blocks;
    double
        widening; /* factor on all shifts: 1; the derivative checker extrapolates from wider ones */
    struct bg_kkt *mass; /* of the explicit formalism without `accelerate`, once it is prepared */
    const bg_expansion *expansion; /* once it is prepared; owned by def.self */
    bg_arena arena;                /* all arrays */
};

/* Gives a system that nobody uses yet other parts than its definition has: v [nv], z [nz], g [ng]
 * of BG_PART_*, copied; NULL: none. Where they differ, its functions are asked for everything from
 * then on. */
bg_status bg_system_set_parts(bg_system *sys, const unsigned char *v, const unsigned char *z,
                              const unsigned char *g, bg_error *err);

static inline int bg_system_get_block(const bg_system *sys, int i)
{
    return sys->block ? sys->block[i] : i;
}

/* Where the present work is counted. */
static inline bg_work *bg_system_get_work(bg_evaluator *sys)
{
    return &sys->work[sys->purpose];
}
/* From now on work is for somebody else; returns for whom it was. A projection within events or
 * rows stays theirs. */
static inline bg_purpose bg_system_turn_to(bg_evaluator *sys, bg_purpose purpose)
{
    bg_purpose before = sys->purpose;
    if (purpose != BG_FOR_PROJECTION || before == BG_FOR_STEPS)
        sys->purpose = purpose;
    return before;
}

/* Whether a definition is usable: dimensions, functions, patterns, values. */
bg_status bg_system_check_definition(const bg_system *sys, bg_error *err);
bg_status bg_system_check_expansion(const bg_system_def *def, const bg_expansion *expansion,
                                    bg_error *err);

/* Number of stored values of M, of G and of V (pattern or dense; none where V = I). */
int bg_system_get_size_M(const bg_system *sys);
int bg_system_get_size_G(const bg_system *sys);
int bg_system_get_size_V(const bg_system *sys);

/* What the system kept of one point for the next is dropped. */
void bg_system_forget(bg_evaluator *sys);
/* As bg_system_set_point, at a state whose multipliers are known. */
bg_status bg_system_set_state(bg_evaluator *sys, const bg_state *x, bg_point *p, bg_error *err);
/* Inputs at t: those of the definition, but for those that come from outside. */
bg_status bg_system_calc_inputs(bg_evaluator *sys, double t, const int *mode, double *u,
                                double *u_t, double *u_tt, bg_error *err);
/* From now on input i is value + rate (t - since), whatever the definition says; value NAN: it
 * is as the definition says again. */
void bg_system_set_live(bg_evaluator *sys, int i, double since, double value, double rate);

/* Energies at p, where the definition has them; returns the code of its function. */
int bg_system_calc_energy(bg_evaluator *sys, const bg_point *p, bg_energy *out);
int bg_system_calc_power(bg_evaluator *sys, const bg_point *p, double *power);

/* G, g_t or gamma by differences even where supplied: what the derivative checker compares with. */
bg_status bg_system_difference_term(bg_evaluator *sys, const bg_point *p, unsigned term,
                                    bg_terms *out, bg_error *err);

/* Arrays for all terms, M only where it is wanted. */
void bg_terms_take(const bg_system *sys, bool with_M, bg_terms *terms, bg_arena *arena);
/* Its arrays, in the arena of an evaluator. */
void bg_difference_scratch_take(const bg_system *sys, bg_difference_scratch *scratch,
                                bg_arena *arena);

/* One derivative block by differences, whether or not it is supplied. */
bg_status bg_system_difference_block(bg_evaluator *sys, const bg_point *p, const double *a,
                                     const double *lambda, bg_of of, bg_by by, double *block,
                                     bg_error *err);
/* The pattern of a block (that of G for g by q), NULL for dense. */
const bg_pattern *bg_system_get_pattern(const bg_system *sys, bg_of of, bg_by by);
/* size [ng] <- the sizes of the constraints: the system's own, or the lengths of the rows of G,
 * where a row that is zero but for rounding gets the length of the longest. */
void bg_system_calc_row_sizes(const bg_system *system, const double *G, double *size);
/* Rows of what is differentiated, columns of what it is differentiated by, and the name. */
int bg_system_get_rows(const bg_system *sys, bg_of of);
/* Values of a derivative block, in its pattern or as a whole. */
int bg_system_count_values(const bg_system *sys, bg_of of, bg_by by);
int bg_system_get_columns(const bg_system *sys, bg_by by);
const char *bg_block_get_name(bg_of of, bg_by by);

/* The name of a switching function, valid as long as the system. */
const char *bg_system_get_event_name(const bg_system *sys, int i);
/* What happens when it passes zero in a direction, +1, -1 or 0, for people. */
const char *bg_system_get_event_text(const bg_system *sys, int i, int direction);
bg_event bg_system_make_event(const bg_system *sys, double t, int i, int direction);
/* Makes both, at creation. False: out of memory. */
bool bg_system_create_event_names(bg_system *sys);

/* Names the first entry of the wanted terms that is not finite: "f[2] (force on x)". False: none.
 */
bool bg_system_find_not_finite(const bg_system *sys, const bg_terms *terms, unsigned want,
                               char *text, size_t size);

/* q_out = q + step * V(q) delta, normalised; V holds the kinematic matrix at q (unused if V = I).
 */
void bg_system_move(const bg_evaluator *sys, const double *q, const double *V, double step,
                    const double *delta, double *q_out);

#endif

/* The equations everything shares: a constrained mechanical system.
 *
 *   q' = V(q) v                            q in R^nq, v in R^nv; V = I unless quaternions are used
 *   M(q,u) v' = f(t,q,v,z,u) - G(q,u)^T lambda          G = (dg/dq) V, an ng x nv matrix
 *   z' = h(t,q,v,z,u)                      first-order states of force elements, z in R^nz
 *                                          f and h may depend on lambda, too: see f_of_lambda
 *   0  = g(q,u(t))                         position constraints; hidden below them
 *   0  = w = G v + g_t                     g_t: time derivative of g at fixed q
 *   0  = G v' + gamma(t,q,v)               gamma: everything of w' that is not G v'
 *   u(t), u_t, u_tt                        named excitation signals and their time derivatives
 *   s(t,q,v,z,u)                           switching functions; a sign change is an event
 *
 * A user fills a bg_system_def (dimensions, functions, names, start values); bg_system_create
 * checks it and returns the handle that integrators consume. Functions that are left out are
 * replaced by differences where that is possible; docs/writing-a-system.md shows how to write one.
 */
#ifndef BOGIE_SYSTEM_H
#define BOGIE_SYSTEM_H

#include "bogie/status.h"
#include "bogie/warning.h"

#include <stddef.h>

BG_API_BEGIN

/* The version of the structures in this header; a plug-in states the one it was compiled with. */
#define BG_ABI 13

/* Terms of the equations of motion, as bits: a call says which it wants. */
enum {
    BG_TERM_M = 1u << 0,     /* mass matrix, nv x nv, symmetric, at least semi-definite */
    BG_TERM_f = 1u << 1,     /* forces, nv */
    BG_TERM_g = 1u << 2,     /* position constraints, ng */
    BG_TERM_gt = 1u << 3,    /* dg/dt at fixed q, ng */
    BG_TERM_G = 1u << 4,     /* constraint matrix, ng x nv */
    BG_TERM_gamma = 1u << 5, /* acceleration constraints without G v', ng */
    BG_TERM_V = 1u << 6,     /* kinematic matrix, nq x nv */
    BG_TERM_h = 1u << 7,     /* rates of z, nz */
    BG_TERM_s = 1u << 8      /* switching functions, ns */
};

/* Derivative blocks: what is differentiated, by what. With respect to q means along V, so every
 * block by q has nv columns. r = M a - f + G^T lambda at fixed a, and, but for blocks by lambda, at
 * fixed lambda; w = G v + g_t. (g by q is the term G itself. r by lambda is G^T - df/dlambda; only
 * r and h have blocks by lambda that are not zero.) */
typedef enum bg_of { BG_OF_r, BG_OF_h, BG_OF_g, BG_OF_w, BG_OF_gamma, BG_OF_COUNT } bg_of;
typedef enum bg_by {
    BG_BY_q,
    BG_BY_v,
    BG_BY_z,
    BG_BY_u,
    BG_BY_u_t,
    BG_BY_u_tt,
    BG_BY_lambda,
    BG_BY_COUNT
} bg_by;

/* Marks for methods that treat coordinates differently. */
enum { BG_MARK_STIFF = 1u << 0 };

/* Parts of a system for methods of two rates, as bits: a call says whose accelerations it wants. */
enum { BG_PART_SLOW = 1u << 0, BG_PART_FAST = 1u << 1 };

/* Where functions are evaluated. All arrays are owned by the caller and are read-only. */
typedef struct bg_point {
    double t;                     /* s */
    const double *q, *v, *z;      /* nq, nv, nz */
    const double *u, *u_t, *u_tt; /* nu each; filled from `inputs` before every call */
    const int *mode;              /* nmode */
    /* ng: with f_of_lambda, what f, h and the power take for the multipliers, and with s_of_lambda
     * what s does, never NULL (zeros
     * where none are known, as for terms that do not depend on them); else of no meaning */
    const double *lambda;
    /* BG_PART_* as bits, 0: all. Terms of other parts need not be written: of f, h, gamma and g
     * their entries, of M and G their rows. V is always whole. A system need not heed it. */
    unsigned part;
} bg_point;

/* Where terms are written. Arrays that are not wanted are NULL or must be left alone.
 * Dense matrices are row-major: M[i*nv+j], G[i*nv+j], V[i*nv+j]. With a pattern, values follow the
 * pattern's order. Arrays start as zeros and keep what was written: a system writes every entry
 * that is not always zero, each time. */
typedef struct bg_terms {
    double *M, *f, *g, *gt, *G, *gamma, *V, *h, *s;
} bg_terms;

typedef struct bg_derivatives {
    double *block[BG_OF_COUNT][BG_BY_COUNT]; /* non-NULL where wanted, same layout rules as terms */
    /* Non-zero: blocks of r need only contain what comes from parts of the system marked stiff; a
     * system with stiff_parts heeds it, others may give everything. */
    int only_stiff;
} bg_derivatives;

/* Rows in compressed form: the columns of row i are column[row_start[i] .. row_start[i+1]-1],
 * ascending. NULL instead of a pattern means dense. */
typedef struct bg_pattern {
    int rows, columns;
    const int *row_start; /* rows + 1 */
    const int *column;    /* row_start[rows] */
} bg_pattern;

/* r by q, v and v' through unknowns of its own, for systems whose blocks are full although r itself
 * takes few operations: sums along a chain. With x in R^nx, how r changes with increments dq (along
 * V), dv and da is
 *      0 = X x + Q dq + W dv + A da      the first nx rows, which determine x,
 *     dr = X x + Q dq + W dv + A da      the last nv rows,
 * at fixed lambda. X, Q, W and A have few entries, at places that never change. Row i says what x_i
 * is; x is eliminated from the last to the first, for a chain from its tip to its root. */
typedef struct bg_expansion {
    int nx;
    bg_pattern x, q, v, a; /* nx + nv rows each; nx, nv, nv, nv columns; none is dense */
} bg_expansion;

/* Where they are written, in the order of their patterns, by the rules of terms. */
typedef struct bg_expansion_values {
    double *x, *q, *v, *a;
} bg_expansion_values;

typedef struct bg_energy {
    double kinetic;   /* J */
    double potential; /* J, of all conservative forces */
    double power;     /* W, of all other applied forces; constraint forces are added by Bogie */
} bg_energy;

/* An output that runs make of the rows of another one; `outputs` gives the other one's value for
 * it. */
typedef enum bg_filter_kind {
    BG_FILTER_LAG, /* first-order lag */
    BG_FILTER_RMS  /* root of the lagged square */
} bg_filter_kind;

typedef struct bg_output_filter {
    int y, source; /* outputs; the source comes earlier */
    bg_filter_kind kind;
    double time;  /* s */
    double scale; /* unit of the source over that of y */
} bg_output_filter;

typedef struct bg_event {
    double t;         /* s */
    int index;        /* which switching function */
    int direction;    /* +1 s rises through zero, -1 falls, 0 only touches it */
    const char *name; /* what happens there, for people: "tyre fl lands" */
    const char *of;   /* the name of the switching function: "fl" */
} bg_event;

/* What a system may change at an event. */
typedef struct bg_event_state {
    double *q, *v, *z; /* nq, nv, nz */
    int *mode;         /* nmode */
} bg_event_state;

typedef enum bg_event_action {
    BG_EVENT_NOTE = 0,    /* recorded, nothing changed */
    BG_EVENT_CHANGED = 1, /* state or mode changed: project, restart the method */
    BG_EVENT_STOP = 2,    /* end the run here */
    BG_EVENT_STOP_LATER   /* the same, but not where it begins */
} bg_event_action;

/* What `sides` may say of a switching function besides +1 and -1. */
enum {
    BG_SIDE_OPEN = 0, /* nothing: where it is, and behind an event where the motion carries it */
    BG_SIDE_KEPT = 2  /* it stays on its side until it crosses, be it by a jump: that is an event */
};

/* The definition of a system. Get one from bg_default_system_def and fill in what applies.
 * Every function returns 0, a positive number when it cannot be evaluated there but a smaller step
 * may help (a square root of a negative number), or a negative number to stop the run. `self` is
 * passed to each. Everything that evaluates the system gets a self of its own from `fork`, so that
 * functions may write into theirs, as scratch memory; without `fork` all share this one, and
 * functions that write into it can serve one thread only. */
typedef struct bg_system_def {
    const char *name;
    int nq, nv, nz, ng, nu, ns, ny, nmode;
    void *self;
    void (*destroy)(void *self); /* called once, also when bg_system_create fails; may be NULL */
    /* A self that computes the same with scratch memory of its own (NULL: out of memory), and its
     * end. It is released before self is destroyed, and may share what is constant. Optional. */
    void *(*fork)(const void *self);
    void (*join)(void *fork);
    /* Drops what functions kept of one point for the next; no value may depend on it. Optional:
     * who measures what an evaluation costs calls it. */
    void (*forget)(void *self);

    /* Terms. `supplied` says which terms `terms` can write. M and f (or `accelerate`) and, with
     * constraints, g are required; V is required where nq != nv. G, g_t and gamma are found by
     * differences when they are not supplied; g_t = 0 when `scleronomic` is set. */
    unsigned supplied;
    int (*terms)(void *self, const bg_point *p, unsigned want, bg_terms *out);
    int scleronomic;  /* non-zero: g does not depend on time, neither directly nor through u */
    int semidefinite; /* non-zero: M alone is always singular; the constraints make up for it */
    /* Non-zero: f, h and the power in `energy` depend on the multipliers p->lambda (friction,
     * creep). Accelerations and multipliers then follow from a repeated solution; where that does
     * not settle, or does not determine them (too much friction), a step or a start fails and says
     * so. */
    int f_of_lambda;
    /* Non-zero: switching functions depend on the multipliers p->lambda, too (a contact that lifts
     * off). These are then those of the solution wherever events are looked for, which costs one
     * solution for each look; a method that follows lambda passes over steps far from any event
     * with its own. */
    int s_of_lambda;
    /* Non-zero: switching functions vary no faster than the motion and lambda; fewer looks in a
     * step will do. */
    int s_follows_motion;

    /* Explicit formalism a = M^{-1}(f - G^T lambda); lambda is NULL where ng = 0. Optional. */
    int (*accelerate)(void *self, const bg_point *p, const double *lambda, double *a);
    /* A factorisation of M by itself, for a full M that has a faster one than by its entries:
     * factor_mass writes mass_size numbers, the first of which is not finite where there is none
     * (M is nearly singular), solve_mass makes x <- M^{-1} x of these numbers alone, some of which
     * may be scratch memory. Optional; used where few constraints make up the matrix with M. */
    int mass_size;
    int (*factor_mass)(void *self, const bg_point *p, double *factor);
    void (*solve_mass)(const void *self, double *factor, double *x);
    /* Residual formalism r = M a - f + G^T lambda. Optional. */
    int (*residual)(void *self, const bg_point *p, const double *a, const double *lambda,
                    double *r);
    /* Parts of two rates: which part every velocity, state and constraint belongs to (BG_PART_*;
     * NULL: all are slow), where no mass and no constraint couples the parts. Explicit formalism of
     * the wanted parts alone, a and z' = z_t, whose other entries are left alone. All optional. */
    const unsigned char *v_part, *z_part, *g_part; /* nv, nz, ng */
    int (*accelerate_part)(void *self, const bg_point *p, unsigned part, const double *lambda,
                           double *a, double *z_t);
    /* Derivative blocks marked in `derivative_supplied`. Optional. */
    unsigned char derivative_supplied[BG_OF_COUNT][BG_BY_COUNT];
    int (*derivatives)(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out);
    /* What the supplied blocks of r, h and w cost together, beside one residual of all equations
     * (r, g, G and w), about, by operations; 0: not known, which counts as much. Methods evaluate
     * cheap derivatives more often. */
    double derivative_cost;

    /* The expansion of r: where its entries lie, asked for before the first values are (NULL: out
     * of memory), which is kept by self, or its fork, as long as that lives; and its values, all of
     * which are wanted. Both or none. Optional: implicit methods use it where that is less work
     * than with the blocks of r by q and v, and with M. */
    const bg_expansion *(*lay_out)(void *self);
    int (*expand)(void *self, const bg_point *p, const double *a, const double *lambda,
                  bg_expansion_values *out);

    /* Excitations: u, u_t, u_tt at time t. One that jumps keeps to the formula of its mode, also
     * beyond the jump, until an event changes the mode. Required where nu > 0. */
    int (*inputs)(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt);
    /* From now on input i comes from outside, value + rate (t - since), which Bogie writes over
     * what `inputs` gives; value NAN: it does not any more. For systems whose `start` or `event`
     * look at inputs. Optional. */
    void (*set_live)(void *self, int i, double since, double value, double rate);
    /* The rates of inputs jump from u_t [nu] to those of p: v [nv] becomes what it is behind that,
     * by impulses of what follows inputs without a constraint; Bogie meets the constraints then.
     * Called for live inputs; a system with jumps of its own does the same in `event`. Optional. */
    int (*jump)(void *self, const bg_point *p, const double *u_t, double *v);
    /* Normalises q after a correction q <- q + V delta (unit quaternions). Optional. */
    int (*normalise)(void *self, double *q);
    /* Energies, for the certificate. Optional. */
    int (*energy)(void *self, const bg_point *p, bg_energy *out);
    /* The power of `energy` alone, which every evaluation of the rates asks for. Optional; without
     * it `energy` is asked. */
    int (*power)(void *self, const bg_point *p, double *power);
    /* Power of what makes parts of the system follow u without a constraint: *power + by_a . v',
     * by_a [nv], without what the constraint forces contribute, which Bogie adds as lambda . g_t.
     * Optional; without it nothing moves in that way. */
    int (*drive_power)(void *self, const bg_point *p, double *power, double *by_a);
    /* Outputs y(t,q,v,z,u,a,lambda). Required where ny > 0. */
    int (*outputs)(void *self, const bg_point *p, const double *a, const double *lambda, double *y);
    /* Judges a start that has been assembled at q: whether something resists every motion that the
     * constraints allow, whose G is given in its pattern, with rows left_out[ng] that depend on
     * others. A sentence in err says what does not; what is only doubtful goes to warnings, which
     * may be NULL. Optional: without it, M is checked to be positive semidefinite. */
    bg_status (*check_start)(void *self, const double *q, const double *G,
                             const unsigned char *left_out, bg_warnings *warnings, bg_error *err);
    /* A run starts at a consistent state: sets modes, and states z, that follow from it. Optional.
     */
    int (*start)(void *self, double t, const bg_event_state *state);
    /* An event was located. Returns a bg_event_action or a negative number. Optional. */
    int (*event)(void *self, const bg_event *event, const bg_event_state *state);
    /* The side of zero, +1 or -1, that each switching function is on in these modes, or one of
     * BG_SIDE_*, into side[ns], which is zero before. A function found on the other side behind an
     * event is an event of its own. Optional. */
    int (*sides)(void *self, const int *mode, int *side);

    const bg_pattern *pattern_M, *pattern_G, *pattern_V; /* NULL: dense */
    const bg_pattern *pattern[BG_OF_COUNT][BG_BY_COUNT];
    const unsigned char *marks; /* nv, BG_MARK_*; NULL: none */
    int stiff_parts;            /* how many parts (force elements) are marked stiff */
    /* Sizes for tolerances: the displacement of a velocity coordinate and the value of a constraint
     * that are large (the length of a body, a radian). NULL: 1, and the length of each row of G. */
    const double *v_size, *g_size; /* nv, ng; all > 0 */

    /* Names for messages and results; NULL gives "q[0]", "g[1]" and so on. */
    const char *const *q_names, *const *v_names, *const *z_names, *const *g_names;
    const char *const *u_names, *const *s_names, *const *y_names;
    /* Units of these, "m", "deg", for results; NULL, or a NULL entry: none is said. */
    const char *const *q_units, *const *v_units, *const *z_units, *const *lambda_units;
    const char *const *u_units, *const *y_units;
    const bg_output_filter *filters; /* nfilters, by ascending y */
    int nfilters;
    /* nu: non-zero for inputs that bodies follow and whose corners `event` does not know: a run
     * ends where such an input or its rate jumps. NULL: none. */
    const unsigned char *u_followed;
    /* What happens when a switching function rises or falls through zero, or only touches it, as
     * people say it: "tyre fl lands". NULL, or a NULL entry, gives "NAME rises through zero". */
    const char *const *s_rises, *const *s_falls, *const *s_touches;

    /* Start: values or guesses (NULL: zeros), which of them assembly must not move (NULL: none),
     * initial mode (NULL: zeros), and the time span a run covers unless told otherwise. */
    const double *q0, *v0, *z0;
    const unsigned char *q_fixed, *v_fixed; /* nv each: velocity coordinates, along V */
    const int *mode0;
    double t_start, t_end;

    const struct bg_starts *starts; /* of model files; NULL: q0, v0 and the flags say it all */
} bg_system_def;

bg_system_def bg_default_system_def(void);

typedef struct bg_system bg_system;

/* Checks def and makes a system of it, which is constant from then on: any number of runs, in any
 * number of threads, may share it (see `fork`). On failure nothing is left behind: def->self has
 * been destroyed. Arrays and names in def must stay valid until bg_system_destroy. */
bg_status bg_system_create(const bg_system_def *def, bg_system **system, bg_error *err);
void bg_system_destroy(bg_system *system);
const bg_system_def *bg_system_get_def(const bg_system *system);
/* What was noticed about the system while it was made; every run of it repeats that. */
const bg_warnings *bg_system_get_warnings(const bg_system *system);

/* The name of the i-th entry of a vector of the system: kind is 'q','v','z','g','u','s' or 'y'.
 * Writes into buffer when the definition carries no name. */
const char *bg_system_get_name(const bg_system *system, char kind, int i, char *buffer,
                               size_t size);

/* The unit of an entry: kind is 'q','v','a','z','l' (lambda),'u' or 'y'; "": none is said. */
const char *bg_system_get_unit(const bg_system *system, char kind, int i);

/* What evaluates a system: it has the inputs, the counts and the scratch memory, and serves one
 * thread. Integrators, runs and everything else below make their own. */
typedef struct bg_evaluator bg_evaluator;
bg_status bg_evaluator_create(const bg_system *system, bg_evaluator **evaluator, bg_error *err);
void bg_evaluator_destroy(bg_evaluator *evaluator);

/* Fills p for these arguments, which it points to, with the inputs at t, which stay those of p
 * until the next call. */
bg_status bg_system_set_point(bg_evaluator *evaluator, double t, const double *q, const double *v,
                              const double *z, const int *mode, bg_point *p, bg_error *err);
/* Terms at p: supplied ones from the definition, the others by differences. BG_RETRY, here and
 * below, when a function asks for a smaller step. */
bg_status bg_system_calc_terms(bg_evaluator *evaluator, const bg_point *p, unsigned want,
                               bg_terms *out, bg_error *err);
/* Explicit formalism: a = M^{-1} (f - G^T lambda), lambda NULL: 0; by `accelerate`, or from M and f
 * where that is not supplied. To be prepared once before the first call, which says whether it can
 * be had at all: not where M alone is singular. */
bg_status bg_evaluator_prepare_acceleration(bg_evaluator *evaluator, bg_error *err);
bg_status bg_system_calc_acceleration(bg_evaluator *evaluator, const bg_point *p,
                                      const double *lambda, double *a, bg_error *err);
/* Residual formalism: r = M a - f + G^T lambda, by `residual`, or from M, f and G. */
bg_status bg_system_calc_residual(bg_evaluator *evaluator, const bg_point *p, const double *a,
                                  const double *lambda, double *r, bg_error *err);
/* Explicit formalism of parts, BG_PART_* as bits: a [nv] and z_t [nz], where entries of other parts
 * are left alone. Prepared as the whole is. */
bg_status bg_system_calc_part(bg_evaluator *evaluator, const bg_point *p, unsigned part,
                              const double *lambda, double *a, double *z_t, bg_error *err);
/* Derivative blocks at a point, analytic where supplied, else by differences (grouped by the
 * block's pattern). Non-NULL blocks of out are wanted. */
bg_status bg_system_calc_derivatives(bg_evaluator *evaluator, const bg_point *p, const double *a,
                                     const double *lambda, bg_derivatives *out, bg_error *err);

/* The expansion of r where the definition has one, at fixed a and lambda. To be prepared once
 * before the first call, which says where its entries lie: until the evaluator is destroyed. */
bg_status bg_evaluator_prepare_expansion(bg_evaluator *evaluator, const bg_expansion **expansion,
                                         bg_error *err);
bg_status bg_system_calc_expansion(bg_evaluator *evaluator, const bg_point *p, const double *a,
                                   const double *lambda, bg_expansion_values *out, bg_error *err);

/* The worst disagreement of one supplied quantity with differences. */
typedef struct bg_derivative_check {
    char quantity[32]; /* "G", "g_t", "gamma", "dr/dq", ... */
    char entry[128];   /* row and column by name */
    double supplied, differenced;
    double error; /* |supplied - differenced| / (scale of the quantity's row) */
    double t;     /* where it was found */
} bg_derivative_check;

enum { BG_DERIVATIVE_CHECKS = 3 + (int)BG_OF_COUNT * (int)BG_BY_COUNT };

/* Compares G, g_t, gamma and every supplied derivative block with differences at `samples` random
 * states around the start (deterministic in `seed`). One entry per checked quantity is written to
 * checks; returns their number in *count. The caller judges: below 1e-6 is agreement. */
bg_status bg_system_check_derivatives(const bg_system *system, int samples, unsigned seed,
                                      bg_derivative_check checks[BG_DERIVATIVE_CHECKS], int *count,
                                      bg_error *err);

/* A parameter of a family of systems, settable as --set NAME=VALUE. */
typedef struct bg_parameter {
    const char *name;
    double value; /* default */
    const char *unit, *summary;
} bg_parameter;

/* A family of systems: what equations/ lists and what a plug-in exports. */
typedef struct bg_equations {
    int abi; /* BG_ABI */
    const char *name, *summary;
    const bg_parameter *parameters;
    int nparameters;
    /* Fills def for parameter values[nparameters]. def comes from bg_default_system_def with its
     * name set. On failure, writes a sentence into err, leaves nothing allocated and returns < 0.
     */
    bg_status (*define)(const double *values, bg_system_def *def, bg_error *err);
} bg_equations;

/* The entry point a plug-in exports under the name BG_PLUGIN_ENTRY. */
#define BG_PLUGIN_ENTRY "bogie_equations"
typedef const bg_equations *bg_plugin_entry(void);

/* Built-in families, in the order of `bogie list`; NULL-terminated. */
const bg_equations *const *bg_equations_get_all(void);

/* Opens a family by reference: "equations:NAME" or the path of a plug-in "FILE.so". The library
 * handle of a plug-in is returned in *handle (NULL for built-ins); release it with
 * bg_equations_close after the last system of the family is destroyed. */
bg_status bg_equations_open(const char *reference, const bg_equations **family, void **handle,
                            bg_error *err);
void bg_equations_close(void *handle);

/* A setting by name, e.g. {"N", "16"}; used for parameters and for integrator options. */
typedef struct bg_setting {
    const char *name, *value;
} bg_setting;

/* Creates a system of the family with parameters changed by settings. */
bg_status bg_equations_create(const bg_equations *family, const bg_setting *settings, int nsettings,
                              bg_system **system, bg_error *err);

BG_API_END
#endif

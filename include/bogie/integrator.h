/* Time integration of a bg_system, one step at a time.
 *
 * Model, state and scratch are separate: the bg_system is constant, a bg_state is a point of the
 * trajectory, and the bg_integrator owns all scratch memory. Nothing is allocated after create.
 */
#ifndef BOGIE_INTEGRATOR_H
#define BOGIE_INTEGRATOR_H

#include "bogie/system.h"

BG_API_BEGIN

/* A point of a trajectory, with everything a continuation needs. */
typedef struct bg_state {
    double t;
    double *q, *v, *z;  /* nq, nv, nz */
    double *work;       /* J, 1: done by non-conservative and rheonomic forces since the start */
                        /* q, v, z, work lie one after another in memory */
    double *a, *lambda; /* nv, ng: v' and multipliers (0 for eliminated constraints) */
    int *mode;          /* nmode */
} bg_state;

/* A state filled with the start values of the system's definition (not yet consistent). */
bg_status bg_state_create(const bg_system *system, bg_state **state, bg_error *err);
void bg_state_destroy(bg_state *state);
void bg_state_copy(const bg_system *system, const bg_state *from, bg_state *to);

/* One constraint that depends on others, and whose reaction is therefore not unique. */
typedef struct bg_redundancy {
    int *eliminated; /* [count] rows of g that depend on the others */
    int count;
    unsigned char *not_unique; /* [ng] non-zero: the multiplier of this row is not unique */
    /* How the decision was made, all in sizes of the rows (g_size). Eliminated rows: */
    double misfit;  /* how far they are from depending on the others, and from 0, where the
                       mechanism moves: 0 but for rounding, or the digits of the data */
    double allowed; /* the most that counts as such; beyond it the position is a singular one */
    /* Kept rows: the least that the others leave of one, and which (-1: none). */
    double margin;
    int weakest;
    /* What rows of g are moved by, within the precision of the data, so that branches of the motion
     * meet where they do as drawn. */
    double *offset; /* [ng]; NULL: 0 */
} bg_redundancy;

/* Something given for the start of a model, and what became of it. */
typedef struct bg_given {
    char name[192]; /* the way to it in the file: "bodies.rod.angular_velocity" */
    const char *unit;
    int n;                   /* 1 or 3 values */
    double given[3], got[3]; /* world axes */
    double size;             /* what their difference is compared with */
    int fixed;               /* the user insists on it */
} bg_given;

/* How a consistent start was reached. */
typedef struct bg_assembly_report {
    int iterations;               /* corrections of q */
    const char *method;           /* "none", "chord", "newton" or "damped": the last one needed */
    double *moved_q;              /* [nq] change of q */
    double *moved_v;              /* [nv] change of v */
    double max_g, max_gv, max_ga; /* residuals afterwards, all rows */
    double rcond; /* of [M G^T; G 0] there, estimated; 0 where no matrix was needed */
    bg_redundancy redundancy;
    bg_warnings warnings; /* what was noticed, such as start values that could not be met */
    bg_given *unmet;      /* [nunmet] what was given but is not so at the start */
    int nunmet;
    /* [nnot_unique] joints and couplers of a model whose reactions change with multipliers that are
     * not unique; names of the system */
    const char **not_unique;
    int nnot_unique;
} bg_assembly_report;

/* Makes state consistent: projects q in the mass metric onto g = 0, then v onto G v + g_t = 0,
 * then solves for a and lambda. Coordinates marked fixed in the definition stay. Where q and v are
 * still those of a model's definition, they become what its file asks for. report may be NULL; its
 * arrays are allocated here, release them with bg_assembly_report_clear. */
bg_status bg_state_assemble(const bg_system *system, bg_state *state, bg_assembly_report *report,
                            bg_error *err);
void bg_assembly_report_clear(bg_assembly_report *report);

/* Evaluations and what was done with them. */
typedef struct bg_work {
    long terms;       /* evaluations with masses, forces or rates of z among what is asked for */
    long constraints; /* of constraints, their derivatives or V alone */
    long switching;   /* of switching functions alone */
    long explicit_, residual, jacobian, jacobian_updates, factorisations;
    long projections; /* solutions of (12a) */
    long slow, fast;  /* of methods of two rates: evaluations of the slow and of the fast part */
} bg_work;

/* What the corrector iteration of an implicit method did, in the words of 001. */
typedef struct bg_corrector_work {
    long fc, fcw;              /* evaluations of F; those that were not for derivatives */
    long evaluations, updates; /* of the Jacobian (#Je); made of old derivatives */
    long groups, nonzeros;     /* of columns that were differenced together; of their pattern */
    long growths;              /* of that pattern */
    long error_failures, convergence_failures; /* attempts that ended so */
} bg_corrector_work;

/* Work done so far, by whom it was for, so that a table of work does not change because somebody
 * asks for more rows. */
typedef struct bg_counters {
    long accepted, rejected;
    long unconverged; /* steps repeated because an iteration did not converge; never accepted */
    bg_work steps,
        projection;    /* of the integration itself: stages, and back onto the constraints */
    bg_work events;    /* of the search for events, and of what follows from them */
    bg_work rows;      /* of rows between the ends of steps */
    bg_work foresight; /* of the look ahead for change points, of mechanisms with redundant
                          constraints */
    bg_corrector_work corrector; /* zeros for methods without one */
} bg_counters;

/* All that the integration itself did. */
bg_work bg_counters_sum_steps(const bg_counters *counters);

typedef struct bg_integrator_options {
    double rtol, atol;          /* weighted norm of 003 eq. (15), defaults 1e-6 */
    double step;                /* s; > 0: fixed steps without error control; 0: adaptive */
    double h_initial;           /* s; 0: chosen by the method */
    double h_min;               /* s; 0: 16 units in the last place of t */
    double h_max;               /* s; 0: no limit */
    int energy;                 /* non-zero: integrate the work of non-conservative forces */
    const bg_setting *settings; /* options of the method by name, e.g. {"projection","control"} */
    int nsettings;
} bg_integrator_options;

bg_integrator_options bg_default_integrator_options(void);

/* An option of a method, as `bogie list` shows it. */
typedef struct bg_option_info {
    const char *name;
    const char *choices; /* "none|velocity|control|every-step", or NULL for a number */
    const char *value;   /* default */
    const char *summary;
} bg_option_info;

typedef struct bg_integrator_info {
    const char *name, *summary;
    const bg_option_info *options;
    int noptions;
    int fixed_steps; /* no error control: the user gives the step */
    int order;       /* of the method, the largest where it varies */
    int dense_order; /* of its dense output, whose error falls with h^(dense_order + 1) */
    int fixed_order; /* of fixed steps where the order varies otherwise; 0: the same */
    /* The method that this is a name for, with one option set: prk25 is prk with pair=prk25. What
     * holds for all settings of that one holds for this. NULL: a method of its own. */
    const char *setting_of;
    /* Non-zero: its error estimate does not see a corner of a force law inside a step. */
    int misses_corners;
} bg_integrator_info;

/* The i-th method, or NULL past the end. */
const bg_integrator_info *bg_integrator_get_info(int i);

typedef struct bg_integrator bg_integrator;

/* Work of a matrix, bounded whatever its pivots are. */
typedef struct bg_matrix_work {
    int unknowns;         /* 0: there is no matrix */
    double factorisation; /* multiplications, at most */
    double usual;         /* multiplications where no rows have to be exchanged, else the same */
    double solution;      /* multiplications, at most */
    int repeats;          /* non-zero: pivots are repeated, and chosen anew when they are bad */
} bg_matrix_work;

/* What every step of a method with bounded work does, the first after a start or an event aside. */
typedef struct bg_step_plan {
    int terms, explicit_; /* evaluations of terms; of the explicit formalism */
    int jacobian;         /* evaluations of derivatives in every step */
    int jacobian_every;   /* and one more in every so many steps; 0: none */
    int jacobian_r;       /* non-zero: they are of the forces, r by q and v, ... */
    int jacobian_h;       /* ... of the rates of states, h by q, v and z */
    int factorisations, projections;
    int slow, fast; /* of methods of two rates, among these: evaluations of either part */
    int states;     /* unknowns of I - h dh/dz, which every step factors besides; 0: none */
    int solutions;  /* of the drift certificate, with a matrix that is there */
    int first_factorisations, first_solutions;   /* further ones of the first step after a start */
    int exchange_terms, exchange_factorisations; /* and of a step before which redundant constraints
                                                    were exchanged, with one projection */
    /* of the look ahead for change points, before steps of mechanisms with loops (before each where
     * constraints are redundant): at most, where none is near, and at most where one is searched,
     * with two projections */
    int foresight_terms, foresight_factorisations;
    int search_terms, search_factorisations;
    bg_matrix_work matrix; /* of the largest matrix that is factored */
} bg_step_plan;

/* A bound on the drift off the constraints under one Newton step of projection per step, after 000
 * section 3.4: every step of the run has kept |g_{n+1}| <= C2 |g_n|^2 + h C1 |g_n| + h^3 C0, but
 * for rounding. */
typedef struct bg_drift {
    double C0, C1, C2;
    int holds;       /* non-zero: no |g| is beyond the limit, however many steps keep to these */
    double limit;    /* bound on |g|; NAN where there is none */
    double observed; /* largest |g| */
    const char *why; /* a reason for there being none, to follow "not bounded: "; NULL: it holds */
} bg_drift;

bg_status bg_integrator_create(const char *name, const bg_system *system,
                               const bg_integrator_options *options, bg_integrator **integrator,
                               bg_error *err);
void bg_integrator_destroy(bg_integrator *integrator);

/* Starts or restarts at a consistent state (copied). eliminated rows, from assembly, are taken out
 * of the constraints; pass NULL when there are none. The run goes towards t_end, which the last
 * step hits exactly. */
bg_status bg_integrator_start(bg_integrator *integrator, const bg_state *state,
                              const bg_redundancy *redundancy, double t_end, bg_error *err);

/* Why a method goes on from another state than the end of its last step: another motion begins;
 * modes have changed, and q, v and z go on; q, v or z have changed; other ones of the dependent
 * constraints are left out; inputs from outside are others, and q, v and z go on. */
typedef enum bg_restart {
    BG_RESTART_START,
    BG_RESTART_MODE,
    BG_RESTART_STATE,
    BG_RESTART_ROWS,
    BG_RESTART_INPUTS
} bg_restart;
/* As start, within a motion. */
bg_status bg_integrator_restart(bg_integrator *integrator, const bg_state *state,
                                const bg_redundancy *redundancy, double t_end, bg_restart reason,
                                bg_error *err);

/* One accepted step; rejected attempts are repeated inside. On failure the state is unchanged. */
bg_status bg_integrator_step(bg_integrator *integrator, bg_error *err);

/* Goes back to where the last step began and makes the next one end at or before t_limit. */
void bg_integrator_undo(bg_integrator *integrator, double t_limit);

/* Non-zero and *plan filled where the work of a step is known beforehand. */
int bg_integrator_get_plan(const bg_integrator *integrator, bg_step_plan *plan);
/* Non-zero and *drift filled where the method bounds its drift. */
int bg_integrator_get_drift(const bg_integrator *integrator, bg_drift *drift);
/* A sentence on what the method chose by itself; empty where there is nothing to say. */
void bg_integrator_describe(const bg_integrator *integrator, char *text, size_t size);

/* The state at the end of the last accepted step, and that step's beginning. */
const bg_state *bg_integrator_get_state(const bg_integrator *integrator);
double bg_integrator_get_step_start(const bg_integrator *integrator);
/* The order of the method in that step; 0: it has none. */
int bg_integrator_get_order(const bg_integrator *integrator);
bg_counters bg_integrator_get_counters(const bg_integrator *integrator);

/* Dense output inside the last step: q, v, z at t. Not projected. */
void bg_integrator_interpolate(const bg_integrator *integrator, double t, double *q, double *v,
                               double *z);
/* Projected dense output: as above, then projected onto all constraints, with a, lambda and work;
 * plain (see below) where the a found is nothing but amplified rounding. */
bg_status bg_integrator_interpolate_state(bg_integrator *integrator, double t, bg_state *out,
                                          bg_error *err);

/* What there is where projection fails, as in a singular position: dense output that is not
 * projected, accelerations from its slope, multipliers between those of the step's ends. */
void bg_integrator_interpolate_plain(bg_integrator *integrator, double t, bg_state *out);

/* Residuals of the constraint rows at the end of the last step (or at the start); some methods
 * evaluate them only for who asks. */
typedef struct bg_residuals {
    double g, gv, ga; /* largest absolute entries of the rows that are kept */
    int worst_g;      /* row of the largest |g|, -1 without constraints */
    double redundant; /* largest |g| of the eliminated rows in sizes of the row, beyond what the
                         drift of the others explains, and its row */
    int worst_redundant;
} bg_residuals;
bg_residuals bg_integrator_get_residuals(const bg_integrator *integrator);

BG_API_END
#endif

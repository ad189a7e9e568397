/* Inside of integrators: what every method has, and what a method's file fills in.
 *
 * A method is one file with one bg_integrator_class and one line in table.c. The state is handled
 * as one vector y = (q, v, z, work) of length n. A step goes from x0 to x1; both are kept until the
 * next step begins, so that dense output and undo need no copies. */
#ifndef BG_INTEGRATOR_INTERNAL_H
#define BG_INTEGRATOR_INTERNAL_H

#include "base/archive.h"
#include "bogie/integrator.h"
#include "integrators/control.h"
#include "system/dynamics.h"

#include <math.h>

typedef struct bg_trouble bg_trouble;

/* Functions that are not said to be needed may be NULL. */
typedef struct bg_integrator_class {
    bg_integrator_info info;
    /* Needed. Allocates ig->method and reads its options (options.h). destroy must accept a partial
     * method. */
    bg_status (*create)(bg_integrator *ig, bg_error *err);
    void (*destroy)(bg_integrator *ig);
    /* The method goes on from x0, and forgets what this reason makes wrong. */
    void (*restart)(bg_integrator *ig, bg_restart reason);
    /* Needed. One attempt from ig->x0 over ig->h to ig->x1->t: writes x1, rate1 and residuals1, the
     * error in units of the tolerance, and its entries into work_n. What it remembers of a step is
     * to be written by `commit`. > 0: a smaller step may help. */
    bg_status (*attempt)(bg_integrator *ig, double *error, bg_error *err);
    /* The same with all stages on the constraints (leaps.h). NULL: the method makes no leaps. */
    bg_status (*leap)(bg_integrator *ig, double *error, bg_error *err);
    double leap_reach; /* how many times longer leaps may be than steps; 0: 1 */
    /* Length of the first step behind a start or restart, s. NULL: bg_initial_step_calc. */
    bg_status (*first_step)(bg_integrator *ig, double *h, bg_error *err);
    /* Length of the next step, or of the next attempt. NULL: PI control (control.h). */
    double (*control)(bg_integrator *ig, bg_outcome outcome, double error);
    /* Work of the next step from x0 that can be done before it; a failure is left to the step. */
    void (*prepare)(bg_integrator *ig);
    /* What an attempt needs only if its error allows it: the rest of x1, rate1 and residuals1. > 0:
     * as of `attempt`. */
    bg_status (*complete)(bg_integrator *ig, bg_error *err);
    /* The residuals at x, the end of a step, where they are only computed for who asks for them
     * (`unmeasured1`). Uses the terms of ig->dyn. */
    bg_status (*measure)(bg_integrator *ig, const bg_state *x, bg_residuals *residuals);
    /* The attempt was accepted; terms and matrix of its end are at hand. It may yet be undone. */
    void (*accept)(bg_integrator *ig);
    /* The step from x0 to x1 is final and becomes history. */
    void (*commit)(bg_integrator *ig);
    /* Dense output over the last step is a polynomial with `bubbles` coefficients beyond the cubic
     * through both ends (dense.c), which prepare_dense fills; or it is all the method's own:
     * entries [begin, end) of y at t, or of y', where y or slope is not NULL. */
    int bubbles;
    void (*prepare_dense)(bg_integrator *ig);
    void (*interpolate)(const bg_integrator *ig, double t, int begin, int end, double *y,
                        double *slope);
    bool cuts; /* fixed steps that fail are made in parts, as an implicit method may need */
    bool follows_lambda; /* entries [n, n + ng) of `interpolate` are multipliers, roughly */
    /* Saves or restores what the method keeps from step to step. */
    void (*archive)(bg_integrator *ig, bg_archive *archive);
    /* As the public functions of these names. */
    bool (*plan)(const bg_integrator *ig, bg_step_plan *plan);
    bool (*get_drift)(const bg_integrator *ig, bg_drift *drift);
    void (*describe)(const bg_integrator *ig, char *text, size_t size);
} bg_integrator_class;

enum { BG_BUBBLES_MAX = 4 };

struct bg_integrator {
    const bg_integrator_class *class_;
    struct bg_automatic *automatic; /* of two methods, of which class_ is one; NULL: there is one */
    bg_evaluator *sys;
    bg_evaluator *own; /* the same where nobody else has it, else NULL */
    bg_dynamics *dyn;
    bg_integrator_options options;
    int n;                 /* nq + nv + nz + 1 */
    bg_state *x0, *x1;     /* begin and end of the last step */
    double *rate0, *rate1; /* [n] y' there */
    bg_residuals residuals0, residuals1;
    bool unmeasured0, unmeasured1; /* they are still to be found, by `measure` */
    int order;    /* of the last step, from the class; methods of variable order change it */
    bool stepped; /* x1 is the current state, else x0 */
    bool dense_ready;
    double *bubble;                     /* [bubbles * n] coefficients of dense output */
    bg_arena arena;                     /* all arrays */
    double h;                           /* s, length of the step being tried or last made */
    bg_control control, control_before; /* step control, and what it was before the last step */
    double work_error;    /* J, of the work of the last step by its estimate; NAN: it has none */
    double error_tangent; /* of an attempt with an error above 1: without the part of the velocities
                             across the constraints */
    double rcond;         /* of the matrix at the start, or larger; 0: not known */
    bool
        by_largest; /* the error of a step is that of its worst entry; set by the method's create */
    bool drifts;    /* steps do not end on g = 0; set by the method's create */
    bool has_past;  /* attempts depend on more than x0 and rate0; set by the method's create */
    bool stays;     /* the method sees no reason to leap after its last attempt */
    bool leaping; /* the attempt keeps its stages on the constraints, to pass singular positions */
    double t_end, t_limit; /* s; t_limit: one-off limit of the next step, else t_end */
    double t_grid;         /* s, of fixed steps: x0->t is t_grid + grid steps, so that no error of
                              time adds up; both begin anew behind a step that was cut short */
    long grid;
    bool whole;                /* the step from x0 to x1 ends on this grid */
    bool part;                 /* it is part of a fixed step, and does not */
    int parts;                 /* behind each other, of one fixed step */
    bool energy;               /* work is integrated; else its rate is 0 */
    bg_counters count;         /* own counts, and those of a run that is resumed */
    bg_work base[BG_PURPOSES]; /* the system's, when the integrator was made */
    double *work_n;            /* [n] scratch */
    int *first;    /* [n] of entries of y that a turn of the axes mixes; by bg_norm_find_blocks */
    double *share; /* [n] at the first: what their tolerance is relative to, in their length */
    bg_trouble *trouble;            /* why steps are short (trouble.h) */
    bool unready;                   /* rates at x0 are still to be found, ... */
    bg_restart unready_for;         /* ... for this reason: an exchange of rows, or of inputs */
    struct bg_selection *selection; /* of redundant constraints; NULL: none to choose from */
    struct bg_change_points *change_points; /* NULL: without constraints */
    struct bg_noise *noise;                 /* what rounding does */
    void *method;
};

/* As bg_integrator_create, on an evaluator that others use, too, and that outlives it. */
bg_status bg_integrator_create_with(const char *name, bg_evaluator *sys,
                                    const bg_integrator_options *options,
                                    bg_integrator **integrator, bg_error *err);

/* The rows that are left out now, which may be others of the dependent ones than at the start. */
void bg_integrator_update_redundancy(const bg_integrator *ig, bg_redundancy *redundancy);

/* The end of the last step, which is final now, becomes the beginning of the next. */
void bg_integrator_advance(bg_integrator *ig);
/* Inputs from outside are others from the present state on: the next step begins with rates found
 * anew, and methods keep their history, whose errors they see. */
void bg_integrator_take_inputs(bg_integrator *ig);

/* q_of [nv] <- which entry of q moves with each velocity alone; -1: a rotation, which moves
 * several.
 */
void bg_norm_map_coordinates(const bg_integrator *ig, int *q_of);
void bg_norm_find_blocks(bg_integrator *ig);
/* What the tolerance of entry i of y = (q, v, z) is relative to: the larger of its values in y0 and
 * y1, or a size of what a turn of the axes mixes with it. */
double bg_norm_find_size(const bg_integrator *ig, int i, const double *y0, const double *y1);
/* Weighted root mean square norm of 003 eq. (15) with weights max(|x0|, |x1|). */
double bg_norm_calc(const bg_integrator *ig, int n, const double *x, const double *x0,
                    const double *x1);
/* The same with such sizes, of the first n entries of y. */
double bg_norm_calc_turned(const bg_integrator *ig, int n, const double *x, const double *x0,
                           const double *x1);
/* The error of a step from the error e of each entry of y (without work): the largest weighted one,
 * or, unless by_largest, the largest of the norms (15) of q, v and z. mask: entries that count,
 * NULL: all. */
double bg_norm_calc_state(const bg_integrator *ig, const double *e, const unsigned char *mask);

enum { BG_STAGES_MAX = 16 };

/* y <- y0 + h sum_j b[j] rate[j] over at most BG_STAGES_MAX stages, skipping zero coefficients; y0
 * NULL: zero. */
void bg_combine(int n, const double *y0, double h, int stages, const double *b, double *const *rate,
                double *y);

/* y' (rate) and multipliers at t, y: one evaluation and one factorisation. extra: further terms. */
bg_status bg_integrator_calc_rate(bg_integrator *ig, double t, const double *y, unsigned extra,
                                  double *rate, double *lambda, bg_error *err);

/* Multipliers at t as the method follows them, less accurate than those of a solution; false: it
 * does not. */
bool bg_dense_interpolate_lambda(const bg_integrator *ig, double t, double *lambda);

/* Entries of the polynomial of one-step methods at t, and of its slope; either may be NULL. */
void bg_dense_calc_hermite(const bg_integrator *ig, double t, int begin, int end, double *y,
                           double *slope);
/* How far the velocities of dense output, whose coefficients are known, are from the constraints
 * in the middle of the step, in units of the tolerance. y: [n] scratch; uses work_n. */
double bg_dense_calc_drift(bg_integrator *ig, double *y);

/* First step size after Hairer, Norsett and Wanner (1993), II.4. */
bg_status bg_initial_step_calc(bg_integrator *ig, double *h, bg_error *err);

/* The table of methods, NULL-terminated. */
const bg_integrator_class *const *bg_integrator_get_classes(void);

/* Does, between two steps, work of the next one that need not wait for it. Until that step nothing
 * but the state may be asked of the integrator. */
void bg_integrator_prepare(bg_integrator *ig);

/* Why steps are short, a sentence into text and among the warnings (NULL: none); false: nothing was
 * noticed. */
bool bg_integrator_explain(const bg_integrator *ig, bg_warnings *warnings, char *text, size_t size);

/* Saves or restores an integrator between two steps, and its counters. */
void bg_integrator_archive(bg_integrator *ig, bg_archive *archive);
void bg_counters_archive(bg_integrator *ig, bg_archive *archive);
/* What the system counted before is not this one's. */
void bg_counters_begin(bg_integrator *ig);

#endif

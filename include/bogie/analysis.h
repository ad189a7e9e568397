/* Analyses: what a system is like at one state of a motion. The state itself, such as an
 * equilibrium, the equations of motion linearised there, and their modes (docs/modes.md).
 *
 *   bg_analysis_options options = bg_default_analysis_options();
 *   options.equilibrium = 1;
 *   bg_analysis_create(problem, &options, &analysis, &err);
 *   bg_analysis_calc_modes(analysis, &modes, &err);
 *   printf("%g Hz\n", modes->mode[0].frequency);
 *   bg_analysis_destroy(analysis);
 */
#ifndef BOGIE_ANALYSIS_H
#define BOGIE_ANALYSIS_H

#include "bogie/problem.h"

BG_API_BEGIN

typedef struct bg_analysis_options {
    double at;       /* s, the motion is followed until then; NAN: its start is analysed */
    int equilibrium; /* non-zero: the equilibrium or steady motion found from the start; not with
                        `at`. Also where the problem starts in one */
    const volatile sig_atomic_t *stop; /* becomes non-zero: end on the way to `at` */
} bg_analysis_options;

bg_analysis_options bg_default_analysis_options(void);

typedef struct bg_analysis bg_analysis;

/* Finds the state and linearises there. The problem must outlive the analysis; analyses of one
 * problem may be made in several threads at once. */
bg_status bg_analysis_create(const bg_problem *problem, const bg_analysis_options *options,
                             bg_analysis **analysis, bg_error *err);
void bg_analysis_destroy(bg_analysis *analysis);

/* Where it is: "in equilibrium", "at the start", "at t = 2 s". */
const char *bg_analysis_get_place(const bg_analysis *analysis);
/* The state, with accelerations and multipliers, and the outputs [ny] there. */
const bg_state *bg_analysis_get_state(const bg_analysis *analysis);
const double *bg_analysis_get_outputs(const bg_analysis *analysis);
/* What was noticed on the way to the state; what is free or unstable in an equilibrium. */
const bg_warnings *bg_analysis_get_warnings(const bg_analysis *analysis);

/* What a state, input or output is called, its unit ("": not known), and what it is where the
 * system was linearised. */
typedef struct bg_linear_signal {
    char name[96];
    const char *unit;
    double value;
} bg_linear_signal;

/* x' = A x + B u, y = C x + D u: changes from the values of the signals. x are the coordinates that
 * stand for the freedoms, their rates, and states z; u the inputs, and those of their first and
 * second rates on which something depends. */
typedef struct bg_linear_matrices {
    const char *model, *where;
    double t; /* s */
    int nx, nu, ny;
    bg_linear_signal *x, *u, *y; /* [nx], [nu], [ny] */
    double *A, *B, *C, *D;       /* by rows */
} bg_linear_matrices;

/* exp(lambda t), lambda = re + i im, im >= 0: a pair is one mode. */
typedef struct bg_mode {
    double re, im;         /* 1/s */
    double frequency;      /* Hz, |lambda| / 2 pi */
    double damping;        /* -re / |lambda|: 1 decays without oscillating, < 0 grows */
    double *shape;         /* [2 nv] real and imaginary parts of all coordinates, along V; */
    double *shape_z;       /* [2 nz] of states z. The largest, in sizes, is 1 */
    double *participation; /* [n + nz] of freedoms and states z, with the sum 1 */
} bg_mode;

/* A direction in which nothing changes: the model may stand anywhere along it. */
typedef struct bg_free_direction {
    double *shape;   /* [nv] all coordinates, the largest, in sizes, is 1; zero for states alone */
    double *shape_z; /* [nz] */
} bg_free_direction;

typedef struct bg_modes {
    int n, nv, nz;
    int *independent; /* [n] the coordinates that stand for the freedoms */
    int count;
    bg_mode *mode; /* [count] by |lambda| */
    int zeros;     /* eigenvalues that are zero */
    int nfree;
    bg_free_direction *free; /* [nfree] */
    int unstable;            /* modes that grow */
    double *numbers;         /* memory of all arrays above */
} bg_modes;

/* Computed once, when they are asked for; they belong to the analysis. */
bg_status bg_analysis_calc_matrices(bg_analysis *analysis, const bg_linear_matrices **matrices,
                                    bg_error *err);
bg_status bg_analysis_calc_modes(bg_analysis *analysis, const bg_modes **modes, bg_error *err);

/* The matrices as FILE.json, FILE.csv, FILE.mat or FILE.h5, or "-", JSON on stdout. */
bg_status bg_analysis_save_matrices(bg_analysis *analysis, const char *path, bg_error *err);

/* "state", "matrices" or "modes" as the JSON text of docs/modes.md, all digits kept; to be released
 * with free(). NULL: they cannot be computed, says err. */
char *bg_analysis_create_text(bg_analysis *analysis, const char *what, bg_error *err);

BG_API_END
#endif

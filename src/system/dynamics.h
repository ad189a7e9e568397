/* The equations of motion at one point, solved: terms, the KKT matrix, accelerations, multipliers.
 *
 * A bg_dynamics owns the arrays the terms are written to and the factorisation; it is the scratch
 * memory of integrators and of projections. Unconstrained systems with an explicit formalism are
 * solved by it in O(N) and never form M, nor do long chains with few constraints, whose M the
 * system factors by itself. */
#ifndef BG_DYNAMICS_H
#define BG_DYNAMICS_H

#include "linalg/linalg.h"
#include "system/settling.h"
#include "system/system.h"

/* A term to want beside BG_TERM_*: M for bg_dynamics_factor alone. Where the system factors M by
 * itself and that can be used, its entries, which may be many more, are not evaluated. */
#define BG_TERM_MASS (1u << 31)

typedef struct bg_dynamics {
    bg_evaluator *sys;
    int nq, nv, nz, ng;
    bool kinematic;                   /* V is not the identity */
    bool by_formalism;                /* ng = 0 and `accelerate` supplied */
    bg_point point;                   /* where terms were last evaluated */
    unsigned have;                    /* terms evaluated there */
    bg_terms terms;                   /* [sizes as in system.h] owned */
    double *mass;                     /* [mass_size] M of these terms factored by the system, */
    bool has_mass;                    /* if it is, */
    bg_point mass_point;              /* and where */
    bg_kkt *kkt;                      /* NULL when by_formalism */
    unsigned char *eliminated;        /* [ng] redundant rows, out of the KKT matrix */
    double *offset;                   /* [ng] what rows of g are moved by, see change_points.h */
    double *work_v, *work_g, *work_q; /* [nv], [ng], [nq] scratch */
    bg_settling *settling;            /* where f depends on lambda, else NULL */
    double *drive_by_a;               /* [nv], or [0] without drive_power: of calc_power */
    bg_arena arena;                   /* all arrays */
} bg_dynamics;

/* [M A^T; B 0] for this system with M in a pattern of its own; without constraints where ng = 0. */
bg_status bg_dynamics_create_kkt(const bg_system *sys, const bg_pattern *pattern_M, int ng,
                                 bg_kkt **kkt, bg_error *err);

bg_status bg_dynamics_create(bg_evaluator *sys, bg_dynamics **dynamics, bg_error *err);
void bg_dynamics_destroy(bg_dynamics *dynamics);
/* Rows to leave out from now on (NULL: none). */
void bg_dynamics_set_eliminated(bg_dynamics *dynamics, const bg_redundancy *redundancy);

/* Takes the offsets off g where it is among the wanted terms; those of `evaluate` are without them
 * already. */
void bg_dynamics_take_offsets(const bg_dynamics *dynamics, unsigned want, bg_terms *terms);
/* Evaluates the wanted terms at (t, q, v, z, mode). */
bg_status bg_dynamics_evaluate(bg_dynamics *dynamics, double t, const double *q, const double *v,
                               const double *z, const int *mode, unsigned want, bg_error *err);
/* The same for an iterate of a method that has multipliers of its own: where forces depend on them,
 * they are taken at these. */
bg_status bg_dynamics_evaluate_iterate(bg_dynamics *dynamics, double t, const double *q,
                                       const double *v, const double *z, const int *mode,
                                       const double *lambda, unsigned want, bg_error *err);
/* Further terms at the same point but with velocities v and states z (which may differ). */
bg_status bg_dynamics_evaluate_more(bg_dynamics *dynamics, const double *v, const double *z,
                                    unsigned want, bg_error *err);
/* Entries of M in the terms, where BG_TERM_MASS has left them out; q is still the same. */
bg_status bg_dynamics_complete_M(bg_dynamics *dynamics, bg_error *err);
/* Takes another M [as in terms] for that of the terms at hand. */
void bg_dynamics_set_M(bg_dynamics *dynamics, const double *M);
/* Factors [M A^T; G 0] of the terms at hand, with A = G_upper, or A = G when that is NULL. Where M
 * was evaluated q is still the same. */
bg_status bg_dynamics_factor(bg_dynamics *dynamics, const double *G_upper, bg_error *err);
/* Of the last factorisation, while q is the same; 0 where M cannot be evaluated. */
double bg_dynamics_calc_rcond(bg_dynamics *dynamics);
/* BG_RETRY, with the coordinate named, where M is not positive and the factorisation of [M A^T; G
 * 0] in kkt, A near G, shows it by the sign of its determinant (not so for an even number of
 * negative eigenvalues); a system that judges its starts has no such M. */
bg_status bg_dynamics_check_masses(const bg_dynamics *dynamics, bg_kkt *kkt, const double *M,
                                   bg_error *err);
/* From now on multipliers that forces depend on are looked for from here [ng]. What is found there
 * depends on the guess by rounding, so it is one that a resumed run has, too. */
void bg_dynamics_set_guess(bg_dynamics *dynamics, const double *lambda);
/* a and lambda from the factorisation and the terms f and gamma at hand. Where f depends on lambda
 * that is repeated (settling.h), f and h are those of the lambda found, and d->point has it. */
bg_status bg_dynamics_solve(bg_dynamics *dynamics, double *a, double *lambda, bg_error *err);
/* Evaluate, factor and solve: accelerations, multipliers and (terms.h) rates of z. `extra` terms
 * are evaluated along. */
bg_status bg_dynamics_accelerate(bg_dynamics *dynamics, double t, const double *q, const double *v,
                                 const double *z, const int *mode, unsigned extra, double *a,
                                 double *lambda, bg_error *err);

/* q' = V v with V at hand (or I). */
void bg_dynamics_calc_rates(const bg_dynamics *dynamics, const double *v, double *q_t);
/* w = G v + g_t with the terms at hand. */
void bg_dynamics_calc_w(const bg_dynamics *dynamics, const double *v, double *w);
/* Largest |g|, |G v + g_t|, |G a + gamma| of the rows that are kept, and how far the others miss,
 * with the terms at hand. */
bg_residuals bg_dynamics_calc_residuals(const bg_dynamics *dynamics, const double *v,
                                        const double *a);
/* Power of non-conservative and rheonomic constraint forces and of what follows u without them, P +
 * lambda . g_t + drive_by_a . a; 0 without energy. NULL: a or lambda is zero, and its part can be
 * added when it is known, with drive_by_a, which stays until the next call. */
bg_status bg_dynamics_calc_power(bg_dynamics *dynamics, const double *a, const double *lambda,
                                 double *power, bg_error *err);
/* drive_by_a . a, of the last calc_power. */
double bg_dynamics_calc_drive(const bg_dynamics *dynamics, const double *a);
/* Fails with BG_NOT_FINITE naming the first entry that is not finite. */
bg_status bg_dynamics_report_not_finite(const bg_dynamics *dynamics, bg_error *err);

#endif

/* What the search for a start (starts.c, start_positions.c, nearest.c) and for contradictions in it
 * (contradictions.c) share. */
#ifndef BG_START_SEARCH_H
#define BG_START_SEARCH_H

#include "consistent/starts.h"
#include "linalg/levels.h"

/* How something fixed counts while contradictions are looked for. */
typedef enum bg_start_use { BG_USE_FIXED, BG_USE_GIVEN, BG_USE_NOT } bg_start_use;

typedef struct bg_start_search {
    bg_dynamics *d;
    const bg_starts *starts;
    bg_point point;
    bg_levels *levels;
    const double *unit; /* [nv] */
    double *size;       /* [ng] of the constraints */
    double *from;       /* [nv] the guess of v that is to be corrected */
    double *last;       /* [nv] the increment of positions before, in units */
    double *design;     /* [nq] the design position */
    double *z;          /* [nz] where a search for positions began */
    double *found;      /* [nq + nz] a position that may have to do */
    bg_sparse_rows A;   /* of the level at work */
    int most;           /* rows of a level */
    double *b;          /* [most] */
    int *owner;         /* [most] */
    bg_start_use *use;  /* [ngiven] for the fixed ones, and nothing else given counts; or NULL */
    int ngiven;
    double less;     /* of a position that counts as BG_USE_GIVEN, how much less is wanted */
    double leverage; /* what a velocity may ask of others per unit of its own, inverse */
    bg_arena arena;  /* all arrays but `use` */
    bool starved;    /* a search failed for want of memory, not because there is nothing to find */
} bg_start_search;

bg_status bg_start_search_create(bg_dynamics *d, bg_start_search *s, bg_error *err);
void bg_start_search_clear(bg_start_search *s);
/* Whether st is BG_OK; keeps in mind that memory was short. */
bool bg_start_search_goes_on(bg_start_search *s, bg_status st);
/* BG_NO_MEMORY with a sentence where memory was short, else BG_OK. */
bg_status bg_start_search_check_memory(const bg_start_search *s, bg_error *err);

/* Rows of a level on the correction of v, or on the increment of positions, into A, b, owner;
 * returns how many. */
int bg_start_search_calc_rows(bg_start_search *s, bg_start_of of, int level);
/* A level of the rows of G that are kept, in their sizes, with -rest - G from on the right. */
bg_status bg_start_search_add_constraints(bg_start_search *s, const unsigned char *eliminated,
                                          const double *rest, double tolerance, bg_error *err);
/* x->v <- the velocity that meets the constraints and all levels, at the pose of the point. */
bg_status bg_start_search_solve_velocity(bg_start_search *s, const unsigned char *eliminated,
                                         bg_state *x, bool *fixed_met, bg_error *err);
/* start_positions.c: whether a search has come where it was to. */
typedef bool (*bg_start_is_good)(const bg_start_search *search);
/* Moves x from one of two positions to where the constraints and all levels are met, or as nearly
 * as can be, and is_good. false: neither leads there, and x is anywhere; then z of x is in s->z.
 * *exact: no direction was left out in which little can be gained. */
bool bg_start_search_find_position(bg_start_search *s, bg_state *x, const double *first,
                                   const double *second, bg_start_is_good is_good, bool *exact);
/* The terms at x, and the increment that closes the loops, in the levels. */
bg_status bg_start_search_find_closing(bg_start_search *s, const bg_state *x, bg_error *err);
/* The largest |g| beside its gradient, with the terms at hand. */
double bg_start_search_find_opening(const bg_dynamics *dynamics);
/* x->q <- x->q + factor V increment, from where the terms at hand are. */
void bg_start_search_move(bg_start_search *s, bg_state *x, double factor, const double *increment);

/* nearest.c: moves x to the nearest position in least squares of everything that is not fixed;
 * false: the search does not converge. */
bool bg_start_search_find_nearest(bg_start_search *s, bg_state *x);

/* Whether it is as given but for rounding, or the misfit of the data, relative to its size. */
bool bg_given_is_met(const bg_given *g, double misfit);
/* "2", or "(1, 0, 2)"; what is 0 but for rounding, beside `unit`, is 0. */
void bg_given_print(const double *values, int n, double unit, char *text, size_t size);
bool bg_given_is_velocity(const bg_given *g);

/* contradictions.c: the first fixed velocity that those before it do not allow, and which of them;
 * BG_OK: there is none. */
bg_status bg_starts_find_contradiction(bg_start_search *s, const unsigned char *eliminated,
                                       bg_state *x, bg_error *err);
/* "...: is fixed at ..., but the mechanism allows no more than ..." */
bg_status bg_starts_report_fixed(const bg_given *g, bg_error *err);

#endif

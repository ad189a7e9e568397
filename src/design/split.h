/* Which part of a system should be fast: chosen from eigenvalues and masses about one state.
 *
 * Velocities that no mass and no constraint couples fall into groups (system/separability.h). Each
 * has the largest eigenvalue that it would have with all others at rest; the stiffest groups are
 * fast, and where to cut is decided by what the pair does with the whole: eigenvalues of a part say
 * nothing about the masses it is coupled to, the spectral radius of the step does. */
#ifndef BG_SPLIT_H
#define BG_SPLIT_H

#include "design/rates.h"

enum { BG_SPLIT_CUTS = 12 };

/* A way to cut: so many of the stiffest groups are fast. */
typedef struct bg_cut {
    int groups;
    int velocities;    /* that are fast */
    double slow, fast; /* 1/s, largest modulus of an eigenvalue of either part */
    double ratio;      /* of masses (bg_rates_calc_ratio) */
    double step;       /* s, the largest stable one; HUGE_VAL: any */
    double work;       /* velocities and constraints evaluated in a step */
} bg_cut;

typedef struct bg_split {
    int nv, nz, ng, ngroups;
    int *group;      /* [nv] of each velocity */
    int *g_group;    /* [ng] of each constraint; -1: of none */
    double *largest; /* [ngroups] 1/s */
    int *order;      /* [ngroups] the stiffest first */
    bg_cut whole;    /* all by the fast tableau, at one rate */
    bg_cut cuts[BG_SPLIT_CUTS];
    int ncuts, chosen;        /* -1: at one rate */
    unsigned char *v, *z, *g; /* [nv], [nz], [ng] BG_PART_* of what was chosen */
    char reason[160];         /* why that one */
    bg_arena arena;
} bg_split;

/* For a pair with its rule of positions and a step in s: the cut with the least work that is
 * stable; or, where the step is NAN, with the least work for a second. */
bg_status bg_split_find(bg_linearisation *linearisation, const bg_prk_pair *pair, bool by_part,
                        double step, bg_split **split, bg_error *err);
void bg_split_destroy(bg_split *split);

/* Marks the velocities, states and constraints of a cut in v, z and g. */
void bg_split_mark(bg_split *split, const bg_rates *rates, const bg_linearisation *linearisation,
                   int groups);

#endif

/* The slow and the fast part of a model, for methods of two rates ("fast" under "run").
 *
 * Bodies are of one part or the other, and no joint connects them, so that neither M nor G does.
 * States and rows belong to the part of the bodies they act on. To evaluate the fast part alone
 * takes the forces and rows that act on fast bodies, and the bodies that these look at. */
#ifndef BG_FAST_PART_H
#define BG_FAST_PART_H

#include "base/arena.h"
#include "model/model.h"

#include <stdbool.h>

struct bg_multibody;

typedef struct bg_fast_part {
    bool exist;               /* else all of the arrays are NULL */
    int nv, ng;               /* of the formalism */
    unsigned char *v, *z, *g; /* [nv], [nz], [ng] BG_PART_* */
    unsigned char *body;      /* [nbodies] the same; 0: ground, or moved by inputs alone */
    bool *acts;               /* [nforces] on a fast body, or has a fast state */
    bool *seen;               /* [nbodies] by these or by fast rows, or fast */
    const struct bg_multibody *of;
    bg_arena arena; /* these arrays */
} bg_fast_part;

/* Parts of everything on body level, at a world that has been updated; v, and rows of the
 * formalism's own, are left to it. follows [nbodies]: bodies that inputs alone move, of neither
 * part as the ground is; NULL: none. False: out of memory. */
bool bg_fast_part_create(struct bg_multibody *mb, int nv, int ng, const bool *follows,
                         bg_fast_part *rates);
void bg_fast_part_clear(bg_fast_part *rates);

/* Gravity and forces on fast bodies into `wrench`; what they do to slow ones is not all. */
void bg_fast_part_apply_forces(struct bg_multibody *mb, const bg_fast_part *rates);
/* Adds the constraint forces of fast rows on body level. */
void bg_fast_part_apply_reactions(struct bg_multibody *mb, const bg_fast_part *rates,
                                  const double *lambda);
/* gamma of fast rows on body level; others are left alone. */
void bg_fast_part_calc_gamma(struct bg_multibody *mb, const bg_fast_part *rates, double *gamma);
/* z' of fast states; others are left alone. */
void bg_fast_part_calc_rates(struct bg_multibody *mb, const bg_fast_part *rates, double *z_t);

#endif

/* The slow and the fast part of a model, for methods of two rates ("fast" under "run").
 *
 * Bodies are of one part or the other, and no joint connects them, so that neither M nor G does.
 * States and rows belong to the part of the bodies they act on. To evaluate the fast part alone
 * takes the forces that act on fast bodies, and the bodies that these look at. */
#ifndef BG_TWO_RATES_H
#define BG_TWO_RATES_H

#include "base/arena.h"
#include "model/model.h"

#include <stdbool.h>

struct bg_multibody;

typedef struct bg_two_rates {
    bool exist;               /* else all of the arrays are NULL */
    int nv, ng;               /* of the formalism */
    unsigned char *v, *z, *g; /* [nv], [nz], [ng] BG_PART_* */
    unsigned char *body;      /* [nbodies] the same; 0: ground */
    bool *acts;               /* [nforces] on a fast body, or has a fast state */
    bool *seen;               /* [nbodies] by these, or fast */
    const struct bg_multibody *of;
    bg_arena arena; /* these arrays */
} bg_two_rates;

/* Parts of everything on body level, at a world that has been updated; v, and rows of the
 * formalism's own, are left to it. False: out of memory. */
bool bg_two_rates_create(struct bg_multibody *mb, int nv, int ng, bg_two_rates *rates);
void bg_two_rates_clear(bg_two_rates *rates);

/* Gravity and forces on fast bodies into `wrench`; what they do to slow ones is not all. */
void bg_two_rates_apply_forces(struct bg_multibody *mb, const bg_two_rates *rates);
/* Adds the constraint forces of fast rows on body level. */
void bg_two_rates_apply_reactions(struct bg_multibody *mb, const bg_two_rates *rates,
                                  const double *lambda);
/* z' of fast states; others are left alone. */
void bg_two_rates_calc_rates(struct bg_multibody *mb, const bg_two_rates *rates, double *z_t);

#endif

/* The canonical copy of a model: a form that depends on the mechanism alone, for the search for a
 * start.
 *
 * Where positions are given that are out of reach, the search ends in one of several places, and
 * which one depends on the tree, on the axes rows are written in and on the order of everything.
 * None of that belongs to the mechanism. So the search is made on a copy of the model without
 * forces and outputs, in which
 *
 *   - bodies, joints and couplers stand in the order of their names, the ground first;
 *   - a joint leads from the earlier to the later of its bodies, with the signs of its coordinates
 *     changed along, unless its direction means something: a drive has its sign, a point its line
 *     or plane, a place (x, y) in a plane the axes of the first body;
 *   - nothing is said about `cut`, and joints that constrain nothing are left out: `free` ones, and
 *     those of which nothing is said and which repeat another in the same place. */
#ifndef BG_CANONICAL_H
#define BG_CANONICAL_H

#include "model/model.h"

typedef struct bg_canonical {
    bg_model model;    /* owns bodies, joints, couplers and angles; the rest is that of the file */
    int *body, *joint; /* [nbodies], [njoints] of the copy: which ones of the model they are */
    bool *is_reversed; /* [njoints] of the copy */
} bg_canonical;

/* Whether the copy of a model would have the same bodies and joints in the same order. */
bool bg_model_is_canonical(const bg_model *model);
bg_status bg_canonical_create(const bg_model *model, bg_canonical *canonical, bg_error *err);
void bg_canonical_clear(bg_canonical *canonical);

/* The coordinate of the model's joint that coordinate c of joint k of the copy is, but for *sign.
 */
int bg_canonical_find_coordinate(const bg_canonical *canonical, int k, int c, double *sign);

#endif

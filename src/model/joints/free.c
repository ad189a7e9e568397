/* free: no restriction: all translations and rotations.
 * Bodies without any joint get one to the ground. It has no loop form: it restricts nothing. */
#include "model/joint.h"

extern const bg_joint_class bg_joint_free;
const bg_joint_class bg_joint_free = {
    .name = "free",
    .summary = "no restriction: all translations and rotations",
    .nlinks = 4,
    .link = {{BG_LINK_TRANSLATE, 0},
             {BG_LINK_TRANSLATE, 1},
             {BG_LINK_TRANSLATE, 2},
             {BG_LINK_BALL, 0}},
};

/* What the author of a model should look at again, beside what the reader noticed. */
#include "model/review.h"

void bg_model_review(const bg_model *model, const bg_mechanism *mechanism, bg_warnings *warnings)
{
    bg_warnings_append(warnings, &model->warnings);
    for (int k = 0; k < mechanism->ncuts; k++) {
        const bg_joint *joint = &model->joints[mechanism->cuts[k]];
        if (bg_joint_has_start(joint))
            bg_warnings_add(warnings, BG_DOUBTFUL, "start",
                            "joint '%s' closes a loop, so its start values are not used; say "
                            "\"cut\": false, or start other joints",
                            joint->name);
    }
}

/* sdirk4-first-order: the tableau of sdirk4 on the equations of the independent motions in
 * first-order form (002, ForSDIRK), for comparison. The same stages, found by another iteration:
 * accelerations and multipliers are solved for at each iterate. */
#include "integrators/dirk.h"

static bg_status create(bg_integrator *ig, bg_error *err)
{
    bg_status st = bg_dirk_create(ig, &bg_sdirk4_tableau, err);
    bg_dirk *m = ig->method;
    if (m)
        m->first_order = true;
    return st;
}

static const bg_option_info options[] = {BG_DIRK_OPTIONS};

const bg_integrator_class bg_sdirk4_first_order;
const bg_integrator_class bg_sdirk4_first_order = {
    .info = {"sdirk4-first-order", "sdirk4 with positions and velocities as unknowns of its stages",
             options, sizeof options / sizeof *options, false, 4, 3, .misses_corners = 1},
    BG_DIRK_FUNCTIONS,
};

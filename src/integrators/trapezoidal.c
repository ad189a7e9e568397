/* trapezoidal: the trapezoidal rule on independent motions, of order 2, A-stable, with the implicit
 * Euler method for the estimate of its error (002, InflTrap). */
#include "integrators/dirk.h"

static const bg_dirk_tableau tableau = {
    .stages = 2,
    .gamma = 0.5,
    .c = {0, 1},
    .a = {{0}, {0.5, 0.5}},
    .error = {0.5, -0.5},
    .start = {{0}, {1, 0}},
};

static bg_status create(bg_integrator *ig, bg_error *err)
{
    return bg_dirk_create(ig, &tableau, err);
}

static const bg_option_info options[] = {BG_DIRK_OPTIONS};

const bg_integrator_class bg_trapezoidal;
const bg_integrator_class bg_trapezoidal = {
    .info = {"trapezoidal", "trapezoidal rule on independent motions, for stiff systems", options,
             sizeof options / sizeof *options, false, 2, 3, .misses_corners = 1},
    BG_DIRK_FUNCTIONS,
    .leap_reach = 30, /* by stages of order 4 */
};

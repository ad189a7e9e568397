/* sdirk4: the singly diagonally implicit method of Hairer and Wanner with five stages, gamma = 1/4,
 * of order 4, L-stable, with an embedded method of order 3 (002 Table 2, InflSDIRK).
 *
 * Accelerations of a stage are guessed by polynomials through the beginning and earlier stages,
 * leaving out those that lie close together: c_3 = 0.55 and c_4 = 0.5 in one polynomial magnify
 * what stages differ by more than fifty times. */
#include "integrators/dirk.h"

const bg_dirk_tableau bg_sdirk4_tableau = {
    .stages = 5,
    .gamma = 0.25,
    .c = {0.25, 0.75, 0.55, 0.5, 1},
    .a = {{1.0 / 4},
          {1.0 / 2, 1.0 / 4},
          {17.0 / 50, -1.0 / 25, 1.0 / 4},
          {371.0 / 1360, -137.0 / 2720, 15.0 / 544, 1.0 / 4},
          {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 1.0 / 4}},
    .error = {25.0 / 24 - 59.0 / 48, -49.0 / 48 + 17.0 / 96, 125.0 / 16 - 225.0 / 32, 0, 1.0 / 4},
    .start = {{1}, {-2, 3}, {-0.32, 0.88, 0.44}, {-1.0 / 3, 1, 1.0 / 3, 0}, {0, 1, 3, 0, -3}},
};

static bg_status create(bg_integrator *ig, bg_error *err)
{
    return bg_dirk_create(ig, &bg_sdirk4_tableau, err);
}

static const bg_option_info options[] = {BG_DIRK_OPTIONS};

const bg_integrator_class bg_sdirk4;
const bg_integrator_class bg_sdirk4 = {
    .info = {"sdirk4", "SDIRK of order 4 on independent motions, for stiff systems", options,
             sizeof options / sizeof *options, false, 4, 3, .misses_corners = 1},
    BG_DIRK_FUNCTIONS,
};

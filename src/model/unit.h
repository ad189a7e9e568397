/* Units of outputs and other channels: texts such as "mm", "N/mm" or "m/s²" with what they mean in
 * SI units and radians, and the unit of everything a model measures. */
#ifndef BG_UNIT_H
#define BG_UNIT_H

#include "model/model.h"

enum { BG_UNIT_DIMENSIONS = 4 }; /* m, kg, s, rad */

typedef struct bg_unit {
    double factor; /* in SI units: 0.001 for mm */
    int power[BG_UNIT_DIMENSIONS];
} bg_unit;

/* Products and quotients of named units with whole powers: "N m/rad", "m/s^2", "kW", "1/s", "%".
 * False: it is none. */
bool bg_unit_parse(const char *text, bg_unit *unit);
/* Whether they measure the same quantity. */
bool bg_unit_is_alike(const bg_unit *a, const bg_unit *b);

/* The SI unit that an output has by what it measures; "": none, or not known (expressions). */
const char *bg_output_get_si_unit(const bg_model *model, const bg_output *output);
/* The one in which it is recorded. */
const char *bg_output_get_unit(const bg_model *model, const bg_output *output);
/* The unit of an input: that of the coordinate that follows it; "": not known. */
const char *bg_signal_get_unit(const bg_model *model, int signal);
/* Of a state of a force element, counted from its first; "" where it is a number, or not known. */
const char *bg_force_get_state_unit(const bg_model *model, const bg_force *force, int state);

#endif

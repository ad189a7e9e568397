/* Options of integrators: checked when one is created, and read by its method. */
#ifndef BG_OPTIONS_H
#define BG_OPTIONS_H

#include "integrators/integrator.h"

/* Numbers that are usable and do not contradict each other, options the method has with values they
 * can take, and a step where steps are fixed. */
bg_status bg_options_check(const bg_integrator_class *class_, const bg_integrator_options *options,
                           bg_error *err);

/* The value of a method's option: a setting, or its default from the class. */
const char *bg_option_get(const bg_integrator *ig, const char *name);
/* Which one of the option's choices that is, from 0 on in the order of the class. */
int bg_option_get_choice(const bg_integrator *ig, const char *name);
/* A number, or `automatic` where the option is left at "auto". */
double bg_option_get_number(const bg_integrator *ig, const char *name, double automatic);
/* A whole number from 1 to `most`. */
bg_status bg_option_read_count(const bg_integrator *ig, const char *name, int most, int *count,
                               bg_error *err);
/* Fails where the value of an option is less than `least`. */
bg_status bg_option_check_least(const bg_integrator *ig, const char *name, double value,
                                double least, bg_error *err);

#endif

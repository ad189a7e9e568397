/* What the hand-written systems share. Everything else they use is in include/bogie. */
#ifndef BG_EQUATIONS_H
#define BG_EQUATIONS_H

#include "bogie/system.h"

/* Refuses parameter values a family cannot use. ranges has one character per parameter:
 * '+' positive, '0' zero or positive, 'r' any number; all of them finite. */
bg_status bg_parameters_check(const bg_equations *family, const double *values, const char *ranges,
                              bg_error *err);

/* The status of a define function that ran out of memory. */
bg_status bg_equations_no_memory(const bg_equations *family, bg_error *err);

#endif

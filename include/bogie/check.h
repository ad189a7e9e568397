/* What a problem is made of, before it runs: dimensions, bodies, tree and loops of a model, degrees
 * of freedom, redundant constraints by name, the start, warnings. */
#ifndef BOGIE_CHECK_H
#define BOGIE_CHECK_H

#include "bogie/problem.h"

BG_API_BEGIN

/* All of that as a JSON text (docs/results.md), to be released with free(). derivatives non-zero:
 * and what the system supplies, compared with differences (bg_system_check_derivatives). NULL:
 * there is no start, or memory is out, says err. */
char *bg_check_create_text(const bg_problem *problem, int derivatives, bg_error *err);

BG_API_END
#endif

/* What is said of a system, for people and for programs alike. */
#ifndef BG_RESULTS_CHECK_H
#define BG_RESULTS_CHECK_H

#include "bogie/check.h"

#include <stdbool.h>

/* States at which derivatives are compared with differences, where they come from, and the largest
 * error that is taken for agreement. */
enum { BG_CHECK_SAMPLES = 10, BG_CHECK_SEED = 1 };
#define BG_CHECK_LARGEST_ERROR 1e-6

/* Where a term (BG_TERM_...) comes from: "supplied", "by differences"; NULL: the system has none.
 */
const char *bg_check_find_origin(const bg_system_def *def, unsigned term);
/* Whether the block can differ from zero; g by q and w by v are the term G itself. */
bool bg_check_has_block(const bg_system_def *def, bg_of of, bg_by by);

extern const char *const bg_check_terms[9];        /* names, in the order of their bits */
extern const char *const bg_check_of[BG_OF_COUNT]; /* "r", "h", ... */
extern const char *const bg_check_by[BG_BY_COUNT]; /* "q", "v", ... */

/* Total mass, and the centre sum(m r) / sum(m) in the design position. */
double bg_check_calc_mass(const bg_model *model, double centre[3]);

#endif

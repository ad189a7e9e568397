/* Small helpers for names and numbers that users write. */
#ifndef BG_TEXT_H
#define BG_TEXT_H

#include <stdbool.h>

/* Reads a finite decimal number that fills the whole text. */
bool bg_text_to_double(const char *text, double *value);
/* Edit distance of two short texts (insert, delete, replace, swap neighbours), ignoring case. */
int bg_text_calc_distance(const char *a, const char *b);
/* Index of the nearest of n names, or -1 when none is close enough to be meant. */
int bg_text_find_nearest(const char *text, const char *const *names, int n);

#endif

/* Small helpers for names and numbers that users write. */
#ifndef BG_TEXT_H
#define BG_TEXT_H

#include <stdbool.h>

/* Reads a finite decimal number that fills the whole text: a sign, digits with at most one point,
 * an exponent. No blanks, no hexadecimal digits, no words such as nan. */
bool bg_text_to_double(const char *text, double *value);
/* The same for a number at the beginning of the text; *rest is what follows it. */
bool bg_text_scan_double(const char *text, double *value, const char **rest);
/* Reads a whole number from 0 on, digits alone, that fills the whole text. */
bool bg_text_to_count(const char *text, long *value);
/* The whole part of a number as far as it lies between the limits; of nan, the lower one. A plain
 * cast of what lies outside is undefined. */
long bg_double_to_long(double x, long low, long high);
/* Edit distance of two short texts (insert, delete, replace, swap neighbours), ignoring case. */
int bg_text_calc_distance(const char *a, const char *b);
/* Index of the nearest of n names, or -1 when none is close enough to be meant. */
int bg_text_find_nearest(const char *text, const char *const *names, int n);

#endif

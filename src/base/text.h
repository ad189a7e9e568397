/* Small helpers for names and numbers that users write. */
#ifndef BG_TEXT_H
#define BG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* strtod, and a number with 17 digits, with a decimal point whatever the language of the program
 * that Bogie is a part of. */
double bg_text_scan(const char *text, char **end);
void bg_text_print(double x, char *text, size_t size);
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
/* Where the first control character of a text is, which a terminal might obey: of ASCII or, as
 * UTF-8, from U+0080 to U+009F, or one that breaks a line or turns the direction of a text; NULL:
 * there is none. */
const char *bg_text_find_control(const char *text);
/* Copies a text for one line of a terminal: control characters become \\x1b and so on. What does
 * not fit is cut off. */
void bg_text_escape(const char *text, char *out, size_t size);
/* Puts ? in place of control characters, except line breaks. */
void bg_text_clean(char *text);
/* Edit distance of two short texts (insert, delete, replace, swap neighbours), ignoring case. */
int bg_text_calc_distance(const char *a, const char *b);
/* Index of the nearest of n names, or -1 when none is close enough to be meant. */
int bg_text_find_nearest(const char *text, const char *const *names, int n);

#endif

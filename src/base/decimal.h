/* Numbers as text, fast: what printf writes for %.17g, which gives back the same double. */
#ifndef BG_DECIMAL_H
#define BG_DECIMAL_H

#include <stddef.h>

enum { BG_DECIMAL_LENGTH = 24 }; /* sign, 17 digits, point, exponent of 5: at most so many bytes */

/* Writes x without a terminator and returns the number of bytes. "nan" has no sign. The decimal
 * point is that of the present locale in rare cases: call it in the "C" locale. */
size_t bg_decimal_write(double x, char text[BG_DECIMAL_LENGTH]);
size_t bg_decimal_write_int(int x, char text[BG_DECIMAL_LENGTH]);

#endif

/* Numbers as text, fast: what printf writes for %.17g, which gives back the same double. */
#ifndef BG_DECIMAL_H
#define BG_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum {
    BG_DECIMAL_LENGTH = 24, /* sign, 17 digits, point, exponent of 5: at most so many bytes count */
    BG_DECIMAL_ROOM = 40,   /* which may be written to: digits are stored many at a time */
    BG_DECIMAL_FIRST = -291,
    BG_DECIMAL_LAST = 324
};

/* 10^n = (high 2^64 + low) 2^exponent, rounded down. */
typedef struct bg_decimal_power {
    uint64_t high, low;
    int exponent;
} bg_decimal_power;

/* The powers of ten that bring any double to seventeen digits before the point. */
typedef struct bg_decimal {
    bg_decimal_power power[BG_DECIMAL_LAST - BG_DECIMAL_FIRST + 1]; /* from BG_DECIMAL_FIRST on */
} bg_decimal;

void bg_decimal_prepare(bg_decimal *decimal);

/* Writes x without a terminator and returns the number of bytes that count. "nan" has no sign. The
 * decimal point is that of the present locale in rare cases: call it in the "C" locale. */
size_t bg_decimal_write(const bg_decimal *decimal, double x, char text[BG_DECIMAL_ROOM]);
size_t bg_decimal_write_int(int x, char text[BG_DECIMAL_ROOM]);

#endif

/* x > 0 is m 2^e with 2^63 <= m < 2^64. With k = floor(log10 x), the seventeen digits of x are the
 * integer nearest to x 10^(16-k). Powers of ten are kept as P 2^p with 2^127 <= P < 2^128, rounded
 * down; m P then has 192 bits, of which the upper 54 to 60 are the integer part, and those below
 * the fraction that decides how it is rounded. The error of P is less than 4, that of the product
 * less than 2^66, so that 64 bits of the fraction are right up to a few units of the last one.
 * Where that leaves the decision open, as for ties, printf decides.
 *
 * 10^n = 10^(28 j) 5^r 2^r with 0 <= r < 28: from two small tables the one of all powers is made.
 */
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { STEP = 28, FIRST = -11, DIGITS = 17 };
#define UNDECIDED 8 /* units of the last of 64 bits of a fraction */
static const uint64_t ten_16 = 10000000000000000u, ten_17 = 100000000000000000u;

/* 10^(28 j) = (high 2^64 + low) 2^exponent, j from FIRST on. */
static const struct {
    uint64_t high, low;
    int exponent;
} tens[] = {
    {0xe61acf033d1a45df, 0x6fb92487298e33bd, -1151},
    {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, -1058},
    {0xea9c227723ee8bcb, 0x465e15a979c1cadc, -965},
    {0xece53cec4a314ebd, 0xa4f8bf5635246428, -872},
    {0xef340a98172aace4, 0x86fb897116c87c34, -779},
    {0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, -686},
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, -593},
    {0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, -500},
    {0xf8a95fcf88747d94, 0x75a44c6397ce912a, -407},
    {0xfb158592be068d2e, 0xeed6e2f0f0d56712, -314},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, -221},
    {0x8000000000000000, 0x0000000000000000, -127},
    {0x813f3978f8940984, 0x4000000000000000, -34},
    {0x82818f1281ed449f, 0xbff8f10e7a8921a4, 59},
    {0x83c7088e1aab65db, 0x792667c6da79e0fa, 152},
    {0x850fadc09923329e, 0x03e2cf6bc604ddb0, 245},
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 338},
    {0x87aa9aff79042286, 0x90fb44d2f05d0842, 431},
    {0x88fcf317f22241e2, 0x441fece3bdf81f03, 524},
    {0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 617},
    {0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 710},
    {0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 803},
    {0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 896},
};

/* 5^r */
static const uint64_t fives[STEP] = {1u,
                                     5u,
                                     25u,
                                     125u,
                                     625u,
                                     3125u,
                                     15625u,
                                     78125u,
                                     390625u,
                                     1953125u,
                                     9765625u,
                                     48828125u,
                                     244140625u,
                                     1220703125u,
                                     6103515625u,
                                     30517578125u,
                                     152587890625u,
                                     762939453125u,
                                     3814697265625u,
                                     19073486328125u,
                                     95367431640625u,
                                     476837158203125u,
                                     2384185791015625u,
                                     11920928955078125u,
                                     59604644775390625u,
                                     298023223876953125u,
                                     1490116119384765625u,
                                     7450580596923828125u};

/* The upper 128 of the 192 bits of (high, low) times x. */
static wide multiply(uint64_t high, uint64_t low, uint64_t x, uint64_t *rest)
{
    wide below = (wide)low * x, above = (wide)high * x + (uint64_t)(below >> 64);
    *rest = (uint64_t)below;
    return above;
}

void bg_decimal_prepare(bg_decimal *decimal)
{
    for (int n = BG_DECIMAL_FIRST; n <= BG_DECIMAL_LAST; n++) {
        int j = (n + 1000 * STEP) / STEP - 1000, r = n - j * STEP;
        uint64_t rest, five = fives[r];
        int zeros = __builtin_clzll(five);
        wide power = multiply(tens[j - FIRST].high, tens[j - FIRST].low, five << zeros, &rest);
        int exponent = tens[j - FIRST].exponent + r - zeros + 64;
        if (!(power >> 127)) {
            power = power << 1 | rest >> 63;
            exponent--;
        }
        decimal->power[n - BG_DECIMAL_FIRST] = (bg_decimal_power){(uint64_t)(power >> 64),
                                                                  (uint64_t)power, exponent};
    }
}

/* x 10^n = integer + fraction / 2^64, rounded down, for m 2^e = x. The integer has 54 to 60 bits.
 */
static uint64_t scale(const bg_decimal_power *power, uint64_t m, int e, uint64_t *fraction)
{
    uint64_t rest;
    wide product = multiply(power->high, power->low, m, &rest);
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int shift = -(e + power->exponent) - 128; /* of the upper 64 bits, 4 to 10 */
    *fraction = high << (64 - shift) | low >> shift;
    return high >> shift;
}

/* The seventeen digits of x > 0, and the exponent of the first; false: the table cannot tell. */
static int find_digits(const bg_decimal *decimal, double x, uint64_t *digits, int *k)
{
    uint64_t bits, fraction;
    memcpy(&bits, &x, sizeof bits);
    int biased = (int)(bits >> 52);
    if (biased == 0 || biased == 2047) /* subnormal, infinite, not a number */
        return 0;
    int e = biased - 1075 - 11;
    *k = (int)(((e + 63) * 78913L) >> 18); /* floor(log10 2^(e + 63)), or one too small for x */
    const bg_decimal_power *power = &decimal->power[DIGITS - 1 - *k - BG_DECIMAL_FIRST];
    uint64_t d = scale(power, (bits << 11) | (uint64_t)1 << 63, e, &fraction);
    if (d >= ten_17) { /* one digit too many */
        unsigned last = (unsigned)(d % 10);
        if ((last == 5 && fraction < UNDECIDED) || (last == 4 && fraction > UINT64_MAX - UNDECIDED))
            return 0;
        d = d / 10 + (last >= 5);
        ++*k;
    } else {
        const uint64_t half = (uint64_t)1 << 63;
        if (fraction - (half - UNDECIDED) < 2 * UNDECIDED)
            return 0;
        d += fraction >= half;
    }
    if (d == ten_17) {
        d = ten_16;
        ++*k;
    }
    *digits = d;
    return 1;
}

/* The eight digits of x < 10^8 as bytes 0 to 9, the first where a store puts it first: quotients by
 * 10^4, 10^2 and 10 in lanes of one word, each by a product that is exact for what a lane holds. */
static uint64_t split_digits(uint32_t x)
{
    uint64_t v = x / 10000 | (uint64_t)(x % 10000) << 32;
    uint64_t hundreds = v * 10486 >> 20 & 0x7f0000007f;
    v = hundreds | (v - 100 * hundreds) << 16;
    uint64_t ten = v * 103 >> 10 & 0x000f000f000f000f;
    return ten | (v - 10 * ten) << 8;
}

static void store_digits(uint64_t v, char *text)
{
    v |= 0x3030303030303030;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(text, &v, sizeof v);
}

static size_t write_exponent(int k, char *text)
{
    unsigned size = (unsigned)(k < 0 ? -k : k);
    char *at = text;
    *at++ = 'e';
    *at++ = k < 0 ? '-' : '+';
    if (size >= 100)
        *at++ = (char)('0' + size / 100);
    *at++ = (char)('0' + size / 10 % 10);
    *at++ = (char)('0' + size % 10);
    return (size_t)(at - text);
}

/* As %g lays digits out: trailing zeros go, an exponent where the point would be far away. Behind
 * what counts anything may be written, within BG_DECIMAL_ROOM. */
static size_t lay_out(uint64_t digits, int k, char *text)
{
    const uint64_t behind = digits % ten_16;
    const char first = (char)('0' + digits / ten_16);
    const uint64_t upper = split_digits((uint32_t)(behind / 100000000u));
    const uint64_t lower = split_digits((uint32_t)(behind % 100000000u));
    int n = lower   ? DIGITS - __builtin_clzll(lower) / 8
            : upper ? DIGITS - 8 - __builtin_clzll(upper) / 8
                    : 1; /* digits before trailing zeros */
    if (k > 0 && k < DIGITS) {
        char rest[32] = {0};
        store_digits(upper, rest);
        store_digits(lower, rest + 8);
        text[0] = first;
        memcpy(text + 1, rest, 16);
        text[k + 1] = '.';
        memcpy(text + k + 2, rest + k, 16);
        return (size_t)(n <= k + 1 ? k + 1 : n + 1);
    }
    char *at = text; /* where the first digit stands */
    if (k < 0 && k >= -4) {
        memcpy(text, "0.000", 5);
        at += 1 - k;
        at[0] = first;
        store_digits(upper, at + 1);
        store_digits(lower, at + 9);
        return (size_t)(1 - k + n);
    }
    at[0] = first;
    at[1] = '.';
    store_digits(upper, at + 2);
    store_digits(lower, at + 10);
    at += n > 1 ? n + 1 : 1;
    return (size_t)(at - text) + (k == 0 ? 0 : write_exponent(k, at));
}

size_t bg_decimal_write(const bg_decimal *decimal, double x, char text[BG_DECIMAL_ROOM])
{
    uint64_t digits;
    int k;
    size_t sign = signbit(x) && !isnan(x);
    text[0] = '-';
    if (x == 0) {
        text[sign] = '0';
        return sign + 1;
    }
    if (find_digits(decimal, fabs(x), &digits, &k))
        return sign + lay_out(digits, k, text + sign);
    return sign +
           (size_t)snprintf(text + sign, BG_DECIMAL_ROOM - sign, "%.17g", isnan(x) ? NAN : fabs(x));
}

size_t bg_decimal_write_int(int x, char text[BG_DECIMAL_ROOM])
{
    if (x >= 0 && x < 10) {
        text[0] = (char)('0' + x);
        return 1;
    }
    return (size_t)snprintf(text, BG_DECIMAL_ROOM, "%d", x);
}

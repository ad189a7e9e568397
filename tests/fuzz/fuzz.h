/* What the fuzzers share: libFuzzer's entries, a source of choices made of the input's bytes, and
 * files to hand the bytes over in. */
#ifndef BG_FUZZ_H
#define BG_FUZZ_H

#include "bogie/status.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The bytes of an input, taken from its beginning. */
typedef struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
} fuzz_bytes;

/* The next byte; 0 behind the end. */
static inline unsigned take_byte(fuzz_bytes *b)
{
    if (b->size == 0)
        return 0;
    b->size--;
    return *b->data++;
}

static inline unsigned take_word(fuzz_bytes *b)
{
    unsigned low = take_byte(b);
    return low | take_byte(b) << 8;
}

/* A number that programs stumble over, or any. */
static inline double take_number(fuzz_bytes *b)
{
    static const double extreme[] = {0,     -1,     1,      0.5,  -0.5,       2,
                                     1e308, -1e308, 1e-308, 1e18, 4294967296, 2147483648.0,
                                     9e18,  -9e18,  255,    256,  2147483647, 1e5};
    enum { EXTREMES = sizeof extreme / sizeof *extreme };
    unsigned which = take_byte(b) % (EXTREMES + 4);
    double x = 0;
    unsigned char raw[sizeof x];
    if (which < EXTREMES)
        return extreme[which];
    if (which == EXTREMES)
        return (double)NAN;
    if (which == EXTREMES + 1)
        return (double)INFINITY;
    if (which == EXTREMES + 2)
        return -(double)INFINITY;
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (unsigned char)take_byte(b);
    memcpy(&x, raw, sizeof x);
    return x;
}

/* A refusal is one sentence without control characters, and says what kind of trouble it is. */
static inline void expect_sentence(bg_status status, const bg_error *err)
{
    if (status == BG_OK || err->status != status || strlen(err->text) < 10)
        abort();
    for (const char *c = err->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            abort();
}

#endif

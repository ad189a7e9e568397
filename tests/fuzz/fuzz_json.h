/* Changes of JSON texts for libFuzzer. */
#ifndef BG_FUZZ_JSON_H
#define BG_FUZZ_JSON_H

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room); /* libFuzzer's own */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static inline unsigned draw(unsigned *seed, size_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (unsigned)((*seed >> 8) % below);
}

/* A random value of a JSON text that is a number, a word or a quoted text (maybe a key): where it
 * starts; *length 0: none was met. */
static inline size_t find_token(const uint8_t *text, size_t size, unsigned *seed, size_t *length)
{
    size_t from = draw(seed, size), end;
    *length = 0;
    while (from < size && strchr(" \t\r\n{}[]:,", text[from]))
        from++;
    if (from == size)
        return 0;
    while (from > 0 && !strchr(" \t\r\n{}[]:,", text[from - 1]))
        from--;
    for (end = from + 1; end < size && !strchr(" \t\r\n{}[]:,", text[end]);)
        end++;
    *length = end - from;
    return from;
}

/* Most changes of single bytes end in the reader of JSON. Half of all changes therefore put one
 * value for another: something extreme, or what stands elsewhere in the text. */
static inline size_t change_json(uint8_t *data, size_t size, size_t room, unsigned seed,
                                 const char *const *extreme, size_t extremes)
{
    enum { LONGEST = 256 };
    uint8_t copy[LONGEST];
    size_t length, other;
    if (size == 0 || draw(&seed, 2) == 0)
        return LLVMFuzzerMutate(data, size, room);
    size_t at = find_token(data, size, &seed, &length);
    const char *text = extreme[draw(&seed, extremes)];
    size_t n = strlen(text);
    memcpy(copy, text, n);
    if (draw(&seed, 2) == 0) {
        size_t from = find_token(data, size, &seed, &other);
        n = other < LONGEST ? other : 0;
        memcpy(copy, data + from, n);
    }
    if (length == 0 || n == 0 || size - length + n > room)
        return LLVMFuzzerMutate(data, size, room);
    memmove(data + at + n, data + at + length, size - at - length);
    memcpy(data + at, copy, n);
    return size - length + n;
}

#endif

/* What the tests of expressions share: random numbers, a resolver, random formulas. */
#ifndef EXPRESSION_SUPPORT_H
#define EXPRESSION_SUPPORT_H

#include "model/expression.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 3 };

static inline uint64_t next_random(uint64_t *seed) /* xorshift64* */
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1DULL;
}

static inline double uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)(next_random(seed) >> 11) * 0x1p-53;
}

static inline int choose(uint64_t *seed, int n)
{
    return (int)(next_random(seed) >> 33) % n;
}

/* x, y, z at 0, 1, 2; the constant k = 7; and `wheel.z` at 5. */
static inline int resolve(void *self, const char *name, double *constant)
{
    (void)self;
    if (strlen(name) == 1 && name[0] >= 'x' && name[0] <= 'z')
        return name[0] - 'x';
    if (strcmp(name, "wheel.z") == 0)
        return 5;
    if (strcmp(name, "k") != 0)
        return -1;
    *constant = 7;
    return -2;
}

static inline bg_expression *create(const char *text)
{
    bg_error err = {0};
    bg_expression *e;
    bg_status st = bg_expression_create(text, resolve, NULL, &e, &err);
    if (st != BG_OK)
        fail_msg("'%s': %s", text, err.text);
    return e;
}

/* Writes a random formula and returns its end. */
static inline char *write_random(uint64_t *seed, int depth, char *out)
{
    static const char *unary[] = {"sin",  "cos",  "tan",  "asin",  "acos", "atan",
                                  "sinh", "cosh", "tanh", "exp",   "log",  "log10",
                                  "sqrt", "abs",  "sign", "floor", "",     "-"};
    static const char *binary[] = {"atan2", "min", "max", "mod", "hypot", "smooth", "pow"};
    static const char *ternary[] = {"step", "if"};
    int kind = depth == 0 ? choose(seed, 2) : choose(seed, 12);
    if (kind == 0)
        return out + sprintf(out, "%.3g", uniform(seed, 0.1, 3));
    if (kind == 1)
        return out + sprintf(out, "%c", 'x' + choose(seed, VARIABLES));
    if (kind < 7) {
        *out++ = '(';
        out = write_random(seed, depth - 1, out);
        *out++ = "+-*/^"[choose(seed, 5)];
        out = write_random(seed, depth - 1, out);
    } else {
        int n = kind < 10 ? 1 : kind < 11 ? 2 : 3;
        const char *name = n == 1   ? unary[choose(seed, 18)]
                           : n == 2 ? binary[choose(seed, 7)]
                                    : ternary[choose(seed, 2)];
        out += sprintf(out, "%s(", name);
        for (int i = 0; i < n; i++) {
            out = write_random(seed, depth - 1, out);
            *out++ = ',';
        }
        out--;
    }
    *out++ = ')';
    return out;
}

/* Writes a text made of a start, n times a piece, and an end. */
static inline char *repeat(const char *start, const char *piece, int n, const char *end)
{
    size_t length = strlen(piece);
    char *text = malloc(strlen(start) + (size_t)n * length + strlen(end) + 1),
         *o = stpcpy(text, start);
    for (int i = 0; i < n; i++)
        o = stpcpy(o, piece);
    strcpy(o, end);
    return text;
}

#endif

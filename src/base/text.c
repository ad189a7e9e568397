#include "base/text.h"

#include <ctype.h>
#include <langinfo.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 64, MAX_NUMBER = 1024 };

static const char *skip_digits(const char *c)
{
    return c + strspn(c, "0123456789");
}

/* With another decimal point than ours, what may belong to the number is read from a copy that has
 * it. */
double bg_text_scan(const char *text, char **end)
{
    const char *point = nl_langinfo(RADIXCHAR);
    const size_t length = strspn(text, "+-0123456789.eE"), width = strlen(point);
    char copy[MAX_NUMBER], *read;
    if (strcmp(point, ".") == 0 || length + width > sizeof copy)
        return strtod(text, end);
    const char *dot = memchr(text, '.', length);
    const size_t whole = dot ? (size_t)(dot - text) : length, rest = dot ? length - whole - 1 : 0;
    snprintf(copy, sizeof copy, "%.*s%s%.*s", (int)whole, text, dot ? point : "", (int)rest,
             text + length - rest);
    double x = strtod(copy, &read);
    size_t used = (size_t)(read - copy);
    if (end)
        *end = (char *)text + (used > whole ? used - width + 1 : used);
    return x;
}

void bg_text_print(double x, char *text, size_t size)
{
    const char *point = nl_langinfo(RADIXCHAR);
    snprintf(text, size, "%.17g", x);
    char *at = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (at) {
        *at = '.';
        memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
    }
}

bool bg_text_scan_double(const char *text, double *value, const char **rest)
{
    const char *whole = text + (*text == '+' || *text == '-'), *end = skip_digits(whole);
    bool digits = end > whole;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = skip_digits(fraction);
        digits = digits || end > fraction;
    }
    if (!digits)
        return false;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (skip_digits(exponent) > exponent)
            end = skip_digits(exponent);
    }
    char *read;
    double x = bg_text_scan(text, &read);
    if (read != end || !isfinite(x))
        return false;
    *value = x;
    *rest = end;
    return true;
}

bool bg_text_to_double(const char *text, double *value)
{
    const char *rest;
    double x;
    if (!bg_text_scan_double(text, &x, &rest) || *rest != '\0')
        return false;
    *value = x;
    return true;
}

bool bg_text_to_count(const char *text, long *value)
{
    long x = 0;
    if (*text == '\0')
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || x > (LONG_MAX - (*text - '0')) / 10)
            return false;
        x = 10 * x + (*text - '0');
    }
    *value = x;
    return true;
}

long bg_double_to_long(double x, long low, long high)
{
    return isnan(x) || x <= (double)low ? low : x >= (double)high ? high : (long)x;
}

/* How many bytes a control character at c has, and which it is; 0: there is none. Those that break
 * lines or change the direction of what follows count, too: they make a line say something else. */
static int find_control(const char *c, unsigned *code)
{
    const unsigned char *b = (const unsigned char *)c;
    *code = b[0];
    if ((b[0] < ' ' && b[0]) || b[0] == 0x7F)
        return 1;
    if (b[0] == 0xC2 && b[1] >= 0x80 && b[1] <= 0x9F) {
        *code = b[1];
        return 2;
    }
    if (b[0] != 0xE2 || (b[1] != 0x80 && b[1] != 0x81) || b[2] < 0x80 || b[2] > 0xBF)
        return 0;
    *code = 0x2000u | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
    return (*code >= 0x2028 && *code <= 0x202E) || (*code >= 0x2066 && *code <= 0x2069) ? 3 : 0;
}

const char *bg_text_find_control(const char *text)
{
    unsigned code;
    while (*text && !find_control(text, &code))
        text++;
    return *text ? text : NULL;
}

void bg_text_escape(const char *text, char *out, size_t size)
{
    size_t n = 0;
    while (*text) {
        unsigned code;
        int length = find_control(text, &code);
        char escaped[8] = {*text};
        if (length > 0)
            snprintf(escaped, sizeof escaped, code > 0xFF ? "\\u%04x" : "\\x%02x", code & 0xFFFF);
        size_t wide = strlen(escaped);
        if (n + wide >= size)
            break;
        memcpy(out + n, escaped, wide);
        n += wide;
        text += length > 0 ? length : 1;
    }
    out[n] = '\0';
}

void bg_text_clean(char *text)
{
    unsigned code;
    for (char *c = text; *c; c++)
        for (int n = *c == '\n' ? 0 : find_control(c, &code); n > 0; n--)
            c[n - 1] = '?';
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

int bg_text_calc_distance(const char *a, const char *b)
{
    int d[MAX_TEXT + 1][MAX_TEXT + 1];
    int m = (int)strnlen(a, MAX_TEXT), n = (int)strnlen(b, MAX_TEXT);
    for (int i = 0; i <= m; i++)
        d[i][0] = i;
    for (int j = 0; j <= n; j++)
        d[0][j] = j;
    for (int i = 1; i <= m; i++) {
        for (int j = 1; j <= n; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    }
    return d[m][n];
}

int bg_text_find_nearest(const char *text, const char *const *names, int n)
{
    int best = -1, best_distance = 0;
    for (int i = 0; i < n; i++) {
        int distance = bg_text_calc_distance(text, names[i]);
        if (best < 0 || distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    int limit = (int)strnlen(text, MAX_TEXT) / 2;
    return best >= 0 && best_distance <= (limit > 2 ? limit : 2) ? best : -1;
}

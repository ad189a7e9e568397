#include "report/json.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Arrays are written as they lie in memory, and have to be little-endian. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written little-endian");

/* The length of the UTF-8 character at text; 0: not UTF-8. */
static int find_character(const unsigned char *text)
{
    int n = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    for (int k = 1; k < n; k++)
        if ((text[k] & 0xC0) != 0x80)
            return 0;
    bool bad = text[0] > 0xF4 || (text[0] == 0xE0 && text[1] < 0xA0) ||
               (text[0] == 0xED && text[1] > 0x9F) || (text[0] == 0xF0 && text[1] < 0x90) ||
               (text[0] == 0xF4 && text[1] > 0x8F);
    return bad ? 0 : n;
}

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int n = find_character(c);
        if (n == 0)
            putc('?', out);
        else if (*c < 0x20 || *c == '<' || *c == 0x7F)
            fprintf(out, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fwrite(c, 1, (size_t)n, out);
        c += n > 0 ? n : 1;
    }
    putc('"', out);
}

static void begin(bg_json *j, const char *key)
{
    if (j->comma)
        putc(',', j->out);
    if (key) {
        put_text(j->out, key);
        putc(':', j->out);
    }
    j->comma = true;
}

void bg_json_open(bg_json *j, const char *key, char bracket)
{
    begin(j, key);
    putc(bracket, j->out);
    j->comma = false;
}

void bg_json_close(bg_json *j, char bracket)
{
    putc(bracket, j->out);
    j->comma = true;
}

void bg_json_text(bg_json *j, const char *key, const char *text)
{
    begin(j, key);
    if (text)
        put_text(j->out, text);
    else
        fputs("null", j->out);
}

void bg_json_number(bg_json *j, const char *key, double x)
{
    begin(j, key);
    if (!isfinite(x)) {
        fputs("null", j->out);
        return;
    }
    char text[40];
    bg_text_print(x, text, sizeof text);
    fputs(text, j->out);
}

void bg_json_int(bg_json *j, const char *key, long x)
{
    begin(j, key);
    fprintf(j->out, "%ld", x);
}

void bg_json_bool(bg_json *j, const char *key, bool x)
{
    begin(j, key);
    fputs(x ? "true" : "false", j->out);
}

void bg_json_null(bg_json *j, const char *key)
{
    begin(j, key);
    fputs("null", j->out);
}

void bg_json_numbers(bg_json *j, const char *key, const double *x, int n)
{
    bg_json_open(j, key, '[');
    for (int k = 0; k < n; k++)
        bg_json_number(j, NULL, x[k]);
    bg_json_close(j, ']');
}

/* "<" occurs in JSON only inside texts, where it may be written like this. */
static int put_dump(const char *text, size_t size, void *data)
{
    FILE *out = data;
    for (size_t k = 0; k < size; k++)
        if (text[k] == '<')
            fputs("\\u003c", out);
        else
            putc(text[k], out);
    return 0;
}

bool bg_json_value(bg_json *j, const char *key, const json_t *value)
{
    begin(j, key);
    return json_dump_callback(value, put_dump, j->out,
                              JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) == 0;
}

/* Bytes on their way to base64: three become four characters. */
typedef struct base64 {
    FILE *out;
    unsigned char rest[3];
    int n;
} base64;

static void put_group(base64 *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned x = (unsigned)b->rest[0] << 16 | (unsigned)b->rest[1] << 8 | b->rest[2];
    char text[4] = {digits[x >> 18], digits[x >> 12 & 63], digits[x >> 6 & 63], digits[x & 63]};
    for (int k = b->n + 1; k < 4; k++)
        text[k] = '=';
    fwrite(text, 1, 4, b->out);
    memset(b->rest, 0, sizeof b->rest);
    b->n = 0;
}

static void put_bytes(base64 *b, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t k = 0; k < size; k++) {
        b->rest[b->n++] = bytes[k];
        if (b->n == 3)
            put_group(b);
    }
}

static base64 begin_array(bg_json *j, const char *key, const char *type, bg_json_shape shape)
{
    bg_json_open(j, key, '{');
    bg_json_text(j, "type", type);
    bg_json_open(j, "shape", '[');
    for (int k = 0; k < 3 && (k == 0 || shape.n[k] > 0); k++)
        bg_json_int(j, NULL, (long)shape.n[k]);
    bg_json_close(j, ']');
    begin(j, "base64");
    putc('"', j->out);
    return (base64){.out = j->out};
}

static void end_array(bg_json *j, base64 *b)
{
    if (b->n > 0)
        put_group(b);
    putc('"', j->out);
    bg_json_close(j, '}');
}

static size_t calc_count(bg_json_shape shape)
{
    return shape.n[0] * (shape.n[1] > 0 ? shape.n[1] : 1) * (shape.n[2] > 0 ? shape.n[2] : 1);
}

void bg_json_doubles(bg_json *j, const char *key, const double *x, bg_json_shape shape)
{
    base64 b = begin_array(j, key, "f64", shape);
    put_bytes(&b, x, calc_count(shape) * sizeof *x);
    end_array(j, &b);
}

void bg_json_floats(bg_json *j, const char *key, const float *x, bg_json_shape shape)
{
    base64 b = begin_array(j, key, "f32", shape);
    put_bytes(&b, x, calc_count(shape) * sizeof *x);
    end_array(j, &b);
}

void bg_json_column(bg_json *j, const char *key, const double *x, size_t stride, size_t n)
{
    base64 b = begin_array(j, key, "f32", (bg_json_shape){{n}});
    for (size_t k = 0; k < n; k++) {
        float value = (float)x[k * stride];
        put_bytes(&b, &value, sizeof value);
    }
    end_array(j, &b);
}

/* PNG without zlib (RFC 1950, 1951, PNG third edition): rows are stored as differences to the pixel
 * on the left, so that areas of one colour are zeros, and runs of equal bytes become copies over
 * the distance of one in a single block with the fixed code of deflate. */
#include "figure/canvas.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char *data;
    size_t size;
    uint32_t bits; /* not yet written, lowest first */
    int nbits;
} bytes;

static void put_byte(bytes *b, unsigned value)
{
    b->data[b->size++] = (unsigned char)value;
}

static void put_number(bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        put_byte(b, value >> shift & 0xff);
}

/* n bits of value, lowest first. */
static void put_bits(bytes *b, uint32_t value, int n)
{
    b->bits |= value << b->nbits;
    for (b->nbits += n; b->nbits >= 8; b->nbits -= 8, b->bits >>= 8)
        put_byte(b, b->bits & 0xff);
}

/* A Huffman code of n bits, highest first. */
static void put_code(bytes *b, unsigned code, int n)
{
    for (int k = n - 1; k >= 0; k--)
        put_bits(b, code >> k & 1, 1);
}

/* Literals, the end of the block and lengths in the fixed code. */
static void put_symbol(bytes *b, unsigned symbol)
{
    if (symbol < 144)
        put_code(b, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(b, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(b, symbol - 256, 7);
    else
        put_code(b, 0xc0 + symbol - 280, 8);
}

/* Copies `length` (3 to 258) times the byte before. */
static void put_run(bytes *b, int length)
{
    int symbol = 285, extra = 0, rest = 0;
    if (length < 258) { /* eight codes without extra bits, then four for each number of them */
        int n = length - 3;
        for (extra = 0; n >> extra >= 8; extra++)
            continue;
        symbol = 257 + 4 * extra + (n >> extra);
        rest = n & ((1 << extra) - 1);
    }
    put_symbol(b, (unsigned)symbol);
    put_bits(b, (uint32_t)rest, extra);
    put_code(b, 0, 5); /* distance 1 */
}

static void put_deflated(bytes *b, const unsigned char *data, size_t n)
{
    put_bits(b, 1, 1); /* the last block */
    put_bits(b, 1, 2); /* with the fixed code */
    for (size_t i = 0; i < n;) {
        size_t length = 0;
        while (i > 0 && i + length < n && length < 258 && data[i + length] == data[i - 1])
            length++;
        if (length >= 3) {
            put_run(b, (int)length);
            i += length;
        } else {
            put_symbol(b, data[i++]);
        }
    }
    put_symbol(b, 256);
    if (b->nbits > 0)
        put_bits(b, 0, 8 - b->nbits);
}

static uint32_t calc_adler(const unsigned char *data, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static uint32_t calc_crc(const unsigned char *data, size_t n)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* A chunk's length and name; returns where it starts. */
static size_t begin_chunk(bytes *b, const char *name)
{
    size_t start = b->size;
    put_number(b, 0);
    for (int i = 0; i < 4; i++)
        put_byte(b, (unsigned char)name[i]);
    return start;
}

static void end_chunk(bytes *b, size_t start)
{
    size_t end = b->size;
    b->size = start;
    put_number(b, (uint32_t)(end - start - 8));
    b->size = end;
    put_number(b, calc_crc(b->data + start + 4, end - start - 4));
}

/* Rows with their filter: 1, the difference to the left. */
static unsigned char *make_rows(const unsigned char *rgb, int width, int height)
{
    size_t row = (size_t)width * 3;
    unsigned char *rows = malloc((row + 1) * (size_t)height);
    for (int y = 0; rows && y < height; y++) {
        const unsigned char *from = rgb + (size_t)y * row;
        unsigned char *to = rows + (size_t)y * (row + 1);
        *to++ = 1;
        for (size_t i = 0; i < row; i++)
            to[i] = (unsigned char)(from[i] - (i >= 3 ? from[i - 3] : 0));
    }
    return rows;
}

static const char software[] = "Software\0Bogie"; /* a keyword and its text */

char *bg_png_encode(const unsigned char *rgb, int width, int height, size_t *size)
{
    size_t n = ((size_t)width * 3 + 1) * (size_t)height;
    unsigned char *rows = make_rows(rgb, width, height);
    bytes b = {.data = rows ? malloc(n + n / 8 + 256) : NULL}; /* a literal has at most nine bits */
    if (b.data) {
        memcpy(b.data, "\x89PNG\r\n\x1a\n", 8);
        b.size = 8;
        size_t chunk = begin_chunk(&b, "IHDR");
        put_number(&b, (uint32_t)width);
        put_number(&b, (uint32_t)height);
        for (int i = 0; i < 5; i++) /* 8 bits, colours, deflate, filters, not interlaced */
            put_byte(&b, (const unsigned char[]){8, 2, 0, 0, 0}[i]);
        end_chunk(&b, chunk);
        chunk = begin_chunk(&b, "tEXt");
        for (size_t i = 0; i < sizeof software - 1; i++)
            put_byte(&b, (unsigned char)software[i]);
        end_chunk(&b, chunk);
        chunk = begin_chunk(&b, "IDAT");
        put_byte(&b, 0x78);
        put_byte(&b, 0x01);
        put_deflated(&b, rows, n);
        put_number(&b, calc_adler(rows, n));
        end_chunk(&b, chunk);
        end_chunk(&b, begin_chunk(&b, "IEND"));
    }
    free(rows);
    *size = b.size;
    return (char *)b.data;
}

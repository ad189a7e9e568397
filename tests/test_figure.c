/* Pictures: traced regions against areas and boundaries that are known, and PNG files read back. */
#include "figure/canvas.h"
#include "run_support.h"

#include <stdlib.h>

/* A ring around (0.2, -0.1), cut by the window. */
static bg_status in_ring(void *self, double x, double y, bool *inside, bg_error *err)
{
    const double *radius = self;
    double r = hypot(x - 0.2, y + 0.1);
    (void)err;
    *inside = r >= radius[0] && r <= radius[1];
    return BG_OK;
}

static double calc_area(const bg_region *r)
{
    double total = 0;
    for (int k = 0; k < r->ncurves; k++) {
        double area = 0;
        for (int i = r->start[k]; i < r->start[k + 1]; i++) {
            bg_place2 p = r->points[i];
            bg_place2 q = r->points[i + 1 < r->start[k + 1] ? i + 1 : r->start[k]];
            area += 0.5 * (p.x * q.y - q.x * p.y);
        }
        total += k == 0 ? fabs(area) : -fabs(area);
    }
    return total;
}

static void test_contour(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double radius[] = {0.4, 1.1};
    bg_window window = {-2, 2, -2, 2};
    bg_region region;
    assert_ok(bg_region_trace(&window, 81, in_ring, radius, &region, &err));
    assert_int_equal(region.ncurves, 2);
    double exact = acos(-1) * (1.1 * 1.1 - 0.4 * 0.4);
    assert_true(fabs(calc_area(&region) / exact - 1) < 3e-3);
    for (int i = 0; i < region.count; i++) {
        double r = hypot(region.points[i].x - 0.2, region.points[i].y + 0.1);
        assert_true(fmin(fabs(r - 0.4), fabs(r - 1.1)) < 1e-7);
    }
    bg_region_clear(&region);
    window = (bg_window){0.2, 2, -2, 2}; /* half of it: one curve */
    assert_ok(bg_region_trace(&window, 81, in_ring, radius, &region, &err));
    assert_int_equal(region.ncurves, 1);
    assert_true(fabs(calc_area(&region) / (0.5 * exact) - 1) < 3e-3);
    bg_region_clear(&region);
}

static bg_status fail_inside(void *self, double x, double y, bool *inside, bg_error *err)
{
    (void)self, (void)x, (void)y, (void)inside;
    return bg_error_set(err, BG_SINGULAR, "no answer");
}

static void test_failure(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_window window = {0, 1, 0, 1};
    bg_region region;
    assert_int_equal(bg_region_trace(&window, 5, fail_inside, NULL, &region, &err), BG_SINGULAR);
    bg_region_clear(&region);
}

/* Reads the one block with the fixed code that the encoder writes. */
typedef struct stream {
    const unsigned char *data;
    size_t bit;
} stream;

static unsigned get_bits(stream *s, int n)
{
    unsigned value = 0;
    for (int k = 0; k < n; k++, s->bit++)
        value |= (unsigned)(s->data[s->bit / 8] >> (s->bit % 8) & 1) << k;
    return value;
}

static unsigned get_code(stream *s, int n, unsigned code)
{
    for (int k = 0; k < n; k++)
        code = code << 1 | get_bits(s, 1);
    return code;
}

static unsigned get_symbol(stream *s)
{
    unsigned code = get_code(s, 7, 0);
    if (code < 0x18)
        return code + 256;
    code = get_code(s, 1, code);
    if (code >= 0x30 && code <= 0xbf)
        return code - 0x30;
    if (code >= 0xc0 && code <= 0xc7)
        return code - 0xc0 + 280;
    return get_code(s, 1, code) - 0x190 + 144;
}

static size_t inflate(stream *s, unsigned char *out, size_t size)
{
    static const int base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const int extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    size_t n = 0;
    assert_int_equal(get_bits(s, 3), 3);
    for (unsigned symbol = get_symbol(s); symbol != 256; symbol = get_symbol(s)) {
        if (symbol < 256) {
            assert_true(n < size);
            out[n++] = (unsigned char)symbol;
            continue;
        }
        int length = base[symbol - 257] + (int)get_bits(s, extra[symbol - 257]);
        assert_int_equal(get_bits(s, 5), 0); /* from the byte before */
        for (; length > 0; length--, n++) {
            assert_true(n > 0 && n < size);
            out[n] = out[n - 1];
        }
    }
    return n;
}

static unsigned get_number(const unsigned char *p)
{
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];
}

static void test_png(void **state)
{
    (void)state;
    enum { WIDTH = 317, HEIGHT = 23, ROW = 3 * WIDTH };
    unsigned char *rgb = malloc(ROW * HEIGHT), *rows = malloc((ROW + 1) * HEIGHT);
    size_t size;
    srand(3);
    for (int i = 0; i < ROW * HEIGHT; i++) /* noise, and areas of one colour */
        rgb[i] = (unsigned char)(i / ROW % 2 ? rand() % 256 : 7 * (i % 3) + i / ROW);
    char *file = bg_png_encode(rgb, WIDTH, HEIGHT, &size);
    assert_non_null(file);
    const unsigned char *p = (const unsigned char *)file;
    assert_memory_equal(p + 12, "IHDR", 4);
    assert_int_equal(get_number(p + 16), WIDTH);
    assert_int_equal(get_number(p + 20), HEIGHT);
    assert_memory_equal(p + 37, "tEXtSoftware\0Bogie", 18); /* by which it may be replaced */
    assert_memory_equal(p + 63, "IDAT", 4);
    stream s = {p + 69, 0}; /* after the two bytes of zlib */
    assert_int_equal(inflate(&s, rows, (ROW + 1) * HEIGHT), (ROW + 1) * HEIGHT);
    for (int y = 0; y < HEIGHT; y++) {
        assert_int_equal(rows[y * (ROW + 1)], 1);
        for (int i = 0; i < ROW; i++) {
            unsigned char *to = rows + y * (ROW + 1) + 1;
            to[i] = (unsigned char)(to[i] + (i >= 3 ? to[i - 3] : 0));
            assert_int_equal(to[i], rgb[y * ROW + i]);
        }
    }
    assert_int_equal(get_number(p + size - 4), 0xae426082); /* the checksum of every IEND */
    free(file);
    free(rgb);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contour),
                                       cmocka_unit_test(test_failure), cmocka_unit_test(test_png)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

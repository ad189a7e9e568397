/* Status codes and errors, texts and numbers that users write, and the two-way byte stream. */
#include "base/archive.h"
#include "base/decimal.h"
#include "base/text.h"
#include "bogie/status.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const bg_status statuses[] = {
#define VALUE(name, value, text) name,
    BG_STATUS_LIST(VALUE)
#undef VALUE
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

static void test_status_names(void **state)
{
    (void)state;
    assert_string_equal(bg_status_name(BG_OK), "BG_OK");
    assert_string_equal(bg_status_name(BG_CONTRADICTORY), "BG_CONTRADICTORY");
    assert_string_equal(bg_status_text(BG_NO_MEMORY), "out of memory");
    for (int i = 0; i < STATUSES; i++) {
        assert_memory_equal(bg_status_name(statuses[i]), "BG_", 3);
        assert_true(strlen(bg_status_text(statuses[i])) > 3);
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(statuses[i], statuses[j]);
            assert_string_not_equal(bg_status_name(statuses[i]), bg_status_name(statuses[j]));
            assert_string_not_equal(bg_status_text(statuses[i]), bg_status_text(statuses[j]));
        }
    }
    assert_string_equal(bg_status_name((bg_status)-99), "unknown status");
    assert_string_equal(bg_status_text((bg_status)99), "unknown status");
}

/* Success is 0, outcomes to act on are positive, failures negative. */
static void test_status_signs(void **state)
{
    (void)state;
    assert_int_equal(BG_OK, 0);
    for (int i = 0; i < STATUSES; i++) {
        bg_status st = statuses[i];
        assert_int_equal(st > 0, st == BG_STOPPED || st == BG_RETRY || st == BG_NOT_FINITE ||
                                     st == BG_SINGULAR || st == BG_NOT_CONVERGED);
        assert_int_equal(st == 0, st == BG_OK);
    }
}

static void test_error_set(void **state)
{
    (void)state;
    bg_error err = {BG_OK, "old"};
    assert_int_equal(bg_error_set(&err, BG_IO, "file '%s', line %d", "a.json", 7), BG_IO);
    assert_int_equal(err.status, BG_IO);
    assert_string_equal(err.text, "file 'a.json', line 7");
    assert_int_equal(bg_error_set(NULL, BG_RETRY, "%d", 1), BG_RETRY);
    bg_error_set(&err, BG_IO, "key '%s'", "a\nb\033[1m\177\xC3\xA4");
    assert_string_equal(err.text, "key 'a\\x0ab\\x1b[1m\\x7f\xC3\xA4'"); /* no colours */
    bg_error_set(&err, BG_IO, "key '%s'", "\xC2\x9B[2J\xC2\xA0\xC2");    /* C1, as UTF-8 */
    assert_string_equal(err.text, "key '\\x9b[2J\xC2\xA0\xC2'");
}

static void test_error_is_cut(void **state)
{
    (void)state;
    struct {
        bg_error err;
        unsigned char guard[16];
    } place;
    char text[3 * BG_ERROR_LENGTH];
    memset(&place, 0x5a, sizeof place);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(bg_error_set(&place.err, BG_BAD_INPUT, "%s", text), BG_BAD_INPUT);
    assert_int_equal(strlen(place.err.text), BG_ERROR_LENGTH - 1);
    for (size_t i = 0; i < sizeof place.guard; i++)
        assert_int_equal(place.guard[i], 0x5a);
}

static void test_text_to_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"-0.5", -0.5},
                {"1e-3", 1e-3},
                {"+17", 17},
                {".25", 0.25},
                {"3.", 3},
                {"1.7976931348623157e308", DBL_MAX},
                {"2E+2", 200},
                {"0.1", 0.1}};
    static const char *const bad[] = {"",     "x",     "1x",  "1 2", "1,5", "nan", "-nan",  "inf",
                                      "-inf", "1e999", "--1", "1e",  ".",   "-",   "1.2.3", "1e5m"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 99;
        assert_true(bg_text_to_double(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 99;
        if (bg_text_to_double(bad[i], &value))
            fail_msg("'%s' was read as %g", bad[i], value);
        assert_true(value == 99);
    }
}

static void test_text_distance(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {{"", "", 0},         {"", "abc", 3},      {"mass", "mass", 0},
                 {"Mass", "mASS", 0}, {"mass", "mas", 1},  {"mass", "masse", 1},
                 {"mass", "moss", 1}, {"mass", "amss", 1}, {"kitten", "sitting", 3},
                 {"gravity", "x", 7}, {"abcd", "badc", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(bg_text_calc_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(bg_text_calc_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    char one[300], other[300]; /* long texts are compared by their beginnings, within bounds */
    memset(one, 'a', sizeof one);
    memset(other, 'b', sizeof other);
    one[sizeof one - 1] = other[sizeof other - 1] = '\0';
    assert_int_equal(bg_text_calc_distance(one, one), 0);
    assert_true(bg_text_calc_distance(one, other) >= 64);
}

static void test_text_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"mass", "length", "gravity", "l", "m"};
    assert_int_equal(bg_text_find_nearest("lenght", names, 5), 1);
    assert_int_equal(bg_text_find_nearest("GRAVTIY", names, 5), 2);
    assert_int_equal(bg_text_find_nearest("mas", names, 5), 0);
    assert_int_equal(bg_text_find_nearest("gravity", names, 5), 2);
    assert_int_equal(bg_text_find_nearest("temperature", names, 5), -1);
    assert_int_equal(bg_text_find_nearest("mass", names, 0), -1);
}

/* One function for both directions, as the archive is meant to be used. */
typedef struct archive_record {
    double x[5];
    int k[3];
    long count;
    unsigned char bytes[7];
} archive_record;

static void walk(bg_archive *archive, archive_record *r)
{
    bg_archive_mark(archive, "record");
    bg_archive_doubles(archive, r->x, 5);
    bg_archive_ints(archive, r->k, 3);
    bg_archive_doubles(archive, NULL, 0);
    bg_archive_long(archive, &r->count);
    bg_archive_bytes(archive, r->bytes, sizeof r->bytes);
    bg_archive_mark(archive, "a tag longer than the mark itself");
}

static archive_record make_record(void)
{
    return (archive_record){{0.1, -0.0, HUGE_VAL, DBL_MIN / 4, -DBL_MAX},
                            {INT_MIN, 0, 42},
                            LONG_MAX,
                            {1, 0, 255, 4, 5, 6, 7}};
}

static void test_archive_round_trip(void **state)
{
    (void)state;
    bg_archive saving = {0};
    for (int i = 0; i < 100; i++) { /* long enough to grow several times */
        archive_record r = make_record();
        r.count = i;
        walk(&saving, &r);
    }
    assert_false(saving.failed);
    assert_true(saving.size > 100 * (sizeof(double) * 5 + sizeof(int) * 3));
    assert_true(saving.capacity >= saving.size);
    bg_archive loading = {.loading = true, .data = saving.data, .size = saving.size};
    for (int i = 0; i < 100; i++) {
        archive_record r, expected = make_record();
        memset(&r, 0, sizeof r);
        walk(&loading, &r);
        assert_memory_equal(r.x, expected.x, sizeof r.x); /* bitwise: -0.0 too */
        assert_memory_equal(r.k, expected.k, sizeof r.k);
        assert_memory_equal(r.bytes, expected.bytes, sizeof r.bytes);
        assert_int_equal(r.count, i);
    }
    assert_false(loading.failed);
    assert_int_equal(loading.position, loading.size);
    bg_archive_clear(&loading); /* leaves the caller's bytes alone */
    bg_archive_clear(&saving);
    assert_null(saving.data);
    assert_int_equal(saving.size, 0);
}

/* Cut anywhere, loading fails, stays failed, and writes nothing it does not have completely. */
static void test_archive_truncated(void **state)
{
    (void)state;
    bg_archive saving = {0};
    archive_record r = make_record();
    walk(&saving, &r);
    for (size_t size = 0; size < saving.size; size++) {
        unsigned char *copy = malloc(size + 1); /* of its own, so that sanitizers see its end */
        assert_non_null(copy);
        memcpy(copy, saving.data, size);
        bg_archive loading = {.loading = true, .data = copy, .size = size};
        archive_record loaded;
        memset(&loaded, 0x5a, sizeof loaded);
        walk(&loading, &loaded);
        assert_true(loading.failed);
        assert_true(loading.position <= size);
        if (size < 16 + sizeof r.x)
            for (size_t i = 0; i < sizeof r.x; i++)
                assert_int_equal(((unsigned char *)loaded.x)[i], 0x5a);
        free(copy);
    }
    bg_archive_clear(&saving);
}

static void test_archive_wrong_mark(void **state)
{
    (void)state;
    bg_archive saving = {0};
    double x = 1, y = 2;
    bg_archive_mark(&saving, "left");
    bg_archive_doubles(&saving, &x, 1);
    bg_archive loading = {.loading = true, .data = saving.data, .size = saving.size};
    bg_archive_mark(&loading, "right");
    assert_true(loading.failed);
    bg_archive_doubles(&loading, &y, 1);
    assert_true(y == 2); /* nothing is read after a failure */
    loading = (bg_archive){.loading = true, .data = saving.data, .size = saving.size};
    bg_archive_mark(&loading, "lef");
    assert_true(loading.failed); /* not even when it is a beginning of the mark */
    bg_archive_clear(&saving);
}

/* Numbers of users: decimal, finite, and nothing beside them. */
static void test_numbers_are_strict(void **state)
{
    (void)state;
    static const char *const good[] = {"0", "-1", "+2.5", ".5", "5.", "1e3", "-1.5E-3", "007"};
    static const double values[] = {0, -1, 2.5, 0.5, 5, 1000, -1.5e-3, 7};
    static const char *const bad[] = {
        "",    " 1",  "1 ",    "1\n", "0x10", "0x1p-3", "nan", "NAN(1)", "inf", "-infinity", "1e",
        "1e+", "1,5", "1.2.3", "--1", "+-1",  "1e999",  ".",   "e5",     "1f",  "1d3",       "$1"};
    double x = 17;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(bg_text_to_double(good[i], &x));
        assert_true(x == values[i]);
    }
    x = 17;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(bg_text_to_double(bad[i], &x));
    assert_true(x == 17); /* left alone */
    static const char *const no_count[] = {
        "", "-1", "+1", " 1", "1 ", "0x2", "1.", "1e3", "9223372036854775808"};
    long n = 17;
    for (size_t i = 0; i < sizeof no_count / sizeof *no_count; i++)
        assert_false(bg_text_to_count(no_count[i], &n));
    assert_int_equal(n, 17);
    assert_true(bg_text_to_count("9223372036854775807", &n));
    assert_true(n == LONG_MAX);
    assert_int_equal(bg_double_to_long(NAN, -3, 5), -3);
    assert_int_equal(bg_double_to_long(1e300, -3, 5), 5);
    assert_int_equal(bg_double_to_long(-1e300, -3, 5), -3);
    assert_int_equal(bg_double_to_long(4.9, -3, 5), 4);
    assert_true(bg_double_to_long(HUGE_VAL, 0, LONG_MAX) == LONG_MAX);
}

static void assert_decimal(const bg_decimal *decimal, double x)
{
    char own[BG_DECIMAL_ROOM], theirs[40];
    memset(own, 'x', sizeof own);
    size_t n = bg_decimal_write(decimal, x, own);
    assert_true(n <= BG_DECIMAL_LENGTH);
    own[n] = '\0';
    snprintf(theirs, sizeof theirs, isnan(x) ? "nan" : "%.17g", x);
    assert_string_equal(own, theirs);
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Decimal numbers byte by byte as printf writes them: any bits, neighbours of powers of ten and
 * two, numbers with few digits, ties. */
static void test_decimal(void **state)
{
    (void)state;
    static const double special[] = {0.0,     -0.0,    HUGE_VAL, -HUGE_VAL, NAN,   -NAN,
                                     DBL_MAX, DBL_MIN, 5e-324,   1e16,      1e17,  123456.0,
                                     1e-4,    1e-5,    0.1,      1.0 / 3,   2e-308};
    uint64_t seed = 88172645463325252u;
    bg_decimal decimal;
    bg_decimal_prepare(&decimal);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        assert_decimal(&decimal, special[i]);
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = draw(&seed);
        double x;
        memcpy(&x, &bits, sizeof x);
        assert_decimal(&decimal, x);
        assert_decimal(&decimal, (double)(draw(&seed) % 100000) / 1000);
        assert_decimal(&decimal, (double)(draw(&seed) >> 11) / 1024); /* often a tie */
    }
    for (int e = -1074; e < 1024; e++)
        for (int i = -3; i <= 3; i++) {
            assert_decimal(&decimal, ldexp(1, e) + i * ldexp(1, e - 52));
            assert_decimal(&decimal, -ldexp(7 + i, e));
        }
    for (int e = -323; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double x = strtod(text, NULL);
        for (double y = nextafter(nextafter(x, 0), 0), k = 0; k < 5; k++, y = nextafter(y, DBL_MAX))
            assert_decimal(&decimal, y);
    }
    static const int whole[] = {0, 9, 10, -1, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char own[BG_DECIMAL_ROOM], theirs[40];
        own[bg_decimal_write_int(whole[i], own)] = '\0';
        snprintf(theirs, sizeof theirs, "%d", whole[i]);
        assert_string_equal(own, theirs);
    }
}

/* Of all characters of the first plane those are escaped, and cleaned away, that a terminal obeys
 * or that make a line read otherwise than it is written. */
static void test_controls(void **state)
{
    (void)state;
    int found = 0;
    for (unsigned c = 1; c < 0xFFFF; c++) {
        char text[8] = {0}, line[32], clean[8];
        int n = 0;
        if (c >= 0x800)
            text[n++] = (char)(0xE0 | c >> 12);
        if (c >= 0x80)
            text[n++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6);
        text[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
        text[n] = 'x';
        bool obeyed = c < ' ' || (c >= 0x7F && c <= 0x9F) || (c >= 0x2028 && c <= 0x202E) ||
                      (c >= 0x2066 && c <= 0x2069);
        bg_text_escape(text, line, sizeof line);
        assert_int_equal(bg_text_find_control(text) != NULL, obeyed);
        assert_int_equal(strcmp(line, text) != 0, obeyed);
        assert_null(bg_text_find_control(line));
        memcpy(clean, text, sizeof clean);
        bg_text_clean(clean);
        assert_int_equal(strcmp(clean, text) != 0, obeyed && c != '\n');
        assert_int_equal(strlen(clean), strlen(text));
        found += obeyed;
    }
    assert_int_equal(found, 31 + 33 + 7 + 4);
    char cut[8];
    bg_text_escape("ab\xe2\x80\xae", cut, sizeof cut); /* six characters more do not fit */
    assert_string_equal(cut, "ab");
}

/* The program around the library may speak a language with decimal commas: numbers have points all
 * the same. The locale is made here; without localedef there is none to be in. */
static void test_decimal_commas(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* newlocale does not release what it makes of LOCPATH */
#endif
    char folder[] = "/tmp/bogie-base-XXXXXX", command[256], text[40], *end;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping "
             "-1\nEND LC_NUMERIC\n' >comma && localedef -c --no-archive -i comma ./xx >log 2>&1",
             folder);
    assert_true(system(command) >= 0);
    setenv("LOCPATH", folder, 1);
    locale_t comma = newlocale(LC_NUMERIC_MASK, "xx", (locale_t)0);
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!comma)
        skip();
    locale_t before = uselocale(comma);
    snprintf(text, sizeof text, "%g", 0.5);
    const bool commas = strcmp(text, "0,5") == 0;
    double x = bg_text_scan("-1.5e-3*kg", &end), whole = bg_text_scan("1,5", NULL);
    double read = 0, sum = bg_text_scan("3-1.5", NULL), half = bg_text_scan(".5", NULL), back[3];
    const bool strict = bg_text_to_double("37.302", &read) && !bg_text_to_double("37,302", &whole);
    const double numbers[3] = {0.1, -6.02e23, 1e-300};
    for (int k = 0; k < 3; k++) {
        bg_text_print(numbers[k], text, sizeof text);
        back[k] = strchr(text, ',') ? NAN : bg_text_scan(text, NULL);
    }
    uselocale(before);
    freelocale(comma);
    assert_true(commas && strict);
    assert_true(x == -1.5e-3 && strcmp(end, "*kg") == 0);
    assert_true(read == 37.302 && sum == 3 && half == 0.5 && whole == 1);
    for (int k = 0; k < 3; k++)
        assert_true(back[k] == numbers[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_status_signs),
        cmocka_unit_test(test_error_set),
        cmocka_unit_test(test_error_is_cut),
        cmocka_unit_test(test_text_to_double),
        cmocka_unit_test(test_text_distance),
        cmocka_unit_test(test_text_nearest),
        cmocka_unit_test(test_archive_round_trip),
        cmocka_unit_test(test_archive_truncated),
        cmocka_unit_test(test_archive_wrong_mark),
        cmocka_unit_test(test_numbers_are_strict),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_decimal_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

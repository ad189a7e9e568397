/* Signals: values in closed form, u' and u'' against differences away from corners, corners, tables
 * in the file and from CSV, and every error. */
#include "model/signal.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static double *copy(const double *x, int n)
{
    double *y = malloc((size_t)n * sizeof *y);
    memcpy(y, x, (size_t)n * sizeof *y);
    return y;
}

static void prepare(bg_signal *s)
{
    bg_error err = {0};
    if (bg_signal_prepare(s, &err) != BG_OK)
        fail_msg("%s", err.text);
}

static bg_signal make_table(bg_signal_kind kind, const double *x, const double *y, int n)
{
    return (bg_signal){
        .name = strdup("road"), .kind = kind, .n = n, .x = copy(x, n), .y = copy(y, n)};
}

static int resolve_time(void *self, const char *name, double *constant)
{
    (void)self, (void)constant;
    return strcmp(name, "t") == 0 ? 0 : strcmp(name, "other") == 0 ? 1 : -1;
}

static bg_signal make_expression(const char *text)
{
    bg_signal s = {.name = strdup("formula"), .kind = BG_SIGNAL_EXPRESSION};
    bg_error err = {0};
    if (bg_expression_create(text, resolve_time, NULL, &s.expression, &err) != BG_OK)
        fail_msg("%s", err.text);
    return s;
}

static double calc(const bg_signal *s, double t, int order)
{
    double out[3];
    bg_signal_calc(s, t, out);
    return out[order];
}

static void check(const bg_signal *s, double t, double u, double u_t, double u_tt)
{
    double out[3];
    const double expected[3] = {u, u_t, u_tt};
    bg_signal_calc(s, t, out);
    for (int k = 0; k < 3; k++) {
        if (!(fabs(out[k] - expected[k]) <= 2e-14 * (1 + fabs(expected[k]))))
            fail_msg("derivative %d at %g is %.17g, expected %.17g", k, t, out[k], expected[k]);
    }
}

static bool is_near_corner(const bg_signal *s, double t, double distance)
{
    for (int k = 0; k < bg_signal_count_corners(s); k++) {
        if (fabs(bg_signal_get_corner(s, k) - t) < distance)
            return true;
    }
    return false;
}

/* u' is the difference of u, and u'' that of u', with fourth-order formulas: for these signals with
 * time scales above 0.1 s truncation and rounding leave less than 1e-8 of the largest derivative.
 * Knots of a spline and ends of a step, where only u''' jumps, cost u'' accuracy h u''': they are
 * left out too. */
static void check_derivatives(const bg_signal *s, double low, double high, const double *skip,
                              int nskip)
{
    const double h = 1e-4;
    double largest[3] = {1, 1, 1};
    for (int i = 0; i <= 1000; i++) {
        for (int k = 0; k < 3; k++)
            largest[k] = fmax(largest[k], fabs(calc(s, low + (high - low) * i / 1000, k)));
    }
    int compared = 0;
    for (int i = 0; i <= 1000; i++) {
        double t = low + (high - low) * (i + 0.37) / 1001;
        bool near = is_near_corner(s, t, 3 * h);
        for (int k = 0; k < nskip; k++)
            near = near || fabs(skip[k] - t) < 3 * h;
        for (int k = 0; k < 2 && !near; k++) {
            double d = (calc(s, t - 2 * h, k) - 8 * calc(s, t - h, k) + 8 * calc(s, t + h, k) -
                        calc(s, t + 2 * h, k)) /
                       (12 * h);
            if (!(fabs(d - calc(s, t, k + 1)) <= 1e-8 * largest[k + 1]))
                fail_msg("derivative %d at %g: %.12g, differences %.12g", k + 1, t,
                         calc(s, t, k + 1), d);
            compared++;
        }
    }
    assert_true(compared > 1900);
}

static void test_constant(void **state)
{
    (void)state;
    bg_signal s = {.kind = BG_SIGNAL_CONSTANT, .a = 4.5};
    prepare(&s);
    check(&s, -3, 4.5, 0, 0);
    check(&s, 1e9, 4.5, 0, 0);
    assert_int_equal(bg_signal_count_corners(&s), 0);
    bg_signal_clear(&s);
}

static void test_ramp(void **state)
{
    (void)state;
    bg_signal s = {.kind = BG_SIGNAL_RAMP, .a = 2, .slope = -3, .t0 = 1, .t1 = 1.5};
    prepare(&s);
    check(&s, 0, 2, 0, 0);
    check(&s, 1, 2, -3, 0); /* to the right */
    check(&s, 1.25, 1.25, -3, 0);
    check(&s, 1.5, 0.5, 0, 0);
    check(&s, 9, 0.5, 0, 0);
    assert_int_equal(bg_signal_count_corners(&s), 2);
    assert_true(bg_signal_get_corner(&s, 0) == 1 && bg_signal_get_corner(&s, 1) == 1.5);
    check_derivatives(&s, 0, 3, NULL, 0);
    s.t1 = INFINITY;
    prepare(&s);
    check(&s, 101, -298, -3, 0);
    assert_int_equal(bg_signal_count_corners(&s), 1);
    s.slope = 0;
    prepare(&s);
    assert_int_equal(bg_signal_count_corners(&s), 0);
    check(&s, 101, 2, 0, 0);
}

/* The smooth step is C2 at its ends: u'' behaves like the distance to them. */
static void test_step(void **state)
{
    (void)state;
    bg_signal s = {.kind = BG_SIGNAL_STEP, .a = -1, .b = 3, .t0 = 2, .t1 = 4};
    prepare(&s);
    check(&s, 2, -1, 0, 0);
    check(&s, 0, -1, 0, 0);
    check(&s, 4, 3, 0, 0);
    check(&s, 7, 3, 0, 0);
    check(&s, 3, 1, 4 * 1.875 / 2, 0);
    const double x = 0.25; /* t = 2.5 */
    check(&s, 2.5, -1 + 4 * (6 * pow(x, 5) - 15 * pow(x, 4) + 10 * pow(x, 3)),
          4 * (30 * pow(x, 4) - 60 * pow(x, 3) + 30 * x * x) / 2,
          4 * (120 * pow(x, 3) - 180 * x * x + 60 * x) / 4);
    for (double d = 1e-3; d > 1e-7; d /= 10) {
        assert_true(fabs(calc(&s, 2 + d, 0) + 1) < 10 * d * d * d);
        assert_true(fabs(calc(&s, 4 - d, 1)) < 20 * d * d);
        assert_true(fabs(calc(&s, 2 + d, 2)) < 61 * d && fabs(calc(&s, 4 - d, 2)) < 61 * d);
        assert_true(fabs(calc(&s, 2 + d, 2)) > 25 * d); /* and no flatter */
    }
    assert_int_equal(bg_signal_count_corners(&s), 0);
    check_derivatives(&s, 1.5, 4.5, (double[]){2, 4}, 2);
}

static void test_jump(void **state)
{
    (void)state;
    bg_signal s = {.kind = BG_SIGNAL_JUMP, .a = 1, .b = -2, .t0 = 0.3};
    prepare(&s);
    check(&s, nextafter(0.3, 0), 1, 0, 0);
    check(&s, 0.3, -2, 0, 0);
    assert_int_equal(bg_signal_count_corners(&s), 1);
    assert_true(bg_signal_get_corner(&s, 0) == 0.3);
    s.b = 1;
    assert_int_equal(bg_signal_count_corners(&s), 0);
}

static void test_sines(void **state)
{
    (void)state;
    const double f[] = {0.5, 1.25}, A[] = {2, -0.5}, phase[] = {0, 0.7};
    bg_signal s = make_table(BG_SIGNAL_SINES, f, A, 2);
    s.offset = 10;
    s.c = copy(phase, 2);
    prepare(&s);
    for (double t = -1; t < 3; t += 0.31) {
        double p = M_PI * t, q = 2.5 * M_PI * t + 0.7;
        check(&s, t, 10 + 2 * sin(p) - 0.5 * sin(q), 2 * M_PI * cos(p) - 1.25 * M_PI * cos(q),
              -2 * M_PI * M_PI * sin(p) + 3.125 * M_PI * M_PI * sin(q));
    }
    check_derivatives(&s, -1, 3, NULL, 0);
    bg_signal_clear(&s);
    assert_null(s.x);
    s = make_table(BG_SIGNAL_SINES, f, A, 1); /* without phases */
    prepare(&s);
    check(&s, 0.5, 2, 0, -2 * M_PI * M_PI);
    assert_int_equal(bg_signal_count_corners(&s), 0);
    bg_signal_clear(&s);
}

/* Frequency f0 at the start and f1 at the end; (f0 + f1) T / 2 periods between; held outside. */
static void test_chirp(void **state)
{
    (void)state;
    const double f0 = 0.5, f1 = 2, T = 4, A = 3;
    bg_signal s = {.kind = BG_SIGNAL_CHIRP, .a = f0, .b = f1, .t1 = T, .slope = A};
    prepare(&s);
    double acceleration = A * 2 * M_PI * (f1 - f0) / T; /* of the angle, where the cosine is one */
    check(&s, 0, 0, A * 2 * M_PI * f0, acceleration);
    check(&s, -1, 0, 0, 0);
    check(&s, T, 0, 0, 0); /* five whole periods */
    check(&s, 99, 0, 0, 0);
    double out[3];
    bg_signal_calc(&s, nextafter(T, 0), out);
    assert_true(fabs(out[0]) < 1e-13);
    assert_true(fabs(out[1] - A * 2 * M_PI * f1) < 1e-12 && fabs(out[2] - acceleration) < 1e-11);
    check(&s, 1.3, A * sin(2 * M_PI * (f0 * 1.3 + (f1 - f0) * 1.3 * 1.3 / (2 * T))),
          calc(&s, 1.3, 1), calc(&s, 1.3, 2));
    assert_int_equal(bg_signal_count_corners(&s), 2);
    assert_true(bg_signal_get_corner(&s, 0) == 0 && bg_signal_get_corner(&s, 1) == T);
    check_derivatives(&s, -0.5, 4.5, NULL, 0);
    s.offset = M_PI / 2; /* phase: starts and ends at the top, where nothing but u'' jumps */
    s.t0 = 1;
    s.t1 = 5;
    prepare(&s);
    check(&s, 0, A, 0, 0);
    check(&s, 6, A, 0, 0);
    check_derivatives(&s, 0, 6, (double[]){1, 5}, 2);
    s.slope = 0;
    assert_int_equal(bg_signal_count_corners(&s), 0);
}

static void test_linear(void **state)
{
    (void)state;
    const double x[] = {0, 1, 2, 4, 5}, y[] = {1, 3, 5, 4, 4};
    bg_signal s = make_table(BG_SIGNAL_LINEAR, x, y, 5);
    prepare(&s);
    check(&s, -1, 1, 0, 0);
    check(&s, 0, 1, 2, 0);
    check(&s, 0.25, 1.5, 2, 0);
    check(&s, 1, 3, 2, 0);
    check(&s, 2, 5, -0.5, 0);
    check(&s, 3, 4.5, -0.5, 0);
    check(&s, 5, 4, 0, 0);
    check(&s, 50, 4, 0, 0);
    const double corners[] = {0, 2, 4}; /* straight through 1, flat into the end */
    assert_int_equal(bg_signal_count_corners(&s), 3);
    for (int k = 0; k < 3; k++)
        assert_true(bg_signal_get_corner(&s, k) == corners[k]);
    check_derivatives(&s, -1, 6, NULL, 0);
    prepare(&s); /* again: nothing changes */
    assert_int_equal(bg_signal_count_corners(&s), 3);
    bg_signal_clear(&s);
}

/* Decimals that round differently from knot to knot make no corners, small true ones do. */
static void test_corners_and_roundoff(void **state)
{
    (void)state;
    enum { N = 1000 };
    double x[N], y[N];
    for (int k = 0; k < N; k++) {
        x[k] = 0.01 * k;
        y[k] = 0.3 + 0.07 * k;
    }
    bg_signal s = make_table(BG_SIGNAL_LINEAR, x, y, N);
    prepare(&s);
    assert_int_equal(bg_signal_count_corners(&s), 2); /* the ends */
    bg_signal_clear(&s);
    y[500] *= 1 + 1e-9;
    s = make_table(BG_SIGNAL_LINEAR, x, y, N);
    prepare(&s);
    assert_int_equal(bg_signal_count_corners(&s), 5);
    assert_true(bg_signal_get_corner(&s, 2) == x[500]);
    bg_signal_clear(&s);
    for (int k = 0; k < N; k++)
        y[k] = k % 2;
    s = make_table(BG_SIGNAL_LINEAR, x, y, N); /* every knot is a corner */
    prepare(&s);
    assert_int_equal(bg_signal_count_corners(&s), N);
    assert_true(bg_signal_get_corner(&s, N - 1) == x[N - 1]);
    bg_signal_clear(&s);
}

static void test_spline_of_a_line(void **state)
{
    (void)state;
    const double x[] = {-1, 0.5, 0.75, 3, 10}, y[] = {-3, 0, 0.5, 5, 19}; /* 2 x - 1 */
    for (int n = 2; n <= 5; n++) {
        bg_signal s = make_table(BG_SIGNAL_SPLINE, x, y, n);
        prepare(&s);
        for (double t = -4; t < 15; t += 0.37)
            check(&s, t, 2 * t - 1, 2, 0);
        assert_int_equal(bg_signal_count_corners(&s), 0);
        bg_signal_clear(&s);
    }
}

/* Inside a piece its formula is the signal; behind its end and before its beginning it goes on as
 * if there were no corner: no jump in u, u' or u'' there, which the signal itself has. */
static void check_pieces(const bg_signal *s)
{
    int corners = bg_signal_count_corners(s);
    double jump = 0;
    for (int k = 0; k < corners; k++) {
        double at = bg_signal_get_corner(s, k), early = nextafter(at, -9), out[2][3], left[3];
        assert_int_equal(bg_signal_find_piece(s, early), k);
        assert_int_equal(bg_signal_find_piece(s, at), k + 1);
        bg_signal_calc(s, early, left);
        for (int side = 0; side < 2; side++) {
            bg_signal_calc_piece(s, k + side, early, out[0]);
            bg_signal_calc_piece(s, k + side, at, out[1]);
            for (int j = 0; j < 3; j++) {
                double seen = calc(s, side == 0 ? early : at, j), size = 1 + fabs(seen);
                assert_true(out[side][j] == seen);
                assert_true(fabs(out[1][j] - out[0][j]) < 1e-12 * size);
                jump = fmax(jump, fabs(calc(s, at, j) - left[j]));
            }
        }
        bg_signal_calc_piece(s, k, at + 1, out[0]); /* far beyond: straight on, but for a chirp */
        if (s->kind != BG_SIGNAL_CHIRP)
            assert_true(fabs(out[0][0] - left[0] - left[1]) < 1e-12 && out[0][1] == left[1]);
    }
    assert_true(jump > 0.1);
}

static void test_pieces(void **state)
{
    (void)state;
    const double x[] = {0, 0.3, 1, 1.5, 2.5}, y[] = {1, -2, 0.5, 0.5, 2};
    bg_signal ramp = {.kind = BG_SIGNAL_RAMP, .a = 1, .slope = -3, .t0 = 0.4, .t1 = 1.7};
    bg_signal endless = {.kind = BG_SIGNAL_RAMP, .slope = 2, .t0 = -1, .t1 = INFINITY};
    bg_signal jump = {.kind = BG_SIGNAL_JUMP, .a = 1, .b = 5, .t0 = 0.2};
    bg_signal chirp = {.kind = BG_SIGNAL_CHIRP,
                       .a = 0.5,
                       .b = 4,
                       .slope = 1.5,
                       .offset = 0.3,
                       .t0 = 0.1,
                       .t1 = 2.3};
    bg_signal table = make_table(BG_SIGNAL_LINEAR, x, y, 5);
    bg_signal *const all[] = {&ramp, &endless, &jump, &chirp, &table};
    static const int corners[] = {2, 1, 1, 2, 5};
    for (int k = 0; k < 5; k++) {
        prepare(all[k]);
        assert_int_equal(bg_signal_count_corners(all[k]), corners[k]);
        assert_int_equal(bg_signal_has_jump(all[k]), all[k] == &jump);
        check_pieces(all[k]);
        bg_signal_clear(all[k]);
    }
}

/* Through the knots, u, u', u'' continuous at each of them, u'' = 0 at the ends and beyond. */
static void test_spline_is_smooth(void **state)
{
    (void)state;
    enum { N = 8 };
    const double x[N] = {0, 0.3, 1, 1.5, 2.5, 2.75, 3.5, 4}, y[N] = {1, -2, 0.5, 3, 3, -1, 0, 2};
    bg_signal s = make_table(BG_SIGNAL_SPLINE, x, y, N);
    prepare(&s);
    for (int k = 0; k < N; k++) {
        double before[3], after[3];
        bg_signal_calc(&s, nextafter(x[k], -9), before);
        bg_signal_calc(&s, x[k], after);
        assert_true(fabs(after[0] - y[k]) < 1e-14);
        for (int j = 0; j < 3; j++)
            assert_true(fabs(before[j] - after[j]) < 1e-12);
    }
    assert_true(calc(&s, 0, 2) == 0 && fabs(calc(&s, nextafter(4, 0), 2)) < 1e-12);
    check(&s, -2, 1 - 2 * calc(&s, 0, 1), calc(&s, 0, 1), 0);
    check(&s, 6, 2 + 2 * calc(&s, 4, 1), calc(&s, 4, 1), 0);
    assert_true(fabs(calc(&s, 1, 2)) > 1); /* it does bend */
    check_derivatives(&s, -1, 5, x, N);
    bg_signal_clear(&s);
}

/* Error of fourth order for a function whose second derivative vanishes at the ends. */
static void test_spline_order(void **state)
{
    (void)state;
    double error[2] = {0};
    for (int r = 0; r < 2; r++) {
        enum { MOST = 81 };
        int n = 41 + 40 * r;
        double x[MOST], y[MOST];
        for (int k = 0; k < n; k++) {
            x[k] = 2 * M_PI * k / (n - 1);
            y[k] = sin(x[k]);
        }
        bg_signal s = make_table(BG_SIGNAL_SPLINE, x, y, n);
        prepare(&s);
        for (double t = 0; t < 6.28; t += 0.003)
            error[r] = fmax(error[r], fabs(calc(&s, t, 0) - sin(t)));
        bg_signal_clear(&s);
    }
    double order = log2(error[0] / error[1]);
    assert_true(order > 3.9 && order < 4.1);
}

static void test_expression(void **state)
{
    (void)state;
    bg_signal s = make_expression("0.1*sin(2*pi*t)*step(t,0,1)+exp(-t)");
    prepare(&s);
    check(&s, 2.25, 0.1 + exp(-2.25), -exp(-2.25), -0.4 * M_PI * M_PI + exp(-2.25));
    check_derivatives(&s, -1, 3, (double[]){0, 1}, 2);
    assert_int_equal(bg_signal_count_corners(&s), 0);
    bg_signal_clear(&s);
    s = make_expression("7*mm");
    prepare(&s);
    check(&s, 3, 0.007, 0, 0);
    bg_signal_clear(&s);
}

static void check_error(bg_signal s, const char *part)
{
    bg_error err = {0};
    s.name = s.name ? s.name : strdup("steering");
    bg_status st = bg_signal_prepare(&s, &err);
    if (st != BG_BAD_INPUT || err.status != st || !strstr(err.text, part) ||
        !strstr(err.text, s.name))
        fail_msg("status %d, '%s', expected '%s'", st, err.text, part);
    bg_signal_clear(&s);
}

static void test_errors(void **state)
{
    (void)state;
    check_error((bg_signal){.kind = BG_SIGNAL_CONSTANT, .a = NAN},
                "the value must be a finite number");
    check_error((bg_signal){.kind = BG_SIGNAL_RAMP, .slope = INFINITY, .t1 = 1}, "slope");
    check_error((bg_signal){.kind = BG_SIGNAL_RAMP, .t0 = 2, .t1 = 2}, "must lie after");
    check_error((bg_signal){.kind = BG_SIGNAL_RAMP, .t0 = 2, .t1 = NAN}, "end time");
    check_error((bg_signal){.kind = BG_SIGNAL_RAMP, .t0 = -INFINITY, .t1 = 1}, "start time");
    check_error((bg_signal){.kind = BG_SIGNAL_STEP, .t0 = 2, .t1 = 1}, "must lie after");
    check_error((bg_signal){.kind = BG_SIGNAL_STEP, .t1 = INFINITY}, "end time");
    check_error((bg_signal){.kind = BG_SIGNAL_STEP, .b = NAN, .t1 = 1}, "value after");
    check_error((bg_signal){.kind = BG_SIGNAL_JUMP, .a = -INFINITY}, "value before");
    check_error((bg_signal){.kind = BG_SIGNAL_JUMP, .t0 = NAN}, "time of the jump");
    check_error((bg_signal){.kind = BG_SIGNAL_SINES}, "at least one sine");
    const double one = 1, nan = NAN;
    check_error(make_table(BG_SIGNAL_SINES, &nan, &one, 1), "frequency");
    check_error(make_table(BG_SIGNAL_SINES, &one, &nan, 1), "amplitude");
    check_error((bg_signal){.kind = BG_SIGNAL_CHIRP, .t1 = 0}, "must lie after");
    check_error((bg_signal){.kind = BG_SIGNAL_CHIRP, .t1 = 1, .b = NAN}, "end frequency");
    check_error((bg_signal){.kind = BG_SIGNAL_CHIRP, .t1 = 1, .slope = NAN}, "amplitude");
    for (bg_signal_kind kind = BG_SIGNAL_LINEAR; kind <= BG_SIGNAL_SPLINE; kind++) {
        const double up[] = {0, 1, 2}, same[] = {0, 1, 1}, down[] = {0, 1, 0.5},
                     bad[] = {0, NAN, 2};
        check_error(make_table(kind, up, up, 1), "at least two points, not 1");
        check_error(make_table(kind, same, up, 3),
                    "times must ascend, but point 3 at 1 s follows 1 s");
        check_error(make_table(kind, down, up, 3), "point 3 at 0.5 s follows 1 s");
        check_error(make_table(kind, bad, up, 3), "time in a table");
        check_error(make_table(kind, up, bad, 3), "value in a table");
    }
    const double x[] = {0, 1e-200, 2e-200}, y[] = {0, 1e300, -1e300};
    check_error(make_table(BG_SIGNAL_SPLINE, x, y, 3), "overflows");
    check_error((bg_signal){.kind = BG_SIGNAL_EXPRESSION}, "is missing");
    check_error(make_expression("t+other"), "time t alone");
    check_error(make_expression("other"), "time t alone");
}

static bg_status read_text(bg_signal *s, const char *text, size_t length, bg_error *err)
{
    char path[] = "/tmp/bogie-signal-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, text, length), (ssize_t)length);
    close(file);
    *err = (bg_error){0};
    bg_status st = bg_signal_read_csv(s, path, err);
    if (st != BG_OK && !strstr(err->text, path))
        fail_msg("'%s' does not name the file", err->text);
    unlink(path);
    return st;
}

static void test_csv(void **state)
{
    (void)state;
    static const char *texts[] = {
        "0,1\n0.5,2e1\n2,-3\n",
        "time,height\n0,1\n0.5,2e1\n2,-3",
        "# measured\n#\n\nt;u\n0;1\n\n  # more\n0.5;2e1\n2;-3\n",
        "\xEF\xBB\xBF\"t\",\"u\"\r\n0,1\r\n 0.5 ,\t20 \r\n2,-3,\r\n",
        "0 1\n0.5\t20\n  2   -3\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bg_signal s = {.kind = BG_SIGNAL_LINEAR};
        bg_error err;
        if (read_text(&s, texts[i], strlen(texts[i]), &err) != BG_OK)
            fail_msg("%s", err.text);
        assert_int_equal(s.n, 3);
        prepare(&s);
        check(&s, 0.25, 10.5, 38, 0);
        check(&s, 2, -3, 0, 0);
        assert_int_equal(read_text(&s, "1,2\n2,5\n", 8, &err), BG_OK); /* replaces the table */
        prepare(&s);
        check(&s, 1.5, 3.5, 3, 0);
        bg_signal_clear(&s);
    }
}

static void test_large_csv(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(N * 40), *o = text;
    for (int k = 0; k < N; k++)
        o += sprintf(o, "%.17g,%.17g\n", 0.001 * k, sin(0.001 * k));
    bg_signal s = {.kind = BG_SIGNAL_SPLINE};
    bg_error err;
    assert_int_equal(read_text(&s, text, (size_t)(o - text), &err), BG_OK);
    assert_int_equal(s.n, N);
    prepare(&s);
    for (double t = 5; t < 15; t += 0.0137)
        assert_true(fabs(calc(&s, t, 0) - sin(t)) < 1e-13 && fabs(calc(&s, t, 2) + sin(t)) < 1e-6);
    bg_signal_clear(&s);
    free(text);
}

static void check_csv_error(const char *text, size_t length, const char *part)
{
    const double x[] = {0, 1}, y[] = {5, 7};
    bg_signal s = make_table(BG_SIGNAL_LINEAR, x, y, 2);
    bg_error err;
    bg_status st = read_text(&s, text, length, &err);
    if (st != BG_BAD_INPUT || !strstr(err.text, part))
        fail_msg("status %d, '%s', expected '%s'", st, err.text, part);
    assert_true(s.n == 2 && s.x[1] == 1 && s.y[1] == 7); /* as before */
    bg_signal_clear(&s);
}

#define CSV_ERROR(text, part) check_csv_error(text, sizeof text - 1, part)

static void test_csv_errors(void **state)
{
    (void)state;
    CSV_ERROR("", "line 0: the file ends with 0 points,");
    CSV_ERROR("t,u\n0,1\n", "line 2: the file ends with 1 point,");
    CSV_ERROR("0,1\n1,2\n1,3\n", "line 3: times must ascend, but 1 s follows 1 s");
    CSV_ERROR("t,u\n# x\n0,1\n-1,2\n", "line 4: times must ascend, but -1 s follows 0 s");
    CSV_ERROR("0,1\n1,two\n", "line 2: expected a number, not 'two'");
    CSV_ERROR("t,u\nt,u\n0,1\n1,2\n", "line 2: expected a number, not 't'");
    CSV_ERROR("0,abc\n1,2\n", "line 1: expected a number, not 'abc'");
    CSV_ERROR("1.2.3,4\n5,6\n", "line 1: expected a number, not '1.2.3'");
    CSV_ERROR("0,1\n1,nan\n", "line 2: numbers must be finite, not 'nan'");
    CSV_ERROR("0,1\ninf,1\n", "line 2: numbers must be finite, not 'inf'");
    CSV_ERROR("nan,nan\n0,1\n1,2\n", "line 1: numbers must be finite");
    CSV_ERROR("0,1\n1,1e999\n", "line 2: numbers must be finite");
    CSV_ERROR("0,1\n1\n", "line 2: expected a time and a value, not '1'");
    CSV_ERROR("0,1\n1,,2\n", "line 2: expected a number, not ''");
    CSV_ERROR("0,1,2\n1,2,3\n", "line 1: expected two columns");
    CSV_ERROR("0,1;0,5\n", "line 1: expected two columns, with decimal points, not '0'");
    CSV_ERROR("0,1\n\0\0\0\n1,2\n", "line 2: too long, or not text");
    CSV_ERROR("0,1\0002,3\n4,5\n", "line 1: too long, or not text");
    CSV_ERROR("0,1\n1,2\n\0", "line 3: too long, or not text");
    CSV_ERROR("0x10,0x20\n1,2\n2,3\n", "line 1: expected a decimal number, not '0x10'");
    CSV_ERROR("0,1\r1,0x2\r", "line 2: expected a decimal number, not '0x2'");
    char line[3000];
    memset(line, '1', sizeof line);
    check_csv_error(line, sizeof line, "line 1: too long");
    bg_signal s = {.kind = BG_SIGNAL_LINEAR};
    bg_error err = {0};
    assert_int_equal(bg_signal_read_csv(&s, "/nowhere/road.csv", &err), BG_IO);
    assert_non_null(strstr(err.text, "the table '/nowhere/road.csv' cannot be read: No such file"));
    assert_int_equal(bg_signal_read_csv(&s, "/tmp", &err), BG_IO);
    assert_non_null(strstr(err.text, "'/tmp' cannot be read: Is a directory"));
}

/* Lines end with LF, CR LF or CR: the same table each time. */
static void test_csv_line_ends(void **state)
{
    (void)state;
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (int i = 0; i < 3; i++) {
        char text[128];
        const char *e = ends[i];
        int n = snprintf(text, sizeof text, "# c%st,u%s0,1%s%s1,3%s4,-2%s", e, e, e, e, e,
                         i % 2 ? "" : e);
        bg_signal s = {.kind = BG_SIGNAL_LINEAR};
        bg_error err = {0};
        assert_int_equal(read_text(&s, text, (size_t)n, &err), BG_OK);
        assert_int_equal(s.n, 3);
        assert_true(s.x[2] == 4 && s.y[2] == -2);
        bg_signal_clear(&s);
    }
}

/* Damaged tables are read or refused, with nothing worse. */
static void test_random_csv(void **state)
{
    (void)state;
    static const char *pieces[] = {
        "0",  "1", "2.5", "-3", "nan",          ",",  ";", "\n",    "\n",   " ", "#", "t",
        "\t", "e", "1e9", "\r", "\xEF\xBB\xBF", "\"", ".", "7,8\n", "9,1\n"};
    uint64_t seed = 99;
    int read = 0;
    for (int i = 0; i < 3000; i++) {
        char text[512], *o = stpcpy(text, i % 3 ? "" : "-9,2\n-8,3\n");
        for (int k = 0; k < 1 + i % 12; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            o = stpcpy(o, pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)]);
        }
        bg_signal s = {.kind = i % 2 ? BG_SIGNAL_LINEAR : BG_SIGNAL_SPLINE};
        bg_error err;
        bg_status st = read_text(&s, text, (size_t)(o - text), &err);
        if (st == BG_OK) {
            prepare(&s);
            assert_true(isfinite(calc(&s, 1.5, 0)));
            read++;
        } else {
            assert_int_equal(st, BG_BAD_INPUT);
            assert_non_null(strstr(err.text, ", line "));
        }
        bg_signal_clear(&s);
    }
    assert_in_range(read, 100, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_sines),
        cmocka_unit_test(test_chirp),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_corners_and_roundoff),
        cmocka_unit_test(test_spline_of_a_line),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_spline_is_smooth),
        cmocka_unit_test(test_spline_order),
        cmocka_unit_test(test_expression),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_large_csv),
        cmocka_unit_test(test_csv_errors),
        cmocka_unit_test(test_csv_line_ends),
        cmocka_unit_test(test_random_csv),
    };
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}

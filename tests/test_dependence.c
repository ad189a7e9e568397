/* Which rows depend on others, carefully: random sparse rows, some of them combinations of others,
 * beside dense Gram-Schmidt orthogonalisation; and work along chains of loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/dependence.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { M = 24, N = 30, CASES = 300 };

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static double dot(const double *x, const double *y)
{
    double sum = 0;
    for (int j = 0; j < N; j++)
        sum += x[j] * y[j];
    return sum;
}

/* x <- what the rows of Q, orthonormal, leave of it; returns its length. */
static double take_out(double *x, double Q[][N], int rank)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < rank; p++) {
            const double h = dot(Q[p], x);
            for (int j = 0; j < N; j++)
                x[j] -= h * Q[p][j];
        }
    return sqrt(dot(x, x));
}

/* Rows with a few entries; some are sums of others and a bit more. */
static void make_rows(double A[M][N], signed char *order, double distance, unsigned *seed)
{
    for (int i = 0; i < M; i++) {
        order[i] = (signed char)(draw(seed) > 0.5 ? 1 : draw(seed) > 0.8 ? -1 : 0);
        for (int j = 0; j < N; j++)
            A[i][j] = draw(seed) > 0.6 ? draw(seed) : 0;
        if (i >= 2 && draw(seed) > 0.2)
            for (int j = 0; j < N; j++)
                A[i][j] = 2 * A[i - 1][j] - A[i - 2][j] +
                          (draw(seed) > 0.6 ? distance * draw(seed) : 0);
    }
}

static void fill(bg_dependence *d, double A[M][N], const signed char *order)
{
    assert_true(bg_dependence_begin(d, M, N, 0));
    for (int i = 0; i < M; i++) {
        d->order[i] = order[i];
        for (int j = 0; j < N; j++)
            if (A[i][j] != 0)
                assert_true(bg_dependence_add(d, i, j, A[i][j]));
    }
}

/* The rows kept are those of Gram-Schmidt by the same rule, and so is what remains of all, to what
 * rounding is magnified to by rows of which little remains. */
static void check_rows(const bg_dependence *d, double A[M][N], double tolerance)
{
    static double Q[M][N], rest[M][N];
    double left[M], least = 1;
    bool decided[M];
    for (int i = 0; i < M; i++) {
        memcpy(rest[i], A[i], sizeof rest[i]);
        left[i] = take_out(rest[i], Q, 0);
        decided[i] = d->order[i] < 0;
    }
    for (int rank = 0;; rank++) {
        const bg_candidates candidates = {M, left, decided, d->order};
        const int next = bg_candidates_find_next(&candidates, tolerance, tolerance);
        if (next < 0) {
            assert_int_equal(rank, d->rank);
            break;
        }
        assert_true(rank < d->rank);
        assert_int_equal(next, d->kept[rank]);
        assert_true(fabs(left[next] - d->remainder[next]) < 1e-13 / least);
        least = fmin(least, left[next]);
        decided[next] = true;
        for (int j = 0; j < N; j++)
            Q[rank][j] = rest[next][j] / left[next];
        for (int i = 0; i < M; i++) {
            memcpy(rest[i], A[i], sizeof rest[i]);
            left[i] = take_out(rest[i], Q, rank + 1);
        }
    }
    for (int i = 0; i < M; i++)
        if (d->dependent[i])
            assert_true(fabs(left[i] - d->remainder[i]) < 1e-13 / least);
}

/* Dependent rows are the sums that their parts say, but for what remains of them. */
static void check_parts(bg_dependence *d, double A[M][N])
{
    for (int i = 0; i < M; i++) {
        double rest[N], most = 1;
        memcpy(rest, A[i], sizeof rest);
        if (!d->dependent[i])
            continue;
        const int n = bg_dependence_calc_coefficients(d, i);
        for (int k = 0; k < n; k++)
            most = fmax(most, fabs(d->coefficient[k]));
        for (int k = 0; k < n; k++)
            for (int j = 0; j < N; j++)
                rest[j] -= d->coefficient[k] * A[d->part[k]][j];
        assert_true(fabs(sqrt(dot(rest, rest)) - d->remainder[i]) < 1e-13 * most);
    }
}

/* What all other kept rows leave of each. */
static void check_others(bg_dependence *d, double A[M][N])
{
    static double Q[M][N];
    double others[M];
    bg_dependence_calc_others(d, others);
    for (int i = 0; i < M; i++) {
        double rest[N];
        int n = 0;
        for (int k = 0; k < M && !d->dependent[i]; k++) {
            if (d->dependent[k] || k == i)
                continue;
            memcpy(Q[n], A[k], sizeof Q[n]);
            const double length = take_out(Q[n], Q, n);
            for (int j = 0; j < N; j++)
                Q[n][j] /= length;
            n++;
        }
        memcpy(rest, A[i], sizeof rest);
        if (!d->dependent[i])
            assert_true(fabs(take_out(rest, Q, n) - others[i]) < 1e-7 * others[i] + 1e-12);
    }
}

static void test_random_rows(void **state)
{
    (void)state;
    static double A[M][N];
    signed char order[M];
    const double distance[] = {0, 1e-12, 1e-7, 1e-4, 1e-2}, tolerance[] = {1e-10, 1e-9, 1e-5};
    bg_dependence d = {0};
    unsigned seed = 3;
    int dependent = 0, near = 0;
    for (int c = 0; c < CASES; c++) {
        make_rows(A, order, distance[c % 5], &seed);
        fill(&d, A, order);
        assert_true(bg_dependence_decide(&d, N, tolerance[c % 3], tolerance[c % 3]));
        check_rows(&d, A, tolerance[c % 3]);
        check_parts(&d, A);
        check_others(&d, A);
        for (int i = 0; i < M; i++) {
            dependent += d.dependent[i] && order[i] >= 0;
            near += !d.dependent[i] && d.remainder[i] < 1e-3;
        }
    }
    assert_true(dependent > CASES);
    assert_true(near > CASES);
    bg_dependence_clear(&d);
}

/* Where memory is settled, rows that need more are not decided upon, and those that need less are.
 */
static void test_settled(void **state)
{
    (void)state;
    static double A[M][N];
    signed char order[M];
    bg_dependence d = {0};
    unsigned seed = 3;
    make_rows(A, order, 1e-2, &seed);
    fill(&d, A, order);
    const size_t given = d.count;
    assert_true(bg_dependence_decide(&d, N, 1e-9, 1e-9));
    const size_t needed = d.count;
    assert_true(needed > given);
    for (size_t room = given; room <= needed; room++) {
        bg_dependence_clear(&d);
        assert_true(bg_dependence_settle(&d, M, N, room));
        fill(&d, A, order);
        assert_int_equal(bg_dependence_decide(&d, N, 1e-9, 1e-9), room == needed);
        assert_int_equal(d.full, room < needed);
    }
    assert_false(bg_dependence_begin(&d, M + 1, N, 0));
    bg_dependence_clear(&d);
}

/* Parallel cranks at this angle to the couplers between them, seen in axes that are turned, so that
 * no row is short: two rows for each of so many loops. */
static void fill_cranks(bg_dependence *d, int loops, double angle)
{
    assert_true(bg_dependence_begin(d, 2 * loops, 2 * loops + 1, 0));
    for (int i = 0; i < loops; i++)
        for (int axis = 0; axis < 2; axis++) {
            const double x = axis ? 0.8 : 0.6, y = axis ? -0.6 : 0.8;
            const double crank = -x * sin(angle) + y * cos(angle);
            bg_dependence_add(d, 2 * i + axis, 2 * i, crank);
            bg_dependence_add(d, 2 * i + axis, 2 * i + 1, y);
            bg_dependence_add(d, 2 * i + axis, 2 * i + 2, -crank);
        }
}

/* Cranks in one line, nearly so and far from it: work and memory grow with the number of loops. */
static void test_growth(void **state)
{
    (void)state;
    const double angles[] = {0, 1e-10, 1e-6, 1e-3, 0.5};
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
        double work[2], entries[2];
        for (int k = 0; k < 2; k++) {
            const int loops = k ? 1600 : 400;
            bg_dependence d = {0};
            fill_cranks(&d, loops, angles[a]);
            assert_true(bg_dependence_decide(&d, 2 * loops + 1, 1e-9, 1e-9));
            assert_int_equal(d.rank, angles[a] > 1e-9 ? 2 * loops : loops);
            for (int i = 0; i < 2 * loops; i++)
                if (d.dependent[i])
                    bg_dependence_calc_coefficients(&d, i);
            work[k] = (double)d.work;
            entries[k] = (double)d.count;
            bg_dependence_clear(&d);
        }
        assert_true(work[1] < pow(4, 1.15) * work[0]);
        assert_true(entries[1] < pow(4, 1.15) * entries[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_rows),
        cmocka_unit_test(test_settled),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pictures: traced regions against areas and boundaries that are known. */
#include "figure/figure.h"
#include "run_support.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_contour),
                                       cmocka_unit_test(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

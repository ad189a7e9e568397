/* The motions that constraints leave: as many as there are, kept by G, each with a coordinate of
 * its own; near singular positions, and of mechanisms that are far too long for dense elimination.
 */
#include "assembled_support.h"
#include "evaluator_support.h"
#include "model_support.h"

#include "consistent/freedoms.h"
#include "system/dynamics.h"

/* Freedoms at an assembled state: as many as `expected`, unless that is negative; constraints are
 * kept within `tolerance`. */
static int check(assembled *a, int expected, double tolerance)
{
    bg_error err = a->err;
    bg_freedoms f;
    bg_dynamics *d;
    if (a->status != BG_OK)
        fail_msg("%s", err.text);
    bg_evaluator *ev = new_evaluator(a->sys);
    assert_int_equal(bg_freedoms_create(ev, a->x, &a->report.redundancy, &f), BG_OK);
    if (expected >= 0)
        assert_int_equal(f.count, expected);
    assert_ok(bg_dynamics_create(ev, &d, &err));
    assert_ok(bg_dynamics_evaluate(d, a->x->t, a->x->q, a->x->v, a->x->z, a->x->mode,
                                   d->ng > 0 ? BG_TERM_G : 0u, &err));
    double *w = calloc((size_t)d->ng + 1, sizeof *w);
    for (int k = 0; k < f.count; k++) {
        const double *motion = f.basis + (size_t)k * (size_t)d->nv;
        double largest = 0;
        for (int c = 0; c < f.count; c++)
            assert_true(motion[f.column[c]] == (c == k ? 1 : 0));
        for (int i = 0; i < d->nv; i++)
            largest = fmax(largest, fabs(motion[i]));
        assert_true(k == 0 || f.column[k] > f.column[k - 1]);
        assert_true(largest < 100); /* the coordinate moves nearly as much as any */
        bg_matrix_multiply(d->ng, d->nv, a->sys->def.pattern_G, d->terms.G, motion, w);
        for (int i = 0; i < d->ng; i++) /* redundant rows as well */
            assert_near(w[i], 0, tolerance * largest);
    }
    int count = f.count;
    free(w);
    bg_dynamics_destroy(d);
    bg_freedoms_clear(&f);
    bg_evaluator_destroy(ev);
    return count;
}

static void test_models(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int freedom;
    } cases[] = {{"four-bar.json", 1},         {"five-link-suspension.json", 2},
                 {"double-wishbone.json", 3},  {"iftomm-a04-bricard.json", 1},
                 {"slider-crank-3d.json", 1},  {"front-axle.json", 6},
                 {"vehicle-trailer.json", 23}, {"n-pendulum.json", 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int form = 0; form < 2; form++) {
            assembled a = assembled_read(cases[k].file, NULL, NULL, forms[form]);
            check(&a, cases[k].freedom, 1e-9);
            assembled_clear(&a);
        }
}

/* Dense elimination of 17 927 columns would take hours. */
static void test_long(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        assembled a = assembled_read("iftomm-a02-four-bars.json", "parameters.N",
                                     SANITIZED ? "160" : "1280", forms[form]);
        check(&a, 1, 1e-9);
        assembled_clear(&a);
    }
}

/* A parallelogram on the way to the position in which its bars lie on one line: a second motion
 * becomes possible there; at any distance there is an answer, and it may call possible what is so
 * to within that distance. */
static void test_near_singular(void **state)
{
    (void)state;
    static const double angles[] = {1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0};
    for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
        char text[2048];
        double x = cos(angles[k]), z = sin(angles[k]);
        snprintf(text, sizeof text,
                 "{'gravity': 0, 'bodies': {'a': {'mass': 1, 'center': [%.17g, 0, %.17g], "
                 "'inertia': [1, 1, 1]}, 'b': {'mass': 1, 'center': [%.17g, 0, %.17g], 'inertia': "
                 "[1, 1, 1]}, 'c': {'mass': 1, 'center': [%.17g, 0, %.17g], 'inertia': [1, 1, 1]}},"
                 "'joints': {'pa': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0],"
                 " 'axis': [0, 1, 0]}, 'ab': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': "
                 "[%.17g, 0, %.17g], 'axis': [0, 1, 0]}, 'pc': {'type': 'revolute', 'bodies': "
                 "['ground', 'c'], 'at': [2, 0, 0], 'axis': [0, 1, 0]}, 'bc': {'type': "
                 "'point-on-line', 'bodies': ['b', 'c'], 'at': [%.17g, 0, %.17g], 'axis': [0, 1, "
                 "0]}}}",
                 x / 2, z / 2, x + 1, z, 2 + x / 2, z / 2, x, z, 2 + x, z);
        char *copy = quote(text);
        assembled a = assembled_parse(copy, "joint");
        int count = check(&a, -1, angles[k] < 1e-3 ? fmax(1e-9, 10 * angles[k]) : 1e-9);
        assert_in_range(count, 1, 2);
        if (angles[k] >= 1e-2)
            assert_int_equal(count, 1);
        if (angles[k] <= 1e-10)
            assert_int_equal(count, 2);
        assembled_clear(&a);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_near_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

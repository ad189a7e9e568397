/* Data with few digits: spatial mechanisms with redundant constraints, turned and printed with 5 to
 * 10 digits. The motion is that of all digits and the same in both forms, or the verdict says that
 * digits decide. */
#include "model_support.h"

#include "overconstrained.h"

typedef struct misfit_outcome {
    double y;
    double misfit; /* of redundant rows */
    bg_verdict verdict;
    bool remarked; /* what the digits come to was found out */
} misfit_outcome;

static misfit_outcome run_text(const char *json, const char *form, double tolerance)
{
    misfit_outcome x = {0};
    bg_error err = {BG_OK, ""};
    bg_model *model = NULL;
    bg_system *sys = NULL;
    bg_run_options o = bg_default_run_options();
    bg_run_report r = {0};
    assert_ok(bg_model_parse(json, "test", NULL, 0, &model, &err));
    o.integrator = "mdop8";
    o.method.rtol = o.method.atol = tolerance;
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    assert_ok(bg_run(sys, &o, &r, &err));
    x.y = r.y[0];
    x.misfit = r.assembly.redundancy.misfit;
    x.verdict = r.verdict;
    for (int i = 0; i < r.warnings.count; i++)
        x.remarked = x.remarked || strcmp(r.warnings.items[i].topic, "misfit") == 0;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return x;
}

/* One mechanism in both forms; whether it was called good. */
static bool check(void (*write)(text *, placement), placement at, int digits, const char *name)
{
    static text t;
    misfit_outcome x[2];
    at.digits = 17;
    write(&t, at);
    const misfit_outcome exact = run_text(t.buffer, "joint", 1e-9);
    at.digits = digits;
    write(&t, at);
    for (int f = 0; f < 2; f++) {
        x[f] = run_text(t.buffer, forms[f], 1e-7);
        if (!(fabs(x[f].y - exact.y) < 2e-3) && x[f].verdict == BG_GOOD)
            fail_msg("%s, %d digits, %s: off by %g, and good", name, digits, forms[f],
                     x[f].y - exact.y);
        if (x[f].verdict == BG_GOOD && x[f].misfit > 1e-11 && !x[f].remarked)
            fail_msg("%s, %d digits, %s: not compared", name, digits, forms[f]);
    }
    bool good = x[0].verdict == BG_GOOD && x[1].verdict == BG_GOOD;
    if (good && !(fabs(x[0].y - x[1].y) < 1e-5 + 1e3 * fmax(x[0].misfit, x[1].misfit)))
        fail_msg("%s, %d digits: %g apart, misfit %g", name, digits, x[0].y - x[1].y, x[0].misfit);
    return good;
}

/* A delta robot passes near singular positions, one after the other; the others do not. */
static void test_said(void **state)
{
    (void)state;
    static void (*const write[])(text *, placement) = {write_delta, write_sarrus, write_bennett};
    static const char *const name[] = {"delta", "Sarrus", "Bennett"};
    unsigned seed = 5;
    int good[3] = {0}, doubtful[3] = {0};
    for (int k = 0; k < (SANITIZED ? 1 : 2); k++)
        for (int digits = 5; digits <= 10; digits += SANITIZED ? 5 : 1)
            for (int n = 0; n < 3; n++) {
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                bool fine = check(write[n], at, digits, name[n]);
                good[n] += fine;
                doubtful[n] += !fine;
                if (!fine && digits >= (n == 0 ? 9 : 7))
                    fail_msg("%s, %d digits: doubtful without a reason", name[n], digits);
            }
    assert_true(good[0] > 0 && good[1] > 0 && good[2] > 0 && doubtful[0] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

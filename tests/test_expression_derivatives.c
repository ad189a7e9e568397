/* Gradients and jets of expressions: against differences at random points for every function and
 * for random formulas, and by hand on kinks and where nothing is defined. */
#include "expression_support.h"

/* Outside its domain a function has no derivatives either; a branch that is not taken does no harm.
 */
static void test_undefined_derivatives(void **state)
{
    (void)state;
    const double at[3] = {-1, 0, 2}, rates[3] = {1, 1, 1}, none[3] = {0};
    double gradient[3], jet[3];
    static const char *undefined[] = {"log(x)",  "log10(x)", "sqrt(x)", "asin(z)",
                                      "acos(z)", "x^0.5",    "mod(z,y)"};
    for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++) {
        bg_expression *e = create(undefined[i]);
        assert_true(isnan(bg_expression_calc_gradient(e, at, gradient)));
        bg_expression_calc_jet(e, at, rates, none, jet);
        if (!isnan(gradient[0]) || !isnan(jet[0]) || !isnan(jet[1]) || !isnan(jet[2]))
            fail_msg("'%s' has derivatives", undefined[i]);
        bg_expression_destroy(e);
    }
    bg_expression *e = create("if(x, sqrt(x), 3*z) + max(sqrt(y), z) + min(log(-x), z)");
    const int *variables;
    assert_int_equal(bg_expression_get_variables(e, &variables), 3);
    assert_int_equal(variables[0], 0);
    assert_int_equal(variables[1], 2); /* order of first use */
    assert_int_equal(variables[2], 1);
    assert_true(bg_expression_calc_gradient(e, at, gradient) == 8);
    assert_true(gradient[0] == -1 && gradient[1] == 4 && gradient[2] == 0);
    bg_expression_destroy(e);
    e = create("sqrt(step(x,0,1)) + 2*z"); /* sqrt has no slope at 0, but nothing moves there */
    assert_true(bg_expression_calc_gradient(e, at, gradient) == 4);
    assert_true(gradient[0] == 0 && gradient[1] == 2);
    bg_expression_destroy(e);
}

/* Central differences of fourth order, with an estimate of their error from half the step: the
 * check trusts them no further than that. */
typedef struct difference {
    double value, error;
} difference;

typedef double curve(void *self, double h);

static difference differentiate(curve *f, void *self, int order, double h)
{
    double d[2];
    for (int k = 0; k < 2; k++, h /= 2) {
        double m2 = f(self, -2 * h), m1 = f(self, -h), p1 = f(self, h), p2 = f(self, 2 * h);
        d[k] = order == 1 ? (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)
                          : (-m2 + 16 * m1 - 30 * f(self, 0) + 16 * p1 - p2) / (12 * h * h);
    }
    return (difference){d[1], fabs(d[0] - d[1])};
}

typedef struct expression_motion { /* values + h rates + h^2/2 second */
    const bg_expression *e;
    double values[VARIABLES], rates[VARIABLES], second[VARIABLES];
} expression_motion;

static double follow(void *self, double h)
{
    const expression_motion *m = self;
    double v[VARIABLES];
    for (int i = 0; i < VARIABLES; i++)
        v[i] = m->values[i] + h * m->rates[i] + h * h / 2 * m->second[i];
    return bg_expression_calc(m->e, v);
}

typedef struct derivative_tally {
    int agreed;
    int undecided; /* the differences are no good: a kink, a pole or a jump is near */
    int undefined; /* no derivative although differences exist: (-1)^(x/x) */
} derivative_tally;

static void compare(derivative_tally *t, const char *text, const char *what, double exact,
                    difference d, double size, double precision)
{
    double tolerance = precision * (fabs(d.value) + size);
    if (!(d.error <= tolerance)) {
        t->undecided++;
        return;
    }
    if (isnan(exact)) {
        t->undefined++;
        return;
    }
    if (!(fabs(exact - d.value) <= 4 * tolerance))
        fail_msg("'%s': %s %.12g, differences %.12g (tolerance %.2g)", text, what, exact, d.value,
                 tolerance);
    t->agreed++;
}

/* Gradient along each axis and jet along a random parabola, at one random point. */
static void check_derivatives(derivative_tally *t, const char *text, const bg_expression *e,
                              uint64_t *seed, double low, double high)
{
    expression_motion m = {.e = e};
    for (int i = 0; i < VARIABLES; i++) {
        m.values[i] = uniform(seed, low, high);
        m.rates[i] = uniform(seed, -1, 1);
        m.second[i] = uniform(seed, -1, 1);
    }
    double gradient[VARIABLES], jet[3];
    const int *variables;
    int n = bg_expression_get_variables(e, &variables);
    double u = bg_expression_calc_gradient(e, m.values, gradient);
    bg_expression_calc_jet(e, m.values, m.rates, m.second, jet);
    assert_true(u == jet[0] || (isnan(u) && isnan(jet[0])));
    if (!isfinite(u) || fabs(u) > 1e6)
        return;
    double along = 0, size = 1 + fabs(u);
    for (int k = 0; k < n; k++) {
        along += gradient[k] * m.rates[variables[k]];
        expression_motion axis = {.e = e};
        memcpy(axis.values, m.values, sizeof axis.values);
        axis.rates[variables[k]] = 1;
        compare(t, text, "gradient", gradient[k], differentiate(follow, &axis, 1, 2e-3), size,
                1e-8);
    }
    if (isfinite(along) && isfinite(jet[1]) && fabs(along - jet[1]) > 1e-11 * (fabs(along) + size))
        fail_msg("'%s': gradient times rate %.17g, jet %.17g", text, along, jet[1]);
    compare(t, text, "first derivative", jet[1], differentiate(follow, &m, 1, 2e-3), size, 1e-8);
    compare(t, text, "second derivative", jet[2], differentiate(follow, &m, 2, 4e-3), size, 1e-6);
}

static void test_derivatives_of_functions(void **state)
{
    (void)state;
    static const char *texts[] = {
        "-x",
        "x+y",
        "x-y",
        "x*y",
        "x/y",
        "x^y",
        "x^2",
        "x^3",
        "2^x",
        "x^-1.5",
        "sin(x*y)",
        "cos(x+y*y)",
        "tan(x)",
        "asin(x*y/2)",
        "acos(x*y/2)",
        "atan(3*x-y)",
        "atan2(y,x)",
        "atan2(x-1.5,y)",
        "atan2(1.5-x,-y)",
        "atan2(x-1.5,y-1.5)",
        "sinh(x*y)",
        "cosh(x*y)",
        "tanh(2*x*y)",
        "exp(-x*y)",
        "log(x*y)",
        "log10(x+y)",
        "sqrt(x*y)",
        "abs(x-y)",
        "sign(x-y)",
        "floor(3*x)",
        "min(x*x,y)",
        "max(x*x,y)",
        "min(x,y*y,z)",
        "max(x,y,z*z)",
        "mod(3*x,y)",
        "mod(-3*x,y)",
        "step(x,0.3,0.9)",
        "step(x,y,z+1)",
        "step(x,z+1,y)",
        "step5(x,0.3,0.9)",
        "step5(x,y,z+1)",
        "step5(x,z+1,y)",
        "smooth(x-y,0.3)",
        "smooth(x-y,z)",
        "hypot(x-y,z)",
        "pow(x,y*z)",
        "if(x-y,x*y,z*z)",
    };
    enum { POINTS = 200 };
    uint64_t seed = 20240601;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bg_expression *e = create(texts[i]);
        derivative_tally t = {0};
        for (int k = 0; k < POINTS; k++)
            check_derivatives(&t, texts[i], e, &seed, 0.2, 1.3);
        if (t.undecided > t.agreed / 10 || t.undefined > 0)
            fail_msg("'%s': only %d of %d agree, %d undefined", texts[i], t.agreed,
                     t.agreed + t.undecided, t.undefined);
        bg_expression_destroy(e);
    }
}

/* Powers of negative numbers with constant exponents, at the origin too. */
static void test_powers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double x, jet[3]; /* with x' = 1, x'' = 0 */
    } cases[] = {
        {"x^2", -3, {9, -6, 2}}, {"x^3", -2, {-8, 12, -12}}, {"x^2", 0, {0, 0, 2}},
        {"x^1", 0, {0, 1, 0}},   {"x^0", 0, {1, 0, 0}},      {"x^3", 0, {0, 0, 0}},
        {"x^-2", -1, {1, 2, 6}},
    };
    const double rate = 1, second = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_expression *e = create(cases[i].text);
        double jet[3], gradient;
        bg_expression_calc_jet(e, &cases[i].x, &rate, &second, jet);
        bg_expression_calc_gradient(e, &cases[i].x, &gradient);
        for (int k = 0; k < 3; k++)
            assert_true(jet[k] == cases[i].jet[k]);
        assert_true(gradient == cases[i].jet[1]);
        bg_expression_destroy(e);
    }
}

/* On a kink: right-hand derivatives of the whole, whatever stands inside. */
static void test_kinks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double x, slope, bend; /* to the right */
    } cases[] = {
        {"abs(x)", 0, 1, 0},           {"abs(-x)", 0, 1, 0},
        {"-abs(-2*x)", 0, -2, 0},      {"max(x,0)", 0, 1, 0},
        {"max(0,x)", 0, 1, 0},         {"max(0,-x)", 0, 0, 0},
        {"min(0,x)", 0, 0, 0},         {"min(x,2*x)", 0, 1, 0},
        {"max(2*x,x)", 0, 2, 0},       {"min(x^2,x)", 1, 1, 0},
        {"max(x^2,x)", 1, 2, 2},       {"max(x^2,0)", 0, 0, 2},
        {"min(x^2,-x^2)", 0, 0, -2},   {"abs(x^2)", 0, 0, 2},
        {"smooth(x,0)", 0, 1, 0},      {"hypot(3*x,-4*x)", 0, 5, 0},
        {"hypot(x^2,0)", 0, 0, 2},     {"hypot(x+x^2,0)", 0, 1, 2},
        {"hypot(-x+x^2,0)", 0, 1, -2}, {"step(x,0,2)", 0, 0, 1.5},
        {"step(x,0,2)", 2, 0, 0},      {"step(-x,0,2)", 0, 0, 0},
        {"step5(x,0,2)", 0, 0, 0},     {"step5(x,0,2)", 2, 0, 0},
        {"step(-x,-2,0)", 0, 0, -1.5}, {"max(abs(x),abs(3*x))", 0, 3, 0},
        {"5*x+0*abs(x)", 0, 5, 0},     {"if(x,x,abs(x))", 0, 1, 0},
        {"mod(x,3)", 3, 1, 0},
    };
    const double rate = 1, second = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_expression *e = create(cases[i].text);
        double jet[3], gradient;
        bg_expression_calc_jet(e, &cases[i].x, &rate, &second, jet);
        double u = bg_expression_calc_gradient(e, &cases[i].x, &gradient);
        if (u != jet[0] || gradient != cases[i].slope || jet[1] != cases[i].slope ||
            jet[2] != cases[i].bend)
            fail_msg("'%s' at %g: gradient %g, jet %g %g; expected %g, %g", cases[i].text,
                     cases[i].x, gradient, jet[1], jet[2], cases[i].slope, cases[i].bend);
        bg_expression_destroy(e);
    }
    bg_expression *e = create("abs(x)*y+z"); /* several variables, one of them on a kink */
    double gradient[3];
    assert_true(bg_expression_calc_gradient(e, (double[]){0, -3, 2}, gradient) == 2);
    assert_true(gradient[0] == -3 && gradient[1] == 0 && gradient[2] == 1);
    bg_expression_destroy(e);
}

static void test_derivatives_of_random_expressions(void **state)
{
    (void)state;
    enum { EXPRESSIONS = 2000, POINTS = 5 };
    uint64_t seed = 71;
    derivative_tally t = {0};
    for (int i = 0; i < EXPRESSIONS; i++) {
        char text[4096];
        *write_random(&seed, 1 + i % 4, text) = '\0';
        bg_expression *e = create(text);
        for (int k = 0; k < POINTS; k++)
            check_derivatives(&t, text, e, &seed, 0.2, 2);
        bg_expression_destroy(e);
    }
    print_message("%d derivatives agree, %d undecided, %d undefined\n", t.agreed, t.undecided,
                  t.undefined);
    assert_true(t.agreed > 10000);
    assert_true(t.undecided < t.agreed / 20);
    assert_true(t.undefined < t.agreed / 500);
}

/* The result of the longest chain is right, and reuse of the object changes nothing. */
static void test_long_expression(void **state)
{
    (void)state;
    char *text = repeat("x", "*1.5+y-0.25*x", 249, "");
    bg_expression *e = create(text);
    const double v[2] = {1e-30, 2e-30};
    double u = v[0], gradient[2], again[2], jet[3];
    for (int i = 0; i < 249; i++)
        u = i == 0 ? v[0] * 1.5 + v[1] : u - 0.25 * v[0] * 1.5 + v[1];
    u -= 0.25 * v[0];
    double first = bg_expression_calc_gradient(e, v, gradient);
    bg_expression_calc_jet(e, v, (double[]){1, 0}, (double[]){0, 0}, jet);
    double second = bg_expression_calc_gradient(e, v, again);
    assert_true(fabs(first - u) <= 1e-12 * fabs(u));
    assert_true(first == second && memcmp(gradient, again, sizeof again) == 0);
    assert_true(fabs(gradient[0] - (1.5 - 0.375 * 248 - 0.25)) < 1e-11 && gradient[1] == 249);
    assert_true(fabs(jet[1] - gradient[0]) < 1e-11);
    bg_expression_destroy(e);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undefined_derivatives),
        cmocka_unit_test(test_derivatives_of_functions),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_derivatives_of_random_expressions),
        cmocka_unit_test(test_long_expression),
    };
    return cmocka_run_group_tests_name("expression derivatives", tests, NULL, NULL);
}

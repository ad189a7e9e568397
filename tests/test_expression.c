/* Expressions: values against C, units and shadowing, every error with its column, and random texts
 * that must never do harm. */
#include "expression_support.h"

static double calc(const char *text, const double *values)
{
    bg_expression *e = create(text);
    double u = bg_expression_calc(e, values);
    bg_expression_destroy(e);
    return u;
}

static void check_value(const char *text, const double *values, double expected)
{
    double u = calc(text, values);
    if (!(fabs(u - expected) <= 4e-16 * fabs(expected)) && !(isnan(u) && isnan(expected)) &&
        u != expected)
        fail_msg("'%s' = %.17g, expected %.17g", text, u, expected);
}

static void test_numbers_and_precedence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},         {"1e-3", 1e-3}, {"2.5E4", 2.5e4},    {".5", 0.5},   {"3.", 3},
        {"3.e2", 300},    {"1e+2", 100},  {"  1 \t+\n2\r", 3}, {"1+2*3", 7},  {"(1+2)*3", 9},
        {"2-3-4", -5},    {"2-(3-4)", 3}, {"16/4/2", 2},       {"16/4*2", 8}, {"-2^2", -4},
        {"(-2)^2", 4},    {"2^3^2", 512}, {"(2^3)^2", 64},     {"2^-1", 0.5}, {"2^-2^2", 0.0625},
        {"-2^-2", -0.25}, {"--3", 3},     {"2--3", 5},         {"2*-3", -6},  {"+4", 4},
        {"-3*2", -6},     {"2*3^2", 18},  {"((((7))))", 7},    {"1e-400", 0}, {"179e306", 179e306},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_value(cases[i].text, NULL, cases[i].value);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"25*mm", 0.025},
        {"30*deg", M_PI / 6},
        {"10*mph", 4.4704},
        {"20*kN/m", 20000},
        {"36*kmh", 10},
        {"36*kph", 10},
        {"2*m", 2},
        {"3*cm", 0.03},
        {"4*km", 4000},
        {"5*s", 5},
        {"6*ms", 0.006},
        {"7*min", 420},
        {"8*h", 28800},
        {"9*kg", 9},
        {"10*g", 0.01},
        {"11*t", 11000},
        {"12*N", 12},
        {"13*MN", 13e6},
        {"14*J", 14},
        {"15*W", 15},
        {"16*kW", 16000},
        {"17*Pa", 17},
        {"18*kPa", 18000},
        {"19*MPa", 19e6},
        {"2.5*bar", 2.5e5},
        {"1.5*rad", 1.5},
        {"0.5*rev", M_PI},
        {"21*Hz", 21},
        {"60*rpm", 2 * M_PI},
        {"2*g0", 19.6133},
        {"pi", M_PI},
        {"e", M_E},
        {"1e0*e", M_E},
        {"kN/mm^2", 1e9},
        {"min(3,2)*min", 120},
        {"5*N*m/rad", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_value(cases[i].text, NULL, cases[i].value);
}

/* Every function at three points against the same function of C; outside their domains NaN. */
static void test_functions(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double v[] = {0.3 + 0.2 * i, -0.7 * i + 0.1, 1.5 - i}, x = v[0], y = v[1], z = v[2];
        const double s = (x - 0.2) / 0.6;
        const struct {
            const char *text;
            double value;
        } cases[] = {
            {"sin(x)", sin(x)},
            {"cos(x)", cos(x)},
            {"tan(x)", tan(x)},
            {"asin(x)", asin(x)},
            {"acos(x)", acos(x)},
            {"atan(y)", atan(y)},
            {"atan2(y,z)", atan2(y, z)},
            {"sinh(y)", sinh(y)},
            {"cosh(y)", cosh(y)},
            {"tanh(y)", tanh(y)},
            {"exp(y)", exp(y)},
            {"log(x)", log(x)},
            {"log10(x)", log10(x)},
            {"sqrt(x)", sqrt(x)},
            {"abs(y)", fabs(y)},
            {"sign(y)", y > 0 ? 1 : -1},
            {"min(x,y)", fmin(x, y)},
            {"max(x,y)", fmax(x, y)},
            {"min(x,y,z)", fmin(x, fmin(y, z))},
            {"max(x,y,z,0.5)", fmax(fmax(x, 0.5), fmax(y, z))},
            {"floor(y)", floor(y)},
            {"mod(y,x)", y - x * floor(y / x)},
            {"step(x,0.2,0.8)", s * s * (3 - 2 * s)},
            {"step5(x,0.2,0.8)", s * s * s * (10 - 15 * s + 6 * s * s)},
            {"smooth(y,x)", sqrt(x * x + y * y)},
            {"hypot(y,z)", hypot(y, z)},
            {"pow(x,y)", pow(x, y)},
            {"x^y", pow(x, y)},
            {"if(y,x,z)", y > 0 ? x : z},
        };
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            double u = calc(cases[k].text, v);
            if (!(fabs(u - cases[k].value) <= 1e-15))
                fail_msg("'%s' = %.17g, expected %.17g", cases[k].text, u, cases[k].value);
        }
    }
}

static void test_ends_of_functions(void **state)
{
    (void)state;
    const double none[6] = {0};
    check_value("step(0.1,0.2,0.8)", none, 0);
    check_value("step(0.2,0.2,0.8)", none, 0);
    check_value("step(0.8,0.2,0.8)", none, 1);
    check_value("step(9,0.2,0.8)", none, 1);
    check_value("step(0.1,0.8,0.2)", none, 1); /* falling */
    check_value("step(0.5,0.5,0.5)", none, 1); /* a jump */
    check_value("step(0.4,0.5,0.5)", none, 0);
    check_value("step5(0.1,0.2,0.8)", none, 0);
    check_value("step5(9,0.2,0.8)", none, 1);
    check_value("step5(0,-2,2)", none, 0.5);
    check_value("step5(0.1,0.8,0.2)", none, 1); /* falling */
    check_value("step5(0.5,0.5,0.5)", none, 1); /* a jump */
    check_value("sign(0)", none, 0);
    check_value("mod(-1,3)", none, 2);
    check_value("mod(1,-3)", none, -2);
    check_value("mod(6,3)", none, 0);
    check_value("if(0,1,2)", none, 2);
    check_value("x^0", none, 1);
    check_value("wheel.z+1", (double[]){0, 0, 0, 0, 0, 41}, 42);
    static const char *undefined[] = {
        "sqrt(-1)",       "log(-1)",        "log10(-2)", "asin(2)",       "acos(-1.1)",
        "(-8)^0.5",       "mod(1,0)",       "0/0",       "min(0/0,1)",    "min(1,0/0)",
        "max(0/0,1)",     "if(0/0,1,2)",    "sign(0/0)", "step(0/0,0,0)", "step(1,0/0,2)",
        "step5(0/0,0,0)", "step5(1,0/0,2)", "abs(0/0)",  "floor(0/0)",    "1/0-1/0",
    };
    for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++)
        check_value(undefined[i], none, NAN);
}

/* Names known to the caller hide units and constants of the same name, but not functions. */
static int resolve_shadowing(void *self, const char *name, double *constant)
{
    ++*(int *)self;
    *constant = 100;
    return strcmp(name, "t") == 0     ? 0
           : strcmp(name, "e") == 0   ? -2
           : strcmp(name, "min") == 0 ? 1
                                      : -1;
}

static void test_shadowing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"2*t", 6},        {"e", 100},    {"min*2", 10},
                 {"min(min,t)", 3}, {"g*1000", 1}, {"exp(1)/e", M_E / 100}};
    const double values[2] = {3, 5};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_expression *e;
        int asked = 0;
        assert_int_equal(bg_expression_create(cases[i].text, resolve_shadowing, &asked, &e, NULL),
                         BG_OK);
        assert_true(asked > 0);
        double u = bg_expression_calc(e, values);
        assert_true(fabs(u - cases[i].value) <= 4e-16 * cases[i].value);
        bg_expression_destroy(e);
    }
    bg_expression *e;
    assert_int_equal(bg_expression_create("2*t", NULL, NULL, &e, NULL), BG_OK);
    assert_true(bg_expression_calc(e, NULL) == 2000); /* tonnes */
    bg_expression_destroy(e);
}

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int variables;
    } cases[] = {{"2*k+sin(30*deg)", 0}, {"k", 0},   {"x", 1},
                 {"x+y*x", 2},           {"0*z", 1}, {"if(1,2,x)", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bg_expression *e = create(cases[i].text);
        assert_int_equal(bg_expression_get_variables(e, NULL), cases[i].variables);
        assert_int_equal(bg_expression_is_constant(e), cases[i].variables == 0);
        bg_expression_destroy(e);
    }
    bg_expression *e = create("k^2+1");
    double gradient[1], jet[3];
    assert_true(bg_expression_calc_gradient(e, NULL, gradient) == 50);
    bg_expression_calc_jet(e, NULL, NULL, NULL, jet);
    assert_true(jet[0] == 50 && jet[1] == 0 && jet[2] == 0);
    bg_expression_destroy(e);
}

static void check_error(const char *text, int column, const char *part)
{
    char place[32];
    snprintf(place, sizeof place, "column %d: ", column);
    bg_error err = {0};
    bg_expression *e = (bg_expression *)&err;
    bg_status st = bg_expression_create(text, resolve, NULL, &e, &err);
    if (st != BG_BAD_INPUT || e || err.status != st || !strstr(err.text, place) ||
        !strstr(err.text, part))
        fail_msg("'%.80s': status %d, '%s'; expected '%s...%s'", text, st, err.text, place, part);
    assert_int_equal(bg_expression_create(text, resolve, NULL, &e, NULL), BG_BAD_INPUT);
}

static void test_errors(void **state)
{
    (void)state;
    check_error("", 1, "empty");
    check_error(" \t\n", 1, "empty");
    check_error("(1+2", 5, "')' for the '(' in column 1, but the text ends");
    check_error("2*(3+sin(x)", 12, "')' for the '(' in column 3");
    check_error("sin(x", 6, "')' for the '(' in column 4");
    check_error("1+2)", 4, "this ')' has no '('");
    check_error("()", 2, "expected a number, a name or '(', found ')'");
    check_error("1+", 3, "but the text ends here");
    check_error("1+*2", 3, "found '*'");
    check_error("*2", 1, "found '*'");
    check_error("2 3", 3, "expected an operator or the end, found '3'");
    check_error("25mm", 3, "an operator such as *");
    check_error("0x10", 2, "an operator such as *");
    check_error("1e", 2, "an operator such as *");
    check_error("1.2.3", 4, "found '.'");
    check_error(".", 1, "found '.'");
    check_error("x y", 3, "found 'y'");
    check_error("x = 3", 3, "found '='");
    check_error("1,5", 2, "outside the arguments");
    check_error("2*sped", 3, "unknown name 'sped'");
    check_error("sine(x)", 1, "unknown function 'sine'; did you mean 'sin'?");
    check_error("1 + sqr(x)", 5, "did you mean 'sqrt'?");
    check_error("3*Mm", 3, "did you mean 'mm'?");
    check_error("3*degs", 3, "did you mean 'deg'?");
    check_error("3*kn", 3, "did you mean 'kN'?");
    check_error("2*q", 3, "no variable, unit or constant is called so");
    check_error("qqqqqq(2)", 1, "unknown function 'qqqqqq'");
    check_error("x(2)", 1, "unknown function 'x'");
    check_error("sin*2", 1, "'sin' needs its arguments in parentheses");
    check_error("1+sin()", 3, "'sin' takes 1 argument, not 0");
    check_error("sin(1,2)", 1, "'sin' takes 1 argument, not more");
    check_error("atan2(1)", 1, "'atan2' takes 2 arguments, not 1");
    check_error("step(1,2)", 1, "'step' takes 3 arguments, not 2");
    check_error("if(1,2,3,4)", 1, "'if' takes 3 arguments, not more");
    check_error("min(1)", 1, "'min' takes two or more arguments, not 1");
    check_error("max()", 1, "two or more arguments, not 0");
    check_error("min(1,2,)", 9, "found ')'");
    check_error("min(,1)", 5, "found ','");
    check_error("1e999", 1, "too large");
    check_error("2+1e309", 3, "too large");
    check_error("2*x#", 4, "found '#'");
    check_error("x + \xC3\xA9 ", 5, "found '\xC3\xA9'");
    check_error("x*\xE2\x88\x92+\xE2\x88\x92", 3, "found '\xE2\x88\x92'");
    check_error("x\xFFy", 2, "byte 0xFF");
    check_error("x\xC3", 2, "byte 0xC3");
    check_error("x\x01", 2, "byte 0x01");
    check_error("sin(\xC3\xA9", 5, "expected");
}

static void check_repeated(const char *start, const char *piece, int n, const char *end, int column,
                           const char *part)
{
    char *text = repeat(start, piece, n, end);
    if (part)
        check_error(text, column, part);
    else
        bg_expression_destroy(create(text));
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    char *close = repeat("x", ")", 100, "");
    check_repeated("", "(", 100, close, 0, NULL);
    check_repeated("(", "(", 100, close, 102, "nested deeper than 100");
    free(close);
    check_repeated("", "-", 100, "x", 0, NULL);
    check_repeated("", "-", 101, "x", 102, "nested deeper than 100");
    check_repeated("x", "^x", 100, "", 0, NULL);
    check_repeated("x", "^x", 101, "", 203, "nested deeper than 100");
    check_repeated("", "sin(", 5000 / 4, "", 405, "nested deeper than 100");
    check_repeated("", "(", 10000, "", 102, "nested deeper than 100");
    check_repeated("x", "+x", 1000, "", 0, NULL);
    check_repeated("x", "+x", 1001, "", 2002, "more than 1000 operations");
    check_repeated("x", "+1", 1001, "", 2002, "more than 1000 operations");
    check_repeated("1", "+1", 1001, "", 2002, "more than 1000 operations");
    check_repeated("max(x", ",1", 1000, ")", 0, NULL);
    check_repeated("max(x", ",1", 1001, ")", 1, "more than 1000 operations");
    check_repeated("x", " ", 9999, "", 0, NULL);
    check_repeated("x", " ", 10000, "", 10001, "longer than 10000");
    check_repeated("", "a", 127, "", 1, "unknown name");
    check_repeated("", "a", 128, "", 1, "more than 127 characters");
    check_repeated("0.", "0", 9000, "1e9001", 0, NULL);
    check_repeated("", "9", 400, "", 1, "too large");
}

static void exercise(const char *text)
{
    bg_error err = {0};
    bg_expression *e;
    bg_status st = bg_expression_create(text, resolve, NULL, &e, &err);
    if (st != BG_OK) {
        if (st != BG_BAD_INPUT || e || !strstr(err.text, "column "))
            fail_msg("status %d, '%s'", st, err.text);
        return;
    }
    const double v[6] = {0, 1, -2, 3, 4, 5};
    const int *variables;
    double gradient[6], jet[3], u = bg_expression_calc(e, v);
    assert_in_range(bg_expression_get_variables(e, &variables), 0, 4);
    double w = bg_expression_calc_gradient(e, v, gradient);
    bg_expression_calc_jet(e, v, v, v, jet);
    assert_true((u == w && u == jet[0]) || (isnan(u) && isnan(w) && isnan(jet[0])));
    bg_expression_destroy(e);
}

/* Random bytes, and random tokens, which get further. */
static void test_random_texts(void **state)
{
    (void)state;
    static const char *tokens[] = {
        "+",       "-",      "*",    "/",    "^",        "(",      "(",     ")",
        ")",       ",",      "x",    "y",    "z",        "k",      "1",     "0",
        "2.5",     "1e300",  "1e-9", "3.",   ".5",       "sin(",   "cos(",  "log(",
        "if(",     "min(",   "max(", "mod(", "step(",    "hypot(", "pow(",  "abs(",
        "sqrt(",   "floor(", "min",  "deg",  "mm",       "pi",     "e",     " ",
        "wheel.z", "foo",    "1e",   ".",    "\xC3\xA9", "\xE2",   "asin(", "tan(",
    };
    enum { TEXTS = 100000, TOKENS = sizeof tokens / sizeof *tokens };
    uint64_t seed = 4711;
    for (int i = 0; i < TEXTS; i++) {
        char text[512], *o = text;
        int n = 1 + choose(&seed, 40);
        for (int k = 0; k < n; k++) {
            if (i % 2)
                o = stpcpy(o, tokens[choose(&seed, TOKENS)]);
            else
                *o++ = (char)(1 + choose(&seed, 255));
        }
        *o = '\0';
        exercise(text);
    }
}

/* Well-formed texts with one byte changed, which reach every corner of the parser. */
static void test_damaged_texts(void **state)
{
    (void)state;
    uint64_t seed = 1234;
    for (int i = 0; i < 20000; i++) {
        char text[4096];
        char *end = write_random(&seed, 1 + i % 4, text);
        *end = '\0';
        int at = choose(&seed, (int)(end - text));
        text[at] = i % 2 ? "+-*/^(),.exyz0 "[choose(&seed, 15)] : (char)(1 + choose(&seed, 255));
        exercise(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_precedence),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_ends_of_functions),
        cmocka_unit_test(test_shadowing),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_damaged_texts),
    };
    return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}

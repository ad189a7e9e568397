/* Pairs of tableaus: every order condition, intervals of stability by exact factorisation, flags,
 * families, and tableau files that are refused. */
#include "folder_support.h"
#include "integrators/prk_pair.h"
#include "run_support.h"

#include <complex.h>

/* All pairs meet their conditions, to 1e-12 but for the eight digits of 004, and have no higher
 * order than they say. */
static void test_conditions(void **state)
{
    (void)state;
    static const int expected[] = {2, 6, 20, 72};
    int pairs = 0;
    for (const char *name; (name = bg_prk_pair_get_name(pairs)); pairs++) {
        bg_prk_pair p;
        bg_prk_condition list[BG_PRK_CONDITIONS], worst;
        assert_true(bg_prk_pair_find(name, &p));
        assert_string_equal(p.name, name);
        for (int order = 1; order <= 4; order++)
            assert_int_equal(bg_prk_pair_calc_conditions(&p, order, list), expected[order - 1]);
        double missed = bg_prk_pair_find_worst(&p, p.order, &worst);
        print_message("%-14s order %d, %d of %d stages are slow, conditions to %.1e (%s)\n", name,
                      p.order, p.nslow, p.stages, missed, worst.name);
        assert_true(missed <= p.tolerance);
        assert_true(strcmp(name, "prk25-paper") == 0 ? missed > 1e-10 : missed < 1e-14);
        assert_int_equal(bg_prk_pair_calc_order(&p, 1e-7), p.order);
        bool plain = strstr(name, "paper") || strstr(name, "euler");
        assert_true(p.equal_weights == !plain);
        assert_true(p.equal_abscissae == (!plain || strcmp(name, "dual-euler") == 0));
        assert_true(p.nslow == (name[0] == 'p' ? name[3] - '0' : 1));
    }
    assert_int_equal(pairs, 12);
}

/* The order conditions are those of trees: a random pair with three slow stages that meets them by
 * chance does not exist, and each condition sees a change of coefficients that it names. */
static void test_sensitivity(void **state)
{
    (void)state;
    bg_prk_pair p, q;
    bg_prk_condition before[BG_PRK_CONDITIONS], after[BG_PRK_CONDITIONS];
    bool seen[BG_PRK_CONDITIONS] = {false};
    bg_prk_pair_find("prk48", &p);
    int n = bg_prk_pair_calc_conditions(&p, 4, before);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < p.stages; i++)
            for (int j = 0; j <= i; j++) {
                q = p;
                if (j < i)
                    q.of[k].a[i][j] += 1e-3;
                else
                    q.of[k].b[i] += 1e-3;
                bg_prk_pair_update(&q);
                bg_prk_pair_calc_conditions(&q, 4, after);
                for (int m = 0; m < n; m++) {
                    bool changed = fabs(after[m].value - before[m].value) > 1e-9;
                    const char *hat = strchr(before[m].name, '^');
                    if (changed && k == BG_PRK_FAST) /* it has a factor of the fast tableau */
                        assert_non_null(hat);
                    seen[m] = seen[m] || changed;
                }
            }
    for (int m = 0; m < n; m++)
        assert_true(seen[m]);
}

static double complex evaluate(const double *beta, int s, double complex z)
{
    double complex sum = 0;
    for (int k = s; k >= 0; k--)
        sum = sum * z + beta[k];
    return sum;
}

/* |R(iy)|^2 - 1 = u^m times factors, u = y^2, as the source of each interval says. */
static void test_intervals(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double end, digits;
        double zero; /* power of u */
        double scale, simple, twice[2];
    } cases[] = {
        {"prk25", 4, 1e-13, 2, 16384, 16, {8, -1}},
        {"prk25-paper", 4, 1e-6, 2, 16384, 16, {8, -1}},
        {"prk26", 4.898979485566356, 1e-13, 3, 1166400, 24, {15, -1}},
        {"prk36", 4.898979485566356, 1e-13, 3, 1166400, 24, {15, -1}},
        {"prk36b", 4.898979485566356, 1e-13, 3, 1166400, 24, {15, -1}},
        {"prk27", 6, 1e-13, 2, 76527504, 36, {27, 9}},
        {"prk28",
         6.928203230275509,
         1e-13,
         3,
         9364045824,
         48,
         {38.58300524425836, 17.41699475574164}},
        {"prk38",
         6.928203230275509,
         1e-13,
         3,
         9364045824,
         48,
         {38.58300524425836, 17.41699475574164}},
        {"prk48",
         6.928203230275509,
         1e-11,
         3,
         9364045824,
         48,
         {38.58300524425836, 17.41699475574164}},
        {"prk35",
         3.91328,
         1e-12,
         2,
         1 / (0.006164814281607056 * 0.006164814281607056),
         15.3138,
         {5.685, -1}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_prk_pair p;
        double beta[BG_PRK_STAGES + 1], largest = 0;
        assert_true(bg_prk_pair_find(cases[k].name, &p));
        bg_tableau_calc_polynomial(&p.of[BG_PRK_FAST], p.stages, beta);
        for (int i = 0; i <= 4000; i++) {
            double y = cases[k].end * i / 4000, u = y * y,
                   R = cabs(evaluate(beta, p.stages, I * y));
            double exact = pow(u, cases[k].zero) * (u - cases[k].simple) / cases[k].scale;
            for (int j = 0; j < 2 && cases[k].twice[j] > 0; j++)
                exact *= (u - cases[k].twice[j]) * (u - cases[k].twice[j]);
            bool rounded = strcmp(cases[k].name, "prk35") == 0;
            assert_true(fabs(R * R - 1 - exact) < (rounded ? 2e-4 : fmax(cases[k].digits, 1e-12)));
            largest = fmax(largest, R - 1);
        }
        print_message("%-12s |R(iy)| <= 1 + %.1e up to y = %.6f\n", cases[k].name, fmax(0, largest),
                      cases[k].end);
        assert_true(largest < (cases[k].digits > 1e-7 ? 2e-7 : 1e-9));
        double beyond = cabs(evaluate(beta, p.stages, I * cases[k].end * 1.001));
        assert_true(beyond > 1 + 1e-4);
    }
}

static double draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* Members of the families: dual-rate Euler with any number of short steps, and Table 4, which has
 * order 1 and never 2, whatever its coefficients. */
static void test_families(void **state)
{
    (void)state;
    unsigned seed = 3;
    bg_prk_pair p;
    bg_prk_condition worst;
    for (int s = 1; s <= BG_PRK_STAGES; s++) {
        bg_prk_pair_make_dual_euler(&p, s);
        assert_int_equal(bg_prk_pair_calc_order(&p, 1e-12), 1);
        assert_true(p.equal_abscissae && p.nslow == 1 && p.equal_weights == (s == 1));
    }
    for (int k = 0; k < 1000; k++) {
        double a[3], b[3];
        for (int i = 0; i < 3; i++) {
            a[i] = 2 * draw(&seed) - 1;
            b[i] = 2 * draw(&seed) - 1;
        }
        b[2] = 1 - b[0] - b[1];
        bg_prk_pair_make_averaged_euler(&p, 2 * draw(&seed) - 1, a, b);
        assert_true(bg_prk_pair_find_worst(&p, 1, &worst) < 1e-15);
        assert_true(p.nslow == 1 && p.slow[1]);
        assert_true(bg_prk_pair_find_worst(&p, 2, &worst) > 0.49); /* b.c = 0 */
        assert_false(p.equal_abscissae);
    }
    for (int k = 0; k < 300; k++) { /* the closed family with random abscissae */
        int s = 4 + (int)(13 * draw(&seed)), m = 2 + (int)((s - 2) * draw(&seed));
        double c[BG_PRK_STAGES] = {0};
        for (int i = 1; i < s; i++)
            c[i] = 0.05 + draw(&seed);
        bg_prk_pair_make_closed(&p, "x", s, 2, 0, c);
        assert_true(bg_prk_pair_find_worst(&p, 2, &worst) < 1e-14 && p.nslow == 2);
        c[s - 2] = 1.0 / 3;
        bg_prk_pair_make_closed(&p, "x", s, 3, m, c);
        assert_true(bg_prk_pair_find_worst(&p, 3, &worst) < 1e-12);
        assert_true(p.nslow == 3 && p.equal_abscissae && p.equal_weights);
    }
}

/* Pairs written and read back are the same, bit by bit. */
static void test_files(void **state)
{
    char path[PATH];
    bg_error err = {BG_OK, ""};
    locate(*state, "pair.json", path);
    for (int k = 0; bg_prk_pair_get_name(k); k++) {
        bg_prk_pair a, b;
        bg_prk_pair_find(bg_prk_pair_get_name(k), &a);
        FILE *file = fopen(path, "w");
        bg_prk_pair_print(&a, "a \"comment\"", file);
        fclose(file);
        assert_ok(bg_prk_pair_open(path, &b, &err));
        assert_memory_equal(&a.of, &b.of, sizeof a.of);
        assert_true(a.order == b.order && a.stages == b.stages && strcmp(a.name, b.name) == 0);
    }
    write_text(path, "{\"order\":2,\"b_slow\":[\"1/2\",\"1/2\"],\"b_fast\":[0.5,0.5],"
                     "\"A_slow\":[[0,0],[1,0]],\"A_fast\":[[0,0],[1,0]],\"c\":[0,1]}");
    bg_prk_pair heun;
    assert_ok(bg_prk_pair_open(path, &heun, &err));
    assert_true(heun.of[0].b[1] == 0.5 && heun.equal_weights);
}

#define HEAD "{\"order\":2,\"b_slow\":[0.5,0.5],\"b_fast\":[0.5,0.5],"
#define SLOW "\"A_slow\":[[0,0],[1,0]],"
#define FAST "\"A_fast\":[[0,0],[1,0]]"

/* Files that are not a pair, with what the sentence names. */
static void test_refused(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"{", "line 1"},
        {"[]", "not an object"},
        {HEAD SLOW FAST ",\"oder\":2}", "did you mean 'order'"},
        {HEAD FAST "}", "A_slow must have 2 rows"},
        {HEAD "\"A_slow\":[[0,0],[1]]," FAST "}", "A_slow[1] must have 2 numbers"},
        {HEAD "\"A_slow\":[[0,0],[1,0],[0,0]]," FAST "}", "A_slow must have 2 rows"},
        {HEAD "\"A_slow\":[[0,1],[1,0]]," FAST "}",
         "A_slow[0][1] is not zero; methods are explicit"},
        {HEAD "\"A_slow\":[[0,0],[\"1/0\",0]]," FAST "}", "A_slow[1][0] is not a number"},
        {HEAD "\"A_slow\":[[0,0],[0.9,0]]," FAST "}", "the condition b.c = 1/2 of order 2"},
        {HEAD SLOW "\"A_fast\":[[0,0],[1.1,0]]}", "the condition b.c^ = 1/2 of order 2"},
        {"{\"order\":2,\"b_slow\":[0.5,0.5],\"b_fast\":[0.5,0.6]," SLOW FAST "}",
         "the condition b^.e = 1/1 of order 1"},
        {"{\"order\":3,\"b_slow\":[0.5,0.5],\"b_fast\":[0.5,0.5]," SLOW FAST "}",
         "an explicit Runge-Kutta method of s stages has order s at most"},
        {"{\"order\":5,\"b_slow\":[0.5,0.5],\"b_fast\":[0.5,0.5]," SLOW FAST "}", "order must be"},
        {"{\"order\":2,\"b_slow\":[],\"b_fast\":[]," SLOW FAST "}", "b_slow must be an array"},
        {"{\"order\":2,\"b_slow\":[0.5,0.5],\"b_fast\":[0.5]," SLOW FAST "}", "b_fast must have 2"},
        {HEAD SLOW FAST ",\"c\":[0,0.9]}", "c[1] is 0.9"},
        {HEAD SLOW FAST ",\"slow_stages\":[1]}", "slow_stages lacks stage 2"},
        {HEAD SLOW FAST ",\"slow_stages\":[1,2,9]}", "slow_stages[2] must be a whole number"},
        {HEAD SLOW FAST ",\"slow_stages\":[1,2.0]}", "slow_stages[1] must be a whole number"},
        {HEAD SLOW FAST ",\"slow_stages\":[1,2,2]}", "slow_stages[2] names a stage for the second"},
        {HEAD SLOW FAST ",\"slow_stages\":2}", "slow_stages must be a list"},
        {HEAD SLOW FAST ",\"tolerance\":1}", "tolerance must be"},
        {HEAD SLOW FAST ",\"kind\":\"model\"}", "kind must be"},
        {HEAD SLOW FAST ",\"comment\":[1]}", "comment must be"},
        {HEAD SLOW FAST ",\"name\":\"\"}", "name must be"},
        {HEAD SLOW FAST ",\"name\":\"a\\nb\"}", "name must be"},
    };
    char path[PATH];
    locate(*state, "broken.json", path);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_prk_pair p;
        write_text(path, cases[k].text);
        assert_true(bg_prk_pair_open(path, &p, &err) < 0);
        if (!strstr(err.text, cases[k].said) || !strstr(err.text, "broken.json"))
            fail_msg("'%s' does not say '%s'", err.text, cases[k].said);
    }
    bg_error err = {BG_OK, ""};
    bg_prk_pair p;
    assert_true(bg_prk_pair_open("no-such.json", &p, &err) == BG_IO);
    assert_true(bg_prk_pair_open("prk39", &p, &err) == BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean 'prk"));
}

/* Files with bytes, words or digits changed at random: a pair that meets its conditions, or one
 * sentence. */
static void test_forged(void **state)
{
    static const char *const words[] = {"1e308", "-1",  "\"1/0\"", "null", "{}",   "[]", "\"", ",",
                                        "1/3",   "[0]", "1e-300",  "2",    "true", "}",  "0"};
    unsigned seed = 9;
    char path[PATH], whole[PATH];
    size_t size;
    int good = 0;
    locate(*state, "forged.json", path);
    snprintf(whole, sizeof whole, "%s/tests/fuzz/seeds/tableaus/prk25.json", BOGIE_SOURCE_DIR);
    char *text = read_file(whole, &size);
    for (int k = 0; k < 1500; k++) {
        bg_error err = {BG_OK, ""};
        bg_prk_pair p;
        bg_prk_condition worst;
        char *copy = malloc(size + 16);
        memcpy(copy, text, size + 1);
        const char *word = words[(int)(15 * draw(&seed))];
        size_t at = (size_t)((double)(size - 8) * draw(&seed)), n = strlen(word);
        if (k % 2)
            memcpy(copy + at, word, n < size - at ? n : size - at);
        else
            copy[at] = (char)(256 * draw(&seed));
        write_text(path, copy);
        if (bg_prk_pair_open(path, &p, &err) == BG_OK) {
            assert_true(bg_prk_pair_find_worst(&p, p.order, &worst) <= p.tolerance);
            good++;
        } else {
            assert_true(strlen(err.text) > 20 && !strchr(err.text, '\n'));
        }
        free(copy);
    }
    assert_true(good > 10 && good < 1400);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_sensitivity),
        cmocka_unit_test(test_intervals),  cmocka_unit_test(test_families),
        cmocka_unit_test(test_forged),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}

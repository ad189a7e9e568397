/* Designed pairs: the intervals asked for, everything verified, what cannot be refused with the
 * theorem. */
#include "design/coupled.h"
#include "design/design.h"
#include "run_support.h"

#include <time.h>

static void show(const bg_design_def *def, const bg_polynomial *p, const bg_prk_pair *pair,
                 const bg_design_facts *f)
{
    print_message(
        "%d-%d order %d: reach %.6f (bound %.6f), missed %.1e (%s), next %.3f, imaginary %.4f "
        "%.4f, real %.4f %.4f, coupled %.2f, masses %.2f %.2f, slow stages",
        def->slow, def->fast, def->order, p->reach, p->bound, f->missed, f->worst.name, f->next,
        f->imaginary[0], f->imaginary[1], f->real[0], f->real[1], f->coupled[1], f->masses[2][0],
        f->masses[2][1]);
    for (int i = 0; i < pair->stages; i++)
        if (pair->slow[i])
            print_message(" %d", i + 1);
    print_message("; lost %.1e %.1e\n", f->place[1], f->momentum[1]);
}

static void test_cases(void **state)
{
    (void)state;
    static const struct {
        int slow, fast, order;
        bg_target_kind kind;
        bool search, free_;
    } cases[] = {
        {2, 5, 2, BG_TARGET_IMAGINARY, false, false}, {3, 5, 3, BG_TARGET_IMAGINARY, false, false},
        {2, 6, 2, BG_TARGET_IMAGINARY, false, false}, {3, 8, 3, BG_TARGET_IMAGINARY, false, false},
        {2, 7, 2, BG_TARGET_IMAGINARY, false, false}, {3, 7, 3, BG_TARGET_IMAGINARY, false, false},
        {2, 4, 2, BG_TARGET_REAL, false, false},      {2, 5, 2, BG_TARGET_REAL, false, false},
        {2, 5, 2, BG_TARGET_IMAGINARY, true, false},  {2, 5, 2, BG_TARGET_IMAGINARY, true, true},
        {3, 5, 3, BG_TARGET_IMAGINARY, true, false},  {3, 5, 3, BG_TARGET_REAL, true, false},
        {3, 6, 2, BG_TARGET_IMAGINARY, false, false}, {4, 8, 4, BG_TARGET_IMAGINARY, false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_error err = {BG_OK, ""};
        bg_design_def def = {
            cases[k].slow,   cases[k].fast,  cases[k].order, {cases[k].kind, 0, NULL, NULL},
            cases[k].search, cases[k].free_, cases[k].free_, 1};
        bg_polynomial p;
        bg_prk_pair pair;
        bg_design_facts f;
        clock_t begin = clock();
        bg_status st = bg_design_find(&def, &p, &pair, &err);
        double time = (double)(clock() - begin) / CLOCKS_PER_SEC;
        print_message("%.2f s ", time);
        if (st != BG_OK) {
            print_message("%s\n", err.text);
            continue;
        }
        assert_ok(bg_design_verify(&pair, &f, &err));
        show(&def, &p, &pair, &f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

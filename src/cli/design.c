/* bogie design: a pair of tableaus for slow and fast parts, designed, verified and written to a
 * tableau file for `prk` (004). */
#include "design/design.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/linear.h"
#include "linalg/spectrum.h"
#include "system/two_rates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct design_arguments {
    long slow, fast, order, seed;
    int target, search, free_abscissae, free_weights;
    const char *eigenvalues, *pair, *output;
    bg_linear_arguments linear;
} design_arguments;

#define FIELD(name) offsetof(design_arguments, name)

static const bg_cli_option options[] = {
    {"--slow", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(slow),
     "stages at which the slow part is evaluated (default: the order)"},
    {"--fast", NULL, "N", BG_CLI_COUNT_FROM_1, FIELD(fast), "stages in all (default: 8)"},
    {"--order", NULL, "P", BG_CLI_COUNT_FROM_1, FIELD(order), "2, 3 or 4 (default: 3)"},
    {"--target", NULL, "imaginary|real", BG_CLI_CHOICE, FIELD(target),
     "axis along which fast eigenvalues are to be stable as far as possible (default: imaginary)"},
    {"--eigenvalues", NULL, "MODEL", BG_CLI_MODEL, FIELD(eigenvalues),
     "the eigenvalues of this model instead"},
    {"--at", NULL, "T", BG_CLI_NUMBER, FIELD(linear.at),
     "of its motion at T s (default: at its start)"},
    {"--formulation", NULL, BG_FORMULATIONS, BG_CLI_CHOICE, FIELD(linear.formulation),
     "coordinates of that model"},
    {"--set", NULL, "NAME=VALUE", BG_CLI_SETTING, FIELD(linear.settings), "and its parameters"},
    {"--search", NULL, NULL, BG_CLI_FLAG, FIELD(search),
     "for coefficients, also where the family in closed form has them"},
    {"--free-abscissae", NULL, NULL, BG_CLI_FLAG, FIELD(free_abscissae),
     "stages of the tableaus may be at different times; searches"},
    {"--free-weights", NULL, NULL, BG_CLI_FLAG, FIELD(free_weights),
     "weights may differ, so that momentum is lost; searches"},
    {"--seed", NULL, "N", BG_CLI_COUNT, FIELD(seed), "of the search (default: 1)"},
    {"--pair", NULL, "NAME|FILE.json", BG_CLI_PAIR, FIELD(pair), "only verifies this pair"},
    {"--output", "-o", "FILE.json", BG_CLI_FILE, FIELD(output),
     "the tableau file, for --integrator prk --set integrator.pair=FILE.json"},
};

/* Whether entry k of (delta, dv, dz) is of the fast part. */
static bool is_fast(const bg_linearisation *l, int k)
{
    const bg_system_def *def = &l->sys->def;
    if (k >= 2 * l->n)
        return bg_part_get(def->z_part, k - 2 * l->n) == BG_PART_FAST;
    return bg_part_get(def->v_part, l->tangent->independent[k % l->n]) == BG_PART_FAST;
}

/* Takes the rows and columns of the fast part out of A [n n], J_ff of 004 eq. (33), where a system
 * tells parts apart; how many are left. */
static int take_fast(const bg_linearisation *l, double *A)
{
    const bg_system_def *def = &l->sys->def;
    const int n = l->nx;
    int count = 0, row = 0;
    if (!bg_two_rates_are_marked(def))
        return n;
    for (int i = 0; i < n; i++)
        count += is_fast(l, i);
    for (int i = 0; i < n; i++) {
        if (!is_fast(l, i))
            continue;
        for (int j = 0, column = 0; j < n; j++)
            if (is_fast(l, j))
                A[row * count + column++] = A[i * n + j];
        row++;
    }
    return count;
}

/* Eigenvalues of a model, or of its fast part, with Im >= 0 and without those that grow, which no
 * method makes stable. */
static bg_status find_eigenvalues(const design_arguments *args, double **values, bg_target *target,
                                  bg_error *err)
{
    bg_linear_job job = {0};
    bg_status st = bg_linear_job_open(args->eigenvalues, &args->linear, &job, err);
    size_t n = st == BG_OK ? (size_t)job.analysis->linearisation->nx : 0;
    double *A = BG_NEW_ARRAY(double, n *n + 2 * n), *re = A + n * n, *im = re + n;
    if (st == BG_OK && !A)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the eigenvalues");
    if (st == BG_OK)
        st = bg_linearisation_calc(job.analysis->linearisation, A, NULL, NULL, NULL, err);
    const bool parts = st == BG_OK && bg_two_rates_are_marked(&job.analysis->evaluator->def);
    if (st == BG_OK)
        n = (size_t)take_fast(job.analysis->linearisation, A);
    if (st == BG_OK)
        st = bg_spectrum_calc((int)n, A, re, im, NULL, NULL, err);
    double largest = 0;
    int count = 0, growing = 0;
    for (size_t k = 0; k < n && st == BG_OK; k++)
        largest = fmax(largest, hypot(re[k], im[k]));
    for (size_t k = 0; k < n && st == BG_OK; k++) {
        bool grows = re[k] > 1e-9 * largest;
        growing += grows;
        if (im[k] < 0 || grows || hypot(re[k], im[k]) <= 1e-6 * largest)
            continue;
        re[count] = re[k];
        im[count++] = im[k];
    }
    if (st == BG_OK && count == 0)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "'%s' has no eigenvalue that could limit a step; design for an axis with "
                          "--target",
                          args->eigenvalues);
    if (st == BG_OK) {
        printf("%s %s: %d eigenvalues%s up to %.4g 1/s%s\n", args->eigenvalues, job.analysis->where,
               count, parts ? " of the fast part" : "", largest,
               growing > 0 ? ", without those that grow" : "");
        bg_linear_job_print_doubt(&job);
    }
    *target = (bg_target){BG_TARGET_CLOUD, count, re, im};
    *values = A;
    bg_linear_job_close(&job);
    return st;
}

static void print_polynomial(const bg_polynomial *p, const bg_target *target)
{
    static const char *const along[] = {"along the imaginary axis up to",
                                        "along the negative real axis down to -",
                                        "for steps up to"};
    printf("polynomial       stable %s%s%.6g%s; none of order %d reaches beyond %.6g\n"
           "                ",
           along[target->kind], target->kind == BG_TARGET_REAL ? "" : " ", p->reach,
           target->kind == BG_TARGET_CLOUD ? " s" : "", p->order, p->bound);
    for (int k = p->order + 1; k <= p->stages; k++)
        printf(" beta_%d = %.10g", k, p->beta[k]);
    printf(p->order < p->stages ? "\n" : " all coefficients are those of exp\n");
}

static void print_tableau(const bg_prk_pair *p, int k)
{
    const bg_tableau *t = &p->of[k];
    printf("%s\n", k == BG_PRK_SLOW ? "slow tableau     c | a, b" : "fast tableau     c | a, b");
    for (int i = 0; i <= p->stages; i++) {
        if (i < p->stages)
            printf("%12.7f |", t->c[i]);
        else
            printf("%12s |", "b");
        for (int j = 0; j < p->stages && (j < i || i == p->stages); j++)
            if (k == BG_PRK_FAST || p->slow[j])
                printf(" %10.7f", i < p->stages ? t->a[i][j] : t->b[j]);
            else
                printf(" %10s", ".");
        printf("\n");
    }
}

static void print_facts(const bg_prk_pair *p, const bg_design_facts *f)
{
    printf("%s, order %d     slow stages", p->name, p->order);
    for (int i = 0; i < p->stages; i++)
        if (p->slow[i])
            printf(" %d", i + 1);
    printf(" of %d\n", p->stages);
    printf("order conditions met to %.1e (%s); of the next order %.3g is missed\n", f->missed,
           f->worst.name, f->next);
    printf("abscissae        %s\n", p->equal_abscissae
                                        ? "equal: bodies that are accelerated alike stay together"
                                        : "different");
    printf("weights          %s\n",
           p->equal_weights ? "equal: momentum is kept" : "different: momentum is lost");
    printf("intervals        slow: imaginary %.4f, real %.4f; fast: imaginary %.4f, real %.4f\n",
           f->imaginary[0], f->real[0], f->imaginary[1], f->real[1]);
    printf("coupled (17)    ");
    for (int k = 0; k < BG_DESIGN_COUPLINGS; k++)
        printf(" %.2f at %g", f->coupled[k], bg_design_couplings[k]);
    printf("\n");
    for (int fast = 1; fast >= 0; fast--) {
        printf("%-17s", fast ? "two masses" : "");
        for (int k = 0; k < BG_DESIGN_RATIOS; k++)
            printf("%.2f at %g%s", f->masses[k][fast], bg_design_ratios[k],
                   k + 1 < BG_DESIGN_RATIOS ? ", " : "");
        printf(" (positions %s)\n", fast ? "fast" : "by part");
    }
    for (int fast = 1; fast >= 0; fast--)
        printf("%-17suniform motion off by %.2g m, momentum by %.2g (positions %s)\n",
               fast ? "two free masses" : "", f->place[fast], f->momentum[fast],
               fast ? "fast" : "by part");
}

static bg_status write_pair(const char *path, const bg_prk_pair *pair, bg_error *err)
{
    bg_output_file out;
    bg_status st = bg_output_open(path, BG_PLACE_TABLEAUS, &out, err);
    if (st != BG_OK)
        return st;
    bg_prk_pair_print(pair, "by bogie design", out.file);
    return bg_output_close(&out, BG_OK, err);
}

static bg_status check_arguments(design_arguments *args, bg_error *err)
{
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    if (args->order == 0)
        args->order = 3;
    if (args->slow == 0)
        args->slow = args->order;
    if (args->fast == 0)
        args->fast = 8;
    if (args->output && (!dot || strcmp(dot, ".json") != 0))
        return bg_error_set(err, BG_BAD_INPUT, "the tableau file '%s' must be named FILE.json",
                            args->output);
    return args->output ? bg_place_check(args->output, BG_PLACE_TABLEAUS, err) : BG_OK;
}

static bg_status design(const design_arguments *args, const bg_target *target, bg_prk_pair *pair,
                        bg_error *err)
{
    const long most = 1000;
    bg_polynomial polynomial;
    bg_design_def def = {(int)(args->slow < most ? args->slow : most),
                         (int)(args->fast < most ? args->fast : most),
                         (int)(args->order < most ? args->order : most),
                         *target,
                         args->search != 0,
                         args->free_abscissae != 0,
                         args->free_weights != 0,
                         (unsigned)args->seed};
    bg_status st = bg_design_find(&def, &polynomial, pair, err);
    if (st == BG_OK)
        print_polynomial(&polynomial, target);
    return st;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    design_arguments args = {.linear = {.at = NAN, .formulation = BG_FORMULATION_DEFAULT},
                             .seed = 1};
    const char *none;
    bg_error err = {0};
    bg_prk_pair pair;
    bg_design_facts facts;
    double *values = NULL;
    bg_status st = bg_cli_parse(verb, argc, argv, &args, &none, &err);
    bg_target target = {args.target == 1 ? BG_TARGET_REAL : BG_TARGET_IMAGINARY, 0, NULL, NULL};
    if (st == BG_OK)
        st = check_arguments(&args, &err);
    if (st == BG_OK && args.eigenvalues)
        st = find_eigenvalues(&args, &values, &target, &err);
    if (st == BG_OK)
        st = args.pair ? bg_prk_pair_open(args.pair, &pair, &err)
                       : design(&args, &target, &pair, &err);
    if (st == BG_OK)
        st = bg_design_verify(&pair, &facts, &err);
    if (st == BG_OK) {
        print_facts(&pair, &facts);
        print_tableau(&pair, BG_PRK_SLOW);
        print_tableau(&pair, BG_PRK_FAST);
        if (args.output)
            st = write_pair(args.output, &pair, &err);
    }
    free(values);
    bg_cli_settings_clear(&args.linear.settings);
    return st == BG_OK ? BG_EXIT_DONE : bg_error_print(&err);
}

const bg_verb bg_verb_design = {
    .name = "design",
    .summary = "a pair of tableaus for slow and fast parts, designed and verified",
    .description = "Finds the stability polynomial that reaches farthest along an axis, or over "
                   "the eigenvalues of a model, and coefficients that have it; verifies all of it, "
                   "and writes the tableau file for `--integrator prk --set "
                   "integrator.pair=FILE.json`.",
    .examples = "bogie design --slow 3 --fast 8 --order 3 -o pair.json\n"
                "bogie design --pair prk38",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

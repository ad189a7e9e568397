/* Both formalisms on random mechanisms: algorithms against each other, terms against differences,
 * energies against power, joint against Cartesian coordinates. */
#include "evaluator_support.h"
#include "linalg/linalg.h"
#include "random_mechanism.h"
#include "run_support.h"
#include "system/system.h"

enum { SEEDS = SANITIZED ? 40 : 200 };

/* A system of a random mechanism, its start and its terms there. */
typedef struct formalism_subject {
    random_mechanism mechanism;
    bg_model *model;
    bg_system *sys;
    bg_evaluator *ev;
    const bg_system_def *def; /* of the evaluator */
    bg_state *x;
    bg_assembly_report report;
    bg_point p;
    bg_terms terms; /* matrices dense, whatever the system's patterns are */
    double *scratch;
} formalism_subject;

static double *new_array(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Row-major values of a matrix in a pattern. */
static void spread(const bg_pattern *p, const double *values, double *dense)
{
    for (int i = 0; i < p->rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            dense[i * p->columns + p->column[k]] = values[k];
}

static void subject_create(formalism_subject *s, unsigned seed, const char *formulation)
{
    bg_error err = {BG_OK, ""};
    memset(s, 0, sizeof *s);
    s->mechanism = random_mechanism_make(seed);
    assert_ok(bg_model_parse(s->mechanism.text, "random", NULL, 0, &s->model, &err));
    if (bg_model_create_system(s->model, formulation, &s->sys, &err) != BG_OK)
        fail_msg("seed %u: %s", seed, err.text);
    s->ev = new_evaluator(s->sys);
    s->def = &s->ev->def;
    assert_ok(bg_state_create(s->sys, &s->x, &err));
    int nv = s->def->nv, ng = s->def->ng;
    s->terms = (bg_terms){.M = new_array(nv * nv),
                          .f = new_array(nv),
                          .g = new_array(ng),
                          .gt = new_array(ng),
                          .G = new_array(ng * nv),
                          .gamma = new_array(ng),
                          .V = new_array(s->def->nq * nv),
                          .h = new_array(s->def->nz)};
    s->scratch = new_array(nv * nv + ng * nv);
}

/* A consistent state as a run starts from it: states of controllers follow from the motion, and
 * accelerations from those. */
static void subject_assemble(formalism_subject *s)
{
    bg_error err = {BG_OK, ""};
    bg_event_state start = {s->x->q, s->x->v, s->x->z, s->x->mode};
    double *z = new_array(s->def->nz), changed = 0;
    assert_ok(bg_state_assemble(s->sys, s->x, &s->report, &err));
    memcpy(z, s->x->z, (size_t)s->def->nz * sizeof *z);
    assert_int_equal(s->def->start(s->def->self, s->x->t, &start), 0);
    for (int i = 0; i < s->def->nz; i++)
        changed = fmax(changed, fabs(s->x->z[i] - z[i]));
    free(z);
    if (changed < 1e-14)
        return;
    bg_assembly_report_clear(&s->report);
    assert_ok(bg_state_assemble(s->sys, s->x, &s->report, &err));
}

static void subject_destroy(formalism_subject *s)
{
    double *const arrays[] = {s->terms.M,     s->terms.f, s->terms.g, s->terms.gt, s->terms.G,
                              s->terms.gamma, s->terms.V, s->terms.h, s->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    bg_assembly_report_clear(&s->report);
    bg_state_destroy(s->x);
    bg_evaluator_destroy(s->ev);
    bg_system_destroy(s->sys);
    bg_model_destroy(s->model);
    free(s->mechanism.text);
}

static void update_point(formalism_subject *s)
{
    bg_error err = {BG_OK, ""};
    assert_ok(
        bg_system_set_point(s->ev, s->x->t, s->x->q, s->x->v, s->x->z, s->x->mode, &s->p, &err));
}

/* All terms at the state. */
static void update_terms(formalism_subject *s)
{
    bg_error err = {BG_OK, ""};
    bg_terms out = s->terms;
    int nv = s->def->nv;
    unsigned want = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma |
                    BG_TERM_h | (s->def->supplied & BG_TERM_V);
    update_point(s);
    if (s->def->pattern_M)
        out.M = s->scratch;
    if (s->def->pattern_G)
        out.G = s->scratch + nv * nv;
    assert_ok(bg_system_calc_terms(s->ev, &s->p, want, &out, &err));
    if (s->def->pattern_M)
        spread(s->def->pattern_M, out.M, s->terms.M);
    if (s->def->pattern_G)
        spread(s->def->pattern_G, out.G, s->terms.G);
}

/* Moves q by delta along V, and draws v, a and lambda. */
static void shake(formalism_subject *s)
{
    uint64_t *seed = &s->mechanism.seed;
    for (int i = 0; i < s->def->nv; i++) {
        s->x->v[i] = random_between(seed, -3, 3);
        s->x->a[i] = random_between(seed, -10, 10);
        s->scratch[i] = random_between(seed, -0.7, 0.7);
    }
    for (int i = 0; i < s->def->ng; i++)
        s->x->lambda[i] = random_between(seed, -10, 10);
    if (s->def->supplied & BG_TERM_V) {
        bg_error err = {BG_OK, ""};
        assert_true(s->def->pattern_V->row_start[s->def->nq] <= 3 * s->def->nq);
        bg_terms out = {.V = s->terms.V};
        update_point(s);
        assert_ok(bg_system_calc_terms(s->ev, &s->p, BG_TERM_V, &out, &err));
    }
    bg_system_move(s->ev, s->x->q, s->terms.V, 1, s->scratch, s->x->q);
}

static double largest(int n, const double *x)
{
    double max = 0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(x[i]));
    return max;
}

/* L of M = L L^T into M (lower triangle); false: not positive definite. */
static bool factor(int n, double *M)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = M[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= M[i * n + k] * M[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            M[i * n + j] = i == j ? sqrt(sum) : sum / M[j * n + j];
        }
    return true;
}

static void solve(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

/* Residual and explicit formalism against M, f and G, and against each other. */
static void test_two_algorithms(void **state)
{
    (void)state;
    double worst_residual = 0, worst_explicit = 0, worst_inverse = 0;
    int rows = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        formalism_subject s;
        subject_create(&s, seed, "joint");
        shake(&s);
        update_terms(&s);
        int nv = s.def->nv, ng = s.def->ng;
        double *r = new_array(nv), *a = new_array(nv), *expected = new_array(nv);
        const double *lambda = ng > 0 ? s.x->lambda : NULL;
        rows += ng;
        /* r = M a - f + G^T lambda */
        bg_matrix_multiply(nv, nv, NULL, s.terms.M, s.x->a, expected);
        bg_matrix_add_transposed(ng, nv, NULL, s.terms.G, 1, s.x->lambda, expected);
        double scale = largest(nv, expected) + largest(nv, s.terms.f) + 1;
        for (int i = 0; i < nv; i++)
            expected[i] -= s.terms.f[i];
        assert_int_equal(s.def->residual(s.def->self, &s.p, s.x->a, lambda, r), 0);
        for (int i = 0; i < nv; i++)
            worst_residual = fmax(worst_residual, fabs(r[i] - expected[i]) / scale);
        /* a = M^{-1} (f - G^T lambda) */
        memcpy(expected, s.terms.f, (size_t)nv * sizeof(double));
        bg_matrix_add_transposed(ng, nv, NULL, s.terms.G, -1, s.x->lambda, expected);
        assert_true(factor(nv, s.terms.M));
        solve(nv, s.terms.M, expected);
        assert_int_equal(s.def->accelerate(s.def->self, &s.p, lambda, a), 0);
        scale = largest(nv, expected) + 1;
        for (int i = 0; i < nv; i++)
            worst_explicit = fmax(worst_explicit, fabs(a[i] - expected[i]) / scale);
        /* which makes r vanish */
        scale = 1 + largest(nv, s.terms.f);
        assert_int_equal(s.def->residual(s.def->self, &s.p, a, lambda, r), 0);
        worst_inverse = fmax(worst_inverse, largest(nv, r) / scale);
        free(r);
        free(a);
        free(expected);
        subject_destroy(&s);
    }
    print_message("residual against M, f, G %.1e; explicit %.1e; residual of explicit %.1e; %d "
                  "rows\n",
                  worst_residual, worst_explicit, worst_inverse, rows);
    assert_true(rows > SEEDS);
    assert_true(worst_residual < 1e-11);
    assert_true(worst_explicit < 1e-11);
    assert_true(worst_inverse < 1e-11);
}

static void check_derivatives(const char *formulation)
{
    bg_error err = {BG_OK, ""};
    double worst = 0;
    int bad = 0, compared = 0, sparse = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        formalism_subject s;
        bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
        int count;
        subject_create(&s, seed, formulation);
        assert_ok(bg_system_check_derivatives(s.sys, 1, seed, checks, &count, &err));
        sparse += s.def->pattern[BG_OF_r][BG_BY_q] != NULL;
        for (int k = 0; k < count; k++) {
            worst = fmax(worst, checks[k].error);
            compared++;
            if (checks[k].error < 1e-6)
                continue;
            print_error("seed %u: %s of %s is %.12g, by differences %.12g\n", seed,
                        checks[k].quantity, checks[k].entry, checks[k].supplied,
                        checks[k].differenced);
            bad++;
        }
        subject_destroy(&s);
    }
    print_message("%s: %d quantities differ from differences by at most %.1e, %d patterns of r\n",
                  formulation, compared, worst, sparse);
    assert_true(compared > 8 * SEEDS);
    assert_true(sparse > 10);
    assert_int_equal(bad, 0);
}

static void test_derivatives(void **state)
{
    (void)state;
    check_derivatives("joint");
    check_derivatives("cartesian");
}

/* Largest of the entries that a pattern leaves out, relative to the largest entry. */
static double calc_outside(const bg_pattern *p, int rows, int columns, double *dense)
{
    double scale = fmax(1, largest(rows * columns, dense));
    for (int i = 0; i < rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            dense[i * columns + p->column[k]] = 0;
    return largest(rows * columns, dense) / scale;
}

/* What patterns leave out is zero, by differences column for column in a twin of the system
 * without patterns: grouped differences would not see it. Returns how many entries were left out,
 * and counts those of h.
 */
static int check_patterns(formalism_subject *s, double *worst, int *of_h)
{
    bg_error err = {BG_OK, ""};
    bg_system_def def = *s->def;
    bg_system *twin;
    int left_out = 0;
    def.destroy = NULL;
    memset(def.pattern, 0, sizeof def.pattern);
    assert_ok(bg_system_create(&def, &twin, &err));
    bg_evaluator *ev = new_evaluator(twin);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++) {
            const bg_pattern *p = s->def->pattern[of][by];
            int rows = bg_system_get_rows(twin, (bg_of)of);
            int columns = bg_system_get_columns(twin, (bg_by)by);
            if (!p || rows == 0 || columns == 0)
                continue;
            double *dense = new_array(rows * columns);
            assert_ok(bg_system_difference_block(ev, &s->p, s->x->a, s->x->lambda, (bg_of)of,
                                                 (bg_by)by, dense, &err));
            *worst = fmax(*worst, calc_outside(p, rows, columns, dense));
            left_out += rows * columns - p->row_start[rows];
            *of_h += of == BG_OF_h ? rows * columns - p->row_start[rows] : 0;
            free(dense);
        }
    bg_evaluator_destroy(ev);
    bg_system_destroy(twin);
    return left_out;
}

static void test_patterns(void **state)
{
    (void)state;
    static const char *const formulations[] = {"joint", "cartesian"};
    for (int form = 0; form < 2; form++) {
        double worst = 0;
        int left_out = 0, of_h = 0;
        for (unsigned seed = 1; seed <= SEEDS; seed += 5) { /* dense differences are slow */
            formalism_subject s;
            subject_create(&s, seed, formulations[form]);
            shake(&s);
            update_point(&s);
            left_out += check_patterns(&s, &worst, &of_h);
            subject_destroy(&s);
        }
        print_message("%s: %d entries outside patterns, %d of h, are zero to %.1e\n",
                      formulations[form], left_out, of_h, worst);
        assert_true(left_out > 100 * SEEDS && of_h > 10 * SEEDS);
        assert_true(worst < 1e-7);
    }
}

/* M is symmetric, definite in joint coordinates, and gives the kinetic energy of the bodies. */
static void test_mass(void **state)
{
    (void)state;
    static const char *const formulations[] = {"joint", "cartesian"};
    double worst = 0;
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        for (int form = 0; form < 2; form++) {
            formalism_subject s;
            bg_energy e;
            subject_create(&s, seed, formulations[form]);
            if (form == 0)
                shake(&s); /* Cartesian quaternions must stay unit ones */
            else
                for (int i = 0; i < s.def->nv; i++)
                    s.x->v[i] = random_between(&s.mechanism.seed, -3, 3);
            update_terms(&s);
            int nv = s.def->nv;
            double *Mv = new_array(nv), T = 0;
            for (int i = 0; i < nv; i++)
                for (int j = 0; j < i; j++) /* the same number in joint coordinates */
                    assert_true(fabs(s.terms.M[i * nv + j] - s.terms.M[j * nv + i]) <=
                                form * 1e-15);
            bg_matrix_multiply(nv, nv, NULL, s.terms.M, s.x->v, Mv);
            for (int i = 0; i < nv; i++)
                T += 0.5 * s.x->v[i] * Mv[i];
            double *y = new_array(s.def->ny), *still = new_array(s.def->nu);
            s.p.u_t = still; /* with what follows inputs at rest */
            double power = NAN;
            assert_int_equal(s.def->energy(s.def->self, &s.p, &e), 0);
            assert_int_equal(s.def->power(s.def->self, &s.p, &power), 0);
            assert_true(power == e.power);
            assert_int_equal(s.def->outputs(s.def->self, &s.p, s.x->a, s.x->lambda, y), 0);
            assert_true(nv == 0 || T > 0);
            assert_true(y[0] == e.kinetic);
            worst = fmax(worst, fabs(T - e.kinetic) / (1e-300 + T));
            if (form == 0)
                assert_true(factor(nv, s.terms.M));
            free(Mv);
            free(y);
            free(still);
            subject_destroy(&s);
        }
    print_message("1/2 v M v differs from the kinetic energy by at most %.1e\n", worst);
    assert_true(worst < 1e-12);
}

/* T + U a time h later; only odd orders of h matter to central differences, so first-order steps
 * of all states do. */
static double calc_energy_at(formalism_subject *s, double h)
{
    bg_error err = {BG_OK, ""};
    bg_energy e;
    bg_point p;
    int nq = s->def->nq, nv = s->def->nv, nz = s->def->nz;
    double *q = new_array(nq), *v = new_array(nv), *z = new_array(nz);
    bg_system_move(s->ev, s->x->q, s->terms.V, h, s->x->v, q);
    for (int i = 0; i < nv; i++)
        v[i] = s->x->v[i] + h * s->x->a[i];
    for (int i = 0; i < nz; i++)
        z[i] = s->x->z[i] + h * s->terms.h[i];
    assert_ok(bg_system_set_point(s->ev, s->x->t + h, q, v, z, s->x->mode, &p, &err));
    assert_int_equal(s->def->energy(s->def->self, &p, &e), 0);
    free(q);
    free(v);
    free(z);
    return e.kinetic + e.potential;
}

/* d(T + U)/dt = power of what is not conservative + lambda . g_t of driven coordinates + that of
 * those which are eliminated, with a and lambda of the equations of motion. The scale is what flows
 * at all: |v| . |M a| + |power|. */
static void test_power(void **state)
{
    (void)state;
    static const char *const formulations[] = {"joint", "cartesian"};
    for (int form = 0; form < 2; form++) {
        double worst = 0, driven = 0;
        unsigned at = 0;
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            formalism_subject s;
            bg_energy e;
            subject_create(&s, seed, formulations[form]);
            subject_assemble(&s);
            update_terms(&s);
            int nv = s.def->nv;
            double *Ma = new_array(nv), h = 1e-4, scale = 1;
            assert_int_equal(s.def->energy(s.def->self, &s.p, &e), 0);
            bg_matrix_multiply(nv, nv, NULL, s.terms.M, s.x->a, Ma);
            for (int i = 0; i < nv; i++)
                scale += fabs(s.x->v[i] * Ma[i]);
            double power = e.power;
            if (s.def->drive_power) {
                double own;
                assert_int_equal(s.def->drive_power(s.def->self, &s.p, &own, Ma), 0);
                for (int i = 0; i < nv; i++)
                    own += Ma[i] * s.x->a[i];
                power += own;
                driven = fmax(driven, fabs(own));
            }
            for (int i = 0; i < s.def->ng; i++) {
                power += s.x->lambda[i] * s.terms.gt[i];
                driven = fmax(driven, fabs(s.x->lambda[i] * s.terms.gt[i]));
            }
            double fine = (calc_energy_at(&s, h) - calc_energy_at(&s, -h)) / (2 * h);
            double coarse = (calc_energy_at(&s, 2 * h) - calc_energy_at(&s, -2 * h)) / (4 * h);
            double error = fabs((4 * fine - coarse) / 3 - power) / (scale + fabs(power));
            if (error > worst) {
                worst = error;
                at = seed;
            }
            free(Ma);
            subject_destroy(&s);
        }
        print_message("%s: power balance to %.1e (seed %u), drives up to %.0f W\n",
                      formulations[form], worst, at, driven);
        assert_true(driven > 1);
        assert_true(worst < 1e-8);
    }
}

typedef struct formalism_comparison {
    double velocity, acceleration, reaction;
    unsigned at[3]; /* seeds */
    int reactions;  /* mechanisms whose reactions are unique */
} formalism_comparison;

static void keep(double error, unsigned seed, double *worst, unsigned *at)
{
    if (error > *worst || !(error == error)) {
        *worst = error;
        *at = seed;
    }
}

/* Largest difference of outputs whose names begin with one of `kinds`, relative to the largest of
 * them. */
static double compare(const bg_system_def *def, const char *kinds, const double *y1,
                      const double *y2)
{
    double error = 0, scale = 1;
    for (int i = 0; i < def->ny; i++)
        if (strchr(kinds, def->y_names[i][0])) {
            scale = fmax(scale, fabs(y1[i]));
            error = fmax(error, fabs(y1[i] - y2[i]));
        }
    return error / scale;
}

/* Both forms start in the same moving state and agree in what is measured on bodies and joints. */
static void test_two_forms(void **state)
{
    (void)state;
    formalism_comparison c = {0};
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        formalism_subject s[2];
        double *y[2];
        for (int form = 0; form < 2; form++) {
            subject_create(&s[form], seed, form == 0 ? "joint" : "cartesian");
            subject_assemble(&s[form]);
            update_point(&s[form]);
            y[form] = new_array(s[form].def->ny);
            assert_int_equal(s[form].def->outputs(s[form].def->self, &s[form].p, s[form].x->a,
                                                  s[form].x->lambda, y[form]),
                             0);
        }
        assert_int_equal(s[0].def->ny, s[1].def->ny);
        keep(compare(s[0].def, "vw", y[0], y[1]), seed, &c.velocity, &c.at[0]);
        keep(compare(s[0].def, "ap", y[0], y[1]), seed, &c.acceleration, &c.at[1]);
        if (s[0].report.redundancy.count == 0 && s[1].report.redundancy.count == 0) {
            keep(compare(s[0].def, "r", y[0], y[1]), seed, &c.reaction, &c.at[2]);
            c.reactions++;
        }
        for (int form = 0; form < 2; form++) {
            free(y[form]);
            subject_destroy(&s[form]);
        }
    }
    print_message("velocities differ by at most %.1e (seed %u), accelerations %.1e (%u), reactions "
                  "%.1e (%u; unique in %d)\n",
                  c.velocity, c.at[0], c.acceleration, c.at[1], c.reaction, c.at[2], c.reactions);
    assert_true(c.reactions > SEEDS / 2);
    assert_true(c.velocity < 1e-10);
    assert_true(c.acceleration < 1e-9);
    assert_true(c.reaction < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_algorithms), cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_patterns),       cmocka_unit_test(test_mass),
        cmocka_unit_test(test_power),          cmocka_unit_test(test_two_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Few constraints on a long chain: block elimination with M factored along the tree agrees with the
 * matrix of entries, with rows left out, with two different G, regularised, and where it hands
 * over.
 */
#include "evaluator_support.h"
#include "model_support.h"

#include "system/dynamics.h"

enum { N = 80 };

/* N rods from one support to another, hinges about y and, every fourth, a ball; the loop is closed
 * by a spherical joint, whose row across the plane is not redundant thanks to the balls. */
static bg_model *make_bridge(void)
{
    char *text = malloc(1 << 20), *p = text;
    bg_error err = {BG_OK, ""};
    bg_model *model;
    p += sprintf(p, "{\"gravity\": 9.81, \"bodies\": {");
    for (int i = 0; i < N; i++)
        p += sprintf(p,
                     "%s\"b%d\": {\"mass\": %g, \"center\": [%g, 0.01, 0], \"inertia\": [0.1, 0.2, "
                     "0.15]}",
                     i ? ", " : "", i, 1 + 0.1 * (i % 7), i + 0.5);
    p += sprintf(p, "}, \"joints\": {");
    for (int i = 0; i < N; i++) {
        char before[16] = "ground";
        if (i > 0)
            snprintf(before, sizeof before, "b%d", i - 1);
        p += sprintf(
            p, "\"j%d\": {\"type\": \"%s\", \"bodies\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0]", i,
            i % 4 == 3 ? "spherical" : "revolute", before, i, i);
        p += sprintf(p, i % 4 == 3 ? "}, " : ", \"axis\": [0, 1, 0]}, ");
    }
    sprintf(
        p,
        "\"last\": {\"type\": \"spherical\", \"bodies\": [\"b%d\", \"ground\"], \"at\": [%d, 0, "
        "0], \"cut\": true}}}",
        N - 1, N);
    assert_ok(bg_model_parse(text, "bridge", NULL, 0, &model, &err));
    free(text);
    return model;
}

typedef struct schur_bench {
    bg_model *model;
    bg_system *sys;
    bg_evaluator *ev;
    bg_dynamics *d;
    bg_state *x;
    double *M, *G, *a, *b, *lambda, *mu;
} schur_bench;

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

static void begin(schur_bench *s)
{
    bg_error err = {BG_OK, ""};
    s->model = make_bridge();
    assert_ok(bg_model_create_system(s->model, "joint", &s->sys, &err));
    assert_true(s->sys->def.mass_size > 0 && s->sys->def.ng == 3);
    s->ev = new_evaluator(s->sys);
    assert_ok(bg_dynamics_create(s->ev, &s->d, &err));
    assert_ok(bg_state_create(s->sys, &s->x, &err));
    size_t nv = (size_t)s->d->nv, ng = (size_t)s->d->ng;
    s->M = calloc((size_t)bg_system_get_size_M(s->sys), sizeof(double));
    s->G = calloc(ng * nv, sizeof(double));
    s->a = calloc(nv, sizeof(double));
    s->b = calloc(nv, sizeof(double));
    s->lambda = calloc(ng, sizeof(double));
    s->mu = calloc(ng, sizeof(double));
}

static void end(schur_bench *s)
{
    double *const arrays[] = {s->M, s->G, s->a, s->b, s->lambda, s->mu};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        free(arrays[k]);
    bg_state_destroy(s->x);
    bg_dynamics_destroy(s->d);
    bg_evaluator_destroy(s->ev);
    bg_system_destroy(s->sys);
    bg_model_destroy(s->model);
}

/* Terms at a random bent position. */
static void move(schur_bench *s, uint64_t *seed)
{
    bg_error err = {BG_OK, ""};
    const unsigned want = BG_TERM_M | BG_TERM_f | BG_TERM_G | BG_TERM_gamma | BG_TERM_V;
    for (int i = 0; i < s->sys->def.nq; i++)
        s->x->q[i] = s->sys->def.q0[i] + 0.3 * draw(seed);
    s->sys->def.normalise(s->ev->def.self, s->x->q);
    for (int i = 0; i < s->d->nv; i++)
        s->x->v[i] = draw(seed);
    assert_ok(bg_dynamics_evaluate(s->d, 0, s->x->q, s->x->v, s->x->z, s->x->mode, want, &err));
    memcpy(s->M, s->d->terms.M, (size_t)bg_system_get_size_M(s->sys) * sizeof(double));
    assert_true(s->d->has_mass && isfinite(s->d->mass[0]));
}

/* Both ways to a and lambda with G_upper (NULL: G) agree to `tolerance` of the largest entry. */
static void compare(schur_bench *s, const double *upper, double tolerance)
{
    bg_error err = {BG_OK, ""};
    double size = 0, size_y = 0, rcond[2];
    assert_ok(bg_dynamics_factor(s->d, upper, &err));
    rcond[0] = upper ? 1 : bg_kkt_calc_rcond(s->d->kkt);
    assert_ok(bg_dynamics_solve(s->d, s->a, s->lambda, &err));
    bg_dynamics_set_M(s->d, s->M);
    assert_false(s->d->has_mass);
    assert_ok(bg_dynamics_factor(s->d, upper, &err));
    rcond[1] = upper ? 1 : bg_kkt_calc_rcond(s->d->kkt);
    assert_ok(bg_dynamics_solve(s->d, s->b, s->mu, &err));
    for (int i = 0; i < s->d->nv; i++)
        size = fmax(size, fabs(s->b[i]));
    for (int i = 0; i < s->d->ng; i++)
        size_y = fmax(size_y, fabs(s->mu[i]));
    assert_true(size > 0 && size_y > 0);
    for (int i = 0; i < s->d->nv; i++)
        assert_near(s->a[i], s->b[i], tolerance * size);
    for (int i = 0; i < s->d->ng; i++)
        assert_near(s->lambda[i], s->mu[i], tolerance * size_y);
    assert_true(memcmp(s->a, s->b, (size_t)s->d->nv * sizeof(double)) != 0); /* two ways */
    assert_true(rcond[0] > rcond[1] / 10 && rcond[0] < 10 * rcond[1]);
}

static void test_agrees(void **state)
{
    (void)state;
    schur_bench s;
    uint64_t seed = 7;
    begin(&s);
    for (int k = 0; k < 5; k++) {
        move(&s, &seed);
        compare(&s, NULL, 1e-8);
        move(&s, &seed);
        for (int i = 0; i < s.d->ng * s.d->nv;
             i++) /* as in half-explicit steps: G from elsewhere */
            s.G[i] = s.d->terms.G[i] * (1 + 1e-3 * draw(&seed));
        compare(&s, s.G, 1e-8);
    }
    end(&s);
}

static void test_rows_left_out(void **state)
{
    (void)state;
    schur_bench s;
    uint64_t seed = 3;
    int row = 1;
    bg_redundancy one = {.count = 1, .eliminated = &row};
    begin(&s);
    bg_dynamics_set_eliminated(s.d, &one);
    move(&s, &seed);
    compare(&s, NULL, 1e-8);
    assert_true(s.lambda[row] == 0);
    bg_kkt_set_regularisation(s.d->kkt, 1e-3);
    move(&s, &seed);
    compare(&s, NULL, 1e-8);
    end(&s);
}

/* A row twice: what M leaves of it is rounding, and the matrix with exchanges says singular. */
static void test_hands_over(void **state)
{
    (void)state;
    schur_bench s;
    uint64_t seed = 5;
    begin(&s);
    move(&s, &seed);
    memcpy(s.d->terms.G + s.d->nv, s.d->terms.G, (size_t)s.d->nv * sizeof(double));
    assert_int_equal(bg_dynamics_factor(s.d, NULL, NULL), BG_SINGULAR);
    end(&s);
}

/* Where the matrix is wanted for a factorisation alone, no entry of M is evaluated; where
 * elimination is not safe after all, they are, for where M was factored, also when other terms come
 * from elsewhere. Later factorisations wait with elimination, and come back to it. */
static void test_entries_where_needed(void **state)
{
    (void)state;
    schur_bench s;
    uint64_t seed = 11;
    bg_error err = {BG_OK, ""};
    const unsigned want = BG_TERM_MASS | BG_TERM_G;
    begin(&s);
    move(&s, &seed);
    compare(&s, NULL, 1e-8);
    int size = bg_system_get_size_M(s.sys), waited = 0;
    double *q = s.x->q, *far = calloc((size_t)s.d->nq, sizeof *far);
    for (int i = 0; i < size; i++)
        s.d->terms.M[i] = NAN;
    assert_ok(bg_dynamics_evaluate(s.d, 0, q, s.x->v, s.x->z, s.x->mode, want, &err));
    assert_ok(bg_dynamics_factor(s.d, NULL, &err));
    for (int i = 0; i < size; i++)
        assert_true(isnan(s.d->terms.M[i]));
    bg_kkt_solve(s.d->kkt, s.a, s.lambda);
    for (int i = 0; i < s.d->nv; i++)
        assert_true(isfinite(s.a[i]));
    assert_true(bg_dynamics_calc_rcond(s.d) > 0);
    assert_memory_equal(s.d->terms.M, s.M, (size_t)size * sizeof(double));
    for (int i = 0; i < size; i++)
        s.d->terms.M[i] = NAN;
    assert_ok(bg_dynamics_evaluate(s.d, 0, q, s.x->v, s.x->z, s.x->mode, want, &err));
    memcpy(far, q, (size_t)s.d->nq * sizeof(double));
    far[0] += 0.2;
    assert_ok(bg_dynamics_evaluate(s.d, 0, far, s.x->v, s.x->z, s.x->mode, BG_TERM_G, &err));
    memcpy(s.d->terms.G + s.d->nv, s.d->terms.G, (size_t)s.d->nv * sizeof(double));
    assert_int_equal(bg_dynamics_factor(s.d, NULL, NULL), BG_SINGULAR);
    assert_memory_equal(s.d->terms.M, s.M, (size_t)size * sizeof(double));
    assert_ptr_equal(s.d->point.q, far);
    do {
        assert_ok(bg_dynamics_evaluate(s.d, 0, q, s.x->v, s.x->z, s.x->mode, want, &err));
        assert_ok(bg_dynamics_factor(s.d, NULL, &err));
    } while (!s.d->has_mass && ++waited < 10);
    assert_int_equal(waited, 1);
    free(far);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees),
        cmocka_unit_test(test_rows_left_out),
        cmocka_unit_test(test_hands_over),
        cmocka_unit_test(test_entries_where_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The expansion of r: eliminating its unknowns gives c_q r_q + c_v r_v + c_a M of the existing
 * blocks, at random states, for every random mechanism, every model that ships and the chain. */
#include "random_mechanism.h"
#include "sample_systems.h"

#include "bogie/model.h"

#include <glob.h>

/* A system at a random state near its start, with random accelerations and multipliers. */
typedef struct place {
    const bg_system *sys;
    bg_evaluator *ev;
    bg_state *x;
    bg_point p;
} place;

static place draw_place(const bg_system *sys, uint64_t *seed)
{
    const bg_system_def *d = &sys->def;
    place at = {.sys = sys, .ev = new_evaluator(sys)};
    bg_error err;
    assert_int_equal(bg_state_create(sys, &at.x, &err), BG_OK);
    bg_state *x = at.x;
    x->t = d->t_start + 0.5 * (1 + sample_draw(seed)) * (d->t_end - d->t_start);
    for (int i = 0; i < d->nq; i++)
        x->q[i] += 0.3 * sample_draw(seed);
    if (d->normalise)
        d->normalise(at.ev->def.self, x->q);
    for (int i = 0; i < d->nv; i++) {
        x->v[i] += 2 * sample_draw(seed);
        x->a[i] = 10 * sample_draw(seed);
    }
    for (int i = 0; i < d->nz; i++)
        x->z[i] += sample_draw(seed);
    for (int i = 0; i < d->ng; i++)
        x->lambda[i] = 100 * sample_draw(seed);
    assert_int_equal(bg_system_set_point(at.ev, x->t, x->q, x->v, x->z, x->mode, &at.p, &err),
                     BG_OK);
    return at;
}

static void place_clear(place *at)
{
    bg_state_destroy(at->x);
    bg_evaluator_destroy(at->ev);
}

static void add_dense(const bg_pattern *p, const double *values, double factor, int left,
                      int columns, double *out)
{
    for (int i = 0; i < p->rows; i++)
        for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
            out[i * columns + left + p->column[k]] += factor * values[k];
}

/* factor times a block in its pattern, or dense, into out [nv nv]. */
static void add_block(int nv, const bg_pattern *p, const double *values, double factor, double *out)
{
    if (p)
        add_dense(p, values, factor, 0, nv, out);
    for (int i = 0; !p && i < nv * nv; i++)
        out[i] += factor * values[i];
}

static double *calc_blocks(const place *at, const double c[3])
{
    const bg_system_def *d = &at->sys->def;
    int n = d->nv * d->nv;
    double *out = sample_array(n), *M = sample_array(n), *q = sample_array(n), *v = sample_array(n);
    bg_derivatives blocks = {.only_stiff = 0};
    bg_error err = {BG_OK, ""};
    blocks.block[BG_OF_r][BG_BY_q] = q;
    blocks.block[BG_OF_r][BG_BY_v] = v;
    bg_terms terms = {.M = M};
    if (bg_system_calc_terms(at->ev, &at->p, BG_TERM_M, &terms, &err) != BG_OK ||
        bg_system_calc_derivatives(at->ev, &at->p, at->x->a, at->x->lambda, &blocks, &err) != BG_OK)
        fail_msg("%s", err.text);
    add_block(d->nv, d->pattern[BG_OF_r][BG_BY_q], q, c[0], out);
    add_block(d->nv, d->pattern[BG_OF_r][BG_BY_v], v, c[1], out);
    add_block(d->nv, d->pattern_M, M, c[2], out);
    free(M);
    free(q);
    free(v);
    return out;
}

static int count(const bg_pattern *p)
{
    return p->row_start[p->rows];
}

/* The whole matrix of the expansion, (nx + nv) square, with increments c times one of nv. */
static double *calc_expanded(const place *at, const double c[3])
{
    const bg_expansion *e = at->sys->def.expansion;
    int n = e->nx + at->sys->def.nv;
    bg_error err = {BG_OK, ""};
    bg_expansion_values x = {sample_array(count(&e->x)), sample_array(count(&e->q)),
                             sample_array(count(&e->v)), sample_array(count(&e->a))};
    double *out = sample_array(n * n);
    if (bg_system_calc_expansion(at->ev, &at->p, at->x->a, at->x->lambda, &x, &err) != BG_OK)
        fail_msg("%s", err.text);
    add_dense(&e->x, x.x, 1, 0, n, out);
    add_dense(&e->q, x.q, c[0], e->nx, n, out);
    add_dense(&e->v, x.v, c[1], e->nx, n, out);
    add_dense(&e->a, x.a, c[2], e->nx, n, out);
    free(x.x);
    free(x.q);
    free(x.v);
    free(x.a);
    return out;
}

/* Eliminates the first nx rows and columns with exchanges of columns among them, and returns what
 * is left in the lower right corner. */
static double *eliminate(double *A, int nx, int nv)
{
    int n = nx + nv;
    double *left = sample_array(nv * nv);
    for (int k = 0; k < nx; k++) {
        int best = k;
        for (int i = k; i < nx; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k]))
                best = i;
        assert_true(fabs(A[best * n + k]) > 0);
        for (int j = k; j < n && best != k; j++) {
            double swap = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = swap;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n && factor != 0; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    for (int i = 0; i < nv; i++)
        memcpy(left + i * nv, A + (nx + i) * n + nx, (size_t)nv * sizeof(double));
    return left;
}

/* The largest entry of the difference beside the largest of r_q, r_v and M: one may be zero. */
static double calc_error(const place *at, const double c[3])
{
    int nv = at->sys->def.nv;
    double *expected = calc_blocks(at, c), *whole = calc_expanded(at, c), size = 0;
    double *reduced = eliminate(whole, at->sys->def.expansion->nx, nv);
    for (int k = 0; k < 3; k++) {
        double *part = calc_blocks(at, (const double[3]){k == 0, k == 1, k == 2});
        size = fmax(size, sample_size(part, nv * nv));
        free(part);
    }
    double error = sample_distance(expected, reduced, nv * nv) / size;
    free(expected);
    free(whole);
    free(reduced);
    return error;
}

/* r by q, by v, M, and a sum as a step has it. */
static void check_system(const bg_system *sys, uint64_t *seed, int states)
{
    const double c[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.01, 0.1, 1}};
    assert_non_null(sys->def.expansion);
    for (int k = 0; k < states; k++) {
        place at = draw_place(sys, seed);
        for (int i = 0; i < 4; i++) {
            double error = calc_error(&at, c[i]);
            if (!(error <= 1e-10))
                fail_msg("%s, state %d, part %d: error %g", sys->def.name, k, i, error);
        }
        place_clear(&at);
    }
}

static void test_chain(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 1; n <= 16; n = 3 * n + 1) {
        bg_system_def def = builtin_define("chain", n);
        bg_system *sys = sample_create(&def);
        check_system(sys, &seed, 3);
        bg_system_destroy(sys);
    }
}

static void check_model(const bg_model *model, uint64_t *seed, int states)
{
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    if (bg_model_create_system(model, "joint", &sys, &err) != BG_OK)
        fail_msg("%s", err.text);
    check_system(sys, seed, states);
    bg_system_destroy(sys);
}

static void test_models(void **state)
{
    (void)state;
    uint64_t seed = 5;
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        if (bg_model_read(files.gl_pathv[k], NULL, 0, &model, &err) != BG_OK)
            fail_msg("%s", err.text);
        check_model(model, &seed, 1);
        bg_model_destroy(model);
    }
    assert_true(files.gl_pathc >= 14);
    globfree(&files);
}

/* Trees and loops of all joints with all forces; the second half with prescribed joints. */
static void test_random_mechanisms(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned k = 0; k < 60; k++) {
        random_mechanism m = k < 30 ? random_mechanism_make(1000 + k)
                                    : random_mechanism_make_driven(1000 + k);
        bg_error err = {BG_OK, ""};
        bg_model *model;
        if (bg_model_parse(m.text, "random", NULL, 0, &model, &err) != BG_OK)
            fail_msg("%s", err.text);
        check_model(model, &seed, 1);
        bg_model_destroy(model);
        free(m.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_random_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

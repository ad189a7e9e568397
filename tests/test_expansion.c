/* The expansion of r: eliminating its unknowns gives c_q r_q + c_v r_v + c_a M of the existing
 * blocks, at random states, for every random mechanism, every model that ships and the chain; what
 * is solved by it is what is solved with these blocks; and it takes operations in proportion to the
 * length of a chain. */
#include "random_mechanism.h"
#include "sample_systems.h"

#include "integrators/expanded.h"

#include "bogie/model.h"
#include "bogie/run.h"

#include <glob.h>

/* A system at a random state near its start, with random accelerations and multipliers. */
typedef struct expansion_place {
    const bg_system *sys;
    bg_evaluator *ev;
    const bg_expansion *e;
    bg_state *x;
    bg_point p;
} expansion_place;

static expansion_place draw_place(const bg_system *sys, uint64_t *seed)
{
    const bg_system_def *d = &sys->def;
    expansion_place at = {.sys = sys, .ev = new_evaluator(sys)};
    bg_error err;
    assert_int_equal(bg_state_create(sys, &at.x, &err), BG_OK);
    bg_state *x = at.x;
    x->t = d->t_start + 0.5 * (1 + sample_draw(seed)) * (d->t_end - d->t_start);
    double reach = strcmp(d->name, "train-carriage") == 0 ? 1e-3 : 0.3; /* wheels on their rails */
    for (int i = 0; i < d->nq; i++)
        x->q[i] += reach * sample_draw(seed);
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
    assert_int_equal(bg_evaluator_prepare_expansion(at.ev, &at.e, &err), BG_OK);
    return at;
}

static void place_clear(expansion_place *at)
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

static double *calc_blocks(const expansion_place *at, const double c[3])
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
static double *calc_expanded(const expansion_place *at, const double c[3])
{
    const bg_expansion *e = at->e;
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

/* Eliminates the first nx rows and columns from the last to the first, and returns what is left in
 * the lower right corner. */
static double *eliminate(double *A, int nx, int nv)
{
    int n = nx + nv;
    double *left = sample_array(nv * nv);
    for (int k = nx - 1; k >= 0; k--) {
        assert_true(fabs(A[k * n + k]) > 0);
        for (int i = 0; i < n; i++) {
            double factor = i < k || i >= nx ? A[i * n + k] / A[k * n + k] : 0;
            for (int j = 0; j < n && factor != 0; j++)
                A[i * n + j] -= factor * A[k * n + j];
        }
    }
    for (int i = 0; i < nv; i++)
        memcpy(left + i * nv, A + (nx + i) * n + nx, (size_t)nv * sizeof(double));
    return left;
}

/* The largest entry of the difference beside the largest of r_q, r_v and M: one may be zero. */
static double calc_error(const expansion_place *at, const double c[3])
{
    int nv = at->sys->def.nv;
    double *expected = calc_blocks(at, c), *whole = calc_expanded(at, c), size = 0;
    double *reduced = eliminate(whole, at->e->nx, nv);
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

/* All blocks of an iteration matrix, in the patterns of the system. */
typedef struct parts {
    double *M, *r_q, *r_v;
    bg_expanded_values x;
    double *owned[16];
    int n;
} parts;

static double *keep(parts *p, int n)
{
    return p->owned[p->n++] = sample_array(n + 1);
}

static double *ask(const expansion_place *at, parts *p, bg_derivatives *out, bg_of of, bg_by by)
{
    int n = bg_system_get_rows(at->sys, of) * bg_system_get_columns(at->sys, by);
    return out->block[of][by] = keep(p, n);
}

static parts calc_parts(const expansion_place *at)
{
    const bg_system_def *d = &at->sys->def;
    const bg_expansion *e = at->e;
    parts p = {.n = 0};
    bg_derivatives out = {.only_stiff = 0};
    bg_error err = {BG_OK, ""};
    double *G = keep(&p, d->ng * d->nv);
    p.M = keep(&p, d->nv * d->nv);
    bg_terms terms = {.M = p.M, .G = G};
    p.r_q = ask(at, &p, &out, BG_OF_r, BG_BY_q);
    p.r_v = ask(at, &p, &out, BG_OF_r, BG_BY_v);
    if (d->nz > 0) {
        p.x.r_z = ask(at, &p, &out, BG_OF_r, BG_BY_z);
        p.x.h_q = ask(at, &p, &out, BG_OF_h, BG_BY_q);
        p.x.h_v = ask(at, &p, &out, BG_OF_h, BG_BY_v);
        p.x.h_z = ask(at, &p, &out, BG_OF_h, BG_BY_z);
    }
    if (d->ng > 0)
        p.x.w_q = ask(at, &p, &out, BG_OF_w, BG_BY_q);
    if (d->ng > 0 && d->f_of_lambda)
        p.x.r_lambda = ask(at, &p, &out, BG_OF_r, BG_BY_lambda);
    if (d->ng > 0 && d->nz > 0 && d->f_of_lambda)
        p.x.h_lambda = ask(at, &p, &out, BG_OF_h, BG_BY_lambda);
    p.x.G = G;
    p.x.r = (bg_expansion_values){keep(&p, count(&e->x)), keep(&p, count(&e->q)),
                                  keep(&p, count(&e->v)), keep(&p, count(&e->a))};
    if (bg_system_calc_terms(at->ev, &at->p, BG_TERM_M | (d->ng > 0 ? BG_TERM_G : 0u), &terms,
                             &err) != BG_OK ||
        bg_system_calc_derivatives(at->ev, &at->p, at->x->a, at->x->lambda, &out, &err) != BG_OK ||
        bg_system_calc_expansion(at->ev, &at->p, at->x->a, at->x->lambda, &p.x.r, &err) != BG_OK)
        fail_msg("%s", err.text);
    return p;
}

static void parts_clear(parts *p)
{
    for (int k = 0; k < p->n; k++)
        free(p->owned[k]);
}

/* A full matrix with rows and columns (v, z, g, e, p), p = dv - S G^T deta being kept. */
typedef struct whole_matrix {
    int n;
    double *A;
} whole_matrix;

static void put(whole_matrix *w, int first, int left, int rows, int columns, const bg_pattern *p,
                const double *values, double factor, bool transposed)
{
    for (int i = 0; i < rows; i++)
        for (int k = p ? p->row_start[i] : i * columns;
             k < (p ? p->row_start[i + 1] : (i + 1) * columns); k++) {
            int j = p ? p->column[k] : k - i * columns;
            int row = first + (transposed ? j : i), column = left + (transposed ? i : j);
            w->A[row * w->n + column] += factor * values[k];
        }
}

static const bg_pattern *get_pattern(const expansion_place *at, bg_of of, bg_by by)
{
    return bg_system_get_pattern(at->sys, of, by);
}

static whole_matrix make_whole(const expansion_place *at, const parts *p, double alpha,
                               const double *S, const unsigned char *held)
{
    const bg_system_def *d = &at->sys->def;
    int nv = d->nv, nz = d->nz, ng = d->ng, z = nv, g = z + nz, e = g + ng, v = e + ng;
    double one = 1 / alpha, two = one * one;
    whole_matrix w = {.n = v + nv, .A = sample_array((v + nv) * (v + nv))};
    put(&w, 0, 0, nv, nv, d->pattern_M, p->M, 1, false);
    put(&w, 0, 0, nv, nv, get_pattern(at, BG_OF_r, BG_BY_v), p->r_v, one, false);
    put(&w, 0, v, nv, nv, get_pattern(at, BG_OF_r, BG_BY_q), p->r_q, two, false);
    if (nz > 0) {
        put(&w, 0, z, nv, nz, get_pattern(at, BG_OF_r, BG_BY_z), p->x.r_z, one, false);
        put(&w, z, 0, nz, nv, get_pattern(at, BG_OF_h, BG_BY_v), p->x.h_v, -one, false);
        put(&w, z, v, nz, nv, get_pattern(at, BG_OF_h, BG_BY_q), p->x.h_q, -two, false);
        put(&w, z, z, nz, nz, get_pattern(at, BG_OF_h, BG_BY_z), p->x.h_z, -one, false);
    }
    if (p->x.r_lambda)
        put(&w, 0, g, nv, ng, get_pattern(at, BG_OF_r, BG_BY_lambda), p->x.r_lambda, 1, false);
    else
        put(&w, 0, g, ng, nv, d->pattern_G, p->x.G, 1, true);
    if (p->x.h_lambda)
        put(&w, z, g, nz, ng, get_pattern(at, BG_OF_h, BG_BY_lambda), p->x.h_lambda, -1, false);
    put(&w, g, 0, ng, nv, d->pattern_G, p->x.G, 1, false);
    if (ng > 0)
        put(&w, g, v, ng, nv, get_pattern(at, BG_OF_w, BG_BY_q), p->x.w_q, one, false);
    put(&w, e, v, ng, nv, d->pattern_G, p->x.G, 1, false);
    put(&w, v, e, ng, nv, d->pattern_G, p->x.G, 1, true);
    for (int i = 0; i < nv; i++)
        for (int j = e; j < e + ng; j++)
            w.A[(v + i) * w.n + j] *= S[i];
    for (int i = 0; i < nz; i++)
        w.A[(z + i) * (w.n + 1)] += 1;
    for (int i = 0; i < nv; i++) {
        w.A[(v + i) * w.n + i] -= 1;
        w.A[(v + i) * (w.n + 1)] += 1;
    }
    for (int i = 0; i < 2 * ng; i++)
        for (int j = 0; j < w.n && held[i % ng]; j++)
            w.A[(g + i) * w.n + j] = w.A[j * w.n + g + i] = g + i == j;
    return w;
}

/* Random right-hand sides; the solution with the blocks into b [n], that by the expansion into x.
 */
static void solve_both(const expansion_place *at, const parts *p, double alpha,
                       const unsigned char *held, uint64_t *seed, double *b, double *x)
{
    const bg_system_def *d = &at->sys->def;
    int nv = d->nv, ng = d->ng, n = 2 * nv + d->nz + 2 * ng, g = nv + d->nz;
    double *S = sample_array(nv + 1);
    for (int i = 0; i < nv; i++)
        S[i] = 1 + 0.9 * sample_draw(seed);
    whole_matrix w = make_whole(at, p, alpha, S, held);
    bg_linear *linear;
    bg_expanded *expanded;
    bg_error err = {BG_OK, ""};
    double *F1 = sample_array(nv + 1);
    for (int i = 0; i < n - nv; i++)
        x[i] = b[i] = sample_draw(seed);
    for (int i = 0; i < 2 * ng; i++)
        x[g + i] = b[g + i] = held[i % ng] ? 0 : b[g + i];
    for (int i = 0; i < nv; i++) { /* b_v + r_q F1/alpha^2: p is larger by F1 */
        F1[i] = sample_draw(seed);
        b[n - nv + i] = 0;
    }
    whole_matrix by_q = {.n = nv, .A = sample_array(nv * nv + 1)};
    put(&by_q, 0, 0, nv, nv, get_pattern(at, BG_OF_r, BG_BY_q), p->r_q, 1 / alpha / alpha, false);
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            b[i] += by_q.A[i * nv + j] * F1[j];
    assert_int_equal(bg_linear_create(n, NULL, &linear, &err), BG_OK);
    memcpy(bg_linear_get_values(linear), w.A, (size_t)(n * n) * sizeof(double));
    assert_int_equal(bg_linear_factor(linear), BG_OK);
    bg_linear_solve(linear, b);
    assert_int_equal(bg_expanded_create(at->ev, S, HUGE_VAL, &expanded, &err), BG_OK);
    bg_expanded_hold(expanded, held);
    assert_int_equal(bg_expanded_factor(expanded, &p->x, alpha, 1 / alpha), BG_OK);
    if (at->e->nx > 100) /* such matrices are sparse: no exchanges are needed */
        assert_true(bg_expanded_is_direct(expanded));
    bg_expanded_solve(expanded, &(bg_expanded_shift){.q = F1, .by_q = 1 / alpha / alpha},
                      &(bg_expanded_vector){x, x + nv, x + g, x + g + ng});
    bg_expanded_destroy(expanded);
    bg_linear_destroy(linear);
    free(by_q.A);
    free(w.A);
    free(F1);
    free(S);
}

/* Whether the state is one where constraints that are kept are independent enough to solve. */
static void hold_dependent(const expansion_place *at, const parts *p, unsigned char *held)
{
    const bg_system_def *d = &at->sys->def;
    bg_rank *rank;
    bg_error err = {BG_OK, ""};
    unsigned char *involved = calloc((size_t)d->ng + 1, 1);
    assert_int_equal(bg_rank_create(d->ng, d->nv, d->pattern_G, &rank, &err), BG_OK);
    bg_rank_calc(rank, &(bg_rank_question){.A = p->x.G, .tolerance = 1e-2, .least = 1e-2},
                 &(bg_rank_answer){.dependent = held, .involved = involved});
    bg_rank_destroy(rank);
    free(involved);
}

/* At large and at moderate steps; the matrix is moderately conditioned in both. */
static void check_solution(const bg_system *sys, uint64_t *seed, double limit)
{
    const bg_system_def *d = &sys->def;
    int n = 2 * d->nv + d->nz + 2 * d->ng;
    double *b = sample_array(n), *x = sample_array(n);
    unsigned char *held = calloc((size_t)d->ng + 1, 1);
    expansion_place at = draw_place(sys, seed);
    parts p = calc_parts(&at);
    if (d->ng > 0)
        hold_dependent(&at, &p, held);
    for (double alpha = 100; alpha < 1e5; alpha *= 100) {
        solve_both(&at, &p, alpha, held, seed, b, x);
        const int size[] = {d->nv, d->nz, d->ng, d->ng};
        for (int k = 0, at_k = 0; k < 4; at_k += size[k++]) { /* each group beside its own size */
            double error = sample_distance(b + at_k, x + at_k, size[k]);
            if (!(error <= limit * sample_size(b + at_k, size[k])))
                fail_msg("%s, alpha %g: solutions in group %d differ by %g", d->name, alpha, k,
                         error / sample_size(b + at_k, size[k]));
        }
    }
    parts_clear(&p);
    place_clear(&at);
    free(held);
    free(b);
    free(x);
}

/* r by q, by v, M, and a sum as a step has it. */
static void check_system(const bg_system *sys, uint64_t *seed, int states)
{
    const double c[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.01, 0.1, 1}};
    assert_non_null(sys->def.lay_out);
    for (int k = 0; k < states; k++) {
        expansion_place at = draw_place(sys, seed);
        for (int i = 0; i < 4; i++) {
            double error = calc_error(&at, c[i]);
            if (!(error <= 1e-10))
                fail_msg("%s, state %d, part %d: error %g", sys->def.name, k, i, error);
        }
        place_clear(&at);
    }
    check_solution(sys, seed, 1e-8);
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

static bg_system *create_pendulum(int n, bg_model **model)
{
    char text[16];
    bg_error err = {BG_OK, ""};
    bg_system *sys = NULL;
    snprintf(text, sizeof text, "%d", n);
    if (bg_model_read(BOGIE_SOURCE_DIR "/models/n-pendulum.json",
                      &(bg_setting){"parameters.N", text}, 1, model, &err) != BG_OK ||
        bg_model_create_system(*model, "joint", &sys, &err) != BG_OK)
        fail_msg("%s", err.text);
    return sys;
}

/* Multiplications of a factorisation, which is checked by a solution, and entries of all values. */
static double count_work(const bg_system *sys)
{
    bg_evaluator *ev = new_evaluator(sys);
    const bg_expansion *e;
    bg_expanded *expanded;
    bg_error err = {BG_OK, ""};
    assert_int_equal(bg_evaluator_prepare_expansion(ev, &e, &err), BG_OK);
    assert_int_equal(bg_expanded_create(ev, NULL, HUGE_VAL, &expanded, &err), BG_OK);
    bg_matrix_work work = bg_expanded_get_work(expanded);
    double entries = count(&e->x) + count(&e->q) + count(&e->v) + count(&e->a);
    bg_expanded_destroy(expanded);
    bg_evaluator_destroy(ev);
    return work.usual + entries;
}

/* From 64 to 1024 links sixteen times the work, where it would be 4096 times with the blocks; 120
 * multiplications a link of the chain, which has 5 unknowns, and 1500 of rods in space with 22. At
 * a length where the blocks can be had, the solutions still agree; M has condition numbers of 1e7
 * there. */
static void test_length(void **state)
{
    (void)state;
    double chain[2], pendulum[2];
    uint64_t seed = 9;
    bg_model *model;
    for (int k = 0; k < 2; k++) {
        int n = k == 0 ? 64 : 1024;
        bg_system_def def = builtin_define("chain", n);
        bg_system *sys = sample_create(&def);
        chain[k] = count_work(sys);
        bg_system_destroy(sys);
        sys = create_pendulum(n, &model);
        pendulum[k] = count_work(sys);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    assert_true(log(chain[1] / chain[0]) / log(16) <= 1.02 && chain[1] <= 120 * 1024);
    assert_true(log(pendulum[1] / pendulum[0]) / log(16) <= 1.02 && pendulum[1] <= 1700 * 1024);
    bg_system *sys = create_pendulum(150, &model);
    check_solution(sys, &seed, 1e-6);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    bg_system_def def = builtin_define("chain", 150);
    sys = sample_create(&def);
    check_solution(sys, &seed, 1e-6);
    bg_system_destroy(sys);
}

/* The end of a run of bdf at tolerances of 1e-6, and its steps. */
static int run_bdf(const bg_system *sys, const char *matrix, const char *form, double t_end,
                   double *q)
{
    const bg_setting settings[] = {{"matrix", matrix}, {"form", form}};
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.integrator = "bdf";
    o.method.settings = settings;
    o.method.nsettings = 2;
    o.method.rtol = o.method.atol = 1e-6;
    o.t_end = sys->def.t_start + t_end;
    if (bg_run(sys, &o, &r, &err) != BG_OK)
        fail_msg("%s, %s, %s: %s", sys->def.name, matrix, form, err.text);
    memcpy(q, r.final->q, (size_t)sys->def.nq * sizeof *q);
    int steps = (int)r.counters.accepted;
    bg_run_report_clear(&r);
    return steps;
}

/* With either matrix Newton's iteration is the same but for rounding, and M, which the blocks take
 * anew where only the step changed: the steps are the same but for a few, the motion to 50
 * tolerances. */
static void check_runs(const bg_system *sys, const char *form, double t_end)
{
    double *a = sample_array(sys->def.nq), *b = sample_array(sys->def.nq);
    int blocks = run_bdf(sys, "blocks", form, t_end, a);
    int expansion = run_bdf(sys, "expansion", form, t_end, b);
    if (abs(blocks - expansion) > 2 + blocks / 10 || !(sample_distance(a, b, sys->def.nq) <= 5e-5))
        fail_msg("%s, %s: %d and %d steps, difference %g", sys->def.name, form, blocks, expansion,
                 sample_distance(a, b, sys->def.nq));
    free(a);
    free(b);
}

/* Quaternions, loops, redundant constraints, tyres with states, prescribed joints. */
static void test_runs(void **state)
{
    (void)state;
    static const char *const models[] = {"vehicle-trailer", "five-link-suspension", "front-axle",
                                         "iftomm-a04-bricard", "slider-crank-3d"};
    static const char *const forms[] = {"ggl", "index3", "index2", "index1"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        char path[512];
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/models/%s.json", models[k]);
        assert_int_equal(bg_model_read(path, NULL, 0, &model, &err), BG_OK);
        assert_int_equal(bg_model_create_system(model, "joint", &sys, &err), BG_OK);
        for (int i = 0; i < (k == 0 ? 4 : 1); i++)
            check_runs(sys, forms[i], 0.1);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    bg_system_def def = builtin_define("chain", 40);
    bg_system *sys = sample_create(&def);
    check_runs(sys, "ggl", 2);
    bg_system_destroy(sys);
}

/* What cannot be had is refused with the reason. */
static void test_refusals(void **state)
{
    (void)state;
    const bg_setting settings[] = {{"matrix", "expansion"}, {"formalism", "explicit"}};
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.integrator = "bdf";
    o.method.settings = settings;
    o.method.nsettings = 1;
    bg_system_def def = builtin_define("pendulum", NAN);
    bg_system *sys = sample_create(&def);
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "the system has none"));
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    def = builtin_define("chain", 4);
    sys = sample_create(&def);
    o.method.nsettings = 2;
    assert_int_equal(bg_run(sys, &o, &r, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "formalism=residual"));
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    def = builtin_define("chain", 4);
    def.expand = NULL;
    assert_int_equal(bg_system_create(&def, &sys, &err), BG_MISSING);
    assert_non_null(strstr(err.text, "`expand`"));
    def = builtin_define("chain", 4);
    def.lay_out = NULL;
    assert_int_equal(bg_system_create(&def, &sys, &err), BG_MISSING);
    assert_non_null(strstr(err.text, "`lay_out`"));
}

static const bg_expansion *lay_out_nothing(void *self)
{
    (void)self;
    return NULL;
}

static const bg_expansion *lay_out_wrong(void *self)
{
    static const bg_expansion wrong = {.nx = -1};
    (void)self;
    return &wrong;
}

static void check_layout(const bg_expansion *(*lay_out)(void *self), bg_status expected,
                         const char *text)
{
    bg_system_def def = builtin_define("chain", 4);
    bg_error err = {BG_OK, ""};
    const bg_expansion *e;
    def.lay_out = lay_out;
    bg_system *sys = sample_create(&def);
    bg_evaluator *ev = new_evaluator(sys);
    assert_int_equal(bg_evaluator_prepare_expansion(ev, &e, &err), expected);
    assert_non_null(strstr(err.text, text));
    assert_null(e);
    assert_int_equal(bg_system_calc_expansion(ev, &(bg_point){.t = 0}, NULL, NULL, NULL, &err),
                     BG_MISSING);
    assert_non_null(strstr(err.text, "bg_evaluator_prepare_expansion"));
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

/* Evaluators have expansions of their own, alike, each made once; one that is wrong is refused when
 * it is asked for. */
static void test_layouts(void **state)
{
    bg_model *model;
    bg_system *sys = create_pendulum(3, &model);
    bg_evaluator *ev[2] = {new_evaluator(sys), new_evaluator(sys)};
    const bg_expansion *e[2], *again;
    bg_error err = {BG_OK, ""};
    (void)state;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(bg_evaluator_prepare_expansion(ev[k], &e[k], &err), BG_OK);
        assert_int_equal(bg_evaluator_prepare_expansion(ev[k], &again, &err), BG_OK);
        assert_ptr_equal(again, e[k]);
    }
    assert_ptr_not_equal(e[0], e[1]);
    assert_int_equal(e[0]->nx, e[1]->nx);
    assert_int_equal(count(&e[0]->x), count(&e[1]->x));
    assert_memory_equal(e[0]->x.column, e[1]->x.column, (size_t)count(&e[0]->x) * sizeof(int));
    for (int k = 0; k < 2; k++)
        bg_evaluator_destroy(ev[k]);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    check_layout(lay_out_nothing, BG_NO_MEMORY, "out of memory for the expansion");
    check_layout(lay_out_wrong, BG_BAD_INPUT, "nx = -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_random_mechanisms),
        cmocka_unit_test(test_length),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a model computes at a point does not depend on where it was evaluated before: results that
 * are kept from call to call are those of a first call, bit by bit. */
#include "evaluator_support.h"
#include "model_support.h"

#include "system/system.h"

enum { POINTS = 400 };

typedef struct system_values {
    bg_terms terms;
    double *y, *r; /* outputs, residual */
    bg_energy energy;
} system_values;

/* A system and room for what it computes. */
typedef struct system_side {
    bg_system *sys;
    bg_evaluator *ev;
    system_values out;
} system_side;

static double *room(int n)
{
    return calloc((size_t)(n > 0 ? n : 1), sizeof(double));
}

static void open_side(const bg_model *model, const char *form, system_side *x)
{
    bg_error err = {BG_OK, ""};
    assert_ok(bg_model_create_system(model, form, &x->sys, &err));
    x->ev = new_evaluator(x->sys);
    const bg_system_def *d = bg_system_get_def(x->sys);
    x->out.terms = (bg_terms){.M = room(d->nv * d->nv),
                              .f = room(d->nv),
                              .g = room(d->ng),
                              .gt = room(d->ng),
                              .G = room(d->ng * d->nv),
                              .gamma = room(d->ng),
                              .V = room(d->nq * d->nv),
                              .h = room(d->nz),
                              .s = room(d->ns)};
    x->out.y = room(d->ny);
    x->out.r = room(d->nv);
}

static void close_side(system_side *x)
{
    double *const arrays[] = {x->out.terms.M, x->out.terms.f,     x->out.terms.g, x->out.terms.gt,
                              x->out.terms.G, x->out.terms.gamma, x->out.terms.V, x->out.terms.h,
                              x->out.terms.s, x->out.y,           x->out.r};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    bg_evaluator_destroy(x->ev);
    bg_system_destroy(x->sys);
}

/* Everything at a point, each by a call of its own. */
static void evaluate(system_side *x, double t, const double *q, const double *v, const double *z,
                     const int *mode, const double *lambda)
{
    bg_error err = {BG_OK, ""};
    const bg_system_def *d = &x->ev->def;
    bg_point p;
    assert_ok(bg_system_set_point(x->ev, t, q, v, z, mode, &p, &err));
    for (unsigned bit = BG_TERM_s; bit > 0; bit >>= 1)
        assert_ok(bg_system_calc_terms(x->ev, &p, bit, &x->out.terms, &err));
    assert_int_equal(bg_system_calc_energy(x->ev, &p, &x->out.energy), 0);
    if (d->residual)
        assert_int_equal(d->residual(d->self, &p, v, lambda, x->out.r), 0);
    assert_int_equal(d->outputs(d->self, &p, v, lambda, x->out.y), 0);
}

static void assert_same(const double *a, const double *b, int n)
{
    assert_memory_equal(a, b, (size_t)n * sizeof(double));
}

static void compare(const system_side *x, const system_side *y)
{
    const bg_system_def *d = bg_system_get_def(x->sys);
    const bg_terms *a = &x->out.terms, *b = &y->out.terms;
    assert_same(a->M, b->M, bg_system_get_size_M(x->sys));
    assert_same(a->f, b->f, d->nv);
    assert_same(a->g, b->g, d->ng);
    assert_same(a->gt, b->gt, d->ng);
    assert_same(a->G, b->G, bg_system_get_size_G(x->sys));
    assert_same(a->gamma, b->gamma, d->ng);
    assert_same(a->h, b->h, d->nz);
    assert_same(a->s, b->s, d->ns);
    assert_same(x->out.y, y->out.y, d->ny);
    assert_same(x->out.r, y->out.r, d->nv);
    assert_same(&x->out.energy.kinetic, &y->out.energy.kinetic, 1);
    assert_same(&x->out.energy.potential, &y->out.energy.potential, 1);
    assert_same(&x->out.energy.power, &y->out.energy.power, 1);
}

/* A number in (-1, 1). */
static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed * 0x1p-63;
}

static void shake(double *x, const double *around, int n, double size, uint64_t *seed)
{
    for (int i = 0; i < n; i++)
        x[i] = (around ? around[i] : 0) + size * draw(seed);
}

/* One system goes from point to point, of which each differs from the one before in some of t, q,
 * v, z and modes; the other one is sent elsewhere before every point. */
static void check_model(const char *path, const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    system_side kept, fresh;
    uint64_t seed = 1;
    assert_ok(bg_model_read(path, NULL, 0, &model, &err));
    open_side(model, form, &kept);
    open_side(model, form, &fresh);
    const bg_system_def *d = bg_system_get_def(kept.sys);
    double t = 0, *q = room(d->nq), *v = room(d->nv), *z = room(d->nz), *lambda = room(d->ng);
    double *away_q = room(d->nq), *away_v = room(d->nv);
    int *mode = calloc((size_t)d->nmode + 1, sizeof(int));
    shake(q, d->q0, d->nq, 0.01, &seed);
    shake(lambda, NULL, d->ng, 10, &seed);
    for (int k = 0; k < POINTS; k++) {
        int change = (int)(16 * (1 + draw(&seed)));
        if (change & 1)
            t = 3 * (1 + draw(&seed));
        if (change & 2)
            shake(q, d->q0, d->nq, 0.01, &seed);
        if (change & 4)
            shake(v, d->v0, d->nv, 0.1, &seed);
        if (change & 8)
            shake(z, d->z0, d->nz, 0.01, &seed);
        if ((change & 16) && d->nmode > 0)
            mode[k % d->nmode] = 1 - mode[k % d->nmode];
        evaluate(&kept, t, q, v, z, mode, lambda);
        shake(away_q, q, d->nq, 0.01, &seed);
        shake(away_v, v, d->nv, 0.01, &seed);
        evaluate(&fresh, t + 0.1, away_q, away_v, z, mode, lambda);
        evaluate(&fresh, t, q, v, z, mode, lambda);
        compare(&kept, &fresh);
    }
    close_side(&kept);
    close_side(&fresh);
    bg_model_destroy(model);
    double *const arrays[] = {q, v, z, lambda, away_q, away_v};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(mode);
}

static void test_models(void **state)
{
    (void)state;
    static const char *const models[] = {"models/vehicle-trailer", "models/five-link-suspension",
                                         "models/four-bar", "tests/laws"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int form = 0; form < 2; form++) {
            char path[512];
            snprintf(path, sizeof path, BOGIE_SOURCE_DIR "/%s.json", models[i]);
            check_model(path, forms[form]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

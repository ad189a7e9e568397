/* A system is constant: runs in threads share one and get the bits of a run alone. Explicit and
 * residual formalism with multipliers, by functions of the system or from its terms, are inverse to
 * each other; parts of a system can be asked for alone. */
#include "evaluator_support.h"
#include "random_mechanism.h"
#include "run_support.h"

#include <glob.h>
#include <pthread.h>

enum { THREADS = 4 };

typedef struct evaluator_job {
    const bg_system *sys;
    const char *integrator;
    double step;
    bg_run_report report;
    bg_status status;
} evaluator_job;

static void *run_job(void *argument)
{
    evaluator_job *x = argument;
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    o.skip_comparison = 1; /* not what is looked at here */
    o.integrator = x->integrator;
    o.method.step = x->step;
    o.t_end = bg_system_get_def(x->sys)->t_start + 0.1;
    o.max_steps = SANITIZED ? 40 : 200;
    x->status = bg_run(x->sys, &o, &x->report, &err);
    return NULL;
}

static void compare(const evaluator_job *a, const evaluator_job *b)
{
    const bg_system_def *d = bg_system_get_def(a->sys);
    const bg_state *x = a->report.final, *y = b->report.final;
    assert_int_equal(a->status, b->status);
    assert_non_null(x);
    assert_non_null(y);
    assert_true(x->t == y->t && x->t > d->t_start);
    assert_memory_equal(x->q, y->q, (size_t)(d->nq + d->nv + d->nz + 1) * sizeof(double));
    assert_memory_equal(x->lambda, y->lambda, (size_t)d->ng * sizeof(double));
    assert_memory_equal(a->report.y, b->report.y, (size_t)d->ny * sizeof(double));
    assert_memory_equal(&a->report.counters, &b->report.counters, sizeof a->report.counters);
}

/* One run alone, then several at once on the same system. */
static void check_shared(const bg_system *sys)
{
    static const char *const integrators[THREADS] = {"mdop5", "linear-euler", "mdop5",
                                                     "linear-euler"};
    evaluator_job alone[2], shared[THREADS];
    pthread_t thread[THREADS];
    for (int k = 0; k < 2; k++) {
        alone[k] = (evaluator_job){.sys = sys, .integrator = integrators[k], .step = k * 1e-3};
        run_job(&alone[k]);
    }
    for (int k = 0; k < THREADS; k++) {
        shared[k] = (evaluator_job){.sys = sys, .integrator = integrators[k], .step = k % 2 * 1e-3};
        assert_int_equal(pthread_create(&thread[k], NULL, run_job, &shared[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        compare(&alone[k % 2], &shared[k]);
        bg_run_report_clear(&shared[k].report);
    }
    bg_run_report_clear(&alone[0].report);
    bg_run_report_clear(&alone[1].report);
}

static void test_models_in_threads(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t k = 0; k < files.gl_pathc; k++)
        for (int form = 0; form < 2; form++) {
            bg_model *model;
            bg_system *sys;
            assert_ok(bg_model_read(files.gl_pathv[k], NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, form ? "cartesian" : "joint", &sys, &err));
            check_shared(sys);
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
    globfree(&files);
}

/* Laws of outputs, controllers, tyres, followed angles. */
static void test_random_in_threads(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (unsigned seed = 1; seed <= (SANITIZED ? 6 : 12); seed++) {
        random_mechanism x = random_mechanism_make(seed);
        bg_model *model;
        bg_system *sys;
        assert_ok(bg_model_parse(x.text, "random", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, seed % 2 ? "cartesian" : "joint", &sys, &err));
        check_shared(sys);
        bg_system_destroy(sys);
        bg_model_destroy(model);
        free(x.text);
    }
}

static void test_equations_in_threads(void **state)
{
    (void)state;
    for (int k = 0; bg_equations_get_all()[k]; k++) {
        char reference[64];
        snprintf(reference, sizeof reference, "equations:%s", bg_equations_get_all()[k]->name);
        bg_system *sys = create_system(reference, NULL, NULL);
        check_shared(sys);
        bg_system_destroy(sys);
    }
}

/* r(a) of the explicit formalism's a, beside the forces; -1 where there is no explicit one. */
static double calc_defect(const bg_system *sys, const double *lambda)
{
    bg_error err = {BG_OK, ""};
    const bg_system_def *d = bg_system_get_def(sys);
    bg_evaluator *ev = new_evaluator(sys);
    bg_state *x;
    bg_point p;
    double defect = -1, scale = 1, *r = calloc(2 * (size_t)d->nv + 1, sizeof *r), *a = r + d->nv;
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_system_set_point(ev, x->t, x->q, x->v, x->z, x->mode, &p, &err));
    if (bg_evaluator_prepare_acceleration(ev, &err) == BG_OK) {
        defect = 0;
        assert_ok(bg_system_calc_residual(ev, &p, a, lambda, r, &err)); /* at a = 0: the forces */
        for (int i = 0; i < d->nv; i++)
            scale = fmax(scale, fabs(r[i]));
        assert_ok(bg_system_calc_acceleration(ev, &p, lambda, a, &err));
        assert_ok(bg_system_calc_residual(ev, &p, a, lambda, r, &err));
        for (int i = 0; i < d->nv; i++)
            defect = fmax(defect, fabs(r[i]) / scale);
    } else {
        assert_true(d->semidefinite && strstr(err.text, "residual"));
    }
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    free(r);
    return defect;
}

static void draw(double *x, int n, unsigned seed)
{
    uint64_t state = seed;
    for (int i = 0; i < n; i++)
        x[i] = random_between(&state, -5, 5);
}

static void test_formalisms(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double worst = 0;
    int without = 0;
    enum { RANDOM = SANITIZED ? 8 : 20 };
    for (unsigned seed = 1; seed <= RANDOM; seed++)
        for (int form = 0; form < 2; form++) {
            random_mechanism x = random_mechanism_make(seed);
            bg_model *model;
            bg_system *sys;
            assert_ok(bg_model_parse(x.text, "random", NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, form ? "cartesian" : "joint", &sys, &err));
            double *lambda = calloc((size_t)bg_system_get_def(sys)->ng + 1, sizeof *lambda);
            draw(lambda, bg_system_get_def(sys)->ng, seed);
            double defect = calc_defect(sys, lambda);
            without += defect < 0;
            worst = fmax(worst, defect);
            free(lambda);
            bg_system_destroy(sys);
            bg_model_destroy(model);
            free(x.text);
        }
    assert_int_equal(without, RANDOM); /* Cartesian: M alone is singular */
    for (int k = 0; bg_equations_get_all()[k]; k++) {
        char reference[64];
        double lambda[8];
        snprintf(reference, sizeof reference, "equations:%s", bg_equations_get_all()[k]->name);
        bg_system *sys = create_system(reference, NULL, NULL);
        draw(lambda, 8, 5);
        assert_true(bg_system_get_def(sys)->ng <= 8);
        double defect = calc_defect(sys, lambda);
        assert_true(defect >= 0);
        worst = fmax(worst, defect);
        bg_system_destroy(sys);
    }
    print_message("explicit formalism into residual: %.1e of the forces\n", worst);
    assert_true(worst < 1e-11);
}

/* Two masses on a spring with a state each: the first is slow, the second fast. */
static int mass_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    (void)self;
    double force = 100 * (p->q[1] - p->q[0]);
    if (want & BG_TERM_M)
        out->M[0] = 2, out->M[1] = out->M[2] = 0, out->M[3] = 0.5;
    if (want & BG_TERM_f)
        out->f[0] = force, out->f[1] = -force;
    if (want & BG_TERM_h)
        out->h[0] = p->v[0] - p->z[0], out->h[1] = p->v[1] - p->z[1];
    return 0;
}

static int fast_alone(void *self, const bg_point *p, unsigned part, const double *lambda, double *a,
                      double *z_t)
{
    int *calls = self;
    (void)lambda;
    if (part & BG_PART_SLOW)
        return 1;
    ++*calls;
    a[1] = -200 * (p->q[1] - p->q[0]);
    z_t[1] = p->v[1] - p->z[1];
    return 0;
}

static void test_parts(void **state)
{
    (void)state;
    static const unsigned char parts[] = {BG_PART_SLOW, BG_PART_FAST};
    const double q[] = {0, 0.1}, v[] = {3, 4}, z[] = {1, 1};
    int calls = 0;
    for (int own = 0; own < 2; own++) {
        bg_system_def def = bg_default_system_def();
        bg_error err = {BG_OK, ""};
        bg_system *sys;
        bg_point p;
        double a[2] = {NAN, NAN}, z_t[2] = {NAN, NAN};
        def.nq = def.nv = def.nz = 2;
        def.self = &calls;
        def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h;
        def.terms = mass_terms;
        def.v_part = def.z_part = parts;
        def.accelerate_part = own ? fast_alone : NULL;
        assert_ok(bg_system_create(&def, &sys, &err));
        bg_evaluator *ev = new_evaluator(sys);
        assert_ok(bg_evaluator_prepare_acceleration(ev, &err));
        assert_ok(bg_system_set_point(ev, 0, q, v, z, NULL, &p, &err));
        assert_ok(bg_system_calc_part(ev, &p, BG_PART_FAST, NULL, a, z_t, &err));
        assert_true(isnan(a[0]) && isnan(z_t[0])); /* what was not wanted is left alone */
        assert_true(fabs(a[1] + 20) < 1e-13 && z_t[1] == 3);
        bg_status st = bg_system_calc_part(ev, &p, BG_PART_SLOW, NULL, a, z_t, &err);
        assert_int_equal(st, own ? BG_RETRY : BG_OK);
        if (!own)
            assert_true(fabs(a[0] - 5) < 1e-13 && z_t[0] == 2);
        bg_evaluator_destroy(ev);
        bg_system_destroy(sys);
    }
    assert_int_equal(calls, 1);
}

static void *no_fork(const void *self)
{
    (void)self;
    return NULL;
}

static void test_fork_without_memory(void **state)
{
    (void)state;
    bg_system_def def = bg_default_system_def();
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_evaluator *ev;
    def.nq = def.nv = 1;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = mass_terms;
    def.fork = no_fork;
    assert_ok(bg_system_create(&def, &sys, &err));
    assert_int_equal(bg_evaluator_create(sys, &ev, &err), BG_NO_MEMORY);
    assert_null(ev);
    bg_system_destroy(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_in_threads),
        cmocka_unit_test(test_random_in_threads),
        cmocka_unit_test(test_equations_in_threads),
        cmocka_unit_test(test_formalisms),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_fork_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Independent directions and coordinates: of random mechanisms in both forms, some with
 * quaternions, some with redundant constraints or moving ones. */
#include "integrators/independent.h"
#include "model_support.h"
#include "random_mechanism.h"

typedef struct independent_subject {
    bg_model *model;
    bg_system *sys;
    bg_state *state;
    bg_assembly_report assembly;
    bg_integrator *ig;
    bg_independent *partition;
} independent_subject;

/* False: the mechanism cannot be put together. */
static bool begin(independent_subject *s, const char *text, const char *form, bool directions)
{
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    *s = (independent_subject){0};
    assert_ok(bg_model_parse(text, "random", NULL, 0, &s->model, &err));
    assert_ok(bg_model_create_system(s->model, form, &s->sys, &err));
    assert_ok(bg_state_create(s->sys, &s->state, &err));
    if (bg_state_assemble(s->sys, s->state, &s->assembly, &err) != BG_OK)
        return false;
    assert_ok(bg_integrator_create(
        "rk4", s->sys, &(bg_integrator_options){.rtol = o.rtol, .atol = o.atol, .step = 1e-3},
        &s->ig, &err));
    bg_dynamics_set_eliminated(s->ig->dyn, &s->assembly.redundancy);
    assert_ok(bg_independent_create(s->ig, directions, &s->partition, &err));
    return true;
}

static void end(independent_subject *s)
{
    bg_independent_destroy(s->partition);
    bg_integrator_destroy(s->ig);
    bg_assembly_report_clear(&s->assembly);
    bg_state_destroy(s->state);
    bg_system_destroy(s->sys);
    bg_model_destroy(s->model);
}

static void evaluate(independent_subject *s, const bg_state *x)
{
    bg_error err = {BG_OK, ""};
    unsigned want = BG_TERM_G | BG_TERM_g | BG_TERM_gt;
    want |= s->ig->dyn->kinematic ? BG_TERM_V : 0u;
    assert_ok(bg_dynamics_evaluate(s->ig->dyn, x->t, x->q, x->v, x->z, x->mode, want, &err));
}

/* The largest |w| of kept rows beside their sizes. */
static double find_largest(const independent_subject *s, const double *w)
{
    double most = 0;
    for (int i = 0; i < s->ig->dyn->ng; i++)
        if (!s->ig->dyn->eliminated[i])
            most = fmax(most, fabs(w[i]) / s->partition->size[i]);
    return most;
}

/* What is left of a random velocity on the constraints is perpendicular to x, in sizes. */
static void check_perpendicular(independent_subject *s, uint64_t *seed, const double *x)
{
    bg_independent *p = s->partition;
    double e_q[512] = {0}, e_v[512], sum = 0, xx = 0, ee = 0;
    for (int j = 0; j < p->nv; j++)
        e_v[j] = p->unit[j] * random_between(seed, -1, 1);
    bg_independent_follow(p, e_q, e_v);
    for (int j = 0; j < p->nv; j++) {
        double u = p->unit[j] * p->unit[j];
        sum += x[j] * e_v[j] / u;
        xx += x[j] * x[j] / u;
        ee += e_v[j] * e_v[j] / u;
    }
    assert_true(fabs(sum) <= 1e-9 * sqrt(xx * ee) + 1e-12);
    bg_matrix_multiply(p->ng, p->nv, s->sys->def.pattern_G, s->ig->dyn->terms.G, e_v,
                       s->ig->dyn->work_g);
    assert_true(find_largest(s, s->ig->dyn->work_g) < 1e-9);
}

/* G x = y with x_I = 0, and G_u^T y = x_u; of directions, x perpendicular to motions. */
static void check_solutions(independent_subject *s, uint64_t *seed)
{
    const bg_dynamics *d = s->ig->dyn;
    bg_independent *p = s->partition;
    double x[512] = {0}, y[512] = {0}, back[512] = {0};
    for (int i = 0; i < p->ng; i++)
        y[i] = d->eliminated[i] ? 0 : p->size[i] * random_between(seed, -1, 1);
    bg_independent_solve(p, y, x);
    bg_matrix_multiply(p->ng, p->nv, s->sys->def.pattern_G, d->terms.G, x, back);
    for (int i = 0; i < p->ng; i++)
        back[i] -= y[i];
    assert_true(find_largest(s, back) < 1e-9);
    for (int k = 0; k < p->n && !p->directions; k++)
        assert_true(x[p->index[k]] == 0);
    if (p->directions) {
        check_perpendicular(s, seed, x);
        return;
    }
    for (int j = 0; j < p->nv; j++)
        x[j] = random_between(seed, -1, 1) / p->unit[j];
    bg_independent_solve_transposed(p, x, y);
    memset(back, 0, sizeof back);
    bg_matrix_add_transposed(p->ng, p->nv, s->sys->def.pattern_G, d->terms.G, 1, y, back);
    for (int j = 0; j < p->nv; j++)
        assert_true(p->independent[j] || fabs(back[j] - x[j]) * p->unit[j] < 1e-9);
}

/* Off the constraints by little: dependent coordinates come back, independent ones stay. */
static void check_recovery(independent_subject *s, uint64_t *seed)
{
    bg_error err = {BG_OK, ""};
    const bg_dynamics *d = s->ig->dyn;
    bg_independent *p = s->partition;
    bg_state *x = s->state;
    double step[512], v[512], q[512];
    for (int j = 0; j < p->nv; j++)
        step[j] = 1e-3 * p->unit[j] * random_between(seed, -1, 1);
    bg_system_move(s->ig->sys, x->q, d->terms.V, 1, step, x->q);
    for (int j = 0; j < p->nv; j++)
        v[j] = x->v[j] += p->unit[j] * random_between(seed, -1, 1);
    memcpy(q, x->q, (size_t)d->nq * sizeof *q);
    assert_ok(bg_independent_close(p, x->t, x->q, x->v, x->z, x->mode, &err));
    evaluate(s, x);
    assert_ok(bg_independent_factor(p, &err));
    assert_true(find_largest(s, d->terms.g) < 1e-11);
    for (int k = 0; k < p->n && !d->kinematic && !p->directions; k++)
        assert_true(x->q[p->index[k]] == q[p->index[k]]);
    bg_independent_complete(p, x->v);
    bg_dynamics_calc_w(d, x->v, d->work_g);
    assert_true(find_largest(s, d->work_g) < 1e-9);
    for (int k = 0; k < p->n && !p->directions; k++)
        assert_true(x->v[p->index[k]] == v[p->index[k]]);
}

static void test_random(void **state)
{
    (void)state;
    int constrained = 0, redundant = 0, kinematic = 0;
    for (unsigned number = 1; number <= (SANITIZED ? 20 : 80); number++)
        for (int f = 0; f < 4; f++) {
            bg_error err = {BG_OK, ""};
            uint64_t seed = number;
            random_mechanism m = random_mechanism_make(number);
            independent_subject s;
            if (begin(&s, m.text, forms[f % 2], f >= 2) && s.sys->def.nv < 512 &&
                s.sys->def.ng < 512) {
                evaluate(&s, s.state);
                assert_ok(bg_independent_choose(s.partition, &err));
                int rank = s.sys->def.ng - s.assembly.redundancy.count;
                assert_int_equal(s.partition->n, s.sys->def.nv - rank);
                assert_int_equal(s.partition->changes, 0);
                constrained += rank > 0;
                redundant += s.assembly.redundancy.count > 0;
                kinematic += s.ig->dyn->kinematic;
                if (rank > 0) {
                    check_solutions(&s, &seed);
                    check_recovery(&s, &seed);
                }
            }
            end(&s);
            free(m.text);
        }
    print_message("%d with constraints, %d with redundant ones, %d with quaternions\n", constrained,
                  redundant, kinematic);
    assert_true(constrained > 20 && redundant > 3 && kinematic > 5);
}

/* A pendulum in Cartesian coordinates of a point: x is dependent where it hangs sideways, z where
 * it hangs down; the condition number asks for the change in between. */
static void test_change(void **state)
{
    (void)state;
    const char
        *text = "{'bodies': {'a': {'mass': 1, 'center': [1, 0, 0], 'inertia': [0.1, 0.1, 0.1]}, "
                "'b': {'mass': 1, 'center': [1, 0, -1], 'inertia': [0.1, 0.1, 0.1]}}, 'joints': "
                "{'s': {'type': 'prismatic', 'bodies': ['ground', 'a'], 'at': [1, 0, 0], "
                "'axis': [1, 0, 0]}, 'u': {'type': 'prismatic', 'bodies': ['ground', 'b'], "
                "'at': [1, 0, -1], 'axis': [0, 0, 1]}, 'rod': {'type': 'distance', 'points': "
                "['a', 'b']}}, 'forces': {}}";
    bg_error err = {BG_OK, ""};
    char *copy = quote(text);
    independent_subject s;
    assert_true(begin(&s, copy, "joint", false));
    bg_independent *p = s.partition;
    evaluate(&s, s.state); /* the rod is upright: its length changes with b alone */
    assert_ok(bg_independent_choose(p, &err));
    assert_true(p->independent[0] && !p->independent[1]);
    bool asked = false;
    for (int k = 1; k <= 9 && !asked; k++) { /* a moves, b follows */
        double angle = 0.17 * k;
        s.state->q[0] = sin(angle);
        s.state->q[1] = 1 - cos(angle);
        evaluate(&s, s.state);
        assert_near(s.ig->dyn->terms.g[0], 0, 1e-12);
        assert_ok(bg_independent_factor(p, &err));
        asked = bg_independent_judge(p);
        if (!asked)
            assert_true(p->condition < 1.25 * p->condition_first || p->condition < 10);
    }
    assert_true(asked);
    assert_ok(bg_independent_choose(p, &err));
    assert_true(!p->independent[0] && p->independent[1]);
    assert_int_equal(p->changes, 1);
    assert_false(bg_independent_judge(p));
    end(&s);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Linearisation and modes: closed forms, both formulations, differences of the motion itself. */
#include "modes_support.h"
#include "random_mechanism.h"

static const double gravity = 9.81;

static void assert_mode(const bg_modes *m, int k, double re, double im, double tolerance)
{
    if (k >= m->count)
        fail_msg("there are only %d modes", m->count);
    if (!(hypot(m->mode[k].re - re, m->mode[k].im - im) <= tolerance * hypot(re, im)))
        fail_msg("mode %d is %.15g %+.15g i, not %.15g %+.15g i", k, m->mode[k].re, m->mode[k].im,
                 re, im);
}

/* Two points of 1 kg on massless rods of 1 m, with a little inertia each. */
static const char *const double_pendulum =
    "{'gravity': 9.81, 'bodies': {"
    "'a': {'mass': 1, 'center': [0, 0, -1], 'inertia': [0.01, 0.01, 0.01]},"
    "'b': {'mass': 1, 'center': [0, 0, -2], 'inertia': [0.01, 0.01, 0.01]}},"
    "'joints': {'first': {'type': 'revolute', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': "
    "[0, 1, 0]}, 'second': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': [0, 0, -1], 'axis': "
    "[0, 1, 0]}}}";

/* With absolute angles M = [2 + j, 1; 1, 1 + j], K = g [2 0; 0 1]: det(K - s M) = 0. */
static void test_double_pendulum(void **state)
{
    (void)state;
    double j = 0.01, a = (2 + j) * (1 + j) - 1, b = -gravity * (2 * (1 + j) + (2 + j));
    double c = 2 * gravity * gravity, root = sqrt(b * b - 4 * a * c);
    for (int k = 0; k < 2; k++) {
        linear_model m;
        linear_begin(&m, double_pendulum, forms[k]);
        linear_find_modes(&m);
        assert_int_equal(m.modes.count, 2);
        assert_int_equal(m.modes.zeros, 0);
        assert_mode(&m.modes, 0, 0, sqrt((-b - root) / (2 * a)), 1e-12);
        assert_mode(&m.modes, 1, 0, sqrt((-b + root) / (2 * a)), 1e-12);
        linear_end(&m);
    }
}

static const char *const quarter =
    "{'gravity': 0, 'bodies': {'m': {'mass': 2, 'center': [0, 0, 1], 'inertia': [1, 1, 1]}},"
    "'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'm'], 'at': [0, 0, 1], 'axis': [0, "
    "0, 1]}}, 'forces': {'k': {'type': 'torsion', 'joint': 's', 'stiffness': 50, 'damping': 4}}}";

/* x'' + 2 x' + 25 x = 0. */
static void test_damped(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        linear_model m;
        linear_begin(&m, quarter, forms[k]);
        linear_find_modes(&m);
        assert_int_equal(m.modes.count, 1);
        assert_mode(&m.modes, 0, -1, sqrt(24), 1e-12);
        assert_near(m.modes.mode[0].frequency, 5 / (2 * acos(-1)), 1e-12);
        assert_near(m.modes.mode[0].damping, 0.2, 1e-12);
        assert_near(m.modes.mode[0].participation[0], 1, 1e-12);
        linear_end(&m);
    }
}

/* A top that sleeps, J1 across and J3 along its axis, both about its foot, centre at l above it:
 * (J3 w +- sqrt((J3 w)^2 - 4 J1 m g l)) / (2 J1), and a turn about its axis that nothing resists.
 * On a ball joint coordinates turn with the top, which sees the same frequencies less its own. */
static void test_sleeping_top(void **state)
{
    (void)state;
    const char *ball = "{'gravity': 9.81, 'bodies': {'top': {'mass': 3, 'center': [0, 0, 0.5], "
                       "'inertia': [0.1, 0.1, 0.4], 'angular_velocity': [0, 0, 20]}}, 'joints': "
                       "{'tip': {'type': 'spherical', 'bodies': ['ground', 'top'], 'at': [0, 0, "
                       "0]}}}";
    const char *gimbal =
        "{'gravity': 9.81, 'bodies': {'ring': {'mass': 1, 'center': [0, 0, 0], 'inertia': [0.05, "
        "0.05, 0.05]}, 'top': {'mass': 3, 'center': [0, 0, 0.5], 'inertia': [0.05, 0.05, 0.4], "
        "'angular_velocity': [0, 0, 20]}}, 'joints': {'tip': {'type': 'universal', 'bodies': "
        "['ground', 'ring'], 'at': [0, 0, 0], 'axis': [1, 0, 0], 'second': [0, 1, 0]}, 'spin': "
        "{'type': 'revolute', 'bodies': ['ring', 'top'], 'at': [0, 0, 0], 'axis': [0, 0, 1]}}}";
    double J1 = 0.1 + 3 * 0.25, L = 0.4 * 20, root = sqrt(L * L - 4 * J1 * 3 * gravity * 0.5);
    for (int k = 0; k < 2; k++) {
        double slow = (L - root) / (2 * J1), fast = (L + root) / (2 * J1);
        linear_model m;
        linear_begin(&m, k ? gimbal : ball, "joint");
        linear_find_modes(&m);
        assert_int_equal(m.modes.zeros, 2);
        assert_int_equal(m.modes.nfree, 1);
        assert_int_equal(m.modes.count, 2);
        assert_mode(&m.modes, 0, 0, k ? slow : 20 - fast, 1e-10);
        assert_mode(&m.modes, 1, 0, k ? fast : 20 - slow, 1e-10);
        assert_int_equal(m.modes.unstable, 0);
        linear_end(&m);
    }
}

enum { MOST = 2000 };

/* Inputs held at what they are at x, with their rates, moved by `step` times a change. */
static void hold_inputs(linear_model *m, const bg_perturbation *c, double step, const double *u)
{
    const bg_linearisation *l = m->linearisation;
    for (int i = 0; i < l->nu; i++)
        bg_system_set_live(m->evaluator, i, l->at->t, u[i] + step * c->u[i],
                           u[l->nu + i] + step * c->u[l->nu + i]);
}

/* Where a change leads when nothing is linearised: positions and velocities that fulfil the
 * constraints with the independent ones held, by repeated corrections; then a_I, z' and outputs
 * into out. u [2 nu]: inputs and rates at the point. */
static void follow(linear_model *m, const bg_perturbation *c, double step, const double *u,
                   bg_state *x, double *out)
{
    bg_error err = {BG_OK, ""};
    bg_linearisation *l = m->linearisation;
    bg_evaluator *ev = m->evaluator;
    bg_terms terms = l->dyn->terms;
    bg_point p;
    double correction[MOST], rest[MOST];
    bg_state_copy(m->system, l->at, x);
    bg_system_move(ev, l->at->q, l->terms.V, step, c->delta, x->q);
    for (int i = 0; i < l->nv; i++)
        x->v[i] += step * c->v[i];
    for (int i = 0; i < l->nz; i++)
        x->z[i] += step * c->z[i];
    hold_inputs(m, c, step, u);
    for (int k = 0; k < 16; k++) {
        bool positions = k < 8;
        assert_ok(bg_system_set_state(ev, x, &p, &err));
        assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_g | BG_TERM_G | BG_TERM_gt | BG_TERM_V,
                                       &terms, &err));
        bg_matrix_multiply(l->ng, l->nv, m->system->def.pattern_G, terms.G, x->v, rest);
        for (int i = 0; i < l->ng; i++)
            rest[i] = positions ? l->dyn->offset[i] - terms.g[i] : -rest[i] - terms.gt[i];
        bg_tangent_expand(l->tangent, NULL, rest, correction);
        if (positions)
            bg_system_move(ev, x->q, terms.V, 1, correction, x->q);
        for (int i = 0; i < l->nv && !positions; i++)
            x->v[i] += correction[i];
    }
    bg_dynamics_set_guess(l->dyn, l->at->lambda);
    assert_ok(
        bg_dynamics_accelerate(l->dyn, x->t, x->q, x->v, x->z, x->mode, 0, x->a, x->lambda, &err));
    for (int k = 0; k < l->n; k++)
        out[k] = x->a[l->tangent->independent[k]];
    memcpy(out + l->n, l->dyn->terms.h, (size_t)l->nz * sizeof *out);
    assert_ok(bg_system_set_state(ev, x, &p, &err));
    if (l->ny > 0)
        assert_int_equal(ev->def.outputs(ev->def.self, &p, x->a, x->lambda, out + l->n + l->nz), 0);
}

/* All columns for states, inputs and rates of inputs against differences, shift in sizes. */
static void compare_with_motion(linear_model *m, const char *name, double shift)
{
    bg_error err = {BG_OK, ""};
    bg_linearisation *l = m->linearisation;
    bg_state *x;
    double u[MOST], base[MOST], plus[2][MOST], minus[2][MOST], column[MOST], size[MOST];
    assert_ok(bg_state_create(m->system, &x, &err));
    assert_ok(bg_linearisation_update(l, m->state, &m->report.redundancy, &err));
    memcpy(u, m->evaluator->u, (size_t)l->nu * sizeof *u);
    memcpy(u + l->nu, m->evaluator->u_t, (size_t)l->nu * sizeof *u);
    memset(l->change.u, 0, 3 * (size_t)l->nu * sizeof *u);
    hold_inputs(m, &l->change, 0, u); /* from now on u'' = 0 */
    assert_ok(bg_linearisation_update(l, m->state, &m->report.redundancy, &err));
    int nx = l->nx, ny = l->ny, rows = l->n + l->nz + ny, columns = nx + 3 * l->nu;
    assert_true(nx > 0 && rows < MOST && l->nv < MOST);
    double *A = calloc((size_t)(nx * nx), sizeof *A), *B = calloc((size_t)(nx * 3 * l->nu), 8);
    double *C = calloc((size_t)(ny * nx), 8), *D = calloc((size_t)(ny * 3 * l->nu), 8);
    assert_ok(bg_linearisation_calc(l, A, B, C, D, &err));
    follow(m, &l->change, 0, u, x, base);
    for (int i = 0; i < rows; i++)
        size[i] = 0.01 * (1 + fabs(base[i]));
    for (int pass = 0; pass < 2; pass++) /* sizes of rows first */
        for (int k = 0; k < columns - l->nu; k++) {
            const bg_perturbation *c;
            hold_inputs(m, &l->change, 0, u);
            memset(l->change.u, 0, 3 * (size_t)l->nu * sizeof *u);
            bool input = k >= nx;
            int at = input ? k - nx : k, width = input ? 3 * l->nu : nx;
            for (int i = 0; i < rows; i++)
                column[i] = i < l->n           ? (input ? B : A)[(l->n + i) * width + at]
                            : i < l->n + l->nz ? (input ? B : A)[(l->n + i) * width + at]
                                               : (input ? D : C)[(i - l->n - l->nz) * width + at];
            double most = 0;
            for (int i = 0; i < rows; i++)
                most = fmax(most, fabs(column[i]));
            for (int i = 0; i < rows && pass == 0; i++)
                size[i] = fmax(size[i], fabs(column[i]));
            if (pass == 0)
                continue;
            assert_ok(bg_linearisation_vary(l, k, &c, &err));
            double step = shift / fmax(1, fmax(bg_linearisation_calc_size(l, c->delta),
                                               bg_linearisation_calc_size(l, c->v)));
            for (int wide = 0; wide < 2; wide++) {
                follow(m, c, (1 + wide) * step, u, x, plus[wide]);
                follow(m, c, -(1 + wide) * step, u, x, minus[wide]);
            }
            for (int i = 0; i < rows; i++) {
                double d = (4 * (plus[0][i] - minus[0][i]) - (plus[1][i] - minus[1][i]) / 2) /
                           (6 * step);
                if (!(fabs(column[i] - d) <= 1e-6 * size[i] + 1e-7 * most))
                    fail_msg("%s: row %d (%s), column %d of %d is %.10g, not %.10g (sizes %g, %g)",
                             name, i,
                             i < l->n + l->nz ? "a rate" : l->sys->def.y_names[i - l->n - l->nz], k,
                             nx, column[i], d, size[i], most);
            }
            hold_inputs(m, &l->change, 0, u);
        }
    free(A), free(B), free(C), free(D);
    bg_state_destroy(x);
}

static void test_motion(void **state)
{
    (void)state;
    int compared = 0;
    for (unsigned seed = 1; seed <= (SANITIZED ? 6 : 24); seed++) {
        random_mechanism r = seed % 2 ? random_mechanism_make(seed)
                                      : random_mechanism_make_driven(seed);
        for (int k = 0; k < 2 && (seed % 2 || r.loops == 0); k++) {
            char name[64];
            linear_model m;
            linear_begin(&m, r.text, forms[k]);
            snprintf(name, sizeof name, "random mechanism %u, %s", seed, forms[k]);
            if (m.linearisation->nv <= 60 && m.system->def.nv > m.system->def.ng) {
                compare_with_motion(&m, name, 1e-4);
                compared++;
            }
            linear_end(&m);
        }
        free(r.text);
    }
    assert_true(compared > 4);
}

/* A support that slides carries a body on a ball, which a hinge joins to another one; the same with
 * the ball's body held by a redundant hinge beside it. */
#define SUPPORT(second_rate, rheonomic, more)                                                      \
    "{'gravity': 9.81, 'inputs': {'way': '0.2 + 0.7*t + " second_rate                              \
    "*t^2/2'}, 'bodies': {'a': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}, 'b': "      \
    "{'mass': 1, 'center': [0.3, 0.1, -0.5], 'inertia': [0.1, 0.2, 0.15], "                        \
    "'angular_velocity': [0.3, 1, -0.4]}, 'c': {'mass': 0.5, "                                     \
    "'center': [0.6, 0.1, -0.9], 'inertia': [0.03, 0.02, 0.04]}}, 'joints': {'rail': {'type': "    \
    "'prismatic', 'bodies': ['ground', 'a'], 'at': [0, 0, 0], 'axis': [1, 0.2, 0], 'prescribed': " \
    "'way'}, 'ball': {'type': 'spherical', 'bodies': ['a', 'b'], 'at': [0, 0, 0]}, 'hinge': "      \
    "{'type': 'revolute', 'bodies': ['b', 'c'], 'at': [0.5, 0.1, -0.7], 'axis': [0, 1, 0.3], "     \
    "'initial': {'velocity': 1.5}}" more                                                           \
    "}, 'forces': {'k': {'type': 'torsion', 'joint': 'hinge', 'stiffness': 30, 'damping': 1}}, "   \
    "'outputs': {'f': {'reaction': 'ball'}, 'a': {'acceleration': 'c'}}, 'run': {'rheonomic': "    \
    "'" rheonomic "'}}"
#define REDUNDANT                                                                                 \
    ", 'again': {'type': 'revolute', 'bodies': ['b', 'c'], 'at': [0.5, 0.4, -0.61], 'axis': [0, " \
    "1, 0.3]}"

/* B_2 and D_2: accelerations and outputs are linear in u''. */
static void test_second_rates(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {SUPPORT("0", "eliminate", ""), SUPPORT("1", "eliminate", "")},
        {SUPPORT("0", "constrain", ""), SUPPORT("1", "constrain", "")},
        {SUPPORT("0", "constrain", REDUNDANT), SUPPORT("1", "constrain", REDUNDANT)}};
    for (int k = 0; k < 6; k++) {
        bg_error err = {BG_OK, ""};
        linear_model m[2];
        for (int c = 0; c < 2; c++) {
            linear_begin(&m[c], texts[k / 2][c], forms[k % 2]);
            assert_ok(bg_linearisation_update(m[c].linearisation, m[c].state,
                                              &m[c].report.redundancy, &err));
        }
        bg_linearisation *l = m[0].linearisation;
        const bg_state *x = l->at, *z = m[1].linearisation->at;
        double *B = calloc((size_t)(3 * l->nx), 8), *D = calloc((size_t)(3 * l->ny), 8);
        double y[2][MOST], most = 0;
        assert_ok(bg_linearisation_calc(l, NULL, B, NULL, D, &err));
        for (int i = 0; i < l->n; i++) {
            int at = l->tangent->independent[i];
            assert_near(B[3 * (l->n + i) + 2], z->a[at] - x->a[at], 1e-9 * (1 + fabs(x->a[at])));
            most = fmax(most, fabs(B[3 * (l->n + i) + 2]));
        }
        for (int c = 0; c < 2; c++) {
            bg_point p;
            bg_evaluator *ev = m[c].evaluator;
            assert_ok(bg_system_set_state(ev, c ? z : x, &p, &err));
            assert_int_equal(
                ev->def.outputs(ev->def.self, &p, (c ? z : x)->a, (c ? z : x)->lambda, y[c]), 0);
        }
        for (int i = 0; i < l->ny; i++)
            if (!strstr(l->sys->def.y_names[i], "t")) /* torques of redundant hinges are anything */
                assert_near(D[3 * i + 2], y[1][i] - y[0][i], 1e-7 * (1 + fabs(y[0][i])));
        assert_true(most > 0.1);
        free(B), free(D);
        linear_end(&m[0]);
        linear_end(&m[1]);
    }
}

/* Hand-written equations: multipliers in the forces, inputs, states, derivatives by differences. */
static void test_equations(void **state)
{
    (void)state;
    int compared = 0;
    for (const bg_equations *const *f = bg_equations_get_all(); *f; f++) {
        bg_error err = {BG_OK, ""};
        linear_model m = {0};
        assert_ok(bg_equations_create(*f, NULL, 0, &m.system, &err));
        linear_begin_system(&m);
        if (m.system->def.nv <= 60) {
            const bool kinked = strcmp((*f)->name, "planar-vehicle") == 0; /* s |s| at no slip */
            compare_with_motion(&m, (*f)->name, kinked ? 1e-7 : 1e-6);     /* contacts are narrow */
            compared++;
        }
        linear_end(&m);
    }
    assert_true(compared >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_pendulum), cmocka_unit_test(test_damped),
        cmocka_unit_test(test_sleeping_top),    cmocka_unit_test(test_motion),
        cmocka_unit_test(test_equations),       cmocka_unit_test(test_second_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

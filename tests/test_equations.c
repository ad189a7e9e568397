/* The hand-written systems, through their definition functions alone: every supplied quantity
 * against differences at random states, energy balances, consistent starts, events, refused
 * parameters. */
#include "equations_sample.h"

enum { SAMPLES = 25 };

/* How far random states of a system lie from its start, and its time scale in s. */
typedef struct spread {
    const char *name;
    double q, v, time;
} spread;

static const spread spreads[] = {
    {"circular-track", 0.3, 1.0, 1e-3},  {"car-axle", 0.1, 1.0, 1e-4},
    {"andrews", 0.5, 300.0, 1e-6},       {"pendulum", 0.5, 2.0, 1e-3},
    {"slider-crank", 0.3, 2.0, 1e-3},    {"chain", 1.0, 2.0, 1e-3},
    {"bouncing-ball", 0.5, 2.0, 1e-3},   {"wheelset", 1e-3, 0.02, 1e-4},
    {"two-masses", 0.1, 1.0, 1e-3},      {"fast-pendulum", 0.3, 1.0, 1e-3},
    {"planar-vehicle", 1e-3, 0.1, 1e-4},
};
enum { SYSTEMS = sizeof spreads / sizeof *spreads };

static unsigned long long seed = 1;

static double draw(double half_width)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return half_width * (2.0 * (double)(seed >> 11) / 9007199254740992.0 - 1.0);
}

static equations_sample draw_sample(const bg_system_def *def, const spread *width)
{
    equations_sample s = start(def);
    s.t = 0.5 * def->t_end + draw(0.5 * def->t_end);
    for (int i = 0; i < def->nv; i++) {
        s.q[i] += draw(width->q);
        s.v[i] += draw(width->v);
        s.a[i] = draw(width->v * width->v);
    }
    for (int i = 0; i < def->nz; i++)
        s.z[i] = draw(1.0);
    for (int i = 0; i < def->ng; i++)
        s.lambda[i] = def->f_of_lambda ? 80.0 + draw(20.0) : draw(2.0); /* loads */
    update_inputs(def, &s);
    return s;
}

/* One of the functions r, h, g, w, gamma. Returns the number of its rows. */
static int evaluate_of(const bg_system_def *def, const equations_sample *s, bg_of of, double *y)
{
    equations_values x = {0};
    const int nv = def->nv, ng = def->ng;
    evaluate(def, s, def->supplied, &x);
    if (of == BG_OF_h)
        memcpy(y, x.h, sizeof x.h);
    if (of == BG_OF_g)
        memcpy(y, x.g, sizeof x.g);
    if (of == BG_OF_gamma)
        memcpy(y, x.gamma, sizeof x.gamma);
    if (of == BG_OF_w)
        for (int i = 0; i < ng; i++) {
            y[i] = x.gt[i];
            for (int j = 0; j < nv; j++)
                y[i] += x.G[i * nv + j] * s->v[j];
        }
    if (of == BG_OF_r)
        for (int i = 0; i < nv; i++) {
            y[i] = -x.f[i];
            for (int j = 0; j < nv; j++)
                y[i] += x.M[i * nv + j] * s->a[j];
            for (int k = 0; k < ng; k++)
                y[i] += x.G[k * nv + i] * s->lambda[k];
        }
    return of == BG_OF_r ? nv : of == BG_OF_h ? def->nz : ng;
}

typedef struct path {
    enum { ALONG_ENTRY, ALONG_TIME, ALONG_COORDINATES } kind;
    bg_by by;
    int entry;
} path;

/* The sample moved by d: one entry; time at fixed q; or q' = v, v' = 0, t' = 1. */
static equations_sample move(const bg_system_def *def, const equations_sample *s, path along,
                             double d)
{
    equations_sample moved = *s;
    if (along.kind == ALONG_ENTRY) {
        double *const arrays[BG_BY_COUNT] = {moved.q,   moved.v,    moved.z,     moved.u,
                                             moved.u_t, moved.u_tt, moved.lambda};
        arrays[along.by][along.entry] += d;
        return moved;
    }
    moved.t += d;
    for (int i = 0; along.kind == ALONG_COORDINATES && i < def->nv; i++)
        moved.q[i] += d * s->v[i];
    update_inputs(def, &moved);
    return moved;
}

/* How large numbers are that cancel each other in a function: the parts of a wheelset's gaps; and
 * in its creep forces the speeds of wheel and rail times the stiffness. */
static double find_cancelling(const bg_system_def *def, bg_of of)
{
    if (strcmp(def->name, "wheelset") != 0)
        return 0.0;
    return of == BG_OF_r ? 1e3 : 0.15;
}

/* Fourth-order central differences of `of` along a path, and the rounding error to expect. */
static double differentiate(const bg_system_def *def, const equations_sample *s, bg_of of,
                            path along, double d, double *dy)
{
    static const double shift[4] = {1.0, -1.0, 2.0, -2.0};
    static const double weight[4] = {8.0 / 12.0, -8.0 / 12.0, -1.0 / 12.0, 1.0 / 12.0};
    double largest = find_cancelling(def, of);
    memset(dy, 0, MAX * sizeof *dy);
    for (int k = 0; k < 4; k++) {
        double y[MAX] = {0};
        const equations_sample moved = move(def, s, along, shift[k] * d);
        const int rows = evaluate_of(def, &moved, of, y);
        for (int i = 0; i < rows; i++) {
            dy[i] += weight[k] * y[i] / d;
            largest = fmax(largest, fabs(y[i]));
        }
    }
    return 1e-15 * largest / d;
}

/* Compares n numbers, spaced by stride, relative to the largest of them. */
static void compare(const char *system, const char *what, const double *x, int stride,
                    const double *y, int n, double rounding)
{
    double scale = 0.0;
    for (int i = 0; i < n; i++)
        scale = fmax(scale, fabs(y[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i * stride] - y[i]) <= 1e-9 * scale + 20.0 * rounding))
            fail_msg("%s: %s, row %d is %.15g, differences give %.15g", system, what, i,
                     x[i * stride], y[i]);
}

static void test_constraint_terms(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        for (int n = 0; n < SAMPLES && def.ng > 0; n++) {
            const equations_sample s = draw_sample(&def, &spreads[k]);
            equations_values x = {0};
            double dy[MAX], rounding;
            evaluate(&def, &s, def.supplied, &x);
            for (int j = 0; j < def.nv; j++) {
                const path along = {ALONG_ENTRY, BG_BY_q, j};
                const double d = fmin(1e-3, 0.1 * spreads[k].q);
                rounding = differentiate(&def, &s, BG_OF_g, along, d, dy);
                compare(def.name, "G", x.G + j, def.nv, dy, def.ng, rounding);
            }
            rounding = differentiate(&def, &s, BG_OF_g, (path){ALONG_TIME, BG_BY_q, 0},
                                     spreads[k].time, dy);
            compare(def.name, "g_t", x.gt, 1, dy, def.ng, rounding);
            rounding = differentiate(&def, &s, BG_OF_w, (path){ALONG_COORDINATES, BG_BY_q, 0},
                                     spreads[k].time, dy);
            compare(def.name, "gamma", x.gamma, 1, dy, def.ng, rounding);
        }
        clear(&def);
    }
}

static int count(const bg_system_def *def, bg_by by)
{
    const int columns[BG_BY_COUNT] = {def->nv, def->nv, def->nz, def->nu,
                                      def->nu, def->nu, def->ng};
    return columns[by];
}

static void check_block(const bg_system_def *def, const equations_sample *s, const spread *width,
                        bg_of of, bg_by by)
{
    static const char *const of_names[] = {"r", "h", "g", "w", "gamma"};
    static const char *const by_names[BG_BY_COUNT] = {"q", "v", "z", "u", "u_t", "u_tt", "lambda"};
    char what[32];
    double block[MAX * MAX] = {0}, dy[MAX];
    const bg_point p = point(s);
    const int columns = count(def, by);
    bg_derivatives out = {0};
    out.block[of][by] = block;
    /* what an earlier call left behind must not matter */
    equations_sample other = draw_sample(def, width);
    const bg_point before = point(&other);
    assert_int_equal(def->derivatives(def->self, &before, other.a, other.lambda, &out), 0);
    assert_int_equal(def->derivatives(def->self, &p, s->a, s->lambda, &out), 0);
    for (int j = 0; j < columns; j++) {
        const double d = by == BG_BY_lambda ? 1e-2
                         : by == BG_BY_v    ? 1e-3 * width->v
                                            : 1e-3 * fmin(width->q, 1.0);
        const double rounding = differentiate(def, s, of, (path){ALONG_ENTRY, by, j}, d, dy);
        const int rows = of == BG_OF_r ? def->nv : of == BG_OF_h ? def->nz : def->ng;
        snprintf(what, sizeof what, "d%s/d%s column %d", of_names[of], by_names[by], j);
        compare(def->name, what, block + j, columns, dy, rows, rounding);
    }
}

static void test_derivative_blocks(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        assert_true(def.derivative_supplied[BG_OF_r][BG_BY_q]);
        assert_true(def.derivative_supplied[BG_OF_r][BG_BY_v]);
        for (int n = 0; n < SAMPLES; n++) {
            const equations_sample s = draw_sample(&def, &spreads[k]);
            for (int of = 0; of < BG_OF_COUNT; of++)
                for (int by = 0; by < BG_BY_COUNT; by++)
                    if (def.derivative_supplied[of][by])
                        check_block(&def, &s, &spreads[k], (bg_of)of, (bg_by)by);
        }
        clear(&def);
    }
}

/* Cholesky factor into the lower triangle of M. Returns the smallest pivot relative to its diagonal
 * entry; not positive: M is not positive definite. */
static double factor_cholesky(int n, double *M)
{
    double smallest = 1.0;
    for (int i = 0; i < n; i++) {
        const double diagonal = M[i * n + i];
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++)
                M[i * n + j] -= M[i * n + k] * M[j * n + k];
            if (j < i)
                M[i * n + j] /= M[j * n + j];
        }
        smallest = fmin(smallest, M[i * n + i] / diagonal);
        M[i * n + i] = sqrt(M[i * n + i]);
    }
    return smallest;
}

static void test_mass_is_positive_definite(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        const int nv = def.nv;
        for (int n = 0; n < SAMPLES; n++) {
            const equations_sample s = draw_sample(&def, &spreads[k]);
            equations_values x = {0};
            evaluate(&def, &s, BG_TERM_M, &x);
            for (int i = 0; i < nv * nv; i++)
                assert_true(x.M[i] == x.M[(i % nv) * nv + i / nv]);
            assert_true(factor_cholesky(nv, x.M) > 1e-6);
        }
        clear(&def);
    }
}

static bg_energy energy(const bg_system_def *def, const equations_sample *s)
{
    const bg_point p = point(s);
    bg_energy e = {NAN, NAN, NAN};
    assert_int_equal(def->energy(def->self, &p, &e), 0);
    if (def->power) {
        double alone = NAN;
        assert_int_equal(def->power(def->self, &p, &alone), 0);
        assert_true(fabs(alone - e.power) <= 1e-13 * (fabs(e.power) + e.kinetic));
    }
    return e;
}

/* d(T + U)/dt along q'' = a by differences, and the rounding error to expect. */
static double differentiate_energy(const bg_system_def *def, const equations_sample *s, double d,
                                   double *rounding)
{
    static const double shift[4] = {1.0, -1.0, 2.0, -2.0}, weight[4] = {8.0, -8.0, -1.0, 1.0};
    double rate = 0.0;
    for (int m = 0; m < 4; m++) {
        const double dt = d * shift[m];
        equations_sample moved = *s;
        for (int i = 0; i < def->nv; i++) {
            moved.q[i] += dt * (s->v[i] + 0.5 * dt * s->a[i]);
            moved.v[i] += dt * s->a[i];
        }
        moved.t += dt;
        update_inputs(def, &moved);
        const bg_energy e = energy(def, &moved);
        rate += weight[m] * (e.kinetic + e.potential) / (12.0 * d);
        *rounding = 1e-14 * (fabs(e.kinetic) + fabs(e.potential)) / d;
    }
    return rate;
}

/* d(T + U)/dt = power - lambda . G v along the motion, for any q and v; T = v . M v / 2. */
static void test_energy_balance(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        const int nv = def.nv;
        for (int n = 0; n < SAMPLES; n++) {
            equations_sample s = draw_sample(&def, &spreads[k]);
            equations_values x = {0};
            double rounding;
            solve_motion(&def, &s, NULL);
            evaluate(&def, &s, def.supplied, &x);
            const bg_energy e = energy(&def, &s);
            double expected = e.power, scale = fabs(e.power), kinetic = 0.0;
            for (int i = 0; i < def.ng * nv; i++) {
                const double power = s.lambda[i / nv] * x.G[i] * s.v[i % nv];
                expected -= power;
                scale += fabs(power);
            }
            for (int i = 0; i < nv * nv; i++)
                kinetic += 0.5 * s.v[i / nv] * x.M[i] * s.v[i % nv];
            for (int j = 0; j < nv; j++)
                scale += fabs(x.f[j] * s.v[j]);
            assert_true(fabs(e.kinetic - kinetic) <= 1e-13 * kinetic);
            const double rate = differentiate_energy(&def, &s, spreads[k].time, &rounding);
            if (!(fabs(rate - expected) <= 1e-8 * scale + rounding))
                fail_msg("%s: d(T+U)/dt = %.12g, power %.12g", def.name, rate, expected);
        }
        clear(&def);
    }
}

/* A call writes exactly what it was asked for, and does not depend on what the arrays held. */
static void test_terms_write_what_is_wanted(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        const equations_sample one = draw_sample(&def, &spreads[k]),
                               two = draw_sample(&def, &spreads[k]);
        equations_values fresh = {0}, used = {0};
        evaluate(&def, &one, def.supplied, &used);
        evaluate(&def, &two, def.supplied, &used);
        evaluate(&def, &two, def.supplied, &fresh);
        assert_memory_equal(&used, &fresh, sizeof fresh);
        for (unsigned bit = BG_TERM_M; bit <= BG_TERM_s; bit <<= 1) {
            if (!(def.supplied & bit))
                continue;
            double single[MAX * MAX] = {0};
            const bg_point p = point(&two);
            bg_terms out = {0};
            double **const slots[] = {&out.M,     &out.f, &out.g, &out.gt, &out.G,
                                      &out.gamma, &out.V, &out.h, &out.s};
            const double *const expected[] = {fresh.M,     fresh.f, fresh.g, fresh.gt, fresh.G,
                                              fresh.gamma, NULL,    fresh.h, fresh.s};
            int index = 0;
            while (1u << index != bit)
                index++;
            *slots[index] = single; /* all others NULL */
            assert_int_equal(def.terms(def.self, &p, bit, &out), 0);
            const size_t size = bit & (BG_TERM_M | BG_TERM_G) ? sizeof fresh.M : sizeof fresh.f;
            assert_memory_equal(single, expected[index], size);
        }
        clear(&def);
    }
}

static void test_input_rates(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        const equations_sample s = draw_sample(&def, &spreads[k]);
        const double d = 1e-4;
        const equations_sample before = move(&def, &s, (path){ALONG_TIME, BG_BY_q, 0}, -d);
        const equations_sample after = move(&def, &s, (path){ALONG_TIME, BG_BY_q, 0}, d);
        for (int i = 0; i < def.nu; i++) { /* error d^2 w^2 / 6 of each rate, w <= 10 rad/s */
            const double size = fmax(1.0, fabs(s.u[i]));
            assert_true(fabs((after.u[i] - before.u[i]) / (2.0 * d) - s.u_t[i]) < 1e-6 * size);
            assert_true(fabs((after.u_t[i] - before.u_t[i]) / (2.0 * d) - s.u_tt[i]) < 1e-5 * size);
        }
        clear(&def);
    }
}

static void check_outputs(const char *name, const double *q, const double *v, double first,
                          double second)
{
    bg_system_def def = define_default(name);
    equations_sample s = start(&def);
    if (q)
        memcpy(s.q, q, (size_t)def.nq * sizeof *q);
    if (v)
        memcpy(s.v, v, (size_t)def.nv * sizeof *v);
    solve_motion(&def, &s, NULL);
    const bg_point p = point(&s);
    double y[MAX];
    assert_int_equal(def.ny, 2);
    assert_int_equal(def.outputs(def.self, &p, s.a, s.lambda, y), 0);
    if (!(fabs(y[0] - first) < 1e-14 && fabs(y[1] - second) < 4e-14))
        fail_msg("outputs of %s: %.16g and %.16g", name, y[0], y[1]);
    clear(&def);
}

/* States whose outputs are known: speed and radius, spring lengths, the point F, angle and tension,
 * spring length and force, the tip. */
static void test_outputs(void **state)
{
    (void)state;
    check_outputs("circular-track", (double[]){0.0, 2.0}, (double[]){-3.0, 1.0}, 3.0, 2.0);
    check_outputs("car-axle", (double[]){0.3, 0.4, 1.6, 0.8}, NULL, 0.5, 1.0);
    check_outputs("andrews", NULL, NULL, 7e-3 * cos(0.06171389001427645),
                  -7e-3 * sin(0.06171389001427645));
    check_outputs("pendulum", (double[]){0.6, -0.8}, (double[]){4.0, 3.0}, atan(0.75),
                  25.0 + 9.81 * 0.8);
    check_outputs("slider-crank", NULL, NULL, sqrt(0.1875), sqrt(0.1875) - 1.0);
    check_outputs("chain", (double[]){0.0, 0.0, 0.0, 0.0, asin(0.6)}, NULL, 2.6, -4.8);
}

static void test_starts_are_consistent(void **state)
{
    (void)state;
    for (int k = 0; k < SYSTEMS; k++) {
        bg_system_def def = define_default(spreads[k].name);
        const equations_sample s = start(&def);
        double g[MAX], w[MAX];
        const int ng = evaluate_of(&def, &s, BG_OF_g, g);
        evaluate_of(&def, &s, BG_OF_w, w);
        for (int i = 0; i < ng; i++) {
            assert_true(fabs(g[i]) < 1e-16);
            assert_true(fabs(w[i]) < 1e-16);
        }
        clear(&def);
    }
}

/* Flies from one impact to the next in closed form and lets the system handle each. */
static void test_bouncing_ball_impacts(void **state)
{
    (void)state;
    bg_system_def def = define_default("bouncing-ball");
    equations_sample s = start(&def);
    const bg_event_state changeable = {s.q, s.v, s.z, s.mode};
    const double V = sqrt(2.0 * 9.81);
    double flight = V / 9.81, t = 0.0, sum = 0.0;
    int impacts = 0;
    while (s.mode[0] == 0 && impacts < 100) {
        t += flight;
        s.q[0] = -1e-16; /* located a little late */
        s.v[0] = -V * pow(0.8, impacts);
        sum += impacts > 0 ? pow(0.8, impacts) : 0.0;
        assert_true(fabs(t - V / 9.81 * (1.0 + 2.0 * sum)) < 1e-13);
        const double before = s.v[0];
        bg_event e = {t, 0, +1, "ground", "ground"};
        assert_int_equal(def.event(def.self, &e, &changeable), BG_EVENT_NOTE);
        e.direction = 0;
        assert_int_equal(def.event(def.self, &e, &changeable), BG_EVENT_NOTE);
        assert_true(s.v[0] == before && s.mode[0] == 0);
        e.direction = -1;
        assert_int_equal(def.event(def.self, &e, &changeable), BG_EVENT_CHANGED);
        assert_true(s.q[0] == 0.0);
        if (s.mode[0] == 0)
            assert_true(fabs(s.v[0] + 0.8 * before) < 1e-15 && s.v[0] >= 0.01);
        flight = 2.0 * s.v[0] / 9.81;
        impacts++;
    }
    assert_int_equal(impacts, 28); /* first n + 1 with V 0.8^(n+1) < 0.01 */
    assert_true(t < def.t_end && s.v[0] == 0.0);
    equations_values x = {0};
    evaluate(&def, &s, def.supplied, &x);
    assert_true(x.f[0] == 0.0 && x.s[0] > 0.5);
    const bg_event again = {t, 0, -1, "ground", "ground"};
    assert_int_equal(def.event(def.self, &again, &changeable), BG_EVENT_NOTE);
    clear(&def);
}

static void check_refused(const char *name, int index, double value, const char *part)
{
    const bg_equations *family = find_family(name);
    bg_system_def def = {.name = name};
    bg_error err = {BG_OK, ""};
    double parameters[16];
    for (int i = 0; i < family->nparameters; i++)
        parameters[i] = family->parameters[i].value;
    parameters[index] = value;
    assert_int_equal(family->define(parameters, &def, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, family->parameters[index].name));
    assert_non_null(strstr(err.text, part));
    assert_null(def.self);
}

static void test_bad_parameters_are_refused(void **state)
{
    (void)state;
    check_refused("chain", 0, 0.0, "whole number");
    check_refused("chain", 0, -3.0, "whole number");
    check_refused("chain", 0, 2.5, "whole number");
    check_refused("chain", 0, 1e12, "whole number");
    check_refused("chain", 0, NAN, "finite");
    check_refused("pendulum", 1, 0.0, "positive");
    check_refused("circular-track", 0, -1.0, "positive");
    check_refused("car-axle", 4, 1.0, "lower than L");
    check_refused("slider-crank", 0, 1.0, "below 1");
    check_refused("bouncing-ball", 2, 1.1, "at most 1");
    check_refused("bouncing-ball", 3, 0.0, "positive");
    check_refused("andrews", 0, INFINITY, "finite");
}

static void test_list(void **state)
{
    (void)state;
    int n = 0;
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++, n++) {
        assert_string_equal((*all)->name, spreads[n].name);
        assert_int_equal((*all)->abi, BG_ABI);
        assert_true(strlen((*all)->summary) > 10);
    }
    assert_int_equal(n, SYSTEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_constraint_terms),
        cmocka_unit_test(test_derivative_blocks),
        cmocka_unit_test(test_mass_is_positive_definite),
        cmocka_unit_test(test_energy_balance),
        cmocka_unit_test(test_terms_write_what_is_wanted),
        cmocka_unit_test(test_input_rates),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_starts_are_consistent),
        cmocka_unit_test(test_bouncing_ball_impacts),
        cmocka_unit_test(test_bad_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

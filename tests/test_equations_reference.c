/* The hand-written systems against published and closed solutions. The only integrator here is a
 * classical Runge-Kutta method on the acceleration level with small steps. */
#include "equations_sample.h"

/* Reads the computed value of `name` at time t from tests/reference. */
static double reference(const char *system, const char *t, const char *name)
{
    char file[512], line[256];
    snprintf(file, sizeof file, "%s/tests/reference/%s.csv", BOGIE_SOURCE_DIR, system);
    FILE *in = fopen(file, "r");
    if (!in)
        fail_msg("%s cannot be read", file);
    while (fgets(line, sizeof line, in)) {
        char *rest = line;
        const char *at = strsep(&rest, ","), *of = strsep(&rest, ",");
        if (of && rest && strcmp(at, t) == 0 && strcmp(of, name) == 0) {
            const double value = strtod(rest, NULL);
            fclose(in);
            return value;
        }
    }
    fclose(in);
    fail_msg("%s has no %s at t = %s", file, name, t);
    return NAN;
}

static void check_value(const char *system, const char *t, const char *name, double value,
                        double tolerance)
{
    const double expected = reference(system, t, name);
    if (!(fabs(value - expected) <= tolerance * fmax(1.0, fabs(expected))))
        fail_msg("%s: %s(%s) = %.16g, reference %.16g", system, name, t, value, expected);
}

static void check_lambda(const bg_system_def *def, const equations_sample *s, const char *t,
                         double tolerance)
{
    for (int i = 0; i < def->ng; i++) {
        char name[32];
        snprintf(name, sizeof name, "lambda[%d]", i);
        check_value(def->name, t, name, s->lambda[i], tolerance);
    }
}

static void test_starting_accelerations(void **state)
{
    (void)state;
    bg_system_def def = define_default("andrews");
    equations_sample s = start(&def);
    solve_motion(&def, &s, NULL);
    check_lambda(&def, &s, "0", 1e-12);
    for (int i = 0; i < def.nv; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_ddot", def.q_names[i]);
        const double expected = reference("andrews", "0", name);
        assert_true(fabs(s.a[i] - expected) < 1e-13 * 14222.0 * 100.0);
    }
    clear(&def);
    def = define_default("slider-crank");
    s = start(&def);
    solve_motion(&def, &s, NULL);
    check_lambda(&def, &s, "0", 1e-14);
    clear(&def);
}

/* s + h * rates of `at`, at its time plus h. */
static equations_sample step_from(const bg_system_def *def, const equations_sample *s,
                                  const equations_sample *at, const double *z_t, double h)
{
    equations_sample next = *s;
    next.t += h;
    for (int i = 0; i < def->nv; i++) {
        next.q[i] += h * at->v[i];
        next.v[i] += h * at->a[i];
    }
    for (int i = 0; i < def->nz; i++)
        next.z[i] += h * z_t[i];
    update_inputs(def, &next);
    return next;
}

/* Classical Runge-Kutta method with n steps to time t, then a and lambda there. */
static void integrate(const bg_system_def *def, equations_sample *s, double t, int n)
{
    const double t0 = s->t, h = (t - t0) / n, node[4] = {0.0, 0.5, 0.5, 1.0},
                 weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    for (int k = 0; k < n; k++) {
        double z_t[MAX] = {0};
        equations_sample stage = *s, sum = *s;
        for (int i = 0; i < 4; i++) {
            stage = i == 0 ? *s : step_from(def, s, &stage, z_t, node[i] * h);
            solve_motion(def, &stage, z_t);
            sum = step_from(def, &sum, &stage, z_t, weight[i] * h);
        }
        *s = sum;
        s->t = t0 + (k + 1) * h;
        update_inputs(def, s);
    }
    solve_motion(def, s, NULL);
}

/* Integrates to each time in turn and compares every reference value there. */
static void check_run(const char *name, const char *const *times, int ntimes, double steps_per_s,
                      double tolerance, double lambda_tolerance)
{
    bg_system_def def = define_default(name);
    equations_sample s = start(&def);
    for (int k = 0; k < ntimes; k++) {
        const double t = strtod(times[k], NULL);
        integrate(&def, &s, t, (int)((t - s.t) * steps_per_s + 0.5));
        for (int i = 0; i < def.nq; i++)
            check_value(name, times[k], def.q_names[i], s.q[i], tolerance);
        const int last = k == ntimes - 1 && strcmp(name, "pendulum") != 0;
        for (int i = 0; last && i < def.nv; i++)
            check_value(name, times[k], def.v_names[i], s.v[i], tolerance);
        for (int i = 0; last && i < def.nz; i++)
            check_value(name, times[k], def.z_names[i], s.z[i], tolerance);
        if (strcmp(name, "pendulum") != 0)
            check_lambda(&def, &s, times[k], lambda_tolerance);
    }
    clear(&def);
}

static void test_reference_solutions(void **state)
{
    (void)state;
    check_run("pendulum", (const char *const[]){"0.5", "1", "5", "10"}, 4, 4000.0, 1e-10, 0.0);
    check_run("car-axle", (const char *const[]){"1", "2", "3"}, 3, 8000.0, 1e-9, 1e-9);
    check_run("slider-crank", (const char *const[]){"2", "5", "10"}, 3, 500.0, 1e-9, 1e-9);
    check_run("andrews", (const char *const[]){"0.03", "0.05"}, 2, 1e6, 1e-8, 1e-7);
}

/* Critically damped control from rest: z = v_ref t exp(-t), angle = v_ref t - z. */
static void test_circular_track_closed_form(void **state)
{
    (void)state;
    bg_system_def def = define_default("circular-track");
    equations_sample s = start(&def);
    integrate(&def, &s, 2.0, 2000);
    const double z = 2.0 * 2.0 * exp(-2.0), angle = 4.0 - z, speed = 2.0 * (1.0 + exp(-2.0));
    assert_true(fabs(s.z[0] - z) < 1e-11);
    assert_true(fabs(s.q[0] - cos(angle)) < 1e-11);
    assert_true(fabs(s.q[1] - sin(angle)) < 1e-11);
    assert_true(fabs(s.lambda[0] - 0.5 * (10.0 + speed * speed)) < 1e-10);
    clear(&def);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starting_accelerations),
        cmocka_unit_test(test_reference_solutions),
        cmocka_unit_test(test_circular_track_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

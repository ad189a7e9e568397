/* The models of models/: joint and Cartesian coordinates agree, and the benchmark problems meet
 * their reference values (128-bit, see tests/reference/README.md for where such values come from).
 */
#include "run_support.h"

#include <glob.h>
#include <stdbool.h>

/* Runs a model file and keeps its outputs; fails the test when the run fails. */
static int run_model(const char *path, const char *formulation, double t_end, double tolerance,
                     double *y, int size, char (*names)[64], bg_certificate *certificate,
                     int *redundant)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    assert_ok(bg_model_read(path, NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, formulation, &sys, &err));
    o.t_end = t_end;
    o.method.rtol = o.method.atol = tolerance;
    assert_ok(bg_run(sys, &o, &r, &err));
    int ny = bg_system_get_def(sys)->ny;
    assert_true(ny <= size);
    for (int i = 0; i < ny; i++) {
        char buffer[32];
        y[i] = r.y[i];
        snprintf(names[i], sizeof *names, "%s",
                 bg_system_get_name(sys, 'y', i, buffer, sizeof buffer));
    }
    *certificate = r.certificate;
    *redundant = r.assembly.redundancy.count;
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return ny;
}

enum { MAX_OUTPUTS = 128 };

/* A value of the last run by name. */
static double find_output(const char *name, int ny, char (*names)[64], const double *y)
{
    for (int i = 0; i < ny; i++)
        if (strcmp(names[i], name) == 0)
            return y[i];
    fail_msg("there is no output %s", name);
    return NAN;
}

/* Both forms give the same outputs: places, velocities, reactions, energies. The difference,
 * relative to 1 or to the size of the output if that is larger, is that of two integrations: it
 * falls with the tolerance. The four-bars stop short of their first singular position, and the fast
 * mechanisms run a tenth. */
static void test_two_forms(void **state)
{
    (void)state;
    static double y[2][MAX_OUTPUTS];
    static char names[MAX_OUTPUTS][64];
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 10);
    int bad = 0;
    for (size_t k = 0; k < files.gl_pathc; k++) {
        const char *path = files.gl_pathv[k], *name = strrchr(path, '/') + 1;
        bool fast = strstr(name, "a03") || strstr(name, "a05");
        double t_end = fast ? 0.1 : strstr(name, "a02") ? 0.5 : 1.0;
        bg_certificate c[2];
        int redundant, worst = 0;
        double largest = 0;
        int ny = run_model(path, "joint", t_end, 1e-12, y[0], MAX_OUTPUTS, names, &c[0],
                           &redundant);
        int other = run_model(path, "cartesian", t_end, 1e-12, y[1], MAX_OUTPUTS, names, &c[1],
                              &redundant);
        assert_int_equal(ny, other);
        assert_true(ny > 0);
        for (int i = 0; i < ny; i++) {
            double error = fabs(y[0][i] - y[1][i]) / fmax(1.0, fabs(y[0][i]));
            if (error > largest) {
                largest = error;
                worst = i;
            }
        }
        print_message("%-28s %2d outputs differ by at most %.1e (%s), |g| %.0e and %.0e\n", name,
                      ny, largest, names[worst], c[0].max_g, c[1].max_g);
        bad += !(largest < 1e-9 && c[0].max_g < 1e-11 && c[1].max_g < 1e-11);
    }
    globfree(&files);
    assert_int_equal(bad, 0);
}

typedef struct reference {
    const char *file, *output;
    double t_end, tolerance, value, error;
    int redundant;
} reference;

/* IFToMM problems A01 to A05 in joint coordinates. A05 is stiff, mdop5 takes many steps for it. */
static void test_benchmarks(void **state)
{
    (void)state;
    static const reference list[] = {
        {"iftomm-a01-pendulum", "P.x", 10, 1e-10, -0.27508746257611686005, 1e-8, 0},
        {"iftomm-a01-pendulum", "P.y", 10, 1e-10, -0.96141920509912506427, 1e-8, 0},
        {"iftomm-a02-four-bars", "B0.x", 10, 1e-10, 0.32845811154081537865, 1e-6, 0},
        {"iftomm-a02-four-bars", "B0.y", 10, 1e-10, 0.94451853817860096216, 1e-6, 0},
        {"iftomm-a03-andrews", "beta", 0.05, 1e-10, 33.815340721360173777, 1e-8, 0},
        {"iftomm-a03-andrews", "F.x", 0.05, 1e-10, -0.0051589852501886701793, 1e-8, 0},
        {"iftomm-a04-bricard", "P3.x", 10, 1e-9, 0.99973098730383535, 1e-7, 1},
        {"iftomm-a04-bricard", "P3.z", 10, 1e-9, -2.6897651224930460e-4, 1e-7, 1},
        {"iftomm-a05-governor", "s", 2, 1e-8, 0.50590929429670371, 1e-6, 0},
    };
    static double y[MAX_OUTPUTS];
    static char names[MAX_OUTPUTS][64];
    int bad = 0;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const reference *x = &list[k];
        char path[512];
        bg_certificate c;
        int redundant;
        snprintf(path, sizeof path, "%s/models/%s.json", BOGIE_SOURCE_DIR, x->file);
        int ny = run_model(path, "joint", x->t_end, x->tolerance, y, MAX_OUTPUTS, names, &c,
                           &redundant);
        double error = fabs(find_output(x->output, ny, names, y) - x->value);
        print_message("%-22s %-5s error %.1e\n", x->file, x->output, error);
        bad += !(error < x->error) || redundant != x->redundant;
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_forms),
                                       cmocka_unit_test(test_benchmarks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

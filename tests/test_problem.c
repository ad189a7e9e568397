/* The way from a reference and settings to a system and its options: who has the last word, in
 * runs, in studies and in real time, and that a source serves any number of problems. */
#include "model_support.h"

#include <glob.h>
#include <stdbool.h>

static const char body[] = "'bodies':{'bob':{'mass':1,'center':[1,0,0],'inertia':[1,1,1]}},"
                           "'joints':{'a':{'type':'revolute','bodies':['ground','bob'],"
                           "'at':[0,0,0],'axis':[0,1,0]}}";

/* A model with this content of "run". */
static bg_source *make_source(const char *run)
{
    bg_error err = {BG_OK, ""};
    bg_source *source;
    char text[2048];
    snprintf(text, sizeof text, "{%s,'run':{%s}}", body, run);
    char *copy = quote(text);
    assert_ok(bg_source_parse(copy, "test", &source, &err));
    free(copy);
    return source;
}

static double pick(unsigned *bits, double value)
{
    bool given = *bits & 1;
    *bits >>= 1;
    return given ? value : NAN;
}

static double first_of(double asked, double of_file, double otherwise)
{
    return !isnan(asked) ? asked : !isnan(of_file) ? of_file : otherwise;
}

static const char *find_option(const bg_setting *settings, int n, const char *name)
{
    const char *value = NULL; /* the last one counts */
    for (int i = 0; i < n; i++)
        if (strcmp(settings[i].name, name) == 0)
            value = settings[i].value;
    return value;
}

enum { NUMBERS = 4 };
static const char *const keys[NUMBERS] = {"rtol", "atol", "step", "output_interval"};

/* What is asked for, then the file, then the default: every combination of both. */
static void test_numbers(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    const bg_run_options none = bg_default_run_options();
    const double otherwise[NUMBERS] = {none.method.rtol, none.method.atol, 0, 0};
    for (unsigned given = 0; given < 1u << (2 * NUMBERS); given++) {
        unsigned bits = given;
        double asked[NUMBERS], of_file[NUMBERS];
        char run[256] = "";
        for (int k = 0; k < NUMBERS; k++) {
            asked[k] = pick(&bits, 1e-3 * (k + 1));
            of_file[k] = pick(&bits, 1e-4 * (k + 1));
            if (!isnan(of_file[k]))
                snprintf(run + strlen(run), sizeof run - strlen(run), "%s'%s':%.17g",
                         *run ? "," : "", keys[k], of_file[k]);
        }
        bg_source *source = make_source(run);
        bg_problem_def def = bg_default_problem_def();
        bg_problem *problem;
        def.source = source;
        def.rtol = asked[0];
        def.atol = asked[1];
        def.step = asked[2];
        def.output_interval = asked[3];
        assert_ok(bg_problem_create(&def, &problem, &err));
        bg_run_options o = bg_problem_get_run_options(problem);
        const double got[NUMBERS] = {o.method.rtol, o.method.atol, o.method.step,
                                     o.output_interval};
        for (int k = 0; k < NUMBERS; k++)
            assert_true(got[k] == first_of(asked[k], of_file[k], otherwise[k]));
        assert_int_equal(o.output_steps, !(o.output_interval > 0));
        assert_true(bg_problem_get_realtime_options(problem).period ==
                    first_of(asked[2], of_file[2], bg_default_realtime_options().period));
        bg_problem_destroy(problem);
        bg_source_close(source);
    }
}

/* The step of a method that needs one is not for another that controls errors. */
static void test_steps(void **state)
{
    (void)state;
    static const struct {
        const char *run, *asked;
        double step;
    } cases[] = {{"'integrator':'prk38','step':0.005", NULL, 0.005},
                 {"'integrator':'prk38','step':0.005", "rk2", 0.005},
                 {"'integrator':'prk38','step':0.005", "mdop8", 0},
                 {"'integrator':'prk38','step':0.005", "auto", 0},
                 {"'integrator':'mdop5','step':0.005", NULL, 0.005},
                 {"'integrator':'mdop5','step':0.005", "mdop8", 0.005},
                 {"'step':0.005", "mdop8", 0.005}};
    bg_error err = {BG_OK, ""};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_source *source = make_source(cases[k].run);
        bg_problem_def def = bg_default_problem_def();
        bg_problem *problem;
        def.source = source;
        def.integrator = cases[k].asked;
        assert_ok(bg_problem_create(&def, &problem, &err));
        assert_true(bg_problem_get_run_options(problem).method.step == cases[k].step);
        bg_problem_destroy(problem);
        bg_source_close(source);
    }
}

/* A method that the file names, with an option of it, and who decides. */
typedef struct method_choice {
    const char *run, *integrator, *option, *value; /* of the file; asked for; set */
    const char *method, *got;                      /* of a run: NULL, the option is not set */
    const char *realtime, *realtime_got;
} method_choice;

static const method_choice choices[] = {
    {"", NULL, NULL, NULL, NULL, NULL, "linear-euler", NULL},
    {"", "hem5", NULL, NULL, "hem5", NULL, "hem5", NULL},
    {"'integrator':'mdop5','options':{'projection':'control'}", NULL, NULL, NULL, "mdop5",
     "control", "linear-euler", NULL},
    {"'integrator':'mdop5','options':{'projection':'control'}", "hem5", NULL, NULL, "hem5", NULL,
     "hem5", NULL},
    {"'integrator':'mdop5','options':{'projection':'control'}", NULL, "projection", "none", "mdop5",
     "none", "linear-euler", "none"},
    {"'integrator':'euler','options':{'stabilisation':'project'}", NULL, NULL, NULL, "euler",
     "project", "euler", "project"},
    {"'integrator':'linear-euler','options':{'stabilisation':'none'}", NULL, "stabilisation",
     "project", "linear-euler", "project", "linear-euler", "project"},
    {"'integrator':'linear-euler','options':{'stabilisation':'none'}", "linear-euler", NULL, NULL,
     "linear-euler", "none", "linear-euler", "none"},
    {"'integrator':'linear-euler','options':{'stabilisation':'none'}", "euler", NULL, NULL, "euler",
     NULL, "euler", NULL},
};

static void assert_same(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void test_methods(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        const method_choice *c = &choices[k];
        const char *option = strstr(c->run, "stabilisation") ? "stabilisation" : "projection";
        char name[64];
        snprintf(name, sizeof name, "integrator.%s", c->option ? c->option : "");
        bg_source *source = make_source(c->run);
        bg_setting setting = {name, c->value};
        bg_problem_def def = bg_default_problem_def();
        bg_problem *problem;
        def.source = source;
        def.integrator = c->integrator;
        def.settings = &setting;
        def.nsettings = c->option != NULL;
        assert_ok(bg_problem_create(&def, &problem, &err));
        name[0] = 'x'; /* the problem has its own copies */
        bg_run_options o = bg_problem_get_run_options(problem);
        assert_string_equal(o.integrator,
                            c->method ? c->method : bg_default_run_options().integrator);
        assert_same(find_option(o.method.settings, o.method.nsettings, option), c->got);
        bg_realtime_options r = bg_problem_get_realtime_options(problem);
        assert_string_equal(r.integrator, c->realtime);
        assert_same(find_option(r.settings, r.nsettings, option), c->realtime_got);
        bg_problem_destroy(problem);
        bg_source_close(source);
    }
}

static void test_formulations(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    static const char *const files[] = {"", "'formulation':'joint'", "'formulation':'cartesian'"};
    static const char *const asked[] = {NULL, "joint", "cartesian"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            bg_source *source = make_source(files[i]);
            bg_problem_def def = bg_default_problem_def();
            bg_problem *problem;
            def.source = source;
            def.formulation = asked[k];
            assert_ok(bg_problem_create(&def, &problem, &err));
            const char *expected = asked[k] ? asked[k] : i == 2 ? "cartesian" : "joint";
            assert_string_equal(bg_problem_get_formulation(problem), expected);
            assert_int_equal(bg_system_get_def(bg_problem_get_system(problem))->nq,
                             strcmp(expected, "joint") == 0 ? 1 : 7);
            bg_problem_destroy(problem);
            bg_source_close(source);
        }
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem = NULL;
    def.reference = "equations:pendulum";
    def.formulation = "joint";
    assert_int_equal(bg_problem_create(&def, &problem, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "equations:pendulum"));
    assert_null(problem);
    def.formulation = NULL;
    assert_ok(bg_problem_create(&def, &problem, &err));
    assert_null(bg_problem_get_model(problem));
    assert_null(bg_problem_get_formulation(problem));
    bg_problem_destroy(problem);
}

/* The state after a few steps, as a number that any other bit changes. */
static uint64_t run_briefly(const bg_system_def *def, const bg_system *system)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report report;
    uint64_t sum = 14695981039346656037u;
    o.max_steps = 5;
    bg_run(system, &o, &report, &err);
    assert_non_null(report.final);
    for (int i = 0; i < def->nq + def->nv; i++) { /* q and v lie together */
        uint64_t bits;
        memcpy(&bits, &report.final->q[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    bg_run_report_clear(&report);
    return sum;
}

static uint64_t run_problem(const bg_source *source, const char *form, const bg_setting *setting)
{
    bg_error err = {BG_OK, ""};
    bg_problem_def def = bg_default_problem_def();
    bg_problem *problem;
    def.source = source;
    def.formulation = form;
    def.settings = setting;
    def.nsettings = setting != NULL;
    assert_ok(bg_problem_create(&def, &problem, &err));
    const bg_system *system = bg_problem_get_system(problem);
    uint64_t sum = run_briefly(bg_system_get_def(system), system);
    bg_problem_destroy(problem);
    return sum;
}

/* All models in both forms: a problem is the model of its file, and what settings do to one problem
 * does not reach the next of the same source. */
static void test_sources(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    glob_t files;
    const bg_setting heavy = {"gravity", "15"};
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    int changed = 0;
    for (size_t k = 0; k < files.gl_pathc; k++)
        for (int f = 0; f < 2; f++) {
            bg_source *source;
            bg_model *model;
            bg_system *system;
            assert_ok(bg_model_read(files.gl_pathv[k], NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, forms[f], &system, &err));
            uint64_t direct = run_briefly(bg_system_get_def(system), system);
            assert_ok(bg_source_open(files.gl_pathv[k], &source, &err));
            assert_true(run_problem(source, forms[f], NULL) == direct);
            changed += run_problem(source, forms[f], &heavy) != direct;
            assert_true(run_problem(source, forms[f], NULL) == direct);
            bg_source_close(source);
            bg_system_destroy(system);
            bg_model_destroy(model);
        }
    assert_true(changed > (int)files.gl_pathc);
    globfree(&files);
}

static void test_failures(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_source *source;
    bg_problem *problem;
    static const char *const none[] = {"nowhere.json", "equations:nothing", "nowhere.so", "model"};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        assert_true(bg_source_open(none[k], &source, &err) < 0);
        assert_null(source);
        assert_non_null(strstr(err.text, strchr(none[k], ':') ? "nothing" : none[k]));
    }
    assert_int_equal(bg_source_parse("{\"bodies\": ", "half", &source, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "half"));
    bg_problem_def def = bg_default_problem_def();
    bg_setting wrong = {"parameters.none", "1"};
    source = make_source("");
    def.source = source;
    def.settings = &wrong;
    def.nsettings = 1;
    assert_int_equal(bg_problem_create(&def, &problem, &err), BG_BAD_INPUT);
    assert_null(problem);
    def.nsettings = 0;
    def.formulation = "polar";
    assert_int_equal(bg_problem_create(&def, &problem, &err), BG_BAD_INPUT);
    assert_non_null(strstr(err.text, "polar"));
    bg_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_methods), cmocka_unit_test(test_formulations),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

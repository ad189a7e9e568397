/* No step in real time does more than was said before the first one, events and the steps after
 * them included: all models in both forms, with and without what a method offers. */
#include "model_support.h"
#include "overconstrained.h"
#include "work_support.h"

#include <glob.h>
#include <stdbool.h>

enum { STEPS = SANITIZED ? 40 : 120, FAR = 400 /* past change points */ };

static const bg_setting stair = {
    "road",
    "{\"type\":\"stair\",\"at\":0.5,\"height\":-0.05,\"speed\":\"speed\",\"base\":\"base\"}"};

typedef struct step_counts {
    long steps;           /* to make */
    long events, reached; /* steps that did all that was allowed */
    long searched;        /* steps that searched a change point */
} step_counts;

/* Steps that search keep to a bound of their own. spared: looks ahead that were not due. */
static void check_step(const char *what, const bg_step_bound *bound, bool searched, long spared,
                       const bg_work *a, const bg_work *b, step_counts *x)
{
    const bg_step_plan *most = searched ? &bound->searching : &bound->most;
    const struct {
        const char *name;
        long done, allowed;
    } work[] = {
        {"evaluations", b->terms + b->explicit_ - a->terms - a->explicit_,
         most->terms + most->explicit_},
        {"derivatives", b->jacobian - a->jacobian, most->jacobian},
        {"factorisations", b->factorisations - a->factorisations, most->factorisations},
        {"projections", b->projections - a->projections, most->projections},
    };
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        if (work[i].done > work[i].allowed)
            fail_msg("%s: %ld %s in one step, not %ld", what, work[i].done, work[i].name,
                     work[i].allowed);
    x->reached += work[0].done + spared == work[0].allowed;
}

static long count_looks(const bg_counters *c)
{
    return c->foresight.terms + c->foresight.constraints;
}

/* Returns the evaluations that look ahead. */
static long check_system(const char *what, bg_system *sys, const char *integrator,
                         const bg_setting *settings, int nsettings, step_counts *x)
{
    bg_error err = {BG_OK, ""};
    bg_realtime_options o = bg_default_realtime_options();
    const bg_system_def *def = bg_system_get_def(sys);
    long looks = def->ns > 0 || def->jump ? 2 : 1;
    bg_step_bound bound;
    bg_realtime *rt;
    o.integrator = integrator;
    o.settings = settings;
    o.nsettings = nsettings;
    assert_ok(bg_realtime_create(sys, &o, &rt, &err));
    assert_true(bg_realtime_calc_most(bg_realtime_get_integrator(rt), &bound));
    assert_true(bound.event >= 1 && bound.pivots >= bound.event);
    assert_true(bound.search == 0 || bound.search > 10 * bound.pivots);
    bg_counters counters = bg_realtime_get_counters(rt);
    bg_work before = sum_work(&counters);
    for (long k = 0; k < x->steps && bg_realtime_step(rt, NULL, NULL, &err) == BG_OK; k++) {
        long looked = count_looks(&counters);
        counters = bg_realtime_get_counters(rt);
        bg_work now = sum_work(&counters);
        looked = count_looks(&counters) - looked;
        long spared = looks * bound.most.foresight_terms - looked;
        x->searched += spared < 0;
        check_step(what, &bound, spared < 0, spared, &before, &now, x);
        before = now;
    }
    x->events += bg_realtime_get_nevents(rt);
    bg_realtime_destroy(rt);
    return count_looks(&counters);
}

/* Every model, its roads with a stair where it has a wheel to fall. */
static void test_models(void **state)
{
    (void)state;
    static const bg_setting choices[][1] = {
        {{"jacobian", "J2"}}, {{"jacobian", "J3"}}, {{"partition", "auto"}},
        {{"refresh", "7"}},   {{"index", "2"}},     {{"stabilisation", "baumgarte"}}};
    bg_error err = {BG_OK, ""};
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/models/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        for (int f = 0; f < 2; f++) {
            const char *path = files.gl_pathv[i];
            bool falls = strstr(path, "five-link") != NULL;
            step_counts x = {.steps = STEPS};
            bg_model *model;
            bg_system *sys;
            assert_ok(bg_model_read(path, &stair, falls, &model, &err));
            assert_ok(bg_model_create_system(model, forms[f], &sys, &err));
            for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
                check_system(path, sys, "linear-euler", choices[c], 1, &x);
            check_system(path, sys, "euler", NULL, 0, &x);
            assert_true(!falls || (x.events > 0 && x.reached > 0));
            bg_system_destroy(sys);
            bg_model_destroy(model);
        }
    globfree(&files);
}

/* Events that throw the state back, with and without constraints. */
static void test_equations(void **state)
{
    (void)state;
    static const char *const systems[] = {"equations:bouncing-ball", "equations:car-axle",
                                          "equations:circular-track", "equations:slider-crank",
                                          "equations:wheelset"};
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        step_counts x = {.steps = STEPS};
        bg_system *sys = create_system(systems[i], NULL, NULL);
        check_system(systems[i], sys, "linear-euler", NULL, 0, &x);
        check_system(systems[i], sys, "euler", NULL, 0, &x);
        bg_system_destroy(sys);
    }
}

/* Mechanisms with redundant constraints and few digits look ahead for change points, and search
 * those that they pass: counted, and within the bound. */
static void test_foresight(void **state)
{
    (void)state;
    static void (*const write[])(text *, placement) = {write_cranks, write_sarrus, write_wheels};
    long searched = 0;
    for (int k = 0; k < 6; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        bg_system *sys;
        step_counts x = {.steps = FAR};
        text t;
        placement at = as_drawn;
        unsigned seed = 3;
        at.turn = draw_turn(&seed);
        at.digits = 6;
        write[k / 2](&t, at);
        assert_ok(bg_model_parse(t.buffer, "test", NULL, 0, &model, &err));
        assert_ok(bg_model_create_system(model, forms[k % 2], &sys, &err));
        long looked = check_system("overconstrained", sys, "linear-euler", NULL, 0, &x);
        assert_true(looked >= 2 * FAR);
        searched += x.searched;
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    assert_true(searched > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_equations),
                                       cmocka_unit_test(test_foresight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

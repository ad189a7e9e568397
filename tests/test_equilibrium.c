/* Static equilibria and steady motions. */
#include "linear/equilibrium.h"
#include "modes_support.h"
#include "random_mechanism.h"

static bg_equilibrium_report find(linear_model *m)
{
    bg_error err = {BG_OK, ""};
    bg_equilibrium_report r;
    bg_modes_clear(&m->modes);
    assert_ok(bg_equilibrium_find(m->system, m->state, &m->report.redundancy, &r, &m->modes, &err));
    return r;
}

static void begin_with(linear_model *m, const char *text, const char *formulation,
                       const bg_setting *settings, int n)
{
    bg_error err = {BG_OK, ""};
    char path[256];
    *m = (linear_model){0};
    snprintf(path, sizeof path, "%s/%s", BOGIE_SOURCE_DIR, text);
    assert_ok(bg_model_read(path, settings, n, &m->model, &err));
    assert_ok(bg_model_create_system(m->model, formulation, &m->system, &err));
    linear_begin_system(m);
}

static void test_models(void **state)
{
    (void)state;
    static const char *const files[] = {"models/five-link-suspension.json", "models/double-wishbone.json",
                                        "models/front-axle.json", "models/vehicle-trailer.json", "models/vehicle-trailer-spring.json", "models/iftomm-a05-governor.json", "models/n-pendulum.json", "models/four-bar.json","models/iftomm-a01-pendulum.json","models/slider-crank-3d.json","models/gyroscope.json", "models/iftomm-a03-andrews.json"};
    for (int f = 0; f < (int)(sizeof files / sizeof *files); f++)
        for (int k = 0; k < 2; k++) {
            linear_model m;
            bg_error err = {0};
            bg_equilibrium_report r;
            linear_begin(&m, files[f], forms[k]);
            bg_status st = bg_equilibrium_find(m.system, m.state, &m.report.redundancy, &r, &m.modes, &err);
            printf("%s %s: %d %s steps %d relax %d moves %d dropped %d left %d unstable %d drift %g (%d) nfree %d zeros %d\n", files[f], forms[k], st, st?err.text:"", r.steps, r.relaxations, r.moves, r.dropped, r.left, r.unstable, r.drift, r.worst, m.modes.nfree, m.modes.zeros);
            for (int i = 0; i < m.modes.count && i < 5; i++) printf("   %.8g %.8g\n", m.modes.mode[i].re, m.modes.mode[i].im);
            linear_end(&m);
        }
    (void)find; (void)begin_with;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Derivatives kept from step to step: they are those of the system, renewed when they are asked for
 * and no other ones, saved and restored; a step that is undone leaves their schedule as it was. */
#include "evaluator_support.h"
#include "integrators/integrator.h"
#include "integrators/jacobian.h"
#include "run_support.h"

static const uint64_t of_r = BG_KEPT(BG_OF_r, BG_BY_q) | BG_KEPT(BG_OF_r, BG_BY_v);
static const uint64_t of_w = BG_KEPT(BG_OF_w, BG_BY_q) | BG_KEPT(BG_OF_gamma, BG_BY_v);

static void move_to(bg_evaluator *ev, double t, bg_state *x, bg_point *p)
{
    bg_error err = {BG_OK, ""};
    for (int i = 0; i < ev->def.nq; i++)
        x->q[i] += 0.01 * t * (i + 1);
    assert_ok(bg_system_set_point(ev, t, x->q, x->v, x->z, x->mode, p, &err));
}

static void test_blocks(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_system *sys = create_system("equations:car-axle", NULL, NULL);
    bg_jacobian kept, twin;
    bg_state *x;
    bg_point p;
    double r_q[2][64], expected[64];
    bg_evaluator *ev = new_evaluator(sys);
    assert_ok(bg_state_create(sys, &x, &err));
    assert_ok(bg_jacobian_create(&kept, ev, of_r | of_w | BG_KEPT_MASS, &err));
    assert_ok(bg_jacobian_create(&twin, ev, of_r | of_w | BG_KEPT_MASS, &err));
    bg_kept_block *b = bg_jacobian_get(&kept, BG_OF_r, BG_BY_q);
    assert_true(b->size <= 64 && !bg_jacobian_get(&kept, BG_OF_h, BG_BY_z)->values);
    assert_int_equal(bg_jacobian_find_due(&kept, ~UINT64_C(0), 9, 0), of_r | of_w | BG_KEPT_MASS);
    move_to(ev, 0.5, x, &p);
    assert_ok(bg_jacobian_update(&kept, ~UINT64_C(0), false, &p, x->a, x->lambda, 7, &err));
    bg_derivatives out = {.block[BG_OF_r][BG_BY_q] = expected};
    assert_ok(bg_system_calc_derivatives(ev, &p, x->a, x->lambda, &out, &err));
    assert_memory_equal(b->values, expected, (size_t)b->size * sizeof(double));
    assert_true(b->t == 0.5 && b->coefficient == 7 && b->age == 0);
    assert_int_equal(bg_jacobian_find_due(&kept, ~UINT64_C(0), 1, 0.5), 0);
    assert_int_equal(bg_jacobian_find_due(&kept, of_r, 1, 0.6), of_r); /* not that of this step */
    memcpy(r_q[0], b->values, (size_t)b->size * sizeof(double));
    bg_jacobian_commit(&kept);
    assert_int_equal(bg_jacobian_find_due(&kept, of_r, 1, 0.6), of_r);
    assert_int_equal(bg_jacobian_find_due(&kept, of_r, 2, 0.6), 0);
    move_to(ev, 1.5, x, &p); /* renews r alone */
    assert_ok(bg_jacobian_update(&kept, of_r, false, &p, x->a, x->lambda, 8, &err));
    memcpy(r_q[1], b->values, (size_t)b->size * sizeof(double));
    assert_memory_not_equal(r_q[0], r_q[1], (size_t)b->size * sizeof(double));
    assert_true(b->t == 1.5 && bg_jacobian_get(&kept, BG_OF_w, BG_BY_q)->t == 0.5);
    assert_int_equal(bg_jacobian_get(&kept, BG_OF_w, BG_BY_q)->age, 1);
    bg_archive saved = {0};
    bg_jacobian_archive(&kept, &saved);
    bg_archive loaded = {.loading = true, .data = saved.data, .size = saved.size};
    bg_jacobian_archive(&twin, &loaded);
    assert_false(loaded.failed);
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (kept.block[k].values) {
            assert_memory_equal(kept.block[k].values, twin.block[k].values,
                                (size_t)kept.block[k].size * sizeof(double));
            assert_int_equal(kept.block[k].age, twin.block[k].age);
        }
    bg_jacobian_forget(&kept, of_r);
    assert_int_equal(bg_jacobian_find_due(&kept, ~UINT64_C(0), 9, 1.5), of_r);
    bg_archive_clear(&saved);
    bg_jacobian_clear(&kept);
    bg_jacobian_clear(&twin);
    bg_state_destroy(x);
    bg_evaluator_destroy(ev);
    bg_system_destroy(sys);
}

/* linear-euler with a Jacobian for three steps: every other step is undone and made again. */
static void test_undone_steps(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    double q[2][4];
    for (int k = 0; k < 2; k++) {
        bg_system *sys = create_system("equations:car-axle", NULL, NULL);
        bg_assembly_report report = {0};
        bg_integrator_options o = bg_default_integrator_options();
        const bg_setting refresh = {"refresh", "3"};
        bg_integrator *ig;
        bg_state *x;
        o.step = 1e-3;
        o.settings = &refresh;
        o.nsettings = 1;
        assert_ok(bg_state_create(sys, &x, &err));
        assert_ok(bg_state_assemble(sys, x, &report, &err));
        assert_ok(bg_integrator_create("linear-euler", sys, &o, &ig, &err));
        assert_ok(bg_integrator_start(ig, x, &report.redundancy, 1, &err));
        long before = bg_integrator_get_counters(ig).steps.jacobian;
        for (int n = 0; n < 60; n++) {
            assert_ok(bg_integrator_step(ig, &err));
            if (k == 1 && n % 2) {
                bg_integrator_undo(ig, 1);
                assert_ok(bg_integrator_step(ig, &err));
            }
        }
        assert_int_equal(bg_integrator_get_counters(ig).steps.jacobian - before, 20);
        memcpy(q[k], bg_integrator_get_state(ig)->q, sizeof q[k]);
        bg_integrator_destroy(ig);
        bg_state_destroy(x);
        bg_assembly_report_clear(&report);
        bg_system_destroy(sys);
    }
    assert_memory_equal(q[0], q[1], sizeof q[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_undone_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Slow and fast parts of models: two random mechanisms that springs and bushings connect, of which
 * one is fast. Its accelerations, terms and rates alone are those of the whole, in both forms; a
 * whole evaluation between two of the fast part finds nothing of them. */
#include "assembled_support.h"
#include "evaluator_support.h"
#include "model_support.h"
#include "random_mechanism.h"

#include "model/model.h"
#include "system/system.h"

/* The names of all bodies of the second mechanism. */
static void write_fast(FILE *out, int bodies)
{
    char name[16];
    for (int b = 1; b <= bodies; b++)
        fprintf(out, "%s\"two.%s\"", b > 1 ? ", " : "", random_body_name(b, name));
}

/* Takes the road out of a mechanism's text: it belongs to the whole model. */
static void take_road(char *text, char *road, size_t size)
{
    char *begin = strstr(text, "\"road\": "), *end = begin ? strstr(begin, "},") : NULL;
    assert_non_null(end);
    snprintf(road, size, "%.*s", (int)(end + 2 - begin), begin);
    memset(begin, ' ', (size_t)(end + 2 - begin));
}

static char *make_pair(unsigned seed)
{
    random_mechanism m[2] = {random_mechanism_make(2 * seed), random_mechanism_make(2 * seed + 1)};
    uint64_t own = seed + 1;
    char *text, one[16], two[16], road[256];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    take_road(m[0].text, road, sizeof road);
    take_road(m[1].text, road, sizeof road);
    fprintf(out, "{%s \"parts\": {\"a\": %s, \"b\": %s},", road, m[0].text, m[1].text);
    fprintf(out, "\"use\": {\"one\": {\"part\": \"a\"}, \"two\": {\"part\": \"b\", \"at\": "
                 "[0.3, 4, 0.2]}}, \"forces\": {");
    for (int k = 0; k < 3; k++)
        fprintf(out,
                "%s\"f%d\": {\"type\": \"%s\", \"bodies\": [\"one.%s\", \"two.%s\"], \"at\": [0.1, "
                "2, %d], \"stiffness\": [900, 800, 700, 60, 50, 40], \"damping\": [9, 8, 7, 6, 5, "
                "4]}",
                k ? ", " : "", k, "bushing",
                random_body_name(1 + random_below(&own, m[0].bodies), one),
                random_body_name(1 + random_below(&own, m[1].bodies), two), k);
    fprintf(out, "}, \"run\": {\"fast\": [");
    write_fast(out, m[1].bodies);
    fprintf(out, "]}}");
    fclose(out);
    free(m[0].text);
    free(m[1].text);
    return text;
}

typedef struct fast_part_place {
    double *q, *v, *z, *a, *z_t, *whole, *h, *lambda;
} fast_part_place;

static void compare(const double *part, const double *whole, const unsigned char *of, int n,
                    unsigned wanted, double size, const char *name)
{
    for (int i = 0; i < n; i++)
        if (of[i] & wanted ? !(fabs(part[i] - whole[i]) <= 1e-10 * size) : part[i] != 1e99)
            fail_msg("%s, entry %d: %.17g, not %.17g", name, i, part[i], whole[i]);
}

static double find_largest(const double *x, int n)
{
    double most = 1;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* All at one state, with multipliers where there are rows. */
static void check_state(bg_evaluator *ev, fast_part_place *x, const char *name)
{
    const bg_system_def *d = bg_system_get_def(ev->system);
    const double *lambda = d->ng > 0 ? x->lambda : NULL;
    bg_error err = {BG_OK, ""};
    bg_terms out = {.h = x->h};
    bg_point p;
    assert_ok(bg_system_set_point(ev, 0.1, x->q, x->v, x->z, d->mode0, &p, &err));
    for (unsigned part = BG_PART_SLOW; part <= (BG_PART_SLOW | BG_PART_FAST); part++) {
        for (int i = 0; i < d->nv; i++)
            x->a[i] = 1e99;
        for (int i = 0; i < d->nz; i++)
            x->z_t[i] = 1e99;
        assert_ok(bg_system_calc_part(ev, &p, part, lambda, x->a, x->z_t, &err));
        assert_ok(bg_system_calc_acceleration(ev, &p, lambda, x->whole, &err));
        assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_h, &out, &err));
        compare(x->a, x->whole, d->v_part, d->nv, part, find_largest(x->whole, d->nv), name);
        compare(x->z_t, x->h, d->z_part, d->nz, part, find_largest(x->h, d->nz), name);
    }
}

/* Rows [n] of a matrix: those of the fast part are the same, others were left alone. */
static void compare_rows(const double *part, const double *whole, const bg_pattern *p,
                         const unsigned char *of, int n, int columns, bool alone, const char *name)
{
    for (int i = 0; i < n; i++)
        for (int k = p ? p->row_start[i] : i * columns;
             k < (p ? p->row_start[i + 1] : (i + 1) * columns); k++)
            if (of[i] == BG_PART_FAST ? !(fabs(part[k] - whole[k]) <= 1e-10 * (1 + fabs(whole[k])))
                                      : alone && part[k] != 0)
                fail_msg("%s, row %d: %.17g, not %.17g", name, i, part[k], whole[k]);
}

/* Terms of the fast part alone are those of the whole; forces, states and masses of the slow one
 * are not looked at. */
static void check_terms(bg_evaluator *ev, const fast_part_place *x, const char *name)
{
    const unsigned want = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_G | BG_TERM_gamma;
    const bg_system *sys = ev->system;
    const bg_system_def *d = bg_system_get_def(sys);
    const int size[] = {bg_system_get_size_M(sys), bg_system_get_size_G(sys), d->nv, d->ng, d->nz};
    double *of[2][5];
    bg_error err = {BG_OK, ""};
    bg_point p;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++)
            of[i][k] = calloc((size_t)size[k] + 1, sizeof(double));
    for (int i = 0; i < d->nv; i++)
        of[1][2][i] = 1e99;
    for (int i = 0; i < d->nz; i++)
        of[1][4][i] = 1e99;
    assert_ok(bg_system_set_point(ev, 0.1, x->q, x->v, x->z, d->mode0, &p, &err));
    for (int i = 0; i < 2; i++) {
        double *const *o = of[i];
        bg_terms out = {.M = o[0], .G = o[1], .f = o[2], .gamma = o[3], .h = o[4]};
        p.part = i ? BG_PART_FAST : 0;
        assert_ok(bg_system_calc_terms(ev, &p, want, &out, &err));
    }
    compare_rows(of[1][0], of[0][0], d->pattern_M, d->v_part, d->nv, d->nv, true, name);
    compare_rows(of[1][1], of[0][1], d->pattern_G, d->g_part, d->ng, d->nv, false, name);
    compare(of[1][2], of[0][2], d->v_part, d->nv, BG_PART_FAST, find_largest(of[0][2], d->nv),
            name);
    compare(of[1][4], of[0][4], d->z_part, d->nz, BG_PART_FAST, find_largest(of[0][4], d->nz),
            name);
    for (int i = 0; i < d->ng; i++)
        if (d->g_part[i] == BG_PART_FAST)
            assert_true(fabs(of[1][3][i] - of[0][3][i]) <= 1e-10 * find_largest(of[0][3], d->ng));
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 2; i++)
            free(of[i][k]);
}

static void check_part(const assembled *m, bool joint, uint64_t *seed, const char *name)
{
    const bg_system_def *d = bg_system_get_def(m->sys);
    bg_error err = {BG_OK, ""};
    bg_evaluator *ev = new_evaluator(m->sys);
    enum { MOST = 2000 };
    static double memory[8][MOST];
    fast_part_place x = {memory[0], memory[1], memory[2], memory[3],
                         memory[4], memory[5], memory[6], memory[7]};
    assert_true(d->nq < MOST && d->nz < MOST && d->ng < MOST);
    if (joint)
        assert_ok(bg_evaluator_prepare_acceleration(ev, &err));
    for (int sample = 0; sample < 3; sample++) {
        memcpy(x.q, m->x->q, (size_t)d->nq * sizeof(double));
        for (int i = 0; i < d->nq; i++)
            x.q[i] += random_between(seed, -0.05, 0.05);
        for (int i = 0; i < d->nv; i++)
            x.v[i] = random_between(seed, -1, 1);
        for (int i = 0; i < d->nz; i++)
            x.z[i] = random_between(seed, -0.01, 0.01);
        for (int i = 0; i < d->ng; i++)
            x.lambda[i] = random_between(seed, -10, 10);
        if (d->normalise)
            d->normalise(d->self, x.q);
        check_terms(ev, &x, name);
        if (joint)
            check_state(ev, &x, name);
    }
    bg_evaluator_destroy(ev);
}

/* No mass and no row couples the parts. */
static void check_separate(const assembled *m, const char *name)
{
    const bg_system_def *d = bg_system_get_def(m->sys);
    const bg_pattern *M = d->pattern_M, *G = d->pattern_G;
    for (int i = 0; i < d->nv && M; i++)
        for (int k = M->row_start[i]; k < M->row_start[i + 1]; k++)
            if (d->v_part[i] != d->v_part[M->column[k]])
                fail_msg("%s: M has (%d, %d)", name, i, M->column[k]);
    for (int i = 0; i < d->ng && G; i++)
        for (int k = G->row_start[i]; k < G->row_start[i + 1]; k++)
            if (d->g_part[i] != d->v_part[G->column[k]])
                fail_msg("%s: G has (%d, %d)", name, i, G->column[k]);
}

static void test_random(void **state)
{
    (void)state;
    int tried = 0, constrained = 0, states = 0;
    uint64_t seed = 5;
    for (unsigned k = 1; k <= (SANITIZED ? 10 : 40); k++) {
        char *text = make_pair(k);
        for (int form = 0; form < 2; form++) {
            char name[64];
            assembled m = assembled_parse(text, forms[form]);
            if (!m.sys) { /* nothing that the parts are to blame for */
                assembled_clear(&m);
                continue;
            }
            const bg_system_def *d = bg_system_get_def(m.sys);
            snprintf(name, sizeof name, "pair %u, %s", k, forms[form]);
            check_separate(&m, name);
            check_part(&m, form == 0, &seed, name);
            tried += form == 0;
            constrained += form == 0 && d->ng > 0;
            states += form == 0 && d->nz > 0;
            assembled_clear(&m);
        }
        free(text);
    }
    print_message("%d pairs, %d with constraints, %d with states\n", tried, constrained, states);
    assert_true(tried > (SANITIZED ? 2 : 10) && constrained > 0 && states > 0);
}

/* Some steps of a pair from the assembled state; false: a step failed. */
static bool step_along(const assembled *m, const char *method, double h, int steps, bg_state *end)
{
    bg_error err = {BG_OK, ""};
    bg_integrator_options o = bg_default_integrator_options();
    bg_integrator *ig;
    bool ok = true;
    o.step = h;
    if (bg_integrator_create(method, m->sys, &o, &ig, &err) != BG_OK)
        return false; /* a part may be moved by drives alone */
    ok = bg_integrator_start(ig, m->x, &m->report.redundancy, 1, &err) == BG_OK;
    for (int k = 0; k < steps && ok; k++)
        ok = bg_integrator_step(ig, &err) == BG_OK;
    if (ok)
        bg_state_copy(m->sys, bg_integrator_get_state(ig), end);
    bg_integrator_destroy(ig);
    return ok;
}

static double find_distance(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Steps of random pairs of mechanisms with the fast part alone, and with everything evaluated at
 * every stage, of which the fast part is taken: constraints, states and redundant rows in either
 * part. */
static void test_steps(void **state)
{
    (void)state;
    static const char *const methods[] = {"prk38", "prk25-paper", "prk48"};
    int compared = 0, constrained = 0;
    for (unsigned k = 1; k <= (SANITIZED ? 6 : 30); k++) {
        char *text = make_pair(k);
        for (int form = 0; form < 2; form++) {
            assembled m = assembled_parse(text, forms[form]);
            bg_error err = {BG_OK, ""};
            bg_state *x[2];
            if (m.status == BG_OK) {
                bg_system_def *d = &m.sys->def;
                const char *method = methods[k % 3];
                for (int i = 0; i < 2; i++)
                    assert_ok(bg_state_create(m.sys, &x[i], &err));
                bool ok = step_along(&m, method, 1e-4, 5, x[0]);
                m.sys->own_parts = calloc(1, 1); /* from now on functions know nothing of parts */
                d->accelerate_part = NULL;
                bool whole = step_along(&m, method, 1e-4, 5, x[1]);
                if (ok != whole)
                    fail_msg("pair %u, %s: only one of them runs", k, forms[form]);
                if (ok) {
                    double size = find_largest(x[1]->v, d->nv);
                    double q = find_distance(x[0]->q, x[1]->q, d->nq);
                    double v = find_distance(x[0]->v, x[1]->v, d->nv);
                    double z = find_distance(x[0]->z, x[1]->z, d->nz);
                    if (!(q < 1e-10 * size && v < 1e-9 * size && z < 1e-9 * size))
                        fail_msg("pair %u, %s, %s: %.1e %.1e %.1e", k, forms[form], method, q, v,
                                 z);
                    compared++;
                    constrained += d->ng > 0;
                }
                for (int i = 0; i < 2; i++)
                    bg_state_destroy(x[i]);
            }
            assembled_clear(&m);
        }
        free(text);
    }
    print_message("%d runs compared, %d with constraints\n", compared, constrained);
    assert_true(compared > (SANITIZED ? 3 : 20) && constrained > 3);
}

static void refuse(const char *fast, const char *sentence)
{
    static const char body[] = "{\"mass\": 1, \"center\": [0, 0, 0], \"inertia\": [1, 1, 1]}";
    char text[1024];
    bg_error err = {BG_OK, ""};
    bg_model *model;
    snprintf(text, sizeof text,
             "{\"bodies\": {\"a\": %s, \"b\": %s, \"c\": %s}, \"joints\": {\"pin\": {\"type\": "
             "\"revolute\", \"bodies\": [\"a\", \"b\"], \"at\": [0, 0, 0], \"axis\": [1, 0, 0]}}, "
             "\"run\": {\"fast\": %s}}",
             body, body, body, fast);
    assert_int_equal(bg_model_parse(text, "text", NULL, 0, &model, &err), BG_BAD_INPUT);
    if (!strstr(err.text, sentence))
        fail_msg("%s", err.text);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("[\"a\"]", "run.fast: has 'a' but not 'b', although joint 'pin' connects them");
    refuse("[\"b\", \"c\"]", "run.fast: has 'b' but not 'a'");
    refuse("[\"a\", \"b\", \"c\"]", "run.fast: names all bodies");
    refuse("[\"d\"]", "run.fast[0]: there is no body 'd'");
    refuse("[\"ground\"]", "run.fast[0]: is the ground");
    refuse("\"a\"", "run.fast: must be a list");
    refuse("[]", "run.fast: is empty");
    refuse("[\"a\"], \"inseparable\": \"join\"", "run.inseparable: 'join' is not one of");
    refuse("[\"a\", \"c\"], \"inseparable\": \"merge\"", "joints connect all others");
}

/* What a joint connects becomes fast with "inseparable": "merge"; states of forces may be fast
 * where no body is, and steps are then those of the whole. */
static void test_merged(void **state)
{
    (void)state;
    static const char body[] = "{\"mass\": 1, \"center\": [0, 0, 0], \"inertia\": [1, 1, 1]}";
    char text[2048];
    bg_error err = {BG_OK, ""};
    bg_model *model;
    snprintf(
        text, sizeof text,
        "{\"bodies\": {\"a\": %s, \"b\": %s, \"c\": %s, \"d\": %s}, \"joints\": {\"one\": "
        "{\"type\": \"revolute\", \"bodies\": [\"c\", \"b\"], \"at\": [0, 0, 0], \"axis\": [1, 0, "
        "0]}, \"two\": {\"type\": \"revolute\", \"bodies\": [\"b\", \"a\"], \"at\": [0, 0, 0], "
        "\"axis\": [1, 0, 0]}, \"three\": {\"type\": \"revolute\", \"bodies\": [\"ground\", "
        "\"d\"], "
        "\"at\": [0, 0, 0], \"axis\": [1, 0, 0]}}, \"run\": {\"fast\": [\"a\"], "
        "\"inseparable\": \"merge\"}}",
        body, body, body, body);
    assert_ok(bg_model_parse(text, "text", NULL, 0, &model, &err));
    for (int b = 1; b <= 4; b++)
        assert_int_equal(model->bodies[b].fast, b < 4);
    bg_model_destroy(model);
    snprintf(text, sizeof text,
             "{\"bodies\": {\"a\": %s}, \"joints\": {\"pin\": {\"type\": \"revolute\", \"bodies\": "
             "[\"ground\", \"a\"], \"at\": [0, 0, 0.5], \"axis\": [1, 0, 0], \"initial\": 0.5}}, "
             "\"forces\": {\"pid\": {\"type\": \"controller\", \"input\": {\"joint\": \"pin\"}, "
             "\"kp\": 3, \"ki\": 2, \"filter\": 0.005, \"output\": {\"joint\": \"pin\"}}}, "
             "\"run\": {\"fast\": [\"pid\"]}}",
             body);
    for (int form = 0; form < 2; form++) {
        assembled m = assembled_parse(text, forms[form]);
        const bg_system_def *d = bg_system_get_def(m.sys);
        bg_state *x[2];
        assert_int_equal(m.status, BG_OK);
        assert_true(d->nz == 2 && d->z_part && d->z_part[0] == BG_PART_FAST);
        for (int i = 0; i < 2; i++)
            assert_ok(bg_state_create(m.sys, &x[i], &err));
        assert_true(step_along(&m, "prk38", 1e-3, 100, x[0]));
        assert_true(step_along(&m, "rk4", 1e-3, 100, x[1]));
        assert_true(find_distance(x[0]->q, x[1]->q, d->nq) < 1e-6);
        assert_true(find_distance(x[0]->z, x[1]->z, d->nz) < 1e-5);
        for (int i = 0; i < 2; i++)
            bg_state_destroy(x[i]);
        assembled_clear(&m);
    }
}

/* Bodies that inputs alone move are of neither part: what hangs on them may be fast, also by a rod
 * that closes a loop and a gear, as partition=auto has it, and the rest of what hangs there slow.
 */
static void test_carried(void **state)
{
    (void)state;
    static const char text[] =
        "{'bodies': {'sled': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]}, 'a': {'mass': "
        "0.1, 'center': [0.3, 0.2, 0], 'inertia':"
        " [1e-3, 1e-3, 1e-3]}, 'b': {'mass': 3, 'center': [1, 0, -0.5], 'inertia': [1, 1, 1]},"
        " 'c': {'mass': 0.1, 'center': [0, 1, 0], 'inertia': [1e-3, 1e-3, 1e-3]}},"
        " 'inputs': {'go': '0.3*sin(3*t)', 'turn': '0.2*sin(4*t)'}, 'joints': {"
        " 'drive': {'type': 'revolute', 'bodies': ['ground', 'sled'], 'at': [0, 0, 0],"
        "   'axis': [0, 1, 0], 'prescribed': 'turn'},"
        " 'ball': {'type': 'spherical', 'bodies': ['sled', 'a'], 'at': [0, 0.2, 0], 'cut': false},"
        " 'rod': {'type': 'distance', 'points': [{'body': 'sled', 'at': [0.5, 0, 0.4]},"
        "   {'body': 'a', 'at': [0.3, 0.2, 0]}]},"
        " 'hinge': {'type': 'revolute', 'bodies': ['sled', 'b'], 'at': [0.5, 0, 0],"
        "   'axis': [0, 1, 0]},"
        " 'wheel': {'type': 'revolute', 'bodies': ['sled', 'c'], 'at': [0, 1, 0],"
        "   'axis': [0, 1, 0]},"
        " 'gear': {'type': 'gear', 'joints': ['drive', 'wheel'], 'ratio': 2}},"
        " 'forces': {'spring': {'type': 'spring-damper', 'from': {'body': 'a', 'at': [0.4, 0.2,"
        "   0]}, 'to': {'body': 'b', 'at': [1, 0, -0.5]}, 'stiffness': 500, 'damping': 1,"
        "   'free_length': 0.7}}}";
    bg_error err = {BG_OK, ""};
    bg_model *model;
    char *copy = quote(text);
    assert_ok(bg_model_parse(copy, "text", NULL, 0, &model, &err));
    free(copy);
    for (int b = 1; b < model->nbodies; b++)
        model->bodies[b].fast = strlen(model->bodies[b].name) == 1 &&
                                model->bodies[b].name[0] != 'b';
    assembled m = assembled_make(model, "joint");
    const bg_system_def *d = bg_system_get_def(m.sys);
    bg_state *x[2];
    if (m.status != BG_OK)
        fail_msg("%s", m.err.text);
    assert_int_equal(d->nv, 5);
    assert_int_equal(d->ng, 2);
    for (int i = 0; i < d->ng; i++)
        assert_int_equal(d->g_part[i], BG_PART_FAST);
    for (int i = 0; i < 2; i++)
        assert_ok(bg_state_create(m.sys, &x[i], &err));
    assert_true(step_along(&m, "rk4", 1.25e-4, 1600, x[1]));
    double error[2];
    for (int i = 0; i < 2; i++) {
        assert_true(step_along(&m, "prk38", 1e-3 / (1 + i), 200 * (1 + i), x[0]));
        error[i] = find_distance(x[0]->v, x[1]->v, d->nv);
    }
    assert_true(error[0] < 2e-5 && fabs(log2(error[0] / error[1]) - 3) < 0.15);
    for (int i = 0; i < 2; i++)
        bg_state_destroy(x[i]);
    assembled_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_steps),
        cmocka_unit_test(test_merged),  cmocka_unit_test(test_carried),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

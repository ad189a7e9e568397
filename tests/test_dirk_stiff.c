/* Implicit Runge-Kutta methods on random mechanisms whose springs and dampers are a hundred and a
 * thousand times stiffer, released far from their equilibrium. With fixed steps every run ends
 * where it should, with steps that are cut where Newton's iteration fails, and sdirk4-first-order
 * is sdirk4 where neither was cut; with error control both forms take as many steps. */
#include "model_support.h"
#include "random_mechanism.h"

#include <unistd.h>

static const double step = 2e-3, t_end = 0.012;

/* The text with all stiffnesses and dampings, alone or in lists, `factor` times as large. */
static char *stiffen(const char *text, double factor)
{
    static const char *const keys[] = {"\"stiffness\": ", "\"damping\": "};
    size_t size;
    char *copy;
    FILE *out = open_memstream(&copy, &size);
    assert_non_null(out);
    while (*text) {
        const char *key = NULL;
        for (int k = 0; k < 2; k++)
            key = strncmp(text, keys[k], strlen(keys[k])) == 0 ? keys[k] : key;
        if (!key) {
            fputc(*text++, out);
            continue;
        }
        fputs(key, out);
        text += strlen(key);
        bool list = *text == '[';
        do {
            char *end;
            if (*text == '[' || *text == ',')
                fputc(*text++, out);
            double x = strtod(text, &end);
            fprintf(out, "%.17g", factor * x);
            text = end;
        } while (list && *text == ',');
    }
    fclose(out);
    return copy;
}

static bg_model *make_stiff(unsigned seed, double factor)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    random_mechanism m = random_mechanism_make(seed);
    char *text = stiffen(m.text, factor);
    assert_ok(bg_model_parse(text, "stiff", NULL, 0, &model, &err));
    free(text);
    free(m.text);
    return model;
}

typedef struct fixed_run {
    long accepted, rejected;
    int n;
    double *y; /* [n] q, v, z */
} fixed_run;

static fixed_run run_fixed(const bg_system *sys, const char *method)
{
    const bg_system_def *def = bg_system_get_def(sys);
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    o.integrator = method;
    o.method.step = step;
    o.skip_comparison = 1;
    o.t_end = t_end;
    assert_ok(bg_run(sys, &o, &r, &err));
    fixed_run x = {r.counters.accepted, r.counters.rejected, def->nq + def->nv + def->nz, NULL};
    assert_true(r.final->t == t_end);
    x.y = malloc((size_t)x.n * sizeof(double));
    assert_non_null(x.y);
    memcpy(x.y, r.final->q, (size_t)x.n * sizeof(double));
    bg_run_report_clear(&r);
    return x;
}

static void test_random(void **state)
{
    (void)state;
    const unsigned seeds = SANITIZED ? 3 : 10;
    int runs = 0, cut = 0;
    double worst = 0;
    for (unsigned k = 0; k < 2 * seeds; k++) {
        bg_error err = {BG_OK, ""};
        const char *form = forms[k / 2 % 2];
        bg_model *model = make_stiff(k / 2, k % 2 ? 1e3 : 1e2);
        bg_system *sys;
        assert_ok(bg_model_create_system(model, form, &sys, &err));
        fixed_run x = run_fixed(sys, "sdirk4"), y = run_fixed(sys, "sdirk4-first-order");
        fixed_run z = run_fixed(sys, "trapezoidal");
        const bool whole = x.rejected + y.rejected == 0;
        cut += !whole;
        runs++;
        for (int i = 0; i < x.n && whole; i++) {
            double d = fabs(x.y[i] - y.y[i]) / fmax(1, fabs(x.y[i]));
            worst = fmax(worst, d);
            if (!(d <= 1e-10))
                fail_msg("mechanism %u, %s: entry %d differs by %.1e", k / 2, form, i, d);
        }
        free(x.y);
        free(y.y);
        free(z.y);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
    print_message("%d of %d runs with steps that were cut, others differ by %.1e\n", cut, runs,
                  worst);
    assert_true(SANITIZED || (cut > 0 && 2 * cut < runs));
}

/* What decides the steps of both forms are errors, not Newton's iteration. */
static void test_forms(void **state)
{
    (void)state;
    static const unsigned seeds[] = {0, 3, 4, 7};
    for (int k = 0; k < (SANITIZED ? 1 : 4); k++) {
        bg_model *model = make_stiff(seeds[k], 100);
        long steps[2];
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            bg_system *sys;
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            assert_ok(bg_model_create_system(model, forms[form], &sys, &err));
            o.integrator = "sdirk4";
            o.method.rtol = o.method.atol = 1e-5;
            o.method.h_max = 1;
            o.t_end = 0.2;
            assert_ok(bg_run(sys, &o, &r, &err));
            steps[form] = r.counters.accepted + r.counters.rejected;
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
        print_message("mechanism %u: %ld steps in joint form, %ld in Cartesian form\n", seeds[k],
                      steps[0], steps[1]);
        assert_true(steps[0] < 2 * steps[1] && steps[1] < 2 * steps[0]);
        bg_model_destroy(model);
    }
}

/* A block runs into a wall that derivatives at the beginning of the step know nothing of, and
 * beyond it into one that holds it by jumping. */
typedef struct walls {
    double jump; /* m, where the second one stands */
} walls;

static int walls_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const walls *w = self;
    const double x = p->q[0], v = p->v[0];
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = x > w->jump ? (v > 0 ? -1e13 : 1e13)
                    : x > 0.5   ? -1e8 * pow(x - 0.5, 1.5) - 1e3 * v
                                : 0;
    return 0;
}

static bg_system *create_walls(walls *w, const double *v0)
{
    static const char *const names[] = {"block"};
    bg_error err = {BG_OK, ""};
    bg_system *sys;
    bg_system_def d = bg_default_system_def();
    d.name = "walls";
    d.nq = d.nv = 1;
    d.q_names = d.v_names = names;
    d.v0 = v0;
    d.self = w;
    d.supplied = BG_TERM_M | BG_TERM_f;
    d.terms = walls_terms;
    assert_ok(bg_system_create(&d, &sys, &err));
    return sys;
}

typedef struct stiff_rows {
    long count;
    double t; /* s, of the last */
    bool between;
} stiff_rows;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    stiff_rows *s = self;
    const double t = row->state->t, place = t / step;
    (void)err;
    assert_true(s->count == 0 || t > s->t);
    s->between |= fabs(place - round(place)) > 1e-6;
    s->t = t;
    s->count++;
    return BG_OK;
}

static const char *const methods[] = {"sdirk4", "trapezoidal", "sdirk4-first-order"};

/* Steps are cut at the wall and whole ones again behind it, on the grid they were on; the run can
 * be resumed between parts, bit by bit. */
static void test_parts(void **state)
{
    (void)state;
    static const double v0[] = {19.3};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        walls w = {10};
        bg_system *sys = create_walls(&w, v0);
        char file[] = "/tmp/bogie-parts-XXXXXX";
        bg_run_options o = bg_default_run_options();
        bg_run_report r, again;
        stiff_rows s = {0};
        o.integrator = methods[k];
        o.method.step = step;
        o.skip_comparison = 1;
        o.t_end = 0.1;
        o.output_steps = 1;
        o.sink = (bg_sink){.self = &s, .row = take_row};
        assert_ok(bg_run(sys, &o, &r, &err));
        print_message("%s: %ld steps, %ld cut, v %g\n", methods[k], r.counters.accepted,
                      r.counters.rejected, r.final->v[0]);
        assert_true(r.counters.rejected > 0 && s.between);
        assert_true(r.counters.accepted > 50 && r.counters.accepted < 150);
        assert_true(r.final->v[0] < 0 && r.final->q[0] < 0.5);
        int descriptor = mkstemp(file);
        assert_true(descriptor >= 0);
        close(descriptor);
        o.sink = (bg_sink){0};
        for (long stop = 12; stop < 24; stop += 3) {
            o.max_steps = stop;
            o.checkpoint = file;
            o.resume = NULL;
            assert_true(bg_run(sys, &o, &again, &err) != BG_OK);
            bg_run_report_clear(&again);
            o.max_steps = 0;
            o.resume = file;
            assert_ok(bg_run(sys, &o, &again, &err));
            assert_memory_equal(again.final->q, r.final->q, 2 * sizeof(double));
            assert_int_equal(again.counters.accepted, r.counters.accepted);
            assert_int_equal(again.counters.rejected, r.counters.rejected);
            bg_run_report_clear(&again);
        }
        remove(file);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
}

/* Where no part converges, the sentence names the stage, the equation and the step. */
static void test_in_vain(void **state)
{
    (void)state;
    static const double v0[] = {19.3};
    static const char *const words[] = {"stage ", "'block'", "fixed step 0.002 s", "short parts"};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        walls w = {0.45};
        bg_system *sys = create_walls(&w, v0);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        o.integrator = methods[k];
        o.method.step = step;
        o.skip_comparison = 1;
        o.t_end = 0.1;
        assert_true(bg_run(sys, &o, &r, &err) != BG_OK);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (!strstr(err.text, words[i]))
                fail_msg("'%s' is not in: %s", words[i], err.text);
        assert_true(r.final->t > 0.02 && r.final->q[0] < 0.46);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Studies: draws, interpolation, metrics against known values, workers, journals, broken files. */
#include "bogie/bogie.h"
#include "study/journal.h"
#include "study/simulation.h"
#include "study/study.h"

#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/bogie-study-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* A file in the test's folder; apostrophes stand for quotes. */
static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (; *text; text++)
        fputc(*text == '\'' ? '"' : *text, file);
    assert_int_equal(fclose(file), 0);
}

static bg_study *read_study(const char *text)
{
    bg_error err = {0};
    bg_study *study = NULL;
    write_file("study.json", text);
    if (bg_study_read("study.json", true, &study, &err) != BG_OK)
        fail_msg("%s", err.text);
    return study;
}

static bg_table *run_study(const bg_study *study, int workers)
{
    bg_error err = {0};
    bg_table *table = NULL;
    bg_study_options options = {.workers = workers};
    if (bg_study_run(study, &options, &table, &err) != BG_OK)
        fail_msg("%s", err.text);
    bg_study_forget(study, &options);
    return table;
}

/* Published vectors of the generator (Random123, kat_vectors). */
static void test_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        bg_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
    assert_int_equal(bg_crc32("123456789", 9), 0xcbf43926);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double calc_uniform(double x)
{
    return fmin(1, fmax(0, (x + 1) / 4)); /* on [-1, 3] */
}

static double calc_normal(double x)
{
    return 0.5 * erfc(-(x - 2) / (0.5 * sqrt(2)));
}

static double calc_lognormal(double x)
{
    return 0.5 * erfc(-log(x / 3) / (0.25 * sqrt(2)));
}

/* The empirical distribution against the exact one (Kolmogorov-Smirnov); 1.95/sqrt(n) is passed
 * once in a thousand. And neighbouring draws, and draws of two keys, are not correlated. */
static void test_distributions(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const bg_draw draws[] = {{"set.a", BG_UNIFORM, -1, 3},
                                    {"set.a", BG_NORMAL, 2, 0.5},
                                    {"set.a", BG_LOGNORMAL, 3, 0.25}};
    static double (*const exact[])(double) = {calc_uniform, calc_normal, calc_lognormal};
    static double x[N];
    for (int d = 0; d < 3; d++) {
        double worst = 0;
        for (uint64_t k = 0; k < N; k++)
            x[k] = bg_draw_calc(&draws[d], 7, k);
        qsort(x, N, sizeof *x, compare_doubles);
        for (int k = 0; k < N; k++) {
            double p = exact[d](x[k]);
            worst = fmax(worst, fmax(fabs(p - k / (double)N), fabs(p - (k + 1) / (double)N)));
        }
        print_message("distribution %d: distance %.2f / sqrt(n)\n", d, worst * sqrt(N));
        assert_true(worst * sqrt(N) < 1.95);
    }
    bg_draw other = draws[1];
    other.key = "set.b";
    double lag = 0, cross = 0;
    for (uint64_t k = 0; k < N; k++) {
        double a = bg_draw_calc(&draws[1], 7, k) - 2;
        lag += a * (bg_draw_calc(&draws[1], 7, k + 1) - 2) / (0.25 * N);
        cross += a * (bg_draw_calc(&other, 7, k) - 2) / (0.25 * N);
    }
    print_message("correlations %.4f, %.4f\n", lag, cross);
    assert_true(fabs(lag) < 3.3 / sqrt(N) && fabs(cross) < 3.3 / sqrt(N));
}

/* A draw depends on seed, case and key, not on what else is drawn or how many. */
static void test_draws_alone(void **state)
{
    (void)state;
    bg_study *one = read_study("{'model':'equations:pendulum','variants':{'random':{'count':5,"
                               "'seed':3,'draws':{'set.mass':{'uniform':[1,2]}}}},"
                               "'metrics':['steps.accepted']}");
    bg_study *two = read_study("{'model':'equations:pendulum','variants':{'list':[{'name':'a'},"
                               "{'name':'b','tol':1e-8}],'random':{'count':50,'seed':3,'draws':"
                               "{'set.length':{'normal':[1,0.1]},'set.mass':{'uniform':[1,2]}}}},"
                               "'metrics':['steps.accepted']}");
    assert_int_equal(two->ncases, 100);
    for (long k = 0; k < 5; k++) {
        json_t *a = bg_study_make_settings(one, k), *b = bg_study_make_settings(two, k);
        json_t *c = bg_study_make_settings(two, 50 + k); /* the other variant, the same draw */
        assert_true(json_equal(json_object_get(a, "set.mass"), json_object_get(b, "set.mass")));
        assert_true(json_equal(json_object_get(a, "set.mass"), json_object_get(c, "set.mass")));
        json_decref(a);
        json_decref(b);
        json_decref(c);
    }
    bg_study_destroy(one);
    bg_study_destroy(two);
}

static double calc_cubic(double t)
{
    return 1 + t * (2 - t * (3 - t));
}

static void test_interpolation(void **state)
{
    (void)state;
    static const double times[] = {0, 0.1, 0.35, 0.4, 0.9, 1.5, 1.6};
    bg_trajectory tr = {.width = 2};
    double y[2];
    for (int i = 0; i < 7; i++) {
        y[0] = calc_cubic(times[i]);
        y[1] = sin(times[i]);
        assert_true(bg_trajectory_add(&tr, times[i], y));
    }
    for (int i = 0; i <= 160; i++) { /* at the ends, too */
        bg_trajectory_interpolate(&tr, 0.01 * i, 4, y);
        assert_true(fabs(y[0] - calc_cubic(0.01 * i)) < 1e-13);
    }
    bg_trajectory_interpolate(&tr, 0.4, 4, y);
    assert_true(y[1] == sin(0.4)); /* a sample is given back as it is */
    bg_trajectory_clear(&tr);

    tr.width = 1; /* a jump from t to t + 10 at t = 1 */
    for (int i = 0; i <= 20; i++) {
        double t = i <= 10 ? 0.1 * i : 0.1 * (i - 1), x = i <= 10 ? t : t + 10;
        assert_true(bg_trajectory_add(&tr, t, &x));
    }
    bg_trajectory_interpolate(&tr, 0.95, 4, y);
    assert_true(fabs(y[0] - 0.95) < 1e-13);
    bg_trajectory_interpolate(&tr, 1.05, 4, y);
    assert_true(fabs(y[0] - 11.05) < 1e-13);
    bg_trajectory_clear(&tr);
}

static void test_gauge(void **state)
{
    (void)state;
    bg_gauge m = {0};
    for (int i = 0; i <= 1000; i++)
        bg_gauge_add(&m, 1e-3 * i, 2 + 3 * sin(6.283185307179586 * 1e-3 * i));
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_MAX) - 5) < 1e-12);
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_MIN) + 1) < 1e-12);
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_RANGE) - 6) < 1e-12);
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_MEAN) - 2) < 1e-12);
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_RMS) - sqrt(4 + 4.5)) < 1e-9);
    assert_true(fabs(bg_gauge_get(&m, BG_TAKE_END) - 2) < 1e-12);
    double x[] = {0.1, 0.05, 0.025}, y[] = {3e-4, 3e-4 / 32, 3e-4 / 1024};
    assert_true(fabs(bg_slope_calc(x, y, 3) - 5) < 1e-12);
    assert_true(isnan(bg_slope_calc(x, y, 1)));
}

/* Metrics of a pendulum against what a plain run gives. */
static void test_metrics(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:bouncing-ball','base':{'t_end':1.5,'tol':1e-8},"
        "'variants':{'grid':{'set.height':[1,2]}},"
        "'metrics':['steps.accepted','final.t',{'key':'first','event':{}},"
        "{'key':'second','event':{'number':2}},{'key':'last','event':{'number':-1}},"
        "{'key':'count','event':{'take':'count'}},"
        "{'key':'top','output':{'name':'q:y','take':'max'}},"
        "{'key':'ratio','ratio':{'of':'first','to':{'set.height':1}}}]}");
    bg_table *t = run_study(s, 2);
    for (long k = 0; k < 2; k++) {
        const bg_cell *c = t->rows[k].cells;
        double height = (double)(k + 1), fall = sqrt(2 * height / 9.81);
        assert_true(t->rows[k].ok && c[0].kind == BG_CELL_INTEGER && c[0].i > 0);
        assert_true(bg_cell_get_number(&c[1]) == 1.5);
        assert_true(fabs(bg_cell_get_number(&c[2]) - fall) < 1e-9);
        if (fall * (1 + 2 * 0.8) < 1.5)
            assert_true(fabs(bg_cell_get_number(&c[3]) - fall * (1 + 2 * 0.8)) < 1e-9);
        assert_true(c[5].i >= 1 && bg_cell_get_number(&c[4]) >= bg_cell_get_number(&c[2]));
        assert_true(bg_cell_get_number(&c[6]) == height);
        assert_true(fabs(bg_cell_get_number(&c[7]) - sqrt(height)) < 1e-9);
    }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* Medians and others over a setting, over several, and over draws, in every case of a group; a case
 * that failed does not count. The table lists what `show` names. */
static void test_groups(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:bouncing-ball','base':{'t_end':1.5,'tol':1e-8},'show':{'set.height':2}"
        ","
        "'variants':{'list':[{'name':'a'},{'name':'b','t_end':0.5}],"
        "'grid':{'set.height':[1,4,2,9,-1]}},"
        "'metrics':[{'key':'top','output':{'name':'q:y'}},"
        "{'key':'median','group':{'of':'top','over':'set.height'}},"
        "{'key':'mean','group':{'of':'top','over':['set.height','t_end'],'take':'mean'}},"
        "{'key':'range','group':{'of':'top','over':'set.height','take':'range'}},"
        "{'key':'share','ratio':{'of':'median','to':'a'}},"
        "{'key':'part','ratio':{'of':'top','by':'median'}}]}");
    bg_table *t = run_study(s, 2);
    for (long k = 0; k < 10; k++) {
        const bg_cell *c = t->rows[k].cells;
        assert_int_equal(t->rows[k].ok, k % 5 != 4);
        assert_int_equal(bg_study_lists(s, k), k % 5 == 2);
        if (!t->rows[k].ok)
            continue;
        assert_true(bg_cell_get_number(&c[1]) == 3); /* of 1, 2, 4, 9 */
        assert_true(bg_cell_get_number(&c[2]) == 4 && bg_cell_get_number(&c[3]) == 8);
        assert_true(bg_cell_get_number(&c[4]) == 1);
        assert_true(bg_cell_get_number(&c[5]) == bg_cell_get_number(&c[0]) / 3);
    }
    char *csv = bg_table_create_csv(t), *text = bg_table_create_text(t);
    int lines = 0;
    for (const char *c = csv; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 3);
    assert_non_null(strstr(text, "10 cases, 2 failed"));
    assert_null(strstr(text, "height=4"));
    free(csv);
    free(text);
    bg_table_destroy(t);
    bg_study_destroy(s);

    s = read_study("{'model':'equations:bouncing-ball','base':{'t_end':0.1},'variants':{"
                   "'grid':{'tol':[1e-6,1e-8]},"
                   "'random':{'count':3,'draws':{'set.height':{'uniform':[1,2]}}}},"
                   "'metrics':[{'key':'top','output':{'name':'q:y'}},"
                   "{'key':'mean','group':{'of':'top','over':'draws','take':'mean'}}]}");
    t = run_study(s, 1);
    double sum[2] = {0};
    for (long k = 0; k < 6; k++)
        sum[k / 3] += bg_cell_get_number(&t->rows[k].cells[0]);
    for (long k = 0; k < 6; k++)
        assert_true(fabs(bg_cell_get_number(&t->rows[k].cells[1]) - sum[k / 3] / 3) < 1e-15);
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* Counters over time end where the summary does, and rise. */
static void test_counters_over_time(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:slider-crank','base':{'t_end':5},'variants':{'grid':{'integrator':"
        "['bdf','mdop5']}},'metrics':['steps.accepted','corrector.jacobians'],'plots':["
        "{'kind':'lines','trajectory':'#steps.accepted'},"
        "{'kind':'lines','trajectory':'#corrector.jacobians','points':50}]}");
    bg_table *t = run_study(s, 1);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) {
            const bg_trajectory *c = &t->rows[k].curves[i];
            assert_true(t->rows[k].ok && c->rows > 10 && c->rows <= (i ? 50 : 200));
            assert_true(c->t[0] == 0 && c->t[c->rows - 1] == 5);
            for (long n = 1; n < c->rows; n++)
                assert_true(c->y[n] >= c->y[n - 1]);
            const bg_cell *last = &t->rows[k].cells[i];
            if (k == 1 && i == 1) /* no corrector, and no such field */
                assert_true(c->y[c->rows - 1] == 0 && last->kind == BG_CELL_NONE);
            else
                assert_true(c->y[c->rows - 1] > 0 && c->y[c->rows - 1] == bg_cell_get_number(last));
        }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* tol_factor is both tolerances times so much, those of `tol` as those of the model. */
static void test_tolerance_factor(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:pendulum','base':{'t_end':5},'variants':["
        "{'name':'a','rtol':1e-6,'atol':1e-4,'tol_factor':0.01},{'name':'b','rtol':1e-8,'atol':1e-"
        "6},"
        "{'name':'c'},{'name':'d','tol_factor':1e-3},{'name':'e','tol':1e-9}],"
        "'metrics':['steps.accepted',{'key':'end','output':{'name':'q:x','take':'end'}}]}");
    bg_table *t = run_study(s, 2);
    double x[5][2];
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++)
            x[i][k] = bg_cell_get_number(&t->rows[i].cells[k]);
    assert_true(x[0][0] == x[1][0] && fabs(x[0][1] - x[1][1]) < 1e-12);
    assert_true(x[3][0] == x[4][0] && fabs(x[3][1] - x[4][1]) < 1e-12 && x[3][0] > x[2][0]);
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* Rows outside a window of time do not count; one without rows has no value. */
static void test_windows(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:bouncing-ball',"
        "'base':{'t_end':0.4,'tol':1e-8,'output_interval':0.1,'set.height':1},'metrics':["
        "{'key':'all','output':{'name':'q:y','take':'range'}},"
        "{'key':'late','output':{'name':'q:y','from':0.2}},"
        "{'key':'early','output':{'name':'q:y','take':'end','to':0.3}},"
        "{'key':'within','output':{'name':'q:y','take':'mean','from':0.1,'to':0.2}},"
        "{'key':'behind','output':{'name':'q:y','from':0.5}}]}");
    bg_table *t = run_study(s, 1);
    const bg_cell *c = t->rows[0].cells;
    const double g = 9.81, expected[] = {0.5 * g * 0.16, 1 - 0.5 * g * 0.04, 1 - 0.5 * g * 0.09,
                                         1 - 0.25 * g * (0.01 + 0.04)};
    assert_true(t->rows[0].ok);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(bg_cell_get_number(&c[i]) - expected[i]) < 1e-9);
    assert_int_equal(c[4].kind, BG_CELL_NONE);
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* Residuals at steps are those of the certificate, on however few rows; at the end of the run,
 * where there is a row, those on rows are the same. */
static void test_drift_at_steps(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'equations:pendulum','base':{'t_end':1,'integrator':'euler','step':0.001,"
        "'output_interval':0.25},'metrics':['certificate.max_g','certificate.max_gv',"
        "{'key':'g','drift':{'at':'steps'}},{'key':'v','drift':{'of':'gv','at':'steps'}},"
        "{'key':'half','drift':{'at':'steps','to':0.5}},"
        "{'key':'rest','drift':{'at':'steps','from':0.5}},"
        "{'key':'end','drift':{'at':'steps','take':'end'}},{'key':'row','drift':{'take':'end'}}]}");
    bg_table *t = run_study(s, 1);
    double x[8];
    assert_true(t->rows[0].ok);
    for (int i = 0; i < 8; i++)
        assert_true((x[i] = bg_cell_get_number(&t->rows[0].cells[i])) > 0);
    assert_true(x[2] == x[0] && x[3] == x[1]);
    assert_true(fmax(x[4], x[5]) == x[0] && x[4] != x[5]);
    assert_true(fabs(x[6] - x[7]) <= 1e-12 * x[6]);
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* Errors against values, a file and a reference run; the order of the method from a ladder. */
static void test_errors_and_order(void **state)
{
    (void)state;
    write_file("exact.csv", "t,q:x,q:y\n0,-1,0\n10,-0.27508746257611686,-0.96141920509912506\n");
    bg_study *s = read_study(
        "{'model':'equations:pendulum','base':{'t_end':10},"
        "'variants':{'grid':{'step':[0.04,0.02,0.01,0.005]}},"
        "'references':{'values':{'values':{'q:x':-0.27508746257611686,'q:y':-0.96141920509912506}},"
        "'file':{'file':'exact.csv'},'run':{'variant':{'step':null,'tol':1e-12},'points':8}},"
        "'metrics':[{'key':'a','error':{'reference':'values'}},"
        "{'key':'b','error':{'reference':'file','take':'end'}},"
        "{'key':'c','error':{'reference':'run','outputs':['q:*'],'take':'end'}},"
        "{'key':'d','error':{'reference':'run','outputs':['v:*']}},"
        "{'key':'e','error':{'reference':'run','outputs':['q:*'],'take':'end','norm':'2',"
        "'relative':true}},"
        "{'key':'order','order':{'of':'a','over':'step','floor':1e-11}},"
        "{'key':'drift','drift':{'of':'g'}}]}");
    bg_table *t = run_study(s, 2);
    for (long k = 0; k < s->ncases; k++) {
        const bg_cell *c = t->rows[k].cells;
        double x[7];
        for (int i = 0; i < 7; i++)
            x[i] = bg_cell_get_number(&c[i]);
        print_message("step %ld: %.2e %.2e %.2e %.2e, order %.3f\n", k, x[0], x[1], x[2], x[3],
                      x[5]);
        assert_true(t->rows[k].ok && x[0] == x[1]);
        assert_true(fabs(x[0] - x[2]) < 1e-9);             /* the reference run is that good */
        assert_true(x[3] > 3.5 * x[2] && x[3] < 5 * x[2]); /* over time, of velocities: larger */
        assert_true(x[4] >= x[2] && x[4] < 1.5 * x[2]);    /* |q| = 1 */
        assert_true(x[5] > 4.8 && x[5] < 5.3);
        assert_true(x[6] < 1e-12);
    }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* v' = -rate v: the stability polynomial of the method ends at -3.3066 on the real axis. */
static void test_stable_step(void **state)
{
    (void)state;
    bg_study *s = read_study(
        "{'model':'" BOGIE_PLUGIN_DIR "/decay.so','base':{'t_end':1},"
        "'variants':{'grid':{'set.rate':[100,1000]}},'metrics':["
        "{'key':'v','output':{'name':'v:v[0]'}},"
        "{'key':'h','stable_step':{'from':1e-5,'to':1,'accuracy':1e-3,"
        "'limits':{'v':1}}},"
        "{'key':'all','stable_step':{'from':1e-6,'to':1e-4,'limits':{'v':1}}},"
        "{'key':'none','stable_step':{'from':0.1,'to':0.2,'limits':{'v':1}}}]}");
    bg_table *t = run_study(s, 2);
    for (long k = 0; k < 2; k++) {
        double rate = k ? 1000 : 100, h = bg_cell_get_number(&t->rows[k].cells[1]);
        print_message("largest stable step %.4f / rate\n", h * rate);
        assert_true(h * rate > 3.30 && h * rate < 3.3067);
        assert_true(bg_cell_get_number(&t->rows[k].cells[2]) == 1e-4);
        assert_int_equal(t->rows[k].cells[3].kind, BG_CELL_NONE);
    }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

static const char many[] =
    "{'model':'equations:pendulum','base':{'t_end':0.5},'variants':{'grid':{'integrator':['mdop5','"
    "hem5'],"
    "'tol':[1e-4,1e-7]},'random':{'count':8,'seed':1,'draws':{'set.length':{'uniform':[0.5,2]}}}},"
    "'references':{'r':{'variant':{'integrator':'mdop5','tol':1e-10}}},"
    "'metrics':['steps.accepted',{'key':'e','error':{'outputs':['q:*']}},"
    "{'key':'o','order':{'of':'e','over':'tol'}}],"
    "'plots':[{'kind':'work-precision','x':'e','y':'steps.accepted'},"
    "{'kind':'histogram','x':'set.length','bins':4},{'kind':'lines','trajectory':'|g|'}]}";

/* The same text whatever the number of workers; and it is what the format says. */
static void test_workers(void **state)
{
    (void)state;
    bg_study *s = read_study(many);
    char *first = NULL;
    for (int workers = 1; workers <= 4; workers++) {
        bg_table *t = run_study(s, workers);
        char *text = bg_table_create_json(t);
        if (first)
            assert_string_equal(text, first);
        else
            first = strdup(text);
        free(text);
        bg_table_destroy(t);
    }
    json_t *json = json_loads(first, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), s->ncases);
    json_t *row = json_array_get(json_object_get(json, "rows"), 3);
    assert_int_equal(json_array_size(json_object_get(row, "values")), 3);
    assert_true(json_is_number(json_object_get(json_object_get(row, "settings"), "set.length")));
    json_t *plots = json_object_get(json, "plots"), *histogram = json_array_get(plots, 1);
    assert_int_equal(json_array_size(plots), 3);
    json_t *bins = json_object_get(json_array_get(json_object_get(histogram, "series"), 0), "y");
    long sum = 0;
    for (size_t i = 0; i < json_array_size(bins); i++)
        sum += (long)json_integer_value(json_array_get(bins, i));
    assert_int_equal(json_array_size(bins), 4);
    assert_int_equal(sum, s->ncases);
    json_decref(json);
    free(first);
    bg_study_destroy(s);
}

/* A case that crashes, ends its process or never ends is a row; the others are what they were. */
static void test_crashes(void **state)
{
    (void)state;
    bg_study *s = read_study("{'model':'" BOGIE_PLUGIN_DIR "/fate.so','time_limit':1,'variants':"
                             "{'grid':{'set.fate':[0,1,0,2,0,3,0]}},'metrics':['final.q[0]']}");
    bg_table *t = run_study(s, 2);
    static const char *const reasons[] = {"", "signal", "", "exit code", "", "time limit of 1 s",
                                          ""};
    for (long k = 0; k < 7; k++) {
        assert_int_equal(t->rows[k].ok, *reasons[k] == '\0');
        if (*reasons[k])
            assert_non_null(strstr(t->rows[k].reason, reasons[k]));
        else
            assert_true(fabs(bg_cell_get_number(&t->rows[k].cells[0]) + 4.905) < 1e-9);
    }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

/* A reference that fails takes those along that need it, with the reason. */
static void test_failed_reference(void **state)
{
    (void)state;
    bg_study *s = read_study("{'model':'" BOGIE_PLUGIN_DIR
                             "/fate.so','variants':{'grid':{'tol':[1e-3,1e-4]}},"
                             "'references':{'r':{'variant':{'set.fate':1}}},"
                             "'metrics':[{'key':'e','error':{'outputs':['q:*']}}]}");
    bg_table *t = run_study(s, 2);
    for (long k = 0; k < 2; k++) {
        assert_false(t->rows[k].ok);
        assert_non_null(strstr(t->rows[k].reason, "its reference 'r' failed"));
    }
    bg_table_destroy(t);
    bg_study_destroy(s);
}

static long read_journal(const bg_study *s, const char *path)
{
    bg_error err = {0};
    bg_table *table;
    bg_journal journal;
    assert_int_equal(bg_table_create(s, &table, &err), BG_OK);
    assert_int_equal(bg_journal_open(s, path, table, &journal, &err), BG_OK);
    long found = journal.restarted ? -1 : journal.found;
    bg_journal_close(&journal);
    bg_table_destroy(table);
    return found;
}

/* Whatever happens to the end of a journal, the complete lines before it count. */
static void test_journal(void **state)
{
    (void)state;
    bg_study *s = read_study(many);
    bg_error err = {0};
    bg_table *table;
    bg_study_options options = {.workers = 2, .journal = "test.journal"};
    assert_int_equal(bg_study_run(s, &options, &table, &err), BG_OK);
    bg_table_destroy(table);
    struct stat info;
    assert_int_equal(stat("test.journal", &info), 0);
    assert_int_equal(read_journal(s, "test.journal"), s->ncases);
    assert_int_equal(truncate("test.journal", info.st_size - 1), 0); /* without its line break */
    assert_int_equal(read_journal(s, "test.journal"), s->ncases - 1);
    assert_int_equal(stat("test.journal", &info), 0); /* the half line is gone */
    FILE *file = fopen("test.journal", "r+");
    assert_int_equal(fseek(file, (long)info.st_size - 5, SEEK_SET), 0);
    assert_int_equal(fputc('#', file), '#'); /* and one digit of the line before is wrong */
    fclose(file);
    assert_int_equal(read_journal(s, "test.journal"), s->ncases - 2);
    bg_study *other = read_study("{'model':'equations:pendulum','metrics':['steps.accepted']}");
    assert_int_equal(read_journal(other, "test.journal"), -1);
    assert_int_equal(access("test.journal.old", F_OK), 0);
    assert_int_equal(read_journal(s, "test.journal.old"), s->ncases - 2);
    bg_study_destroy(other);
    bg_study_destroy(s);
}

static const struct {
    const char *text, *place, *remedy;
} broken[] = {
    {"", "", "empty"},
    {"{", "line 1", "expected"},
    {"[]", "", "must be an object"},
    {"{'model':'equations:pendulum'}", "metrics", "is missing"},
    {"{'model':'equations:pendulum','metrics':[]}", "metrics", "name at least one"},
    {"{'metrics':['steps.accepted']}", "model", "is missing"},
    {"{'model':'equations:pendulm','metrics':['steps.accepted']}", "base", "did you mean"},
    {"{'model':'no.json','metrics':['steps.accepted']}", "base", "relative to the study"},
    {"{'model':'equations:pendulum','metrics':['steps.acepted']}", "metrics[0]",
     "did you mean 'steps.accepted'"},
    {"{'model':'equations:pendulum','metrics':[{'key':'x'}]}", "metrics[0]", "add one of summary"},
    {"{'model':'equations:pendulum','metrics':[{'eror':{}}]}", "metrics[0].eror",
     "did you mean 'error'"},
    {"{'model':'equations:pendulum','metrics':[{'error':{}}]}", "metrics[0].error",
     "needs a reference"},
    {"{'model':'equations:pendulum','metrics':['status','status']}", "metrics[1]", "of its own"},
    {"{'model':'equations:pendulum','variant':[],'metrics':['status']}", "variant",
     "did you mean 'variants'"},
    {"{'model':'equations:pendulum','variants':[],'metrics':['status']}", "variants", "is empty"},
    {"{'model':'equations:pendulum','variants':[{'tol':1}],'metrics':['status']}",
     "variants[0].name", "is missing"},
    {"{'model':'equations:pendulum','variants':[{'name':'a','toll':1}],'metrics':['status']}",
     "variants[0].toll", "did you mean 'tol'"},
    {"{'model':'equations:pendulum','base':{'mass':1},'metrics':['status']}", "base.mass", "set."},
    {"{'model':'equations:pendulum','base':{'set.mas':1},'metrics':['status']}", "base",
     "did you mean 'set.mass'"},
    {"{'model':'" BOGIE_SOURCE_DIR "/models/four-bar.json','base':{'set.bodies.cranck.mass':1},"
     "'metrics':['status']}",
     "base", "setting 'bodies.cranck.mass'"},
    {"{'model':'equations:pendulum','base':{'integrator':'mdop'},'metrics':['status']}",
     "base.integrator", "did you mean 'mdop5'"},
    {"{'model':'equations:pendulum','base':{'integrator.projektion':'none'},'metrics':['status']}",
     "base.integrator.projektion", "did you mean 'projection'"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[1e-3,-1]}},'metrics':['status']}",
     "variants.grid.tol[1]", "must be positive"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[]}},'metrics':['status']}",
     "variants.grid.tol", "at least one"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':0,'draws':{'tol':{'normal':[1,1]"
     "}}}},'metrics':['status']}",
     "variants.random.count", "must be positive"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':3,'draws':{'tol':{'gauss':[1,1]"
     "}}}},'metrics':['status']}",
     "variants.random.draws.tol.gauss", "uniform"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':3,'draws':{'tol':{'uniform':[2,1]"
     "}}}},'metrics':['status']}",
     "variants.random.draws.tol.uniform", "lower < upper"},
    {"{'model':'equations:pendulum','metrics':[{'output':{'name':'angel'}}]}", "metrics[0]",
     "did you mean 'angle'"},
    {"{'model':'equations:pendulum','metrics':[{'drift':{'from':2,'to':1}}]}", "metrics[0].drift",
     "earlier time"},
    {"{'model':'equations:pendulum','metrics':[{'drift':{'at':'steps','norm':'2'}}]}",
     "metrics[0].drift.norm", "must be"},
    {"{'model':'equations:bouncing-ball','metrics':[{'event':{'name':'inpact'}}]}", "metrics[0]",
     "did you mean"},
    {"{'model':'equations:pendulum','references':{'r':{'file':'no.csv'}},'metrics':['status']}",
     "references.r.file", "cannot be read"},
    {"{'model':'equations:pendulum','metrics':['status',{'order':{'of':'stat','over':'tol'}}]}",
     "metrics[1].order.of", "did you mean 'status'"},
    {"{'model':'equations:pendulum','metrics':['status',{'order':{'of':'status','over':'tol'}}]}",
     "metrics[1].order.over", "add it to the grid"},
    {"{'model':'equations:pendulum','variants':[{'name':'a'}],'metrics':['status',{'ratio':{'of':"
     "'status','to':'b'}}]}",
     "metrics[1].ratio.to", "'a'"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'pie'}]}",
     "plots[0].kind", "scatter"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'lines','x':'status',"
     "'y':'no'}]}",
     "plots[0].y", "'status'"},
    {"{'model':'equations:pendulum','metrics':['status'],'paper':{'source':'x','columns':['a','b'],"
     "'rows':[['c']]}}",
     "paper.rows[0]", "2 entries"},
    {"{'model':'equations:pendulum','repetitions':0,'metrics':['status']}", "repetitions",
     "whole number from 1"},
    {"{'model':'equations:pendulum','repetitions':0.5,'metrics':['status']}", "repetitions",
     "whole number from 1"},
    {"{'model':'equations:pendulum','repetitions':1e300,'metrics':['status']}", "repetitions",
     "whole number from 1"},
    {"{'model':'equations:pendulum','repetitions':2.5,'metrics':['status']}", "repetitions",
     "whole number from 1"},
    {"{'model':'equations:pendulum','base':{'max_steps':2.5},'metrics':['status']}",
     "base.max_steps", "whole number"},
    {"{'model':'equations:pendulum','base':{'max_steps':0.5},'metrics':['status']}",
     "base.max_steps", "whole number"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':{'from':1e-6,'to':1e-3,'count':1}}},'"
     "metrics':['status']}",
     "variants.grid.tol", "whole number from 2"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':{'from':1e-6,'to':1e-3,'count':2.5}}}"
     ",'metrics':['status']}",
     "variants.grid.tol", "whole number from 2"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':{'from':1e-6,'to':1e-3,'count':1e300}"
     "}},'metrics':['status']}",
     "variants.grid.tol", "whole number from 2"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':2.5,'draws':{'tol':{'normal':[1,"
     "1]}}}},'metrics':['status']}",
     "variants.random", "whole number from 1"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':1e300,'draws':{'tol':{'normal':["
     "1,1]}}}},'metrics':['status']}",
     "variants.random", "whole number from 1"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':2,'seed':-1,'draws':{'tol':{'"
     "normal':[1,1]}}}},'metrics':['status']}",
     "variants.random", "seed must be"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':2,'seed':0.5,'draws':{'tol':{'"
     "normal':[1,1]}}}},'metrics':['status']}",
     "variants.random", "seed must be"},
    {"{'model':'equations:pendulum','variants':{'random':{'count':2,'seed':1e300,'draws':{'tol':{'"
     "normal':[1,1]}}}},'metrics':['status']}",
     "variants.random", "seed must be"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted'],'plots':[{'kind':'histogram','x':'"
     "steps.accepted','bins':0}]}",
     "plots[0]", "bins must be"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted'],'plots':[{'kind':'histogram','x':'"
     "steps.accepted','bins':2.5}]}",
     "plots[0]", "bins must be"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted'],'plots':[{'kind':'histogram','x':'"
     "steps.accepted','bins':1e300}]}",
     "plots[0]", "bins must be"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted'],'plots':[{'kind':'histogram','x':'"
     "steps.accepted','bins':'0*7'}]}",
     "plots[0]", "bins must be"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'lines','trajectory':'|g|"
     "','points':1}]}",
     "plots[0]", "points must be"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'lines','trajectory':'|g|"
     "','points':2.5}]}",
     "plots[0]", "points must be"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'lines','trajectory':'|g|"
     "','points':1e300}]}",
     "plots[0]", "points must be"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[1e-3,1e-4]}},'metrics':['steps."
     "accepted',{'order':{'of':'steps.accepted','over':'tol','last':0}}]}",
     "metrics[1]", "last must be"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[1e-3,1e-4]}},'metrics':['steps."
     "accepted',{'order':{'of':'steps.accepted','over':'tol','last':1}}]}",
     "metrics[1]", "last must be"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[1e-3,1e-4]}},'metrics':['steps."
     "accepted',{'order':{'of':'steps.accepted','over':'tol','last':2.5}}]}",
     "metrics[1]", "last must be"},
    {"{'model':'equations:pendulum','variants':{'grid':{'tol':[1e-3,1e-4]}},'metrics':['steps."
     "accepted',{'order':{'of':'steps.accepted','over':'tol','last':1e300}}]}",
     "metrics[1]", "last must be"},
    {"{'model':'equations:pendulum','metrics':[{'event':{'number':0}}]}", "metrics[0].event.number",
     "must be 1 for the first"},
    {"{'model':'equations:pendulum','metrics':[{'event':{'number':0.5}}]}",
     "metrics[0].event.number", "must be 1 for the first"},
    {"{'model':'equations:pendulum','metrics':[{'event':{'number':1e300}}]}",
     "metrics[0].event.number", "must be 1 for the first"},
    {"{'model':'equations:pendulum','name':'a/b','metrics':['status']}", "name", "'/'"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted',{'group':{'of':'steps.accepted','"
     "over':'tol'}}]}",
     "metrics[1].group.over", "'tol' does not change in this study"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted',{'group':{'of':'steps.accepted','"
     "over':'draws'}}]}",
     "metrics[1].group.over", "has none"},
    {"{'model':'equations:pendulum','metrics':['evaluations.factorizations']}", "metrics[0]",
     "did you mean 'evaluations.factorisations'"},
    {"{'model':'equations:pendulum','metrics':['status'],'plots':[{'kind':'lines','trajectory':"
     "'#steps.acepted'}]}",
     "plots", "did you mean '#steps.accepted'"},
    {"{'model':'equations:pendulum','metrics':['steps.accepted',{'ratio':{'of':'steps.accepted'}}]"
     "}",
     "metrics[1].ratio", "one of to"},
    {"{'model':'equations:pendulum','show':{'toll':1},'metrics':['status']}", "show.toll",
     "did you mean 'tol'"},
    {"{'model':'equations:pendulum','base':{'tol_factor':0},'metrics':['status']}",
     "base.tol_factor", "must be positive"},
};

/* One sentence with file, path and remedy. */
static void test_broken(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        bg_error err = {0};
        bg_study *study = NULL;
        write_file("broken.json", broken[i].text);
        bg_status st = bg_study_read("broken.json", true, &study, &err);
        bool fine = st < 0 && !study && strncmp(err.text, "broken.json: ", 13) == 0 &&
                    strncmp(err.text + 13, broken[i].place, strlen(broken[i].place)) == 0 &&
                    strstr(err.text, broken[i].remedy) && !strchr(err.text, '\n');
        if (!fine)
            print_message("%s\n  gives %d: %s\n", broken[i].text, st, err.text);
        bad += !fine;
        bg_study_destroy(study);
    }
    assert_int_equal(bad, 0);
}

/* All that are shipped can be read, and have something to show. */
static void test_shipped(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(BOGIE_SOURCE_DIR "/studies/*.json", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 7);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        bg_error err = {0};
        bg_study *study = NULL;
        if (bg_study_read(files.gl_pathv[i], true, &study, &err) != BG_OK)
            fail_msg("%s", err.text);
        const char *file = strrchr(files.gl_pathv[i], '/') + 1;
        assert_memory_equal(file, study->name, strlen(study->name));
        assert_true(study->ncases > 1 && json_array_size(study->plots) > 0 && *study->text);
        bg_study_destroy(study);
    }
    globfree(&files);
}

/* What a model file says under "run" holds in a study as in `bogie run`, and the file is read once:
 * when the cases run it may be gone. */
static void test_obeys_model(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "'integrator':'linear-euler','step':0.01,'options':{'jacobian':'J3'}",
        "'integrator':'mdop5','rtol':1e-9,'atol':1e-7,'options':{'projection':'none'}",
        "'integrator':'hem5','formulation':'cartesian','output_interval':0.05",
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        bg_error err = {0};
        bg_problem_def def = bg_default_problem_def();
        bg_problem *problem;
        bg_run_report report;
        char text[2048];
        snprintf(text, sizeof text,
                 "{'bodies':{'a':{'mass':'heavy','center':[0.5,0,0],'inertia':[1,1,1]},"
                 "'b':{'mass':1,'center':[1,0.5,0],'inertia':[1,1,1]}},'parameters':{'heavy':1},"
                 "'joints':{'A':{'type':'revolute','bodies':['ground','a'],'at':[0,0,0],"
                 "'axis':[0,0,1]},'B':{'type':'revolute','bodies':['a','b'],'at':[1,0,0],"
                 "'axis':[0,0,1]},'C':{'type':'point-on-line','bodies':['ground','b'],"
                 "'at':[1,1,0],'axis':[0,0,1],'cut':true}},'gravity':[0,-9.81,0],"
                 "'outputs':{'x':{'position':'b'}},'run':{'t_end':0.5,%s}}",
                 runs[k]);
        write_file("own.json", text);
        def.reference = "own.json";
        if (bg_problem_create(&def, &problem, &err) != BG_OK)
            fail_msg("%s", err.text);
        bg_run_options o = bg_problem_get_run_options(problem);
        if (bg_run(bg_problem_get_system(problem), &o, &report, &err) != BG_OK)
            fail_msg("%s", err.text);
        bg_study *study = read_study(
            "{'model':'own.json','variants':{'grid':{'set.parameters.heavy':[1,2,3]}},"
            "'metrics':['evaluations.terms','steps.accepted','t_end','final.v[0]']}");
        assert_int_equal(unlink("own.json"), 0);
        bg_table *table = run_study(study, 2);
        for (long i = 0; i < study->ncases; i++)
            assert_true(table->rows[i].ok);
        const bg_cell *cells = table->rows[0].cells;
        assert_int_equal(cells[0].i, bg_counters_sum_steps(&report.counters).terms);
        assert_int_equal(cells[1].i, report.counters.accepted);
        assert_true(bg_cell_get_number(&cells[2]) == report.final->t);
        assert_true(bg_cell_get_number(&cells[3]) == report.final->v[0]);
        bg_table_destroy(table);
        bg_study_destroy(study);
        bg_run_report_clear(&report);
        bg_problem_destroy(problem);
    }
}

/* The hash of a study over a model with a part in a file, whose input is a table, and a table that
 * a setting names. */
static uint64_t hash_study(void)
{
    bg_study *study = read_study(
        "{'model': 'm/model.json', 'base': {'t_end': 0.1}, 'variants': {'list': [{'name': 'a'}, "
        "{'name': 'b', 'set.inputs.w.file': 'other.csv'}]}, 'metrics': ['steps.accepted']}");
    uint64_t hash = study->hash;
    bg_study_destroy(study);
    return hash;
}

/* Lines of a journal are stale once any file has changed that a model reads, however it is named.
 */
static void journals_know_every_file(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text, *changed;
    } files[] = {
        {"m/model.json",
         "{'inputs': {'w': {'type': 'table', 'file': 'own.csv'}}, 'parts': {'p': {'file': "
         "'parts/part.json'}}, 'use': {'a': {'part': 'p'}}}",
         "{'inputs': {'w': {'type': 'table', 'file': 'own.csv'}}, 'parts': {'p': {'file': "
         "'parts/part.json'}}, 'use': {'b': {'part': 'p'}}}"},
        {"m/own.csv", "0,0\n1,1\n", "0,0\n1,2\n"},
        {"m/other.csv", "0,0\n1,3\n", "0,0\n1,4\n"},
        {"m/parts/part.json", "{'parts': {'q': {'file': 'inner'}}, 'use': {'in': {'part': 'q'}}}",
         "{'parts': {'q': {'file': 'inner'}}, 'use': {'out': {'part': 'q'}}}"},
        {"m/parts/inner",
         "{'inputs': {'u': {'type': 'table', 'file': '../u.csv'}}, 'bodies': {'b': {'mass': 1, "
         "'center': [0, 0, 0]}}, 'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'b'], "
         "'at': [0, 0, 0], 'axis': [1, 0, 0]}}}",
         "{'inputs': {'u': {'type': 'table', 'file': '../u.csv'}}, 'bodies': {'b': {'mass': 2, "
         "'center': [0, 0, 0]}}, 'joints': {'s': {'type': 'prismatic', 'bodies': ['ground', 'b'], "
         "'at': [0, 0, 0], 'axis': [1, 0, 0]}}}"},
        {"m/u.csv", "0,0\n1,1\n", "0,0\n1,1.5\n"},
    };
    const size_t n = sizeof files / sizeof *files;
    assert_int_equal(mkdir("m", 0777) | mkdir("m/parts", 0777), 0);
    for (size_t k = 0; k < n; k++)
        write_file(files[k].path, files[k].text);
    const uint64_t first = hash_study();
    for (size_t k = 0; k < n; k++) {
        write_file(files[k].path, files[k].changed);
        if (hash_study() == first)
            fail_msg("a change of %s is not seen", files[k].path);
        write_file(files[k].path, files[k].text);
        assert_true(hash_study() == first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(journals_know_every_file),
                                       cmocka_unit_test(test_philox),
                                       cmocka_unit_test(test_distributions),
                                       cmocka_unit_test(test_draws_alone),
                                       cmocka_unit_test(test_interpolation),
                                       cmocka_unit_test(test_gauge),
                                       cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_tolerance_factor),
                                       cmocka_unit_test(test_counters_over_time),
                                       cmocka_unit_test(test_windows),
                                       cmocka_unit_test(test_drift_at_steps),
                                       cmocka_unit_test(test_errors_and_order),
                                       cmocka_unit_test(test_stable_step),
                                       cmocka_unit_test(test_workers),
                                       cmocka_unit_test(test_crashes),
                                       cmocka_unit_test(test_failed_reference),
                                       cmocka_unit_test(test_journal),
                                       cmocka_unit_test(test_broken),
                                       cmocka_unit_test(test_obeys_model),
                                       cmocka_unit_test(test_shipped)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

/* Joints that follow signals, eliminated, as constraints, and in Cartesian form: one motion, one
 * set of reactions and driving forces, one energy balance, on random mechanisms; derivatives by u,
 * u_t and u_tt against differences; starts, resumed runs, live inputs. */
#include "random_mechanism.h"

#include "bogie/realtime.h"
#include "model_support.h"

#include <unistd.h>

enum { VARIANTS = 3, OUTPUTS = 2000 };

static const struct {
    const char *form, *rheonomic;
} variants[VARIANTS] = {{"joint", "eliminate"}, {"joint", "constrain"}, {"cartesian", "eliminate"}};

/* A model with its system. */
typedef struct built {
    bg_model *model;
    bg_system *sys;
} built;

static bg_status build(const char *text, const char *form, const char *rheonomic, built *x,
                       bg_error *err)
{
    char value[32];
    snprintf(value, sizeof value, "\"%s\"", rheonomic);
    const bg_setting set = {"run.rheonomic", value};
    *x = (built){NULL, NULL};
    bg_status st = bg_model_parse(text, "test", &set, 1, &x->model, err);
    if (st == BG_OK)
        st = bg_model_create_system(x->model, form, &x->sys, err);
    return st;
}

static void take_down(built *x)
{
    bg_system_destroy(x->sys);
    bg_model_destroy(x->model);
}

/* What a run ends with. */
typedef struct end {
    bg_status status;
    int ny, nv, ng, redundant;
    double y[OUTPUTS], work, energy_error, energy_scale;
    char text[512];
} end;

static void run_variant(const char *text, int k, double t_end, end *e)
{
    bg_error err = {BG_OK, ""};
    built x;
    bg_run_report r;
    bg_run_options o = bg_default_run_options();
    o.t_end = t_end;
    o.method.rtol = o.method.atol = 1e-11;
    e->status = build(text, variants[k].form, variants[k].rheonomic, &x, &err);
    if (e->status == BG_OK) {
        const bg_system_def *def = bg_system_get_def(x.sys);
        e->status = bg_run(x.sys, &o, &r, &err);
        e->ny = def->ny;
        e->nv = def->nv;
        e->ng = def->ng;
        if (e->status == BG_OK) {
            assert_true(def->ny <= OUTPUTS);
            memcpy(e->y, r.y, (size_t)def->ny * sizeof *e->y);
            e->work = *r.final->work;
            e->energy_error = r.certificate.energy_error;
            e->energy_scale = r.certificate.energy_scale;
            e->redundant = r.assembly.redundancy.count;
        }
        bg_run_report_clear(&r);
    }
    snprintf(e->text, sizeof e->text, "%.500s", err.text);
    take_down(&x);
}

static void test_forms_agree(void **state)
{
    (void)state;
    static end e[VARIANTS];
    int compared = 0, looped = 0, still = 0, drives = 0;
    double worst = 0, worst_work = 0, worst_energy = 0;
    for (unsigned seed = 0; seed < (SANITIZED ? 30u : 150u); seed++) {
        random_mechanism m = random_mechanism_make_driven(seed);
        for (int k = 0; k < VARIANTS; k++)
            run_variant(m.text, k, 0.05, &e[k]);
        if ((e[0].status == BG_OK) != (e[1].status == BG_OK))
            fail_msg("seed %u: '%s' but '%s'", seed, e[0].text, e[1].text);
        if (e[1].status != BG_OK || e[2].status != BG_OK || m.ndrives == 0) {
            free(m.text);
            continue;
        }
        for (int k = 0; k < VARIANTS; k++) {
            worst_energy = fmax(worst_energy, e[k].energy_error / e[k].energy_scale);
            worst_work = fmax(worst_work, fabs(e[k].work - e[1].work) / e[1].energy_scale);
            double size = 1;
            for (int i = 0; i < e[1].ny; i++)
                size = fmax(size, fabs(e[1].y[i]));
            for (int i = 0; i < e[1].ny && e[1].redundant == 0; i++) {
                double error = fabs(e[k].y[i] - e[1].y[i]) / size;
                worst = fmax(worst, error);
                if (!(error < 1e-9))
                    fail_msg("seed %u, %s %s: output %d is %.12g, not %.12g", seed,
                             variants[k].form, variants[k].rheonomic, i, e[k].y[i], e[1].y[i]);
            }
        }
        compared++;
        looped += m.loops > 0;
        still += e[0].nv == m.ndrives && e[0].nv == e[1].nv; /* nothing else moves */
        drives += m.ndrives;
        free(m.text);
    }
    print_message("%d mechanisms, %d with loops, %d all driven, %d drives: outputs %.1e, "
                  "work %.1e, energy balance %.1e\n",
                  compared, looped, still, drives, worst, worst_work, worst_energy);
    assert_true(worst_work < 1e-9 && worst_energy < 1e-9);
    assert_true(SANITIZED || (compared >= 60 && looped >= 10 && still >= 1 && drives >= 120));
}

static void test_derivatives(void **state)
{
    (void)state;
    double worst = 0;
    int checked = 0, by_signals = 0;
    for (unsigned seed = 0; seed < (SANITIZED ? 20u : 80u); seed++) {
        random_mechanism m = random_mechanism_make_driven(seed);
        for (int k = 0; k < VARIANTS; k++) {
            bg_error err = {BG_OK, ""};
            built x;
            bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
            int count = 0;
            if (build(m.text, variants[k].form, variants[k].rheonomic, &x, &err) == BG_OK)
                assert_ok(bg_system_check_derivatives(x.sys, 1, seed, checks, &count, &err));
            for (int i = 0; i < count; i++) {
                by_signals += strstr(checks[i].quantity, "/du") && checks[i].supplied != 0;
                double difference = fabs(checks[i].supplied - checks[i].differenced);
                if (difference < 1e-10) /* rounding, where a whole block is zero */
                    continue;
                worst = fmax(worst, checks[i].error);
                if (!(checks[i].error < 1e-6))
                    fail_msg("seed %u, %s %s: %s, %s is %g, not %g", seed, variants[k].form,
                             variants[k].rheonomic, checks[i].quantity, checks[i].entry,
                             checks[i].supplied, checks[i].differenced);
            }
            checked += count > 0;
            take_down(&x);
        }
        free(m.text);
    }
    print_message("%d systems, %d blocks by signals that are not zero: %.1e\n", checked, by_signals,
                  worst);
    assert_true(SANITIZED || (checked > 150 && by_signals > 500));
}

/* A pendulum on a sledge that follows a signal, and a mass between springs behind it. */
static const char sledge[] =
    "{'bodies': {'sledge': {'mass': 2, 'center': [0, 0, 0], 'inertia': [1, 1, 1]},"
    " 'bob': {'mass': 1, 'center': [0, 0, -0.5], 'inertia': [0.02, 0.02, 0.01]},"
    " 'mass': {'mass': 0.5, 'center': [0.3, 0, 0], 'inertia': [1, 1, 1]}},"
    " 'inputs': {'pull': '0.1*sin(5*t)'},"
    " 'joints': {'rail': {'type': 'prismatic', 'bodies': ['ground', 'sledge'], 'at': [0, 0, 0],"
    "  'axis': [1, 0, 0.1], 'prescribed': 'pull'},"
    "  'hinge': {'type': 'revolute', 'bodies': ['sledge', 'bob'], 'at': [0, 0, 0], 'axis':"
    "  [0.1, 1, 0], 'initial': {'position': 0.2}},"
    "  'slot': {'type': 'prismatic', 'bodies': ['sledge', 'mass'], 'at': [0.3, 0, 0], 'axis':"
    "  [1, 0, 0]}},"
    " 'forces': {'spring': {'type': 'torsion', 'joint': 'slot', 'stiffness': 80, 'damping': 1},"
    "  'along': {'type': 'torsion', 'joint': 'rail', 'stiffness': 30, 'torque':"
    "  '2*sin(3*pull)'}},"
    " 'outputs': {'angle': {'joint': 'hinge'}, 'slide': {'joint': 'slot'}, 'x': {'joint':"
    "  'rail'}, 'rate': {'joint': 'rail', 'derivative': 1}, 'second': {'joint': 'rail',"
    "  'derivative': 2}, 'drive': {'reaction': 'rail'}}, 'run': {'t_end': 1}}";

/* Steps of h with samples of the signal from outside, in lines through the last two. */
static void run_live(const char *text, const char *rheonomic, double h, double *y)
{
    static const char *const inputs[] = {"pull"};
    bg_error err = {BG_OK, ""};
    built x;
    bg_realtime *rt;
    bg_realtime_options o = bg_default_realtime_options();
    assert_ok(build(text, "joint", rheonomic, &x, &err));
    o.period = h;
    o.inputs = inputs;
    o.ninputs = 1;
    o.hold = BG_HOLD_SLOPE;
    assert_ok(bg_realtime_create(x.sys, &o, &rt, &err));
    for (int k = 0; k < (int)(1 / h + 0.5); k++) {
        double u = 0.1 * sin(5 * h * k);
        assert_ok(bg_realtime_step(rt, &u, y, &err));
    }
    bg_realtime_destroy(rt);
    take_down(&x);
}

/* What hangs on a joint that is driven from outside feels its accelerations, which arrive as jumps
 * of the rate: the error against the signal itself falls with the step. */
static void test_live_inputs(void **state)
{
    (void)state;
    static end whole;
    const double h[] = {4e-3, 2e-3, 1e-3, 5e-4};
    char *text = quote(sledge);
    run_variant(text, 0, 1, &whole);
    for (int k = 0; k < 2; k++) {
        double error[4], y[16];
        for (int i = 0; i < 4; i++) {
            run_live(text, variants[k].rheonomic, h[i], y);
            error[i] = hypot(y[0] - whole.y[0], y[1] - whole.y[1]);
            assert_near(y[2], whole.y[2], 2 * h[i]);
            assert_near(y[3], whole.y[3], 20 * h[i]);
        }
        double order = fit_order(4, h, error);
        print_message("live, %s: order %.2f, errors %.1e to %.1e\n", variants[k].rheonomic, order,
                      error[0], error[3]);
        assert_true(order > 0.8 && error[3] < 5e-4);
    }
    free(text);
}

/* Coordinates, rates and driving forces of all variants at the end of a longer run. */
static void test_sledge(void **state)
{
    (void)state;
    static end e[VARIANTS];
    char *text = quote(sledge);
    for (int k = 0; k < VARIANTS; k++)
        run_variant(text, k, 1, &e[k]);
    for (int k = 0; k < VARIANTS; k++) {
        assert_int_equal(e[k].status, BG_OK);
        for (int i = 0; i < e[k].ny; i++)
            assert_near(e[k].y[i], e[1].y[i], 1e-9);
        assert_near(e[k].work, e[1].work, 1e-9);
        assert_near(e[k].y[4], -2.5 * sin(5.0), 1e-12);
    }
    assert_int_equal(e[0].nv, 2);
    assert_int_equal(e[0].ng, 0);
    assert_int_equal(e[1].nv, 3);
    assert_int_equal(e[1].ng, 1);
    free(text);
}

/* " [x, y, z]", turned. */
static const char *write_turned(const bg_mat3 *R, double x, double y, double z, char text[96])
{
    bg_vec3 a = bg_rotate(R, bg_vec3_make(x, y, z));
    snprintf(text, 96, "[%.17g, %.17g, %.17g]", a.x, a.y, a.z);
    return text;
}

/* A crank, driven or behind a driven joint, with a rod that a loop of distance closes. */
static void write_crank(const bg_mat3 *R, char *text, size_t size)
{
    char v[10][96];
    snprintf(
        text, size,
        "{'gravity': %s, 'bodies': {'base': {'mass': 3, 'center': %s, 'inertia': {'principal': "
        "[1, 1, 1]}}, 'crank': {'mass': 1, 'center': %s, 'inertia': {'principal': [0.1, 0.1, "
        "0.1]}}, 'rod': {'mass': 1, 'center': %s, 'inertia': {'principal': [0.2, 0.2, 0.2]}}},"
        " 'inputs': {'turn': '2*t + 0.3*sin(4*t)', 'lift': '0.1*sin(3*t)'},"
        " 'joints': {'lift': {'type': 'prismatic', 'bodies': ['ground', 'base'], 'at': [0, 0, 0],"
        "  'axis': %s, 'prescribed': 'lift'}, 'pin': {'type': 'revolute', 'bodies': ['base',"
        "  'crank'], 'at': [0, 0, 0], 'axis': %s, 'prescribed': 'turn'}, 'knee': {'type':"
        "  'universal', 'bodies': ['crank', 'rod'], 'at': %s, 'axis': %s, 'second': %s},"
        "  'tie': {'type': 'distance', 'points': [{'body': 'rod', 'at': %s}, [0, 0, 0]]}},"
        " 'outputs': {'a': {'joint': 'knee', 'coordinate': 'angle'}, 'b': {'joint': 'knee',"
        "  'coordinate': 'second'}, 'e': {'energy': 'total'}}, 'run': {'t_end': 0.5}}",
        write_turned(R, 0, 0, -9.81, v[0]), write_turned(R, 0, 0, 0, v[1]),
        write_turned(R, 0.2, 0, 0, v[2]), write_turned(R, 0.6, 0, 0.3, v[3]),
        write_turned(R, 0, 0.2, 1, v[4]), write_turned(R, 0, 1, 0, v[5]),
        write_turned(R, 0.4, 0, 0, v[6]), write_turned(R, 0, 1, 0, v[7]),
        write_turned(R, 0, 0, 1, v[8]), write_turned(R, 0.8, 0, 0.7, v[9]));
}

/* However the model is turned, it is the same model. */
static void test_turned(void **state)
{
    (void)state;
    static end e[VARIANTS], turned;
    char text[4096];
    bg_mat3 as_drawn = bg_mat3_identity(),
            R = bg_rotation_from_quat(bg_quat_normalise((bg_quat){0.3, -0.7, 0.5, 0.2}));
    for (int k = 0; k < VARIANTS; k++) {
        write_crank(&as_drawn, text, sizeof text);
        char *json = quote(text);
        run_variant(json, k, 0.5, &e[k]);
        free(json);
        write_crank(&R, text, sizeof text);
        json = quote(text);
        run_variant(json, k, 0.5, &turned);
        free(json);
        if (e[k].status != BG_OK || turned.status != BG_OK)
            fail_msg("%s", e[k].status != BG_OK ? e[k].text : turned.text);
        for (int i = 0; i < e[k].ny; i++) {
            assert_near(turned.y[i], e[k].y[i], 1e-10);
            assert_near(e[k].y[i], e[0].y[i], 1e-9);
        }
    }
}

/* An arm of n hinges in oblique directions, each driven by a sine of its own. */
static void write_arm(int n, unsigned *seed, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "{\"bodies\": {");
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s\"b%d\": {\"mass\": 2, \"center\": [%g, 0.1, 0], \"inertia\": "
                                 "[0.1, 0.2, 0.2]}",
                                 k > 0 ? ", " : "", k, k + 0.5);
    used += (size_t)snprintf(text + used, size - used, "}, \"joints\": {");
    for (int k = 0; k < n; k++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            *seed = *seed * 1664525u + 1013904223u;
            x[i] = (*seed >> 8) / 16777216.0;
        }
        used += (size_t)snprintf(text + used, size - used,
                                 "%s\"j%d\": {\"type\": \"revolute\", \"bodies\": [\"%s\", "
                                 "\"b%d\"], \"at\": [%d, 0, 0], \"axis\": [%g, 1, %g], "
                                 "\"prescribed\": \"u%d\"}",
                                 k > 0 ? ", " : "", k,
                                 k == 0   ? "ground"
                                 : k == 1 ? "b0"
                                          : "b1",
                                 k, k, x[0], x[1], k);
    }
    used += (size_t)snprintf(text + used, size - used, "}, \"inputs\": {");
    for (int k = 0; k < n; k++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s\"u%d\": {\"type\": \"sine\", \"amplitude\": 0.5, "
                                 "\"frequency\": %g}",
                                 k > 0 ? ", " : "", k, 0.7 + 2.3 * k);
    snprintf(text + used, size - used, "}, \"run\": {\"t_end\": 1}}");
}

/* A mechanism of which every motion is prescribed moves, its steps are short enough for the work of
 * its drives, and nobody says that it is fixed. */
static void test_all_driven(void **state)
{
    (void)state;
    unsigned seed = 5;
    const bg_integrator_info *info;
    for (int k = 0; k < 4; k += SANITIZED ? 2 : 1)
        for (int m = 0; (info = get_method(m)); m++) {
            char text[4096];
            bg_error err = {BG_OK, ""};
            built x;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            write_arm(1 + k % 3, &seed, text, sizeof text);
            o.integrator = info->name;
            o.method.step = info->fixed_steps ? 1e-3 : 0;
            o.skip_comparison = 1;
            assert_ok(build(text, k + m % 2 > 1 ? "joint" : "cartesian", "eliminate", &x, &err));
            assert_ok(bg_run(x.sys, &o, &r, &err));
            for (int i = 0; i < r.warnings.count; i++)
                if (strcmp(r.warnings.items[i].topic, "freedom") == 0)
                    fail_msg("%s: %s", info->name, r.warnings.items[i].text);
            double limit = info->order == 1 ? 0.2 : 1e-2;
            if (!(r.certificate.energy_error < limit * r.certificate.energy_scale))
                fail_msg("%s: %g J of %g J", info->name, r.certificate.energy_error,
                         r.certificate.energy_scale);
            bg_run_report_clear(&r);
            take_down(&x);
        }
}

static double draw(unsigned *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (*seed >> 8) / 16777216.0;
}

/* A heavy disc out of centre, and a slide with a hinge on it, both driven; a mass on a soft spring
 * that does not care. */
static void write_aside(unsigned seed, char *text, size_t size)
{
    char turn[160], slide[160];
    const double f = draw(&seed, 3, 60);
    switch (seed / 256 % 4) {
    case 0:
        snprintf(turn, sizeof turn, "'%.17g*t'", 2 * M_PI * f);
        break;
    case 1:
        snprintf(turn, sizeof turn, "'0.4*cos(%.17g*t)'", 2 * M_PI * round(f));
        break;
    case 2:
        snprintf(turn, sizeof turn, "{'type': 'sine', 'amplitude': 1, 'frequency': %.17g}", f);
        break;
    default:
        snprintf(turn, sizeof turn,
                 "{'type': 'chirp', 'amplitude': 0.5, 'frequencies': [1, %.17g], 't1': 3}", f);
    }
    snprintf(slide, sizeof slide, "{'type': 'sine', 'amplitude': %.17g, 'frequency': %.17g}",
             draw(&seed, 0.01, 0.3), draw(&seed, 1, 20));
    snprintf(text, size,
             "{'bodies': {'disc': {'mass': 3, 'center': [0.3, 0, 0.1], 'inertia': [1, 1, 1]},"
             " 'sledge': {'mass': 2, 'center': [2, 0, 0], 'inertia': [1, 1, 1]},"
             " 'rotor': {'mass': 1, 'center': [2, 0, 0], 'inertia': [0.1, 0.1, 0.1]},"
             " 'mass': {'mass': 1, 'center': [5, 0, 0], 'inertia': [1, 1, 1]}},"
             " 'inputs': {'turn': %s, 'slide': %s},"
             " 'joints': {'motor': {'type': 'revolute', 'bodies': ['ground', 'disc'], 'at': [0, 0,"
             " 0], 'axis': [%g, 1, 0.2], 'prescribed': 'turn'},"
             " 'lift': {'type': 'prismatic', 'bodies': ['ground', 'sledge'], 'at': [2, 0, 0],"
             " 'axis': [0, 0.3, 1], 'prescribed': 'slide'},"
             " 'hinge': {'type': 'revolute', 'bodies': ['sledge', 'rotor'], 'at': [2, 0, 0],"
             " 'axis': [0, 1, 0], 'initial': {'velocity': 0.5}},"
             " 'slot': {'type': 'prismatic', 'bodies': ['ground', 'mass'], 'at': [5, 0, 0],"
             " 'axis': [1, 0, 0], 'initial': {'position': 0.1}}},"
             " 'forces': {'spring': {'type': 'torsion', 'joint': 'slot', 'stiffness': 1}},"
             " 'events': {'half': {'expression': 'x'}},"
             " 'outputs': {'x': {'joint': 'slot'}}, 'run': {'t_end': 3}}",
             turn, slide, draw(&seed, -1, 1));
}

/* The balance of energy tells the truth where steps follow slow motions, and drives that are
 * eliminated are fast beside them: whatever they do, by every method with error control. */
static void test_fast_drives(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    double worst = 0;
    int runs = 0, of_steps = 0;
    for (unsigned seed = 0; seed < (SANITIZED ? 4u : 12u); seed++)
        for (int m = 0; (info = get_method(m)); m++) {
            char text[4096];
            bg_error err = {BG_OK, ""};
            built x;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            if (info->fixed_steps || (info->order < 3 && seed % 4 > 0))
                continue;
            write_aside(seed * 7919, text, sizeof text);
            char *json = quote(text);
            o.integrator = info->name;
            o.method.rtol = o.method.atol = seed % 3 == 0 ? 1e-9 : seed % 3 == 1 ? 1e-6 : 1e-4;
            assert_ok(build(json, "joint", "eliminate", &x, &err));
            assert_ok(bg_run(x.sys, &o, &r, &err));
            double part = r.certificate.energy_error / r.certificate.energy_range;
            worst = fmax(worst, part);
            of_steps += r.counters.accepted > 2000;
            runs++;
            if (!(part < 2e-3) || r.verdict != BG_GOOD)
                fail_msg("seed %u, %s: %g J of %g J, %ld steps: %s", seed, info->name,
                         r.certificate.energy_error, r.certificate.energy_range,
                         r.counters.accepted, r.warnings.count ? r.warnings.items[0].text : "");
            bg_run_report_clear(&r);
            take_down(&x);
            free(json);
        }
    print_message("%d runs: %.1e of the energies; %d took more than 2000 steps\n", runs, worst,
                  of_steps);
    assert_true(SANITIZED || runs > 90);
}

/* The same where steps follow the drives, but no better than the motion of what they carry asks
 * for: what bdf and adams make of their power with its past is not what a rule for one step makes
 * of it.
 */
static void test_followed_drives(void **state)
{
    (void)state;
    static const char *const orders[] = {"auto", "2", "3", "4", "5"};
    double worst = 0;
    for (unsigned seed = 1; seed <= (SANITIZED ? 5u : 40u); seed++) {
        unsigned draws = seed * 7919;
        const double w = draw(&draws, 5, 100), size = exp(draw(&draws, -4, 0));
        const double other = draw(&draws, 5, 50), tolerance = exp(draw(&draws, -16, -9));
        const bg_setting order = {"max_order", orders[seed % 5]};
        char text[2048];
        built x;
        bg_error err = {BG_OK, ""};
        bg_run_report r;
        bg_run_options o = bg_default_run_options();
        snprintf(
            text, sizeof text,
            "{'gravity': 9.81, 'inputs': {'turn': '%.17g*cos(%.17g*t) + 0.3*t',"
            " 'lift': '%.17g*sin(%.17g*t)^3'}, 'bodies': {"
            "'rotor': {'mass': 7, 'center': [1, 0.2, 0.3], 'inertia': [1, 2, 2.5]},"
            " 'sledge': {'mass': 3, 'center': [2, 0, 0.1], 'inertia': [1, 1, 1]},"
            " 'bob': {'mass': 2, 'center': [2.3, 0, -0.2], 'inertia': [0.2, 0.3, 0.25]}}, "
            "'joints': {"
            "'drive': {'type': 'revolute', 'bodies': ['ground', 'rotor'], 'at': [1, 0, 0], 'axis': "
            "[0.4, 1, 0.2], 'prescribed': 'turn'},"
            " 'rail': {'type': 'prismatic', 'bodies': ['ground', 'sledge'], 'at': [2, 0, 0], "
            "'axis': "
            "[0, 0.3, 1], 'prescribed': 'lift'},"
            " 'hinge': {'type': 'revolute', 'bodies': ['sledge', 'bob'], 'at': [2, 0, 0], 'axis': "
            "[0, 1, 0], 'initial': {'velocity': 0.5}}}, 'run': {'t_end': 3}}",
            size, w, 0.2 * size, other);
        char *json = quote(text);
        o.integrator = seed % 3 == 0 ? "adams" : "bdf";
        o.method.rtol = o.method.atol = tolerance;
        o.method.settings = &order;
        o.method.nsettings = seed % 3 > 0;
        assert_ok(build(json, "joint", "eliminate", &x, &err));
        assert_ok(bg_run(x.sys, &o, &r, &err));
        const double part = r.certificate.energy_error / r.certificate.energy_range;
        worst = fmax(worst, part);
        if (!(part < 3e-3) || r.verdict != BG_GOOD)
            fail_msg("seed %u, order %s, tolerance %.1e: %g J of %g J, %ld steps", seed,
                     order.value, tolerance, r.certificate.energy_error, r.certificate.energy_range,
                     r.counters.accepted);
        bg_run_report_clear(&r);
        take_down(&x);
        free(json);
    }
    print_message("worst: %.1e of the energies\n", worst);
}

static int (*uncounted_terms)(void *self, const bg_point *p, unsigned want, bg_terms *out);
static long calls;

static int counted_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    calls++;
    return uncounted_terms(self, p, want, out);
}

/* A driven slide pulls two rods out, with a pendulum between them. */
static void write_pulled(unsigned seed, char *text, size_t size)
{
    const double a = draw(&seed, 0.6, 1.2), b = draw(&seed, 0.6, 1.2), far = draw(&seed, 0.6, 0.9);
    const double x = far * (a + b), c = (a * a + x * x - b * b) / (2 * x);
    const double z = sqrt(a * a - c * c), speed = draw(&seed, 0.5, 3), shake = draw(&seed, 0, 0.03);
    snprintf(
        text, size,
        "{'bodies': {'slide': {'mass': 1, 'center': [%.17g, 0, 0], 'inertia': [0.1, 0.1, 0.1]}, "
        "'A': {'mass': 1, 'center': [%.17g, 0, %.17g], 'inertia': [0.1, 0.1, 0.1]}, 'B': {'mass': "
        "1.5, 'center': [%.17g, 0, %.17g], 'inertia': [0.1, 0.1, 0.1]}, 'bob': {'mass': 1, "
        "'center': [%.17g, 0, %.17g], 'inertia': [0.05, 0.05, 0.05]}}, 'inputs': {'u': '%.17g*t + "
        "%.17g*sin(9*t)'}, 'joints': {'pull': {'type': 'prismatic', 'bodies': ['ground', 'slide'], "
        "'at': [0, 0, 0], 'axis': [1, 0, 0], 'prescribed': 'u'}, 'a': {'type': 'revolute', "
        "'bodies': ['ground', 'A'], 'at': [0, 0, 0], 'axis': [0, 1, 0]}, 'b': {'type': 'revolute', "
        "'bodies': ['slide', 'B'], 'at': [%.17g, 0, 0], 'axis': [0, 1, 0]}, 'hang': {'type': "
        "'revolute', 'bodies': ['A', 'bob'], 'at': [%.17g, 0, %.17g], 'axis': [0, 1, 0], "
        "'initial': {'velocity': 1}}, 'close': {'type': 'point-on-line', 'bodies': ['A', 'B'], "
        "'at': [%.17g, 0, %.17g], 'axis': [0, 1, 0]}}, 'run': {'t_end': 3}}",
        x, c / 2, z / 2, (c + x) / 2, z / 2, c, z - 0.4, speed, shake, x, c, z, c, z);
}

/* Where drives pull a linkage as far as it goes, powers grow beyond bounds, and rounding in them:
 * what is looked into there is so many evaluations a step, whatever they come to. */
static void test_pulled_out(void **state)
{
    (void)state;
    double worst = 0;
    for (unsigned seed = 0; seed < (SANITIZED ? 3u : 20u); seed++) {
        char text[4096];
        bg_error err = {BG_OK, ""};
        built x;
        bg_run_report r;
        bg_run_options o = bg_default_run_options();
        bg_system *counted;
        write_pulled(seed * 7919, text, sizeof text);
        char *json = quote(text);
        o.integrator = seed % 4 == 0 ? "adams" : "bdf";
        o.method.rtol = o.method.atol = pow(10, -4.0 - seed % 5);
        assert_ok(build(json, "joint", "eliminate", &x, &err));
        bg_system_def def = *bg_system_get_def(x.sys);
        def.destroy = NULL; /* it stays with the one that was made */
        uncounted_terms = def.terms;
        def.terms = counted_terms;
        assert_ok(bg_system_create(&def, &counted, &err));
        calls = 0;
        assert_true(bg_run(counted, &o, &r, &err) != BG_OK && r.counters.accepted > 50);
        const double each = (double)calls / (double)(r.counters.accepted + r.counters.rejected);
        worst = fmax(worst, each);
        if (each > 300)
            fail_msg("seed %u: %ld evaluations for %ld steps", seed, calls, r.counters.accepted);
        bg_run_report_clear(&r);
        bg_system_destroy(counted);
        take_down(&x);
        free(json);
    }
    print_message("at most %.0f evaluations a step\n", worst);
}

/* Stopped anywhere, it goes on bit by bit, by every method. */
/* A four-bar in some plane whose crank turns evenly. */
static void write_driven_linkage(unsigned *seed, char *text, size_t size)
{
    const double length[4] = {draw(seed, 0.4, 0.6), draw(seed, 1.4, 1.7), draw(seed, 1, 1.2),
                              draw(seed, 1.3, 1.5)};
    const double start = draw(seed, -3, 3);
    const bg_vec3 axis = bg_vec3_make(draw(seed, -1, 1), 1, draw(seed, -1, 1));
    const bg_vec3 n = bg_scale(1 / sqrt(bg_dot(axis, axis)), axis);
    const bg_vec3 x = bg_cross(n, bg_vec3_make(0, 0, 1)), ex = bg_scale(1 / bg_length(x), x);
    const bg_vec3 ey = bg_cross(n, ex);
    double p[4][2] = {
        {0, 0}, {length[0] * cos(start), length[0] * sin(start)}, {0}, {length[3], 0}};
    const double dx = p[3][0] - p[1][0], dy = p[3][1] - p[1][1], d = hypot(dx, dy);
    const double along = (d * d + length[1] * length[1] - length[2] * length[2]) / (2 * d);
    const double off = sqrt(length[1] * length[1] - along * along);
    p[2][0] = p[1][0] + (along * dx - off * dy) / d;
    p[2][1] = p[1][1] + (along * dy + off * dx) / d;
    bg_vec3 at[4];
    for (int i = 0; i < 4; i++)
        at[i] = bg_add(bg_scale(p[i][0], ex), bg_scale(p[i][1], ey));
    size_t used = (size_t)snprintf(text, size,
                                   "{'gravity': [-2.7, -5.2, -7.9], 'inputs': {'w': "
                                   "'%.17g*t'}, 'bodies': {",
                                   draw(seed, 2, 6));
    for (int i = 0; i < 3; i++) {
        const bg_vec3 c = bg_scale(0.5, bg_add(at[i], at[i + 1]));
        used += (size_t)snprintf(
            text + used, size - used,
            "%s'b%d': {'mass': %g, 'center': [%.17g, %.17g, %.17g], 'inertia': "
            "[0.1, 0.1, 0.1]}",
            i > 0 ? ", " : "", i, 1 + 0.5 * i, c.x, c.y, c.z);
    }
    used += (size_t)snprintf(text + used, size - used, "}, 'joints': {");
    static const char *const type[] = {"revolute", "revolute", "point-on-line", "revolute"};
    static const char *const bodies[] = {"'ground', 'b0'", "'b0', 'b1'", "'b1', 'b2'",
                                         "'ground', 'b2'"};
    for (int i = 0; i < 4; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s'j%d': {'type': '%s', 'bodies': [%s], 'at': [%.17g, %.17g, "
                                 "%.17g], 'axis': [%.17g, %.17g, %.17g]%s}",
                                 i > 0 ? ", " : "", i, type[i], bodies[i], at[i].x, at[i].y,
                                 at[i].z, n.x, n.y, n.z, i == 0 ? ", 'prescribed': 'w'" : "");
    snprintf(text + used, size - used, "}, 'run': {'t_end': 2}}");
}

/* Where everything is driven, positions are found at once and say nothing of the forces: these are
 * right all the same, with every choice of options, as the work of the drive shows. */
static void test_forces_of_the_driven(void **state)
{
    (void)state;
    static const bg_setting options[][4] = {
        {{"form", "ggl"}, {"update", "auto"}, {"step_rule", "smooth"}, {"norm", "parts"}},
        {{"form", "index1"}, {"update", "auto"}, {"step_rule", "smooth"}, {"norm", "parts"}},
        {{"form", "index1"}, {"update", "full"}, {"step_rule", "smooth"}, {"norm", "parts"}},
        {{"form", "ggl"}, {"update", "full"}, {"step_rule", "dassl"}, {"norm", "rms"}},
        {{"form", "index2"}, {"update", "partitioned"}, {"step_rule", "dassl"}, {"norm", "rms"}}};
    unsigned seed = 2;
    for (int k = 0; k < (SANITIZED ? 2 : 8); k++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            char text[4096];
            bg_error err = {BG_OK, ""};
            built x;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            write_driven_linkage(&seed, text, sizeof text);
            for (char *c = text; *c; c++)
                *c = *c == '\'' ? '"' : *c;
            o.integrator = "bdf";
            o.method.settings = options[i];
            o.method.nsettings = 4;
            o.method.rtol = o.method.atol = 1e-7;
            o.skip_comparison = 1;
            assert_ok(build(text, "cartesian", "eliminate", &x, &err));
            assert_ok(bg_run(x.sys, &o, &r, &err));
            if (!(r.certificate.energy_error < 5e-3 * r.certificate.energy_scale))
                fail_msg("linkage %d, options %zu: %g J of %g J", k, i, r.certificate.energy_error,
                         r.certificate.energy_scale);
            bg_run_report_clear(&r);
            take_down(&x);
        }
}

static void test_resume(void **state)
{
    (void)state;
    static const char file[] = "rheonomic.checkpoint";
    static const char *const methods[] = {"mdop5", "mdop8", "hem4", "hem5", "rk4", "linear-euler"};
    char *text = quote(sledge);
    for (int m = 0; m < 6; m++) {
        bg_error err = {BG_OK, ""};
        double q[2][2], work[2];
        for (int k = 0; k < 2; k++) {
            built x;
            bg_run_report r;
            bg_run_options o = bg_default_run_options();
            o.integrator = methods[m];
            o.method.step = m > 3 ? 1e-3 : 0;
            assert_ok(build(text, "joint", "eliminate", &x, &err));
            if (k == 1) {
                o.max_steps = 7;
                o.checkpoint = file;
                assert_int_equal(bg_run(x.sys, &o, &r, &err), BG_TOO_MANY_STEPS);
                bg_run_report_clear(&r);
                o.max_steps = 0;
                o.checkpoint = NULL;
                o.resume = file;
            }
            assert_ok(bg_run(x.sys, &o, &r, &err));
            memcpy(q[k], r.final->q, sizeof q[k]);
            work[k] = *r.final->work;
            double limit = m == 5 ? 0.05 : 1e-3;
            assert_true(r.certificate.energy_error < limit * r.certificate.energy_scale);
            bg_run_report_clear(&r);
            take_down(&x);
        }
        assert_memory_equal(q[0], q[1], sizeof q[0]);
        assert_true(work[0] == work[1]);
    }
    unlink(file);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms_agree),
                                       cmocka_unit_test(test_derivatives),
                                       cmocka_unit_test(test_sledge),
                                       cmocka_unit_test(test_live_inputs),
                                       cmocka_unit_test(test_turned),
                                       cmocka_unit_test(test_resume),
                                       cmocka_unit_test(test_all_driven),
                                       cmocka_unit_test(test_fast_drives),
                                       cmocka_unit_test(test_followed_drives),
                                       cmocka_unit_test(test_pulled_out),
                                       cmocka_unit_test(test_forces_of_the_driven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

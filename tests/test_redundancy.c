/* Redundant constraints: mechanisms that move although counting says that they do not, turned in
 * space, far away, large and small, and written with few digits; in both forms, with every method.
 */
#include "assembled_support.h"
#include "model_support.h"

#include "overconstrained.h"

enum { RANDOM = 10, STRIDE = SANITIZED ? 12 : 1, EVERY = SANITIZED ? 3 : 1 }; /* mechanisms */

/* What a run of a mechanism ends with. */
typedef struct redundancy_outcome {
    bg_status status;
    char message[BG_ERROR_LENGTH];
    double y, e;
    int freedom, redundant;
    bg_certificate certificate;
    bg_redundancy decision; /* without arrays */
    bg_verdict verdict;
    char warnings[2 * BG_WARNING_LENGTH];
} redundancy_outcome;

/* t_end NAN: that of the text; option NULL: none. */
static redundancy_outcome run_with(const char *json, const char *form, const char *integrator,
                                   double step, double t_end, const bg_setting *option)
{
    redundancy_outcome x = {.freedom = -1};
    bg_error err = {BG_OK, ""};
    bg_model *model = NULL;
    bg_system *sys = NULL;
    bg_run_options o = bg_default_run_options();
    o.skip_comparison = 1; /* not what is looked at here */
    bg_run_report r = {0};
    assert_ok(bg_model_parse(json, "test", NULL, 0, &model, &err));
    o.integrator = integrator;
    o.method.rtol = o.method.atol = 1e-8;
    o.method.step = step;
    for (int n = 0; get_method(n) && step == 0; n++)
        if (strcmp(get_method(n)->name, integrator) == 0 &&
            get_method(n)->order == 2) /* which would take ten times as many steps */
            o.method.rtol = o.method.atol = 1e-6;
    o.t_end = t_end;
    o.method.settings = option;
    o.method.nsettings = option != NULL;
    x.status = bg_model_create_system(model, form, &sys, &err);
    if (x.status == BG_OK)
        x.status = bg_run(sys, &o, &r, &err);
    snprintf(x.message, sizeof x.message, "%s", err.text);
    if (x.status == BG_OK) {
        const bg_system_def *def = bg_system_get_def(sys);
        x.y = r.y[0];
        x.e = r.y[1];
        x.redundant = r.assembly.redundancy.count;
        x.freedom = def->nv - def->ng + x.redundant;
        x.certificate = r.certificate;
        x.decision = r.assembly.redundancy;
        x.verdict = r.verdict;
        for (int i = 0; i < r.warnings.count && i < 2; i++)
            strcat(x.warnings, r.warnings.items[i].text);
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return x;
}

static redundancy_outcome run_text(const char *json, const char *form, const char *integrator,
                                   double step)
{
    return run_with(json, form, integrator, step, NAN, NULL);
}

static redundancy_outcome run_mechanism(const mechanism *m, placement at, const char *form,
                                        const char *integrator, double step)
{
    text t;
    m->write(&t, at);
    assert_true(t.used < sizeof t.buffer);
    redundancy_outcome x = run_text(t.buffer, form, integrator, step);
    if (x.status != BG_OK)
        fail_msg("%s, %s, %s, %d digits, %g m away, scale %g: %s", m->name, form, integrator,
                 at.digits, sqrt(bg_dot(at.shift, at.shift)), at.scale, x.message);
    if (m->slides)
        x.y /= at.scale;
    return x;
}

static redundancy_outcome check_same(const mechanism *m, placement at, const char *form,
                                     const char *integrator, double step, double y,
                                     double tolerance)
{
    redundancy_outcome x = run_mechanism(m, at, form, integrator, step);
    if (x.freedom != 1 || !(fabs(x.y - y) <= tolerance))
        fail_msg("%s, %s, %s, %d digits, %g m away, scale %g: ends at %.10g with %d degrees of "
                 "freedom, not at %.10g within %g",
                 m->name, form, integrator, at.digits, sqrt(bg_dot(at.shift, at.shift)), at.scale,
                 x.y, x.freedom, y, tolerance);
    assert_true(x.certificate.max_redundant <= fmax(1e-6, x.decision.allowed));
    return x;
}

/* Turned, 10 km away, a thousand times larger or smaller: the same motion, in both forms. */
static void test_placed(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int k = 0; k < MECHANISMS; k++) {
        const mechanism *m = &mechanisms[k];
        double y = run_mechanism(m, as_drawn, "joint", "mdop5", 0).y;
        for (int form = 0; form < 2; form++)
            for (int i = SANITIZED ? (k + form) % 4 : 0; i < 8; i += SANITIZED ? 8 : 1) {
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                if (i == 1 || i == 5)
                    at.shift = bg_vec3_make(6000, -8000, 100);
                if (i == 2 || i == 6)
                    at.scale = 1000;
                if (i == 3 || i == 7)
                    at.scale = 1e-3;
                /* tolerances of 1e-8 m are another thing for another size */
                check_same(m, at, forms[form], "mdop5", 0, y, at.scale < 1 ? 1e-4 : 2e-6);
            }
    }
}

/* Written with 6 to 16 digits: it moves, nearly as before, and misses what was left out by no more
 * than the digits explain. */
static void test_rounded(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int k = 0; k < MECHANISMS; k += EVERY) {
        const mechanism *m = &mechanisms[k];
        double y = run_mechanism(m, as_drawn, "joint", "mdop5", 0).y;
        for (int digits = 6; digits <= 16; digits += SANITIZED ? 10 : 1)
            for (int form = 0; form < 2; form++) {
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                at.shift = bg_vec3_make(1.2, -0.7, 2);
                at.digits = digits;
                double data = pow(10, 1 - digits);
                redundancy_outcome x = check_same(m, at, forms[form], "mdop5", 0, y,
                                                  2e-6 + 300 * data);
                if (!(x.certificate.max_redundant <= 1e-12 + 300 * data))
                    fail_msg("%s with %d digits misses by %g", m->name, digits,
                             x.certificate.max_redundant);
                assert_true(x.decision.margin > 100 * x.decision.misfit);
                assert_null(strstr(x.warnings, " inf")); /* numbers are said where they exist */
            }
    }
}

/* The mechanism with the joint of its output driven, in both forms. */
static redundancy_outcome run_driven(const mechanism *m, placement at, const char *form)
{
    static const char input[] =
        "{\"inputs\": {\"u\": {\"type\": \"sine\", \"amplitude\": 0.3, \"frequency\": 0.8}}, ";
    text t;
    char joint[8], head[32], driven[sizeof t.buffer + sizeof input + 32], *end;
    m->write(&t, at);
    for (char *p = t.buffer; (p = strstr(p, ", \"initial\"")) && (end = strchr(p, '}'));)
        memset(p, ' ', (size_t)(end + 1 - p));
    assert_int_equal(sscanf(strstr(t.buffer, "{\"y\""), "{\"y\": {\"joint\": \"%7[^\"]", joint), 1);
    snprintf(head, sizeof head, "\"%s\": {\"type\"", joint);
    char *place = strstr(t.buffer, head);
    assert_non_null(place);
    snprintf(driven, sizeof driven, "%s%.*s\"%s\": {\"prescribed\": \"u\", %s", input,
             (int)(place - t.buffer - 1), t.buffer + 1, joint, strstr(place, "\"type\""));
    redundancy_outcome x = run_text(driven, form, "mdop5", 0);
    if (x.status != BG_OK)
        fail_msg("driven %s, %s, %d digits: %s", m->name, form, at.digits, x.message);
    return x;
}

/* Drives leave nothing free, and yet it moves: what is redundant is so as without them. */
static void test_driven(void **state)
{
    (void)state;
    unsigned seed = 11;
    for (int k = 0; k < MECHANISMS; k += EVERY) {
        const mechanism *m = &mechanisms[k];
        if (m->write == write_kicked_cranks) /* has inputs of its own */
            continue;
        double e = run_driven(m, as_drawn, "joint").e;
        for (int digits = 6; digits <= 16; digits += SANITIZED ? 10 : 2)
            for (int form = 0; form < 2; form++) {
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                at.digits = digits;
                redundancy_outcome x = run_driven(m, at, forms[form]);
                double data = pow(10, 1 - digits);
                if (x.freedom != 0 || !(fabs(x.e - e) <= (1e-6 + 300 * data) * fmax(1, fabs(e))))
                    fail_msg("driven %s, %s, %d digits: energy %.10g, not %.10g, %d degrees of "
                             "freedom",
                             m->name, forms[form], digits, x.e, e, x.freedom);
            }
    }
}

static int get_stride(const bg_integrator_info *info)
{
    return repeats_another(info->name) ? 3 * STRIDE : STRIDE;
}

/* Every method, also those that do not project, turned. */
static void test_methods(void **state)
{
    (void)state;
    unsigned seed = 9;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = n % STRIDE; k < MECHANISMS; k += get_stride(info)) {
            const mechanism *m = &mechanisms[k];
            double step = info->fixed_steps ? 1e-3 : 0;
            for (int form = 0; form < 2; form++) {
                double y = run_mechanism(m, as_drawn, forms[form], info->name, step).y;
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                double most = step > 0 ? 1e-9 : info->order == 2 ? 1e-3 : 2e-6;
                check_same(m, at, forms[form], info->name, step, y, most);
                at.digits = 6;
                check_same(m, at, forms[form], info->name, step, y, 6e-3);
            }
        }
}

/* Distance or angle in which mechanism k ends with steps of 2 ms, in units of its size. */
static double run_steps(int k, placement at, const char *form, const char *integrator)
{
    text t;
    if (k < MECHANISMS)
        mechanisms[k].write(&t, at);
    else
        write_random(&t, at, (unsigned)(k - MECHANISMS));
    redundancy_outcome x = run_text(t.buffer, form, integrator, 2e-3);
    if (x.status != BG_OK)
        fail_msg("%d, %s, %s, %g m away, scale %g: %s", k, form, integrator, bg_length(at.shift),
                 at.scale, x.message);
    assert_true(x.redundant > 0);
    return k >= MECHANISMS || mechanisms[k].slides ? x.y / at.scale : x.y;
}

/* With steps of a fixed length, turning, moving and scaling a mechanism changes no more than
 * rounding, also where the method leaves constraints unfulfilled: which of them count as redundant,
 * and how what is left spreads over the others, goes by axes of the mechanism. 10 km away places
 * are rounded to 2e-12 m. */
static void test_turned(void **state)
{
    (void)state;
    static const placement places[] = {{.shift = {6000, -8000, 100}, .scale = 1},
                                       {.shift = {300, -2000, 1000}, .scale = 1000},
                                       {.shift = {3e-4, -2e-3, 1e-3}, .scale = 1e-3}};
    unsigned seed = 17;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = n % STRIDE; k < MECHANISMS + RANDOM; k += get_stride(info))
            for (int form = 0; form < 2; form++) {
                int which = (n + k + form) % 3;
                placement at = places[which];
                at.turn = draw_turn(&seed);
                at.digits = 17;
                double y = run_steps(k, as_drawn, forms[form], info->name);
                double z = run_steps(k, at, forms[form], info->name);
                double most = which == 0 ? 1e-8 : 1e-9;
                if (which == 0 && strcmp(info->name, "adams") == 0)
                    most = 3e-8; /* rounding that change points magnify stays in its differences */
                if (!(fabs(z - y) <= most))
                    fail_msg("%d, %s, %s, %g m away, scale %g: %.15g, not %.15g", k, forms[form],
                             info->name, bg_length(at.shift), at.scale, z, y);
            }
}

/* With error control, too, a mechanism that is turned takes the same steps: errors are measured by
 * lengths of what a turn mixes. */
static void test_turned_steps(void **state)
{
    (void)state;
    unsigned seed = 23;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = n % 3; k < 12 && !info->fixed_steps; k += SANITIZED ? 12 : 3)
            for (int form = 0; form < 2; form++) {
                text t[2];
                placement at = as_drawn;
                at.turn = draw_turn(&seed);
                at.digits = 17;
                write_random(&t[0], as_drawn, (unsigned)k);
                write_random(&t[1], at, (unsigned)k);
                redundancy_outcome x = run_text(t[0].buffer, forms[form], info->name, 0);
                redundancy_outcome y = run_text(t[1].buffer, forms[form], info->name, 0);
                /* what iterations leave of the tolerance, 1e-8, depends on where they end */
                const bool ends = strcmp(info->name, "bdf") == 0 ||
                                  strcmp(info->name, "trapezoidal") == 0;
                if (x.status != BG_OK || y.status != BG_OK ||
                    !(fabs(y.y - x.y) <= (ends ? 1e-7 : 1e-9)))
                    fail_msg("%d, %s, %s: %.15g, turned %.15g", k, info->name, forms[form], x.y,
                             y.y);
            }
}

/* Bennett's linkage and parallel cranks with an option of a method, as drawn, turned, and turned
 * and 1000 times larger or smaller. */
static void check_option(const bg_integrator_info *info, const bg_setting *option, unsigned *seed)
{
    const bool joint_only = strcmp(option->value, "explicit") == 0 ||
                            strcmp(option->value, "expansion") == 0;
    for (int form = 0; form < (joint_only ? 1 : 2); form++)
        for (int k = 0; k < 2; k++) {
            double y[3];
            for (int i = 0; i < 3; i++) {
                text t;
                placement at = as_drawn;
                if (i > 0)
                    at.turn = draw_turn(seed);
                if (i > 1)
                    at.scale = k == form ? 1000 : 1e-3;
                if (k == 0)
                    write_bennett(&t, at);
                else
                    write_cranks(&t, at);
                redundancy_outcome x = run_with(t.buffer, forms[form], info->name, 1e-3, 0.25,
                                                option);
                if (x.status != BG_OK)
                    fail_msg("%s, %s=%s: %s", info->name, option->name, option->value, x.message);
                y[i] = x.y;
            }
            /* axes choose coordinates */
            bool chosen = strcmp(option->value, "coordinates") == 0;
            double most = chosen ? 1e-4 : 1e-9;
            if (!(fabs(y[1] - y[0]) <= most) || !(fabs(y[2] - y[0]) <= most))
                fail_msg("%s, %s=%s, %s: %.15g, turned %.15g, scaled %.15g", info->name,
                         option->name, option->value, forms[form], y[0], y[1], y[2]);
        }
}

/* The same with every choice of every option, but for the certificate, which changes no motion, and
 * partition=stiff, which has to be told what is; the explicit formalism where M is regular, and
 * expansions where systems have them. */
static void test_turned_options(void **state)
{
    (void)state;
    if (SANITIZED) /* a comparison of numbers, over code that other tests run */
        skip();
    unsigned seed = 23;
    const bg_integrator_info *info;
    for (int n = 0; (info = get_method(n)); n++)
        for (int k = 0; k < info->noptions; k++) {
            const bg_option_info *o = &info->options[k];
            char choices[128], *rest;
            if (!o->choices || strcmp(o->name, "certificate") == 0 || strcmp(o->name, "pair") == 0)
                continue; /* whose choices differ in their coefficients alone */
            snprintf(choices, sizeof choices, "%s", o->choices);
            for (char *x = strtok_r(choices, "|", &rest); x; x = strtok_r(NULL, "|", &rest))
                if (strcmp(x, o->value) != 0 && strcmp(x, "stiff") != 0)
                    check_option(info, &(bg_setting){o->name, x}, &seed);
        }
}

/* A second hinge that is oblique, from nothing to a hundredth: the door moves as with one, or the
 * run says that nothing can and what decides it; both forms alike. */
static void test_oblique(void **state)
{
    (void)state;
    unsigned seed = 3;
    text t;
    write_door(&t, as_drawn, 2, 0);
    double y = run_text(t.buffer, "joint", "mdop5", 0).y;
    for (double oblique = 1e-16; oblique < 0.02; oblique *= SANITIZED ? 100 : 3) {
        placement at = as_drawn;
        at.turn = draw_turn(&seed);
        write_door(&t, at, 2, oblique);
        redundancy_outcome joint = run_text(t.buffer, "joint", "mdop5", 0);
        redundancy_outcome cartesian = run_text(t.buffer, "cartesian", "mdop5", 0);
        assert_int_equal(joint.status, BG_OK);
        assert_int_equal(cartesian.status, BG_OK);
        assert_int_equal(joint.freedom, cartesian.freedom);
        assert_int_equal(joint.freedom, oblique < 9e-5 ? 1 : oblique > 1.1e-4 ? 0 : joint.freedom);
        assert_near(joint.y, joint.freedom ? y : 0, 1e-7);
        assert_near(cartesian.y, joint.freedom ? y : 0, 1e-7);
        const char *said = "nothing can move";
        assert_int_equal(strstr(joint.warnings, said) == NULL, joint.freedom);
        assert_int_equal(strstr(cartesian.warnings, said) == NULL, joint.freedom);
        if (joint.freedom == 0) {
            assert_int_equal(joint.verdict, BG_DOUBTFUL);
            assert_non_null(strstr(joint.warnings, "'h1."));
        }
    }
}

/* A rod that is much too long is named before what it pulls apart. */
static void test_wrong_joint_first(void **state)
{
    (void)state;
    static const char format[] =
        "{'bodies': {'arm': {'mass': 4, 'center': [0, 0.25, 0], 'inertia': [0.1, 0.1, 0.1]},"
        " 'upright': {'mass': 9, 'center': [0, 0.55, 0.2], 'inertia': [0.2, 0.2, 0.1], 'points': "
        "{'tie': [-0.15, 0.5, 0.05]}}, 'damper': {'mass': 2, 'center': [0, 0.5, 0.7], 'inertia': "
        "[0.05, 0.05, 0.01]}},"
        "'joints': {'pivot': {'type': 'revolute', 'bodies': ['ground', 'arm'], 'at': [0, 0, 0], "
        "'axis': [1, 0, 0]}, 'ball': {'type': 'spherical', 'bodies': ['arm', 'upright'], 'at': [0, "
        "0.5, 0]}, 'tube': {'type': 'cylindrical', 'bodies': ['upright', 'damper'], 'at': [0, 0.5, "
        "0.5], 'axis': [0, 0, 1]}, 'mount': {'type': 'spherical', 'bodies': ['damper', 'ground'], "
        "'at': [0, 0.5, 0.9]}, 'tie': {'type': 'distance', 'points': [[-0.15, 0.1, 0.05], "
        "'upright.tie'], 'length': %g}}}";
    for (double length = 1.5; length < 5; length += 0.5)
        for (int form = 0; form < 2; form++) {
            char buffer[sizeof format + 16];
            snprintf(buffer, sizeof buffer, format, length);
            char *json = quote(buffer);
            redundancy_outcome x = run_text(json, forms[form], "mdop5", 0);
            assert_int_equal(x.status, BG_NOT_ASSEMBLED);
            const char *first;
            assert_non_null(first = strstr(x.message, "the constraint"));
            assert_non_null(first = strchr(first, '\''));
            if (strncmp(first, "'tie", 4) != 0)
                fail_msg("%s", x.message);
            free(json);
        }
}

/* Many loops of hinges beside each other, turned: three constraints of each are redundant, or none,
 * and all move as one does. */
static void test_many_loops(void **state)
{
    (void)state;
    static const int loops[] = {1, 30, 200};
    static const char format[] =
        "{'parameters': {'n': %d}, 'gravity': [1.5, 4, -9], 'bodies': {'a[i=1..n]': {'mass': 1, "
        "'center': ['5*{i}', 0.4, 0.3], 'inertia': [0.1, 0.1, 0.1]}, 'b[i=1..n]': {'mass': 1, "
        "'center': ['5*{i} + 1', 0.8, 1], 'inertia': [0.1, 0.1, 0.1]}, 'c[i=1..n]': {'mass': 1, "
        "'center': ['5*{i} + 1.6', 0.4, 0.4], 'inertia': [0.1, 0.1, 0.1]}}, 'joints': {"
        "'p[i=1..n]': {'type': 'revolute', 'bodies': ['ground', 'a{i}'], 'at': ['5*{i}', 0, 0], "
        "'axis': [0, -0.6, 0.8]}, 'q[i=1..n]': {'type': 'revolute', 'bodies': ['a{i}', 'b{i}'], "
        "'at': ['5*{i} + 0.3', 0.8, 0.6], 'axis': [0, -0.6, 0.8]}, 'r[i=1..n]': {'type': "
        "'revolute', 'bodies': ['b{i}', 'c{i}'], 'at': ['5*{i} + 1.7', 0.96, 0.72], 'axis': [0, "
        "-0.6, 0.8]}, 's[i=1..n]': {'type': '%s', 'bodies': ['c{i}', 'ground'], 'at': ['5*{i} + "
        "1.5', 0, 0], 'axis': [0, -0.6, 0.8]}}, 'outputs': {'y': {'joint': 'p%d'}, 'e': {'energy': "
        "'total'}}, 'run': {'t_end': 0.2}}";
    double y = NAN;
    for (size_t k = 0; k < (SANITIZED ? 2 : sizeof loops / sizeof *loops); k++)
        for (int hinged = 0; hinged < 2; hinged++)
            for (int form = 0; form < 2; form++) {
                char buffer[sizeof format + 32];
                snprintf(buffer, sizeof buffer, format, loops[k],
                         hinged ? "revolute" : "point-on-line", loops[k]);
                char *json = quote(buffer);
                redundancy_outcome x = run_text(json, forms[form], "mdop5", 0);
                if (x.status != BG_OK)
                    fail_msg("%d loops, %s: %s", loops[k], forms[form], x.message);
                assert_int_equal(x.redundant, hinged ? 3 * loops[k] : 0);
                assert_int_equal(x.freedom, loops[k]);
                y = isnan(y) ? x.y : y;
                assert_true(fabs(x.y - y) < 1e-7);
                free(json);
            }
}

/* The message of a failed start, or all its warnings. */
static void describe_start(const char *json, const char *form, char *words, size_t size)
{
    assembled a = assembled_parse(json, form);
    bg_warnings *list = &a.report.warnings;
    size_t used = 0;
    snprintf(words, size, "%s", a.err.text);
    if (a.status == BG_OK)
        bg_warnings_append(list, bg_system_get_warnings(a.sys)); /* as programs do */
    for (int i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(words + used, size - used, "%s\n", list->items[i].text);
    assembled_clear(&a);
}

static int count_words(const char *words, const char *what)
{
    int n = 0;
    for (const char *p = words; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* Of three parallel rods, the one whose length is wrong is named first, also where the search gives
 * in to it. */
static void test_wrong_rod_first(void **state)
{
    (void)state;
    static const char format[] =
        "{'bodies': {'plate': {'mass': 5, 'center': [0.5, 0, 1], 'inertia': [1, 1, 1]}}, 'joints': "
        "{'plane': {'type': 'planar', 'bodies': ['ground', 'plate'], 'at': [0, 0, 1], 'axis': [0, "
        "1, 0]}, 'rod0': {'type': 'distance', 'points': [[0, 0, 0], {'body': 'plate', 'at': [0.2, "
        "0, 1]}]}, 'rod1': {'type': 'distance', 'points': [[0.4, 0, 0], {'body': 'plate', 'at': "
        "[0.6, 0, 1]}], 'length': %g}, 'rod2': {'type': 'distance', 'points': [[1, 0, 0], {'body': "
        "'plate', 'at': [1.2, 0, 1]}]}}}";
    static const double length[] = {1.02, 1.03, 1.1, 1.3, 2, 3};
    for (size_t k = 0; k < sizeof length / sizeof *length; k++)
        for (int form = 0; form < 2; form++) {
            char buffer[sizeof format + 16], words[4 * BG_WARNING_LENGTH];
            snprintf(buffer, sizeof buffer, format, length[k]);
            char *json = quote(buffer);
            describe_start(json, forms[form], words, sizeof words);
            const char *first = strstr(words, "the constraint");
            assert_non_null(first);
            if (strncmp(strchr(first, '\''), "'rod1'", 6) != 0)
                fail_msg("%s", words);
            free(json);
        }
}

/* Two bars in line between two places: a position in which a constraint can be left out, but no
 * other. */
static void test_singular_start(void **state)
{
    (void)state;
    unsigned seed = 21;
    const double *y = AT(0, 1, 0);
    for (int k = 0; k < 6; k++) {
        text t;
        char words[4 * BG_WARNING_LENGTH];
        placement at = as_drawn;
        if (k > 1)
            at.turn = draw_turn(&seed);
        begin_model(&t, at, 0, 0, -9.81);
        put_body(&t, "l", 2, AT(0.5, 0, 0), AT(0.01, 0.2, 0.2));
        put_body(&t, "r", 2, AT(1.5, 0, 0), AT(0.01, 0.2, 0.2));
        put(&t, "}, \"joints\": {");
        put_joint(&t, "A", "revolute", "ground", "l", AT(0, 0, 0), y, "");
        put_joint(&t, "B", "revolute", "l", "r", AT(1, 0, 0), y, "");
        put_joint(&t, "C", "revolute", "ground", "r", AT(2, 0, 0), y, "");
        end_model(&t, "A", 1);
        describe_start(t.buffer, forms[k % 2], words, sizeof words);
        if (count_words(words, "singular position") != 1)
            fail_msg("%s: %s", forms[k % 2], words);
    }
}

/* A velocity that is insisted on, and a hinge that locks the mechanism: both are said. */
static void test_locked_and_fixed(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++)
        for (double oblique = 1e-3; oblique < 1; oblique *= 5) {
            text t;
            char words[4 * BG_WARNING_LENGTH];
            begin_model(&t, as_drawn, 0, 0, -9.81);
            put_body(&t, "door", 20, AT(0.4, 0.3, 1), AT(7, 8, 1.2));
            put(&t, "}, \"joints\": {");
            put_joint(&t, "low", "revolute", "ground", "door", AT(0, 0, 0), AT(0, 0, 1),
                      start_fast);
            put_joint(&t, "high", "revolute", "ground", "door", AT(0, 0, 2),
                      AT(sin(oblique), 0, cos(oblique)), "");
            end_model(&t, "low", 1);
            describe_start(t.buffer, forms[form], words, sizeof words);
            if (!strstr(words, "allows no more than 0;") || !strstr(words, "nothing can move") ||
                !strstr(words, "'high."))
                fail_msg("%s", words);
        }
}

/* What a start cannot meet is said once, in both forms. */
static void test_unmet_once(void **state)
{
    (void)state;
    char *json = quote(
        "{'bodies': {'b': {'mass': 1, 'center': [0.3, 0.2, -1], 'inertia': [1, 1, 1]}}, 'joints': "
        "{'h': {'type': 'revolute', 'bodies': ['ground', 'b'], 'at': [0.1, 0, 0], 'axis': [0.2, 1, "
        "0.4], 'initial': -0.13}, 'ball': {'type': 'spherical', 'bodies': ['ground', 'b'], 'at': "
        "[1, 0, 0.1]}}}");
    for (int form = 0; form < 2; form++) {
        char words[4 * BG_WARNING_LENGTH];
        describe_start(json, forms[form], words, sizeof words);
        if (count_words(words, "joints.h.initial") != 1 || !strstr(words, "and becomes 0 rad"))
            fail_msg("%s: %s", forms[form], words);
    }
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placed),           cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_driven),           cmocka_unit_test(test_methods),
        cmocka_unit_test(test_turned),           cmocka_unit_test(test_turned_steps),
        cmocka_unit_test(test_turned_options),   cmocka_unit_test(test_many_loops),
        cmocka_unit_test(test_oblique),          cmocka_unit_test(test_wrong_joint_first),
        cmocka_unit_test(test_wrong_rod_first),  cmocka_unit_test(test_singular_start),
        cmocka_unit_test(test_locked_and_fixed), cmocka_unit_test(test_unmet_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

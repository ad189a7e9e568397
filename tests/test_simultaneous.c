/* Events in one instant: all of them fire, whatever rounding puts first, with every method; what is
 * symmetric stays symmetric; rounds of events that follow from each other end or are refused. */
#include "model_support.h"

#include <stdbool.h>

enum { MOST = 8, TEXT = 16384 };

static double uniform(uint32_t *seed, double low, double high)
{
    *seed = *seed * 1664525u + 1013904223u;
    return low + (high - low) * (*seed >> 8) / 16777216.0;
}

static void append(char *text, const char *format, ...)
{
    va_list list;
    size_t n = strlen(text);
    va_start(list, format);
    int more = vsnprintf(text + n, TEXT - n, format, list);
    va_end(list);
    assert_true(more >= 0 && (size_t)more < TEXT - n);
}

/* A body with n wheels on a circle, falling flat onto the road; each wheel is on an arm of its own
 * or on the body itself, turned by any angle about the vertical, anywhere. */
static void write_ring(char *text, int n, bool arms, uint32_t seed)
{
    const double R = uniform(&seed, 0.4, 1.5), x = uniform(&seed, -3, 3), y = uniform(&seed, -3, 3);
    const double drop = uniform(&seed, 0.05, 0.4), turn = uniform(&seed, 0, 6), z = 0.3 + drop;
    const double k = uniform(&seed, 3e4, 1e5), c = uniform(&seed, 0, 800);
    text[0] = '\0';
    append(text,
           "{'bodies': {'car': {'mass': 300, 'center': [%.17g, %.17g, %.17g], 'inertia': "
           "[50, 50, 60]}",
           x, y, z + 0.3);
    for (int i = 0; i < n && arms; i++)
        append(text, ", 'w%d': {'mass': 20, 'center': [%.17g, %.17g, %.17g], 'inertia': [1, 1, 1]}",
               i, x + R * cos(turn + 2 * M_PI * i / n), y + R * sin(turn + 2 * M_PI * i / n), z);
    append(text, "}, 'joints': {'air': {'type': 'free', 'bodies': ['ground', 'car']}");
    for (int i = 0; i < n && arms; i++) {
        const double C = cos(turn + 2 * M_PI * i / n), S = sin(turn + 2 * M_PI * i / n);
        append(text,
               ", 'arm%d': {'type': 'revolute', 'bodies': ['car', 'w%d'], 'at': [%.17g, %.17g, "
               "%.17g], 'axis': [%.17g, %.17g, 0]}",
               i, i, x + 0.5 * R * C, y + 0.5 * R * S, z + 0.1, -S, C);
    }
    append(text, "}, 'forces': {");
    for (int i = 0; i < n && arms; i++)
        append(text,
               "%s'sp%d': {'type': 'torsion', 'joint': 'arm%d', 'stiffness': 3000, 'damping': "
               "100}",
               i ? ", " : "", i, i);
    append(text, "}, 'tyres': {");
    for (int i = 0; i < n; i++) {
        char body[16] = "car";
        if (arms)
            snprintf(body, sizeof body, "w%d", i);
        append(text,
               "%s't%d': {'type': 'point-follower', 'wheel': {'body': '%s', 'at': [%.17g, "
               "%.17g, %.17g]}, 'radius': 0.3, 'stiffness': %.17g, 'damping': %.17g}",
               i ? ", " : "", i, body, x + R * cos(turn + 2 * M_PI * i / n),
               y + R * sin(turn + 2 * M_PI * i / n), z, k, c);
    }
    append(text, "}, 'outputs': {");
    for (int i = 0; i < n; i++)
        append(text, "%s'g%d': {'force': 't%d', 'value': 'gap'}", i ? ", " : "", i, i);
    for (int i = 0; i < n; i++)
        append(text,
               ", 'c%d': {'force': 't%d', 'value': 'contact'}, 'r%d': {'force': 't%d', 'value': "
               "'gap_rate'}, 's%d': '%.17g*g%d + %.17g*max(0, r%d)'",
               i, i, i, i, i, k, i, c, i);
    append(text, "}, 'run': {'t_end': 0.8}}");
}

static void set_method(bg_run_options *o, const bg_integrator_info *info, double tolerance,
                       double step)
{
    o->integrator = info->name;
    /* a method of order 2 would take ten times as many steps */
    o->method.rtol = o->method.atol = info->order == 2 ? 1e-5 : tolerance;
    o->method.step = info->fixed_steps ? step : 0;
    o->skip_comparison = 1; /* not what is looked at here */
}

/* Every wheel has the same events, and at the end the same gap; none is in the road without contact
 * (while s, the negative of the last output, is above zero). */
static double check_ring(const char *text, const char *form, const bg_integrator_info *info, int n)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys;
    bg_run_options o = bg_default_run_options();
    bg_run_report r;
    char *copy = quote(text);
    int count[MOST] = {0};
    double spread = 0;
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
    assert_ok(bg_model_create_system(model, form, &sys, &err));
    set_method(&o, info, 1e-8, 1e-3);
    assert_ok(bg_run(sys, &o, &r, &err));
    for (long k = 0; k < r.nevents; k++)
        count[r.events[k].index]++;
    for (int i = 0; i < n; i++) {
        const double gap = r.y[i], contact = r.y[n + 3 * i], s = -r.y[n + 3 * i + 2];
        if (count[i] != count[0] || count[0] == 0)
            fail_msg("%s, %s, %d wheels: wheel %d has %d events, wheel 0 has %d", info->name, form,
                     n, i, count[i], count[0]);
        if (s > 1e-3 && contact == 0)
            fail_msg("%s, %s, %d wheels: wheel %d is %g m in the road without contact", info->name,
                     form, n, i, -gap);
        spread = fmax(spread, fabs(gap - r.y[0]));
    }
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    free(copy);
    return spread;
}

static void test_wheels(void **state)
{
    (void)state;
    static char text[TEXT];
    const bg_integrator_info *info;
    double worst = 0;
    for (int m = 0; (info = get_method(m)); m++)
        for (int n = 2; n <= MOST; n += SANITIZED ? 3 : 1)
            for (int form = 0; form < 2; form++) {
                write_ring(text, n, (n + form + m) % 2, (uint32_t)(100 * n + 10 * m + form));
                worst = fmax(worst, check_ring(text, forms[form], info, n));
            }
    print_message("largest difference between the wheels at the end: %.1e m\n", worst);
    assert_true(worst < 1e-11);
}

/* n functions of time and of a state whose zeros differ by rounding alone, or not at all; each
 * flips a mode of its own. */
typedef struct switches {
    int n;
    double at, spacing; /* s */
    double height;      /* z' of the k-th state is 1 up to its event, then `height` */
} switches;

static int switches_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const switches *x = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    for (int i = 0; i < x->n; i++) {
        if (want & BG_TERM_h)
            out->h[i] = p->mode[i] ? x->height : 1;
        if (want & BG_TERM_s)
            out->s[i] = p->z[i] - x->at - i * x->spacing;
    }
    return 0;
}

static int switches_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    state->mode[event->index] = event->direction > 0;
    return BG_EVENT_CHANGED;
}

static void run_switches(switches *x, const bg_integrator_info *info, double step, bg_run_report *r)
{
    bg_error err = {BG_OK, ""};
    bg_system_def def = bg_default_system_def();
    bg_run_options o = bg_default_run_options();
    bg_system *sys;
    def.nz = def.ns = def.nmode = x->n;
    def.self = x;
    def.nq = def.nv = 1; /* a body at rest: some methods want one */
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_s;
    def.terms = switches_terms;
    def.event = switches_event;
    assert_ok(bg_system_create(&def, &sys, &err));
    set_method(&o, info, 1e-8, step);
    assert_ok(bg_run(sys, &o, r, &err));
    bg_system_destroy(sys);
}

/* In the middle of a step, at its end and at the start; as many as there are. */
static void test_switches(void **state)
{
    (void)state;
    static const double places[] = {0, 0.25, 0.3, 0.37};
    static const double spacings[] = {0, 1e-17, 1e-16, -1e-16, 3e-15};
    static const int counts[] = {2, 3, 4, 5, 6, 7, 8, 150};
    const bg_integrator_info *info;
    for (int m = 0; (info = get_method(m)); m++)
        for (int k = 0; k < 4 * 5 * 8; k += SANITIZED ? 7 : 1) {
            switches x = {counts[k / 20], places[k % 4], spacings[k / 4 % 5], 0.5};
            bg_run_report r;
            if ((x.at == 0 || x.n > 8) && x.spacing != 0)
                continue; /* a function that begins beyond zero has no event */
            run_switches(&x, info, 0.1, &r);
            if (r.nevents != x.n)
                fail_msg("%s: %ld events of %d at %g + %g i", info->name, r.nevents, x.n, x.at,
                         x.spacing);
            for (int i = 0; i < x.n; i++)
                assert_near(r.final->z[i], x.at + 0.5 * (1 - x.at), 1e-11);
            bg_run_report_clear(&r);
        }
}

/* A row of relays: each, when it closes, closes the next; `ring` lets the last open the first, and
 * so on without end. Functions keep their side until they cross. */
typedef struct relay_chain {
    int n;
    bool ring;
} relay_chain;

static int chain_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const relay_chain *x = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_h)
        out->h[0] = 1;
    for (int i = 0; (want & BG_TERM_s) && i < x->n; i++) {
        const int before = i > 0 ? p->mode[i - 1] : x->ring && p->mode[x->n - 1] ? -1 : 0;
        out->s[i] = i == 0 && before == 0 ? p->z[0] - 0.4 : before > 0 ? 1 : -1;
    }
    return 0;
}

static int chain_event(void *self, const bg_event *event, const bg_event_state *state)
{
    (void)self;
    state->mode[event->index] = event->direction > 0;
    return BG_EVENT_CHANGED;
}

static int chain_sides(void *self, const int *mode, int *side)
{
    const relay_chain *x = self;
    (void)mode;
    for (int i = 0; i < x->n; i++)
        side[i] = BG_SIDE_KEPT;
    return 0;
}

static void test_cascade(void **state)
{
    (void)state;
    const bg_integrator_info *info;
    for (int m = 0; (info = get_method(m)); m++)
        for (int k = 0; k < 2; k++) {
            relay_chain x = {6, k == 1};
            bg_error err = {BG_OK, ""};
            bg_system_def def = bg_default_system_def();
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            bg_system *sys;
            def.nz = 1;
            def.ns = def.nmode = x.n;
            def.self = &x;
            def.nq = def.nv = 1; /* a body at rest: some methods want one */
            def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h | BG_TERM_s;
            def.terms = chain_terms;
            def.event = chain_event;
            def.sides = chain_sides;
            assert_ok(bg_system_create(&def, &sys, &err));
            set_method(&o, info, 1e-8, 0.1);
            bg_status st = bg_run(sys, &o, &r, &err);
            assert_int_equal(st, x.ring ? BG_EVENT_STUCK : BG_OK);
            assert_true(x.ring ? strstr(err.text, "rounds") != NULL : r.nevents == x.n);
            for (int i = 0; i < x.n; i++) {
                assert_int_equal(r.events[i].index, i);
                assert_near(r.events[i].t, 0.4, 1e-12);
            }
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
        }
}

/* An event of a model file whose expression jumps through zero with an input, with others. */
static void test_jump_through_zero(void **state)
{
    (void)state;
    static const char text[] =
        "{'bodies': {'cart': {'mass': 2, 'center': [0, 0, 0]}}, 'joints': {'rail': {'type': "
        "'prismatic', 'bodies': ['ground', 'cart'], 'at': [0, 0, 0], 'axis': [1, 0, 0]}}, "
        "'inputs': "
        "{'u': {'type': 'jump', 'to': 6, 't0': 0.5}, 'w': {'type': 'jump', 'to': 2, 't0': 0.5}}, "
        "'outputs': {'u': {'signal': 'u'}, 'w': {'signal': 'w'}}, 'events': {'early': 't - 0.2', "
        "'high': 'u - 1', 'both': 'u + w - 7', 'never': 'u - 8', 'end': {'expression': 'w - 1', "
        "'stop': 'rising'}}, 'run': {'t_end': 1}}";
    const bg_integrator_info *info;
    for (int m = 0; (info = get_method(m)); m++)
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            bg_model *model;
            bg_system *sys;
            bg_run_options o = bg_default_run_options();
            bg_run_report r;
            char *copy = quote(text);
            assert_ok(bg_model_parse(copy, "test", NULL, 0, &model, &err));
            assert_ok(bg_model_create_system(model, forms[form], &sys, &err));
            set_method(&o, info, 1e-8, 0.1);
            assert_ok(bg_run(sys, &o, &r, &err));
            assert_int_equal(r.nevents, 6); /* early; both inputs; high, both, end */
            for (int i = 1; i < 6; i++)
                assert_near(r.events[i].t, 0.5, 1e-12);
            assert_near(r.final->t, 0.5, 1e-12);
            bg_run_report_clear(&r);
            bg_system_destroy(sys);
            bg_model_destroy(model);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wheels), cmocka_unit_test(test_switches),
        cmocka_unit_test(test_cascade), cmocka_unit_test(test_jump_through_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

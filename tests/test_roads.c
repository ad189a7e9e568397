/* Roads: heights and slopes against formulas and differences; the wheel that follows them: contact,
 * lift-off and touch-down, breaks of the road, and a bouncing wheel in a run. */
#include "force_rig.h"

#include "bogie/run.h"
#include "model/read.h"
#include "model/roads.h"

/* Reads a road written with single quotes, for a wheel of 0.3 m. */
static bg_status read_road(const char *text, bg_road *road, bg_error *err)
{
    char *copy = rig_quote(text);
    bg_model model = {0};
    bg_reader reader = {.model = &model, .origin = "test", .err = err};
    bg_value top = {.reader = &reader, .json = json_loads(copy, 0, NULL)};
    assert_non_null(top.json);
    bg_value v = {.reader = &reader, .json = top.json, .parent = &top, .key = "road"};
    bg_road_read(&v, 0.3, road);
    json_decref(top.json);
    free(copy);
    return reader.status;
}

static bg_road make_road(const char *text)
{
    bg_road road;
    bg_error err = {BG_OK, ""};
    if (read_road(text, &road, &err) != BG_OK)
        fail_msg("%s", err.text);
    return road;
}

static double height(const bg_road *road, double x)
{
    bg_road_height out;
    bg_road_calc(road, bg_road_find_piece(road, x), x, 0, &out);
    return out.along[0];
}

/* On every piece slope and curvature are derivatives of the height, by differences within the
 * piece. */
static void check_slopes(const char *text, double from, double to)
{
    bg_road road = make_road(text);
    const double h = 1e-4;
    double steepest = 0;
    for (int k = 0; k < 400; k++) {
        const double x = from + (to - from) * (k + 0.5) / 400; /* not on the knots of a table */
        const int piece = bg_road_find_piece(&road, x);
        bg_road_height at, before, behind;
        bg_road_calc(&road, piece, x, 0, &at);
        bg_road_calc(&road, piece, x - h, 0, &before);
        bg_road_calc(&road, piece, x + h, 0, &behind);
        const double *y = at.along, *left = before.along, *right = behind.along;
        /* h^2 y''' / 6, with y''' up to (2 pi / 0.8 m)^3 0.1 m and steeper on the circle */
        assert_near((right[0] - left[0]) / (2 * h), y[1], 2e-6);
        assert_near((right[1] - left[1]) / (2 * h), y[2], 2e-4);
        steepest = fmax(steepest, fabs(y[1]));
    }
    assert_true(steepest > 0.1 || road.kind == BG_ROAD_STAIR);
    bg_road_clear(&road);
}

static void slopes_match_differences(void **state)
{
    (void)state;
    check_slopes("{'type': 'bump', 'height': 0.1, 'from': 1, 'length': 0.8}", 0.8, 2);
    check_slopes("{'type': 'half-cylinder', 'radius': 0.1, 'at': 1}", 0.5, 1.5);
    check_slopes("{'type': 'stair', 'height': 0.1, 'at': 1, 'count': 3, 'spacing': 0.4}", 0.5, 3);
    check_slopes("{'type': 'sine', 'amplitude': 0.05, 'wavelength': 0.8, 'phase': 0.4}", -1, 1);
    check_slopes("{'type': 'sine', 'amplitude': 0.05, 'wavelength': 0.8, 'from': 0.1, 'to': 0.9}",
                 -1, 2);
    check_slopes("{'type': 'table', 'points': [[0, 0], [0.5, 0.1], [1.5, -0.2], [2, 0]],"
                 " 'interpolation': 'linear'}",
                 -1, 3);
    check_slopes("{'type': 'table', 'points': [[0, 0], [0.5, 0.1], [1.5, -0.2], [2, 0]]}", -1, 3);
}

static void heights_match_formulas(void **state)
{
    (void)state;
    bg_road flat = make_road("{'type': 'flat', 'base': 0.25}");
    assert_near(height(&flat, 17), 0.25, 0);
    bg_road bump = make_road("{'type': 'bump', 'height': '10*cm', 'from': 1, 'length': 2}");
    assert_near(height(&bump, 2), 0.1, 1e-16);
    assert_near(height(&bump, 1.5), 0.05, 1e-16);
    assert_true(height(&bump, 0.999) == 0 && height(&bump, 3.001) == 0);
    assert_near(height(&bump, 1), 0, 1e-16);
    bg_road stair = make_road(
        "{'type': 'stair', 'height': -0.1, 'at': 1, 'count': 3, 'spacing': 0.4}");
    const double places[] = {0.9, 1.1, 1.5, 1.9, 99}, steps[] = {0, 1, 2, 3, 3};
    for (int k = 0; k < 5; k++)
        assert_near(height(&stair, places[k]), -0.1 * steps[k], 1e-16);
    /* the centre of a rigid wheel on the bar is R + r from the bar's centre */
    bg_road bar = make_road("{'type': 'half-cylinder', 'radius': 0.1, 'at': 1, 'base': 0.02}");
    assert_int_equal(bar.nbreaks, 2);
    assert_near(bar.breaks[1] - 1, sqrt(0.01 + 2 * 0.1 * 0.3), 1e-15);
    assert_near(height(&bar, 1), 0.12, 1e-15);
    assert_near(hypot(height(&bar, 1.2) - 0.02 + 0.3, 0.2), 0.4, 1e-15);
    assert_near(height(&bar, bar.breaks[0]), 0.02, 1e-15);
    /* 3 x^2 - 2 x^3 has slope 0 at 0 and 1, so the spline through its points is this cubic */
    bg_road smooth = make_road(
        "{'type': 'table', 'points': [[0, 0], [0.25, '3/16-2/64'], [0.5, 0.5], [1, 1]]}");
    for (int k = 0; k <= 20; k++) {
        double x = k / 20.0;
        assert_near(height(&smooth, x), x * x * (3 - 2 * x), 1e-15);
    }
    assert_true(height(&smooth, -1) == 0 && height(&smooth, 2) == 1);
    bg_road moving = make_road("{'type': 'flat', 'speed': 30, 'start': -6}");
    assert_near(bg_road_calc_place(&moving, 0.5, 0.2), 0.5, 1e-15);
    bg_road *roads[] = {&flat, &bump, &stair, &bar, &smooth, &moving};
    for (int k = 0; k < 6; k++)
        bg_road_clear(roads[k]);
}

/* Natural and clamped splines converge with the fourth power of the distance of the knots, the
 * integral too: sin(pi x) has no curvature at 0 and 1. */
static double spline_error(int n, double *integral)
{
    char text[8192] = "{'points': [";
    for (int k = 0; k <= n; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s[%.17g, %.17g]", k ? "," : "",
                 k / (double)n, sin(M_PI * k / n));
    strcat(text, "]}");
    char *copy = rig_quote(text);
    bg_model model = {0};
    bg_error err;
    bg_reader reader = {.model = &model, .origin = "test", .err = &err};
    bg_value top = {.reader = &reader, .json = json_loads(copy, 0, NULL)};
    bg_curve curve;
    bg_curve_read(&top, "points", BG_CURVE_CUBIC, BG_CURVE_GOES_ON, &curve);
    assert_int_equal(reader.status, BG_OK);
    double worst = 0;
    *integral = 0;
    for (int k = 0; k <= 500; k++) {
        double x = k / 500.0, y[3];
        bg_curve_calc(&curve, bg_curve_find_piece(&curve, x), x, y);
        worst = fmax(worst, fabs(y[0] - sin(M_PI * x)));
        *integral = fmax(*integral,
                         fabs(bg_curve_calc_integral(&curve, x) - (1 - cos(M_PI * x)) / M_PI));
    }
    double y[3];
    bg_curve_calc(&curve, bg_curve_find_piece(&curve, -0.5), -0.5, y); /* on along the tangent */
    assert_near(y[0], -0.5 * M_PI, 100.0 / (n * n * n));
    bg_curve_clear(&curve);
    json_decref(top.json);
    free(copy);
    return worst;
}

static void splines_have_order_four(void **state)
{
    (void)state;
    double coarse_integral, fine_integral;
    double coarse = spline_error(20, &coarse_integral), fine = spline_error(40, &fine_integral);
    assert_near(log2(coarse / fine), 4, 0.1);
    assert_near(log2(coarse_integral / fine_integral), 4, 0.1);
    assert_true(fine < 1e-6 && fine > 1e-9);
}

/* A measured road is the same from a file as from the model. */
static void tables_come_from_files(void **state)
{
    (void)state;
    char name[] = "/tmp/bogie-road-XXXXXX", text[200];
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    static const char rows[] = "x,z\n0,0\n1.5,0.02\n3,-0.01\n4,0.005\n";
    assert_int_equal(write(fd, rows, sizeof rows - 1), sizeof rows - 1);
    close(fd);
    for (int linear = 0; linear < 2; linear++) {
        const char *kind = linear ? "linear" : "cubic";
        snprintf(text, sizeof text, "{'type': 'table', 'interpolation': '%s', 'file': '%s'}", kind,
                 name);
        bg_road measured = make_road(text);
        snprintf(text, sizeof text,
                 "{'type': 'table', 'interpolation': '%s', 'points': [[0, 0], [1.5, 0.02], "
                 "[3, -0.01], [4, 0.005]]}",
                 kind);
        bg_road given = make_road(text);
        assert_int_equal(measured.nbreaks, given.nbreaks);
        for (double x = -0.5; x < 5; x += 0.13) {
            bg_road_height a, b;
            const int piece = bg_road_find_piece(&given, x);
            bg_road_calc(&measured, piece, x, 0, &a);
            bg_road_calc(&given, piece, x, 0, &b);
            for (int k = 0; k < 3; k++)
                assert_true(a.along[k] == b.along[k]);
        }
        bg_road_clear(&measured);
        bg_road_clear(&given);
    }
    unlink(name);
}

static void bad_roads_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{'type': 'bmup', 'height': 1}", "bump"},
        {"{'type': 'bump', 'height': 1, 'from': 0, 'length': 0}", "road.length: must be positive"},
        {"{'type': 'bump', 'height': 1, 'length': 2}", "road.from: is missing"},
        {"{'type': 'flat', 'height': 1}", "road.height: is not a known key"},
        {"{'type': 'stair', 'height': 1, 'at': 0, 'count': 2.5}", "road.count: must be a whole"},
        {"{'type': 'stair', 'height': 1, 'at': 0, 'count': 2}", "road.spacing: is missing"},
        {"{'type': 'sine', 'amplitude': 1, 'wavelength': 1, 'to': 2}", "road.to: needs a 'from'"},
        {"{'type': 'sine', 'amplitude': 1, 'wavelength': 1, 'from': 3, 'to': 2}", "greater than"},
        {"{'type': 'table'}", "road: needs either 'points' or a 'file'"},
        {"{'type': 'table', 'points': [[0, 1], [1, 2]], 'file': 'x.csv'}", "either 'points' or"},
        {"{'type': 'table', 'file': 'nowhere.csv'}", "road.file: "},
        {"{'type': 'table', 'points': [[0, 1]]}", "at least two"},
        {"{'type': 'table', 'points': [[0, 1], [0, 2]]}", "road.points[1]: must have a first"},
        {"{'type': 'table', 'points': [[0, 1], [1]]}", "road.points[1]: must have 2 entries"},
        {"{'type': 'half-cylinder', 'radius': -1, 'at': 0}", "road.radius: must be positive"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_road road;
        bg_error err = {BG_OK, ""};
        assert_int_equal(read_road(cases[k][0], &road, &err), BG_BAD_INPUT);
        if (!strstr(err.text, cases[k][1]))
            fail_msg("'%s' says: %s", cases[k][0], err.text);
        bg_road_clear(&road);
    }
}

/* A wheel of 40 kg on k = 160 kN/m, c = 800 N s/m; the road passes under it with 30 m/s. */
static const char wheel_on[] = "{'bodies': {'w': {'mass': 40, 'center': [0, 0, 0.3],"
                               "                  'inertia': [1, 1, 1]}},"
                               " 'road': %s,"
                               " 'tyres': {'t': {'type': 'point-follower', 'wheel': 'w',"
                               "   'radius': 0.3, 'stiffness': '160*kN/m', 'damping': 800}}}";

static void put_wheel(force_rig *r, const char *road)
{
    char text[1024];
    snprintf(text, sizeof text, wheel_on, road);
    rig_read(r, text);
    rig_shake(r, 0);
    r->t = 0;
    r->body[1].v = r->body[1].w = bg_vec3_make(0, 0, 0);
}

static int deliver(force_rig *r, const bg_force *f, int k, int direction)
{
    int action = f->class_->event(f, k, direction, r->mode + f->mode0);
    bg_world w = rig_world(r);
    f->class_->settle(f, &w, r->mode + f->mode0);
    return action;
}

static double switching(const force_rig *r, const bg_force *f, int k)
{
    double s[8];
    bg_world w = rig_world(r);
    f->class_->switching(f, &w, s);
    return s[k];
}

enum { OPEN = 0, CONTACT = 1, LIFTED = 2 };

static void contact_switches(void **state)
{
    (void)state;
    force_rig r;
    put_wheel(&r, "{'type': 'flat'}");
    const bg_force *f = rig_find(&r, "t");
    bg_vec3 *p = &r.body[1].r, *v = &r.body[1].v;
    assert_true(f->ns == 1 && f->nmode == 1);
    p->z = 0.29; /* pressed in by 10 mm, going down with 0.1 m/s */
    v->z = -0.1;
    assert_near(rig_sensor(&r, f, "force"), 1680, 1e-9);
    assert_near(switching(&r, f, 0), 1600, 1e-9); /* the spring alone while it goes down */
    bg_world w = rig_world(&r);
    f->class_->settle(f, &w, r.mode);
    assert_int_equal(r.mode[0], CONTACT);
    v->z = 1; /* going up: 1600 - 800 */
    assert_near(rig_sensor(&r, f, "force"), 800, 1e-9);
    assert_near(switching(&r, f, 0), 800, 1e-9);
    v->z = 2.5; /* too fast: the force has vanished, although 10 mm are left; still the law of the
                   mode */
    assert_near(switching(&r, f, 0), -400, 1e-9);
    assert_near(rig_sensor(&r, f, "force"), -400, 1e-9);
    assert_int_equal(deliver(&r, f, 0, -1), BG_EVENT_CHANGED);
    assert_int_equal(r.mode[0], LIFTED);
    assert_true(rig_sensor(&r, f, "force") == 0 && rig_sensor(&r, f, "contact") == 0);
    assert_near(rig_sensor(&r, f, "gap"), -0.01, 1e-15);
    v->z = 1.5; /* turns slower before the gap opened: contact again */
    assert_true(switching(&r, f, 0) > 0);
    assert_int_equal(deliver(&r, f, 0, 1), BG_EVENT_CHANGED);
    assert_near(rig_sensor(&r, f, "force"), 400, 1e-9);
    assert_int_equal(deliver(&r, f, 0, 1), BG_EVENT_NOTE); /* already so */
    assert_int_equal(deliver(&r, f, 0, 0), BG_EVENT_NOTE); /* only touches */
    r.mode[0] = LIFTED;
    p->z = 0.302; /* falling: the switch is the gap, whatever the speed */
    v->z = -3;
    assert_near(switching(&r, f, 0), -0.002 * 160000, 1e-9);
    p->z = 0.3;
    assert_near(switching(&r, f, 0), 0, 1e-9);
    deliver(&r, f, 0, 1);
    assert_near(rig_sensor(&r, f, "force"), 2400, 1e-9);
    r.mode[0] = OPEN; /* open: by the state */
    p->z = 0.31;
    assert_true(rig_sensor(&r, f, "force") == 0 && rig_energy(&r, f).potential == 0);
    bg_model_destroy(r.model);
}

static void breaks_switch_pieces(void **state)
{
    (void)state;
    force_rig r;
    put_wheel(&r, "{'type': 'stair', 'height': -0.02, 'at': 6, 'count': 2, 'spacing': 3,"
                  " 'speed': 30}");
    const bg_force *f = rig_find(&r, "t");
    assert_true(f->ns == 3 && f->nmode == 2);
    r.body[1].r.z = 0.295;
    bg_world w = rig_world(&r);
    f->class_->settle(f, &w, r.mode);
    assert_true(r.mode[0] == CONTACT && r.mode[1] == 1);
    r.t = 0.25; /* 7.5 m: beyond the first stair */
    assert_near(switching(&r, f, 1), 1.5, 1e-12);
    assert_near(switching(&r, f, 2), -1.5, 1e-12);
    assert_near(rig_sensor(&r, f, "force"), 800, 1e-9); /* as long as the piece is the old one */
    assert_int_equal(deliver(&r, f, 1, 1), BG_EVENT_CHANGED);
    assert_true(r.mode[0] == LIFTED && r.mode[1] == 2); /* settled on the new height */
    assert_near(rig_sensor(&r, f, "gap"), 0.015, 1e-15);
    r.t = 0.35;
    deliver(&r, f, 2, 1);
    assert_near(rig_sensor(&r, f, "road"), -0.04, 1e-15);
    r.t = 0.25; /* and back */
    assert_int_equal(deliver(&r, f, 2, -1), BG_EVENT_CHANGED);
    assert_int_equal(r.mode[1], 2);
    r.mode[0] = r.mode[1] = OPEN; /* open: found from the place */
    assert_near(rig_sensor(&r, f, "road"), -0.02, 1e-15);
    bg_model_destroy(r.model);
}

/* The wheel with one degree of freedom, its height, as a system around the element. */
static bg_world wheel_world(force_rig *r, const bg_point *p)
{
    r->t = p->t;
    r->body[1].r.z = p->q[0];
    r->body[1].v.z = p->v[0];
    memcpy(r->mode, p->mode, 2 * sizeof(int));
    return rig_world(r);
}

static int wheel_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    force_rig *r = self;
    const bg_force *f = r->model->forces;
    bg_wrench wrench[RIG_BODIES] = {0};
    bg_world w = wheel_world(r, p);
    f->class_->apply(f, &w, wrench);
    if (want & BG_TERM_M)
        out->M[0] = 40;
    if (want & BG_TERM_f)
        out->f[0] = wrench[1].f.z - 40 * 9.81;
    if (want & BG_TERM_s)
        f->class_->switching(f, &w, out->s);
    return 0;
}

static int wheel_energy(void *self, const bg_point *p, bg_energy *out)
{
    force_rig *r = self;
    const bg_force *f = r->model->forces;
    bg_world w = wheel_world(r, p);
    *out = (bg_energy){20 * p->v[0] * p->v[0], 40 * 9.81 * p->q[0], 0};
    f->class_->energy(f, &w, out);
    return 0;
}

static int wheel_event(void *self, const bg_event *event, const bg_event_state *x)
{
    force_rig *r = self;
    const bg_force *f = r->model->forces;
    int action = f->class_->event(f, event->index, event->direction, x->mode);
    bg_point p = {.t = event->t, .q = x->q, .v = x->v, .mode = x->mode};
    bg_world w = wheel_world(r, &p);
    f->class_->settle(f, &w, x->mode);
    return action;
}

/* Runs the wheel from rest at height z; the caller frees the report. */
static void run_wheel(force_rig *r, double z, double t_end, double tolerance, bg_run_report *report)
{
    static const double v0[1] = {0};
    bg_error err = {BG_OK, ""};
    bg_system_def def = bg_default_system_def();
    int mode0[2] = {0, 0};
    const bg_force *f = r->model->forces;
    r->body[1].r.z = z;
    r->t = 0;
    bg_world w = rig_world(r);
    f->class_->settle(f, &w, mode0);
    def.name = "wheel";
    def.nq = def.nv = 1;
    def.ns = f->ns;
    def.nmode = 2;
    def.self = r;
    def.supplied = BG_TERM_M | BG_TERM_f | BG_TERM_s;
    def.terms = wheel_terms;
    def.energy = wheel_energy;
    def.event = wheel_event;
    def.q0 = &z;
    def.v0 = v0;
    def.mode0 = mode0;
    def.t_end = t_end;
    bg_system *sys;
    if (bg_system_create(&def, &sys, &err) != BG_OK)
        fail_msg("%s", err.text);
    bg_run_options o = bg_default_run_options();
    o.method.rtol = o.method.atol = tolerance;
    if (bg_run(sys, &o, report, &err) != BG_OK)
        fail_msg("%s", err.text);
    bg_system_destroy(sys);
}

/* Dropped from 100 mm above the road: the first touch-down and the contact time are known. In
 * contact m delta'' + c delta' + k delta = m g,   delta(0) = 0, delta'(0) = sqrt(2 g h), and the
 * wheel lifts off when F = m (g - delta'') vanishes. Each bounce is lower; none chatters. */
static void dropped_wheel_bounces(void **state)
{
    (void)state;
    force_rig r;
    bg_run_report report;
    const double m = 40, k = 160000, c = 800, g = 9.81, h = 0.1;
    put_wheel(&r, "{'type': 'flat'}");
    run_wheel(&r, 0.3 + h, 2, 1e-10, &report);
    const double t1 = sqrt(2 * h / g), speed = g * t1;
    assert_near(report.events[0].t, t1, 1e-11);
    /* F by Newton on the closed solution from half a period of the contact on */
    const double delta0 = m * g / k, d = c / (2 * m), w = sqrt(k / m - d * d);
    const double A = -delta0, B = (speed + d * A) / w; /* delta = delta0 + e^-dt (A cos + B sin) */
    double t = 0.8 * M_PI / w, low = t, high = 1.2 * M_PI / w;
    for (int i = 0; i < 60; i++) {
        t = 0.5 * (low + high);
        double C = cos(w * t), S = sin(w * t), e = exp(-d * t);
        double delta = delta0 + e * (A * C + B * S);
        double delta_t = e * ((B * w - d * A) * C - (A * w + d * B) * S);
        *(k * delta + c * delta_t > 0 ? &low : &high) = t;
    }
    assert_near(report.events[1].t, t1 + t, 1e-9);
    assert_true(report.nevents >= 6 && report.nevents < 60);
    for (long i = 0; i < report.nevents; i++) /* down and up in turn */
        assert_int_equal(report.events[i].direction, i % 2 ? -1 : 1);
    for (long i = 4; i + 2 < report.nevents; i += 2) /* flights get shorter */
        assert_true(report.events[i].t - report.events[i - 1].t <
                    report.events[i - 2].t - report.events[i - 3].t);
    assert_true(report.certificate.energy_error < 1e-6);
    bg_run_report_clear(&report);
    bg_model_destroy(r.model);
}

/* Down a stair of 50 mm: the wheel flies from the edge on, touches down as a free fall does, and
 * the events stay where they are when the tolerance changes. */
static void wheel_falls_off_the_stair(void **state)
{
    (void)state;
    force_rig r;
    bg_run_report report[2];
    put_wheel(&r, "{'type': 'stair', 'height': -0.05, 'at': 6, 'speed': 30}");
    const double rest = 40 * 9.81 / 160000;
    for (int i = 0; i < 2; i++)
        run_wheel(&r, 0.3 - rest, 0.6, i ? 1e-11 : 1e-10, &report[i]);
    assert_near(report[0].events[0].t, 0.2, 1e-14);
    assert_int_equal(report[0].events[0].index, 1);
    assert_near(report[0].events[1].t, 0.2 + sqrt(2 * (0.05 - rest) / 9.81), 1e-10);
    assert_true(report[0].nevents >= 5);
    assert_int_equal(report[0].nevents, report[1].nevents);
    for (long k = 0; k < report[0].nevents; k++)
        assert_near(report[0].events[k].t, report[1].events[k].t, 1e-8);
    for (int i = 0; i < 2; i++)
        bg_run_report_clear(&report[i]);
    bg_model_destroy(r.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_match_differences),  cmocka_unit_test(heights_match_formulas),
        cmocka_unit_test(splines_have_order_four),   cmocka_unit_test(tables_come_from_files),
        cmocka_unit_test(bad_roads_are_refused),     cmocka_unit_test(contact_switches),
        cmocka_unit_test(breaks_switch_pieces),      cmocka_unit_test(dropped_wheel_bounces),
        cmocka_unit_test(wheel_falls_off_the_stair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

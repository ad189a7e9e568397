/* Tyres with slip: curves against points worked out by hand from published parameters, symmetry,
 * dissipation, derivatives against differences, and wheels that stand, lock, spin and jump. */
#include "force_rig.h"
#include "run_support.h"

#include <stdbool.h>

/* Parameters: the generic 235 Fiala tyre of Project Chrono (BSD-3-Clause, Copyright 2016 Project
 * Chrono Development Team) with a half-length that is not part of it, and a brush tyre derived from
 * measured stiffnesses of a 205/60R15 (C_Fkappa 86748 N, C_Falpha 53353.13 N/rad at 4 kN). */
#define FIALA                                                                                 \
    "'type': 'fiala', 'radius': 0.3099, 'stiffness': 310000, 'damping': 3100, 'relaxation': " \
    "[0.05, 0.15], 'longitudinal_stiffness': 1e6, 'cornering_stiffness': 45836.6236, "        \
    "'friction': 1, 'sliding_friction': 0.9, 'half_length': 0.07"
#define BRUSH                                                                                 \
    "'type': 'brush', 'radius': 0.3169, 'stiffness': 200000, 'damping': 2000, 'relaxation': " \
    "[0.2, 0.4], 'tread_stiffness': [9261239, 5695994], 'friction': [1.0422, 0.8785], "       \
    "'half_length': 0.0684353, 'load': 4000"
#define RADIUS_FIALA 0.3099
#define RADIUS_BRUSH 0.3169

static const char wheels[] =
    "{'bodies': {'wheel': {'mass': 20, 'center': [0, 0, 0.3], 'inertia': [1, 1.7, 1],"
    "                      'orientation': {'rpy': [0.1, 0.2, 0.3]},"
    "                      'points': {'off': [0.05, -0.1, 0.33]}}},"
    " 'road': {'type': 'flat'},"
    " 'tyres': {'fiala': {" FIALA ", 'wheel': 'wheel', 'tread_damping': 0},"
    "           'brush': {" BRUSH ", 'wheel': 'wheel', 'tread_damping': 0},"
    "           'fiala_off': {" FIALA ", 'wheel': 'wheel.off', 'axis': [0.2, 1, -0.1],"
    "                         'rolling_resistance': 0.02, 'tread_damping': 0.004},"
    "           'brush_off': {" BRUSH ", 'wheel': 'wheel.off', 'axis': [0.2, 1, -0.1],"
    "                         'rolling_resistance': 0.01}}}";

static void read_wheels(force_rig *r, const char *text)
{
    rig_read(r, text);
    rig_shake(r, 0);
}

static int set_up(void **state)
{
    force_rig *r = calloc(1, sizeof *r);
    read_wheels(r, wheels);
    *state = r;
    return 0;
}

static bool is_brush(const bg_force *f)
{
    return strcmp(f->class_->name, "tyre-brush") == 0;
}

/* An upright wheel under a load in steady motion: slip s at the speed T of its carrying velocity,
 * v_x or r_e Omega. */
static void roll(force_rig *r, const bg_force *f, double T, double s_x, double s_y, double load)
{
    const bool brush = is_brush(f);
    const double k = brush ? 200000 : 310000, R = brush ? RADIUS_BRUSH : RADIUS_FIALA;
    const double delta = load / k, r_e = R - delta / 3, X = fabs(T) * hypot(1, hypot(s_x, s_y));
    bg_body_state *b = &r->body[1];
    r->t = 0;
    b->R = r->model->bodies[1].pose.R;
    b->r = bg_vec3_make(0, 0, R - delta);
    b->v = bg_vec3_make(brush ? T + s_x * fabs(T) : T, s_y * fabs(T), 0);
    b->w = bg_vec3_make(0, (brush ? T : T - s_x * fabs(T)) / r_e, 0);
    r->z[f->z0] = (brush ? 0.2 : 0.05) * s_x * fabs(T) / X;
    r->z[f->z0 + 1] = (brush ? 0.4 : 0.15) * s_y * fabs(T) / X;
}

/* Forces on the wheel. */
static bg_vec3 calc_force(const force_rig *r, const bg_force *f)
{
    return bg_vec3_make(rig_sensor(r, f, "longitudinal"), rig_sensor(r, f, "lateral"),
                        rig_sensor(r, f, "force"));
}

static const double degree = 0.017453292519943295;

/* Points of the curves at 4 kN: side slip (or slip), its force and aligning torque; slip and its
 * force. Worked out with Fiala's H = 1 - C tan(alpha) / (3 mu N), F = mu N (1 - H^3), M = mu N a (1
 * - H) H^3, and for the brush with theta = 2 c_p a^2 / (3 mu N). */
static void curves_meet_published_points(void **state)
{
    force_rig *r = *state;
    static const double side[2][4][3] = {{{1, 747.8334955190766, 15.172215345831386},
                                          {4, 2420.3667269609628, 29.21581261588601},
                                          {10, 3807.3606972219554, 5.860304998893814},
                                          {20, 3854.411906293519, 0}},
                                         {{0.02, 962.6985221359093, 17.672940262155535},
                                          {0.08, 2773.3477747279917, 20.522078861841287},
                                          {0.15, 3464.905053885267, 2.550616001443119},
                                          {0.3, 3514, 0}}};
    static const double drive[2][4][2] = {
        {{0.002, 1685.1259148127401}, {0.008, 3849.4803434005394}, {0.1, 3960}, {1, 3600}},
        {{0.02, 1505.4059138900336}, {0.08, 3801.200493136977}, {0.15, 4168.8}, {0.3, 4168.8}}};
    for (int brush = 0; brush < 2; brush++) {
        const bg_force *f = rig_find(r, brush ? "brush" : "fiala");
        for (int k = 0; k < 4; k++) {
            const double *p = side[brush][k], *q = drive[brush][k];
            const double s = brush ? p[0] : tan(p[0] * degree), way = 1 - 0.5e-6; /* at 50 m/s */
            roll(r, f, 50, 0, s, 4000);
            bg_vec3 F = calc_force(r, f);
            assert_near(F.z, 4000, 1e-9);
            assert_near(F.y, -p[1], 1e-6);
            assert_near(F.x, 0, 1e-9);
            assert_near(rig_sensor(r, f, "aligning"), way * p[2], 1e-5);
            assert_near(rig_sensor(r, f, "slip_angle"), atan(s), 1e-12);
            roll(r, f, 50, q[0], 0, 4000);
            F = calc_force(r, f);
            assert_near(F.x, -q[1], 1e-6);
            assert_near(F.y, 0, 1e-9);
            assert_near(rig_sensor(r, f, "slip"), -q[0], 1e-12);
        }
    }
}

/* The slopes at zero slip are the stiffnesses, those of the brush in proportion to the load; the
 * trail there is a third of the half-length. */
static void slopes_are_the_stiffnesses(void **state)
{
    force_rig *r = *state;
    static const double C[2][2] = {{1e6, 45836.6236}, {86748, 53353.13}};
    for (int brush = 0; brush < 2; brush++)
        for (int half = 0; half < 2; half++) {
            const bg_force *f = rig_find(r, brush ? "brush" : "fiala");
            const double load = half ? 2000 : 4000, ratio = brush && half ? 0.5 : 1, e = 1e-7;
            const double a = brush ? 0.0684353 * sqrt(ratio) : 0.07;
            roll(r, f, 30, e, 0, load);
            assert_near(calc_force(r, f).x / e, -ratio * C[brush][0], 2e-4 * C[brush][0]);
            roll(r, f, 30, 0, e, load);
            const double F_y = calc_force(r, f).y;
            assert_near(F_y / e, -ratio * C[brush][1], 2e-5 * C[brush][1]);
            assert_near(-rig_sensor(r, f, "aligning") / F_y, a / 3, 1e-5 * a);
        }
}

/* Steady motion is steady: the deflections that belong to a slip do not change, up to the rounding
 * at rest, (0.05 / speed)^2 / 2. */
static void steady_slip_is_steady(void **state)
{
    force_rig *r = *state;
    for (int k = 0; k < 40; k++) {
        const bg_force *f = rig_find(r, k % 2 ? "brush" : "fiala");
        const double T = (k % 4 < 2 ? 1 : -1) * 20, s_x = rig_random(r), s_y = rig_random(r);
        double z_t[2];
        roll(r, f, T, s_x, s_y, 3000);
        const bg_world w = rig_world(r);
        f->class_->rates(f, &w, z_t);
        assert_near(z_t[0], 0, 20 * 4e-6);
        assert_near(z_t[1], 0, 20 * 4e-6);
        r->z[f->z0] *= 0.9; /* and it is stable */
        f->class_->rates(f, &w, z_t);
        assert_true(z_t[0] * s_x > 0);
    }
}

/* Left and right, forwards and backwards, driving and braking are mirrors of each other. */
static void mirrored_slip_gives_mirrored_forces(void **state)
{
    force_rig *r = *state;
    for (int k = 0; k < 20; k++) {
        const bg_force *f = rig_find(r, k % 2 ? "brush" : "fiala");
        const double s_x = 0.3 * rig_random(r), s_y = 0.3 * rig_random(r);
        roll(r, f, 25, s_x, s_y, 3500);
        const bg_vec3 F = calc_force(r, f);
        const double M = rig_sensor(r, f, "aligning");
        assert_true(F.x * s_x < 0 && F.y * s_y < 0 && M * s_y >= 0);
        roll(r, f, 25, s_x, -s_y, 3500);
        assert_near(calc_force(r, f).x, F.x, 1e-9);
        assert_near(calc_force(r, f).y, -F.y, 1e-9);
        assert_near(rig_sensor(r, f, "aligning"), -M, 1e-9);
        roll(r, f, 25, -s_x, s_y, 3500);
        assert_near(calc_force(r, f).x, -F.x, 1e-9);
        assert_near(calc_force(r, f).y, F.y, 1e-9);
        roll(r, f, -25, s_x, s_y, 3500);
        assert_near(calc_force(r, f).x, F.x, 1e-9);
        assert_near(calc_force(r, f).y, F.y, 1e-9);
        assert_near(rig_sensor(r, f, "aligning"), -M, 1e-9);
    }
}

/* Combined slip stays within the ellipse and reaches it when all slides; in steady motion a tyre
 * takes energy, it never gives any. */
static void combined_slip_is_bounded_and_dissipates(void **state)
{
    force_rig *r = *state;
    double largest = 0;
    for (int k = 0; k < 200; k++) {
        const bg_force *f = rig_find(r, k % 2 ? "brush" : "fiala");
        const double size = 0.02 * (1 + k % 50);
        const double s_x = size * rig_random(r), s_y = size * rig_random(r), N = 3000;
        const double mu = 1 - 0.1 * fmin(1, hypot(s_x, s_y));
        const double mu_x = k % 2 ? 1.0422 : mu, mu_y = k % 2 ? 0.8785 : mu;
        roll(r, f, 20, s_x, s_y, N);
        const bg_vec3 F = calc_force(r, f);
        const double use = hypot(F.x / mu_x, F.y / mu_y) / N;
        assert_true(use <= 1 + 1e-12);
        largest = fmax(largest, use);
        assert_true(rig_energy(r, f).power < 0);
        /* all of it is friction: F times slip velocity, and trail times yaw rate, of which there is
         * none */
        const double lost = F.x * s_x * 20 + F.y * s_y * 20;
        assert_near(rig_energy(r, f).power, lost, 1e-9 * fabs(lost));
    }
    assert_near(largest, 1, 1e-12);
}

static const char *const roads[] = {
    "{'type': 'sine', 'amplitude': 0.1, 'wavelength': 2.5, 'speed': 7, 'start': 0.2}",
    "{'type': 'expression', 'speed': 7, 'expression': '0.1*sin(2.5*x + y) - 0.08*x*cos(3*y)'}"};

static void read_wheels_on(force_rig *r, const char *road)
{
    char text[4096];
    const char *flat = strstr(wheels, "{'type': 'flat'}");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(flat - wheels), wheels, road,
             flat + strlen("{'type': 'flat'}"));
    read_wheels(r, text);
}

/* Action is reaction, also off the wheel's centre, on a bent axle, and on a hill. */
static void check_balance(force_rig *r)
{
    static const char *const names[] = {"fiala_off", "brush_off"};
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, h = 1e-3;
    for (int k = 0; k < 40; k++) {
        const bg_force *f = rig_find(r, names[k % 2]);
        bg_wrench wrench[RIG_BODIES];
        double U_t = 0, power = 0;
        rig_shake(r, 0.2);
        r->body[1].r.z -= 0.2;
        r->body[1].w.y += 30;
        r->mode[f->mode0] = 1;
        rig_apply(r, f, wrench);
        bg_vec3 force = bg_add(wrench[0].f, wrench[1].f);
        bg_vec3 moment = bg_add(bg_add(wrench[0].n, wrench[1].n),
                                bg_cross(r->body[1].r, wrench[1].f));
        const double size = rig_size(wrench, 2);
        assert_true(bg_length(force) <= 1e-14 * size && bg_length(moment) <= 1e-13 * size);
        for (int i = 0; i < 3; i++) {
            const force_rig plus = rig_move(r, (i + 1) * h), minus = rig_move(r, -(i + 1) * h);
            U_t += weight[i] / h *
                   (rig_energy(&plus, f).potential - rig_energy(&minus, f).potential);
        }
        power = bg_dot(wrench[1].f, r->body[1].v) + bg_dot(wrench[1].n, r->body[1].w);
        assert_true(fabs(U_t) > 1);
        assert_near(power + U_t, rig_energy(r, f).power, 1e-7 * size);
    }
}

static void forces_are_balanced(void **state)
{
    check_balance(*state);
    for (int k = 0; k < 2; k++) {
        force_rig r;
        read_wheels_on(&r, roads[k]);
        check_balance(&r);
        bg_model_destroy(r.model);
    }
}

static force_rig perturb(const force_rig *r, const bg_force *f, int component, double e)
{
    force_rig x = *r;
    double d[14] = {0};
    d[component] = e;
    bg_body_state *b = &x.body[1];
    const bg_mat3 turn = rig_exp(bg_vec3_load(d + 3));
    b->r = bg_add(b->r, bg_vec3_load(d));
    b->R = bg_mat3_multiply(&turn, &b->R);
    b->v = bg_add(b->v, bg_vec3_load(d + 6));
    b->w = bg_add(b->w, bg_vec3_load(d + 9));
    x.z[f->z0] += d[12];
    x.z[f->z0 + 1] += d[13];
    return x;
}

/* Wrench on the wheel and rates, as 8 numbers; their differences of order 6. */
static void differences(const force_rig *r, const bg_force *f, int component, double out[8])
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    const double h = component >= 12 ? 1e-6 : component < 6 ? 2e-5 : 2e-4;
    memset(out, 0, 8 * sizeof *out);
    for (int i = -3; i <= 3; i++) {
        if (i == 0)
            continue;
        bg_wrench wrench[RIG_BODIES];
        double y[8];
        const force_rig x = perturb(r, f, component, i * h);
        const bg_world w = rig_world(&x);
        rig_apply(&x, f, wrench);
        bg_vec3_store(wrench[1].f, y);
        bg_vec3_store(wrench[1].n, y + 3);
        f->class_->rates(f, &w, y + 6);
        for (int k = 0; k < 8; k++)
            out[k] += (i > 0 ? 1 : -1) * weight[abs(i) - 1] / h * y[k];
    }
}

static void collect(const bg_force_derivatives *d, int component, double out[8])
{
    for (int k = 0; k < 6; k++)
        out[k] = component >= 12  ? d->wrench_z[k][component - 12]
                 : component >= 6 ? d->wrench_twist[k][component - 6]
                                  : d->wrench_pose[k][component];
    for (int k = 0; k < 2; k++)
        out[6 + k] = component >= 12  ? d->h_z[k][component - 12]
                     : component >= 6 ? d->h_twist[k][component - 6]
                                      : d->h_pose[k][component];
}

/* Random attitudes, speeds and deflections on a hilly road that moves; every fifth lifted, every
 * seventh all but at rest. Columns have entries of one unit each per row, so each row is judged on
 * its own scale. */
static void check_derivatives(const char *road)
{
    force_rig r;
    read_wheels_on(&r, road);
    int sliding = 0, sticking = 0;
    for (int trial = 0; trial < 120; trial++) {
        const bg_force *f = &r.model->forces[trial % 4];
        bg_force_derivatives d;
        rig_shake(&r, 0.15);
        r.body[1].r.z -= 0.2;
        r.body[1].w.y += 20;
        if (trial % 7 == 0) {
            r.body[1].v = bg_vec3_make(-7 + 0.02 * rig_random(&r), 0.03 * rig_random(&r), 0.1);
            r.body[1].w = rig_random_vec3(&r, 0.1);
        }
        r.mode[f->mode0] = 1 + (trial % 5 == 0);
        const double fill = trial % 3 ? 0.05 : 0.6;
        r.z[f->z0] *= fill * (is_brush(f) ? 0.2 : 0.05);
        r.z[f->z0 + 1] *= fill * (is_brush(f) ? 0.4 : 0.15);
        const bg_world w = rig_world(&r);
        memset(&d, 0x7f, sizeof d); /* must not need clearing */
        f->class_->derivatives(f, &w, &d);
        double a[14][8], b[14][8], size[8] = {0};
        for (int c = 0; c < 14; c++) {
            collect(&d, c, a[c]);
            differences(&r, f, c, b[c]);
            for (int k = 0; k < 8; k++)
                size[k] = fmax(size[k], fabs(b[c][k]));
        }
        for (int c = 0; c < 14; c++)
            for (int k = 0; k < 8; k++)
                if (!(fabs(a[c][k] - b[c][k]) <= 1e-7 * (1 + size[k])))
                    fail_msg("trial %d, %s: row %d by %d is %.12g, not %.12g", trial, f->name, k, c,
                             a[c][k], b[c][k]);
        assert_true(d.nbodies == 1 && d.body[0] == 1);
        const bool slides = rig_sensor(&r, f, "aligning") == 0;
        sliding += slides && trial % 5 != 0;
        sticking += !slides;
    }
    assert_true(sliding >= 10 && sticking >= 10);
    bg_model_destroy(r.model);
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        check_derivatives(roads[k]);
}

/* Runs a model text and leaves the final state and outputs in report. */
static void run(const char *text, double t_end, bg_run_report *report, bg_system **sys,
                bg_model **model)
{
    bg_error err = {BG_OK, ""};
    bg_run_options o = bg_default_run_options();
    char *copy = rig_quote(text);
    assert_ok(bg_model_parse(copy, "test", NULL, 0, model, &err));
    free(copy);
    assert_ok(bg_model_create_system(*model, "joint", sys, &err));
    o.t_end = t_end;
    o.method.rtol = o.method.atol = 1e-9;
    assert_ok(bg_run(*sys, &o, report, &err));
}

static void end_run(bg_run_report *report, bg_system *sys, bg_model *model)
{
    bg_run_report_clear(report);
    bg_system_destroy(sys);
    bg_model_destroy(model);
}

/* A sledge on four tyres that cannot turn: mass 1200 kg, gravity as on a slope, initial speed. */
#define SLEDGE(tyre)                                                                          \
    "{'gravity': [%g, %g, -9.81], 'bodies': {'sledge': {'mass': 1200, 'center': [0, 0, 0.4]," \
    " 'inertia': [300, 1200, 1400], 'velocity': [%g, 0, 0], 'points': {'a': [1.2, 0.7, 0.3]," \
    " 'b': [1.2, -0.7, 0.3], 'c': [-1.2, 0.7, 0.3], 'd': [-1.2, -0.7, 0.3]}}},"               \
    " 'tyres': {'a': {" tyre ", 'wheel': 'sledge.a'}, 'b': {" tyre ", 'wheel': 'sledge.b'},"  \
    "           'c': {" tyre ", 'wheel': 'sledge.c'}, 'd': {" tyre ", 'wheel': 'sledge.d'}}," \
    " 'outputs': {'x': {'position': 'sledge'}, 'v': {'velocity': 'sledge'},"                  \
    "             'a': {'acceleration': 'sledge'}}}"

static void run_sledge(bool brush, double g_x, double g_y, double speed, double t_end, double y[9])
{
    bg_run_report report;
    bg_system *sys;
    bg_model *model;
    char text[4096];
    snprintf(text, sizeof text, brush ? SLEDGE(BRUSH) : SLEDGE(FIALA), g_x, g_y, speed);
    run(text, t_end, &report, &sys, &model);
    memcpy(y, report.y, 9 * sizeof *y);
    end_run(&report, sys, model);
}

/* On a slope of 30 % sideways and 20 % downhill a braked vehicle stands: it settles at the
 * deflection of springs C / sigma and does not creep at all. */
static void standing_on_a_slope_does_not_creep(void **state)
{
    (void)state;
    double early[9], late[9];
    for (int brush = 0; brush < 2; brush++) {
        run_sledge(brush, 1.9, 2.9, 0, 40, early);
        run_sledge(brush, 1.9, 2.9, 0, 80, late);
        for (int i = 0; i < 3; i++) {
            assert_near(late[i], early[i], 1e-8);
            assert_near(late[3 + i], 0, 1e-8);
        }
        const double stiffness = 4 * (brush ? 53353.13 / 0.4 : 45836.6236 / 0.15);
        const double rigid = 1200 * 2.9 / stiffness; /* without roll, and with the linear curve */
        assert_true(late[1] > rigid && late[1] < 0.1);
    }
}

/* Locked at 20 m/s: the brush tyre slides with mu_x, the Fiala tyre with its sliding friction; both
 * come to rest where they should and stay there. */
static void locked_wheels_slide_and_stop(void **state)
{
    (void)state;
    static const double mu[] = {0.9, 1.0422};
    double y[9], rest[9];
    for (int brush = 0; brush < 2; brush++) {
        const double a = mu[brush] * 9.81, stop = 20 / a;
        run_sledge(brush, 0, 0, 20, 0.6 * stop, y);
        assert_near(y[6], -a, 2e-3 * a); /* a little pitch is left */
        run_sledge(brush, 0, 0, 20, stop + 10, y);
        assert_near(y[0], 20 * 20 / (2 * a), 0.02 * 200 / a);
        assert_near(y[3], 0, 1e-7);
        run_sledge(brush, 0, 0, 20, stop + 20, rest);
        assert_near(rest[0], y[0], 1e-7);
    }
}

/* A wheel on a fixed axle is spun up on the spot: it slips with mu N, its deflection does not wind
 * up beyond the relaxation length, and when the torque is gone friction stops it. */
static void spinning_on_the_spot_does_not_wind_up(void **state)
{
    (void)state;
    static const char *const tyres[] = {FIALA, BRUSH};
    static const double friction[] = {0.9, 1.0422}, sigma[] = {0.05, 0.2}, R[] = {0.3099, 0.3169};
    for (int k = 0; k < 2; k++) {
        char text[2048];
        bg_run_report report;
        bg_system *sys;
        bg_model *model;
        snprintf(text, sizeof text,
                 "{'bodies': {'carriage': {'mass': 280, 'center': [0, 0, %g], 'inertia': [1, 1, "
                 "1]}, 'wheel': {'mass': 20, 'center': [0, 0, %g], 'inertia': [1, 1.7, 1]}},"
                 " 'joints': {'lift': {'type': 'prismatic', 'bodies': ['ground', 'carriage'], 'at':"
                 " [0, 0, 0], 'axis': [0, 0, 1]}, 'axle': {'type': 'revolute', 'bodies':"
                 " ['carriage', 'wheel'], 'at': [0, 0, %g], 'axis': [0, 1, 0]}},"
                 " 'forces': {'motor': {'type': 'torsion', 'joint': 'axle',"
                 "   'torque': '1500*(1 - step(t, 1, 1.1))'}},"
                 " 'tyres': {'t': {%s, 'wheel': 'wheel'}},"
                 " 'outputs': {'spin': {'joint': 'axle', 'derivative': 1},"
                 "   'F': {'force': 't', 'value': 'longitudinal'},"
                 "   'N': {'force': 't', 'value': 'force'}}}",
                 R[k], R[k], R[k], tyres[k]);
        run(text, 1, &report, &sys, &model);
        assert_true(report.y[0] > 50);
        assert_near(report.y[1], friction[k] * report.y[2], 1e-9 * 2943);
        assert_true(fabs(report.final->z[0]) <= 1.0001 * sigma[k]);
        end_run(&report, sys, model);
        run(text, 10, &report, &sys, &model);
        assert_near(report.y[0], 0, 1e-6);
        end_run(&report, sys, model);
    }
}

/* A rolling wheel dropped from a height bounces: each lift-off and touch-down is an event, a lifted
 * tyre has no force, and its deflections fade. */
static void jumps_are_events(void **state)
{
    (void)state;
    static const char text[] =
        "{'bodies': {'wheel': {'mass': 20, 'center': [0, 0, 0.5], 'inertia': [1, 1.7, 1],"
        "   'velocity': [10, 1, 0]}},"
        " 'joints': {'guide': {'type': 'free', 'bodies': ['ground', 'wheel']}},"
        " 'tyres': {'t': {" FIALA ", 'wheel': 'wheel'}},"
        " 'outputs': {'contact': {'force': 't', 'value': 'contact'},"
        "   'N': {'force': 't', 'value': 'force'}, 'F': {'force': 't', 'value': 'longitudinal'},"
        "   'v': {'velocity': 'wheel', 'component': 'y'}}}";
    bg_run_report report;
    bg_system *sys;
    bg_model *model;
    const double fall = sqrt(2 * (0.5 - RADIUS_FIALA) / 9.81);
    run(text, fall + 0.06, &report, &sys, &model);
    assert_true(report.nevents >= 2);
    assert_near(report.events[0].t, fall, 1e-9);
    assert_int_equal(report.events[0].direction, 1);
    assert_int_equal(report.events[1].direction, -1);
    assert_true(report.y[0] == 0 && report.y[1] == 0 && report.y[2] == 0);
    const double flown = report.final->t - report.events[1].t;
    assert_true(flown > 0.01 && fabs(report.final->z[0]) <= 0.05 * exp(-flown / 0.02));
    assert_true(report.y[3] > 0 && report.y[3] < 1);    /* side slip has braked it */
    assert_true(report.certificate.energy_error < 100); /* lost in the tread at the lift-off */
    end_run(&report, sys, model);
}

/* A wheel that lies on its side has no contact, and everything stays finite. */
static void a_lying_wheel_is_harmless(void **state)
{
    force_rig *r = *state;
    for (int k = 0; k < 2; k++) {
        const bg_force *f = &r->model->forces[k];
        bg_wrench wrench[RIG_BODIES];
        bg_force_derivatives d;
        double s[1], z_t[2];
        rig_shake(r, 0);
        const bg_mat3 turn = bg_rotation_about(bg_vec3_make(1, 0, 0), 90 * degree);
        r->body[1].R = bg_mat3_multiply(&turn, &r->body[1].R);
        r->body[1].r.z = 0.1;
        rig_apply(r, f, wrench);
        const bg_world w = rig_world(r);
        f->class_->switching(f, &w, s);
        f->class_->rates(f, &w, z_t);
        f->class_->derivatives(f, &w, &d);
        assert_true(rig_size(wrench, RIG_BODIES) == 0 && s[0] < 0 && isfinite(z_t[0]));
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                assert_true(d.wrench_pose[i][j] == 0 && d.wrench_twist[i][j] == 0);
    }
}

static void refused(const char *tyre, const char *message)
{
    char text[2048];
    bg_model *model = NULL;
    bg_error err = {BG_OK, ""};
    snprintf(text, sizeof text,
             "{'bodies': {'w': {'mass': 1, 'center': [0, 0, 0.3], 'inertia': [1, 1, 1]}},"
             " 'tyres': {'t': {'wheel': 'w', %s}}}",
             tyre);
    char *copy = rig_quote(text);
    const bg_status status = bg_model_parse(copy, "test", NULL, 0, &model, &err);
    free(copy);
    if (status != BG_BAD_INPUT || !strstr(err.text, message))
        fail_msg("%s gives %d: %s", tyre, status, err.text);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
#define REST "'radius': 0.3, 'stiffness': 2e5, "
#define CURVE ", 'longitudinal_stiffness': 1e5, 'cornering_stiffness': 5e4, 'friction': 1"
    refused("'type': 'fialla', " REST "'friction': 1", "did you mean 'fiala'");
    refused("'type': 'fiala', " REST "'relaxation': [0.1]" CURVE,
            "tyres.t.relaxation: must have 2");
    refused("'type': 'fiala', " REST "'relaxation': [0.1, 0]" CURVE,
            "tyres.t.relaxation[1]: must be positive");
    refused("'type': 'fiala', " REST "'relaxation': [0.1, 0.1], 'axis': [0, 0, 0]" CURVE, "axis");
    refused("'type': 'fiala', " REST "'relaxation': [0.1, 0.1], 'sliding_friction': 1.2" CURVE,
            "tyres.t.sliding_friction: must not be above 'friction'");
    refused("'type': 'fiala', " REST "'relaxation': [0.1, 0.1], 'tread_damping': -1" CURVE,
            "tyres.t.tread_damping");
    refused("'type': 'brush', " REST "'relaxation': [0.1, 0.1], 'friction': 1", "tread_stiffness");
    refused("'type': 'brush', " REST "'relaxation': [0.1, 0.1], 'friction': [1, 1],"
            " 'tread_stiffness': [1e6, 1e6], 'half_length': 0.1",
            "tyres.t.load: is missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(curves_meet_published_points, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(slopes_are_the_stiffnesses, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(steady_slip_is_steady, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(mirrored_slip_gives_mirrored_forces, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(combined_slip_is_bounded_and_dissipates, set_up,
                                        rig_tear_down),
        cmocka_unit_test_setup_teardown(forces_are_balanced, set_up, rig_tear_down),
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(standing_on_a_slope_does_not_creep),
        cmocka_unit_test(locked_wheels_slide_and_stop),
        cmocka_unit_test(spinning_on_the_spot_does_not_wind_up),
        cmocka_unit_test(jumps_are_events),
        cmocka_unit_test_setup_teardown(a_lying_wheel_is_harmless, set_up, rig_tear_down),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

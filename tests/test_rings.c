/* Laws of ring tyres at single states: against numbers worked out by an independent program, closed
 * forms, action and reaction, energy, and derivatives against differences. */
#include "force_rig.h"
#include "model/tyres/ring.h"
#include "ring_support.h"

#include <stdbool.h>

#define RIM                                                                                  \
    "'rim': {'mass': 13.053, 'center': [0, 0, 0.3135], 'inertia': [0.2791, 0.5862, 0.2791]," \
    "  'points': {'off': [0.02, -0.03, 0.32]}}"

/* The road is put in between. */
static const char head[] = "{'bodies': {" RIM "}, 'road': ";
static const char spatial[] = ", 'tyres': {'t': {" RING_SPATIAL ", 'wheel': 'rim'}}}";
static const char off[] = ", 'inputs': {'u': 1},"
                          " 'outputs': {'height': {'position': 'rim', 'component': 'z'}},"
                          " 'tyres': {'t': {" RING_SPATIAL ", 'wheel': 'rim.off', 'axis':"
                          " [0.1, 1, -0.05], 'residual': [899001.5, 177123], 'rotor':"
                          " {'inertia': 0.9, 'torque': '120*u - 30*spin + 4000*height^2'}}}}";
static const char planar[] = ", 'tyres': {'t': {" RING_PLANAR ", 'wheel': 'rim'}}}";
static const char planar_off[] = ", 'inputs': {'u': 1}, 'tyres': {'t': {" RING_PLANAR
                                 ", 'wheel': 'rim.off', 'axis': [0.3, 1, 0], 'rotor':"
                                 " {'inertia': 0.9, 'torque': '120*u - 30*spin'}}}}";
static const char flat[] = "{'type': 'flat'}";
static const char hills[] =
    "{'type': 'sine', 'amplitude': 0.1, 'wavelength': 2.5, 'speed': 7, 'start': 0.2}";
static const char rough[] = "{'type': 'expression', 'speed': 7, 'expression':"
                            " '0.1*sin(2.5*x + y) - 0.08*x*cos(3*y)'}";
static const char slope[] = "{'type': 'table', 'points': [[-100, -10], [100, 10]]}";

static const bg_force *begin(force_rig *r, const char *road, const char *tyre)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, road, tyre);
    rig_read(r, text);
    rig_shake(r, 0);
    return &r->model->forces[0];
}

enum { RIM_BODY = 1, RING_BODY = 2 };

/* With its y axis along e. */
static bg_mat3 turn_to(bg_vec3 e)
{
    const bg_vec3 y = bg_scale(1 / bg_length(e), e), up = {0, 0, 1}, x = bg_cross(y, up);
    const bg_vec3 forward = bg_scale(1 / bg_length(x), x);
    return bg_mat3_from_axes(forward, y, bg_cross(forward, y));
}

static void near3(bg_vec3 a, bg_vec3 b, double tolerance)
{
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

/* One state of everything, worked out to ten digits by a program that shares no code. */
static void one_state_has_known_forces(void **state)
{
    (void)state;
    force_rig r;
    const bg_force *f = begin(&r, flat, spatial);
    const bg_vec3 e_H = {-sin(0.05), cos(0.05), 0};
    bg_wrench wrench[RIG_BODIES];
    double h[3];
    bg_ring_values y;
    bg_body_state *rim = &r.body[RIM_BODY], *ring = &r.body[RING_BODY];
    *rim = (bg_body_state){.r = {0, 0, 0.29}, .R = turn_to(e_H), .v = {10, 0, 0}};
    rim->w = bg_scale(32, e_H);
    *ring = (bg_body_state){.r = {0.001, 0.002, 0.2925}, .v = {10.1, 0.05, -0.02}};
    ring->R = turn_to(bg_vec3_make(-0.045, 1, 0.01));
    const bg_vec3 e = bg_axis(&ring->R, 1), turning = {0.2, 0, 0.3};
    ring->w = bg_add_scaled(turning, 33, e);
    r.z[0] = 0.004, r.z[1] = 0.01, r.z[2] = 0.03;
    const bg_ring_state x = {.r_H = rim->r,
                             .e_H = e_H,
                             .v_H = rim->v,
                             .w_c = rim->w,
                             .r = ring->r,
                             .e = e,
                             .v = ring->v,
                             .w = ring->w,
                             .z = {0.004, 0.01, 0.03}};
    bg_ring_calc_spatial(f, 0, r.mode, &x, NULL, &y, NULL);
    near3(y.F, bg_vec3_make(-1828.0111843, -1101.3200347, -4265.4307618), 6e-8);
    near3(y.T, bg_vec3_make(-380.5052128, -352.9959633, 198.8966310), 6e-8);
    near3(y.T_H, bg_vec3_make(386.2827742, 353.3005605, -201.4513333), 6e-8);
    near3(y.n, bg_vec3_make(451.1860994, -223.4278918, -26.2404252), 2e-4);
    assert_near(y.delta, 0.02098435785, 6e-12);
    assert_near(y.delta_t, 0.01937429833, 6e-12);
    assert_near(y.N, 5025.960421, 6e-7);
    assert_near(y.V_x, 10.09203698, 6e-9);
    assert_near(y.u, 0.1328494146, 6e-11);
    assert_near(y.F_x, 757.3391087, 6e-8);
    assert_near(y.F_y, 1397.372107, 6e-7);
    assert_near(y.align, -23.80803815, 6e-9);
    const bg_world w = rig_world(&r);
    f->class_->rates(f, &w, h);
    assert_near(h[0], 0.9879401246, 6e-11);
    assert_near(h[1], -2.658793761, 6e-10);
    assert_near(h[2], 0.6790490438, 6e-11);
    rig_apply(&r, f, wrench);
    const bg_vec3 a = bg_add(bg_scale(1 / 7.247, wrench[RING_BODY].f), bg_vec3_make(0, 0, -9.81));
    near3(a, bg_vec3_make(-156.513853, 45.35465495, 95.13406776), 6e-7);
    assert_near(bg_dot(wrench[RIM_BODY].n, e_H) / 0.5862, 569.0087592, 6e-8);
    /* omega' = Q/I_x + (1/I_y - 1/I_x)(Q.e) e,  Q = n - (I_y - I_x)(omega.e) omega x e */
    const double I_x = 0.3519, I_y = 0.5698;
    const bg_vec3 Q = bg_add_scaled(wrench[RING_BODY].n, -(I_y - I_x) * bg_dot(ring->w, e),
                                    bg_cross(ring->w, e));
    const bg_vec3 turned = bg_add_scaled(bg_scale(1 / I_x, Q), (1 / I_y - 1 / I_x) * bg_dot(Q, e),
                                         e);
    near3(turned, bg_vec3_make(178.7780438, -1011.060023, 492.8248292), 2e-4);
    bg_model_destroy(r.model);
}

/* A ring upright at a height, at the speed V with slips. */
static bg_ring_state stand(double height, double V, double s_x, double s_y)
{
    const bg_vec3 e = {0, 1, 0}, r = {0, 0, height}, v = {V, 0, 0};
    return (bg_ring_state){
        .r_H = r, .e_H = e, .v_H = v, .r = r, .e = e, .v = v, .z = {0, s_x, s_y}};
}

/* Slopes, saturation and trail of the brush in closed form. */
static void brushes_meet_closed_forms(void **state)
{
    (void)state;
    static const double a = 0.0684353, c_p[2] = {9261239, 5695994}, mu[2] = {1.0422, 0.8785};
    for (int flat_one = 0; flat_one < 2; flat_one++) {
        force_rig r;
        const bg_force *f = begin(&r, flat, flat_one ? planar : spatial);
        bg_ring_law *const law = flat_one ? bg_ring_calc_planar : bg_ring_calc_spatial;
        bg_ring_values y, dy;
        for (int i = 0; i < (flat_one ? 1 : 2); i++) {
            const double N = 4000, C = 2 * c_p[i] * a * a, full = 3 * mu[i] * N / C, e = 1e-9;
            bg_ring_state x = stand(0.3135 - N / 239068.4, 20, 0, 0), d = {0};
            x.w.y = 20 / 0.304119;
            x.z[BG_RING_SLIP_X + i] = e;
            d.z[BG_RING_SLIP_X + i] = 1;
            law(f, 0, r.mode, &x, &d, &y, &dy);
            assert_near(y.N, N, 1e-8);
            assert_near((i ? y.F_y : y.F_x) / e, C, 1e-4 * C);
            if (i)
                assert_near(-y.align / y.F_y, a / 3, 1e-6 * a);
            /* at rest: a spring 2 a c_p for any slip below full sliding, and no creep */
            for (int k = 0; k < 5; k++) {
                const double u = flat_one ? 0.08 * k : 0.2 * k;
                x = stand(0.3135 - N / 239068.4, 0, 0, 0);
                x.z[BG_RING_SLIP_X + i] = u * full;
                law(f, 0, r.mode, &x, NULL, &y, NULL);
                assert_true(y.h[1] == 0 && y.h[2] == 0);
                assert_near(i ? y.F_y : y.F_x, mu[i] * N * (1 - pow(1 - u, 3)), 1e-8);
                bg_ring_state way = {0};
                way.v = i ? bg_vec3_make(0, 1, 0) : bg_vec3_make(1, 0, 0);
                law(f, 0, r.mode, &x, &way, &y, &dy);
                d.z[BG_RING_SLIP_X + i] = dy.h[BG_RING_SLIP_X + i];
                law(f, 0, r.mode, &x, &d, &y, &dy);
                const double secant = 3 * pow(1 - u, 2) / (3 - 3 * u + u * u);
                const double stiff = 2 * a * c_p[i] * (flat_one ? 1 : secant);
                assert_near(bg_length(dy.f), stiff, 1e-7 * stiff);
                d.z[BG_RING_SLIP_X + i] = 1;
            }
            /* beyond full sliding */
            x.z[BG_RING_SLIP_X + i] = -1.7 * full;
            law(f, 0, r.mode, &x, NULL, &y, NULL);
            assert_near(i ? y.F_y : y.F_x, -mu[i] * N, 1e-9 * N);
            assert_near(y.u, 1.7, 1e-12);
        }
        bg_model_destroy(r.model);
    }
}

/* In full sliding the slip does not wind up: a wheel that spins on the spot has s' = -v_s m s-wise
 * bounded by |s| <= 1, and no slip relaxes faster than the rate that is given. */
static void slip_does_not_wind_up(void **state)
{
    (void)state;
    for (int flat_one = 0; flat_one < 2; flat_one++) {
        force_rig r;
        const bg_force *f = begin(&r, flat, flat_one ? planar : spatial);
        bg_ring_law *const law = flat_one ? bg_ring_calc_planar : bg_ring_calc_spatial;
        bg_ring_values y, dy;
        for (int k = 0; k < 50; k++) {
            bg_ring_state x = stand(0.3, 0, 0, 0), d = {.z = {0, 1, 0}};
            x.w.y = 400 * rig_random(&r);
            x.v.x = k % 2 ? 40 * rig_random(&r) : 0;
            x.z[1] = x.w.y > 0 ? 1 : -1;
            law(f, 0, r.mode, &x, &d, &y, &dy);
            assert_true(y.u > 2 && (x.v.x != 0 || fabs(y.h[1]) <= 1e-9 * fabs(x.w.y)));
            assert_true(dy.h[1] <= 0 && dy.h[1] >= -500 * (1 + 1e-12));
            x.z[1] *= 3; /* whatever it was, it comes back */
            law(f, 0, r.mode, &x, &d, &y, &dy);
            assert_true(y.h[1] * x.z[1] < 0);
        }
        bg_model_destroy(r.model);
    }
}

/* A lifted tyre has no force, whatever its slip, and the slip goes to the one of free rolling. */
static void lifted_tyres_have_no_force(void **state)
{
    (void)state;
    for (int flat_one = 0; flat_one < 2; flat_one++) {
        force_rig r;
        const bg_force *f = begin(&r, flat, flat_one ? planar : spatial);
        bg_ring_law *const law = flat_one ? bg_ring_calc_planar : bg_ring_calc_spatial;
        bg_ring_state x = stand(0.32, 10, 0.02, 0.03);
        bg_ring_values y;
        x.w.y = 10 / 0.304119;
        law(f, 0, r.mode, &x, NULL, &y, NULL);
        assert_true(!y.touches && y.N == 0 && bg_length(y.f) == 0 && bg_length(y.n) == 0);
        assert_true(y.h[1] < 0 && (flat_one || y.h[2] < 0));
        bg_model_destroy(r.model);
    }
}

static void place_at_random(force_rig *r, const bg_force *f, bool upright)
{
    rig_shake(r, upright ? 0 : 0.03);
    bg_body_state *rim = &r->body[RIM_BODY], *ring = &r->body[RING_BODY];
    const double spin = 40 * rig_random(r);
    const bg_vec3 e = bg_axis(&ring->R, 1);
    ring->r = bg_add(ring->r, rig_random_vec3(r, 0.004));
    ring->r.z -= 0.12 * (0.5 + 0.5 * rig_random(r));
    rim->r = bg_add(rim->r, bg_sub(ring->r, rim->r));
    rim->r = bg_add(rim->r, rig_random_vec3(r, 0.004));
    ring->v = bg_add(ring->v, bg_vec3_make(12 * rig_random(r), 0, 0));
    rim->v = bg_add(ring->v, rig_random_vec3(r, 0.3));
    if (upright)
        ring->w = bg_scale(spin, e);
    else
        ring->w = bg_add_scaled(rig_random_vec3(r, 1), spin, e);
    rim->w = f->nz > 3 ? rig_random_vec3(r, 2) : bg_add_scaled(rig_random_vec3(r, 1), spin, e);
    r->z[0] *= 0.01;
    r->z[1] *= 0.2;
    r->z[2] *= 0.2;
    r->z[3] = spin + rig_random(r);
    r->mode[f->mode0] = 1;
}

static const char *const tyres[4] = {spatial, off, planar, planar_off};

static bool is_planar(int k)
{
    return k >= 2;
}

/* Action is reaction. In the plane the moment of the dampers about the rim is left out, as the
 * paper has it; that of the springs is none. */
static void forces_are_balanced(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        force_rig r;
        const bg_force *f = begin(&r, hills, tyres[k]);
        for (int trial = 0; trial < 40; trial++) {
            bg_wrench x[RIG_BODIES];
            bg_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
            double h[4];
            place_at_random(&r, f, is_planar(k));
            const bg_world w = rig_world(&r);
            rig_apply(&r, f, x);
            f->class_->rates(f, &w, h);
            for (int b = 0; b < 3; b++) {
                force = bg_add(force, x[b].f);
                moment = bg_add(moment, bg_add(x[b].n, bg_cross(r.body[b].r, x[b].f)));
            }
            const bg_force *t = f;
            const bg_ring_tyre *s = t->self;
            const bg_vec3 e_H = bg_rotate(&r.body[RIM_BODY].R, s->axis);
            if (s->has_rotor) { /* (I Omega e_H)' */
                moment = bg_add_scaled(moment, s->inertia * h[3], e_H);
                moment = bg_add_scaled(moment, s->inertia * r.z[3],
                                       bg_cross(r.body[RIM_BODY].w, e_H));
            }
            const double size = rig_size(x, 3);
            assert_true(bg_length(force) <= 1e-13 * size);
            if (is_planar(k)) {
                const bg_vec3 r_H = bg_marker_get_position(&w, &s->contact.wheel);
                const bg_vec3 v_H = bg_marker_get_velocity(&w, &s->contact.wheel);
                bg_vec3 d = bg_sub(r.body[RING_BODY].r, r_H),
                        d_t = bg_sub(r.body[RING_BODY].v, v_H);
                const bg_vec3 y = bg_cross(bg_vec3_make(0, 0, 1), s->forward);
                const bg_vec3 F = bg_add(bg_scale(-s->radial.c, d), bg_scale(-s->radial.k, d_t));
                const bg_vec3 in_plane = bg_add_scaled(F, -bg_dot(F, y), y);
                moment = bg_sub(moment, bg_cross(d, in_plane));
            }
            assert_true(bg_length(moment) <= 1e-12 * size);
        }
        bg_model_destroy(r.model);
    }
}

/* Power of the forces on rim, ring and rotor = power that is not conservative - rate of the energy,
 * in random states on hills that move, to 1e-8. */
static void power_is_balanced(void **state)
{
    (void)state;
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, e = 2e-4;
    for (int k = 0; k < 4; k++) {
        force_rig r;
        const bg_force *f = begin(&r, k % 2 ? slope : rough, tyres[k]);
        const bg_ring_tyre *s = f->self;
        for (int trial = 0; trial < 60; trial++) {
            bg_wrench x[RIG_BODIES];
            double h[4] = {0}, U_t = 0, size = 0;
            place_at_random(&r, f, is_planar(k));
            if (trial % 6 == 0)
                r.mode[f->mode0] = 2;
            const bg_world w = rig_world(&r);
            f->class_->rates(f, &w, h);
            rig_apply(&r, f, x);
            double power = 0;
            for (int b = 1; b < 3; b++) {
                const double P = bg_dot(x[b].f, r.body[b].v) + bg_dot(x[b].n, r.body[b].w);
                power += P;
                size += fabs(P);
            }
            if (s->has_rotor)
                power += s->inertia * r.z[3] * h[3];
            for (int i = 0; i < 3; i++) {
                force_rig plus = rig_move(&r, (i + 1) * e), minus = rig_move(&r, -(i + 1) * e);
                for (int j = 0; j < f->nz; j++) {
                    plus.z[j] += (i + 1) * e * h[j];
                    minus.z[j] -= (i + 1) * e * h[j];
                }
                U_t += weight[i] / e *
                       (rig_energy(&plus, f).potential - rig_energy(&minus, f).potential);
            }
            assert_near(power + U_t, rig_energy(&r, f).power, 1e-8 * (size + fabs(U_t)));
        }
        bg_model_destroy(r.model);
    }
}

/* Component 0..11 of a body's pose and twist; of body 0, states. */
static force_rig perturb(const force_rig *r, int body, int component, double e)
{
    force_rig x = *r;
    double d[12] = {0};
    if (body == 0) {
        x.z[component] += e;
        return x;
    }
    d[component] = e;
    bg_body_state *b = &x.body[body];
    const bg_mat3 turn = rig_exp(bg_vec3_load(d + 3));
    b->r = bg_add(b->r, bg_vec3_load(d));
    b->R = bg_mat3_multiply(&turn, &b->R);
    b->v = bg_add(b->v, bg_vec3_load(d + 6));
    b->w = bg_add(b->w, bg_vec3_load(d + 9));
    return x;
}

enum { ROWS = 16 };

static void differences(const force_rig *r, const bg_force *f, int body, int component, double part,
                        double out[ROWS])
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    const double h = part * (body == 0 ? 1e-6 : component < 6 ? 1e-5 : 2e-4);
    memset(out, 0, ROWS * sizeof *out);
    for (int i = -3; i <= 3; i++) {
        if (i == 0)
            continue;
        bg_wrench wrench[RIG_BODIES];
        double y[ROWS] = {0};
        const force_rig x = perturb(r, body, component, i * h);
        const bg_world w = rig_world(&x);
        rig_apply(&x, f, wrench);
        memcpy(y, wrench + 1, 12 * sizeof *y);
        f->class_->rates(f, &w, y + 12);
        for (int k = 0; k < ROWS; k++)
            out[k] += (i > 0 ? 1 : -1) * weight[abs(i) - 1] / h * y[k];
    }
}

static void collect(const bg_force_derivatives *d, int body, int component, double out[ROWS])
{
    for (int k = 0; k < ROWS; k++) {
        const int row = k < 12 ? k : k - 12, column = 6 * (body - 1) + component % 6;
        if (body == 0)
            out[k] = k < 12 ? d->wrench_z[row][component] : d->h_z[row][component];
        else if (component < 6)
            out[k] = k < 12 ? d->wrench_pose[row][column] : d->h_pose[row][column];
        else
            out[k] = k < 12 ? d->wrench_twist[row][column] : d->h_twist[row][column];
    }
}

/* Whether only a corner of the law, between sticking and sliding, lies within the differences:
 * those of a 64th of the step agree. */
static bool is_beside_corner(const force_rig *r, const bg_force *f, int c, int row, double a,
                             double size)
{
    double b[ROWS];
    differences(r, f, c < 24 ? 1 + c / 12 : 0, c < 24 ? c % 12 : c - 24, 1.0 / 64, b);
    return fabs(a - b[row]) <= 3e-7 * (1 + size);
}

/* All columns at random states: sticking, sliding, lifted and all but at rest. Each row is judged
 * on its own scale. */
static void derivatives_match_differences(void **state)
{
    (void)state;
    int sliding = 0, sticking = 0;
    for (int run = 0; run < 8; run++) {
        const int k = run % 4;
        force_rig r;
        const bg_force *f = begin(&r, run < 4 ? hills : rough, tyres[k]);
        for (int trial = 0; trial < 40; trial++) {
            static bg_force_derivatives d;
            double a[28][ROWS], b[28][ROWS], size[ROWS] = {0};
            place_at_random(&r, f, is_planar(k));
            const double fill = trial % 2 ? 0.05 : 10;
            r.z[1] *= fill, r.z[2] *= fill;
            if (trial % 5 == 0)
                r.mode[f->mode0] = 2;
            if (trial % 7 == 0)
                r.body[RING_BODY].v.x = -7 + 0.02 * rig_random(&r);
            const bg_world w = rig_world(&r);
            memset(&d, 0x7f, sizeof d); /* must not need clearing */
            f->class_->derivatives(f, &w, &d);
            assert_true(d.nbodies >= 2 && d.body[0] == RIM_BODY && d.body[1] == RING_BODY);
            for (int c = 0; c < 24 + f->nz; c++) {
                const int body = c < 24 ? 1 + c / 12 : 0, component = c < 24 ? c % 12 : c - 24;
                collect(&d, body, component, a[c]);
                differences(&r, f, body, component, 1, b[c]);
                for (int i = 0; i < 12 + f->nz; i++)
                    size[i] = fmax(size[i], fabs(b[c][i]));
            }
            for (int c = 0; c < 24 + f->nz; c++)
                for (int i = 0; i < 12 + f->nz; i++)
                    if (!(fabs(a[c][i] - b[c][i]) <= 3e-7 * (1 + size[i])) &&
                        !is_beside_corner(&r, f, c, i, a[c][i], size[i]))
                        fail_msg("tyre %d, trial %d: row %d by %d is %.12g, not %.12g", k, trial, i,
                                 c, a[c][i], b[c][i]);
            const double used = hypot(rig_sensor(&r, f, "longitudinal") / 1.0422,
                                      rig_sensor(&r, f, "lateral") / 0.8785);
            const bool slides = used > 0.999999 * rig_sensor(&r, f, "force") && used > 0;
            sliding += slides;
            sticking += !slides;
        }
        bg_model_destroy(r.model);
    }
    assert_true(sliding > 10 && sticking > 10);
}

static void refused(const char *what, const char *with, const char *message)
{
    char text[4096];
    bg_model *model = NULL;
    bg_error err = {BG_OK, ""};
    snprintf(text, sizeof text, "%s%s%s", head, flat, spatial);
    char *place = strstr(text, what);
    assert_non_null(place);
    char rest[4096];
    snprintf(rest, sizeof rest, "%s", place + strlen(what));
    snprintf(place, sizeof text - (size_t)(place - text), "%s%s", with, rest);
    char *copy = rig_quote(text);
    const bg_status status = bg_model_parse(copy, "test", NULL, 0, &model, &err);
    free(copy);
    if (status != BG_BAD_INPUT || !strstr(err.text, message))
        fail_msg("%s gives %d: %s", with, status, err.text);
    bg_model_destroy(model);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    refused("'mass': 7.247", "'mass': -7", "tyres.t.ring.mass: must be positive");
    refused("'mass': 7.247", "'weight': 7", "tyres.t.ring.weight: is not a known key");
    refused("'polar': 0.5698", "'polar': 1.5", "tyres.t.ring.polar: must not be above twice");
    refused("'polar': 0.5698", "'polar': 0", "tyres.t.ring.polar: must be positive");
    refused("'radial': [1703786, 393.5543]", "'radial': [-1, 2]",
            "tyres.t.sidewall.radial[0]: a stiffness must be positive");
    refused("'radial': [1703786, 393.5543]", "'radial': [1, -2]",
            "tyres.t.sidewall.radial[1]: a damping must not be negative");
    refused("'radial': [1703786, 393.5543], ", "", "tyres.t.sidewall.radial: is missing");
    refused("'effective_radius': 0.304119", "'effective_radius': 0.4",
            "tyres.t.effective_radius: must not be above 'radius'");
    refused("'half_length': 0.0684353", "'half_length': 0.5",
            "tyres.t.half_length: must be less than 'radius'");
    refused("'friction': [1.0422, 0.8785]", "'friction': [1.0422, 0]",
            "tyres.t.friction[1]: must be positive");
    refused("'friction': [1.0422, 0.8785]", "'friction': 1", "tyres.t.friction: must be a list");
    refused("'wheel': 'rim'", "'wheel': 'rin'", "did you mean 'rim'");
    refused("'wheel': 'rim'", "'wheel': 'ground'", "tyres.t.wheel");
    refused("'wheel': 'rim'", "'wheel': 't.ring'", "tyres.t.wheel: is the ring of a tyre");
    refused("'wheel': 'rim'", "'wheel': 'rim', 'axis': [0, 0, 1]", "tyres.t.axis");
    refused("'wheel': 'rim'", "'wheel': 'rim', 'rotor': {'inertia': -1}",
            "tyres.t.rotor.inertia: must be positive");
    refused("'wheel': 'rim'", "'wheel': 'rim', 'rate': 0", "tyres.t.rate: must be positive");
    refused("'rim': {'mass': 13.053", "'t.ring': {'mass': 13.053", "must not have any of");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_state_has_known_forces),
        cmocka_unit_test(brushes_meet_closed_forms),
        cmocka_unit_test(slip_does_not_wind_up),
        cmocka_unit_test(lifted_tyres_have_no_force),
        cmocka_unit_test(forces_are_balanced),
        cmocka_unit_test(power_is_balanced),
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Constraint rows and measured coordinates: every Jacobian against differences of g, every gamma
 * against differences of J . twist, along motions with constant twists; derivatives of forces and
 * of gamma against differences of these, by every body. */
#include "model/primitive.h"
#include "random_mechanism.h"
#include "run_support.h"

enum { BODIES = 4, TRIALS = 200 };

typedef struct scene {
    bg_body_state body[BODIES];
    double u[1], u_t[1], u_tt[1], z[1];
} scene;

static bg_mat3 turn(bg_vec3 a)
{
    double angle = bg_length(a);
    return angle > 0 ? bg_rotation_about(bg_scale(1 / angle, a), angle) : bg_mat3_identity();
}

static scene make_scene(uint64_t *seed)
{
    scene s = {.body[0].R = bg_mat3_identity()};
    for (int k = 1; k < BODIES; k++) {
        s.body[k].r = random_vec3(seed, 1);
        s.body[k].R = turn(random_vec3(seed, 2));
        s.body[k].v = random_vec3(seed, 2);
        s.body[k].w = random_vec3(seed, 2);
    }
    s.u[0] = random_between(seed, -1, 1);
    s.u_t[0] = random_between(seed, -1, 1);
    s.u_tt[0] = random_between(seed, -1, 1);
    return s;
}

/* A time h later. */
static scene move(const scene *s, double h)
{
    scene x = *s;
    for (int k = 1; k < BODIES; k++) {
        bg_mat3 R = turn(bg_scale(h, s->body[k].w));
        x.body[k].r = bg_add_scaled(s->body[k].r, h, s->body[k].v);
        x.body[k].R = bg_mat3_multiply(&R, &s->body[k].R);
    }
    x.u[0] = s->u[0] + h * s->u_t[0] + 0.5 * h * h * s->u_tt[0];
    x.u_t[0] = s->u_t[0] + h * s->u_tt[0];
    return x;
}

static bg_world get_world(const scene *s)
{
    return (bg_world){.body = s->body, .u = s->u, .u_t = s->u_t, .u_tt = s->u_tt, .z = s->z};
}

static bg_marker make_marker(uint64_t *seed, int body)
{
    return (bg_marker){body, {random_vec3(seed, 0.5), turn(random_vec3(seed, 2))}};
}

static bg_coordinate make_coordinate(uint64_t *seed, bg_coordinate_kind kind, int axis)
{
    int a = random_below(seed, BODIES), b = (a + 1 + random_below(seed, BODIES - 1)) % BODIES;
    bg_marker at_a = make_marker(seed, a), at_b = make_marker(seed, b);
    return (bg_coordinate){.kind = kind,
                           .axis = axis,
                           .back = random_chance(seed, 0.5),
                           .a = at_a,
                           .b = at_b,
                           .turns = -1};
}

static bg_primitive make_primitive(uint64_t *seed, bg_primitive_kind kind)
{
    bg_coordinate pair = make_coordinate(seed, BG_COORDINATE_SLIDE, 0);
    bg_primitive p = {.kind = kind, .a = pair.a, .b = pair.b, .length = 0.7, .signal = -1};
    p.axes = p.b.frame.R; /* any */
    p.i = random_below(seed, 3);
    p.j = random_below(seed, 3);
    if (kind != BG_PRIMITIVE_RELATION)
        return p;
    p.n = 1 + random_below(seed, BG_RELATION_MAX);
    p.offset = 0.3;
    p.signal = random_chance(seed, 0.5) ? 0 : -1;
    for (int k = 0; k < p.n; k++) {
        bg_coordinate_kind c = (bg_coordinate_kind)random_below(seed, 3);
        p.coordinate[k] = make_coordinate(seed, c, random_below(seed, 3));
        p.factor[k] = random_between(seed, -2, 2);
    }
    return p;
}

/* J . twist (+ time derivative of the signal) of all rows: their rates. */
static void calc_rates(const scene *s, const bg_primitive *p, double w[3])
{
    double J[36];
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    bg_world world = get_world(s);
    bg_primitive_calc_jacobian(&world, p, J);
    w[0] = w[1] = w[2] = 0;
    for (int k = 0; k < (relation ? p->n : bg_primitive_get_rows(p)); k++) {
        const bg_body_state *a = &s->body[relation ? p->coordinate[k].a.body : p->a.body];
        const bg_body_state *b = &s->body[relation ? p->coordinate[k].b.body : p->b.body];
        const double *row = J + 12 * k;
        w[relation ? 0 : k] += bg_dot(bg_vec3_load(row), a->v) +
                               bg_dot(bg_vec3_load(row + 3), a->w) +
                               bg_dot(bg_vec3_load(row + 6), b->v) +
                               bg_dot(bg_vec3_load(row + 9), b->w);
    }
    if (relation && p->signal >= 0)
        w[0] -= s->u_t[p->signal];
}

/* (F(h) - F(-h)) / 2h, extrapolated from h and 2h. */
static void differentiate(double near[2][3], double far[2][3], double h, double d[3])
{
    for (int i = 0; i < 3; i++)
        d[i] = (8 * (near[1][i] - near[0][i]) - (far[1][i] - far[0][i])) / (12 * h);
}

/* True where some angle of the primitive is ill-defined (its pointer is along the axis) or near the
 * seam of atan2: differences mean nothing there. */
static bool is_delicate(const bg_world *w, const bg_primitive *p)
{
    for (int k = 0; k < p->n; k++) {
        const bg_coordinate *c = &p->coordinate[k];
        if (c->kind == BG_COORDINATE_SLIDE)
            continue;
        bg_mat3 A = bg_marker_get_axes(w, &c->a), B = bg_marker_get_axes(w, &c->b);
        double along = bg_dot(bg_axis(&A, 2), bg_axis(&B, 0));
        if (fabs(along) > 0.9 || fabs(bg_coordinate_calc(w, c)) > 3)
            return true;
    }
    return false;
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const names[] = {"point", "dot1", "dot2", "distance", "relation"};
    const double h = 1e-3;
    uint64_t seed = 11;
    for (int kind = BG_PRIMITIVE_POINT; kind <= BG_PRIMITIVE_RELATION; kind++) {
        double worst_J = 0, worst_gamma = 0, scale_J = 0, scale_gamma = 0;
        int done = 0;
        while (done < TRIALS) {
            scene s = make_scene(&seed);
            bg_primitive p = make_primitive(&seed, (bg_primitive_kind)kind);
            bg_world w = get_world(&s);
            double g[2][2][3] = {0}, rate[2][2][3], J[3], gamma[3] = {0}, d[3];
            if (is_delicate(&w, &p))
                continue;
            done++;
            for (int far = 0; far < 2; far++)
                for (int side = 0; side < 2; side++) {
                    scene x = move(&s, (side ? 1 : -1) * (far ? 2 : 1) * h);
                    w = get_world(&x);
                    bg_primitive_calc(&w, &p, g[far][side]);
                    calc_rates(&x, &p, rate[far][side]);
                }
            w = get_world(&s);
            calc_rates(&s, &p, J);
            bg_primitive_calc_gamma(&w, &p, gamma);
            differentiate(g[0], g[1], h, d);
            for (int i = 0; i < bg_primitive_get_rows(&p); i++) {
                worst_J = fmax(worst_J, fabs(J[i] - d[i]) / (1 + fabs(J[i])));
                scale_J = fmax(scale_J, fabs(J[i]));
            }
            differentiate(rate[0], rate[1], h, d);
            for (int i = 0; i < bg_primitive_get_rows(&p); i++) {
                worst_gamma = fmax(worst_gamma, fabs(gamma[i] - d[i]) / (1 + fabs(gamma[i])));
                scale_gamma = fmax(scale_gamma, fabs(gamma[i]));
            }
        }
        print_message("%-8s J to %.1e, gamma to %.1e\n", names[kind], worst_J, worst_gamma);
        assert_true(scale_J > 1 && scale_gamma > 1);
        assert_true(worst_J < 1e-7); /* h^4 times a fifth derivative */
        assert_true(worst_gamma < 1e-6);
    }
}

enum { ALL = 6 * BODIES };

/* What is differenced: J^T lambda, J . twist and gamma. */
typedef struct primitive_probe {
    double force[ALL], rate[3], gamma[3];
} primitive_probe;

/* Their derivatives. In K, K_row (of a unit lambda in each row), by_pose and by_twist what the
 * blocks of a primitive say is gathered by bodies. */
typedef struct derivatives {
    double K[ALL][ALL], K_row[3][ALL][ALL], by_pose[3][ALL], by_twist[3][ALL];
} derivatives;

static int count_blocks(const bg_primitive *p)
{
    return p->kind == BG_PRIMITIVE_RELATION ? p->n : 1;
}

/* Where the entry i of 12 of a block goes. */
static int get_place(const bg_primitive *p, int block, int i)
{
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    const bg_marker *a = relation ? &p->coordinate[block].a : &p->a;
    const bg_marker *b = relation ? &p->coordinate[block].b : &p->b;
    return i < 6 ? 6 * a->body + i : 6 * b->body + i - 6;
}

static primitive_probe make_probe(const scene *s, const bg_primitive *p, const double lambda[3])
{
    primitive_probe x = {0};
    double J[36];
    bg_world w = get_world(s);
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    bg_primitive_calc_jacobian(&w, p, J);
    for (int k = 0; k < (relation ? p->n : bg_primitive_get_rows(p)); k++)
        for (int i = 0; i < 12; i++)
            x.force[get_place(p, relation ? k : 0, i)] += J[12 * k + i] * lambda[relation ? 0 : k];
    calc_rates(s, p, x.rate);
    bg_primitive_calc_gamma(&w, p, x.gamma);
    return x;
}

static void gather_stiffness(const bg_world *w, const bg_primitive *p, const double lambda[3],
                             double out[ALL][ALL])
{
    double K[BG_RELATION_MAX][12][12];
    bg_primitive_calc_stiffness(w, p, lambda, K);
    for (int k = 0; k < count_blocks(p); k++)
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++)
                out[get_place(p, k, i)][get_place(p, k, j)] += K[k][i][j];
}

static derivatives calc_derivatives(const scene *s, const bg_primitive *p, const double lambda[3])
{
    const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    derivatives x = {0};
    double by_pose[3][12], by_twist[3][12];
    bg_world w = get_world(s);
    bool relation = p->kind == BG_PRIMITIVE_RELATION;
    gather_stiffness(&w, p, lambda, x.K);
    for (int row = 0; row < bg_primitive_get_rows(p); row++)
        gather_stiffness(&w, p, unit[row], x.K_row[row]);
    bg_primitive_calc_gamma_derivatives(&w, p, by_pose, by_twist);
    for (int k = 0; k < (relation ? p->n : bg_primitive_get_rows(p)); k++)
        for (int i = 0; i < 12; i++) {
            int place = get_place(p, relation ? k : 0, i);
            x.by_pose[relation ? 0 : k][place] += by_pose[k][i];
            x.by_twist[relation ? 0 : k][place] += by_twist[k][i];
        }
    return x;
}

/* The scene with entry j of all poses (twists) moved by h. */
static scene vary(const scene *s, int j, bool twist, double h)
{
    scene x = *s;
    bg_body_state *body = &x.body[j / 6];
    double step[6] = {0};
    step[j % 6] = h;
    bg_vec3 first = bg_vec3_load(step), second = bg_vec3_load(step + 3);
    if (twist) {
        body->v = bg_add(body->v, first);
        body->w = bg_add(body->w, second);
        return x;
    }
    bg_mat3 R = turn(second);
    body->r = bg_add(body->r, first);
    body->R = bg_mat3_multiply(&R, &body->R);
    return x;
}

/* Column j of the derivatives by differences over h and 2 h. */
static primitive_probe differentiate_probe(const scene *s, const bg_primitive *p,
                                           const double lambda[3], int j, bool twist)
{
    const double h = 5e-4, factor[4] = {1, -8, 8, -1};
    primitive_probe d = {0};
    for (int k = 0; k < 4; k++) {
        scene moved = vary(s, j, twist, (k < 2 ? k - 2 : k - 1) * h);
        primitive_probe x = make_probe(&moved, p, lambda);
        for (int i = 0; i < ALL; i++)
            d.force[i] += factor[k] * x.force[i] / (12 * h);
        for (int i = 0; i < 3; i++) {
            d.rate[i] += factor[k] * x.rate[i] / (12 * h);
            d.gamma[i] += factor[k] * x.gamma[i] / (12 * h);
        }
    }
    return d;
}

/* The largest error and the largest value of each quantity. */
typedef enum primitive_quantity {
    FORCE,
    RATE,
    GAMMA_POSE,
    GAMMA_TWIST,
    GAMMA,
    QUANTITIES
} primitive_quantity;

typedef struct primitive_comparison {
    double error[QUANTITIES], size[QUANTITIES];
} primitive_comparison;

static void compare(primitive_comparison *c, primitive_quantity k, double value, double expected)
{
    c->error[k] = fmax(c->error[k], fabs(value - expected));
    c->size[k] = fmax(c->size[k], fabs(expected));
}

static primitive_comparison compare_derivatives(const scene *s, const bg_primitive *p)
{
    const double lambda[3] = {1.3, -0.6, 0.8};
    primitive_comparison c = {0};
    derivatives x = calc_derivatives(s, p, lambda);
    int rows = bg_primitive_get_rows(p);
    double nu[ALL], along[3][ALL] = {0};
    for (int k = 0; k < BODIES; k++) {
        bg_vec3_store(s->body[k].v, nu + 6 * k);
        bg_vec3_store(s->body[k].w, nu + 6 * k + 3);
    }
    for (int j = 0; j < ALL; j++) {
        primitive_probe by_pose = differentiate_probe(s, p, lambda, j, false);
        primitive_probe by_twist = differentiate_probe(s, p, lambda, j, true);
        for (int i = 0; i < ALL; i++)
            compare(&c, FORCE, x.K[i][j], by_pose.force[i]);
        for (int row = 0; row < rows; row++) {
            for (int i = 0; i < ALL; i++) /* d (J nu) = nu^T K */
                along[row][j] += nu[i] * x.K_row[row][i][j];
            compare(&c, RATE, along[row][j], by_pose.rate[row]);
            compare(&c, GAMMA_POSE, x.by_pose[row][j], by_pose.gamma[row]);
            compare(&c, GAMMA_TWIST, x.by_twist[row][j], by_twist.gamma[row]);
        }
    }
    /* Along the motion itself no differences are needed: gamma = nu^T K nu. */
    primitive_probe here = make_probe(s, p, lambda);
    for (int row = 0; row < rows; row++) {
        double gamma = p->signal >= 0 ? -s->u_tt[p->signal] : 0, size = 0;
        for (int j = 0; j < ALL; j++) {
            gamma += along[row][j] * nu[j];
            size += fabs(along[row][j] * nu[j]);
        }
        compare(&c, GAMMA, gamma, here.gamma[row]);
        c.size[GAMMA] = fmax(c.size[GAMMA], size);
    }
    return c;
}

static void test_derivatives(void **state)
{
    (void)state;
    static const char *const names[] = {"point", "dot1",  "dot2",   "distance",
                                        "slide", "angle", "second", "relation"};
    uint64_t seed = 17;
    for (int kind = 0; kind < 8; kind++) {
        double worst[QUANTITIES] = {0};
        for (int done = 0; done < TRIALS / 2;) {
            scene s = make_scene(&seed);
            bg_primitive p = make_primitive(&seed, kind < 4 ? (bg_primitive_kind)kind
                                                            : BG_PRIMITIVE_RELATION);
            bg_world w = get_world(&s);
            for (int k = 0; k < p.n && kind < 7; k++)
                p.coordinate[k].kind = kind == 4   ? BG_COORDINATE_SLIDE
                                       : kind == 5 ? BG_COORDINATE_ANGLE_Z
                                                   : BG_COORDINATE_ANGLE_X;
            if (is_delicate(&w, &p))
                continue;
            for (int k = 0; k < p.n; k++) /* turns count for the angle alone */
                p.coordinate[k].turns = done % 2 - 1;
            s.z[0] = random_between(&seed, -20, 20);
            primitive_comparison c = compare_derivatives(&s, &p);
            for (int k = 0; k < QUANTITIES; k++) {
                assert_true(c.size[k] > 1e-3);
                worst[k] = fmax(worst[k], c.error[k] / c.size[k]);
            }
            done++;
        }
        print_message("%-8s force to %.1e, rate to %.1e, gamma by poses to %.1e, by twists to %.1e;"
                      " gamma = nu K nu to %.1e\n",
                      names[kind], worst[FORCE], worst[RATE], worst[GAMMA_POSE], worst[GAMMA_TWIST],
                      worst[GAMMA]);
        for (int k = 0; k < GAMMA; k++)
            assert_true(worst[k] < 1e-7);
        assert_true(worst[GAMMA] < 1e-13);
    }
}

/* Bodies 1 and 2 in a joint of given coordinates: frame_b = frame_a Rz(angle) Rx(second), or
 * frame_a Rz(angle) Tz(slide), with rates. */
static scene make_joint(uint64_t *seed, const bg_marker *a, const bg_marker *b, const double x[3],
                        const double x_t[3])
{
    scene s = make_scene(seed);
    const bg_vec3 ez = {0, 0, 1}, ex = {1, 0, 0};
    bg_frame body_a = {s.body[1].r, s.body[1].R}, at_a = bg_frame_multiply(&body_a, &a->frame);
    bg_frame Tz = {bg_scale(x[2], ez), bg_rotation_about(ez, x[0])};
    bg_frame Tx = {{0, 0, 0}, bg_rotation_about(ex, x[1])};
    bg_frame moved = bg_frame_multiply(&at_a, &Tz), at_b = bg_frame_multiply(&moved, &Tx);
    bg_frame back = bg_frame_inverse(&b->frame), body_b = bg_frame_multiply(&at_b, &back);
    bg_vec3 z_a = bg_axis(&at_a.R, 2), x_b = bg_axis(&at_b.R, 0);
    s.body[2].r = body_b.r;
    s.body[2].R = body_b.R;
    s.body[2].w = bg_add(s.body[1].w, bg_add(bg_scale(x_t[0], z_a), bg_scale(x_t[1], x_b)));
    /* marker b moves with body a, and along z_a */
    bg_vec3 v = bg_add(s.body[1].v, bg_cross(s.body[1].w, bg_sub(at_b.r, s.body[1].r)));
    v = bg_add_scaled(v, x_t[2], z_a);
    s.body[2].v = bg_sub(v, bg_cross(s.body[2].w, bg_sub(at_b.r, body_b.r)));
    return s;
}

static void test_coordinates(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double worst = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        bg_marker a = make_marker(&seed, 1), b = make_marker(&seed, 2);
        double x[3], x_t[3];
        for (int i = 0; i < 3; i++) {
            x[i] = random_between(&seed, -3.1, 3.1);
            x_t[i] = random_between(&seed, -2, 2);
        }
        scene s = make_joint(&seed, &a, &b, x, x_t);
        bg_world w = get_world(&s);
        const bg_coordinate c[3] = {
            {.kind = BG_COORDINATE_ANGLE_Z, .axis = 0, .a = a, .b = b, .turns = -1},
            {.kind = BG_COORDINATE_ANGLE_X, .axis = 0, .a = a, .b = b, .turns = -1},
            {.kind = BG_COORDINATE_SLIDE, .axis = 2, .a = a, .b = b, .turns = -1}};
        for (int i = 0; i < 3; i++) {
            worst = fmax(worst, fabs(bg_coordinate_calc(&w, &c[i]) - x[i]));
            worst = fmax(worst, fabs(bg_coordinate_calc_rate(&w, &c[i]) - x_t[i]));
        }
    }
    print_message("coordinates and rates to %.1e\n", worst);
    assert_true(worst < 1e-13);
}

/* A state that is near the angle tells the turns apart, up to half a turn away. */
static void test_turns(void **state)
{
    (void)state;
    uint64_t seed = 3;
    bg_marker a = make_marker(&seed, 1), b = make_marker(&seed, 2);
    for (int kind = 0; kind < 2; kind++)
        for (int k = -40; k <= 40; k++) {
            double angle = 0.37 * k, x[3] = {0}, x_t[3] = {0};
            x[kind] = angle;
            scene s = make_joint(&seed, &a, &b, x, x_t);
            bg_world w = get_world(&s);
            bg_coordinate c = {
                .kind = kind == 0 ? BG_COORDINATE_ANGLE_Z : BG_COORDINATE_ANGLE_X, .a = a, .b = b};
            for (int side = -1; side <= 1; side++) {
                s.z[0] = angle + 3.1 * side;
                assert_true(fabs(bg_coordinate_calc(&w, &c) - angle) < 1e-13);
            }
            s.z[0] = angle + 3.2; /* the next turn */
            assert_true(fabs(bg_coordinate_calc(&w, &c) - angle - 2 * M_PI) < 1e-13);
        }
}

/* The rows vanish where they should. */
static void test_values(void **state)
{
    (void)state;
    uint64_t seed = 9;
    bg_marker a = make_marker(&seed, 1), b = make_marker(&seed, 2);
    const double x[3] = {0.4, 0.9, 0.25}, x_t[3] = {0};
    scene s = make_joint(&seed, &a, &b, x, x_t);
    bg_world w = get_world(&s);
    double g[3];
    bg_primitive p = {.kind = BG_PRIMITIVE_DOT1, .a = a, .b = b, .i = 2, .j = 0, .signal = -1};
    bg_primitive_calc(&w, &p, g); /* z_a . x_b of a universal joint */
    assert_true(fabs(g[0]) < 1e-15);
    p.j = 2;
    bg_primitive_calc(&w, &p, g);
    assert_true(fabs(g[0] - cos(0.9)) < 1e-15);
    p.kind = BG_PRIMITIVE_DOT2;
    bg_primitive_calc(&w, &p, g);
    assert_true(fabs(g[0] - 0.25) < 1e-15);
    p.kind = BG_PRIMITIVE_POINT;
    p.axes = b.frame.R;
    bg_primitive_calc(&w, &p, g);
    assert_true(fabs(bg_length(bg_vec3_load(g)) - 0.25) < 1e-15);
    p.kind = BG_PRIMITIVE_DISTANCE;
    p.length = 0.2;
    bg_primitive_calc(&w, &p, g);
    assert_true(fabs(g[0] - (0.25 * 0.25 - 0.04) / 0.4) < 1e-15);
    p = (bg_primitive){
        .kind = BG_PRIMITIVE_RELATION,
        .n = 2,
        .coordinate = {{.kind = BG_COORDINATE_ANGLE_Z, .axis = 0, .a = a, .b = b, .turns = -1},
                       {.kind = BG_COORDINATE_SLIDE, .axis = 2, .a = a, .b = b, .turns = -1}},
        .factor = {3, -2},
        .offset = 0.1,
        .signal = 0};
    bg_primitive_calc(&w, &p, g);
    assert_true(fabs(g[0] - (3 * 0.4 - 2 * 0.25 - 0.1 - s.u[0])) < 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_derivatives),
                                       cmocka_unit_test(test_coordinates),
                                       cmocka_unit_test(test_turns), cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

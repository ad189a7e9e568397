/* Force elements on bodies in random positions and motion: action and reaction, power, laws against
 * formulas, states, derivatives against differences, and what is refused. */
#include "force_rig.h"

/* Every element that acts between bodies, with unequal numbers everywhere. */
static const char everything[] =
    "{'parameters': {'k': '3*kN/m'},"
    " 'inputs': {'drive': 0.4, 'gain': {'type': 'sine', 'amplitude': 2, 'frequency': 1}},"
    " 'bodies': {"
    "  'a': {'mass': 1, 'center': [0.1, 0.2, 0.3], 'inertia': [1, 1, 1],"
    "        'orientation': {'rpy': [0.3, -0.2, 0.5]}, 'points': {'p': [0.5, 0.1, 0.2]}},"
    "  'b': {'mass': 1, 'center': [1.1, -0.2, 0.6], 'inertia': [1, 1, 1],"
    "        'orientation': {'rpy': [-0.4, 0.1, 0.9]}, 'points': {'p': [0.9, 0.6, 1.2]}},"
    "  'c': {'mass': 1, 'center': [-0.8, 0.5, 0.7], 'inertia': [1, 1, 1]}},"
    " 'joints': {"
    "  'hinge': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': [0.6, 0, 0.4], 'axis': [1, 2, 3]},"
    "  'cross': {'type': 'universal', 'bodies': ['b', 'c'], 'at': [0.1, 0, 0.9], 'axis': [0, 0, 1],"
    "            'second': [0, 1, 0]},"
    "  'guide': {'type': 'prismatic', 'bodies': ['a', 'c'], 'at': [0.3, 0.3, 0.3],"
    "            'axis': [2, -1, 1]}},"
    " 'forces': {"
    "  'linear': {'type': 'spring-damper', 'from': 'a.p', 'to': 'b.p', 'stiffness': 'k',"
    "             'damping': 70, 'free_length': 0.4},"
    "  'law': {'type': 'spring-damper', 'from': 'a.p', 'to': 'b.p', 'free_length': 0.4,"
    "          'force': 'k*stretch + 70*rate'},"
    "  'driven': {'type': 'spring-damper', 'from': 'a', 'to': 'ground', 'stiffness': 100,"
    "             'actuator': '5*drive*length + gain*rate^2 - stretch*sin(t)'},"
    "  'table': {'type': 'spring-damper', 'from': 'c', 'to': 'b.p', 'free_length': 1.5,"
    "            'stiffness_table': [[-0.5, -900], [-0.1, -100], [0.2, 150], [0.6, 1200]],"
    "            'damping_table': [[-1, -50], [0, 0], [0.5, 80]]},"
    "  'corners': {'type': 'spring-damper', 'from': 'c', 'to': 'b.p', 'free_length': 1.5,"
    "            'stiffness_table': [[-0.5, -900], [-0.1, -100], [0.2, 150], [0.6, 1200]],"
    "            'interpolation': 'linear'},"
    "  'twist': {'type': 'torsion', 'joint': 'hinge', 'stiffness': 40, 'damping': 3,"
    "            'free_angle': 0.2},"
    "  'twist_law': {'type': 'torsion', 'joint': 'hinge', 'torque': '-40*(angle-0.2) - 3*rate'},"
    "  'twist_z': {'type': 'torsion', 'joint': 'cross', 'coordinate': 'angle', 'stiffness': 15,"
    "              'torque': 'drive*angle^2 + gain*rate', 'turns': true},"
    "  'twist_x': {'type': 'torsion', 'joint': 'cross', 'coordinate': 'second', 'stiffness': 25,"
    "              'damping': 2},"
    "  'slide': {'type': 'torsion', 'joint': 'guide', 'stiffness': 55, 'damping': 4,"
    "            'torque': 'drive*angle*rate'},"
    "  'rubber': {'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0.6, 0, 0.4],"
    "             'orientation': {'axis': [1, 1, 0], 'angle': 0.7},"
    "             'stiffness': [100, 200, 400, 11, 22, 44], 'damping': [1, 2, 4, 0.1, 0.2, 0.4]},"
    "  'bar': {'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0.6, 0, 0.4],"
    "          'orientation': {'axis': [1, 1, 0], 'angle': 0.7}, 'stiffness': [0, 90, 30, 0, 0, "
    "0]},"
    "  'hinge_pid': {'type': 'controller', 'input': {'joint': 'hinge', 'turns': true},"
    "                'reference': 'drive + 0.1*gain', 'kp': 30, 'ki': 7, 'kd': 2,"
    "                'output': {'joint': 'guide'}},"
    "  'height_pid': {'type': 'controller', 'input': {'position': 'c', 'component': 'z'},"
    "                 'reference': 'gain', 'kp': 30, 'ki': 7, 'kd': 2, 'filter': 0.05,"
    "                 'output': {'joint': 'cross', 'coordinate': 'second'}},"
    "  'speed_p': {'type': 'controller', 'input': {'velocity': 'b.p', 'component': 'y'},"
    "              'reference': 1.5, 'kp': 12, 'output': {'joint': 'hinge'}},"
    "  'forward': {'type': 'controller', 'input': {'velocity': 'b.p', 'component': 'x', 'axes':"
    "              'body'}, 'reference': 'gain', 'kp': 12, 'ki': 3, 'output': {'joint': 'hinge'}},"
    "  'rate_lag': {'type': 'controller', 'input': {'joint': 'guide', 'rate': true}, 'kp': 12,"
    "               'kd': 1, 'filter': 0.1, 'output': {'joint': 'guide'}},"
    "  'thrust': {'type': 'force', 'at': 'b.p', 'force': [3, 'drive*5', '-2*t']},"
    "  'jet': {'type': 'force', 'at': 'b.p', 'force': [3, 'drive*5', '-2*t'], 'axes': 'body'},"
    "  'motor': {'type': 'torque', 'body': 'c', 'torque': ['gain', 2, 1]},"
    "  'wheel_motor': {'type': 'torque', 'body': 'a', 'torque': ['gain', 2, 1], 'axes': 'body'},";

/* Stops, friction and contact. */
static const char stops[] =
    "  'end': {'type': 'limit', 'joint': 'hinge', 'upper': -2, 'lower': -3, 'stiffness': 40,"
    "          'damping': 3, 'turns': true},"
    "  'end_x': {'type': 'limit', 'joint': 'cross', 'coordinate': 'second', 'lower': 2,"
    "            'stiffness': 25, 'damping': 2, 'exponent': 1.5},"
    "  'end_slide': {'type': 'limit', 'joint': 'guide', 'upper': -3, 'stiffness': 30,"
    "                'damping': 4, 'exponent': 3},"
    "  'rub': {'type': 'friction', 'joint': 'hinge', 'coulomb': 5, 'viscous': 3,"
    "          'deflection': 0.3, 'static': 1.2, 'damping': 0.1},"
    "  'rub_slide': {'type': 'friction', 'joint': 'guide', 'coulomb': '7 + drive', 'speed': 2},"
    "  'rub_x': {'type': 'friction', 'joint': 'cross', 'coordinate': 'second', 'viscous': 2},"
    "  'near': {'type': 'bump-stop', 'from': 'a.p', 'to': 'b.p', 'below': 4, 'stiffness': 90,"
    "           'damping': 8, 'exponent': 2},"
    "  'strap': {'type': 'bump-stop', 'from': 'c', 'to': 'ground', 'above': 0.1, 'stiffness': 90,"
    "           'damping': 8},"
    "  'ball': {'type': 'contact', 'at': 'b.p', 'radius': 4, 'stiffness': 80, 'damping': 7,"
    "           'friction': 0.6, 'speed': 1.5, 'exponent': 1.5, 'plane': {'at': {'body': 'c', 'at':"
    "           [0.3, 0.2, -0.7]}, 'normal': [1, 2, 3]}},"
    "  'tip': {'type': 'contact', 'at': {'body': 'a', 'at': [0.2, 0.3, -3]}, 'stiffness': 80,"
    "          'damping': 7, 'friction': 0.6, 'speed': 1.5},";

/* Its rest: laws that use outputs, the outputs, and a tyre. */
static const char sensing[] =
    "  'tensed': {'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0.6, 0, 0.4],"
    "             'orientation': {'axis': [1, 1, 0], 'angle': 0.7}, 'stiffness': [100, 200, 400,"
    "             11, 22, 44], 'preload': [30, -20, 50, 4, 5, -6]},"
    "  'stopped': {'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0.6, 0, 0.4], 'stops': {'axis': "
    "'y', 'at': [0.4, 0.7], 'stiffness': [300, 500], 'rounding': 0.35}, 'stiffness': [0, 0, 30, 0,"
    " 0, 0]},"
    "  'sensed_spring': {'type': 'spring-damper', 'from': 'a.p', 'to': 'b.p',"
    "                    'force': '9*deep*stretch + fast.y*rate + top.z',"
    "                    'actuator': 'turn.z*h_rate'},"
    "  'sensed_twist': {'type': 'torsion', 'joint': 'guide', 'stiffness': 5,"
    "                   'torque': 'h_angle*angle + spin.x*g_rate + x_angle^2*rate'},"
    "  'sensed_force': {'type': 'force', 'at': 'c', 'axes': 'body',"
    "                   'force': ['deep', 'gap*fast.x', 'turn.x*spin.z']},"
    "  'sensed_thrust': {'type': 'force', 'at': 'b.p', 'force': ['g_slide', 'x_rate', 'turn.y']},"
    "  'sensed_axes': {'type': 'force', 'at': 'a', 'force': ['seen.x*seen_v.y', 'seen_w.z',"
    "                  'tilt.roll + 2*tilt.pitch*lean.yaw']},"
    "  'sensed_rub': {'type': 'friction', 'joint': 'guide', 'coulomb': 'gap*top.x + h_rate',"
    "                 'deflection': 0.2},"
    "  'sensed_torque': {'type': 'torque', 'body': 'c', 'torque': ['h_rate', 'top.y', 'mix']},"
    "  'sensed_pid': {'type': 'controller', 'input': 'deep - g_slide', 'kp': 3, 'ki': 2, 'kd': 1,"
    "                 'reference': 'top.x*drive', 'filter': 0.1, 'output': {'joint': 'hinge'}},"
    "  'sensed_p': {'type': 'controller', 'input': {'position': 'c', 'component': 'x'}, 'kp': 3,"
    "               'ki': 1, 'reference': 'gap*spin.y', 'output': {'joint': 'guide'}}},"
    " 'outputs': {"
    "  'h_angle': {'joint': 'hinge'}, 'h_rate': {'joint': 'hinge', 'derivative': 1},"
    "  'x_angle': {'joint': 'cross', 'coordinate': 'second'},"
    "  'x_rate': {'joint': 'cross', 'coordinate': 'second', 'derivative': 1},"
    "  'g_slide': {'joint': 'guide'}, 'g_rate': {'joint': 'guide', 'derivative': 1},"
    "  'pull': {'force': 'linear', 'value': 'force'},"
    "  'top': {'position': 'b.p'}, 'fast': {'velocity': 'b.p'}, 'turn': {'orientation': 'a'},"
    "  'spin': {'angular_velocity': 'c'}, 'gap': {'distance': ['a.p', 'c']},"
    "  'seen': {'position': 'b.p', 'axes': 'c'}, 'seen_v': {'velocity': 'b.p', 'axes': 'c'},"
    "  'seen_w': {'angular_velocity': 'b', 'axes': 'c', 'unit': 'deg/s'},"
    "  'tilt': {'angles': 'b', 'unit': 'deg'}, 'lean': {'angles': 'a', 'against': 'c'},"
    "  'copy': {'signal': 'gain'}, 'mix': '2*h_angle*top.x + t*copy', 'deep': 'mix^2 + "
    "gap*turn.w'},"
    " 'road': {'type': 'sine', 'amplitude': 0.3, 'wavelength': 2.5, 'speed': 7, 'start': 0.2},"
    " 'tyres': {'front': {'type': 'point-follower', 'wheel': 'b.p', 'radius': 2.5,"
    "                     'stiffness': 900, 'damping': 30},"
    "           'rear': {'type': 'point-follower', 'wheel': 'c', 'radius': 2.5, 'stiffness': 800,"
    "                    'damping': 25, 'road': {'type': 'expression', 'speed': 2, 'expression':"
    "                    '0.3*sin(2*x + y) - 0.2*x*cos(1.7*y)'}}}}";

static int set_up(void **state)
{
    force_rig *r = calloc(1, sizeof *r);
    char text[sizeof everything + sizeof stops + sizeof sensing];
    snprintf(text, sizeof text, "%s%s%s", everything, stops, sensing);
    rig_read(r, text);
    *state = r;
    return 0;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_external(const bg_force *f)
{
    return starts_with(f->class_->name, "force") || starts_with(f->class_->name, "torque");
}

/* Turns and moves the second body of every joint but one so that x_b stays perpendicular to z_a, as
 * the joint would keep it: then the angles are true coordinates. */
static void close_joint(force_rig *r, int joint, double first, double second)
{
    const bg_joint *j = &r->model->joints[joint];
    bg_mat3 z = bg_rotation_about(bg_vec3_make(0, 0, 1), first);
    bg_mat3 x = bg_rotation_about(bg_vec3_make(1, 0, 0), second);
    bg_mat3 a = bg_mat3_multiply(&r->body[j->a.body].R, &j->a.frame.R);
    bg_mat3 back = bg_mat3_transpose(&j->b.frame.R), zx = bg_mat3_multiply(&z, &x);
    bg_mat3 b = bg_mat3_multiply(&a, &zx);
    r->body[j->b.body].R = bg_mat3_multiply(&b, &back);
}

/* hinge: a -> b, cross: b -> c */
static void close_angles(force_rig *r)
{
    close_joint(r, 0, 1.2 * rig_random(r), 0);
    close_joint(r, 1, 1.2 * rig_random(r), 1.2 * rig_random(r));
}

static void action_equals_reaction(void **state)
{
    force_rig *r = *state;
    for (int k = 0; k < r->model->nforces; k++) {
        const bg_force *f = &r->model->forces[k];
        for (int trial = 0; trial < 20 && !is_external(f); trial++) {
            bg_wrench wrench[RIG_BODIES];
            bg_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
            rig_shake(r, 0.8);
            rig_apply(r, f, wrench);
            for (int b = 0; b < RIG_BODIES; b++) {
                force = bg_add(force, wrench[b].f);
                moment = bg_add(moment, bg_add(wrench[b].n, bg_cross(r->body[b].r, wrench[b].f)));
            }
            double size = rig_size(wrench, RIG_BODIES);
            if (!(bg_length(force) <= 1e-14 * size && bg_length(moment) <= 2e-14 * size))
                fail_msg("%s: force %g, moment %g of %g", f->name, bg_length(force),
                         bg_length(moment), size);
            assert_true(size > 0 || f->nmode > 0);
        }
    }
}

/* Sum over the bodies of f . v + n . w. */
static double calc_power(const force_rig *r, const bg_wrench *wrench)
{
    double power = 0;
    for (int b = 0; b < RIG_BODIES; b++)
        power += bg_dot(wrench[b].f, r->body[b].v) + bg_dot(wrench[b].n, r->body[b].w);
    return power;
}

/* Its slope, or a derivative of it, jumps: differences of high order miss it; see
 * tables_match_formulas and stops_follow_their_broken_line. */
static bool has_corners(const bg_force *f)
{
    return strcmp(f->name, "corners") == 0 || strcmp(f->name, "stopped") == 0;
}

/* What an element does to the bodies is what its potential loses and its other parts supply. */
static void power_is_balanced(void **state)
{
    force_rig *r = *state;
    const double h = 5e-4; /* order 6; the road passes with 17 rad/s: (17 h)^6 is below 1e-12 */
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    double stored = 0;
    for (int k = 0; k < r->model->nforces; k++) {
        const bg_force *f = &r->model->forces[k];
        for (int trial = 0; trial < 20; trial++) {
            bg_wrench wrench[RIG_BODIES];
            double U_t = 0;
            if (has_corners(f))
                break;
            rig_shake(r, 0.3);
            close_angles(r);
            for (int i = 0; i < f->nmode; i++)
                r->mode[f->mode0 + i] = 1 + (trial + i) % 2;
            rig_apply(r, f, wrench);
            for (int i = 0; i < 3; i++) {
                force_rig plus = rig_move(r, (i + 1) * h), minus = rig_move(r, -(i + 1) * h);
                U_t += weight[i] / h *
                       (rig_energy(&plus, f).potential - rig_energy(&minus, f).potential);
            }
            double power = calc_power(r, wrench), other = rig_energy(r, f).power;
            stored = fmax(stored, fabs(U_t));
            double size = fmax(1, rig_size(wrench, RIG_BODIES));
            if (fabs(power + U_t - other) > 1e-10 * size)
                fail_msg("%s: power %.12g, -U' %.12g, other %.12g", f->name, power, -U_t, other);
        }
    }
    assert_true(stored > 100);
}

static void expressions_match_linear_laws(void **state)
{
    static const char *const pairs[][2] = {{"linear", "law"}, {"twist", "twist_law"}};
    force_rig *r = *state;
    for (int k = 0; k < 2; k++)
        for (int trial = 0; trial < 20; trial++) {
            bg_wrench a[RIG_BODIES], b[RIG_BODIES];
            const bg_force *f = rig_find(r, pairs[k][0]), *g = rig_find(r, pairs[k][1]);
            rig_shake(r, 0.5);
            rig_apply(r, f, a);
            rig_apply(r, g, b);
            assert_true(rig_distance(a, b) <= 1e-13 * rig_size(a, RIG_BODIES));
            assert_true(rig_energy(r, f).potential > 0);
            assert_true(rig_energy(r, g).potential == 0);
        }
}

/* The spring's numbers against vectors worked out here, and signs: a stretched spring pulls. */
static void spring_pulls_along_its_line(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "linear"), *g = rig_find(r, "driven");
    bg_wrench wrench[RIG_BODIES];
    rig_shake(r, 0.2);
    const bg_body_state *a = &r->body[1], *b = &r->body[2];
    const bg_model *m = r->model;
    bg_vec3 p = bg_add(a->r, bg_rotate(&a->R, m->bodies[1].points[0].r));
    bg_vec3 q = bg_add(b->r, bg_rotate(&b->R, m->bodies[2].points[0].r));
    force_rig later = rig_move(r, 1e-4), earlier = rig_move(r, -1e-4);
    double length = bg_length(bg_sub(q, p)), force = rig_sensor(r, f, "force");
    assert_near(rig_sensor(r, f, "length"), length, 1e-14);
    assert_near(rig_sensor(r, f, "stretch"), length - 0.4, 1e-14);
    assert_near(rig_sensor(r, f, "rate"),
                (rig_sensor(&later, f, "length") - rig_sensor(&earlier, f, "length")) / 2e-4, 1e-6);
    assert_near(force, 3000 * (length - 0.4) + 70 * rig_sensor(r, f, "rate"), 1e-10);
    rig_apply(r, f, wrench);
    bg_vec3 pull = bg_scale(force / length, bg_sub(q, p));
    assert_true(bg_length(bg_sub(wrench[1].f, pull)) < 1e-11 * fabs(force));
    assert_true(bg_length(bg_sub(wrench[1].n, bg_cross(bg_sub(p, a->r), pull))) <
                1e-11 * fabs(force));
    /* free length by default: the distance in the design position, sqrt(0.01 + 0.04 + 0.09) */
    double stretch = bg_length(a->r) - sqrt(0.14), rate = bg_dot(a->r, a->v) / bg_length(a->r);
    assert_near(rig_sensor(r, g, "force"),
                100 * stretch + 5 * r->u[0] * bg_length(a->r) + r->u[1] * rate * rate -
                    stretch * sin(r->t),
                1e-11);
}

/* Points on each other: no direction, no force, and nothing that is not a number. */
static void zero_length_is_harmless(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "driven");
    bg_wrench wrench[RIG_BODIES];
    bg_force_derivatives d;
    bg_world w = rig_world(r);
    rig_shake(r, 0.2);
    r->body[1].r = bg_vec3_make(0, 0, 0);
    w = rig_world(r);
    rig_apply(r, f, wrench);
    assert_true(rig_size(wrench, RIG_BODIES) == 0);
    f->class_->derivatives(f, &w, &d);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            assert_true(isfinite(d.wrench_pose[i][j]) && isfinite(d.wrench_twist[i][j]));
    assert_true(isfinite(rig_energy(r, f).potential) && isfinite(rig_energy(r, f).power));
    for (int k = 0; k < f->class_->nsensors; k++)
        assert_true(isfinite(f->class_->sensor(f, &w, k)));
}

/* Puts the points of "table" and "corners" at a distance, at rest. */
static void stretch_table(force_rig *r, double length)
{
    rig_shake(r, 0.1);
    r->body[3].r = bg_vec3_make(0.1, -0.3, 0.2);
    bg_vec3 arm = bg_rotate(&r->body[2].R, r->model->bodies[2].points[0].r);
    r->body[2].r = bg_sub(bg_add(r->body[3].r, bg_vec3_make(0, 0, length)), arm);
    r->body[2].v = r->body[2].w = r->body[3].v = r->body[3].w = bg_vec3_make(0, 0, 0);
}

static void tables_match_formulas(void **state)
{
    static const double x[] = {-0.5, -0.1, 0.2, 0.6}, y[] = {-900, -100, 150, 1200};
    force_rig *r = *state;
    const bg_force *cubic = rig_find(r, "table"), *linear = rig_find(r, "corners");
    double U = 0, before = NAN;
    const double step = 0.01;
    for (int k = -70; k <= 90; k++) { /* also beyond both ends, along the last slope */
        double s = k * step;
        int i = s < x[1] ? 0 : s < x[2] ? 1 : 2;
        double expected = y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (s - x[i]);
        stretch_table(r, 1.5 + s);
        assert_near(rig_sensor(r, linear, "force"), expected, 1e-9);
        /* corners lie on the grid, so the trapezoidal rule is exact */
        if (!isnan(before))
            U += 0.5 * step * (before + expected);
        before = expected;
        stretch_table(r, 1.5 - 70 * step);
        double U0 = rig_energy(r, linear).potential;
        stretch_table(r, 1.5 + s);
        assert_near(rig_energy(r, linear).potential - U0, U, 1e-9);
    }
    for (int k = 0; k < 4; k++) {
        stretch_table(r, 1.5 + x[k]);
        assert_near(rig_sensor(r, cubic, "force"), y[k], 1e-9);
        assert_true(fabs(rig_energy(r, cubic).power) < 1e-12);
    }
    stretch_table(r, 1.5);
    assert_near(rig_energy(r, cubic).potential, 0, 1e-12);
}

/* Small displacements: forces are stiffness times displacement, in the marker's axes. */
static void bushing_is_linear_in_the_small(void **state)
{
    static const double k[] = {100, 200, 400, 11, 22, 44};
    static const char *const force[] = {"force_x",  "force_y",  "force_z",
                                        "torque_x", "torque_y", "torque_z"};
    static const char *const place[] = {"x", "y", "z", "angle_x", "angle_y", "angle_z"};
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "rubber");
    rig_shake(r, 0);
    bg_mat3 axes = bg_rotation_about(bg_vec3_make(sqrt(0.5), sqrt(0.5), 0), 0.7);
    bg_vec3 x = rig_random_vec3(r, 1e-6), phi = rig_random_vec3(r, 1e-6);
    bg_vec3 at = bg_vec3_make(0.6, 0, 0.4);
    bg_vec3 turn = bg_rotate(&axes, phi);
    bg_mat3 R = rig_exp(turn);
    bg_body_state *b = &r->body[2];
    b->R = bg_mat3_multiply(&R, &b->R);
    b->r = bg_add(bg_add(at, bg_rotate(&axes, x)), bg_rotate(&R, bg_sub(b->r, at)));
    for (int i = 1; i < 3; i++)
        r->body[i].v = r->body[i].w = bg_vec3_make(0, 0, 0);
    const double moved[] = {x.x, x.y, x.z, phi.x, phi.y, phi.z};
    for (int i = 0; i < 6; i++) {
        assert_near(rig_sensor(r, f, place[i]), moved[i], 1e-14);
        assert_near(rig_sensor(r, f, force[i]), -k[i] * moved[i], 1e-10);
        assert_near(rig_sensor(r, rig_find(r, "bar"), place[i]), moved[i], 1e-14);
    }
}

/* A preload is what the bushing exerts on the second body in the design position; beyond it, with
 * the same displacement, it adds to the elastic law but for the turning of axes, which the tests of
 * power and derivatives see. */
static void preload_acts_in_the_design_position(void **state)
{
    static const double preload[] = {30, -20, 50, 4, 5, -6};
    static const char *const force[] = {"force_x",  "force_y",  "force_z",
                                        "torque_x", "torque_y", "torque_z"};
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "tensed");
    rig_shake(r, 0);
    for (int i = 1; i < 3; i++)
        r->body[i].v = r->body[i].w = bg_vec3_make(0, 0, 0);
    for (int i = 0; i < 6; i++)
        assert_near(rig_sensor(r, f, force[i]), preload[i], 1e-12);
    bg_vec3 x = rig_random_vec3(r, 0.1);
    r->body[2].r = bg_add(r->body[2].r, x); /* without a turn, the laws add */
    for (int i = 0; i < 6; i++)
        assert_near(rig_sensor(r, f, force[i]),
                    preload[i] + rig_sensor(r, rig_find(r, "rubber"), force[i]), 1e-10);
}

/* Free inside, a broken line beyond the rounded corners, and symmetric. */
static void stops_follow_their_broken_line(void **state)
{
    static const double x[] = {0.02, 0.05, 1.2, 1.5}, force[] = {0, 0, 490, 730};
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "stopped");
    rig_shake(r, 0);
    const bg_vec3 home = r->body[2].r;
    for (int k = 0; k < 8; k++) {
        const double side = k % 2 ? -1 : 1;
        r->body[2].r = bg_add(home, bg_vec3_make(0.3, side * x[k / 2], 0.1));
        assert_near(rig_sensor(r, f, "force_y"), -side * force[k / 2], 1e-10);
        assert_near(rig_sensor(r, f, "force_x"), 0, 1e-12);
    }
    for (double y = -1.3; y < 1.4; y += 0.093) { /* it is the slope of its potential */
        const double h = 1e-4;
        r->body[2].r = bg_add(home, bg_vec3_make(0.3, y - h, 0.1));
        const double before = rig_energy(r, f).potential;
        r->body[2].r = bg_add(home, bg_vec3_make(0.3, y + h, 0.1));
        const double behind = rig_energy(r, f).potential;
        r->body[2].r = bg_add(home, bg_vec3_make(0.3, y, 0.1));
        assert_near(rig_sensor(r, f, "force_y"), (before - behind) / (2 * h), 1e-4);
    }
}

static void applied_forces_stand_in_their_axes(void **state)
{
    force_rig *r = *state;
    bg_wrench world[RIG_BODIES], body[RIG_BODIES], motor[RIG_BODIES], wheel[RIG_BODIES];
    rig_shake(r, 0.7);
    rig_apply(r, rig_find(r, "thrust"), world);
    rig_apply(r, rig_find(r, "jet"), body);
    rig_apply(r, rig_find(r, "motor"), motor);
    rig_apply(r, rig_find(r, "wheel_motor"), wheel);
    bg_vec3 f = {3, 5 * r->u[0], -2 * r->t}, n = {r->u[1], 2, 1};
    bg_vec3 arm = bg_rotate(&r->body[2].R, r->model->bodies[2].points[0].r);
    bg_vec3 turned = bg_rotate(&r->body[2].R, f);
    assert_true(bg_length(bg_sub(world[2].f, f)) < 1e-14);
    assert_true(bg_length(bg_sub(world[2].n, bg_cross(arm, f))) < 1e-14);
    assert_true(bg_length(bg_sub(body[2].f, turned)) < 1e-14);
    assert_true(bg_length(bg_sub(body[2].n, bg_cross(arm, turned))) < 1e-14);
    assert_true(bg_length(bg_sub(motor[3].n, n)) < 1e-14 && bg_length(motor[3].f) == 0);
    assert_true(bg_length(bg_sub(wheel[1].n, bg_rotate(&r->body[1].R, n))) < 1e-14);
    assert_near(rig_sensor(r, rig_find(r, "jet"), "magnitude"), bg_length(f), 1e-14);
    assert_near(rig_sensor(r, rig_find(r, "jet"), "z"), turned.z, 1e-14);
}

/* An angle counted through several turns: the torque of a spring goes on growing. */
static void turns_are_counted(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "twist_z");
    bg_world w;
    double z_t[1];
    rig_shake(r, 0.1);
    close_joint(r, 1, 0.5, 0.3);
    for (int n = -2; n <= 2; n++) {
        r->z[f->z0] = 0.5 + n * 2 * M_PI + 0.4; /* may lag behind */
        assert_near(rig_sensor(r, f, "angle"), 0.5 + n * 2 * M_PI, 1e-12);
    }
    w = rig_world(r);
    f->class_->rates(f, &w, z_t);
    assert_near(z_t[0], rig_sensor(r, f, "rate"), 0);
    assert_true(fabs(z_t[0]) > 0.01);
    f->class_->start(f, &w, z_t);
    assert_near(z_t[0], 0.5, 1e-12);
}

/* The error a sine of 3 rad/s, everything else at rest: after the transient the output is the sine
 * times |C(i omega)| with C(s) = (kp + ki/s + kd s) / (1 + T s). States by the classical
 * Runge-Kutta method. */
static void controller_has_its_transfer_function(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "height_pid");
    const double kp = 30, ki = 7, kd = 2, T = 0.05, omega = 3, h = 1e-3;
    rig_shake(r, 0.2);
    memset(r->u_t, 0, sizeof r->u_t);
    r->body[3].v = r->body[3].w = bg_vec3_make(0, 0, 0);
    const double y = r->body[3].r.z;
    double z[2] = {0, 0}, first = 0, worst = 0;
    const double re = kp, im = kd * omega - ki / omega, den = 1 + T * T * omega * omega;
    const double c_re = (re + im * T * omega) / den, c_im = (im - re * T * omega) / den;
    for (int step = 0; step < 12000; step++) {
        const double t = step * h;
        double k[4][2] = {{0}};
        static const double node[] = {0, 0.5, 0.5, 1};
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 2; j++)
                r->z[f->z0 + j] = z[j] + (i > 0 ? node[i] * h * k[i - 1][j] : 0);
            r->u[1] = y + sin(omega * (t + node[i] * h));
            bg_world w = rig_world(r);
            f->class_->rates(f, &w, k[i]);
            if (i == 0) {
                double u = rig_sensor(r, f, "output");
                double e = u - (c_re * sin(omega * t) + c_im * cos(omega * t));
                assert_near(rig_sensor(r, f, "error"), sin(omega * t), 1e-12);
                if (step == 6000)
                    first = e; /* the integral keeps a constant from the start */
                if (step >= 6000)
                    worst = fmax(worst, fabs(e - first));
            }
        }
        for (int j = 0; j < 2; j++)
            z[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
    assert_true(worst < 1e-8 && hypot(c_re, c_im) > 20);
    assert_near(first, ki / omega, 1e-8); /* int sin from 0 has the mean 1/omega */
}

static void controller_without_lag_uses_rates(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "hinge_pid"), *lag = rig_find(r, "height_pid");
    double z_t[3];
    rig_shake(r, 0.2);
    bg_world w = rig_world(r);
    const bg_joint *j = &r->model->joints[0];
    bg_coordinate angle = bg_joint_get_coordinate(j, 0);
    r->z[f->z0 + 1] = 0;
    double x = bg_coordinate_calc(&w, &angle), x_t = bg_coordinate_calc_rate(&w, &angle);
    double e = r->u[0] + 0.1 * r->u[1] - x, e_t = r->u_t[0] + 0.1 * r->u_t[1] - x_t;
    assert_near(rig_sensor(r, f, "output"), 30 * e + 7 * r->z[f->z0] + 2 * e_t, 1e-12);
    f->class_->rates(f, &w, z_t);
    assert_near(z_t[0], e, 1e-14);
    assert_near(z_t[1], x_t, 1e-14);
    lag->class_->start(lag, &w, z_t);
    assert_near(z_t[0], r->u[1] - r->body[3].r.z, 1e-14);
    assert_true(z_t[1] == 0);
}

/* A velocity along the body's own axes is what an observer on it would measure. */
static void controller_measures_in_body_axes(void **state)
{
    force_rig *r = *state;
    const bg_force *f = rig_find(r, "forward");
    rig_shake(r, 0.4);
    const bg_body_state *b = &r->body[2];
    const bg_vec3 p = r->model->bodies[2].points[0].r, arm = bg_rotate(&b->R, p);
    const bg_vec3 v = bg_add(b->v, bg_cross(b->w, arm)), x = bg_axis(&b->R, 0);
    assert_near(rig_sensor(r, f, "measured"), bg_dot(x, v), 1e-14);
    assert_true(fabs(bg_dot(x, v) - v.x) > 0.01);
    assert_near(rig_sensor(r, f, "output"), 12 * (r->u[1] - bg_dot(x, v)) + 3 * r->z[f->z0], 1e-12);
}

/* Central differences of order 6 of wrenches and rates along one direction. */
typedef struct force_column {
    double wrench[6 * RIG_BODIES], h[BG_FORCE_STATES];
} force_column;

/* body >= 0: component 0..5 of its pose, 6..11 of its twist; body < 0: state `component`. */
static force_rig perturb(const force_rig *r, const bg_force *f, int body, int component, double e)
{
    force_rig x = *r;
    double d[12] = {0};
    if (body < 0) {
        x.z[f->z0 + component] += e;
        return x;
    }
    d[component] = e;
    bg_body_state *b = &x.body[body];
    bg_mat3 turn = rig_exp(bg_vec3_load(d + 3));
    b->r = bg_add(b->r, bg_vec3_load(d));
    b->R = bg_mat3_multiply(&turn, &b->R);
    b->v = bg_add(b->v, bg_vec3_load(d + 6));
    b->w = bg_add(b->w, bg_vec3_load(d + 9));
    return x;
}

static force_column differences(const force_rig *r, const bg_force *f, int body, int component)
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, h = 2e-3;
    force_column out = {{0}, {0}};
    for (int i = -3; i <= 3; i++) {
        if (i == 0)
            continue;
        bg_wrench wrench[RIG_BODIES];
        double z_t[BG_FORCE_STATES] = {0}, factor = (i > 0 ? 1 : -1) * weight[abs(i) - 1] / h;
        force_rig x = perturb(r, f, body, component, i * h);
        bg_world w = rig_world(&x);
        rig_apply(&x, f, wrench);
        if (f->class_->rates)
            f->class_->rates(f, &w, z_t);
        for (int k = 0; k < 6 * RIG_BODIES; k++)
            out.wrench[k] += factor * ((const double *)wrench)[k];
        for (int k = 0; k < BG_FORCE_STATES; k++)
            out.h[k] += factor * z_t[k];
    }
    return out;
}

/* The same column from the analytic blocks: those of a body that appears twice add. */
static force_column collect(const bg_force_derivatives *d, int body, int component)
{
    force_column out = {{0}, {0}};
    for (int k = 0; k < d->nbodies; k++)
        for (int i = 0; i < 6; i++) {
            double *row = &out.wrench[6 * d->body[k] + i];
            if (body < 0)
                *row += d->wrench_z[6 * k + i][component];
            for (int l = 0; l < d->nbodies; l++)
                if (body >= 0 && d->body[l] == body)
                    *row += (component < 6 ? d->wrench_pose
                                           : d->wrench_twist)[6 * k + i][6 * l + component % 6];
        }
    for (int i = 0; i < BG_FORCE_STATES; i++) {
        if (body < 0)
            out.h[i] += d->h_z[i][component];
        for (int l = 0; l < d->nbodies; l++)
            if (body >= 0 && d->body[l] == body)
                out.h[i] += (component < 6 ? d->h_pose : d->h_twist)[i][6 * l + component % 6];
    }
    return out;
}

static double compare(const force_rig *r, const bg_force *f, const bg_force_derivatives *d,
                      int body, int component, double *size)
{
    force_column a = collect(d, body, component), b = differences(r, f, body, component);
    double error = 0;
    bool ground = starts_with(f->class_->name, "tyre"); /* leaves the ground out */
    for (int k = ground ? 6 : 0; k < 6 * RIG_BODIES; k++) {
        error = fmax(error, fabs(a.wrench[k] - b.wrench[k]));
        *size = fmax(*size, fabs(b.wrench[k]));
    }
    for (int k = 0; k < BG_FORCE_STATES; k++)
        error = fmax(error, fabs(a.h[k] - b.h[k]));
    return error;
}

static void derivatives_match_differences(void **state)
{
    force_rig *r = *state;
    for (int k = 0; k < r->model->nforces; k++) {
        const bg_force *f = &r->model->forces[k];
        for (int trial = 0; trial < 10 && !has_corners(f); trial++) {
            bg_force_derivatives d;
            double error = 0, size = 0;
            rig_shake(r, 0.3);
            if (trial % 2) /* angles off their joints, too */
                close_angles(r);
            if (starts_with(f->name, "table")) /* within one cubic: the third derivative jumps */
                stretch_table(r, 1.55);
            for (int i = 0; i < f->nmode; i++)
                r->mode[f->mode0 + i] = 1;
            bg_world w = rig_world(r);
            memset(&d, 0x7f, sizeof d); /* must not need clearing */
            f->class_->derivatives(f, &w, &d);
            for (int body = 1; body < RIG_BODIES; body++)
                for (int c = 0; c < 12; c++)
                    error = fmax(error, compare(r, f, &d, body, c, &size));
            for (int c = 0; c < f->nz; c++)
                error = fmax(error, compare(r, f, &d, -1, c, &size));
            assert_true(d.nbodies >= 1 && d.nbodies <= BG_FORCE_BODIES);
            if (error > 1e-10 * (1 + size))
                fail_msg("%s: derivatives off by %g of %g", f->name, error, size);
            assert_true(size > 0 || strcmp(f->name, "motor") == 0);
        }
    }
}

/* The laws' numbers against the same outputs worked out here. */
static void laws_use_outputs(void **state)
{
    force_rig *r = *state;
    const bg_model *m = r->model;
    const bg_joint *hinge = &m->joints[0];
    rig_shake(r, 0.4);
    assert_int_equal(m->nangles, 2); /* of hinge and cross; rates and slides need none */
    bg_world w = rig_world(r);
    bg_coordinate angle = bg_joint_get_coordinate(hinge, 0);
    const bg_body_state *a = &r->body[1], *b = &r->body[2], *c = &r->body[3];
    bg_vec3 arm = bg_rotate(&b->R, m->bodies[2].points[0].r), top = bg_add(b->r, arm);
    bg_vec3 eye = bg_add(a->r, bg_rotate(&a->R, m->bodies[1].points[0].r));
    bg_mat3 back = bg_mat3_transpose(&m->bodies[1].pose.R), turn = bg_mat3_multiply(&a->R, &back);
    double turned = sqrt(1 + turn.m[0][0] + turn.m[1][1] + turn.m[2][2]) / 2;
    double mix = 2 * bg_coordinate_calc(&w, &angle) * top.x + r->t * r->u[1];
    double gap = bg_length(bg_sub(c->r, eye)), deep = mix * mix + gap * turned;
    bg_vec3 fast = bg_add(b->v, bg_cross(b->w, arm));
    double stretch = rig_sensor(r, rig_find(r, "sensed_spring"), "stretch");
    double rate = rig_sensor(r, rig_find(r, "sensed_spring"), "rate");
    double z = (turn.m[1][0] - turn.m[0][1]) / (4 * turned);
    assert_near(rig_sensor(r, rig_find(r, "sensed_torque"), "z"), mix, 1e-13);
    assert_near(rig_sensor(r, rig_find(r, "sensed_torque"), "y"), top.y, 1e-15);
    assert_near(rig_sensor(r, rig_find(r, "sensed_spring"), "force"),
                9 * deep * stretch + fast.y * rate + top.z +
                    z * bg_coordinate_calc_rate(&w, &angle),
                1e-12);
    assert_near(rig_sensor(r, rig_find(r, "sensed_p"), "reference"), gap * c->w.y, 1e-13);
    assert_near(rig_sensor(r, rig_find(r, "sensed_pid"), "reference"), top.x * r->u[0], 1e-15);
    double full = 2 * M_PI;
    int used = m->outputs[0].measured.turns; /* the law's angle goes along with its state */
    assert_true(used == m->angles[0].z || used == m->angles[1].z);
    r->z[used] = 3 * full + 0.1;
    assert_near(rig_sensor(r, rig_find(r, "sensed_torque"), "z"), mix + 2 * 3 * full * top.x,
                1e-12);
}

/* A model with one hinge and one force, whose members are given. */
static void refused(const char *force, const char *message)
{
    static const char frame[] =
        "{'inputs': {'drive': 1}, 'bodies': {'a': {'mass': 1, 'center': [0, 0, 0],"
        " 'inertia': [1, 1, 1]}, 'b': {'mass': 1, 'center': [1, 0, 0], 'inertia': [1, 1, 1]}},"
        " 'joints': {'hinge': {'type': 'revolute', 'bodies': ['a', 'b'], 'at': [0, 0, 0],"
        " 'axis': [0, 0, 1]}, 'rail': {'type': 'prismatic', 'bodies': ['ground', 'a'],"
        " 'at': [0, 0, 0], 'axis': [0, 0, 1]}}, 'forces': {'f': {%s}}, 'parameters': {'mu': 1},"
        " 'outputs': {'acc': {'acceleration': 'a'}, 'push': {'force': 'f', 'value': 'force'},"
        " 'bear': {'reaction': 'hinge'}, 'total': {'energy': 'total'}, 'sum': '2 + acc.x',"
        " 'fine': {'joint': 'hinge'}, 'bend': {'joint': 'hinge', 'derivative': 2},"
        " 'mu': {'joint': 'rail'}, 'drive': {'joint': 'rail'}, 'h': {'joint': 'rail'}}}";
    char text[3072];
    bg_model *model = NULL;
    bg_error err = {BG_OK, ""};
    snprintf(text, sizeof text, frame, force);
    char *copy = rig_quote(text);
    bg_status status = bg_model_parse(copy, "test", NULL, 0, &model, &err);
    free(copy);
    if (status != BG_BAD_INPUT || !strstr(err.text, message))
        fail_msg("%s gives %d: %s", force, status, err.text);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
#define SPRING "'type': 'spring-damper', 'from': 'a', 'to': 'b'"
    refused(SPRING, "forces.f: exerts no force");
    refused(SPRING ", 'stifness': 1", "did you mean 'stiffness'");
    refused(SPRING ", 'stiffness': -1", "forces.f.stiffness: must not be negative");
    refused(SPRING ", 'free_length': -1, 'damping': 1", "forces.f.free_length: must not be");
    refused(SPRING ", 'stiffness': 1, 'stiffness_table': [[0, 0], [1, 1]]", "cannot stand beside");
    refused(SPRING ", 'force': 'rate', 'damping': 1", "cannot stand beside 'force'");
    refused(SPRING ", 'force': '3*strech'", "did you mean 'stretch'");
    refused(SPRING ", 'force': '3*drvie'", "did you mean 'drive'");
    refused(SPRING ", 'force': '1/0'", "forces.f.force");
    refused(SPRING ", 'force': [1, 2]", "forces.f.force: must be a number or an expression");
    refused(SPRING ", 'stiffness_table': [[0, 0]]", "forces.f.stiffness_table: must have");
    refused(SPRING ", 'stiffness_table': [[0, 0], [0, 1]]", "forces.f.stiffness_table[1]");
    refused("'type': 'spring-damper', 'from': 'x', 'to': 'b', 'damping': 1", "no body 'x'");
    refused("'type': 'torsion', 'joint': 'hnge', 'stiffness': 1", "did you mean 'hinge'");
    refused("'type': 'torsion', 'joint': 'hinge'", "forces.f: exerts no torque");
    refused("'type': 'torsion', 'joint': 'hinge', 'coordinate': 'slide', 'damping': 1", "slide");
    refused("'type': 'torsion', 'joint': 'rail', 'damping': 1, 'turns': true", "counts turns");
    refused("'type': 'bushing', 'bodies': ['a', 'a'], 'at': [0, 0, 0], 'damping': [1,1,1,1,1,1]",
            "forces.f.bodies: must name two different bodies");
    refused("'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0, 0, 0], 'stiffness': [1, 2]",
            "must have 6 entries");
    refused("'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0, 0, 0],"
            " 'stiffness': [1, 2, 3, 4, -5, 6]",
            "forces.f.stiffness[4]: must not be negative");
    refused("'type': 'bushing', 'bodies': ['a', 'b'], 'at': [0, 0, 0]", "exerts no force");
    refused("'type': 'force', 'at': 'a', 'force': [1, 2]", "forces.f.force: must have 3");
    refused("'type': 'force', 'at': 'a', 'force': [1, 2, 'sin(']", "forces.f.force[2]");
    refused("'type': 'torque', 'body': 'a', 'torque': [1, 2, 3], 'axes': 'wrold'", "'world'");
#define PID "'type': 'controller', 'output': {'joint': 'hinge'}, 'input': "
    refused(PID "{'joint': 'hinge'}", "forces.f: has no effect");
    refused(PID "{}, 'kp': 1", "forces.f.input: must have a joint, a position or a velocity");
    refused(PID "{'joint': 'hinge', 'rate': true}, 'kd': 1", "forces.f.kd: on a measured rate");
    refused(PID "{'position': 'a', 'component': 'w'}, 'kp': 1", "forces.f.input.component");
    refused(PID "{'position': 'a', 'velocity': 'a', 'component': 'x'}, 'kp': 1", "beside");
    refused(PID "{'position': 'a', 'component': 'x', 'axes': 'body'}, 'kp': 1", "a velocity only");
    refused(PID "{'joint': 'hinge'}, 'kp': 1, 'filter': -1", "forces.f.filter");
    refused("'type': 'spring', 'from': 'a', 'to': 'b'", "forces.f.type");
}

static void outputs_that_follow_from_forces_are_refused(void **state)
{
    (void)state;
    refused(SPRING ", 'force': 'acc.x'", "forces.f.force: cannot use output 'acc.x', which is an "
                                         "acceleration and follows from the forces; joint coord");
    refused(SPRING ", 'force': 'push'", "cannot use output 'push', which is the value of a force");
    refused(SPRING ", 'actuator': 'bear.fx'", "forces.f.actuator: cannot use output 'bear.fx'");
    refused(SPRING ", 'force': 'total'", "cannot use output 'total', which is an energy");
    refused(SPRING ", 'force': 'bend'", "cannot use output 'bend', which is an acceleration");
    refused(SPRING ", 'force': 'rate*sum'", "cannot use output 'acc.x' (through 'sum'), which");
    refused(SPRING ", 'force': 'fien'", "did you mean 'fine'");
    refused(SPRING ", 'force': 'mu'", "'mu' is both an output and a parameter");
    refused(SPRING ", 'force': 'drive'", "'drive' is both an output and an input");
    refused(SPRING ", 'force': '3*h'", "'h' is both an output and a unit");
    refused(PID "'fine', 'kd': 1", "forces.f.kd: needs the rate of the input");
    refused(PID "'acc.x', 'kp': 1", "forces.f.input: cannot use output 'acc.x'");
    refused(PID "{'joint': 'hinge'}, 'kd': 1, 'reference': 'fine'", "the rate of the reference");
    refused(PID "7, 'kp': 1", "forces.f.input");
}

/* Eight bodies are as many as derivatives have room for. */
static void too_many_bodies_are_refused(void **state)
{
    (void)state;
    for (int n = 8; n <= 9; n++) {
        char text[4096] = "{'bodies': {", law[256] = "0", outputs[1024] = "";
        for (int k = 0; k < n; k++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used,
                     "%s'b%d': {'mass': 1, 'center': [%d, 0, 0], 'inertia': [1, 1, 1]}",
                     k ? ", " : "", k, k);
            used = strlen(outputs);
            snprintf(outputs + used, sizeof outputs - used,
                     "%s'x%d': {'position': 'b%d', 'component': 'x'}", k ? ", " : "", k, k);
            used = strlen(law);
            snprintf(law + used, sizeof law - used, " + x%d", k);
        }
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "}, 'forces': {'f': {'type': 'force', 'at': 'b0', 'force': ['%s', 0, 0]}},"
                 " 'outputs': {%s}}",
                 law, outputs);
        char *copy = rig_quote(text);
        bg_model *model = NULL;
        bg_error err = {BG_OK, ""};
        bg_status st = bg_model_parse(copy, "test", NULL, 0, &model, &err);
        free(copy);
        assert_int_equal(st, n <= BG_FORCE_BODIES ? BG_OK : BG_BAD_INPUT);
        if (st != BG_OK)
            assert_non_null(strstr(err.text, "forces.f: involves more than 8 bodies"));
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(action_equals_reaction, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(power_is_balanced, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(expressions_match_linear_laws, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(spring_pulls_along_its_line, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(zero_length_is_harmless, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(tables_match_formulas, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(bushing_is_linear_in_the_small, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(preload_acts_in_the_design_position, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(stops_follow_their_broken_line, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(applied_forces_stand_in_their_axes, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(turns_are_counted, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(controller_has_its_transfer_function, set_up,
                                        rig_tear_down),
        cmocka_unit_test_setup_teardown(controller_without_lag_uses_rates, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(controller_measures_in_body_axes, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(derivatives_match_differences, set_up, rig_tear_down),
        cmocka_unit_test_setup_teardown(laws_use_outputs, set_up, rig_tear_down),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(outputs_that_follow_from_forces_are_refused),
        cmocka_unit_test(too_many_bodies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* wheel-rail: a wheel of any profile on a rail of any profile. The contact itself is a constraint
 * row of the model (rail/contact.h, primitive_contact.c), whose multiplier lambda is the force
 * along its gradient; this element adds the creep force (rail/creep.c), which depends on it.
 *
 * Everything is seen in the axes A of the track's frame. With the gradient of the gap,
 *
 *   Q = lambda gap_z,   tan delta = -gap_y/gap_z,   N = Q sqrt(1 + tan^2 delta),
 *
 * rho the mean contact point from the axle's middle, and the rail at rest,
 *
 *   v = A^T (v_b + w_b x s_b) + (A^T w_b) x rho,       w = A^T w_b,       V = A_x . v_a.
 *
 * Where cant changes, the rail is twisted: it rises along the frame's x, on which it is taken to be
 * straight, with the frame's own velocity f = A^T v_a + (A^T w_a) x p at the contact, p its place
 * in the frame. A wheel touches a rail that rises a little ahead, where its material has no
 * velocity along the normal; so much is taken off: v_z - (f_z - tan delta f_y) in the place of v_z.
 *
 * Derivatives are carried along (math/dual.h), by (dr, dtheta) of frame and wheelset, their twists,
 * and lambda, in this order: d(A^T u) = A^T (du - dtheta_a x u). */
#include "model/forces/element.h"
#include "model/rail/contact.h"
#include "model/rail/creep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 25, POSE_A = 0, POSE_B = 6, TWIST_A = 12, TWIST_B = 18, LAMBDA = 24 };
enum { LIFTS, CLIMBS, ENDS, SWITCHES };

typedef struct wheel_rail {
    int contact;
    double sign[3]; /* of the part's axes in the model */
    bg_force_look look;
    bg_creep creep;
} wheel_rail;

/* Everything at one state. */
typedef struct wheel_rail_state {
    const wheel_rail *s;
    const bg_rail_contact *k;
    const bg_rail_contact_state *y;
    bg_mat3 A;
    bg_vec3 arm; /* from the wheelset's centre of mass to the axle's middle */
    int n;       /* derivatives that are carried */
    bg_dual x[BG_RAIL_CONTACT_ARGS], rho[3], Q;
    bg_dual ahead; /* m, of the axle's middle along the frame's x */
    bg_dual rise;  /* m/s, f_z - tan delta f_y */
    bg_creep_motion motion;
    bg_creep_force creep;
} wheel_rail_state;

static bg_vec3 column(const bg_mat3 *A, int k)
{
    return bg_axis(A, k);
}

/* A_k . u as far as A turns with body a; what u changes with comes by add_vector. */
static void add_projection(const wheel_rail_state *y, int k, bg_vec3 u, bg_dual *out)
{
    const bg_vec3 axis = column(&y->A, k), turn = bg_cross(axis, u);
    out->x = bg_dot(axis, u);
    if (out->n == 0)
        return;
    /* -A_k . (dtheta_a x u) = dtheta_a . (A_k x u) */
    out->d[POSE_A + 3] += turn.x;
    out->d[POSE_A + 4] += turn.y;
    out->d[POSE_A + 5] += turn.z;
}

static void add_vector(bg_dual *out, int first, bg_vec3 by)
{
    if (out->n == 0)
        return;
    out->d[first] += by.x;
    out->d[first + 1] += by.y;
    out->d[first + 2] += by.z;
}

/* Where the axle's middle is along axis k of the frame: dd = dr_b + dtheta_b x s_b - dr_a -
 * dtheta_a x s_a. */
static void calc_along(const bg_world *w, const wheel_rail_state *y, int k, bg_dual *out)
{
    const bg_vec3 axis = column(&y->A, k), p_a = bg_marker_get_position(w, &y->k->a);
    const bg_vec3 s_a = bg_sub(p_a, w->body[y->k->a.body].r);
    bg_dual_set(y->n, 0, out);
    add_projection(y, k, bg_sub(bg_marker_get_position(w, &y->k->b), p_a), out);
    add_vector(out, POSE_B, axis);
    add_vector(out, POSE_B + 3, bg_cross(y->arm, axis));
    add_vector(out, POSE_A, bg_scale(-1, axis));
    add_vector(out, POSE_A + 3, bg_scale(-1, bg_cross(s_a, axis)));
}

/* The arguments of the gap: y, z, n_y, n_z, n_x. */
static void calc_arguments(const bg_world *w, wheel_rail_state *y)
{
    static const int axes[BG_RAIL_CONTACT_ARGS] = {1, 2, 1, 2, 0};
    const bg_mat3 B = bg_marker_get_axes(w, &y->k->b);
    const bg_vec3 axle = bg_axis(&B, 1);
    calc_along(w, y, 0, &y->ahead);
    for (int i = 0; i < BG_RAIL_CONTACT_ARGS; i++) {
        if (i < 2) {
            calc_along(w, y, axes[i], &y->x[i]);
            continue;
        }
        bg_dual_set(y->n, 0, &y->x[i]);
        add_projection(y, axes[i], axle, &y->x[i]);
        add_vector(&y->x[i], POSE_B + 3, bg_cross(axle, column(&y->A, axes[i])));
    }
}

/* A function of the arguments with this gradient. */
static void compose(const wheel_rail_state *y, double value, const double *gradient, bg_dual *out)
{
    bg_dual_set(y->n, value, out);
    for (int i = 0; i < BG_RAIL_CONTACT_ARGS && y->n > 0; i++)
        for (int j = 0; j < POSE_B + 6; j++)
            out->d[j] += gradient[i] * y->x[i].d[j];
}

/* rho: n_x reach, P_y - y, P_z - z. */
static void calc_place(wheel_rail_state *y)
{
    const double *mean = y->y->mean;
    bg_dual reach, P_y, P_z;
    compose(y, mean[BG_RAIL_CONTACT_REACH], y->y->mean_x[BG_RAIL_CONTACT_REACH], &reach);
    compose(y, mean[BG_RAIL_CONTACT_Y], y->y->mean_x[BG_RAIL_CONTACT_Y], &P_y);
    compose(y, mean[BG_RAIL_CONTACT_Z], y->y->mean_x[BG_RAIL_CONTACT_Z], &P_z);
    bg_dual_multiply(&y->x[4], &reach, &y->rho[0]);
    bg_dual_combine(1, &P_y, -1, &y->x[0], &y->rho[1]);
    bg_dual_combine(1, &P_z, -1, &y->x[1], &y->rho[2]);
}

static void calc_load(wheel_rail_state *y, double lambda)
{
    bg_dual gap_y, gap_z, inverse, force, stretch;
    compose(y, y->y->gap_x[0], y->y->gap_xx[0], &gap_y);
    compose(y, y->y->gap_x[1], y->y->gap_xx[1], &gap_z);
    bg_dual_chain(&gap_z, -1 / gap_z.x, 1 / (gap_z.x * gap_z.x), &inverse);
    bg_dual_set(y->n, lambda, &force);
    if (y->n > 0)
        force.d[LAMBDA] = 1;
    bg_dual_multiply(&gap_y, &inverse, &y->motion.slope);
    bg_dual_multiply(&force, &gap_z, &y->Q);
    const double k = y->motion.slope.x, whole = sqrt(1 + k * k);
    bg_dual_chain(&y->motion.slope, whole, k / whole, &stretch);
    bg_dual_multiply(&y->Q, &stretch, &y->motion.load);
}

/* (a x b)_i, i = 0, 1, 2. */
static void cross(const bg_dual a[3], const bg_dual b[3], int i, bg_dual *out)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    bg_dual p, q;
    bg_dual_multiply(&a[j], &b[k], &p);
    bg_dual_multiply(&a[k], &b[j], &q);
    bg_dual_combine(1, &p, -1, &q, out);
}

/* How fast the frame itself moves at the contact, along the normal. */
static void calc_rise(const bg_world *w, wheel_rail_state *y)
{
    const bg_body_state *a = &w->body[y->k->a.body];
    bg_dual run[3], turn[3], f[3], place[3], across;
    bg_dual_combine(1, &y->ahead, 1, &y->rho[0], &place[0]);
    bg_dual_combine(1, &y->x[0], 1, &y->rho[1], &place[1]);
    bg_dual_combine(1, &y->x[1], 1, &y->rho[2], &place[2]);
    for (int i = 0; i < 3; i++) {
        bg_dual_set(y->n, 0, &run[i]);
        bg_dual_set(y->n, 0, &turn[i]);
        add_projection(y, i, a->v, &run[i]);
        add_projection(y, i, a->w, &turn[i]);
        add_vector(&run[i], TWIST_A, column(&y->A, i));
        add_vector(&turn[i], TWIST_A + 3, column(&y->A, i));
    }
    for (int i = 1; i < 3; i++) {
        bg_dual turning;
        cross(turn, place, i, &turning);
        bg_dual_combine(1, &run[i], 1, &turning, &f[i]);
    }
    bg_dual_multiply(&y->motion.slope, &f[1], &across);
    bg_dual_combine(1, &f[2], -1, &across, &y->rise);
}

static void calc_motion(const bg_world *w, wheel_rail_state *y)
{
    const bg_body_state *a = &w->body[y->k->a.body], *b = &w->body[y->k->b.body];
    const bg_vec3 u = bg_add(b->v, bg_cross(b->w, y->arm));
    bg_creep_motion *m = &y->motion;
    bg_dual centre[3];
    for (int i = 0; i < 3; i++) {
        const bg_vec3 axis = column(&y->A, i);
        bg_dual_set(y->n, 0, &centre[i]);
        bg_dual_set(y->n, 0, &m->w[i]);
        add_projection(y, i, u, &centre[i]);
        add_projection(y, i, b->w, &m->w[i]);
        /* du = dv + dw x s + w x (dtheta x s) */
        add_vector(&centre[i], TWIST_B, axis);
        add_vector(&centre[i], TWIST_B + 3, bg_cross(y->arm, axis));
        add_vector(&centre[i], POSE_B + 3, bg_cross(y->arm, bg_cross(axis, b->w)));
        add_vector(&m->w[i], TWIST_B + 3, axis);
    }
    for (int i = 0; i < 3; i++) {
        bg_dual turning;
        cross(m->w, y->rho, i, &turning);
        bg_dual_combine(1, &centre[i], 1, &turning, &m->v[i]);
    }
    calc_rise(w, y);
    bg_dual_combine(1, &m->v[2], -1, &y->rise, &m->v[2]);
    bg_dual_set(y->n, 0, &m->speed);
    add_projection(y, 0, a->v, &m->speed);
    add_vector(&m->speed, TWIST_A, column(&y->A, 0));
}

static void calc_state(const bg_force *f, const bg_world *w, int n, wheel_rail_state *y)
{
    y->s = f->self;
    y->k = &w->contacts[y->s->contact];
    y->n = n;
    y->y = bg_world_get_rail_contact(w, y->s->contact, n > 0 ? 2 : 1);
    y->A = bg_marker_get_axes(w, &y->k->a);
    y->arm = bg_marker_get_arm(w, &y->k->b);
    calc_arguments(w, y);
    calc_place(y);
    calc_load(y, w->contact_force ? w->contact_force[y->s->contact] : 0);
    calc_motion(w, y);
    bg_creep_calc(&y->s->creep, &y->motion, &y->creep);
}

static bg_vec3 get_force(const wheel_rail_state *y)
{
    const bg_dual *F = y->creep.F;
    return bg_rotate(&y->A, bg_vec3_make(F[0].x, F[1].x, F[2].x));
}

static bg_vec3 get_arm(const wheel_rail_state *y)
{
    const bg_vec3 rho = bg_vec3_make(y->rho[0].x, y->rho[1].x, y->rho[2].x);
    return bg_add(y->arm, bg_rotate(&y->A, rho));
}

/* What acts at a state, in world axes; one step asks for it again for its power. */
typedef struct effect {
    bg_body_state a, b;
    double lambda;
    bg_vec3 place, force;
    double power; /* W, of the material against the ground */
} effect;

static void calc_effect(const bg_force *f, const bg_world *w, effect *out)
{
    wheel_rail_state y;
    calc_state(f, w, 0, &y);
    out->place = bg_add(w->body[y.k->b.body].r, get_arm(&y));
    out->force = get_force(&y);
    out->power = 0;
    for (int i = 0; i < 3; i++)
        out->power += y.creep.F[i].x * (y.motion.v[i].x + (i == 2 ? y.rise.x : 0));
}

/* The effect, found last or now, into m where nothing is remembered. */
static const effect *get_effect(const bg_force *f, const bg_world *w, effect *m)
{
    const int contact = ((const wheel_rail *)f->self)->contact;
    const bg_rail_contact *k = &w->contacts[contact];
    const bg_body_state *a = &w->body[k->a.body], *b = &w->body[k->b.body];
    const double lambda = w->contact_force ? w->contact_force[contact] : 0;
    if (w->memo)
        m = w->memo[f->index];
    if (w->memo && m->lambda == lambda && memcmp(&m->b, b, sizeof *b) == 0 &&
        memcmp(&m->a, a, sizeof *a) == 0)
        return m;
    calc_effect(f, w, m);
    m->a = *a, m->b = *b;
    m->lambda = lambda;
    return m;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    effect own;
    const effect *x = get_effect(f, w, &own);
    const int b = w->contacts[((const wheel_rail *)f->self)->contact].b.body;
    const bg_vec3 zero = {0, 0, 0};
    bg_wrench_add(wrench, w, b, x->place, x->force, zero);
    bg_wrench_add(wrench, w, 0, x->place, bg_scale(-1, x->force), zero); /* the rail rests */
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    effect own;
    out->power += get_effect(f, w, &own)->power;
}

/* Change of the wrench on the wheelset with variable c. */
static bg_wrench vary(const wheel_rail_state *y, int c)
{
    double unit[ALL] = {0};
    unit[c] = 1;
    const bg_vec3 turn_a = bg_vec3_load(unit + POSE_A + 3),
                  turn_b = bg_vec3_load(unit + POSE_B + 3);
    const bg_dual *F = y->creep.F, *r = y->rho;
    const bg_vec3 force = get_force(y), arm = get_arm(y), rho = bg_sub(arm, y->arm);
    const bg_vec3 dF = bg_rotate(&y->A, bg_vec3_make(F[0].d[c], F[1].d[c], F[2].d[c]));
    const bg_vec3 dr = bg_rotate(&y->A, bg_vec3_make(r[0].d[c], r[1].d[c], r[2].d[c]));
    const bg_vec3 df = bg_add(dF, bg_cross(turn_a, force));
    const bg_vec3 ds = bg_add(bg_cross(turn_b, y->arm), bg_add(dr, bg_cross(turn_a, rho)));
    return bg_wrench_vary(arm, ds, force, df);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    wheel_rail_state y;
    calc_state(f, w, ALL, &y);
    const int body[2] = {y.k->a.body, y.k->b.body};
    bg_element_clear(body, 2, out);
    for (int c = 0; c < TWIST_A; c++) {
        bg_wrench x = vary(&y, c);
        bg_element_store_column(&x, &out->wrench_pose[6][c]);
        x = vary(&y, TWIST_A + c);
        bg_element_store_column(&x, &out->wrench_twist[6][c]);
    }
}

static int force_slope(const bg_force *f, const bg_world *w, int *contact, double wrench[6])
{
    wheel_rail_state y;
    calc_state(f, w, ALL, &y);
    const bg_wrench x = vary(&y, LAMBDA);
    *contact = y.s->contact;
    bg_vec3_store(x.f, wrench);
    bg_vec3_store(x.n, wrench + 3);
    return y.k->b.body;
}

/* How far the contact is from the ends of both profiles. On the wheel it is a mean over a width of
 * about sqrt(epsilon radius), of which half must be left. */
static double calc_room(const bg_rail_contact *k, const bg_rail_contact_state *y)
{
    const double s = y->mean[BG_RAIL_CONTACT_S], width = sqrt(k->epsilon * k->radius);
    const double place = k->sign * y->mean[BG_RAIL_CONTACT_Y] - k->base - k->origin;
    double room = fmin(s - k->points[0].s, k->points[k->n - 1].s - s) - 0.5 * width;
    if (k->rail->range[1] > k->rail->range[0])
        room = fmin(room, fmin(place - k->rail->range[0], k->rail->range[1] - place));
    if (k->rail->kind == BG_PROFILE_CIRCLE)
        room = fmin(room, k->rail->radius - fabs(place));
    return room;
}

/* The wheel stands on its rail as long as it presses on it, beside the load of its contact; on its
 * tread and flange root as long as it is outside of the flange's steepest point; and the profiles
 * say where it is as long as the contact does not come to their ends. */
static void switching(const bg_force *f, const bg_world *w, double *s)
{
    const wheel_rail *x = f->self;
    const bg_rail_contact_state *y = bg_world_get_rail_contact(w, x->contact, 1);
    const double lambda = w->contact_force ? w->contact_force[x->contact] : x->creep.load;
    s[LIFTS] = lambda / x->creep.load;
    s[CLIMBS] = (y->mean[BG_RAIL_CONTACT_S] - w->contacts[x->contact].climb) / 0.01;
    s[ENDS] = calc_room(&w->contacts[x->contact], y) / 0.01;
}

/* Runs end at all of these, also those that would start beyond. */
static void sides(const bg_force *f, const int *mode, int *side)
{
    (void)f, (void)mode;
    for (int k = 0; k < SWITCHES; k++)
        side[k] = 1;
}

static int event(const bg_force *f, int k, int direction, int *mode)
{
    (void)f, (void)k, (void)mode;
    return direction < 0 ? BG_EVENT_STOP : BG_EVENT_NOTE;
}

static void describe(const bg_force *f, int k, int direction, bool several, char *text, size_t size)
{
    (void)several;
    static const char *const happens[SWITCHES][3] = {
        {"lifts off its rail: its contact would have to pull", "is without load for an instant",
         "presses on its rail again"},
        {"climbs its rail: the contact has passed the steepest point of the flange",
         "touches its rail with the steepest point of the flange", "comes back from its flange"},
        {"runs off its profile, or that of the rail: the contact is at the end of its range",
         "touches its rail at the end of a profile", "comes back from the end of a profile"}};
    snprintf(text, size, "wheel %.40s %s", f->name, happens[k][1 + direction]);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    wheel_rail_state y;
    calc_state(f, w, 0, &y);
    const bg_creep_force *c = &y.creep;
    const double *mean = y.y->mean, along = y.s->sign[0], across = y.s->sign[1];
    const double value[] = {y.motion.load.x,
                            y.Q.x,
                            along * c->longitudinal,
                            across * c->lateral,
                            along * c->xi,
                            across * c->eta,
                            across * c->spin, /* about the normal, by the speed along x */
                            c->use,
                            across * y.motion.slope.x,
                            y.y->gap,
                            c->slip,
                            mean[BG_RAIL_CONTACT_S],
                            mean[BG_RAIL_CONTACT_R]};
    return value[which];
}

static const char *const sensor_names[] = {
    "normal", "vertical", "longitudinal", "lateral",         "creep_x",  "creep_y", "spin",
    "use",    "slope",    "gap",          "normal_velocity", "position", "radius"};

static void read_creep(const bg_value *v, bg_creep *c)
{
    static const char *const laws[] = {"cubic", "polach", NULL};
    c->law = (bg_creep_law)bg_value_choice(v, "saturation", laws, BG_CREEP_CUBIC);
    c->friction = bg_value_not_negative_or(v, "friction", 0.3);
    c->modulus = bg_value_not_negative_or(v, "shear_modulus", 82e9);
    c->load = bg_value_positive(v, "load");
    double *axes = bg_value_numbers(v, "semi_axes", 2, NULL);
    double *kalker = bg_value_numbers(v, "kalker", 3, NULL);
    if (axes && kalker) {
        const bg_value at = bg_value_member(v, "semi_axes");
        c->area = axes[0] * axes[1];
        c->C11 = kalker[0], c->C22 = kalker[1], c->C23 = kalker[2];
        if (!(axes[0] > 0 && axes[1] > 0))
            bg_value_fail(&at, "must be greater than zero");
    }
    const bg_value friction = bg_value_member(v, "friction");
    if (v->reader->status == BG_OK && c->friction == 0)
        bg_value_fail(&friction, "must be greater than zero; 'shear_modulus': 0 is without creep");
    free(axes);
    free(kalker);
}

static const bg_profile *read_profile(const bg_value *v, const char *key)
{
    const bg_value name = bg_value_member(v, key);
    if (!bg_value_expect_text(&name))
        return NULL;
    const int k = bg_value_find(&name, BG_NAME_PROFILE, json_string_value(name.json));
    return v->reader->status == BG_OK ? &v->reader->model->profiles[k] : NULL;
}

/* The axle's middle: a place, or the second body's centre. */
static bg_vec3 read_axle(const bg_value *v, int body)
{
    const bg_value at = bg_value_member(v, "at");
    if (!bg_value_exists(&at))
        return v->reader->model->bodies[body].pose.r;
    if (!json_is_string(at.json))
        return bg_value_get_place(&at);
    const bg_marker p = bg_value_get_marker(&at);
    return bg_element_find_place(v->reader->model, &p);
}

static void read_contact(const bg_value *v, const double sign[3], bg_rail_contact *k)
{
    static const char *const sides[] = {"left", "right", NULL};
    bg_model *m = v->reader->model;
    const bg_mat3 axes = bg_mat3_identity();
    const bg_value bodies = bg_value_member(v, "bodies"), wheel_at = bg_value_member(v, "wheel");
    const bg_value step_at = bg_value_member(v, "step");
    int body[2];
    bg_element_read_bodies(v, body);
    const int side = bg_value_choice(v, "side", sides, -1);
    const bg_profile *wheel = read_profile(v, "wheel");
    k->rail = read_profile(v, "rail");
    k->radius = bg_value_positive(v, "radius");
    k->base = bg_value_positive(v, "base");
    k->origin = bg_value_number_or(v, "rail_origin", 0);
    k->epsilon = bg_value_not_negative_or(v, "softness", 1e-5);
    k->length = sqrt(2 * M_PI) * 1e-3;
    const double step = bg_value_not_negative_or(v, "step", 2e-4);
    if (v->reader->status != BG_OK)
        return;
    const bg_vec3 at = read_axle(v, body[1]);
    k->sign = (side == 0 ? 1 : -1) * sign[1];
    k->a = bg_body_make_marker(m, body[0], m->bodies[body[0]].pose.r, &axes);
    k->b = bg_body_make_marker(m, body[1], at, &axes);
    if (!m->bodies[body[0]].track)
        bg_value_fail(&bodies, "the first body must be a frame that follows a track");
    if (!(wheel->range[1] > wheel->range[0]))
        bg_value_fail(&wheel_at, "profile '%s' needs a 'range'", wheel->name);
    const double width = wheel->range[1] - wheel->range[0];
    const int most = BG_RAIL_CONTACT_POINTS / 2; /* slopes have more */
    if (!(step > 0))
        bg_value_fail(&step_at, "must be positive");
    else if (!(width / step < most))
        bg_value_fail(&step_at,
                      "%g m makes %.0f points of the %g m of profile '%s', of at most %d: take a "
                      "longer step or a shorter 'range' of the profile, in m",
                      step, width / step, width, wheel->name, most);
    if (!(k->epsilon > 0))
        bg_value_fail(v, "'softness' must be greater than zero");
    if (v->reader->status == BG_OK && bg_rail_contact_prepare(k, wheel, step, NULL) != BG_OK)
        bg_reader_fail_memory(v->reader);
}

/* The wheel about its tape circle, with the flange inside. */
static void find_look(const bg_rail_contact *k, bg_force_look *out)
{
    *out = (bg_force_look){
        .nends = 1, .end = {k->b}, .radius = k->radius, .flange = k->sign > 0 ? -1 : 1};
    const bg_vec3 out_to = bg_rotate(&k->b.frame.R, bg_vec3_make(0, k->sign * k->base, 0));
    out->end[0].frame.r = bg_add(k->b.frame.r, out_to);
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {
        "type", "bodies",      "side",     "wheel", "rail",       "radius",
        "base", "rail_origin", "softness", "step",  "friction",   "shear_modulus",
        "load", "semi_axes",   "kalker",   "at",    "saturation", NULL};
    bg_model *m = v->reader->model;
    wheel_rail *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    if (!bg_scope_is_along(v->scope, s->sign))
        bg_value_fail(v, "needs a part that stands along the track and upright");
    s->contact = m->ncontacts;
    m->contacts[m->ncontacts].name = bg_reader_copy(v->reader, f->name);
    read_contact(v, s->sign, &m->contacts[m->ncontacts]);
    find_look(&m->contacts[m->ncontacts++], &s->look);
    read_creep(v, &s->creep);
    f->ns = SWITCHES;
}

static void look(const bg_force *f, bg_force_look *out)
{
    *out = ((const wheel_rail *)f->self)->look;
}

/* The rail's normal force with the creep force. */
static bg_vec3 find_whole(const bg_force *f, const bg_world *w)
{
    wheel_rail_state y;
    calc_state(f, w, 0, &y);
    const bg_vec3 normal = bg_vec3_make(0, -y.motion.slope.x * y.Q.x, y.Q.x); /* N (0, -sin, cos) */
    return bg_add(get_force(&y), bg_rotate(&y.A, normal));
}

extern const bg_force_class bg_force_wheel_rail;
const bg_force_class bg_force_wheel_rail = {
    .name = "wheel-rail",
    .summary = "a wheel on a rail, any profiles: a smooth constraint and creep forces",
    .memo_size = sizeof(effect),
    .read = read,
    .apply = apply,
    .energy = energy,
    .switching = switching,
    .sides = sides,
    .s_follows_motion = true,
    .event = event,
    .describe = describe,
    .derivatives = derivatives,
    .force_slope = force_slope,
    .sensor_names = sensor_names,
    .nsensors = 13,
    .sensor = sensor,
    .look = look,
    .find_whole = find_whole,
    .clear = bg_element_free,
};

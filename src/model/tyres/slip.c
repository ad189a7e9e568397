#include "model/tyres/slip.h"

#include <string.h>

static const double slow = 0.05;     /* m/s, e: below it a tyre is about to stand */
static const double faded = 0.02;    /* s, in which the deflections of a lifted tyre fade */
static const double infinite = 1e-4; /* 1 - |zeta|^2 below which slip grows no further */
static const double default_tau = 5e-3;
static const double upright = 1e-3; /* of the axis beside the vertical: a wheel that lies */

typedef struct slip_state {
    const bg_tyre *s;
    bg_patch k;
    double zeta[2], u_t[2];
    double T, W, W_XX;   /* carrying speed; W and its derivative by X^2 */
    double N, N_F;       /* load of the curve: F where it pushes; dN/dF, 1 or 0 */
    double s_zeta[2][2]; /* ds/dzeta, of what the curve sees */
    double slip[2];      /* what the curve sees */
    double way, way_T;   /* smooth sign of T and its derivative */
    double roll, roll_V; /* smooth sign of r_e Omega */
    bg_slip_force curve;
    double align, spin;    /* N m, torques about n and e */
    bg_vec3 force, torque; /* on the wheel at the contact point */
} slip_state;

static double smooth_sign(double x, double *derivative)
{
    const double X = sqrt(x * x + slow * slow);
    *derivative = slow * slow / (X * X * X);
    return x / X;
}

/* Deflection rates and what the curve sees of them. */
static void calc_slip(slip_state *y, const double *u)
{
    const bg_tyre *s = y->s;
    const double *v = y->k.slip;
    y->T = s->theoretical ? y->k.r_e * y->k.Omega : y->k.v_x;
    const double XX = y->T * y->T + v[0] * v[0] + v[1] * v[1], root = sqrt(XX + slow * slow);
    y->W = XX / root;
    y->W_XX = (0.5 * XX + slow * slow) / (root * root * root);
    double seen[2];
    for (int i = 0; i < 2; i++) {
        y->zeta[i] = u[i] / s->relaxation[i];
        y->u_t[i] = v[i] - y->W * y->zeta[i];
        seen[i] = y->zeta[i] + s->tau * y->u_t[i] / s->relaxation[i];
    }
    const double left = 1 - seen[0] * seen[0] - seen[1] * seen[1];
    const double scale = 1 / sqrt(fmax(left, infinite));
    for (int i = 0; i < 2; i++) {
        y->slip[i] = scale * seen[i];
        for (int j = 0; j < 2; j++)
            y->s_zeta[i][j] = (i == j) * scale +
                              (left > infinite ? seen[i] * seen[j] * scale * scale * scale : 0);
    }
}

static void calc_force(slip_state *y)
{
    const bg_patch *k = &y->k;
    y->N_F = k->contact.F > 0;
    y->N = y->N_F * k->contact.F;
    if (y->N > 0)
        y->s->curve(y->s, y->slip, y->N, &y->curve);
    const double *F = y->curve.F;
    y->way = smooth_sign(y->T, &y->way_T);
    y->roll = smooth_sign(k->r_e * k->Omega, &y->roll_V);
    y->align = -y->curve.trail * y->way * F[1];
    y->spin = (k->r_l - k->r_e) * F[0] - y->s->resistance * y->N * k->r_e * y->roll;
    y->force = bg_add_scaled(bg_scale(k->contact.F, k->n), F[0], k->x);
    y->force = bg_add_scaled(y->force, F[1], k->y);
    y->torque = bg_add_scaled(bg_scale(y->align, k->n), y->spin, k->e);
}

static void calc_state(const bg_force *f, const bg_world *w, slip_state *y)
{
    const bg_tyre *s = f->self;
    const double *u = w->z + f->z0;
    *y = (slip_state){.s = s, .k = bg_patch_calc(f, w, s->axis, w->mode + f->mode0)};
    if (y->k.contact.touches) {
        calc_slip(y, u);
        calc_force(y);
        return;
    }
    for (int i = 0; i < 2; i++) {
        y->zeta[i] = u[i] / s->relaxation[i];
        y->u_t[i] = -u[i] / faded;
    }
}

/* The last state, and all that it depends on. */
typedef struct slip_memo {
    bool known;
    int mode[BG_CONTACT_MODES];
    double t, u[2];
    bg_body_state wheel;
    slip_state y;
} slip_memo;
_Static_assert(sizeof(slip_memo) <= BG_TYRE_MEMO, "a tyre remembers more than it has room for");

/* The state at w: that of the last call, where nothing has changed since; else computed, into own
 * if there is no room to remember it. */
static const slip_state *get_state(const bg_force *f, const bg_world *w, slip_state *own)
{
    const bg_body_state *wheel = &w->body[((const bg_tyre *)f->self)->contact.wheel.body];
    const size_t modes = (size_t)f->nmode * sizeof(int);
    slip_memo *m = w->memo ? w->memo[f->index] : NULL;
    if (!m) {
        calc_state(f, w, own);
        return own;
    }
    if (m->known && m->t == w->t && memcmp(m->u, w->z + f->z0, sizeof m->u) == 0 &&
        memcmp(m->mode, w->mode + f->mode0, modes) == 0 &&
        memcmp(&m->wheel, wheel, sizeof *wheel) == 0)
        return &m->y;
    m->known = true;
    m->t = w->t;
    memcpy(m->u, w->z + f->z0, sizeof m->u);
    memcpy(m->mode, w->mode + f->mode0, modes);
    m->wheel = *wheel;
    calc_state(f, w, &m->y);
    return &m->y;
}

void bg_tyre_apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    const int body = y->s->contact.wheel.body;
    if (!y->k.contact.touches)
        return;
    const bg_vec3 p = bg_add(w->body[body].r, y->k.reach);
    bg_wrench_add(wrench, w, body, p, y->force, y->torque);
    bg_wrench_add(wrench, w, 0, p, bg_scale(-1, y->force), bg_scale(-1, y->torque));
}

void bg_tyre_energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    const bg_body_state *wheel = &w->body[y->s->contact.wheel.body];
    const double k = y->s->contact.k, delta = y->k.contact.delta;
    if (!y->k.contact.touches)
        return;
    const bg_vec3 v = bg_add(wheel->v, bg_cross(wheel->w, y->k.reach));
    out->potential += 0.5 * k * delta * delta;
    out->power += bg_dot(y->force, v) + bg_dot(y->torque, wheel->w) +
                  k * delta * bg_patch_calc_rate(&y->k);
}

void bg_tyre_rates(const bg_force *f, const bg_world *w, double *z_t)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    z_t[0] = y->u_t[0];
    z_t[1] = y->u_t[1];
}

void bg_tyre_switching(const bg_force *f, const bg_world *w, double *s)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    bg_contact_switching(&y->s->contact, &y->k.contact, s);
}

void bg_tyre_settle(const bg_force *f, const bg_world *w, int *mode)
{
    const bg_tyre *tyre = f->self;
    const bg_patch k = bg_patch_calc(f, w, tyre->axis, mode);
    bg_contact_settle(f, &k.contact, mode);
}

/* The change of forces, torques and rates with that of the patch and of the deflections. */
typedef struct response {
    double F, curve[2], align, spin, u_t[2];
} response;

static response respond(const slip_state *y, const bg_patch_variation *d, const double du[2])
{
    const bg_tyre *s = y->s;
    const bg_patch *k = &y->k;
    response o = {.F = s->contact.k * d->delta + s->contact.c * d->delta_t};
    const double dN = y->N_F * o.F, dV = d->r_e * k->Omega + k->r_e * d->Omega;
    const double dT = s->theoretical ? dV : d->v_x;
    const double dXX = 2 * (y->T * dT + k->slip[0] * d->slip[0] + k->slip[1] * d->slip[1]);
    double seen[2], ds[2], trail = y->curve.trail_N * dN;
    for (int i = 0; i < 2; i++) {
        const double dzeta = du[i] / s->relaxation[i];
        o.u_t[i] = d->slip[i] - y->W * dzeta - y->W_XX * dXX * y->zeta[i];
        seen[i] = dzeta + s->tau * o.u_t[i] / s->relaxation[i];
    }
    for (int i = 0; i < 2; i++)
        ds[i] = y->s_zeta[i][0] * seen[0] + y->s_zeta[i][1] * seen[1];
    for (int i = 0; i < 2; i++) {
        o.curve[i] = y->curve.F_s[i][0] * ds[0] + y->curve.F_s[i][1] * ds[1] + y->curve.F_N[i] * dN;
        trail += y->curve.trail_s[i] * ds[i];
    }
    const double *F = y->curve.F;
    o.align = -(trail * y->way * F[1] + y->curve.trail * y->way_T * dT * F[1] +
                y->curve.trail * y->way * o.curve[1]);
    o.spin = (-d->delta - d->r_e) * F[0] + (k->r_l - k->r_e) * o.curve[0];
    o.spin -= s->resistance *
              (dN * k->r_e * y->roll + y->N * d->r_e * y->roll + y->N * k->r_e * y->roll_V * dV);
    return o;
}

/* The change of the wrench where the patch keeps its place and directions. */
static bg_wrench vary_forces(const slip_state *y, const response *o)
{
    const bg_patch *k = &y->k;
    bg_vec3 df = bg_add_scaled(bg_scale(o->F, k->n), o->curve[0], k->x);
    df = bg_add_scaled(df, o->curve[1], k->y);
    const bg_vec3 dt = bg_add_scaled(bg_scale(o->align, k->n), o->spin, k->e);
    return (bg_wrench){df, bg_add(dt, bg_cross(k->reach, df))};
}

static bg_wrench vary_wrench(const slip_state *y, const bg_patch_variation *d, const response *o)
{
    const bg_patch *k = &y->k;
    const double *F = y->curve.F;
    bg_vec3 df = bg_scale(k->contact.F, d->n);
    df = bg_add_scaled(bg_add_scaled(df, F[0], d->x), F[1], d->y);
    const bg_vec3 dt = bg_add_scaled(bg_scale(y->align, d->n), y->spin, d->e);
    const bg_wrench x = vary_forces(y, o), moved = bg_wrench_vary(k->reach, d->reach, y->force, df);
    return (bg_wrench){bg_add(x.f, moved.f), bg_add(x.n, bg_add(moved.n, dt))};
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const slip_state *y = context;
    const double none[2] = {0, 0};
    const bg_patch_variation patch = bg_patch_vary(&y->k, d);
    const response o = respond(y, &patch, none);
    dwrench[0] = vary_wrench(y, &patch, &o);
    dh[0] = o.u_t[0];
    dh[1] = o.u_t[1];
}

static void add_row(double factor, const double *from, double *row)
{
    for (int c = 0; c < 6; c++)
        row[c] += factor * from[c];
}

/* The block by the twist: five numbers change, to which forces, torques and rates respond; `by` are
 * the rows of these by v and w. */
static void calc_by_twist(const slip_state *y, bg_force_derivatives *out)
{
    const bg_patch *k = &y->k;
    const bg_patch_variation units[5] = {
        {.delta_t = 1}, {.v_x = 1}, {.Omega = 1}, {.slip = {1, 0}}, {.slip = {0, 1}}};
    const double none[2] = {0, 0};
    struct {
        double F[6], curve[2][6], align[6], spin[6], u_t[2][6];
    } by = {0};
    bg_patch_gradient g;
    bg_patch_calc_gradient(k, &g);
    const double *const rows[5] = {g.delta_t, g.v_x, g.Omega, g.slip[0], g.slip[1]};
    for (int i = 0; i < 5; i++) {
        const response o = respond(y, &units[i], none);
        add_row(o.F, rows[i], by.F);
        add_row(o.align, rows[i], by.align);
        add_row(o.spin, rows[i], by.spin);
        for (int j = 0; j < 2; j++) {
            add_row(o.curve[j], rows[i], by.curve[j]);
            add_row(o.u_t[j], rows[i], by.u_t[j]);
        }
    }
    for (int c = 0; c < 6; c++) {
        const response o = {.F = by.F[c],
                            .curve = {by.curve[0][c], by.curve[1][c]},
                            .align = by.align[c],
                            .spin = by.spin[c]};
        const bg_wrench x = vary_forces(y, &o);
        bg_element_store_column(&x, &out->wrench_twist[0][c]);
        out->h_twist[0][c] = by.u_t[0][c];
        out->h_twist[1][c] = by.u_t[1][c];
    }
}

void bg_tyre_derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    bg_element_clear(&y->s->contact.wheel.body, 1, out);
    if (!y->k.contact.touches) {
        out->h_z[0][0] = out->h_z[1][1] = -1 / faded;
        return;
    }
    bg_element_calc_columns(tangent, y, 0, bg_patch_is_level(&y->k) ? 2 : 0, 6, 2, out);
    calc_by_twist(y, out);
    for (int j = 0; j < 2; j++) {
        const bg_patch_variation none = {0};
        const double du[2] = {j == 0, j == 1};
        const response o = respond(y, &none, du);
        const bg_wrench x = vary_forces(y, &o);
        double rows[6];
        bg_vec3_store(x.f, rows);
        bg_vec3_store(x.n, rows + 3);
        for (int i = 0; i < 6; i++)
            out->wrench_z[i][j] = rows[i];
        out->h_z[0][j] = o.u_t[0];
        out->h_z[1][j] = o.u_t[1];
    }
}

const char *const bg_tyre_sensor_names[BG_TYRE_SENSORS] = {
    "force",        "gap",     "gap_rate", "contact", "road",
    "longitudinal", "lateral", "aligning", "slip",    "slip_angle"};

double bg_tyre_sensor(const bg_force *f, const bg_world *w, int which)
{
    slip_state own;
    const slip_state *y = get_state(f, w, &own);
    const bg_contact_state *c = &y->k.contact;
    const double side = y->s->handedness;
    const double values[BG_TYRE_SENSORS] = {c->F,
                                            -c->delta,
                                            -c->delta_t,
                                            c->touches,
                                            c->road[0],
                                            y->curve.F[0],
                                            side * y->curve.F[1],
                                            side * y->align,
                                            -y->slip[0],
                                            side * atan(y->slip[1])};
    return values[which];
}

void bg_parabola_calc(const bg_parabola *p, const double s[2], bg_slip_force *out)
{
    const double x = p->lambda, left = 1 - x, below = 3 - 3 * x + x * x;
    const bool sticks = x < 1;
    const double G = sticks ? 1 - x + x * x / 3 : 1 / (3 * x);
    const double G_x = sticks ? -1 + 2 * x / 3 : -1 / (3 * x * x);
    const double trail = sticks ? left * left * left / below : 0;
    const double trail_x = sticks ? left * left * (left * (3 - 2 * x) - 3 * below) / (below * below)
                                  : 0;
    for (int i = 0; i < 2; i++) {
        const double linear = p->C[i] * s[i];
        out->F[i] = -linear * G;
        out->F_N[i] = -p->C_N[i] * s[i] * G - linear * G_x * p->lambda_N;
        for (int j = 0; j < 2; j++)
            out->F_s[i][j] = -(i == j) * p->C[i] * G - linear * G_x * p->lambda_s[j];
        out->trail_s[i] = p->a * trail_x * p->lambda_s[i];
    }
    out->trail = p->a * trail;
    out->trail_N = p->a_N * trail + p->a * trail_x * p->lambda_N;
}

void bg_tyre_read_pair(const bg_value *v, const char *key, double pair[2])
{
    const bg_value list = bg_value_member(v, key);
    pair[0] = pair[1] = 1;
    if (!bg_value_expect_list(&list, 2))
        return;
    for (int i = 0; i < 2; i++) {
        const bg_value x = bg_value_element(&list, i);
        pair[i] = bg_value_get_number(&x);
        if (v->reader->status == BG_OK && !(pair[i] > 0))
            bg_value_fail(&x, "must be positive, but is %g", pair[i]);
    }
}

void bg_tyre_read(const bg_value *v, bg_force *f, bg_tyre *tyre)
{
    const bg_value axis = bg_value_member(v, "axis");
    bg_contact_read(v, f, &tyre->contact);
    tyre->axis = bg_value_exists(&axis) ? bg_value_unit(v, "axis") : bg_vec3_make(0, 1, 0);
    tyre->axis = bg_scope_turn_axial(v->scope, tyre->axis);
    tyre->handedness = bg_scope_get_handedness(v->scope);
    if (v->reader->status == BG_OK && hypot(tyre->axis.x, tyre->axis.y) < upright)
        bg_value_fail(&axis,
                      "stands upright in the design position, so that the wheel would lie on "
                      "its side; give the axis it turns about, such as [0, 1, 0]");
    bg_tyre_read_pair(v, "relaxation", tyre->relaxation);
    tyre->tau = bg_value_not_negative_or(v, "tread_damping", default_tau);
    tyre->resistance = bg_value_not_negative_or(v, "rolling_resistance", 0);
    f->nz = 2;
}

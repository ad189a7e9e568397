/* A single wheelset that hunts on a straight track: problem "Wheelset" of the Test Set for IVP
 * Solvers (CWI, University of Bari), after B. Simeon, C. Fuehrer and P. Rentrop, Surv. Math. Ind. 1
 * (1991). A wheelset with conical wheels rolls at constant speed on rails with circular heads, held
 * by springs; creep forces, which need the loads of the contacts, make it swing up to a limit
 * cycle.
 *
 * Coordinates are x (lateral), y (vertical) and z (longitudinal) of the centre, in a frame that
 * moves along, the yaw theta, the roll phi, and the turn of the axle beyond that of rolling, whose
 * rate is beta. A wheel of radius R(xi) = R0 + R' xi touches its rail G(s) at the contact
 * coordinates (psi, xi), where the gap g = G(s) - y - xi sin(phi) + R cos(phi) cos(psi), s = x + xi
 * cos(theta) cos(phi) + R (cos(theta) sin(phi) cos(psi) - sin(theta) sin(psi)) is stationary in
 * both. The published problem has these two conditions as equations of their own and G v = 0 as
 * constraints (index 2). Here the conditions are solved: with a cone, the second one, cos(theta)
 * sin(psi) + sin(theta) sin(phi) cos(psi) = R' sin(theta) cos(phi), gives psi; the first then gives
 * the slope of the rail, a circle, and with it s and xi. As g is stationary, G is its derivative at
 * fixed psi and xi, the published row. The published start does not quite close the gap: what it
 * leaves is taken off g, which then stays 0 as G v does.
 *
 * The published equations of theta and of the axle are combined so that M is symmetric,
 *     theta row <- cos(phi) (theta row) + sin(phi) (axle row),
 * which leaves (cos(phi) - 1) G^T lambda in f, as it is published without. The multipliers are the
 * negative of the published ones, 1e4 y16 and 1e4 y17, and the outputs psi and xi are y14, y15
 * (left) and y12, y13 (right).
 *
 * Derivatives are taken in the complex plane: F(x + i e dx) = F(x) + i e F'(x) dx + O(e^2) with e
 * so small that its square is rounding, so they are exact to rounding; gamma is w along q' = v. The
 * energy is that of motions beyond rolling, of which the spin V/R does no work. */
#include "equations.h"

#include <stdlib.h>
#include <tgmath.h>

enum { X, Y, Z, THETA, PHI, BETA };

typedef struct wheelset {
    double speed, friction, mass, gravity, radius, I_spin, I_yaw, arm, c_x, c_z;
    double cone, gauge, rail_radius, poisson, shear, C11, C22, C23;
    double gap[2]; /* of the start */
} wheelset;

static const double sides[2] = {1.0, -1.0};                   /* left, right */
static const double hertz_e = 1.3537956, hertz_g = 0.7115218; /* of the contact ellipse */
static const double published_pi = 3.1415926;
static const double step = 1e-60; /* e */

#define number double
#define NAME(x) x
#define real(x) (x)
#include "wheelset_formulas.h"
#undef number
#undef NAME
#undef real

#define number double complex
#define NAME(x) complex_##x
#define real(x) creal(x)
#include "wheelset_formulas.h"
#undef number
#undef NAME
#undef real

static int find_contacts(const wheelset *w, const place *o, contact c[2])
{
    for (int k = 0; k < 2; k++) {
        c[k] = find_contact(w, o, sides[k]);
        if (!isfinite(c[k].xi) || !(c[k].xi * sides[k] > 0.0))
            return 1; /* off the rail */
    }
    return 0;
}

/* x <- x + i e dx, entry by entry; dx NULL: the unit vector j, or none where j < 0. */
static void shift(const double *x, const double *dx, int j, int n, double complex *out)
{
    for (int i = 0; i < n; i++)
        out[i] = x[i] + step * (dx ? dx[i] : (double)(i == j)) * I;
}

/* Rows of G at q + i e dq. */
static void calc_rows(const wheelset *w, const double *q, const double *dq, int j,
                      double complex row[2][6])
{
    double complex at[6];
    shift(q, dq, j, 6, at);
    const complex_place o = complex_find_place(at);
    for (int k = 0; k < 2; k++) {
        const complex_contact c = complex_find_contact(w, &o, sides[k]);
        complex_write_row(&o, &c, row[k]);
        row[k][BETA] = 0.0;
    }
}

static void write_mass(const wheelset *w, const place *o, double *M)
{
    M[7 * X] = M[7 * Y] = M[7 * Z] = w->mass;
    M[7 * THETA] = w->I_yaw * o->cf * o->cf + w->I_spin * o->sf * o->sf;
    M[7 * PHI] = w->I_yaw;
    M[7 * BETA] = w->I_spin;
    M[6 * THETA + BETA] = M[6 * BETA + THETA] = w->I_spin * o->sf;
}

static void write_gamma(const wheelset *w, const bg_point *p, double *gamma)
{
    double complex row[2][6];
    calc_rows(w, p->q, p->v, 0, row);
    for (int k = 0; k < 2; k++) {
        gamma[k] = 0.0;
        for (int i = 0; i < 6; i++)
            gamma[k] += cimag(row[k][i]) / step * p->v[i];
    }
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const wheelset *w = self;
    const place o = find_place(p->q);
    contact c[2];
    if (want & BG_TERM_M)
        write_mass(w, &o, out->M);
    if (!(want & (BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma)))
        return 0;
    if (find_contacts(w, &o, c))
        return 1;
    if (want & BG_TERM_f) {
        double applied[6];
        find_forces(w, p->q, p->v, p->lambda, out->f, applied);
    }
    for (int k = 0; k < 2; k++) {
        if (want & BG_TERM_g)
            out->g[k] = c[k].g - w->gap[k];
        if (want & BG_TERM_G)
            write_row(&o, &c[k], out->G + 6 * k);
    }
    if (want & BG_TERM_gamma)
        write_gamma(w, p, out->gamma);
    return 0;
}

/* r = M a - f + G^T lambda in complex numbers. */
static void calc_residual(const wheelset *w, const double complex *q, const double complex *v,
                          const double complex *lambda, const double *a, double complex *r)
{
    const complex_place o = complex_find_place(q);
    double complex f[6], applied[6], row[6];
    const double mass[6] = {w->mass, w->mass, w->mass, 0.0, w->I_yaw, w->I_spin};
    complex_find_forces(w, q, v, lambda, f, applied);
    for (int i = 0; i < 6; i++)
        r[i] = mass[i] * a[i] - f[i];
    r[THETA] += (w->I_yaw * o.cf * o.cf + w->I_spin * o.sf * o.sf) * a[THETA] +
                w->I_spin * o.sf * a[BETA];
    r[BETA] += w->I_spin * o.sf * a[THETA];
    for (int k = 0; k < 2; k++) {
        const complex_contact c = complex_find_contact(w, &o, sides[k]);
        complex_write_row(&o, &c, row);
        for (int i = 0; i < BETA; i++)
            r[i] += row[i] * lambda[k];
    }
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    static const bg_by by[3] = {BG_BY_q, BG_BY_v, BG_BY_lambda};
    const wheelset *w = self;
    double *w_q = out->block[BG_OF_w][BG_BY_q], *gamma_v = out->block[BG_OF_gamma][BG_BY_v];
    for (int k = 0; k < 3; k++) {
        double *block = out->block[BG_OF_r][by[k]];
        const int columns = k == 2 ? 2 : 6;
        for (int j = 0; block && j < columns; j++) {
            double complex q[6], v[6], l[2], r[6];
            shift(p->q, NULL, k == 0 ? j : -1, 6, q);
            shift(p->v, NULL, k == 1 ? j : -1, 6, v);
            shift(lambda, NULL, k == 2 ? j : -1, 2, l);
            calc_residual(w, q, v, l, a, r);
            for (int i = 0; i < 6; i++)
                block[columns * i + j] = cimag(r[i]) / step;
        }
    }
    for (int j = 0; (w_q || gamma_v) && j < 6; j++) {
        double complex row[2][6];
        calc_rows(w, p->q, NULL, j, row);
        for (int k = 0; k < 2; k++) {
            double sum = 0.0;
            for (int i = 0; i < 6; i++)
                sum += cimag(row[k][i]) / step * p->v[i];
            if (w_q)
                w_q[6 * k + j] = sum;
            if (gamma_v)
                gamma_v[6 * k + j] = 2.0 * sum;
        }
    }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const wheelset *w = self;
    const double *q = p->q, *v = p->v;
    const place o = find_place(q);
    double M[36] = {0.0}, f[6], applied[6];
    contact c[2];
    if (find_contacts(w, &o, c))
        return 1;
    write_mass(w, &o, M);
    find_forces(w, q, v, p->lambda, f, applied);
    out->kinetic = out->power = 0.0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            out->kinetic += 0.5 * v[i] * M[6 * i + j] * v[j];
        out->power += applied[i] * v[i];
    }
    out->potential = w->mass * w->gravity * q[Y] + w->c_x * q[X] * q[X] +
                     w->c_z * (q[Z] * q[Z] + w->arm * w->arm * q[THETA] * q[THETA]);
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    const wheelset *w = self;
    const place o = find_place(p->q);
    contact c[2];
    (void)a;
    if (find_contacts(w, &o, c))
        return 1;
    for (int k = 0; k < 2; k++) {
        y[2 * k] = c[k].psi;
        y[2 * k + 1] = c[k].xi;
    }
    find_loads(c, lambda, y + 4);
    return 0;
}

static const bg_parameter parameters[] = {
    {"speed", 30.0, "m/s", "along the track"},
    {"friction", 0.12, "", "between wheel and rail, of saturated creep"},
    {"mass", 16.08, "kg", "of the wheelset"},
    {"gravity", 9.81, "m/s^2", "downwards"},
    {"radius", 0.1, "m", "of the wheels where they roll in the middle"},
    {"I_spin", 0.0605, "kg m^2", "inertia about the axle"},
    {"I_yaw", 0.366, "kg m^2", "inertia across the axle"},
    {"arm", 0.19, "m", "half distance of the longitudinal springs"},
    {"c_x", 6400.0, "N/m", "stiffness of each lateral spring"},
    {"c_z", 6400.0, "N/m", "stiffness of each longitudinal spring"},
    {"cone", 0.0262, "rad", "half angle of the wheels' cone"},
    {"gauge", 0.1506, "m", "half distance of the contacts in the middle"},
    {"rail_radius", 0.06, "m", "of the rail heads"},
    {"poisson", 0.28, "", "Poisson's number"},
    {"shear", 7.92e10, "N/m^2", "shear modulus"},
};

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

const bg_equations bg_equations_wheelset = {
    .abi = BG_ABI,
    .name = "wheelset",
    .summary = "wheelset hunting on rails, creep forces by contact loads (IVP test set)",
    .parameters = parameters,
    .nparameters = 15,
    .define = define,
};

static void set_derivatives(bg_system_def *def)
{
    def->derivatives = derivatives;
    def->derivative_supplied[BG_OF_r][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def->derivative_supplied[BG_OF_r][BG_BY_lambda] = 1;
    def->derivative_supplied[BG_OF_w][BG_BY_q] = 1;
    def->derivative_supplied[BG_OF_gamma][BG_BY_v] = 1;
}

static void set_names(bg_system_def *def)
{
    static const char *const q_names[] = {"x", "y", "z", "theta", "phi", "axle"};
    static const char *const v_names[] = {"x_dot",     "y_dot",   "z_dot",
                                          "theta_dot", "phi_dot", "beta"};
    static const char *const g_names[] = {"left", "right"};
    static const char *const y_names[] = {"psi_left", "xi_left",   "psi_right",
                                          "xi_right", "load_left", "load_right"};
    def->q_names = q_names;
    def->v_names = v_names;
    def->g_names = g_names;
    def->y_names = y_names;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const double q0[6] = {0.0014941, 4.0089e-07, 1.1241e-06, -0.00028573, 0.00026459, 0.0};
    static const double v_size[6] = {0.1, 0.1, 0.1, 1.0, 1.0, 1.0}, g_size[2] = {0.1, 0.1};
    const bg_equations *family = &bg_equations_wheelset;
    const bg_status status = bg_parameters_check(family, values, "+++++++++++++++", err);
    if (status)
        return status;
    wheelset *w = calloc(1, sizeof *w);
    if (!w)
        return bg_equations_no_memory(family, err);
    *w = (wheelset){.speed = values[0], .friction = values[1], .mass = values[2]};
    double *const rest[] = {&w->gravity, &w->radius,      &w->I_spin,  &w->I_yaw,
                            &w->arm,     &w->c_x,         &w->c_z,     &w->cone,
                            &w->gauge,   &w->rail_radius, &w->poisson, &w->shear};
    for (int i = 0; i < 12; i++)
        *rest[i] = values[3 + i];
    w->C11 = 4.72772197;
    w->C22 = 4.27526987;
    w->C23 = 1.97203505;
    const place o = find_place(q0);
    contact c[2];
    if (find_contacts(w, &o, c)) {
        free(w);
        return bg_error_set(
            err, BG_BAD_INPUT,
            "the wheels of wheelset do not meet the rails at the start; check cone, "
            "gauge, radius and rail_radius");
    }
    for (int k = 0; k < 2; k++)
        w->gap[k] = c[k].g;

    def->nq = def->nv = def->ny = 6;
    def->ng = 2;
    def->self = w;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def->scleronomic = 1;
    def->f_of_lambda = 1;
    def->terms = terms;
    set_derivatives(def);
    set_names(def);
    def->energy = energy;
    def->outputs = outputs;
    def->v_size = v_size;
    def->g_size = g_size;
    def->q0 = q0;
    def->t_end = 10.0;
    return BG_OK;
}

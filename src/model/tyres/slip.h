/* Tyres with slip: everything but the curve of the horizontal force over slip.
 *
 * The tread's deflections u = (u_x, u_y) against the rim are states. With the slip velocities v_s
 * of the patch (tyres/patch.h), the speed T that carries tread through the patch, and the
 * relaxation lengths sigma,
 *
 *   u_i' = v_s,i - W u_i / sigma_i,           W = X^2 / sqrt(X^2 + e^2),  X^2 = T^2 + |v_s|^2.
 *
 * T is v_x (practical slip) or r_e Omega (theoretical slip), as the curve wants it. In steady
 * motion zeta = u / sigma = v_s / X, so that the slip v_s / |T| is
 *
 *   s = zeta / sqrt(1 - |zeta|^2).
 *
 * There is no division by a speed: a standing tyre (W = 0) is a spring of stiffness C / sigma that
 * does not creep, and |u_i| stays below about sigma_i when a wheel spins or slides on the spot,
 * where slip is infinite. e = 0.05 m/s only rounds the corner at rest, its error falls with
 * (e/X)^2. So that a standing tyre does not ring, the curve sees zeta + tau u' / sigma, which is
 * the same in steady motion.
 *
 * The force on the wheel at the contact point: N along n, F_x(s, N) along x and F_y(s, N) along y.
 * F_x turns the wheel with the lever r_e, so that its power is F_x times its slip velocity. The
 * aligning torque -trail F_y about n turns with the sign of T, and rolling resistance brakes with
 * resistance N r_e. A lifted tyre has none of these; its deflections fade.
 *
 * Energy: U = k delta^2 / 2 in contact. All the rest counts as power. */
#ifndef BG_SLIP_H
#define BG_SLIP_H

#include "model/tyres/patch.h"

/* The curve at one point. */
typedef struct bg_slip_force {
    double F[2], trail;           /* N, m */
    double F_s[2][2], trail_s[2]; /* by slip */
    double F_N[2], trail_N;       /* by load */
} bg_slip_force;

typedef struct bg_tyre bg_tyre;
typedef void bg_slip_curve(const bg_tyre *tyre, const double s[2], double N, bg_slip_force *out);

/* The first member of the data of a tyre with slip. */
struct bg_tyre {
    bg_contact contact;
    bg_vec3 axis;         /* of the spin, unit, in the axes of the wheel marker */
    double handedness;    /* -1: values to the left are those of the mirror image */
    double relaxation[2]; /* m */
    double tau;           /* s */
    double resistance;
    bool theoretical; /* T = r_e Omega */
    bg_slip_curve *curve;
};

/* Members that all of them have, for bg_value_expect. */
#define BG_TYRE_KEYS                                                                 \
    "type", "wheel", "axis", "radius", "stiffness", "damping", "road", "relaxation", \
        "tread_damping", "rolling_resistance"

void bg_tyre_read(const bg_value *v, bg_force *f, bg_tyre *tyre);
/* A pair of positive numbers. */
void bg_tyre_read_pair(const bg_value *v, const char *key, double pair[2]);

/* Parabolic pressure: the tread sticks up to the share 1 - lambda of the patch and slides behind
 * it,
 *
 *   F_i = -C_i s_i G(lambda),       G = 1 - lambda + lambda^2/3,  1 / (3 lambda) from lambda = 1 on
 *   trail = a (1 - lambda)^3 / (3 - 3 lambda + lambda^2),         0 from lambda = 1 on.
 *
 * C, a and lambda come with their derivatives by load, lambda also by slip. */
typedef struct bg_parabola {
    double C[2], C_N[2];
    double a, a_N;
    double lambda, lambda_s[2], lambda_N;
} bg_parabola;

void bg_parabola_calc(const bg_parabola *p, const double s[2], bg_slip_force *out);

/* Functions of the class. */
void bg_tyre_apply(const bg_force *f, const bg_world *w, bg_wrench *wrench);
void bg_tyre_energy(const bg_force *f, const bg_world *w, bg_energy *out);
void bg_tyre_rates(const bg_force *f, const bg_world *w, double *z_t);
void bg_tyre_switching(const bg_force *f, const bg_world *w, double *s);
void bg_tyre_settle(const bg_force *f, const bg_world *w, int *mode);
void bg_tyre_derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out);
double bg_tyre_sensor(const bg_force *f, const bg_world *w, int which);
enum { BG_TYRE_SENSORS = 10, BG_TYRE_MEMO = 1280 }; /* the latter in bytes */
extern const char *const bg_tyre_sensor_names[BG_TYRE_SENSORS];

/* A line for each class: its name, summary and reader. */
#define BG_TYRE_CLASS(name_, summary_, read_)                                                 \
    {                                                                                         \
        .name = (name_), .summary = (summary_), .memo_size = BG_TYRE_MEMO, .read = (read_),   \
        .apply = bg_tyre_apply, .energy = bg_tyre_energy, .rates = bg_tyre_rates,             \
        .switching = bg_tyre_switching, .event = bg_contact_event, .sides = bg_contact_sides, \
        .describe = bg_contact_describe, .settle = bg_tyre_settle,                            \
        .derivatives = bg_tyre_derivatives, .sensor_names = bg_tyre_sensor_names,             \
        .nsensors = BG_TYRE_SENSORS, .sensor = bg_tyre_sensor, .look = bg_contact_look,       \
        .clear = bg_contact_clear,                                                            \
    }

#endif

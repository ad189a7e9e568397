/* A planar vehicle on two rigid-ring tyres, 28 states: Shome, Haug, Jay, Dual-rate integration
 * using partitioned Runge-Kutta methods (2004), with data where the paper gives none.
 *
 * x forward, y up, angles counter-clockwise: a wheel that rolls forward turns with a negative rate.
 *
 *   slow  X, Y, phi of the chassis, heights y_H and angles th_H of two hubs; hubs slide in the
 *         chassis, x_H = X + l + h phi, the guide being h below its centre of mass
 *   fast  x, y, th of two rings, and the slip s of each
 *
 * Springs and dampers with x = g.q - x_0 act as -g (k x + c x') and are data: two of the
 * suspension, three of each sidewall. A ring on a level road, with d = y_0 - y and the slip
 * velocity v_s = x' + R th':
 *
 *   N = K d - C y'                          where d > 0 and N > 0, else 0
 *   u = 2 c_p a^2 |s| / (3 mu N)            u = 2 without load;  u_c = min(u, 1)
 *   F = mu N (3 u_c - 3 u_c^2 + u_c^3) sign s
 *   sigma s' = -v_s - V s,                  V = |x'| + m |v_s|,  m = u - 1 within [0, 1]
 *   sigma = max(a (1 - u_c)^2, 0.3 a, (|x'| + 3 m |v_s|) / r)
 *
 * F and the torques R F and c_r N tanh(x'/v_0) act on the ring. The printed (B11) takes |x' + R
 * th'|, which does not tell driving from braking; (B13) needs u cut off at 1 and a floor; with |x'|
 * alone in V the slip of a wheel that spins on the spot would grow without bound, and a rate
 * |x'|/sigma without limit would be the fastest of all: r = 500 1/s. For u < 1 none of these
 * matter.
 *
 * A drive torque T(t) = -torque (1 - cos pi t) acts from the chassis on each hub. */
#include "equations.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, PHI, Y_H, TH_H = Y_H + 2, RING = TH_H + 2, N = RING + 6, TYRES = 2, SPRINGS = 8 };
/* Tyre: 205/60 R15. Chassis: half of a BMW 320i. */
static const double m_R = 7.247, I_R = 0.5698, K_res = 239068.4, C_res = 478.1368;
static const double K_wall = 1703786.0, C_wall = 393.5543, K_turn = 78171.74, C_turn = 21.10504;
static const double half = 0.0684353, c_p = 9261239.0, mu = 1.0422, R = 0.304119, y_0 = 0.3135;
static const double c_r = 0.0026215486, v_0 = 0.1, floor_of_sigma = 0.3, fastest = 500.0;
static const double m = 482.85540494021814, I = 782.9089393562771, h = 0.25;
static const double l[2] = {1.1561957064, -1.4227170936}, gravity = 9.81;
static const double k_s[2] = {24453.137879749014, 19635.504745231297};
static const double c_s[2] = {1786.2441002440723, 1649.0833034887382};
static const double pi = 3.14159265358979323846;

/* -g (k x + c x') with x = g.q - rest. */
typedef struct vehicle_spring {
    int n, at[3];
    double g[3], k, c, rest;
} vehicle_spring;

typedef struct vehicle {
    double torque, m_H, I_H;
    double weight[N];                /* N, upwards positive */
    vehicle_spring springs[SPRINGS]; /* those of the suspension first */
    double q0[N], v0[N];
    unsigned char v_part[N], z_part[TYRES];
} vehicle;

static int inputs(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt)
{
    const vehicle *s = self;
    (void)mode;
    u[0] = -s->torque * (1.0 - cos(pi * t));
    u_t[0] = -s->torque * pi * sin(pi * t);
    u_tt[0] = -s->torque * pi * pi * cos(pi * t);
    return 0;
}

/* What the road does to a ring, and the derivatives by x', y, y', th' and s. */
enum { BY_x_t, BY_y, BY_y_t, BY_th_t, BY_s, BYS };
typedef struct ring_road {
    double N, F, resistance, s_t;
    double N_by[BYS], F_by[BYS], resistance_by[BYS], s_t_by[BYS];
} ring_road;

/* u and F with their derivatives by N and s; u = 2 and F = 0 without load. */
typedef struct brush_force {
    double u, u_N, u_s, F, F_N, F_s;
} brush_force;

static double sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
}

static brush_force calc_brush(double load, double s)
{
    const double c = 2.0 * c_p * half * half / 3.0;
    if (!(load > 0))
        return (brush_force){.u = 2.0};
    brush_force b = {.u = c * fabs(s) / (mu * load)};
    b.u_N = -b.u / load;
    b.u_s = c * sign(s) / (mu * load);
    if (b.u < 1.0) {
        b.F = c * s * (3.0 - 3.0 * b.u + b.u * b.u);
        b.F_s = 3.0 * c * (1.0 - b.u) * (1.0 - b.u);
        b.F_N = c * s * b.u * (3.0 - 2.0 * b.u) / load;
    } else {
        b.F = mu * load * sign(s);
        b.F_N = mu * sign(s);
    }
    return b;
}

/* A length and its derivatives by x', v_s and u. */
typedef struct length {
    double value, by_x_t, by_v_s, by_u;
} length;

static length calc_sigma(double x_t, double v_s, double u, double slides, double slides_u)
{
    const double left = 1.0 - fmin(u, 1.0);
    const length patch = {.value = half * left * left, .by_u = -2.0 * half * left};
    const length least = {.value = floor_of_sigma * half};
    const length slow = {.value = (fabs(x_t) + 3.0 * slides * fabs(v_s)) / fastest,
                         .by_x_t = sign(x_t) / fastest,
                         .by_v_s = 3.0 * slides * sign(v_s) / fastest,
                         .by_u = 3.0 * slides_u * fabs(v_s) / fastest};
    const length larger = patch.value > least.value ? patch : least;
    return slow.value > larger.value ? slow : larger;
}

/* s' and its derivatives. */
static void calc_slip(double x_t, double v_s, double s, const brush_force *b, ring_road *out)
{
    const double slides = fmin(fmax(b->u - 1.0, 0.0), 1.0), slides_u = b->u > 1.0 && b->u < 2.0;
    const double speed = fabs(x_t) + slides * fabs(v_s);
    const length sigma = calc_sigma(x_t, v_s, b->u, slides, slides_u);
    const double rate = (-v_s - speed * s) / sigma.value;
    const double by_x_t = (-sign(x_t) * s - rate * sigma.by_x_t) / sigma.value;
    const double by_v_s = (-1.0 - slides * sign(v_s) * s - rate * sigma.by_v_s) / sigma.value;
    const double by_u = (-slides_u * fabs(v_s) * s - rate * sigma.by_u) / sigma.value;
    out->s_t = rate;
    out->s_t_by[BY_x_t] = by_x_t + by_v_s;
    out->s_t_by[BY_th_t] = R * by_v_s;
    out->s_t_by[BY_s] = by_u * b->u_s - speed / sigma.value;
    out->s_t_by[BY_y] = by_u * b->u_N * out->N_by[BY_y];
    out->s_t_by[BY_y_t] = by_u * b->u_N * out->N_by[BY_y_t];
}

/* Of a ring with coordinates q and velocities v. */
static ring_road calc_road(const double *q, const double *v, double s)
{
    const double load = K_res * (y_0 - q[1]) - C_res * v[1], bent = tanh(v[0] / v_0);
    ring_road out = {0};
    if (q[1] < y_0 && load > 0) {
        out.N = load;
        out.N_by[BY_y] = -K_res;
        out.N_by[BY_y_t] = -C_res;
    }
    const brush_force b = calc_brush(out.N, s);
    out.F = b.F;
    out.resistance = c_r * out.N * bent;
    for (int i = BY_y; i <= BY_y_t; i++) {
        out.F_by[i] = b.F_N * out.N_by[i];
        out.resistance_by[i] = c_r * bent * out.N_by[i];
    }
    out.F_by[BY_s] = b.F_s;
    out.resistance_by[BY_x_t] = c_r * out.N * (1.0 - bent * bent) / v_0;
    calc_slip(v[0], v[0] + R * v[2], s, &b, &out);
    return out;
}

static double measure(const vehicle_spring *e, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < e->n; i++)
        sum += e->g[i] * x[e->at[i]];
    return sum;
}

/* Forces of the springs from the first on, in rows from `begin` on. */
static void add_springs(const vehicle *s, const bg_point *p, int first, int begin, double *f)
{
    for (int k = first; k < SPRINGS; k++) {
        const vehicle_spring *e = &s->springs[k];
        const double force = e->k * (measure(e, p->q) - e->rest) + e->c * measure(e, p->v);
        for (int i = 0; i < e->n; i++)
            if (e->at[i] >= begin)
                f[e->at[i]] -= e->g[i] * force;
    }
}

/* Rows from `begin` on: all, from the angles of the hubs on, or those of the rings; and z'. */
static void calc_forces(const vehicle *s, const bg_point *p, int begin, double *f, double *z_t)
{
    memcpy(f + begin, s->weight + begin, (size_t)(N - begin) * sizeof *f);
    add_springs(s, p, begin > 0 ? TYRES : 0, begin, f);
    for (int k = 0; k < TYRES; k++) {
        const int ring = RING + 3 * k;
        const ring_road x = calc_road(p->q + ring, p->v + ring, p->z[k]);
        f[ring] += x.F;
        f[ring + 1] += x.N;
        f[ring + 2] += R * x.F + x.resistance;
        if (begin <= TH_H)
            f[TH_H + k] += p->u[0];
        if (z_t)
            z_t[k] = x.s_t;
    }
    if (begin == 0)
        f[PHI] -= 2.0 * p->u[0];
}

static double get_mass(const vehicle *s, int i)
{
    if (i >= RING)
        return (i - RING) % 3 == 2 ? I_R : m_R;
    if (i >= TH_H)
        return s->I_H;
    return i >= Y_H ? s->m_H : i == PHI ? I + 2.0 * s->m_H * h * h : i == Y ? m : m + 2.0 * s->m_H;
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const vehicle *s = self;
    if (want & BG_TERM_M) {
        for (int i = 0; i < N; i++)
            out->M[i * N + i] = get_mass(s, i);
        out->M[X * N + PHI] = out->M[PHI * N + X] = 2.0 * s->m_H * h;
    }
    if (want & BG_TERM_f)
        calc_forces(s, p, 0, out->f, want & BG_TERM_h ? out->h : NULL);
    else
        for (int k = 0; k < TYRES && want & BG_TERM_h; k++)
            out->h[k] = calc_road(p->q + RING + 3 * k, p->v + RING + 3 * k, p->z[k]).s_t;
    return 0;
}

/* X and phi are coupled by a constant 2 x 2 matrix. */
static void divide(const vehicle *s, int begin, const double *f, double *a)
{
    for (int i = begin; i < N; i++)
        a[i] = f[i] / get_mass(s, i);
    if (begin > 0)
        return;
    const double A = get_mass(s, X), B = 2.0 * s->m_H * h, C = get_mass(s, PHI), D = A * C - B * B;
    a[X] = (C * f[X] - B * f[PHI]) / D;
    a[PHI] = (A * f[PHI] - B * f[X]) / D;
}

static int accelerate(void *self, const bg_point *p, const double *lambda, double *a)
{
    double f[N];
    (void)lambda;
    calc_forces(self, p, 0, f, NULL);
    divide(self, 0, f, a);
    return 0;
}

static int accelerate_part(void *self, const bg_point *p, unsigned part, const double *lambda,
                           double *a, double *z_t)
{
    const vehicle *s = self;
    const int begin = part & BG_PART_SLOW ? 0 : s->v_part[TH_H] == BG_PART_FAST ? TH_H : RING;
    double f[N], all[N], rates[TYRES];
    (void)lambda;
    calc_forces(s, p, begin, f, rates);
    divide(s, begin, f, all);
    for (int i = begin; i < N; i++)
        if (s->v_part[i] & part)
            a[i] = all[i];
    for (int k = 0; k < TYRES && part & BG_PART_FAST; k++)
        z_t[k] = rates[k];
    return 0;
}

/* r = M a - f: its blocks by q and v from the springs. */
static void add_spring_blocks(const vehicle *s, double *r_q, double *r_v)
{
    for (int k = 0; k < SPRINGS; k++) {
        const vehicle_spring *e = &s->springs[k];
        for (int i = 0; i < e->n; i++)
            for (int j = 0; j < e->n; j++) {
                const int at = e->at[i] * N + e->at[j];
                if (r_q)
                    r_q[at] += e->k * e->g[i] * e->g[j];
                if (r_v)
                    r_v[at] += e->c * e->g[i] * e->g[j];
            }
    }
}

static void add_road_blocks(const bg_point *p, int k, bg_derivatives *out)
{
    const int ring = RING + 3 * k;
    const ring_road x = calc_road(p->q + ring, p->v + ring, p->z[k]);
    double *const *r = out->block[BG_OF_r], *const *h_by = out->block[BG_OF_h];
    /* where each variable is: block, column, number of columns */
    static const struct {
        bg_by by;
        int column;
    } where[BYS] = {{BG_BY_v, 0}, {BG_BY_q, 1}, {BG_BY_v, 1}, {BG_BY_v, 2}, {BG_BY_z, 0}};
    for (int i = 0; i < BYS; i++) {
        const bool is_z = where[i].by == BG_BY_z;
        const int n = is_z ? TYRES : N, column = is_z ? k : ring + where[i].column;
        double *block = r[where[i].by];
        if (block) {
            block[ring * n + column] -= x.F_by[i];
            block[(ring + 1) * n + column] -= x.N_by[i];
            block[(ring + 2) * n + column] -= R * x.F_by[i] + x.resistance_by[i];
        }
        if (h_by[where[i].by])
            h_by[where[i].by][k * n + column] = x.s_t_by[i];
    }
}

static int derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                       bg_derivatives *out)
{
    const vehicle *s = self;
    double *r_q = out->block[BG_OF_r][BG_BY_q], *r_v = out->block[BG_OF_r][BG_BY_v];
    double *r_z = out->block[BG_OF_r][BG_BY_z], *r_u = out->block[BG_OF_r][BG_BY_u];
    (void)a;
    (void)lambda;
    if (r_q)
        memset(r_q, 0, N * N * sizeof *r_q);
    if (r_v)
        memset(r_v, 0, N * N * sizeof *r_v);
    if (r_z)
        memset(r_z, 0, N * TYRES * sizeof *r_z);
    add_spring_blocks(s, r_q, r_v);
    for (int k = 0; k < TYRES; k++)
        add_road_blocks(p, k, out);
    if (r_u) {
        r_u[PHI] = 2.0;
        r_u[TH_H] = r_u[TH_H + 1] = -1.0;
    }
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const vehicle *s = self;
    const double *q = p->q, *v = p->v;
    out->kinetic = 2.0 * s->m_H * h * v[X] * v[PHI];
    out->potential = 0.0;
    for (int i = 0; i < N; i++) {
        out->kinetic += 0.5 * get_mass(s, i) * v[i] * v[i];
        out->potential -= s->weight[i] * q[i];
    }
    out->power = p->u[0] * (v[TH_H] + v[TH_H + 1] - 2.0 * v[PHI]);
    for (int k = 0; k < SPRINGS; k++) {
        const vehicle_spring *e = &s->springs[k];
        const double x = measure(e, q) - e->rest, x_t = measure(e, v);
        out->potential += 0.5 * e->k * x * x;
        out->power -= e->c * x_t * x_t;
    }
    for (int k = 0; k < TYRES; k++) {
        const double *ring = q + RING + 3 * k, *rate = v + RING + 3 * k;
        const double d = fmax(y_0 - ring[1], 0.0);
        const ring_road x = calc_road(ring, rate, p->z[k]);
        out->potential += 0.5 * K_res * d * d;
        out->power += (x.N - K_res * d) * rate[1] + x.F * (rate[0] + R * rate[2]) +
                      x.resistance * rate[2];
    }
    return 0;
}

static int outputs(void *self, const bg_point *p, const double *a, const double *lambda, double *y)
{
    (void)self;
    (void)a;
    (void)lambda;
    for (int k = 0; k < TYRES; k++) {
        const ring_road x = calc_road(p->q + RING + 3 * k, p->v + RING + 3 * k, p->z[k]);
        y[k] = x.N;
        y[TYRES + k] = x.F;
    }
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err);

static const bg_parameter parameters[] = {
    {"driven", 0.0, "", "1: heavy axles with the inertia of a driveline (60 kg, 6 kg m^2)"},
    {"V", 10.0, "m/s", "speed at the start"},
    {"torque", 150.0, "N m", "drive torque on each wheel, -torque (1 - cos pi t)"},
    {"spins", 0.0, "", "1: the angles of the hubs are among the fast ones"},
};

const bg_equations bg_equations_planar_vehicle = {
    .abi = BG_ABI,
    .name = "planar-vehicle",
    .summary = "planar vehicle on two rigid-ring tyres, slow and fast parts (dual rate)",
    .parameters = parameters,
    .nparameters = 4,
    .define = define,
};

static void set_springs(vehicle *s)
{
    for (int k = 0; k < TYRES; k++) {
        const int x = RING + 3 * k;
        vehicle_spring *e = s->springs + TYRES + 3 * k;
        s->springs[k] = (vehicle_spring){3,  {Y, PHI, Y_H + k}, {1.0, l[k], -1.0}, k_s[k], c_s[k],
                                         0.0};
        e[0] = (vehicle_spring){3, {x, X, PHI}, {1.0, -1.0, -h}, K_wall, C_wall, l[k]};
        e[1] = (vehicle_spring){2, {x + 1, Y_H + k}, {1.0, -1.0}, K_wall, C_wall, 0.0};
        e[2] = (vehicle_spring){2, {x + 2, TH_H + k}, {1.0, -1.0}, K_turn, C_turn, 0.0};
    }
}

/* Heights and free lengths at rest with phi = 0 and Y = R + h; then it rolls without slip. */
static void set_start(vehicle *s, double V)
{
    s->q0[Y] = R + h;
    s->v0[X] = V;
    for (int k = 0; k < TYRES; k++) {
        const double share = m * gravity * fabs(l[1 - k]) / (l[0] - l[1]);
        const double wall = share + s->m_H * gravity, load = wall + m_R * gravity;
        const int ring = RING + 3 * k;
        s->q0[ring] = l[k];
        s->q0[ring + 1] = y_0 - load / K_res;
        s->q0[Y_H + k] = s->q0[ring + 1] - wall / K_wall;
        s->springs[k].rest = s->q0[Y] - s->q0[Y_H + k] + share / k_s[k];
        s->v0[ring] = V;
        s->v0[ring + 2] = s->v0[TH_H + k] = -V / R;
    }
}

static vehicle *create(const double *values)
{
    vehicle *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->torque = values[2];
    s->m_H = values[0] > 0 ? 60.0 : 24.649;
    s->I_H = values[0] > 0 ? 6.0 : 0.5862;
    s->weight[Y] = -m * gravity;
    for (int k = 0; k < TYRES; k++) {
        s->weight[Y_H + k] = -s->m_H * gravity;
        s->weight[RING + 3 * k + 1] = -m_R * gravity;
        s->z_part[k] = BG_PART_FAST;
    }
    for (int i = 0; i < N; i++)
        s->v_part[i] = i >= RING || (i >= TH_H && values[3] > 0) ? BG_PART_FAST : BG_PART_SLOW;
    set_springs(s);
    set_start(s, values[1]);
    return s;
}

static void set_functions(bg_system_def *def)
{
    unsigned char(*supplied)[BG_BY_COUNT] = def->derivative_supplied;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_h;
    def->terms = terms;
    def->accelerate = accelerate;
    def->accelerate_part = accelerate_part;
    def->derivatives = derivatives;
    def->derivative_cost = 1;
    for (int by = BG_BY_q; by <= BG_BY_z; by++)
        supplied[BG_OF_r][by] = supplied[BG_OF_h][by] = 1;
    supplied[BG_OF_r][BG_BY_u] = 1;
    def->inputs = inputs;
    def->energy = energy;
    def->outputs = outputs;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const q_names[] = {"X",    "Y",    "phi",   "y_H1", "y_H2", "th_H1", "th_H2",
                                          "x_R1", "y_R1", "th_R1", "x_R2", "y_R2", "th_R2"};
    static const char *const v_names[] = {"X_t",     "Y_t",     "phi_t",  "y_H1_t", "y_H2_t",
                                          "th_H1_t", "th_H2_t", "x_R1_t", "y_R1_t", "th_R1_t",
                                          "x_R2_t",  "y_R2_t",  "th_R2_t"};
    static const char *const z_names[] = {"slip1", "slip2"}, *const u_names[] = {"torque"};
    static const char *const y_names[] = {"N1", "N2", "F1", "F2"};
    const bg_equations *family = &bg_equations_planar_vehicle;
    const bg_status status = bg_parameters_check(family, values, "0rr0", err);
    if (status)
        return status;
    vehicle *s = create(values);
    if (!s)
        return bg_equations_no_memory(family, err);
    def->nq = def->nv = N;
    def->nz = TYRES;
    def->nu = 1;
    def->ny = 2 * TYRES;
    def->self = s;
    def->destroy = free;
    set_functions(def);
    def->v_part = s->v_part;
    def->z_part = s->z_part;
    def->q_names = q_names;
    def->v_names = v_names;
    def->z_names = z_names;
    def->u_names = u_names;
    def->y_names = y_names;
    def->q0 = s->q0;
    def->v0 = s->v0;
    def->t_end = 3.0;
    return BG_OK;
}

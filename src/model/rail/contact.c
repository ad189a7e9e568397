/* The gap of a wheel over a rail, by a soft minimum.
 *
 * Circle Y of the wheel, of radius R and slope R_Y = dR/dY, touches a rail that is straight along x
 * where the wheel's normal e - R_Y n has no x component; n the axle, e the unit vector from the
 * circle's centre to the point, e . n = 0. So e_x = R_Y n_x, and with b = 1 - n_x^2 = n_y^2 + n_z^2
 *
 *   e = (R_Y n_x / b) (x - n_x n) - S (x cross n),      S = sqrt(b - R_Y^2 n_x^2) / b,
 *
 * downwards. The point, with T = Y - R R_Y n_x^2 / b and U = R S, is
 *
 *   P_x = n_x (Y + R R_Y),   P_y = y + n_y T + n_z U,   P_z = z + n_z T - n_y U,
 *
 * P_x from the centre. b stands for 1 - n_x^2, so that T and U are functions of n_x alone. The gap
 * along the normal is d = c (P_z - h(sign P_y - base - origin)), c = 1/sqrt(1 + R_Y^2), and
 *
 *   gap = -eps ln( (1/l) integral exp(-d/eps) du ),   u the arc length of the wheel's profile.
 *
 * With weights p ~ exp(-d/eps), means E and covariances Cov under them,
 *
 *   gap_i = E d_i,      gap_ij = E d_ij - Cov(d_i, d_j)/eps,      E[f]_i = E f_i - Cov(f, d_i)/eps,
 *   gap_ivv = E d_ivv - (2 Cov(d_iv, d_v) + Cov(d_vv, d_i))/eps + Cum(d_i, d_v, d_v)/eps^2,
 *
 * Cum the third cumulant, along a direction v. Points whose weight is below e^-40 do not count:
 * only stretches are looked into at whose ends d is near its least. */
#include "model/rail/contact.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { ARGS = BG_RAIL_CONTACT_ARGS, Y = 0, Z, N_Y, N_Z, N_X, STRETCH = 8 };

static const double beyond = 40; /* of eps: weights below e^-40 */
/* By how much d may fall below its values at a stretch's ends: where it has a minimum between them,
 * kappa L^2/8 of a stretch of length L, which is 5 eps (points.c); m, and of eps. */
static const double bulge[2] = {1e-4, 10};

/* T and U of a point and their derivatives by n_x. */
typedef struct lateral {
    double T[4], U[4];
} lateral;

/* f(a), a = n_x^2: derivatives by n_x from those by a. */
static void chain(double n, const double by_a[4], double out[4])
{
    out[0] = by_a[0];
    out[1] = 2 * n * by_a[1];
    out[2] = 4 * n * n * by_a[2] + 2 * by_a[1];
    out[3] = 8 * n * n * n * by_a[3] + 12 * n * by_a[2];
}

static void calc_lateral(const bg_wheel_point *p, double n_x, lateral *out)
{
    const double a = n_x * n_x, m = 1 / (1 - a), k = 1 + p->R_Y * p->R_Y, square = 1 - k * a;
    const double q = sqrt(square), tilt = p->R * p->R_Y;
    const double q1 = -k / (2 * q), q2 = -k * k / (4 * q * square);
    const double q3 = -3 * k * k * k / (8 * q * square * square);
    const double T[4] = {p->Y - tilt * a * m, -tilt * m * m, -2 * tilt * m * m * m,
                         -6 * tilt * m * m * m * m};
    const double U[4] = {p->R * q * m, p->R * m * (q1 + q * m),
                         p->R * m * (q2 + 2 * m * (q1 + q * m)),
                         p->R * m * (q3 + 3 * m * (q2 + 2 * m * (q1 + q * m)))};
    chain(n_x, T, out->T);
    chain(n_x, U, out->U);
}

static double calc_rail(const bg_rail_contact *k, double P_y)
{
    return k->sign * P_y - k->base - k->origin;
}

/* A point that may count, as its gap needs it. */
typedef struct candidate {
    int index, piece;       /* of the wheel's points, and of the rail's profile */
    double d, T, U, q, P_y; /* q: U = R q / (1 - n_x^2) */
} candidate;

/* Those that may count; d becomes their weight when the least is known, 0: they do not. */
typedef struct window {
    candidate point[BG_RAIL_CONTACT_POINTS];
    int n;
    double least;
} window;

/* What all points share. */
typedef struct pose {
    const double *x;
    double a, m, am; /* n_x^2, 1/(1 - n_x^2), and their product */
} pose;

/* The gap of point c->index; INFINITY: it cannot touch, as its normal cannot be without x
 * component. The rail's piece is looked for from `piece` on. */
static inline void calc_distance(const bg_rail_contact *k, const pose *at, int piece, candidate *c)
{
    const bg_wheel_point *w = &k->points[c->index];
    const double square = 1 - w->k * at->a;
    c->d = INFINITY;
    c->piece = piece;
    if (!(square > 1e-6 && at->a < 1))
        return;
    c->q = sqrt(square);
    c->T = w->Y - w->tilt * at->am;
    c->U = w->R * c->q * at->m;
    c->P_y = at->x[Y] + at->x[N_Y] * c->T + at->x[N_Z] * c->U;
    const double P_z = at->x[Z] + at->x[N_Z] * c->T - at->x[N_Y] * c->U;
    c->d = w->c * (P_z - bg_profile_calc_height(k->rail, calc_rail(k, c->P_y), &c->piece));
}

/* A point and its derivatives by the arguments. */
typedef struct local {
    const bg_wheel_point *w;
    lateral l;
    double P_y, P_z, h[4];
    double A[ARGS], B[ARGS];     /* P_y and P_z by the arguments */
    double A_n[ARGS], B_n[ARGS]; /* and once more by n_x; other second derivatives are zero */
    double d1[ARGS], d2[ARGS][ARGS];
} local;

static void calc_slopes(const double *x, local *t)
{
    const lateral *l = &t->l;
    const double ny = x[N_Y], nz = x[N_Z];
    const double A[ARGS] = {1, 0, l->T[0], l->U[0], ny * l->T[1] + nz * l->U[1]};
    const double B[ARGS] = {0, 1, -l->U[0], l->T[0], nz * l->T[1] - ny * l->U[1]};
    memcpy(t->A, A, sizeof A);
    memcpy(t->B, B, sizeof B);
    for (int i = 0; i < ARGS; i++)
        t->d1[i] = t->w->c * (B[i] - t->h[1] * A[i]);
}

/* P_ij: with n_x among i, j alone. */
static double pick(const double P_n[ARGS], int i, int j)
{
    return j == N_X ? P_n[i] : i == N_X ? P_n[j] : 0;
}

static void calc_bends(const double *x, local *t)
{
    const lateral *l = &t->l;
    const double ny = x[N_Y], nz = x[N_Z];
    const double A_n[ARGS] = {0, 0, l->T[1], l->U[1], ny * l->T[2] + nz * l->U[2]};
    const double B_n[ARGS] = {0, 0, -l->U[1], l->T[1], nz * l->T[2] - ny * l->U[2]};
    memcpy(t->A_n, A_n, sizeof A_n);
    memcpy(t->B_n, B_n, sizeof B_n);
}

static void calc_second(local *t)
{
    for (int i = 0; i < ARGS; i++)
        for (int j = i; j < ARGS; j++)
            t->d2[i][j] = t->d2[j][i] = t->w->c *
                                        (pick(t->B_n, i, j) - t->h[1] * pick(t->A_n, i, j) -
                                         t->h[2] * t->A[i] * t->A[j]);
}

/* Sums over the points with weights p. */
typedef struct contact_sums {
    double p, f[BG_RAIL_CONTACT_MEANS], f_i[BG_RAIL_CONTACT_MEANS][ARGS],
        fd[BG_RAIL_CONTACT_MEANS][ARGS];
    double d[ARGS], dd[ARGS][ARGS], d_ij[ARGS][ARGS];
    double d_iv_v[ARGS], d_vv_i[ARGS], d_ivv[ARGS], d_i_v_v[ARGS]; /* along v */
} contact_sums;

/* d_ij = c (B_ij - h' A_ij - h'' A_i A_j), of which A_ij and B_ij are with n_x alone. */
static void add_second(contact_sums *s, double p, const local *t,
                       const double f[BG_RAIL_CONTACT_MEANS])
{
    const double pc = p * t->w->c, bend = pc * t->h[2];
    for (int i = 0; i < ARGS; i++) {
        const double pd = p * t->d1[i], bent = bend * t->A[i];
        for (int j = i; j < ARGS; j++) {
            s->dd[i][j] += pd * t->d1[j];
            s->d_ij[i][j] -= bent * t->A[j];
        }
        s->d_ij[i][N_X] += pc * (t->B_n[i] - t->h[1] * t->A_n[i]);
        for (int n = 0; n < BG_RAIL_CONTACT_MEANS; n++)
            s->fd[n][i] += pd * f[n];
        s->f_i[BG_RAIL_CONTACT_Y][i] += p * t->A[i];
        s->f_i[BG_RAIL_CONTACT_Z][i] += p * t->B[i];
    }
}

/* Third derivatives of P_y or P_z, twice along v: only those with n_x twice are not zero, P_nn. */
static void contract(const double P_nn[ARGS], const double v[ARGS], double out[ARGS])
{
    const double n = v[N_X];
    out[N_X] = P_nn[N_X] * n * n;
    for (int i = 0; i < N_X; i++) {
        out[i] = P_nn[i] * n * n;
        out[N_X] += 2 * P_nn[i] * v[i] * n;
    }
}

/* What third derivatives need along v, d_i less its mean m: cumulants are moments then. */
static void add_third(contact_sums *s, double p, const double *x, const local *t,
                      const double v[ARGS], const double m[ARGS])
{
    const lateral *l = &t->l;
    const double A_nn[ARGS] = {0, 0, l->T[2], l->U[2], x[N_Y] * l->T[3] + x[N_Z] * l->U[3]};
    const double B_nn[ARGS] = {0, 0, -l->U[2], l->T[2], x[N_Z] * l->T[3] - x[N_Y] * l->U[3]};
    double A_ivv[ARGS], B_ivv[ARGS], d_iv[ARGS] = {0}, A_iv[ARGS] = {0};
    double e = 0, d_vv = 0, A_v = 0, A_vv = 0; /* e: d_v less its mean */
    contract(A_nn, v, A_ivv);
    contract(B_nn, v, B_ivv);
    for (int i = 0; i < ARGS; i++) {
        for (int j = 0; j < ARGS; j++) {
            d_iv[i] += t->d2[i][j] * v[j];
            A_iv[i] += pick(t->A_n, i, j) * v[j];
        }
        e += v[i] * (t->d1[i] - m[i]);
        A_v += v[i] * t->A[i];
        d_vv += v[i] * d_iv[i];
        A_vv += v[i] * A_iv[i];
    }
    for (int i = 0; i < ARGS; i++) {
        const double bend = 2 * A_iv[i] * A_v + A_vv * t->A[i];
        s->d_ivv[i] += p * t->w->c *
                       (B_ivv[i] - t->h[1] * A_ivv[i] - t->h[2] * bend -
                        t->h[3] * t->A[i] * A_v * A_v);
        s->d_iv_v[i] += p * d_iv[i] * e;
        s->d_vv_i[i] += p * d_vv * (t->d1[i] - m[i]);
        s->d_i_v_v[i] += p * (t->d1[i] - m[i]) * e * e;
    }
}

/* T and U by n_x. */
static void calc_turn(const pose *at, const bg_wheel_point *w, const candidate *c, double *T_n,
                      double *U_n)
{
    const double twice = 2 * at->x[N_X] * at->m;
    *T_n = -twice * w->tilt * at->m;
    *U_n = twice * w->R * (c->q * at->m - w->k / (2 * c->q));
}

/* Sums of first derivatives and of means, over all points. Derivatives by n_y, n_z and n_x share
 * sums: P_y and P_z have T and U, and T_n and U_n, as slopes. */
static void add_first(const bg_rail_contact *k, const pose *at, const window *w, contact_sums *s)
{
    const double ny = at->x[N_Y], nz = at->x[N_Z];
    double sum = 0, c_ = 0, h_ = 0, cT = 0, cU = 0, hT = 0, hU = 0, cT_n = 0, cU_n = 0, hT_n = 0,
           hU_n = 0, y = 0, z = 0, reach = 0, place = 0, R = 0;
    for (int i = 0; i < w->n; i++) {
        const candidate *c = &w->point[i];
        const bg_wheel_point *x = &k->points[c->index];
        const double p = c->d, pc = p * x->c;
        if (p == 0)
            continue;
        const double ph = pc * bg_profile_calc_slope(k->rail, calc_rail(k, c->P_y), c->piece);
        double T_n, U_n;
        calc_turn(at, x, c, &T_n, &U_n);
        sum += p;
        c_ += pc, h_ += ph;
        cT += pc * c->T, cU += pc * c->U;
        hT += ph * c->T, hU += ph * c->U;
        cT_n += pc * T_n, cU_n += pc * U_n;
        hT_n += ph * T_n, hU_n += ph * U_n;
        y += p * c->T, z += p * c->U; /* for the moment */
        reach += p * (x->Y + x->tilt);
        place += p * x->s;
        R += p * x->R;
    }
    const double sign = k->sign;
    s->p = sum;
    s->d[Y] = -sign * h_;
    s->d[Z] = c_;
    s->d[N_Y] = -cU - sign * hT;
    s->d[N_Z] = cT - sign * hU;
    s->d[N_X] = nz * cT_n - ny * cU_n - sign * (ny * hT_n + nz * hU_n);
    s->f[BG_RAIL_CONTACT_Y] = sum * at->x[Y] + ny * y + nz * z;
    s->f[BG_RAIL_CONTACT_Z] = sum * at->x[Z] + nz * y - ny * z;
    s->f[BG_RAIL_CONTACT_REACH] = reach;
    s->f[BG_RAIL_CONTACT_S] = place;
    s->f[BG_RAIL_CONTACT_R] = R;
}

/* A point with all its derivatives. */
static void make_local(const bg_rail_contact *k, const pose *at, const candidate *c, local *t)
{
    int piece = c->piece;
    t->w = &k->points[c->index];
    t->P_y = c->P_y;
    t->P_z = at->x[Z] + at->x[N_Z] * c->T - at->x[N_Y] * c->U;
    calc_lateral(t->w, at->x[N_X], &t->l);
    bg_profile_calc_near(k->rail, calc_rail(k, c->P_y), &piece, t->h);
    t->h[1] *= k->sign; /* by P_y from here on */
    t->h[3] *= k->sign;
    calc_slopes(at->x, t);
    calc_bends(at->x, t);
}

/* Every STRETCH-th point, which ends a stretch, and the least gap of them. */
static double scan(const bg_rail_contact *k, const pose *at, candidate *end)
{
    double least = INFINITY;
    int piece = 0;
    for (int i = 0, n = 0; i < k->n; i += STRETCH, n++) {
        end[n].index = i;
        calc_distance(k, at, piece, &end[n]);
        piece = end[n].piece;
        least = end[n].d < least ? end[n].d : least;
    }
    return least;
}

/* Points that may count, with their gaps. */
static void select_points(const bg_rail_contact *k, const pose *at, window *w)
{
    candidate end[BG_RAIL_CONTACT_POINTS / STRETCH + 1];
    const double limit = scan(k, at, end) + fmax(bulge[0], bulge[1] * k->epsilon) +
                         beyond * k->epsilon;
    const int stretches = (k->n - 1) / STRETCH;
    w->n = 0;
    w->least = INFINITY;
    for (int n = 0; n <= stretches; n++) {
        if (!(end[n].d < limit || (n < stretches && end[n + 1].d < limit)))
            continue;
        const int last = n < stretches ? (n + 1) * STRETCH : k->n;
        int piece = end[n].piece;
        w->least = end[n].d < w->least ? end[n].d : w->least;
        w->point[w->n++] = end[n];
        for (int i = end[n].index + 1; i < last; i++) {
            candidate *c = &w->point[w->n++];
            c->index = i;
            calc_distance(k, at, piece, c);
            piece = c->piece;
            w->least = c->d < w->least ? c->d : w->least;
        }
    }
}

/* Points far from the least gap have no weight. */
static void weigh(const bg_rail_contact *k, window *w)
{
    for (int i = 0; i < w->n; i++) {
        candidate *c = &w->point[i];
        const double far = (c->d - w->least) / k->epsilon;
        c->d = far < beyond ? k->points[c->index].du * exp(-far) : 0;
    }
}

static void finish_second(const bg_rail_contact *k, const pose *at, const window *w,
                          contact_sums *s, bg_rail_contact_state *y)
{
    for (int i = 0; i < w->n; i++) {
        local t;
        if (w->point[i].d == 0)
            continue;
        make_local(k, at, &w->point[i], &t);
        const double f[BG_RAIL_CONTACT_MEANS] = {t.P_y, t.P_z, t.w->Y + t.w->tilt, t.w->s, t.w->R};
        add_second(s, w->point[i].d, &t, f);
    }
    for (int i = 0; i < ARGS; i++) {
        for (int j = i; j < ARGS; j++)
            y->gap_xx[i][j] = y->gap_xx[j][i] = s->d_ij[i][j] / s->p -
                                                (s->dd[i][j] / s->p - y->gap_x[i] * y->gap_x[j]) /
                                                    k->epsilon;
        for (int n = 0; n < BG_RAIL_CONTACT_MEANS; n++)
            y->mean_x[n][i] = s->f_i[n][i] / s->p -
                              (s->fd[n][i] / s->p - y->mean[n] * y->gap_x[i]) / k->epsilon;
    }
}

static void finish_third(const bg_rail_contact *k, const pose *at, const window *w, double p,
                         bg_rail_contact_state *y)
{
    const double eps = k->epsilon;
    contact_sums s = {0};
    for (int i = 0; i < w->n; i++) {
        local t;
        if (w->point[i].d == 0)
            continue;
        make_local(k, at, &w->point[i], &t);
        calc_second(&t);
        add_third(&s, w->point[i].d, at->x, &t, y->along, y->gap_x);
    }
    for (int i = 0; i < ARGS; i++)
        y->gap_xvv[i] = (s.d_ivv[i] - (2 * s.d_iv_v[i] + s.d_vv_i[i]) / eps +
                         s.d_i_v_v[i] / (eps * eps)) /
                        p;
}

bool bg_rail_contact_calc(const bg_rail_contact *k, int order, bg_rail_contact_state *y)
{
    const double a = y->x[N_X] * y->x[N_X], m = 1 / (1 - a);
    const pose at = {y->x, a, m, a * m};
    window w;
    contact_sums s = {0};
    select_points(k, &at, &w);
    y->order = order;
    if (!isfinite(w.least))
        return false;
    weigh(k, &w);
    add_first(k, &at, &w, &s);
    y->gap = w.least - k->epsilon * log(s.p / k->length);
    for (int i = 0; i < ARGS; i++)
        y->gap_x[i] = s.d[i] / s.p;
    for (int n = 0; n < BG_RAIL_CONTACT_MEANS; n++)
        y->mean[n] = s.f[n] / s.p;
    if (order >= 2)
        finish_second(k, &at, &w, &s, y);
    if (order >= 3)
        finish_third(k, &at, &w, s.p, y);
    return true;
}

void bg_rail_contact_measure(const bg_rail_contact *k, const bg_world *w, double x[ARGS])
{
    const bg_mat3 A = bg_marker_get_axes(w, &k->a), B = bg_marker_get_axes(w, &k->b);
    const bg_vec3 d = bg_rotate_back(
        &A, bg_sub(bg_marker_get_position(w, &k->b), bg_marker_get_position(w, &k->a)));
    const bg_vec3 n = bg_rotate_back(&A, bg_axis(&B, 1));
    x[Y] = d.y, x[Z] = d.z, x[N_Y] = n.y, x[N_Z] = n.z, x[N_X] = n.x;
}

const bg_rail_contact_state *bg_world_get_rail_contact(const bg_world *w, int k, int order)
{
    bg_rail_contact_state *y = &w->contact_state[k];
    double x[ARGS];
    bg_rail_contact_measure(&w->contacts[k], w, x);
    if (y->order >= order && y->order > 0 && memcmp(x, y->x, sizeof x) == 0)
        return y;
    memcpy(y->x, x, sizeof x);
    if (!bg_rail_contact_calc(&w->contacts[k], order, y)) { /* not a number spoils the step */
        memset(&y->gap, 0xff, sizeof *y - offsetof(bg_rail_contact_state, gap));
        y->order = 0;
    }
    return y;
}

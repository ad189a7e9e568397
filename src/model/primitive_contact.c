/* The row of a wheel on a rail: g = -gap(x), x_k five products of poses (rail/contact.h), which
 * have rows J_k, gammas and stiffnesses K_k of their own (primitive_parts.h). With nu the twists of
 * both bodies, x'_k = J_k nu,
 *
 *   J       = -sum gap_k J_k,         gamma = -sum gap_k gamma_k - sum gap_kl x'_k x'_l,
 *   K       = -lambda (sum gap_k K_k + sum gap_kl J_k^T J_l),
 *   dgamma  = -sum gap_k dgamma_k - sum gap_kl (gamma_k J_l dp + 2 x'_k (nu^T K_l dp + J_l dnu))
 *             - sum gap_klm x'_k x'_l J_m dp. */
#include "model/primitive_parts.h"
#include "model/rail/contact.h"

#include <string.h>

enum { ARGS = BG_RAIL_CONTACT_ARGS };

/* The five products: A_y . d, A_z . d, and the axle n = b_y along A_y, A_z, A_x. */
typedef struct products {
    bg_body_pair pair;
    bg_vec3 axis[ARGS], n;
} products;

static bool is_slide(int k)
{
    return k < 2;
}

static products make_products(const bg_world *w, const bg_primitive *p)
{
    static const int axes[ARGS] = {1, 2, 1, 2, 0};
    products x = {.pair = bg_body_pair_make(w, &p->a, &p->b), .n = bg_marker_get_axis(w, &p->b, 1)};
    for (int k = 0; k < ARGS; k++)
        x.axis[k] = bg_marker_get_axis(w, &p->a, axes[k]);
    return x;
}

static void calc_rows(const products *x, double J[ARGS][12])
{
    for (int k = 0; k < ARGS; k++) {
        if (is_slide(k))
            bg_slide_calc_jacobian(&x->pair, x->axis[k], 1, J[k]);
        else
            bg_axes_calc_jacobian(x->axis[k], x->n, 1, J[k]);
    }
}

static double calc_gamma(const products *x, int k)
{
    return is_slide(k) ? bg_slide_calc_gamma(&x->pair, x->axis[k])
                       : bg_axes_calc_gamma(&x->pair, x->axis[k], x->n);
}

static void add_stiffness(const products *x, int k, double factor, double K[12][12])
{
    if (is_slide(k))
        bg_slide_add_stiffness(&x->pair, x->axis[k], factor, K);
    else
        bg_axes_add_stiffness(x->axis[k], x->n, factor, K);
}

static void load_twists(const bg_world *w, const bg_primitive *p, double nu[12])
{
    const bg_body_state *a = &w->body[p->a.body], *b = &w->body[p->b.body];
    bg_vec3_store(a->v, nu);
    bg_vec3_store(a->w, nu + 3);
    bg_vec3_store(b->v, nu + 6);
    bg_vec3_store(b->w, nu + 9);
}

/* x' */
static void calc_rates(const bg_world *w, const bg_primitive *p, double J[ARGS][12],
                       double rate[ARGS])
{
    double nu[12];
    load_twists(w, p, nu);
    for (int k = 0; k < ARGS; k++) {
        rate[k] = 0;
        for (int i = 0; i < 12; i++)
            rate[k] += J[k][i] * nu[i];
    }
}

void bg_rail_contact_calc_row(const bg_world *w, const bg_primitive *p, double *g)
{
    g[0] = -bg_world_get_rail_contact(w, p->contact, 1)->gap;
}

void bg_rail_contact_calc_jacobian(const bg_world *w, const bg_primitive *p, double *J)
{
    const bg_rail_contact_state *y = bg_world_get_rail_contact(w, p->contact, 1);
    const products x = make_products(w, p);
    double rows[ARGS][12];
    calc_rows(&x, rows);
    memset(J, 0, 12 * sizeof *J);
    for (int k = 0; k < ARGS; k++)
        for (int i = 0; i < 12; i++)
            J[i] -= y->gap_x[k] * rows[k][i];
}

void bg_rail_contact_calc_gamma(const bg_world *w, const bg_primitive *p, double *gamma)
{
    const bg_rail_contact_state *y = bg_world_get_rail_contact(w, p->contact, 2);
    const products x = make_products(w, p);
    double rows[ARGS][12], rate[ARGS];
    calc_rows(&x, rows);
    calc_rates(w, p, rows, rate);
    gamma[0] = 0;
    for (int k = 0; k < ARGS; k++) {
        gamma[0] -= y->gap_x[k] * calc_gamma(&x, k);
        for (int l = 0; l < ARGS; l++)
            gamma[0] -= y->gap_xx[k][l] * rate[k] * rate[l];
    }
}

void bg_rail_contact_calc_stiffness(const bg_world *w, const bg_primitive *p, double lambda,
                                    double K[12][12])
{
    const bg_rail_contact_state *y = bg_world_get_rail_contact(w, p->contact, 2);
    const products x = make_products(w, p);
    double rows[ARGS][12];
    calc_rows(&x, rows);
    for (int k = 0; k < ARGS; k++) {
        double row[12] = {0}; /* sum over l of gap_kl J_l */
        add_stiffness(&x, k, -lambda * y->gap_x[k], K);
        for (int l = 0; l < ARGS; l++)
            for (int j = 0; j < 12; j++)
                row[j] += y->gap_xx[k][l] * rows[l][j];
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++)
                K[i][j] -= lambda * rows[k][i] * row[j];
    }
}

/* out += factor nu^T K_l */
static void add_turned(const bg_world *w, const bg_primitive *p, const products *x, int l,
                       double factor, double *out)
{
    double K[12][12] = {{0}}, nu[12];
    load_twists(w, p, nu);
    add_stiffness(x, l, factor, K);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            out[j] += nu[i] * K[i][j];
}

void bg_rail_contact_calc_gamma_derivatives(const bg_world *w, const bg_primitive *p,
                                            double *by_pose, double *by_twist)
{
    const products x = make_products(w, p);
    bg_rail_contact_state y = {0};
    double rows[ARGS][12];
    calc_rows(&x, rows);
    bg_rail_contact_measure(&w->contacts[p->contact], w, y.x);
    calc_rates(w, p, rows, y.along);
    bg_rail_contact_calc(&w->contacts[p->contact], 3, &y);
    for (int k = 0; k < ARGS; k++) {
        if (is_slide(k))
            bg_slide_add_gamma(&x.pair, x.axis[k], -y.gap_x[k], by_pose, by_twist);
        else
            bg_axes_add_gamma(&x.pair, x.axis[k], x.n, -y.gap_x[k], by_pose, by_twist);
    }
    for (int l = 0; l < ARGS; l++) {
        double pull = 0, turn = 0; /* sums over k of gap_kl gamma_k and gap_kl x'_k */
        for (int k = 0; k < ARGS; k++) {
            pull += y.gap_xx[k][l] * calc_gamma(&x, k);
            turn += y.gap_xx[k][l] * y.along[k];
        }
        for (int i = 0; i < 12; i++) {
            by_pose[i] -= (pull + y.gap_xvv[l]) * rows[l][i];
            by_twist[i] -= 2 * turn * rows[l][i];
        }
        add_turned(w, p, &x, l, -2 * turn, by_pose);
    }
}

/* The amplification matrix is not derived but observed: one step of the implemented method from
 * each unit vector. With A = h^2 a and B = h b the limits are, from the characteristic polynomial
 * of one step (000 section 2; semi and explicit Euler in the same way), J1            A <= 2 B + 4
 *     J3            B <= 2,  A <= 4 - 2 B
 *     none          2 B - 4 <= A <= B
 *     exact, J2     always,  semi too: det = (1 + A)/(1 + A + B), 1 + det - tr = A/(1 + A + B). */
#include "integrators/stability.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-9, shortest = 1e-6, longest = 1e4;
enum { BISECTIONS = 60 };

struct bg_stability {
    double a, b, h;
    bg_system *system;
    bg_state *start;
    bg_integrator *integrator;
};

static int calc_terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const bg_stability *s = self;
    if (want & BG_TERM_M)
        out->M[0] = 1;
    if (want & BG_TERM_f)
        out->f[0] = -s->a * p->q[0] - s->b * p->v[0];
    return 0;
}

static int calc_derivatives(void *self, const bg_point *p, const double *a, const double *lambda,
                            bg_derivatives *out)
{
    const bg_stability *s = self;
    (void)p, (void)a, (void)lambda;
    if (out->block[BG_OF_r][BG_BY_q])
        out->block[BG_OF_r][BG_BY_q][0] = s->a;
    if (out->block[BG_OF_r][BG_BY_v])
        out->block[BG_OF_r][BG_BY_v][0] = s->b;
    return 0;
}

bg_status bg_stability_create(const bg_stability_method *method, double h, bg_stability **stability,
                              bg_error *err)
{
    bg_system_def def = bg_default_system_def();
    bg_integrator_options options = bg_default_integrator_options();
    bg_stability *s = *stability = BG_NEW(bg_stability);
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the test equation");
    s->h = options.step = h;
    options.energy = 0;
    options.settings = method->settings;
    options.nsettings = method->nsettings;
    def.name = "test equation";
    def.nq = def.nv = 1;
    def.self = s;
    def.supplied = BG_TERM_M | BG_TERM_f;
    def.terms = calc_terms;
    def.derivative_supplied[BG_OF_r][BG_BY_q] = def.derivative_supplied[BG_OF_r][BG_BY_v] = 1;
    def.derivatives = calc_derivatives;
    bg_status st = bg_system_create(&def, &s->system, err);
    if (st == BG_OK)
        st = bg_state_create(s->system, &s->start, err);
    if (st == BG_OK)
        st = bg_integrator_create(method->integrator, s->system, &options, &s->integrator, err);
    if (st != BG_OK) {
        bg_stability_destroy(s);
        *stability = NULL;
    }
    return st;
}

void bg_stability_destroy(bg_stability *s)
{
    if (!s)
        return;
    bg_integrator_destroy(s->integrator);
    bg_state_destroy(s->start);
    bg_system_destroy(s->system);
    free(s);
}

bg_status bg_stability_calc_matrix(bg_stability *s, double a, double b, double A[2][2],
                                   bg_error *err)
{
    s->a = a;
    s->b = b;
    for (int column = 0; column < 2; column++) {
        s->start->q[0] = column == 0;
        s->start->v[0] = column == 1;
        s->start->a[0] = column == 0 ? -a : -b;
        bg_status st = bg_integrator_start(s->integrator, s->start, NULL, s->h, err);
        if (st == BG_OK)
            st = bg_integrator_step(s->integrator, err);
        if (st != BG_OK)
            return st;
        const bg_state *end = bg_integrator_get_state(s->integrator);
        A[0][column] = end->q[0];
        A[1][column] = end->v[0];
    }
    return BG_OK;
}

double bg_stability_calc_excess(double A[2][2])
{
    double trace = A[0][0] + A[1][1], det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    return fmax(fabs(det) - 1, fabs(trace) - 1 - det);
}

bool bg_stability_is_stable(double excess)
{
    return excess <= rounding;
}

static bg_status is_stable(const bg_stability_method *method, double a, double b, double h,
                           bool *stable, bg_error *err)
{
    bg_stability *s;
    double A[2][2];
    bg_status st = bg_stability_create(method, h, &s, err);
    if (st == BG_OK)
        st = bg_stability_calc_matrix(s, a, b, A, err);
    if (st == BG_OK)
        *stable = bg_stability_is_stable(bg_stability_calc_excess(A));
    bg_stability_destroy(s);
    return st;
}

bg_status bg_stability_find_limit(const bg_stability_method *method, double a, double b,
                                  double *limit, bg_error *err)
{
    double low = shortest, high = longest;
    bool stable = false;
    bg_status st = is_stable(method, a, b, high, &stable, err);
    if (st != BG_OK || stable) {
        *limit = HUGE_VAL;
        return st;
    }
    st = is_stable(method, a, b, low, &stable, err);
    if (st != BG_OK || !stable) {
        *limit = 0;
        return st;
    }
    for (int k = 0; k < BISECTIONS && st == BG_OK; k++) {
        double middle = sqrt(low * high);
        st = is_stable(method, a, b, middle, &stable, err);
        if (stable)
            low = middle;
        else
            high = middle;
    }
    *limit = low;
    return st;
}

static double limit_none(double a, double b)
{
    return b * b < 4 * a ? b / a : (b - sqrt(b * b - 4 * a)) / a;
}

static double limit_J1(double a, double b)
{
    return (b + sqrt(b * b + 4 * a)) / a;
}

static double limit_J3(double a, double b)
{
    return fmin(2 / b, (-b + sqrt(b * b + 4 * a)) / a);
}

static double limit_always(double a, double b)
{
    (void)a, (void)b;
    return HUGE_VAL;
}

const bg_stability_theory *bg_stability_find_theory(const bg_stability_method *method)
{
    static const struct {
        const char *jacobian;
        bg_stability_theory theory;
    } table[] = {
        {"none", {"2 h b - 4 <= h^2 a <= h b", limit_none}},
        {"J1", {"h^2 a <= 2 h b + 4", limit_J1}},
        {"J2", {"always", limit_always}},
        {"J3", {"h b <= 2 and h^2 a <= 4 - 2 h b", limit_J3}},
        {"exact", {"always", limit_always}},
        {"semi", {"always", limit_always}},
    };
    const char *jacobian = "J2", *partition = "all";
    if (strcmp(method->integrator, "euler") == 0)
        jacobian = "none";
    else if (strcmp(method->integrator, "linear-euler") != 0)
        return NULL;
    for (int i = 0; i < method->nsettings; i++) /* what is said last counts */
        if (strcmp(method->settings[i].name, "jacobian") == 0)
            jacobian = method->settings[i].value;
        else if (strcmp(method->settings[i].name, "partition") == 0)
            partition = method->settings[i].value;
    if (strcmp(jacobian, "J1") == 0 && strcmp(partition, "all") != 0)
        return NULL; /* what is left out takes its part of the limit */
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strcmp(table[k].jacobian, jacobian) == 0)
            return &table[k].theory;
    return NULL;
}

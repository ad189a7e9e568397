/* Order conditions of partitioned Runge-Kutta methods by rooted trees whose nodes are slow or fast
 * (Hairer, Norsett and Wanner 1993, II.15): 2 of order 1, 4 of order 2, 14 of order 3, 52 of order
 * 4. Each node has the tableau of its own kind; children of a node that are alike may be exchanged,
 * which leaves one of both conditions. */
#include "integrators/prk_pair.h"

#include <math.h>
#include <string.h>

static const char *const hat[] = {"", "^"};

typedef struct vector {
    double x[BG_PRK_STAGES];
} vector;

typedef struct condition_collector {
    const bg_prk_pair *pair;
    bg_prk_condition *list;
    int count;
} condition_collector;

/* A_k x. */
static vector apply(const bg_prk_pair *p, int k, const vector *x)
{
    vector y = {{0}};
    for (int i = 0; i < p->stages; i++)
        for (int j = 0; j < i; j++)
            y.x[i] += p->of[k].a[i][j] * x->x[j];
    return y;
}

static vector multiply(const vector *x, const vector *y)
{
    vector z = {{0}};
    for (int i = 0; i < BG_PRK_STAGES; i++)
        z.x[i] = x->x[i] * y->x[i];
    return z;
}

/* Both weights times x are 1/gamma. */
static void add(condition_collector *to, int order, double gamma, const char *name, const vector *x)
{
    for (int k = 0; k < 2; k++) {
        bg_prk_condition *c = &to->list[to->count++];
        *c = (bg_prk_condition){.order = order, .wanted = 1 / gamma};
        snprintf(c->name, sizeof c->name, "b%s.%s", hat[k], name);
        for (int i = 0; i < to->pair->stages; i++)
            c->value += to->pair->of[k].b[i] * x->x[i];
    }
}

static vector get_c(const bg_prk_pair *p, int k)
{
    vector c = {{0}};
    memcpy(c.x, p->of[k].c, (size_t)p->stages * sizeof(double));
    return c;
}

/* Trees of three nodes, and those of four that hang one of them on a root. */
static void add_three(condition_collector *to, int order)
{
    const bg_prk_pair *p = to->pair;
    char name[32];
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) {
            vector cr = get_c(p, r), cs = get_c(p, s), product = multiply(&cr, &cs),
                   chain = apply(p, r, &cs);
            if (r <= s && order == 3) {
                snprintf(name, sizeof name, "(c%s c%s)", hat[r], hat[s]);
                add(to, 3, 3, name, &product);
            }
            if (order == 3) {
                snprintf(name, sizeof name, "(A%s c%s)", hat[r], hat[s]);
                add(to, 3, 6, name, &chain);
            }
            for (int k = 0; k < 2 && order == 4; k++) {
                vector x = apply(p, k, &chain), c = get_c(p, k), y = multiply(&c, &chain);
                snprintf(name, sizeof name, "(A%s A%s c%s)", hat[k], hat[r], hat[s]);
                add(to, 4, 24, name, &x);
                snprintf(name, sizeof name, "(c%s (A%s c%s))", hat[k], hat[r], hat[s]);
                add(to, 4, 8, name, &y);
                x = apply(p, k, &product);
                snprintf(name, sizeof name, "(A%s (c%s c%s))", hat[k], hat[r], hat[s]);
                if (r <= s)
                    add(to, 4, 12, name, &x);
                y = multiply(&c, &product);
                snprintf(name, sizeof name, "(c%s c%s c%s)", hat[r], hat[s], hat[k]);
                if (r <= s && s <= k)
                    add(to, 4, 4, name, &y);
            }
        }
}

int bg_prk_pair_calc_conditions(const bg_prk_pair *p, int order, bg_prk_condition *list)
{
    condition_collector to = {p, list, 0};
    vector e = {{0}};
    for (int i = 0; i < p->stages; i++)
        e.x[i] = 1;
    add(&to, 1, 1, "e", &e);
    for (int k = 0; k < 2 && order >= 2; k++) {
        vector c = get_c(p, k);
        add(&to, 2, 2, k == BG_PRK_SLOW ? "c" : "c^", &c);
    }
    for (int k = 3; k <= order && k <= BG_PRK_ORDER; k++)
        add_three(&to, k);
    return to.count;
}

double bg_prk_pair_find_worst(const bg_prk_pair *p, int order, bg_prk_condition *worst)
{
    bg_prk_condition list[BG_PRK_CONDITIONS];
    int n = bg_prk_pair_calc_conditions(p, order, list);
    *worst = list[0];
    for (int k = 1; k < n; k++)
        if (!(fabs(list[k].value - list[k].wanted) <= fabs(worst->value - worst->wanted)))
            *worst = list[k];
    return fabs(worst->value - worst->wanted);
}

int bg_prk_pair_calc_order(const bg_prk_pair *p, double tolerance)
{
    bg_prk_condition worst;
    int order = 0;
    while (order < BG_PRK_ORDER && bg_prk_pair_find_worst(p, order + 1, &worst) <= tolerance)
        order++;
    return order;
}

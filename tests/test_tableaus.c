/* Coefficients of Runge-Kutta pairs: all order conditions, by rooted trees.
 *
 * A method with the matrix A and weights b has order p when b . Phi(t) = 1/gamma(t) for every
 * rooted tree t with at most p nodes: Phi of one node is 1 for every stage, Phi of a root with the
 * subtrees t1, t2, ... is the product of A Phi(t1), A Phi(t2), ..., and gamma is the number of
 * nodes times the product of the gamma of the subtrees (Hairer, Norsett and Wanner 1993, II.2).
 * Dense output with weights b(theta) has b(theta) . Phi(t) = theta^nodes/gamma(t). */
#include "integrators/dop853.h"
#include "integrators/dopri5.h"
#include "run_support.h"

enum { STAGES = 16, TREES = 512, ORDER_MAX = 9 };

typedef struct rooted_tree {
    int nodes;
    double gamma, phi[STAGES];
} rooted_tree;

typedef struct rooted_forest {
    int stages, count;
    double A[STAGES][STAGES];
    rooted_tree tree[TREES];
} rooted_forest;

/* Adds the trees of `nodes` nodes whose root so far is t, with `left` nodes to hang on in subtrees
 * that come no earlier than `first`. */
static void grow(rooted_forest *f, rooted_tree t, int left, int first, int known)
{
    if (left == 0) {
        t.gamma *= t.nodes;
        assert_true(f->count < TREES);
        f->tree[f->count++] = t;
        return;
    }
    for (int k = first; k < known; k++) {
        const rooted_tree *sub = &f->tree[k];
        rooted_tree next = t;
        if (sub->nodes > left)
            continue;
        next.gamma *= sub->gamma;
        for (int i = 0; i < f->stages; i++) {
            double sum = 0;
            for (int j = 0; j < f->stages; j++)
                sum += f->A[i][j] * sub->phi[j];
            next.phi[i] *= sum;
        }
        grow(f, next, left - sub->nodes, k, known);
    }
}

static void plant(rooted_forest *f)
{
    f->count = 0;
    for (int nodes = 1; nodes <= ORDER_MAX; nodes++) {
        rooted_tree root = {.nodes = nodes, .gamma = 1};
        for (int i = 0; i < f->stages; i++)
            root.phi[i] = 1;
        grow(f, root, nodes - 1, 0, f->count);
    }
}

/* The largest deviation in the conditions of trees with `nodes` nodes. */
static double calc_gap(const rooted_forest *f, const double *b, double theta, int nodes)
{
    double gap = 0;
    for (int k = 0; k < f->count; k++) {
        const rooted_tree *t = &f->tree[k];
        double sum = 0;
        for (int i = 0; i < f->stages && t->nodes == nodes; i++)
            sum += b[i] * t->phi[i];
        if (t->nodes == nodes)
            gap = fmax(gap, fabs(sum - pow(theta, nodes) / t->gamma));
    }
    return gap;
}

/* Weights fulfil the conditions up to `order` and not those of the next one. */
static void check_weights(const rooted_forest *f, const double *b, double theta, int order)
{
    for (int p = 1; p <= order; p++)
        assert_true(calc_gap(f, b, theta, p) < 2e-14);
    assert_true(calc_gap(f, b, theta, order + 1) > 1e-7);
}

static void take_pair(rooted_forest *f, const bg_pair *pair)
{
    memset(f, 0, sizeof *f);
    f->stages = pair->stages;
    for (int i = 0; i < pair->stages; i++) {
        double sum = 0;
        for (int j = 0; j < pair->stages - 1; j++)
            sum += f->A[i][j] = pair->a[i * (pair->stages - 1) + j];
        assert_true(fabs(sum - pair->c[i]) < 1e-14);
    }
}

/* Weights of the shared polynomial of dense.c at theta, over the rates of all stages; the end of
 * the step is stage `end`. */
static void calc_dense(const rooted_forest *f, int end, const double *d, int bubbles, double theta,
                       double *b)
{
    double rest = 1 - theta;
    for (int j = 0; j < f->stages; j++) {
        double D = f->A[end][j], B = (j == 0) - D, inner = D - (j == end) - B, p = 0;
        for (int k = bubbles - 1; k >= 0; k--)
            p = (k % 2 ? theta : rest) * (d[k * f->stages + j] + p);
        b[j] = theta * (D + rest * (B + theta * (inner + p)));
    }
}

static void check_dense(const rooted_forest *f, int end, const double *d, int bubbles, int order)
{
    for (int k = 1; k < 8; k++) {
        double b[STAGES], theta = k / 8.0;
        calc_dense(f, end, d, bubbles, theta, b);
        check_weights(f, b, theta, order);
    }
}

static void test_trees(void **state)
{
    (void)state;
    static const int known[ORDER_MAX] = {1, 1, 2, 4, 9, 20, 48, 115, 286};
    static rooted_forest f;
    int count[ORDER_MAX] = {0};
    take_pair(&f, &bg_dopri5_pair);
    plant(&f);
    for (int k = 0; k < f.count; k++)
        count[f.tree[k].nodes - 1]++;
    assert_memory_equal(count, known, sizeof known);
}

static void test_dopri5(void **state)
{
    (void)state;
    static rooted_forest f;
    take_pair(&f, &bg_dopri5_pair);
    plant(&f);
    check_weights(&f, f.A[6], 1, 5);
    check_weights(&f, bg_dopri5.b_hat, 1, 4);
    check_dense(&f, 6, bg_dopri5.d, 1, 4);
}

static void test_dop853(void **state)
{
    (void)state;
    static rooted_forest f;
    double b_hat[STAGES] = {0}, b_low[STAGES] = {0};
    take_pair(&f, &bg_dop853_pair);
    memcpy(b_hat, bg_dop853.b_hat, sizeof bg_dop853.b_hat);
    memcpy(b_low, bg_dop853.b_low, sizeof bg_dop853.b_low);
    f.stages = STAGES;
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int j = 0; j < 15; j++)
            sum += f.A[13 + k][j] = bg_dop853.more[k][j];
        assert_true(fabs(sum - bg_dop853.c[13 + k]) < 1e-14);
    }
    plant(&f);
    check_weights(&f, f.A[12], 1, 8);
    check_weights(&f, b_hat, 1, 5);
    check_weights(&f, b_low, 1, 3);
    check_dense(&f, 12, bg_dop853.d[0], 4, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_dopri5),
        cmocka_unit_test(test_dop853),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

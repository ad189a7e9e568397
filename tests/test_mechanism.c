/* The mechanism compiler: which joints become the tree, which are cut, and how it is numbered. */
#include "model/mechanism.h"
#include "random_mechanism.h"
#include "run_support.h"

#include <time.h>

typedef struct compiled {
    bg_model *model;
    bg_mechanism *mech;
} compiled;

/* text is JSON with single quotes. */
static compiled compile(const char *text)
{
    bg_error err = {BG_OK, ""};
    compiled x;
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    assert_ok(bg_model_parse(copy, "test", NULL, 0, &x.model, &err));
    assert_ok(bg_mechanism_create(x.model, &x.mech, &err));
    free(copy);
    return x;
}

static void release(compiled *x)
{
    bg_mechanism_destroy(x->mech);
    bg_model_destroy(x->model);
}

/* Index of the joint with this name. */
static int find_joint(const compiled *x, const char *name)
{
    for (int k = 0; k < x->model->njoints; k++)
        if (strcmp(x->model->joints[k].name, name) == 0)
            return k;
    fail_msg("there is no joint %s", name);
    return -1;
}

static bool is_cut(const compiled *x, const char *name)
{
    int joint = find_joint(x, name);
    bool listed = false;
    for (int k = 0; k < x->mech->ncuts; k++)
        listed = listed || x->mech->cuts[k] == joint;
    assert_true(listed == (x->mech->joint_tree[joint] < 0));
    return listed;
}

static int count_rows(const compiled *x)
{
    int rows = 0;
    for (int k = 0; k < x->mech->ncuts; k++)
        rows += bg_joint_class_count_rows(x->model->joints[x->mech->cuts[k]].class_);
    return rows;
}

#define BODY(name, x) "'" name "': {'mass': 1, 'center': [" x ", 0, 1], 'inertia': [1, 1, 1]}"
#define JOINT(name, type, a, b, x, more)                                            \
    "'" name "': {'type': '" type "', 'bodies': ['" a "', '" b "'], 'at': [" x ", " \
    "0, 0]" more "}"
#define Y ", 'axis': [0, 1, 0]"

/* A plane four-bar through the ground: three hinges carry the tree, the ball is cheaper as a cut
 * than as three coordinates. */
static void test_ground_loop(void **state)
{
    (void)state;
    compiled x = compile("{'bodies': {" BODY("a", "0") ", " BODY("b", "1") ", " BODY(
        "c",
        "2") "}, 'joints': {" JOINT("ball", "spherical", "c", "ground", "3",
                                    "") ", " JOINT("j1", "revolute", "ground", "a", "0",
                                                   Y) ", " JOINT("j2", "revolute", "b", "a", "1",
                                                                 Y) ", " JOINT("j3", "revolute",
                                                                               "b", "c", "2",
                                                                               Y) "}}");
    assert_int_equal(x.mech->nv, 3);
    assert_int_equal(x.mech->nq, 3);
    assert_int_equal(x.mech->ntree, 3);
    assert_true(is_cut(&x, "ball"));
    assert_int_equal(count_rows(&x), 3);
    /* j2 is passed from its second body to its first */
    const bg_tree_joint *t = &x.mech->tree[x.mech->joint_tree[find_joint(&x, "j2")]];
    assert_true(t->reversed);
    assert_true(x.mech->links[t->first].sign == -1);
    t = &x.mech->tree[x.mech->joint_tree[find_joint(&x, "j1")]];
    assert_false(t->reversed);
    release(&x);
}

/* The user's word goes first: the ball in the tree, a hinge cut. */
static void test_forced(void **state)
{
    (void)state;
    compiled x = compile("{'bodies': {" BODY("a", "0") ", " BODY("b", "1") "}, 'joints': {" JOINT(
        "j1", "revolute", "ground", "a", "0",
        Y) ", " JOINT("j2", "revolute", "a", "b", "1",
                      Y ", 'cut': true") ", " JOINT("ball", "spherical", "b", "ground", "2",
                                                    ", 'cut': false") "}}");
    assert_true(is_cut(&x, "j2"));
    assert_false(is_cut(&x, "ball"));
    assert_false(is_cut(&x, "j1"));
    assert_int_equal(x.mech->nv, 4);
    assert_int_equal(x.mech->nq, 5);
    assert_int_equal(count_rows(&x), 5);
    release(&x);
}

/* Several trees: bodies without a way to the ground hang on one free joint each component, of the
 * component's first body in the file; constraints that cannot carry do not connect. */
static void test_loose_bodies(void **state)
{
    (void)state;
    compiled x = compile(
        "{'bodies': {" BODY("a", "0") ", " BODY("b", "1") ", " BODY("c", "2") ", " BODY(
            "d", "3") ", " BODY("e",
                                "4") "}, 'joints': {" JOINT("j1", "revolute", "c", "b", "1",
                                                            Y) ", " JOINT("j2", "prismatic",
                                                                          "ground", "d", "3",
                                                                          Y) ", 'rod': {'type': "
                                                                             "'distance', "
                                                                             "'points': ['a', "
                                                                             "'e']}, " JOINT(
                                                                                 "j3",
                                                                                 "fixe"
                                                                                 "d",
                                                                                 "d", "e", "4",
                                                                                 "") "}"
                                                                                     "}");
    int loose = 0;
    for (int k = 0; k < x.mech->ntree; k++) {
        const bg_tree_joint *t = &x.mech->tree[k];
        if (t->joint >= 0)
            continue;
        loose++;
        assert_int_equal(t->parent, 0);
        assert_int_equal(t->count, 4);
        const char *name = x.model->bodies[t->child].name;
        assert_true(strcmp(name, "a") == 0 || strcmp(name, "b") == 0);
    }
    assert_int_equal(loose, 2);
    assert_int_equal(x.mech->ntree, 5);
    assert_int_equal(x.mech->nv, 6 + 6 + 1 + 1);
    assert_int_equal(x.mech->nq, 7 + 7 + 1 + 1);
    assert_int_equal(x.mech->ncuts, 1);
    assert_true(is_cut(&x, "rod"));
    /* the fixed joint adds no link: d and e sit on the same one */
    assert_int_equal(x.mech->body_link[4], x.mech->body_link[5]);
    release(&x);
}

/* Of parallel ways the one with the fewest coordinates is taken, of equal ones the first. */
static void test_cheapest(void **state)
{
    (void)state;
    compiled x = compile("{'bodies': {" BODY("a", "0") ", " BODY("b", "1") "}, 'joints': {" JOINT(
        "wide", "free", "ground", "b", "1",
        "") ", " JOINT("cylinder", "cylindrical", "ground", "a", "0",
                       Y) ", " JOINT("second", "revolute", "a", "b", "1",
                                     Y) ", " JOINT("third", "revolute", "a", "b", "0.5", Y) "}}");
    assert_true(is_cut(&x, "wide"));
    assert_true(is_cut(&x, "third"));
    assert_int_equal(x.mech->nv, 3);
    assert_int_equal(count_rows(&x), 5); /* a free joint has none */
    release(&x);
}

static void test_five_link(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    compiled x;
    assert_ok(bg_model_read(BOGIE_SOURCE_DIR "/models/five-link-suspension.json", NULL, 0, &x.model,
                            &err));
    assert_ok(bg_mechanism_create(x.model, &x.mech, &err));
    assert_int_equal(x.mech->nv, 14);
    assert_int_equal(count_rows(&x), 12);
    assert_int_equal(x.mech->ncuts, 4);
    release(&x);
}

/* What a free joint starts with does not depend on whether it is written down, and in which
 * direction. */
static void test_free_start(void **state)
{
    (void)state;
    static const char *const joints[] = {
        "", "'j': {'type': 'free', 'bodies': ['ground', 'a'], 'at': [1, 2, 3]}",
        "'j': {'type': 'free', 'bodies': ['a', 'ground'], 'at': [1, 2, 3]}"};
    for (int k = 0; k < 3; k++) {
        bg_error err = {BG_OK, ""};
        char text[1024];
        snprintf(text, sizeof text,
                 "{'bodies': {'a': {'mass': 1, 'center': [1, 0, 0], 'inertia': [1, 2, 2.5], "
                 "'orientation': {'rpy': [1, 2, 3]}, 'velocity': [0.1, 0.2, 0.3], "
                 "'angular_velocity': [1, 2, 3]}}, 'joints': {%s}, 'outputs': {'v': {'velocity': "
                 "'a'}, 'w': {'angular_velocity': 'a'}}}",
                 joints[k]);
        compiled x = compile(text);
        bg_system *sys;
        bg_state *s;
        double y[6];
        static const double expected[] = {0.1, 0.2, 0.3, 1, 2, 3};
        assert_ok(bg_model_create_system(x.model, "joint", &sys, &err));
        assert_ok(bg_state_create(sys, &s, &err));
        bg_point p = {.q = s->q, .v = s->v};
        const bg_system_def *def = bg_system_get_def(sys);
        assert_int_equal(def->ny, 6);
        assert_int_equal(def->outputs(def->self, &p, s->a, s->lambda, y), 0);
        for (int i = 0; i < 6; i++)
            assert_true(fabs(y[i] - expected[i]) < 1e-14);
        bg_state_destroy(s);
        bg_system_destroy(sys);
        release(&x);
    }
}

/* Parents before children, subtrees without gaps, coordinates one after another, and behind them
 * what follows signals. */
static void check_numbering(const bg_mechanism *x)
{
    int nq = 0, nv = 0, following = 0;
    for (int k = 0; k < x->nlinks; k++) {
        const bg_link *l = &x->links[k];
        bool follows = l->signal >= 0;
        assert_int_equal(l->q, follows ? x->nq + following : nq);
        assert_int_equal(l->v, nv);
        assert_int_equal(l->place, follows ? x->nv + following : nv);
        assert_int_equal(l->nv, follows ? 0 : bg_link_count_motions(l));
        nq += follows ? 0 : l->kind == BG_LINK_BALL ? 4 : 1;
        nv += l->nv;
        following += follows;
        assert_true(l->parent < k);
        assert_true(l->last > k && l->last <= x->nlinks);
        for (int i = k + 1; i < x->nlinks; i++) { /* inside exactly when k is on the way back */
            int a = i;
            while (a > k)
                a = x->links[a].parent;
            assert_true((a == k) == (i < l->last));
        }
    }
    assert_int_equal(x->nq, nq);
    assert_int_equal(x->nv, nv);
}

/* The offset of every body leads back to its pose in the design position. */
static void check_design(const bg_mechanism *x)
{
    const bg_model *m = x->model;
    for (int b = 1; b < m->nbodies; b++) {
        bg_frame pose = x->body_offset[b];
        for (int k = x->body_link[b]; k >= 0; k = x->links[k].parent)
            pose = bg_frame_multiply(&x->links[k].before, &pose);
        assert_true(bg_length(bg_sub(pose.r, m->bodies[b].pose.r)) < 1e-13);
        for (int i = 0; i < 3; i++)
            assert_true(bg_length(bg_sub(bg_axis(&pose.R, i), bg_axis(&m->bodies[b].pose.R, i))) <
                        1e-13);
    }
}

/* The least number of coordinates a spanning tree can have: Kruskal, where Prim is used inside. */
static int count_coordinates(const bg_model *m)
{
    int component[RANDOM_BODIES + 1], total = 0;
    for (int b = 0; b < m->nbodies; b++)
        component[b] = b;
    for (int cost = 0; cost <= 6; cost++)
        for (int k = 0; k < m->njoints; k++) {
            const bg_joint *j = &m->joints[k];
            int from = component[j->b.body], to = component[j->a.body];
            if (j->class_->constraint_only || j->cut == BG_CUT_FORCE || from == to ||
                bg_joint_class_count_velocities(j->class_) != cost)
                continue;
            for (int b = 0; b < m->nbodies; b++)
                component[b] = component[b] == from ? to : component[b];
            total += cost;
        }
    for (int c = 0; c < m->nbodies; c++) { /* components without the ground get a free joint */
        bool any = false;
        for (int b = 0; b < m->nbodies; b++)
            any = any || component[b] == c;
        total += any && c != component[0] ? 6 : 0;
    }
    return total;
}

static void test_random(void **state)
{
    (void)state;
    int reversed = 0, cuts = 0;
    for (unsigned seed = 1; seed <= 200; seed++) {
        random_mechanism r = random_mechanism_make(seed), again = random_mechanism_make(seed);
        assert_string_equal(r.text, again.text);
        compiled x = compile(r.text), y = compile(r.text);
        int carrying = 0;
        assert_int_equal(x.mech->ntree, x.model->nbodies - 1);
        for (int k = 0; k < x.mech->ntree; k++) {
            carrying += x.mech->tree[k].joint >= 0;
            reversed += x.mech->tree[k].reversed;
        }
        cuts += x.mech->ncuts;
        assert_int_equal(carrying + x.mech->ncuts, x.model->njoints);
        assert_int_equal(x.mech->nv + x.mech->nfollowing, count_coordinates(x.model));
        check_numbering(x.mech);
        check_design(x.mech);
        assert_int_equal(y.mech->nlinks, x.mech->nlinks);
        for (int k = 0; k < x.mech->nlinks; k++)
            assert_int_equal(y.mech->links[k].joint, x.mech->links[k].joint);
        release(&x);
        release(&y);
        free(r.text);
        free(again.text);
    }
    print_message("%d joints passed backwards, %d cut\n", reversed, cuts);
    assert_true(reversed > 200 && cuts > 100);
}

/* Of equal joints, those with a start or an input come into the tree: D, the last in the file. */
static void test_start_in_tree(void **state)
{
    (void)state;
    static const char *const starts[] = {"", ", 'initial': 0.1", ", 'initial': {'fixed': true}",
                                         ", 'prescribed': 'u'"};
    for (int k = 0; k < 4; k++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "{'inputs': {'u': 't'}, 'bodies': {" BODY("a", "0") ", " BODY("b", "1") ", " BODY(
                "c",
                "2") "}, 'joints': {" JOINT("A", "revolute", "ground", "a", "0",
                                            Y) ", " JOINT("B", "revolute", "a", "b", "1",
                                                          Y) ", " JOINT("C", "revolute", "b", "c",
                                                                        "2",
                                                                        Y) ", " JOINT("D",
                                                                                      "revolute",
                                                                                      "c", "ground",
                                                                                      "3",
                                                                                      Y "%s") "}}",
            starts[k]);
        compiled x = compile(text);
        assert_true(is_cut(&x, k > 0 ? "C" : "D"));
        assert_int_equal(x.mech->ncuts, 1);
        release(&x);
    }
}

/* A net of n bodies in a shuffled file: body k hangs on body k / 3 by a joint of one of four types,
 * and every fifth has another joint to a body far away. */
static compiled compile_net(int n)
{
    static const char *const types[] = {
        "'type': 'spherical'", "'type': 'revolute', 'axis': [0, 1, 0]",
        "'type': 'universal', 'axis': [1, 0, 0], 'second': [0, 1, 0]",
        "'type': 'prismatic', 'axis': [0, 0, 1]"};
    size_t size = (size_t)n * 400 + 100;
    char *text = malloc(size), *end = text;
    assert_non_null(text);
    end += sprintf(end, "{'bodies': {");
    for (int k = 0; k < n; k++)
        end += sprintf(end, "%s'b%d': {'mass': 1, 'center': [%d, 0, 0], 'inertia': [1, 1, 1]}",
                       k > 0 ? ", " : "", (k * 7) % n, k);
    end += sprintf(end, "}, 'joints': {");
    for (int i = 0; i < n; i++) {
        int k = (i * 11) % n;
        char parent[16] = "ground";
        if (k > 0)
            snprintf(parent, sizeof parent, "b%d", k / 3);
        end += sprintf(end, "%s'j%d': {'bodies': ['b%d', '%s'], 'at': [%d, 0, 1], %s}",
                       i > 0 ? ", " : "", k, k, parent, k, types[k % 4]);
        if (k % 5 == 4)
            end += sprintf(end, ", 'x%d': {'bodies': ['b%d', 'b%d'], 'at': [0, 0, 1], %s}", k,
                           (k * 13 + 1) % n == k ? 0 : (k * 13 + 1) % n, k, types[(k / 5) % 4]);
    }
    sprintf(end, "}}");
    compiled x = compile(text);
    free(text);
    return x;
}

static int price(const bg_joint *j)
{
    return bg_joint_class_count_velocities(j->class_);
}

/* The forest is the one of the plainest search: again and again all joints, the cheapest that
 * reaches a new body, the first of equals. */
static void test_same_as_plain_search(void **state)
{
    (void)state;
    enum { N = 2000 };
    compiled x = compile_net(N);
    const bg_model *m = x.model;
    bool *reached = calloc((size_t)m->nbodies, sizeof *reached);
    int best, joined = 0;
    reached[0] = true;
    do {
        best = -1;
        for (int k = 0; k < m->njoints; k++)
            if (reached[m->joints[k].a.body] != reached[m->joints[k].b.body] &&
                (best < 0 || price(&m->joints[k]) < price(&m->joints[best])))
                best = k;
        if (best >= 0) {
            assert_true(x.mech->joint_tree[best] >= 0);
            reached[m->joints[best].a.body] = reached[m->joints[best].b.body] = true;
            joined++;
        }
    } while (best >= 0);
    assert_int_equal(joined, N);
    assert_int_equal(x.mech->ntree, N);
    assert_true(x.mech->ncuts >= N / 5 - 1);
    free(reached);
    release(&x);
}

static double time_net(int n)
{
    bg_error err;
    compiled x = compile_net(n);
    double best = INFINITY;
    for (int i = 0; i < 5; i++) {
        bg_mechanism_destroy(x.mech);
        clock_t from = clock();
        assert_ok(bg_mechanism_create(x.model, &x.mech, &err));
        best = fmin(best, (double)(clock() - from) / CLOCKS_PER_SEC);
    }
    release(&x);
    return best;
}

/* Ten times the bodies take about ten times as long; a search over all for each would take a
 * hundred times. */
static void test_cost(void **state)
{
    (void)state;
    double few = time_net(4000), many = time_net(40000);
    print_message("4000 bodies: %.2g s, 40 000 bodies: %.2g s\n", few, many);
    assert_true(many < 60 * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ground_loop),  cmocka_unit_test(test_forced),
        cmocka_unit_test(test_loose_bodies), cmocka_unit_test(test_cheapest),
        cmocka_unit_test(test_five_link),    cmocka_unit_test(test_free_start),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_same_as_plain_search),
        cmocka_unit_test(test_cost),         cmocka_unit_test(test_start_in_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

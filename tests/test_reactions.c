/* Which reactions are not unique: the same joints in both forms and whatever is cut, on random
 * overconstrained mechanisms; and those one would name by hand. */
#include "assembled_support.h"
#include "model_support.h"

#include "random_mechanism.h"

#include <jansson.h>

enum { MOST = 64 };

typedef struct answer {
    int redundant, n;
    char names[MOST][16];
} answer;

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool has(const answer *x, const char *name)
{
    for (int k = 0; k < x->n; k++)
        if (strcmp(x->names[k], name) == 0)
            return true;
    return false;
}

/* In Cartesian form all joints have rows: those whose multipliers are not unique are named. */
static void check_rows(const bg_system *sys, const bg_assembly_report *report, const answer *x)
{
    const bg_system_def *def = bg_system_get_def(sys);
    for (int i = 0; i < def->ng; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", def->g_names[i]);
        *strchrnul(name, '.') = '\0';
        if (report->redundancy.not_unique[i] && !has(x, name))
            fail_msg("the multiplier of %s is not unique, but %s is not named", def->g_names[i],
                     name);
    }
}

static bool ask(json_t *root, const char *form, answer *out)
{
    char *text = json_dumps(root, JSON_REAL_PRECISION(17));
    assembled a = assembled_parse(text, form);
    bool good = a.status == BG_OK;
    *out = (answer){.redundant = a.report.redundancy.count, .n = a.report.nnot_unique};
    assert_true(out->n <= MOST);
    for (int k = 0; k < out->n; k++)
        snprintf(out->names[k], sizeof out->names[k], "%s", a.report.not_unique[k]);
    qsort(out->names, (size_t)out->n, sizeof out->names[0], compare_names);
    if (good && strcmp(form, "cartesian") == 0)
        check_rows(a.sys, &a.report, out);
    assembled_clear(&a);
    free(text);
    return good;
}

/* In the design position, at rest, without forces; perhaps a joint twice. */
static json_t *make_mechanism(unsigned seed, random_mechanism *m, uint64_t *draw)
{
    const char *key;
    json_t *value;
    *m = random_mechanism_make(seed);
    json_t *root = json_loads(m->text, 0, NULL), *joints = json_object_get(root, "joints");
    json_object_del(root, "tyres");
    json_object_del(root, "forces");
    json_object_del(root, "outputs");
    json_object_foreach(json_object_get(root, "bodies"), key, value)
    {
        json_object_del(value, "velocity");
        json_object_del(value, "angular_velocity");
    }
    json_object_foreach(joints, key, value)
    {
        json_object_del(value, "initial");
        json_object_del(value, "cut");
    }
    if (random_chance(draw, 0.5)) {
        char name[16];
        snprintf(name, sizeof name, "j%d", random_below(draw, m->joints));
        value = json_deep_copy(json_object_get(joints, name));
        json_object_del(value, "prescribed");
        json_object_set_new(joints, "twin", value);
    }
    return root;
}

static json_t *cut_some(json_t *root, const random_mechanism *m, uint64_t *draw)
{
    json_t *other = json_deep_copy(root);
    for (int k = 0; k < m->joints; k++) {
        char name[16];
        snprintf(name, sizeof name, "j%d", k);
        if (m->joint[k].type < RANDOM_TREE_TYPES && random_chance(draw, 0.4))
            json_object_set_new(json_object_get(json_object_get(other, "joints"), name), "cut",
                                json_true());
    }
    return other;
}

static void test_same_joints(void **state)
{
    (void)state;
    int mechanisms = 0, named = 0, different = 0;
    for (unsigned k = 0; k < 500; k++) {
        random_mechanism m;
        uint64_t draw = 40 + k;
        json_t *root = make_mechanism(7000 + k, &m, &draw);
        answer first, x;
        if (m.bodies < 10 && ask(root, "joint", &first) && first.redundant > 0) {
            mechanisms++;
            named += first.n;
            for (int how = 0; how < 4; how++) {
                json_t *other = how > 0 ? cut_some(root, &m, &draw) : json_incref(root);
                bool good = ask(other, forms[how < 2 ? 1 : 0], &x);
                bool same = good && x.n == first.n && x.redundant == first.redundant &&
                            memcmp(x.names, first.names, sizeof x.names) == 0;
                different += !same;
                if (!same)
                    print_message("seed %u, change %d: %d of %d redundant, %d not %d named\n",
                                  7000 + k, how, x.redundant, first.redundant, x.n, first.n);
                json_decref(other);
            }
        }
        json_decref(root);
        free(m.text);
    }
    print_message("%d overconstrained mechanisms, %d reactions named, %d different\n", mechanisms,
                  named, different);
    assert_true(mechanisms > 100 && named > 2 * mechanisms);
    assert_int_equal(different, 0);
}

/* A plane four-bar of hinges is overconstrained, and all four are named; what hangs on it is not.
 */
static void test_four_bar(void **state)
{
    (void)state;
    static const char *const cuts[] = {"A", "B", "C", "D"};
    char *text = quote(
        "{'bodies': {'crank': {'mass': 1, 'center': [0, 0, 0.5], 'inertia': [1, 1, 1]},"
        " 'coupler': {'mass': 1, 'center': [1, 0, 1], 'inertia': [1, 1, 1]},"
        " 'rocker': {'mass': 1, 'center': [2, 0, 0.5], 'inertia': [1, 1, 1]},"
        " 'bob': {'mass': 1, 'center': [1, 0, 0.7], 'inertia': [1, 1, 1]}},"
        " 'joints': {'A': {'type': 'revolute', 'bodies': ['ground', 'crank'], 'at': [0, 0, 0],"
        "   'axis': [0, 1, 0]},"
        "  'B': {'type': 'revolute', 'bodies': ['crank', 'coupler'], 'at': [0, 0, 1],"
        "   'axis': [0, 1, 0]},"
        "  'C': {'type': 'revolute', 'bodies': ['coupler', 'rocker'], 'at': [2, 0, 1.2],"
        "   'axis': [0, 1, 0]},"
        "  'D': {'type': 'revolute', 'bodies': ['rocker', 'ground'], 'at': [2, 0, 0],"
        "   'axis': [0, 1, 0]},"
        "  'pin': {'type': 'revolute', 'bodies': ['coupler', 'bob'], 'at': [1, 0, 1],"
        "   'axis': [0, 1, 0]}}}");
    for (int k = 0; k < 8; k++) {
        json_t *root = json_loads(text, 0, NULL);
        answer x;
        json_object_set_new(json_object_get(json_object_get(root, "joints"), cuts[k / 2]), "cut",
                            json_true());
        assert_true(ask(root, forms[k % 2], &x));
        assert_int_equal(x.redundant, 3);
        assert_int_equal(x.n, 4);
        for (int i = 0; i < 4; i++)
            assert_string_equal(x.names[i], cuts[i]);
        json_decref(root);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_joints),
        cmocka_unit_test(test_four_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Equilibria from starts that are far from them, as the program finds them: mechanisms that hang
 * on hinges, balls and rods with several equilibria or free turns, in both forms and turned; and
 * vehicles that are let fall onto the road, at rest, at speed, on slopes, or with their load beside
 * their wheels. */
#include "modes_support.h"
#include "random_mechanism.h"

typedef struct where {
    bg_mat3 turn;
    bg_vec3 shift;
} where;

static bg_mat3 draw_turn(uint64_t *seed)
{
    bg_vec3 axis = random_direction(seed);
    double half = random_between(seed, 0.2, 1.5), s = sin(half);
    return bg_rotation_from_quat((bg_quat){cos(half), s * axis.x, s * axis.y, s * axis.z});
}

static void put_vec3(FILE *out, const char *key, bg_vec3 a)
{
    fprintf(out, "\"%s\": [%.17g, %.17g, %.17g]", key, a.x, a.y, a.z);
}

static void put_free(FILE *out, const char *key, const where *w, bg_vec3 a)
{
    put_vec3(out, key, bg_rotate(&w->turn, a));
}

static void put_at(FILE *out, const char *key, const where *w, bg_vec3 a)
{
    put_vec3(out, key, bg_add(w->shift, bg_rotate(&w->turn, a)));
}

/* A joint of some type at `base`, its start beside the design position. */
static void put_hinge(FILE *out, const where *w, uint64_t *seed, int k, int before, bg_vec3 base)
{
    static const char *const types[] = {"revolute", "universal", "spherical"};
    int type = random_below(seed, 3);
    bg_vec3 axis = random_direction(seed);
    fprintf(out, "%s\"j%d\": {\"type\": \"%s\", \"bodies\": [\"", k > 1 ? ", " : "", k,
            types[type]);
    fprintf(out, before > 0 ? "b%d" : "ground", before);
    fprintf(out, "\", \"b%d\"], ", k);
    put_at(out, "at", w, base);
    if (type < 2) {
        fprintf(out, ", ");
        put_free(out, "axis", w, axis);
        fprintf(out, ", \"initial\": {\"angle\": %.17g}", random_between(seed, -1.5, 1.5));
    }
    if (type == 1) {
        fprintf(out, ", ");
        put_free(out, "second", w, bg_cross(axis, random_direction(seed)));
    }
    fprintf(out, "}");
}

/* Two to five bodies, each hung on one before, rods between some of them, springs to the ground. */
static char *make_hanging(unsigned number, const where *w)
{
    uint64_t seed = 131u * number + 7;
    int bodies = 2 + random_below(&seed, 4), before[8] = {0};
    bg_vec3 base[8], tip[8] = {{0, 0, 0}};
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "{\"name\": \"hanging\", ");
    put_free(out, "gravity", w, bg_vec3_make(0, 0, -9.81));
    fprintf(out, ", \"bodies\": {");
    for (int k = 1; k <= bodies; k++) {
        before[k] = k > 1 ? k - 1 - random_below(&seed, 2) : 0;
        base[k] = before[k] > 0 ? tip[before[k]] : random_vec3(&seed, 0.2);
        bg_vec3 way = random_vec3(&seed, 0.5);
        tip[k] = bg_add(base[k], bg_vec3_make(way.x, way.y, -0.2 - fabs(way.z)));
        double mass = random_between(&seed, 0.3, 10), J = mass * random_between(&seed, 0.02, 0.03);
        fprintf(out, "%s\"b%d\": {\"mass\": %.17g, \"inertia\": [%.17g, %.17g, %.17g], ",
                k > 1 ? ", " : "", k, mass, J, J, J);
        put_at(out, "center", w, bg_scale(0.5, bg_add(base[k], tip[k])));
        fprintf(out, ", \"points\": {");
        put_at(out, "tip", w, tip[k]);
        fprintf(out, "}}");
    }
    fprintf(out, "}, \"joints\": {");
    for (int k = 1; k <= bodies; k++)
        put_hinge(out, w, &seed, k, before[k], base[k]);
    if (bodies > 2 && random_chance(&seed, 0.5))
        fprintf(out, ", \"rod\": {\"type\": \"distance\", \"points\": [\"b1\", \"b%d.tip\"]}",
                bodies);
    fprintf(out, "}, \"forces\": {\"s\": {\"type\": \"spring-damper\", \"to\": \"b%d\", ", bodies);
    put_at(out, "from", w, random_vec3(&seed, 0.8));
    fprintf(out, ", \"stiffness\": %.17g, \"damping\": 1}}}", random_between(&seed, 20, 400));
    fclose(out);
    return text;
}

/* The equilibrium as a run starts in it, and its modes. */
static bg_status settle(linear_model *m, const char *text, const char *form, bg_error *err)
{
    linear_begin(m, text, form);
    bg_assembly_report_clear(&m->report);
    m->report = (bg_assembly_report){0};
    m->system->equilibrium = true;
    bg_status st = bg_start_find(m->evaluator, 0, m->state, &m->report, err);
    if (st == BG_OK)
        linear_find_modes(m);
    return st;
}

static bool have_like(const bg_mode *a, const bg_modes *all, double largest)
{
    for (int k = 0; k < all->count; k++)
        if (hypot(a->re - all->mode[k].re, a->im - all->mode[k].im) <= 1e-6 * largest)
            return true;
    return false;
}

static void test_hanging(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned number = 1; number <= (SANITIZED ? 6 : 60); number++) {
        const where places[2] = {{bg_rotation_from_quat((bg_quat){1, 0, 0, 0}), {0, 0, 0}},
                                 {draw_turn(&seed), {3, -20, 7}}};
        linear_model m[4];
        for (int k = 0; k < 4; k++) {
            bg_error err = {BG_OK, ""};
            char *text = make_hanging(number, &places[k / 2]);
            assert_ok(settle(&m[k], text, forms[k % 2], &err));
            const bg_modes *first = &m[0].modes, *own = &m[k].modes;
            assert_int_equal(own->unstable, 0);
            if (own->count != first->count || own->nfree != first->nfree)
                fail_msg("%u, %d: %d modes and %d free directions, not %d and %d", number, k,
                         own->count, own->nfree, first->count, first->nfree);
            for (int i = 0; i < own->count; i++)
                if (!have_like(&own->mode[i], first,
                               hypot(own->mode[own->count - 1].re, own->mode[own->count - 1].im)))
                    fail_msg("%u, %d: no mode is like %.9g %+.9g i", number, k, own->mode[i].re,
                             own->mode[i].im);
            free(text);
        }
        for (int k = 0; k < 4; k++)
            linear_end(&m[k]);
    }
}

typedef struct car {
    double drop, load, speed; /* m above the road; of the middle, in half lengths; m/s */
    bool slips;               /* on tyres that turn and slip, or on springs that follow the road */
    bg_vec3 gravity;
} car;

static char *make_car(unsigned number, const car *c)
{
    uint64_t seed = 57u * number + 3;
    double L = random_between(&seed, 0.8, 2), W = random_between(&seed, 0.5, 1);
    double R = random_between(&seed, 0.25, 0.5), M = random_between(&seed, 200, 3000);
    double k = 9.81 * M / 4 / random_between(&seed, 0.04, 0.1), z = R + c->drop, m = 0.02 * M;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "{\"name\": \"car\", ");
    put_vec3(out, "gravity", c->gravity);
    fprintf(out,
            ", \"bodies\": {\"car\": {\"mass\": %.17g, \"center\": [%.17g, %.17g, %.17g], "
            "\"inertia\": [%.17g, %.17g, %.17g], \"velocity\": [%.17g, 0, 0]}",
            M, c->load * L, random_between(&seed, -0.2, 0.2) * W, z + 0.3, M * W * W / 2,
            M * L * L / 2, M * L * L / 2, c->speed);
    for (int i = 0; i < 4; i++)
        for (int part = 0; part < 1 + c->slips; part++)
            fprintf(out,
                    ", \"%s%d\": {\"mass\": %.17g, \"center\": [%.17g, %.17g, %.17g], "
                    "\"inertia\": [%.17g, %.17g, %.17g]}",
                    part ? "wheel" : "hub", i, m, i < 2 ? L : -L, i % 2 ? W : -W, z, m * R * R / 3,
                    m * R * R / 2, m * R * R / 3);
    fprintf(out, "}, \"joints\": {\"flight\": {\"type\": \"free\", \"bodies\": [\"ground\", "
                 "\"car\"]}");
    for (int i = 0; i < 4; i++) {
        bg_vec3 at = {i < 2 ? L : -L, i % 2 ? W : -W, z};
        fprintf(out, ", \"slide%d\": {\"type\": \"prismatic\", \"bodies\": [\"car\", \"hub%d\"], ",
                i, i);
        put_vec3(out, "at", at);
        fprintf(out, ", \"axis\": [0, 0, 1]}");
        if (!c->slips)
            continue;
        fprintf(out,
                ", \"spin%d\": {\"type\": \"revolute\", \"bodies\": [\"hub%d\", \"wheel%d\"], ", i,
                i, i);
        put_vec3(out, "at", at);
        fprintf(out, ", \"axis\": [0, 1, 0], \"initial\": {\"velocity\": %.17g}}", c->speed / R);
    }
    fprintf(out, "}, \"forces\": {");
    for (int i = 0; i < 4; i++)
        fprintf(out,
                "%s\"f%d\": {\"type\": \"torsion\", \"joint\": \"slide%d\", \"stiffness\": %.17g, "
                "\"damping\": %.17g}",
                i > 0 ? ", " : "", i, i, k, 0.1 * k);
    fprintf(out, "}, \"road\": {\"type\": \"flat\"}, \"tyres\": {");
    for (int i = 0; i < 4; i++)
        fprintf(out,
                "%s\"t%d\": {\"type\": \"%s\", \"wheel\": \"%s%d\", \"radius\": %.17g, "
                "\"stiffness\": %.17g, \"damping\": %.17g%s}",
                i > 0 ? ", " : "", i, c->slips ? "fiala" : "point-follower",
                c->slips ? "wheel" : "hub", i, R, 5 * k, 0.01 * k,
                c->slips ? ", \"relaxation\": [0.05, 0.15], \"longitudinal_stiffness\": 1e5, "
                           "\"cornering_stiffness\": 5e4, \"friction\": 1, \"sliding_friction\": "
                           "0.9"
                         : "");
    fprintf(out, "}}");
    fclose(out);
    return text;
}

/* Cars in the air land, and stand or roll: nothing accelerates, nothing sinks, the car goes on as
 * fast as before. */
static void test_fall(void **state)
{
    (void)state;
    for (unsigned number = 0; number < (SANITIZED ? 4 : 24); number++)
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            const car c = {.drop = 0.04 * number,
                           .load = 0.02 * number - 0.2,
                           .speed = number % 4 < 2 ? 0 : 5 + 0.5 * number,
                           .slips = number % 2,
                           .gravity = {0, 0, -9.81}};
            char *text = make_car(number, &c);
            linear_model m;
            assert_ok(settle(&m, text, forms[form], &err));
            const bg_state *x = m.linearisation->at;
            for (int i = 0; i < m.system->def.nv && (form == 0 || c.speed == 0 || !c.slips); i++)
                if (!(fabs(x->a[i]) < 1e-7))
                    fail_msg("car %u, %s: acceleration %d is %g", number, forms[form], i, x->a[i]);
            assert_near(x->v[0], c.speed, 1e-3 * c.speed + 1e-12);
            assert_near(x->v[2], 0, 1e-9);
            linear_end(&m);
            free(text);
        }
}

/* On a slope they are told to slide or roll when they have landed, not to fall. */
static void test_slopes(void **state)
{
    (void)state;
    for (unsigned number = 0; number < (SANITIZED ? 3 : 12); number++) {
        bg_error err = {BG_OK, ""};
        double tilt = 0.03 + 0.01 * number, way = 0.5 * number;
        const car c = {.drop = 0.08 * number,
                       .slips = number % 2,
                       .gravity = {9.81 * sin(tilt) * cos(way), 9.81 * sin(tilt) * sin(way),
                                   -9.81 * cos(tilt)}};
        char *text = make_car(number, &c);
        linear_model m;
        assert_int_equal(settle(&m, text, "joint", &err), BG_NOT_CONVERGED);
        bool along = strstr(err.text, "'flight.x'") || strstr(err.text, "'flight.y'") ||
                     strstr(err.text, "'spin");
        if (!along)
            fail_msg("car %u: %s", number, err.text);
        linear_end(&m);
        free(text);
    }
}

/* A load beside the wheels tips the car over: what is found then is called doubtful, or none is,
 * and the sentence names the tyres on the other side, which lift off. */
static void test_outside(void **state)
{
    (void)state;
    for (unsigned number = 0; number < (SANITIZED ? 3 : 12); number++)
        for (int form = 0; form < 2; form++) {
            bg_error err = {BG_OK, ""};
            const car c = {.drop = 0.1 * (number % 3),
                           .load = (number % 2 ? 1 : -1) * (1.2 + 0.05 * number),
                           .slips = number % 4 > 1,
                           .gravity = {0, 0, -9.81}};
            char *text = make_car(number, &c);
            linear_model m;
            bg_status st = settle(&m, text, forms[form], &err);
            const char *told = st == BG_NOT_CONVERGED ? err.text : "";
            for (int i = 0; i < m.report.warnings.count; i++)
                if (m.report.warnings.items[i].verdict == BG_DOUBTFUL)
                    told = m.report.warnings.items[i].text;
            const bool behind = c.load < 0; /* tyres 0 and 1 are in front */
            if (!strstr(told, "no equilibrium") ||
                !(strstr(told, behind ? "tyre t0 lifts off" : "tyre t2 lifts off") ||
                  strstr(told, behind ? "tyre t1 lifts off" : "tyre t3 lifts off")) ||
                strstr(told, behind ? "tyre t2" : "tyre t0") ||
                strstr(told, behind ? "tyre t3" : "tyre t1"))
                fail_msg("car %u, %s, load at %g: '%s'", number, forms[form], c.load, told);
            linear_end(&m);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hanging), cmocka_unit_test(test_fall),
                                       cmocka_unit_test(test_slopes),
                                       cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

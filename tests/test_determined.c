/* Bodies without inertia: a model is refused exactly where its mass matrix is singular on the
 * motions that the constraints allow, wherever the body sits and however the mechanism is turned;
 * what is not refused runs. The mass matrix is looked at here by its eigenvalues, by the library by
 * the velocities that have kinetic energy. */
#include "evaluator_support.h"
#include "model_support.h"

#include "system/system.h"

#include "random_mechanism.h"

enum { BODIES = 5, COORDINATES = 40, CASES = SANITIZED ? 120 : 600 };

typedef struct determined_sample {
    uint64_t seed;
    int bodies, victim;
    bool aligned, loop;
    bg_vec3 place[BODIES + 1], axis[BODIES + 1], centre[BODIES + 1]; /* of joint b and body b */
    int parent[BODIES + 1], type[BODIES + 1];
    int kind;     /* of what is removed: 0 about an axis, 1 all inertia, 2 mass too */
    bg_vec3 none; /* that axis */
} determined_sample;

static bg_vec3 draw_axis(determined_sample *s)
{
    static const bg_vec3 x[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return s->aligned ? x[random_below(&s->seed, 3)] : random_direction(&s->seed);
}

/* A tree of one to five bodies, some on one axis with the one before, some with their centre on
 * their axis. */
static void draw_sample(determined_sample *s, uint64_t seed)
{
    *s = (determined_sample){.seed = seed};
    uint64_t *r = &s->seed;
    s->bodies = 1 + random_below(r, BODIES);
    s->aligned = random_chance(r, 0.3);
    for (int b = 1; b <= s->bodies; b++) {
        int p = s->parent[b] = random_below(r, b);
        bool coaxial = p > 0 && random_chance(r, 0.4);
        s->type[b] = random_chance(r, 0.6) ? 0 : random_chance(r, 0.6) ? 1 : 2;
        s->axis[b] = coaxial ? s->axis[p] : draw_axis(s);
        s->place[b] = coaxial ? bg_add_scaled(s->place[p], random_between(r, -1, 1), s->axis[p])
                              : bg_add(s->place[p], random_vec3(r, 1));
        s->centre[b] = bg_add_scaled(s->place[b], random_between(r, -1, 1), s->axis[b]);
        if (random_chance(r, 0.4))
            s->centre[b] = bg_add(s->centre[b], random_vec3(r, 0.5));
    }
    s->victim = 1 + random_below(r, s->bodies);
    s->kind = random_chance(r, 0.6) ? 0 : 1 + random_below(r, 2);
    s->none = random_chance(r, 0.7) ? s->axis[s->victim] : draw_axis(s);
    s->loop = random_chance(r, 0.4);
}

/* Principal moments 0, 0.1, 0.1 (or 0.05, ...) with the first axis along e. */
static void write_inertia(FILE *out, double about, bg_vec3 e)
{
    bg_vec3 x = {1, 0, 0}, turn = bg_cross(x, e);
    double angle = atan2(bg_length(turn), bg_dot(x, e));
    if (!(bg_length(turn) > 1e-12))
        turn = (bg_vec3){0, 0, 1};
    fprintf(out, "{\"principal\": [%.17g, 0.1, 0.1], \"orientation\": {", about);
    fprintf(out, "\"axis\": [%.17g, %.17g, %.17g], \"angle\": %.17g}}", turn.x, turn.y, turn.z,
            angle);
}

/* The model; about: the victim's moment about the axis without, or -1 for what the case says. */
static char *write_sample(const determined_sample *s, bool whole)
{
    static const char *const types[] = {"revolute", "spherical", "cylindrical"};
    char *text = NULL, name[16];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "{\"gravity\": 9.81, \"bodies\": {");
    for (int b = 1; b <= s->bodies; b++) {
        bool less = b == s->victim && !whole;
        fprintf(out, "%s\"b%d\": {\"mass\": %d", b > 1 ? ", " : "", b, !(less && s->kind == 2));
        random_write_vec3(out, "center", s->centre[b]);
        if (!less || s->kind == 0) {
            fprintf(out, ", \"inertia\": ");
            write_inertia(out, less ? 0 : 0.15, s->none);
        }
        fprintf(out, "}");
    }
    fprintf(out, "}, \"joints\": {");
    for (int b = 1; b <= s->bodies; b++) {
        fprintf(out, "%s\"j%d\": {\"type\": \"%s\", \"bodies\": [\"%s\", \"b%d\"]",
                b > 1 ? ", " : "", b, types[s->type[b]], random_body_name(s->parent[b], name), b);
        random_write_vec3(out, "at", s->place[b]);
        if (s->type[b] != 1)
            random_write_vec3(out, "axis", s->axis[b]);
        fprintf(out, "}");
    }
    if (s->loop) {
        bg_vec3 a = bg_add(s->centre[s->bodies], (bg_vec3){0.3, 0.2, -0.1});
        fprintf(out,
                ", \"rod\": {\"type\": \"distance\", \"points\": [{\"body\": \"ground\", \"at\": "
                "[3, 2, 1]}, {\"body\": \"b%d\", \"at\": [%.17g, %.17g, %.17g]}]}",
                s->bodies, a.x, a.y, a.z);
    }
    fprintf(out, "}}");
    fclose(out);
    return text;
}

/* M and G at the start, dense. */
static void calc_matrices(bg_system *sys, double *M, double *G)
{
    bg_error err = {BG_OK, ""};
    const bg_system_def *d = bg_system_get_def(sys);
    double m[COORDINATES * COORDINATES] = {0}, g[COORDINATES * COORDINATES] = {0};
    bg_terms out = {.M = m, .G = g};
    bg_state *x;
    bg_point p;
    assert_true(d->nv <= COORDINATES && d->ng <= COORDINATES);
    assert_ok(bg_state_create(sys, &x, &err));
    bg_evaluator *ev = new_evaluator(sys);
    assert_ok(bg_system_set_point(ev, x->t, x->q, x->v, x->z, x->mode, &p, &err));
    assert_ok(bg_system_calc_terms(ev, &p, BG_TERM_M | (d->ng > 0 ? BG_TERM_G : 0u), &out, &err));
    for (int part = 0; part < 2; part++) {
        const bg_pattern *pattern = part == 0 ? d->pattern_M : d->pattern_G;
        double *to = part == 0 ? M : G, *from = part == 0 ? m : g;
        int rows = part == 0 ? d->nv : d->ng;
        for (int i = 0, n = 0; i < rows; i++)
            for (int j = 0; j < d->nv; j++) {
                bool there = !pattern || (n < pattern->row_start[i + 1] && pattern->column[n] == j);
                to[i * d->nv + j] = there ? from[n++] : 0;
            }
    }
    bg_evaluator_destroy(ev);
    bg_state_destroy(x);
}

/* The smallest eigenvalue of a symmetric matrix, by rotations. */
static double calc_smallest(int n, double *A)
{
    double smallest = HUGE_VAL;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double theta = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]);
                double c = cos(theta), s = sin(theta);
                for (int k = 0; k < n; k++) {
                    double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y;
                    A[k * n + q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - s * y;
                    A[q * n + k] = s * x + c * y;
                }
            }
    for (int i = 0; i < n; i++)
        smallest = fmin(smallest, A[i * n + i]);
    return smallest;
}

/* Orthonormal rows Z of the null space of the rows of G. */
static int calc_null_space(int n, int m, const double *G, double *Z)
{
    double Q[2 * COORDINATES * COORDINATES];
    int kept = 0, rank = 0;
    for (int i = 0; i < m + n; i++) {
        double *q = Q + kept * n, length = 0, before = 0;
        for (int j = 0; j < n; j++) {
            q[j] = i < m ? G[i * n + j] : i - m == j;
            before += q[j] * q[j];
        }
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < kept; k++) {
                double h = 0;
                for (int j = 0; j < n; j++)
                    h += Q[k * n + j] * q[j];
                for (int j = 0; j < n; j++)
                    q[j] -= h * Q[k * n + j];
            }
        for (int j = 0; j < n; j++)
            length += q[j] * q[j];
        if (!(length > 1e-16 * before) || kept == n)
            continue;
        for (int j = 0; j < n; j++)
            q[j] /= sqrt(length);
        kept++;
        rank += i < m;
    }
    memcpy(Z, Q + rank * n, (size_t)((kept - rank) * n) * sizeof *Z);
    return kept - rank;
}

/* The smallest eigenvalue of M on the motions that G allows, each coordinate in units of the mass
 * it has in the whole model. */
static double calc_projected(bg_system *sys, bg_system *whole)
{
    double M[COORDINATES * COORDINATES], W[COORDINATES * COORDINATES];
    double G[COORDINATES * COORDINATES], Z[COORDINATES * COORDINATES], P[COORDINATES * COORDINATES];
    int n = bg_system_get_def(sys)->nv, m = bg_system_get_def(sys)->ng;
    calc_matrices(whole, W, G);
    calc_matrices(sys, M, G);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            M[i * n + j] /= sqrt(W[i * n + i] * W[j * n + j]);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            G[i * n + j] /= sqrt(W[j * n + j]);
    int f = calc_null_space(n, m, G, Z);
    for (int a = 0; a < f; a++)
        for (int b = 0; b < f; b++) {
            double sum = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    sum += Z[a * n + i] * M[i * n + j] * Z[b * n + j];
            P[a * f + b] = sum;
        }
    return f > 0 ? calc_smallest(f, P) : 1;
}

static bg_system *create(const char *text, const char *form, bg_model **model, bg_error *err)
{
    bg_system *sys = NULL;
    if (bg_model_parse(text, "test", NULL, 0, model, err) != BG_OK)
        fail_msg("%s\n%s", err->text, text);
    bg_model_create_system(*model, form, &sys, err);
    return sys;
}

/* Whether the model is refused, in this form. One that is not runs a little, so that no message
 * about masses can come later. */
static bool is_refused(const char *text, const char *form)
{
    bg_error err = {BG_OK, ""};
    bg_model *model;
    bg_system *sys = create(text, form, &model, &err);
    bg_run_options o = bg_default_run_options();
    bg_run_report r = {0};
    bg_status st = sys ? BG_OK : err.status;
    o.t_end = 0.02;
    o.method.rtol = o.method.atol = 1e-5;
    if (sys)
        st = bg_run(sys, &o, &r, &err);
    bool refused = st != BG_OK && st != BG_STEP_TOO_SMALL; /* that one: became singular later */
    if (refused && !(strstr(err.text, "nothing resists the motion") && st == BG_BAD_INPUT))
        fail_msg("%s: %s\n%s", form, err.text, text);
    bg_run_report_clear(&r);
    bg_system_destroy(sys);
    bg_model_destroy(model);
    return refused;
}

/* Some cases have no one answer: the eigenvalue is neither zero nor far from it. */
static void test_random(void **state)
{
    (void)state;
    int refused = 0, accepted = 0, inside = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        determined_sample s;
        bg_error err = {BG_OK, ""};
        bg_model *models[2];
        draw_sample(&s, seed);
        char *text = write_sample(&s, false), *all = write_sample(&s, true);
        bg_system *sys = create(text, "joint", &models[0], &err);
        bg_system *whole = create(all, "joint", &models[1], &err);
        double smallest = calc_projected(sys, whole);
        bg_system_destroy(sys);
        bg_system_destroy(whole);
        bg_model_destroy(models[0]);
        bg_model_destroy(models[1]);
        if (smallest < 1e-13 || smallest > 1e-7)
            for (int f = 0; f < 2; f++) {
                bool is = is_refused(text, forms[f]);
                if (is != (smallest < 1e-13))
                    fail_msg("seed %d, %s: eigenvalue %g, but it is %s\n%s", (int)seed, forms[f],
                             smallest, is ? "refused" : "accepted", text);
                refused += is;
                accepted += !is;
                inside += is && s.victim < s.bodies;
            }
        free(text);
        free(all);
    }
    printf("%d refused (%d of them inside), %d accepted\n", refused, inside, accepted);
    assert_true(refused > CASES / 4 && accepted > CASES / 4 && inside > CASES / 20);
}

/* A wheel without inertia about its axle, on a carrier on a ball, its centre beside the axle: what
 * is left to resist shrinks with the square of that distance. */
static void test_near(void **state)
{
    (void)state;
    static const struct {
        double aside;
        bool refused, warned;
    } cases[] = {{1e-12, true, false}, {1e-6, false, true}, {1e-2, false, false}};
    for (int k = 0; k < 6; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *model;
        char text[1024];
        snprintf(
            text, sizeof text,
            "{\"gravity\": 9.81, \"bodies\": {\"carrier\": {\"mass\": 2, \"inertia\": [0.1, 0.2, "
            "0.3], \"center\": [0.3, 0.1, -0.2]}, \"wheel\": {\"mass\": 1, \"center\": [0.6, "
            "0.8, %.17g], \"inertia\": {\"principal\": [0, 0.1, 0.1], \"orientation\": {\"axis\": "
            "[0, 0, 1], \"angle\": \"atan2(0.8, 0.6)\"}}}}, \"joints\": {\"ball\": {\"type\": "
            "\"spherical\", \"bodies\": [\"ground\", \"carrier\"], \"at\": [0, 0, 0]}, \"axle\": "
            "{\"type\": \"revolute\", \"bodies\": [\"carrier\", \"wheel\"], \"at\": [0, 0, 0], "
            "\"axis\": [0.6, 0.8, 0]}}}",
            cases[k % 3].aside);
        bg_system *sys = create(text, forms[k / 3], &model, &err);
        bg_state *x = NULL;
        bg_assembly_report report = {0};
        bg_status st = sys ? bg_state_create(sys, &x, &err) : err.status;
        if (st == BG_OK)
            st = bg_state_assemble(sys, x, &report, &err);
        assert_int_equal(st, cases[k % 3].refused ? BG_BAD_INPUT : BG_OK);
        if (cases[k % 3].refused) {
            assert_non_null(strstr(err.text, "bodies.wheel"));
            assert_non_null(strstr(err.text, "'axle.angle'"));
            assert_non_null(strstr(err.text, "turns about (0.6, 0.8, 0)"));
        } else {
            int found = 0;
            for (int list = 0; list < 2; list++) {
                const bg_warnings *w = list ? &report.warnings : bg_system_get_warnings(sys);
                for (int i = 0; i < w->count; i++)
                    found += strcmp(w->items[i].topic, "mass") == 0;
            }
            assert_int_equal(found, cases[k % 3].warned);
        }
        bg_assembly_report_clear(&report);
        bg_state_destroy(x);
        bg_system_destroy(sys);
        bg_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

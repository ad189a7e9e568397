/* spring-damper: a force along the line between two points.
 *
 * With d from point a to point b, length L = |d|, direction e = d / L, rate L' = e . d', the
 * element pulls the points together with the force
 *
 *   F = spring(L - L0) + damper(L') + actuator,   or a law F(length, rate, stretch, t, signals,
 *                                                 outputs):
 *
 * F e on a, -F e on b. The spring is k s or a table, whose integral is the potential energy;
 * everything else does the work -F L' that counts as power. Variations are those of a span
 * (forces/span.h), where dF may have parts of other bodies, which the outputs in laws look at. */
#include "model/forces/curve.h"
#include "model/forces/law.h"
#include "model/forces/span.h"

#include <stdlib.h>

typedef struct spring_damper {
    bg_marker a, b;
    double k, c, L0;
    double L_design;                     /* m, length in the design position */
    bg_curve spring_table, damper_table; /* n = 0: linear */
    bg_law force, actuator;              /* force: instead of spring and damper */
    int nbodies, body[BG_FORCE_BODIES];  /* of a and b, then those of outputs in laws */
} spring_damper;

enum { LENGTH, RATE, STRETCH, VARIABLES };
static const char *const variables[VARIABLES] = {"length", "rate", "stretch"};

/* The line, and the force with its derivatives by length and rate. */
typedef struct spring_damper_line {
    bg_span span;
    double F, F_L, F_rate;
    bg_slope *slope; /* of F through outputs; NULL: not wanted */
} spring_damper_line;

static double calc_spring(const spring_damper *s, double stretch, double *slope)
{
    double y[3] = {s->k * stretch, s->k, 0};
    if (s->spring_table.n)
        bg_curve_calc(&s->spring_table, bg_curve_find_piece(&s->spring_table, stretch), stretch, y);
    *slope = y[1];
    return y[0];
}

static double calc_damper(const spring_damper *s, double rate, double *slope)
{
    double y[3] = {s->c * rate, s->c, 0};
    if (s->damper_table.n)
        bg_curve_calc(&s->damper_table, bg_curve_find_piece(&s->damper_table, rate), rate, y);
    *slope = y[1];
    return y[0];
}

/* F and, where a slope is given, its derivatives. */
static spring_damper_line calc_line(const spring_damper *s, const bg_world *w, bg_slope *slope)
{
    spring_damper_line x = {.span = bg_span_calc(w, &s->a, &s->b), .slope = slope};
    const double own[VARIABLES] = {x.span.L, x.span.L_t, x.span.L - s->L0};
    const bg_law *const laws[] = {&s->force, &s->actuator};
    if (!s->force.given)
        x.F = calc_spring(s, own[STRETCH], &x.F_L) + calc_damper(s, own[RATE], &x.F_rate);
    for (int k = 0; k < 2; k++) {
        double by[VARIABLES];
        if (!laws[k]->given)
            continue;
        if (slope) {
            x.F += bg_law_calc_gradient(laws[k], w, own, by, NULL, slope);
            x.F_L += by[LENGTH] + by[STRETCH];
            x.F_rate += by[RATE];
        } else {
            x.F += bg_law_calc(laws[k], w, own);
        }
    }
    return x;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const spring_damper *s = f->self;
    const spring_damper_line x = calc_line(s, w, NULL);
    bg_span_pull(&x.span, w, &s->a, &s->b, x.F, wrench);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const spring_damper *s = f->self;
    const spring_damper_line x = calc_line(s, w, NULL);
    double stretch = x.span.L - s->L0, F_spring = 0, slope;
    if (!s->force.given) {
        F_spring = calc_spring(s, stretch, &slope);
        out->potential += s->spring_table.n ? bg_curve_calc_integral(&s->spring_table, stretch)
                                            : 0.5 * s->k * stretch * stretch;
    }
    out->power -= (x.F - F_spring) * x.span.L_t;
}

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const spring_damper_line *x = context;
    (void)dh;
    const bg_span_variation v = bg_span_vary(&x->span, d);
    bg_vec3 df = bg_scale(x->F_L, v.dd); /* at zero length: as a spring of free length 0 */
    if (x->span.directed) {
        const double dF = x->F_L * v.dL + x->F_rate * v.dL_t + bg_slope_vary(x->slope, d);
        df = bg_span_vary_pull(&x->span, &v, x->F, dF);
    }
    bg_span_vary_wrenches(&x->span, d, x->F, df, dwrench);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const spring_damper *s = f->self;
    bg_slope slope = bg_slope_make(s->body, s->nbodies);
    const spring_damper_line x = calc_line(s, w, &slope);
    bg_wrench on[2];
    if (s->force.noutputs + s->actuator.noutputs > 0) { /* whether their slopes are zero or not */
        bg_element_calc_derivatives(tangent, &x, s->body, s->nbodies, 0, out);
        return;
    }
    bg_span_calc_wrenches(&x.span, x.F, on);
    bg_element_calc_pair_derivatives(tangent, &x, s->body, w, on, x.F_rate != 0, out);
}

static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const spring_damper *s = f->self;
    const spring_damper_line x = calc_line(s, w, NULL);
    const double L = x.span.L, values[] = {L, x.span.L_t, L - s->L0, x.F, L - s->L_design};
    return values[which];
}

static void look(const bg_force *f, bg_force_look *out)
{
    const spring_damper *s = f->self;
    const bool springs = s->k > 0 || s->spring_table.n > 0,
               damps = s->c > 0 || s->damper_table.n > 0;
    *out = (bg_force_look){.kind = springs == damps ? NULL
                                   : springs        ? "spring"
                                                    : "damper",
                           .nends = 2,
                           .end = {s->a, s->b}};
}

static void clear(bg_force *f)
{
    spring_damper *s = f->self;
    if (s) {
        bg_curve_clear(&s->spring_table);
        bg_curve_clear(&s->damper_table);
        bg_law_clear(&s->force);
        bg_law_clear(&s->actuator);
    }
    free(s);
    f->self = NULL;
}

/* A member must not stand beside another that says the same thing differently. */
static void exclude(const bg_value *v, const char *key, const char *other)
{
    const bg_value a = bg_value_member(v, key), b = bg_value_member(v, other);
    if (bg_value_exists(&a) && bg_value_exists(&b))
        bg_value_fail(&b, "cannot stand beside '%s'; give one of them", key);
}

static void read_laws(const bg_value *v, spring_damper *s)
{
    static const char *const kinds[] = {"linear", "cubic", NULL};
    const bg_curve_kind kind = bg_value_choice(v, "interpolation", kinds, 1) == 0 ? BG_CURVE_LINEAR
                                                                                  : BG_CURVE_CUBIC;
    s->k = bg_value_not_negative_or(v, "stiffness", 0);
    s->c = bg_value_not_negative_or(v, "damping", 0);
    bg_curve_read(v, "stiffness_table", kind, BG_CURVE_GOES_ON, &s->spring_table);
    bg_curve_read(v, "damping_table", kind, BG_CURVE_GOES_ON, &s->damper_table);
    if (kind == BG_CURVE_LINEAR && (s->spring_table.n > 2 || s->damper_table.n > 2))
        bg_value_note_corner(v, "linear table");
    bg_law_read(v, "force", variables, VARIABLES, &s->force);
    bg_law_read(v, "actuator", variables, VARIABLES, &s->actuator);
    exclude(v, "stiffness_table", "stiffness");
    exclude(v, "damping_table", "damping");
    static const char *const parts[] = {"stiffness", "damping", "stiffness_table", "damping_table"};
    bool any = s->force.given || s->actuator.given;
    for (int k = 0; k < 4; k++) {
        const bg_value part = bg_value_member(v, parts[k]);
        any = any || bg_value_exists(&part);
        exclude(v, "force", parts[k]);
    }
    if (!any)
        bg_value_fail(v, "exerts no force; give stiffness, damping, force or actuator");
}

static void read(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type",          "from",     "to",
                                       "stiffness",     "damping",  "free_length",
                                       "interpolation", "force",    "stiffness_table",
                                       "damping_table", "actuator", NULL};
    spring_damper *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->a = bg_value_marker(v, "from");
    s->b = bg_value_marker(v, "to");
    if (v->reader->status != BG_OK)
        return;
    const bg_model *m = v->reader->model;
    const bg_vec3 d = bg_sub(bg_element_find_place(m, &s->b), bg_element_find_place(m, &s->a));
    s->L_design = bg_length(d);
    s->L0 = bg_value_not_negative_or(v, "free_length", s->L_design);
    read_laws(v, s);
    s->body[0] = s->a.body;
    s->body[1] = s->b.body;
    s->nbodies = bg_law_add_bodies(v, &s->force, s->body, 2);
    s->nbodies = bg_law_add_bodies(v, &s->actuator, s->body, s->nbodies);
}

static const char *const sensor_names[] = {"length", "rate", "stretch", "force", "travel"};

extern const bg_force_class bg_force_spring_damper;
const bg_force_class bg_force_spring_damper = {
    .name = "spring-damper",
    .summary = "force along the line between two points: linear, tabulated or an expression",
    .read = read,
    .apply = apply,
    .energy = energy,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 5,
    .sensor = sensor,
    .look = look,
    .clear = clear,
};

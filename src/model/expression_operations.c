/* The operations of expressions: value, first and second partial derivatives, and the chain rule
 *
 *   u = f(x_0, x_1),  u' = sum_i f_i x_i',  u'' = sum_i f_i x_i'' + sum_ij f_ij x_i' x_j'.
 *
 * Where f has a kink (|x| at 0, min and max of equal numbers, hypot at the origin) the derivative
 * to the right along a curve depends on where the curve goes next: these operations look at x' and
 * then at x'', and so give the right-hand derivatives of the composed function whatever stands
 * inside.
 *
 * Arguments that do not move (x' = x'' = 0) contribute nothing, even where f_i is not finite: x^b
 * with constant b has a derivative for x < 0 although log(x) has no value there. */
#include "model/expression_code.h"

#include <math.h>
#include <string.h>

static double calc_negate(const double *x)
{
    return -x[0];
}

static double calc_add(const double *x)
{
    return x[0] + x[1];
}

static double calc_subtract(const double *x)
{
    return x[0] - x[1];
}

static double calc_multiply(const double *x)
{
    return x[0] * x[1];
}

static double calc_divide(const double *x)
{
    return x[0] / x[1];
}

static double calc_pow(const double *x)
{
    return pow(x[0], x[1]);
}

static double calc_atan2(const double *x)
{
    return atan2(x[0], x[1]);
}

static double calc_hypot(const double *x)
{
    return hypot(x[0], x[1]);
}

#define FUNCTION_OF_C(name)                    \
    static double calc_##name(const double *x) \
    {                                          \
        return name(x[0]);                     \
    }
FUNCTION_OF_C(sin)
FUNCTION_OF_C(cos)
FUNCTION_OF_C(tan)
FUNCTION_OF_C(asin)
FUNCTION_OF_C(acos)
FUNCTION_OF_C(atan)
FUNCTION_OF_C(sinh)
FUNCTION_OF_C(cosh)
FUNCTION_OF_C(tanh)
FUNCTION_OF_C(exp)
FUNCTION_OF_C(log)
FUNCTION_OF_C(log10)
FUNCTION_OF_C(sqrt)
FUNCTION_OF_C(fabs)
FUNCTION_OF_C(floor)
#undef FUNCTION_OF_C

static double calc_sign(const double *x)
{
    return isnan(x[0]) ? x[0] : (double)((x[0] > 0) - (x[0] < 0));
}

static double calc_min(const double *x)
{
    if (isnan(x[0]) || isnan(x[1]))
        return x[0] + x[1];
    return x[1] < x[0] ? x[1] : x[0];
}

static double calc_max(const double *x)
{
    if (isnan(x[0]) || isnan(x[1]))
        return x[0] + x[1];
    return x[1] > x[0] ? x[1] : x[0];
}

/* a - b floor(a/b), which has the sign of b: periodic in a, also below zero. */
static double calc_mod(const double *x)
{
    double r = fmod(x[0], x[1]);
    return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

static double calc_if(const double *x)
{
    return isnan(x[0]) ? x[0] : x[0] > 0 ? x[1] : x[2];
}

/* A step S from 0 at s = 0 to 1 at s = 1 with its derivatives by s. */
typedef struct {
    double value, slope, curvature;
} blend;

/* 3 s^2 - 2 s^3, whose curvature jumps at both ends. */
static blend calc_cubic(double s)
{
    return (blend){s * s * (3 - 2 * s), 6 * s * (1 - s), 6 - 12 * s};
}

/* 10 s^3 - 15 s^4 + 6 s^5, without curvature at the ends. */
static blend calc_quintic(double s)
{
    double r = s * (1 - s);
    return (blend){s * s * s * (10 + s * (6 * s - 15)), 30 * r * r, 60 * r * (1 - 2 * s)};
}

/* S of s = (x - x0)/(x1 - x0), held at the ends; x1 < x0 gives a falling step, x1 = x0 a jump. */
static double calc_blend(blend (*S)(double), const double *x)
{
    double width = x[2] - x[1];
    if (width == 0)
        return isnan(x[0]) ? x[0] : x[0] >= x[1];
    double s = (x[0] - x[1]) / width;
    return s <= 0 ? 0 : s >= 1 ? 1 : S(s).value;
}

static double calc_step(const double *x)
{
    return calc_blend(calc_cubic, x);
}

static double calc_step5(const double *x)
{
    return calc_blend(calc_quintic, x);
}

/* Derivatives of functions of one argument a with value f: f' into p[0], f'' into h[0]. */
#define RULE(name, first, second)                                                \
    static bool partials_##name(const double *x, double f, double *p, double *h) \
    {                                                                            \
        const double a = x[0];                                                   \
        (void)a, (void)f;                                                        \
        p[0] = (first);                                                          \
        if (h)                                                                   \
            h[0] = (second);                                                     \
        return true;                                                             \
    }
RULE(negate, -1, 0)
RULE(sin, cos(a), -f)
RULE(cos, -sin(a), -f)
RULE(tan, 1 + f * f, 2 * f * p[0])
RULE(asin, 1 / sqrt((1 - a) * (1 + a)), a *p[0] * p[0] * p[0])
RULE(acos, -1 / sqrt((1 - a) * (1 + a)), a *p[0] * p[0] * p[0])
RULE(atan, 1 / (1 + a * a), -2 * a * p[0] * p[0])
RULE(sinh, cosh(a), f)
RULE(cosh, sinh(a), f)
RULE(tanh, 1 / cosh(a) / cosh(a), -2 * f * p[0])
RULE(exp, f, f)
RULE(log, 1 / a, -p[0] * p[0])
RULE(log10, M_LOG10E / a, -p[0] / a)
RULE(sqrt, 0.5 / f, -0.5 * p[0] / a)
RULE(floor, 0, 0)
RULE(sign, 0, 0)
#undef RULE

static void set2(double *h, double h00, double h01, double h11)
{
    if (h) {
        h[0] = h00;
        h[1] = h01;
        h[2] = h11;
    }
}

static bool partials_add(const double *x, double f, double *p, double *h)
{
    (void)x, (void)f;
    p[0] = p[1] = 1;
    set2(h, 0, 0, 0);
    return true;
}

static bool partials_subtract(const double *x, double f, double *p, double *h)
{
    (void)x, (void)f;
    p[0] = 1;
    p[1] = -1;
    set2(h, 0, 0, 0);
    return true;
}

static bool partials_multiply(const double *x, double f, double *p, double *h)
{
    (void)f;
    p[0] = x[1];
    p[1] = x[0];
    set2(h, 0, 1, 0);
    return true;
}

static bool partials_divide(const double *x, double f, double *p, double *h)
{
    p[0] = 1 / x[1];
    p[1] = -f / x[1];
    set2(h, 0, -p[0] / x[1], -2 * p[1] / x[1]);
    return true;
}

/* Products of a constant power of a and of powers of log(a) vanish with a, where the power is
 * positive; written out they would be 0 times infinity. */
static bool partials_pow(const double *x, double f, double *p, double *h)
{
    const double a = x[0], b = x[1];
    double slope = pow(a, b - 1), L = log(a);
    p[0] = b == 0 ? 0 : b * slope;
    p[1] = a == 0 && b > 0 ? 0 : f * L;
    if (h)
        set2(h, b == 0 || b == 1 ? 0 : b * (b - 1) * pow(a, b - 2),
             a == 0 && b > 1 ? 0 : slope * (1 + b * L), a == 0 && b > 0 ? 0 : f * L * L);
    return true;
}

static bool partials_atan2(const double *x, double f, double *p, double *h)
{
    (void)f;
    double r = hypot(x[0], x[1]), s = x[0] / r, c = x[1] / r;
    p[0] = c / r;
    p[1] = -s / r;
    set2(h, -2 * s * c / r / r, (s - c) * (s + c) / r / r, 2 * s * c / r / r);
    return true;
}

static bool partials_hypot(const double *x, double f, double *p, double *h)
{
    p[0] = x[0] / f;
    p[1] = x[1] / f;
    set2(h, p[1] * p[1] / f, -p[0] * p[1] / f, p[0] * p[0] / f);
    return f != 0;
}

static bool partials_abs(const double *x, double f, double *p, double *h)
{
    (void)f;
    p[0] = x[0] < 0 ? -1 : 1;
    if (h)
        h[0] = 0;
    return x[0] != 0;
}

static bool partials_min(const double *x, double f, double *p, double *h)
{
    (void)f;
    p[0] = x[0] < x[1];
    p[1] = x[1] < x[0];
    set2(h, 0, 0, 0);
    return x[0] != x[1];
}

static bool partials_max(const double *x, double f, double *p, double *h)
{
    (void)f;
    p[0] = x[0] > x[1];
    p[1] = x[1] > x[0];
    set2(h, 0, 0, 0);
    return x[0] != x[1];
}

static bool partials_mod(const double *x, double f, double *p, double *h)
{
    p[0] = 1;
    p[1] = -rint((x[0] - f) / x[1]); /* -floor(a/b) */
    set2(h, 0, 0, 0);
    return true;
}

static bool partials_if(const double *x, double f, double *p, double *h)
{
    (void)f, (void)h;
    p[0] = 0;
    p[1] = x[0] > 0;
    p[2] = !(x[0] > 0);
    return true;
}

static void calc_blend_partials(blend (*S)(double), const double *x, double *p)
{
    double width = x[2] - x[1], s = (x[0] - x[1]) / width;
    if (s > 0 && s < 1) {
        p[0] = S(s).slope / width;
        p[1] = p[0] * (s - 1);
        p[2] = -p[0] * s;
    } else { /* beyond an end, or a jump */
        p[0] = p[1] = p[2] = 0;
    }
}

static bool partials_step(const double *x, double f, double *p, double *h)
{
    (void)f, (void)h;
    calc_blend_partials(calc_cubic, x, p);
    return true;
}

static bool partials_step5(const double *x, double f, double *p, double *h)
{
    (void)f, (void)h;
    calc_blend_partials(calc_quintic, x, p);
    return true;
}

static bool moves(bg_curve_jet x)
{
    return x.d != 0 || x.dd != 0;
}

/* f_ij x_i' x_j', which is no more than nothing where a curve stands still. */
static double bend(double f_ij, double a, double b)
{
    return a == 0 || b == 0 ? 0 : f_ij * a * b;
}

/* The chain rule for one or two arguments. */
static void compose(const bg_operation *op, const bg_curve_jet *x, bg_curve_jet *out)
{
    double at[2] = {x[0].u, op->arity > 1 ? x[1].u : 0}, p[2], h[3];
    *out = (bg_curve_jet){op->calc(at), 0, 0};
    op->calc_partials(at, out->u, p, h);
    for (int i = 0; i < op->arity; i++) {
        if (!moves(x[i]))
            continue;
        out->d += p[i] * x[i].d;
        out->dd += p[i] * x[i].dd + bend(h[2 * i], x[i].d, x[i].d);
    }
    if (op->arity > 1)
        out->dd += bend(2 * h[1], x[0].d, x[1].d);
}

/* Whether a runs below b from here on. */
static bool is_below(const bg_curve_jet *a, const bg_curve_jet *b)
{
    if (a->u != b->u)
        return a->u < b->u;
    return a->d != b->d ? a->d < b->d : a->dd < b->dd;
}

static void jet_abs(const bg_curve_jet *x, bg_curve_jet *out)
{
    const bg_curve_jet zero = {0, 0, 0};
    *out = is_below(x, &zero) ? (bg_curve_jet){-x->u, -x->d, -x->dd} : *x;
}

static void jet_min(const bg_curve_jet *x, bg_curve_jet *out)
{
    *out = isnan(x[0].u) ? x[0] : isnan(x[1].u) || is_below(&x[1], &x[0]) ? x[1] : x[0];
}

static void jet_max(const bg_curve_jet *x, bg_curve_jet *out)
{
    *out = isnan(x[0].u) ? x[0] : isnan(x[1].u) || is_below(&x[0], &x[1]) ? x[1] : x[0];
}

static void jet_if(const bg_curve_jet *x, bg_curve_jet *out)
{
    *out = isnan(x[0].u) ? x[0] : x[0].u > 0 ? x[1] : x[2];
}

/* Leaving the origin, |p| = |p' h + p'' h^2/2| = h |p'| + h^2/2 (p'.p'')/|p'|, or h^2/2 |p''| from
 * rest.
 */
static void jet_hypot(const bg_curve_jet *x, bg_curve_jet *out)
{
    static const bg_operation regular = {
        .arity = 2, .calc = calc_hypot, .calc_partials = partials_hypot};
    if (x[0].u != 0 || x[1].u != 0) {
        compose(&regular, x, out);
        return;
    }
    double d = hypot(x[0].d, x[1].d);
    double dd = d != 0 ? x[0].d / d * x[0].dd + x[1].d / d * x[1].dd : hypot(x[0].dd, x[1].dd);
    *out = (bg_curve_jet){0, d, dd};
}

/* S(s) of the quotient s. At the ends S' = 0, but S'' may jump: it counts where the curve enters
 * the step. */
static void calc_blend_jet(blend (*S)(double), const bg_curve_jet *x, bg_curve_jet *out)
{
    static const bg_operation quotient = {
        .arity = 2, .calc = calc_divide, .calc_partials = partials_divide};
    const double at[3] = {x[0].u, x[1].u, x[2].u};
    *out = (bg_curve_jet){calc_blend(S, at), 0, 0};
    if (x[2].u == x[1].u)
        return;
    bg_curve_jet s, ratio[2];
    ratio[0] = (bg_curve_jet){x[0].u - x[1].u, x[0].d - x[1].d, x[0].dd - x[1].dd};
    ratio[1] = (bg_curve_jet){x[2].u - x[1].u, x[2].d - x[1].d, x[2].dd - x[1].dd};
    compose(&quotient, ratio, &s);
    if ((s.u > 0 && s.u < 1) || (s.u == 0 && s.d > 0) || (s.u == 1 && s.d < 0)) {
        blend at_s = S(s.u);
        out->d = at_s.slope * s.d;
        out->dd = at_s.slope * s.dd + bend(at_s.curvature, s.d, s.d);
    }
}

static void jet_step(const bg_curve_jet *x, bg_curve_jet *out)
{
    calc_blend_jet(calc_cubic, x, out);
}

static void jet_step5(const bg_curve_jet *x, bg_curve_jet *out)
{
    calc_blend_jet(calc_quintic, x, out);
}

static const bg_operation operations[] = {
    [BG_NEGATE] = {NULL, 1, false, false, calc_negate, partials_negate, NULL},
    [BG_ADD] = {NULL, 2, false, false, calc_add, partials_add, NULL},
    [BG_SUBTRACT] = {NULL, 2, false, false, calc_subtract, partials_subtract, NULL},
    [BG_MULTIPLY] = {NULL, 2, false, false, calc_multiply, partials_multiply, NULL},
    [BG_DIVIDE] = {NULL, 2, false, false, calc_divide, partials_divide, NULL},
    [BG_POWER] = {"pow", 2, false, false, calc_pow, partials_pow, NULL},
    {"sin", 1, false, false, calc_sin, partials_sin, NULL},
    {"cos", 1, false, false, calc_cos, partials_cos, NULL},
    {"tan", 1, false, false, calc_tan, partials_tan, NULL},
    {"asin", 1, false, false, calc_asin, partials_asin, NULL},
    {"acos", 1, false, false, calc_acos, partials_acos, NULL},
    {"atan", 1, false, false, calc_atan, partials_atan, NULL},
    {"atan2", 2, false, false, calc_atan2, partials_atan2, NULL},
    {"sinh", 1, false, false, calc_sinh, partials_sinh, NULL},
    {"cosh", 1, false, false, calc_cosh, partials_cosh, NULL},
    {"tanh", 1, false, false, calc_tanh, partials_tanh, NULL},
    {"exp", 1, false, false, calc_exp, partials_exp, NULL},
    {"log", 1, false, false, calc_log, partials_log, NULL},
    {"log10", 1, false, false, calc_log10, partials_log10, NULL},
    {"sqrt", 1, false, false, calc_sqrt, partials_sqrt, NULL},
    {"abs", 1, false, true, calc_fabs, partials_abs, jet_abs},
    {"sign", 1, false, true, calc_sign, partials_sign, NULL},
    {"floor", 1, false, true, calc_floor, partials_floor, NULL},
    {"min", 2, true, true, calc_min, partials_min, jet_min},
    {"max", 2, true, true, calc_max, partials_max, jet_max},
    {"mod", 2, false, true, calc_mod, partials_mod, NULL},
    {"hypot", 2, false, false, calc_hypot, partials_hypot, jet_hypot},
    {"smooth", 2, false, false, calc_hypot, partials_hypot, jet_hypot},
    {"step", 3, false, true, calc_step, partials_step, jet_step},
    {"step5", 3, false, false, calc_step5, partials_step5, jet_step5},
    {"if", 3, false, true, calc_if, partials_if, jet_if},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

double bg_operation_calc_side(const bg_operation *op, const double *x)
{
    if (op->calc == calc_fabs || op->calc == calc_sign)
        return calc_sign(x);
    if (op->calc == calc_floor)
        return floor(x[0]);
    if (op->calc == calc_mod)
        return floor(x[0] / x[1]);
    if (op->calc == calc_if)
        return x[0] > 0;
    if (op->calc == calc_atan2)
        return x[1] < 0 ? calc_sign(x) : 0;
    bool steps = op->calc == calc_step || op->calc == calc_step5;
    return steps && x[1] == x[2] ? x[0] >= x[1] : 0;
}

const bg_operation *bg_operation_get(int op)
{
    return &operations[op];
}

int bg_operation_find(const char *name)
{
    for (int op = BG_POWER; op < OPERATIONS; op++) {
        if (strcmp(operations[op].name, name) == 0)
            return op;
    }
    return -1;
}

const char *bg_operation_get_name(int k)
{
    return k < OPERATIONS - BG_POWER ? operations[BG_POWER + k].name : NULL;
}

bool bg_operation_calc_partials(const bg_operation *op, const double *x, double f, double *p)
{
    bool smooth = op->calc_partials(x, f, p, NULL);
    if (isnan(f)) {
        for (int i = 0; i < op->arity; i++)
            p[i] = f;
    }
    return smooth;
}

void bg_operation_calc_jet(const bg_operation *op, const bg_curve_jet *x, bg_curve_jet *out)
{
    if (op->calc_jet)
        op->calc_jet(x, out);
    else
        compose(op, x, out);
    if (isnan(out->u))
        *out = (bg_curve_jet){out->u, out->u, out->u};
}

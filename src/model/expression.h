/* Expressions that users write: numbers with units, parameters, force laws, signals of time.
 *
 *   + - * / ^ (right-associative), unary -, parentheses, commas in calls;
 *   sin cos tan asin acos atan atan2(y,x) sinh cosh tanh exp log log10 sqrt abs sign min(a,b,...)
 *   max(a,b,...) floor mod(a,b) step(x,x0,x1): 0 below x0, 1 above x1, smooth cubic between;
 *   step5(x,x0,x1): the same with a quintic, whose curvature does not jump at its ends;
 * smooth(x,e): |x| rounded off within e, sqrt(x^2+e^2); if(c,a,b): c > 0 ? a : b; hypot(a,b)
 * pow(a,b); constants pi, e, and units as factors: m mm cm km s ms min h kg g t N kN MN J W kW Pa
 * kPa MPa bar rad deg rev Hz rpm mph kmh kph g0 (9.80665).
 *
 * Names that are none of these are variables, resolved when the expression is created. Evaluation
 * does not allocate. Domain errors give NaN, never a crash. */
#ifndef BG_EXPRESSION_H
#define BG_EXPRESSION_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bg_expression bg_expression;

/* Finds the index (>= 0) of a variable in the caller's array of values, or says that there is none
 * (-1), or that it is a constant (-2) whose value it writes. */
typedef int bg_expression_resolver(void *self, const char *name, double *constant);

/* Compiles text. A failure names the place (column) and what was expected, and for an unknown name
 * the nearest known function, unit or constant. resolver NULL: no variables. Nesting and length are
 * limited; too deep or too long is an error, not a crash. */
bg_status bg_expression_create(const char *text, bg_expression_resolver *resolver, void *self,
                               bg_expression **expression, bg_error *err);
void bg_expression_destroy(bg_expression *expression);

/* Whether a name means something in every expression: a unit, a constant or a function. */
bool bg_expression_has_name(const char *name);

/* The distinct variables it uses, in order of first use: indices given by the resolver. */
int bg_expression_get_variables(const bg_expression *expression, const int **indices);
bool bg_expression_is_constant(const bg_expression *expression);

/* The name of a function in it that has corners (abs, sign, floor, min, max, mod, step, if) and
 * depends on variables; NULL: none. */
const char *bg_expression_find_corner(const bg_expression *expression);

double bg_expression_calc(const bg_expression *expression, const double *values);
/* Mixes into `side` on which side of each of its jumps (abs, sign, floor, mod, if, atan2) it is. */
void bg_expression_mix_side(const bg_expression *expression, const double *values, uint64_t *side);

/* Value and exact partial derivatives: gradient[k] belongs to the k-th variable of
 * bg_expression_get_variables. At kinks (abs, min, max, step ends) the one-sided derivative to the
 * right. */
double bg_expression_calc_gradient(const bg_expression *expression, const double *values,
                                   double *gradient);

/* Value, first and second derivative along a curve on which the variables have values, rates and
 * second rates (arrays indexed like values): used for signals of time. */
void bg_expression_calc_jet(const bg_expression *expression, const double *values,
                            const double *rates, const double *second, double out[3]);

#endif

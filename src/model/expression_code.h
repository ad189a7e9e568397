/* What the parser, the table of operations and the evaluation of expressions share.
 *
 * A compiled expression is a list of instructions over numbered slots: first the variables, then
 * the constants, then one slot for the result of each instruction, in postfix order, so that every
 * instruction reads slots before its own. Running it is one loop; running it backwards gives the
 * gradient. */
#ifndef BG_EXPRESSION_CODE_H
#define BG_EXPRESSION_CODE_H

#include "model/expression.h"

#include <stdint.h>

enum {
    BG_EXPRESSION_LENGTH = 10000,   /* longest text, bytes */
    BG_EXPRESSION_NESTING = 100,    /* deepest nesting of parentheses, calls, signs and powers */
    BG_EXPRESSION_OPERATIONS = 1000 /* most operators and calls in one text */
};

/* Value, first and second derivative along a curve. */
typedef struct bg_curve_jet {
    double u, d, dd;
} bg_curve_jet;

/* The operators lead the table of operations, functions that have a name follow. */
enum { BG_NEGATE, BG_ADD, BG_SUBTRACT, BG_MULTIPLY, BG_DIVIDE, BG_POWER };

typedef struct bg_operation {
    const char *name; /* of the function; NULL: an operator only */
    int arity;        /* 1, 2 or 3 */
    bool chained;     /* f(a,b,c) = f(f(a,b),c), with two or more arguments */
    bool corners;     /* has places where it, its slope or its curvature jumps */
    double (*calc)(const double *x);
    /* First derivatives p[arity] at x, where f(x) = f; and, where h is not NULL, second ones h =
     * f_00, f_01, f_11. False: x lies on a kink. */
    bool (*calc_partials)(const double *x, double f, double *p, double *h);
    /* Only where partial derivatives do not say it all: at kinks, or with three arguments. */
    void (*calc_jet)(const bg_curve_jet *x, bg_curve_jet *out);
} bg_operation;

const bg_operation *bg_operation_get(int op);
/* The number of an operation that can be called by name, or -1. */
int bg_operation_find(const char *name);
/* As bg_operation.calc_partials; NaN where f is. */
bool bg_operation_calc_partials(const bg_operation *op, const double *x, double f, double *p);
/* A number that changes where f may jump, and stays between such places: abs counts, too, since x
 * is divided by it; 0 for what never jumps. */
double bg_operation_calc_side(const bg_operation *op, const double *x);
/* f along the curves x[arity]. At a kink: the derivatives to the right, in the curve's parameter.
 */
void bg_operation_calc_jet(const bg_operation *op, const bg_curve_jet *x, bg_curve_jet *out);

/* Names of functions from row 0 on, then NULL. */
const char *bg_operation_get_name(int k);

typedef struct bg_instruction {
    uint16_t op;
    uint16_t arg[3]; /* slots; in a draft: references */
} bg_instruction;

/* Where a number is found while the number of slots is not yet known: BG_REF_x + index. */
enum { BG_REF_VARIABLE = 0, BG_REF_CONSTANT = 0x4000, BG_REF_RESULT = 0x8000 };

/* Numbers one text can hold: a tree of N nodes with at most three branches has at most 2 N + 1
 * leaves, and on the way two more for each open call. */
enum { BG_DRAFT_LEAVES = 2 * (BG_EXPRESSION_OPERATIONS + BG_EXPRESSION_NESTING) + 8 };

typedef struct bg_draft {
    int nvariables, nconstants, ncode;
    int root; /* reference */
    int variables[BG_DRAFT_LEAVES];
    double constants[BG_DRAFT_LEAVES];
    bg_instruction code[BG_EXPRESSION_OPERATIONS];
} bg_draft;

/* Fills the draft from text; constant subexpressions are computed. */
bg_status bg_draft_parse(bg_draft *draft, const char *text, bg_expression_resolver *resolver,
                         void *self, bg_error *err);

#endif

/* Text to instructions, by recursive descent over
 *
 *   sum     = product { (+|-) product }
 *   product = signed { (*|/) signed }
 *   signed  = (-|+) signed | power
 *   power   = primary [ ^ signed ]            so that -2^2 = -4, 2^-1 = 1/2, 2^3^2 = 2^9
 *   primary = number | ( sum ) | name | name ( sum {, sum} )
 *
 * Every level of recursion passes through `signed`, which counts and limits it. A name may have
 * parts joined by dots; in front of a parenthesis it is a function, elsewhere a variable of the
 * caller or, if the caller knows none, a unit or constant. An operation on numbers alone is carried
 * out at once; its result is stored only when an instruction uses it. */
#include "model/expression_code.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 127, MAX_EXCERPT = 60 };

typedef struct parser {
    const char *text, *at; /* the whole, and what is not read yet */
    int depth;             /* open levels of nesting */
    int operations;        /* in the text so far, also those carried out at once */
    bg_expression_resolver *resolver;
    void *self;
    bg_draft *draft;
    bg_error *err;
} parser;

/* A number known now, or one the instructions compute. */
typedef struct operand {
    bool constant;
    double value;  /* of a constant */
    int reference; /* otherwise */
} operand;

static const struct {
    const char *name;
    double value;
} units[] = {
    {"pi", M_PI},
    {"e", M_E},
    {"g0", 9.80665},
    {"m", 1},
    {"mm", 1e-3},
    {"cm", 1e-2},
    {"km", 1e3},
    {"s", 1},
    {"ms", 1e-3},
    {"min", 60},
    {"h", 3600},
    {"kg", 1},
    {"g", 1e-3},
    {"t", 1e3},
    {"N", 1},
    {"kN", 1e3},
    {"MN", 1e6},
    {"J", 1},
    {"W", 1},
    {"kW", 1e3},
    {"Pa", 1},
    {"kPa", 1e3},
    {"MPa", 1e6},
    {"bar", 1e5},
    {"rad", 1},
    {"deg", M_PI / 180},
    {"rev", 2 * M_PI},
    {"Hz", 1},
    {"rpm", 2 * M_PI / 60},
    {"mph", 0.44704},
    {"kmh", 1 / 3.6},
    {"kph", 1 / 3.6},
};
enum { UNITS = sizeof units / sizeof *units };

static bool is_continuation(char c) /* a byte of UTF-8 after the first of its character */
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The text, or what of it surrounds a place if it is long, on one line. */
static void write_excerpt(const char *text, const char *where, char out[MAX_EXCERPT + 8])
{
    size_t length = strlen(text), at = (size_t)(where - text), begin = 0, end = length;
    if (length > MAX_EXCERPT) {
        begin = at > MAX_EXCERPT / 2 ? at - MAX_EXCERPT / 2 : 0;
        end = begin + MAX_EXCERPT < length ? begin + MAX_EXCERPT : length;
        while (begin < end && is_continuation(text[begin]))
            begin++;
        while (end > begin && is_continuation(text[end]))
            end--;
    }
    char *o = out;
    o = begin > 0 ? stpcpy(o, "...") : o;
    for (size_t i = begin; i < end; i++)
        *o++ = (unsigned char)text[i] < ' ' || text[i] == 0x7F ? ' ' : text[i];
    strcpy(o, end < length ? "..." : "");
}

/* Reports what is wrong where; returns false, for callers to return. Columns count characters. */
static bool fail(const parser *p, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(const parser *p, const char *where, const char *format, ...)
{
    char message[512], excerpt[MAX_EXCERPT + 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    int column = 1;
    for (const char *c = p->text; c < where; c++)
        column += !is_continuation(*c);
    write_excerpt(p->text, where, excerpt);
    bg_error_set(p->err, BG_BAD_INPUT, "expression '%s', column %d: %s", excerpt, column, message);
    return false;
}

/* "expected X, found Y" at the next unread character, which is shown whole if it is proper UTF-8.
 */
static bool fail_expected(const parser *p, const char *expected)
{
    const unsigned char c = (unsigned char)*p->at;
    int n = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2, follow = 0;
    while (follow < 3 && c != '\0' && is_continuation(p->at[1 + follow]))
        follow++;
    if (c == '\0')
        return fail(p, p->at, "expected %s, but the text ends here", expected);
    if (c < ' ' || c == 0x7F || (c >= 0x80 && c < 0xC2) || c > 0xF4 || follow < n - 1)
        return fail(p, p->at, "expected %s, found the byte 0x%02X", expected, c);
    return fail(p, p->at, "expected %s, found '%.*s'", expected, n, p->at);
}

static void skip_space(parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

/* Skips blanks, and c if it comes next. */
static bool accept(parser *p, char c)
{
    skip_space(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static uint16_t refer(parser *p, operand x)
{
    bg_draft *d = p->draft;
    if (!x.constant)
        return (uint16_t)x.reference;
    d->constants[d->nconstants] = x.value;
    return (uint16_t)(BG_REF_CONSTANT + d->nconstants++);
}

/* The result of an operation on x[arity], written at a place in the text. out may be one of x. */
static bool emit(parser *p, const char *where, int op, const operand *x, operand *out)
{
    if (p->operations++ == BG_EXPRESSION_OPERATIONS)
        return fail(p, where, "more than %d operations", BG_EXPRESSION_OPERATIONS);
    const bg_operation *operation = bg_operation_get(op);
    double value[3];
    bool constant = true;
    for (int i = 0; i < operation->arity; i++) {
        constant = constant && x[i].constant;
        value[i] = x[i].value;
    }
    if (constant) {
        *out = (operand){.constant = true, .value = operation->calc(value)};
        return true;
    }
    bg_draft *d = p->draft;
    bg_instruction instruction = {.op = (uint16_t)op};
    for (int i = 0; i < operation->arity; i++)
        instruction.arg[i] = refer(p, x[i]);
    d->code[d->ncode] = instruction;
    *out = (operand){.reference = BG_REF_RESULT + d->ncode++};
    return true;
}

static bool parse_sum(parser *p, operand *out);

static const char *skip_digits(const char *c)
{
    while (is_digit(*c))
        c++;
    return c;
}

/* Digits with at most one point and perhaps an exponent; what follows must not read on. */
static bool parse_number(parser *p, operand *out)
{
    const char *begin = p->at, *end = skip_digits(begin);
    if (*end == '.')
        end = skip_digits(end + 1);
    if (*end == 'e' || *end == 'E') {
        const char *digits = end + (end[1] == '+' || end[1] == '-' ? 2 : 1);
        if (is_digit(*digits))
            end = skip_digits(digits);
    }
    p->at = end;
    if (is_letter(*end))
        return fail_expected(p, "an operator such as * between a number and a name");
    if (*end == '.')
        return fail_expected(p, "an operator after a number");
    char *read;
    double x = bg_text_scan(begin, &read);
    if (read != end)
        return fail(p, begin, "this number cannot be read");
    if (isinf(x))
        return fail(p, begin, "this number is too large; the largest is about 1.8e308");
    *out = (operand){.constant = true, .value = x};
    return true;
}

/* The nearest of functions (and, unless it is called, of units and constants), or NULL: for one or
 * two letters almost anything is near, so not every letter may be wrong. */
static const char *find_nearest_name(const char *name, bool called)
{
    const char *names[UNITS + 64];
    int n = 0;
    for (int k = 0; n < 64 && bg_operation_get_name(k); k++)
        names[n++] = bg_operation_get_name(k);
    for (int k = 0; k < UNITS && !called; k++)
        names[n++] = units[k].name;
    int nearest = bg_text_find_nearest(name, names, n);
    if (nearest < 0 || bg_text_calc_distance(name, names[nearest]) >= (int)strlen(name))
        return NULL;
    return names[nearest];
}

static bool fail_unknown(const parser *p, const char *where, const char *name, bool called)
{
    const char *nearest = find_nearest_name(name, called), *what = called ? "function" : "name";
    if (nearest)
        return fail(p, where, "unknown %s '%s'; did you mean '%s'?", what, name, nearest);
    if (called)
        return fail(p, where, "unknown function '%s'", name);
    return fail(p, where, "unknown name '%s': no variable, unit or constant is called so", name);
}

static bool use_variable(parser *p, const char *where, int index, operand *out)
{
    bg_draft *d = p->draft;
    int k = 0;
    while (k < d->nvariables && d->variables[k] != index)
        k++;
    if (k == BG_DRAFT_LEAVES)
        return fail(p, where, "more than %d variables", BG_DRAFT_LEAVES);
    if (k == d->nvariables)
        d->variables[d->nvariables++] = index;
    *out = (operand){.reference = BG_REF_VARIABLE + k};
    return true;
}

/* The number of a unit or constant, or -1. */
static int find_unit(const char *name)
{
    for (int k = 0; k < UNITS; k++)
        if (strcmp(units[k].name, name) == 0)
            return k;
    return -1;
}

bool bg_expression_has_name(const char *name)
{
    return find_unit(name) >= 0 || bg_operation_find(name) >= 0;
}

/* A name without parentheses: what the caller knows shadows units and constants. */
static bool resolve(parser *p, const char *where, const char *name, operand *out)
{
    *out = (operand){.constant = true};
    int index = p->resolver ? p->resolver(p->self, name, &out->value) : -1;
    if (index >= 0)
        return use_variable(p, where, index, out);
    if (index == -2)
        return true;
    int unit = find_unit(name);
    if (unit >= 0) {
        out->value = units[unit].value;
        return true;
    }
    if (bg_operation_find(name) >= 0)
        return fail(p, where, "the function '%s' needs its arguments in parentheses", name);
    return fail_unknown(p, where, name, false);
}

static bool fail_count(const parser *p, const char *where, const bg_operation *op, int count)
{
    const char *plural = op->arity == 1 ? "" : "s";
    if (op->chained)
        return fail(p, where, "'%s' takes two or more arguments, not %d", op->name, count);
    if (count > op->arity)
        return fail(p, where, "'%s' takes %d argument%s, not more", op->name, op->arity, plural);
    return fail(p, where, "'%s' takes %d argument%s, not %d", op->name, op->arity, plural, count);
}

static bool expect_close(parser *p, const char *open)
{
    if (accept(p, ')'))
        return true;
    int column = 1;
    for (const char *c = p->text; c < open; c++)
        column += !is_continuation(*c);
    char expected[64];
    snprintf(expected, sizeof expected, "an operator, or ')' for the '(' in column %d", column);
    return fail_expected(p, expected);
}

/* The arguments and the closing parenthesis of a call whose name stands at `where`. */
static bool parse_call(parser *p, const char *where, const char *name, operand *out)
{
    const char *open = p->at - 1;
    int op = bg_operation_find(name), count = 0;
    if (op < 0)
        return fail_unknown(p, where, name, true);
    const bg_operation *operation = bg_operation_get(op);
    operand x[3];
    if (accept(p, ')'))
        return fail_count(p, where, operation, 0);
    do {
        if (count == operation->arity) {
            if (!operation->chained)
                return fail_count(p, where, operation, count + 1);
            if (!emit(p, where, op, x, &x[0])) /* f(f(a,b),c) */
                return false;
            count = 1;
        }
        if (!parse_sum(p, &x[count++]))
            return false;
    } while (accept(p, ','));
    if (!expect_close(p, open))
        return false;
    return count == operation->arity ? emit(p, where, op, x, out)
                                     : fail_count(p, where, operation, count);
}

static bool parse_name(parser *p, operand *out)
{
    const char *begin = p->at, *end = begin;
    while (is_letter(*end) || is_digit(*end) || (*end == '.' && is_letter(end[1])))
        end++;
    size_t length = (size_t)(end - begin);
    if (length > MAX_NAME)
        return fail(p, begin, "a name of more than %d characters", MAX_NAME);
    char name[MAX_NAME + 1];
    memcpy(name, begin, length);
    name[length] = '\0';
    p->at = end;
    return accept(p, '(') ? parse_call(p, begin, name, out) : resolve(p, begin, name, out);
}

static bool parse_primary(parser *p, operand *out)
{
    skip_space(p);
    const char *begin = p->at;
    if (is_digit(*begin) || (*begin == '.' && is_digit(begin[1])))
        return parse_number(p, out);
    if (is_letter(*begin))
        return parse_name(p, out);
    if (accept(p, '('))
        return parse_sum(p, out) && expect_close(p, begin);
    return fail_expected(p, "a number, a name or '('");
}

/* An operand with its sign and its power, one level deeper for what follows a sign or ^. */
static bool parse_signed(parser *p, operand *out)
{
    skip_space(p);
    if (p->depth > BG_EXPRESSION_NESTING)
        return fail(p, p->at, "nested deeper than %d levels", BG_EXPRESSION_NESTING);
    const char *where = p->at;
    bool ok;
    p->depth++;
    if (accept(p, '+')) {
        ok = parse_signed(p, out);
    } else if (accept(p, '-')) {
        ok = parse_signed(p, out) && emit(p, where, BG_NEGATE, out, out);
    } else {
        operand x[2];
        ok = parse_primary(p, out);
        skip_space(p);
        where = p->at;
        if (ok && accept(p, '^')) {
            x[0] = *out;
            ok = parse_signed(p, &x[1]) && emit(p, where, BG_POWER, x, out);
        }
    }
    p->depth--;
    return ok;
}

/* Operands joined from left to right by one of two operators of equal rank. */
static bool parse_left(parser *p, const char symbols[2], const int op[2],
                       bool parse_operand(parser *, operand *), operand *out)
{
    operand x[2];
    if (!parse_operand(p, &x[0]))
        return false;
    for (;;) {
        skip_space(p);
        const char *where = p->at;
        int k = *where == symbols[0] ? 0 : *where == symbols[1] ? 1 : -1;
        if (k < 0) {
            *out = x[0];
            return true;
        }
        p->at++;
        if (!parse_operand(p, &x[1]) || !emit(p, where, op[k], x, &x[0]))
            return false;
    }
}

static bool parse_product(parser *p, operand *out)
{
    return parse_left(p, "*/", (const int[]){BG_MULTIPLY, BG_DIVIDE}, parse_signed, out);
}

static bool parse_sum(parser *p, operand *out)
{
    return parse_left(p, "+-", (const int[]){BG_ADD, BG_SUBTRACT}, parse_product, out);
}

static bool parse_all(parser *p, operand *out)
{
    if (strnlen(p->text, BG_EXPRESSION_LENGTH + 1) > BG_EXPRESSION_LENGTH)
        return fail(p, p->text + BG_EXPRESSION_LENGTH, "longer than %d characters",
                    BG_EXPRESSION_LENGTH);
    skip_space(p);
    if (*p->at == '\0')
        return fail(p, p->text, "the text is empty; expected a number or a formula");
    if (!parse_sum(p, out))
        return false;
    skip_space(p);
    if (*p->at == ')')
        return fail(p, p->at, "this ')' has no '('");
    if (*p->at == ',')
        return fail(p, p->at,
                    "a ',' outside the arguments of a function; write decimals with a point");
    return *p->at == '\0' || fail_expected(p, "an operator or the end");
}

bg_status bg_draft_parse(bg_draft *draft, const char *text, bg_expression_resolver *resolver,
                         void *self, bg_error *err)
{
    parser p = {
        .text = text, .at = text, .resolver = resolver, .self = self, .draft = draft, .err = err};
    operand root;
    draft->nvariables = draft->nconstants = draft->ncode = 0;
    if (!parse_all(&p, &root))
        return BG_BAD_INPUT;
    draft->root = refer(&p, root);
    return BG_OK;
}

/* Terms and derivative blocks by central differences.
 *
 * With x(e) = (t + e, q + e V v) the constraint terms follow from g and from w = G v + g_t:
 *   G e_j  = (g(q + d V e_j) - g(q - d V e_j)) / 2d
 *   g_t    = (g(t + d) - g(t - d)) / 2d                        at fixed q, inputs at t +- d
 *   gamma  = (w(x(+d)) - w(x(-d))) / 2d                        at fixed v, when w is supplied
 *   gamma  = (-g(x(2d)) + 16 g(x(d)) - 30 g + 16 g(x(-d)) - g(x(-2d))) / 12 d^2      otherwise,
 *            along q' = V v, v' = 0
 * The shift d balances the truncation error d^2 against the rounding error eps/d (d ~ eps^(1/3));
 * the second difference has the errors d^4 and 5 eps/d^2. Blocks are differenced in groups of
 * columns that share no row (Curtis, Powell and Reid; linalg/colouring.c). */
#include "system/system.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static const double shift_first = 6.0e-6;  /* about eps^(1/3) */
static const double shift_nested = 3.0e-4; /* of functions that themselves rest on differences */
static const double shift_second = 1.0e-3; /* between eps^(1/6) and what a path may be bent */
/* Shifts in time are powers of two, so that t + d and t - d lie exactly d away from t. */
static const double shift_time = 0x1p-20;        /* s; signals of up to some kHz stay resolved */
static const double shift_time_second = 0x1p-13; /* s; up to some hundred Hz */

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

void bg_difference_scratch_take(const bg_system *sys, bg_difference_scratch *s, bg_arena *arena)
{
    const bg_system_def *d = &sys->def;
    int widest = max_int(max_int(d->nv, d->nz), max_int(d->ng, d->nu));
    bool needs_M = (d->supplied & BG_TERM_M) && !(d->residual && d->accelerate);
    for (int i = 0; i < 2; i++) {
        BG_TAKE(arena, s->q[i], d->nq);
        BG_TAKE(arena, s->value[i], widest);
    }
    for (int i = 0; i < 6; i++)
        BG_TAKE(arena, s->u[i], d->nu);
    BG_TAKE(arena, s->x, widest);
    BG_TAKE(arena, s->step, widest);
    BG_TAKE(arena, s->V, bg_system_get_size_V(sys));
    bg_terms_take(sys, needs_M, &s->terms, arena);
}

static double max_norm(const double *x, int n)
{
    double m = 0;
    for (int i = 0; i < n; i++)
        m = fmax(m, fabs(x[i]));
    return m;
}

/* p moved in time by e. Its inputs change by what the signals change by: u(t + e) + (u - u(t)),
 * where u differs from u(t) when blocks by u are differenced. They are kept in the scratch. */
static bg_status shift_in_time(bg_evaluator *sys, bg_difference_scratch *s, bg_point *p, double e,
                               bg_error *err)
{
    const double *const given[3] = {p->u, p->u_t, p->u_tt};
    bg_status st = BG_OK;
    if (sys->def.nu > 0)
        st = bg_system_calc_inputs(sys, p->t, p->mode, s->u[3], s->u[4], s->u[5], err);
    if (sys->def.nu > 0 && st == BG_OK)
        st = bg_system_calc_inputs(sys, p->t + e, p->mode, s->u[0], s->u[1], s->u[2], err);
    for (int k = 0; k < 3 && st == BG_OK; k++)
        for (int i = 0; i < sys->def.nu; i++)
            s->u[k][i] += given[k][i] - s->u[3 + k][i];
    *p = (bg_point){p->t + e, p->q, p->v, p->z, s->u[0], s->u[1], s->u[2], p->mode, p->lambda, 0};
    return st;
}

/* The kinematic matrix at p into s->V (nothing to do where V = I). */
static bg_status update_V(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                          bg_error *err)
{
    bg_terms out = {.V = s->V};
    return bg_system_calc_terms(sys, p, BG_TERM_V, &out, err);
}

/* w = G v + g_t at p. */
static bg_status calc_w(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p, double *w,
                        bg_error *err)
{
    bg_status st = bg_system_calc_terms(sys, p, BG_TERM_G | BG_TERM_gt, &s->terms, err);
    if (st != BG_OK)
        return st;
    bg_matrix_multiply(sys->def.ng, sys->def.nv, sys->def.pattern_G, s->terms.G, p->v, w);
    for (int i = 0; i < sys->def.ng; i++)
        w[i] += s->terms.gt[i];
    return BG_OK;
}

/* The vector that is differentiated, at p. */
static bg_status calc_function(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                               const double *a, const double *lambda, bg_of of, double *value,
                               bg_error *err)
{
    bg_terms out = s->terms;
    switch (of) {
    case BG_OF_r:
        return bg_system_calc_residual(sys, p, a, lambda, value, err);
    case BG_OF_h:
        out.h = value;
        return bg_system_calc_terms(sys, p, BG_TERM_h, &out, err);
    case BG_OF_g:
        out.g = value;
        return bg_system_calc_terms(sys, p, BG_TERM_g, &out, err);
    case BG_OF_w:
        return calc_w(sys, s, p, value, err);
    case BG_OF_gamma:
        out.gamma = value;
        return bg_system_calc_terms(sys, p, BG_TERM_gamma, &out, err);
    case BG_OF_COUNT:
        break;
    }
    return BG_BAD_INPUT;
}

/* What is shifted, at p; NULL: a configuration that moves along V. */
static const double *get_argument(const bg_evaluator *sys, const bg_point *p, bg_by by)
{
    switch (by) {
    case BG_BY_q:
        return sys->def.supplied & BG_TERM_V ? NULL : p->q;
    case BG_BY_v:
        return p->v;
    case BG_BY_z:
        return p->z;
    case BG_BY_u:
        return p->u;
    case BG_BY_u_t:
        return p->u_t;
    case BG_BY_u_tt:
        return p->u_tt;
    case BG_BY_lambda:
        return p->lambda;
    case BG_BY_COUNT:
        break;
    }
    return NULL;
}

/* p with its argument `by` shifted by sign * s->step for the columns of one group. */
static void shift_argument(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p, bg_by by,
                           const int *group, int k, double sign, bg_point *shifted)
{
    int n = bg_system_get_columns(sys->system, by);
    const double *x = by == BG_BY_q ? NULL : get_argument(sys, p, by);
    for (int j = 0; j < n; j++) {
        double delta = (group ? group[j] : j) == k ? sign * s->step[j] : 0.0;
        s->x[j] = (x ? x[j] : 0.0) + delta;
    }
    *shifted = *p;
    switch (by) {
    case BG_BY_q:
        bg_system_move(sys, p->q, s->V, 1.0, s->x, s->q[0]);
        shifted->q = s->q[0];
        break;
    case BG_BY_v:
        shifted->v = s->x;
        break;
    case BG_BY_z:
        shifted->z = s->x;
        break;
    case BG_BY_u:
        shifted->u = s->x;
        break;
    case BG_BY_u_t:
        shifted->u_t = s->x;
        break;
    case BG_BY_u_tt:
        shifted->u_tt = s->x;
        break;
    case BG_BY_lambda:
        shifted->lambda = s->x;
        break;
    case BG_BY_COUNT:
        break;
    }
}

static void store_group(const bg_pattern *pattern, int rows, int columns, const int *group, int k,
                        const double *step, const double *plus, const double *minus, double *block)
{
    if (!pattern) {
        for (int i = 0; i < rows; i++)
            block[i * columns + k] = (plus[i] - minus[i]) / (2 * step[k]);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int e = pattern->row_start[i]; e < pattern->row_start[i + 1]; e++)
            if (group[pattern->column[e]] == k)
                block[e] = (plus[i] - minus[i]) / (2 * step[pattern->column[e]]);
}

/* Can all of w = G v + g_t be had without differences? */
static bool has_w(const bg_evaluator *sys)
{
    return (sys->def.supplied & BG_TERM_G) &&
           (sys->def.supplied & BG_TERM_gt || sys->def.scleronomic);
}

/* The shift for differences of a function of order 1, wider where its values come from differences.
 */
static double choose_shift(const bg_evaluator *sys, bg_of of)
{
    const bg_system_def *d = &sys->def;
    bool direct = of == BG_OF_r       ? d->residual || d->ng == 0 || (d->supplied & BG_TERM_G)
                  : of == BG_OF_w     ? has_w(sys)
                  : of == BG_OF_gamma ? (d->supplied & BG_TERM_gamma) != 0
                                      : true;
    return sys->widening * (direct ? shift_first : shift_nested);
}

static bg_status difference_block(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                                  const double *a, const double *lambda, bg_of of, bg_by by,
                                  double *block, bg_error *err)
{
    int rows = bg_system_get_rows(sys->system, of),
        columns = bg_system_get_columns(sys->system, by);
    const bg_pattern *pattern = bg_system_get_pattern(sys->system, of, by);
    const int *group = sys->system->group[of][by];
    int ngroups = group ? sys->system->ngroups[of][by] : columns;
    bg_point at = *p; /* with the multipliers, for r by lambda and forces that depend on them */
    if (lambda)
        at.lambda = lambda;
    const double *x = get_argument(sys, &at, by);
    double shift = choose_shift(sys, of);
    for (int j = 0; j < columns; j++)
        s->step[j] = shift * fmax(1.0, x ? fabs(x[j]) : 1.0);
    bg_status st = by == BG_BY_q ? update_V(sys, s, &at, err) : BG_OK;
    for (int k = 0; k < ngroups && st == BG_OK; k++) {
        bg_point shifted;
        shift_argument(sys, s, &at, by, group, k, 1.0, &shifted);
        st = calc_function(sys, s, &shifted, a, shifted.lambda, of, s->value[0], err);
        if (st != BG_OK)
            break;
        shift_argument(sys, s, &at, by, group, k, -1.0, &shifted);
        st = calc_function(sys, s, &shifted, a, shifted.lambda, of, s->value[1], err);
        if (st == BG_OK)
            store_group(pattern, rows, columns, group, k, s->step, s->value[0], s->value[1], block);
    }
    return st;
}

static bg_status difference_gt(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                               double *gt, bg_error *err)
{
    double d = sys->widening * shift_time;
    bg_status st = BG_OK;
    for (int side = 0; side < 2 && st == BG_OK; side++) {
        bg_point shifted = *p;
        bg_terms out = {.g = s->value[side]};
        st = shift_in_time(sys, s, &shifted, side ? -d : d, err);
        if (st == BG_OK)
            st = bg_system_calc_terms(sys, &shifted, BG_TERM_g, &out, err);
    }
    for (int i = 0; i < sys->def.ng && st == BG_OK; i++)
        gt[i] = (s->value[0][i] - s->value[1][i]) / (2 * d);
    return st;
}

/* q(e) along q' = V(q) v to second order: q + e V(q + e/2 V v) v. */
static bg_status move_along(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                            double e, double *q_out, bg_error *err)
{
    bg_status st = update_V(sys, s, p, err);
    if (st != BG_OK || !(sys->def.supplied & BG_TERM_V)) {
        bg_system_move(sys, p->q, s->V, e, p->v, q_out);
        return st;
    }
    bg_point middle = *p;
    bg_system_move(sys, p->q, s->V, 0.5 * e, p->v, s->q[0]);
    middle.q = s->q[0];
    st = update_V(sys, s, &middle, err);
    bg_system_move(sys, p->q, s->V, e, p->v, q_out);
    return st;
}

/* The shift along a path through p: at most `shift` of the configuration's size, and exact in time.
 */
static double choose_path_shift(const bg_evaluator *sys, const bg_point *p, bool from_w)
{
    double size = fmax(1.0, max_norm(p->q, sys->def.nq)), speed = max_norm(p->v, sys->def.nv);
    double d = (from_w ? shift_first : shift_second) * size / fmax(speed, size);
    if (!sys->def.scleronomic)
        d = ldexp(1.0, ilogb(fmin(d, from_w ? 4 * shift_time : shift_time_second)));
    return sys->widening * d;
}

static bg_status difference_gamma(bg_evaluator *sys, bg_difference_scratch *s, const bg_point *p,
                                  double *gamma, bg_error *err)
{
    static const double first[] = {0, -0.5, 0, 0.5, 0};
    static const double second[] = {-1.0 / 12, 4.0 / 3, -2.5, 4.0 / 3, -1.0 / 12};
    bool from_w = has_w(sys);
    double d = choose_path_shift(sys, p, from_w), unit = from_w ? 1 / d : 1 / (d * d);
    bg_status st = BG_OK;
    memset(gamma, 0, (size_t)sys->def.ng * sizeof(double));
    for (int k = 0; k < 5 && st == BG_OK; k++) {
        double weight = (from_w ? first : second)[k];
        if (weight == 0)
            continue;
        bg_point shifted = *p;
        bg_terms out = {.g = s->value[0]};
        st = shift_in_time(sys, s, &shifted, (k - 2) * d, err);
        if (st == BG_OK)
            st = move_along(sys, s, p, (k - 2) * d, s->q[1], err);
        shifted.q = s->q[1];
        if (st == BG_OK)
            st = from_w ? calc_w(sys, s, &shifted, s->value[0], err)
                        : bg_system_calc_terms(sys, &shifted, BG_TERM_g, &out, err);
        for (int i = 0; i < sys->def.ng && st == BG_OK; i++)
            gamma[i] += weight * unit * s->value[0][i];
    }
    return st;
}

bg_status bg_system_difference_term(bg_evaluator *sys, const bg_point *p, unsigned term,
                                    bg_terms *out, bg_error *err)
{
    bg_difference_scratch *s = &sys->for_terms;
    if (term == BG_TERM_G)
        return difference_block(sys, s, p, NULL, NULL, BG_OF_g, BG_BY_q, out->G, err);
    if (term == BG_TERM_gt)
        return difference_gt(sys, s, p, out->gt, err);
    return difference_gamma(sys, &sys->for_gamma, p, out->gamma, err);
}

bg_status bg_system_difference_block(bg_evaluator *sys, const bg_point *p, const double *a,
                                     const double *lambda, bg_of of, bg_by by, double *block,
                                     bg_error *err)
{
    return difference_block(sys, &sys->for_blocks, p, a, lambda, of, by, block, err);
}

/* block[i][j] <- G[j][i] of the constraint matrix, where block is r by lambda. */
static bg_status write_transposed(bg_evaluator *sys, const bg_point *p, double *block,
                                  bg_error *err)
{
    const bg_system_def *d = &sys->def;
    const bg_pattern *from = d->pattern_G;
    const bg_pattern *to = bg_system_get_pattern(sys->system, BG_OF_r, BG_BY_lambda);
    const double *G = sys->for_blocks.terms.G;
    bg_status st = bg_system_calc_terms(sys, p, BG_TERM_G, &sys->for_blocks.terms, err);
    for (int j = 0; j < d->ng && st == BG_OK; j++) {
        int begin = from ? from->row_start[j] : j * d->nv;
        int end = from ? from->row_start[j + 1] : begin + d->nv;
        for (int k = begin; k < end; k++) {
            int i = from ? from->column[k] : k - begin;
            if (!to)
                block[i * d->ng + j] = G[k];
            for (int e = to ? to->row_start[i] : 0; to && e < to->row_start[i + 1]; e++)
                if (to->column[e] == j)
                    block[e] = G[k];
        }
    }
    return st;
}

/* A block that is not supplied: by differences, but for those by lambda where nothing but the
 * constraint forces depends on lambda. */
static bg_status calc_missing(bg_evaluator *sys, const bg_point *p, const double *a,
                              const double *lambda, bg_of of, bg_by by, double *block,
                              bg_error *err)
{
    bool depends = sys->def.f_of_lambda && (of == BG_OF_r || of == BG_OF_h);
    if (by != BG_BY_lambda || depends)
        return bg_system_difference_block(sys, p, a, lambda, of, by, block, err);
    memset(block, 0, (size_t)bg_system_count_values(sys->system, of, by) * sizeof(double));
    return of == BG_OF_r ? write_transposed(sys, p, block, err) : BG_OK;
}

bg_status bg_system_calc_derivatives(bg_evaluator *sys, const bg_point *p, const double *a,
                                     const double *lambda, bg_derivatives *out, bg_error *err)
{
    bg_derivatives direct = {.only_stiff = out->only_stiff};
    bool any = false;
    bg_system_get_work(sys)->jacobian++;
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++)
            if (out->block[of][by] && sys->def.derivative_supplied[of][by]) {
                direct.block[of][by] = out->block[of][by];
                any = true;
            }
    if (any) {
        bg_point at = *p;
        if (sys->def.f_of_lambda)
            at.lambda = lambda;
        int code = sys->def.derivatives(sys->def.self, &at, a, lambda, &direct);
        if (code != 0)
            return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                                "system '%s': `derivatives` failed with code %d at t = %.17g",
                                sys->def.name, code, p->t);
    }
    bg_status st = BG_OK;
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT && st == BG_OK; by++)
            if (out->block[of][by] && !direct.block[of][by])
                st = calc_missing(sys, p, a, lambda, (bg_of)of, (bg_by)by, out->block[of][by], err);
    return st;
}

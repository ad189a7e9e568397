/* Creation and checking of a bg_system, names, evaluation of supplied terms.
 *
 * What a definition may leave out, and what is then done instead, is decided here and in
 * differences.c; everything to the right of this file sees a complete system. */
#include "system/system.h"

#include "base/memory.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bg_system_def bg_default_system_def(void)
{
    bg_system_def def = {.name = "system", .t_start = 0, .t_end = 1};
    return def;
}

int bg_system_get_size_M(const bg_system *sys)
{
    const bg_pattern *p = sys->def.pattern_M;
    return p ? p->row_start[p->rows] : sys->def.nv * sys->def.nv;
}

int bg_system_get_size_G(const bg_system *sys)
{
    const bg_pattern *p = sys->def.pattern_G;
    return p ? p->row_start[p->rows] : sys->def.ng * sys->def.nv;
}

static int count_V(const bg_system_def *def)
{
    return def->pattern_V ? def->pattern_V->row_start[def->nq] : def->nq * def->nv;
}

int bg_system_get_size_V(const bg_system *sys)
{
    return sys->def.supplied & BG_TERM_V ? count_V(&sys->def) : 0;
}

static bg_status check_dimensions(const bg_system_def *def, bg_error *err)
{
    const struct {
        const char *name;
        int value;
    } dimensions[] = {{"nq", def->nq}, {"nv", def->nv}, {"nz", def->nz}, {"ng", def->ng},
                      {"nu", def->nu}, {"ns", def->ns}, {"ny", def->ny}, {"nmode", def->nmode}};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        if (dimensions[i].value < 0 || dimensions[i].value > 1000000)
            return bg_error_set(
                err, BG_BAD_INPUT,
                "system '%s': dimension %s = %d is out of range; give a number from "
                "0 to 1000000",
                def->name, dimensions[i].name, dimensions[i].value);
    if (def->nq < def->nv)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "system '%s': nq = %d is smaller than nv = %d; there must be at least as "
            "many configuration as velocity coordinates",
            def->name, def->nq, def->nv);
    if ((!def->pattern_M && def->nv > 46000) ||
        (!def->pattern_G && (double)def->ng * def->nv > 2e9))
        return bg_error_set(
            err, BG_BAD_INPUT,
            "system '%s': with nv = %d and ng = %d a dense M or G is too large; give "
            "pattern_M and pattern_G",
            def->name, def->nv, def->ng);
    return BG_OK;
}

static bg_status missing(const bg_system_def *def, const char *what, const char *remedy,
                         bg_error *err)
{
    return bg_error_set(err, BG_MISSING, "system '%s' does not supply %s; %s", def->name, what,
                        remedy);
}

static bg_status check_functions(const bg_system_def *def, bg_error *err)
{
    bool has_terms = def->terms != NULL;
    unsigned supplied = has_terms ? def->supplied : 0;
    bool explicit_only = def->accelerate && def->ng == 0;
    if (def->nv > 0 && !explicit_only && !(supplied & BG_TERM_M))
        return missing(def, "the mass matrix M",
                       "write it in `terms` and add BG_TERM_M to `supplied`", err);
    if (def->nv > 0 && !explicit_only && !(supplied & BG_TERM_f))
        return missing(def, "the forces f", "write them in `terms` and add BG_TERM_f to `supplied`",
                       err);
    if (def->ng > 0 && !(supplied & BG_TERM_g))
        return missing(def, "the constraints g",
                       "write them in `terms` and add BG_TERM_g to `supplied`", err);
    if (def->nq != def->nv && !(supplied & BG_TERM_V))
        return missing(def, "the kinematic matrix V, needed because nq != nv",
                       "write it in `terms` and add BG_TERM_V to `supplied`", err);
    if (def->nz > 0 && !(supplied & BG_TERM_h))
        return missing(def, "the rates h of z",
                       "write them in `terms` and add BG_TERM_h to `supplied`", err);
    if (def->ns > 0 && !(supplied & BG_TERM_s))
        return missing(def, "the switching functions s",
                       "write them in `terms` and add BG_TERM_s to `supplied`", err);
    if (def->nu > 0 && !def->inputs)
        return missing(def, "`inputs` although nu > 0", "set the function or nu = 0", err);
    if (def->ny > 0 && !def->outputs)
        return missing(def, "`outputs` although ny > 0", "set the function or ny = 0", err);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++)
            if (def->derivative_supplied[of][by] && !def->derivatives)
                return missing(def, "`derivatives` although blocks are marked as supplied",
                               "set the function or clear the marks", err);
    return BG_OK;
}

static bg_status check_pattern(const bg_system_def *def, const bg_pattern *p, const char *what,
                               int rows, int columns, bg_error *err)
{
    if (!p)
        return BG_OK;
    bool good = p->rows == rows && p->columns == columns && p->row_start && p->row_start[0] == 0;
    for (int i = 0; good && i < rows; i++) {
        good = p->row_start[i + 1] >= p->row_start[i] && (p->column || p->row_start[i + 1] == 0);
        for (int k = p->row_start[i]; good && k < p->row_start[i + 1]; k++)
            good = p->column[k] >= 0 && p->column[k] < columns &&
                   (k == p->row_start[i] || p->column[k] > p->column[k - 1]);
    }
    if (!good)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "system '%s': the pattern of %s is not a %d x %d pattern with ascending "
            "columns in each row; check row_start and column",
            def->name, what, rows, columns);
    return BG_OK;
}

static bg_status check_values(const bg_system_def *def, const double *x, int n, const char *what,
                              bg_error *err)
{
    for (int i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "system '%s': start value %s[%d] is not a finite number", def->name,
                                what, i);
    return BG_OK;
}

static bg_status check_sizes(const bg_system_def *def, const double *x, int n, const char *what,
                             bg_error *err)
{
    for (int i = 0; x && i < n; i++)
        if (!(x[i] > 0) || !isfinite(x[i]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "system '%s': %s[%d] is %g, but sizes are positive; give the size "
                                "of what it belongs to, or leave all out",
                                def->name, what, i, x[i]);
    return BG_OK;
}

void bg_system_calc_row_sizes(const bg_system *sys, const double *G, double *size)
{
    const bg_pattern *p = sys->def.pattern_G;
    int nv = sys->def.nv, ng = sys->def.ng;
    double longest = 0;
    if (sys->def.g_size) {
        memcpy(size, sys->def.g_size, (size_t)ng * sizeof(double));
        return;
    }
    for (int i = 0; i < ng; i++) {
        double sum = 0;
        int begin = p ? p->row_start[i] : i * nv, end = p ? p->row_start[i + 1] : begin + nv;
        for (int k = begin; k < end; k++)
            sum += G[k] * G[k];
        size[i] = sqrt(sum);
        longest = fmax(longest, size[i]);
    }
    for (int i = 0; i < ng; i++)
        if (size[i] <= 1e-9 * longest || size[i] == 0)
            size[i] = longest > 0 ? longest : 1.0;
}

int bg_system_get_rows(const bg_system *sys, bg_of of)
{
    const int rows[BG_OF_COUNT] = {sys->def.nv, sys->def.nz, sys->def.ng, sys->def.ng, sys->def.ng};
    return rows[of];
}

int bg_system_get_columns(const bg_system *sys, bg_by by)
{
    const int columns[BG_BY_COUNT] = {sys->def.nv, sys->def.nv, sys->def.nz, sys->def.nu};
    return columns[by];
}

const char *bg_block_get_name(bg_of of, bg_by by)
{
    static const char *const names[BG_OF_COUNT][BG_BY_COUNT] = {
        {"dr/dq", "dr/dv", "dr/dz", "dr/du"},
        {"dh/dq", "dh/dv", "dh/dz", "dh/du"},
        {"dg/dq", "dg/dv", "dg/dz", "dg/du"},
        {"dw/dq", "dw/dv", "dw/dz", "dw/du"},
        {"dgamma/dq", "dgamma/dv", "dgamma/dz", "dgamma/du"}};
    return names[of][by];
}

static bg_status check_definition(const bg_system *sys, bg_error *err)
{
    const bg_system_def *def = &sys->def;
    bg_status st = check_dimensions(def, err);
    if (st == BG_OK)
        st = check_functions(def, err);
    if (st == BG_OK)
        st = check_pattern(def, def->pattern_M, "M", def->nv, def->nv, err);
    if (st == BG_OK)
        st = check_pattern(def, def->pattern_G, "G", def->ng, def->nv, err);
    if (st == BG_OK)
        st = check_pattern(def, def->pattern_V, "V", def->nq, def->nv, err);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT && st == BG_OK; by++)
            st = check_pattern(def, def->pattern[of][by], bg_block_get_name((bg_of)of, (bg_by)by),
                               bg_system_get_rows(sys, (bg_of)of),
                               bg_system_get_columns(sys, (bg_by)by), err);
    if (st == BG_OK)
        st = check_values(def, def->q0, def->nq, "q", err);
    if (st == BG_OK)
        st = check_values(def, def->v0, def->nv, "v", err);
    if (st == BG_OK)
        st = check_values(def, def->z0, def->nz, "z", err);
    if (st == BG_OK)
        st = check_sizes(def, def->v_size, def->nv, "v_size", err);
    if (st == BG_OK)
        st = check_sizes(def, def->g_size, def->ng, "g_size", err);
    if (st == BG_OK && !(isfinite(def->t_start) && isfinite(def->t_end)))
        st = bg_error_set(err, BG_BAD_INPUT, "system '%s': t_start or t_end is not a finite number",
                          def->name);
    return st;
}

const bg_pattern *bg_system_get_pattern(const bg_system *sys, bg_of of, bg_by by)
{
    return of == BG_OF_g && by == BG_BY_q ? sys->def.pattern_G : sys->def.pattern[of][by];
}

static bool allocate(bg_system *sys)
{
    sys->u = BG_NEW_ARRAY(double, sys->def.nu);
    sys->u_t = BG_NEW_ARRAY(double, sys->def.nu);
    sys->u_tt = BG_NEW_ARRAY(double, sys->def.nu);
    sys->outside = BG_NEW_ARRAY(bg_live_input, sys->def.nu);
    sys->energy.point = BG_NEW_ARRAY(double,
                                     1 + sys->def.nq + sys->def.nv + sys->def.nz + 3 * sys->def.nu);
    sys->energy.mode = BG_NEW_ARRAY(int, sys->def.nmode);
    bool good = bg_system_create_event_names(sys) && sys->u && sys->u_t && sys->u_tt &&
                sys->outside && sys->energy.point && sys->energy.mode &&
                bg_difference_scratch_create(sys, &sys->for_terms) &&
                bg_difference_scratch_create(sys, &sys->for_gamma) &&
                bg_difference_scratch_create(sys, &sys->for_blocks);
    for (int of = 0; of < BG_OF_COUNT && good; of++)
        for (int by = 0; by < BG_BY_COUNT && good; by++) {
            const bg_pattern *pattern = bg_system_get_pattern(sys, (bg_of)of, (bg_by)by);
            if (pattern)
                good = bg_colouring_create(pattern->rows, pattern->columns, pattern,
                                           &sys->group[of][by], &sys->ngroups[of][by],
                                           NULL) == BG_OK;
        }
    return good;
}

bg_status bg_system_create(const bg_system_def *def, bg_system **system, bg_error *err)
{
    *system = NULL;
    bg_system *sys = BG_NEW(bg_system);
    if (!sys) {
        if (def->destroy)
            def->destroy(def->self);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while creating system '%s'",
                            def->name);
    }
    sys->def = *def;
    sys->widening = 1;
    sys->freedom = -1;
    sys->size = 1;
    if (!sys->def.name)
        sys->def.name = "system";
    if (!sys->def.terms)
        sys->def.supplied = 0;
    bg_status st = check_definition(sys, err);
    if (st == BG_OK && !allocate(sys))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory while creating system '%s'", def->name);
    if (st != BG_OK) {
        bg_system_destroy(sys);
        return st;
    }
    *system = sys;
    return BG_OK;
}

void bg_system_destroy(bg_system *sys)
{
    if (!sys)
        return;
    bg_warnings_clear(&sys->warnings);
    free(sys->event_names);
    free((void *)sys->event_texts);
    free(sys->event_words);
    free(sys->u);
    free(sys->u_t);
    free(sys->u_tt);
    free(sys->outside);
    free(sys->energy.point);
    free(sys->energy.mode);
    bg_difference_scratch_clear(&sys->for_terms);
    bg_difference_scratch_clear(&sys->for_gamma);
    bg_difference_scratch_clear(&sys->for_blocks);
    for (int of = 0; of < BG_OF_COUNT; of++)
        for (int by = 0; by < BG_BY_COUNT; by++)
            free(sys->group[of][by]);
    if (sys->def.destroy)
        sys->def.destroy(sys->def.self);
    free(sys);
}

const bg_warnings *bg_system_get_warnings(const bg_system *sys)
{
    return &sys->warnings;
}

const bg_system_def *bg_system_get_def(const bg_system *sys)
{
    return &sys->def;
}

const char *bg_system_get_name(const bg_system *sys, char kind, int i, char *buffer, size_t size)
{
    const bg_system_def *d = &sys->def;
    const char *const *names = NULL;
    switch (kind) {
    case 'q':
        names = d->q_names;
        break;
    case 'v':
        names = d->v_names;
        break;
    case 'z':
        names = d->z_names;
        break;
    case 'g':
        names = d->g_names;
        break;
    case 'u':
        names = d->u_names;
        break;
    case 's':
        names = d->s_names;
        break;
    case 'y':
        names = d->y_names;
        break;
    default:
        break;
    }
    if (names && names[i])
        return names[i];
    snprintf(buffer, size, "%c[%d]", kind, i);
    return buffer;
}

void bg_system_set_live(bg_system *sys, int i, double since, double value, double rate)
{
    sys->outside[i] = (bg_live_input){true, since, value, rate};
}

void bg_system_clear_live(bg_system *sys)
{
    for (int i = 0; i < sys->def.nu; i++)
        sys->outside[i].live = false;
}

bg_status bg_system_calc_inputs(bg_system *sys, double t, const int *mode, double *u, double *u_t,
                                double *u_tt, bg_error *err)
{
    int code = sys->def.inputs(sys->def.self, t, mode, u, u_t, u_tt);
    if (code != 0)
        return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                            "system '%s': `inputs` failed with code %d at t = %.17g", sys->def.name,
                            code, t);
    for (int i = 0; i < sys->def.nu; i++) {
        const bg_live_input *x = &sys->outside[i];
        if (!x->live)
            continue;
        u[i] = x->value + x->rate * (t - x->since);
        u_t[i] = x->rate;
        u_tt[i] = 0;
    }
    return BG_OK;
}

bg_status bg_system_set_point(bg_system *sys, double t, const double *q, const double *v,
                              const double *z, const int *mode, bg_point *p, bg_error *err)
{
    *p = (bg_point){t, q, v, z, sys->u, sys->u_t, sys->u_tt, mode};
    if (sys->def.nu == 0)
        return BG_OK;
    return bg_system_calc_inputs(sys, t, mode, sys->u, sys->u_t, sys->u_tt, err);
}

/* Makes n doubles at *to those at x; whether they were so already. *to moves behind them. */
static bool is_same(double **to, const double *x, int n)
{
    size_t size = (size_t)n * sizeof(double);
    bool same = memcmp(*to, x, size) == 0;
    memcpy(*to, x, size);
    *to += n;
    return same;
}

int bg_system_calc_energy(bg_system *sys, const bg_point *p, bg_energy *out)
{
    const bg_system_def *d = &sys->def;
    bg_known_energy *e = &sys->energy;
    size_t modes = (size_t)d->nmode * sizeof(int);
    double *at = e->point;
    bool same = is_same(&at, &p->t, 1);
    same = is_same(&at, p->q, d->nq) && same;
    same = is_same(&at, p->v, d->nv) && same;
    same = is_same(&at, p->z, d->nz) && same;
    same = is_same(&at, p->u, d->nu) && same;
    same = is_same(&at, p->u_t, d->nu) && same;
    same = is_same(&at, p->u_tt, d->nu) && same;
    same = memcmp(e->mode, p->mode, modes) == 0 && same;
    memcpy(e->mode, p->mode, modes);
    if (!same || !e->known) {
        e->value = (bg_energy){0, 0, 0};
        int code = d->energy(d->self, p, &e->value);
        e->known = code == 0;
        if (code != 0)
            return code;
    }
    *out = e->value;
    return 0;
}

bg_status bg_system_accelerate(bg_system *sys, const bg_point *p, double *a, bg_error *err)
{
    bg_system_get_work(sys)->explicit_++;
    int code = sys->def.accelerate(sys->def.self, p, NULL, a);
    if (code == 0)
        return BG_OK;
    return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                        "system '%s': `accelerate` failed with code %d at t = %.17g", sys->def.name,
                        code, p->t);
}

static void count_evaluation(bg_system *sys, unsigned terms)
{
    const unsigned of_motion = BG_TERM_M | BG_TERM_f | BG_TERM_h;
    bg_work *work = bg_system_get_work(sys);
    work->terms += (terms & of_motion) != 0;
    work->switching += terms == BG_TERM_s;
    work->constraints += terms != BG_TERM_s && (terms & of_motion) == 0;
}

bg_status bg_system_calc_terms(bg_system *sys, const bg_point *p, unsigned want, bg_terms *out,
                               bg_error *err)
{
    unsigned direct = want & sys->def.supplied;
    if (direct) {
        count_evaluation(sys, direct);
        int code = sys->def.terms(sys->def.self, p, direct, out);
        if (code != 0)
            return bg_error_set(err, code > 0 ? BG_RETRY : BG_SYSTEM_FAILED,
                                "system '%s': `terms` failed with code %d at t = %.17g",
                                sys->def.name, code, p->t);
    }
    unsigned rest = want & ~sys->def.supplied & (BG_TERM_G | BG_TERM_gt | BG_TERM_gamma);
    if (rest == 0 || sys->def.ng == 0)
        return BG_OK;
    const unsigned order[] = {BG_TERM_G, BG_TERM_gt, BG_TERM_gamma};
    for (int i = 0; i < 3; i++) {
        if (!(rest & order[i]))
            continue;
        if (order[i] == BG_TERM_gt && sys->def.scleronomic) {
            memset(out->gt, 0, (size_t)sys->def.ng * sizeof(double));
            continue;
        }
        bg_status st = bg_system_difference_term(sys, p, order[i], out, err);
        if (st != BG_OK)
            return st;
    }
    return BG_OK;
}

static bool find_in(const double *x, int n, int *where)
{
    for (int i = 0; x && i < n; i++)
        if (!isfinite(x[i])) {
            *where = i;
            return true;
        }
    return false;
}

/* The row and column an entry of a matrix stands in. */
static void locate(const bg_pattern *pattern, int columns, int k, int *row, int *column)
{
    if (!pattern) {
        *row = k / columns;
        *column = k % columns;
        return;
    }
    int i = 0;
    while (pattern->row_start[i + 1] <= k)
        i++;
    *row = i;
    *column = pattern->column[k];
}

bool bg_system_find_not_finite(const bg_system *sys, const bg_terms *x, unsigned want, char *text,
                               size_t size)
{
    const bg_system_def *d = &sys->def;
    const struct {
        unsigned term;
        const char *symbol;
        const double *values;
        int n;
        char kind;
    } vectors[] = {
        {BG_TERM_f, "f", x->f, d->nv, 'v'},     {BG_TERM_g, "g", x->g, d->ng, 'g'},
        {BG_TERM_gt, "g_t", x->gt, d->ng, 'g'}, {BG_TERM_gamma, "gamma", x->gamma, d->ng, 'g'},
        {BG_TERM_h, "h", x->h, d->nz, 'z'},     {BG_TERM_s, "s", x->s, d->ns, 's'}};
    char buffer[32], buffer2[32];
    int k, row, column;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if ((want & vectors[i].term) && find_in(vectors[i].values, vectors[i].n, &k)) {
            snprintf(text, size, "%s[%d] (%s)", vectors[i].symbol, k,
                     bg_system_get_name(sys, vectors[i].kind, k, buffer, sizeof buffer));
            return true;
        }
    if ((want & BG_TERM_M) && find_in(x->M, bg_system_get_size_M(sys), &k)) {
        locate(d->pattern_M, d->nv, k, &row, &column);
        snprintf(text, size, "M[%d][%d] (%s, %s)", row, column,
                 bg_system_get_name(sys, 'v', row, buffer, sizeof buffer),
                 bg_system_get_name(sys, 'v', column, buffer2, sizeof buffer2));
        return true;
    }
    if ((want & BG_TERM_G) && find_in(x->G, bg_system_get_size_G(sys), &k)) {
        locate(d->pattern_G, d->nv, k, &row, &column);
        snprintf(text, size, "G[%d][%d] (%s, %s)", row, column,
                 bg_system_get_name(sys, 'g', row, buffer, sizeof buffer),
                 bg_system_get_name(sys, 'v', column, buffer2, sizeof buffer2));
        return true;
    }
    if ((want & BG_TERM_V) && find_in(x->V, count_V(d), &k)) {
        locate(d->pattern_V, d->nv, k, &row, &column);
        snprintf(text, size, "V[%d][%d]", row, column);
        return true;
    }
    return false;
}

void bg_system_move(const bg_system *sys, const double *q, const double *V, double step,
                    const double *delta, double *q_out)
{
    const bg_system_def *d = &sys->def;
    const bg_pattern *p = d->pattern_V;
    if (d->supplied & BG_TERM_V) {
        for (int i = 0; i < d->nq; i++) {
            double sum = 0;
            if (p)
                for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
                    sum += V[k] * delta[p->column[k]];
            else
                for (int j = 0; j < d->nv; j++)
                    sum += V[i * d->nv + j] * delta[j];
            q_out[i] = q[i] + step * sum;
        }
    } else {
        for (int i = 0; i < d->nq; i++)
            q_out[i] = q[i] + step * delta[i];
    }
    if (d->normalise)
        d->normalise(d->self, q_out);
}

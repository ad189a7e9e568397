/* Creation of a bg_system, its sizes and names. What it computes is asked of an evaluator
 * (evaluator.c). */
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

void bg_terms_take(const bg_system *sys, bool with_M, bg_terms *x, bg_arena *arena)
{
    const bg_system_def *d = &sys->def;
    BG_TAKE(arena, x->M, with_M ? bg_system_get_size_M(sys) : 0);
    BG_TAKE(arena, x->f, d->nv);
    BG_TAKE(arena, x->g, d->ng);
    BG_TAKE(arena, x->gt, d->ng);
    BG_TAKE(arena, x->G, bg_system_get_size_G(sys));
    BG_TAKE(arena, x->gamma, d->ng);
    BG_TAKE(arena, x->V, bg_system_get_size_V(sys));
    BG_TAKE(arena, x->h, d->nz);
    BG_TAKE(arena, x->s, d->ns);
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

int bg_system_count_values(const bg_system *sys, bg_of of, bg_by by)
{
    const bg_pattern *p = bg_system_get_pattern(sys, of, by);
    int rows = bg_system_get_rows(sys, of);
    return p ? p->row_start[rows] : rows * bg_system_get_columns(sys, by);
}

int bg_system_get_columns(const bg_system *sys, bg_by by)
{
    const int columns[BG_BY_COUNT] = {sys->def.nv, sys->def.nv, sys->def.nz, sys->def.nu,
                                      sys->def.nu, sys->def.nu, sys->def.ng};
    return columns[by];
}

const char *bg_block_get_name(bg_of of, bg_by by)
{
    static const char *const names[BG_OF_COUNT][BG_BY_COUNT] = {
        {"dr/dq", "dr/dv", "dr/dz", "dr/du", "dr/du_t", "dr/du_tt", "dr/dlambda"},
        {"dh/dq", "dh/dv", "dh/dz", "dh/du", "dh/du_t", "dh/du_tt", "dh/dlambda"},
        {"dg/dq", "dg/dv", "dg/dz", "dg/du", "dg/du_t", "dg/du_tt", "dg/dlambda"},
        {"dw/dq", "dw/dv", "dw/dz", "dw/du", "dw/du_t", "dw/du_tt", "dw/dlambda"},
        {"dgamma/dq", "dgamma/dv", "dgamma/dz", "dgamma/du", "dgamma/du_t", "dgamma/du_tt",
         "dgamma/dlambda"}};
    return names[of][by];
}

const bg_pattern *bg_system_get_pattern(const bg_system *sys, bg_of of, bg_by by)
{
    return of == BG_OF_g && by == BG_BY_q ? sys->def.pattern_G : sys->def.pattern[of][by];
}

/* The first block, up to one of its own, that has this pattern. */
static int find_block(const bg_system *sys, const bg_pattern *pattern)
{
    for (int k = 0;; k++)
        if (bg_system_get_pattern(sys, (bg_of)(k / (int)BG_BY_COUNT),
                                  (bg_by)(k % (int)BG_BY_COUNT)) == pattern)
            return k;
}

/* Groups of columns; blocks that share a pattern share them. */
static bool allocate(bg_system *sys)
{
    bool good = bg_system_create_event_names(sys);
    for (int k = 0; k < (int)BG_OF_COUNT * (int)BG_BY_COUNT && good; k++) {
        int of = k / (int)BG_BY_COUNT, by = k % (int)BG_BY_COUNT;
        const bg_pattern *pattern = bg_system_get_pattern(sys, (bg_of)of, (bg_by)by);
        if (!pattern)
            continue;
        int first = find_block(sys, pattern);
        if (first == k)
            good = bg_colouring_create(pattern->rows, pattern->columns, pattern, &sys->own_group[k],
                                       &sys->ngroups[of][by], NULL) == BG_OK;
        else
            sys->ngroups[of][by] = sys->ngroups[first / (int)BG_BY_COUNT][first % (int)BG_BY_COUNT];
        sys->group[of][by] = sys->own_group[first];
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
    sys->freedom = -1;
    sys->size = 1;
    if (!sys->def.name)
        sys->def.name = "system";
    if (!sys->def.terms)
        sys->def.supplied = 0;
    sys->def.f_of_lambda = sys->def.f_of_lambda && sys->def.ng > 0;
    sys->def.s_of_lambda = sys->def.s_of_lambda && sys->def.ng > 0 && sys->def.ns > 0;
    bg_status st = bg_system_check_definition(sys, err);
    if (st == BG_OK && !allocate(sys))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory while creating system '%s'", def->name);
    if (st != BG_OK) {
        bg_system_destroy(sys);
        return st;
    }
    *system = sys;
    return BG_OK;
}

/* Whether two lists of parts are the same; NULL: all slow. */
static bool are_same(const unsigned char *a, const unsigned char *b, int n)
{
    for (int i = 0; i < n; i++)
        if ((a ? a[i] : BG_PART_SLOW) != (b ? b[i] : BG_PART_SLOW))
            return false;
    return true;
}

bg_status bg_system_set_parts(bg_system *sys, const unsigned char *v, const unsigned char *z,
                              const unsigned char *g, bg_error *err)
{
    bg_system_def *d = &sys->def;
    const struct {
        const unsigned char **of, *from;
        int n;
    } lists[] = {{&d->v_part, v, d->nv}, {&d->z_part, z, d->nz}, {&d->g_part, g, d->ng}};
    if (v && are_same(d->v_part, v, d->nv) && are_same(d->z_part, z, d->nz) &&
        are_same(d->g_part, g, d->ng))
        return BG_OK;
    unsigned char *next = bg_calloc((size_t)d->nv + (size_t)d->nz + (size_t)d->ng, 1);
    if (!next)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the parts of system '%s'",
                            d->name);
    free(sys->own_parts);
    sys->own_parts = next;
    for (int k = 0; k < 3; next += lists[k++].n) {
        *lists[k].of = lists[k].from ? next : NULL;
        if (lists[k].from)
            memcpy(next, lists[k].from, (size_t)lists[k].n);
    }
    d->accelerate_part = NULL;
    return BG_OK;
}

void bg_system_destroy(bg_system *sys)
{
    if (!sys)
        return;
    free(sys->own_parts);
    bg_warnings_clear(&sys->warnings);
    free(sys->event_names);
    free((void *)sys->event_texts);
    free(sys->event_words);
    for (int k = 0; k < (int)BG_OF_COUNT * (int)BG_BY_COUNT; k++)
        free(sys->own_group[k]);
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

const char *bg_system_get_unit(const bg_system *system, char kind, int i)
{
    const bg_system_def *d = &system->def;
    const struct {
        char kind;
        const char *const *units;
    } all[] = {{'q', d->q_units},      {'v', d->v_units}, {'z', d->z_units},
               {'l', d->lambda_units}, {'u', d->u_units}, {'y', d->y_units}};
    if (kind == 'a') {
        static const char *const rates[][2] = {
            {"m/s", "m/s²"}, {"rad/s", "rad/s²"}, {"1/s", "1/s²"}};
        const char *v = bg_system_get_unit(system, 'v', i);
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
            if (strcmp(v, rates[k][0]) == 0)
                return rates[k][1];
        return "";
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].kind == kind && all[k].units && all[k].units[i])
            return all[k].units[i];
    return "";
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

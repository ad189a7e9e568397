/* Whether a definition can become a system: dimensions, functions, patterns, start values, sizes.
 */
#include "base/text.h"
#include "system/system.h"

#include <math.h>

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
    if (def->mass_size > 0 && !(def->factor_mass && def->solve_mass))
        return missing(def, "factor_mass and solve_mass, which mass_size > 0 announces",
                       "supply both or leave mass_size at 0", err);
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

bg_status bg_system_check_expansion(const bg_system_def *def, const bg_expansion *e, bg_error *err)
{
    if (e->nx < 0 || e->nx > 100000000)
        return bg_error_set(err, BG_BAD_INPUT,
                            "system '%s': the expansion has nx = %d unknowns; give a number from 0 "
                            "to 100000000",
                            def->name, e->nx);
    bg_status st = check_pattern(def, &e->x, "the expansion by x", e->nx + def->nv, e->nx, err);
    const bg_pattern *const by[] = {&e->q, &e->v, &e->a};
    const char *const names[] = {"the expansion by q", "the expansion by v", "the expansion by a"};
    for (int k = 0; k < 3 && st == BG_OK; k++)
        st = check_pattern(def, by[k], names[k], e->nx + def->nv, def->nv, err);
    return st;
}

static bg_status check_pair(const bg_system_def *def, bg_error *err)
{
    if (!def->lay_out == !def->expand)
        return BG_OK;
    return missing(def, def->lay_out ? "`expand` although it has `lay_out`" : "`lay_out`",
                   "set both or none", err);
}

/* r by lambda is G^T - df/dlambda: its pattern has every entry that G has. */
static bg_status check_by_lambda(const bg_system_def *def, bg_error *err)
{
    const bg_pattern *p = def->pattern[BG_OF_r][BG_BY_lambda], *G = def->pattern_G;
    bool good = true;
    for (int j = 0; p && good && j < def->ng; j++) {
        int begin = G ? G->row_start[j] : 0, end = G ? G->row_start[j + 1] : def->nv;
        for (int k = begin; good && k < end; k++) {
            int i = G ? G->column[k] : k;
            good = false;
            for (int e = p->row_start[i]; !good && e < p->row_start[i + 1]; e++)
                good = p->column[e] == j;
        }
    }
    if (!good)
        return bg_error_set(err, BG_BAD_INPUT,
                            "system '%s': the pattern of dr/dlambda leaves out entries of G'; add "
                            "them, or leave the pattern out",
                            def->name);
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

/* Names go to terminals and into tables. */
static bg_status check_names(const bg_system_def *def, bg_error *err)
{
    const struct {
        const char *const *names;
        int count;
    } lists[] = {{def->q_names, def->nq}, {def->v_names, def->nv}, {def->z_names, def->nz},
                 {def->g_names, def->ng}, {def->u_names, def->nu}, {def->s_names, def->ns},
                 {def->y_names, def->ny}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        for (int i = 0; lists[k].names && i < lists[k].count; i++)
            if (lists[k].names[i] && bg_text_find_control(lists[k].names[i]))
                return bg_error_set(err, BG_BAD_INPUT,
                                    "system '%s': the name '%s' has a control character in it; "
                                    "write it without",
                                    def->name, lists[k].names[i]);
    return BG_OK;
}

static bg_status check_parts(const bg_system_def *def, bg_error *err)
{
    const struct {
        const char *name;
        const unsigned char *part;
        int n;
    } lists[] = {{"v_part", def->v_part, def->nv},
                 {"z_part", def->z_part, def->nz},
                 {"g_part", def->g_part, def->ng}};
    for (int k = 0; k < 3; k++)
        for (int i = 0; lists[k].part && i < lists[k].n; i++)
            if (lists[k].part[i] != BG_PART_SLOW && lists[k].part[i] != BG_PART_FAST)
                return bg_error_set(err, BG_BAD_INPUT,
                                    "system '%s': %s[%d] is %d; give BG_PART_SLOW or BG_PART_FAST",
                                    def->name, lists[k].name, i, lists[k].part[i]);
    return BG_OK;
}

bg_status bg_system_check_definition(const bg_system *sys, bg_error *err)
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
        st = check_by_lambda(def, err);
    if (st == BG_OK)
        st = check_pair(def, err);
    if (st == BG_OK)
        st = check_values(def, def->q0, def->nq, "q", err);
    if (st == BG_OK)
        st = check_names(def, err);
    if (st == BG_OK)
        st = check_values(def, def->v0, def->nv, "v", err);
    if (st == BG_OK)
        st = check_values(def, def->z0, def->nz, "z", err);
    if (st == BG_OK)
        st = check_sizes(def, def->v_size, def->nv, "v_size", err);
    if (st == BG_OK)
        st = check_sizes(def, def->g_size, def->ng, "g_size", err);
    if (st == BG_OK)
        st = check_parts(def, err);
    if (st == BG_OK && !(isfinite(def->t_start) && isfinite(def->t_end)))
        st = bg_error_set(err, BG_BAD_INPUT, "system '%s': t_start or t_end is not a finite number",
                          def->name);
    return st;
}

/* Derivatives of bdf by differences, column by column or in groups.
 *
 * Column r of B is (F(y + delta_r e_r) - F(y)) / delta_r at fixed rates (001 (16)); q moves along
 * V. 001 (17) has delta_r = max(|y_r|, eps^(1/4)) eps^(1/2), which drowns in rounding where large
 * forces balance at small y; here it is eps^(1/2) times |y_r|, what it changes by in the step, or
 * atol/rtol, whichever is largest. Columns are those of q, v, z and lambda; those of eta are G^T
 * and are never differenced. Columns without a common row in a pattern Omega are differenced
 * together (20), in the fewest groups of several orders. G is known, so the rows of w do not count
 * for columns of v. Omega is that of the system's blocks, or what of it one difference in groups of
 * that pattern shows: entries above `noticed` of the largest of their
 * row, both times their delta, i.e. what each does where all unknowns change by the same part of
 * their sizes. (1e-10 finds more entries, but no fewer iterations, on the carriage and the car of
 * 001.) As that may be too little, where force elements did not act at the start, it grows by what
 * a later difference of that kind shows: when the iteration fails in spite of new derivatives in
 * a step that was cut before, or for the third time; after a difference that showed nothing new,
 * only when twice as many have failed.
 *
 * The rows are r (with the explicit formalism M times the difference of accelerations, which has
 * the pattern of r), h and w = G v + g_t. */
#include "integrators/bdf.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT = 3, WAIT_MAX = 48 };
static const double noticed = 1e-6;

struct bg_bdf_differences {
    int rows, columns;
    bool known;         /* omega is there */
    int failures, wait; /* of the iteration in spite of new derivatives; how many ask for more */
    unsigned char *topology; /* [columns rows] column by column: what the system's patterns allow */
    unsigned char *omega;    /* [columns rows] */
    int *group;              /* [columns] of omega */
    int *apart;              /* [columns] of topology; each alone with jacobian=dense */
    int ngroups, napart;
    int *trial, *order;  /* [columns] scratch of groups */
    unsigned char *mask; /* [rows] */
    double *shift;       /* [columns] */
    double *value[2];    /* [rows] at the iterate, and shifted */
    double *largest;     /* [rows] */
    double *raw;         /* [columns rows] differences of all columns */
    double *kept;        /* [nv + nv + nz + ng] the iterate */
    double *moves;       /* [nv] */
    double *product;     /* [nv] */
    bg_arena arena;
};

static void list(void *object, bg_arena *arena)
{
    bg_bdf_differences *x = object;
    size_t all = (size_t)x->rows * (size_t)x->columns;
    BG_TAKE(arena, x->topology, all);
    BG_TAKE(arena, x->omega, all);
    BG_TAKE(arena, x->raw, all);
    BG_TAKE(arena, x->group, x->columns);
    BG_TAKE(arena, x->apart, x->columns);
    BG_TAKE(arena, x->trial, x->columns);
    BG_TAKE(arena, x->order, x->columns);
    BG_TAKE(arena, x->mask, x->rows);
    BG_TAKE(arena, x->shift, x->columns);
    BG_TAKE(arena, x->value[0], x->rows);
    BG_TAKE(arena, x->value[1], x->rows);
    BG_TAKE(arena, x->largest, x->rows);
    BG_TAKE(arena, x->kept, x->columns + x->rows);
    BG_TAKE(arena, x->moves, x->rows);
    BG_TAKE(arena, x->product, x->rows);
}

void bg_bdf_differences_destroy(bg_bdf_differences *x)
{
    if (x)
        bg_arena_clear(&x->arena);
    free(x);
}

/* The block whose columns begin at `first`. */
typedef struct strip {
    bg_by by;
    int first, count;
} strip;

static void list_strips(const bg_bdf *m, strip s[4])
{
    s[0] = (strip){BG_BY_q, 0, m->nv};
    s[1] = (strip){BG_BY_v, m->nv, m->nv};
    s[2] = (strip){BG_BY_z, 2 * m->nv, m->nz};
    s[3] = (strip){BG_BY_lambda, 2 * m->nv + m->nz, m->ng};
}

static int get_row(const bg_bdf *m, bg_of of)
{
    return of == BG_OF_r ? 0 : of == BG_OF_h ? m->nv : m->nv + m->nz;
}

/* The rows at the present iterate. */
static bg_status calc_rows(bg_integrator *ig, double *out, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_status st = bg_bdf_calc_residual(ig, err);
    if (st != BG_OK)
        return st;
    if (m->formalism == BG_FORMALISM_EXPLICIT)
        bg_matrix_multiply(m->nv, m->nv, ig->sys->def.pattern_M, m->parts.B.block[BG_KEPT_M].values,
                           m->F.F2, out);
    else
        memcpy(out, m->F.F2, (size_t)m->nv * sizeof(double));
    memcpy(out + m->nv, ig->dyn->terms.h, (size_t)m->nz * sizeof(double));
    if (m->ng > 0)
        bg_dynamics_calc_w(ig->dyn, ig->x1->v, out + m->nv + m->nz);
    return BG_OK;
}

/* The size of an entry of q, v, z or lambda, and below which none is: what the tolerances say, as
 * far as they do. */
static double calc_size(const bg_integrator *ig, double y, double rate)
{
    const bg_bdf *m = ig->method;
    const double quotient = ig->options.atol / ig->options.rtol, least = sqrt(sqrt(DBL_EPSILON));
    const double floor = quotient > 1 || isnan(quotient) ? 1 : fmax(quotient, least);
    return fmax(floor, fmax(fabs(y), m->formula.h * fabs(rate)));
}

static void keep_iterate(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    double *to = x->kept;
    memcpy(to, ig->x1->q, (size_t)(m->nq + m->nv + m->nz) * sizeof(double));
    memcpy(to + m->nq + m->nv + m->nz, m->lambda, (size_t)m->ng * sizeof(double));
    for (int j = 0; j < x->columns; j++) {
        int i = j >= m->nv ? m->nq + j - m->nv : m->q_of[j]; /* in q, v, z, lambda */
        double rate = i >= 0 && i < m->nq + m->nv + m->nz ? m->rate_P[i] : 0;
        x->shift[j] = calc_size(ig, i < 0 ? 1 : to[i], rate) * sqrt(DBL_EPSILON);
    }
}

static void go_back(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    const double *from = m->differences->kept;
    memcpy(ig->x1->q, from, (size_t)(m->nq + m->nv + m->nz) * sizeof(double));
    memcpy(m->lambda, from + m->nq + m->nv + m->nz, (size_t)m->ng * sizeof(double));
}

/* The rows with the columns of one group shifted, as differences. */
static bg_status difference(bg_integrator *ig, const int *group, int k, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    double *v = ig->x1->v; /* z behind it */
    bool moves = false;
    for (int j = 0; j < x->columns; j++) {
        double d = group[j] == k ? x->shift[j] : 0;
        int behind = j - 2 * m->nv - m->nz;
        if (j < m->nv) {
            x->moves[j] = d;
            moves = moves || d != 0;
        } else if (behind < 0) {
            v[j - m->nv] += d;
        } else {
            m->lambda[behind] += d;
        }
    }
    if (moves)
        bg_system_move(ig->sys, x->kept, m->V, 1, x->moves, ig->x1->q);
    if (m->columns == BG_COLUMNS_WHOLE)
        bg_system_forget(ig->sys);
    bg_status st = calc_rows(ig, x->value[1], err);
    go_back(ig);
    for (int i = 0; i < x->rows; i++)
        x->value[1][i] -= x->value[0][i];
    return st;
}

/* Writes what belongs to the columns of a group into the blocks of B. */
static void store(bg_integrator *ig, const int *group, int k, bool all)
{
    static const bg_of of[] = {BG_OF_r, BG_OF_h, BG_OF_w};
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    strip s[4];
    list_strips(m, s);
    for (int o = 0; o < 3; o++)
        for (int b = 0; b < 4; b++) {
            const bg_pattern *p = bg_system_get_pattern(ig->sys->system, of[o], s[b].by);
            bg_kept_block *block = bg_jacobian_get(&m->parts.B, of[o], s[b].by);
            int top = get_row(m, of[o]), rows = bg_system_get_rows(ig->sys->system, of[o]);
            for (int i = 0; block->values && i < rows; i++) {
                int begin = p ? p->row_start[i] : i * s[b].count;
                int end = p ? p->row_start[i + 1] : begin + s[b].count;
                for (int e = begin; e < end; e++) {
                    int j = s[b].first + (p ? p->column[e] : e - begin);
                    size_t at = (size_t)j * (size_t)x->rows + (size_t)(top + i);
                    if (group[j] != k)
                        continue;
                    block->values[e] = all || x->omega[at] ? x->value[1][top + i] / x->shift[j] : 0;
                }
            }
        }
}

/* Groups of a pattern in one order of the columns, into trial. */
static int group_columns(bg_bdf_differences *x, const unsigned char *pattern)
{
    int n = 0, left = x->columns;
    for (int j = 0; j < x->columns; j++)
        x->trial[j] = -1;
    for (; left > 0; n++) {
        memset(x->mask, 0, (size_t)x->rows);
        for (int o = 0; o < x->columns; o++) {
            int j = x->order[o];
            const unsigned char *column = pattern + (size_t)j * (size_t)x->rows;
            bool fits = x->trial[j] < 0;
            for (int i = 0; i < x->rows && fits; i++)
                fits = !(column[i] && x->mask[i]);
            if (!fits)
                continue;
            for (int i = 0; i < x->rows; i++)
                x->mask[i] |= column[i];
            x->trial[j] = n;
            left--;
        }
    }
    return n;
}

static int count_column(const bg_bdf_differences *x, const unsigned char *pattern, int j)
{
    int n = 0;
    for (int i = 0; i < x->rows; i++)
        n += pattern[(size_t)j * (size_t)x->rows + (size_t)i];
    return n;
}

/* The columns in their order, backwards, or with the fullest first. */
static void order_columns(bg_bdf_differences *x, const unsigned char *pattern, int kind)
{
    int *count = x->trial;
    for (int j = 0; j < x->columns; j++) {
        x->order[j] = kind == 1 ? x->columns - 1 - j : j;
        count[j] = count_column(x, pattern, j);
    }
    for (int k = 1; kind == 2 && k < x->columns; k++) {
        int j = x->order[k], at = k;
        for (; at > 0 && count[x->order[at - 1]] < count[j]; at--)
            x->order[at] = x->order[at - 1];
        x->order[at] = j;
    }
}

/* The most entries in one row: no fewer groups are possible, and all columns apart where one row is
 * full. */
static int count_fullest(const bg_bdf_differences *x, const unsigned char *pattern)
{
    int most = 0;
    for (int i = 0; i < x->rows; i++) {
        int n = 0;
        for (int j = 0; j < x->columns; j++)
            n += pattern[(size_t)j * (size_t)x->rows + (size_t)i];
        most = n > most ? n : most;
    }
    return most;
}

/* The fewest groups of a pattern, into `group`; how many. */
static int find_groups(bg_bdf_differences *x, const unsigned char *pattern, int *group)
{
    int least = count_fullest(x, pattern), best = x->columns;
    for (int j = 0; j < x->columns; j++)
        group[j] = j;
    for (int kind = 0; kind < 3 && best > least; kind++) {
        order_columns(x, pattern, kind);
        int n = group_columns(x, pattern);
        if (n < best) {
            best = n;
            memcpy(group, x->trial, (size_t)x->columns * sizeof(int));
        }
    }
    return best;
}

static void update_groups(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    x->ngroups = find_groups(x, x->omega, x->group);
    long count = 0;
    for (int j = 0; j < x->columns; j++)
        count += count_column(x, x->omega, j);
    ig->count.corrector.groups = x->ngroups;
    ig->count.corrector.nonzeros = count;
}

/* What may be there by the patterns of the system. */
static void list_topology(bg_integrator *ig)
{
    static const bg_of of[] = {BG_OF_r, BG_OF_h, BG_OF_w};
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    strip s[4];
    list_strips(m, s);
    for (int o = 0; o < 3; o++)
        for (int b = 0; b < 4; b++) {
            bool zero = (of[o] == BG_OF_w && b > 0) || /* by v: G, which is known */
                        (of[o] == BG_OF_h && b == 3 && !ig->sys->def.f_of_lambda);
            bool column = of[o] == BG_OF_r && b == 3 &&
                          !ig->sys->def.f_of_lambda; /* its transpose */
            const bg_pattern *p = column ? ig->sys->def.pattern_G
                                         : bg_system_get_pattern(ig->sys->system, of[o], s[b].by);
            int rows = column ? m->ng : bg_system_get_rows(ig->sys->system, of[o]);
            int width = column ? m->nv : s[b].count;
            for (int i = 0; i < rows && !zero; i++)
                for (int e = p ? p->row_start[i] : 0, end = p ? p->row_start[i + 1] : width;
                     e < end; e++) {
                    int c = p ? p->column[e] : e, j = s[b].first + (column ? i : c);
                    int at = get_row(m, of[o]) + (column ? c : i);
                    x->topology[(size_t)j * (size_t)x->rows + (size_t)at] = 1;
                }
        }
}

/* Omega is all that. */
static void take_known(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    memcpy(x->omega, x->topology, (size_t)x->rows * (size_t)x->columns);
    x->known = true;
    update_groups(ig);
}

bg_status bg_bdf_differences_create(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences = BG_NEW(bg_bdf_differences);
    if (x) {
        x->rows = m->nv + m->nz + m->ng;
        x->columns = 2 * m->nv + m->nz + m->ng;
    }
    if (!x || !bg_arena_create(&x->arena, list, x))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for difference Jacobians");
    list_topology(ig);
    x->napart = x->columns;
    for (int j = 0; j < x->columns; j++)
        x->apart[j] = j;
    if (m->jacobian == BG_DIFFERENCE_SPARSE)
        x->napart = find_groups(x, x->topology, x->apart);
    return BG_OK;
}

/* Keeps what a group of the topology showed. */
static void keep_raw(bg_bdf_differences *x, int k)
{
    for (int j = 0; j < x->columns; j++)
        for (int i = 0; x->apart[j] == k && i < x->rows; i++) {
            const size_t at = (size_t)j * (size_t)x->rows + (size_t)i;
            x->raw[at] = x->topology[at] ? x->value[1][i] : 0;
            x->largest[i] = fmax(x->largest[i], fabs(x->raw[at]));
        }
}

/* All columns: one by one, or as the topology lets them be put together. */
static bg_status difference_all(bg_integrator *ig, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    memset(x->largest, 0, (size_t)x->rows * sizeof(double));
    for (int k = 0; k < x->napart; k++) {
        bg_status st = difference(ig, x->apart, k, err);
        if (st != BG_OK)
            return st;
        store(ig, x->apart, k, true);
        keep_raw(x, k);
    }
    return BG_OK;
}

/* Omega <- Omega and what the last differences of all columns show. */
static void grow(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    bool more = false;
    for (int j = 0; j < x->columns; j++)
        for (int i = 0; i < x->rows; i++) {
            size_t at = (size_t)j * (size_t)x->rows + (size_t)i;
            if (x->omega[at] || !x->topology[at] || !(fabs(x->raw[at]) > noticed * x->largest[i]))
                continue;
            x->omega[at] = 1;
            more = true;
        }
    ig->count.corrector.growths += x->known && more;
    x->wait = more || x->wait == 0 ? WAIT : x->wait < WAIT_MAX ? 2 * x->wait : WAIT_MAX;
    x->failures = 0;
    x->known = true;
    if (more)
        update_groups(ig);
}

bg_status bg_bdf_differences_update(bg_integrator *ig, bool whole, bg_error *err)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    const bool sparse = m->jacobian == BG_DIFFERENCE_SPARSE;
    bg_system_get_work(ig->sys)->jacobian++;
    if (ig->dyn->kinematic && !m->V)
        return BG_BAD_INPUT;
    keep_iterate(ig);
    bg_status st = calc_rows(ig, x->value[0], err);
    if (st != BG_OK)
        return st;
    if (sparse && m->omega == BG_OMEGA_KNOWN && !x->known)
        take_known(ig);
    if (whole || !sparse || !x->known) {
        st = difference_all(ig, err);
        if (st == BG_OK && sparse)
            grow(ig);
        return st;
    }
    for (int k = 0; k < x->ngroups && st == BG_OK; k++) {
        st = difference(ig, x->group, k, err);
        if (st == BG_OK)
            store(ig, x->group, k, false);
    }
    return st;
}

bool bg_bdf_differences_suspect(bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    if (!x || m->jacobian != BG_DIFFERENCE_SPARSE || m->omega != BG_OMEGA_ESTIMATED)
        return false;
    return ++x->failures >= x->wait || m->cuts > 0 || ig->options.step > 0; /* never cut */
}

int bg_bdf_differences_count(const bg_integrator *ig)
{
    const bg_bdf *m = ig->method;
    const bg_bdf_differences *x = m->differences;
    return 1 + (m->jacobian == BG_DIFFERENCE_SPARSE ? x->ngroups : x->columns);
}

void bg_bdf_differences_forget(bg_integrator *ig)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    if (!x)
        return;
    x->known = false;
    x->failures = x->wait = 0;
    memset(x->omega, 0, (size_t)x->rows * (size_t)x->columns);
}

void bg_bdf_differences_archive(bg_integrator *ig, bg_archive *archive)
{
    bg_bdf *m = ig->method;
    bg_bdf_differences *x = m->differences;
    if (!x)
        return;
    bg_archive_flags(archive, &x->known, sizeof x->known);
    if (!x->known || archive->failed)
        return;
    bg_archive_whole(archive, &x->failures, 1, 0, WAIT_MAX);
    bg_archive_whole(archive, &x->wait, 1, 0, WAIT_MAX);
    bg_archive_flags(archive, x->omega, (size_t)x->rows * (size_t)x->columns);
    if (archive->loading && !archive->failed)
        update_groups(ig);
}

bool bg_bdf_get_pattern(const bg_integrator *ig, bg_bdf_pattern *pattern)
{
    const bg_bdf *m = ig->method;
    if (strcmp(ig->class_->info.name, "bdf") != 0 || !m->differences || !m->differences->known)
        return false;
    const bg_bdf_differences *x = m->differences;
    *pattern = (bg_bdf_pattern){.rows = x->rows,
                                .columns = x->columns,
                                .ngroups = x->ngroups,
                                .topology = x->topology,
                                .omega = x->omega,
                                .group = x->group};
    return true;
}

#include "integrators/jacobian.h"

#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>

static int count_values(const bg_system *sys, int k)
{
    if (k == BG_KEPT_M)
        return bg_system_get_size_M(sys);
    bg_of of = (bg_of)(k / (int)BG_BY_COUNT);
    bg_by by = (bg_by)(k % (int)BG_BY_COUNT);
    int rows = bg_system_get_rows(sys, of);
    const bg_pattern *p = bg_system_get_pattern(sys, of, by);
    return p ? p->row_start[rows] : rows * bg_system_get_columns(sys, by);
}

bg_status bg_jacobian_create(bg_jacobian *j, bg_evaluator *sys, uint64_t blocks, bg_error *err)
{
    *j = (bg_jacobian){.sys = sys};
    for (int k = 0; k < BG_KEPT_BLOCKS; k++) {
        bg_kept_block *b = &j->block[k];
        if (!(blocks & UINT64_C(1) << k))
            continue;
        b->size = count_values(sys->system, k);
        b->values = BG_NEW_ARRAY(double, b->size);
        if (!b->values)
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for the Jacobian of '%s'",
                                sys->def.name);
    }
    return BG_OK;
}

void bg_jacobian_clear(bg_jacobian *j)
{
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        free(j->block[k].values);
}

bg_kept_block *bg_jacobian_get(bg_jacobian *j, bg_of of, bg_by by)
{
    return &j->block[(int)of * (int)BG_BY_COUNT + (int)by];
}

uint64_t bg_jacobian_find_due(const bg_jacobian *j, uint64_t blocks, int most, double t)
{
    uint64_t due = 0;
    for (int k = 0; k < BG_KEPT_BLOCKS; k++) {
        const bg_kept_block *b = &j->block[k];
        bool serves = b->made && b->age < most && (b->age > 0 || b->t == t);
        if ((blocks & UINT64_C(1) << k) && b->values && !serves)
            due |= UINT64_C(1) << k;
    }
    return due;
}

bg_status bg_jacobian_update(bg_jacobian *j, uint64_t blocks, bool only_stiff,
                             const bg_point *point, const double *a, const double *lambda,
                             double coefficient, bg_error *err)
{
    bg_derivatives out = {.only_stiff = only_stiff};
    bg_status st = BG_OK;
    bool any = false;
    bg_jacobian_forget(j, blocks);
    for (int k = 0; k < BG_KEPT_M; k++)
        if ((blocks & UINT64_C(1) << k) && j->block[k].values) {
            out.block[k / (int)BG_BY_COUNT][k % (int)BG_BY_COUNT] = j->block[k].values;
            any = true;
        }
    if (any)
        st = bg_system_calc_derivatives(j->sys, point, a, lambda, &out, err);
    if (st == BG_OK && (blocks & BG_KEPT_MASS) && j->block[BG_KEPT_M].values) {
        bg_terms terms = {.M = j->block[BG_KEPT_M].values};
        st = bg_system_calc_terms(j->sys, point, BG_TERM_M, &terms, err);
    }
    for (int k = 0; k < BG_KEPT_BLOCKS && st == BG_OK; k++)
        if ((blocks & UINT64_C(1) << k) && j->block[k].values) {
            bg_kept_block *b = &j->block[k];
            b->made = true;
            b->t = point->t;
            b->coefficient = coefficient;
            b->age = 0;
        }
    return st;
}

void bg_jacobian_commit(bg_jacobian *j)
{
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        j->block[k].age += j->block[k].made && j->block[k].age < INT_MAX / 2;
}

void bg_jacobian_forget(bg_jacobian *j, uint64_t blocks)
{
    for (int k = 0; k < BG_KEPT_BLOCKS; k++)
        if (blocks & UINT64_C(1) << k)
            j->block[k].made = false;
}

void bg_jacobian_archive(bg_jacobian *j, bg_archive *archive)
{
    for (int k = 0; k < BG_KEPT_BLOCKS; k++) {
        bg_kept_block *b = &j->block[k];
        if (!b->values)
            continue;
        bg_archive_flags(archive, &b->made, sizeof b->made);
        bg_archive_whole(archive, &b->age, 1, 0, INT_MAX / 2);
        bg_archive_doubles(archive, &b->t, 1);
        bg_archive_doubles(archive, &b->coefficient, 1);
        bg_archive_doubles(archive, b->values, b->size);
    }
}

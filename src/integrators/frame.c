#include "integrators/frame.h"

#include "base/archive.h"
#include "integrators/choice.h"

#include <string.h>

enum { DIAGONAL, LOWER, UPPER, BLOCKS };
static const double most_entries = 4e6; /* of G where it is eliminated as a dense matrix */
static const double least_pivot = 1e-9; /* of rows and columns in sizes */

static void list(void *object, bg_arena *arena)
{
    bg_motion_frame *f = object;
    BG_TAKE(arena, f->independent, f->nv);
    BG_TAKE(arena, f->metric, f->nv);
    BG_TAKE(arena, f->unit, f->nv);
    BG_TAKE(arena, f->table, (size_t)f->ng * (size_t)(f->nv > 0 ? f->nv : 1));
    BG_TAKE(arena, f->used, f->ng);
    BG_TAKE(arena, f->chosen, f->nv);
}

static bg_status create_matrix(bg_motion_frame *f, bg_error *err)
{
    const bg_pattern *G = f->system->def.pattern_G;
    const int sign = f->coordinates ? 0 : 1;
    const bg_group groups[] = {{f->nv, sign}, {f->ng, -sign}};
    const bg_block blocks[BLOCKS] = {[DIAGONAL] = {0, 0, BG_BLOCK_UNIT, NULL},
                                     [LOWER] = {1, 0, BG_BLOCK_PLAIN, G},
                                     [UPPER] = {0, 1, BG_BLOCK_TRANSPOSED, G}};
    const bg_blocks_def def = {groups, blocks, 2, BLOCKS};
    return bg_blocks_create(&def, &f->matrix, err);
}

bg_status bg_frame_create(bg_motion_frame *f, const bg_system *system, bool coordinates,
                          bg_error *err)
{
    const bg_system_def *def = &system->def;
    *f = (bg_motion_frame){
        .system = system, .nv = def->nv, .ng = def->ng, .n = def->nv, .coordinates = coordinates};
    if ((double)f->nv * f->ng > most_entries)
        return bg_error_set(err, BG_BAD_INPUT,
                            "system '%s' has %d velocities and %d constraints, too many for a "
                            "choice of independent ones; take `bdf`, or an explicit method",
                            def->name, f->nv, f->ng);
    if (!bg_arena_create(&f->arena, list, f))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the independent motions of '%s'",
                            def->name);
    for (int i = 0; i < f->nv; i++) {
        f->unit[i] = def->v_size ? def->v_size[i] : 1;
        f->metric[i] = 1 / (f->unit[i] * f->unit[i]);
        f->independent[i] = i;
    }
    return f->ng > 0 ? create_matrix(f, err) : BG_OK;
}

void bg_frame_clear(bg_motion_frame *f)
{
    bg_blocks_destroy(f->matrix);
    bg_arena_clear(&f->arena);
}

void bg_frame_set_left_out(bg_motion_frame *f, const unsigned char *left_out)
{
    f->left_out = left_out;
    f->n = f->nv - f->ng;
    for (int i = 0; i < f->ng; i++)
        f->n += left_out[i] != 0;
    if (f->matrix)
        bg_blocks_hold(f->matrix, 1, left_out);
}

static void take_coordinates(bg_motion_frame *f)
{
    int n = 0;
    for (int j = 0; j < f->nv; j++) {
        if (f->chosen[j])
            f->independent[n++] = j;
        if (f->coordinates)
            f->metric[j] = f->chosen[j];
    }
}

bg_status bg_frame_choose(bg_motion_frame *f, const double *G)
{
    f->choices++;
    if (f->ng == 0)
        return BG_OK;
    const bg_choice choice = {G, f->unit, f->left_out, least_pivot, f->table, f->used};
    if (!bg_choice_find(&choice, f->system, f->chosen))
        return BG_SINGULAR;
    take_coordinates(f);
    bg_status st = bg_frame_factor(f, G);
    f->rcond = st == BG_OK ? bg_frame_calc_rcond(f) : 0;
    return st;
}

bg_status bg_frame_factor(bg_motion_frame *f, const double *G)
{
    const bg_block_value values[BLOCKS] = {
        [DIAGONAL] = {1, f->metric}, [LOWER] = {1, G}, [UPPER] = {1, G}};
    return f->ng > 0 ? bg_blocks_factor(f->matrix, values, true) : BG_OK;
}

double bg_frame_calc_rcond(const bg_motion_frame *f)
{
    return f->ng > 0 ? bg_blocks_calc_rcond(f->matrix) : 1;
}

static void solve(const bg_motion_frame *f, double *x, double *y)
{
    double *const both[] = {x, y};
    bg_blocks_solve(f->matrix, both);
}

void bg_frame_project(const bg_motion_frame *f, double *x)
{
    if (f->ng == 0)
        return;
    for (int i = 0; i < f->nv; i++)
        x[i] *= f->metric[i];
    memset(f->table, 0, (size_t)f->ng * sizeof(double));
    solve(f, x, f->table);
}

void bg_frame_correct(const bg_motion_frame *f, double *b, double *x)
{
    memset(x, 0, (size_t)f->nv * sizeof(double));
    if (f->ng > 0)
        solve(f, x, b);
}

void bg_frame_balance(const bg_motion_frame *f, double *y, double *mu)
{
    memset(mu, 0, (size_t)f->ng * sizeof(double));
    if (f->ng > 0)
        solve(f, y, mu);
}

void bg_frame_archive(bg_motion_frame *f, bg_archive *archive)
{
    bg_archive_whole(archive, &f->n, 1, 0, f->nv);
    bg_archive_whole(archive, f->independent, f->nv, 0, f->nv - 1);
    bg_archive_finite(archive, f->metric, f->nv);
    bg_archive_finite(archive, &f->rcond, 1);
    bg_archive_counts(archive, &f->choices, 1);
    if (f->matrix)
        bg_blocks_archive(f->matrix, archive);
}

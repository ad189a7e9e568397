/* The saddle-point matrix [M A^T; B -epsilon I] of nv + ng unknowns: a matrix of blocks, or, where
 * M is given by a factorisation of its own and no coordinate is fixed, block elimination (schur.h).
 * Where that was not safe it is not tried again at once, and after repeated failures later and
 * later, as in blocks.c.
 *
 * A semidefinite M is completed by rows a of A and b of B that have room in its pattern: since
 * b x = y of the right side, M + mu a^T b has the same x, and mu y more of the multiplier. So the
 * norms of Euler parameters make M of Cartesian coordinates positive, and no exchanges are needed.
 */
#include "linalg/blocks.h"

#include "base/archive.h"
#include "base/memory.h"
#include "linalg/schur.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { V, G, GROUPS };
enum { MASS, UPPER, LOWER, REGULARISATION, BLOCKS };
enum { LONGEST_PAUSE = 1024 };

/* A row of A and B whose product completes M. */
typedef struct square {
    int row, first; /* where its places begin */
    double mu, b;   /* of the last factorisation (0: it is left out), and solution */
} square;

struct bg_kkt {
    int ng, nheld; /* constraints, and how many of them are held */
    bool symmetric;
    double epsilon;
    const double *sizes; /* [ng] that it is multiplied with; NULL: ones */
    bg_blocks *blocks;
    int nv;
    const bg_pattern *pattern_M, *pattern_G;
    bg_schur *schur;     /* NULL: M has no factorisation of its own */
    unsigned char *held; /* [ng] rows left out, for it and for squares */
    bool any_fixed;      /* some coordinate is */
    bool by_schur;       /* the last factorisation is its own, of these: */
    const double *last_M, *last_G;
    int wait, pause; /* factorisations until it is tried again; and were, after the last failure */
    square *squares; /* that complete M */
    int nsquares;
    int *places;       /* in M, of all pairs of entries of each row, by rows */
    double *completed; /* M with them */
};

/* Where the entry is among the values of a pattern; -1: nowhere. */
static int find_place(const bg_pattern *p, int i, int j)
{
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        if (p->column[k] == j)
            return k;
    return -1;
}

/* Places in M for all pairs of entries of a row of G. False: M lacks one of them. */
static bool find_places(const bg_kkt *kkt, int row, int *places)
{
    const bg_pattern *p = kkt->pattern_G;
    for (int i = p->row_start[row]; i < p->row_start[row + 1]; i++)
        for (int j = p->row_start[row]; j < p->row_start[row + 1]; j++, places++) {
            *places = find_place(kkt->pattern_M, p->column[i], p->column[j]);
            if (*places < 0)
                return false;
        }
    return p->row_start[row + 1] > p->row_start[row];
}

static bool list_squares(bg_kkt *kkt)
{
    const bg_pattern *p = kkt->pattern_G;
    size_t count = 0;
    int first = 0;
    if (!p || !kkt->pattern_M)
        return true;
    for (int row = 0; row < kkt->ng; row++) {
        const size_t n = (size_t)(p->row_start[row + 1] - p->row_start[row]);
        count += n * n;
    }
    kkt->squares = BG_NEW_ARRAY(square, kkt->ng);
    kkt->places = BG_NEW_ARRAY(int, count);
    kkt->completed = BG_NEW_ARRAY(double, kkt->pattern_M->row_start[kkt->nv]);
    kkt->held = BG_NEW_ARRAY(unsigned char, kkt->ng);
    if (!kkt->squares || !kkt->places || !kkt->completed || !kkt->held)
        return false;
    for (int row = 0; row < kkt->ng; row++)
        if (find_places(kkt, row, kkt->places + first)) {
            const int n = p->row_start[row + 1] - p->row_start[row];
            kkt->squares[kkt->nsquares++] = (square){.row = row, .first = first};
            first += n * n;
        }
    return true;
}

/* sign: 1 where M is positive, 0 where it is not known to be; completed: by squares. */
static bg_status create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        int sign, bool completed, bg_kkt **kkt, bg_error *err)
{
    assert(nv >= 0 && ng >= 0 && kkt);
    *kkt = NULL;
    bg_kkt *made = BG_NEW(bg_kkt);
    if (!made)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    made->ng = ng;
    made->nv = nv;
    made->pattern_M = pattern_M;
    made->pattern_G = pattern_G;
    made->symmetric = true;
    if (completed && !list_squares(made)) {
        bg_kkt_destroy(made);
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    }
    sign = made->nsquares > 0 ? 1 : sign;
    const bg_group groups[GROUPS] = {[V] = {nv, sign}, [G] = {ng, -sign}};
    const bg_block blocks[BLOCKS] = {
        [MASS] = {V, V, BG_BLOCK_PLAIN, pattern_M},
        [UPPER] = {V, G, BG_BLOCK_TRANSPOSED, pattern_G},
        [LOWER] = {G, V, BG_BLOCK_PLAIN, pattern_G},
        [REGULARISATION] = {G, G, BG_BLOCK_UNIT, NULL},
    };
    const bg_blocks_def def = {groups, blocks, GROUPS, BLOCKS};
    bg_status status = bg_blocks_create(&def, &made->blocks, err);
    if (status != BG_OK) {
        bg_kkt_destroy(made);
        return status;
    }
    *kkt = made;
    return BG_OK;
}

bg_status bg_kkt_create(int nv, int ng, const bg_pattern *pattern_M, const bg_pattern *pattern_G,
                        bg_kkt **kkt, bg_error *err)
{
    return create(nv, ng, pattern_M, pattern_G, 1, false, kkt, err);
}

bg_status bg_kkt_create_semidefinite(int nv, int ng, const bg_pattern *pattern_M,
                                     const bg_pattern *pattern_G, bg_kkt **kkt, bg_error *err)
{
    return create(nv, ng, pattern_M, pattern_G, 0, false, kkt, err);
}

bg_status bg_kkt_create_completed(int nv, int ng, const bg_pattern *pattern_M,
                                  const bg_pattern *pattern_G, bg_kkt **kkt, bg_error *err)
{
    return create(nv, ng, pattern_M, pattern_G, 0, true, kkt, err);
}

bg_status bg_kkt_set_mass_solver(bg_kkt *kkt, const bg_mass_solver *mass, bg_error *err)
{
    if (!kkt->held)
        kkt->held = BG_NEW_ARRAY(unsigned char, kkt->ng);
    if (!kkt->held)
        return bg_error_set(err, BG_NO_MEMORY, "no memory for a saddle-point matrix");
    return bg_schur_create(kkt->nv, kkt->ng, kkt->pattern_G, mass, &kkt->schur, err);
}

void bg_kkt_destroy(bg_kkt *kkt)
{
    if (!kkt)
        return;
    bg_schur_destroy(kkt->schur);
    free(kkt->held);
    free(kkt->squares);
    free(kkt->places);
    free(kkt->completed);
    bg_blocks_destroy(kkt->blocks);
    free(kkt);
}

void bg_kkt_set_eliminated(bg_kkt *kkt, const unsigned char *eliminated)
{
    kkt->nheld = 0;
    for (int i = 0; i < kkt->ng && eliminated; i++)
        kkt->nheld += eliminated[i] != 0;
    for (int i = 0; i < kkt->ng && kkt->held; i++)
        kkt->held[i] = eliminated && eliminated[i];
    bg_blocks_hold(kkt->blocks, G, eliminated);
}

void bg_kkt_set_fixed(bg_kkt *kkt, const unsigned char *fixed)
{
    kkt->any_fixed = fixed && memchr(fixed, 1, (size_t)kkt->nv);
    bg_blocks_hold(kkt->blocks, V, fixed);
}

void bg_kkt_set_regularisation(bg_kkt *kkt, double epsilon)
{
    kkt->epsilon = epsilon;
}

void bg_kkt_set_regularisation_sizes(bg_kkt *kkt, const double *sizes)
{
    kkt->sizes = sizes;
}

void bg_kkt_set_unsymmetric(bg_kkt *kkt)
{
    kkt->symmetric = false;
}

bool bg_kkt_can_eliminate(const bg_kkt *kkt)
{
    return kkt->schur && kkt->symmetric && !kkt->any_fixed && kkt->wait == 0;
}

bool bg_kkt_eliminate(bg_kkt *kkt, const double *factor, const double *M, const double *G_upper,
                      const double *G_lower)
{
    if (!bg_kkt_can_eliminate(kkt))
        return false;
    bool safe = bg_schur_factor(kkt->schur, factor, G_upper, G_lower, kkt->epsilon, kkt->sizes,
                                kkt->held);
    kkt->pause = safe ? 0 : kkt->pause == 0 ? 1 : 2 * kkt->pause;
    kkt->pause = kkt->pause < LONGEST_PAUSE ? kkt->pause : LONGEST_PAUSE;
    kkt->wait = safe ? 0 : kkt->pause + 1; /* that of now is one of those waited for */
    kkt->by_schur = safe;
    kkt->last_M = M;
    kkt->last_G = G_lower;
    return safe;
}

/* M with its squares, mu such that they are of the size of M. */
static const double *complete(bg_kkt *kkt, const double *M, const double *A, const double *B)
{
    const bg_pattern *p = kkt->pattern_G;
    if (kkt->nsquares == 0)
        return M;
    memcpy(kkt->completed, M, (size_t)kkt->pattern_M->row_start[kkt->nv] * sizeof *M);
    for (square *x = kkt->squares; x < kkt->squares + kkt->nsquares; x++) {
        const int *place = kkt->places + x->first;
        const int begin = p->row_start[x->row], n = p->row_start[x->row + 1] - begin;
        double size = 0, trace = 0;
        for (int i = 0; i < n; i++) {
            size += A[begin + i] * B[begin + i];
            trace += M[place[i * n + i]];
        }
        const bool used = size > 0 && kkt->epsilon == 0 && !kkt->held[x->row];
        x->mu = used ? trace / size : 0;
        for (int i = 0; i < n && used; i++)
            for (int j = 0; j < n; j++)
                kkt->completed[place[i * n + j]] += x->mu * A[begin + i] * B[begin + j];
    }
    return kkt->completed;
}

bg_status bg_kkt_factor(bg_kkt *kkt, const double *M, const double *G_upper, const double *G_lower)
{
    kkt->by_schur = false;
    kkt->wait -= kkt->wait > 0;
    const bg_block_value values[BLOCKS] = {
        [MASS] = {1, complete(kkt, M, G_upper, G_lower)},
        [UPPER] = {1, G_upper},
        [LOWER] = {1, G_lower},
        [REGULARISATION] = {-kkt->epsilon, kkt->sizes},
    };
    return bg_blocks_factor(kkt->blocks, values, kkt->symmetric && G_upper == G_lower);
}

void bg_kkt_solve(bg_kkt *kkt, double *x, double *y)
{
    double *const groups[GROUPS] = {[V] = x, [G] = y};
    if (kkt->by_schur) {
        bg_schur_solve(kkt->schur, x, y);
        return;
    }
    for (int k = 0; k < kkt->nsquares; k++)
        kkt->squares[k].b = y[kkt->squares[k].row];
    bg_blocks_solve(kkt->blocks, groups);
    for (int k = 0; k < kkt->nsquares; k++)
        y[kkt->squares[k].row] += kkt->squares[k].mu * kkt->squares[k].b;
}

/* Adds the moduli of a matrix in a pattern (NULL: dense) to `columns`, and to `rows` unless that is
 * NULL; without the rows that are held (NULL: none). */
static void add_moduli(int m, int n, const bg_pattern *p, const double *A,
                       const unsigned char *held, double *columns, double *rows)
{
    for (int i = 0; i < m; i++) {
        int begin = p ? p->row_start[i] : i * n, end = p ? p->row_start[i + 1] : begin + n;
        for (int k = begin; k < end && !(held && held[i]); k++) {
            columns[p ? p->column[k] : k - begin] += fabs(A[k]);
            if (rows)
                rows[i] += fabs(A[k]);
        }
    }
}

/* The largest column sum of moduli of [M G^T; G 0]; sum [nv + ng] is scratch. */
static double calc_norm(const bg_kkt *kkt, double *sum)
{
    int nv = kkt->nv, n = kkt->nv + kkt->ng;
    double norm = 0;
    memset(sum, 0, (size_t)n * sizeof *sum);
    add_moduli(nv, nv, kkt->pattern_M, kkt->last_M, NULL, sum, NULL);
    add_moduli(kkt->ng, nv, kkt->pattern_G, kkt->last_G, kkt->held, sum, sum + nv);
    for (int i = 0; i < n; i++)
        norm = fmax(norm, sum[i]);
    return norm;
}

double bg_kkt_calc_rcond(bg_kkt *kkt)
{
    if (kkt->by_schur)
        return bg_schur_calc_rcond(kkt->schur, calc_norm(kkt, bg_schur_get_scratch(kkt->schur)));
    return bg_blocks_calc_rcond(kkt->blocks);
}

bool bg_kkt_is_inverted(const bg_kkt *kkt)
{
    int sign = (kkt->ng - kkt->nheld) % 2 ? -1 : 1;
    return !kkt->by_schur && !bg_blocks_is_direct(kkt->blocks) &&
           bg_blocks_get_sign(kkt->blocks) != sign;
}

bg_matrix_work bg_kkt_get_work(const bg_kkt *kkt)
{
    bg_matrix_work work = bg_blocks_get_work(kkt->blocks, kkt->symmetric);
    if (kkt->schur) {
        bg_matrix_work own = bg_schur_get_work(kkt->schur);
        work.usual = kkt->pause > 1 ? work.usual : own.factorisation;
        work.factorisation += own.factorisation; /* where it is not safe, both are made */
        work.solution = fmax(work.solution, own.solution);
    }
    return work;
}

void bg_kkt_reset(bg_kkt *kkt)
{
    kkt->wait = kkt->pause = 0;
    kkt->by_schur = false;
    bg_blocks_reset(kkt->blocks);
}

void bg_kkt_archive(bg_kkt *kkt, bg_archive *archive)
{
    if (kkt->schur) {
        bg_archive_mark(archive, "schur");
        bg_archive_whole(archive, &kkt->wait, 1, 0, LONGEST_PAUSE + 1);
        bg_archive_whole(archive, &kkt->pause, 1, 0, LONGEST_PAUSE);
        kkt->by_schur = kkt->by_schur && !archive->loading;
    }
    bg_blocks_archive(kkt->blocks, archive);
}

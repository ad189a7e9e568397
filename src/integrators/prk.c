/* prk: explicit partitioned Runge-Kutta methods of two rates, with fixed steps (prk_pair.h).
 *
 * Velocities and states z of the slow part take the slow tableau, those of the fast part the fast
 * one. What is dear of the slow part are its accelerations; q' = V(q) v is not. So all positions,
 * those of the slow part, too, take the fast tableau (positions=fast): bodies that move together
 * then stay together inside of a step, whatever the pair. positions=by-part, what 004 does, is
 * there for comparison. Time is a position that moves uniformly: stages are at t + c^_i h.
 *
 * Where the slow column is not zero a stage evaluates the whole system, [M G^T; G 0] with all
 * constraints; elsewhere the fast part alone (two_rates.h). The work of forces feeds back into
 * nothing: h sum b_i P_i over the slow stages, where everything is at hand. The end is projected
 * onto the constraints in the mass metric, and evaluated as a whole: that is the first stage of the
 * next step. A pair whose first stage is not slow does not need its slow part; dense output does.
 *
 * A system that does not tell parts apart is all fast: the fast tableau alone, whose order is that
 * of the pair at least. rk2 has one tableau and never looks at parts. */
#include "base/memory.h"
#include "integrators/options.h"
#include "integrators/pair.h"
#include "integrators/prk_pair.h"
#include "system/two_rates.h"

#include <stdlib.h>
#include <string.h>

/* Entries [begin, end) of y that take one tableau. */
typedef struct tableau_run {
    int begin, end, tableau;
} tableau_run;

typedef struct prk {
    bg_prk_pair pair;
    bg_two_rates *two;           /* NULL: one rate */
    bool whole[BG_PRK_STAGES];   /* stages at which everything is evaluated */
    double *rate[BG_PRK_STAGES]; /* [n] y' of the stages; the first is the integrator's */
    double *y;                   /* [n] stage value */
    double *lambda;              /* [ng] multipliers of a stage */
    tableau_run *runs;           /* [nruns] of y but for the work */
    int nruns;
    bg_arena arena; /* these arrays */
    bg_projection_control projection;
} prk;

static void list(void *object, bg_arena *arena)
{
    const bg_integrator *ig = object;
    prk *m = ig->method;
    for (int i = 1; i < m->pair.stages; i++)
        BG_TAKE(arena, m->rate[i], ig->n);
    BG_TAKE(arena, m->y, ig->n);
    BG_TAKE(arena, m->lambda, ig->dyn->ng);
    BG_TAKE(arena, m->runs, ig->n);
}

/* The part of a coordinate: that of the velocities which move it. */
static unsigned find_part_of_q(const bg_system_def *def, int i)
{
    const bg_pattern *p = def->pattern_V;
    if (!(def->supplied & BG_TERM_V))
        return bg_part_get(def->v_part, i);
    if (!p) /* V may be full: slow only where nothing is fast */
        return BG_PART_FAST;
    for (int k = p->row_start[i]; k < p->row_start[i + 1]; k++)
        if (bg_part_get(def->v_part, p->column[k]) == BG_PART_FAST)
            return BG_PART_FAST;
    return BG_PART_SLOW;
}

static void add_entry(prk *m, int i, unsigned part)
{
    int tableau = part == BG_PART_FAST ? BG_PRK_FAST : BG_PRK_SLOW;
    if (m->nruns == 0 || m->runs[m->nruns - 1].tableau != tableau)
        m->runs[m->nruns++] = (tableau_run){i, i, tableau};
    m->runs[m->nruns - 1].end = i + 1;
}

static void divide(bg_integrator *ig, prk *m, bool by_part)
{
    const bg_system_def *def = &ig->sys->def;
    for (int i = 0; i < def->nq; i++)
        add_entry(m, i, m->two && by_part ? find_part_of_q(def, i) : BG_PART_FAST);
    for (int i = 0; i < def->nv; i++)
        add_entry(m, def->nq + i, m->two ? bg_part_get(def->v_part, i) : BG_PART_FAST);
    for (int i = 0; i < def->nz; i++)
        add_entry(m, def->nq + def->nv + i, m->two ? bg_part_get(def->z_part, i) : BG_PART_FAST);
}

static bg_status open_pair(const bg_integrator *ig, bg_prk_pair *p, bg_error *err)
{
    const bg_integrator_info *info = &ig->class_->info;
    if (bg_prk_pair_find_single(info->name, p))
        return BG_OK;
    return bg_prk_pair_open(info->setting_of ? info->name : bg_option_get(ig, "pair"), p, err);
}

static bg_status create(bg_integrator *ig, bg_error *err)
{
    prk *m = BG_NEW(prk);
    ig->method = m;
    if (!m)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                            ig->class_->info.name);
    bg_status st = open_pair(ig, &m->pair, err);
    bool one = strcmp(ig->class_->info.name, "rk2") == 0 || !bg_two_rates_are_marked(&ig->sys->def);
    if (st == BG_OK && !one)
        st = bg_two_rates_create(ig->dyn, &m->two, err);
    if (st == BG_OK && !bg_arena_create(&m->arena, list, ig))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for integrator %s",
                          ig->class_->info.name);
    if (st != BG_OK)
        return st;
    ig->order = m->pair.order;
    for (int i = 0; i < m->pair.stages; i++)
        m->whole[i] = !m->two || m->pair.slow[i];
    divide(ig, m, strcmp(bg_option_get(ig, "positions"), "by-part") == 0);
    return bg_projection_control_create(ig, &m->projection, err);
}

static void destroy(bg_integrator *ig)
{
    prk *m = ig->method;
    bg_arena_clear(&m->arena);
    bg_two_rates_destroy(m->two);
    bg_projection_control_clear(&m->projection);
    free(m);
}

static void restart(bg_integrator *ig, bg_restart reason)
{
    prk *m = ig->method;
    (void)reason;
    bg_projection_control_reset(&m->projection);
    if (m->two)
        bg_two_rates_update(m->two);
}

/* y <- y0 + h times the sum of rates with row `stage` of a, or, at the end, with b. */
static void combine(const bg_integrator *ig, int stage, double *y)
{
    const prk *m = ig->method;
    const bool end = stage == m->pair.stages;
    const int work = ig->n - 1;
    for (int k = 0; k < m->nruns; k++) {
        const tableau_run *r = &m->runs[k];
        const bg_tableau *t = &m->pair.of[r->tableau];
        const double *a = end ? t->b : t->a[stage];
        double *rate[BG_PRK_STAGES];
        for (int j = 0; j < stage; j++)
            rate[j] = m->rate[j] + r->begin;
        bg_combine(r->end - r->begin, ig->x0->q + r->begin, ig->h, stage, a, rate, y + r->begin);
    }
    y[work] = ig->x0->q[work];
    for (int j = 0; j < stage && end; j++)
        if (m->whole[j])
            y[work] += ig->h * m->pair.of[m->two ? BG_PRK_SLOW : BG_PRK_FAST].b[j] *
                       m->rate[j][work];
}

/* Rates at stage i, of everything or of what is fast. */
static bg_status calc_stage(bg_integrator *ig, int i, bg_error *err)
{
    prk *m = ig->method;
    const bg_dynamics *d = ig->dyn;
    const double t = ig->x0->t + m->pair.of[BG_PRK_FAST].c[i] * ig->h;
    bg_work *work = bg_system_get_work(ig->sys);
    combine(ig, i, m->y);
    work->fast++;
    work->slow += m->whole[i];
    if (m->whole[i])
        return bg_integrator_calc_rate(ig, t, m->y, 0, m->rate[i], m->lambda, err);
    return bg_two_rates_calc_fast(m->two, t, m->y, m->y + d->nq, m->y + d->nq + d->nv, ig->x0->mode,
                                  m->rate[i], err);
}

/* The evaluation at the end is the first stage of the next step; a slow part that this stage does
 * not need is evaluated for rows. */
static void count_end(bg_integrator *ig)
{
    const prk *m = ig->method;
    bg_system_get_work(ig->sys)->fast++;
    if (m->whole[0])
        bg_system_get_work(ig->sys)->slow++;
    else
        ig->sys->work[BG_FOR_ROWS].slow++;
}

/* The end of the step, projected. The matrix at hand is that of the last slow stage, which may be
 * at 2/3 of the step: where a singular position lies between, only one of the end itself will do.
 */
static bg_status end_step(bg_integrator *ig, bg_error *err)
{
    prk *m = ig->method;
    bg_dynamics *d = ig->dyn;
    bg_state *x = ig->x1;
    combine(ig, m->pair.stages, x->q);
    bg_status st = bg_projection_control_end(ig, &m->projection, err);
    if (st != BG_RETRY || d->ng == 0)
        return st;
    combine(ig, m->pair.stages, x->q);
    st = bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, BG_TERM_MASS | BG_TERM_G, err);
    if (st == BG_OK)
        st = bg_dynamics_factor(d, NULL, err);
    return st == BG_OK ? bg_projection_control_end(ig, &m->projection, err) : st;
}

static bg_status attempt(bg_integrator *ig, double *error, bg_error *err)
{
    prk *m = ig->method;
    bg_state *x = ig->x1;
    bg_status st = BG_OK;
    *error = 0;
    m->rate[0] = ig->rate0;
    memcpy(x->mode, ig->x0->mode, (size_t)ig->sys->def.nmode * sizeof(int));
    for (int i = 1; i < m->pair.stages && st == BG_OK; i++)
        st = calc_stage(ig, i, err);
    if (st != BG_OK)
        return st;
    count_end(ig);
    st = end_step(ig, err);
    if (st != BG_OK)
        return st;
    memcpy(x->a, ig->rate1 + ig->dyn->nq, (size_t)ig->dyn->nv * sizeof(double));
    ig->residuals1 = bg_dynamics_calc_residuals(ig->dyn, x->v, x->a);
    return BG_OK;
}

static void commit(bg_integrator *ig)
{
    prk *m = ig->method;
    bg_projection_control_commit(&m->projection);
}

static void archive(bg_integrator *ig, bg_archive *archive_)
{
    prk *m = ig->method;
    bg_projection_control_archive(&m->projection, archive_);
    if (m->two)
        bg_two_rates_archive(m->two, archive_);
}

static bool is_bounded(const bg_integrator *ig)
{
    const prk *m = ig->method;
    const bg_projection_mode mode = m->projection.mode;
    return ig->dyn->ng == 0 || mode == BG_PROJECT_NONE || mode == BG_PROJECT_VELOCITY ||
           mode == BG_PROJECT_ONCE;
}

/* What every step evaluates; false where a projection may iterate, or forces depend on reactions.
 */
static bool plan(const bg_integrator *ig, bg_step_plan *out)
{
    const prk *m = ig->method;
    const bg_dynamics *d = ig->dyn;
    if (!is_bounded(ig) || d->settling)
        return false;
    int whole = 0, terms = 0, explicit_ = 0, factorisations = 0;
    const bool projects = d->ng > 0 && m->projection.mode != BG_PROJECT_NONE;
    for (int i = 1; i < m->pair.stages; i++)
        whole += m->whole[i];
    if (m->two)
        bg_two_rates_plan(m->two, &terms, &explicit_, &factorisations);
    const int fast = m->pair.stages - 1 - whole;
    const int first = m->whole[0];
    whole++; /* the end */
    *out = (bg_step_plan){.terms = fast * terms,
                          .explicit_ = fast * explicit_,
                          .factorisations = fast * factorisations};
    out->terms += whole * (!d->by_formalism || d->nz > 0 || d->kinematic);
    out->explicit_ += d->by_formalism ? whole : 0;
    out->factorisations += d->by_formalism ? 0 : whole;
    out->terms += projects; /* G and g, and then f with the velocities that are projected */
    out->projections = projects && m->projection.mode == BG_PROJECT_ONCE;
    out->terms += out->projections;
    out->fast = m->pair.stages;
    out->slow = whole - 1 + first;
    if (d->kkt)
        out->matrix = bg_kkt_get_work(d->kkt);
    return true;
}

static void describe(const bg_integrator *ig, char *text, size_t size)
{
    const prk *m = ig->method;
    const bg_prk_pair *p = &m->pair;
    int rows = 0;
    if (strcmp(p->name, "rk2") == 0)
        return;
    if (!m->two) {
        snprintf(text, size,
                 "nothing is marked as fast: all is evaluated at each of %d stages, by the fast "
                 "tableau of %s alone; rk2 and rk4 take fewer",
                 p->stages, p->name);
        return;
    }
    int fast = bg_two_rates_count_fast(m->two, &rows);
    snprintf(
        text, size,
        "%s, order %d: %d of %d velocities and %d of %d constraints are fast; the slow part is "
        "evaluated at %d of %d stages%s%s",
        p->name, p->order, fast, ig->dyn->nv, rows, ig->dyn->ng, p->nslow, p->stages,
        p->equal_abscissae ? "" : "; abscissae differ",
        p->equal_weights ? "" : "; weights differ, so that momentum is lost");
}

#define PROJECTION                                                                           \
    {                                                                                        \
        "projection", BG_PROJECTION_BOUNDED, "every-step",                                   \
            "which constraints the end of a step is projected onto; once: by one correction" \
    }
#define POSITIONS                                                                            \
    {                                                                                        \
        "positions", "fast|by-part", "fast",                                                 \
            "tableau of positions: the fast one for all, or that of their part's velocities" \
    }
#define PAIRS                                                                                 \
    "prk25|prk26|prk27|prk28|prk35|prk36|prk36b|prk38|prk48|prk25-paper|dual-euler|averaged-" \
    "euler|FILE.json"

#define PARTITION                                                                                \
    {                                                                                            \
        "partition", "marks|auto", "marks",                                                      \
            "what is fast: as marked, or chosen from eigenvalues and masses where a run is made" \
    }

static const bg_option_info options[] = {
    PROJECTION,
    POSITIONS,
    PARTITION,
    {"pair", PAIRS, "prk38", "the tableaus: a name or a tableau file"}};

#define FUNCTIONS                                                                 \
    .create = create, .destroy = destroy, .restart = restart, .attempt = attempt, \
    .commit = commit, .archive = archive, .plan = plan, .describe = describe

#define CLASS(id, name_, of, nopt, order_, text)                  \
    const bg_integrator_class id;                                 \
    const bg_integrator_class id = {.info = {.name = name_,       \
                                             .summary = text,     \
                                             .options = options,  \
                                             .noptions = nopt,    \
                                             .fixed_steps = true, \
                                             .order = order_,     \
                                             .dense_order = 3,    \
                                             .setting_of = of},   \
                                    FUNCTIONS}

CLASS(bg_rk2, "rk2", NULL, 1, 2,
      "Heun's method of order 2 on the index-1 form, fixed steps (explicit)");
CLASS(bg_prk, "prk", NULL, 4, 3,
      "partitioned Runge-Kutta with any pair of tableaus for slow and fast parts, fixed steps");
CLASS(bg_prk25, "prk25", "prk", 3, 2, "prk with 2 slow and 5 fast stages, order 2");
CLASS(bg_prk26, "prk26", "prk", 3, 2, "prk with 2 slow and 6 fast stages, order 2");
CLASS(bg_prk27, "prk27", "prk", 3, 2, "prk with 2 slow and 7 fast stages, order 2");
CLASS(bg_prk28, "prk28", "prk", 3, 2,
      "prk with 2 slow and 8 fast stages, order 2, for fast parts of small mass");
CLASS(bg_prk35, "prk35", "prk", 3, 3, "prk with 3 slow and 5 fast stages, order 3");
CLASS(bg_prk36, "prk36", "prk", 3, 3, "prk with 3 slow and 6 fast stages, order 3");
CLASS(bg_prk36b, "prk36b", "prk", 3, 3,
      "prk36 with its second slow stage earlier, for stronger coupling");
CLASS(bg_prk38, "prk38", "prk", 3, 3, "prk with 3 slow and 8 fast stages, order 3, its usual pair");
CLASS(bg_prk48, "prk48", "prk", 3, 4,
      "prk with 4 slow and 8 fast stages, order 4, for accuracy or strong coupling");
CLASS(bg_prk25_paper, "prk25-paper", "prk", 3, 2,
      "prk with the pair of 004 Table 6, which loses momentum: for comparison");

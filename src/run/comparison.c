/* How wrong a run with fixed steps is, by a second one with other steps; whether errors of
 * controlled steps grow out of bounds, by one with looser tolerances; and what few digits of data
 * leave open, by one with constraints moved.
 *
 * The global error of a method of order p is e_h = c h^p + ..., whatever the system makes of the
 * errors of single steps: damps them, keeps them as a wrong phase, which no energy shows, or lets
 * them grow. So
 *
 *     |x_2h - x_h| = (2^p - 1) |e_h|,     |x_h - x_h/2| = (1 - 2^-p) |e_h|,                    (1)
 *
 * where the first costs half a run and the second two. The second is asked where the first cannot
 * be had or is large, since steps twice as long may be unstable where those of the run are not.
 *
 * Compared are velocities in their sizes, at up to 32 instants: each time so many are full, every
 * second one is dropped. They are judged beside their variation, so that travelling with a constant
 * speed is no motion, by root mean squares over samples and coordinates. Of a long run only the
 * beginning is done again; where the second half of that is worse than the first, the error is
 * taken to go on growing in proportion to time.
 *
 * Controlled steps bound the errors that are made, not what the motion makes of them: a double
 * pendulum that turns over doubles them many times a second. A run with far looser tolerances costs
 * a quarter or less; only where that ends elsewhere, one with tolerances ten times as large
 * decides, whose difference is about five to ten times the error.
 *
 * Rows that are redundant but for the digits of the data miss by some e of their size, about that
 * of the last digit. By as much may the rows be wrong that are kept, and which of them are kept is
 * a matter of choice. Near singular positions that is magnified, and what one of them makes of it
 * the next one magnifies again, so that no local bound tells what it comes to: a run with the rows
 * moved by e does. */
#include "run/comparison.h"

#include "base/memory.h"
#include "consistent/projection.h"
#include "consistent/starts.h"
#include "integrators/integrator.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const long longest = 8192;                  /* steps that are done again */
static const long looser = 4;                      /* as many with steps that are longer by this */
static const double doubtful = 0.1;                /* of the variation */
static const double constant = 1e-2, still = 1e-6; /* of the velocities; of sizes, in all */
static const double growing = 1.5;                 /* the second half beside the first */
static const double rounding = 1e-11;              /* misfits that are no matter of digits */
static const double open = 1e-3;     /* of the variation, that digits may leave open, */
static const double errors = 1e3;    /* and as many tolerances, since both runs have errors */
static const double elsewhere = 0.5; /* of the variation, between tolerances ten times apart */
static const double loosest = 1e-3;  /* relative tolerance of a run to compare with, */
static const double far = 1e4;       /* and how far it may be from that of the run; */
static const int fine = 256;  /* parts of an instant's interval, for runs longer than `longest` */
static const double ten = 10; /* of the one that decides */
static const double exponential = 30; /* the last fifth beside the first half; squares of time: 7 */

bg_status bg_comparison_create(const bg_system *system, const bg_run_options *o, bg_comparison *c,
                               bg_error *err)
{
    const bg_system_def *def = bg_system_get_def(system);
    size_t nv = (size_t)def->nv, all = BG_SAMPLES * nv + (size_t)def->nq + (size_t)def->nz;
    *c = (bg_comparison){.nv = def->nv};
    if (o->skip_comparison || nv == 0)
        return BG_OK;
    c->memory = BG_NEW_ARRAY(double, all);
    if (!c->memory)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the comparison of steps");
    c->v = c->memory;
    c->q = c->v + BG_SAMPLES * nv;
    c->z = c->q + def->nq;
    c->interval = o->method.step;
    c->stride = o->method.step > 0 ? 2 : 0;
    return BG_OK;
}

static bool is_rounded(const bg_redundancy *r)
{
    return r->count > 0 && r->misfit > rounding;
}

void bg_comparison_begin(bg_comparison *c, double t_start, double t_end)
{
    if (!c->memory || c->stride > 0)
        return;
    c->interval = (t_end - t_start) / ((BG_SAMPLES - 2) * fine);
    c->stride = c->interval > 0 ? 1 : 0;
}

void bg_comparison_clear(bg_comparison *c)
{
    free(c->memory);
    *c = (bg_comparison){0};
}

static double *get_sample(const bg_comparison *c, int k)
{
    return c->v + (size_t)k * (size_t)c->nv;
}

/* Every second sample is dropped. */
static void thin(bg_comparison *c)
{
    for (int k = 0; k < BG_SAMPLES / 2; k++)
        memcpy(get_sample(c, k), get_sample(c, 2 * k + 1), (size_t)c->nv * sizeof(double));
    c->count = BG_SAMPLES / 2;
    c->stride *= 2;
}

void bg_comparison_sample(bg_comparison *c, bg_integrator *ig, double t_start, double t)
{
    const long most = ig->options.step > 0 ? longest : looser * longest;
    while (c->stride > 0) {
        const bg_state *x = bg_integrator_get_state(ig);
        const long steps = (c->count + 1) * c->stride;
        const double at = t_start + (double)steps * c->interval;
        if (!(at <= t) || steps > longest || ig->count.accepted > most)
            return;
        if (at == x->t)
            memcpy(get_sample(c, c->count), x->v, (size_t)c->nv * sizeof(double));
        else
            bg_integrator_interpolate(ig, at, c->q, get_sample(c, c->count), c->z);
        if (++c->count == BG_SAMPLES)
            thin(c);
    }
}

void bg_comparison_archive(bg_comparison *c, bg_archive *archive)
{
    int stride = (int)c->stride, count = c->count;
    bg_archive_whole(archive, &stride, 1, 0, (int)longest);
    bg_archive_whole(archive, &count, 1, 0, BG_SAMPLES - 1);
    bg_archive_finite(archive, &c->interval, 1);
    if (archive->failed || (stride > 0 && !c->memory)) {
        archive->failed = true;
        return;
    }
    c->stride = stride;
    c->count = count;
    if (stride > 0)
        bg_archive_doubles(archive, c->v, count * c->nv);
}

/* The other run: its rows are compared as they come. */
typedef struct other {
    const bg_comparison *c;
    const double *unit;        /* [nv], or NULL: 1 */
    int k;                     /* next sample */
    long left;                 /* steps that it may make */
    bool starved;              /* out of memory */
    bool stopped;              /* on request */
    double square[BG_SAMPLES]; /* of the differences, by sample */
} other;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    other *x = self;
    const bg_comparison *c = x->c;
    (void)err;
    if (!(row->h > 0) || x->k == c->count) /* the start */
        return BG_OK;
    const double *v = get_sample(c, x->k);
    double sum = 0;
    for (int i = 0; i < c->nv; i++) {
        double d = (row->state->v[i] - v[i]) / (x->unit ? x->unit[i] : 1);
        sum += d * d;
    }
    x->square[x->k++] = sum;
    return BG_OK;
}

/* Unlike a limit of the run, this one is not looked into. */
static bg_status count_step(void *self, const bg_step *step, bg_error *err)
{
    other *x = self;
    (void)step;
    return x->left-- > 0 ? BG_OK : bg_error_set(err, BG_TOO_MANY_STEPS, "enough is known");
}

/* The root mean square of samples i to j - 1; NAN or infinite if the other run is. */
static double calc_mean(const other *x, int i, int j)
{
    double sum = 0;
    for (int k = i; k < j; k++)
        sum += x->square[k] / (j - i);
    return sqrt(sum);
}

/* Runs with what differs from the run in o; whether that came to an end, too. */
static bool run_again(const bg_comparison *c, const bg_system *system, bg_run_options o,
                      double t_start, other *x)
{
    bg_run_report report;
    bg_error ignored;
    const double interval = (double)c->stride * c->interval;
    *x = (other){.c = c,
                 .unit = bg_system_get_def(system)->v_size,
                 .left = o.max_steps > 0 ? o.max_steps : LONG_MAX};
    if (o.method.step > 0)
        o.method.h_initial = o.method.h_min = o.method.h_max = 0;
    o.method.energy = 0;
    o.t_start = t_start;
    o.t_end = t_start + c->count * interval;
    o.max_steps = 0;
    o.output_interval = interval;
    o.output_steps = 0;
    o.refuse_redundant = 0;
    o.skip_comparison = 1;
    o.sink = (bg_sink){.self = x, .row = take_row, .step = count_step};
    o.progress = NULL;
    o.checkpoint = o.resume = NULL;
    bg_status st = bg_run(system, &o, &report, &ignored);
    x->starved = st == BG_NO_MEMORY || report.warnings.lost > 0;
    x->stopped = st == BG_STOPPED;
    bg_run_report_clear(&report);
    return st == BG_OK && x->k == c->count && isfinite(calc_mean(x, 0, x->k));
}

/* What the differences are judged by: the root mean square of the samples less their means, or of
 * the samples themselves where these do not vary. */
static double calc_variation(const bg_comparison *c, const double *unit, double *size)
{
    double all = 0, varying = 0;
    for (int i = 0; i < c->nv; i++) {
        double mean = 0, u = unit ? unit[i] : 1;
        for (int k = 0; k < c->count; k++)
            mean += get_sample(c, k)[i] / c->count;
        for (int k = 0; k < c->count; k++) {
            double v = get_sample(c, k)[i];
            all += v / u * (v / u);
            varying += (v - mean) / u * ((v - mean) / u);
        }
    }
    *size = sqrt(all / c->count);
    return fmax(sqrt(varying / c->count), constant * *size);
}

/* The error beside the variation, from (1) with the factor of its side; of a run of `whole` s where
 * `seen` were done again. */
static double calc_error(const other *x, double factor, double variation, double seen, double whole)
{
    const int half = (x->k + 1) / 2;
    double a = calc_mean(x, 0, half), b = x->k > half ? calc_mean(x, half, x->k) : a;
    double all = calc_mean(x, 0, x->k);
    if (whole > seen && b > growing * a)
        all = b * whole / seen;
    return factor * all / variation;
}

static bool run_with_step(const bg_comparison *c, const bg_system *system,
                          const bg_run_options *options, double t_start, double step, other *x)
{
    bg_run_options o = *options;
    o.method.step = step;
    o.max_steps = 0;
    return run_again(c, system, o, t_start, x);
}

void bg_comparison_judge(const bg_comparison *c, const bg_system *system, const bg_run_options *o,
                         int order, double t_start, double t_end, bg_warnings *warnings)
{
    const double h = o->method.step, seen = (double)(c->count * c->stride) * h;
    const double whole = fmax(t_end - t_start, seen), power = pow(2, order > 0 ? order : 1);
    double size, error = INFINITY;
    other x;
    if (!(h > 0) || c->stride == 0 || c->count < 2)
        return;
    const double variation = calc_variation(c, bg_system_get_def(system)->v_size, &size);
    if (!(size * seen > still) || !isfinite(size))
        return;
    const char *length = "twice";
    if (run_with_step(c, system, o, t_start, 2 * h, &x))
        error = calc_error(&x, 1 / (power - 1), variation, seen, whole);
    if (!(error <= doubtful) && !x.starved && !x.stopped) {
        bool done = run_with_step(c, system, o, t_start, h / 2, &x);
        length = "half";
        error = done ? calc_error(&x, power / (power - 1), variation, seen, whole) : INFINITY;
    }
    if (x.starved)
        warnings->lost++;
    else if (x.stopped)
        bg_warnings_add(warnings, BG_DOUBTFUL, "step",
                        "nothing is known of the error of fixed steps of %g s: the run with other "
                        "steps was stopped on request",
                        h);
    else if (!isfinite(error))
        bg_warnings_add(warnings, BG_DOUBTFUL, "step",
                        "nothing is known of the error of fixed steps of %g s: with steps of half "
                        "that length the run does not come to its end",
                        h);
    else
        bg_warnings_add(warnings, error > doubtful ? BG_DOUBTFUL : BG_GOOD, "step",
                        "with fixed steps of %g s the velocities are wrong by about %.2g %% of "
                        "what they vary%s, as steps %s as long show%s",
                        h, 100 * fmin(error, 1), error > 1 ? " or more" : "", length,
                        error > doubtful ? ": take smaller ones" : "");
}

/* The length of one absolute tolerance in all velocities. */
static double calc_least(const bg_comparison *c, const double *unit, double atol)
{
    double sum = 0;
    for (int i = 0; i < c->nv; i++)
        sum += 1 / (unit ? unit[i] * unit[i] : 1);
    return atol * sqrt(sum);
}

/* How far apart the last fifth of the samples is, or, of a run of `whole` s that is compared in its
 * beginning, the end: what grows faster than powers of time do in smooth motions grows
 * exponentially. */
static double calc_apart(const other *x, double whole)
{
    const double seen = x->k * (double)x->c->stride * x->c->interval;
    const double a = calc_mean(x, 0, (x->k + 1) / 2), b = calc_mean(x, x->k - (x->k + 4) / 5, x->k);
    return b > exponential * a ? b * pow(b / a, 2 * (whole / seen - 1)) : b * whole / seen;
}

void bg_comparison_judge_growth(const bg_comparison *c, const bg_system *system,
                                const bg_run_options *o, double t_start, bg_run_report *report)
{
    const double *unit = bg_system_get_def(system)->v_size;
    const double seen = (double)(c->count * c->stride) * c->interval;
    const double whole = fmax(report->final->t - t_start, seen);
    const long done = report->counters.accepted, steps = done < longest ? done : longest;
    double size, apart = 0, factor = fmin(fmax(loosest / o->method.rtol, ten * ten), far);
    other x;
    if (o->method.step > 0 || c->count < 4 || bg_warnings_judge(&report->warnings, NULL) != BG_GOOD)
        return;
    const double variation = calc_variation(c, unit, &size);
    if (!(size * seen > still) || !isfinite(size))
        return;
    for (bool last = false; !last; factor = ten) {
        bg_run_options again = *o;
        last = !(factor > ten);
        again.method.rtol *= factor;
        again.method.atol *= factor;
        again.max_steps = last || done > looser * longest ? steps : done / looser + 1;
        run_again(c, system, again, t_start, &x); /* or its beginning */
        report->warnings.lost += x.starved;
        if (x.starved || x.stopped || (last && x.k < 4))
            return;
        apart = x.k > 3 ? calc_apart(&x, whole) : INFINITY;
        if (!(apart > elsewhere * variation &&
              apart > errors * factor * calc_least(c, unit, o->method.atol)))
            return;
    }
    bg_warnings_add(
        &report->warnings, BG_DOUBTFUL, "growth",
        "the motion lets errors grow: with tolerances ten times as large, velocities at "
        "the end differ by %.0f %% of what they vary%s; tighten the tolerances, and "
        "trust only what that does not change",
        100 * fmin(apart / variation, 1), apart > variation ? " or more" : "");
}

bg_status bg_comparison_move(bg_integrator *ig, double moved, bg_redundancy *redundancy,
                             bg_state *state, bg_error *err)
{
    static const double golden = 0.6180339887498949;
    const bg_system_def *def = &ig->sys->def;
    if (!(moved > 0) || !def->g_size || !def->starts || !def->starts->get_joint)
        return BG_OK;
    for (int i = 0; i < def->ng; i++)
        if (def->starts->get_joint(def->self, i, 0))
            redundancy->offset[i] = (fmod(golden * (i + 1), 1) < 0.5 ? -moved : moved) *
                                    def->g_size[i];
    for (int k = 0; k < redundancy->count; k++)
        redundancy->offset[redundancy->eliminated[k]] = 0;
    bg_dynamics_set_eliminated(ig->dyn, redundancy);
    return bg_project_state(ig->dyn, state, err);
}

void bg_comparison_judge_digits(const bg_comparison *c, const bg_system *system,
                                const bg_run_options *o, double t_start, bg_run_report *report)
{
    const bg_redundancy *r = &report->assembly.redundancy;
    const double misfit = fmax(r->misfit, system->size > 0 ? system->resolution / system->size : 0);
    double size;
    other x;
    if (c->stride == 0 || c->count < 2 || !is_rounded(r) ||
        bg_warnings_judge(&report->warnings, NULL) != BG_GOOD)
        return;
    const double variation = calc_variation(c, bg_system_get_def(system)->v_size, &size);
    if (!(size * (double)c->stride * c->interval * c->count > still) || !isfinite(size))
        return;
    bg_run_options again = *o;
    again.moved = misfit;
    again.max_steps = 0;
    bool done = run_again(c, system, again, t_start, &x);
    double largest = 0;
    for (int k = 0; k < x.k; k++)
        largest = fmax(largest, sqrt(x.square[k]));
    double share = done ? largest / variation : INFINITY;
    double most = o->method.step > 0 ? open : fmax(open, fmin(errors * o->method.rtol, doubtful));
    if (x.starved)
        report->warnings.lost++;
    else if (x.stopped)
        return;
    else if (!done)
        bg_warnings_add(&report->warnings, BG_DOUBTFUL, "misfit",
                        "with constraints moved by the misfit of the data, %.1e of their size, the "
                        "run does not come to its end; give points and axes with more digits",
                        misfit);
    else
        bg_warnings_add(&report->warnings, share > most ? BG_DOUBTFUL : BG_GOOD, "misfit",
                        "the misfit of the data, %.1e of the size of constraints, changes "
                        "velocities by up to %.1e of what they vary, as a run with constraints "
                        "moved by it shows%s",
                        misfit, share,
                        share > most ? ": give points and axes with more digits" : "");
}

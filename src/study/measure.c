#include "study/measure.h"

#include "base/memory.h"
#include "base/text.h"
#include "system/system.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void bg_gauge_add(bg_gauge *m, double t, double x)
{
    if (m->rows == 0) {
        m->max = m->min = m->start = x;
        m->t_start = t;
    } else { /* trapezoidal rule */
        m->integral += 0.5 * (t - m->t) * (x + m->end);
        m->square += 0.5 * (t - m->t) * (x * x + m->end * m->end);
    }
    m->max = x > m->max ? x : m->max;
    m->min = x < m->min ? x : m->min;
    m->t = t;
    m->end = x;
    m->rows++;
}

double bg_gauge_get(const bg_gauge *m, bg_take take)
{
    double span = m->t - m->t_start;
    if (m->rows == 0)
        return NAN;
    switch (take) {
    case BG_TAKE_MAX:
        return m->max;
    case BG_TAKE_MIN:
        return m->min;
    case BG_TAKE_RANGE:
        return m->max - m->min;
    case BG_TAKE_RMS:
        return span > 0 ? sqrt(m->square / span) : fabs(m->end);
    case BG_TAKE_MEAN:
        return span > 0 ? m->integral / span : m->end;
    case BG_TAKE_RATE:
        return span > 0 ? (m->end - m->start) / span : NAN;
    default:
        return m->end;
    }
}

/* Columns of the reference's own names that belong to the channels, one name each. */
static bg_status match_columns(bg_probe *p, const bg_reference *r, bg_names names, bg_error *err)
{
    for (int i = 0; i < p->channels.count; i++) {
        p->columns[i] = -1;
        for (int k = 0; k < r->names.count && names.count == p->channels.count; k++)
            if (strcmp(r->names.items[k], names.items[i]) == 0)
                p->columns[i] = k;
        if (p->columns[i] < 0)
            return bg_error_set(err, BG_BAD_INPUT, "the reference '%s' has no value of '%s'",
                                r->name, names.items[i < names.count ? i : 0]);
    }
    return BG_OK;
}

/* Where in the reference run the samples of this metric begin: those of earlier metrics on the
 * same reference come first. */
static int find_offset(const bg_measure *m, long k, int index, int reference)
{
    int offset = 0;
    for (int i = 0; i < index; i++)
        if (m->study->metrics[i].kind == BG_METRIC_ERROR &&
            bg_study_find_reference(m->study, &m->study->metrics[i], k) == reference) {
            bg_channels channels;
            if (bg_channels_resolve(m->system, m->study->metrics[i].names, &channels, NULL))
                continue;
            offset += channels.count;
            bg_channels_clear(&channels);
        }
    return offset;
}

static bg_status open_error(bg_measure *m, long k, int index, const bg_trajectory *const *given,
                            bg_error *err)
{
    bg_probe *p = &m->probes[index];
    const bg_study *s = m->study;
    int number = bg_study_find_reference(s, p->metric, k);
    const bg_reference *r = &s->references[number];
    bg_names names = p->metric->names.count > 0 ? p->metric->names : r->names;
    bg_status st = bg_channels_resolve(m->system, names, &p->channels, err);
    if (st != BG_OK)
        return st;
    p->reference = r->kind == BG_REFERENCE_VARIANT ? given[number]
                   : r->kind == BG_REFERENCE_FILE  ? &r->file
                                                   : NULL;
    p->values = r->values;
    p->points = r->points;
    int width = p->reference ? p->reference->width : r->names.count;
    p->columns = BG_NEW_ARRAY(int, p->channels.count);
    p->x = BG_NEW_ARRAY(double, p->channels.count);
    p->expect = BG_NEW_ARRAY(double, width);
    if (!p->columns || !p->x || !p->expect)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the metrics of a case");
    if (r->kind != BG_REFERENCE_VARIANT)
        return match_columns(p, r, names, err);
    int offset = find_offset(m, k, index, number);
    for (int i = 0; i < p->channels.count; i++)
        p->columns[i] = offset + i;
    if (offset + p->channels.count > width)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the reference '%s' has other outputs than the case; let both have "
                            "the same model and formulation",
                            r->name);
    return BG_OK;
}

static bg_status open_probe(bg_measure *m, long k, int i, const bg_trajectory *const *given,
                            bg_error *err)
{
    bg_probe *p = &m->probes[i];
    const bg_metric *metric = &m->study->metrics[i];
    if (metric->kind != BG_METRIC_ERROR && metric->kind != BG_METRIC_DRIFT &&
        metric->kind != BG_METRIC_OUTPUT)
        return BG_OK;
    p->metric = metric;
    m->rows = true;
    if (metric->kind == BG_METRIC_ERROR)
        return open_error(m, k, i, given, err);
    if (metric->kind == BG_METRIC_DRIFT)
        return BG_OK;
    bg_status st = bg_channels_resolve(m->system, metric->names, &p->channels, err);
    p->x = BG_NEW_ARRAY(double, p->channels.count);
    return st == BG_OK && !p->x ? BG_NO_MEMORY : st;
}

static bg_status open_curves(bg_measure *m, bg_error *err)
{
    bg_status st = BG_OK;
    for (int i = 0; i < m->study->ncurves && st == BG_OK; i++) {
        bg_names one = {&m->study->curves[i].name, 1};
        m->traces[i].width = 1;
        m->rows = true;
        if (one.items[0][0] != '|' && one.items[0][0] != '#')
            st = bg_channels_resolve(m->system, one, &m->curves[i], err);
    }
    return st;
}

bg_status bg_measure_create(const bg_study *s, long k, const bg_trajectory *const *references,
                            const bool *mask, const bg_system *system, bg_measure *m, bg_error *err)
{
    int ng = bg_system_get_def(system)->ng;
    *m = (bg_measure){.study = s, .system = system};
    m->probes = BG_NEW_ARRAY(bg_probe, s->nmetrics);
    m->curves = BG_NEW_ARRAY(bg_channels, s->ncurves);
    m->traces = BG_NEW_ARRAY(bg_trajectory, s->ncurves);
    m->g = BG_NEW_ARRAY(double, ng);
    m->gt = BG_NEW_ARRAY(double, ng);
    m->G = BG_NEW_ARRAY(double, bg_system_get_size_G(system));
    bg_status st = m->probes && m->curves && m->traces && m->g && m->gt && m->G
                       ? BG_OK
                       : bg_error_set(err, BG_NO_MEMORY, "out of memory for the metrics of a case");
    if (st == BG_OK)
        st = bg_evaluator_create(system, &m->evaluator, err);
    for (int i = 0; i < s->nmetrics && st == BG_OK; i++)
        if (!mask || mask[i])
            st = open_probe(m, k, i, references, err);
    if (st == BG_OK && !mask)
        st = open_curves(m, err);
    return st;
}

void bg_measure_clear(bg_measure *m)
{
    for (int i = 0; m->probes && i < m->study->nmetrics; i++) {
        bg_channels_clear(&m->probes[i].channels);
        free(m->probes[i].columns);
        free(m->probes[i].x);
        free(m->probes[i].expect);
    }
    for (int i = 0; m->study && i < m->study->ncurves; i++) {
        if (m->curves)
            bg_channels_clear(&m->curves[i]);
        if (m->traces)
            bg_trajectory_clear(&m->traces[i]);
    }
    free(m->probes);
    free(m->curves);
    free(m->traces);
    free(m->g);
    free(m->gt);
    free(m->G);
    bg_evaluator_destroy(m->evaluator);
    *m = (bg_measure){0};
}

static double calc_norm(const double *x, int n, bool euclidean)
{
    double sum = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
        largest = fmax(largest, fabs(x[i]));
    }
    return euclidean ? sqrt(sum) : largest;
}

/* Residual g, or G v + g_t, in m->g. */
static void calc_residual(bg_measure *m, const bg_state *x, char level)
{
    const bg_system_def *def = bg_system_get_def(m->system);
    bg_point p;
    bg_terms terms = {.g = m->g, .gt = m->gt, .G = m->G};
    unsigned want = level == 'g' ? BG_TERM_g : BG_TERM_G | BG_TERM_gt;
    bool ok = bg_system_set_point(m->evaluator, x->t, x->q, x->v, x->z, x->mode, &p, NULL) ==
                  BG_OK &&
              bg_system_calc_terms(m->evaluator, &p, want, &terms, NULL) == BG_OK;
    const bg_pattern *pattern = def->pattern_G;
    for (int i = 0; i < def->ng; i++) {
        double w = level == 'g' ? m->g[i] : m->gt[i];
        int begin = pattern ? pattern->row_start[i] : i * def->nv;
        int end = pattern ? pattern->row_start[i + 1] : begin + def->nv;
        for (int k = begin; k < end && level != 'g'; k++)
            w += m->G[k] * x->v[pattern ? pattern->column[k] : k - begin];
        m->g[i] = ok ? w : NAN;
    }
}

static double calc_error(bg_probe *p, const bg_row *row)
{
    int n = p->channels.count;
    bool euclidean = p->metric->euclidean;
    bg_channels_read(&p->channels, row, p->x);
    if (p->reference)
        bg_trajectory_interpolate(p->reference, row->state->t, p->points, p->expect);
    double sum = 0, largest = 0, scale = 0;
    for (int i = 0; i < n; i++) {
        double e = p->reference ? p->expect[p->columns[i]] : p->values[p->columns[i]];
        double d = p->x[i] - e;
        sum += d * d;
        largest = fmax(largest, fabs(d));
        scale = euclidean ? scale + e * e : fmax(scale, fabs(e));
    }
    scale = p->metric->relative ? (euclidean ? sqrt(scale) : scale) : 1;
    return (euclidean ? sqrt(sum) : largest) / scale;
}

/* Whether the reference covers time t: nothing is extrapolated. */
static bool is_covered(const bg_trajectory *reference, double t)
{
    if (!reference)
        return true;
    double first = reference->t[0], last = reference->t[reference->rows - 1];
    double slack = 1e-9 * (last - first);
    return t >= first - slack && t <= last + slack;
}

/* Whether a row at t counts, which on a grid may miss a time by rounding. */
static bool is_in_window(const bg_metric *m, double t)
{
    double slack = 1e-12 * fmax(1, fabs(t));
    return t >= m->from - slack && t <= m->to + slack;
}

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    bg_measure *m = self;
    double t = row->state->t, x;
    int ng = bg_system_get_def(m->system)->ng;
    for (int i = 0; i < m->study->nmetrics; i++) {
        bg_probe *p = &m->probes[i];
        if (!p->metric || p->metric->at_steps || !is_covered(p->reference, t) ||
            !is_in_window(p->metric, t))
            continue;
        if (p->metric->kind == BG_METRIC_DRIFT) {
            calc_residual(m, row->state, p->metric->residual);
            x = calc_norm(m->g, ng, p->metric->euclidean);
        } else if (p->metric->kind == BG_METRIC_ERROR) {
            x = calc_error(p, row);
        } else {
            bg_channels_read(&p->channels, row, p->x);
            x = p->x[0];
        }
        bg_gauge_add(&p->gauge, t, x);
    }
    for (int i = 0; i < m->study->ncurves && m->traces[i].width > 0; i++) {
        const char *name = m->study->curves[i].name;
        if (name[0] == '#')
            continue; /* at steps */
        if (name[0] == '|') {
            calc_residual(m, row->state, name[1] == 'g' ? 'g' : 'v');
            x = calc_norm(m->g, ng, true);
        } else {
            bg_channels_read(&m->curves[i], row, &x);
        }
        if (!bg_trajectory_add(&m->traces[i], t, &x))
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for the curves of a plot");
    }
    return BG_OK;
}

/* Counters that a plot over time can show, by their names in the summary. */
static const struct {
    const char *name;
    size_t at;
} counters[] = {{"#steps.accepted", offsetof(bg_counters, accepted)},
                {"#steps.rejected", offsetof(bg_counters, rejected)},
                {"#corrector.residuals", offsetof(bg_counters, corrector.fc)},
                {"#corrector.iterations", offsetof(bg_counters, corrector.fcw)},
                {"#corrector.jacobians", offsetof(bg_counters, corrector.evaluations)},
                {"#corrector.updates", offsetof(bg_counters, corrector.updates)}};
enum { COUNTERS = sizeof counters / sizeof *counters };

const char *bg_counter_find(const char *name, int *index)
{
    const char *names[COUNTERS];
    for (*index = 0; *index < COUNTERS; ++*index) {
        if (strcmp(counters[*index].name, name) == 0)
            return NULL;
        names[*index] = counters[*index].name;
    }
    const int near = bg_text_find_nearest(name, names, COUNTERS);
    return names[near < 0 ? 0 : near];
}

static bg_status count_step(bg_measure *m, const bg_step *step, bg_error *err)
{
    for (int i = 0, counter; i < m->study->ncurves && m->traces[i].width > 0; i++) {
        const char *name = m->study->curves[i].name;
        if (name[0] != '#' || bg_counter_find(name, &counter))
            continue;
        const char *base = (const char *)step->counters;
        const double x = (double)*(const long *)(const void *)(base + counters[counter].at);
        if (!bg_trajectory_add(&m->traces[i], step->t, &x))
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for the curves of a plot");
    }
    return BG_OK;
}

static bg_status take_step(void *self, const bg_step *step, bg_error *err)
{
    bg_measure *m = self;
    for (int i = 0; i < m->study->nmetrics; i++) {
        bg_probe *p = &m->probes[i];
        if (p->metric && p->metric->at_steps && is_in_window(p->metric, step->t))
            bg_gauge_add(&p->gauge, step->t, p->metric->residual == 'g' ? step->g : step->gv);
    }
    return count_step(m, step, err);
}

bg_sink bg_measure_get_sink(bg_measure *m)
{
    return (bg_sink){.self = m, .row = take_row, .step = take_step};
}

/* The n-th event that fits, from the end for negative n; and how many there are. */
static bg_cell find_event(const bg_metric *metric, const bg_run_report *report)
{
    long count = 0;
    bg_cell time = {0};
    for (int pass = 0; pass < 2; pass++) {
        long wanted = metric->number > 0 ? metric->number : count + 1 + metric->number;
        count = 0;
        for (long i = 0; i < report->nevents; i++) {
            const bg_event *e = &report->events[i];
            if ((metric->event && strcmp(metric->event, e->name) != 0 &&
                 strcmp(metric->event, e->of) != 0) ||
                (metric->direction != 0 && metric->direction != e->direction))
                continue;
            if (++count == wanted && pass == 1)
                time = bg_cell_from_number(e->t);
        }
    }
    return metric->take == BG_TAKE_COUNT ? (bg_cell){.kind = BG_CELL_INTEGER, .i = count} : time;
}

/* A field of the summary by path. Names of outputs may contain dots, so the longest key counts. */
static const json_t *find_field(const json_t *json, const char *path)
{
    while (json && *path) {
        const json_t *whole = json_object_get(json, path);
        if (whole)
            return whole;
        char key[128];
        size_t n = strcspn(path, ".[]");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10))
                                   : json_object_get(json, key);
        path += n;
        path += strspn(path, ".[]");
    }
    return json;
}

bg_cell bg_measure_get(const bg_measure *m, int i, const bg_run_report *report,
                       const json_t *summary)
{
    const bg_metric *metric = &m->study->metrics[i];
    switch (metric->kind) {
    case BG_METRIC_SUMMARY:
        return bg_cell_from_json(find_field(summary, metric->path));
    case BG_METRIC_EVENT:
        return find_event(metric, report);
    default:
        return bg_cell_from_number(bg_gauge_get(&m->probes[i].gauge, metric->take));
    }
}

bool bg_measure_get_curve(const bg_measure *m, int i, bg_trajectory *curve)
{
    const bg_trajectory *trace = &m->traces[i];
    long points = m->study->curves[i].points, n = trace->rows < points ? trace->rows : points;
    *curve = (bg_trajectory){.width = 1};
    for (long k = 0; k < n; k++) {
        long row = n > 1 ? (k * (trace->rows - 1) + (n - 1) / 2) / (n - 1) : 0;
        if (!bg_trajectory_add(curve, trace->t[row], &trace->y[row]))
            return false;
    }
    return true;
}

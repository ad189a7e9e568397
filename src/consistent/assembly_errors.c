/* What cannot be assembled, in words: constraints that cannot be met, and redundant ones that
 * disagree. */
#include "consistent/assembly.h"

#include "system/starts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The row for which pick is set, the one with the largest key first (without keys: in order),
 * behind the row `last`; -1: none. */
static int find_listed(const bg_assembly *a, const unsigned char *pick, const double *key, int last)
{
    int best = -1;
    for (int i = 0; i < a->dyn->ng; i++) {
        if (!pick[i])
            continue;
        if (!key && i > last)
            return i;
        bool behind = key && (last < 0 || key[i] < key[last] || (key[i] == key[last] && i > last));
        if (behind && (best < 0 || key[i] > key[best]))
            best = i;
    }
    return best;
}

void bg_assembly_list(const bg_assembly *a, const unsigned char *pick, const double *key,
                      char *text, size_t size)
{
    int count = 0, written = 0, i = -1;
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < a->dyn->ng; k++)
        count += pick[k] != 0;
    while (written < 6 && used < size && (i = find_listed(a, pick, key, i)) >= 0) {
        char buffer[32];
        const char *separator = written == 0 ? "" : written == count - 1 ? " and " : ", ";
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", separator,
                                 bg_system_get_name(a->sys->system, 'g', i, buffer, sizeof buffer));
        written++;
    }
    if (written < count && used < size)
        snprintf(text + used, size - used, " and %d more", count - written);
}

/* "'a', 'b' and 3 more" */
static void list_names(const char *const *names, int n, int most, char *text, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < n && k < most && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s'%s'",
                                 k == 0       ? ""
                                 : k == n - 1 ? " and "
                                              : ", ",
                                 names[k]);
    if (n > most && used < size)
        snprintf(text + used, size - used, " and %d more", n - most);
}

/* Marks with the rows those of which they nearly consist: what is left of them counts as nothing.
 */
static void add_companions(bg_assembly *a, double margin, unsigned char *rows)
{
    int ng = a->dyn->ng;
    bg_rank_question question = {.A = a->dyn->terms.G,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .tolerance = 3 * margin};
    bg_rank_answer answer = {.dependent = a->other_dependent,
                             .involved = a->other_involved,
                             .remainder = a->other_remainder};
    bg_rank_calc(a->ranking, &question, &answer);
    memcpy(a->other_involved, rows, (size_t)ng);
    for (int i = 0; i < ng; i++) {
        const int *parts;
        const double *values;
        int n = a->other_involved[i] && a->other_dependent[i]
                    ? bg_rank_get_parts(a->ranking, i, &parts, &values)
                    : 0;
        for (int e = 0; e < n; e++) {
            int k = parts[e];
            if (!a->dependent[k] && fabs(values[e]) * a->scale[k] > 0.05 * a->scale[i])
                rows[k] = 1;
        }
    }
}

void bg_assembly_list_loop(bg_assembly *a, const unsigned char *rows, double margin, char *text,
                           size_t size)
{
    enum { MOST = 64, LISTED = 8 };
    static const char in[] = " in the loop of ";
    const bg_starts *starts = a->sys->def.starts;
    const char *joint[MOST], *name;
    int n = 0;
    text[0] = '\0';
    if (!starts || !starts->get_joint)
        return;
    memcpy(a->unused, rows, (size_t)a->dyn->ng);
    add_companions(a, margin, a->unused);
    for (int i = 0; i < a->dyn->ng; i++)
        for (int k = 0; a->unused[i] && (name = starts->get_joint(a->sys->def.self, i, k)); k++) {
            bool there = n == MOST;
            for (int j = 0; j < n; j++)
                there = there || joint[j] == name;
            if (!there)
                joint[n++] = name;
        }
    if (n > 0) {
        snprintf(text, size, in);
        list_names(joint, n, LISTED, text + sizeof in - 1, size - sizeof in + 1);
    }
}

/* The row that is missed most beside its size. */
static int find_worst(const bg_assembly *a)
{
    int worst = 0;
    for (int i = 1; i < a->dyn->ng; i++)
        if (!(fabs(a->dyn->terms.g[i]) / a->scale[i] <=
              fabs(a->dyn->terms.g[worst]) / a->scale[worst]))
            worst = i;
    return worst;
}

/* involved <- the rows to be named where some cannot be met. The search ends where rows cannot be
 * brought nearer, which is where rows that pull against each other have become (almost) dependent:
 * if some have, only those are meant, because the rest was merely held up by them. The one that was
 * missed most to begin with is among them in any case: mechanisms are drawn with closed loops, so
 * that what is not met there is what is wrong, even if it is met in the end and others gave in.
 * Returns the largest residual. */
static double find_unreachable(bg_assembly *a)
{
    static const double almost = 1e-2;
    int ng = a->dyn->ng, meant = 0, first = -1;
    double worst = 0, fulfilled = bg_assembly_calc_fulfilled(a);
    bg_rank_question question = {.A = a->dyn->terms.G,
                                 .fixed = a->q_fixed,
                                 .row_size = a->scale,
                                 .column_size = a->sys->def.v_size,
                                 .tolerance = almost};
    bg_rank_answer answer = {.dependent = a->dependent, .involved = a->involved};
    bg_rank_calc(a->ranking, &question, &answer);
    for (int i = 0; i < ng; i++) {
        bool unmet = !(fabs(a->dyn->terms.g[i]) / a->scale[i] <= fulfilled);
        a->dependent[i] = unmet; /* without regard to others */
        a->involved[i] = a->involved[i] && unmet;
        meant += a->involved[i];
        worst = fmax(worst, fabs(a->dyn->terms.g[i]));
        if (a->first[i] > fulfilled && (first < 0 || a->first[i] > a->first[first]))
            first = i;
    }
    if (meant == 0)
        memcpy(a->involved, a->dependent, (size_t)ng);
    if (first >= 0)
        a->involved[first] = 1;
    else if (!memchr(a->involved, 1, (size_t)ng)) /* all but met, yet the search does not end */
        a->involved[find_worst(a)] = 1;
    return worst;
}

bg_status bg_assembly_report_unreachable(bg_assembly *a, bg_error *err)
{
    char names[BG_ERROR_LENGTH / 2];
    double worst = find_unreachable(a);
    bg_assembly_list(a, a->involved, a->first, names, sizeof names);
    return bg_error_set(
        err, BG_NOT_ASSEMBLED,
        "system '%s' cannot be assembled at t = %g: the constraints %s cannot be met "
        "from this start (largest residual %.3g; the first was missed most to begin with); "
        "correct the dimensions, bring the start values nearer, or fix fewer coordinates",
        a->sys->def.name, a->x->t, names, worst);
}

/* Whether an eliminated row is noticeably made of a kept one, `value` times that. */
static bool is_part(const bg_assembly *a, int row, int other, double value)
{
    return !a->dependent[other] && fabs(value) * a->scale[other] / a->scale[row] > 1e-6;
}

/* key <- how much a row asks for by itself: drives come before what passes their motion on. */
static void find_drives(const bg_assembly *a, int level, double *key)
{
    const bg_terms *terms = &a->dyn->terms;
    bool driven = false;
    for (int i = 0; i < a->dyn->ng && level > 0; i++)
        driven = driven || terms->gt[i] != 0;
    for (int i = 0; i < a->dyn->ng; i++)
        key[i] = level == 0
                     ? 0
                     : fabs((driven || level == 1 ? terms->gt[i] : terms->gamma[i]) / a->scale[i]);
}

/* An eliminated row that is not BG_FULFILLED: names it and the rows it contradicts. */
static bg_status report_contradiction(bg_assembly *a, int row, int level, double residual,
                                      bool fixed, bg_error *err)
{
    static const char *const levels[] = {"position", "velocity", "acceleration"};
    static const char *const words[] = {"disagree", "ask for velocities that differ",
                                        "ask for accelerations that differ"};
    char names[BG_ERROR_LENGTH / 2], buffer[32];
    int others = 0, first = row;
    double *key = a->other_remainder;
    find_drives(a, level, key);
    for (int k = 0; k < a->dyn->ng; k++) {
        a->involved[k] = is_part(a, row, k, bg_rank_get_coefficient(a->ranking, row, k));
        others += a->involved[k];
        if (a->involved[k] && key[first] == 0 && key[k] > 0)
            first = k;
    }
    a->involved[row] = 1;
    a->involved[first] = 0;
    const char *name = bg_system_get_name(a->sys->system, 'g', first, buffer, sizeof buffer);
    bg_assembly_list(a, a->involved, key, names, sizeof names);
    if (others == 0)
        return bg_error_set(
            err, fixed ? BG_NOT_ASSEMBLED : BG_CONTRADICTORY,
            "system '%s': the constraint '%s' is violated on %s level by %.3g and no "
            "coordinate that may move acts on it; change the start values or fix fewer "
            "coordinates",
            a->sys->def.name, name, levels[level], residual);
    return bg_error_set(err, BG_CONTRADICTORY,
                        "system '%s': the constraint '%s' contradicts %s on %s level: they "
                        "restrict the same motion but %s by %.3g; remove one of them or make them "
                        "agree",
                        a->sys->def.name, name, names, levels[level], words[level], residual);
}

/* The precision of data, as rows that depend on others show it. */
static double calc_precision(const bg_assembly *a)
{
    double precision = 0;
    for (int i = 0; i < a->dyn->ng; i++)
        if (a->dependent[i] && a->order[i] < 0 && a->misfit[i] <= BG_REDUNDANT)
            precision = fmax(precision, a->misfit[i]);
    return precision;
}

/* What redundant rows may miss by on position level: as the data does, on the way and at the start.
 * Those that are no redundant ones, but have to agree (drives), have not moved yet. */
static double calc_allowed(const bg_assembly *a, int row, double precision)
{
    if (a->order[row] >= 0)
        return 0;
    return a->onward || a->misfit[row] <= BG_REDUNDANT ? a->allowed : precision;
}

/* The largest unit of an eliminated row and of those it is made of; without units 1. */
static double calc_unit(const bg_assembly *a, const double *unit, int row)
{
    const int *parts;
    const double *values;
    double size = unit ? unit[row] : 1;
    int n = unit ? bg_rank_get_parts(a->ranking, row, &parts, &values) : 0;
    for (int e = 0; e < n; e++)
        if (is_part(a, row, parts[e], values[e]))
            size = fmax(size, unit[parts[e]]);
    return size;
}

/* Redundant rows may miss by what the data does, on level 1 (velocity) and 2 (acceleration) ten and
 * a hundred times that, beside `unit`, the size of coordinates, velocities or accelerations; but
 * never by a tenth, and on level 0 at the start by no more than data may be wrong: a constraint
 * that misses by more is another one, however well it goes along with others. What moves by less
 * than numbers can tell rests. */
bg_status bg_assembly_check_eliminated(bg_assembly *a, const double *residual, int level,
                                       double limit, const double *unit, bool fixed, bg_error *err)
{
    static const double spread[] = {1, 10, 100}, nothing = DBL_MIN / DBL_EPSILON;
    double most = level == 0 && !a->onward ? BG_RANK_DATA : 0.1, precision = calc_precision(a);
    for (int i = 0; i < a->dyn->ng; i++) {
        if (!a->dependent[i])
            continue;
        double size = calc_unit(a, unit, i);
        double data = fmin(spread[level] * calc_allowed(a, i, precision), most);
        if (!(fabs(residual[i]) <= fmax(fmax(limit, data) * size * a->scale[i], nothing)))
            return report_contradiction(a, i, level, fabs(residual[i]), fixed, err);
    }
    return BG_OK;
}

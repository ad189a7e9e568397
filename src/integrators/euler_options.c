/* The options of euler and linear-euler: read, checked against each other and the system, and
 * described where they were chosen here. */
#include "integrators/euler.h"
#include "integrators/options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool has_feedback(const bg_euler *m)
{
    return m->stabilisation == BG_STABILISE_BAUMGARTE ||
           m->stabilisation == BG_STABILISE_REGULARISE;
}

/* One step takes the errors of the constraints, with x = h alpha and y = h^2 beta, to
 *     index 1   g1 = g + h w,  h w1 = -y g + (1 - 2 x) h w;   late: g1 = g + h w1
 *     index 2   g1 = (1 - x) g;   late: s1 = g - x s,  g1 = g - x s1,  s: g at q + h V u
 * and they die out when |det| <= 1 and |trace| <= 1 + det. Late is where q moves with u1. */
static bg_status check_feedback(const bg_integrator *ig, const bg_euler *m, bg_error *err)
{
    double h = ig->options.step, x = h * m->alpha, y = h * h * m->beta;
    bool first = m->index == BG_INDEX_1;
    double trace = first                 ? (bg_euler_is_late(m) ? 2 - 2 * x - y : 2 - 2 * x)
                   : bg_euler_is_late(m) ? 1 - 2 * x
                                         : 1 - x;
    double det = first                 ? (bg_euler_is_late(m) ? 1 - 2 * x : 1 - 2 * x + y)
                 : bg_euler_is_late(m) ? -x
                                       : 0;
    double most = !bg_euler_is_late(m) ? 2
                  : first              ? 2 * sqrt(2.0) - 2
                                       : 2.0 / 3; /* of x, with y = x^2 */
    char beta[48] = "";
    if (!has_feedback(m) || (fabs(det) - 1 <= 1e-9 && fabs(trace) - 1 - det <= 1e-9))
        return BG_OK;
    if (first)
        snprintf(beta, sizeof beta, " and beta = %g/s^2", m->beta);
    return bg_error_set(err, BG_BAD_INPUT,
                        "alpha = %g/s%s let errors of the constraints grow in steps of h = %g s; "
                        "take alpha below %.3g/h = %g/s%s, or leave it at auto, 0.5/h",
                        m->alpha, beta, h, most, most / h, first ? " with beta = alpha^2" : "");
}

static bg_status check_combination(const bg_euler *m, bg_error *err)
{
    bool matrix = m->jacobian != BG_JACOBIAN_NONE && m->jacobian != BG_JACOBIAN_3;
    if (m->index != BG_INDEX_1 && m->stabilisation == BG_STABILISE_REGULARISE)
        return bg_error_set(err, BG_BAD_INPUT,
                            "stabilisation=regularise is defined for index=1; set that too");
    if (m->index == BG_INDEX_GGL && m->stabilisation == BG_STABILISE_BAUMGARTE)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "index=ggl has the position constraints already; take stabilisation=none, "
            "or index=2 with stabilisation=baumgarte");
    if (m->partition != BG_PARTITION_ALL && !matrix)
        return bg_error_set(err, BG_BAD_INPUT,
                            "a partition is of the entries of a Jacobian, and jacobian=none and J3 "
                            "make none; take partition=all, or jacobian=J1, J2, exact or semi");
    return BG_OK;
}

/* A number that the chosen stabilisation does not look at must not pass for one that it does. */
static bg_status check_unused(const bg_integrator *ig, const bg_euler *m, bg_error *err)
{
    bool baumgarte = has_feedback(m), regularise = m->stabilisation == BG_STABILISE_REGULARISE;
    const struct {
        const char *name, *where;
        bool used;
    } rows[] = {{"alpha", "stabilisation=baumgarte or regularise", baumgarte},
                {"beta", "stabilisation=baumgarte or regularise with index=1",
                 baumgarte && m->index == BG_INDEX_1},
                {"epsilon", "stabilisation=regularise", regularise}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!rows[k].used && strcmp(bg_option_get(ig, rows[k].name), "auto") != 0)
            return bg_error_set(err, BG_BAD_INPUT,
                                "option '%s' of integrator %s has an effect only with %s; choose "
                                "that, or %s=auto",
                                rows[k].name, ig->class_->info.name, rows[k].where, rows[k].name);
    return BG_OK;
}

/* Its ng solutions of linear equations are little beside a step as long as matrices are small. */
static bool wants_certificate(const bg_integrator *ig)
{
    enum { SMALL = 40 };
    const char *value = bg_option_get(ig, "certificate");
    bool small = ig->sys->def.nv + ig->sys->def.ng <= SMALL;
    return strcmp(value, "auto") == 0 ? small : strcmp(value, "on") == 0;
}

bg_status bg_euler_read_options(bg_integrator *ig, bg_euler *m, bg_error *err)
{
    double h = ig->options.step;
    bool implicit = strcmp(ig->class_->info.name, "euler") != 0;
    m->jacobian = implicit ? bg_option_get_choice(ig, "jacobian") : BG_JACOBIAN_NONE;
    m->index = bg_option_get_choice(ig, "index");
    m->stabilisation = bg_option_get_choice(ig, "stabilisation");
    m->partition = implicit ? bg_option_get_choice(ig, "partition") : BG_PARTITION_ALL;
    m->drift.on = wants_certificate(ig);
    m->alpha = bg_option_get_number(ig, "alpha", 0.5 / h);
    m->beta = bg_option_get_number(ig, "beta", m->alpha * m->alpha);
    m->epsilon = bg_option_get_number(ig, "epsilon", h * h);
    m->refresh = 1;
    bg_status st = bg_option_read_count(ig, "newton_steps", 1000, &m->newton_steps, err);
    if (st == BG_OK && implicit)
        st = bg_option_read_count(ig, "refresh", 1000000, &m->refresh, err);
    if (st == BG_OK)
        st = bg_option_check_least(ig, "alpha", m->alpha, 0, err);
    if (st == BG_OK)
        st = bg_option_check_least(ig, "beta", m->beta, 0, err);
    if (st == BG_OK && !(m->epsilon > 0))
        st = bg_error_set(err, BG_BAD_INPUT,
                          "option 'epsilon' of integrator %s must be greater than 0",
                          ig->class_->info.name);
    if (st == BG_OK)
        st = check_combination(m, err);
    return st == BG_OK ? check_unused(ig, m, err) : st;
}

bg_status bg_euler_check_system(bg_integrator *ig, const bg_euler *m, bg_error *err)
{
    const bg_system_def *def = &ig->sys->def;
    bg_status st = m->ng > 0 ? check_feedback(ig, m, err) : BG_OK;
    if (st != BG_OK)
        return st;
    if (m->jacobian != BG_JACOBIAN_NONE && !(def->supplied & BG_TERM_M))
        return bg_error_set(
            err, BG_MISSING,
            "linear-euler needs the mass matrix, which system '%s' does not supply; "
            "integrator euler does without it",
            def->name);
    if (m->partition != BG_PARTITION_STIFF)
        return BG_OK;
    bool any = def->stiff_parts != 0;
    for (int i = 0; def->marks && i < def->nv; i++)
        any = any || (def->marks[i] & BG_MARK_STIFF);
    return any ? BG_OK
               : bg_error_set(err, BG_BAD_INPUT,
                              "partition=stiff: nothing in system '%s' is marked stiff; name force "
                              "elements (or joints, in joint coordinates) in run.stiff of the "
                              "model, or take partition=all or auto",
                              def->name);
}

/* Appends to text of at most size bytes. */
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* The velocities whose rows the partition has entries in, as many as fit. */
static void name_rows(const bg_integrator *ig, char *text, size_t size)
{
    const bg_euler *m = ig->method;
    const bg_pattern *pattern = bg_system_get_pattern(ig->sys->system, BG_OF_r, BG_BY_q);
    int nv = ig->dyn->nv, named = 0;
    for (int i = 0; i < nv; i++) {
        char buffer[64];
        const char *name = bg_system_get_name(ig->sys->system, 'v', i, buffer, sizeof buffer);
        bool kept = false;
        for (int k = pattern ? pattern->row_start[i] : i * nv;
             k < (pattern ? pattern->row_start[i + 1] : (i + 1) * nv); k++)
            kept = kept || m->kept[k] == BG_KEPT;
        if (!kept)
            continue;
        if (strlen(text) + strlen(name) + 80 > size) {
            append(text, size, ", ...");
            return;
        }
        append(text, size, "%s%s", named++ ? ", " : ", of ", name);
    }
}

void bg_euler_describe(const bg_integrator *ig, char *text, size_t size)
{
    const bg_euler *m = ig->method;
    double h = ig->options.step;
    *text = '\0';
    if (m->ng > 0 && has_feedback(m))
        append(text, size, "alpha = %g/s (%.3g/h)", m->alpha, m->alpha * h);
    if (m->ng > 0 && has_feedback(m) && m->index == BG_INDEX_1)
        append(text, size, ", beta = %g/s^2 (%.3g/h^2)", m->beta, m->beta * h * h);
    if (m->partition == BG_PARTITION_AUTO && m->jacobian == BG_JACOBIAN_1)
        append(text, size,
               "%spartition=auto may cost J1 0.2 of its limit of stability: h^2 a <= 2 h b + 3.8",
               *text ? "; " : "");
    if (!bg_euler_uses_matrix(m) || m->partition == BG_PARTITION_ALL || m->nentries == 0)
        return;
    append(text, size, "%sthe partition keeps %d of %d %sentries of the Jacobian",
           *text ? "; " : "", m->nkept, m->nentries,
           m->partition == BG_PARTITION_AUTO ? "non-zero " : "");
    name_rows(ig, text, size);
}

/* What a run did and how far its result can be trusted, for people. The same numbers are in the
 * summary, for programs. */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>

enum { MAX_EVENTS = 20, MAX_MOVED = 10 };

/* Smaller changes are rounding of the start values, not worth a line. */
static const double moved_noticeably = 1e-10;

static void print_method(const bg_run_options *options, const bg_run_report *report)
{
    const char *name = report->integrator[0] ? report->integrator : options->integrator;
    printf("  integrator       %s, ", name);
    if (options->method.step > 0)
        printf("fixed step %g s\n", options->method.step);
    else
        printf("rtol %g, atol %g\n", options->method.rtol, options->method.atol);
}

/* "for events       12 of all terms, 936 of switching functions, 5 factorisations, 4 projections"
 */
static void print_others(const char *whose, const bg_work *w)
{
    const struct {
        long count;
        const char *what;
    } list[] = {{w->terms, "of all terms"},
                {w->constraints, "of constraints"},
                {w->switching, "of switching functions"},
                {w->explicit_, "explicit"},
                {w->residual, "residual"},
                {w->jacobian, "Jacobian"},
                {w->factorisations, "factorisations"},
                {w->projections, "projections"}};
    int printed = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].count > 0)
            printf(printed++ == 0 ? "  %-16s %ld %s" : "%.0s, %ld %s", whose, list[i].count,
                   list[i].what);
    if (printed > 0)
        printf("\n");
}

/* What the corrector of an implicit method did; of groups, where columns were differenced so. */
static void print_corrector(const bg_corrector_work *w)
{
    if (w->fc == 0)
        return;
    printf("  corrector        %ld residuals, %ld of them for derivatives; %ld Jacobians, %ld "
           "updates;\n",
           w->fc, w->fc - w->fcw, w->evaluations, w->updates);
    if (w->groups > 0)
        printf("                   %ld groups of columns, %ld non-zeros, a pattern that grew %ld "
               "times;\n",
               w->groups, w->nonzeros, w->growths);
    printf("                   %ld failed error tests, %ld failures to converge\n",
           w->error_failures, w->convergence_failures);
}

static void print_work(const bg_run_report *report)
{
    const bg_counters *n = &report->counters;
    const bg_work own = bg_counters_sum_steps(n);
    printf("  steps            %ld accepted, %ld rejected\n", n->accepted, n->rejected);
    printf("  evaluations      %ld of all terms, %ld of constraints, %ld explicit, %ld residual, "
           "%ld Jacobian\n",
           own.terms, own.constraints, own.explicit_, own.residual, own.jacobian);
    printf("                   %ld factorisations, %ld projections\n", own.factorisations,
           own.projections);
    if (own.fast > 0)
        printf("                   %ld of the slow part, %ld of the fast part in these\n", own.slow,
               own.fast);
    print_corrector(&n->corrector);
    print_others("for events", &n->events);
    print_others("for rows", &n->rows);
    printf("  CPU time         %.3g s\n", report->cpu_seconds);
}

void bg_drift_print(const bg_drift *d)
{
    if (d->holds)
        printf("  drift            |g| stays below %.3g however long the run (largest seen %.3g),\n"
               "                   as long as it does not exceed C0 %.3g, C1 %.3g, C2 %.3g\n",
               d->limit, d->observed, d->C0, d->C1, d->C2);
    else
        printf(
            "  drift            not bounded: %s\n                   (C0 %.3g, C1 %.3g, C2 %.3g)\n",
            d->why, d->C0, d->C1, d->C2);
}

static void print_trust(const bg_certificate *c, int ng)
{
    if (ng > 0) {
        printf("  largest |g|      %.3g\n", c->max_g);
        printf("  |G v + g_t|      %.3g\n", c->max_gv);
        if (isnan(c->max_ga))
            printf("  |G a + gamma|    not known: this method does not solve for it\n");
        else
            printf("  |G a + gamma|    %.3g\n", c->max_ga);
    }
    if (c->has_drift)
        bg_drift_print(&c->drift);
    if (c->note[0])
        printf("  note             %s\n", c->note);
    if (isnan(c->energy_error))
        printf("  energy error     not known: there are no energies, or none that are numbers\n");
    else
        printf("  energy error     %.3g J, where the energies reach %.3g J\n", c->energy_error,
               c->energy_scale);
    printf("  unconverged      %ld steps repeated\n", c->unconverged_steps);
    printf("  real-time factor %.4g\n", c->real_time_factor);
}

static void print_verdict(const bg_run_report *report)
{
    const bg_warning *reason;
    bg_warnings_judge(&report->warnings, &reason);
    printf("  verdict          %s%s%s\n", bg_verdict_get_name(report->verdict), reason ? ": " : "",
           reason ? reason->text : "");
    for (int i = 0; i < report->warnings.count; i++)
        if (&report->warnings.items[i] != reason)
            bg_warning_print(&report->warnings.items[i]);
}

void bg_warning_print(const bg_warning *w)
{
    printf("  %-16s %s\n", w->verdict == BG_GOOD ? "remark" : "warning", w->text);
}

static void print_events(const bg_run_report *report)
{
    if (report->nevents == 0)
        return;
    printf("  events           %ld\n", report->nevents);
    for (long i = 0; i < report->nevents && i < MAX_EVENTS; i++) {
        const bg_event *event = &report->events[i];
        printf("    t = %-12.9g %s\n", event->t, event->name ? event->name : "unnamed");
    }
    if (report->nevents > MAX_EVENTS)
        printf("    and %ld more\n", report->nevents - MAX_EVENTS);
}

void bg_certificate_print(const bg_problem *problem, const bg_run_options *options,
                          const bg_run_report *report, const char *file)
{
    const bg_system *system = bg_problem_get_system(problem);
    const char *formulation = bg_problem_get_formulation(problem);
    printf(formulation ? "%s, %s formulation\n" : "%s\n", bg_problem_get_reference(problem),
           formulation);
    print_method(options, report);
    if (report->final) {
        printf("  reached          t = %.9g s, %s\n", report->final->t,
               bg_status_text(report->status));
        print_work(report);
        print_trust(&report->certificate, bg_system_get_def(system)->ng);
        print_events(report);
    }
    bg_assembly_print(system, &report->assembly);
    if (file && report->rows > 0)
        printf("  results          %ld rows in %s\n", report->rows, file);
    print_verdict(report);
}

/* The index of the largest |x| that comes after entry `last` in falling order (-1: the first one),
 * or -1 when the rest did not move. */
static int find_next_largest(const double *x, int n, int last)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        double size = fabs(x[i]);
        if (size <= moved_noticeably)
            continue;
        if (last >= 0 && (size > fabs(x[last]) || (size == fabs(x[last]) && i <= last)))
            continue;
        if (best < 0 || size > fabs(x[best]))
            best = i;
    }
    return best;
}

static void print_moved(const bg_system *system, char kind, const double *moved, int n)
{
    char buffer[64];
    int last = -1;
    for (int k = 0; k < MAX_MOVED; k++) {
        int i = find_next_largest(moved, n, last);
        if (i < 0)
            return;
        if (k == 0)
            printf("  %s\n", kind == 'q' ? "moved to close the constraints"
                                         : "velocities changed to fit them");
        printf("    %-20s %+.6g\n", bg_system_get_name(system, kind, i, buffer, sizeof buffer),
               moved[i]);
        last = i;
    }
    if (find_next_largest(moved, n, last) >= 0)
        printf("    and others less\n");
}

static void print_redundancy(const bg_system *system, const bg_assembly_report *report)
{
    const bg_redundancy *redundancy = &report->redundancy;
    char buffer[64];
    if (redundancy->count == 0)
        return;
    printf("  redundant        %d constraint%s depend%s on others, left out:", redundancy->count,
           redundancy->count > 1 ? "s" : "", redundancy->count > 1 ? "" : "s");
    for (int k = 0; k < redundancy->count; k++)
        printf("%s %s", k > 0 ? "," : "",
               bg_system_get_name(system, 'g', redundancy->eliminated[k], buffer, sizeof buffer));
    printf("\n");
    if (redundancy->weakest >= 0)
        printf(
            "                   dependent to %.1e of their size; of %s, the weakest that is kept, "
            "%.1e is left\n",
            redundancy->misfit,
            bg_system_get_name(system, 'g', redundancy->weakest, buffer, sizeof buffer),
            redundancy->margin);
    else
        printf("                   dependent to %.1e of their size\n", redundancy->misfit);
    if (!redundancy->not_unique)
        return;
    printf("  not unique       the reactions of");
    const char *separator = "";
    for (int k = 0; k < report->nnot_unique; k++) {
        printf("%s %s", separator, report->not_unique[k]);
        separator = ",";
    }
    for (int i = 0; i < bg_system_get_def(system)->ng; i++) {
        if (!redundancy->not_unique[i] || report->nnot_unique > 0)
            continue;
        printf("%s %s", separator, bg_system_get_name(system, 'g', i, buffer, sizeof buffer));
        separator = ",";
    }
    printf("\n");
}

void bg_assembly_print(const bg_system *system, const bg_assembly_report *report)
{
    const bg_system_def *def = bg_system_get_def(system);
    if (report->moved_q)
        print_moved(system, 'q', report->moved_q, def->nq);
    if (report->moved_v && !def->starts)
        print_moved(system, 'v', report->moved_v, def->nv);
    print_redundancy(system, report);
}

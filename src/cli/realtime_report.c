#include "cli/realtime_report.h"

#include "cli/cli.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MISSES_SHOWN = 20, BAR = 40 };

static double percent(const bg_statistics *s, int64_t ns)
{
    return 100 * (double)ns / (double)s->period;
}

static void print_method(const bg_realtime_report *r)
{
    const bg_privilege *p = &r->privilege;
    printf("  integrator       %s, %g Hz, a period of %g ms\n", r->integrator, r->rate,
           1e3 / r->rate);
    if (p->fifo)
        printf("  scheduling       SCHED_FIFO with priority %d%s\n", p->priority,
               p->locked ? ", memory locked" : "");
    if (!p->wanted)
        printf("  scheduling       as usual (--priority 0)\n");
    if (p->note[0])
        printf("  note             %s\n", p->note);
}

/* Three digits, none of them in small print: what is below 0.01 % is nothing here. */
static void print_percent(const bg_statistics *s, int64_t ns)
{
    double x = percent(s, ns);
    printf(" %6.*f %%", x < 10 ? 2 : x < 100 ? 1 : 0, x);
}

static void print_percentiles(const char *title, const bg_statistics *s, const bg_histogram *h)
{
    printf("    %-14s", title);
    print_percent(s, bg_histogram_find(h, 0.5));
    print_percent(s, bg_histogram_find(h, 0.99));
    print_percent(s, bg_histogram_find(h, 0.999));
    print_percent(s, h->max);
    printf("\n");
}

static void print_times(const bg_statistics *s)
{
    printf("  %% of the period       p50      p99    p99.9      max\n");
    print_percentiles("turnaround", s, &s->turnaround);
    print_percentiles("processor time", s, &s->work);
    print_percentiles("late to begin", s, &s->latency);
    if (s->preparation.n > 0)
        print_percentiles("prepared ahead", s, &s->preparation);
}

static const char *plural(long n)
{
    return n == 1 ? "" : "s";
}

/* How steps were waited for, and what took the processor away meanwhile. */
static void print_waiting(const bg_realtime_report *r)
{
    const bg_spin *spin = &r->statistics.spin;
    if (r->spin == 0)
        printf("  waiting          asleep until the release of each step (--spin 0)\n");
    else
        printf(
            "  waiting          asleep until %g us before each release, then reading the clock\n",
            1e-3 * (double)r->spin);
    if (spin->gaps > 0)
        printf(
            "                   %ld interruption%s of %d us and more there, %.3g ms in %.3g s, the "
            "longest %.3g ms\n",
            spin->gaps, plural(spin->gaps), BG_GAP / 1000, 1e-6 * (double)spin->total,
            1e-9 * (double)spin->watched, 1e-6 * (double)spin->longest);
    if (spin->late > 0)
        printf("                   %ld of them made a step begin late\n", spin->late);
    if (spin->overslept > 0)
        printf("                   %ld sleep%s ended after the release\n", spin->overslept,
               plural(spin->overslept));
    if (r->stolen_seconds > 0)
        printf("  host             took processors away for %.3g s in all (steal time)\n",
               r->stolen_seconds);
}

/* Octaves of the turnaround time, each with a bar whose length grows with the logarithm. */
static void print_histogram(const bg_statistics *s)
{
    int64_t below = -1;
    double scale = log((double)s->steps + 1);
    printf("  histogram        steps by turnaround time\n");
    for (int k = -10; k <= 30; k++) {
        int64_t end = (int64_t)ldexp((double)s->period, k);
        long n = bg_histogram_count(&s->turnaround, below, end);
        if (n > 0) {
            char bar[BAR + 1] = "";
            int length = (int)ceil(BAR * log((double)n + 1) / scale);
            memset(bar, '#', (size_t)(length < BAR ? length : BAR));
            printf("    to %9.4g %%  %9ld %s\n", 100 * ldexp(1, k), n, bar);
        }
        below = end;
    }
}

static void print_causes(const bg_statistics *s)
{
    static const char *const meaning[BG_CAUSES] = {
        [BG_CAUSE_DELAYED] = "on purpose",
        [BG_CAUSE_LATE_RELEASE] = "the machine gave the processor too late to begin in time",
        [BG_CAUSE_INTERRUPTED] = "the machine took the processor away during the step",
        [BG_CAUSE_LONG_STEP] = "the work of the step took longer than the period",
        [BG_CAUSE_CATCHING_UP] = "waited for late steps before it",
    };
    for (int k = 0; k < BG_CAUSES; k++) {
        if (s->causes[k] == 0 && !(k == BG_CAUSE_DELAYED && s->delayed > 0))
            continue;
        printf("    %9ld %-13s %s", s->causes[k], bg_cause_get_name((bg_cause)k), meaning[k]);
        if (k == BG_CAUSE_DELAYED)
            printf(", of %ld delayed steps", s->delayed);
        printf("\n");
    }
    int64_t usual = bg_histogram_find(&s->work, 0.99);
    if (s->causes[BG_CAUSE_LONG_STEP] > 0 && usual < s->period / 2)
        printf("              99 %% of the steps need at most %.3g %%: perhaps a host took the "
               "processor unseen\n",
               percent(s, usual));
}

/* The first misses with their times: those of the machine and the model where there are any, else
 * those made on purpose. */
static void print_first(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    long natural = s->misses - s->causes[BG_CAUSE_DELAYED], shown = 0;
    long all = natural > 0 ? natural : s->misses;
    for (long k = 0; k < s->misses && k < BG_MISSES_KEPT && shown < MISSES_SHOWN; k++) {
        const bg_miss *miss = &s->miss[k];
        if (natural > 0 && miss->cause == BG_CAUSE_DELAYED)
            continue;
        printf("    t = %-12.9g late by %.3g ms, %s\n", r->t_start + (double)miss->step / r->rate,
               1e-6 * (double)miss->late, bg_cause_get_name(miss->cause));
        shown++;
    }
    if (all > shown)
        printf("    and %ld more; --summary has the first %d of all\n", all - shown,
               BG_MISSES_KEPT);
}

static void print_misses(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    printf("  deadlines        %ld missed of %ld (overload: %s)\n", s->misses, s->steps,
           r->overload);
    print_causes(s);
    print_first(r);
    if (s->farthest > 0)
        printf("  catching up      steps began up to %.3g ms late because of those before them\n",
               1e-6 * (double)s->farthest);
    if (s->abandoned > 0)
        printf("                   given up %ld time%s: too far behind, periods were skipped\n",
               s->abandoned, plural(s->abandoned));
    if (s->lag > 0)
        printf("  lag              simulated time is %.6g s behind the clock, %ld period%s had no "
               "step\n",
               1e-9 * (double)s->lag, s->skipped, plural(s->skipped));
}

static void print_datagrams(const bg_udp_counts *c)
{
    if (c->accepted + c->stale + c->malformed > 0)
        printf("  received         %ld datagrams accepted, %ld stale, %ld malformed\n", c->accepted,
               c->stale, c->malformed);
    if (c->restarts > 0)
        printf("                   %ld restart%s of the sender\n", c->restarts,
               plural(c->restarts));
    if (c->sent + c->unsent > 0)
        printf("  sent             %ld datagrams, %ld not taken by the system\n", c->sent,
               c->unsent);
}

static void print_events(const bg_realtime_report *r)
{
    enum { MAX_LINES = 20 };
    const char *name;
    int lines = 0;
    printf("  events           %ld, each at the end of its step\n", r->events);
    for (int k = 0; r->rt && k < 2 * r->nswitches; k++) {
        const long count = bg_realtime_count_event(r->rt, k / 2, k % 2 ? 1 : -1, &name);
        if (count > 0 && lines++ < MAX_LINES)
            printf("    %6ld times     %s\n", count, name);
    }
    if (lines > MAX_LINES)
        printf("    and %d more kinds\n", lines - MAX_LINES);
}

static void print_trust(const bg_realtime_report *r)
{
    if (!isnan(r->max_g))
        printf("  largest |g|      %.3g, |G v + g_t| %.3g\n", r->max_g, r->max_gv);
    if (r->has_drift)
        bg_drift_print(&r->drift);
    if (r->events > 0)
        print_events(r);
}

void bg_realtime_report_print(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    printf(r->formulation ? "%s, %s formulation\n" : "%s\n", r->model, r->formulation);
    print_method(r);
    printf("  reached          t = %.9g s, %ld steps in %.6g s of the clock, %s\n", r->t_end,
           s->steps, r->wall_seconds, r->status == BG_OK ? "done" : "ended early");
    if (s->steps > 0) {
        print_times(s);
        print_histogram(s);
        print_waiting(r);
        print_misses(r);
    }
    print_datagrams(&r->datagrams);
    bg_plan_print(&r->plan);
    if (r->counted)
        printf("  allocations      %ld in all steps, counted\n", r->allocations);
    print_trust(r);
    for (int i = 0; i < r->warnings.count; i++)
        bg_warning_print(&r->warnings.items[i]);
}

static void print_view(bg_realtime_view *v)
{
    long steps = atomic_load(&v->live.steps), misses = atomic_load(&v->live.misses);
    long injected = atomic_load(&v->live.injected);
    double longest = 1e-9 * (double)atomic_exchange(&v->live.longest, 0);
    double lag = 1e-9 * (double)atomic_load(&v->live.lag);
    fprintf(stderr, "\rt = %.2f s, turnaround up to %.3g %%, %ld of %ld deadlines missed",
            v->t_start + (double)steps / v->rate, 100 * longest * v->rate, misses, steps);
    if (injected > 0)
        fprintf(stderr, " (%ld on purpose)", injected);
    if (lag > 0)
        fprintf(stderr, ", %.3g s behind", lag);
    fputs("\033[K", stderr);
    fflush(stderr);
    v->shown = true;
}

static void *watch(void *self)
{
    bg_realtime_view *v = self;
    const struct timespec tenth = {.tv_nsec = 100000000};
    for (int k = 1; !atomic_load(&v->ended); k++) {
        nanosleep(&tenth, NULL);
        if (k % 5 == 0)
            print_view(v);
    }
    return NULL;
}

void bg_realtime_view_begin(bg_realtime_view *v, double rate, double t_start)
{
    sigset_t all, before;
    v->rate = rate;
    v->t_start = t_start;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&v->thread, NULL, watch, v) != 0)
        atomic_store(&v->ended, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void bg_realtime_view_end(bg_realtime_view *v)
{
    if (!atomic_exchange(&v->ended, true))
        pthread_join(v->thread, NULL);
    if (v->shown)
        fputs("\r\033[K", stderr);
}

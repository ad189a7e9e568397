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

static void print_percentiles(const char *title, const bg_statistics *s, const bg_histogram *h)
{
    printf("  %-16s p50 %.3g %%, p99 %.3g %%, p99.9 %.3g %%, max %.3g %% of the period\n", title,
           percent(s, bg_histogram_find(h, 0.5)), percent(s, bg_histogram_find(h, 0.99)),
           percent(s, bg_histogram_find(h, 0.999)), percent(s, h->max));
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

static void print_misses(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    printf("  deadlines        %ld missed of %ld", s->misses, s->steps);
    if (s->delayed > 0)
        printf(", %ld of them in the %ld steps that were delayed on purpose", s->injected,
               s->delayed);
    printf(" (overload: %s)\n", r->overload);
    for (long k = 0; k < s->misses && k < MISSES_SHOWN; k++)
        printf("    t = %-12.9g late by %.3g ms%s\n",
               r->t_start + (double)s->miss[k].step / r->rate, 1e-6 * (double)s->miss[k].late,
               s->miss[k].injected ? ", delayed" : "");
    if (s->misses > MISSES_SHOWN)
        printf("    and %ld more; --summary has the first %d\n", s->misses - MISSES_SHOWN,
               BG_MISSES_KEPT);
    if (s->lag > 0)
        printf("  lag              simulated time is %.6g s behind the clock, %ld periods had no "
               "step\n",
               1e-9 * (double)s->lag, s->skipped);
}

static const char *plural(long n)
{
    return n == 1 ? "" : "s";
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

static void print_trust(const bg_realtime_report *r)
{
    if (!isnan(r->max_g))
        printf("  largest |g|      %.3g, |G v + g_t| %.3g\n", r->max_g, r->max_gv);
    if (r->has_drift && r->drift.holds)
        printf("  drift            |g| stays below %.3g however long the run\n", r->drift.limit);
    else if (r->has_drift)
        printf("  drift            not bounded: the period is too long for the guarantee\n");
    if (r->events > 0)
        printf("  events           %ld, each at the end of its step\n", r->events);
}

void bg_realtime_report_print(const bg_realtime_report *r)
{
    const bg_statistics *s = &r->statistics;
    printf(r->formulation ? "%s, %s formulation\n" : "%s\n", r->model, r->formulation);
    print_method(r);
    printf("  reached          t = %.9g s, %ld steps in %.6g s of the clock, %s\n", r->t_end,
           s->steps, r->wall_seconds, r->status == BG_OK ? "done" : "ended early");
    if (s->steps > 0) {
        print_percentiles("turnaround", s, &s->turnaround);
        print_percentiles("wake-up latency", s, &s->latency);
        print_histogram(s);
        print_misses(r);
    }
    print_datagrams(&r->datagrams);
    bg_plan_print(&r->plan);
    print_trust(r);
}

static void print_view(bg_realtime_view *v)
{
    long steps = atomic_load(&v->live.steps), misses = atomic_load(&v->live.misses);
    double longest = 1e-9 * (double)atomic_exchange(&v->live.longest, 0);
    fprintf(stderr, "\rt = %.2f s, %ld steps, turnaround up to %.3g %%, %ld deadlines missed\033[K",
            v->t_start + (double)steps / v->rate, steps, 100 * longest * v->rate, misses);
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

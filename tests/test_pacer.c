/* Accounting of deadlines under a clock that the test moves, histograms, and datagrams over the
 * loopback interface. Nothing here depends on how fast the machine is. */
#include "run_support.h"

#include "realtime/datagram.h"
#include "realtime/pacer.h"
#include "realtime/udp.h"

enum { T = 1000000 }; /* ns, the period */

typedef struct gap {
    int64_t at, length;
} gap;

/* A clock that stands still but for sleeps and work, and moves on by a tick with every reading. */
typedef struct pacer_rig {
    int64_t now, latency, tick;
    const gap *gaps; /* times that a reading from `at` on finds gone by at once */
    int ngaps;
    const int64_t *durations; /* of work, one after another, again and again */
    const int64_t *taken;     /* of these, what is no processor time; NULL: nothing */
    int ndurations;
    int64_t spent, slept; /* processor time; asked for in sleeps */
    int64_t preparation;  /* how long that takes */
    long calls, prepared, fail_at, stop_at;
    int64_t wake_at; /* a sleep across this time ends there */
    sig_atomic_t stop;
    int64_t begins[4096]; /* when work began */
} pacer_rig;

static int64_t rig_now(void *self)
{
    pacer_rig *r = self;
    r->now += r->tick;
    if (r->ngaps > 0 && r->now >= r->gaps->at) {
        r->now += r->gaps->length;
        r->gaps++;
        r->ngaps--;
    }
    return r->now;
}

static int64_t rig_spent(void *self)
{
    return ((pacer_rig *)self)->spent;
}

static void rig_sleep_until(void *self, int64_t t)
{
    pacer_rig *r = self;
    if (t <= r->now)
        return;
    r->slept += t - r->now;
    r->now = r->wake_at > r->now && r->wake_at < t ? r->wake_at : t + r->latency;
}

static bg_status rig_work(void *self, bg_error *err)
{
    pacer_rig *r = self;
    long k = r->calls % r->ndurations;
    if (r->calls < 4096)
        r->begins[r->calls] = r->now;
    r->now += r->durations[k];
    r->spent += r->durations[k] - (r->taken ? r->taken[k] : 0);
    r->calls++;
    r->stop = r->calls == r->stop_at;
    return r->calls == r->fail_at ? bg_error_set(err, BG_SINGULAR, "as planned") : BG_OK;
}

static void rig_prepare(void *self)
{
    pacer_rig *r = self;
    r->prepared++;
    r->now += r->preparation;
    r->spent += r->preparation;
}

static bg_pacer make_pacer(pacer_rig *r, long steps)
{
    return (bg_pacer){
        .clock = {rig_now, rig_spent, rig_sleep_until, r}, .period = T, .steps = steps};
}

static void in_time(void **state)
{
    (void)state;
    static const int64_t durations[] = {300000, 100000, 900000};
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.now = 123456789, .latency = 7000, .durations = durations, .ndurations = 3};
    bg_pacer pacer = make_pacer(&r, 3000);
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.steps, 3000);
    assert_int_equal(r.calls, 3000);
    assert_int_equal(s.misses + s.skipped + s.lag + s.delayed, 0);
    for (int k = 0; k < 3000; k++) /* absolute deadlines: nothing adds up */
        assert_int_equal(r.begins[k], 123456789 + (int64_t)(k + 1) * T + 7000);
    assert_int_equal(s.turnaround.n, 3000);
    assert_int_equal(s.turnaround.max, 900000);
    assert_true(fabs((double)bg_histogram_find(&s.turnaround, 0.5) / 300000 - 1) < 1.0 / 64);
    assert_true(fabs((double)bg_histogram_find(&s.turnaround, 0.3) / 100000 - 1) < 1.0 / 64);
    assert_int_equal(bg_histogram_find(&s.turnaround, 0.99), 900000);
    assert_int_equal(s.latency.max, 7000);
}

/* A step that ends at its deadline is in time; a nanosecond later it is not. */
static void deadline_is_sharp(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        static pacer_rig r;
        static bg_statistics s;
        bg_error err = {BG_OK, ""};
        const int64_t duration = T - 500 + late;
        r = (pacer_rig){.latency = 500, .durations = &duration, .ndurations = 1};
        bg_pacer pacer = make_pacer(&r, 1);
        assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
        assert_int_equal(s.misses, late);
        assert_int_equal(s.miss[0].late, late);
        assert_int_equal(s.skipped, late);
    }
}

/* Preparations fill the pause: no step waits for one that fits into it. One that does not makes the
 * next step begin late, by so much more each time, until a deadline is missed; then the model is
 * too expensive, and nobody else is to blame. */
static void preparations(void **state)
{
    (void)state;
    static const int64_t duration = 300000;
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.durations = &duration, .ndurations = 1, .preparation = 700000};
    bg_pacer pacer = make_pacer(&r, 500);
    pacer.prepare = rig_prepare;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(r.prepared, 500);
    assert_int_equal(s.preparation.n, 500);
    assert_int_equal(s.preparation.max, 700000);
    assert_int_equal(s.misses + s.skipped + s.lag, 0);
    for (int k = 0; k < 500; k++)
        assert_int_equal(r.begins[k], (int64_t)(k + 1) * T);
    r = (pacer_rig){.durations = &duration, .ndurations = 1, .preparation = 800000};
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    for (int k = 0; k < 9; k++) /* the ninth begins 0.8 T late and ends 0.1 T after its deadline */
        assert_int_equal(r.begins[k], (int64_t)(k + 1) * T + k * 100000);
    assert_int_equal(s.miss[0].step, 9);
    assert_int_equal(s.miss[0].late, 100000);
    assert_int_equal(s.causes[BG_CAUSE_LONG_STEP], s.misses);
}

/* 5 periods of delay in every 100th step: exactly these miss, under every policy. */
static void injected_delays(void **state)
{
    (void)state;
    static const int64_t duration = 200000;
    static pacer_rig r;
    static bg_statistics s;
    for (int policy = 0; policy < 2; policy++) {
        bg_error err = {BG_OK, ""};
        r = (pacer_rig){.durations = &duration, .ndurations = 1};
        bg_pacer pacer = make_pacer(&r, 1050);
        pacer.overload = policy ? BG_OVERLOAD_SLOW : BG_OVERLOAD_SKIP;
        pacer.delay = 5 * T;
        pacer.delay_every = 100;
        assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
        assert_int_equal(s.steps, 1050);
        assert_int_equal(s.delayed, 10);
        assert_int_equal(s.misses, 10);
        assert_int_equal(s.causes[BG_CAUSE_DELAYED], 10);
        for (int k = 0; k < 10; k++) {
            assert_int_equal(s.miss[k].step, 100 * (k + 1));
            assert_int_equal(s.miss[k].late, 4 * T + 200000);
            assert_int_equal(s.miss[k].cause, BG_CAUSE_DELAYED);
        }
        assert_int_equal(s.skipped, policy ? 0 : 50);
        assert_int_equal(s.lag, policy ? 10 * (4 * T + 200000) : 50 * T);
        /* what the clock shows beyond the steps is the lag */
        assert_int_equal(r.begins[1049], (int64_t)1050 * T + s.lag);
        assert_int_equal(s.turnaround.max, 5 * T + 200000);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void check_begins(const pacer_rig *r, const int64_t *durations, int n, bg_overload policy)
{
    for (int k = 1; k < n; k++) {
        int64_t end = r->begins[k - 1] + durations[k - 1], next = r->begins[k - 1] + T;
        if (policy == BG_OVERLOAD_CATCH_UP)
            assert_int_equal(r->begins[k], end > (k + 1) * T ? end : (k + 1) * T);
        else if (durations[k - 1] <= T)
            assert_int_equal(r->begins[k], next);
        else if (policy == BG_OVERLOAD_SLOW)
            assert_int_equal(r->begins[k], end);
        else
            assert_true(r->begins[k] >= end && r->begins[k] < end + T && r->begins[k] % T == 0);
    }
}

/* Steps of random length: releases stay on the grid (skip), follow at once (slow), or stay where
 * they were (catch up). */
static void random_overload(void **state)
{
    (void)state;
    enum { N = 2000 };
    static const bg_overload policies[] = {BG_OVERLOAD_SKIP, BG_OVERLOAD_SLOW,
                                           BG_OVERLOAD_CATCH_UP};
    static int64_t durations[N];
    static pacer_rig r;
    static bg_statistics s;
    uint32_t seed = 4711;
    long too_long = 0;
    for (int k = 0; k < N; k++) {
        durations[k] = (int64_t)(next_random(&seed) % (3 * T / 2));
        too_long += durations[k] > T;
    }
    for (int i = 0; i < 3; i++) {
        bg_error err = {BG_OK, ""};
        r = (pacer_rig){.durations = durations, .ndurations = N};
        bg_pacer pacer = make_pacer(&r, N);
        pacer.overload = policies[i];
        assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
        assert_int_equal(s.causes[BG_CAUSE_LONG_STEP], too_long);
        assert_int_equal(s.causes[BG_CAUSE_LONG_STEP] + s.causes[BG_CAUSE_CATCHING_UP], s.misses);
        assert_int_equal(s.causes[BG_CAUSE_CATCHING_UP] > 0, policies[i] == BG_OVERLOAD_CATCH_UP);
        check_begins(&r, durations, N, policies[i]);
        if (policies[i] == BG_OVERLOAD_SKIP)
            assert_int_equal(s.skipped, s.lag / T);
        if (policies[i] == BG_OVERLOAD_CATCH_UP)
            assert_true(s.skipped == 0 && s.lag < T && s.farthest > T);
    }
    assert_true(too_long > 500 && too_long < 900); /* a third of 2000 */
}

/* A delay of 5.2 periods with everything: one delayed step, those that wait for it, and then the
 * releases of before, as if nothing had been. */
static void catching_up(void **state)
{
    (void)state;
    static const int64_t duration = 200000;
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.durations = &duration, .ndurations = 1};
    bg_pacer pacer = make_pacer(&r, 100);
    pacer.overload = BG_OVERLOAD_CATCH_UP;
    pacer.abandon_after = 5 * T;
    pacer.delay = 5 * T;
    pacer.delay_every = 40;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.causes[BG_CAUSE_DELAYED], 2);
    /* the delayed one ends at 5.2 T, those after it at 5.4, 5.6, 5.8, 6, 6.2 T: due by 2 to 6 T */
    assert_int_equal(s.causes[BG_CAUSE_CATCHING_UP], 2 * 5);
    assert_int_equal(s.misses, 2 * 6);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(s.miss[k].step, 40 + k);
        assert_int_equal(s.miss[k].late, 4 * T + 200000 - k * 800000);
        assert_int_equal(s.miss[k].cause, k == 0 ? BG_CAUSE_DELAYED : BG_CAUSE_CATCHING_UP);
    }
    assert_int_equal(s.skipped + s.abandoned + s.lag, 0);
    assert_int_equal(s.farthest, 4 * T + 200000);
    assert_int_equal(s.latency.max, 0); /* no step waited for the processor */
    assert_int_equal(r.begins[99], 100 * T);
    /* at the end of the run it was still behind */
    r = (pacer_rig){.durations = &duration, .ndurations = 1};
    pacer.steps = 42;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.lag, 4 * T + 200000 - 2 * 800000);
}

/* Too far behind, catching up is given up: to the nanosecond. */
static void abandoned(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        const int64_t durations[] = {100000, 4 * T + late, 100000, 100000,
                                     100000, 100000,       100000, 100000};
        static pacer_rig r;
        static bg_statistics s;
        bg_error err = {BG_OK, ""};
        r = (pacer_rig){.durations = durations, .ndurations = 8};
        bg_pacer pacer = make_pacer(&r, 8);
        pacer.overload = BG_OVERLOAD_CATCH_UP;
        pacer.abandon_after = 3 * T;
        assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
        assert_int_equal(s.abandoned, late);
        assert_int_equal(s.causes[BG_CAUSE_LONG_STEP], 1);
        assert_int_equal(s.causes[BG_CAUSE_CATCHING_UP], late ? 0 : 3);
        assert_int_equal(s.skipped, late ? 4 : 0);
        assert_int_equal(s.lag, late ? 4 * T : 0);
        assert_int_equal(r.begins[7], late ? 12 * T : 8 * T);
    }
}

/* Reading the clock before a release: steps begin on it although sleeps end late. */
static void spinning(void **state)
{
    (void)state;
    static const int64_t duration = 300000;
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.latency = 70000, .tick = 100, .durations = &duration, .ndurations = 1};
    bg_pacer pacer = make_pacer(&r, 500);
    pacer.spin = 100000;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    for (int k = 0; k < 500; k++)
        assert_int_equal(r.begins[k], 100 + (int64_t)(k + 1) * T);
    assert_int_equal(s.latency.max, 0);
    assert_int_equal(s.spin.watched, 500 * (100000 - 70000 - 100));
    assert_int_equal(s.spin.gaps + s.spin.late + s.spin.overslept + s.misses, 0);
    /* not enough: the sleeps end after the release */
    r = (pacer_rig){.latency = 170000, .tick = 100, .durations = &duration, .ndurations = 1};
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.spin.overslept, 500);
    assert_int_equal(s.spin.watched, 0);
    assert_int_equal(s.latency.max, 70100);
    /* a signal ends a sleep: the step does not begin before its time for that */
    r = (pacer_rig){.tick = 100, .durations = &duration, .ndurations = 1, .wake_at = 3 * T + T / 2};
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.latency.max, 0);
    assert_int_equal(s.spin.watched, 500 * (100000 - 100));
}

/* However long it should spin, it sleeps for a tenth of each period if the step leaves so much. */
static void rests(void **state)
{
    (void)state;
    static const int64_t durations[] = {100000, 400000, 850000, 950000};
    static const int64_t sleeps[] = {100000, 100000, 100000, 50000};
    for (int k = 0; k < 4; k++) {
        static pacer_rig r;
        static bg_statistics s;
        bg_error err = {BG_OK, ""};
        r = (pacer_rig){.durations = &durations[k], .ndurations = 1, .tick = 10};
        bg_pacer pacer = make_pacer(&r, 101);
        pacer.spin = T / 10 * 9;
        assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
        int64_t slept = r.slept - T / 10; /* the first time there was no step before */
        assert_in_range(slept, 100 * (sleeps[k] - 100), 100 * (sleeps[k] + 100));
        assert_int_equal(s.misses, 0);
        assert_true(s.latency.max <= 10);
    }
}

/* What takes the processor away while the clock is read is seen. */
static void interruptions(void **state)
{
    (void)state;
    static const int64_t duration = 300000;
    static const gap gaps[] = {
        {2 * T - 90000, BG_GAP - 101}, /* 1 ns too short */
        {3 * T - 90000, BG_GAP - 100}, /* just long enough */
        {4 * T - 90000, 70000},        /* over before the release */
        {5 * T - 50000, 60000},        /* not over: late by 10 us and a bit */
        {6 * T - 50000, 3 * T / 2},    /* nor this one: no deadline can be kept */
    };
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.tick = 100, .durations = &duration, .ndurations = 1, .gaps = gaps, .ngaps = 5};
    bg_pacer pacer = make_pacer(&r, 20);
    pacer.spin = 100000;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(r.ngaps, 0);
    assert_int_equal(s.spin.gaps, 4);
    assert_int_equal(s.spin.longest, 3 * T / 2 + 100);
    assert_int_equal(s.spin.total, BG_GAP + 70100 + 60100 + 3 * T / 2 + 100);
    assert_int_equal(s.spin.late, 2);
    assert_int_equal(s.spin.overslept, 0);
    assert_int_equal(s.misses, 1);
    assert_int_equal(s.causes[BG_CAUSE_LATE_RELEASE], 1);
    assert_int_equal(s.miss[0].step, 6);
}

/* Whose fault a miss is. */
static void causes(void **state)
{
    (void)state;
    static const struct {
        bg_step_times times;
        int cause; /* -1: in time */
    } cases[] = {
        {{0, 0, 0, 0, T, T, 0, 0, false}, -1},
        {{0, 0, 0, 0, T + 1, T + 1, 0, 0, false}, BG_CAUSE_LONG_STEP},
        {{0, 0, 0, 0, T + 1, T, 0, 0, false}, BG_CAUSE_INTERRUPTED},
        {{0, 0, 0, 1, T + 1, T, 0, 0, false}, BG_CAUSE_LATE_RELEASE},
        {{0, 0, 0, 1, T + 1, T, 0, 0, true}, BG_CAUSE_DELAYED},
        {{0, 0, 0, 0, 5 * T, 2 * T, 0, 0, true}, BG_CAUSE_DELAYED},
        {{0, 0, 0, 5 * T, 5 * T + 9, 9, 0, 0, false}, BG_CAUSE_LATE_RELEASE},
        {{0, 0, 0, 5 * T, 7 * T, T + 1, 0, 0, false}, BG_CAUSE_LONG_STEP},
        {{0, 0, 0, T, 3 * T, 9, 0, 0, false}, BG_CAUSE_INTERRUPTED},
        {{0, 0, 0, 2 * T, 3 * T, 9, 0, 0, false}, BG_CAUSE_LATE_RELEASE},
        {{0, 3 * T, 3 * T, 3 * T, 4 * T, T, 0, 0, false}, BG_CAUSE_CATCHING_UP},
        {{0, 3 * T, 3 * T, 7 * T, 8 * T, T, 0, 0, false}, BG_CAUSE_LATE_RELEASE},
        {{0, 3 * T, 3 * T, 3 * T, 8 * T, T, 0, 0, false}, BG_CAUSE_INTERRUPTED},
        {{0, 3 * T, 3 * T, 3 * T, 5 * T, 2 * T, 0, 0, false}, BG_CAUSE_LONG_STEP},
        {{0, T / 2, T / 2, T / 2, T, T / 2, 0, 0, false}, -1},
        {{0, 3 * T, 3 * T, 3 * T, 4 * T, T / 2, T / 2 + 1, 0, false}, BG_CAUSE_LONG_STEP},
        {{0, 3 * T, 0, 3 * T, 4 * T, T / 2, T / 4, 3 * T, false}, BG_CAUSE_INTERRUPTED},
        {{0, 3 * T, 2 * T, 3 * T, 4 * T, T, 0, T, false}, BG_CAUSE_CATCHING_UP},
        {{0, 3 * T, 0, 3 * T, 4 * T, T / 2, T / 4, T, false}, BG_CAUSE_LATE_RELEASE},
        {{0, T / 2, 0, T / 2 + 9, T + 9, T / 4, T / 2, 0, false},
         BG_CAUSE_INTERRUPTED}, /* no step was late before */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        static bg_statistics s;
        s = (bg_statistics){.period = T};
        assert_int_equal(bg_statistics_add(&s, &cases[k].times), cases[k].cause >= 0);
        assert_int_equal(s.misses, cases[k].cause >= 0);
        for (int i = 0; i < BG_CAUSES; i++)
            assert_int_equal(s.causes[i], i == cases[k].cause);
        if (cases[k].cause >= 0)
            assert_int_equal(s.miss[0].cause, cases[k].cause);
    }
}

/* Processor time of steps, and steps that lost the processor, on the way through the pacer. */
static void processor_time(void **state)
{
    (void)state;
    static const int64_t durations[] = {200000, 200000, 200000, 2 * T, 3 * T, 200000};
    static const int64_t taken[] = {0, 50000, 0, 0, 3 * T - 210000, 0};
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.durations = durations, .taken = taken, .ndurations = 6};
    bg_pacer pacer = make_pacer(&r, 600);
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.causes[BG_CAUSE_LONG_STEP], 100);
    assert_int_equal(s.causes[BG_CAUSE_INTERRUPTED], 100);
    assert_int_equal(s.misses, 200);
    assert_int_equal(s.turnaround.max, 3 * T);
    assert_int_equal(s.work.max, 2 * T);
    assert_true(s.work.sum == 100 * (4 * 200000.0 - 50000 + 2 * T + 210000));
    /* a clock that does not know it: all time is work */
    r = (pacer_rig){.durations = durations, .taken = taken, .ndurations = 6};
    pacer.clock.work = NULL;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.causes[BG_CAUSE_LONG_STEP], 200);
    assert_int_equal(s.work.max, 3 * T);
}

static void stop_after(void **state)
{
    (void)state;
    static const int64_t durations[] = {100, 2 * T, 100};
    static pacer_rig r;
    static bg_statistics s;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.durations = durations, .ndurations = 3};
    bg_pacer pacer = make_pacer(&r, 0);
    pacer.overload = BG_OVERLOAD_STOP;
    pacer.stop_after = 4;
    assert_int_equal(bg_pacer_run(&pacer, rig_work, &r, &s, &err), BG_STOPPED);
    assert_true(s.overloaded);
    assert_int_equal(s.misses, 4);
    assert_int_equal(s.steps, 11); /* the second of the fourth three */
    /* a stop on request is no overload, and comes before the next step */
    r = (pacer_rig){.durations = durations, .ndurations = 1, .stop_at = 17};
    pacer.stop = &r.stop;
    assert_int_equal(bg_pacer_run(&pacer, rig_work, &r, &s, &err), BG_STOPPED);
    assert_false(s.overloaded);
    assert_int_equal(s.steps, 17);
    /* nor is a failure, whose step does not count */
    r = (pacer_rig){.durations = durations, .ndurations = 1, .fail_at = 5};
    assert_int_equal(bg_pacer_run(&pacer, rig_work, &r, &s, &err), BG_SINGULAR);
    assert_string_equal(err.text, "as planned");
    assert_int_equal(s.steps, 4);
}

/* More misses than are kept are still counted. */
static void many_misses(void **state)
{
    (void)state;
    static const int64_t duration = T + 1;
    static pacer_rig r;
    static bg_statistics s;
    static bg_live_view view;
    bg_error err = {BG_OK, ""};
    r = (pacer_rig){.durations = &duration, .ndurations = 1};
    bg_pacer pacer = make_pacer(&r, BG_MISSES_KEPT + 234);
    pacer.view = &view;
    assert_ok(bg_pacer_run(&pacer, rig_work, &r, &s, &err));
    assert_int_equal(s.misses, BG_MISSES_KEPT + 234);
    assert_int_equal(s.miss[BG_MISSES_KEPT - 1].step, BG_MISSES_KEPT);
    assert_int_equal(s.lag, (int64_t)s.misses * T);
    assert_int_equal(atomic_load(&view.steps), s.steps);
    assert_int_equal(atomic_load(&view.misses), s.misses);
    assert_int_equal(atomic_load(&view.longest), duration);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Percentiles against sorted times, from nanoseconds to hours. */
static void percentiles(void **state)
{
    (void)state;
    enum { N = 20000 };
    static int64_t times[N];
    static bg_histogram h;
    uint32_t seed = 1;
    for (int k = 0; k < N; k++) {
        times[k] = (int64_t)exp2(44.0 * next_random(&seed) / (1 << 24));
        bg_histogram_add(&h, times[k]);
    }
    qsort(times, N, sizeof *times, compare_times);
    assert_int_equal(h.max, times[N - 1]);
    for (int p = 1; p < 1000; p++) {
        int64_t found = bg_histogram_find(&h, p / 1000.0), exact = times[p * N / 1000 - 1];
        assert_true(found >= exact && (double)(found - exact) <= (double)exact / 64);
    }
    long all = 0;
    for (int k = 0; k < 46; k++)
        all += bg_histogram_count(&h, k == 0 ? -1 : (int64_t)1 << k, (int64_t)1 << (k + 1));
    assert_int_equal(all, N);
}

static void datagram_layout(void **state)
{
    (void)state;
    static const unsigned char expected[] = {
        'B',  'G',  'R',  'T',  1,    0,    2,    0,
        0x15, 0xcd, 0x5b, 0x07, 0,    0,    0,    0,     /* 123456789 */
        0,    0,    0,    0,    0,    0,    0xf8, 0x3f,  /* 1.5 */
        0,    0,    0,    0,    0,    0,    0x10, 0xc0,  /* -4 */
        0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}; /* 0.1 */
    const double values[2] = {-4, 0.1};
    unsigned char bytes[64] = {0};
    bg_datagram_write(bytes, 123456789, 1.5, values, 2);
    assert_int_equal(BG_DATAGRAM_SIZE(2), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
    uint64_t sequence = 0;
    double t = 0, read[2] = {0, 0};
    assert_true(bg_datagram_read(bytes, 40, 2, &sequence, &t, read));
    assert_int_equal(sequence, 123456789);
    assert_true(t == 1.5 && read[0] == -4 && read[1] == 0.1);
    /* anything else is refused, and leaves what was there */
    for (int k = 0; k < 8; k++) {
        bytes[k] ^= 0x40;
        assert_false(bg_datagram_read(bytes, 40, 2, &sequence, &t, read));
        bytes[k] ^= 0x40;
    }
    for (size_t size = 0; size < 64; size++)
        assert_int_equal(bg_datagram_read(bytes, size, 2, &sequence, &t, read), size == 40);
    assert_false(bg_datagram_read(bytes, 40, 1, &sequence, &t, read));
    const double bad[][2] = {{NAN, 1}, {1, INFINITY}};
    for (int k = 0; k < 2; k++) {
        bg_datagram_write(bytes, 2, 1, bad[k], 2);
        assert_false(bg_datagram_read(bytes, 40, 2, &sequence, &t, read));
    }
    bg_datagram_write(bytes, 2, NAN, values, 2);
    assert_false(bg_datagram_read(bytes, 40, 2, &sequence, &t, read));
    assert_true(sequence == 123456789 && read[0] == -4);
}

static void over_loopback(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    bg_udp *in, *out, *wrong;
    char to[32];
    assert_ok(bg_udp_create("127.0.0.1:0", 2, 10, NULL, 0, &in, &err));
    snprintf(to, sizeof to, ":%d", bg_udp_get_port(in));
    assert_ok(bg_udp_create(NULL, 0, 10, to, 2, &out, &err));
    assert_ok(bg_udp_create(NULL, 0, 10, to, 3, &wrong, &err));
    double values[3] = {1, 2, 3}, got[2] = {0, 0};
    assert_false(bg_udp_receive(in, got));
    bg_udp_send(out, 5, 0.1, values);
    values[0] = 10;
    bg_udp_send(out, 7, 0.1, values);
    bg_udp_send(wrong, 8, 0.1, values); /* one value too many */
    values[0] = 20;
    bg_udp_send(out, 6, 0.1, values); /* overtaken on the way */
    bg_udp_send(out, 7, 0.1, values); /* sent twice */
    assert_true(bg_udp_receive(in, got));
    assert_true(got[0] == 10 && got[1] == 2);
    bg_udp_counts c = bg_udp_get_counts(in);
    assert_int_equal(c.accepted, 2);
    assert_int_equal(c.stale, 2);
    assert_int_equal(c.malformed, 1);
    assert_false(bg_udp_receive(in, got));
    /* not more than 64 at once: a flood does not hold up a step */
    for (int k = 0; k < 100; k++)
        bg_udp_send(out, (uint64_t)(8 + k), 0.2, values);
    assert_true(bg_udp_receive(in, got));
    assert_int_equal(bg_udp_get_counts(in).accepted, 2 + 64);
    assert_true(bg_udp_receive(in, got));
    assert_int_equal(bg_udp_get_counts(in).accepted, 2 + 100);
    c = bg_udp_get_counts(out);
    assert_int_equal(c.sent, 104);
    assert_int_equal(c.unsent, 0);
    /* the port is taken */
    bg_udp *second;
    assert_int_equal(bg_udp_create(to, 1, 10, NULL, 0, &second, &err), BG_IO);
    assert_non_null(strstr(err.text, "another port"));
    bg_udp_destroy(in);
    bg_udp_destroy(out);
    bg_udp_destroy(wrong);
}

/* A sender that counts anew is heard again once the old one has been silent, not before. */
static void sender_restarts(void **state)
{
    (void)state;
    enum { SILENCE = 10 };
    bg_error err = {BG_OK, ""};
    bg_udp *in, *out;
    char to[32];
    assert_ok(bg_udp_create("127.0.0.1:0", 1, SILENCE, NULL, 0, &in, &err));
    snprintf(to, sizeof to, ":%d", bg_udp_get_port(in));
    assert_ok(bg_udp_create(NULL, 0, 0, to, 1, &out, &err));
    double old = 1, new = 2, got = 0;
    for (uint64_t k = 1; k <= 50; k++) { /* two senders: the first stays the one */
        bg_udp_send(out, 1000 + k, 0, &old);
        bg_udp_send(out, k, 0, &new);
        assert_true(bg_udp_receive(in, &got));
        assert_true(got == old);
    }
    bg_udp_counts c = bg_udp_get_counts(in);
    assert_true(c.accepted == 50 && c.stale == 50 && c.restarts == 0);
    for (uint64_t k = 1; k < SILENCE; k++) { /* the first has ended */
        bg_udp_send(out, k, 0, &new);
        assert_false(bg_udp_receive(in, &got));
    }
    bg_udp_send(out, 100, 0, &new);
    assert_true(bg_udp_receive(in, &got));
    assert_true(got == new);
    bg_udp_send(out, 99, 0, &old); /* overtaken again */
    bg_udp_send(out, 100, 0, &old);
    assert_false(bg_udp_receive(in, &got));
    bg_udp_send(out, 101, 0, &old);
    assert_true(bg_udp_receive(in, &got));
    c = bg_udp_get_counts(in);
    assert_int_equal(c.restarts, 1);
    assert_int_equal(c.accepted, 52);
    assert_int_equal(c.stale, 50 + SILENCE - 1 + 2);
    bg_udp_destroy(in);
    bg_udp_destroy(out);
}

static void bad_addresses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   ":",   "host",  "127.0.0.1:", "127.0.0.1:70000",
                                      "-1", "12x", "::1:50"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        bg_error err = {BG_OK, ""};
        bg_udp *udp;
        assert_int_equal(bg_udp_create(bad[k], 1, 10, NULL, 0, &udp, &err), BG_BAD_INPUT);
        assert_non_null(strstr(err.text, "--listen"));
        assert_null(udp);
    }
    bg_error err = {BG_OK, ""};
    bg_udp *udp;
    assert_int_equal(bg_udp_create(NULL, 1, 10, "0", 1, &udp, &err), BG_BAD_INPUT);
    assert_int_equal(bg_udp_create(NULL, 1, 10, "5000", BG_DATAGRAM_VALUES + 1, &udp, &err),
                     BG_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_time),         cmocka_unit_test(deadline_is_sharp),
        cmocka_unit_test(preparations),    cmocka_unit_test(injected_delays),
        cmocka_unit_test(random_overload), cmocka_unit_test(catching_up),
        cmocka_unit_test(abandoned),       cmocka_unit_test(spinning),
        cmocka_unit_test(rests),           cmocka_unit_test(interruptions),
        cmocka_unit_test(causes),          cmocka_unit_test(processor_time),
        cmocka_unit_test(stop_after),      cmocka_unit_test(many_misses),
        cmocka_unit_test(percentiles),     cmocka_unit_test(datagram_layout),
        cmocka_unit_test(over_loopback),   cmocka_unit_test(sender_restarts),
        cmocka_unit_test(bad_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

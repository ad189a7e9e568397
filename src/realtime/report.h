/* A real-time run in numbers. */
#ifndef BG_REALTIME_REPORT_H
#define BG_REALTIME_REPORT_H

#include "bogie/realtime.h"
#include "realtime/pacer.h"
#include "realtime/privilege.h"
#include "realtime/udp.h"

typedef struct bg_realtime_report {
    const char *model, *formulation, *integrator; /* formulation NULL: not from a model file */
    double rate;                                  /* Hz */
    const char *overload;                         /* as the user wrote it */
    int64_t spin;                                 /* ns */
    bg_status status;
    const char *message;
    double t_start, t_end; /* s, simulated; t_end: reached */
    double wall_seconds;
    double stolen_seconds; /* see bg_host_find_stolen */
    bg_statistics statistics;
    bg_udp_counts datagrams;
    bg_privilege privilege;
    bg_step_plan plan;
    bool counted;     /* allocations could be counted */
    long allocations; /* in all steps */
    bg_counters counters;
    double max_g, max_gv; /* largest residuals at ends of steps */
    int has_drift;
    bg_drift drift;
    long events;
    int nswitches;         /* switching functions */
    const bg_realtime *rt; /* whose events they are; NULL: not to be told apart */
    bg_warnings warnings;  /* of the model and its start */
} bg_realtime_report;

/* The report as a JSON text (docs/realtime.md), to be released with free(). NULL: out of memory. */
char *bg_realtime_summary_create(const bg_realtime_report *report);

#endif

/* The readable report of `bogie realtime`, and its view while it runs. */
#ifndef BG_CLI_REALTIME_REPORT_H
#define BG_CLI_REALTIME_REPORT_H

#include "realtime/report.h"

#include <pthread.h>

void bg_realtime_report_print(const bg_realtime_report *report);

/* A line on stderr twice a second, from a thread of its own: steps never wait for the terminal. */
typedef struct bg_realtime_view {
    bg_live_view live;
    atomic_bool ended;
    bool shown;
    double rate, t_start;
    pthread_t thread;
} bg_realtime_view;

/* Signals stay with the calling thread. Without a thread there is no view, which is no failure. */
void bg_realtime_view_begin(bg_realtime_view *view, double rate, double t_start);
/* Ends the thread and erases the line. */
void bg_realtime_view_end(bg_realtime_view *view);

#endif

#include "cli/cli.h"

#include <signal.h>
#include <time.h>

/* A signal handler reaches nothing but static storage: the mutable objects of the program. */
static volatile sig_atomic_t stop_requested;
static struct timespec first; /* when it was */

static const double same = 0.5; /* s: timeout(1) and shells send one request to a process twice */

/* A second request, of somebody who is tired of waiting, kills. */
static void request_stop(int signal_number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stop_requested) {
        first = now;
        stop_requested = 1;
        return;
    }
    double since = (double)(now.tv_sec - first.tv_sec) +
                   1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    if (since > same) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

/* SA_RESTART spares reads and writes the interruption; what waits for others (poll, nanosleep) is
 * woken all the same. */
void bg_stop_listen(void)
{
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT); /* one at a time */
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

const volatile sig_atomic_t *bg_stop_get(void)
{
    return &stop_requested;
}

#include "cli/cli.h"

#include <signal.h>

/* A signal handler reaches nothing but static storage: the one mutable object of the program. */
static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

/* SA_RESETHAND lets a second signal kill. SA_RESTART spares reads and writes the interruption; what
 * waits for others (poll, nanosleep) is woken all the same. */
void bg_stop_listen(void)
{
    struct sigaction action = {.sa_handler = request_stop,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

const volatile sig_atomic_t *bg_stop_get(void)
{
    return &stop_requested;
}

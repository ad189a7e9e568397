#include "realtime/privilege.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Touches stack that steps may use, so that no page of it is missing later. */
static void touch_stack(void)
{
    volatile char page[128 * 1024];
    for (size_t i = 0; i < sizeof page; i += 1024)
        page[i] = 1;
}

void bg_privilege_take(int priority, bg_privilege *p)
{
    *p = (bg_privilege){.wanted = priority > 0, .priority = priority};
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* sleeps end on time without privileges, too */
    if (priority <= 0)
        return;
    const struct sched_param param = {.sched_priority = priority};
    p->locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    int lock_error = p->locked ? 0 : errno;
    p->fifo = sched_setscheduler(0, SCHED_FIFO, &param) == 0;
    int fifo_error = p->fifo ? 0 : errno;
    touch_stack();
    if (p->locked && p->fifo)
        return;
    snprintf(p->note, sizeof p->note,
             "%s%s%s%s%s%s; deadlines depend on what else runs here (needs root, or rtprio and "
             "memlock in limits.conf)",
             p->fifo ? "" : "no SCHED_FIFO (", p->fifo ? "" : strerror(fifo_error),
             p->fifo ? "" : ")", p->locked || p->fifo ? "" : " and ",
             p->locked ? "" : "memory not locked: ", p->locked ? "" : strerror(lock_error));
}

void bg_privilege_return(const bg_privilege *p)
{
    const struct sched_param param = {.sched_priority = 0};
    if (p->fifo)
        sched_setscheduler(0, SCHED_OTHER, &param);
    if (p->locked)
        munlockall();
}

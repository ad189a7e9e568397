/* What a process may ask of the system so that its steps begin on time. */
#ifndef BG_PRIVILEGE_H
#define BG_PRIVILEGE_H

#include <stdbool.h>

typedef struct bg_privilege {
    bool wanted, fifo, locked; /* asked for; SCHED_FIFO was granted; memory is locked */
    int priority;
    char note[256]; /* what was refused, why and what helps; empty: nothing */
} bg_privilege;

/* Asks for SCHED_FIFO with this priority for the calling thread and for memory that is never paged
 * out; 0: neither. A refusal is noted, no failure. */
void bg_privilege_take(int priority, bg_privilege *privilege);
/* Gives both back. */
void bg_privilege_return(const bg_privilege *privilege);

#endif

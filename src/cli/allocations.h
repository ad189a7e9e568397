/* How often this thread has asked for memory. */
#ifndef BG_CLI_ALLOCATIONS_H
#define BG_CLI_ALLOCATIONS_H

/* By malloc and its relatives, in the program and in every library it uses, since the thread began.
 * -1: cannot be counted here (a sanitizer, or a C library other than glibc, has its own malloc). */
long bg_allocations_get(void);

#endif

/* Allocation that reports failure instead of ending the process. */
#ifndef BG_MEMORY_H
#define BG_MEMORY_H

#include <stddef.h>

/* count zero-filled elements; never returns NULL for count 0. NULL: out of memory. */
void *bg_calloc(size_t count, size_t size);
#define BG_NEW(type) ((type *)bg_calloc(1, sizeof(type)))
#define BG_NEW_ARRAY(type, n) ((type *)bg_calloc((size_t)(n), sizeof(type)))

#endif

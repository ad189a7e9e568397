/* Libraries that are loaded when they are first needed.
 *
 * HDF5 brings some forty libraries with it and OpenBLAS sets itself up while it is loaded; together
 * they take longer than many a run, which needs neither. What calls one of them asks for it first:
 * the system's loader looks for it as for any other library, and its functions are written into a
 * table. That happens once in a process, and nothing is ever unloaded. */
#ifndef BG_LIBRARY_H
#define BG_LIBRARY_H

#include "bogie/status.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct bg_library {
    const char *purpose;        /* "results in HDF5": what cannot be done without it */
    const char *name;           /* by which the loader finds it, "libhdf5_serial.so.103" ... */
    const char *path;           /* ... else where it was when Bogie was built */
    const char *const *symbols; /* [count] what is needed of it */
    int count;
    void *table; /* [count] pointers to them, of any types */
    bool loaded;
    pthread_mutex_t mutex;
} bg_library;

/* Fills the table, unless it is filled. From any thread; allocates, so not for steps. */
bg_status bg_library_load(bg_library *library, bg_error *err);

#endif

/* Settles how OpenBLAS works before it starts.
 *
 * OpenBLAS reads its environment while it is loaded, before main. Bogie's dense matrices are small,
 * so that a second thread only costs time and makes results depend on the machine; and releases
 * that do not know a new processor fall back to their slowest kernels. Hence a program sets what
 * the user left open and starts itself again. The second pass finds nothing left to set. */
#ifndef BG_BLAS_H
#define BG_BLAS_H

#include <stdlib.h>
#include <unistd.h>

/* The kernels this processor can run at best, or NULL to leave the choice to OpenBLAS. */
static inline const char *bg_blas_find_core(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2"))
        return "Haswell";
#endif
    return NULL;
}

/* To be called first in main. Returns when there was nothing to set, or when starting again was
 * impossible, which costs speed alone. */
static inline void bg_blas_settle(char **argv)
{
    int changed = 0;
    if (!getenv("OPENBLAS_NUM_THREADS"))
        changed |= setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0;
    const char *core = bg_blas_find_core();
    if (core && !getenv("OPENBLAS_CORETYPE"))
        changed |= setenv("OPENBLAS_CORETYPE", core, 1) == 0;
    if (changed)
        execv("/proc/self/exe", argv);
}

#endif

/* How OpenBLAS works, settled before it is loaded.
 *
 * OpenBLAS reads its environment while it is loaded, by the first large dense matrix. Bogie's dense
 * matrices are small, so that a second thread only costs time and makes results depend on the
 * machine; and releases that do not know a new processor fall back to their slowest kernels. Hence
 * a program sets what the user left open. */
#include "bogie/version.h"

#include <stdlib.h>

/* The kernels this processor can run at best, or NULL to leave the choice to OpenBLAS. */
static const char *find_core(void)
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

void bg_blas_settle(void)
{
    const char *core = find_core();
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (core)
        setenv("OPENBLAS_CORETYPE", core, 0);
}

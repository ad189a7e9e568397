#include "linalg/lapack.h"

#include "base/library.h"

static const char *const symbols[] = {
    "dgetrf_", "dgetrs_", "dgeev_",
    "dgesvd_", "dsyev_",  "openblas_get_config"}; /* in the order of bg_lapack */
static bg_lapack functions;
static bg_library library = {.purpose = "large dense matrices",
                             .name = BOGIE_LAPACK_NAME,
                             .path = BOGIE_LAPACK_PATH,
                             .symbols = symbols,
                             .count = sizeof symbols / sizeof *symbols,
                             .table = &functions,
                             .mutex = PTHREAD_MUTEX_INITIALIZER};

bg_status bg_lapack_load(const bg_lapack **lapack, bg_error *err)
{
    _Static_assert(sizeof functions == sizeof symbols, "one name for each function");
    *lapack = &functions;
    return bg_library_load(&library, err);
}

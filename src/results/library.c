#include "results/library.h"

#include "base/library.h"

#define TEXT(name) #name
#define EXPANDED(name) TEXT(name) /* some functions have another name in another version */

static const char *const symbols[] = {
#define SYMBOL(name) EXPANDED(name),
    BG_HDF5_FUNCTIONS(SYMBOL)
#undef SYMBOL
#define SYMBOL(field, name) TEXT(name),
        BG_HDF5_IDS(SYMBOL)
#undef SYMBOL
};
static bg_hdf5 functions;
static bg_library library = {.purpose = "results in HDF5",
                             .name = BOGIE_HDF5_NAME,
                             .path = BOGIE_HDF5_PATH,
                             .symbols = symbols,
                             .count = sizeof symbols / sizeof *symbols,
                             .table = &functions,
                             .mutex = PTHREAD_MUTEX_INITIALIZER};

bg_status bg_hdf5_load(bg_error *err)
{
    _Static_assert(sizeof functions == sizeof symbols, "one name for each function");
    bg_status st = bg_library_load(&library, err);
    if (st == BG_OK && functions.H5open() < 0) /* gives the types their numbers */
        st = bg_error_set(err, BG_MISSING, "the library for results in HDF5 does not start");
    return st;
}

const bg_hdf5 *bg_hdf5_get(void)
{
    return &functions;
}

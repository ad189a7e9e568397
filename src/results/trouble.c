#include "results/trouble.h"

#include <stdio.h>

static herr_t record_cause(unsigned n, const H5E_error2_t *error, void *data)
{
    bg_hdf5_trouble *seen = data;
    if (n == 0 && error->desc)
        snprintf(seen->text, sizeof seen->text, "HDF5 says: %s", error->desc);
    return 0;
}

static herr_t record(hid_t stack, void *data)
{
    bg_hdf5_trouble *seen = data;
    return seen->text[0] ? 0 : h5->H5Ewalk2(stack, H5E_WALK_UPWARD, record_cause, data);
}

void bg_hdf5_begin(bg_hdf5_trouble *seen)
{
    seen->text[0] = '\0';
    h5->H5Eget_auto2(H5E_DEFAULT, &seen->handler, &seen->data);
    h5->H5Eset_auto2(H5E_DEFAULT, record, seen);
}

void bg_hdf5_end(const bg_hdf5_trouble *seen)
{
    h5->H5Eset_auto2(H5E_DEFAULT, seen->handler, seen->data);
}

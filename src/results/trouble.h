/* Why HDF5 refused something. Its automatic error printing is replaced, for the time of an
 * operation, by a recorder of the innermost cause. */
#ifndef BG_TROUBLE_H
#define BG_TROUBLE_H

#include "results/library.h"

typedef struct bg_hdf5_trouble {
    char text[256]; /* empty: none so far */
    H5E_auto2_t handler;
    void *data;
} bg_hdf5_trouble;

void bg_hdf5_begin(bg_hdf5_trouble *seen);
void bg_hdf5_end(const bg_hdf5_trouble *seen);

#endif

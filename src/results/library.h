/* The functions of HDF5 in use, of a library that is loaded by the first result file:
 * h5->H5Fopen(...) after bg_hdf5_load. */
#ifndef BG_RESULTS_LIBRARY_H
#define BG_RESULTS_LIBRARY_H

#include "bogie/status.h"

#include <hdf5.h>

/* Constants of HDF5 call functions that start it; bg_hdf5_load has done that. */
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

#define BG_HDF5_FUNCTIONS(X)        \
    X(H5free_memory)                \
    X(H5open)                       \
    X(H5get_libversion)             \
    X(H5Aclose)                     \
    X(H5Acreate2)                   \
    X(H5Aexists)                    \
    X(H5Aget_space)                 \
    X(H5Aget_type)                  \
    X(H5Aopen)                      \
    X(H5Aread)                      \
    X(H5Awrite)                     \
    X(H5Dclose)                     \
    X(H5Dcreate2)                   \
    X(H5Dget_create_plist)          \
    X(H5Dget_space)                 \
    X(H5Dget_storage_size)          \
    X(H5Dget_type)                  \
    X(H5Dopen2)                     \
    X(H5Dread)                      \
    X(H5Dset_extent)                \
    X(H5Dwrite)                     \
    X(H5Eget_auto2)                 \
    X(H5Eset_auto2)                 \
    X(H5Ewalk2)                     \
    X(H5Fclose)                     \
    X(H5Fcreate)                    \
    X(H5Fflush)                     \
    X(H5Fget_file_image)            \
    X(H5Fopen)                      \
    X(H5Gclose)                     \
    X(H5Gcreate2)                   \
    X(H5Gopen2)                     \
    X(H5Lexists)                    \
    X(H5Lget_info)                  \
    X(H5Pclose)                     \
    X(H5Pcreate)                    \
    X(H5Pget_external_count)        \
    X(H5Pget_layout)                \
    X(H5Pget_nfilters)              \
    X(H5Pset_chunk)                 \
    X(H5Pset_fapl_core)             \
    X(H5Pset_fclose_degree)         \
    X(H5Pset_file_image)            \
    X(H5Pset_fill_time)             \
    X(H5Pset_obj_track_times)       \
    X(H5Sclose)                     \
    X(H5Screate)                    \
    X(H5Screate_simple)             \
    X(H5Sget_simple_extent_dims)    \
    X(H5Sget_simple_extent_ndims)   \
    X(H5Sget_simple_extent_npoints) \
    X(H5Sselect_hyperslab)          \
    X(H5Tclose)                     \
    X(H5Tcopy)                      \
    X(H5Tget_class)                 \
    X(H5Tget_size)                  \
    X(H5Tis_variable_str)           \
    X(H5Tset_cset)                  \
    X(H5Tset_size)

/* Types and classes, which HDF5 has as variables: its macros would ask for the library at once. */
#define BG_HDF5_IDS(X)                               \
    X(text, H5T_C_S1_g)                              \
    X(int32, H5T_STD_I32LE_g)                        \
    X(float64, H5T_IEEE_F64LE_g)                     \
    X(native_int, H5T_NATIVE_INT_g)                  \
    X(native_double, H5T_NATIVE_DOUBLE_g)            \
    X(dataset_creation, H5P_CLS_DATASET_CREATE_ID_g) \
    X(file_access, H5P_CLS_FILE_ACCESS_ID_g)

typedef struct bg_hdf5 {
#define BG_HDF5_FIELD(name) __typeof__(name) *name;
    BG_HDF5_FUNCTIONS(BG_HDF5_FIELD)
#undef BG_HDF5_FIELD
#define BG_HDF5_FIELD(field, name) const hid_t *field;
    BG_HDF5_IDS(BG_HDF5_FIELD)
#undef BG_HDF5_FIELD
} bg_hdf5;

bg_status bg_hdf5_load(bg_error *err);
/* What was loaded. */
const bg_hdf5 *bg_hdf5_get(void);
#define h5 bg_hdf5_get()

#endif

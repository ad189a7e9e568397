/* Groups, datasets and attributes of a result file (docs/results.md), made in memory: nothing
 * reaches a disk here. */
#include "results/hdf5_layout.h"

#include "base/memory.h"
#include "bogie/version.h"
#include "system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 1 << 16,
    CHUNK_ROWS = 256,
    MAX_NAMES = 4000 /* an attribute holds 64 KiB, a name takes 16 bytes of it */
};

hsize_t bg_hdf5_calc_chunk_rows(const bg_field *field)
{
    int rows = CHUNK_BYTES / (field->width * (int)sizeof(double));
    return rows > CHUNK_ROWS ? CHUNK_ROWS : rows > 1 ? (hsize_t)rows : 1;
}

static hid_t create_text_type(void)
{
    hid_t type = h5->H5Tcopy(*h5->text);
    if (type >= 0 &&
        (h5->H5Tset_size(type, H5T_VARIABLE) < 0 || h5->H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        h5->H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

/* An attribute of an object: count values, or a scalar for count = 0. */
static bool put_attribute(hid_t object, const char *name, hid_t file_type, hid_t type,
                          hsize_t count, const void *values)
{
    hid_t space = count > 0 ? h5->H5Screate_simple(1, &count, NULL) : h5->H5Screate(H5S_SCALAR);
    hid_t attribute = h5->H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attribute >= 0 && h5->H5Awrite(attribute, type, values) >= 0;
    ok = (attribute < 0 || h5->H5Aclose(attribute) >= 0) && ok;
    return (space < 0 || h5->H5Sclose(space) >= 0) && ok;
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = create_text_type();
    bool ok = type >= 0 && put_attribute(object, name, type, type, 0, &text);
    return (type < 0 || h5->H5Tclose(type) >= 0) && ok;
}

static bool put_int(hid_t object, const char *name, int value)
{
    return put_attribute(object, name, *h5->int32, *h5->native_int, 0, &value);
}

/* An attribute of names: text(context, i) for i < count. */
static bool put_names(hid_t object, const char *attribute, int count,
                      const char *(*text)(const void *, int, char *, size_t), const void *context)
{
    if (count == 0 || count > MAX_NAMES)
        return true;
    enum { LENGTH = 128 };
    const char **names = BG_NEW_ARRAY(const char *, count);
    char *buffers = BG_NEW_ARRAY(char, (size_t)count *LENGTH);
    hid_t type = create_text_type();
    bool ok = names && buffers && type >= 0;
    for (int i = 0; ok && i < count; i++)
        names[i] = text(context, i, buffers + (size_t)i * LENGTH, LENGTH);
    ok = ok && put_attribute(object, attribute, type, type, (hsize_t)count, names);
    free(names);
    free(buffers);
    return (type < 0 || h5->H5Tclose(type) >= 0) && ok;
}

/* An empty dataset that grows by rows. Fill values are written and times are not kept, so that
 * equal results are equal files. */
static hid_t create_dataset(hid_t parent, const char *name, hid_t type, int rank, hsize_t width,
                            hsize_t chunk_rows)
{
    hsize_t size[2] = {0, width}, limit[2] = {H5S_UNLIMITED, width}, chunk[2] = {chunk_rows, width};
    hid_t space = h5->H5Screate_simple(rank, size, limit),
          how = h5->H5Pcreate(*h5->dataset_creation);
    hid_t set = H5I_INVALID_HID;
    if (space >= 0 && how >= 0 && h5->H5Pset_chunk(how, rank, chunk) >= 0 &&
        h5->H5Pset_fill_time(how, H5D_FILL_TIME_ALLOC) >= 0 &&
        h5->H5Pset_obj_track_times(how, 0) >= 0)
        set = h5->H5Dcreate2(parent, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (space >= 0)
        h5->H5Sclose(space);
    if (how >= 0)
        h5->H5Pclose(how);
    return set;
}

typedef struct field_names {
    const bg_batch *batch;
    const bg_field *field;
} field_names;

static const char *get_field_name(const void *context, int i, char *buffer, size_t size)
{
    const field_names *names = context;
    return bg_batch_get_name(names->batch, names->field, i, buffer, size);
}

static const char *get_field_unit(const void *context, int i, char *buffer, size_t size)
{
    const field_names *names = context;
    (void)buffer, (void)size;
    return bg_batch_get_unit(names->batch, names->field, i);
}

static bool has_units(const bg_batch *batch, const bg_field *field)
{
    for (int i = 0; i < field->width && field->unit; i++)
        if (*bg_batch_get_unit(batch, field, i))
            return true;
    return false;
}

/* Of the switching functions: their names, and what happens when they pass zero. */
static const char *get_event_name(const void *context, int i, char *buffer, size_t size)
{
    return bg_system_get_name(context, 's', i, buffer, size);
}

static const char *get_rising(const void *context, int i, char *buffer, size_t size)
{
    (void)buffer, (void)size;
    return bg_system_get_event_text(context, i, 1);
}

static const char *get_falling(const void *context, int i, char *buffer, size_t size)
{
    (void)buffer, (void)size;
    return bg_system_get_event_text(context, i, -1);
}

static const char *get_touching(const void *context, int i, char *buffer, size_t size)
{
    (void)buffer, (void)size;
    return bg_system_get_event_text(context, i, 0);
}

static bool create_field(hid_t file, const bg_batch *batch, const bg_field *field)
{
    if (field->width == 0)
        return true;
    hid_t set = create_dataset(file, field->name, field->integer ? *h5->int32 : *h5->float64,
                               field->scalar ? 1 : 2, (hsize_t)field->width,
                               bg_hdf5_calc_chunk_rows(field));
    bool ok = set >= 0 &&
              put_names(set, "names", field->width, get_field_name, &(field_names){batch, field}) &&
              put_names(set, "units", has_units(batch, field) ? field->width : 0, get_field_unit,
                        &(field_names){batch, field});
    return (set < 0 || h5->H5Dclose(set) >= 0) && ok;
}

static bool create_events(hid_t file, const bg_system *system)
{
    hid_t group = h5->H5Gcreate2(file, "events", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return false;
    hid_t set[3] = {
        create_dataset(group, "t", *h5->float64, 1, 0, BG_EVENT_CHUNK_ROWS),
        create_dataset(group, "index", *h5->int32, 1, 0, BG_EVENT_CHUNK_ROWS),
        create_dataset(group, "direction", *h5->int32, 1, 0, BG_EVENT_CHUNK_ROWS),
    };
    const int ns = bg_system_get_def(system)->ns;
    bool ok = put_names(group, "names", ns, get_event_name, system) &&
              put_names(group, "rising", ns, get_rising, system) &&
              put_names(group, "falling", ns, get_falling, system) &&
              put_names(group, "touching", ns, get_touching, system);
    for (int k = 0; k < 3; k++)
        ok = set[k] >= 0 && h5->H5Dclose(set[k]) >= 0 && ok;
    return h5->H5Gclose(group) >= 0 && ok;
}

/* A text of its own: attributes end at 64 KiB. */
bool bg_hdf5_put_document(hid_t file, const char *name, const char *text)
{
    hid_t type = create_text_type(), space = h5->H5Screate(H5S_SCALAR);
    hid_t how = h5->H5Pcreate(*h5->dataset_creation), set = H5I_INVALID_HID;
    if (how >= 0 && h5->H5Pset_obj_track_times(how, 0) >= 0)
        set = h5->H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    bool ok = set >= 0 && h5->H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0;
    ok = (set < 0 || h5->H5Dclose(set) >= 0) && ok;
    if (how >= 0)
        h5->H5Pclose(how);
    if (space >= 0)
        h5->H5Sclose(space);
    if (type >= 0)
        h5->H5Tclose(type);
    return ok;
}

static bool create_steps(hid_t file)
{
    hid_t group = h5->H5Gcreate2(file, "steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return false;
    hid_t set[BG_STEP_COUNT + 2];
    for (int k = 0; k < BG_STEP_COUNT; k++)
        set[k] = create_dataset(group, bg_step_names[k], *h5->float64, 1, 0, BG_STEP_CHUNK_ROWS);
    set[BG_STEP_COUNT] = create_dataset(group, "order", *h5->int32, 1, 0, BG_STEP_CHUNK_ROWS);
    set[BG_STEP_COUNT + 1] = create_dataset(group, "rejected", *h5->int32, 1, 0,
                                            BG_STEP_CHUNK_ROWS);
    bool ok = true;
    for (int k = 0; k < BG_STEP_COUNT + 2; k++)
        ok = set[k] >= 0 && h5->H5Dclose(set[k]) >= 0 && ok;
    return h5->H5Gclose(group) >= 0 && ok;
}

static bool create_layout(hid_t file, const bg_writer_def *def)
{
    bool ok = put_text(file, "format", "bogie-result") && put_int(file, "format_version", 1) &&
              put_text(file, "bogie_version", BG_VERSION) && put_text(file, "model", def->model) &&
              put_text(file, "integrator", def->integrator) && put_int(file, "complete", 0);
    for (int k = 0; ok && k < BG_FIELD_COUNT; k++)
        ok = create_field(file, def->batch, &def->batch->field[k]);
    return ok && create_events(file, def->batch->system) && create_steps(file);
}

/* Keeps the bytes of an open file. */
static bool take_image(bg_hdf5_image *image, hid_t file)
{
    ssize_t size = h5->H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? h5->H5Fget_file_image(file, NULL, 0)
                                                             : -1;
    if (size <= 0)
        return false;
    free(image->bytes);
    image->size = (size_t)size;
    image->bytes = BG_NEW_ARRAY(char, size);
    return image->bytes && h5->H5Fget_file_image(file, image->bytes, (size_t)size) == size;
}

bool bg_hdf5_create_image(const bg_writer_def *def, bg_hdf5_image *image)
{
    hid_t access = h5->H5Pcreate(*h5->file_access), file = H5I_INVALID_HID;
    if (access >= 0 && h5->H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        h5->H5Pset_fapl_core(access, CHUNK_BYTES, 0) >= 0)
        file = h5->H5Fcreate(def->place->partial, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    bool ok = file >= 0 && create_layout(file, def) && take_image(image, file);
    ok = (file < 0 || h5->H5Fclose(file) >= 0) && ok;
    return (access < 0 || h5->H5Pclose(access) >= 0) && ok;
}

/* HDF5 insists on a name under which there is no file. */
bool bg_hdf5_add_documents(bg_hdf5_image *image, const char *model, const char *setup)
{
    static const char nowhere[] = "/dev/null/bogie.h5";
    hid_t access = h5->H5Pcreate(*h5->file_access), file = H5I_INVALID_HID;
    if (access >= 0 && h5->H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        h5->H5Pset_fapl_core(access, CHUNK_BYTES, 0) >= 0 &&
        h5->H5Pset_file_image(access, image->bytes, image->size) >= 0)
        file = h5->H5Fopen(nowhere, H5F_ACC_RDWR, access);
    bool ok = file >= 0 && (!model || bg_hdf5_put_document(file, "model", model)) &&
              bg_hdf5_put_document(file, "setup", setup) && take_image(image, file);
    ok = (file < 0 || h5->H5Fclose(file) >= 0) && ok;
    return (access < 0 || h5->H5Pclose(access) >= 0) && ok;
}

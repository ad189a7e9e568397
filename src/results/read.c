/* Results read back from HDF5 (layout: docs/results.md).
 *
 * Everything but the numbers is read and checked when a file is opened, so that a file that is
 * accepted has the layout it claims. What the layout does not know is ignored. */
#include "base/memory.h"
#include "bogie/result.h"
#include "results/trouble.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT_VERSION = 1,
    DATASETS = 19,
    MAX_WIDTH = 1 << 20,
    MAX_PACKING = 1100 /* bytes that deflate, of HDF5's filters, can make of one */
};

/* What may be in a file: datasets by what their length is. */
static const struct {
    const char *name;
    enum { ROWS, EVENTS, STEPS } length;
} layout[DATASETS] = {
    {"t", ROWS},
    {"h", ROWS},
    {"q", ROWS},
    {"v", ROWS},
    {"a", ROWS},
    {"z", ROWS},
    {"lambda", ROWS},
    {"outputs", ROWS},
    {"mode", ROWS},
    {"events/t", EVENTS},
    {"events/index", EVENTS},
    {"events/direction", EVENTS},
    {"steps/t", STEPS},
    {"steps/h", STEPS},
    {"steps/g", STEPS},
    {"steps/gv", STEPS},
    {"steps/ga", STEPS},
    {"steps/order", STEPS},
    {"steps/rejected", STEPS},
};

typedef struct kept_names {
    char **text; /* [count]; NULL: the file keeps none */
    int count;
} kept_names;

struct bg_result_file {
    char *path;
    hid_t file;
    bg_result_info info;
    char *text[6]; /* version, model, integrator, model_text, setup, summary */
    int width[DATASETS];
    kept_names columns[DATASETS], units[DATASETS], events;
    kept_names happenings[3]; /* of the switching functions: falling, touching, rising */
};

static bg_status fail_damaged(const bg_result_file *f, const char *what, bg_error *err)
{
    return bg_error_set(err, BG_BAD_INPUT,
                        "the result '%s' is damaged: %s; run the simulation again", f->path, what);
}

/* Whether the file starts as every HDF5 file that Bogie writes does. */
static bg_status check_signature(const char *path, bg_error *err)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char head[8] = {0};
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(head, 1, sizeof head, file) : 0;
    bool failed = !file || ferror(file);
    int cause = errno;
    if (file)
        fclose(file);
    if (failed)
        return bg_error_set(err, BG_IO, "the result '%s' cannot be read: %s", path,
                            strerror(cause));
    if (n == 0)
        return bg_error_set(err, BG_BAD_INPUT, "the result '%s' is empty; run the simulation again",
                            path);
    if (n < sizeof head || memcmp(head, signature, sizeof head) != 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is no HDF5 file, so it is no result to read; `bogie run MODEL -o "
                            "FILE.h5` makes one",
                            path);
    return BG_OK;
}

/* A copy of a text as HDF5 gave it, which is released. */
static char *take_text(char *text)
{
    char *copy = strdup(text ? text : "");
    h5->H5free_memory(text);
    return copy;
}

static bool is_text(hid_t type)
{
    return type >= 0 && h5->H5Tget_class(type) == H5T_STRING && h5->H5Tis_variable_str(type) > 0;
}

static bool is_scalar(hid_t space)
{
    return space >= 0 && h5->H5Sget_simple_extent_npoints(space) == 1;
}

static void close_both(hid_t type, hid_t space)
{
    if (type >= 0)
        h5->H5Tclose(type);
    if (space >= 0)
        h5->H5Sclose(space);
}

/* A text attribute of the file; NULL: it is not there, or is no text. */
static char *read_text(hid_t file, const char *name)
{
    if (h5->H5Aexists(file, name) <= 0)
        return NULL;
    hid_t attribute = h5->H5Aopen(file, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? h5->H5Aget_type(attribute) : H5I_INVALID_HID;
    hid_t space = attribute >= 0 ? h5->H5Aget_space(attribute) : H5I_INVALID_HID;
    char *text = NULL, *copy = NULL;
    if (is_text(type) && is_scalar(space) && h5->H5Aread(attribute, type, &text) >= 0)
        copy = take_text(text);
    close_both(type, space);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    return copy;
}

static bool read_int(hid_t file, const char *name, int *value)
{
    if (h5->H5Aexists(file, name) <= 0)
        return false;
    hid_t attribute = h5->H5Aopen(file, name, H5P_DEFAULT);
    hid_t space = attribute >= 0 ? h5->H5Aget_space(attribute) : H5I_INVALID_HID;
    bool ok = is_scalar(space) && h5->H5Aread(attribute, *h5->native_int, value) >= 0;
    close_both(H5I_INVALID_HID, space);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    return ok;
}

/* Whether a name leads to an object of this very file, and not by a link to somewhere else. */
static bool is_own(hid_t file, const char *name)
{
    H5L_info_t link;
    return h5->H5Lget_info(file, name, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

/* Whether the data of a dataset lie in this file, and all that it claims to have are there: numbers
 * that nobody wrote would be made when they are read, as many as one likes. */
static bool is_whole(hid_t set)
{
    hid_t how = h5->H5Dget_create_plist(set), space = h5->H5Dget_space(set),
          type = h5->H5Dget_type(set);
    H5D_layout_t layout_ = how >= 0 ? h5->H5Pget_layout(how) : H5D_LAYOUT_ERROR;
    bool inside = (layout_ == H5D_COMPACT || layout_ == H5D_CONTIGUOUS || layout_ == H5D_CHUNKED) &&
                  h5->H5Pget_external_count(how) == 0;
    double packed = how >= 0 && h5->H5Pget_nfilters(how) > 0 ? MAX_PACKING : 1;
    double claimed = (double)h5->H5Sget_simple_extent_npoints(space) *
                     (double)h5->H5Tget_size(type);
    bool whole = inside && packed * (double)h5->H5Dget_storage_size(set) >= claimed;
    close_both(type, space);
    if (how >= 0)
        h5->H5Pclose(how);
    return whole;
}

/* A dataset of the file; negative: it cannot be opened, or its data are elsewhere. */
static hid_t open_dataset(hid_t file, const char *name)
{
    hid_t set = is_own(file, name) ? h5->H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (set >= 0 && !is_whole(set)) {
        h5->H5Dclose(set);
        return H5I_INVALID_HID;
    }
    return set;
}

/* A text that is a dataset of its own; NULL: it is not there, or is no text. */
static char *read_document(hid_t file, const char *name)
{
    if (h5->H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return NULL;
    hid_t set = open_dataset(file, name);
    hid_t type = set >= 0 ? h5->H5Dget_type(set) : H5I_INVALID_HID;
    hid_t space = set >= 0 ? h5->H5Dget_space(set) : H5I_INVALID_HID;
    char *text = NULL, *copy = NULL;
    if (is_text(type) && is_scalar(space) &&
        h5->H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0)
        copy = take_text(text);
    close_both(type, space);
    if (set >= 0)
        h5->H5Dclose(set);
    return copy;
}

/* An attribute of an object, where it is a list of texts. False: out of memory. */
static bool read_names(hid_t object, const char *name, kept_names *out)
{
    if (h5->H5Aexists(object, name) <= 0)
        return true;
    hid_t attribute = h5->H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? h5->H5Aget_type(attribute) : H5I_INVALID_HID;
    hid_t space = attribute >= 0 ? h5->H5Aget_space(attribute) : H5I_INVALID_HID;
    hssize_t n = space >= 0 ? h5->H5Sget_simple_extent_npoints(space) : 0;
    bool ok = true;
    if (is_text(type) && n > 0 && n <= MAX_WIDTH) {
        char **raw = BG_NEW_ARRAY(char *, n);
        out->text = BG_NEW_ARRAY(char *, n);
        ok = raw && out->text;
        if (ok && h5->H5Aread(attribute, type, raw) >= 0) {
            out->count = (int)n;
            for (int k = 0; k < out->count; k++)
                ok = (out->text[k] = take_text(raw[k])) && ok;
        }
        free(raw);
    }
    close_both(type, space);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    return ok;
}

static bool exists(hid_t file, const char *name)
{
    char group[16];
    const char *slash = strchr(name, '/');
    if (slash) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - name), name);
        if (h5->H5Lexists(file, group, H5P_DEFAULT) <= 0 || !is_own(file, group))
            return false;
    }
    return h5->H5Lexists(file, name, H5P_DEFAULT) > 0;
}

/* Width and length of a dataset, and the names of its columns. */
static bg_status inspect(bg_result_file *f, int k, bg_error *err)
{
    long *const lengths[] = {&f->info.rows, &f->info.events, &f->info.steps};
    if (!exists(f->file, layout[k].name))
        return BG_OK;
    hid_t set = open_dataset(f->file, layout[k].name);
    hid_t type = set >= 0 ? h5->H5Dget_type(set) : H5I_INVALID_HID;
    hid_t space = set >= 0 ? h5->H5Dget_space(set) : H5I_INVALID_HID;
    H5T_class_t class = type >= 0 ? h5->H5Tget_class(type) : H5T_NO_CLASS;
    int rank = space >= 0 ? h5->H5Sget_simple_extent_ndims(space) : -1;
    hsize_t size[2] = {0, 1};
    bool ok = (class == H5T_FLOAT || class == H5T_INTEGER) && (rank == 1 || rank == 2) &&
              h5->H5Sget_simple_extent_dims(space, size, NULL) == rank && size[1] <= MAX_WIDTH &&
              size[0] <= (hsize_t)1 << 40;
    bool named = ok && read_names(set, "names", &f->columns[k]) &&
                 read_names(set, "units", &f->units[k]);
    close_both(type, space);
    if (set >= 0)
        h5->H5Dclose(set);
    long *length = lengths[layout[k].length];
    if (!ok || (*length >= 0 && *length != (long)size[0])) {
        char what[96];
        snprintf(what, sizeof what,
                 ok ? "the dataset '%s' has another length than its neighbours"
                    : "the dataset '%s' holds no table of numbers of its own",
                 layout[k].name);
        return fail_damaged(f, what, err);
    }
    if (!named)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the result '%s'", f->path);
    *length = (long)size[0];
    f->width[k] = (int)size[1];
    return BG_OK;
}

static bg_status check_format(bg_result_file *f, bg_error *err)
{
    char *format = read_text(f->file, "format");
    bool good = format && strcmp(format, "bogie-result") == 0;
    int version = 0;
    free(format);
    if (!good)
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is an HDF5 file, but no result of Bogie; `bogie run MODEL -o "
                            "FILE.h5` makes one",
                            f->path);
    if (!read_int(f->file, "format_version", &version) || version < 1)
        return fail_damaged(f, "the version of its format is missing", err);
    f->text[0] = read_text(f->file, "bogie_version");
    if (version > FORMAT_VERSION)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the result '%s' has format %d of a newer version of Bogie (%s), but "
                            "this one reads format %d; update Bogie",
                            f->path, version, f->text[0] ? f->text[0] : "unknown", FORMAT_VERSION);
    return BG_OK;
}

static bg_status read_events_names(bg_result_file *f, bg_error *err)
{
    if (h5->H5Lexists(f->file, "events", H5P_DEFAULT) <= 0 || !is_own(f->file, "events"))
        return BG_OK;
    hid_t group = h5->H5Gopen2(f->file, "events", H5P_DEFAULT);
    bool ok = group < 0 || (read_names(group, "names", &f->events) &&
                            read_names(group, "falling", &f->happenings[0]) &&
                            read_names(group, "touching", &f->happenings[1]) &&
                            read_names(group, "rising", &f->happenings[2]));
    if (group >= 0)
        h5->H5Gclose(group);
    return ok ? BG_OK
              : bg_error_set(err, BG_NO_MEMORY, "out of memory for the result '%s'", f->path);
}

static bg_status read_layout(bg_result_file *f, bg_error *err)
{
    bg_status st = check_format(f, err);
    if (st != BG_OK)
        return st;
    f->text[1] = read_text(f->file, "model");
    f->text[2] = read_text(f->file, "integrator");
    f->text[3] = read_document(f->file, "model");
    f->text[4] = read_document(f->file, "setup");
    f->text[5] = read_document(f->file, "summary");
    f->info = (bg_result_info){.version = f->text[0] ? f->text[0] : "",
                               .model = f->text[1] ? f->text[1] : "",
                               .integrator = f->text[2] ? f->text[2] : "",
                               .model_text = f->text[3],
                               .setup = f->text[4],
                               .summary = f->text[5],
                               .rows = -1,
                               .events = -1,
                               .steps = -1};
    if (!read_int(f->file, "complete", &f->info.complete))
        return fail_damaged(f, "the mark of complete results is missing", err);
    for (int k = 0; k < DATASETS && st == BG_OK; k++)
        st = inspect(f, k, err);
    if (st == BG_OK)
        st = read_events_names(f, err);
    if (st == BG_OK && f->width[0] != 1)
        return fail_damaged(f, "there are no times", err);
    f->info.events = f->info.events < 0 ? 0 : f->info.events;
    f->info.steps = f->info.steps < 0 ? 0 : f->info.steps;
    return st;
}

bg_status bg_result_open(const char *path, bg_result_file **file, bg_error *err)
{
    *file = NULL;
    bg_status st = check_signature(path, err);
    if (st == BG_OK)
        st = bg_hdf5_load(err);
    if (st != BG_OK)
        return st;
    bg_result_file *f = BG_NEW(bg_result_file);
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the result '%s'", path);
    }
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    f->file = h5->H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (f->file < 0)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "the result '%s' cannot be opened: %s; it is cut off or damaged: run the "
                          "simulation again",
                          path, seen.text);
    else
        st = read_layout(f, err);
    bg_hdf5_end(&seen);
    if (st != BG_OK)
        bg_result_close(f);
    else
        *file = f;
    return st;
}

static void clear_names(kept_names *n)
{
    for (int k = 0; k < n->count; k++)
        free(n->text[k]);
    free(n->text);
}

void bg_result_close(bg_result_file *f)
{
    if (!f)
        return;
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    if (f->file >= 0)
        h5->H5Fclose(f->file);
    bg_hdf5_end(&seen);
    for (int k = 0; k < 6; k++)
        free(f->text[k]);
    for (int k = 0; k < DATASETS; k++)
        clear_names(&f->columns[k]), clear_names(&f->units[k]);
    clear_names(&f->events);
    for (int k = 0; k < 3; k++)
        clear_names(&f->happenings[k]);
    free(f->path);
    free(f);
}

const bg_result_info *bg_result_get_info(const bg_result_file *f)
{
    return &f->info;
}

static int find(const char *dataset)
{
    for (int k = 0; k < DATASETS; k++)
        if (strcmp(layout[k].name, dataset) == 0)
            return k;
    return -1;
}

int bg_result_get_width(const bg_result_file *f, const char *dataset)
{
    int k = find(dataset);
    return k >= 0 ? f->width[k] : 0;
}

const char *bg_result_get_name(const bg_result_file *f, const char *dataset, int column,
                               char *buffer, size_t size)
{
    int k = find(dataset);
    const kept_names *n = k >= 0 ? &f->columns[k] : &f->events;
    if (column >= 0 && column < n->count)
        return n->text[column];
    snprintf(buffer, size, "%s[%d]", dataset, column);
    return buffer;
}

const char *bg_result_get_unit(const bg_result_file *f, const char *dataset, int column)
{
    int k = find(dataset);
    return k >= 0 && column >= 0 && column < f->units[k].count ? f->units[k].text[column] : "";
}

const char *bg_result_get_event_text(const bg_result_file *f, int index, int direction,
                                     char *buffer, size_t size)
{
    static const char *const words[] = {"falls through zero", "touches zero", "rises through zero"};
    const int which = direction < 0 ? 0 : direction > 0 ? 2 : 1;
    const kept_names *n = &f->happenings[which];
    if (index >= 0 && index < n->count)
        return n->text[index];
    char own[32];
    snprintf(buffer, size, "%s %s", bg_result_get_name(f, "events", index, own, sizeof own),
             words[which]);
    return buffer;
}

bg_status bg_result_read(bg_result_file *f, const char *dataset, double *values, bg_error *err)
{
    int k = find(dataset);
    if (k < 0 || f->width[k] == 0)
        return bg_error_set(err, BG_MISSING, "the result '%s' has no dataset '%s'", f->path,
                            dataset);
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    hid_t set = open_dataset(f->file, dataset);
    bool ok = set >= 0 &&
              h5->H5Dread(set, *h5->native_double, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    if (set >= 0)
        h5->H5Dclose(set);
    bg_hdf5_end(&seen);
    if (ok)
        return BG_OK;
    char what[400];
    snprintf(what, sizeof what, "the dataset '%s' cannot be read, %s", dataset, seen.text);
    return fail_damaged(f, what, err);
}

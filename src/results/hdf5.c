/* Results as HDF5 (layout: docs/results.md).
 *
 * A flush of HDF5 itself is many writes, and a process that dies between them leaves a file that
 * no tool opens. Here two files A and B take turns as NAME (published, never written to) and
 * NAME.partial (working):
 *
 *     append rows to the working file, close it  ->  swap the names  ->  append the same rows to
 *     the other file, so that both are equal again
 *
 * At every moment NAME is a closed file. The first flush has nothing to swap with: it renames, and
 * copies NAME to have a working file again. The same happens when the other file has to be given up
 * because a reader has it open, and where the file system cannot swap names.
 *
 * HDF5 does not survive a failed write: the file can then not be closed, and the library crashes at
 * the end of the process. Space for an append is therefore reserved before HDF5 sees the file, and
 * the first version of it, without rows, is made in memory.
 */
#include "base/memory.h"
#include "results/hdf5_layout.h"
#include "results/trouble.h"
#include "results/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Bounds on what HDF5 adds to the data: index entries of a chunk, index nodes of a dataset and
     * allocation blocks. */
    CHUNK_OVERHEAD = 128,
    DATASET_OVERHEAD = 1 << 14
};

typedef struct hdf5_writer {
    bg_place *place;
    bg_hdf5_image skeleton;      /* the file without rows */
    hsize_t rows, events, steps; /* in NAME, and in the working file between flushes */
} hdf5_writer;

static bg_status fail_to_prepare(const bg_place *place, const bg_hdf5_trouble *seen, bg_error *err)
{
    return bg_error_set(err, BG_NO_MEMORY, "cannot prepare the result file '%s': %s", place->path,
                        seen->text[0] ? seen->text : "out of memory");
}

static bg_status describe(void *writer, const char *model, const char *setup, bg_error *err)
{
    hdf5_writer *w = writer;
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    bool ok = bg_hdf5_add_documents(&w->skeleton, model, setup);
    bg_hdf5_end(&seen);
    return ok ? BG_OK : fail_to_prepare(w->place, &seen, err);
}

static void destroy(void *writer)
{
    hdf5_writer *w = writer;
    if (!w)
        return;
    free(w->skeleton.bytes);
    free(w);
}

static bg_status create(const bg_writer_def *def, void **writer, bg_error *err)
{
    if (def->place->direct)
        return bg_error_set(err, BG_IO,
                            "cannot write HDF5 to '%s': it is not a regular file; choose another "
                            "file name, or write CSV",
                            def->place->path);
    bg_status st = bg_hdf5_load(err);
    if (st != BG_OK)
        return st;
    hdf5_writer *w = BG_NEW(hdf5_writer);
    if (!w)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the result writer");
    w->place = def->place;
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    bool ok = bg_hdf5_create_image(def, &w->skeleton);
    bg_hdf5_end(&seen);
    if (!ok) {
        destroy(w);
        return fail_to_prepare(def->place, &seen, err);
    }
    *writer = w;
    return BG_OK;
}

static hsize_t calc_chunks(hsize_t rows, hsize_t chunk_rows)
{
    return (rows + chunk_rows - 1) / chunk_rows;
}

/* A bound on the bytes by which an append lengthens the file. */
static off_t calc_growth(const hdf5_writer *writer, const bg_batch *batch, const char *summary)
{
    hsize_t bytes = summary ? strlen(summary) + DATASET_OVERHEAD : 0;
    for (int k = 0; k < BG_FIELD_COUNT; k++) {
        const bg_field *field = &batch->field[k];
        if (field->width == 0)
            continue;
        hsize_t rows = bg_hdf5_calc_chunk_rows(field);
        hsize_t chunks = calc_chunks(writer->rows + (hsize_t)batch->rows, rows) -
                         calc_chunks(writer->rows, rows);
        hsize_t size = rows * (hsize_t)field->width * sizeof(double);
        bytes += chunks * (size + CHUNK_OVERHEAD) + DATASET_OVERHEAD;
    }
    hsize_t chunks = calc_chunks(writer->events + (hsize_t)batch->events, BG_EVENT_CHUNK_ROWS) -
                     calc_chunks(writer->events, BG_EVENT_CHUNK_ROWS);
    bytes += 3 *
             (chunks * (BG_EVENT_CHUNK_ROWS * sizeof(double) + CHUNK_OVERHEAD) + DATASET_OVERHEAD);
    chunks = calc_chunks(writer->steps + (hsize_t)batch->steps, BG_STEP_CHUNK_ROWS) -
             calc_chunks(writer->steps, BG_STEP_CHUNK_ROWS);
    bytes += (BG_STEP_COUNT + 2) *
             (chunks * (BG_STEP_CHUNK_ROWS * sizeof(double) + CHUNK_OVERHEAD) + DATASET_OVERHEAD);
    return (off_t)bytes;
}

/* Lengthens the working file to what the append may need; HDF5 cuts off the rest when it closes
 * the file. Returns 0 or an errno. */
static int reserve(int fd, off_t growth)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return errno;
    int cause;
    do
        cause = posix_fallocate(fd, info.st_size, growth);
    while (cause == EINTR);
    return cause == EINVAL || cause == EOPNOTSUPP ? 0 : cause;
}

/* Writes count rows after the first `start` rows of a dataset. */
static bool append(hid_t file, const char *name, hid_t type, int rank, hsize_t width, hsize_t start,
                   int rows, const void *data)
{
    if (rows == 0)
        return true;
    hsize_t offset[2] = {start, 0}, count[2] = {(hsize_t)rows, width};
    hsize_t size[2] = {start + count[0], width};
    hid_t set = h5->H5Dopen2(file, name, H5P_DEFAULT);
    bool ok = set >= 0 && h5->H5Dset_extent(set, size) >= 0;
    hid_t space = ok ? h5->H5Dget_space(set) : H5I_INVALID_HID;
    hid_t memory = h5->H5Screate_simple(rank, count, NULL);
    ok = ok && memory >= 0 && space >= 0 &&
         h5->H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, NULL, count, NULL) >= 0 &&
         h5->H5Dwrite(set, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (memory >= 0)
        h5->H5Sclose(memory);
    if (space >= 0)
        h5->H5Sclose(space);
    return (set < 0 || h5->H5Dclose(set) >= 0) && ok;
}

static bool append_steps(const hdf5_writer *w, hid_t file, const bg_batch *batch)
{
    bool ok = true;
    for (int k = 0; ok && k < BG_STEP_COUNT; k++) {
        char name[16];
        snprintf(name, sizeof name, "steps/%s", bg_step_names[k]);
        ok = append(file, name, *h5->native_double, 1, 0, w->steps, batch->steps, batch->step[k]);
    }
    return ok &&
           append(file, "steps/order", *h5->native_int, 1, 0, w->steps, batch->steps,
                  batch->step_order) &&
           append(file, "steps/rejected", *h5->native_int, 1, 0, w->steps, batch->steps,
                  batch->step_rejected);
}

static bool append_batch(const hdf5_writer *w, hid_t file, const bg_batch *batch)
{
    bool ok = true;
    for (int k = 0; ok && k < BG_FIELD_COUNT; k++) {
        const bg_field *field = &batch->field[k];
        if (field->width > 0)
            ok = append(file, field->name, field->integer ? *h5->native_int : *h5->native_double,
                        field->scalar ? 1 : 2, (hsize_t)field->width, w->rows, batch->rows,
                        field->data);
    }
    const hid_t real = *h5->native_double, integer = *h5->native_int;
    const int n = batch->events;
    return ok && append_steps(w, file, batch) &&
           append(file, "events/t", real, 1, 0, w->events, n, batch->event_t) &&
           append(file, "events/index", integer, 1, 0, w->events, n, batch->event_index) &&
           append(file, "events/direction", integer, 1, 0, w->events, n, batch->event_direction);
}

/* The marks of a finished result. */
static bool put_summary(hid_t file, const char *summary)
{
    const int complete = 1;
    bool ok = bg_hdf5_put_document(file, "summary", summary);
    hid_t attribute = ok ? h5->H5Aopen(file, "complete", H5P_DEFAULT) : H5I_INVALID_HID;
    ok = attribute >= 0 && h5->H5Awrite(attribute, *h5->native_int, &complete) >= 0;
    return (attribute < 0 || h5->H5Aclose(attribute) >= 0) && ok;
}

/* A name of the working file that leads to it even when somebody puts something else, such as a
 * link, where it is. */
static const char *find_name(const bg_place *place, char own[64])
{
    snprintf(own, 64, "/proc/self/fd/%d", place->fd);
    return access(own, R_OK | W_OK) == 0 ? own : place->partial;
}

static bool write_working(const hdf5_writer *w, const bg_batch *batch, const char *summary)
{
    char own[64];
    hid_t access = h5->H5Pcreate(*h5->file_access), file = H5I_INVALID_HID;
    if (access >= 0 && h5->H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        file = h5->H5Fopen(find_name(w->place, own), H5F_ACC_RDWR, access);
    bool ok = file >= 0 && append_batch(w, file, batch) && (!summary || put_summary(file, summary));
    ok = (file < 0 || h5->H5Fclose(file) >= 0) && ok;
    return (access < 0 || h5->H5Pclose(access) >= 0) && ok;
}

/* Brings the working file from the state of NAME to NAME plus the batch; summary may be NULL.
 * While HDF5 has the file open the lock on it is HDF5's. */
static bg_status update_working(const hdf5_writer *w, const bg_batch *batch, const char *summary,
                                bg_error *err)
{
    int cause = reserve(w->place->fd, calc_growth(w, batch, summary));
    if (cause)
        return bg_batch_fail(batch, w->place, cause, NULL, err);
    bg_hdf5_trouble seen;
    bg_hdf5_begin(&seen);
    flock(w->place->fd, LOCK_UN);
    bool ok = write_working(w, batch, summary);
    flock(w->place->fd, LOCK_EX | LOCK_NB);
    bg_hdf5_end(&seen);
    return ok ? BG_OK : bg_batch_fail(batch, w->place, 0, seen.text, err);
}

/* Makes sure that there is a working file, equal to NAME (or without rows before the first flush).
 * Returns 0 or an errno. */
static int find_working(hdf5_writer *w)
{
    bg_place *place = w->place;
    int cause = 0;
    if (!bg_place_has_working(place)) {
        bg_place_discard(place);
        cause = place->published ? bg_place_copy(place) : bg_place_open(place);
    }
    if (!cause && !place->published)
        cause = bg_place_write(place->fd, w->skeleton.bytes, w->skeleton.size);
    return cause;
}

static bg_status write_batch(hdf5_writer *w, const bg_batch *batch, const char *summary,
                             bg_error *err)
{
    int cause = find_working(w);
    if (cause)
        return bg_batch_fail(batch, w->place, cause, NULL, err);
    return update_working(w, batch, summary, err);
}

/* Makes the working file equal to NAME again. The rows are safe in NAME, so a failure is none yet:
 * the next flush begins with a copy. */
static void follow(hdf5_writer *w, const bg_batch *batch)
{
    if (w->place->fd < 0)
        bg_place_copy(w->place);
    else if (update_working(w, batch, NULL, NULL))
        bg_place_discard(w->place);
}

static bg_status flush(void *writer, const bg_batch *batch, bg_error *err)
{
    hdf5_writer *w = writer;
    bg_status status = write_batch(w, batch, NULL, err);
    if (!status) {
        int cause = bg_place_swap(w->place);
        status = cause ? bg_batch_fail(batch, w->place, cause, NULL, err) : BG_OK;
    }
    if (status) {
        bg_place_discard(w->place);
        return status;
    }
    follow(w, batch);
    w->rows += (hsize_t)batch->rows;
    w->events += (hsize_t)batch->events;
    w->steps += (hsize_t)batch->steps;
    return BG_OK;
}

static bg_status finish(void *writer, const bg_batch *batch, const char *summary, bg_error *err)
{
    hdf5_writer *w = writer;
    bg_status status = write_batch(w, batch, summary, err);
    if (!status) {
        int cause = bg_place_rename(w->place);
        status = cause ? bg_batch_fail(batch, w->place, cause, NULL, err) : BG_OK;
    }
    bg_place_discard(w->place);
    return status;
}

const bg_writer_class bg_writer_hdf5 = {.create = create,
                                        .describe = describe,
                                        .flush = flush,
                                        .finish = finish,
                                        .destroy = destroy,
                                        .kind = BG_PLACE_RESULT,
                                        .keeps_steps = true};

/* A linearised system as JSON, as CSV (one table [A B; C D] with names) and as HDF5, whose datasets
 * A, B, C, D any tool reads: h5read(file, '/A')' in MATLAB, file['A'][:] in Python. */
#include "results/linear.h"

#include "base/memory.h"
#include "base/output.h"
#include "base/text.h"
#include "results/library.h"
#include "results/mat.h"
#include "results/trouble.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

bg_status bg_linear_check_place(const char *path, bg_error *err)
{
    if (strcmp(path, "-") == 0)
        return BG_OK;
    if (ends_in(path, ".json"))
        return bg_place_check(path, BG_PLACE_LINEAR, err);
    if (ends_in(path, ".csv"))
        return bg_place_check(path, BG_PLACE_LINEAR_TABLE, err);
    if (ends_in(path, ".h5"))
        return bg_place_check(path, BG_PLACE_LINEAR_HDF5, err);
    if (ends_in(path, ".mat"))
        return bg_place_check(path, BG_PLACE_LINEAR_MAT, err);
    return bg_error_set(err, BG_BAD_INPUT,
                        "the matrices '%s' must be named FILE.json, FILE.csv, FILE.mat or FILE.h5",
                        path);
}

static json_t *make_matrix(const double *M, int rows, int columns)
{
    json_t *all = json_array();
    for (int i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (int j = 0; j < columns; j++)
            json_array_append_new(row, json_real(M[i * columns + j]));
        json_array_append_new(all, row);
    }
    return all;
}

static json_t *make_signals(const bg_linear_signal *s, int n)
{
    json_t *all = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:f}", "name", s[i].name, "unit",
                                             s[i].unit, "value", s[i].value));
    return all;
}

json_t *bg_linear_make_json(const bg_linear_matrices *m)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                     "linearised", "format", 1, "model", m->model, "where", m->where, "t", m->t,
                     "states", make_signals(m->x, m->nx), "inputs", make_signals(m->u, m->nu),
                     "outputs", make_signals(m->y, m->ny), "A", make_matrix(m->A, m->nx, m->nx),
                     "B", make_matrix(m->B, m->nx, m->nu), "C", make_matrix(m->C, m->ny, m->nx),
                     "D", make_matrix(m->D, m->ny, m->nu));
}

static bg_status write_json(const bg_linear_matrices *m, const char *path, bg_error *err)
{
    json_t *root = bg_linear_make_json(m);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    bg_status st = text ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for JSON");
    if (text && strcmp(path, "-") == 0)
        puts(text);
    else if (text)
        st = bg_output_write_text(path, BG_PLACE_LINEAR, text, err);
    free(text);
    json_decref(root);
    return st;
}

static void put_quoted(FILE *out, const char *before, const char *text)
{
    fprintf(out, "%s\"", before);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* "before" and a name with its unit. */
static void put_name(FILE *out, const char *separator, const char *before,
                     const bg_linear_signal *x)
{
    char name[192];
    snprintf(name, sizeof name, "%s%s%s%s%s", before, x->name, *x->unit ? " [" : "", x->unit,
             *x->unit ? "]" : "");
    put_quoted(out, separator, name);
}

static void put_number(FILE *out, double x)
{
    char text[40];
    bg_text_print(x, text, sizeof text);
    fprintf(out, ",%s", text);
}

static void put_rows(FILE *out, const bg_linear_signal *names, const char *prefix, int rows,
                     const double *left, int nleft, const double *right, int nright)
{
    for (int i = 0; i < rows; i++) {
        put_name(out, "", prefix, &names[i]);
        for (int j = 0; j < nleft; j++)
            put_number(out, left[i * nleft + j]);
        for (int j = 0; j < nright; j++)
            put_number(out, right[i * nright + j]);
        fputc('\n', out);
    }
}

static bg_status write_csv(const bg_linear_matrices *m, const char *path, bg_error *err)
{
    bg_output_file out;
    bg_status st = bg_output_open(path, BG_PLACE_LINEAR_TABLE, &out, err);
    if (st != BG_OK)
        return st;
    put_quoted(out.file, "", "[A B; C D]");
    for (int j = 0; j < m->nx; j++)
        put_name(out.file, ",", "", &m->x[j]);
    for (int j = 0; j < m->nu; j++)
        put_name(out.file, ",", "", &m->u[j]);
    fputc('\n', out.file);
    put_rows(out.file, m->x, "d/dt ", m->nx, m->A, m->nx, m->B, m->nu);
    put_rows(out.file, m->y, "", m->ny, m->C, m->nx, m->D, m->nu);
    return bg_output_close(&out, BG_OK, err);
}

static hid_t create_text_type(void)
{
    hid_t type = h5->H5Tcopy(*h5->text);
    if (type >= 0)
        h5->H5Tset_size(type, H5T_VARIABLE), h5->H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static bool put_set(hid_t file, const char *name, hid_t type, hid_t memory, int rank,
                    const hsize_t *size, const void *values)
{
    hid_t space = h5->H5Screate_simple(rank, size, NULL);
    hid_t set = h5->H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool empty = size[0] == 0 || (rank > 1 && size[1] == 0);
    bool ok = set >= 0 &&
              (empty || h5->H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    ok = (set < 0 || h5->H5Dclose(set) >= 0) && ok;
    return (space < 0 || h5->H5Sclose(space) >= 0) && ok;
}

static bool put_matrix(hid_t file, const char *name, const double *M, int rows, int columns)
{
    hsize_t size[2] = {(hsize_t)rows, (hsize_t)columns};
    return put_set(file, name, *h5->float64, *h5->native_double, 2, size, M);
}

/* NAME_names, NAME_units and NAME_values. */
static bool put_signals(hid_t file, const char *what, const bg_linear_signal *s, int n)
{
    char name[32];
    hsize_t size = (hsize_t)n;
    hid_t type = create_text_type();
    const char **texts = BG_NEW_ARRAY(const char *, n);
    double *values = BG_NEW_ARRAY(double, n);
    bool ok = type >= 0 && texts && values;
    for (int k = 0; k < 2 && ok; k++) {
        for (int i = 0; i < n; i++)
            texts[i] = k == 0 ? s[i].name : s[i].unit;
        snprintf(name, sizeof name, "%s_%s", what, k == 0 ? "names" : "units");
        ok = put_set(file, name, type, type, 1, &size, texts);
    }
    for (int i = 0; i < n && ok; i++)
        values[i] = s[i].value;
    snprintf(name, sizeof name, "%s_values", what);
    ok = ok && put_set(file, name, *h5->float64, *h5->native_double, 1, &size, values);
    free(texts);
    free(values);
    return (type < 0 || h5->H5Tclose(type) >= 0) && ok;
}

static bool put_mark(hid_t file)
{
    hid_t type = create_text_type(), space = h5->H5Screate(H5S_SCALAR);
    const char *text = "bogie-linearised";
    hid_t mark = h5->H5Acreate2(file, "format", type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = mark >= 0 && h5->H5Awrite(mark, type, &text) >= 0;
    ok = (mark < 0 || h5->H5Aclose(mark) >= 0) && ok;
    ok = (space < 0 || h5->H5Sclose(space) >= 0) && ok;
    return (type < 0 || h5->H5Tclose(type) >= 0) && ok;
}

static bool fill(hid_t file, const bg_linear_matrices *m)
{
    return put_mark(file) && put_matrix(file, "A", m->A, m->nx, m->nx) &&
           put_matrix(file, "B", m->B, m->nx, m->nu) && put_matrix(file, "C", m->C, m->ny, m->nx) &&
           put_matrix(file, "D", m->D, m->ny, m->nu) && put_signals(file, "state", m->x, m->nx) &&
           put_signals(file, "input", m->u, m->nu) && put_signals(file, "output", m->y, m->ny);
}

/* Made in memory, then written as a whole. */
static bg_status write_hdf5(const bg_linear_matrices *m, const char *path, bg_error *err)
{
    bg_status st = bg_hdf5_load(err);
    if (st != BG_OK)
        return st;
    hid_t access = h5->H5Pcreate(*h5->file_access), file = H5I_INVALID_HID;
    void *image = NULL;
    ssize_t size = 0;
    if (access >= 0 && h5->H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        h5->H5Pset_fapl_core(access, 1 << 16, 0) >= 0)
        file = h5->H5Fcreate("bogie-linearised.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    bool ok = file >= 0 && fill(file, m) && h5->H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
    size = ok ? h5->H5Fget_file_image(file, NULL, 0) : -1;
    image = size > 0 ? bg_calloc((size_t)size, 1) : NULL;
    ok = image && h5->H5Fget_file_image(file, image, (size_t)size) == size;
    ok = (file < 0 || h5->H5Fclose(file) >= 0) && ok;
    ok = (access < 0 || h5->H5Pclose(access) >= 0) && ok;
    st = ok ? bg_output_write(path, BG_PLACE_LINEAR_HDF5, image, (size_t)size, err)
            : bg_error_set(err, BG_IO, "HDF5 could not make '%s'", path);
    free(image);
    return st;
}

bg_status bg_linear_write(const bg_linear_matrices *m, const char *path, bg_error *err)
{
    if (ends_in(path, ".csv"))
        return write_csv(m, path, err);
    if (ends_in(path, ".mat"))
        return bg_mat_write(m, path, err);
    return ends_in(path, ".h5") ? write_hdf5(m, path, err) : write_json(m, path, err);
}

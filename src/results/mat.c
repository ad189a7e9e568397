/* A linearised system as a MAT-file of level 5, which MATLAB, Octave and SciPy load: A, B, C, D,
 * and state_, input_, output_ with names, units (cells of texts) and values.
 *
 * After a header of 128 bytes the file is a list of elements: type and size, 4 bytes each, in the
 * order of bytes of the machine, which the header tells, then the data, filled up to 8 bytes. An
 * array is an element of elements: class, dimensions, name, and data by columns; a cell has one
 * array without a name for each entry. */
#include "results/mat.h"

#include "base/output.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 116, INT8 = 1, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14, UTF8 = 16 };
enum { CELL_CLASS = 1, CHAR_CLASS = 4, DOUBLE_CLASS = 6 };
enum { TAG = 8 }; /* bytes */

static size_t fill_up(size_t size)
{
    return (size + 7) / 8 * 8;
}

static void put_tag(FILE *out, uint32_t type, size_t size)
{
    uint32_t tag[2] = {type, (uint32_t)size};
    fwrite(tag, sizeof tag, 1, out);
}

static void put_element(FILE *out, uint32_t type, const void *data, size_t size)
{
    static const char zeros[8] = {0};
    put_tag(out, type, size);
    if (size > 0)
        fwrite(data, 1, size, out);
    fwrite(zeros, 1, fill_up(size) - size, out);
}

/* Class, dimensions and name of an array whose data take `size` bytes with their tags. */
static void begin_array(FILE *out, uint32_t class_, int rows, int columns, const char *name,
                        size_t size)
{
    uint32_t flags[2] = {class_, 0};
    int32_t dimensions[2] = {rows, columns};
    put_tag(out, MATRIX, 5 * TAG + fill_up(strlen(name)) + size);
    put_element(out, UINT32, flags, sizeof flags);
    put_element(out, INT32, dimensions, sizeof dimensions);
    put_element(out, INT8, name, strlen(name));
}

/* M by rows, written by columns. */
static void put_matrix(FILE *out, const char *name, const double *M, int rows, int columns)
{
    size_t size = (size_t)rows * (size_t)columns * sizeof *M;
    begin_array(out, DOUBLE_CLASS, rows, columns, name, TAG + size);
    put_tag(out, DOUBLE, size);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            fwrite(&M[i * columns + j], sizeof *M, 1, out);
}

/* Characters of a text in UTF-8. */
static int count_characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static const char *get_text(const bg_linear_signal *s, bool units)
{
    return units ? s->unit : s->name;
}

static void put_texts(FILE *out, const char *name, const bg_linear_signal *s, int n, bool units)
{
    size_t size = 0;
    for (int i = 0; i < n; i++)
        size += 7 * TAG + fill_up(strlen(get_text(&s[i], units)));
    begin_array(out, CELL_CLASS, n, 1, name, size);
    for (int i = 0; i < n; i++) {
        const char *text = get_text(&s[i], units);
        size_t length = strlen(text);
        begin_array(out, CHAR_CLASS, length > 0, count_characters(text), "", TAG + fill_up(length));
        put_element(out, UTF8, text, length);
    }
}

static void put_signals(FILE *out, const char *what, const bg_linear_signal *s, int n)
{
    char name[32];
    snprintf(name, sizeof name, "%s_names", what);
    put_texts(out, name, s, n, false);
    snprintf(name, sizeof name, "%s_units", what);
    put_texts(out, name, s, n, true);
    snprintf(name, sizeof name, "%s_values", what);
    begin_array(out, DOUBLE_CLASS, n, 1, name, TAG + (size_t)n * sizeof(double));
    put_tag(out, DOUBLE, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++)
        fwrite(&s[i].value, sizeof s[i].value, 1, out);
}

static void put_header(FILE *out)
{
    static const uint16_t version = 0x0100, order = 'M' << 8 | 'I';
    static const char none[8] = {0};
    fprintf(out, "%-*s", HEADER, BG_MAT_BEGINNING);
    fwrite(none, sizeof none, 1, out);
    fwrite(&version, sizeof version, 1, out);
    fwrite(&order, sizeof order, 1, out);
}

bg_status bg_mat_write(const bg_linear_matrices *m, const char *path, bg_error *err)
{
    bg_output_file out;
    bg_status st = bg_output_open(path, BG_PLACE_LINEAR_MAT, &out, err);
    if (st != BG_OK)
        return st;
    put_header(out.file);
    put_matrix(out.file, "A", m->A, m->nx, m->nx);
    put_matrix(out.file, "B", m->B, m->nx, m->nu);
    put_matrix(out.file, "C", m->C, m->ny, m->nx);
    put_matrix(out.file, "D", m->D, m->ny, m->nu);
    put_signals(out.file, "state", m->x, m->nx);
    put_signals(out.file, "input", m->u, m->nu);
    put_signals(out.file, "output", m->y, m->ny);
    return bg_output_close(&out, BG_OK, err);
}

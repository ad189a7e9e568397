/* A MAT-file read back element by element: every byte is accounted for, matrices are there by
 * columns, texts with their characters counted. */
#include "folder_support.h"
#include "results/mat.h"
#include "run_support.h"

typedef struct mat_reader {
    const unsigned char *data;
    size_t at, size;
} mat_reader;

/* The next element: its type, and where its data are; the reader is behind it. */
static uint32_t next(mat_reader *r, const unsigned char **data, uint32_t *size)
{
    uint32_t tag[2];
    assert_true(r->at + sizeof tag <= r->size);
    memcpy(tag, r->data + r->at, sizeof tag);
    *data = r->data + r->at + sizeof tag;
    *size = tag[1];
    r->at += sizeof tag + (tag[1] + 7) / 8 * 8;
    assert_true(r->at <= r->size);
    return tag[0];
}

/* Opens the next array: its class, dimensions and name; `inside` reads its data. */
static int open_array(mat_reader *r, int32_t dimensions[2], char name[32], mat_reader *inside)
{
    const unsigned char *data;
    uint32_t size, class_;
    assert_int_equal(next(r, &data, &size), 14);
    *inside = (mat_reader){data, 0, size};
    assert_int_equal(next(inside, &data, &size), 6);
    memcpy(&class_, data, sizeof class_);
    assert_int_equal(next(inside, &data, &size), 5);
    assert_int_equal(size, 2 * sizeof *dimensions);
    memcpy(dimensions, data, 2 * sizeof *dimensions);
    assert_int_equal(next(inside, &data, &size), 1);
    snprintf(name, 32, "%.*s", (int)size, (const char *)data);
    return (int)class_;
}

static void expect_matrix(mat_reader *r, const char *name, const double *M, int rows, int columns)
{
    int32_t n[2];
    char found[32];
    const unsigned char *data;
    uint32_t size;
    mat_reader inside;
    assert_int_equal(open_array(r, n, found, &inside), 6);
    assert_string_equal(found, name);
    assert_int_equal(n[0], rows);
    assert_int_equal(n[1], columns);
    assert_int_equal(next(&inside, &data, &size), 9);
    assert_int_equal(size, (size_t)rows * (size_t)columns * sizeof *M);
    assert_int_equal(inside.at, inside.size);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            assert_memory_equal(data + sizeof *M * (size_t)(j * rows + i), &M[i * columns + j],
                                sizeof *M);
}

static void expect_texts(mat_reader *r, const char *name, const char *const *texts,
                         const int *characters, int n)
{
    int32_t d[2];
    char found[32];
    const unsigned char *data;
    uint32_t size;
    mat_reader cell, inside;
    assert_int_equal(open_array(r, d, found, &cell), 1);
    assert_string_equal(found, name);
    assert_int_equal(d[0], n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(open_array(&cell, d, found, &inside), 4);
        assert_string_equal(found, "");
        assert_int_equal(d[1], characters[i]);
        assert_int_equal(next(&inside, &data, &size), 16);
        assert_int_equal(size, strlen(texts[i]));
        assert_memory_equal(data, texts[i], size);
        assert_int_equal(inside.at, inside.size);
    }
    assert_int_equal(cell.at, cell.size);
}

static void test_read_back(void **state)
{
    (void)state;
    bg_error err = {BG_OK, ""};
    folder f;
    char path[PATH];
    unsigned char bytes[8192];
    double A[9], B[3], C[6], D[2] = {-1, 0.5};
    bg_linear_signal x[3] = {{"α.angle", "rad", 1}, {"b", "m/s²", 2}, {"long name rate", "", 3}};
    bg_linear_signal u = {"u", "N", 4}, y[2] = {{"p", "", 5}, {"q", "W", 6}};
    for (int i = 0; i < 9; i++)
        A[i] = 1.0 / (1 + i);
    for (int i = 0; i < 6; i++)
        C[i] = B[i / 2] = i - 2.5;
    bg_linear_matrices m = {"model", "there", 0, 3, 1, 2, x, &u, y, A, B, C, D};
    assert_int_equal(folder_make(&f), 0);
    snprintf(path, sizeof path, "%s/m.mat", f.path);
    for (int again = 0; again < 2; again++) /* over its own, too, and without inputs */ {
        m.nu = 1 - again;
        assert_ok(bg_linear_check_place(path, &err));
        assert_ok(bg_linear_write(&m, path, &err));
        FILE *in = fopen(path, "rb");
        mat_reader r = {bytes, 128, fread(bytes, 1, sizeof bytes, in)};
        fclose(in);
        assert_memory_equal(bytes, "MATLAB 5.0 MAT-file", 19);
        assert_true(bytes[126] == 'I' || bytes[126] == 'M');
        expect_matrix(&r, "A", A, 3, 3);
        expect_matrix(&r, "B", B, 3, m.nu);
        expect_matrix(&r, "C", C, 2, 3);
        expect_matrix(&r, "D", D, 2, m.nu);
        expect_texts(&r, "state_names", (const char *const[]){x[0].name, x[1].name, x[2].name},
                     (const int[]){7, 1, 14}, 3);
        expect_texts(&r, "state_units", (const char *const[]){"rad", "m/s²", ""},
                     (const int[]){3, 4, 0}, 3);
        expect_matrix(&r, "state_values", (const double[]){1, 2, 3}, 3, 1);
        expect_texts(&r, "input_names", (const char *const[]){"u"}, (const int[]){1}, m.nu);
        expect_texts(&r, "input_units", (const char *const[]){"N"}, (const int[]){1}, m.nu);
        expect_matrix(&r, "input_values", (const double[]){4}, m.nu, 1);
        expect_texts(&r, "output_names", (const char *const[]){"p", "q"}, (const int[]){1, 1}, 2);
        expect_texts(&r, "output_units", (const char *const[]){"", "W"}, (const int[]){0, 1}, 2);
        expect_matrix(&r, "output_values", (const double[]){5, 6}, 2, 1);
        assert_int_equal(r.at, r.size);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Result files that HDF5 reads without complaint, but in which anything may stand: numbers, counts
 * and flags out of range, other types and shapes, missing and foreign datasets, other texts, links.
 * A page and a glTF file are made of each, or it is refused with one sentence.
 *
 * An input is a choice of a result and a list of changes that are made with HDF5 itself. Files that
 * are damaged below that level end in HDF5, which `bogie report` survives (tests/cli/report.sh). */
#include "bogie/bogie.h"
#include "fuzz.h"

#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

enum { BASES = 4, MOST_CHANGES = 12, DATASETS = 22, MOST_ROWS = 64 };

static const char *const sets[DATASETS] = {"t",
                                           "h",
                                           "q",
                                           "v",
                                           "a",
                                           "z",
                                           "lambda",
                                           "outputs",
                                           "mode",
                                           "events/t",
                                           "events/index",
                                           "events/direction",
                                           "steps/t",
                                           "steps/h",
                                           "steps/g",
                                           "steps/gv",
                                           "steps/order",
                                           "steps/rejected",
                                           "steps/ga",
                                           "model",
                                           "setup",
                                           "summary"};

typedef struct result_base {
    unsigned char *data;
    size_t size;
} result_base;

static result_base bases[BASES];
static char path[] = "/tmp/bogie-fuzz-XXXXXX.h5";
static const char page[] = "<script id=\"bogie-data\" type=\"application/json\">null</script>\n";

static void create_base(const char *file, const char *formulation, const char *integrator,
                        result_base *b)
{
    bg_error err = {0};
    bg_model *model = NULL;
    bg_system *system = NULL;
    bg_result *result = NULL;
    bg_run_report report = {0};
    bg_run_options o = bg_default_run_options();
    char name[512];
    snprintf(name, sizeof name, "%s/%s", BOGIE_SOURCE_DIR, file);
    o.integrator = integrator;
    o.formulation = formulation;
    o.max_steps = 25;
    o.output_steps = 1;
    bg_status st = bg_model_read(name, NULL, 0, &model, &err);
    if (st == BG_OK)
        st = bg_model_create_system(model, formulation, &system, &err);
    if (st == BG_OK)
        st = bg_result_create(path, "model.json", integrator, system, &result, &err);
    if (st == BG_OK)
        st = bg_result_describe(result, model, &o, &err);
    if (st == BG_OK) {
        o.sink = bg_result_get_sink(result);
        bg_run(system, &o, &report, &err);
        st = bg_result_finish(result, &report, &err);
    }
    FILE *in = st == BG_OK ? fopen(path, "rb") : NULL;
    if (!in || fseek(in, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        abort();
    }
    b->size = (size_t)ftell(in);
    b->data = malloc(b->size);
    rewind(in);
    if (!b->data || fread(b->data, 1, b->size, in) != b->size)
        abort();
    fclose(in);
    unlink(path);
    bg_run_report_clear(&report);
    bg_result_destroy(result);
    bg_system_destroy(system);
    bg_model_destroy(model);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int fd = mkstemps(path, 3);
    if (fd < 0)
        abort();
    close(fd);
    unlink(path);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    create_base("tests/fuzz/seeds/tyres.json", "joint", "mdop5", &bases[0]);
    create_base("tests/fuzz/seeds/events.json", "joint", "mdop5", &bases[1]);
    create_base("models/four-bar.json", "cartesian", "hem5", &bases[2]);
    create_base("tests/fuzz/seeds/loops.json", "joint", "mdop5", &bases[3]);
    return 0;
}

static void close_all(hid_t set, hid_t space, hid_t type)
{
    if (set >= 0)
        H5Dclose(set);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
}

/* Some of the numbers of a dataset. */
static void change_numbers(hid_t file, const char *name, fuzz_bytes *in)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : -1, type = set >= 0 ? H5Dget_type(set) : -1;
    hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    double *x = n > 0 && n < 1 << 16 ? calloc((size_t)n, sizeof *x) : NULL;
    if (x && (class == H5T_FLOAT || class == H5T_INTEGER) &&
        H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0) {
        unsigned count = 1 + take_byte(in) % 6;
        for (unsigned i = 0; i < count; i++) {
            size_t at = take_word(in) % (size_t)n;
            x[at] = take_number(in);
        }
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    }
    free(x);
    close_all(set, space, type);
}

/* Another dataset under the name: any type, rank and size; numbers of it are not written. */
static void replace_dataset(hid_t file, const char *name, fuzz_bytes *in)
{
    static const hsize_t sizes[] = {0, 1, 2, 3, 5, 25, 26, 100, 70000, (hsize_t)1 << 33};
    const hid_t types[] = {H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I8LE,   H5T_STD_U64BE,
                           H5T_IEEE_F32BE, H5T_C_S1,      H5T_STD_REF_OBJ};
    hsize_t size[3], chunk[3] = {16, 1, 1};
    unsigned rank = take_byte(in) % 4, kind = take_byte(in);
    for (unsigned i = 0; i < 3; i++)
        size[i] = sizes[take_byte(in) % (sizeof sizes / sizeof *sizes)];
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple((int)rank, size, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    if (rank > 0 && kind % 2)
        H5Pset_chunk(how, (int)rank, chunk);
    if (kind % 5 == 0 && rank > 0 && size[0] < 100)
        H5Pset_external(how, "/etc/hostname", 0, H5F_UNLIMITED);
    H5Ldelete(file, name, H5P_DEFAULT);
    hid_t set = H5Dcreate2(file, name, types[kind / 2 % 7], space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (how >= 0)
        H5Pclose(how);
    close_all(set, space, -1);
}

/* A text of the input, with any bytes but 0. */
static char *take_text(fuzz_bytes *in, char text[64])
{
    unsigned n = take_byte(in) % 63;
    for (unsigned i = 0; i < n; i++) {
        unsigned c = take_byte(in);
        text[i] = (char)(c ? c : 1);
    }
    text[n] = '\0';
    return text;
}

static hid_t create_text_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    return type;
}

/* A document whose text is changed in some places, as JSON is: one byte for another. */
static void change_document(hid_t file, const char *name, fuzz_bytes *in)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), type = create_text_type();
    char *text = NULL;
    if (set >= 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0 && text) {
        size_t n = strlen(text);
        unsigned count = take_byte(in) % 6;
        for (unsigned i = 0; i < count && n > 0; i++) {
            size_t at = take_word(in) % n;
            unsigned c = take_byte(in);
            text[at] = (char)(c ? c : ' ');
        }
        H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
        H5free_memory(text);
    }
    close_all(set, -1, type);
}

static void change_attribute(hid_t file, fuzz_bytes *in)
{
    static const char *const names[] = {"format", "format_version", "bogie_version",
                                        "model",  "integrator",     "complete"};
    const char *name = names[take_byte(in) % 6];
    char text[64];
    const char *value = take_text(in, text);
    int number = (int)take_byte(in) - 100;
    bool textual = take_byte(in) % 2;
    hid_t type = create_text_type(), space = H5Screate(H5S_SCALAR);
    H5Adelete(file, name);
    hid_t a = H5Acreate2(file, name, textual ? type : H5T_STD_I32LE, space, H5P_DEFAULT,
                         H5P_DEFAULT);
    if (a >= 0) {
        H5Awrite(a, textual ? type : H5T_NATIVE_INT, textual ? (const void *)&value : &number);
        H5Aclose(a);
    }
    close_all(-1, space, type);
}

/* The names of columns, as many as there may be. */
static void change_names(hid_t file, const char *name, fuzz_bytes *in)
{
    hid_t object = H5Oopen(file, take_byte(in) % 4 ? name : "events", H5P_DEFAULT);
    if (object < 0)
        return;
    char texts[8][64];
    const char *values[8];
    hsize_t n = 1 + take_byte(in) % 8;
    for (hsize_t i = 0; i < n; i++)
        values[i] = take_text(in, texts[i]);
    hid_t type = create_text_type(), space = H5Screate_simple(1, &n, NULL);
    H5Adelete(object, "names");
    hid_t a = H5Acreate2(object, "names", type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (a >= 0) {
        H5Awrite(a, type, values);
        H5Aclose(a);
    }
    close_all(-1, space, type);
    H5Oclose(object);
}

static void change_link(hid_t file, const char *name, fuzz_bytes *in)
{
    const char *other = sets[take_byte(in) % DATASETS];
    unsigned kind = take_byte(in) % 4;
    H5Ldelete(file, name, H5P_DEFAULT);
    if (kind == 1)
        H5Lcreate_soft(other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    else if (kind == 2)
        H5Lcreate_external(path, other, file, name, H5P_DEFAULT, H5P_DEFAULT);
    else if (kind == 3)
        H5Lcreate_hard(file, other, file, name, H5P_DEFAULT, H5P_DEFAULT);
}

static void change(hid_t file, fuzz_bytes *in)
{
    const char *name = sets[take_byte(in) % DATASETS];
    switch (take_byte(in) % 8) {
    case 0:
        replace_dataset(file, name, in);
        return;
    case 1:
        change_attribute(file, in);
        return;
    case 2:
        change_names(file, name, in);
        return;
    case 3:
        change_link(file, name, in);
        return;
    case 4:
        change_document(file, sets[19 + take_byte(in) % 3], in);
        return;
    default:
        change_numbers(file, name, in);
    }
}

static void write_file(const result_base *b)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(b->data, 1, b->size, out) != b->size || fclose(out) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes in = {data, size};
    bg_error err = {0};
    bg_report *report;
    write_file(&bases[take_byte(&in) % BASES]);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0)
        abort();
    for (int k = 0; k < MOST_CHANGES && in.size > 0; k++)
        change(file, &in);
    H5Fclose(file);
    bg_status st = bg_report_create(&report, &err);
    if (st == BG_OK)
        st = bg_report_add(report, path, &err);
    if (st == BG_OK)
        st = bg_report_write(report, page, NULL, "/dev/null", &err);
    if (st == BG_OK) {
        st = bg_report_write_gltf(report, "/dev/null", &err);
    }
    if (st != BG_OK)
        expect_sentence(st, &err);
    bg_report_destroy(report);
    return 0;
}

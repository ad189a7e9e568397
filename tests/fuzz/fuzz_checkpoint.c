/* Checkpoints with any bytes changed and their checksum repaired: the run goes on for a few steps
 * or is refused with one sentence.
 *
 * An input is a choice of a run and a list of changes to its checkpoint. The fingerprint of the
 * system's functions, which whoever forges a checkpoint can compute as well, always agrees here:
 * the build replaces bg_fingerprint_calc (-Wl,--wrap). */
#include "bogie/model.h"
#include "bogie/run.h"
#include "fuzz.h"
#include "run/fingerprint.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_CHANGES = 16, HEADER = 32, SETTINGS = 7 * 256 + 15 * 8, FINGERPRINT = 1, STEPS = 3 };

/* A run and its checkpoint. */
typedef struct checkpoint_base {
    bg_model *model;
    bg_system *system;
    const char *formulation, *integrator;
    unsigned char *data;
    size_t size;
    long steps; /* that it has made */
} checkpoint_base;

enum { BASES = 10 };

/* libFuzzer keeps no state of ours from one input to the next. */
static checkpoint_base bases[BASES];
static char changed[] = "/tmp/bogie-fuzz-XXXXXX";

uint64_t __wrap_bg_fingerprint_calc(bg_runner *r);
uint64_t __wrap_bg_fingerprint_calc(bg_runner *r)
{
    (void)r;
    return FINGERPRINT;
}

static bg_run_options make_options(const checkpoint_base *b)
{
    bg_run_options o = bg_default_run_options();
    o.integrator = b->integrator;
    o.formulation = b->formulation;
    o.output_steps = 1;
    o.t_end = 1e3;
    o.method.h_min = 1e-9;
    if (strstr(b->integrator, "euler"))
        o.method.step = 1e-3;
    return o;
}

static void fail(const char *what, const bg_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    abort();
}

static void create_base(const char *model, const char *formulation, const char *integrator,
                        checkpoint_base *b)
{
    bg_error err = {0};
    char path[512];
    *b = (checkpoint_base){.formulation = formulation, .integrator = integrator};
    snprintf(path, sizeof path, "%s/%s", BOGIE_SOURCE_DIR, model);
    if (bg_model_read(path, NULL, 0, &b->model, &err) != BG_OK ||
        bg_model_create_system(b->model, formulation, &b->system, &err) != BG_OK)
        fail(path, &err);
    bg_run_options o = make_options(b);
    bg_run_report report = {0};
    o.max_steps = 40;
    o.checkpoint = changed;
    bg_run(b->system, &o, &report, &err);
    b->steps = report.counters.accepted;
    bg_run_report_clear(&report);
    FILE *file = fopen(changed, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path, &err);
    b->size = (size_t)ftell(file);
    b->data = malloc(b->size);
    rewind(file);
    if (!b->data || fread(b->data, 1, b->size, file) != b->size)
        abort();
    fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int fd = mkstemp(changed);
    if (fd < 0)
        abort();
    close(fd);
    unlink(changed);
    create_base("tests/fuzz/seeds/events.json", "joint", "mdop5", &bases[0]);
    create_base("tests/fuzz/seeds/tyres.json", "joint", "mdop5", &bases[1]);
    create_base("tests/fuzz/seeds/tyres.json", "cartesian", "hem5", &bases[2]);
    create_base("models/four-bar.json", "joint", "hem5", &bases[3]);
    create_base("models/four-bar.json", "cartesian", "mdop5", &bases[4]);
    create_base("tests/fuzz/seeds/tyres.json", "joint", "linear-euler", &bases[5]);
    create_base("models/four-bar.json", "cartesian", "linear-euler", &bases[6]);
    create_base("tests/fuzz/seeds/tyres.json", "joint", "bdf", &bases[7]);
    create_base("models/four-bar.json", "cartesian", "bdf", &bases[8]);
    create_base("tests/fuzz/seeds/loops.json", "joint", "mdop8", &bases[9]);
    return 0;
}

/* Changes some bytes; most of the settings, whose every change is found by comparison, stay. */
static void change(fuzz_bytes *in, unsigned char *data, size_t size)
{
    size_t from = take_byte(in) % 16 == 0 ? 0 : SETTINGS;
    unsigned kind = take_byte(in), n = 1 + kind / 4 % 8;
    size_t at = from + ((size_t)take_word(in) + 65536 * (size_t)(kind / 32)) % (size - from);
    if (kind % 4 == 0) {
        for (unsigned i = 0; i < n && at + i < size; i++)
            data[at + i] = (unsigned char)take_byte(in);
        return;
    }
    double x = take_number(in);
    int whole = x > -2e9 && x < 2e9 ? (int)x : kind % 8 < 4 ? -2147483647 - 1 : 2147483647;
    size_t width = kind % 4 == 1 ? sizeof x : sizeof whole;
    at -= at % width;
    if (at + width <= size)
        memcpy(data + at, kind % 4 == 1 ? (const void *)&x : &whole, width);
}

static void write_file(const unsigned char *data, size_t size)
{
    FILE *file = fopen(changed, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes in = {data, size};
    const checkpoint_base *b = &bases[take_byte(&in) % BASES];
    unsigned char *copy = malloc(b->size);
    if (!copy)
        return 0;
    memcpy(copy, b->data, b->size);
    for (int i = 0; i < MOST_CHANGES && in.size > 0; i++)
        change(&in, copy + HEADER, b->size - HEADER);
    uint64_t sum = bg_fingerprint_add(BG_FINGERPRINT_START, copy + HEADER, b->size - HEADER);
    memcpy(copy + HEADER - sizeof sum, &sum, sizeof sum);
    write_file(copy, b->size);
    free(copy);
    bg_run_options o = make_options(b);
    bg_run_report report = {0};
    bg_error err = {0};
    o.max_steps = b->steps + STEPS;
    o.resume = changed;
    bg_status st = bg_run(b->system, &o, &report, &err);
    if (st < 0)
        expect_sentence(st, &err);
    bg_run_report_clear(&report);
    return 0;
}

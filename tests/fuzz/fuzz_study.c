/* Any bytes as a study file, in a folder beside that of the models: read, its first cases made, run
 * for a few steps and measured, or refused with one sentence. The text is also read as what a
 * worker answers. */
#include "fuzz_json.h"
#include "results/summary.h"
#include "study/measure.h"

#include <stdio.h>
#include <unistd.h>

enum { LARGEST_TEXT = 1 << 14, MOST_CASES = 3, MOST_STEPS = 3, MOST_ROWS = 12 };

static char path[] = "studies/XXXXXX";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    close(fd);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const extreme[] = {"0",
                                          "-1",
                                          "1e308",
                                          "1e-308",
                                          "2147483648",
                                          "1e18",
                                          "null",
                                          "true",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "0.5",
                                          "\"max\"",
                                          "\"end\"",
                                          "\"rms\"",
                                          "\"all\"",
                                          "\"q:*\"",
                                          "\"events[0].t\"",
                                          "\"mdop5\"",
                                          "\"hem5\"",
                                          "\"steps.accepted\"",
                                          "1",
                                          "2",
                                          "\"\\u001b[2J\"",
                                          "\"equations:pendulum\"",
                                          "\"../models/four-bar.json\"",
                                          "\"name\"",
                                          "\"|g|\""};
    return change_json(data, size, room, seed, extreme, sizeof extreme / sizeof *extreme);
}

typedef struct limited {
    bg_sink sink;
    int rows;
} limited;

static bg_status take_row(void *self, const bg_row *row, bg_error *err)
{
    limited *l = self;
    if (++l->rows > MOST_ROWS)
        return bg_error_set(err, BG_STOPPED, "enough rows were written");
    return l->sink.row ? l->sink.row(l->sink.self, row, err) : BG_OK;
}

static void measure(const bg_study *s, long k, bg_simulation *sim)
{
    bg_measure m = {0};
    bg_error err = {0};
    const bg_trajectory *references[BG_MAX_REFERENCES] = {NULL};
    for (int i = 0; i < s->nreferences; i++) {
        if (s->references[i].kind == BG_REFERENCE_VARIANT)
            return; /* a run of its own: of the same kind */
        references[i] = &s->references[i].file;
    }
    bg_status st = bg_measure_create(s, k, references, NULL, sim->system, &m, &err);
    if (st == BG_OK) {
        bg_run_report report = {0};
        limited l = {.sink = bg_measure_get_sink(&m)};
        sim->run.sink = (bg_sink){.self = &l, .row = take_row};
        sim->run.max_steps = MOST_STEPS;
        sim->run.method.h_min = 1e-10;
        st = bg_run(sim->system, &sim->run, &report, &err);
        json_t *summary = bg_summary_make_json(sim->system, bg_problem_get_reference(sim->problem),
                                               &report);
        for (int i = 0; i < s->nmetrics; i++)
            if (bg_metric_is_own(&s->metrics[i]) && s->metrics[i].kind != BG_METRIC_STABLE_STEP) {
                bg_cell cell = bg_measure_get(&m, i, &report, summary);
                free(cell.text);
            }
        json_decref(summary);
        bg_run_report_clear(&report);
    }
    if (st < 0)
        expect_sentence(st, &err);
    bg_measure_clear(&m);
}

static void try_case(const bg_study *s, long k)
{
    char *name = bg_study_make_name(s, k);
    json_t *settings = bg_study_make_settings(s, k);
    bg_simulation sim;
    bg_error err = {0};
    if (settings && name) {
        bg_status st = bg_simulation_open(s, settings, &sim, &err);
        if (st == BG_OK) {
            measure(s, k, &sim);
            bg_simulation_close(&sim);
        } else {
            expect_sentence(st, &err);
        }
    }
    json_decref(settings);
    free(name);
}

/* A row with numbers of the input, or one that failed. */
static void fill_row(const bg_study *s, bg_record *row, fuzz_bytes *in)
{
    if (take_byte(in) % 4 == 0) {
        bg_record_fail(row, "not run");
        return;
    }
    row->ok = row->done = true;
    for (int i = 0; i < s->nmetrics; i++)
        row->cells[i] = bg_cell_from_number(take_number(in));
}

/* The table of a study whose cases gave anything. */
static void make_table(const bg_study *s, fuzz_bytes in)
{
    bg_table *table;
    bg_error err = {0};
    if (s->ncases > 64 || bg_table_create(s, &table, &err) != BG_OK)
        return;
    for (long k = 0; k < s->ncases; k++)
        if (bg_record_create(s, k, &table->rows[k]) == BG_OK)
            fill_row(s, &table->rows[k], &in);
    if (bg_table_derive(table, &err) == BG_OK) {
        free(bg_table_create_text(table));
        free(bg_table_create_csv(table));
        free(bg_table_create_json(table));
    }
    bg_table_destroy(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bg_study *s;
    bg_error err = {0};
    FILE *file = size <= LARGEST_TEXT ? fopen(path, "wb") : NULL;
    if (!file)
        return 0;
    if (fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    bg_status st = bg_study_read(path, true, &s, &err);
    if (st != BG_OK) {
        expect_sentence(st, &err);
        return 0;
    }
    bg_record record;
    if (bg_record_decode(s, (const char *)data, size, &record))
        bg_record_clear(s, &record);
    for (long k = 0; k < s->ncases && k < MOST_CASES; k++)
        try_case(s, k);
    make_table(s, (fuzz_bytes){data, size});
    bg_study_destroy(s);
    return 0;
}

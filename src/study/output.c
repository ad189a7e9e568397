/* The table as CSV and for people. */
#include "base/output.h"
#include "base/text.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of CSV, quoted where RFC 4180 asks for it. */
static void print_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_json(FILE *out, const json_t *value)
{
    if (json_is_string(value)) {
        print_field(out, json_string_value(value));
    } else if (json_is_real(value)) {
        char number[40];
        bg_text_print(json_real_value(value), number, sizeof number);
        fputs(number, out);
    } else if (value && !json_is_null(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        print_field(out, text ? text : "");
        free(text);
    }
}

/* Settings that variants change, in the order of the file. */
static json_t *list_changing(const bg_study *s)
{
    json_t *keys = json_object(), *value;
    const char *key;
    for (long i = 0; s->list && i < s->nlist; i++)
        json_object_foreach(json_array_get(s->list, (size_t)i), key, value)
        {
            if (strcmp(key, "name") != 0 && strcmp(key, "reference") != 0 &&
                strcmp(key, "comment") != 0)
                json_object_set_new(keys, key, json_true());
        }
    json_object_foreach(s->grid, key, value)
    {
        json_object_set_new(keys, key, json_true());
    }
    for (int i = 0; i < s->ndraws; i++)
        json_object_set_new(keys, s->draws[i].key, json_true());
    return keys;
}

static void print_csv_row(FILE *out, const bg_table *t, const json_t *keys, long k)
{
    const bg_study *s = t->study;
    const bg_record *r = &t->rows[k];
    const char *key;
    json_t *unused, *settings = bg_study_make_settings(s, k);
    char *name = bg_study_make_name(s, k);
    fprintf(out, "%ld,", k);
    print_field(out, name ? name : "");
    fprintf(out, ",%s,", r->ok ? "ok" : "failed");
    print_field(out, r->reason ? r->reason : "");
    json_object_foreach((json_t *)keys, key, unused)
    {
        fputc(',', out);
        print_json(out, json_object_get(settings, key));
    }
    for (int i = 0; i < s->nmetrics; i++)
        if (bg_study_shows(s, i)) {
            json_t *cell = bg_cell_to_json(&r->cells[i]);
            fputc(',', out);
            print_json(out, cell);
            json_decref(cell);
        }
    fputc('\n', out);
    free(name);
    json_decref(settings);
}

char *bg_table_create_csv(const bg_table *t)
{
    char *text = NULL;
    size_t size;
    const char *key;
    json_t *unused;
    FILE *out = open_memstream(&text, &size);
    json_t *keys = list_changing(t->study);
    if (!out || !keys)
        return NULL;
    fputs("case,name,status,reason", out);
    json_object_foreach(keys, key, unused)
    {
        fputc(',', out);
        print_field(out, key);
    }
    for (int i = 0; i < t->study->nmetrics; i++)
        if (bg_study_shows(t->study, i)) {
            fputc(',', out);
            print_field(out, t->study->metrics[i].key);
        }
    fputc('\n', out);
    for (long k = 0; k < t->study->ncases; k++)
        if (bg_study_lists(t->study, k))
            print_csv_row(out, t, keys, k);
    json_decref(keys);
    return fclose(out) == 0 ? text : NULL;
}

/* A table of texts that is printed with its columns aligned. */
typedef struct text_grid {
    char **cell; /* [rows x columns] */
    bool *right; /* [rows x columns] numbers stand on the right */
    int rows, columns;
} text_grid;

static int get_width(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80; /* characters of UTF-8 */
    return n;
}

static bool grid_create(text_grid *g, int rows, int columns)
{
    g->rows = rows;
    g->columns = columns;
    g->cell = calloc((size_t)rows * (size_t)columns, sizeof *g->cell);
    g->right = calloc((size_t)rows * (size_t)columns, sizeof *g->right);
    return g->cell && g->right;
}

static void grid_clear(text_grid *g)
{
    for (int i = 0; g->cell && i < g->rows * g->columns; i++)
        free(g->cell[i]);
    free(g->cell);
    free(g->right);
}

static void grid_put(text_grid *g, int row, int column, const json_t *value)
{
    char buffer[64] = "-";
    const char *text = buffer;
    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_integer(value))
        snprintf(buffer, sizeof buffer, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(buffer, sizeof buffer, "%.5g", json_real_value(value));
    g->cell[row * g->columns + column] = strdup(text);
    g->right[row * g->columns + column] = !json_is_string(value);
}

static void grid_put_text(text_grid *g, int row, int column, const char *text, bool right)
{
    g->cell[row * g->columns + column] = strdup(text);
    g->right[row * g->columns + column] = right;
}

static void grid_print_row(const text_grid *g, int row, const int *width, FILE *out)
{
    for (int column = 0; column < g->columns; column++) {
        const char *text = g->cell[row * g->columns + column];
        text = text ? text : "";
        if (column + 1 == g->columns && !*text)
            break; /* no blanks at the end of a line */
        int pad = width[column] - get_width(text);
        bool right = g->right[row * g->columns + column], last = column + 1 == g->columns;
        fprintf(out, "%s%*s%s%*s", column > 0 ? "  " : "", right ? pad : 0, "", text,
                right || last ? 0 : pad, "");
    }
    fputc('\n', out);
}

static void grid_print(const text_grid *g, FILE *out)
{
    int *width = calloc((size_t)g->columns, sizeof *width);
    for (int i = 0; width && i < g->rows * g->columns; i++) {
        int w = g->cell[i] ? get_width(g->cell[i]) : 0, column = i % g->columns;
        width[column] = w > width[column] ? w : width[column];
    }
    for (int row = 0; width && row < g->rows; row++)
        grid_print_row(g, row, width, out);
    free(width);
}

/* Name and failure of case k in a row. */
static void put_case(text_grid *g, int row, const bg_table *t, long k)
{
    char reason[1200], *name = bg_study_make_name(t->study, k);
    const bg_record *r = &t->rows[k];
    grid_put_text(g, row, 0, name ? name : "", false);
    snprintf(reason, sizeof reason, "failed: %s", r->reason ? r->reason : "");
    grid_put_text(g, row, g->columns - 1, r->ok ? "" : reason, false);
    free(name);
}

static void print_rows(const bg_table *t, FILE *out)
{
    const bg_study *s = t->study;
    int columns = 2, rows = 1;
    text_grid g = {0};
    for (int i = 0; i < s->nmetrics; i++)
        columns += bg_study_shows(s, i);
    for (long k = 0; k < s->ncases; k++)
        rows += bg_study_lists(s, k);
    if (!grid_create(&g, rows, columns)) {
        grid_clear(&g);
        return;
    }
    grid_put_text(&g, 0, 0, "case", false);
    for (int i = 0, column = 0; i < s->nmetrics; i++) {
        char title[200];
        snprintf(title, sizeof title, *s->metrics[i].unit ? "%s [%s]" : "%s%s", s->metrics[i].label,
                 s->metrics[i].unit);
        if (bg_study_shows(s, i))
            grid_put_text(&g, 0, ++column, title, true);
    }
    for (long k = 0, row = 0; k < s->ncases; k++) {
        if (!bg_study_lists(s, k))
            continue;
        put_case(&g, (int)++row, t, k);
        for (int i = 0, column = 0; i < s->nmetrics; i++) {
            json_t *cell = bg_study_shows(s, i) ? bg_cell_to_json(&t->rows[k].cells[i]) : NULL;
            if (cell)
                grid_put(&g, (int)row, ++column, cell);
            json_decref(cell);
        }
    }
    grid_print(&g, out);
    grid_clear(&g);
}

static void print_paper(const bg_study *s, FILE *out)
{
    const json_t *columns = json_object_get(s->paper, "columns");
    const json_t *rows = json_object_get(s->paper, "rows");
    int n = (int)json_array_size(columns), m = (int)json_array_size(rows);
    const char *note = json_string_value(json_object_get(s->paper, "note"));
    text_grid g = {0};
    fprintf(out, "\nPrinted in %s:\n", json_string_value(json_object_get(s->paper, "source")));
    if (grid_create(&g, m + 1, n)) {
        for (int k = 0; k < n; k++)
            grid_put_text(&g, 0, k, json_string_value(json_array_get(columns, (size_t)k)), k > 0);
        for (int i = 0; i < m; i++)
            for (int k = 0; k < n; k++)
                grid_put(&g, i + 1, k, json_array_get(json_array_get(rows, (size_t)i), (size_t)k));
        grid_print(&g, out);
    }
    grid_clear(&g);
    if (note)
        fprintf(out, "%s\n", note);
}

char *bg_table_create_text(const bg_table *t)
{
    const bg_study *s = t->study;
    char *text = NULL;
    size_t size;
    long failed = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s\n", s->title);
    if (*s->text)
        fprintf(out, "%s\n", s->text);
    fputc('\n', out);
    print_rows(t, out);
    for (long k = 0; k < s->ncases; k++)
        failed += !t->rows[k].ok;
    fprintf(out, "\n%ld case%s, %ld failed\n", s->ncases, s->ncases == 1 ? "" : "s", failed);
    if (s->paper)
        print_paper(s, out);
    return fclose(out) == 0 ? text : NULL;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

bg_status bg_table_save(const bg_table *t, const char *path, bg_error *err)
{
    bool json = ends_in(path, ".json");
    bg_place_kind kind = json ? BG_PLACE_STUDY : BG_PLACE_TABLE;
    if (!json && !ends_in(path, ".csv"))
        return bg_error_set(err, BG_BAD_INPUT, "the table '%s' must be named FILE.csv or FILE.json",
                            path);
    bg_status st = bg_place_check(path, kind, err);
    char *text = st == BG_OK ? json ? bg_table_create_json(t) : bg_table_create_csv(t) : NULL;
    size_t length = text ? strlen(text) : 0;
    if (st == BG_OK && !text)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the table");
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0'; /* what writes it adds one */
    if (st == BG_OK)
        st = bg_output_write_text(path, kind, text, err);
    free(text);
    return st;
}

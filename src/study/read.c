/* The study file: its top, and what becomes of it in memory. */
#include "study/read.h"
#include "study/simulation.h"

#include "base/file.h"
#include "base/memory.h"
#include "bogie/bogie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const bg_value *v, const char *key, const char *fallback)
{
    return bg_reader_copy(v->reader, bg_value_text_or(v, key, fallback));
}

static void read_top(const bg_value *top, bg_study *s)
{
    static const char *const keys[] = {"$schema", "name",        "title",      "text",    "model",
                                       "base",    "variants",    "references", "metrics", "plots",
                                       "paper",   "repetitions", "time_limit", "show",    NULL};
    const char *slash = strrchr(s->path, '/'), *file = slash ? slash + 1 : s->path;
    char stem[256];
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(file, "."), file);
    bg_value_expect(top, keys);
    s->name = copy_text(top, "name", stem);
    s->title = copy_text(top, "title", s->name ? s->name : "");
    s->text = copy_text(top, "text", "");
    if (s->name && (strchr(s->name, '/') || !*s->name)) {
        bg_value name = bg_value_member(top, "name");
        bg_value_fail(&name, "names files, so it must not be empty or contain '/'");
    }
    bg_value base = bg_value_member(top, "base");
    s->base = base.json;
    if (bg_value_exists(&base))
        bg_study_read_settings(&base, false);
    bg_study_read_variants(top, s);
    bg_value show = bg_value_member(top, "show");
    s->show = show.json;
    if (bg_value_exists(&show))
        bg_study_read_settings(&show, false);
    bg_value repetitions = bg_value_member(top, "repetitions");
    double n = bg_value_number_or(top, "repetitions", 1);
    s->repetitions = n >= 1 && n <= 1e6 ? (int)n : 1;
    if (n != (double)s->repetitions)
        bg_value_fail(&repetitions, "must be a whole number from 1 on, but is %g", n);
    s->time_limit = bg_value_not_negative_or(top, "time_limit", 0);
    bg_study_read_references(top, s);
    bg_study_read_metrics(top, s);
    bg_study_read_plots(top, s);
    bg_study_read_paper(top, s);
    if (top->reader->status == BG_OK)
        bg_value_check_texts(top);
    if (top->reader->status == BG_OK)
        bg_study_check_models(top, s);
}

/* "model" at the top is short for one in "base". */
static bool move_model(json_t *root)
{
    json_t *model = json_object_get(root, "model"), *base = json_object_get(root, "base");
    if (!json_is_string(model))
        return true;
    if (!base) {
        base = json_object();
        if (json_object_set_new(root, "base", base))
            return false;
    }
    return !json_is_object(base) || json_object_get(base, "model") ||
           json_object_set(base, "model", model) == 0;
}

static bg_status parse(bg_study *s, const char *text, size_t length, bg_error *err)
{
    json_error_t error;
    s->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!s->root)
        return bg_error_set(err, BG_BAD_INPUT, "%s: line %d, column %d: %s", s->path, error.line,
                            error.column,
                            length == 0 ? "the file is empty, not a study" : error.text);
    bg_reader reader = {.origin = s->path, .err = err};
    bg_value top = {.reader = &reader, .json = s->root};
    if (!json_is_object(s->root))
        return bg_value_fail(&top, "a study must be an object { }");
    if (!move_model(s->root))
        return bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the study", s->path);
    s->hash = bg_hash_bytes(0, BG_VERSION, sizeof BG_VERSION);
    s->hash = bg_hash_bytes(s->hash, text, length);
    bool timing = s->timing;
    s->timing = false;
    read_top(&top, s);
    s->timing = s->timing && timing;
    s->hash = bg_hash_bytes(s->hash, &s->timing, sizeof s->timing);
    if (reader.status == BG_OK && !bg_study_hash_files(s))
        bg_reader_fail_memory(&reader);
    return reader.status;
}

static bg_status create(const char *text, size_t length, const char *path, bool timing,
                        bg_study **study, bg_error *err)
{
    bg_study *s = BG_NEW(bg_study);
    const char *slash = strrchr(path, '/');
    bg_status st = BG_NO_MEMORY;
    *study = NULL;
    if (s) {
        s->path = strdup(path);
        s->folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
        s->timing = timing;
        s->sources = bg_sources_create();
        st = s->path && s->folder && s->sources ? parse(s, text, length, err) : BG_NO_MEMORY;
    }
    if (st == BG_NO_MEMORY)
        bg_error_set(err, st, "%s: not enough memory to read the study", path);
    if (st == BG_OK)
        *study = s;
    else
        bg_study_destroy(s);
    return st;
}

bg_status bg_study_parse(const char *text, const char *origin, int timing, bg_study **study,
                         bg_error *err)
{
    return create(text, strlen(text), origin, timing != 0, study, err);
}

bg_status bg_study_read(const char *path, int timing, bg_study **study, bg_error *err)
{
    char subject[512];
    size_t length;
    char *text;
    *study = NULL;
    snprintf(subject, sizeof subject, "%s:", path);
    bg_status st = bg_file_read(path, subject, "study", &text, &length, err);
    if (st != BG_OK)
        return st;
    st = create(text, length, path, timing != 0, study, err);
    free(text);
    return st;
}

void bg_study_destroy(bg_study *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->nmetrics; i++) {
        free(s->metrics[i].names.items);
        free(s->metrics[i].differing.items);
        free(s->metrics[i].limited);
        free(s->metrics[i].limits);
    }
    for (int i = 0; i < s->nreferences; i++) {
        bg_reference *r = &s->references[i];
        for (int k = 0; r->columns && k < r->names.count; k++)
            free(r->columns[k]);
        if (!r->columns)
            free(r->names.items);
        free(r->columns);
        free(r->values);
        bg_trajectory_clear(&r->file);
    }
    free(s->metrics);
    free(s->references);
    free(s->curves);
    free(s->draws);
    json_decref(s->grid);
    json_decref(s->root);
    free(s->name);
    free(s->title);
    free(s->text);
    free(s->path);
    free(s->folder);
    bg_sources_destroy(s->sources);
    free(s);
}

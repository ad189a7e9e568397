/* Reports: what goes into a page, and the page itself.
 *
 * A page is the viewer's template with the line
 *     <script id="bogie-data" type="application/json">null</script>
 * in which `null` is replaced by the data. Everything is read and checked when it is added, as far
 * as it can be without the numbers; these go from the result to the page array by array. */
#include "bogie/report.h"

#include "base/memory.h"
#include "base/output.h"
#include "bogie/version.h"
#include "report/gltf.h"
#include "report/page.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char placeholder[] =
    "<script id=\"bogie-data\" type=\"application/json\">null</script>";
static const size_t null_at = sizeof "<script id=\"bogie-data\" type=\"application/json\">" - 1;

enum { STUDY_FORMAT = 1 };

typedef struct item {
    char *name;
    bg_result_file *result; /* one of these two */
    json_t *study;
} item;

struct bg_report {
    item *items;
    int nitems;
};

bg_status bg_report_create(bg_report **report, bg_error *err)
{
    *report = BG_NEW(bg_report);
    return *report ? BG_OK : bg_error_set(err, BG_NO_MEMORY, "out of memory for a report");
}

static void clear_item(item *x)
{
    bg_result_close(x->result);
    json_decref(x->study);
    free(x->name);
}

void bg_report_destroy(bg_report *report)
{
    if (!report)
        return;
    for (int k = 0; k < report->nitems; k++)
        clear_item(&report->items[k]);
    free(report->items);
    free(report);
}

/* The file's name without folder and ending. */
static char *copy_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot > name)
        *dot = '\0';
    return name;
}

/* The first character that is no blank; EOF: none. */
static bg_status find_first(const char *path, int *first, bg_error *err)
{
    errno = 0;
    FILE *file = fopen(path, "rb");
    *first = EOF;
    while (file && (*first = getc(file)) != EOF && isspace(*first))
        continue;
    bool failed = !file || ferror(file);
    int cause = errno;
    if (file)
        fclose(file);
    if (failed)
        return bg_error_set(err, BG_IO, "'%s' cannot be read: %s", path, strerror(cause));
    return BG_OK;
}

static bg_status check_study(const json_t *study, const char *path, bg_error *err)
{
    const char *kind = json_string_value(json_object_get(study, "kind"));
    const json_t *format = json_object_get(study, "format");
    if (!kind || strcmp(kind, "study") != 0 || !json_is_number(format))
        return bg_error_set(err, BG_BAD_INPUT,
                            "'%s' is JSON, but not the output of a study; `bogie study FILE.json "
                            "--json OUT.json` makes one, and `bogie run MODEL -o FILE.h5` a result",
                            path);
    if (json_number_value(format) > STUDY_FORMAT)
        return bg_error_set(
            err, BG_BAD_INPUT,
            "the study '%s' has format %g of a newer version of Bogie, but this one "
            "reads format %d; update Bogie",
            path, json_number_value(format), STUDY_FORMAT);
    if (!json_is_array(json_object_get(study, "columns")) ||
        !json_is_array(json_object_get(study, "rows")))
        return bg_error_set(err, BG_BAD_INPUT,
                            "the study '%s' is damaged: its table is missing; run the study again",
                            path);
    return BG_OK;
}

static bg_status open_study(const char *path, json_t **study, bg_error *err)
{
    json_error_t error;
    *study = json_load_file(path, 0, &error);
    if (!*study)
        return bg_error_set(err, BG_BAD_INPUT, "%s: line %d, column %d: %s; run the study again",
                            path, error.line, error.column, error.text);
    return check_study(*study, path, err);
}

/* Room for one more item, with its name. */
static bg_status make_item(bg_report *report, const char *path, item *new, bg_error *err)
{
    item *items = realloc(report->items, (size_t)(report->nitems + 1) * sizeof *items);
    report->items = items ? items : report->items;
    *new = (item){.name = copy_name(path)};
    return items && new->name ? BG_OK
                              : bg_error_set(err, BG_NO_MEMORY, "out of memory for a report");
}

static bg_status keep_item(bg_report *report, bg_status st, item *new)
{
    if (st == BG_OK)
        report->items[report->nitems++] = *new;
    else
        clear_item(new);
    return st;
}

bg_status bg_report_add(bg_report *report, const char *path, bg_error *err)
{
    int first;
    item new;
    bg_status st = find_first(path, &first, err);
    if (st != BG_OK)
        return st;
    st = make_item(report, path, &new, err);
    if (st == BG_OK)
        st = first == '{' || first == '[' ? open_study(path, &new.study, err)
                                          : bg_result_open(path, &new.result, err);
    return keep_item(report, st, &new);
}

bg_status bg_report_add_study(bg_report *report, const char *name, const char *text, bg_error *err)
{
    item new;
    bg_status st = make_item(report, name, &new, err);
    if (st == BG_OK && !(new.study = json_loads(text, 0, NULL)))
        st = bg_error_set(err, BG_BAD_INPUT, "the output of study '%s' is no JSON", name);
    if (st == BG_OK)
        st = check_study(new.study, name, err);
    return keep_item(report, st, &new);
}

static json_t *parse(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

static bg_status write_result(bg_json *j, const item *x, bg_error *err)
{
    const bg_result_info *info = bg_result_get_info(x->result);
    bg_page_result r = {.name = x->name, .file = x->result};
    bg_status st = bg_scene_create(x->result, &r.scene, r.note, err);
    if (st != BG_OK)
        return st;
    r.setup = parse(info->setup);
    r.summary = parse(info->summary);
    bg_json_open(j, NULL, '{');
    bg_json_text(j, "name", x->name);
    if (!bg_page_write_summary(j, &r))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a report");
    if (st == BG_OK)
        st = bg_page_write_channels(j, &r, err);
    if (st == BG_OK)
        st = bg_page_write_steps(j, &r, err);
    if (st == BG_OK)
        st = bg_page_write_events(j, &r, err);
    if (st == BG_OK)
        st = bg_page_write_scene(j, &r, err);
    bg_page_write_facts(j, &r);
    bg_json_close(j, '}');
    bg_scene_destroy(r.scene);
    json_decref(r.setup);
    json_decref(r.summary);
    return st;
}

static bg_status write_data(const bg_report *report, const char *title, FILE *out, bg_error *err)
{
    bg_json j = {.out = out};
    bg_status st = BG_OK;
    bg_json_open(&j, NULL, '{');
    bg_json_int(&j, "format", 1);
    bg_json_text(&j, "title", title);
    bg_json_text(&j, "version", "Bogie " BG_VERSION);
    bg_json_open(&j, "results", '[');
    for (int k = 0; k < report->nitems && st == BG_OK; k++)
        if (report->items[k].result)
            st = write_result(&j, &report->items[k], err);
    bg_json_close(&j, ']');
    bg_json_open(&j, "studies", '[');
    for (int k = 0; k < report->nitems && st == BG_OK; k++)
        if (report->items[k].study && !bg_json_value(&j, NULL, report->items[k].study))
            st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a report");
    bg_json_close(&j, ']');
    bg_json_close(&j, '}');
    return st;
}

/* What an item is about: the name of its model, the title of the study, else the file's name. NULL:
 * out of memory. */
static char *copy_subject(const item *x)
{
    const bg_result_info *info = x->result ? bg_result_get_info(x->result) : NULL;
    json_t *model = info ? parse(info->model_text) : NULL;
    const char *name = json_string_value(info ? json_object_get(model, "name")
                                              : json_object_get(x->study, "title"));
    char *copy = name && *name                             ? strdup(name)
                 : info && info->model_text && info->model ? copy_name(info->model)
                                                           : strdup(x->name);
    json_decref(model);
    return copy;
}

/* The subject that all items share. NULL: out of memory. */
static char *make_title(const bg_report *report)
{
    char *title = copy_subject(&report->items[0]);
    for (int k = 1; k < report->nitems && title; k++) {
        char *other = copy_subject(&report->items[k]);
        const bool same = other && strcmp(title, other) == 0;
        free(other);
        if (same)
            continue;
        free(title);
        return strdup("Bogie report");
    }
    return title;
}

bg_status bg_report_write(bg_report *report, const char *template_, const char *title,
                          const char *path, bg_error *err)
{
    const char *place = strstr(template_, placeholder);
    if (!place || strstr(place + 1, placeholder))
        return bg_error_set(err, BG_BAD_INPUT,
                            "the template of pages must have the line %s exactly once",
                            placeholder);
    if (report->nitems == 0)
        return bg_error_set(err, BG_BAD_INPUT, "a report needs at least one result or study");
    bg_output_file out;
    bg_status st = bg_output_open(path, BG_PLACE_PAGE, &out, err);
    if (st != BG_OK)
        return st;
    fwrite(template_, 1, (size_t)(place - template_) + null_at, out.file);
    char *made = title ? NULL : make_title(report);
    st = !title && !made ? bg_error_set(err, BG_NO_MEMORY, "out of memory for a report")
                         : write_data(report, title ? title : made, out.file, err);
    free(made);
    fputs(place + null_at + strlen("null"), out.file);
    return bg_output_close(&out, st, err);
}

bg_status bg_report_write_gltf(bg_report *report, const char *path, bg_error *err)
{
    char note[BG_SCENE_NOTE];
    if (report->nitems != 1 || !report->items[0].result)
        return bg_error_set(err, BG_BAD_INPUT,
                            "glTF holds the motion of one result; give one RESULT.h5");
    bg_scene *scene;
    bg_status st = bg_scene_create(report->items[0].result, &scene, note, err);
    if (st == BG_OK && !scene)
        st = bg_error_set(err, BG_BAD_INPUT, "'%s' has no motion for glTF: %s",
                          report->items[0].name, note);
    bg_output_file out;
    if (st == BG_OK)
        st = bg_output_open(path, BG_PLACE_GLTF, &out, err);
    if (st == BG_OK)
        st = bg_output_close(&out, bg_gltf_write(scene, report->items[0].name, out.file, err), err);
    bg_scene_destroy(scene);
    return st;
}

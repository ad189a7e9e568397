/* Models: from a file or a text to a bg_model, section by section. */
#include "model/read.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_gravity(const bg_value *top)
{
    bg_model *m = top->reader->model;
    bg_value v = bg_value_member(top, "gravity");
    m->gravity = bg_vec3_make(0, 0, -9.81);
    if (json_is_array(v.json))
        m->gravity = bg_value_get_vec3(&v);
    else if (bg_value_exists(&v))
        m->gravity.z = -bg_value_get_number(&v);
}

/* The file's "name", else the file's own without folder and ending. */
static void read_name(const bg_value *top)
{
    bg_reader *reader = top->reader;
    const char *slash = strrchr(reader->origin, '/');
    char *name = bg_reader_copy(reader,
                                bg_value_text_or(top, "name", slash ? slash + 1 : reader->origin));
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot > name && strcmp(dot, ".json") == 0)
        *dot = '\0';
    reader->model->name = name;
}

/* What used a parameter may have been replaced by a setting: that is no reason for doubt. */
static void warn_unused(bg_reader *reader)
{
    const bg_model *m = reader->model;
    const bg_verdict verdict = reader->replaced ? BG_GOOD : BG_DOUBTFUL;
    for (int k = 0; k < reader->nparameters; k++)
        if (!reader->parameter_used[k])
            bg_reader_warn(reader, verdict, "parameter",
                           "parameter '%s' is not used; remove it, or use it",
                           reader->parameter_names[k]);
    for (int k = 1; k < m->nbodies; k++)
        if (!reader->body_attached[k])
            bg_reader_warn(
                reader, BG_DOUBTFUL, "loose",
                "body '%s' moves freely: no joint and no force is attached to it; attach "
                "one, or give it a joint of type free if that is meant",
                m->bodies[k].name);
}

static void read_top(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_value_text_or(top, "$schema", NULL); /* for editors */
    read_name(top);
    read_gravity(top);
    bg_read_signals(top);
    bg_read_tracks(top);
    bg_read_profiles(top);
    bg_read_bodies(top);
    bg_read_joints(top);
    bg_read_couplers(top);
    if (reader->status != BG_OK)
        return;
    bool *attached = reader->body_attached; /* outputs do not count as attached */
    reader->body_attached = bg_reader_allocate(reader, (size_t)reader->model->nbodies,
                                               sizeof *attached);
    if (reader->status == BG_OK)
        bg_read_outputs(top);
    free(reader->body_attached);
    reader->body_attached = attached;
    if (reader->status != BG_OK)
        return;
    bg_read_forces(top);
    bg_read_force_outputs(top);
    bg_read_events(top);
    bg_read_initial(top);
    bg_read_view(top);
    bg_read_run(top);
    if (reader->status == BG_OK)
        warn_unused(reader);
    if (reader->status == BG_OK)
        bg_read_default_shapes(reader);
    if (reader->status == BG_OK)
        bg_read_rails(reader);
}

static void clear_reader(bg_reader *reader)
{
    for (int k = 0; reader->parameter_names && k < reader->nparameters; k++)
        free(reader->parameter_names[k]);
    free(reader->parameter_names);
    free(reader->parameter_values);
    free(reader->parameter_used);
    free(reader->body_attached);
    for (int k = 0; k < BG_NAME_KINDS; k++)
        json_decref(reader->names[k]);
    bg_scopes_clear(reader);
}

/* The content stays with the model; a name that came from the file's own is stated in it. */
static void keep_source(bg_reader *reader, json_t *root)
{
    if (!json_object_get(root, "name")) {
        json_t *name = json_string(reader->model->name);
        if (!name) /* file names need not be UTF-8 */
            name = json_string("model");
        if (json_object_set_new(root, "name", name))
            bg_reader_fail_memory(reader);
    }
    reader->model->source = json_incref(root);
}

char *bg_model_create_text(const bg_model *model)
{
    return json_dumps(model->source, JSON_REAL_PRECISION(17));
}

bg_status bg_model_create(json_t *root, const char *origin, const bg_setting *settings,
                          int nsettings, bg_model **model, bg_error *err)
{
    bg_reader reader = {.model = BG_NEW(bg_model), .origin = origin, .err = err};
    bg_value top = {.reader = &reader, .json = root};
    reader.top = &top;
    for (int k = 0; k < nsettings; k++)
        reader.replaced = reader.replaced || !strstr(settings[k].name, "parameters.");
    if (!reader.model)
        return bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the model", origin);
    if (json_is_object(root)) {
        bg_read_parts(&top, settings, nsettings);
        read_top(&top);
        bg_scopes_check(&reader);
        if (reader.status == BG_OK)
            bg_value_check_texts(&top);
    } else {
        bg_value_fail(&top, "a model must be an object { }");
    }
    clear_reader(&reader);
    if (reader.status == BG_OK)
        keep_source(&reader, root);
    if (reader.status == BG_OK)
        *model = reader.model;
    else
        bg_model_destroy(reader.model);
    return reader.status;
}

static bg_status fail_syntax(const json_error_t *e, const char *origin, bg_error *err)
{
    if (json_error_code(e) == json_error_out_of_memory ||
        e->line < 0) /* no place: nothing was read */
        return bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the model", origin);
    const char *what = e->text;
    switch (json_error_code(e)) {
    case json_error_premature_end_of_input:
        what = "the file ends in the middle of something; is it complete?";
        break;
    case json_error_stack_overflow:
        what = "lists and objects are nested too deeply";
        break;
    case json_error_invalid_utf8:
        what = "this is not text in UTF-8";
        break;
    case json_error_numeric_overflow:
        what = "this number is too large";
        break;
    default:
        break;
    }
    return bg_error_set(err, BG_BAD_INPUT, "%s: line %d, column %d: %s", origin, e->line, e->column,
                        what);
}

bg_status bg_model_load_text(const char *text, size_t length, const char *origin, json_t **root,
                             bg_error *err)
{
    json_error_t error;
    *root = NULL;
    if (length == 0 || strspn(text, " \t\r\n") == length)
        return bg_error_set(err, BG_BAD_INPUT, "%s: is empty, not a model", origin);
    if (memchr(text, '\0', length))
        return bg_error_set(err, BG_BAD_INPUT, "%s: is not a text file, so it is no model", origin);
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    return *root ? BG_OK : fail_syntax(&error, origin, err);
}

bg_status bg_model_load(const char *path, json_t **root, bg_error *err)
{
    char *text;
    char subject[512];
    size_t length;
    *root = NULL;
    snprintf(subject, sizeof subject, "%s:", path);
    bg_status st = bg_file_read(path, subject, "model", &text, &length, err);
    if (st != BG_OK)
        return st;
    st = bg_model_load_text(text, length, path, root, err);
    free(text);
    return st;
}

static bg_status create(bg_status loaded, json_t *root, const char *origin,
                        const bg_setting *settings, int nsettings, bg_model **model, bg_error *err)
{
    *model = NULL;
    if (loaded != BG_OK)
        return loaded;
    bg_status st = bg_model_create(root, origin, settings, nsettings, model, err);
    json_decref(root);
    return st;
}

bg_status bg_model_parse(const char *text, const char *origin, const bg_setting *settings,
                         int nsettings, bg_model **model, bg_error *err)
{
    json_t *root;
    bg_status st = bg_model_load_text(text, strlen(text), origin, &root, err);
    return create(st, root, origin, settings, nsettings, model, err);
}

bg_status bg_model_read(const char *path, const bg_setting *settings, int nsettings,
                        bg_model **model, bg_error *err)
{
    json_t *root;
    bg_status st = bg_model_load(path, &root, err);
    return create(st, root, path, settings, nsettings, model, err);
}

static void clear_body(bg_body *b)
{
    for (int k = 0; k < b->npoints; k++)
        free(b->points[k].name);
    free(b->points);
    free(b->shapes);
    free(b->name);
}

void bg_model_destroy(bg_model *m)
{
    if (!m)
        return;
    json_decref(m->source);
    for (int k = 0; k < m->nplots; k++)
        free(m->plots[k].title);
    free(m->plots);
    free(m->view.camera);
    for (int k = 0; k < m->nbodies; k++)
        clear_body(&m->bodies[k]);
    for (int k = 0; k < m->njoints; k++)
        free(m->joints[k].name);
    for (int k = 0; k < m->ncouplers; k++)
        free(m->couplers[k].name);
    for (int k = 0; k < m->nforces; k++) {
        if (m->forces[k].self && m->forces[k].class_->clear)
            m->forces[k].class_->clear(&m->forces[k]);
        free(m->forces[k].name);
    }
    for (int k = 0; k < m->nsignals; k++)
        bg_signal_clear(&m->signals[k]);
    for (int k = 0; k < m->ntracks; k++)
        bg_track_clear(&m->tracks[k]);
    for (int k = 0; k < m->nprofiles; k++)
        bg_profile_clear(&m->profiles[k]);
    for (int k = 0; k < m->ncontacts; k++)
        bg_rail_contact_clear(&m->contacts[k]);
    for (int k = 0; k < m->noutputs; k++) {
        bg_expression_destroy(m->outputs[k].expression);
        free(m->outputs[k].name);
        free(m->outputs[k].unit);
    }
    for (int k = 0; k < m->nwatches; k++)
        bg_watch_clear(&m->watches[k]);
    free(m->bodies);
    free(m->joints);
    free(m->couplers);
    free(m->forces);
    free(m->signals);
    free(m->tracks);
    free(m->profiles);
    free(m->contacts);
    free(m->outputs);
    free(m->watches);
    free(m->angles);
    bg_warnings_clear(&m->warnings);
    for (int k = 0; k < m->noptions; k++) {
        free((void *)m->options[k].name);
        free((void *)m->options[k].value);
    }
    free(m->options);
    free(m->name);
    free(m);
}

#include "run/problem.h"

#include "base/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool bg_source_is_model(const char *reference)
{
    size_t n = strlen(reference);
    return n >= 5 && strcmp(reference + n - 5, ".json") == 0;
}

bg_source *bg_source_name(const char *reference)
{
    bg_source *s = BG_NEW(bg_source);
    if (s)
        s->reference = strdup(reference);
    if (s && s->reference)
        return s;
    bg_source_close(s);
    return NULL;
}

static bg_status finish(bg_source *s, bg_status st, bg_source **source)
{
    if (st == BG_OK)
        *source = s;
    else
        bg_source_close(s);
    return st;
}

bg_status bg_source_open(const char *reference, bg_source **source, bg_error *err)
{
    bg_source *s = bg_source_name(reference);
    *source = NULL;
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for '%s'", reference);
    return finish(s,
                  bg_source_is_model(reference)
                      ? bg_model_load(reference, &s->root, err)
                      : bg_equations_open(reference, &s->family, &s->handle, err),
                  source);
}

bg_status bg_source_parse(const char *text, const char *origin, bg_source **source, bg_error *err)
{
    bg_source *s = bg_source_name(origin);
    *source = NULL;
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for '%s'", origin);
    return finish(s, bg_model_load_text(text, strlen(text), origin, &s->root, err), source);
}

void bg_source_close(bg_source *s)
{
    if (!s)
        return;
    json_decref(s->root);
    bg_equations_close(s->handle);
    free(s->reference);
    free(s);
}

bg_status bg_source_create_model(const bg_source *s, const bg_setting *settings, int nsettings,
                                 bg_model **model, bg_error *err)
{
    json_t *root = json_deep_copy(s->root); /* which settings and repetitions change */
    *model = NULL;
    if (!root)
        return bg_error_set(err, BG_NO_MEMORY, "%s: not enough memory to read the model",
                            s->reference);
    bg_status st = bg_model_create(root, s->reference, settings, nsettings, model, err);
    json_decref(root);
    return st;
}

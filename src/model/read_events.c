/* "events": zeros of expressions that are found, recorded and may end the run. A text is the
 * expression alone. They see what force laws see: t, inputs and kinematic outputs. */
#include "model/forces/law.h"
#include "model/read.h"

#include <stdlib.h>

/* A sentence of the user's for one direction, or NULL. */
static char *read_words(const bg_value *v, const char *key)
{
    const bg_value member = bg_value_member(v, key);
    const char *text = bg_value_text_or(v, key, NULL);
    if (text && *text == '\0')
        bg_value_fail(&member, "must not be empty; say what happens there");
    return text ? bg_reader_copy(v->reader, text) : NULL;
}

static void read_event(const bg_value *section, const bg_value *v, bg_watch *x)
{
    static const char *const keys[] = {"expression", "stop", "rising", "falling", NULL};
    static const char *const directions[] = {"rising", "falling", "both", NULL};
    static const unsigned stops[] = {BG_WATCH_STOP_RISING, BG_WATCH_STOP_FALLING,
                                     BG_WATCH_STOP_RISING | BG_WATCH_STOP_FALLING};
    bg_value stop = bg_value_member(v, "stop"), expression = *v;
    if (json_is_string(v->json)) {
        x->text = bg_reader_copy(v->reader, json_string_value(v->json));
        bg_law_read(section, v->key, NULL, 0, x->law);
    } else if (bg_value_expect_object(v)) {
        bg_value_expect(v, keys);
        expression = bg_value_member(v, "expression");
        x->text = bg_reader_copy(v->reader, bg_value_text(v, "expression"));
        x->rises = read_words(v, "rising");
        x->falls = read_words(v, "falling");
        if (v->reader->status == BG_OK)
            bg_law_read(v, "expression", NULL, 0, x->law);
        if (bg_value_exists(&stop))
            x->stop = stops[bg_value_choice(v, "stop", directions, -1)];
    }
    if (v->reader->status == BG_OK && !x->law->expression)
        bg_value_fail(&expression, "never changes, so it has no zeros to be found; use t, inputs "
                                   "or outputs");
}

void bg_read_events(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section, v;
    m->watches = bg_reader_allocate(reader, bg_reader_count(reader, "events"), sizeof *m->watches);
    for (int k = 0; bg_reader_next_section(reader, "events", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);) {
            bg_watch *x = &m->watches[m->nwatches];
            x->law = bg_reader_allocate(reader, 1, sizeof *x->law);
            x->name = bg_value_copy_name(&v);
            m->nwatches++;
            if (*v.key == '\0')
                bg_value_fail(&v, "the name of an event must not be empty");
            if (reader->status == BG_OK)
                read_event(&section, &v, x);
        }
}

void bg_watch_clear(bg_watch *x)
{
    if (x->law)
        bg_law_clear(x->law);
    free(x->law);
    free(x->name);
    free(x->text);
    free(x->rises);
    free(x->falls);
}

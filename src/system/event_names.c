/* What events are called: the name of the switching function, and for each direction a sentence of
 * what happens, from the definition or made of the name. */
#include "system/system.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { DIRECTIONS = 3, LONGEST = 24 }; /* the latter: of the words added to a name */

static const char *const words[DIRECTIONS] = {"falls through zero", "touches zero",
                                              "rises through zero"};

const char *bg_system_get_event_name(const bg_system *sys, int i)
{
    const char *const *names = sys->def.s_names;
    return names && names[i] ? names[i] : sys->event_names[i];
}

const char *bg_system_get_event_text(const bg_system *sys, int i, int direction)
{
    return sys->event_texts[DIRECTIONS * i + 1 + direction];
}

bool bg_system_create_event_names(bg_system *sys)
{
    const bg_system_def *d = &sys->def;
    const char *const *given[DIRECTIONS] = {d->s_falls, d->s_touches, d->s_rises};
    sys->event_names = bg_calloc((size_t)d->ns, sizeof *sys->event_names);
    sys->event_texts = BG_NEW_ARRAY(const char *, DIRECTIONS * d->ns);
    if (!sys->event_names || !sys->event_texts)
        return false;
    size_t total = 1;
    for (int i = 0; i < d->ns; i++) {
        snprintf(sys->event_names[i], sizeof sys->event_names[i], "s[%d]", i);
        total += DIRECTIONS * (strlen(bg_system_get_event_name(sys, i)) + LONGEST);
    }
    char *text = sys->event_words = BG_NEW_ARRAY(char, total);
    for (int k = 0; text && k < DIRECTIONS * d->ns; k++) {
        const int i = k / DIRECTIONS, which = k % DIRECTIONS;
        if (given[which] && given[which][i]) {
            sys->event_texts[k] = given[which][i];
            continue;
        }
        const char *name = bg_system_get_event_name(sys, i);
        sys->event_texts[k] = text;
        text += sprintf(text, "%s %s", name, words[which]) + 1;
    }
    return text != NULL;
}

bg_event bg_system_make_event(const bg_system *sys, double t, int i, int direction)
{
    return (bg_event){t, i, direction, bg_system_get_event_text(sys, i, direction),
                      bg_system_get_event_name(sys, i)};
}

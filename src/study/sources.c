/* What the models of a study are made of, each read by the first who asks: for model files that is
 * the master, before it forks its workers. */
#include "study/simulation.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct bg_sources {
    char **paths;
    bg_source **items;
    int count;
};

bg_sources *bg_sources_create(void)
{
    return BG_NEW(bg_sources);
}

void bg_sources_destroy(bg_sources *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++) {
        bg_source_close(s->items[i]);
        free(s->paths[i]);
    }
    free(s->items);
    free(s->paths);
    free(s);
}

static bg_status add(bg_sources *s, const char *path, bg_error *err)
{
    size_t room = (size_t)s->count + 1;
    char **paths = realloc(s->paths, room * sizeof *paths);
    s->paths = paths ? paths : s->paths;
    bg_source **items = realloc(s->items, room * sizeof *items);
    s->items = items ? items : s->items;
    char *copy = paths && items ? strdup(path) : NULL;
    if (!copy)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the models of a study");
    s->paths[s->count] = copy;
    bg_status st = bg_source_open(path, &s->items[s->count], err);
    if (st == BG_OK)
        s->count++;
    else
        free(copy);
    return st;
}

bg_status bg_sources_find(bg_sources *s, const char *path, const bg_source **source, bg_error *err)
{
    int i = 0;
    while (i < s->count && strcmp(s->paths[i], path) != 0)
        i++;
    bg_status st = i < s->count ? BG_OK : add(s, path, err);
    *source = st == BG_OK ? s->items[i] : NULL;
    return st;
}

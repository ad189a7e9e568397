/* Names of quantities in a row of results: outputs by their name, states and multipliers with the
 * prefixes of CSV files (q: v: a: z: lambda:), "q:*" for all of a kind. */
#include "base/memory.h"
#include "base/text.h"
#include "study/simulation.h"
#include "system/system.h"

#include <stdlib.h>
#include <string.h>

typedef struct channel_kind {
    const char *prefix;
    char field, names; /* names: kind of bg_system_get_name */
} channel_kind;

static const channel_kind kinds[] = {{"y:", 'y', 'y'}, {"q:", 'q', 'q'}, {"v:", 'v', 'v'},
                                     {"a:", 'a', 'v'}, {"z:", 'z', 'z'}, {"lambda:", 'l', 'g'}};

static int get_width(const bg_system_def *def, char names)
{
    switch (names) {
    case 'y':
        return def->ny;
    case 'q':
        return def->nq;
    case 'v':
        return def->nv;
    case 'z':
        return def->nz;
    default:
        return def->ng;
    }
}

static const channel_kind *find_kind(const char **name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].prefix);
        if (strncmp(*name, kinds[i].prefix, n) == 0) {
            *name += n;
            return &kinds[i];
        }
    }
    return &kinds[0];
}

static bg_status fail_name(const bg_system *system, const channel_kind *k, const char *name,
                           bg_error *err)
{
    int n = get_width(bg_system_get_def(system), k->names), best = -1, distance = 0;
    char buffer[64], nearest[64] = "";
    for (int i = 0; i < n; i++) {
        const char *other = bg_system_get_name(system, k->names, i, buffer, sizeof buffer);
        int d = bg_text_calc_distance(name, other);
        if (best < 0 || d < distance) {
            best = i;
            distance = d;
            strncpy(nearest, other, sizeof nearest - 1);
        }
    }
    const char *system_name = bg_system_get_def(system)->name;
    if (best < 0)
        return bg_error_set(err, BG_BAD_INPUT, "'%s' has nothing under '%s'", system_name,
                            k->prefix);
    const char *near = nearest;
    bool is_near = bg_text_find_nearest(name, &near, 1) == 0;
    return bg_error_set(err, BG_BAD_INPUT, "'%s' has no output '%s'; %s '%s'%s", system_name, name,
                        is_near ? "did you mean" : "there are others, such as", nearest,
                        is_near ? "?" : "");
}

static bool append(bg_channels *channels, char field, int index)
{
    bg_channel *more = realloc(channels->items, (size_t)(channels->count + 1) * sizeof *more);
    if (!more)
        return false;
    channels->items = more;
    more[channels->count++] = (bg_channel){field, index};
    return true;
}

bg_status bg_channels_resolve(const bg_system *system, bg_names names, bg_channels *channels,
                              bg_error *err)
{
    char buffer[64];
    *channels = (bg_channels){0};
    for (int i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        const channel_kind *k = find_kind(&name);
        int width = get_width(bg_system_get_def(system), k->names), found = 0;
        for (int j = 0; j < width; j++) {
            if (strcmp(name, "*") != 0 &&
                strcmp(name, bg_system_get_name(system, k->names, j, buffer, sizeof buffer)) != 0)
                continue;
            found++;
            if (!append(channels, k->field, j)) {
                bg_channels_clear(channels);
                return bg_error_set(err, BG_NO_MEMORY, "out of memory for the outputs of a case");
            }
        }
        if (found == 0) {
            bg_channels_clear(channels);
            return fail_name(system, k, name, err);
        }
    }
    return BG_OK;
}

void bg_channels_read(const bg_channels *channels, const bg_row *row, double *x)
{
    const bg_state *s = row->state;
    for (int i = 0; i < channels->count; i++) {
        int k = channels->items[i].index;
        switch (channels->items[i].field) {
        case 'y':
            x[i] = row->y[k];
            break;
        case 'q':
            x[i] = s->q[k];
            break;
        case 'v':
            x[i] = s->v[k];
            break;
        case 'a':
            x[i] = s->a[k];
            break;
        case 'z':
            x[i] = s->z[k];
            break;
        default:
            x[i] = s->lambda[k];
        }
    }
}

void bg_channels_clear(bg_channels *channels)
{
    free(channels->items);
    *channels = (bg_channels){0};
}

bg_status bg_channels_check(const bg_system *system, bg_names names, bg_error *err)
{
    bg_channels channels;
    bg_status st = bg_channels_resolve(system, names, &channels, err);
    bg_channels_clear(&channels);
    return st;
}

bg_status bg_event_check(const bg_system *system, const char *name, bg_error *err)
{
    enum { FORMS = 4, MOST = 256 }; /* the name of the function, what happens in each direction */
    const char *names[MOST];
    int n = 0;
    for (int k = 0; name && k < FORMS * bg_system_get_def(system)->ns; k++) {
        const char *text = k % FORMS == 0
                               ? bg_system_get_event_name(system, k / FORMS)
                               : bg_system_get_event_text(system, k / FORMS, k % FORMS - 2);
        if (strcmp(text, name) == 0)
            return BG_OK;
        if (n < MOST)
            names[n++] = text;
    }
    if (!name)
        return BG_OK;
    int near = bg_text_find_nearest(name, names, n);
    if (near < 0 && n > 0)
        near = 0;
    return bg_error_set(err, BG_BAD_INPUT, "'%s' has no event '%s'%s%s%s",
                        bg_system_get_def(system)->name, name, near >= 0 ? "; did you mean '" : "",
                        near >= 0 ? names[near] : "; it has none at all", near >= 0 ? "'?" : "");
}

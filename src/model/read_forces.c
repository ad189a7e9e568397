/* "forces" and "tyres", without point masses, which are part of bodies: the class named by "type"
 * reads its own members. A tyre of type T is the force class "tyre-T"; its reader finds the road as
 * member "road" of the file, by way of the parents of its place. */
#include "model/read.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CLASSES = 64 };

static const char tyre_prefix[] = "tyre-";
enum { PREFIX = sizeof tyre_prefix - 1 };

/* The class named by "type" among tyres or among the others. */
static const bg_force_class *read_class(const bg_value *v, bool tyre)
{
    const bg_force_class *const *classes = bg_force_get_classes();
    const bg_force_class *list[MAX_CLASSES];
    const char *names[MAX_CLASSES + 1];
    int n = 0;
    for (int k = 0; classes[k] && n < MAX_CLASSES; k++)
        if ((strncmp(classes[k]->name, tyre_prefix, PREFIX) == 0) == tyre) {
            names[n] = classes[k]->name + (tyre ? PREFIX : 0);
            list[n++] = classes[k];
        }
    names[n] = NULL;
    if (!bg_value_expect_object(v))
        return NULL;
    bg_value type = bg_value_member(v, "type");
    const char *text = json_string_value(type.json);
    if (!tyre && text && strncmp(text, tyre_prefix, PREFIX) == 0)
        bg_value_fail(&type, "tyres have a section of their own, 'tyres', with the type '%.40s'",
                      text + PREFIX);
    int k = bg_value_choice(v, "type", names, -1);
    return v->reader->status == BG_OK ? list[k] : NULL;
}

static void read_force(const bg_value *v, bool tyre)
{
    bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_force *f = &m->forces[m->nforces];
    const bg_force_class *c = read_class(v, tyre);
    const bool is_element = c && c->apply;
    bg_reader_register(v, BG_NAME_FORCE, v->key, is_element ? m->nforces : -1);
    if (!is_element)
        return;
    f->name = bg_value_copy_name(v);
    f->index = m->nforces++;
    if (reader->status != BG_OK)
        return;
    f->class_ = c;
    const int corners = m->ncorners;
    c->read(v, f);
    f->cornered = m->ncorners > corners;
    f->z0 = m->nz;
    f->s0 = m->ns;
    f->mode0 = m->nmode;
    m->nz += f->nz;
    m->ns += f->ns;
    m->nmode += f->nmode;
}

static void read_sections(bg_reader *reader, const char *key, bool tyre)
{
    bg_value section, v;
    for (int k = 0; bg_reader_next_section(reader, key, false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);)
            read_force(&v, tyre);
}

void bg_read_forces(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value road = bg_value_member(top, "road");
    size_t tyres = bg_reader_count(reader, "tyres");
    m->forces = bg_reader_allocate(reader, bg_reader_count(reader, "forces") + tyres,
                                   sizeof *m->forces);
    m->contacts = bg_reader_allocate(reader, bg_reader_count(reader, "forces"),
                                     sizeof *m->contacts);
    if (reader->status != BG_OK)
        return;
    read_sections(reader, "forces", false);
    read_sections(reader, "tyres", true);
    if (reader->status == BG_OK && bg_value_exists(&road) && tyres == 0)
        bg_reader_warn(reader, BG_DOUBTFUL, "road",
                       "there is a road but no tyre to roll on it; add a tyre, or remove the road");
}

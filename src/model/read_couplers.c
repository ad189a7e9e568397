/* Relations between joint coordinates x (displacements from the design position), described among
 * "joints": gear          ratio x_a - x_b = offset rack-pinion   radius x_pinion - x_rack = offset
 */
#include "model/read.h"

#include <string.h>

/* "NAME" or ["NAME", "COORDINATE"]. */
static void read_term(const bg_value *v, bg_coupler *c, double factor)
{
    bg_value name = *v, coordinate = bg_value_element(v, 1);
    if (json_is_array(v->json)) {
        if (!bg_value_expect_list(v, 2) || !bg_value_expect_text(&coordinate))
            return;
        name = bg_value_element(v, 0);
    }
    if (!bg_value_expect_text(&name))
        return;
    int joint = bg_value_find(&name, BG_NAME_JOINT, json_string_value(name.json));
    if (joint < 0)
        bg_value_fail(&name, "is itself a relation between joints, not a joint between bodies");
    if (v->reader->status != BG_OK)
        return;
    c->joint[c->n] = joint;
    c->coordinate[c->n] = bg_read_coordinate(
        v, joint, json_is_array(v->json) ? json_string_value(coordinate.json) : NULL);
    bg_read_refuse_cardan(v, &v->reader->model->joints[joint], c->coordinate[c->n], "coupled");
    c->factor[c->n++] = factor;
}

static double read_factor(const bg_value *v, const char *key)
{
    bg_value member = bg_value_member(v, key);
    double x = bg_value_get_number(&member);
    if (v->reader->status == BG_OK && x == 0)
        bg_value_fail(&member, "must not be zero");
    return x;
}

static void read_coupler(const bg_value *v, bg_coupler *c)
{
    static const char *const gear_keys[] = {"type", "joints", "ratio", "offset", NULL};
    static const char *const rack_keys[] = {"type", "pinion", "rack", "radius", "offset", NULL};
    bool gear = strcmp(bg_value_text(v, "type"), "gear") == 0;
    bg_value_expect(v, gear ? gear_keys : rack_keys);
    bg_value joints = bg_value_member(v, "joints");
    bg_value a = gear ? bg_value_element(&joints, 0) : bg_value_member(v, "pinion");
    bg_value b = gear ? bg_value_element(&joints, 1) : bg_value_member(v, "rack");
    if (gear && !bg_value_expect_list(&joints, 2))
        return;
    read_term(&a, c, read_factor(v, gear ? "ratio" : "radius"));
    read_term(&b, c, -1);
    c->offset = bg_value_number_or(v, "offset", 0);
    if (v->reader->status == BG_OK && c->joint[0] == c->joint[1] &&
        c->coordinate[0] == c->coordinate[1])
        bg_value_fail(v, "relates a joint coordinate to itself");
}

void bg_read_couplers(const bg_value *top)
{
    bg_reader *reader = top->reader;
    bg_model *m = reader->model;
    bg_value section, v;
    m->couplers = bg_reader_allocate(reader, bg_reader_count(reader, "joints"),
                                     sizeof *m->couplers);
    for (int k = 0; bg_reader_next_section(reader, "joints", false, &k, &section);)
        for (void *i = NULL; bg_value_next(&section, &i, &v);) {
            if (!bg_read_is_coupler(bg_value_text(&v, "type")))
                continue;
            bg_coupler *c = &m->couplers[m->ncouplers];
            bg_reader_register(&v, BG_NAME_JOINT, v.key, -1 - m->ncouplers);
            c->name = bg_value_copy_name(&v);
            m->ncouplers++;
            if (c->name)
                read_coupler(&v, c);
        }
}

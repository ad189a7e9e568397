/* "run": what a run of the model uses unless told otherwise. */
#include "model/read.h"

#include "bogie/integrator.h"

#include <stdio.h>
#include <string.h>

enum { MAX_METHODS = 64 };

static double read_positive(const bg_value *v, const char *key)
{
    bg_value member = bg_value_member(v, key);
    return bg_value_exists(&member) ? bg_value_positive(v, key) : NAN;
}

static void read_integrator(const bg_value *v)
{
    bg_model *m = v->reader->model;
    bg_value member = bg_value_member(v, "integrator");
    const char *names[MAX_METHODS + 1];
    int n = 0;
    for (; n < MAX_METHODS && bg_integrator_get_info(n); n++)
        names[n] = bg_integrator_get_info(n)->name;
    names[n] = NULL;
    if (!bg_value_exists(&member))
        return;
    int k = bg_value_choice(v, "integrator", names, -1);
    if (v->reader->status == BG_OK)
        snprintf(m->integrator, sizeof m->integrator, "%s", names[k]);
}

/* "options" of the integrator: texts or numbers. */
static void read_options(const bg_value *v)
{
    bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_value options = bg_value_member(v, "options"), member;
    if (!bg_value_exists(&options) || !bg_value_expect_object(&options))
        return;
    if (!m->integrator[0]) {
        bg_value_fail(&options, "are those of 'integrator', which is not given beside them");
        return;
    }
    const bg_integrator_info *info = NULL;
    const char *keys[MAX_METHODS + 1] = {NULL};
    for (int k = 0; (info = bg_integrator_get_info(k)) && strcmp(info->name, m->integrator) != 0;)
        k++;
    for (int k = 0; info && k < info->noptions && k < MAX_METHODS; k++)
        keys[k] = info->options[k].name;
    bg_value_expect(&options, keys);
    m->options = bg_reader_allocate(reader, json_object_size(options.json), sizeof *m->options);
    for (void *i = NULL; reader->status == BG_OK && bg_value_next(&options, &i, &member);) {
        char text[40];
        if (!json_is_string(member.json))
            snprintf(text, sizeof text, "%.17g", bg_value_get_number(&member));
        bg_setting *s = &m->options[m->noptions++];
        s->name = bg_reader_copy(reader, member.key);
        s->value = bg_reader_copy(
            reader, json_is_string(member.json) ? json_string_value(member.json) : text);
    }
}

/* "stiff": names of force elements, or of joints. */
static void read_stiff(const bg_value *v)
{
    const bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_value list = bg_value_member(v, "stiff");
    bool forces = false, joints = false;
    if (!bg_value_exists(&list))
        return;
    if (!json_is_array(list.json)) {
        bg_value_fail(&list, "must be a list of names of force elements or of joints");
        return;
    }
    for (int k = 0; k < bg_value_get_size(&list); k++) {
        bg_value name = bg_value_element(&list, k);
        if (!bg_value_expect_text(&name))
            return;
        int force = bg_reader_find(reader, BG_NAME_FORCE, json_string_value(name.json));
        if (force >= 0) {
            m->forces[force].stiff = forces = true;
            continue;
        }
        int joint = bg_value_find(&name, BG_NAME_JOINT, json_string_value(name.json));
        if (reader->status == BG_OK && joint < 0)
            bg_value_fail(&name, "is a relation between joints, which cannot be stiff");
        if (reader->status != BG_OK)
            return;
        m->joints[joint].stiff = joints = true;
    }
    if (forces && joints)
        bg_value_fail(&list, "names force elements and joints; take only the one or the other");
}

/* Body a is fast and b is not: no joint or relation may connect them. */
static void refuse_connection(const bg_value *list, const char *what, const char *name, int a,
                              int b)
{
    const bg_model *m = list->reader->model;
    const bool first = m->bodies[a].fast;
    if (a == 0 || b == 0 || first == m->bodies[b].fast)
        return;
    bg_value_fail(list,
                  "has '%.60s' but not '%.60s', although %s '%.60s' connects them; parts of two "
                  "rates may act on each other by forces alone: name both, or neither",
                  m->bodies[first ? a : b].name, m->bodies[first ? b : a].name, what, name);
}

static void check_connections(const bg_value *list)
{
    const bg_model *m = list->reader->model;
    for (int k = 0; k < m->njoints; k++)
        if (!m->joints[k].class_->is_sidewall)
            refuse_connection(list, "joint", m->joints[k].name, m->joints[k].a.body,
                              m->joints[k].b.body);
    for (int k = 0; k < m->ncouplers; k++) {
        const bg_coupler *x = &m->couplers[k];
        const bg_joint *of = &m->joints[x->joint[0]];
        for (int i = 1; i < x->n; i++) {
            const bg_joint *with = &m->joints[x->joint[i]];
            refuse_connection(list, "relation", x->name, of->b.body > 0 ? of->b.body : of->a.body,
                              with->b.body > 0 ? with->b.body : with->a.body);
        }
    }
}

/* "fast": names of bodies, and of force elements whose states are fast, as is the ring of a tyre.
 */
static void read_fast(const bg_value *v)
{
    const bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_value list = bg_value_member(v, "fast");
    int fast = 0;
    if (!bg_value_exists(&list))
        return;
    if (!json_is_array(list.json)) {
        bg_value_fail(&list, "must be a list of names of bodies or of force elements");
        return;
    }
    for (int k = 0; k < bg_value_get_size(&list) && reader->status == BG_OK; k++) {
        bg_value name = bg_value_element(&list, k);
        if (!bg_value_expect_text(&name))
            return;
        int force = bg_reader_find(reader, BG_NAME_FORCE, json_string_value(name.json));
        if (force >= 0) {
            const int ring = m->forces[force].ring;
            m->forces[force].fast = true;
            fast += ring > 0 && !m->bodies[ring].fast;
            m->bodies[ring].fast = ring > 0;
            continue;
        }
        int body = bg_value_find(&name, BG_NAME_BODY, json_string_value(name.json));
        if (reader->status != BG_OK)
            return;
        if (body == 0)
            bg_value_fail(&name, "is the ground, which does not move; leave it out");
        fast += !m->bodies[body].fast;
        m->bodies[body].fast = true;
    }
    if (reader->status == BG_OK && fast == m->nbodies - 1)
        bg_value_fail(&list, "names all bodies, so that none is slow; leave out those that move "
                             "slowly, or leave out \"fast\" for a method of one rate");
    check_connections(&list);
}

static void read_formulation(const bg_value *v)
{
    static const char *const names[] = {"joint", "cartesian", NULL};
    bg_model *m = v->reader->model;
    bg_value member = bg_value_member(v, "formulation");
    if (bg_value_exists(&member))
        snprintf(m->formulation, sizeof m->formulation, "%s",
                 names[bg_value_choice(v, "formulation", names, -1)]);
}

static void read_rheonomic(const bg_value *v)
{
    static const char *const names[] = {"eliminate", "constrain", NULL};
    bg_value member = bg_value_member(v, "rheonomic");
    if (bg_value_exists(&member))
        v->reader->model->constrain = bg_value_choice(v, "rheonomic", names, 0) == 1;
}

void bg_read_run(const bg_value *top)
{
    static const char *const keys[] = {
        "t_start",         "t_end",   "integrator", "formulation", "rtol",      "atol", "step",
        "output_interval", "options", "stiff",      "fast",        "rheonomic", NULL};
    bg_model *m = top->reader->model;
    bg_value v = bg_value_member(top, "run");
    m->t_start = m->t_end = m->rtol = m->atol = m->step = m->output_interval = NAN;
    if (!bg_value_exists(&v))
        return;
    bg_value_expect(&v, keys);
    m->t_start = bg_value_number_or(&v, "t_start", NAN);
    m->t_end = bg_value_number_or(&v, "t_end", NAN);
    m->rtol = read_positive(&v, "rtol");
    m->atol = read_positive(&v, "atol");
    m->step = read_positive(&v, "step");
    m->output_interval = read_positive(&v, "output_interval");
    read_integrator(&v);
    read_options(&v);
    read_stiff(&v);
    read_fast(&v);
    read_formulation(&v);
    read_rheonomic(&v);
    double t_start = isnan(m->t_start) ? 0.0 : m->t_start;
    bg_value t_end = bg_value_member(&v, "t_end");
    if (top->reader->status == BG_OK && m->t_end <= t_start)
        bg_value_fail(&t_end, "must lie after the start at %g s, but is %g s", t_start, m->t_end);
}

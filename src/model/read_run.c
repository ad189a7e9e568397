/* "run": what a run of the model uses unless told otherwise. */
#include "model/read.h"

#include "base/text.h"

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
            bg_text_print(bg_value_get_number(&member), text, sizeof text);
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

/* What connects two bodies, so that both must be of one part: a joint, or joints in a relation. */
typedef struct connection {
    const char *what, *name;
    int a, b; /* bodies; 0: the ground, which is of neither */
} connection;

/* The k-th connection of a model, its joints first; false: there is none. */
static bool get_connection(const bg_model *m, int k, connection *c)
{
    if (k < m->njoints) {
        const bg_joint *j = &m->joints[k];
        *c = (connection){"joint", j->name, j->a.body, j->b.body};
        if (j->class_->is_sidewall) /* connects by forces alone */
            c->a = c->b = 0;
        return true;
    }
    k -= m->njoints;
    for (int i = 0; i < m->ncouplers; i++) {
        const bg_coupler *x = &m->couplers[i];
        if (k < x->n - 1) {
            const bg_joint *of = &m->joints[x->joint[0]], *with = &m->joints[x->joint[k + 1]];
            *c = (connection){"relation", x->name, of->b.body > 0 ? of->b.body : of->a.body,
                              with->b.body > 0 ? with->b.body : with->a.body};
            return true;
        }
        k -= x->n - 1;
    }
    return false;
}

static bool is_between_parts(const bg_model *m, const connection *c)
{
    return c->a > 0 && c->b > 0 && m->bodies[c->a].fast != m->bodies[c->b].fast;
}

static void refuse_connections(const bg_value *list)
{
    const bg_model *m = list->reader->model;
    connection c;
    for (int k = 0; get_connection(m, k, &c) && list->reader->status == BG_OK; k++) {
        if (!is_between_parts(m, &c))
            continue;
        const bool first = m->bodies[c.a].fast;
        bg_value_fail(
            list,
            "has '%.60s' but not '%.60s', although %s '%.60s' connects them; parts of two "
            "rates may act on each other by forces alone: name both, or neither, or let "
            "\"inseparable\": \"merge\" add what is connected",
            m->bodies[first ? c.a : c.b].name, m->bodies[first ? c.b : c.a].name, c.what, c.name);
    }
}

/* What is connected with fast bodies becomes fast, too. */
static void merge_connections(bg_model *m)
{
    connection c;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; get_connection(m, k, &c); k++)
            if (is_between_parts(m, &c))
                m->bodies[c.a].fast = m->bodies[c.b].fast = changed = true;
    }
}

/* A name of "fast": a body, or a force element whose states are fast, as is the ring of a tyre;
 * whether something is. */
static bool read_fast_name(const bg_value *name)
{
    const bg_reader *reader = name->reader;
    bg_model *m = reader->model;
    if (!bg_value_expect_text(name))
        return false;
    int force = bg_reader_find(reader, BG_NAME_FORCE, json_string_value(name->json));
    if (force >= 0) {
        const int ring = m->forces[force].ring;
        if (ring > 0)
            m->bodies[ring].fast = true;
        else if (m->forces[force].nz == 0)
            bg_value_fail(name, "is a force element without states, so that nothing of it can be "
                                "fast; name the bodies it acts on");
        m->forces[force].fast = true;
        return true;
    }
    int body = bg_value_find(name, BG_NAME_BODY, json_string_value(name->json));
    if (reader->status != BG_OK)
        return false;
    if (body == 0)
        bg_value_fail(name, "is the ground, which does not move; leave it out");
    m->bodies[body].fast = true;
    return true;
}

/* "fast": names of bodies and force elements; "inseparable": what becomes of joints between fast
 * bodies and slow ones. */
static void read_fast(const bg_value *v)
{
    static const char *const ways[] = {"refuse", "merge", NULL};
    const bg_reader *reader = v->reader;
    bg_model *m = reader->model;
    bg_value list = bg_value_member(v, "fast"), way = bg_value_member(v, "inseparable");
    const bool merge = bg_value_exists(&way) && bg_value_choice(v, "inseparable", ways, 0) == 1;
    if (!bg_value_exists(&list)) {
        if (bg_value_exists(&way))
            bg_value_fail(&way, "says what becomes of joints between fast bodies and slow ones, "
                                "but there is no \"fast\"; name the fast bodies, or leave it out");
        return;
    }
    if (!json_is_array(list.json)) {
        bg_value_fail(&list, "must be a list of names of bodies or of force elements");
        return;
    }
    if (bg_value_get_size(&list) == 0)
        bg_value_fail(&list, "is empty, so that nothing is fast; name the bodies that move fast, "
                             "or leave out \"fast\" for a method of one rate");
    for (int k = 0; k < bg_value_get_size(&list) && reader->status == BG_OK; k++) {
        bg_value name = bg_value_element(&list, k);
        if (!read_fast_name(&name))
            return;
    }
    if (merge)
        merge_connections(m);
    int fast = 0;
    for (int b = 1; b < m->nbodies; b++)
        fast += m->bodies[b].fast;
    if (reader->status == BG_OK && fast == m->nbodies - 1)
        bg_value_fail(&list,
                      merge ? "names bodies to which joints connect all others, so that none is "
                              "slow; leave out \"fast\" for a method of one rate"
                            : "names all bodies, so that none is slow; leave out those that move "
                              "slowly, or leave out \"fast\" for a method of one rate");
    refuse_connections(&list);
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

const char *const bg_run_keys[] = {
    "t_start",         "t_end",   "integrator", "formulation", "rtol",        "atol",      "step",
    "output_interval", "options", "stiff",      "fast",        "inseparable", "rheonomic", NULL};

void bg_read_run(const bg_value *top)
{
    bg_model *m = top->reader->model;
    bg_value v = bg_value_member(top, "run");
    m->t_start = m->t_end = m->rtol = m->atol = m->step = m->output_interval = NAN;
    if (!bg_value_exists(&v))
        return;
    bg_value_expect(&v, bg_run_keys);
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

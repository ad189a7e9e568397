/* Names of states, switching functions, inputs and outputs of a model, and what its events are
 * called.
 */
#include "formalism/multibody.h"

#include "model/unit.h"

#include <stdio.h>
#include <string.h>

/* "ELEMENT.1" for states of force elements, "JOINT.COORDINATE.turns" for angles that are followed;
 * their names lie behind those of switching functions. */
static void name_states(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    char(*name)[64] = mb->names + m->ns + bg_multibody_count_corners(m) + m->nwatches;
    for (int k = 0; k < m->nforces; k++)
        for (int i = 0; i < m->forces[k].nz; i++)
            snprintf(name[m->forces[k].z0 + i], sizeof *name, "%.50s.%d", m->forces[k].name, i + 1);
    for (int k = 0; k < mb->nturns; k++) {
        const bg_turn *t = &mb->turns[k];
        const bg_joint *j = &m->joints[t->joint];
        snprintf(name[t->z], sizeof *name, "%.40s.%.12s.turns", j->name,
                 j->class_->coordinate[t->index].name);
    }
    for (int z = 0; z < mb->nz; z++)
        mb->z_names[z] = name[z];
}

static char *add_sentence(bg_multibody *mb)
{
    return mb->sentences[mb->nsentences++];
}

static void describe_force(bg_multibody *mb, const bg_force *f, bool several)
{
    enum { SIZE = sizeof *mb->sentences };
    for (int i = 0; i < f->ns && f->class_->describe; i++) {
        const char **const to[] = {&mb->s_falls[f->s0 + i], &mb->s_touches[f->s0 + i],
                                   &mb->s_rises[f->s0 + i]};
        for (int k = 0; k < 3; k++) {
            char *text = add_sentence(mb);
            f->class_->describe(f, i, k - 1, several, text, SIZE);
            *to[k] = text;
        }
    }
}

/* In the user's words, or "NAME: EXPRESSION rises above zero". */
static void describe_watch(bg_multibody *mb, const bg_watch *x, int s)
{
    const char *const own[] = {x->falls, NULL, x->rises};
    static const char *const words[] = {"falls below zero", "touches zero", "rises above zero"};
    const char **const to[] = {&mb->s_falls[s], &mb->s_touches[s], &mb->s_rises[s]};
    for (int k = 0; k < 3; k++) {
        char *text = add_sentence(mb);
        snprintf(text, sizeof *mb->sentences, "%.40s: %.60s%s %s", x->name, x->text,
                 strlen(x->text) > 60 ? "..." : "", words[k]);
        *to[k] = own[k] ? own[k] : text;
    }
}

/* What happens at an event, for people. The corner of a signal is passed in one direction only, but
 * for tracks, where it is the same. */
static void name_events(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    int elements = 0, s = m->ns;
    for (int k = 0; k < m->nforces; k++)
        elements += m->forces[k].ns > 0;
    for (int k = 0; k < m->nforces; k++)
        describe_force(mb, &m->forces[k], elements > 1);
    for (int k = 0; k < m->nsignals; k++)
        for (int i = 0; i < bg_signal_count_corners(&m->signals[k]); i++) {
            char *text = add_sentence(mb);
            bg_signal_describe_corner(&m->signals[k], i, text, sizeof *mb->sentences);
            mb->s_rises[s] = text;
            mb->s_falls[s] = m->signals[k].kind == BG_SIGNAL_TRACK ? text : mb->s_falls[s];
            s++;
        }
    for (int k = 0; k < m->nwatches; k++)
        describe_watch(mb, &m->watches[k], s++);
}

/* Expressions that a joint, or the frames of a track, follow: nobody knows their corners. */
static void mark_followed(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->njoints; k++)
        for (int i = 0; i < m->joints[k].class_->ncoordinates; i++) {
            const int s = m->joints[k].start[i].signal;
            if (s >= 0 && m->signals[s].kind == BG_SIGNAL_EXPRESSION)
                mb->u_followed[s] = 1;
        }
    for (int k = 0; k < m->ntracks; k++)
        for (int s = 0; s < m->nsignals; s++)
            if (m->tracks[k].distance == &m->signals[s])
                mb->u_followed[s] = m->signals[s].kind == BG_SIGNAL_EXPRESSION;
}

static void find_units(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->noutputs; k++)
        mb->y_units[k] = bg_output_get_unit(m, &m->outputs[k]);
    for (int k = 0; k < m->nsignals; k++)
        mb->u_units[k] = bg_signal_get_unit(m, k);
    for (int k = 0; k < m->nforces; k++)
        for (int i = 0; i < m->forces[k].nz; i++)
            mb->z_units[m->forces[k].z0 + i] = bg_force_get_state_unit(m, &m->forces[k], i);
    for (int k = 0; k < mb->nturns; k++)
        mb->z_units[mb->turns[k].z] = "rad";
}

/* Outputs that runs make of their rows. */
static void list_filters(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->noutputs; k++) {
        const bg_output *o = &m->outputs[k];
        if (o->kind == BG_OUTPUT_FILTER)
            mb->filters[mb->nfilters++] = (bg_output_filter){k, o->index,
                                                             (bg_filter_kind)o->component, o->time,
                                                             o->scale / m->outputs[o->index].scale};
    }
}

const char *bg_multibody_get_row_unit(const bg_multibody *mb, int group)
{
    const bg_primitive *p = &mb->groups[group].primitive;
    const bool angle = p->kind == BG_PRIMITIVE_DOT1 ||
                       (p->kind == BG_PRIMITIVE_RELATION &&
                        p->coordinate[p->n - 1].kind != BG_COORDINATE_SLIDE);
    return angle ? "N m" : "N";
}

void bg_multibody_name(bg_multibody *mb)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        for (int i = 0; i < m->forces[k].ns; i++) {
            int s = m->forces[k].s0 + i;
            snprintf(mb->names[s], sizeof *mb->names, "%.50s", m->forces[k].name);
            mb->s_names[s] = mb->names[s];
        }
    for (int k = 0; k < m->nsignals; k++) {
        int corners = bg_signal_count_corners(&m->signals[k]);
        mb->u_names[k] = m->signals[k].name;
        mb->signal_mode[k] = corners > 0 ? mb->nmode++ : -1;
        for (int i = 0; i < corners; i++) {
            int s = m->ns + mb->ncorners;
            const bool timed = m->signals[k].kind != BG_SIGNAL_TRACK;
            const double t = timed ? bg_signal_get_corner(&m->signals[k], i) : NAN;
            mb->corners[mb->ncorners++] = (bg_corner){k, i, mb->signal_mode[k], t};
            snprintf(mb->names[s], sizeof *mb->names, "%.50s", m->signals[k].name);
            mb->s_names[s] = mb->names[s];
        }
    }
    for (int k = 0; k < m->nwatches; k++)
        mb->s_names[m->ns + mb->ncorners + k] = m->watches[k].name;
    for (int k = 0; k < m->noutputs; k++)
        mb->y_names[k] = m->outputs[k].name;
    find_units(mb);
    list_filters(mb);
    mark_followed(mb);
    name_states(mb);
    name_events(mb);
}

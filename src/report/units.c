/* Units of plotted columns, from what the model says they are. */
#include "report/page.h"

#include <string.h>

static const char *of_coordinate(const bg_model *m, const bg_output *o)
{
    static const char *const units[2][3] = {{"rad", "rad/s", "rad/s²"}, {"m", "m/s", "m/s²"}};
    const bg_joint_class *c = m->joints[o->index].class_;
    bool slide = c->coordinate[o->coordinate].kind == BG_COORDINATE_SLIDE;
    return units[slide][o->component];
}

static const char *of_sensor(const bg_model *m, const bg_output *o)
{
    static const char *const known[][2] = {
        {"force", "N"},     {"length", "m"},  {"stretch", "m"},    {"torque", "N m"},
        {"gap", "m"},       {"road", "m"},    {"gap_rate", "m/s"}, {"force_x", "N"},
        {"force_y", "N"},   {"force_z", "N"}, {"torque_x", "N m"}, {"torque_y", "N m"},
        {"torque_z", "N m"}};
    const char *name = m->forces[o->index].class_->sensor_names[o->component];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k][0], name) == 0)
            return known[k][1];
    return "";
}

static const char *of_output(const bg_model *m, const bg_output *o)
{
    switch (o->kind) {
    case BG_OUTPUT_COORDINATE:
        return of_coordinate(m, o);
    case BG_OUTPUT_POSITION:
    case BG_OUTPUT_DISTANCE:
        return "m";
    case BG_OUTPUT_VELOCITY:
        return "m/s";
    case BG_OUTPUT_ACCELERATION:
        return "m/s²";
    case BG_OUTPUT_ANGULAR_VELOCITY:
        return "rad/s";
    case BG_OUTPUT_ANGULAR_ACCELERATION:
        return "rad/s²";
    case BG_OUTPUT_FORCE:
        return of_sensor(m, o);
    case BG_OUTPUT_REACTION:
        return o->component < 3 ? "N" : "N m";
    case BG_OUTPUT_KINETIC:
    case BG_OUTPUT_POTENTIAL:
    case BG_OUTPUT_ENERGY:
        return "J";
    default:
        return "";
    }
}

/* An input has the unit of the coordinate that follows it; others may mean anything. */
static const char *of_input(const bg_model *m, int signal)
{
    for (int k = 0; k < m->njoints; k++)
        for (int c = 0; c < m->joints[k].class_->ncoordinates; c++)
            if (m->joints[k].start[c].signal == signal)
                return m->joints[k].class_->coordinate[c].kind == BG_COORDINATE_SLIDE ? "m" : "rad";
    return "";
}

/* The link whose first coordinate is the last one not behind the column. */
static const char *of_link(const bg_mechanism *x, bool velocity, int column)
{
    const bg_link *link = NULL;
    for (int k = 0; k < x->nlinks; k++)
        if (x->links[k].nv > 0 && (velocity ? x->links[k].v : x->links[k].q) <= column)
            if (!link || (velocity ? x->links[k].v > link->v : x->links[k].q > link->q))
                link = &x->links[k];
    if (!link)
        return "";
    if (link->kind == BG_LINK_TRANSLATE)
        return velocity ? "m/s" : "m";
    if (link->kind == BG_LINK_BALL && !velocity)
        return "";
    return velocity ? "rad/s" : "rad";
}

const char *bg_page_find_unit(const bg_scene *s, const char *dataset, int column)
{
    if (!s)
        return "";
    bool q = strcmp(dataset, "q") == 0, v = strcmp(dataset, "v") == 0;
    if (strcmp(dataset, "outputs") == 0)
        return column < s->model->noutputs ? of_output(s->model, &s->model->outputs[column]) : "";
    if (strcmp(dataset, "inputs") == 0)
        return column < s->model->nsignals ? of_input(s->model, column) : "";
    if (!q && !v)
        return "";
    if (strcmp(s->formulation, "joint") == 0)
        return of_link(s->mechanism, v, column);
    return column % 7 >= 3 ? (v ? "1/s" : "") : v ? "m/s" : "m";
}

/* Units of plotted columns, from what the model says they are. */
#include "model/unit.h"
#include "report/page.h"

#include <string.h>

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
        return column < s->model->noutputs
                   ? bg_output_get_unit(s->model, &s->model->outputs[column])
                   : "";
    if (strcmp(dataset, "inputs") == 0)
        return column < s->model->nsignals ? bg_signal_get_unit(s->model, column) : "";
    if (!q && !v)
        return "";
    if (strcmp(s->formulation, "joint") == 0)
        return of_link(s->mechanism, v, column);
    return column % 7 >= 3 ? (v ? "1/s" : "") : v ? "m/s" : "m";
}

/* Which plots a page opens with: those that the model names ("plots"), or a choice by meaning.
 *
 * The choice takes outputs that the user made first (angles, forces, expressions), then rates, then
 * places and energies. A plot holds channels of one unit whose sizes are alike, small beside
 * small, so that none is a flat line: the largest value is within a factor of the first one's. */
#include "model/unit.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLOTS = 3, CURVES = 4, RANKS = 8 };
static const double alike = 20;

static int find_kind(const bg_output *o)
{
    switch (o->kind) {
    case BG_OUTPUT_VELOCITY:
    case BG_OUTPUT_ACCELERATION:
    case BG_OUTPUT_ANGULAR_VELOCITY:
    case BG_OUTPUT_ANGULAR_ACCELERATION:
    case BG_OUTPUT_SIGNAL:
        return 1;
    case BG_OUTPUT_POSITION:
    case BG_OUTPUT_KINETIC:
    case BG_OUTPUT_POTENTIAL:
    case BG_OUTPUT_ENERGY:
        return 2;
    case BG_OUTPUT_ORIENTATION:
        return 3;
    default:
        return 0;
    }
}

/* Components of vectors and outputs of parts, which have a dot in their names, come behind others
 * of their kind. */
static int find_rank(const bg_output *o)
{
    return 2 * find_kind(o) + (strchr(o->name, '.') != NULL);
}

/* A plot in the making. */
typedef struct choice {
    int n, channel[CURVES];
    const char *unit;
    double size;
} choice;

static bool fits(const choice *c, const char *unit, double size)
{
    return c->n < CURVES && strcmp(c->unit, unit) == 0 && size <= alike * c->size &&
           c->size <= alike * size;
}

static int choose(const bg_model *m, const double *size, choice plots[PLOTS])
{
    int n = 0;
    for (int rank = 0; rank < RANKS && n < PLOTS; rank++) /* a plot of its own rank first */
        for (int k = 0; k < m->noutputs; k++) {
            const bg_output *o = &m->outputs[k];
            const char *unit = bg_output_get_unit(m, o);
            if (find_rank(o) != rank || !(size[k] > 0))
                continue; /* what is always zero, or not finite, is not worth a look */
            int i = 0;
            while (i < n && !fits(&plots[i], unit, size[k]))
                i++;
            if (i == PLOTS)
                continue;
            if (i == n)
                plots[n++] = (choice){.unit = unit, .size = size[k]};
            plots[i].channel[plots[i].n++] = k;
        }
    return n;
}

static void write_place(bg_json *j, const char *key, const bg_model *m, int channel)
{
    bg_json_open(j, key, '{');
    bg_json_text(j, "group", channel >= 0 ? "outputs" : "signals");
    bg_json_text(j, "name",
                 channel >= 0 ? m->outputs[channel].name : m->signals[-1 - channel].name);
    bg_json_close(j, '}');
}

static void write_plot(bg_json *j, const bg_model *m, const char *title, const int *channel, int n,
                       const int *over)
{
    bg_json_open(j, NULL, '{');
    bg_json_text(j, "title", title);
    bg_json_open(j, "channels", '[');
    for (int k = 0; k < n; k++)
        write_place(j, NULL, m, channel[k]);
    bg_json_close(j, ']');
    if (over)
        write_place(j, "over", m, *over);
    else
        bg_json_null(j, "over");
    bg_json_close(j, '}');
}

void bg_page_write_plots(bg_json *j, const bg_page_result *r, const double *size)
{
    const bg_model *m = r->scene ? r->scene->model : NULL;
    choice plots[PLOTS];
    bg_json_open(j, "plots", '[');
    for (int k = 0; m && k < m->nplots; k++) {
        const bg_plot *p = &m->plots[k];
        write_plot(j, m, p->title, p->channel, p->n, p->over_given ? &p->over : NULL);
    }
    if (m && m->nplots == 0 && size) {
        const int n = choose(m, size, plots);
        for (int k = 0; k < n; k++)
            write_plot(j, m, NULL, plots[k].channel, plots[k].n, NULL);
    }
    bg_json_close(j, ']');
}

void bg_page_write_view(bg_json *j, const bg_model *m)
{
    const bg_view *v = &m->view;
    const double from[3] = {v->from.x, v->from.y, v->from.z};
    bg_json_open(j, "view", '{');
    if (v->from_given)
        bg_json_numbers(j, "from", from, 3);
    else
        bg_json_null(j, "from");
    if (v->follow >= 0)
        bg_json_int(j, "follow", v->follow);
    else
        bg_json_null(j, "follow");
    bg_json_bool(j, "turn", v->turns);
    bg_json_close(j, '}');
}

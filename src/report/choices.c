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
static const double alike = 20, rounding = 1e-9;

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
typedef struct plot_choice {
    bg_plot plot;
    const char *unit;
    double size;
} plot_choice;

static bool fits(const plot_choice *c, const char *unit, double size)
{
    return c->plot.n < CURVES && strcmp(c->unit, unit) == 0 && size <= alike * c->size &&
           c->size <= alike * size;
}

/* Beside others of its unit it is zero but for rounding, or it always is, or not finite. */
static bool is_nothing(const bg_model *m, const double *size, int k)
{
    const char *unit = bg_output_get_unit(m, &m->outputs[k]);
    double largest = 0;
    for (int i = 0; i < m->noutputs; i++)
        if (strcmp(bg_output_get_unit(m, &m->outputs[i]), unit) == 0)
            largest = fmax(largest, size[i]);
    return !(size[k] > rounding * largest);
}

static int choose(const bg_model *m, const double *size, plot_choice plots[PLOTS])
{
    int n = 0;
    for (int rank = 0; rank < RANKS && n < PLOTS; rank++) /* a plot of its own rank first */
        for (int k = 0; k < m->noutputs; k++) {
            const bg_output *o = &m->outputs[k];
            const char *unit = bg_output_get_unit(m, o);
            if (find_rank(o) != rank || is_nothing(m, size, k))
                continue;
            int i = 0;
            while (i < n && !fits(&plots[i], unit, size[k]))
                i++;
            if (i == PLOTS)
                continue;
            if (i == n)
                plots[n++] = (plot_choice){.unit = unit, .size = size[k]};
            plots[i].plot.channel[plots[i].plot.n++] = k;
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

static void write_plot(bg_json *j, const bg_model *m, const bg_plot *p)
{
    bg_json_open(j, NULL, '{');
    bg_json_text(j, "title", p->title);
    bg_json_open(j, "channels", '[');
    for (int k = 0; k < p->n; k++)
        write_place(j, NULL, m, p->channel[k]);
    bg_json_close(j, ']');
    if (p->over_given)
        write_place(j, "over", m, p->over);
    else
        bg_json_null(j, "over");
    bg_json_bool(j, "spectrum", p->spectrum);
    bg_json_close(j, '}');
}

void bg_page_write_plots(bg_json *j, const bg_page_result *r, const double *size)
{
    const bg_model *m = r->scene ? r->scene->model : NULL;
    plot_choice plots[PLOTS];
    bg_json_open(j, "plots", '[');
    for (int k = 0; m && k < m->nplots; k++)
        write_plot(j, m, &m->plots[k]);
    if (m && m->nplots == 0 && size) {
        const int n = choose(m, size, plots);
        for (int k = 0; k < n; k++)
            write_plot(j, m, &plots[k].plot);
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
    bg_json_text(j, "camera", v->camera);
    bg_json_close(j, '}');
}

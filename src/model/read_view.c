/* "plots" and "view": what a page of results opens with; and "look" of a body. */
#include "model/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds channels of a name: an output, all components of one, or an input. */
static void add_channel(const bg_value *v, bg_plot *plot)
{
    const bg_model *m = v->reader->model;
    if (!bg_value_expect_text(v))
        return;
    char buffer[256];
    const char *text = json_string_value(v->json);
    const char *name = bg_scope_write_name(v->scope, text, buffer, sizeof buffer);
    const size_t n = name ? strlen(name) : 0;
    const int before = plot->n;
    for (int k = 0; k < m->noutputs && name; k++) {
        const char *other = m->outputs[k].name;
        const bool part = strncmp(other, name, n) == 0 && (other[n] == '\0' || other[n] == '.');
        if (part && plot->n < BG_PLOT_CHANNELS)
            plot->channel[plot->n++] = k;
        else if (part)
            bg_value_fail(v, "is one too many: a plot shows up to %d channels", BG_PLOT_CHANNELS);
    }
    for (int k = 0; k < m->nsignals && name && plot->n == before; k++)
        if (strcmp(m->signals[k].name, name) == 0 && plot->n < BG_PLOT_CHANNELS)
            plot->channel[plot->n++] = -1 - k;
    if (v->reader->status != BG_OK || plot->n > before)
        return;
    const char **names = bg_reader_allocate(v->reader, (size_t)m->noutputs + 1, sizeof *names);
    for (int k = 0; names && k < m->noutputs; k++)
        names[k] = m->outputs[k].name;
    if (names)
        bg_value_fail_unknown(v, "output or input", text, names, m->noutputs);
    free(names);
}

static void read_channels(const bg_value *list, bg_plot *plot)
{
    if (!bg_value_expect_list(list, -1))
        return;
    if (bg_value_get_size(list) == 0)
        bg_value_fail(list, "must name at least one output or input");
    for (int k = 0; k < bg_value_get_size(list) && list->reader->status == BG_OK; k++) {
        const bg_value v = bg_value_element(list, k);
        add_channel(&v, plot);
    }
}

static void read_plot(const bg_value *v, bg_plot *plot)
{
    static const char *const keys[] = {"title", "show", "over", "spectrum", NULL};
    if (json_is_array(v->json)) {
        read_channels(v, plot);
        return;
    }
    bg_value_expect(v, keys);
    const bg_value show = bg_value_member(v, "show"), over = bg_value_member(v, "over"),
                   spectrum = bg_value_member(v, "spectrum");
    const char *title = bg_value_text_or(v, "title", NULL);
    plot->title = title ? bg_reader_copy(v->reader, title) : NULL;
    if (v->reader->status == BG_OK)
        read_channels(&show, plot);
    plot->spectrum = bg_value_bool_or(v, "spectrum", false);
    if (plot->spectrum && bg_value_exists(&over))
        bg_value_fail(&spectrum, "cannot be together with 'over'");
    if (!bg_value_exists(&over))
        return;
    bg_plot x = {.n = 0};
    add_channel(&over, &x);
    if (v->reader->status == BG_OK && x.n != 1)
        bg_value_fail(&over, "has %d components; name one of them", x.n);
    plot->over = x.channel[0];
    plot->over_given = true;
}

static void read_plots(const bg_value *top)
{
    bg_model *m = top->reader->model;
    const bg_value list = bg_value_member(top, "plots");
    if (!bg_value_exists(&list) || !bg_value_expect_list(&list, -1))
        return;
    const int n = bg_value_get_size(&list);
    m->plots = bg_reader_allocate(top->reader, (size_t)n, sizeof *m->plots);
    for (int k = 0; k < n && top->reader->status == BG_OK; k++) {
        const bg_value v = bg_value_element(&list, k);
        read_plot(&v, &m->plots[m->nplots++]);
    }
}

/* "driver", or a tyre or wheel on a rail. */
static void read_camera(const bg_value *view)
{
    const bg_model *m = view->reader->model;
    const bg_value v = bg_value_member(view, "camera");
    const char *text = bg_value_text_or(view, "camera", NULL);
    const char **names = text ? bg_reader_allocate(view->reader, (size_t)m->nforces + 1,
                                                   sizeof *names)
                              : NULL;
    if (!names)
        return;
    int n = 0;
    names[n++] = "driver";
    for (int k = 0; k < m->nforces; k++) {
        bg_force_look look = {0};
        if (m->forces[k].class_->look)
            m->forces[k].class_->look(&m->forces[k], &look);
        if (look.radius > 0)
            names[n++] = m->forces[k].name;
    }
    int k = 0;
    while (k < n && strcmp(names[k], text) != 0)
        k++;
    if (k < n)
        view->reader->model->view.camera = bg_reader_copy(view->reader, text);
    else
        bg_value_fail_unknown(&v, "camera", text, names, n);
    free(names);
}

void bg_read_view(const bg_value *top)
{
    static const char *const keys[] = {"from", "follow", "turn", "camera", NULL};
    bg_view *x = &top->reader->model->view;
    const bg_value view = bg_value_member(top, "view"), from = bg_value_member(&view, "from"),
                   follow = bg_value_member(&view, "follow");
    x->follow = -1;
    read_plots(top);
    if (top->reader->status != BG_OK || !bg_value_exists(&view))
        return;
    bg_value_expect(&view, keys);
    if (bg_value_exists(&from))
        x->from = bg_value_unit(&view, "from");
    x->from_given = bg_value_exists(&from);
    if (bg_value_exists(&follow))
        x->follow = bg_value_body(&view, "follow");
    x->turns = bg_value_bool_or(&view, "turn", false);
    const bg_value turn = bg_value_member(&view, "turn");
    if (x->turns && x->follow <= 0)
        bg_value_fail(&turn, "needs 'follow', the body that the camera turns with");
    if (top->reader->status == BG_OK)
        read_camera(&view);
}

void bg_read_look(const bg_value *body, bg_body_look *out)
{
    static const char *const keys[] = {"colour", "opacity", "hidden", NULL};
    const bg_value look = bg_value_member(body, "look"), colour = bg_value_member(&look, "colour"),
                   opacity = bg_value_member(&look, "opacity");
    *out = (bg_body_look){.opacity = 1};
    if (!bg_value_exists(&look))
        return;
    bg_value_expect(&look, keys);
    const char *text = bg_value_text_or(&look, "colour", "");
    size_t digits = *text == '#' ? strspn(text + 1, "0123456789abcdefABCDEF") : 0;
    if (*text && (digits != 6 || text[7] != '\0'))
        bg_value_fail(&colour, "must be a colour such as \"#d04020\", red, green and blue with two "
                               "digits each");
    else
        snprintf(out->colour, sizeof out->colour, "%s", text);
    out->opacity = bg_value_number_or(&look, "opacity", 1);
    out->hidden = bg_value_bool_or(&look, "hidden", false);
    if (body->reader->status == BG_OK && !(out->opacity >= 0 && out->opacity <= 1))
        bg_value_fail(&opacity, "must be between 0 (not seen) and 1, not %g", out->opacity);
}

/* The functions of a bg_system that do not depend on the formalism: inputs, outputs, energy, start,
 * events and the sides of switching functions. */
#include "formalism/multibody.h"

#include "model/forces/law.h"

#include <math.h>
#include <string.h>

static const double derivative_cost = 8; /* residuals: carriage 6, cars 5 to 10 */

static int def_inputs(void *self, double t, const int *mode, double *u, double *u_t, double *u_tt)
{
    bg_multibody *mb = self;
    const int n = mb->model->nsignals;
    for (int k = 0; k < n; k++) {
        double x[3];
        const int own = mb->signal_mode[k] < 0 ? 0 : mode[mb->signal_mode[k]];
        if (t == mb->t_signals && own == mb->signals_piece[k])
            continue;
        if (own > 0)
            bg_signal_calc_piece(&mb->model->signals[k], own - 1, t, x);
        else
            bg_signal_calc(&mb->model->signals[k], t, x);
        mb->signals_piece[k] = own;
        for (int i = 0; i < 3; i++)
            mb->signals[i * n + k] = x[i];
    }
    mb->t_signals = t;
    for (int k = 0; k < n; k++) {
        const bg_live_signal *x = k < mb->nlive ? &mb->live[k] : NULL;
        const bool live = x && x->is_live;
        u[k] = live ? x->value + x->rate * (t - x->since) : mb->signals[k];
        u_t[k] = live ? x->rate : mb->signals[n + k];
        u_tt[k] = live ? 0 : mb->signals[2 * n + k];
    }
    return 0;
}

/* Events, too, look at the world that the signals from outside make. */
static void def_set_live(void *self, int signal, double since, double value, double rate)
{
    bg_multibody *mb = self;
    mb->live[signal] = (bg_live_signal){!isnan(value), since, value, rate};
    mb->nlive = signal < mb->nlive ? mb->nlive : signal + 1;
}

static int def_outputs(void *self, const bg_point *p, const double *a, const double *lambda,
                       double *y)
{
    bg_multibody *mb = self;
    mb->update(mb, p, a);
    bg_multibody_calc_outputs(mb, p, a, lambda, y);
    return 0;
}

static int def_energy(void *self, const bg_point *p, bg_energy *out)
{
    bg_multibody *mb = self;
    mb->update(mb, p, NULL);
    bg_multibody_calc_energy(mb, out);
    return 0;
}

static int def_power(void *self, const bg_point *p, double *power)
{
    bg_multibody *mb = self;
    mb->update(mb, p, NULL);
    *power = bg_multibody_calc_power(mb);
    return 0;
}

bg_point bg_multibody_look_at(bg_multibody *mb, double t, const double *q, const double *v,
                              const double *z, const int *mode)
{
    int n = mb->model->nsignals;
    bg_point p = {t, q, v, z, mb->u, mb->u + n, mb->u + 2 * n, mode, NULL, 0};
    def_inputs(mb, t, mode, mb->u, mb->u + n, mb->u + 2 * n);
    mb->update(mb, &p, NULL);
    return p;
}

void bg_multibody_start(bg_multibody *mb, double t, const double *q, const double *v)
{
    const bg_model *m = mb->model;
    bg_multibody_look_at(mb, t, q, v, mb->z0, mb->mode0);
    for (int k = 0; k < mb->nturns; k++) { /* drives may start after any number of turns */
        const bg_turn *x = &mb->turns[k];
        int signal = m->joints[x->joint].start[x->index].signal;
        if (signal >= 0)
            mb->z0[x->z] = mb->u[signal];
    }
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].class_->start)
            m->forces[k].class_->start(&m->forces[k], &mb->world, mb->z0 + m->forces[k].z0);
}

static void settle(bg_multibody *mb, int *mode)
{
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nsignals; k++)
        if (mb->signal_mode[k] >= 0 && mode[mb->signal_mode[k]] == 0)
            mode[mb->signal_mode[k]] = 1 + bg_signal_find_piece(&m->signals[k], mb->world.t);
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].class_->settle)
            m->forces[k].class_->settle(&m->forces[k], &mb->world, mode + m->forces[k].mode0);
}

/* States and modes of elements that follow from the assembled state. */
static int def_start(void *self, double t, const bg_event_state *x)
{
    bg_multibody *mb = self;
    const bg_model *m = mb->model;
    bg_multibody_look_at(mb, t, x->q, x->v, x->z, x->mode);
    for (int k = 0; k < mb->nturns; k++) /* within half a turn of the guess */
        x->z[mb->turns[k].z] = bg_coordinate_calc(&mb->world, &mb->turns[k].coordinate);
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].class_->start)
            m->forces[k].class_->start(&m->forces[k], &mb->world, x->z + m->forces[k].z0);
    settle(mb, x->mode);
    return 0;
}

/* Behind a corner its signal follows the next piece, before it the last; at the start it may do so
 * already. */
static int pass_corner(const bg_corner *c, int direction, int *mode)
{
    const int own = 1 + c->index + (direction > 0);
    if (mode[c->mode] == own || direction == 0)
        return BG_EVENT_NOTE;
    mode[c->mode] = own;
    return BG_EVENT_CHANGED;
}

/* A zero that is only touched, of direction 0, stops where both directions do. */
static int pass_watch(const bg_watch *x, int direction)
{
    unsigned needed = (direction >= 0 ? BG_WATCH_STOP_RISING : 0u) |
                      (direction <= 0 ? BG_WATCH_STOP_FALLING : 0u);
    return (x->stop & needed) == needed ? BG_EVENT_STOP_LATER : BG_EVENT_NOTE;
}

/* A corner of a signal that links follow: their rate jumps, and with it other velocities. */
static int pass_jump(bg_multibody *mb, const bg_corner *c, const bg_event *event,
                     const bg_event_state *x)
{
    const int n = mb->model->nsignals;
    if (!mb->jump)
        return pass_corner(c, event->direction, x->mode);
    bg_multibody_look_at(mb, event->t, x->q, x->v, x->z, x->mode);
    memcpy(mb->shifted.u, mb->u + n, (size_t)n * sizeof(double)); /* u_t before */
    int action = pass_corner(c, event->direction, x->mode);
    bg_point p = bg_multibody_look_at(mb, event->t, x->q, x->v, x->z, x->mode);
    if (memcmp(mb->shifted.u, p.u_t, (size_t)n * sizeof(double)) != 0)
        mb->jump(mb, &p, mb->shifted.u, x->v);
    return action;
}

/* The k-th switching function of a force element. */
static int pass_switch(const bg_force *f, int k, int direction, const bg_event_state *x)
{
    int *mode = x->mode + f->mode0, before[BG_FORCE_MODES];
    if (!f->class_->event)
        return BG_EVENT_NOTE;
    memcpy(before, mode, (size_t)f->nmode * sizeof *mode);
    const int action = f->class_->event(f, k, direction, mode);
    if (action == BG_EVENT_CHANGED && f->class_->enter)
        f->class_->enter(f, k, before, mode, x->z + f->z0);
    return action;
}

static int def_event(void *self, const bg_event *event, const bg_event_state *x)
{
    bg_multibody *mb = self;
    const bg_model *m = mb->model;
    int action = BG_EVENT_NOTE, corner = event->index - m->ns;
    if (corner >= mb->ncorners)
        action = pass_watch(&m->watches[corner - mb->ncorners], event->direction);
    else if (corner >= 0)
        action = pass_jump(mb, &mb->corners[corner], event, x);
    for (int k = 0; k < m->nforces; k++) {
        const bg_force *f = &m->forces[k];
        if (event->index < f->s0 || event->index >= f->s0 + f->ns)
            continue;
        action = pass_switch(f, event->index - f->s0, event->direction, x);
    }
    if (action != BG_EVENT_CHANGED)
        return action;
    bg_multibody_look_at(mb, event->t, x->q, x->v, x->z, x->mode);
    settle(mb, x->mode);
    return action;
}

/* Contact is a mode that stands for a side; events of the model file are changes of sign, jumps
 * included. */
static int def_sides(void *self, const int *mode, int *side)
{
    bg_multibody *mb = self;
    const bg_model *m = mb->model;
    for (int k = 0; k < m->nforces; k++)
        if (m->forces[k].ns > 0 && m->forces[k].class_->sides)
            m->forces[k].class_->sides(&m->forces[k], mode + m->forces[k].mode0,
                                       side + m->forces[k].s0);
    for (int k = 0; k < m->nwatches; k++)
        side[m->ns + mb->ncorners + k] = BG_SIDE_KEPT;
    return 0;
}

/* Watched laws may be anything; corners are times. */
static bool is_switching_slow(const bg_model *m)
{
    bool slow = m->nwatches == 0;
    for (int k = 0; k < m->nforces; k++)
        slow = slow && (m->forces[k].ns == 0 || m->forces[k].class_->s_follows_motion);
    return slow;
}

void bg_multibody_define(bg_multibody *mb, bg_system_def *def)
{
    const bg_model *m = mb->model;
    def->name = m->name;
    def->self = mb;
    def->fork = bg_multibody_fork;
    def->join = bg_multibody_join;
    def->forget = bg_multibody_forget;
    def->nz = mb->nz;
    def->nu = m->nsignals;
    def->ns = mb->ns;
    def->ny = mb->ny;
    def->nmode = mb->nmode;
    def->s_of_lambda = m->ncontacts > 0;
    def->f_of_lambda = m->ncontacts > 0 || m->of_reactions;
    def->s_follows_motion = is_switching_slow(m);
    def->derivative_supplied[BG_OF_r][BG_BY_lambda] = def->f_of_lambda != 0;
    def->derivative_cost = derivative_cost;
    def->inputs = def_inputs;
    def->set_live = def_set_live;
    def->outputs = def_outputs;
    def->energy = def_energy;
    def->power = def_power;
    def->start = def_start;
    def->event = def_event;
    def->sides = def_sides;
    def->z_names = mb->z_names;
    def->u_names = mb->u_names;
    def->u_followed = mb->u_followed;
    def->s_names = mb->s_names;
    def->s_rises = mb->s_rises;
    def->s_falls = mb->s_falls;
    def->s_touches = mb->s_touches;
    def->y_names = mb->y_names;
    def->y_units = mb->y_units;
    def->z_units = mb->z_units;
    def->u_units = mb->u_units;
    def->filters = mb->filters;
    def->nfilters = mb->nfilters;
    def->z0 = mb->z0;
    for (int k = 0; k < m->nforces; k++)
        def->stiff_parts += m->forces[k].stiff;
    def->mode0 = mb->mode0;
    if (!isnan(m->t_start))
        def->t_start = m->t_start;
    if (!isnan(m->t_end))
        def->t_end = m->t_end;
}

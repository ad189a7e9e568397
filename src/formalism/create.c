/* A model as a bg_system, in joint or in Cartesian coordinates.
 *
 * Both start from the same place: the joint form is assembled first, because joint coordinates are
 * what the user guesses and fixes, and the Cartesian form takes its poses and twists, and how many
 * constraints are redundant. The joint form in turn looks for its start on a copy of the model that
 * does not depend on `cut` and on the order of the file. */
#include "base/memory.h"
#include "base/text.h"
#include "bogie/integrator.h"
#include "bogie/model.h"
#include "formalism/cartesian/cartesian.h"
#include "formalism/joint/joint_form.h"
#include "formalism/sizes.h"
#include "formalism/wishes.h"
#include "model/canonical.h"
#include "model/review.h"
#include "system/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bg_status create_joint(const bg_model *model, bg_joint_form **form, bg_system **system,
                              bg_error *err);

enum { COORDINATES = BG_JOINT_COORDINATES }; /* at most, of a joint */

/* angle[njoints * COORDINATES] <- coordinates of the tree and angles that are followed, with all
 * their turns; others stay. */
static void get_angles(bg_joint_form *form, const bg_point *p, double *angle)
{
    double out[3];
    for (int k = 0; k < form->mb.model->njoints; k++)
        for (int c = 0; c < form->mb.model->joints[k].class_->ncoordinates; c++)
            if (form->mb.find_coordinate(&form->mb, k, c, p, NULL, out))
                angle[COORDINATES * k + c] = out[0];
    for (int k = 0; k < form->mb.nturns; k++)
        angle[COORDINATES * form->mb.turns[k].joint + form->mb.turns[k].index] =
            p->z[form->mb.turns[k].z];
}

/* Poses and twists of all bodies in the assembled joint form, angles, its degrees of freedom,
 * whether it has no constraints, and what was noticed on the way. */
static bg_status assemble(const bg_model *model, bg_body_state *start, double *angle, int *freedom,
                          bool *tree, bg_warnings *warnings, bg_error *err)
{
    bg_assembly_report report = {0};
    bg_joint_form *form;
    bg_system *system = NULL;
    bg_state *x = NULL;
    bg_status st = create_joint(model, &form, &system, err);
    if (st == BG_OK)
        st = bg_state_create(system, &x, err);
    if (st == BG_OK)
        st = bg_state_assemble(system, x, &report, err);
    if (st == BG_OK) {
        bg_warnings_append(warnings, &system->warnings);
        bg_warnings_append(warnings, &report.warnings);
        bg_joint_update_position(form, x->q);
        bg_joint_update_velocity(form, x->v);
        memcpy(start, form->mb.body, (size_t)model->nbodies * sizeof *start);
        bg_point p = {.t = x->t, .q = x->q, .v = x->v, .z = x->z, .mode = x->mode};
        get_angles(form, &p, angle);
        *freedom = form->nv - form->ng + report.redundancy.count;
        *tree = form->ng == 0;
    }
    bg_assembly_report_clear(&report);
    bg_state_destroy(x);
    bg_system_destroy(system);
    return st;
}

/* Angles that are followed start with all their turns, where they are known: those of z. */
static void set_turns(const bg_multibody *mb, const double *angle, double *z)
{
    for (int k = 0; k < mb->nturns; k++) {
        const bg_turn *x = &mb->turns[k];
        double known = angle[COORDINATES * x->joint + x->index];
        z[x->z] = isnan(known) ? z[x->z] : known;
    }
}

static double *new_angles(const bg_model *model)
{
    double *angle = BG_NEW_ARRAY(double, COORDINATES * model->njoints);
    for (int i = 0; i < COORDINATES * model->njoints && angle; i++)
        angle[i] = NAN;
    return angle;
}

/* The start of the form from poses and twists, and the angles that are known. */
static bg_status take_start(bg_joint_form *f, const bg_body_state *start, const double *angle,
                            bg_error *err)
{
    double *q = BG_NEW_ARRAY(double, f->nq + f->nv), *v = q ? q + f->nq : NULL;
    if (!q)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of a model");
    memcpy(q, f->q0, (size_t)f->nq * sizeof *q);
    for (int k = 0; k < f->mb.model->njoints; k++)
        for (int c = 0; c < f->mb.model->joints[k].class_->ncoordinates; c++)
            if (f->mech->joint_tree[k] >= 0 && !isnan(angle[COORDINATES * k + c])) {
                const bg_link *l = &f->mech->links[bg_mechanism_find_link(f->mech, k, c)];
                if (l->signal < 0)
                    q[l->q] = angle[COORDINATES * k + c];
            }
    bg_status st = bg_joint_take_poses(f, start, q, v, err);
    f->found = st == BG_OK;
    if (f->found) {
        memcpy(f->q0, q, (size_t)f->nq * sizeof *q);
        memcpy(f->v0, v, (size_t)f->nv * sizeof *v);
    }
    free(q);
    bg_multibody_start(&f->mb, isnan(f->mb.model->t_start) ? 0.0 : f->mb.model->t_start, f->q0,
                       f->v0);
    if (f->found)
        set_turns(&f->mb, angle, f->mb.z0);
    return st;
}

/* Whether q0 is closed and as the file asks for. */
static bool is_settled(bg_joint_form *f, bool *settled)
{
    double *g = BG_NEW_ARRAY(double, f->ng);
    *settled = false;
    if (!g)
        return false;
    bg_joint_update_position(f, f->q0);
    bg_joint_calc_g(f, g);
    bool closed = true;
    for (int i = 0; i < f->ng; i++)
        closed = closed && fabs(g[i]) <= 1e-12 * f->g_size[i];
    *settled = closed && bg_wishes_are_settled(&f->mb, BG_START_POSITIONS);
    free(g);
    return true;
}

static bool has_cuts(const bg_model *model)
{
    for (int k = 0; k < model->njoints; k++)
        if (model->joints[k].cut != BG_CUT_AUTO)
            return true;
    return false;
}

/* start[] and angle[] of the bodies and joints of the model from those of its canonical copy. */
static void bring_back(const bg_canonical *x, const bg_body_state *found, const double *known,
                       bg_body_state *start, double *angle)
{
    for (int b = 0; b < x->model.nbodies; b++)
        start[x->body[b]] = found[b];
    for (int k = 0; k < x->model.njoints; k++)
        for (int c = 0; c < x->model.joints[k].class_->ncoordinates; c++) {
            double sign;
            int own = bg_canonical_find_coordinate(x, k, c, &sign);
            angle[COORDINATES * x->joint[k] + own] = sign * known[COORDINATES * k + c];
        }
}

/* Where the search for a start converges may depend on the coordinates and the order of the file,
 * so it is made on a copy of the model in which these are always the same (model/canonical.h).
 * Where there is no start, the form has to look for the reason on its own. */
static bg_status start_on_canonical(const bg_model *model, bg_joint_form *form, bg_error *err)
{
    bg_canonical copy;
    bg_body_state *start = BG_NEW_ARRAY(bg_body_state, 2 * model->nbodies);
    double *angle = new_angles(model), *known = new_angles(model);
    bg_warnings ignored = {0};
    bool tree;
    int freedom;
    bg_status st = bg_canonical_create(model, &copy, err);
    if (st == BG_OK && (!start || !angle || !known))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", model->name);
    if (st == BG_OK)
        st = assemble(&copy.model, start, known, &freedom, &tree, &ignored, err);
    if (st == BG_OK && ignored.lost > 0)
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of '%s'", model->name);
    if (st == BG_OK) {
        bring_back(&copy, start, known, start + model->nbodies, angle);
        st = take_start(form, start + model->nbodies, angle, err);
    }
    bg_warnings_clear(&ignored);
    bg_canonical_clear(&copy);
    free(start);
    free(angle);
    free(known);
    return st == BG_NO_MEMORY ? st : BG_OK;
}

static bg_status find_start(const bg_model *model, bg_joint_form *form, bg_error *err)
{
    bool settled;
    if (!is_settled(form, &settled))
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'", model->name);
    if ((settled && !has_cuts(model)) || bg_model_is_canonical(model))
        return BG_OK;
    return start_on_canonical(model, form, err);
}

static const char *get_reaction_name(const void *self, int k)
{
    return bg_multibody_get_reaction_name(self, k);
}

static void calc_changes(void *self, const bg_point *p, const double *lambda, double size,
                         double *change)
{
    bg_multibody_calc_changes(self, p, lambda, size, change);
}

/* What a system knows of the model it was made from, in either form. */
static void describe_model(const bg_multibody *mb, bg_system *system)
{
    const bg_model *model = mb->model;
    system->block = mb->block;
    system->endless = mb->endless;
    system->nreactions = bg_multibody_count_reactions(mb);
    system->get_reaction_name = get_reaction_name;
    system->calc_changes = calc_changes;
    system->size = bg_model_calc_size(model);
    system->calc_distance = bg_sizes_calc_distance;
    system->resolution = bg_sizes_calc_resolution(model);
    system->farthest = model->farthest;
    system->mass = bg_model_calc_mass(model);
    system->lift = bg_model_calc_lift(model);
    system->raised = bg_model_calc_raised(model);
    system->parts = bg_multibody_get_parts(model);
    system->equilibrium = model->equilibrium;
}

static bg_status create_joint_as(const bg_model *model, bool constrain, bg_joint_form **form,
                                 bg_system **system, bg_error *err)
{
    bg_system_def def = bg_default_system_def();
    bg_status st = bg_joint_form_create(model, constrain, form, err);
    if (st == BG_OK && (st = find_start(model, *form, err)) != BG_OK)
        bg_joint_form_destroy(*form);
    if (st != BG_OK)
        return st;
    bg_joint_form_define(*form, &def);
    st = bg_system_create(&def, system, err);
    if (st != BG_OK)
        return st;
    describe_model(&(*form)->mb, *system);
    bg_model_review(model, (*form)->mech, &(*system)->warnings);
    return BG_OK;
}

static bool can_start(const bg_system *system)
{
    bg_assembly_report report = {0};
    bg_state *x = NULL;
    bg_status st = bg_state_create(system, &x, NULL);
    if (st == BG_OK)
        st = bg_state_assemble(system, x, &report, NULL);
    bg_assembly_report_clear(&report);
    bg_state_destroy(x);
    return st == BG_OK;
}

/* Where drives contradict each other or the loops, sentences have to name them: they stay rows, as
 * eliminated coordinates have no names. And so they do where all motion is prescribed: without
 * unknowns no error would control the steps in which the work of the drives is summed up. */
static bg_status create_joint(const bg_model *model, bg_joint_form **form, bg_system **system,
                              bg_error *err)
{
    bg_status st = create_joint_as(model, model->constrain, form, system, err);
    if (st != BG_OK || (*form)->nfollowing == 0 || ((*form)->nv > 0 && can_start(*system)))
        return st;
    bg_system_destroy(*system);
    *system = NULL;
    return create_joint_as(model, true, form, system, err);
}

static bg_status create_twin(const void *self, bg_system **twin, bg_error *err)
{
    bg_joint_form *form;
    return create_joint(((const bg_multibody *)self)->model, &form, twin, err);
}

/* Poses, twists, states of force elements and angles of the joint form. */
static bg_status take_twin(void *self, void *twin, const bg_point *p, bg_state *x, bg_error *err)
{
    bg_cartesian *c = self;
    bg_joint_form *form = twin;
    double *angle = new_angles(c->mb.model);
    if (!angle)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the start of model '%s'",
                            c->mb.model->name);
    form->mb.update(&form->mb, p, NULL);
    bg_cartesian_take_poses(c, form->mb.body, x->q, x->v);
    memcpy(x->z, p->z, (size_t)c->mb.model->nz * sizeof *x->z);
    get_angles(form, p, angle);
    set_turns(&c->mb, angle, x->z);
    free(angle);
    return BG_OK;
}

static bg_status create_cartesian(const bg_model *model, bg_system **system, bg_error *err)
{
    bg_cartesian *form;
    bg_system_def def = bg_default_system_def();
    bg_body_state *start = BG_NEW_ARRAY(bg_body_state, model->nbodies);
    double *angle = new_angles(model);
    bg_warnings warnings = {0};
    int freedom = -1;
    bool tree = false;
    bg_status st = start && angle ? assemble(model, start, angle, &freedom, &tree, &warnings, err)
                                  : bg_error_set(err, BG_NO_MEMORY, "out of memory for model '%s'",
                                                 model->name);
    if (st == BG_OK)
        st = bg_cartesian_create(model, start, &form, err);
    if (st == BG_OK)
        set_turns(&form->mb, angle, form->mb.z0);
    free(start);
    free(angle);
    if (st == BG_OK) {
        bg_cartesian_define(form, &def);
        st = bg_system_create(&def, system, err);
    }
    if (st != BG_OK) {
        bg_warnings_clear(&warnings);
        return st;
    }
    describe_model(&form->mb, *system);
    (*system)->warnings = warnings;
    (*system)->freedom = freedom;
    (*system)->tree = tree;
    (*system)->create_twin = create_twin;
    (*system)->take_twin = take_twin;
    return BG_OK;
}

bg_status bg_model_create_system(const bg_model *model, const char *formulation, bg_system **system,
                                 bg_error *err)
{
    static const char *const names[] = {"joint", "cartesian"};
    bg_joint_form *form;
    *system = NULL;
    if (strcmp(formulation, names[0]) == 0)
        return create_joint(model, &form, system, err);
    if (strcmp(formulation, names[1]) == 0)
        return create_cartesian(model, system, err);
    int nearest = bg_text_find_nearest(formulation, names, 2);
    return bg_error_set(err, BG_BAD_INPUT, "there is no formulation '%s'; it is '%s'%s",
                        formulation, nearest >= 0 ? names[nearest] : "joint",
                        nearest >= 0 ? "?" : " or 'cartesian'");
}

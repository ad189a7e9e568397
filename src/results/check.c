/* What a problem is made of, as JSON. */
#include "results/check.h"

#include "consistent/assemble.h"
#include "consistent/freedoms.h"
#include "formalism/motion.h"
#include "model/mechanism.h"
#include "run/problem.h"
#include "system/system.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

const char *const bg_check_terms[9] = {"M", "f", "g", "g_t", "G", "gamma", "V", "h", "s"};
const char *const bg_check_of[BG_OF_COUNT] = {"r", "h", "g", "w", "gamma"};
const char *const bg_check_by[BG_BY_COUNT] = {"q", "v", "z", "u", "u_t", "u_tt", "lambda"};

const char *bg_check_find_origin(const bg_system_def *def, unsigned term)
{
    const unsigned constraints = BG_TERM_g | BG_TERM_gt | BG_TERM_G | BG_TERM_gamma;
    if (((term & constraints) && def->ng == 0) || (term == BG_TERM_h && def->nz == 0) ||
        (term == BG_TERM_s && def->ns == 0))
        return NULL;
    if (def->supplied & term)
        return "supplied";
    switch (term) {
    case BG_TERM_M:
    case BG_TERM_f:
        return def->accelerate ? "in the explicit formalism" : "missing";
    case BG_TERM_gt:
        return def->scleronomic ? "zero (scleronomic)" : "by differences";
    case BG_TERM_G:
    case BG_TERM_gamma:
        return "by differences";
    case BG_TERM_V:
        return def->nq == def->nv ? "identity" : "missing";
    default: /* g, h, s: no difference gives them */
        return "missing";
    }
}

bool bg_check_has_block(const bg_system_def *def, bg_of of, bg_by by)
{
    int rows = of == BG_OF_r ? def->nv : of == BG_OF_h ? def->nz : def->ng;
    int columns = by == BG_BY_z        ? def->nz
                  : by == BG_BY_lambda ? def->ng
                  : by >= BG_BY_u      ? def->nu
                                       : def->nv;
    if (rows == 0 || columns == 0)
        return false;
    if (by == BG_BY_lambda) /* else it is G^T */
        return def->f_of_lambda && (of == BG_OF_r || of == BG_OF_h);
    if (of == BG_OF_g)
        return by == BG_BY_u;
    if (of == BG_OF_w && by == BG_BY_v)
        return false;
    if (by == BG_BY_u_tt)
        return of == BG_OF_r || of == BG_OF_gamma;
    return !(by == BG_BY_z && (of == BG_OF_w || of == BG_OF_gamma));
}

double bg_check_calc_mass(const bg_model *model, double centre[3])
{
    double mass = 0, moment[3] = {0};
    for (int i = 1; i < model->nbodies; i++) {
        const bg_body *body = &model->bodies[i];
        mass += body->mass;
        moment[0] += body->mass * body->pose.r.x;
        moment[1] += body->mass * body->pose.r.y;
        moment[2] += body->mass * body->pose.r.z;
    }
    for (int k = 0; k < 3; k++)
        centre[k] = mass > 0 ? moment[k] / mass : 0;
    return mass;
}

static json_t *new_name(const bg_system *system, char kind, int i)
{
    char buffer[64];
    return json_string(bg_system_get_name(system, kind, i, buffer, sizeof buffer));
}

static void put_dimensions(json_t *root, const bg_system_def *d)
{
    json_object_set_new(root, "dimensions",
                        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "nq", d->nq, "nv",
                                  d->nv, "nz", d->nz, "ng", d->ng, "nu", d->nu, "ns", d->ns, "ny",
                                  d->ny, "modes", d->nmode));
}

static void put_bodies(json_t *root, const bg_model *model)
{
    double centre[3], mass = bg_check_calc_mass(model, centre);
    json_t *names = json_array();
    for (int i = 1; i < model->nbodies; i++)
        json_array_append_new(names, json_string(model->bodies[i].name));
    json_object_set_new(root, "bodies", names);
    json_object_set_new(root, "mass", json_real(mass));
    json_object_set_new(root, "centre_of_mass",
                        mass > 0 ? json_pack("[f,f,f]", centre[0], centre[1], centre[2])
                                 : json_null());
}

static json_t *new_loop(const bg_model *model, int k)
{
    const bg_joint *j = &model->joints[k];
    return json_pack("{s:s, s:s, s:[s,s], s:i}", "joint", j->name, "type", j->class_->name,
                     "bodies", model->bodies[j->a.body].name, model->bodies[j->b.body].name,
                     "constraints", bg_joint_class_count_rows(j->class_));
}

/* The joints that carry the coordinates, and those that close loops. */
static bg_status put_topology(json_t *root, const bg_model *model, bg_error *err)
{
    bg_mechanism *m;
    json_t *tree = json_array(), *loops = json_array();
    json_object_set_new(root, "tree", tree);
    json_object_set_new(root, "loops", loops);
    bg_status st = bg_mechanism_create(model, &m, err);
    if (st != BG_OK)
        return st;
    for (int k = 0; k < m->ntree; k++) {
        const bg_tree_joint *t = &m->tree[k];
        const bg_joint *j = t->joint >= 0 ? &model->joints[t->joint] : NULL;
        json_array_append_new(tree, json_pack("{s:s?, s:s, s:s, s:s}", "joint", j ? j->name : NULL,
                                              "type", j ? j->class_->name : "free", "parent",
                                              model->bodies[t->parent].name, "child",
                                              model->bodies[t->child].name));
    }
    for (int k = 0; k < m->ncuts; k++)
        json_array_append_new(loops, new_loop(model, m->cuts[k]));
    for (int k = 0; k < model->ncouplers; k++)
        json_array_append_new(loops,
                              json_pack("{s:s, s:s, s:[], s:i}", "joint", model->couplers[k].name,
                                        "type", "relation", "bodies", "constraints", 1));
    bg_mechanism_destroy(m);
    return BG_OK;
}

static void put_terms(json_t *root, const bg_system_def *def)
{
    json_t *terms = json_object();
    for (unsigned i = 0; i < sizeof bg_check_terms / sizeof bg_check_terms[0]; i++)
        if (bg_check_find_origin(def, 1u << i))
            json_object_set_new(terms, bg_check_terms[i],
                                json_string(bg_check_find_origin(def, 1u << i)));
    json_object_set_new(root, "terms", terms);
    json_t *blocks = json_object();
    for (bg_of of = 0; of < BG_OF_COUNT; of++)
        for (bg_by by = 0; by < BG_BY_COUNT; by++) {
            char name[32];
            snprintf(name, sizeof name, "d%s/d%s", bg_check_of[of], bg_check_by[by]);
            if (bg_check_has_block(def, of, by))
                json_object_set_new(
                    blocks, name,
                    json_string(def->derivative_supplied[of][by] ? "supplied" : "by differences"));
        }
    json_object_set_new(root, "derivatives", blocks);
}

/* Each by the coordinate that stands for it, and those that move with it at its unit rate. */
static void put_freedoms(json_t *root, bg_evaluator *sys, const bg_state *x,
                         const bg_redundancy *redundancy, bool is_model)
{
    const bg_system *system = sys->system;
    int nv = sys->def.nv;
    json_t *list = json_array();
    bg_freedoms f;
    if (bg_freedoms_create(sys, x, redundancy, &f) == BG_OK)
        for (int k = 0; k < f.count; k++) {
            char motion[192] = "";
            json_t *moves = json_object();
            for (int i = 0; i < nv; i++)
                if (fabs(f.basis[k * nv + i]) > 1e-9) {
                    char buffer[64];
                    json_object_set_new(moves,
                                        bg_system_get_name(system, 'v', i, buffer, sizeof buffer),
                                        json_real(f.basis[k * nv + i]));
                }
            if (is_model)
                bg_motion_describe(sys, x, f.basis + k * nv, motion, sizeof motion);
            json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "coordinate",
                                                  new_name(system, 'v', f.column[k]), "moves",
                                                  moves, "motion", motion));
        }
    bg_freedoms_clear(&f);
    json_object_set_new(root, "freedoms", list);
}

/* {NAME: change} of coordinates that the start has moved. */
static json_t *new_moved(const bg_system *system, char kind, const double *moved, int n)
{
    json_t *object = json_object();
    char buffer[64];
    for (int i = 0; moved && i < n; i++)
        if (fabs(moved[i]) > 1e-10)
            json_object_set_new(object, bg_system_get_name(system, kind, i, buffer, sizeof buffer),
                                json_real(moved[i]));
    return object;
}

static json_t *new_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void put_start(json_t *root, const bg_system *system, const bg_assembly_report *r)
{
    const bg_system_def *def = &system->def;
    json_t *redundant = json_array(), *reactions = json_array();
    for (int k = 0; k < r->redundancy.count; k++)
        json_array_append_new(redundant, new_name(system, 'g', r->redundancy.eliminated[k]));
    for (int k = 0; k < r->nnot_unique; k++)
        json_array_append_new(reactions, json_string(r->not_unique[k]));
    for (int i = 0; r->nnot_unique == 0 && r->redundancy.not_unique && i < def->ng; i++)
        if (r->redundancy.not_unique[i])
            json_array_append_new(reactions, new_name(system, 'g', i));
    json_object_set_new(root, "freedom", json_integer(def->nv - def->ng + r->redundancy.count));
    json_object_set_new(root, "redundant", redundant);
    json_object_set_new(root, "not_unique", reactions);
    json_object_set_new(root, "start",
                        json_pack("{s:o, s:o, s:o, s:i, s:s?, s:o, s:o, s:o}", "g",
                                  new_number(r->max_g), "gv", new_number(r->max_gv), "ga",
                                  new_number(r->max_ga), "corrections", r->iterations, "method",
                                  r->method, "condition",
                                  r->rcond > 0 ? json_real(1 / r->rcond) : json_null(), "moved_q",
                                  new_moved(system, 'q', r->moved_q, def->nq), "moved_v",
                                  new_moved(system, 'v', r->moved_v, def->nv)));
}

static void put_warnings(json_t *root, const bg_warnings *list)
{
    json_t *warnings = json_array();
    for (int i = 0; i < list->count; i++)
        json_array_append_new(warnings,
                              json_pack("{s:s, s:s, s:s}", "verdict",
                                        bg_verdict_get_name(list->items[i].verdict), "topic",
                                        list->items[i].topic, "text", list->items[i].text));
    json_object_set_new(root, "warnings", warnings);
}

static bg_status put_assembly(json_t *root, const bg_system *system, bool is_model, bg_error *err)
{
    bg_assembly_report report = {0};
    bg_state *state = NULL;
    bg_evaluator *evaluator = NULL;
    bg_status st = bg_state_create(system, &state, err);
    if (st == BG_OK)
        st = bg_evaluator_create(system, &evaluator, err);
    if (st == BG_OK)
        st = bg_state_assemble_with(evaluator, state, &report, err);
    if (st == BG_OK) {
        put_start(root, system, &report);
        put_freedoms(root, evaluator, state, &report.redundancy, is_model);
        bg_warnings_append(&report.warnings, bg_system_get_warnings(system));
        put_warnings(root, &report.warnings);
    }
    bg_assembly_report_clear(&report);
    bg_evaluator_destroy(evaluator);
    bg_state_destroy(state);
    return st;
}

static bg_status put_comparison(json_t *root, const bg_system *system, bg_error *err)
{
    bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
    int count = 0;
    bool agree = true;
    json_t *list = json_array();
    bg_status st = bg_system_check_derivatives(system, BG_CHECK_SAMPLES, BG_CHECK_SEED, checks,
                                               &count, err);
    for (int i = 0; st == BG_OK && i < count; i++) {
        const bg_derivative_check *c = &checks[i];
        agree = agree && c->error <= BG_CHECK_LARGEST_ERROR;
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:s, s:o, s:o, s:f}", "quantity", c->quantity,
                                        "error", new_number(c->error), "entry", c->entry,
                                        "supplied", new_number(c->supplied), "differenced",
                                        new_number(c->differenced), "t", c->t));
    }
    json_object_set_new(root, "compared", list);
    json_object_set_new(root, "agree", json_boolean(agree));
    return st;
}

char *bg_check_create_text(const bg_problem *problem, int derivatives, bg_error *err)
{
    const bg_system *system = bg_problem_get_system(problem);
    const bg_model *model = bg_problem_get_model(problem);
    json_t *root = json_pack("{s:s, s:i, s:s, s:s, s:s?}", "kind", "check", "format", 1, "model",
                             bg_problem_get_reference(problem), "name",
                             model ? model->name : system->def.name, "formulation",
                             bg_problem_get_formulation(problem));
    bg_status st = root ? BG_OK : BG_NO_MEMORY;
    if (st == BG_OK && model) {
        put_bodies(root, model);
        st = put_topology(root, model, err);
    }
    if (st == BG_OK) {
        put_dimensions(root, &system->def);
        put_terms(root, &system->def);
        st = put_assembly(root, system, model != NULL, err);
        if (st != BG_OK)
            bg_problem_locate(problem, st, err);
    }
    if (st == BG_OK && derivatives)
        st = put_comparison(root, system, err);
    char *text = st == BG_OK ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text && (st == BG_OK || st == BG_NO_MEMORY))
        bg_error_set(err, BG_NO_MEMORY, "out of memory for what a check says");
    return text;
}

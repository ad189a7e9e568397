#include "report/scene.h"

#include "base/memory.h"
#include "base/text.h"
#include "linalg/linalg.h"
#include "system/system.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double frame_rate = 60; /* 1/s */
enum { MIN_FRAMES = 600, MAX_FRAMES = 4000 };
/* Reactions cost (joints)(bodies) a frame; beyond this many terms they would take seconds. */
static const double max_reaction_terms = 1e8;

/* A state between rows, and what it takes to find it. */
typedef struct scene_track {
    const bg_rows *rows;
    const bg_system_def *def;
    bg_evaluator *evaluator;
    double *q, *v, *z, *a, *lambda; /* the state */
    int *mode;
    double *V, *rate[2]; /* q' at both ends of the interval */
    long at;             /* interval the rates belong to; -1: none */
    bg_arena arena;      /* all arrays */
} scene_track;

static void list(void *object, bg_arena *arena)
{
    scene_track *x = object;
    const bg_system_def *def = x->def;
    BG_TAKE(arena, x->q, def->nq);
    BG_TAKE(arena, x->v, def->nv);
    BG_TAKE(arena, x->z, def->nz);
    BG_TAKE(arena, x->a, def->nv);
    BG_TAKE(arena, x->lambda, def->ng);
    BG_TAKE(arena, x->mode, def->nmode);
    BG_TAKE(arena, x->V, bg_system_get_size_V(x->evaluator->system));
    BG_TAKE(arena, x->rate[0], def->nq);
    BG_TAKE(arena, x->rate[1], def->nq);
}

static bg_status track_create(bg_evaluator *evaluator, const bg_rows *rows, scene_track *x,
                              bg_error *err)
{
    const bg_system_def *def = &evaluator->def;
    *x = (scene_track){.rows = rows, .def = def, .evaluator = evaluator, .at = -1};
    if (bg_arena_create(&x->arena, list, x))
        return BG_OK;
    return bg_error_set(err, BG_NO_MEMORY, "out of memory for the frames of a scene");
}

/* q' = V v at a row. */
static bg_status calc_rate(scene_track *x, long row, double *rate, bg_error *err)
{
    const bg_system_def *def = x->def;
    const double *q = x->rows->q + row * def->nq, *v = x->rows->v + row * def->nv;
    if (!(def->supplied & BG_TERM_V)) { /* V = I */
        memcpy(rate, v, (size_t)def->nq * sizeof(double));
        return BG_OK;
    }
    bg_point p;
    bg_terms terms = {.V = x->V};
    bg_status st = bg_system_set_point(x->evaluator, x->rows->t[row], q, v, x->z, x->mode, &p, err);
    if (st == BG_OK)
        st = bg_system_calc_terms(x->evaluator, &p, BG_TERM_V, &terms, err);
    if (st == BG_OK)
        bg_matrix_multiply(def->nq, def->nv, def->pattern_V, x->V, v, rate);
    return st;
}

static void mix(const double *rows, int width, long row, long next, double s, double *out)
{
    for (int k = 0; rows && k < width; k++)
        out[k] = (1 - s) * rows[row * width + k] + s * rows[next * width + k];
}

/* The state at t in the interval behind a row. */
static bg_status track_find(scene_track *x, long row, double t, bg_error *err)
{
    const bg_rows *r = x->rows;
    const bg_system_def *def = x->def;
    const long next = row + 1 < r->finite ? row + 1 : row;
    const double h = r->t[next] - r->t[row], s = h > 0 ? (t - r->t[row]) / h : 0;
    for (int k = 0; k < def->nmode; k++)
        x->mode[k] = r->mode
                         ? (int)bg_double_to_long(r->mode[row * def->nmode + k], INT_MIN, INT_MAX)
                         : 0;
    mix(r->z, def->nz, row, next, s, x->z);
    bg_status st = BG_OK;
    if (x->at != row) {
        st = calc_rate(x, row, x->rate[0], err);
        if (st == BG_OK)
            st = calc_rate(x, next, x->rate[1], err);
        x->at = row;
    }
    const double *q0 = r->q + row * def->nq, *q1 = r->q + next * def->nq;
    for (int i = 0; i < def->nq; i++) /* Hermite */
        x->q[i] = (1 + 2 * s) * (1 - s) * (1 - s) * q0[i] + s * s * (3 - 2 * s) * q1[i] +
                  h * s * (1 - s) * ((1 - s) * x->rate[0][i] - s * x->rate[1][i]);
    if (def->normalise)
        def->normalise(def->self, x->q);
    mix(r->v, def->nv, row, next, s, x->v);
    mix(r->a, def->nv, row, next, s, x->a);
    mix(r->lambda, def->ng, row, next, s, x->lambda);
    return st;
}

static void store_pose(const bg_world *w, const bg_body_state *b, const float *before,
                       float pose[BG_POSE])
{
    const bg_vec3 r = bg_world_get_place(w, b->r);
    bg_quat p = bg_quat_normalise(bg_quat_from_rotation(&b->R));
    double x[BG_POSE] = {r.x, r.y, r.z, p.w, p.x, p.y, p.z};
    double along = 1; /* p and -p are the same rotation: the nearer one */
    if (before)
        along = x[3] * before[3] + x[4] * before[4] + x[5] * before[5] + x[6] * before[6];
    for (int k = 0; k < BG_POSE; k++)
        pose[k] = (float)(k >= 3 && along < 0 ? -x[k] : x[k]);
}

static void store_frame(bg_scene *s, long frame, const scene_track *x)
{
    const long width = (long)s->nbodies * BG_POSE;
    for (int b = 0; b < s->nbodies; b++) {
        float *pose = s->poses + frame * width + b * BG_POSE;
        store_pose(&s->mb->world, &s->mb->body[b], frame > 0 ? pose - width : NULL, pose);
    }
    for (int k = 0; k < s->njoints && s->has_reactions; k++) {
        bg_vec3 f = bg_multibody_calc_reaction(s->mb, k, x->lambda).f;
        bool good = isfinite(f.x) && isfinite(f.y) && isfinite(f.z);
        float *out = s->reactions[k] + 3 * frame;
        out[0] = good ? (float)f.x : 0;
        out[1] = good ? (float)f.y : 0;
        out[2] = good ? (float)f.z : 0;
    }
}

/* Whether t lies behind a row, or at it but for rounding: modes there are those of the row. */
static bool is_behind(const bg_rows *rows, long row, double t)
{
    return rows->t[row] - t <= 1e-9 * (rows->t[row] - rows->t[row - 1]);
}

static bg_status make_frames(bg_scene *s, const bg_rows *rows, bg_error *err)
{
    scene_track x;
    bg_status st = track_create(s->evaluator, rows, &x, err);
    long row = 0;
    for (long k = 0; k < s->frames && st == BG_OK; k++) {
        bg_point p;
        while (row + 1 < rows->finite && is_behind(rows, row + 1, s->t[k]))
            row++;
        st = track_find(&x, row, s->t[k], err);
        if (st == BG_OK)
            st = bg_system_set_point(s->evaluator, s->t[k], x.q, x.v, x.z, x.mode, &p, err);
        if (st != BG_OK)
            break;
        p.lambda = x.lambda; /* some forces depend on them */
        s->mb->update(s->mb, &p, x.a);
        store_frame(s, k, &x);
        bg_scene_store_forces(s, k);
    }
    bg_arena_clear(&x.arena);
    return st;
}

static long count_frames(double span)
{
    if (!(span > 0))
        return 1;
    double n = ceil(span * frame_rate);
    return 1 + (long)fmin(MAX_FRAMES - 1, fmax(n, MIN_FRAMES));
}

static bg_status allocate(bg_scene *s, const bg_rows *rows, bg_error *err)
{
    const double first = rows->t[0], last = rows->t[rows->finite - 1];
    s->frames = count_frames(last - first);
    const double terms = (double)s->njoints * s->nbodies * (double)s->frames;
    s->has_reactions = rows->a && terms <= max_reaction_terms;
    s->t = BG_NEW_ARRAY(double, s->frames);
    s->poses = BG_NEW_ARRAY(float, s->frames * s->nbodies * BG_POSE);
    s->reactions = BG_NEW_ARRAY(float *, s->njoints);
    bool ok = s->t && s->poses && s->reactions;
    for (int k = 0; k < s->njoints && ok && s->has_reactions; k++)
        ok = (s->reactions[k] = BG_NEW_ARRAY(float, 3 * s->frames)) != NULL;
    if (!ok)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for the frames of a scene");
    for (long k = 0; k < s->frames; k++)
        s->t[k] = k + 1 < s->frames ? first + (last - first) * (double)k / (double)(s->frames - 1)
                                    : last;
    return bg_scene_create_forces(s, err);
}

bg_vec3 bg_scene_calc_place(const bg_scene *s, long frame, int body, bg_vec3 r)
{
    const float *p = s->poses + (frame * s->nbodies + body) * BG_POSE;
    bg_mat3 R = bg_rotation_from_quat(bg_quat_normalise((bg_quat){p[3], p[4], p[5], p[6]}));
    return bg_add(bg_vec3_make(p[0], p[1], p[2]), bg_rotate(&R, r));
}

/* The diagonal of a box around bodies and joints in the first frame. */
static double calc_size(const bg_scene *s)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < s->nbodies - 1 + s->njoints; k++) {
        const bg_marker *m = k < s->njoints ? &s->model->joints[k].b : NULL;
        bg_vec3 r = m ? bg_scene_calc_place(s, 0, m->body, m->frame.r)
                      : bg_scene_calc_place(s, 0, k - s->njoints + 1, bg_vec3_make(0, 0, 0));
        const double x[3] = {r.x, r.y, r.z};
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], x[i]);
            high[i] = fmax(high[i], x[i]);
        }
    }
    double size = sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) +
                       pow(high[2] - low[2], 2));
    return size > 0 && isfinite(size) ? size : 1;
}

/* The formulation the run used; the setup is what the program wrote. */
static void find_formulation(const bg_result_info *info, char word[16])
{
    json_t *setup = json_loads(info->setup ? info->setup : "{}", 0, NULL);
    const char *text = json_string_value(json_object_get(setup, "formulation"));
    strncpy(word, text ? text : "joint", 15);
    json_decref(setup);
}

static bool fits(const bg_result_file *file, const bg_system_def *def)
{
    const int a = bg_result_get_width(file, "a"); /* older files have none */
    if (a != 0 && a != def->nv)
        return false;
    return bg_result_get_width(file, "q") == def->nq && bg_result_get_width(file, "v") == def->nv &&
           bg_result_get_width(file, "z") == def->nz &&
           bg_result_get_width(file, "lambda") == def->ng &&
           bg_result_get_width(file, "mode") == def->nmode;
}

/* The model and its equations. A model this version cannot build is no failure. */
static bg_status build(bg_result_file *file, bg_scene *s, char *note, bg_error *err)
{
    const bg_result_info *info = bg_result_get_info(file);
    bg_error own = {0};
    bg_problem_def def = bg_default_problem_def();
    char formulation[16] = "";
    find_formulation(info, formulation);
    def.formulation = formulation;
    bg_status st = bg_source_parse(info->model_text, info->model, &s->source, &own);
    def.source = s->source;
    if (st == BG_OK)
        st = bg_problem_create(&def, &s->problem, &own);
    if (st == BG_OK) {
        s->model = bg_problem_get_model(s->problem);
        s->formulation = bg_problem_get_formulation(s->problem);
        st = bg_mechanism_create(s->model, &s->mechanism, &own);
        if (st == BG_OK)
            st = bg_evaluator_create(bg_problem_get_system(s->problem), &s->evaluator, &own);
    }
    if (st == BG_NO_MEMORY)
        return bg_error_set(err, st, "%s", own.text);
    if (st != BG_OK)
        snprintf(note, BG_SCENE_NOTE,
                 "There is no animation: the model in the result cannot be built again, %.300s",
                 own.text);
    else if (!fits(file, &s->evaluator->def))
        snprintf(note, BG_SCENE_NOTE,
                 "There is no animation: the states in the result are not those of its model.");
    return BG_OK;
}

static bg_status fill(bg_result_file *file, bg_scene *s, const bg_rows *rows, char *note,
                      bg_error *err)
{
    s->mb = s->evaluator->def.self;
    s->nbodies = s->model->nbodies;
    s->njoints = s->model->njoints;
    bg_status st = allocate(s, rows, err);
    if (st == BG_OK)
        st = make_frames(s, rows, err);
    if (st != BG_OK)
        return st;
    s->size = calc_size(s);
    if (rows->finite < bg_result_get_info(file)->rows)
        snprintf(note, BG_SCENE_NOTE,
                 "The animation ends at t = %.9g s: the states behind it are not finite.",
                 rows->t[rows->finite - 1]);
    else if (!s->has_reactions && s->njoints > 0)
        snprintf(note, BG_SCENE_NOTE,
                 "Reactions are not drawn: for %d joints in %ld frames they would take too long.",
                 s->njoints, s->frames);
    else if (s->left_out > 0)
        snprintf(note, BG_SCENE_NOTE,
                 "Forces of springs and tyres are not drawn: %d of them in %ld frames would make "
                 "the page too large.",
                 s->left_out, s->frames);
    return BG_OK;
}

bg_status bg_scene_create(bg_result_file *file, bg_scene **scene, char note[BG_SCENE_NOTE],
                          bg_error *err)
{
    bg_rows rows = {0};
    *scene = NULL;
    note[0] = '\0';
    if (!bg_result_get_info(file)->model_text) {
        snprintf(note, BG_SCENE_NOTE,
                 "There is no animation: the result is not one of a model file, or is older than "
                 "such results that hold their model.");
        return BG_OK;
    }
    bg_scene *s = BG_NEW(bg_scene);
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory for a scene");
    bg_status st = build(file, s, note, err);
    bool drawn = st == BG_OK && !note[0];
    if (drawn)
        st = bg_rows_read(file, &rows, err);
    if (drawn && st == BG_OK && rows.finite == 0) {
        snprintf(note, BG_SCENE_NOTE,
                 "There is no animation: the result has no row with finite "
                 "states.");
        drawn = false;
    }
    if (drawn && st == BG_OK)
        st = fill(file, s, &rows, note, err);
    bg_rows_clear(&rows);
    if (drawn && st == BG_OK)
        *scene = s;
    else
        bg_scene_destroy(s);
    return st;
}

void bg_scene_destroy(bg_scene *s)
{
    if (!s)
        return;
    for (int k = 0; s->reactions && k < s->njoints; k++)
        free(s->reactions[k]);
    free(s->reactions);
    bg_scene_destroy_forces(s);
    free(s->t);
    free(s->poses);
    bg_mechanism_destroy(s->mechanism);
    bg_evaluator_destroy(s->evaluator);
    bg_problem_destroy(s->problem);
    bg_source_close(s->source);
    free(s);
}

/* Bodies in space by hand, for tests of force elements: a model read from a text, random poses and
 * twists of its bodies, and the motion they describe. */
#ifndef FORCE_RIG_H
#define FORCE_RIG_H

#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(actual, expected, tolerance) \
    rig_assert_near(actual, expected, tolerance, #actual, __FILE__, __LINE__)

static inline void rig_assert_near(double a, double b, double tolerance, const char *what,
                                   const char *file, int line)
{
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%s is %.17g, not %.17g within %g\n", what, a, b, tolerance);
        _fail(file, line);
    }
}

enum { RIG_OUTPUTS = 200, RIG_BODIES = 4, RIG_ARRAY = 24 };

typedef struct force_rig {
    bg_model *model;
    uint64_t seed;
    bg_body_state body[RIG_BODIES];
    double u[RIG_ARRAY], u_t[RIG_ARRAY], z[RIG_ARRAY];
    int mode[RIG_ARRAY];
    double t;
    double measured[3 * RIG_OUTPUTS]; /* scratch of laws */
} force_rig;

/* Uniform in [-1, 1]. */
static inline double rig_random(force_rig *r)
{
    r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(r->seed >> 11) / 4503599627370496.0 - 1.0;
}

static inline bg_vec3 rig_random_vec3(force_rig *r, double size)
{
    double x = size * rig_random(r), y = size * rig_random(r), z = size * rig_random(r);
    return bg_vec3_make(x, y, z);
}

/* exp(a~) */
static inline bg_mat3 rig_exp(bg_vec3 a)
{
    double angle = bg_length(a);
    return angle > 0 ? bg_rotation_about(bg_scale(1 / angle, a), angle) : bg_mat3_identity();
}

static inline bg_world rig_world(const force_rig *r)
{
    return (bg_world){.t = r->t,
                      .body = r->body,
                      .u = r->u,
                      .u_t = r->u_t,
                      .z = r->z,
                      .mode = r->mode,
                      .measured = (double *)r->measured};
}

/* Bodies of the design position, displaced and turned by up to `far`, with random twists, states
 * and signals. */
static inline void rig_shake(force_rig *r, double far)
{
    assert_true(r->model->nbodies <= RIG_BODIES && r->model->nz <= RIG_ARRAY &&
                r->model->noutputs < RIG_OUTPUTS);
    memset(r->body, 0, sizeof r->body);
    r->body[0].R = bg_mat3_identity();
    for (int k = 1; k < r->model->nbodies; k++) {
        const bg_frame *pose = &r->model->bodies[k].pose;
        bg_mat3 turn = rig_exp(rig_random_vec3(r, far));
        r->body[k].r = bg_add(pose->r, rig_random_vec3(r, far));
        r->body[k].R = bg_mat3_multiply(&turn, &pose->R);
        r->body[k].v = rig_random_vec3(r, 2);
        r->body[k].w = rig_random_vec3(r, 3);
    }
    for (int k = 0; k < RIG_ARRAY; k++) {
        r->u[k] = rig_random(r);
        r->u_t[k] = rig_random(r);
        r->z[k] = rig_random(r);
        r->mode[k] = 0;
    }
    r->t = rig_random(r);
}

/* The rig after a time e with constant twists. */
static inline force_rig rig_move(const force_rig *r, double e)
{
    force_rig x = *r;
    for (int k = 1; k < r->model->nbodies; k++) {
        bg_mat3 turn = rig_exp(bg_scale(e, r->body[k].w));
        x.body[k].r = bg_add_scaled(r->body[k].r, e, r->body[k].v);
        x.body[k].R = bg_mat3_multiply(&turn, &r->body[k].R);
    }
    for (int k = 0; k < RIG_ARRAY; k++)
        x.u[k] = r->u[k] + e * r->u_t[k];
    x.t = r->t + e;
    return x;
}

/* A copy of JSON that is written with single quotes, to be released with free(). */
static inline char *rig_quote(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

/* From JSON with single quotes. */
static inline void rig_read(force_rig *r, const char *text)
{
    bg_error err = {BG_OK, ""};
    char *copy = rig_quote(text);
    *r = (force_rig){.seed = 7};
    if (bg_model_parse(copy, "test", NULL, 0, &r->model, &err) != BG_OK)
        fail_msg("%s", err.text);
    free(copy);
}

static inline int rig_tear_down(void **state)
{
    force_rig *r = *state;
    bg_model_destroy(r->model);
    free(r);
    return 0;
}

static inline const bg_force *rig_find(const force_rig *r, const char *name)
{
    for (int k = 0; k < r->model->nforces; k++)
        if (strcmp(r->model->forces[k].name, name) == 0)
            return &r->model->forces[k];
    fail_msg("no force %s", name);
    return NULL;
}

static inline void rig_apply(const force_rig *r, const bg_force *f, bg_wrench wrench[RIG_BODIES])
{
    bg_world w = rig_world(r);
    memset(wrench, 0, RIG_BODIES * sizeof *wrench);
    f->class_->apply(f, &w, wrench);
}

static inline bg_energy rig_energy(const force_rig *r, const bg_force *f)
{
    bg_world w = rig_world(r);
    bg_energy e = {0};
    if (f->class_->energy)
        f->class_->energy(f, &w, &e);
    return e;
}

static inline double rig_sensor(const force_rig *r, const bg_force *f, const char *name)
{
    bg_world w = rig_world(r);
    for (int k = 0; k < f->class_->nsensors; k++)
        if (strcmp(f->class_->sensor_names[k], name) == 0)
            return f->class_->sensor(f, &w, k);
    fail_msg("no sensor %s", name);
    return NAN;
}

/* The largest entry of a list of wrenches. */
static inline double rig_size(const bg_wrench *wrench, int n)
{
    const double *x = (const double *)wrench;
    double size = 0;
    for (int k = 0; k < 6 * n; k++)
        size = fmax(size, fabs(x[k]));
    return size;
}

static inline double rig_distance(const bg_wrench *a, const bg_wrench *b)
{
    const double *x = (const double *)a, *y = (const double *)b;
    double size = 0;
    for (int k = 0; k < 6 * RIG_BODIES; k++)
        size = fmax(size, fabs(x[k] - y[k]));
    return size;
}

#endif

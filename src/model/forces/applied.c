/* force, torque: applied from outside, given by three numbers or laws of t, signals and outputs, in
 * world axes or in the body's own axes.
 *
 *   force:  f at the point p = r + s, its moment s x f;   power f . (v + w x s)
 *   torque: n;                                            power n . w
 *
 * In body axes f = R f_0 turns with the body: df = dtheta x f; in world axes df = 0; to which R
 * df_0 or df_0 through the outputs is added. There is no reaction: the other end is outside of the
 * model. A part gives f_0, and is told values, in its own axes (model/scope.h): f_0 is what the
 * laws say, mapped to the axes of the world or of the body. */
#include "model/forces/law.h"

#include <stdlib.h>

typedef struct applied {
    bg_marker at; /* force: its point; torque: only the body counts */
    bool in_body, is_torque, is_mapped;
    bg_mat3 map, world; /* where is_mapped, from the part to the axes of the body or the world, and
                           to the world in any case */
    bg_law component[3];
    int nbodies, body[BG_FORCE_BODIES]; /* its own, then those of outputs in laws */
} applied;

/* The vector in world axes. */
static bg_vec3 calc_vector(const applied *s, const bg_world *w)
{
    double x[3];
    for (int k = 0; k < 3; k++)
        x[k] = bg_law_calc(&s->component[k], w, NULL);
    const bg_vec3 given = bg_vec3_load(x), f = s->is_mapped ? bg_rotate(&s->map, given) : given;
    return s->in_body ? bg_rotate(&w->body[s->at.body].R, f) : f;
}

static void apply(const bg_force *f, const bg_world *w, bg_wrench *wrench)
{
    const applied *s = f->self;
    const bg_vec3 none = {0, 0, 0}, x = calc_vector(s, w), p = bg_marker_get_position(w, &s->at);
    bg_wrench_add(wrench, w, s->at.body, p, s->is_torque ? none : x, s->is_torque ? x : none);
}

static void energy(const bg_force *f, const bg_world *w, bg_energy *out)
{
    const applied *s = f->self;
    out->power += bg_dot(calc_vector(s, w),
                         s->is_torque ? w->body[s->at.body].w : bg_marker_get_velocity(w, &s->at));
}

typedef struct applied_state {
    bg_vec3 s, x;           /* arm, vector */
    const bg_mat3 *R, *map; /* map: NULL for none */
    bool in_body, is_torque;
    bg_slope slope[3]; /* of the components through outputs */
} applied_state;

static void tangent(const void *context, const bg_variation *d, bg_wrench *dwrench, double *dh)
{
    const applied_state *y = context;
    const bg_vec3 none = {0, 0, 0};
    const bg_vec3 given = {bg_slope_vary(&y->slope[0], d), bg_slope_vary(&y->slope[1], d),
                           bg_slope_vary(&y->slope[2], d)};
    const bg_vec3 dx_0 = y->map ? bg_rotate(y->map, given) : given;
    const bg_vec3 dx = y->in_body ? bg_add(bg_cross(d[0].dtheta, y->x), bg_rotate(y->R, dx_0))
                                  : dx_0;
    (void)dh;
    dwrench[0] = y->is_torque ? (bg_wrench){none, dx}
                              : bg_wrench_vary(y->s, bg_variation_of_arm(&d[0], y->s), y->x, dx);
}

static void derivatives(const bg_force *f, const bg_world *w, bg_force_derivatives *out)
{
    const applied *s = f->self;
    applied_state y = {.s = bg_marker_get_arm(w, &s->at),
                       .x = calc_vector(s, w),
                       .R = &w->body[s->at.body].R,
                       .map = s->is_mapped ? &s->map : NULL,
                       .in_body = s->in_body,
                       .is_torque = s->is_torque};
    for (int k = 0; k < 3; k++) {
        y.slope[k] = bg_slope_make(s->body, s->nbodies);
        bg_law_calc_gradient(&s->component[k], w, NULL, NULL, NULL, &y.slope[k]);
    }
    bg_element_calc_derivatives(tangent, &y, s->body, s->nbodies, 0, out);
}

/* Components in the axes of the world, or of the part, and magnitude. */
static double sensor(const bg_force *f, const bg_world *w, int which)
{
    const applied *s = f->self;
    const bg_vec3 v = calc_vector(s, w), x = s->is_mapped ? bg_rotate_back(&s->world, v) : v;
    const double values[] = {x.x, x.y, x.z, bg_length(x)};
    return values[which];
}

static void clear(bg_force *f)
{
    applied *s = f->self;
    for (int k = 0; s && k < 3; k++)
        bg_law_clear(&s->component[k]);
    free(s);
    f->self = NULL;
}

static void read_map(const bg_scope *scope, applied *s)
{
    const double axial = s->is_torque ? bg_scope_get_handedness(scope) : 1;
    s->is_mapped = scope != NULL;
    if (!scope)
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            s->world.m[i][j] = axial * scope->placement.M.m[i][j];
            s->map.m[i][j] = !s->in_body ? s->world.m[i][j]
                             : i == j    ? axial * scope->placement.flip[i]
                                         : 0;
        }
}

static void read(const bg_value *v, bg_force *f, const char *const *keys, const char *key)
{
    static const char *const choices[] = {"world", "body", NULL};
    applied *s = f->self = bg_reader_allocate(v->reader, 1, sizeof *s);
    if (!s)
        return;
    bg_value_expect(v, keys);
    s->is_torque = key[0] == 't';
    if (s->is_torque)
        s->at = (bg_marker){bg_value_body(v, "body"), {{0, 0, 0}, bg_mat3_identity()}};
    else
        s->at = bg_value_marker(v, "at");
    bg_law_read_vec3(v, key, s->component);
    s->in_body = bg_value_choice(v, "axes", choices, 0) == 1;
    read_map(v->scope, s);
    s->body[0] = s->at.body;
    s->nbodies = 1;
    for (int k = 0; k < 3; k++)
        s->nbodies = bg_law_add_bodies(v, &s->component[k], s->body, s->nbodies);
}

static void read_force(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type", "at", "force", "axes", NULL};
    read(v, f, keys, "force");
}

static void read_torque(const bg_value *v, bg_force *f)
{
    static const char *const keys[] = {"type", "body", "torque", "axes", NULL};
    read(v, f, keys, "torque");
}

static const char *const sensor_names[] = {"x", "y", "z", "magnitude"};

extern const bg_force_class bg_force_force, bg_force_torque;
const bg_force_class bg_force_force = {
    .name = "force",
    .summary = "applied force at a point, in world or body axes",
    .read = read_force,
    .apply = apply,
    .energy = energy,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 4,
    .sensor = sensor,
    .clear = clear,
};
const bg_force_class bg_force_torque = {
    .name = "torque",
    .summary = "applied torque on a body, in world or body axes",
    .read = read_torque,
    .apply = apply,
    .energy = energy,
    .derivatives = derivatives,
    .sensor_names = sensor_names,
    .nsensors = 4,
    .sensor = sensor,
    .clear = clear,
};

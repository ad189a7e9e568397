/* A spherical pendulum as a plug-in: a point mass on a massless rod of length l, z is up.
 *
 *   m x'' = -m gravity e_z - x lambda,   0 = (x . x - l^2) / 2
 *
 *   cc -shared -fPIC -o spherical_pendulum.so spherical_pendulum.c $(pkg-config --cflags bogie)
 *   bogie run ./spherical_pendulum.so --set length=2
 */
#include <bogie/system.h>

#include <stdlib.h>

typedef struct spherical_pendulum {
    double m, l, gravity, q0[3], v0[3];
} spherical_pendulum;

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int terms(void *self, const bg_point *p, unsigned want, bg_terms *out)
{
    const spherical_pendulum *s = self;
    if (want & BG_TERM_M)
        out->M[0] = out->M[4] = out->M[8] = s->m; /* the other entries stay zero */
    if (want & BG_TERM_f)
        out->f[2] = -s->m * s->gravity;
    if (want & BG_TERM_g)
        out->g[0] = 0.5 * (dot(p->q, p->q) - s->l * s->l);
    for (int i = 0; want & BG_TERM_G && i < 3; i++)
        out->G[i] = p->q[i];
    if (want & BG_TERM_gamma)
        out->gamma[0] = dot(p->v, p->v); /* g'' = x . x'' + x' . x' */
    return 0;
}

static int energy(void *self, const bg_point *p, bg_energy *out)
{
    const spherical_pendulum *s = self;
    *out = (bg_energy){0.5 * s->m * dot(p->v, p->v), s->m * s->gravity * p->q[2], 0.0};
    return 0;
}

static bg_status define(const double *values, bg_system_def *def, bg_error *err)
{
    static const char *const names[] = {"x", "y", "z"};
    if (!(values[0] > 0.0 && values[1] > 0.0))
        return bg_error_set(err, BG_BAD_INPUT, "mass and length of %s must be positive", def->name);
    spherical_pendulum *s = calloc(1, sizeof *s);
    if (!s)
        return bg_error_set(err, BG_NO_MEMORY, "not enough memory for %s", def->name);
    *s = (spherical_pendulum){
        values[0], values[1], values[2], {0.6 * values[1], 0.0, -0.8 * values[1]}, {0.0, 1.0, 0.0}};
    def->nq = def->nv = 3;
    def->ng = 1;
    def->self = s;
    def->destroy = free;
    def->supplied = BG_TERM_M | BG_TERM_f | BG_TERM_g | BG_TERM_G | BG_TERM_gamma;
    def->scleronomic = 1;
    def->terms = terms;
    def->energy = energy;
    def->q_names = names;
    def->q0 = s->q0;
    def->v0 = s->v0;
    def->t_end = 10.0;
    return BG_OK;
}

bg_plugin_entry bogie_equations; /* declares it with the right type */

const bg_equations *bogie_equations(void)
{
    static const bg_parameter parameters[] = {{"mass", 1.0, "kg", ""},
                                              {"length", 1.0, "m", "of the rod"},
                                              {"gravity", 9.81, "m/s^2", "along -z"}};
    static const bg_equations family = {
        BG_ABI, "spherical-pendulum", "point mass on a rod", parameters, 3, define};
    return &family;
}

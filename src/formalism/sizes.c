/* How large things are, for tolerances: bodies by the reach of their joints, rows and coordinates
 * by the bodies they belong to.
 *
 * A residual or a displacement means something only beside the size of what it belongs to. For rows
 * of lengths (points, distances, slides) and for coordinates that slide, that is the reach of the
 * larger body; angles and cosines have size 1. Joints in the centre of a body, but for digits or
 * rounding, say nothing of its size: its radius of gyration does, or else the largest body. Nothing
 * here changes when the model is turned or moved, but that far from the origin a size does not fall
 * below what rounding of the coordinates can resolve. */
#include "formalism/sizes.h"

#include <math.h>

/* Of the distance from the origin, where coordinates are rounded to 1e-16 of it. */
static const double resolved = 1e-8, usual = 1e-5;
static const double in_centre = 1e-3; /* reach of joints beside the radius of gyration, or others */

static double calc_gyration(const bg_body *b)
{
    double trace = b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2];
    return b->mass > 0 ? sqrt(trace / (2 * b->mass)) : 0;
}

static void widen(double *size, const bg_marker *marker)
{
    if (marker->body > 0)
        size[marker->body] = fmax(size[marker->body],
                                  sqrt(bg_dot(marker->frame.r, marker->frame.r)));
}

/* Bodies without inertia whose joints are in their centres, beside the reach of bodies joined to
 * them, become negative: what others are compared with stays. */
static void compare_points(const bg_model *m, double *size)
{
    for (int k = 0; k < m->njoints; k++) {
        const int pair[] = {m->joints[k].a.body, m->joints[k].b.body};
        for (int i = 0; i < 2; i++) {
            double *own = &size[pair[i]];
            if (calc_gyration(&m->bodies[pair[i]]) == 0 &&
                fabs(*own) <= in_centre * fabs(size[pair[1 - i]]))
                *own = -fabs(*own);
        }
    }
}

void bg_sizes_calc_bodies(const bg_model *m, double *size)
{
    double largest = 0;
    for (int b = 0; b < m->nbodies; b++)
        size[b] = 0;
    for (int k = 0; k < m->njoints; k++) {
        widen(size, &m->joints[k].a);
        widen(size, &m->joints[k].b);
    }
    for (int b = 1; b < m->nbodies; b++) {
        const double gyration = calc_gyration(&m->bodies[b]);
        if (size[b] <= in_centre * gyration)
            size[b] = gyration;
        largest = fmax(largest, size[b]);
    }
    compare_points(m, size);
    for (int b = 1; b < m->nbodies; b++) {
        const bg_vec3 r = m->bodies[b].pose.r;
        if (size[b] <= 0)
            size[b] = largest > 0 ? largest : 1;
        size[b] = fmax(size[b], resolved * sqrt(bg_dot(r, r)));
    }
}

static double of_coordinate(const bg_coordinate *c, const double *body)
{
    return c->kind == BG_COORDINATE_SLIDE ? fmax(body[c->a.body], body[c->b.body]) : 1;
}

static double of_primitive(const bg_primitive *p, const double *body)
{
    double largest = 0;
    if (p->kind == BG_PRIMITIVE_DOT1)
        return 1;
    if (p->kind != BG_PRIMITIVE_RELATION)
        return fmax(body[p->a.body], body[p->b.body]);
    for (int k = 0; k < p->n; k++)
        largest = fmax(largest, fabs(p->factor[k]) * of_coordinate(&p->coordinate[k], body));
    return largest;
}

void bg_sizes_calc_rows(const bg_multibody *mb, const double *body, double *size)
{
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_row_group *g = &mb->groups[k];
        double x = of_primitive(&g->primitive, body);
        for (int i = 0; i < bg_primitive_get_rows(&g->primitive); i++)
            size[g->row + i] = x > 0 ? x : 1; /* 0: between two places of the ground */
    }
}

static double get_reach(const bg_marker *x)
{
    return x->body > 0 ? bg_length(x->frame.r) : 0;
}

/* How far out places are rounded. */
static double get_distance(const bg_multibody *mb, int body)
{
    return body == 0 ? 0 : bg_length(mb->body[body].r);
}

/* Angles follow from lengths as small as the reach, however coarse these are. A point in the
 * centres of both bodies gives none; others of their points do. */
static double compare(const bg_multibody *mb, const bg_marker *a, const bg_marker *b)
{
    double far = fmax(get_distance(mb, a->body), get_distance(mb, b->body));
    double reach = fmax(get_reach(a), get_reach(b));
    if (reach <= resolved * far)
        reach = fmin(usual * far, fmax(mb->reach[a->body], mb->reach[b->body]));
    return far > 0 && reach > 0 ? far / reach : 0;
}

double bg_sizes_calc_distance(const void *self)
{
    const bg_multibody *mb = self;
    double most = 0;
    for (int k = 0; k < mb->ngroups; k++) {
        const bg_primitive *p = &mb->groups[k].primitive;
        if (p->kind != BG_PRIMITIVE_RELATION && p->kind != BG_PRIMITIVE_DOT1)
            most = fmax(most, compare(mb, &p->a, &p->b));
    }
    return most;
}

double bg_sizes_calc_resolution(const bg_model *m)
{
    return m->digits > 0 ? 0.5 * pow(10, 1 - m->digits) * m->farthest : 0;
}

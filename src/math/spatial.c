#include "math/spatial.h"

bg_inertia bg_inertia_about(double m, const bg_mat3 *J, bg_vec3 d)
{
    bg_inertia x = {m, bg_scale(m, d), *J};
    const double a[3] = {d.x, d.y, d.z}, square = bg_dot(d, d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            x.I.m[i][j] += m * ((i == j ? square : 0.0) - a[i] * a[j]);
    return x;
}

static void mat3_add(bg_mat3 *A, const bg_mat3 *B)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A->m[i][j] += B->m[i][j];
}

void bg_inertia_add(bg_inertia *a, const bg_inertia *b)
{
    a->m += b->m;
    a->h = bg_add(a->h, b->h);
    mat3_add(&a->I, &b->I);
}

bg_sym6 bg_sym6_from_inertia(const bg_inertia *I)
{
    bg_mat3 C = {{{I->m, 0, 0}, {0, I->m, 0}, {0, 0, I->m}}};
    return (bg_sym6){I->I, bg_skew(I->h), C};
}

bg_spatial bg_sym6_apply(const bg_sym6 *X, bg_spatial V)
{
    return (bg_spatial){bg_add(bg_rotate(&X->A, V.w), bg_rotate(&X->B, V.v)),
                        bg_add(bg_rotate_back(&X->B, V.w), bg_rotate(&X->C, V.v))};
}

void bg_sym6_add(bg_sym6 *a, const bg_sym6 *b)
{
    mat3_add(&a->A, &b->A);
    mat3_add(&a->B, &b->B);
    mat3_add(&a->C, &b->C);
}

static void subtract_outer(bg_mat3 *A, double s, bg_vec3 a, bg_vec3 b)
{
    const double x[3] = {s * a.x, s * a.y, s * a.z}, y[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            A->m[i][j] -= x[i] * y[j];
}

void bg_sym6_subtract_square(bg_sym6 *X, double s, bg_spatial F)
{
    subtract_outer(&X->A, s, F.w, F.w);
    subtract_outer(&X->B, s, F.w, F.v);
    subtract_outer(&X->C, s, F.v, F.v);
}

void bg_sym6_subtract_product(bg_sym6 *X, double s, bg_spatial F, bg_spatial E)
{
    subtract_outer(&X->A, s, F.w, E.w);
    subtract_outer(&X->A, s, E.w, F.w);
    subtract_outer(&X->B, s, F.w, E.v);
    subtract_outer(&X->B, s, E.w, F.v);
    subtract_outer(&X->C, s, F.v, E.v);
    subtract_outer(&X->C, s, E.v, F.v);
}

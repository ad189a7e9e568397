#include "math/vec3.h"

bg_mat3 bg_rotation_about(bg_vec3 a, double angle)
{
    double s = sin(angle), c = cos(angle), k = 1 - c;
    return (bg_mat3){{{c + k * a.x * a.x, k * a.x * a.y - s * a.z, k * a.x * a.z + s * a.y},
                      {k * a.y * a.x + s * a.z, c + k * a.y * a.y, k * a.y * a.z - s * a.x},
                      {k * a.z * a.x - s * a.y, k * a.z * a.y + s * a.x, c + k * a.z * a.z}}};
}

bg_mat3 bg_rotation_from_quat(bg_quat p)
{
    double w = p.w, x = p.x, y = p.y, z = p.z;
    return (bg_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

/* Shepperd: take the largest component from the diagonal, the others by quotients; w >= 0. */
bg_quat bg_quat_from_rotation(const bg_mat3 *R)
{
    const double(*m)[3] = R->m;
    double trace = m[0][0] + m[1][1] + m[2][2], s;
    bg_quat p;
    if (trace >= m[0][0] && trace >= m[1][1] && trace >= m[2][2]) {
        s = 2 * sqrt(1 + trace);
        p = (bg_quat){0.25 * s, (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s,
                      (m[1][0] - m[0][1]) / s};
    } else if (m[0][0] >= m[1][1] && m[0][0] >= m[2][2]) {
        s = 2 * sqrt(1 + m[0][0] - m[1][1] - m[2][2]);
        p = (bg_quat){(m[2][1] - m[1][2]) / s, 0.25 * s, (m[0][1] + m[1][0]) / s,
                      (m[0][2] + m[2][0]) / s};
    } else if (m[1][1] >= m[2][2]) {
        s = 2 * sqrt(1 + m[1][1] - m[0][0] - m[2][2]);
        p = (bg_quat){(m[0][2] - m[2][0]) / s, (m[0][1] + m[1][0]) / s, 0.25 * s,
                      (m[1][2] + m[2][1]) / s};
    } else {
        s = 2 * sqrt(1 + m[2][2] - m[0][0] - m[1][1]);
        p = (bg_quat){(m[1][0] - m[0][1]) / s, (m[0][2] + m[2][0]) / s, (m[1][2] + m[2][1]) / s,
                      0.25 * s};
    }
    if (p.w < 0)
        p = (bg_quat){-p.w, -p.x, -p.y, -p.z};
    return bg_quat_normalise(p);
}

bg_quat bg_quat_multiply(bg_quat a, bg_quat b)
{
    return (bg_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                     a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

bg_quat bg_quat_normalise(bg_quat a)
{
    double s = 1 / sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
    return (bg_quat){s * a.w, s * a.x, s * a.y, s * a.z};
}

bg_mat3 bg_frame_from_z(bg_vec3 z, bg_vec3 x)
{
    bg_vec3 p = bg_add_scaled(x, -bg_dot(x, z), z);
    if (bg_length(p) <= 1e-9 * (1 + bg_length(x))) {
        /* the coordinate axis least along z */
        double ax = fabs(z.x), ay = fabs(z.y), az = fabs(z.z);
        x = ax <= ay && ax <= az ? bg_vec3_make(1, 0, 0)
            : ay <= az           ? bg_vec3_make(0, 1, 0)
                                 : bg_vec3_make(0, 0, 1);
        p = bg_add_scaled(x, -bg_dot(x, z), z);
    }
    p = bg_scale(1 / bg_length(p), p);
    return bg_mat3_from_axes(p, bg_cross(z, p), z);
}

bg_frame bg_frame_multiply(const bg_frame *a, const bg_frame *b)
{
    return (bg_frame){bg_frame_apply(a, b->r), bg_mat3_multiply(&a->R, &b->R)};
}

bg_frame bg_frame_inverse(const bg_frame *a)
{
    return (bg_frame){bg_scale(-1, bg_rotate_back(&a->R, a->r)), bg_mat3_transpose(&a->R)};
}

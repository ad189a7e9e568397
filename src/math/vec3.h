/* Vectors, rotations and quaternions of three-dimensional space, by value.
 *
 * Rotation matrices are row-major and take components in the rotated (body) frame to world axes:
 * x_w = R x_b. Quaternions are (w, x, y, z), of unit length where they stand for rotations. */
#ifndef BG_VEC3_H
#define BG_VEC3_H

#include <math.h>

typedef struct bg_vec3 {
    double x, y, z;
} bg_vec3;

typedef struct bg_mat3 {
    double m[3][3];
} bg_mat3;

typedef struct bg_quat {
    double w, x, y, z;
} bg_quat;

/* A place and an orientation: x_outer = r + R x_inner. */
typedef struct bg_frame {
    bg_vec3 r;
    bg_mat3 R;
} bg_frame;

static inline bg_vec3 bg_vec3_make(double x, double y, double z)
{
    return (bg_vec3){x, y, z};
}

static inline bg_vec3 bg_vec3_load(const double *a)
{
    return (bg_vec3){a[0], a[1], a[2]};
}

static inline void bg_vec3_store(bg_vec3 a, double *out)
{
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static inline bg_vec3 bg_add(bg_vec3 a, bg_vec3 b)
{
    return (bg_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline bg_vec3 bg_sub(bg_vec3 a, bg_vec3 b)
{
    return (bg_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline bg_vec3 bg_scale(double s, bg_vec3 a)
{
    return (bg_vec3){s * a.x, s * a.y, s * a.z};
}

/* a + s b */
static inline bg_vec3 bg_add_scaled(bg_vec3 a, double s, bg_vec3 b)
{
    return (bg_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double bg_dot(bg_vec3 a, bg_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline bg_vec3 bg_cross(bg_vec3 a, bg_vec3 b)
{
    return (bg_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double bg_length(bg_vec3 a)
{
    return sqrt(bg_dot(a, a));
}

static inline bg_mat3 bg_mat3_identity(void)
{
    return (bg_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

/* R a */
static inline bg_vec3 bg_rotate(const bg_mat3 *R, bg_vec3 a)
{
    const double(*m)[3] = R->m;
    return (bg_vec3){m[0][0] * a.x + m[0][1] * a.y + m[0][2] * a.z,
                     m[1][0] * a.x + m[1][1] * a.y + m[1][2] * a.z,
                     m[2][0] * a.x + m[2][1] * a.y + m[2][2] * a.z};
}

/* R^T a */
static inline bg_vec3 bg_rotate_back(const bg_mat3 *R, bg_vec3 a)
{
    const double(*m)[3] = R->m;
    return (bg_vec3){m[0][0] * a.x + m[1][0] * a.y + m[2][0] * a.z,
                     m[0][1] * a.x + m[1][1] * a.y + m[2][1] * a.z,
                     m[0][2] * a.x + m[1][2] * a.y + m[2][2] * a.z};
}

/* Column k of R: the k-th axis of the rotated frame in outer axes. */
static inline bg_vec3 bg_axis(const bg_mat3 *R, int k)
{
    return (bg_vec3){R->m[0][k], R->m[1][k], R->m[2][k]};
}

static inline bg_mat3 bg_mat3_from_axes(bg_vec3 x, bg_vec3 y, bg_vec3 z)
{
    return (bg_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

static inline bg_mat3 bg_mat3_multiply(const bg_mat3 *A, const bg_mat3 *B)
{
    bg_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
    return C;
}

static inline bg_mat3 bg_mat3_transpose(const bg_mat3 *A)
{
    bg_mat3 B;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B.m[i][j] = A->m[j][i];
    return B;
}

/* The matrix of a x: (a~) b = a x b. */
static inline bg_mat3 bg_skew(bg_vec3 a)
{
    return (bg_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

/* Rotation by angle about a unit axis (Rodrigues). */
bg_mat3 bg_rotation_about(bg_vec3 axis, double angle);
bg_mat3 bg_rotation_from_quat(bg_quat p);
bg_quat bg_quat_from_rotation(const bg_mat3 *R);
bg_quat bg_quat_multiply(bg_quat a, bg_quat b);
bg_quat bg_quat_normalise(bg_quat a);
/* A right-handed frame whose z axis is `z` (unit) and whose x axis is as near to `x` as possible; x
 * may be any vector, also zero or parallel to z: then a fixed perpendicular direction is taken. */
bg_mat3 bg_frame_from_z(bg_vec3 z, bg_vec3 x);

/* Composition and inverse of frames: (a b) x = a (b x). */
bg_frame bg_frame_multiply(const bg_frame *a, const bg_frame *b);
bg_frame bg_frame_inverse(const bg_frame *a);
static inline bg_vec3 bg_frame_apply(const bg_frame *a, bg_vec3 x)
{
    return bg_add(a->r, bg_rotate(&a->R, x));
}

#endif

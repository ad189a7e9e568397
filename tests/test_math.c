/* Vectors, rotations, quaternions, frames and spatial vectors. */
#include "math/spatial.h"
#include "random_mechanism.h"
#include "run_support.h"

static double differ(bg_vec3 a, bg_vec3 b)
{
    return bg_length(bg_sub(a, b));
}

static double differ_mat3(const bg_mat3 *A, const bg_mat3 *B)
{
    double max = 0;
    for (int k = 0; k < 3; k++)
        max = fmax(max, differ(bg_axis(A, k), bg_axis(B, k)));
    return max;
}

static bg_spatial random_spatial(uint64_t *seed)
{
    bg_vec3 w = random_vec3(seed, 1);
    return (bg_spatial){w, random_vec3(seed, 1)};
}

static void test_rotations(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int k = 0; k < 200; k++) {
        bg_vec3 axis = random_direction(&seed), x = random_vec3(&seed, 1);
        double angle = random_between(&seed, -M_PI, M_PI);
        bg_mat3 R = bg_rotation_about(axis, angle);
        /* Rodrigues: x cos + (axis x x) sin + axis (axis . x)(1 - cos) */
        bg_vec3 y = bg_add_scaled(bg_scale(cos(angle), x), sin(angle), bg_cross(axis, x));
        y = bg_add_scaled(y, bg_dot(axis, x) * (1 - cos(angle)), axis);
        assert_true(differ(bg_rotate(&R, x), y) < 1e-15);
        assert_true(differ(bg_rotate_back(&R, y), x) < 2e-15);
        double s = sin(angle / 2);
        bg_quat p = {cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
        bg_mat3 Q = bg_rotation_from_quat(p);
        assert_true(differ_mat3(&Q, &R) < 2e-15);
        bg_quat back = bg_quat_from_rotation(&R);
        assert_true(back.w >= 0);
        assert_true(fabs(back.w - p.w) < 1e-15 && fabs(back.x - p.x) < 1e-15 &&
                    fabs(back.y - p.y) < 1e-15 && fabs(back.z - p.z) < 1e-15);
        bg_mat3 S = bg_skew(axis);
        assert_true(differ(bg_rotate(&S, x), bg_cross(axis, x)) < 1e-15);
    }
}

/* All four branches of the way back, at half a turn, where w vanishes. */
static void test_half_turns(void **state)
{
    (void)state;
    static const bg_vec3 axes[] = {{1, 0, 0},     {0, 1, 0},      {0, 0, 1},
                                   {0.6, 0.8, 0}, {0, -0.6, 0.8}, {0.48, 0.6, 0.64}};
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        bg_mat3 R = bg_rotation_about(axes[k], M_PI);
        bg_quat p = bg_quat_from_rotation(&R);
        bg_mat3 back = bg_rotation_from_quat(p);
        assert_true(differ_mat3(&back, &R) < 1e-15);
    }
}

static void test_products(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int k = 0; k < 100; k++) {
        bg_mat3 A = bg_rotation_about(random_direction(&seed), random_between(&seed, -3, 3));
        bg_mat3 B = bg_rotation_about(random_direction(&seed), random_between(&seed, -3, 3));
        bg_mat3 AB = bg_mat3_multiply(&A, &B);
        bg_quat p = bg_quat_multiply(bg_quat_from_rotation(&A), bg_quat_from_rotation(&B));
        bg_mat3 Q = bg_rotation_from_quat(p);
        assert_true(differ_mat3(&Q, &AB) < 3e-15);
        bg_frame a = {random_vec3(&seed, 1), A}, b = {random_vec3(&seed, 1), B};
        bg_frame ab = bg_frame_multiply(&a, &b), back = bg_frame_inverse(&ab);
        bg_vec3 x = random_vec3(&seed, 1);
        bg_vec3 y = bg_frame_apply(&a, bg_frame_apply(&b, x));
        assert_true(differ(bg_frame_apply(&ab, x), y) < 2e-15);
        assert_true(differ(bg_frame_apply(&back, y), x) < 4e-15);
        bg_quat n = bg_quat_normalise((bg_quat){3 * p.w, 3 * p.x, 3 * p.y, 3 * p.z});
        assert_true(fabs(n.w - p.w) < 1e-15 && fabs(n.z - p.z) < 1e-15);
    }
}

static void test_frame_from_z(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 100; k++) {
        bg_vec3 z = random_direction(&seed), x = random_direction(&seed);
        if (k % 4 == 0)
            x = bg_vec3_make(0, 0, 0);
        else if (k % 4 == 1)
            x = bg_scale(-2, z);
        bg_mat3 R = bg_frame_from_z(z, x);
        bg_vec3 e0 = bg_axis(&R, 0), e1 = bg_axis(&R, 1), e2 = bg_axis(&R, 2);
        assert_true(differ(e2, z) == 0);
        /* rounding over the sine of the angle between x and z */
        assert_true(fabs(bg_length(e0) - 1) < 1e-15 && fabs(bg_dot(e0, z)) < 1e-14);
        assert_true(differ(bg_cross(e2, e0), e1) < 1e-15);
        if (k % 4 >= 2) /* x lies in the half plane of e0 and z */
            assert_true(fabs(bg_dot(x, e1)) < 1e-14 && bg_dot(x, e0) > 0);
    }
}

/* Momentum, moments and energy of a body about a point that is not its centre. */
static void test_inertia(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int k = 0; k < 100; k++) {
        bg_mat3 R = bg_rotation_about(random_direction(&seed), 1), Rt = bg_mat3_transpose(&R);
        bg_mat3 D = {{{1, 0, 0}, {0, 2, 0}, {0, 0, 2.5}}}, RD = bg_mat3_multiply(&R, &D);
        bg_mat3 J = bg_mat3_multiply(&RD, &Rt);
        bg_vec3 d = random_vec3(&seed, 1);
        bg_spatial V = random_spatial(&seed);
        double m = 1.7;
        bg_inertia I = bg_inertia_about(m, &J, d);
        /* v of the centre; linear momentum; angular momentum about c */
        bg_vec3 v = bg_add(V.v, bg_cross(V.w, d)), p = bg_scale(m, v);
        bg_vec3 L = bg_add(bg_rotate(&J, V.w), bg_cross(d, p));
        bg_spatial h = bg_inertia_apply(&I, V);
        assert_true(differ(h.v, p) < 1e-14 && differ(h.w, L) < 1e-14);
        double T = 0.5 * m * bg_dot(v, v) + 0.5 * bg_dot(V.w, bg_rotate(&J, V.w));
        assert_true(fabs(0.5 * bg_spatial_dot(h, V) - T) < 1e-14);
        bg_sym6 X = bg_sym6_from_inertia(&I);
        bg_spatial same = bg_sym6_apply(&X, V);
        assert_true(differ(same.v, h.v) < 1e-14 && differ(same.w, h.w) < 1e-14);
        bg_inertia twice = I;
        bg_inertia_add(&twice, &I);
        bg_sym6_add(&X, &X);
        bg_spatial h2 = bg_inertia_apply(&twice, V), s2 = bg_sym6_apply(&X, V);
        assert_true(differ(h2.w, bg_scale(2, h.w)) < 1e-14 && differ(s2.w, h2.w) < 1e-14);
    }
}

/* X - s F F^T and X - s (F E^T + E F^T), against their meaning. */
static void test_rank_one(void **state)
{
    (void)state;
    uint64_t seed = 5;
    bg_mat3 J = {{{1, 0.1, 0}, {0.1, 2, 0.3}, {0, 0.3, 2.5}}};
    bg_inertia I = bg_inertia_about(2, &J, random_vec3(&seed, 1));
    bg_sym6 X = bg_sym6_from_inertia(&I), Y = X, Z = X;
    bg_spatial F = random_spatial(&seed), E = random_spatial(&seed), V = random_spatial(&seed);
    bg_sym6_subtract_square(&Y, 0.3, F);
    bg_sym6_subtract_product(&Z, 0.3, F, E);
    bg_spatial x = bg_sym6_apply(&X, V), y = bg_sym6_apply(&Y, V), z = bg_sym6_apply(&Z, V);
    bg_spatial e = bg_spatial_add_scaled(x, -0.3 * bg_spatial_dot(F, V), F);
    assert_true(differ(y.w, e.w) < 1e-15 && differ(y.v, e.v) < 1e-15);
    e = bg_spatial_add_scaled(x, -0.3 * bg_spatial_dot(E, V), F);
    e = bg_spatial_add_scaled(e, -0.3 * bg_spatial_dot(F, V), E);
    assert_true(differ(z.w, e.w) < 1e-15 && differ(z.v, e.v) < 1e-15);
}

/* Power is the same whoever moves: (V x F) . S + F . (V x S) = 0, and V x V = 0. */
static void test_cross(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int k = 0; k < 100; k++) {
        bg_spatial V = random_spatial(&seed), S = random_spatial(&seed), F = random_spatial(&seed);
        double a = bg_spatial_dot(bg_spatial_cross_force(V, F), S);
        double b = bg_spatial_dot(F, bg_spatial_cross(V, S));
        assert_true(fabs(a + b) < 1e-14 && fabs(a) > 0);
        bg_spatial zero = bg_spatial_cross(V, V);
        assert_true(bg_length(zero.w) < 1e-15 && bg_length(zero.v) < 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotations), cmocka_unit_test(test_half_turns),
        cmocka_unit_test(test_products),  cmocka_unit_test(test_frame_from_z),
        cmocka_unit_test(test_inertia),   cmocka_unit_test(test_rank_one),
        cmocka_unit_test(test_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

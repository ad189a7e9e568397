/* "inertia" of a body: [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or three rows, as entries of
 * the matrix about the centre of mass in body axes; or {"principal": [..], "orientation": ..}.
 *
 * A body of positive density has principal moments I_1 <= I_2 <= I_3 that are not negative and obey
 * I_3 <= I_1 + I_2. The first is required; models of plane motion often ignore the second, so that
 * is only worth a warning. Principal moments are found by Jacobi's rotations, which keep small ones
 * accurate: the rotation by phi in the plane (p, q) with tan(2 phi) = 2 A_pq / (A_qq - A_pp) makes
 * A_pq zero. */
#include "model/read.h"

#include <stdlib.h>

/* A <- J^T A J with the rotation that makes entry (p, q) zero. */
static void rotate(bg_mat3 *A, int p, int q)
{
    double(*m)[3] = A->m;
    if (m[p][q] == 0)
        return;
    double phi = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(phi), s = sin(phi);
    for (int k = 0; k < 3; k++) {
        double x = m[k][p], y = m[k][q];
        m[k][p] = c * x - s * y;
        m[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = m[p][k], y = m[q][k];
        m[p][k] = c * x - s * y;
        m[q][k] = s * x + c * y;
    }
}

/* Principal moments of a symmetric matrix, descending. Convergence is quadratic: a few sweeps do.
 */
static void calc_principal(const bg_mat3 *I, double out[3])
{
    bg_mat3 A = *I;
    for (int sweep = 0; sweep < 8; sweep++) {
        rotate(&A, 0, 1);
        rotate(&A, 0, 2);
        rotate(&A, 1, 2);
    }
    double x = A.m[0][0], y = A.m[1][1], z = A.m[2][2];
    out[0] = fmax(x, fmax(y, z));
    out[2] = fmin(x, fmin(y, z));
    out[1] = fmax(fmin(x, y), fmin(fmax(x, y), z)); /* the median */
}

static void check(const bg_value *v, const bg_mat3 *I, const char *body)
{
    double scale = 0, principal[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            scale = fmax(scale, fabs(I->m[i][j]));
    if (v->reader->status != BG_OK || scale == 0)
        return;
    bg_mat3 unit; /* scaled, so that nothing overflows */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            unit.m[i][j] = I->m[i][j] / scale;
    calc_principal(&unit, principal);
    double I1 = principal[2], I2 = principal[1], I3 = principal[0];
    if (I1 < -1e-9) /* roundoff is far below */
        bg_value_fail(v, "has the principal moment %g kg m^2; they cannot be negative", I1 * scale);
    else if (I3 > (I1 + I2) * (1 + 1e-6))
        bg_reader_warn(
            v->reader, BG_GOOD, "inertia",
            "body '%s': its largest principal moment of inertia, %g, is more than the sum "
            "of the other two, %g and %g; no body can have that; check the unit and that the "
            "centre is the "
            "reference point (plane models may leave it)",
            body, I3 * scale, I2 * scale, I1 * scale);
}

static bg_mat3 read_rows(const bg_value *v)
{
    bg_mat3 I = {0};
    double scale = 0;
    for (int i = 0; i < 3; i++) {
        bg_value row = bg_value_element(v, i);
        bg_vec3_store(bg_value_get_vec3(&row), I.m[i]);
        for (int j = 0; j < 3; j++)
            scale = fmax(scale, fabs(I.m[i][j]));
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (!(fabs(I.m[i][j] - I.m[j][i]) <= 1e-9 * scale))
                bg_value_fail(v, "is not symmetric: entry [%d][%d] is %g, but [%d][%d] is %g", i, j,
                              I.m[i][j], j, i, I.m[j][i]);
    return I;
}

static bg_mat3 read_list(const bg_value *v)
{
    double x[6] = {0};
    bg_value first = bg_value_element(v, 0);
    int n = bg_value_get_size(v);
    if (n == 3 && json_is_array(first.json))
        return read_rows(v);
    if (n != 3 && n != 6)
        bg_value_fail(v, "must have 3 or 6 numbers or 3 rows, not %d entries", n);
    for (int k = 0; k < n && v->reader->status == BG_OK; k++) {
        bg_value element = bg_value_element(v, k);
        x[k] = bg_value_get_number(&element);
    }
    return (bg_mat3){{{x[0], x[3], x[4]}, {x[3], x[1], x[5]}, {x[4], x[5], x[2]}}};
}

/* R diag(principal) R^T */
static bg_mat3 read_principal(const bg_value *v)
{
    static const char *const keys[] = {"principal", "orientation", NULL};
    double d[3];
    bg_value_expect(v, keys);
    bg_vec3_store(bg_value_vec3(v, "principal"), d);
    bg_mat3 R = bg_read_orientation(v, "orientation"), I;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            I.m[i][j] = R.m[i][0] * d[0] * R.m[j][0] + R.m[i][1] * d[1] * R.m[j][1] +
                        R.m[i][2] * d[2] * R.m[j][2];
    return I;
}

bg_mat3 bg_read_inertia(const bg_value *body)
{
    bg_value v = bg_value_member(body, "inertia");
    bg_mat3 I = {0};
    if (!bg_value_exists(&v) || v.reader->status != BG_OK)
        return I;
    if (json_is_object(v.json))
        I = read_principal(&v);
    else if (bg_value_expect_list(&v, -1))
        I = read_list(&v);
    char *name = bg_value_copy_name(body);
    check(&v, &I, name ? name : "");
    free(name);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            I.m[i][j] *= bg_scope_get_flip(v.scope, i) * bg_scope_get_flip(v.scope, j);
    return I;
}

#include "report/mesh.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { AROUND = 32, RINGS = 16 };

static bool allocate(bg_mesh *m, int vertices, int triangles)
{
    *m = (bg_mesh){0};
    m->position = bg_calloc((size_t)vertices, sizeof *m->position);
    m->normal = bg_calloc((size_t)vertices, sizeof *m->normal);
    m->triangle = bg_calloc((size_t)triangles, sizeof *m->triangle);
    return m->position && m->normal && m->triangle;
}

void bg_mesh_clear(bg_mesh *m)
{
    free(m->position);
    free(m->normal);
    free(m->triangle);
    *m = (bg_mesh){0};
}

static int add_vertex(bg_mesh *m, double x, double y, double z, double nx, double ny, double nz)
{
    const double r[3] = {x, y, z}, n[3] = {nx, ny, nz};
    for (int k = 0; k < 3; k++) {
        m->position[m->n][k] = (float)r[k];
        m->normal[m->n][k] = (float)n[k];
    }
    return m->n++;
}

static void add_triangle(bg_mesh *m, int a, int b, int c)
{
    unsigned *t = m->triangle[m->triangles++];
    t[0] = (unsigned)a;
    t[1] = (unsigned)b;
    t[2] = (unsigned)c;
}

/* a, b, c, d around, counter-clockwise from outside. */
static void add_quad(bg_mesh *m, int a, int b, int c, int d)
{
    add_triangle(m, a, b, c);
    add_triangle(m, a, c, d);
}

static bool make_box(bg_mesh *m)
{
    if (!allocate(m, 24, 12))
        return false;
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            int u = (axis + 1) % 3, v = (axis + 2) % 3, corner[4];
            const double du[] = {-0.5, 0.5, 0.5, -0.5}, dv[] = {-0.5, -0.5, 0.5, 0.5};
            for (int k = 0; k < 4; k++) {
                double r[3] = {0}, n[3] = {0};
                r[axis] = 0.5 * side;
                r[u] = du[k];
                r[v] = dv[k];
                n[axis] = side;
                corner[k] = add_vertex(m, r[0], r[1], r[2], n[0], n[1], n[2]);
            }
            if (side > 0)
                add_quad(m, corner[0], corner[1], corner[2], corner[3]);
            else
                add_quad(m, corner[3], corner[2], corner[1], corner[0]);
        }
    return true;
}

static bool make_cylinder(bg_mesh *m)
{
    if (!allocate(m, 4 * AROUND + 2, 4 * AROUND))
        return false;
    for (int k = 0; k < AROUND; k++) {
        double a = 2 * M_PI * k / AROUND, x = cos(a), y = sin(a);
        add_vertex(m, x, y, -0.5, x, y, 0);
        add_vertex(m, x, y, 0.5, x, y, 0);
        add_vertex(m, x, y, -0.5, 0, 0, -1);
        add_vertex(m, x, y, 0.5, 0, 0, 1);
    }
    int low = add_vertex(m, 0, 0, -0.5, 0, 0, -1), high = add_vertex(m, 0, 0, 0.5, 0, 0, 1);
    for (int k = 0; k < AROUND; k++) {
        int a = 4 * k, b = 4 * ((k + 1) % AROUND);
        add_quad(m, a, b, b + 1, a + 1);
        add_triangle(m, low, b + 2, a + 2);
        add_triangle(m, high, a + 3, b + 3);
    }
    return true;
}

static bool make_sphere(bg_mesh *m)
{
    if (!allocate(m, AROUND * (RINGS - 1) + 2, 2 * AROUND * (RINGS - 1)))
        return false;
    for (int i = 1; i < RINGS; i++)
        for (int k = 0; k < AROUND; k++) {
            double b = M_PI * i / RINGS, a = 2 * M_PI * k / AROUND;
            double x = sin(b) * cos(a), y = sin(b) * sin(a), z = -cos(b);
            add_vertex(m, x, y, z, x, y, z);
        }
    int south = add_vertex(m, 0, 0, -1, 0, 0, -1), north = add_vertex(m, 0, 0, 1, 0, 0, 1);
    for (int k = 0; k < AROUND; k++) {
        int next = (k + 1) % AROUND, top = (RINGS - 2) * AROUND;
        add_triangle(m, south, next, k);
        add_triangle(m, north, top + k, top + next);
        for (int i = 0; i + 2 < RINGS; i++)
            add_quad(m, i * AROUND + k, i * AROUND + next, (i + 1) * AROUND + next,
                     (i + 1) * AROUND + k);
    }
    return true;
}

bool bg_mesh_create(bg_mesh_kind kind, bg_mesh *m)
{
    return kind == BG_MESH_BOX        ? make_box(m)
           : kind == BG_MESH_CYLINDER ? make_cylinder(m)
                                      : make_sphere(m);
}

bool bg_mesh_create_strip(const double (*points)[2], int n, double width, bg_mesh *m)
{
    if (!allocate(m, 4 * (n - 1), 2 * (n - 1)))
        return false;
    for (int k = 0; k + 1 < n; k++) {
        const double *a = points[k], *b = points[k + 1], y = 0.5 * width;
        double dx = b[0] - a[0], dz = b[1] - a[1], length = hypot(dx, dz);
        if (!(length > 0))
            continue;
        double nx = -dz / length, nz = dx / length;
        int first = add_vertex(m, a[0], -y, a[1], nx, 0, nz);
        add_vertex(m, b[0], -y, b[1], nx, 0, nz);
        add_vertex(m, b[0], y, b[1], nx, 0, nz);
        add_vertex(m, a[0], y, a[1], nx, 0, nz);
        add_quad(m, first, first + 1, first + 2, first + 3);
    }
    return true;
}

bool bg_mesh_create_surface(const double (*points)[2], int n, const double *heights, int lanes,
                            double width, bg_mesh *m)
{
    if (!allocate(m, n * lanes, 2 * (n - 1) * (lanes - 1)))
        return false;
    const double h = width / (lanes - 1);
    for (int i = 0; i < n; i++) {
        const int a = i > 0 ? i - 1 : 0, b = i + 1 < n ? i + 1 : i;
        for (int k = 0; k < lanes; k++) {
            const int c = k > 0 ? k - 1 : 0, d = k + 1 < lanes ? k + 1 : k;
            const double *z = heights + (long)i * lanes;
            const double by_x = (heights[(long)b * lanes + k] - heights[(long)a * lanes + k]) /
                                (points[b][0] - points[a][0]);
            const double by_y = (z[d] - z[c]) / ((d - c) * h);
            const double length = sqrt(1 + by_x * by_x + by_y * by_y);
            add_vertex(m, points[i][0], k * h - 0.5 * width, z[k], -by_x / length, -by_y / length,
                       1 / length);
        }
    }
    for (int i = 0; i + 1 < n; i++)
        for (int k = 0; k + 1 < lanes; k++)
            add_quad(m, i * lanes + k, (i + 1) * lanes + k, (i + 1) * lanes + k + 1,
                     i * lanes + k + 1);
    return true;
}

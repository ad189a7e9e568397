/* Roads over x and y: heights and derivatives of expressions and grids, their files, and tyres on a
 * plane that leans to both sides, which are tyres on a flat road turned with it. */
#include "force_rig.h"

#include "folder_support.h"
#include "model/read.h"
#include "model/roads.h"
#include "ring_support.h"

/* Reads a road written with single quotes, whose files are in a folder. */
static bg_status read_road(const char *text, const char *origin, bg_road *road, bg_error *err)
{
    char *copy = rig_quote(text);
    bg_model model = {0};
    bg_reader reader = {.model = &model, .origin = origin, .err = err};
    bg_value top = {.reader = &reader, .json = json_loads(copy, 0, NULL)};
    assert_non_null(top.json);
    bg_value v = {.reader = &reader, .json = top.json, .parent = &top, .key = "road"};
    bg_road_read(&v, 0.3, road);
    json_decref(top.json);
    free(copy);
    return reader.status;
}

static bg_road make_road(const char *text, const char *origin)
{
    bg_road road;
    bg_error err = {BG_OK, ""};
    if (read_road(text, origin, &road, &err) != BG_OK)
        fail_msg("%s", err.text);
    return road;
}

static bg_road_height calc(const bg_road *road, int piece, double x, double y)
{
    bg_road_height h;
    bg_road_calc(road, piece < 0 ? bg_road_find_piece(road, x) : piece, x, y, &h);
    return h;
}

/* All five derivatives against differences on the piece of the place. */
static void check_derivatives(const bg_road *road, double from, double to)
{
    const double e = 1e-5;
    force_rig r = {.seed = 11};
    double steepest = 0;
    for (int k = 0; k < 400; k++) {
        const double x = from + (to - from) * 0.5 * (1 + rig_random(&r));
        const double y = from + (to - from) * 0.5 * (1 + rig_random(&r));
        const int piece = bg_road_find_piece(road, x);
        const bg_road_height h = calc(road, piece, x, y);
        const bg_road_height l = calc(road, piece, x - e, y), f = calc(road, piece, x + e, y);
        const bg_road_height d = calc(road, piece, x, y - e), u = calc(road, piece, x, y + e);
        assert_near(h.along[1], (f.along[0] - l.along[0]) / (2 * e), 1e-8);
        assert_near(h.across[0], (u.along[0] - d.along[0]) / (2 * e), 1e-8);
        assert_near(h.along[2], (f.along[1] - l.along[1]) / (2 * e), 1e-4);
        assert_near(h.across[1], (u.along[1] - d.along[1]) / (2 * e), 1e-4);
        assert_near(h.across[1], (f.across[0] - l.across[0]) / (2 * e), 1e-4);
        assert_near(h.across[2], (u.across[0] - d.across[0]) / (2 * e), 1e-4);
        steepest = fmax(steepest, fmin(fabs(h.along[1]), fabs(h.across[0])));
    }
    assert_true(steepest > 0.05 && bg_road_is_surface(road));
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    bg_road roads[] = {
        make_road("{'type': 'expression', 'expression': '0.1*sin(2*x)*cos(1.5*y) + 0.05*x*y^2'}",
                  "test"),
        make_road("{'type': 'grid', 'x': [-1, -0.2, 0.5, 1], 'y': [-0.8, 0.1, 0.9], 'heights':"
                  " [[0, 0.1, -0.2, 0.3], [0.2, 0, 0.1, -0.1], ['10*cm', 0.3, 0, 0.2]]}",
                  "test")};
    for (int k = 0; k < 2; k++) {
        check_derivatives(&roads[k], -1.5, 1.5); /* also off the grid */
        bg_road_clear(&roads[k]);
    }
}

/* A grid with the same heights across is the table of these heights, with its pieces. */
static void even_grids_are_tables(void **state)
{
    (void)state;
    bg_road grid = make_road("{'type': 'grid', 'base': 0.1, 'x': [0, 0.5, 1.5, 2], 'y': [-1, 0, 2],"
                             " 'heights': [[0, 0.1, -0.2, 0.05], [0, 0.1, -0.2, 0.05],"
                             " [0, 0.1, -0.2, 0.05]]}",
                             "test");
    bg_road table = make_road("{'type': 'table', 'base': 0.1, 'points': [[0, 0], [0.5, 0.1],"
                              " [1.5, -0.2], [2, 0.05]]}",
                              "test");
    assert_int_equal(grid.nbreaks, table.nbreaks);
    for (int k = 0; k <= 300; k++) {
        const double x = -0.5 + k / 100.0, y = sin(7 * x) * 3;
        for (int piece = -1; piece < 2; piece += 2) { /* that of x, and that of the middle */
            const bg_road_height a = calc(&grid, piece, x, y), b = calc(&table, piece, x, y);
            const double size[] = {1e-15, 1e-14, 1e-13};
            for (int d = 0; d < 3; d++) {
                assert_near(a.along[d], b.along[d], size[d] * (1 + fabs(b.along[d])));
                assert_near(a.across[d], 0, 1e-14);
            }
        }
    }
    bg_road_clear(&grid);
    bg_road_clear(&table);
}

/* The largest error for cos(pi x) cos(pi y), without slopes at its edges, on n by n cells of uneven
 * widths: of the height, and of H_xy. */
static void calc_errors(int n, double error[2])
{
    static char text[1 << 18], axis[1 << 12];
    char *end = text;
    double place[64];
    axis[0] = '\0';
    for (int k = 0; k <= n; k++) {
        place[k] = k / (double)n + 0.1 * sin(2 * M_PI * k / n) / (2 * M_PI);
        sprintf(axis + strlen(axis), "%s%.17g", k ? "," : "", place[k]);
    }
    end += sprintf(end, "{'type': 'grid', 'x': [%s], 'y': [%s], 'heights': [", axis, axis);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++)
            end += sprintf(end, "%s%.17g%s",
                           i   ? ","
                           : j ? ",["
                               : "[",
                           cos(M_PI * place[i]) * cos(M_PI * place[j]), i == n ? "]" : "");
    sprintf(end, "]}");
    bg_road road = make_road(text, "test");
    error[0] = error[1] = 0;
    for (int i = 0; i <= 60; i++)
        for (int j = 0; j <= 60; j++) {
            const double x = i / 60.0, y = j / 60.0;
            const bg_road_height h = calc(&road, 1, x, y);
            error[0] = fmax(error[0], fabs(h.along[0] - cos(M_PI * x) * cos(M_PI * y)));
            error[1] = fmax(error[1],
                            fabs(h.across[1] - M_PI * M_PI * sin(M_PI * x) * sin(M_PI * y)));
        }
    bg_road_clear(&road);
}

static void grids_have_order_four(void **state)
{
    (void)state;
    double coarse[2], fine[2];
    calc_errors(16, coarse);
    calc_errors(32, fine);
    assert_near(log2(coarse[0] / fine[0]), 4, 0.2);
    assert_true(log2(coarse[1] / fine[1]) > 2.9);
    assert_true(fine[0] > 1e-9 && fine[0] < 1e-5);
}

/* A file in any of its forms is the grid that is written out; what is wrong is named. */
static void files_are_read(void **state)
{
    (void)state;
    folder own;
    char origin[PATH], file[PATH];
    assert_int_equal(folder_make(&own), 0);
    locate(&own, "model.json", origin);
    locate(&own, "road.csv", file);
    static const char *const same[] = {
        ",0, 1, 2.5\n-1, 0.1, 0.2, 0.3\n# a remark\n\n1, -0.1, 0, 0.5\n",
        "y\\x;0;1;2.5\n-1;0.1;0.2;0.3\n1;-0.1;0;0.5",
        "\xEF\xBB\xBF  0 1 2.5\r\n-1 0.1 0.2 0.3\r\n1 -0.1 0 0.5\r\n",
        "0,0,1,2.5\n-1,0.1,0.2,0.3\n1,-0.1,0,0.5\n"};
    bg_road meant = make_road("{'type': 'grid', 'x': [0, 1, 2.5], 'y': [-1, 1],"
                              " 'heights': [[0.1, 0.2, 0.3], [-0.1, 0, 0.5]]}",
                              origin);
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        write_text(file, same[k]);
        bg_road road = make_road("{'type': 'grid', 'file': 'road.csv'}", origin);
        const bg_road_height a = calc(&road, -1, 1.3, 0.4), b = calc(&meant, -1, 1.3, 0.4);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(a.along[0] != 0 && a.across[1] != 0);
        bg_road_clear(&road);
    }
    bg_road_clear(&meant);
    static const char *const wrong[][2] = {
        {"", "is empty; expected the places x"},
        {",0,1\n", "road.y: must have at least two"},
        {",0,1\n0,1,2\n", "road.y: must have at least two"},
        {",0,1\n0,1,2\n1,1\n", "line 3: has 1 heights, but the first line has 2"},
        {",0,1\n0,1,2\n1,1,x\n", "line 3: expected a number, not 'x'"},
        {",0,1\n0,1,2\n1,1,inf\n", "line 3: numbers must be finite"},
        {",0,1\n0,1,2\n0,1,2\n", "road.y[1]: must be greater than 0"},
        {",1,0\n0,1,2\n1,1,2\n", "road.x[1]: must be greater than 1"},
        {",0\n0,1\n1,1\n", "road.x: must have at least two"},
        {"x,0,1\n0,1,2\nend,1,2\n", "line 3: expected a number, not 'end'"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        bg_road road;
        bg_error err = {BG_OK, ""};
        write_text(file, wrong[k][0]);
        assert_int_equal(read_road("{'type': 'grid', 'file': 'road.csv'}", origin, &road, &err),
                         BG_BAD_INPUT);
        if (!strstr(err.text, wrong[k][1]))
            fail_msg("'%s' says: %s", wrong[k][0], err.text);
        bg_road_clear(&road);
    }
    folder_remove(&own);
}

static void bad_roads_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{'type': 'expression'}", "road.expression: is missing; give the height"},
        {"{'type': 'expression', 'expression': '0.1*z'}", "'z'"},
        {"{'type': 'expression', 'expression': '0.1*sin(x - 20*t)'}",
         "uses the time t, but a road"},
        {"{'type': 'expression', 'expression': '0.1*x', 'height': 1}", "road.height: is not a kn"},
        {"{'type': 'expression', 'expression': [1]}", "must be a number or an expression"},
        {"{'type': 'grid'}", "road.x: is missing"},
        {"{'type': 'grid', 'x': [0, 1], 'y': [0, 1]}", "road.heights: is missing; give a list"},
        {"{'type': 'grid', 'x': [0, 1], 'y': [0, 1], 'heights': [[0, 1]]}", "must have 2 entries"},
        {"{'type': 'grid', 'x': [0, 1], 'y': [0, 1], 'heights': [[0, 1], [2]]}",
         "road.heights[1]: must have 2 entries"},
        {"{'type': 'grid', 'x': [0, 1], 'y': [0, 1], 'heights': [[0, 1], [2, 'y']]}",
         "road.heights[1][1]"},
        {"{'type': 'grid', 'x': [0, 0], 'y': [0, 1], 'heights': [[0, 1], [2, 3]]}", "road.x[1]"},
        {"{'type': 'grid', 'file': 'none.csv'}", "road.file: "},
        {"{'type': 'grid', 'file': 'road.csv', 'y': [0, 1]}", "road.y: is given beside a 'file'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bg_road road;
        bg_error err = {BG_OK, ""};
        assert_int_equal(read_road(cases[k][0], "test", &road, &err), BG_BAD_INPUT);
        if (!strstr(err.text, cases[k][1]))
            fail_msg("'%s' says: %s", cases[k][0], err.text);
        bg_road_clear(&road);
    }
}

#define BRUSH                                                                         \
    "'radius': 0.3169, 'stiffness': 2e5, 'damping': 2000, 'relaxation': [0.2, 0.4], " \
    "'tread_stiffness': [9261239, 5695994], 'friction': [1.0422, 0.8785], "           \
    "'half_length': 0.0684353, 'load': 4000, 'rolling_resistance': 0.01"
#define FIALA                                                                           \
    "'radius': 0.3169, 'stiffness': 2e5, 'damping': 2000, 'relaxation': [0.05, 0.15], " \
    "'longitudinal_stiffness': 1e6, 'cornering_stiffness': 45836.6, 'friction': 1"

static void begin(force_rig *r, const char *road, const char *tyre)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{'bodies': {'wheel': {'mass': 20, 'center': [0, 0, 0.3], 'inertia': [1, 1.7, 1]}},"
             " 'road': %s, 'tyres': {'t': {%s, 'wheel': 'wheel'}}}",
             road, tyre);
    rig_read(r, text);
    rig_shake(r, 0);
}

/* On a plane that rises to the front and to a side, a state turned with the plane has the forces of
 * the flat road turned with it. */
static void planes_are_turned_flat_roads(void **state)
{
    (void)state;
    static const char *const tyres[] = {"'type': 'brush', " BRUSH, "'type': 'fiala', " FIALA,
                                        RING_SPATIAL};
    static const char *const planes[] = {"{'type': 'expression', 'expression': '0.1*x - 0.25*y'}",
                                         "{'type': 'expression', 'expression': '-0.3*x + 0.04*y'}"};
    static const double slope[][2] = {{0.1, -0.25}, {-0.3, 0.04}};
    for (int k = 0; k < 6; k++) {
        force_rig flat, plane;
        begin(&flat, "{'type': 'flat'}", tyres[k / 2]);
        begin(&plane, planes[k % 2], tyres[k / 2]);
        const bg_vec3 n = {-slope[k % 2][0], -slope[k % 2][1], 1}, up = {0, 0, 1};
        const bg_vec3 axis = bg_cross(up, n);
        const bg_mat3 Q = bg_rotation_about(bg_scale(1 / bg_length(axis), axis),
                                            atan(bg_length(axis)));
        const bg_force *f = &flat.model->forces[0], *g = &plane.model->forces[0];
        double pushed = 0;
        for (int trial = 0; trial < 20; trial++) {
            bg_wrench x[RIG_BODIES], y[RIG_BODIES];
            double h[4], z[4];
            rig_shake(&flat, 0.01);
            flat.t = 0;
            for (int b = 1; b < flat.model->nbodies; b++) {
                flat.body[b].v = bg_add(flat.body[1].v, bg_vec3_make(9, 0.3, 0.02 * trial));
                flat.body[b].w.y += 30;
                plane.body[b].r = bg_rotate(&Q, flat.body[b].r);
                plane.body[b].R = bg_mat3_multiply(&Q, &flat.body[b].R);
                plane.body[b].v = bg_rotate(&Q, flat.body[b].v);
                plane.body[b].w = bg_rotate(&Q, flat.body[b].w);
            }
            plane.t = 0;
            for (int i = 0; i < f->nz; i++)
                plane.z[i] = flat.z[i] *= 0.01;
            rig_apply(&flat, f, x);
            rig_apply(&plane, g, y);
            const bg_world w = rig_world(&flat), v = rig_world(&plane);
            f->class_->rates(f, &w, h);
            g->class_->rates(g, &v, z);
            const double size = rig_size(x, flat.model->nbodies);
            for (int b = 1; b < flat.model->nbodies; b++) {
                const bg_vec3 force = bg_rotate(&Q, x[b].f), moment = bg_rotate(&Q, x[b].n);
                assert_true(bg_length(bg_sub(y[b].f, force)) <= 2e-12 * size);
                assert_true(bg_length(bg_sub(y[b].n, moment)) <= 2e-12 * size);
            }
            for (int i = 0; i < f->nz; i++)
                assert_near(z[i], h[i], 1e-11 * (1 + fabs(h[i])));
            pushed = fmax(pushed, rig_sensor(&plane, g, "force"));
        }
        assert_true(pushed > 500);
        bg_model_destroy(flat.model);
        bg_model_destroy(plane.model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(even_grids_are_tables),
        cmocka_unit_test(grids_have_order_four),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(bad_roads_are_refused),
        cmocka_unit_test(planes_are_turned_flat_roads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

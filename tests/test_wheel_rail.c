/* The contact of a wheel with a rail and its creep forces: profiles against published coefficients,
 * the positions of a wheelset between its rails, derivatives against differences, Klingel's
 * wavelength, conicity, events that depend on multipliers, sentences. Check values belong to
 * wheels S1002 on rails UIC 60 1:40, eps = 10 um, by an independent program. */
#include "rail_support.h"

#include "model/model.h"

#define FOLDER BOGIE_SOURCE_DIR "/models/"

/* The carriage has the profiles and the contacts. */
static bg_model *read_carriage(const bg_setting *settings, int n)
{
    bg_error err = {BG_OK, ""};
    bg_model *m;
    assert_ok(bg_model_read(FOLDER "train-carriage.json", settings, n, &m, &err));
    return m;
}

static const bg_profile *find_profile(const bg_model *m, const char *name)
{
    for (int k = 0; k < m->nprofiles; k++)
        if (strcmp(m->profiles[k].name, name) == 0)
            return &m->profiles[k];
    fail_msg("there is no profile %s", name);
    return NULL;
}

/* Splines through the same points on the same knots, by another program. */
static void profiles_meet_another_fit(void **state)
{
    (void)state;
    bg_model *m = read_carriage(NULL, 0);
    const bg_profile *W = find_profile(m, "S1002"), *h = find_profile(m, "UIC60");
    static const double of_wheel[][2] = {{-0.0475, 0.0254996609447},
                                         {-0.0391, 0.01385092034805},
                                         {-0.03, 0.003921569542048},
                                         {0.0003, -9.935511444725e-06},
                                         {0.02, -0.0003117741726244}};
    static const double of_rail[][2] = {{-0.0421, -0.01050620350582},
                                        {-0.0377, -0.005006061104806},
                                        {-0.0201, -0.000695296980721},
                                        {0.0003, -8.679069309029e-07},
                                        {0.0255, -0.005668058565346}};
    for (int k = 0; k < 5; k++) {
        double at[4];
        bg_profile_calc(W, of_wheel[k][0], at);
        assert_near(at[0], of_wheel[k][1], 1e-11);
        bg_profile_calc(h, of_rail[k][0], at);
        assert_near(at[0], of_rail[k][1], 1e-11);
    }
    bg_model_destroy(m);
}

static void profiles_are_smooth(void **state)
{
    (void)state;
    bg_model *m = read_carriage(NULL, 0);
    const bg_profile cone = {.kind = BG_PROFILE_CONE, .slope = 0.05};
    const bg_profile circle = {.kind = BG_PROFILE_CIRCLE, .radius = 0.3};
    const bg_profile *const all[] = {find_profile(m, "S1002"), find_profile(m, "UIC60"), &cone,
                                     &circle};
    for (int k = 0; k < 4; k++)
        for (double x = -0.06 + 1.7e-5; x < 0.07; x += 7.3e-4) {
            const double step = 1e-7;
            double at[4], a[4], b[4];
            bg_profile_calc(all[k], x, at);
            bg_profile_calc(all[k], x - step, a);
            bg_profile_calc(all[k], x + step, b);
            for (int i = 0; i < 3; i++)
                assert_near(at[i + 1], (b[i] - a[i]) / (2 * step),
                            1e-6 * (1 + fabs(at[i + 1])) + (i == 2 ? 1e-2 : 0));
        }
    bg_model_destroy(m);
}

/* The state at lateral place y, height z over r0, roll and yaw. */
static bg_rail_contact_state look(const bg_rail_contact *k, int order, double y, double z,
                                  double roll, double yaw)
{
    bg_rail_contact_state s = {
        .x = {y, k->radius + z, cos(yaw) * cos(roll), sin(roll), -sin(yaw) * cos(roll)}};
    assert_true(bg_rail_contact_calc(k, order, &s));
    return s;
}

/* Both wheels of a wheelset at y without yaw: z and roll by Newton's method. */
static void stand(const bg_rail_contact k[2], double y, double *z, double *roll)
{
    for (int n = 0; n < 30; n++) {
        double g[2], by_z[2], by_roll[2];
        for (int i = 0; i < 2; i++) {
            const bg_rail_contact_state s = look(&k[i], 1, y, *z, *roll, 0);
            g[i] = s.gap;
            by_z[i] = s.gap_x[1];
            by_roll[i] = -sin(*roll) * s.gap_x[2] + cos(*roll) * s.gap_x[3];
        }
        const double det = by_z[0] * by_roll[1] - by_z[1] * by_roll[0];
        *z -= (g[0] * by_roll[1] - g[1] * by_roll[0]) / det;
        *roll -= (by_z[0] * g[1] - by_z[1] * g[0]) / det;
    }
}

/* Means over the contact without yaw by plain sums over the same points, from angles: the rolling
 * radius and the slope of the rail, outward. */
static void sum_means(const bg_rail_contact *k, double y, double z, double roll, double *radius,
                      double *slope)
{
    double least = INFINITY, sum = 0;
    *radius = *slope = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k->n; i++) {
            const bg_wheel_point *p = &k->points[i];
            const double across = y + p->Y * cos(roll) + p->R * sin(roll);
            const double height = k->radius + z + p->Y * sin(roll) - p->R * cos(roll);
            double h[4];
            bg_profile_calc(k->rail, k->sign * across - k->base - k->origin, h);
            const double d = p->c * (height - h[0]);
            least = pass == 0 ? fmin(least, d) : least;
            const double weight = pass == 0 ? 0 : p->du * exp(-(d - least) / k->epsilon);
            sum += weight;
            *radius += weight * p->R;
            *slope += weight * h[1];
        }
    *radius /= sum;
    *slope /= sum;
}

/* y, z, roll, R left and right less r0; mm and mrad; mean slope of the rail and tan delta at the
 * left, this some of them. */
static const struct {
    double y, z, roll, left, right, mean, slope;
} positions[] = {
    {0, -0.16724, 0, 0.00833, 0.00833, 0.0331, 0.03306},
    {1, -0.15426, 0.05034, 0.39366, -0.13939, 0.0648, NAN},
    {2, -0.12437, 0.11185, 0.60561, -0.18342, 0.0803, NAN},
    {3, -0.08555, 0.18017, 0.78928, -0.20774, 0.0931, 0.09305},
    {4, -0.03790, 0.25726, 1.02655, -0.22435, 0.1095, NAN},
    {5, 0.03130, 0.36103, 3.06624, -0.23722, 0.2777, 0.27657},
    {6, 0.23782, 0.64455, 4.48610, -0.24914, 0.4633, 0.46172},
    {6.2, 0.30336, 0.73303, 5.81190, -0.25154, 0.7245, 0.69380},
    {6.3, 0.76629, 1.34282, 12.89106, -0.25641, 2.784, 2.78374},
};

static void wheelsets_stand_where_they_should(void **state)
{
    (void)state;
    bg_model *m = read_carriage(NULL, 0);
    double z = -1.6e-4, roll = 0;
    for (size_t k = 0; k < sizeof positions / sizeof *positions; k++) {
        const double wide = positions[k].y > 6.1 ? 10 : 1;
        for (double y = k > 0 ? positions[k - 1].y : 0; y < positions[k].y; y += 0.02)
            stand(m->contacts, 1e-3 * y, &z, &roll);
        stand(m->contacts, 1e-3 * positions[k].y, &z, &roll);
        const bg_rail_contact_state l = look(&m->contacts[0], 2, 1e-3 * positions[k].y, z, roll, 0),
                                    r = look(&m->contacts[1], 2, 1e-3 * positions[k].y, z, roll, 0);
        assert_near(1e3 * z, positions[k].z, 1e-3 * wide);
        assert_near(1e3 * roll, positions[k].roll, 1e-3 * wide);
        assert_near(1e3 * (l.mean[BG_RAIL_CONTACT_R] - 0.46), positions[k].left, 3e-3 * wide);
        assert_near(1e3 * (r.mean[BG_RAIL_CONTACT_R] - 0.46), positions[k].right, 3e-3 * wide);
        double radius, mean;
        sum_means(&m->contacts[0], 1e-3 * positions[k].y, z, roll, &radius, &mean);
        assert_near(radius, l.mean[BG_RAIL_CONTACT_R], 1e-12); /* weights below e^-40 left out */
        assert_near(mean, positions[k].mean, 0.01 * wide * positions[k].mean);
        if (!isnan(positions[k].slope))
            assert_near(-l.gap_x[0] / l.gap_x[1], positions[k].slope, 0.001 * positions[k].slope);
    }
    bg_model_destroy(m);
}

/* Derivatives of the gap and of means against differences, at random poses near contact. */
static void gaps_are_differentiated_exactly(void **state)
{
    (void)state;
    bg_model *m = read_carriage(NULL, 0);
    uint64_t seed = 7;
    for (int n = 0; n < 60; n++) {
        const bg_rail_contact *k = &m->contacts[n % 2];
        double draw[5];
        for (int i = 0; i < 5; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            draw[i] = (double)(seed >> 11) * 0x1p-52 - 1;
        }
        bg_rail_contact_state s = look(k, 3, 6e-3 * draw[0], 1e-3 * draw[1], 5e-3 * draw[2],
                                       2e-2 * draw[3]);
        for (int i = 0; i < 5; i++)
            s.along[i] = draw[i] * (i < 2 ? 1 : 2);
        assert_true(bg_rail_contact_calc(k, 3, &s));
        for (int i = 0; i < 5; i++) {
            const double h = 1e-7;
            double sides[2] = {0, 0}, size = 0;
            bg_rail_contact_state a = s, b = s;
            a.x[i] -= h;
            b.x[i] += h;
            assert_true(bg_rail_contact_calc(k, 2, &a) && bg_rail_contact_calc(k, 2, &b));
            assert_near(s.gap_x[i], (b.gap - a.gap) / (2 * h), 1e-6);
            for (int j = 0; j < 5; j++)
                assert_near(s.gap_xx[i][j], (b.gap_x[j] - a.gap_x[j]) / (2 * h),
                            1e-5 * (100 + fabs(s.gap_xx[i][j])));
            for (int j = 0; j < BG_RAIL_CONTACT_MEANS; j++)
                assert_near(s.mean_x[j][i], (b.mean[j] - a.mean[j]) / (2 * h),
                            1e-5 * (1 + fabs(s.mean_x[j][i])));
            for (int j = 0; j < 5; j++)
                for (int l = 0; l < 5; l++) {
                    const double vv = s.along[j] * s.along[l];
                    sides[0] += vv * (s.gap_xx[j][l] - a.gap_xx[j][l]) / h;
                    sides[1] += vv * (b.gap_xx[j][l] - s.gap_xx[j][l]) / h;
                    size += fabs(vv * s.gap_xx[j][l]);
                }
            /* third derivatives jump where a point passes a knot, so one side is enough */
            const double miss = fmin(fabs(s.gap_xvv[i] - sides[0]), fabs(s.gap_xvv[i] - sides[1]));
            assert_near(miss, 0, 3e-3 * fabs(s.gap_xvv[i]) + size);
        }
    }
    bg_model_destroy(m);
}

/* The same contact with equidistant points. */
static bg_rail_contact make_equidistant(const bg_rail_contact *of, const bg_profile *wheel,
                                        double step)
{
    enum { PARTS = 8 };
    bg_rail_contact k = *of;
    double W[4];
    k.n = 0;
    k.points = test_calloc(BG_RAIL_CONTACT_POINTS, sizeof *k.points);
    for (double s = wheel->range[0]; s <= wheel->range[1] && k.n < BG_RAIL_CONTACT_POINTS;) {
        bg_profile_calc(wheel, s, W);
        k.points[k.n++] = (bg_wheel_point){.s = s,
                                           .Y = k.sign * (k.base + s),
                                           .R = k.radius + W[0],
                                           .R_Y = k.sign * W[1],
                                           .c = 1 / sqrt(1 + W[1] * W[1]),
                                           .k = 1 + W[1] * W[1],
                                           .tilt = (k.radius + W[0]) * k.sign * W[1],
                                           .du = step};
        for (int i = 0; i < PARTS; i++) { /* ds/du = 1/sqrt(1 + W'^2), by the midpoint rule */
            bg_profile_calc(wheel, s, W);
            bg_profile_calc(wheel, s + 0.5 * step / PARTS / sqrt(1 + W[1] * W[1]), W);
            s += step / PARTS / sqrt(1 + W[1] * W[1]);
        }
    }
    return k;
}

/* Points that lie farther apart where contacts are wide sum up what equidistant ones do: against
 * points half as far apart, at random poses, on tread and flange, soft and hard. */
static void points_are_close_enough(void **state)
{
    (void)state;
    static const char *const softness[] = {"5e-6", "1e-5", "4e-5"};
    uint64_t seed = 3;
    for (int e = 0; e < 3; e++) {
        const bg_setting set = {"parts.wheelset.forces.left.softness", softness[e]};
        bg_model *m = read_carriage(&set, 1);
        const bg_profile *wheel = find_profile(m, "S1002");
        const bg_rail_contact *k = &m->contacts[0];
        const double eps = atof(softness[e]);
        assert_near(k->epsilon, eps, 1e-12);
        bg_rail_contact plain = make_equidistant(k, wheel, 2e-4),
                        fine = make_equidistant(k, wheel, 1e-4);
        double error[2] = {0, 0}, slope[2] = {0, 0};
        for (int n = 0; n < 2000; n++) {
            double draw[3];
            for (int i = 0; i < 3; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                draw[i] = (double)(seed >> 11) * 0x1p-52 - 1;
            }
            const double y = 7e-3 * draw[0], roll = 2e-3 * draw[1], yaw = 6e-3 * draw[2];
            const bg_rail_contact_state exact = look(&fine, 1, y, 0, roll, yaw);
            const bg_rail_contact_state found[2] = {look(k, 1, y, 0, roll, yaw),
                                                    look(&plain, 1, y, 0, roll, yaw)};
            for (int i = 0; i < 2; i++) {
                error[i] = fmax(error[i], fabs(found[i].gap - exact.gap));
                slope[i] = fmax(slope[i], fabs(found[i].gap_x[0] - exact.gap_x[0]));
            }
        }
        print_message("softness %s: %d points instead of %d, gap to %.1e instead of %.1e m, slope "
                      "to %.1e instead of %.1e\n",
                      softness[e], k->n, plain.n, error[0], error[1], slope[0], slope[1]);
        assert_true(k->n < 0.65 * plain.n && fine.n > 1.9 * plain.n);
        assert_true(error[0] < 3 * error[1] + 1e-4 * eps);
        assert_true(slope[0] < 3 * slope[1] + 1e-4);
        test_free(plain.points);
        test_free(fine.points);
        bg_model_destroy(m);
    }
}

/* C2: the largest difference of neighbouring second derivatives halves with the spacing. What it is
 * depends on where the points lie beside the peaks, the less the finer they are. */
static void gaps_are_smooth(void **state)
{
    (void)state;
    static const double expected[] = {3542, 1934, 1018, 512}; /* 1/m */
    static const double tolerance[] = {0.15, 0.05, 0.02, 0.005};
    double before = INFINITY, largest = 0;
    bg_model *m = read_carriage(NULL, 0);
    for (int k = 0; k < 4; k++) {
        const double spacing = 20e-6 / (1 << k);
        double last = NAN, most = 0;
        for (int i = 0; spacing * i <= 10.5e-3; i++) {
            const bg_rail_contact_state s = look(&m->contacts[0], 2, -2e-3 + spacing * i, 0, 0, 0);
            most = i > 0 ? fmax(most, fabs(s.gap_xx[0][0] - last)) : 0;
            last = s.gap_xx[0][0];
            largest = fmax(largest, fabs(last));
        }
        assert_near(most, expected[k], tolerance[k] * expected[k]);
        assert_true(k == 0 || most < 0.6 * before);
        before = most;
    }
    assert_near(largest, 9.8e3, 0.05e3);
    bg_model_destroy(m);
}

/* A free wheelset with cones on round rails, held to its weight and speed alone: in `extra` what
 * differs. */
#define WHEELSET(extra, wheel, track)                                                            \
    "{'gravity': 0, 'tracks': {'line': {" track "}}, 'profiles': {'cone': {'type': 'cone', "     \
    "'slope': 0.05, 'range': [-0.04, 0.04]}, 'round': {'type': 'circle', 'radius': 0.3}}, "      \
    "'parameters': {'load': 54500}, "                                                            \
    "'bodies': {'f': {'track': 'line', 'center': [0, 0, 0]}, 'b': {'mass': 1813, 'center': [0, " \
    "0, 0.46], 'inertia': [1120, 112, 1120]}}, 'joints': {'j': {'type': 'rolling', 'bodies': "   \
    "['f', 'b'], 'radius': 0.46, 'initial': {" extra "}}}, 'forces': {'weight': {'type': "       \
    "'force', 'at': 'b', 'force': [0, 0, '-2*load']}, 'l': {'type': 'wheel-rail', 'side': "      \
    "'left', " wheel "}, 'r': {'type': 'wheel-rail', 'side': 'right', " wheel "}}, 'outputs': "  \
    "{'y': {'joint': 'j', 'coordinate': 'y'}, 'yaw': {'joint': 'j', 'coordinate': 'yaw'}, 'Q': " \
    "{'force': 'l', 'value': 'vertical'}, 'vn': {'force': 'l', 'value': 'normal_velocity'}}, "   \
    "'run': {'t_end': 0.1}}"

#define CONES                                                                                   \
    "'bodies': ['f', 'b'], 'wheel': 'cone', 'rail': 'round', 'radius': 0.46, 'base': 0.75, "    \
    "'rail_origin': '0.3*sin(atan(0.05))', 'load': 54546, 'semi_axes': ['5.97*mm', '4.4*mm'], " \
    "'kalker': [4.473, 4.129, 1.876]"
#define STRAIGHT "'speed': 1, 'segments': [{'length': 1}]"

/* Every analytic derivative of the system, contact and creep included, against differences at
 * random states, with cant and curvature, in both forms. */
static void derivatives_meet_differences(void **state)
{
    (void)state;
    static const char *const text[] = {
        WHEELSET("'y': 0.001, 'yaw': 0.004", CONES,
                 "'speed': 7, 'segments': [{'length': 9, 'curvature': [0.001, 0.005], 'cant': "
                 "[0.02, 0.1]}]"),
        WHEELSET("'y': -0.002, 'yaw': 0.002", CONES ", 'saturation': 'polach'", STRAIGHT)};
    for (int n = 0; n < 4; n++) {
        bg_error err = {BG_OK, ""};
        bg_model *m;
        bg_system *sys = build_model(text[n / 2], forms[n % 2], &m);
        bg_derivative_check checks[BG_DERIVATIVE_CHECKS];
        int count = 0;
        assert_ok(bg_system_check_derivatives(sys, 5, 11, checks, &count, &err));
        assert_true(count >= 8);
        for (int i = 0; i < count; i++)
            if (!(checks[i].error < 1e-5) &&
                fabs(checks[i].supplied - checks[i].differenced) > 1e-9)
                fail_msg("%s: %s, %s is %.12g, not %.12g", forms[n % 2], checks[i].quantity,
                         checks[i].entry, checks[i].supplied, checks[i].differenced);
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
}

static void both_forms_agree(void **state)
{
    (void)state;
    static const char text[] = WHEELSET(
        "'y': 0.003, 'yaw': 0.002", CONES ", 'saturation': 'polach'",
        "'speed': 5, 'segments': [{'length': 9, 'curvature': [0, 0.002], 'cant': [0, 0.1]}]");
    double y[2][4];
    for (int k = 0; k < 2; k++)
        run_model(text, forms[k], 1e-8, y[k], NULL);
    for (int i = 0; i < 4; i++)
        assert_near(y[0][i], y[1][i], 1e-6 * (1e-3 + fabs(y[0][i])) + (i == 3 ? 1e-9 : 0));
    assert_true(fabs(y[0][0]) > 1e-4);
}

/* Klingel's motion: the wavelength of the least damped oscillation of a free wheelset, against 2 pi
 * sqrt(b0 r0 (1 + r0 c/b')/(c (1 + (r0 + rho) c/b'))), b' = b0 - r0 c, c the conicity. */
static void wheelsets_run_in_klingels_waves(void **state)
{
    (void)state;
    static const char *const text[] = {
        WHEELSET("'y': 0", CONES, STRAIGHT),
        WHEELSET("'y': 0", CONES, "'speed': 10, 'segments': [{'length': 1}]")};
    const double b0 = 0.75, r0 = 0.46, c = 0.05, rho = 0.3, b = b0 - r0 * c;
    const double expected = 2 * M_PI *
                            sqrt(b0 * r0 * (1 + r0 * c / b) / (c * (1 + (r0 + rho) * c / b)));
    static const double another[] = {16.3420, 16.3427}; /* m, of another program */
    for (int k = 0; k < 2; k++) {
        const double wave = find_wave(text[k], k == 0 ? 1 : 10);
        assert_near(wave, expected, 2e-4 * expected);
        assert_near(wave, another[k], 2e-5 * expected);
    }
}

/* The free wheelset S1002 at small amplitude, at two speeds: 6.826 m by another program. */
static void worn_wheels_run_in_shorter_waves(void **state)
{
    (void)state;
    static const char *const track[] = {STRAIGHT, "'speed': 10, 'segments': [{'length': 1}]"};
    char text[RAIL_TEXT];
    for (int k = 0; k < 2; k++) {
        write_wheelset(text, S1002, track[k], "'y': 0", "", "'t_end': 1");
        assert_near(find_wave(text, k == 0 ? 1 : 10), 6.826, 1e-3 * 6.826);
    }
}

/* Half the difference of the rolling radii at y, as a multiple of y in the first harmonic of an
 * amplitude: (1/2 pi A) integral (R_l - R_r)(A sin t) sin t dt, by 64 points. */
static double calc_conicity(const bg_model *m, double amplitude)
{
    enum { POINTS = 64 };
    double z = -1.6e-4, roll = 0, sum = 0;
    for (int i = 0; i < POINTS; i++) {
        const double t = 2 * M_PI * i / POINTS, y = amplitude * sin(t);
        stand(m->contacts, y, &z, &roll);
        const bg_rail_contact_state l = look(&m->contacts[0], 1, y, z, roll, 0),
                                    r = look(&m->contacts[1], 1, y, z, roll, 0);
        sum += (l.mean[BG_RAIL_CONTACT_R] - r.mean[BG_RAIL_CONTACT_R]) * sin(t);
    }
    return sum / (POINTS * amplitude);
}

/* The conicity of a cone with the same period: y'' = -(R_l - R_r)/(2 b0 r0) by the way, from rest
 * at an amplitude back through zero; b0 r0 (2 pi/L)^2. */
static double calc_conicity_of_period(const bg_model *m, double amplitude)
{
    const double bend = 1 / (2 * 0.75 * 0.46), h = 2e-3;
    double y = amplitude, slope = 0, s = 0, z = -1.6e-4, roll = 0, last = y;
    for (; y > 0; s += h) { /* leapfrog, second order */
        double rate = 0;
        stand(m->contacts, y, &z, &roll);
        for (int i = 0; i < 2; i++) {
            const bg_rail_contact_state x = look(&m->contacts[i], 1, y, z, roll, 0);
            rate -= (i ? -1 : 1) * bend * x.mean[BG_RAIL_CONTACT_R];
        }
        slope += (s > 0 ? h : 0.5 * h) * rate;
        last = y;
        y += h * slope;
    }
    const double quarter = s - h * y / (y - last), wave = 2 * M_PI / (4 * quarter);
    return 0.75 * 0.46 * wave * wave;
}

static void conicity_is_that_of_another_program(void **state)
{
    (void)state;
    bg_model *m = read_carriage(NULL, 0);
    assert_near(calc_conicity(m, 3e-3), 0.181, 0.0005);
    assert_near(calc_conicity_of_period(m, 3e-3), 0.1803, 0.0001);
    bg_model_destroy(m);
}

/* A wheel that is pulled up: the run ends where its contact force is zero. */
static void wheels_lift_off_with_a_sentence(void **state)
{
    (void)state;
    static const char text[] =
        "{'gravity': 0, 'tracks': {'line': {" STRAIGHT "}}, 'profiles': {'cone': {'type': 'cone', "
        "'slope': 0.05, 'range': [-0.04, 0.04]}, 'round': {'type': 'circle', 'radius': 0.3}}, "
        "'bodies': {'f': {'track': 'line', 'center': [0, 0, 0]}, 'b': {'mass': 1813, 'center': [0, "
        "0, 0.46], 'inertia': [1120, 112, 1120]}}, 'joints': {'j': {'type': 'rolling', 'bodies': "
        "['f', 'b'], 'radius': 0.46}}, 'forces': {'weight': {'type': 'force', 'at': 'b', "
        "'force': [0, 0, '-1000*(1 - t)']}, 'l': {'type': 'wheel-rail', 'side': 'left', " CONES
        "}, 'r': {'type': 'wheel-rail', 'side': 'right', " CONES "}}, 'run': {'t_end': 2}}";
    for (int k = 0; k < 2; k++) {
        bg_error err = {BG_OK, ""};
        bg_model *m;
        bg_system *sys = build_model(text, forms[k], &m);
        bg_run_options o = bg_default_run_options();
        bg_run_report r;
        assert_ok(bg_run(sys, &o, &r, &err));
        assert_near(r.events[0].t, 1, 2e-3);
        assert_true(r.nevents >= 1);
        if (!strstr(r.events[0].name, "lifts off its rail"))
            fail_msg("%s", r.events[0].name);
        bg_run_report_clear(&r);
        bg_system_destroy(sys);
        bg_model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_meet_another_fit),
        cmocka_unit_test(profiles_are_smooth),
        cmocka_unit_test(wheelsets_stand_where_they_should),
        cmocka_unit_test(gaps_are_differentiated_exactly),
        cmocka_unit_test(gaps_are_smooth),
        cmocka_unit_test(points_are_close_enough),
        cmocka_unit_test(derivatives_meet_differences),
        cmocka_unit_test(both_forms_agree),
        cmocka_unit_test(wheelsets_run_in_klingels_waves),
        cmocka_unit_test(worn_wheels_run_in_shorter_waves),
        cmocka_unit_test(conicity_is_that_of_another_program),
        cmocka_unit_test(wheels_lift_off_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

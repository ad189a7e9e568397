/* Creep forces of a wheel on a rail by themselves: Kalker's linear theory at small creepages,
 * Coulomb's limit at large ones, what happens between, directions, mirror images, derivatives. */
#include "model_support.h"

#include "model/rail/creep.h"

enum { LAWS = 2, ARGS = 9 };

static const char *const law_names[LAWS] = {"cubic", "polach"};

static bg_creep make_creep(int law)
{
    return (bg_creep){.law = (bg_creep_law)law,
                      .friction = 0.3,
                      .modulus = 82e9,
                      .load = 5e4,
                      .area = 2.6e-5,
                      .C11 = 4.5,
                      .C22 = 4.1,
                      .C23 = 1.9};
}

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* v, w, slope, speed, load; x[i] with derivative 1 by variable i where n > 0. */
static bg_creep_motion set_motion(const double x[ARGS], int n)
{
    bg_creep_motion m;
    bg_dual *const part[ARGS] = {&m.v[0], &m.v[1],  &m.v[2],  &m.w[0], &m.w[1],
                                 &m.w[2], &m.slope, &m.speed, &m.load};
    for (int i = 0; i < ARGS; i++) {
        bg_dual_set(n, x[i], part[i]);
        if (n > 0)
            part[i]->d[i] = 1;
    }
    return m;
}

static bg_creep_force calc(int law, const double x[ARGS], int n)
{
    const bg_creep c = make_creep(law);
    const bg_creep_motion m = set_motion(x, n);
    bg_creep_force f;
    bg_creep_calc(&c, &m, &f);
    return f;
}

/* A random motion at 20 m/s whose creepages are about `size`. */
static void draw_motion(uint64_t *seed, double size, double x[ARGS])
{
    for (int i = 0; i < 3; i++)
        x[i] = 20 * size * draw(seed);
    x[3] = 0.1 * draw(seed);
    x[4] = 43 + draw(seed);
    x[6] = 0.5 * draw(seed);
    x[5] = x[4] * x[6] + 20 * 50 * size * draw(seed); /* spin of pivoting less than 50 size */
    x[7] = 20;
    x[8] = 5e4 * (1.1 + draw(seed));
}

/* By the book, from velocities and the normal force. */
static void calc_linear(const double x[ARGS], double out[2])
{
    const bg_creep c = make_creep(0);
    const double delta = atan(x[6]), ab = c.area * pow(x[8] / c.load, 2.0 / 3);
    const double eta = (x[1] * cos(delta) + x[2] * sin(delta)) / x[7];
    const double spin = (x[5] * cos(delta) - x[4] * sin(delta)) / x[7];
    out[0] = -c.modulus * ab * c.C11 * x[0] / x[7];
    out[1] = -c.modulus * ab * (c.C22 * eta + sqrt(ab) * c.C23 * spin);
}

/* The lowest parts of the laws are known: 1 - u/3 and 1 - (pi u)^2/24. */
static void small_creepages_meet_kalkers_linear_theory(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 0; n < 400; n++) {
        const int law = n % LAWS;
        double x[ARGS], linear[2];
        draw_motion(&seed, n < 200 ? 1e-7 : 1e-5, x);
        calc_linear(x, linear);
        const bg_creep_force f = calc(law, x, 0);
        const double size = hypot(linear[0], linear[1]), u = size / (0.3 * x[8]);
        const double part = law == 0 ? 1 - u / 3 : 1 - M_PI * M_PI * u * u / 24;
        if (u > 0.1)
            continue;
        assert_near(f.use, u, 1e-7 * u); /* a train that stands is smoothed over 1 mm/s */
        assert_near(f.longitudinal, part * linear[0], 0.04 * u * u * size + 1e-7 * size);
        assert_near(f.lateral, part * linear[1], 0.04 * u * u * size + 1e-7 * size);
    }
}

/* Never above the limit, which is met in the direction of the linear force. */
static void large_creepages_meet_coulombs_limit(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int n = 0; n < 400; n++) {
        const int law = n % LAWS;
        double x[ARGS], linear[2];
        draw_motion(&seed, n < 200 ? 0.01 : 1, x);
        calc_linear(x, linear);
        const bg_creep_force f = calc(law, x, 0);
        const double size = hypot(f.longitudinal, f.lateral), limit = 0.3 * x[8];
        const double whole = hypot(linear[0], linear[1]), u = whole / limit;
        assert_true(size <= limit * (1 + 1e-12));
        assert_near(f.longitudinal / size, linear[0] / whole, 1e-6);
        assert_near(f.lateral / size, linear[1] / whole, 1e-6);
        if (law == 0 && u > 3)
            assert_near(size, limit, 1e-12 * limit);
        if (law == 1 && u > 50) /* 1 - (2/3 pi) / e^3, e = pi u/4 */
            assert_near(1 - size / limit, 4 / (3 * M_PI * pow(M_PI * u / 4, 3)), 1e-7);
    }
}

/* The size of the force grows with creepage, with two continuous derivatives but at zero: first
 * derivatives and their difference quotients have no jump at u = 3, where the cubic law ends. */
static void saturation_is_smooth(void **state)
{
    (void)state;
    for (int law = 0; law < LAWS; law++) {
        double x[ARGS] = {0, 0, 0, 0, 43, 0, 0, 20, 5e4}, last = 0;
        const bg_creep_force one = (x[0] = 20e-6, calc(law, x, 0));
        const double whole = 20e-6 / one.use; /* m/s at u = 1 */
        for (double u = 0.01; u < 8; u += 0.01) {
            x[0] = whole * u;
            const bg_creep_force f = calc(law, x, 0);
            assert_true(-f.longitudinal > last || u > 2.999);
            last = -f.longitudinal;
        }
        double slope[2][2], bend[2];
        for (int side = 0; side < 2; side++)
            for (int k = 0; k < 2; k++) {
                x[0] = whole * (3 + (side ? 1 : -1) * (1e-9 + 1e-4 * k));
                slope[side][k] = calc(law, x, ARGS).F[0].d[0] * whole / 15e3;
            }
        for (int side = 0; side < 2; side++)
            bend[side] = (slope[side][1] - slope[side][0]) / ((side ? 1 : -1) * 1e-4);
        assert_near(slope[0][0], slope[1][0], 1e-8);
        assert_near(bend[0], bend[1], 2e-4);
    }
}

/* The ellipse grows as N^(1/3): linear forces by N^(2/3), those of spin by N. Going back changes
 * the sign of spin's force beside the same rates of turning. */
static void forces_follow_load_and_direction(void **state)
{
    (void)state;
    double sliding[ARGS] = {20e-8, 10e-8, 0, 0, 43, 0, 0, 20, 5e4};
    double turning[ARGS] = {0, 0, 0, 0, 43, 1e-5, 0, 20, 5e4};
    for (int law = 0; law < LAWS; law++) {
        const bg_creep_force a = calc(law, sliding, 0), b = calc(law, turning, 0);
        sliding[8] = turning[8] = 8 * 5e4;
        const bg_creep_force c = calc(law, sliding, 0), d = calc(law, turning, 0);
        sliding[8] = turning[8] = 5e4;
        sliding[7] = turning[7] = -20;
        const bg_creep_force e = calc(law, sliding, 0), f = calc(law, turning, 0);
        sliding[7] = turning[7] = 20;
        assert_near(c.longitudinal / a.longitudinal, 4, 1e-3);
        assert_near(c.lateral / a.lateral, 4, 1e-3);
        assert_near(d.lateral / b.lateral, 8, 1e-3);
        assert_near(e.longitudinal / a.longitudinal, 1, 1e-12);
        assert_near(e.lateral / a.lateral, 1, 1e-12);
        assert_near(f.lateral / b.lateral, -1, 1e-12);
    }
}

/* The right wheel is the left one in a mirror: y changes sign, rates about x and z do. */
static void mirrored_motions_have_mirrored_forces(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int n = 0; n < 200; n++) {
        double x[ARGS];
        draw_motion(&seed, 1e-3, x);
        const bg_creep_force a = calc(n % LAWS, x, 0);
        x[1] *= -1, x[3] *= -1, x[5] *= -1, x[6] *= -1;
        const bg_creep_force b = calc(n % LAWS, x, 0);
        assert_true(a.F[0].x == b.F[0].x && a.F[1].x == -b.F[1].x && a.F[2].x == b.F[2].x);
        assert_true(a.slip == b.slip && a.use == b.use);
    }
}

static void forces_are_differentiated_exactly(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int n = 0; n < 200; n++) {
        const int law = n % LAWS;
        double x[ARGS];
        draw_motion(&seed, 2e-3, x);
        const bg_creep_force f = calc(law, x, ARGS);
        if (fabs(f.use - 3) < 1e-3)
            continue;
        for (int i = 0; i < ARGS; i++) {
            const double kept = x[i], h = 1e-5 * (i == 8 ? 5e4 : i == 6 ? 1e-2 : 0.02);
            x[i] = kept + h;
            const bg_creep_force b = calc(law, x, 0);
            x[i] = kept - h;
            const bg_creep_force a = calc(law, x, 0);
            x[i] = kept;
            for (int k = 0; k < 3; k++) {
                const double found = (b.F[k].x - a.F[k].x) / (2 * h);
                if (!(fabs(f.F[k].d[i] - found) <= 1e-5 * fabs(found) + 1e-9 * 15e3 / h))
                    fail_msg("%s: F%d by %d is %.12g, not %.12g", law_names[law], k, i, f.F[k].d[i],
                             found);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_creepages_meet_kalkers_linear_theory),
        cmocka_unit_test(large_creepages_meet_coulombs_limit),
        cmocka_unit_test(saturation_is_smooth),
        cmocka_unit_test(forces_follow_load_and_direction),
        cmocka_unit_test(mirrored_motions_have_mirrored_forces),
        cmocka_unit_test(forces_are_differentiated_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

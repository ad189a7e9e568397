/* A hitch between two models that know nothing of each other: a car and a trailer, each advanced by
 * a bg_realtime of its own, and a hook module between them that reads their outputs and sets their
 * inputs once a step, as in section 4.3 of Burgermeister, Arnold, Esterl (000). README.md explains
 * it.
 *
 *     hook FOLDER [SECONDS]      FOLDER: of the repository; default 60 s
 *
 * The hook wants the accelerations of the two hitch points to differ by
 *     a_car - a_trailer = -2 alpha (v_car - v_trailer) - beta (r_car - r_trailer) (Baumgarte) and
 * knows of each side only how its point answers to a force, v' = ... + A F. With the force F of the
 * last step and what the velocities did in it, the next force is F <- F + (A_car + A_trailer)^-1
 * (a_wanted - a_seen). A is found before the start by trial steps with and without a force, and
 * turns with the yaw angle of its side. */
#include <bogie/bogie.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double period = 1e-3, alpha = 100, beta = 1e4, trial = 1000; /* s, 1/s, 1/s2, N */

/* One side of the hitch. Outputs: yaw, place and velocity of the hitch point. */
typedef struct hitch_side {
    bg_model *model;
    bg_system *system;
    bg_realtime *rt;
    const char *yaw;      /* name of its output */
    double sign;          /* of the force: on the car +, on the trailer - */
    double y[7];          /* outputs */
    double free_[3];      /* m/s2, acceleration of the point at the start without a force */
    double admittance[9]; /* m/s2 per N, at yaw 0 */
} hitch_side;

static void stop(const bg_error *err)
{
    fprintf(stderr, "hook: %s\n", err->text);
    exit(1);
}

static void start(hitch_side *s)
{
    static const char *const inputs[] = {"hook_x", "hook_y", "hook_z"};
    static const bg_setting settings[] = {{"jacobian", "semi"}};
    const char *const outputs[] = {s->yaw,
                                   "hitch_place.x",
                                   "hitch_place.y",
                                   "hitch_place.z",
                                   "hitch_velocity.x",
                                   "hitch_velocity.y",
                                   "hitch_velocity.z"};
    bg_error err;
    bg_realtime_options o = bg_default_realtime_options();
    o.period = period;
    o.settings = settings;
    o.nsettings = 1;
    o.inputs = inputs;
    o.ninputs = 3;
    o.outputs = outputs;
    o.noutputs = 7;
    bg_realtime_destroy(s->rt);
    if (bg_realtime_create(s->system, &o, &s->rt, &err) != BG_OK ||
        bg_realtime_calc_outputs(s->rt, s->y, &err) != BG_OK)
        stop(&err);
}

static void step(hitch_side *s, const double F[3])
{
    const double u[] = {s->sign * F[0], s->sign * F[1], s->sign * F[2]};
    bg_error err;
    if (bg_realtime_step(s->rt, u, s->y, &err) != BG_OK)
        stop(&err);
}

static void open_side(hitch_side *s, const char *folder, const char *file)
{
    char path[1024];
    bg_error err;
    snprintf(path, sizeof path, "%s/examples/hook/%s", folder, file);
    if (bg_model_read(path, NULL, 0, &s->model, &err) != BG_OK ||
        bg_model_create_system(s->model, "joint", &s->system, &err) != BG_OK)
        stop(&err);
    /* trial steps: without a force, and with one along each axis */
    for (int k = -1; k < 3; k++) {
        double F[3] = {0, 0, 0}, before[3];
        start(s);
        memcpy(before, s->y + 4, sizeof before);
        if (k >= 0)
            F[k] = trial;
        step(s, F);
        for (int i = 0; i < 3; i++) {
            double a = (s->y[4 + i] - before[i]) / period;
            if (k < 0)
                s->free_[i] = a;
            else /* answer to the force on the car, against the one on the trailer */
                s->admittance[3 * i + k] = (a - s->free_[i]) * s->sign / trial;
        }
    }
    start(s);
}

static void close_side(hitch_side *s)
{
    bg_realtime_destroy(s->rt);
    bg_system_destroy(s->system);
    bg_model_destroy(s->model);
}

/* A += R A0 R^T, R the rotation by yaw about z. */
static void add_admittance(const hitch_side *s, double A[9])
{
    double c = cos(s->y[0]), d = sin(s->y[0]);
    const double R[9] = {c, -d, 0, d, c, 0, 0, 0, 1};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    A[3 * i + j] += R[3 * i + k] * s->admittance[3 * k + l] * R[3 * j + l];
}

/* x <- A^-1 b by Cramer's rule. */
static void solve(const double A[9], const double b[3], double x[3])
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        det += A[i] *
               (A[3 + (i + 1) % 3] * A[6 + (i + 2) % 3] - A[3 + (i + 2) % 3] * A[6 + (i + 1) % 3]);
    for (int k = 0; k < 3; k++) {
        double B[9], sum = 0;
        memcpy(B, A, sizeof B);
        for (int i = 0; i < 3; i++)
            B[3 * i + k] = b[i];
        for (int i = 0; i < 3; i++)
            sum += B[i] * (B[3 + (i + 1) % 3] * B[6 + (i + 2) % 3] -
                           B[3 + (i + 2) % 3] * B[6 + (i + 1) % 3]);
        x[k] = sum / det;
    }
}

/* The hook module: the force of the next step from the outputs of both sides. seen: the relative
 * acceleration in the last step. */
static void update_force(const hitch_side *car, const hitch_side *trailer, const double seen[3],
                         double F[3])
{
    double A[9] = {0}, wanted[3], change[3];
    add_admittance(car, A);
    add_admittance(trailer, A);
    for (int i = 0; i < 3; i++) {
        double r = car->y[1 + i] - trailer->y[1 + i], v = car->y[4 + i] - trailer->y[4 + i];
        wanted[i] = -2 * alpha * v - beta * r - seen[i];
    }
    solve(A, wanted, change);
    for (int i = 0; i < 3; i++)
        F[i] += change[i];
}

/* Car and trailer in one model, the hitch as a constraint, for comparison. */
typedef struct car_and_trailer {
    bg_model *model;
    bg_system *system;
    bg_realtime *rt;
    double y[5]; /* yaw, trailer_yaw, and the force on the trailer in world axes */
} car_and_trailer;

static void open_whole(car_and_trailer *w, const char *folder)
{
    static const char *const outputs[] = {"yaw", "trailer_yaw", "hitch.fx", "hitch.fy", "hitch.fz"};
    static const bg_setting settings[] = {{"jacobian", "semi"},
                                          {"stabilisation", "baumgarte"},
                                          {"alpha", "100"},
                                          {"beta", "10000"},
                                          {"index", "1"}};
    char path[1024];
    bg_error err;
    bg_realtime_options o = bg_default_realtime_options();
    o.period = period;
    o.settings = settings;
    o.nsettings = 5;
    o.outputs = outputs;
    o.noutputs = 5;
    snprintf(path, sizeof path, "%s/models/vehicle-trailer.json", folder);
    if (bg_model_read(path, NULL, 0, &w->model, &err) != BG_OK ||
        bg_model_create_system(w->model, "joint", &w->system, &err) != BG_OK ||
        bg_realtime_create(w->system, &o, &w->rt, &err) != BG_OK)
        stop(&err);
}

static void close_whole(car_and_trailer *w)
{
    bg_realtime_destroy(w->rt);
    bg_system_destroy(w->system);
    bg_model_destroy(w->model);
}

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Largest values on the way. */
typedef struct extremes {
    double defect, force, angle, articulation, difference;
} extremes;

static void compare(extremes *e, const hitch_side *car, const hitch_side *trailer,
                    const car_and_trailer *w, const double F[3], double t)
{
    double r[3], f[3];
    for (int i = 0; i < 3; i++) {
        r[i] = car->y[1 + i] - trailer->y[1 + i];
        f[i] = F[i] + w->y[2 + i]; /* on the car, on the trailer */
    }
    double bend = trailer->y[0] - car->y[0] - (w->y[1] - w->y[0]);
    e->defect = fmax(e->defect, length(r));
    e->articulation = fmax(e->articulation, fabs(sin(w->y[1] - w->y[0])));
    e->angle = fmax(e->angle, fabs(sin(bend)));
    if (t > 0.2) { /* both start unloaded */
        e->force = fmax(e->force, length(w->y + 2));
        e->difference = fmax(e->difference, length(f));
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: hook FOLDER [SECONDS]\n");
        return 2;
    }
    long steps = lround((argc > 2 ? strtod(argv[2], NULL) : 60) / period);
    hitch_side car = {.yaw = "yaw", .sign = 1}, trailer = {.yaw = "trailer_yaw", .sign = -1};
    car_and_trailer w = {0};
    extremes e = {0};
    double F[3] = {0, 0, 0}, seen[3];
    bg_error err;
    open_side(&car, argv[1], "car.json");
    open_side(&trailer, argv[1], "trailer.json");
    open_whole(&w, argv[1]);
    for (int i = 0; i < 3; i++)
        seen[i] = car.free_[i] - trailer.free_[i];
    for (long k = 0; k < steps; k++) {
        double before[3];
        update_force(&car, &trailer, seen, F);
        for (int i = 0; i < 3; i++)
            before[i] = car.y[4 + i] - trailer.y[4 + i];
        step(&car, F);
        step(&trailer, F);
        for (int i = 0; i < 3; i++)
            seen[i] = (car.y[4 + i] - trailer.y[4 + i] - before[i]) / period;
        if (bg_realtime_step(w.rt, NULL, w.y, &err) != BG_OK)
            stop(&err);
        compare(&e, &car, &trailer, &w, F, (double)(k + 1) * period);
    }
    printf("steps         %ld of %g s\n", steps, period);
    printf("defect        %.3g m\n", e.defect);
    printf("force         differs by %.3g N of %.4g N\n", e.difference, e.force);
    printf("articulation  differs by %.3g rad of %.3g rad\n", e.angle, e.articulation);
    close_side(&car);
    close_side(&trailer);
    close_whole(&w);
    return 0;
}

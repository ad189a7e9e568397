/* Regions of stability of both tableaus of a partitioned Runge-Kutta pair, each alone: |R(z)| <= 1
 * with R(z) = 1 + b.e z + b.A e z^2 + ... (004 Fig. 1). */
#include "cli/stability.h"
#include "design/polynomial.h"
#include "integrators/prk_pair.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct tableau_view {
    int stages;
    double beta[BG_PRK_STAGES + 1];
} tableau_view;

static const double rounding = 1e-9, of_digits = 20; /* |R| - 1 that counts as stable */

bool bg_stability_has_pair(const char *integrator)
{
    const bg_integrator_info *info;
    for (int k = 0; (info = bg_integrator_get_info(k)); k++)
        if (strcmp(info->name, integrator) == 0)
            return strcmp(integrator, "prk") == 0 ||
                   (info->setting_of && strcmp(info->setting_of, "prk") == 0);
    return false;
}

static bg_status is_inside(void *self, double x, double y, bool *inside, bg_error *err)
{
    const tableau_view *v = self;
    (void)err;
    *inside = bg_polynomial_calc_modulus(v->beta, v->stages, x, y) <= 1;
    return BG_OK;
}

/* The option `pair` of prk, which is checked as an integrator would check it. */
static bg_status find_pair(const bg_stability_method *method, bg_prk_pair *pair, bg_error *err)
{
    bg_stability *probe;
    const char *name = strcmp(method->integrator, "prk") == 0 ? "prk38" : method->integrator;
    bg_status st = bg_stability_create(method, 1, &probe, err);
    if (st != BG_OK)
        return st;
    bg_stability_destroy(probe);
    for (int k = 0; k < method->nsettings; k++)
        if (strcmp(method->settings[k].name, "pair") == 0)
            name = method->settings[k].value;
    return bg_prk_pair_open(name, pair, err);
}

/* A window that holds both regions. */
static bg_window find_window(const tableau_view *views)
{
    double left = 1, top = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4000; i++) {
            double angle = 3.14159265358979 * i / 4000, r = 0.05;
            while (r < 60 && bg_polynomial_calc_modulus(views[k].beta, views[k].stages,
                                                        r * cos(angle), r * sin(angle)) <= 1)
                r *= 1.01;
            left = fmax(left, -r * cos(angle));
            top = fmax(top, r * sin(angle));
        }
    return (bg_window){-ceil(left + 0.5), 1, -ceil(top + 0.5), ceil(top + 0.5)};
}

bg_status bg_stability_show_pair(const bg_stability_method *method, const char *path, bg_error *err)
{
    static const char *const names[] = {"slow", "fast"};
    bg_prk_pair pair;
    tableau_view tableaus[2];
    bg_plane_view views[2] = {{.name = ""}};
    bg_status st = find_pair(method, &pair, err);
    if (st != BG_OK)
        return st;
    printf("%s, order %d: %d of %d stages are slow; %s abscissae, %s weights\n"
           "%-8s%18s%22s\n",
           pair.name, pair.order, pair.nslow, pair.stages,
           pair.equal_abscissae ? "equal" : "different", pair.equal_weights ? "equal" : "different",
           "tableau", "imaginary axis", "negative real axis");
    for (int k = 0; k < 2; k++) {
        double tolerance = fmax(rounding, of_digits * pair.tolerance);
        tableaus[k].stages = pair.stages;
        bg_tableau_calc_polynomial(&pair.of[k], pair.stages, tableaus[k].beta);
        double y = bg_polynomial_calc_interval(tableaus[k].beta, pair.stages, BG_TARGET_IMAGINARY,
                                               tolerance);
        double x = bg_polynomial_calc_interval(tableaus[k].beta, pair.stages, BG_TARGET_REAL,
                                               tolerance);
        printf("%-8s%18.4f%22.4f\n", names[k], y, x);
        snprintf(views[k].name, sizeof views[k].name, "%s, %s", pair.name, names[k]);
        snprintf(views[k].text, sizeof views[k].text, "imaginary %.4f, real %.4f", y, x);
    }
    bg_window window = find_window(tableaus);
    for (int k = 0; k < 2 && st == BG_OK && path; k++)
        st = bg_region_trace(&window, 241, is_inside, &tableaus[k], &views[k].region, err);
    if (st == BG_OK && path)
        st = bg_stability_draw_plane(views, 2, &window, path, err);
    for (int k = 0; k < 2; k++)
        bg_region_clear(&views[k].region);
    return st;
}

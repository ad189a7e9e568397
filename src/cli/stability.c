/* bogie stability: where the steps of implemented methods are stable on q'' = -a q - b q'.
 *
 * The amplification matrix of one step is observed (integrators/stability.h), regions of the planes
 * (h^2 a, h b) and of h times the eigenvalues are traced by their boundary, and the largest stable
 * step is compared with its closed form (000 section 2 and Fig. 1). */
#include "cli/stability.h"
#include "base/place.h"
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stability_arguments {
    const char *integrator, *output;
    bg_cli_settings settings;
} stability_arguments;

#define FIELD(name) offsetof(stability_arguments, name)

static const bg_cli_option options[] = {
    {"--integrator", NULL, "NAME", BG_CLI_INTEGRATOR, FIELD(integrator),
     "one method only (default: explicit Euler and all of linear-euler)"},
    {"--set", NULL, "integrator.OPTION=VALUE", BG_CLI_SETTING, FIELD(settings),
     "an option of that method; may be repeated"},
    {"--output", "-o", "FILE", BG_CLI_FILE, FIELD(output), "the regions as FILE.svg or FILE.html"},
};

static const double agreement = 0.01; /* relative, of measured and closed limits */

/* The i-th pair of the test: a in 1/s^2 and b in 1/s, from soft to stiff and from weak to strong
 * damping. */
static void get_pair(int i, double *a, double *b)
{
    *a = pow(10, i / 5);
    *b = 0.37 * pow(6, i % 5);
}

static bg_status measure(bg_stability_view *view, bg_error *err)
{
    const bg_stability_theory *theory = bg_stability_find_theory(&view->method);
    for (int i = 0; i < BG_STABILITY_PAIRS; i++) {
        bg_stability_limit *limit = &view->limits[i];
        get_pair(i, &limit->a, &limit->b);
        limit->expected = theory ? theory->calc_limit(limit->a, limit->b) : NAN;
        bg_status st = bg_stability_find_limit(&view->method, limit->a, limit->b, &limit->measured,
                                               err);
        if (st != BG_OK)
            return st;
        limit->difference = isinf(limit->expected) && isinf(limit->measured)
                                ? 0
                                : fabs(limit->measured / limit->expected - 1);
        view->worst = fmax(view->worst, limit->difference);
    }
    return BG_OK;
}

static void print_number(double x, const char *format)
{
    if (isnan(x))
        printf("%14s", "-");
    else if (isinf(x))
        printf("%14s", "any");
    else
        printf(format, x);
}

static void print_view(const bg_stability_view *view)
{
    const bg_stability_theory *theory = bg_stability_find_theory(&view->method);
    const int shown[] = {2, 7, 13, 20};
    printf("\n%s: %s\n", view->name,
           theory ? theory->region : "no closed form is known for this method");
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const bg_stability_limit *l = &view->limits[shown[k]];
        printf("%10g%10.4g", l->a, l->b);
        print_number(l->expected, "%14.6g");
        print_number(l->measured, "%14.6g");
        print_number(isinf(l->measured) ? NAN : l->difference, "%14.1e");
        printf("\n");
    }
    if (theory)
        printf("largest difference at %d pairs (a, b): %.1e\n", BG_STABILITY_PAIRS, view->worst);
}

static bg_status check_agreement(const bg_stability_view *views, int n, bg_error *err)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < BG_STABILITY_PAIRS; i++) {
            const bg_stability_limit *l = &views[k].limits[i];
            if (l->difference > agreement)
                return bg_error_set(err, BG_NOT_CONVERGED,
                                    "%s at a = %g, b = %g is stable up to h = %g s, but its closed "
                                    "form says %g s",
                                    views[k].name, l->a, l->b, l->measured, l->expected);
        }
    return BG_OK;
}

static bg_status make_views(const stability_arguments *args, bg_stability_view *views, int *n,
                            bg_error *err)
{
    static const bg_setting jacobians[] = {{"jacobian", "J1"},
                                           {"jacobian", "J2"},
                                           {"jacobian", "J3"},
                                           {"jacobian", "exact"},
                                           {"jacobian", "semi"}};
    bool one = args->integrator || args->settings.count > 0;
    const char *name = args->integrator ? args->integrator : "linear-euler";
    bg_status st = BG_OK;
    *n = one ? 1 : BG_STABILITY_MAX;
    if (one) {
        views[0].method = (bg_stability_method){name, args->settings.items, args->settings.count};
        snprintf(views[0].name, sizeof views[0].name, "%s", name);
        for (int i = 0; i < args->settings.count; i++)
            if (strcmp(args->settings.items[i].name, "jacobian") == 0)
                snprintf(views[0].name, sizeof views[0].name, "%s %s", name,
                         args->settings.items[i].value);
    }
    for (int k = 0; k < *n && !one; k++) {
        views[k].method = k == 0 ? (bg_stability_method){"euler", NULL, 0}
                                 : (bg_stability_method){"linear-euler", &jacobians[k - 1], 1};
        snprintf(views[k].name, sizeof views[k].name, "%s",
                 k == 0 ? "explicit" : jacobians[k - 1].value);
    }
    for (int k = 0; k < *n && st == BG_OK; k++)
        st = measure(&views[k], err);
    return st;
}

static bg_status write_output(const char *path, bg_stability_view *views, int n, bg_error *err)
{
    const char *dot = strrchr(path, '.');
    bg_status st = BG_OK;
    for (int k = 0; k < n && st == BG_OK; k++)
        st = bg_stability_trace(&views[k], err);
    if (st != BG_OK)
        return st;
    return strcmp(dot, ".html") == 0 ? bg_stability_write_page(views, n, path, err)
                                     : bg_stability_draw(views, n, path, err);
}

static bg_status check_arguments(stability_arguments *args, bg_error *err)
{
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    int parameters = bg_cli_settings_split(&args->settings, "integrator.");
    if (parameters > 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "--set %s: bogie stability has no model; it takes options of the "
                            "method, such as integrator.jacobian=J1",
                            args->settings.items[0].name);
    if (!args->output)
        return BG_OK;
    bool page = dot && strcmp(dot, ".html") == 0;
    if (!page && (!dot || strcmp(dot, ".svg") != 0))
        return bg_error_set(err, BG_BAD_INPUT,
                            "the picture '%s' must be named FILE.svg or FILE.html", args->output);
    if (page && !bg_template_get())
        return bg_error_set(err, BG_MISSING,
                            "this bogie was built without the viewer, so it writes no pages; name "
                            "the picture FILE.svg");
    return bg_place_check(args->output, page ? BG_PLACE_PAGE : BG_PLACE_SVG, err);
}

static bg_status show_pair(const stability_arguments *args, bg_error *err)
{
    const bg_stability_method method = {args->integrator, args->settings.items,
                                        args->settings.count};
    const char *dot = args->output ? strrchr(args->output, '.') : NULL;
    if (dot && strcmp(dot, ".svg") != 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the regions of a pair are drawn as FILE.svg; '%s' is none",
                            args->output);
    return bg_stability_show_pair(&method, args->output, err);
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    stability_arguments args = {0};
    bg_stability_view views[BG_STABILITY_MAX] = {0};
    const char *none;
    int n = 0;
    bg_error err = {0};
    bg_status st = bg_cli_parse(verb, argc, argv, &args, &none, &err);
    if (st == BG_OK)
        st = check_arguments(&args, &err);
    const bool pair = st == BG_OK && args.integrator && bg_stability_has_pair(args.integrator);
    if (pair)
        st = show_pair(&args, &err);
    else if (st == BG_OK)
        st = make_views(&args, views, &n, &err);
    if (st == BG_OK && !pair) {
        printf("Largest stable step on q'' = -a q - b q', by bisection with the implemented steps\n"
               "%10s%10s%14s%14s%14s\n",
               "a [1/s^2]", "b [1/s]", "closed form", "measured [s]", "difference");
        for (int k = 0; k < n; k++)
            print_view(&views[k]);
        st = check_agreement(views, n, &err);
    }
    if (st == BG_OK && args.output && !pair)
        st = write_output(args.output, views, n, &err);
    for (int k = 0; k < n; k++)
        bg_stability_view_clear(&views[k]);
    bg_cli_settings_clear(&args.settings);
    return st == BG_OK ? BG_EXIT_DONE : bg_error_print(&err);
}

const bg_verb bg_verb_stability = {
    .name = "stability",
    .summary = "regions and limits of stability of the implemented steps",
    .description = "Measures the largest stable step of methods on q'' = -a q - b q' by bisection "
                   "with steps of the implementation and compares it with the closed form; exit "
                   "code 1 where they differ by more than 1 %. The picture has the regions of "
                   "stability in the plane of h^2 a and h b and in that of h times the "
                   "eigenvalues; of prk and its pairs, those of both tableaus.",
    .examples = "bogie stability -o stability.svg\n"
                "bogie stability --integrator rk4",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

/* What a user may say of a method: numbers that hold for all of them, and options of its own. */
#include "integrators/options.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

bg_integrator_options bg_default_integrator_options(void)
{
    return (bg_integrator_options){.rtol = 1e-6, .atol = 1e-6, .energy = 1};
}

/* No two lengths of steps may contradict each other; 0: not given. */
static bg_status check_pairs(const bg_integrator_options *o, bg_error *err)
{
    const struct {
        const char *small, *large;
        double least, most;
    } pairs[] = {{"h_min", "h_max", o->h_min, o->h_max},
                 {"h_min", "h_initial", o->h_min, o->h_initial},
                 {"h_initial", "h_max", o->h_initial, o->h_max},
                 {"h_min", "the fixed step", o->h_min, o->step},
                 {"the fixed step", "h_max", o->step, o->h_max}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].most > 0 && pairs[i].least > pairs[i].most)
            return bg_error_set(err, BG_BAD_INPUT,
                                "%s = %g s is larger than %s = %g s; change or leave out one of "
                                "them",
                                pairs[i].small, pairs[i].least, pairs[i].large, pairs[i].most);
    if (o->step > 0 && o->h_initial > 0 && o->h_initial != o->step)
        return bg_error_set(err, BG_BAD_INPUT,
                            "the first step h_initial = %g s is not the fixed step = %g s; leave "
                            "out one of them",
                            o->h_initial, o->step);
    return BG_OK;
}

static bg_status check_numbers(const bg_integrator_options *o, bg_error *err)
{
    const struct {
        const char *name;
        double value;
        bool positive;
    } numbers[] = {{"rtol", o->rtol, true},    {"atol", o->atol, true},
                   {"step", o->step, false},   {"h_initial", o->h_initial, false},
                   {"h_min", o->h_min, false}, {"h_max", o->h_max, false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double x = numbers[i].value;
        if (!isfinite(x) || x < 0 || (numbers[i].positive && x == 0))
            return bg_error_set(err, BG_BAD_INPUT, "%s = %g is not usable; give a number %s 0",
                                numbers[i].name, x,
                                numbers[i].positive ? "greater than" : "of at least");
    }
    return check_pairs(o, err);
}

/* A choice FILE.json is any name of a file that ends so. */
static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    const char *dot = strrchr(value, '.');
    if (strstr(choices, "FILE.json") && dot && strcmp(dot, ".json") == 0)
        return true;
    for (const char *c = choices; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (strncmp(c, value, length) == 0 && (c[length] == '|' || c[length] == '\0'))
            return true;
    return false;
}

static bg_status check_settings(const bg_integrator_class *class_, const bg_integrator_options *o,
                                bg_error *err)
{
    const char *names[64];
    int n = class_->info.noptions;
    for (int i = 0; i < n; i++)
        names[i] = class_->info.options[i].name;
    for (int k = 0; k < o->nsettings; k++) {
        const bg_setting *s = &o->settings[k];
        int i = 0;
        while (i < n && strcmp(names[i], s->name) != 0)
            i++;
        if (i == n) {
            int nearest = bg_text_find_nearest(s->name, names, n);
            return bg_error_set(err, BG_BAD_INPUT, "integrator %s has no option '%s'; %s%s%s",
                                class_->info.name, s->name, nearest >= 0 ? "did you mean '" : "",
                                nearest >= 0 ? names[nearest] : "`bogie list` shows those it has",
                                nearest >= 0 ? "'?" : "");
        }
        const char *choices = class_->info.options[i].choices;
        double number;
        bool automatic = strcmp(class_->info.options[i].value, "auto") == 0 &&
                         strcmp(s->value, "auto") == 0;
        if (choices ? !is_choice(choices, s->value)
                    : !automatic && !bg_text_to_double(s->value, &number))
            return bg_error_set(err, BG_BAD_INPUT,
                                "option '%s' of integrator %s cannot be '%s'; it takes %s", s->name,
                                class_->info.name, s->value, choices ? choices : "a number");
    }
    return BG_OK;
}

const char *bg_option_get(const bg_integrator *ig, const char *name)
{
    for (int k = ig->options.nsettings - 1; k >= 0; k--)
        if (strcmp(ig->options.settings[k].name, name) == 0)
            return ig->options.settings[k].value;
    const bg_integrator_info *info = &ig->class_->info;
    for (int i = 0; i < info->noptions; i++)
        if (strcmp(info->options[i].name, name) == 0)
            return info->options[i].value;
    return "";
}

bg_status bg_options_check(const bg_integrator_class *class_, const bg_integrator_options *o,
                           bg_error *err)
{
    bg_status st = check_numbers(o, err);
    if (st == BG_OK)
        st = check_settings(class_, o, err);
    if (st == BG_OK && class_->info.fixed_steps && o->step == 0)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "integrator %s has fixed steps and no error control; give the step, for "
                          "example --step 1e-3",
                          class_->info.name);
    return st;
}

int bg_option_get_choice(const bg_integrator *ig, const char *name)
{
    const char *value = bg_option_get(ig, name);
    const bg_integrator_info *info = &ig->class_->info;
    int i = 0, k = 0;
    while (i < info->noptions && strcmp(info->options[i].name, name) != 0)
        i++;
    const char *c = i < info->noptions ? info->options[i].choices : NULL;
    for (size_t length = strlen(value); c; k++) {
        if (strncmp(c, value, length) == 0 && (c[length] == '|' || c[length] == '\0'))
            return k;
        c = strchr(c, '|');
        c += c != NULL;
    }
    return 0;
}

double bg_option_get_number(const bg_integrator *ig, const char *name, double automatic)
{
    double x;
    return bg_text_to_double(bg_option_get(ig, name), &x) ? x : automatic;
}

bg_status bg_option_check_least(const bg_integrator *ig, const char *name, double value,
                                double least, bg_error *err)
{
    if (value >= least)
        return BG_OK;
    return bg_error_set(err, BG_BAD_INPUT,
                        "option '%s' of integrator %s is %g; it must be at least %g", name,
                        ig->class_->info.name, value, least);
}

bg_status bg_option_read_count(const bg_integrator *ig, const char *name, int most, int *count,
                               bg_error *err)
{
    double x = bg_option_get_number(ig, name, 0);
    if (!(x >= 1 && x <= most && x == floor(x)))
        return bg_error_set(err, BG_BAD_INPUT,
                            "option '%s' of integrator %s is %g; it must be a whole number from 1 "
                            "to %d",
                            name, ig->class_->info.name, x, most);
    *count = (int)x;
    return BG_OK;
}

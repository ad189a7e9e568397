/* Settings and variants: lists, grids and random draws. */
#include "base/memory.h"
#include "base/text.h"
#include "study/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_METHODS = 64, MAX_CASES = 100000000 };

static const char *const positive_keys[] = {
    "rtol",      "atol",  "tol",   "tol_factor",      "step",
    "h_initial", "h_min", "h_max", "output_interval", NULL};
static const char *const other_keys[] = {"t_start",    "t_end",       "max_steps", "model",
                                         "integrator", "formulation", NULL};

static bool is_one_of(const char *key, const char *const *keys)
{
    for (int i = 0; keys[i]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool has_prefix(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 && key[n] != '\0';
}

bool bg_setting_is_known(const char *key)
{
    return is_one_of(key, positive_keys) || is_one_of(key, other_keys) || has_prefix(key, "set.") ||
           has_prefix(key, "integrator.");
}

static void fail_key(const bg_value *v, const char *key)
{
    static const char *const keys[] = {
        "model",      "integrator", "formulation", "rtol",  "atol",     "tol",
        "tol_factor", "step",       "h_initial",   "h_min", "h_max",    "output_interval",
        "t_start",    "t_end",      "max_steps",   "name",  "reference"};
    int n = sizeof keys / sizeof *keys, near = bg_text_find_nearest(key, keys, n);
    if (near >= 0)
        bg_value_fail(v, "is not a known setting; did you mean '%s'?", keys[near]);
    else
        bg_value_fail(v,
                      "is not a known setting; parameters of the model are written 'set.%s', "
                      "options of the method 'integrator.NAME'",
                      key);
}

static void check_integrator(const bg_value *v)
{
    const char *names[MAX_METHODS];
    int n = 0;
    if (!bg_value_expect_text(v))
        return;
    for (; n < MAX_METHODS && bg_integrator_get_info(n); n++) {
        names[n] = bg_integrator_get_info(n)->name;
        if (strcmp(names[n], json_string_value(v->json)) == 0)
            return;
    }
    bg_value_fail_unknown(v, "integrator", json_string_value(v->json), names, n);
}

/* Some method must have the option. */
static void check_option(const bg_value *v, const char *option)
{
    const char *names[256];
    int n = 0;
    const bg_integrator_info *info;
    for (int i = 0; (info = bg_integrator_get_info(i)); i++)
        for (int k = 0; k < info->noptions && n < 256; k++) {
            if (strcmp(info->options[k].name, option) == 0)
                return;
            names[n++] = info->options[k].name;
        }
    bg_value_fail_unknown(v, "option of an integrator", option, names, n);
}

/* A value for key. Returns the number that an expression stands for, else NULL. */
static json_t *check_value(const bg_value *v, const char *key)
{
    static const char *const formulations[] = {"joint", "cartesian"};
    if (!bg_setting_is_known(key))
        fail_key(v, key);
    else if (has_prefix(key, "integrator."))
        check_option(v, key + strlen("integrator."));
    if (json_is_null(v->json) || v->reader->status != BG_OK)
        return NULL;
    if (is_one_of(key, positive_keys) || has_prefix(key, "t_") || strcmp(key, "max_steps") == 0) {
        double x = bg_value_get_number(v);
        bool every_step = x == 0 && strcmp(key, "output_interval") == 0;
        if (v->reader->status == BG_OK && !has_prefix(key, "t_") && !(x > 0) && !every_step)
            bg_value_fail(v, "must be positive, but is %g", x);
        if (v->reader->status == BG_OK && strcmp(key, "max_steps") == 0 && x != floor(x))
            bg_value_fail(v, "must be a whole number, but is %g", x);
        return json_is_string(v->json) ? json_real(x) : NULL;
    }
    if (strcmp(key, "integrator") == 0) {
        check_integrator(v);
    } else if (strcmp(key, "model") == 0) {
        bg_value_expect_text(v);
    } else if (strcmp(key, "formulation") == 0) {
        if (bg_value_expect_text(v) && strcmp(json_string_value(v->json), "joint") != 0 &&
            strcmp(json_string_value(v->json), "cartesian") != 0)
            bg_value_fail_unknown(v, "formulation", json_string_value(v->json), formulations, 2);
    }
    return NULL;
}

void bg_study_read_settings(const bg_value *v, bool variant)
{
    if (!bg_value_expect_object(v))
        return;
    bg_value member;
    for (void *i = NULL; bg_value_next(v, &i, &member);) {
        if (variant && (strcmp(member.key, "name") == 0 || strcmp(member.key, "reference") == 0)) {
            bg_value_expect_text(&member);
            continue;
        }
        json_t *number = check_value(&member, member.key);
        if (number)
            json_object_iter_set_new(v->json, i, number);
    }
}

static void read_list(const bg_value *v, bg_study *s)
{
    if (!bg_value_expect_list(v, -1))
        return;
    s->list = v->json;
    s->nlist = bg_value_get_size(v);
    if (s->nlist == 0)
        bg_value_fail(v, "is empty; a study needs at least one variant");
    for (int i = 0; i < s->nlist; i++) {
        bg_value entry = bg_value_element(v, i);
        bg_study_read_settings(&entry, true);
        const char *name = bg_value_text(&entry, "name");
        for (int k = 0; k < i && v->reader->status == BG_OK; k++) {
            bg_value other = bg_value_element(v, k);
            if (strcmp(bg_value_text(&other, "name"), name) == 0)
                bg_value_fail(&entry, "has the name '%s' of variant %d; names must differ", name,
                              k);
        }
    }
}

/* {"from", "to", "count"} in equal steps or, with "log", in equal ratios. */
static json_t *expand_range(const bg_value *v)
{
    static const char *const keys[] = {"from", "to", "count", "log", NULL};
    bg_value_expect(v, keys);
    double from = bg_value_number(v, "from"), to = bg_value_number(v, "to");
    double count = bg_value_positive(v, "count");
    bool log_scale = bg_value_bool_or(v, "log", false);
    if (v->reader->status != BG_OK)
        return NULL;
    if (count < 2 || count != floor(count) || count > 1e6)
        bg_value_fail(v, "count must be a whole number from 2 to 1e6, but is %g", count);
    else if (log_scale && !(from > 0 && to > 0))
        bg_value_fail(v, "from and to must be positive on a logarithmic scale");
    if (v->reader->status != BG_OK)
        return NULL;
    json_t *list = json_array();
    for (long i = 0; i < (long)count && v->reader->status == BG_OK; i++) {
        double x = (double)i / (count - 1);
        double y = log_scale ? from * pow(to / from, x) : from + (to - from) * x;
        json_array_append_new(list, json_real(i == (long)count - 1 ? to : y));
    }
    return list;
}

/* The names of all integrators. */
static json_t *list_integrators(void)
{
    json_t *list = json_array();
    for (int i = 0; bg_integrator_get_info(i); i++)
        json_array_append_new(list, json_string(bg_integrator_get_info(i)->name));
    return list;
}

/* What stands for the values of a grid key: a list, a range, or all integrators. */
static json_t *expand_values(const bg_value *v)
{
    const char *text = json_string_value(v->json);
    if (json_is_object(v->json))
        return expand_range(v);
    if (text && strcmp(text, "all") == 0 && strcmp(v->key, "integrator") == 0)
        return list_integrators();
    return json_incref(v->json);
}

static void read_grid(const bg_value *v, bg_study *s)
{
    bg_value member;
    if (!bg_value_expect_object(v))
        return;
    s->grid = json_object();
    for (void *i = NULL; bg_value_next(v, &i, &member);) {
        json_t *values = expand_values(&member);
        bg_value list = {
            .reader = member.reader, .json = values, .parent = member.parent, .key = member.key};
        bg_value_expect_list(&list, -1);
        int n = bg_value_get_size(&list);
        if (n == 0)
            bg_value_fail(&member, "has no values; a grid needs at least one for each key");
        for (int k = 0; k < n; k++) {
            bg_value element = bg_value_element(&list, k);
            json_t *number = check_value(&element, member.key);
            if (number)
                json_array_set_new(values, (size_t)k, number);
        }
        if (v->reader->status == BG_OK && s->ngrid > MAX_CASES / n)
            bg_value_fail(v, "has more than %d points", MAX_CASES);
        if (v->reader->status == BG_OK)
            s->ngrid *= n;
        if (json_object_set_new(s->grid, member.key, values))
            bg_reader_fail_memory(v->reader);
    }
}

static void read_draw(const bg_value *v, bg_draw *draw)
{
    static const char *const names[] = {"uniform", "normal", "lognormal", NULL};
    bg_value_expect(v, names);
    if (v->reader->status == BG_OK && bg_value_get_size(v) != 1)
        bg_value_fail(v, "must name one distribution: uniform, normal or lognormal");
    for (int d = 0; d < 3 && v->reader->status == BG_OK; d++) {
        bg_value member = bg_value_member(v, names[d]);
        if (!bg_value_exists(&member))
            continue;
        double *x = bg_value_numbers(v, names[d], 2, NULL);
        *draw = (bg_draw){v->key, (bg_distribution)d, x ? x[0] : 0, x ? x[1] : 0};
        free(x);
        if (v->reader->status == BG_OK && d == BG_UNIFORM && !(draw->a < draw->b))
            bg_value_fail(&member, "must be [lower, upper] with lower < upper");
        if (v->reader->status == BG_OK && d == BG_LOGNORMAL && !(draw->a > 0))
            bg_value_fail(&member, "must be [median, deviation of the logarithm], median > 0");
        if (v->reader->status == BG_OK && d != BG_UNIFORM && !(draw->b >= 0))
            bg_value_fail(&member, "has a negative deviation");
    }
}

static void read_random(const bg_value *v, bg_study *s)
{
    static const char *const keys[] = {"count", "seed", "draws", NULL};
    bg_value_expect(v, keys);
    double count = bg_value_positive(v, "count"), seed = bg_value_number_or(v, "seed", 1);
    bg_value list = bg_value_member(v, "draws"), member;
    if (!bg_value_expect_object(&list))
        return;
    if (count != floor(count) || count > MAX_CASES)
        bg_value_fail(v, "count must be a whole number from 1 to %d, but is %g", MAX_CASES, count);
    if (seed != floor(seed) || seed < 0 || seed > 9e15)
        bg_value_fail(v, "seed must be a whole number from 0 on, but is %g", seed);
    if (bg_value_get_size(&list) == 0)
        bg_value_fail(&list, "is empty; name what is drawn");
    if (v->reader->status != BG_OK)
        return;
    s->seed = (uint64_t)seed;
    s->nrandom = (long)count;
    s->draws = bg_reader_allocate(v->reader, (size_t)bg_value_get_size(&list), sizeof *s->draws);
    for (void *i = NULL; s->draws && bg_value_next(&list, &i, &member);) {
        json_t *number = json_real(1);
        bg_value one = {
            .reader = v->reader, .json = number, .parent = member.parent, .key = member.key};
        check_value(&one, member.key);
        json_decref(number);
        read_draw(&member, &s->draws[s->ndraws++]);
    }
}

void bg_study_read_variants(const bg_value *top, bg_study *s)
{
    static const char *const keys[] = {"list", "grid", "random", NULL};
    bg_value v = bg_value_member(top, "variants");
    s->nlist = s->ngrid = s->nrandom = 1;
    s->ncases = 1;
    if (!bg_value_exists(&v))
        return;
    if (json_is_array(v.json)) {
        read_list(&v, s);
    } else {
        bg_value_expect(&v, keys);
        bg_value list = bg_value_member(&v, "list"), grid = bg_value_member(&v, "grid");
        bg_value random = bg_value_member(&v, "random");
        if (bg_value_exists(&list))
            read_list(&list, s);
        if (bg_value_exists(&grid))
            read_grid(&grid, s);
        if (bg_value_exists(&random))
            read_random(&random, s);
    }
    double n = (double)s->nlist * (double)s->ngrid * (double)s->nrandom;
    if (n > MAX_CASES)
        bg_value_fail(&v, "makes %.0f cases; at most %d are possible", n, MAX_CASES);
    if (top->reader->status == BG_OK)
        s->ncases = s->nlist * s->ngrid * s->nrandom;
}

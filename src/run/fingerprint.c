#include "run/fingerprint.h"

#include "model/model.h"

#include <jansson.h>
#include <string.h>

uint64_t bg_fingerprint_add(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    return h;
}

static uint64_t add_text(uint64_t h, const char *text)
{
    return bg_fingerprint_add(h, text, strlen(text) + 1);
}

static uint64_t add_json(uint64_t h, json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    const double number = json_number_value(json);
    const json_type type = json_is_number(json) ? JSON_REAL : json_typeof(json);
    h = bg_fingerprint_add(h, &type, sizeof type);
    json_array_foreach(json, i, value)
    {
        h = add_json(h, value);
    }
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "comment") != 0)
            h = add_json(add_text(h, key), value);
    }
    if (type == JSON_STRING)
        h = add_text(h, json_string_value(json));
    return type == JSON_REAL ? bg_fingerprint_add(h, &number, sizeof number) : h;
}

uint64_t bg_fingerprint_calc_model(const bg_model *model)
{
    uint64_t h = BG_FINGERPRINT_START;
    const char *key;
    json_t *value;
    json_object_foreach(model->source, key, value)
    {
        if (strcmp(key, "run") != 0 && strcmp(key, "comment") != 0 && strcmp(key, "$schema") != 0)
            h = add_json(add_text(h, key), value);
    }
    return h;
}

uint64_t bg_fingerprint_calc(bg_runner *r)
{
    const bg_state *x = bg_integrator_get_state(r->ig);
    bg_dynamics *d = r->ig->dyn;
    uint64_t h = BG_FINGERPRINT_START;
    const bg_purpose before = bg_system_turn_to(r->sys, BG_ASIDE);
    if (d->by_formalism) {
        bg_point p;
        if (bg_system_set_point(r->sys, x->t, x->q, x->v, x->z, x->mode, &p, NULL) == BG_OK &&
            bg_system_calc_acceleration(r->sys, &p, NULL, d->work_v, NULL) == BG_OK)
            h = bg_fingerprint_add(h, d->work_v, (size_t)d->nv * sizeof(double));
        bg_system_turn_to(r->sys, before);
        return h;
    }
    unsigned want = BG_TERM_M | BG_TERM_f | (d->ng > 0 ? BG_TERM_g : 0u) |
                    (d->nz > 0 ? BG_TERM_h : 0u) | (r->at.detector ? BG_TERM_s : 0u);
    bg_dynamics_set_guess(d, x->lambda);
    if (bg_dynamics_evaluate(d, x->t, x->q, x->v, x->z, x->mode, want, NULL) == BG_OK) {
        h = bg_fingerprint_add(h, d->terms.M,
                               (size_t)bg_system_get_size_M(r->sys->system) * sizeof(double));
        h = bg_fingerprint_add(h, d->terms.f, (size_t)d->nv * sizeof(double));
        h = bg_fingerprint_add(h, d->terms.g, (size_t)d->ng * sizeof(double));
        h = bg_fingerprint_add(h, d->terms.h, (size_t)d->nz * sizeof(double));
        h = bg_fingerprint_add(h, d->terms.s, (size_t)r->sys->def.ns * sizeof(double));
    }
    bg_system_turn_to(r->sys, before);
    return h;
}

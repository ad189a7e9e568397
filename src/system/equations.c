/* Families of systems: the built-in ones by name, a user's own from a shared object. */
#include "base/memory.h"
#include "base/text.h"
#include "bogie/system.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char prefix[] = "equations:";

static bg_status unknown_family(const char *name, bg_error *err)
{
    const bg_equations *const *all = bg_equations_get_all();
    const char *names[64];
    int n = 0;
    for (; all[n] && n < 64; n++)
        names[n] = all[n]->name;
    int nearest = bg_text_find_nearest(name, names, n);
    if (nearest >= 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "there is no system 'equations:%s'; did you mean 'equations:%s'?", name,
                            names[nearest]);
    return bg_error_set(err, BG_BAD_INPUT,
                        "there is no system 'equations:%s'; `bogie list` shows those there are",
                        name);
}

static bg_status open_plugin(const char *path, const bg_equations **family, void **handle,
                             bg_error *err)
{
    if (access(path, R_OK) != 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "cannot read the plug-in '%s'; check the path and its permissions",
                            path);
    /* dlopen searches the system's folders for a bare file name: say that it is a path */
    size_t size = strlen(path) + 3;
    char *where = bg_calloc(size, 1);
    if (!where)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while opening '%s'", path);
    snprintf(where, size, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(where, RTLD_NOW | RTLD_LOCAL);
    free(where);
    if (!library)
        return bg_error_set(err, BG_BAD_INPUT, "the plug-in '%s' cannot be loaded: %s", path,
                            dlerror());
    bg_plugin_entry *entry;
    *(void **)&entry = dlsym(library, BG_PLUGIN_ENTRY);
    const bg_equations *found = entry ? entry() : NULL;
    bg_status st = BG_OK;
    if (!entry)
        st = bg_error_set(err, BG_BAD_INPUT,
                          "the plug-in '%s' has no function %s; export one that returns its "
                          "bg_equations (docs/writing-a-system.md)",
                          path, BG_PLUGIN_ENTRY);
    else if (!found || !found->define || !found->name || found->nparameters < 0 ||
             (found->nparameters > 0 && !found->parameters))
        st = bg_error_set(
            err, BG_BAD_INPUT,
            "the plug-in '%s' returns no usable bg_equations; set at least abi, name, "
            "define, and parameters where there are any",
            path);
    else if (found->abi != BG_ABI)
        st = bg_error_set(
            err, BG_BAD_INPUT,
            "the plug-in '%s' was compiled for interface version %d, this library has "
            "%d; compile it again with the present headers",
            path, found->abi, BG_ABI);
    if (st != BG_OK) {
        dlclose(library);
        return st;
    }
    *family = found;
    *handle = library;
    return BG_OK;
}

bg_status bg_equations_open(const char *reference, const bg_equations **family, void **handle,
                            bg_error *err)
{
    *family = NULL;
    *handle = NULL;
    if (strncmp(reference, prefix, strlen(prefix)) == 0) {
        const char *name = reference + strlen(prefix);
        const bg_equations *const *all = bg_equations_get_all();
        for (int i = 0; all[i]; i++)
            if (strcmp(all[i]->name, name) == 0) {
                *family = all[i];
                return BG_OK;
            }
        return unknown_family(name, err);
    }
    size_t length = strlen(reference);
    if (length > 3 && strcmp(reference + length - 3, ".so") == 0)
        return open_plugin(reference, family, handle, err);
    return bg_error_set(
        err, BG_BAD_INPUT,
        "'%s' is none of equations:NAME, FILE.so and FILE.json; `bogie list` shows the "
        "built-in systems",
        reference);
}

void bg_equations_close(void *handle)
{
    if (handle)
        dlclose(handle);
}

static bg_status apply_setting(const bg_equations *family, const bg_setting *setting,
                               double *values, bg_error *err)
{
    const char *names[64];
    int n = family->nparameters < 64 ? family->nparameters : 64;
    for (int i = 0; i < n; i++) {
        names[i] = family->parameters[i].name;
        if (strcmp(names[i], setting->name) != 0)
            continue;
        if (!bg_text_to_double(setting->value, &values[i]))
            return bg_error_set(err, BG_BAD_INPUT,
                                "parameter '%s' of %s: '%s' is not a finite number", setting->name,
                                family->name, setting->value);
        return BG_OK;
    }
    int nearest = bg_text_find_nearest(setting->name, names, n);
    if (nearest >= 0)
        return bg_error_set(err, BG_BAD_INPUT, "%s has no parameter '%s'; did you mean '%s'?",
                            family->name, setting->name, names[nearest]);
    char list[512] = "none";
    size_t used = 0;
    for (int i = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return bg_error_set(err, BG_BAD_INPUT, "%s has no parameter '%s'; its parameters are: %s",
                        family->name, setting->name, list);
}

bg_status bg_equations_create(const bg_equations *family, const bg_setting *settings, int nsettings,
                              bg_system **system, bg_error *err)
{
    *system = NULL;
    double *values = BG_NEW_ARRAY(double, family->nparameters);
    if (!values)
        return bg_error_set(err, BG_NO_MEMORY, "out of memory while creating %s", family->name);
    for (int i = 0; i < family->nparameters; i++)
        values[i] = family->parameters[i].value;
    bg_status st = BG_OK;
    for (int i = 0; i < nsettings && st == BG_OK; i++)
        st = apply_setting(family, &settings[i], values, err);
    bg_system_def def = bg_default_system_def();
    def.name = family->name;
    if (st == BG_OK) {
        bg_error said = {BG_OK, ""};
        st = family->define(values, &def, &said);
        if (st != BG_OK)
            bg_error_set(err, st < 0 ? st : BG_BAD_INPUT, "%s",
                         said.text[0] ? said.text : "the system's definition failed");
        else
            st = bg_system_create(&def, system, err);
    }
    free(values);
    return st;
}

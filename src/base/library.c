#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* What the linker would have taken: a program that uses the library itself may have its variables
 * moved into its own memory, and comes first. */
static void *find_symbol(void *handle, const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : dlsym(handle, name);
}

static bg_status load(bg_library *lib, bg_error *err)
{
    char why[256];
    void *handle = dlopen(lib->name, RTLD_NOW | RTLD_NODELETE);
    snprintf(why, sizeof why, "%.255s", handle ? "" : dlerror());
    if (!handle)
        handle = dlopen(lib->path, RTLD_NOW | RTLD_NODELETE);
    if (!handle)
        return bg_error_set(err, BG_MISSING,
                            "the library for %s could not be loaded: %s; install it", lib->purpose,
                            why);
    for (int i = 0; i < lib->count; i++) {
        void *found = find_symbol(handle, lib->symbols[i]);
        if (!found)
            return bg_error_set(err, BG_MISSING,
                                "the library for %s, %s, has no %s; install the version that "
                                "Bogie was built with",
                                lib->purpose, lib->name, lib->symbols[i]);
        memcpy((char *)lib->table + (size_t)i * sizeof found, &found, sizeof found);
    }
    lib->loaded = true;
    return BG_OK;
}

bg_status bg_library_load(bg_library *lib, bg_error *err)
{
    pthread_mutex_lock(&lib->mutex);
    bg_status st = lib->loaded ? BG_OK : load(lib, err);
    pthread_mutex_unlock(&lib->mutex);
    return st;
}

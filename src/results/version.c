/* What works in this process: the version of Bogie, its commit, and its libraries. */
#include "bogie/version.h"

#include "base/commit.h"
#include "linalg/lapack.h"
#include "results/library.h"

#include <amd.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

const char *bg_version_get(void)
{
    return BG_VERSION;
}

static void print_hdf5(FILE *out)
{
    unsigned major, minor, release;
    bg_error err;
    if (bg_hdf5_load(&err) != BG_OK)
        fprintf(out, "HDF5 not there: %s\n", err.text);
    else if (bg_hdf5_get()->H5get_libversion(&major, &minor, &release) >= 0)
        fprintf(out, "HDF5 %u.%u.%u\n", major, minor, release);
}

static void print_lapack(FILE *out)
{
    const bg_lapack *lapack;
    bg_error err;
    if (bg_lapack_load(&lapack, &err) != BG_OK)
        fprintf(out, "OpenBLAS not there: %s\n", err.text);
    else
        fprintf(out, "%s\n", lapack->openblas_get_config());
}

char *bg_version_create_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "bogie %s\n", BG_VERSION);
    fprintf(out, *bg_commit_get() ? "commit %s\n" : "commit not known%s\n", bg_commit_get());
    fprintf(out, "jansson %s\n", jansson_version_str());
    fprintf(out, "AMD %d.%d.%d\n", AMD_MAIN_VERSION, AMD_SUB_VERSION, AMD_SUBSUB_VERSION);
    print_hdf5(out);
    print_lapack(out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

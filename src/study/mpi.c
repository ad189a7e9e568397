/* Studies under mpirun. The part that speaks MPI is a module beside the program (mpi/), loaded only
 * when the environment says that this process is one rank of several: a program that runs alone
 * never sees MPI. */
#include "study/crew.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenMPI, and MPICH and its relatives. */
bool bg_mpi_is_asked(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size)
        size = getenv("PMI_SIZE");
    return size && atoi(size) > 1;
}

bool bg_mpi_is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return !rank || atoi(rank) == 0;
}

/* The module in a folder relative to that of the program. */
static void *open_module(const char *folder)
{
    char path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 64, "%.40s%s", folder, "bogie-mpi.so");
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

bg_status bg_mpi_create(const bg_study *study, bg_crew **crew, bg_error *err)
{
    void *module = open_module("");
    if (!module)
        module = open_module(BOGIE_MODULES);
    bg_mpi_entry *entry = NULL;
    if (module)
        *(void **)&entry = dlsym(module, BG_MPI_ENTRY);
    if (!entry)
        return bg_error_set(err, BG_BAD_INPUT,
                            "this Bogie was built without MPI, so it cannot share a study among "
                            "the ranks of mpirun (%s); build it where OpenMPI is installed, or use "
                            "--shard I/N",
                            dlerror());
    return entry(study, bg_pool_create, crew, err);
}

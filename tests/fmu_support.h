/* An importer of FMUs, of either version: unpacks, loads, and drives instances. */
#ifndef FMU_SUPPORT_H
#define FMU_SUPPORT_H

#include "run_support.h"

#include "fmi/package.h"
#include "fmi/skin/fmi2.h"
#include "fmi/skin/fmi3.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#define FMI2_LIST(X)                                                                              \
    X(Instantiate)                                                                                \
    X(FreeInstance) X(SetupExperiment) X(EnterInitializationMode) X(ExitInitializationMode)       \
        X(Terminate) X(Reset) X(GetReal) X(SetReal) X(GetInteger) X(GetFMUstate) X(SetFMUstate)   \
            X(FreeFMUstate) X(SerializedFMUstateSize) X(SerializeFMUstate) X(DeSerializeFMUstate) \
                X(GetDirectionalDerivative) X(SetRealInputDerivatives) X(DoStep) X(GetRealStatus) \
                    X(GetBooleanStatus) X(SetTime) X(GetRealOutputDerivatives) X(SetDebugLogging) \
                        X(GetVersion)
#define FMI3_LIST(X)                                                                           \
    X(InstantiateCoSimulation)                                                                 \
    X(FreeInstance) X(EnterInitializationMode) X(ExitInitializationMode) X(Terminate) X(Reset) \
        X(GetFloat64) X(SetFloat64) X(GetInt32) X(GetFMUState) X(SetFMUState) X(FreeFMUState)  \
            X(SerializedFMUStateSize) X(SerializeFMUState) X(DeserializeFMUState)              \
                X(GetDirectionalDerivative) X(DoStep) X(EnterEventMode)                        \
                    X(InstantiateModelExchange) X(SetDebugLogging) X(GetVersion)

typedef struct fmu {
    int version;
    char folder[256], resources[300], token[64], identifier[64];
    char *xml;
    void *handle;
    struct {
#define X(name) __typeof__(fmi2##name) *name;
        FMI2_LIST(X)
#undef X
    } v2;
    struct {
#define X(name) __typeof__(fmi3##name) *name;
        FMI3_LIST(X)
#undef X
    } v3;
} fmu;

typedef struct instance {
    const fmu *f;
    void *c;
    char log[8192];
    int errors, warnings;
    int status; /* of the last call */
    double last;
    bool ended;
} instance;

static inline void keep(instance *x, int status, const char *category, const char *text)
{
    size_t used = strlen(x->log);
    x->errors += status >= fmi2Error;
    x->warnings += status == fmi2Warning;
    snprintf(x->log + used, sizeof x->log - used, "%s: %s\n", category, text);
}

static inline void tell2(void *self, const char *name, fmi2Status status, const char *category,
                         const char *message, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    assert_non_null(name);
    keep(self, (int)status, category, text);
}

static inline void tell3(void *self, fmi3Status status, const char *category, const char *message)
{
    keep(self, (int)status, category, message);
}

/* Where `before` ends in the description; fails the test where it is not there. */
static inline const char *find_after(const fmu *f, const char *before)
{
    const char *at = strstr(f->xml, before);
    if (!at)
        fail_msg("the description has no '%s'", before);
    return at + strlen(before);
}

static inline void copy_until_quote(const char *from, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)strcspn(from, "\""), from);
}

static inline unsigned find_reference(const fmu *f, const char *name)
{
    char before[128];
    snprintf(before, sizeof before, "name=\"%s\" valueReference=\"", name);
    return (unsigned)strtoul(find_after(f, before), NULL, 10);
}

static inline double find_start(const fmu *f, const char *name)
{
    char before[128];
    snprintf(before, sizeof before, "name=\"%s\" valueReference=\"", name);
    const char *at = find_after(f, before);
    const char *start = strstr(at, "start=\""), *line = strchr(at, '\n');
    assert_true(start && start < line);
    return strtod(start + 7, NULL);
}

static inline char *read_whole(const char *path)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    long n = ftell(in);
    rewind(in);
    char *text = calloc((size_t)n + 1, 1);
    assert_int_equal(fread(text, 1, (size_t)n, in), n);
    fclose(in);
    return text;
}

/* Unpacks the file into an empty folder. */
static inline void unpack(const char *file, const char *folder)
{
    char command[1024];
    snprintf(command, sizeof command,
             "rm -rf '%s' && mkdir -p '%s' && cd '%s' && '" BOGIE_CMAKE "' -E tar xf '%s'", folder,
             folder, folder, file);
    assert_int_equal(system(command), 0);
}

static inline void load_fmu(const char *folder, int version, fmu *f)
{
    char path[600];
    *f = (fmu){.version = version};
    snprintf(f->folder, sizeof f->folder, "%s", folder);
    snprintf(f->resources, sizeof f->resources, "%s/resources/", folder);
    snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
    f->xml = read_whole(path);
    copy_until_quote(find_after(f, version == 2 ? "guid=\"" : "instantiationToken=\""), f->token,
                     sizeof f->token);
    copy_until_quote(find_after(f, "modelIdentifier=\""), f->identifier, sizeof f->identifier);
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", folder,
             version == 2 ? "linux64" : BOGIE_MACHINE "-linux", f->identifier);
    f->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!f->handle)
        fail_msg("%s", dlerror());
#define X(name)                                             \
    *(void **)&f->v2.name = dlsym(f->handle, "fmi2" #name); \
    assert_true(version == 3 || f->v2.name);
    FMI2_LIST(X)
#undef X
#define X(name)                                             \
    *(void **)&f->v3.name = dlsym(f->handle, "fmi3" #name); \
    assert_true(version == 2 || f->v3.name);
    FMI3_LIST(X)
#undef X
}

static inline void unload_fmu(fmu *f)
{
    dlclose(f->handle);
    free(f->xml);
}

/* The FMU of a problem, unpacked in a folder of this process. inputs NULL: those that wait. */
static inline void make_fmu(const bg_problem *problem, int version, const char *input,
                            const char *name, fmu *f)
{
    bg_error err = {0};
    bg_fmi_summary made;
    char folder[128], file[160], *inputs[1] = {(char *)input};
    snprintf(folder, sizeof folder, "/tmp/bogie-test-fmu.%d/%s%d", (int)getpid(), name, version);
    snprintf(file, sizeof file, "%s.fmu", folder);
    bg_fmi_package package = {.version = version,
                              .inputs = input ? inputs : NULL,
                              .ninputs = input ? 1 : 0,
                              .object = version == 2 ? BOGIE_FMI2 : BOGIE_FMI3};
    mkdir("/tmp", 0777);
    char parent[64];
    snprintf(parent, sizeof parent, "/tmp/bogie-test-fmu.%d", (int)getpid());
    mkdir(parent, 0777);
    assert_ok(bg_fmi_package_write(file, problem, &package, &made, &err));
    unpack(file, folder);
    load_fmu(folder, version, f);
}

static inline void *instantiate(instance *x, const fmu *f, const char *token, bool logging)
{
    char uri[400];
    *x = (instance){.f = f};
    if (f->version == 2) {
        const fmi2CallbackFunctions functions = {tell2, calloc, free, NULL, x};
        snprintf(uri, sizeof uri, "file://%s", f->resources);
        x->c = f->v2.Instantiate("it", fmi2CoSimulation, token, uri, &functions, 0, logging);
    } else {
        x->c = f->v3.InstantiateCoSimulation("it", token, f->resources, false, logging, false,
                                             false, NULL, 0, x, tell3, NULL);
    }
    return x->c;
}

static inline void open_instance(instance *x, const fmu *f)
{
    if (!instantiate(x, f, f->token, true))
        fail_msg("%s", x->log);
}

static inline void close_instance(instance *x)
{
    x->f->version == 2 ? x->f->v2.FreeInstance(x->c) : x->f->v3.FreeInstance(x->c);
}

/* The status is returned, and kept. */
static inline int enter(instance *x, double t_start, double t_stop)
{
    const fmu *f = x->f;
    if (f->version == 3)
        return x->status = (int)f->v3.EnterInitializationMode(x->c, false, 0, t_start,
                                                              !isnan(t_stop), t_stop);
    x->status = (int)f->v2.SetupExperiment(x->c, 0, 0, t_start, !isnan(t_stop), t_stop);
    if (x->status == fmi2OK)
        x->status = (int)f->v2.EnterInitializationMode(x->c);
    return x->status;
}

static inline int leave(instance *x)
{
    return x->status = x->f->version == 2 ? (int)x->f->v2.ExitInitializationMode(x->c)
                                          : (int)x->f->v3.ExitInitializationMode(x->c);
}

static inline int get(instance *x, const unsigned *references, size_t n, double *values)
{
    return x->status = x->f->version == 2
                           ? (int)x->f->v2.GetReal(x->c, references, n, values)
                           : (int)x->f->v3.GetFloat64(x->c, references, n, values, n);
}

static inline int set(instance *x, unsigned reference, double value)
{
    return x->status = x->f->version == 2
                           ? (int)x->f->v2.SetReal(x->c, &reference, 1, &value)
                           : (int)x->f->v3.SetFloat64(x->c, &reference, 1, &value, 1);
}

static inline int step(instance *x, double t, double h)
{
    bool events, ends, early;
    if (x->f->version == 3) {
        x->status = (int)x->f->v3.DoStep(x->c, t, h, true, &events, &ends, &early, &x->last);
        assert_false(events || early);
        x->ended = ends;
        return x->status;
    }
    x->status = (int)x->f->v2.DoStep(x->c, t, h, 1);
    int ended = 0;
    if (x->status != fmi2Error &&
        x->f->v2.GetRealStatus(x->c, fmi2LastSuccessfulTime, &x->last) == fmi2OK)
        x->f->v2.GetBooleanStatus(x->c, fmi2Terminated, &ended);
    x->ended = ended;
    return x->status;
}

static inline int save(instance *x, void **state)
{
    return x->status = x->f->version == 2 ? (int)x->f->v2.GetFMUstate(x->c, state)
                                          : (int)x->f->v3.GetFMUState(x->c, state);
}

static inline int restore(instance *x, void *state)
{
    return x->status = x->f->version == 2 ? (int)x->f->v2.SetFMUstate(x->c, state)
                                          : (int)x->f->v3.SetFMUState(x->c, state);
}

static inline void forget(instance *x, void **state)
{
    if (x->f->version == 2)
        assert_int_equal(x->f->v2.FreeFMUstate(x->c, state), fmi2OK);
    else
        assert_int_equal(x->f->v3.FreeFMUState(x->c, state), fmi3OK);
    assert_null(*state);
}

/* The bytes of a state, to be released. */
static inline char *serialise(instance *x, void *state, size_t *size)
{
    const fmu *f = x->f;
    assert_int_equal(f->version == 2 ? (int)f->v2.SerializedFMUstateSize(x->c, state, size)
                                     : (int)f->v3.SerializedFMUStateSize(x->c, state, size),
                     fmi2OK);
    char *bytes = malloc(*size);
    assert_int_equal(f->version == 2
                         ? (int)f->v2.SerializeFMUstate(x->c, state, bytes, *size)
                         : (int)f->v3.SerializeFMUState(x->c, state, (uint8_t *)bytes, *size),
                     fmi2OK);
    return bytes;
}

static inline int deserialise(instance *x, const char *bytes, size_t size, void **state)
{
    return x->status = x->f->version == 2
                           ? (int)x->f->v2.DeSerializeFMUstate(x->c, bytes, size, state)
                           : (int)x->f->v3.DeserializeFMUState(x->c, (const uint8_t *)bytes, size,
                                                               state);
}

#endif

/* Files of an FMU:
 *
 *   modelDescription.xml
 *   binaries/PLATFORM/IDENTIFIER.so      the object, the same in every FMU of a version of Bogie
 *   resources/setup.json, model.json     what it computes; tableau.json where a method has one
 *   documentation/...                    what it depends on, licences
 */
#include "fmi/package.h"

#include "base/file.h"
#include "base/output.h"
#include "fmi/describe.h"
#include "fmi/zip.h"
#include "run/fingerprint.h"
#include "run/problem.h"
#include "run/session.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char dependencies[] =
    "The object needs the C library of the system (glibc, with libm), and nothing else.\n"
    "\n"
    "Where OpenBLAS is installed (Debian: libopenblas0), it is loaded for dense matrices of more\n"
    "than 32 unknowns; without it they are factored by Bogie's own code, which takes longer.\n"
    "Only an FMU that starts in equilibrium, or that chooses the parts of two rates by itself,\n"
    "needs it: without it the start fails with a message that says so.\n";

#if defined(__x86_64__)
#define MACHINE "x86_64"
static const char *const platform_2 = "linux64";
#elif defined(__aarch64__)
#define MACHINE "aarch64"
static const char *const platform_2 = NULL; /* version 2 has no name for it */
#else
#define MACHINE "unknown"
static const char *const platform_2 = NULL;
#endif

/* A C identifier of a name. */
static void identify(const char *name, char *text, size_t size)
{
    size_t n = 0;
    if (*name >= '0' && *name <= '9')
        text[n++] = '_';
    for (const char *c = name; *c && n + 1 < size; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                           (*c >= '0' && *c <= '9');
        text[n++] = plain ? *c : '_';
    }
    text[n] = '\0';
}

/* A token of what the FMU is made of. */
static char *make_token(const bg_fmi_setup *setup, int version)
{
    char *text = bg_fmi_setup_create_text(setup), *token = malloc(40);
    uint64_t h[2] = {BG_FINGERPRINT_START, ~(uint64_t)BG_FINGERPRINT_START};
    for (int k = 0; k < 2 && text; k++) {
        h[k] = bg_fingerprint_add(h[k], &version, sizeof version);
        h[k] = bg_fingerprint_add(h[k], text, strlen(text));
        h[k] = bg_fingerprint_add(h[k], setup->text, setup->text ? strlen(setup->text) : 0);
    }
    if (text && token)
        snprintf(token, 40, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(h[0] >> 32),
                 (unsigned)(h[0] >> 16) & 0xffff, (unsigned)h[0] & 0xffff, (unsigned)(h[1] >> 48),
                 (unsigned long long)(h[1] & 0xffffffffffffu));
    if (!text) {
        free(token);
        token = NULL;
    }
    free(text);
    return token;
}

/* A tableau file becomes a resource; *text is its content, or NULL. */
static bg_status take_tableau(bg_fmi_setup *s, char **text, bg_error *err)
{
    *text = NULL;
    for (int i = 0; i < s->nsettings; i++) {
        bg_setting *one = &s->settings[i];
        const size_t n = strlen(one->value);
        size_t length;
        if (strcmp(one->name, "integrator.pair") != 0 || n < 5 ||
            strcmp(one->value + n - 5, ".json") != 0)
            continue;
        free(*text);
        char subject[256];
        snprintf(subject, sizeof subject, "%.250s:", one->value);
        bg_status st = bg_file_read(one->value, subject, "tableau file", text, &length, err);
        if (st != BG_OK)
            return st;
        free((char *)one->value);
        one->value = strdup(BG_FMI_TABLEAU_FILE);
        if (!one->value)
            return bg_error_set(err, BG_NO_MEMORY, "out of memory for a tableau file");
    }
    return BG_OK;
}

static void add_text(bg_zip *zip, const char *path, const char *text)
{
    if (text)
        bg_zip_add(zip, path, text, strlen(text));
}

static void add_description(bg_zip *zip, const bg_fmi_description *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out)
        bg_fmi_describe(d, out);
    if (!out || fclose(out) != 0)
        zip->failed = ENOMEM;
    else
        bg_zip_add(zip, "modelDescription.xml", text, size);
    free(text);
}

static void add_file(bg_zip *zip, const char *path, const char *file)
{
    char *data = NULL;
    size_t size;
    errno = 0;
    if (bg_file_load(file, BG_FILE_LIMIT, &data, &size) == BG_FILE_LOADED)
        bg_zip_add(zip, path, data, size);
    else
        zip->failed = errno ? errno : EIO;
    free(data);
}

/* Everything that goes in. */
typedef struct contents {
    const bg_fmi_package *package;
    bg_fmi_description description;
    bg_fmi_setup setup;
    bg_fmi_variables variables;
    char identifier[64];
    char *tableau;
} contents;

static int write_archive(const contents *c, FILE *out)
{
    const bool two = c->description.version == 2;
    char path[160], *setup = bg_fmi_setup_create_text(&c->setup);
    bg_zip zip;
    bg_zip_begin(&zip, out);
    if (!setup)
        zip.failed = ENOMEM;
    add_description(&zip, &c->description);
    snprintf(path, sizeof path, "binaries/%s/%s.so", two ? platform_2 : MACHINE "-linux",
             c->identifier);
    add_file(&zip, path, c->package->object);
    add_text(&zip, "resources/" BG_FMI_SETUP_FILE, setup);
    add_text(&zip, "resources/" BG_FMI_MODEL_FILE, c->setup.text);
    add_text(&zip, "resources/" BG_FMI_TABLEAU_FILE, c->tableau);
    add_text(&zip, "documentation/externalDependencies.txt", dependencies);
    if (c->package->licences)
        add_file(&zip, "documentation/licenses/license.txt", c->package->licences);
    free(setup);
    return bg_zip_end(&zip);
}

static bg_status collect(contents *c, const bg_problem *problem, bg_error *err)
{
    const bg_model *model = bg_problem_get_model(problem);
    const bg_system *system = bg_problem_get_system(problem);
    bg_status st = bg_fmi_setup_describe(problem, c->package->inputs, c->package->ninputs,
                                         &c->setup, err);
    if (st == BG_OK)
        st = take_tableau(&c->setup, &c->tableau, err);
    if (st == BG_OK && !(c->setup.token = make_token(&c->setup, c->package->version)))
        st = bg_error_set(err, BG_NO_MEMORY, "out of memory for a token");
    if (st == BG_OK)
        st = bg_fmi_variables_create(problem, (const char *const *)c->setup.inputs,
                                     c->setup.ninputs, &c->variables, err);
    if (st != BG_OK)
        return st;
    char base[64];
    snprintf(base, sizeof base, "%.60s",
             strrchr(c->setup.name, ':') ? strrchr(c->setup.name, ':') + 1 : c->setup.name);
    if (strlen(base) > 5 && strcmp(base + strlen(base) - 5, ".json") == 0)
        base[strlen(base) - 5] = '\0';
    identify(base, c->identifier, sizeof c->identifier);
    c->description = (bg_fmi_description){
        .version = c->package->version,
        .identifier = c->identifier,
        .model_name = model ? model->name : c->setup.reference,
        .comment = model ? json_string_value(json_object_get(model->source, "comment")) : NULL,
        .output_interval = model ? model->output_interval : NAN,
        .sensitivities = bg_session_is_exact(system),
        .setup = &c->setup,
        .variables = &c->variables};
    return BG_OK;
}

bg_status bg_fmi_package_write(const char *path, const bg_problem *problem,
                               const bg_fmi_package *package, bg_fmi_summary *summary,
                               bg_error *err)
{
    contents c = {.package = package};
    bg_output_file out;
    const size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 4, ".fmu") != 0)
        return bg_error_set(err, BG_BAD_INPUT, "the name of an FMU ends in .fmu, as '%.200s.fmu'",
                            path);
    if (package->version == 2 && !platform_2)
        return bg_error_set(err, BG_BAD_INPUT,
                            "FMI 2 has no name for " MACHINE " machines; make an FMU of version 3");
    bg_status st = collect(&c, problem, err);
    if (st == BG_OK)
        st = bg_output_open(path, BG_PLACE_FMU, &out, err);
    if (st == BG_OK) {
        const int cause = write_archive(&c, out.file);
        if (cause)
            st = bg_error_set(err, BG_IO, "cannot write the FMU '%.200s': %s; %s", path,
                              strerror(cause), bg_place_find_remedy(cause));
        st = bg_output_close(&out, st, err);
    }
    *summary = (bg_fmi_summary){c.variables.nparameters, c.variables.ninputs, c.variables.noutputs,
                                c.setup.step, ""};
    if (st == BG_OK)
        snprintf(summary->integrator, sizeof summary->integrator, "%.31s", c.setup.integrator);
    bg_fmi_variables_clear(&c.variables);
    bg_fmi_setup_clear(&c.setup);
    free(c.tableau);
    return st;
}

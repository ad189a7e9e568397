/* bogie report: results and studies as one HTML page, motion as glTF.
 *
 * HDF5 does not survive every damaged file: some end its process. The work is therefore done in a
 * process of its own, and what kills that one becomes a sentence about the file. */
#include "cli/cli.h"
#include "cli/files.h"

#include "base/memory.h"
#include "base/place.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct report_arguments {
    const char *output, *title, *gltf;
} report_arguments;

#define FIELD(name) offsetof(report_arguments, name)

static const bg_cli_option options[] = {
    {"--output", "-o", "PAGE.html", BG_CLI_FILE, FIELD(output), "the page"},
    {"--title", NULL, "TEXT", BG_CLI_TEXT, FIELD(title), "its title (default: the model's name)"},
    {"--gltf", NULL, "FILE.glb", BG_CLI_FILE, FIELD(gltf),
     "the motion of one result as binary glTF 2.0"},
};

/* Moves what is no option to the front and returns its number; every option takes a value. */
static int gather(int argc, char **argv, char **sorted)
{
    int n = 0, behind = 0;
    char **rest = sorted + argc;
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            sorted[n++] = argv[i];
            continue;
        }
        rest[behind++] = argv[i];
        if (!strchr(argv[i], '=') && i + 1 < argc)
            rest[behind++] = argv[++i];
    }
    memmove(sorted + n, rest, (size_t)behind * sizeof *rest);
    return n;
}

/* What can be refused before anything is read. */
static bg_status check(const report_arguments *args, char **files, int n, bg_error *err)
{
    const char *const written[] = {args->output, args->gltf};
    if (n == 0)
        return bg_error_set(err, BG_BAD_INPUT,
                            "bogie report needs a FILE: RESULT.h5 of `bogie run`, or the JSON "
                            "output of `bogie study`");
    if (!args->output && !args->gltf)
        return bg_error_set(err, BG_BAD_INPUT,
                            "bogie report needs -o PAGE.html or --gltf FILE.glb");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n && written[k]; i++)
            if (bg_place_is_same(written[k], files[i]))
                return bg_error_set(err, BG_BAD_INPUT,
                                    "'%s' would be written over while it is read; choose another "
                                    "name",
                                    files[i]);
    const bg_cli_file outputs[] = {{"-o", args->output, BG_PLACE_PAGE},
                                   {"--gltf", args->gltf, BG_PLACE_GLTF}};
    bg_status st = bg_cli_check_distinct(outputs, 2, err);
    if (st != BG_OK)
        return st;
    if (args->output && !bg_template_get())
        return bg_error_set(err, BG_MISSING,
                            "this bogie was built without the viewer, since npm was missing or failed, so it "
                            "makes no pages; build it with npm, or use --gltf");
    for (int k = 0; k < 2; k++)
        if (written[k] && strcmp(written[k], "-") == 0)
            return bg_error_set(err, BG_BAD_INPUT, "%s needs the name of a file, not '-'",
                                outputs[k].option);
    return bg_cli_check_places(outputs, 2, err);
}

/* How far the work has come, seen by both processes. */
typedef struct reading_progress {
    int file; /* index of the one that is read; the number of files: all are */
    bool done;
    int code; /* then: the exit code */
} reading_progress;

static bg_status write_report(const report_arguments *args, char **files, int n,
                              reading_progress *at, bg_error *err)
{
    bg_report *report;
    bg_status st = bg_report_create(&report, err);
    for (at->file = 0; at->file < n && st == BG_OK; at->file++)
        st = bg_report_add(report, files[at->file], err);
    if (st == BG_OK && args->gltf)
        st = bg_report_write_gltf(report, args->gltf, err);
    if (st == BG_OK && args->output)
        st = bg_report_write(report, bg_template_get(), args->title, args->output, err);
    bg_report_destroy(report);
    return st;
}

/* "page.html: page of a.h5 and b.h5, 812 kB" */
static void print_written(const char *path, const char *what, char **files, int n)
{
    struct stat info;
    if (!path || stat(path, &info) != 0)
        return;
    printf("%s: %s of ", path, what);
    if (n > 2)
        printf("%d files", n);
    else
        printf("%s%s%s", files[0], n == 2 ? " and " : "", n == 2 ? files[1] : "");
    printf(", %.0f kB\n", ceil(1e-3 * (double)info.st_size));
}

static int work(const report_arguments *args, char **files, int n, reading_progress *at)
{
    bg_error err = {0};
    bg_status st = write_report(args, files, n, at, &err);
    at->code = st == BG_OK ? BG_EXIT_DONE : bg_error_print(&err);
    at->done = true;
    if (st == BG_OK) {
        print_written(args->output, "page", files, n);
        print_written(args->gltf, "motion", files, n);
    }
    return at->code;
}

/* A sentence for work that was killed; no half of a file is left behind. */
static int mourn(const report_arguments *args, char **files, int n, const reading_progress *at,
                 int cause)
{
    const char *const written[] = {args->output, args->gltf};
    for (int k = 0; k < 2; k++)
        if (written[k]) /* takes over what was left, and removes it */
            bg_place_check(written[k], k == 0 ? BG_PLACE_PAGE : BG_PLACE_GLTF, NULL);
    if (cause != SIGSEGV && cause != SIGABRT && cause != SIGBUS && cause != SIGFPE) {
        fprintf(stderr, "bogie: the report was ended by signal %d (%s)\n", cause, strsignal(cause));
        return BG_EXIT_STOPPED;
    }
    const bool known = n == 1 || at->file < n;
    fprintf(stderr,
            "bogie: the HDF5 library failed on %s%s%s, which must be damaged; run the simulation "
            "again\n",
            known ? "'" : "one of the ", known ? files[n == 1 ? 0 : at->file] : "files",
            known ? "'" : "");
    return BG_EXIT_BAD_INPUT;
}

static int work_apart(const report_arguments *args, char **files, int n)
{
    int status = 0;
    reading_progress alone = {0}, *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    pid_t child = at == MAP_FAILED ? -1 : fork();
    if (child < 0)
        return work(args, files, n, &alone);
    if (child == 0) {
        int code = work(args, files, n, at);
        if (code == BG_EXIT_DONE)
            exit(code);
        _exit(code); /* HDF5 may have more to say about a damaged file when it is closed */
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    int code = at->done              ? at->code
               : WIFSIGNALED(status) ? mourn(args, files, n, at, WTERMSIG(status))
                                     : BG_EXIT_FAILED;
    munmap(at, sizeof *at);
    return code;
}

static int run(const bg_verb *verb, int argc, char **argv)
{
    report_arguments args = {0};
    bg_error err = {0};
    const char *none;
    const bg_verb options_only = {.name = verb->name, .options = options, .noptions = 3};
    char **sorted = BG_NEW_ARRAY(char *, 2 * argc + 1);
    if (!sorted) {
        bg_error_set(&err, BG_NO_MEMORY, "out of memory for the arguments");
        return bg_error_print(&err);
    }
    int n = gather(argc, argv, sorted);
    bg_status st = bg_cli_parse(&options_only, argc - n, sorted + n, &args, &none, &err);
    if (st == BG_OK)
        st = check(&args, sorted, n, &err);
    int code = st == BG_OK ? work_apart(&args, sorted, n) : bg_error_print(&err);
    free(sorted);
    return code;
}

const bg_verb bg_verb_report = {
    .name = "report",
    .operand = "FILE...",
    .operand_kind = BG_CLI_FILE,
    .explain = "FILE is a result RESULT.h5 of `bogie run`, or the JSON output of `bogie study`.",
    .summary = "make one HTML page of results and studies",
    .description = "The page has a 3-D animation, plots, the history of steps, the certificate and "
                   "tables, and needs no network and no other file. Several results are compared: "
                   "the same plots, differences, and the other motions as ghosts.",
    .examples = "bogie run models/four-bar.json -o four-bar.h5\n"
                "bogie report four-bar.h5 -o four-bar.html",
    .options = options,
    .noptions = sizeof options / sizeof options[0],
    .run = run,
};

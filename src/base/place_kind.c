/* By what outputs of Bogie are recognised: how they begin, and a text that they hold. */
#include "base/place.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, BEGINNINGS = 4, LONGEST = 64 };

typedef struct file_kind {
    const char *name;
    const char *form;                   /* what is looked for */
    const char *beginnings[BEGINNINGS]; /* one of them, whatever the case of letters */
    const char *holds;                  /* and this, somewhere; NULL: nothing more */
} file_kind;

static const file_kind kinds[] = {
    [BG_PLACE_RESULT] = {"results", "HDF5 result", {"\211HDF\r\n\032\n"}, "bogie-result"},
    [BG_PLACE_ROWS] = {"results", "CSV result", {"t,h,q:", "t,h,\"q:", "t,h,z:", "t,h,\"z:"}, NULL},
    [BG_PLACE_SUMMARY] = {"the summary", "summary", {"{\n  \"generator\": \"Bogie"}, NULL},
    [BG_PLACE_CHECKPOINT] = {"the checkpoint", "checkpoint", {"BOGIECKP"}, NULL},
    [BG_PLACE_TABLE] = {"the table", "table of a study", {"case,name,status,reason"}, NULL},
    [BG_PLACE_STUDY] = {"the study",
                        "output of a study",
                        {"{\"format\":1,\"kind\":\"study\""},
                        NULL},
    [BG_PLACE_JOURNAL] = {"the journal", "journal of a study", {"bogie-study-journal "}, NULL},
    [BG_PLACE_PAGE] = {"the page",
                       "HTML page",
                       {"<!doctype html", "<html", "<script"},
                       "id=\"bogie-data\""},
    [BG_PLACE_GLTF] = {"the motion", "binary glTF", {"glTF"}, "\"generator\":\"Bogie\""},
    [BG_PLACE_SVG] = {"the picture", "SVG picture", {"<svg "}, "<!-- Bogie -->"},
    [BG_PLACE_CHECK] = {"the check", "check of a model", {"{\n  \"kind\": \"check\""}, NULL},
    [BG_PLACE_MODES] = {"the modes", "list of modes", {"{\n  \"kind\": \"modes\""}, NULL},
    [BG_PLACE_LINEAR] = {"the matrices",
                         "linearised system",
                         {"{\n  \"kind\": \"linearised\""},
                         NULL},
    [BG_PLACE_LINEAR_TABLE] = {"the matrices",
                               "table of a linearised system",
                               {"\"[A B; C D]\""},
                               NULL},
    [BG_PLACE_LINEAR_HDF5] = {"the matrices",
                              "HDF5 file of a linearised system",
                              {"\211HDF\r\n\032\n"},
                              "bogie-linearised"},
    [BG_PLACE_LINEAR_MAT] = {"the matrices",
                             "MAT-file of a linearised system",
                             {BG_MAT_BEGINNING},
                             NULL},
    [BG_PLACE_TABLEAUS] = {"the tableaus", "tableau file", {"{\n  \"kind\": \"tableaus\""}, NULL},
    [BG_PLACE_FMU] = {"the FMU", "FMU", {"PK\003\004"}, "\"kind\": \"bogie-fmu\""},
};

const char *bg_place_get_name(bg_place_kind k)
{
    return kinds[k].name;
}

const char *bg_place_get_form(bg_place_kind k)
{
    return kinds[k].form;
}

/* Looks for a text in all of a file, block by block; blocks overlap by the length of the text. */
static bool holds(int fd, const char *text)
{
    char block[BLOCK];
    size_t n = strlen(text);
    for (off_t at = 0;; at += (off_t)(BLOCK - LONGEST)) {
        ssize_t got = pread(fd, block, sizeof block, at);
        if (got < (ssize_t)n)
            return false;
        if (memmem(block, (size_t)got, text, n))
            return true;
    }
}

bool bg_place_is_ours(int fd, bg_place_kind which)
{
    const file_kind *k = &kinds[which];
    char head[LONGEST + 1] = {0};
    struct stat info;
    if (fstat(fd, &info) != 0)
        return false;
    if (info.st_size == 0)
        return true;
    ssize_t n = pread(fd, head, LONGEST, 0);
    for (int i = 0; i < BEGINNINGS && k->beginnings[i]; i++) {
        size_t length = strlen(k->beginnings[i]);
        if (n >= (ssize_t)length && strncasecmp(head, k->beginnings[i], length) == 0)
            return !k->holds || holds(fd, k->holds);
    }
    return false;
}

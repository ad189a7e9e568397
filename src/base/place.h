/* Where an output goes: the published file NAME, and the working file NAME.partial beside it.
 *
 * Everything is written to the working file, which then takes the place of the published one by a
 * rename, so that NAME changes from one complete file to the next in a single step of the file
 * system. While it is a working file, NAME.partial carries an advisory lock (flock): two runs
 * cannot share it, and the lock of a process that died is gone with it.
 *
 * A file is replaced only when it is empty or an earlier output of the same kind, which its content
 * tells: so no output replaces a model, a study, a table, or anything else that Bogie did not
 * write, whatever name or link leads to it. The same holds for the working file. A symbolic link is
 * written through: the rule is applied to its target, which may not exist yet. Devices, pipes and
 * open descriptors (/dev/null, /dev/stdout) are written as they come.
 */
#ifndef BG_PLACE_H
#define BG_PLACE_H

#include "bogie/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is written; place_kind.c says how each is recognised. */
typedef enum bg_place_kind {
    BG_PLACE_RESULT,
    BG_PLACE_ROWS,
    BG_PLACE_SUMMARY,
    BG_PLACE_CHECKPOINT,
    BG_PLACE_TABLE,
    BG_PLACE_STUDY,
    BG_PLACE_JOURNAL,
    BG_PLACE_PAGE,
    BG_PLACE_GLTF,
    BG_PLACE_SVG,
    BG_PLACE_CHECK,
    BG_PLACE_MODES,
    BG_PLACE_LINEAR,
    BG_PLACE_LINEAR_TABLE,
    BG_PLACE_LINEAR_HDF5,
    BG_PLACE_LINEAR_MAT,
    BG_PLACE_TABLEAUS,
    BG_PLACE_FMU
} bg_place_kind;

typedef struct bg_place {
    bg_place_kind kind;
    char *path;     /* NAME, symbolic links resolved */
    char *partial;  /* NAME.partial */
    int fd;         /* of the working file, locked; -1: there is none */
    bool published; /* NAME is ours: */
    dev_t device;   /* these two tell whether it still is */
    ino_t inode;
    bool direct; /* NAME is a device, pipe or socket: no working file, written as it comes */
} bg_place;

/* How a MAT-file of Bogie begins. */
#define BG_MAT_BEGINNING "MATLAB 5.0 MAT-file, linearised system, written by Bogie"

/* "results", "the summary": what a kind is called after "cannot write". */
const char *bg_place_get_name(bg_place_kind kind);
/* "HDF5 result": what it is recognised as. */
const char *bg_place_get_form(bg_place_kind kind);
/* Whether an open file is empty or holds an output of this kind. */
bool bg_place_is_ours(int fd, bg_place_kind kind);

/* Whether path is written as it comes: a device, pipe or socket, or a name of an open descriptor.
 */
bool bg_place_is_direct(const char *path);
/* The file that path leads to, links resolved, whether it exists or not; to be released with
 * free(). NULL: errno says why. */
char *bg_place_resolve(const char *path);
/* Whether two names lead to the same regular file, or to the same one that does not exist yet. */
bool bg_place_is_same(const char *a, const char *b);

/* Checks that an output could be written to path, and leaves nothing behind. */
bg_status bg_place_check(const char *path, bg_place_kind kind, bg_error *err);
/* The same, and opens an empty working file beside it, unless path is a device or pipe. On failure
 * the place must still be cleared. */
bg_status bg_place_create(const char *path, bg_place_kind kind, bg_place *place, bg_error *err);
/* Closes and removes the working file; NAME stays as it is. */
void bg_place_clear(bg_place *place);

/* Whether there is a working file, and it still has its name. */
bool bg_place_has_working(const bg_place *place);

/* Whether NAME is still the file that was published here. */
bool bg_place_is_current(const bg_place *place);

/* The functions below return 0 or an errno. */

/* Opens and locks NAME.partial as an empty working file. EWOULDBLOCK: another run has it. EEXIST:
 * it is there, but not by Bogie. */
int bg_place_open(bg_place *place);
/* A new working file with the contents of NAME. EBUSY: NAME is no longer ours. */
int bg_place_copy(bg_place *place);
/* The working file becomes NAME; place->fd stays open on it, with the lock. EEXIST: something that
 * Bogie did not write has come to that name meanwhile. */
int bg_place_rename(bg_place *place);
/* The same, but the lock stays on NAME until there is a new, empty working file: for outputs that
 * are written again and again as a whole. */
int bg_place_publish(bg_place *place);
/* Swaps NAME and the working file. Afterwards place->fd is the file that was NAME before, or -1
 * when that one cannot serve as working file because a reader has it open or it has another name,
 * or the file system cannot swap. */
int bg_place_swap(bg_place *place);
/* Removes the working file. */
void bg_place_discard(bg_place *place);

/* All of data at the current position of fd, however many calls that takes. */
int bg_place_write(int fd, const void *data, size_t size);
/* What a user can do about an errno of writing. */
const char *bg_place_find_remedy(int cause);

#endif

/* Where a result goes: the published file NAME, and the working file NAME.partial beside it.
 *
 * Rows are written to the working file, which then takes the place of the published one by a
 * rename, so that NAME changes from one complete file to the next in a single step of the file
 * system. While it is a working file, NAME.partial carries an advisory lock (flock): two runs
 * cannot share it, and the lock of a process that died is gone with it.
 */
#ifndef BG_PLACE_H
#define BG_PLACE_H

#include "results/batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct bg_place {
    char *path;     /* NAME, symbolic links resolved */
    char *partial;  /* NAME.partial */
    int fd;         /* of the working file, locked; -1: there is none */
    bool published; /* NAME is ours: */
    dev_t device;   /* these two tell whether it still is */
    ino_t inode;
    bool direct; /* NAME is a device, pipe or socket: no working file, written as it comes */
} bg_place;

/* Whether path is written as it comes: a device, pipe or socket, or a name of an open descriptor.
 */
bool bg_place_is_direct(const char *path);

/* Checks that path can become a result and opens an empty working file beside it, unless path is a
 * device or pipe. On failure the place must still be cleared. */
bg_status bg_place_create(const char *path, bg_place *place, bg_error *err);
/* Closes and removes the working file; NAME stays as it is. */
void bg_place_clear(bg_place *place);

/* Whether there is a working file, and it still has its name. */
bool bg_place_has_working(const bg_place *place);

/* The functions below return 0 or an errno. */

/* Opens and locks NAME.partial as an empty working file. */
int bg_place_open(bg_place *place);
/* A new working file with the contents of NAME. EBUSY: NAME is no longer ours. */
int bg_place_copy(bg_place *place);
/* The working file becomes NAME; place->fd stays open on it, unlocked. */
int bg_place_rename(bg_place *place);
/* Swaps NAME and the working file. Afterwards place->fd is the file that was NAME before, or -1
 * when that one cannot serve as working file because a reader has it open or the file system
 * cannot swap. */
int bg_place_swap(bg_place *place);
/* Removes the working file. */
void bg_place_discard(bg_place *place);

/* All of data at the current position of fd, however many calls that takes. */
int bg_place_write(int fd, const void *data, size_t size);

/* The sentence for a failed write: cause is an errno, or 0 with a text. batch says what is safe. */
bg_status bg_place_fail(const bg_place *place, const bg_batch *batch, int cause, const char *text,
                        bg_error *err);

#endif

/* A folder of its own for a test program, and files in it. */
#ifndef FOLDER_SUPPORT_H
#define FOLDER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 512 };

typedef struct folder {
    char path[64];
} folder;

static inline int folder_make(folder *f)
{
    strcpy(f->path, "/tmp/bogie-test.XXXXXX");
    return mkdtemp(f->path) ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *info, int type,
                               struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static inline void folder_remove(const folder *f)
{
    nftw(f->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A folder as the state of a group of tests. */
static inline int folder_set_up(void **state)
{
    *state = calloc(1, sizeof(folder));
    return *state ? folder_make(*state) : -1;
}

static inline int folder_tear_down(void **state)
{
    folder_remove(*state);
    free(*state);
    return 0;
}

static inline const char *locate(const folder *f, const char *name, char path[PATH])
{
    snprintf(path, PATH, "%s/%s", f->path, name);
    return path;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_file(path, text, strlen(text));
}

/* All of a file with a zero byte behind it, to be released with free(); size may be NULL. */
static inline char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t n = (size_t)ftell(file);
    char *data = calloc(n + 1, 1);
    rewind(file);
    assert_true(data && fread(data, 1, n, file) == n);
    fclose(file);
    if (size)
        *size = n;
    return data;
}

#endif

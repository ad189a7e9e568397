/* The program's own malloc family: it counts and hands on to the C library. Functions of this name
 * in a program take the place of those in libraries, so that nobody's allocations are missed; the
 * count has to be static, because malloc has no other place for it. */
#include "cli/allocations.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

#pragma GCC visibility push(default)

static _Thread_local long count;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *data, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    count++;
    return __libc_calloc(n, size);
}

void *realloc(void *data, size_t size)
{
    count++;
    return __libc_realloc(data, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **data, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    count++;
    void *made = __libc_memalign(alignment, size);
    if (made)
        *data = made;
    return made ? 0 : ENOMEM;
}

#pragma GCC visibility pop

long bg_allocations_get(void)
{
    return count;
}

#else

long bg_allocations_get(void)
{
    return -1;
}

#endif

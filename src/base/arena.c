#include "base/arena.h"

#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#if defined(SANITIZED)
#include <sanitizer/asan_interface.h>
enum { GAP = 32 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

static const size_t step = alignof(max_align_t);

void *bg_arena_take(bg_arena *a, size_t count, size_t size)
{
    size_t bytes = count * size, room = (bytes + step - 1) / step * step + GAP;
    char *part = a->memory ? a->memory + a->used : NULL;
    a->used += room;
    if (part)
        ASAN_POISON_MEMORY_REGION(part + bytes, room - bytes);
    return part;
}

bool bg_arena_create(bg_arena *a, void (*list)(void *object, bg_arena *arena), void *object)
{
    *a = (bg_arena){NULL, 0};
    list(object, a);
    a->memory = bg_calloc(a->used, 1);
    if (!a->memory)
        return false;
    a->used = 0;
    list(object, a);
    return true;
}

void bg_arena_clear(bg_arena *a)
{
    if (a->memory)
        ASAN_UNPOISON_MEMORY_REGION(a->memory, a->used);
    free(a->memory);
    *a = (bg_arena){NULL, 0};
}

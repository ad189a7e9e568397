/* One block of memory for all arrays of an object, each named once, where its length is known.
 *
 *   static void list(void *object, bg_arena *arena)
 *   {
 *       thing *x = object;
 *       BG_TAKE(arena, x->q, x->nq);
 *       BG_TAKE(arena, x->flags, x->ng);
 *   }
 *   if (!bg_arena_create(&x->arena, list, x)) ...        one failure to check
 *   bg_arena_clear(&x->arena);                           and one thing to release
 *
 * The list is gone through twice: once to find the size of the block, once to hand out its parts,
 * which are zeros. Under AddressSanitizer the parts keep their distance, so that it sees what it
 * would see between arrays of their own. */
#ifndef BG_ARENA_H
#define BG_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bg_arena {
    char *memory; /* NULL while sizes are found */
    size_t used;
} bg_arena;

/* False: out of memory; the arena is then empty. */
bool bg_arena_create(bg_arena *arena, void (*list)(void *object, bg_arena *arena), void *object);
void bg_arena_clear(bg_arena *arena);

void *bg_arena_take(bg_arena *arena, size_t count, size_t size);
#define BG_TAKE(arena, pointer, n) \
    ((pointer) = bg_arena_take(arena, (size_t)(n), sizeof *(pointer)))

#endif

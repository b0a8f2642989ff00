/* Memory in one block, handed out from its beginning and given back all at once: what a prepared plan binds its stages in, so
 * that a frame of another size or with other parameters takes nothing from the heap. Every function also takes NULL for the
 * arena, which stands for the heap. */
#ifndef ARENA_H
#define ARENA_H
#include <stdbool.h>
#include <stddef.h>

struct arena {
    unsigned char *base; /* aligned to ARENA_ALIGN; belongs to whoever made it */
    size_t size, used;
    bool full; /* a request did not fit */
};
#define ARENA_ALIGN 64

/* Zeroed memory, aligned to ARENA_ALIGN; NULL when there is none. */
void *arena_alloc(struct arena *arena, size_t size);
/* A larger block with the content of `old` (NULL: none), of which the first `old_size` bytes are kept; what follows is zero.
 * NULL when there is none, and `old` stays. */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size);
/* Gives back a block of the heap; in an arena it does nothing. */
void arena_free(struct arena *arena, void *block);
/* Forgets all that has been handed out. */
void arena_reset(struct arena *arena);
#endif

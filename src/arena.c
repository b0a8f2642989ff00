#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *arena_alloc(struct arena *arena, size_t size) {
    if (size > SIZE_MAX - ARENA_ALIGN) return NULL;
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (size == 0) size = ARENA_ALIGN;
    void *block = NULL;
    if (!arena) {
        block = aligned_alloc(ARENA_ALIGN, size);
    } else if (size <= arena->size - arena->used) {
        block = arena->base + arena->used;
        arena->used += size;
    } else {
        arena->full = true;
    }
    if (block) memset(block, 0, size);
    return block;
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size) {
    void *block = arena_alloc(arena, size);
    if (!block) return NULL;
    if (old_size) memcpy(block, old, old_size);
    arena_free(arena, old);
    return block;
}

void arena_free(struct arena *arena, void *block) {
    if (!arena) free(block);
}

void arena_reset(struct arena *arena) {
    arena->used = 0;
    arena->full = false;
}

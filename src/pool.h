/* Large blocks of host memory, kept by the context from run to run: the first touch of fresh pages costs more than most
 * filters do. Blocks are aligned to POOL_ALIGN at least and their content is undefined. */
#ifndef POOL_H
#define POOL_H
#include "imgpipe.h"

struct pool;

/* Blocks start at multiples of this, and their sizes are multiples of it. */
#define POOL_ALIGN 4096
/* `alloc`, `release`: where fresh blocks come from (pinned memory for a GPU, the caller's own); NULL for pages of the system. */
struct pool *pool_new(void *(*alloc)(void *user, size_t size, size_t alignment), void (*release)(void *user, void *block, size_t size),
                      void *user);
/* Fresh pages of the system, huge ones where the block is large; NULL when there is no memory. For munmap(). */
void *pool_pages(void *user, size_t size, size_t alignment);
void pool_free(struct pool *pool);
/* NULL when there is no memory. */
void *pool_take(struct pool *pool, size_t size);
/* The whole size of a block that has been taken, at least what was asked for. */
size_t pool_size(struct pool *pool, const void *block);
/* The greatest size of all blocks that were taken at the same time. */
size_t pool_most(struct pool *pool);
void pool_give(struct pool *pool, void *block);
#endif

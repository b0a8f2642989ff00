/* Large blocks of host memory, kept by the context from run to run: the first touch of fresh pages costs more than most
 * filters do. Blocks are aligned to 4096 bytes at least and their content is undefined. */
#ifndef POOL_H
#define POOL_H
#include "imgpipe.h"

struct pool;

/* `alloc`, `release`: where fresh blocks come from (pinned memory for a GPU); NULL for pages of the system. */
struct pool *pool_new(void *(*alloc)(size_t size), void (*release)(void *block, size_t size));
/* Fresh pages of the system, huge ones where the block is large; NULL when there is no memory. For munmap(). */
void *pool_pages(size_t size);
void pool_free(struct pool *pool);
/* NULL when there is no memory. */
void *pool_take(struct pool *pool, size_t size);
/* The whole size of a block that has been taken, at least what was asked for. */
size_t pool_size(struct pool *pool, const void *block);
void pool_give(struct pool *pool, void *block);
#endif

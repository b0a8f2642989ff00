#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define POOL_BLOCKS 64      /* how many free blocks are kept */

struct block {
    void *memory;
    size_t size;
    struct block *next;
};

struct pool {
    pthread_mutex_t lock;
    struct block *taken, *idle;
    int idle_count;
    void *(*alloc)(size_t size);
    void (*release)(void *block, size_t size);
};

void *pool_pages(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (size >= (size_t)4 << 20) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static void release_pages(void *block, size_t size) { munmap(block, size); }

struct pool *pool_new(void *(*alloc)(size_t size), void (*release)(void *block, size_t size)) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->alloc = alloc ? alloc : pool_pages;
    pool->release = release ? release : release_pages;
    return pool;
}

static void drop_list(struct pool *pool, struct block *list) {
    while (list) {
        struct block *next = list->next;
        pool->release(list->memory, list->size);
        free(list);
        list = next;
    }
}

void pool_free(struct pool *pool) {
    if (!pool) return;
    drop_list(pool, pool->taken);
    drop_list(pool, pool->idle);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* The smallest idle block that fits and is at most twice as large, so that a small request never holds a large block. */
static struct block **best_idle(struct pool *pool, size_t size) {
    struct block **best = NULL;
    for (struct block **at = &pool->idle; *at; at = &(*at)->next)
        if ((*at)->size >= size && (*at)->size / 2 <= size && (!best || (*at)->size < (*best)->size)) best = at;
    return best;
}

void *pool_take(struct pool *pool, size_t size) {
    size = (size + 4095) & ~(size_t)4095;
    if (size == 0) return NULL;
    pthread_mutex_lock(&pool->lock);
    struct block **found = best_idle(pool, size), *block = found ? *found : NULL;
    if (block) {
        *found = block->next;
        pool->idle_count--;
    } else {
        pthread_mutex_unlock(&pool->lock);
        block = malloc(sizeof *block);
        if (!block) return NULL;
        block->memory = pool->alloc(size);
        block->size = size;
        if (!block->memory) {
            free(block);
            return NULL;
        }
        pthread_mutex_lock(&pool->lock);
    }
    block->next = pool->taken;
    pool->taken = block;
    pthread_mutex_unlock(&pool->lock);
    return block->memory;
}

size_t pool_size(struct pool *pool, const void *memory) {
    pthread_mutex_lock(&pool->lock);
    const struct block *at = pool->taken;
    while (at && at->memory != memory) at = at->next;
    size_t size = at ? at->size : 0;
    pthread_mutex_unlock(&pool->lock);
    return size;
}

void pool_give(struct pool *pool, void *memory) {
    if (!memory) return;
    pthread_mutex_lock(&pool->lock);
    struct block **at = &pool->taken;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    struct block *block = *at;
    if (!block) {
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    *at = block->next;
    bool keep = pool->idle_count < POOL_BLOCKS;
    if (keep) {
        block->next = pool->idle;
        pool->idle = block;
        pool->idle_count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep) {
        pool->release(block->memory, block->size);
        free(block);
    }
}

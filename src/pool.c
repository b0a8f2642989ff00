#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct block {
    void *memory;
    size_t size;
    struct block *next;
};

struct pool {
    pthread_mutex_t lock;
    struct block *taken, *idle;
    size_t taken_bytes, idle_bytes, most; /* `most`: the greatest taken_bytes so far */
    void *(*alloc)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *block, size_t size);
    void *user;
};

void *pool_pages(void *user, size_t size, size_t alignment) {
    (void)user, (void)alignment; /* pages are aligned well enough */
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (size >= (size_t)4 << 20) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static void release_pages(void *user, void *block, size_t size) {
    (void)user;
    munmap(block, size);
}

struct pool *pool_new(void *(*alloc)(void *user, size_t size, size_t alignment), void (*release)(void *user, void *block, size_t size),
                      void *user) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->alloc = alloc ? alloc : pool_pages;
    pool->release = release ? release : release_pages;
    pool->user = user;
    return pool;
}

static void drop_list(struct pool *pool, struct block *list) {
    while (list) {
        struct block *next = list->next;
        pool->release(pool->user, list->memory, list->size);
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

/* What is held for later never makes the whole larger than what was once needed at the same time, whatever the mix of sizes:
 * detaches the idle blocks that are too many, those first that have lain longest. */
static struct block *surplus(struct pool *pool) {
    struct block *list = NULL;
    while (pool->idle && pool->taken_bytes + pool->idle_bytes > pool->most) {
        struct block **last = &pool->idle;
        while ((*last)->next) last = &(*last)->next;
        struct block *block = *last;
        *last = NULL;
        pool->idle_bytes -= block->size;
        block->next = list;
        list = block;
    }
    return list;
}

/* A fresh block, whose size is already counted as taken. */
static struct block *fresh_block(struct pool *pool, size_t size) {
    struct block *block = malloc(sizeof *block);
    void *memory = block ? pool->alloc(pool->user, size, POOL_ALIGN) : NULL;
    if (memory) {
        *block = (struct block){.memory = memory, .size = size};
        return block;
    }
    free(block);
    return NULL;
}

void *pool_take(struct pool *pool, size_t size) {
    size = (size + POOL_ALIGN - 1) & ~(size_t)(POOL_ALIGN - 1);
    if (size == 0) return NULL;
    pthread_mutex_lock(&pool->lock);
    struct block **found = best_idle(pool, size), *block = found ? *found : NULL;
    if (block) {
        *found = block->next;
        pool->idle_bytes -= block->size;
    }
    size_t counted = block ? block->size : size;
    pool->taken_bytes += counted;
    if (pool->taken_bytes > pool->most) pool->most = pool->taken_bytes;
    struct block *dropped = surplus(pool);
    if (!block) {
        pthread_mutex_unlock(&pool->lock);
        drop_list(pool, dropped);
        dropped = NULL;
        block = fresh_block(pool, size);
        pthread_mutex_lock(&pool->lock);
    }
    if (block) {
        block->next = pool->taken;
        pool->taken = block;
    } else {
        pool->taken_bytes -= counted;
    }
    void *memory = block ? block->memory : NULL;
    pthread_mutex_unlock(&pool->lock);
    drop_list(pool, dropped);
    return memory;
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
    pool->taken_bytes -= block->size;
    pool->idle_bytes += block->size;
    block->next = pool->idle;
    pool->idle = block;
    pthread_mutex_unlock(&pool->lock);
}

size_t pool_most(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    size_t most = pool->most;
    pthread_mutex_unlock(&pool->lock);
    return most;
}

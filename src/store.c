#include "store.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a name: it goes with the process, whatever happens. Its space is reserved at once, since a full disk
 * would otherwise show as a bus error in the middle of a filter. */
static unsigned char *spool(size_t size, imgpipe_error *error) {
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    char need[32];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/.imgpipe-spool-XXXXXX", folder);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0) unlink(path);
    }
    int failed = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);
    void *memory = failed ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!failed && memory == MAP_FAILED) failed = errno;
    if (fd >= 0) close(fd);
    if (!failed) return memory;
    error_set(error, IMGPIPE_ERROR_MEMORY, "%s: cannot keep %s between two passes: %s; set TMPDIR to a folder with room, or raise --memory",
              folder, text_bytes(size, need), strerror(failed));
    return NULL;
}

size_t store_size(const struct edge *edge) { return row_stride(edge) * (size_t)edge->info.height + 64; }

imgpipe_status store_new(const struct edge *edge, struct pool *pool, uint64_t budget, struct store **out, imgpipe_error *error) {
    struct store *store = calloc(1, sizeof *store);
    if (!store) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a store");
    size_t stride = row_stride(edge);
    store->edge = *edge;
    store->pool = pool;
    store->size = store_size(edge);
    if (store->size <= budget) store->memory = pool_take(pool, store->size);
    if (!store->memory) {
        store->memory = spool(store->size, error);
        store->spooled = true;
    }
    if (!store->memory) {
        free(store);
        return IMGPIPE_ERROR_MEMORY;
    }
    store->view = (struct rows_view){.slots = &store->memory, .slot_count = 1, .band_rows = edge->info.height,
                                     .stride = (ptrdiff_t)stride, .offset = row_offset(edge)};
    *out = store;
    return IMGPIPE_OK;
}

void store_free(struct store *store) {
    if (!store) return;
    if (store->spooled)
        munmap(store->memory, store->size);
    else
        pool_give(store->pool, store->memory);
    free(store);
}

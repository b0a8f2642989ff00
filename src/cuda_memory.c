/* Device memory of a pass: one arena, laid out once. Too little memory makes tiles lower, not wrong. */
#include "cuda_pass.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN256(n) (((int64_t)(n) + 255) / 256 * 256)

struct layout {
    unsigned char *base;    /* NULL: only measure */
    size_t used;
};

static void *place(struct layout *layout, int64_t size) {
    void *at = layout->base ? layout->base + layout->used : NULL;
    layout->used += (size_t)ALIGN256(size);
    return at;
}

bool cuda_pass_whole(const struct backend_pass *bp) {
    const struct pass *pass = bp->io.pass;
    bool stored = bp->io.in.slot_count == 1 && bp->io.in.band_rows == pass->edges[0].info.height;
    return stored && pass->node_count && pass->nodes[0].kind == NODE_LOCAL && pass->nodes[0].stage->border == IMGPIPE_BORDER_WRAP;
}

static void lay_out(struct backend_pass *bp, struct layout *layout) {
    const struct pass *pass = bp->io.pass;
    for (int e = 0; e <= pass->node_count; e++) {
        const struct edge *edge = &pass->edges[e];
        struct cuda_edge *ce = &bp->edges[e];
        ce->stride = ALIGN256(edge->info.width * (int64_t)imgpipe_pixel_size(edge->info.format));
        ce->rows = strip_most(&bp->tiled, e);
        /* The next tiles are uploaded while one is computed; an image that wraps must be there as a whole. */
        if (e == 0) ce->rows += 2 * bp->tiled.strip_rows;
        if (e == 0 && (cuda_pass_whole(bp) || ce->rows > edge->info.height)) ce->rows = edge->info.height;
        int64_t tiles = e == pass->node_count && e > 0 ? CUDA_OUT_TILES : 1;
        ce->memory = place(layout, ce->stride * ce->rows * tiles);
        for (int g = 0; g < edge->gather_count; g++) ce->gather_state[g] = place(layout, (int64_t)edge->gathers[g].stage->gather_size);
    }
    for (int k = 0; k < pass->node_count; k++) {
        const struct node *node = &pass->nodes[k];
        struct cuda_node *cn = &bp->nodes[k];
        if (node->kind == NODE_POINT) cn->tables = place(layout, (int64_t)node->program.tables_size);
        if (node->kind != NODE_LOCAL) continue;
        cn->constants = place(layout, (int64_t)node->stage->constants_size);
        cn->scratch = place(layout, (int64_t)node->stage->device_scratch * bp->edges[k].rows);
    }
}

static imgpipe_status take_arena(struct backend_pass *bp, size_t size, bool *too_little, imgpipe_error *error) {
    struct cuda_backend *backend = bp->backend;
    *too_little = false;
    pthread_mutex_lock(&backend->lock);
    if (!backend->arena_taken && backend->arena_size >= size) {
        backend->arena_taken = bp->arena_shared = true;
        bp->arena = backend->arena;
    }
    pthread_mutex_unlock(&backend->lock);
    if (bp->arena_shared) return IMGPIPE_OK;
    size_t free_memory, total;
    CUDA_TRY(cudaMemGetInfo(&free_memory, &total));
    uint64_t ceiling = backend->memory ? backend->memory : free_memory / 2;
    cudaError_t code = size > ceiling ? cudaErrorMemoryAllocation : cuda_take(&backend->allocator, &bp->arena, size);
    if (code == cudaErrorMemoryAllocation) {
        char need[32], have[32];
        cudaGetLastError();
        *too_little = true;
        return error_set(error, IMGPIPE_ERROR_DEVICE, "out of device memory: the chain needs %s, and %s may be used; use --device cpu, or "
                                                      "raise --gpu-memory", text_bytes(size, need), text_bytes(ceiling, have));
    }
    CUDA_TRY(code);
    bp->arena_size = size;
    return IMGPIPE_OK;
}

/* The next lower height of tiles that divides the strips evenly, so that a strip is a whole number of tiles. */
static int64_t lower(int64_t strip_rows, int64_t tile_rows) {
    for (int64_t rows = tile_rows / 2; rows > 1; rows--)
        if (strip_rows % rows == 0) return rows;
    return 1;
}

static void cut_tiles(struct backend_pass *bp, int64_t rows) {
    int64_t height = bp->tiled.edges[bp->tiled.node_count].info.height;
    bp->tiled.strip_rows = rows;
    bp->tiled.strip_count = (height + rows - 1) / rows;
    bp->tiles_per_strip = (bp->io.pass->strip_rows + rows - 1) / rows;
}

/* On the stream that reads them, so that nobody waits; what they are copied from stays as long as the pass is open. */
static imgpipe_status upload_constants(struct backend_pass *bp, imgpipe_error *error) {
    const struct pass *pass = bp->io.pass;
    cudaStream_t stream = bp->backend->compute;
    for (int k = 0; k < pass->node_count; k++) {
        const struct node *node = &pass->nodes[k];
        if (node->kind == NODE_POINT && node->program.tables_size)
            CUDA_TRY(cudaMemcpyAsync(bp->nodes[k].tables, node->program.tables, node->program.tables_size, cudaMemcpyHostToDevice, stream));
        if (node->kind == NODE_LOCAL && node->stage->constants_size)
            CUDA_TRY(cudaMemcpyAsync(bp->nodes[k].constants, node->stage->constants, node->stage->constants_size, cudaMemcpyHostToDevice,
                                     stream));
    }
    for (int e = 0; e <= pass->node_count; e++)
        for (int g = 0; g < pass->edges[e].gather_count; g++)
            CUDA_TRY(cudaMemsetAsync(bp->edges[e].gather_state[g], 0, pass->edges[e].gathers[g].stage->gather_size, stream));
    return IMGPIPE_OK;
}

uint64_t cuda_pass_bytes(const struct backend *backend, const struct pass_io *io) {
    (void)backend; /* the same on every GPU */
    struct backend_pass bp = {.io = *io, .tiled = *io->pass};
    struct layout layout = {0};
    size_t ends = (size_t)io->pass->node_count + 1;
    bp.edges = calloc(ends, sizeof *bp.edges);
    bp.nodes = calloc(ends, sizeof *bp.nodes);
    cut_tiles(&bp, io->pass->strip_rows);
    if (bp.edges && bp.nodes) lay_out(&bp, &layout);
    free(bp.edges);
    free(bp.nodes);
    return layout.used + 256;
}

imgpipe_status cuda_pass_memory(struct backend_pass *bp, imgpipe_error *error) {
    bp->tiled = *bp->io.pass;
    int64_t rows = bp->io.pass->strip_rows;
    for (;;) {
        cut_tiles(bp, rows);
        struct layout layout = {0};
        lay_out(bp, &layout);
        bool too_little;
        imgpipe_status failed = take_arena(bp, layout.used + 256, &too_little, error);
        if (!failed) break;
        if (!too_little || rows == 1) return failed;
        rows = lower(bp->io.pass->strip_rows, rows);
        log_line(bp->io.log, IMGPIPE_LOG_DETAIL, "device memory is short: tiles of %lld rows", (long long)rows);
    }
    struct layout layout = {.base = bp->arena};
    lay_out(bp, &layout);
    bp->alone = bp->tiled.strip_count == 1;
    bp->up = bp->alone ? bp->backend->compute : bp->backend->up;
    bp->down = bp->alone ? bp->backend->compute : bp->backend->down;
    if (bp->io.poison) {
        CUDA_TRY(cudaMemset(bp->arena, 0xa5, layout.used));
        CUDA_TRY(cudaDeviceSynchronize()); /* before anything on other streams */
    }
    return upload_constants(bp, error);
}

void cuda_pass_release(struct backend_pass *bp) {
    struct cuda_backend *backend = bp->backend;
    void *surplus = bp->arena_shared ? NULL : bp->arena;
    size_t size = bp->arena_size;
    pthread_mutex_lock(&backend->lock);
    if (bp->arena_shared) {
        backend->arena_taken = false;
    } else if (bp->arena && !backend->arena_taken) { /* the newer one is kept */
        surplus = backend->arena;
        size = backend->arena_size;
        backend->arena = bp->arena;
        backend->arena_size = bp->arena_size;
    }
    pthread_mutex_unlock(&backend->lock);
    cuda_give(&backend->allocator, surplus, size);
}

/* The CUDA backend's view of one pass: memory on the device, tiles, and the strips on their way through three streams. */
#ifndef CUDA_PASS_H
#define CUDA_PASS_H
#include "backend.h"
#include "cuda_context.h"

#include <pthread.h>

#define CUDA_OUT_TILES 3    /* one computed, one downloaded, one waiting */
#define CUDA_MARKS 64       /* events of the latest tiles; more tiles than this are never under way */

struct cuda_backend {
    struct backend base;
    int device;
    uint64_t memory;        /* ceiling in device memory; 0: half of what is free */
    uint64_t pinned_ceiling, pinned; /* bytes of host memory; a ceiling of 0 is none */
    const struct log *log;
    pthread_mutex_t lock;   /* guards what runs at once share: the start, `pinned`, the arena that is kept */
    pthread_t starter;      /* starts the context beside whatever the caller does first */
    bool starting;
    imgpipe_status start_status;
    imgpipe_error start_error;
    struct cuda_driver driver;
    struct cuda_allocator allocator;
    cudaStream_t up, compute, down;
    void *arena;            /* device memory kept from pass to pass */
    size_t arena_size;
    bool arena_taken;
    bool told_pageable;
};

/* One tile on its way. */
struct cuda_mark {
    cudaEvent_t up0, up1, compute0, compute1, down0, down1;
    int64_t in0;            /* the first input row that it reads */
    struct strip *strip;    /* whose last tile this is, or NULL */
};

/* An edge's rows in device memory. */
struct cuda_edge {
    unsigned char *memory;  /* edge 0: the ring of input rows; the last: CUDA_OUT_TILES tiles; others: one tile */
    int64_t stride, rows;   /* rows of the ring, or of one tile */
    void *gather_state[EDGE_GATHERS];
};

struct cuda_node {
    void *constants, *scratch, *tables;
};

struct backend_pass {
    struct cuda_backend *backend;
    struct pass_io io;
    struct pass tiled;      /* the pass cut into tiles instead of strips */
    int64_t tiles_per_strip;
    struct cuda_edge *edges;
    struct cuda_node *nodes;
    struct strip_rows *rows; /* of each edge in the tile at hand */
    void *arena;
    size_t arena_size;
    bool arena_shared;      /* belongs to the backend, not to the pass */
    struct cuda_mark marks[CUDA_MARKS];
    int64_t tiles, drained; /* tiles enqueued and tiles completed, from the first tile of the image on */
    int64_t uploaded;       /* input rows that have been sent */
    double seconds[3];
    cudaEvent_t origin;     /* when the first tile's upload began, for the trace */
    /* The driver enqueues the work of strips; the completer waits for tiles and reports strips. Two threads, because a
     * strip must be enqueued while the one before is waited for. */
    pthread_t driver, completer;
    int threads_started;
    bool closing;
    pthread_mutex_t lock;   /* guards tiles, drained, closing, the queue, status */
    pthread_cond_t wake;
    struct task *queue, **queue_end;
    imgpipe_status status;  /* the first failure; later strips fail with it at once */
    imgpipe_error error;
};

/* Waits until the device has been started, and says whether that failed. */
imgpipe_status cuda_backend_started(struct cuda_backend *backend, imgpipe_error *error);

/* Checks a CUDA call: on failure fills `error` with its name and text, and returns IMGPIPE_ERROR_DEVICE. */
imgpipe_status cuda_check(cudaError_t code, const char *call, imgpipe_error *error);
#define CUDA_TRY(call)                                                    \
    do {                                                                  \
        imgpipe_status try_failed = cuda_check((call), #call, error);     \
        if (try_failed) return try_failed;                                \
    } while (0)

/* The pass reads an image that lies in device memory as a whole, because its first window wraps around. */
bool cuda_pass_whole(const struct backend_pass *bp);
/* Bytes of device memory that the pass takes in tiles as high as its strips. */
uint64_t cuda_pass_bytes(const struct pass_io *io);
/* Device memory of the pass, its constants and tables (cuda_memory.c). */
imgpipe_status cuda_pass_memory(struct backend_pass *bp, imgpipe_error *error);
void cuda_pass_release(struct backend_pass *bp);
/* Enqueues tile `index` (cuda_tile.c). */
imgpipe_status cuda_tile_enqueue(struct backend_pass *bp, int64_t index, struct strip *last_of, imgpipe_error *error);
#endif

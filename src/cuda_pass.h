/* The CUDA backend's view of one pass: memory on the device, tiles, and the strips on their way through three streams. */
#ifndef CUDA_PASS_H
#define CUDA_PASS_H
#include "backend.h"
#include "cuda_context.h"

#include <pthread.h>
#include <stdatomic.h>

#define CUDA_OUT_TILES 3    /* one computed, one downloaded, one waiting */
#define CUDA_MARKS 64       /* events of the latest tiles; more tiles than this are never under way */

struct cuda_backend {
    struct backend base;
    bool pool_shared;       /* belongs to another backend */
    int device;
    uint64_t memory;        /* ceiling in device memory; 0: half of what is free */
    uint64_t pinned_ceiling, pinned; /* bytes of host memory; a ceiling of 0 is none */
    const struct log *log;
    pthread_mutex_t lock;   /* guards what runs at once share: the start, `pinned`, the arena that is kept, idle crews */
    pthread_t starter;      /* starts the context beside whatever the caller does first */
    bool starting;
    bool seen;              /* the device seems to be there, though the driver may not have been asked yet */
    atomic_bool started;    /* or has failed to; the three below and `full` then stay as they are */
    imgpipe_status start_status;
    imgpipe_error start_error;
    char full[160];         /* `about` with the device's name */
    struct cuda_driver driver;
    struct cuda_allocator allocator;
    cudaStream_t up, compute, down;
    void *arena;            /* device memory kept from pass to pass */
    size_t arena_size;
    bool arena_taken;
    bool told_pageable;
    struct cuda_crew *idle; /* crews that no pass has */
};

/* One tile on its way. */
struct cuda_mark {
    cudaEvent_t up0, up1, compute0, compute1, down0, down1;
    int64_t at;             /* the position of the first input row that it reads */
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

/* Two threads with events, kept from pass to pass: the driver enqueues the work of strips, the completer waits for tiles and reports
 * strips, because a strip must be enqueued while the one before is waited for. */
struct cuda_crew {
    struct cuda_backend *backend;
    struct cuda_crew *next;     /* among the idle ones */
    pthread_t driver, completer;
    int threads;                /* so many of them have been started */
    pthread_mutex_t lock;       /* guards all below, and of the pass: tiles, drained, the queue, status */
    pthread_cond_t work, landed, idle; /* for the driver, for the completer, for who gives the crew back */
    struct backend_pass *pass;  /* NULL: none */
    int busy;                   /* threads that are about the pass */
    bool ending;
    imgpipe_status device_status; /* whether the threads could choose their device */
    imgpipe_error device_error;
    struct cuda_mark marks[CUDA_MARKS]; /* their events are made when they are first used */
    cudaEvent_t origin;         /* when the first tile's upload began, for the trace */
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
    bool alone;             /* there is one tile, which needs no threads of a crew, and but one stream */
    cudaStream_t up, down;  /* of the copies; that of the kernels is the backend's */
    struct cuda_crew *crew;
    int64_t tiles, drained; /* tiles enqueued and tiles completed */
    /* Input row y has position y + shift, and the slot that is its remainder by the ring's rows. The ring holds the positions from
     * `held` to `uploaded`, or will once what is enqueued is done. */
    int64_t held, uploaded, shift;
    double seconds[3];
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
uint64_t cuda_pass_bytes(const struct backend *backend, const struct pass_io *io);
/* Device memory of the pass, its constants and tables (cuda_memory.c). */
imgpipe_status cuda_pass_memory(struct backend_pass *bp, imgpipe_error *error);
void cuda_pass_release(struct backend_pass *bp);
/* The threads of the pass (cuda_crew.c): takes an idle crew or makes one, and gives it back once nothing of the pass is under way. */
imgpipe_status cuda_crew_take(struct backend_pass *bp, imgpipe_error *error);
void cuda_crew_give(struct backend_pass *bp);
void cuda_crew_submit(struct backend_pass *bp, struct strip *strip);
/* Ends all threads, none of which has a pass. */
void cuda_crews_free(struct cuda_backend *backend);
/* Enqueues tile `index` (cuda_tile.c). */
imgpipe_status cuda_tile_enqueue(struct backend_pass *bp, int64_t index, struct strip *last_of, imgpipe_error *error);
#endif

/* One pass under way: what run_pass.c schedules and run_memory.c gives memory to. */
#ifndef PASS_RUN_H
#define PASS_RUN_H
#include "run.h"

#include <pthread.h>

enum piece_state { PIECE_FILLING, PIECE_ENCODING, PIECE_ENCODED };

struct piece {                  /* one slot of the output */
    struct task task;
    struct pass_run *pr;
    struct sink_piece sink;
    int64_t rows_left;
    enum piece_state state;
};

struct strip_slot {
    struct strip strip;
    bool busy;
};

struct pass_run {
    struct run *run;
    const struct pass *pass;
    struct pass_io io;
    struct backend_pass *backend;   /* NULL until it is open */
    struct pool *pool;              /* of the slots */
    pthread_t opener;
    pthread_mutex_t lock;
    bool done;                  /* for tasks_run() */
    bool failed;
    imgpipe_status status;
    imgpipe_error error;
    int busy;                   /* tasks and strips under way */
    /* input */
    int64_t in_bands, decoded;  /* bands in all, and bands that are in memory */
    int64_t in_height;
    int64_t *users;             /* of each slot: strips that have not yet done with it */
    unsigned char **in_slots;
    void **rows;                /* of the band that is being decoded */
    bool decoding;
    struct task decode_task;
    int64_t fetched;            /* bands whose bytes the source has; with `ahead` alone */
    int ahead;                  /* how many of them may wait for being unpacked; 0: the source is read in one */
    bool fetching;
    struct task fetch_task;
    unsigned char *direct_in, *direct_out; /* images in memory that need no bands */
    /* strips */
    struct strip_slot *strips;
    int64_t strip_slots, started, finished;
    /* output */
    int64_t pieces_total, committed;
    struct piece *pieces;
    unsigned char **out_slots;
    bool committing;
    struct task commit_task;
    double progress_base, progress_share;
};

/* Everything but memory (run_pass.c). */
void pass_run_begin(struct pass_run *pr, struct run *run, int index);
/* Takes the memory for input bands, output pieces and strips. */
imgpipe_status pass_run_open(struct pass_run *pr, struct store *from, struct store *into, imgpipe_error *error);
void pass_run_close(struct pass_run *pr);
/* Prepares the slot of piece `index` for it. */
void piece_begin(struct pass_run *pr, int64_t index);
#endif

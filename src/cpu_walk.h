/* The walk of one worker through a strip on the CPU: in steps of a few rows through all nodes of the pass. Between two nodes there
 * is a ring of just the rows that the next still needs, so nothing is computed twice inside a strip and the rows stay in the L2
 * cache. Used by the CPU backend and by prepared plans; nothing here takes memory. */
#ifndef CPU_WALK_H
#define CPU_WALK_H
#include "backend.h"

/* One worker's view of an edge while it walks a strip. */
struct walk_edge {
    unsigned char *ring;  /* NULL for the edges whose rows lie in bands or in the caller's image */
    unsigned char *spare; /* the ring of the first or the last edge, for runs in which it is wanted */
    int64_t ring_rows;
    size_t stride, offset;
    int64_t end, made;  /* rows up to `made` exist, and are made up to `end` */
    int64_t own0, own1; /* rows that the gathers count */
    unsigned char *gather_state[EDGE_GATHERS];
};

struct walk_node {
    unsigned char *state, *scratch, *constant_row;
    size_t state_size; /* of each part of the rows */
    const void **in, **ahead;
    void **out;
    int64_t in_capacity;
    bool started;
};

struct worker {
    struct walk_edge *edges;
    struct walk_node *nodes;
    struct strip_rows *rows; /* of each edge in the strip at hand */
    int64_t side;            /* pixels of either end made of copies while all others are read in place; 0: all are copied */
    unsigned char *gather_scratch;
    bool stopped;          /* the strip at hand was left: the caller wants no more of it, or there is a failure */
    imgpipe_status status; /* a sample of the caller's that its layout does not allow */
    imgpipe_error error;
    double seconds;
    void *memory; /* one block for everything that grows with the image */
};

struct backend_pass {
    struct backend *backend;
    struct pass_io io;
    int worker_count;
    struct worker *workers;
};

/* Hands out the worker's part of `base`, and returns how many bytes that is; NULL only measures. The arrays of edges, nodes and
 * rows are the caller's, node_count + 1 of each, and the pass's strips and ends are known. */
size_t worker_lay_out(struct backend_pass *bp, struct worker *worker, unsigned char *base);
/* Fills what stays the same in all strips. Once, before the first. */
void worker_begin(struct backend_pass *bp, struct worker *worker);
/* Before a run whose layouts may differ from those of the last one: which rows pass through rings. */
void worker_ends(const struct backend_pass *bp, struct worker *worker);
/* Forgets what the worker's gathers have counted. */
void worker_forget(struct backend_pass *bp, struct worker *worker);
/* Computes the strip; worker->stopped says that it was left half-way. */
void worker_walk(struct backend_pass *bp, struct worker *worker, const struct strip *strip);
#endif

/* What run.c asks of a backend: compute strips, and hand over what gathers found. */
#ifndef BACKEND_H
#define BACKEND_H
#include "cancel.h"
#include "pool.h"
#include "strip.h"

struct backend;
struct backend_pass;

/* One pass as the backend sees it. `in` and `out` stay as they are while the pass is open; `out` has no slots when the
 * rows of the last edge are not wanted. */
struct pass_io {
    const struct pass *pass;
    const struct pass *next;        /* reads the store that this pass makes, or NULL: whose padding `out` gets */
    struct rows_view in, out;
    int64_t strips;                 /* so many may be under way at once */
    bool bare;                      /* rows of `in` are the caller's: not padded, no slack, perhaps not aligned */
    /* Prepared plans: rows of the caller's have layouts of their own, which change from run to run. All zero: as the format says. */
    bool laid_out;
    imgpipe_layout in_layout, out_layout;
    const struct log *log;
    uint64_t memory;                /* ceiling of host memory in bytes */
    const struct cancel *cancel;    /* a strip may take minutes, so it is asked within strips too */
    bool poison;
};

struct backend_ops {
    const char *name;
    /* Whether open() may take long, waiting for something else than this CPU; NULL: it never does. */
    bool (*opens_slowly)(struct backend *backend, const struct pass_io *io);
    imgpipe_status (*open)(struct backend *backend, const struct pass_io *io, struct backend_pass **pass, imgpipe_error *error);
    /* Starts a strip whose input rows are in memory; returns at once. Strips come in order. Must not call
     * strip->done() from here: the caller holds the lock that it takes. */
    void (*submit)(struct backend_pass *pass, struct strip *strip);
    /* After the last strip: adds the state of gather `g` of edge `e` to `state`. */
    imgpipe_status (*collect)(struct backend_pass *pass, int e, int g, void *state, imgpipe_error *error);
    /* Frees the pass; adds the seconds of all its work to `seconds`, by BACKEND_UPLOAD and so on. */
    void (*close)(struct backend_pass *pass, double seconds[3]);
    void (*free)(struct backend *backend);
    /* Bytes of device memory that open() would take; NULL: none. */
    uint64_t (*device_bytes)(const struct backend *backend, const struct pass_io *io);
    /* `about` with all that is known by now; NULL: nothing more. */
    const char *(*describe)(const struct backend *backend);
    /* Whether open() would wait for the start of a device that seems to be there; NULL: it never does. */
    bool (*starts)(const struct backend *backend);
};

struct backend {
    const struct backend_ops *ops;
    struct tasks *tasks;            /* the context's */
    const struct point_kernels *point; /* the CPU's */
    struct pool *pool;              /* host memory that the backend can read and write directly */
    char about[96];
};

enum { BACKEND_UPLOAD, BACKEND_COMPUTE, BACKEND_DOWNLOAD };

/* Takes over `pool`, from which all memory of rows comes, unless it fails. */
imgpipe_status backend_cpu_new(struct tasks *tasks, int isa, struct pool *pool, struct backend **backend, imgpipe_error *error);
#endif

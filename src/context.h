/* What lives from run to run: threads, backends, memory. */
#ifndef CONTEXT_H
#define CONTEXT_H
#include "backend.h"
#include "backend_cuda.h"
#include "cancel.h"
#include "outfile.h"

#include <pthread.h>

enum device_wish { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA };

struct imgpipe_context {
    struct log log;
    struct tasks *tasks;
    struct outfile_folders folders;
    struct backend *cpu;
    pthread_mutex_t lock;       /* guards `cuda` while it is NULL, and `no_gpu` */
    struct backend *cuda;       /* NULL until a run wants it */
    bool cpu_meanwhile;         /* the CPU does quick work until the GPU has started */
    bool no_gpu;                /* for `auto`: there turned out to be none */
    struct backend *group;      /* all GPUs together, of which `cuda` is one; NULL unless they were asked for */
    int gpus;                   /* so many work on one image */
    enum device_wish wish;
    struct cuda_options cuda_options;
    int share, turn;            /* so many contexts share the machine, of which this is number `turn` from 0 … */
    int64_t runs;               /* … for so many runs */
    int isa;
    uint64_t memory;
    void (*progress)(void *user, double done);
    struct cancel cancel;
    void *user;
};

/* The backend for a run of `plan`, and one line that says which and why. `auto` takes a GPU where the chain would keep the
 * CPUs at hand busy for longer than AUTO_START seconds (what a GPU's context takes to start) plus the time of copying the
 * image there and back; the codecs, which stay on the CPU in any case, do not count. With a GPU already started by an
 * earlier run of the context its start-up does not count either, and with many runs to come only a share of it; the link is shared
 * with the other contexts at work. With `cpu_meanwhile` the CPU does quick chains until the GPU that is to do them has started. */
imgpipe_status context_backend(imgpipe_context *context, const struct plan *plan, struct backend **backend, char *why, size_t why_size,
                               imgpipe_error *error);
/* Tells that the GPU that `auto` took is not there. */
void context_without_gpu(imgpipe_context *context);
#endif

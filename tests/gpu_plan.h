/* What test_gpu_plan.c is made of: frames in device memory beside their copies on the host, and what the CPU makes of them. */
#ifndef GPU_PLAN_H
#define GPU_PLAN_H
#include "imgpipe.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                                \
    do {                                                                                                                           \
        cudaError_t check_code = (call);                                                                                           \
        if (check_code != cudaSuccess) {                                                                                           \
            printf("FAIL %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_code));                              \
            exit(1);                                                                                                               \
        }                                                                                                                          \
    } while (0)

/* One image in device memory: rows apart by the stride, with a guard of known bytes around every row of the output. */
struct frame {
    imgpipe_device_image in, out;
    unsigned char *host; /* the input's rows without gaps */
    unsigned char *memory[2];
    size_t size[2];
};

/* A plan and its stream. */
struct subject {
    imgpipe_plan *plan;
    imgpipe_info largest;
    cudaStream_t stream;
    imgpipe_error error;
    struct frame frame;
};

/* The driver's functions for contexts. */
extern struct driver {
    CUresult (*get)(CUcontext *context);
    CUresult (*create)(CUcontext *context);
    CUresult (*destroy)(CUcontext context);
} driver;

/* 77 without a GPU. */
int begin(void);
int end(void);
/* The context on the GPU, whose device memory comes from functions of the test's own. */
imgpipe_context *context(void);
/* How many bytes they gave. */
size_t allocated(void);
void expect(bool good, const char *what, const char *detail);

bool subject_new(struct subject *s, const char *text, const imgpipe_info *largest, const imgpipe_prepare_options *options);
void subject_free(struct subject *s);
/* `aligned`: rows at multiples of 256 bytes. */
struct frame frame_new(struct subject *s, int64_t width, int64_t height, bool aligned);
/* With layouts of the input and the output, and rows that lie bottom up. */
struct frame frame_laid(struct subject *s, int64_t width, int64_t height, bool aligned, const imgpipe_layout layouts[2],
                        bool upside_down);
/* New content. */
void frame_refill(struct frame *frame);
void frame_free(struct frame *frame);
void enqueue(struct subject *s, const struct frame *frame, cudaStream_t stream);
/* Waits, and compares the output with what the CPU makes of a chain of this text. */
void frame_check(struct subject *s, struct frame *frame, const char *text);
/* The histogram of the chain's first stage, by the CPU. */
void count_on_cpu(struct subject *s, const struct frame *frame, const char *text, uint64_t *counts, bool add);

/* gpu_plan_watch.c: every call of the driver in a run is one that enqueues; and what enqueueing costs. */
void watched(void);
void bench_enqueue(void);
#endif

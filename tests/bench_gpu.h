/* bench_gpu: what is measured, and how a chain runs on images that lie in device memory. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H
#include "plan.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        cudaError_t check_code = (cudaError_t)(call);                                                \
        if (check_code != cudaSuccess) {                                                             \
            fprintf(stderr, "bench_gpu: %s: %s\n", #call, cudaGetErrorString(check_code));           \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)

struct gpu_case {
    const char *chain;
    imgpipe_type type;
    int channels;
    double goal; /* Gpix/s on an H200; 0: none is set */
    bool quick;  /* also with --quick */
    bool frames; /* also on frames of a camera */
};
extern const struct gpu_case gpu_cases[];
extern const int gpu_case_count;

/* Masks that are too long for a chain's text in the table: "conv=@int:9", "conv=@real:9" stand for a mask of that size.
 * Returns text to be freed. */
char *gpu_chain_text(const char *chain);

enum gpu_content { GPU_RANDOM, GPU_CONSTANT, GPU_NATURAL, GPU_CONTENTS };
extern const char *const gpu_content_names[GPU_CONTENTS];
/* Fills `bytes` of samples for rows of `width` pixels. Natural content are the pictures of `folder`, side by side; false if they
 * cannot be read. */
bool gpu_fill(void *samples, int64_t width, int64_t rows, imgpipe_format format, enum gpu_content content, const char *folder);

/* A chain on one image size with all its device memory. */
struct gpu_run;
struct gpu_run *gpu_run_new(const char *chain, imgpipe_info in, cudaStream_t stream);
void gpu_run_free(struct gpu_run *run);
imgpipe_info gpu_run_output(const struct gpu_run *run);
/* The input in device memory: row y is at + y * stride. */
unsigned char *gpu_run_input(const struct gpu_run *run, int64_t *stride);
/* Enqueues everything once: the whole image at a time, or strips of `rows` output rows. */
void gpu_run_enqueue(struct gpu_run *run, int64_t rows);
/* How many kernels and copies one gpu_run_enqueue() launches; -1 if they cannot be counted. */
int gpu_run_launches(struct gpu_run *run, int64_t rows);
/* Compares one run with the CPU's result, byte for byte; `host` holds the input without padding. NULL, or what differs. */
const char *gpu_run_verify(struct gpu_run *run, const char *chain, const void *host);

/* The same work by a library that was found when this was built, on the same input; NULL if none does it. */
struct gpu_peer;
struct gpu_peer *gpu_peer_new(const char *chain, imgpipe_info in, const unsigned char *from, int64_t stride, cudaStream_t stream);
void gpu_peer_free(struct gpu_peer *peer);
const char *gpu_peer_name(const struct gpu_peer *peer);
/* 0, or what the library says of a failure. */
int gpu_peer_enqueue(struct gpu_peer *peer);
#endif

/* bench_gpu: chains on images in device memory, through the launchers that the CUDA backend calls. */
#include "bench_gpu.h"
#include "hist.h"
#include "kernel.h"

#include <string.h>

struct gpu_run {
    imgpipe_chain *chain;
    struct plan *plan;
    cudaStream_t stream;
    unsigned char **edges; /* one image an edge */
    int64_t *strides;
    void **constants, **scratch, **tables;
    void *state; /* of the one gather */
};

static void die(const char *chain, const char *why) {
    fprintf(stderr, "bench_gpu: %s: %s\n", chain, why);
    exit(1);
}

static void *device_copy(const void *from, size_t size) {
    void *to = NULL;
    if (!size) return NULL;
    CHECK(cudaMalloc(&to, size));
    CHECK(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice));
    /* A copy from pageable memory may still be under way when the call returns, and the stream does not wait for it. */
    CHECK(cudaDeviceSynchronize());
    return to;
}

struct gpu_run *gpu_run_new(const char *text, imgpipe_info in, cudaStream_t stream) {
    struct gpu_run *run = calloc(1, sizeof *run);
    struct plan_options options = {.isa = kernel_isa_best(), .threads = 1};
    imgpipe_error error = {0};
    if (!run) abort();
    run->stream = stream;
    if (imgpipe_chain_parse(text, &run->chain, &error) || plan_make(run->chain, &in, &options, &run->plan, &error))
        die(text, error.message);
    const struct pass *pass = &run->plan->passes[0];
    if (run->plan->pass_count != 1) die(text, "takes more than one pass");
    size_t n = (size_t)pass->node_count + 1;
    run->edges = calloc(n, sizeof *run->edges);
    run->strides = calloc(n, sizeof *run->strides);
    run->constants = calloc(3 * n, sizeof *run->constants);
    if (!run->edges || !run->strides || !run->constants) abort();
    run->scratch = run->constants + n;
    run->tables = run->scratch + n;
    for (size_t e = 0; e < n; e++) {
        imgpipe_info info = pass->edges[e].info;
        run->strides[e] = (info.width * (int64_t)imgpipe_pixel_size(info.format) + 255) / 256 * 256;
        /* A gather's copy of its input is not made. */
        if (e == 0 || pass->nodes[e - 1].kind != NODE_COPY)
            CHECK(cudaMalloc((void **)&run->edges[e], (size_t)(run->strides[e] * info.height)));
    }
    for (int k = 0; k < pass->node_count; k++) {
        const struct node *node = &pass->nodes[k];
        if (node->kind == NODE_POINT) run->tables[k] = device_copy(node->program.tables, node->program.tables_size);
        if (node->kind != NODE_LOCAL) continue;
        if (!node->stage->cuda) die(text, "has no kernel in this build");
        run->constants[k] = device_copy(node->stage->constants, node->stage->constants_size);
        size_t scratch = node->stage->device_scratch * (size_t)pass->edges[k + 1].info.height;
        if (scratch) CHECK(cudaMalloc(&run->scratch[k], scratch));
    }
    if (pass->edges[0].gather_count) CHECK(cudaMalloc(&run->state, pass->edges[0].gathers[0].stage->gather_size));
    return run;
}

void gpu_run_free(struct gpu_run *run) {
    const struct pass *pass = &run->plan->passes[0];
    for (int e = 0; e <= pass->node_count; e++) {
        CHECK(cudaFree(run->edges[e]));
        CHECK(cudaFree(run->constants[e]));
        CHECK(cudaFree(run->scratch[e]));
        CHECK(cudaFree(run->tables[e]));
    }
    CHECK(cudaFree(run->state));
    free(run->edges);
    free(run->strides);
    free(run->constants);
    plan_free(run->plan);
    imgpipe_chain_free(&run->chain);
    free(run);
}

imgpipe_info gpu_run_output(const struct gpu_run *run) {
    return run->plan->out;
}

unsigned char *gpu_run_input(const struct gpu_run *run, int64_t *stride) {
    *stride = run->strides[0];
    return run->edges[0];
}

/* Rows [y0, y1) of node k's output; its input is there as a whole. */
static void node_enqueue(const struct gpu_run *run, int k, int64_t y0, int64_t y1) {
    const struct pass *pass = &run->plan->passes[0];
    const struct node *node = &pass->nodes[k];
    imgpipe_info in = pass->edges[k].info, out = pass->edges[k + 1].info;
    imgpipe_tile tile = {.in = run->edges[k],
                         .in_stride = run->strides[k],
                         .in_ring = in.height,
                         .in_rect = {0, 0, in.width, in.height},
                         .out = run->edges[k + 1] + y0 * run->strides[k + 1],
                         .out_stride = run->strides[k + 1],
                         .out_rect = {0, y0, out.width, y1},
                         .constants = run->constants[k],
                         .scratch = run->scratch[k]};
    if (node->kind == NODE_POINT) CHECK(point_cuda(&node->program, run->tables[k], &tile, 1, run->stream));
    if (node->kind == NODE_LOCAL) CHECK(node->stage->cuda(node->stage, &tile, 1, run->stream));
}

static void gather_enqueue(const struct gpu_run *run) {
    const struct edge *edge = &run->plan->passes[0].edges[0];
    const imgpipe_stage *stage = edge->gathers[0].stage;
    imgpipe_rect all = {0, 0, edge->info.width, edge->info.height};
    imgpipe_tile tile = {.in = run->edges[0],
                         .in_stride = run->strides[0],
                         .in_ring = edge->info.height,
                         .in_rect = all,
                         .out_rect = all,
                         .state = run->state};
    CHECK(cudaMemsetAsync(run->state, 0, stage->gather_size, run->stream));
    CHECK(stage->cuda(stage, &tile, 1, run->stream));
}

void gpu_run_enqueue(struct gpu_run *run, int64_t rows) {
    const struct pass *pass = &run->plan->passes[0];
    int64_t height = run->plan->out.height;
    if (run->state) {
        gather_enqueue(run);
        return;
    }
    if (rows <= 0) rows = height;
    for (int64_t y = 0; y < height; y += rows) {
        int64_t end = y + rows < height ? y + rows : height;
        for (int k = 0; k < pass->node_count; k++) {
            int64_t y0 = y, y1 = end;
            pass_need(pass, k + 1, y, end, &y0, &y1);
            node_enqueue(run, k, y0, y1);
        }
    }
}

int gpu_run_launches(struct gpu_run *run, int64_t rows) {
    cudaGraph_t graph = NULL;
    size_t n = 0;
    if (cudaStreamBeginCapture(run->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return -1;
    gpu_run_enqueue(run, rows);
    if (cudaStreamEndCapture(run->stream, &graph) != cudaSuccess || cudaGraphGetNodes(graph, NULL, &n) != cudaSuccess) return -1;
    CHECK(cudaGraphDestroy(graph));
    return (int)n;
}

/* Counts of a gather against plain counting. */
static const char *verify_counts(const struct gpu_run *run, const unsigned char *host) {
    const struct edge *edge = &run->plan->passes[0].edges[0];
    const imgpipe_stage *stage = edge->gathers[0].stage;
    const struct hist_job *job = stage->data;
    int64_t slots = hist_slots(job), samples = edge->info.width * edge->info.height * job->channels;
    uint64_t *found = malloc(stage->gather_size), *counted = calloc(1, stage->gather_size);
    if (!found || !counted) abort();
    for (int64_t i = 0; i < samples; i++) {
        int64_t slot = edge->info.format.type == IMGPIPE_U8    ? host[i]
                       : edge->info.format.type == IMGPIPE_U16 ? ((const uint16_t *)host)[i]
                                                               : hist_slot(((const float *)host)[i], job);
        counted[i % job->channels * slots + slot]++;
    }
    CHECK(cudaMemcpy(found, run->state, stage->gather_size, cudaMemcpyDeviceToHost));
    bool same = memcmp(found, counted, (size_t)(slots * job->channels) * sizeof *counted) == 0;
    free(found);
    free(counted);
    return same ? NULL : "counts differ from the CPU's";
}

const char *gpu_run_verify(struct gpu_run *run, const char *text, const void *host) {
    imgpipe_info in = run->plan->in, out = run->plan->out;
    size_t row = (size_t)out.width * imgpipe_pixel_size(out.format), in_row = (size_t)in.width * imgpipe_pixel_size(in.format);
    imgpipe_image from = {in, (void *)(uintptr_t)host, (ptrdiff_t)in_row},
                  to = {out, malloc(row * (size_t)out.height), (ptrdiff_t)row};
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_error error = {0};
    int last = run->plan->passes[0].node_count;
    unsigned char *found = malloc(row * (size_t)out.height);
    const char *wrong = NULL;
    if (!to.pixels || !found) abort();
    CHECK(cudaMemcpy2D(run->edges[0], (size_t)run->strides[0], host, in_row, in_row, (size_t)in.height, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    gpu_run_enqueue(run, 0);
    CHECK(cudaStreamSynchronize(run->stream));
    if (run->state) {
        wrong = verify_counts(run, host);
    } else {
        options.device = "cpu";
        if (imgpipe_context_new(&options, &context, &error) ||
            imgpipe_run_image(context, run->chain, &from, &to, NULL, NULL, &error))
            die(text, error.message);
        CHECK(cudaMemcpy2D(found, row, run->edges[last], (size_t)run->strides[last], row, (size_t)out.height,
                           cudaMemcpyDeviceToHost));
        if (memcmp(found, to.pixels, row * (size_t)out.height)) wrong = "pixels differ from the CPU's";
        imgpipe_context_free(&context);
    }
    free(found);
    free(to.pixels);
    return wrong;
}

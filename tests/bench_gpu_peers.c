/* bench_gpu: the same work by NPP (gray, blur, box, correlation, median) and CUB (histograms), where they were found when this was
 * built. What they compute differs at borders and in rounding; only their time is of interest. */
#include "bench_gpu.h"

#include <string.h>

#ifdef WITH_NPP
#include <nppi_color_conversion.h>
#include <nppi_filtering_functions.h>
#endif

#define PEER_SIZE 15 /* of correlation masks, at most */

enum peer_kind { PEER_GRAY, PEER_BLUR, PEER_BOX, PEER_WHOLE, PEER_REAL, PEER_MEDIAN, PEER_HIST };
struct gpu_peer {
    enum peer_kind kind;
    imgpipe_info in;
    int size; /* of the window */
    const unsigned char *from;
    int64_t from_stride, to_stride;
    unsigned char *to;
    void *scratch, *mask;
    size_t scratch_size;
    cudaStream_t stream;
};

static bool read_kind(const char *chain, struct gpu_peer *peer) {
    int size;
    peer->size = 1;
    if (!strcmp(chain, "gray"))
        peer->kind = PEER_GRAY;
    else if (!strcmp(chain, "blur=2"))
        peer->kind = PEER_BLUR, peer->size = 13;
    else if (!strcmp(chain, "hist=pass"))
        peer->kind = PEER_HIST;
    else if (sscanf(chain, "box=%d", &size) == 1)
        peer->kind = PEER_BOX, peer->size = size;
    else if (sscanf(chain, "median=%d", &size) == 1)
        peer->kind = PEER_MEDIAN, peer->size = size;
    else if (sscanf(chain, "conv=gaussian%d", &size) == 1)
        peer->kind = PEER_WHOLE, peer->size = size;
    else if (sscanf(chain, "conv=@int:%d", &size) == 1)
        peer->kind = PEER_WHOLE, peer->size = size;
    else if (sscanf(chain, "conv=@real:%d", &size) == 1)
        peer->kind = PEER_REAL, peer->size = size;
    else
        return false;
    return !strchr(chain, ',');
}

#ifdef WITH_CUB
extern int gpu_cub_histogram(void *scratch, size_t *scratch_size, const void *samples, int channels, int *counts, int64_t width,
                             int64_t height, int64_t stride, cudaStream_t stream);
static int hist_enqueue(struct gpu_peer *peer) {
    return gpu_cub_histogram(peer->scratch, &peer->scratch_size, peer->from, peer->in.format.channels, (int *)peer->to,
                             peer->in.width, peer->in.height, peer->from_stride, peer->stream);
}
#else
static int hist_enqueue(struct gpu_peer *peer) {
    (void)peer;
    return -1;
}
#endif

#ifdef WITH_NPP
static NppStreamContext npp_context(cudaStream_t stream) {
    NppStreamContext context = {0};
    struct cudaDeviceProp device;
    int id = 0;
    CHECK(cudaGetDevice(&id));
    CHECK(cudaGetDeviceProperties(&device, id));
    context.hStream = stream;
    context.nCudaDeviceId = id;
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    CHECK(cudaStreamGetFlags(stream, &context.nStreamFlags));
    return context;
}

static int median_enqueue(struct gpu_peer *p, NppStreamContext context) {
    const int border = p->size - 1;
    NppiSize inner = {(int)p->in.width - border, (int)p->in.height - border}, window = {p->size, p->size};
    NppiPoint anchor = {p->size / 2, p->size / 2};
    const unsigned char *from = p->from + p->size / 2 * p->from_stride + p->size / 2;
    Npp32u size = 0;
    if (!p->scratch) {
        if (nppiFilterMedianGetBufferSize_8u_C1R_Ctx(inner, window, &size, context) != NPP_SUCCESS) return -1;
        p->scratch_size = size;
        CHECK(cudaMalloc(&p->scratch, p->scratch_size ? p->scratch_size : 1));
    }
    return nppiFilterMedian_8u_C1R_Ctx(from, (int)p->from_stride, p->to, (int)p->to_stride, inner, window, anchor, p->scratch,
                                       context);
}

/* 0 or what NPP says. */
static int npp_enqueue(struct gpu_peer *p) {
    static NppStreamContext context;
    NppiSize all = {(int)p->in.width, (int)p->in.height}, window = {p->size, p->size};
    NppiPoint none = {0, 0}, anchor = {p->size / 2, p->size / 2};
    const int in = (int)p->from_stride, out = (int)p->to_stride;
    const bool three = p->in.format.channels == 3;
    if (!context.hStream) context = npp_context(p->stream);
    switch (p->kind) {
    case PEER_GRAY: return three ? nppiRGBToGray_8u_C3C1R_Ctx(p->from, in, p->to, out, all, context) : -1;
    case PEER_BLUR:
        if (three)
            return nppiFilterGaussAdvancedBorder_8u_C3R_Ctx(p->from, in, all, none, p->to, out, all, p->size, p->mask,
                                                            NPP_BORDER_REPLICATE, context);
        return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(p->from, in, all, none, p->to, out, all, p->size, p->mask,
                                                        NPP_BORDER_REPLICATE, context);
    case PEER_BOX:
        if (three)
            return nppiFilterBoxBorder_8u_C3R_Ctx(p->from, in, all, none, p->to, out, all, window, anchor, NPP_BORDER_REPLICATE,
                                                  context);
        return nppiFilterBoxBorder_8u_C1R_Ctx(p->from, in, all, none, p->to, out, all, window, anchor, NPP_BORDER_REPLICATE,
                                              context);
    case PEER_WHOLE:
        return three ? -1
                     : nppiFilterBorder_8u_C1R_Ctx(p->from, in, all, none, p->to, out, all, p->mask, window, anchor, 256,
                                                   NPP_BORDER_REPLICATE, context);
    case PEER_REAL:
        return nppiFilterBorder32f_8u_C1R_Ctx(p->from, in, all, none, p->to, out, all, p->mask, window, anchor,
                                              NPP_BORDER_REPLICATE, context);
    case PEER_MEDIAN: return three ? -1 : median_enqueue(p, context);
    default: return -1;
    }
}
#else
static int npp_enqueue(struct gpu_peer *peer) {
    (void)peer;
    return -1;
}
#endif

static void make_mask(struct gpu_peer *peer) {
    int32_t whole[PEER_SIZE * PEER_SIZE];
    float real[PEER_SIZE * PEER_SIZE];
    const int n = peer->kind == PEER_BLUR ? peer->size : peer->size * peer->size;
    for (int i = 0; i < n; i++) whole[i] = i % 7 - 2, real[i] = ((float)(i % 7) + 0.5f) / (4.0f * (float)n);
    CHECK(cudaMalloc(&peer->mask, (size_t)n * 4));
    CHECK(cudaMemcpy(peer->mask, peer->kind == PEER_WHOLE ? (const void *)whole : real, (size_t)n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
}

const char *gpu_peer_name(const struct gpu_peer *peer) {
    return peer->kind == PEER_HIST ? "CUB" : "NPP";
}

int gpu_peer_enqueue(struct gpu_peer *peer) {
    return peer->kind == PEER_HIST ? hist_enqueue(peer) : npp_enqueue(peer);
}

void gpu_peer_free(struct gpu_peer *peer) {
    CHECK(cudaFree(peer->to));
    CHECK(cudaFree(peer->scratch));
    CHECK(cudaFree(peer->mask));
    free(peer);
}

struct gpu_peer *gpu_peer_new(const char *chain, imgpipe_info in, const unsigned char *from, int64_t stride, cudaStream_t stream) {
    struct gpu_peer *peer = calloc(1, sizeof *peer);
    if (!peer) abort();
    *peer = (struct gpu_peer){.in = in, .from = from, .from_stride = stride, .to_stride = stride, .stream = stream};
    const bool known = read_kind(chain, peer);
    const bool masked = known && (peer->kind == PEER_BLUR || peer->kind == PEER_WHOLE || peer->kind == PEER_REAL);
    if (in.format.type != IMGPIPE_U8 || !known || (masked && peer->size > PEER_SIZE)) {
        free(peer);
        return NULL;
    }
    CHECK(cudaMalloc((void **)&peer->to, (size_t)(stride * in.height) + 4096));
    if (masked) make_mask(peer);
    if (peer->kind == PEER_HIST && hist_enqueue(peer) == 0) CHECK(cudaMalloc(&peer->scratch, peer->scratch_size));
    if (gpu_peer_enqueue(peer) == 0 && cudaStreamSynchronize(stream) == cudaSuccess) return peer;
    gpu_peer_free(peer);
    return NULL;
}

/* Camera frames that never leave the GPU: a kernel of this program's own makes them, imgpipe takes the noise out and counts a histogram,
 * and another kernel of ours marks in red what is brightest. All of it is captured into one CUDA graph, a launch of which is a frame.
 *
 *     nvcc camera.cu -o camera $(pkg-config --cflags --libs imgpipe)
 *     ./camera [FRAME.ppm RESULT.ppm]
 *
 * prints a line for each of four frames; with names it also writes the last frame as it came and as it was made. */
#include <imgpipe.h>

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

enum { WIDTH = 320, HEIGHT = 240, FRAMES = 4, SLOTS = 256 + 3 };

static void check(cudaError_t code) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "camera: %s\n", cudaGetErrorString(code));
    exit(1);
}

static void check(imgpipe_status status, const imgpipe_error &error) {
    if (status == IMGPIPE_OK) return;
    fprintf(stderr, "camera: %s\n", error.message);
    exit(1);
}

/* Stands for the camera: a ramp that moves from frame to frame, and a defect in every 40th sample. */
static __global__ void expose(unsigned char *frame, size_t stride, unsigned *number) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH * 3) return;
    unsigned noise = (unsigned)(y * WIDTH * 3 + x) * 2654435761u + *number * 40503u;
    frame[y * stride + x] = (noise >> 8) % 40 == 0 ? (unsigned char)(noise >> 24) : (unsigned char)((x / 3 + y + 16 * *number) / 3);
}

/* The level that at most two samples of a hundred in green reach. One thread is enough for 256 numbers. */
static __global__ void find_level(const uint64_t *counts, unsigned *level, unsigned *number) {
    uint64_t above = 0;
    unsigned v = 256;
    while (v > 0 && above + counts[SLOTS + v - 1] <= WIDTH * HEIGHT / 50) above += counts[SLOTS + --v];
    *level = v;
    ++*number;
}

static __global__ void mark(unsigned char *image, size_t stride, const unsigned *level) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= WIDTH) return;
    unsigned char *pixel = image + y * stride + 3 * x;
    if (pixel[1] < *level) return;
    pixel[0] = 255;
    pixel[1] = pixel[2] = 0;
}

static void write_ppm(const char *name, const imgpipe_device_image &image) {
    std::vector<unsigned char> rows(WIDTH * 3 * HEIGHT);
    check(cudaMemcpy2D(rows.data(), WIDTH * 3, image.pixels, (size_t)image.stride, WIDTH * 3, HEIGHT, cudaMemcpyDeviceToHost));
    FILE *file = fopen(name, "wb");
    bool good = file && fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT) > 0 && fwrite(rows.data(), 1, rows.size(), file) == rows.size();
    if (!file || fclose(file) != 0 || !good) {
        perror(name);
        exit(1);
    }
}

int main(int argc, char **argv) {
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_plan *plan = NULL;
    imgpipe_error error;
    imgpipe_context_options options = imgpipe_context_options_default();
    options.device = "cuda";
    check(imgpipe_context_new(&options, &context, &error), error);
    check(imgpipe_chain_parse("median=3,hist=pass", &chain, &error), error);

    /* Rows from cudaMallocPitch() are aligned as imgpipe's kernels want them, so that nothing is copied. */
    imgpipe_device_image frame = {}, result;
    frame.info.width = WIDTH;
    frame.info.height = HEIGHT;
    frame.info.format.type = IMGPIPE_U8;
    frame.info.format.channels = 3;
    result = frame;
    size_t stride;
    check(cudaMallocPitch(&frame.pixels, &stride, WIDTH * 3, HEIGHT));
    check(cudaMallocPitch(&result.pixels, &stride, WIDTH * 3, HEIGHT));
    frame.stride = result.stride = (ptrdiff_t)stride;

    uint64_t *counts;
    unsigned *state; /* the level, and the number of the frame */
    check(imgpipe_prepare(context, chain, &frame.info, NULL, &plan, &error), error);
    imgpipe_histogram histogram = {};
    histogram.struct_size = sizeof histogram;
    check(imgpipe_plan_histogram(plan, 1, &histogram, &error), error);
    check(cudaMalloc(&counts, histogram.size));
    check(imgpipe_plan_count(plan, 1, counts, false, &error), error);
    check(cudaMalloc(&state, 2 * sizeof *state));
    check(cudaMemset(state, 0, 2 * sizeof *state));

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    expose<<<dim3((WIDTH * 3 + 127) / 128, HEIGHT), 128, 0, stream>>>((unsigned char *)frame.pixels, stride, state + 1);
    check(imgpipe_plan_enqueue(plan, &frame, &result, stream, &error), error);
    find_level<<<1, 1, 0, stream>>>(counts, state, state + 1);
    mark<<<dim3((WIDTH + 127) / 128, HEIGHT), 128, 0, stream>>>((unsigned char *)result.pixels, stride, state);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&exec, graph, 0));

    for (int i = 0; i < FRAMES; i++) {
        unsigned now[2];
        check(cudaGraphLaunch(exec, stream));
        check(cudaMemcpyAsync(now, state, sizeof now, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        printf("frame %u: green from %u on is marked\n", now[1], now[0]);
    }
    if (argc == 3) write_ppm(argv[1], frame), write_ppm(argv[2], result);

    check(cudaGraphExecDestroy(exec)); /* before the plan, whose memory it uses */
    check(cudaGraphDestroy(graph));
    check(cudaStreamDestroy(stream));
    imgpipe_plan_free(&plan);
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    cudaFree(frame.pixels);
    cudaFree(result.pixels);
    cudaFree(counts);
    cudaFree(state);
    return 0;
}

/* bench_gpu: histograms by CUB, to compare with. */
#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

/* Without scratch it says how much it wants. 0 or an error of CUDA. */
extern "C" int gpu_cub_histogram(void *scratch, size_t *scratch_size, const void *samples, int channels, int *counts, int64_t width,
                                 int64_t height, int64_t stride, cudaStream_t stream) {
    const unsigned char *from = (const unsigned char *)samples;
    if (channels == 1)
        return (int)cub::DeviceHistogram::HistogramEven(scratch, *scratch_size, from, counts, 257, 0, 256, (int)width, (int)height,
                                                        (size_t)stride, stream);
    if (channels != 3) return -1;
    const cuda::std::array<int *, 3> each = {counts, counts + 256, counts + 512};
    const cuda::std::array<int, 3> levels = {257, 257, 257}, lower = {0, 0, 0}, upper = {256, 256, 256};
    return (int)cub::DeviceHistogram::MultiHistogramEven<3, 3>(scratch, *scratch_size, from, each, levels, lower, upper, (int)width,
                                                               (int)height, (size_t)stride, stream);
}

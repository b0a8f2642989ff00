/* The launcher of median_three.cuh. */
#include "median_three.cuh"

#define THREE_STRIP 16 /* rows that a block makes, fewer where the image is small */

template <typename T, int CHANNELS>
static void three_grid(const struct tile_jobs &jobs, int n, const window_image &image, int rows, cudaStream_t stream) {
    const int64_t across = THREE_THREADS * window_chunk<T>::samples, blocks = (tile_rows(jobs.tile, n) + rows - 1) / rows;
    const dim3 grid((unsigned)((image.width * CHANNELS + across - 1) / across), (unsigned)(blocks < 65535 ? blocks : 65535),
                    (unsigned)n);
    median_three<T, CHANNELS><<<grid, THREE_THREADS, 0, stream>>>(jobs, image, rows, 0xffffffffu);
}

template <typename T>
static int three_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t strips = in->width * image.channels / (32 * window_chunk<T>::samples) + 1;
        int rows = THREE_STRIP;
        while (rows > 4 && strips * tile_rows(jobs.tile, n) * n / rows < 48 * tile_multiprocessors()) rows /= 2;
        switch (image.channels) {
        case 1: three_grid<T, 1>(jobs, n, image, rows, stream); break;
        case 2: three_grid<T, 2>(jobs, n, image, rows, stream); break;
        case 3: three_grid<T, 3>(jobs, n, image, rows, stream); break;
        default: three_grid<T, 4>(jobs, n, image, rows, stream); break;
        }
    });
}

int median_three_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    switch (stage->in.format.type) {
    case IMGPIPE_U8: return three_launch<uint8_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    case IMGPIPE_U16: return three_launch<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    default: return three_launch<float>(stage, outside, tiles, count, (cudaStream_t)stream);
    }
}

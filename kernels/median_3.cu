/* The launcher of median_three.cuh. */
#include "median_three.cuh"

template <typename T, int CHANNELS>
static int three_channels(const window_image &image, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const int64_t tall = THREE_DOWN * three_row<T, CHANNELS>::rows, across = 32 * window_chunk<T>::samples;
    return tile_each_part(tiles, count, tall, [&](const struct tile_jobs &jobs, int n) {
        const dim3 grid((unsigned)((image.width * CHANNELS + across - 1) / across),
                        (unsigned)((tile_rows(jobs.tile, n) + tall - 1) / tall), (unsigned)n);
        median_three<T, CHANNELS><<<grid, dim3(32, THREE_DOWN), 0, stream>>>(jobs, image, three_factors{0xffffffffu, 1});
    });
}

template <typename T>
static int three_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    switch (image.channels) {
    case 1: return three_channels<T, 1>(image, tiles, count, stream);
    case 2: return three_channels<T, 2>(image, tiles, count, stream);
    case 3: return three_channels<T, 3>(image, tiles, count, stream);
    default: return three_channels<T, 4>(image, tiles, count, stream);
    }
}

int median_three_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    switch (stage->in.format.type) {
    case IMGPIPE_U8: return three_launch<uint8_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    case IMGPIPE_U16: return three_launch<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    default: return three_launch<float>(stage, outside, tiles, count, (cudaStream_t)stream);
    }
}

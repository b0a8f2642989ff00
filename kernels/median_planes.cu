/* The launchers of median_planes.cuh and median_masks.cuh. */
#include "median_masks.cuh"

#define MASKS_SHARED (224 * 1024) /* of a multiprocessor: blocks take it, or half of it */

template <typename T, int SIZE>
static int planes_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    const int shared =
        (PLANES_ROWS + SIZE) * 8 * (int)sizeof(T) * 8; /* a row more than there are, for the second of an odd result */
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + PLANES_ROWS - 1) / PLANES_ROWS;
        const dim3 grid((unsigned)((in->width + 31) / 32 * image.channels), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_planes<T, SIZE><<<grid, PLANES_THREADS, shared, stream>>>(jobs, image);
    });
}

template <typename T>
static int planes_size(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    switch (((const struct median_data *)stage->data)->size) {
    case 17: return planes_launch<T, 17>(stage, outside, tiles, count, stream);
    case 19: return planes_launch<T, 19>(stage, outside, tiles, count, stream);
    case 21: return planes_launch<T, 21>(stage, outside, tiles, count, stream);
    case 23: return planes_launch<T, 23>(stage, outside, tiles, count, stream);
    case 25: return planes_launch<T, 25>(stage, outside, tiles, count, stream);
    case 27: return planes_launch<T, 27>(stage, outside, tiles, count, stream);
    case 29: return planes_launch<T, 29>(stage, outside, tiles, count, stream);
    default: return planes_launch<T, 31>(stage, outside, tiles, count, stream);
    }
}

/* As many warps as there is room for in half of a multiprocessor, or in all of it. */
template <typename T, int WORDS>
static int masks_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    masks_layout<8 * (int)sizeof(T), WORDS> layout = {((const struct median_data *)stage->data)->size, 8};
    const auto bytes = [&]() { return 4 * (layout.planes() + layout.warps * layout.masks()); };
    while (layout.warps > 4 && bytes() > MASKS_SHARED / 2) layout.warps--;
    if (bytes() > MASKS_SHARED / 2) layout.warps = 8;
    while (layout.warps > 1 && bytes() > MASKS_SHARED) layout.warps--;
    const int shared = bytes();
    cudaError_t failed = cudaFuncSetAttribute(median_masks<T, WORDS>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + PLANES_ROWS - 1) / PLANES_ROWS;
        const dim3 grid((unsigned)((in->width + 31) / 32 * image.channels), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_masks<T, WORDS><<<grid, 32 * layout.warps, shared, stream>>>(jobs, image, layout.size, layout.warps);
    });
}

template <typename T>
static int median_planes_any(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                             cudaStream_t stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    if (size < 32) return planes_size<T>(stage, outside, tiles, count, stream);
    if (size < 64) return masks_launch<T, 2>(stage, outside, tiles, count, stream);
    if (size < 96) return masks_launch<T, 3>(stage, outside, tiles, count, stream);
    return masks_launch<T, 4>(stage, outside, tiles, count, stream);
}

int median_planes_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    if (stage->in.format.type == IMGPIPE_U16)
        return median_planes_any<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    return median_planes_any<float>(stage, outside, tiles, count, (cudaStream_t)stream);
}

/* The launchers of median_planes.cuh and median_masks.cuh. */
#include "median_masks.cuh"

#define MASKS_SHARED (224 * 1024)

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

/* As many warps as there is room for, at least one. */
template <typename T>
static int masks_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    const int size = ((const struct median_data *)stage->data)->size, bits = 8 * (int)sizeof(T);
    struct masks_layout layout = {size, (size + 31) / 32, PLANES_ROWS, 8};
    while (layout.warps > 1 && 4 * (layout.planes(bits) + layout.warps * layout.masks()) > MASKS_SHARED) layout.warps--;
    const int shared = 4 * (layout.planes(bits) + layout.warps * layout.masks());
    cudaError_t failed = cudaFuncSetAttribute(median_masks<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (failed != cudaSuccess) return (int)failed;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + layout.rows - 1) / layout.rows;
        const dim3 grid((unsigned)((in->width + 31) / 32 * image.channels), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_masks<T><<<grid, 32 * layout.warps, shared, stream>>>(jobs, image, layout);
    });
}

int median_planes_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    const bool narrow = stage->in.format.type == IMGPIPE_U16;
    if (((const struct median_data *)stage->data)->size > 31)
        return narrow ? masks_launch<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream)
                      : masks_launch<float>(stage, outside, tiles, count, (cudaStream_t)stream);
    if (narrow) return planes_size<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    return planes_size<float>(stage, outside, tiles, count, (cudaStream_t)stream);
}

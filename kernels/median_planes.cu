/* The launchers of median_planes.cuh and median_spread.cuh. */
#include "median_spread.cuh"

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

template <typename T, int LANES, int ROWS, int WORDS>
static int spread_launch(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef spread_layout<LANES, ROWS, WORDS> L;
    const imgpipe_info *in = &stage->in;
    const struct window_image image = {in->width, in->height, in->format.channels, stage->border, (uint32_t)outside};
    const int size = ((const struct median_data *)stage->data)->size, rows = size < 128 ? 16 : 8;
    const int shared = L::bytes(rows, 8 * (int)sizeof(T));
    if (!median_room(median_spread<T, LANES, ROWS, WORDS>, shared)) return MEDIAN_NO_ROOM;
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t blocks = (tile_rows(jobs.tile, n) + rows - 1) / rows;
        const dim3 grid((unsigned)((in->width + 31) / 32 * image.channels), (unsigned)(blocks < 65535 ? blocks : 65535),
                        (unsigned)n);
        median_spread<T, LANES, ROWS, WORDS><<<grid, SPREAD_THREADS, shared, stream>>>(jobs, image, size, rows);
    });
}

template <typename T>
static int median_planes_any(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count,
                             cudaStream_t stream) {
    const int size = ((const struct median_data *)stage->data)->size;
    if (size > 15 && size < 32) return planes_size<T>(stage, outside, tiles, count, stream);
    if (size <= 40) return spread_launch<T, 4, 10, 2>(stage, outside, tiles, count, stream);
    if (size <= 52) return spread_launch<T, 4, 13, 2>(stage, outside, tiles, count, stream);
    if (size <= 63) return spread_launch<T, 4, 16, 2>(stage, outside, tiles, count, stream);
    if (size <= 95) return spread_launch<T, 8, 12, 3>(stage, outside, tiles, count, stream);
    if (size <= 127) return spread_launch<T, 16, 8, 4>(stage, outside, tiles, count, stream);
    if constexpr (sizeof(T) == 2) {
        if (size <= 191) return spread_launch<T, 32, 6, 6>(stage, outside, tiles, count, stream);
        return spread_launch<T, 32, 8, 8>(stage, outside, tiles, count, stream);
    }
    return MEDIAN_NO_ROOM; /* on any device that there is */
}

int median_planes_cuda(const imgpipe_stage *stage, int32_t outside, const imgpipe_tile *tiles, int count, void *stream) {
    if (stage->in.format.type == IMGPIPE_U16)
        return median_planes_any<uint16_t>(stage, outside, tiles, count, (cudaStream_t)stream);
    return median_planes_any<float>(stage, outside, tiles, count, (cudaStream_t)stream);
}

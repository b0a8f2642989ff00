/* Rows of a caller's image in device memory, to and from rows as the kernels have them: the arithmetic of layout.c, a thread for
 * each pixel. A sample above the white level counts as white, since a device has nobody to tell. */
#include "layout.h"
#include <cuda_runtime.h>

#define LAYOUT_THREADS 128

struct layout_rows {
    const unsigned char *from;
    unsigned char *to;
    int64_t from_stride, to_stride, width, height;
};

template <typename T> struct layout_full;
template <> struct layout_full<uint8_t> { static const uint32_t value = 255; };
template <> struct layout_full<uint16_t> { static const uint32_t value = 65535; };

template <typename T> static __device__ __forceinline__ void layout_read_pixel(const layout_way &way, const T *from, T *to) {
    const uint32_t white = way.white, full = layout_full<T>::value;
    uint32_t p[4];
#pragma unroll
    for (int c = 0; c < 4; c++) p[c] = c < way.channels ? min((uint32_t)from[way.at[c]], white) : 0;
    const uint32_t a = way.channels == 4 ? p[3] : p[1];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= way.channels) break;
        if (way.premultiplied && c < way.channels - 1) p[c] = a == 0 ? 0 : p[c] >= a ? white : (p[c] * white + a / 2) / a;
        to[c] = (T)(white == full ? p[c] : (p[c] * full + white / 2) / white);
    }
}

static __device__ __forceinline__ void layout_read_pixel(const layout_way &way, const float *from, float *to) {
    const float a = from[way.at[way.channels - 1]];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= way.channels) break;
        float v = from[way.at[c]];
        to[c] = way.premultiplied && c < way.channels - 1 ? a > 0.0f ? __fdiv_rn(v, a) : 0.0f : v;
    }
}

template <typename T> static __device__ __forceinline__ void layout_write_pixel(const layout_way &way, const T *from, T *to) {
    const uint32_t white = way.white, full = layout_full<T>::value;
    uint32_t p[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        p[c] = c < way.channels ? from[c] : 0;
        if (white != full) p[c] = (p[c] * white + full / 2) / full;
    }
    const uint32_t a = way.channels == 4 ? p[3] : p[1];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= way.channels) break;
        to[way.at[c]] = (T)(way.premultiplied && c < way.channels - 1 ? (p[c] * a + white / 2) / white : p[c]);
    }
    if (way.unused >= 0) to[way.unused] = (T)white;
}

static __device__ __forceinline__ void layout_write_pixel(const layout_way &way, const float *from, float *to) {
    const float a = from[way.channels - 1];
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (c >= way.channels) break;
        to[way.at[c]] = way.premultiplied && c < way.channels - 1 ? from[c] * a : from[c];
    }
    if (way.unused >= 0) to[way.unused] = 1.0f;
}

template <typename T, bool READ>
static __global__ void __launch_bounds__(LAYOUT_THREADS) layout_kernel(struct layout_rows rows, struct layout_way way) {
    const int64_t x = (int64_t)blockIdx.x * LAYOUT_THREADS + threadIdx.x;
    if (x >= rows.width) return;
    for (int64_t y = blockIdx.y; y < rows.height; y += gridDim.y) {
        const T *from = (const T *)(rows.from + y * rows.from_stride);
        T *to = (T *)(rows.to + y * rows.to_stride);
        if (READ)
            layout_read_pixel(way, from + x * way.samples, to + x * way.channels);
        else
            layout_write_pixel(way, from + x * way.channels, to + x * way.samples);
    }
}

template <bool READ>
static int layout_launch(imgpipe_type type, const layout_rows &rows, const layout_way &way, cudaStream_t stream) {
    const dim3 grid((unsigned)((rows.width + LAYOUT_THREADS - 1) / LAYOUT_THREADS),
                    (unsigned)(rows.height < 65535 ? rows.height : 65535));
    switch (type) {
    case IMGPIPE_U8: layout_kernel<uint8_t, READ><<<grid, LAYOUT_THREADS, 0, stream>>>(rows, way); break;
    case IMGPIPE_U16: layout_kernel<uint16_t, READ><<<grid, LAYOUT_THREADS, 0, stream>>>(rows, way); break;
    default: layout_kernel<float, READ><<<grid, LAYOUT_THREADS, 0, stream>>>(rows, way); break;
    }
    return (int)cudaGetLastError();
}

extern "C" int layout_cuda_read(const imgpipe_image *from, void *to, int64_t to_stride, void *stream) {
    const imgpipe_info *info = &from->info;
    struct layout_rows rows = {
        (const unsigned char *)from->pixels, (unsigned char *)to, from->stride, to_stride, info->width, info->height};
    return layout_launch<true>(info->format.type, rows, layout_way_of(info->format, from->layout), (cudaStream_t)stream);
}

extern "C" int layout_cuda_write(const void *from, int64_t from_stride, const imgpipe_image *to, void *stream) {
    const imgpipe_info *info = &to->info;
    struct layout_rows rows = {
        (const unsigned char *)from, (unsigned char *)to->pixels, from_stride, to->stride, info->width, info->height};
    return layout_launch<false>(info->format.type, rows, layout_way_of(info->format, to->layout), (cudaStream_t)stream);
}

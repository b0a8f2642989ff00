/* Small tables on their way to device memory as kernel parameters: in the order of the stream, out of memory that the caller may
 * change at once, and captured by value into a graph. */
#include "upload.h"
#include <cuda_runtime.h>

/* What fits a parameter on every device and driver, and what fits from compute capability 7.0 and CUDA 12.1 on. */
#define UPLOAD_SMALL 3840
#define UPLOAD_LARGE 32000
#define UPLOAD_THREADS 256

template <int BYTES> struct upload_piece { uint4 words[BYTES / 16]; };

template <int BYTES>
static __global__ void __launch_bounds__(UPLOAD_THREADS)
    upload_kernel(const __grid_constant__ struct upload_piece<BYTES> piece, uint4 *to, int count) {
    for (int i = threadIdx.x; i < count; i += UPLOAD_THREADS) to[i] = piece.words[i];
}

template <int BYTES> static cudaError_t upload(unsigned char *to, const unsigned char *from, size_t size, cudaStream_t stream) {
    struct upload_piece<BYTES> piece;
    for (size_t at = 0; at < size; at += BYTES) {
        size_t part = size - at < BYTES ? size - at : BYTES;
        memcpy(&piece, from + at, part);
        upload_kernel<BYTES><<<1, UPLOAD_THREADS, 0, stream>>>(piece, (uint4 *)(to + at), (int)((part + 15) / 16));
        cudaError_t failed = cudaGetLastError();
        if (failed != cudaSuccess) return failed;
    }
    return cudaSuccess;
}

extern "C" int upload_cuda(void *to, const void *from, size_t size, void *stream) {
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    if (size <= UPLOAD_SMALL) return (int)upload<UPLOAD_SMALL>(t, f, size, (cudaStream_t)stream);
    return (int)upload<UPLOAD_LARGE>(t, f, size, (cudaStream_t)stream);
}

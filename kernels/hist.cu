/* Counting samples on CUDA. Small tables live in shared memory, one column of counters for each lane of a warp, so that
 * lanes never meet in a bank; a block adds its table to the state once. 65,536 counters do not fit: lanes with the same
 * value elect one that adds for all in the state itself. */
#include "hist.h"
#include "tile.cuh"

#define THREADS 1024
/* Two blocks a multiprocessor where it takes 2048 threads; elsewhere ptxas refuses the wish. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ / 100 == 10)
#define BLOCKS 2
#else
#define BLOCKS 1
#endif
typedef unsigned long long counter; /* what 64-bit atomics take; the state's uint64_t */

struct geometry {
    int64_t width;     /* samples in a row */
    uint32_t segments; /* pieces of a row, each for one warp at a time */
};

/* Rows of a tile in pieces of `samples`; a warp takes piece warp_first(), then every warp_step()-th. */
__device__ __forceinline__ uint32_t warp_first() {
    return blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
}
__device__ __forceinline__ uint32_t warp_step() {
    return gridDim.x * (blockDim.x / 32);
}

template <typename T> struct piece {
    const T *row;
    int64_t begin; /* of the warp's piece in the row, in samples */
};
template <typename T>
__device__ __forceinline__ piece<T> piece_at(const imgpipe_tile &tile, const geometry &g, uint32_t index, int samples) {
    uint32_t row = index / g.segments;
    return {tile_in<T>(tile, tile.out_rect.y0 + row), (int64_t)(index - row * g.segments) * samples};
}
__device__ __forceinline__ uint32_t piece_count(const imgpipe_tile &tile, const geometry &g) {
    return (uint32_t)(tile.out_rect.y1 - tile.out_rect.y0) * g.segments;
}

/* ---- 8 bits: table[channel][value][column]
 *
 * A warp reads whole lines, and the next piece while it counts one. With three channels a lane's vectors then begin with any of
 * them: which of three places in the table is whose differs from lane to lane, but not which byte goes to which place.
 *
 * Bytes moved: each sample in. Operations: a shift, a mask and an atomic addition in shared memory for each sample, without a
 * meeting of lanes whatever the content. Floor: the reading. Measured on an H200: 3873 Gpix/s of one channel, 1224 of RGB.
 *
 * An empty kernel takes 6 us between two events there; 256 MiB of one channel take 69, and 61 if all rows are one that is in the
 * L1 cache: reading and counting take nearly the same time, and go on side by side. Without gain: the last round shared out by
 * vectors, a launch that need not wait for the memset. Slower: lines of 256 bytes fetched together (75 us), a vector at a time in
 * place of pieces, with more of them under way (80 to 95). */

template <int C> struct bytes {
    static const int vectors = C == 3 ? 3 : 4; /* of a lane in a piece: pieces begin with a pixel */
    static const int piece = 512 * vectors;
};

/* Where a lane counts: place[j % C] is that of byte j of its first vector, as the offset of value 0. */
template <int C, int COLUMNS> struct places {
    uint32_t at[C];
    __device__ __forceinline__ places(int lane) {
#pragma unroll
        for (int c = 0; c < C; c++) at[c] = (16 * lane + c) % C * (256 * COLUMNS * 4) + lane % COLUMNS * 4;
    }
};

/* Counts 16 bytes, vector i of a piece. */
template <int C, int COLUMNS>
__device__ __forceinline__ void count_vector(unsigned char *table, const places<C, COLUMNS> &places, int i, uint4 vector) {
    const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w}, mask = 255u * (COLUMNS * 4);
    const int scale = COLUMNS == 32 ? 7 : COLUMNS == 16 ? 6 : 5; /* of a value's distance in bytes, as a shift */
    static_assert(1 << scale == COLUMNS * 4, "a value's counters are 32, 16 or 8 columns");
#pragma unroll
    for (int j = 0; j < 16; j++) {
        const int down = j % 4 * 8 - scale;
        uint32_t value = (down < 0 ? words[j / 4] << (-down & 31) : words[j / 4] >> (down & 31)) & mask;
        atomicAdd((uint32_t *)(table + (value | places.at[(512 * i + j) % C])), 1u);
    }
}

template <int C>
__device__ __forceinline__ void load_piece(const piece<uint8_t> &p, int64_t width, int lane, uint4 (&loaded)[bytes<C>::vectors]) {
#pragma unroll
    for (int i = 0; i < bytes<C>::vectors; i++) {
        int64_t at = p.begin + 512 * i + 16 * lane;
        if (at + 16 <= width) loaded[i] = __ldcs((const uint4 *)(p.row + at));
    }
}

/* A vector that the row's end cuts is counted byte by byte. */
template <int C, int COLUMNS>
__device__ __forceinline__ void count_piece(unsigned char *table, const places<C, COLUMNS> &places, const piece<uint8_t> &p,
                                            int64_t width, int lane, const uint4 (&loaded)[bytes<C>::vectors]) {
#pragma unroll
    for (int i = 0; i < bytes<C>::vectors; i++) {
        int64_t at = p.begin + 512 * i + 16 * lane;
        if (at + 16 <= width) {
            count_vector<C, COLUMNS>(table, places, i, loaded[i]);
            continue;
        }
        for (; at < width; at++) atomicAdd((uint32_t *)(table + ((at % C * 256 + p.row[at]) * COLUMNS + lane % COLUMNS) * 4), 1u);
    }
}

template <int C, int COLUMNS>
__global__ void __launch_bounds__(THREADS, 1) u8_kernel(const __grid_constant__ struct tile_jobs jobs, geometry g, int64_t slots) {
    extern __shared__ uint32_t table[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int lane = threadIdx.x % 32;
    const uint32_t count = piece_count(tile, g);
    const places<C, COLUMNS> places(lane);
    uint4 loaded[bytes<C>::vectors], next[bytes<C>::vectors];
    uint32_t at = warp_first();
    piece<uint8_t> p = {}, q = {};
    if (at < count) {
        p = piece_at<uint8_t>(tile, g, at, bytes<C>::piece);
        load_piece<C>(p, g.width, lane, loaded);
    }
    for (int i = threadIdx.x; i < C * 64 * COLUMNS; i += THREADS) ((uint4 *)table)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    while (at < count) {
        at += warp_step();
        if (at < count) {
            q = piece_at<uint8_t>(tile, g, at, bytes<C>::piece);
            load_piece<C>(q, g.width, lane, next);
        }
        count_piece<C, COLUMNS>((unsigned char *)table, places, p, g.width, lane, loaded);
        p = q;
#pragma unroll
        for (int i = 0; i < bytes<C>::vectors; i++) loaded[i] = next[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < C * 256; i += THREADS) {
        uint32_t sum = 0; /* starting at another column each lane, for the banks' sake */
#pragma unroll 4
        for (int k = 0; k < COLUMNS; k++) sum += table[i * COLUMNS + (k + lane) % COLUMNS];
        if (sum) atomicAdd((counter *)tile.state + i / 256 * slots + i % 256, (counter)sum);
    }
}

/* ---- 16 bits, and float32 with many bins: straight into the state */

/* Adds one for every lane at `index`; lanes with the same one elect the first. A negative index adds nothing. All lanes
 * of the warp must call. */
__device__ __forceinline__ void warp_add(counter *counts, int64_t base, int32_t index) {
    unsigned same = __match_any_sync(0xffffffffu, index);
    if (index >= 0 && (int)(threadIdx.x % 32) == __ffs((int)same) - 1) atomicAdd(counts + base + index, (counter)__popc(same));
}

__device__ __forceinline__ int32_t slot_of(uint16_t v, const hist_job &) {
    return v;
}
__device__ __forceinline__ int32_t slot_of(float v, const hist_job &job) {
    return hist_slot(v, &job);
}

#define DIRECT_TIMES 8 /* pixels of a lane in a piece */

template <typename T>
__global__ void __launch_bounds__(THREADS) direct_kernel(const __grid_constant__ struct tile_jobs jobs, geometry g, hist_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int channels = job.channels, lane = threadIdx.x % 32;
    for (uint32_t at = warp_first(); at < piece_count(tile, g); at += warp_step()) {
        piece<T> p = piece_at<T>(tile, g, at, 32 * DIRECT_TIMES * channels);
        for (int t = 0; t < DIRECT_TIMES; t++) {
            int64_t x = p.begin + (int64_t)(t * 32 + lane) * channels;
            bool inside = x < g.width;
            for (int c = 0; c < channels; c++) {
                int32_t slot = inside ? slot_of(p.row[x + c], job) : -1;
                warp_add((counter *)tile.state, c * hist_slots(&job), slot);
            }
        }
    }
}

/* ---- float32 */

#define F32_TIMES 8 /* samples of a lane in a piece; 32 * 8 samples are whole pixels for 1, 2 and 4 channels */
#define F32_PIECE(channels) ((channels) == 3 ? 32 * F32_TIMES * 3 : 32 * F32_TIMES)

/* table[column][channel][slot], `columns` of them, a power of two. */
__global__ void __launch_bounds__(THREADS, BLOCKS)
    f32_kernel(const __grid_constant__ struct tile_jobs jobs, geometry g, hist_job job, int columns) {
    extern __shared__ uint32_t table[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int channels = job.channels, lane = threadIdx.x % 32, slots = (int)hist_slots(&job), size = channels * slots;
    for (int i = threadIdx.x; i < size * columns; i += THREADS) table[i] = 0;
    __syncthreads();
    uint32_t *own = table + (threadIdx.x & (columns - 1)) * size;
    int piece_size = F32_PIECE(channels);
    for (uint32_t at = warp_first(); at < piece_count(tile, g); at += warp_step()) {
        piece<float> p = piece_at<float>(tile, g, at, piece_size);
        for (int i = lane; i < piece_size; i += 32) {
            int64_t x = p.begin + i;
            if (x >= g.width) continue;
            atomicAdd(own + i % channels * slots + hist_slot(p.row[x], &job), 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += THREADS) {
        uint32_t sum = 0;
        for (int k = 0; k < columns; k++) sum += table[k * size + i];
        if (sum) atomicAdd((counter *)tile.state + i, (counter)sum);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS)
    range_kernel(const __grid_constant__ struct tile_jobs jobs, geometry g, hist_job job) {
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    int lane = threadIdx.x % 32, piece_size = F32_PIECE(job.channels);
    uint32_t least = 0, greatest = 0;
    for (uint32_t at = warp_first(); at < piece_count(tile, g); at += warp_step()) {
        piece<float> p = piece_at<float>(tile, g, at, piece_size);
        for (int i = lane; i < piece_size; i += 32) {
            int64_t x = p.begin + i;
            if (x >= g.width) continue;
            uint32_t key = hist_key(__float_as_uint(p.row[x])), inverse = hist_key_inverse(key);
            greatest = key > greatest ? key : greatest;
            least = inverse > least ? inverse : least;
        }
    }
    for (int step = 16; step; step /= 2) {
        uint32_t other = __shfl_down_sync(0xffffffffu, least, step);
        least = other > least ? other : least;
        other = __shfl_down_sync(0xffffffffu, greatest, step);
        greatest = other > greatest ? other : greatest;
    }
    if (lane) return;
    uint32_t *keys = (uint32_t *)((counter *)tile.state + job.channels * hist_slots(&job));
    if (least) atomicMax(keys, least);
    if (greatest) atomicMax(keys + 1, greatest);
}

/* ---- launching */

struct launch {
    const imgpipe_stage *stage;
    const hist_job *job;
    cudaStream_t stream;
    int multiprocessors;
    size_t shared; /* what a block may have */
};

static geometry geometry_of(const launch &l, int piece_size) {
    int64_t width = l.stage->in.width * l.job->channels;
    return {width, (uint32_t)((width + piece_size - 1) / piece_size)};
}

/* Enough blocks to fill the device, `each` on a multiprocessor, or for the work if that is less. A block counts less than 2^32
 * samples: even a tile as large as all device memory is shared by so many. */
static dim3 grid_of(const launch &l, const geometry &g, const tile_jobs &jobs, int n, int each) {
    int64_t warps = THREADS / 32, work = (tile_rows(jobs.tile, n) * (int64_t)g.segments + warps - 1) / warps;
    int64_t most = each * (int64_t)l.multiprocessors;
    return dim3((unsigned)(work < 1 ? 1 : work < most ? work : most), 1, (unsigned)n);
}

template <int C, int COLUMNS> static cudaError_t u8_launch(const launch &l, const tile_jobs &jobs, int n) {
    size_t shared = (size_t)C * 256 * COLUMNS * sizeof(uint32_t);
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(u8_kernel<C, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (failed != cudaSuccess) return failed;
    }
    geometry g = geometry_of(l, bytes<C>::piece);
    u8_kernel<C, COLUMNS><<<grid_of(l, g, jobs, n, 1), THREADS, shared, l.stream>>>(jobs, g, hist_slots(l.job));
    return cudaGetLastError();
}

/* As many columns as shared memory has room for. */
static cudaError_t u8_launch_any(const launch &l, const tile_jobs &jobs, int n) {
    bool large = l.shared >= 96 * 1024;
    switch (l.job->channels) {
    case 1: return u8_launch<1, 32>(l, jobs, n);
    case 2: return large ? u8_launch<2, 32>(l, jobs, n) : u8_launch<2, 16>(l, jobs, n);
    case 3: return large ? u8_launch<3, 32>(l, jobs, n) : u8_launch<3, 16>(l, jobs, n);
    default:
        return l.shared >= 128 * 1024 ? u8_launch<4, 32>(l, jobs, n)
               : large                ? u8_launch<4, 16>(l, jobs, n)
                                      : u8_launch<4, 8>(l, jobs, n);
    }
}

static cudaError_t f32_launch(const launch &l, const tile_jobs &jobs, int n) {
    size_t size = (size_t)(l.job->channels * hist_slots(l.job)) * sizeof(uint32_t);
    int columns = 32;
    while (columns > 1 && columns * size > 48 * 1024) columns /= 2;
    if (hist_finds_range(l.stage)) {
        geometry g = geometry_of(l, F32_PIECE(l.job->channels));
        range_kernel<<<grid_of(l, g, jobs, n, 2), THREADS, 0, l.stream>>>(jobs, g, *l.job);
    } else if (columns * size <= 48 * 1024) {
        geometry g = geometry_of(l, F32_PIECE(l.job->channels));
        f32_kernel<<<grid_of(l, g, jobs, n, 2), THREADS, columns * size, l.stream>>>(jobs, g, *l.job, columns);
    } else {
        geometry g = geometry_of(l, 32 * DIRECT_TIMES * l.job->channels);
        direct_kernel<float><<<grid_of(l, g, jobs, n, 2), THREADS, 0, l.stream>>>(jobs, g, *l.job);
    }
    return cudaGetLastError();
}

static cudaError_t launch_tiles(const launch &l, const tile_jobs &jobs, int n) {
    if (l.stage->in.format.type == IMGPIPE_U8) return u8_launch_any(l, jobs, n);
    if (l.stage->in.format.type == IMGPIPE_F32) return f32_launch(l, jobs, n);
    geometry g = geometry_of(l, 32 * DIRECT_TIMES * l.job->channels);
    direct_kernel<uint16_t><<<grid_of(l, g, jobs, n, 2), THREADS, 0, l.stream>>>(jobs, g, *l.job);
    return cudaGetLastError();
}

extern "C" int hist_cuda(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream) {
    int device = 0, multiprocessors = 0, shared = 0;
    cudaError_t failed = cudaGetDevice(&device);
    if (failed == cudaSuccess) failed = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (failed == cudaSuccess) failed = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    launch l = {stage, (const hist_job *)stage->data, (cudaStream_t)stream, multiprocessors, (size_t)shared};
    for (int at = 0; at < count && failed == cudaSuccess; at += TILE_MAX) {
        struct tile_jobs jobs = {};
        int n = count - at < TILE_MAX ? count - at : TILE_MAX;
        for (int i = 0; i < n; i++) jobs.tile[i] = tiles[at + i];
        failed = launch_tiles(l, jobs, n);
    }
    return (int)failed;
}

/* The box mean of u8 without alpha in one pass, for windows up to BOX_SLIDE_MAX on both axes.
 *
 * A block walks down a strip of columns. A thread keeps the sums over rows of eight neighbouring samples in registers, two in a
 * word, adds the row that enters and takes away the one that leaves. The sums of a batch of rows lie in shared memory; then
 * every warp takes one of these rows and every lane slides along a segment of it, one column in and one out. Sums are exact, so
 * the order does not matter; the division is a multiplication.
 *
 * Bytes moved: each sample in once from memory and once more from the L2 cache when it leaves, each out once. Operations of a
 * sample: 1.5 to unpack and add, 4 to slide, divide and pack, about as many for loads, addresses and the exchange. */
#ifndef BOX_SLIDE_CUH
#define BOX_SLIDE_CUH
#include "box.h"
#include "window_rows.cuh"

/* A column's sum of 255 rows fits 16 bits. */
#define BOX_SLIDE_MAX 255
/* Samples of a thread in the vertical part. */
#define BOX_OWN 8
/* Blocks on a multiprocessor: while one waits for rows, others compute. */
#ifndef BOX_BLOCKS
#define BOX_BLOCKS 2
#endif

#define BOX_THREADS_SLIDE 256
#define BOX_COLUMNS_SLIDE (BOX_THREADS_SLIDE * BOX_OWN)
#define BOX_ROWS_SLIDE (BOX_THREADS_SLIDE / 32)
/* Chunks of a warp's results: 32 segments of 68 samples. */
#define BOX_MEANS (2 * 68)

/* A segment holds whole pixels; it has an odd number of words where that is possible, so that lanes meet different banks. */
template <int C> struct box_shape {
    static const int segment = C == 4 ? 68 : 66, words = segment / 2;
    static const int unit = C == 3 ? 48 : 16; /* of the halo and of what a block makes: whole pixels and whole chunks */
};

struct box_slide_job {
    window_image image;
    int64_t samples;
    int rx, ry, strip, halo, across, guard, row_pitch; /* halo and across in samples; guard and row_pitch in words */
    uint32_t half, factor, pick; /* pick: where the quotients lie in two upper words of products */
};

static __device__ __forceinline__ uint32_t box_dot(uint32_t pair, uint32_t weights, uint32_t sum) {
#ifdef EMU
    return (uint32_t)emu_dp2a_us(pair, weights, (int)sum, 0);
#else
    int r;
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(pair), "r"(weights), "r"((int)sum));
    return (uint32_t)r;
#endif
}

static __device__ __forceinline__ void box_add(uint32_t (&sums)[4], uint2 v) {
    sums[0] += __byte_perm(v.x, 0, 0x4140), sums[1] += __byte_perm(v.x, 0, 0x4342);
    sums[2] += __byte_perm(v.y, 0, 0x4140), sums[3] += __byte_perm(v.y, 0, 0x4342);
}
static __device__ __forceinline__ void box_slide_sums(uint32_t (&sums)[4], uint2 in, uint2 out) {
    sums[0] = sums[0] + __byte_perm(in.x, 0, 0x4140) - __byte_perm(out.x, 0, 0x4140);
    sums[1] = sums[1] + __byte_perm(in.x, 0, 0x4342) - __byte_perm(out.x, 0, 0x4342);
    sums[2] = sums[2] + __byte_perm(in.y, 0, 0x4140) - __byte_perm(out.y, 0, 0x4140);
    sums[3] = sums[3] + __byte_perm(in.y, 0, 0x4342) - __byte_perm(out.y, 0, 0x4342);
}

/* The sums of the windows around the segment's first pixel. */
template <int C, bool ODD>
static __device__ __forceinline__ void box_first(const uint32_t *own, const box_slide_job &job, uint32_t (&sum)[C]) {
#pragma unroll
    for (int c = 0; c < C; c++) sum[c] = job.half;
    if constexpr (C == 1) {
        /* Whole words hold one column too many, at the left if the radius is odd. */
        const uint32_t *from = own + (-job.rx >> 1);
        sum[0] -= ODD ? from[0] & 65535 : from[job.rx] >> 16;
#pragma unroll 4
        for (int k = 0; k <= job.rx; k++) sum[0] = box_dot(from[k], 0x0101, sum[0]);
    } else {
        const uint16_t *from = (const uint16_t *)own - job.rx * C;
#pragma unroll 4
        for (int k = 0; k < 2 * job.rx + 1; k++)
#pragma unroll
            for (int c = 0; c < C; c++) sum[c] += from[k * C + c];
    }
}

/* The means of a lane's segment. */
template <int C, bool ODD>
static __device__ __forceinline__ void box_along(const uint32_t *own, const box_slide_job &job, uint16_t *means) {
    const bool in_odd = C % 2 && !ODD, out_odd = C % 2 && ODD;
    const uint32_t *in = own + ((job.rx + 1) * C >> 1), *out = own + (-job.rx * C >> 1);
    uint32_t sum[C];
    box_first<C, ODD>(own, job, sum);
    uint32_t in_word = in_odd ? in[0] : 0, out_word = out_odd ? out[0] : 0;
#pragma unroll
    for (int j = 0; j < box_shape<C>::words; j++) {
        uint32_t in_next = in[j + in_odd], out_next = out[j + out_odd];
        uint32_t in0 = in_odd ? in_word : in_next, out0 = out_odd ? out_word : out_next;
        const int a = 2 * j % C, b = (2 * j + 1) % C;
        uint32_t quotient = __umulhi(sum[a], job.factor);
        sum[a] = box_dot(__byte_perm(in0, out0, (in_odd ? 0x0032 : 0x0010) | (out_odd ? 0x7600 : 0x5400)), 0xff01, sum[a]);
        means[j] = (uint16_t)__byte_perm(quotient, __umulhi(sum[b], job.factor), job.pick);
        sum[b] = box_dot(__byte_perm(in_next, out_next, (in_odd ? 0x0010 : 0x0032) | (out_odd ? 0x5400 : 0x7600)), 0xff01, sum[b]);
        in_word = in_next, out_word = out_next;
    }
}

/* Writes a row of results, which begins with column x0. */
static __device__ __forceinline__ void box_store(const imgpipe_tile &tile, const box_slide_job &job, const uint4 *means, int64_t x0,
                                                 int64_t y, int lane) {
    uint8_t *row = tile_out<uint8_t>(tile, y);
#pragma unroll
    for (int i = 0; i < BOX_COLUMNS_SLIDE / 512; i++) {
        int at = 512 * i + 16 * lane;
        if (at < job.halo || at >= job.halo + job.across || x0 + at >= job.samples) continue;
        window_store_chunk<uint8_t>(row, x0 + at, job.samples, means[at / 16]);
    }
}

template <int C, bool ODD>
static __global__ void __launch_bounds__(BOX_THREADS_SLIDE, BOX_BLOCKS)
    box_slide(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_slide_job job) {
    const int R = BOX_ROWS_SLIDE;
    extern __shared__ uint4 box_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int64_t x0 = (int64_t)blockIdx.x * job.across - job.halo;
    int64_t y = tile.out_rect.y0 + (int64_t)blockIdx.y * job.strip;
    const int64_t end = min(y + job.strip, tile.out_rect.y1);
    if (y >= end) return;
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    uint4 *means = box_shared + warp * BOX_MEANS;
    uint32_t sums[4] = {}, *words = (uint32_t *)(box_shared + R * BOX_MEANS) + job.guard;
    window_columns<BOX_OWN> columns;
    window_find_columns(job.image, x0 + (int)threadIdx.x * BOX_OWN, job.halo, columns);
    uint2 in[R], out[R];
    for (int k = 0; k < 2 * job.ry; k += R) {
        window_rows<BOX_OWN, R>(tile, job.image, columns, y - job.ry + k, 0, min(R, 2 * job.ry - k), in);
#pragma unroll
        for (int i = 0; i < R; i++) box_add(sums, in[i]);
    }
    int count = (int)min((int64_t)R, end - y);
    window_rows<BOX_OWN, R>(tile, job.image, columns, y + job.ry, 0, count, in);
    window_rows<BOX_OWN, R>(tile, job.image, columns, y - job.ry - 1, 1, count, out); /* nothing leaves before the first row */
    for (int turn = 0; y < end; turn ^= R * job.row_pitch) {
        uint32_t *to = words + turn;
#pragma unroll
        for (int i = 0; i < R; i++) {
            box_slide_sums(sums, in[i], out[i]);
            *(uint4 *)(to + i * job.row_pitch + threadIdx.x * 4) = make_uint4(sums[0], sums[1], sums[2], sums[3]);
        }
        /* The rows before lie in the other half, which nobody reads any more once all have come here. */
        __syncthreads();
        const int64_t now = y + warp;
        y += R;
        const int next = (int)min((int64_t)R, end - y);
        if (next > 0) { /* under way while this warp slides along its row */
            window_rows<BOX_OWN, R>(tile, job.image, columns, y + job.ry, 0, next, in);
            window_rows<BOX_OWN, R>(tile, job.image, columns, y - job.ry - 1, 0, next, out);
        }
        if (warp < count) {
            if (lane * box_shape<C>::segment < job.halo + job.across && (lane + 1) * box_shape<C>::segment > job.halo)
                box_along<C, ODD>(to + warp * job.row_pitch + lane * box_shape<C>::words, job,
                                  (uint16_t *)means + lane * box_shape<C>::words);
            __syncwarp();
            box_store(tile, job, means, x0, now, lane);
            __syncwarp();
        }
        count = next;
    }
}

static bool box_slide_fits(const imgpipe_stage *stage) {
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    return stage->in.format.type == IMGPIPE_U8 && !stage->in.format.alpha && plan->width <= BOX_SLIDE_MAX &&
           plan->height <= BOX_SLIDE_MAX && stage->in.width < (int64_t)1 << 28;
}

/* For a sum s <= 255 n + n / 2 and f = ceil(2^b / n), floor(s f / 2^b) = floor(s / n) as long as 255.5 n^2 < 2^b. */
static void box_slide_divide(box_slide_job &job, uint32_t n) {
    int bits = n <= 4095 ? 32 : 40;
    job.half = n / 2;
    job.factor = (uint32_t)((((uint64_t)1 << bits) + n - 1) / n);
    job.pick = bits == 32 ? 0x0040 : 0x0051;
}

template <int C> static int box_slide_launch(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef box_shape<C> S;
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    box_slide_job job = {{stage->in.width, stage->in.height, C, stage->border, (uint32_t)stage->border_value}, stage->in.width * C, plan->rx, plan->ry};
    box_slide_divide(job, plan->n);
    job.halo = (plan->rx * C + S::unit - 1) / S::unit * S::unit;
    job.across = (BOX_COLUMNS_SLIDE - 2 * job.halo) / S::unit * S::unit;
    /* What lanes at the ends of a row reach beyond it; whole chunks. The last segment ends beyond the columns. */
    job.guard = ((plan->rx + 1) * C / 2 + 5) / 4 * 4;
    job.row_pitch = (32 * S::words + 2 * job.guard + 3) / 4 * 4;
    const int shared = (2 * job.row_pitch * 4 + 16 * BOX_MEANS) * BOX_ROWS_SLIDE + 4 * job.guard;
    void (*kernel)(struct tile_jobs, struct box_slide_job) = plan->rx % 2 ? box_slide<C, true> : box_slide<C, false>;
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
        if (failed != cudaSuccess) return (int)failed;
    }
    const int64_t columns = (job.samples + job.across - 1) / job.across, places = BOX_BLOCKS * tile_multiprocessors();
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = max(tile_strip(rows, columns * n, places, 2048, BOX_ROWS_SLIDE), 32);
        dim3 grid((unsigned)columns, (unsigned)((rows + job.strip - 1) / job.strip), (unsigned)n);
        kernel<<<grid, BOX_THREADS_SLIDE, shared, stream>>>(jobs, job);
    });
}

static int box_slide_any(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    switch (stage->in.format.channels) {
    case 1: return box_slide_launch<1>(stage, tiles, count, stream);
    case 2: return box_slide_launch<2>(stage, tiles, count, stream);
    case 3: return box_slide_launch<3>(stage, tiles, count, stream);
    default: return box_slide_launch<4>(stage, tiles, count, stream);
    }
}
#endif

/* The box mean of u8 without alpha in one pass, for windows up to BOX_SLIDE_MAX on both axes.
 *
 * A warp walks down BOX_COLUMNS_SLIDE columns, two rows at a time, apart from all other warps. A lane keeps the sums over rows of
 * its columns in registers, two in a word, adds the row that enters and takes away the one that leaves. The sums of the two rows
 * lie in shared memory; there each lane slides along a segment of one of them, one column in and one out. Sums are exact, so the
 * order does not matter; the division is a multiplication.
 *
 * Bytes moved: each sample in once from memory and once more when it leaves, from the L2 cache if that holds all rows of all
 * windows under way; each out once; and the rows of the first window of every strip. Operations of a sample: 1.5 to unpack and
 * add, 4 to slide, divide and pack, about as many for loads, addresses and the exchange.
 * Measured on an H200, in Gpix/s of one channel: 11 x 11 1220, 31 x 31 988, 101 x 101 607. Both ways as products with bands of
 * ones on tensor cores, each sample read once, made 1040, 920 and 542 where this made 1195, 981 and 623. */
#ifndef BOX_SLIDE_CUH
#define BOX_SLIDE_CUH
#include "box.h"
#include "window_rows.cuh"

/* A column's sum of 255 rows fits 16 bits. */
#define BOX_SLIDE_MAX 255
#define BOX_SLIDE_WARPS 4
#define BOX_SLIDE_BLOCKS 4 /* on a multiprocessor */
/* A lane has BOX_OWN columns in each of two parts. */
#define BOX_OWN 16
#define BOX_PART (32 * BOX_OWN)
#define BOX_COLUMNS_SLIDE (2 * BOX_PART)
#define BOX_LEAST_ACROSS 256

/* 16 segments make a row; they hold whole pixels. An odd number of words where that is possible, and 16 more than a multiple of 32
 * in a row: so all lanes meet different banks. */
template <int C> struct box_shape { static const int segment = C == 4 ? 68 : 66, words = segment / 2, row = 16 * words; };

struct box_slide_job {
    window_image image;
    int64_t samples, columns; /* columns of strips */
    int rx, ry, strip, halo, across, guard,
        warp;                    /* halo and across in samples; guard in words; warp: chunks of its shared memory */
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

static __device__ __forceinline__ void box_unpack(uint4 v, uint32_t (&pairs)[BOX_OWN / 2]) {
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < BOX_OWN / 2; i++) pairs[i] = __byte_perm(words[i / 2], 0, i % 2 ? 0x4342 : 0x4140);
}
static __device__ __forceinline__ void box_slide_sums(uint32_t (&sums)[BOX_OWN / 2], uint4 in, uint4 out) {
    uint32_t more[BOX_OWN / 2], less[BOX_OWN / 2];
    box_unpack(in, more), box_unpack(out, less);
#pragma unroll
    for (int i = 0; i < BOX_OWN / 2; i++) sums[i] = sums[i] + more[i] - less[i];
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

/* Chunks of a row of results, with what the last segments have beyond it. */
#define BOX_MEANS (BOX_COLUMNS_SLIDE / 16 + 8)

/* Rows y + from ... y + count - 1 of two, and zeros for the others: parts of row y, then of row y + 1. */
static __device__ __noinline__ void box_rows_far(const imgpipe_tile &tile, const box_slide_job &job, int64_t first, bool copies,
                                                 int64_t y, int from, int count, uint4 *rows) {
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        const window_columns<BOX_OWN> columns = window_find_columns<BOX_OWN>(job.image, first + i % 2 * BOX_PART, job.halo, copies);
        rows[i] =
            i / 2 >= from && i / 2 < count ? window_row_far<BOX_OWN>(tile, job.image, columns, y + i / 2) : make_uint4(0, 0, 0, 0);
    }
}

/* Where a lane's parts are in any row; `gather` if some lanes of the warp need samples that stand for others. */
struct box_lane {
    int64_t first;
    uint32_t at[2];
    bool copies, gather;
};

/* LAST: nobody reads these rows again; like the results they should leave the L2 cache to the rows of windows under way. */
template <bool LAST>
static __device__ __forceinline__ void box_rows(const imgpipe_tile &tile, const box_slide_job &job, const box_lane &lane,
                                                window_bounds bounds, int row, int from, int count, uint4 (&rows)[4]) {
    const uint8_t *at;
    if (window_straight(tile, bounds, row, 2, &at) && from <= 0 && count >= 2 && !lane.gather) {
#pragma unroll
        for (int i = 0; i < 2; i++) rows[i] = LAST ? __ldcs((const uint4 *)(at + lane.at[i])) : *(const uint4 *)(at + lane.at[i]);
        at += tile.in_stride;
#pragma unroll
        for (int i = 0; i < 2; i++)
            rows[2 + i] = LAST ? __ldcs((const uint4 *)(at + lane.at[i])) : *(const uint4 *)(at + lane.at[i]);
        return;
    }
    uint4 far[4] = {};
    if (from < count && from < 2) box_rows_far(tile, job, lane.first, lane.copies, tile.in_rect.y0 + row, from, count, far);
#pragma unroll
    for (int i = 0; i < 4; i++) rows[i] = far[i];
}

static __device__ __forceinline__ box_lane box_find_lane(const box_slide_job &job, int64_t x0, int lane) {
    box_lane found = {x0 + lane * BOX_OWN, {0, 0}, window_copies(job.image, x0, BOX_COLUMNS_SLIDE), false};
#pragma unroll
    for (int part = 0; part < 2; part++) {
        const window_columns<BOX_OWN> columns =
            window_find_columns<BOX_OWN>(job.image, found.first + part * BOX_PART, job.halo, found.copies);
        if (columns.inside) found.at[part] = (uint32_t)columns.first;
        found.gather = found.gather || (columns.needed && !columns.inside);
    }
    found.gather = __any_sync(0xffffffffu, found.gather);
    return found;
}

static __device__ __forceinline__ void box_store(const imgpipe_tile &tile, const box_slide_job &job, const uint4 *means, int64_t x0,
                                                 int64_t y, int rows, int lane) {
    uint8_t *to = tile_out<uint8_t>(tile, y) + x0;
    const int limit = (int)min(job.samples - x0, (int64_t)(job.halo + job.across)); /* columns that may be written */
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = (32 * (i % 2) + lane) * 16;
        if (i == 2) to += tile.out_stride;
        if (i / 2 >= rows || at < job.halo || at >= limit) continue;
        const uint4 four = means[i / 2 * BOX_MEANS + at / 16];
        if (at + 16 <= limit)
            __stcs((uint4 *)(to + at), four);
        else
            window_store_chunk<uint8_t>(to, at, limit, four);
    }
}

/* The walk begins with the first row of the first window; results come from the strip's first row on. */
template <int C, bool ODD>
static __global__ void __launch_bounds__(32 * BOX_SLIDE_WARPS, BOX_SLIDE_BLOCKS)
    box_slide(const __grid_constant__ struct tile_jobs jobs, const __grid_constant__ struct box_slide_job job) {
    typedef box_shape<C> S;
    extern __shared__ uint4 box_shared[];
    const imgpipe_tile &tile = jobs.tile[blockIdx.z];
    const int lane = (int)threadIdx.x % 32, warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    const int64_t index = (int64_t)blockIdx.x * BOX_SLIDE_WARPS + warp, x0 = index % job.columns * job.across - job.halo;
    const int64_t y0 = tile.out_rect.y0 + index / job.columns * job.strip, end = min(y0 + job.strip, tile.out_rect.y1);
    if (y0 >= end) return;
    uint4 *means = box_shared + warp * job.warp;
    uint32_t *words = (uint32_t *)(means + 2 * BOX_MEANS) + job.guard;
    short *table = (short *)(words + 2 * S::row + job.guard);
    const box_lane own = box_find_lane(job, x0, lane);
    const window_edges edges = window_find_edges(job.image, x0, BOX_COLUMNS_SLIDE, job.rx * C, own.copies);
    const bool has_edges = edges.left + edges.right > 0;
    if (has_edges)
        for (int i = lane; i < edges.left + edges.right; i += 32)
            table[i] = (short)window_edge_source(job.image, x0, window_edge(edges, i));
    const int segment = lane % 16, slides = lane / 16;
    const bool of_use = segment * S::segment < job.halo + job.across && (segment + 1) * S::segment > job.halo;
    uint32_t sums[2][BOX_OWN / 2] = {};
    uint4 in[4], out[4];
    /* From here on rows are counted from the strip's first. */
    const int below = (int)(y0 - tile.in_rect.y0), all = (int)(end - y0);
    const window_bounds bounds = window_find_bounds(tile, job.image);
    for (int y = -2 * job.ry - 2; y < all; y += 2) {
        if (y >= -2 * job.ry)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t(&s)[BOX_OWN / 2] = sums[i % 2];
                box_slide_sums(s, in[i], out[i]);
                uint4 *to = (uint4 *)(words + i / 2 * S::row + i % 2 * (BOX_PART / 2)) + lane * 2;
                to[0] = make_uint4(s[0], s[1], s[2], s[3]), to[1] = make_uint4(s[4], s[5], s[6], s[7]);
            }
        /* The next two rows, under way while the lanes slide; what leaves is what came in since the walk began. */
        const int next = y + 2, left = all - next;
        if (left > 0) {
            box_rows<false>(tile, job, own, bounds, below + next + job.ry, 0, left, in);
            box_rows<true>(tile, job, own, bounds, below + next - job.ry - 1, 1 - next, left, out);
        }
        if (y < 0) continue;
        __syncwarp();
        if (has_edges) {
            const uint16_t outside = (uint16_t)(job.image.outside * (2 * (uint32_t)job.ry + 1));
            for (int i = lane; i < edges.left + edges.right; i += 32)
                for (int row = 0; row < 2; row++) {
                    uint16_t *at = (uint16_t *)(words + row * S::row);
                    at[window_edge(edges, i)] = table[i] < 0 ? outside : at[table[i]];
                }
            __syncwarp();
        }
        const int rows = min(2, all - y);
        if (slides < rows && of_use)
            box_along<C, ODD>(words + slides * S::row + segment * S::words, job,
                              (uint16_t *)(means + slides * BOX_MEANS) + segment * S::words);
        __syncwarp();
        box_store(tile, job, means, x0, y0 + y, rows, lane);
        __syncwarp();
    }
}

/* For a sum s <= 255 n + n / 2 and f = ceil(2^b / n), floor(s f / 2^b) = floor(s / n) as long as 255.5 n^2 < 2^b. */
static void box_slide_divide(box_slide_job &job, uint32_t n) {
    int bits = n <= 4095 ? 32 : 40;
    job.half = n / 2;
    job.factor = (uint32_t)((((uint64_t)1 << bits) + n - 1) / n);
    job.pick = bits == 32 ? 0x0040 : 0x0051;
}

template <int C> static int box_slide_launch(box_slide_job &job, const imgpipe_tile *tiles, int count, cudaStream_t stream) {
    typedef box_shape<C> S;
    /* What lanes at the ends of a row reach beyond it. */
    job.guard = ((job.rx + 1) * C / 2 + 5) / 4 * 4;
    job.warp = 2 * BOX_MEANS + (2 * S::row + 2 * job.guard + job.halo + 3) / 4;
    job.columns = (job.samples + job.across - 1) / job.across;
    const int shared = job.warp * 16 * BOX_SLIDE_WARPS;
    void (*kernel)(struct tile_jobs, struct box_slide_job) = job.rx % 2 ? box_slide<C, true> : box_slide<C, false>;
    if (shared > 48 * 1024) {
        cudaError_t failed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
        if (failed != cudaSuccess) return (int)failed;
    }
    /* The higher the window, the fewer warps: so that more of its rows stay in the L2 cache, and strips are high beside it. */
    const int64_t warps = (job.ry <= 8 ? 16 : 12) * tile_multiprocessors();
    return tile_each(tiles, count, [&](const struct tile_jobs &jobs, int n) {
        const int64_t rows = tile_rows(jobs.tile, n);
        job.strip = max(tile_strip(rows, job.columns * n, warps, 4096, 2), 16);
        const int64_t all = job.columns * ((rows + job.strip - 1) / job.strip);
        kernel<<<dim3((unsigned)((all + BOX_SLIDE_WARPS - 1) / BOX_SLIDE_WARPS), 1, (unsigned)n), 32 * BOX_SLIDE_WARPS, shared,
                 stream>>>(jobs, job);
    });
}

/* Whether the stage is done here; *result is then that of the launch. */
static bool box_slide_any(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, cudaStream_t stream, int *result) {
    const struct box_plan *plan = (const struct box_plan *)stage->data;
    const imgpipe_info &in = stage->in;
    const int channels = in.format.channels;
    if (in.format.type != IMGPIPE_U8 || in.format.alpha || plan->width > BOX_SLIDE_MAX || plan->height > BOX_SLIDE_MAX ||
        in.width >= (int64_t)1 << 28)
        return false;
    box_slide_job job = {{in.width, in.height, channels, stage->border, (uint32_t)stage->border_value}, in.width * channels};
    job.rx = plan->rx, job.ry = plan->ry;
    box_slide_divide(job, plan->n);
    const int unit = channels == 3 ? 48 : 16; /* whole pixels and whole chunks */
    job.halo = (job.rx * channels + unit - 1) / unit * unit;
    job.across = (BOX_COLUMNS_SLIDE - 2 * job.halo) / unit * unit;
    if (job.across < BOX_LEAST_ACROSS) return false;
    switch (channels) {
    case 1: *result = box_slide_launch<1>(job, tiles, count, stream); break;
    case 2: *result = box_slide_launch<2>(job, tiles, count, stream); break;
    case 3: *result = box_slide_launch<3>(job, tiles, count, stream); break;
    default: *result = box_slide_launch<4>(job, tiles, count, stream); break;
    }
    return true;
}
#endif

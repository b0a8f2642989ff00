/* Counting samples. Small tables are kept several times, and neighbouring samples go to different ones: an increment that
 * follows another of the same counter would wait for its store. */
#include "hist.h"
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

static void tables_flush(const struct hist_job *job, uint32_t *tables, int64_t pitch, uint64_t *counts) {
    int count = hist_tables(job->channels);
    for (int t = 0; t < count; t++) {
        uint64_t *to = counts + (t % job->channels) * hist_slots(job);
        const uint32_t *from = tables + t * pitch;
        for (int64_t i = 0; i < pitch; i++) to[i] += from[i];
    }
    memset(tables, 0, (size_t)count * (size_t)pitch * sizeof(uint32_t));
}

/* A counter of a table may grow by a sample of every pixel. `held` is what may be in it since the last flush. */
static inline void tables_make_room(const struct hist_job *job, uint32_t *tables, int64_t pitch, uint64_t *counts, int64_t *held,
                                    int64_t width) {
    if (*held + width > UINT32_MAX) {
        tables_flush(job, tables, pitch, counts);
        *held = 0;
    }
    *held += width;
}

/* `tables` is a constant at every call, so that the loop over them is unrolled and addresses are constant offsets. */
static inline void bytes_count(const uint8_t *p, int64_t n, uint32_t (*restrict table)[256], int tables) {
    int64_t i = 0;
    for (; i + tables <= n; i += tables)
        for (int t = 0; t < tables; t++) table[t][p[i + t]]++;
    for (int t = 0; i < n; i++, t++) table[t][p[i]]++;
}

static void u8_count_tables(const struct hist_job *job, const imgpipe_rows *rows, uint64_t *counts) {
    uint32_t(*tables)[256] = rows->scratch;
    int64_t held = 0, n = rows->in_width * job->channels;
    memset(tables, 0, (size_t)hist_tables(job->channels) * sizeof *tables);
    for (int i = 0; i < rows->count; i++) {
        tables_make_room(job, tables[0], 256, counts, &held, rows->in_width);
        if (job->channels == 3)
            bytes_count(rows->in[i], n, tables, 12);
        else
            bytes_count(rows->in[i], n, tables, 8);
    }
    tables_flush(job, tables[0], 256, counts);
}

#if defined(__AVX512BW__)
#define BITS __attribute__((target("avx512vbmi2,avx512vpopcntdq")))
#define BITS_INLINE static inline __attribute__((always_inline)) BITS

/* 64 samples of channel c, of pixels of which `bytes` bytes are left; what is beyond them is 0. The channel's samples are a third
 * of each of three vectors, each time other lanes, so that blends join them; with 2 and 4 channels a rotation brings them into
 * other lanes first. Their order does not matter. */
BITS_INLINE __m512i channel_load(const uint8_t *p, int64_t bytes, int channels, int c) {
    static const uint64_t every[] = {0, ~0ull, 0x5555555555555555, 0x9249249249249249, 0x1111111111111111};
    __m512i samples = _mm512_setzero_si512();
    for (int j = 0; j < channels; j++) {
        int64_t left = bytes - 64 * j;
        __m512i v;
        if (left >= 64)
            v = _mm512_loadu_si512(p + 64 * j);
        else
            v = _mm512_maskz_loadu_epi8(left > 0 ? ~0ull >> (64 - left) : 0, p + 64 * j);
        if (channels % 2 == 0) v = _mm512_rolv_epi32(v, _mm512_set1_epi32(8 * ((j - c) & (channels - 1))));
        int lane = channels == 3 ? (c - j + 3) % 3 : j;
        samples = _mm512_mask_mov_epi8(samples, every[channels] << lane, v);
    }
    return samples;
}

/* Appends each sample to the part that its upper two bits name. */
BITS_INLINE void samples_part(__m512i samples, uint8_t **to) {
    __m512i top = _mm512_and_si512(samples, _mm512_set1_epi8((char)0xc0));
    int64_t rest = 64;
    for (int q = 0; q < 4; q++) {
        __mmask64 mask = _mm512_cmpeq_epi8_mask(top, _mm512_set1_epi8((char)(64 * q)));
        int64_t n = q < 3 ? __builtin_popcountll(mask) : rest;
        _mm512_storeu_si512(to[q], _mm512_maskz_compress_epi8(mask, samples));
        to[q] += n;
        rest -= n;
    }
}

BITS_INLINE void row_part(const uint8_t *p, int64_t n, uint8_t **to, int channels, int c) {
    uint8_t *ends[4] = {to[0], to[1], to[2], to[3]};
    for (; n >= 64; n -= 64, p += 64 * channels) samples_part(channel_load(p, 64 * channels, channels, c), ends);
    if (n > 0) samples_part(channel_load(p, n * channels, channels, c), ends);
    memcpy(to, ends, sizeof ends);
}

/* The bits of a that `mask` names, and those of b that it does not. */
BITS_INLINE __m512i bits_select(__m512i a, __m512i b, int mask) {
    return _mm512_ternarylogic_epi64(_mm512_set1_epi8((char)mask), a, b, 0xca);
}
/* A step of the transposition of 8 x 8 bits: the lower fields of both, and the upper ones. */
BITS_INLINE __m512i bits_lower(__m512i a, __m512i b, int shift, int mask) {
    return bits_select(a, _mm512_slli_epi16(b, shift), mask);
}
BITS_INLINE __m512i bits_upper(__m512i a, __m512i b, int shift, int mask) {
    return bits_select(_mm512_srli_epi16(a, shift), b, mask);
}

/* Bits 0 to 5 of 512 samples: of each two bits their planes and the AND of these. */
BITS_INLINE void planes_make(const uint8_t *p, uint64_t (*planes)[8]) {
    __m512i v[8], low[4], high[4], pair[3][2];
    for (int i = 0; i < 8; i++) v[i] = _mm512_loadu_si512(p + 64 * i);
    for (int i = 0; i < 4; i++) {
        low[i] = bits_lower(v[i], v[i + 4], 4, 0x0f);
        high[i] = bits_upper(v[i], v[i + 4], 4, 0x0f);
    }
    for (int i = 0; i < 2; i++) {
        pair[0][i] = bits_lower(low[i], low[i + 2], 2, 0x33);
        pair[1][i] = bits_upper(low[i], low[i + 2], 2, 0x33);
        pair[2][i] = bits_lower(high[i], high[i + 2], 2, 0x33);
    }
    for (int i = 0; i < 3; i++) {
        __m512i a = bits_lower(pair[i][0], pair[i][1], 1, 0x55), b = bits_upper(pair[i][0], pair[i][1], 1, 0x55);
        _mm512_storeu_si512(planes[3 * i], a);
        _mm512_storeu_si512(planes[3 * i + 1], b);
        _mm512_storeu_si512(planes[3 * i + 2], _mm512_and_si512(a, b));
    }
}

/* The sum of each of eight vectors. */
BITS_INLINE __m512i vectors_sum(const __m512i *v) {
    __m512i two[4], four[2];
    for (int i = 0; i < 4; i++)
        two[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]), _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
    for (int i = 0; i < 2; i++)
        four[i] = _mm512_add_epi64(_mm512_shuffle_i64x2(two[2 * i], two[2 * i + 1], 0x88),
                                   _mm512_shuffle_i64x2(two[2 * i], two[2 * i + 1], 0xdd));
    return _mm512_add_epi64(_mm512_shuffle_i64x2(four[0], four[1], 0x88), _mm512_shuffle_i64x2(four[0], four[1], 0xdd));
}

/* Adds to sets[S], for each set S of bits 0 to 5, how many samples have all bits of S: 16 sets at a time, whose sums are in
 * registers. Of the planes of two bits [s - 1] is that of set s. Sorting takes samples as fast as memory gives them, counting
 * takes none, so those of the next block are fetched `ahead` meanwhile. */
BITS static void sets_count(const uint64_t (*planes)[9][8], int groups, uint64_t *sets, const uint8_t **ahead) {
    for (int s = 0; s < 64; s += 16) {
        __m512i sums[16];
        for (int i = 0; i < 16; i++) sums[i] = _mm512_setzero_si512();
        for (int g = 0; g < groups; g++, *ahead += HIST_GROUP / 4) {
            __builtin_prefetch(*ahead);
            __builtin_prefetch(*ahead + 64);
            __m512i upper = s ? _mm512_loadu_si512(planes[g][6 + s / 16 - 1]) : _mm512_set1_epi8(-1);
            for (int m = 0; m < 4; m++) {
                __m512i middle = m ? _mm512_and_si512(upper, _mm512_loadu_si512(planes[g][3 + m - 1])) : upper;
                for (int l = 0; l < 4; l++) {
                    __m512i all = l ? _mm512_and_si512(middle, _mm512_loadu_si512(planes[g][l - 1])) : middle;
                    sums[4 * m + l] = _mm512_add_epi64(sums[4 * m + l], _mm512_popcnt_epi64(all));
                }
            }
        }
        for (int i = 0; i < 16; i += 8)
            _mm512_storeu_si512(sets + s + i, _mm512_add_epi64(_mm512_loadu_si512(sets + s + i), vectors_sum(sums + i)));
    }
}

/* Counts the whole groups of a part if there are `least`. */
BITS static void part_count(struct hist_bits *bits, int c, int q, int least, const uint8_t **ahead) {
    uint8_t *part = bits->part[c][q];
    int64_t groups = (bits->end[c][q] - part) / HIST_GROUP;
    if (groups < least) return;
    for (int64_t at = 0; at < groups; at += HIST_GROUPS) {
        int many = (int)(groups - at < HIST_GROUPS ? groups - at : HIST_GROUPS);
        for (int g = 0; g < many; g++) planes_make(part + (at + g) * HIST_GROUP, bits->planes[g]);
        sets_count((const uint64_t(*)[9][8])bits->planes, many, bits->sets[c] + 64 * q, ahead);
    }
    memcpy(part, part + groups * HIST_GROUP, HIST_GROUP);
    bits->end[c][q] -= groups * HIST_GROUP;
}

/* n samples of channel c from each of `count` rows. */
BITS static void block_count(const uint8_t *const *rows, int count, int64_t offset, int64_t n, int channels, int c,
                             struct hist_bits *bits, const uint8_t **ahead) {
    for (int i = 0; i < count; i++) {
        const uint8_t *p = rows[i] + offset;
        switch (channels) {
        case 1: row_part(p, n, bits->end[c], 1, 0); break;
        case 2: row_part(p, n, bits->end[c], 2, c); break;
        case 3: row_part(p, n, bits->end[c], 3, c); break;
        default: row_part(p, n, bits->end[c], 4, c);
        }
    }
    bits->sets[c][0] -= (uint64_t)(count * (-n & 63)); /* zeros behind each row */
    for (int q = 0; q < 4; q++) part_count(bits, c, q, HIST_WAIT, ahead);
}

/* The groups that are not full: zeros, which only the empty set has, are put behind them. Then from sets to values. */
BITS static void bits_finish(struct hist_bits *bits, int c, uint64_t *counts) {
    uint64_t *sets = bits->sets[c];
    for (int q = 0; q < 4; q++) {
        int64_t missing = HIST_GROUP - (bits->end[c][q] - bits->part[c][q]) % HIST_GROUP;
        const uint8_t *ahead = bits->part[c][q];
        memset(bits->end[c][q], 0, (size_t)missing);
        bits->end[c][q] += missing;
        sets[64 * q] -= (uint64_t)missing;
        part_count(bits, c, q, 1, &ahead);
    }
    for (int bit = 1; bit < 64; bit *= 2)
        for (int s = 0; s < 256; s += 2 * bit)
            for (int i = s; i < s + bit; i++) sets[i] -= sets[i + bit];
    for (int s = 0; s < 256; s++) counts[s] += sets[s];
}

/* Without counters in memory: a core commits a store a clock, so that is the least that they take. Here samples are sorted into
 * four parts by their upper two bits; for 512 of a part at a time the lower six bits become planes, and the number of samples that
 * have all bits of a set is the population of the AND of its planes. The counts by value follow from those of the 64 sets by
 * inclusion and exclusion. No step depends on what the samples are. On a Zen 4 a sample takes 0.55 clocks with one channel and
 * 0.65 with three, nearly half of them for sorting; 1.05 in the tables. */
static void u8_count_bits(const struct hist_job *job, const imgpipe_rows *rows, uint64_t *counts) {
    struct hist_bits *bits = rows->scratch;
    int channels = job->channels;
    memset(bits->sets, 0, sizeof bits->sets);
    for (int c = 0; c < channels; c++)
        for (int q = 0; q < 4; q++) bits->end[c][q] = bits->part[c][q];
    const uint8_t *const *in = (const uint8_t *const *)rows->in;
    int64_t width = rows->in_width, blocks = (width + HIST_BLOCK - 1) / HIST_BLOCK;
    int64_t across = ((width + blocks - 1) / blocks + 63) & -64, n;
    int most = blocks == 1 ? (int)(HIST_BLOCK / across) : 1;
    for (int i = 0, many; i < rows->count; i += many) {
        many = rows->count - i < most ? rows->count - i : most;
        for (int64_t x = 0; x < width; x += n) {
            n = width - x < across ? width - x : across;
            const uint8_t *ahead = in[i + many - 1] + (x + n) * channels;
            if (x + n == width && i + many < rows->count) ahead = in[i + many];
            for (int c = 0; c < channels; c++) block_count(in + i, many, x * channels, n, channels, c, bits, &ahead);
        }
    }
    for (int c = 0; c < channels; c++) bits_finish(bits, c, counts + c * hist_slots(job));
}
#endif

static void u8_count(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
#if defined(__AVX512BW__)
    bool many = rows->in_width >= 384 && rows->in_width * rows->count >= 12288;
    if (many && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")) {
        u8_count_bits(stage->data, rows, state);
        return;
    }
#endif
    u8_count_tables(stage->data, rows, state);
}

/* One channel: four equal samples, which a flat region has, are one increment. */
static inline void words_count_gray(const uint16_t *p, int64_t n, uint64_t *counts) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint64_t four;
        memcpy(&four, p + i, sizeof four);
        if (four == (four << 16 | four >> 48)) {
            counts[p[i]] += 4;
        } else {
            counts[p[i]]++;
            counts[p[i + 1]]++;
            counts[p[i + 2]]++;
            counts[p[i + 3]]++;
        }
    }
    for (; i < n; i++) counts[p[i]]++;
}

/* `channels` is a constant at every call. */
static inline void words_count(const uint16_t *p, int64_t width, uint64_t *counts, int channels) {
    for (int64_t x = 0; x < width; x++, p += channels)
        for (int c = 0; c < channels; c++) counts[c * (65536 + HIST_OUTSIDE) + p[c]]++;
}

static void u16_count(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    const struct hist_job *job = stage->data;
    for (int i = 0; i < rows->count; i++) {
        const uint16_t *p = rows->in[i];
        switch (job->channels) {
        case 1: words_count_gray(p, rows->in_width, state); break;
        case 2: words_count(p, rows->in_width, state, 2); break;
        case 3: words_count(p, rows->in_width, state, 3); break;
        default: words_count(p, rows->in_width, state, 4);
        }
    }
}

/* The range in signed keys, which every instruction set can compare: the order of floats is that of their bits
 * where these are positive, and the reverse where they are negative. */
static void f32_range(const struct hist_job *job, const imgpipe_rows *rows, uint32_t *keys) {
    int32_t least = INT32_MAX, greatest = INT32_MIN;
    int64_t n = rows->in_width * job->channels;
    for (int i = 0; i < rows->count; i++) {
        const float *row = rows->in[i];
        for (int64_t x = 0; x < n; x++) {
            int32_t bits;
            memcpy(&bits, row + x, sizeof bits);
            int32_t key = bits ^ ((bits >> 31) & 0x7fffffff);
            int32_t finite = -(int32_t)((bits & 0x7fffffff) < 0x7f800000); /* a mask: branches would not vectorise */
            int32_t low = (key & finite) | (INT32_MAX & ~finite), high = (key & finite) | (INT32_MIN & ~finite);
            least = low < least ? low : least;
            greatest = high > greatest ? high : greatest;
        }
    }
    if (least > greatest) return;
    uint32_t low = ~((uint32_t)least ^ 0x80000000u), high = (uint32_t)greatest ^ 0x80000000u;
    if (low > keys[0]) keys[0] = low;
    if (high > keys[1]) keys[1] = high;
}

#define F32_CHUNK 960 /* samples; a multiple of every number of tables and channels */

static inline void slots_count(const int32_t *slot, int64_t n, uint32_t *restrict table, int64_t pitch, int tables) {
    int64_t i = 0;
    for (; i + tables <= n; i += tables)
        for (int t = 0; t < tables; t++) table[t * pitch + slot[i + t]]++;
    for (int t = 0; i < n; i++, t++) table[t * pitch + slot[i]]++;
}

/* First the counters of some hundred samples, which vectorises; then the increments, which cannot. */
static void f32_row(const struct hist_job *job, const float *row, int64_t n, uint32_t *tables, uint64_t *counts) {
    struct hist_job local = *job;
    int32_t slot[F32_CHUNK];
    for (int64_t at = 0; at < n; at += F32_CHUNK) {
        int64_t part = n - at < F32_CHUNK ? n - at : F32_CHUNK;
        for (int64_t i = 0; i < part; i++) slot[i] = hist_slot(row[at + i], &local);
        if (!tables) {
            for (int64_t i = 0, c = 0; i < part; i++, c = c + 1 == local.channels ? 0 : c + 1)
                counts[c * hist_slots(&local) + slot[i]]++;
        } else if (local.channels == 3) {
            slots_count(slot, part, tables, hist_slots(&local), 12);
        } else {
            slots_count(slot, part, tables, hist_slots(&local), 8);
        }
    }
}

static void f32_count(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    const struct hist_job *job = stage->data;
    uint64_t *counts = state;
    if (hist_finds_range(stage)) {
        f32_range(job, rows, (uint32_t *)(counts + job->channels * hist_slots(job)));
        return;
    }
    size_t scratch = hist_scratch_size(job, IMGPIPE_F32);
    uint32_t *tables = scratch ? rows->scratch : NULL;
    int64_t held = 0, pitch = hist_slots(job);
    if (tables) memset(tables, 0, scratch);
    for (int i = 0; i < rows->count; i++) {
        if (tables) tables_make_room(job, tables, pitch, counts, &held, rows->in_width);
        f32_row(job, rows->in[i], rows->in_width * job->channels, tables, counts);
    }
    if (tables) tables_flush(job, tables, pitch, counts);
}

const struct hist_kernels KERNEL_NAME(hist_kernels) = {{u8_count, u16_count, f32_count}};

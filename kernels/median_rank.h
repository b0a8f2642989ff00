/* Medians of wide values by their ranks. The samples that a block of results needs are sorted. Ranks are cut into at most 256
 * classes of neighbouring ranks; median_count.h finds the class of every median, and how many samples of that class lie before it
 * in its window; the class is then searched for that sample. So the cost hardly depends on the values. Descending by ranks is the
 * idea of the wavelet matrix (Moroto and Umetani, "Constant time median filter using 2D wavelet matrix", 2022); here the first step
 * takes eight levels at once, and the second all that are left. Included by median_large.c. */

/* A sample: 32 bits in the order of its values, and its place in the block. */
struct entry {
    uint32_t key;
    uint16_t x, y;
};

#define RANK_COLUMNS 256 /* of results in a block */
static inline ptrdiff_t rank_rows(int size) {
    return size < 64 ? 64 : 128;
}

struct rank_block {
    struct entry *entries, *other; /* sorted entries, and room */
    uint16_t *xs, *ys;             /* places of the sorted samples, in that room */
    uint8_t *classes;              /* of the samples in the order of the image, in that room */
    uint32_t keys[RANK_COLUMNS];   /* one row of results */
    uint16_t rest[RANK_COLUMNS];
    struct count_block counts;
    uint8_t *scratch; /* of median_count.h */
    size_t samples;
    int size, shift; /* a class is 1 << shift ranks */
};

static size_t rank_samples(int size) {
    return (size_t)(RANK_COLUMNS + size - 1) * (size_t)(rank_rows(size) + size - 1);
}
#define RANK_PAD 64 /* entries of room behind them */
static size_t rank_scratch(int size) {
    return 2 * (rank_samples(size) + RANK_PAD) * sizeof(struct entry) + count_scratch(size);
}
static struct rank_block rank_begin(void *scratch, int size) {
    struct rank_block b = {.entries = scratch, .size = size};
    b.other = b.entries + rank_samples(size) + RANK_PAD;
    b.scratch = (uint8_t *)(b.other + rank_samples(size) + RANK_PAD);
    return b;
}

/* Sorts by the keys' `digits` bytes from the lowest on, leaving out bytes that are the same in all. */
static void rank_sort(struct rank_block *b, int digits) {
    uint32_t start[4][256] = {{0}};
    for (size_t i = 0; i < b->samples; i++)
        for (int d = 0; d < digits; d++) start[d][b->entries[i].key >> 8 * d & 255]++;
    for (int d = 0; d < digits; d++) {
        if (start[d][b->entries[0].key >> 8 * d & 255] == b->samples) continue;
        uint32_t sum = 0;
        for (int k = 0; k < 256; k++) {
            const uint32_t here = start[d][k];
            start[d][k] = sum;
            sum += here;
        }
        for (size_t i = 0; i < b->samples; i++) b->other[start[d][b->entries[i].key >> 8 * d & 255]++] = b->entries[i];
        struct entry *const swap = b->entries;
        b->entries = b->other;
        b->other = swap;
    }
}

/* Classes of all samples of a block `width` wide, and their places by rank. The last places are repeated far outside. */
static void rank_classes(struct rank_block *b, ptrdiff_t width) {
    b->xs = (uint16_t *)b->other;
    b->ys = b->xs + b->samples + RANK_PAD;
    b->classes = (uint8_t *)(b->ys + b->samples + RANK_PAD);
    for (b->shift = 5; (b->samples - 1) >> b->shift > 255;) b->shift++;
    for (size_t i = 0; i < b->samples; i++) {
        const struct entry e = b->entries[i];
        b->xs[i] = e.x;
        b->ys[i] = e.y;
        b->classes[e.y * width + e.x] = (uint8_t)(i >> b->shift);
    }
    memset(b->xs + b->samples, 0xff, RANK_PAD * sizeof *b->xs);
    memset(b->ys + b->samples, 0xff, RANK_PAD * sizeof *b->ys);
}

/* Which of the 32 samples from rank `at` on lie in the window at x, y: a bit each. */
static inline uint32_t rank_inside(const struct rank_block *b, size_t at, uint16_t x, uint16_t y) {
#if defined(__AVX512BW__)
    const __m512i size = _mm512_set1_epi16((short)b->size);
    const __m512i dx = _mm512_sub_epi16(_mm512_loadu_si512(b->xs + at), _mm512_set1_epi16((short)x));
    const __m512i dy = _mm512_sub_epi16(_mm512_loadu_si512(b->ys + at), _mm512_set1_epi16((short)y));
    return _mm512_mask_cmplt_epu16_mask(_mm512_cmplt_epu16_mask(dx, size), dy, size);
#elif defined(__AVX2__)
    const __m256i most = _mm256_set1_epi16((short)(b->size - 1)), none = _mm256_setzero_si256();
    __m256i inside[2];
    for (int k = 0; k < 2; k++) {
        const __m256i xs = _mm256_loadu_si256((const __m256i *)(b->xs + at) + k),
                      ys = _mm256_loadu_si256((const __m256i *)(b->ys + at) + k);
        const __m256i dx = _mm256_subs_epu16(_mm256_sub_epi16(xs, _mm256_set1_epi16((short)x)), most);
        const __m256i dy = _mm256_subs_epu16(_mm256_sub_epi16(ys, _mm256_set1_epi16((short)y)), most);
        inside[k] = _mm256_cmpeq_epi16(_mm256_or_si256(dx, dy), none);
    }
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(inside[0], inside[1]), 0xd8);
    return (uint32_t)_mm256_movemask_epi8(bytes);
#else
    uint32_t inside = 0;
    for (int i = 0; i < 32; i++)
        inside |= (uint32_t)((uint16_t)(b->xs[at + i] - x) < b->size && (uint16_t)(b->ys[at + i] - y) < b->size) << i;
    return inside;
#endif
}

/* The place of bit number n of those that are set. */
static inline int bit_place(uint32_t bits, int n) {
#if defined(__BMI2__)
    return __builtin_ctz(_pdep_u32(1u << n, bits));
#else
    for (; n; n--) bits &= bits - 1;
    return __builtin_ctz(bits);
#endif
}

/* The key of sample number `rest` of a class among those that lie in the window at x, y. */
static inline uint32_t rank_find(const struct rank_block *b, unsigned class, int rest, uint16_t x, uint16_t y) {
    for (size_t at = (size_t) class << b->shift;; at += 32) {
        const uint32_t inside = rank_inside(b, at, x, y);
        const int found = __builtin_popcount(inside);
        if (rest < found) return b->entries[at + (size_t)bit_place(inside, rest)].key;
        rest -= found;
    }
}

/* Keys of the `n` medians of row number i, to be called for i = 0, 1, ... */
static const uint32_t *rank_row(struct rank_block *b, int i, ptrdiff_t n) {
    const ptrdiff_t width = n + b->size - 1;
    uint8_t found[RANK_COLUMNS];
    if (i == 0) {
        b->counts = count_begin(b->size, width, b->scratch);
        for (int k = 0; k < b->size; k++) count_move(&b->counts, NULL, b->classes + k * width, 1, width);
    } else {
        count_move(&b->counts, b->classes + (i - 1) * width, b->classes + (i - 1 + b->size) * width, 1, width);
    }
    count_row(&b->counts, n, found, 1, b->rest);
    for (ptrdiff_t x = 0; x < n; x++) b->keys[x] = rank_find(b, found[x], b->rest[x], (uint16_t)x, (uint16_t)i);
    return b->keys;
}

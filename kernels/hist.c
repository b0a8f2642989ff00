/* Counting samples. Small tables are kept several times, and neighbouring samples go to different ones: an increment that
 * follows another of the same counter would wait for its store. */
#include "hist.h"

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

static void u8_count(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    const struct hist_job *job = stage->data;
    uint32_t(*tables)[256] = rows->scratch;
    int64_t held = 0, n = rows->in_width * job->channels;
    memset(tables, 0, hist_scratch_size(job, IMGPIPE_U8));
    for (int i = 0; i < rows->count; i++) {
        tables_make_room(job, tables[0], 256, state, &held, rows->in_width);
        if (job->channels == 3)
            bytes_count(rows->in[i], n, tables, 12);
        else
            bytes_count(rows->in[i], n, tables, 8);
    }
    tables_flush(job, tables[0], 256, state);
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

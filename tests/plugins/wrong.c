/* Filters that break a rule, one for each macro that may be defined. Each looks right as long as nobody looks closely. */
#include <imgpipe.h>
#include <string.h>
#include <unistd.h>

#if defined(MERGE_ORDER) || defined(MERGE_GROUPS) || defined(LOSES_ROWS)
/* The mean of the first sample of each row, or what these take for it. */
struct state {
    double sum;
    uint64_t count;
};

static void gather(const imgpipe_stage *stage, const imgpipe_rows *rows, void *to) {
    struct state *state = to;
    size_t size = imgpipe_sample_size(stage->in.format.type);
    for (int i = 0; i < rows->count; i++) {
        uint8_t first;
        memcpy(&first, (const char *)rows->in[i] + size - 1, 1);
#ifdef LOSES_ROWS
        if (i == 0 && rows->count > 1) continue;
#endif
        state->sum += first;
        state->count++;
    }
}

static void merge(const imgpipe_stage *stage, void *into, const void *from) {
    struct state *a = into;
    const struct state *b = from;
    (void)stage;
#if defined(MERGE_ORDER)
    if (b->count) *a = *b;
#elif defined(MERGE_GROUPS)
    a->sum = (a->sum + b->sum) / 2;
    a->count += b->count;
#else
    a->sum += b->sum;
    a->count += b->count;
#endif
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    stage->gather = gather;
    stage->gather_size = sizeof(struct state);
    stage->data = imgpipe_stage_alloc(stage, sizeof(struct state), error);
    stage->renders = true;
    return stage->data ? IMGPIPE_OK : IMGPIPE_ERROR_MEMORY;
}

static imgpipe_status finish(imgpipe_stage *stage, const void *state, imgpipe_error *error) {
    (void)error;
    memcpy(stage->data, state, sizeof(struct state));
    return IMGPIPE_OK;
}

static imgpipe_status render(const imgpipe_stage *stage, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error) {
    const struct state *state = stage->data;
    int mean = state->count ? (int)(state->sum / (double)state->count) : 0;
    (void)in, (void)error;
    for (int64_t y = 0; y < out->info.height; y++)
        memset((char *)out->pixels + y * out->stride, mean & 63, (size_t)out->info.width * imgpipe_pixel_size(out->info.format));
    return IMGPIPE_OK;
}
#define FUNCTIONS .kind = IMGPIPE_GATHER, .merge = merge, .finish = finish, .render = render

#else
/* The sum of a sample and its neighbours, as bytes. */
static uint8_t last;

static void rows_of(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    int64_t step = (int64_t)imgpipe_pixel_size(stage->in.format), n = rows->out_width * step;
    for (int i = 0; i < rows->count; i++) {
        const uint8_t *up = rows->in[i], *in = rows->in[i + 1];
        uint8_t *out = rows->out[i], more = 0;
#if defined(READS_COLUMN)
        up += step;
#elif defined(READS_ROW)
        up = rows->in[i + 3];
#elif defined(KEEPS_STATE)
        more = last;
        last = in[0];
#elif defined(POSITION)
        more = (uint8_t)((rows->y + i) & 1);
#elif defined(ISA)
        more = stage->isa > 0;
#elif defined(WRITES_INPUT)
        if (in[0] < 9) ((uint8_t *)rows->in[i + 1])[0] = 9;
#elif defined(WRITES_SCRATCH)
        memset(rows->scratch, 1, (size_t)n + 1);
#elif defined(WRITES_STATE)
        memset(rows->state, 1, (size_t)n + 1);
#elif defined(HANGS)
        /* As a loop without an end, but for the load. The test waits for the line. */
        for (volatile int stay = write(2, "hangs\n", 6) == 6; stay;) pause();
#elif defined(CRASHES)
        more = *(const volatile uint8_t *)(uintptr_t)rows->first;
#endif
        for (int64_t x = 0; x < n; x++) out[x] = (uint8_t)(in[x - step] + in[x + step] + up[x + step] + more);
#ifdef WRITES_COLUMN
        out[n] = 1;
#endif
    }
}

static imgpipe_status setup(imgpipe_stage *stage, imgpipe_error *error) {
    (void)error;
#ifdef NEEDS_VALUE
    if (*(const int64_t *)stage->options < 0) return imgpipe_stage_fail(stage, error, "number", 0, 0, "is missing; write wrong=3");
#endif
    last = 0;
    stage->scratch_size = stage->state_size = (size_t)stage->in.width * imgpipe_pixel_size(stage->in.format);
    stage->rows = rows_of;
    return IMGPIPE_OK;
}

static imgpipe_rect need(const imgpipe_stage *stage, imgpipe_rect out) {
    (void)stage;
#if defined(NEED_SHRINKS)
    if (out.y1 - out.y0 > 3) out.y0++; /* not all of it: a row less above */
#elif defined(NEED_CHANGES)
    static int calls;
    if (++calls % 1000 == 0) out.x0--;
#endif
    return imgpipe_grow(out, 1, 1);
}
#ifdef NEEDS_VALUE /* which is right */
static const imgpipe_param params[] = {{"number", 0, IMGPIPE_PARAM_INT, NULL, 0, 9, NULL, "a number that must be there"}};
#define FUNCTIONS .kind = IMGPIPE_LOCAL, .need = need, .options_size = sizeof(int64_t), .params = params, .param_count = 1
#else
#define FUNCTIONS .kind = IMGPIPE_LOCAL, .need = need
#endif
#endif

static const imgpipe_filter wrong = {
    .struct_size = sizeof(imgpipe_filter),
    .abi = IMGPIPE_ABI,
    .name = "wrong",
    .summary = "break a rule",
    .setup = setup,
    FUNCTIONS,
};

static const imgpipe_filter *const filters[] = {&wrong, NULL};
const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "wrong", "1.0", filters};

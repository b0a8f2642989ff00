/* Images that come and go row by row, and memory that comes from the caller. Only the public header. */
#include "checks.h"
#include "imgpipe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- memory from the caller: counted, and checked when it is given back */

struct memory {
    pthread_mutex_t lock;
    size_t now, most;
    int blocks, refuse_from, asked; /* refuse_from: the first request that gets nothing; 0: none */
    bool wrong;
};
#define HEAD 4096

static void *allocate(void *user, size_t size, size_t alignment) {
    struct memory *m = user;
    pthread_mutex_lock(&m->lock);
    m->asked++;
    bool refused = m->refuse_from && m->asked >= m->refuse_from;
    if (alignment == 0 || alignment > HEAD || (alignment & (alignment - 1)) || size == 0) m->wrong = true;
    unsigned char *block = refused ? NULL : aligned_alloc(HEAD, HEAD + (size + HEAD - 1) / HEAD * HEAD);
    if (block) {
        memcpy(block, &size, sizeof size);
        memset(block + HEAD, 0xc3, size);
        m->now += size;
        if (m->now > m->most) m->most = m->now;
        m->blocks++;
    }
    pthread_mutex_unlock(&m->lock);
    return block ? block + HEAD : NULL;
}

static void release(void *user, void *memory, size_t size) {
    struct memory *m = user;
    unsigned char *block = (unsigned char *)memory - HEAD;
    pthread_mutex_lock(&m->lock);
    if (memcmp(block, &size, sizeof size) != 0) m->wrong = true;
    m->now -= size;
    m->blocks--;
    pthread_mutex_unlock(&m->lock);
    free(block);
}

static struct memory memory;
static imgpipe_error error;

static uint64_t budget_of_context;
static const char *device = "cpu";

static imgpipe_context *context_new(int threads) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    memory = (struct memory){.lock = PTHREAD_MUTEX_INITIALIZER};
    options.device = device;
    options.threads = threads;
    options.memory = budget_of_context;
    options.allocate = allocate;
    options.release = release;
    options.user = &memory;
    if (!CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK)) printf("      %s\n", error.message);
    return context;
}

static void context_end(imgpipe_context **context) {
    imgpipe_context_free(context);
    CHECK(memory.blocks == 0 && memory.now == 0 && !memory.wrong);
}

/* ---- rows that are made up where they are asked for */

struct rows {
    imgpipe_row_stream stream;
    int64_t next_read, next_write, bad_read, bad_write; /* bad: the row that is answered by `answer`; -1: none */
    imgpipe_status answer;
    const char *words;
    unsigned char *want; /* what should come, packed; NULL: only counted */
    size_t want_row;
    uint64_t sum;
    bool wrong;
    atomic_int reading, writing;
};

static unsigned char sample_of(int64_t y, int64_t i) {
    return (unsigned char)((uint64_t)(y * 7919 + i * 104729) * 2654435761u >> 13);
}

static imgpipe_status say(const struct rows *r, imgpipe_error *said) {
    if (r->words) snprintf(said->message, sizeof said->message, "%s", r->words);
    return r->answer;
}

static imgpipe_status read_row(void *user, int64_t y, void *row, imgpipe_error *said) {
    struct rows *r = user;
    size_t bytes = (size_t)r->stream.in.width * imgpipe_layout_pixel_size(r->stream.in.format, r->stream.in_layout);
    if (atomic_fetch_add(&r->reading, 1) || y != r->next_read || (uintptr_t)row % 64) r->wrong = true;
    r->next_read++;
    if (y == r->bad_read) return say(r, said);
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)row)[i] = sample_of(y, (int64_t)i);
    atomic_fetch_sub(&r->reading, 1);
    return IMGPIPE_OK;
}

static imgpipe_status write_row(void *user, int64_t y, const void *row, imgpipe_error *said) {
    struct rows *r = user;
    if (atomic_fetch_add(&r->writing, 1) || y != r->next_write || (uintptr_t)row % 64) r->wrong = true;
    r->next_write++;
    if (y == r->bad_write) return say(r, said);
    if (r->want && memcmp(row, r->want + (size_t)y * r->want_row, r->want_row) != 0) r->wrong = true;
    for (int i = 0; i < 8; i++) r->sum += ((const unsigned char *)row)[i];
    atomic_fetch_sub(&r->writing, 1);
    return IMGPIPE_OK;
}

static struct rows rows_new(imgpipe_info in) {
    struct rows r = {.stream = imgpipe_row_stream_default(), .bad_read = -1, .bad_write = -1, .answer = IMGPIPE_ERROR_CANCELLED};
    r.stream.in = in;
    r.stream.read = read_row;
    r.stream.write = write_row;
    return r;
}

static imgpipe_status run(imgpipe_context *context, const char *text, struct rows *r) {
    imgpipe_chain *chain = NULL;
    r->stream.user = r;
    error = (imgpipe_error){0};
    imgpipe_status status = imgpipe_chain_parse(text, &chain, &error);
    if (!status) status = imgpipe_run_rows(context, chain, &r->stream, NULL, NULL, &error);
    imgpipe_chain_free(&chain);
    return status;
}

/* The same bytes as from an image in memory with the same layouts. */
static void same_as_image(imgpipe_context *context, const char *text, imgpipe_info info, imgpipe_layout in_layout,
                          imgpipe_layout out_layout) {
    struct rows r = rows_new(info);
    imgpipe_chain *chain = NULL;
    imgpipe_image in = {.info = info, .layout = in_layout}, out = {.layout = out_layout};
    CHECK(imgpipe_chain_parse(text, &chain, &error) == IMGPIPE_OK);
    CHECK(imgpipe_chain_output(context, chain, &info, NULL, &out.info, &error) == IMGPIPE_OK);
    in.stride = (ptrdiff_t)((size_t)info.width * imgpipe_layout_pixel_size(info.format, in_layout));
    out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_layout_pixel_size(out.info.format, out_layout));
    in.pixels = malloc((size_t)(in.stride * info.height));
    out.pixels = malloc((size_t)(out.stride * out.info.height));
    for (int64_t y = 0; y < info.height; y++)
        for (int64_t i = 0; i < in.stride; i++) ((unsigned char *)in.pixels)[y * in.stride + i] = sample_of(y, i);
    if (!CHECK(imgpipe_run_image(context, chain, &in, &out, NULL, NULL, &error) == IMGPIPE_OK)) printf("      %s\n", error.message);
    r.stream.in_layout = in_layout;
    r.stream.out_layout = out_layout;
    r.want = out.pixels;
    r.want_row = (size_t)out.stride;
    if (!CHECK(run(context, text, &r) == IMGPIPE_OK)) printf("      '%s': %s\n", text, error.message);
    if (!CHECK(!r.wrong && r.next_read == info.height && r.next_write == out.info.height))
        printf("      '%s' %lld read, %lld written, wrong %d\n", text, (long long)r.next_read, (long long)r.next_write, r.wrong);
    free(in.pixels), free(out.pixels);
    imgpipe_chain_free(&chain);
}

static void equal(int threads) {
    imgpipe_context *context = context_new(threads);
    imgpipe_format u8 = {IMGPIPE_U8, 3, false}, u16 = {IMGPIPE_U16, 1, false}, alpha = {IMGPIPE_U8, 4, true};
    imgpipe_layout plain = {0}, bgrx = {IMGPIPE_ORDER_BGRX, false, 0}, argb = {IMGPIPE_ORDER_ARGB, true, 0};
    same_as_image(context, "", (imgpipe_info){10, 1, u8}, plain, plain);
    same_as_image(context, "blur=3,invert", (imgpipe_info){97, 1001, u8}, plain, plain);
    same_as_image(context, "median=5,box=11", (imgpipe_info){31, 803, u16}, plain, plain);
    same_as_image(context, "blur=2", (imgpipe_info){50, 300, u8}, bgrx, plain);
    same_as_image(context, "blur=2", (imgpipe_info){50, 300, u8}, plain, bgrx);
    same_as_image(context, "box=5", (imgpipe_info){33, 301, alpha}, argb, argb);
    same_as_image(context, "gray,hist,blur=1", (imgpipe_info){60, 500, u8}, plain, plain);
    same_as_image(context, "box=3:border=wrap", (imgpipe_info){60, 500, u8}, plain, plain);
    context_end(&context);
}

/* Memory does not grow with the height; strips are made even, so that it differs by their rounding. */
static void flat(int threads) {
    size_t most[2];
    for (int i = 0; i < 2; i++) {
        imgpipe_context *context = context_new(threads);
        struct rows r = rows_new((imgpipe_info){300, i ? 600000 : 200000, {IMGPIPE_U8, 1, false}});
        CHECK(run(context, "box=5,invert", &r) == IMGPIPE_OK && !r.wrong && r.next_write == r.stream.in.height);
        most[i] = memory.most;
        context_end(&context);
    }
    if (!CHECK(most[0] > 0 && most[1] <= most[0] + most[0] / 20)) printf("      %zu and %zu bytes\n", most[0], most[1]);
}

static void ended(imgpipe_context *context, struct rows *r, imgpipe_status want, const char *words, int line) {
    imgpipe_status status = run(context, "blur=2", r);
    bool right = status == want && error.status == want && strstr(error.message, words);
    right = right && !r->wrong && r->next_read <= 500 && r->next_write < 500;
    if (r->bad_read >= 0) right = right && r->next_read == r->bad_read + 1;
    if (r->bad_write >= 0) right = right && r->next_write == r->bad_write + 1;
    if (!check(right, words, line))
        printf("      status %d, %s; %lld read, %lld written\n", (int)status, error.message, (long long)r->next_read,
               (long long)r->next_write);
}
#define ENDED(want, words) ended(context, &r, want, words, __LINE__)

static void ends(int threads) {
    imgpipe_context *context = context_new(threads);
    imgpipe_info info = {40000, 500, {IMGPIPE_U8, 1, false}};
    for (int at = 0; at < 500; at += 166) {
        struct rows r = rows_new(info);
        r.bad_read = at;
        r.answer = IMGPIPE_ERROR_INPUT;
        r.words = "the camera was unplugged";
        ENDED(IMGPIPE_ERROR_INPUT, "the camera was unplugged");
        r = rows_new(info);
        r.bad_read = at;
        ENDED(IMGPIPE_ERROR_CANCELLED, "did not say why");
        r = rows_new(info);
        r.bad_write = at;
        r.answer = IMGPIPE_ERROR_OUTPUT;
        r.words = "the pipe is closed";
        ENDED(IMGPIPE_ERROR_OUTPUT, "the pipe is closed");
    }
    struct rows r = rows_new(info);
    r.bad_write = 3;
    r.answer = (imgpipe_status)77;
    ENDED(IMGPIPE_ERROR_ARGUMENT, "answered 77");
    r = rows_new(info);
    r.stream.in.format.type = IMGPIPE_U16; /* a sample above the white level */
    r.stream.in_layout.white = 1;
    CHECK(run(context, "", &r) == IMGPIPE_ERROR_INPUT && strstr(error.message, "white level"));
    r = rows_new(info);
    r.stream.read = NULL;
    CHECK(run(context, "", &r) == IMGPIPE_ERROR_ARGUMENT);
    r = rows_new(info);
    r.stream.struct_size--;
    CHECK(run(context, "", &r) == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "struct_size"));
    r = rows_new(info);
    r.stream.out_layout.order = IMGPIPE_ORDER_BGR;
    CHECK(run(context, "", &r) == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "output"));
    r = rows_new(info);
    r.stream.write = NULL;
    CHECK(run(context, "blur=2", &r) == IMGPIPE_OK && r.next_write == 0);
    CHECK(imgpipe_run_rows(context, NULL, NULL, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT);
    context_end(&context);
}

/* What is said to be needed is what a first run asks for, to the byte, and how far it reads. */
static void needed(const char *text, imgpipe_format format, int threads, uint64_t budget, int64_t reach, bool whole) {
    imgpipe_needs needs = imgpipe_needs_default();
    imgpipe_image in = {.info = {211, 157, format}}, out = {0};
    imgpipe_chain *chain = NULL;
    budget_of_context = budget;
    imgpipe_context *context = context_new(threads);
    budget_of_context = 0;
    CHECK(imgpipe_chain_parse(text, &chain, &error) == IMGPIPE_OK);
    if (!CHECK(imgpipe_chain_needs(context, chain, &in.info, NULL, &needs, &error) == IMGPIPE_OK))
        printf("      %s\n", error.message);
    CHECK(memory.asked == 0); /* it needs nothing itself */
    out.info = needs.out;
    in.stride = (ptrdiff_t)((size_t)in.info.width * imgpipe_pixel_size(in.info.format));
    out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
    in.pixels = calloc((size_t)in.info.height, (size_t)in.stride);
    out.pixels = calloc((size_t)out.info.height, (size_t)out.stride);
    if (!CHECK(imgpipe_run_image(context, chain, &in, &out, NULL, NULL, &error) == IMGPIPE_OK)) printf("      %s\n", error.message);
    bool right =
        needs.host_bytes == memory.most && needs.device_bytes == 0 && needs.whole == whole && strncmp(needs.device, "cpu", 3) == 0;
    right = right && (whole || (needs.left == reach && needs.top == reach && needs.right == reach && needs.bottom == reach));
    if (!CHECK(right))
        printf("      '%s': %llu bytes, and a run took %zu; reach %lld %lld %lld %lld, whole %d, %d passes\n", text,
               (unsigned long long)needs.host_bytes, memory.most, (long long)needs.left, (long long)needs.top,
               (long long)needs.right, (long long)needs.bottom, needs.whole, needs.passes);
    free(in.pixels), free(out.pixels);
    imgpipe_chain_free(&chain);
    context_end(&context);
}

/* On a GPU: both kinds of memory, and more of its own for a larger image. */
static void needed_on_device(imgpipe_context *context) {
    uint64_t bytes[2] = {0, 0};
    imgpipe_chain *chain = NULL;
    CHECK(imgpipe_chain_parse("gray,blur=2,median=5", &chain, &error) == IMGPIPE_OK);
    for (int i = 0; i < 2; i++) {
        imgpipe_needs needs = imgpipe_needs_default();
        imgpipe_info in = {i ? 6000 : 60, i ? 4000 : 40, {IMGPIPE_U8, 3, false}};
        CHECK(imgpipe_chain_needs(context, chain, &in, NULL, &needs, &error) == IMGPIPE_OK);
        CHECK(strncmp(needs.device, "cuda", 4) == 0 && needs.left == 8 && !needs.whole);
        bytes[i] = needs.device_bytes;
        printf("      %lld x %lld: %llu bytes here, %llu on %s\n", (long long)in.width, (long long)in.height,
               (unsigned long long)needs.host_bytes, (unsigned long long)needs.device_bytes, needs.device);
    }
    CHECK(bytes[0] > 60 * 40 && bytes[1] > 4 * bytes[0]);
    imgpipe_chain_free(&chain);
}

static void needs(void) {
    imgpipe_format u8 = {IMGPIPE_U8, 3, false}, u16 = {IMGPIPE_U16, 1, false}, f32 = {IMGPIPE_F32, 1, false};
    imgpipe_needs old = imgpipe_needs_default();
    imgpipe_info in = {9, 9, u8};
    for (int threads = 1; threads <= 3; threads++) {
        needed("invert", u8, threads, 0, 0, false);
        needed("blur=2", u8, threads, 0, 6, false);
        needed("gray,blur=2,median=5,invert", u16, threads, 0, 8 + 2, false);
        needed("box=11,conv=sharpen", f32, threads, 0, 5 + 1, false);
        needed("gray,hist,blur", u8, threads, 0, 0, true);
        needed("hist,box", f32, threads, 0, 0, true);
        needed("box=5:border=wrap,median=3", u8, threads, 0, 0, true);
        if (threads == 1) needed("box=5:border=wrap", u16, threads, 75000, 0, true); /* the store goes to a file */
    }
    imgpipe_context *context = context_new(1);
    old.struct_size--;
    CHECK(imgpipe_chain_needs(context, NULL, &in, NULL, &old, &error) == IMGPIPE_ERROR_ARGUMENT);
    CHECK(imgpipe_chain_needs(context, NULL, NULL, NULL, NULL, &error) == IMGPIPE_ERROR_ARGUMENT);
    context_end(&context);
}

/* A request for memory that gets nothing ends the run, and the next run works. */
static void refusals(void) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    options.allocate = allocate;
    CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_ERROR_ARGUMENT && strstr(error.message, "together"));
    int failed = 0;
    for (int n = 1; n < 50; n++) {
        context = context_new(2);
        memory.refuse_from = n;
        struct rows r = rows_new((imgpipe_info){50, 400, {IMGPIPE_U8, 3, false}});
        imgpipe_status status = run(context, "gray,hist,blur", &r);
        int asked = memory.asked;
        CHECK(status == (asked < n ? IMGPIPE_OK : IMGPIPE_ERROR_MEMORY) || (status == IMGPIPE_OK && asked >= n));
        failed += status == IMGPIPE_ERROR_MEMORY;
        memory.refuse_from = 0;
        r = rows_new((imgpipe_info){50, 400, {IMGPIPE_U8, 3, false}});
        CHECK(run(context, "gray,hist,blur", &r) == IMGPIPE_OK && !r.wrong);
        context_end(&context);
        if (asked < n) break;
    }
    CHECK(failed >= 3);
}

/* usage: test_rows [DEVICE]; 77: it is not there. On a GPU rows lie in memory that its driver must know, not in the caller's. */
int main(int count, char **arguments) {
    if (count > 1) {
        imgpipe_context_options options = imgpipe_context_options_default();
        imgpipe_context *context = NULL;
        options.device = device = arguments[1];
        imgpipe_status status = imgpipe_context_new(&options, &context, &error);
        if (status == IMGPIPE_ERROR_DEVICE) return puts(error.message), 77;
        needed_on_device(context);
        imgpipe_context_free(&context);
        equal(2);
        ends(2);
        printf("%d checks, %d failed\n", checks, failures);
        return failures != 0;
    }
    for (int threads = 1; threads <= 3; threads += 2) {
        equal(threads);
        flat(threads);
        ends(threads);
    }
    needs();
    refusals();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

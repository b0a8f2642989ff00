/* Every public call with every single request for memory refused, one after another: the call says so, leaks nothing, harms nothing
 * that was there before, and works the next time. The linker hands all requests of the library to the functions below (--wrap). */
#include "checks.h"
#include "imgpipe.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the requests */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live[1 << 16];
static int live_count, asked, refused_at; /* refused_at: the request that gets nothing, from 1; 0: none */

static bool refuse(void) {
    pthread_mutex_lock(&lock);
    bool no = ++asked == refused_at;
    pthread_mutex_unlock(&lock);
    if (no) errno = ENOMEM;
    return no;
}

static void *born(void *block) {
    pthread_mutex_lock(&lock);
    if (block) live[live_count++] = block;
    pthread_mutex_unlock(&lock);
    return block;
}

/* What libraries gave is freed here too, and was never noted. */
static void dies(const void *block) {
    pthread_mutex_lock(&lock);
    for (int i = live_count - 1; i >= 0; i--)
        if (live[i] == block) {
            live[i] = live[--live_count];
            break;
        }
    pthread_mutex_unlock(&lock);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__real_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
FILE *__real_open_memstream(char **text, size_t *size);

void *__wrap_malloc(size_t size) {
    return refuse() ? NULL : born(__real_malloc(size));
}
void *__wrap_calloc(size_t count, size_t size) {
    return refuse() ? NULL : born(__real_calloc(count, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return refuse() ? NULL : born(__real_aligned_alloc(alignment, size));
}
char *__wrap_strdup(const char *text) {
    return refuse() ? NULL : born(__real_strdup(text));
}
FILE *__wrap_open_memstream(char **text, size_t *size) {
    return refuse() ? NULL : __real_open_memstream(text, size);
}

void *__wrap_realloc(void *block, size_t size) {
    if (refuse()) return NULL;
    dies(block);
    return born(__real_realloc(block, size));
}

void __wrap_free(void *block) {
    if (block) dies(block);
    __real_free(block);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    if (refuse()) return MAP_FAILED;
    void *memory = __real_mmap(at, size, protection, flags, file, offset);
    if (memory != MAP_FAILED) born(memory);
    return memory;
}

int __wrap_munmap(void *at, size_t size) {
    dies(at);
    return __real_munmap(at, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return refuse() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

/* ---- what is called */

static imgpipe_context *context;
static imgpipe_error error;
static char folder[] = "/tmp/imgpipe-memory-XXXXXX", out_path[64];

static imgpipe_status with_chain(const char *text, imgpipe_status (*run)(const imgpipe_chain *chain, const void *with),
                                 const void *with) {
    imgpipe_chain *chain = NULL;
    imgpipe_status status = imgpipe_chain_parse(text, &chain, &error);
    if (!status) status = run(chain, with);
    imgpipe_chain_free(&chain);
    return status;
}

static imgpipe_status new_context(const void *with) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *made = NULL;
    options.device = with;
    options.threads = 3;
    imgpipe_status status = imgpipe_context_new(&options, &made, &error);
    if (status && made) return IMGPIPE_ERROR_INTERNAL;
    imgpipe_context_free(&made);
    return status;
}

static imgpipe_status parse(const void *with) {
    imgpipe_chain *chain = NULL;
    imgpipe_status status = imgpipe_chain_parse(with, &chain, &error);
    if (status && chain) return IMGPIPE_ERROR_INTERNAL;
    imgpipe_chain_free(&chain);
    return status;
}

static imgpipe_status build(const void *with) {
    (void)with;
    imgpipe_chain *chain = NULL;
    imgpipe_status status = imgpipe_chain_new(&chain, &error);
    if (!status) status = imgpipe_chain_add(chain, "gray", &error);
    if (!status) status = imgpipe_chain_add(chain, "blur", &error);
    if (!status) status = imgpipe_chain_set_number(chain, -1, "sigma", 1.5, &error);
    if (!status) status = imgpipe_chain_set_choice(chain, -1, "border", "mirror", &error);
    if (!status) status = imgpipe_chain_set_number(chain, -1, "sigma", 2, &error); /* the default again */
    if (chain && imgpipe_chain_filter_at(chain, 1) && strncmp(imgpipe_chain_text(chain), "gray,blur", 9) != 0)
        status = IMGPIPE_ERROR_INTERNAL;
    imgpipe_chain_free(&chain);
    return status;
}

/* A filter of the program's own, and `with`, a folder of plug-ins. */
static imgpipe_status use_registry(const void *with) {
    static const imgpipe_param param = {"number", 0, IMGPIPE_PARAM_INT, "3", 0, 9, NULL, "a number"};
    imgpipe_filter own = *imgpipe_filter_find("invert");
    imgpipe_registry *registry = NULL;
    imgpipe_chain *chain = NULL;
    own.name = "own";
    own.params = &param;
    own.param_count = 1;
    own.options_size = sizeof(int64_t);
    imgpipe_status status = imgpipe_registry_new(&registry, &error);
    if (!status) status = imgpipe_registry_add(registry, &own, &error);
    if (!status) status = imgpipe_registry_load_folder(registry, with, NULL, NULL, &error);
    if (!status) status = imgpipe_chain_new_with(registry, &chain, &error);
    if (!status) status = imgpipe_chain_add(chain, "own", &error);
    if (!status) imgpipe_chain_free(&chain);
    if (!status) status = imgpipe_chain_parse_with(registry, "own,dilate=5", &chain, &error);
    if (!registry && chain) status = IMGPIPE_ERROR_INTERNAL;
    imgpipe_registry_free(&registry);
    imgpipe_chain_free(&chain);
    return status;
}

struct picture {
    imgpipe_format format;
    imgpipe_layout layout;
    const char *chain;
};
enum { WIDTH = 61, HEIGHT = 83 };

static unsigned char pixels[WIDTH * HEIGHT * 16], result[640 * 400 * 4];

static imgpipe_image image_of(const struct picture *p) {
    size_t pixel = imgpipe_layout_pixel_size(p->format, p->layout);
    return (imgpipe_image){{WIDTH, HEIGHT, p->format}, pixels, (ptrdiff_t)(WIDTH * pixel), p->layout};
}

static imgpipe_status run_image_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_image in = image_of(with), out = {.pixels = result};
    imgpipe_status status = imgpipe_chain_output(context, chain, &in.info, NULL, &out.info, &error);
    out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
    return status ? status : imgpipe_run_image(context, chain, &in, &out, NULL, NULL, &error);
}
static imgpipe_status run_image(const void *with) {
    return with_chain(((const struct picture *)with)->chain, run_image_chain, with);
}

static imgpipe_status run_region_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_image in = image_of(with), out = {.info = {20, 20, in.info.format}, .pixels = result, .stride = 20 * 16};
    return imgpipe_run_region(context, chain, &in, (imgpipe_rect){10, 10, 30, 30}, &out, NULL, NULL, &error);
}
static imgpipe_status run_region(const void *with) {
    return with_chain(((const struct picture *)with)->chain, run_region_chain, with);
}

/* A plan from its making to its end, with a change of parameters and another size. */
static imgpipe_status prepare_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_image in = image_of(with), out = {.pixels = result};
    imgpipe_plan *plan = NULL;
    imgpipe_status status = imgpipe_prepare(context, chain, &in.info, NULL, &plan, &error);
    for (int i = 0; i < 3 && !status; i++) {
        in.info.height = HEIGHT - i;
        status = imgpipe_plan_output(plan, WIDTH, HEIGHT - i, &out.info, &error);
        out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
        if (!status) status = imgpipe_plan_run(plan, &in, &out, &error);
        if (!status && i == 0) status = imgpipe_plan_set_int(plan, 0, "size", 5, &error);
    }
    if (status && imgpipe_plan_run(NULL, &in, &out, NULL) != IMGPIPE_ERROR_ARGUMENT) status = IMGPIPE_ERROR_INTERNAL;
    imgpipe_plan_free(&plan);
    return status;
}
static imgpipe_status prepare(const void *with) {
    return with_chain(((const struct picture *)with)->chain, prepare_chain, with);
}

static imgpipe_status give(void *user, int64_t y, void *row, imgpipe_error *said) {
    (void)user, (void)y, (void)said;
    memset(row, 7, WIDTH * 4);
    return IMGPIPE_OK;
}

static imgpipe_status take(void *user, int64_t y, const void *row, imgpipe_error *said) {
    (void)user, (void)y, (void)row, (void)said;
    return IMGPIPE_OK;
}

static imgpipe_status run_rows_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_row_stream stream = imgpipe_row_stream_default();
    stream.in = image_of(with).info;
    stream.in_layout = stream.out_layout = ((const struct picture *)with)->layout;
    stream.read = give;
    stream.write = take;
    return imgpipe_run_rows(context, chain, &stream, NULL, NULL, &error);
}
static imgpipe_status run_rows(const void *with) {
    return with_chain(((const struct picture *)with)->chain, run_rows_chain, with);
}

/* Prepares a plan, runs it at two sizes, changes a parameter, counts. */
static imgpipe_status run_plan_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_image in = image_of(with), out = {.pixels = result};
    imgpipe_plan *plan = NULL;
    imgpipe_status status = imgpipe_prepare(context, chain, &in.info, NULL, &plan, &error);
    for (int i = 0; i < 2 && !status; i++) {
        in.info.height -= 10 * i;
        status = imgpipe_plan_output(plan, in.info.width, in.info.height, &out.info, &error);
        out.stride = (ptrdiff_t)((size_t)out.info.width * imgpipe_pixel_size(out.info.format));
        if (!status) status = imgpipe_plan_run(plan, &in, &out, &error);
        if (!status) status = imgpipe_plan_set_number(plan, 0, "sigma", 1.25, &error);
    }
    imgpipe_plan_free(&plan);
    return status;
}
static imgpipe_status run_plan(const void *with) {
    return with_chain(((const struct picture *)with)->chain, run_plan_chain, with);
}

static imgpipe_status ask_needs_chain(const imgpipe_chain *chain, const void *with) {
    imgpipe_image in = image_of(with);
    imgpipe_needs needs = imgpipe_needs_default();
    return imgpipe_chain_needs(context, chain, &in.info, NULL, &needs, &error);
}
static imgpipe_status ask_needs(const void *with) {
    return with_chain(((const struct picture *)with)->chain, ask_needs_chain, with);
}

struct file {
    const char *in, *chain, *out; /* out: an extension */
};

static imgpipe_status run_file_chain(const imgpipe_chain *chain, const void *with) {
    const struct file *file = with;
    imgpipe_report report = imgpipe_report_default();
    snprintf(out_path, sizeof out_path, "%s/out.%s", folder, file->out);
    imgpipe_status status = imgpipe_run_file(context, chain, file->in, out_path, NULL, &report, &error);
    bool there = access(out_path, F_OK) == 0;
    unlink(out_path);
    if (there != (status == IMGPIPE_OK)) return IMGPIPE_ERROR_INTERNAL;
    return status;
}
static imgpipe_status run_file(const void *with) {
    return with_chain(((const struct file *)with)->chain, run_file_chain, with);
}

/* ---- one refusal after another */

static void every_refusal(const char *what, imgpipe_status (*call)(const void *with), const void *with, int line) {
    int most = 0, told = 0;
    error = (imgpipe_error){0};
    if (!check(call(with) == IMGPIPE_OK, what,
               line)) { /* also fills the pools, so that the number of requests is the same each time */
        printf("      without a refusal: %s\n", error.message);
        return;
    }
    for (int n = 1, reached = 1; reached; n++) {
        int before = live_count;
        error = (imgpipe_error){0};
        asked = 0;
        refused_at = n;
        imgpipe_status status = call(with);
        reached = asked >= n;
        refused_at = 0;
        told += status == IMGPIPE_ERROR_MEMORY;
        bool right =
            status == IMGPIPE_OK || (reached && status == IMGPIPE_ERROR_MEMORY && error.status == status && error.message[0]);
        if (!check(right, what, line)) printf("      request %d: status %d: %s\n", n, (int)status, error.message);
        error = (imgpipe_error){0};
        if (!check(call(with) == IMGPIPE_OK, "it works the next time", line))
            printf("      after request %d: %s\n", n, error.message);
        /* The context may keep blocks for the next run; that they do not grow without end is seen over all requests. */
        if (!check(live_count <= before + 8, "nothing leaks", line))
            printf("      request %d: %d blocks more\n", n, live_count - before);
        most = n;
    }
    if (!check(told > 0, "some refusals are fatal", line) || getenv("VERBOSE"))
        printf("      %s: %d requests, %d told\n", what, most - 1, told);
}
#define EVERY(call, with) every_refusal(#call, call, with, __LINE__)

static void in_memory(void) {
    imgpipe_format u8 = {IMGPIPE_U8, 3, false}, u16 = {IMGPIPE_U16, 1, false}, f32 = {IMGPIPE_F32, 1, false},
                   alpha = {IMGPIPE_U8, 4, true};
    imgpipe_layout plain = {0}, bgrx = {IMGPIPE_ORDER_BGRX, false, 0}, argb = {IMGPIPE_ORDER_ARGB, true, 0};
    const struct picture images[] = {
        {u8, plain, ""},
        {u8, plain, "gray,blur,hist"},
        {u8, bgrx, "median=9,conv=sharpen"},
        {u16, plain, "levels=10%:90%,median=15"},
        {f32, plain, "hist"},
        {alpha, argb, "box=5,blur=3"},
        {u16, plain, "median=3:border=wrap,hist"},
        {u8, plain, "hist=pass,invert"},
        {u16, plain, "threshold=50%"},
    };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) EVERY(run_image, &images[i]);
    const struct picture region = {u8, plain, "blur,median=5"}, rows = {u8, bgrx, "blur,median=5"};
    EVERY(run_region, &region);
    const struct picture plans[] = {{u8, plain, "median=3,levels=10%:90%,hist"}, {u16, plain, "box=3:border=wrap,hist=pass,levels=10%:90%"}};
    for (int i = 0; i < 2; i++) EVERY(prepare, &plans[i]);
    EVERY(run_rows, &rows);
    const struct picture plan = {u8, plain, "blur,gray,median=5,hist=pass"};
    EVERY(run_plan, &plan);
    EVERY(ask_needs, &images[1]);
}

int main(int count, char **arguments) {
    /* Arguments: a folder of plug-ins, then an input and the kind of the output, in turn. */
    int before = live_count;
    if (count < 2 || !mkdtemp(folder)) return 1;
    EVERY(new_context, "cpu");
    EVERY(parse, "gray=709,blur=2:border=mirror,conv='1,2,1;2,4,2;1,2,1':abs,levels=10%:90%,hist=pass:data=x.csv");
    EVERY(build, NULL);
    EVERY(use_registry, arguments[1]);
    imgpipe_context_options options = imgpipe_context_options_default();
    options.device = "cpu";
    options.threads = 2;
    if (!CHECK(imgpipe_context_new(&options, &context, &error) == IMGPIPE_OK)) return 1;
    in_memory();
    for (int i = 2; i + 1 < count; i += 2) {
        const struct file file = {arguments[i], "gray,blur=1", arguments[i + 1]};
        every_refusal(arguments[i], run_file, &file, __LINE__);
    }
    imgpipe_context_free(&context);
    rmdir(folder);
    if (!CHECK(live_count == before)) printf("      %d blocks are left\n", live_count - before);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

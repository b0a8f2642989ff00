/* Several devices as one: members of the CPU's kind that fail when the test says so stand for GPUs. */
#include "backend_group.h"
#include "checks.h"
#include "context.h"
#include "status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, WIDTH = 131, HEIGHT = 900, STRIP = 16, NEVER = 1 << 30 };

/* What member `index` does. */
static struct plan_of_faults {
    bool opens;
    int good;     /* strips that it computes before it fails for good */
    int computed; /* strips that it has computed */
    bool late;    /* its first strip ends well, but only when its second has failed */
    bool starts;  /* it has not started yet */
} faults[MEMBERS];

struct member {
    struct backend base;
    struct backend *inner;
    int index;
};

struct backend_pass {
    struct member *member;
    struct backend_pass *inner;
    struct strip *held; /* the late one */
};

static int notices, threads = 3, strip_height = STRIP;

static void count_notices(void *user, imgpipe_log_level level, const char *message) {
    (void)user, (void)message;
    if (level == IMGPIPE_LOG_NOTICE) notices++;
}

static imgpipe_status member_open(struct backend *base, const struct pass_io *io, struct backend_pass **pass, imgpipe_error *error) {
    struct member *member = (struct member *)base;
    if (!faults[member->index].opens) return error_set(error, IMGPIPE_ERROR_DEVICE, "member %d does not open", member->index);
    *pass = calloc(1, sizeof **pass);
    (*pass)->member = member;
    return member->inner->ops->open(member->inner, io, &(*pass)->inner, error);
}

static void refuse(struct task *task, int worker) {
    (void)worker;
    struct strip *strip = (struct strip *)task;
    struct backend_pass *pass = strip->backend;
    struct strip *held = __atomic_exchange_n(&pass->held, NULL, __ATOMIC_ACQ_REL); /* several threads may be here */
    imgpipe_error error;
    imgpipe_status status = error_set(&error, IMGPIPE_ERROR_DEVICE, "a member fails");
    strip->done(strip, status, &error);
    if (held) pass->member->inner->ops->submit(pass->inner, held);
}

static void member_submit(struct backend_pass *pass, struct strip *strip) {
    struct plan_of_faults *f = &faults[pass->member->index];
    if (f->late && f->computed == 0) {
        f->computed++;
        __atomic_store_n(&pass->held, strip, __ATOMIC_RELEASE);
        return;
    }
    if (f->computed < f->good) {
        f->computed++; /* one strip is submitted at a time */
        pass->member->inner->ops->submit(pass->inner, strip);
        return;
    }
    strip->task.run = refuse;
    strip->backend = pass;
    tasks_add(pass->member->base.tasks, TASK_COMPUTE, &strip->task);
}

static imgpipe_status member_collect(struct backend_pass *pass, int e, int g, void *state, imgpipe_error *error) {
    return pass->member->inner->ops->collect(pass->inner, e, g, state, error);
}

static void member_close(struct backend_pass *pass, double seconds[3]) {
    pass->member->inner->ops->close(pass->inner, seconds);
    free(pass);
}

static void member_free(struct backend *base) {
    struct member *member = (struct member *)base;
    member->inner->ops->free(member->inner);
    free(member);
}

static bool member_starts(const struct backend *base) { return faults[((const struct member *)base)->index].starts; }

static const struct backend_ops member_ops = {.name = "member", .open = member_open, .submit = member_submit, .collect = member_collect,
                                              .close = member_close, .free = member_free, .starts = member_starts};

static imgpipe_status make(void *user, int index, struct pool *pool, struct backend **backend, imgpipe_error *error) {
    imgpipe_context *context = user;
    struct member *member = calloc(1, sizeof *member);
    (void)pool;
    imgpipe_status failed = backend_cpu_new(context->tasks, context->isa, pool_new(NULL, NULL, NULL), &member->inner, error);
    if (failed) return failed;
    member->base = *member->inner;
    member->base.ops = &member_ops;
    member->index = index;
    snprintf(member->base.about, sizeof member->base.about, "member %d", index);
    *backend = &member->base;
    return IMGPIPE_OK;
}

/* A context whose runs go to the group: `width` members work together, from number `first` on. */
static imgpipe_context *new_context(int width, int first) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_context *context = NULL;
    imgpipe_error error;
    options.device = "cpu";
    options.threads = threads;
    options.log = count_notices;
    if (imgpipe_context_new(&options, &context, &error) != IMGPIPE_OK) abort();
    if (width == 0) return context;
    struct backend_group_options group = {.count = MEMBERS, .first = first, .width = width, .name = "all", .log = &context->log,
                                          .make = make, .user = context};
    if (backend_group_new(&group, &context->group, &error) != IMGPIPE_OK) abort();
    context->cuda = backend_group_first(context->group);
    context->wish = DEVICE_CUDA;
    context->gpus = width;
    notices = 0;
    return context;
}

static imgpipe_image input, output;

static void new_image(void) {
    input = (imgpipe_image){.info = {WIDTH, HEIGHT, {IMGPIPE_U8, 3, false}}, .stride = WIDTH * 3};
    input.pixels = malloc((size_t)input.stride * HEIGHT);
    unsigned state = 1;
    for (ptrdiff_t i = 0; i < input.stride * HEIGHT; i++)
        ((unsigned char *)input.pixels)[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    output.pixels = malloc((size_t)640 * 400 * 3 + (size_t)input.stride * HEIGHT);
}

/* What runs handed over of histograms: how often, and the pixels that were counted the last time. */
static int handed;
static uint64_t counted;

static void take_histogram(void *user, int stage, const imgpipe_histogram *histogram, const uint64_t *counts) {
    (void)user, (void)stage;
    handed++;
    counted = 0;
    for (size_t i = 0; i < histogram->size / sizeof *counts; i++) counted += counts[i];
}

static imgpipe_status run(imgpipe_context *context, const char *text, imgpipe_error *error) {
    imgpipe_run_options options = imgpipe_run_options_default();
    options.histogram = take_histogram;
    imgpipe_chain *chain = NULL;
    options.strip_rows = strip_height;
    imgpipe_status failed = imgpipe_chain_parse(text, &chain, error);
    if (!failed) failed = imgpipe_chain_output(context, chain, &input.info, NULL, &output.info, error);
    output.stride = (ptrdiff_t)(output.info.width * (int64_t)imgpipe_pixel_size(output.info.format));
    if (!failed) memset(output.pixels, 0x5a, (size_t)output.stride * (size_t)output.info.height);
    if (!failed) failed = imgpipe_run_image(context, chain, &input, &output, &options, NULL, error);
    imgpipe_chain_free(&chain);
    return failed;
}

/* Whether the run gives the bytes that the CPU gives. */
static bool right(imgpipe_context *context, const char *text) {
    imgpipe_error error;
    imgpipe_context *plain = new_context(0, 0);
    bool good = run(plain, text, &error) == IMGPIPE_OK;
    size_t size = (size_t)output.stride * (size_t)output.info.height;
    unsigned char *expected = malloc(size);
    if (good) memcpy(expected, output.pixels, size);
    good = good && run(context, text, &error) == IMGPIPE_OK && memcmp(expected, output.pixels, size) == 0;
    free(expected);
    imgpipe_context_free(&plain);
    return good;
}

static void plan_faults(int a, int b, int c) {
    const int good[MEMBERS] = {a, b, c};
    for (int i = 0; i < MEMBERS; i++) faults[i] = (struct plan_of_faults){.opens = good[i] >= 0, .good = good[i]};
}

static void none_fails(void) {
    imgpipe_context *context = new_context(MEMBERS, 1);
    plan_faults(NEVER, NEVER, NEVER);
    CHECK(right(context, "blur=2,median=5"));
    for (int i = 0; i < MEMBERS; i++) CHECK(faults[i].computed > 0);
    CHECK(right(context, "hist=pass,gray"));
    CHECK(right(context, "hist"));
    CHECK(right(context, "box=9:border=wrap"));
    CHECK(notices == 0);
    imgpipe_context_free(&context);
}

static void some_fail(void) {
    imgpipe_context *context = new_context(MEMBERS, 0);
    plan_faults(NEVER, 4, 0);
    CHECK(right(context, "blur=2,median=5"));
    CHECK(notices == 2);
    faults[1].good = NEVER; /* it stays out all the same */
    CHECK(right(context, "gray"));
    CHECK(faults[1].computed == 4);
    imgpipe_context_free(&context);
    context = new_context(MEMBERS, 0);
    plan_faults(-1, NEVER, -1);
    CHECK(right(context, "conv=sobel_x:abs"));
    CHECK(faults[1].computed == (HEIGHT + STRIP - 1) / STRIP);
    plan_faults(NEVER, NEVER, -1); /* what did not open once may the next time */
    CHECK(right(context, "gray"));
    CHECK(faults[0].computed > 0);
    imgpipe_context_free(&context);
}

static void others_stand_by(void) {
    imgpipe_context *context = new_context(1, 1);
    plan_faults(NEVER, 5, 7);
    CHECK(right(context, "blur=2"));
    CHECK(faults[0].computed > 0 && faults[1].computed == 5 && faults[2].computed == 7);
    CHECK(strcmp(context->group->ops->describe(context->group), "member 0") == 0); /* the one that is left */
    imgpipe_context_free(&context);
    context = new_context(1, 2);
    plan_faults(NEVER, 5, -1);
    CHECK(right(context, "invert"));
    CHECK(faults[0].computed == (HEIGHT + STRIP - 1) / STRIP && faults[1].computed == 0);
    imgpipe_context_free(&context);
}

static void all_fail(void) {
    imgpipe_error error;
    imgpipe_context *context = new_context(2, 0);
    plan_faults(3, 9, 20);
    CHECK(run(context, "blur=2", &error) == IMGPIPE_ERROR_DEVICE && strstr(error.message, "a member fails"));
    CHECK(run(context, "blur=2", &error) == IMGPIPE_ERROR_DEVICE && strstr(error.message, "all"));
    imgpipe_context_free(&context);
    context = new_context(MEMBERS, 0);
    plan_faults(-1, -1, -1);
    CHECK(run(context, "blur=2", &error) == IMGPIPE_ERROR_DEVICE && strstr(error.message, "does not open"));
    imgpipe_context_free(&context);
}

/* What a device has counted is lost with it. */
static void counts(void) {
    imgpipe_error error;
    imgpipe_context *context = new_context(MEMBERS, 0);
    plan_faults(NEVER, 0, NEVER);
    CHECK(right(context, "hist"));
    imgpipe_context_free(&context);
    context = new_context(MEMBERS, 0);
    plan_faults(NEVER, 4, NEVER);
    CHECK(run(context, "hist", &error) == IMGPIPE_ERROR_DEVICE);
    CHECK(right(context, "hist")); /* the next run does without it */
    imgpipe_context_free(&context);
}

/* An image that is done again is counted once, and one that failed is not counted. */
static void counted_once(void) {
    imgpipe_error error;
    imgpipe_context *context = new_context(1, 0);
    plan_faults(4, NEVER, NEVER);
    handed = 0;
    CHECK(run(context, "gray,hist", &error) == IMGPIPE_ERROR_DEVICE && handed == 0);
    CHECK(run(context, "gray,hist", &error) == IMGPIPE_OK && handed == 1 && counted == (uint64_t)WIDTH * HEIGHT);
    CHECK(faults[0].computed == 4 && faults[1].computed > 0);
    imgpipe_context_free(&context);
    /* A strip that was under way when another failed ends well, on a device whose counts are not asked for any more. */
    for (int width = 1; width <= MEMBERS; width++) {
        context = new_context(width, 0);
        plan_faults(1, NEVER, NEVER);
        faults[0].late = true;
        handed = 0;
        CHECK(right(context, "gray,hist"));
        CHECK(handed == 2 && counted == (uint64_t)WIDTH * HEIGHT && faults[0].computed == 1); /* the CPU's run and the group's */
        imgpipe_context_free(&context);
    }
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* minutes, in kernels that are made without optimisation */
/* A chain that takes the CPU long, or so it says of itself: masks of 63 x 63 numbers that are no integers. */
static char *long_chain(void) {
    enum { STAGES = 5, NUMBERS = 63 * 63 };
    char *text = calloc(STAGES, 8 + 5 * NUMBERS), *at = text;
    for (int s = 0; s < STAGES; s++) {
        at += sprintf(at, "%sconv=", s ? "," : "");
        for (int i = 0; i < NUMBERS; i++) at += sprintf(at, "%s.%d", i == 0 ? "" : i % 63 ? " " : ";", 1 + (i * 7 + i / 5) % 9);
    }
    return text;
}

static void worth_waiting_for(imgpipe_context *context) {
    imgpipe_error error;
    char *slow = long_chain();
    strip_height = HEIGHT; /* so that nothing is computed twice */
    CHECK(run(context, slow, &error) == IMGPIPE_OK && faults[0].computed > 0);
    strip_height = STRIP;
    free(slow);
}
#else
static void worth_waiting_for(imgpipe_context *context) { (void)context; }
#endif

/* Until a device has started the CPU does what is quick. */
static void cpu_meanwhile(void) {
    threads = 1;
    imgpipe_context *context = new_context(1, 0);
    plan_faults(NEVER, NEVER, NEVER);
    faults[0].starts = true;
    CHECK(right(context, "blur=2") && faults[0].computed > 0); /* nobody has allowed it */
    context->cpu_meanwhile = true;
    faults[0].computed = 0;
    CHECK(right(context, "blur=2") && faults[0].computed == 0);
    worth_waiting_for(context);
    faults[0].starts = false;
    faults[0].computed = 0;
    CHECK(right(context, "blur=2") && faults[0].computed > 0);
    imgpipe_context_free(&context);
}

int main(void) {
    new_image();
    none_fails();
    some_fail();
    others_stand_by();
    all_fail();
    counts();
    counted_once();
    cpu_meanwhile();
    free(input.pixels);
    free(output.pixels);
    return failures != 0;
}

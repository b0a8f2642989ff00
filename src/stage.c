#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "filter.h"
#include "point.h"
#include "status.h"

/* The head takes a whole cache line, so that what follows is as well aligned as the block. */
struct stage_block {
    struct stage_block *next;
};
#define BLOCK_HEAD ARENA_ALIGN

static void *give_memory(imgpipe_stage *stage, size_t size, imgpipe_error *error) {
    struct stage_engine *engine = stage->engine;
    struct stage_block *block = size <= SIZE_MAX - BLOCK_HEAD ? arena_alloc(engine->arena, BLOCK_HEAD + size) : NULL;
    if (!block) {
        error_set(error, IMGPIPE_ERROR_MEMORY, "%s: out of memory: %zu bytes more are needed",
                  stage->filter ? stage->filter->name : "stage", size);
        return NULL;
    }
    block->next = engine->blocks;
    engine->blocks = block;
    return (unsigned char *)block + BLOCK_HEAD;
}

static imgpipe_status add_point(imgpipe_stage *stage, const imgpipe_point_op *op, imgpipe_error *error) {
    struct stage_engine *engine = stage->engine;
    const char *name = stage->filter ? stage->filter->name : "stage";
    if (stage->filter && stage->filter->kind != IMGPIPE_POINT)
        return error_set(error, IMGPIPE_ERROR_INTERNAL, "%s: only a point stage may add point operations", name);
    imgpipe_format out;
    if (!point_op_format(op, stage->out.format, &out)) {
        char text[64];
        return error_set(error, IMGPIPE_ERROR_INTERNAL, "%s: point operation %d does not apply to %s", name, (int)op->code,
                         text_format(stage->out.format, text));
    }
    if (engine->op_count == engine->op_capacity) {
        int capacity = engine->op_capacity ? 2 * engine->op_capacity : 4;
        imgpipe_point_op *ops =
            arena_grow(engine->arena, engine->ops, (size_t)engine->op_count * sizeof *ops, (size_t)capacity * sizeof *ops);
        if (!ops) return error_set(error, IMGPIPE_ERROR_MEMORY, "%s: out of memory for %d operations", name, capacity);
        engine->ops = ops;
        engine->op_capacity = capacity;
    }
    engine->ops[engine->op_count++] = *op;
    stage->out.format = out;
    return IMGPIPE_OK;
}

/* Behind "WORD: " if the text begins so. */
static const char *behind(const char *text, const char *word) {
    size_t length = word ? strlen(word) : 0;
    bool there = length && strncmp(text, word, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    return there ? text + length + 2 : text;
}

/* Puts "NAME: ", or "NAME PARAM: ", before a message, less what its author already put there. */
static void with_name(const imgpipe_stage *stage, const char *param, char *buf, size_t size, const char *format, va_list args) {
    const char *name = stage->filter ? stage->filter->name : NULL;
    char said[880];
    vsnprintf(said, sizeof said, format, args);
    const char *rest = behind(said, name);
    size_t length = name ? strlen(name) : 0;
    if (length && strncmp(said, name, length) == 0 && said[length] == ' ' && behind(said + length + 1, param) != said + length + 1)
        rest = said + length + 1;
    rest = behind(rest, param);
    snprintf(buf, size, "%s%s%s%s%s", name ? name : "", param ? " " : "", param ? param : "", name ? ": " : "", rest);
}

static void notice(const imgpipe_stage *stage, const char *format, va_list args) {
    const struct stage_engine *engine = stage->engine;
    char message[1024];
    with_name(stage, NULL, message, sizeof message, format, args);
    log_line(engine->log, IMGPIPE_LOG_NOTICE, "%s", message);
}

static imgpipe_status fail(const imgpipe_stage *stage, imgpipe_error *error, const char *param, int at, int length,
                           const char *format, va_list args) {
    const struct stage_engine *engine = stage->engine;
    const imgpipe_filter *filter = stage->filter;
    char message[1024];
    int index = -1, place = -1, place_length = 0;
    for (int i = 0; param && filter && i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, param) == 0) index = i;
    with_name(stage, index >= 0 ? param : NULL, message, sizeof message, format, args);
    if (engine->chain && engine->index >= 0) chain_place(engine->chain, engine->index, index, at, length, &place, &place_length);
    return error_at(error, IMGPIPE_ERROR_ARGUMENT, place, place_length, "%s", message);
}

static const imgpipe_stage_calls calls = {sizeof calls, give_memory, add_point, notice, fail};

/* ------------------------------------------------------------------------------------------- what setup() left */

static imgpipe_status fault(const imgpipe_stage *stage, imgpipe_error *error, const char *what) {
    return error_set(error, IMGPIPE_ERROR_INTERNAL, "%s: its setup() %s; this is a fault of the filter", stage->filter->name, what);
}

static bool same_size(const imgpipe_stage *stage) {
    return stage->out.width == stage->in.width && stage->out.height == stage->in.height;
}

/* What would crash or mislead the engine, of a filter that nobody has proved. */
static imgpipe_status check_setup(const imgpipe_stage *stage, imgpipe_error *error) {
    const imgpipe_filter *filter = stage->filter;
    const imgpipe_info *out = &stage->out;
    bool sized = out->width >= 1 && out->height >= 1 && out->width <= INT32_MAX && out->height <= INT32_MAX;
    if (!sized) return fault(stage, error, "makes an image without pixels");
    if (out->format.type > IMGPIPE_F32 || out->format.channels < 1 || out->format.channels > 4 ||
        (out->format.alpha && out->format.channels < 2))
        return fault(stage, error, "makes a format that does not exist");
    if (stage->constants_size && !stage->constants) return fault(stage, error, "gives a size of constants, and no constants");
    if (stage->identity)
        return same_size(stage) && imgpipe_pixel_size(out->format) == imgpipe_pixel_size(stage->in.format)
                   ? IMGPIPE_OK
                   : fault(stage, error, "says that nothing changes, and changes the size or format");
    switch (filter->kind) {
    case IMGPIPE_POINT:
        if (!same_size(stage)) return fault(stage, error, "changes the size, which operations on pixels cannot");
        break;
    case IMGPIPE_LOCAL: {
        imgpipe_rect all = {0, 0, out->width, out->height}, need = filter->need ? filter->need(stage, all) : all;
        if (!stage->rows) return fault(stage, error, "sets no function rows()");
        if (stage->border > IMGPIPE_BORDER_CONSTANT) return fault(stage, error, "sets a border that does not exist");
        if (need.x0 >= need.x1 || need.y0 >= need.y1) return fault(stage, error, "is followed by a need() of no pixels");
        break;
    }
    case IMGPIPE_GATHER:
        if (!stage->gather || !stage->gather_size) return fault(stage, error, "sets no function gather(), or no gather_size");
        if (stage->walks < 1) return fault(stage, error, "sets no walk over the image");
        if (stage->renders && !filter->render) return fault(stage, error, "promises an image, and the filter has no render()");
        if (!stage->renders && !same_size(stage)) return fault(stage, error, "changes the size of an image that is to go on");
        if (stage->side_data && !filter->side_data) return fault(stage, error, "names side data, and the filter writes none");
        break;
    case IMGPIPE_WHOLE: break;
    }
    return IMGPIPE_OK;
}

/* -------------------------------------------------------------------------------------------- making, freeing */

imgpipe_status stage_init(imgpipe_stage *stage, const imgpipe_filter *filter, const void *options, int isa, imgpipe_info in,
                          const struct log *log, const struct imgpipe_chain *chain, int index, struct arena *arena,
                          imgpipe_error *error) {
    memset(stage, 0, sizeof *stage);
    struct stage_engine *engine = arena_alloc(arena, sizeof *engine);
    if (!engine) return error_set(error, IMGPIPE_ERROR_MEMORY, "out of memory: a stage needs %zu bytes", sizeof *engine);
    engine->calls = &calls;
    engine->arena = arena;
    engine->log = log;
    engine->chain = chain;
    engine->index = index;
    stage->struct_size = sizeof *stage;
    stage->filter = filter;
    stage->options = options;
    stage->isa = isa;
    stage->in = in;
    stage->out = in;
    stage->border = IMGPIPE_BORDER_CLAMP;
    stage->walks = 1;
    stage->cost = 1;
    stage->engine = engine;
    if (!filter || !filter->setup) return IMGPIPE_OK;
    imgpipe_error own;
    if (!error) error = &own;
    error->message[0] = 0;
    error->place = -1;
    imgpipe_status status = filter->setup(stage, error);
    if (status != IMGPIPE_OK && !error->message[0])
        error_set(error, status, "%s: its setup() failed and gave no reason", filter->name);
    stage->border_value = filter_border_value(stage->border_value, in.format.type);
    if (status == IMGPIPE_OK) status = check_setup(stage, error);
    if (status != IMGPIPE_OK) stage_free(stage);
    return status;
}

void stage_free(imgpipe_stage *stage) {
    struct stage_engine *engine = stage->engine;
    if (!engine) return;
    if (stage->filter && stage->filter->teardown) stage->filter->teardown(stage);
    for (struct stage_block *block = engine->blocks; block;) {
        struct stage_block *next = block->next;
        arena_free(engine->arena, block);
        block = next;
    }
    arena_free(engine->arena, engine->ops);
    arena_free(engine->arena, engine);
    memset(stage, 0, sizeof *stage);
}

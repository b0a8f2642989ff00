#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "point.h"
#include "status.h"

/* The head takes a whole cache line, so that what follows is as well aligned as the block. */
struct stage_block {
    struct stage_block *next;
};
#define BLOCK_HEAD ARENA_ALIGN

imgpipe_status stage_init(imgpipe_stage *stage, const imgpipe_filter *filter, const void *options, int isa, imgpipe_info in,
                          const struct log *log, const struct imgpipe_chain *chain, int index, struct arena *arena,
                          imgpipe_error *error) {
    memset(stage, 0, sizeof *stage);
    struct stage_engine *engine = arena_alloc(arena, sizeof *engine);
    if (!engine) return error_set(error, IMGPIPE_ERROR_MEMORY, "out of memory: a stage needs %zu bytes", sizeof *engine);
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
    imgpipe_status status = filter->setup(stage, error);
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

void *imgpipe_stage_alloc(imgpipe_stage *stage, size_t size, imgpipe_error *error) {
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

imgpipe_status imgpipe_stage_point(imgpipe_stage *stage, const imgpipe_point_op *op, imgpipe_error *error) {
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

double imgpipe_sample_units(imgpipe_sample sample, imgpipe_type type) {
    /* Multiplied first: 60 % of 255 is then exactly 153. */
    return sample.percent ? sample.value * imgpipe_type_max(type) / 100.0 : sample.value;
}

imgpipe_rect imgpipe_grow(imgpipe_rect out, int64_t rx, int64_t ry) {
    return (imgpipe_rect){out.x0 - rx, out.y0 - ry, out.x1 + rx, out.y1 + ry};
}

/* Puts "NAME: " before a message, unless its author already did. */
static void with_name(const imgpipe_stage *stage, char *buf, size_t size, const char *format, va_list args) {
    const char *name = stage->filter ? stage->filter->name : NULL;
    size_t head = 0;
    buf[0] = 0;
    if (name) head = (size_t)snprintf(buf, size, "%s: ", name);
    if (head >= size) return;
    vsnprintf(buf + head, size - head, format, args);
    if (head && strncmp(buf + head, buf, head) == 0) memmove(buf, buf + head, strlen(buf + head) + 1);
}

void imgpipe_stage_notice(const imgpipe_stage *stage, const char *format, ...) {
    const struct stage_engine *engine = stage->engine;
    char message[1024];
    va_list args;
    va_start(args, format);
    with_name(stage, message, sizeof message, format, args);
    va_end(args);
    log_line(engine->log, IMGPIPE_LOG_NOTICE, "%s", message);
}

imgpipe_status imgpipe_stage_fail(const imgpipe_stage *stage, imgpipe_error *error, const char *param, int at, int length,
                                  const char *format, ...) {
    const struct stage_engine *engine = stage->engine;
    const imgpipe_filter *filter = stage->filter;
    char message[1024];
    va_list args;
    va_start(args, format);
    with_name(stage, message, sizeof message, format, args);
    va_end(args);
    int index = -1, place = -1, place_length = 0;
    for (int i = 0; param && filter && i < filter->param_count; i++)
        if (strcmp(filter->params[i].name, param) == 0) index = i;
    if (engine->chain && engine->index >= 0) chain_place(engine->chain, engine->index, index, at, length, &place, &place_length);
    return error_at(error, IMGPIPE_ERROR_ARGUMENT, place, place_length, "%s", message);
}

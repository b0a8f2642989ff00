/* Compiles point operations into a program. While samples come from integers, every sample operation is applied to each of
 * the 256 or 65536 possible values: a map under construction. An operation on whole pixels, or the end, turns the map into
 * one TABLE step. Operations on f32 that does not come straight from integers become steps of their own. */
#include "point.h"

#include <math.h>
#include <string.h>

#include "arena.h"
#include "pixel.h"
#include "status.h"

/* Values are kept as bits: integers as themselves, f32 as its representation. */
struct map {
    bool active;
    imgpipe_format in;
    uint32_t entries;
    uint32_t *color, *alpha;
};

struct compiler {
    struct point_program *program;
    imgpipe_format format;
    struct map map;
    imgpipe_error *error;
};

static float bits_float(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint32_t float_bits(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* floor(v + 0.5), clamped to the type; NaN becomes 0. */
static uint32_t round_to(double v, imgpipe_type type) {
    double r = floor(v + 0.5), max = imgpipe_type_max(type);
    return r > 0 ? r < max ? (uint32_t)r : (uint32_t)max : 0;
}

static uint32_t convert_bits(uint32_t v, imgpipe_type from, imgpipe_type to) {
    if (from == to) return v;
    if (from == IMGPIPE_F32) return round_to((double)bits_float(v) * imgpipe_type_max(to), to);
    if (to == IMGPIPE_F32) return float_bits((float)v / (float)imgpipe_type_max(from));
    return to == IMGPIPE_U16 ? v * 257 : (v + 128) / 257;
}

static bool is_sample_op(imgpipe_point_code code) {
    return code == IMGPIPE_POINT_AFFINE || code == IMGPIPE_POINT_THRESHOLD || code == IMGPIPE_POINT_TABLE ||
           code == IMGPIPE_POINT_CONVERT;
}

bool point_op_format(const imgpipe_point_op *op, imgpipe_format in, imgpipe_format *out) {
    int colors = in.channels - (in.alpha ? 1 : 0);
    *out = in;
    switch (op->code) {
    case IMGPIPE_POINT_AFFINE:
    case IMGPIPE_POINT_THRESHOLD: return true;
    case IMGPIPE_POINT_TABLE: return in.type != IMGPIPE_F32 && op->table;
    case IMGPIPE_POINT_MIX:
        if (colors < 3 || (in.type != IMGPIPE_F32 && op->divisor <= 0)) return false;
        out->channels = in.alpha ? 2 : 1;
        return true;
    case IMGPIPE_POINT_CONVERT:
        out->type = op->type;
        return op->type == IMGPIPE_U8 || op->type == IMGPIPE_U16 || op->type == IMGPIPE_F32;
    case IMGPIPE_POINT_FLATTEN:
        out->channels = colors;
        out->alpha = false;
        return in.alpha;
    case IMGPIPE_POINT_EXPAND: out->channels = in.channels + 2; return colors == 1;
    }
    return false;
}

int point_fit(const imgpipe_point_op *ops, int count, imgpipe_format in) {
    int steps = 0;
    bool mapped = false;
    for (int i = 0; i < count; i++) {
        imgpipe_format out;
        if (!point_op_format(&ops[i], in, &out)) return i;
        bool sample = is_sample_op(ops[i].code);
        bool joins = sample && (mapped || in.type != IMGPIPE_F32);
        if (!joins || !mapped) steps++;
        if (steps > POINT_MAX_STEPS) return i;
        mapped = joins;
        in = out;
    }
    return count;
}

static struct point_step *add_step(struct compiler *c, enum point_step_code code, imgpipe_format in, imgpipe_format out) {
    struct point_program *program = c->program;
    if (program->step_count == POINT_MAX_STEPS) {
        error_set(c->error, IMGPIPE_ERROR_INTERNAL, "point operations: more than %d steps in one program", POINT_MAX_STEPS);
        return NULL;
    }
    struct point_step *step = &program->steps[program->step_count++];
    memset(step, 0, sizeof *step);
    step->code = code;
    step->in = in;
    step->out = out;
    return step;
}

static bool map_begin(struct compiler *c) {
    struct map *map = &c->map;
    uint32_t entries = c->format.type == IMGPIPE_U8 ? 256 : 65536;
    if (!map->color || map->entries < entries) {
        arena_free(c->program->arena, map->color);
        map->color = arena_alloc(c->program->arena, 2 * (size_t)entries * sizeof *map->color);
        if (!map->color) {
            error_set(c->error, IMGPIPE_ERROR_MEMORY, "out of memory for a table of %u entries", (unsigned)entries);
            return false;
        }
    }
    map->active = true;
    map->entries = entries;
    map->alpha = map->color + entries;
    map->in = c->format;
    for (uint32_t v = 0; v < entries; v++) map->color[v] = map->alpha[v] = v;
    return true;
}

static uint32_t apply(const imgpipe_point_op *op, uint32_t v, imgpipe_type type) {
    switch (op->code) {
    case IMGPIPE_POINT_AFFINE:
        if (type == IMGPIPE_F32)
            return float_bits(pixel_f32(fmaf((float)(op->mul / op->div), bits_float(v) - (float)op->pivot, (float)op->offset)));
        return round_to(((double)v - op->pivot) * op->mul / op->div + op->offset, type);
    case IMGPIPE_POINT_THRESHOLD:
        if (type == IMGPIPE_F32) return float_bits(pixel_f32((float)(bits_float(v) >= (float)op->pivot ? op->mul : op->offset)));
        return round_to((double)v >= op->pivot ? op->mul : op->offset, type);
    default: return type == IMGPIPE_U8 ? ((const uint8_t *)op->table)[v] : ((const uint16_t *)op->table)[v];
    }
}

/* `type` is the type before the operation. */
static void map_apply(struct map *map, const imgpipe_point_op *op, imgpipe_type type) {
    for (uint32_t v = 0; v < map->entries; v++) {
        if (op->code == IMGPIPE_POINT_CONVERT) {
            map->color[v] = convert_bits(map->color[v], type, op->type);
            map->alpha[v] = convert_bits(map->alpha[v], type, op->type);
        } else
            map->color[v] = apply(op, map->color[v], type);
    }
}

/* Whether the entries are ((v & mask) * widen) ^ flip with mask all or nothing. */
static bool find_bits(const uint32_t *table, uint32_t entries, uint32_t out_max, uint32_t widen, uint32_t *mask, uint32_t *flip) {
    *flip = table[0];
    if (*flip > out_max) return false;
    *mask = table[entries - 1] == *flip ? 0 : entries - 1;
    for (uint32_t v = 0; v < entries; v++)
        if (table[v] != (((v & *mask) * widen) ^ *flip)) return false;
    return true;
}

static bool find_level(const uint32_t *table, uint32_t entries, struct point_step *step) {
    uint32_t v = 1;
    while (v < entries && table[v] == table[0]) v++;
    step->level = v;
    step->level_low = table[0];
    step->level_high = table[entries - 1];
    while (v < entries && table[v] == step->level_high) v++;
    return v == entries;
}

static bool is_conversion(const uint32_t *table, uint32_t entries, imgpipe_type from, imgpipe_type to) {
    for (uint32_t v = 0; v < entries; v++)
        if (table[v] != convert_bits(v, from, to)) return false;
    return true;
}

/* Says how the step's entries can be computed. */
static enum point_map find_map(struct point_step *step, const struct map *map) {
    imgpipe_type from = step->in.type, to = step->out.type;
    bool same = !step->in.alpha || memcmp(map->color, map->alpha, map->entries * sizeof *map->color) == 0;
    if (to != IMGPIPE_F32 && !(from == IMGPIPE_U16 && to == IMGPIPE_U8)) {
        uint32_t max = to == IMGPIPE_U8 ? 255 : 65535;
        step->widen = from == to ? 1 : 257;
        if (find_bits(map->color, map->entries, max, step->widen, &step->color_mask, &step->color_flip) &&
            find_bits(map->alpha, map->entries, max, step->widen, &step->alpha_mask, &step->alpha_flip))
            return POINT_BITS;
    }
    if (from == to && (step->alpha_identity || !step->in.alpha) && find_level(map->color, map->entries, step)) return POINT_LEVEL;
    if (same && from == IMGPIPE_U16 && to == IMGPIPE_U8 && is_conversion(map->color, map->entries, from, to)) return POINT_SHRINK;
    if (same && to == IMGPIPE_F32 && is_conversion(map->color, map->entries, from, to)) return POINT_UNIT;
    return POINT_LOOKUP;
}

/* Appends a table to the program; false if there is no memory. */
static bool add_table(struct compiler *c, const uint32_t *values, uint32_t entries, imgpipe_type type, uint32_t *offset) {
    struct point_program *program = c->program;
    size_t bytes = entries * imgpipe_sample_size(type), size = program->tables_size + bytes;
    unsigned char *tables = arena_grow(program->arena, program->tables, program->tables_size, size);
    if (!tables) {
        error_set(c->error, IMGPIPE_ERROR_MEMORY, "out of memory for a table of %zu bytes", bytes);
        return false;
    }
    unsigned char *to = tables + program->tables_size;
    if (type == IMGPIPE_F32) memcpy(to, values, bytes);
    for (uint32_t v = 0; type == IMGPIPE_U8 && v < entries; v++) to[v] = (uint8_t)values[v];
    for (uint32_t v = 0; type == IMGPIPE_U16 && v < entries; v++) ((uint16_t *)to)[v] = (uint16_t)values[v];
    program->tables = tables;
    *offset = (uint32_t)program->tables_size;
    program->tables_size = size;
    return true;
}

/* Ends the map under construction: a TABLE step, or nothing if it changes nothing. */
static bool map_end(struct compiler *c) {
    struct map *map = &c->map;
    if (!map->active) return true;
    map->active = false;
    imgpipe_format in = map->in, out = c->format;
    size_t bytes = map->entries * sizeof *map->color;
    bool color_identity = in.type == out.type && is_conversion(map->color, map->entries, in.type, out.type);
    bool alpha_identity = in.alpha && in.type == out.type && is_conversion(map->alpha, map->entries, in.type, out.type);
    if (color_identity && (!in.alpha || alpha_identity)) return true;
    struct point_step *step = add_step(c, POINT_TABLE, in, out);
    if (!step) return false;
    step->alpha_identity = alpha_identity;
    if (!in.alpha) memcpy(map->alpha, map->color, bytes);
    step->map = find_map(step, map);
    if (step->map != POINT_LOOKUP) return true;
    if (!add_table(c, map->color, map->entries, out.type, &step->color_table)) return false;
    step->alpha_table = step->color_table;
    if (alpha_identity || memcmp(map->color, map->alpha, bytes) == 0) return true;
    return add_table(c, map->alpha, map->entries, out.type, &step->alpha_table);
}

static void fill_mix(struct point_step *step, const imgpipe_point_op *op) {
    const int64_t *w = op->weights;
    int64_t max = step->in.type == IMGPIPE_U8 ? 255 : 65535;
    bool small = op->round >= 0 && op->round <= UINT32_MAX;
    for (int i = 0; i < 3; i++) {
        step->weights[i] = w[i];
        step->float_weights[i] = op->float_weights[i];
        if (w[i] < 0 || w[i] > UINT32_MAX) small = false;
    }
    step->round = op->round;
    step->divisor = op->divisor;
    step->mix_u32 = small && op->divisor == 65536 && (w[0] + w[1] + w[2]) * max + op->round <= UINT32_MAX;
    step->mix_third = w[0] == 2 && w[1] == 2 && w[2] == 2 && op->round == 3 && op->divisor == 6;
}

/* An operation that is no part of a map. */
static bool add_plain(struct compiler *c, const imgpipe_point_op *op, imgpipe_format out) {
    static const enum point_step_code codes[] = {
        [IMGPIPE_POINT_AFFINE] = POINT_AFFINE,  [IMGPIPE_POINT_THRESHOLD] = POINT_THRESHOLD, [IMGPIPE_POINT_MIX] = POINT_MIX,
        [IMGPIPE_POINT_CONVERT] = POINT_NARROW, [IMGPIPE_POINT_FLATTEN] = POINT_FLATTEN,     [IMGPIPE_POINT_EXPAND] = POINT_EXPAND,
    };
    struct point_step *step = add_step(c, codes[op->code], c->format, out);
    if (!step) return false;
    if (op->code == IMGPIPE_POINT_AFFINE) {
        step->scale = (float)(op->mul / op->div);
        step->offset = (float)op->offset;
    }
    step->pivot = (float)op->pivot;
    step->high = pixel_f32((float)op->mul);
    step->low = pixel_f32((float)op->offset);
    if (op->code == IMGPIPE_POINT_MIX) fill_mix(step, op);
    for (int i = 0; i < 3; i++)
        step->background[i] = out.type == IMGPIPE_F32 ? (float)op->background[i] : (float)round_to(op->background[i], out.type);
    return true;
}

static bool compile_op(struct compiler *c, const imgpipe_point_op *op) {
    imgpipe_format out;
    if (!point_op_format(op, c->format, &out)) {
        char text[64];
        error_set(c->error, IMGPIPE_ERROR_INTERNAL, "point operation %d does not apply to %s", (int)op->code,
                  text_format(c->format, text));
        return false;
    }
    if (op->code == IMGPIPE_POINT_CONVERT && op->type == c->format.type) return true;
    if (is_sample_op(op->code) && (c->map.active || c->format.type != IMGPIPE_F32)) {
        if (!c->map.active && !map_begin(c)) return false;
        map_apply(&c->map, op, c->format.type);
    } else if (!map_end(c) || !add_plain(c, op, out))
        return false;
    c->format = out;
    return true;
}

imgpipe_status point_compile(const imgpipe_point_op *ops, int count, imgpipe_format in, struct arena *arena,
                             struct point_program *program, imgpipe_error *error) {
    imgpipe_error own;
    struct compiler c = {.program = program, .format = in, .error = error ? error : &own};
    memset(program, 0, sizeof *program);
    program->in = in;
    program->arena = arena;
    bool good = true;
    for (int i = 0; good && i < count; i++) good = compile_op(&c, &ops[i]);
    good = good && map_end(&c);
    program->out = c.format;
    arena_free(arena, c.map.color);
    if (good) return IMGPIPE_OK;
    point_free(program);
    return c.error->status;
}

void point_free(struct point_program *program) {
    arena_free(program->arena, program->tables);
    program->tables = NULL;
    program->tables_size = 0;
    program->step_count = 0;
}

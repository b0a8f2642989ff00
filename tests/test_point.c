/* Point programs against the plainest definition of every operation, applied pixel by pixel: each code, type and number of
 * channels alone, random runs of them, every instruction set that this CPU has, at any address, with guard bytes around the
 * output. `test_point SEED` repeats one random case. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "point.h"

#define MAX_OPS 40
#define MAX_WIDTH 9000
#define GUARD 96

static int failures;
static uint64_t random_state;
static _Alignas(64) unsigned char scratch[POINT_SCRATCH];

static void fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("test_point: ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    if (++failures >= 20) exit(1);
}

static uint64_t random_next(void) { /* splitmix64 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int random_to(int n) { return (int)(random_next() % (uint64_t)n); }
static double random_unit(void) { return (double)(random_next() >> 11) * 0x1p-53; }

/* A pixel with each sample as itself: integers in `whole`, f32 in `real`. */
struct pixel {
    imgpipe_format format;
    int64_t whole[6];
    float real[6];
};

static int64_t limit(imgpipe_type type) { return type == IMGPIPE_U8 ? 255 : 65535; }

static float one_nan(float v) {
    uint32_t bits = 0x7fc00000u;
    if (isnan(v)) memcpy(&v, &bits, sizeof v);
    return v;
}

static int64_t rounded(double v, imgpipe_type type) {
    if (isnan(v)) return 0;
    if (floor(v + 0.5) <= 0) return 0;
    return floor(v + 0.5) >= (double)limit(type) ? limit(type) : (int64_t)floor(v + 0.5);
}

static void define_sample(struct pixel *p, const imgpipe_point_op *op) {
    for (int c = 0; c < p->format.channels - (p->format.alpha ? 1 : 0); c++) {
        float f = p->real[c];
        int64_t v = p->whole[c];
        if (op->code == IMGPIPE_POINT_AFFINE && p->format.type == IMGPIPE_F32)
            p->real[c] = one_nan(fmaf((float)(op->mul / op->div), f - (float)op->pivot, (float)op->offset));
        else if (op->code == IMGPIPE_POINT_AFFINE)
            p->whole[c] = rounded(((double)v - op->pivot) * op->mul / op->div + op->offset, p->format.type);
        else if (op->code == IMGPIPE_POINT_THRESHOLD && p->format.type == IMGPIPE_F32)
            p->real[c] = f >= (float)op->pivot ? (float)op->mul : (float)op->offset;
        else if (op->code == IMGPIPE_POINT_THRESHOLD)
            p->whole[c] = rounded((double)v >= op->pivot ? op->mul : op->offset, p->format.type);
        else
            p->whole[c] = p->format.type == IMGPIPE_U8 ? ((const uint8_t *)op->table)[v] : ((const uint16_t *)op->table)[v];
    }
}

static void define_mix(struct pixel *p, const imgpipe_point_op *op) {
    const float *w = op->float_weights;
    if (p->format.type == IMGPIPE_F32)
        p->real[0] = one_nan(fmaf(w[2], p->real[2], fmaf(w[1], p->real[1], w[0] * p->real[0])));
    else {
        int64_t sum = op->round;
        for (int c = 0; c < 3; c++) sum += op->weights[c] * p->whole[c];
        int64_t v = 0;
        if (sum >= 0) v = sum / op->divisor;
        p->whole[0] = v > limit(p->format.type) ? limit(p->format.type) : v;
    }
    p->whole[1] = p->whole[3];
    p->real[1] = p->real[3];
    p->format.channels = p->format.alpha ? 2 : 1;
}

static void define_convert(struct pixel *p, imgpipe_type to) {
    imgpipe_type from = p->format.type;
    for (int c = 0; c < p->format.channels && from != to; c++) {
        if (from == IMGPIPE_F32)
            p->whole[c] = rounded((double)p->real[c] * (double)limit(to), to);
        else if (to == IMGPIPE_F32)
            p->real[c] = (float)p->whole[c] / (float)limit(from);
        else
            p->whole[c] = to == IMGPIPE_U16 ? p->whole[c] * 257 : (p->whole[c] + 128) / 257;
    }
    p->format.type = to;
}

static void define_flatten(struct pixel *p, const imgpipe_point_op *op) {
    int colors = p->format.channels - 1;
    for (int c = 0; c < colors; c++) {
        if (p->format.type == IMGPIPE_F32) {
            float a = p->real[colors];
            p->real[c] = one_nan(fmaf(p->real[c], a, (float)op->background[c] * (1 - a)));
        } else {
            int64_t max = limit(p->format.type), a = p->whole[colors], background = rounded(op->background[c], p->format.type);
            p->whole[c] = (p->whole[c] * a + background * (max - a) + max / 2) / max;
        }
    }
    p->format.channels = colors;
    p->format.alpha = false;
}

static void define(struct pixel *p, const imgpipe_point_op *op) {
    if (op->code == IMGPIPE_POINT_MIX)
        define_mix(p, op);
    else if (op->code == IMGPIPE_POINT_CONVERT)
        define_convert(p, op->type);
    else if (op->code == IMGPIPE_POINT_FLATTEN)
        define_flatten(p, op);
    else if (op->code == IMGPIPE_POINT_EXPAND) {
        p->whole[3] = p->whole[1], p->real[3] = p->real[1];
        p->whole[1] = p->whole[2] = p->whole[0], p->real[1] = p->real[2] = p->real[0];
        p->format.channels += 2;
    } else
        define_sample(p, op);
}

static void load(struct pixel *p, imgpipe_format format, const unsigned char *at) {
    memset(p, 0, sizeof *p);
    p->format = format;
    for (int c = 0; c < format.channels; c++) {
        uint16_t wide;
        if (format.type == IMGPIPE_U8) p->whole[c] = at[c];
        if (format.type == IMGPIPE_U16) memcpy(&wide, at + 2 * c, 2), p->whole[c] = wide;
        if (format.type == IMGPIPE_F32) memcpy(&p->real[c], at + 4 * c, 4);
    }
}

static void save(const struct pixel *p, unsigned char *at) {
    for (int c = 0; c < p->format.channels; c++) {
        uint16_t wide = (uint16_t)p->whole[c];
        if (p->format.type == IMGPIPE_U8) at[c] = (unsigned char)p->whole[c];
        if (p->format.type == IMGPIPE_U16) memcpy(at + 2 * c, &wide, 2);
        if (p->format.type == IMGPIPE_F32) memcpy(at + 4 * c, &p->real[c], 4);
    }
}

/* ------------------------------------------------------------------------------------------ random cases */

static uint8_t bytes_table[4][256];
static uint16_t words_table[4][65536];

/* A random table, one that is rising, a threshold, the identity. */
static void fill_tables(void) {
    for (int v = 0; v < 65536; v++) {
        uint16_t of[4] = {(uint16_t)random_next(), (uint16_t)(v / 2 + 9), v >= 300 ? 77 : 1200, (uint16_t)v};
        for (int t = 0; t < 4; t++) {
            words_table[t][v] = of[t];
            if (v < 256) bytes_table[t][v] = (uint8_t)(t == 2 ? (v >= 100 ? 3 : 200) : of[t]);
        }
    }
}

static void random_mix(imgpipe_point_op *op) {
    static const int64_t known[][5] = {{19595, 38470, 7471, 32768, 65536}, {13933, 46871, 4732, 32768, 65536},
                                       {-9830, 60000, -3277, 32768, 65536}, {-9830, 78643, -3277, 32768, 65536},
                                       {70000, 10, 90000, 32768, 65536}, {200000000, 1, 1, 32768, 65536},
                                       {2, 2, 2, 3, 6}, {5, -3, 7, 2, 10}};
    const int64_t *k = known[random_to(8)];
    for (int i = 0; i < 3; i++) op->weights[i] = k[i], op->float_weights[i] = (float)((double)k[i] / (double)k[4]);
    op->round = k[3];
    op->divisor = k[4];
}

static void random_op(imgpipe_point_op *op, imgpipe_point_code code, imgpipe_type type) {
    double max = imgpipe_type_max(type);
    memset(op, 0, sizeof *op);
    op->code = code;
    op->type = (imgpipe_type)random_to(3);
    random_mix(op);
    int t = random_to(4);
    op->table = type == IMGPIPE_U8 ? (const void *)bytes_table[t] : type == IMGPIPE_U16 ? (const void *)words_table[t] : NULL;
    for (int c = 0; c < 3; c++) op->background[c] = random_unit() * max;
    op->pivot = random_to(3) ? random_unit() * max : type == IMGPIPE_F32 ? 0.5 : floor(random_unit() * max);
    op->mul = (random_unit() * 4 - 2) * max;
    op->div = (random_unit() + 0.1) * max;
    op->offset = random_unit() * max;
    if (code == IMGPIPE_POINT_AFFINE && random_to(3) == 0) op->pivot = 0, op->mul = -1, op->div = 1, op->offset = max;
    if (code == IMGPIPE_POINT_THRESHOLD && random_to(2) == 0) op->mul = max, op->offset = 0;
}

/* A random operation that applies to `format`, which becomes what it makes. */
static void random_next_op(imgpipe_point_op *op, imgpipe_format *format) {
    imgpipe_format out;
    do random_op(op, (imgpipe_point_code)random_to(IMGPIPE_POINT_EXPAND + 1), format->type);
    while (!point_op_format(op, *format, &out));
    *format = out;
}

static void fill(unsigned char *at, imgpipe_format format, int64_t samples) {
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e30f, -1e-40f, 0.5f, 1.0f, 0.0f, -3.0f};
    for (int64_t i = 0; i < samples; i++) {
        uint64_t r = random_next();
        float f = random_to(4) ? (float)random_unit() : random_to(3) ? special[random_to(10)] : (float)(random_unit() * 6 - 3);
        uint16_t wide = (uint16_t)(r % 5 ? r >> 8 : r & 256 ? 65535 : 0);
        if (format.type == IMGPIPE_U8) at[i] = (unsigned char)wide;
        if (format.type == IMGPIPE_U16) memcpy(at + 2 * i, &wide, 2);
        uint32_t odd_nan = 0xff812345u;
        if (format.type == IMGPIPE_F32) memcpy(at + 4 * i, random_to(50) ? (const void *)&f : (const void *)&odd_nan, 4);
    }
}

static const struct point_kernels *kernels_of(int isa) { return KERNEL_PICK(point, isa); }

/* The first codes of a run as decimal digits, from 1: for messages. */
static int op_codes(const imgpipe_point_op *ops, int count) {
    int codes = 0;
    for (int i = 0; i < count && i < 8; i++) codes = codes * 10 + (int)ops[i].code + 1;
    return codes;
}

static bool guards_hold(const unsigned char *buffer, const unsigned char *from, size_t bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if ((buffer + i < from || buffer + i >= from + bytes) && buffer[i] != 0xa5) return false;
    return true;
}

/* Runs the program on every instruction set and compares with `want`; in place too where pixels do not grow. */
static void compare(const struct point_program *program, const unsigned char *in, const unsigned char *want, int64_t width,
                    uint64_t seed, int codes) {
    static unsigned char buffer[MAX_WIDTH * 16 + 2 * GUARD];
    size_t from = imgpipe_pixel_size(program->in), to = imgpipe_pixel_size(program->out), bytes = (size_t)width * to;
    for (int isa = 0; imgpipe_isa_name(isa); isa++)
        for (int in_place = 0; in_place <= (to <= from); in_place++) {
            size_t sample = in_place ? 4 : imgpipe_sample_size(program->out.type), at = 0;
            unsigned char *out = buffer + GUARD / 2 + (size_t)random_to(8) * sample;
            size_t touched = (size_t)width * (in_place ? from : to), whole = touched + 2 * GUARD;
            memset(buffer, 0xa5, whole);
            memset(scratch, 0x5a, sizeof scratch);
            if (in_place) memcpy(out, in, touched);
            kernels_of(isa)->run(program, in_place ? out : in, out, width, scratch);
            if (!guards_hold(buffer, out, touched, whole))
                fail("seed %llu, codes %d, %s: wrote outside", (unsigned long long)seed, codes, imgpipe_isa_name(isa));
            while (at < bytes && out[at] == want[at]) at++;
            if (at < bytes)
                fail("seed %llu, %s%s, codes %d, in %d x %d%s, out %d x %d, width %lld: byte %zu is %d, not %d",
                     (unsigned long long)seed, imgpipe_isa_name(isa), in_place ? " in place" : "", codes, (int)program->in.type,
                     program->in.channels, program->in.alpha ? "a" : "", (int)program->out.type, program->out.channels,
                     (long long)width, at, out[at], want[at]);
        }
}

static void check_case(const imgpipe_point_op *ops, int count, imgpipe_format in, int64_t width, uint64_t seed) {
    size_t from = imgpipe_pixel_size(in), offset = (size_t)random_to(8) * imgpipe_sample_size(in.type);
    struct point_program program;
    imgpipe_error error;
    if (point_compile(ops, count, in, NULL, &program, &error) != IMGPIPE_OK) {
        fail("seed %llu, codes %d: %s", (unsigned long long)seed, op_codes(ops, count), error.message);
        return;
    }
    /* Exactly as large as needed, so that a sanitizer sees every read outside. */
    unsigned char *block = malloc(offset + (size_t)width * from), *pixels = block + offset;
    unsigned char *want = malloc((size_t)width * imgpipe_pixel_size(program.out));
    if (!block || !want) abort();
    fill(pixels, in, width * in.channels);
    for (int64_t x = 0; x < width; x++) {
        struct pixel p;
        load(&p, in, pixels + (size_t)x * from);
        for (int i = 0; i < count; i++) define(&p, &ops[i]);
        imgpipe_format out = program.out;
        if (x == 0 && (p.format.type != out.type || p.format.channels != out.channels || p.format.alpha != out.alpha))
            fail("seed %llu, codes %d: another format comes out", (unsigned long long)seed, op_codes(ops, count));
        save(&p, want + (size_t)x * imgpipe_pixel_size(p.format));
    }
    compare(&program, pixels, want, width, seed, op_codes(ops, count));
    free(block);
    free(want);
    point_free(&program);
}

static void check_random(uint64_t seed) {
    random_state = seed;
    int channels = 1 + random_to(4);
    imgpipe_format in = {(imgpipe_type)random_to(3), channels, channels > 1 && random_to(2)}, format = in;
    imgpipe_point_op ops[MAX_OPS];
    int count = random_to(7);
    for (int i = 0; i < count; i++) random_next_op(&ops[i], &format);
    int64_t width = random_to(8) ? 1 + random_to(200) : 1 + random_to(MAX_WIDTH);
    check_case(ops, count, in, width, seed);
}

/* Every code alone on every format that it applies to, at many widths. */
static void check_single(int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int at = 0; at < (IMGPIPE_POINT_EXPAND + 1) * 3 * 8; at++) {
            imgpipe_format in = {(imgpipe_type)(at / 8 % 3), 1 + at % 4, at % 8 >= 4 && at % 4 > 0}, out;
            imgpipe_point_op op;
            random_op(&op, (imgpipe_point_code)(at / 24), in.type);
            if (!point_op_format(&op, in, &out)) continue;
            check_case(&op, 1, in, 1 + (round * 7 + at) % 200, random_state);
        }
}

/* All 65536 values through the conversions and through the threshold and negative that are computed, not looked up. */
static void check_all_values(void) {
    static unsigned char values[65536 * 2], want[65536 * 4], got[65536 * 4];
    for (int v = 0; v < 65536; v++) memcpy(values + 2 * v, &(uint16_t){(uint16_t)v}, 2);
    imgpipe_point_op ops[] = {{.code = IMGPIPE_POINT_CONVERT, .type = IMGPIPE_U8},
                              {.code = IMGPIPE_POINT_CONVERT, .type = IMGPIPE_F32},
                              {.code = IMGPIPE_POINT_THRESHOLD, .pivot = 40000.5, .mul = 65535},
                              {.code = IMGPIPE_POINT_AFFINE, .mul = -1, .div = 1, .offset = 65535}};
    imgpipe_format in = {IMGPIPE_U16, 1, false};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct point_program program;
        if (point_compile(&ops[i], 1, in, NULL, &program, NULL) != IMGPIPE_OK) fail("operation %zu does not compile", i);
        if (program.step_count != 1 || program.steps[0].map == POINT_LOOKUP) fail("operation %zu is looked up", i);
        size_t size = imgpipe_pixel_size(program.out);
        for (int v = 0; v < 65536; v++) {
            struct pixel p;
            load(&p, in, values + 2 * v);
            define(&p, &ops[i]);
            save(&p, want + size * (size_t)v);
        }
        for (int isa = 0; imgpipe_isa_name(isa); isa++) {
            kernels_of(isa)->run(&program, values, got, 65536, scratch);
            if (memcmp(got, want, 65536 * size) != 0) fail("operation %zu differs on %s", i, imgpipe_isa_name(isa));
        }
        point_free(&program);
    }
}

/* Every sum of three bytes through the gray of `average`. */
static void check_thirds(void) {
    imgpipe_point_op op = {.code = IMGPIPE_POINT_MIX, .weights = {2, 2, 2}, .round = 3, .divisor = 6};
    struct point_program program;
    static unsigned char rgb[766 * 3], got[766];
    for (int s = 0; s < 766; s++) {
        int r = s > 255 ? 255 : s, g = s - r > 255 ? 255 : s - r;
        rgb[3 * s] = (unsigned char)r, rgb[3 * s + 1] = (unsigned char)g, rgb[3 * s + 2] = (unsigned char)(s - r - g);
    }
    if (point_compile(&op, 1, (imgpipe_format){IMGPIPE_U8, 3, false}, NULL, &program, NULL) != IMGPIPE_OK)
        fail("average does not compile");
    for (int isa = 0; imgpipe_isa_name(isa); isa++) {
        kernels_of(isa)->run(&program, rgb, got, 766, scratch);
        for (int s = 0; s < 766; s++)
            if (got[s] != (2 * s + 3) / 6) fail("average of sum %d is %d on %s", s, got[s], imgpipe_isa_name(isa));
    }
    point_free(&program);
}

static void expect(const imgpipe_point_op *ops, int count, imgpipe_format in, int steps, const char *what) {
    struct point_program program;
    bool compiles = point_compile(ops, count, in, NULL, &program, NULL) == IMGPIPE_OK;
    if (compiles != (steps >= 0) || (compiles && (program.step_count != steps || program.tables_size))) fail("%s", what);
    if (compiles) point_free(&program);
}

/* Runs of table operations become one step, the identity none; what is too much for a program is said and split. */
static void check_steps(void) {
    imgpipe_point_op invert = {.code = IMGPIPE_POINT_AFFINE, .mul = -1, .div = 1, .offset = 255}, ops[MAX_OPS];
    imgpipe_format gray8 = {IMGPIPE_U8, 1, false}, gray32 = {IMGPIPE_F32, 1, false};
    for (int i = 0; i < MAX_OPS; i++) ops[i] = invert;
    expect(ops, 2, gray8, 0, "two negatives are something");
    expect(ops, MAX_OPS - 1, gray8, 1, "an odd number of negatives is not one step without a table");
    if (point_fit(ops, MAX_OPS, gray8) != MAX_OPS) fail("integer operations do not all fit");
    if (point_fit(ops, MAX_OPS, gray32) != POINT_MAX_STEPS) fail("%d f32 operations fit", point_fit(ops, MAX_OPS, gray32));
    expect(ops, POINT_MAX_STEPS, gray32, POINT_MAX_STEPS, "what fits does not compile");
    expect(ops, MAX_OPS, gray32, -1, "too many steps are taken");
    ops[1] = (imgpipe_point_op){.code = IMGPIPE_POINT_CONVERT, .type = IMGPIPE_U16};
    expect(ops, 2, gray8, 1, "a negative in 16 bits is not one step without a table");
    ops[1] = (imgpipe_point_op){.code = IMGPIPE_POINT_MIX, .divisor = 1};
    if (point_fit(ops, 2, gray8) != 1) fail("gray is mixed");
    expect(ops, 2, gray8, -1, "gray is mixed");
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    random_state = seed;
    fill_tables();
    if (argc > 1) check_random(seed);
    if (argc <= 1) {
        check_all_values();
        check_thirds();
        check_steps();
        check_single(120);
        for (uint64_t s = 1; s <= 1500; s++) check_random(s * 0x10001);
    }
    if (!failures) printf("test_point: all right\n");
    return failures ? 1 : 0;
}

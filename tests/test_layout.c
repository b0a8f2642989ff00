/* Images whose samples lie otherwise than the format says: every order, white level and alpha, top down and bottom up, against the
 * plainest definition; what cannot be is refused. Only the public header. */
#include "checks.h"
#include "imgpipe.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { WIDTH = 37, HEIGHT = 23, GUARD = 48, WHITES = 4 };

static uint64_t random_state = 88172645463325252u;
static uint32_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

/* The letters of a pixel in memory, as the definition of the order; N: as the format has them. */
static const char *const orders[] = {"N", "BGR", "RGBX", "BGRX", "XRGB", "XBGR", "BGRA", "ARGB", "ABGR"};

static int place(int order, int channel, int channels) {
    const char *letters = order ? orders[order] : channels >= 3 ? "RGBA" : "VA";
    const char *names = channels >= 3 ? "RGBA" : "VA";
    return (int)(strchr(letters, names[channel]) - letters);
}

static double get(const void *samples, imgpipe_type type, int64_t at) {
    return type == IMGPIPE_U8    ? ((const uint8_t *)samples)[at]
           : type == IMGPIPE_U16 ? ((const uint16_t *)samples)[at]
                                 : (double)((const float *)samples)[at];
}

static void set(void *samples, imgpipe_type type, int64_t at, double value) {
    if (type == IMGPIPE_U8) ((uint8_t *)samples)[at] = (uint8_t)value;
    if (type == IMGPIPE_U16) ((uint16_t *)samples)[at] = (uint16_t)value;
    if (type == IMGPIPE_F32) ((float *)samples)[at] = (float)value;
}

struct picture {
    imgpipe_image image;
    unsigned char *block;
    size_t size;
    int samples;
};

/* Between guards, with a gap behind each row, bottom up if `up`. */
static struct picture picture_new(imgpipe_format format, imgpipe_layout layout, bool up) {
    struct picture p = {.image = {.info = {WIDTH, HEIGHT, format}, .layout = layout}};
    size_t sample = imgpipe_sample_size(format.type), stride = WIDTH * imgpipe_layout_pixel_size(format, layout) + 6 * sample;
    p.samples = (int)(imgpipe_layout_pixel_size(format, layout) / sample);
    p.size = stride * HEIGHT + 2 * GUARD;
    p.block = malloc(p.size);
    memset(p.block, 0x5a, p.size);
    p.image.pixels = p.block + GUARD + (up ? stride * (HEIGHT - 1) : 0);
    p.image.stride = up ? -(ptrdiff_t)stride : (ptrdiff_t)stride;
    return p;
}

static void *row_of(const struct picture *p, int64_t y) {
    return (unsigned char *)p->image.pixels + y * p->image.stride;
}

static double white_of(const struct picture *p) {
    return p->image.layout.white ? p->image.layout.white : imgpipe_type_max(p->image.info.format.type);
}

static void fill(struct picture *p) {
    imgpipe_type type = p->image.info.format.type;
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t i = 0; i < WIDTH * p->samples; i++) {
            uint32_t word = random_word(), white = (uint32_t)white_of(p);
            /* The ends of the range are frequent, since they are where it goes wrong. */
            uint32_t value = word % 5 == 0 ? 0 : word % 5 == 1 ? white : (word >> 3) % (white + 1);
            set(row_of(p, y), type, i, type == IMGPIPE_F32 ? (word % 7 == 0 ? 0 : (word >> 8) / 1e7) : value);
        }
}

/* floor(a / b + 1/2) for whole numbers. */
static double rounded(double a, double b) {
    return floor((a + floor(b / 2)) / b);
}

/* What the chain should see of a pixel in memory. */
static void read_pixel(const struct picture *p, const void *pixel, double out[4]) {
    imgpipe_format f = p->image.info.format;
    double white = white_of(p), full = imgpipe_type_max(f.type), alpha = 0;
    for (int c = f.channels - 1; c >= 0; c--) {
        double v = get(pixel, f.type, place((int)p->image.layout.order, c, f.channels));
        bool colour = p->image.layout.premultiplied && c < f.channels - 1;
        if (c == f.channels - 1) alpha = v;
        if (f.type == IMGPIPE_F32) {
            out[c] = colour ? (alpha > 0 ? (double)((float)v / (float)alpha) : 0) : v;
            continue;
        }
        if (colour) v = alpha == 0 ? 0 : fmin(white, rounded(v * white, alpha));
        out[c] = rounded(v * full, white);
    }
}

static void write_pixel(const struct picture *p, const double in[4], double out[4]) {
    imgpipe_format f = p->image.info.format;
    double white = white_of(p), full = imgpipe_type_max(f.type), alpha = 0;
    for (int i = 0; i < p->samples; i++) out[i] = white;
    for (int c = f.channels - 1; c >= 0; c--) {
        double v = f.type == IMGPIPE_F32 ? in[c] : rounded(in[c] * white, full);
        bool colour = p->image.layout.premultiplied && c < f.channels - 1;
        if (c == f.channels - 1) alpha = v;
        if (colour) v = f.type == IMGPIPE_F32 ? (double)((float)v * (float)alpha) : rounded(v * alpha, white);
        out[place((int)p->image.layout.order, c, f.channels)] = v;
    }
}

static bool guards_whole(const struct picture *p) {
    size_t row = WIDTH * imgpipe_layout_pixel_size(p->image.info.format, p->image.layout);
    bool *pixel = calloc(p->size, 1);
    for (int64_t y = 0; y < HEIGHT; y++) memset(pixel + ((unsigned char *)row_of(p, y) - p->block), 1, row);
    bool whole = true;
    for (size_t i = 0; i < p->size; i++) whole = whole && (pixel[i] || p->block[i] == 0x5a);
    free(pixel);
    return whole;
}

static imgpipe_context *context;

static imgpipe_status run(const char *text, const struct picture *in, const struct picture *out, imgpipe_error *error) {
    imgpipe_chain *chain = NULL;
    imgpipe_run_options options = imgpipe_run_options_default();
    options.strip_rows = 5;
    imgpipe_status failed = imgpipe_chain_parse(text, &chain, error);
    if (!failed) failed = imgpipe_run_image(context, chain, &in->image, &out->image, &options, NULL, error);
    imgpipe_chain_free(&chain);
    return failed;
}

/* Reads by one layout, runs a chain, writes by another, and compares with the definition around the chain in native memory. */
static void one_case(const char *chain, imgpipe_format format, imgpipe_layout in_layout, imgpipe_layout out_layout, bool up) {
    struct picture in = picture_new(format, in_layout, up), out = picture_new(format, out_layout, !up);
    struct picture plain = picture_new(format, (imgpipe_layout){0}, false), made = picture_new(format, (imgpipe_layout){0}, false);
    imgpipe_error error = {0};
    bool same = true;
    double v[4], want[4];
    fill(&in);
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < WIDTH; x++) {
            read_pixel(&in, (char *)row_of(&in, y) + (size_t)x * imgpipe_layout_pixel_size(format, in_layout), v);
            for (int c = 0; c < format.channels; c++) set(row_of(&plain, y), format.type, x * format.channels + c, v[c]);
        }
    if (!CHECK(run(chain, &in, &out, &error) == IMGPIPE_OK) || !CHECK(run(chain, &plain, &made, &error) == IMGPIPE_OK))
        printf("      %s\n", error.message);
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < WIDTH; x++) {
            for (int c = 0; c < format.channels; c++) v[c] = get(row_of(&made, y), format.type, x * format.channels + c);
            write_pixel(&out, v, want);
            for (int i = 0; i < out.samples; i++) same = same && get(row_of(&out, y), format.type, x * out.samples + i) == want[i];
        }
    if (!CHECK(same) || !CHECK(guards_whole(&out)) || !CHECK(guards_whole(&in)))
        printf("      chain '%s', type %d, %d channels, in %s white %u pre %d, out %s white %u pre %d, up %d\n", chain,
               (int)format.type, format.channels, orders[in_layout.order], in_layout.white, in_layout.premultiplied,
               orders[out_layout.order], out_layout.white, out_layout.premultiplied, up);
    free(in.block), free(out.block), free(plain.block), free(made.block);
}

static void all_cases(void) {
    static const uint32_t whites[3][WHITES] = {{0, 255, 100, 1}, {0, 4095, 1023, 65534}, {0, 0, 0, 0}};
    for (int type = 0; type < 3; type++)
        for (int order = 0; order <= IMGPIPE_ORDER_ABGR; order++)
            for (int channels = 1; channels <= 4; channels++)
                for (int alpha = 0; alpha < 2; alpha++)
                    for (int w = 0; w < WHITES; w++) {
                        if (alpha && channels % 2) continue;
                        if (order && (channels != (order <= IMGPIPE_ORDER_XBGR ? 3 : 4) || alpha != (channels == 4))) continue;
                        imgpipe_format format = {(imgpipe_type)type, channels, alpha};
                        imgpipe_layout in = {(imgpipe_order)order, alpha && w % 2, whites[type][w]};
                        imgpipe_layout out = {(imgpipe_order)order, alpha && w / 2, whites[type][(w + 1) % WHITES]};
                        one_case("", format, in, (imgpipe_layout){0}, w % 2);
                        one_case("", format, (imgpipe_layout){0}, out, w % 2);
                        one_case(alpha ? "median=3,invert" : "blur=1.5", format, in, out, w / 2);
                    }
}

/* What was read comes back the same: white levels always, premultiplied colours not above their alpha. */
static void round_trip(imgpipe_type type, uint32_t white) {
    imgpipe_format format = {type, 4, true};
    imgpipe_layout layout = {IMGPIPE_ORDER_BGRA, true, white};
    struct picture in = picture_new(format, layout, false), out = picture_new(format, layout, false);
    imgpipe_error error;
    fill(&in);
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t i = 0; i < WIDTH * 4; i++) {
            double alpha = get(row_of(&in, y), type, i / 4 * 4 + 3);
            if (get(row_of(&in, y), type, i) > alpha) set(row_of(&in, y), type, i, alpha);
        }
    CHECK(run("", &in, &out, &error) == IMGPIPE_OK);
    CHECK(memcmp(in.block, out.block, in.size) == 0);
    free(in.block), free(out.block);
}

static void refused(struct picture *in, const struct picture *out, imgpipe_status want, const char *word, int line) {
    imgpipe_error error = {0};
    imgpipe_status status = run("", in, out, &error);
    check(status == want && error.status == want && strstr(error.message, word), word, line);
    if (status != want || !strstr(error.message, word)) printf("      status %d: %s\n", (int)status, error.message);
}

static void refusals(void) {
    imgpipe_format rgb = {IMGPIPE_U16, 3, false}, rgba = {IMGPIPE_U16, 4, true}, f32 = {IMGPIPE_F32, 3, false};
    struct picture p = picture_new(rgb, (imgpipe_layout){0}, false), out = picture_new(rgb, (imgpipe_layout){0}, false), q;
#define REFUSED(change, want, word)                                                                                                \
    do {                                                                                                                           \
        q = p;                                                                                                                     \
        change;                                                                                                                    \
        refused(&q, &out, (want), (word), __LINE__);                                                                               \
    } while (0)
    fill(&p);
    REFUSED(q.image.layout.order = IMGPIPE_ORDER_BGRA, IMGPIPE_ERROR_ARGUMENT, "order");
    REFUSED(q.image.layout.order = (imgpipe_order)99, IMGPIPE_ERROR_ARGUMENT, "order");
    REFUSED(q.image.layout.premultiplied = true, IMGPIPE_ERROR_ARGUMENT, "no alpha");
    REFUSED(q.image.layout.white = 65536, IMGPIPE_ERROR_ARGUMENT, "white level");
    REFUSED(q.image.info.format = f32; q.image.layout.white = 1, IMGPIPE_ERROR_ARGUMENT, "white level");
    REFUSED(q.image.info.format = rgba; q.image.layout.order = IMGPIPE_ORDER_BGR, IMGPIPE_ERROR_ARGUMENT, "order");
    REFUSED(q.image.pixels = NULL, IMGPIPE_ERROR_ARGUMENT, "NULL");
    REFUSED(q.image.pixels = (char *)q.image.pixels + 1, IMGPIPE_ERROR_ARGUMENT, "multiple");
    REFUSED(q.image.stride++, IMGPIPE_ERROR_ARGUMENT, "multiple");
    REFUSED(q.image.stride = WIDTH * 6 - 2, IMGPIPE_ERROR_ARGUMENT, "stride");
    REFUSED(q.image.stride = 0, IMGPIPE_ERROR_ARGUMENT, "stride");
    REFUSED(q.image.stride = PTRDIFF_MIN, IMGPIPE_ERROR_ARGUMENT, "larger than memory");
    REFUSED(q.image.stride = WIDTH * 6; q.image.layout.order = IMGPIPE_ORDER_XRGB, IMGPIPE_ERROR_ARGUMENT, "stride");
    REFUSED(q.image.info.width = 0, IMGPIPE_ERROR_ARGUMENT, "each side");
    REFUSED(q.image.info.height = (int64_t)1 << 31, IMGPIPE_ERROR_ARGUMENT, "each side");
    REFUSED(q.image.info.format.channels = 5, IMGPIPE_ERROR_ARGUMENT, "channels");
    REFUSED(q.image.info.format.type = (imgpipe_type)3, IMGPIPE_ERROR_ARGUMENT, "type");
    for (int64_t y = 0; y < HEIGHT; y++) memset(row_of(&p, y), 0, WIDTH * 6);
    ((uint16_t *)row_of(&p, 17))[8] = 4096;
    REFUSED(q.image.layout.white = 4095, IMGPIPE_ERROR_INPUT, "row 17");
    free(p.block), free(out.block);
}

/* usage: test_layout [DEVICE]; 77: it is not there */
int main(int count, char **arguments) {
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_error error;
    options.device = count > 1 ? arguments[1] : "cpu";
    options.threads = 2;
    imgpipe_status status = imgpipe_context_new(&options, &context, &error);
    if (status == IMGPIPE_ERROR_DEVICE) return puts(error.message), 77;
    if (!CHECK(status == IMGPIPE_OK)) return 1;
    all_cases();
    round_trip(IMGPIPE_U8, 0);
    round_trip(IMGPIPE_U8, 100);
    round_trip(IMGPIPE_U16, 0);
    round_trip(IMGPIPE_U16, 4095);
    refusals();
    imgpipe_context_free(&context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

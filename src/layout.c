#include "layout.h"
#include "status.h"

#include <string.h>

struct layout_way layout_way_of(imgpipe_format format, imgpipe_layout layout) {
    static const struct {
        int at[4], unused;
    } orders[] = {
        [IMGPIPE_ORDER_NATIVE] = {{0, 1, 2, 3}, -1}, [IMGPIPE_ORDER_BGR] = {{2, 1, 0, 3}, -1},
        [IMGPIPE_ORDER_RGBX] = {{0, 1, 2, 0}, 3},    [IMGPIPE_ORDER_BGRX] = {{2, 1, 0, 0}, 3},
        [IMGPIPE_ORDER_XRGB] = {{1, 2, 3, 0}, 0},    [IMGPIPE_ORDER_XBGR] = {{3, 2, 1, 0}, 0},
        [IMGPIPE_ORDER_BGRA] = {{2, 1, 0, 3}, -1},   [IMGPIPE_ORDER_ARGB] = {{1, 2, 3, 0}, -1},
        [IMGPIPE_ORDER_ABGR] = {{3, 2, 1, 0}, -1},
    };
    struct layout_way way = {.channels = format.channels, .unused = orders[layout.order].unused, .premultiplied = layout.premultiplied};
    memcpy(way.at, orders[layout.order].at, sizeof way.at);
    way.samples = (int)(imgpipe_layout_pixel_size(format, layout) / imgpipe_sample_size(format.type));
    way.white = layout.white ? layout.white : format.type == IMGPIPE_U8 ? 255 : 65535;
    return way;
}

#define SAMPLE uint8_t
#define FULL 255u
#define READ read_u8
#define WRITE write_u8
#include "layout_body.h"
#undef SAMPLE
#undef FULL
#undef READ
#undef WRITE
#define SAMPLE uint16_t
#define FULL 65535u
#define READ read_u16
#define WRITE write_u16
#include "layout_body.h"

static void read_f32(float *row, int64_t width, const struct layout_way *way) {
    for (int64_t x = 0; way->premultiplied && x < width; x++) {
        float *p = row + x * way->channels, a = p[way->channels - 1];
        for (int c = 0; c < way->channels - 1; c++) p[c] = a > 0 ? p[c] / a : 0;
    }
}

static void write_f32(const float *from, float *to, int64_t width, const struct layout_way *way) {
    for (int64_t x = 0; x < width; x++, from += way->channels, to += way->samples) {
        float a = way->premultiplied ? from[way->channels - 1] : 1;
        for (int c = 0; c < way->channels; c++)
            to[way->at[c]] = way->premultiplied && c < way->channels - 1 ? from[c] * a : from[c];
        if (way->unused >= 0) to[way->unused] = 1;
    }
}

/* Brings the samples of each pixel into the format's order, whatever they hold. */
static void sort_samples(const unsigned char *from, unsigned char *to, int64_t width, const struct layout_way *way, size_t size) {
    if (way->unused < 0 && way->at[0] == 0) {
        memcpy(to, from, (size_t)width * (size_t)way->channels * size);
        return;
    }
    for (int64_t x = 0; x < width; x++, from += (size_t)way->samples * size)
        for (int c = 0; c < way->channels; c++, to += size) {
            const unsigned char *sample = from + (size_t)way->at[c] * size;
            if (size == 1)
                *to = *sample;
            else
                memcpy(to, sample, size == 2 ? 2 : 4);
        }
}

bool layout_plain(imgpipe_format format, imgpipe_layout layout) {
    bool full = layout.white == 0 || layout.white == (uint32_t)imgpipe_type_max(format.type);
    return layout.order == IMGPIPE_ORDER_NATIVE && !layout.premultiplied && (full || format.type == IMGPIPE_F32);
}

imgpipe_status layout_read(imgpipe_format format, imgpipe_layout layout, const void *from, void *to, int64_t width, int64_t y,
                           imgpipe_error *error) {
    struct layout_way way = layout_way_of(format, layout);
    bool right = true;
    sort_samples(from, to, width, &way, imgpipe_sample_size(format.type));
    if (layout_plain(format, layout)) return IMGPIPE_OK;
    if (format.type == IMGPIPE_U8)
        right = read_u8(to, width, &way);
    else if (format.type == IMGPIPE_U16)
        right = read_u16(to, width, &way);
    else
        read_f32(to, width, &way);
    if (right) return IMGPIPE_OK;
    return error_set(error, IMGPIPE_ERROR_INPUT,
                     "row %lld of the input holds a sample above the white level %u of its layout; give the "
                     "white level that it has",
                     (long long)y, (unsigned)way.white);
}

void layout_write(imgpipe_format format, imgpipe_layout layout, const void *from, void *to, int64_t width) {
    struct layout_way way = layout_way_of(format, layout);
    if (layout_plain(format, layout))
        memcpy(to, from, (size_t)width * imgpipe_pixel_size(format));
    else if (format.type == IMGPIPE_U8)
        write_u8(from, to, width, &way);
    else if (format.type == IMGPIPE_U16)
        write_u16(from, to, width, &way);
    else
        write_f32(from, to, width, &way);
}

imgpipe_status layout_check(const imgpipe_info *info, imgpipe_layout layout, const char *what, imgpipe_error *error) {
    imgpipe_format format = info->format;
    char text[64];
    if (info->width < 1 || info->height < 1 || info->width > INT32_MAX || info->height > INT32_MAX)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the %s is %lld x %lld pixels; each side must be from 1 to 2147483647",
                         what, (long long)info->width, (long long)info->height);
    if ((unsigned)format.type > IMGPIPE_F32 || format.channels < 1 || format.channels > 4 || (format.alpha && format.channels < 2))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the %s has sample type %d and %d channels%s; there are the types 0 to 2, and 1 to 4 "
                         "channels, of which alpha is not the only one",
                         what, (int)format.type, format.channels, format.alpha ? " with alpha" : "");
    int order = (int)layout.order, channels = order <= IMGPIPE_ORDER_XBGR ? 3 : 4;
    if (order < 0 || order > IMGPIPE_ORDER_ABGR)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the %s has order %d, which does not exist", what, order);
    if (order && (format.channels != channels || format.alpha != (channels == 4)))
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the order of the %s is for %s, and its format is %s; choose the order for that", what,
                         channels == 3 ? "three channels without alpha" : "three channels and alpha", text_format(format, text));
    if (layout.premultiplied && !format.alpha)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the %s is said to be premultiplied, and its format has no alpha", what);
    uint32_t full = format.type == IMGPIPE_F32 ? 0 : (uint32_t)imgpipe_type_max(format.type);
    if (layout.white > full)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the white level of the %s is %u; for %s it is from 0 (all of the range) to %u", what,
                         (unsigned)layout.white, text_format(format, text), (unsigned)full);
    return IMGPIPE_OK;
}

imgpipe_status layout_check_image(const imgpipe_image *image, const char *what, imgpipe_error *error) {
    imgpipe_status failed = layout_check(&image->info, image->layout, what, error);
    if (failed) return failed;
    int64_t sample = (int64_t)imgpipe_sample_size(image->info.format.type);
    int64_t row = image->info.width * (int64_t)imgpipe_layout_pixel_size(image->info.format, image->layout);
    if (!image->pixels) return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the %s has no pixels: its pointer is NULL", what);
    if ((uintptr_t)image->pixels % (uintptr_t)sample || image->stride % sample)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT,
                         "the pixels of the %s or their stride are no multiple of %lld bytes, the size of a sample", what,
                         (long long)sample);
    uint64_t magnitude = image->stride < 0 ? 0 - (uint64_t)image->stride : (uint64_t)image->stride, bytes;
    if (magnitude < (uint64_t)row)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the stride of the %s is %lld bytes, and a row has %lld", what,
                         (long long)image->stride, (long long)row);
    if (__builtin_mul_overflow(magnitude, (uint64_t)image->info.height, &bytes) || bytes > (uint64_t)PTRDIFF_MAX)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "the %s is larger than memory can be", what);
    return IMGPIPE_OK;
}

/* Rows from the lowest address up. */
struct extent {
    uintptr_t low;
    uint64_t stride, row, rows;
};

static struct extent extent_of(const imgpipe_image *image) {
    struct extent e = {(uintptr_t)image->pixels, (uint64_t)image->stride,
                       (uint64_t)image->info.width * imgpipe_layout_pixel_size(image->info.format, image->layout),
                       (uint64_t)image->info.height};
    if (image->stride < 0) {
        e.stride = 0 - e.stride;
        e.low -= e.stride * (e.rows - 1);
    }
    return e;
}

static uintptr_t extent_end(const struct extent *e) {
    return e->low + e->stride * (e->rows - 1) + e->row;
}

bool layout_overlap(const imgpipe_image *a, const imgpipe_image *b) {
    struct extent x = extent_of(a), y = extent_of(b);
    if (extent_end(&x) <= y.low || extent_end(&y) <= x.low) return false;
    /* Interleaved rows: for each of x the row of y that begins at its start or before, and the one behind that. */
    for (uint64_t i = 0; i < x.rows; i++) {
        uintptr_t from = x.low + i * x.stride, to = from + x.row;
        uint64_t k = from < y.low ? 0 : (from - y.low) / y.stride;
        for (uint64_t j = k; j < k + 2 && j < y.rows; j++) {
            uintptr_t start = y.low + j * y.stride;
            if (start < to && start + y.row > from) return true;
        }
    }
    return false;
}

bool layout_same_place(const imgpipe_image *a, const imgpipe_image *b) {
    return a->pixels == b->pixels && (a->stride == b->stride || a->info.height == 1) && a->info.width == b->info.width &&
           a->info.height == b->info.height &&
           imgpipe_layout_pixel_size(a->info.format, a->layout) == imgpipe_layout_pixel_size(b->info.format, b->layout);
}

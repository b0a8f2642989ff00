/* Decoders of PNG that imgpipe does not read PNG with as they are used here, each of which says whether a file holds an image. */
#ifndef PNG_DECODERS_H
#define PNG_DECODERS_H
#include "imgpipe.h"
#include "png_files.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_SPNG
#include <spng.h>
#endif

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

static bool png_is_wide(const imgpipe_image *image) {
    return image->info.format.type == IMGPIPE_U16;
}

/* ------------------------------------------------------------------------------------------------------ libpng */

struct png_reading {
    const struct png_file *file;
    size_t at;
    unsigned char *row;
};

static void png_take(png_structp png, png_bytep to, size_t size) {
    struct png_reading *reading = png_get_io_ptr(png);
    if (size > reading->file->size - reading->at) png_error(png, "the end");
    memcpy(to, reading->file->bytes + reading->at, size);
    reading->at += size;
}

static void png_warning_is_error(png_structp png, png_const_charp text) {
    png_error(png, text);
}

static void png_say(png_structp png, png_const_charp text) {
    printf("libpng: %s\n", text);
    png_longjmp(png, 1);
}

static bool png_rows_equal(png_structp png, png_infop info, struct png_reading *reading, const imgpipe_image *image) {
    const imgpipe_info *want = &image->info;
    png_read_info(png, info);
    if (png_is_wide(image)) png_set_swap(png);
    if (png_get_image_width(png, info) != want->width || png_get_image_height(png, info) != want->height) return false;
    if (png_get_channels(png, info) != want->format.channels || png_get_bit_depth(png, info) != (png_is_wide(image) ? 16 : 8))
        return false;
    if (png_get_rowbytes(png, info) != (size_t)image->stride) return false;
    for (int64_t y = 0; y < want->height; y++) {
        png_read_row(png, reading->row, NULL);
        if (memcmp(reading->row, (const unsigned char *)image->pixels + y * image->stride, (size_t)image->stride) != 0)
            return false;
    }
    png_read_end(png, NULL);
    return reading->at == reading->file->size;
}

static bool libpng_equal(const struct png_file *file, const imgpipe_image *image) {
    struct png_reading reading = {.file = file, .row = malloc((size_t)image->stride)};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, png_say, png_warning_is_error);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    volatile bool equal = false;
    if (!info || !reading.row) abort();
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &reading, png_take);
        equal = png_rows_equal(png, info, &reading, image);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(reading.row);
    return equal;
}

/* --------------------------------------------------------------------------------------------------- stb_image */

static bool stb_equal(const struct png_file *file, const imgpipe_image *image) {
    int width = 0, height = 0, channels = 0;
    const bool wide = png_is_wide(image);
    void *pixels = wide ? (void *)stbi_load_16_from_memory(file->bytes, (int)file->size, &width, &height, &channels, 0)
                        : (void *)stbi_load_from_memory(file->bytes, (int)file->size, &width, &height, &channels, 0);
    bool equal = pixels && width == image->info.width && height == image->info.height && channels == image->info.format.channels &&
                 stbi_is_16_bit_from_memory(file->bytes, (int)file->size) == wide &&
                 memcmp(pixels, image->pixels, (size_t)image->stride * (size_t)height) == 0;
    stbi_image_free(pixels);
    return equal;
}

/* ----------------------------------------------------------------------------------------------------- libspng */

#ifdef WITH_SPNG
static bool spng_equal(const struct png_file *file, const imgpipe_image *image) {
    spng_ctx *spng = spng_ctx_new(0);
    struct spng_ihdr header = {0};
    size_t size = 0, wanted = (size_t)image->stride * (size_t)image->info.height;
    unsigned char *pixels = malloc(wanted);
    if (!spng || !pixels) abort();
    spng_set_crc_action(spng, SPNG_CRC_ERROR, SPNG_CRC_ERROR);
    bool equal = spng_set_png_buffer(spng, file->bytes, file->size) == 0 && spng_get_ihdr(spng, &header) == 0 &&
                 header.width == image->info.width && header.height == image->info.height &&
                 header.bit_depth == (png_is_wide(image) ? 16 : 8) && spng_decoded_image_size(spng, SPNG_FMT_PNG, &size) == 0 &&
                 size == wanted && spng_decode_image(spng, pixels, wanted, SPNG_FMT_PNG, 0) == 0 && spng_decode_chunks(spng) == 0 &&
                 memcmp(pixels, image->pixels, wanted) == 0;
    spng_ctx_free(spng);
    free(pixels);
    return equal;
}
#endif

static const struct png_decoder {
    const char *name;
    bool (*equal)(const struct png_file *file, const imgpipe_image *image);
} png_decoders[] = {
    {"libpng", libpng_equal},
    {"stb_image", stb_equal},
#ifdef WITH_SPNG
    {"libspng", spng_equal},
#endif
    {NULL, NULL},
};
#endif

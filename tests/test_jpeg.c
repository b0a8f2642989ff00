/* JPEG in and out: every kind compared with what libjpeg itself makes of it, round trips, metadata. */
#include "save_image.h"
#include "jpeg_files.h"
#include "outfile.h"
#include "sink.h"
#include <unistd.h>

/* libjpeg's own view with its defaults; CMYK by the formula of the documentation. The caller frees pixels. */
static imgpipe_image read_libjpeg(const struct bytes *file) {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    c.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, file->data, file->size);
    jpeg_read_header(&c, TRUE);
    jpeg_start_decompress(&c);
    int stored = c.output_components, channels = stored == 4 ? 3 : stored;
    imgpipe_image image = {
        {c.output_width, c.output_height, {IMGPIPE_U8, channels, false}}, NULL, (ptrdiff_t)(c.output_width) * channels};
    unsigned char row[1024], *to = image.pixels = malloc((size_t)image.stride * c.output_height);
    JSAMPROW rows = row;
    while (c.output_scanline < c.output_height) {
        jpeg_read_scanlines(&c, &rows, 1);
        for (int i = 0; i < (int)c.output_width * channels; i++)
            *to++ = stored == 4 ? (unsigned char)(row[i / 3 * 4 + i % 3] * row[i / 3 * 4 + 3] / 255.0 + 0.5) : row[i];
    }
    jpeg_finish_decompress(&c);
    jpeg_destroy_decompress(&c);
    return image;
}
static bool same_image(const imgpipe_image *a, const imgpipe_image *b) {
    return a->info.width == b->info.width && a->info.height == b->info.height &&
           a->info.format.channels == b->info.format.channels && a->info.format.alpha == b->info.format.alpha &&
           memcmp(a->pixels, b->pixels, (size_t)a->stride * (size_t)a->info.height) == 0;
}

/* ---------------------------------------------------------------------------------------------------- all kinds */

static void test_kinds(void) {
    for (int i = 0; i < RECIPES; i++) {
        const struct recipe *r = &recipes[i];
        struct bytes file = make_jpeg(r, 88, NULL);
        imgpipe_image theirs = read_libjpeg(&file), ours;
        for (int seek = 0; seek < 2; seek++) {
            struct source *source = NULL;
            imgpipe_status status = read_ours(&file, &plain, seek, &ours, &source);
            if (!check(!status, "%s: %s", r->name, error.message)) continue;
            check(same_image(&ours, &theirs), "%s: pixels differ from libjpeg's", r->name);
            check(warnings == 0 && notices == (r->channels == 4), "%s: %d warnings, %d notices", r->name, warnings, notices);
            check(source->storage.subsampling == r->subsampling, "%s: subsampling %d", r->name, source->storage.subsampling);
            check(strcmp(source->codec, "jpeg") == 0, "%s: codec %s", r->name, source->codec);
            source_close(source);
            free(ours.pixels);
        }
        free(theirs.pixels);
        free(file.data);
    }
    struct source_options options = plain;
    options.alpha = 1;
    struct bytes file = make_jpeg(recipe_named("two components"), 88, NULL);
    imgpipe_image image;
    check(!read_ours(&file, &options, true, &image, NULL) && image.info.format.alpha, "two components, the last as alpha");
    free(image.pixels);
    free(file.data);
}

/* -------------------------------------------------------------------------------------------------- round trips */

static char path[] = "/tmp/imgpipe-test-jpeg-XXXXXX";

static struct bytes write_ours(const imgpipe_image *image, const struct sink_options *options) {
    notices = 0;
    imgpipe_status status = save_image(path, encoder_find("jpeg"), image, options, &error);
    struct bytes file = {0};
    if (!check(!status, "writing: %s", error.message)) exit(1);
    FILE *stream = fopen(path, "rb");
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.data = malloc(file.size);
    if (fread(file.data, 1, file.size, stream) != file.size) exit(1);
    fclose(stream);
    return file;
}

static imgpipe_image smooth_image(int width, int height, int channels) {
    imgpipe_image image = {
        {width, height, {IMGPIPE_U8, channels, false}}, malloc((size_t)(width * height * channels)), width * channels};
    unsigned char *to = image.pixels;
    for (int i = 0; i < width * height * channels; i++)
        to[i] = (unsigned char)(30 + (i / channels % width * 2 + i / channels / width * (1 + i % channels)) % 200);
    return image;
}

static void mean_and_greatest(const imgpipe_image *a, const imgpipe_image *b, double *mean, int *greatest) {
    const unsigned char *x = a->pixels, *y = b->pixels;
    size_t count = (size_t)a->stride * (size_t)a->info.height;
    *mean = *greatest = 0;
    for (size_t i = 0; i < count; i++) {
        int d = abs(x[i] - y[i]);
        *mean += d / (double)count;
        if (d > *greatest) *greatest = d;
    }
}

static void test_round_trips(void) {
    static const int subsamplings[] = {444, 422, 420};
    for (int channels = 1; channels <= 3; channels += 2) {
        imgpipe_image image = smooth_image(61, 47, channels), back;
        size_t sizes[3];
        double mean, means[2] = {0};
        int greatest;
        for (int i = 0; i < 3; i++) {
            struct sink_options options = {.log = &test_log, .quality = 95, .subsampling = subsamplings[i]};
            struct bytes file = write_ours(&image, &options), again = write_ours(&image, &options);
            struct source *source = NULL;
            check(file.size == again.size && !memcmp(file.data, again.data, file.size), "the same image gives different files");
            sizes[i] = file.size;
            check(!read_ours(&file, &plain, true, &back, &source), "a written file: %s", error.message);
            check(source->storage.subsampling == (channels == 3 ? subsamplings[i] : 0), "subsampling %d", subsamplings[i]);
            check(back.info.format.channels == channels, "%d channels became %d", channels, back.info.format.channels);
            mean_and_greatest(&image, &back, &mean, &greatest);
            /* Where the ramps fall back to their begin colours change in one pixel. */
            check(mean < (i ? 3.5 : 1.2) && greatest < (i && channels == 3 ? 120 : 25),
                  "%d channels, %d: mean error %g, greatest %d", channels, subsamplings[i], mean, greatest);
            source_close(source);
            free(back.pixels);
            free(file.data);
            free(again.data);
        }
        check(channels == 1 ? sizes[0] == sizes[2] : sizes[0] > sizes[1] && sizes[1] > sizes[2], "subsampling does not save space");
        for (int i = 0; i < 2; i++) {
            struct sink_options options = {.log = &test_log, .quality = i ? 100 : 10, .subsampling = 444};
            struct bytes file = write_ours(&image, &options);
            check(!read_ours(&file, &plain, true, &back, NULL), "a written file: %s", error.message);
            mean_and_greatest(&image, &back, &means[i], &greatest);
            free(back.pixels);
            free(file.data);
        }
        check(means[0] > 2 && means[1] < 0.6, "quality 10 has a mean error of %g, 100 of %g", means[0], means[1]);
        free(image.pixels);
    }
    /* Without a word about it, the subsampling of a JPEG that it was read from. */
    imgpipe_image image = smooth_image(20, 20, 3), back;
    for (int i = 0; i < 3; i++) {
        struct storage storage = {.subsampling = subsamplings[i]};
        struct sink_options options = {.log = &test_log, .quality = 90, .storage = &storage};
        struct bytes file = write_ours(&image, &options);
        struct source *source = NULL;
        check(!read_ours(&file, &plain, true, &back, &source) && source->storage.subsampling == (i == 2 ? 420 : 444), "default");
        source_close(source);
        free(back.pixels);
        free(file.data);
    }
    free(image.pixels);
    check(encoder_find("jpeg")->size_fits(65500, 65500) && !encoder_find("jpeg")->size_fits(65501, 1), "the greatest width");
}

/* ----------------------------------------------------------------------------------------------------- metadata */

static bool same_block(const struct metadata_block *a, const struct metadata_block *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* A TIFF stream of one tag: orientation 6. */
static const unsigned char exif[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};

static void test_metadata(void) {
    struct metadata m;
    metadata_init(&m);
    unsigned char *large = malloc(200000);
    for (int i = 0; i < 200000; i++) large[i] = (unsigned char)(i * 2654435761u >> 24);
    imgpipe_image image = smooth_image(9, 8, 3), back;
    struct sink_options options = {.log = &test_log, .quality = 90, .subsampling = 444, .metadata = &m};
    bool set = metadata_set(&m.exif, exif, sizeof exif) && metadata_set(&m.xmp, "<x:xmpmeta/>", 12) &&
               metadata_set(&m.icc, large, 200000) && metadata_set(&m.iptc, large, 77) &&
               metadata_add_text(&m, "Comment", "grün", NULL) && metadata_add_text(&m, "Title", "a name", NULL);
    m.x_per_metre = 11811, m.y_per_metre = 5905.5; /* 300 and 150 dots per inch */
    struct bytes file = write_ours(&image, &options);
    struct source *source = NULL;
    check(set && !read_ours(&file, &plain, true, &back, &source) && notices + warnings == 0, "metadata: %s", error.message);
    const struct metadata *n = &source->metadata;
    check(same_block(&m.exif, &n->exif) && same_block(&m.xmp, &n->xmp), "EXIF or XMP changed");
    check(same_block(&m.icc, &n->icc), "the ICC profile changed");
    check(same_block(&m.iptc, &n->iptc), "IPTC changed");
    check(n->orientation == 6, "orientation %d", n->orientation);
    check(n->x_per_metre > 11810 && n->x_per_metre < 11812 && n->y_per_metre > 5905 && n->y_per_metre < 5906, "resolution");
    check(n->texts && !strcmp(n->texts->key, "Comment") && !strcmp(n->texts->value, "grün"), "the comment changed");
    check(n->texts && n->texts->next && !strcmp(n->texts->next->value, "Title: a name"), "the title changed");
    source_close(source);
    free(back.pixels);
    free(file.data);
    /* What is too large is left out, with a notice for each. */
    set = metadata_set(&m.exif, large, 65528) && metadata_set(&m.xmp, large, 65505) && metadata_set(&m.iptc, large, 65507);
    metadata_free(&(struct metadata){.icc = m.icc});
    m.icc = (struct metadata_block){0};
    m.x_per_metre = m.y_per_metre = 0;
    m.x_aspect = 2, m.y_aspect = 1;
    file = write_ours(&image, &options);
    check(set && notices == 3, "%d notices of what is too large", notices);
    check(!read_ours(&file, &plain, true, &back, &source), "without what is too large: %s", error.message);
    check(!source->metadata.exif.bytes && !source->metadata.xmp.bytes && !source->metadata.iptc.bytes,
          "it was written all the same");
    check(source->metadata.x_aspect == 2 * source->metadata.y_aspect && source->metadata.y_aspect > 0, "the aspect changed");
    source_close(source);
    free(back.pixels);
    free(file.data);
    free(image.pixels);
    free(large);
    metadata_free(&m);
}

static void odd_segments(j_compress_ptr c) {
    static const char xmp_more[] = "http://ns.adobe.com/xmp/extension/\0and so on";
    static const char photoshop[] = "Photoshop 3.0\08BIM\3\355\3odd\0\0\0\3abc\0"
                                    "8BIM\4\4\0\0\0\0\0\5IPTC!";
    jpeg_write_marker(c, JPEG_COM, (const JOCTET *)"caf\351", 4);
    jpeg_write_marker(c, JPEG_APP0 + 1, (const JOCTET *)xmp_more, sizeof xmp_more);
    jpeg_write_marker(c, JPEG_APP0 + 2, (const JOCTET *)"ICC_PROFILE\0\2\2abc", 17);
    jpeg_write_marker(c, JPEG_APP0 + 2, (const JOCTET *)"ICC_PROFILE\0\1\2def", 17);
    /* A resource that is cut between two segments. */
    jpeg_write_marker(c, JPEG_APP0 + 13, (const JOCTET *)photoshop, 20);
    unsigned char rest[64] = "Photoshop 3.0";
    memcpy(rest + 14, photoshop + 20, sizeof photoshop - 21);
    jpeg_write_marker(c, JPEG_APP0 + 13, rest, 14 + sizeof photoshop - 21);
}

static void broken_segments(j_compress_ptr c) {
    jpeg_write_marker(c, JPEG_APP0 + 1, (const JOCTET *)"Exif\0\0", 6);
    jpeg_write_marker(c, JPEG_APP0 + 2, (const JOCTET *)"ICC_PROFILE\0\1\2abc", 17);
    jpeg_write_marker(c, JPEG_APP0 + 13,
                      (const JOCTET *)"Photoshop 3.0\0"
                                      "8BIM\4\4\0\0\377\377\377\377",
                      26);
    jpeg_write_marker(c, JPEG_APP0 + 2, (const JOCTET *)"MPF\0II*\0\10\0\0\0\1\0\1\260\4\0\1\0\0\0\2\0\0\0", 26);
    for (int i = 0; i < 40; i++) {
        static JOCTET text[60000];
        memset(text, 'a' + i, sizeof text);
        jpeg_write_marker(c, JPEG_COM, text, sizeof text);
    }
}

static void test_segments(void) {
    imgpipe_image image;
    struct source *source;
    struct bytes file = make_jpeg(recipe_named("gray"), 88, odd_segments);
    check(!read_ours(&file, &plain, true, &image, &source) && notices == 1 && warnings == 0, "odd segments: %s", last_message);
    const struct metadata *m = &source->metadata;
    check(m->texts && !strcmp(m->texts->value, "café"), "a comment in Latin-1");
    check(m->icc.size == 6 && !memcmp(m->icc.bytes, "defabc", 6), "ICC parts in the wrong order");
    check(m->iptc.size == 5 && !memcmp(m->iptc.bytes, "IPTC!", 5), "IPTC behind another resource, in two segments");
    source_close(source);
    free(image.pixels);
    free(file.data);
    file = make_jpeg(recipe_named("gray"), 88, broken_segments);
    check(!read_ours(&file, &plain, true, &image, &source), "broken segments: %s", error.message);
    m = &source->metadata;
    check(warnings == 1 && notices == 2, "broken segments: %d warnings, %d notices", warnings, notices);
    check(!m->exif.bytes && !m->icc.bytes && !m->iptc.bytes && m->texts, "broken segments were taken");
    source_close(source);
    free(image.pixels);
    free(file.data);
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        return 1;
    }
    close(file);
    test_kinds();
    test_round_trips();
    test_metadata();
    test_segments();
    unlink(path);
    printf("%d checks, %d failures\n", checks, failures);
    return failures ? 1 : 0;
}

/* The codecs of imgpipe's own (PNM, PAM, PFM) and those that wrap stb: round trips, every maxval, byte orders, truncation at
 * every byte, broken headers, and mutations. Exit status 0 or 1; the argument is a seed (default 1). */
#include "sink.h"
#include "source.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "codec_files.h"
#include "save_image.h"

static int checks, failures, notices;
static char folder[64], path[128];

static void IMGPIPE_PRINTF(2, 3) check(bool ok, const char *format, ...) {
    checks++;
    if (ok || failures++ > 20) return;
    va_list args;
    va_start(args, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static uint64_t random_state;
static uint32_t random_u32(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void count_notice(void *user, imgpipe_log_level level, const char *message) {
    (void)user, (void)message;
    if (level == IMGPIPE_LOG_WARNING || level == IMGPIPE_LOG_NOTICE) notices++;
}
static const struct log test_log = {count_notice, NULL};

/* ------------------------------------------------------------------------------------------- files and images */

struct bytes {
    unsigned char *data;
    size_t size;
};

static void write_file(const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) abort();
}

static struct bytes read_file(void) {
    FILE *f = fopen(path, "rb");
    struct bytes b = {malloc(1 << 20), 0};
    if (!f || !b.data) abort();
    b.size = fread(b.data, 1, 1 << 20, f);
    fclose(f);
    return b;
}

static size_t image_size(const imgpipe_image *image) {
    return (size_t)image->info.height * (size_t)image->stride;
}

static imgpipe_image new_image(imgpipe_info info) {
    imgpipe_image image = {info, NULL, (ptrdiff_t)((size_t)info.width * imgpipe_pixel_size(info.format))};
    image.pixels = malloc(image_size(&image));
    if (!image.pixels) abort();
    return image;
}

/* Runs and noise, since the run length coders treat them differently. */
static imgpipe_image random_image(imgpipe_info info) {
    imgpipe_image image = new_image(info);
    size_t pixel = imgpipe_pixel_size(info.format), n = image_size(&image);
    unsigned char *p = image.pixels;
    if (info.format.type == IMGPIPE_F32) {
        for (size_t i = 0; i < n / 4; i++)
            ((float *)image.pixels)[i] = ldexpf((float)(random_u32() % 1000), (int)(random_u32() % 20) - 10);
    } else {
        for (size_t i = 0; i < n; i++) p[i] = (unsigned char)random_u32();
    }
    for (size_t i = pixel; i + pixel <= n; i += pixel)
        if (random_u32() % 200 > (i / 64) % 200) memcpy(p + i, p + i - pixel, pixel);
    return image;
}

/* Reads `name` in calls of varying height. On success the pixels belong to the caller. */
static imgpipe_status load(const char *name, imgpipe_image *image, imgpipe_error *error) {
    struct source_options options = {.log = &test_log, .alpha = -1, .max_pixels = 1 << 20, .memory = 1 << 26};
    struct input *input;
    struct source *source;
    memset(error, 0, sizeof *error);
    imgpipe_status status = input_open(name, NULL, &input, error);
    if (!status) status = source_open(input, &options, &source, error);
    if (status) return status;
    *image = new_image(source->info);
    for (int64_t y = 0; y < source->info.height && !status;) {
        void *rows[5];
        int count = 1 + (int)(random_u32() % 5);
        if (count > source->info.height - y) count = (int)(source->info.height - y);
        for (int i = 0; i < count; i++) rows[i] = (unsigned char *)image->pixels + (y + i) * image->stride;
        status = source_read(source, rows, count, error);
        y += count;
    }
    if (!status) status = source_finish(source, error);
    source_close(source);
    if (status) free(image->pixels);
    return status;
}

/* The same through a pipe on standard input; the file must fit the pipe. */
static imgpipe_status load_piped(imgpipe_image *image, imgpipe_error *error) {
    struct bytes b = read_file();
    int ends[2], kept = dup(0);
    if (pipe(ends) || write(ends[1], b.data, b.size) != (ssize_t)b.size) abort();
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
    imgpipe_status status = load("-", image, error);
    dup2(kept, 0);
    close(kept);
    free(b.data);
    return status;
}

static imgpipe_status save(const char *name, const struct encoder *encoder, const imgpipe_image *image, imgpipe_error *error) {
    struct sink_options options = {.log = &test_log, .level = 4, .quality = 95};
    return save_image(name, encoder, image, &options, error);
}

static bool same_format(imgpipe_format a, imgpipe_format b) {
    return a.type == b.type && a.channels == b.channels && a.alpha == b.alpha;
}

static bool same_image(const imgpipe_image *a, const imgpipe_image *b) {
    return a->info.width == b->info.width && a->info.height == b->info.height && same_format(a->info.format, b->info.format) &&
           !memcmp(a->pixels, b->pixels, image_size(a));
}

/* ------------------------------------------------------------------------------------------------ round trips */

/* The greatest difference, for f32 relative to the greatest channel of the pixel. */
static double distance(const imgpipe_image *a, const imgpipe_image *b) {
    double most = 0;
    size_t n = image_size(a) / imgpipe_sample_size(a->info.format.type);
    for (size_t i = 0; i < n; i++) {
        if (a->info.format.type == IMGPIPE_U8) {
            most = fmax(most, abs(((uint8_t *)a->pixels)[i] - ((uint8_t *)b->pixels)[i]));
        } else {
            const float *x = (float *)a->pixels + i / 3 * 3, *v = a->pixels, *w = b->pixels;
            most = fmax(most, fabs((double)v[i] - w[i]) / fmax(fmaxf(x[0], fmaxf(x[1], x[2])), 1e-30));
        }
    }
    return most;
}

static void compare_lossy(const char *kind, const imgpipe_image *a, const imgpipe_image *b) {
    /* A gray JPEG comes back as RGB from stb, and is smooth enough only where it has one value. */
    bool sizes = a->info.width == b->info.width && a->info.height == b->info.height && a->info.format.type == b->info.format.type;
    check(sizes, "%s: size or type differs after a round trip", kind);
    if (!sizes || a->info.format.channels != b->info.format.channels) return;
    double bound = a->info.format.type == IMGPIPE_F32 ? 1.0 / 127 : 120, d = distance(a, b);
    check(d <= bound, "%s: a round trip changes samples by %g", kind, d);
}

static void round_trip(const struct encoder *encoder, imgpipe_info info) {
    imgpipe_format f = encoder->accept(info.format);
    check(same_format(encoder->accept(f), f), "%s: what it accepts it does not accept", encoder->info.name);
    if (!same_format(f, info.format)) return;
    bool lossy = !strcmp(encoder->info.name, "jpeg") || !strcmp(encoder->info.name, "hdr");
    imgpipe_image image = random_image(info), back;
    imgpipe_error error = {0};
    imgpipe_status status = save(path, encoder, &image, &error);
    check(!status, "%s: %s", encoder->info.name, error.message);
    for (int piped = 0; piped < 2 && !status; piped++) {
        imgpipe_status got = piped ? load_piped(&back, &error) : load(path, &back, &error);
        check(!got, "%s %lldx%lld: %s", encoder->info.name, (long long)info.width, (long long)info.height, error.message);
        if (got) continue;
        if (lossy)
            compare_lossy(encoder->info.name, &image, &back);
        else
            check(same_image(&image, &back), "%s %lldx%lldx%d type %d%s: pixels differ", encoder->info.name, (long long)info.width,
                  (long long)info.height, f.channels, f.type, piped ? " piped" : "");
        free(back.pixels);
    }
    free(image.pixels);
}

static const char *const written[] = {"pnm", "pam", "pfm", "jpeg", "bmp", "tga", "hdr"};
enum { WRITTEN = sizeof written / sizeof written[0] };

static void test_round_trips(void) {
    static const int sizes[][2] = {{1, 1}, {7, 1}, {1, 9}, {13, 11}, {40, 30}, {129, 5}, {2, 200}};
    for (int k = 0; k < WRITTEN; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (int type = 0; type < 3; type++)
                for (int channels = 1; channels <= 4; channels++)
                    for (int alpha = 0; alpha <= (channels > 1); alpha++)
                        round_trip(encoder_find(written[k]),
                                   (imgpipe_info){sizes[i][0], sizes[i][1], {(imgpipe_type)type, channels, alpha != 0}});
    check(!encoder_find("jpeg")->size_fits(65536, 1) && encoder_find("jpeg")->size_fits(65500, 1), "the greatest width of a JPEG");
    check(!encoder_find("gif")->open && !encoder_find("psd")->open, "GIF and PSD are only read");
}

/* A PFM written to a pipe is the same as one written to a file. */
static void test_pfm_pipe(void) {
    imgpipe_image image = random_image((imgpipe_info){9, 21, {IMGPIPE_F32, 3, false}}), back;
    imgpipe_error error = {0};
    int ends[2], kept = dup(1);
    if (pipe(ends)) abort();
    dup2(ends[1], 1);
    close(ends[1]);
    imgpipe_status status = save("-", encoder_find("pfm"), &image, &error);
    dup2(kept, 1);
    close(kept);
    unsigned char data[8192];
    ssize_t n = read(ends[0], data, sizeof data);
    close(ends[0]);
    check(!status && n > 0, "PFM to a pipe: %s", error.message);
    write_file(data, n > 0 ? (size_t)n : 0);
    status = load(path, &back, &error);
    check(!status, "PFM to a pipe: %s", error.message);
    if (!status) check(same_image(&image, &back), "PFM to a pipe: pixels differ"), free(back.pixels);
    free(image.pixels);
}

/* ------------------------------------------------------------------------------------------ hand-written files */

/* Writes one file of 5 × 3 pixels with maxval m, and compares with the definition. kind '2', '3', '5', '6' or '7'. */
static void test_maxval(char kind, unsigned m) {
    static char text[65536];
    imgpipe_info info = {5,
                         3,
                         {m < 256 ? IMGPIPE_U8 : IMGPIPE_U16,
                          kind == '3' || kind == '6' ? 3
                          : kind == '7'              ? 2
                                                     : 1,
                          kind == '7'}};
    imgpipe_image want = new_image(info), got;
    imgpipe_error error;
    int last = 0;
    int n = kind == '7' ? sprintf(text, "P7\n# c\nWIDTH 5\nHEIGHT  3\nDEPTH 2\nMAXVAL %u\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n", m)
                        : sprintf(text, "P%c # comment\n5#c\n\t3\n# 7 7\n%u\n", kind, m);
    for (int i = 0; i < 15 * info.format.channels; i++) {
        unsigned v = i < 2 ? (i ? m : 0) : random_u32() % (m + 1);
        last = n;
        double scaled = floor(v * (m < 256 ? 255.0 : 65535.0) / m + 0.5);
        if (m < 256)
            ((uint8_t *)want.pixels)[i] = (uint8_t)scaled;
        else
            ((uint16_t *)want.pixels)[i] = (uint16_t)scaled;
        if (kind < '4')
            n += sprintf(text + n, i % 4 ? "%u " : "%u\n#x\n", v);
        else if (m > 255)
            text[n++] = (char)(v >> 8), text[n++] = (char)v;
        else
            text[n++] = (char)v;
    }
    write_file(text, (size_t)n);
    imgpipe_status status = load(path, &got, &error);
    check(!status, "P%c maxval %u: %s", kind, m, error.message);
    if (!status) check(same_image(&want, &got), "P%c maxval %u: pixels differ", kind, m), free(got.pixels);
    if (m != 255 && m != 65535) { /* The last sample becomes m + 1. */
        if (kind < '4') sprintf(text + last, "999999");
        if (kind >= '4') text[n - 1] = (char)(m + 1), text[n - 2] = m > 255 ? (char)((m + 1) >> 8) : text[n - 2];
        write_file(text, kind < '4' ? strlen(text) : (size_t)n);
        status = load(path, &got, &error);
        check(status == IMGPIPE_ERROR_INPUT && strstr(error.message, "above the maxval"), "P%c maxval %u + 1: %s", kind, m,
              error.message);
    }
    free(want.pixels);
}

static void test_bitmap(int width, bool plain) {
    char text[512];
    imgpipe_image want = new_image((imgpipe_info){width, 2, {IMGPIPE_U8, 1, false}}), got;
    imgpipe_error error;
    int n = sprintf(text, "P%c %d 2\n", plain ? '1' : '4', width), bit = 0;
    for (int i = 0; i < 2 * width; i++) {
        unsigned v = random_u32() & 1;
        ((uint8_t *)want.pixels)[i] = v ? 0 : 255;
        if (i % width == 0) bit = 8;
        if (!plain && bit == 8) text[n++] = 0, bit = 0;
        if (plain)
            n += sprintf(text + n, i % 3 ? "%u" : "%u ", v);
        else
            text[n - 1] = (char)(text[n - 1] | v << (7 - bit)), bit++;
    }
    write_file(text, (size_t)n);
    imgpipe_status status = load(path, &got, &error);
    check(!status, "bitmap of %d: %s", width, error.message);
    if (!status) check(same_image(&want, &got), "bitmap of %d: pixels differ", width), free(got.pixels);
    free(want.pixels);
}

static void one_line(const char *name, imgpipe_status status, const imgpipe_error *error) {
    check((status == IMGPIPE_ERROR_INPUT || status == IMGPIPE_ERROR_MEMORY) && error->message[0] && !strchr(error->message, '\n') &&
              strstr(error->message, path),
          "%s: status %d, message '%s'", name, status, error->message);
}

static void test_hand_written(const struct hand_written *f) {
    imgpipe_image image;
    imgpipe_error error;
    write_file(f->bytes, f->size);
    notices = 0;
    imgpipe_status status = load(path, &image, &error);
    if (!f->size_out) {
        one_line(f->name, status, &error);
        check(strstr(error.message, f->samples) != NULL, "'%s' does not speak of '%s'", error.message, f->samples);
    } else {
        check(!status, "%s: %s", f->name, error.message);
        check(notices == f->notices, "%s: %d notices", f->name, notices);
        if (!status) check(!memcmp(image.pixels, f->samples, f->size_out), "%s: pixels differ", f->name);
    }
    if (!status) free(image.pixels);
}

/* Every shorter file is refused, or had all pixels; no mutation brings down more than the call. */
static void test_damage(const char *name) {
    imgpipe_image whole, image;
    imgpipe_error error;
    struct bytes b = read_file();
    if (load(path, &whole, &error)) whole.pixels = NULL;
    for (size_t n = 1; n < b.size; n++) {
        write_file(b.data, n);
        imgpipe_status status = load(path, &image, &error);
        if (status)
            one_line(name, status, &error);
        else
            check(!whole.pixels || same_image(&whole, &image), "%s: cut to %zu of %zu bytes it is read as another image", name, n,
                  b.size);
        if (!status) free(image.pixels);
    }
    for (int round = 0; round < 300; round++) {
        unsigned char *mutated = malloc(b.size);
        memcpy(mutated, b.data, b.size);
        for (int i = 0; i <= round % 4; i++)
            mutated[random_u32() % (round % 2 && b.size > 60 ? 60 : b.size)] = (unsigned char)random_u32();
        write_file(mutated, b.size);
        free(mutated);
        imgpipe_status status = load(path, &image, &error);
        if (status)
            one_line(name, status, &error);
        else
            free(image.pixels);
    }
    free(whole.pixels);
    free(b.data);
}

static void test_damage_written(const char *kind) {
    imgpipe_format f = encoder_find(kind)->accept((imgpipe_format){IMGPIPE_U16, 3, false});
    imgpipe_image image = random_image((imgpipe_info){17, 9, f});
    imgpipe_error error;
    check(!save(path, encoder_find(kind), &image, &error), "%s: %s", kind, error.message);
    free(image.pixels);
    test_damage(kind);
}

int main(int argc, char **argv) {
    static const unsigned maxvals[] = {1, 2, 3, 7, 15, 100, 127, 254, 255, 256, 300, 1023, 4095, 32767, 65534, 65535};
    random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    snprintf(folder, sizeof folder, "%s/test_codecs.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    test_round_trips();
    test_pfm_pipe();
    for (size_t i = 0; i < sizeof maxvals / sizeof maxvals[0]; i++)
        for (const char *kind = "23567"; *kind; kind++) test_maxval(*kind, maxvals[i]);
    for (int width = 1; width < 34; width++) test_bitmap(width, true), test_bitmap(width, false);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        test_hand_written(&files[i]);
        write_file(files[i].bytes, files[i].size);
        test_damage(files[i].name);
    }
    for (int k = 0; k < WRITTEN; k++) test_damage_written(written[k]);
    unlink(path);
    rmdir(folder);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}

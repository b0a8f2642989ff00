/* PNG's chunks beside the pixels: what is read of them and written again, what is left out, and damage. */
#include "outfile.h"
#include "png_chunks.h"
#include "sink.h"
#include <math.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- all of them */

static void add_packed(struct file *f, const char *kind, const void *head, size_t head_size, const void *data, size_t size) {
    uLongf length = compressBound(size);
    unsigned char *bytes = malloc(head_size + length);
    memcpy(bytes, head, head_size);
    compress2(bytes + head_size, &length, data, size, 9);
    add_chunk(f, kind, bytes, head_size + length);
    free(bytes);
}

static unsigned char profile[3000];
/* The IPTC records "IPTC!" as a resource of Photoshop's behind another one, in hexadecimal digits of both cases. */
#define IPTC_TEXT "Raw profile type iptc\0\niptc\n      32\n3842494d040000000000000177003842494D\n04040000000000 05495054432100"
#define EXIF "II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"

static void add_everything(struct file *f, bool behind) {
    unsigned char colours[32] = {0};
    for (int i = 0; i < 8; i++) memcpy(colours + 4 * i + 2, (unsigned char[]){(unsigned char)(0x7a + i), 0x26}, 2);
    memcpy(profile + 16, "GRAY", 4);
    memcpy(profile + 36, "acsp", 4);
    for (int i = 132; i < 3000; i++) profile[i] = (unsigned char)(i * i >> 3);
    if (!behind) {
        add_packed(f, "iCCP", "any name\0", 10, profile, sizeof profile);
        add_chunk(f, "gAMA", "\0\0\xb1\x8f", 4);
        add_chunk(f, "cHRM", colours, 32);
        add_chunk(f, "sBIT", "\5", 1);
        add_chunk(f, "bKGD", "\0\7", 2);
        add_chunk(f, "hIST", "\0\7", 2);
        add_chunk(f, "pHYs", "\0\0\x0b\x13\0\0\x0b\x12\1", 9);
    }
    add_chunk(f, "eXIf", EXIF, sizeof EXIF - 1);
    add_chunk(f, "tEXt", "Title\0gr\xfc\xdf\x65", 11);
    add_packed(f, "zTXt", "Comment\0", 9, "packed text", 11);
    add_chunk(f, "iTXt", "Author\0\0\0de\0\0\xe2\x82\xac", 16);
    add_packed(f, "iTXt", "Author\0\1\0\0", 11, "x", 1);
    add_chunk(f, "iTXt", "XML:com.adobe.xmp\0\0\0\0\0<xmp/>", 28);
    add_chunk(f, "tEXt", IPTC_TEXT, sizeof IPTC_TEXT - 1);
    add_chunk(f, "tIME", "\7\xd0\1\1\0\0\0", 7);
}

static void check_texts(const struct metadata *m, const char *of) {
    static const char *const want[][3] = {{"Title",
                                           "gr\xc3\xbc\xc3\x9f"
                                           "e",
                                           ""},
                                          {"Comment", "packed text", ""},
                                          {"Author", "\xe2\x82\xac", "de"},
                                          {"Author", "x", ""}};
    const struct metadata_text *text = m->texts;
    for (int i = 0; i < 4; i++, text = text ? text->next : NULL) {
        bool same = text && strcmp(text->key, want[i][0]) == 0 && strcmp(text->value, want[i][1]) == 0;
        check(same && strcmp(text->language, want[i][2]) == 0, of, "a text differs");
    }
    check(text == NULL, of, "a text too many");
    check(m->iptc.size == 5 && memcmp(m->iptc.bytes, "IPTC!", 5) == 0, of, "IPTC");
    check(m->xmp.size == 6 && memcmp(m->xmp.bytes, "<xmp/>", 6) == 0, of, "XMP");
    check(m->exif.size == sizeof EXIF - 1 && memcmp(m->exif.bytes, EXIF, sizeof EXIF - 1) == 0 && m->orientation == 6, of, "EXIF");
}

static void check_everything(const struct metadata *m, const char *of) {
    check(m->icc.size == sizeof profile && memcmp(m->icc.bytes, profile, sizeof profile) == 0, of, "ICC profile");
    check(fabs(m->gamma - 0.45455) < 1e-9, of, "gamma");
    check(fabs(m->chromaticities[0] - 0.31270) < 1e-9 && fabs(m->chromaticities[7] - 0.33062) < 1e-9, of, "chromaticities");
    check(m->x_per_metre == 2835 && m->y_per_metre == 2834 && m->x_aspect == 0 && m->srgb_intent == -1, of, "resolution");
    check_texts(m, of);
}

/* Writes an image with these metadata and opens it again. */
static struct source *write_and_open(const struct metadata *metadata, struct file *back, imgpipe_error *error) {
    char path[] = "/tmp/test-png-metadata-XXXXXX";
    struct outfile *out;
    struct sink *sink;
    struct source *source = NULL;
    struct sink_options options = {.log = &test_log, .level = 4, .metadata = metadata};
    struct sink_piece piece = {.count = 1, .rows = profile, .stride = WIDTH};
    close(mkstemp(path));
    check(outfile_open(path, false, &out, error) == IMGPIPE_OK, path, error->message);
    imgpipe_info info = {WIDTH, 1, {IMGPIPE_U8, 1, false}};
    check(encoder_find("png")->open(out, &info, &options, &sink, error) == IMGPIPE_OK, path, error->message);
    check(sink->ops->encode(sink, &piece, error) == IMGPIPE_OK, path, error->message);
    check(sink->ops->commit(sink, &piece, error) == IMGPIPE_OK && sink->ops->finish(sink, error) == IMGPIPE_OK, path,
          error->message);
    sink_close(sink);
    check(outfile_commit(out, error) == IMGPIPE_OK, path, error->message);
    FILE *file = fopen(path, "rb");
    back->bytes = malloc(100000);
    back->size = fread(back->bytes, 1, 100000, file);
    fclose(file);
    unlink(path);
    check(open_bytes(back, true, false, &source, error) == IMGPIPE_OK && warnings == 0, path, "cannot be read again");
    return source;
}

static void test_everything(void) {
    imgpipe_error error = {0};
    struct file f, back;
    struct source *source;
    unsigned char pixels[HEIGHT][WIDTH];
    begin(&f, false);
    add_everything(&f, false);
    add_pixels(&f, false, 1000);
    end(&f);
    for (int seeks = 0; seeks < 2; seeks++) {
        if (!check(open_bytes(&f, seeks, false, &source, &error) == IMGPIPE_OK, "everything", error.message)) return;
        check_everything(&source->metadata, "read");
        struct source *again = write_and_open(&source->metadata, &back, &error);
        check_everything(&again->metadata, "written");
        check(!memmem(back.bytes, back.size, "sBIT", 4) && !memmem(back.bytes, back.size, "tIME", 4), "written", "sBIT or tIME");
        source_close(again);
        free(back.bytes);
        check(read_all(source, pixels, &error) == IMGPIPE_OK && warnings == 0 && notices == 0, "everything", error.message);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            check(pixels[i / WIDTH][i % WIDTH] == sample(i % WIDTH, i / WIDTH), "everything", "a pixel");
        source_close(source);
    }
    free(f.bytes);
}

/* From a file they are found; from a pipe a notice says that they are lost. */
static void test_behind(void) {
    imgpipe_error error = {0};
    struct source *source;
    unsigned char pixels[HEIGHT][WIDTH];
    for (int interlaced = 0; interlaced < 2; interlaced++)
        for (int seeks = 0; seeks < 2; seeks++) {
            struct file f;
            begin(&f, interlaced);
            add_pixels(&f, interlaced, 20);
            add_everything(&f, true);
            end(&f);
            if (!check(open_bytes(&f, seeks, false, &source, &error) == IMGPIPE_OK, "behind", error.message)) return;
            if (seeks) check_texts(&source->metadata, "behind");
            check(read_all(source, pixels, &error) == IMGPIPE_OK && warnings == 0 && notices == !seeks, "behind", "notices");
            check(pixels[HEIGHT - 1][WIDTH - 1] == sample(WIDTH - 1, HEIGHT - 1), "behind", "a pixel");
            source_close(source);
            free(f.bytes);
        }
}

/* ------------------------------------------------------------------------------------------------------- damage */

static void test_damaged(void) {
    static const struct {
        const char *kind, *data;
        size_t size;
        int warnings;
    } cases[] = {
/* clang-format off */
#define CASE(kind, data, warnings) {kind, data, sizeof data - 1, warnings}
        CASE("iCCP", "", 0), CASE("iCCP", "name", 1), CASE("iCCP", "name\0\1x", 1), CASE("iCCP", "name\0\0xyz", 1),
        CASE("iCCP", "name\0", 1), CASE("iCCP", "name\0\0\x78\x9c\x03\0\0\0\0\1", 1), CASE("gAMA", "\0\0\0\0", 1),
        CASE("gAMA", "\0\0\0", 1), CASE("sRGB", "\4", 1), CASE("pHYs", "\0\0\0\1\0\0\0\1\2", 1), CASE("cHRM", "\1", 1),
        CASE("eXIf", "II*", 1), CASE("eXIf", "Exif\0\0II*\0\10\0\0\0", 0), CASE("eXIf", "XX*\0\10\0\0\0", 1),
        CASE("tEXt", "no zero", 1), CASE("tEXt", "\0no keyword", 1), CASE("zTXt", "key\0\0bad", 1),
        CASE("zTXt", "key\0\1\x78", 1), CASE("zTXt", "key\0", 1), CASE("iTXt", "key\0", 1), CASE("iTXt", "key\0\2\0\0\0x", 1),
        CASE("iTXt", "key\0\1\1\0\0x", 1), CASE("iTXt", "key\0\1\0\0\0x", 1), CASE("iTXt", "key\0\0\0en", 1),
        CASE("iTXt", "key\0\0\0\0\0\xff\xfe", 0),
        CASE("tEXt", "1234567890123456789012345678901234567890123456789012345678901234567890123456789\0a", 0),
        CASE("tEXt", "12345678901234567890123456789012345678901234567890123456789012345678901234567890\0a", 1),
        CASE("tEXt", "key\0a\0b", 0), CASE("cICP", "\1\1\0\1", 0),
    };
    /* clang-format on */
    imgpipe_error error = {0};
    unsigned char pixels[HEIGHT][WIDTH];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int behind = 0; behind < 2; behind++) {
            struct file f;
            struct source *source;
            const char *of = cases[i].kind;
            begin(&f, false);
            if (behind) add_pixels(&f, false, 1000);
            add_chunk(&f, cases[i].kind, cases[i].data, cases[i].size);
            if (!behind) add_pixels(&f, false, 1000);
            end(&f);
            if (check(open_bytes(&f, true, false, &source, &error) == IMGPIPE_OK, of, error.message)) {
                const struct metadata *m = &source->metadata;
                check(read_all(source, pixels, &error) == IMGPIPE_OK && warnings == cases[i].warnings, of, "warnings");
                bool kept = m->icc.bytes || m->exif.bytes || m->texts || m->gamma != 0 || m->srgb_intent >= 0;
                check(!warnings || !kept, of, "was kept");
                source_close(source);
            }
            free(f.bytes);
        }
}

/* What is not what it says stays a text; the records may also stand there without Photoshop's wrapping. */
static void test_iptc(void) {
    static const struct {
        const char *value;
        size_t size;
    } cases[] = {
        {"\niptc\n 3\n1c0203", 3},
        {"iptc\n3\n1C 02\n03\n", 3},
        {"\niptc\n 4\n1c0203", 0},
        {"\niptc\n 3\n1c020", 0},
        {"\niptc\n 3\n1c02xx", 0},
        {"\niptc\n 3\n1d0203", 0},
        {"\niptc\n\n", 0},
        {"", 0},
        {"\niptc\n 0\n", 0},
        {"\niptc\n-1\n1c", 0},
        {"no line", 0},
        {"\niptc\n 14\n3842494d04040000000000091c02", 0},
        {"\niptc\n 12\n3842494d04040000000000ff", 0},
        {"\niptc\n 12\n3842494d0404ff0000000000", 0},
    };
    imgpipe_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char chunk[200] = "Raw profile type iptc";
        struct file f;
        struct source *source;
        begin(&f, false);
        strcpy(chunk + 22, cases[i].value);
        add_chunk(&f, "tEXt", chunk, 22 + strlen(cases[i].value));
        add_pixels(&f, false, 1000);
        end(&f);
        if (!check(open_bytes(&f, true, false, &source, &error) == IMGPIPE_OK, cases[i].value, error.message)) return;
        const struct metadata *m = &source->metadata;
        check(m->iptc.size == cases[i].size && !m->iptc.bytes == !cases[i].size, cases[i].value, "IPTC");
        check(cases[i].size ? !m->texts : m->texts && strcmp(m->texts->value, cases[i].value) == 0, cases[i].value, "the text");
        source_close(source);
        free(f.bytes);
    }
}

/* Wrong CRCs: the chunks are dropped, with one warning for all. */
static void test_checksums(void) {
    imgpipe_error error = {0};
    unsigned char pixels[HEIGHT][WIDTH];
    struct file f;
    struct source *source;
    begin(&f, false);
    add_chunk(&f, "gAMA", "\0\0\xb1\x8f", 4);
    f.bytes[f.size - 1] ^= 1;
    add_chunk(&f, "tEXt", "key\0value", 9);
    f.bytes[f.size - 4] ^= 1;
    add_chunk(&f, "eXIf", EXIF, sizeof EXIF - 1);
    f.bytes[f.size - 5] ^= 1;
    add_pixels(&f, false, 1000);
    end(&f);
    check(open_bytes(&f, true, false, &source, &error) == IMGPIPE_OK, "CRC", error.message);
    const struct metadata *m = &source->metadata;
    check(m->gamma == 0 && !m->texts && !m->exif.bytes, "CRC", "a damaged chunk was taken");
    check(read_all(source, pixels, &error) == IMGPIPE_OK && warnings == 1, "CRC", "not one warning");
    source_close(source);
    free(f.bytes);
}

/* Texts without number, and a profile that inflates without end, must not take all memory. */
static void test_bombs(void) {
    imgpipe_error error = {0};
    struct file f;
    struct source *source;
    unsigned char *zeros = calloc(1, 40 << 20);
    begin(&f, false);
    add_packed(&f, "iCCP", "name\0", 6, zeros, 40 << 20);
    for (int i = 0; i < 3000; i++) add_chunk(&f, "tEXt", "key\0value", 9);
    memset(zeros, 'a', 40 << 20);
    for (int i = 0; i < 5; i++) add_packed(&f, "zTXt", "key\0", 5, zeros, 30 << 20);
    add_pixels(&f, false, 1000);
    check(open_bytes(&f, true, false, &source, &error) == IMGPIPE_OK && warnings == 1, "bombs", "not one warning");
    size_t bytes = 0, texts = 0;
    for (const struct metadata_text *t = source->metadata.texts; t; t = t->next, texts++) bytes += strlen(t->value);
    check(!source->metadata.icc.bytes && texts == 1000 && bytes < 70 << 20, "bombs", "too much was kept");
    source_close(source);
    free(f.bytes);
    free(zeros);
}

int main(void) {
    test_everything();
    test_behind();
    test_damaged();
    test_iptc();
    test_checksums();
    test_bombs();
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}

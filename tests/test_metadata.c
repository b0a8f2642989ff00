/* What is carried beside the pixels: EXIF and XMP as bytes, the rules, and pixels turned by the orientation. PNG's chunks are in
 * test_png_metadata.c. */
#include "metadata_carry.h"
#include "orient.h"
#include "stage.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks, notices;

static bool check(bool right, const char *of, const char *what) {
    checks++;
    if (right) return true;
    failures++;
    printf("FAIL  %s: %s\n", of, what);
    return false;
}

static void count(void *user, imgpipe_log_level level, const char *message) {
    (void)user;
    notices += level == IMGPIPE_LOG_NOTICE && message[0];
}
static const struct log test_log = {.call = count};

/* ------------------------------------------------------------------------------------------------------- EXIF */

struct bytes {
    unsigned char at[2000];
    size_t size;
    bool big;
};

static void put(struct bytes *b, int size, uint32_t value) {
    for (int i = 0; i < size; i++) b->at[b->size++] = (unsigned char)(value >> 8 * (b->big ? size - 1 - i : i));
}

static void put_entry(struct bytes *b, uint32_t tag, uint32_t type, uint32_t items, uint32_t value) {
    put(b, 2, tag);
    put(b, 2, type);
    put(b, 4, items);
    put(b, type == 3 ? 2 : 4, value);
    if (type == 3) put(b, 2, 0);
}

/* Orientation (0: none), 300 x 200 a inch, a preview of 10 bytes in a second directory. */
static struct bytes make_exif(bool big, int orientation) {
    struct bytes b = {.big = big};
    uint32_t entries = orientation ? 5 : 4, values = 8 + 2 + 12 * entries + 4;
    memcpy(b.at, big ? "MM\0*" : "II*\0", 4);
    b.size = 4;
    put(&b, 4, 8);
    put(&b, 2, entries);
    put_entry(&b, 0x10f, 2, 4, big ? 0x41626300 : 0x00636241);
    if (orientation) put_entry(&b, 0x112, 3, 1, (uint32_t)orientation);
    put_entry(&b, 0x11a, 5, 1, values);
    put_entry(&b, 0x11b, 5, 1, values + 8);
    put_entry(&b, 0x128, 3, 1, 2);
    put(&b, 4, values + 16);
    for (int i = 0; i < 2; i++) {
        put(&b, 4, i ? 200 : 300);
        put(&b, 4, 1);
    }
    put(&b, 2, 2);
    put_entry(&b, 0x201, 4, 1, values + 16 + 30);
    put_entry(&b, 0x202, 4, 1, 10);
    put(&b, 4, 0);
    memcpy(b.at + b.size, "\xff\xd8preview.", 10);
    b.size += 10;
    return b;
}

static struct metadata with_exif(const struct bytes *b) {
    struct metadata m;
    metadata_init(&m);
    check(metadata_set(&m.exif, b->at, b->size), "EXIF", "no memory");
    return m;
}

static bool is_near(double a, double b) {
    return fabs(a - b) < 1e-6 * fabs(b);
}

static void test_exif(void) {
    for (int big = 0; big < 2; big++)
        for (int orientation = 0; orientation <= 8; orientation++) {
            struct bytes b = make_exif(big, orientation);
            struct metadata m = with_exif(&b);
            metadata_read_exif(&m);
            check(m.orientation == orientation, "EXIF", "orientation is not what was written");
            check(is_near(m.x_per_metre, 300 / 0.0254) && is_near(m.y_per_metre, 200 / 0.0254), "EXIF", "resolution");
            m.orientation = 7;
            if (!orientation) check(metadata_add_orientation(&m) && m.exif.size > b.size, "EXIF", "no tag was added");
            metadata_set_orientation(&m, 3);
            metadata_swap_sides(&m);
            metadata_drop_preview(&m);
            check(!memmem(m.exif.bytes, m.exif.size, "\xff\xd8preview.", 10), "EXIF", "the preview is still there");
            if (orientation) check(m.exif.size == b.size - 10, "EXIF", "the preview still takes room");
            m.orientation = 0;
            m.x_per_metre = m.y_per_metre = 0;
            metadata_read_exif(&m);
            check(m.orientation == 3, "EXIF", "orientation is not what was set");
            check(is_near(m.x_per_metre, 200 / 0.0254) && is_near(m.y_per_metre, 300 / 0.0254), "EXIF",
                  "resolutions not exchanged");
            check(memmem(m.exif.bytes, m.exif.size, "Abc", 3) != NULL, "EXIF", "another tag was lost");
            metadata_free(&m);
        }
    struct metadata m;
    metadata_init(&m);
    m.orientation = 6;
    check(metadata_add_orientation(&m), "EXIF", "no memory");
    m.orientation = 0;
    metadata_read_exif(&m);
    check(m.orientation == 6, "EXIF", "a block made for the orientation does not hold it");
    metadata_free(&m);
}

static void use_exif(const unsigned char *bytes, size_t size) {
    struct metadata m;
    metadata_init(&m);
    metadata_set(&m.exif, bytes, size);
    metadata_read_exif(&m);
    check(m.orientation >= 0 && m.orientation <= 8, "damaged EXIF", "orientation");
    m.orientation = 5;
    metadata_add_orientation(&m);
    metadata_set_orientation(&m, 1);
    metadata_swap_sides(&m);
    metadata_drop_preview(&m);
    check(m.exif.size <= size + 2 + 12 * 65536 + 8, "damaged EXIF", "grows without end");
    metadata_free(&m);
}

/* Every cut and every byte changed; sanitizers see what reaches outside. */
static void test_damaged_exif(void) {
    for (int big = 0; big < 2; big++)
        for (int orientation = 0; orientation < 2; orientation++) {
            struct bytes b = make_exif(big, orientation);
            for (size_t size = 0; size <= b.size; size++) use_exif(b.at, size);
            for (size_t i = 0; i < b.size; i++) {
                static const unsigned char values[] = {0, 1, 8, 0x7f, 0x80, 0xfe, 0xff};
                unsigned char kept = b.at[i];
                for (size_t v = 0; v < sizeof values; v++) {
                    b.at[i] = values[v];
                    use_exif(b.at, b.size);
                }
                b.at[i] = kept;
            }
            uint64_t seed = 7;
            for (int round = 0; round < 20000; round++) {
                struct bytes wild = b;
                for (int i = 0; i < 4; i++) {
                    seed = seed * 6364136223846793005u + 1442695040888963407u;
                    wild.at[4 + (seed >> 33) % (b.size - 4)] = (unsigned char)(seed >> 56);
                }
                use_exif(wild.at, wild.size);
            }
        }
}

static void test_xmp(void) {
    static const char packet[] =
        "<x tiff:Orientation=\"6\"><tiff:Orientation>8</tiff:Orientation><xmp:Thumbnails>old</xmp:Thumbnails>"
        "tiff:Orientation='12' tiff:Orientation";
    static const char want[] =
        "<x tiff:Orientation=\"1\"><tiff:Orientation>1</tiff:Orientation>tiff:Orientation='12' tiff:Orientation";
    struct metadata m;
    metadata_init(&m);
    metadata_set(&m.xmp, packet, sizeof packet - 1);
    metadata_set_orientation(&m, 1);
    metadata_drop_preview(&m);
    check(m.xmp.size == sizeof want - 1 && memcmp(m.xmp.bytes, want, sizeof want - 1) == 0, "XMP", "orientation or preview");
    metadata_free(&m);
}

/* ------------------------------------------------------------------------------------------------------- rules */

#define ALL 255u
#define PNG_KINDS (METADATA_ICC | METADATA_EXIF | METADATA_XMP | METADATA_RESOLUTION | METADATA_GAMMA | METADATA_TEXT)

static void fill(struct metadata *m, const char *space, int orientation) {
    unsigned char profile[200] = {0};
    struct bytes exif = make_exif(true, orientation);
    metadata_init(m);
    memcpy(profile + 16, space, 4);
    memcpy(profile + 36, "acsp", 4);
    metadata_set(&m->icc, profile, sizeof profile);
    metadata_set(&m->exif, exif.at, exif.size);
    metadata_set(&m->xmp, "<xmp/>", 6);
    metadata_set(&m->iptc, "iptc", 4);
    metadata_add_text(m, "Title", "text", NULL);
    m->orientation = orientation;
    m->x_per_metre = 1000;
    m->y_per_metre = 2000;
    m->gamma = 0.5;
    m->chromaticities[0] = 0.3;
    m->srgb_intent = 1;
    for (int i = 0; i < 3; i++) {
        struct metadata_tag *tag = calloc(1, sizeof *tag);
        tag->values = calloc(1, 4);
        tag->size_bound = i == 1;
        tag->next = m->tags;
        m->tags = tag;
    }
}

static unsigned kinds_of(const struct metadata *m) {
    int tags = 0;
    for (const struct metadata_tag *t = m->tags; t; t = t->next) tags++;
    return (m->icc.bytes ? METADATA_ICC : 0u) | (m->exif.bytes ? METADATA_EXIF : 0u) | (m->xmp.bytes ? METADATA_XMP : 0u) |
           (m->iptc.bytes ? METADATA_IPTC : 0u) | (m->x_per_metre > 0 ? METADATA_RESOLUTION : 0u) |
           (m->gamma > 0 || m->srgb_intent >= 0 || m->chromaticities[0] > 0 ? METADATA_GAMMA : 0u) |
           (m->texts ? METADATA_TEXT : 0u) |
           (tags == 3   ? METADATA_TAGS
            : tags == 2 ? 1024u
                        : 0u);
}

static void test_rules(void) {
    static const struct {
        const char *what, *space;
        unsigned carries, want;
        int channels, strip, orientation, notices;
        bool chart, changed, turned;
        int want_orientation;
    } cases[] = {
        {"everything to a kind that holds it", "RGB ", ALL, ALL, 3, 0, 6, 0, false, false, false, 6},
        {"PNG", "RGB ", PNG_KINDS, PNG_KINDS, 3, 0, 1, 1, false, true, false, 1},
        {"nothing to a kind that holds nothing", "RGB ", 0, 0, 3, 0, 6, 1, false, true, true, 0},
        {"RGB profile to gray", "RGB ", ALL, ALL - METADATA_ICC, 1, 0, 0, 1, false, true, false, 0},
        {"RGB profile to gray with alpha", "RGB ", ALL, ALL - METADATA_ICC, -2, 0, 0, 1, false, true, false, 0},
        {"RGB profile with alpha", "RGB ", ALL, ALL, -4, 0, 0, 0, false, true, false, 0},
        {"gray profile to gray", "GRAY", ALL, ALL, 1, 0, 0, 0, false, true, false, 0},
        {"gray profile to RGB", "GRAY", ALL, ALL - METADATA_ICC, 3, 0, 0, 1, false, true, false, 0},
        {"CMYK profile", "CMYK", ALL, ALL - METADATA_ICC, 3, 0, 0, 1, false, true, false, 0},
        {"--strip", "RGB ", ALL, METADATA_ICC, 3, 1, 6, 0, false, true, true, 0},
        {"--strip after gray", "RGB ", ALL, 0, 1, 1, 0, 1, false, true, false, 0},
        {"--strip=all", "RGB ", ALL, 0, 3, 2, 6, 0, false, true, true, 0},
        {"a chart", "RGB ", ALL, 0, 3, 0, 6, 0, true, true, false, 0},
        {"turned", "RGB ", ALL, ALL - METADATA_TAGS + 1024, 3, 0, 6, 1, false, true, true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metadata m;
        imgpipe_format format = {IMGPIPE_U8, abs(cases[i].channels), cases[i].channels < 0};
        struct carry carry = {.in = {4, 4, {IMGPIPE_U8, 3, false}},
                              .out = {4, 4, format},
                              .changed = cases[i].changed,
                              .chart = cases[i].chart,
                              .turned = cases[i].turned,
                              .strip = cases[i].strip,
                              .carries = cases[i].carries,
                              .kind = "kind",
                              .log = &test_log};
        fill(&m, cases[i].space, cases[i].orientation);
        notices = 0;
        check(metadata_carry(&m, &carry), cases[i].what, "no memory");
        check(kinds_of(&m) == cases[i].want, cases[i].what, "not what should be carried");
        check(notices == cases[i].notices, cases[i].what, "not so many notices");
        check(m.orientation == cases[i].want_orientation, cases[i].what, "orientation");
        bool preview = m.exif.bytes && memmem(m.exif.bytes, m.exif.size, "preview", 7);
        check(preview == (m.exif.bytes && !cases[i].changed), cases[i].what,
              "the preview of changed pixels was kept, or that of the same lost");
        if (m.exif.bytes) {
            m.orientation = 0;
            metadata_read_exif(&m);
            check(m.orientation == cases[i].want_orientation, cases[i].what, "orientation in EXIF");
            check(cases[i].turned == (m.x_per_metre > m.y_per_metre), cases[i].what, "resolutions turned");
        }
        metadata_free(&m);
    }
    struct metadata m = {.orientation = 6};
    check(carry_must_turn(&m, 0, 0, false) && carry_must_turn(&m, ALL, 0, true) && carry_must_turn(&m, ALL, 1, false), "turn",
          "is not");
    check(!carry_must_turn(&m, ALL, 0, false), "turn", "though the tag is carried");
    m.orientation = 1;
    check(!carry_must_turn(&m, 0, 2, true), "turn", "what is upright");
}

/* ----------------------------------------------------------------------------------------------- orientation */

/* Mirrors columns and rows, then exchanges both: each orientation is some of these three. */
static void turn_plainly(const unsigned char *in, int64_t width, int64_t height, size_t size, int orientation, unsigned char *out) {
    static const struct {
        bool mirror_columns, mirror_rows, transpose;
    } parts[] = {{0}, {0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 0, 1}};
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            int64_t tx = parts[orientation].mirror_columns ? width - 1 - x : x,
                    ty = parts[orientation].mirror_rows ? height - 1 - y : y;
            int64_t at = parts[orientation].transpose ? tx * height + ty : ty * width + tx;
            memcpy(out + (size_t)at * size, in + (size_t)(y * width + x) * size, size);
        }
}

static void test_orient(void) {
    static const int64_t sizes[][2] = {{1, 1}, {1, 9}, {70, 1}, {3, 2}, {33, 65}, {100, 40}};
    unsigned char *in = malloc(200000), *out = malloc(200000), *want = malloc(200000);
    for (int i = 0; i < 200000; i++) in[i] = (unsigned char)(i * 7919 >> 5);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int type = 0; type < 3; type++)
            for (int channels = 1; channels <= 4; channels++)
                for (int orientation = 1; orientation <= 8; orientation++) {
                    imgpipe_info info = {sizes[s][0], sizes[s][1], {(imgpipe_type)type, channels, false}};
                    struct orient_options options = {orientation};
                    imgpipe_stage stage;
                    size_t size = imgpipe_pixel_size(info.format);
                    check(stage_init(&stage, &filter_orient, &options, 0, info, NULL, NULL, -1, NULL, NULL) == IMGPIPE_OK, "orient",
                          "setup");
                    bool swaps = orientation >= 5;
                    check(stage.out.width == sizes[s][swaps] && stage.out.height == sizes[s][!swaps], "orient", "size");
                    imgpipe_image from = {info, in, (ptrdiff_t)((size_t)info.width * size)};
                    imgpipe_image to = {stage.out, out, (ptrdiff_t)((size_t)stage.out.width * size)};
                    check(filter_orient.render(&stage, &from, &to, NULL) == IMGPIPE_OK, "orient", "render");
                    turn_plainly(in, info.width, info.height, size, orientation, want);
                    check(memcmp(out, want, (size_t)(info.width * info.height) * size) == 0, "orient", "pixels");
                    check(stage.identity == (orientation == 1), "orient", "identity");
                    stage_free(&stage);
                }
    free(in);
    free(out);
    free(want);
}

int main(void) {
    test_exif();
    test_damaged_exif();
    test_xmp();
    test_rules();
    test_orient();
    printf("%d checks, %d failures\n", checks, failures);
    return failures || !checks;
}

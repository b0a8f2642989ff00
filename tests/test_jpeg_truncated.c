/* JPEG files cut at every byte: what is refused, and what is shown of them where that is allowed, compared with what libjpeg makes
 * of the whole file and of the part. */
#include "jpeg_files.h"
#include <setjmp.h>

static void ignore_message(j_common_ptr cinfo, int level) {
    (void)cinfo, (void)level;
}

static jmp_buf gave_up;
static void give_up(j_common_ptr cinfo) {
    (void)cinfo;
    longjmp(gave_up, 1);
}

/* By the formula of the documentation. */
static void convert_cmyk(imgpipe_image *image) {
    unsigned char *to = image->pixels;
    int64_t pixels = image->info.width * image->info.height;
    for (unsigned char *from = to; pixels > 0; pixels--, from += 4)
        for (int k = 0; k < 3; k++) *to++ = (unsigned char)(from[k] * from[3] / 255.0 + 0.5);
    image->info.format.channels = 3;
    image->stride = 3 * image->info.width;
}

/* libjpeg's samples as djpeg sees them or, to see where the data end, as they are stored and without smoothing. False if libjpeg
 * gives up, as it does between two scans. */
static bool read_libjpeg(const struct bytes *file, bool stored, imgpipe_image *image) {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    c.err = jpeg_std_error(&errors);
    errors.emit_message = ignore_message;
    errors.error_exit = give_up;
    *image = (imgpipe_image){0};
    jpeg_create_decompress(&c);
    if (setjmp(gave_up)) {
        jpeg_destroy_decompress(&c);
        return false;
    }
    jpeg_mem_src(&c, file->data, file->size);
    jpeg_read_header(&c, TRUE);
    if (stored) c.out_color_space = c.jpeg_color_space, c.do_fancy_upsampling = c.do_block_smoothing = FALSE;
    jpeg_start_decompress(&c);
    image->info = (imgpipe_info){c.output_width, c.output_height, {IMGPIPE_U8, c.output_components, false}};
    image->stride = (ptrdiff_t)c.output_width * c.output_components;
    image->pixels = malloc((size_t)image->stride * c.output_height);
    while (c.output_scanline < c.output_height) {
        JSAMPROW row = (unsigned char *)image->pixels + (ptrdiff_t)c.output_scanline * image->stride;
        jpeg_read_scanlines(&c, &row, 1);
    }
    jpeg_finish_decompress(&c);
    jpeg_destroy_decompress(&c);
    if (!stored && image->info.format.channels == 4) convert_cmyk(image);
    return true;
}

struct layout {
    int width, height, across, mcu_width, mcu_height, all;
    int right, down; /* how far smooth upsampling looks */
};

static struct layout layout_of(const struct recipe *r) {
    bool single = r->channels == 1;
    struct layout l = {
        .width = r->width, .height = r->height, .mcu_width = single ? 8 : 8 * r->x, .mcu_height = single ? 8 : 8 * r->y};
    bool colour = r->channels > 1, wide = r->x == 2 && (r->width + 1) / 2 > 2 && r->y <= 2;
    l.right = colour && wide;
    l.down = colour && r->y == 2 && (wide || r->x == 1);
    l.across = (l.width + l.mcu_width - 1) / l.mcu_width;
    l.all = (l.height + l.mcu_height - 1) / l.mcu_height * l.across;
    return l;
}

/* Behind the last MCU that is not gray, all samples of which are in the middle: libjpeg had data for it, or for its beginning. */
static int reached(const struct layout *l, const imgpipe_image *stored) {
    int last = -1;
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++) {
            int mcu = y / l->mcu_height * l->across + x / l->mcu_width;
            for (int k = 0; k < stored->info.format.channels && mcu > last; k++)
                if (((unsigned char *)stored->pixels)[y * stored->stride + x * stored->info.format.channels + k] != 128) last = mcu;
        }
    return last + 1;
}

/* Whether `part` has the pixels of `right` that are made of the first `mcus` MCUs alone, and 0 elsewhere. */
static bool shows(const struct layout *l, const imgpipe_image *right, const imgpipe_image *part, int mcus) {
    size_t pixel = (size_t)part->info.format.channels;
    static const unsigned char zero[4];
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++) {
            int below = y + l->down < l->height ? y + l->down : l->height - 1,
                beside = x + l->right < l->width ? x + l->right : l->width - 1;
            bool there = below / l->mcu_height * l->across + beside / l->mcu_width < mcus;
            ptrdiff_t at = y * part->stride + x * (ptrdiff_t)pixel;
            if (memcmp((unsigned char *)part->pixels + at, there ? (unsigned char *)right->pixels + at : zero, pixel) != 0)
                return false;
        }
    return true;
}

struct cutting {
    const struct recipe *recipe;
    struct layout layout;
    struct bytes file;
    imgpipe_image whole;
    size_t data; /* where they begin */
    int before;  /* MCUs that the last cut had */
    imgpipe_image stored;
    int right, cuts; /* how often the first MCU that is not shown is right all the same, as what it lacks are zeros */
};

/* The first or only scan has all components, so that the MCUs of the first scan are there, and no others. */
static bool is_counted(const struct recipe *r) {
    return !r->separate && !r->arithmetic;
}

static bool same_mcu(const struct layout *l, const imgpipe_image *a, const imgpipe_image *b, int mcu) {
    int left = mcu % l->across * l->mcu_width, top = mcu / l->across * l->mcu_height, pixel = a->info.format.channels;
    int width = left + l->mcu_width < l->width ? l->mcu_width : l->width - left;
    for (int y = top; y < top + l->mcu_height && y < l->height; y++) {
        ptrdiff_t at = y * a->stride + left * pixel;
        if (memcmp((unsigned char *)a->pixels + at, (unsigned char *)b->pixels + at, (size_t)(width * pixel)) != 0) return false;
    }
    return true;
}

/* What is shown of a file of Huffman codes: the MCUs that are there to the last bit, in one of several scans as libjpeg shows them.
 * The MCU in which the data end has left a trace too. */
static void check_shown(struct cutting *c, const struct bytes *part, const imgpipe_image *shown) {
    imgpipe_image stored, theirs = {0};
    const char *name = c->recipe->name;
    bool several = c->recipe->progressive;
    if (!read_libjpeg(part, true, &stored) || (several && !read_libjpeg(part, false, &theirs))) return free(stored.pixels);
    const imgpipe_image *right = several ? &theirs : &c->whole;
    int mcus = reached(&c->layout, &stored);
    if (!shows(&c->layout, right, shown, mcus)) mcus--;
    check(shows(&c->layout, right, shown, mcus) && mcus >= c->before, "%s, %zu bytes: not the MCUs before %d of %d", name,
          part->size, mcus + 1, c->layout.all);
    bool said = strstr(last_message, "rows are whole") != NULL;
    check(said == (mcus < c->layout.all), "%s, %zu bytes: %s", name, part->size, last_message);
    c->before = mcus;
    c->cuts++;
    if (!several) c->right += same_mcu(&c->layout, &stored, &c->stored, mcus);
    free(theirs.pixels);
    free(stored.pixels);
}

/* Rows of MCUs are there as a whole, or not. */
static void check_arithmetic(const struct cutting *c, const struct bytes *part, const imgpipe_image *shown) {
    bool right = c->recipe->progressive;
    for (int mcus = c->layout.across; mcus < c->layout.all && !right; mcus += c->layout.across)
        right = shows(&c->layout, &c->whole, shown, mcus);
    /* All of it only where the decoder did not ask for more. */
    if (!right && strstr(last_message, "all pixels are there")) right = shows(&c->layout, &c->whole, shown, c->layout.all);
    check(right, "%s, %zu bytes: not rows of MCUs", c->recipe->name, part->size);
}

static void check_refusal(const struct cutting *c, const struct bytes *part) {
    imgpipe_image image;
    /* Zeros at the end of arithmetic data are not written, so that they cannot be missed. */
    if (part->size < c->file.size - 2 || c->recipe->arithmetic) {
        imgpipe_status status = read_ours(part, &plain, part->size & 1, &image, NULL);
        if (status || part->size < c->file.size - 4)
            check(status && strstr(error.message, "truncated"), "%s, %zu of %zu bytes: status %d, '%s'", c->recipe->name,
                  part->size, c->file.size, status, error.message);
    } else if (check(!read_ours(part, &plain, true, &image, NULL), "%s without its end: %s", c->recipe->name, error.message)) {
        check(warnings == 1 && !memcmp(image.pixels, c->whole.pixels, (size_t)image.stride * (size_t)image.info.height),
              "%s without its end: %d warnings, or pixels differ", c->recipe->name, warnings);
    }
    free(image.pixels);
}

static void check_allowed(struct cutting *c, const struct bytes *part) {
    static const unsigned char end_marker[] = {0xff, JPEG_EOI};
    struct source_options allow = plain;
    allow.allow_truncated = true;
    imgpipe_image shown, again;
    imgpipe_status status = read_ours(part, &allow, part->size & 1, &shown, NULL);
    if (status) {
        /* Not one MCU is there. */
        check(strstr(error.message, "truncated") != NULL, "%s, %zu bytes, allowed: %s", c->recipe->name, part->size, error.message);
        check((part->size < c->data + 200 || (c->recipe->arithmetic && c->layout.all == c->layout.across)) && c->before == 0,
              "%s, %zu bytes, allowed: %s", c->recipe->name, part->size, error.message);
        return;
    }
    check(part->size > c->data - !is_counted(c->recipe) && warnings == 1, "%s, %zu bytes: %d warnings", c->recipe->name, part->size,
          warnings);
    if (part->size >= c->file.size - 2 && !c->recipe->arithmetic)
        check(!memcmp(shown.pixels, c->whole.pixels, (size_t)shown.stride * (size_t)shown.info.height), "%s: pixels are lost",
              c->recipe->name);
    else if (is_counted(c->recipe))
        check_shown(c, part, &shown);
    else if (c->recipe->arithmetic)
        check_arithmetic(c, part, &shown);
    /* The same data, that end where the file does not. */
    struct bytes ended = {malloc(part->size + 2), part->size + 2};
    memcpy(ended.data, part->data, part->size);
    memcpy(ended.data + part->size, end_marker, 2);
    if (is_counted(c->recipe) && !c->recipe->progressive && part->size < c->file.size - 2) {
        status = read_ours(&ended, &allow, !(part->size & 1), &again, NULL);
        check(!status && !memcmp(shown.pixels, again.pixels, (size_t)shown.stride * (size_t)shown.info.height),
              "%s, %zu bytes and an end marker: %s", c->recipe->name, part->size, error.message);
        free(again.pixels);
    }
    free(ended.data);
    free(shown.pixels);
}

static void cut_everywhere(const struct recipe *r) {
    struct cutting c = {.recipe = r, .layout = layout_of(r), .file = make_jpeg(r, 60, NULL)};
    c.data = find_data(&c.file);
    if (!check(!read_ours(&c.file, &plain, true, &c.whole, NULL), "%s: %s", r->name, error.message)) return;
    read_libjpeg(&c.file, true, &c.stored);
    for (size_t size = 3; size < c.file.size; size++) {
        struct bytes part = {malloc(size), size};
        memcpy(part.data, c.file.data, size);
        check_refusal(&c, &part);
        check_allowed(&c, &part);
        free(part.data);
    }
    check(c.right * 4 <= c.cuts, "%s: in %d of %d cuts an MCU that is right is not shown", r->name, c.right, c.cuts);
    free(c.stored.pixels);
    free(c.whole.pixels);
    free(c.file.data);
}

/* A file that had its full size before its data came: zeros stand for what did not. Nothing of them is decoded, so that what is
 * shown is what is shown of the part; many of them are more than one read takes. */
static void fill_with_zeros(const struct recipe *r, size_t zeros, bool seek) {
    struct source_options allow = plain;
    allow.allow_truncated = true;
    struct bytes file = make_jpeg(r, 95, NULL), part = file;
    part.size = (find_data(&file) + file.size) / 2;
    while (part.data[part.size - 1] == 0 || part.data[part.size - 1] == 0xff) part.size--;
    struct bytes filled = {calloc(part.size + zeros, 1), part.size + zeros};
    memcpy(filled.data, part.data, part.size);
    imgpipe_image image, cut;
    imgpipe_status status = read_ours(&filled, &plain, seek, &image, NULL);
    char where[80];
    snprintf(where, sizeof where, "truncated: it ends after %zu bytes, with only zeros", part.size);
    check(status && strstr(error.message, where), "%s, %zu zeros: status %d, '%s'", r->name, zeros, status, error.message);
    free(image.pixels);
    check(!read_ours(&part, &allow, seek, &cut, NULL), "%s, without zeros: %s", r->name, error.message);
    check(!read_ours(&filled, &allow, seek, &image, NULL) && warnings == 1 && strstr(last_message, "truncated"),
          "%s, %zu zeros, allowed: %s, %s", r->name, zeros, error.message, last_message);
    check(image.pixels && cut.pixels && !memcmp(image.pixels, cut.pixels, (size_t)cut.stride * (size_t)cut.info.height),
          "%s, %zu zeros: they change pixels", r->name, zeros);
    free(image.pixels);
    free(cut.pixels);
    free(filled.data);
    free(file.data);
}

static void test_zeros(void) {
    static const char *const names[] = {"gray", "4:4:4", "4:2:0", "progressive", "CMYK"};
    static const size_t counts[] = {16, 1000, 65536 * 2 + 5};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) fill_with_zeros(recipe_named(names[i]), counts[k], (i + k) & 1);
}

/* Of arithmetic data one row of MCUs high nothing is certain. */
static void test_arithmetic_row(void) {
#if defined(C_ARITH_CODING_SUPPORTED) && defined(D_ARITH_CODING_SUPPORTED)
    struct recipe row = *recipe_named("arithmetic");
    row.name = "arithmetic row";
    row.height = 15;
    cut_everywhere(&row);
#endif
}

int main(void) {
    for (int i = 0; i < RECIPES; i++) cut_everywhere(&recipes[i]);
    test_zeros();
    test_arithmetic_row();
    printf("%d checks, %d failures\n", checks, failures);
    return failures ? 1 : 0;
}

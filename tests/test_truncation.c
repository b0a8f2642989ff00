/* Files that end early, cut at every byte: an error, from a file and from a pipe, in one line; with allow_truncated the rows before the
 * cut, and 0 behind it. The arguments are files; exit status 0 or 1. */
#include "load_source.h"

static int checks, failures, warnings;

static void check(bool ok, const char *file, size_t cut, const char *what, const char *detail) {
    checks++;
    if (ok || failures++ > 20) return;
    fprintf(stderr, "FAILED: %s cut to %zu bytes: %s%s\n", file, cut, what, detail);
}

static void count_warning(void *user, imgpipe_log_level level, const char *message) {
    (void)user, (void)message;
    if (level <= IMGPIPE_LOG_WARNING) warnings++;
}
static const struct log counting = {count_warning, NULL};

static imgpipe_status load(const unsigned char *bytes, size_t size, bool can_seek, bool allow, struct image *image,
                           imgpipe_error *error) {
    warnings = 0;
    return load_source(bytes, size, can_seek, allow, &counting, image, error);
}

/* What is said of a kind of file. */
struct rules {
    bool strict;    /* not a plain file, where a number at the end has no mark of its end */
    bool upwards;   /* PFM, most BMP and TGA: the last row comes first */
    bool scattered; /* interlaced GIF: rows come in another order */
    bool several;   /* TIFF: one for the pixels, one for each kind of tags */
    bool quiet;     /* GIF, BMP, TGA: what is missing behind the pixels is not told */
};

static struct rules rules_of(const char *name, const unsigned char *bytes, const struct image *whole) {
    bool plain = bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '3', bmp = bytes[0] == 'B', tga = strstr(name, ".tga");
    bool upwards = whole->info.format.type == IMGPIPE_F32 || (bmp && bytes[25] < 0x80) || (tga && !(bytes[17] & 0x20));
    return (struct rules){!plain, upwards, strstr(name, "interlaced"), strstr(name, ".tif"), bytes[0] == 'G' || bmp || tga};
}

/* A decoder may have made less than the bytes it had would allow, but what it made is right: each row is that of the whole image, or
 * is 0 from some byte on, and so are all rows that come later. */
static bool is_part(const struct image *part, const struct image *whole, const struct rules *rules) {
    bool ended = false;
    for (int64_t i = 0; i < whole->info.height; i++) {
        size_t row = (size_t)(rules->upwards ? whole->info.height - 1 - i : i) * whole->row_bytes, same = 0;
        if (rules->scattered) ended = false;
        while (!ended && same < whole->row_bytes && part->pixels[row + same] == whole->pixels[row + same]) same++;
        for (size_t k = same; k < whole->row_bytes; k++) {
            ended = true;
            if (part->pixels[row + k]) return false;
        }
    }
    return true;
}

static bool same(const struct image *a, const struct image *b) {
    return a->row_bytes == b->row_bytes && a->info.height == b->info.height &&
           !memcmp(a->pixels, b->pixels, a->row_bytes * (size_t)a->info.height);
}

/* A cut that takes nothing of the pixels may be a warning. */
static void check_cut(const char *name, const unsigned char *bytes, size_t cut, const struct image *whole,
                      const struct rules *rules) {
    struct image part;
    imgpipe_error error;
    unsigned char *copy = malloc(cut ? cut : 1);
    if (!copy) abort();
    memcpy(copy, bytes, cut);
    for (int pipe = 0; pipe < 2; pipe++) {
        imgpipe_status status = load(copy, cut, !pipe, false, &part, &error);
        bool told = !status && (warnings > 0 || (rules->quiet && same(&part, whole)));
        check(status == IMGPIPE_ERROR_INPUT || !rules->strict || told, name, cut,
              pipe ? "as a pipe it is accepted: " : "it is accepted: ", error.message);
        check(!status || (error.message[0] && !strchr(error.message, '\n') && strstr(error.message, "memory")), name, cut,
              "the message: ", error.message);
        if (!status && rules->strict) check(is_part(&part, whole, rules), name, cut, "it is accepted with other pixels", "");
        free(part.pixels);
        status = load(copy, cut, !pipe, true, &part, &error);
        check(status == IMGPIPE_OK || status == IMGPIPE_ERROR_INPUT, name, cut, "--allow-truncated: ", error.message);
        if (!status && rules->strict) {
            told = warnings == 1 || (rules->several && warnings > 1) || (rules->quiet && same(&part, whole));
            check(told, name, cut, "--allow-truncated gives not one warning", "");
            bool size = part.row_bytes == whole->row_bytes && part.info.height == whole->info.height;
            check(size && is_part(&part, whole, rules), name, cut, "--allow-truncated gives other pixels", "");
        }
        free(part.pixels);
    }
    free(copy);
}

static void check_file(const char *name) {
    static unsigned char bytes[1 << 16];
    size_t size = load_bytes(name, bytes, sizeof bytes);
    struct image whole;
    imgpipe_error error;
    imgpipe_status status = load(bytes, size, true, false, &whole, &error);
    check(!status, name, size, "the whole file: ", error.message);
    if (status) return;
    struct rules rules = rules_of(name, bytes, &whole);
    for (size_t cut = 0; cut < size; cut++) check_cut(name, bytes, cut, &whole, &rules);
    free(whole.pixels);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) check_file(arguments[i]);
    printf("%d checks, %d failed\n", checks, failures);
    return failures || count < 2;
}

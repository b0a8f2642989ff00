/* The fast way of inflating a PNG's image data against zlib: what zlib takes must not be doubted, for after a doubt the file is
 * read again, and nobody sees it; what zlib refuses must be. The streams are compressed, written by hand and damaged. Arguments, if
 * any: the seed, and the one case to run. */
#include "deflate_content.h"
#include "deflate_wrong.h"
#include "png_inflate_run.h"

/* Sanitizers make it many times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE 10
#else
#define SHARE 1
#endif

static long checks, failures, sound, unsound, cases, only = -1;
static uint64_t first_seed = 1;

/* Whether the next case is to be run; its seed. */
static bool next_case(uint64_t *seed) {
    *seed = (first_seed * 1000003 + (uint64_t)cases) * 0x9e3779b97f4a7c15u;
    return cases++ == only || only < 0;
}

static void report(const char *fault, const char *name, const char *how, int isa) {
    checks++;
    if (!fault || failures++ >= 20) return;
    printf("FAILED: %s: case %ld of seed %" PRIu64 ", %s, %s, %s\n", fault, cases - 1, first_seed, name,
           isa < 0 ? "zlib" : kernel_isa_names[isa], how);
}

/* `isa` -1: every instruction set. At times zlib's way too, which the test itself must agree with. `raw`: what the stream stands
 * for, where that is known. */
static bool try_stream(const char *name, const struct bytes *packed, size_t wanted, const struct bytes *raw, int isa,
                       uint64_t *seed) {
    struct trial t;
    char how[300];
    trial_begin(&t, packed->at, packed->size, wanted);
    t.unusual = strstr(name, "unusual");
    *(t.sound ? &sound : &unsound) += 1;
    if (raw && (!t.sound || raw->size != wanted || memcmp(raw->at, t.bytes, wanted) != 0))
        report("zlib does not agree with the writer", name, "", -1);
    for (int i = isa < 0 ? 0 : isa; i <= (isa < 0 ? kernel_isa_best() : isa); i++)
        report(trial_run(&t, *seed = *seed * 3 + 1, false, true, i, how), name, how, i);
    if (up_to(seed, 7) == 0) report(trial_run(&t, *seed, false, false, 0, how), name, how, -1);
    if (up_to(seed, 7) == 0) report(trial_run(&t, *seed, true, true, kernel_isa_best(), how), name, how, kernel_isa_best());
    trial_end(&t);
    return t.sound;
}

static int any_isa(uint64_t *seed) {
    return (int)up_to(seed, (uint32_t)kernel_isa_best());
}

/* -------------------------------------------------------------------------------------------------- compressed streams */

static void test_compressed(int count, uint32_t most) {
    for (int i = 0; i < count; i++) {
        uint64_t seed;
        char name[300];
        if (!next_case(&seed)) continue;
        struct bytes content = make_content(&seed, up_to(&seed, 4) ? 1 + up_to(&seed, most - 1) : 1 + up_to(&seed, 40), name);
        struct bytes packed = compress_content(&seed, &content, name);
        try_stream(name, &packed, content.size, &content, -1, &seed);
        free(content.at);
        free(packed.at);
    }
}

/* ----------------------------------------------------------------------------------------------------- written streams */

static void writer_free(struct writer *w) {
    free(w->packed.at);
    free(w->raw.at);
}

static void try_written(const char *name, struct writer *w, uint64_t *seed) {
    try_stream(name, &w->packed, w->raw.size, &w->raw, -1, seed);
    writer_free(w);
}

static void test_written(const char *name, int count, int blocks, int tokens, size_t most) {
    for (int i = 0; i < count; i++) {
        uint64_t seed;
        struct writer w;
        if (!next_case(&seed)) continue;
        put_stream(&w, png_random(&seed), 1 + (int)up_to(&seed, (uint32_t)blocks - 1), tokens, most);
        try_written(name, &w, &seed);
    }
}

/* A code for every symbol, so that every length and distance can be written. */
static void put_full_block(struct writer *w, struct code *lengths, struct code *distances) {
    uint16_t symbols[286];
    for (int i = 0; i < 286; i++) symbols[i] = (uint16_t)i;
    if (up_to(&w->seed, 2) == 0) {
        code_fixed(lengths, distances);
        put_bits(w, 1 | 1 << 1, 3);
        return;
    }
    code_make(lengths, &w->seed, symbols, 286, 15, (enum shape)up_to(&w->seed, SHAPES - 1));
    code_make(distances, &w->seed, symbols, 30, 15, (enum shape)up_to(&w->seed, SHAPES - 1));
    put_dynamic(w, true, lengths, distances);
}

enum distances { NEAR, ALL, FARTHEST };

/* Every distance below 64 with every length; every distance that there is; the largest ones again and again. */
static void test_distances(enum distances kind, const char *name) {
    const uint32_t first = kind == FARTHEST ? 32768 - 20000 / SHARE : 1, last = kind == NEAR ? 64 : 32768;
    uint64_t seed;
    struct writer w;
    struct code lengths, distances;
    if (!next_case(&seed)) return;
    put_begin(&w, png_random(&seed));
    if (kind != NEAR) put_stored(&w, false, 32767);
    put_full_block(&w, &lengths, &distances);
    for (uint32_t d = first; d <= last; d += kind == NEAR ? 1 : 1 + up_to(&w.seed, 2 * SHARE - 2)) {
        put_literal(&w, &lengths, (int)up_to(&w.seed, 255));
        for (uint32_t l = 3; kind == NEAR && l <= 258; l += 1 + up_to(&w.seed, 2 * SHARE - 2)) {
            put_copy(&w, &lengths, &distances, length_symbol(&w.seed, l), l, d);
            if (l % 4 == 0) put_literal(&w, &lengths, (int)up_to(&w.seed, 255));
        }
        uint32_t l = 3 + up_to(&w.seed, up_to(&w.seed, 30) ? 8 : 255), far = 32768 - up_to(&w.seed, 1);
        if (kind != NEAR) put_copy(&w, &lengths, &distances, length_symbol(&w.seed, l), l, kind == ALL ? d : far);
    }
    put_symbol(&w, &lengths, END_OF_BLOCK);
    put_end(&w);
    try_written(name, &w, &seed);
}

/* zlib takes a code of nothing but the end of the block, which is of one bit; no compressor makes one, and a doubt is all right. */
static void test_lone_end(void) {
    uint64_t seed;
    struct writer w;
    struct code lengths, distances;
    uint16_t end = END_OF_BLOCK;
    if (!next_case(&seed)) return;
    put_begin(&w, png_random(&seed));
    put_stored(&w, false, 5);
    code_make(&lengths, &seed, &end, 1, 15, FLAT);
    code_make(&distances, &seed, &end, 0, 15, FLAT);
    put_dynamic(&w, true, &lengths, &distances);
    put_symbol(&w, &lengths, END_OF_BLOCK);
    put_end(&w);
    try_written("a lone end of the block (unusual)", &w, &seed);
}

/* ----------------------------------------------------------------------------------------------------- damaged streams */

static struct bytes make_source(uint64_t *seed, size_t *wanted) {
    struct bytes packed;
    if (up_to(seed, 1)) {
        struct writer w;
        put_stream(&w, png_random(seed), 1 + (int)up_to(seed, 5), up_to(seed, 1) ? 30 : 1000, 20000);
        *wanted = w.raw.size;
        packed = w.packed;
        free(w.raw.at);
    } else {
        char name[300];
        struct bytes content = make_content(seed, 1 + up_to(seed, up_to(seed, 1) ? 200 : 20000), name);
        packed = compress_content(seed, &content, name);
        *wanted = content.size;
        free(content.at);
    }
    return packed;
}

/* Flips bits, changes bytes, takes some out, doubles some. */
static void damage(uint64_t *seed, struct bytes *b) {
    for (uint32_t times = 1 + up_to(seed, 7) / 5; times > 0 && b->size > 2; times--) {
        uint32_t at =
            up_to(seed, 2) ? 2 + up_to(seed, (uint32_t)b->size - 3) : 2 + up_to(seed, b->size < 60 ? (uint32_t)b->size - 3 : 57);
        uint32_t kind = up_to(seed, 7), part = up_to(seed, 7);
        if (kind < 5) {
            b->at[at] ^= (unsigned char)(1u << up_to(seed, 7));
        } else if (kind == 5) {
            b->at[at] = (unsigned char)(up_to(seed, 1) ? png_random(seed) : up_to(seed, 1) * 255);
        } else if (part > 0 && at + part <= b->size) {
            memmove(b->at + at, b->at + at + part, b->size - at - part);
            b->size -= part;
        }
    }
}

static void test_damaged(int sources, int times) {
    for (int i = 0; i < sources; i++) {
        uint64_t seed;
        size_t wanted;
        if (!next_case(&seed)) continue;
        struct bytes whole = make_source(&seed, &wanted);
        for (int k = 0; k < times; k++) {
            struct bytes b = {0};
            char name[60];
            bytes_add(&b, whole.at, whole.size);
            damage(&seed, &b);
            /* It may leave a code of nothing but the end of the block, see test_lone_end(). */
            sprintf(name, "damage %d, perhaps unusual", k);
            try_stream(name, &b, wanted, NULL, any_isa(&seed), &seed);
            free(b.at);
        }
        free(whole.at);
    }
}

/* What must be refused: zlib is asked too. */
static void refuse(const char *name, const struct bytes *packed, size_t wanted, uint64_t *seed) {
    if (try_stream(name, packed, wanted, NULL, any_isa(seed), seed)) report("zlib takes it", name, "", -1);
}

/* Cut, with bytes behind it, with rows of more or fewer bytes. */
static void test_ends(int sources) {
    for (int i = 0; i < sources; i++) {
        uint64_t seed;
        size_t wanted;
        if (!next_case(&seed)) continue;
        struct bytes b = make_source(&seed, &wanted);
        const size_t whole = b.size;
        for (b.size = whole > 40 ? whole - 40 : 3; b.size < whole; b.size++) refuse("cut near the end", &b, wanted, &seed);
        for (int k = 0; k < 10; k++) {
            b.size = 3 + up_to(&seed, (uint32_t)whole - 4);
            refuse("cut", &b, wanted, &seed);
        }
        b.size = whole;
        for (size_t k = 0; k < 8; k++) {
            refuse("too few bytes", &b, wanted + (k < 4 ? 1 + k : 1 + up_to(&seed, 70000)), &seed);
            if (wanted > k + 1)
                refuse("too many bytes", &b, k < 4 ? wanted - 1 - k : 1 + up_to(&seed, (uint32_t)wanted - 2), &seed);
        }
        for (int k = 0; k < 6; k++) {
            static const size_t behind[6] = {1, 2, 4, 8, 300, 9000};
            bool zeros = up_to(&seed, 1);
            for (size_t n = 0; n < behind[k]; n++) *bytes_grow(&b, 1) = (unsigned char)(zeros ? 0 : png_random(&seed));
            refuse("bytes behind it", &b, wanted, &seed);
            b.size = whole;
        }
        for (size_t k = 1; k <= 4; k++) {
            const unsigned char was = b.at[whole - k];
            b.at[whole - k] ^= (unsigned char)(1u << up_to(&seed, 7));
            refuse("wrong sum", &b, wanted, &seed);
            b.at[whole - k] = was;
        }
        b.at[up_to(&seed, 1)] ^= (unsigned char)(1u << up_to(&seed, 7));
        refuse("wrong header", &b, wanted, &seed);
        free(b.at);
    }
}

/* Streams that end about where a buffer of 64, 128, 192 or 256 KiB does; then with bytes behind them. Through stored bytes a
 * decoder comes to the end without a look at what follows. */
static void test_buffers(int step) {
    for (int i = 0; i < 4 * 25; i += step) {
        uint64_t seed;
        struct writer w;
        if (!next_case(&seed)) continue;
        put_begin(&w, png_random(&seed));
        const size_t size = (size_t)(i / 25 + 1) * 65536 + (size_t)(i % 25) - 12;
        while (size - 4 - w.packed.size > 65535 + 10) put_stored(&w, false, 65535 - up_to(&w.seed, 30000));
        if (size - 4 - w.packed.size > 65535 + 5) put_stored(&w, false, 100);
        put_stored(&w, true, (uint32_t)(size - 4 - w.packed.size - 5));
        put_end(&w);
        try_stream("a buffer's end", &w.packed, w.raw.size, &w.raw, any_isa(&seed), &seed);
        for (uint32_t n = 1 + up_to(&seed, 1) * up_to(&seed, 10); n > 0; n--) *bytes_grow(&w.packed, 1) = 0;
        refuse("bytes behind a buffer's end", &w.packed, w.raw.size, &seed);
        writer_free(&w);
    }
}

/* The sum is that of the bytes that are wanted, but the stream goes on. */
static void test_sums(int count) {
    for (int i = 0; i < count; i++) {
        uint64_t seed;
        struct writer w;
        if (!next_case(&seed)) continue;
        put_begin(&w, png_random(&seed));
        put_block(&w, false, 100, 1000);
        put_stored(&w, false, 5);
        const size_t wanted = w.raw.size;
        if (i % 2) put_block(&w, false, 3, 2000);
        put_stored(&w, i % 3 != 0, 1 + up_to(&seed, 1) * up_to(&seed, 400));
        if (i % 3 == 0) put_block(&w, true, 5, 2000);
        put_sum(&w, wanted);
        refuse("the sum of fewer bytes", &w.packed, wanted, &seed);
        writer_free(&w);
    }
}

/* A distance of one byte too many, behind each of the first bytes; the sum is that of zeros in front of them. */
static void test_too_far(int count) {
    for (int i = 0; i < count; i++) {
        uint64_t seed;
        struct writer w;
        struct code lengths, distances;
        if (!next_case(&seed)) continue;
        put_begin(&w, png_random(&seed));
        uint32_t history = i < 300 ? (uint32_t)i : up_to(&seed, 32767),
                 too_many = up_to(&seed, 3) ? 1 : 1 + up_to(&seed, 32767 - history);
        if (history > 300) put_stored(&w, false, history - 300), history = 300;
        put_full_block(&w, &lengths, &distances);
        while (history--) put_literal(&w, &lengths, (int)up_to(&seed, 255));
        uint32_t l = 3 + up_to(&seed, up_to(&seed, 1) ? 255 : 5), d = (uint32_t)w.raw.size + too_many;
        put_copy(&w, &lengths, &distances, length_symbol(&seed, l), l, d);
        for (uint32_t more = up_to(&seed, 1) * up_to(&seed, 400); more > 0; more--)
            put_literal(&w, &lengths, (int)up_to(&seed, 255));
        put_symbol(&w, &lengths, END_OF_BLOCK);
        put_end(&w);
        refuse("a distance too far", &w.packed, w.raw.size, &seed);
        writer_free(&w);
    }
}

static void test_wrong(int count) {
    static const char *const codes[7] = {"wrong code of literals",  "wrong code of distances", "wrong code of lengths",
                                         "a length repeated first", "too many lengths",        "287 or 288 lengths",
                                         "31 or 32 distances"};
    for (int i = 0; i < count; i++) {
        uint64_t seed;
        struct writer w;
        if (!next_case(&seed)) continue;
        put_begin(&w, png_random(&seed));
        for (uint32_t n = up_to(&seed, 2); n > 0; n--) put_block(&w, false, 30, 1000);
        if (w.raw.size == 0) put_stored(&w, false, 1);
        const int kind = i % 15;
        size_t before = w.raw.size;
        kind < 7 ? put_wrong_codes(&w, kind) : put_wrong_token(&w, kind - 7);
        put_end(&w);
        /* It may also stand behind the last row. */
        refuse(kind < 7 ? codes[kind] : "a wrong token or block", &w.packed, up_to(&seed, 1) ? before : w.raw.size, &seed);
        writer_free(&w);
    }
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 1) first_seed = strtoull(arguments[1], NULL, 10);
    if (count > 2) only = strtol(arguments[2], NULL, 10);
    test_compressed(400 / SHARE, 4000);
    test_compressed(20 / SHARE, 300000);
    test_compressed(2, 2000000);
    test_written("a few blocks", 500 / SHARE, 5, 400, 50000);
    test_written("long blocks", 60 / SHARE, 4, 20000, 200000);
    test_written("tiny blocks", 20 / SHARE, 1500, 4, 50000);
    test_written("huge blocks", 2, 6, 150000, 1500000);
    test_distances(NEAR, "near distances");
    test_distances(ALL, "all distances");
    test_distances(FARTHEST, "farthest distances");
    test_lone_end();
    test_damaged(60 / SHARE, 60);
    test_ends(20 / SHARE);
    test_buffers(SHARE);
    test_sums(40 / SHARE);
    test_too_far(600 / SHARE);
    test_wrong(600 / SHARE);
    printf("%ld checks, %ld failed; %ld sound streams, %ld unsound\n", checks, failures, sound, unsound);
    return failures || (only < 0 && (!sound || !unsound));
}

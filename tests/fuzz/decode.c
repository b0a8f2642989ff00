#include "decode.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small, so that an input is done in milliseconds; the check itself is the same for every limit. */
enum { MAX_PIXELS = 1 << 18, MEMORY = 16 << 20, SNIFF = 64, ROWS = 3 };

struct outcome {
    imgpipe_status status;
    imgpipe_info info;
    uint64_t hash;
};

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Rows are allocated singly and exactly, so that the address sanitizer sees every byte that is written too far; they are filled, so
 * that every byte that is not written changes the hash from one way of reading to the other. */
static imgpipe_status read_rows(struct source *source, unsigned char filler, uint64_t *hash, imgpipe_error *error) {
    size_t bytes = (size_t)source->info.width * imgpipe_pixel_size(source->info.format);
    void *rows[ROWS];
    imgpipe_status status = IMGPIPE_OK;
    for (int i = 0; i < ROWS; i++) rows[i] = malloc(bytes);
    for (int64_t y = 0; y < source->info.height && !status;) {
        int count = 1 + (int)(y % ROWS);
        if (count > source->info.height - y) count = (int)(source->info.height - y);
        for (int i = 0; i < count; i++) memset(rows[i], filler, bytes);
        status = source_read(source, rows, count, error);
        for (int i = 0; i < count && !status; i++) *hash = hash_bytes(*hash, rows[i], bytes);
        y += count;
    }
    for (int i = 0; i < ROWS; i++) free(rows[i]);
    return status;
}

static struct outcome decode(const uint8_t *data, size_t size, bool can_seek, const struct source_options *options) {
    struct outcome outcome = {.hash = 0xcbf29ce484222325u};
    imgpipe_error error = {0};
    struct input *input;
    struct source *source = NULL;
    outcome.status = input_memory(data, size, can_seek, &input, &error);
    if (!outcome.status) outcome.status = source_open(input, options, &source, &error);
    if (!outcome.status) {
        outcome.info = source->info;
        outcome.status = read_rows(source, can_seek ? 0x55 : 0xaa, &outcome.hash, &error);
        if (!outcome.status) outcome.status = source_finish(source, &error);
        /* Images that follow are read too, as long as they are whole. */
        while (!outcome.status && source->more) {
            struct input *rest = source_release(source);
            source = NULL;
            outcome.status = source_open(rest, options, &source, &error);
            if (!outcome.status) outcome.status = read_rows(source, can_seek ? 0x55 : 0xaa, &outcome.hash, &error);
            if (!outcome.status) outcome.status = source_finish(source, &error);
        }
        source_close(source);
    }
    if (outcome.status && (error.status != outcome.status || !error.message[0])) {
        fprintf(stderr, "status %d without a message\n", (int)outcome.status);
        abort();
    }
    return outcome;
}

int fuzz_decoder(const struct decoder *decoder, const uint8_t *data, size_t size) {
    if (!decoder->matches(data, size < SNIFF ? size : SNIFF)) return 0;
    struct source_options options = {.max_pixels = MAX_PIXELS, .memory = MEMORY, .alpha = -1, .several = size % 3 == 0};
    struct outcome file = decode(data, size, true, &options), pipe = decode(data, size, false, &options);
    /* What a file gives row by row a pipe may have to hold as a whole. */
    bool memory = file.status == IMGPIPE_ERROR_MEMORY || pipe.status == IMGPIPE_ERROR_MEMORY;
    if (!memory && (file.status != pipe.status || (!file.status && file.hash != pipe.hash))) {
        fprintf(stderr, "as a file: status %d, hash %llx; as a pipe: status %d, hash %llx\n", (int)file.status,
                (unsigned long long)file.hash, (int)pipe.status, (unsigned long long)pipe.hash);
        abort();
    }
    options.allow_truncated = true;
    options.alpha = (int)(size & 1);
    decode(data, size, true, &options);
    options.page = 1 + (int)(size & 3);
    decode(data, size, false, &options);
    return 0;
}

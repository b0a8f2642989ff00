#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_escape(char *buf, size_t size, const char *from) {
    size_t at = 0;
    for (const unsigned char *p = (const unsigned char *)from; *p && at + 5 < size; p++) {
        if (*p < 0x20 || *p == 0x7f)
            at += (size_t)snprintf(buf + at, size - at, "\\x%02x", *p);
        else
            buf[at++] = (char)*p;
    }
    buf[at] = 0;
}

void text_append(char *buf, size_t size, const char *format, ...) {
    size_t at = strlen(buf);
    if (at + 1 >= size) return;
    va_list args;
    va_start(args, format);
    vsnprintf(buf + at, size - at, format, args);
    va_end(args);
}

static bool inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Shortens a text to fewer than `size` bytes. Names come in the middle of a message; its end says what is wrong and what to do. */
static void cut_middle(char *text, size_t size) {
    static const char mark[] = "…";
    size_t length = strlen(text), head = size / 2 - sizeof mark, tail = size / 2 - 1;
    if (length < size) return;
    while (head > 0 && inside_character(text[head])) head--;
    while (tail > 0 && inside_character(text[length - tail])) tail--;
    memcpy(text + head, mark, sizeof mark - 1);
    memmove(text + head + sizeof mark - 1, text + length - tail, tail + 1);
}

static imgpipe_status fill(imgpipe_error *error, imgpipe_status status, int place, int length, const char *format, va_list args) {
    if (!error) return status;
    char raw[2 * 4096]; /* room for two paths */
    vsnprintf(raw, sizeof raw, format, args);
    cut_middle(raw, sizeof error->message);
    text_escape(error->message, sizeof error->message, raw);
    error->status = status;
    error->place = place;
    error->length = length;
    error->fault = 0;
    return status;
}

imgpipe_status error_set(imgpipe_error *error, imgpipe_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fill(error, status, -1, 0, format, args);
    va_end(args);
    return status;
}

imgpipe_status error_at(imgpipe_error *error, imgpipe_status status, int place, int length, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fill(error, status, place, length, format, args);
    va_end(args);
    return status;
}

const char *text_bytes(uint64_t bytes, char buf[32]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 6) value /= 1024, unit++;
    snprintf(buf, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buf;
}

const char *text_format(imgpipe_format format, char buf[64]) {
    static const char *const types[] = {"8-bit", "16-bit", "float"};
    int colors = format.channels - (format.alpha ? 1 : 0);
    const char *type = types[format.type], *tail = format.alpha ? " with alpha" : "";
    if (colors == 1 || colors == 3)
        snprintf(buf, 64, "%s %s%s", type, colors == 1 ? "gray" : "RGB", tail);
    else
        snprintf(buf, 64, "%s %d-channel%s", type, colors, tail);
    return buf;
}

const char *imgpipe_status_text(imgpipe_status status) {
    static const char *const texts[] = {
        [IMGPIPE_OK] = "no error",
        [IMGPIPE_ERROR_ARGUMENT] = "a wrong argument",
        [IMGPIPE_ERROR_INPUT] = "the input cannot be read",
        [IMGPIPE_ERROR_OUTPUT] = "the output cannot be written",
        [IMGPIPE_ERROR_MEMORY] = "memory is too small",
        [IMGPIPE_ERROR_DEVICE] = "the device is absent, lost or out of memory",
        [IMGPIPE_ERROR_CANCELLED] = "cancelled",
        [IMGPIPE_ERROR_INTERNAL] = "a fault of imgpipe's own",
    };
    int index = (int)status;
    return index >= 0 && index < (int)(sizeof texts / sizeof *texts) ? texts[index] : "no status of imgpipe";
}

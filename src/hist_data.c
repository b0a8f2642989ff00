/* The counts of `hist` as text. Text is gathered in a buffer and handed on when that is nearly full. */
#include "hist_data.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
    hist_write *write;
    void *to;
    bool stopped;
    size_t length;
    char buffer[8192];
};

static void text_flush(struct text *text) {
    if (text->length && !text->stopped) text->stopped = !text->write(text->to, text->buffer, text->length);
    text->length = 0;
}

/* `piece` is short. */
static void text_add(struct text *text, const char *piece) {
    size_t length = strlen(piece);
    if (text->length + length > sizeof text->buffer) text_flush(text);
    memcpy(text->buffer + text->length, piece, length);
    text->length += length;
}

static void text_count(struct text *text, uint64_t count) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    text_add(text, digits);
}

/* The shortest decimal number that reads back as the same float32; whole numbers that are no float32 are of an integer
 * image and written in full. The point is put in by hand, for the locale may have another. */
static void text_number(struct text *text, double value) {
    char digits[48], plain[48];
    if (value == floor(value) && fabs(value) < 16777216.0) {
        snprintf(plain, sizeof plain, "%lld", (long long)value);
        text_add(text, plain);
        return;
    }
    for (int precision = 1; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtof(digits, NULL) == (float)value) break;
    }
    size_t n = 0;
    bool in_point = false;
    for (const char *c = digits; *c; c++) {
        bool usual = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        if (usual || !in_point) plain[n++] = usual ? *c : '.';
        in_point = !usual;
    }
    plain[n] = 0;
    text_add(text, plain);
}

/* The least float32 whose bin is `bin` or a later one, by bisection over all of them in the range, for the counting rounds. */
static double float_edge(const struct hist_data *data, int64_t bin) {
    if (bin <= 0) return data->min;
    if (bin >= data->bins) return data->max;
    uint32_t bits[2];
    memcpy(&bits[0], &data->job.low, sizeof bits[0]);
    memcpy(&bits[1], &data->job.high, sizeof bits[1]);
    uint32_t below = hist_key(bits[0]), from = hist_key(bits[1]);
    while (from - below > 1) {
        uint32_t middle = below + (from - below) / 2;
        if (hist_slot(hist_key_value(middle), &data->job) >= bin)
            from = middle;
        else
            below = middle;
    }
    return (double)hist_key_value(from) + 0.0;
}

double hist_edge(const struct hist_data *data, int64_t bin) {
    if (data->image.format.type == IMGPIPE_F32) return float_edge(data, bin);
    /* floor((v - min) bins / span) >= bin from v - min = ceil(bin span / bins) on. */
    int64_t span = (int64_t)data->max - (int64_t)data->min + 1;
    return data->min + (double)((bin * span + data->bins - 1) / data->bins);
}

/* Values outside are possible where the range was narrowed, and in f32. */
static void csv_outside(struct text *text, const struct hist_data *data, const char *name, const uint64_t counts[4]) {
    text_add(text, name);
    text_add(text, ",,");
    for (int c = 0; c < data->job.channels; c++) {
        text_add(text, ",");
        text_count(text, counts[c]);
    }
    text_add(text, "\n");
}

void hist_write_csv(const struct hist_data *data, hist_write *write, void *to) {
    struct text text = {.write = write, .to = to};
    imgpipe_type type = data->image.format.type;
    text_add(&text, "bin,from,to");
    for (int c = 0; c < data->job.channels; c++) {
        text_add(&text, ",");
        text_add(&text, data->names[c]);
    }
    text_add(&text, "\n");
    for (int64_t bin = 0; bin < data->bins && !text.stopped; bin++) {
        text_count(&text, (uint64_t)bin);
        text_add(&text, ",");
        text_number(&text, hist_edge(data, bin));
        text_add(&text, ",");
        text_number(&text, hist_edge(data, bin + 1));
        for (int c = 0; c < data->job.channels; c++) {
            text_add(&text, ",");
            text_count(&text, data->counts[c * data->bins + bin]);
        }
        text_add(&text, "\n");
    }
    if (type == IMGPIPE_F32 || data->min > 0) csv_outside(&text, data, "below", data->below);
    if (type == IMGPIPE_F32 || data->max < imgpipe_type_max(type)) csv_outside(&text, data, "above", data->above);
    if (type == IMGPIPE_F32) csv_outside(&text, data, "nan", data->nan);
    text_flush(&text);
}

static void json_member(struct text *text, const char *name, uint64_t value) {
    text_add(text, ",\"");
    text_add(text, name);
    text_add(text, "\":");
    text_count(text, value);
}

static void json_channel(struct text *text, const struct hist_data *data, int c) {
    text_add(text, c ? ",\n{\"name\":\"" : "\n{\"name\":\"");
    text_add(text, data->names[c]);
    text_add(text, "\",\"counts\":[");
    for (int64_t bin = 0; bin < data->bins && !text->stopped; bin++) {
        if (bin) text_add(text, ",");
        text_count(text, data->counts[c * data->bins + bin]);
    }
    text_add(text, "]");
    json_member(text, "below", data->below[c]);
    json_member(text, "above", data->above[c]);
    json_member(text, "nan", data->nan[c]);
    text_add(text, "}");
}

void hist_write_json(const struct hist_data *data, hist_write *write, void *to) {
    static const char *const types[] = {"u8", "u16", "f32"};
    struct text text = {.write = write, .to = to};
    text_add(&text, "{\"version\":\"" IMGPIPE_VERSION "\",\"type\":\"");
    text_add(&text, types[data->image.format.type]);
    text_add(&text, "\"");
    json_member(&text, "width", (uint64_t)data->image.width);
    json_member(&text, "height", (uint64_t)data->image.height);
    json_member(&text, "pixels", data->pixels);
    json_member(&text, "bins", (uint64_t)data->bins);
    text_add(&text, ",\"min\":");
    text_number(&text, data->min);
    text_add(&text, ",\"max\":");
    text_number(&text, data->max);
    text_add(&text, ",\"channels\":[");
    for (int c = 0; c < data->job.channels; c++) json_channel(&text, data, c);
    text_add(&text, "\n]}\n");
    text_flush(&text);
}

imgpipe_histogram hist_describe(const struct hist_data *data) {
    return (imgpipe_histogram){.struct_size = sizeof(imgpipe_histogram), .image = data->image, .channels = data->job.channels, .bins = data->bins,
                               .min = data->min, .max = data->max,
                               .size = (size_t)data->job.channels * (size_t)(data->bins + HIST_OUTSIDE) * sizeof(uint64_t)};
}

void hist_export(const struct hist_data *data, uint64_t *counts, bool add) {
    for (int c = 0; c < data->job.channels; c++) {
        const uint64_t outside[HIST_OUTSIDE] = {data->below[c], data->above[c], data->nan[c]};
        for (int64_t i = 0; i < data->bins + HIST_OUTSIDE; i++, counts++) {
            uint64_t count = i < data->bins ? data->counts[c * data->bins + i] : outside[i - data->bins];
            *counts = (add ? *counts : 0) + count;
        }
    }
}

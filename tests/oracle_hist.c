/* hist: the counts are read back from the side data, CSV or JSON, and compared with a count of the definition. The chart
 * itself can only be asked for its size, its format and that something is drawn; that it is always the same is the
 * prover's business. */
#include "oracle.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The side data as read. `from` and `to` of JSON are made from its min and max. */
struct table {
    int channels;
    int64_t bins;
    double first, last; /* the range */
    int64_t *counts[4];
    int64_t below[4], above[4], nan[4];
    char names[4][16];
};

static bool hist_accepts(imgpipe_format f) {
    return f.channels == 1 || f.channels == 3 || f.alpha;
}

static void hist_make(struct oracle_case *c, struct rng *r) {
    double max = imgpipe_type_max(c->in.format.type);
    c->json = rng_chance(r, 50), c->pass = rng_chance(r, 60), c->ranged = rng_chance(r, 40);
    c->chart_width = 640, c->chart_height = 400;
    snprintf(c->temporary, sizeof c->temporary, "/tmp/imgpipe-check-%d.%s", (int)getpid(), c->json ? "json" : "csv");
    chain_add(c, "hist=data=%s", c->temporary);
    if (c->pass) chain_add(c, ":pass");
    c->bins = c->in.format.type == IMGPIPE_U16 ? 65536 : 256;
    if (rng_chance(r, 50) || c->in.format.type == IMGPIPE_U16) {
        static const int64_t bins[] = {1, 2, 10, 64, 100, 256, 1000};
        if (c->in.format.type != IMGPIPE_U16 || rng_chance(r, 70))
            chain_add(c, ":bins=%d", (int)(c->bins = bins[rng_range(r, 0, 6)]));
    }
    if (!c->ranged) return;
    if (c->in.format.type == IMGPIPE_F32)
        c->min = (double)rng_range(r, -4, 4) / 8, c->max = c->min + (double)rng_range(r, 1, 12) / 8;
    else
        c->min = (double)rng_range(r, 0, (int64_t)max - 1), c->max = (double)rng_range(r, (int64_t)c->min + 1, (int64_t)max);
    chain_add(c, ":min=%.6g:max=%.6g", c->min, c->max);
    /* One bin a value is the default of integers, so a part of the range has fewer. */
    if (c->in.format.type != IMGPIPE_F32 && !strstr(c->chain, ":bins=")) c->bins = (int64_t)(c->max - c->min) + 1;
}

static imgpipe_info hist_output(const struct oracle_case *c) {
    imgpipe_info chart = {c->chart_width, c->chart_height, {IMGPIPE_U8, 3, false}};
    return c->pass ? c->in : chart;
}

/* ---- reading the side data */

static char *file_text(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, size + 1);
    if (text && fread(text, 1, size, f) != size) text[0] = 0;
    fclose(f);
    return text;
}

static bool table_new(struct table *t, int channels, int64_t bins) {
    memset(t, 0, sizeof *t);
    t->channels = channels, t->bins = bins;
    for (int i = 0; i < channels; i++)
        if (!(t->counts[i] = calloc((size_t)bins, sizeof(int64_t)))) exit(99);
    return true;
}

static void table_free(struct table *t) {
    for (int i = 0; i < 4; i++) free(t->counts[i]);
}

/* The last `channels` fields of a line. */
static bool last_fields(const char *line, int channels, int64_t out[4]) {
    const char *end = line + strcspn(line, "\r\n");
    for (int i = channels - 1; i >= 0; i--) {
        const char *at = end;
        while (at > line && at[-1] != ',') at--;
        if (at == line || at == end) return false;
        out[i] = strtoll(at, NULL, 10);
        end = at - 1;
    }
    return true;
}

static bool csv_bin(struct table *t, const char *line, int64_t row, char *why, size_t why_size) {
    /* Not sscanf(), which would look for the end of the whole text at every line. */
    char *end;
    long long bin = strtoll(line, &end, 10);
    double from = *end == ',' ? strtod(end + 1, &end) : 0, to = *end == ',' ? strtod(end + 1, &end) : 0;
    int64_t counts[4];
    if (*end != ',' || bin != row || row >= t->bins || !last_fields(line, t->channels, counts)) {
        snprintf(why, why_size, "CSV line of bin %lld: '%.60s'", (long long)row, line);
        return false;
    }
    /* A single value gives a range of no width; otherwise the bins follow each other. */
    if (row == 0)
        t->first = from;
    else if (fabs(from - t->last) > 1e-6 * fmax(1, fabs(from))) {
        snprintf(why, why_size, "bin %lld begins at %.9g, the one before ended at %.9g", bin, from, t->last);
        return false;
    }
    t->last = to;
    for (int i = 0; i < t->channels; i++) t->counts[i][row] = counts[i];
    return true;
}

static bool csv_read(struct table *t, const char *text, char *why, size_t why_size) {
    static const char *const heads[5] = {"", "bin,from,to,gray", "bin,from,to,gray,alpha", "bin,from,to,red,green,blue",
                                         "bin,from,to,red,green,blue,alpha"};
    size_t head = strcspn(text, "\r\n");
    if (t->channels != 3 || strncmp(text, heads[2], 16)) /* two colours and alpha have no names in the contract */
        if (head != strlen(heads[t->channels]) || strncmp(text, heads[t->channels], head))
            return snprintf(why, why_size, "CSV begins with '%.*s'", (int)(head < 60 ? head : 60), text), false;
    int64_t row = 0;
    for (const char *line = text + head; *(line += strspn(line, "\r\n")); line += strcspn(line, "\r\n")) {
        bool fine = true;
        if (!strncmp(line, "below,", 6))
            fine = last_fields(line, t->channels, t->below);
        else if (!strncmp(line, "above,", 6))
            fine = last_fields(line, t->channels, t->above);
        else if (!strncmp(line, "nan,", 4))
            fine = last_fields(line, t->channels, t->nan);
        else if (!csv_bin(t, line, row++, why, why_size))
            return false;
        if (!fine) return snprintf(why, why_size, "CSV line '%.60s'", line), false;
    }
    if (row != t->bins)
        return snprintf(why, why_size, "%lld bins in the CSV, wanted %lld", (long long)row, (long long)t->bins), false;
    return true;
}

/* The number behind `"key":` after `at`; moves `at` there. */
static bool json_number(const char **at, const char *key, double *value) {
    char quoted[32], *end;
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *found = strstr(*at, quoted);
    if (!found) return false;
    found += strlen(quoted);
    found += strspn(found, " \t\r\n:");
    *value = strtod(found, &end);
    *at = end;
    return end != found;
}

static bool json_channel(struct table *t, const char **at, int i) {
    const char *p = strstr(*at, "\"counts\"");
    double value;
    if (!p || !(p = strchr(p, '['))) return false;
    for (int64_t b = 0; b < t->bins; b++) {
        char *end;
        p += strspn(p, "[, \t\r\n");
        t->counts[i][b] = strtoll(p, &end, 10);
        if (end == p) return false;
        p = end;
    }
    p += strspn(p, " \t\r\n");
    if (*p != ']') return false;
    const char *q = p;
    if (!json_number(&q, "below", &value)) return false;
    t->below[i] = (int64_t)value, *at = q, q = p;
    if (!json_number(&q, "above", &value)) return false;
    t->above[i] = (int64_t)value, *at = q > *at ? q : *at, q = p;
    if (!json_number(&q, "nan", &value)) return false;
    t->nan[i] = (int64_t)value, *at = q > *at ? q : *at;
    return true;
}

static bool json_read(struct table *t, const imgpipe_image *in, const char *text, char *why, size_t why_size) {
    static const char *const types[] = {"\"u8\"", "\"u16\"", "\"f32\""};
    const char *at = text;
    double width = 0, height = 0, pixels = 0, bins = 0;
    bool fine = strstr(text, "\"version\"") && strstr(text, types[in->info.format.type]);
    fine = fine && json_number(&at, "width", &width) && json_number(&at, "height", &height) &&
           json_number(&at, "pixels", &pixels) && json_number(&at, "bins", &bins) && json_number(&at, "min", &t->first) &&
           json_number(&at, "max", &t->last);
    if (!fine || (int64_t)bins != t->bins || (int64_t)width != in->info.width || (int64_t)height != in->info.height ||
        (int64_t)pixels != in->info.width * in->info.height)
        return snprintf(why, why_size, "JSON head '%.120s'", text), false;
    for (int i = 0; i < t->channels; i++)
        if (!json_channel(t, &at, i)) return snprintf(why, why_size, "JSON channel %d", i), false;
    return true;
}

/* ---- counting */

/* Bin of v, -1 below, -2 above, -3 NaN. An integer v fills v … v + 1, so the bins of integers divide min … max + 1, exactly:
 * this is where 256 bins of u8 are one a value. Float: min … max, the last bin closed. */
static int64_t bin_of(const struct table *t, double v, bool integers) {
    double range = t->last - t->first;
    if (isnan(v)) return -3;
    if (v < t->first) return -1;
    if (v > t->last) return -2;
    if (!integers && range == 0) return 0;
    int64_t bin =
        integers ? (int64_t)(v - t->first) * t->bins / ((int64_t)range + 1) : (int64_t)((v - t->first) / range * (double)t->bins);
    return bin >= t->bins ? t->bins - 1 : bin;
}

static bool close_to_edge(const struct table *t, double v) {
    double place = (v - t->first) / (t->last - t->first) * (double)t->bins;
    return fabs(place - floor(place + 0.5)) < 1e-6 * fmax(1, place);
}

static bool channel_verify(const struct table *t, const imgpipe_image *in, int ch, char *why, size_t why_size) {
    int64_t *counts = calloc((size_t)t->bins, sizeof *counts), *doubt = calloc((size_t)t->bins + 1, sizeof *doubt);
    int64_t below = 0, above = 0, nans = 0, total = 0;
    bool right = counts && doubt, integers = in->info.format.type != IMGPIPE_F32;
    for (int64_t y = 0; right && y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++) {
            double v = sample_get(in, x, y, ch);
            int64_t bin = bin_of(t, v, integers);
            below += bin == -1, above += bin == -2, nans += bin == -3;
            if (bin < 0) continue;
            counts[bin]++;
            /* In float a sample on the edge of two bins may fall into either. */
            if (!integers && t->last > t->first && close_to_edge(t, v))
                doubt[bin]++, doubt[bin + 1]++, bin > 0 ? doubt[bin - 1]++ : 0;
        }
    for (int64_t b = 0; right && b < t->bins; b++) {
        total += t->counts[ch][b];
        right = llabs(t->counts[ch][b] - counts[b]) <= doubt[b];
        if (!right)
            snprintf(why, why_size, "channel %d bin %lld: %lld, wanted %lld", ch, (long long)b, (long long)t->counts[ch][b],
                     (long long)counts[b]);
    }
    total += t->below[ch] + t->above[ch] + t->nan[ch];
    free(counts), free(doubt);
    if (!right) return false;
    right = t->below[ch] == below && t->above[ch] == above && t->nan[ch] == nans && total == in->info.width * in->info.height;
    if (!right)
        snprintf(why, why_size, "channel %d: below %lld above %lld nan %lld total %lld, wanted %lld %lld %lld %lld", ch,
                 (long long)t->below[ch], (long long)t->above[ch], (long long)t->nan[ch], (long long)total, (long long)below,
                 (long long)above, (long long)nans, (long long)(in->info.width * in->info.height));
    return right;
}

/* The range is the one asked for; without it, the type's for integers and the finite minimum and maximum for f32. */
static bool range_verify(const struct oracle_case *c, struct table *t, const imgpipe_image *in, char *why, size_t why_size) {
    double least = INFINITY, most = -INFINITY, max = imgpipe_type_max(in->info.format.type);
    for (int64_t y = 0; y < in->info.height; y++)
        for (int64_t x = 0; x < in->info.width; x++)
            for (int ch = 0; ch < in->info.format.channels; ch++) {
                double v = sample_get(in, x, y, ch);
                if (isfinite(v)) least = fmin(least, v), most = fmax(most, v);
            }
    if (least > most) least = 0, most = 1;
    if (in->info.format.type != IMGPIPE_F32) least = 0, most = max;
    if (c->ranged) least = c->min, most = c->max;
    /* The CSV ends the last bin of integers where the next would begin. */
    if (in->info.format.type != IMGPIPE_F32 && !c->json) t->last -= 1;
    /* Float samples may be written with just the digits that tell them apart. */
    if ((float)t->first == (float)least && (float)t->last == (float)most) {
        if (in->info.format.type == IMGPIPE_F32) t->first = least, t->last = most;
        return true;
    }
    snprintf(why, why_size, "the range is %.9g to %.9g, wanted %.9g to %.9g", t->first, t->last, least, most);
    return false;
}

static bool hist_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                        size_t why_size) {
    if (c->pass && out && !oracle_identity(in, out, why, why_size)) return false;
    char *text = file_text(c->temporary);
    if (!text) return snprintf(why, why_size, "no side data in %s", c->temporary), false;
    struct table t;
    table_new(&t, in->info.format.channels, c->bins);
    bool right = c->json ? json_read(&t, in, text, why, why_size) : csv_read(&t, text, why, why_size);
    right = right && range_verify(c, &t, in, why, why_size);
    for (int ch = 0; right && ch < in->info.format.channels; ch++) right = channel_verify(&t, in, ch, why, why_size);
    table_free(&t);
    free(text);
    return right;
}

const struct oracle oracle_hist = {"hist", 80, 60, hist_accepts, hist_make, hist_output, hist_verify};

/* ---- the chart */

static void chart_make(struct oracle_case *c, struct rng *r) {
    c->chart_width = 640, c->chart_height = 400;
    chain_add(c, "hist");
    if (rng_chance(r, 60)) {
        c->chart_width = rng_range(r, 300, 900), c->chart_height = rng_range(r, 200, 600);
        chain_add(c, "=%d:%d", (int)c->chart_width, (int)c->chart_height);
        if (rng_chance(r, 50)) chain_add(c, rng_chance(r, 50) ? ":log" : ":scale=linear");
    }
}

/* Not blank: at least three colours, and more than one pixel in two hundred is not of the background's. */
static bool chart_verify(const struct oracle_case *c, const imgpipe_image *in, const imgpipe_image *out, char *why,
                         size_t why_size) {
    int64_t differing = 0, n = c->chart_width * c->chart_height;
    uint32_t seen[3] = {0};
    int colors = 0;
    const unsigned char *corner = sample_at(out, 0, 0, 0);
    (void)in;
    for (int64_t y = 0; y < c->chart_height; y++)
        for (int64_t x = 0; x < c->chart_width; x++) {
            const unsigned char *p = sample_at(out, x, y, 0);
            uint32_t color = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
            differing += memcmp(p, corner, 3) != 0;
            bool known = false;
            for (int i = 0; i < colors; i++) known |= seen[i] == color;
            if (!known && colors < 3) seen[colors++] = color;
        }
    if (colors == 3 && differing * 200 > n) return true;
    snprintf(why, why_size, "the chart looks blank: %d colours, %lld of %lld pixels drawn", colors, (long long)differing,
             (long long)n);
    return false;
}

const struct oracle oracle_chart = {"chart", 16, 60, hist_accepts, chart_make, hist_output, chart_verify};

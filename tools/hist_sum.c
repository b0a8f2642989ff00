#include "hist_sum.h"
#include "cut.h"
#include "imgpipe.h"
#include "json.h"
#include "json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAY(...) (snprintf(message, HIST_SUM_MESSAGE, __VA_ARGS__), false)
#define BINS_MOST ((uint64_t)1 << 20)

void hist_sum_free(struct hist_sum *sum) {
    free(sum->counts);
    free(sum->parts);
    *sum = (struct hist_sum){0};
}

/* ------------------------------------------------------------------------------------------------ reading */

/* A text or number that fits into `to`. */
static bool read_short(const struct json *json, const struct json_node *node, enum json_type type, char *to, size_t size) {
    char *text = node && node->type == type ? json_text(json, node) : NULL;
    bool right = text && *text && strlen(text) < size;
    if (right) strcpy(to, text);
    free(text);
    return right;
}

static bool is_type(const char *name) {
    return strcmp(name, "u8") == 0 || strcmp(name, "u16") == 0 || strcmp(name, "f32") == 0;
}

static bool read_channel(const struct json *json, const struct json_node *node, struct hist_sum *sum, int c) {
    const struct json_node *counts = json_member(json, node, "counts"), *at = NULL;
    if (!read_short(json, json_member(json, node, "name"), JSON_STRING, sum->names[c], sizeof sum->names[c])) return false;
    if (!json_count(json, json_member(json, node, "below"), &sum->below[c]) ||
        !json_count(json, json_member(json, node, "above"), &sum->above[c]) ||
        !json_count(json, json_member(json, node, "nan"), &sum->nan[c]))
        return false;
    if (!counts || counts->type != JSON_ARRAY) return false;
    uint64_t *to = sum->counts + (uint64_t)c * sum->bins, bin = 0;
    uint64_t left = sum->pixels; /* no counter may be above it, so that none overflows in a sum whose pixels do not */
    const uint64_t outside[] = {sum->below[c], sum->above[c], sum->nan[c]};
    for (int i = 0; i < 3; left -= outside[i++])
        if (outside[i] > left) return false;
    for (; (at = json_next(json, counts, at)); left -= to[bin++])
        if (bin >= sum->bins || !json_count(json, at, &to[bin]) || to[bin] > left) return false;
    return bin == sum->bins && left == 0;
}

/* The counts and what they are of; none, where the sum is of no image. */
static bool read_counts(const struct json *json, struct hist_sum *sum) {
    const struct json_node *root = json->nodes, *channels = json_member(json, root, "channels"), *at = NULL;
    if (!json_count(json, json_member(json, root, "pixels"), &sum->pixels) || !channels || channels->type != JSON_ARRAY)
        return false;
    for (int count = 0; (at = json_next(json, channels, at)); sum->channels = ++count)
        if (count == HIST_CHANNELS) return false;
    if (sum->channels == 0) return sum->images == 0 && sum->pixels == 0;
    bool right = json_count(json, json_member(json, root, "bins"), &sum->bins) && sum->bins > 0 && sum->bins <= BINS_MOST &&
                 read_short(json, json_member(json, root, "type"), JSON_STRING, sum->type, sizeof sum->type) &&
                 is_type(sum->type) && read_short(json, json_member(json, root, "min"), JSON_NUMBER, sum->min, sizeof sum->min) &&
                 read_short(json, json_member(json, root, "max"), JSON_NUMBER, sum->max, sizeof sum->max);
    sum->counts = right ? calloc((size_t)sum->channels * sum->bins, sizeof *sum->counts) : NULL;
    for (int c = 0; sum->counts && c < sum->channels && right; c++)
        right = (at = json_next(json, channels, at)) && read_channel(json, at, sum, c);
    return right && sum->counts;
}

static bool add_part(struct hist_sum *sum, uint64_t part) {
    uint64_t *parts = realloc(sum->parts, sizeof *parts * (sum->part_count + 1)), at = sum->part_count;
    if (!parts) return false;
    sum->parts = parts;
    for (; at > 0 && parts[at - 1] > part; at--) parts[at] = parts[at - 1];
    parts[at] = part;
    sum->part_count++;
    return true;
}

/* Once all parts are there they make one whole, which may be added to others. */
static void close_parts(struct hist_sum *sum) {
    if (sum->part_count != sum->shards) return;
    free(sum->parts);
    sum->parts = NULL;
    sum->part_count = sum->shards = 0;
}

bool hist_sum_set_part(struct hist_sum *sum, uint64_t part, uint64_t shards) {
    if (shards < 2) return true;
    sum->shards = shards;
    return add_part(sum, part);
}

/* What --merge-hist adds to what `hist` writes; without it, it is one image. */
static bool read_origin(const struct json *json, struct hist_sum *sum) {
    const struct json_node *root = json->nodes, *images = json_member(json, root, "images"), *at = NULL;
    const struct json_node *shards = json_member(json, root, "shards"), *parts = json_member(json, root, "parts");
    sum->images = 1;
    if (!images) return true;
    if (!json_count(json, images, &sum->images) || !json_count(json, json_member(json, root, "failed"), &sum->failed) ||
        !json_count(json, json_member(json, root, "missing"), &sum->missing))
        return false;
    if (!shards) return true;
    if (!json_count(json, shards, &sum->shards) || !parts || parts->type != JSON_ARRAY) return false;
    while ((at = json_next(json, parts, at))) {
        uint64_t part;
        bool right = json_count(json, at, &part) && part >= 1 && part <= sum->shards;
        for (uint64_t i = 0; i < sum->part_count; i++) right = right && sum->parts[i] != part;
        if (!right || !add_part(sum, part)) return false;
    }
    return sum->part_count > 0 && sum->part_count < sum->shards;
}

bool hist_sum_read(const char *text, size_t length, struct hist_sum *sum, char message[HIST_SUM_MESSAGE]) {
    struct json json;
    char why[200];
    *sum = (struct hist_sum){0};
    if (!json_parse(text, length, &json, why, sizeof why)) return SAY("it is no JSON: %s", why);
    bool right = json.nodes[0].type == JSON_OBJECT && read_origin(&json, sum) && read_counts(&json, sum);
    json_free(&json);
    if (right) return true;
    hist_sum_free(sum);
    return SAY("it is no whole histogram as hist=data=FILE.json and --merge-hist write it");
}

/* ------------------------------------------------------------------------------------------------- adding */

static bool same_names(const struct hist_sum *a, const struct hist_sum *b) {
    bool same = a->channels == b->channels;
    for (int c = 0; same && c < a->channels; c++) same = strcmp(a->names[c], b->names[c]) == 0;
    return same;
}

static bool same_bins(const struct hist_sum *a, const struct hist_sum *b) {
    return a->bins == b->bins && strtod(a->min, NULL) == strtod(b->min, NULL) && strtod(a->max, NULL) == strtod(b->max, NULL);
}

static bool has_alpha(const struct hist_sum *sum) {
    return strcmp(sum->names[sum->channels - 1], "alpha") == 0;
}

/* What makes images alike whose histograms are not. */
static const char *advice(const struct hist_sum *a, const struct hist_sum *b) {
    bool both = strcmp(a->type, b->type) == 0, real = strcmp(a->type, "f32") == 0 || strcmp(b->type, "f32") == 0;
    if (has_alpha(a) != has_alpha(b)) return "do images with alpha in a run of their own (--include, --exclude, --files-from)";
    if (!same_names(a, b))
        return both ? "put the stage gray before hist" : "put the stage gray before hist, and add --depth 16 (f32 if one is f32)";
    if (real) return both ? "say the same hist=bins=...:min=...:max=... for all" : "add --depth f32, and say hist=min=...:max=...";
    return both ? "use the same bins, min and max for all" : "add --depth 16";
}

static void describe(const struct hist_sum *sum, bool bins, char *text, size_t size) {
    int at = snprintf(text, size, "%s", sum->type);
    for (int c = 0; c < sum->channels; c++) at += snprintf(text + at, size - (size_t)at, " %s", sum->names[c]);
    if (bins)
        snprintf(text + at, size - (size_t)at, " in %" PRIu64 " bin%s from %s to %s", sum->bins, sum->bins == 1 ? "" : "s",
                 sum->min, sum->max);
}

static bool agree(const struct hist_sum *a, const struct hist_sum *b, char message[HIST_SUM_MESSAGE]) {
    char text[2][240], first[204] = "what came before";
    bool alike = strcmp(a->type, b->type) == 0 && same_names(a, b);
    if ((alike && same_bins(a, b)) || !a->channels || !b->channels) return true;
    describe(a, alike, text[0], sizeof text[0]);
    describe(b, alike, text[1], sizeof text[1]);
    if (a->first[0]) snprintf(first, sizeof first, "'%s'", a->first);
    return SAY("it is %.120s, but %.143s is %.120s; %s", text[1], CUT(first, 140), text[0], advice(a, b));
}

static bool parts_agree(const struct hist_sum *a, const struct hist_sum *b, char message[HIST_SUM_MESSAGE]) {
    if (!a->shards || !b->shards) return true;
    if (a->shards != b->shards)
        return SAY("it is of a run in %" PRIu64 " parts, and those before are of one in %" PRIu64
                   "; add up the parts of each run first",
                   b->shards, a->shards);
    for (uint64_t i = 0, k = 0; i < a->part_count && k < b->part_count;) {
        if (a->parts[i] == b->parts[k])
            return SAY("part %" PRIu64 " of %" PRIu64 " is in it, and in those before as well", a->parts[i], a->shards);
        if (a->parts[i] < b->parts[k])
            i++;
        else
            k++;
    }
    return true;
}

static uint64_t add(uint64_t a, uint64_t b, bool *fits) {
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) *fits = false;
    return sum;
}

/* No counter is above the number of pixels, so that if that fits all do. */
static bool fits(const struct hist_sum *a, const struct hist_sum *b) {
    bool right = true;
    add(a->pixels, b->pixels, &right);
    add(a->images, b->images, &right);
    add(a->failed, b->failed, &right);
    add(a->missing, b->missing, &right);
    return right;
}

static bool take_shape(struct hist_sum *into, const struct hist_sum *from) {
    uint64_t *counts = calloc((size_t)from->channels * from->bins, sizeof *counts);
    if (!counts) return false;
    into->counts = counts;
    into->channels = from->channels;
    into->bins = from->bins;
    memcpy(into->type, from->type, sizeof into->type);
    memcpy(into->names, from->names, sizeof into->names);
    memcpy(into->min, from->min, sizeof into->min);
    memcpy(into->max, from->max, sizeof into->max);
    memcpy(into->first, from->first, sizeof into->first);
    return true;
}

bool hist_sum_add(struct hist_sum *into, const struct hist_sum *from, char message[HIST_SUM_MESSAGE]) {
    if (!agree(into, from, message) || !parts_agree(into, from, message)) return false;
    if (!fits(into, from)) return SAY("the sum is beyond 2^64");
    if (!into->channels && from->channels && !take_shape(into, from)) return SAY("there is no memory for the sum; free some");
    for (uint64_t i = 0; i < from->part_count; i++)
        if (!add_part(into, from->parts[i])) return SAY("there is no memory for the sum; free some");
    if (from->shards) into->shards = from->shards;
    for (uint64_t i = 0; i < (uint64_t)from->channels * from->bins; i++) into->counts[i] += from->counts[i];
    for (int c = 0; c < from->channels; c++) {
        into->below[c] += from->below[c];
        into->above[c] += from->above[c];
        into->nan[c] += from->nan[c];
    }
    into->pixels += from->pixels;
    into->images += from->images;
    into->failed += from->failed;
    into->missing += from->missing;
    close_parts(into);
    return true;
}

/* ------------------------------------------------------------------------------------------------- telling */

bool hist_sum_complete(const struct hist_sum *sum) {
    return sum->failed == 0 && sum->missing == 0 && sum->shards == 0;
}

void hist_sum_lacks(const struct hist_sum *sum, char *text, size_t size) {
    int at = 0;
    text[0] = 0;
    if (sum->failed) at += snprintf(text, size, "%" PRIu64 " image%s that failed", sum->failed, sum->failed == 1 ? "" : "s");
    if (sum->missing)
        at += snprintf(text + at, size - (size_t)at, "%s%" PRIu64 " image%s that the run left out", at ? ", " : "", sum->missing,
                       sum->missing == 1 ? "" : "s");
    if (!sum->shards) return;
    uint64_t first = 1;
    while (first <= sum->part_count && sum->parts[first - 1] == first) first++;
    snprintf(text + at, size - (size_t)at, "%s%" PRIu64 " of %" PRIu64 " parts, beginning with part %" PRIu64, at ? ", " : "",
             sum->shards - sum->part_count, sum->shards, first);
}

void hist_sum_write(const struct hist_sum *sum, FILE *to) {
    fprintf(to,
            "{\"version\":\"" IMGPIPE_VERSION "\",\"complete\":%s,\"images\":%" PRIu64 ",\"failed\":%" PRIu64
            ",\"missing\":%" PRIu64,
            hist_sum_complete(sum) ? "true" : "false", sum->images, sum->failed, sum->missing);
    if (sum->shards) fprintf(to, ",\"shards\":%" PRIu64 ",\"parts\":[", sum->shards);
    for (uint64_t i = 0; i < sum->part_count; i++) fprintf(to, "%s%" PRIu64, i ? "," : "", sum->parts[i]);
    if (sum->shards) putc(']', to);
    fprintf(to, ",\n\"pixels\":%" PRIu64, sum->pixels);
    if (sum->channels)
        fprintf(to, ",\"type\":\"%s\",\"bins\":%" PRIu64 ",\"min\":%s,\"max\":%s", sum->type, sum->bins, sum->min, sum->max);
    fputs(",\"channels\":[", to);
    for (int c = 0; c < sum->channels; c++) {
        fputs(c ? ",\n{\"name\":" : "\n{\"name\":", to);
        json_string(to, sum->names[c]);
        fputs(",\"counts\":[", to);
        for (uint64_t bin = 0; bin < sum->bins; bin++)
            fprintf(to, "%s%" PRIu64, bin ? "," : "", sum->counts[(uint64_t)c * sum->bins + bin]);
        fprintf(to, "],\"below\":%" PRIu64 ",\"above\":%" PRIu64 ",\"nan\":%" PRIu64 "}", sum->below[c], sum->above[c],
                sum->nan[c]);
    }
    fputs("\n]}\n", to);
}

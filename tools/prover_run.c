/* Running a chain in any of the ways that must not matter. */
#include "prover.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prover_options prover_options = {.device = "cpu", .isa = -1};

void story_add(struct story *s, const char *format, ...) {
    size_t used = strlen(s->what);
    va_list args;
    va_start(args, format);
    vsnprintf(s->what + used, sizeof s->what - used, format, args);
    va_end(args);
}

void story_variant(struct story *s, const struct variant *v) {
    story_add(s, " [%s threads %d isa %s strip %lld step %lld%s]", v->device, v->threads, imgpipe_isa_name(v->isa),
              (long long)v->strip_rows, (long long)v->step_rows, v->poison ? ", unused memory filled" : "");
}

int isa_count(void) {
    int n = 0;
    while (imgpipe_isa_name(n)) n++;
    return n;
}

struct variant variant_plain(void) {
    return (struct variant){"cpu", 1, prover_options.isa >= 0 ? prover_options.isa : 0, 1 << 30, 0, false};
}

struct variant variant_random(struct rng *r) {
    static const int64_t strips[] = {0, 1, 2, 5, 7, 16, 64}, steps[] = {0, 1, 2, 3, 8, 32};
    struct variant v = {prover_options.device,      (int)rng_range(r, 1, 3),   (int)rng_range(r, 0, isa_count() - 1),
                        strips[rng_range(r, 0, 6)], steps[rng_range(r, 0, 5)], rng_chance(r, 50)};
    /* A device has no use for instruction sets, and every context takes some of its memory. */
    if (strcmp(v.device, "cpu")) v.isa = 0;
    if (prover_options.isa >= 0) v.isa = prover_options.isa;
    return v;
}

struct kept_engine {
    char device[16];
    int threads, isa;
    imgpipe_context *context;
};
static struct kept_engine kept[64];
static int kept_count;

imgpipe_context *engine(const struct variant *v, imgpipe_error *error) {
    for (int i = 0; i < kept_count; i++)
        if (kept[i].threads == v->threads && kept[i].isa == v->isa && !strcmp(kept[i].device, v->device)) return kept[i].context;
    imgpipe_context_options options = imgpipe_context_options_default();
    struct kept_engine *k = &kept[kept_count];
    if (kept_count == 64) abort();
    options.device = v->device, options.threads = v->threads, options.isa = imgpipe_isa_name(v->isa);
    if (imgpipe_context_new(&options, &k->context, error) != IMGPIPE_OK) return NULL;
    snprintf(k->device, sizeof k->device, "%s", v->device);
    k->threads = v->threads, k->isa = v->isa;
    kept_count++;
    return k->context;
}

void engines_free(void) {
    while (kept_count) imgpipe_context_free(&kept[--kept_count].context);
}

static enum outcome wrong(struct story *story, const char *what, const char *message) {
    snprintf(story->why, sizeof story->why, "%s: %s", what, message);
    return FAILED;
}

/* Keeps the side data of all stages, one behind the other. */
static bool take_data(void *user, const imgpipe_filter *filter, const char *json, size_t length) {
    struct picture *to = user;
    size_t before = to->data ? strlen(to->data) : 0;
    char *data = realloc(to->data, before + length + 1);
    (void)filter;
    if (!data) return false;
    memcpy(data + before, json, length);
    data[before + length] = 0;
    to->data = data;
    return true;
}

enum outcome chain_run(const imgpipe_chain *chain, const struct variant *v, const struct picture *in, struct picture *out,
                       struct rng *r, struct story *story) {
    imgpipe_error error = {0};
    imgpipe_info info;
    imgpipe_context *context = engine(v, &error);
    if (!context) return wrong(story, "imgpipe_context_new", error.message);
    imgpipe_run_options options = imgpipe_run_options_default();
    options.strip_rows = v->strip_rows, options.step_rows = v->step_rows, options.poison = v->poison;
    imgpipe_status status = imgpipe_chain_output(context, chain, &in->image.info, &options, &info, &error);
    if (status == IMGPIPE_ERROR_ARGUMENT) {
        snprintf(story->why, sizeof story->why, "%s", error.message);
        return error.message[0] ? REFUSED : wrong(story, "refused", "no reason given");
    }
    if (status != IMGPIPE_OK) return wrong(story, "imgpipe_chain_output", error.message);
    uint64_t before = hash_bytes(in->base, in->size, 0);
    if (out) {
        picture_new(out, info, r);
        options.take_data = take_data;
        options.take_user = out;
    }
    status = imgpipe_run_image(context, chain, &in->image, out ? &out->image : NULL, &options, NULL, &error);
    enum outcome outcome = PASSED;
    if (watch_broken(story)) /* says more than where pixels differ */
        outcome = FAILED;
    else if (status != IMGPIPE_OK)
        outcome = wrong(story, "imgpipe_run_image", error.message);
    else if (out && !picture_guards_intact(out))
        outcome = wrong(story, "guard bytes", "bytes around the output rows were overwritten");
    else if (hash_bytes(in->base, in->size, 0) != before)
        outcome = wrong(story, "input", "the input was changed");
    if (outcome != PASSED && out) picture_free(out);
    return outcome;
}

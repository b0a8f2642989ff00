/* The prover: whatever a filter computes, it must compute the same bytes in strips and steps of any height, on any number of
 * threads, with every instruction set, with garbage in all memory that it has not asked for, and on every device. It knows
 * no filter; the registry tells it what there is. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t strip_heights[] = {1, 7, 64, 1 << 30}, step_heights[] = {1, 3, 8, 32};

/* Runs one variant and compares with the plain result. */
static enum outcome same(const imgpipe_chain *chain, const struct variant *v, const struct picture *in, const struct picture *plain,
                         struct rng *r, struct story *story) {
    struct picture out;
    size_t told = strlen(story->what);
    story_variant(story, v);
    enum outcome outcome = chain_run(chain, v, in, &out, r, story);
    if (outcome == REFUSED) return FAILED; /* the plain way was accepted */
    if (outcome != PASSED) return outcome;
    bool equal = pictures_equal(&plain->image, &out.image, story->why, sizeof story->why);
    picture_free(&out);
    if (!equal) return FAILED;
    story->what[told] = 0;
    return PASSED;
}

static enum outcome prove_variants(const imgpipe_chain *chain, const struct picture *in, const struct picture *plain, struct rng *r,
                                   struct story *story) {
    struct variant v = variant_plain();
    enum outcome outcome = PASSED;
    if (strcmp(check_options.device, "cpu")) {
        for (int i = 0; i < 3 && outcome == PASSED; i++) {
            v = variant_random(r);
            if (i == 0) v.strip_rows = 1 << 30;
            outcome = same(chain, &v, in, plain, r, story);
        }
        return outcome;
    }
    for (int isa = 0; isa < isa_count() && outcome == PASSED; isa++) {
        v.isa = isa, v.poison = isa & 1;
        outcome = same(chain, &v, in, plain, r, story);
    }
    for (int i = 0; i < 16 && outcome == PASSED; i++) {
        /* A quick run takes a quarter of the pairs of strip and step, another one in every case. */
        if (check_options.quick && !rng_chance(r, 25)) continue;
        v = variant_random(r);
        v.strip_rows = strip_heights[i / 4], v.step_rows = step_heights[i % 4], v.poison = rng_chance(r, 70);
        outcome = same(chain, &v, in, plain, r, story);
    }
    return outcome;
}

/* The chain's result must be that of its stages run one after the other, each from memory to memory: fusing and streaming
 * are not allowed to be seen. `out` gets the result. */
static enum outcome compose(char *text, const struct picture *in, struct picture *out, struct story *story) {
    struct picture at = *in, next;
    struct variant plain = variant_plain();
    for (char *stage = text, *end; stage; stage = end) {
        bool quoted = false;
        for (end = stage; *end && (quoted || *end != ','); end++) quoted ^= *end == '\'';
        char kept = *end;
        *end = 0;
        imgpipe_chain *chain = NULL;
        imgpipe_error error;
        enum outcome outcome = FAILED;
        if (imgpipe_chain_parse(stage, &chain, &error))
            snprintf(story->why, sizeof story->why, "%.2000s: %s", stage, error.message);
        else
            outcome = chain_run(chain, &plain, &at, &next, NULL, story);
        imgpipe_chain_free(&chain);
        *end = kept;
        end = kept ? end + 1 : NULL;
        if (at.base != in->base) picture_free(&at);
        if (outcome != PASSED) {
            story_add(story, " (stage by stage)");
            return outcome;
        }
        at = next;
    }
    *out = at;
    return PASSED;
}

static enum outcome prove_composition(const char *text, const struct picture *in, const struct picture *plain,
                                      struct story *story) {
    char copy[4096];
    struct picture out;
    snprintf(copy, sizeof copy, "%s", text);
    enum outcome outcome = compose(copy, in, &out, story);
    if (outcome != PASSED) return FAILED;
    bool same_size = out.image.info.width == plain->image.info.width && out.image.info.height == plain->image.info.height;
    if (!same_size) snprintf(story->why, sizeof story->why, "sizes differ");
    bool equal = same_size && pictures_equal(&out.image, &plain->image, story->why, sizeof story->why);
    picture_free(&out);
    if (!equal) story_add(story, " (against its stages one by one)");
    return equal ? PASSED : FAILED;
}

static enum outcome prove_chain(const char *text, bool composition, int limit, struct rng *r, struct story *story) {
    imgpipe_info info = {.format = format_random(r)};
    char line[64];
    imgpipe_error error;
    imgpipe_chain *chain = NULL;
    struct picture in, plain;
    struct variant v = variant_plain();
    size_random(r, limit, &info.width, &info.height);
    if (check_options.small) size_small(&info);
    enum content content = content_random(info.format.type, r);
    story_add(story, "%s on %s, %s", text, info_text(&info, line), content_names[content]);
    if (imgpipe_chain_parse(text, &chain, &error)) return snprintf(story->why, sizeof story->why, "%s", error.message), REFUSED;
    picture_new(&in, info, rng_chance(r, 70) ? r : NULL);
    picture_fill(&in, content, r);
    enum outcome outcome = chain_run(chain, &v, &in, &plain, NULL, story);
    if (outcome == PASSED) {
        outcome = prove_variants(chain, &in, &plain, r, story);
        if (outcome == PASSED && composition) outcome = prove_composition(text, &in, &plain, story);
        picture_free(&plain);
    }
    picture_free(&in);
    imgpipe_chain_free(&chain);
    return outcome;
}

static enum outcome prove_filter(const void *of, struct rng *r, struct story *story) {
    char text[2048] = "";
    random_stage(of, r, text, sizeof text);
    return prove_chain(text, false, 80, r, story);
}

static enum outcome prove_random_chain(const void *of, struct rng *r, struct story *story) {
    char text[4096];
    (void)of;
    random_chain(r, text, sizeof text);
    return prove_chain(text, true, 60, r, story);
}

int prover_tests(struct check_test *tests, int capacity) {
    int count = 0;
    const imgpipe_filter *filter;
    for (int i = 0; (filter = imgpipe_filter_at(i)) && count < capacity - 1; i++) {
        struct check_test test = {"", prove_filter, filter, 200, 4000};
        if (filter->kind == IMGPIPE_GATHER) test.quick = 60, test.full = 600;
        snprintf(test.name, sizeof test.name, "prover/%s", filter->name);
        tests[count++] = test;
    }
    tests[count++] = (struct check_test){"prover/chains", prove_random_chain, NULL, 500, 12000};
    if (check_options.chains >= 0) tests[count - 1].quick = tests[count - 1].full = check_options.chains;
    return count;
}

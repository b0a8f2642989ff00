/* The same bytes in strips and steps of any height, on any number of threads, with every instruction set, with garbage in all
 * memory that was not asked for, of a part of the image, frame by frame, and on every device. */
#include "prover.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t strip_heights[] = {1, 7, 64, 1 << 30}, step_heights[] = {1, 3, 8, 32};

/* Whether the result follows what memory holds that a run fills when asked to, and nothing else: two runs that fill it agree, one
 * that does not, in memory that is new, does not. */
static bool follows_memory(const imgpipe_chain *chain, const struct variant *v, const struct picture *in) {
    struct variant filled = *v, bare = *v;
    struct picture out[3];
    struct story unused = {.what = ""};
    int made = 0;
    filled.poison = true, bare.poison = false;
    for (; made < 3; made++) {
        if (made == 2) engines_free();
        if (chain_run(chain, made < 2 ? &filled : &bare, in, &out[made], NULL, &unused) != PASSED) break;
    }
    bool follows = made == 3 && pictures_equal(&out[0].image, &out[1].image, unused.why, sizeof unused.why) &&
                   !pictures_equal(&out[0].image, &out[2].image, unused.why, sizeof unused.why);
    while (made > 0) picture_free(&out[--made]);
    return follows;
}

/* Runs one variant and compares with the plain result. */
static enum outcome same(const imgpipe_chain *chain, const struct variant *v, const struct picture *in, const struct picture *plain,
                         struct rng *r, struct story *story) {
    struct picture out;
    size_t told = strlen(story->what);
    story_variant(story, v);
    enum outcome outcome = chain_run(chain, v, in, &out, r, story);
    if (outcome == REFUSED) { /* the plain way was accepted */
        char reason[1024];
        snprintf(reason, sizeof reason, "%.1000s", story->why);
        snprintf(story->why, sizeof story->why, "refused, but not by other ways to run it: %s", reason);
        return FAILED;
    }
    if (outcome != PASSED) return outcome;
    bool equal = pictures_equal(&plain->image, &out.image, story->why, sizeof story->why);
    if (equal && strcmp(plain->data ? plain->data : "", out.data ? out.data : "") != 0) {
        snprintf(story->why, sizeof story->why, "its side data are %.900s, and were %.900s", out.data ? out.data : "none",
                 plain->data ? plain->data : "none");
        equal = false;
    }
    picture_free(&out);
    if (!equal && follows_memory(chain, v, in)) {
        char where[300];
        snprintf(where, sizeof where, "%.280s", story->why);
        snprintf(story->why, sizeof story->why,
                 "its result changes with memory that need() did not ask for (columns beyond the window), or with what scratch "
                 "held: %s",
                 where);
    }
    if (!equal) return FAILED;
    story->what[told] = 0;
    return PASSED;
}

static bool wrong(struct story *story, const char *call, const imgpipe_error *error) {
    snprintf(story->why, sizeof story->why, "%s: %s", call, error->message);
    return false;
}

/* A part of the image must be what it is in the whole: what a filter makes of a window depends on nothing but the window. Chains
 * that depend on all pixels are refused. */
static enum outcome prove_region(const imgpipe_chain *chain, const struct picture *in, const struct picture *plain, struct rng *r,
                                 struct story *story) {
    struct variant v = variant_random(r);
    imgpipe_run_options options = imgpipe_run_options_default();
    imgpipe_image whole = plain->image;
    imgpipe_error error;
    imgpipe_rect part = {rng_range(r, 0, whole.info.width - 1), rng_range(r, 0, whole.info.height - 1), 0, 0};
    part.x1 = rng_range(r, part.x0 + 1, whole.info.width), part.y1 = rng_range(r, part.y0 + 1, whole.info.height);
    imgpipe_context *context = engine(&v, &error);
    if (!context) return wrong(story, "imgpipe_context_new", &error), FAILED;
    options.strip_rows = v.strip_rows, options.step_rows = v.step_rows, options.poison = v.poison;
    whole.pixels = (unsigned char *)sample_at(&whole, part.x0, part.y0, 0);
    whole.info.width = part.x1 - part.x0, whole.info.height = part.y1 - part.y0;
    struct picture out;
    picture_new(&out, whole.info, r);
    imgpipe_status status = imgpipe_run_region(context, chain, &in->image, part, &out.image, &options, NULL, &error);
    bool right = status == IMGPIPE_OK || status == IMGPIPE_ERROR_ARGUMENT || wrong(story, "imgpipe_run_region", &error);
    if (status == IMGPIPE_OK) right = pictures_equal(&whole, &out.image, story->why, sizeof story->why);
    picture_free(&out);
    if (right) return PASSED;
    story_variant(story, &v);
    story_add(story, " (only the region from column %lld, row %lld on, of %lld x %lld)", (long long)part.x0, (long long)part.y0,
              (long long)whole.info.width, (long long)whole.info.height);
    return FAILED;
}

/* Frame by frame: a plan for a larger size, used twice. Stages that write files are refused. */
static enum outcome prove_frames(const imgpipe_chain *chain, const struct picture *in, const struct picture *plain, struct rng *r,
                                 struct story *story) {
    struct variant v = variant_plain();
    imgpipe_info largest = in->image.info;
    imgpipe_error error;
    imgpipe_plan *plan = NULL;
    v.threads = (int)rng_range(r, 1, 3);
    imgpipe_context *context = engine(&v, &error);
    if (!context) return wrong(story, "imgpipe_context_new", &error), FAILED;
    largest.width += rng_range(r, 0, 9), largest.height += rng_range(r, 0, 9);
    imgpipe_status status = imgpipe_prepare(context, chain, &largest, NULL, &plan, &error);
    if (status == IMGPIPE_ERROR_ARGUMENT) return PASSED;
    bool right = status == IMGPIPE_OK || wrong(story, "imgpipe_prepare", &error);
    for (int frame = 0; frame < 2 && right; frame++) {
        struct picture out;
        picture_new(&out, plain->image.info, r);
        right = imgpipe_plan_run(plan, &in->image, &out.image, &error) == IMGPIPE_OK || wrong(story, "imgpipe_plan_run", &error);
        right = right && pictures_equal(&plain->image, &out.image, story->why, sizeof story->why);
        if (!right) story_add(story, " (frame %d of a prepared plan, %d threads)", frame, v.threads);
        picture_free(&out);
    }
    imgpipe_plan_free(&plan);
    return right ? PASSED : FAILED;
}

static enum outcome prove_variants(const imgpipe_chain *chain, const struct picture *in, const struct picture *plain, struct rng *r,
                                   struct story *story) {
    struct variant v = variant_plain();
    enum outcome outcome = PASSED;
    if (strcmp(prover_options.device, "cpu")) {
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
        if (prover_options.quick && !rng_chance(r, 25)) continue;
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

/* One case. `proof` is NULL for a chain of several stages, which is compared with them one by one. */
static enum outcome prove(const char *text, const struct proof *proof, int limit, struct rng *r, struct story *story) {
    imgpipe_info info = {.format = format_random(r)};
    char line[64];
    imgpipe_error error;
    imgpipe_chain *chain = NULL;
    struct picture in, plain;
    struct variant v = variant_plain();
    size_random(r, limit, &info.width, &info.height);
    if (prover_options.small) size_small(&info);
    enum content content = content_random(info.format.type, r);
    story_add(story, "%s on %s, %s", text, info_text(&info, line), content_names[content]);
    /* In front of the filter's name there may be spaces. */
    const char *values = proof ? text + strspn(text, " \t\n") + strlen(proof->filter->name) : NULL;
    if (proof ? watch_parse(proof->filter, values, &chain, &error)
              : imgpipe_chain_parse_with(prover_options.registry, text, &chain, &error))
        return snprintf(story->why, sizeof story->why, "%s", error.message), REFUSED;
    picture_new(&in, info, rng_chance(r, 70) ? r : NULL);
    picture_fill(&in, content, r);
    enum outcome outcome = chain_run(chain, &v, &in, &plain, r, story);
    if (outcome == PASSED) {
        outcome = prove_variants(chain, &in, &plain, r, story);
        if (outcome == PASSED) outcome = prove_region(chain, &in, &plain, r, story);
        if (outcome == PASSED) outcome = prove_frames(chain, &in, &plain, r, story);
        if (outcome == PASSED && !proof) outcome = prove_composition(text, &in, &plain, story);
        if (proof && watch_broken(story)) outcome = FAILED;
        picture_free(&plain);
    }
    picture_free(&in);
    imgpipe_chain_free(&chain);
    return outcome;
}

enum outcome prove_filter(const struct proof *proof, struct rng *r, struct story *story) {
    char text[4096] = "";
    bool complete = random_stage(proof, false, r, text, sizeof text);
    enum outcome outcome = prove(text, proof, 80, r, story);
    if (outcome != REFUSED || complete) return outcome;
    /* What it lacks may be what it cannot do without. */
    text[0] = story->what[0] = story->why[0] = 0;
    random_stage(proof, true, r, text, sizeof text);
    return prove(text, proof, 80, r, story);
}

enum outcome prove_chain(struct rng *r, struct story *story) {
    char text[4096];
    random_chain(r, text, sizeof text);
    return prove(text, NULL, 60, r, story);
}

void proof_cases(const imgpipe_filter *filter, long *quick, long *full) {
    bool gather = filter->kind == IMGPIPE_GATHER;
    *quick = gather ? 60 : 200;
    *full = gather ? 600 : 4000;
}

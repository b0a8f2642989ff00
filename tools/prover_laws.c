/* Laws that results need not show. The filter is copied under another name, with functions of the copy that look at what those
 * of the filter do: the engine itself then calls them as it calls any filter's. */
#include "prover.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct watch {
    imgpipe_filter filter; /* first: stages point to it */
    const imgpipe_filter *of;
    imgpipe_gather_function gather;
    atomic_int tries, broken;
    char why[600]; /* by the first that finds a law broken */
};

static struct watch *watch_of(const imgpipe_stage *stage) {
    return (struct watch *)(void *)stage->filter;
}

IMGPIPE_PRINTF(2, 3)
static void break_law(struct watch *watch, const char *format, ...) {
    va_list args;
    if (atomic_fetch_add(&watch->broken, 1)) return;
    va_start(args, format);
    vsnprintf(watch->why, sizeof watch->why, format, args);
    va_end(args);
}

/* --------------------------------------------------------------------------------------------------- need() */

static bool same_rect(imgpipe_rect a, imgpipe_rect b) {
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

/* The first and the last row of the rectangle, which need no more than all of it. */
static imgpipe_rect watched_need(const imgpipe_stage *stage, imgpipe_rect out) {
    struct watch *watch = watch_of(stage);
    imgpipe_rect found = watch->of->need(stage, out), again = watch->of->need(stage, out);
    if (!same_rect(found, again))
        break_law(watch, "need() of the same rectangle is not the same the second time; it must be a pure function of the stage");
    for (int i = 0; i < 2; i++) {
        imgpipe_rect row = {out.x0, i ? out.y1 - 1 : out.y0, out.x1, i ? out.y1 : out.y0 + 1}, part = watch->of->need(stage, row);
        if (part.x0 < found.x0 || part.y0 < found.y0 || part.x1 > found.x1 || part.y1 > found.y1)
            break_law(watch, "need() of rows %lld to %lld does not hold what it needs of row %lld alone", (long long)out.y0,
                      (long long)out.y1, (long long)row.y0);
    }
    return found;
}

/* -------------------------------------------------------------------------------------------------- merge() */

/* a + b + c in one order, by copies. `to` is scratch. */
static void add_up(const imgpipe_stage *stage, unsigned char *to, const unsigned char *a, const unsigned char *b) {
    memcpy(to, a, stage->gather_size);
    watch_of(stage)->of->merge(stage, to, b);
}

/* Three states, each of one row. */
static void try_merges(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    struct watch *watch = watch_of(stage);
    size_t size = stage->gather_size;
    unsigned char *all = calloc(6, size);
    if (!all) return;
    unsigned char *state[3] = {all, all + size, all + 2 * size}, *x = all + 3 * size, *y = all + 4 * size, *z = all + 5 * size;
    for (int i = 0; i < 3; i++) {
        imgpipe_rows one = *rows;
        one.in += i, one.y += i, one.in_y += i;
        one.count = one.in_count = 1;
        watch->gather(stage, &one, state[i]);
    }
    add_up(stage, x, state[0], state[1]);
    add_up(stage, y, state[1], state[0]);
    if (memcmp(x, y, size) != 0)
        break_law(watch,
                  "merge() is not commutative: rows %lld and %lld, merged in one order and in the other, give different states",
                  (long long)rows->y, (long long)rows->y + 1);
    add_up(stage, y, x, state[2]);
    add_up(stage, z, state[1], state[2]);
    add_up(stage, x, state[0], z);
    if (memcmp(x, y, size) != 0)
        break_law(watch, "merge() is not associative: rows %lld to %lld, merged as (a b) c and as a (b c), give different states",
                  (long long)rows->y, (long long)rows->y + 2);
    free(all);
}

static void watched_gather(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    struct watch *watch = watch_of(stage);
    if (rows->count >= 3 && atomic_fetch_add(&watch->tries, 1) < 4) try_merges(stage, rows);
    watch->gather(stage, rows, state);
}

static imgpipe_status watched_setup(imgpipe_stage *stage, imgpipe_error *error) {
    struct watch *watch = watch_of(stage);
    imgpipe_status failed = watch->of->setup(stage, error);
    if (failed) return failed;
    watch->gather = stage->gather;
    if (stage->gather) stage->gather = watched_gather;
    return IMGPIPE_OK;
}

/* ------------------------------------------------------------------------------------------------------- all */

#define WATCHED "watched"

enum outcome prove_laws(const imgpipe_filter *filter, const char *values, const struct picture *in, const struct picture *plain,
                        struct rng *r, struct story *story) {
    struct watch watch = {.filter = *filter, .of = filter};
    struct variant v = variant_random(r);
    imgpipe_registry *registry = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    struct picture out;
    char text[4200];
    watch.filter.name = WATCHED;
    if (filter->setup) watch.filter.setup = watched_setup;
    if (filter->need) watch.filter.need = watched_need;
    v.device = "cpu";
    if (filter->kind == IMGPIPE_GATHER) v.strip_rows = 1 << 30, v.step_rows = 0; /* many rows a call */
    snprintf(text, sizeof text, WATCHED "%s", values);
    imgpipe_status status = imgpipe_registry_new(&registry, &error);
    if (!status) status = imgpipe_registry_add(registry, &watch.filter, &error);
    if (!status) status = imgpipe_chain_parse_with(registry, text, &chain, &error);
    if (status) snprintf(story->why, sizeof story->why, "%s", error.message);
    enum outcome outcome = status ? FAILED : chain_run(chain, &v, in, &out, r, story);
    bool right = outcome == PASSED && pictures_equal(&plain->image, &out.image, story->why, sizeof story->why);
    if (outcome == PASSED) picture_free(&out);
    if (atomic_load(&watch.broken)) { /* says more than where pixels differ */
        snprintf(story->why, sizeof story->why, "%s", watch.why);
        right = false;
    }
    imgpipe_chain_free(&chain);
    imgpipe_registry_free(&registry);
    if (!right) story_variant(story, &v);
    return right ? PASSED : FAILED;
}

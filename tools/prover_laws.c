/* Laws that results need not show. The filter is copied, with functions of the copy that look at what those of the filter do: the
 * engine itself then calls them as it calls any filter's. */
#include "prover.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct watch {
    imgpipe_filter filter; /* first: stages point to it */
    const imgpipe_filter *of;
    imgpipe_gather_function gather;
    imgpipe_rows_function rows;
    atomic_int tries, looks, broken;
    char why[600]; /* by the first that finds a law broken */
};

/* One filter is proved at a time. */
static struct watch the_watch;

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

/* ------------------------------------------------------------------------------------------ scratch and state */

/* The engine gives a watched stage that much more of both, and the filter gets the part between. Its end is that of the bytes that
 * setup() asked for, with nothing for alignment between. */
#define FENCE_BEFORE IMGPIPE_ROW_ALIGN
#define FENCE_BEHIND 4096
#define FENCES (FENCE_BEFORE + FENCE_BEHIND)

static void fence_size(size_t *size) {
    if (*size < SIZE_MAX / 2) *size += FENCES; /* what is larger is refused, and must not wrap around to a size that is not */
}

/* The stage as the filter knows it. */
static imgpipe_stage unfenced(const imgpipe_stage *stage) {
    imgpipe_stage own = *stage;
    own.state_size -= FENCES;
    own.scratch_size -= FENCES;
    return own;
}

static void fill_fences(unsigned char *block, size_t size, int value) {
    memset(block, value, FENCE_BEFORE);
    memset(block + FENCE_BEFORE + size, value, FENCE_BEHIND);
}

/* All bytes are the first, and each is the one before. */
static bool is_filled(const unsigned char *bytes, size_t count, int value) {
    return bytes[0] == value && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static void check_fences(struct watch *watch, const char *call, const char *what, const unsigned char *block, size_t size,
                         int value) {
    if (!is_filled(block + FENCE_BEFORE + size, FENCE_BEHIND, value))
        break_law(watch, "%s writes beyond its %s of %zu bytes; let setup() ask for more", call, what, size);
    if (!is_filled(block, FENCE_BEFORE, value)) break_law(watch, "%s writes before its %s", call, what);
}

#define SCRATCH_FENCE 0xa5
#define STATE_FENCE 0 /* as the engine clears it, from call to call */

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

static uint64_t hash_input(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    uint64_t hash = 0;
    for (int i = 0; i < rows->in_count; i++)
        hash = hash_bytes(rows->in[i], (size_t)rows->in_width * imgpipe_pixel_size(stage->in.format), hash);
    return hash;
}

/* Some calls of a case are enough. */
#define LOOKS_MOST 200

static void watched_gather(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state) {
    struct watch *watch = watch_of(stage);
    imgpipe_stage seen = unfenced(stage);
    imgpipe_rows own = *rows;
    own.scratch = (unsigned char *)rows->scratch + FENCE_BEFORE;
    fill_fences(rows->scratch, seen.scratch_size, SCRATCH_FENCE);
    if (rows->count >= 3 && atomic_fetch_add(&watch->tries, 1) < 4) try_merges(&seen, &own);
    bool look = atomic_fetch_add(&watch->looks, 1) < LOOKS_MOST;
    uint64_t before = look ? hash_input(stage, rows) : 0;
    watch->gather(&seen, &own, state);
    check_fences(watch, "gather()", "scratch", rows->scratch, seen.scratch_size, SCRATCH_FENCE);
    if (look && hash_input(stage, rows) != before)
        break_law(watch, "gather() writes into its input rows; they are to be read only");
}

/* --------------------------------------------------------------------------------------------------- rows() */

/* Pointers before and behind those of the input rows lead to memory that nobody may touch, each to a place of its own, so that the
 * address of a crash tells which one was used. */
#define GUARDS_BEFORE 8
#define GUARDS_BEHIND 24
#define GUARD_SPACE ((size_t)1 << 20)
#define GUARDS_SIZE ((GUARDS_BEFORE + GUARDS_BEHIND) * GUARD_SPACE)
static unsigned char *guards;
static _Thread_local int guarded_count;

bool watch_guard(const void *address, int *index, int *count) {
    const unsigned char *at = address;
    if (!guards || at < guards || at >= guards + GUARDS_SIZE) return false;
    int slot = (int)((size_t)(at - guards) / GUARD_SPACE);
    *count = guarded_count;
    *index = slot < GUARDS_BEFORE ? slot - GUARDS_BEFORE : guarded_count + slot - GUARDS_BEFORE;
    return true;
}

static const void *guard(int slot) {
    return guards + (size_t)slot * GUARD_SPACE + GUARD_SPACE / 2;
}

static void watched_rows(const imgpipe_stage *stage, const imgpipe_rows *rows) {
    struct watch *watch = watch_of(stage);
    const void **in = malloc(sizeof *in * ((size_t)rows->in_count + GUARDS_BEFORE + GUARDS_BEHIND));
    imgpipe_stage seen = unfenced(stage);
    imgpipe_rows own = *rows;
    bool look = atomic_fetch_add(&watch->looks, 1) < LOOKS_MOST;
    uint64_t before = look ? hash_input(stage, rows) : 0;
    if (in && guards) {
        for (int i = 0; i < GUARDS_BEFORE; i++) in[i] = guard(i);
        for (int i = 0; i < rows->in_count; i++) in[GUARDS_BEFORE + i] = rows->in[i];
        for (int i = 0; i < GUARDS_BEHIND; i++) in[GUARDS_BEFORE + rows->in_count + i] = guard(GUARDS_BEFORE + i);
        own.in = in + GUARDS_BEFORE;
        guarded_count = rows->in_count;
    }
    own.scratch = (unsigned char *)rows->scratch + FENCE_BEFORE;
    own.state = (unsigned char *)rows->state + FENCE_BEFORE;
    fill_fences(rows->scratch, seen.scratch_size, SCRATCH_FENCE);
    watch->rows(&seen, &own);
    free(in);
    check_fences(watch, "rows()", "scratch", rows->scratch, seen.scratch_size, SCRATCH_FENCE);
    check_fences(watch, "rows()", "state", rows->state, seen.state_size, STATE_FENCE);
    if (look && hash_input(stage, rows) != before) break_law(watch, "rows() writes into its input rows; they are to be read only");
}

/* ------------------------------------------------------------------------------------------------------- all */

/* The filter sees itself, so that messages name it. Its side data go nowhere but to who takes them. */
static imgpipe_status watched_setup(imgpipe_stage *stage, imgpipe_error *error) {
    struct watch *watch = watch_of(stage);
    stage->filter = watch->of;
    imgpipe_status failed = watch->of->setup(stage, error);
    stage->filter = &watch->filter;
    stage->side_data = NULL;
    if (failed) return failed;
    watch->gather = stage->gather;
    watch->rows = stage->rows;
    fence_size(&stage->scratch_size);
    fence_size(&stage->state_size);
    if (stage->gather) stage->gather = watched_gather;
    if (stage->rows) stage->rows = watched_rows;
    return IMGPIPE_OK;
}

imgpipe_status watch_parse(const imgpipe_filter *filter, const char *values, imgpipe_chain **chain, imgpipe_error *error) {
    struct watch *watch = &the_watch;
    imgpipe_registry *registry = NULL;
    char text[4200];
    if (!guards) {
        void *block = mmap(NULL, GUARDS_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        guards = block == MAP_FAILED ? NULL : block;
    }
    memset(watch, 0, sizeof *watch);
    watch->filter = *filter;
    watch->of = filter;
    if (imgpipe_filter_find(filter->name)) watch->filter.name = "watched"; /* one of the build has its name already */
    if (filter->setup) watch->filter.setup = watched_setup;
    if (filter->need) watch->filter.need = watched_need;
    snprintf(text, sizeof text, "%s%s", watch->filter.name, values);
    imgpipe_status status = imgpipe_registry_new(&registry, error);
    if (!status) status = imgpipe_registry_add(registry, &watch->filter, error);
    if (!status) status = imgpipe_chain_parse_with(registry, text, chain, error);
    imgpipe_registry_free(&registry);
    return status;
}

bool watch_broken(struct story *story) {
    if (!atomic_load(&the_watch.broken)) return false;
    snprintf(story->why, sizeof story->why, "%s", the_watch.why);
    return true;
}

/* A strip goes to the member that has the fewest under way. If it fails there because of the device, the member gets no more strips
 * and another does this one again: its input is still in memory, since its slots are freed when the strip is reported. Only what
 * gathers had counted on the member is lost with it, and then the run ends with its error. */
#include "backend_group.h"
#include "status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct group {
    struct backend base;
    struct backend_group_options options;
    pthread_mutex_t lock;           /* guards the members */
    struct backend **members;       /* NULL where one has not been needed yet */
    bool *lost;                     /* failed while it worked */
    int *made;                      /* in the order in which they were made */
    int made_count;
};

/* A strip on its way through a member: what that member sees. */
struct relay {
    struct strip strip;
    struct strip *outer;
    struct backend_pass *pass;
    int member;
    struct relay *next;             /* among the idle ones */
};

struct part {
    struct backend_pass *pass;      /* NULL: not opened */
    bool dead;
    int64_t under_way, done;
};

struct backend_pass {
    struct group *group;
    struct pass_io io;
    pthread_mutex_t lock;           /* guards all below */
    struct part *parts;             /* one a member */
    struct relay *relays, *idle;
    bool gathers;
};

/* ---- members */

static imgpipe_status make_member(struct group *group, int index, imgpipe_error *error) {
    imgpipe_status failed = IMGPIPE_OK;
    pthread_mutex_lock(&group->lock);
    if (!group->members[index]) {
        failed = group->options.make(group->options.user, index, group->base.pool, &group->members[index], error);
        if (!failed) group->made[group->made_count++] = index;
        if (!failed && !group->base.pool) group->base.pool = group->members[index]->pool;
    }
    pthread_mutex_unlock(&group->lock);
    return failed;
}

static bool is_lost(struct group *group, int index) {
    pthread_mutex_lock(&group->lock);
    bool lost = group->lost[index];
    pthread_mutex_unlock(&group->lock);
    return lost;
}

static void lose(struct group *group, int index, const char *why) {
    pthread_mutex_lock(&group->lock);
    bool news = !group->lost[index];
    group->lost[index] = true;
    pthread_mutex_unlock(&group->lock);
    if (news) log_line(group->options.log, IMGPIPE_LOG_NOTICE, "%s: %s; the others go on without it", group->members[index]->about, why);
}

/* ---- a pass */

static imgpipe_status open_part(struct backend_pass *gp, int index, imgpipe_error *error) {
    struct group *group = gp->group;
    imgpipe_status failed = make_member(group, index, error);
    struct backend *member = group->members[index];
    if (!failed) failed = member->ops->open(member, &gp->io, &gp->parts[index].pass, error);
    if (failed) gp->parts[index].dead = true; /* for this pass; a smaller one may do */
    return failed;
}

/* Opens the next member that is neither in use nor lost. */
static imgpipe_status open_another(struct backend_pass *gp, imgpipe_error *error) {
    const struct backend_group_options *o = &gp->group->options;
    imgpipe_status failed = IMGPIPE_ERROR_DEVICE;
    for (int i = 0; i < o->count && failed == IMGPIPE_ERROR_DEVICE; i++) {
        int index = (o->first + i) % o->count;
        if (gp->parts[index].pass || gp->parts[index].dead || is_lost(gp->group, index)) continue;
        failed = open_part(gp, index, error);
        if (failed) log_line(gp->io.log, IMGPIPE_LOG_DETAIL, "%s, device %d: %s", o->name, index, error->message);
    }
    return failed;
}

static void group_close(struct backend_pass *gp, double seconds[3]) {
    struct group *group = gp->group;
    for (int i = 0; i < group->options.count; i++) {
        struct part *part = &gp->parts[i];
        if (part->pass && group->options.width > 1)
            log_line(gp->io.log, IMGPIPE_LOG_DETAIL, "%s: %lld strips", group->members[i]->about, (long long)part->done);
        if (part->pass) group->members[i]->ops->close(part->pass, seconds);
    }
    pthread_mutex_destroy(&gp->lock);
    free(gp->relays);
    free(gp->parts);
    free(gp);
}

static imgpipe_status open_parts(struct backend_pass *gp, imgpipe_error *error) {
    struct group *group = gp->group;
    imgpipe_status failed = IMGPIPE_OK;
    int opened = 0;
    while (opened < group->options.width && !failed) {
        failed = open_another(gp, error);
        opened += !failed;
    }
    /* What is no fault of a device would be none of another's. */
    return opened > 0 && failed == IMGPIPE_ERROR_DEVICE ? IMGPIPE_OK : failed;
}

static imgpipe_status group_open(struct backend *base, const struct pass_io *io, struct backend_pass **pass, imgpipe_error *error) {
    struct group *group = (struct group *)base;
    struct backend_pass *gp = calloc(1, sizeof *gp);
    if (!gp) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    gp->parts = calloc((size_t)group->options.count, sizeof *gp->parts);
    gp->relays = calloc((size_t)io->strips, sizeof *gp->relays);
    if (!gp->parts || !gp->relays) {
        free(gp->parts);
        free(gp->relays);
        free(gp);
        return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for a pass");
    }
    for (int64_t i = 0; i < io->strips; i++) {
        gp->relays[i].next = gp->idle;
        gp->idle = &gp->relays[i];
    }
    gp->group = group;
    gp->io = *io;
    for (int e = 0; e <= io->pass->node_count; e++) gp->gathers = gp->gathers || io->pass->edges[e].gather_count > 0;
    pthread_mutex_init(&gp->lock, NULL);
    error_set(error, IMGPIPE_ERROR_DEVICE, "%s: every device has failed; use --device cpu", group->options.name);
    imgpipe_status failed = open_parts(gp, error);
    if (failed)
        group_close(gp, (double[3]){0});
    else
        *pass = gp;
    return failed;
}

/* ---- strips */

/* The part with the least to do, or -1. With the lock held. */
static int least_busy(const struct backend_pass *gp) {
    int best = -1;
    for (int i = 0; i < gp->group->options.count; i++) {
        const struct part *part = &gp->parts[(gp->group->options.first + i) % gp->group->options.count];
        if (part->pass && !part->dead && (best < 0 || part->under_way < gp->parts[best].under_way)) best = (int)(part - gp->parts);
    }
    return best;
}

/* With the lock held. */
static void pass_on(struct backend_pass *gp, struct relay *relay, int member) {
    relay->member = member;
    gp->parts[member].under_way++;
    gp->group->members[member]->ops->submit(gp->parts[member].pass, &relay->strip);
}

/* Gives the strip to another member, opening one that stands by if need be; false where there is none. With the lock held. */
static bool do_again(struct backend_pass *gp, struct relay *relay) {
    imgpipe_error error;
    if (gp->gathers && gp->parts[relay->member].done > 0) return false;
    if (least_busy(gp) < 0 && open_another(gp, &error) != IMGPIPE_OK) return false;
    pass_on(gp, relay, least_busy(gp));
    return true;
}

static void relay_done(struct strip *strip, imgpipe_status status, const imgpipe_error *error) {
    struct relay *relay = strip->owner;
    struct backend_pass *gp = relay->pass;
    struct strip *outer = relay->outer;
    pthread_mutex_lock(&gp->lock);
    struct part *part = &gp->parts[relay->member];
    part->under_way--;
    imgpipe_error lost;
    if (!status && part->dead && gp->gathers) { /* it was under way when another failed there: its rows are right, its counts are gone */
        status = error_set(&lost, IMGPIPE_ERROR_DEVICE, "%s failed, and what it had counted is lost", gp->group->members[relay->member]->about);
        error = &lost;
    }
    if (!status) part->done++;
    if (status == IMGPIPE_ERROR_DEVICE) {
        part->dead = true;
        lose(gp->group, relay->member, error->message);
    }
    bool again = status == IMGPIPE_ERROR_DEVICE && do_again(gp, relay);
    if (!again) {
        relay->next = gp->idle;
        gp->idle = relay;
    }
    pthread_mutex_unlock(&gp->lock);
    if (!again) outer->done(outer, status, error);
}

static void group_submit(struct backend_pass *gp, struct strip *strip) {
    pthread_mutex_lock(&gp->lock);
    struct relay *relay = gp->idle;
    int member = least_busy(gp);
    if (member < 0) /* all have failed: any of them says so again */
        for (member = 0; !gp->parts[member].pass;) member++;
    gp->idle = relay->next;
    relay->strip = *strip;
    relay->strip.done = relay_done;
    relay->strip.owner = relay;
    relay->outer = strip;
    relay->pass = gp;
    pass_on(gp, relay, member);
    pthread_mutex_unlock(&gp->lock);
}

static imgpipe_status group_collect(struct backend_pass *gp, int e, int g, void *state, imgpipe_error *error) {
    imgpipe_status failed = IMGPIPE_OK;
    for (int i = 0; i < gp->group->options.count && !failed; i++) {
        const struct part *part = &gp->parts[i];
        if (part->pass && !part->dead) failed = gp->group->members[i]->ops->collect(part->pass, e, g, state, error);
    }
    return failed;
}

/* ---- the group */

static bool group_opens_slowly(struct backend *base, const struct pass_io *io) {
    struct group *group = (struct group *)base;
    for (int i = 0; i < group->options.width; i++) {
        struct backend *member = group->members[(group->options.first + i) % group->options.count];
        if (!member || (member->ops->opens_slowly && member->ops->opens_slowly(member, io))) return true;
    }
    return false;
}

static uint64_t group_device_bytes(const struct backend *base, const struct pass_io *io) {
    const struct backend *first = backend_group_first(base);
    return first->ops->device_bytes ? first->ops->device_bytes(first, io) : 0;
}

/* Where one member works, that one. */
static const char *group_describe(const struct backend *base) {
    struct group *group = (struct group *)base;
    const char *found = base->about;
    pthread_mutex_lock(&group->lock);
    for (int i = group->options.count - 1; i >= 0 && group->options.width == 1; i--) {
        int index = (group->options.first + i) % group->options.count;
        const struct backend *member = group->lost[index] ? NULL : group->members[index];
        if (member) found = member->ops->describe ? member->ops->describe(member) : member->about;
    }
    pthread_mutex_unlock(&group->lock);
    return found;
}

static bool group_starts(const struct backend *base) {
    const struct backend *first = backend_group_first(base);
    return first->ops->starts && first->ops->starts(first);
}

static void group_free(struct backend *base) {
    struct group *group = (struct group *)base;
    /* The first has the memory of rows, and goes last. */
    for (int i = group->made_count - 1; i >= 0; i--) group->members[group->made[i]]->ops->free(group->members[group->made[i]]);
    pthread_mutex_destroy(&group->lock);
    free(group->members);
    free(group->lost);
    free(group->made);
    free(group);
}

static const struct backend_ops group_ops = {"group", group_opens_slowly, group_open, group_submit, group_collect, group_close, group_free,
                                             group_device_bytes, group_describe, group_starts};

struct backend *backend_group_first(const struct backend *base) {
    const struct group *group = (const struct group *)base;
    return group->members[group->made[0]];
}

imgpipe_status backend_group_new(const struct backend_group_options *options, struct backend **made, imgpipe_error *error) {
    struct group *group = calloc(1, sizeof *group);
    size_t count = (size_t)options->count;
    if (!group) return error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for %s", options->name);
    pthread_mutex_init(&group->lock, NULL);
    group->base.ops = &group_ops;
    group->options = *options;
    group->members = calloc(count, sizeof *group->members);
    group->lost = calloc(count, sizeof *group->lost);
    group->made = calloc(count, sizeof *group->made);
    imgpipe_status failed = group->members && group->lost && group->made ? IMGPIPE_OK :
                            error_set(error, IMGPIPE_ERROR_MEMORY, "no memory for %s", options->name);
    for (int i = 0; i < options->width && !failed; i++) failed = make_member(group, (options->first + i) % options->count, error);
    if (failed) {
        group_free(&group->base);
        return failed;
    }
    group->base.tasks = group->members[group->made[0]]->tasks;
    snprintf(group->base.about, sizeof group->base.about, "%s, %d device%s", options->name, options->count, options->count == 1 ? "" : "s");
    *made = &group->base;
    return IMGPIPE_OK;
}

/* Several backends as one: the strips of a pass are shared out among them, and what fails on one is done by another. */
#ifndef BACKEND_GROUP_H
#define BACKEND_GROUP_H
#include "backend.h"

struct backend_group_options {
    int count;              /* members that there may be, at least 1 */
    int first;              /* the first one to be used; the others follow in turn */
    int width;              /* so many work on a pass together; the others stand by for those that fail */
    const char *name;       /* of all together, for messages: what --device says */
    const struct log *log;
    /* Makes member `index`, whose memory of rows comes from `pool`; NULL: from one of its own, which the others then get. */
    imgpipe_status (*make)(void *user, int index, struct pool *pool, struct backend **backend, imgpipe_error *error);
    void *user;             /* stays as long as the group */
};

/* Makes the group and the members that work at first. Members are of one kind: they read and write each other's memory of rows. */
imgpipe_status backend_group_new(const struct backend_group_options *options, struct backend **group, imgpipe_error *error);
/* The member that is used first. */
struct backend *backend_group_first(const struct backend *group);
#endif

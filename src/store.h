/* An image kept between passes, with the padding that its reader needs: in host memory, or in an unlinked spool file in
 * TMPDIR when that is over the budget. */
#ifndef STORE_H
#define STORE_H
#include "pool.h"
#include "strip.h"

struct store {
    struct edge edge;           /* size, format, padding */
    unsigned char *memory;
    size_t size;
    struct pool *pool;
    bool spooled;
    struct rows_view view;      /* one band; slots points to `memory` above, so a store does not move */
};

/* Bytes of a store of this size, format and padding. */
size_t store_size(const struct edge *edge);
/* `edge` says size, format and padding of the reader. */
imgpipe_status store_new(const struct edge *edge, struct pool *pool, uint64_t budget, struct store **store, imgpipe_error *error);
void store_free(struct store *store);
#endif

#include "metadata_carry.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

bool carry_must_turn(const struct metadata *metadata, unsigned carries, int strip, bool auto_orient) {
    return metadata->orientation > 1 && (auto_orient || strip || !(carries & METADATA_EXIF));
}

/* ------------------------------------------------------------------------------------------------- dropping */

static void drop_block(struct metadata_block *block) {
    free(block->bytes);
    *block = (struct metadata_block){0};
}

static void drop_texts(struct metadata *metadata) {
    struct metadata rest = {.texts = metadata->texts};
    metadata->texts = NULL;
    metadata_free(&rest);
}

/* All tags, or those that hold for the old size only; returns whether there were any. */
static bool drop_tags(struct metadata *metadata, bool all) {
    bool dropped = false;
    for (struct metadata_tag **at = &metadata->tags; *at;) {
        struct metadata_tag *tag = *at;
        if (!all && !tag->size_bound) {
            at = &tag->next;
            continue;
        }
        *at = tag->next;
        free(tag->values);
        free(tag);
        dropped = true;
    }
    return dropped;
}

/* Everything but the kinds in `keep`. */
static void keep_only(struct metadata *metadata, unsigned keep) {
    if (!(keep & METADATA_ICC)) drop_block(&metadata->icc);
    if (!(keep & METADATA_EXIF)) {
        drop_block(&metadata->exif);
        metadata->orientation = 0;
    }
    if (!(keep & METADATA_XMP)) drop_block(&metadata->xmp);
    if (!(keep & METADATA_IPTC)) drop_block(&metadata->iptc);
    if (!(keep & METADATA_RESOLUTION)) metadata->x_per_metre = metadata->y_per_metre = metadata->x_aspect = metadata->y_aspect = 0;
    if (!(keep & METADATA_GAMMA)) {
        metadata->gamma = 0;
        metadata->srgb_intent = -1;
        memset(metadata->chromaticities, 0, sizeof metadata->chromaticities);
    }
    if (!(keep & METADATA_TEXT)) drop_texts(metadata);
    if (!(keep & METADATA_TAGS)) drop_tags(metadata, true);
}

/* Says what the output's kind has no place for, where a loss matters: text, gamma and resolution go without a word. */
static void tell_losses(const struct metadata *metadata, const struct carry *carry) {
    const struct {
        bool present;
        unsigned kind;
        const char *name;
    } blocks[] = {{metadata->icc.bytes, METADATA_ICC, "ICC profile"},
                  {metadata->exif.bytes, METADATA_EXIF, "EXIF"},
                  {metadata->xmp.bytes, METADATA_XMP, "XMP"},
                  {metadata->iptc.bytes, METADATA_IPTC, "IPTC"}};
    char names[64] = "";
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].present && !(carry->carries & blocks[i].kind))
            text_append(names, sizeof names, "%s%s", *names ? ", " : "", blocks[i].name);
    if (*names) log_line(carry->log, IMGPIPE_LOG_NOTICE, "%s has no place for these, which were dropped: %s", carry->kind, names);
}

/* ------------------------------------------------------------------------------------------------- adapting */

/* A profile is for so many colours; an image of others would be shown wrong, or refused by readers. */
static void fit_profile(struct metadata *metadata, const struct carry *carry) {
    char space[5];
    metadata_icc_space(metadata, space);
    if (!metadata->icc.bytes) return;
    int colours = carry->out.format.channels - (carry->out.format.alpha ? 1 : 0);
    if (colours >= 3 ? strcmp(space, "RGB ") == 0 : strcmp(space, "GRAY") == 0) return;
    const char *name = strcmp(space, "GRAY") == 0 ? "gray" : strcmp(space, "RGB ") == 0 ? "RGB" : space[0] ? space : "damaged";
    log_line(carry->log, IMGPIPE_LOG_NOTICE, "the %.*s profile does not fit %s image and was dropped", (int)strcspn(name, " "),
             name,
             colours == 1   ? "a gray"
             : colours == 3 ? "an RGB"
                            : "this");
    drop_block(&metadata->icc);
}

bool metadata_carry(struct metadata *metadata, const struct carry *carry) {
    unsigned keep = carry->chart || carry->strip > 1 ? 0 : carry->strip ? METADATA_ICC : ~0u;
    int orientation = metadata->orientation;
    keep_only(metadata, keep);
    tell_losses(metadata, carry);
    keep_only(metadata, carry->carries);
    fit_profile(metadata, carry);
    bool resized = carry->in.width != carry->out.width || carry->in.height != carry->out.height;
    if ((resized || carry->turned) && drop_tags(metadata, false))
        log_line(carry->log, IMGPIPE_LOG_NOTICE, "tags that place the image by its size no longer fit and were dropped");
    if (carry->changed) metadata_drop_preview(metadata);
    if (carry->turned) {
        bool said = metadata->orientation != 0;
        metadata_set_orientation(metadata, 1);
        if (!said) metadata->orientation = 0;
        if (orientation >= 5) metadata_swap_sides(metadata);
    } else if (metadata->orientation > 1) {
        metadata_set_orientation(metadata, metadata->orientation);
        /* A TIFF file has the tag in its own directory. */
        if (!(carry->carries & METADATA_TAGS)) return metadata_add_orientation(metadata);
    }
    return true;
}

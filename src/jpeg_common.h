/* What reading and writing JPEG share: libjpeg's errors, and the segments that carry metadata. */
#ifndef JPEG_COMMON_H
#define JPEG_COMMON_H
#include "log.h"
#include "metadata.h"
#include <setjmp.h>
#include <stdio.h> /* jpeglib.h wants it before itself */
#include <jpeglib.h>

#define JPEG_SEGMENT_MAX ((size_t)65533)

/* libjpeg reports a failure by error_exit(), which must not return. The caller sets `jump` before each call into it. */
struct jpeg_errors {
    struct jpeg_error_mgr base; /* first: libjpeg hands back a pointer to it */
    jmp_buf jump;
    char reason[JMSG_LENGTH_MAX]; /* of the failure */
};

/* Prepares `errors` for cinfo->err: failures jump, warnings and traces are dropped. */
struct jpeg_error_mgr *jpeg_errors_init(struct jpeg_errors *errors);

/* After a failure to read: what the file is that libjpeg cannot decode, as in "is lossless"; NULL for faults of the file. */
const char *jpeg_unsupported(const struct jpeg_error_mgr *err, char *buffer, size_t size);

/* Whether nothing is missing where only the end marker is: every component has come, with all bits of all coefficients. */
bool jpeg_complete(const struct jpeg_decompress_struct *cinfo);
/* What libjpeg keeps of a file of several scans: the coefficients of all components, two bytes each. */
uint64_t jpeg_coefficient_bytes(const struct jpeg_decompress_struct *cinfo);
/* A row of CMYK, stored inverted, into RGB. */
void jpeg_cmyk_to_rgb(const JSAMPLE *from, unsigned char *to, int64_t width);

/* ------------------------------------------------------------------------------------------- segments of a file */

/* Takes the segments of a file one after another. What spreads over several of them (ICC, Photoshop) is gathered here. */
struct jpeg_segments {
    struct metadata *metadata; /* where all of it goes */
    const struct log *log;
    const char *name;               /* of the file, for messages */
    struct metadata_block icc[256]; /* the parts of the profile, by their number from 1 */
    int icc_parts;                  /* how many there should be; -1: the parts contradict each other */
    struct metadata_block photoshop;
    size_t text_bytes;
    int pictures;      /* of a multi-picture file; 0: no such thing */
    bool extended_xmp; /* there is one, which is dropped */
    bool text_dropped; /* there was more than anyone writes */
    bool no_memory;
};

/* Takes the payload of the segment `marker` (JPEG_APP0 + n or JPEG_COM). */
void jpeg_segments_take(struct jpeg_segments *segments, int marker, const unsigned char *bytes, size_t size);
/* After the last one: puts together what came in parts, and says what was dropped. */
void jpeg_segments_end(struct jpeg_segments *segments);
/* Frees the parts; the metadata stay. */
void jpeg_segments_free(struct jpeg_segments *segments);

/* Resolution or aspect of the JFIF header into `metadata`, and back. */
void jpeg_density_read(struct metadata *metadata, const struct jpeg_decompress_struct *cinfo);
void jpeg_density_write(struct jpeg_compress_struct *cinfo, const struct metadata *metadata);
/* 444, 422, 420, or 0 for others, as in struct storage. */
int jpeg_subsampling(const struct jpeg_decompress_struct *cinfo);
/* Writes all segments; what does not fit into them is left out with a notice. */
void jpeg_segments_write(struct jpeg_compress_struct *cinfo, const struct metadata *metadata, const struct log *log,
                         const char *name);
#endif

/* Kinds of files as the command line and file names say them. */
#ifndef KINDS_H
#define KINDS_H
#include "imgpipe.h"

/* The extension of a file's name without its dot, or NULL. A name that begins with its only dot has none. */
const char *kind_extension(const char *path);
/* The kind whose list of extensions holds this one (may be NULL), or NULL. */
const imgpipe_codec_info *kind_of_extension(const char *extension);
/* By its name, or by one of its extensions: jpg. */
const imgpipe_codec_info *kind_find(const char *name);
/* The extension that an output gets whose input has this one (may be NULL): the same if it can be written and is what --format says
 * (NULL: nothing), else that of the format: the one that it names (ppm), or the first of its kind (pnm); else png. `buf` holds it if
 * it is no part of the arguments. */
const char *kind_output_extension(const char *extension, const char *format, char buf[32]);
/* The names of all kinds that can be written. */
const char *kinds_written(char buf[400]);
/* Checks --format; false with `message` filled. */
bool kind_check_format(const char *format, char *message, size_t message_size);
/* Checks the extension of an output's name against `format` (may be NULL); false with `message` filled. */
bool kind_check_output(const char *out, const imgpipe_codec_info *format, char *message, size_t message_size);
/* Whether the kind holds samples of this --depth (0: any); false with a message. */
bool kind_check_depth(const imgpipe_codec_info *kind, int depth, const char *out, char *message, size_t message_size);
#endif

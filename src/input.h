/* Bytes of an input: a file, or a pipe that cannot seek. A decoder reads it through this alone. */
#ifndef INPUT_H
#define INPUT_H
#include "cancel.h"
#include "imgpipe.h"

struct input;

/* Opens `path` ("-": standard input). A missing, unreadable or empty file, or a folder, gives IMGPIPE_ERROR_INPUT with a message
 * that says so. `cancel` (may be NULL; must outlive the input) is asked while a pipe has nothing to give. */
imgpipe_status input_open(const char *path, const struct cancel *cancel, struct input **input, imgpipe_error *error);
/* Bytes in memory, which must outlive the input; without `can_seek` they come like those of a pipe. */
imgpipe_status input_memory(const void *bytes, size_t size, bool can_seek, struct input **input, imgpipe_error *error);
/* Looks at up to `size` of the next bytes without taking them (size <= 4096); returns how many there are. */
size_t input_peek(struct input *input, const unsigned char **bytes, size_t size);
/* Reads up to `size` bytes; fewer only at the end or after an error. */
size_t input_read(struct input *input, void *to, size_t size);
/* All that is left, for decoders that need the file as a whole. More than `budget` bytes (0: no limit) are refused. *bytes is to be
 * freed by the caller in any case. */
imgpipe_status input_read_all(struct input *input, uint64_t budget, unsigned char **bytes, size_t *size, imgpipe_error *error);
/* False on pipes. Offsets are from the start of the file. */
bool input_can_seek(const struct input *input);
bool input_seek(struct input *input, uint64_t offset);
/* Some bytes from elsewhere, without going there: up to `size`, fewer at the end; 0 on pipes. */
size_t input_look(struct input *input, uint64_t offset, void *to, size_t size);
uint64_t input_tell(const struct input *input);
/* Bytes of the file, or 0 if that is not known. */
uint64_t input_size(const struct input *input);
/* The text of a read error that occurred, or NULL. */
const char *input_failure(const struct input *input);
/* Whether a file was changed since it was opened, as far as its size and time of change tell. */
bool input_changed(const struct input *input);
/* The name for messages: the path, or "standard input". */
const char *input_name(const struct input *input);
/* Seconds spent in read(2), and bytes taken so far. */
double input_seconds(const struct input *input);
uint64_t input_taken(const struct input *input);
void input_close(struct input *input);
#endif

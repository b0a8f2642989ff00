/* What the fuzz targets of the readers share: one input is read in several ways that must agree. */
#ifndef DECODE_H
#define DECODE_H
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads `data` through `decoder` (through source_open(), and only if that decoder knows it as its own) as a file, as a pipe, and
 * with the options that accept more; ends the process where file and pipe disagree. Returns 0. */
int fuzz_decoder(const struct decoder *decoder, const uint8_t *data, size_t size);
#endif

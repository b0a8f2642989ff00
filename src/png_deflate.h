/* Deflate for rows of pixels: blocks of Huffman codes over sequences of literals and matches. The bytes depend on the input and
 * on the options alone, never on the instruction set. */
#ifndef PNG_DEFLATE_H
#define PNG_DEFLATE_H
#include "png_code.h"

/* How many bytes have one set of codes. */
#define PNG_BLOCK ((size_t)128 << 10)

/* Lengths of a Huffman code of `n` (at most 288) symbols by how often they occur, none above `limit`, 0 for those that do not; if
 * fewer than two occur, two get 1 bit, so that the code is complete. */
void png_code_lengths(const uint32_t *counts, int n, int limit, uint8_t *lengths);
/* The canonical code, each with its first bit lowest. */
void png_code_values(const uint8_t *lengths, int n, uint16_t *values);

/* Writes `n` (1 … PNG_BLOCK) bytes as the block(s) that the sequences say, or stored where that is shorter. At most n + 16
 * bytes come out, but up to 2 n + 1024 behind bits->at may be written to. `final` marks the last block of the stream. */
void png_block_write(const struct png_code_kernels *kernels, const unsigned char *bytes, size_t n,
                     const struct png_sequence *sequences, size_t count, bool final, struct png_bits *bits);
/* How many bits the codes of such a block take, and their tables; what is stored instead is not looked at. `literal_bits` (may be
 * NULL): what each byte takes; one that does not occur as a literal, the most. */
uint64_t png_block_bits(const struct png_code_kernels *kernels, const unsigned char *bytes, const struct png_sequence *sequences,
                        size_t count, uint8_t literal_bits[256]);
/* Stored blocks alone; ends at a byte. */
void png_stored_write(const unsigned char *bytes, size_t n, bool final, struct png_bits *bits);
#endif

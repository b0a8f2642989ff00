/* Which pixels of a JPEG image that ends early are there. libjpeg does not tell how far it came: it fills the rest with gray. */
#ifndef JPEG_PRESENT_H
#define JPEG_PRESENT_H
#include "log.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h> /* jpeglib.h wants it before itself */
#include <jpeglib.h>

/* The codes of one Huffman table. An entry is the length of a code << 8 | its symbol, or 0: none begins like this. */
struct jpeg_codes {
    uint16_t quick[512]; /* for the next 9 bits; 0: the code is longer */
    int end[17];         /* of the codes of that length; all before it that are not shorter ones' beginnings are codes */
    int symbol[17];      /* where the symbol of a code of that length stands, less the code */
    unsigned char symbols[256];
};

/* Follows the Huffman codes of one scan beside libjpeg, and counts the MCUs whose codes are complete. */
struct jpeg_counter {
    uint64_t bits; /* the last of them are not used up yet */
    int bit_count;
    int block, coefficient; /* in the MCU at hand */
    int last_coefficient;   /* 63, or 0 where a scan holds no others than the first */
    int64_t mcus, mcus_all;
    unsigned restart_interval; /* MCUs; 0: none */
    bool after_ff, between;    /* the byte before was 0xff; an interval is complete, and its marker has not come */
    bool known;                /* the count holds */
    bool ended;                /* at a marker or a fault, or all is counted */
    int blocks;                /* of an MCU, with the tables that they use: those of DC first */
    const struct jpeg_codes *tables[D_MAX_BLOCKS_IN_MCU][2];
    struct jpeg_codes codes[2][NUM_HUFF_TBLS];
};

/* To be called when the header of the scan is read, and before its data. Where the scan is not of all components, or its codes are
 * not those of Huffman, nothing is counted. */
void jpeg_counter_start(struct jpeg_counter *counter, const struct jpeg_decompress_struct *cinfo);
/* The next bytes of the file, in pieces of any size. */
void jpeg_counter_feed(struct jpeg_counter *counter, const unsigned char *bytes, size_t size);

/* The MCUs before the `mcus`-th are there, in the order of the file. */
struct jpeg_present {
    int64_t mcus, across;           /* MCUs in a row of them */
    int mcu_width, mcu_height;      /* in pixels */
    int smooth_across, smooth_down; /* how many pixels further smooth upsampling looks */
    int64_t width, height;          /* of the image */
};

void jpeg_present_all(struct jpeg_present *present, const struct jpeg_decompress_struct *cinfo);
/* Those that there are where libjpeg has found the data's end. Of an image with several scans (`whole`) all is there that the first
 * one has, if that is of all components: what the later ones lack makes it coarse. An arithmetic decoder sees no end: the row of
 * MCUs at hand is taken for missing, also the last of all, though zeros that the encoder left out may be all that it lacks. */
void jpeg_present_find(struct jpeg_present *present, const struct jpeg_decompress_struct *cinfo, const struct jpeg_counter *counter,
                       bool whole);
/* How many pixels of row `y` are there, from the left: those that are made of complete MCUs alone. */
int64_t jpeg_present_columns(const struct jpeg_present *present, int64_t y);
/* How many rows are there from the first to the last column, from the top. */
int64_t jpeg_present_rows(const struct jpeg_present *present);
/* Warns that the rest is missing. */
void jpeg_present_tell(const struct jpeg_present *present, const struct log *log, const char *name);
#endif

#include "jpeg_present.h"
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* The codes of a table stand in the order of the standard (ITU-T T.81, C.2): those of one length follow each other, and the next
 * longer ones those. libjpeg refuses tables that are not like this; here nothing is written behind an end. */
static void fill_codes(struct jpeg_codes *codes, const JHUFF_TBL *table) {
    int code = 0, at = 0;
    *codes = (struct jpeg_codes){0};
    memcpy(codes->symbols, table->huffval, sizeof codes->symbols);
    for (int length = 1; length <= 16; length++, code <<= 1) {
        codes->symbol[length] = at - code;
        for (int i = 0; i < table->bits[length]; i++, code++, at++) {
            int span = length <= 9 ? 1 << (9 - length) : 0;
            for (int k = code * span; k < (code + 1) * span && k < 512; k++)
                codes->quick[k] = (uint16_t)(length << 8 | codes->symbols[at & 255]);
        }
        codes->end[length] = code;
    }
}

/* The entry of the code at the beginning of 16 bits. */
static int find_code(const struct jpeg_codes *codes, int bits) {
    int entry = codes->quick[bits >> 7];
    for (int length = 10; length <= 16 && !entry; length++) {
        int code = bits >> (16 - length);
        if (code < codes->end[length]) entry = length << 8 | codes->symbols[(code + codes->symbol[length]) & 255];
    }
    return entry;
}

/* The tables of a component, for each of its blocks in an MCU. */
static bool add_component(struct jpeg_counter *c, const struct jpeg_decompress_struct *cinfo,
                          const jpeg_component_info *component) {
    int numbers[2] = {component->dc_tbl_no, component->ac_tbl_no};
    int blocks = cinfo->comps_in_scan == 1 ? 1 : component->h_samp_factor * component->v_samp_factor;
    for (int kind = 0; kind < (c->last_coefficient ? 2 : 1); kind++) {
        JHUFF_TBL *const *tables = kind ? cinfo->ac_huff_tbl_ptrs : cinfo->dc_huff_tbl_ptrs;
        int number = numbers[kind];
        if (number < 0 || number >= NUM_HUFF_TBLS || !tables[number]) return false;
        fill_codes(&c->codes[kind][number], tables[number]);
        for (int k = 0; k < blocks && c->blocks + k < D_MAX_BLOCKS_IN_MCU; k++)
            c->tables[c->blocks + k][kind] = &c->codes[kind][number];
    }
    c->blocks += blocks;
    return c->blocks <= D_MAX_BLOCKS_IN_MCU;
}

void jpeg_counter_start(struct jpeg_counter *c, const struct jpeg_decompress_struct *cinfo) {
    memset(c, 0, offsetof(struct jpeg_counter, codes));
    c->last_coefficient = cinfo->progressive_mode ? cinfo->Se : DCTSIZE2 - 1;
    c->restart_interval = cinfo->restart_interval;
    c->known = !cinfo->arith_code && cinfo->comps_in_scan == cinfo->num_components && !(cinfo->progressive_mode && cinfo->Se);
    for (int i = 0; i < cinfo->comps_in_scan; i++) c->known = c->known && add_component(c, cinfo, cinfo->cur_comp_info[i]);
    struct jpeg_present all;
    jpeg_present_all(&all, cinfo);
    c->mcus_all = all.mcus;
    c->ended = !c->known;
}

/* One symbol has come. */
static void advance(struct jpeg_counter *c, int symbol) {
    int zeros = symbol >> 4, size = symbol & 15;
    if (c->coefficient == 0)
        c->coefficient = 1;
    else if (size == 0 && zeros != 15)
        c->coefficient = DCTSIZE2; /* the rest of the block is 0 */
    else
        c->coefficient += zeros + 1;
    if (c->coefficient <= c->last_coefficient) return;
    c->coefficient = 0;
    if (++c->block < c->blocks) return;
    c->block = 0;
    c->mcus++;
    c->between = c->restart_interval && c->mcus % c->restart_interval == 0;
    c->ended |= c->mcus == c->mcus_all;
}

static void decode(struct jpeg_counter *c) {
    while (!c->ended && !c->between) {
        uint64_t next = c->bit_count >= 16 ? c->bits >> (c->bit_count - 16) : c->bits << (16 - c->bit_count);
        int entry = find_code(c->tables[c->block][c->coefficient > 0], next & 0xffff);
        /* The first coefficient's symbol is the number of bits that follow, the others' has it in four bits. */
        int symbol = entry & 255, need = (entry >> 8) + (symbol & 15);
        if (need > c->bit_count || (entry == 0 && c->bit_count < 16)) return;
        c->ended |= entry == 0;
        c->bit_count -= need;
        if (!c->ended) advance(c, symbol);
    }
}

static void take_marker(struct jpeg_counter *c, int marker) {
    decode(c);
    c->ended |= marker < JPEG_RST0 || marker > JPEG_RST0 + 7 || !c->between;
    c->between = false;
    c->bit_count = 0;
}

void jpeg_counter_feed(struct jpeg_counter *c, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size && !c->ended; i++) {
        int byte = bytes[i];
        if (c->after_ff && byte != 0xff) {
            c->after_ff = false;
            if (byte) {
                take_marker(c, byte);
                continue;
            }
            byte = 0xff;
        } else if (byte == 0xff) {
            c->after_ff = true;
            continue;
        }
        if (c->between) continue;
        c->bits = c->bits << 8 | (unsigned)byte;
        c->bit_count += 8;
        if (c->bit_count >= 32) decode(c);
    }
    decode(c);
}

/* ------------------------------------------------------------------------------------------------------ pixels */

/* Smooth upsampling by 2, which libjpeg does for components of more than two columns, looks at the next sample on each side. */
static void find_smoothing(struct jpeg_present *p, const struct jpeg_decompress_struct *cinfo) {
    for (int i = 0; i < cinfo->num_components; i++) {
        const jpeg_component_info *c = &cinfo->comp_info[i];
        bool across = c->h_samp_factor * 2 == cinfo->max_h_samp_factor, down = c->v_samp_factor * 2 == cinfo->max_v_samp_factor;
        bool full_width = c->h_samp_factor == cinfo->max_h_samp_factor, full_height = c->v_samp_factor == cinfo->max_v_samp_factor;
        bool wide = across && c->downsampled_width > 2;
        if (wide && (down || full_height)) p->smooth_across = 1;
        if (down && (wide || full_width)) p->smooth_down = 1;
    }
}

void jpeg_present_all(struct jpeg_present *p, const struct jpeg_decompress_struct *cinfo) {
    bool single = cinfo->num_components == 1;
    *p = (struct jpeg_present){.width = cinfo->image_width, .height = cinfo->image_height};
    p->mcu_width = single ? DCTSIZE : cinfo->max_h_samp_factor * DCTSIZE;
    p->mcu_height = single ? DCTSIZE : cinfo->max_v_samp_factor * DCTSIZE;
    p->across = (p->width + p->mcu_width - 1) / p->mcu_width;
    p->mcus = (p->height + p->mcu_height - 1) / p->mcu_height * p->across;
    find_smoothing(p, cinfo);
}

void jpeg_present_find(struct jpeg_present *p, const struct jpeg_decompress_struct *cinfo, const struct jpeg_counter *counter,
                       bool whole) {
    int64_t row = cinfo->input_iMCU_row;
    jpeg_present_all(p, cinfo);
    if (counter->known) {
        if (cinfo->input_scan_number <= 1) p->mcus = counter->mcus;
    } else if (!whole) {
        p->mcus = row * cinfo->max_v_samp_factor * DCTSIZE / p->mcu_height * p->across;
    }
}

int64_t jpeg_present_columns(const struct jpeg_present *p, int64_t y) {
    int64_t last = y + p->smooth_down < p->height ? y + p->smooth_down : p->height - 1;
    int64_t row = last / p->mcu_height, there = p->mcus / p->across, columns;
    if (row != there) return row < there ? p->width : 0;
    columns = p->mcus % p->across * p->mcu_width - p->smooth_across;
    return columns > 0 ? columns : 0;
}

int64_t jpeg_present_rows(const struct jpeg_present *p) {
    int64_t y = p->mcus / p->across * p->mcu_height;
    if (y >= p->height) return p->height;
    return y > p->smooth_down ? y - p->smooth_down : 0;
}

void jpeg_present_tell(const struct jpeg_present *p, const struct log *log, const char *name) {
    int64_t rows = jpeg_present_rows(p);
    if (rows < p->height)
        log_line(log, IMGPIPE_LOG_WARNING, "'%s': truncated: %" PRId64 " of %" PRId64 " rows are whole; what is missing is 0", name,
                 rows, p->height);
    else
        log_line(log, IMGPIPE_LOG_WARNING, "'%s': truncated: a part of the image is missing, or coarse", name);
}

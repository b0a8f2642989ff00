#include "strip.h"
#include "pixel.h"

#include <string.h>

#define ALIGN_UP(n, a) (((n) + (a) - 1) / (a) * (a))

size_t row_offset(const struct edge *edge) {
    size_t pixel = imgpipe_pixel_size(edge->info.format);
    return ALIGN_UP((size_t)edge->pad_left * pixel + IMGPIPE_ROW_SLACK, (size_t)IMGPIPE_ROW_ALIGN);
}

size_t row_stride(const struct edge *edge) {
    size_t pixel = imgpipe_pixel_size(edge->info.format);
    size_t behind = (size_t)(edge->info.width + edge->pad_right) * pixel + IMGPIPE_ROW_SLACK;
    size_t stride = ALIGN_UP(row_offset(edge) + behind, (size_t)IMGPIPE_ROW_ALIGN);
    /* Rows a multiple of 4 KiB apart would all fall into the same cache sets. */
    return stride % 4096 == 0 ? stride + IMGPIPE_ROW_ALIGN : stride;
}

void row_pad(unsigned char *row, const struct edge *edge, imgpipe_border border, const unsigned char *value) {
    size_t pixel = imgpipe_pixel_size(edge->info.format);
    int64_t width = edge->info.width;
    for (int64_t i = 1; i <= edge->pad_left; i++) {
        int64_t from = border_index(border, -i, width);
        memcpy(row - (size_t)i * pixel, from < 0 ? value : row + (size_t)from * pixel, pixel);
    }
    for (int64_t i = 0; i < edge->pad_right; i++) {
        int64_t from = border_index(border, width + i, width);
        memcpy(row + (size_t)(width + i) * pixel, from < 0 ? value : row + (size_t)from * pixel, pixel);
    }
}

void border_pixel(const imgpipe_stage *stage, imgpipe_format format, unsigned char pixel[16]) {
    uint8_t u8[4];
    uint16_t u16[4];
    float f32[4];
    for (int c = 0; c < 4; c++) {
        bool integer = format.type != IMGPIPE_F32; /* what a float holds may be out of an integer's range */
        u8[c] = integer ? (uint8_t)stage->border_value : 0;
        u16[c] = integer ? (uint16_t)stage->border_value : 0;
        f32[c] = (float)stage->border_value;
    }
    if (format.type == IMGPIPE_U8) memcpy(pixel, u8, sizeof u8);
    if (format.type == IMGPIPE_U16) memcpy(pixel, u16, sizeof u16);
    if (format.type == IMGPIPE_F32) memcpy(pixel, f32, sizeof f32);
}

void edge_pad(const struct pass *pass, int e, unsigned char *row) {
    const struct edge *edge = &pass->edges[e];
    if (e == pass->node_count || (edge->pad_left == 0 && edge->pad_right == 0)) return;
    const imgpipe_stage *stage = pass->nodes[e].stage;
    unsigned char value[16];
    border_pixel(stage, edge->info.format, value);
    row_pad(row, edge, stage->border, value);
}

static int64_t strip_y0(const struct pass *pass, int64_t index) {
    int64_t height = pass->edges[pass->node_count].info.height, y = index * pass->strip_rows;
    return y < height ? y : height;
}

void strip_owned(const struct pass *pass, int e, int64_t index, int64_t *y0, int64_t *y1) {
    int64_t unused;
    pass_need(pass, e, strip_y0(pass, index), strip_y0(pass, index + 1), y0, &unused);
    if (index == 0) *y0 = 0;
    if (index + 1 == pass->strip_count)
        *y1 = pass->edges[e].info.height;
    else
        pass_need(pass, e, strip_y0(pass, index + 1), strip_y0(pass, index + 2), y1, &unused);
}

void strip_range(const struct pass *pass, int e, int64_t index, int64_t *y0, int64_t *y1) {
    int64_t a = strip_y0(pass, index), b = strip_y0(pass, index + 1);
    for (int k = pass->node_count;; k--) {
        if (pass->edges[k].gather_count) {
            int64_t own0, own1;
            strip_owned(pass, k, index, &own0, &own1);
            if (own0 < a) a = own0;
            if (own1 > b) b = own1;
        }
        if (k == e) break;
        struct pass upper = *pass; /* one node back from edge k: need of rows [a, b) */
        upper.node_count = k;
        pass_need(&upper, k - 1, a, b, &a, &b);
    }
    *y0 = a;
    *y1 = b;
}

#define STRIP_SAMPLES 1024

int64_t strip_most(const struct pass *pass, int e) {
    /* need() is monotonic and the same everywhere but at the edges, where it is clipped: so the strip in the middle of the
     * image needs the most. The others are for filters that change the size, whose windows may vary by a row. */
    int64_t most = 0, count = pass->strip_count, step = count / STRIP_SAMPLES + 1;
    for (int64_t i = 0; i < count; i += step) {
        int64_t y0, y1;
        strip_range(pass, e, i, &y0, &y1);
        if (y1 - y0 > most) most = y1 - y0;
    }
    for (int64_t i = count / 2 - 2 > 0 ? count / 2 - 2 : 0; i < count && i < count / 2 + 3; i++) {
        int64_t y0, y1;
        strip_range(pass, e, i, &y0, &y1);
        if (y1 - y0 > most) most = y1 - y0;
    }
    return step > 1 ? most + 2 : most;
}

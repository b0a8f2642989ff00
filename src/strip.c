#include "strip.h"
#include "pixel.h"

#include <string.h>

#define ALIGN_UP(n, a) (((n) + (a)-1) / (a) * (a))

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
    for (int c = 0; c < 4; c++) {
        /* Only as the type of the format: a value of another is out of the range that C lets be converted. */
        uint8_t u8 = format.type == IMGPIPE_U8 ? (uint8_t)stage->border_value : 0;
        uint16_t u16 = format.type == IMGPIPE_U16 ? (uint16_t)stage->border_value : 0;
        float f32 = (float)stage->border_value;
        if (format.type == IMGPIPE_U8) pixel[c] = u8;
        if (format.type == IMGPIPE_U16) memcpy(pixel + 2 * c, &u16, sizeof u16);
        if (format.type == IMGPIPE_F32) memcpy(pixel + 4 * c, &f32, sizeof f32);
    }
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

struct span {
    int64_t a, b;
};

/* The rows that node k needs for rows `out` of what it makes, within its input. */
static struct span step_back(const struct pass *pass, int k, struct span out) {
    struct pass upper = *pass; /* one node back from edge k + 1 */
    struct span in;
    upper.node_count = k + 1;
    pass_need(&upper, k, out.a, out.b, &in.a, &in.b);
    return in;
}

/* Goes back from the output to edge `e`. What a strip owns at an edge reaches from its first needed row to the next strip's
 * first, so that together the strips own all rows. */
static void walk_back(const struct pass *pass, int e, int64_t index, struct strip_rows *rows, struct strip_rows *first) {
    bool last = index + 1 == pass->strip_count;
    struct span need = {strip_y0(pass, index), strip_y0(pass, index + 1)}, made = need;
    struct span next = {need.b, last ? need.b : strip_y0(pass, index + 2)};
    for (int k = pass->node_count;; k--) {
        struct span own = {index == 0 ? 0 : need.a, last ? pass->edges[k].info.height : next.a};
        if (pass->edges[k].gather_count && own.a < made.a) made.a = own.a;
        if (pass->edges[k].gather_count && own.b > made.b) made.b = own.b;
        struct strip_rows found = {made.a, made.b, own.a, own.b};
        if (rows) rows[k - e] = found;
        if (first) *first = found;
        if (k == e) return;
        made = step_back(pass, k - 1, made);
        need = step_back(pass, k - 1, need);
        if (!last) next = step_back(pass, k - 1, next);
    }
}

void strip_rows(const struct pass *pass, int e, int64_t index, struct strip_rows *rows) {
    walk_back(pass, e, index, rows, NULL);
}

void strip_input(const struct pass *pass, int64_t index, int64_t *y0, int64_t *y1) {
    struct strip_rows input;
    walk_back(pass, 0, index, NULL, &input);
    *y0 = input.y0;
    *y1 = input.y1;
}

#define STRIP_SAMPLES 1024

static int64_t strip_height(const struct pass *pass, int e, int64_t index) {
    struct strip_rows rows;
    walk_back(pass, e, index, NULL, &rows);
    return rows.y1 - rows.y0;
}

int64_t strip_most(const struct pass *pass, int e) {
    /* need() is monotonic and the same everywhere but at the edges, where it is clipped: so the strip in the middle of the
     * image needs the most. The others are for filters that change the size, whose windows may vary by a row. */
    int64_t most = 0, count = pass->strip_count, step = count / STRIP_SAMPLES + 1;
    for (int64_t i = 0; i < count; i += step)
        if (strip_height(pass, e, i) > most) most = strip_height(pass, e, i);
    for (int64_t i = count / 2 - 2 > 0 ? count / 2 - 2 : 0; i < count && i < count / 2 + 3; i++)
        if (strip_height(pass, e, i) > most) most = strip_height(pass, e, i);
    return step > 1 ? most + 2 : most;
}

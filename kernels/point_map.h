/* TABLE steps for one pair of sample types; included by point.c for every pair, with IN, OUT and MAP(name) defined. MAP_BITS and
 * MAP_LEVEL are 1 for the pairs that these maps are found for. */

/* `n` samples by one table, or by pixels of 1, 2 or 3 colours and alpha. */
static void MAP(lookup_flat)(const OUT *table, const IN *restrict in, OUT *restrict out, int64_t n) {
    for (int64_t i = 0; i < n; i++) out[i] = table[in[i]];
}

static inline void MAP(lookup_pixels)(const OUT *color, const OUT *alpha, const IN *restrict in, OUT *restrict out, int64_t width,
                                      int channels) {
    for (int64_t x = 0; x < width; x++, in += channels, out += channels) {
        for (int c = 0; c < channels - 1; c++) out[c] = color[in[c]];
        out[channels - 1] = alpha ? alpha[in[channels - 1]] : (OUT)in[channels - 1];
    }
}

static void MAP(lookup)(const struct point_step *step, const unsigned char *tables, const IN *in, OUT *out, int64_t width) {
    const OUT *color = (const OUT *)(tables + step->color_table);
    const OUT *alpha = step->alpha_identity ? NULL : (const OUT *)(tables + step->alpha_table);
    int channels = step->in.channels;
    if (!step->in.alpha || alpha == color)
        MAP(lookup_flat)(color, in, out, width * channels);
    else if (channels == 2)
        MAP(lookup_pixels)(color, alpha, in, out, width, 2);
    else if (channels == 3)
        MAP(lookup_pixels)(color, alpha, in, out, width, 3);
    else
        MAP(lookup_pixels)(color, alpha, in, out, width, 4);
}

#if MAP_BITS
static void MAP(bits)(const struct point_step *step, const IN *restrict in, OUT *restrict out, int64_t width) {
    const unsigned widen = sizeof(OUT) == sizeof(IN) ? 1 : 257;
    int64_t n = width * step->in.channels, i = 0;
    IN mask[PERIOD];
    OUT flip[PERIOD];
    for (int k = 0; k < PERIOD; k++) mask[k] = (IN)step->color_mask, flip[k] = (OUT)step->color_flip;
    EACH_ALPHA_LANE(k, step->in) mask[k] = (IN)step->alpha_mask, flip[k] = (OUT)step->alpha_flip;
    for (; i + PERIOD <= n; i += PERIOD)
        for (int k = 0; k < PERIOD; k++) out[i + k] = (OUT)((in[i + k] & mask[k]) * widen ^ flip[k]);
    for (int k = 0; k < (int)(n - i); k++) out[i + k] = (OUT)((in[i + k] & mask[k]) * widen ^ flip[k]);
}
#endif

#if MAP_LEVEL
static void MAP(level)(const struct point_step *step, const IN *restrict in, OUT *restrict out, int64_t width) {
    int64_t n = width * step->in.channels, i = 0;
    IN level = (IN)step->level;
    OUT high = (OUT)step->level_high, low = (OUT)step->level_low, keep[PERIOD];
    for (int k = 0; k < PERIOD; k++) keep[k] = 0;
    EACH_ALPHA_LANE(k, step->in) keep[k] = (OUT)-1;
    for (; i + PERIOD <= n; i += PERIOD)
        for (int k = 0; k < PERIOD; k++) {
            OUT r = in[i + k] >= level ? high : low;
            out[i + k] = (OUT)((in[i + k] & keep[k]) | (r & ~keep[k]));
        }
    for (int k = 0; k < (int)(n - i); k++) {
        OUT r = in[i + k] >= level ? high : low;
        out[i + k] = (OUT)((in[i + k] & keep[k]) | (r & ~keep[k]));
    }
}
#endif
#undef IN
#undef OUT
#undef MAP
#undef MAP_BITS
#undef MAP_LEVEL

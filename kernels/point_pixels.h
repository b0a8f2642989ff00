/* Steps on whole pixels of integers: MIX, FLATTEN, EXPAND (and EXPAND for f32, moved as bits). Included by point.c for each
 * type, with TYPE and PIXELS(name) defined, and MAX as the type's maximum, 0 for f32. */

#if MAX
static inline void PIXELS(mix_u32)(const struct point_step *step, const TYPE *restrict in, TYPE *restrict out, int64_t width,
                                   int channels, int made) {
    uint32_t w0 = (uint32_t)step->weights[0], w1 = (uint32_t)step->weights[1], w2 = (uint32_t)step->weights[2];
    uint32_t round = (uint32_t)step->round;
    for (int64_t x = 0; x < width; x++) {
        uint32_t r = in[channels * x], g = in[channels * x + 1], b = in[channels * x + 2];
        uint32_t v = (w0 * r + w1 * g + w2 * b + round) >> 16;
        out[made * x] = (TYPE)(v < MAX ? v : MAX);
        if (made == 2) out[2 * x + 1] = in[channels * x + 3];
    }
}

/* Weights of either sign in 65536ths whose sums 31 bits hold. */
static inline void PIXELS(mix_i32)(const struct point_step *step, const TYPE *restrict in, TYPE *restrict out, int64_t width,
                                   int channels, int made) {
    int32_t w0 = (int32_t)step->weights[0], w1 = (int32_t)step->weights[1], w2 = (int32_t)step->weights[2];
    int32_t round = (int32_t)step->round;
    for (int64_t x = 0; x < width; x++) {
        int32_t r = in[channels * x], g = in[channels * x + 1], b = in[channels * x + 2];
        int32_t v = (w0 * r + w1 * g + w2 * b + round) >> 16;
        v = v > 0 ? v : 0;
        out[made * x] = (TYPE)(v < MAX ? v : MAX);
        if (made == 2) out[2 * x + 1] = in[channels * x + 3];
    }
}

static inline void PIXELS(mix_third)(const TYPE *restrict in, TYPE *restrict out, int64_t width, int channels, int made) {
    for (int64_t x = 0; x < width; x++) {
        uint32_t r = in[channels * x], g = in[channels * x + 1], b = in[channels * x + 2];
        out[made * x] = (TYPE)((r + g + b + 1) / 3);
        if (made == 2) out[2 * x + 1] = in[channels * x + 3];
    }
}

/* Any weights and divisor. The quotient is rounded down, which for negative sums is not what C's division does. */
static void PIXELS(mix_any)(const struct point_step *step, const TYPE *in, TYPE *out, int64_t width) {
    int channels = step->in.channels, made = step->out.channels;
    int64_t w0 = step->weights[0], w1 = step->weights[1], w2 = step->weights[2], divisor = step->divisor;
    for (int64_t x = 0; x < width; x++, in += channels, out += made) {
        int64_t sum = w0 * in[0] + w1 * in[1] + w2 * in[2] + step->round;
        int64_t v = sum / divisor - (sum % divisor < 0 ? 1 : 0);
        out[0] = (TYPE)(v > 0 ? v < MAX ? v : MAX : 0);
        if (made == 2) out[1] = in[3];
    }
}

static inline void PIXELS(mix_known)(const struct point_step *step, const TYPE *in, TYPE *out, int64_t width, int channels,
                                     int made) {
    if (step->mix_u32)
        PIXELS(mix_u32)(step, in, out, width, channels, made);
    else if (step->mix_third)
        PIXELS(mix_third)(in, out, width, channels, made);
    else if (mix_is_i32(step, MAX))
        PIXELS(mix_i32)(step, in, out, width, channels, made);
    else
        PIXELS(mix_any)(step, in, out, width);
}

static void PIXELS(mix)(const struct point_step *step, const TYPE *in, TYPE *out, int64_t width) {
    if (step->in.channels == 3)
        PIXELS(mix_known)(step, in, out, width, 3, 1);
    else if (step->out.channels == 1)
        PIXELS(mix_known)(step, in, out, width, 4, 1);
    else
        PIXELS(mix_known)(step, in, out, width, 4, 2);
}

/* c a + bg (max - a) + max / 2 is at most max * max + max / 2, which 32 bits hold for u16 too. */
static inline void PIXELS(flatten_colors)(const struct point_step *step, const TYPE *restrict in, TYPE *restrict out, int64_t width,
                                          int colors) {
    uint32_t background[3];
    for (int c = 0; c < 3; c++) background[c] = (uint32_t)step->background[c];
    for (int64_t x = 0; x < width; x++) {
        uint32_t alpha = in[(colors + 1) * x + colors];
        for (int c = 0; c < colors; c++) {
            uint32_t sum = in[(colors + 1) * x + c] * alpha + background[c] * (MAX - alpha) + MAX / 2;
            out[colors * x + c] = (TYPE)(sum / MAX);
        }
    }
}

static void PIXELS(flatten)(const struct point_step *step, const TYPE *in, TYPE *out, int64_t width) {
    if (step->out.channels == 1)
        PIXELS(flatten_colors)(step, in, out, width, 1);
    else if (step->out.channels == 2)
        PIXELS(flatten_colors)(step, in, out, width, 2);
    else
        PIXELS(flatten_colors)(step, in, out, width, 3);
}
#endif

static void PIXELS(expand)(const struct point_step *step, const TYPE *restrict in, TYPE *restrict out, int64_t width) {
    if (step->in.alpha)
        for (int64_t x = 0; x < width; x++) {
            out[4 * x] = out[4 * x + 1] = out[4 * x + 2] = in[2 * x];
            out[4 * x + 3] = in[2 * x + 1];
        }
    else
        for (int64_t x = 0; x < width; x++) out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = in[x];
}
#undef TYPE
#undef PIXELS
#undef MAX

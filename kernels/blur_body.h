/* What depends on the sample type: from samples to float32 and back. Included three times by blur.c, with SAMPLE (the C
 * type), NAME(x) (x with the type's suffix) and ROUND(v) (float32 to sample) defined. */

/* Straight samples. */
static void NAME(load)(const void *in, float *restrict out, int64_t count, int channels) {
    const SAMPLE *p = in;
    (void)channels;
    for (int64_t i = 0; i < count; i++) out[i] = (float)p[i];
}

/* The last channel is alpha: colours are premultiplied. `count` samples are whole pixels. The number of channels is
 * constant in each call, so that the compiler sees fixed steps. */
static inline void NAME(premultiply)(const SAMPLE *restrict p, float *restrict out, int64_t count, int channels) {
    for (int64_t i = 0; i < count; i += channels) {
        float a = (float)p[i + channels - 1];
        for (int c = 0; c < channels - 1; c++) out[i + c] = (float)p[i + c] * a;
        out[i + channels - 1] = a;
    }
}

static void NAME(load_alpha)(const void *in, float *restrict out, int64_t count, int channels) {
    if (channels == 4)
        NAME(premultiply)(in, out, count, 4);
    else if (channels == 3)
        NAME(premultiply)(in, out, count, 3);
    else
        NAME(premultiply)(in, out, count, 2);
}

static void NAME(store)(const float *restrict sum, void *out, int64_t count, int channels) {
    SAMPLE *restrict p = out;
    (void)channels;
    for (int64_t i = 0; i < count; i++) p[i] = ROUND(sum[i]);
}

static inline void NAME(divide)(const float *restrict sum, SAMPLE *restrict p, int64_t count, int channels) {
    for (int64_t i = 0; i < count; i += channels) {
        float a = sum[i + channels - 1];
        SAMPLE alpha = ROUND(a);
        /* Where alpha is 0 the divisor does not matter; 1 keeps 0 / 0 away. */
        float divisor = alpha == 0 ? 1.0f : a;
        for (int c = 0; c < channels - 1; c++) {
            SAMPLE colour = ROUND(sum[i + c] / divisor);
            p[i + c] = alpha == 0 ? 0 : colour;
        }
        p[i + channels - 1] = alpha;
    }
}

static void NAME(store_alpha)(const float *restrict sum, void *out, int64_t count, int channels) {
    if (channels == 4)
        NAME(divide)(sum, out, count, 4);
    else if (channels == 3)
        NAME(divide)(sum, out, count, 3);
    else
        NAME(divide)(sum, out, count, 2);
}

/* One kind of sums: included by conv.c with SAMPLE, SUM, WEIGHT, SUFFIX and MULTIPLY_ADD(sum, weight, sample). */

/* Adds n taps, tap k from the samples at from[k] on, to `count` sums. Several taps at a time save loads and stores of the sums. */
static void KERNEL_PASTE(conv_add, SUFFIX)(SUM *restrict sums, const SAMPLE *const *from, const WEIGHT *weights, int n, int count) {
    for (; n >= 5; n -= 5, from += 5, weights += 5) {
        const SAMPLE *restrict a = from[0], *restrict b = from[1], *restrict c = from[2], *restrict d = from[3],
                               *restrict e = from[4];
        const WEIGHT wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3], we = weights[4];
        for (int i = 0; i < count; i++) {
            SUM s = sums[i];
            s = MULTIPLY_ADD(s, wa, a[i]);
            s = MULTIPLY_ADD(s, wb, b[i]);
            s = MULTIPLY_ADD(s, wc, c[i]);
            s = MULTIPLY_ADD(s, wd, d[i]);
            sums[i] = MULTIPLY_ADD(s, we, e[i]);
        }
    }
    for (; n >= 3; n -= 3, from += 3, weights += 3) {
        const SAMPLE *restrict a = from[0], *restrict b = from[1], *restrict c = from[2];
        const WEIGHT wa = weights[0], wb = weights[1], wc = weights[2];
        for (int i = 0; i < count; i++) {
            SUM s = sums[i];
            s = MULTIPLY_ADD(s, wa, a[i]);
            s = MULTIPLY_ADD(s, wb, b[i]);
            sums[i] = MULTIPLY_ADD(s, wc, c[i]);
        }
    }
    for (; n > 0; n--, from++, weights++) {
        const SAMPLE *restrict a = from[0];
        const WEIGHT wa = weights[0];
        for (int i = 0; i < count; i++) sums[i] = MULTIPLY_ADD(sums[i], wa, a[i]);
    }
}

#ifdef CONV_WHOLE
/* Adds the taps [tap, end) to the sums of the samples from `at` on. */
static void KERNEL_PASTE(conv_taps, SUFFIX)(const struct conv_plan *plan, const struct conv_block *block, SUM *sums, int tap,
                                            int end) {
    const SAMPLE *from[CONV_LIST];
    WEIGHT weights[CONV_LIST];
    while (tap < end) {
        int n = 0;
        for (; n < CONV_LIST && tap < end; n++, tap++) {
            const struct conv_tap *t = &plan->taps[tap];
            from[n] = (const SAMPLE *)block->in[t->y] + block->at + (t->x - plan->params.width / 2) * block->channels;
            weights[n] = (WEIGHT)t->weight;
        }
        KERNEL_PASTE(conv_add, SUFFIX)(sums, from, weights, n, block->count);
    }
}
#else
/* The sums over the whole mask: rows from left to right, then their sums from top to bottom. */
static void KERNEL_PASTE(conv_sums, SUFFIX)(const struct conv_params *params, const struct conv_block *block, SUM *sums) {
    const SAMPLE *from[CONV_MAX];
    SUM line[CONV_BLOCK];
    for (int i = 0; i < block->count; i++) sums[i] = 0;
    for (int y = 0; y < params->height; y++) {
        const SAMPLE *row = (const SAMPLE *)block->in[y] + block->at;
        for (int x = 0; x < params->width; x++) from[x] = row + (x - params->width / 2) * block->channels;
        for (int i = 0; i < block->count; i++) line[i] = 0;
        KERNEL_PASTE(conv_add, SUFFIX)(line, from, params->weights.real + y * params->width, params->width, block->count);
        for (int i = 0; i < block->count; i++) sums[i] += line[i];
    }
}
#endif

#undef SAMPLE
#undef SUM
#undef WEIGHT
#undef SUFFIX
#undef MULTIPLY_ADD

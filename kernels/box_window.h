/* Sums over `width` neighbouring columns by sliding. Included by box.c for each pair of COLUMN (what is added) and TOTAL (the
 * sum), with NAME(x) defined. One pixel in front of `columns` is readable (0 at the start of a row), and the pixel in
 * front of `totals` holds the sums that end one pixel before. The two sums and the difference run modulo 2^32 or 2^64. */
static inline __attribute__((always_inline)) void NAME(slide_along)(const COLUMN *columns, TOTAL *restrict totals, int64_t count,
                                                                    int width, int channels) {
    TOTAL run[4];
    const COLUMN *enter = columns + (int64_t)(width - 1) * channels, *leave = columns - channels;
    for (int c = 0; c < channels; c++) run[c] = totals[c - channels];
    for (int64_t i = 0; i < count; i += channels)
        for (int c = 0; c < channels; c++) {
            run[c] += (TOTAL)enter[i + c] - (TOTAL)leave[i + c];
            totals[i + c] = run[c];
        }
}

static void NAME(window)(const struct box_window *window, int64_t count) {
    int width = window->width, channels = window->channels;
    const COLUMN *columns = window->columns;
    TOTAL *totals = window->totals;
    if (window->first)
        for (int c = 0; c < channels; c++) {
            TOTAL sum = 0;
            for (int64_t k = 0; k < width - 1; k++) sum += columns[k * channels + c];
            totals[c - channels] = sum;
        }
    if (channels == 1)
        NAME(slide_along)(columns, totals, count, width, 1);
    else if (channels == 2)
        NAME(slide_along)(columns, totals, count, width, 2);
    else if (channels == 3)
        NAME(slide_along)(columns, totals, count, width, 3);
    else
        NAME(slide_along)(columns, totals, count, width, 4);
    for (int c = 0; c < channels; c++) totals[c - channels] = totals[count - channels + c];
}

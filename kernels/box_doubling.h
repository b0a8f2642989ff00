/* Sums over neighbouring columns as in box_window.h, for narrow windows, without its chain of additions: sums of 1, 2, 4, …
 * columns, and of these the ones that make up the binary digits of the width. The width is odd.
 * Included by box.c for each COLUMN, which also holds the sums, with NAME(x) defined. */
static void NAME(add_to)(COLUMN *restrict sum, const COLUMN *a, const COLUMN *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = (COLUMN)(a[i] + b[i]);
}

static void NAME(window_doubling)(const struct box_window *window, int64_t count) {
    int channels = window->channels, width = window->width, offset = 1, work = 0;
    const COLUMN *power = window->columns, *sum = power;
    for (int digit = 2; digit <= width; digit *= 2) {
        NAME(add_to)
        (window->work[work], power, power + (int64_t)(digit / 2) * channels, count + (int64_t)(width - digit) * channels);
        power = window->work[work];
        work = !work;
        if (!(width & digit)) continue;
        if (sum == window->totals) {
            COLUMN *restrict totals = window->totals;
            const COLUMN *add = power + (int64_t)offset * channels;
            for (int64_t i = 0; i < count; i++) totals[i] = (COLUMN)(totals[i] + add[i]);
        } else
            NAME(add_to)(window->totals, sum, power + (int64_t)offset * channels, count);
        sum = window->totals;
        offset += digit;
    }
    if (width == 1) memcpy(window->totals, window->columns, (size_t)count * sizeof(COLUMN));
}

/* Rows of one integer sample type to and from a caller's layout: included by layout.c with SAMPLE, FULL (its greatest value),
 * READ and WRITE defined. The products stay below 2^32. */

/* Samples that are in the format's order already: to straight alpha and the full range. Returns false for one above `white`. */
static bool READ(SAMPLE *row, int64_t width, const struct layout_way *way) {
    uint32_t white = way->white, greatest = 0;
    int channels = way->channels;
    for (int64_t i = 0; i < width * channels; i++) greatest = row[i] > greatest ? row[i] : greatest;
    if (greatest > white) return false;
    for (int64_t x = 0; way->premultiplied && x < width; x++) {
        SAMPLE *p = row + x * channels;
        uint32_t a = p[channels - 1];
        for (int c = 0; c < channels - 1; c++) p[c] = (SAMPLE)(a == 0 ? 0 : p[c] >= a ? white : (p[c] * white + a / 2) / a);
    }
    for (int64_t i = 0; white != FULL && i < width * channels; i++)
        row[i] = (SAMPLE)((row[i] * (uint32_t)FULL + white / 2) / white);
    return true;
}

static void WRITE(const SAMPLE *from, SAMPLE *to, int64_t width, const struct layout_way *way) {
    uint32_t white = way->white;
    int channels = way->channels;
    for (int64_t x = 0; x < width; x++, from += channels, to += way->samples) {
        uint32_t p[4] = {0};
        for (int c = 0; c < channels; c++) p[c] = white == FULL ? from[c] : (from[c] * white + FULL / 2) / FULL;
        for (int c = 0; way->premultiplied && c < channels - 1; c++) p[c] = (p[c] * p[channels - 1] + white / 2) / white;
        for (int c = 0; c < channels; c++) to[way->at[c]] = (SAMPLE)p[c];
        if (way->unused >= 0) to[way->unused] = (SAMPLE)white;
    }
}

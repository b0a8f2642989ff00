#include "jpeg_tail.h"

size_t jpeg_tail_read(struct jpeg_tail *tail, struct input *input, const unsigned char **bytes) {
    static const unsigned char zeros[4096];
    while (tail->size == 0) {
        size_t size = input_read(input, tail->bytes, sizeof tail->bytes), last = size;
        while (last > 0 && tail->bytes[last - 1] == 0) last--;
        tail->size = last;
        if (last > 0)
            tail->trailing = size - last;
        else
            tail->zeros += size;
        if (size == 0) break;
    }
    if (tail->size == 0 && (tail->zeros == 0 || tail->zeros >= JPEG_TAIL_ZEROS)) return 0;
    if (tail->zeros > 0) {
        size_t count = tail->zeros < sizeof zeros ? (size_t)tail->zeros : sizeof zeros;
        tail->zeros -= count;
        *bytes = zeros;
        return count;
    }
    size_t count = tail->size;
    tail->size = 0;
    tail->zeros = tail->trailing;
    tail->trailing = 0;
    *bytes = tail->bytes;
    return count;
}

/* Huffman codes. */
#include "png_deflate.h"
#include <string.h>

enum { SYMBOLS = 288, LONGEST = 15 };

/* Sorts by count, which takes three passes by 8 bits at most; equal counts stay in the order of their symbols. */
static int sort_symbols(const uint32_t *counts, int n, uint32_t *sorted_counts, uint16_t *sorted) {
    uint16_t order[2][SYMBOLS];
    int used = 0, from = 0;
    uint32_t any = 0;
    for (int i = 0; i < n; i++) {
        if (!counts[i]) continue;
        order[0][used++] = (uint16_t)i;
        any |= counts[i];
    }
    for (int shift = 0; shift < 32 && any >> shift; shift += 8, from ^= 1) {
        uint16_t starts[257] = {0};
        for (int i = 0; i < used; i++) starts[(counts[order[from][i]] >> shift & 255) + 1]++;
        for (int i = 1; i < 256; i++) starts[i] = (uint16_t)(starts[i] + starts[i - 1]);
        for (int i = 0; i < used; i++) order[from ^ 1][starts[counts[order[from][i]] >> shift & 255]++] = order[from][i];
    }
    for (int i = 0; i < used; i++) {
        sorted[i] = order[from][i];
        sorted_counts[i] = counts[sorted[i]];
    }
    return used;
}

/* Turns counts in rising order into lengths in place: Moffat and Katajainen, "In-place calculation of minimum-redundancy codes",
 * WADS 1995. First a[i] of an inner node becomes its parent, then its depth, then depths are spread over the leaves. */
static void minimum_redundancy(uint32_t *a, int n) {
    int root = 0, leaf = 2;
    a[0] += a[1];
    for (int next = 1; next < n - 1; next++) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] = a[leaf++];
        }
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] += a[leaf++];
        }
    }
    a[n - 2] = 0;
    for (int next = n - 3; next >= 0; next--) a[next] = a[a[next]] + 1;
    int available = 1, used = 0, next = n - 1;
    root = n - 2;
    for (uint32_t depth = 0; available > 0; depth++) {
        while (root >= 0 && a[root] == depth) {
            used++;
            root--;
        }
        while (available > used) {
            a[next--] = depth;
            available--;
        }
        available = 2 * used;
        used = 0;
    }
}

/* Codes beyond the limit are cut to it. Then the code has too many leaves; each step moves one leaf of the limit beside another
 * leaf that goes one level down. */
static void limit_lengths(int *of_length, int limit) {
    uint32_t sum = 0;
    for (int i = limit + 1; i < SYMBOLS; i++) {
        of_length[limit] += of_length[i];
        of_length[i] = 0;
    }
    for (int i = 1; i <= limit; i++) sum += (uint32_t)of_length[i] << (limit - i);
    for (; sum > 1u << limit; sum--) {
        int shorter = limit - 1;
        while (of_length[shorter] == 0) shorter--;
        of_length[limit]--;
        of_length[shorter]--;
        of_length[shorter + 1] += 2;
    }
}

void png_code_lengths(const uint32_t *counts, int n, int limit, uint8_t *lengths) {
    uint32_t depths[SYMBOLS];
    uint16_t sorted[SYMBOLS];
    int of_length[SYMBOLS] = {0}, used = sort_symbols(counts, n, depths, sorted);
    memset(lengths, 0, (size_t)n);
    if (used < 2) {
        lengths[used ? sorted[0] : 0] = 1;
        lengths[used && sorted[0] == 0 ? 1 : used ? 0 : 1] = 1;
        return;
    }
    minimum_redundancy(depths, used);
    for (int i = 0; i < used; i++) of_length[depths[i]]++;
    limit_lengths(of_length, limit);
    for (int length = limit, i = 0; length > 0; length--) {
        for (int k = 0; k < of_length[length]; k++) lengths[sorted[i++]] = (uint8_t)length;
    }
}

void png_code_values(const uint8_t *lengths, int n, uint16_t *values) {
    unsigned of_length[LONGEST + 2] = {0}, next[LONGEST + 2] = {0};
    for (int i = 0; i < n; i++) of_length[lengths[i]]++;
    of_length[0] = 0;
    for (int i = 1; i <= LONGEST; i++) next[i + 1] = (next[i] + of_length[i]) << 1;
    for (int i = 0; i < n; i++) {
        unsigned value = next[lengths[i]]++, reversed = 0;
        for (int bit = 0; bit < lengths[i]; bit++) reversed |= (value >> bit & 1) << (lengths[i] - 1 - bit);
        values[i] = (uint16_t)reversed;
    }
}

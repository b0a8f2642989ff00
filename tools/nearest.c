/* The name that somebody meant. */
#include "options.h"

#include <string.h>

#define LONGEST 40

/* Edits that lead from `a` to `b`, two swapped neighbours being one. */
static int edits(const char *a, const char *b) {
    int rows[LONGEST + 1][LONGEST + 1], a_length = (int)strlen(a), b_length = (int)strlen(b);
    for (int i = 0; i <= a_length; i++) {
        for (int j = 0; j <= b_length; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = i + j;
                continue;
            }
            int best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (rows[i - 1][j] + 1 < best) best = rows[i - 1][j] + 1;
            if (rows[i][j - 1] + 1 < best) best = rows[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && rows[i - 2][j - 2] + 1 < best) best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[a_length][b_length];
}

const char *options_nearest(const char *text, const char *const *names) {
    const char *best = NULL;
    int best_edits = LONGEST;
    size_t length = strlen(text);
    if (length == 0 || length > LONGEST) return NULL;
    for (int i = 0; names[i]; i++) {
        size_t name_length = strlen(names[i]), longer = length > name_length ? length : name_length;
        if (name_length > LONGEST) continue;
        int count = edits(text, names[i]);
        /* The beginning of a name counts as near: --over. */
        if (length >= 3 && strncmp(text, names[i], length) == 0 && count > 1) count = 1;
        if (count <= (int)(longer + 2) / 3 && count < (int)longer && count < best_edits) {
            best = names[i];
            best_edits = count;
        }
    }
    return best;
}

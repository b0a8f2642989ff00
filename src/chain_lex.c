/* Quotes and escapes of a chain, resolved once, so that the parser sees separators and literal bytes only. */
#include "chain_lex.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

/* Places are ints, and a chain longer than this is a mistake (such as -f @image.png). */
#define LONGEST (1 << 20)

static void put(struct chain_lex *lex, char c, size_t at, bool literal) {
    lex->text[lex->count] = c;
    lex->at[lex->count] = (int)at;
    lex->literal[lex->count++] = literal;
}

/* Reads from the quote at `from` to behind its partner. Returns 0 if it has none: position 0 never follows a quote. */
static size_t read_quoted(const char *text, size_t from, struct chain_lex *lex) {
    for (size_t i = from + 1; text[i]; i++) {
        if (text[i] == '\'' && text[i + 1] != '\'') return i + 1;
        if (text[i] == '\'') i++;
        put(lex, text[i], i, true);
    }
    return 0;
}

static imgpipe_status read_all(const char *text, struct chain_lex *lex, imgpipe_error *error) {
    for (size_t i = 0; text[i];) {
        if (text[i] == '\'') {
            size_t next = read_quoted(text, i, lex);
            if (next == 0)
                return error_at(error, IMGPIPE_ERROR_ARGUMENT, (int)i, (int)strlen(text + i),
                                "chain: a quote is not closed; write another ' at its end, or \\' for a quote that means itself");
            i = next;
        } else if (text[i] == '\\') {
            if (!text[i + 1])
                return error_at(error, IMGPIPE_ERROR_ARGUMENT, (int)i, 1,
                                "chain: nothing follows the \\ at the end; write \\\\ for a \\ that means itself");
            put(lex, text[i + 1], i + 1, true);
            i += 2;
        } else {
            put(lex, text[i], i, false);
            i++;
        }
    }
    lex->text[lex->count] = 0;
    return IMGPIPE_OK;
}

imgpipe_status chain_lex_read(const char *text, struct chain_lex *lex, imgpipe_error *error) {
    size_t length = strlen(text);
    *lex = (struct chain_lex){0};
    if (length > LONGEST)
        return error_set(error, IMGPIPE_ERROR_ARGUMENT, "chain: it has %zu bytes and 1 MiB is the most; shorten it", length);
    lex->text = malloc(length + 1);
    lex->at = malloc((length + 1) * sizeof *lex->at);
    lex->literal = malloc((length + 1) * sizeof *lex->literal);
    imgpipe_status status = IMGPIPE_ERROR_MEMORY;
    if (lex->text && lex->at && lex->literal)
        status = read_all(text, lex, error);
    else
        error_set(error, status, "chain: no memory for it; free some");
    if (status != IMGPIPE_OK) chain_lex_free(lex);
    return status;
}

void chain_lex_free(struct chain_lex *lex) {
    free(lex->text);
    free(lex->at);
    free(lex->literal);
    *lex = (struct chain_lex){0};
}

int chain_lex_find(const struct chain_lex *lex, struct chain_range range, char c) {
    for (int i = range.from; i < range.to; i++)
        if (lex->text[i] == c && !lex->literal[i]) return i;
    return range.to;
}

static bool is_space(const struct chain_lex *lex, int i) {
    return !lex->literal[i] && strchr(" \t\r\n", lex->text[i]);
}

struct chain_range chain_lex_trim(const struct chain_lex *lex, struct chain_range range) {
    while (range.from < range.to && is_space(lex, range.from)) range.from++;
    while (range.from < range.to && is_space(lex, range.to - 1)) range.to--;
    return range;
}

void chain_lex_place(const struct chain_lex *lex, struct chain_range range, int *place, int *length) {
    *place = *length = 0;
    if (lex->count == 0) return;
    if (range.from >= lex->count) {
        *place = lex->at[lex->count - 1] + 1;
        return;
    }
    *place = lex->at[range.from];
    if (range.to > range.from) *length = lex->at[range.to - 1] + 1 - *place;
}

bool chain_lex_is_key(const struct chain_lex *lex, struct chain_range range) {
    for (int i = range.from; i < range.to; i++) {
        char c = lex->text[i];
        bool first = c >= 'a' && c <= 'z', later = (c >= '0' && c <= '9') || c == '_';
        if (lex->literal[i] || !(first || (later && i > range.from))) return false;
    }
    return range.to > range.from;
}

bool chain_lex_equals(const struct chain_lex *lex, struct chain_range range, const char *name) {
    size_t length = (size_t)(range.to - range.from);
    return strlen(name) == length && memcmp(lex->text + range.from, name, length) == 0;
}

const char *chain_lex_show(const struct chain_lex *lex, struct chain_range range, char buf[48]) {
    size_t length = (size_t)(range.to - range.from), keep = length;
    const char *text = lex->text + range.from;
    if (length > 40) {
        keep = 37;
        while (keep > 0 && ((unsigned char)text[keep] & 0xc0) == 0x80) keep--;
    }
    memcpy(buf, text, keep);
    memcpy(buf + keep, "…", keep < length ? sizeof "…" : 0);
    if (keep == length) buf[keep] = 0;
    return buf;
}

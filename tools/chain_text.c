#include "chain_text.h"
#include "cut.h"
#include "json.h"
#include "text_mark.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#define LONGEST ((size_t)1 << 20)

/* ------------------------------------------------------------------------------------------------ reading */

/* Turns the text of a file into that of a chain, byte for byte, so that places stay what they are: a newline between two
 * stages becomes a comma, every other one and all comments become spaces. */
static void flatten(char *text) {
    char *newline = NULL; /* the first newline since the last stage, if no comma came yet */
    bool content = false, quoted = false, comment = false;
    memset(text, ' ', mark_utf8(text, strlen(text)));
    for (char *p = text; *p; p++) {
        if (quoted) {
            quoted = *p != '\'';
            continue;
        }
        if (*p == '#') comment = true;
        if (*p == '\n') {
            comment = false;
            if (content && !newline) newline = p;
            *p = ' ';
        } else if (comment || strchr(" \t\r", *p)) {
            *p = ' ';
        } else if (*p == ',') {
            newline = NULL;
            content = false;
        } else {
            if (newline) *newline = ',';
            newline = NULL;
            content = true;
            quoted = *p == '\'';
            if (*p == '\\' && p[1]) p++;
        }
    }
}

bool chain_text_read(const char *value, struct chain_text *chain, char *message, size_t message_size) {
    *chain = (struct chain_text){0};
    if (!value) value = "";
    if (value[0] != '@') {
        chain->text = strdup(value);
        if (!chain->text) snprintf(message, message_size, "no memory for the chain; free some");
        return chain->text != NULL;
    }
    struct stat st;
    chain->file = value + 1;
    FILE *file = fopen(chain->file, "rb");
    bool folder = file && fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode);
    if (!file || folder) {
        snprintf(message, message_size, "-f: cannot read the chain from '%s': %s; check the name", CUT(chain->file, 300),
                 folder ? "it is a folder" : strerror(errno));
        if (file) fclose(file);
        return false;
    }
    chain->original = calloc(1, LONGEST + 2);
    size_t length = chain->original ? fread(chain->original, 1, LONGEST + 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    const char *why = NULL;
    if (failed) why = "it cannot be read to its end; check the disk";
    if (length > LONGEST)
        why = "it is larger than 1 MiB; name a text file with filters";
    else if (chain->original && strlen(chain->original) != length)
        why = "it is no text; name a text file with filters";
    if (!why && chain->original) chain->text = strdup(chain->original);
    if (!why && !chain->text) why = "there is no memory for it; free some";
    if (why) {
        snprintf(message, message_size, "-f: cannot take the chain from '%s': %s", CUT(chain->file, 300), why);
        chain_text_free(chain);
        return false;
    }
    flatten(chain->text);
    return true;
}

void chain_text_free(struct chain_text *chain) {
    free(chain->text);
    free(chain->original);
    chain->text = chain->original = NULL;
}

/* ------------------------------------------------------------------------------------------------ showing */

/* One character of the line that is shown. */
struct cell {
    const char *from;
    int bytes, width;
    bool marked;
};

/* Columns that a character takes on a terminal; what may not be printed is shown as one '?'. */
static int cell_width(long code) {
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 1;
    int width = wcwidth((wchar_t)code);
    return width < 0 ? 1 : width;
}

/* Cuts the line into characters. Returns their number, or 0 if there is no memory for them. */
static int make_cells(const char *line, const char *end, const char *mark, const char *mark_end, struct cell **cells) {
    int count = 0;
    *cells = calloc((size_t)(end - line) + 1, sizeof **cells);
    while (*cells && line < end) {
        struct cell *cell = &(*cells)[count++];
        const char *from = line;
        cell->from = from;
        cell->width = cell_width(utf8_next(&line));
        cell->bytes = (int)(line - from);
        cell->marked = line > mark && from < mark_end;
    }
    return count;
}

static int total_width(const struct cell *cells, int from, int to) {
    int width = 0;
    for (int i = from; i < to; i++) width += cells[i].width;
    return width;
}

/* Chooses the part of the line to show: all if it fits, else some before the mark and what fits of the rest. */
static void choose_window(const struct cell *cells, int count, int mark, int columns, int *from, int *to) {
    *from = 0;
    *to = count;
    if (total_width(cells, 0, count) <= columns) return;
    int before = 0, all = 0;
    *from = mark;
    while (*from > 0 && before + cells[*from - 1].width <= columns / 3) before += cells[--*from].width;
    all = total_width(cells, *from, mark);
    *to = mark;
    while (*to < count && all + cells[*to].width <= columns) all += cells[(*to)++].width;
    /* The mark stands near the end: show more of what is before it. */
    while (*from > 0 && all + cells[*from - 1].width <= columns) all += cells[--*from].width;
}

static void print_cell(const struct cell *cell) {
    const char *from = cell->from;
    long code = utf8_next(&from);
    if (code == '\t')
        putc(' ', stderr);
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || wcwidth((wchar_t)code) < 0)
        putc('?', stderr);
    else
        fwrite(cell->from, 1, (size_t)cell->bytes, stderr);
}

static void print_marked(const struct console *console, const struct cell *cells, int count, int mark) {
    int from, to;
    choose_window(cells, count, mark, console->columns - 6, &from, &to);
    fputs(from > 0 ? "  …" : "  ", stderr);
    for (int i = from; i < to; i++) print_cell(&cells[i]);
    fputs(to < count ? "…\n" : "\n", stderr);
    fputs(from > 0 ? "   " : "  ", stderr);
    for (int i = from; i < mark; i++)
        for (int k = 0; k < cells[i].width; k++) putc(' ', stderr);
    fputs(console->color ? "\x1b[1;31m^" : "^", stderr);
    int width = 0;
    for (int i = mark; i < to && cells[i].marked; i++) width += cells[i].width;
    for (int k = 1; k < width; k++) putc('~', stderr);
    fputs(console->color ? "\x1b[0m\n" : "\n", stderr);
}

void chain_text_error(struct console *console, const struct chain_text *chain, const imgpipe_error *error) {
    const char *shown = chain->original ? chain->original : chain->text;
    if (error->place < 0 || !shown || (size_t)error->place > strlen(shown)) {
        console_error(console, "%s", error->message);
        return;
    }
    const char *mark = shown + error->place, *line = mark, *end = mark;
    int number = 1;
    while (line > shown && line[-1] != '\n') line--;
    for (const char *p = shown; p < line; p++) number += *p == '\n';
    while (*end && *end != '\n') end++;
    if (chain->file)
        console_error(console, "%s:%d: %s", chain->file, number, error->message);
    else
        console_error(console, "%s", error->message);
    /* Widths are those of UTF-8, whatever the user's locale: the text is printed as it came. */
    setlocale(LC_CTYPE, "C.UTF-8");
    struct cell *cells;
    int count = make_cells(line, end, mark, mark + (error->length > 0 ? error->length : 1), &cells), at = 0;
    while (at < count && cells[at].from + cells[at].bytes <= mark) at++;
    pthread_mutex_lock(&console->lock);
    if (count > 0) print_marked(console, cells, count, at);
    fflush(stderr);
    pthread_mutex_unlock(&console->lock);
    free(cells);
}

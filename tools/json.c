#include "json.h"

#include <math.h>

long utf8_next(const char **text) {
    const unsigned char *p = (const unsigned char *)*text;
    if (p[0] == 0) return 0;
    *text += 1;
    if (p[0] < 0x80) return p[0];
    int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return -1;
    long code = p[0] & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
        if ((p[i] & 0xc0) != 0x80) return -1;
        code = code << 6 | (p[i] & 0x3f);
    }
    static const long least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return -1;
    *text += more;
    return code;
}

void json_string(FILE *to, const char *text) {
    if (!text) {
        fputs("null", to);
        return;
    }
    putc('"', to);
    while (*text) {
        const char *from = text;
        long code = utf8_next(&text);
        if (code < 0)
            fputs("\\ufffd", to);
        else if (code == '"' || code == '\\')
            fprintf(to, "\\%c", (char)code);
        else if (code == '\n')
            fputs("\\n", to);
        else if (code < 0x20 || code == 0x7f)
            fprintf(to, "\\u%04lx", (unsigned long)code);
        else
            fwrite(from, 1, (size_t)(text - from), to);
    }
    putc('"', to);
}

void json_number(FILE *to, double value) {
    /* The command never calls setlocale() for numbers, so the point is a point. */
    if (!isfinite(value))
        fputs("null", to);
    else if (value == floor(value) && fabs(value) < 1e15)
        fprintf(to, "%.0f", value);
    else
        fprintf(to, "%.9g", value);
}

#include "names.h"
#include "cut.h"
#include "kinds.h"
#include "paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const field_names[] = {"stem", "ext", "dir", "relpath", "index", NULL};
enum { FIELD_STEM, FIELD_EXT, FIELD_DIR, FIELD_RELPATH, FIELD_INDEX, FIELD_NONE };

/* The field that begins behind '{', of `length` bytes; its width, of {index:05}, or 0. */
static int find_field(const char *text, size_t length, int *width) {
    *width = 0;
    for (int i = 0; i < FIELD_NONE; i++) {
        size_t size = strlen(field_names[i]);
        if (length < size || memcmp(text, field_names[i], size) != 0) continue;
        if (length == size) return i;
        if (i != FIELD_INDEX || text[size] != ':' || text[size + 1] != '0') continue;
        size_t digits = strspn(text + size + 2, "0123456789");
        *width = atoi(text + size + 2);
        if (size + 2 + digits == length && digits >= 1 && digits <= 2 && *width >= 1 && *width <= 18) return i;
    }
    return FIELD_NONE;
}

bool name_check(const char *template, const char *what, int *fields, char message[NAMES_MESSAGE]) {
    if (fields) *fields = 0;
    for (const char *p = template; *p; p++) {
        if (*p != '{' && *p != '}') continue;
        if (p[1] == *p) {
            p++;
            continue;
        }
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        int width;
        if (!end) {
            snprintf(message, NAMES_MESSAGE, "%s: '%s': a '%c' stands alone; write {{ and }} for braces of a name", what, CUT(template, 200), *p);
            return false;
        }
        size_t length = (size_t)(end - p) - 1;
        if (find_field(p + 1, length, &width) == FIELD_NONE) {
            struct cut text = cut_part(p + 1, length, 39);
            const char *near = options_nearest(text.text, field_names);
            snprintf(message, NAMES_MESSAGE, "%s: {%s} is no field; %s%s%s fields are {stem} {ext} {dir} {relpath} {index} {index:05} {{ }}",
                     what, text.text, near ? "did you mean {" : "", near ? near : "", near ? "}? The" : "the");
            return false;
        }
        if (fields) ++*fields;
        p = end;
    }
    return true;
}

/* The parts of a path that go into the fields. */
struct parts {
    const char *rel, *base;
    int dir, stem; /* lengths of what is before the base's slash, and of the base without its extension */
};

static struct parts take_apart(const char *rel) {
    const char *ext = kind_extension(rel);
    struct parts parts = {.rel = rel, .base = path_base(rel)};
    parts.dir = parts.base > rel ? (int)(parts.base - rel) - 1 : 0;
    parts.stem = ext ? (int)(ext - parts.base) - 1 : (int)strlen(parts.base);
    return parts;
}

static void put_field(FILE *to, int field, int width, const struct job *job, const char *ext) {
    struct parts parts = take_apart(job->rel);
    switch (field) {
    case FIELD_STEM: fprintf(to, "%.*s", parts.stem, parts.base); break;
    case FIELD_EXT: fputs(ext, to); break;
    case FIELD_DIR: fprintf(to, "%.*s", parts.dir, parts.rel); break;
    case FIELD_RELPATH: fprintf(to, "%.*s%s%s", (int)(parts.base - parts.rel) + parts.stem, parts.rel, *ext ? "." : "", ext); break;
    case FIELD_INDEX: fprintf(to, "%0*lld", width ? width : 1, (long long)job->index); break;
    default: break;
    }
}

char *name_expand(const char *template, const struct job *job, const char *ext) {
    char *name = NULL;
    size_t size;
    FILE *to = open_memstream(&name, &size);
    if (!to) return NULL;
    for (const char *p = template; *p; p++) {
        int width = 0;
        if ((*p == '{' || *p == '}') && p[1] == *p) {
            putc(*p++, to);
        } else if (*p == '{') {
            const char *end = strchr(p, '}');
            int field = find_field(p + 1, (size_t)(end - p) - 1, &width);
            put_field(to, field, width, job, ext);
            p = end;
        } else {
            putc(*p, to);
        }
    }
    if (fclose(to) == 0) return name;
    free(name);
    return NULL;
}

const char *name_extension(const struct options *o, const struct job *job, char buf[32]) {
    return kind_output_extension(kind_extension(job->rel), o->format, buf);
}

bool name_next_data(const imgpipe_chain *chain, int *at, imgpipe_chain_value *value) {
    while (imgpipe_chain_value_at(chain, (*at)++, value))
        if (value->filter->kind == IMGPIPE_GATHER && strcmp(value->param->name, "data") == 0) return true;
    return false;
}

char *name_data(const struct options *o, const struct job *job, const char *name) {
    char buf[32];
    const char *ext = job->out ? name_extension(o, job, buf) : kind_extension(job->rel);
    return name_expand(name, job, ext ? ext : "");
}

bool name_may_wait(const struct options *o, const imgpipe_chain *chain, const struct job *job) {
    imgpipe_chain_value value;
    bool waits = false;
    for (int i = 0; !waits && imgpipe_chain_value_at(chain, i, &value); i++)
        waits = value.text[0] == '@' && path_may_wait(value.text + 1);
    for (int at = 0; !waits && name_next_data(chain, &at, &value);) {
        char *path = job ? name_data(o, job, value.text) : strdup(value.text);
        waits = path_may_wait(path);
        free(path);
    }
    return waits;
}

/* Takes out empty parts, as an empty {dir} leaves them: `/a//b` becomes `a/b`. */
static void squeeze(char *path) {
    char *to = path;
    for (const char *p = path; *p; p++)
        if (*p != '/' || (to > path && to[-1] != '/')) *to++ = *p;
    *to = 0;
}

bool name_output(const struct options *o, const char *outdir, struct job *job, char message[NAMES_MESSAGE]) {
    char buf[32];
    const imgpipe_codec_info *format = o->format ? kind_find(o->format) : NULL;
    char *below = name_expand(o->name ? o->name : "{relpath}", job, name_extension(o, job, buf));
    snprintf(message, NAMES_MESSAGE, "no memory for the names of outputs; free some, or use --shard");
    if (!below) return false;
    squeeze(below);
    size_t length = strlen(outdir);
    bool made = asprintf(&job->out, "%s%s%s", outdir, outdir[length - 1] == '/' ? "" : "/", below) >= 0;
    free(below);
    if (!made) job->out = NULL;
    if (!made || !kind_check_output(job->out, format, message, NAMES_MESSAGE)) return false;
    const imgpipe_codec_info *kind = format ? format : kind_of_extension(kind_extension(job->out));
    job->format = kind->name;
    return kind_check_depth(kind, o->depth, job->out, message, NAMES_MESSAGE);
}

const char *name_below(const char *outdir, const struct job *job) {
    size_t length = strlen(outdir);
    return job->out + length + (outdir[length - 1] != '/');
}

bool name_is_inside(const char *rel) {
    static const char own[] = ".imgpipe";
    if (*rel == 0) return false;
    for (const char *p = rel; *p;) {
        size_t length = strcspn(p, "/");
        if (length == 2 && memcmp(p, "..", 2) == 0) return false;
        p += length + (p[length] == '/');
        if (*p == 0 && p[-1] == '/') return false;
    }
    return strncmp(rel, own, strlen(own)) != 0 || rel[strlen(own)] != '/';
}

#include "kinds.h"
#include "cut.h"
#include "options.h"
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SAY(...) (snprintf(message, message_size, __VA_ARGS__), false)

const char *kind_extension(const char *path) {
    const char *name = path_base(path), *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot + 1 : NULL;
}

const imgpipe_codec_info *kind_of_extension(const char *ext) {
    const imgpipe_codec_info *codec;
    size_t length = ext ? strlen(ext) : 0;
    for (int i = 0; length && (codec = imgpipe_codec_at(i)); i++) {
        for (const char *p = codec->extensions; *p; p += strspn(p, " ")) {
            size_t size = strcspn(p, " ");
            if (size == length && strncasecmp(p, ext, size) == 0) return codec;
            p += size;
        }
    }
    return NULL;
}

const imgpipe_codec_info *kind_find(const char *name) {
    const imgpipe_codec_info *codec;
    for (int i = 0; (codec = imgpipe_codec_at(i)); i++)
        if (strcasecmp(codec->name, name) == 0) return codec;
    return kind_of_extension(name);
}

const char *kinds_written(char buf[400]) {
    const imgpipe_codec_info *codec;
    buf[0] = 0;
    for (int i = 0; (codec = imgpipe_codec_at(i)); i++)
        if (codec->writes) snprintf(buf + strlen(buf), 400 - strlen(buf), "%s%s", buf[0] ? ", " : "", codec->name);
    return buf;
}

bool kind_check_format(const char *format, char *message, size_t message_size) {
    char kinds[400];
    const char *names[64];
    int count = 0;
    const imgpipe_codec_info *codec = kind_find(format);
    if (codec && codec->writes) return true;
    if (codec && codec->package)
        return SAY("--format: this build does not write %s; install the package %s and build again, or choose one of %s",
                   codec->name, codec->package, kinds_written(kinds));
    if (codec) return SAY("--format: %s is read, but not written; write one of %s", codec->name, kinds_written(kinds));
    for (int i = 0; count < 63 && (codec = imgpipe_codec_at(i)); i++)
        if (codec->writes) names[count++] = codec->name;
    names[count] = NULL;
    const char *near = options_nearest(format, names);
    if (near) return SAY("--format: '%s' is no kind; did you mean %s? The kinds are %s", CUT(format, 60), near, kinds_written(kinds));
    return SAY("--format: '%s' is no kind; write one of %s", CUT(format, 60), kinds_written(kinds));
}

const char *kind_output_extension(const char *ext, const char *format, char buf[32]) {
    const imgpipe_codec_info *codec = kind_of_extension(ext), *kind = format ? kind_find(format) : NULL;
    if (!kind) return codec && codec->writes ? ext : "png";
    if (codec == kind) return ext; /* an extension that already means this kind stays as it is (.jpeg) */
    if (strcasecmp(format, kind->name) != 0) return format;
    snprintf(buf, 32, "%.*s", (int)strcspn(kind->extensions, " "), kind->extensions);
    return buf;
}

bool kind_check_output(const char *out, const imgpipe_codec_info *kind, char *message, size_t message_size) {
    char kinds[400];
    const char *ext = kind_extension(out);
    const imgpipe_codec_info *codec = kind_of_extension(ext);
    if (kind && codec && codec != kind)
        return SAY("--format %s contradicts the extension of '%s'; leave one out", kind->name, CUT(out, 200));
    if (kind) return true;
    if (codec && codec->package)
        return SAY("'%s': this build does not write %s; install the package %s and build again, or choose one of %s", CUT(out, 200),
                   codec->name, codec->package, kinds_written(kinds));
    if (codec && !codec->writes)
        return SAY("'%s': %s is read, but not written; the kinds that are written are %s", CUT(out, 200), codec->name,
                   kinds_written(kinds));
    if (codec) return true;
    if (ext)
        return SAY("'%s': .%s is no kind of image that can be written; write one of %s, or add --format", CUT(out, 200), CUT(ext, 20),
                   kinds_written(kinds));
    return SAY("'%s' has no extension that says which kind of file to write; add one, or --format, with one of %s", CUT(out, 200),
               kinds_written(kinds));
}

bool kind_check_depth(const imgpipe_codec_info *kind, int depth, const char *out, char *message, size_t message_size) {
    const char *type = depth == 8 ? "u8" : depth == 16 ? "u16" : "f32", *shown = depth == 8 ? "8" : depth == 16 ? "16" : "f32";
    if (!depth || !kind || !kind->types || strstr(kind->types, type)) return true;
    return SAY("--depth %s: %s cannot hold samples of depth %s, and '%s' would be one; choose another --depth or kind of output",
               shown, kind->name, shown, CUT(out, 200));
}

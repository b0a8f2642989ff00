#include "settings.h"
#include "fnv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether the rank on this machine says which GPU it is. */
static bool is_gpu_open(const struct options *o, int64_t local) {
    return local >= 0 && (!o->device || strcmp(o->device, "auto") == 0 || strcmp(o->device, "cuda") == 0);
}

void settings_choose_gpu(const struct options *o, int64_t local, int gpus, char device[24]) {
    bool automatic = !o->device || strcmp(o->device, "auto") == 0;
    device[0] = 0;
    if (is_gpu_open(o, local) && gpus > 0) snprintf(device, 24, "%s:%d", automatic ? "auto" : "cuda", (int)(local % gpus));
}

imgpipe_context_options settings_context(const struct options *o, int64_t local, char device[24]) {
    imgpipe_context_options c = imgpipe_context_options_default();
    settings_choose_gpu(o, local, is_gpu_open(o, local) ? imgpipe_devices(NULL, 0, NULL, 0) - 1 : 0, device);
    if (o->device) c.device = o->device;
    if (device[0]) c.device = device;
    c.threads = (int)o->threads;
    c.memory = o->memory;
    c.gpu_memory = o->gpu_memory;
    c.isa = o->isa;
    return c;
}

bool settings_is_gpu(const char *device) {
    return device && strncmp(device, "cuda", 4) == 0;
}

/* Measured with JPEG of 256 x 256 on 16 cores and an H200: 6400 images a second with 16 at once, 5500 with 24. */
#define SMALL_FILE 65536

int settings_lanes(const struct options *o, uint64_t bytes) {
    int threads = o->threads ? (int)o->threads : imgpipe_default_threads();
    bool waits = settings_is_gpu(o->device) && bytes > SMALL_FILE;
    return waits ? threads + threads / 2 : threads;
}

imgpipe_run_options settings_run(const struct options *o) {
    imgpipe_run_options r = imgpipe_run_options_default();
    r.depth = o->depth;
    r.level = (int)o->level;
    r.quality = (int)o->quality;
    r.max_pixels = (uint64_t)o->max_pixels;
    r.strip_rows = o->strip_rows;
    r.page = (int)o->page;
    r.alpha = o->alpha;
    r.subsampling = o->subsampling;
    r.strip = o->strip;
    r.auto_orient = o->auto_orient;
    r.allow_truncated = o->allow_truncated;
    memcpy(r.background, o->background, sizeof r.background);
    return r;
}

/* What the library takes for a level and a quality that are not given (see imgpipe_run_options). */
enum { DEFAULT_LEVEL = 4, DEFAULT_QUALITY = 90 };

/* What a file holds. A pipe can be read once, by the run. */
static void put_content(FILE *to, const char *name) {
    struct stat st;
    FILE *file = stat(name, &st) == 0 && S_ISREG(st.st_mode) ? fopen(name, "rbe") : NULL;
    uint64_t hash = FNV1A_START, size = 0;
    for (int c; file && (c = getc(file)) != EOF && size < 16 << 20; size++) hash = fnv1a(hash, (unsigned char)c);
    if (file) fclose(file);
    fprintf(to, " %llu %016llx", (unsigned long long)size, (unsigned long long)hash);
}

/* The files that the chain names (masks). */
static bool put_files(FILE *to, const imgpipe_chain *chain) {
    imgpipe_chain_value value;
    bool any = false;
    for (int i = 0; imgpipe_chain_value_at(chain, i, &value); i++) {
        if (value.text[0] != '@') continue;
        fprintf(to, " file '%s'", value.text + 1);
        put_content(to, value.text + 1);
        any = true;
    }
    return any;
}

/* What the chain depends on beside its text: files, and plug-ins, whose authors may forget to count their versions up. */
static void put_chain(FILE *to, const imgpipe_chain *chain) {
    imgpipe_origin origin;
    put_files(to, chain);
    for (int i = 0; imgpipe_chain_filter_at(chain, i); i++) {
        if (!imgpipe_chain_origin_at(chain, i, &origin)) continue;
        fprintf(to, " plugin '%s' '%s'", origin.plugin, origin.version);
        put_content(to, origin.file);
    }
}

char *settings_files(const imgpipe_chain *chain) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    bool any = to && put_files(to, chain);
    if (to && fclose(to) == 0 && any) return text;
    free(text);
    return NULL;
}

char *settings_text(const struct options *o, const imgpipe_chain *chain) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    fprintf(to, "version " IMGPIPE_VERSION " chain '%s' depth %d level %d quality %d subsampling %d strip %d alpha %d",
            imgpipe_chain_text(chain), o->depth, o->level < 0 ? DEFAULT_LEVEL : (int)o->level,
            o->quality ? (int)o->quality : DEFAULT_QUALITY, o->subsampling, o->strip, o->alpha);
    fprintf(to, " page %lld auto-orient %d allow-truncated %d background %.17g %.17g %.17g", (long long)o->page, o->auto_orient,
            o->allow_truncated, o->background[0], o->background[1], o->background[2]);
    put_chain(to, chain);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

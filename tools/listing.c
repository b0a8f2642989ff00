#include "listing.h"
#include "cut.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 100

/* ------------------------------------------------------------------------------------------------ text */

/* Prints `text`, whose first line begins in column `at`, broken at spaces so that it keeps to the right of column `indent`.
 * A newline in the text is kept. */
static void print_wrapped(const char *text, int at, int indent) {
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (at > indent && at + 1 + (int)length > COLUMNS) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, length, stdout);
        at += (int)length;
        text += length;
        for (; *text == ' ' || *text == '\n'; text++) {
            if (*text != '\n') continue;
            printf("\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            at = indent;
        }
    }
    putchar('\n');
}

/* "  left            right", the right side wrapped; a left side that is too long gets a line of its own. */
static void print_row(const char *left, int width, const char *right) {
    printf("  %-*s", width, left);
    if ((int)strlen(left) >= width) printf("\n  %*s", width, "");
    print_wrapped(right, width + 2, width + 2);
}

/* --------------------------------------------------------------------------------------------- filters */

static const char *type_name(imgpipe_param_type type) {
    static const char *const names[] = {"int", "odd", "number", "sample", "bool", "choice", "text"};
    return names[type];
}

static const char *kind_name(imgpipe_kind kind) {
    static const char *const names[] = {"point", "local", "gather", "whole"};
    return names[kind];
}

/* Bounds beyond any sense stand for none. */
static bool is_bound(double value) {
    return fabs(value) < 1e30 && fabs(value) < 9e18;
}

static bool has_range(const imgpipe_param *param) {
    return param->type <= IMGPIPE_PARAM_SAMPLE;
}

/* "an odd number from 1 to 255; default 3" */
static void describe_param(const imgpipe_param *param, char *buf, size_t size) {
    static const char *const nouns[] = {"a whole number", "an odd number", "a number", "a number", "yes or no", "one of", "text"};
    snprintf(buf, size, "%s", nouns[param->type]);
#define ADD(...) snprintf(buf + strlen(buf), size - strlen(buf), __VA_ARGS__)
    if (has_range(param)) {
        if (is_bound(param->min)) ADD(is_bound(param->max) ? " from %.10g" : ", at least %.10g", param->min);
        if (is_bound(param->max)) ADD(is_bound(param->min) ? " to %.10g" : ", at most %.10g", param->max);
    }
    if (param->type == IMGPIPE_PARAM_SAMPLE) ADD(" in sample units, or per cent like 50%%");
    for (int i = 0; param->type == IMGPIPE_PARAM_CHOICE && param->choices[i]; i++) ADD("%s %s", i ? "," : "", param->choices[i]);
    if (param->initial) ADD("; default %s", param->initial);
#undef ADD
}

static void print_filter(const struct plugins *plugins, const imgpipe_filter *filter) {
    imgpipe_origin origin;
    printf("%s", filter->name);
    for (int i = 0; i < filter->param_count; i++) printf("%s%s", i ? ":" : "[=", filter->params[i].name);
    printf("%s\n\n", filter->param_count ? "]" : "");
    print_wrapped(filter->summary, 0, 0);
    if (filter->description) {
        putchar('\n');
        print_wrapped(filter->description, 0, 0);
    }
    if (imgpipe_registry_origin(plugins->registry, filter, &origin))
        printf("\nFrom the plug-in %s %s, %s\n", origin.plugin, origin.version, origin.file);
    if (filter->param_count) printf("\nParameters, in the order of values without a name:\n");
    for (int i = 0; i < filter->param_count; i++) {
        const imgpipe_param *param = &filter->params[i];
        char about[400];
        describe_param(param, about, sizeof about);
        print_row(param->name, 12, param->help);
        printf("  %12s(", "");
        print_wrapped(strcat(about, ")"), 15, 15);
    }
}

/* As a list, or null if there is none. */
static void json_choices(const char *const *choices) {
    printf(",\"choices\":%s", choices ? "[" : "null");
    for (int i = 0; choices && choices[i]; i++) {
        if (i) putchar(',');
        json_string(stdout, choices[i]);
    }
    if (choices) putchar(']');
}

static void json_param(const imgpipe_param *param) {
    char about[400];
    printf("{\"name\":");
    json_string(stdout, param->name);
    printf(",\"type\":\"%s\",\"default\":", type_name(param->type));
    json_string(stdout, param->initial);
    printf(",\"min\":");
    json_number(stdout, has_range(param) && is_bound(param->min) ? param->min : NAN);
    printf(",\"max\":");
    json_number(stdout, has_range(param) && is_bound(param->max) ? param->max : NAN);
    json_choices(param->type == IMGPIPE_PARAM_CHOICE ? param->choices : NULL);
    printf(",\"help\":");
    json_string(stdout, param->help);
    describe_param(param, about, sizeof about);
    printf(",\"values\":");
    json_string(stdout, about);
    putchar('}');
}

/* Where it comes from, or null if it is of the build. */
static void json_origin(const struct plugins *plugins, const imgpipe_filter *filter) {
    imgpipe_origin origin;
    if (!imgpipe_registry_origin(plugins->registry, filter, &origin)) {
        printf("null");
        return;
    }
    printf("{\"name\":");
    json_string(stdout, origin.plugin);
    printf(",\"version\":");
    json_string(stdout, origin.version);
    printf(",\"file\":");
    json_string(stdout, origin.file);
    putchar('}');
}

static void json_filter(const struct plugins *plugins, const imgpipe_filter *filter) {
    printf("{\"name\":");
    json_string(stdout, filter->name);
    printf(",\"summary\":");
    json_string(stdout, filter->summary);
    printf(",\"description\":");
    json_string(stdout, filter->description);
    printf(",\"kind\":\"%s\",\"parameters\":[", kind_name(filter->kind));
    for (int i = 0; i < filter->param_count; i++) {
        if (i) putchar(',');
        json_param(&filter->params[i]);
    }
    printf("],\"plugin\":");
    json_origin(plugins, filter);
    putchar('}');
}

static void list_filters(struct plugins *plugins, bool json) {
    const imgpipe_filter *filter;
    if (json) putchar('[');
    plugins_search(plugins);
    for (int i = 0; (filter = imgpipe_registry_at(plugins->registry, i)); i++) {
        if (json && i) printf(",\n ");
        if (json)
            json_filter(plugins, filter);
        else
            print_row(filter->name, 12, filter->summary);
    }
    if (json) printf("]\n");
}

/* ------------------------------------------------------------------------------------- formats, devices */

static void list_formats(bool json) {
    const imgpipe_codec_info *codec;
    if (json)
        putchar('[');
    else
        printf("  %-8s %-20s %-12s %-12s %s\n", "kind", "extensions", "", "types", "");
    for (int i = 0; (codec = imgpipe_codec_at(i)); i++) {
        if (!json) {
            char does[40];
            snprintf(does, sizeof does, "%s%s%s", codec->reads ? "read" : "", codec->reads && codec->writes ? ", " : "",
                     codec->writes ? "write" : "");
            printf("  %-8s %-20s %-12s %-12s %s\n", codec->name, codec->extensions, does, codec->types ? codec->types : "",
                   codec->about);
            continue;
        }
        if (i) printf(",\n ");
        printf("{\"name\":");
        json_string(stdout, codec->name);
        printf(",\"extensions\":");
        json_string(stdout, codec->extensions);
        printf(",\"about\":");
        json_string(stdout, codec->about);
        printf(",\"reads\":%s,\"writes\":%s,\"streams\":%s,\"types\":", codec->reads ? "true" : "false",
               codec->writes ? "true" : "false", codec->streams ? "true" : "false");
        json_string(stdout, codec->types);
        printf(",\"package\":");
        json_string(stdout, codec->package);
        putchar('}');
    }
    if (json) printf("]\n");
}

enum part { READ_AND_WRITTEN, ONLY_READ, LEFT_OUT };

static bool codec_is(const imgpipe_codec_info *codec, enum part part) {
    return part == LEFT_OUT ? codec->package != NULL : codec->reads && codec->writes == (part == READ_AND_WRITTEN);
}

/* What this build makes of the kinds of files: three lines, of which the last is there only where a library was left out. */
static void version_formats(void) {
    static const char *const heads[] = {"reads and writes ", "reads ", "built without "};
    for (enum part part = READ_AND_WRITTEN; part <= LEFT_OUT; part++) {
        const imgpipe_codec_info *codec;
        int count = 0;
        for (int i = 0; (codec = imgpipe_codec_at(i)); i++) {
            if (!codec_is(codec, part)) continue;
            printf("%s%s", count++ ? ", " : heads[part], codec->name);
            if (part == LEFT_OUT) printf(" (the package %s)", codec->package);
        }
        if (count) putchar('\n');
    }
}

static void print_version(bool json) {
    if (!json) {
        printf("imgpipe %s\n", IMGPIPE_VERSION);
        version_formats();
        return;
    }
    printf("{\"name\":\"imgpipe\",\"version\":\"%s\",\"abi\":%d,\"formats\":", IMGPIPE_VERSION, IMGPIPE_ABI);
    list_formats(true);
    printf("}\n");
}

static void list_devices(bool json, char note[OPTIONS_MESSAGE]) {
    imgpipe_device_info devices[64] = {0};
    char why[OPTIONS_MESSAGE - 40] = "";
    int count = imgpipe_devices(devices, 64, why, sizeof why);
    if (json) printf("{\"devices\":[");
    for (int i = 0; i < count && i < 64; i++) {
        if (!json) {
            print_row(devices[i].name, 12, devices[i].about);
            continue;
        }
        printf("%s{\"name\":", i ? "," : "");
        json_string(stdout, devices[i].name);
        printf(",\"about\":");
        json_string(stdout, devices[i].about);
        putchar('}');
    }
    if (json) {
        printf("],\"why_no_gpu\":");
        json_string(stdout, why[0] ? why : NULL);
        printf("}\n");
    } else if (why[0]) {
        snprintf(note, OPTIONS_MESSAGE, "no GPU: %s", why);
    }
}

/* ------------------------------------------------------------------------------------------------ help */

static const struct {
    const char *number, *meaning;
} statuses[] = {
    {"0", "done, or nothing to do"},
    {"1", "the image failed, is missing or was kept, or memory is too small"},
    {"2", "the command line or the chain is wrong"},
    {"3", "the device is absent, lost or out of memory"},
    {"4", "the output cannot be written"},
    {"129, 130, 143", "interrupted by SIGHUP, SIGINT or SIGTERM"},
};
#define STATUS_COUNT (sizeof statuses / sizeof statuses[0])

static void print_option(const struct option_help *help) {
    char left[64];
    snprintf(left, sizeof left, "%s%s--%s%s%s", help->letter ? help->letter : "  ", help->letter ? ", " : "  ", help->name,
             help->value ? " " : "", help->value ? help->value : "");
    print_row(left, 28, help->help);
}

static void print_help(struct plugins *plugins) {
    struct option_help help;
    printf("Usage: imgpipe [OPTIONS] IN -f CHAIN OUT\n"
           "       imgpipe [OPTIONS] IN... -f CHAIN OUT/       (files, patterns and folders into a folder)\n"
           "       imgpipe --list | --help [FILTER] | --list-devices | --list-formats | --version\n\n"
           "Runs a chain of filters on an image: imgpipe in.png -f gray,blur=2,hist out.png\n"
           "A chain is FILTER[=VALUE[:VALUE...]] with commas between filters; a value may be named (blur=sigma=2),\n"
           "and is quoted by '...' where it holds a comma or a colon. '-' is standard input or output.\n");
    for (int i = 0; options_help(i, &help); i++) {
        if (help.heading) printf("\n%s:\n", help.heading);
        print_option(&help);
    }
    printf("\nFilters (--help FILTER says all about one):\n");
    list_filters(plugins, false);
    printf("\nPlug-ins are found in IMGPIPE_PLUGINS (files and folders, separated by colons), and in\n%s\n", plugins_folder);
    printf("\nExit status:\n");
    for (size_t i = 0; i < STATUS_COUNT; i++) print_row(statuses[i].number, 12, statuses[i].meaning);
}

static void json_help(struct plugins *plugins) {
    struct option_help help;
    const char *group = NULL;
    printf("{\"version\":\"%s\",\"options\":[", IMGPIPE_VERSION);
    for (int i = 0; options_help(i, &help); i++) {
        if (help.heading) group = help.heading;
        printf("%s{\"group\":", i ? ",\n " : "");
        json_string(stdout, group);
        printf(",\"name\":");
        json_string(stdout, help.name);
        printf(",\"letter\":");
        json_string(stdout, help.letter);
        printf(",\"value\":");
        json_string(stdout, help.value);
        json_choices(help.choices);
        printf(",\"help\":");
        json_string(stdout, help.help);
        putchar('}');
    }
    printf("],\n\"statuses\":[");
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        printf("%s{\"number\":", i ? "," : "");
        json_string(stdout, statuses[i].number);
        printf(",\"meaning\":");
        json_string(stdout, statuses[i].meaning);
        putchar('}');
    }
    printf("],\n\"plugins_folder\":");
    json_string(stdout, plugins_folder);
    printf(",\n\"filters\":");
    list_filters(plugins, true);
    printf("}\n");
}

static bool help_option(const char *name) {
    struct option_help help;
    for (int i = 0; options_help(i, &help); i++) {
        if (strcmp(help.name, name + strspn(name, "-")) != 0) continue;
        print_option(&help);
        return true;
    }
    return false;
}

static int help_filter(const struct options *options, struct plugins *plugins, char message[OPTIONS_MESSAGE]) {
    const imgpipe_filter *filter = plugins_find(plugins, options->help_filter);
    if (!filter && !options->json && help_option(options->help_filter)) return 0;
    if (!filter) {
        const char *names[64];
        int count = 0;
        const imgpipe_filter *each;
        while (count < 63 && (each = imgpipe_registry_at(plugins->registry, count))) names[count++] = each->name;
        names[count] = NULL;
        const char *near = options_nearest(options->help_filter, names);
        if (near)
            snprintf(message, OPTIONS_MESSAGE, "--help: '%s' is no filter; did you mean %s?", CUT(options->help_filter, 60), near);
        else
            snprintf(message, OPTIONS_MESSAGE, "--help: '%s' is no filter; imgpipe --list shows them", CUT(options->help_filter, 60));
        return 2;
    }
    if (options->json) {
        json_filter(plugins, filter);
        putchar('\n');
    } else {
        print_filter(plugins, filter);
    }
    return 0;
}

int listing_print(const struct options *options, struct plugins *plugins, char message[OPTIONS_MESSAGE], char note[OPTIONS_MESSAGE]) {
    note[0] = 0;
    switch (options->action) {
    case ACTION_LIST: list_filters(plugins, options->json); break;
    case ACTION_FORMATS: list_formats(options->json); break;
    case ACTION_DEVICES: list_devices(options->json, note); break;
    case ACTION_VERSION: print_version(options->json); break;
    case ACTION_HELP:
        if (options->help_filter) return help_filter(options, plugins, message);
        if (options->json)
            json_help(plugins);
        else
            print_help(plugins);
        break;
    case ACTION_RUN: break;
    }
    return 0;
}

#include "json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects and arrays in each other. */
#define DEEPEST 64

struct reader {
    struct json *json;
    const char *p, *end;
    char *message;
    size_t message_size;
    bool failed;
};

static void fail(struct reader *r, const char *what) {
    if (!r->failed) snprintf(r->message, r->message_size, "%s at byte %llu", what, (unsigned long long)(r->p - r->json->text));
    r->failed = true;
}

static void skip_space(struct reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')) r->p++;
}

/* Returns the node's index, for the array of nodes may move. */
static uint32_t add_node(struct reader *r, enum json_type type) {
    struct json *json = r->json;
    if (json->count == json->capacity) {
        uint32_t capacity = json->capacity ? 2 * json->capacity : 32;
        struct json_node *nodes = capacity > json->capacity ? realloc(json->nodes, sizeof *nodes * capacity) : NULL;
        if (!nodes) {
            fail(r, "no memory for what stands");
            return 0;
        }
        json->nodes = nodes;
        json->capacity = capacity;
    }
    json->nodes[json->count] = (struct json_node){.type = type, .next = json->count + 1, .at = (uint32_t)(r->p - json->text)};
    return json->count++;
}

static void end_node(struct reader *r, uint32_t index) {
    if (r->failed) return;
    struct json_node *node = &r->json->nodes[index];
    node->length = (uint32_t)(r->p - r->json->text) - node->at;
    node->next = r->json->count;
}

/* ------------------------------------------------------------------------------------------------ scalars */

static void read_word(struct reader *r, const char *word, enum json_type type) {
    size_t length = strlen(word);
    uint32_t node = add_node(r, type);
    if ((size_t)(r->end - r->p) < length || memcmp(r->p, word, length) != 0) {
        fail(r, "something that is no value of JSON stands");
        return;
    }
    r->p += length;
    end_node(r, node);
}

static int digits(struct reader *r) {
    int count = 0;
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) count++;
    return count;
}

static void read_number(struct reader *r) {
    uint32_t node = add_node(r, JSON_NUMBER);
    if (r->p < r->end && *r->p == '-') r->p++;
    bool zero = r->p < r->end && *r->p == '0';
    int count = digits(r);
    bool right = count == 1 || (count > 1 && !zero);
    if (right && r->p < r->end && *r->p == '.') r->p++, right = digits(r) > 0;
    if (right && r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-')) r->p++;
        right = digits(r) > 0;
    }
    if (!right) fail(r, "a number that is none ends");
    end_node(r, node);
}

static int hex4(const char *p, const char *end) {
    int value = 0;
    for (int i = 0; i < 4; i++, p++) {
        const char *found = p < end && *p ? strchr("0123456789abcdef", *p >= 'A' && *p <= 'F' ? *p + 32 : *p) : NULL;
        if (!found) return -1;
        value = value * 16 + (int)(found - "0123456789abcdef");
    }
    return value;
}

static void read_string(struct reader *r) {
    uint32_t node = add_node(r, JSON_STRING);
    for (r->p++; r->p < r->end && *r->p != '"' && !r->failed; r->p++) {
        if ((unsigned char)*r->p < 0x20) {
            fail(r, "a control character stands in a string");
        } else if (*r->p == '\\') {
            r->p++;
            bool known = r->p < r->end && *r->p && strchr("\"\\/bfnrtu", *r->p);
            if (!known || (*r->p == 'u' && hex4(r->p + 1, r->end) < 0)) fail(r, "an escape that is none stands");
        }
    }
    if (r->p >= r->end)
        fail(r, "a string has no end");
    else
        r->p++;
    end_node(r, node);
}

/* -------------------------------------------------------------------------------------------------- values */

static void read_value(struct reader *r, int depth);

static void read_many(struct reader *r, int depth, enum json_type type, char close) {
    uint32_t node = add_node(r, type);
    r->p++;
    skip_space(r);
    if (r->p < r->end && *r->p == close) {
        r->p++;
        end_node(r, node);
        return;
    }
    while (!r->failed) {
        skip_space(r);
        if (type == JSON_OBJECT) {
            if (r->p >= r->end || *r->p != '"') fail(r, "the name of a member is missing");
            if (!r->failed) read_string(r);
            skip_space(r);
            if (r->p >= r->end || *r->p != ':') fail(r, "a colon is missing");
            if (!r->failed) r->p++;
        }
        if (!r->failed) read_value(r, depth + 1);
        skip_space(r);
        if (!r->failed && r->p < r->end && *r->p == ',') {
            r->p++;
            continue;
        }
        if (r->p >= r->end || *r->p != close) fail(r, type == JSON_OBJECT ? "a comma or } is missing" : "a comma or ] is missing");
        if (!r->failed) r->p++;
        break;
    }
    end_node(r, node);
}

static void read_value(struct reader *r, int depth) {
    skip_space(r);
    char c = r->p < r->end ? *r->p : 0;
    if (depth > DEEPEST)
        fail(r, "values lie too deep in each other");
    else if (r->p >= r->end)
        fail(r, "a value is missing");
    else if (c == '{')
        read_many(r, depth, JSON_OBJECT, '}');
    else if (c == '[')
        read_many(r, depth, JSON_ARRAY, ']');
    else if (c == '"')
        read_string(r);
    else if (c == '-' || (c >= '0' && c <= '9'))
        read_number(r);
    else if (c == 't')
        read_word(r, "true", JSON_TRUE);
    else if (c == 'f')
        read_word(r, "false", JSON_FALSE);
    else
        read_word(r, "null", JSON_NULL);
}

bool json_parse(const char *text, size_t length, struct json *json, char *message, size_t message_size) {
    *json = (struct json){.text = text};
    struct reader r = {json, text, text + length, message, message_size, false};
    if (length >= UINT32_MAX)
        fail(&r, "there is too much: more than 4 GiB, counted");
    else
        read_value(&r, 0);
    skip_space(&r);
    if (!r.failed && r.p < r.end) fail(&r, "something stands behind the end,");
    if (r.failed) json_free(json);
    return !r.failed;
}

void json_free(struct json *json) {
    free(json->nodes);
    *json = (struct json){0};
}

/* ------------------------------------------------------------------------------------------------- finding */

const struct json_node *json_value(const struct json *json, const struct json_node *name) {
    return &json->nodes[name->next];
}

const struct json_node *json_next(const struct json *json, const struct json_node *parent, const struct json_node *last) {
    uint32_t first = (uint32_t)(parent - json->nodes) + 1, at = first;
    if (last) at = parent->type == JSON_OBJECT ? json_value(json, last)->next : last->next;
    return at < parent->next ? &json->nodes[at] : NULL;
}

/* Four hexadecimal digits, with a second escape if they are half of a pair; *p stands on the u, and is left on the last digit. */
static long read_escape(const char **p, const char *end) {
    long code = hex4(*p + 1, end);
    *p += 4;
    if (code < 0xd800 || code > 0xdfff) return code;
    long second = code < 0xdc00 && end - *p > 6 && (*p)[1] == '\\' && (*p)[2] == 'u' ? hex4(*p + 3, end) : -1;
    if (second < 0xdc00 || second > 0xdfff) return 0xfffd;
    *p += 6;
    return 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
}

static char *put_utf8(char *to, long code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int head[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(head[more] | (code >> (6 * more)));
    while (more-- > 0) *to++ = (char)(0x80 | ((code >> (6 * more)) & 0x3f));
    return to;
}

char *json_text(const struct json *json, const struct json_node *node) {
    const char *p = json->text + node->at, *end = p + node->length;
    if (node->type != JSON_STRING) return strndup(p, node->length);
    char *text = malloc(node->length), *to = text;
    if (!text) return NULL;
    for (p++, end--; p < end; p++) {
        static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        const char *letter = *++p == 'u' ? NULL : strchr(letters, *p);
        long code = *p == 'u' ? read_escape(&p, end) : letter ? meant[letter - letters] : *p;
        if (code == 0) {
            free(text);
            return NULL;
        }
        to = put_utf8(to, code);
    }
    *to = 0;
    return text;
}

const struct json_node *json_member(const struct json *json, const struct json_node *object, const char *name) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    for (const struct json_node *at = json_next(json, object, NULL); at; at = json_next(json, object, at)) {
        char *text = json_text(json, at);
        bool same = text && strcmp(text, name) == 0;
        free(text);
        if (same) return json_value(json, at);
    }
    return NULL;
}

bool json_count(const struct json *json, const struct json_node *node, uint64_t *count) {
    if (!node || node->type != JSON_NUMBER) return false;
    *count = 0;
    for (uint32_t i = 0; i < node->length; i++) {
        char c = json->text[node->at + i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(*count, (uint64_t)10, count) ||
            __builtin_add_overflow(*count, (uint64_t)(c - '0'), count))
            return false;
    }
    return true;
}

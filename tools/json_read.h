/* Reading JSON: a text is checked as a whole and becomes an array of small nodes that point into it. */
#ifndef JSON_READ_H
#define JSON_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* Node 0 is the whole. Members and elements follow their object or array; `next` is the index behind a node and all in it. A member
 * is two nodes: its name, a string, and its value. */
struct json_node {
    enum json_type type;
    uint32_t next;
    uint32_t at, length; /* in the text; a string with its quotes */
};

struct json {
    const char *text; /* the caller's; must stay */
    struct json_node *nodes;
    uint32_t count, capacity;
};

/* False with what is wrong, and where, in `message`. The text may have up to 4 GiB and need not end with a zero byte. */
bool json_parse(const char *text, size_t length, struct json *json, char *message, size_t message_size);
void json_free(struct json *json);

/* The value of a member of an object, or NULL. */
const struct json_node *json_member(const struct json *json, const struct json_node *object, const char *name);
/* Goes through an array or an object: the first element or name with `last` NULL, then the one behind it (behind the value of a name);
 * NULL at the end. */
const struct json_node *json_next(const struct json *json, const struct json_node *parent, const struct json_node *last);
/* The value that belongs to a name. */
const struct json_node *json_value(const struct json *json, const struct json_node *name);
/* A string without its quotes, or any other value as it stands; to be freed. NULL without memory, or if a string holds U+0000. */
char *json_text(const struct json *json, const struct json_node *node);
/* A whole number below 2^64. */
bool json_count(const struct json *json, const struct json_node *node, uint64_t *count);
#endif

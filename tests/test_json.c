/* Reading JSON (tools/json_read.c): what is right and what is not, by the grammar of RFC 8259, and damaged texts. */
#include "checks.h"
#include "json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parses(const char *text, size_t length) {
    struct json json;
    char message[200] = "";
    /* A copy of just this size, so that the sanitizers see a byte too many. */
    char *copy = malloc(length + (length == 0));
    memcpy(copy, text, length);
    bool right = json_parse(copy, length, &json, message, sizeof message);
    CHECK(right == (message[0] == 0));
    for (uint32_t i = 0; right && i < json.count; i++) { /* every node can be read, whatever it is */
        uint64_t count;
        free(json_text(&json, &json.nodes[i]));
        json_count(&json, &json.nodes[i], &count);
        json_member(&json, &json.nodes[i], "a");
    }
    if (right) json_free(&json);
    free(copy);
    return right;
}

static const char *const good[] = {
    "null",
    " true\n",
    "false",
    "0",
    "-0",
    "1.5e-3",
    "1E+9",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "[]",
    "[ ]",
    "[1,2,[3,{\"a\":[]}]]",
    "{}",
    "{\"a\":1,\"b\":{\"c\":null}}",
    "\"\xc3\xa9\"",
    "{ \"a\" : [ 1 , 2 ] }",
};
static const char *const bad[] = {
    "",           " ",         "nul",         "nulll",     "True",   "00",         "01",       "-",
    "+1",         ".5",        "1.",          "1e",        "1e+",    "0x1",        "\"",       "\"\\\"",
    "\"\\x\"",    "\"\\u12\"", "\"\\u12g4\"", "\"\n\"",    "[",      "[1",         "[1,",      "[1,]",
    "[,1]",       "[1 2]",     "]",           "{",         "{\"a\"", "{\"a\":",    "{\"a\":1", "{\"a\":1,",
    "{\"a\":1,}", "{a:1}",     "{'a':1}",     "{\"a\" 1}", "{1:2}",  "{\"a\":1}}", "1 2",      "\xef\xbb\xbf{}",
    "NaN",        "Infinity",  "[1}",         "{\"a\":1]", "/* */1",
};

static void test_grammar(void) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) check(parses(good[i], strlen(good[i])), good[i], __LINE__);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) check(!parses(bad[i], strlen(bad[i])), bad[i], __LINE__);
    CHECK(!parses("nu\0l", 4) && !parses("[1\0]", 4) && !parses("\"a\0b\"", 5));
    char deep[400];
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    CHECK(!parses(deep, 400) && parses(deep + 150, 100));
}

static void test_values(void) {
    static const char text[] =
        "{\"a\":[1,18446744073709551615,18446744073709551616,-1,1.0],\"\\u0062\":\"x\\ud83d\\ude00\\n\",\"z\":\"\\u0000\"}";
    struct json json;
    char message[200];
    uint64_t count = 0;
    CHECK(json_parse(text, strlen(text), &json, message, sizeof message));
    const struct json_node *a = json_member(&json, json.nodes, "a"), *at = NULL;
    CHECK(a && a->type == JSON_ARRAY && !json_member(&json, json.nodes, "c") && !json_member(&json, a, "a"));
    CHECK((at = json_next(&json, a, at)) && json_count(&json, at, &count) && count == 1);
    CHECK((at = json_next(&json, a, at)) && json_count(&json, at, &count) && count == UINT64_MAX);
    for (int i = 0; i < 3; i++) CHECK((at = json_next(&json, a, at)) && !json_count(&json, at, &count));
    CHECK(!json_next(&json, a, at));
    char *b = json_text(&json, json_member(&json, json.nodes, "b"));
    CHECK(b && strcmp(b, "x\xf0\x9f\x98\x80\n") == 0);
    CHECK(!json_text(&json, json_member(&json, json.nodes, "z")));
    free(b);
    json_free(&json);
}

/* Nothing to judge but that it ends, within its bounds. */
static void test_damage(void) {
    static const char pieces[] = "{}[]\",:0123456789.eE+-\\untrfalse \n\x80\xff";
    uint32_t random = 12345;
    for (int round = 0; round < 200000; round++) {
        char text[80];
        size_t length = 0;
        random = random * 1664525 + 1013904223;
        const char *from = good[(random >> 8) % (sizeof good / sizeof good[0])];
        for (; from[length] && length < sizeof text; length++) text[length] = from[length];
        for (int i = 0; i < 2; i++) {
            random = random * 1664525 + 1013904223;
            if (length > 0) text[(random >> 4) % length] = pieces[(random >> 16) % (sizeof pieces - 1)];
        }
        parses(text, (random >> 3) % 4 ? length : length / 2);
    }
}

int main(void) {
    test_grammar();
    test_values();
    test_damage();
    printf("%d checks, %d failed\n", checks, failures);
    return failures || !checks;
}

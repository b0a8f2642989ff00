/* Checks that count, and say where one failed and what errno was. For tests of what works on files. */
#ifndef CHECKS_H
#define CHECKS_H
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int failures, checks;

#define CHECK(right) check((right), #right, __LINE__)
static bool check(bool right, const char *what, int line) {
    checks++;
    if (right) return true;
    failures++;
    printf("FAIL  line %d: %s (%s)\n", line, what, strerror(errno));
    return false;
}
#endif

/* Lines from standard input, each of bounded length, without waiting for more than there is. */
#ifndef LINE_READER_H
#define LINE_READER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_LONGEST (1 << 20)

/* Zero but for the first two. */
struct line_reader {
    bool (*await)(void *user); /* waits until something can be read; false: the end */
    void *user;
    int64_t number; /* of the line that was read last, from 1 */
    int fault;      /* errno, if reading failed */
    char *buffer;
    size_t begin, fill;
};

/* The next line that is not empty, without its end; to be freed. *line is NULL for one that is longer than LINE_LONGEST, and where
 * there is no memory. False at the end. */
bool line_read(struct line_reader *reader, char **line, size_t *length);
void line_reader_free(struct line_reader *reader);
#endif

/* The two functions of a caller whose image comes and goes row by row: source_rows() and sink_rows() call them. */
#ifndef ROW_ENDS_H
#define ROW_ENDS_H
#include "imgpipe.h"

#include <pthread.h>

struct row_ends {
    const imgpipe_row_stream *stream;
    pthread_mutex_t lock;
    imgpipe_status failed;  /* the first of them that failed ended the run, and neither is called again */
    imgpipe_error error;    /* why */
};
#endif

/* Writing small tables to device memory without a copy that the host has to wait for. */
#ifndef UPLOAD_H
#define UPLOAD_H
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
/* Enqueues kernels that write `size` bytes at `to`, which is aligned to 16 bytes and has room for whole 16 bytes. `from` may change
 * as soon as the call returns. Returns a cudaError_t. */
int upload_cuda(void *to, const void *from, size_t size, void *stream);
#endif

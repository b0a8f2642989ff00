/* FNV-1a of 64 bits: hash = FNV1A_START, then a byte at a time. http://www.isthe.com/chongo/tech/comp/fnv/ */
#ifndef FNV_H
#define FNV_H
#include <stdint.h>

#define FNV1A_START 0xcbf29ce484222325u

static inline uint64_t fnv1a(uint64_t hash, unsigned char byte) {
    return (hash ^ byte) * 0x100000001b3u;
}
#endif

/* What the files in kernels/ share. Compiles as C and under nvcc.
 *
 * Every kernels/NAME.c is compiled once for each instruction set, with KERNEL_ISA defined as its suffix; it exports one
 * const table of functions, `const struct NAME_kernels KERNEL_NAME(NAME_kernels) = {...}`, declared in kernels/NAME.h by
 * KERNEL_TABLE(NAME). The filter takes the right one by KERNEL_PICK(NAME, stage->isa). All of them give the same bytes:
 * the only difference is what the compiler may use.
 *
 * Arithmetic: integers, or float32 with fmaf() in a fixed order; contraction is off. No libm but fmaf, floor, fabs, sqrt. */
#ifndef KERNEL_H
#define KERNEL_H
#include "imgpipe.h"

/* Instruction sets, from the least on. */
enum kernel_isa { KERNEL_ISA_BASE = 0, KERNEL_ISA_AVX2 = 1, KERNEL_ISA_AVX512 = 2, KERNEL_ISA_COUNT = 3 };
/* "baseline", "avx2", "avx512" */
extern const char *const kernel_isa_names[KERNEL_ISA_COUNT];
/* The best that this build and this CPU have. */
int kernel_isa_best(void);

#define KERNEL_PASTE2(a, b) a##_##b
#define KERNEL_PASTE(a, b) KERNEL_PASTE2(a, b)
#ifdef KERNEL_ISA
#define KERNEL_NAME(name) KERNEL_PASTE(name, KERNEL_ISA)
#endif

#ifdef IMGPIPE_X86
#define KERNEL_TABLE(name) extern const struct name##_kernels name##_kernels_base, name##_kernels_avx2, name##_kernels_avx512
#define KERNEL_PICK(name, isa)                                                                                      \
    ((isa) >= KERNEL_ISA_AVX512 ? &name##_kernels_avx512 : (isa) == KERNEL_ISA_AVX2 ? &name##_kernels_avx2 : &name##_kernels_base)
#else
#define KERNEL_TABLE(name) extern const struct name##_kernels name##_kernels_base
#define KERNEL_PICK(name, isa) ((void)(isa), &name##_kernels_base)
#endif

#ifndef __CUDACC__
/* Has the L2 cache fetch what lies `at` ... at + bytes - 1 bytes behind the start of rows->ahead[i]: a part for every part of row i that
 * is made, so that memory works while the kernel computes. Some 16 lines a call; a core waits for 20 to 40 at a time, and what is
 * beyond that it stops at. */
static inline void kernel_ahead(const imgpipe_rows *rows, int i, int64_t at, int64_t bytes) {
    if (!rows->ahead) return;
    const char *from = (const char *)rows->ahead[i] + at;
    for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(from + k, 0, 2);
}
#endif
#endif

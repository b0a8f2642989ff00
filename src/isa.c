/* Which instruction sets this build and this CPU have. The levels are those of the x86-64 psABI, v3 and v4, because the
 * kernels are compiled with -march=x86-64-v3 and -v4: every feature that GCC may use there is asked for. */
#include "kernel.h"

const char *const kernel_isa_names[KERNEL_ISA_COUNT] = {"baseline", "avx2", "avx512"};

int kernel_isa_best(void) {
#if defined(IMGPIPE_X86) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("lzcnt") ||
        !__builtin_cpu_supports("movbe"))
        return KERNEL_ISA_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return KERNEL_ISA_AVX2;
    return KERNEL_ISA_AVX512;
#else
    return KERNEL_ISA_BASE;
#endif
}

const char *imgpipe_isa_name(int index) {
    return index >= 0 && index <= kernel_isa_best() ? kernel_isa_names[index] : NULL;
}

/* What the networks do to wires that are local variables v[] of type KEY, which the compiler turns into vectors of lanes. */
#ifndef MEDIAN_WIRES_H
#define MEDIAN_WIRES_H
#define MEDIAN_MM(a, b)                                                                                                          \
    {                                                                                                                            \
        const KEY low = v[a] < v[b] ? v[a] : v[b], high = v[a] < v[b] ? v[b] : v[a];                                             \
        v[a] = low;                                                                                                              \
        v[b] = high;                                                                                                             \
    }
#define MEDIAN_MIN(a, b) v[a] = v[a] < v[b] ? v[a] : v[b];
#define MEDIAN_MAX(a, b) v[b] = v[a] < v[b] ? v[b] : v[a];
#endif

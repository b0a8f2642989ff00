/* The 7 x 7 median: a file for each size, because compilers take their time. */
#define SIZE 7
#include "median_tree.cuh"

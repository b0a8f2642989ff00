/* The 11 x 11 median: a file for each size, because compilers take their time. */
#define SIZE 11
#include "median_tree.cuh"

/* The 15 x 15 median: a file for each size, because compilers take their time. */
#define SIZE 15
#include "median_tree.cuh"

/* The 13 x 13 median: a file for each size, because compilers take their time. */
#define SIZE 13
#include "median_tree.cuh"

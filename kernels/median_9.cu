/* The 9 x 9 median: a file for each size, because compilers take their time. */
#define SIZE 9
#include "median_tree.cuh"

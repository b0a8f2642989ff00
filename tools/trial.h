/* What is wrong with a chain whatever the image is. */
#ifndef TRIAL_H
#define TRIAL_H
#include "imgpipe.h"

/* Binds a chain to images of several formats and sizes that there are not. What all of them refuse with the same words does not
 * depend on the image, and would be said of every one: false then, with the error. */
bool trial_check(const imgpipe_chain *chain, imgpipe_error *error);
#endif

/*
 * request_entropy.h - request mixing: one word for each request, so that two copies of one state diverge at once.
 *
 * Clones of a virtual machine have the same memory, and nothing tells them that they are clones. They do not get the
 * same words from the hardware. The word earns no entropy credit, so it is neither tested nor conditioned. One word
 * must do, since reading it takes most of a request's time: two clones draw the same word with a probability of 2^-64,
 * and diverge for good once they draw different ones.
 */

#ifndef DRNG_REQUEST_ENTROPY_H
#define DRNG_REQUEST_ENTROPY_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/noise.h"

/*
 * Fills out with a word of the instruction. If the instruction is NULL or disabled, or returns no word, or_kernel
 * decides: true, the bytes come from the kernel, by a system call; false, there are none. False, and out all zero, if
 * no bytes could be had.
 */
bool drng_request_entropy(struct drng_instruction *instruction, bool or_kernel, uint8_t out[DRNG_REQUEST_ENTROPY_LEN]);

#endif

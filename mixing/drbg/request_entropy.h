/*
 * request_entropy.h - request mixing: a word drawn for one request, so that two copies of one state go apart at once.
 *
 * Clones of a virtual machine share every byte that this process holds, and nothing tells them so; what they do
 * not share is the hardware's next words. Uncredited, so untested and unconditioned. One word, since its time is most
 * of a request's: two clones draw the same with a chance of one in 2^64, and then never again.
 */

#ifndef DRNG_REQUEST_ENTROPY_H
#define DRNG_REQUEST_ENTROPY_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/noise.h"

/*
 * Fills out with a word of the instruction. NULL, disabled or dry: with kernel bytes if `or_kernel` is set, a
 * system call, and else not at all. False, and out all zero, where there is nothing fresh to be had.
 */
bool drng_request_entropy(struct drng_instruction *instruction, bool or_kernel, uint8_t out[DRNG_REQUEST_ENTROPY_LEN]);

#endif

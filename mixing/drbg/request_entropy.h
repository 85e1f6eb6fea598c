/*
 * request_entropy.h - request mixing: one word for each request, so that two copies of one state diverge at once.
 *
 * Clones of a virtual machine have the same memory, and often nothing tells them that they are clones (clone.h). They
 * do not get the same words from the hardware. The word earns no entropy credit, so it is neither tested nor
 * conditioned. One word must do, since reading it takes most of a request's time: two clones draw the same word with a
 * probability of 2^-64, and diverge for good once they draw different ones.
 *
 * If no instruction gives a word, it is made of the kernel's bytes and of the time. Clones get the same bytes until
 * their kernels have taken in new entropy; until then they differ only in when they run, to the nanosecond.
 */

#ifndef DRNG_REQUEST_ENTROPY_H
#define DRNG_REQUEST_ENTROPY_H

#include <stdbool.h>
#include <stdint.h>

#include "mixing/drbg/ctr_drbg.h"
#include "mixing/entropy/noise.h"

/* The instructions that may be asked, in this order, and NULL at the end. */
struct drng_request_words {
    struct drng_instruction *instructions[DRNG_INSTRUCTIONS + 1];
};

/* Whether an instruction is there to be asked, and not disabled. */
bool drng_request_words_usable(const struct drng_request_words *words);

/* Fills out with an instruction's word. False: none gave one; out is as it was. */
bool drng_request_entropy_by_hardware(const struct drng_request_words *words, uint8_t out[DRNG_REQUEST_ENTROPY_LEN]);

/* Fills out: always, if need be by a system call. */
void drng_request_entropy(const struct drng_request_words *words, uint8_t out[DRNG_REQUEST_ENTROPY_LEN]);

#endif

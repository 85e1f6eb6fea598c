/* SPDX-License-Identifier: Apache-2.0 */
/* aes_cases.h - test cases that apply to every implementation of AES. */

#ifndef DRNG_AES_CASES_H
#define DRNG_AES_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mixing/aes/aes.h"

/* Sets the implementation under test. */
void aes_cases_about(const struct drng_aes *aes);

/* Runs the cases with an implementation, as a suite of its name. main() returns the result. */
int aes_cases_run(const struct drng_aes *aes);

enum { AES_RUN_MAX = 8200 }; /* blocks of `out` */

/* One call of ctr. */
struct aes_ctr_run {
    uint8_t key[DRNG_AES_MAX_KEY];
    size_t key_len;
    uint8_t v[DRNG_AES_BLOCK];
    size_t out_blocks;
    size_t tail_blocks; /* at most 8 */
    size_t shift;       /* all pointers are this many bytes past a multiple of 64 */
};

/* Whether the call gives the same blocks as the reference, leaves the last counter in v, and writes nothing else. */
bool aes_ctr_is_right(const struct aes_ctr_run *run);

/* One call of request, which the implementation has, of at most short_len bytes. */
struct aes_request_run {
    uint8_t key[DRNG_AES_MAX_KEY];
    size_t key_len;
    uint8_t v[DRNG_AES_BLOCK];
    size_t out_len;
    bool with_fresh;
    size_t shift; /* of all pointers but key */
};
bool aes_request_is_right(const struct aes_request_run *run);

enum { AES_CBC_MAX = 64 }; /* blocks */

/* One call of cbc, on fixed pseudo-random data. */
struct aes_cbc_run {
    uint8_t key[DRNG_AES_MAX_KEY];
    size_t key_len;
    uint8_t iv[DRNG_AES_BLOCK];
    size_t blocks;
    bool without_in;
    bool without_out;
    size_t shift;
};
bool aes_cbc_is_right(const struct aes_cbc_run *run);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes.h - AES (FIPS 197) in the two modes that the DRBG and the conditioner need.
 *
 * Keys are 16, 24 or 32 bytes, and every call expands its key anew: a DRBG changes its key with every request, so a
 * schedule kept between calls would save no work, and be one more secret.
 */

#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mixing/machine/cpu.h"

enum {
    DRNG_AES_BLOCK = 16,
    DRNG_AES_MAX_KEY = 32,
    DRNG_AES_TAIL = 4,    /* blocks of the tail of ctr, at most */
    DRNG_AES_STACK = 320, /* bytes of stack below its caller's frame where ctr may leave secrets; the caller wipes */
};

/*
 * The keystream of CTR mode as CTR_DRBG counts: v is a 128-bit big-endian number, incremented before each block. The
 * first out_blocks blocks go to `out`, the next tail_blocks, at most DRNG_AES_TAIL, to `tail`; v ends as the last
 * counter used. Nothing beyond these blocks is written, so `out` may end with its last block.
 */
typedef void drng_aes_ctr(const uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out,
                          size_t out_blocks, uint8_t *tail, size_t tail_blocks);

/*
 * CBC encryption of `blocks` blocks. chain is the IV, and ends as the last block of ciphertext. in NULL: the plaintext
 * is zeros. out NULL: the ciphertext is discarded, which leaves CBC-MAC.
 */
typedef void drng_aes_cbc(const uint8_t *key, size_t key_len, uint8_t chain[DRNG_AES_BLOCK], uint8_t *out,
                          const uint8_t *in, size_t blocks);

/*
 * A whole request of CTR_DRBG, kept in registers: CTR_DRBG_Update with `fresh`, then out_len bytes of keystream, then
 * CTR_DRBG_Update again. fresh is the first 8 bytes of provided_data, of which the rest is zeros; or NULL: then nothing
 * comes before the output, and with an out_len of 0 it is CTR_DRBG_Update alone. key is aligned to 16 bytes, and has
 * room for DRNG_AES_MAX_KEY. Leaves no secret on the stack and in registers.
 */
typedef void drng_aes_request(uint8_t *key, size_t key_len, uint8_t v[DRNG_AES_BLOCK], uint8_t *out, size_t out_len,
                              const uint8_t *fresh);

/* One implementation. No function can fail. */
struct drng_aes {
    const char *name; /* "AES-NI" */
    bool fuses;       /* drng_fused_mac() may be used: it needs AES-NI, and so does this implementation */
    drng_aes_ctr *ctr;
    drng_aes_cbc *cbc;
    drng_aes_request *request; /* or NULL: the caller does the same with ctr */
    size_t short_len;          /* bytes: the longest output of request; 0 where that is NULL */
    bool wide;                 /* it has kernels for registers of more than a block, which the self-test tries, too */
};

/* V where it is no vector. */
struct drng_counter {
    uint64_t high;
    uint64_t low;
};

static inline struct drng_counter drng_counter_load(const uint8_t v[DRNG_AES_BLOCK])
{
    struct drng_counter counter;
    memcpy(&counter, v, sizeof(counter));
    return (struct drng_counter){be64toh(counter.high), be64toh(counter.low)};
}

static inline void drng_counter_store(uint8_t v[DRNG_AES_BLOCK], struct drng_counter counter)
{
    counter = (struct drng_counter){htobe64(counter.high), htobe64(counter.low)};
    memcpy(v, &counter, sizeof(counter));
}

/* The carry is computed by hand: GCC may make a branch of a comparison, and V is secret. */
static inline void drng_counter_add(struct drng_counter *counter, uint64_t blocks)
{
    const uint64_t low = counter->low + blocks;
    counter->high += (counter->low & ~low) >> 63;
    counter->low = low;
}

/* Where blocks of keystream go: `out` first, then `tail`. */
struct drng_sink {
    uint8_t *out;
    size_t out_blocks;
    uint8_t *tail;
    size_t tail_blocks;
};

/* The place of the next block; NULL: there is none left. */
static inline uint8_t *drng_sink_next(struct drng_sink *sink)
{
    if (sink->out_blocks == 0) {
        sink->out = sink->tail;
        sink->out_blocks = sink->tail_blocks;
        sink->tail_blocks = 0;
    }
    if (sink->out_blocks == 0) {
        return NULL;
    }
    sink->out_blocks--;
    sink->out += DRNG_AES_BLOCK;
    return sink->out - DRNG_AES_BLOCK;
}

/* Plain C, bitsliced: constant-time on every CPU. */
extern const struct drng_aes drng_aes_portable;

/* On x86-64 only. Each needs the instructions in its name; AES-NI has two encodings of short requests. */
extern const struct drng_aes drng_aes_ni;
extern const struct drng_aes drng_aes_avx;
extern const struct drng_aes drng_aes_vaes256;
extern const struct drng_aes drng_aes_vaes512;

/* On 64-bit ARM only. Needs AESE and AESMC. */
extern const struct drng_aes drng_aes_arm;

enum { DRNG_AES_KINDS = 5 };

/*
 * Fills `all` with every implementation that this CPU can run, the slowest first, and returns their number. Only this
 * function knows which CPU runs which; drng_self_test_choose() takes the last one that passes its tests.
 */
size_t drng_aes_all(const struct drng_cpu *cpu, const struct drng_aes *all[DRNG_AES_KINDS]);

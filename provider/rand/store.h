/*
 * store.h - output of a CTR-DRBG that waits to be handed out (`batch = yes`).
 *
 * One Generate request fills the store, and short requests are served with pieces of it, first byte first. In the terms
 * of SP 800-90A the store is the consuming application's: it lies outside the DRBG's boundary, and backtracking
 * resistance does not hold for what is in it. So it lies in slots, and a byte is never both in the store and in the
 * caller's memory.
 *
 * All functions are called between enter() and leave() of drbg.c, where a signal handler is served apart.
 */

#ifndef DRNG_STORE_H
#define DRNG_STORE_H

#include <stdatomic.h>

#include "mixing/memory/block.h"
#include "provider/rand/drbg_object.h"

enum { DRNG_STORE_LONGEST = 64 }; /* bytes of a request that the store serves */

/* Wipes what is left. Without a store it does nothing. */
void drng_store_erase(struct drng_drbg *drbg);

/* One Generate request fills the store, whatever was left in it. On failure the store is empty. */
DRNG_MUST_CHECK enum drng_result drng_store_fill(struct drng_drbg *drbg);

/* Bytes leave the store before they reach out: a core dump or a longjmp() in between finds them in one place at most.
 */
static inline void drng_store_move_block(uint8_t *out, uint8_t *from)
{
    const drng_block block = drng_block_load(from);
    drng_block_store(from, (drng_block){0, 0});
    atomic_signal_fence(memory_order_seq_cst);
    drng_block_store(out, block);
}

/* The rest of a piece, shorter than a block. */
static inline void drng_store_move_rest(uint8_t *out, uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const uint8_t byte = from[i];
        from[i] = 0;
        atomic_signal_fence(memory_order_seq_cst);
        out[i] = byte;
    }
}

/* Moves the next len bytes to out; false: there are fewer. The position moves first, so no byte goes out twice. */
static inline __attribute__((always_inline)) bool drng_store_hand_out(struct drng_drbg *drbg, uint8_t *out, size_t len)
{
    const size_t left = drbg->secrets->stored;
    if (__builtin_expect(left < len, 0)) {
        return false;
    }
    uint8_t *from = drbg->store + DRNG_STORE_SIZE - left;
    drbg->secrets->stored = left - len;
    atomic_signal_fence(memory_order_seq_cst);
    for (; len >= DRNG_AES_BLOCK; len -= DRNG_AES_BLOCK) {
        drng_store_move_block(out, from);
        out += DRNG_AES_BLOCK;
        from += DRNG_AES_BLOCK;
    }
    drng_store_move_rest(out, from, len);
    return true;
}

#endif

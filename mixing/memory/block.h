/*
 * block.h - 16 bytes as one value.
 *
 * Store-to-load forwarding needs equal address and width, or the load waits for the store to reach the cache: Key and V
 * are always written and read 16 bytes at a time.
 */

#ifndef DRNG_BLOCK_H
#define DRNG_BLOCK_H

#include <stdint.h>
#include <string.h>

typedef uint64_t drng_block __attribute__((vector_size(16)));

static inline drng_block drng_block_load(const uint8_t bytes[16])
{
    drng_block block;
    memcpy(&block, bytes, sizeof(block));
    return block;
}

static inline void drng_block_store(uint8_t bytes[16], drng_block block)
{
    memcpy(bytes, &block, sizeof(block));
}

#endif

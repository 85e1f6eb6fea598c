/*
 * block.h - 16 bytes as one value.
 *
 * Key and V are always written and read 16 bytes at a time: store-to-load forwarding needs equal address and width, and
 * a load that differs from the store before it waits until that store has reached the cache.
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

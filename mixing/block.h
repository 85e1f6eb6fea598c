/*
 * block.h - 16 bytes as one value.
 *
 * A load waits for the stores before it, unless it asks for just what one of them wrote: Key and V therefore move in
 * blocks, whoever writes and whoever reads them.
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

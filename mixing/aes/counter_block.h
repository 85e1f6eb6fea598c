/* counter_block.h - the counter V of CTR_DRBG: a 128-bit big-endian number. */

#ifndef DRNG_COUNTER_BLOCK_H
#define DRNG_COUNTER_BLOCK_H

#include <stdint.h>

struct drng_counter {
    uint64_t high;
    uint64_t low;
};

/* Byte by byte, so that the byte order of the processor does not matter. The compiler makes one load of it. */
static inline uint64_t drng_counter_load_word(const uint8_t bytes[8])
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 | (uint64_t)bytes[2] << 40 | (uint64_t)bytes[3] << 32 |
           (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 | (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

static inline void drng_counter_store_word(uint8_t bytes[8], uint64_t word)
{
    bytes[0] = (uint8_t)(word >> 56);
    bytes[1] = (uint8_t)(word >> 48);
    bytes[2] = (uint8_t)(word >> 40);
    bytes[3] = (uint8_t)(word >> 32);
    bytes[4] = (uint8_t)(word >> 24);
    bytes[5] = (uint8_t)(word >> 16);
    bytes[6] = (uint8_t)(word >> 8);
    bytes[7] = (uint8_t)word;
}

static inline struct drng_counter drng_counter_load(const uint8_t v[16])
{
    return (struct drng_counter){drng_counter_load_word(v), drng_counter_load_word(v + 8)};
}

static inline void drng_counter_store(uint8_t v[16], struct drng_counter counter)
{
    drng_counter_store_word(v, counter.high);
    drng_counter_store_word(v + 8, counter.low);
}

/* The carry is computed by hand: GCC may make a branch of a comparison, and V is secret. */
static inline void drng_counter_add(struct drng_counter *counter, uint64_t blocks)
{
    const uint64_t low = counter->low + blocks;
    counter->high += (counter->low & ~low) >> 63;
    counter->low = low;
}

#endif

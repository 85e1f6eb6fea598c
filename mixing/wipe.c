#include "mixing/wipe.h"

#include <stdint.h>

#include "mixing/block.h"

/*
 * Block by block, since for these lengths GCC would make "rep stos" of a memset, which takes longer to start than all
 * the stores take. size is a constant wherever this is inlined.
 */
static inline __attribute__((always_inline)) void wipe_frame(uint8_t *frame, size_t size)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < size; i += sizeof(drng_block)) {
        drng_block_store(frame + i, (drng_block){0, 0});
        __asm__ volatile("" : : "r"(frame) : "memory");
    }
}

void drng_wipe_stack_256(void)
{
    uint8_t frame[256];
    wipe_frame(frame, sizeof(frame));
}

void drng_wipe_stack_512(void)
{
    uint8_t frame[512];
    wipe_frame(frame, sizeof(frame));
}

void drng_wipe_stack_2048(void)
{
    uint8_t frame[2048];
    wipe_frame(frame, sizeof(frame));
}

#include "mixing/wipe.h"

#include <stdint.h>

void drng_wipe_stack_256(void)
{
    uint8_t frame[256];
    drng_wipe(frame, sizeof(frame));
}

void drng_wipe_stack_512(void)
{
    uint8_t frame[512];
    drng_wipe(frame, sizeof(frame));
}

void drng_wipe_stack_2048(void)
{
    uint8_t frame[2048];
    drng_wipe(frame, sizeof(frame));
}

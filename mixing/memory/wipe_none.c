/* Wiping the stack in C, for processors without an assembler file of their own. */

#include <stdint.h>

#include "mixing/memory/wipe.h"

enum { GAP = 64 }; /* the compiler may put this many bytes between the return address and the array */

void drng_wipe_stack_512(void)
{
    uint8_t frame[512 + GAP];
    drng_wipe(frame, sizeof(frame));
}

void drng_wipe_stack_1024(void)
{
    uint8_t frame[1024 + GAP];
    drng_wipe(frame, sizeof(frame));
}

void drng_wipe_stack_2048(void)
{
    uint8_t frame[2048 + GAP];
    drng_wipe(frame, sizeof(frame));
}

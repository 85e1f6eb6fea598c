/* SPDX-License-Identifier: Apache-2.0 */
/* Wiping the stack in C, for processors without an assembler file of their own. */

#include <stdint.h>

#include "mixing/machine/wipe.h"

/*
 * The sizes in the names are those of x86-64, whose frames are the smallest: IBM Z's have room for 160 bytes of
 * registers each, and the kernels of AES spill more where they have been tuned less.
 */
enum { GAP = 1024 };

/* A call need not preserve these registers, and they may hold halves of Key and V. */
#define CLEARS_REGISTERS __attribute__((zero_call_used_regs("all-gpr")))

/* Not inlined: in the caller's frame the array would not lie where the frames of the kernels were. */
#define WIPE_STACK(bytes)                                                                                              \
    CLEARS_REGISTERS DRNG_OWN_FRAME void drng_wipe_stack_##bytes(void)                                                 \
    {                                                                                                                  \
        uint8_t frame[(bytes) + GAP];                                                                                  \
        drng_wipe(frame, sizeof(frame));                                                                               \
    }

WIPE_STACK(512)
WIPE_STACK(1024)
WIPE_STACK(2048)

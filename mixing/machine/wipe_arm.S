/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe_arm.S - wiping the stack on 64-bit ARM.
 *
 * In assembler, because a compiler may put a canary, a saved register or padding between its caller's frame and an
 * array. Those bytes would not be written, and would keep what an earlier function left there. Here the wiped bytes
 * begin at the caller's frame, without a gap.
 */

#ifdef __ARM_FEATURE_BTI_DEFAULT
/* One object without this note takes the protection from the whole module. PAC: no return address is stored here. */
    .section .note.gnu.property, "a"
    .balign 8
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, 3, 0
#endif

/* A call need not preserve these registers, and they may hold halves of Key and V. x18 is the platform's. */
.macro clear_general_registers
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    mov x\n, xzr
    .endr
.endm

/* hint 34 is BTI c: where a call may land. It does nothing on CPUs without BTI. */
.macro begin_function name
    .globl \name
    .hidden \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    hint #34
.endm

.macro end_function name
    ret
    .cfi_endproc
    .size \name, .-\name
.endm

/* The stack pointer moves first: a signal handler's frame goes below what is being wiped. */
.macro wipe_stack bytes
    begin_function drng_wipe_stack_\bytes
    movi v0.2d, #0
    sub sp, sp, #\bytes
    .cfi_adjust_cfa_offset \bytes
    mov x9, sp
    .rept \bytes/32
    stp q0, q0, [x9], #32
    .endr
    add sp, sp, #\bytes
    .cfi_adjust_cfa_offset -\bytes
    clear_general_registers
    end_function drng_wipe_stack_\bytes
.endm

    .text
    wipe_stack 512
    wipe_stack 1024
    wipe_stack 2048

    .section .note.GNU-stack, "", %progbits

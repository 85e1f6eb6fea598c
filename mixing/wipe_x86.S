/*
 * wipe_x86.S - wiping the stack on x86-64.
 *
 * Assembly, since a compiler puts what it likes between the return address and an array: a canary, a saved register,
 * eight bytes of padding, which are never written and go on holding what the function before left there. Here the wiped
 * bytes begin with the return address and have no gap. Store by store, because "rep stos" takes longer to start than
 * all of them take.
 */

#if defined(__CET__) && __has_include(<cet.h>)
#include <cet.h>
#endif
#ifndef _CET_ENDBR
#define _CET_ENDBR
#endif

/*
 * The return address is the first word of the wiped ones, so the stack pointer moves by eight bytes less than that,
 * which aligns it for the stores. Registers that a call need not preserve may hold halves of Key and V: cleared too.
 */
.macro wipe_stack bytes
    .globl drng_wipe_stack_\bytes
    .hidden drng_wipe_stack_\bytes
    .type drng_wipe_stack_\bytes, @function
    .balign 16
drng_wipe_stack_\bytes:
    .cfi_startproc
    _CET_ENDBR
    pxor %xmm0, %xmm0
    sub $\bytes-8, %rsp
    .cfi_adjust_cfa_offset \bytes-8
    .set wiped, 0
    .rept \bytes/16-1
    movaps %xmm0, wiped(%rsp)
    .set wiped, wiped+16
    .endr
    movq %xmm0, wiped(%rsp)
    add $\bytes-8, %rsp
    .cfi_adjust_cfa_offset 8-\bytes
    xor %eax, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xor %esi, %esi
    xor %edi, %edi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    xor %r11d, %r11d
    ret
    .cfi_endproc
    .size drng_wipe_stack_\bytes, .-drng_wipe_stack_\bytes
.endm

    .text
    wipe_stack 512
    wipe_stack 1024
    wipe_stack 2048

    .section .note.GNU-stack, "", @progbits

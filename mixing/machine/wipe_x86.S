/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe_x86.S - wiping the stack on x86-64.
 *
 * In assembler, because a compiler may put a canary, a saved register or eight bytes of padding between the return
 * address and an array. Those bytes would not be written, and would keep what an earlier function left there. Here the
 * wiped bytes begin at the return address, without a gap. They are written store by store, because "rep stos" takes
 * longer to start than all the stores take.
 */

#if defined(__CET__) && __has_include(<cet.h>)
#include <cet.h>
#endif
#ifndef _CET_ENDBR
#define _CET_ENDBR
#endif

/* A call need not preserve these registers, and they may hold halves of Key and V. */
.macro clear_general_registers
    xor %eax, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xor %esi, %esi
    xor %edi, %edi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    xor %r11d, %r11d
.endm

.macro begin_function name
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    _CET_ENDBR
.endm

.macro end_function name
    ret
    .cfi_endproc
    .size \name, .-\name
.endm

/*
 * The return address belongs to the wiped bytes, so the stack pointer moves by eight bytes less than that. This also
 * aligns it for the stores.
 */
.macro wipe_stack bytes
    begin_function drng_wipe_stack_\bytes
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
    clear_general_registers
    end_function drng_wipe_stack_\bytes
.endm

/*
 * The same with 32-byte stores, half as many. The last two are placed to end at the return address, whatever the
 * alignment of the others.
 */
.macro wipe_stack_avx bytes
    begin_function drng_wipe_stack_\bytes\()_avx
    vpxor %xmm0, %xmm0, %xmm0
    mov %rsp, %rcx
    .cfi_def_cfa_register %rcx
    sub $\bytes-8, %rsp
    and $-32, %rsp
    .set wiped, 0
    .rept \bytes/32-1
    vmovdqa %ymm0, wiped(%rsp)
    .set wiped, wiped+32
    .endr
    vmovdqu %ymm0, -64(%rcx)
    vmovdqu %ymm0, -32(%rcx)
    mov %rcx, %rsp
    .cfi_def_cfa_register %rsp
    vzeroupper
    clear_general_registers
    end_function drng_wipe_stack_\bytes\()_avx
.endm

    .text
    wipe_stack 256
    wipe_stack 512
    wipe_stack 1024
    wipe_stack 2048
    wipe_stack_avx 512
    wipe_stack_avx 1536

    .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masks.h - the variable by which users of OpenSSL mask instructions, read as libcrypto reads it: OPENSSL_ia32cap(3) on
 * x86-64 (masks_x86.c), OPENSSL_armcap on 64-bit Arm (masks_arm.c), elsewhere none (masks_none.c).
 *
 * drng reads the variable itself: the module is not linked to libcrypto, and no parameter of the core has its value.
 * drng differs from libcrypto in three ways:
 *
 * - In libcrypto the value replaces what is known of the CPU. drng has read that itself (mixing/machine/cpu.h), and the
 *   variable only takes from it: it never adds what the CPU lacks.
 * - libcrypto reads the variable when libcrypto is loaded, drng when the first provider is.
 * - libcrypto obeys the variable in set-user-ID programs, too. drng does not: the user who starts such a program must
 *   not choose its source of randomness.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mixing/machine/eligibility.h"

/*
 * What the variable leaves; a bit of 0 is masked. On x86-64 the first two words of libcrypto: CPUID.1 EDX and ECX, then
 * CPUID.7.0 EBX and ECX. On Arm OPENSSL_armcap_P, in the first. A row has the number of its bit (instruction.h).
 */
struct drng_masks {
    uint64_t word[2];
};

/*
 * The words after applying the variable's value; NULL if it is not set. keeps_empty, for x86-64: an empty second word
 * changes nothing, as since OpenSSL 3.5; before, it masks every bit.
 */
struct drng_masks drng_masks_read(const char *value, bool keeps_empty);

/* Marks the masked instructions, and removes masked AES instructions from evidence->cpu. Adds none. */
void drng_masks_mask(struct drng_evidence *evidence, const struct drng_masks *left);

/*
 * Reads the environment and masks. libcrypto_version is that of the libcrypto that loads the provider, NULL if it does
 * not say.
 */
void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version);

static inline bool drng_masks_leave(const struct drng_masks *left, unsigned bit)
{
    return (left->word[bit / 64] >> bit % 64 & 1) != 0;
}

static inline void drng_masks_mask_instructions(struct drng_evidence *evidence, const struct drng_masks *left)
{
    for (unsigned i = 0; i < DRNG_INSTRUCTIONS; i++) {
        evidence->masked[i] = evidence->cpu.has[i] && !drng_masks_leave(left, drng_instruction_rows[i].mask_bit);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* OPENSSL_ia32cap(3). */

#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>

#include "provider/masks.h"

/* Of the first word, and 64 and more of the second. Those of RDRAND and RDSEED are in their rows. */
enum {
    FXSR = 24,
    SSSE3 = 41,
    AES_NI = 57,
    AVX = 60,
    AVX2 = 64 + 5,
    VAES = 64 + 41,
};
static const uint64_t avx512 = UINT64_C(3) << 16 | UINT64_C(3) << 30; /* F and DQ, BW and VL, in the second word */

/* Reads a number as C does, up to the first character that is no digit; 0 if there is none; wraps on overflow. */
static uint64_t number_of(const char *text)
{
    const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = is_hex ? 16 : text[0] == '0' ? 8 : 10;
    uint64_t number = 0;
    for (text += is_hex ? 2 : 0;; text++) {
        const unsigned decimal = (unsigned)*text - '0';
        const unsigned letter = ((unsigned)*text | 0x20) - 'a';
        const unsigned digit = decimal < 10 ? decimal : letter < 6 ? letter + 10 : base;
        if (digit >= base) {
            return number;
        }
        number = number * base + digit;
    }
}

struct drng_masks drng_masks_read(const char *value, bool keeps_empty)
{
    struct drng_masks left = {{UINT64_MAX, UINT64_MAX}};
    if (value == NULL) {
        return left;
    }
    /* "~" and a mask of bits to clear; without "~" the whole word. */
    if (*value == '~') {
        uint64_t mask = number_of(value + 1);
        mask |= (mask >> FXSR & 1) << AES_NI; /* without the XMM registers libcrypto does not use AES-NI either */
        left.word[0] = ~mask;
    } else if (*value != ':') {
        left.word[0] = number_of(value);
    }
    /* If the first word is written in full, libcrypto does not ask the CPU for the others. */
    const uint64_t whole = *value == '~' || *value == ':' ? UINT64_MAX : 0;
    const char *second = strchr(value, ':');
    if (second == NULL) {
        left.word[1] = 0;
    } else if (second[1] == '~') {
        left.word[1] = whole & ~number_of(second + 2);
    } else {
        left.word[1] = second[1] == ':' && keeps_empty ? whole : number_of(second + 1);
    }
    return left;
}

void drng_masks_mask(struct drng_evidence *evidence, const struct drng_masks *left)
{
    struct drng_cpu *cpu = &evidence->cpu;
    drng_masks_mask_instructions(evidence, left);
    cpu->aes = cpu->aes && drng_masks_leave(left, AES_NI) && drng_masks_leave(left, SSSE3);
    cpu->avx = cpu->avx && cpu->aes && drng_masks_leave(left, AVX);
    const bool vaes = cpu->aes && drng_masks_leave(left, VAES);
    cpu->vaes256 = cpu->vaes256 && vaes && drng_masks_leave(left, AVX2);
    /* Its short requests run on registers of half the size; libcrypto's VAES wants DQ, too. */
    cpu->vaes512 = cpu->vaes512 && cpu->vaes256 && (left->word[1] & avx512) == avx512;
}

/* Since OpenSSL 3.5 there are five words, and an empty one is skipped. */
static bool keeps_empty_words(const char *libcrypto_version)
{
    return libcrypto_version == NULL || strncmp(libcrypto_version, "3.", 2) != 0 ||
           strtoul(libcrypto_version + 2, NULL, 10) >= 5;
}

void drng_masks_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    const struct drng_masks left =
        drng_masks_read(secure_getenv("OPENSSL_ia32cap"), keeps_empty_words(libcrypto_version));
    drng_masks_mask(evidence, &left);
}

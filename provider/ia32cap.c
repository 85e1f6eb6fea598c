/*
 * drng reads the variable itself: the module is not linked to libcrypto, and no parameter of the core has its value.
 * drng differs from libcrypto in three ways:
 *
 * - libcrypto applies the variable to words that it derives from CPUID and adjusts for its own purposes, and a word
 *   written in full replaces libcrypto's. drng has read CPUID (mixing/machine/cpu.h), and the variable only clears
 *   bits in that: it never adds one that the CPU lacks.
 * - libcrypto reads the variable when libcrypto is loaded, drng when the first provider is.
 * - libcrypto obeys the variable in set-user-ID programs, too. drng does not: the user who starts such a program must
 *   not choose its source of randomness.
 */

#define _GNU_SOURCE

#include "provider/ia32cap.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Bits of the first word. */
    RDRAND = 62,
    AES_NI = 57,
    SSSE3 = 41,
    FXSR = 24,
    /* Bits of the second word. */
    RDSEED = 18,
    AVX2 = 5,
    AVX512F = 16,
    VAES = 41,
};

static bool has(uint64_t word, int bit)
{
    return (word >> bit & 1) != 0;
}

/* ---- The variable ---- */

/* The value of a digit; 16 for any other character. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/*
 * Reads a number as C does: 0x and 0 set the base. Stops at the first character that is no digit; is 0 if there is
 * none; wraps on overflow.
 */
static uint64_t number_of(const char *text)
{
    unsigned base = 10;
    uint64_t number = 0;
    if (*text == '0') {
        base = 8;
        text++;
        if (*text == 'x' || *text == 'X') {
            base = 16;
            text++;
        }
    }
    for (; digit_of(*text) < base; text++) {
        number = number * base + digit_of(*text);
    }
    return number;
}

/*
 * "~" and a mask of bits to clear. Without the XMM registers libcrypto does not use AES-NI either, so that bit is
 * cleared, too.
 */
static uint64_t first_without(uint64_t mask)
{
    return ~(has(mask, FXSR) ? mask | UINT64_C(1) << AES_NI : mask);
}

static uint64_t first_word(const char *value)
{
    if (*value == ':') {
        return UINT64_MAX;
    }
    return *value == '~' ? first_without(number_of(value + 1)) : number_of(value);
}

/* `whole` is the word if the variable does not change it. */
static uint64_t second_word(const char *value, uint64_t whole, bool keeps_empty)
{
    if (*value == ':' && keeps_empty) {
        return whole;
    }
    return *value == '~' ? whole & ~number_of(value + 1) : number_of(value);
}

struct drng_ia32cap drng_ia32cap_read(const char *value, bool keeps_empty)
{
    struct drng_ia32cap left = {{UINT64_MAX, UINT64_MAX}};
    if (value == NULL) {
        return left;
    }
    left.word[0] = first_word(value);
    /* If the first word is written in full, libcrypto does not ask the CPU for the others. */
    const uint64_t whole = *value == '~' || *value == ':' ? UINT64_MAX : 0;
    const char *second = strchr(value, ':');
    left.word[1] = second != NULL ? second_word(second + 1, whole, keeps_empty) : 0;
    return left;
}

/* ---- What the variable masks ---- */

void drng_ia32cap_mask(struct drng_evidence *evidence, const struct drng_ia32cap *left)
{
    const uint64_t first = left->word[0];
    const uint64_t second = left->word[1];
    struct drng_cpu *cpu = &evidence->cpu;
    evidence->masked[DRNG_RDRAND] = cpu->has[DRNG_RDRAND] && !has(first, RDRAND);
    evidence->masked[DRNG_RDSEED] = cpu->has[DRNG_RDSEED] && !has(second, RDSEED);
    cpu->aes = cpu->aes && has(first, AES_NI) && has(first, SSSE3);
    cpu->vaes256 = cpu->vaes256 && cpu->aes && has(second, AVX2) && has(second, VAES);
    cpu->vaes512 = cpu->vaes512 && cpu->aes && has(second, AVX512F) && has(second, VAES);
}

/* Since OpenSSL 3.5 there are five words, and an empty one is skipped. */
static bool skips_empty_words(const char *libcrypto_version)
{
    return libcrypto_version == NULL || strncmp(libcrypto_version, "3.", 2) != 0 ||
           strtoul(libcrypto_version + 2, NULL, 10) >= 5;
}

void drng_ia32cap_apply(struct drng_evidence *evidence, const char *libcrypto_version)
{
    const struct drng_ia32cap left =
        drng_ia32cap_read(secure_getenv("OPENSSL_ia32cap"), skips_empty_words(libcrypto_version));
    drng_ia32cap_mask(evidence, &left);
}

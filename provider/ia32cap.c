/*
 * Read anew, since the module is not linked to libcrypto and no parameter of the core has it. Three things differ:
 *
 * - libcrypto applies the variable to the words that it makes of CPUID, which it adjusts for its own purposes, and a
 *   word that is written out replaces its own. drng has looked at CPUID itself (mixing/machine/cpu.h), and the variable
 *   takes away from that: a bit that the CPU lacks is never added.
 * - libcrypto reads the variable when it is loaded, drng when the first provider is.
 * - libcrypto obeys it in set-user-ID programs, too. drng does not: whoever starts such a program is not to choose what
 *   it draws from.
 */

#define _GNU_SOURCE

#include "provider/ia32cap.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* The first word. */
    RDRAND = 62,
    AES_NI = 57,
    SSSE3 = 41,
    FXSR = 24,
    /* The second. */
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

/* 16 for what is no digit. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/* As in C: 0x and 0 before it say the base. Ends at what is no digit, is 0 if there is none, and overflows in silence.
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

/* "~" and what to take away. Without the XMM registers libcrypto does without AES-NI, too. */
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

/* whole: the word as it would be without the variable. */
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
    /* Where the first word is written out, libcrypto does not ask the CPU for any. */
    const uint64_t whole = *value == '~' || *value == ':' ? UINT64_MAX : 0;
    const char *second = strchr(value, ':');
    left.word[1] = second != NULL ? second_word(second + 1, whole, keeps_empty) : 0;
    return left;
}

/* ---- What it masks ---- */

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

/* Since OpenSSL 3.5 there are five words, and one that is empty is skipped. */
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

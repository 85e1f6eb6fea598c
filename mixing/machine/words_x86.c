/* The rows of the instructions of x86-64. */

#include "mixing/machine/claim.h"
#include "mixing/machine/cpu.h"
#include "mixing/machine/instruction.h"
#include "mixing/machine/instructions_x86.h"

static bool drng_cpu_rdrand(uint64_t *word)
{
    uint64_t value;
    const bool carry = drng_execute_rdrand(&value);
    *word = carry ? value : 0;
    return carry;
}

static bool drng_cpu_rdseed(uint64_t *word)
{
    uint64_t value;
    const bool carry = drng_execute_rdseed(&value);
    *word = carry ? value : 0;
    return carry;
}

const struct drng_instruction_row drng_instruction_rows[DRNG_INSTRUCTIONS] = {
    [DRNG_RDSEED] = {.name = "RDSEED",
                     .read = drng_cpu_rdseed,
                     .tries = DRNG_STARVING_TRIES,
                     .starves = true,
                     .window_words = DRNG_RDSEED_WORDS,
                     .window_bits = DRNG_WINDOW_BITS},
    [DRNG_RDRAND] = {.name = "RDRAND",
                     .read = drng_cpu_rdrand,
                     .tries = DRNG_RDRAND_TRIES,
                     .fused = true,
                     .window_words = DRNG_RDRAND_WORDS,
                     .window_bits = DRNG_WINDOW_BITS},
};

/*
 * A certificate covers the processors that it lists. drng goes by maker and family, since the lists name products and
 * not models. AMD's rate differs by family in a way that could not be read: the lowest is taken for all, and half of a
 * block's entropy for each of its two words.
 */
const struct drng_claim drng_claims[] = {
    {.instruction = DRNG_RDSEED,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .first_family = 0x06,
     .last_family = 0x06,
     .certified_millibits = 32000,
     .says = "0.5 bit a bit",
     .document = "public use documents of the certificates",
     .certificates = "E57, E164, E293",
     .reuse = "E164: open; E293: only Intel; E57: not known",
     .read_in = "wolfSSL's random.h (the rate); OpenSSL pull request 32112 (E164, E293)"},
    {.instruction = DRNG_RDSEED,
     .maker = "AMD",
     .vendor = "AuthenticAMD",
     .first_family = 0x17,
     .last_family = 0x1a,
     .certified_millibits = 328,
     .says = "0.656 to 1.312 bits a block of 128 bits, by family",
     .document = "AMD RNG ESV Public Use Document, version 0.7, 24 October 2024",
     .certificates = "E27, E183",
     .reuse = "not known",
     .read_in = "wolfSSL's random.h (rate, document); other projects' documentation (certificates)"},
    {.instruction = DRNG_RDSEED, .maker = "others", .last_family = DRNG_ANY_FAMILY},
    {.instruction = DRNG_RDRAND,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .last_family = DRNG_ANY_FAMILY,
     .says = "a DRBG, reseeded after 511 blocks of 128 bits at most",
     .document = "Digital Random Number Generator Software Implementation Guide, revision 2.1, 17 October 2018, 3.2.3"},
    {.instruction = DRNG_RDRAND,
     .maker = "AMD",
     .vendor = "AuthenticAMD",
     .last_family = DRNG_ANY_FAMILY,
     .says = "a DRBG, reseeded after 2,048 words of 32 bits at most",
     .read_in = "other projects' documentation"},
    {.instruction = DRNG_RDRAND, .maker = "others", .last_family = DRNG_ANY_FAMILY},
    {.maker = NULL},
};

const struct drng_broken_part drng_broken_parts[] = {
    /* RDRAND constant after suspend, CF = 1 (families 15h and 16h; no older family is known to be good). */
    {"AuthenticAMD", 0x00, 0x16, 0x00, 0xff, {[DRNG_RDRAND] = true, [DRNG_RDSEED] = true}},
    /* RDSEED always 0xffffffff ("Cyan Skillfish"). */
    {"AuthenticAMD", 0x17, 0x17, 0x47, 0x47, {[DRNG_RDSEED] = true}},
    /* RDRAND all ones, CF = 1, before a firmware fix that software cannot detect (systemd issue 11810). */
    {"AuthenticAMD", 0x17, 0x17, 0x70, 0x7f, {[DRNG_RDRAND] = true}},
    {.vendor = NULL},
};

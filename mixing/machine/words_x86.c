/* The rows of the instructions of x86-64. */

#include "mixing/machine/claim_rows.h"
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
 * The certificates' own documents could not be had. The processors are those that OpenSSL's pull request 32112 lists,
 * mended where its review and the products' own CPUID say so: it has 06_7D for Ice Lake's servers, which are 06_6A, and
 * model 17h for the EPYCs 9xx4, which are model 11h.
 */
static const struct drng_listed_part e164[] = {
    {0x06, 0x55, 1 << 4 | 1 << 7},                   /* Skylake, Cascade Lake */
    {0x06, 0x56, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5}, /* Broadwell DE */
    {0},
};
static const struct drng_listed_part e293[] = {
    {0x06, 0x6a, 0}, /* Ice Lake SP */
    {0x06, 0x6c, 0}, /* Ice Lake D */
    {0x06, 0x8f, 0}, /* Sapphire Rapids */
    {0x06, 0xcf, 0}, /* Emerald Rapids */
    {0},
};
static const struct drng_listed_part e27[] = {
    {0x17, 0x31, 1 << 0}, /* EPYC 7xx2 */
    {0x19, 0x01, 1 << 1}, /* EPYC 7xx3 */
    {0x19, 0x11, 1 << 1}, /* EPYC 9xx4 */
    {0x17, 0x01, 1 << 2}, /* EPYC 3xxx */
    {0x17, 0x18, 1 << 1}, /* Ryzen V1xxx */
    {0x19, 0x44, 1 << 0}, /* Ryzen V3xxx */
    {0x17, 0x60, 1 << 1}, /* Ryzen V2xxx */
    {0x19, 0x21, 1 << 0}, /* Ryzen V5xxxE */
    {0},
};
/* This certificate's document names no CPUID. Zen 5 is what was new at its time: a presumption, and shown as one. */
static const struct drng_listed_part e183[] = {{0x1a, DRNG_EVERY_MODEL, 0}, {0}};

/*
 * The rate of AMD's document differs by family in a way that could not be read: the lowest is taken for all, and half
 * of a block's entropy for each of its two words.
 */
const struct drng_claim drng_claims[] = {
    {.instruction = DRNG_RDSEED,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .parts = e164,
     .certified_millibits = 32000,
     .says = "about 0.5 bit a bit at the least",
     .document = "public use document of the certificate",
     .certificate = "E164",
     .reuse = "open",
     .read_in =
         "wolfSSL's random.h (the rate, for no certificate by name); OpenSSL pull request 32112 (processors, reuse)"},
    {.instruction = DRNG_RDSEED,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .parts = e293,
     .certified_millibits = 32000,
     .says = "about 0.5 bit a bit at the least",
     .document = "public use document of the certificate",
     .certificate = "E293",
     .reuse = "Intel alone",
     .read_in =
         "wolfSSL's random.h (the rate, for no certificate by name); OpenSSL pull request 32112 (processors, reuse)"},
    {.instruction = DRNG_RDSEED,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .says = "about 0.5 bit a bit at the least; certificate E57 is for processors that are not known here",
     .read_in = "wolfSSL's random.h (the rate); other projects' documentation (E57)"},
    {.instruction = DRNG_RDSEED,
     .maker = "AMD",
     .vendor = "AuthenticAMD",
     .parts = e27,
     .certified_millibits = 328,
     .says = "0.656 to 1.312 bits a block of 128 bits, by family",
     .document = "AMD RNG ESV Public Use Document, version 0.7, 24 October 2024",
     .certificate = "E27",
     .reuse = "not known",
     .read_in = "wolfSSL's random.h (rate, document); OpenSSL pull request 32112 (processors)"},
    {.instruction = DRNG_RDSEED,
     .maker = "AMD",
     .vendor = "AuthenticAMD",
     .parts = e183,
     .certified_millibits = 328,
     .says = "0.656 to 1.312 bits a block of 128 bits, by family",
     .document = "AMD RNG ESV Public Use Document, version 0.7, 24 October 2024",
     .certificate = "E183, presumed for this family",
     .reuse = "not known",
     .read_in = "wolfSSL's random.h (rate, document); other projects' documentation (the certificate)"},
    {.instruction = DRNG_RDSEED, .maker = "others"},
    {.instruction = DRNG_RDRAND,
     .maker = "Intel",
     .vendor = "GenuineIntel",
     .says = "a DRBG, reseeded after 511 blocks of 128 bits at most",
     .document = "Digital Random Number Generator Software Implementation Guide, revision 2.1, 17 October 2018, 3.2.3"},
    {.instruction = DRNG_RDRAND,
     .maker = "AMD",
     .vendor = "AuthenticAMD",
     .says = "a DRBG, reseeded after 2,048 words of 32 bits at most",
     .read_in = "other projects' documentation"},
    {.instruction = DRNG_RDRAND, .maker = "others"},
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

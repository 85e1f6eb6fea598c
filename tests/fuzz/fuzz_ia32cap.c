/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OPENSSL_ia32cap: any text at all, which may take instructions away and never adds one, and words that are well
 * formed, of which every bit counts.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/masks.h"
#include "tests/fuzz/fuzz.h"

static struct drng_evidence evidence_of(uint8_t bits)
{
    return (struct drng_evidence){.cpu = {.vendor = "GenuineIntel",
                                          .has[DRNG_RDRAND] = bits & 1,
                                          .has[DRNG_RDSEED] = bits & 2,
                                          .aes = bits & 4,
                                          .avx = bits & 32,
                                          .vaes256 = bits & 8,
                                          .vaes512 = bits & 16}};
}

/* The CPU is what CPUID says, less what was taken away; only what is there can be masked. */
static void check_nothing_was_added(const struct drng_evidence *before, const struct drng_evidence *after)
{
    FUZZ_CHECK(after->cpu.has[DRNG_RDRAND] == before->cpu.has[DRNG_RDRAND] &&
               after->cpu.has[DRNG_RDSEED] == before->cpu.has[DRNG_RDSEED]);
    FUZZ_CHECK(before->cpu.has[DRNG_RDRAND] || !after->masked[DRNG_RDRAND]);
    FUZZ_CHECK(before->cpu.has[DRNG_RDSEED] || !after->masked[DRNG_RDSEED]);
    FUZZ_CHECK(before->cpu.aes || !after->cpu.aes);
    FUZZ_CHECK(before->cpu.avx || !after->cpu.avx);
    FUZZ_CHECK(before->cpu.vaes256 || !after->cpu.vaes256);
    FUZZ_CHECK(before->cpu.vaes512 || !after->cpu.vaes512);
}

static void try_text(const char *text, struct drng_evidence *evidence)
{
    const struct drng_evidence before = *evidence;
    const struct drng_masks left = drng_masks_read(text, true);
    const struct drng_masks older = drng_masks_read(text, false);
    drng_masks_mask(evidence, &left);
    check_nothing_was_added(&before, evidence);
    FUZZ_CHECK(older.word[0] == left.word[0] && (older.word[1] & ~left.word[1]) == 0);
}

static void try_vector(uint64_t first, uint64_t second, uint8_t bits)
{
    char text[128];
    const struct drng_cpu cpu = evidence_of(bits).cpu;
    struct drng_evidence evidence = evidence_of(bits);
    const bool aes = cpu.aes && (first & UINT64_C(1) << 57) != 0 && (first & UINT64_C(1) << 41) != 0;
    const bool vaes = aes && (second & UINT64_C(1) << 41) != 0;
    (void)snprintf(text, sizeof(text), "0x%" PRIx64 ":0x%" PRIx64, first, second);
    try_text(text, &evidence);
    FUZZ_CHECK(evidence.masked[DRNG_RDRAND] == (cpu.has[DRNG_RDRAND] && (first & UINT64_C(1) << 62) == 0));
    FUZZ_CHECK(evidence.masked[DRNG_RDSEED] == (cpu.has[DRNG_RDSEED] && (second & UINT64_C(1) << 18) == 0));
    FUZZ_CHECK(evidence.cpu.aes == aes);
    FUZZ_CHECK(evidence.cpu.avx == (cpu.avx && aes && (first & UINT64_C(1) << 60) != 0));
    const bool vaes256 = cpu.vaes256 && vaes && (second & UINT64_C(1) << 5) != 0;
    FUZZ_CHECK(evidence.cpu.vaes256 == vaes256);
    const uint64_t avx512 = UINT64_C(3) << 16 | UINT64_C(3) << 30; /* F and DQ, BW and VL */
    FUZZ_CHECK(evidence.cpu.vaes512 == (cpu.vaes512 && vaes256 && (second & avx512) == avx512));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct fuzz_input input = {data, len};
    struct drng_evidence evidence = evidence_of(0xff);
    char *text = fuzz_text(data, len);
    try_text(text, &evidence);
    free(text);
    const uint64_t first = fuzz_word(&input);
    const uint64_t second = fuzz_word(&input);
    try_vector(first, second, fuzz_byte(&input));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The vector registers hold no secret once a function that handled some has returned; on the scripted CPU. */

#include <string.h>

#include "mixing/drbg/ctr_drbg.h"
#include "tests/unit/bytes.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

enum { REGISTERS = 32, WIDTH = 64 };

/* ---- All registers of the real CPU, to their full width ---- */

#define EACH_OF_16(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define EACH_OF_32(f)                                                                                                  \
    EACH_OF_16(f)                                                                                                      \
    f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
#define LOAD_X(n)  "movups (%0), %%xmm" #n "\n\t"
#define LOAD_Y(n)  "vmovups (%0), %%ymm" #n "\n\t"
#define LOAD_Z(n)  "vmovups (%0), %%zmm" #n "\n\t"
#define STORE_X(n) "movups %%xmm" #n ", " #n "*64(%0)\n\t"
#define STORE_Y(n) "vmovups %%ymm" #n ", " #n "*64(%0)\n\t"
#define STORE_Z(n) "vmovups %%zmm" #n ", " #n "*64(%0)\n\t"
#define LOW                                                                                                            \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",         \
        "xmm13", "xmm14", "xmm15"
#define HIGH                                                                                                           \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",        \
        "xmm28", "xmm29", "xmm30", "xmm31"

__attribute__((target("avx512f"))) static void fill_avx512(const uint8_t *from)
{
    __asm__ volatile(EACH_OF_32(LOAD_Z) : : "r"(from) : LOW, HIGH, "memory");
}

static void fill(void)
{
    uint8_t pattern[WIDTH];
    memset(pattern, 0xa5, sizeof(pattern));
    if (__builtin_cpu_supports("avx512vl")) {
        fill_avx512(pattern);
    } else if (__builtin_cpu_supports("avx")) {
        __asm__ volatile(EACH_OF_16(LOAD_Y) : : "r"(pattern) : LOW, "memory");
    } else {
        __asm__ volatile(EACH_OF_16(LOAD_X) : : "r"(pattern) : LOW, "memory");
    }
}

static uint8_t seen[REGISTERS * WIDTH];

static void look(void)
{
    if (__builtin_cpu_supports("avx512vl")) {
        __asm__ volatile(EACH_OF_32(STORE_Z) : : "r"(seen) : "memory");
    } else if (__builtin_cpu_supports("avx")) {
        __asm__ volatile(EACH_OF_16(STORE_Y) : : "r"(seen) : "memory");
    } else {
        __asm__ volatile(EACH_OF_16(STORE_X) : : "r"(seen) : "memory");
    }
}

/* ---- What clears them ---- */

/* The real one, in whose place is the scripted CPU's. */
void __real_drng_cpu_identify(struct drng_cpu *cpu);

UNIT_TEST("before the CPU is known SSE's registers are cleared")
{
    fill();
    drng_cpu_clear_vectors();
    look();
    CU_ASSERT_TRUE(bytes_are(seen, 16, 0));
    struct drng_cpu cpu;
    __real_drng_cpu_identify(&cpu);
}

UNIT_TEST("a full register is seen")
{
    memset(seen, 0, sizeof(seen));
    fill();
    look();
    CU_ASSERT_FALSE(bytes_are(seen, sizeof(seen), 0));
}

UNIT_TEST("clearing reaches the full width")
{
    fill();
    drng_cpu_clear_vectors();
    look();
    CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
}

UNIT_TEST("a seed leaves none")
{
    static struct rig rig;
    uint8_t out[48];
    for (size_t i = 0; i < rig_way_count(); i++) {
        for (unsigned dry = 0; dry < 2; dry++) {
            rig_set_up(&rig, dry ? scripted_dry : scripted_good, scripted_good);
            rig_take_way(&rig, &rig_ways[i]);
            rig.policy.os_mixing = true;
            fill();
            const enum drng_result status = rig_seed(&rig, out, sizeof(out));
            look();
            CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
            CU_ASSERT_EQUAL(status, DRNG_OK);
        }
    }
}

UNIT_TEST("words that are no seed leave none")
{
    static struct rig rig;
    uint8_t out[48];
    rig_set_up(&rig, scripted_good, scripted_good);
    fill();
    const enum drng_result status =
        drng_noise_fill(&rig.rdrand, &rig.reader.noise[DRNG_RDRAND], DRNG_RDRAND_TRIES, true, out, sizeof(out));
    look();
    CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
    CU_ASSERT_EQUAL(status, DRNG_OK);
}

UNIT_TEST("a request leaves none")
{
    static const uint8_t entropy[48] = {1};
    static uint8_t out[1000];
    const struct drng_bytes seed = {entropy, sizeof(entropy)};
    const struct drng_bytes none = {NULL, 0};
    struct drng_ctr_drbg drbg;
    const struct drng_aes *aes = rig_has_aes_ni() ? &drng_aes_ni : &drng_aes_portable;

    fill();
    enum drng_result status = drng_ctr_drbg_instantiate(&drbg, aes, 32, true, seed, none, none, 0);
    look();
    CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
    CU_ASSERT_EQUAL_FATAL(status, DRNG_OK);
    for (size_t len = 0; len <= sizeof(out); len += 100) {
        const bool has_input = len % 200 == 0;
        if (!has_input && len <= aes->short_len) {
            continue; /* it clears the low 128 bits, which is all that it uses: process_stack looks there */
        }
        fill();
        status = drng_ctr_drbg_generate(&drbg, out, len, has_input ? seed : none, NULL);
        look();
        CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
        CU_ASSERT_EQUAL(status, DRNG_OK);
    }
    fill();
    status = drng_ctr_drbg_reseed(&drbg, seed, none, 0);
    look();
    CU_ASSERT_TRUE(bytes_are(seen, sizeof(seen), 0));
    CU_ASSERT_EQUAL(status, DRNG_OK);
}

UNIT_MAIN("vector registers")
